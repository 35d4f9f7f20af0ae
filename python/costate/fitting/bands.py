"""Predictions with bands of confidence, by tangents.

An output h(t) of a fitted condition has the derivatives G = dh/dx along all unknowns, and the standard deviation
sqrt(G C G^T).  G is the Jacobian of a misfit with the value 0 and sigma 1 at the times of the prediction."""
import copy

import numpy as np

from costate.fitting.conditions import Experiment
from costate.fitting.data import Measurements
from costate.result import Result


def predict(fit, times, of=None, condition=None, level=0.95):
    """Result: t, in the order of times; value, deviation, low, high: arrays (len(times), columns); of: names of the
    columns.

    of          what is predicted: something that is measured in the condition; None: all of it
    condition   its name; None: the first one.  level: of the band at each time, which holds what the model predicts,
                not the errors of new measurements"""
    e = chosen(fit.misfit, condition)
    known = [one for d in e.data for one in d.of]
    wanted = list(dict.fromkeys(known)) if of is None else list(of) if isinstance(of, (list, tuple)) else [of]
    for one in wanted:
        if one not in known:
            raise ValueError(f"{one!r} is not measured in condition {e.name!r}, which has {', '.join(map(str, known))}")
    times, asked, place = at_times(e, times, wanted)
    u, du, _ = fit.misfit.unknowns.unscaled(fit.x)
    value = asked.value(u)[2].reshape(-1, len(wanted))[place]
    G = asked.jacobian(u, np.diag(du)).reshape(-1, len(wanted), len(u))[place]
    deviation = np.sqrt(np.maximum(np.einsum("tci,ij,tcj->tc", G, fit.covariance, G), 0))
    away = fit.quantile(level) * deviation
    return Result(t=times, value=value, deviation=deviation, low=value - away, high=value + away,
                  of=[str(one) for one in wanted])


def chosen(misfit, condition):
    names = [e.name for e in misfit.experiments]
    if not names:
        raise ValueError("bands of predictions are not available for PEtab problems")
    if condition is None:
        return misfit.experiments[0]
    if str(condition) not in names:
        raise ValueError(f"there is no condition {condition!r}: {', '.join(names)}")
    return misfit.experiments[names.index(str(condition))]


def at_times(e, times, wanted):
    """(times in the order given, the condition at increasing times, where each time is among them)"""
    times = np.array(times, dtype=float, ndmin=1)
    if times.ndim != 1 or times.size == 0 or not np.all(np.isfinite(times)) or np.min(times) < e.t0:
        raise ValueError(f"times of a prediction are finite numbers from t0 = {e.t0:g} on")
    later = e.t[-1:] if np.max(times) == e.t0 else []               # a run has a length
    increasing = np.unique([*times, *later])
    return times, along(e, increasing, wanted), np.searchsorted(increasing, times)


def along(e, times, wanted):
    """the condition with values of 0 at these times in place of its data"""
    data = Measurements(times, np.zeros((len(times), len(wanted))), list(wanted), sigma=1.0)
    new = copy.copy(e)
    new.data, new.known, new.likelihood = [data], None, None
    Experiment.collect(new)
    return new
