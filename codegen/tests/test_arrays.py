"""Products of matrices and vectors in the graph: their derivatives are those of the sums, written out."""
import random
import unittest

from codegen.equations import arrays
from codegen.equations.body import Target
from codegen.equations.evaluate import evaluate
from codegen.equations.graph import Graph

ROWS, COLUMNS = 4, 5


def products(g):
    """A matrix of variables and of expressions, straight and transposed, one product inside the other"""
    W = [g.v("p", k) for k in range(ROWS*COLUMNS)]
    y = [g.v("y", k) for k in range(COLUMNS)]
    M = [g.mul(w, g.f("sin", y[k % COLUMNS])) for k, w in enumerate(W)]
    a = g.times(ROWS, COLUMNS, W, y)
    b = g.times(ROWS, COLUMNS, M, [g.f("exp", x) for x in a], transposed=True)
    return [g.mul(x, g.v("t")) for x in b]


def derivatives(least):
    """values, and derivatives to third order, with every product or none as a loop"""
    small, arrays.SMALL = arrays.SMALL, least
    try:
        g = Graph()
        f = products(g)
        values, draw = {}, random.Random(5)
        for space, count in (("y", COLUMNS), ("p", ROWS*COLUMNS), ("t", 1), ("w", COLUMNS)):
            for side in ("", "d", "e"):
                values |= {(side + space, k): draw.uniform(0.2, 1.0) for k in range(count)}
        inputs = [g.v(*key[1:]) for key in g.variables(f)]
        seeds = [{v: g.v(q + g.nodes[v][1], g.nodes[v][2]) for v in inputs} for q in "de"]
        gradient = g.adjoint(f, [g.v("w", k) for k in range(COLUMNS)], inputs)
        roots = list(f)
        for these in (f, gradient):
            first = g.tangent(these, seeds[0])
            roots += [*these, *first, *g.tangent(first, seeds[1])]
        again = g.adjoint(g.tangent(f, seeds[0]), [g.v("w", k) for k in range(COLUMNS)], inputs)
        back = g.adjoint(gradient, [g.v("dp", k % 3) for k in range(len(gradient))], inputs)
        return evaluate(g, [*roots, *again, *back], values), g
    finally:
        arrays.SMALL = small


class Products(unittest.TestCase):
    def test_derivatives_to_third_order(self):
        loops, g = derivatives(0)
        written, h = derivatives(10**9)
        self.assertTrue(any(key[0] == "mv" for key in g.nodes) and any(key[0] == "outer" for key in g.nodes))
        self.assertFalse(any(key[0] in ("mv", "outer") for key in h.nodes))
        for a, b in zip(loops, written, strict=True):
            self.assertLess(abs(a - b), 1e-12*max(1, abs(b)))

    def test_what_is_written_out(self):
        """no more than SMALL entries, or at most one in SPARSE that is not zero, of the matrix or of the vector"""
        def kind(rows, columns, full=None, x_full=None):
            g = Graph()
            M = [g.v("p", k) if full is None or k < full else g.c(0) for k in range(rows*columns)]
            x = [g.v("y", k) if x_full is None or k < x_full else g.c(0) for k in range(columns)]
            g.times(rows, columns, M, x)
            return any(key[0] == "mv" for key in g.nodes)
        self.assertEqual([kind(3, 4), kind(3, 5)], [False, True])
        self.assertEqual([kind(4, 8, 8), kind(4, 8, 9)], [False, True])
        self.assertEqual([kind(4, 8, None, 2), kind(4, 8, None, 3)], [False, True])

    def test_one_product_has_one_node(self):
        g = Graph()
        W, y = [g.v("p", k) for k in range(40)], [g.v("y", k) for k in range(8)]
        self.assertEqual(g.times(5, 8, W, y), g.times(5, 8, W, y))
        self.assertEqual(sum(key[0] == "mv" for key in g.nodes), 1)


class Collected(unittest.TestCase):
    """Gradients with respect to a block of parameters are one loop."""

    def targets(self, permuted=False):
        g = Graph()
        W, y = [g.v("p", 3 + k) for k in range(40)], [g.v("y", k) for k in range(8)]
        z = g.times(5, 8, W, y)
        gradient = g.adjoint(z, [g.v("w", k) for k in range(5)], W)
        places = [3 + k for k in range(40)]
        if permuted:
            places[20:22] = places[21:19:-1]
        return g, arrays.collected(g, [Target(f"gp[{k}]", "+=", a, "gp") for k, a in zip(places, gradient)])

    def test_one_target(self):
        g, (target,) = self.targets()
        self.assertEqual((g.nodes[target.node][0], target.lhs, target.guard, target.sign), ("outer", "gp", "gp", 1))
        self.assertEqual((target.block.first, target.block.by_row, target.block.by_column), (3, 8, 1))

    def test_not_where_the_parameters_lie_otherwise(self):
        g, targets = self.targets(permuted=True)
        self.assertEqual([t.lhs for t in targets][19:23], ["gp[22]", "gp[24]", "gp[23]", "gp[25]"])
        self.assertEqual([g.nodes[t.node][0] for t in targets], ["el"]*40)

    def test_an_element_that_two_parameters_receive(self):
        """the matrix is p + q: the product is added twice"""
        g = Graph()
        M = [g.add(g.v("p", k), g.v("p", 60 + k)) for k in range(40)]
        z = g.times(5, 8, M, [g.v("y", k) for k in range(8)])
        places = [*range(40), *range(60, 100)]
        gradient = g.adjoint(z, [g.v("w", k) for k in range(5)], [g.v("p", k) for k in places])
        targets = arrays.collected(g, [Target(f"gp[{k}]", "+=", a, "gp") for k, a in zip(places, gradient)])
        self.assertEqual([(g.nodes[t.node][0], t.block.first) for t in targets], [("outer", 0), ("outer", 60)])

    def test_sums_are_added_one_after_the_other(self):
        g = Graph()
        x, y, z = (g.arr(*(g.v(space, k) for k in range(5))) for space in ("y", "p", "w"))
        a, b = g.elements(g.outer(x, y)), g.elements(g.outer(x, z))
        targets = arrays.collected(g, [Target(f"gp[{k}]", "+=", g.neg(g.sub(*these)), "gp")
                                       for k, these in enumerate(zip(a, b))])
        self.assertEqual([(g.nodes[t.node], t.sign) for t in targets], [(("outer", x, z), 1), (("outer", x, y), -1)])


if __name__ == "__main__":
    unittest.main()
