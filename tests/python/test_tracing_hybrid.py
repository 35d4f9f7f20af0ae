"""test_tracing_hybrid.py - conditions, events, costs, jumps, memory and masses of traced functions are those of the
same equations in an equation file."""
import array
import os
import sys
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, os.pardir), HERE]

import numpy as np                              # noqa: E402

import costate                                  # noqa: E402
from cases import fails, run_all                # noqa: E402

warnings.simplefilter("error", costate.NotTraced)
SHARP = dict(method="dopri853", rtol=1e-10, atol=1e-12)


def same(f, text, y0, p, T, most=1e-11, **more):
    """A run and its gradient are those of a Model; both runs"""
    names = [f"p{k}" for k in range(len(p))]
    text = "".join(f"parameter {name} = {value!r}\n" for name, value in zip(names, p)) + text
    problem, model = costate.Problem(f, **SHARP, trace=True, **more), costate.Problem(costate.Model(text), **SHARP)
    a, b = problem.integrate((0, T), y0, p), model.integrate((0, T), y0, p)
    end = costate.Functional(end=lambda t, y, p: y[0] + 0.5 * y[-1])
    ga, gb = a.gradient(end), b.gradient(end)
    assert problem.traced and a.derivatives == "exact"
    assert np.allclose(a.y, b.y, rtol=most, atol=most), (a.y, b.y)
    for part in ("y0", "p"):
        assert np.allclose(getattr(ga, part), getattr(gb, part), rtol=1e-9, atol=1e-9), (part, ga, gb)
    assert np.allclose([t for t, _ in a.relations], [t for t, _ in b.relations], atol=1e-9), (a.relations, b.relations)
    assert np.array_equal(a._b.stops, model.stops), (a._b.stops, model.stops)
    return a, b


def test_conditions_become_relations():
    a, _ = same(lambda t, y, p: np.array([y[1], -p[0] * y[0] - np.where(y[1] > 0, p[1], -p[1])]), """
state x = 1, v = 0
x' = v
v' = -p0*x - if(v > 0, p1, -p1)
""", [1.0, -0.1], [4.0, 0.2], 2.0)
    assert len(a.relations) >= 1


def test_conditions_in_time_become_stops():
    def f(t, y, p):
        return [np.where(t < 0.3, p[0], np.where(t < 1.1, p[1], 0.0)) - y[0] + np.floor(t * 2) * (t < 3)]
    a, b = same(f, """
state x = 0
x' = if(t < 0.3, p0, if(t < 1.1, p1, 0)) - x + if(t < 3, floor(t*2), 0)
""", [0.0], [1.0, 2.0], 2.0)
    gradient = a.gradient(costate.Functional(end=lambda t, y, p: y[0]))
    assert gradient.stops.size == 0, "those of the problem, which has none"


def test_whole_numbers():
    same(lambda t, y, p: np.array([1.0, p[0] * np.floor(y[0] * 2) - y[1]]), """
state x = 0.1, z = 0
x' = 1
z' = p0*floor(x*2) - z
""", [0.1, 0.0], [1.5], 2.0)


def test_branches_that_are_not_defined_outside():
    """the square root is not evaluated where it is not defined"""
    a, _ = same(lambda t, y, p: [-p[0] * np.where(y[0] > 0, np.sqrt(y[0]), 0.0)], """
state x = 1
x' = -p0*if(x > 0, sqrt(x), 0)
""", [1.0], [1.0], 1.5)
    assert np.all(np.isfinite(a.y))


def test_sliding():
    """y' = -sign(y) + p/2: the solution stays at 0, as Filippov's"""
    problem = costate.Problem(lambda t, y, p: -np.sign(y) + 0.5 * p, trace=True, **SHARP)
    run = problem.integrate((0, 3), [1.0], [1.0])
    assert abs(run.y[0]) < 1e-9, run.y


def test_tables_have_stops():
    """a table in t alone: the steps end at its places"""
    def f(t, y, p):
        return p[0] * np.interp(t, [0.0, 0.35, 1.0], [0.0, 1.0, 0.5]) - 0 * y
    problem = costate.Problem(f, trace=True, **SHARP)
    run = problem.integrate((0, 1), [0.0], [2.0])
    assert abs(run.y[0] - 2 * (0.35 / 2 + 0.65 * 0.75)) < 1e-13
    assert 0.35 in run._b.stops and np.any(np.isclose(run.steps[0], 0.35, rtol=0, atol=1e-15))


