"""Derived data against closed forms: estimators, updates, ESDIRK weights, dense output."""
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

from codegen import dense, derive, read
from codegen.linalg import apply, dot, independent_rows, multiply, solve_vector, transpose
from codegen.real import EXACT, ONE, ZERO
from codegen.trees import density, of_order, symmetry

from . import shipped

FIRK = [path.stem for path in shipped.FILES if path.parent.name == "firk"]


class Derived(unittest.TestCase):
    def close(self, xs, ys):
        for x, y in zip(xs, ys, strict=True):
            self.assertLess(abs(x - y), EXACT)

    def test_what_was_read_stays(self):
        """The table of a method that was derived is that of its file."""
        for path in shipped.FILES:
            with self.subTest(path.name):
                self.assertEqual(vars(shipped.method(path.stem).table), vars(read.load(path)))

    def test_derived_again(self):
        """From one table the same method follows each time: of every fifth file, unless all are requested."""
        files = shipped.FILES if shipped.THOROUGH else shipped.FILES[::5]
        self.assertTrue(files or not shipped.FILES)
        for m in [shipped.method(path.stem) for path in files]:
            again = derive.from_table(m.table)
            for key in ("A", "b", "c", "d", "e", "D", "W", "T", "properties"):
                self.assertEqual(getattr(again, key), getattr(m, key), f"{m.name}: {key}")

    def test_sign_of_estimates(self):
        """e = what makes the embedded solution of the solution, for every family; files of ros state m - mhat."""
        for path in shipped.FILES:
            m = shipped.method(path.stem)
            if m.table.m_less_mhat:
                for x, y in zip(m.e, m.table.m_less_mhat, strict=True):
                    self.assertLessEqual(abs(x + y), m.tol * max(ONE, abs(y)), path.name)
            if m.table.family in ("erk", "ros") and m.e:
                change = apply(transpose(m.coefficients.gamma), m.e) if m.table.family == "ros" else m.e
                for x, bhat, b in zip(change, m.embedded_weights, m.weights, strict=True):
                    self.assertLessEqual(abs(x - (bhat - b)), 10 * m.tol, path.name)

    def test_radau_estimator(self):
        m, r = shipped.method("radau2a"), Decimal(6).sqrt()
        self.close(m.e, [m.gamma / 3 * x for x in (-13 - 7 * r, -13 + 7 * r, -1)])
        self.assertEqual(m.est0, m.gamma)

    def estimate(self, m, k):
        """The estimate, and that by one more stage, of y' = k t^(k-1) from t = 0, h = 1."""
        def slope(t):
            return k * (t ** (k - 1) if k > 1 else ONE)
        Z = apply(m.A, [slope(x) for x in m.c])
        found = m.est0 * slope(ZERO) + dot(m.e, Z) + (m.estx * slope(m.at) + dot(m.ex, Z) if m.ex else ZERO)
        more = m.theta0 * slope(ZERO) + dot(m.theta, Z) + m.gamma * slope(ONE) - dot(m.d, Z) if m.theta else None
        return found, more

    def test_estimators_vanish_for_polynomials(self):
        for name in FIRK:
            m = shipped.method(name)
            for k in range(1, m.s + 1):
                self.close([x for x in self.estimate(m, k) if x is not None], [ZERO] * (2 if m.theta else 1))

    def test_estimates_see_quadratures(self):
        # k = s+1, s+2: no method's estimate vanishes for both, or f(t) of any kind would pass for solved
        for name in FIRK:
            m = shipped.method(name)
            found = [self.estimate(m, k) for k in (m.s + 1, m.s + 2)]
            self.assertGreater(max(abs(x) for x, _ in found), Decimal("1e-4"))
            if m.theta:
                self.assertGreater(max(abs(x) for _, x in found), Decimal("1e-4"))

    def test_inner_point(self):
        # the ends of the step where they are no nodes: none of Lobatto IIIC
        m = shipped.method("radau1a")
        self.assertEqual((m.at, m.estx), (1, m.gamma))
        m = shipped.method("radau1a2")
        self.assertEqual((m.at, m.estx), (1, m.est0))
        for name in ("lobatto3c2", "lobatto3c4", "lobatto3c5"):
            m = shipped.method(name)
            self.assertTrue(m.estx == 1 and 0 < m.at < 1, name)
        m = shipped.method("lobatto3c")
        self.assertEqual(m.estx, 1)
        self.close([m.at], [ONE / 4])
        self.assertEqual([shipped.method(name).estx for name in ("radau2a", "gauss3")], [0, 0])

    def test_inner_point_of_two_stages(self):
        radau = self.firk("order = 3", "0 | 1/4 -1/4", "2/3 | 1/4 5/12", "b | 1/4 3/4")
        self.assertEqual((radau.at, radau.estx), (1, radau.est0))
        lobatto = self.firk("order = 2", "0 | 1/2 -1/2", "1 | 1/2 1/2", "b | 1/2 1/2")
        self.close([lobatto.at, lobatto.estx], [ONE / 2, ONE])             # u(infinity) = (1 - x)^2: no zero inside
        for m in (radau, lobatto):
            self.assertEqual(m.embedded, 2)
            self.close([self.estimate(m, k)[0] for k in (1, 2)], [ZERO] * 2)
            self.assertGreater(abs(self.estimate(m, 3)[0]), Decimal("1e-2"))

    def firk(self, order, *rows):
        """A method that is not shipped."""
        text = f"name = 'two'\ntitle = 'Two'\nfamily = 'firk'\nsource = 'x'\nchecked = 'x'\n{order}\ntableau = '''\n"
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "two.toml")
            path.write_text(text + "\n".join(rows) + "\n'''\n", encoding="utf-8")
            return derive.method(path)

    def test_defect_of_linear_problems_vanishes_inside(self):
        # y' = z y, h = 1: Z = (I - z A)^-1 z A 1; u and its defect are known from W Z, the slopes
        for name in ("lobatto3c", "lobatto3c4", "lobatto3c5", "radau1a", "radau1a2"):
            m = shipped.method(name)
            for z in (-1, -30, 2):
                rhs = apply(m.A, [ONE * z] * m.s)
                Z = solve_vector([[(i == j) - z * x for j, x in enumerate(row)] for i, row in enumerate(m.A)], rhs)
                u = 1 + sum(dot([m.at ** k for k in range(1, m.degree + 1)], row) * x for row, x in zip(m.D, Z))
                self.close([m.estx * z * u + dot(m.ex, Z)], [ZERO])

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
            bound = dense.rounding(m) * max(1, *(abs(x) for row in m.D for x in row))
            for row, d in zip(m.D, m.d, strict=True):
                self.assertLessEqual(abs(sum(row) - d), bound, path.name)

    def test_dense_of_collocation(self):
        for name in ("radau2a", "gauss3", "radau2a5", "radau2a4", "gauss1", "gauss2", "gauss4", "gauss5"):
            m = shipped.method(name)                          # u(c_i) = Z_i
            for i, c in enumerate(m.c):
                at = [sum(x * c ** k for k, x in enumerate(row, 1)) for row in m.D]
                self.close(at, [ONE if j == i else ZERO for j in range(m.s)])

    def test_dense_slopes_of_explicit_methods(self):
        for name in ("dopri5", "tsit5", "rk32", "rk43", "bs54"):
            m = shipped.method(name)
            self.close([row[0] for row in m.D], [1] + [0] * (m.s - 1))
            slopes = [sum(k * x for k, x in enumerate(row, 1)) for row in m.D]
            for x, y in zip(slopes, [0] * (m.s - 1) + [1]):
                self.assertLess(abs(x - y), Decimal("1e-36"))

    def test_dense_of_explicit_methods_has_the_least_error(self):
        """At no theta can the error of order q + 1 be lowered: its derivative along all weights that are orthogonal to
        the elementary weights of lower order is 0, for each coefficient.  Where q is the order of the method, the
        weights are the least ones."""
        for m in [shipped.method(path.stem) for path in shipped.FILES if path.parent.name == "erk"]:
            q, B = m.dense, transpose(m.D)
            if m.table.continuous or q == m.table.order:
                continue
            lower = [m.conditions.weights(t) for n in range(1, q + 1) for t in of_order(n)]
            E, _ = independent_rows(lower, [[] for _ in lower], dense.rounding(m))
            for k, row in enumerate(B, 1):
                slope = [ZERO] * m.s
                for t in of_order(q + 1):
                    phi = m.conditions.weights(t)
                    missed = (dot(row, phi) - (ONE / density(t) if k == q + 1 else ZERO)) / symmetry(t) ** 2
                    slope = [x + missed * y for x, y in zip(slope, phi)]
                free = dense.null_part(E, multiply(E, transpose(E)), slope)
                size = max(1, *map(abs, row)) * dense.rounding(m)
                self.assertLess(max(map(abs, free)), size, m.table.name)

    def test_error_of_dense_output(self):
        """The norm of the order conditions of order q + 1 in the middle of a step; where none can be lowered the degree
        is that of the order"""
        for name, degree in (("midpoint", 2), ("rk23", 2), ("rk4", 3), ("verner76", 5)):
            self.assertEqual(shipped.method(name).degree, degree)
        for name, bound in (("verner76", 2e-5), ("verner87", 5e-5), ("dopri853", 7e-7), ("rkf45", 4e-3),
                            ("cashkarp", 3e-3)):
            m, error = shipped.method(name), 0
            half_b = [sum(x / 2 ** k for k, x in enumerate(row, 1)) for row in m.D]
            for t in of_order(m.dense + 1):
                half = dot(half_b, m.conditions.weights(t))
                error += ((half - ONE / 2 ** (m.dense + 1) / density(t)) / symmetry(t)) ** 2
            self.assertLess(error.sqrt(), bound, name)


if __name__ == "__main__":
    unittest.main()
