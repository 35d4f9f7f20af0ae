"""Real numbers of 100 digits: the working precision, its tolerances and correctly rounded doubles."""
from decimal import Decimal, getcontext

getcontext().prec = 100
getcontext().Emin, getcontext().Emax = -9999, 9999

ZERO, ONE = Decimal(0), Decimal(1)
EXACT = Decimal("1e-40")          # what a table given by formulas must satisfy


class Refused(Exception):
    """A coefficient file that is wrong; the text says where and by how much."""


def tolerance(digits):
    """What sums of a table's entries must satisfy when its source prints so many digits: 10 units of the last one, as
    a sum of s stages that are right to half a unit is wrong by s/2 of them."""
    return EXACT if digits is None else 10 * Decimal(10) ** (1 - digits)


def double(x):
    """The C literal of the double nearest to x."""
    text = "%.17g" % (float(x) + 0.0)
    return text if any(c in text for c in ".en") else text + ".0"


def snap(x, tol):
    """x, or 0 or 1 where x is that up to tol: the derived entries that are exact in theory."""
    for nice in (ZERO, ONE, -ONE):
        if abs(x - nice) <= tol:
            return nice
    return x


def short(x):
    """x in a few digits, for messages."""
    return "%.15g" % float(x)


def brief(text):
    """What a file says, for messages: not all of an endless line."""
    return text if len(text) <= 60 else text[:57] + "..."


def tiny(x):
    """The size of x in two digits, for messages; also below the range of doubles."""
    return format(x, ".1e").replace("e+0", "e0") if x else "0"
