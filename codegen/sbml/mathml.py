"""MathML of SBML as terms, with function definitions written out."""
import math

from .terms import FALSE, ONE, TRUE, ZERO, exhaustive, negated, number, substituted

AVOGADRO = 6.02214179e23                     # section 3.4.6 of Level 3 Version 2
NARY = {"plus": "+", "times": "*", "and": "and", "or": "or", "max": "max", "min": "min"}
EMPTY = {"plus": ZERO, "times": ONE, "and": TRUE, "or": FALSE}
RELATIONS = {"lt": "<", "gt": ">", "leq": "<=", "geq": ">=", "eq": "==", "neq": "!="}
SAME = {"exp": "exp", "ln": "log", "abs": "abs", "floor": "floor", "ceiling": "ceil", "sin": "sin", "cos": "cos",
        "tan": "tan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsin": "asin", "arccos": "acos",
        "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh"}
RECIPROCAL = {"sec": "cos", "csc": "sin", "cot": "tan", "sech": "cosh", "csch": "sinh", "coth": "tanh"}
OF_RECIPROCAL = {"arcsec": "acos", "arccsc": "asin", "arcsech": "acosh", "arccsch": "asinh", "arccoth": "atanh"}
CONSTANTS = {"pi": number(math.pi), "exponentiale": number(math.e), "true": TRUE, "false": FALSE}
ARGUMENTS = {"minus": (1, 2), "divide": (2, 2), "power": (2, 2), "not": (1, 1), "root": (1, 1), "log": (1, 1),
             "quotient": (2, 2), "rem": (2, 2), "implies": (2, 2), "factorial": (1, 1), "arccot": (1, 1)} | {
             name: (1, 1) for name in (*SAME, *RECIPROCAL, *OF_RECIPROCAL)}
LARGEST_FACTORIAL = 170                      # above it doubles overflow


class Formulas:
    """functions: {id: (arguments, term)}, or None for one without math, of function definitions"""

    def __init__(self):
        self.functions, self.elements, self.open = {}, {}, []

    def declare(self, element):
        """A function definition, which is read when it is used: their order does not matter"""
        self.elements[element.get("id")] = element

    def function(self, name, used):
        """(arguments, term); used: the element that calls it"""
        if name not in self.elements:
            raise used.refusal(f"{name} is not a function")
        if name in self.open:
            raise self.elements[name].refusal("this function uses itself")
        if name not in self.functions:
            self.open.append(name)
            self.functions[name] = self.defined(self.elements[name])
            self.open.pop()
        if self.functions[name] is None:
            raise used.refusal(f"the function {name} has no math")
        return self.functions[name]

    def defined(self, element):
        if element.math is None:
            return None
        outer = self.only(element.math)
        while outer.tag == "semantics" and outer.children:
            outer = outer.children[0]
        if outer.tag != "lambda" or not outer.children:
            raise element.refusal("its math is not a lambda element")
        arguments = [self.only(bound).text.strip() for bound in outer.children if bound.tag == "bvar"]
        body = outer.children[-1]
        return None if body.tag == "bvar" else (arguments, self.term(body, {a: ("name", a) for a in arguments}))

    def of(self, element, local=None):
        """The term of the math of an element, None where it has none; local: {name: term}"""
        if element is None or element.math is None or not element.math.children:
            return None
        return self.term(self.only(element.math), local or {})

    @staticmethod
    def only(element):
        if len(element.children) != 1:
            raise element.refusal(f"expected one element, found {len(element.children)}")
        return element.children[0]

    def term(self, e, local):
        """local: {name: term} of bound variables and local parameters"""
        if e.tag == "ci":
            name = e.text.strip()
            return local.get(name, ("name", name))
        if e.tag == "cn":
            return numeral(e)
        if e.tag in CONSTANTS:
            return CONSTANTS[e.tag]
        if e.tag == "infinity":
            return number(math.inf)
        if e.tag == "notanumber":
            return number(math.nan)
        if e.tag == "csymbol":
            return symbol(e)
        if e.tag == "piecewise":
            return self.piecewise(e, local)
        if e.tag == "semantics" and e.children:
            return self.term(e.children[0], local)
        if e.tag == "apply" and e.children:
            return self.apply(e, local)
        raise e.refusal("this element of MathML is not known here")

    def piecewise(self, e, local):
        pieces = [piece for piece in e if piece.tag == "piece"]
        otherwise = [self.term(self.only(piece), local) for piece in e if piece.tag == "otherwise"]
        if any(len(piece.children) != 2 for piece in pieces) or len(otherwise) > 1:
            raise e.refusal("a piece has a value and a condition, and there is one otherwise")
        found = [[self.term(child, local) for child in piece] for piece in pieces]
        if not otherwise and found and exhaustive([condition for _, condition in found]):
            otherwise = [found.pop()[0]]
        out = otherwise[0] if otherwise else number(math.nan)
        for value, condition in reversed(found):
            out = ("if", condition, value, out)
        return out

    def apply(self, e, local):
        head, qualifiers = e.children[0], ("degree", "logbase")
        if head.tag == "apply" and len(e.children) == 1:         # parentheses, which some tools write
            return self.apply(head, local)
        a = [self.term(child, local) for child in e.children[1:] if child.tag not in qualifiers]
        given = [self.term(self.only(child), local) for child in e.children[1:] if child.tag in qualifiers]
        if head.tag == "ci":
            return self.called(head, a)
        if head.tag == "csymbol":
            return called_symbol(head, e, a)
        return operator(head, a, given)

    def called(self, head, values):
        name = head.text.strip()
        arguments, body = self.function(name, head)
        if len(arguments) != len(values):
            raise head.refusal(f"the function {name} has {len(arguments)} arguments, not {len(values)}")
        of = dict(zip(arguments, values))
        return substituted(body, lambda n: of.get(n, ("name", n)))


