"""Ti W T is block-diagonal to 1e-40, for 1 to 5 stages, with and without a real eigenvalue."""
import unittest
from decimal import Decimal

from codegen.linalg import identity, largest, multiply
from codegen.real import EXACT, Refused
from codegen.split import split

from . import shipped


def difference(A, B):
    return largest([[x - y for x, y in zip(r, s)] for r, s in zip(A, B)])


class Split(unittest.TestCase):
    def test_shipped(self):
        for name, reals, pairs in (("radau2a1", 1, 0), ("radau2a2", 0, 1), ("radau2a", 1, 1), ("radau1a", 1, 1),
                                   ("lobatto3c", 1, 1), ("gauss3", 1, 1), ("radau2a5", 1, 2), ("gauss1", 1, 0),
                                   ("gauss2", 0, 1), ("gauss4", 0, 2), ("gauss5", 1, 2), ("radau2a4", 0, 2)):
            m = shipped.method(name)
            with self.subTest(name):
                self.assertEqual((len(m.real), len(m.pairs)), (reals, pairs))
                blocks = [[Decimal(0)] * m.s for _ in range(m.s)]
                for k, x in enumerate(m.real):
                    blocks[k][k] = x
                for k, (x, y) in enumerate(m.pairs):
                    i = reals + 2 * k
                    self.assertGreater(y, 0)
                    blocks[i][i:i + 2], blocks[i + 1][i:i + 2] = [x, -y], [y, x]
                self.assertLess(difference(multiply(multiply(m.Ti, m.W), m.T), blocks), EXACT)
                self.assertLess(difference(multiply(m.Ti, m.T), identity(m.s)), EXACT)
                self.assertLess(difference(multiply(m.W, m.A), identity(m.s)), EXACT)

    def test_radau5_eigenvalues(self):
        m = shipped.method("radau2a")
        self.assertAlmostEqual(float(m.real[0]), 3.6378342527444957, places=15)
        self.assertAlmostEqual(float(m.pairs[0][0]), 2.6810828736277521, places=15)
        self.assertAlmostEqual(float(m.pairs[0][1]), 3.0504301992474105, places=15)

    def test_multiple_eigenvalue_refused(self):
        with self.assertRaises(Refused):
            split([[Decimal(2), Decimal(0)], [Decimal(1), Decimal(2)]])


if __name__ == "__main__":
    unittest.main()
