"""What is found of a degree's stability polynomial on [-beta, 0], with the doubles that C gets.

Between extrema |R| has no maximum, so it is enough to look at these; they are bracketed on a grid that is finer than
they can be (an extremum of a polynomial with |R| <= 1 spans about pi/s in theta, z = beta (cos(theta) - 1)/2) and
refined by parabolas. A relative error d of a place changes |R| by d^2, so doubles tell it to 1e-11."""
from dataclasses import dataclass
from math import cos, pi, sqrt

from ..real import Refused
from .degree import internal, responses

ROUNDING = 1e-10                     # of R(z) in doubles: 2e-12 is found, against numbers of 50 digits
GRID = 5                             # points an extremum
CLOSER = 1 / 32
SAMPLES = 24                         # of those at which errors in the stages are followed


@dataclass
class Interval:
    """What was found."""
    largest: float                   # |R| after the fall from 1
    embedded: float                  # |R + est| there
    noise: float                     # errors of 1 in the stages reach y+ as this: root mean square over theta,
    most_noise: float                # and at the worst z
    turns: list                      # (z, R) near each extremum, from the first one on


def interval(d):
    """Follows R from z = 0 to -beta; d has doubles."""
    n = GRID * d.s

    def place(k):
        return d.beta * (cos(pi * k / n) - 1) / 2

    def values(at):
        return [R for R, _ in responses(d, [place(k) for k in at])]

    R = responses(d, [place(k) for k in range(n + 1)])
    turns = [k for k in range(1, n) if (R[k][0] - R[k - 1][0]) * (R[k + 1][0] - R[k][0]) < 0]
    if not turns:
        raise Refused(f"degree {d.s}: R has no extremum in its interval: beta is too small")
    if R[1][0] >= R[0][0]:
        raise Refused(f"degree {d.s}: R does not fall from 1")
    peaks = vertices(values, turns, [r for r, _ in R]) + [R[n][0]]
    stride = max(1, n // SAMPLES)
    noise = [internal(d, place(k)) for k in range(n, 0, -stride)]
    return Interval(max(map(abs, peaks)), max(abs(r + e) for r, e in R[turns[0]:]),
                    sqrt(sum(x * x for x in noise) / len(noise)), max(noise),
                    [(place(k), R[k][0]) for k in turns])


def vertices(values, turns, R):
    """The extremum of R between k - 1 and k + 1, for each k of turns: the vertex of the parabola through the three, and
    of one through three closer points there."""
    at = [k + offset(*R[k - 1:k + 2]) for k in turns]
    near = zip(*(values([k + shift for k in at]) for shift in (-CLOSER, 0, CLOSER)))
    return values([k + CLOSER * offset(*three) for k, three in zip(at, near)])


def offset(left, middle, right):
    """Of the vertex from the middle one of three points, in units of their distance."""
    curvature = left - 2 * middle + right
    return max(-1.0, min(1.0, (left - right) / (2 * curvature))) if curvature else 0.0
