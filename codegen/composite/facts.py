"""What a composite method needs to know of its members (mathematics, section 3.6).

    real      the largest x such that |R(-x')| <= 1 for all x' <= x
    waves     the largest x such that log|R(i x')| <= x'/SPAN for all x' <= x: a wave has grown by no more than e after
              SPAN radians.  With |R| <= 1 it would be 0 for many methods whose |R| exceeds 1 by 1e-8
    settles   the part of `real` at which a composite method counts a step as limited by stiffness

Where stiffness limits the step, h rho is not always `real`.  Let phi be the slow solution of

    y' = -rho (y - phi(t)) + phi'(t),     z = -h rho,

with constant phi''.  Stages of an explicit method have the error h^2/2 phi'' (2 A c - c^2), so that with the weights e
of the estimate

    y_(n+1) - phi = R(z) (y_n - phi) + h^2/2 phi'' delta(z),   delta = 2 b.c - 1 + z b.(I - zA)^-1 (2 A c - c^2)
    est           = E(z) (y_n - phi) + h^2/2 phi'' eta(z),     eta   = 2 e.c     + z e.(I - zA)^-1 (2 A c - c^2)

For constant h, y_n - phi tends to h^2/2 phi'' delta/(1 - R), and the estimate in tolerances to

    err = |phi''|/(2 rho^2 tol) S(z),     S(z) = z^2 |E delta/(1 - R) + eta|.

The PI controller keeps h if err = safety^(k/0.65) (mathematics, section 13.5: alpha - beta = 0.65/k for erk).  So h
settles at the least |z| where S(z) = KAPPA safety^(k/0.65), KAPPA = 2 rho^2 tol/|phi''| (mathematics, eq. 3.17), or at
|R(z)| = 1 if that comes first.  Two estimates (DOP853) are combined as in a run.

KAPPA depends on the problem and its tolerance.  On Robertson's problem with rtol = 1e-9 it is 0.6 to 0.75 (dopri853:
0.9) in the steps 300 to 600, and grows later, because phi'' falls.  With 0.65 for all methods of order 5 and more,
formula and run differ there by at most 0.02 (codegen/tests/test_composite.py).  Where KAPPA is larger, because the
tolerance is, h settles closer to `real`, which is beyond `settles`, too."""
import math
from operator import mul
from typing import NamedTuple

from .. import limits as stability
from ..scale import factor, floats, total

SPAN = 1e4
KAPPA = 0.65
SAFETY, PI_BETA = 0.9, 0.2           # options.safety; pi_beta of src/erk/family.c
BELOW, MOST = 0.92, 0.95             # a run is close to where it settles, not always at it: that part of it counts
STEP = 1e-3                          # of the search, as a part of `real`


class Facts(NamedTuple):
    """One form for methods of all families."""
    name: str
    title: str
    family: str
    s: int                           # of the C descriptor
    order: int
    embedded: int
    dense: int
    properties: frozenset
    r_infinity: object
    rounding: object


def facts(m):
    """of a method of codegen/method.py or codegen/rkc/read.py"""
    if hasattr(m, "degrees"):
        return Facts(m.name, m.keys["title"], "rkc", 4, m.keys["order"], m.keys["embedded"], m.dense,
                     frozenset(["fsal"]), None, max(f.rounded for f in m.found))
    t = m.table
    return Facts(m.name, t.keys["title"], t.family, m.s, t.order, m.embedded, m.dense, frozenset(m.properties),
                 m.r_infinity, m.tol)


def limits(m):
    """(real, settles, waves) of an explicit method; a method of family rkc takes the degree that h rho requires"""
    if hasattr(m, "degrees"):
        return float(m.degrees[-1].beta), MOST, 0.0
    R = tuple(floats(m.P))
    real = stability.first(R, 180, 0)
    return real, min(MOST, BELOW * settled(m, real)), stability.first(R, 90, 1 / SPAN)


def settled(m, real, kappa=KAPPA):
    """Where the controller settles, as a part of `real`."""
    forced, enough = Forced(m), kappa * kept(exponent(m))
    steps = next((k for k in range(1, round(1 / STEP)) if forced.estimate(-k * STEP * real) >= enough), None)
    if steps is None:
        return 1.0
    inside, outside = (steps - 1) * STEP, steps * STEP
    for _ in range(30):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if forced.estimate(-middle * real) >= enough else (middle, outside)
    return inside


def exponent(m):
    """k of the controller: error_exponent of src/run/control.c."""
    return m.table.order if m.e2 else min(m.embedded, m.table.order) + 1


def kept(k):
    """The error, in tolerances, for which the controller keeps h."""
    return SAFETY ** (k / (1 - 0.75 * PI_BETA - PI_BETA))


class Forced:
    """The response of an explicit method and its estimate to a slow solution with constant second derivative."""

    def __init__(self, m):
        scale = float(factor(m))
        self.A, self.b, self.c = [floats(row) for row in m.A], floats(m.b), floats(m.c)
        self.e = [scale * x for x in floats(m.e)]
        self.e2 = [scale * x for x in floats(m.e2)] if m.e2 else None
        self.defect = [2 * total(row, self.c) - x * x for row, x in zip(self.A, self.c)]

    def solve(self, z, right):
        """(I - zA)^-1 right"""
        x = []
        for row, value in zip(self.A, right):
            x.append(value + z * sum(map(mul, row, x)))      # of the entries before the diagonal, as many as x has
        return x

    def estimate(self, z):
        """S(z)"""
        one, slow = self.solve(z, [1.0] * len(self.b)), self.solve(z, self.defect)
        R = 1 + z * total(self.b, one)
        away = (2 * total(self.b, self.c) - 1 + z * total(self.b, slow)) / (1 - R)

        def steady(e):
            return z * z * abs(z * total(e, one) * away + 2 * total(e, self.c) + z * total(e, slow))
        first = steady(self.e)
        return first * first / math.hypot(first, 0.1 * steady(self.e2)) if self.e2 and first else first
