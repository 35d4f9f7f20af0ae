"""The derivatives of expressions, as further nodes of the same graph.

Derivatives (A. Griewank, A. Walther, Evaluating Derivatives, SIAM 2008, chapter 3): `tangent` goes forward, `adjoint`
backward; second and third ones are tangents of adjoints.  What is not evaluated is not differentiated: the gradient
through a branch is formed by itself and selected as a whole, because 0 times the infinite slope of a branch that was
not taken would be NaN (mathematics, eq. 15.1)."""
import math

from .nodes import STEPS, Nodes


class Graph(Nodes):
    def partials(self, a):
        """[(child, derivative with respect to it)] of an operation without branches."""
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
        return []

    def _of_quotient(self, a, x, y):
        inverse = a if self.const(x) == 1 else self.div(self.c(1), y)
        return [(x, inverse), (y, self.neg(self.mul(a, inverse)))]

    def _of_power(self, a, x, y):
        """x^y log x with respect to y is 0 at x = 0, where log x is not finite, if x^y is 0."""
        out = [(x, self.mul(y, self.pow(x, self.sub(y, self.c(1)))))]
        if self.const(y) is None:
            out.append((y, self.sel(self.cmp("==", a, self.c(0)), self.c(0), self.mul(a, self.f("log", x)))))
        return out

    def _slope(self, a, name, x):
        one, square = self.c(1), self.mul(x, x)
        slopes = {
            "exp": lambda: a, "expm1": lambda: self.add(a, one),
            "log": lambda: self.div(one, x), "log1p": lambda: self.div(one, self.add(one, x)),
            "log10": lambda: self.div(self.c(1 / math.log(10)), x),
            "log2": lambda: self.div(self.c(1 / math.log(2)), x),
            "sqrt": lambda: self.div(self.c(0.5), a), "cbrt": lambda: self.div(self.c(1 / 3), self.mul(a, a)),
            "sin": lambda: self.f("cos", x), "cos": lambda: self.neg(self.f("sin", x)),
            "tan": lambda: self.add(one, self.mul(a, a)),
            "asin": lambda: self.div(one, self.f("sqrt", self.sub(one, square))),
            "acos": lambda: self.neg(self.div(one, self.f("sqrt", self.sub(one, square)))),
            "atan": lambda: self.div(one, self.add(one, square)),
            "sinh": lambda: self.f("cosh", x), "cosh": lambda: self.f("sinh", x),
            "tanh": lambda: self.sub(one, self.mul(a, a)),
            "asinh": lambda: self.div(one, self.f("sqrt", self.add(square, one))),
            "acosh": lambda: self.div(one, self.f("sqrt", self.sub(square, one))),
            "atanh": lambda: self.div(one, self.sub(one, square)),
            "erf": lambda: self.mul(self.c(2 / math.sqrt(math.pi)), self.f("exp", self.neg(square))),
            "fabs": lambda: self.sel(self.cmp("<", x, self.c(0)), self.c(-1), one),
        }
        return slopes[name]()

    def _of_two(self, a, name, x, y):
        if name == "hypot":
            return [(x, self.div(x, a)), (y, self.div(y, a))]
        r2 = self.add(self.mul(x, x), self.mul(y, y))                       # atan2(x, y)
        return [(x, self.div(y, r2)), (y, self.neg(self.div(x, r2)))]

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
            else:
                d[a] = self.total(self.mul(p, d[b]) for b, p in self.partials(a) if d[b] != zero)
        return [d[r] for r in roots]

    def adjoint(self, roots, weights, wanted):
        """The gradient of the sum of weights times roots with respect to the variables wanted."""
        zero = self.c(0)
        seeds = {}
        for r, w in zip(roots, weights):
            seeds[r] = self.add(seeds.get(r, zero), w)
        order = self.order(roots)
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

        def give(b, w):
            if b in live and w != zero:
                bar[b] = self.add(bar.get(b, zero), w)
                if b not in queued:
                    queued.add(b)
                    _insert(waiting, b, place)

        while waiting:
            a = waiting.pop()
            w, key = bar[a], self.nodes[a]
            if a in outside or key[0] == "v":
                found[a] = w
            elif key[0] == "sel":
                ways = [self._backward({b: w}, place, live, outside | inside) if b in live else {} for b in key[2:]]
                for b in sorted(set(ways[0]) | set(ways[1]), key=place.get):
                    give(b, self.sel(key[1], ways[0].get(b, zero), ways[1].get(b, zero)))
            else:
                for b, p in self.partials(a):
                    if b in live:
                        give(b, self.mul(p, w))
        return found

    def _unconditional(self, seeds, live, outside):
        """The nodes that are differentiated whatever conditions say."""
        seen, stack = set(), list(seeds)
        while stack:
            a = stack.pop()
            if a not in seen and a in live and a not in outside:
                seen.add(a)
                if self.nodes[a][0] != "sel":
                    stack += self.children(a)
        return seen


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
