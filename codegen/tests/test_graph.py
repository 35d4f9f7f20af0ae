"""Derivatives of the expression graph against differences; branches that are not taken contribute nothing."""
import math
import random
import unittest

from codegen.equations.evaluate import evaluate
from codegen.equations.graph import Graph
from codegen.equations.nodes import FUNCTIONS, FUNCTIONS_OF_TWO, STEPS

# where each function is smooth and its argument is in its domain
POINTS = {"acos": 0.3, "asin": 0.3, "atanh": 0.3, "acosh": 1.7}
try:
    import mpmath
except ImportError:
    mpmath = None
STENCIL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))          # central differences of order 8


def exact(name, x):
    """The value and three derivatives of a function, as numbers of 200 digits"""
    with mpmath.workdps(200):
        x = mpmath.mpf(x)
        s, c = mpmath.sqrt(abs(1 - x * x)), 1 + x * x
        if name in ("exp", "expm1"):
            return [mpmath.expm1(x) if name == "expm1" else mpmath.exp(x)] + [mpmath.exp(x)] * 3
        if name in ("log", "log10", "log2", "log1p"):
            u, unit = (1 + x, 1) if name == "log1p" else (x, mpmath.log({"log10": 10, "log2": 2}.get(name, mpmath.e)))
            return [mpmath.log(u) / unit, 1 / u / unit, -1 / u ** 2 / unit, 2 / u ** 3 / unit]
        if name in ("sqrt", "cbrt"):
            k = mpmath.mpf(1) / (2 if name == "sqrt" else 3)
            return [x ** k, k * x ** (k - 1), k * (k - 1) * x ** (k - 2), k * (k - 1) * (k - 2) * x ** (k - 3)]
        if name in ("sin", "cos"):
            sin, cos = mpmath.sin(x), mpmath.cos(x)
            return [sin, cos, -sin, -cos] if name == "sin" else [cos, -sin, -cos, sin]
        if name in ("sinh", "cosh"):
            both = [mpmath.sinh(x), mpmath.cosh(x)] * 2
            return both if name == "sinh" else both[::-1]
        if name in ("tan", "tanh"):
            u, sign = (mpmath.tan(x), 1) if name == "tan" else (mpmath.tanh(x), -1)
            v = 1 / mpmath.cos(x) ** 2 if name == "tan" else 1 / mpmath.cosh(x) ** 2
            return [u, v, sign * 2 * u * v, sign * 2 * v * (v + sign * 2 * u * u)]
        if name in ("asin", "acos"):
            sign = 1 if name == "asin" else -1
            return [getattr(mpmath, name)(x), sign / s, sign * x / s ** 3, sign * (1 + 2 * x * x) / s ** 5]
        if name == "acosh":
            return [mpmath.acosh(x), 1 / s, -x / s ** 3, (1 + 2 * x * x) / s ** 5]
        if name == "asinh":
            return [mpmath.asinh(x), c ** -0.5, -x * c ** -1.5, (2 * x * x - 1) * c ** -2.5]
        if name == "atan":
            return [mpmath.atan(x), 1 / c, -2 * x / c ** 2, (6 * x * x - 2) / c ** 3]
        if name == "atanh":
            u = 1 - x * x
            return [mpmath.atanh(x), 1 / u, 2 * x / u ** 2, (6 * x * x + 2) / u ** 3]
        u = 2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-x * x)
        return [mpmath.erf(x), u, -2 * x * u, (4 * x * x - 2) * u]


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

    @unittest.skipIf(mpmath is None, "mpmath is not installed")
    def test_functions_over_their_whole_domains(self):
        """the value and three derivatives, wherever they are numbers: neither cancellation nor overflow in between"""
        draw, worst = random.Random(50), 0
        wide = lambda: draw.choice((-1, 1)) * 10 ** draw.uniform(-90, 90)                  # noqa: E731
        usual = lambda: draw.choice((-1, 1)) * 10 ** draw.uniform(-18, 2.8)                # noqa: E731
        inside = lambda: draw.choice((usual, near_one))()                                  # noqa: E731
        near_one = lambda: draw.choice((-1, 1)) * (1 - 10 ** draw.uniform(-15, 0))         # noqa: E731
        positive = lambda: abs(wide())                                                     # noqa: E731
        domains = {"log": positive, "log10": positive, "log2": positive, "sqrt": positive, "cbrt": positive,
                   "log1p": lambda: draw.choice((positive, lambda: -abs(near_one())))(), "asin": near_one,
                   "acos": near_one, "atanh": near_one, "acosh": lambda: 1 + 10 ** draw.choice((draw.uniform(-15, 3),
                                                                                     draw.uniform(-15, 90))),
                   "erf": lambda: draw.uniform(-26, 26), "atan": wide, "asinh": wide, "sin": usual, "cos": usual,
                   "tan": lambda: draw.uniform(-1, 1) * 10 ** draw.uniform(-18, 1)}
        for name in sorted(FUNCTIONS - STEPS - {"fabs"}):
            for _ in range(40):
                x = domains.get(name, usual)()
                found = self.derivatives(lambda g, y, name=name: g.f(name, y), x)
                for k, wanted in enumerate(exact(name, x)):
                    if 1e-280 < abs(wanted) < 1e300:
                        gap = abs(found[k] / wanted - 1) if found[k] == found[k] else math.inf
                        # the condition number of erf' and exp is x^2 and |x|; that of a third derivative at its zeros
                        allowed = 1e-15 * (20 + (x * x if name == "erf" else abs(x) if abs(x) < 1000 else 0))
                        allowed *= 1 if k < 3 else 1e4
                        self.assertLessEqual(gap, allowed, f"derivative {k} of {name} at {x!r}: {found[k]}, {wanted}")
                        worst = max(worst, gap)
        self.assertGreater(worst, 0)

    @unittest.skipIf(mpmath is None, "mpmath is not installed")
    def test_functions_of_two_over_their_domains(self):
        """first and second derivatives of hypot and atan2: at 1 and 1e-10, at 1e-120 and 1e120"""
        draw = random.Random(51)
        for _ in range(60):
            size = 10 ** draw.uniform(-70, 70)
            a, b = (size * draw.choice((-1, 1)) * 10 ** draw.uniform(-12, 0) for _ in range(2))
            with mpmath.workdps(60):
                x, y = mpmath.mpf(a), mpmath.mpf(b)
                r = mpmath.sqrt(x * x + y * y)
                hypot = [x / r, y / r, y * y / r ** 3, -x * y / r ** 3, x * x / r ** 3]
                atan2 = [y / r ** 2, -x / r ** 2, -2 * x * y / r ** 4, (x * x - y * y) / r ** 4, 2 * x * y / r ** 4]
                size = {"hypot": 1 / r, "atan2": 1 / r ** 2}
            for name, wanted in (("hypot", hypot), ("atan2", atan2)):
                g = Graph()
                v = [g.v("y", 0), g.v("y", 1)]
                first = g.adjoint([g.g(name, *v)], [g.c(1)], v)
                second = [g.tangent(first, {v[k]: g.c(1)}) for k in range(2)]
                found = evaluate(g, [*first, *second[0], second[1][1]], {("y", 0): a, ("y", 1): b})
                for k, (f, w) in enumerate(zip(found, wanted)):
                    scale = abs(w) if k != 3 or name == "hypot" else size["atan2"]
                    self.assertLessEqual(abs(f - w), 1e-14 * scale, f"{name}, {k}, at {a!r}, {b!r}: {f}, {w}")

    def test_powers_far_from_one(self):
        """x^-12 and its derivatives at 1e-10, as of potentials in metres; 1/y along dy at 1e-160"""
        for x in (1e-10, 1e10):
            found = self.derivatives(lambda g, y: g.div(g.c(1), g.pow(y, g.c(12))), x)
            for k, wanted in enumerate((1, -12, 156, -2184)):
                self.assertAlmostEqual(found[k] * x ** 12 * x ** k / wanted, 1, delta=1e-13)
        g = Graph()
        y, d, e = g.v("y", 0), g.v("dy", 0), g.v("ey", 0)
        first = g.tangent([g.div(g.c(1), y)], {y: d})
        second = g.tangent(first, {y: e})
        for x in (1e-160, 1e160):
            a, b = evaluate(g, first + second, {("y", 0): x, ("dy", 0): 2 * x, ("ey", 0): 3 * x})
            self.assertAlmostEqual(a * x, -2, delta=1e-13)
            self.assertAlmostEqual(b * x, 12, delta=1e-13)

    def test_constants_are_not_taken_together_where_their_product_is_tiny(self):
        g = Graph()
        product = g.mul(g.c(1e-160), g.mul(g.c(1e-160), g.v("y", 0)))
        value, = evaluate(g, [product], {("y", 0): 1e300})
        self.assertAlmostEqual(value * 1e20, 1, delta=1e-15)

    def test_tiny_denominators(self):
        """1/5e-324 is infinite, x/5e-324 is not"""
        g = Graph()
        value, = evaluate(g, [g.div(g.v("y", 0), g.c(5e-324))], {("y", 0): 1.5e-323})
        self.assertEqual(value, 3)

    def test_second_derivative_of_a_power_at_zero(self):
        """x^h at x = 0 with h = 1, as in Hill kinetics: 0, not 0 times infinity"""
        g = Graph()
        x, h = g.v("y", 0), g.v("p", 0)
        first = g.adjoint([g.pow(x, h)], [g.c(1)], [x])
        second = g.tangent(first, {x: g.c(1)})
        self.assertEqual(evaluate(g, first + second, {("y", 0): 0.0, ("p", 0): 1.0}), [1, 0])
        self.assertEqual(evaluate(g, first + second, {("y", 0): 0.0, ("p", 0): 2.0}), [0, 2])

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

    def test_the_slope_of_a_modulus_at_zero(self):
        """abs(x) is if(x < 0, -x, x)"""
        for x in (-2.0, 0.0, 2.0):
            chosen = self.derivatives(lambda g, y: g.sel(g.cmp("<", y, g.c(0)), g.neg(y), y), x)
            self.assertEqual(self.derivatives(lambda g, y: g.f("fabs", y), x), chosen)

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
