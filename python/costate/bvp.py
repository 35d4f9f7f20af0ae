"""Boundary value problems: solving, the solution at any point, its derivatives with respect to parameters."""
import numpy as np

from costate import _library as library
from costate._costate import ffi, lib
from costate._derivatives import Mistrusted
from costate._library import CostateError, columns, pointer, text
from costate._ways import Ways
from costate.maps import Bound, Owner, as_map, least_exact, raise_what_was_raised
from costate.problem import Problem

POINTS = 5              # of a solution where complex steps are checked
OPTIONS = {"intervals", "max_mesh", "fixed", "newton_max", "solver", "differences"}


class BoundaryProblem:
    """y' = f(t, y, p) on [a, b] with n conditions g(y(a), y(b), p) = 0, solved by collocation.

    rhs         as of Problem: a function f(t, y, p), a Map, or a Model
    conditions  a function g(ya, yb, p) that returns n values; or a Map of (t, y, p) whose y is (ya, yb), with Jacobians
    method      "gauss3", "radau2a", "lobatto3a4", ..., or None: gauss3
    rtol, atol  1e-6: for the estimated error everywhere in [a, b]
    breaks      points inside (a, b) where f may jump
    options     intervals, max_mesh, fixed, newton_max, solver, differences, and derivatives of rhs as of Problem"""

    def __init__(self, rhs, conditions, *, method=None, rtol=1e-6, atol=1e-6, breaks=(), **options):
        own = {name: options.pop(name) for name in list(options) if name in OPTIONS}
        self.problem = Problem(rhs, trace=False, **options)
        if callable(conditions) and not hasattr(conditions, "value"):
            def joined(t, y, p):
                half = len(y) // 2
                return conditions(y[:half], y[half:], p)
            self.conditions = as_map(joined)
        else:
            self.conditions = as_map(conditions)
        self.method, self.rtol, self.atol = method or "gauss3", rtol, atol
        library.method(self.method)
        self.breaks, self.options = np.array(breaks, dtype=float, ndmin=1), own

    def solve(self, interval, guess, p=None, *, mesh=None):
        """The solution on `interval`, from a guess: an array (n,), constant, or (n, k) at k equidistant points, or at
        the points `mesh`; or a former solution.  Returns a BoundarySolution."""
        return BoundarySolution(self, interval, guess, p, mesh)


