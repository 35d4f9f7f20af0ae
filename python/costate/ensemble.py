"""Many runs of one problem, in parallel threads, with gradients, tangents and Hessian products."""
import numpy as np

from costate._costate import ffi, lib
from costate._library import CostateError, pointer, status_name, text
from costate import _library as library
from costate import _linear
from costate._derivatives import Mistrusted
from costate._formed import kept
from costate._forms import Vector, form, is_vector
from costate._tapes import checked_times
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


def ensemble(problem, t_span, y0, p=None, *, w=None, dy0=None, dp=None, t_eval=None, w_at=None, vy0=None, vp=None,
             shape=None, threads=None):
    """Runs a problem from each row of y0 with each row of p.

    t_span  (t0, t1); t1: a number, or count of them
    y0      (count, n) or (n,); p: (count, np) or (np,): one row for all members
    w       (n,) or (count, n): gradients of a functional with respect to y(t1); the result then has y0 and p:
            gradients with respect to them, (count, n) and (count, np)
    t_eval  times: the result has at: the states there, (count, n, k); NaN behind the end of a member's run.  For times
            of each member, a list of arrays, or (count, k) with NaN behind the last one of a member: k is then the
            largest number of them, and at is NaN where a member has no time
    w_at    (k, n) or (count, k, n): gradients of the functional with respect to the states at t_eval, in addition to w
    dy0, dp one direction for each member, (count, n) and (count, np), or for all: the result then has dy, (count, n),
            and with t_eval dy_at, (count, n, k)
    vy0, vp with w or w_at, in place of dy0 and dp: the result has Hy0 and Hp, the Hessian of the functional, which is
            linear in the states, times (vy0, vp): (count, n) and (count, np)
    shape   of the y0 of one member, where it is no vector: y0 is (count, *shape) or shape.  p can have a form as in
            Problem.integrate: one for all members, or a list of them, one for each; gradients are then lists
    threads compiled models (Model) and traced functions run in as many threads as there are cores, or in this many;
            functions that are called run in one thread

    Returns a Result: y (count, n), q (count, nq), status (names), messages, failed (numbers of the members that failed;
    their rows are NaN), threads.  Gradients with respect to p, and dy, include what initial values of a Model depend on
    p: all of them without y0, memory variables where y0 has n values.  With Model(..., lanes=True) members run side by
    side where that serves: lanes is the number, in_lanes counts these members, alone says why not."""
    more = dict(w=w, dy0=dy0, dp=dp, t_eval=t_eval, w_at=w_at, vy0=vy0, vp=vp)
    if shape is not None or has_form(p):
        return formed(problem, t_span, y0, p, shape, threads, more)
    while True:
        try:
            return Members(problem, t_span, y0, p, threads, **more).run()
        except Mistrusted:                      # again, with differences
            problem.rebuild()


