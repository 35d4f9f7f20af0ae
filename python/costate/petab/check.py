"""Checks of the gradient of a PEtab problem: adjoint against tangents, and against differences of replayed runs."""
import numpy as np

from costate._library import CostateError
from costate.result import Result

LENGTHS = 3.0 * 10.0 ** -np.arange(3, 12)       # of the differences, in units of the parameters
ENOUGH = 1e-9           # relative change from one length to the next


def direction(problem, x, seed=0):
    """a random one; parameters on a linear scale move in proportion to their sizes"""
    d = np.random.default_rng(seed).standard_normal(len(x))
    sizes = np.where(np.array(problem.scales) == "lin", np.where(x != 0, np.abs(x), 1.0), 1.0)
    return d / np.linalg.norm(d) * sizes


def difference(problem, x, d, size):
    """(derivative along d by differences of replays, of fourth order; how much the last two lengths differ), or NaN;
    size: that of the derivative.  Lengths become smaller until truncation is below round-off"""
    last, best = np.nan, (np.nan, np.nan)
    for h in LENGTHS:
        try:
            one, two = ([problem.replayed(x, x + sign * k * h * d) for sign in (1, -1)] for k in (1, 2))
        except (CostateError, ArithmeticError):         # the moved solution does not exist, or has no logarithm
            continue
        found = (8 * (one[0] - one[1]) - (two[0] - two[1])) / (12 * h)
        change, last = abs(found - last), found
        if change > best[1]:                            # round-off
            break
        if not np.isnan(change):
            best = found, change
        if change < ENOUGH * size:
            break
    return best


def check(problem, x=None, seed=0):
    """Result of one random direction d: adjoint, the gradient times d, with its estimated error; tangent; difference
    and its uncertainty; by_tangent and by_difference: differences from the adjoint, relative to the sum of
    |gradient_i d_i|"""
    x = problem.nominal if x is None else np.asarray(x, dtype=float)
    d = direction(problem, x, seed)
    found = problem.gradient(x, estimate=True)
    adjoint, tangent = found.gradient @ d, problem.tangent(d, x)
    size = np.abs(found.gradient) @ np.abs(d) or 1.0
    by_replay, uncertain = difference(problem, x, d, size)
    return Result(direction=d, value=found.value, gradient=found.gradient, error=found.error, adjoint=adjoint,
                  adjoint_error=found.error.gradient @ d, tangent=tangent, difference=by_replay,
                  uncertainty=uncertain / size, by_tangent=abs(adjoint - tangent) / size,
                  by_difference=abs(adjoint - by_replay) / size)
