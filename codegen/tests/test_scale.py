"""The factor of estimates that underrate."""
import cmath
import dataclasses
import unittest
from decimal import Decimal

from codegen import derive, emit, scale
from codegen.real import ONE

from . import shipped


def with_change(name, times):
    """The method with bhat - b that many times as large."""
    table = shipped.method(name).table
    bhat = [y + times * (x - y) for x, y in zip(table.bhat, table.b, strict=True)]
    return derive.from_table(dataclasses.replace(table, bhat=bhat))


class Scale(unittest.TestCase):
    def test_first_step_of_that_error(self):
        m = shipped.method("dopri5")
        for pair in (scale.quadrature(m), scale.oscillation(m)):
            found = scale.underrated(pair)
            steps = [k / 1e4 for k in range(1, 40000)]
            x = next(x for x in steps if pair(x)[0] >= scale.ERROR)
            self.assertAlmostEqual(found, pair(x)[0] / pair(x)[1], delta=1e-3 * found)

    def test_implicit_euler(self):
        """Errors x^2/2, the estimate gamma0 (f(t+h) - f(t)): ratios 1/2 but for terms of x = 0.014."""
        m = shipped.method("radau2a1")
        for x in (0.01, 0.02):
            error, estimate = scale.quadrature(m)(x)
            self.assertAlmostEqual(error, abs(x * cmath.exp(1j * x) - (cmath.exp(1j * x) - 1) / 1j), delta=1e-15)
            self.assertAlmostEqual(estimate, abs(x * (1 - cmath.exp(1j * x))), delta=1e-15)
            error, estimate = scale.oscillation(m)(x)
            self.assertAlmostEqual(error, abs(1 / (1 - 1j * x) - cmath.exp(1j * x)), delta=1e-15)
        self.assertAlmostEqual(scale.underrated(scale.quadrature(m)), 0.5, delta=1e-3)

    def test_slopes_of_rosenbrock_stages(self):
        """Of x' = f(t) a stage adds gamma_j h^2 f'(t): the error is of the order of the method, here 4."""
        for name in ("rodas4", "grk4t", "ros4"):
            both = scale.quadrature(shipped.method(name))
            self.assertLess(both(0.1)[0] / both(0.2)[0], 0.04)

    def test_a_hundredth(self):
        """A hundredth of bhat - b has a hundred times the factor."""
        for name in ("dopri5", "tsit5", "rkf45"):
            m = shipped.method(name)
            full = max(scale.underrated(scale.quadrature(m)), scale.underrated(scale.oscillation(m)))
            self.assertAlmostEqual(float(scale.factor(with_change(name, Decimal("0.01")))) / (100 * full), 1, places=3)

    def test_never_less_than_one(self):
        for path in shipped.FILES:
            m = shipped.method(path.stem)
            factor = scale.factor(m)
            self.assertGreaterEqual(factor, ONE, path.stem)
            if m.theta or not m.embedded_weights:             # the estimate by one more stage has no factor
                self.assertEqual(factor, ONE, path.stem)

    def test_what_it_multiplies(self):
        m = shipped.method("kencarp5")
        self.assertGreater(scale.factor(m), 5)
        text = emit.descriptor(m)
        self.assertIn(emit.literals([scale.factor(m) * x for x in m.e]), text)
        self.assertIn(f".est.e0 = {emit.double(scale.factor(m) * m.est0)},", text)
        for name in ("dopri853", "radau2a"):
            m = shipped.method(name)
            self.assertEqual(scale.factor(m), ONE)
            self.assertIn(emit.literals(m.e), emit.descriptor(m))


if __name__ == "__main__":
    unittest.main()
