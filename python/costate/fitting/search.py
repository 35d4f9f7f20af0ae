"""Searches for the minimum of a misfit by SciPy's optimisers, with exact first and second derivatives.

Least squares go to scipy.optimize.least_squares, other likelihoods to its methods trust-exact and trust-krylov, and
those with Laplace noise, whose minima are often kinks, to L-BFGS-B and from there to Nelder-Mead.  The trust-region
methods know no bounds: they minimise J(P x), where P moves x into the bounds.  Its derivative with respect to a
component that P moves is 0.  Unknowns are scaled by 1/sqrt(H_ii) for them, which makes all of them numbers of about one
size."""
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from costate._library import CostateError
from costate.result import Result

FINE, LOOSE = 1e-9, 1e-4        # relative changes of J and x at which a search ends; LOOSE: with coarse tolerances
KRYLOV = 40                     # from so many unknowns on, Hessian products take the place of the Hessian
ROUNDS = 8                      # of searches between which bounds are reconsidered
TOUCHES = 1e-7                  # of the size of a bound: so near, it holds the unknown
LARGE = 1e3             # J of a trial that fails, relative to the first one
SIMPLEX = (0.3, 0.1)    # of standard errors: first edges of Nelder-Mead, which begins again once
SINGULAR = 1e20         # times the curvature at the start: J has no minimum, and SciPy's trust-exact would not end
FAILED = (CostateError, ArithmeticError)


class Reduced:
    """A misfit as a function of the unknowns that are free; the others keep their values in `at`"""

    def __init__(self, misfit, at, free):
        self.misfit, self.at = misfit, np.array(at, dtype=float)
        self.free = np.ones(len(self.at), dtype=bool) if free is None else np.asarray(free, dtype=bool)
        self.lower, self.upper = misfit.lower[self.free], misfit.upper[self.free]
        self.evaluations, self.failure = 0, None

    def whole(self, z):
        x = self.at.copy()
        x[self.free] = z
        return x

    def guarded(self, call, otherwise, count=1):
        """what a trial gives where the run fails"""
        self.evaluations += count
        try:
            return call()
        except FAILED as error:
            self.failure = error
            return otherwise

    def start(self):
        """the first point, which must have a value: else why it has none"""
        z = np.clip(self.at[self.free], self.lower, self.upper)
        if not np.isfinite(self.misfit.value(self.whole(z))):
            raise ValueError("the likelihood of the first point is no finite number: with logarithmic noise outputs "
                             "must be positive wherever there is a value, also at t0; leave out values where they "
                             "are 0, or begin from another guess")
        return z


def minimise(misfit, x, free=None, loose=False, method=None):
    """Result: x, J, evaluations, converged, message, held: a mask of the unknowns at their bounds"""
    reduced = Reduced(misfit, x, free)
    z = reduced.start()
    if len(z) == 0:
        return finished(reduced, z, True, "", np.zeros(0, dtype=bool))
    search = chosen(misfit, len(z), method)
    return search(reduced, z, LOOSE if loose else FINE)


def chosen(misfit, count, method):
    if method is None:
        method = "least_squares" if misfit.is_least_squares else "Nelder-Mead" if misfit.has_kinks else \
            "L-BFGS-B" if not misfit.has_hessian else "trust-exact" if count < KRYLOV else "trust-krylov"
    if method == "least_squares" and not misfit.is_least_squares:
        raise ValueError("method='least_squares' needs normal noise with given sigmas, and no censored values; leave "
                         "out method")
    searches = {"least_squares": least_squares, "L-BFGS-B": quasi_newton, "Nelder-Mead": simplex,
                "trust-exact": lambda *at: trust_region(*at, "trust-exact"),
                "trust-krylov": lambda *at: trust_region(*at, "trust-krylov")}
    if method not in searches:
        raise ValueError(f"method is {method!r}: one of {', '.join(map(repr, searches))}")
    return searches[method]


def finished(reduced, z, converged, message, held):
    x = reduced.whole(z)
    mask = np.zeros(len(x), dtype=bool)
    mask[np.flatnonzero(reduced.free)[held]] = True
    return Result(x=x, J=reduced.misfit.value(x), evaluations=reduced.evaluations, converged=bool(converged),
                  message=message, held=mask)


def touching(z, lower, upper):
    """-1, 0 or 1: at which bound a component is"""
    low, high = (TOUCHES * np.abs(np.where(np.isfinite(bound), bound, 0)) for bound in (lower, upper))
    return np.where(z <= lower + low, -1, 0) + np.where(z >= upper - high, 1, 0)


