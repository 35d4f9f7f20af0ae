"""Many runs of one problem, in parallel threads, with gradients and tangents."""
import numpy as np

from costate._costate import ffi, lib
from costate._library import CostateError, pointer, status_name, text
from costate import _library as library
from costate._derivatives import Mistrusted
from costate.maps import raise_what_was_raised
from costate.result import Result


def members(values, count, rows, name):
    """(count by rows, or rows values for all of them), and whether they are shared"""
    array = np.asarray(values, dtype=float)
    if array.shape == (rows,):
        return np.ascontiguousarray(array), True
    if array.shape != (count, rows):
        raise ValueError(f"{name} has shape {array.shape}; expected ({count}, {rows}) or ({rows},)")
    return np.ascontiguousarray(array), False


def ensemble(problem, t_span, y0, p=None, *, w=None, dy0=None, dp=None, threads=None):
    """Runs a problem from each row of y0 with each row of p.

    y0      (count, n) or (n,); p: (count, np) or (np,): one row for all members
    w       (n,) or (count, n): gradients of a functional with respect to y(t1); the result then has y0 and p:
            gradients with respect to them, (count, n) and (count, np)
    dy0, dp one direction for each member, (count, n) and (count, np), or for all: the result then has dy, (count, n)
    threads compiled models (Model) and traced functions run in as many threads as there are cores, or in this many;
            functions that are called run in one thread

    Returns a Result: y (count, n), q (count, nq), status (names), messages, failed (numbers of the members that failed;
    their rows are NaN), threads.  Gradients with respect to p, and dy, include what initial values of a Model depend on
    p: all of them without y0, memory variables where y0 has n values."""
    while True:
        try:
            return once(problem, t_span, y0, p, w, dy0, dp, threads)
        except Mistrusted:                      # again, with differences
            problem.rebuild()


def once(problem, t_span, y0, p, w, dy0, dp, threads):
    first, count = shapes(problem, y0, p)
    b, _, p_one = problem.built(float(t_span[0]), first[0], first[1])
    all_, keep, out = ffi.new("costate_members *"), [], {}
    b.scales.between(*map(float, t_span))
    each_p = np.broadcast_to(p_one if p is None else np.asarray(p, dtype=float), (count, b.np))
    y = start(b, problem, y0, each_p, count, float(t_span[0]))
    all_.count, all_.t0, all_.t1, all_.y = count, float(t_span[0]), float(t_span[1]), pointer(y)
    all_.progress, all_.ctx = ffi.addressof(lib, "costate_watch_progress"), b.watch
    all_.threads = (threads or 0) if problem.model is not None or b.trace is not None else 1
    if b.np:
        values, shared = members(p_one if p is None else p, count, b.np, "p")
        keep.append(values)
        all_.p = pointer(values)
        all_.same |= lib.COSTATE_SAME_P if shared else 0
    of_model = problem.start(None if y0 is None else np.zeros(np.shape(y0)[-1]), b)     # its size decides
    if w is not None:
        backward(b, all_, w, count, out)
    if dy0 is not None or dp is not None:
        forward(b, all_, dy0, dp, count, out, keep)
        if of_model and dp is not None:
            for k, d in enumerate(np.broadcast_to(np.asarray(dp, dtype=float), (count, b.np))):
                out["V"][k] += of_model.jvp(all_.t0, each_p[k], d)
    status, messages = np.zeros(count, dtype=np.int32), ffi.new("char[][256]", count)
    all_.status, all_.message = ffi.cast("int *", ffi.from_buffer(status)), messages
    report, o = ffi.new("costate_ensemble_report *"), quiet(b)
    with b.lock:
        result = lib.costate_ensemble(library.method(problem.method), b.P, o, all_, report)
    raise_what_was_raised([b.owner, *b.others])
    failed = np.flatnonzero(status)
    for k in range(count if of_model and w is not None else 0):
        of_model.through(all_.t0, each_p[k], out["lambda"][k:k + 1], out["mu"][k:k + 1])
    if result != lib.COSTATE_OK and not failed.size:
        raise CostateError(status_name(result), library.said(report.text))
    problem.trust.say()
    for array in (y, *out.values()):
        array[failed] = np.nan
    names = {"lambda": ("y0", b.n), "mu": ("p", b.np), "V": ("dy", b.n)}
    derivatives = {names[key][0]: array[:, :names[key][1]] for key, array in out.items()}
    return Result(y=y[:, :b.n], q=y[:, b.n:b.n + b.nq], **derivatives, failed=failed,
                  status=[status_name(s) for s in status], messages=[text(messages[k]) for k in range(count)],
                  threads=report.threads, derivatives=b.way)


def shapes(problem, y0, p):
    """y0 and p of the first member, and how many there are"""
    counts = {np.shape(a)[0] for a in (y0, p) if a is not None and np.ndim(a) == 2}
    if len(counts) != 1:
        raise ValueError(f"y0 has shape {np.shape(y0)}, p {np.shape(p)}: one of them has a row for each member, and "
                         "both the same number of rows if both do")
    one = [None if a is None else np.asarray(a)[0] if np.ndim(a) == 2 else a for a in (y0, p)]
    return one, counts.pop()


def start(b, problem, y0, p, count, t):
    """N values for each member"""
    if y0 is None:                              # those of the model, which may depend on p
        rows = [problem.model.start(t, one) for one in p]
    else:
        rows = np.broadcast_to(np.asarray(y0, dtype=float), (count, np.shape(y0)[-1]))
    return np.stack([b.state(np.asarray(row, dtype=float), t, one) for row, one in zip(rows, p)])


def backward(b, all_, w, count, out):
    out["lambda"], out["mu"] = np.zeros((count, b.N)), np.zeros((count, b.np))
    out["lambda"][:, :b.n] = members(w, count, b.n, "w")[0]
    all_.m = 1
    setattr(all_, "lambda", pointer(out["lambda"]))
    all_.mu = pointer(out["mu"]) if b.np else ffi.NULL


def forward(b, all_, dy0, dp, count, out, keep):
    out["V"] = np.zeros((count, b.N))
    all_.directions, all_.V = 1, pointer(out["V"])
    if dy0 is not None:
        out["V"][:, :b.n] = members(dy0, count, b.n, "dy0")[0]
    if dp is not None:
        values, shared = members(dp, count, b.np, "dp")
        keep.append(values)
        all_.Vp = pointer(values)
        all_.same |= lib.COSTATE_SAME_VP if shared else 0


def quiet(b):
    """the options without the callbacks of single runs, which threads must not share"""
    o = ffi.new("costate_options *", b.o[0])
    o.on_step = o.on_step_ctx = o.on_back = o.on_back_ctx = ffi.NULL
    return o
