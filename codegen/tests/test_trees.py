"""Rooted trees: how many, their densities and symmetries, and one set of conditions for all families."""
import unittest
from fractions import Fraction
from math import factorial

from codegen import index1, trees, wtrees


class Trees(unittest.TestCase):
    def test_counts(self):
        self.assertEqual([len(trees.of_order(n)) for n in range(1, 11)], [1, 1, 2, 4, 9, 20, 48, 115, 286, 719])

    def test_trees_are_distinct(self):
        def canonical(tree):
            return tuple(sorted(map(canonical, tree)))
        for n in range(1, 9):
            self.assertEqual(len({canonical(t) for t in trees.of_order(n)}), len(trees.of_order(n)))

    def test_sum_over_trees(self):
        # monotonic labellings: n!/(density symmetry) a tree, (n - 1)! together
        for n in range(1, 9):
            total = sum(Fraction(factorial(n), trees.density(t) * trees.symmetry(t)) for t in trees.of_order(n))
            self.assertEqual(total, factorial(n - 1))

    def test_names(self):
        self.assertEqual({trees.name(t) for t in trees.of_order(3)}, {"[tt]", "[[t]]"})

    def test_index_1_trees(self):
        # the conditions of Hairer and Wanner II, VI.4: none new of order 2 (y), one of order 2 (z), two of order 3 (y)
        self.assertEqual([len(index1.of_kind("y", n)) - len(trees.of_order(n)) for n in (1, 2, 3)], [0, 0, 1])
        self.assertEqual([len(index1.of_kind("z", n)) for n in (1, 2)], [0, 1])

    def test_trees_of_w_methods(self):
        # 8 conditions of order up to 3, 13 more of order 4 (Hairer and Wanner II, IV.7); without W those of trees.py
        self.assertEqual([len(wtrees.of_order(n)) for n in range(1, 6)], [1, 2, 5, 13, 37])
        for n in range(1, 6):
            self.assertEqual(len(set(wtrees.of_order(n))), len(wtrees.of_order(n)))
            self.assertEqual(sum(not wtrees.has_w(t) for t in wtrees.of_order(n)), len(trees.of_order(n)))
            self.assertTrue(all(one_child(t) for t in wtrees.of_order(n)))
        self.assertEqual({wtrees.name(t) for t in wtrees.of_order(3)}, {"[tt]", "[[t]]", "[W(t)]", "W([t])", "W(W(t))"})


def one_child(tree):
    return (tree[0] != "W" or len(tree[1]) == 1) and all(one_child(t) for t in tree[1])


if __name__ == "__main__":
    unittest.main()
