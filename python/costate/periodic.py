"""Periodic orbits: limit cycles and responses to a period that is given, their multipliers, and exact derivatives."""
from collections import namedtuple

import numpy as np

from costate import _library as library
from costate._costate import ffi, lib
from costate._library import columns, pointer, vector
from costate._limit import Limit
from costate.maps import Owner, guarded

ORBIT = ("residual", "sensitivity", "multiplier", "iterations", "frozen", "steps")
Moved = namedtuple("Moved", "y period q")


@guarded
def orbit_seed(owner, X, p, m, V, Vp, lam, mu, lam2, mu2):
    """of a functional that is linear in X = (y, period, q)"""
    ffi.memmove(lam, owner.weights, owner.weights.nbytes)


class PeriodicOrbit(Limit):
    """A periodic orbit of a Problem.

    y, period     (n,), the state at t0; the period
    q             (nq,), the running costs over one period
    multipliers   (n,), complex: Floquet multipliers, the largest first; one is 1 where the period was unknown
    stable        are all others of modulus less than 1?
    stats         residual, sensitivity, iterations, steps of one period, a dictionary
    derivatives   how derivatives of f are computed"""

    _message = staticmethod(lib.costate_periodic_message)

    def __init__(self, problem, y0, guess, p, period, t, settle, invariants):
        super().__init__(problem, y0, p, t)
        if (guess is None) == (period is None):
            raise ValueError("give either guess, a period that is nearly right, or period, one that is given")
        self._period, self._settle = period, settle
        self._guess = float(guess if period is None else period)
        self._invariants = None if invariants is None else np.array(invariants, dtype=float, ndmin=2)
        self._solve()

    def _span(self):
        return self._t, self._t + getattr(self, "period", self._guess)

    def _solve_once(self, y):
        b, self._o, self._owner = self._b, ffi.new("costate_periodic_options *"), Owner()
        y = y[:b.n].copy()
        self._run, T = ffi.new("costate_options *", b.o[0]), ffi.new("double *", self._guess)
        self._o.t0, self._o.settle, self._run.on_step = self._t, self._settle, ffi.NULL
        self._run.on_back = ffi.NULL
        if self._period is not None:
            self._o.period = self._period
        if self._invariants is not None:
            if self._invariants.shape[1] != b.n:
                raise ValueError(f"invariants has shape {self._invariants.shape}; expected (k, {b.n})")
            self._o.invariants, self._o.ninvariants = pointer(self._invariants), len(self._invariants)
        self._s = ffi.gc(lib.costate_periodic_new(library.method(self._problem.method), b.P, self._run, self._o),
                         lib.costate_periodic_free)
        self._check(lib.costate_periodic_solve(self._s, pointer(y), T, pointer(self._p) if b.np else ffi.NULL))
        self._look_over()
        X, orbit, re, im = np.empty(b.n + 1 + b.nq), ffi.new("costate_orbit *"), np.empty(b.n), np.empty(b.n)
        self._check(lib.costate_periodic_get(self._s, pointer(X)))
        self._check(lib.costate_periodic_orbit(self._s, orbit))
        self._check(lib.costate_periodic_multipliers(self._s, pointer(re), pointer(im)))
        self.y, self.period, self.q = X[:b.n].copy(), float(X[b.n]), X[b.n + 1:].copy()
        self.multipliers, self.stable = re + 1j * im, bool(orbit.stable)
        self.stats = {name: getattr(orbit, name) for name in ORBIT}

    def _look_over(self):
        """complex steps at a quarter of the orbit and three others"""
        b = self._b
        for t in self._t + self._guess * np.array([0.0, 0.25, 0.5, 0.75]):
            y = np.empty(b.n)
            self._check(lib.costate_periodic_eval(self._s, t, pointer(y)))
            for bound in b.bounds:
                if bound.name in ("rhs", "residual", "cost"):
                    bound.look_over([(t, y.copy(), self._p)])

    def __call__(self, t):
        """the state at any time t: (n,) or (n, len(t))"""
        b, times = self._b, np.asarray(t, dtype=float)
        out = np.empty((times.size, b.n))
        for k, at in enumerate(times.reshape(-1)):
            self._check(lib.costate_periodic_eval(self._s, at, pointer(out[k])))
        return out[0] if times.ndim == 0 else out.T

    def tangent(self, dp):
        """The derivatives of y (n,), period and q (nq,) along dp (np,), with attributes of these names; (n, m), (m,)
        and (nq, m) for m directions (np, m)"""
        b = self._b
        d, one = columns(dp, b.np, "dp")

        def call():
            V = np.empty((len(d), b.n + 1 + b.nq))
            self._check(lib.costate_periodic_tangent(self._s, len(d), pointer(d), pointer(V)))
            return V
        V = self._derived(call)
        V = V[0] if one else V.T
        return Moved(V[:b.n].copy(), V[b.n].copy() if V.ndim > 1 else float(V[b.n]), V[b.n + 1:].copy())

    def _weights(self, y, period, q):
        b, w = self._b, np.zeros(self._b.n + 1 + self._b.nq)
        w[b.n] = period
        if y is not None:
            w[:b.n] = vector(y, b.n, "y")
        if q is not None:
            w[b.n + 1:] = vector(q, b.nq, "q")
        return w

    def adjoint(self, y=None, period=0.0, q=None):
        """The gradient (np,) of the functional with these weights of y (n,), of the period and of q (nq,)"""
        w, b = self._weights(y, period, q), self._b

        def call():
            mu = np.zeros(b.np)
            self._check(lib.costate_periodic_adjoint(self._s, 1, pointer(w), pointer(mu)))
            return mu
        return self._derived(call)

    def hessp(self, vp, y=None, period=0.0, q=None):
        """The derivative (np,) of that gradient along vp (np,)"""
        w, v, b = self._weights(y, period, q), vector(vp, self._b.np, "vp"), self._b

        def call():
            self._owner.weights = w
            mu, mu2 = np.zeros(b.np), np.zeros(b.np)
            self._check(lib.costate_periodic_hessian(self._s, 1, pointer(v), lib.costate_py_orbit_seed,
                                                     self._owner.handle, pointer(mu), pointer(mu2)))
            return mu2
        return self._derived(call)

    def multiplier_gradient(self, k=0):
        """The gradient (np,), complex, of multiplier k, which must be simple"""
        def call():
            re, im = np.empty(self._b.np), np.empty(self._b.np)
            self._check(lib.costate_periodic_multiplier_gradient(self._s, k, pointer(re), pointer(im)))
            return re + 1j * im
        return self._derived(call)

    def __repr__(self):
        return f"PeriodicOrbit(period={self.period:.10g}, y={np.array2string(self.y, threshold=6)}, " \
               f"{'stable' if self.stable else 'not stable'})"
