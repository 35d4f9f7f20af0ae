"""Maps after each step: a function of the user, bounds, projection onto invariants, relaxation."""
import numpy as np

from costate import _library as library
from costate._costate import ffi, lib
from costate._library import CostateError, pointer
from costate._traced_map import compiled_map
from costate.maps import Map, Owner, as_map


class AfterStep:
    """After each accepted step y becomes map(t, y, p): n values, or n + nm with memory variables.

    map         a function, or a Map with derivatives
    at_start    True: the initial values become map(t0, y0, p), too

    The map is a part of the step, and so of its derivatives.  Error estimates, events and dense output are those of the
    step before the map."""

    jumps = True                # may the problem have events with jumps?

    def __init__(self, map, *, at_start=False):
        self.map, self.at_start = as_map(map), bool(at_start)

    def functions(self):
        return {"map": True}    # True: its values are a state

    def place(self, built, at):
        P = built.P
        P.after_step.ctx = placed(built, P.after_step, "map", self.map, "after_step", P.n + P.nm, at)
        if self.at_start:
            P.after_step.start = P.after_step.map


class Bounds:
    """Components of y that leave their bounds are set to them after each step.

    low, high   numbers, or n of them, -inf and inf where there is no bound; None: there are none
    at_start    True: initial values are set to their bounds, too

    The derivative of a component is 1 inside the bounds and on them, and 0 where it was outside.  run.stats has
    "corrections", the number of steps that were changed, and "correction", the largest change in units of the
    tolerances."""

    jumps = True

    def __init__(self, low=None, high=None, *, at_start=False):
        self.low, self.high, self.at_start = low, high, bool(at_start)

    def functions(self):
        return {}

    def place(self, built, at):
        bounds, report = ffi.new("costate_bounds *"), ffi.new("costate_report *")
        for name in ("low", "high"):
            given = getattr(self, name)
            if given is not None:
                built.pieces.append(spread(given, built.n, name))
                setattr(bounds, name, pointer(built.pieces[-1]))
        bounds.at_start = self.at_start
        built.pieces.append(bounds)
        refuse(lib.costate_bounds_after_step(bounds, built.P, report), report)


class Projection:
    """After each step y is moved onto invariants g(t, y, p) = c, along W g_y^T, W = diag(move): by the smallest change
    if it is small.

    g           a function of (t, y, p) or a Map: a number, or up to 8 of them
    keep        True: c is g at the start of the run; False: c = 0
    move        n weights that are not negative: 0: the component stays; None: 1 for all
    at_start    True, without keep: initial values are projected, too
    linear      True: g is linear in (t, y, p)

    Derivatives of runs need second derivatives of g, unless it is linear; Hessian products need third ones.  A function
    that can be traced has all of them; else give jac and jac_p, which compute with complex y, with a Map."""

    call, jumps = "costate_projection_after_step", False        # a jump would leave what is kept

    def __init__(self, g, *, keep=False, move=None, at_start=False, linear=False):
        if keep and at_start:
            raise ValueError("at_start=True moves the initial values to g = 0; keep=True takes c from them: choose one")
        self.g, self.keep, self.move = as_map(g), bool(keep), move
        self.at_start, self.linear = bool(at_start), bool(linear)

    def functions(self):
        return {"g": False}

    def count(self, at):
        return np.atleast_1d(np.asarray(self.g.value(*at))).size

    def memory(self, at):
        """how many memory variables it needs"""
        return self.count(at) if self.keep else 0

    def place(self, built, at):
        of, report = ffi.new("costate_invariants *"), ffi.new("costate_report *")
        of.count, of.keep, of.at_start, of.linear = self.count(at), self.keep, self.at_start, self.linear
        of.memory = built.P.nm - of.count if self.keep else 0
        if self.move is not None:
            built.pieces.append(spread(self.move, built.n, "move"))
            of.move = pointer(built.pieces[-1])
        of.ctx = placed(built, of, "g", self.g, "invariant", of.count, at)
        out = ffi.new("costate_projection **")
        refuse(getattr(lib, self.call)(of, built.P, out, report), report)
        built.pieces.append(ffi.gc(out[0], lib.costate_projection_free))


class Relaxation(Projection):
    """One invariant g(t, y, p) = c is kept by taking a part of each step: y becomes y + gamma (y1 - y), t likewise.

    g           a function of (t, y, p) or a Map: one number, convex along the solution
    keep        True: c is g at the start of the run; False: c = 0, which must hold there

    Linear invariants are also kept.  The step that ends at t1 remains as it is.  Derivatives as of Projection."""

    call = "costate_relaxation_after_step"

    def __init__(self, g, *, keep=False):
        super().__init__(g, keep=keep)


def as_after_step(of):
    if of is None or isinstance(of, (AfterStep, Bounds, Projection)):
        return of
    if isinstance(of, Map) or callable(of):
        return AfterStep(of)
    raise TypeError(f"after_step is {of!r}; expected a function, a Map, AfterStep, Bounds, Projection or Relaxation")


def place_after_step(built):
    """the map after each step; what a projection keeps is in memory variables behind the others"""
    after = built.problem.after_step
    kept = after.memory(built.first) if hasattr(after, "memory") else 0
    if kept and built.nm:
        raise ValueError("keep=True needs memory variables, of which the problem has its own: keep the invariants "
                         "in them, and project onto g(t, y, p) - m")
    if kept and any(built.P.event[k].jump.value or built.P.event[k].transition.value for k in range(built.P.nevents)):
        raise ValueError("keep=True keeps what the invariants are at the start, which jumps of events change")
    built.P.nm += kept
    after.place(built, built.first)


def with_maps(of, change):
    """the same with other maps: change(map, are its values a state?); as it is without maps"""
    if of is None or not of.functions():
        return of
    new = object.__new__(type(of))
    vars(new).update(vars(of), **{name: change(getattr(of, name), state) for name, state in of.functions().items()})
    return new


def placed(built, struct, member, of, slot, rows, at):
    """a costate_map in a struct, compiled or of callbacks; its ctx"""
    name = "after_step" if slot == "after_step" else "the invariant"
    may = built.problem.asked is not False and built.problem.derivatives == "auto" and not built.problem.switched
    compiled = compiled_map(of, rows, at) if may else None
    if compiled is not None:
        built.compiled.append(compiled)
        setattr(struct, member, compiled.map)
        return compiled.ctx
    owner = Owner()
    built.bind(of, slot, name, rows, owner).fill(getattr(struct, member), slot)
    built.others.append(owner)
    built.calls_python = True
    return owner.handle


def spread(values, n, name):
    array = np.asarray(values, dtype=float)
    if array.shape not in ((), (n,)):
        raise ValueError(f"{name} has shape {array.shape}; expected () or ({n},)")
    return np.ascontiguousarray(np.broadcast_to(array, (n,))).copy()


def refuse(status, report):
    if status != lib.COSTATE_OK:
        raise CostateError(library.status_name(status), library.said(report.text))
