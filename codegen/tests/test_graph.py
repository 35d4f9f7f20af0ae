"""Derivatives of the expression graph against differences; branches that are not taken contribute nothing."""
import math
import operator
import unittest

from codegen.equations.graph import Graph
from codegen.equations.nodes import FUNCTIONS, FUNCTIONS_OF_TWO, HOLDS, STEPS

# where each function is smooth and its argument is in its domain
POINTS = {"acos": 0.3, "asin": 0.3, "atanh": 0.3, "acosh": 1.7}
STENCIL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))          # central differences of order 8


def evaluate(g, roots, values):
    """Numbers of nodes; values: of variables, by (space, index)"""
    found = {}
    binary = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": divide, "pow": math.pow}
    for a in g.order(roots):
        key = g.nodes[a]
        x = [found[b] for b in g.children(a)]
        if key[0] == "c":
            found[a] = key[1]
        elif key[0] == "v":
            found[a] = values[key[1], key[2]]
        elif key[0] in binary:
            found[a] = binary[key[0]](*x)
        elif key[0] == "neg":
            found[a] = -x[0]
        elif key[0] == "sel":
            found[a] = x[1] if x[0] else x[2]
        elif key[0] == "cmp":
            found[a] = HOLDS[key[1]](*x)
        elif key[0] in ("f", "g"):
            found[a] = call(key[1], x)
        else:
            found[a] = {"and": all, "or": any, "not": lambda v: not v[0]}[key[0]](x)
    return [found[r] for r in roots]


def divide(x, y):
    return x / y if y else math.nan if x == 0 or x != x else math.copysign(math.inf, x)


def call(name, x):
    try:
        return getattr(math, name)(*x)
    except ValueError:
        return -math.inf if name == "log" and x[0] == 0 else math.nan


def difference(value, x, h=0.005):
    return sum(w * (value(x + k * h) - value(x - k * h)) for k, w in STENCIL) / h


class Derivatives(unittest.TestCase):
    def derivatives(self, build, x):
        """F(x), F', F'', F''' of a function of one variable, built in a graph, by tangents; and F' by the adjoint"""
        g = Graph()
        y = g.v("y", 0)
        F = [build(g, y)]
        out = list(F)
        for _ in range(3):
            out.append(g.tangent([out[-1]], {y: g.c(1)})[0])
        back = g.adjoint(F, [g.c(1)], [y])
        return evaluate(g, out + back, {("y", 0): x})

    def check(self, name, build, x):
        at = lambda z: self.derivatives(build, z)                      # noqa: E731
        values = at(x)
        for k in range(3):
            self.assertAlmostEqual(values[k + 1], difference(lambda z, k=k: at(z)[k], x),
                                   delta=1e-9 * max(1, abs(values[k + 1])), msg=f"{name}, derivative {k + 1}")
        self.assertAlmostEqual(values[4], values[1], delta=1e-14 * max(1, abs(values[1])), msg=name)

    def test_functions(self):
        for name in sorted(FUNCTIONS - STEPS):
            x = POINTS.get(name, 0.7)
            self.check(name, lambda g, y, name=name: g.f(name, y), x)
        for name in sorted(STEPS):
            self.assertEqual(self.derivatives(lambda g, y, name=name: g.f(name, y), 0.7)[1:], [0, 0, 0, 0])

    def test_functions_of_two(self):
        for name in sorted(FUNCTIONS_OF_TWO):
            self.check(name, lambda g, y, name=name: g.g(name, g.mul(y, y), g.f("exp", y)), 0.7)
            self.check(name, lambda g, y, name=name: g.g(name, g.f("exp", y), g.c(2)), 0.7)

    def test_powers(self):
        for k in (0, 1, 2, 3, 7, -1, -3, 0.5, -0.5, 1.5, 2.5, -1.5, 0.3, -2.2):
            self.check(f"x^{k}", lambda g, y, k=k: g.pow(y, g.c(k)), 0.7)
        self.check("2^x", lambda g, y: g.pow(g.c(2), y), 0.7)
        self.check("x^x", lambda g, y: g.pow(y, y), 0.7)

    def test_powers_at_zero(self):
        """the derivative of x^1.5 is 0, that of 0^p with respect to p is 0"""
        self.assertEqual(self.derivatives(lambda g, y: g.pow(y, g.c(1.5)), 0.0)[1], 0)
        self.assertEqual(self.derivatives(lambda g, y: g.pow(y, g.c(2)), 0.0)[:4], [0, 0, 2, 0])
        g = Graph()
        x, p = g.v("y", 0), g.v("p", 0)
        power = g.pow(x, p)
        self.assertEqual(evaluate(g, g.adjoint([power], [g.c(1)], [x, p]), {("y", 0): 0.0, ("p", 0): 2.5}), [0, 0])

    def test_printable_powers_have_the_same_values(self):
        g = Graph()
        y = g.v("y", 0)
        for k in (1.5, 2.5, -1.5):
            power = g.pow(y, g.c(k))
            value, = evaluate(g, g.printable([power]), {("y", 0): 0.7})
            self.assertAlmostEqual(value, 0.7 ** k, delta=1e-15 * 0.7 ** k)

    def test_arithmetic(self):
        def build(g, y):
            a = g.sub(g.mul(y, g.c(3)), g.div(g.c(2), y))
            return g.div(g.add(a, g.mul(a, y)), g.add(g.c(1), g.neg(g.mul(y, a))))
        self.check("arithmetic", build, 0.4)

    def test_choices(self):
        for build in (lambda g, y: g.largest(g.mul(y, y), g.sub(g.c(1), y)), lambda g, y: g.least(y, g.f("sin", y)),
                      lambda g, y: g.sel(g.both(g.cmp(">", y, g.c(0)), g.no(g.cmp(">", y, g.c(2)))), g.f("exp", y), y)):
            for x in (0.2, 0.9, 2.5):
                self.check("choice", build, x)


