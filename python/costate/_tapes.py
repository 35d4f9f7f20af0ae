"""Tapes of runs in memory and in files, and runs that are continued."""
import os

import numpy as np

from costate import _library as library
from costate._costate import ffi, lib
from costate._derivatives import Mistrusted
from costate._library import CostateError, pointer


def checked_path(tape, record):
    """the path of a tape as bytes, or None: it is in memory"""
    if tape is None:
        return None
    if not record:
        raise ValueError("record=False: there is nothing to write to a tape")
    return os.fsencode(tape)


def checked_times(t_eval, t0, t1):
    """times at which the state is wanted, as an array: in the order of the run, from t0 to t1"""
    if t_eval is None:
        return np.empty(0)
    times = np.array(t_eval, dtype=float, ndmin=1)
    if times.ndim > 1:
        raise ValueError(f"t_eval has shape {times.shape}; expected (k,)")
    outside = ~((times >= min(t0, t1)) & (times <= max(t0, t1)))
    if outside.any():
        raise ValueError(f"t_eval has {times[outside][0]:.10g}, which is not between t0 = {t0:.10g} and t1 = {t1:.10g}")
    steps = np.diff(times) if t1 >= t0 else -np.diff(times)
    if np.any(steps < 0):
        k = int(np.argmax(steps < 0))
        raise ValueError(f"t_eval is not sorted in the order of the run: {times[k + 1]:.10g} comes after "
                         f"{times[k]:.10g}")
    return times


def new(path):
    """a tape in memory, or in a file"""
    return ffi.gc(lib.costate_tape_new() if path is None else lib.costate_tape_open(path), lib.costate_tape_free)


def load(problem, *arguments, **more):
    """as load_once, again with differences where complex steps turn out to be wrong"""
    while True:
        try:
            return load_once(problem, *arguments, **more)
        except Mistrusted:
            problem.rebuild()


def load_once(problem, path, t_span, y0, p, resume=False):
    """the Run of a tape in a file; resume: after its run has been completed"""
    from costate.problem import Run
    (t0, t1), path = (float(t) for t in t_span), checked_path(path, True)
    run = object.__new__(Run)
    run.problem, run.t0, run._t1, run.stopped, run.gradient_error = problem, t0, t1, False, None
    run._given = tuple(None if a is None else np.array(a) for a in (y0, p))
    run._options, run._parts = (np.empty(0), True, False), []
    run._file = None                            # steps that are computed again do not overwrite it
    b, y, run._p = problem.built(t0, y0, p, t1)
    run._b, run._start, run._tape = b, problem.start(y0, b), new(path)
    run._read = not resume                      # only the solver that writes a tape can continue its run
    run._y0, run._looked, run._known_wrong = y.copy(), False, frozenset(problem.trust.wrong)
    with b.lock:
        b.scales.between(t0, t1)
        if resume:
            b.check(lib.costate_resume(b.solver, run._tape, pointer(np.empty(b.N))))
        else:
            b.check(lib.costate_tape_read(b.solver, run._tape))
        compared(run, b, y)
    return run


def compared(run, b, y):
    """sets the end of the run from its steps, repeated from y and with the given p; refuses others than those of the
    tape"""
    starts, lengths = run.steps
    if not len(starts) or starts[0] != run.t0:
        raise CostateError("COSTATE_BAD_TAPE", f"the tape begins at t = {starts[0]:.10g}, the given t0 is "
                           f"{run.t0:.10g}" if len(starts) else "the tape has no steps")
    lib.costate_reset_stats(b.solver)
    b.check(lib.costate_replay(b.solver, run._tape, pointer(y), pointer(run._p) if b.np else ffi.NULL))
    run.t, run._end = lib.costate_time(b.solver), y
    run.y, run.q, run.m = y[:b.n].copy(), y[b.n:b.n + b.nq].copy(), y[b.n + b.nq:].copy()
    run.at, run.derivatives, run.message = np.empty((b.n, 0)), b.way, library.said(lib.costate_message(b.solver))
    run._stats = ffi.new("costate_stats *", lib.costate_get_stats(b.solver)[0])
    recorded = run(run.t)
    rtol, atol = (np.asarray(tol if tol is not None else 1e-6) for tol in (run.problem.rtol, run.problem.atol))
    gap = np.max(np.abs(run.y - recorded) / (atol + rtol * np.abs(recorded) + 1e-300))
    if not gap <= 1:
        raise CostateError("COSTATE_BAD_TAPE", f"from the given y0 and p the steps of the tape end at another state, "
                           f"{gap:.1e} times the tolerance away: y0, p, or what functions of the problem read are not "
                           "those of the run", run.t)


# ---- continued runs -------------------------------------------------------------------------------------------------

def stops_at(t):
    """an on_step"""
    return lambda step: step.end == t


class Continued:
    """A Run that is continued: _parts are (t1, times at which states are wanted, where on_step stopped it or None)."""

    def continue_to(self, t1, *, t_eval=None, on_step=None):
        """Continues the run to t1 from where it ended: at its t1, at a terminal event, or where on_step stopped it,
        with the same parameters and on the same tape: derivatives and dense output are then those of the whole run.

        t_eval: times of the new part, whose states are added to run.at; stats are those of the new part.  Returns the
        run itself, which has changed"""
        self._taped()
        if self._read:
            raise ValueError("this run was read from a file and cannot be continued; begin another one at its end")
        times, b = checked_times(t_eval, self.t, float(t1)), self._b
        if float(t1) == self.t or not np.isfinite(t1):
            raise ValueError(f"t1 is {t1}; the run ended at t = {self.t:.10g}")
        if not self._parts:
            self._parts.append((self._t1, self._options[0], None))
        if self.stopped:
            self._parts[-1] = (*self._parts[-1][:2], self.t)
        self._parts.append((float(t1), times, None))
        self._t1, self.stopped, known = float(t1), False, (self._t1, self.stopped)
        try:
            with b.lock:
                b.scales.between(self.t0, self._t1)
                self._continue(float(t1), times, on_step)
        except Mistrusted:
            self.problem.rebuild()
            self._integrate(on_step)
        except BaseException:
            self._parts.pop()
            self._t1, self.stopped = known
            self._forget()                      # the tape may hold steps of the part that failed
            raise
        self._looked = False
        return self

    def _continue(self, t1, times, on_step):
        y = self._end.copy()
        self._part(lambda t1: lib.costate_continue(self._b.solver, self._tape, t1, pointer(y)), y, self.t, y.copy(), t1,
                   times, self._options[2], on_step)