class Members:
    """The members of one call: costate_members, and its arrays."""

    def __init__(self, problem, t_span, y0, p, threads, w, dy0, dp, t_eval, w_at, vy0, vp):
        first, self.count = shapes(problem, y0, p)
        self.problem, self.keep, self.out = problem, [], {}
        self.b, _, p_one = problem.built(float(t_span[0]), first[0], first[1])
        b, all_, count = self.b, ffi.new("costate_members *"), self.count
        self.all = all_
        t0, t1 = float(t_span[0]), self.ends(t_span[1])
        farthest = float(t1[np.argmax(np.abs(t1 - t0))])
        b.scales.between(t0, farthest)
        self.p = np.broadcast_to(p_one if p is None else np.asarray(p, dtype=float), (count, b.np))
        self.y = start(b, problem, y0, self.p, count, float(t_span[0]))
        all_.count, all_.t0, all_.t1_each, all_.y = count, t0, pointer(t1), pointer(self.y)
        all_.progress, all_.ctx = ffi.addressof(lib, "costate_watch_progress"), b.watch
        all_.threads = (threads or 0) if b.runs_in_threads() else 1
        self.split(b)
        if getattr(problem.model, "has_lanes", False):
            all_.lanes = problem.model.lanes()
        if b.np:
            values, shared = self.kept(members(p_one if p is None else p, count, b.np, "p"))
            all_.p = pointer(values)
            all_.same |= lib.COSTATE_SAME_P if shared else 0
        self.of_model = problem.start(None if y0 is None else np.zeros(np.shape(y0)[-1]), b)    # its size decides
        second = vy0 is not None or vp is not None
        if second and (dy0 is not None or dp is not None or (w is None and w_at is None)):
            raise TypeError("vy0 and vp are directions of Hessian products of the functional that w or w_at gives; "
                            "they take the place of dy0 and dp")
        self.at_times(t0, t1, farthest, t_eval)
        if w is not None or w_at is not None:
            self.backward(w, w_at)
        if second or dy0 is not None or dp is not None:
            self.forward(*((vy0, vp, "vy0", "vp") if second else (dy0, dp, "dy0", "dp")))
            if not second and len(self.times):
                self.tangents_at_times()
        if second:
            self.second_order()

    def split(self, b):
        """each thread has a splitting of its own"""
        b.watch.each_splitting = ffi.NULL
        if self.problem.splitting and self.problem.preconditioner is None:
            threads = min(self.all.threads or lib.costate_cores(), self.count)
            all_ = [_linear.splitting(self.problem.model) for _ in range(threads)]
            structs = ffi.new("const costate_preconditioner *[]", [struct for _, struct in all_])
            self.keep += [all_, structs]
            b.watch.each_splitting = structs
            self.all.each_thread = ffi.addressof(lib, "costate_watch_thread")

    def kept(self, values):
        """(array, whether it is shared), which live as long as the call"""
        self.keep.append(values[0])
        return values

    # ---- what is asked for

    def ends(self, t1):
        """count of them"""
        if np.ndim(t1) and np.shape(t1) != (self.count,):
            raise ValueError(f"t1 has shape {np.shape(t1)}; expected a number, or ({self.count},)")
        ends = np.broadcast_to(np.asarray(t1, dtype=float), (self.count,)).copy()
        self.keep.append(ends)
        return ends

    def at_times(self, t0, t1, farthest, t_eval):
        w, self.own = self.b.watch, is_of_members(t_eval)
        self.observed = own_times(t_eval, t0, t1) if self.own else checked_times(t_eval, t0, farthest)
        self.times = self.observed[0] if self.own else self.observed
        w.each_at, w.each_count, w.each_own = pointer(self.observed), len(self.times), self.own
        w.each_weight = w.each_end = w.each_V = w.each_Vp = ffi.NULL
        if not len(self.times):
            return
        self.out["at"] = np.full((self.count, len(self.times), self.b.n), np.nan)
        w.each_found = pointer(self.out["at"])
        self.all.tape, self.all.on_member = 1, ffi.addressof(lib, "costate_watch_member")

    def backward(self, w, w_at):
        b, all_, out, count = self.b, self.all, self.out, self.count
        out["lambda"], out["mu"] = np.zeros((count, b.N)), np.zeros((count, b.np))
        if w is not None:
            self.end = np.broadcast_to(members(w, count, b.n, "w")[0], (count, b.n)).copy()
            out["lambda"][:, :b.n] = self.end
            b.watch.each_end = pointer(self.end)
        all_.m = 1
        setattr(all_, "lambda", pointer(out["lambda"]))
        all_.mu = pointer(out["mu"]) if b.np else ffi.NULL
        if w_at is None:
            return
        k, weights = len(self.times), np.asarray(w_at, dtype=float)
        if weights.shape not in ((k, b.n), (count, k, b.n)) or not k:
            raise ValueError(f"w_at has shape {weights.shape}; expected ({k}, {b.n}) or ({count}, {k}, {b.n}), with "
                             f"the {k} times of t_eval")
        self.weights = np.broadcast_to(weights, (count, k, b.n)).copy()
        b.watch.each_weight = pointer(self.weights)
        all_.observations, all_.observed = k, pointer(self.observed)
        all_.same |= lib.COSTATE_OWN_OBSERVED if self.own else 0
        all_.observe = ffi.addressof(lib, "costate_watch_observe")

    def forward(self, dy0, dp, name_y0, name_p):
        b, all_, count = self.b, self.all, self.count
        V = self.out["V"] = np.zeros((count, b.N))
        all_.directions, all_.V = 1, pointer(V)
        if dy0 is not None:
            V[:, :b.n] = members(dy0, count, b.n, name_y0)[0]
        if dp is not None:
            values, shared = self.kept(members(dp, count, b.np, name_p))
            all_.Vp = pointer(values)
            all_.same |= lib.COSTATE_SAME_VP if shared else 0
        if self.of_model and dp is not None:
            for k, d in enumerate(np.broadcast_to(np.asarray(dp, dtype=float), (count, b.np))):
                V[k] += self.of_model.jvp(all_.t0, self.p[k], d)

    def tangents_at_times(self):
        """over the tape of each member, instead of with its run"""
        b, all_, w = self.b, self.all, self.b.watch
        self.out["dy_at"] = np.full((self.count, len(self.times), b.n), np.nan)
        w.each_V, w.each_dy, w.each_Vp = all_.V, pointer(self.out["dy_at"]), all_.Vp
        w.each_np = 0 if all_.same & lib.COSTATE_SAME_VP else b.np
        all_.directions, all_.V, all_.Vp = 0, ffi.NULL, ffi.NULL
        all_.same &= ~lib.COSTATE_SAME_VP

    def second_order(self):
        b, all_, out = self.b, self.all, self.out
        if self.of_model:
            raise TypeError("Hessian products of an ensemble need all of y0: initial values of the model depend on p")
        out["lambda2"], out["mu2"] = np.zeros((self.count, b.N)), np.zeros((self.count, b.np))
        all_.lambda2, all_.mu2 = pointer(out["lambda2"]), pointer(out["mu2"]) if b.np else ffi.NULL
        all_.seed2 = ffi.addressof(lib, "costate_watch_seed2")
        all_.observe = ffi.NULL
        if all_.observations:
            all_.observe2 = ffi.addressof(lib, "costate_watch_observe2")
        self.keep.append(out.pop("V"))

    # ---- the call

    def run(self):
        b, all_, out, count, problem = self.b, self.all, self.out, self.count, self.problem
        status, messages = np.zeros(count, dtype=np.int32), ffi.new("char[][256]", count)
        all_.status, all_.message = ffi.cast("int *", ffi.from_buffer(status)), messages
        report, o = ffi.new("costate_ensemble_report *"), quiet(b)
        with b.lock:
            result = lib.costate_ensemble(library.method(problem.method), b.P, o, all_, report)
        raise_what_was_raised(b.owners())
        failed = np.flatnonzero(status)
        if self.of_model and "lambda" in out:
            self.of_model.through_each(all_.t0, self.p, out["lambda"], out["mu"])
        if result != lib.COSTATE_OK and not failed.size:
            raise CostateError(status_name(result), library.said(report.text))
        problem.trust.say()
        for array in (self.y, *(array for name, array in out.items() if name != "at")):
            array[failed] = np.nan
        return Result(y=self.y[:, :b.n], q=self.y[:, b.n:b.n + b.nq], **self.derivatives(), failed=failed,
                      status=[status_name(s) for s in status], messages=[text(messages[k]) for k in range(count)],
                      threads=report.threads, lanes=report.lanes, in_lanes=report.in_lanes, alone=text(report.alone),
                      derivatives=b.way)

    def derivatives(self):
        b = self.b
        names = {"lambda": ("y0", b.n), "mu": ("p", b.np), "V": ("dy", b.n), "lambda2": ("Hy0", b.n),
                 "mu2": ("Hp", b.np)}
        found = {names[key][0]: array[:, :names[key][1]] for key, array in self.out.items() if key in names}
        found.update({name: np.transpose(self.out[name], (0, 2, 1)) for name in ("at", "dy_at") if name in self.out})
        return found


