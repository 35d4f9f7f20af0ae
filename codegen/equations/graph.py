"""The derivatives of expressions, as further nodes of the same graph.

Derivatives (A. Griewank, A. Walther, Evaluating Derivatives, SIAM 2008, chapter 3): `tangent` goes forward, `adjoint`
backward; second and third ones are tangents of adjoints.  What is not evaluated is not differentiated: the gradient
through a branch is formed by itself and selected as a whole, because 0 times the infinite slope of a branch that was
not taken would be NaN (mathematics, eq. 15.1)."""
import math

from .arrays import ARRAYS
from .nodes import BELL, CIRCLE, COSINE, STEPS, Nodes
from .syntax import Fault

VISITS, VISITS_OF_A_NODE = 100_000, 20       # of one gradient, through all branches


class Graph(Nodes):
    def __init__(self):
        super().__init__()
        self.always, self.selections = {}, {}    # what _always found; the bits of selections

    def partials(self, a):
        """[(child, derivative with respect to it)] of an operation without branches; a derivative may be a tuple of
        factors, which are taken one by one."""
        key = self.nodes[a]
        kind, one = key[0], self.c(1)
        if kind == "+":
            return [(key[1], one), (key[2], one)]
        if kind == "-":
            return [(key[1], one), (key[2], self.c(-1))]
        if kind == "neg":
            return [(key[1], self.c(-1))]
        if kind == "*":
            return [(key[1], key[2]), (key[2], key[1])]
        if kind == "/":
            return self._of_quotient(a, key[1], key[2])
        if kind == "pow":
            return self._of_power(a, key[1], key[2])
        if kind == "f":
            return [] if key[1] in STEPS else [(key[2], self._slope(a, key[1], key[2]))]
        if kind == "g":
            return self._of_two(a, *key[1:])
        if kind == "call":
            return self.partials_of_call(a)
        return []

    def _of_quotient(self, a, x, y):
        """x is 1 or y a constant.  The square of 1/y can overflow where its product with dy does not."""
        if self.const(x) == 1:
            return [(y, (self.neg(a), a))]
        return [(x, self.div(self.c(1), y))]

    def _times(self, derivative, d):
        for factor in reversed(derivative if isinstance(derivative, tuple) else (derivative,)):
            d = self.mul(factor, d)
        return d

    def _of_power(self, a, x, y):
        """At x = 0 two products of 0 and an infinite factor are 0: y x^(y-1) where y is 0, as in the second derivative
        of x^h with h = 1, and x^y log x where x^y is 0."""
        slope = self.mul(y, self.pow(x, self.sub(y, self.c(1))))
        if self.const(y) is not None:
            return [(x, slope)]
        zero = self.c(0)
        flat = self.both(self.cmp("==", x, zero), self.cmp("==", y, zero))
        return [(x, self.sel(flat, zero, slope)),
                (y, self.sel(self.cmp("==", a, zero), zero, self.mul(a, self.f("log", x))))]

    def _slope(self, a, name, x):
        """In forms that neither cancel nor overflow where the derivative is a number; so do their derivatives
        (mathematics, eq. 15.4)."""
        one, div, f = self.c(1), self.div, self.f
        slopes = {
            "exp": lambda: a, "expm1": lambda: f("exp", x),
            "log": lambda: div(one, x), "log1p": lambda: div(one, self.add(one, x)),
            "log10": lambda: div(self.c(1 / math.log(10)), x), "log2": lambda: div(self.c(1 / math.log(2)), x),
            "sqrt": lambda: div(self.c(0.5), a), "cbrt": lambda: self.mul(self.c(1 / 3), self.pow(a, self.c(-2))),
            "sin": lambda: f("cos", x), "cos": lambda: self.neg(f("sin", x)),
            "tan": lambda: self.add(one, self.pow(a, self.c(2))),
            "asin": lambda: div(one, f("sqrt", f(CIRCLE, x))),
            "acos": lambda: self.neg(div(one, f("sqrt", f(CIRCLE, x)))),
            "atan": lambda: div(one, self.add(one, self.pow(x, self.c(2)))),
            "sinh": lambda: f("cosh", x), "cosh": lambda: f("sinh", x),
            "tanh": lambda: f(BELL, x),
            "asinh": lambda: div(one, self.g("hypot", x, one)),
            "acosh": lambda: div(one, self.mul(f("sqrt", self.sub(x, one)), f("sqrt", self.add(x, one)))),
            "atanh": lambda: div(one, f(CIRCLE, x)),
            "erf": lambda: self.mul(self.c(2 / math.sqrt(math.pi)), f("exp", self.neg(self.pow(x, self.c(2))))),
            "fabs": lambda: self.sel(self.cmp("<", x, self.c(0)), self.c(-1), one),
            CIRCLE: lambda: self.mul(self.c(-2), x),
            BELL: lambda: self.mul(self.c(-2), self.mul(f("tanh", x), a)),
        }
        return slopes[name]()

    def _of_two(self, a, name, x, y):
        """r = hypot(x, y): the cosine x/r has the derivatives (y/r)^2/r and -(x/r) (y/r)/r, without the difference of
        1/r and x^2/r^3; atan2(x, y) has y/r/r and -x/r/r."""
        if name == "hypot":
            return [(x, self.g(COSINE, x, y)), (y, self.g(COSINE, y, x))]
        r = self.g("hypot", x, y)
        if name == COSINE:
            sine = self.g(COSINE, y, x)
            return [(x, self.div(self.mul(sine, sine), r)), (y, self.neg(self.div(self.mul(a, sine), r)))]
        return [(x, self.div(self.g(COSINE, y, x), r)), (y, self.neg(self.div(self.g(COSINE, x, y), r)))]

    def tangent(self, roots, seed):
        """d roots, where seed maps the node of a variable to that of its direction."""
        d, zero = {}, self.c(0)
        for a in self.order(roots):
            key = self.nodes[a]
            if key[0] == "v":
                d[a] = seed.get(a, zero)
            elif key[0] == "sel":
                d[a] = self.sel(key[1], d[key[2]], d[key[3]])
            elif all(d[b] == zero for b in self.children(a)):
                d[a] = zero
            elif key[0] in ARRAYS:
                d[a] = self.array_tangent(a, d)
            elif key[0] == "el":
                d[a] = self.el(key[1], d[key[2]])
            else:
                d[a] = self.total(self._times(p, d[b]) for b, p in self.partials(a) if d[b] != zero)
        return [d[r] for r in roots]

    def adjoint(self, roots, weights, wanted):
        """The gradient of the sum of weights times roots with respect to the variables wanted."""
        zero = self.c(0)
        seeds, self.root = {}, roots[0] if roots else None
        for r, w in zip(roots, weights):
            seeds[r] = self.add(seeds.get(r, zero), w)
        order = self.order(roots)
        self.visits = VISITS + VISITS_OF_A_NODE * len(order)
        live = set(wanted)
        for a in order:
            if any(b in live for b in self.children(a)):
                live.add(a)
        bar = self._backward(seeds, {a: k for k, a in enumerate(order)}, live, set())
        return [bar.get(v, zero) for v in wanted]

    def _backward(self, seeds, place, live, outside):
        """The weights that arrive at variables and at nodes of `outside`, from seeds of nodes."""
        zero, inside = self.c(0), self._unconditional(seeds, live, outside)
        bar, found = dict(seeds), {}
        waiting = sorted(seeds, key=place.get)
        queued = set(waiting)

        def arrive(b):
            if b not in queued:
                queued.add(b)
                _insert(waiting, b, place)

        def give(b, w):
            if b in live and w != zero:
                bar[b] = self.add(bar.get(b, zero), w)
                arrive(b)

        def give_element(b, k, w):
            """to an element of an array; those of a product are collected"""
            if self.nodes[b][0] == "arr":
                give(self.nodes[b][1 + k], w)
            elif b in live and w != zero:
                weights = bar.setdefault(b, {})
                weights[k] = self.add(weights.get(k, zero), w)
                arrive(b)

        def give_way(condition, b, ways):
            """what arrives at b by two branches"""
            if not self.is_array(b):
                give(b, self.sel(condition, *(way.get(b, zero) for way in ways)))
                return
            weights = [way.get(b, {}) for way in ways]
            for k in sorted({*weights[0], *weights[1]}):
                give_element(b, k, self.sel(condition, *(w.get(k, zero) for w in weights)))

        while waiting:
            a = waiting.pop()
            w, key = bar[a], self.nodes[a]
            self.visits -= 1
            if self.visits < 0:
                raise Fault(self.places.get(self.root, 0), "the conditions here, inside each other, have too many "
                            "different ways for derivatives; write them as events or with fewer conditions")
            if a in outside or key[0] == "v":
                found[a] = w
            elif key[0] == "sel":
                ways = [self._backward({b: w}, place, live, outside | inside) if b in live else {} for b in key[2:]]
                for b in sorted(set(ways[0]) | set(ways[1]), key=place.get):
                    give_way(key[1], b, ways)
            elif key[0] == "el":
                give_element(key[2], key[1], w)
            elif key[0] in ARRAYS:
                weights = [w.get(k, zero) for k in range(self.length(a))]
                for b, parts in self.array_pullback(a, weights, live):
                    for k, part in enumerate(parts):
                        give_element(b, k, part)
            else:
                for b, p in self.partials(a):
                    if b in live:
                        give(b, self._times(p, w))
        return found

    def _unconditional(self, seeds, live, outside):
        """The nodes that are differentiated whatever conditions say: among them selections in both branches of
        another one, without which a chain of n selections would have 2^n ways"""
        seen, stack = set(), list(seeds)
        while stack:
            a = stack.pop()
            if a not in seen and a in live and a not in outside:
                seen.add(a)
                if self.nodes[a][0] != "sel":
                    stack += self.children(a)
                else:
                    stack += self._members(self._always(self.nodes[a][2]) & self._always(self.nodes[a][3]))
        return seen

    def _always(self, root):
        """The selections that are evaluated wherever root is, as bits"""
        stack = [root]
        while stack:
            a = stack[-1]
            below = [b for b in self._evaluated(a) if b not in self.always]
            if a in self.always or not below:
                stack.pop()
                self.always.setdefault(a, self._bits(a))
            stack += below
        return self.always[root]

    def _evaluated(self, a):
        """The children with values; selections have those that are conditions first"""
        return self.children(a) if self.depth[a] else ()

    def _bits(self, a):
        found = [self.always[b] for b in self._evaluated(a)]
        if self.nodes[a][0] == "sel":
            mine = self.selections.setdefault(a, len(self.selections))
            return 1 << mine | found[0] | found[1] & found[2]
        bits = 0
        for more in found:
            bits = bits | more if bits else more
        return bits

    def _members(self, bits):
        if not bits:
            return []
        return [a for a, k in self.selections.items() if bits >> k & 1]


def _insert(waiting, b, place):
    """By place, the last first to be taken"""
    low, high = 0, len(waiting)
    while low < high:
        middle = (low + high) // 2
        if place[waiting[middle]] < place[b]:
            low = middle + 1
        else:
            high = middle
    waiting.insert(low, b)
