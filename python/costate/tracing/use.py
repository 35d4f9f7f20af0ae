"""When a Problem uses traces: which functions, for which sizes, how long they hold, what happens otherwise."""
import os
import sys
import threading
import warnings

import numpy as np

from costate._costate import ffi
from costate._library import ModelError, pointer
from costate.maps import Situation
from costate import _generator as codegen
from costate.tracing.building import Functions, model_of
from costate.tracing.engine import engine
from costate.tracing.evaluate import agree
from costate.tracing.reads import same, state
from costate.tracing.refusals import OURS, NotTraced, Untraceable
from costate.tracing.trace import MOST_ASKED, MOST_NODES, Shape, points_near, traced, values

ASKED = ("auto", True, False)
MOST_COMPILED = 12              # times that one function is compiled in a process, with other constants
ROUND_OFF = 1e-12               # relative: values that differ by less are not looked at more closely
COMPILED, LOCK = {}, threading.RLock()                  # {code of a function: how often it was compiled}


def asked(trace):
    """the argument of Problem, as it is meant; COSTATE_TRACE=0 in the environment turns "auto" off"""
    if trace not in ASKED or trace == 1 and trace is not True or trace == 0 and trace is not False:
        raise ValueError(f"trace={trace!r}; expected 'auto', True or False")
    return False if trace == "auto" and os.environ.get("COSTATE_TRACE") == "0" else trace


def reason_against(problem):
    """why a problem is not traced at all, without looking at its functions; None: nothing is against it"""
    if problem.model is not None:
        return "the equations are a Model, which is compiled"
    if problem.asked is False:
        return "trace=False"
    given = [name for name, of in functions_of(problem) if of.exact]
    if given:
        return f"derivatives of {given[0]} are given"
    if problem.derivatives != "auto":
        return f"derivatives={problem.derivatives!r} is given"
    return codegen.why_not()


def functions_of(problem):
    """[(name, Map)]"""
    found = [("fun", problem.rhs)] + [("cost", problem.cost)] * (problem.cost is not None)
    for k, event in enumerate(problem.events):
        found += [(f"the {what} of events[{k}]", of) for what, of in (("guard", event.guard), ("jump", event.jump))
                  if of is not None]
    return found + [(f"the guard of relations[{k}]", r.guard) for k, r in enumerate(problem.relations)]


class Traced:
    """Traces of a problem's functions for some sizes, compiled: of all or of none, as one that is called could change
    what a compiled one has read.

    functions: their nodes; refused: [(name, sentence)] of those that cannot be traced; reads: what they read besides
    their arguments, or None"""

    def __init__(self, problem, n, np_, at, t1):
        self.graph, self.refused, self.nq = codegen.equations("graph").Graph(), [], 0
        self.functions, self.rhs = Functions(self.graph), problem.rhs.value
        self.names, self.called = zip(*((name, of.value) for name, of in functions_of(problem)))
        self.shape = Shape(n, np_, problem.memory, [r.kind for r in problem.relations] if problem.switched else None)
        self.given, self.most = len(problem.relations), MOST_ASKED if problem.asked is True else MOST_NODES
        self.last = (Situation(0, (1,) * self.given),) * problem.switched
        self.points = points_near(at, t1, self.last)
        self.reads, self.looks = state(*self.called), 0
        self.trace_all(problem, at)

    def trace_all(self, problem, at):
        f, n = self.functions, self.shape.n
        f.rhs = self.one(problem.rhs, "fun", n)
        if problem.cost is not None:
            self.nq = np.atleast_1d(np.asarray(problem.cost.on_copies().value(*at, *self.last))).size
            f.cost = self.one(problem.cost, "cost", self.nq)
        for k, event in enumerate(problem.events):
            f.guards[k] = self.one(event.guard, f"the guard of events[{k}]", 1)
            f.jumps[k] = self.one(event.jump, f"the jump of events[{k}]", n + self.shape.nm)
        for k, relation in enumerate(problem.relations):
            f.relations[k] = self.one(relation.guard, f"the guard of relations[{k}]", 1)

    def one(self, of, name, rows):
        """nodes, or None: there is no such function, or it cannot be traced"""
        if of is None:
            return None
        try:
            return traced(self.graph, of.value, self.shape, rows, self.points, Situation, self.most)
        except Untraceable as error:
            self.refused.append((name, str(error)))
            return None

    # ---- compiled

    def compile(self, problem, may_compile):
        model = model_of(self.functions, problem, self.shape, self.nq)
        self.engine, self.stops = engine(model, may_compile), np.array(model.stops)
        self.relations = len(model.relations)

    def map(self, P, name):
        """of P, a costate_problem of the engine: the costate_map of the function that messages call so"""
        if name in ("fun", "cost"):
            return P.rhs if name == "fun" else P.cost
        kind, _, k = name.rstrip("]").partition("[")
        if kind.endswith("relations"):
            return P.relation[int(k)].guard
        return P.event[int(k)].guard if "guard" in kind else P.event[int(k)].jump

    def conditions(self, P):
        """the costate_relations of conditions, which follow those of the problem"""
        return [P.relation[k] for k in range(self.given, self.relations)]

    def watched(self, on_step):
        """on_step, which must not change what compiled functions have read"""
        if on_step is None:
            return None

        def step(s):
            found = on_step(s)
            if not same(self.reads, state(*self.called)):
                raise RuntimeError(f"on_step has changed at t = {s.end:.10g} what a function of the problem reads: "
                                   "compiled functions do not see this.  Use Problem(..., trace=False), or an event "
                                   "with a memory variable")
            return found
        return step

    # ---- does it still hold?

    def holds(self, at):
        """Is the function at this point what was compiled, and does it read what it did?"""
        if not same(self.reads, state(*self.called)):
            return False
        self.looks += 1
        if self.looks & (self.looks - 1):
            return True                         # its value is compared at the first runs and then now and then
        wanted = values(self.rhs, (*at, *self.last))
        found = self.compiled_value(at)
        with np.errstate(all="ignore"):
            if np.all((found == wanted) | (np.abs(found - wanted) <= ROUND_OFF * np.abs(wanted))):
                return True
        return agree(self.graph, self.functions.rhs, self.shape.value_of((*at, *self.last)), wanted)

    def compiled_value(self, at):
        P, x, out = self.engine.now().problem, ffi.new("costate_point *"), np.empty(self.shape.n)
        parts, relation = [np.ascontiguousarray(a, dtype=float) for a in at[1:]], ffi.new("int[]", P.nrelations + 1)
        x.t, x.y, x.p, x.relation = float(at[0]), pointer(parts[0]), pointer(parts[1]), relation
        if len(parts) > 2:
            x.m = pointer(parts[2])
        guard = np.empty(1)
        for k in range(P.nrelations):
            relation[k] = 1
            if k >= self.given:
                P.relation[k].guard.value(x, pointer(guard), P.relation[k].ctx)
                whole = P.relation[k].whole and np.isfinite(guard[0])
                relation[k] = int(np.floor(guard[0])) if whole else \
                    int(guard[0] > 0) - int(P.relation[k].sign and guard[0] < 0)
        P.rhs.value(x, pointer(out), P.ctx)
        return out


