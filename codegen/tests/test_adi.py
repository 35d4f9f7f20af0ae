"""Stability of W-methods with ADI factors and with W of another size than f_y."""
import unittest
from math import cos, pi, sin

from codegen import adi
from codegen.stability import at_infinity

from . import shipped

ZS = [(complex(-0.3, 0.2),), (complex(-0.7, 0.1), complex(-2, -3)), (complex(-0.1), complex(-40, 9), complex(-3, 5))]


def by_definition(m, zs):
    """P k_i = z (1 + sum alpha_ij k_j) + w sum_{j<i} gamma_ij k_j, R = 1 + sum b_i k_i"""
    both, gamma, P, k = m.coefficients, float(m.gamma), 1, []
    for z in zs:
        P *= 1 - gamma * z
    z, w = sum(zs), (1 - P) / gamma
    for i in range(m.s):
        Y, V = 1, 0
        for j in range(i):
            Y += float(both.alpha[i][j]) * k[j]
            V += float(both.gamma[i][j]) * k[j]
        k.append((z * Y + w * V) / P)
    return 1 + sum(float(b) * x for b, x in zip(both.b, k))


class Adi(unittest.TestCase):
    def test_response(self):
        for name in ("ros2", "ros34pw2", "w6s4os", "rodas4pw", "w9s5"):
            m = shipped.method(name)
            R = adi.Response(m)
            for zs in ZS:
                self.assertLess(abs(R.of(*zs) - by_definition(m, zs)), 1e-10, name)
            self.assertLess(abs(R.with_infinite() - float(at_infinity(m.P, m.Q, m.tol))), 1e-10)
            self.assertLess(abs(R.with_infinite(*ZS[1]) - R.of(*ZS[1], -1e13)), 1e-10)

    def test_one_factor(self):
        """is f_y: the wedge of A-stable methods is the half plane"""
        for name, angle in (("ros2", 90), ("rosi2pw", 90), ("w6s4os", 89.8)):
            self.assertAlmostEqual(adi.wedge(adi.Response(shipped.method(name)), 1), angle, 1)

    def test_wedges(self):
        """Not by more than 45 degrees with three factors: 1/(z_1 z_2), with which W/(z_1 + z_2 + z_3) grows, is to be
        in the right half plane.  Inside |R| <= 1 at random places, just outside not everywhere."""
        for name, two, three in (("w6s4os", 52.3, 45), ("ros34pw2", 49.7, 41.7), ("w9s5", 45.5, 31.9)):
            R = adi.Response(shipped.method(name))
            self.assertAlmostEqual(adi.wedge(R, 2), two, delta=0.1)
            if shipped.THOROUGH or name != "w9s5":           # of nine stages: takes as long as the others together
                self.assertAlmostEqual(adi.wedge(R, 3), three, delta=0.1)
        R = adi.Response(shipped.method("w6s4os"))
        self.assertLessEqual(adi.largest(R, 2, 0), adi.STABLE)
        self.assertLessEqual(max(self.on_rays(R, 52.1)), adi.STABLE)
        self.assertGreater(max(self.on_rays(R, 52.5)), adi.STABLE)

    def on_rays(self, R, angle):
        for other in (angle, -angle):
            for k in range(61):
                rays = [-complex(cos(x * pi / 180), sin(x * pi / 180)) for x in (angle, other)]
                yield abs(R.of(10 ** (k / 30 - 1) * rays[0], 1e9 * rays[1]))

    def test_sizes(self):
        """as src/ros/guard.c has the limit: the first c where |R| > 1 for w -> -infinity"""
        for name, limit in (("w6s4os", 1.24), ("ros34pw2", 1.62)):
            m = shipped.method(name)
            low, high = adi.sizes(adi.Response(m))
            self.assertEqual(low, 0)
            self.assertAlmostEqual(high, limit, 6)
            self.assertLess(self.fast(m, high), adi.STABLE)
            self.assertGreater(self.fast(m, high + adi.STEP), adi.STABLE)

    def fast(self, m, x):
        """(mathematics, eq. 6.24)"""
        u = []
        for i in range(m.s):
            u.append(-x * (1 + sum(float(m.A[i][j]) * u[j] for j in range(i))))
        return abs(1 + sum(float(d) * x for d, x in zip(m.d, u)))


if __name__ == "__main__":
    unittest.main()
