"""Functionals of runs, their gradients with estimated errors, and second order."""
import warnings

import numpy as np

from costate._costate import ffi, lib
from costate._derivatives import COMPLEX_WARNING, STEP, Checked, Mistrusted, Scales, slope
from costate._library import CostateError, columns, pointer, taken
from costate._copies import OfFunctional
from costate._shown import of_functional
from costate._ways import WAYS
from costate.maps import OnCopies, guarded
from costate.result import Result
from costate.tracing.scalars import scalar
from costate.tracing.use import asked as asked_to_trace


class Functional(OfFunctional):
    """A number that a run gives: end(t1, y, p) of its end, and terms term(t, y) at given times, to be added.

    y is the state followed by the running costs.  Gradients: end_y (by y), end_p (by p, if it depends on p directly),
    end_t (by t1, if it depends on t1 directly), term_y.  Those that are None, and second derivatives, are exact where
    the functions can be traced; trace_message says why they cannot.  Else first derivatives are complex steps of the
    functions; that by t1 is a difference where end does not compute with complex t1.  Hessian products take complex
    steps of end_y, end_p and term_y where these are given, or end_yy(t1, y, p) and term_yy(t, y), matrices.

    trace       "auto"; False: functions are not traced"""

    def __init__(self, end=None, *, end_y=None, end_p=None, end_t=None, end_yy=None, times=None, term=None,
                 term_y=None, term_yy=None, trace="auto"):
        if end is None and term is None:
            raise ValueError("a functional has a value at the end, or terms at times")
        if (times is None) != (term is None):
            raise ValueError("times and term belong together")
        given = dict(end=end, end_y=end_y, end_p=end_p, end_t=end_t, end_yy=end_yy, term=term, term_y=term_y,
                     term_yy=term_yy)
        for name, f in given.items():
            setattr(self, name, f)
            setattr(self, "_" + name, OnCopies.of(f))               # what is called
        self.times = None if times is None else np.array(times, dtype=float, ndmin=1)
        self.checks, self.ways = {}, {}                 # ways: {"t", "y" or "p": how derivatives were formed}
        self.trace, self.trace_message = asked_to_trace(trace), ""

    __repr__ = of_functional

    def gradient(self, f, given, at, part):
        """of f with respect to argument `part` of at"""
        if given is not None:
            self.took("typ"[part], "given")
            return np.asarray(given(*at), dtype=float).reshape(-1)
        traced = self.traced(f, at)
        if traced is not None:
            self.took("typ"[part], "exact")
            return traced.gradient(at)[part]
        out, which = np.zeros(len(at[part])), "typ"[part]
        if not self.right(f, at, part):
            raise TypeError(f"the functional does not compute with complex {which}: give its gradient with respect to "
                            f"{which}")
        self.took(which, "complex step")
        for i in range(len(out)):
            moved = list(at)
            moved[part] = at[part].astype(complex)
            moved[part][i] += 1j * STEP
            out[i] = np.imag(complex_value(f, moved, which)).item() / STEP
        return out

    def took(self, which, way):
        """notes how a derivative was formed; the least exact way remains"""
        rank = ("given", *WAYS).index
        self.ways[which] = max(self.ways.get(which, way), way, key=rank)

    def traced(self, f, at):
        """the Scalar of f at this point, or None"""
        if self.trace is False:
            return None
        found, why = scalar(f.__wrapped__, tuple(np.asarray(a, dtype=float) if k else a for k, a in enumerate(at)))
        self.trace_message = why
        return found

    def right(self, f, at, part, scales=None):
        """Are complex steps of f with respect to this argument right, as far as is known?  They are checked at the
        first points and then now and then."""
        checked = self.checks.setdefault(id(f), Checked(f))
        number = checked.due(part)
        return not number or checked.right(part, at, scales or Scales(), number)

    def of_t1(self, t1, y, p, scales):
        """the gradient with respect to t1, directly, of what is at the end"""
        at = (t1, y, p)
        if self._end is None:
            return 0.0
        if self._end_t is not None:
            return float(self._end_t(*at))
        traced = self.traced(self._end, at)
        if traced is not None:
            return float(traced.gradient(at)[0][0])
        if not scales.high > scales.low:
            scales = Scales()
        if self.checks.setdefault(id(self._end), Checked(self._end)).right(0, at, scales, 1):
            return np.imag(complex_value(self._end, (complex(t1, STEP), y, p), "t1")).item() / STEP
        found = float(slope(self._end, at, scales)[0])
        if found:
            self.took("t", "differences")
        return found

    def of_end(self, t1, y, p):
        """the gradients with respect to y and, directly, to p of what is at the end"""
        if self._end is None:
            return np.zeros(len(y)), np.zeros(len(p))
        at = (t1, y, p)
        return self.gradient(self._end, self._end_y, at, 1), self.gradient(self._end, self._end_p, at, 2)

    def of_term(self, t, y):
        return self.gradient(self._term, self._term_y, (t, y), 1)

    def curvature_of_term(self, t, y, d):
        """the derivative of term_y along d"""
        traced = self.traced(self._term, (t, y)) if self._term_y is None and self._term_yy is None else None
        if traced is not None:
            return traced.curvature((t, y), (d,))[1]
        return curvature(self, self._term_y, self._term_yy, (t, y), (d,))

    def curvature_of_end(self, at, dy, dp):
        """the derivatives of end_y and end_p along (dy, dp)"""
        traced = self.traced(self._end, at) if self._end_p is None else None
        second = None if traced is None else traced.curvature(at, (dy, dp))
        if second is not None and self._end_y is None and self._end_yy is None:
            return tuple(second[1:])
        by_y = curvature(self, self._end_y, self._end_yy, at, (dy, dp))
        if self._end_p is not None:
            return by_y, curvature(self, self._end_p, None, at, (dy, dp))
        if second is not None:
            return by_y, second[2]
        if np.any(self.gradient(self._end, None, at, 2)):
            raise TypeError("Hessian products of a functional that depends on p directly need end_p")
        return by_y, np.zeros(len(dp))


