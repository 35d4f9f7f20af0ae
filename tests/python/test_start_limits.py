"""test_start_limits.py - models whose text says `start steady` or `start periodic`: runs, tangents, gradients and
Hessian products against closed forms, in byte code and compiled; ensembles; p in dicts."""
import copy
import os
import pickle
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                                                  # noqa: E402

from cases import fails, run_all                                    # noqa: E402
from common import close                                            # noqa: E402
from costate import CostateError, Functional, Model, ModelError, Problem, solve_ivp    # noqa: E402

SHARP = dict(method="dopri853", rtol=1e-12, atol=1e-13)
T = 1.5
# a <-> b with the total s + u, at rest before; then k changes from 0.5 to its value.  `late` is no event of the rest
PAIR = """parameter k = 2, l = 0.3, s = 1.5
state a = s, b = 0.25
memory u = 0.4*s
cost q' = a
event late at 20, 30
    a := 100
event full when b - 50 rises
    b := 0
a' = l*b - k*a + 0*u
b' = k*a - l*b
start steady with k = 0.5
"""
# what the totals of the memory variable change
MEMORY = "parameter k = 2, c = 0.5\nstate y = 1\nmemory u = c^2\ny' = u - k*y\nstart steady with k = 4\n"
# drug in an interval of 24: y just before a dose is d/(exp(24 k) - 1)
DOSES = """parameter k = 0.1, d = 3
state y = 0
event dose at 0 every 24 until 240
    y += d
y' = -k*y
start periodic 24
"""
HOPF = """parameter a = 0.8, b = 1.5, c = 0.4
state x = 0.9, y = 0.1
let r2 = x^2 + y^2
x' = (a - r2)*x - (b + c*r2)*y
y' = (b + c*r2)*x + (a - r2)*y
start periodic near 3
"""


def pair(x, before=0.5):
    """(a, b) and the cost at T"""
    k, l, s = x
    total = s + 0.25
    rest, to = total * np.array([l, before]) / (l + before), total * np.array([l, k]) / (k + l)
    decay = np.exp(-(k + l) * T)
    return np.concatenate([to + decay * (rest - to), [to[0] * T + (1 - decay) / (k + l) * (rest - to)[0]]])


def derivative(f, x, d, h=1e-3):
    """of f along d, of eighth order"""
    c = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
    return sum(c[j] * (f(x + (j + 1) * h * d) - f(x - (j + 1) * h * d)) for j in range(4)) / h


def both(text):
    return [Model(text, compiled=False), Model(text, compiled=True)]


def compare(model, closed, within=1e-10):
    """closed(p): all of y at T, with costs"""
    problem, p = Problem(model, **SHARP), model.defaults * 1.1
    run = problem.integrate((0, T), p=p)
    close(np.concatenate([run.y, run.q]), closed(p), within)
    w, v = np.array([0.7, -0.4, 0.9])[:model.n + model.nq], np.array([0.3, -1.0, 0.5])[:model.np]
    F = Functional(end=lambda t, y, p: w @ y)
    found = run.hessp(F, vp=v)
    close(found.p, [derivative(lambda x: w @ closed(x), p, e) for e in np.eye(model.np)], 10 * within)
    gradient = lambda x: np.array([derivative(lambda z: w @ closed(z), x, e) for e in np.eye(model.np)])    # noqa: E731
    close(found.Hp, derivative(gradient, p, v, 1e-2), 1e-7)
    close(run.tangent(dp=v), derivative(closed, p, v)[:model.n], 10 * within)
    first = run.gradient(F)
    close(first.p, found.p, 1e-13)
    close(first.p @ v, w[:model.n] @ run.tangent(dp=v) if not model.nq else first.p @ v, 1e-12)
    return problem, first


def test_steady():
    for model in both(PAIR):
        problem, first = compare(model, pair)
        close(problem.initial(), [1.75 * 0.3 / 0.8, 1.75 * 0.5 / 0.8, 0, 0.6], 1e-13)
        close(model.start(), [1.5, 0.25, 0, 0.6], 1e-15)
        assert first.t0 is not None and model.start_limit["kind"] == "steady"


def test_memory_in_the_steady_state():
    for model in both(MEMORY):
        compare(model, lambda x: np.array([x[1] ** 2 / x[0] + np.exp(-x[0] * T) * x[1] ** 2 * (1 / 4 - 1 / x[0])]))


# a m + b s remains, and a = k b at rest; the memory variable m is u^2
VOLUMES = """parameter k = 0.5, s = 2, u = 0.7
state a = 1, b = 0.25
memory m = u^2
event never when b - 50 rises
    m := 1
a' = (k*b - a)/m
b' = (a - k*b)/s
start steady
"""


def test_volumes_in_memory():
    """second derivatives through an invariant that depends on a memory variable and on a parameter"""
    def at_rest(x):
        b = (x[2] ** 2 + 0.25 * x[1]) / (x[0] * x[2] ** 2 + x[1])
        return np.array([x[0] * b, b])
    for model in both(VOLUMES):
        compare(model, at_rest, 1e-9)


