"""Functions of (t, y, y', p): residuals F(t, y, y', p) = 0, and guards, jumps and transitions of their events."""
import numpy as np

from costate._costate import ffi, lib
from costate.maps import Bound, Map, constant, in_pattern, shaped


class Residual:
    """A function of (t, y, yp, p), or of (t, y, yp, p, m) with memory variables, with its derivatives.

    value(t, y, yp, p)                  k values; yp is y', of the shape of y
    jac, jac_yp, jac_p, jac_t, jac_m    Jacobians, functions of the same arguments or arrays: with respect to y and to
                                        y' (k by n each, give both), p (k by np), t (k), m (k by nm)
    jvp(t, y, yp, p, dt, dy, dyp, dp)   instead: the derivative along a direction, k values
    vjp(t, y, yp, p, w)                 instead: w times the Jacobians with respect to y, yp, p and, optionally, t
    hvp(t, y, yp, p, dt, dy, dyp, dp, w)    the derivative of vjp along a direction, in the same form

    What is not given is computed, and checked, as for Map."""

    wide = 1                    # vectors of n in y, and in y'

    def __init__(self, value, *, jac=None, jac_yp=None, jac_p=None, jac_t=None, jac_m=None, jvp=None, vjp=None,
                 hvp=None):
        if (jac is None) != (jac_yp is None):
            raise TypeError("a residual has two Jacobians, jac with respect to y and jac_yp with respect to y': give "
                            "both, or neither")
        Map(value, jac=jac, jac_p=jac_p, jac_t=jac_t, jac_m=jac_m, jvp=jvp, vjp=vjp, hvp=hvp)   # refuses other types
        self.value, self.jvp, self.vjp, self.hvp = value, jvp, vjp, hvp
        self.jac, self.jac_yp, self.jac_p, self.jac_t, self.jac_m = (
            constant(matrix) for matrix in (jac, jac_yp, jac_p, jac_t, jac_m))

    def __repr__(self):
        return f"<{type(self).__name__} {getattr(self.value, '__name__', type(self.value).__name__)}>"

    def map(self, memory):
        """a Map of (t, Y, p), where Y is y followed by y'; memory: are there memory variables?"""
        count, wide = 4 if memory else 3, self.wide             # arguments of a point: t, Y, p, m
        point, along = {1}, {1, count + 1}
        both = None if self.jac is None else lambda *at: side_by_side(self.jac(*at), self.jac_yp(*at))
        given = {name: parted(f, point, wide) for name, f in
                 dict(jac=both, jac_p=self.jac_p, jac_t=self.jac_t, jac_m=self.jac_m).items()}
        return Map(parted(self.value, point, wide), **given, jvp=parted(self.jvp, along, wide),
                   vjp=joined(parted(self.vjp, point, wide)), hvp=joined(parted(self.hvp, along, wide)))


class Transition(Residual):
    """Equations between the states before and after an event: n values T(t, y, yp, p) that are 0 after it.

    y, yp       (2, n): row 0 after the event, row 1 before it"""

    wide = 2


def as_residual(of, kind=Residual):
    return of if of is None or isinstance(of, kind) else kind(of)


def given_residual(rhs, residual, jac_yp, given, mass, w):
    """a Residual, or None"""
    if (rhs is None) == (residual is None):
        raise TypeError("give a right-hand side f(t, y, p), or residual=F(t, y, yp, p)")
    if residual is None:
        if jac_yp is not None:
            raise TypeError("jac_yp is of a residual")
        return None
    if mass is not None or w is not None:
        raise TypeError("a residual has no mass matrix and no matrix W")
    if not isinstance(residual, Residual):
        return Residual(residual, jac_yp=jac_yp, **given)
    if jac_yp is not None or any(f is not None for f in given.values()):
        raise TypeError("derivatives are given with a function; a Residual has its own")
    return residual


def halves(Y, wide):
    """y and y'"""
    both = np.split(Y, 2)
    return both if wide == 1 else [half.reshape(wide, -1) for half in both]


def parted(f, places, wide):
    """f with y and y' in place of the vectors Y at these places among its arguments"""
    if f is None:
        return None

    def g(*x):
        parts = []
        for k, a in enumerate(x):
            parts += halves(a, wide) if k in places else [a]
        return f(*parts)
    return g


def joined(f):
    """a vjp whose results with respect to y and y' are one vector"""
    if f is None:
        return None

    def g(*x):
        by_y, by_yp, *rest = f(*x)
        return (np.concatenate([np.ravel(by_y), np.ravel(by_yp)]), *rest)
    return g


