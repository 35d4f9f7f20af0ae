"""One simulation condition of a PEtab problem: its run, from the model's initial values or after pre-equilibration, and
the derivatives of J = -log(likelihood) of its measurements."""
import numpy as np

from costate._costate import ffi, lib
from costate._library import CostateError, pointer
from costate.petab.measured import Measured
BEYOND = 1e-3           # so short that it costs a step or two


class Simulation:
    """before: the pre-equilibration condition, or ""; condition: that of the simulation, or its experiment; rows: its
    measurements"""

    def __init__(self, owner, before, condition, rows):
        self.owner, self.before, self.condition, self.rows = owner, before, condition, rows
        parts = [[row for row in rows if np.isinf(row.number_of("time")) == late] for late in (False, True)]
        self.early, self.late = (Measured(owner.equations, owner.files, owner.estimated, part) if part else None
                                 for part in parts)
        self.mapping = owner.mappings[condition]
        self.steps = 0                                   # of the last run
        self.t0, change = owner.equations.schedule.times(condition)
        self.t1 = self.t0 if self.early is None else float(self.early.times[-1])
        if change >= self.t1:                            # changes at the end of a run do not happen: it is longer
            self.t1 = change + BEYOND * max(1.0, change - self.t0)

    # ---- the start

    def start(self, p, limit):
        """y0: all initial values; those that the limit gives"""
        y = self.owner.model.start(self.t0, p)
        if limit is not None:
            y[self.kept()] = limit.y[self.kept()]
        return y

    def kept(self):
        """places in y of what pre-equilibration gives"""
        return [k for k in range(self.owner.model.n) if k not in self.mapping.reset]

    def start_tangent(self, p, dp, dlimit):
        dy = self.owner.model.start_jvp(self.t0, p, dp)
        if dlimit is not None:
            dy[self.kept()] = dlimit[self.kept()]
        return dy

    def start_adjoint(self, p, lam, limit):
        """(by p, by the limit or None)"""
        weights, by_limit = lam.copy(), None
        if limit is not None:
            by_limit = np.zeros(self.owner.model.n)
            by_limit[self.kept()] = lam[self.kept()]
            weights[self.kept()] = 0
        return self.owner.model.start_vjp(self.t0, p, weights)[0], by_limit

    def start_second(self, p, lam, lam2, dp, limit):
        weights = lam.copy()
        if limit is not None:
            weights[self.kept()] = 0
        by_p, by_limit = self.start_adjoint(p, lam2, limit)
        return by_p + self.owner.model.start_hvp(self.t0, p, weights, dp)[0], by_limit

    # ---- the parts of a simulation

    def at_infinity(self, y0, p):
        """the limit of the measurements at time inf, or None"""
        return None if self.late is None else self.owner.limit(y0, p)

    def value(self, u, limit):
        """J, and the rows with their residuals and outputs"""
        p = self.mapping.parameters(u)
        y0, J, found = self.start(p, limit), 0.0, []
        if self.early is not None:
            n = self.owner.model.n
            states = self.states(y0, p) if self.t1 > self.t0 else y0[None, :n]
            J += sum(self.early.term(k, np.ascontiguousarray(y), p, False)[0] for k, y in enumerate(states))
            found.append(self.early)
        far = self.at_infinity(y0, p)
        if far is not None:
            J += self.late.term(0, far.y, p, False)[0]
            found.append(self.late)
        return J, [(row, r, f) for of in found for row, r, f in zip(of.rows, *of.found())]

    def states(self, y0, p):
        """at the times of measurement; at that of an event after it, as sweeps see it, for which the run is recorded"""
        times, has_events = self.early.times, self.owner.model._events > 0
        run = self.owner.problem.integrate((self.t0, self.t1), y0, p, t_eval=times, record=has_events)
        return (run(times) if has_events else run.at).T

    def run(self, y0, p):
        """(Run, its Built), or (None, None) where all measurements are at the start"""
        if self.early is None or self.t1 == self.t0:
            return None, None
        run = self.owner.problem.integrate((self.t0, self.t1), y0, p)
        self.steps = run.stats["steps"]
        return run, run._b

    def at_start(self, y0, p):
        """J and its gradients (N, np), of measurements that need no run, and the way to inf"""
        J, lam, mu = 0.0, np.zeros(len(y0)), np.zeros(len(p))
        n = self.owner.model.n
        if self.early is not None and self.t1 == self.t0:
            J, lam[:n], mu = self.early.term(0, y0[:n].copy(), p)
        far = self.at_infinity(y0, p)
        if far is not None:
            of_late, w, direct = self.late.term(0, far.y, p)
            by_y0, by_p = far.apart(w)
            J, mu = J + of_late, mu + direct + by_p
            lam += by_y0
        return J, lam, mu

    def gradient(self, u, limit, estimate):
        """J, its gradient with respect to u and the limit; with estimate also the estimated errors of these"""
        p = self.mapping.parameters(u)
        y0 = self.start(p, limit)
        J, lam, mu = self.at_start(y0, p)
        errors = 0.0, np.zeros(len(y0)), np.zeros(len(p))
        run, b = self.run(y0, p)
        if run is not None and estimate:
            (of_run, lam_run, mu_run), errors = self.early.accuracy(run)
            J, lam, mu = J + of_run, lam + lam_run, mu + mu_run
        elif run is not None:
            of_run, lam_run, mu_run = self.early.gradient(run, p)
            J, lam, mu = J + of_run, lam + lam_run, mu + mu_run
        return [(value, *self.chained(p, by_y0, by_p, limit, len(u)))
                for value, by_y0, by_p in ((J, lam, mu), errors)[:2 if estimate else 1]]

    def chained(self, p, lam, mu, limit, count):
        """gradients with respect to u and the limit"""
        by_p, by_limit = self.start_adjoint(p, lam, limit)
        out = np.zeros(count)
        self.mapping.add_to(out, mu + by_p)
        return out, by_limit

    def tangent(self, u, du, limit, dlimit):
        """the derivative of J along du, by tangents alone"""
        p, dp = self.mapping.parameters(u), self.mapping.directions(du)
        y0, dy0, n = self.start(p, limit), self.start_tangent(p, dp, dlimit), self.owner.model.n
        total = 0.0
        if self.early is not None:
            run, b = self.run(y0, p)
            dy = dy0[None, :n] if run is None else run.tangent(dy0[:n], dp, at=self.early.times, **(
                {"dm": dy0[b.N - b.nm:]} if b.nm else {}))
            y = y0[None, :n] if run is None else run(self.early.times).T
            for k in range(len(self.early.times)):
                _, w, mu = self.early.term(k, np.ascontiguousarray(y[k]), p)
                total += w @ dy[k] + mu @ dp
        far = self.at_infinity(y0, p)
        if far is not None:
            _, w, mu = self.late.term(0, far.y, p)
            total += w @ far.tangent(dy0, dp) + mu @ dp
        return total

    def hessp(self, u, du, limit, dlimit):
        """J, (gradient, products) with respect to u and (w, w2) with respect to the limit, for the rows of du"""
        p, dp = self.mapping.parameters(u), self.mapping.directions(du)
        if self.late is not None or self.t1 == self.t0:
            raise CostateError("COSTATE_MISSING", f"Hessian products are not available for condition {self.condition}: "
                               "it has measurements at infinity, or at the start alone")
        y0 = self.start(p, limit)
        run, b = self.run(y0, p)
        V = np.stack([self.start_tangent(p, *along) for along in zip(dp, dlimit or [None] * len(dp))])
        J, lam, mu, lam2, mu2 = self.early.second(run, p, V, dp)
        by_p, w = self.start_adjoint(p, lam, limit)
        out, out2 = np.zeros(len(u)), np.zeros((len(dp), len(u)))
        w2 = None if w is None else np.zeros((len(dp), len(w)))
        self.mapping.add_to(out, mu + by_p)
        for k in range(len(dp)):
            by_p2, by_limit = self.start_second(p, lam, lam2[k], dp[k], limit)
            self.mapping.add_to(out2[k], mu2[k] + by_p2)
            if w is not None:
                w2[k] = by_limit
        return J, (out, out2), (w, w2)

    def replayed(self, u, moved, limit, moved_limit):
        """J of parameters `moved` and their limit, with the steps of the run at u: its differences are derivatives of
        these steps"""
        p, q, J, n = self.mapping.parameters(u), self.mapping.parameters(moved), 0.0, self.owner.model.n
        y0, y = self.start(p, limit), self.start(q, moved_limit)
        far = self.at_infinity(y, q)
        run, b = self.run(y0, p)
        if run is None:
            J += 0.0 if self.early is None else self.early.term(0, y[:n].copy(), q, False)[0]
        else:
            onto, state, at = ffi.gc(lib.costate_tape_new(), lib.costate_tape_free), y.copy(), np.empty(n)
            b.check(lib.costate_replay_onto(b.solver, run._taped(), pointer(state), pointer(q), onto))
            for k, t in enumerate(self.early.times):
                if t == self.t0 and not self.owner.model._events:
                    at[:] = y[:n]
                else:
                    b.check(lib.costate_tape_eval(b.solver, onto, t, pointer(at)))
                J += self.early.term(k, at, q, False)[0]
        return J + (0.0 if far is None else self.late.term(0, far.y, q, False)[0])
