"""Problems whose y0 or p is not a vector: the same problem for vectors, and its runs in the forms of y0 and p."""
import inspect
import threading

import numpy as np

from costate._formed_limit import FormedPeriodicOrbit, FormedSteadyState, OfForm
from costate._forms import Named, Vector, form, is_vector
from costate.after_step import Bounds, with_maps
from costate.functional import Functional
from costate.maps import Map
from costate.residual import Residual, Transition
from costate.result import Result

LOCK = threading.Lock()
BY_Y, BY_P = ("y0", "Hy0"), ("p", "Hp")         # of a Result


def formed(problem, y0, p):
    """None where y0 and p are vectors; else a Formed, the same for the same forms"""
    if is_vector(y0) and is_vector(p):
        return None
    if problem.model is not None:
        if not (isinstance(p, dict) and is_vector(y0) and hasattr(problem.model, "parameter_vector")):
            return None                         # Problem.sizes says what is wrong
        forms = Vector, Named(p, problem.model)
    else:
        forms = form(y0, "y0"), form(p, "p")
        refuse_states(problem, forms[0])
    return kept(problem, *forms)


def kept(problem, *forms):
    """the Formed of these forms, made once"""
    key = tuple(one.key for one in forms)
    with LOCK:
        if key not in problem.formed:
            problem.formed[key] = Formed(problem, *forms)
        return problem.formed[key]


def refuse_states(problem, y):
    if y is not Vector and problem.memory:
        raise ValueError("y0 of a problem with memory variables is a vector: states, then memory variables")
    if y is not Vector and not y.shape:
        raise TypeError("y0 is an array of any shape; dicts and other containers are for p")


def following(f, at, back):
    """f with arguments in their forms, whose positions `at` names, and its value as a vector"""
    if f is None:
        return None

    def g(*x):
        x = list(x)
        for k, one in at:
            x[k] = one.of(x[k])
        return back(f(*x))
    return g


class StateOrMore:
    """The form of a state, or a longer vector as it stands."""

    def __init__(self, form):
        self.form = form

    def of(self, vector):
        return self.form.of(vector) if self.form is Vector or len(vector) == self.form.size else vector