def complex_value(f, at, which):
    """f at a complex step; a function that loses the imaginary part is refused"""
    with warnings.catch_warnings():
        warnings.simplefilter("error", COMPLEX_WARNING)
        try:
            return np.asarray(f(*at))
        except (COMPLEX_WARNING, TypeError) as error:
            raise TypeError(f"the functional does not compute with complex {which}: give its gradient with respect to "
                            f"{which} ({error})") from error


def curvature(F, first, second, at, along):
    """The derivative of the gradient `first` along directions of y and, if there is one, of p.  second: the matrix of
    second derivatives with respect to y, or None."""
    if first is None and second is None:
        raise TypeError("Hessian products need the functional's gradient, end_y or term_y")
    total, along = 0.0, list(along)
    if second is not None:
        total, along[0] = np.asarray(second(*at), dtype=float) @ along[0], 0 * along[0]
    if first is None or not any(np.any(d) for d in along):
        return total if np.ndim(total) else np.zeros(np.size(first(*at)))
    for part, d in enumerate(along, 1):
        if np.any(d) and not F.right(first, at, part):
            raise TypeError(f"the gradient of the functional does not compute with complex {'typ'[part]}: give end_yy "
                            "or term_yy")
    moved = [at[0], *(a + 1j * STEP * d if np.any(d) else a for a, d in zip(at[1:], along))]
    return total + np.asarray(first(*moved)).imag / STEP


# ---- callbacks ------------------------------------------------------------------------------------------------------

def onto(pointer_, values):
    """adds to an array of the library's"""
    array = np.frombuffer(ffi.buffer(pointer_, 8 * values.size))
    array += values.reshape(-1)


@guarded
def observed(owner, k, t, y, m, V):
    owner.found[k] = taken(V, m * owner.n).reshape(m, owner.n)


@guarded
def observed_seed(owner, k, t, y, m, w):
    onto(w, owner.seeds[k])


@guarded
def observed2(owner, k, t, y, m, V, w, w2):
    F, n = owner.functional, owner.n
    at, along = (t, taken(y, n)), taken(V, m * n).reshape(m, n)
    if w:
        onto(w, F.of_term(*at))
    onto(w2, np.stack([F.curvature_of_term(*at, d) for d in along]))


