"""A model of single states as an equation file: what a mechanism becomes before it is edited.

Expressions are printed from the graph, so that the file gives the same nodes when it is read.  What several expressions
share, and what is long, is a name (let)."""
import math
import re
import textwrap

from .declare import RESERVED
from .names import identifier

COLUMNS = 118
LONG = 70                                    # characters of an expression before a part of it gets a name
SUM, PRODUCT, SIGN, POWER, ATOM = range(5)   # how tightly a text binds
NAMES = {"fabs": "abs"}


def write(model, origin):
    """The text; origin: name of the file that the model was read from"""
    return File(model, origin).text()


class File:
    def __init__(self, model, origin):
        self.model, self.g, self.origin = model, model.graph, origin
        taken, self.names = {*RESERVED, "nan"}, {}
        for space, quantities in (("y", model.states), ("p", model.parameters)):
            for q in quantities:
                self.names[space, q.index] = identifier(q.name, taken)
        self.taken, self.lets, self.texts, self.count = taken, [], {}, 0
        self.roots = [r.k for r in model.reactions]
        uses = {}
        for a in self.roots:
            uses[a] = uses.get(a, 0) + 1
        for a in self.g.order(self.roots):
            for b in self.g.children(a):
                uses[b] = uses.get(b, 0) + 1
        self.uses = uses

    def text(self):
        m = self.model
        reactions = [self.reaction(r) for r in m.reactions]
        lines = [f"# written by costate-model from {self.origin}; it does not overwrite this file once it is edited",
                 f"model {m.name}", *["kinks as branches"] * self.has_steps(), ""]
        lines += [f"parameter {self.names['p', q.index]} = {self.default(q)}{remark(q)}" for q in m.parameters]
        lines += ["", *(f"state {self.names['y', q.index]} = {value(self.g.const(q.value))}{remark(q)}"
                        for q in m.states), ""]
        lines += [*self.lets, ""] if self.lets else []
        reacting = {i for r in m.reactions for i, _ in [*r.left, *r.net]}
        lines += [f"{self.names['y', q.index]}' = 0" for q in m.states if q.index not in reacting]
        return "\n".join(lines + reactions) + "\n"

    def has_steps(self):
        """floor and ceil: those of SUN jump at night, where nothing depends on them"""
        return any(self.g.nodes[a][:2] in (("f", "floor"), ("f", "ceil")) for a in self.g.order(self.roots))

    def default(self, q):
        return value(self.g.const(q.value))

    # ---- reactions ----

    def reaction(self, r):
        """The left side has the exponents of the rate; what it takes away beyond the net change is given back"""
        left, right = dict(r.left), dict(r.net)
        for i, exponent in r.left:
            net = right.get(i, 0)
            right[i] = round(net + exponent, 12) if round(net + exponent, 12) - exponent == net else net + exponent
        text = self.expression(r.k)
        sides = f"{self.side(left)} -> {self.side({i: x for i, x in right.items() if x})} : "
        if len(sides) + len(text) > COLUMNS and not text.isidentifier():
            text = self.named(r.k)
        return sides + text

    def side(self, counts):
        out = ""
        for i, x in sorted(counts.items(), key=lambda item: item[1] < 0):
            sign = (" - " if x < 0 else " + ") if out else ("0 - " if x < 0 else "")
            out += sign + ("" if abs(x) == 1 else value(abs(x)) + " ") + self.names["y", i]
        return out or "0"

    # ---- expressions ----

    def expression(self, a, least=SUM):
        text, binds = self._text(a)
        return f"({text})" if binds < least else text

    def named(self, a):
        """The name of a node, which a let gives it"""
        if a not in self.texts or self.texts[a][1] != ATOM or not self.texts[a][0].isidentifier():
            text = self.texts[a][0] if a in self.texts else self._fresh(a)[0]
            self.count += a not in self.model.labels
            name = identifier(self.model.labels.get(a, f"k{self.count}"), self.taken)
            self.lets += wrapped(f"let {name} = {text}")
            self.texts[a] = name, ATOM
        return self.texts[a][0]

    def _text(self, root):
        """Bottom up, as sums may be thousands of terms deep"""
        for a in self.g.order([root]):
            if a not in self.texts:
                self.texts[a] = self._fresh(a)
                if self.g.children(a) and self.g.nodes[a][0] not in ("cmp", "and", "or", "not") and a != root and \
                        (a in self.model.labels or self.uses[a] > 1 and len(self.texts[a][0]) > 12
                         or len(self.texts[a][0]) > LONG):
                    self.named(a)
        return self.texts[root]

    def _fresh(self, a):
        key = self.g.nodes[a]
        kind = key[0]

        def inner(b, least):
            text, binds = self.texts[b]
            return f"({text})" if binds < least else text
        if kind == "c":
            return value(key[1]), ATOM if key[1] >= 0 else SIGN
        if kind == "v":
            return ("t" if key[1] == "t" else self.names[key[1:3]]), ATOM
        if kind in "+-":
            return f"{inner(key[1], SUM)} {kind} {inner(key[2], PRODUCT)}", SUM
        if kind == "*" and self._is_reciprocal(key[2]):
            return f"{inner(key[1], PRODUCT)}/{inner(self.g.nodes[key[2]][2], POWER)}", PRODUCT
        if kind == "*" and self._is_reciprocal(key[1]):
            return f"{inner(key[2], PRODUCT)}/{inner(self.g.nodes[key[1]][2], POWER)}", PRODUCT
        if kind in "*/":
            return f"{inner(key[1], PRODUCT)}{kind}{inner(key[2], POWER)}", PRODUCT
        if kind == "neg":
            return f"-{inner(key[1], POWER)}", SIGN
        if kind == "pow":
            return f"{inner(key[1], ATOM)}^{inner(key[2], ATOM)}", POWER
        if kind in ("f", "g"):
            return f"{NAMES.get(key[1], key[1])}({', '.join(inner(b, SUM) for b in key[2:])})", ATOM
        if kind == "call":
            return f"{key[1][0]}({', '.join(inner(b, SUM) for b in key[2:])})", ATOM
        if kind == "cmp":
            return f"{inner(key[2], SUM)} {key[1]} {inner(key[3], SUM)}", SUM
        if kind == "sel":
            return f"if({', '.join(inner(b, SUM) for b in key[1:])})", ATOM
        conditions = [f"({self.texts[b][0]})" for b in key[1:]]
        return f"not {conditions[0]}" if kind == "not" else f" {kind} ".join(conditions), SUM


    def _is_reciprocal(self, a):
        """1/x, which has no name"""
        key = self.g.nodes[a]
        return key[0] == "/" and self.g.const(key[1]) == 1 and self.g.const(key[2]) is None and \
            not self.texts[a][0].isidentifier()


def value(x):
    """nan: a parameter that must be set"""
    return "nan" if math.isnan(x) else repr(int(x)) if x == int(x) and abs(x) < 1e6 else repr(x)


def remark(q):
    text = " ".join(re.sub(r'["\n]', "'", q.text).split())
    return f' "{text}"' if text else ""


def wrapped(line):
    """Lines of at most COLUMNS characters, in parentheses: inside them line ends are blanks"""
    if len(line) <= COLUMNS:
        return [line]
    head, text = re.match(r"(.*? = )(.*)$", line, re.S).groups()
    return textwrap.wrap(f"{head}({text})", COLUMNS, subsequent_indent="    ", break_long_words=False,
                         break_on_hyphens=False)
