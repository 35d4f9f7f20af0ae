"""Original and transformed Rosenbrock coefficients agree; index-1 and W conditions."""
import copy
import unittest
from decimal import Decimal

from codegen.real import Refused

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
        orders = {name: shipped.method(name).dae_order
                  for name in ("ros2", "ros3", "rodas3", "ros4", "rodas4", "rodas5p")}
        self.assertEqual(orders, {"ros2": 2, "ros3": 2, "rodas3": 3, "ros4": 2, "rodas4": 4, "rodas5p": 5})

    def test_w_method(self):
        self.assertIn("w-method", shipped.method("ros2").properties)
        self.assertNotIn("w-method", shipped.method("rodas3").properties)


def flat(value):
    return [x for row in value for x in row] if isinstance(value[0], list) else value


if __name__ == "__main__":
    unittest.main()
