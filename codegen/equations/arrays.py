"""Products of matrices and vectors as one node of a graph, in the place of a node for each term.

    arr x ...         an array of these nodes
    mv shape M x      M x, an array.  shape: (rows, columns, transposed); M: an array, row by row; transposed: M^T x
    outer x y         x y^T, an array row by row
    el k A            element k of an array: the only kind through which others see arrays

The sum of a row begins with its first column and ends with its last one.  With weights w of M x, x receives M^T w and M
receives w x^T; tangents of these are of the same three kinds.  What is small or mostly zero is written out."""
import math
import re
from dataclasses import dataclass, replace

from .calls import COST_OF_A_CALL

IN_MEMORY = {q + space for q in ("", "d", "e") for space in ("y", "yp", "p", "m")} | {"w"}    # as arrays of doubles
ARRAYS = ("arr", "mv", "outer", "jet")       # jet: see calls.py
PRODUCTS = ("mv", "outer")
SMALL = 12                                   # products of a matrix with no more entries are written out
SPARSE = 4                                   # and those of which one entry in so many is not zero


@dataclass
class Block:
    """Variables of one space that lie like a matrix: row i, column j is number first + i by_row + j by_column."""
    space: str
    first: int
    by_row: int
    by_column: int


class Arrays:
    """Part of Nodes."""

    def arr(self, *nodes):
        return self.node("arr", *nodes)

    def times(self, rows, columns, M, x, transposed=False):
        """The elements of M x (M^T x): M, row by row, and x are lists of nodes"""
        length = columns if transposed else rows
        V = self.mv((rows, columns, bool(transposed)), self.arr(*M), self.arr(*x))
        return [self.el(k, V) for k in range(length)]

    def mv(self, shape, M, x):
        rows, columns, transposed = shape
        if self.is_zero_array(M) or self.is_zero_array(x):
            return self.arr(*[self.c(0)] * (columns if transposed else rows))
        m, v = self.elements(M), self.elements(x)
        if rows*columns <= SMALL or SPARSE*sum(not self.is_zero(a) for a in m) <= len(m) or \
                SPARSE*sum(not self.is_zero(a) for a in v) <= len(v):
            return self.arr(*self._written_out(shape, m, v))
        return self.node("mv", shape, M, x)

    def _written_out(self, shape, m, v):
        rows, columns, transposed = shape
        if transposed:
            return [self.total(self.mul(m[i*columns + j], v[i]) for i in range(rows)) for j in range(columns)]
        return [self.total(self.mul(m[i*columns + j], v[j]) for j in range(columns)) for i in range(rows)]

    def outer(self, x, y):
        v, w = self.elements(x), self.elements(y)
        if len(v)*len(w) <= SMALL or any(SPARSE*sum(not self.is_zero(a) for a in z) <= len(z) for z in (v, w)):
            return self.arr(*(self.mul(a, b) for a in v for b in w))
        return self.node("outer", x, y)

    def el(self, k, A):
        return self.nodes[A][1 + k] if self.nodes[A][0] == "arr" else self.node("el", k, A)

    def elements(self, A):
        key = self.nodes[A]
        return list(key[1:]) if key[0] == "arr" else [self.el(k, A) for k in range(self.length(A))]

    def length(self, A):
        key = self.nodes[A]
        if key[0] == "arr":
            return len(key) - 1
        if key[0] == "jet":
            return self.length_of_jet(A)
        if key[0] == "outer":
            return math.prod(self.length(x) for x in key[1:])
        rows, columns, transposed = key[1]
        return columns if transposed else rows

    def is_array(self, a):
        return self.nodes[a][0] in ARRAYS

    def is_zero_array(self, A):
        return self.nodes[A][0] == "arr" and all(self.is_zero(a) for a in self.nodes[A][1:])

    def has_arrays(self, roots):
        return any(self.is_array(a) for a in self.order(roots))

    def operations_in_array(self, a):
        """Products and sums"""
        key = self.nodes[a]
        if key[0] == "jet":
            return COST_OF_A_CALL
        return 0 if key[0] == "arr" else self.length(a) if key[0] == "outer" else 2*self.length(key[2])

    # ---- derivatives ----

    def array_tangent(self, a, d):
        """d: {child: its tangent}; the node of c(0) stands for a whole array that is zero, too"""
        key, zero = self.nodes[a], self.c(0)
        if key[0] == "arr":
            return self.arr(*(d[x] for x in key[1:]))
        x, y = key[-2:]
        product = self.outer if key[0] == "outer" else lambda M, v: self.mv(key[1], M, v)
        parts = [product(*factors) for z, factors in ((x, (d[x], y)), (y, (x, d[y]))) if d[z] != zero]
        if len(parts) == 1:
            return parts[0]
        return self.arr(*(self.add(b, c) for b, c in zip(*map(self.elements, parts))))

    def array_pullback(self, a, weights, live):
        """[(array, weights of its elements)] for weights of the elements of a product"""
        key, w = self.nodes[a], self.arr(*weights)
        x, y = key[-2:]
        if key[0] == "outer":
            shape = self.length(x), self.length(y)
            parts = (x, lambda: self.mv((*shape, False), w, y)), (y, lambda: self.mv((*shape, True), w, x))
        else:
            rows, columns, transposed = key[1]
            parts = (x, lambda: self.outer(y, w) if transposed else self.outer(w, y)), \
                    (y, lambda: self.mv((rows, columns, not transposed), x, w))
        return [(b, self.elements(product())) for b, product in parts if b in live]

    # ---- what printers need ----

    def operands(self, a):
        """[(array, rows, columns)] of a product: vectors have one row"""
        key = self.nodes[a]
        vectors = [(x, 1, self.length(x)) for x in key[-2:]]
        return vectors if key[0] == "outer" else [(key[2], *key[1][:2]), vectors[1]]

    def block(self, A, rows, columns):
        """The Block of an array of variables that lie like a matrix; else None"""
        if (A, rows, columns) not in self.blocks:
            self.blocks[A, rows, columns] = self.block_of([self.nodes[a] for a in self.elements(A)], rows, columns)
        return self.blocks[A, rows, columns]

    @staticmethod
    def block_of(keys, rows, columns):
        if any(key[0] != "v" or key[1] != keys[0][1] for key in keys) or keys[0][1] not in IN_MEMORY:
            return None
        first = keys[0][2]
        by_column = keys[1][2] - first if columns > 1 else 1
        by_row = keys[columns][2] - first if rows > 1 else columns
        lies = all(key[2] == first + k//columns*by_row + k % columns*by_column for k, key in enumerate(keys))
        return Block(keys[0][1], first, by_row, by_column) if lies and min(by_row, by_column) > 0 else None

    def is_table(self, A):
        return self.nodes[A][0] == "arr" and all(self.const(a) is not None for a in self.nodes[A][1:])

    def loaded(self, roots, given=()):
        """(keys of variables, sorted, spaces of blocks) below roots, but not below other nodes of given; variables of a
        block are not among the first"""
        variables, spaces, seen, stack = set(), set(), set(given) - set(roots), list(roots)
        while stack:
            a = stack.pop()
            if a in seen:
                continue
            seen.add(a)
            key = self.nodes[a]
            if key[0] == "v":
                variables.add(key)
            elif key[0] in PRODUCTS:
                found = [(b, self.block(b, *shape)) for b, *shape in self.operands(a)]
                spaces |= {block.space for _, block in found if block}
                stack += [b for b, block in found if not block]
            else:
                stack += self.children(a)
        return sorted(variables, key=lambda k: (k[1], k[2], k[3])), spaces


def collected(g, targets):
    """Targets whose nodes are all elements of an outer product become one, of the whole product: its lhs is the array
    and its block says where the elements lie in it.  Sums of elements are added one after the other.  Several targets
    may receive the same element, as p and q do where the matrix is p + q: then the product has several copies."""
    out, products = [], {}
    for t in targets:
        place = re.fullmatch(r"(\w+)\[(\d+)\]", t.lhs) if t.op == "+=" else None
        parts = elements_of_products(g, t.node) if place else None
        if not parts:
            out.append(t)
        for k, product, sign in parts or ():
            copies = products.setdefault((place[1], t.guard, product, sign), [])
            copy = next((copy for copy in copies if k not in copy), None)
            if copy is None:
                copies.append(copy := {})
            copy[k] = int(place[2]), t
    for (array, _, product, sign), copies in products.items():
        for copy in copies:
            out += targets_of_copy(g, array, product, sign, copy)
    return out


def targets_of_copy(g, array, product, sign, copy):
    """copy: {element: (index in the array, the target that it was part of)}"""
    columns = g.length(g.nodes[product][2])
    if len(copy) == g.length(product):
        keys = [("v", array.lstrip("g"), copy[k][0]) for k in range(len(copy))]
        block = g.block_of(keys, len(keys)//columns, columns)
        if block:
            return [replace(copy[0][1], lhs=array, node=product, block=block, sign=sign)]
    elements = [(i, t, g.el(k, product)) for k, (i, t) in sorted(copy.items())]
    return [replace(t, lhs=f"{array}[{i}]", node=a if sign > 0 else g.neg(a)) for i, t, a in elements]


def elements_of_products(g, a):
    """[(k, outer product, sign)] of a sum of elements of outer products; None: it is none.  Long sums are deep."""
    out, stack = [], [(a, 1)]
    while stack:
        b, sign = stack.pop()
        key = g.nodes[b]
        if key[0] == "el" and g.nodes[key[2]][0] == "outer":
            out.append((key[1], key[2], sign))
        elif key[0] == "neg":
            stack.append((key[1], -sign))
        elif key[0] in ("+", "-"):
            stack += [(key[2], sign if key[0] == "+" else -sign), (key[1], sign)]
        else:
            return None
    return out
