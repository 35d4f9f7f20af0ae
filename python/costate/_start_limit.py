"""Steady states as functions of all initial values and of p, and where runs of a Model begin whose text says
`start steady` or `start periodic`."""
import threading

import numpy as np

from costate._copies import Portable
from costate.periodic import PeriodicOrbit
from costate.steady import SteadyState


class Rest:
    """The steady state to which the solution from `start`, n + nq + nm initial values of the Model of a problem, tends.
    Costs, the nq in between, have no effect: they and their derivatives are 0.

    state       the SteadyState; `more`: its arguments behind t"""

    def __init__(self, problem, start, p, t=0.0, *more):
        self.model, self.p, self.t = problem.model, p, float(t)
        self.state = SteadyState(problem, self._inner(start), p, self.t, *(more or ({},)))
        self.y = self.state.y

    def _inner(self, x):
        return np.concatenate([x[:self.model.n], x[self.model.n + self.model.nq:]])

    def _outer(self, x):
        return np.concatenate([x[:self.model.n], np.zeros(self.model.nq), x[self.model.n:]])

    # ---- initial values are independent of p

    def jvp(self, dstart, dp):
        """derivatives of the state, and those of the memory variables as they are in dstart"""
        return self._outer(self.state._tangents(self._inner(dstart)[None].copy(), np.array(dp, dtype=float,
                                                                                          ndmin=2))[0])

    def vjp(self, w):
        """(by the initial values, by p) of w times all of the state"""
        lam, mu = self.state._adjoints(self._inner(w)[None])
        return self._outer(lam[0]), mu[0]

    # ---- ... or those of the model

    def model_jvp(self, dp, dt=0.0):
        return self.jvp(self.model.start_jvp(self.t, self.p, dp, dt), dp)

    def model_vjp(self, w):
        """(by p, by t)"""
        lam, mu = self.vjp(w)
        by_p, by_t = self.model.start_vjp(self.t, self.p, lam)
        return by_p + mu, by_t

    def model_hvp(self, w, dp, dt=0.0):
        """the derivatives of model_vjp(w), with w held, along dp and dt"""
        d = self._inner(self.model.start_jvp(self.t, self.p, dp, dt))
        lam2, mu2 = self.state._products(self._inner(w), d, dp)
        along, by_t = self.model.start_hvp(self.t, self.p, self.vjp(w)[0], dp, dt)
        through, more = self.model.start_vjp(self.t, self.p, self._outer(lam2))
        return along + through + mu2, by_t + more


class StartLimit(Portable):
    """Offers what Model does for initial values: start, start_jvp, start_vjp, start_hvp.  Those of the text, at which
    the search begins, are the Model's.  Each thread keeps the limit that it solved for last."""

    local = {"_local": threading.local}

    def __init__(self, problem):
        self._problem, self._model, self._local = problem, problem.model, threading.local()
        self._about = problem.model.start_limit

    @property
    def is_periodic(self):
        return self._about["kind"] == "periodic"

    def _at(self, t, p):
        """the limit"""
        p = self._model._parameters(p)
        key = (float(t), p.tobytes())
        if getattr(self._local, "key", None) != key:
            self._local.key = None
            self._local.limit, self._local.key = self._solved(float(t), p), key
        return self._local.limit

    def _solved(self, t, p):
        guess, about = self._model.start(t, p), self._about
        if self.is_periodic:
            period = {"guess" if about["near"] else "period": about["period"]}
            return PeriodicOrbit(self._problem, guess[:self._model.n], p=p, t=t, settle=0.0, invariants=None,
                                 **{"guess": None, "period": None, **period})
        return Rest(self._problem, guess, p, t, dict(zip(about["fixed"], about["values"])), about["events"])

    # vectors of n + nq + nm, as those of Model

    def _full(self, x):
        full = np.zeros(self._model.n + self._model.nq + self._model.nm)
        full[:np.size(x)] = x
        return full

    def start(self, t=0.0, p=None):
        full = self._model.start(t, p)
        full[:self._model.n] = self._at(t, p).y
        return full

    def start_jvp(self, t=0.0, p=None, dp=None, dt=0.0):
        limit, dp = self._at(t, p), self._direction(dp)
        if self.is_periodic:
            self._refuse_time(dt != 0)
            return self._full(limit.tangent(dp).y)
        return limit.model_jvp(dp, dt)

    def start_vjp(self, t, p, w):
        limit, w = self._at(t, p), self._full(w)
        if self.is_periodic:
            return limit.adjoint(y=w[:self._model.n]), np.nan
        return limit.model_vjp(w)

    def start_hvp(self, t, p, w, dp=None, dt=0.0):
        limit, w, dp = self._at(t, p), self._full(w), self._direction(dp)
        if self.is_periodic:
            self._refuse_time(dt != 0)
            return limit.hessp(dp, y=w[:self._model.n]), np.nan
        return limit.model_hvp(w, dp, dt)

    def _direction(self, dp):
        return np.zeros(self._model.np) if dp is None else np.asarray(dp, dtype=float)

    @staticmethod
    def _refuse_time(asked):
        if asked:
            raise NotImplementedError("derivatives with respect to t0 of runs that start on a periodic orbit are not "
                                      "available")
