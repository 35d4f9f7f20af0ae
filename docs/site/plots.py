"""Figures of stability: the region, the order star, |R| along an axis, the region with ADI factors."""
import cmath
from itertools import combinations_with_replacement
from math import floor, radians

from codegen.adi import Response, wedge
from codegen.rkc.degree import response
from codegen.rkc.doubles import doubles

from figure import Figure
from regions import Grid, logarithm, loops, rational, round_up, window

POINTS = 400
SIDE = 10.0                          # of the window of factors, half
ROUND_OFF = 1e-9                     # of log |R|, which falls to 0 at infinity
AXES = ("Re z", "Im z")


def stability_figures(m):
    """(name of the file, alternative text, figure); the first is the region"""
    name = m.name
    made = of_degrees(m) if hasattr(m, "degrees") else of_rational(m)
    return [(f"{name}-{key}.svg", words, picture.text()) for key, words, picture in made]


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
    picture = filled(f"|R| <= 1, {factors} ADI factors", f, SIDE, 0)
    angle = wedge(R, factors)
    if angle:
        for sign in (1, -1):
            picture.curve([(0, 0), tuple(2 * SIDE * x for x in ray(sign * angle))], "c1")
        picture.note(f"|arg(-z)| <= {floor(10 * angle) / 10:.1f} degrees", "t1")
    return picture


def ray(angle):
    z = -cmath.exp(1j * radians(angle))
    return z.real, z.imag


def star(R):
    f = logarithm(R)
    return lambda z: f(z) - z.real


def filled(title, f, side, centre):
    picture = Figure((centre - side, centre + side), (-side, side), title, AXES, 420, 418)
    picture.area(loops(Grid(f, (centre - side, centre + side), side)))
    return picture


def imaginary(R, side):
    top = 2 * side
    ys = [top * k / POINTS for k in range(POINTS + 1)]
    values = [min(abs(R(1j * y)), 10) for y in ys]
    picture = Figure((0, top), (0, min(2.0, max(1.2, 1.1 * max(values)))), "on both axes", ("y", "|R|"), 420, 300)
    picture.curve(list(zip(ys, values)), "c0")
    picture.curve([(y, min(abs(R(complex(-y))), 10)) for y in ys], "c1")
    picture.note("|R(iy)|", "t0")
    picture.note("|R(-y)|", "t1")
    return picture


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
    picture = Figure((left, 0.06 * d.beta), (-top, top), f"|R(z)| <= 1, degree {d.s}", AXES, 420, 300)
    picture.area(loops(Grid(f, (left, 0.06 * d.beta), top)))
    return picture


def upper(f, beta, cells=120):
    """places of the region above the real axis, on a coarse grid of [-beta, 0] x [0, beta/2]"""
    return [z for k in range(cells) for i in range(cells)
            for z in [complex(-beta * (i + 0.5) / cells, beta / 2 * (k + 0.5) / cells)] if f(z) <= 0]


def real(degrees):
    picture = Figure((-1.03, 0.03), (-1.1, 1.8), "R on the real axis", ("z / beta", "R"), 420, 300)
    for k, d in enumerate(degrees):
        zs = [1.02 * (cmath.cos(cmath.pi * i / POINTS).real - 1) / 2 for i in range(POINTS + 1)]
        picture.curve([(z, max(-9, min(9, response(d, d.beta * z)[0]))) for z in zs], f"c{k}")
        picture.note(f"degree {d.s}, beta {d.beta:.4g}", f"t{k}")
    return picture


def lengths(m):
    points = [(d.s, float(d.beta / d.s ** 2)) for d in m.degrees]
    picture = Figure((0, round_up(points[-1][0])), (0, 1.2 * max(y for _, y in points)), "beta / s^2 by degree",
                     ("degree s", "beta / s^2"), 420, 300)
    picture.curve(points, "c0")
    picture.dots(points, 1.6)
    return picture
