"""A problem and its runs: integrate, tangents, adjoints, gradients with estimated errors, Hessian products."""
import functools
import threading

import numpy as np

from costate import _library as library
from costate import _shown as shown
from costate import _consistent, _linear, _tapes, residual as residuals
from costate._costate import ffi, lib
from costate._library import CostateError, columns, pointer, taken, vector
from costate.functional import Functional, Start, estimated, second_order
from costate._derivatives import Mistrusted, Scales, Trust
from costate._copies import OfProblem, OfRun
from costate._formed import formed
from costate._pattern import Pattern
from costate._start_limit import StartLimit
from costate._untraced import use_of
from costate.after_step import as_after_step, place_after_step
from costate.maps import (Bound, Map, Owner, Situation, as_map, layout, least_exact,
                          raise_what_was_raised)
from costate._ways import Ways
from costate.result import Result
from costate.review import reviewed
from costate.periodic import PeriodicOrbit
from costate.steady import SteadyState
from costate.tracing import asked


AT_START = {None: lib.COSTATE_START_DEFAULT, "fire": lib.COSTATE_START_FIRE, "ignore": lib.COSTATE_START_IGNORE,
            "false": lib.COSTATE_ZERO_FALSE, "true": lib.COSTATE_ZERO_TRUE}


class Event:
    """An event of a hybrid system: where guard(t, y, p) is zero, or at given times, the state jumps.

    guard       a function or Map of one value; direction: -1 falling, 1 rising, 0 either
    times       instead: times at which it happens
    jump        a function or Map: the n states after it (n + nm with memory variables); None: they do not change
    terminal    True: the run ends there
    active, to  modes: in which the guard is looked at, or the times count, and that after the event; None: all, the
                same.  The first mode is that of the option mode, 0
    at_start    what an event does whose guard is zero at t0: "fire", "ignore", or None: fire if the guard moves
                strictly in its direction.  "false", "true": the event fires where the condition guard > 0, or guard >=
                0, becomes true (direction -1: < 0, <= 0), which is false, or true, where the guard is zero

    Of residuals:
    slopes      True: guard and jump are functions of (t, y, yp, p), where yp is y', or a Residual
    transition  instead of jump: a function T(t, y, yp, p) of n values that are 0 after the event, or a Transition; y
                and yp are (2, n): row 0 after the event, row 1 before it"""

    def __init__(self, guard=None, *, times=None, jump=None, direction=0, terminal=False, passes=False,
                 at_start=None, active=None, to=None, slopes=False, transition=None):
        if (guard is None) == (times is None):
            raise ValueError("an event has a guard, or times")
        if jump is not None and transition is not None:
            raise ValueError("an event has a jump or a transition, not both")
        kind = residuals.as_residual if slopes else as_map
        self.guard, self.jump, self.slopes = kind(guard), kind(jump), bool(slopes)
        self.transition = residuals.as_residual(transition, residuals.Transition)
        self.times = None if times is None else np.array(times, dtype=float, ndmin=1)
        self.direction, self.terminal, self.passes = int(np.sign(direction)), bool(terminal), bool(passes)
        if at_start not in AT_START:
            raise ValueError(f"at_start is {at_start!r}: one of {', '.join(map(repr, AT_START))}")
        self.at_start = AT_START[at_start]
        self.active, self.to = mode_of(active, "active"), mode_of(to, "to")

    __repr__ = shown.of_event


def mode_of(number, name):
    """a number of a mode, or None"""
    if number is not None and (int(number) != number or number < 0):
        raise ValueError(f"{name} is {number!r}: modes are 0, 1, 2, ...")
    return None if number is None else int(number)


class Relation:
    """A truth value on which functions depend, which the library keeps in a step: guard(t, y, p) > 0.

    guard       a function or Map of one value; it may use relations before it
    whole       True: the value is the whole number below the guard
    sign        True: the value is 1 where the guard is positive, -1 where it is negative, 0 where it rests at zero"""

    def __init__(self, guard, *, whole=False, sign=False):
        if whole and sign:
            raise ValueError("a relation has whole=True or sign=True, not both")
        self.guard, self.whole, self.sign = as_map(guard), bool(whole), bool(sign)

    __repr__ = shown.of_relation

    @property
    def kind(self):
        return "whole" if self.whole else "sign" if self.sign else "truth"


