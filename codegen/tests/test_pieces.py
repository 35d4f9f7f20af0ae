"""Long functions of models become pieces (equations/pieces.py); that they have the same bits: tests/models."""
import re
import unittest
from types import SimpleNamespace
from unittest import mock

from codegen.equations import c_file, pieces, read

BRANCHES = """kinks as branches
parameter k = 2, b = 3
state x = 1, y = 0.3
let z = sin(k*x + y)
let rate = if(z*x > 0.25 + z, exp(-k*y)*b/(1 + exp(-y))*z, y^2.5*log(x + z) + 1)
x' = rate*rate - k*x
y' = rate - max(x, z)*y
cost c' = rate
"""


def written(text):
    return c_file.write(read.parse(text, "m.eq"), "m.eq", "m")[0]


def functions(text):
    """{name: body} of functions in C"""
    return {name: body for name, body in re.findall(r"^(?:PIECE|static)[^{;]*?(\w+)\([^{;]*\)\n\{\n(.*?)^\}", text,
                                                    re.M | re.S)}


def cycle(n):
    """x[1] becomes x[2], this x[3], and so on"""
    rates = [f"let r{i} = k[{i}]*x[{i}]*x[{i}]*exp(-x[{i}])\n" for i in range(1, n + 1)]
    return f"state x[1..{n}] = 1\nparameter k[1..{n}] = 1\n" + "".join(rates) + f"x[1]' = r{n} - r1\n" + \
        "".join(f"x[{i}]' = r{i - 1} - r{i}\n" for i in range(2, n + 1))


LONG = functions(written(cycle(160)))


class Pieces(unittest.TestCase):
    def test_functions_with_arrays_remain_whole(self):
        class Fake:
            temporary, g = range(2*pieces.WHOLE), SimpleNamespace(
                is_array=lambda a: a == Fake.array, is_jet=lambda a: False)

        for Fake.array, long in ((None, True), (7, False)):
            self.assertEqual(pieces.is_long(Fake), long)

    def test_pieces_declare_what_they_use(self):
        """also of conditions, and of results that are temporaries"""
        with mock.patch.multiple(pieces, WHOLE=0, LENGTH=1):
            found = functions(written(BRANCHES))
        uses = 0
        for name, body in found.items():
            used = set(re.findall(r"\bs\d+\b", body))
            self.assertLessEqual(used, set(re.findall(r"\b(s\d+) = ", body)), name)
            uses += len(used)
        self.assertGreater(uses, 100)

    def test_short_functions_remain_whole(self):
        self.assertFalse("PIECE" in written(cycle(5)))

    def test_no_function_of_a_long_model_is_long(self):
        parts = [body for name, body in LONG.items() if "_part" in name]
        self.assertGreater(len(parts), 50)
        # some lines of loads, at most as many of what is passed as of statements, and the last unit
        self.assertLess(max(body.count("\n") for body in parts), 120)
        whole = [body.count("\n") for name, body in LONG.items() if "_part" not in name and "rhs" in name]
        self.assertLess(max(whole), 450)

    def test_few_values_are_passed(self):
        """a rate is used by two equations, which follow each other"""
        value = LONG["rhs_value"]
        self.assertLess(int(re.search(r"double s\[(\d+)\]", value)[1]), 10)

    def test_places_are_used_again(self):
        units = [pieces.Unit(None, [""], {k}, {k - 1} if k else set(), [k]) for k in range(6)]
        place, count = pieces.slots([[unit] for unit in units])
        self.assertEqual((sorted(place), count), ([0, 1, 2, 3, 4], 2))
        for k in range(4):                   # k is read where k + 1 is written
            self.assertNotEqual(place[k], place[k + 1])

    def test_what_can_be_computed_follows(self):
        made = lambda k, *uses: pieces.Unit(None, [""], {k}, set(uses), [k])        # noqa: E731
        order = [min(unit.makes) for unit in pieces.soon([made(0), made(1), made(2), made(3, 0), made(4, 3, 1)])]
        self.assertEqual(order, [0, 3, 1, 4, 2])


if __name__ == "__main__":
    unittest.main()
