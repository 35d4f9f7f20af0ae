"""solve_ivp: scipy.integrate.solve_ivp with the library's methods; SciPy itself is not needed."""
from warnings import warn

import numpy as np

from costate import _library as library
from costate._costate import ffi, lib
from costate._crossings import EPS, Events
from costate._derivatives import Trust
from costate._dense import OdeResult, Steps, constant_solution, degree_of
from costate._intermediate import Watcher
from costate._jacobians import Jacobian
from costate._library import pointer, taken
from costate._pattern import Outgrown
from costate.maps import Bound
from costate.problem import Built, Problem

MESSAGES = {0: "The solver successfully reached the end of the integration interval.",
            1: "A termination event occurred.", 2: "Solver stopped via callback."}
ENDLESS = 1e300         # stands for an infinite end of t_span
LONG = 1e10             # spans above this do not bound the step size from below (the library's eps^(3/2) |t1 - t0|)
LEAST = 1e-20           # its bound then
MOST_STEPS = 2**31 - 1  # SciPy has no limit

# Statuses that are errors of the caller or of the installation; all others are failures of the run.
ERRORS = [lib.COSTATE_BAD_ARGUMENT, lib.COSTATE_MISSING, lib.COSTATE_NO_MEMORY, lib.COSTATE_BACKEND,
          lib.COSTATE_CALLBACK, lib.COSTATE_VERSION_MISMATCH, lib.COSTATE_STOPPED]


# ---- arguments ------------------------------------------------------------------------------------------------------

def chosen(method):
    """the name of a method; SciPy's classes stand for their names"""
    name = method.__name__ if isinstance(method, type) else method
    if not isinstance(name, str) or (isinstance(method, type) and name not in library.LIKE_SCIPY):
        raise ValueError(f"`method` is {method!r}; expected a name, as \"auto\" or \"RK45\"")
    return library.LIKE_SCIPY.get(name, name), library.method(name)


def unpacked(args):
    try:
        return tuple(args) if args is not None else ()
    except TypeError as error:
        raise TypeError("Supplied 'args' cannot be unpacked. Please supply `args` as a tuple (e.g. "
                        f"`args=({args},)`)") from error


def checked_times(t_eval, t0, t1):
    if t_eval is None:
        return None
    t_eval = np.asarray(t_eval)
    if t_eval.ndim != 1:
        raise ValueError("`t_eval` must be 1-dimensional.")
    if np.any(t_eval < min(t0, t1)) or np.any(t_eval > max(t0, t1)):
        raise ValueError("Values in `t_eval` are not within `t_span`.")
    d = np.diff(t_eval)
    if (t1 > t0 and np.any(d <= 0)) or (t1 < t0 and np.any(d >= 0)):
        raise ValueError("Values in `t_eval` are not properly sorted.")
    return t_eval


def checked_tolerances(rtol, atol, n, per):
    """for the library; per: real numbers for each of the n components"""
    if np.any(np.less(rtol, 100 * EPS)):
        warn(f"At least one element of `rtol` is too small. Setting `rtol = np.maximum(rtol, {100 * EPS})`.",
             stacklevel=3)
    rtol, atol = np.maximum(rtol, 100 * EPS), np.asarray(atol, dtype=float)
    if atol.ndim > 0 and atol.shape != (n,):
        raise ValueError("`atol` has wrong shape.")
    if np.any(atol < 0):
        raise ValueError("`atol` must be positive.")
    if atol.ndim == 0 and atol == 0:            # 0 is the library's default
        atol = np.zeros(n)
    if rtol.ndim > 0:
        if rtol.shape not in ((1,), (n,)):
            raise ValueError("`rtol` has wrong shape.")
        rtol = np.repeat(np.broadcast_to(rtol, (n,)), per)
    return min(float(rtol), 1.0) if rtol.ndim == 0 else rtol, np.repeat(atol, per) if atol.ndim else float(atol)