class Formed:
    """A problem for vectors that calls the functions of another one with y and p in their forms."""

    def __init__(self, problem, y, p):
        self.whole, self.y, self.p, self.problem = problem, y, p, problem
        if problem.model is None:
            self.problem = self.of_vectors(problem)
            self.problem.form = self

    def __reduce__(self):
        return kept, (self.whole, self.y, self.p)

    # ---- functions

    def state(self, values):
        """the values of a function that gives a state, as a vector"""
        if self.y is Vector:
            return values                       # which are checked as always
        if np.shape(values) != self.y.shape:
            raise ValueError(f"a function returned an array of shape {np.shape(values)}; expected {self.y.shape}, the "
                             "shape of y0")
        return np.reshape(values, (-1,))

    def map(self, of, value):
        """a Map of vectors; value: what becomes of its values"""
        if isinstance(of, Residual):
            return self.residual(of, value)
        if of is None:
            return None
        count = 4 if self.memory else 3         # arguments of a point: t, y, p, m
        point, along = [(1, self.y), (2, self.p)], [(count + 1, self.y), (count + 2, self.p)]
        seed = value in (self.state, self.jumped)       # weights of states have their form, too

        def by(parts):
            parts = list(parts) if isinstance(parts, tuple) else [parts]
            parts[0] = np.reshape(parts[0], (-1,))
            if len(parts) > 1 and parts[1] is not None:
                parts[1] = self.p.flat(parts[1])
            return tuple(parts)
        given = {name: following(getattr(of, name), point, lambda J: J) for name in ("jac", "jac_p", "jac_t", "jac_m")}
        return Map(following(of.value, point, value), **given, jvp=following(of.jvp, point + along, value),
                   vjp=following(of.vjp, point + [(count, self.y)] * seed, by),
                   hvp=following(of.hvp, point + along + [(2 * count, self.y)] * seed, by))

    def residual(self, of, value):
        """the same of a function of y and y'"""
        if isinstance(of, Transition) and self.y is not Vector:
            raise TypeError("a problem whose events have transitions has a y0 that is a vector")
        count = 5 if self.memory else 4         # arguments of a point: t, y, yp, p, m
        states = [] if isinstance(of, Transition) else [1, 2]
        point = [(k, self.y) for k in states] + [(3, self.p)]
        along = [(count + k, self.y) for k in states] + [(count + 3, self.p)]
        seed = value in (self.state, self.jumped)

        def by(parts):
            parts = [np.reshape(part, (-1,)) if k < 2 else part for k, part in enumerate(parts)]
            if len(parts) > 2 and parts[2] is not None:
                parts[2] = self.p.flat(parts[2])
            return tuple(parts)
        given = {name: following(getattr(of, name), point, lambda J: J)
                 for name in ("jac", "jac_yp", "jac_p", "jac_t", "jac_m")}
        return type(of)(following(of.value, point, value), **given, jvp=following(of.jvp, point + along, value),
                        vjp=following(of.vjp, point + [(count, self.y)] * seed, by),
                        hvp=following(of.hvp, point + along + [(2 * count, self.y)] * seed, by))

    def after_step(self, of):
        if isinstance(of, Bounds) and self.y is not Vector:
            low, high = (b if np.ndim(b) == 0 else np.reshape(b, (-1,)) for b in (of.low, of.high))
            return Bounds(low, high, at_start=of.at_start)
        return with_maps(of, lambda map_, state: self.map(map_, self.jumped if state else lambda values: values))

    def of_vectors(self, problem):
        self.memory = problem.memory
        known = {name: vars(problem)[name] for name in inspect.signature(type(problem)).parameters
                 if name in vars(problem) and name not in ("rhs", "options")}
        known["cost"] = self.map(problem.cost, lambda values: values)
        known["residual"] = self.map(problem.residual, self.state)
        known["after_step"] = self.after_step(problem.after_step)
        if problem.preconditioner is not None:
            setup, solve = problem.preconditioner
            known["preconditioner"] = following(setup, [(2, self.y), (3, self.p)], lambda of: of), solve
        if callable(problem.w):
            known["w"] = following(problem.w, [(0, self.p)], lambda matrix: matrix)
        for name, functions in (("events", {"guard": lambda v: v, "jump": self.jumped, "transition": lambda v: v}),
                                ("relations", {"guard": lambda v: v})):
            known[name] = [self.changed(of, functions) for of in known[name]]
        for name in ("rtol", "atol"):
            if np.ndim(known[name]) > 1:
                known[name] = np.reshape(known[name], (-1,))
        return type(problem)(self.map(problem.rhs, self.state), **known, trace=problem.asked, **problem.options)

    def jumped(self, values):
        return values if self.memory else self.state(values)

    def changed(self, of, functions):
        """an event or a relation with other functions"""
        new = object.__new__(type(of))
        new.__dict__.update(of.__dict__)
        for name, back in functions.items():
            setattr(new, name, self.map(getattr(of, name), back))
        return new

    def functional(self, F):
        """a Functional of vectors.  With running costs behind the state, y is a vector as it stands."""
        def vector(g):
            return np.reshape(g, (-1,))
        point = [(1, StateOrMore(self.y)), (2, self.p)]
        return Functional(following(F.end, point, lambda v: v), end_y=following(F.end_y, point, vector),
                          end_p=following(F.end_p, point, self.p.flat), end_t=following(F.end_t, point, lambda v: v),
                          end_yy=following(F.end_yy, point, lambda v: v), times=F.times,
                          term=following(F.term, point[:1], lambda v: v),
                          term_y=following(F.term_y, point[:1], vector),
                          term_yy=following(F.term_yy, point[:1], lambda v: v))

    # ---- values

    def directions(self, dy0, dp):
        return self.y.flat(dy0, "dy0"), self.p.direction(dp) if isinstance(self.p, Named) else self.p.flat(dp, "dp")

    def result(self, found):
        """a Result in the forms of y0 and p"""
        def part(name, value):
            if isinstance(value, Result):
                return value if name == "relative_error" else self.result(value)
            return self.y.of(value) if name in BY_Y else self.p.of(value) if name in BY_P else value
        return Result(**{name: part(name, value) for name, value in vars(found).items()})

    # ---- calls of a Problem

    def integrate(self, t_span, y0, p, **more):
        return FormedRun(self, self.problem.integrate(t_span, self.y.flat(y0), self.p.flat(p), **more))

    def gradient(self, functional, t_span, y0, p, **more):
        return self.result(self.problem.gradient(self.functional(functional), t_span, self.y.flat(y0), self.p.flat(p),
                                                 **more))

    def steady(self, y0, p, **more):
        return FormedSteadyState(self, self.problem.steady(self.y.flat(y0), self.p.flat(p), **more))

    def periodic(self, y0, guess, p, **more):
        return FormedPeriodicOrbit(self, self.problem.periodic(self.y.flat(y0), guess, self.p.flat(p), **more))

    def consistent(self, t, y0, p, yp0):
        found = self.problem.consistent(t, self.y.flat(y0), self.p.flat(p), yp0=self.y.flat(yp0))
        return tuple(self.y.of(part) for part in found)

    def load(self, path, t_span, y0, p, resume=False):
        call = self.problem.resume if resume else self.problem.load
        return FormedRun(self, call(path, t_span, self.y.flat(y0), self.p.flat(p)))

    def check(self, t_span, y0, p):
        return self.problem.check(t_span, self.y.flat(y0), self.p.flat(p))

    def hessp(self, functional, t_span, y0, p, vy0, vp, **more):
        vy0, vp = self.directions(vy0, vp)
        return self.result(self.problem.hessp(self.functional(functional), t_span, self.y.flat(y0), self.p.flat(p),
                                              vy0=vy0, vp=vp, **more))


