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


def refuse_memory(problem):
    if problem.memory or getattr(problem.model, "nm", 0) > len(getattr(problem.model, "hidden", ())):
        raise ValueError("the problem has memory variables, which are no part of y0 here")


def run_over(problem, times, y0, p):
    """a recorded run from times[0] that passes all times; run.at holds the states there"""
    refuse_memory(problem)
    run = problem.integrate((times[0], times[-1]), y0, p, t_eval=times)
    if run.t != times[-1]:
        raise RuntimeError(f"the run ended at t = {run.t}, before the last of the times, {times[-1]}")
    return run


def runs_in_threads(problem, times, y0, p):
    """does an ensemble of this problem run in threads?"""
    return problem.built(times[0], y0, p, times[-1])[0].runs_in_threads()


def ensemble_over(problem, times, y0, p, **more):
    """runs from times[0] that pass all times, from each row of y0 with each row of p"""
    refuse_memory(problem)
    found = problem.ensemble((times[0], times[-1]), y0, p, t_eval=times, **more)
    if found.failed.size:
        k = found.failed[0]
        raise CostateError(found.status[k], f"member {k} of the batch: {found.messages[k]}")
    if not np.isfinite(found.at).all():
        k = int(np.argmin(np.isfinite(found.at).all(axis=(1, 2))))
        raise RuntimeError(f"the run of member {k} of the batch ended before the last of the times, {times[-1]}")
    return found


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