def is_of_members(t_eval):
    """does it have times for each member?"""
    if isinstance(t_eval, (list, tuple)):
        return len(t_eval) > 0 and np.ndim(t_eval[0]) > 0
    return np.ndim(t_eval) == 2


def own_times(t_eval, t0, t1):
    """(count, k): times of each member, NaN behind the last one of those that have less than k"""
    if len(t_eval) != len(t1):
        raise ValueError(f"t_eval has times of {len(t_eval)} members; there are {len(t1)}")
    rows = []
    for k, given in enumerate(t_eval):
        times = np.array(given, dtype=float, ndmin=1)
        missing = np.isnan(times)
        try:
            rows.append(checked_times(times[~missing], t0, float(t1[k])))
            if np.any(missing[:-1] & ~missing[1:]):
                raise ValueError("t_eval has NaN before a time; it stands behind the last one")
        except ValueError as error:
            raise ValueError(f"member {k}: {error}") from None
    out = np.full((len(rows), max(map(len, rows))), np.nan)
    for row, times in zip(out, rows):
        row[:len(times)] = times
    return out


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
        rows = problem.initials(t, p)
    else:
        rows = np.broadcast_to(np.asarray(y0, dtype=float), (count, np.shape(y0)[-1]))
    if rows.shape[1] == b.N:
        return np.array(rows, order="C")
    return np.stack([b.state(np.asarray(row, dtype=float), t, one) for row, one in zip(rows, p)])