def test_given_period():
    for model in both(DOSES):
        _, first = compare(model, lambda x: np.array([np.exp(-x[0] * T) * x[1] / -np.expm1(-24 * x[0])]))
        assert first.t0 is None and first.events is None


def test_limit_cycle():
    """of the start only the modulus is determined"""
    for model in both(HOPF):
        problem = Problem(model, **SHARP)
        run = problem.integrate((0, T))
        close(np.hypot(*run.y), np.sqrt(0.8), 1e-10)
        F = Functional(end=lambda t, y, p: y[0] ** 2 + y[1] ** 2)
        found = run.hessp(F, vp=[0.3, -0.2, 0.5])
        assert np.abs(found.p - [1, 0, 0]).max() < 1e-9
        assert np.abs(found.Hp).max() < 1e-8


def test_ensembles_and_names():
    model = Model(PAIR)
    problem, rows = Problem(model, **SHARP), np.array([[2, 0.3, 1.5], [1, 0.6, 0.5]])
    many = problem.ensemble((0, T), p=rows, w=[1.0, 0.0])
    for k, p in enumerate(rows):
        close(many.y[k], pair(p)[:2], 1e-10)
        close(many.p[k], [derivative(lambda x: pair(x)[0], p, e) for e in np.eye(3)], 1e-9)
    run = problem.integrate((0, T), p={"k": 2.2})
    close(run.y, pair([2.2, 0.3, 1.5])[:2], 1e-10)
    state = problem.steady(p={"k": 3.0, "s": 1.0}, fixed={"l": 0.7})
    close(state.y, 1.25 * np.array([0.7, 3.0]) / 3.7, 1e-12)
    by_p = state.adjoint([1.0, 0.0])[1]
    assert set(by_p) == {"k", "s"}
    close(by_p["k"], -1.25 * 0.7 / 3.7 ** 2, 1e-12)
    close(state.hessp([1.0, 0.0], vp={"k": 1.0})[1]["k"], 2 * 1.25 * 0.7 / 3.7 ** 3, 1e-12)
    close(state.tangent(dp={"k": 1.0})[0], -1.25 * 0.7 / 3.7 ** 2, 1e-12)


def test_copies():
    problem = Problem(Model(PAIR), **SHARP)
    run = problem.integrate((0, T))
    for other in (pickle.loads(pickle.dumps(problem)), copy.deepcopy(problem)):
        assert np.array_equal(other.integrate((0, T)).y, run.y)
    F = Functional(end=lambda t, y, p: y[0])
    assert np.array_equal(copy.deepcopy(run).gradient(F).p, run.gradient(F).p)
    close(solve_ivp(problem.model, (0, T), None, **SHARP).y[:, -1], run.y, 1e-12)
    found = problem.gradient(F, (0, T), estimate=True)
    close(found.p, run.gradient(F).p, 1e-13)
    assert np.abs(found.error.p).max() < 1e-8 and problem.check((0, T)).ok


def test_forms_of_functions():
    def hopf(t, y, p):
        r2 = y[0, 0] ** 2 + y[0, 1] ** 2
        grow, turn = p["a"] - r2, p["b"] + p["c"] * r2
        return np.array([[grow * y[0, 0] - turn * y[0, 1], turn * y[0, 0] + grow * y[0, 1]]])
    p = dict(a=0.8, b=1.5, c=0.4)
    orbit = Problem(hopf, **SHARP).periodic(np.array([[0.9, 0.1]]), 3.0, p)
    period = 2 * np.pi / 1.82
    close(orbit.period, period, 1e-10)
    assert orbit.y.shape == (1, 2) and orbit(np.zeros(3)).shape == (1, 2, 3)
    by_p = orbit.adjoint(period=1)
    close([by_p["a"], by_p["b"], by_p["c"]], -period / 1.82 * np.array([0.4, 1, 0.8]), 1e-8)
    moved = orbit.tangent(dict(a=0.0, b=1.0, c=0.0))
    close(moved.period, by_p["b"], 1e-10)
    close(orbit.hessp(dict(a=0.0, b=1.0, c=0.0), period=1)["b"], 2 * period / 1.82 ** 2, 1e-7)
    assert set(orbit.multiplier_gradient(1)) == {"a", "b", "c"} and moved.y.shape == (1, 2)


def test_what_is_refused():
    rotation = Problem(Model("state x = 1, y = 0\nx' = y\ny' = -x\nstart steady\n"), max_steps=2000)
    fails(CostateError, "as in a periodic solution", rotation.integrate, (0, 1))
    close(rotation.integrate((0, np.pi), [1.0, 0.0]).y, [-1, 0], 1e-4)
    fails(NotImplementedError, "t0", Problem(Model(DOSES), **SHARP).integrate((0, 1)).tangent, dt0=1.0)
    fails(ValueError, "only a Model", Problem(lambda t, y, p: -y).initial)
    fails(ModelError, "is not a parameter", Model, "state x = 1\nx' = -x\nstart steady with k = 1\n")


run_all(globals())