def side_by_side(J, Jp):
    """two Jacobians as one, arrays or sparse matrices of SciPy"""
    dense = [np.asarray(A.toarray() if hasattr(A, "toarray") else A) for A in (J, Jp)]
    if any(A.ndim != 2 for A in dense) or dense[0].shape != dense[1].shape:
        raise ValueError(f"jac and jac_yp of a residual returned arrays of shapes {dense[0].shape} and "
                         f"{dense[1].shape}; expected the same shape, (n, n)")
    return np.hstack(dense)


class PairScales:
    """The Scales of a run, for vectors of y and y' together."""

    def __init__(self, of, count):
        self.of, self.count = of, count                         # count: vectors of n in y

    def __getattr__(self, name):
        return getattr(self.of, name)

    def unit(self, part, x):
        if part != 1:
            return self.of.unit(part, x)
        y, yp = np.split(x, 2)
        found = [self.of.unit(1, one) for one in np.split(y, self.count)] + [self.of.unit(2, yp)]
        return tuple(np.concatenate(parts) for parts in zip(*found))


class BoundPairs(Bound):
    """A function of y and y' at work in a problem: a Bound for twice as many states."""

    def __init__(self, of, name, n, np_, nm, rows, trust, scales, relations):
        self.residual, self.half, self.matrix_pattern = of, n * of.wide, None
        super().__init__(of.map(nm > 0), name, 2 * self.half, np_, nm, rows, trust, PairScales(scales, of.wide),
                         relations)

    def states(self, x):
        parts = [np.frombuffer(ffi.buffer(p, 8 * self.half)) if p else np.zeros(self.half) for p in (x.y, x.yp)]
        return np.concatenate(parts)

    def pair(self, at, slope=0.0):
        """a point (t, y, p, ...) of a run with y', which need not satisfy the equations"""
        count = self.half // len(at[1])
        return (at[0], np.concatenate([np.tile(at[1], count), np.tile(slope + 0 * at[1], count)]), *at[2:])

    def look_over(self, points):
        slopes = [(b[1] - a[1]) / (b[0] - a[0]) if b[0] != a[0] else 0.0 for a, b in zip(points, points[1:])]
        super().look_over([self.pair(at, slope) for at, slope in zip(points, [*slopes, *slopes[-1:], 0.0])])

    def has_slope(self, at):
        return super().has_slope(self.pair(at))

    def add(self, parts, g):
        if parts[1] is not None:
            for p, half in zip((g.y, g.yp), np.split(np.reshape(parts[1], -1), 2)):
                if p:
                    array = np.frombuffer(ffi.buffer(p, 8 * self.half))
                    array += shaped(half, (self.half,), f"the adjoint of {self.name}")
        super().add((parts[0], None, *parts[2:]), g)

    def jac(self, x, J):
        self.one_jacobian(x, J, "jac", 0)

    def jac_yp(self, x, J):
        self.one_jacobian(x, J, "jac_yp", 1)

    def one_jacobian(self, x, J, which, half):
        """with respect to y or y', by columns, or in the pattern"""
        at, n = self.at(x), self.half
        if self.of.jac is None:                                 # by complex steps or differences
            matrix = self.jacobian(1, at)[:, half * n:(half + 1) * n]
        else:
            matrix = getattr(self.residual, which)(at[0], *np.split(at[1], 2), *at[2:],
                                                   *([self.situation] if self.relations is not None else ()))
            matrix = matrix if hasattr(matrix, "tocsr") else np.asarray(matrix)
        if matrix.shape != (n, n):
            raise ValueError(f"{which} of the residual returned an array of shape {matrix.shape}; expected {(n, n)}")
        if self.matrix_pattern is None:
            matrix = matrix.toarray() if hasattr(matrix, "toarray") else matrix
            values = np.asfortranarray(matrix, dtype=float).reshape(-1, order="F")
        else:
            values = np.ascontiguousarray(in_pattern(self.matrix_pattern, matrix, f"{which} of the residual"),
                                          dtype=float)
        ffi.memmove(J, values, values.nbytes)


def placed(built, pattern):
    """the residual of a problem in its C struct; pattern: a Pattern, or None"""
    bound = built.bind(built.problem.residual, "residual", "residual", built.n)
    bound.fill(built.P.residual, "residual")
    bound.matrix_pattern = pattern
    if built.problem.residual.jac is not None or (pattern is None and bound.way(1) != "exact"):
        built.P.jac, built.P.jac_yp = lib.costate_py_jac, lib.costate_py_jac_yp
