"""The parameters of a PEtab problem: scales, bounds, nominal values and priors."""
import math

import numpy as np

from costate.fitting.unknowns import LINEAR, PRIORS, Unknowns, on_scale

SCALES = ("lin", "log", "log10")


class Estimated(Unknowns):
    """The estimated parameters: names, scales, lower, upper and nominal, on their scales"""

    def __init__(self, rows):
        given = [row for row in rows.values() if row.choice("estimate", ("1", "0", "1.0", "0.0")) in ("1", "1.0")]
        self.nominal = np.array([self.on_scale(row, row.number_of("nominalValue", math.nan)) for row in given])
        lower, upper = ([self.on_scale(row, row.number_of(column, otherwise), True) for row in given]
                        for column, otherwise in (("lowerBound", -math.inf), ("upperBound", math.inf)))
        super().__init__([row["parameterId"].strip() for row in given],
                         [row.choice("parameterScale", SCALES) for row in given], lower, upper,
                         [prior(row) for row in given])

    @staticmethod
    def on_scale(row, u, bound=False):
        scale = row.choice("parameterScale", SCALES)
        if u < 0 and not bound and scale not in LINEAR:
            raise row.wrong(f"the value {u:g} has no logarithm: parameterScale is {scale}")
        return on_scale(scale, u, bound)


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
