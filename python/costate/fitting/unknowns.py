"""The unknowns of a fit: scales, bounds and priors.

An unknown is u = x, exp(x) or 10^x, where x is the number that an optimiser sees.  The density of a prior is that of u,
or of x (parameterScaleNormal and others), and normalised; the names are those of PEtab."""
import math

import numpy as np

SCALES = ("lin", "linear", "log", "log10")
LINEAR = ("lin", "linear")
LN10 = math.log(10)
PRIORS = ("parameterScaleUniform", "uniform", "normal", "laplace", "logNormal", "logLaplace", "parameterScaleNormal",
          "parameterScaleLaplace")
DISTRIBUTIONS = {"uniform": 2, "normal": 2, "laplace": 2, "logNormal": 2, "logLaplace": 2, "logUniform": 2, "cauchy": 2,
                 "gamma": 2, "chisquare": 1, "exponential": 1, "rayleigh": 1}       # how many numbers they have


class Unknown:
    """What a fit is told about one unknown.

    guess       where the search begins
    low, high   bounds; None: none (on a logarithmic scale u is positive in any case)
    scale       "linear", "log" or "log10": the optimiser sees u or its logarithm
    prior       (kind, a, b): "normal" with mean a and standard deviation b, "laplace", "logNormal" and "logLaplace"
                with these numbers for log u, "uniform" from a to b; "parameterScaleNormal" and others: of the scaled
                number.  None: none"""

    def __init__(self, guess, low=None, high=None, *, scale="linear", prior=None):
        if scale not in SCALES:
            raise ValueError(f"scale is {scale!r}: one of {', '.join(map(repr, SCALES))}")
        self.guess, self.scale, self.prior = float(guess), scale, checked_prior(prior)
        self.low, self.high = (-math.inf if low is None else float(low), math.inf if high is None else float(high))
        if self.prior and self.prior[0] == "uniform":           # its density is 0 outside: the search stays inside
            self.low, self.high = max(self.low, self.prior[1][0]), min(self.high, self.prior[1][1])
        if self.prior and self.prior[0] == "parameterScaleUniform":
            ends = [end if scale in LINEAR else (10.0 if scale == "log10" else math.e)**end for end in self.prior[1]]
            self.low, self.high = max(self.low, ends[0]), min(self.high, ends[1])
        if not self.low < self.high:
            raise ValueError(f"the bounds are {self.low:g} and {self.high:g}: the first must be less than the second")

    def __repr__(self):
        bounds = "" if self.low == -math.inf and self.high == math.inf else f", {self.low:g}, {self.high:g}"
        return f"Unknown({self.guess:g}{bounds}, scale={self.scale!r}" + \
               (f", prior={self.prior!r})" if self.prior else ")")


def checked_prior(prior):
    """(kind, (a, b)), or None"""
    if prior is None:
        return None
    if not isinstance(prior, (tuple, list)) or not prior:
        raise ValueError(f"prior is {prior!r}; expected (kind, a, b)")
    kind, *numbers = prior
    numbers = numbers[0] if len(numbers) == 1 and not np.isscalar(numbers[0]) else numbers
    if kind not in PRIORS or len(numbers) != 2:
        raise ValueError(f"prior is {prior!r}; expected (kind, a, b) with one of the kinds {', '.join(PRIORS)}")
    a, b = map(float, numbers)
    if not b > (a if kind.lower().endswith("uniform") else 0):
        raise ValueError(f"prior is {prior!r}: the second number is too small")
    return kind, (a, b)


def on_scale(scale, u, bound=False):
    """x of u; a bound that is not positive is -inf on a logarithmic scale, any other such value is NaN"""
    if scale in LINEAR or not math.isfinite(u) and not bound:
        return u
    if u <= 0:
        return -math.inf if bound or u == 0 else math.nan
    return u if math.isinf(u) else math.log(u) / (LN10 if scale == "log10" else 1)