def step_options(first_step, max_step, min_step, t0, t1):
    """the bounds of step sizes as options of the library"""
    span = abs(t1 - t0)
    if max_step <= 0:
        raise ValueError("`max_step` must be positive.")
    if first_step is not None and first_step <= 0:
        raise ValueError("`first_step` must be positive.")
    if first_step is not None and first_step > span:
        raise ValueError("`first_step` exceeds bounds.")
    out = dict(h0=first_step or 0, hmin=min_step or 0, hmax=0 if max_step >= span else max_step)
    if span > LONG and not min_step:
        out["hmin"] = min(x for x in (LEAST, first_step, max_step) if x)
    return {name: float(value) for name, value in out.items() if value}


def no_effect(names):
    if names:
        warn("The following arguments have no effect for a chosen solver: "
             f"{', '.join(f'`{name}`' for name in names)}.", stacklevel=3)


# ---- equations ------------------------------------------------------------------------------------------------------

class System:
    """Equations that a function gives.

    size                number of equations of the user; n: of the library"""

    paired, per, dtype = False, 1, float

    def __init__(self, fun, t0, y0, args):
        self.t0, self.y0 = t0, np.array(y0, dtype=self.dtype)
        if self.y0.ndim != 1:
            raise ValueError("`y0` must be 1-dimensional.")
        self.fun, self.args, self.size, self.shape = fun, args, self.y0.size, self.y0.shape
        self.n = self.per * self.size

    def states(self, values):
        """as the user knows them"""
        return values

    def value(self, t, y):
        f = np.asarray(self.fun(t, y, *self.args), dtype=float)
        return f if f.shape == self.shape else self.spread(f)

    def spread(self, f):
        """NumPy's rules of assignment apply, so that a number stands for n of them"""
        out = np.empty(self.shape, dtype=self.dtype)
        try:
            out[:] = f
        except ValueError:
            raise ValueError(f"`fun` returned an array of shape {f.shape}; expected {self.shape}") from None
        return out

    def build(self, method, jacobian, options):
        problem = Problem(self.value, method=method, derivatives="differences", trace=False, **options)
        return Plain(problem, self, jacobian), self.y0.view(float).copy(), None


class Pairs(System):
    """The same with complex y, as pairs of real and imaginary parts."""

    paired, per, dtype = True, 2, complex

    def states(self, values):
        return values.view(complex)

    def value(self, t, y):
        f = np.asarray(self.fun(t, y.view(complex), *self.args), dtype=complex)
        return np.ascontiguousarray(f if f.shape == self.shape else self.spread(f)).view(float)


def of_columns(fun):
    """a vectorized function, for one column"""
    return lambda t, y, *args: np.asarray(fun(t, y[:, None], *args)).ravel()


def system_of(fun, t0, y0, vectorized, args):
    if hasattr(fun, "problem"):
        return Compiled(fun, t0, y0, args)
    kind = Pairs if np.iscomplexobj(y0) else System
    return kind(of_columns(fun) if vectorized else fun, t0, y0, args)


class Plain(Built):
    """A solver for a System: fun and its Jacobian, no parameters."""

    def __init__(self, problem, system, jacobian):
        self.system, self.jacobian = system, jacobian
        super().__init__(problem, system.n, 0, None)

    def fill(self, at):
        P, jacobian = self.P, self.jacobian
        P.n, P.ctx, self.nq, self.of_compiled = self.n, self.owner.handle, 0, "differences"
        P.rhs.value = lib.costate_py_rhs_value
        self.owner.slots["rhs"] = Function(self.system, jacobian, self.scales)
        if jacobian is None:
            return
        if jacobian.given:
            P.jac = lib.costate_py_jac
        if jacobian.pattern is not None:
            pattern = jacobian.pattern.in_pairs() if self.system.paired else jacobian.pattern
            P.pattern = pattern.struct(self.keep)