class Built:
    """A problem for some n, np in one thread: the C structs, and a solver."""

    def __init__(self, problem, n, np_, at, trace=None):
        self.owner, self.others, self.keep, self.problem = Owner(), [], [], problem     # others: those of events
        self.trace = trace                      # a Traced, whose maps take the place of callbacks; or None
        self.P = ffi.new("costate_problem *")
        self.o = ffi.new("costate_options *")
        self.watch = ffi.new("costate_watch *")
        self.n, self.np, self.nm = n, np_, problem.memory
        self.first, self.slope, self.lock = at, None, threading.RLock()     # one call at a time, also of several runs
        self.bounds, self.of_compiled = [], "exact"
        self.pieces, self.compiled, self.calls_python = [], [], False       # of after_step
        self.scales = Scales(smallest(problem, at), stops=problem.jumps())
        model = problem.model
        self.compiled_way = None                # that of compiled functions alone, which does not change
        self.of, self.engine = None, None       # the costate_problem that P is made of, if there is one; its engine
        if trace is not None:
            self.engine = trace.engine.now()
            self.of = self.engine.problem
        if model is not None:
            self.of = model.problem
            self.P[0] = self.of[0]
            self.nq, self.nm = self.P.nq, self.P.nm
            self.of_compiled = "differences" if model.differences else "exact"
        else:
            self.fill(at)
        self.stops = problem.stops if trace is None else np.union1d(problem.stops, trace.stops)
        if self.stops.size:
            self.P.nstops, self.P.stops = self.stops.size, pointer(self.stops)
        if problem.after_step is not None:
            place_after_step(self)
        self.N = self.n + self.nq + self.P.nm
        self.options()
        pieces, self.pieces = self.pieces, []
        self.solver = ffi.gc(lib.costate_new(library.method(problem.method), self.P, self.o), lib.costate_free)
        self.pieces = pieces                    # behind the solver, which is freed before
        self.refuse(lib.costate_status(self.solver))

    def is_outdated(self):
        """was the model, or what was traced, compiled since?  Then a new solver has the same results, unless it begins
        where the last run ended.  Or do compiled functions read something else now?"""
        if not all(compiled.holds() for compiled in self.compiled):
            return True
        if self.of is None or self.problem.options.get("warm"):
            return False
        return self.of != (self.problem.model.problem if self.trace is None else self.trace.engine.now().problem)

    def runs_in_threads(self):
        """are all functions compiled, so that members of an ensemble need no GIL?"""
        calls_python = self.calls_python or getattr(self.problem.model, "_functions", None) is not None
        return (self.problem.model is not None or self.trace is not None) and not calls_python

    # ---- structs

    @property
    def way(self):
        """how derivatives are computed: the least exact way of all functions"""
        if self.compiled_way is None or self.bounds:
            self.compiled_way = self.find_way()
        return self.compiled_way

    def find_way(self):
        by_map = {bound.name: bound.ways() for bound in self.bounds}
        if self.problem.model is not None:
            by_map["model"] = dict.fromkeys("typ" if self.np else "ty", self.of_compiled)
        if self.trace is not None:
            by_map.update((name, dict.fromkeys("typ" if self.np else "ty", "exact")) for name in self.trace.names)
        return Ways(least_exact([self.of_compiled, *(bound.least_exact_way() for bound in self.bounds)]), by_map)

    def bind(self, of, slot, name, rows, owner=None):
        """a map, whose complex steps are checked at the first point"""
        kind = residuals.BoundPairs if isinstance(of, residuals.Residual) else Bound
        bound = kind(of, name, self.n, self.np, self.nm, rows, self.problem.trust, self.scales,
                     len(self.problem.relations) if self.problem.switched else None)
        (owner or self.owner).slots[slot] = bound
        self.bounds.append(bound)
        for _ in self.first[1:]:
            try:
                bound.look_over([self.first])
            except Mistrusted:
                continue                        # this part is now known; perhaps another one is wrong, too
        return bound

    def place(self, parent, member, of, slot, name, rows, owner=None):
        """a costate_map of a struct: compiled from a trace, or else callbacks, whose Bound is returned"""
        if self.trace is not None:
            setattr(parent, member, self.trace.map(self.of, name))
            return None
        bound = self.bind(of, slot, name, rows, owner)
        bound.fill(getattr(parent, member), slot)
        return bound

    def fill(self, at):
        problem, P = self.problem, self.P
        P.n, P.np, P.nm, P.ctx = self.n, self.np, self.nm, self.owner.handle
        if self.of is not None and problem.w is None:
            P.ctx = self.of.ctx                 # of byte code; compiled C needs none
        implicit = problem.residual is not None
        rhs = None if implicit else self.place(P, "rhs", problem.rhs, "rhs", "fun", self.n)
        if rhs is not None and (problem.rhs.jac is not None or rhs.way(1) != "exact"):
            P.jac = lib.costate_py_jac
        self.nq = 0
        if problem.cost is not None:
            last = (Situation(0, (1,) * len(problem.relations)),) * problem.switched
            self.nq = np.atleast_1d(np.asarray(problem.cost.on_copies().value(*at, *last))).size
            self.place(P, "cost", problem.cost, "cost", "cost", self.nq)
        P.nq = self.nq
        if implicit:
            residuals.placed(self, self.given_pattern())
        elif problem.w is not None:
            _linear.own_matrix(self, problem.w, self.given_pattern())
        elif rhs is None:
            self.compiled_matrices()
        else:
            self.matrices(rhs)
        if problem.index is not None:
            self.keep.append(_consistent.index_of(problem, self.n))
            P.index = ffi.cast("int *", ffi.from_buffer(self.keep[-1]))
        self.events()
        self.relations()

    def compiled_matrices(self):
        """Jacobian, its pattern and the mass matrix, of a trace"""
        n, mass, of = self.n, self.problem.mass, self.of
        if mass is not None and np.shape(mass) != (n, n):
            raise ValueError(f"mass has shape {np.shape(mass)}; expected ({n}, {n})")
        if self.problem.sparsity is not None:
            Pattern.of(sparsity_matrix(self.problem.sparsity), n, "sparsity")       # refuses one of another shape
        self.P.jac, self.P.pattern, self.P.mass = of.jac, of.pattern, of.mass

    def given_pattern(self):
        """a Pattern, which the struct has, too; or None"""
        if self.problem.sparsity is None:
            return None
        pattern = Pattern.of(sparsity_matrix(self.problem.sparsity), self.n, "sparsity")
        self.P.pattern = pattern.struct(self.keep)
        return pattern

    def matrices(self, rhs):
        """the mass matrix and the sparsity pattern"""
        rhs.pattern = self.given_pattern()
        self.mass_matrix(rhs.pattern)

    def mass_matrix(self, pattern):
        mass, n = self.problem.mass, self.n
        if mass is None:
            return
        if np.shape(mass) != (n, n):
            raise ValueError(f"mass has shape {np.shape(mass)}; expected ({n}, {n})")
        self.owner.mass = layout(mass if hasattr(mass, "tocsr") else np.asarray(mass, dtype=float), pattern, "mass")
        self.P.mass = lib.costate_py_mass

    def structs(self, kind, items, more=0):
        """(struct, item, owner of its callbacks) for each of P.<kind>, which are made for these items; more: structs
        behind them"""
        if not len(items) + more:
            return ()
        array, owners = ffi.new(f"costate_{kind}[]", len(items) + more), [Owner() for _ in items]
        self.keep.append(array)
        self.others += owners
        setattr(self.P, f"n{kind}s", len(items) + more)
        setattr(self.P, kind, array)
        return zip(array, items, owners)

    def events(self):
        for k, (event, of, owner) in enumerate(self.structs("event", self.problem.events)):
            if of.guard is not None:
                self.place(event, "guard", of.guard, "guard", f"the guard of events[{k}]", 1, owner)
            else:
                self.keep.append(of.times)
                event.ntimes, event.times = len(of.times), pointer(of.times)
            if of.jump is not None:
                self.place(event, "jump", of.jump, "jump", f"the jump of events[{k}]", self.n + self.nm, owner)
            if of.transition is not None:
                self.place(event, "transition", of.transition, "transition", f"the transition of events[{k}]", self.n,
                           owner)
            event.slopes = of.slopes
            event.direction, event.terminal, event.passes = of.direction, of.terminal, of.passes
            event.at_start = of.at_start
            setattr(event, "from", lib.COSTATE_ANY_MODE if of.active is None else of.active)
            event.to = lib.COSTATE_SAME_MODE if of.to is None else of.to
            event.ctx = owner.handle if self.of is None else self.of.event[k].ctx

    def relations(self):
        """those of the problem; those of conditions in traced functions follow"""
        given = self.problem.relations
        of_trace = [] if self.trace is None else self.trace.conditions(self.of)
        for k, (relation, of, owner) in enumerate(self.structs("relation", given, len(of_trace))):
            self.place(relation, "guard", of.guard, "guard", f"the guard of relations[{k}]", 1, owner)
            relation.whole, relation.sign = of.whole, of.sign
            relation.ctx = owner.handle if self.of is None else self.of.relation[k].ctx
        for k, relation in enumerate(of_trace, len(given)):
            self.P.relation[k] = relation

    def options(self):
        problem, o = self.problem, self.o
        library.tolerances(o, self.n, problem.rtol, problem.atol, self.keep)
        if problem.model is None and self.trace is None and not problem.options.get("autonomous"):
            o.gradient_estimate = lib.COSTATE_ESTIMATE_LOCAL        # a function may raise for a state of another time
        inside = {"accurate_inside": "members" not in problem.options}
        for name, value in {**inside, **problem.options}.items():
            library.set_option(o, name, value, self.keep)
        if self.way == "differences":
            o.differences = 1                   # in place of second derivatives, too
        if self.trace is not None and self.trace.conditions(self.of) and "sliding" not in problem.options:
            o.sliding = 1                       # a function may slide: its callbacks chattered
        if problem.preconditioner is not None:
            o.preconditioner = _linear.preconditioner(self, problem.preconditioner, problem.splitting)
        elif problem.splitting:
            split, o.preconditioner = _linear.splitting(problem.model)
            self.pieces.append(split)           # freed behind the solver
        compiled = problem.model if self.trace is None else self.engine
        if compiled is not None and compiled.backend and not o.solver and problem.w is None and not problem.splitting:
            o.backend = compiled.backend
        self.watch.handle, self.watch.n, self.watch.N = self.owner.handle, self.n, self.N
        o.on_step, o.on_step_ctx = ffi.addressof(lib, "costate_watch_step"), self.watch
        o.on_back, o.on_back_ctx = ffi.addressof(lib, "costate_watch_back"), self.watch

    def has_slope(self):
        """are there derivatives with respect to t?"""
        if self.slope is None:
            at = (self.scales.middle(self.first[0]), *self.first[1:])
            self.slope = self.of_compiled == "differences" or all(
                bound.has_slope(at) for slot, bound in self.owner.slots.items() if slot in ("rhs", "residual", "cost"))
        return self.slope

    def state(self, y, t, p):
        """n values, or with memory variables, or N, as N; memory variables that are not given are those of the Model"""
        model = self.problem.model
        if y.size == self.n and self.nm and model is not None:
            full = model.start(t, p)
            full[:self.N - self.nm] = 0
        else:
            full = np.zeros(self.N)
        if y.size not in (self.n, self.n + self.nm, self.N):
            raise ValueError(f"y0 has shape {y.shape}; expected ({self.n},)")
        if y.size == self.N:
            return y.copy()
        full[:self.n] = y[:self.n]
        if y.size > self.n:
            full[self.N - self.nm:] = y[self.n:]
        return full

    def given(self, y):
        """y0 of a state of N values"""
        if self.problem.model is not None:
            return y
        return np.concatenate([y[:self.n], y[self.n + self.nq:self.n + self.nq + self.nm]])

    # ---- calls

    def owners(self):
        """of what may have raised an exception: callbacks, those of events, functions in Python of a Model"""
        functions = getattr(self.problem.model, "_functions", None)
        return [self.owner, *self.others, *[functions] * (functions is not None)]

    def check(self, status):
        """raises what a callback raised, or the library's sentence; else warns of differences, once"""
        self.refuse(status)
        self.problem.trust.say()

    def refuse(self, status):
        raise_what_was_raised(self.owners())
        if status != lib.COSTATE_OK:
            lacking = getattr(self.problem.model, "lacking", ())
            raise CostateError(library.status_name(status), library.said(lib.costate_message(self.solver), lacking),
                               lib.costate_time(self.solver))