class Use:
    """The traces of one Problem, by sizes.  It does not hold the Problem, so that this is freed without the collector
    of cycles."""

    def __init__(self, problem):
        self.traces, self.lock, self.told = {}, threading.RLock(), set()
        self.against = reason_against(problem)
        if self.against is not None and problem.asked is True:
            raise NotTraced(f"trace=True, but {self.against}")
        self.message = self.against or ""

    def at(self, problem, n, np_, point, t1, stepwise=False):
        """A Traced that holds at this point, or None: callbacks.  stepwise: on_step may change what functions read,
        which must be seen"""
        found = None if self.against is not None else self.current(problem, n, np_, point, t1)
        return None if stepwise and found is not None and found.reads is None else found

    def current(self, problem, n, np_, point, t1):
        with self.lock:
            found = self.traces.get((n, np_), self)
            if found is not self and (found is None or found.holds(point)):
                return found
            new = self.made(problem, n, np_, point, t1)
            if found is not self and new is not None and new.engine.key == found.engine.key:
                found.reads = new.reads
                return found
            self.traces[n, np_] = new
            return new

    def made(self, problem, n, np_, at, t1):
        try:
            found = Traced(problem, n, np_, at, t1)
        except Exception as error:              # of the function itself: callbacks raise it where it belongs
            self.message = f"the function raises {type(error).__name__} at the start: {error}"
            return None
        refused = found.refused
        try:
            if not refused:
                found.compile(problem, lambda: may_compile(problem.rhs.value))
        except ModelError as error:
            refused.append(("fun", str(error)))
        except Exception as error:              # of codegen: conditions or expressions too deep inside each other
            refused.append(("fun", f"its derivatives cannot be formed: {error}"))
        self.message = "; ".join(f"{name}: {text}" for name, text in refused)
        if refused:
            self.tell(problem)
        return None if refused else found

    def tell(self, problem):
        if problem.asked is True:
            raise NotTraced(self.message)
        if self.message not in self.told:
            self.told.add(self.message)
            warnings.warn(NotTraced("not traced, but called by the library: " + self.message), stacklevel=depth() - 1)


def depth():
    """the number of frames up to that of the user who began the run"""
    frame, count = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OURS):
        frame, count = frame.f_back, count + 1
    return count


def may_compile(f):
    """counts how often a function is compiled"""
    code = getattr(f, "__code__", type(f))
    with LOCK:
        COMPILED[code] = COMPILED.get(code, 0) + 1
        return COMPILED[code] <= MOST_COMPILED
