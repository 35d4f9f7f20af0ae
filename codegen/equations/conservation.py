"""Linear conservation laws of a model: sums of states with constant factors whose derivative in time is identically 0.

The right-hand sides are expanded into sums of products, f_i = sum over j of C_ij m_j, with numbers C and distinct
products m_j of other expressions.  If w^T C = 0, then w^T M y is constant between events, with the mass matrix M.  The
vectors w are found by elimination in rational numbers, so that every law is exact; laws that need more than expanded
products, as sin(x)^2 + cos(x)^2 = 1, are not found."""
import math
from fractions import Fraction

MOST_TERMS = 400                             # of one expanded right-hand side: longer ones stay as they are
MOST_FACTOR = 6                              # powers up to this one are products


def conservation_laws(model):
    """[{state: whole number}]; the first number of each is positive"""
    if model.on_grid or model.implicit:
        return []
    rows = [{("m", *product): number for product, number in Expansion(model.graph).of(f).items()}
            for f in model.equations]
    for k, reaction in enumerate(model.reactions):
        for i, number in reaction.net:
            rows[i][k] = exact(number)
    laws = []
    for w in reduced(left_null_space(rows)):
        law = {}
        for i, number in w.items():
            for j, m in row_of_mass(model, i):
                law[j] = law.get(j, 0) + number*m
        laws.append(whole({j: number for j, number in law.items() if number}))
    return [law for law in laws if law]


def row_of_mass(model, i):
    """[(column, number)]"""
    if not model.mass:
        return [(i, 1)]
    return [(j, exact(m)) for (row, j), m in model.mass.items() if row == i]


def exact(number):
    """As it is written: 0.1 is 1/10"""
    return Fraction(repr(float(number)))


class Expansion:
    """Nodes as sums of products: {sorted factors: number}"""

    def __init__(self, graph):
        self.g, self.known = graph, {}

    def of(self, root):
        for a in self.g.order([root]):
            if a not in self.known:
                found = {product: number for product, number in self._made(a).items() if number}
                self.known[a] = found if len(found) <= MOST_TERMS else {(a,): Fraction(1)}
        return self.known[root]

    def _made(self, a):
        g, key = self.g, self.g.nodes[a]
        kind = key[0]
        if kind == "c" and math.isfinite(key[1]):
            return {(): exact(key[1])}
        if kind in ("+", "-"):
            return sum_of(self.known[key[1]], self.known[key[2]], 1 if kind == "+" else -1)
        if kind == "neg":
            return sum_of({}, self.known[key[1]], -1)
        if kind == "*":
            return self._product(a, self.known[key[1]], self.known[key[2]])
        power = g.const(key[2]) if kind == "pow" else None
        if power in range(2, MOST_FACTOR + 1):
            out = self.known[key[1]]
            for _ in range(int(power) - 1):
                out = self._product(a, out, self.known[key[1]])
            return out
        if kind == "/" and g.const(key[2]) and math.isfinite(g.const(key[2])):
            return {product: number/exact(g.const(key[2])) for product, number in self.known[key[1]].items()}
        return {(a,): Fraction(1)}

    @staticmethod
    def _product(a, x, y):
        if len(x)*len(y) > MOST_TERMS:
            return {(a,): Fraction(1)}
        out = {}
        for first, m in x.items():
            for second, n in y.items():
                factors = tuple(sorted(first + second))
                out[factors] = out.get(factors, 0) + m*n
        return out


def sum_of(x, y, sign):
    out = dict(x)
    for product, number in y.items():
        out[product] = out.get(product, 0) + sign*number
    return out


def left_null_space(rows):
    """Vectors w, {row: number}, with w^T rows = 0; rows: {column: number}"""
    found, pivots = [], {}                   # pivots: {column: (row, its combination)}
    for i, row in enumerate(rows):
        row, w = {column: number for column, number in row.items() if number}, {i: Fraction(1)}
        while row:
            column = next((c for c in row if c in pivots), None)
            if column is None:
                break
            other, combination = pivots[column]
            factor = -row[column]/other[column]
            row, w = added(row, factor, other), added(w, factor, combination)
        if row:
            pivots[next(iter(row))] = (row, w)
        else:
            found.append(w)
    return found


def added(x, factor, y):
    """x + factor y, without zeros"""
    out = dict(x)
    for key, number in y.items():
        value = out.get(key, 0) + factor*number
        if value:
            out[key] = value
        else:
            out.pop(key, None)
    return out


def reduced(vectors):
    """The same space, with vectors whose first entries occur in no others"""
    out = []
    for w in vectors:
        for first, v in out:
            if first in w:
                w = added(w, -w[first]/v[first], v)
        first = min(w)
        out = [(k, added(v, -v[first]/w[first], w) if first in v else v) for k, v in out] + [(first, w)]
    return [w for _, w in sorted(out, key=lambda pair: pair[0])]


def whole(law):
    """The same law in whole numbers without a common factor"""
    if not law:
        return law
    scale = math.lcm(*(number.denominator for number in law.values()))
    scale = Fraction(scale, math.gcd(*(int(number*scale) for number in law.values())))
    scale = scale if law[min(law)] > 0 else -scale
    return {i: int(law[i]*scale) for i in sorted(law)}
