"""Derived data against closed forms: estimators, updates, ESDIRK weights, dense output."""
import unittest
from decimal import Decimal

from codegen.linalg import apply, dot, transpose
from codegen.real import EXACT, ONE, ZERO

from . import shipped


class Derived(unittest.TestCase):
    def close(self, xs, ys):
        for x, y in zip(xs, ys, strict=True):
            self.assertLess(abs(x - y), EXACT)

    def test_radau_estimator(self):
        m, r = shipped.method("radau2a"), Decimal(6).sqrt()
        self.close(m.e, [m.gamma / 3 * x for x in (-13 - 7 * r, -13 + 7 * r, -1)])
        self.assertEqual(m.est0, m.gamma)

    def test_estimators_vanish_for_polynomials(self):
        # y' = k t^(k-1) from t = 0, h = 1: Z_i = c_i^k, y+ = 1; the estimate is 0 for k <= s
        for name in ("radau2a", "radau1a", "lobatto3c", "gauss3", "radau2a2", "radau2a5"):
            m = shipped.method(name)
            for k in range(1, m.s + 1 - (m.c[0] == 0)):
                Z = [m_ * k for m_ in apply(m.A, [x ** (k - 1) if k > 1 else ONE for x in m.c])]
                slope = ONE if k == 1 else ZERO
                self.close([m.est0 * slope + dot(m.e, Z)], [ZERO])
                if m.theta:
                    # Zhat = theta0 f0 + sum theta_j Z_j + gamma f(1)
                    self.close([m.theta0 * slope + dot(m.theta, Z) + m.gamma * k], [ONE])

    def test_estimates_see_quadratures(self):
        # y' = k t^(k-1), k = s+1, s+2: no method's estimate vanishes for both, or f(t) of any kind would pass for solved
        for name in ("radau2a", "radau1a", "lobatto3c", "gauss3", "radau2a1", "radau2a2", "radau2a5"):
            m = shipped.method(name)
            classical = extra = ZERO
            for k in (m.s + 1, m.s + 2):
                Z = [m_ * k for m_ in apply(m.A, [x ** (k - 1) for x in m.c])]
                classical = max(classical, abs(dot(m.e, Z)))
                if m.theta:
                    extra = max(extra, abs(dot(m.theta, Z) + m.gamma * k - dot(m.d, Z)))
            self.assertGreater(classical, Decimal("1e-4"))
            if m.theta:
                self.assertGreater(extra, Decimal("1e-4"))

    def test_extra_stage(self):
        for name, at_zero in (("radau1a", True), ("radau2a", False), ("gauss3", False)):
            m = shipped.method(name)
            self.assertEqual(m.theta0, 0 if at_zero else m.theta0)
            if not at_zero:
                self.close([m.theta0], [m.gamma])
        self.assertIsNone(shipped.method("radau2a2").theta)                # no real eigenvalue
        self.assertIsNone(shipped.method("lobatto3c").theta)               # nodes 0 and 1: it would be blind

    def test_exact_updates(self):
        for name in ("radau2a", "radau2a5", "lobatto3c", "sdirk4a", "trbdf2"):
            m = shipped.method(name)
            self.assertEqual(m.d, [0] * (m.s - 1) + [1])
        m = shipped.method("rodas4")
        self.assertEqual((m.d[4:], m.e), ([1, 1], [0, 0, 0, 0, 0, -1]))
        self.assertEqual(m.gi[4:], [0, 0])

    def test_esdirk(self):
        m = shipped.method("trbdf2")
        A = m.table.A
        column = [row[0] for row in A[1:]]
        self.assertEqual((m.s, m.b0, len(m.c)), (2, A[2][0], 2))
        self.close(m.g, apply(m.W, column))
        self.close([m.b0], [dot(m.d, column)])
        # the estimate in terms of slopes is bhat - b
        self.close(apply(transpose(m.A), m.e), [x - y for x, y in zip(m.table.bhat[1:], m.table.b[1:])])
        self.close([m.est0 + dot(m.e, column)], [m.table.bhat[0] - m.table.b[0]])

    def test_dense_ends_in_the_update(self):
        for path in shipped.FILES:
            m = shipped.method(path.stem)
            for row, d in zip(m.D, m.d, strict=True):
                self.assertLess(abs(sum(row) - d), Decimal("1e-10"), path.name)

    def test_dense_of_collocation(self):
        for name in ("radau2a", "gauss3", "radau2a5"):
            m = shipped.method(name)                          # u(c_i) = Z_i
            for i, c in enumerate(m.c):
                at = [sum(x * c ** k for k, x in enumerate(row, 1)) for row in m.D]
                self.close(at, [ONE if j == i else ZERO for j in range(m.s)])

    def test_dense_slopes_of_explicit_methods(self):
        for name in ("dopri5", "tsit5", "rk32", "rk43"):
            m = shipped.method(name)
            self.close([row[0] for row in m.D], [1] + [0] * (m.s - 1))
            slopes = [sum(k * x for k, x in enumerate(row, 1)) for row in m.D]
            for x, y in zip(slopes, [0] * (m.s - 1) + [1]):
                self.assertLess(abs(x - y), Decimal("1e-36"))


if __name__ == "__main__":
    unittest.main()