class BoundarySolution:
    """A solution: y(t) by calling it, t and y at the mesh points, tangents and adjoints with respect to p.

    t, y        mesh points, states there (n, len(t)); q: running costs
    error       the estimated error in units of the tolerance; stats: counts, a dictionary"""

    def __init__(self, of, interval, guess, p, mesh):
        a, b = map(float, interval)
        if isinstance(guess, BoundarySolution):
            guess, mesh = guess.y, guess.t if mesh is None else mesh
        guess = np.asarray(guess, dtype=float)
        guess = guess[:, None] if guess.ndim == 1 else guess
        self._owner = Owner()
        self._of, self._given = of, None if p is None else np.array(p, dtype=float)
        points = None if mesh is None else np.ascontiguousarray(mesh, dtype=float)
        self._solve(a, b, points, np.ascontiguousarray(guess.T))

    def _solve(self, a, b, points, values):
        """again, with differences, where complex steps turn out to be wrong at the guess or at several points of the
        solution"""
        of = self._of
        while True:
            self._b, _, self._p = of.problem.built(a, values[0], self._given)
            self._b.scales.between(a, b)
            try:
                self._struct(of)
                self._check(lib.costate_bvp_guess(self._s, len(values), pointer(points), pointer(values)))
                self._check(lib.costate_bvp_solve(self._s, a, b, pointer(self._p) if self._b.np else ffi.NULL))
                self._read()
                self._look_over()
                break
            except Mistrusted:
                of.problem.rebuild()
        way = self._b.way
        self.derivatives = Ways(least_exact([way, self._conditions.least_exact_way()]),
                                {**way.by_map, "conditions": self._conditions.ways()})

    def _look_over(self):
        n = self._b.n
        for k in np.unique(np.linspace(0, len(self.t) - 1, POINTS).astype(int)):
            for bound in self._b.bounds:
                bound.look_over([(self.t[k], self.y[:n, k].copy(), self._p)])
        self._conditions.look_over([(self.t[0], np.concatenate([self.y[:n, 0], self.y[:n, -1]]), self._p)])

    def _derived(self, call):
        """a call of the library that computes derivatives, with what it has found out about complex steps"""
        with self._b.lock:
            try:
                self._b.scales.between(self.t[0], self.t[-1])
                self._check(call())
                return True
            except Mistrusted:
                self._of.problem.rebuild()
        self._solve(self.t[0], self.t[-1], self.t.copy(), np.ascontiguousarray(self.y.T))
        return False

    def _struct(self, of):
        b, n = self._b, self._b.n
        self._c, self._o = ffi.new("costate_conditions *"), ffi.new("costate_bvp_options *")
        bound = self._conditions = Bound(of.conditions, "conditions", 2 * n, b.np, 0, n, of.problem.trust, b.scales)
        self._owner.slots["conditions"] = bound
        bound.fill(self._c.map, "conditions")
        self._c.count, self._c.ctx = n, self._owner.handle
        o = self._o
        o.rtol, o.atol, o.nbreaks, o.breaks = of.rtol, of.atol, len(of.breaks), pointer(of.breaks)
        for name, value in of.options.items():
            setattr(o, name, getattr(lib, library.WORDS["solver"][value]) if isinstance(value, str) else value)
        if least_exact([b.way, bound.least_exact_way()]) == "differences":
            o.differences = 1
        self._s = ffi.gc(lib.costate_bvp_new(library.method(of.method), b.P, self._c, o), lib.costate_bvp_free)

    def _check(self, status):
        raise_what_was_raised([self._owner, self._b.owner])
        if status != lib.COSTATE_OK:
            raise CostateError(library.status_name(status), library.said(lib.costate_bvp_message(self._s)))
        self._of.problem.trust.say()

    def _read(self):
        b, count = self._b, lib.costate_bvp_intervals(self._s) + 1
        t, Y, one = np.empty(count), np.empty((count, b.n + b.nq)), ffi.new("double *")
        for k in range(count):
            self._check(lib.costate_bvp_get(self._s, k, one, pointer(Y[k])))
            t[k] = one[0]
        self.t, self.y, self.q = t, Y[:, :b.n].T, Y[:, b.n:].T
        stats = lib.costate_bvp_get_stats(self._s)
        self.error = stats.error
        self.stats = {name: getattr(stats, name) for name in ("meshes", "iterations", "damped", "decompositions",
                                                             "solves", "error", "rcond")}

    def __call__(self, t):
        """the state at t: (n,) or (n, len(t))"""
        b, times = self._b, np.asarray(t, dtype=float)
        out = np.empty((times.size, b.n + b.nq))
        for k, at in enumerate(times.reshape(-1)):
            self._check(lib.costate_bvp_eval(self._s, at, pointer(out[k])))
        return out[0, :b.n] if times.ndim == 0 else out[:, :b.n].T

    def tangent(self, t, dp):
        """The derivatives of y at the times t along dp: (len(t), n) for one direction (np,), (len(t), n, m) for m"""
        b, times = self._b, np.array(t, dtype=float, ndmin=1)
        d, one = columns(dp, b.np, "dp")
        N = b.n + b.nq
        V, s = np.zeros((len(d), len(times), N)), ffi.new("costate_bvp_tangents *")
        s.m, s.points, s.t, s.Vp, s.V = len(d), len(times), pointer(times), pointer(d), pointer(V)
        if not self._derived(lambda: lib.costate_bvp_tangent(self._s, s)):
            return self.tangent(t, dp)
        out = np.transpose(V[:, :, :b.n], (1, 2, 0))
        return out[:, :, 0] if one else out

    def adjoint(self, t, w):
        """w times the Jacobian of y at the times t with respect to p: (np,).  w: (len(t), n)"""
        b, times = self._b, np.array(t, dtype=float, ndmin=1)
        w = np.asarray(w, dtype=float)
        if w.shape != (len(times), b.n):
            raise ValueError(f"w has shape {w.shape}; expected ({len(times)}, {b.n})")
        lam, mu = np.zeros((len(times), b.n + b.nq)), np.zeros(b.np)
        lam[:, :b.n] = w
        s = ffi.new("costate_bvp_adjoints *")
        s.m, s.points, s.t, s.mu = 1, len(times), pointer(times), pointer(mu)
        setattr(s, "lambda", pointer(lam))
        if not self._derived(lambda: lib.costate_bvp_adjoint(self._s, s)):
            return self.adjoint(t, w)
        return mu
