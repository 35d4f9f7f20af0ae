"""States at given times as a function of y0 and p: what costate.torch and costate.jax share."""
import numpy as np

from costate._library import CostateError
from costate.functional import Functional


def checked_times(t):
    """t as an array, if a run can pass it in this order"""
    times = np.array(t, dtype=float)
    steps = np.diff(times) if times.ndim == 1 else np.zeros(0)
    if not (steps.size and np.isfinite(times).all() and (np.all(steps > 0) or np.all(steps < 0))):
        raise ValueError("t: expected two or more times, strictly increasing or strictly decreasing")
    return times


def run_over(problem, times, y0, p):
    """a recorded run from times[0] that passes all times; run.at holds the states there"""
    if problem.memory or getattr(problem.model, "nm", 0) > len(getattr(problem.model, "hidden", ())):
        raise ValueError("the problem has memory variables, which are no part of y0 here")
    run = problem.integrate((times[0], times[-1]), y0, p, t_eval=times)
    if run.t != times[-1]:
        raise RuntimeError(f"the run ended at t = {run.t}, before the last of the times, {times[-1]}")
    return run


def curvature(run, times, w, u, v):
    """(by y0, by p): the Hessian of the sum of w[k] y(times[k]), times the direction u of y0 and v of p"""
    number = {t: k for k, t in enumerate(times)}
    flat = np.zeros((w.shape[1], w.shape[1]))
    states = Functional(times=times, term=lambda t, y: w[number[t]] @ y, term_y=lambda t, y: w[number[t]],
                        term_yy=lambda t, y: flat)
    try:
        product = run.hessp(states, u, v)
    except (CostateError, TypeError) as error:
        if isinstance(error, CostateError) and error.status != "COSTATE_MISSING":
            raise
        raise RuntimeError("the gradient of a gradient needs second derivatives of the problem's functions: Jacobians "
                           "that accept complex y, or hvp, or Problem(..., differences=1), which is not exact"
                           ) from error
    return product.Hy0, product.Hp