def quiet(b):
    """the options without the callbacks of single runs, which threads must not share"""
    o = ffi.new("costate_options *", b.o[0])
    o.on_step = o.on_step_ctx = o.on_back = o.on_back_ctx = ffi.NULL
    return o


# ---- y0 of any shape, p in any form ---------------------------------------------------------------------------------

def is_list_of_forms(p):
    """a list of parameters of members, each with a form of its own"""
    listed = isinstance(p, (list, tuple)) and not hasattr(p, "_fields") and len(p) > 0
    return listed and not any(is_vector(one) or hasattr(one, "__array__") for one in p)


def has_form(p):
    """is it no array?"""
    return p is not None and not hasattr(p, "__array__") and (is_list_of_forms(p) or not is_vector(p) and not
                                                              isinstance(p, (list, tuple)))


def formed(problem, t_span, y0, p, shape, threads, more):
    """the same in the forms of y0 and p"""
    each = is_list_of_forms(p)
    one_p = p[0] if each else p
    of_y = Vector if shape is None else form(np.zeros(shape), "y0")
    of_p = form(one_p, "p") if has_form(one_p) else Vector
    flat = kept(problem, of_y, of_p)

    def states(values, name, behind=0):
        """(n,), (count, n), or with one more axis between them"""
        if values is None or of_y is Vector:
            return values
        array = np.asarray(values, dtype=float)
        ahead = array.ndim - len(shape)
        if ahead < behind or array.shape[ahead:] != tuple(shape):
            raise ValueError(f"{name} has shape {array.shape}; expected {tuple(shape)}, or with the members before it")
        return array.reshape(array.shape[:ahead] + (-1,))

    def parameters(values, name):
        if values is None or of_p is Vector:
            return values
        if is_list_of_forms(values):
            return np.stack([of_p.flat(one, name) for one in values])
        return of_p.flat(values, name)
    found = flat.problem.ensemble(
        t_span, states(y0, "y0"), parameters(p, "p"), threads=threads, t_eval=more["t_eval"],
        w_at=states(more["w_at"], "w_at", 1), **{name: states(more[name], name) for name in ("w", "dy0", "vy0")},
        **{name: parameters(more[name], name) for name in ("dp", "vp")})
    for name, value in vars(found).items():
        if name in ("y", "y0", "dy", "Hy0", "at", "dy_at") and of_y is not Vector:
            setattr(found, name, value.reshape((len(value), *shape, *value.shape[2:])))
        elif name in ("p", "Hp") and of_p is not Vector:
            setattr(found, name, [of_p.of(row) for row in value])
    return found