@guarded
def seed2(owner, t1, y, p, m, V, Vp, lam, mu, lam2, mu2):
    F, b = owner.functional, owner.built
    if F._end is None:
        return
    rows = b.n + b.nq
    at = (t1, taken(y, rows), taken(p, b.np) if p else np.empty(0))
    along = taken(V, m * b.N).reshape(m, b.N)
    along_p = taken(Vp, m * b.np).reshape(m, b.np) if Vp else np.zeros((m, b.np))
    if lam:
        by_y, by_p = F.of_end(*at)
        onto(lam, np.concatenate([by_y, np.zeros(b.N - rows)]))
        if mu:
            onto(mu, by_p)
    for j in range(m):
        dp = along_p[j] if lam else np.zeros(b.np)          # Gauss-Newton products take the curvature in y alone
        curved, curved_p = F.curvature_of_end(at, along[j, :rows], dp)
        onto(lam2 + j * b.N, np.concatenate([curved, np.zeros(b.N - rows)]))
        if mu2 and lam:
            onto(mu2 + j * b.np, curved_p)


@guarded
def at_end(owner, t1, y, p, m, value, lam, mu, end):
    F, b, owner.ended = owner.functional, owner.built, t1
    if F._end is None:
        return
    at = (t1, taken(y, b.n + b.nq), taken(p, b.np) if p else np.empty(0))
    value[0] += float(F._end(*at))
    by_y, by_p = F.of_end(*at)
    if lam:
        onto(lam, by_y)
    if mu and b.np:
        onto(mu, by_p)
    if end:
        onto(end, np.array([F.of_t1(*at, b.scales)]))


@guarded
def at_time(owner, k, t, y, m, value, w):
    F, at = owner.functional, (t, taken(y, owner.n))
    value[0] += float(F._term(*at))
    if w:
        onto(w, F.of_term(*at))


# ---- gradients with estimated errors --------------------------------------------------------------------------------

def c_functional(b, F):
    b.owner.functional, b.owner.built, b.owner.n = F, b, b.n
    J = ffi.new("costate_functional *")
    J.m, J.at_end, J.ctx = 1, lib.costate_py_at_end, b.owner.handle
    if F.times is not None:
        J.count, J.t, J.at_time = len(F.times), pointer(F.times), lib.costate_py_at_time
    return J


def asked(b, e, timed, second):
    """arrays for value, gradient and, where there is a Second, Hessian products of the run, and their errors"""
    arrays = {}
    for kind in ("run", "error"):
        sizes = dict(value=1, y0=b.N, p=b.np, **(dict(t0=1, t1=1) if timed else {}))
        arrays[kind] = {name: np.zeros(count) for name, count in sizes.items()}
        for name, array in arrays[kind].items():
            setattr(getattr(e, kind), name, pointer(array) if array.size else ffi.NULL)
        if second is not None:
            Hy0, Hp = arrays[kind]["Hy0"], arrays[kind]["Hp"] = np.zeros((second.m, b.N)), np.zeros((second.m, b.np))
            products = getattr(e.products, kind)
            products.y0, products.p = pointer(Hy0), pointer(Hp) if b.np else ffi.NULL
    for name, of in dict(Hy0_error="y0_error", Hp_error="p_error").items() if second is not None else ():
        arrays[name] = np.zeros(second.m)
        setattr(e.products, of, pointer(arrays[name]) if of != "p_error" or b.np else ffi.NULL)
    for name in ("value_error", "y0_error", "p_error"):
        arrays[name] = np.zeros(1)
        setattr(e, name, pointer(arrays[name]) if name != "p_error" or b.np else ffi.NULL)
    return arrays


def estimated(problem, F, t_span, y0, p, tol, factor, along=None, product_atol=0.0):
    """Result: value, y0, p, t0, t1, and along the directions along = (vy0, vp) Hy0, Hp; error: estimates of
    (exact - computed) of each; with tol: also rtol, factor and rounds"""
    while True:
        try:
            return estimated_once(problem, F, t_span, y0, p, tol, factor, along, product_atol)
        except Mistrusted:                      # again, with differences
            problem.rebuild()
        except CostateError as error:
            raise explained(error, problem.model) if along is not None else error from None


