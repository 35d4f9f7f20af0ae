"""What a fit found: estimates with standard errors, correlations, and what the data do not determine.

Near the minimum J is (x - x^)^T H (x - x^)/2 with the exact Hessian H, and C = H^-1 is the covariance of the estimate
(Laplace's approximation).  If sigma is unknown, C is multiplied by s^2 = 2 J/(values - unknowns), and quantiles are
those of Student's t distribution."""
import math

import numpy as np

from costate.fitting import bands, pictures, profiles
from costate.fitting.search import FAILED
from costate.fitting.unknowns import LINEAR

SINGULAR = 1e-9         # singular values of the scaled Jacobian, below this part of the largest: what is left of 0
OF_SQUARES = 1e-6       # the same for roots of eigenvalues of J^T J, in which 0 becomes the root of round-off
NAMED = 1e-3            # of the largest scaled component of a direction: smaller ones are round-off, and not named


class Direction:
    """A combination of unknowns that the data do not determine: x + a weights fits as well for any a.

    singular_value      of the scaled derivatives of the residuals, relative to the largest
    weights             {name: component, of which the largest is 1}"""

    def __init__(self, singular_value, weights):
        self.singular_value, self.weights = singular_value, weights

    def __repr__(self):
        terms = " ".join(f"{value:+.3g} {name}" for name, value in self.weights.items())
        return f"{terms.removeprefix('+')} (relative singular value {self.singular_value:.1e})"