def test_events_costs_and_memory():
    """a bouncing ball whose energy loss is remembered, with a running cost and a dose at given times"""
    def fall(t, y, p, m):
        return np.array([y[1], -p[0] + 0.1 * m[0]])

    def bounce(t, y, p, m):
        return np.array([y[0], -p[1] * y[1], m[0] + 1])

    def kick(t, y, p, m):
        return np.concatenate([y + np.array([0.0, 0.5]), m])
    more = dict(memory=1, cost=lambda t, y, p, m: [y[0] ** 2, t * m[0]], events=[
        costate.Event(lambda t, y, p, m: y[0], jump=bounce, direction=-1), costate.Event(times=[0.7], jump=kick)])
    at = (0, 1.5), [1.0, 0.0, 0.0], [9.81, 0.8]
    a = costate.Problem(fall, trace=True, **SHARP, **more).integrate(*at)
    b = costate.Problem(fall, trace=False, **SHARP, **more).integrate(*at)
    assert a.problem.traced and a.derivatives == "exact" and b.derivatives == "complex step"
    assert np.allclose(a.y, b.y, atol=1e-10) and np.allclose(a.q, b.q, atol=1e-10) and np.array_equal(a.m, b.m)
    assert len(a.events) == len(b.events) >= 3
    assert np.allclose(a.adjoint([1.0, 0.5])[1], b.adjoint([1.0, 0.5])[1], rtol=1e-9)
    F = costate.Functional(end=lambda t, y, p: y[2] + y[3])
    assert np.allclose(a.gradient(F).p, b.gradient(F).p, rtol=1e-8)
    assert np.allclose(a.gradient(F).m, b.gradient(F).m, rtol=1e-8)


def test_relations_and_modes():
    """a block under friction whose sign is a relation of the user's; a mode that an event sets"""
    def block(t, y, p, now):
        sliding = np.where(now.mode == 0, 1.0, 0.5)
        return np.array([y[1], np.sin(2 * t) - p[0] * sliding * (2 * now.relation[0] - 1)])
    more = dict(relations=[lambda t, y, p, now: y[1]], events=[
        costate.Event(lambda t, y, p, now: y[0] - 0.3, direction=1, active=0, to=1)])
    at = (0, 3.0), [0.0, 1.0], [0.9]
    a = costate.Problem(block, trace=True, **SHARP, **more).integrate(*at)
    b = costate.Problem(block, trace=False, **SHARP, **more).integrate(*at)
    assert a.problem.traced and np.allclose(a.y, b.y, atol=1e-9) and len(a.events) == len(b.events) == 1
    assert np.allclose(a.relations, b.relations, atol=1e-8) and len(a.relations) >= 1
    assert np.allclose(a.adjoint([1.0, 1.0])[1], b.adjoint([1.0, 1.0])[1], rtol=1e-7)

    def branching(t, y, p, now):
        return -y if now.mode == 0 else y
    told = fails(costate.NotTraced, "now.mode == 0", costate.Problem(branching, trace=True, **more).integrate, *at)
    assert "np.where" in str(told)


def test_own_relations_come_first():
    """conditions of f get relations behind those of the problem"""
    def f(t, y, p, now):
        return np.array([1.0, np.where(y[0] > 1.0, 2.0, 1.0) + now.relation[0]])
    run = costate.Problem(f, relations=[lambda t, y, p, now: y[0] - 0.5], trace=True, **SHARP).integrate(
        (0, 2), [0.0, 0.0], [])
    assert np.allclose(run.relations, [(0.5, 0), (1.0, 1)]) and abs(run.y[1] - (0.5 + 2 * 0.5 + 3 * 1)) < 1e-12


