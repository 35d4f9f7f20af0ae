"""Figures of stability: the region, the order star, |R| along an axis, the region with ADI factors."""
import cmath
from itertools import combinations_with_replacement
from math import floor, radians

from codegen.adi import Response, wedge
from codegen.rkc.degree import response
from codegen.rkc.doubles import doubles

from drawing import BLUE, GREEN, ORANGE, axes
from functions import FAR, logarithm, rational, round_up, window

POINTS = 400
CELLS = 150                          # a side of the grid
SIDE = 10.0                          # of the window of factors, half
ROUND_OFF = 1e-9                     # of log |R|, which falls to 0 at infinity
AXES = ("Re z", "Im z")


def stability_figures(m):
    """(name of the file, alternative text, figure); the first is the region"""
    name = m.name
    made = of_degrees(m) if hasattr(m, "degrees") else of_rational(m)
    return [(f"{name}-{key}.svg", words, picture) for key, words, picture in made]


def of_rational(m):
    R = rational(m.P, m.Q)
    side, centre = window(logarithm(R), m.r_infinity is None)
    near = side if m.r_infinity is None else min(side, 4 + m.table.order)
    return [("region", "region of absolute stability", filled("|R(z)| <= 1", logarithm(R), side, centre)),
            ("star", "order star", filled("order star: |R(z)| <= |exp(z)|", star(R), near, 0)),
            ("axis", "|R| on the imaginary axis", imaginary(R, side)), *of_factors(m)]


def of_factors(m):
    """of W-methods, with two and three ADI factors"""
    if "w-method" not in m.properties:
        return []
    R = Response(m)
    return [(f"adi{factors}", f"region of stability with {factors} ADI factors", with_factors(R, factors))
            for factors in (2, 3)]


def with_factors(R, factors):
    """z of one factor, where |R| <= 1 whichever of z, conj z and infinity the others are; the wedge for all"""
    def f(z):
        values = []                  # R = 1 where two are infinite
        for others in combinations_with_replacement((z, z.conjugate(), None), factors - 1):
            finite = [z, *(x for x in others if x is not None)]
            if len(finite) >= factors - 1:
                of = R.of if len(finite) == factors else R.with_infinite
                values.append(logarithm(lambda zs, of=of: of(*zs))(finite) - ROUND_OFF)
        return max(values)
    figure = filled(f"|R| <= 1, {factors} ADI factors", f, SIDE, 0)
    angle = wedge(R, factors)
    if angle:
        place, = figure.axes
        for sign in (1, -1):
            place.plot(*zip((0, 0), tuple(2 * SIDE * x for x in ray(sign * angle))), color=ORANGE)
        place.set(xlim=(-SIDE, SIDE), ylim=(-SIDE, SIDE))
        place.set_title(f"|R| <= 1, {factors} ADI factors; line: |arg(-z)| <= {floor(10 * angle) / 10:.1f} degrees")
    return figure


def ray(angle):
    z = -cmath.exp(1j * radians(angle))
    return z.real, z.imag


def star(R):
    f = logarithm(R)
    return lambda z: f(z) - z.real


def filled(title, f, side, centre):
    """{f <= 0} in a square about a point of the real axis"""
    figure, place = axes(title, AXES)
    area(place, f, (centre - side, centre + side), side)
    place.set_aspect("equal")
    return figure


def area(place, f, x, top):
    """f(conj z) = f(z): the upper half plane is enough"""
    xs = [x[0] + (x[1] - x[0]) * k / CELLS for k in range(CELLS + 1)]
    ys = [top * (k + 0.5) / (CELLS // 2) for k in range(CELLS // 2)]
    upper = [[f(complex(a, b)) for a in xs] for b in ys]
    place.contourf(xs, [-y for y in ys[::-1]] + ys, upper[::-1] + upper, [-2 * FAR, 0], colors=[BLUE], alpha=0.35)
    place.contour(xs, [-y for y in ys[::-1]] + ys, upper[::-1] + upper, [0], colors=[BLUE], linewidths=1)
    place.axhline(0, color="black", linewidth=0.5)
    place.axvline(0, color="black", linewidth=0.5)


def imaginary(R, side):
    top = 2 * side
    ys = [top * k / POINTS for k in range(POINTS + 1)]
    values = [min(abs(R(1j * y)), 10) for y in ys]
    figure, place = axes("on both axes", ("y", "|R|"), (3.9, 2.9))
    place.plot(ys, values, color=BLUE, label="|R(iy)|")
    place.plot(ys, [min(abs(R(complex(-y))), 10) for y in ys], color=ORANGE, label="|R(-y)|")
    place.set(ylim=(0, min(2.0, max(1.2, 1.1 * max(values)))), xlim=(0, top))
    place.legend(frameon=False)
    return figure


def chosen(m):
    """The first degrees that are not below 5, 10, 20."""
    return [next(d for d in m.degrees if d.s >= least or d is m.degrees[-1]) for least in (5, 10, 20)]


def of_degrees(m):
    degrees = [doubles(d) for d in chosen(m)]
    middle = degrees[1]
    return [("region", f"region of absolute stability of degree {middle.s}", region(middle)),
            ("axis", "R along the real axis", real(degrees)),
            ("beta", "length of the interval by degree", lengths(m))]


def region(d):
    f = logarithm(lambda z: response(d, z)[0])
    left, top = -1.06 * d.beta, round_up(1.2 * max(z.imag for z in upper(f, d.beta)))
    figure, place = axes(f"|R(z)| <= 1, degree {d.s}", AXES, (3.9, 2.9))
    area(place, f, (left, 0.06 * d.beta), top)
    return figure


def upper(f, beta, cells=120):
    """places of the region above the real axis, on a coarse grid of [-beta, 0] x [0, beta/2]"""
    return [z for k in range(cells) for i in range(cells)
            for z in [complex(-beta * (i + 0.5) / cells, beta / 2 * (k + 0.5) / cells)] if f(z) <= 0]


def real(degrees):
    figure, place = axes("R on the real axis", ("z / beta", "R"), (3.9, 2.9))
    for color, d in zip((BLUE, ORANGE, GREEN), degrees):
        zs = [1.02 * (cmath.cos(cmath.pi * i / POINTS).real - 1) / 2 for i in range(POINTS + 1)]
        place.plot(zs, [response(d, d.beta * z)[0].real for z in zs], color=color,
                   label=f"degree {d.s}, beta {d.beta:.4g}")
    place.set(xlim=(-1.03, 0.03), ylim=(-1.1, 1.8))
    place.legend(frameon=False)
    return figure


def lengths(m):
    figure, place = axes("beta / s^2 by degree", ("degree s", "beta / s^2"), (3.9, 2.9))
    points = [(d.s, float(d.beta / d.s ** 2)) for d in m.degrees]
    place.plot(*zip(*points), color=BLUE, marker=".", markersize=3)
    place.set_ylim(0, 1.2 * max(y for _, y in points))
    return figure
