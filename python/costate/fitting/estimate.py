"""costate.fit: estimates of unknowns from measurements, with their errors."""
import importlib.util
import os

import numpy as np

from costate.fitting.misfit import Misfit
from costate.fitting.result import Fit
from costate.fitting.search import from_all, minimise, spread

COARSE, COARSEST = 100.0, 1e-3          # factor of the tolerances of the first search, and the largest rtol of it
SMALLEST = 1e-12                        # rtol below which tolerances are not reduced
ROUNDS = 5                              # of tighter tolerances
SAFE = 0.3                              # tolerances are reduced by this much more than the estimates ask for


def fit(problem, data, guess, *, y0=None, p=None, t0=0.0, states=None, parameters=None, starts=1, seed=0, threads=None,
        method=None, tol=0.01, progress=None):
    """Fits unknowns of a model to measurements: a Fit, with estimates, standard errors and what the data do not
    determine.

    problem     a Problem or a Model
    data        Measurements; several conditions: a list or a dictionary of Condition, which run in threads
    guess       {name: number or Unknown}: parameters; initial values as "y0[NAME]"; names in expressions of the data
                and in p or y0 of conditions.  The names of functions' parameters and states are p[0], y0[0], ...  An
                array: all parameters
    y0, p       of all conditions: numbers, or dictionaries by name; None: those of the Model
    t0          where runs begin
    states, parameters      names of what functions call y and p
    starts      searches: from the guess, and from points spread between the bounds with this seed, in threads
    method      of the search: None, "least_squares", "trust-exact", "trust-krylov" or "L-BFGS-B" of SciPy
    tol         tolerances of the integration are reduced until its error changes no estimate by more than this part of
                its standard error
    progress    of several starts: True, False, or None: on a terminal

    Raises ValueError with a sentence where arguments are wrong, CostateError where the run at the guess fails."""
    misfit = Misfit(problem, data, guess, y0=y0, p=p, t0=t0, states=states, parameters=parameters, threads=threads)
    return fitted(misfit, starts=starts, seed=seed, threads=threads, method=method, tol=tol, progress=progress)


def fitted(misfit, *, starts=1, seed=0, threads=None, method=None, tol=0.01, progress=None):
    """the Fit of a Misfit"""
    if importlib.util.find_spec("scipy") is None:
        raise ImportError("costate.fit searches with SciPy, which is not installed (Debian: python3-scipy)")
    if not isinstance(starts, (int, np.integer)) or starts < 1:
        raise ValueError(f"starts is {starts!r}: expected a number of searches, 1 or more")
    if not tol > 0:
        raise ValueError(f"tol is {tol}: expected a positive part of a standard error, as 0.01")
    points, factor = spread(misfit, int(starts), seed), 1.0
    coarse = misfit.with_factor(min(COARSE, max(1.0, COARSEST / misfit.rtol)))
    found = from_all(coarse, points, threads or os.cpu_count() or 1, progress, loose=True, method=method)
    failed = [one.message for one in found if np.isnan(one.J)]
    if len(failed) == len(found):
        raise ValueError(f"no start could be integrated: {failed[0]}")
    best = min((one for one in found if not np.isnan(one.J)), key=lambda one: one.J)
    evaluations = sum(one.evaluations for one in found)
    for _ in range(ROUNDS):
        finer = misfit.with_factor(factor)
        best = minimise(finer, best.x, method=method)
        evaluations += best.evaluations
        result = Fit(finer, best, found if len(found) > 1 else [best], evaluations)
        if not result.relative_integration > tol or finer.rtol <= SMALLEST:
            break
        factor *= max(1e-3, SAFE * tol / result.relative_integration)
    return result
