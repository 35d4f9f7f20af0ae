"""Formulas are evaluated exactly, and nothing else is."""
import unittest
from decimal import Decimal

from codegen.expr import evaluate
from codegen.real import Refused

EPS = Decimal("1e-90")


class Formulas(unittest.TestCase):
    def close(self, text, value, **names):
        self.assertLess(abs(evaluate(text, names) - value), EPS, text)

    def test_arithmetic(self):
        self.close("-25360/2187", Decimal(-25360) / Decimal(2187))
        self.close("(88-7*r)/360", (88 - 7 * Decimal(6).sqrt()) / 360, r=Decimal(6).sqrt())
        self.close("+2**3 - 2**-2", Decimal("7.75"))

    def test_digits_do_not_pass_through_floats(self):
        for text in ("0.1", "0.43586652150845899941601945119356", "1e-30", "-.5", "5.26001519587677318785587544488E-2",
                     "12047244770625658"):
            self.assertEqual(evaluate(text, {}), Decimal(text))

    def test_roots(self):
        self.close("sqrt(2)**2", Decimal(2))
        g = evaluate("root(6,-18,9,-1,near=0.43)", {})
        self.assertLess(abs(6 * g ** 3 - 18 * g ** 2 + 9 * g - 1), EPS)
        self.assertAlmostEqual(float(g), 0.4358665215, places=9)

    def test_refused(self):
        for text, message in (("1/0", "no value"), ("sqrt(-1)", "no value"), ("2+", "not a formula"),
                              ("q+1", "let.q"), ("abs(1)", "only sqrt"), ("sqrt(1,2)", "only sqrt"),
                              ("root(1,0,1,near=0.3)", "no simple root"), ("root(1,-2,near=1)", "not near"),
                              ("2**0.5", "small integers"), ("[1]", "something other"), ("'a'", "something other"),
                              ("__import__('os')", "something other"), ("(1).real", "something other"),
                              ("1j", "something other"),
                              ("True", "something other"), ("1 if 1 else 2", "something other")):
            with self.subTest(text), self.assertRaisesRegex(Refused, message):
                evaluate(text, {})


if __name__ == "__main__":
    unittest.main()
