"""The state that a condition of a PEtab problem tends to: a steady state, or the end of a long run."""
import numpy as np

from costate._library import CostateError
from costate._start_limit import Rest
from costate.functional import Functional

LONG = 1e8              # time of a run towards a limit that is no steady state for Newton's iteration


class Limit:
    """The state that a condition tends to, from start, all initial values (None: those of the model).

    events  numbers of those that can occur on the way, without stops; None: all, and stops
    way     "steady state", or "run to t = 1e+08: REASON", where Newton's iteration finds no limit"""

    def __init__(self, problem, start, p, events=None):
        self.problem, self.model, self.p = problem, problem.model, p
        try:
            self.found = Rest(problem, problem.model.start(0.0, p) if start is None else start, p, 0.0, {}, events)
            self.way = "steady state"
        except CostateError as error:
            if error.status not in ("COSTATE_NO_LIMIT", "COSTATE_BAD_ARGUMENT", "COSTATE_UNSUPPORTED"):
                raise
            self.found, self.way = problem.integrate((0, LONG), start, p), f"run to t = {LONG:.0e}: {error.message}"
        self.y, self.is_steady = self.found.y, self.way == "steady state"

    def full(self, w):
        """weights of states among those of all initial values"""
        return np.append(w, np.zeros(self.model.nq + self.model.nm))

    def tangent(self, dstart, dp):
        """dstart: of the initial values (None: of those of the model)"""
        if self.is_steady:
            moved = self.found.model_jvp(dp) if dstart is None else self.found.jvp(dstart, dp)
            return moved[:self.model.n]
        if dstart is None:
            return self.found.tangent(None, dp)
        memory = {"dm": dstart[self.model.n + self.model.nq:]} if self.model.nm else {}
        return self.found.tangent(dstart[:self.model.n], dp, **memory)

    def adjoint(self, w):
        """by p, where the initial values are those of the model"""
        return self.found.model_vjp(self.full(w))[0] if self.is_steady else self.found.adjoint(w)[1]

    def apart(self, w):
        """(by the initial values, by p) where they are given"""
        if self.is_steady:
            return self.found.vjp(self.full(w))
        by_y0, by_p, *by_m = self.found.adjoint(w)
        return np.concatenate([by_y0, np.zeros(self.model.nq), *by_m]), by_p

    def errors(self, w):
        """estimated errors of w y, and of its gradient with respect to p.  A steady state is solved to round-off"""
        if self.is_steady:
            return 0.0, np.zeros(len(self.p))
        weighted = Functional(lambda t1, y, p: w @ y[:len(w)], end_y=lambda t1, y, p: np.append(w, 0 * y[len(w):]),
                              end_p=lambda t1, y, p: 0 * p)
        error = self.problem.gradient(weighted, (0, LONG), None, self.p, estimate=True).error
        return error.value, error.p

    def second(self, w, w2, dp):
        """the derivative along dp of adjoint(w), where w changes by w2"""
        if not self.is_steady:
            raise CostateError("COSTATE_MISSING", "Hessian products need a steady state for pre-equilibration; this is "
                               "a " + self.way)
        return self.found.model_hvp(self.full(w), dp)[0] + self.adjoint(w2)