class FormedRun(OfForm):
    """A Run whose y0 or p is not a vector.  y, at and directions have the shape of y0, with one more axis behind it for
    times or directions; what is by p has the form of p."""

    @property
    def at(self):
        """states at t_eval: the shape of y0, and their number"""
        return self.form.y.of(self.flat.at)

    @property
    def events(self):
        """as those of Run, with states in the shape of y0"""
        return [(t, number, *map(self.form.y.of, states)) for t, number, *states in self.flat.events]

    def __call__(self, t):
        """the state at t, or at several times"""
        return self.form.y.of(self.flat(t))

    def continue_to(self, t1, **more):
        """as that of Run"""
        self.flat.continue_to(t1, **more)
        return self

    def tangent(self, dy0=None, dp=None, **more):
        """as that of Run: dy0 in the shape of y0, dp in the form of p"""
        found = self.flat.tangent(*self.form.directions(dy0, dp), **more)
        if more.get("at") is None:
            return self.form.y.of(found)
        return np.stack([self.form.y.of(row) for row in found])

    def adjoint(self, w=None, *, w_at=None, **more):
        """as that of Run: w in the shape of y0; the gradients have the shape of y0 and the form of p"""
        if w_at is not None:
            w_at = np.stack([self.form.y.flat(row, "w_at") for row in w_at])
        by_y0, by_p, *memory = self.flat.adjoint(self.form.y.flat(w, "w"), w_at=w_at, **more)
        return (self.form.y.of(by_y0), self.form.p.of(by_p), *memory)

    def value(self, functional):
        """of a Functional"""
        return self.flat.value(self.form.functional(functional))

    def gradient(self, functional):
        """as that of Run"""
        return self.form.result(self.flat.gradient(self.form.functional(functional)))

    def hessp(self, functional, vy0=None, vp=None):
        """as that of Run"""
        return self.form.result(self.flat.hessp(self.form.functional(functional), *self.form.directions(vy0, vp)))

    def gauss_newton(self, functional, vy0=None, vp=None):
        """as that of Run"""
        return self.form.result(self.flat.gauss_newton(self.form.functional(functional),
                                                       *self.form.directions(vy0, vp)))
