"""The long entries of W-methods that were derived here follow from the short ones."""
import copy
import unittest
from decimal import Decimal
from unittest import mock

from codegen import read, refine
from codegen.real import Refused

from . import shipped

UNIT = Decimal("1e-39")              # ten of the last digit of entries below 1


def values(doc):
    blocks = {(key, i, j): Decimal(x) for key in ("alpha", "gamma")
              for i, (_, row) in enumerate(doc.blocks[key]) for j, x in enumerate(row)}
    return blocks | {("b", 0, j): Decimal(x) for j, x in enumerate(sum((row for _, row in doc.blocks["b"]), []))}


def shortened(doc, digits):
    """long entries with so many digits behind the point, and zeros, by which they are still long"""
    other = copy.deepcopy(doc)
    for key in ("alpha", "gamma", "b"):
        other.blocks[key] = [(None, [f"{Decimal(x):.{digits}f}000000000" if read.significant(x) > refine.LONG else x
                                     for x in row]) for _, row in doc.blocks[key]]
    return other


class Refine(unittest.TestCase):
    def test_from_six_digits(self):
        doc = shipped.load("w9s5")
        with mock.patch.object(refine, "MOST", 5):
            exact, found = values(doc), refine.refined(shortened(doc, 6))
        self.assertEqual(exact.keys(), found.keys())
        for place, x in exact.items():
            self.assertLess(abs(found[place] - x), UNIT, place)

    def test_report_is_what_the_file_says(self):
        doc = shipped.load("w9s5")
        report = refine.report(doc)
        for key in ("alpha", "gamma"):
            for label, row in doc.blocks[key]:
                self.assertIn(" ".join([label, "|", *row]).strip(), report)

    def test_entries_that_are_not_determined(self):
        doc = shipped.load("w9s5")
        label, row = doc.blocks["alpha"][1]
        doc.blocks["alpha"][1] = (label, [x + "00000000" for x in row])
        with self.assertRaisesRegex(Refused, "do not determine the 56 long entries"):
            refine.refined(doc)

    def test_no_solution(self):
        """one long entry less than there are conditions; five iterations, which find a solution if there is one
        (test_from_six_digits)"""
        doc = shipped.load("w9s5")
        row = doc.blocks["b"][0][1]
        row[0] = row[0][:8]
        most = refine.MOST if shipped.THOROUGH else 5
        with mock.patch.object(refine, "MOST", most), self.assertRaisesRegex(Refused, "does not converge"):
            refine.refined(doc)

    def test_other_methods(self):
        for name in ("sdirk4a", "ros4"):
            with self.assertRaisesRegex(Refused, "is for methods of the family ros"):
                refine.refined(shipped.load(name))


if __name__ == "__main__":
    unittest.main()
