"""Linear algebra of the user: preconditioners, and matrices of W-methods."""
import numpy as np

from costate._costate import ffi, lib
from costate._library import CostateError, status_name, taken, text
from costate._pattern import Pattern
from costate.maps import guarded, layout


def pair(preconditioner):
    """(setup, solve), or None"""
    if preconditioner is None:
        return None
    setup, solve = preconditioner if isinstance(preconditioner, (tuple, list)) else (None, preconditioner)
    if not callable(solve) or not (setup is None or callable(setup)):
        raise TypeError(f"preconditioner is {preconditioner!r}; expected (setup, solve), functions "
                        "setup(sigma, t, y, p), or None, and solve(x, transpose, of)")
    return setup, solve


class Preconditioner:
    """A preconditioner of one solver, and what its last setup returned."""

    def __init__(self, setup, solve, n, np_):
        self.setup, self.solve, self.n, self.np, self.of = setup, solve, n, np_, None


def preconditioner(built, functions, splits):
    """a costate_preconditioner"""
    built.owner.preconditioner = Preconditioner(*functions, built.n, built.np)
    struct = ffi.new("costate_preconditioner *")
    struct.setup, struct.solve, struct.ctx = lib.costate_py_setup, lib.costate_py_solve, built.owner.handle
    struct.splits = splits
    if functions[0] is None:
        struct.setup = ffi.NULL
    built.keep.append(struct)
    built.calls_python = True
    return struct


@guarded
def setup(owner, sigma, x):
    of = owner.preconditioner
    of.of = of.setup(sigma, x.t, taken(x.y, of.n), taken(x.p, of.np) if x.p else np.empty(0))


@guarded
def solve(owner, transpose, x):
    of = owner.preconditioner
    found = np.asarray(of.solve(taken(x, of.n), bool(transpose), of.of))
    if found.shape != (of.n,) or found.dtype.kind not in "fiu":
        raise ValueError(f"the preconditioner's solve returned an array of shape {found.shape} and type {found.dtype}; "
                         f"expected {of.n} real numbers")
    ffi.memmove(x, np.ascontiguousarray(found, dtype=float), 8 * of.n)


# ---- splittings of models on grids ----------------------------------------------------------------------------------

def splitting(model):
    """(a costate_splitting of a Model for one thread, its costate_preconditioner)"""
    parts, count = model.parts()
    found = ffi.gc(lib.costate_splitting_new(model.problem, count, parts), lib.costate_splitting_free)
    status = lib.costate_splitting_status(found)
    if status != lib.COSTATE_OK:
        raise CostateError(status_name(status), text(lib.costate_splitting_message(found)))
    return found, lib.costate_splitting_preconditioner(found)


# ---- W-methods ------------------------------------------------------------------------------------------------------

def own_matrix(built, w, pattern):
    """W in place of the Jacobian; in a pattern if W is sparse, or sparsity is given"""
    of = w if callable(w) else lambda p: w
    first = of(built.first[2])
    if np.shape(first) != (built.n, built.n):
        raise ValueError(f"w has shape {np.shape(first)}; expected ({built.n}, {built.n})")
    if pattern is None and hasattr(first, "tocsc"):
        whole = abs(first)
        if built.problem.mass is not None:
            whole = whole + abs(type(whole)(built.problem.mass))
        pattern = Pattern.of(whole, built.n, "w")
        built.P.pattern = pattern.struct(built.keep)
    built.owner.w, built.owner.w_pattern, built.owner.np = of, pattern, built.np
    built.P.jac, built.P.jac_is_w = lib.costate_py_w, 1
    built.mass_matrix(pattern)
    built.calls_python = True


@guarded
def w(owner, x, W):
    matrix = owner.w(taken(x.p, owner.np) if x.p else np.empty(0))
    values = layout(matrix if hasattr(matrix, "tocsc") else np.asarray(matrix, dtype=float), owner.w_pattern, "w")
    ffi.memmove(W, values, values.nbytes)