class Function(Bound):
    """what the library calls of a System"""

    def __init__(self, system, jacobian, scales):
        super().__init__(system, "fun", system.n, 0, 0, system.n, Trust("differences"), scales)
        self.jacobian = jacobian

    def at(self, x):
        return self.scales.inside(x.t), taken(x.y, self.n)

    def jac(self, x, J):
        t, y = self.at(x)
        values = self.jacobian.values(t, self.of.states(y))
        ffi.memmove(J, values, values.nbytes)


class Compiled:
    """The equations of a Model.  args are its parameters, as numbers or one array; none: the model's own."""

    paired, per, value = False, 1, None

    def __init__(self, model, t0, y0, args):
        self.p = np.concatenate([np.ravel(a) for a in args]).astype(float) if args else None
        self.model, self.args = model, args
        if hasattr(model, "check_values"):
            model.check_values(model.defaults if self.p is None else self.p)
        given = Problem(model).initial(t0, self.p) if y0 is None else y0
        self.t0, self.y0 = t0, np.array(given, dtype=float)
        if self.y0.ndim != 1:
            raise ValueError("`y0` must be 1-dimensional.")
        self.size = self.n = model.n

    def states(self, values):
        return values

    def build(self, method, jacobian, options):
        return Problem(self.model, method=method, **options).built(self.t0, self.y0, self.p)


# ---- runs -----------------------------------------------------------------------------------------------------------

class Follower:
    """What Python does after each step: polynomials for dense output, and events."""

    def __init__(self, built, system, events, steps, callback=None):
        self.system, self.events, self.steps = system, events, steps
        self.watcher = None if callback is None else Watcher(callback, built, system)
        self.N, self.n = built.N, built.n

    def __call__(self, step):
        s, a, b = step._s, step.start, step.end
        if self.steps is not None:
            self.steps.add(s, a, b)
        if self.events is None and self.watcher is None:
            return False

        def inside(t):
            return self.system.states(step(t, self.n))
        y = self.system.states(step.state(self.N)[:self.n])
        ended = self.events is not None and self.events.step(a, b, y, inside)
        if self.watcher is not None:
            ended |= self.watcher.step(b, y, None if self.steps is None else inside, self.events)
        return ended

    def stopped(self):
        """by a callback"""
        return self.watcher is not None and self.watcher.stopped


class Outcome:
    """A run: its status, the states at the ends of steps or at given times, counts.

    early               an event of the equations of a Model ended it"""

    def __init__(self, built, system, t1, y, p, t_eval, follower):
        b, w = built, built.watch
        at = np.empty(0) if t_eval is None else np.array(t_eval, dtype=float)
        found = np.empty((len(at), b.n))
        lib.costate_watch_clear(w)
        w.at, w.count, w.found, w.keeps = pointer(at), len(at), pointer(found), t_eval is None
        w.python, b.owner.on_step = follower is not None, follower
        try:
            self.status = lib.costate_integrate(b.solver, system.t0, t1, pointer(y), pointer(p) if b.np else ffi.NULL,
                                                ffi.NULL)
            self.t, self.y = self.kept(b, system) if t_eval is None else (t_eval[:w.next], found[:w.next])
        finally:
            b.owner.on_step, w.count, w.keeps, w.python = None, 0, 0, 0
            lib.costate_watch_clear(w)
        self.stats, self.way = library.statistics(lib.costate_get_stats(b.solver)), b.way
        self.message = library.said(lib.costate_message(b.solver))
        self.early = self.status == lib.COSTATE_OK and lib.costate_time(b.solver) != t1
        b.check(lib.COSTATE_OK)
        self.y = system.states(self.y)

    @staticmethod
    def kept(b, system):
        w = b.watch
        states = taken(w.y, w.steps * b.N).reshape(-1, b.N)[:, :b.n]
        start = system.y0[:system.size].view(float)
        return np.append(system.t0, taken(w.t, w.steps)), np.vstack([start, states])