def test_masses():
    """dense, sparse and singular: an algebraic equation"""
    def f(t, y, p):
        return np.array([-p[0] * y[0] + y[1], y[0] ** 2 - y[1], y[2] - 2 * y[0]])
    M = np.diag([1.0, 0.5, 0.0])
    M[0, 1] = 0.1
    at = (0, 1), [1.0, 0.5, 2.0], [0.7]
    runs = [costate.Problem(f, mass=mass, method="radau2a5", rtol=1e-9, atol=1e-11, trace=trace).integrate(*at)
            for mass, trace in ((M, True), (M, False), (sparse(M), True)) if mass is not None]
    for other in runs[1:]:
        assert np.allclose(runs[0].y, other.y, atol=1e-12) and runs[0].problem.traced
        assert np.allclose(runs[0].adjoint([1, 0, 1])[1], other.adjoint([1, 0, 1])[1], atol=1e-10)
    fails(ValueError, "mass has shape", costate.Problem(f, mass=np.eye(2), trace=True).integrate, *at)


def sparse(M):
    try:
        import scipy.sparse
    except ImportError:
        return None
    return scipy.sparse.csr_matrix(M)


def test_all_or_none():
    """a jump that cannot be traced could change what f reads: then f is called, too"""
    rate = [1.0]

    def jump(t, y, p):
        rate[0] = 3.0 if y[0] < 1 else 2.0
        return y

    def f(t, y, p):
        return -rate[0] * y
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        problem = costate.Problem(f, events=[costate.Event(times=[0.5], jump=jump)], cost=lambda t, y, p: float(
            np.real(y[0])), **SHARP)
        run = problem.integrate((0, 1), [1.0], [])
    told = [str(w.message) for w in caught if w.category is costate.NotTraced]
    assert not problem.traced and len(told) == 1 and "cost: " in told[0] and "the jump of events[0]: " in told[0]
    assert run._b.trace is None and rate[0] > 1
    given = costate.Map(lambda t, y, p: y[0] - 0.5, jac=lambda t, y, p: [[1.0]], jac_p=lambda t, y, p: [[0.0]])
    problem = costate.Problem(lambda t, y, p: -p * y, events=[costate.Event(given, terminal=True)], **SHARP)
    run = problem.integrate((0, 1), [1.0], [2.0])
    assert abs(run.t - np.log(2) / 2) < 1e-9 and "the guard of events[0]" in problem.trace_message


def test_what_on_step_changes():
    rate = [1.0]

    def change(step):
        rate[0] = 2.0
    problem = costate.Problem(lambda t, y, p: -rate[0] * y, **SHARP)
    fails(RuntimeError, "trace=False", problem.integrate, (0, 1), [1.0], on_step=change)
    steps = []
    run = problem.integrate((0, 1), [1.0], on_step=lambda step: steps.append(step.end))
    assert problem.traced and steps[-1] == 1.0 and abs(run.y[0] - np.exp(-2)) < 1e-9

    rates = array.array("d", [1.0])             # whose contents are not compared

    def slow(step):
        rates[0] = 0.0
    problem = costate.Problem(lambda t, y, p: -rates[0] * y, max_steps=1000, **SHARP)
    run = problem.integrate((0, 1), [1.0], on_step=slow)
    assert run._b.trace is None and run.y[0] > 0.5, "f is called, and sees the change"


def test_second_order_and_checks():
    def f(t, y, p):
        return np.array([-p[0] * y[0] ** 2, np.where(t < 0.4, p[1], 0.2) * y[0]])
    problem = costate.Problem(f, trace=True, **SHARP)
    F = costate.Functional(end=lambda t, y, p: y[1] ** 2, end_y=lambda t, y, p: np.array([0.0, 2 * y[1]]),
                           end_yy=lambda t, y, p: np.diag([0.0, 2.0]))
    a = problem.hessp(F, (0, 1), [1.0, 0.0], [0.7, 0.5], vp=[1.0, -0.5])
    h = 1e-4
    up, down = (problem.gradient(F, (0, 1), [1.0, 0.0], [0.7 + s, 0.5 - 0.5 * s]).p for s in (h, -h))
    assert np.allclose(a.Hp, (up - down) / (2 * h), rtol=1e-6)
    assert problem.check((0, 1), [1.0, 0.0], [0.7, 0.5]).ok
    found = problem.ensemble((0, 1), np.array([[1.0, 0.0], [2.0, 0.0]]), [0.7, 0.5], w=[0.0, 1.0])
    alone = problem.integrate((0, 1), [2.0, 0.0], [0.7, 0.5])
    assert np.array_equal(found.y[1], alone.y) and np.allclose(found.p[1], alone.adjoint([0.0, 1.0])[1], rtol=1e-12)


if __name__ == "__main__":
    run_all(globals())
