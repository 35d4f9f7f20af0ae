"""The longest stable h rho of explicit methods."""
import cmath
import math
import unittest

from codegen import limits
from codegen.scale import polynomial
from codegen.stability import rational

from . import shipped


def ray(r, angle):
    return r * cmath.exp(1j * math.radians(angle))


class Limits(unittest.TestCase):
    def test_rk4(self):
        """R = 1 + z + z^2/2 + z^3/6 + z^4/24: |R(iy)| <= 1 up to sqrt(8), and 2.785 on the real axis"""
        R = (1, 1, 1 / 2, 1 / 6, 1 / 24)
        self.assertAlmostEqual(limits.first(R, 90, 0), math.sqrt(8), delta=1e-4)
        self.assertAlmostEqual(limits.first(R, 180, 0), 2.7853, delta=1e-4)
        self.assertLessEqual(limits.real(R), 2.7853)
        self.assertEqual(limits.limits(shipped.method("rk4")), [limits.real(R)] + limits.waves(R))

    def test_eulers_steps_are_not_endless(self):
        found = limits.limits(shipped.method("euler"))
        self.assertAlmostEqual(found[0], math.sqrt(2), delta=1e-6)          # |1 + r exp(i 135)| = 1
        self.assertEqual(found[-1], limits.LEAST)

    def test_growth_over_a_run(self):
        for name in ("dopri5", "tsit5", "verner76", "dopri853", "bs32"):
            method = shipped.method(name)
            R = tuple(limits.floats(rational(method.conditions.beta, method.weights, method.tol)[0]))
            real, *waves = limits.limits(method)
            self.assertEqual(sorted(waves, reverse=True), waves)
            for angle in limits.REAL:
                for k in range(1, 100):
                    self.assertLessEqual(abs(polynomial(R, ray(real * k / 100, angle))), 1 + 1e-9)
            for decade, r in enumerate(waves, 1):
                span = 10.0 ** decade
                worst = max(abs(polynomial(R, ray(r, angle))) for angle in limits.WAVES)
                self.assertLessEqual(span / r * math.log(worst), 1 + 1e-3)
                longer = [abs(polynomial(R, ray(1.01 * r, angle))) for angle in limits.WAVES]
                self.assertGreater(1.01 * math.log(max(longer)) * span / r, 1 - 1e-2)

    def test_other_families_have_none(self):
        self.assertIsNone(limits.limits(shipped.method("radau2a")))
        self.assertIsNone(limits.limits(shipped.method("rodas4")))


if __name__ == "__main__":
    unittest.main()
