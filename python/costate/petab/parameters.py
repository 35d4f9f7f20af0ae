"""The parameters of a PEtab problem: scales, bounds, nominal values and priors."""
import math

import numpy as np

from costate.fitting.unknowns import LINEAR, PRIORS, Unknowns, on_scale

SCALES = ("lin", "log", "log10")


class Estimated(Unknowns):
    """The estimated parameters of version 1: names, scales, lower, upper and nominal, on their scales"""

    def __init__(self, rows):
        given = [row for row in rows.values() if self.is_estimated(row)]
        self.nominal = np.array([self.on_scale(row, row.number_of("nominalValue", math.nan)) for row in given])
        lower, upper = ([self.on_scale(row, row.number_of(column, otherwise), True) for row in given]
                        for column, otherwise in (("lowerBound", -math.inf), ("upperBound", math.inf)))
        super().__init__([row["parameterId"].strip() for row in given], [self.scale(row) for row in given], lower,
                         upper, [self.prior(row) for row in given])

    @staticmethod
    def is_estimated(row):
        return row.choice("estimate", ("1", "0", "1.0", "0.0")) in ("1", "1.0")

    @staticmethod
    def scale(row):
        return row.choice("parameterScale", SCALES)

    @classmethod
    def on_scale(cls, row, u, bound=False):
        scale = cls.scale(row)
        if u < 0 and not bound and scale not in LINEAR:
            raise row.wrong(f"the value {u:g} has no logarithm: parameterScale is {scale}")
        return on_scale(scale, u, bound)

    @staticmethod
    def prior(row):
        """(kind, two numbers), or None"""
        if not row.text("objectivePriorType"):
            return None
        kind = row.choice("objectivePriorType", PRIORS)
        if kind == "parameterScaleUniform" and not row.text("objectivePriorParameters"):
            return None
        return kind, prior_numbers(row, "objectivePriorParameters", kind, 2)


def prior_numbers(row, column, kind, count):
    """the parameters of a prior; the last one is that of scale, or an upper bound"""
    try:
        numbers = tuple(map(float, row.text(column).split(";")))
    except ValueError:
        numbers = ()
    if len(numbers) != count:
        many = "two numbers, with ; between them" if count == 2 else "one number"
        raise row.wrong(f"{column} is {row.text(column)!r}: expected {many}")
    if not numbers[-1] > (numbers[0] if kind.lower().endswith("uniform") else 0):
        raise row.wrong(f"{column} is {row.text(column)!r}: the {'second' if count == 2 else 'only'} number is too "
                        "small")
    return numbers