def smallest(problem, at):
    """the size below which a component of y has no size of its own: its tolerance"""
    if at is None:
        return None
    y = at[1]
    atol, rtol = (np.asarray(1e-6 if tol is None else tol, dtype=float) for tol in (problem.atol, problem.rtol))
    if any(tol.shape not in ((), y.shape) for tol in (atol, rtol)):
        return None                             # library.tolerances will say so
    return np.where(atol > 0, atol, np.where(y != 0, np.abs(rtol * y), 1e-12))


def sparsity_matrix(of):
    return of if hasattr(of, "tocsc") else np.asarray(of)


def sorted_times(stops):
    """the stops of a problem, each once"""
    times = np.unique(np.array(() if stops is None else stops, dtype=float))
    if times.ndim != 1 or not np.all(np.isfinite(times)):
        raise ValueError("stops are finite times")
    return times


class Problem(OfProblem):
    """Equations y' = f(t, y, p), and how they are solved.

    rhs         a function f(t, y, p) that returns n values, a Map with derivatives, or a Model (compiled)
    residual    instead: F(t, y, yp, p) = 0, where yp is y': a function of n values, or a Residual with derivatives
    jac, jac_p, jac_t, jac_m, jvp, vjp, hvp     derivatives of a function rhs, as of Map; with jac_yp, of a residual, as
                of Residual
    cost        running costs r(t, y, p): q' = r, q = 0 at the start
    mass        M in M y' = f, n by n, may be singular
    index       n numbers: 0: y' of this unknown is determined; 1 or 2: it is algebraic, of this index.  None: no
                unknown has index 2
    sparsity    where the Jacobian (and M) may have entries that are not zero: a matrix, dense or SciPy's sparse; large
                systems are then solved by sparse factorisations, and jac may return a sparse matrix
    events      an Event, or a list of Event, or of guards
    relations   a list of Relation, or of guards.  Where there are relations, or events with modes, functions receive
                one argument more, behind the others: its members mode and relation are the mode and the values
    stops       known times at which rhs or cost jumps in t, in any order: tables, doses, controls.  A step ends at
                each, and t is slightly before it in this step and slightly behind it in the next one
    after_step  a function of (t, y, p), or a Map, whose n values are the state after each step; or AfterStep, Bounds,
                Projection, Relaxation
    memory      number of memory variables: constants that jumps change; functions then receive them as a 4th argument
    method      "auto", or a name (costate.methods()); SciPy's names are understood.  Composite methods such as auto
                take steps that are as accurate inside as at their ends (the option `accurate_inside`), unless `members`
                is given
    rtol, atol  1e-6; numbers, or n of them
    derivatives "auto": those that are not given are complex steps where functions compute with complex y, else
                differences; or one of "complex step", "differences"
    preconditioner
                with solver="gmres" or "preconditioner": (setup, solve).  setup(sigma, t, y, p) returns what
                solve(x, transpose, of) receives last, or is None.  solve returns P^-1 x, or if transpose P^-T x, where
                P approximates sigma M - J, J = df/dy.  solver="preconditioner": P itself is the matrix of the stages
                of a W-method
    splitting   True: the preconditioner is linear with an exact transpose, as ADI is, and depends on sigma and p only.
                "auto" then takes the W-method w6s4os with it.  For a Model on a grid without a preconditioner: the
                splitting of the model, docs/howto/splitting.md
    w           W-methods: a matrix in place of J, n by n, dense or sparse, or a function of p
    options     members of costate_options by name, as storage="checkpoints", max_steps=10**6"""

    def __init__(self, rhs=None, *, residual=None, jac=None, jac_yp=None, jac_p=None, jac_t=None, jac_m=None, jvp=None,
                 vjp=None, hvp=None, cost=None, mass=None, index=None, sparsity=None, events=(), relations=(), stops=(),
                 after_step=None, memory=0, method="auto", rtol=1e-6, atol=1e-6, derivatives="auto", trace="auto",
                 preconditioner=None, splitting=False, w=None, **options):
        given = dict(jac=jac, jac_p=jac_p, jac_t=jac_t, jac_m=jac_m, jvp=jvp, vjp=vjp, hvp=hvp)
        self.model = rhs if hasattr(rhs, "problem") else None
        self._begins = StartLimit(self) if getattr(self.model, "start_limit", None) else self.model
        self.residual = residuals.given_residual(rhs, residual, jac_yp, given, mass, w)
        if self.model is not None or isinstance(rhs, Map):
            if any(f is not None for f in given.values()):
                raise TypeError("derivatives are given with a function; a Map or Model has its own")
        others = cost or events or relations or memory or any(of is not None for of in (mass, index, w, sparsity))
        if self.model is not None and others:
            raise TypeError("costs, mass, index, w, sparsity, events, relations and memory of a Model are in its "
                            "equations")
        called = rhs if self.model is None else None
        self.rhs = called if called is None or isinstance(called, Map) else Map(called, **given)
        self.cost, self.mass, self.sparsity, self.memory = as_map(cost), mass, sparsity, int(memory)
        events = [events] if isinstance(events, Event) or callable(events) else events
        self.events = [e if isinstance(e, Event) else Event(e) for e in events]
        if self.residual is None and any(e.slopes or e.transition is not None for e in self.events):
            raise TypeError("slopes and transition are for events of a residual")
        self.after_step, self.preconditioner, self.w, self.index = (
            as_after_step(after_step), _linear.pair(preconditioner), w, None if index is None else tuple(index))
        self.splitting = bool(splitting)
        if self.splitting and self.preconditioner is None:
            if not hasattr(self.model, "parts"):
                raise TypeError("splitting=True needs the preconditioner that splits, or a Model on a grid")
            self.model.parts()                  # raises, if there are none
        self.relations = [r if isinstance(r, Relation) else Relation(r) for r in relations]
        self.switched = bool(self.relations) or any(e.active is not None or e.to is not None for e in self.events)
        self.stops = sorted_times(stops)
        if hasattr(self.model, "stops"):
            self.stops = np.union1d(self.stops, self.model.stops)
        if derivatives not in ("auto", "complex step", "differences"):
            raise ValueError(f"derivatives={derivatives!r}; expected 'auto', 'complex step' or 'differences'")
        self.derivatives, self.rtol, self.atol = derivatives, rtol, atol
        self.method = None if method in (None, "auto") else method
        library.method(self.method)
        for name in options:
            if name not in library.option_names():
                library.set_option(None, name, None, None)
        self.options, self.trust = options, Trust(derivatives, bool(options.get("differences")))
        self.asked = asked(trace)
        self._use = use_of(self)
        self.formed, self._local = {}, threading.local()         # formed: the same for y0 and p that are not vectors

    __repr__ = shown.of_problem

    @property
    def traced(self):
        """Are all functions compiled from traces?  False before the first run."""
        uses = self._uses()
        return any(t is not None for use in uses for t in use.traces.values()) and not self.trace_message

    @property
    def trace_message(self):
        """why functions are not traced, by function; "" if they are"""
        return next((use.message for use in self._uses() if use.message), "")

    def _uses(self):
        """of this problem and of those for y0 and p in their forms"""
        return [self._use, *(of.problem._use for of in self.formed.values() if of.problem is not self)]

    def wait(self, timeout=None):
        """Waits until the compiler that works in the background for the functions or the Model has ended, or so many
        seconds.  Returns True if later runs use compiled code; results have the same bits as before."""
        if self.model is not None:
            return not hasattr(self.model, "wait") or self.model.wait(timeout)
        traces = [t for t in self._use.traces.values() if t is not None]
        return bool(traces) and all([t.engine.wait(timeout) for t in traces])

    def jumps(self):
        """all times at which functions may jump in t: stops, and given times of events, sorted"""
        return np.unique(np.concatenate([self.stops, *(e.times for e in self.events if e.times is not None)]))

    def sizes(self, t, y0, p):
        """(n, y, p): y and p as vectors; where a Model has start values and defaults, they may be None"""
        if self.model is not None:
            p = self.model.defaults if p is None else p
            if hasattr(self.model, "check_values"):
                self.model.check_values(p)
            y0 = self.initial(t, p) if y0 is None else y0
        if np.iscomplexobj(y0) or np.iscomplexobj(p):
            raise TypeError("y0 or p is complex; the library solves for real values (use real and imaginary parts as "
                            "two states)")
        y = np.asarray(y0, dtype=float)
        if y.ndim > 1 or y.size == 0:
            raise ValueError(f"y0 has shape {y.shape}; expected (n,)")
        y = y.reshape(-1)
        n = self.model.n if self.model is not None else y.size - self.memory
        if n < 1:
            raise ValueError(f"y0 has {y.size} entries, of which {self.memory} are memory variables")
        count = self.model.np if self.model is not None else 0 if p is None else np.size(p)
        return n, y, vector([] if p is None else p, count, "p")

    def rebuild(self):
        """the next call in this thread makes a new solver"""
        self._local.built = None

    def built(self, t, y0, p, t1=None, stepwise=False):
        """what solves the problem for these sizes in this thread, and the library's state and parameters; t1: the end
        of the run, if it is known; stepwise: on_step is called"""
        n, y, p = self.sizes(t, y0, p)
        at = (float(t), y[:n].copy(), p.copy()) + ((y[n:].copy(),) if self.memory else ())
        known, trace = getattr(self._local, "built", None), self._use.at(self, n, p.size, at, t1, stepwise)
        if trace is not None and self.w is not None and not trace.engine.wait():
            trace = None                        # w is a callback, with the ctx of all maps: byte code needs its own
        if known is None or (known.n, known.np) != (n, p.size) or known.trace is not trace or \
                known.is_outdated():
            known = self._local.built = Built(self, n, p.size, at, trace)
        return known, known.state(y, float(t), p), p

    def initial(self, t=0.0, p=None):
        """The initial values of the Model at t: states, running costs and memory variables.  With `start steady` or
        `start periodic` in its text, the states in which runs begin."""
        if self.model is None:
            raise ValueError("functions have no initial values: only a Model does")
        return self._begins.start(t, p)

    def initials(self, t, p):
        """initial for each row of p"""
        if hasattr(self._begins, "starts"):
            return self._begins.starts(t, p)
        return np.stack([self.initial(t, row) for row in p])

    def start(self, y0, built):
        """what of the initial values a Model gives: a Start, or None"""
        if self.model is None:
            return None
        size = 0 if y0 is None else np.size(y0)
        if size and not (built.nm and size == built.n):
            return None
        return Start(self.model if size else self._begins, built.N - built.nm if size else 0)

    # ---- runs

    def integrate(self, t_span, y0=None, p=None, *, t_eval=None, record=True, dense=False, on_step=None, tape=None):
        """Runs from t_span[0] to t_span[1].  Returns a Run.

        t_eval: times between t_span[0] and t_span[1], in this order, at which the state is wanted (run.at); record:
        True: the run can be differentiated, and evaluated at any time; dense: True: the run has steps_t and steps_y,
        the ends of all steps; tape: a path: the record is written to this file while the run goes on, instead of to
        memory, and can be read again with load and resume; a file that is not a tape is not overwritten; on_step(step):
        called after each step, returns True to stop.  It begins again at the
        start where complex steps of a function turn out to be wrong, which are then replaced by differences"""
        more = dict(t_eval=t_eval, record=record, dense=dense, on_step=on_step, tape=tape)
        other = formed(self, y0, p)
        return Run(self, t_span, y0, p, **more) if other is None else other.integrate(t_span, y0, p, **more)

    def jvp(self, t_span, y0, p=None, dy0=None, dp=None):
        """(y(t1), its derivative along dy0 and dp)"""
        run = self.integrate(t_span, y0, p)
        return run.y, run.tangent(dy0, dp)

    def vjp(self, t_span, y0, p=None):
        """(y(t1), a function of w: w times the Jacobians with respect to y0 and p)"""
        run = self.integrate(t_span, y0, p)
        return run.y, run.adjoint

    def gradient(self, functional, t_span, y0=None, p=None, *, tol=None, estimate=False, factor=0.0):
        """The value of a Functional and its gradient with respect to y0, p, t0 and t1, exact for the steps
        that were taken.

        estimate: True: also estimates of the errors of value and gradient, against the solution itself; tol: runs are
        repeated with smaller tolerances until these errors are within tol, relative, and confirmed by plain runs; then
        factor is that of the tolerances of the first run, 0: chosen, and result.factor that of the last one, for the
        next call"""
        if tol is None and not estimate:
            return self.integrate(t_span, y0, p).gradient(functional)
        if (other := formed(self, y0, p)) is not None:
            return other.gradient(functional, t_span, y0, p, tol=tol, estimate=estimate, factor=factor)
        return estimated(self, functional, t_span, y0, p, tol, factor)

    def consistent(self, t, y0=None, p=None, *, yp0=None):
        """(y, y'), (n,) each, that satisfy the equations at t, from the guesses y0 and yp0 (None: 0).

        Unknowns with index 0 are kept, the others are solved for; where index is None, those whose y' appears in no
        equation.  Unknowns of index 2 are solved for, and y is moved onto the constraints.  y' of what is solved for is
        0"""
        other = formed(self, y0, p)
        return _consistent.consistent(self, t, y0, p, yp0) if other is None else other.consistent(t, y0, p, yp0)

    def steady(self, y0=None, p=None, *, t=0.0, fixed=None):
        """The steady state that the solution from y0 tends to: a SteadyState.  f must not depend on the time t at which
        it is evaluated.  fixed: {index: value} of parameters that are not those of p, with derivative 0: conditions
        before an experiment; parameters of a Model may be named.  Events at given times are no part of it where a Model
        says `start steady`, and are refused otherwise"""
        other = formed(self, y0, p)
        if other is not None:
            return other.steady(y0, p, t=t, fixed=fixed)
        before = getattr(self.model, "start_limit", None) or {}
        return SteadyState(self, self._searched(t, y0, p), p, t, self._numbered(fixed or {}), before.get("events"))

    def periodic(self, y0=None, guess=None, p=None, *, period=None, t=0.0, settle=0, invariants=None):
        """A periodic orbit near y0: a PeriodicOrbit.

        guess: the period if it is unknown, right within about a third; f and costs must not depend on t.  period: the
        one that is given, for what depends on t and for events at given times in [t, t + period).  settle: so many
        periods are followed before; invariants: (k, n), rows w such that w @ y does not change along any solution"""
        other = formed(self, y0, p)
        if other is not None:
            return other.periodic(y0, guess, p, period=period, t=t, settle=settle, invariants=invariants)
        return PeriodicOrbit(self, self._searched(t, y0, p), guess, p, period, t, settle, invariants)

    def _searched(self, t, y0, p):
        """y0, or where a Model begins a search for a limit"""
        if y0 is not None or self._begins is self.model:
            return y0
        start, n = self.model.start(t, p), self.model.n
        return np.concatenate([start[:n], start[n + self.model.nq:]])

    def _numbered(self, fixed):
        """{index: value} of {index or name: value}"""
        return {self.model.index(k) if isinstance(k, str) and self.model is not None else k: x
                for k, x in fixed.items()}

    def load(self, path, t_span, y0=None, p=None):
        """The Run whose tape is in a file, which integrate(..., tape=path) wrote: perhaps in another process, perhaps
        only up to the last state from which a run that was killed can be resumed.

        t_span, y0, p: those of the run.  They are compared with the tape by repeating its steps once"""
        other = formed(self, y0, p)
        return _tapes.load(self, path, t_span, y0, p) if other is None else other.load(path, t_span, y0, p)

    def resume(self, path, t_span, y0=None, p=None):
        """Completes the run in a file that was killed, stopped or failed, up to its end: a Run with the same bits as if
        it had not been interrupted.  The arguments are those of load"""
        other = formed(self, y0, p)
        return _tapes.load(self, path, t_span, y0, p, resume=True) if other is None else \
            other.load(path, t_span, y0, p, resume=True)

    def check(self, t_span, y0=None, p=None):
        """A Review of the problem along the run from t_span[0] to t_span[1]: callbacks and their derivatives at points
        of the run, derivatives of the run, estimated errors, events, stiffness, tolerances.  Call it once for a model,
        and print what it returns; its `ok` is True if nothing is wrong."""
        other = formed(self, y0, p)
        return reviewed(self, t_span, y0, p) if other is None else other.check(t_span, y0, p)

    def ensemble(self, t_span, y0=None, p=None, **more):
        """Runs from each row of y0 with each row of p, in parallel threads: costate.ensemble.ensemble"""
        from costate.ensemble import ensemble
        return ensemble(self, t_span, y0, p, **more)

    def hessp(self, functional, t_span, y0=None, p=None, *, vy0=None, vp=None, tol=None, estimate=False, factor=0.0,
              product_atol=0.0):
        """The gradient of a Functional, and its Hessian times (vy0, vp): Result with value, y0, p, Hy0, Hp

        estimate, tol, factor: as in gradient, for the products as well: error.Hy0, error.Hp, and relative_error with
        one number for each direction; product_atol: with tol, the errors of products, in the 2-norm, that are allowed
        in any case"""
        if tol is None and not estimate:
            return self.integrate(t_span, y0, p).hessp(functional, vy0, vp)
        if (other := formed(self, y0, p)) is not None:
            return other.hessp(functional, t_span, y0, p, vy0, vp, tol=tol, estimate=estimate, factor=factor,
                               product_atol=product_atol)
        return estimated(self, functional, t_span, y0, p, tol, factor, (vy0, vp), product_atol)


