"""A PEtab problem as what a fit minimises: J = -log(likelihood), or with its priors."""
import copy

import numpy as np

from costate._library import CostateError
from costate.fitting.misfit import LEAST_RTOL, by_differences
from costate.plots import variant


class OfPetab:
    """The members of a Misfit that searches and the Fit use; see there"""

    is_least_squares, sigma_unknown, has_kinks, normal_priors, experiments = False, False, False, 0, ()

    def __init__(self, problem):
        if not hasattr(problem, "simulations"):
            from costate.petab import load
            problem = load(problem)
        self.problem, self.unknowns = problem, problem.estimated
        for name in ("names", "scales", "lower", "upper"):
            setattr(self, name, getattr(problem, name))
        if not self.names:
            raise ValueError(f"{problem!r} has no parameter that is to be estimated")
        self.guess = np.clip(problem.nominal, problem.lower, problem.upper)
        unset = [name for name, x in zip(self.names, self.guess) if not np.isfinite(x)]
        if unset:
            raise ValueError(f"{', '.join(unset)} has no finite nominal value to start from")
        measured = [row.text("measurement").lower() != "nan" for row in problem.files.measurements]
        self.count, self.skipped, self.conditions = sum(measured), measured.count(False), len(problem.conditions)
        self.has_hessian = self.has_fisher = self._has_hessian()

    def __repr__(self):
        return repr(self.problem)

    def _has_hessian(self):
        try:
            self.hessp(self.guess, np.zeros(len(self.guess)))
        except CostateError:
            return False
        return True

    @property
    def rtol(self):
        return float(np.min(self.problem.problem.rtol))

    def with_factor(self, factor):
        other, of = copy.copy(self), self.problem
        part = max(factor, LEAST_RTOL / self.rtol)
        problem = other.problem = copy.copy(of)
        problem.problem = variant(of.problem, rtol=part * np.asarray(of.problem.rtol), atol=part * np.asarray(
            of.problem.atol))
        problem.simulations = [type(s)(problem, s.before, s.condition, s.rows) for s in of.simulations]
        problem._pool = None
        return other

    @property
    def _threads(self):
        return self.problem._threads

    @_threads.setter
    def _threads(self, count):
        self.problem._threads = count

    def value(self, x):
        return -float(self.problem.value(x))

    def gradient(self, x):
        return -self.problem.gradient(x).gradient

    def hessp(self, x, dx):
        return -self.problem.hessp(dx, x).product

    def hessian(self, x):
        """by differences of gradients where a limit has no second derivatives"""
        if not self.has_hessian:
            return by_differences(self.gradient, x)
        H = self.hessp(x, np.eye(len(x)))
        return (H + H.T) / 2

    curvature = hessian

    def fisher(self, x):
        """the Hessian takes its place: PEtab problems have no products of Gauss and Newton"""
        return self.hessian(x)

    def residuals(self, x):
        return self.problem.residuals(x).residual

    def gradient_error(self, x):
        return -self.problem.gradient(x, estimate=True).error.gradient