class Still:
    """The run of an interval of length 0, or of no equations."""

    status, message, early, stopped = lib.COSTATE_OK, "", False, False

    def __init__(self, system, t1, t_eval, events):
        self.t = np.array([system.t0, t1]) if t_eval is None else t_eval
        self.start = system.y0[:system.size]
        self.y = np.tile(self.start, (len(self.t), 1))
        self.stats, self.way = dict(f=0, jac=0, decompositions=0, complex_decompositions=0), "differences"
        if system.value is not None:
            system.value(system.t0, system.y0.view(float).copy())
            self.stats["f"] = 1
        if events is not None:
            events.step(system.t0, t1, self.start.copy(), lambda t: self.start.copy())


def finite(t):
    return float(np.clip(t, -ENDLESS, ENDLESS))


def refuse(built, outcome, jacobian):
    if outcome.status == lib.COSTATE_BAD_ARGUMENT and jacobian is not None and jacobian.pattern is not None:
        raise ValueError(f"`jac_sparsity`, `lband` or `uband` is wrong: {outcome.message}")
    built.check(outcome.status)


def run(system, method, found, t1, t_eval, dense_output, events, jacobian, options, callback):
    """(a run, its Events or None, its OdeSolution or None)"""
    seen = Events(events, system) if events is not None else None
    if system.size == 0 or system.t0 == t1:
        outcome = Still(system, t1, t_eval, seen)
        return outcome, seen, constant_solution(system.t0, t1, outcome.start) if dense_output else None
    built, y, p = system.build(method, jacobian, options)
    built.scales.between(system.t0, finite(t1))
    steps = Steps(built.n, degree_of(found)) if dense_output else None
    follower = Follower(built, system, seen, steps, callback) if seen or steps or callback else None
    try:
        outcome = Outcome(built, system, finite(t1), y, p, t_eval, follower)
        outcome.stopped = follower is not None and follower.stopped()
        if outcome.status in ERRORS and not (seen and seen.ended) and not outcome.stopped:
            refuse(built, outcome, jacobian)
    finally:
        built.owner.handle = None               # the owner and its handle refer to each other
    if not dense_output:
        return outcome, seen, None
    if not steps.starts:
        return outcome, seen, constant_solution(system.t0, system.t0, system.y0[:system.size])
    return outcome, seen, steps.solution(seen.ended[0] if seen and seen.ended else None, system)


def cut(outcome, ended, t_eval, forward):
    """(t, y) up to a terminal event, which may be None"""
    t, y = outcome.t, outcome.y
    if ended is not None and t_eval is None:
        t[-1], y[-1] = ended
    elif ended is not None:
        count = np.count_nonzero(t <= ended[0] if forward else t >= ended[0])
        t, y = t[:count], y[:count]
    if len(t) == 0:                             # as SciPy has it
        return [], []
    return np.array(t), np.ascontiguousarray(y.T)


def result(outcome, seen, sol, jacobian, t_eval, forward):
    ended = seen.ended if seen else None
    status = 1 if ended or outcome.early else 2 if outcome.stopped else 0 if outcome.status == lib.COSTATE_OK else -1
    t, y = cut(outcome, ended, t_eval, forward)
    stats, given = outcome.stats, jacobian is not None and jacobian.given
    njev = stats["jac"] if not given else 0 if jacobian.constant else jacobian.calls
    return OdeResult(message=MESSAGES.get(status, outcome.message), success=status >= 0, status=status, t=t, y=y,
                     sol=sol, t_events=[np.asarray(t) for t in seen.t] if seen else None,
                     y_events=[np.asarray(y) for y in seen.y] if seen else None, nfev=stats["f"], njev=njev,
                     nlu=stats["decompositions"] + stats["complex_decompositions"],
                     derivatives="exact" if given else outcome.way)


