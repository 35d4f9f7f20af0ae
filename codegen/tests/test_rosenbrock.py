"""Original and transformed Rosenbrock coefficients agree; index-1 and W conditions."""
import copy
import unittest
from decimal import Decimal

from codegen.expr import evaluate
from codegen.linalg import apply, dot, solve_vector
from codegen.real import EXACT, ONE, Refused

from . import shipped

BOTH = ("ros3", "rodas3")


def only(document, *keys):
    other = copy.deepcopy(document)
    other.blocks = {key: other.blocks[key] for key in keys}
    return other


class Forms(unittest.TestCase):
    def test_either_form_gives_the_same_method(self):
        for name in BOTH:
            document = shipped.load(name)
            original = shipped.derive_document(only(document, "alpha", "gamma", "b", "bhat"))
            transformed = only(document, "a", "c", "m", "e")
            transformed.blocks["gamma"] = [(None, [document.blocks["gamma"][0][1][0]])]
            transformed = shipped.derive_document(transformed)
            for key in ("A", "C", "b", "c", "d", "e", "gi"):
                for x, y in zip(flat(getattr(original, key)), flat(getattr(transformed, key))):
                    self.assertLess(abs(x - y), Decimal("1e-28"), f"{name} {key}")
            self.assertEqual(original.properties, transformed.properties)
            self.assertEqual(original.newf, transformed.newf)

    def test_disagreeing_forms_are_refused(self):
        document = shipped.load("rodas3")
        message = r"rodas3.toml: a: row 4, entry 1 = 2.00000002, but alpha, gamma, b give 2"
        with self.assertRaisesRegex(Refused, message):
            shipped.derive_document(shipped.altered(document, "a", 3, 0))

    def test_new_points(self):
        self.assertEqual(shipped.method("rodas3").newf, [1, 0, 1, 1])
        self.assertEqual(shipped.method("ros3").newf, [1, 1, 0])
        self.assertEqual(shipped.method("ros4").newf, [1, 1, 1, 0])
        self.assertEqual(shipped.method("rodas4").newf, [1] * 6)


class Conditions(unittest.TestCase):
    def test_index_1(self):
        known = {"ros2": 2, "ros3": 2, "rodas3": 3, "ros4": 2, "rodas4": 4, "rodas5p": 5, "shampine": 2, "grk4a": 2,
                 "grk4t": 2, "veldd": 2, "velds": 2, "ros3p": 3, "ros3prl2": 3, "ros34pw2": 3, "rodas3p": 3,
                 "rodas42": 4, "rodas4p": 4, "rodas4p2": 4, "rodas5": 5, "rodas6p": 6, "ros34pw3": 3, "rosi2pw": 3,
                 "rodas4pw": 4, "rowdaind2": 3}
        self.assertEqual({name: shipped.method(name).dae_order for name in known}, known)

    def test_w_method(self):
        for name in ("ros2", "ros34pw2", "rosi2pw", "w6s4os", "rodas4pw", "w9s5"):
            self.assertIn("w-method", shipped.method(name).properties)
        self.assertNotIn("w-method", shipped.method("rodas3").properties)
        known = {"rodas4p2": 2, "rodas6p": 2, "velds": 2, "rowdaind2": 1, "ros34pw3": 3}
        self.assertEqual({name: shipped.method(name).w_order for name in known}, known)

    def test_theta(self):
        """b + theta b Gamma, from which e = theta b; for every theta the order is one less with any matrix"""
        for name in ("w6s4os", "ros34pw2", "rosi2pw"):
            document = shipped.load(name)
            document.blocks.pop("bhat", None)
            for theta in ("1", "-7/3"):
                document.keys["theta"] = theta
                m = shipped.derive_document(document)
                both, factor = m.coefficients, evaluate(theta, {})
                change = [factor * sum((both.b[i] * both.gamma[i][j] for i in range(m.s)), 0 * ONE)
                          for j in range(m.s)]
                for j in range(m.s):
                    self.assertLess(abs(both.bhat[j] - both.b[j] - change[j]), EXACT)
                    self.assertLess(abs(m.e[j] - factor * both.b[j]), EXACT)
                self.assertEqual((m.w_order, m.embedded_w_order), (m.table.order, m.table.order - 1))

    def test_embedded_with_any_matrix(self):
        """An estimate that needs the Jacobian makes a method none for any matrix: bhat (alpha + Gamma) 1 = 1/2, but
        bhat Gamma 1 = 1/10."""
        document = shipped.load("rosi2pw")
        both = shipped.method("rosi2pw").coefficients
        one, beta = [ONE] * 4, [[x + y for x, y in zip(r, q)] for r, q in zip(both.alpha, both.gamma)]
        rows = [one, apply(beta, one), apply(both.gamma, one), [ONE, 0 * ONE, 0 * ONE, 0 * ONE]]
        bhat = solve_vector(rows, [ONE, ONE / 2, ONE / 10, ONE / 4])
        document.blocks["bhat"] = [(None, [format(x, ".40f") for x in bhat])]
        message = r"is: 'w-method' is claimed, but bhat: tree \[t\] of order 2: sum bhat_i Phi_i = 0.4, should be 1/2"
        with self.assertRaisesRegex(Refused, message):
            shipped.derive_document(document)

    def test_prothero_and_robinson(self):
        """y' = lambda (y - phi(t)) + phi': order 3 for any lambda h, b beta^j (alpha^k - k! beta^k 1) = 0, k = 2, 3"""
        for name in ("ros3prl2", "rodas4p", "rodas4p2"):
            m = shipped.method(name)
            both, one = m.coefficients, [ONE] * m.s
            beta = [[x + y for x, y in zip(r, q)] for r, q in zip(both.alpha, both.gamma)]
            twice = apply(beta, apply(beta, one))
            for k, power in ((2, [2 * x for x in twice]), (3, [6 * x for x in apply(beta, twice)])):
                v = [x ** k - y for x, y in zip(m.c, power)]
                for j in range(m.s):
                    self.assertLess(abs(dot(both.b, v)), 10 * m.tol, f"{name}, {k}, {j}")
                    v = apply(beta, v)


class LeftOut(unittest.TestCase):
    """Published estimates that are 0 whatever the step"""

    def test_ros3p(self):
        """bhat = (1/3, 1/3, 1/3):  (bhat - b) beta^k 1 = 0, which is the estimate of y' = A y + b"""
        m = shipped.method("ros3p")
        both, v = m.coefficients, [ONE] * 3
        beta = [[x + y for x, y in zip(r, q)] for r, q in zip(both.alpha, both.gamma)]
        self.assertLess(abs(beta[1][0]), EXACT)
        for _ in range(4):
            self.assertLess(abs(dot([ONE / 3 - x for x in both.b], v)), EXACT)
            v = apply(beta, v)
        self.assertEqual((m.embedded, m.e), (0, None))

    def test_rodas5(self):
        """U_8 of y' = t^n, h = 1: sum_i (Gamma^T e_8)_i (alpha_i^n + [n = 1] gamma_i); stages 6, 7, 8 are at the end"""
        m = shipped.method("rodas5")
        weights = m.coefficients.gamma[-1]
        self.assertEqual(m.c[5:], [1, 1, 1])
        for n in range(8):
            slopes = [(x ** n if n else ONE) + (y if n == 1 else 0) for x, y in zip(m.c, m.gi)]
            self.assertLess(abs(dot(weights, slopes)), m.tol)
        self.assertEqual((m.embedded, m.e), (0, None))


def flat(value):
    return [x for row in value for x in row] if isinstance(value[0], list) else value


if __name__ == "__main__":
    unittest.main()
