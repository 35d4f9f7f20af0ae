"""Tapes of runs in memory and in files, and consistent values."""
import os

import numpy as np

from costate import _library as library
from costate._costate import ffi, lib
from costate._library import CostateError, pointer, vector


def checked_path(tape, record):
    """the path of a tape as bytes, or None: it is in memory"""
    if tape is None:
        return None
    if not record:
        raise ValueError("record=False: there is nothing to write to a tape")
    return os.fsencode(tape)


def new(path):
    """a tape in memory, or in a file"""
    return ffi.gc(lib.costate_tape_new() if path is None else lib.costate_tape_open(path), lib.costate_tape_free)


def load(problem, path, t_span, y0, p, resume=False):
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


def consistent(problem, t, y0, p, yp0):
    """(y, y') that satisfy the equations at t"""
    b, y, p = problem.built(float(t), y0, p)
    yp = np.zeros(b.n) if yp0 is None else vector(yp0, b.n, "yp0")
    with b.lock:
        b.check(lib.costate_consistent(b.solver, float(t), pointer(y), pointer(yp), pointer(p) if b.np else ffi.NULL))
    return y[:b.n].copy(), yp
