"""Where runs of a Model begin whose text says `start steady` or `start periodic`: initial values with derivatives."""
import threading

import numpy as np

from costate._copies import Portable
from costate.periodic import PeriodicOrbit
from costate.steady import SteadyState


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
        guess, about, n = self._model.start(t, p), self._about, self._model.n
        if self.is_periodic:
            period = {"guess" if about["near"] else "period": about["period"]}
            return PeriodicOrbit(self._problem, guess[:n], p=p, t=t, settle=0.0, invariants=None,
                                 **{"guess": None, "period": None, **period})
        y = np.concatenate([guess[:n], guess[n + self._model.nq:]])
        return SteadyState(self._problem, y, p, t, dict(zip(about["fixed"], about["values"])), about["events"])

    # vectors of n + nq + nm, as those of Model; a SteadyState has n + nm

    def _inner(self, x):
        return np.concatenate([x[:self._model.n], x[self._model.n + self._model.nq:]])

    def _outer(self, x):
        full = np.zeros(self._model.n + self._model.nq + self._model.nm)
        full[:self._model.n], full[self._model.n + self._model.nq:] = x[:self._model.n], x[self._model.n:]
        return full

    def start(self, t=0.0, p=None):
        full = self._model.start(t, p)
        full[:self._model.n] = self._at(t, p).y
        return full

    def start_jvp(self, t=0.0, p=None, dp=None, dt=0.0):
        limit = self._at(t, p)
        dp = np.zeros(self._model.np) if dp is None else np.asarray(dp, dtype=float)
        if self.is_periodic:
            self._refuse_time(dt != 0)
            return self._outer(np.concatenate([limit.tangent(dp).y, np.zeros(self._model.nm)]))
        d = self._inner(self._model.start_jvp(t, p, dp, dt))
        return self._outer(limit._tangents(d[None].copy(), dp[None].copy())[0])

    def start_vjp(self, t, p, w):
        limit, w = self._at(t, p), self._weights(w)
        if self.is_periodic:
            return limit.adjoint(y=w[:self._model.n]), np.nan
        lam, mu = limit._adjoints(self._inner(w)[None])
        by_p, by_t = self._model.start_vjp(t, p, self._outer(lam[0]))
        return by_p + mu[0], by_t

    def start_hvp(self, t, p, w, dp=None, dt=0.0):
        limit, w = self._at(t, p), self._weights(w)
        dp = np.zeros(self._model.np) if dp is None else np.asarray(dp, dtype=float)
        if self.is_periodic:
            self._refuse_time(dt != 0)
            return limit.hessp(dp, y=w[:self._model.n]), np.nan
        lam = limit._adjoints(self._inner(w)[None])[0][0]
        d = self._inner(self._model.start_jvp(t, p, dp, dt))
        lam2, mu2 = limit._products(self._inner(w), d, dp)
        along, by_t = self._model.start_hvp(t, p, self._outer(lam), dp, dt)
        through, more = self._model.start_vjp(t, p, self._outer(lam2))
        return along + through + mu2, by_t + more

    def _weights(self, w):
        full = np.zeros(self._model.n + self._model.nq + self._model.nm)
        full[:np.size(w)] = w
        return full

    @staticmethod
    def _refuse_time(asked):
        if asked:
            raise NotImplementedError("derivatives with respect to t0 of runs that start on a periodic orbit are not "
                                      "available")