def inverted(size):
    """1/size, or 1 where there is none: widths of unknowns"""
    return np.divide(1.0, size, out=np.ones(np.shape(size)), where=(size > 0) & np.isfinite(size))


def least_squares(reduced, z, tol):
    """Residuals relative to the first ones, and unknowns relative to what moves residuals by as much: the tolerances of
    SciPy's search are absolute, and would otherwise depend on units"""
    from scipy.optimize import least_squares as search
    misfit, first = reduced.misfit, misfit_residuals(reduced, z)
    size = np.linalg.norm(first) or 1.0
    width = size * inverted(np.linalg.norm(misfit.jacobian(reduced.whole(z))[:, reduced.free], axis=0))
    lower, upper = reduced.lower / width, reduced.upper / width

    def residuals(s):
        return reduced.guarded(lambda: misfit_residuals(reduced, s * width) / size, np.full(len(first), np.nan))

    def jacobian(s):
        return misfit.jacobian(reduced.whole(s * width))[:, reduced.free] * (width / size)
    found = search(residuals, np.clip(z / width, lower, upper), jac=jacobian, x_scale="jac", bounds=(lower, upper),
                   ftol=tol, xtol=tol, gtol=tol * 1e-3)
    return finished(reduced, np.clip(found.x * width, reduced.lower, reduced.upper), found.status > 0, found.message,
                    found.active_mask != 0)


def misfit_residuals(reduced, z):
    return reduced.misfit.residuals(reduced.whole(z))


def widths(reduced, z):
    """standard errors of the unknowns one by one, as Fisher's information has them; 1 where there is none"""
    if not reduced.misfit.has_fisher:
        return np.ones(len(z))
    return inverted(np.sqrt(np.abs(np.diag(reduced.misfit.fisher(reduced.whole(z))))[reduced.free]))


def quasi_newton(reduced, z, tol):
    """where there are no Hessian products"""
    from scipy.optimize import minimize
    worst, width = reduced.misfit.value(reduced.whole(z)), widths(reduced, z)
    worst += LARGE * (1 + abs(worst))           # where a run fails: a number with which a line search interpolates

    def point(s):
        return reduced.whole(np.clip(s * width, reduced.lower, reduced.upper))
    found = minimize(lambda s: reduced.guarded(lambda: reduced.misfit.value(point(s)), worst), z / width,
                     jac=lambda s: reduced.guarded(lambda: reduced.misfit.gradient(point(s))[reduced.free] * width,
                                                   np.zeros(len(z)), 0), method="L-BFGS-B",
                     bounds=list(zip(reduced.lower / width, reduced.upper / width)),
                     options=dict(ftol=1e-3 * tol, gtol=1e-6, maxiter=1000))
    z = point(found.x)[reduced.free]
    return finished(reduced, z, found.success, str(found.message), touching(z, reduced.lower, reduced.upper) != 0)


def simplex(reduced, z, tol):
    """from where L-BFGS-B ends, with steps of a part of the standard errors"""
    from scipy.optimize import minimize
    found = quasi_newton(reduced, z, tol)
    if tol == LOOSE:
        return found
    z, misfit = found.x[reduced.free], reduced.misfit
    width = widths(reduced, z)

    def value(s):
        return reduced.guarded(lambda: misfit.value(reduced.whole(s * width)), np.inf)
    bounds = list(zip(reduced.lower / width, reduced.upper / width))
    for part in SIMPLEX:
        start = np.clip(np.vstack([z, z + part * np.diag(width)]), reduced.lower, reduced.upper)
        polished = minimize(value, z / width, method="Nelder-Mead", bounds=bounds,
                            options=dict(initial_simplex=start / width, xatol=1e-5, fatol=1e-9, maxiter=400 * len(z)))
        z = np.clip(polished.x * width, reduced.lower, reduced.upper)
    return finished(reduced, z, polished.success, str(polished.message), touching(z, reduced.lower, reduced.upper) != 0)


