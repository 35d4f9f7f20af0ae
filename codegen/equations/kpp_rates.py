"""The rate constants of a mechanism as nodes: expressions, rate laws, and the names that inlined code defines."""
import math
import re
from dataclasses import replace

from .kpp_code import Assignment
from .nodes import FUNCTIONS
from .rate_laws import OTHERS, RATE_LAWS, sun
from .syntax import Fault, Tokens, number

ALIASES = {"abs": "fabs", "dexp": "exp", "dlog": "log", "alog": "log", "dlog10": "log10", "alog10": "log10",
           "dsqrt": "sqrt", "dabs": "fabs"}
LEAST, LARGEST = {"min", "dmin1", "amin1", "fmin"}, {"max", "dmax1", "amax1", "fmax"}
SIGNS = {"sign", "dsign"}                    # of Fortran: the modulus of the first with the sign of the second argument
SAME = {"real", "dble", "float"}             # functions that change the type of a number
ARRAYS = {"c", "var", "fix"}                 # of concentrations, by ind_NAME
LONGEST = 60                                 # characters of a rate law that a parameter is described with


class Rates:
    """reader: of the mechanism; code: what was inlined"""

    def __init__(self, reader, code):
        self.reader, self.g, self.code = reader, reader.g, code
        self.concentrations = {}             # of species, set by code before the run
        self.assigned = {}                   # name: places among the assignments
        for k, a in enumerate(code.assignments):
            self.assigned.setdefault(a.name, []).append(k)
        self.values = {}                     # of assignments, by place: nodes
        self.others, self.by_name = [], []   # rate constants of reactions; species that rates name
        self.local = None                    # variables of the function at hand
        self.before = len(code.assignments)  # what was executed before the expression at hand
        self.initial = False                 # whether the expression at hand is evaluated before the run

    def rate(self, label, place, tokens, others):
        """others: the rate constants of the reactions before it, RCONST(1), RCONST(2), ..."""
        self.others = others
        k = self.expression(tokens)
        value = self.g.const(k)
        name = re.sub(r"\W+", "_", label)
        if value is not None:
            return self.reader.named_parameter(f"k_{name}", value, f"the rate constant of {label}", ("k", place, label))
        return self.g.mul(self.reader.named_parameter(f"f_{name}", 1.0, f"a factor of the rate of {label}",
                                                      ("f", place, label)), k)

    # ---- expressions ----

    def expression(self, tokens):
        place = tokens.place
        tree = tokens.expression()
        if tokens.peek()[0] != "\n":
            raise Fault(tokens.place, f"expected the end of the expression, found {tokens.found()}")
        return self.g.placed(self.value(tree), (self.reader.source, place))

    def value(self, tree):
        g, spine = self.g, []
        while tree[0] == "binary":                                  # long sums lean to the left
            spine.append(tree)
            tree = tree[3]
        a, whole = self.operand(tree), is_whole(tree)
        for _, place, op, _, right in reversed(spine):
            b = self.value(right)
            if op == "/" and g.is_zero(b):
                raise Fault(place, "division by zero")
            if op == "/" and whole and is_whole(right) and g.const(a) is not None and g.const(a) % g.const(b):
                raise Fault(place, "the quotient of two whole numbers is rounded in Fortran and C; write a decimal "
                            "point")
            whole = whole and is_whole(right)
            a = {"+": g.add, "-": g.sub, "*": g.mul, "/": g.div, "^": g.pow}[op](a, b)
        return a

    def operand(self, tree):
        kind, place = tree[:2]
        if kind == "number":
            return self.g.c(number(place, tree[2]))
        if kind == "unary":
            return self.g.neg(self.value(tree[3]))
        if kind == "call":
            return self.call(tree)
        if kind == "name" and tree[3] is None:
            return self.name(place, tree[2])
        if kind == "name":                                          # an element of an array of C
            return self.call(("call", place, tree[2], tree[3]))
        raise Fault(place, "this is not an expression that rates may have")

    # ---- functions ----

    def call(self, tree):
        _, place, name, trees = tree
        low, g = name.lower(), self.g
        index = trees[0][2].lower() if len(trees) == 1 and trees[0][0] == "name" else ""
        if low in ARRAYS and re.match(r"indf?_", index):
            return self.concentration(place, trees[0][2])
        if low in self.code.functions:
            return self.function(tree, self.code.functions[low])
        if low == "rconst" and len(trees) == 1 and trees[0][0] == "number" and trees[0][2].isdigit():
            if 0 < int(trees[0][2][:9]) <= len(self.others):
                return self.others[int(trees[0][2]) - 1]
            raise Fault(place, f"{text_of(tree)} is not the rate constant of a reaction before this one")
        if low in RATE_LAWS and low not in self.assigned:
            if len(trees) not in RATE_LAWS[low] and low in OTHERS:
                return self.unknown(text_of(tree))
            if len(trees) not in RATE_LAWS[low]:
                counts = " or ".join(str(count) for count in RATE_LAWS[low])
                raise Fault(place, f"{name} has {counts} arguments, not {len(trees)}")
            names = [self.name(place, x) for x in RATE_LAWS[low][len(trees)].needs]
            return RATE_LAWS[low][len(trees)].law(g, *names, *(self.value(x) for x in trees))
        if low in LEAST | LARGEST and len(trees) >= 2:
            return g.extreme(g.least if low in LEAST else g.largest, [self.value(x) for x in trees])
        known = ALIASES.get(low, low)
        if known in FUNCTIONS and len(trees) == 1:
            return g.f(known, self.value(trees[0]))
        if low == "pow" and len(trees) == 2:
            return g.pow(*(self.value(x) for x in trees))
        if low in SIGNS and len(trees) == 2:
            a, b = (self.value(x) for x in trees)
            return g.sel(g.cmp("<", b, g.c(0)), g.neg(g.f("fabs", a)), g.f("fabs", a))
        if low in SAME and trees:
            return self.value(trees[0])
        return self.unknown(text_of(tree))

    def unknown(self, text):
        """The value of a rate law that is not known; equal ones are one parameter"""
        name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
        shown = text if len(text) <= LONGEST else text[:LONGEST - 3] + "..."
        return self.reader.named_parameter(f"rate_{name[:LONGEST].rstrip('_')}", math.nan, f"to be set: {shown}",
                                           ("law", text.lower()))

    def function(self, tree, function):
        """Its statements, with the values of arguments"""
        _, place, name, trees = tree
        if len(trees) != len(function.arguments):
            raise Fault(place, f"{name} has {len(function.arguments)} arguments, not {len(trees)}")
        given = [self.value(x) for x in trees]
        kept = self.local, self.before, self.reader.source
        self.local, self.before = dict(zip(function.arguments, given)), len(self.code.assignments)
        try:
            for a in function.body:
                self.local[a.name] = self.evaluated(a)
                if self.local[a.name] is None:
                    return self.unknown(text_of(tree))
            result = self.local.get(function.result)
            return self.unknown(text_of(tree)) if result is None else result
        finally:
            self.local, self.before, self.reader.source = kept

    def evaluated(self, a):
        """The node of what an assignment assigns; None: it is no expression that is read"""
        self.reader.source = a.source
        try:
            if a.index is not None:
                raise Fault(a.start, "elements of arrays are not read")
            return self.expression(self.reader.only(Tokens(a.source.tokens(a.start, a.end))))
        except Fault:
            self.not_read(a)
            return None

    def not_read(self, a):
        name = a.name if a.index is None else f"{a.name}({a.index})"
        found = (a.source, a.start, f"{name} = {' '.join(a.source.text[a.start:a.end].split())}")
        if found not in self.code.unread:
            self.code.unread.append(found)

    # ---- names ----

    def name(self, place, name):
        low, g = name.lower(), self.g
        if self.local is not None and low in self.local:
            return self.local[low]
        if low in self.assigned:
            return self.variable(place, name)
        if low in ("sun", "time"):
            return sun(g) if low == "sun" else g.v("t")
        if low == "cfactor":
            return g.c(self.reader.factor)
        fixed = self.reader.kind.get(low) == "fix"
        if fixed or low in self.reader.state and low not in self.code.declared:
            self.by_name += [] if fixed else [self.reader.spelling[low]]
            return self.species(place, name)
        return self.reader.named_parameter(name, math.nan, "temperature in K, to be set" if low == "temp" else
                                           "to be set", ("name", low))

    def species(self, place, name):
        low = name.lower()
        if low in self.reader.state:
            return self.g.v("y", self.reader.state[low])
        if self.reader.kind.get(low) == "fix":
            return self.reader.fixed_species(low)
        raise Fault(place, f"{name} is not a species of this mechanism")

    def concentration(self, place, index):
        return self.species(place, re.sub(r"^indf?_", "", index, flags=re.I))

    def variable(self, place, name):
        """The value of the last assignment before; of none, that of the next one, as rates are computed again and
        again"""
        low = name.lower()
        places = [k for k in self.assigned[low] if k < self.before]
        if not places:
            raise Fault(place, f"{name} is used before a value is assigned to it")
        k = places[-1]
        if k not in self.values:
            a, kept = self.code.assignments[k], (self.before, self.reader.source, self.local)
            self.before, self.local = k, None
            try:
                self.values[k] = self.assigned_value(name, a)
            finally:
                self.before, self.reader.source, self.local = kept
        return self.values[k]

    def assigned_value(self, name, a):
        if a.start is None or a.index is not None:
            what = "to be set: code that is not read changes it"
            return self.reader.named_parameter(name, math.nan, what, ("name", a.name))
        node = self.evaluated(a)
        if node is None:
            return self.reader.named_parameter(name, math.nan, "to be set: it is assigned what is not read",
                                               ("name", a.name))
        value = self.g.const(node)
        if value is not None:
            return self.reader.named_parameter(name, value, "temperature in K" if a.name == "temp" else
                                               "a number of inlined code", ("assigned", a.name, value))
        if a.initial and self.g.variables([node], "y", "t"):
            return self.reader.named_parameter(name, math.nan, "to be set: its value at the start",
                                               ("name", a.name))
        if self.g.children(node):
            self.reader.model.labels.setdefault(node, name)
        return node

    # ---- before the run ----

    def initial_concentrations(self):
        """C(ind_NAME) = NUMBER in code that is executed before the run; what assigns it later is not read"""
        for a in self.code.assignments:
            low = re.sub(r"^indf?_", "", a.index or "")
            if a.name not in ARRAYS or low not in self.reader.kind or a.start is None:
                continue
            node = self.evaluated(replace(a, index=None)) if a.initial else None
            if node is None or self.g.const(node) is None:
                self.not_read(a)
            else:
                self.concentrations[low] = self.g.const(node)

    def species_used(self):
        """Those that code reads by ind_NAME"""
        found = set()
        for a in [*self.code.assignments, *(b for f in self.code.functions.values() for b in f.body)]:
            if isinstance(a, Assignment) and a.start is not None:
                found |= {m.lower() for m in re.findall(r"\bindf?_(\w+)", a.source.text[a.start:a.end], re.I)}
        return found & set(self.reader.kind)


def is_whole(tree):
    return tree[0] == "number" and tree[2].isdigit() or tree[0] == "unary" and is_whole(tree[3]) or \
        tree[0] == "binary" and is_whole(tree[3]) and is_whole(tree[4])


def text_of(tree):
    """A tree as text, for what is not evaluated"""
    kind = tree[0]
    if kind == "number":
        return tree[2]
    if kind == "unary":
        return f"-{text_of(tree[3])}"
    if kind == "binary":
        return f"{text_of(tree[3])}{tree[2]}{text_of(tree[4])}"
    arguments = tree[3]
    name = re.sub(r"^_(true|false)_$", r".\1.", tree[2], flags=re.I)
    return name if arguments is None else f"{name}({', '.join(text_of(x) for x in arguments)})"