def numeral(e):
    kind, after = e.get("type", "real"), [child.tail.strip() for child in e.children]
    try:
        if kind == "e-notation":
            return number(f"{e.text.strip()}e{after[0]}")
        if kind == "rational":
            return number(float(e.text) / float(after[0]))
        return number(e.text)
    except (ValueError, IndexError, ZeroDivisionError):
        raise e.refusal(f"{e.text.strip()!r} is not a number") from None


def kind_of_symbol(e):
    return e.get("definitionURL", "").rstrip("/").rsplit("/", 1)[-1]


def symbol(e):
    kind = kind_of_symbol(e)
    if kind == "time":
        return ("time",)
    if kind == "avogadro":
        return number(AVOGADRO)
    raise e.refusal(f"the symbol {kind or e.text.strip()} is not supported")


def called_symbol(head, e, a):
    kind = kind_of_symbol(head)
    if kind == "rateOf" and len(a) == 1 and a[0][0] == "name":
        return ("rate", a[0][1])
    if kind == "delay" and len(a) == 2 and a[1] == ZERO:
        return a[0]
    raise head.refusal(f"the symbol {kind} is not supported" +
                       ": delay differential equations are not solved" * (kind == "delay"))


def operator(head, a, given):
    """The term of an operator that is applied to arguments a; given: a degree or a base"""
    name = head.tag
    if name in NARY:
        if not a and name not in EMPTY:
            raise head.refusal(f"{name} needs an argument")
        return EMPTY[name] if not a else a[0] if len(a) == 1 else (NARY[name], *a)
    if name in RELATIONS:
        pairs = [(RELATIONS[name], x, y) for x, y in zip(a, a[1:])]
        return TRUE if not pairs else pairs[0] if len(pairs) == 1 else ("and", *pairs)
    if name == "xor":
        out = a[0] if a else FALSE
        for b in a[1:]:
            out = ("or", ("and", out, negated(b)), ("and", negated(out), b))
        return out
    if name not in ARGUMENTS:
        raise head.refusal("this operator of MathML is not supported")
    low, high = ARGUMENTS[name]
    if not low <= len(a) <= high:
        raise head.refusal(f"it has {len(a)} arguments; expected {low}" + f" or {high}" * (high > low))
    return with_arguments(head, name, a, given)


def with_arguments(head, name, a, given):
    if name in SAME:
        return (SAME[name], a[0])
    if name in RECIPROCAL:
        return ("/", ONE, (RECIPROCAL[name], a[0]))
    if name in OF_RECIPROCAL:
        return (OF_RECIPROCAL[name], ("/", ONE, a[0]))
    if name == "factorial":
        if a[0][0] != "number" or not 0 <= a[0][1] <= LARGEST_FACTORIAL or a[0][1] % 1:
            raise head.refusal("the factorial is supported of whole numbers only")
        return number(math.factorial(int(a[0][1])))
    if name == "root":
        return ("^", a[0], ("/", ONE, given[0])) if given and given[0] != number(2) else ("sqrt", a[0])
    if name == "log":
        return ("/", ("log", a[0]), ("log", given[0])) if given and given[0] != number(10) else ("log10", a[0])
    if name == "not":
        return negated(a[0])
    if name == "implies":
        return ("or", negated(a[0]), a[1])
    if name == "arccot":                     # between 0 and pi, as in Abramowitz and Stegun 4.4.8 up to the branch
        return ("atan", ("/", ONE, a[0]))
    if name in ("quotient", "rem"):
        whole = truncated(("/", a[0], a[1]))
        return whole if name == "quotient" else ("-", a[0], ("*", a[1], whole))
    return ({"minus": "-", "divide": "/", "power": "^"}[name], *a)


def truncated(x):
    """The whole number next to x on the side of 0"""
    return ("if", ("<", x, ZERO), ("ceil", x), ("floor", x))