class Branches(unittest.TestCase):
    def nothing_from(self, build, x, wanted):
        """the adjoint, and its tangent, of a selection at x: no NaN from what is not selected"""
        g = Graph()
        y, w, d = g.v("y", 0), g.v("w", 0), g.v("dy", 0)
        first = g.adjoint([build(g, y)], [w], [y])
        second = g.tangent(first, {y: d})
        values = {("y", 0): x, ("w", 0): 2.0, ("dy", 0): 1.0}
        self.assertEqual(evaluate(g, first + second, values), wanted)

    def test_square_root_beyond_its_domain(self):
        root = lambda g, y: g.sel(g.cmp(">", y, g.c(0)), g.f("sqrt", y), g.c(0))          # noqa: E731
        self.nothing_from(root, -1.0, [0, 0])
        self.nothing_from(root, 0.0, [0, 0])

    def test_inside_each_other(self):
        def build(g, y):
            inner = g.sel(g.cmp("<", y, g.c(0)), g.f("log", g.neg(y)), g.f("sqrt", y))
            return g.add(g.sel(g.cmp("==", y, g.c(0)), g.mul(g.c(3), y), g.mul(inner, inner)), y)
        self.nothing_from(build, 0.0, [8.0, 0])

    def test_shared_by_both_branches(self):
        """s is used outside, too: what comes back through a branch is added there"""
        def build(g, y):
            s = g.mul(y, y)
            return g.add(g.sel(g.cmp(">", y, g.c(1)), g.f("sqrt", g.sub(y, g.c(1))), g.mul(g.c(5), s)), s)
        self.nothing_from(build, 0.5, [2 * 6 * 2 * 0.5, 2 * 6 * 2])

    def test_long_chains_do_not_recurse(self):
        g = Graph()
        a = y = g.v("y", 0)
        for _ in range(2000):                                # Python's limit is 1000
            a = g.add(g.f("sin", a), y)
        value, = evaluate(g, g.adjoint([a], [g.c(1)], [y]), {("y", 0): 0.0})
        self.assertEqual(value, 2001.0)


if __name__ == "__main__":
    unittest.main()