POINTS = 5              # of a run where complex steps are checked before derivatives of the run are computed


def derived(method):
    """A method of Run that computes derivatives: one call at a time, and again where complex steps turn out to be
    wrong."""
    @functools.wraps(method)
    def call(self, *arguments, **named):
        while True:
            b = self._b
            with b.lock:
                try:
                    self._look_over()
                    found = method(self, *arguments, **named)
                    self.derivatives = b.way
                    return found
                except Mistrusted:
                    self.problem.rebuild()
            self._integrate(None)

    return call


class Run(OfRun, _tapes.Continued):
    """A run: t, y, costs, memory at its end; with a tape: tangents, adjoints, dense output run(t).

    t, y        where it ended; y: n states; q: running costs; m: memory variables
    at          states at t_eval (n by their number); NaN where an event or on_step ended the run before
    stats       counts, a dictionary; message: a hint, or "No error."; stopped: on_step ended the run
    gradient_error
                the relative error of the gradients of the last adjoint or gradient, as its sweep has sampled it;
                None before; message says so where it is large
    derivatives "exact", "complex step" or "differences": how derivatives of the functions are computed, the least exact
                way of all that were used; derivatives.by_map says it for each function and argument.  It can change
                when complex steps turn out to be wrong: the run is then repeated with differences"""

    def __init__(self, problem, t_span, y0, p, t_eval, record, dense, on_step, tape=None):
        self.problem, (self.t0, self._t1), self.stopped = problem, (float(t) for t in t_span), False
        self._file, self._parts, self._read = _tapes.checked_path(tape, record), [], False
        self._given, self.gradient_error = tuple(None if a is None else np.array(a) for a in (y0, p)), None
        self._options = _tapes.checked_times(t_eval, self.t0, self._t1), record, dense
        self._integrate(on_step)

    __repr__ = shown.of_run

    @property
    def recorded(self):
        """can it be differentiated?"""
        return bool(self._options[1])

    @property
    def parameters(self):
        """their number"""
        return len(self._p)

    def _integrate(self, on_step):
        """again from the start, with differences, where complex steps turn out to be wrong"""
        while True:
            self._b, y, self._p = self.problem.built(self.t0, *self._given, self._t1,
                                                              on_step is not None)
            self._start = self.problem.start(self._given[0], self._b)
            try:
                with self._b.lock:
                    self._b.scales.between(self.t0, self._t1)
                    return self._integrate_once(y, on_step, *self._options)
            except Mistrusted:
                self.problem.rebuild()

    def _integrate_once(self, y, on_step, times, record, dense):
        """the run, and its continuations"""
        b, wrong = self._b, frozenset(self.problem.trust.wrong)
        alike = getattr(self, "_known_wrong", wrong) == wrong               # steps are those of before
        parts = list(self._parts) or [(self._t1, times, None)]
        if self.stopped and on_step is None:
            parts[-1] = (self.t, *parts[-1][1:])
        self._y0, self._looked, self._known_wrong = y.copy(), False, wrong
        self._tape = _tapes.new(self._file) if record else None
        p = pointer(self._p) if b.np else ffi.NULL

        def begin(t1):
            return lib.costate_integrate(b.solver, self.t0, t1, pointer(y), p, self._tape or ffi.NULL)
        for k, (t1, times, stop) in enumerate(parts, 1):
            stopping = on_step if k == len(parts) else None
            if stop is not None:                # where on_step ended this part
                stopping, t1 = (_tapes.stops_at(stop), t1) if alike else (None, stop)
            if k == 1:
                self._part(begin, y, self.t0, self._y0, t1, times, dense, stopping, True)
            else:
                self._continue(t1, times, stopping)
            self.stopped &= k == len(parts)

    def _part(self, call, y, t0, y0, t1, times, dense, on_step, first=False):
        """one call of the library, to t1; y: the state at its end; y0: at its start, t0"""
        b, found = self._b, np.full((len(times), self._b.n), np.nan)
        self._watch(times, found, dense, on_step if b.trace is None else b.trace.watched(on_step))
        status = call(t1)
        self.stopped |= status == lib.COSTATE_STOPPED and on_step is not None and b.owner.raised is None
        steps = self._steps_kept(t0, y0) if dense else None
        self._stats = ffi.new("costate_stats *", lib.costate_get_stats(b.solver)[0])
        self._watch(np.empty(0), found, False, None)
        b.check(lib.COSTATE_OK if self.stopped else status)
        found[times == t0] = y0[:b.n]                       # lies in no step
        self.message = library.said(lib.costate_message(b.solver))
        self.t, self.y = lib.costate_time(b.solver), y[:b.n].copy()
        self.at = found.T if first else np.hstack([self.at, found.T])
        if dense:
            self.steps_t, self.steps_y = steps if first else (np.concatenate([self.steps_t, steps[0][1:]]),
                                                              np.hstack([self.steps_y, steps[1][:, 1:]]))
        self.q, self.m, self._end = y[b.n:b.n + b.nq].copy(), y[b.n + b.nq:].copy(), y
        self.derivatives = b.way

    def _look_over(self):
        """Before the first derivatives: are complex steps right at several points of the run, and at its events?"""
        if self._known_wrong != self.problem.trust.wrong:
            raise Mistrusted("another run found complex steps to be wrong")
        self._b.scales.between(self.t0, self._t1)
        if self._looked or self._tape is None:
            return
        events = self.events[:POINTS] if self._b.others else ()
        points = self._points() if self._b.bounds or events else []       # none, where all is compiled
        for bound in self._b.bounds:
            bound.look_over(points)
        for t, number, before, _ in events:
            for bound in self._b.others[number].slots.values():
                bound.look_over([(t, before, self._p, *points[-1][3:])])
        self._looked = True

    def _points(self):
        """(t, y, p) or (t, y, p, m), inside some of the steps, and at the end"""
        t, h = self.steps
        memory = (self.m,) if self._b.nm else ()
        some = np.unique(np.linspace(0, len(t) - 1, POINTS).astype(int)) if len(t) else []
        times = [t[k] + part * h[k] for k, part in zip(some, (0.37, 0.61, 0.43, 0.71, 0.53))]
        return [(at, self(at), self._p, *memory) for at in times] + [(self.t, self.y.copy(), self._p, *memory)]

    def _watch(self, times, found, dense, on_step):
        """what the run shows while it goes on: glue.h"""
        b, w = self._b, self._b.watch
        lib.costate_watch_clear(w)
        w.at, w.count, w.found, w.keeps = pointer(times), len(times), pointer(found), dense
        w.python, b.owner.on_step = on_step is not None, on_step
        lib.costate_reset_stats(b.solver)

    def _steps_kept(self, t0, y0):
        b, w = self._b, self._b.watch
        y = taken(w.y, w.steps * b.N).reshape(-1, b.N)
        return np.concatenate([[t0], taken(w.t, w.steps)]), np.vstack([y0, y])[:, :b.n].T

    def plot(self, **more):
        """draws the states over time: costate.plots.plot_run, which needs Matplotlib; returns the axes"""
        from costate.plots import plot_run
        return plot_run(self, **more)

    def _taped(self):
        if self._tape is None:
            raise ValueError("the run was not recorded (record=False): it has no derivatives and no dense output")
        return self._tape

    @property
    def steps(self):
        """(starts, lengths) of the steps"""
        count = lib.costate_tape_steps(self._taped())
        t, h, one, two = np.empty(count), np.empty(count), ffi.new("double *"), ffi.new("double *")
        for k in range(count):
            lib.costate_tape_get(self._tape, k, one, two, ffi.NULL)
            t[k], h[k] = one[0], two[0]
        return t, h

    def _marks(self):
        """[(time, number), ...]: events, stops and relations of the run: stops have the number -1, relations follow the
        events"""
        t, number, out = ffi.new("double *"), ffi.new("int *"), []
        for k in range(lib.costate_tape_events(self._taped())):
            lib.costate_tape_event(self._tape, k, t, number, ffi.NULL, ffi.NULL)
            out.append((t[0], number[0]))
        return out

    @property
    def events(self):
        """[(time, number of the event in problem.events, state before, state after), ...].  Where M is singular, the
        state after the last event at a time has been made consistent."""
        out, b = [], self._b
        for k, (t, number) in enumerate(self._marks()):
            if not 0 <= number < b.P.nevents:
                continue
            before, after = np.empty(b.N), np.empty(b.N)
            lib.costate_tape_event(self._tape, k, ffi.NULL, ffi.NULL, pointer(before), pointer(after))
            out.append((t, number, before[:b.n], after[:b.n]))
        return [self._consistent(out, k) for k in range(len(out))] if b.P.mass else out

    @property
    def relations(self):
        """[(time, number of the relation), ...]: where conditions of a Model changed; its relations are counted from 0
        in the order of the generated C"""
        first = self._b.P.nevents
        return [(t, number - first) for t, number in self._marks() if number >= first]

    def _consistent(self, events, k):
        """The tape holds what the jump returned: the run continued from the start of the next step."""
        t, number, before, after = events[k]
        if k + 1 == len(events) or events[k + 1][0] != t:
            after = self.y.copy() if t == self.t else self(t)
        return t, number, before, after

    def __call__(self, t):
        """the state at t: (n,), or (n, len(t)), by dense output"""
        b, times = self._b, np.asarray(t, dtype=float)
        flat = times.reshape(-1)
        out = np.empty((flat.size, b.n))
        with b.lock:
            b.scales.between(self.t0, self._t1)
            for k, at in enumerate(flat):
                b.check(lib.costate_tape_eval(b.solver, self._taped(), at, pointer(out[k])))
        return out[0] if times.ndim == 0 else out.T

    # ---- first derivatives

    @derived
    def tangent(self, dy0=None, dp=None, *, dm=None, at=None, dt0=None, dt1=None):
        """The derivative of y(t1) along directions of y0 and p: (n,), or (n, m) for m directions.

        dy0: (n,) or (n, m); dp: (np,) or (np, m); dm: of memory variables at the start; dt0, dt1: numbers or m of them.
        at: times: the derivatives there, (len(at), n) or (len(at), n, m)"""
        b, m, one = self._b, 1, True
        dy0, dp, dm = (None if d is None else columns(d, rows, name)
                       for d, rows, name in ((dy0, b.n, "dy0"), (dp, b.np, "dp"), (dm, b.nm, "dm")))
        given = [d for d in (dy0, dp, dm) if d is not None]
        if given:
            m, one = given[0][0].shape[0], given[0][1]
        if len({d[0].shape[0] for d in given}) > 1:
            raise ValueError(f"the directions have different numbers of columns: {[d[0].shape[0] for d in given]}")
        V = np.zeros((m, b.N))
        if dy0 is not None:
            V[:, :b.n] = dy0[0]
        if dm is not None:
            V[:, b.N - b.nm:] = dm[0]
        ends = [None if d is None else vector(np.broadcast_to(d, (m,)), m, "dt") for d in (dt0, dt1)]
        for k in range(m if self._start is not None else 0):
            V[k] += self._start.jvp(self.t0, self._p, None if dp is None else dp[0][k],
                                          0.0 if dt0 is None else ends[0][k])
        times = ffi.new("costate_times *")
        times.t0, times.t1 = pointer(ends[0]), pointer(ends[1])
        seen, keep = self._observing(at, m)
        b.check(lib.costate_tangent(b.solver, self._taped(), m, pointer(V), pointer(dp[0]) if dp else ffi.NULL,
                                    times, seen))
        if at is not None:
            found = np.transpose(b.owner.found, (0, 2, 1))
            return found[:, :, 0] if one else found
        return V[0, :b.n].copy() if one else V[:, :b.n].T

    def _observing(self, at, m):
        if at is None:
            return ffi.NULL, None
        times = np.array(at, dtype=float, ndmin=1)
        seen = ffi.new("costate_observations *")
        seen.count, seen.t, seen.ctx = len(times), pointer(times), self._b.owner.handle
        seen.value, seen.seed = lib.costate_py_observed, lib.costate_py_observed_seed
        self._b.owner.n = self._b.n
        self._b.owner.found = np.empty((len(times), m, self._b.n))
        return seen, times

    @derived
    def adjoint(self, w=None, *, at=None, w_at=None, w_costs=None):
        """w times the Jacobians of y(t1) with respect to y0 and p: (n,), (np,), or (n, m), (np, m) for m functionals.
        Where the problem has memory variables, a third part is that with respect to them at the start.

        w: (n,) or (n, m), the gradients of the functionals with respect to y(t1); at, w_at: times, and gradients with
        respect to the states there, (len(at), n) or (len(at), n, m); w_costs: (nq,) or (nq, m)"""
        b = self._b
        parts = [None if w is None else columns(w, b.n, "w"),
                 None if w_costs is None else columns(w_costs, b.nq, "w_costs")]
        m, one = 1, True
        for d in parts:
            if d is not None:
                m, one = d[0].shape[0], d[1]
        if at is not None:
            seeds = np.asarray(w_at, dtype=float)
            one = seeds.ndim == 2 and one
            seeds = seeds[:, :, None] if seeds.ndim == 2 else seeds
            if seeds.ndim != 3 or seeds.shape[:2] != (np.size(at), b.n):
                raise ValueError(f"w_at has shape {np.shape(w_at)}; expected ({np.size(at)}, {b.n}) or "
                                 f"({np.size(at)}, {b.n}, m)")
            m = seeds.shape[2]
        lam, mu = np.zeros((m, b.N)), np.zeros((m, b.np))
        for d, where in zip(parts, (slice(0, b.n), slice(b.n, b.n + b.nq))):
            if d is not None:
                lam[:, where] = d[0]
        seen, keep = self._observing(at, m)
        if at is not None:
            b.owner.seeds = np.ascontiguousarray(np.transpose(seeds, (0, 2, 1)))
        self._sweep(lam, mu, ffi.NULL, seen)
        parts = (lam[:, :b.n].T, mu.T) + ((lam[:, b.N - b.nm:].T,) if b.nm else ())
        return tuple(part[:, 0].copy() for part in parts) if one else parts

    def _sweep(self, lam, mu, times, seen):
        b = self._b
        b.check(lib.costate_adjoint(b.solver, self._taped(), len(lam), pointer(lam),
                                    pointer(mu) if b.np else ffi.NULL, times, seen))
        self.gradient_error = lib.costate_get_stats(b.solver).gradient_error
        self.message = library.said(lib.costate_message(b.solver))
        if self._start is not None:
            self._start.through(self.t0, self._p, lam, mu, times.t0 if times and times.t0 else None)

    # ---- functionals

    def value(self, functional):
        """of a Functional"""
        return self._value(functional, self._at_times(functional))

    def _at_times(self, functional):
        """[(time, state), ...] of its terms"""
        return [] if functional.times is None else [(t, self(t)) for t in functional.times]

    def _value(self, functional, at_times):
        full = self._end[:self._b.n + self._b.nq]
        value = 0.0 if functional.end is None else float(functional._end(self.t, full, self._p))
        return value + sum(float(functional._term(*at)) for at in at_times)

    @derived
    def gradient(self, functional):
        """Result: value, y0, p; t0, t1, or None where the functions have no derivative with respect to t (jac_t);
        events, one number for each of run.events: the derivative with respect to its time, where that is given, or to a
        constant that is added to its guard; relations, the same for each of run.relations; stops, one number for each
        of problem.stops: the derivative with respect to it, 0 where the run did not stop there.  All of these are None
        for runs that start on a periodic orbit, which depends on these times, too"""
        b, F, ends = self._b, functional, np.zeros(2)
        seen, keep = self._observing(F.times, 1)
        at_times = self._at_times(F)
        if at_times:
            b.owner.seeds = np.stack([F.of_term(*at) for at in at_times])[:, None, :]
        times, at_events = ffi.new("costate_times *"), np.zeros(lib.costate_tape_events(self._taped()))
        on_orbit = self._start is not None and self._start.is_periodic
        timed = b.has_slope() and not on_orbit
        if timed:
            times.t0, times.t1 = pointer(ends[:1]), pointer(ends[1:])
        times.events = pointer(at_events) if at_events.size else ffi.NULL
        lam, mu = np.zeros((1, b.N)), np.zeros((1, b.np))
        at = (self.t, self._end[:b.n + b.nq], self._p)
        lam[0, :b.n + b.nq], mu[0] = F.of_end(*at)
        direct = np.array([F.of_t1(*at, b.scales)])
        times.end = pointer(direct)
        self._sweep(lam, mu, times, seen)
        memory = dict(m=lam[0, b.N - b.nm:].copy()) if b.nm else {}
        return Result(value=self._value(F, at_times), y0=lam[0, :b.n].copy(), p=mu[0].copy(), **memory,
                      t0=ends[0] if timed else None, t1=ends[1] if timed else None,
                      **(dict(events=None, stops=None, relations=None) if on_orbit else self._by_marks(at_events)),
                      derivatives=b.way.with_ways("functional", F.ways))

    def _by_marks(self, gradient):
        """gradient with respect to all marks: of events, of the stops of the problem, of relations"""
        stops, marks, first = np.zeros(self.problem.stops.size), self._marks(), self._b.P.nevents
        for (t, number), value in zip(marks, gradient):
            if number < 0 and t in self.problem.stops:      # others are those of conditions in traced functions
                stops[np.searchsorted(self.problem.stops, t)] = value
        of = np.array([number for _, number in marks], dtype=int)
        return dict(events=gradient[(of >= 0) & (of < first)], stops=stops, relations=gradient[of >= first])

    @derived
    def hessp(self, functional, vy0=None, vp=None):
        """Result: y0, p: the gradient; Hy0, Hp: its derivative along vy0 and vp"""
        return second_order(self, functional, vy0, vp, lib.costate_hessian)

    @derived
    def gauss_newton(self, functional, vy0=None, vp=None):
        """J^T W J times (vy0, vp), where W is the curvature of the functional's own functions: Result with Hy0, Hp"""
        return second_order(self, functional, vy0, vp, lib.costate_gauss_newton)
