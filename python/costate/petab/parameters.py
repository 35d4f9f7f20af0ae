"""The parameters of a PEtab problem: scales, bounds, nominal values and priors.

An estimated parameter is u = x, exp(x) or 10^x, where x is the number that an optimiser sees.  The density of a prior
is that of x (parameterScaleNormal and others) or of u, as in the documentation of PEtab, and normalised."""
import math

import numpy as np

SCALES = ("lin", "log", "log10")
LN10 = math.log(10)
PRIORS = ("parameterScaleUniform", "uniform", "normal", "laplace", "logNormal", "logLaplace", "parameterScaleNormal",
          "parameterScaleLaplace")


class Estimated:
    """The estimated parameters: names, scales, lower, upper and nominal, on their scales"""

    def __init__(self, rows):
        given = [row for row in rows.values() if row.choice("estimate", ("1", "0", "1.0", "0.0")) in ("1", "1.0")]
        self.names = [row["parameterId"].strip() for row in given]
        self.scales = [row.choice("parameterScale", SCALES) for row in given]
        self.place = {name: k for k, name in enumerate(self.names)}
        self.nominal = np.array([self.on_scale(row, row.number_of("nominalValue", math.nan)) for row in given])
        self.lower, self.upper = (
            np.array([self.on_scale(row, row.number_of(column, otherwise), True) for row in given])
            for column, otherwise in (("lowerBound", -math.inf), ("upperBound", math.inf)))
        self.priors = [prior(row) for row in given]
        self._log = np.array([scale != "lin" for scale in self.scales], dtype=bool)
        self._unit = np.array([LN10 if scale == "log10" else 1.0 for scale in self.scales])

    @staticmethod
    def on_scale(row, u, bound=False):
        scale = row.choice("parameterScale", SCALES)
        if scale == "lin" or math.isnan(u):
            return u
        if u < 0 and not bound:
            raise row.wrong(f"the value {u:g} has no logarithm: parameterScale is {scale}")
        return -math.inf if u <= 0 else math.log(u) / (LN10 if scale == "log10" else 1) if math.isfinite(u) else u

    def unscaled(self, x):
        """u, du/dx and d^2u/dx^2"""
        x = np.asarray(x, dtype=float)
        if x.shape != (len(self.names),):
            raise ValueError(f"x has shape {x.shape}; expected ({len(self.names)},): one value for each of the names")
        u = np.where(self._log, np.exp(np.where(self._log, x * self._unit, 0)), x)
        first = np.where(self._log, u * self._unit, 1.0)
        return u, first, np.where(self._log, u * self._unit**2, 0.0)

    def log_prior(self, x):
        """the logarithm of the density of the priors, and its first two derivatives with respect to x"""
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
        return value, first, second


def prior(row):
    """(kind, two numbers), or None"""
    if not row.text("objectivePriorType"):
        return None
    kind = row.choice("objectivePriorType", PRIORS)
    parts = row.text("objectivePriorParameters").split(";")
    if kind == "parameterScaleUniform" and parts == [""]:
        return None
    try:
        first, second = map(float, parts)
    except ValueError:
        raise row.wrong(f"objectivePriorParameters is {row.text('objectivePriorParameters')!r}: expected two numbers, "
                        "with ; between them") from None
    if not second > (first if kind.lower().endswith("uniform") else 0):
        raise row.wrong(f"objectivePriorParameters is {row.text('objectivePriorParameters')!r}: the second number is "
                        "too small")
    return kind, (first, second)


def density(kind, z, a, b):
    """the logarithm of the density of z and its first two derivatives with respect to z"""
    kind = kind.removeprefix("parameterScale").lower()
    if kind == "uniform":
        return (-math.log(b - a) if a <= z <= b else -math.inf), 0.0, 0.0
    logarithmic = kind.startswith("log")
    if logarithmic and z <= 0:
        return -math.inf, 0.0, 0.0
    e = (math.log(z) if logarithmic else z) - a
    if kind.endswith("normal"):
        value, first, second = -math.log(2 * math.pi * b**2) / 2 - e**2 / (2 * b**2), -e / b**2, -1 / b**2
    else:
        value, first, second = -math.log(2 * b) - abs(e) / b, -np.sign(e) / b, 0.0
    if not logarithmic:
        return value, first, second
    return value - math.log(z), (first - 1) / z, (second - first + 1) / z**2