def estimated_once(problem, F, t_span, y0, p, tol, factor, along, product_atol):
    b, y, values_p = problem.built(float(t_span[0]), y0, p)
    b.scales.between(*map(float, t_span))
    goal, J, start = ffi.new("costate_goal *"), c_functional(b, F), problem.start(y0, b)
    timed = b.has_slope() and not (start and start.is_periodic)
    e = goal.estimate if tol is not None else ffi.new("costate_estimate *")
    second = None if along is None else Second(b, start, float(t_span[0]), values_p, F, *along)
    J.second = ffi.NULL if second is None else second.struct
    arrays, more = asked(b, e, timed, second), {}
    if tol is not None:
        goal.tol, goal.factor, goal.product_atol = tol, factor, product_atol
        problem.rebuild()                       # the solver of this call keeps the tolerances of its last round
        b.check(lib.costate_gradient_within(b.solver, *map(float, t_span), pointer(y),
                                            pointer(values_p) if b.np else ffi.NULL, J, goal, ffi.NULL))
        more = dict(rtol=goal.rtol, factor=goal.factor, rounds=goal.rounds)
    else:
        run = problem.integrate(t_span, b.given(y), values_p)
        if run._b is not b:
            raise Mistrusted("complex steps of the run were wrong")
        run._look_over()
        with b.lock:
            b.check(lib.costate_accuracy(b.solver, run._taped(), J, e))
    if second is not None:
        ended = b.owner.ended if tol is not None else run.t
        refuse_moving_end(b, F, ended != float(t_span[1]), ended, y if tol is not None else run._end, values_p)
    for kind in (arrays["run"], arrays["error"]) if start else ():
        if second is not None:
            second.through_start(kind["y0"], kind["Hy0"], kind["Hp"])
        start.through(float(t_span[0]), values_p, kind["y0"][None], kind["p"][None], kind["t0"] if timed else None)

    def values(kind):
        a = arrays[kind]
        products = {} if second is None else second.products(a["Hy0"], a["Hp"])
        return dict(value=a["value"][0], y0=a["y0"][:b.n], p=a["p"], t0=a["t0"][0] if timed else None,
                    t1=a["t1"][0] if timed else None, **products)
    of_products = {} if second is None else {name: arrays[name + "_error"][0 if second.one else slice(None)]
                                             for name in ("Hy0", "Hp")}
    relative = Result(value=arrays["value_error"][0], y0=arrays["y0_error"][0], p=arrays["p_error"][0], **of_products)
    return Result(**values("run"), error=Result(**values("error")), relative_error=relative,
                  derivatives=b.way.with_ways("functional", F.ways), **more)


class Start:
    """Initial values that a Model gives, which depend on p and t0: all of them, or where y0 is given without memory
    variables those from `first` on."""

    def __init__(self, model, first):
        self.model, self.first, self.is_periodic = model, first, getattr(model, "is_periodic", False)

    def jvp(self, t0, p, dp, dt=0.0):
        out = self.model.start_jvp(t0, p, dp, dt)
        out[:self.first] = 0
        return out

    def weights(self, w):
        w = w.copy()
        w[:self.first] = 0
        return w

    def through(self, t0, p, by_y0, by_p, by_t0=None):
        """adds to gradients, a row for each functional, what the initial values contribute"""
        for k, w in enumerate(by_y0):
            of_p, of_t = self.model.start_vjp(t0, p, self.weights(w))
            by_p[k] += of_p
            if by_t0 is not None:
                by_t0[k] += of_t

    def through_each(self, t0, p, by_y0, by_p):
        """the same of one functional for each row of p"""
        if not hasattr(self.model, "start_vjps"):
            for k, row in enumerate(p):
                self.through(t0, row, by_y0[k:k + 1], by_p[k:k + 1])
            return
        w = by_y0.copy()
        w[:, :self.first] = 0
        by_p += self.model.start_vjps(t0, p, w)

    def hvp(self, t0, p, w, dp):
        return self.model.start_hvp(t0, p, self.weights(w), dp)


# ---- second order ---------------------------------------------------------------------------------------------------

