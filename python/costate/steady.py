"""Steady states: where a solution tends to, with exact derivatives with respect to its start and parameters."""
import numpy as np

from costate import _library as library
from costate._costate import ffi, lib
from costate._library import CostateError, columns, pointer, taken
from costate._limit import Limit

STATS = ("rank", "invariants", "slowest", "t", "steps", "attempts", "iterations")


class SteadyState(Limit):
    """The steady state to which the solution of a Problem from y0 tends.

    y             (n,)
    invariants    (k, n): rows w such that w @ y is the same all the way; found where they are linear
    slowest       the largest real part of an eigenvalue: disturbances decay at least as fast as exp(slowest t)
    stats         rank of the Jacobian of f, steps, t to which the solution was followed, a dictionary
    derivatives   how derivatives of f are computed"""

    _message = staticmethod(lib.costate_steady_message)

    def __init__(self, problem, y0, p, t, fixed, events=None):
        """events: numbers of those that can occur on the way, without stops; None: all, and stops"""
        super().__init__(problem, y0, p, t)
        self._events = events
        self._which = np.array(list(fixed), dtype=np.intc)
        self._values = np.array(list(fixed.values()), dtype=float)
        self._solve()

    def _span(self):
        return self._t, self._t

    def _solve_once(self, y):
        b = self._b
        self._start = np.concatenate([y[:b.n], y[b.N - b.nm:]])
        self._o, self._run = ffi.new("costate_steady_options *"), ffi.new("costate_options *", b.o[0])
        self._o.t0, self._run.on_step = self._t, ffi.NULL
        self._o.nfixed, self._o.values = self._which.size, pointer(self._values)
        self._o.fixed = ffi.cast("int *", ffi.from_buffer(self._which))
        P = b.P if self._events is None else self._of_events(b.P)
        self._s = ffi.gc(lib.costate_steady_new(library.method(self._problem.method), P, self._run, self._o),
                         lib.costate_steady_free)
        y = self._start.copy()
        self._check(lib.costate_steady_solve(self._s, pointer(y), self._parameters()))
        for bound in b.bounds:
            if bound.name in ("rhs", "residual"):
                bound.look_over([(self._t, y[:b.n].copy(), self._p, *([y[b.n:].copy()] if b.nm else []))])
        self.y = y[:b.n].copy()
        stats = lib.costate_steady_get_stats(self._s)
        self.stats = {name: getattr(stats, name) for name in STATS}
        self.slowest, k = stats.slowest, stats.invariants
        found = lib.costate_steady_invariants(self._s)
        self.invariants = taken(found, k * b.n).reshape(k, b.n) if found else np.empty((0, b.n))

    def _of_events(self, P):
        """the problem without stops, with some of its events"""
        copy = ffi.new("costate_problem *", P[0])
        self._array = ffi.new("costate_event[]", [P.event[k] for k in self._events])
        copy.nstops, copy.stops, copy.nevents = 0, ffi.NULL, len(self._events)
        copy.event = self._array if self._events else ffi.NULL
        return copy

    def _parameters(self):
        return pointer(self._p) if self._b.np else ffi.NULL

    def tangent(self, dy0=None, dp=None):
        """The derivative of the steady state along directions of y0 and p: (n,), or (n, m) for m directions.

        dy0: (n,) or (n, m); dp: (np,) or (np, m)"""
        b = self._b
        dy0, dp = (None if d is None else columns(d, rows, name)
                   for d, rows, name in ((dy0, b.n, "dy0"), (dp, b.np, "dp")))
        given = [d for d in (dy0, dp) if d is not None]
        if len({d[0].shape[0] for d in given}) > 1:
            raise ValueError(f"the directions have different numbers of columns: {[d[0].shape[0] for d in given]}")
        m, one = (given[0][0].shape[0], given[0][1]) if given else (1, True)
        V = np.zeros((m, b.n + b.nm))
        if dy0 is not None:
            V[:, :b.n] = dy0[0]
        V = self._tangents(V, dp[0] if dp else None)[:, :b.n]
        return V[0].copy() if one else V.T

    def _tangents(self, V, Vp=None):
        """of m rows, n states and nm memory variables each; Vp: m rows of np"""
        def call():
            out, directions = V.copy(), ffi.NULL if Vp is None else pointer(Vp)
            self._check(lib.costate_steady_tangent(self._s, len(V), pointer(out), directions))
            return out
        return self._derived(call)

    def adjoint(self, w):
        """w times the Jacobians of the steady state with respect to y0 and p: (n,), (np,), or (n, m), (np, m).
        w: (n,) or (n, m), gradients of functionals"""
        b = self._b
        seeds, one = columns(w, b.n, "w")
        lam, mu = self._adjoints(np.hstack([seeds, np.zeros((len(seeds), b.nm))]))
        lam = lam[:, :b.n]
        return (lam[0].copy(), mu[0].copy()) if one else (lam.T, mu.T)

    def _adjoints(self, weights):
        """of m rows, n states and nm memory variables each: rows of the same, and of np"""
        def call():
            lam, mu = weights.copy(), np.zeros((len(weights), self._b.np))
            self._check(lib.costate_steady_adjoint(self._s, len(lam), pointer(lam),
                                                   pointer(mu) if self._b.np else ffi.NULL))
            return lam, mu
        return self._derived(call)

    def hessp(self, w, vy0=None, vp=None):
        """The derivatives of adjoint(w), with w (n,) held, along the direction (vy0, vp): (n,), (np,)."""
        b = self._b
        vy0, vp = (np.zeros(k) if v is None else library.vector(v, k, name)
                   for v, k, name in ((vy0, b.n, "vy0"), (vp, b.np, "vp")))
        w, memory = library.vector(w, b.n, "w"), np.zeros(b.nm)
        lam, mu = self._products(np.concatenate([w, memory]), np.concatenate([vy0, memory]), vp)
        return lam[:b.n], mu

    def _products(self, seed, v, vp):
        """second derivatives: n states and nm memory variables each, vp (np,)"""
        b = self._b

        def call():
            F, x, d, g = lib.costate_steady_map(self._s), *(ffi.new(f"costate_{name} *")
                                                            for name in ("point", "point", "gradient"))
            lam, by_m, mu = np.zeros(b.n), np.zeros(b.nm), np.zeros(b.np)
            x.y, x.p, x.m = pointer(self._start), self._parameters(), pointer(self._start[b.n:]) if b.nm else ffi.NULL
            d.y, d.p, d.m = pointer(v), pointer(vp) if b.np else ffi.NULL, pointer(v[b.n:]) if b.nm else ffi.NULL
            g.y, g.p, g.m = pointer(lam), pointer(mu) if b.np else ffi.NULL, pointer(by_m) if b.nm else ffi.NULL
            if not F.adjoint_tangent:
                raise CostateError("COSTATE_MISSING", "Second derivatives of f are not available.")
            self._check(F.adjoint_tangent(x, d, pointer(seed), g, self._s))
            return np.concatenate([lam, by_m]), mu
        return self._derived(call)

    def __repr__(self):
        return f"SteadyState(y={np.array2string(self.y, threshold=6)}, slowest={self.slowest:.3g}, " \
               f"invariants={len(self.invariants)})"
