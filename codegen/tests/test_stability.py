"""A- and L-stability and R(infinity) are decided right, in the easy cases and at the boundary."""
import unittest
from decimal import Decimal
from fractions import Fraction

from codegen import stability
from codegen.real import EXACT, ONE, ZERO

from . import shipped


def theta_method(theta):
    return stability.rational([[ZERO, ZERO], [ONE - theta, theta]], [ONE - theta, theta], EXACT)


class Stability(unittest.TestCase):
    def test_theta_method(self):
        for theta, stable in (("0.5", True), ("0.4999999999", False), ("0.75", True), ("1", True), ("0", False)):
            P, Q = theta_method(Decimal(theta))
            self.assertEqual(stability.bounded_on_axis(P, Q, EXACT), stable, theta)

    def test_sdirk_of_order_3(self):
        # two stages, order 3: gamma = (3 + sqrt(3))/6 is A-stable, (3 - sqrt(3))/6 is not
        for sign, stable in ((1, True), (-1, False)):
            g = (3 + sign * Decimal(3).sqrt()) / 6
            P, Q = stability.rational([[g, ZERO], [1 - 2 * g, g]], [ONE / 2, ONE / 2], EXACT)
            self.assertEqual(stability.bounded_on_axis(P, Q, EXACT), stable)
            self.assertLess(abs(stability.error_constant(P, Q, 2)), EXACT)

    def test_sturm(self):
        def p(*roots):
            out = [Fraction(1)]
            for r in roots:
                out = [a - r * b for a, b in zip([Fraction(0)] + out, out + [Fraction(0)])]
            return out
        self.assertEqual(stability.positive_roots(p(1, 2, 3)), 3)
        self.assertEqual(stability.positive_roots(p(-1, 2, 2)), 1)
        self.assertEqual(stability.positive_roots(p(-1, -5)), 0)
        self.assertEqual(stability.positive_roots([Fraction(3)]), 0)

    def test_shipped(self):
        for name, value in (("radau2a", 0), ("gauss3", -1), ("trbdf2", 0), ("rodas5p", 0), ("sdirk4a", 0)):
            self.assertEqual(shipped.method(name).r_infinity, value, name)
        self.assertIsNone(shipped.method("dopri5").r_infinity)
        radau = shipped.method("radau2a")
        self.assertLess(abs(stability.error_constant(radau.P, radau.Q, 5) + ONE / 7200), EXACT)


if __name__ == "__main__":
    unittest.main()
