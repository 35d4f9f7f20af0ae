"""Elementwise functions as nodes of the graph: NumPy's name of each, and its formula.

Every function takes the graph g and nodes.  Conditions are nodes as well; `of_truths` names the functions that take
conditions."""
import math

SAME_NAME = ("exp", "log", "log10", "log2", "log1p", "expm1", "sqrt", "cbrt", "sin", "cos", "tan", "sinh", "cosh",
             "tanh", "floor", "ceil", "fabs", "erf")
OTHER_NAME = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
              "arctanh": "atanh", "absolute": "fabs"}
COMPARED = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!="}


def function(name):
    return lambda g, a: g.f(name, a)


def comparison(op):
    return lambda g, a, b: g.cmp(op, a, b)


def truncated(g, a):
    return g.sel(g.cmp("<", a, g.c(0)), g.f("ceil", a), g.f("floor", a))


def sign(g, a):
    zero = g.c(0)
    return g.sel(g.cmp(">", a, zero), g.c(1), g.sel(g.cmp("<", a, zero), g.c(-1), zero))


def heaviside(g, a, at_zero):
    zero = g.c(0)
    return g.sel(g.cmp("<", a, zero), zero, g.sel(g.cmp(">", a, zero), g.c(1), at_zero))


def floor_divided(g, a, b):
    return g.f("floor", g.div(a, b))


def remainder(g, a, b):
    return g.sub(a, g.mul(floor_divided(g, a, b), b))


def fmod(g, a, b):
    return g.sub(a, g.mul(truncated(g, g.div(a, b)), b))


def copysign(g, a, b):
    size = g.f("fabs", a)
    return g.sel(g.cmp("<", b, g.c(0)), g.neg(size), size)


def logaddexp(g, a, b):
    return g.add(g.largest(a, b), g.f("log1p", g.f("exp", g.neg(g.f("fabs", g.sub(a, b))))))


def logistic(g, a):
    return g.div(g.c(1), g.add(g.c(1), g.f("exp", g.neg(a))))


def xlogy(g, a, b):
    zero = g.cmp("==", a, g.c(0))
    return g.sel(zero, g.c(0), g.mul(a, g.f("log", b)))


def sinc(g, a):
    """sin(pi a)/(pi a); at 0 its series, which also has the derivatives there"""
    x = g.mul(g.c(math.pi), a)
    square = g.pow(x, g.c(2))
    near = g.sub(g.c(1), g.div(g.mul(square, g.sub(g.c(1), g.div(square, g.c(20)))), g.c(6)))
    return g.sel(g.cmp("==", x, g.c(0)), near, g.div(g.f("sin", x), x))


def clip(g, a, low, high):
    return g.least(g.largest(a, low), high)


FORMULAS = {
    **{name: function(name) for name in SAME_NAME},
    **{name: function(ours) for name, ours in OTHER_NAME.items()},
    **{name: comparison(op) for name, op in COMPARED.items()},
    "add": lambda g, a, b: g.add(a, b), "subtract": lambda g, a, b: g.sub(a, b),
    "multiply": lambda g, a, b: g.mul(a, b), "divide": lambda g, a, b: g.div(a, b),
    "true_divide": lambda g, a, b: g.div(a, b), "power": lambda g, a, b: g.pow(a, b),
    "float_power": lambda g, a, b: g.pow(a, b), "negative": lambda g, a: g.neg(a), "positive": lambda g, a: a,
    "conjugate": lambda g, a: a, "square": lambda g, a: g.pow(a, g.c(2)),
    "reciprocal": lambda g, a: g.div(g.c(1), a), "exp2": lambda g, a: g.pow(g.c(2), a),
    "minimum": lambda g, a, b: g.least(a, b), "maximum": lambda g, a, b: g.largest(a, b),
    "fmin": lambda g, a, b: g.least(a, b), "fmax": lambda g, a, b: g.largest(a, b),
    "sign": sign, "heaviside": heaviside, "trunc": truncated, "floor_divide": floor_divided, "remainder": remainder,
    "fmod": fmod, "copysign": copysign, "arctan2": lambda g, a, b: g.g("atan2", a, b),
    "hypot": lambda g, a, b: g.g("hypot", a, b), "deg2rad": lambda g, a: g.mul(g.c(math.pi / 180), a),
    "radians": lambda g, a: g.mul(g.c(math.pi / 180), a), "rad2deg": lambda g, a: g.mul(g.c(180 / math.pi), a),
    "degrees": lambda g, a: g.mul(g.c(180 / math.pi), a), "logaddexp": logaddexp, "expit": logistic, "xlogy": xlogy,
    "clip": clip, "sinc": sinc,
}
OF_TRUTHS = {
    "logical_and": lambda g, a, b: g.both(a, b), "logical_or": lambda g, a, b: g.either(a, b),
    "logical_xor": lambda g, a, b: g.both(g.either(a, b), g.no(g.both(a, b))), "logical_not": lambda g, a: g.no(a),
}
BITS = {"bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor", "invert": "logical_not"}
TRUTHS = {*COMPARED, *OF_TRUTHS}               # whose values are conditions
