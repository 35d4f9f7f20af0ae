"""The misfit of a fit: J = -log(posterior) of all conditions, as a function of the unknowns on their scales."""
import copy
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from costate._library import CostateError
from costate.fitting.building import check_used, experiments_of, names_of, problem_of, unknowns_of, with_quantities
from costate.fitting.data import NOISES, conditions_of
from costate.plots import variant

LEAST_RTOL = 1e-13
STEP = 1e-4             # of differences of gradients, whose errors are those of the integration
OF_SQUARES = ("normal", "parameterScaleNormal", "uniform", "parameterScaleUniform")         # priors

OF_KINKS = ("laplace", "logLaplace", "parameterScaleLaplace")


def by_differences(gradient, x):
    """the Hessian by central differences of gradients"""
    rows = [(gradient(x + d) - gradient(x - d)) / (2 * np.max(d)) for d in np.diag(STEP * (1 + np.abs(x)))]
    return (np.array(rows) + np.transpose(rows)) / 2


class Misfit:
    """J(x) = -log(likelihood) - log(priors) of measurements, with exact derivatives of the computed runs.

    x has one number for each unknown, on its scale.  Arguments as of costate.fit.

    names, scales, lower, upper, guess      of the unknowns, on their scales
    count, skipped      values that were measured, and NaN among the data
    is_least_squares    J is half the sum of squares of the residuals and a constant
    has_kinks           some noise or prior is Laplace's
    has_fisher          its Fisher information costs products of Gauss and Newton only
    sigma_unknown       all sigmas are None: residuals are not divided by them, and J is half the sum of squares"""

    has_fisher = True

    def __init__(self, problem, data, guess, *, y0=None, p=None, t0=0.0, states=None, parameters=None, threads=None):
        conditions = conditions_of(data)
        self.problem = problem_of(problem, conditions)
        names = names_of(self.problem, states, parameters, y0, p, guess, conditions)
        self.unknowns, self.guess = unknowns_of(guess, names.parameters)
        for name in ("names", "scales", "lower", "upper"):
            setattr(self, name, getattr(self.unknowns, name))
        self.experiments = experiments_of(with_quantities(conditions, self.problem, names), self.problem, names,
                                          self.unknowns, y0, p, t0)
        check_used(self.experiments, self.unknowns)
        self.count = sum(e.count for e in self.experiments)
        self.skipped = sum(d.skipped for e in self.experiments for d in e.data)
        self.is_least_squares = self._is_least_squares()
        self.sigma_unknown = self._is_sigma_unknown()
        self.has_kinks = any(of is not None and of[0] in OF_KINKS for of in self.unknowns.priors) or any(
            NOISES[word][1] == "laplace" for e in self.experiments for d in e.data for word in d.noise)
        self._has_hessian = None                # known once it is asked
        if threads is not None and threads < 1:
            raise ValueError(f"threads is {threads}: expected 1 or more, or None: as many as there are processors")
        self._threads, self._pool, self._lock = threads or os.cpu_count() or 1, None, threading.RLock()

    def __repr__(self):
        parts = (len(self.names), "unknown"), (len(self.experiments), "condition"), (self.count, "value")
        return "<Misfit: " + ", ".join(f"{k} {what}{'s' * (k != 1)}" for k, what in parts) + \
               (f", {self.skipped} not measured>" if self.skipped else ">")

    @property
    def normal_priors(self):
        """their number: each is one residual more"""
        return sum(of is not None and of[0] in ("normal", "parameterScaleNormal") for of in self.unknowns.priors)

    @property
    def conditions(self):
        """their number"""
        return len(self.experiments)

    @property
    def rtol(self):
        """the smallest of all conditions"""
        return min(float(np.min(1e-6 if e.problem.rtol is None else e.problem.rtol)) for e in self.experiments)

    def _is_least_squares(self):
        plain = all(NOISES[word][1] == "normal" for e in self.experiments for d in e.data for word in d.noise)
        known = all(sigma is None or isinstance(sigma, np.ndarray)
                    for e in self.experiments for d in e.data for sigma in d.sigma)
        free = not any(np.any(d.censored) for e in self.experiments for d in e.data)
        return plain and known and free and all(of is None or of[0] in OF_SQUARES for of in self.unknowns.priors)

    def _is_sigma_unknown(self):
        without = {sigma is None for e in self.experiments for d in e.data for sigma in d.sigma}
        if without == {True, False}:
            raise ValueError("sigma is None for some of the data and given for others: it is unknown for all or none")
        if True in without and (not self.is_least_squares or self.normal_priors):
            raise ValueError("sigma is None: that is for normal noise without censored values and without priors; give "
                             "sigma, or make it an unknown")
        return True in without

    def with_factor(self, factor):
        """the same misfit, integrated with tolerances that are `factor` times those of the problem"""
        other = copy.copy(self)
        other._pool, other._lock, other.experiments, problems = None, threading.RLock(), [], {}
        for e in self.experiments:
            new = copy.copy(e)
            if id(e.problem) not in problems:
                rtol, atol = (np.asarray(1e-6 if tol is None else tol, dtype=float)
                              for tol in (e.problem.rtol, e.problem.atol))
                part = max(factor, LEAST_RTOL / float(np.min(rtol)))
                problems[id(e.problem)] = e.problem if part == 1 else variant(
                    e.problem, rtol=part * rtol, atol=part * atol)
            new.problem, new.known, new.likelihood = problems[id(e.problem)], None, None
            other.experiments.append(new)
        return other

    @property
    def has_hessian(self):
        """Have all functions second derivatives?  Else the Hessian is by differences of gradients"""
        if self._has_hessian is None:
            self._exact_hessian(self.guess)
        return self._has_hessian

    def _exact_hessian(self, x):
        """(K, K), or None"""
        try:
            found = self.products(x, np.eye(len(x)))
        except CostateError as error:
            if error.status != "COSTATE_MISSING":
                raise
            self._has_hessian = False
            return None
        self._has_hessian = True
        return (found + found.T) / 2

    # ---- conditions, in threads

    def _map(self, call):
        if self._threads == 1 or len(self.experiments) < 2:
            return [call(e) for e in self.experiments]
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._threads)
        return list(self._pool.map(call, self.experiments))

    # ---- calls

    def value(self, x):
        """J"""
        u = self.unknowns.unscaled(x)[0]
        if self.sigma_unknown:
            return float(np.sum(self.residuals(x)**2) / 2)
        return float(sum(J for J, _, _ in self._map(lambda e: e.value(u))) - self.unknowns.log_prior(x)[0])

    def outputs(self, x):
        """(residuals, outputs) of each condition, in the order of its rows"""
        u = self.unknowns.unscaled(x)[0]
        return [found[1:] for found in self._map(lambda e: e.value(u))]

    def residuals(self, x):
        """(s(output) - s(value))/sigma of all values, followed by one of each normal prior: (m,)"""
        return np.concatenate([*(r for r, _ in self.outputs(x)), self._of_priors(x)[0]])

    def jacobian(self, x):
        """of the residuals: (m, number of unknowns)"""
        u, du, _ = self.unknowns.unscaled(x)
        parts = self._map(lambda e: e.jacobian(u, np.diag(du)))
        return np.vstack([*parts, self._of_priors(x)[1]])

    def _of_priors(self, x):
        """residuals of normal priors, and their Jacobian"""
        u, du, _ = self.unknowns.unscaled(x)
        r, J = [], []
        for k, prior in enumerate(self.unknowns.priors):
            if prior is not None and prior[0] in ("normal", "parameterScaleNormal"):
                on_x, (mean, deviation) = prior[0] != "normal", prior[1]
                r.append(((x[k] if on_x else u[k]) - mean) / deviation)
                J.append(np.eye(len(x))[k] * (1.0 if on_x else du[k]) / deviation)
        return np.array(r), np.array(J).reshape(len(r), len(x))

    def gradient(self, x):
        """of J: (number of unknowns,), by one adjoint of each condition"""
        u, du, _ = self.unknowns.unscaled(x)
        return du * sum(g for _, g in self._map(lambda e: e.gradient(u))) - self._prior(x)[1]

    def _prior(self, x):
        value, first, second = self.unknowns.log_prior(x)
        return value, first, second

    def products(self, x, dx, gauss_newton=False):
        """The Hessian, or with gauss_newton that of Gauss and Newton, times the rows of dx (m, number of unknowns)"""
        u, du, ddu = self.unknowns.unscaled(x)
        parts = self._map(lambda e: e.second(u, dx * du, gauss_newton))
        _, of_prior, curved = self.unknowns.log_prior(x, gauss_newton)
        products = du * sum(product for _, _, product in parts) - curved * dx
        if gauss_newton:
            return products
        return products + ddu * dx * sum(g for _, g, _ in parts)

    def hessp(self, x, dx):
        """the Hessian times dx"""
        return self.products(x, np.asarray(dx, dtype=float)[None])[0]

    def gauss_newton(self, x, dx):
        """Gauss and Newton's Hessian - the Fisher information of normal and Laplace noise - times dx"""
        return self.products(x, np.asarray(dx, dtype=float)[None], True)[0]

    def curvature(self, x):
        """what standard errors are made of: the Hessian; of Laplace noise, which has kinks, the Fisher information"""
        return self.fisher(x) if self.has_kinks else self.hessian(x)

    def fisher(self, x):
        """the Hessian of Gauss and Newton as a matrix"""
        return self.products(x, np.eye(len(x)), True)

    def hessian(self, x):
        """(K, K), in one sweep over each run"""
        found = None if self._has_hessian is False else self._exact_hessian(x)
        return by_differences(self.gradient, x) if found is None else found

    def gradient_error(self, x):
        """an estimate of (exact - computed) of the gradient, from the error of the integration"""
        u, du, _ = self.unknowns.unscaled(x)
        return du * sum(self._map(lambda e: e.accuracy(u)))
