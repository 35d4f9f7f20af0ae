"""Profile likelihoods: for each value of one unknown J is minimised over the others, from the last minimum on.

The interval contains the values where 2 (J - J^) is at most q^2, the quantile of its chi-squared distribution with one
degree of freedom, in units of s^2 where sigma is unknown.  r = +-sqrt(2 (J - J^)), which is linear in x where J is
quadratic, is followed in steps of about q/4 and solved for r = q."""
import numpy as np

from costate.fitting.search import FAILED, minimise
from costate.fitting.unknowns import LINEAR, LN10

STEP = 0.25             # of the quantile, between two points
MOST = 60               # points of one side
FAR = 100.0             # so many widths of Laplace's interval away, without the limit being reached: there is none
FIRST, FARTHEST = 0.1, 1e4      # the same in units of the estimate, where Laplace's interval is wider than that
DECADES = 10            # the same on logarithmic scales
LOWER = 1e-3            # J that a profile may find below the minimum, in units of s^2, until the fit is no minimum
FAILS = 2.0             # r where a run fails, in quantiles: the limit is before it
EXACT = 1e-4            # of the quantile: an end of the interval


class Profile:
    """name; values: of the unknown, increasing; rise: 2 (J - J^) of each, in units of s^2; at: {name: array} of the
    others; low, high: the interval, infinite where no limit is reached; level; limit: the rise at low and high

    closed      (bool, bool): was the limit reached on either side?  Else the end is a bound, or infinite
    lower       True: a point has a smaller J than the fit, which has not found the minimum"""

    def __init__(self, path, level, limit, ends):
        fit, k, points = path.fit, path.k, sorted(path.points, key=lambda point: point[0])
        u = np.array([fit.misfit.unknowns.unscaled(x)[0] for _, _, x in points])
        self.name, self.level, self.limit, self.lower = fit.names[k], level, limit, bool(path.lower)
        self.values, self.rise = u[:, k], np.array([r**2 for _, r, _ in points])
        self.at = {other: u[:, i] for i, other in enumerate(fit.names) if i != k}
        (self.low, self.high), self.closed = zip(*((fit._of_scale(k, end), closed) for end, closed in ends))

    def __repr__(self):
        return f"<Profile of {self.name}: {self.low:.6g} .. {self.high:.6g} ({100 * self.level:g} %)>"


class Path:
    """The minima along one unknown, number k"""

    def __init__(self, fit, k):
        self.fit, self.k, self.misfit = fit, k, fit.misfit
        self.free = np.arange(len(fit.x)) != k
        self.unit = 1.0 if fit.sigma is None else max(fit.sigma**2, np.finfo(float).tiny)
        own = fit._inverse[k, k]
        self.slope = fit._inverse[:, k] / own if own > 0 else np.eye(len(fit.x))[k]
        self.points = [(fit.x[k], 0.0, fit.x)]          # (value, r, x); r < 0 on the left
        self.lower = False

    def root(self, value, near):
        """r >= 0 at a value, where the search begins at a point near by"""
        for known, r, _ in self.points:
            if known == value:
                return abs(r)
        between = sorted(self.points, key=lambda point: abs(point[0] - value))[:2]
        start = near + (value - near[self.k]) * self.slope
        if len(between) == 2 and between[0][0] != between[1][0]:
            (a, _, xa), (b, _, xb) = between
            start = xa + (value - a) / (b - a) * (xb - xa)
        start = np.clip(start, self.misfit.lower, self.misfit.upper)
        start[self.k] = value
        try:
            found = minimise(self.misfit, start, self.free)
        except FAILED:
            return np.inf
        rise = 2 * (found.J - self.fit.J) / self.unit
        self.lower |= rise < -LOWER
        r = np.sqrt(max(rise, 0.0))
        self.points.append((value, r if value > self.fit.x[self.k] else -r, found.x))
        return r


def lengths(fit, k, q):
    """(first step, how far the interval may extend)"""
    width, size = q * fit._deviation[k], max(abs(fit.x[k]), 1.0)
    far = FARTHEST * size if fit.scales[k] in LINEAR else DECADES * (1 if fit.scales[k] == "log10" else LN10)
    if not np.isfinite(width) or width == 0:
        return FIRST * size, far
    return min(STEP * width, FIRST * size), min(FAR * width, far)


def side(path, sign, q, bound):
    """(the end of the interval, was the limit reached?)"""
    from scipy.optimize import brentq
    fit, k = path.fit, path.k
    step, far = lengths(fit, k, q)
    before, r_before, x = fit.x[k], 0.0, fit.x
    for _ in range(MOST):
        value = before + sign * step
        if sign * (value - bound) >= 0:
            value = bound
        if abs(value - fit.x[k]) > far:
            break
        r = path.root(value, x)
        if r >= q:
            return brentq(lambda v: min(path.root(v, x), FAILS * q) - q, before, value,
                          xtol=EXACT * abs(value - before), rtol=4 * np.finfo(float).eps), True
        if value == bound:
            return bound, False
        x = path.points[-1][2]
        rise = max(r - r_before, STEP * q / 8)
        step = min(3 * step, max(step / 3, abs(value - before) * STEP * q / rise))
        before, r_before = value, r
    return sign * np.inf, False


def profile(fit, k, level):
    """the Profile of unknown number k"""
    q, path = fit.quantile(level), Path(fit, k)
    ends = [side(path, sign, q, bound) for sign, bound in ((-1, fit.misfit.lower[k]), (1, fit.misfit.upper[k]))]
    return Profile(path, level, q**2, ends)