class Projected:
    """J(P x) of scaled unknowns, with zero derivatives of the components that P moves, and of those in `held`"""

    def __init__(self, reduced, scale, held):
        self.reduced, self.scale, self.held = reduced, scale, held
        self.last, self.least = (None, np.inf), np.inf          # (s, J) of the last trial, and the smallest J of all

    def point(self, s):
        z = np.array(s) * self.scale
        return self.reduced.whole(np.clip(z, self.reduced.lower, self.reduced.upper)), \
            self.held | (z < self.reduced.lower) | (z > self.reduced.upper)

    def value(self, s):
        if self.last[0] is None or not np.array_equal(s, self.last[0]):
            J = self.reduced.guarded(lambda: self.reduced.misfit.value(self.point(s)[0]), np.inf)
            self.last = np.array(s), np.inf if np.isnan(J) else J
            self.least = min(self.least, self.last[1])
        return self.last[1]

    def gradient(self, s):
        x, moved = self.point(s)
        return np.where(moved, 0, self.reduced.misfit.gradient(x)[self.reduced.free] * self.scale)

    def hessian(self, s):
        """trust-exact asks for it at each trial, before it knows J there: also at those that it then rejects"""
        if self.value(s) == np.inf:
            return np.eye(len(s))
        x, moved = self.point(s)
        H = self.reduced.misfit.hessian(x)[np.ix_(self.reduced.free, self.reduced.free)]
        H = H * np.outer(self.scale, self.scale)
        if not np.max(np.abs(H)) <= SINGULAR:
            if self.value(s) > self.least:
                return np.eye(len(s))
            raise ArithmeticError("the likelihood grows without limit: mostly a standard deviation that is an unknown "
                                  "tends to 0, because the model meets its values exactly; give it a lower bound, or "
                                  "sigma as a number")
        H[moved], H[:, moved] = 0, 0
        return H

    def hessp(self, s, d):
        x, moved = self.point(s)
        along = np.zeros(len(x))
        along[self.reduced.free] = np.where(moved, 0, d * self.scale)
        product = self.reduced.misfit.hessp(x, along)[self.reduced.free] * self.scale
        return np.where(moved, 0, product)


def trust_region(reduced, z, tol, method):
    from scipy.optimize import minimize
    misfit = reduced.misfit
    for _ in range(ROUNDS):
        scale = widths(reduced, z)
        slope, side = misfit.gradient(reduced.whole(z))[reduced.free], touching(z, reduced.lower, reduced.upper)
        held = (side != 0) & (slope * side <= 0)
        of = Projected(reduced, scale, held)
        second = dict(hess=of.hessian) if method == "trust-exact" else dict(hessp=of.hessp)
        found = minimize(of.value, z / scale, jac=of.gradient, method=method, **second,
                         options=dict(gtol=np.sqrt(tol) * 0.1, maxiter=200))
        before, z = z, np.clip(found.x * scale, reduced.lower, reduced.upper)
        side = touching(z, reduced.lower, reduced.upper)
        slope = misfit.gradient(reduced.whole(z))[reduced.free]
        left = np.where((side != 0) & (slope * side <= 0), 0, slope * scale)
        if np.linalg.norm(left) <= np.sqrt(tol) or np.array_equal(before, z):
            break
    return finished(reduced, z, np.linalg.norm(left) <= 10 * np.sqrt(tol), str(found.message), side != 0)


# ---- several starts -------------------------------------------------------------------------------------------------

def spread(misfit, starts, seed):
    """the guess, and starts - 1 points of a Latin hypercube between the bounds"""
    if starts == 1:
        return [misfit.guess]
    open_ = [name for name, low, high in zip(misfit.names, misfit.lower, misfit.upper)
             if not (np.isfinite(low) and np.isfinite(high))]
    if open_:
        raise ValueError(f"starts={starts} needs finite bounds of all unknowns between which starts are spread; "
                         f"{', '.join(open_)} has none: give Unknown(guess, low, high)")
    from scipy.stats import qmc
    cube = qmc.LatinHypercube(len(misfit.guess), seed=seed).random(starts - 1)
    return [misfit.guess, *(misfit.lower + cube * (misfit.upper - misfit.lower))]


def from_all(misfit, points, threads, progress, **more):
    """a Result of each start; J is NaN where a search failed, with the reason in message"""
    if len(points) == 1:
        return [minimise(misfit, points[0], **more)]

    def one(x):
        alone = misfit.with_factor(1.0)
        alone._threads = 1
        try:
            return minimise(alone, x, **more)
        except FAILED as error:
            return Result(x=x, J=np.nan, evaluations=0, converged=False, message=str(error), held=x != x)
    with ThreadPoolExecutor(threads) as pool:
        return list(shown(pool.map(one, points), len(points), progress))


def shown(items, count, progress):
    """the items, with a bar of progress: on a terminal, if tqdm is installed"""
    try:
        from tqdm import tqdm
    except ImportError:
        return items
    import sys
    return tqdm(items, total=count, unit="start", leave=False,
                disable=not (sys.stderr.isatty() if progress is None else progress))
