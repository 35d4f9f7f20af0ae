"""Fits: unknowns of models from measurements, with their errors, over the optimisers of SciPy.

fit             the estimates, a Fit: costate.fit
Measurements, Condition, Unknown    what it is given: measured values, experiments, bounds and scales
Misfit          what it minimises: value, residuals, Jacobian, gradient, Hessian and Gauss-Newton products
Fit, Profile    what it returns
read_table      measurements of a file
of_petab        the Fit of a PEtab problem"""
from costate.fitting.data import Condition, Measurements, read_table
from costate.fitting.estimate import fit, fitted
from costate.fitting.misfit import Misfit
from costate.fitting.profiles import Profile
from costate.fitting.result import Direction, Fit
from costate.fitting.unknowns import Unknown

__all__ = ["Condition", "Direction", "Fit", "Measurements", "Misfit", "Profile", "Unknown", "fit", "fitted", "of_petab",
           "read_table"]


def of_petab(problem, **more):
    """The Fit of a costate.petab.Problem, or of its problem.yaml; more: starts, seed, threads, method, tol, progress,
    as of fit"""
    from costate.fitting.petab_problem import OfPetab
    return fitted(OfPetab(problem), **more)
