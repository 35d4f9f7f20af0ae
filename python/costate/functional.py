"""Functionals of runs, their gradients with estimated errors, and second order."""
import numpy as np

from costate._costate import ffi, lib
from costate._library import columns, pointer, taken
from costate.maps import guarded
from costate.result import Result


class Functional:
    """A number that a run gives: end(t1, y, p) of its end, and terms term(t, y) at given times, to be added.

    y is the state followed by the running costs.  Gradients: end_y (by y), end_p (by p, if it depends on p directly),
    term_y.  Those that are None are complex steps of the functions.  Hessian products take complex steps of them, or
    end_yy(t1, y, p) and term_yy(t, y), matrices."""

    def __init__(self, end=None, *, end_y=None, end_p=None, end_yy=None, times=None, term=None, term_y=None,
                 term_yy=None):
        if end is None and term is None:
            raise ValueError("a functional has a value at the end, or terms at times")
        if (times is None) != (term is None):
            raise ValueError("times and term belong together")
        self.end, self.end_y, self.end_p, self.end_yy = end, end_y, end_p, end_yy
        self.times = None if times is None else np.array(times, dtype=float, ndmin=1)
        self.term, self.term_y, self.term_yy = term, term_y, term_yy

    def gradient(self, f, given, at, part):
        """of f by argument `part` of at"""
        if given is not None:
            return np.asarray(given(*at), dtype=float).reshape(-1)
        out = np.zeros(len(at[part]))
        for i in range(len(out)):
            moved = list(at)
            moved[part] = at[part].astype(complex)
            moved[part][i] += 1e-100j
            value = np.asarray(f(*moved))
            if value.dtype.kind != "c" and i == 0 and part == 1 and given is None:
                raise TypeError("the functional does not compute with complex y: give its gradient")
            out[i] = value.imag / 1e-100
        return out

    def of_end(self, t1, y, p):
        """the gradients with respect to y and, directly, to p of what is at the end"""
        if self.end is None:
            return np.zeros(len(y)), np.zeros(len(p))
        by_y = self.gradient(self.end, self.end_y, (t1, y, p), 1)
        if self.end_p is None and self.end_y is not None:
            return by_y, np.zeros(len(p))
        return by_y, self.gradient(self.end, self.end_p, (t1, y, p), 2)

    def of_term(self, t, y):
        return self.gradient(self.term, self.term_y, (t, y), 1)

    def curvature(self, first, second, at, part, d):
        """the derivative of the gradient by argument `part` along d"""
        if second is not None:
            return np.asarray(second(*at), dtype=float) @ d
        if first is None:
            raise TypeError("Hessian products need the functional's gradient, end_y or term_y")
        moved = list(at)
        moved[part] = at[part] + 1e-100j * d
        return np.asarray(first(*moved)).imag / 1e-100



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
    onto(w2, np.stack([F.curvature(F.term_y, F.term_yy, at, 1, d) for d in along]))


@guarded
def seed2(owner, t1, y, p, m, V, Vp, lam, mu, lam2, mu2):
    F, b = owner.functional, owner.built
    if F.end is None:
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
        curved = F.curvature(F.end_y, F.end_yy, at, 1, along[j, :rows])
        if F.end_p is not None and lam:
            moved = (t1, at[1] + 0j, at[2] + 1e-100j * along_p[j])
            curved = curved + np.asarray(F.end_y(*moved)).imag / 1e-100
            both = (t1, at[1] + 1e-100j * along[j, :rows], at[2] + 1e-100j * along_p[j])
            if mu2:
                onto(mu2 + j * b.np, np.asarray(F.end_p(*both)).imag / 1e-100 + np.zeros(b.np))
        onto(lam2 + j * b.N, np.concatenate([curved, np.zeros(b.N - rows)]))


@guarded
def at_end(owner, t1, y, p, m, value, lam, mu, end):
    F, b = owner.functional, owner.built
    if F.end is None:
        return
    at = (t1, taken(y, b.n + b.nq), taken(p, b.np) if p else np.empty(0))
    value[0] += float(F.end(*at))
    by_y, by_p = F.of_end(*at)
    if lam:
        onto(lam, by_y)
    if mu and b.np:
        onto(mu, by_p)


