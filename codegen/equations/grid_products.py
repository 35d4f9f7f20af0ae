"""Derivatives of the equations of a cell as nodes; gradients are scattered or gathered.

The gradient with respect to the state of a cell is a sum over the cells that read it.  It is either scattered (each
cell adds to its neighbours) or gathered (the weights of the neighbours are read: the gradient of each cell that reads
this one, shifted to it).  Gathering vectorises, but computes what the neighbours share several times over."""
from dataclasses import dataclass, field

from .functions import INPUTS

GATHER_WORTH = 1.25                          # gathering may take this many times the operations: it vectorises
STORE = 2                                    # operations: what adding to a neighbour in memory costs


@dataclass
class Gradient:
    """Of one product along certain directions: (key, node) for everything that it is taken with respect to."""
    states: list                             # scattered; keys with offsets
    gathered: list = None                    # (key of the cell itself, node); None: scattered
    parameters: list = field(default_factory=list)      # also t
    before: dict = field(default_factory=dict)          # near boundaries: array -> (key, node), see Products.lower


class Products:
    """F: nodes of a cell; summed: over all cells, as in running costs, so that a weight is the same for all cells"""

    def __init__(self, grid, F, summed=False):
        self.grid, self.g, self.F = grid, grid.g, F
        g = self.g
        self.inputs = [k for space in INPUTS for k in g.variables(self.F, space)]
        self.loads = [k for k in self.inputs if k[1] == "y"]
        self.others = [k for k in self.inputs if k[1] != "y"]
        self.weights = [g.v("w", k, () if summed else grid.here) for k in range(len(F))]
        self.adjoint = g.adjoint(self.F, self.weights, [g.v(*k[1:]) for k in self.inputs])
        self._differentiate_outside()

    def _differentiate_outside(self):
        """outside: the values outside of the grid that are read; active: they depend on p or t; curved: not linearly"""
        g, B = self.g, self.grid.outside_of(self.loads)
        self.outside = B
        keys = [g.v(*k[1:]) for k in g.variables(B, "p", "t")]
        nodes = [a for v in keys for a in g.tangent(B, {v: g.c(1)})]
        self.active = any(not g.is_zero(a) for a in nodes)
        self.curved = any(not g.is_zero(a) for v in keys for a in g.tangent(nodes, {v: g.c(1)}))

    def lacks(self, order, nodes):
        """Whether a product of this order is not asked for, or needs derivatives that functions in C do not have, here
        or outside"""
        g = self.g
        return order > g.orders or g.lacking(nodes) or \
            any(g.functions[name].orders < order for name in g.called(self.outside))

    def seed(self, q, spaces, mixed=False):
        """mixed: the direction dy itself has a derivative along e, that of a value outside"""
        g = self.g
        out = {g.v(*k[1:]): g.v(q + k[1], *k[2:]) for k in self.inputs if k[1] in spaces}
        if mixed and q == "e":
            out |= {g.v("dy", *k[2:]): g.v("dey", *k[2:]) for k in self.loads if any(k[3])}
        return out

    def along(self, nodes, directions, spaces, mixed=False):
        for q in directions:
            nodes = self.g.tangent(nodes, self.seed(q, spaces, mixed))
        return nodes

    def mixed(self, spaces):
        return self.curved and spaces == INPUTS

    # ---- forward: nodes of all states; (in the interior, near boundaries) ----

    def forward(self, directions, spaces):
        inner = self.along(self.F, directions, spaces)
        near = self.along(self.F, directions, spaces, True) if self.mixed(spaces) and len(directions) > 1 else inner
        return inner, near

    # ---- backward ----

    def backward(self, directions, spaces):
        """Gradients (in the interior, near boundaries)"""
        inner = self._gradient(self.along(self.adjoint, directions, spaces))
        inner.gathered = self._gathered(inner.states)
        if not self.mixed(spaces):
            return inner, inner
        near = self._gradient(self.along(self.adjoint, directions, spaces, True))
        near.before = {q: self._gradient(self.along(self.adjoint, q, spaces)).states for q in lower(directions)}
        return inner, near

    def _gradient(self, nodes):
        found = [(k, a) for k, a in zip(self.inputs, nodes) if not self.g.is_zero(a)]
        return Gradient([x for x in found if x[0][1] == "y"], parameters=[x for x in found if x[0][1] != "y"])

    def _gathered(self, states):
        """The same gradient as nodes of the cell itself; None: scattering is cheaper, or reaches no neighbour"""
        g, here = self.g, self.grid.here
        if not any(any(k[3]) for k, _ in states) or g.variables([a for _, a in states], "axis"):
            return None
        terms = {}
        for k, a in states:
            terms.setdefault(k[2], []).extend(self._terms(self._shifted(a, k[3])))
        constant = self.grid.constant([a for these in terms.values() for a in these])
        out = [(("v", "y", f, here), self._factored(these, constant)) for f, these in sorted(terms.items())]
        nodes = [a for _, a in out]
        if self._reach(nodes) > self._reach(self.F):
            return None
        scattered = g.cost([a for _, a in states]) + STORE * len(states)
        return out if g.cost(nodes) <= GATHER_WORTH * scattered else None

    def _reach(self, nodes):
        return max([abs(d) for k in self.g.variables(nodes) for d in k[3]] + [0])

    def _shifted(self, a, offsets):
        """What the cell computes that reads this one at these offsets"""
        def moved(key):
            if len(key[3]) != len(offsets):
                return self.g.v(*key[1:])
            return self.g.v(*key[1:3], tuple(o - d for o, d in zip(key[3], offsets)))
        return self.g.mapped([a], moved)[0]

    def _terms(self, a):
        """The terms of a sum"""
        out, stack = [], [(a, False)]
        while stack:
            a, minus = stack.pop()
            key = self.g.nodes[a]
            if key[0] == "neg":
                stack.append((key[1], not minus))
            elif key[0] in "+-":
                stack += [(key[2], minus ^ (key[0] == "-")), (key[1], minus)]
            else:
                out.append(self.g.neg(a) if minus else a)
        return out

    def _factored(self, terms, constant):
        """Their sum, with factors that are the same for all cells taken out of it"""
        g, groups = self.g, {}
        for a in terms:
            factors, rest, number, stack = [], [], 1.0, [a]
            while stack:
                b = stack.pop()
                key = g.nodes[b]
                if key[0] == "neg":
                    number, stack = -number, stack + [key[1]]
                elif key[0] == "c":
                    number *= key[1]
                elif key[0] == "*":
                    stack += key[1:]
                else:
                    (factors if b in constant else rest).append(b)
            if not factors:                          # as it is: it may be shared
                groups.setdefault((), []).append((1.0, a))
            else:
                groups.setdefault(tuple(sorted(factors)), []).append((number, self._product(rest)))
        return g.total(g.mul(self._product(factors), self._weighted(those)) for factors, those in groups.items())

    def _weighted(self, those):
        """The sum of number times node; nodes with the same number are added first"""
        g, by_number = self.g, {}
        for number, a in those:
            key = abs(number)
            before = by_number.get(key, g.c(0))
            by_number[key] = g.add(before, a) if number > 0 else g.sub(before, a)
        return g.total(g.mul(g.c(number), a) for number, a in by_number.items())

    def _product(self, nodes):
        out = self.g.c(1)
        for a in sorted(nodes):
            out = self.g.mul(out, a)
        return out

    # ---- Jacobian ----

    def jacobian(self, diagonal):
        """([(equation, key, node)], whether each cell computes the columns of its states); diagonal: equations whose
        diagonal is an entry even if it is zero, because the mass matrix has one there

        Columns are contiguous, so that it pays to write them where the entries of neighbours cost no more."""
        g, out = self.g, []
        for e, f in enumerate(self.F):
            own = ("v", "y", e, self.grid.here)
            keys = sorted({*g.variables([f], "y"), own}, key=lambda k: k[2:])
            nodes = g.adjoint([f], [g.c(1)], [g.v(*k[1:]) for k in keys])
            out += [(e, k, a) for k, a in zip(keys, nodes) if not g.is_zero(a) or k == own and e in diagonal]
        nodes = [a for _, _, a in out]
        columns = self.shifted_entries(out)
        by_columns = not g.variables(nodes, "axis") and self._reach(columns) <= self._reach(self.F) \
            and g.cost(columns) <= g.cost(nodes) and any(any(k[3]) for _, k, _ in out)
        if by_columns:
            out.sort(key=lambda x: (x[1][2], tuple(-o for o in x[1][3]), x[0]))
        return out, by_columns

    def shifted_entries(self, entries):
        return [self._shifted(a, k[3]) for _, k, a in entries]


def lower(directions):
    """The derivatives below: of those along d and e, the adjoint, and those along d and along e"""
    return {"": [], "d": [""], "de": ["", "d", "e"]}[directions]