class Fit:
    """names, scales     of the unknowns
    x, estimates        on their scales, as an array; {name: value}
    J                   -log(posterior), or half the sum of squares where sigma is unknown
    hessian, covariance, correlation        with respect to x; NaN where the data determine nothing
    errors              {name: standard error of the estimate, inf where it is not determined, NaN at a bound}
    integration         {name: what the error of the integration adds to the estimate, estimated}
    undetermined        [Direction, ...]
    at_bound            names of the unknowns whose bounds hold them
    sigma               where it is unknown, what the residuals say of it; else None
    converged, message  of the optimiser; evaluations: of all searches together
    starts              J of all starts, sorted
    rtol                of the last integration
    not_estimated       why the error of the integration is not known, or ""
    misfit              the Misfit, with which further values and derivatives are computed"""

    def __init__(self, misfit, found, starts, evaluations):
        self.misfit, self.names, self.scales = misfit, misfit.names, misfit.scales
        self.x, self.J, self.converged, self.message = found.x, found.J, found.converged, found.message
        self.starts, self.evaluations = np.sort([one.J for one in starts]), evaluations
        self.u, self.slope, _ = misfit.unknowns.unscaled(self.x)
        self.estimates = dict(zip(self.names, map(float, self.u)))
        self.at_bound = [name for name, held in zip(self.names, found.held) if held]
        self._held, self._profiles = found.held, {}
        self.hessian = misfit.curvature(self.x)
        self._inverted()
        self.degrees = misfit.count + misfit.normal_priors - len(self.names) + len(self.at_bound) + len(
            self.undetermined)
        self.sigma = math.sqrt(2 * self.J / max(self.degrees, 1)) if misfit.sigma_unknown else None
        if misfit.sigma_unknown and self.degrees < 1:
            raise ValueError(f"there are {misfit.count} values for {len(self.names)} unknowns: sigma cannot be "
                             "computed from the residuals; give it")
        self._marked()
        self._integrated()
        self.rtol = misfit.rtol

    def _integrated(self):
        """what the error of the integration adds to the estimates; NaN where it cannot be estimated"""
        self.not_estimated, known = "", self._determined
        try:
            shift = -self._inverse @ self.misfit.gradient_error(self.x)
        except FAILED as error:
            self.not_estimated, shift = str(error), np.full(len(self.x), np.nan)
        self.integration = dict(zip(self.names, map(float, shift * self.slope)))
        sizes = self._deviation[known]
        self.relative_integration = float(np.max(np.abs(shift[known]) / np.where(sizes > 0, sizes, np.inf),
                                                 initial=0.0))

    # ---- covariance

    def _inverted(self):
        """the inverse of the Hessian of the unknowns inside their bounds, on what the data determine"""
        free = np.flatnonzero(~self._held)
        inside = np.ix_(free, free)
        values, vectors, scale = self._directions(free)
        least = SINGULAR if self.misfit.is_least_squares else OF_SQUARES
        known = values > least * np.max(values, initial=np.finfo(float).tiny)
        self.singular_values = values[::-1]
        H = vectors[:, known].T @ (self.hessian[inside] * np.outer(scale, scale)) @ vectors[:, known]
        curvatures, turned = np.linalg.eigh(H)
        self.is_minimum = bool(np.all(curvatures > 0))
        root = vectors[:, known] @ (turned / np.sqrt(np.abs(curvatures))) * scale[:, None]
        self._inverse = np.zeros(self.hessian.shape)
        self._inverse[inside] = root @ root.T
        self.undetermined = self._undetermined(vectors[:, ~known], values, int(np.sum(~known)), scale, free)

    def _directions(self, free):
        """(singular values, increasing, directions in columns, scale of the unknowns) of the derivatives of the
        residuals, or the square roots of the eigenvalues of the Fisher information.  The Hessian of a direction that
        changes nothing is only as small as the gradient"""
        misfit = self.misfit
        if misfit.is_least_squares:
            J = misfit.jacobian(self.x)[:, free]
            size = np.linalg.norm(J, axis=0)
            scale = 1 / np.where(size > 0, size, 1.0)
            tall = np.vstack([J * scale, np.zeros((len(free), len(free)))])
            _, values, rows = np.linalg.svd(tall, full_matrices=False)
            return values[::-1], rows[::-1].T, scale
        F = misfit.fisher(self.x)[np.ix_(free, free)]
        size = np.sqrt(np.abs(np.diag(F)))
        scale = 1 / np.where(size > 0, size, 1.0)
        values, vectors = np.linalg.eigh((F + F.T) / 2 * np.outer(scale, scale))
        return np.sqrt(np.maximum(values, 0)), vectors, scale

    def _marked(self):
        """deviations and correlations, with inf or NaN where there are none"""
        lost = {name for direction in self.undetermined for name in direction.weights}
        self._determined = np.array([not held and name not in lost for name, held in zip(self.names, self._held)])
        self.covariance = self._inverse * (1.0 if self.sigma is None else self.sigma)**2
        self._deviation = np.sqrt(np.maximum(np.diag(self.covariance), 0))
        self._deviation[[name in lost for name in self.names]] = np.inf
        self._deviation[self._held] = np.nan
        self.errors = dict(zip(self.names, map(float, self._deviation * np.abs(self.slope))))
        with np.errstate(invalid="ignore", divide="ignore"):
            self.correlation = self.covariance / np.outer(self._deviation, self._deviation)
        self.correlation[~self._determined], self.correlation[:, ~self._determined] = np.nan, np.nan

    def _undetermined(self, null, values, count, scale, free):
        """[Direction, ...] of a basis of what is not determined, which is chosen such that few unknowns are in each:
        one belongs to each alone"""
        if not count:
            return []
        from scipy.linalg import qr
        pivots = qr(null.T, mode="r", pivoting=True)[1][:count]
        found, relative = null @ np.linalg.inv(null[pivots]), float(values[count - 1] / np.max(values))
        out = []
        for column in found.T:
            named = np.flatnonzero(np.abs(column) > NAMED * np.max(np.abs(column)))
            weights = column[named] * scale[named]
            weights = weights / weights[np.argmax(np.abs(weights))]
            out.append(Direction(relative, {self.names[free[k]]: float(value) for k, value in zip(named, weights)}))
        return out

    # ---- confidence

    def quantile(self, level=0.95):
        """how many standard deviations an interval extends to either side"""
        from scipy.stats import norm, t
        if not 0 < level < 1:
            raise ValueError(f"level is {level}: expected a number between 0 and 1, as 0.95")
        return t.ppf((1 + level) / 2, self.degrees) if self.misfit.sigma_unknown else norm.ppf((1 + level) / 2)

    def index(self, name):
        if name not in self.names:
            raise ValueError(f"{name!r} is no unknown of this fit: {', '.join(self.names)}")
        return self.names.index(name)

    def interval(self, name, level=0.95):
        """(low, high) by Laplace's approximation, symmetric on the scale of the unknown and within its bounds"""
        k = self.index(name)
        away = self.quantile(level) * self._deviation[k]
        ends = np.clip([self.x[k] - away, self.x[k] + away], self.misfit.lower[k], self.misfit.upper[k])
        return tuple(self._of_scale(k, x) for x in ends)

    def intervals(self, level=0.95):
        """{name: interval}"""
        return {name: self.interval(name, level) for name in self.names}

    def _of_scale(self, k, x):
        if self.scales[k] in LINEAR:
            return float(x)
        with np.errstate(over="ignore"):
            return float(np.exp(x) if self.scales[k] == "log" else np.power(10.0, x))

    def profile(self, name, level=0.95):
        """the Profile of an unknown: J is minimised over all others for each of its values"""
        if (name, level) not in self._profiles:
            self._profiles[name, level] = profiles.profile(self, self.index(name), level)
        return self._profiles[name, level]

    def predict(self, times, of=None, *, condition=None, level=0.95):
        """A prediction with its band of confidence: see costate.fitting.bands.predict"""
        return bands.predict(self, times, of, condition, level)

    # ---- in print

    def __repr__(self):
        return self.summary()

    def summary(self, level=0.95):
        """a text"""
        from costate.fitting.text import summary
        return summary(self, level)

    def plot(self, ax=None, **more):
        """the data and the fitted curves; returns the axes"""
        return pictures.plot_fit(self, ax=ax, **more)

    def plot_residuals(self, ax=None):
        """residuals over time; returns the axes"""
        return pictures.plot_residuals(self, ax=ax)

    def plot_starts(self, ax=None):
        """J of all starts, sorted: a waterfall plot; returns the axes"""
        return pictures.plot_starts(self, ax=ax)

    def plot_profile(self, name, level=0.95, ax=None):
        """the profile of an unknown and the parabola of Laplace's approximation; returns the axes"""
        return pictures.plot_profile(self, self.profile(name, level), ax=ax)

    def write_page(self, path, *, profiles=False):
        """one HTML page that stands alone: summary, tables and pictures; profiles: True: also those of all unknowns"""
        from costate.fitting.page import write
        write(self, path, profiles)
