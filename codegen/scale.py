"""The factor of an error estimate that underrates: what makes it as large as the error on two simple problems.

    x' = exp(i t)     error |x sum b_j (exp(i c_j x) + i x gamma_j) - (exp(i x) - 1)/i|,
                      estimate the same sum with bhat - b                        (gamma_j: of Rosenbrock methods)
    y' = i y, y = 1   error |R(i x) - exp(i x)|, estimate |Rhat(i x) - R(i x)|, filtered by 1/(1 - gamma i x) where
                      the method is implicit

for a step of x radians, as long as makes the error ERROR.  The larger ratio of error and estimate is the factor, and 1
where it is less: most estimates belong to the embedded solution, of lower order, and are larger than the error.  It
falls with the step, as the estimate has the lower order: 1e-4 is between the tolerances that are asked for."""
import cmath
from decimal import Decimal
from operator import mul

from .real import ONE, ZERO
from .stability import rational

ERROR = 1e-4


def factor(method):
    """in two decimals, 1 where there is no estimate"""
    if not method.embedded_weights:
        return ONE
    return max(ONE, round(Decimal(max(underrated(pair) for pair in (quadrature(method), oscillation(method)))), 2))


def weights(method):
    """Conditions over all stages, and the weights of the solution and of the estimate over them."""
    conditions, bhat = method.embedded_conditions or method.conditions, method.embedded_weights
    b = [ZERO] + method.weights + [ZERO] if method.embedded_conditions else method.weights
    return conditions, b, [x - y for x, y in zip(bhat, b, strict=True)]


def quadrature(method):
    conditions, b, change = weights(method)
    b, change = floats(b), floats(change)
    c, rows = (floats(sum(row, ZERO) for row in A) for A in (conditions.alpha, conditions.beta))
    gammas = [x - y for x, y in zip(rows, c)]                         # 0 where beta is alpha

    def both(x):
        slopes = [cmath.exp(1j * at * x) + 1j * x * g for at, g in zip(c, gammas)]
        return abs(x * total(b, slopes) - (cmath.exp(1j * x) - 1) / 1j), abs(x * total(change, slopes))
    return both


def oscillation(method):
    conditions, b, _ = weights(method)
    own = (method.P, method.Q) if b is method.weights else rational(conditions.beta, b, method.tol)
    P, Q = (floats(p) for p in own)
    Phat, Qhat = (floats(p) for p in rational(conditions.beta, method.embedded_weights, method.tol))
    gamma = float(method.gamma) if method.table.family in ("sdirk", "firk") else 0

    def both(x):
        R, Rhat = polynomial(P, 1j * x) / polynomial(Q, 1j * x), polynomial(Phat, 1j * x) / polynomial(Qhat, 1j * x)
        return abs(R - cmath.exp(1j * x)), abs(Rhat - R) / abs(1 - gamma * 1j * x)
    return both


def underrated(both):
    """Error over estimate at the first step whose error is ERROR."""
    short, long = 0.0, 1e-3
    while both(long)[0] < ERROR:
        short, long = long, 1.05 * long
    for _ in range(50):
        middle = (short + long) / 2
        short, long = (middle, long) if both(middle)[0] < ERROR else (short, middle)
    error, estimate = both(long)
    return error / estimate


def floats(values):
    return [float(x) for x in values]


def total(weights, values):
    return sum(map(mul, weights, values))


def polynomial(p, z):
    value = 0
    for c in reversed(p):
        value = value * z + c
    return value
