"""The parameters of ROCK methods, found by Newton's method from their conditions; the rows of methods/rkc/rock*.toml.

Unknown are s^2 (alpha_i - 1), s^2 beta_i and s^2 (a - 1); conditions are those of order 2 .. p at z = 0, and two that
make the interval long for a damping eta: the first maximum of R after the fall from 1 is eta, and

    rock2   the minimum that follows is -eta (s = 3, which has none: R(-beta) = -eta)
    rock4   |R(-beta)| = eta

All other extrema are smaller then (proved for each degree by stability.py; with rock4's conditions rock2 would have a
minimum of -0.9527)."""
from decimal import Decimal, localcontext

from ..linalg import solve_vector
from ..real import Refused
from .orthogonal import Polynomial

PRECISION, DIGITS = 60, 36
START = {2: (3, "-2.68 3.75 0.90"), 4: (5, "-17.46 8.87 -2.86 23.3 -1.05")}       # the lowest degree and its values
MOST = {2: 200, 4: 152}


def degrees(lowest, most, odd=False):
    """All up to 25, then each at most 4 % above the first one that the one before does not serve."""
    found = [lowest]
    while found[-1] < most:
        following = found[-1] + 1 if found[-1] < 25 else (found[-1] + 1) * 104 // 100
        found.append(min(most, following + (odd and following % 2 == 0)))
    return found


def ends(polynomial, eta, places=None):
    """(what is missing in the two conditions on extrema, the places of these)"""
    if places is None:
        extrema = polynomial.first_extrema(2)
    else:
        extrema = [polynomial.extremum(x) for x in places]
    found = [extrema[0][1] - eta]
    if polynomial.p == 2 and len(extrema) == 2:
        found.append(-extrema[1][1] - eta)
    else:
        found.append((-1) ** polynomial.s * polynomial.taylor(Decimal(-1), 0)[0] - eta)
    return found, [x for x, _ in extrema]


def residuals(s, parameters, eta, places=None):
    polynomial = Polynomial(s, parameters)
    missing, places = ends(polynomial, eta, places)
    return polynomial.order_conditions() + missing, places


def newton(s, parameters, eta):
    step = Decimal(10) ** (-PRECISION // 3)
    for _ in range(30):
        value, places = residuals(s, parameters, eta)
        if max(map(abs, value)) < Decimal(10) ** (-DIGITS - 6):
            return parameters
        columns = []
        for k in range(len(parameters)):
            moved = [x + step if j == k else x for j, x in enumerate(parameters)]
            columns.append([(x - y) / step for x, y in zip(residuals(s, moved, eta, places)[0], value)])
        change = solve_vector([list(row) for row in zip(*columns)], value)
        parameters = damped(s, parameters, change, eta, value)
    raise Refused(f"degree {s}: Newton's method did not converge")


def damped(s, parameters, change, eta, value):
    """The largest of the steps 1, 1/2, 1/4 .. that makes the residuals smaller."""
    for halvings in range(12):
        trial = [x - y / 2 ** halvings for x, y in zip(parameters, change)]
        try:
            if max(map(abs, residuals(s, trial, eta)[0])) < max(map(abs, value)):
                return trial
        except (ArithmeticError, ValueError, IndexError):                        # no such extremum
            pass
    raise Refused(f"degree {s}: Newton's method found no better point")


def rows(p, eta, progress=lambda s: None, most=None):
    """The lines of the table, degree by degree, each from the values of the one before."""
    with localcontext(prec=PRECISION):
        lowest, text = START[p]
        parameters = [Decimal(x) for x in text.split()]
        for s in degrees(lowest, most or MOST[p]):
            parameters = newton(s, parameters, Decimal(eta))
            progress(s)
            yield f"{s:3d} | " + "  ".join(f"{x:{DIGITS + 4}.{DIGITS - digits_before(x)}f}" for x in parameters)


def digits_before(x):
    """Places left of the point that are significant."""
    return max(x.adjusted() + 1, 0)