class Unknowns:
    """names; scales; lower, upper: bounds of x; priors: (kind, numbers) or None"""

    def __init__(self, names, scales, lower, upper, priors):
        self.names, self.scales, self.priors = list(names), list(scales), list(priors)
        self.lower, self.upper = np.array(lower, dtype=float), np.array(upper, dtype=float)
        self.place = {name: k for k, name in enumerate(self.names)}
        self._log = np.array([scale not in LINEAR for scale in self.scales], dtype=bool)
        self._unit = np.array([LN10 if scale == "log10" else 1.0 for scale in self.scales])

    def unscaled(self, x):
        """u, du/dx and d^2u/dx^2"""
        x = np.asarray(x, dtype=float)
        if x.shape != (len(self.names),):
            raise ValueError(f"x has shape {x.shape}; expected ({len(self.names)},): one value for each of the names")
        with np.errstate(over="ignore"):
            u = np.where(self._log, np.exp(np.where(self._log, x * self._unit, 0)), x)
        first = np.where(self._log, u * self._unit, 1.0)
        return u, first, np.where(self._log, u * self._unit**2, 0.0)

    def log_prior(self, x, fisher=False):
        """the logarithm of the density of the priors, and its first two derivatives with respect to x.  fisher: in
        place of the second derivative of Laplace's, which is 0 or infinite, the one that it has on average, -1/b^2"""
        value, first, second = 0.0, np.zeros(len(x)), np.zeros(len(x))
        u, du, ddu = self.unscaled(x)
        for k, of in enumerate(self.priors):
            if of is None:
                continue
            kind, parameters = of
            on_x = kind.startswith("parameterScale")
            v, d, dd = density(kind, x[k] if on_x else u[k], *parameters)
            value += v
            first[k] = d if on_x else d * du[k]
            second[k] = dd if on_x else dd * du[k]**2 + d * ddu[k]
            if fisher and kind.lower().endswith("laplace"):
                slope = 1.0 if on_x else du[k] / (u[k] if kind.startswith("log") else 1.0)
                second[k] = -(slope / parameters[1])**2
        return value, first, second


def density(kind, z, a, b=None):
    """the logarithm of the density of z and its first two derivatives with respect to z"""
    kind = kind.removeprefix("parameterScale").lower()
    if kind in OF_POSITIVE:
        return OF_POSITIVE[kind](z, a, b) if z > 0 else (-math.inf, 0.0, 0.0)
    if kind == "uniform":
        return (-math.log(b - a) if a <= z <= b else -math.inf), 0.0, 0.0
    logarithmic = kind.startswith("log")
    if logarithmic and z <= 0:
        return -math.inf, 0.0, 0.0
    e = (math.log(z) if logarithmic else z) - a
    if kind.endswith("normal"):
        value, first, second = -math.log(2 * math.pi * b**2) / 2 - e**2 / (2 * b**2), -e / b**2, -1 / b**2
    elif kind == "cauchy":
        value, first = -math.log(math.pi * b * (1 + (e / b)**2)), -2 * e / (b**2 + e**2)
        second = 2 * (e**2 - b**2) / (b**2 + e**2)**2
    else:
        value, first, second = -math.log(2 * b) - abs(e) / b, -np.sign(e) / b, 0.0
    if not logarithmic:
        return value, first, second
    return value - math.log(z), (first - 1) / z, (second - first + 1) / z**2


def of_gamma(z, shape, scale):
    """z^(shape - 1) e^(-z/scale)/(Gamma(shape) scale^shape)"""
    value = (shape - 1) * math.log(z) - z / scale - math.lgamma(shape) - shape * math.log(scale)
    return value, (shape - 1) / z - 1 / scale, -(shape - 1) / z**2


OF_POSITIVE = {
    "gamma": of_gamma, "chisquare": lambda z, a, b: of_gamma(z, a / 2, 2.0),
    "exponential": lambda z, a, b: (-math.log(a) - z / a, -1 / a, 0.0),
    "rayleigh": lambda z, a, b: (math.log(z / a**2) - z**2 / (2 * a**2), 1 / z - z / a**2, -1 / z**2 - 1 / a**2),
    "loguniform": lambda z, a, b: (-math.log(z * math.log(b / a)) if a <= z <= b else -math.inf, -1 / z, 1 / z**2)}


class Places:
    """Where unknowns are in a vector: values, but values[place] = u[source[place]] where source is not negative"""

    def __init__(self, values):
        self.values = np.array(values, dtype=float)
        self.source = np.full(len(self.values), -1)

    def parameters(self, u):
        p = self.values.copy()
        p[self.source >= 0] = u[self.source[self.source >= 0]]
        return p

    def directions(self, du):
        """of one direction, or of m in rows"""
        dp = np.zeros((*np.shape(du)[:-1], len(self.values)))
        dp[..., self.source >= 0] = du[..., self.source[self.source >= 0]]
        return dp

    def add_to(self, gradient, by_p):
        np.add.at(gradient, self.source[self.source >= 0], by_p[self.source >= 0])
