"""How derivatives of functions were formed, in words, and the warning where differences take the place of complex
steps."""
import os
import sys
import warnings

WAYS = ("exact", "complex step", "differences")
HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
NAMES = {"t": "jac_t", "y": "jac", "p": "jac_p", "m": "jac_m"}


def least_exact(ways):
    return max(ways, key=WAYS.index, default="exact")


class Ways(str):
    """"exact", "complex step" or "differences": the least exact way of all that were used.

    by_map      {name of a function: {"t", "y", "p" or "m": "given", "exact", "complex step" or "differences"}}, for the
                functions of a problem ("fun", "cost", "the guard of events[0]", ...) or its "model", and the arguments
                that they have; t where a derivative with respect to it was needed"""

    def __new__(cls, way, by_map=None):
        self = super().__new__(cls, way)
        self.by_map = by_map or {}
        return self

    def with_ways(self, name, ways):
        """and those of another function"""
        used = [way for way in ways.values() if way != "given"]
        return Ways(least_exact([self, *used]), {**self.by_map, name: dict(ways)})


class DerivativeWarning(UserWarning):
    """Derivatives of a function are differences, which have fewer digits."""


def warn_of_differences(name, which):
    """complex steps of this function with respect to t, y, p or m were wrong"""
    warn(f"complex steps of {name} with respect to {which} are not its derivative: it uses abs, real arrays, or other "
         "functions that lose imaginary parts or refuse complex numbers. Differences take their place, which have "
         f"fewer digits. Give {NAMES[which]} for full accuracy; or derivatives=\"differences\", if they are accurate "
         "enough, so that this warning does not appear", DerivativeWarning)


def warn(sentence, category):
    """a warning at the line outside the package that called it"""
    frame, level = sys._getframe(1), 2
    while frame is not None and frame.f_code.co_filename.startswith(HERE):
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, category, stacklevel=level)