def solve_ivp(fun, t_span, y0, method="auto", t_eval=None, dense_output=False, events=None, vectorized=False,
              args=None, *, first_step=None, max_step=np.inf, min_step=0, rtol=1e-3, atol=1e-6, jac=None,
              jac_sparsity=None, lband=None, uband=None, stops=None, callback=None, **options):
    """Solves y' = fun(t, y), y(t0) = y0 from t0 to t1.  Arguments and result are those of scipy.integrate.solve_ivp.

    fun                 a function fun(t, y, *args) that returns n values; y may be complex.  Or a Model: args are then
                        its parameters, and y0 = None its own initial values
    t_span              (t0, t1); t1 < t0 is allowed, and so is an infinite t1 where an event ends the run
    method              "auto", which chooses the method of each step, or another name (costate.methods()).  SciPy's
                        names stand for methods of their kind and order: RK45 for dopri5, RK23 for bs32, DOP853 for
                        dopri853, Radau for radau2a, BDF and LSODA for auto
    t_eval              times at which the solution is wanted, in the order of the run; None: at the ends of steps
    dense_output        True: the result has sol, a function of t
    events              a function event(t, y, *args), or a list of them, whose zeros are found.  Attributes of such a
                        function: terminal (True: the run ends there; a number: at so many occurrences), direction
                        (> 0: from negative to positive, < 0: from positive to negative)
    vectorized          True: fun receives y as n by 1, and returns the same
    first_step, max_step, min_step, rtol, atol
    jac                 of implicit methods: a function jac(t, y, *args), or a constant matrix; it may be sparse.  None:
                        differences
    jac_sparsity        where df/dy may be nonzero, an array or sparse matrix, for differences
    lband, uband        of a banded df/dy.  jac then returns its diagonals: element [uband + i - j, j] is df_i/dy_j
    stops               known times at which fun jumps in t, in any order: a step ends at each, and fun is called with t
                        slightly before it in this step, slightly behind it in the next one.  Not in SciPy
    callback            callback(r), called after each step; it may raise StopIteration to end the run with status 2.
                        r has current_t, current_y, t, y, and the other members of SciPy's intermediate results
    options             any option of the library (costate.option_names()), as max_steps=1000

    With dense_output, events or t_eval, "auto" and "radau" take steps that are as accurate inside as at their ends
    (the option `accurate_inside`), unless the option `members` is given.  Other methods are taken as they are: the
    order of their dense output is in costate.methods().

    Returns an OdeResult.  Exceptions of fun and of events are passed on; a run that fails does not raise, but has
    status -1 and a message, with the states that were reached."""
    name, found = chosen(method)
    t0, t1 = map(float, t_span)
    args = unpacked(args)
    t_eval = checked_times(t_eval, t0, t1)
    system = system_of(fun, t0, y0, vectorized, args)
    of_jac = dict(jac=jac, jac_sparsity=jac_sparsity, lband=lband, uband=uband)
    of_jac = {key: value for key, value in of_jac.items() if value is not None}
    useless = system.value is None or library.describe(found)["family"] == "erk"
    unknown = [key for key in options if key not in library.option_names()]
    no_effect(unknown + (list(of_jac) if useless else []))
    rtol, atol = checked_tolerances(rtol, atol, system.size, system.per)
    inside = dense_output or events is not None or t_eval is not None
    options = {"stops": stops, "max_steps": MOST_STEPS, "stability": "off", "rtol": rtol, "atol": atol,
               **step_options(first_step, max_step, min_step, t0, t1),
               "accurate_inside": inside and "members" not in options,
               **{key: value for key, value in options.items() if key not in unknown}}
    jacobian = Jacobian(system, jac, jac_sparsity, lband, uband) if of_jac and not useless and system.size else None
    while True:
        try:
            outcome = run(system, name, found, t1, t_eval, dense_output, events, jacobian, options,
                          callback)
            return result(*outcome, jacobian, t_eval, t1 >= t0)
        except Outgrown as error:
            jacobian.pattern = error.wanted
