"""Parameters of PEtab problems of version 2, with priors that bounds truncate.

The density of a prior with the distribution function F between the bounds a and b is that of the table divided by
F(b) - F(a).  The distributions are those of the specification (section "Prior distributions")."""
import math

import numpy as np

from costate.fitting.unknowns import DISTRIBUTIONS
from costate.petab.parameters import Estimated, prior_numbers

NAMES = {"cauchy": "cauchy", "chisquare": "chisquare", "exponential": "exponential", "gamma": "gamma",
         "laplace": "laplace", "log-laplace": "logLaplace", "log-normal": "logNormal", "log-uniform": "logUniform",
         "normal": "normal", "rayleigh": "rayleigh", "uniform": "uniform"}
ROUND_OFF = 1e-17


class Truncated(Estimated):
    """The estimated parameters of version 2.  Without a prior, where others have one, it is uniform"""

    def __init__(self, rows):
        super().__init__(rows)
        for name, low, high in zip(self.names, self.lower, self.upper):
            if not low <= high:
                raise rows[name].wrong(f"lowerBound is {low:g}, upperBound {high:g}")
        if any(self.priors):
            self.priors = [of or ("uniform", self.bounds(rows[name], low, high))
                           for of, name, low, high in zip(self.priors, self.names, self.lower, self.upper)]
        self._mass = sum(math.log(self.mass(rows[name], of, low, high)) for of, name, low, high in
                         zip(self.priors, self.names, self.lower, self.upper) if of)

    @staticmethod
    def is_estimated(row):
        return row.choice("estimate", ("true", "false", "True", "False")).lower() == "true"

    @staticmethod
    def scale(row):
        return "lin"

    @staticmethod
    def prior(row):
        """(kind, numbers), or None"""
        if not row.text("priorDistribution"):
            if row.text("priorParameters"):
                raise row.wrong("there are priorParameters, but no priorDistribution")
            return None
        kind = NAMES[row.choice("priorDistribution", tuple(NAMES))]
        numbers = prior_numbers(row, "priorParameters", kind, DISTRIBUTIONS[kind])
        if kind in ("logUniform", "gamma") and numbers[0] <= 0:
            raise row.wrong(f"priorParameters is {row.text('priorParameters')!r}: the first number is not positive")
        return kind, numbers

    @staticmethod
    def bounds(row, low, high):
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise row.wrong("other parameters have priors: this one needs finite bounds, between which its prior is "
                            "uniform, or a priorDistribution")
        return low, high

    @staticmethod
    def mass(row, prior, low, high):
        """F(high) - F(low)"""
        found = distribution(*prior, high) - distribution(*prior, low)
        if not found > 0:
            raise row.wrong(f"the prior is 0 between the bounds {low:g} and {high:g}")
        return found

    def log_prior(self, x, fisher=False):
        value, first, second = super().log_prior(x, fisher)
        outside = np.any((np.asarray(x) < self.lower) | (np.asarray(x) > self.upper)) and any(self.priors)
        return (-math.inf if outside else value - self._mass), first, second


def distribution(kind, numbers, z):
    """F(z) of a prior"""
    if kind.startswith("log"):
        if z <= 0:
            return 0.0
        kind, z = kind.removeprefix("log").lower(), math.log(z)
        numbers = tuple(map(math.log, numbers)) if kind == "uniform" else numbers
    a, b = numbers[0], numbers[-1]
    if kind == "uniform":
        return min(max((z - a) / (b - a), 0.0), 1.0)
    if kind == "normal":
        return math.erfc((a - z) / (b * math.sqrt(2))) / 2
    if kind == "laplace":
        return math.exp((z - a) / b) / 2 if z < a else 1 - math.exp((a - z) / b) / 2
    if kind == "cauchy":
        return 0.5 + math.atan((z - a) / b) / math.pi
    if z <= 0:
        return 0.0
    if kind == "exponential":
        return -math.expm1(-z / a)
    if kind == "rayleigh":
        return -math.expm1(-z**2 / (2 * a**2))
    return incomplete_gamma(a / 2, z / 2) if kind == "chisquare" else incomplete_gamma(a, z / b)


def incomplete_gamma(a, x):
    """P(a, x): the series (DLMF, 8.11.4) x^a e^-x sum_k x^k/Gamma(a + k + 1), whose terms are positive.  They become
    smaller from k = x - a on.  1 - P is less than round-off where x is 20 standard deviations and 40 above the mean,
    a"""
    if x > a + 20 * math.sqrt(a) + 40:
        return 1.0
    term = total = math.exp(a * math.log(x) - x - math.lgamma(a + 1))
    k = 0
    while term > total * ROUND_OFF:
        k += 1
        term *= x / (a + k)
        total += term
    return min(total, 1.0)
