"""A PEtab problem: the logarithm of the likelihood of its measurements, with exact derivatives and estimated errors."""
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from costate import problem as problems
from costate.petab.limit import Limit
from costate.petab.files import read
from costate.petab.model import Equations
from costate.petab.simulation import Simulation
from costate.result import Result


class Problem:
    """A parameter estimation problem in the format PEtab, version 1 or 2; costate.petab.load makes it.

    names, scales, lower, upper, nominal    of the estimated parameters, on their scales: what x consists of
    priors      their priors, (kind, numbers) or None; they count where `posterior` is True
    conditions  [(pre-equilibration or "", condition or experiment), ...]: what is simulated
    model, problem      the equations, a costate.Model, and the costate.Problem that solves them
    preequilibration    {condition: how its limit was found in the last call}"""

    def __init__(self, path, *, posterior=False, threads=None, rtol=1e-8, atol=1e-12, model=None, **options):
        self.files = read(path)
        self.estimated = self.files.estimated(self.files.parameters)
        for name in ("names", "scales", "lower", "upper", "nominal", "priors"):
            setattr(self, name, getattr(self.estimated, name))
        self.posterior, self.preequilibration = bool(posterior), {}
        self.equations = Equations(self.files, self.files.path.stem, model or {})
        self.model = self.equations.model
        self.problem = problems.Problem(self.model, rtol=rtol, atol=atol, **options)
        groups = {}
        for row in self.files.measurements:
            if row.text("measurement").lower() != "nan":
                groups.setdefault(self.files.key(row), []).append(row)
        of, schedule = (self.equations, self.estimated), self.equations.schedule
        self.before = {id_: schedule.before(*of, id_) for id_ in dict.fromkeys(id_ for id_, _ in groups if id_)}
        self.mappings = {id_: schedule.mapping(*of, id_) for _, id_ in groups}
        self.simulations = [Simulation(self, *key, rows) for key, rows in groups.items()]
        self.conditions = list(groups)
        self._threads, self._pool, self._lock = threads or os.cpu_count() or 1, None, threading.RLock()

    def __repr__(self):
        return f"<PEtab problem {self.files.path.stem}: {len(self.names)} estimated parameters, " \
               f"{len(self.conditions)} conditions, {len(self.files.measurements)} measurements, {self.model.n} states>"

    # ---- calls

    def value(self, x=None):
        """The logarithm of the likelihood at x, or at the nominal parameters; with `posterior`, plus that of the
        priors"""
        return -sum(J for J, _ in self._all("value", x)) + self._prior(x)[0]

    def residuals(self, x=None):
        """Result: measurement, output, residual - (s(output) - s(measurement))/sigma with the scale s of the observable
        -, and observable, condition and time of each measurement"""
        found = [item for _, rows in self._all("value", x) for item in rows]
        rows = [row for row, _, _ in found]
        return Result(measurement=np.array([row.number_of("measurement") for row in rows]),
                      output=np.array([f for _, _, f in found]), residual=np.array([r for _, r, _ in found]),
                      observable=[row.text("observableId") for row in rows],
                      condition=[self.files.key(row)[1] for row in rows],
                      time=np.array([row.number_of("time") for row in rows]), rows=rows)

    def gradient(self, x=None, *, estimate=False):
        """Result: value and gradient (with respect to x), by adjoints; with estimate also error.value and
        error.gradient, estimates of (exact - computed)"""
        _, du, _ = self.estimated.unscaled(self._x(x))
        found, limits = self._all("gradient", x, estimate), self._limits
        sums = [self._summed([item[k] for item in found], limits) for k in range(1 + bool(estimate))]
        for id_, w in self._by_limit([item[0] for item in found]).items() if estimate else ():
            of_value, of_gradient = limits[id_].errors(w)
            sums[1] = sums[1][0] + of_value, sums[1][1]
            self.before[id_].add_to(sums[1][1], of_gradient)
        prior = self._prior(x)
        result = Result(value=prior[0] - sums[0][0], gradient=prior[1] - sums[0][1] * du)
        if estimate:
            result.error = Result(value=-sums[1][0], gradient=-sums[1][1] * du)
        return result

    def _summed(self, parts, limits):
        """J and its gradient with respect to u, through the limits"""
        value, gradient = sum(J for J, _, _ in parts), sum((by_u for _, by_u, _ in parts), np.zeros(len(self.names)))
        for id_, w in self._by_limit(parts).items():
            self.before[id_].add_to(gradient, limits[id_].adjoint(w))
        return value, gradient

    def _by_limit(self, parts):
        """{pre-equilibration condition: gradient with respect to its limit}"""
        out = {}
        for simulation, (_, _, w) in zip(self.simulations, parts):
            if w is not None:
                out[simulation.before] = out.get(simulation.before, 0) + w
        return out

    def tangent(self, dx, x=None):
        """The derivative of the value along dx, by tangents alone: what gradient(x).gradient @ dx must be"""
        _, first, _ = self.estimated.unscaled(self._x(x))
        du = first * np.asarray(dx, dtype=float)
        return self._prior(x)[1] @ dx - sum(self._all("tangent", x, along=du))

    def hessp(self, dx, x=None):
        """Result: value, gradient, and product, the Hessian with respect to x times dx: one direction, or the columns
        of dx, which share one run of each condition"""
        dx = np.asarray(dx, dtype=float)
        rows = np.atleast_2d(dx.T)
        _, first, second = self.estimated.unscaled(self._x(x))
        found = self._all("hessp", x, along=first * rows)
        J, by_u, product = 0.0, np.zeros(len(dx)), np.zeros(rows.shape)
        seeds = {}
        for simulation, (value, (g, h), (w, w2)) in zip(self.simulations, found):
            J, by_u, product = J + value, by_u + g, product + h
            if w is not None:
                before = seeds.get(simulation.before, (0, 0))
                seeds[simulation.before] = before[0] + w, before[1] + w2
        for id_, (w, w2) in seeds.items():
            mapping, limit = self.before[id_], self._limits[id_]
            mapping.add_to(by_u, limit.adjoint(w))
            for k, along in enumerate(mapping.directions(first * rows)):
                mapping.add_to(product[k], limit.second(w, w2[k], along))
        prior = self._prior(x)
        product = prior[2] * rows - first * product - second * rows * by_u
        return Result(value=prior[0] - J, gradient=prior[1] - first * by_u,
                      product=product[0] if dx.ndim == 1 else product.T)

    @property
    def steps(self):
        """of the last runs whose derivatives were computed, without pre-equilibration"""
        return sum(s.steps for s in self.simulations)

    # ---- the conditions, in threads

    def _x(self, x):
        return self.nominal if x is None else np.asarray(x, dtype=float)

    def _prior(self, x):
        none = 0.0, np.zeros(len(self.names)), np.zeros(len(self.names))
        return self.estimated.log_prior(self._x(x)) if self.posterior else none

    def _map(self, call, items):
        if self._threads == 1 or len(items) < 2:
            return [call(item) for item in items]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads)
        return list(self._pool.map(call, items))

    def limit(self, start, p):
        return Limit(self.problem, start, p, self.equations.on_the_way())

    def _all(self, what, x, *arguments, along=None):
        """of each simulation"""
        with self._lock:
            u, _, _ = self.estimated.unscaled(self._x(x))
            if np.any(~np.isfinite(u)):
                raise ValueError(f"{self.names[int(np.argmin(np.isfinite(u)))]} is not finite: the table of parameters "
                                 "gives it no nominal value, or x has none")
            before = list(dict.fromkeys(s.before for s in self.simulations if s.before))
            limits = self._limits = dict(zip(before, self._map(
                lambda id_: self.limit(None, self.before[id_].parameters(u)), before)))
            self.preequilibration = {id_: limit.way for id_, limit in limits.items()}
            if along is None:
                return self._map(lambda s: getattr(s, what)(u, limits.get(s.before), *arguments), self.simulations)
            moved = {id_: [limit.tangent(None, d) for d in np.atleast_2d(self.before[id_].directions(along))]
                     for id_, limit in limits.items()}
            if np.ndim(along) == 1:
                moved = {id_: only for id_, (only,) in moved.items()}
            return self._map(lambda s: getattr(s, what)(u, along, limits.get(s.before), moved.get(s.before)),
                             self.simulations)

    def replayed(self, x, moved):
        """The value at `moved`, with the steps of the runs at x: differences of it are derivatives of these steps"""
        u, v = (self.estimated.unscaled(self._x(z))[0] for z in (x, moved))
        with self._lock:
            limits = [{id_: self.limit(None, self.before[id_].parameters(w)) for id_ in
                       dict.fromkeys(s.before for s in self.simulations if s.before)} for w in (u, v)]
            found = self._map(lambda s: s.replayed(u, v, *(of.get(s.before) for of in limits)), self.simulations)
        return self._prior(moved)[0] - sum(found)
