"""Chemical mechanisms in the format of the Kinetic PreProcessor (A. Sandu, R. Sander, Atmos. Chem. Phys. 6 (2006)
187-195) become Models: files .def, .kpp, .spc, .eqn.

Every reaction has a parameter of its own, so that one adjoint run gives the sensitivities to all of them: k_LABEL, if
its rate constant is a number, else f_LABEL = 1, a factor of the expression.  Fixed species and names that are not known
are parameters, too.  Time is in seconds, as SUN has it."""
import re
from pathlib import Path

from ..real import Refused
from .model import Model, Quantity, Reaction
from .nodes import FUNCTIONS
from .rate_laws import RATE_LAWS, sun
from .scope import MOST_OPERATIONS
from .syntax import Fault, Source, Tokens, near

SECTIONS = {"DEFVAR", "DEFFIX", "EQUATIONS", "INITVALUES", "SETVAR", "SETFIX"}
DUMMIES = {"hv", "prod", "dummy"}
GENERIC = {"all_spec": ("var", "fix"), "var_spec": ("var",), "fix_spec": ("fix",)}
DEEPEST = 10                                 # includes inside each other
STANDARD = {"atoms", "atoms.kpp"}            # elements, for checks of the balance of atoms


def read(path):
    """(model, notes: what was skipped or assumed, sentences)"""
    reader = Reader(path)
    return reader.model, reader.notes


def blanked(text):
    """Without comments, which are {...}, or // to the end of the line; with the same places and lines"""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())                      # noqa: E731
    text = re.sub(r"\{[^}]*\}|//[^\n]*", blank, text)
    return re.sub(r"(?<=[\d.])_dp\b", blank, text, flags=re.I)


