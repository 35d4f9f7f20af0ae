"""Expressions as nodes of a graph, in which equal ones are one node.

A node is an index into Nodes.nodes; its key is (kind, ...):

    c value            a constant                       f name x        a function of one argument
    v space index ...  a variable, see below            g name x y      a function of two: atan2, hypot
    + - * /            of two nodes                     cmp op x y      a comparison; and, or, not: of these
    neg x  pow x y                                      sel c x y       x where the condition c holds, else y
    arr, mv, outer, el: arrays, see arrays.py
    call, jet: functions that are written in C, see calls.py

A variable is ("v", space, index, offsets): space is y, p, t, m, yp, mode, relation and whole (values of
relations), w (weights of an adjoint), or that of a direction: y, p, ... with d or e before it; offsets are those of a
cell of a grid, () elsewhere."""
import math
import operator

from .arrays import ARRAYS, Arrays
from .calls import COST_OF_A_CALL, MOST_ORDERS, Calls
from .syntax import Fault

FUNCTIONS = {"exp", "log", "log10", "log2", "log1p", "expm1", "sqrt", "cbrt", "sin", "cos", "tan", "asin", "acos",
             "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "fabs", "floor", "ceil"}
FUNCTIONS_OF_TWO = {"atan2", "hypot"}
CIRCLE, BELL, COSINE = "1 - x^2", "1/cosh^2", "x/hypot"        # parts of derivatives, which `printable` writes out
STEPS = {"floor", "ceil"}                      # piecewise constant: their derivative is 0
LEAVES = ("c", "v")
WITH_HEAD = ("f", "g", "cmp", "mv", "el", "call", "jet")      # kinds whose second entry is no child
CONDITIONS = ("cmp", "and", "or", "not")
HOLDS = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
DEEPEST_BRANCHES = 240                         # Python's stack
MOST_FACTORS = 64                              # integer powers up to this become products

# What an operation costs beside an addition, for choices between forms of the same derivative.
COSTS = {"+": 1, "-": 1, "*": 1, "neg": 0, "/": 8, "sel": 1, "cmp": 1, "and": 0, "or": 0, "not": 0, "pow": 60, "g": 40,
         "call": COST_OF_A_CALL}
COSTS_OF_FUNCTIONS = {"sqrt": 10, "fabs": 0, "floor": 2, "ceil": 2, CIRCLE: 3}
COST_OF_A_FUNCTION = 25


class Nodes(Arrays, Calls):
    def __init__(self):
        self.nodes, self.index, self.blocks = [], {}, {}
        self.functions = {}                      # that are written in C: name: Function
        self.orders = MOST_ORDERS                # of derivatives that printed products are to have
        self.under = []                          # the children of each node
        self.depth, self.places = [], {}         # of branches inside each other, by node; where a node came from

    def node(self, *key):
        found = self.index.get(key)
        if found is None:
            found = self.index[key] = len(self.nodes)
            self.nodes.append(key)
            children = () if key[0] in LEAVES else key[2:] if key[0] in WITH_HEAD else key[1:]
            self.under.append(children)
            deepest = max(map(self.depth.__getitem__, children), default=0)
            self.depth.append(deepest + (key[0] == "sel" or key[0] in CONDITIONS))
        return found

    # ---- building: with the simplifications that cost no accuracy ----

    def c(self, value):
        return self.node("c", float(value) + 0.0)           # one zero

    def v(self, space, index=0, offsets=()):
        return self.node("v", space, index, offsets)

    def const(self, a):
        return self.nodes[a][1] if self.nodes[a][0] == "c" else None

    def is_zero(self, a):
        return self.const(a) == 0

    def _folded(self, value, *otherwise):
        """A constant, if it is a number; infinite ones are left to the program that meets them."""
        return self.c(value) if math.isfinite(value) else self.node(*otherwise)

    def add(self, a, b):
        x, y = self.const(a), self.const(b)
        if x is not None and y is not None:
            return self._folded(x + y, "+", a, b)
        if x == 0:
            return b
        if y == 0:
            return a
        if self._is_negative(b):
            return self.sub(a, self.neg(b))
        if self._is_negative(a):
            return self.sub(b, self.neg(a))
        if a == b:
            return self.mul(self.c(2), a)
        return self.node("+", *sorted((a, b)))

    def sub(self, a, b):
        x, y = self.const(a), self.const(b)
        if x is not None and y is not None:
            return self._folded(x - y, "-", a, b)
        if y == 0:
            return a
        if x == 0:
            return self.neg(b)
        if a == b:
            return self.c(0)
        if self._is_negative(b):
            return self.add(a, self.neg(b))
        if self.nodes[a][0] == "neg":
            return self.neg(self.add(self.nodes[a][1], b))
        return self.node("-", a, b)

    def _is_negative(self, a):
        """-x, or a negative constant times x"""
        key = self.nodes[a]
        return key[0] == "neg" or key[0] == "*" and (self.const(key[1]) or 0) < 0

    def neg(self, a):
        x = self.const(a)
        if x is not None:
            return self.c(-x)
        if self.nodes[a][0] == "neg":
            return self.nodes[a][1]
        if self.nodes[a][0] == "-":
            return self.node("-", self.nodes[a][2], self.nodes[a][1])
        if self.nodes[a][0] == "*" and self.const(self.nodes[a][1]) is not None:
            return self.mul(self.c(-self.const(self.nodes[a][1])), self.nodes[a][2])
        return self.node("neg", a)

    def mul(self, a, b):
        x, y = self.const(a), self.const(b)
        if y is not None:
            a, b, x, y = b, a, y, x
        if x is not None:
            if y is not None:
                return self._folded(x * y, "*", a, b)
            if x in (0, 1, -1):
                return a if x == 0 else b if x == 1 else self.neg(b)
            return self._scaled(x, a, b)
        if self.nodes[a][0] == "neg":
            return self.neg(self.mul(self.nodes[a][1], b))
        if self.nodes[b][0] == "neg":
            return self.neg(self.mul(a, self.nodes[b][1]))
        return self.node("*", *sorted((a, b)))

    def _scaled(self, x, a, b):
        """x b, with the constants of b taken together"""
        key = self.nodes[b]
        if key[0] == "neg":
            return self.mul(self.c(-x), key[1])
        inner = self.const(key[1]) if key[0] == "*" else None
        if inner is not None and 1e-300 < abs(x * inner) < math.inf:
            return self.mul(self.c(x * inner), key[2])
        return self.node("*", a, b)

    def div(self, a, b):
        """a/b as a (1/b): quotients with the same denominator share its reciprocal.  Powers are a b^-k."""
        x, y = self.const(a), self.const(b)
        if self.whole_power(b):
            return self.mul(a, self.pow(self.nodes[b][1], self.neg(self.nodes[b][2])))
        if y == 0:
            return self.node("/", a, b)
        if x is not None and y is not None:
            return self._folded(x / y, "/", a, b)
        if x == 0:
            return a
        if y is not None:
            if y in (1, -1):
                return a if y == 1 else self.neg(a)
            return self.mul(self.c(1 / y), a) if _is_exact(y) else self.node("/", a, b)
        if self.nodes[a][0] == "neg":
            return self.neg(self.div(self.nodes[a][1], b))
        return self.node("/", a, b) if x == 1 else self.mul(a, self.node("/", self.c(1), b))

    def pow(self, a, b):
        """A whole power is one node, whose derivatives are powers: 1/x^24 of a derivative of x^-12 would overflow
        long before x^-13.  `printable` makes it a product."""
        x, y = self.const(a), self.const(b)
        if y is not None and y == int(y) and abs(y) <= MOST_FACTORS:
            if abs(y) <= 1 or x is not None:
                power = self._product(a, abs(int(y)))
                return power if y >= 0 else self.div(self.c(1), power)
            if self.nodes[a][0] == "neg":
                power = self.pow(self.nodes[a][1], b)
                return self.neg(power) if y % 2 else power
            return self.node("pow", a, b)
        if y in (0.5, -0.5):
            return self.f("sqrt", a) if y > 0 else self.div(self.c(1), self.f("sqrt", a))
        if x is not None and x > 0 and y is not None:
            return self._folded(_value(math.pow, x, y), "pow", a, b)
        return self.node("pow", a, b)

    def whole_power(self, a):
        """The exponent of a power that becomes a product; else 0"""
        key = self.nodes[a]
        y = self.const(key[2]) if key[0] == "pow" else None
        return int(y) if y is not None and y == int(y) and abs(y) <= MOST_FACTORS else 0

    def _product(self, a, k):
        """a^k by squares"""
        power, square = self.c(1), a
        while k:
            if k & 1:
                power = self.mul(power, square)
            k >>= 1
            if k:
                square = self.mul(square, square)
        return power

    def f(self, name, a):
        x = self.const(a)
        if x is not None and hasattr(math, name):
            return self._folded(_value(getattr(math, name), x), "f", name, a)
        return self.node("f", name, a)

    def g(self, name, a, b):
        return self.node("g", name, a, b)

    def cmp(self, op, a, b):
        return self.node("cmp", op, a, b)

    def both(self, a, b):
        return self.node("and", a, b)

    def either(self, a, b):
        return self.node("or", a, b)

    def no(self, a):
        return self.node("not", a)

    def sel(self, condition, a, b):
        key = self.nodes[condition]
        x, y = (self.const(k) for k in key[2:]) if key[0] == "cmp" else (None, None)
        if x is not None and y is not None:
            return a if HOLDS[key[1]](x, y) else b
        return a if a == b else self.node("sel", condition, a, b)

    def least(self, a, b):
        return self.sel(self.cmp("<", b, a), b, a)

    def largest(self, a, b):
        return self.sel(self.cmp("<", a, b), b, a)

    def extreme(self, join, terms):
        """Many terms joined as a balanced tree, so that they do not lie inside each other"""
        while len(terms) > 1:
            terms = [join(*terms[k:k + 2]) if k + 1 < len(terms) else terms[k] for k in range(0, len(terms), 2)]
        return terms[0]

    def placed(self, a, place):
        """Remembers where a node came from, for what is found to be wrong with it later; refuses too many branches
        inside each other"""
        self.places.setdefault(a, place)
        if self.depth[a] > DEEPEST_BRANCHES:
            raise Fault(place, f"more than {DEEPEST_BRANCHES} conditions are inside each other")
        return a

    def deepest(self):
        """The place of the expression with most conditions inside each other"""
        return max(self.places.items(), key=lambda item: self.depth[item[0]], default=(0, 0))[1]

    def total(self, terms):
        out = self.c(0)
        for a in terms:
            out = self.add(out, a)
        return out

    # ---- going over it ----

    def children(self, a):
        return self.under[a]

    def again(self, a, below):
        """The node a with other children"""
        key = self.nodes[a]
        return self.builders()[key[0]](*(key[1:2] if key[0] in WITH_HEAD else ()), *below)

    def order(self, roots):
        """All nodes below roots, each after its children."""
        seen, out, stack = set(), [], list(roots)[::-1]
        children = self.under
        while stack:
            a = stack.pop()
            if a < 0:                                      # -1 - a: what is below a is there
                out.append(-1 - a)
            elif a not in seen:
                seen.add(a)
                if children[a]:
                    stack.append(-1 - a)
                    stack += [b for b in children[a][::-1] if b not in seen]
                else:
                    out.append(a)
        return out

    def variables(self, roots, *spaces):
        """The variables below roots, sorted; of these spaces, if any are named."""
        found = [self.nodes[a] for a in self.order(roots) if self.nodes[a][0] == "v"]
        return sorted((k for k in found if not spaces or k[1] in spaces), key=lambda k: (k[1], k[2], k[3]))

    def used(self, roots, space):
        """For each root the numbers of the variables of a space below it; all roots in one pass, with sets as bits"""
        bits = {}
        for a in self.order(roots):
            key, found = self.nodes[a], 0
            if key[0] == "v":
                found = 1 << key[2] if key[1] == space else 0
            else:
                for b in self.under[a]:
                    found |= bits[b]
            bits[a] = found
        members = {}                             # of equal sets, once
        for a in roots:
            found = bits[a]
            if found not in members:
                members[found] = {k for k, bit in enumerate(bin(found)[:1:-1]) if bit == "1"}
        return [members[bits[a]] for a in roots]

    def below(self, roots, given):
        """The nodes of `given` that roots need first: those with no other of them between"""
        found, seen, stack = set(), set(), list(roots)
        while stack:
            a = stack.pop()
            if a not in seen:
                seen.add(a)
                if a in given:
                    found.add(a)
                else:
                    stack += self.children(a)
        return sorted(found)

    def cost(self, roots):
        """Operations, in additions."""
        return sum(self.operation_cost(a) for a in self.order(roots))

    def mapped(self, roots, leaf):
        """roots with each variable replaced by the node leaf(its key)."""
        return self.rebuilt(roots, {"v": leaf})

    def rebuilt(self, roots, rules, given=None):
        """roots built again; rules: kind -> function of the new children, or of the key of a variable; given: nodes
        that are replaced, with what stands for them."""
        build = self.builders() | rules
        m = {}
        for a in self.order(roots):
            key = self.nodes[a]
            if given and a in given:
                m[a] = given[a]
            elif key[0] in ARRAYS and all(m[b] == b for b in self.under[a]):
                m[a] = a
            elif key[0] == "c" or key[0] == "v" and "v" not in rules:
                m[a] = a
            elif key[0] == "v":
                m[a] = rules["v"](key)
            else:
                head = key[1:2] if key[0] in WITH_HEAD else ()
                m[a] = build[key[0]](*head, *(m[b] for b in self.children(a)))
        return [m[r] for r in roots]

    def builders(self):
        """kind -> function of the children"""
        return {"+": self.add, "-": self.sub, "*": self.mul, "/": self.div, "neg": self.neg, "pow": self.pow,
                "sel": self.sel, "and": self.both, "or": self.either, "not": self.no, "f": self.f, "g": self.g,
                "cmp": self.cmp, "arr": self.arr, "mv": self.mv, "outer": self.outer, "el": self.el,
                "call": self.call, "jet": self.jet}

    def printable(self, roots):
        """roots with whole powers as products, x^(k + 1/2) as products with sqrt(x), which cost less than pow, and
        parts of derivatives written out.  Not before derivatives are formed: that of x sqrt(x) is 0/0 at x = 0."""
        def power(a, b):
            y = self.const(b)
            if y is None or 2 * y != int(2 * y) or abs(y) > MOST_FACTORS:
                return self.pow(a, b)
            base = a if y > 0 else self.div(self.c(1), a)
            if y == int(y):
                return self._product(base, int(abs(y)))
            return self.mul(self._product(base, int(abs(y) - 0.5)), self.f("sqrt", base))

        def function(name, a):
            if name == CIRCLE:
                return self.mul(self.sub(self.c(1), a), self.add(self.c(1), a))
            return power(self.f("cosh", a), self.c(-2)) if name == BELL else self.f(name, a)

        def of_two(name, a, b):
            return self.div(a, self.g("hypot", a, b)) if name == COSINE else self.g(name, a, b)
        return self.rebuilt(roots, {"pow": power, "f": function, "g": of_two})

    def operation_cost(self, a):
        key, y = self.nodes[a], self.whole_power(a)
        if y:
            return abs(y).bit_length() + abs(y).bit_count() - 2 + COSTS["/"] * (y < 0)
        if key[0] in ARRAYS:
            return self.operations_in_array(a)
        if key[0] == "f":
            return COSTS_OF_FUNCTIONS.get(key[1], COST_OF_A_FUNCTION)
        return COSTS.get(key[0], 0)


def _is_exact(x):
    """Whether 1/x is: a power of two whose inverse is no denormal or infinite number"""
    return math.frexp(abs(x))[0] == 0.5 and 1e-307 < abs(x) < 1e307


def _value(function, *x):
    try:
        return function(*x)
    except (ValueError, OverflowError):
        return math.nan
