"""Jacobians of solve_ivp: constant, functions, banded, sparse, and their patterns."""
import numpy as np

from costate._pattern import Pattern, in_band

DENSE_UP_TO = 20        # equations; the library solves these with dense matrices, whatever their pattern


class Jacobian:
    """The user's Jacobian, or a pattern for that of the library, in the layout that the library reads.

    pattern             of the user's equations, or None: dense
    given               whether there are values"""

    def __init__(self, system, jac, jac_sparsity, lband, uband):
        self.system, self.n = system, system.size
        self.constant, self.calls, self.pattern = jac is not None and not callable(jac), 0, None
        self.jac = jac if callable(jac) else lambda *at: jac
        self.given, self.band = jac is not None, None
        if lband is not None or uband is not None:
            self.band = int(lband or 0), int(uband or 0)
            self.pattern = Pattern.of_band(self.n, *self.band)
        elif jac is None and jac_sparsity is not None:
            sparse = hasattr(jac_sparsity, "tocsc")
            self.pattern = Pattern.of(jac_sparsity if sparse else np.asarray(jac_sparsity), self.n)
        elif jac is not None:
            self.look()

    def look(self):
        """sparse matrices of large systems have a pattern: that of the first one"""
        if self.n > DENSE_UP_TO or self.constant:
            first = self.at(self.system.t0, self.system.y0.copy())
            if hasattr(first, "tocsc") and self.n > DENSE_UP_TO:
                self.pattern = Pattern.of(first, self.n)

    def at(self, t, y):
        """the user's matrix"""
        self.calls += 1
        matrix = self.jac(t, y, *self.system.args)
        matrix = matrix if hasattr(matrix, "tocsc") else np.asarray(matrix, dtype=self.system.dtype)
        shape = (self.n, self.n) if self.band is None else (sum(self.band) + 1, self.n)
        if matrix.shape != shape:
            raise ValueError(f"`jac` is expected to have shape {shape}, but actually has {matrix.shape}.")
        return matrix

    def values(self, t, y):
        """by columns, or in the order of the pattern"""
        matrix, paired = self.at(t, y), self.system.paired
        if self.band is not None:
            packed = np.asarray(matrix, dtype=self.system.dtype).T[in_band(self.n, *self.band).T]
            return self.in_order(packed)
        if self.pattern is not None and hasattr(matrix, "tocsc"):
            return self.in_order(self.pattern.values(matrix))
        matrix = matrix.toarray() if hasattr(matrix, "tocsc") else matrix
        if self.pattern is not None:
            return self.in_order(self.pattern.dense_values(matrix))
        return np.ascontiguousarray((pairs(matrix) if paired else matrix).T, dtype=float)

    def in_order(self, values):
        if self.system.paired:
            return self.pattern.values_in_pairs(values)
        return np.ascontiguousarray(values, dtype=float)


def pairs(matrix):
    """a complex matrix for real and imaginary parts: each element becomes [[re, -im], [im, re]]"""
    n = len(matrix)
    out = np.empty((n, 2, n, 2))
    out[:, 0, :, 0] = out[:, 1, :, 1] = matrix.real
    out[:, 1, :, 0] = matrix.imag
    out[:, 0, :, 1] = -matrix.imag
    return out.reshape(2 * n, 2 * n)
