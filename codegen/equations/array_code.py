"""The byte code of arrays (arrays.py): their elements are registers next to each other.

    copy    out, a                                                   an element of an array that is gathered
    times   out, M, by_row, by_column, x, step, rows, columns        out = M x, in the order of sums of array_text.py
    outer   out, x, step_x, y, step_y, rows, columns                 out = 0 + x y^T, row by row

M, x and y are first registers.  Variables that lie like a matrix are used where they are loaded."""
from .arrays import PRODUCTS
from .nodes import LEAVES


class ArrayCode:
    """Part of Routine."""

    def _find_arrays(self, order, targets):
        """gathered: arrays that are copied into registers; multiplied: products that are computed, not only added to a
        gradient; together: [(space, first, last)] of variables that are loaded as they lie in memory"""
        self.gathered, self.multiplied, self.together = set(), set(), []
        products = [a for a in order if self.g.nodes[a][0] in PRODUCTS]
        operands = [(b, shape) for a in products for b, *shape in self.g.operands(a)]
        for b, shape in operands:
            block = self.g.block(b, *shape)
            if block:
                rows, columns = shape
                self.together.append((block.space, block.first, block.first + (rows - 1)*block.by_row
                                      + (columns - 1)*block.by_column))
            elif self.g.nodes[b][0] == "arr":
                self.gathered.add(b)
            else:
                self.multiplied.add(b)
        self.multiplied |= {self.g.nodes[a][2] for a in order if self.g.nodes[a][0] == "el"}
        self.tables = [a for a in order if a in self.gathered and self.g.is_table(a)]

    def _computes(self, a):
        """Does the node have an operation of its own?"""
        kind = self.g.nodes[a][0]
        if kind == "arr":
            return a in self.gathered and not self.g.is_table(a)
        return a in self.multiplied if kind in PRODUCTS else kind not in LEAVES and kind != "el"

    def _source(self, a):
        """The node whose operation gives this value"""
        a = self._same(a)
        return self.g.nodes[a][2] if self.g.nodes[a][0] == "el" else a

    def _at(self, a):
        """The register of a value"""
        a = self._same(a)
        key = self.g.nodes[a]
        return self.place[key[2]] + key[1] if key[0] == "el" else self.place[a]

    def _needs(self, a):
        """The nodes that must have been computed, or loaded one by one"""
        if self.g.nodes[a][0] in PRODUCTS:
            return [b for b, *shape in self.g.operands(a) if not self.g.block(b, *shape)]
        return [self._source(b) for b in self.g.children(a)]

    def _size(self, a):
        """The number of registers of an array; 0: a single value"""
        return self.g.length(a) if self.g.is_array(a) else 0

    def _place_array(self, size):
        return self.empty[size].pop() if self.empty.get(size) else self._another(size)

    def _operand(self, A, rows, columns):
        """(first register, distances of rows and of columns)"""
        block = self.g.block(A, rows, columns)
        if not block:
            return self.place[A], columns, 1
        start = next(start + block.first - first for first, last, start in self.intervals[block.space]
                     if first <= block.first <= last)
        return start, block.by_row, block.by_column

    def _array_words(self, a):
        """[words of one operation] of an array"""
        g, key, out = self.g, self.g.nodes[a], self.place[a]
        if key[0] == "arr":
            return [[out + k, self._at(b)] for k, b in enumerate(key[1:])]
        if key[0] == "outer":
            return [[out, *self._factors(a)]]
        rows, columns, transposed = key[1]
        (M, by_row, by_column), (x, _, step) = (self._operand(*operand) for operand in g.operands(a))
        if transposed:
            rows, columns, by_row, by_column = columns, rows, by_column, by_row
        return [[out, M, by_row, by_column, x, step, rows, columns]]

    def _factors(self, a):
        (x, _, step_x), (y, _, step_y) = (self._operand(*operand) for operand in self.g.operands(a))
        return [x, step_x, y, step_y, *(self.g.length(z) for z in self.g.nodes[a][1:])]

    def outer_result(self, t):
        """A product that is added to a gradient: whether it is subtracted, its factors, where its elements lie"""
        return [int(t.sign < 0), *self._factors(t.node), t.block.first, t.block.by_row, t.block.by_column]
