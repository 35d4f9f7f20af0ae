"""Orders for index 2: known ones, conditions tree by tree, and what the documents say of them."""
import re
import unittest
from functools import lru_cache
from math import prod

from codegen import index2, report
from codegen.linalg import apply, dot, inverse, transpose
from codegen.real import EXACT, ONE
from codegen.trees import forests

from . import shipped

# y, z: Hairer, Wanner, Solving ODEs II, table VII.4.1; sdirk: stages of order 1
KNOWN = {"radau2a1": (1, 1), "radau2a2": (3, 2), "radau2a": (5, 3), "radau2a4": (7, 4), "radau2a5": (9, 5),
         "radau2a7": (13, 7), "lobatto3c": (4, 2), "radau1a": (3, 2), "sdirk2a": (2, 1), "sdirk2b": (2, 1),
         "sdirk3a": (2, 1), "sdirk4a": (2, 1), "sdirk4b": (2, 1)}
NAMES = [path.stem for path in shipped.FILES if path.parent.name in ("sdirk", "firk")]


# Trees by their definition (Solving ODEs II, definition VII.5.2), in three sorts.  along: ("y", children) for f, of any
# kind, but not a single one of kind z; z_trees: ("z", children) for the inverse of g_y f_z, children of kind y, not the
# single vertex alone and not a lone one; lone: ("y", (u,)) with u of kind z.  The order counts y less z vertices.

@lru_cache(maxsize=None)
def along(n):
    def kinds(k):
        return along(k) + lone(k) + (z_trees(k) if k < n - 1 else [])
    return [("y", children) for children in forests(n - 1, n - 1, kinds)]


@lru_cache(maxsize=None)
def z_trees(n):
    single = [("z", (t,)) for t in along(n + 1)] if n > 0 else []
    return single + [("z", children) for children in forests(n + 1, n, lambda k: along(k) + lone(k))]


def lone(n):
    return [("y", (u,)) for u in z_trees(n - 1)]


def order(tree):
    return sum(order(t) for t in tree[1]) + (1 if tree[0] == "y" else -1)


def density(tree):
    own = ONE * order(tree) if tree[0] == "y" else ONE / (order(tree) + 1)
    return own * prod(density(t) for t in tree[1])


class ByTrees:
    """Conditions one by one."""

    def __init__(self, m):
        self.A, self.b, self.omega, self.tol = m.A, m.b, inverse(m.A), m.tol

    def weights(self, tree):
        value = [ONE] * len(self.A)
        for t in tree[1]:
            factor = apply(self.A, self.weights(t)) if t[0] == "y" else self.weights(t)
            value = [x * y for x, y in zip(value, factor)]
        return apply(self.omega, value) if tree[0] == "z" else value

    def holds(self, tree):
        b = self.b if tree[0] == "y" else apply(transpose(self.omega), self.b)
        weights = self.weights(tree)
        size = max(ONE, sum(abs(x * y) for x, y in zip(b, weights)))
        return abs(dot(b, weights) - 1 / density(tree)) <= self.tol * size

    def orders(self, most):
        """as index2.local_orders"""
        sorts = (along, lambda n: along(n) + lone(n), lambda n: z_trees(n - 1))
        return [max(n for n in range(most + 1) if all(self.holds(t) for k in range(1, n + 1) for t in sort(k)))
                for sort in sorts]


class Index2(unittest.TestCase):
    def test_known(self):
        methods = [shipped.method(name) for name in KNOWN]
        found = {m.name: index2.orders(m.A, m.b, m.table.order, m.tol)
                 for m in methods if not m.g and "dae" in m.properties}
        self.assertEqual(found, KNOWN)

    def test_trees(self):
        dot, two = ("y", ()), ("y", (("y", ()),))
        self.assertEqual(z_trees(1), [("z", (two,)), ("z", (dot, dot))])
        self.assertEqual((along(2), lone(2)), ([two], [("y", (u,)) for u in z_trees(1)]))
        # y''': f_yy 1, f_yz 2, f_zz 3, f_y y'' 3, and f_z z'': g_yyy 1, g_yy(f, y'') 3, g_y (what is above) 9
        self.assertEqual((len(along(3)), len(lone(3))), (9, 13))

    def test_tree_by_tree(self):
        names = NAMES if shipped.THOROUGH or len(NAMES) < 5 else NAMES[::2]        # else every second method
        for m in map(shipped.method, names):
            if not m.g:
                self.assertEqual(index2.local_orders(m.A, m.b, 4, m.tol), ByTrees(m).orders(4), m.name)

    def test_two_stages(self):
        tableaux = {(2, 1): (((ONE / 4, -ONE / 4), (ONE / 4, 5 * ONE / 12)), (ONE / 4, 3 * ONE / 4)),     # Radau IA
                    (2, 1.0): (((ONE / 2, -ONE / 2), (ONE / 2, ONE / 2)), (ONE / 2, ONE / 2))}            # Lobatto IIIC
        for known, (A, b) in tableaux.items():
            self.assertEqual(index2.orders(A, b, 3, EXACT), known)

    def test_z_inherits_the_order_of_y(self):
        A, b = shipped.method("radau2a").A, [ONE / 3] * 3       # stages of Radau IIA, weights of order 1
        self.assertEqual(index2.local_orders(A, b, 3, EXACT), [1, 1, 2])
        self.assertEqual(index2.orders(A, b, 3, EXACT), (1, 1))

    def test_is_reported(self):
        line = "index 2         "
        self.assertIn(line + "order 5 of y, 3 of z", report.report(shipped.method("radau2a")))
        self.assertIn(line + "none: |R(infinity)| is not below 1", report.report(shipped.method("gauss3")))
        for name in ("trbdf2", "dopri5", "rodas4"):
            self.assertNotIn(line, report.report(shipped.method(name)))

    def test_manual(self):
        """docs/howto/residuals.md shows them for each method that may be taken, sdirk in one row."""
        manual = (shipped.ROOT / "docs" / "howto" / "residuals.md").read_text(encoding="utf-8")
        section = manual[manual.index("**Index 2**"):manual.index("**Starts.**")]
        rows = re.findall(r"^\| ([a-z0-9, ]+) \| (\d+) \| (\d+) \|", section, re.M)
        shown = {name: (int(y), int(z)) for names, y, z in rows for name in names.split(", ")}
        self.assertEqual(shown, KNOWN)


if __name__ == "__main__":
    unittest.main()