class Reader:
    def __init__(self, path):
        self.model, self.notes = Model(name_of(path)), []
        self.g = self.model.graph
        self.items = {name: [] for name in SECTIONS}     # (source, place, end) of each item
        self.skipped = {}
        self.kind, self.spelling = {}, {}                # of species, by lower-case name: var, fix; as first written
        self.state, self.fixed, self.parameter = {}, {}, {}
        self.initial, self.factor = {}, 1.0
        self.collect(Path(path), 0)
        for name, kind in (("DEFVAR", "var"), ("DEFFIX", "fix"), ("SETVAR", "var"), ("SETFIX", "fix")):
            self.each(name, lambda tokens, kind=kind: self.declare(tokens, kind))
        self.each("INITVALUES", self.initial_value)
        self.undeclared = not self.items["DEFVAR"]
        self.equations = []
        self.each("EQUATIONS", self.equation)
        if not self.equations:
            raise Refused(f"{path}: there is no reaction in a section #EQUATIONS")
        self.build()
        for name, count in self.skipped.items():
            self.notes.append(f"#{name} was skipped" + (f" ({count} times)" if count > 1 else ""))

    # ---- files and sections ----

    def collect(self, path, depth):
        if depth > DEEPEST:
            raise Refused(f"{path}: files include each other more than {DEEPEST} levels deep")
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as fault:
            raise Refused(f"{path}: cannot be read: {fault.strerror}") from None
        text = re.sub(r"^#INLINE\b.*?^#ENDINLINE[^\n]*", self.inline, text, flags=re.M | re.S | re.I)
        source = Source(path, blanked(text))
        marks = list(re.finditer(r"^[ \t]*#(\w+)", source.text, re.M))
        for mark, after in zip(marks, marks[1:] + [None]):
            word, end = mark.group(1).upper(), after.start() if after else len(source.text)
            if word == "INCLUDE":
                self.include(source, mark.end(), path, depth)
            elif word == "MODEL":
                self.included_model(source, mark.end(), path, depth)
            elif word in SECTIONS:
                self.split(word, source, mark.end(), end)
            else:
                self.skipped[word] = self.skipped.get(word, 0) + 1

    def inline(self, found):
        self.skipped["INLINE"] = self.skipped.get("INLINE", 0) + 1
        return re.sub(r"[^\n]", " ", found.group())

    def include(self, source, at, path, depth):
        name = source.text[at:source.text.find("\n", at) if "\n" in source.text[at:] else None].strip()
        if name.lower() in STANDARD:
            return
        file = path.parent / name
        if not name or not file.exists():
            raise source.refusal(Fault(at + 1, f"the file {name or '(no name)'} does not exist in {path.parent}"))
        self.collect(file, depth + 1)

    def included_model(self, source, at, path, depth):
        """#MODEL NAME stands for NAME.def"""
        name = source.text[at:source.text.find("\n", at) if "\n" in source.text[at:] else None].strip()
        for file in (path.parent / f"{name}.def", path.parent / f"{name}.kpp"):
            if file.exists() and file.resolve() != path.resolve():
                return self.collect(file, depth + 1)
        raise source.refusal(Fault(at + 1, f"there is no {name}.def in {path.parent}"))

    def split(self, section, source, at, end):
        while at < end:
            stop = source.text.find(";", at, end)
            stop = end if stop < 0 else stop
            if source.text[at:stop].strip():
                self.items[section].append((source, at, stop))
            at = stop + 1

    def each(self, section, do):
        for source, at, end in self.items[section]:
            try:
                self.source = source
                do(Tokens(source.tokens(at, end)))
            except Fault as fault:
                raise source.refusal(fault) from None

    @staticmethod
    def only(tokens):
        """Line ends are blanks here"""
        tokens.list = [t for t in tokens.list if t[0] != "\n"] + [("\n", "\n", tokens.list[-1][2]), tokens.list[-1]]
        tokens.list = [t for k, t in enumerate(tokens.list) if t[0] != "end" or k == len(tokens.list) - 1]
        return tokens

    # ---- species ----

    def declare(self, tokens, kind):
        name, place = self.only(tokens).take("name", "the name of a species")[1:]
        low = name.lower()
        if low in GENERIC:
            for species in self.kind:
                self.kind[species] = kind if self.kind[species] in GENERIC[low] else self.kind[species]
            return
        self.kind[low] = kind
        self.spelling.setdefault(low, name)

    def initial_value(self, tokens):
        name, place = self.only(tokens).take("name", "the name of a species")[1:]
        tokens.take("=")
        value = self.g.const(self.expression(tokens))
        if value is None:
            raise Fault(place, f"the initial value of {name} must be a number")
        if name.lower() == "cfactor":
            self.factor = value
        else:
            self.initial[name.lower()] = value

    def start(self, low, kind):
        if low in self.initial:
            return self.initial[low] * self.factor
        for generic in ("var_spec" if kind == "var" else "fix_spec", "all_spec"):
            if generic in self.initial:
                return self.initial[generic] * self.factor
        return 0.0

    # ---- reactions ----

    def equation(self, tokens):
        self.only(tokens)
        label = str(len(self.equations) + 1)
        if tokens.skip("<"):
            parts = []
            while tokens.peek()[0] not in (">", "\n"):
                parts.append(tokens.next()[1])
            tokens.take(">")
            label = "".join(parts)
        place = tokens.place
        left = self.side(tokens, "=")
        tokens.take("=")
        right = self.side(tokens, ":")
        tokens.take(":", "':' and the rate constant")
        if tokens.peek()[0] == "\n":
            raise Fault(tokens.place, "expected a rate constant, found the end of the reaction")
        self.equations.append((label, place, left, right, self.source, tokens))

    def side(self, tokens, end):
        out, sign = [], 1.0
        while tokens.peek()[0] in ("+", "-"):
            sign = -sign if tokens.next()[0] == "-" else sign
        while True:
            count = float(tokens.next()[1].lower().replace("d", "e")) if tokens.peek()[0] == "number" else 1.0
            tokens.skip("*")
            name, place = tokens.take("name", "a species")[1:]
            if name.lower() not in DUMMIES:
                out.append((sign * count, self.species(name, place)))
            if tokens.peek()[0] not in ("+", "-"):
                break
            sign = 1.0 if tokens.next()[0] == "+" else -1.0
        if tokens.peek()[0] != end:
            raise Fault(tokens.place, f"expected + or '{end}', found {tokens.found()}")
        return out

    def species(self, name, place):
        low = name.lower()
        if low not in self.kind:
            if not self.undeclared:
                raise Fault(place, f"{name} is not declared in #DEFVAR or #DEFFIX" + near(name, self.spelling.values()))
            self.kind[low] = "var"
            self.spelling[low] = name
        return low

    # ---- the model ----

    def build(self):
        used = {low for _, _, left, right, _, _ in self.equations for _, low in left + right}
        for low, kind in self.kind.items():
            if low not in used and kind == "var":
                self.notes.append(f"the species {self.spelling[low]} occurs in no reaction and was left out")
            elif low in used and kind == "var":
                q = Quantity(self.spelling[low], 0, len(self.model.states))
                q.value = self.g.c(self.start(low, kind))
                self.state[low] = q.index
                self.model.states.append(q)
        self.model.equations = [self.g.c(0)] * len(self.model.states)
        rates = []
        for label, place, left, right, source, tokens in self.equations:
            try:
                self.source = source
                rates.append(self.rate(label, tokens))
            except Fault as fault:
                raise source.refusal(fault) from None
            if len(self.g.nodes) > MOST_OPERATIONS:
                raise Refused(f"{source.path}: the mechanism has more than {MOST_OPERATIONS} operations")
        for (label, place, left, right, _, _), k in zip(self.equations, rates):
            self.react(place, left, right, k)

    def react(self, place, left, right, k):
        reactants, net = {}, {}
        for count, low in left:
            if low in self.state:
                i = self.state[low]
                reactants[i] = reactants.get(i, 0) + max(count, 0)
                net[i] = net.get(i, 0) - count
            elif count > 0:
                k = self.g.mul(k, self.g.pow(self.fixed_species(low), self.g.c(count)))
        for count, low in right:
            if low in self.state:
                net[self.state[low]] = net.get(self.state[low], 0) + count
        self.model.reactions.append(Reaction(place, [x for x in sorted(reactants.items()) if x[1]],
                                             [x for x in sorted(net.items()) if x[1]], k))

    def fixed_species(self, low):
        return self.named_parameter(self.spelling[low], self.start(low, "fix"), "a fixed species")

    def named_parameter(self, name, value, text):
        low = name.lower()
        if low not in self.parameter:
            q = Quantity(name, 0, len(self.model.parameters), text=text, value=self.g.c(value))
            self.model.parameters.append(q)
            self.parameter[low] = self.g.v("p", q.index)
        return self.parameter[low]

    def rate(self, label, tokens):
        k = self.expression(tokens)
        value = self.g.const(k)
        name = re.sub(r"\W+", "_", label)
        if value is not None:
            return self.named_parameter(self.unused(f"k_{name}"), value, f"the rate constant of {label}")
        return self.g.mul(self.named_parameter(self.unused(f"f_{name}"), 1.0, f"a factor of the rate of {label}"), k)

    def unused(self, name):
        while name.lower() in self.parameter or name.lower() in self.state:
            name += "_"
        return name

    # ---- expressions of rates ----

    def expression(self, tokens):
        tree = tokens.expression()
        if tokens.peek()[0] != "\n":
            raise Fault(tokens.place, f"expected the end of the expression, found {tokens.found()}")
        return self.value(tree)

    def value(self, tree):
        g, spine = self.g, []
        while tree[0] == "binary":                                  # long sums lean to the left
            spine.append(tree)
            tree = tree[3]
        a = self.operand(tree)
        for _, place, op, _, right in reversed(spine):
            b = self.value(right)
            if op == "/" and g.is_zero(b):
                raise Fault(place, "division by zero")
            a = {"+": g.add, "-": g.sub, "*": g.mul, "/": g.div, "^": g.pow}[op](a, b)
        return a

    def operand(self, tree):
        kind, place = tree[:2]
        if kind == "number":
            return self.g.c(float(tree[2].lower().replace("d", "e")))
        if kind == "unary":
            return self.g.neg(self.value(tree[3]))
        if kind == "call":
            return self.call(place, tree[2], tree[3])
        if kind == "name" and tree[3] is None:
            return self.name(tree[2])
        raise Fault(place, "this is not an expression that rates may have")

    def call(self, place, name, trees):
        arguments, low = [self.value(x) for x in trees], name.lower()
        if low in RATE_LAWS:
            law, count = RATE_LAWS[low]
            if len(arguments) != count:
                raise Fault(place, f"{name} has {count} arguments, not {len(arguments)}")
            return law(self.g, self.name("TEMP"), self.g.c(self.factor), *arguments)
        if low in ("min", "max") and len(arguments) == 2:
            return (self.g.least if low == "min" else self.g.largest)(*arguments)
        if low in FUNCTIONS and len(arguments) == 1:
            return self.g.f(low, arguments[0])
        if low in ("abs", "dexp", "dlog10") and len(arguments) == 1:
            return self.g.f({"abs": "fabs", "dexp": "exp", "dlog10": "log10"}[low], arguments[0])
        text = f"{name}({', '.join(self.text_of(x) for x in trees)})"
        self.notes.append(f"{self.source.path}:{self.source.line(place)}: the rate law {name} is not known; its value "
                          "became a parameter")
        return self.named_parameter(self.unused(f"rate_{re.sub(r'[^A-Za-z0-9]+', '_', text).strip('_')}"), 0.0, text)

    @staticmethod
    def text_of(tree):
        return str(tree[2]) if tree[0] in ("number", "name") else tree[0]

    def name(self, name):
        low = name.lower()
        if low == "sun":
            return sun(self.g)
        if low == "time":
            return self.g.v("t")
        if low == "cfactor":
            return self.g.c(self.factor)
        if low in self.state:
            return self.g.v("y", self.state[low])
        if low in self.kind:
            return self.fixed_species(low)
        if low == "temp":
            return self.named_parameter("TEMP", 298.15, "temperature in K")
        if low not in self.parameter:
            self.notes.append(f"{name} is not known; it became a parameter with the value 0")
        return self.named_parameter(name, 0.0, "")


def name_of(path):
    word = re.sub(r"\W+", "_", Path(path).stem)
    return word if word.isidentifier() else "mechanism"