class Second:
    """A costate_second for directions vy0 and vp, and its arrays.  start: Start, or None"""

    def __init__(self, b, start, t0, p, F, vy0, vp):
        self.b, self.start, self.t0, self.p = b, start, t0, p
        parts = [None if d is None else columns(d, rows, name)
                 for d, rows, name in ((vy0, b.n, "vy0"), (vp, b.np, "vp"))]
        sizes = {len(d[0]) for d in parts if d is not None}
        if len(sizes) != 1:
            raise ValueError("vy0 and vp are None: there is no direction" if not sizes else
                             f"vy0 and vp have different numbers of columns: {sorted(sizes)}")
        m = self.m = sizes.pop()
        self.one = next(d[1] for d in parts if d is not None)
        self.V, self.Vp = np.zeros((m, b.N)), np.zeros((m, b.np)) if parts[1] is None else parts[1][0]
        if parts[0] is not None:
            self.V[:, :b.n] = parts[0][0]
        for k in range(m if start is not None else 0):
            self.V[k] += start.jvp(t0, p, self.Vp[k])
        self.lam, self.mu = np.zeros(b.N), np.zeros(b.np)
        self.lam2, self.mu2 = np.zeros((m, b.N)), np.zeros((m, b.np))
        self.struct = self.filled(F, m)

    def filled(self, F, m):
        b, s = self.b, ffi.new("costate_second *")
        s.m, s.V, s.seed, s.ctx = m, pointer(self.V), lib.costate_py_seed2, b.owner.handle
        b.owner.functional, b.owner.built = F, b
        if F.times is not None:
            seen, b.owner.n = ffi.new("costate_observations *"), b.n
            seen.count, seen.t, seen.ctx = len(F.times), pointer(F.times), b.owner.handle
            seen.seed2 = lib.costate_py_observed2
            s.observations = self.seen = seen
        setattr(s, "lambda", pointer(self.lam))
        s.lambda2 = pointer(self.lam2)
        if b.np:
            s.Vp, s.mu, s.mu2 = pointer(self.Vp), pointer(self.mu), pointer(self.mu2)
        return s

    def through_start(self, lam, lam2, mu2):
        """adds what initial values of a Model contribute to products; lam None: without their second derivatives"""
        self.start.through(self.t0, self.p, lam2, mu2)
        for k in range(0 if lam is None else self.m):
            mu2[k] += self.start.hvp(self.t0, self.p, lam, self.Vp[k])[0]

    def products(self, lam2, mu2):
        """without running costs; vectors where the directions are vectors"""
        Hy0, Hp = lam2[:, :self.b.n].T, mu2.T
        return dict(Hy0=Hy0[:, 0].copy() if self.one else Hy0, Hp=Hp[:, 0].copy() if self.one else Hp)


def refuse_moving_end(b, F, moving, t1, end, p):
    """moving: an event ended the run"""
    if moving and F.of_t1(t1, end[:b.n + b.nq], p, b.scales) != 0:
        raise TypeError("second derivatives of a functional that depends on t1 directly are not available where an "
                        "event ended the run: make the time a state, with the derivative 1")


def explained(error, model):
    if error.status != "COSTATE_MISSING" or getattr(model, "lacking", ()):
        return error
    return CostateError(error.status, "Second derivatives of the problem's functions are missing: give jac, jac_p and, "
                        "where t matters, jac_t that compute with complex y, or hvp; or Problem(..., differences=1), "
                        "which is not exact.  The library says: " + error.message)


def second_order(run, F, vy0, vp, call):
    b, x = run._b, Second(run._b, run._start, run.t0, run._p, F, vy0, vp)
    refuse_moving_end(b, F, run.t != run._t1 and not run.stopped, run.t, run._end, run._p)
    hessian = call is lib.costate_hessian
    try:
        b.check(call(b.solver, run._taped(), x.struct))
    except CostateError as error:
        raise explained(error, b.problem.model) from None
    if run._start is not None:
        x.through_start(x.lam if hessian else None, x.lam2, x.mu2)
        run._start.through(run.t0, run._p, x.lam[None], x.mu[None])
    out = dict(value=run.value(F), y0=x.lam[:b.n], p=x.mu) if hessian else {}
    return Result(**out, **x.products(x.lam2, x.mu2), derivatives=run.derivatives.with_ways("functional", F.ways))
