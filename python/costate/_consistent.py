"""Consistent values of differential-algebraic equations, and the indices of unknowns."""
import numpy as np

from costate._costate import ffi, lib
from costate._derivatives import Mistrusted
from costate._library import pointer, vector


def index_of(problem, n):
    """Problem.index as an array of the library's"""
    if len(problem.index) != n or any(k not in (0, 1, 2) for k in problem.index):
        raise ValueError(f"index is {problem.index}; expected {n} numbers 0, 1 or 2")
    return np.array(problem.index, dtype=np.intc)


def consistent(problem, t, y0, p, yp0):
    """(y, y') that satisfy the equations at t"""
    while True:
        b, y, values = problem.built(float(t), y0, p)
        yp = np.zeros(b.n) if yp0 is None else vector(yp0, b.n, "yp0")
        try:
            with b.lock:
                b.check(lib.costate_consistent(b.solver, float(t), pointer(y), pointer(yp),
                                               pointer(values) if b.np else ffi.NULL))
            return y[:b.n].copy(), yp
        except Mistrusted:                      # again, with differences
            problem.rebuild()