@guarded
def at_time(owner, k, t, y, m, value, w):
    F, at = owner.functional, (t, taken(y, owner.n))
    value[0] += float(F.term(*at))
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


def asked(b, e, timed):
    """arrays for value and gradient of the run and their errors"""
    arrays = {}
    for kind in ("run", "error"):
        sizes = dict(value=1, y0=b.N, p=b.np, **(dict(t0=1, t1=1) if timed else {}))
        arrays[kind] = {name: np.zeros(count) for name, count in sizes.items()}
        for name, array in arrays[kind].items():
            setattr(getattr(e, kind), name, pointer(array) if array.size else ffi.NULL)
    for name in ("value_error", "y0_error", "p_error"):
        arrays[name] = np.zeros(1)
        setattr(e, name, pointer(arrays[name]) if name != "p_error" or b.np else ffi.NULL)
    return arrays


def estimated(problem, F, t_span, y0, p, tol):
    """Result: value, y0, p, t0, t1; error: estimates of (exact - computed) of each; with tol: also rtol and rounds"""
    b, y, p = problem.built(float(t_span[0]), y0, p)
    goal, J, timed = ffi.new("costate_goal *"), c_functional(b, F), b.has_slope()
    e = goal.estimate if tol is not None else ffi.new("costate_estimate *")
    arrays = asked(b, e, timed)
    more = {}
    if tol is not None:
        goal.tol = tol
        b.check(lib.costate_gradient_within(b.solver, *map(float, t_span), pointer(y), pointer(p) if b.np else ffi.NULL,
                                            J, goal, ffi.NULL))
        more = dict(rtol=goal.rtol, rounds=goal.rounds)
    else:
        run = problem.integrate(t_span, y, p)
        b.check(lib.costate_accuracy(b.solver, run._taped(), J, e))

    def values(kind):
        a = arrays[kind]
        return dict(value=a["value"][0], y0=a["y0"][:b.n], p=a["p"], t0=a["t0"][0] if timed else None,
                    t1=a["t1"][0] if timed else None)
    relative = Result(value=arrays["value_error"][0], y0=arrays["y0_error"][0], p=arrays["p_error"][0])
    return Result(**values("run"), error=Result(**values("error")), relative_error=relative, derivatives=b.way, **more)


# ---- second order ---------------------------------------------------------------------------------------------------

def second_order(run, F, vy0, vp, call):
    b = run._b
    parts = [None if d is None else columns(d, rows, name)
             for d, rows, name in ((vy0, b.n, "vy0"), (vp, b.np, "vp"))]
    m, one = max([(len(d[0]), d[1]) for d in parts if d is not None], default=(0, True))
    if m == 0:
        raise ValueError("vy0 and vp are None: there is no direction")
    V = np.zeros((m, b.N))
    if parts[0] is not None:
        V[:, :b.n] = parts[0][0]
    Vp = np.zeros((m, b.np)) if parts[1] is None else parts[1][0]
    lam, mu, lam2, mu2 = np.zeros((1, b.N)), np.zeros((1, b.np)), np.zeros((m, b.N)), np.zeros((m, b.np))
    s = ffi.new("costate_second *")
    s.m, s.V, s.Vp = m, pointer(V), pointer(Vp) if b.np else ffi.NULL
    s.seed, s.ctx = lib.costate_py_seed2, b.owner.handle
    b.owner.functional, b.owner.built, b.owner.times = F, b, F.times
    if F.times is not None:
        seen, keep = run._observing(F.times, m)
        seen.seed2 = lib.costate_py_observed2
        s.observations = seen
    setattr(s, "lambda", pointer(lam))
    s.lambda2, s.mu2 = pointer(lam2), pointer(mu2) if b.np else ffi.NULL
    s.mu = pointer(mu) if b.np else ffi.NULL
    b.check(call(b.solver, run._taped(), s))
    out = dict(value=run.value(F), y0=lam[0, :b.n], p=mu[0]) if call is lib.costate_hessian else {}
    Hy0, Hp = lam2[:, :b.n].T, mu2.T
    return Result(**out, Hy0=Hy0[:, 0].copy() if one else Hy0, Hp=Hp[:, 0].copy() if one else Hp,
                  derivatives=run.derivatives)
