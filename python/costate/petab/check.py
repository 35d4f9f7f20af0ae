"""Checks of the gradient of a PEtab problem: adjoint against tangents, and against differences of replayed runs."""
import numpy as np

from costate._library import CostateError
from costate.result import Result

LENGTHS = (3e-3, 3e-4, 3e-5, 3e-6)      # of the differences, in units of the parameters


def direction(problem, x, seed=0):
    """a random one; parameters on a linear scale move in proportion to their sizes"""
    d = np.random.default_rng(seed).standard_normal(len(x))
    sizes = np.where(np.array(problem.scales) == "lin", np.where(x != 0, np.abs(x), 1.0), 1.0)
    return d / np.linalg.norm(d) * sizes


def difference(problem, x, d):
    """(derivative along d by differences of replays, of fourth order; how much the last two lengths differ), or NaN"""
    found = []
    for h in LENGTHS:
        try:
            one, two = ([problem.replayed(x, x + sign * k * h * d) for sign in (1, -1)] for k in (1, 2))
            found.append((8 * (one[0] - one[1]) - (two[0] - two[1])) / (12 * h))
        except (CostateError, ArithmeticError):         # the moved solution does not exist, or has no logarithm
            continue
    if len(found) < 2:
        return (found or [np.nan])[0], np.nan
    change, best = min((abs(a - b), b) for a, b in zip(found, found[1:]))
    return best, change


def check(problem, x=None, seed=0):
    """Result of one random direction d: adjoint, the gradient times d, with its estimated error; tangent; difference
    and its uncertainty; by_tangent and by_difference: differences from the adjoint, relative to the sum of
    |gradient_i d_i|"""
    x = problem.nominal if x is None else np.asarray(x, dtype=float)
    d = direction(problem, x, seed)
    found = problem.gradient(x, estimate=True)
    adjoint, tangent = found.gradient @ d, problem.tangent(d, x)
    by_replay, uncertain = difference(problem, x, d)
    size = np.abs(found.gradient) @ np.abs(d) or 1.0
    return Result(direction=d, value=found.value, gradient=found.gradient, error=found.error, adjoint=adjoint,
                  adjoint_error=found.error.gradient @ d, tangent=tangent, difference=by_replay,
                  uncertainty=uncertain / size, by_tangent=abs(adjoint - tangent) / size,
                  by_difference=abs(adjoint - by_replay) / size)
