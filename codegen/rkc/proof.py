"""What every degree of a method must satisfy; what is wrong is refused with degree, tree and residual."""
from dataclasses import dataclass
from decimal import Decimal

from ..real import Refused, short, tiny
from ..trees import density, name, of_order
from .degree import b_series, trees
from .doubles import doubles, exactly
from .generate import ends
from .stability import ROUNDING, interval

DOUBLES = Decimal("1e-12")           # what the order conditions of the rounded coefficients must satisfy: s eps


@dataclass
class Found:
    """The numbers of a degree that the report tells, and C gets."""
    doubles: object
    interval: object
    held: object                     # largest residual of the order conditions
    rounded: object                  # the same of the doubles
    failed: object                   # largest residual of order p + 1
    embedded_failed: object
    conditions: object = 0           # largest residual of the conditions that define ROCK's polynomial


def residuals(d, order):
    """(tree, what is missing for y+, what for y+ + est) of all trees of an order."""
    one = Decimal(1)
    listed, _ = trees(order)
    _, _, end, est = b_series(d, order, one)
    found = {n: [] for n in range(1, order + 1)}
    for n in found:
        for tree in of_order(n):
            k = listed.index(tree) + 1
            found[n].append((tree, end[k] - one / density(tree), end[k] + est[k] - one / density(tree)))
    return found


def exact_order(d, found, p, which, key, tol):
    """Order p holds and p + 1 fails; (largest residual that holds, largest that fails)."""
    for n in range(1, p + 1):
        for row in found[n]:
            if abs(row[which]) > tol:
                raise Refused(f"degree {d.s}: {key}: tree {name(row[0])} of order {n}: "
                              f"residual {tiny(abs(row[which]))}")
    fails = max(abs(row[which]) for row in found[p + 1])
    if fails <= tol:
        raise Refused(f"degree {d.s}: {key}: order {p} is stated, but all conditions of order {p + 1} hold as well")
    return max(abs(row[which]) for n in range(1, p + 1) for row in found[n]), fails


def consistent(d):
    """g_j = y solves y' = 0."""
    if d.nu[0] or any(len(row) != d.m for row in (d.nu, d.mut, d.gat)):
        raise Refused(f"degree {d.s}: the recurrence is incomplete")


def defining(d, seen, damping, tol):
    """ROCK: the extrema of R are where its parameters are to put them, which conditions of order do not tell."""
    R = d.polynomial
    if R is None:
        return 0
    first = next((k for k, (_, value) in enumerate(seen.turns) if value > 0.5), None)
    if first is None:
        raise Refused(f"degree {d.s}: R has no maximum above 1/2 in [-beta, 0]")
    places = [R.a + R.D * Decimal(z) for z, _ in seen.turns[first:first + 2]]
    missing = [abs(x) for x in R.order_conditions() + ends(R, 1 - damping, places)[0]]
    if max(missing) > tol:
        raise Refused(f"degree {d.s}: the parameters do not satisfy the conditions of order and damping, residual "
                      f"{tiny(max(missing))}")
    return max(missing)


def prove(d, order, embedded, damping, tol):
    """All of it for one degree."""
    consistent(d)
    rounded = doubles(d)
    seen = interval(rounded)
    conditions = defining(d, seen, damping, tol)
    found = residuals(d, order + 1)
    held, failed = exact_order(d, found, order, 1, "y+", tol)
    _, embedded_failed = exact_order(d, found, embedded, 2, "y+ + est", tol)
    after = residuals(exactly(rounded), order)
    worst, _ = exact_order(d, after | {order + 1: found[order + 1]}, order, 1, "y+ in doubles", DOUBLES)
    if not seen.largest <= float(1 - damping) + ROUNDING:
        raise Refused(f"degree {d.s}: |R| reaches {seen.largest:.12g} in [-beta, 0], should be at most 1 - damping = "
                      f"{short(1 - damping)}")
    if d.A and not seen.embedded <= 1:
        raise Refused(f"degree {d.s}: |R| of the embedded solution reaches {seen.embedded:.6g}, should be at most 1")
    return Found(rounded, seen, held, worst, failed, embedded_failed, conditions)
