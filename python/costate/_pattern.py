"""Sparsity patterns of Jacobians, and the values of matrices in them."""
import numpy as np

from costate._costate import ffi


class Outgrown(Exception):
    """A sparse Jacobian has entries outside the pattern; wanted: a pattern with all of them."""

    def __init__(self, wanted):
        super().__init__("the Jacobian has entries outside its pattern")
        self.wanted = wanted


class Pattern:
    """Where a Jacobian may be nonzero, by columns; entry (i, j) has the key j n + i."""

    def __init__(self, n, keys):
        self.n, self.keys = n, np.union1d(keys, np.arange(n) * (n + 1))
        self.row, column = self.keys % n, self.keys // n
        self.col = np.searchsorted(column, np.arange(n + 1))
        self._colours = None

    def colours(self):
        """a number for each column: columns of one colour share no row (each takes the first colour that is free)"""
        if self._colours is None:
            taken = [set() for _ in range(self.n)]
            self._colours = np.empty(self.n, dtype=int)
            for j in range(self.n):
                rows = self.row[self.col[j]:self.col[j + 1]].tolist()
                met = set().union(*(taken[i] for i in rows))
                colour = next(c for c in range(self.n) if c not in met)
                self._colours[j] = colour
                for i in rows:
                    taken[i].add(colour)
        return self._colours

    @classmethod
    def of(cls, matrix, n, name="jac_sparsity"):
        """of the nonzeros of an array, or of the entries of a sparse matrix"""
        if np.shape(matrix) != (n, n):
            raise ValueError(f"`{name}` is expected to have shape {(n, n)}, but actually has {np.shape(matrix)}.")
        if hasattr(matrix, "tocsc"):
            return cls(n, entries(matrix)[0])
        row, column = np.nonzero(matrix)
        return cls(n, column * n + row)

    @classmethod
    def of_band(cls, n, lower, upper):
        row, column = np.nonzero(in_band(n, lower, upper))
        return cls(n, column * n + row + column - upper)

    def dense_values(self, matrix):
        """of an array, in the order of the pattern"""
        return np.ascontiguousarray(matrix[self.row, self.keys // self.n])

    def values(self, matrix):
        """of a sparse matrix, in the order of the pattern"""
        keys, data = entries(matrix)
        if np.array_equal(keys, self.keys):
            return data
        at = np.searchsorted(self.keys, keys)
        if np.any(self.keys[np.minimum(at, len(self.keys) - 1)] != keys):
            raise Outgrown(Pattern(self.n, np.union1d(keys, self.keys)))
        out = np.zeros(len(self.keys), dtype=data.dtype)
        out[at] = data
        return out

    def struct(self, keep):
        """a costate_pattern"""
        arrays = [np.ascontiguousarray(a, dtype=np.intc) for a in (self.col, self.row)]
        out = ffi.new("costate_pattern *")
        out.n = self.n
        out.col, out.row = (ffi.cast("int *", ffi.from_buffer(a)) for a in arrays)
        keep += [*arrays, out]
        return out

    def in_pairs(self):
        """of real and imaginary parts: each entry becomes 2 by 2"""
        column, row = 2 * (self.keys // self.n), 2 * self.row
        keys = [(column + j) * 2 * self.n + row + i for j in (0, 1) for i in (0, 1)]
        return Pattern(2 * self.n, np.concatenate(keys))

    def values_in_pairs(self, values):
        """of the pattern in_pairs: column j of length k becomes (re, im, ...) and (-im, re, ...), each of length 2k"""
        length = np.diff(self.col)[self.keys // self.n]
        place = np.arange(len(values)) - self.col[self.keys // self.n]
        first = 4 * (np.arange(len(values)) - place) + 2 * place
        out = np.empty(4 * len(values))
        out[first], out[first + 1] = values.real, values.imag
        out[first + 2 * length], out[first + 2 * length + 1] = -values.imag, values.real
        return out


def entries(matrix):
    """(keys, values) of a sparse matrix, in increasing order of the keys"""
    matrix = matrix.tocsc(copy=True)
    matrix.sum_duplicates()
    columns = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    return columns * matrix.shape[0] + matrix.indices, matrix.data


def in_band(n, lower, upper):
    """which elements of a packed matrix, lower + upper + 1 by n, belong to it"""
    row = np.arange(lower + upper + 1)[:, None] + np.arange(n) - upper
    return (row >= 0) & (row < n)
