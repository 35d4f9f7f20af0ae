"""test_problem.py - Problem, Run, Functional: derivatives in every way of giving them, shapes, exceptions, threads."""
import gc
import os
import pickle
import resource
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                              # noqa: E402

import costate                                  # noqa: E402
from cases import fails, run_all                # noqa: E402
from common import close                        # noqa: E402

P0, Y0, SPAN = np.array([1.5, 1.0, 1.0, 3.0]), np.array([1.0, 1.0]), (0.0, 3.0)


def hares(t, y, p):
    return np.array([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1] + 0.1 * np.sin(t)])


def hares_real(t, y, p):
    """does not compute with complex y"""
    return np.array([float(v) for v in hares(t, y, p)])


def jac(t, y, p):
    return np.array([[p[0] - p[1] * y[1], -p[1] * y[0]], [p[2] * y[1], p[2] * y[0] - p[3]]])


def jac_p(t, y, p):
    zero = 0 * y[0]
    return np.array([[y[0], -y[0] * y[1], zero, zero], [zero, zero, y[0] * y[1], -y[1]]])


def jac_t(t, y, p):
    return np.array([0 * t, 0.1 * np.cos(t)])


def jvp(t, y, p, dt, dy, dp):
    return jac(t, y, p) @ dy + jac_p(t, y, p) @ dp + jac_t(t, y, p) * dt


def vjp(t, y, p, w):
    return w @ jac(t, y, p), w @ jac_p(t, y, p), w @ jac_t(t, y, p)


WAYS = {"jac": dict(jac=jac, jac_p=jac_p, jac_t=jac_t), "products": dict(jvp=jvp, vjp=vjp), "complex": {}}
SHARP = dict(rtol=1e-10, atol=1e-10)


def test_transposes_in_every_way():
    for method in ("dopri5", "radau2a", "rodas4", "sdirk4a", "rkc2", "auto"):
        for name, given in WAYS.items():
            if method == "rodas4" and name != "jac":
                continue                        # needs second products
            run = costate.Problem(hares, method=method, rtol=1e-6, atol=1e-6, **given).integrate(SPAN, Y0, P0)
            assert run.derivatives == ("complex step" if name == "complex" else "exact"), run.derivatives
            dy, dp = np.array([[0.3, -0.2, 1], [0.5, 0.1, 0]]), np.arange(12.0).reshape(4, 3) / 10
            w = np.array([[1, 0.2], [-0.4, 0.7]])
            V = run.tangent(dy, dp)
            by_y, by_p = run.adjoint(w)
            assert V.shape == (2, 3) and by_y.shape == (2, 2) and by_p.shape == (4, 2)
            close(w.T @ V, by_y.T @ dy + by_p.T @ dp, 1e-11)


def test_tangent_is_the_derivative():
    problem = costate.Problem(hares, method="dopri5", **SHARP)
    run = problem.integrate(SPAN, Y0, P0)
    d, dp, e = np.array([0.3, -0.7]), np.array([0.2, 0.1, -0.3, 0.4]), 1e-4
    up, down = (problem.integrate(SPAN, Y0 + s * e * d, P0 + s * e * dp).y for s in (1, -1))
    close(run.tangent(d, dp), (up - down) / (2 * e), 1e-6)
    close(run.tangent(d, dp), run.tangent(np.array([d, 2 * d]).T, np.array([dp, 2 * dp]).T)[:, 0], 1e-14)


def test_observations():
    times = np.array([0.5, 1.7, 2.9])
    run = costate.Problem(hares, **WAYS["jac"], method="dopri5", **SHARP).integrate(SPAN, Y0, P0, t_eval=times)
    close(run.at, run(times), 1e-14)
    V = run.tangent(dp=np.eye(4), at=times)
    assert V.shape == (3, 2, 4) and run.tangent(dp=P0, at=times).shape == (3, 2)
    w = np.arange(6.0).reshape(3, 2) + 1
    by_y, by_p = run.adjoint(at=times, w_at=w)
    close(by_p, np.einsum("ki,kij->j", w, V), 1e-11)
    close(by_y, np.einsum("ki,kij->j", w, run.tangent(np.eye(2), at=times)), 1e-11)


def test_gradient_of_a_functional():
    times = np.array([1.0, 2.0])
    F = costate.Functional(end=lambda t, y, p: y[0] ** 2 + p[3] * y[1], times=times, term=lambda t, y: t * y[0] * y[1])
    G = costate.Functional(end=lambda t, y, p: y[0] ** 2 + p[3] * y[1],
                           end_y=lambda t, y, p: np.array([2 * y[0], p[3] + 0 * y[0]]),
                           end_p=lambda t, y, p: np.array([0, 0, 0, 1]) * y[1], times=times,
                           term=lambda t, y: t * y[0] * y[1], term_y=lambda t, y: t * y[::-1])
    problem = costate.Problem(hares, method="dopri5", **WAYS["jac"], **SHARP)
    g, h = (problem.gradient(f, SPAN, Y0, P0) for f in (F, G))
    for name in ("value", "y0", "p", "t0", "t1"):
        close(getattr(g, name), getattr(h, name), 1e-12)
    e = 1e-5
    for k in range(4):
        d = e * np.eye(4)[k]
        up, down = (problem.integrate(SPAN, Y0, P0 + s * d).value(F) for s in (1, -1))
        close(g.p[k], (up - down) / (2 * e), 1e-6)
    up, down = (problem.integrate((0.0, 3.0 + s * e), Y0, P0).value(F) for s in (1, -1))
    close(g.t1, (up - down) / (2 * e), 1e-5)


def test_estimated_errors_with_costs():
    """the state that a run begins with has no running costs"""
    problem = costate.Problem(lambda t, y, p: p[0] * np.array([-y[1], y[0]]), cost=lambda t, y, p: y[:1],
                              method="dopri5", rtol=1e-6, atol=1e-6)
    found = problem.gradient(costate.Functional(end=lambda t, y, p: y[2]), (0.0, 1.0), [1.0, 0.0], [1.2], estimate=True)
    close(found.value, np.sin(1.2) / 1.2, 1e-6)
    true = np.cos(1.2) / 1.2 - np.sin(1.2) / 1.2 ** 2 - found.p[0]
    assert abs(found.error.p[0] - true) < 0.1 * abs(true), (found.error.p, true)


def test_hessian():
    G = costate.Functional(end=lambda t, y, p: y[0] ** 2 + p[3] * y[1],
                           end_y=lambda t, y, p: np.array([2 * y[0], p[3] + 0 * y[0]]),
                           end_p=lambda t, y, p: np.array([0, 0, 0, 1]) * y[1], times=np.array([1.0]),
                           term=lambda t, y: y[0] ** 2 * y[1],
                           term_y=lambda t, y: np.array([2 * y[0] * y[1], y[0] ** 2]))
    for method in ("dopri5", "radau2a", "sdirk4a"):
        problem = costate.Problem(hares, method=method, derivative_mode=1, **WAYS["jac"], **SHARP)
        all_ = problem.hessp(G, SPAN, Y0, P0, vp=np.eye(4))
        close(all_.Hp, all_.Hp.T, 1e-10)
        one = problem.hessp(G, SPAN, Y0, P0, vp=P0)
        close(one.Hp, all_.Hp @ P0, 1e-11)
        both = problem.hessp(G, SPAN, Y0, P0, vy0=np.eye(2))
        close(both.Hp, all_.Hy0.T, 1e-10)
        e = 1e-5
        up, down = (problem.gradient(G, SPAN, Y0, P0 + s * e * P0).p for s in (1, -1))
        close(one.Hp, (up - down) / (2 * e), 1e-4)
        assert one.derivatives == "exact"


def test_gauss_newton():
    """with the curvature 1, it is the tangent times its transpose"""
    times = np.array([1.0, 2.0])
    F = costate.Functional(times=times, term=lambda t, y: 0.5 * (y @ y), term_y=lambda t, y: y)
    run = costate.Problem(hares, method="dopri5", **WAYS["jac"], **SHARP).integrate(SPAN, Y0, P0)
    J = run.tangent(dp=np.eye(4), at=times).reshape(-1, 4)
    close(run.gauss_newton(F, vp=np.eye(4)).Hp, J.T @ J, 1e-11)


def test_estimates():
    F = costate.Functional(end=lambda t, y, p: y[0])
    rough = costate.Problem(hares, method="dopri5", rtol=1e-5, atol=1e-5)
    exact = costate.Problem(hares, method="dopri853", rtol=1e-13, atol=1e-13).gradient(F, SPAN, Y0, P0)
    g = rough.gradient(F, SPAN, Y0, P0, estimate=True)
    close(g.error.value, exact.value - g.value, 0.2)
    close(g.error.p, exact.p - g.p, 0.3)
    goal = rough.gradient(F, SPAN, Y0, P0, tol=1e-7)
    assert goal.rounds >= 1 and goal.relative_error.p <= 1e-7
    close(goal.p, exact.p, 1e-7)
    again = rough.gradient(F, SPAN, Y0, P0, tol=1e-7, factor=goal.factor)
    assert again.rounds == 1 and again.factor == goal.factor == goal.rtol / 1e-5
    close(again.p, goal.p, 0)


def test_estimates_of_products():
    """of Hessians of a terminal value and of terms at times, by columns and alone, and to a tolerance"""
    F = costate.Functional(end=lambda t, y, p: y[0] ** 2 * p[3] + y[1],
                           end_y=lambda t, y, p: np.array([2 * y[0] * p[3], 1 + 0 * y[1]]),
                           end_p=lambda t, y, p: np.array([0, 0, 0, 1]) * y[0] ** 2)
    G = costate.Functional(times=[1.0, 2.2], term=lambda t, y: y[0] ** 2 * y[1],
                           term_y=lambda t, y: np.array([2 * y[0] * y[1], y[0] ** 2]))
    ways = dict(method="dopri5", **WAYS["jac"])
    rough = costate.Problem(hares, rtol=1e-5, atol=1e-5, **ways)
    precise = costate.Problem(hares, **{**ways, **SHARP, "method": "dopri853"})
    for J in (F, G):
        exact = precise.hessp(J, SPAN, Y0, P0, vp=np.eye(4)[:, :2], vy0=np.eye(2))
        h = rough.hessp(J, SPAN, Y0, P0, vp=np.eye(4)[:, :2], vy0=np.eye(2), estimate=True)
        close(h.p, rough.hessp(J, SPAN, Y0, P0, vp=P0).p, 1e-12)
        close(h.error.Hp, exact.Hp - h.Hp, 0.5)
        close(h.error.Hy0, exact.Hy0 - h.Hy0, 0.5)
        close(h.relative_error.Hp, np.linalg.norm(h.error.Hp, axis=0) / np.linalg.norm(h.Hp, axis=0), 1e-12)
        assert h.relative_error.Hy0.shape == (2,) and h.Hy0.shape == (2, 2) and h.Hp.shape == (4, 2)
        goal = rough.hessp(J, SPAN, Y0, P0, vp=P0, tol=1e-6)
        close(goal.Hp, precise.hessp(J, SPAN, Y0, P0, vp=P0).Hp, 2e-6)
        assert goal.Hp.shape == (4,) and goal.relative_error.Hp <= 1e-6 and goal.rounds >= 1
        again = rough.hessp(J, SPAN, Y0, P0, vp=P0, tol=1e-6, factor=goal.factor)
        assert again.rounds == 1
    fails(costate.CostateError, "Hessian product", rough.hessp, F, SPAN, Y0, P0, vp=P0, tol=1e-16)
    fails(ValueError, "no direction", rough.hessp, F, SPAN, Y0, P0, estimate=True)
    fails(costate.CostateError, "give jac", costate.Problem(hares, method="dopri5").hessp, F, SPAN, Y0, P0, vp=P0,
          estimate=True)


def test_costs_and_differences():
    """a running cost; functions that do not compute with complex y are differentiated by differences, and say so"""
    problem = costate.Problem(hares, cost=lambda t, y, p: np.array([y[0] * y[1], p[0] * y[0]]), method="dopri5",
                              **SHARP)
    run = problem.integrate(SPAN, Y0, P0)
    assert run.q.shape == (2,) and run.derivatives == "complex step"
    F = costate.Functional(end=lambda t, y, p: y[2] + 2 * y[3])
    g = run.gradient(F)
    e = 1e-5
    up, down = (problem.integrate(SPAN, Y0, P0 + s * e * np.eye(4)[0]).value(F) for s in (1, -1))
    close(g.p[0], (up - down) / (2 * e), 1e-6)
    close(run.adjoint(w_costs=np.array([1.0, 2.0]))[1], g.p, 1e-12)
    real = costate.Problem(hares_real, method="dopri5", **SHARP).integrate(SPAN, Y0, P0)
    assert real.derivatives == "differences"
    exact = costate.Problem(hares, method="dopri5", **SHARP).integrate(SPAN, Y0, P0)
    close(real.adjoint([1, 0])[1], exact.adjoint([1, 0])[1], 1e-5)


def test_complex_steps_are_recognised():
    """a function that takes complex y, but loses the imaginary part, must not be differentiated by complex steps"""
    def loses(t, y, p):
        return np.array([-np.abs(y[0]) * p[0] + 0 * y[0], -np.real(y[1]) + 0 * y[0]])
    run = costate.Problem(loses, method="dopri5").integrate((0, 1), [1.0, 2.0], [0.5])
    assert run.derivatives == "differences", run.derivatives


def test_no_derivative_is_silently_zero():
    """a function or functional that loses the imaginary part of p, of one argument alone"""
    def loses_p(t, y, p):
        return -np.array([float(np.real(p[0]))]) * y
    run = costate.Problem(loses_p, method="dopri5", **SHARP).integrate((0, 1), [1.0], [2.0])
    assert run.derivatives == "differences", run.derivatives
    close(run.adjoint([1.0])[1], [-np.exp(-2)], 1e-5)

    def fills(t, y, p):
        out = np.empty(2)
        out[:] = hares(t, y, p)
        return out
    run = costate.Problem(fills, jac=jac, method="dopri5", **SHARP).integrate(SPAN, Y0, P0)
    fails(TypeError, "jac_p", run.adjoint, [1.0, 0.0])
    run = costate.Problem(hares, method="dopri5", **SHARP).integrate(SPAN, Y0, P0)
    fails(TypeError, "complex p", run.gradient, costate.Functional(end=lambda t, y, p: y[0] * float(p[3])))
    F = costate.Functional(end=lambda t, y, p: y[0] * p[3], end_y=lambda t, y, p: np.array([p[3], 0 * p[3]]))
    G = costate.Functional(end=lambda t, y, p: y[0] * p[3])
    close(run.gradient(F).p, run.gradient(G).p, 1e-13)


def test_functions_of_a_real_time():
    """t may be compared, and be an index, where no derivative with respect to it is wanted"""
    table = np.array([1.0, 0.5, 2.0, 1.0])
    run = costate.Problem(lambda t, y, p: -p[0] * table[int(t)] * y, method="dopri5").integrate((0, 3), [1.0], [0.3])
    assert run.derivatives == "complex step"
    g = run.gradient(costate.Functional(end=lambda t, y, p: y[0]))
    close(g.p, [-3.5 * np.exp(-0.3 * 3.5)], 1e-3)
    assert g.t0 is None and g.t1 is None


def test_hessian_of_an_autonomous_problem():
    """without jac_t; and where the functional depends on p directly"""
    def f(t, y, p):
        return hares(0 * t, y, p)
    F = costate.Functional(end=lambda t, y, p: y[0] * p[3] ** 2,
                           end_y=lambda t, y, p: np.array([p[3] ** 2, 0 * p[3]]),
                           end_p=lambda t, y, p: np.array([0, 0, 0, 2 * p[3] * y[0]]))
    problem = costate.Problem(f, jac=jac, jac_p=jac_p, method="dopri5", **SHARP)
    H = problem.hessp(F, SPAN, Y0, P0, vp=np.eye(4)).Hp
    close(H, H.T, 1e-10)
    e = 1e-5
    up, down = (problem.gradient(F, SPAN, Y0, P0 + s * e * np.eye(4)[3]).p for s in (1, -1))
    close(H[:, 3], (up - down) / (2 * e), 1e-5)
    lacks = costate.Functional(end=lambda t, y, p: y[0] * p[3], end_y=lambda t, y, p: np.array([p[3], 0 * p[3]]))
    fails(TypeError, "end_p", problem.hessp, lacks, SPAN, Y0, P0, vp=P0)
    fails(costate.CostateError, "give jac", costate.Problem(f, method="dopri5").hessp, F, SPAN, Y0, P0, vp=P0)
    fails(ValueError, "different numbers", problem.hessp, F, SPAN, Y0, P0, vp=np.eye(4), vy0=np.eye(2))


def test_the_goal_does_not_stay():
    """tolerances that gradient(tol=...) has found are not those of the next run"""
    problem = costate.Problem(hares, method="dopri5", rtol=1e-4, atol=1e-4)
    before = problem.integrate(SPAN, Y0, P0).y
    problem.gradient(costate.Functional(end=lambda t, y, p: y[0]), SPAN, Y0, P0, tol=1e-8)
    close(problem.integrate(SPAN, Y0, P0).y, before, 0)


def test_between_steps():
    """auto: states between steps are as accurate as those at their ends"""
    times = np.linspace(0, 10, 101)
    want = costate.Problem(hares, method="dopri5", rtol=1e-12, atol=1e-12).integrate((0, 10), Y0, P0, t_eval=times).at
    run = costate.Problem(hares, rtol=1e-8, atol=1e-8).integrate((0, 10), Y0, P0, t_eval=times)
    close(run.at, want, 1e-5)
    close(run(times), want, 1e-5)


def test_memory_has_a_gradient():
    problem = costate.Problem(lambda t, y, p, m: -m[0] * y, memory=1, method="dopri5", **SHARP, events=[
        costate.Event(times=[1.0], jump=lambda t, y, p, m: np.array([y[0], p[0] * m[0]]))])
    run = problem.integrate((0, 2), [1.0, 0.5], [3.0])
    by_y, by_p, by_m = run.adjoint([1.0])
    close(by_m, [-4 * np.exp(-2)], 1e-7)
    close(run.tangent(dm=[1.0]), by_m, 1e-11)


def test_events_and_memory():
    """a ball that bounces, its restitution in p, and the number of impacts in a memory variable"""
    def fall(t, y, p, m):
        return np.array([y[1], -p[0] + 0 * y[0]])
    ground = costate.Event(lambda t, y, p, m: np.array([y[0]]), direction=-1,
                           jump=lambda t, y, p, m: np.array([y[0], -p[1] * y[1], m[0] + 1]))
    run = costate.Problem(fall, events=[ground], memory=1, method="dopri5", **SHARP).integrate(
        (0, 2), [1.0, 0.0, 0.0], [9.81, 0.8])
    first = np.sqrt(2 / 9.81)
    assert run.m[0] == len(run.events) and abs(run.events[0][0] - first) < 1e-9 and run.events[0][1] == 0
    close(run.events[0][3][1], -0.8 * run.events[0][2][1], 1e-12)
    by_y, by_p, by_m = run.adjoint([1.0, 0.0])
    assert by_m.shape == (1,) and by_m[0] == 0
    e = 1e-6
    problem = costate.Problem(fall, events=[ground], memory=1, method="dopri5", **SHARP)
    up, down = (problem.integrate((0, 2), [1.0, 0.0, 0.0], [9.81, 0.8 + s * e]).y[0] for s in (1, -1))
    close(by_p[1], (up - down) / (2 * e), 1e-4)
    stop = costate.Problem(lambda t, y, p: [-y[0]], events=[costate.Event(lambda t, y, p: y - 0.5, terminal=True)])
    close(stop.integrate((0, 5), [1.0]).t, np.log(2), 1e-5)
    dose = costate.Problem(lambda t, y, p: [-y[0]], method="dopri5", **SHARP,
                           events=[costate.Event(times=[1.0], jump=lambda t, y, p: y + 1)])
    close(dose.integrate((0, 2), [1.0]).y[0], np.exp(-2) + np.exp(-1), 1e-8)


def test_stops():
    """y' = p0^2 u(t) + t, u = 1, -2, 5 between stops: y and all first derivatives, by complex steps and differences"""
    cuts, u = np.array([0.25, 0.5]), np.array([1.0, -2.0, 5.0])

    def rate(t, y, p):
        return np.array([p[0]**2 * u[np.searchsorted(cuts, np.real(t), side="right")] + t])

    def real_rate(t, y, p):
        return np.array([float(rate(t, y, p)[0])])
    F = costate.Functional(end=lambda t, y, p: y[0])
    for f, method, bound in ((rate, "dopri5", 1e-12), (rate, "sdirk4a", 1e-12), (rate, "radau2a", 1e-12),
                             (real_rate, "dopri5", 1e-7), (real_rate, "sdirk4a", 1e-7)):
        P = costate.Problem(f, method=method, stops=cuts[::-1], cost=lambda t, y, p: f(t, y, p), rtol=1e-4)
        run = P.integrate((0, 1), [0.0], [1.5])
        exact = 2.25 * (0.25 - 0.5 + 2.5)
        assert abs(run.y[0] - exact - 0.5) <= 1e-13 and abs(run.q[0] - run.y[0]) <= 1e-13
        g = run.gradient(F)
        assert np.allclose(g.p, 3 * 2.25, atol=bound, rtol=0) and run.events == [] and g.events.size == 0
        assert np.allclose(g.stops, [2.25 * 3, -2.25 * 7], atol=bound * 10, rtol=0), (method, g.stops)
        if g.t0 is not None:
            assert np.allclose([g.t0, g.t1], [-2.25, 2.25 * 5 + 1], atol=bound * 10, rtol=0)
        back = P.integrate((1, 0), run.y, [1.5])
        assert abs(back.y[0]) <= 1e-13
    at_once = costate.Problem(rate, method="dopri5", stops=cuts, events=[costate.Event(times=[0.5, 0.75])])
    run = at_once.integrate((0, 1), [0.0], [1.5])
    g = run.gradient(F)
    assert [e[:2] for e in run.events] == [(0.5, 0), (0.75, 0)]
    assert np.allclose(g.events, [-2.25 * 7, 0], atol=1e-12) and np.allclose(g.stops, [2.25 * 3, 0], atol=1e-12)
    fails(ValueError, "stops are finite times", costate.Problem, rate, stops=[0.5, np.inf])
    fails(costate.CostateError, "evaluates f outside of its steps",
          costate.Problem(rate, method="ros4", stops=[0.5]).integrate, (0, 1), [0.0], [1.5])


def test_dae():
    """Robertson's reaction with the conservation of mass as an equation"""
    def f(t, y, p):
        a, b = 0.04 * y[0] - 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
        return np.array([-a, a - b, y[0] + y[1] + y[2] - 1])
    run = costate.Problem(f, mass=np.diag([1.0, 1, 0]), method="radau2a", rtol=1e-7, atol=1e-10).integrate(
        (0, 40), [1.0, 0, 0])
    close(run.y, [0.71582687, 9.185534764e-06, 0.28416394], 1e-6)


def test_sparsity():
    """a chain of 20 cells: with a pattern, from a dense and a sparse Jacobian and from none; a singular mass matrix"""
    n, p = 20, np.array([5.0])

    def chain(t, y, p):
        left, right = np.concatenate([[1.0], y[:-1]]), np.concatenate([y[1:], y[-1:]])
        return p[0] * (left - 2 * y + right) - y ** 3

    def tridiagonal(t, y, p):
        J = p[0] * (np.eye(n, k=1) - 2 * np.eye(n) + np.eye(n, k=-1)) - 3 * np.diag(y ** 2)
        J[-1, -1] += p[0]
        return J
    pattern = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 1
    by_p = dict(jac_p=lambda t, y, p: ((chain(t, y, np.array([1.0])) + y ** 3)[:, None]))
    ways = {"dense": dict(jac=tridiagonal, **by_p), "none": {}}
    try:
        from scipy import sparse
        ways["sparse"] = dict(jac=lambda t, y, p: sparse.csr_matrix(tridiagonal(t, y, p)), **by_p)
    except ImportError:
        pass
    want = costate.Problem(chain, method="radau2a", **SHARP).integrate((0, 1), np.zeros(n), p)
    for way in ways.values():
        problem = costate.Problem(chain, method="radau2a", sparsity=pattern, **way, **SHARP)
        run = problem.integrate((0, 1), np.zeros(n), p)
        close(run.y, want.y, 1e-8)
        w = np.arange(n) / n
        close(run.adjoint(w)[1], want.adjoint(w)[1], 1e-7)
        close(run.adjoint(w)[0] @ np.ones(n), w @ run.tangent(np.ones(n)), 1e-11)
    mass = np.diag(np.where(np.arange(n) == n - 1, 0.0, 1.0))

    def ends(t, y, p):
        f = np.array(chain(t, y, p))
        f[-1] = y[-1] - y[-2]
        return f
    runs = [costate.Problem(ends, method="radau2a", mass=mass, sparsity=s, **SHARP).integrate((0, 1), np.zeros(n), p)
            for s in (None, pattern)]
    close(runs[0].y, runs[1].y, 1e-8)
    for name, words in (("sparsity", "`sparsity` is expected to have shape"), ("mass", "mass has shape")):
        wrong = costate.Problem(chain, **{name: np.eye(3)})
        fails(ValueError, words, wrong.integrate, (0, 1), np.zeros(n), p)
    if "sparse" in ways:
        outside = costate.Problem(chain, method="radau2a", sparsity=np.eye(n), **ways["sparse"])
        fails(ValueError, "jac of fun has entries outside sparsity", outside.integrate, (0, 1), np.zeros(n), p)


def test_shapes_and_types():
    problem = costate.Problem(lambda t, y, p: -y, method="dopri5", **SHARP)
    want = np.exp(-1.0)
    for y0 in (1.0, [1], np.array([1], dtype=np.int32), np.array([1], dtype=np.float32), np.ones(4)[::4]):
        close(problem.integrate((0, 1), y0).y, [want])
    wide = np.arange(12.0)[::2]
    close(problem.integrate((0, 1), wide).y, wide * want, 1e-8)
    for back in ([-1.0, -1.0], (-1, -1), np.array([-1, -1]), np.array([-1, -1], dtype=np.float32),
                 np.array([[-1.0, 0], [-1, 0]])[:, 0]):
        close(costate.Problem(lambda t, y, p: back, method="dopri5").integrate((0, 1), [1.0, 1]).y, [0.0, 0], 1e300)
    fails(ValueError, "shape (3,); expected (2,)", costate.Problem(lambda t, y, p: [1, 2, 3]).integrate, (0, 1), [1, 1])
    fails(TypeError, "complex", costate.Problem(lambda t, y, p: 1j * y).integrate, (0, 1), [1.0])
    fails(TypeError, "complex", problem.integrate, (0, 1), [1j])
    fails(TypeError, "real numbers", costate.Problem(lambda t, y, p: np.array(["a"])).integrate, (0, 1), [1.0])
    assert problem.integrate((0, 1), [[1, 2]]).y.shape == (1, 2)            # test_forms
    for name, matrix in (("jac of fun", np.ones(3)), ("jac_p of fun", np.ones(2)), ("jac_t of fun", np.ones(3))):
        given = dict(WAYS["jac"], **{name.split()[0]: matrix})
        run = costate.Problem(hares, method="dopri5", **given)
        fails(ValueError, name, lambda: run.integrate(SPAN, Y0, P0).gradient(
            costate.Functional(end=lambda t, y, p: y[0])))
    run = problem.integrate((0, 1), [1.0, 2.0])
    fails(ValueError, "dy0 has shape (3,)", run.tangent, [1, 2, 3])
    fails(ValueError, "columns", costate.Problem(hares).integrate(SPAN, Y0, P0).tangent, np.ones((2, 2)),
          np.ones((4, 3)))
    fails(ValueError, "w has shape", run.adjoint, [1.0])
    fails(IndexError, "index 2", costate.Problem(hares).integrate, SPAN, Y0, np.ones((2, 2)))   # f has it as it is
    fails(ValueError, "there is no method 'radau2'", costate.Problem, hares, method="radau2")
    fails(TypeError, "there is no option 'rtoll'", costate.Problem, hares, rtoll=1)
    fails(ValueError, "expected one of", costate.Problem(hares, storage="all").integrate, SPAN, Y0, P0)
    fails(ValueError, "not recorded", problem.integrate((0, 1), [1.0], record=False).tangent, [1.0])
    # what the library refuses of an argument is a ValueError, too
    error = fails(ValueError, "less than the one before", costate.Problem(
        hares, events=costate.Event(times=[2.0, 1.0])).integrate, SPAN, Y0, P0)
    assert isinstance(error, costate.CostateError) and error.status == "COSTATE_BAD_ARGUMENT"
    assert pickle.loads(pickle.dumps(error)).args == error.args
    fails(ValueError, "outside", run, 2.0)
    one = costate.Problem(hares, events=lambda t, y, p: y[0] - 1.5).integrate(SPAN, Y0, P0)
    assert len(one.events) > 0 and np.abs([before[0] - 1.5 for _, _, before, _ in one.events]).max() < 1e-6


def test_other_failures_are_no_value_errors():
    error = fails(costate.CostateError, "", costate.Problem(lambda t, y, p: y ** 2).integrate, (0, 2), [1.0])
    assert not isinstance(error, ValueError)


def test_non_finite():
    error = fails(costate.CostateError, "NaN", costate.Problem(lambda t, y, p: y * np.nan).integrate, (0, 1), [1.0])
    assert error.status == "COSTATE_NOT_FINITE" and error.t == 0
    error = fails(costate.CostateError, "", costate.Problem(lambda t, y, p: y ** 2).integrate, (0, 2), [1.0])
    assert 0.9 < error.t < 1.1


class Mine(Exception):
    pass


def test_exceptions_at_any_call():
    """what a function raises comes through with its traceback, whichever call it is, and the problem goes on"""
    calls = [0, 0]

    def raises(t, y, p):
        calls[0] += 1
        if calls[0] == calls[1]:
            raise Mine("here")
        return hares(t, y, p)
    problem = costate.Problem(raises, method="dopri5", jac=jac, jac_p=jac_p, jac_t=jac_t)
    whole = problem.integrate(SPAN, Y0, P0).y
    count = calls[0]
    for k in list(range(1, 12)) + [count // 2, count]:
        calls[:] = [0, k]
        try:
            problem.integrate(SPAN, Y0, P0)
            raise AssertionError(f"call {k} raised nothing")
        except Mine as error:
            frames, at = [], error.__traceback__
            while at:
                frames.append(at.tb_frame.f_code.co_name)
                at = at.tb_next
            assert frames[-1] == "raises", frames
        calls[1] = 0
        close(problem.integrate(SPAN, Y0, P0).y, whole, 0)

    raising = []

    def jac_raises(t, y, p):
        if raising:
            raise Mine("in jac")
        return jac(t, y, p)
    run = costate.Problem(hares, method="dopri5", jac=jac_raises, jac_p=jac_p, jac_t=jac_t).integrate(SPAN, Y0, P0)
    raising.append(1)
    fails(Mine, "in jac", run.adjoint, [1.0, 0])
    fails(Mine, "in jac", run.tangent, [1.0, 0])
    guarded = costate.Problem(hares, events=[costate.Event(lambda t, y, p: jac_event())])
    fails(Mine, "event", guarded.integrate, SPAN, Y0, P0)


def jac_event():
    raise Mine("event")


def test_on_step():
    seen = []
    problem = costate.Problem(lambda t, y, p: -y, method="dopri5")
    run = problem.integrate((0, 5), [1.0, 2.0], on_step=lambda s: seen.append((s.start, s.end, s(s.end, 2)[0])) or
                            len(seen) == 4)
    assert run.stopped and len(seen) == 4 and run.t == seen[-1][1] and run.y[0] == seen[-1][2]
    assert not problem.integrate((0, 5), [1.0, 2.0]).stopped
    fails(Mine, "in on_step", problem.integrate, (0, 1), [1.0], on_step=lambda s: raise_mine())


def raise_mine():
    raise Mine("in on_step")


def test_interrupt():
    """Ctrl-C ends a run in Python functions, and the problem can be used again"""
    problem = costate.Problem(lambda t, y, p: np.array([y[1], -y[0]]), method="dopri5", rtol=1e-10, atol=1e-10,
                              max_steps=10 ** 9)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    began = time.perf_counter()
    fails(KeyboardInterrupt, "", problem.integrate, (0, 1e7), [1.0, 0], record=False)
    assert time.perf_counter() - began < 2
    close(problem.integrate((0, 1), [1.0, 0]).y, [np.cos(1), -np.sin(1)], 1e-8)


def test_threads():
    """one problem in several threads, each with its own exceptions"""
    problem = costate.Problem(lambda t, y, p: -p[0] * y if p[0] > 0 else 1 / 0, method="dopri5", **SHARP)
    found = {}

    def work(k):
        try:
            for _ in range(20):
                found[k] = problem.integrate((0, 1), [1.0], [float(k)]).y[0]
        except ZeroDivisionError as error:
            found[k] = error
    threads = [threading.Thread(target=work, args=(k,)) for k in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert isinstance(found[0], ZeroDivisionError)
    close([found[k] for k in range(1, 5)], np.exp(-np.arange(1.0, 5)), 1e-8)


def test_results_outlive_their_problem():
    run = costate.Problem(hares, method="dopri5").integrate(SPAN, Y0, P0)
    gc.collect()
    assert np.all(np.isfinite(run.adjoint([1.0, 0])[1])) and np.all(np.isfinite(run(1.0)))


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_nothing_leaks():
    """many solves, problems, and solves that fail"""
    problem = costate.Problem(lambda t, y, p: -y, method="rk4", controller="fixed", h0=0.5)
    many = 100000 if os.environ.get("COSTATE_TESTS") == "all" else 5000

    def some(count):
        for k in range(count):
            run = problem.integrate((0, 1), [1.0])
            if k % 50 == 0:
                run.adjoint([1.0])
                costate.Problem(hares, method="radau2a", **WAYS["jac"]).integrate((0, 0.1), Y0, P0)
                try:
                    costate.Problem(lambda t, y, p: 1 / 0).integrate((0, 1), [1.0])
                except ZeroDivisionError:
                    pass
    some(2000)
    gc.collect()
    before = peak()
    some(many)
    gc.collect()
    grown = peak() - before
    print(f"           {many} solves: the peak of memory grew by {grown} kB")
    assert grown < 3000, grown


def test_options():
    for storage in ("stages", "states", "checkpoints"):
        run = costate.Problem(hares, **WAYS["jac"], method="dopri5", storage=storage, checkpoints=20,
                              **SHARP).integrate(SPAN, Y0, P0)
        close(run.adjoint([1.0, 0])[1], costate.Problem(hares, **WAYS["jac"], method="dopri5", **SHARP).integrate(
            SPAN, Y0, P0).adjoint([1.0, 0])[1], 1e-12)
    close(costate.Problem(hares, method="dopri5", rtol=[1e-9, 1e-9], atol=[1e-9, 1e-10]).integrate(SPAN, Y0, P0).y,
          costate.Problem(hares, method="dopri5", **SHARP).integrate(SPAN, Y0, P0).y, 1e-7)
    fails(ValueError, "`atol` has wrong shape", costate.Problem(hares, atol=[1, 2, 3]).integrate, SPAN, Y0, P0)
    names = {m["name"] for m in costate.methods()}
    assert {"dopri5", "radau2a", "auto"} <= names and len(names) > 80


def test_reverse_and_dense():
    run = costate.Problem(hares, method="dopri5", **SHARP).integrate(SPAN, Y0, P0)
    back = costate.Problem(hares, method="dopri5", **SHARP).integrate(SPAN[::-1], run.y, P0, t_eval=[2.5, 0.5, 0.0])
    close(back.y, Y0, 1e-7)
    close(back.at[:, :2], run([2.5, 0.5]), 1e-6)
    close(back.at[:, 2], back.y, 1e-15)
    starts, lengths = run.steps
    close(starts[1:], starts[:-1] + lengths[:-1], 1e-14)
    fails(costate.CostateError, "outside", run, 5.0)
    still = costate.Problem(hares, method="dopri5").integrate((1, 1), Y0, P0, t_eval=[1.0])
    close(still.y, Y0, 0)
    close(still.at[:, 0], Y0, 0)


def test_times_of_output():
    """outside the run or in another order they are refused; after an event that ends the run they are NaN"""
    problem = costate.Problem(lambda t, y, p: -y, events=[costate.Event(lambda t, y, p: y - 0.5, terminal=True)],
                              method="dopri5", **SHARP)
    for span in ((0, 0.5), (0.5, 0)):
        for wrong in ([0.1, 0.6], [-1e-9], [np.nan]):
            fails(ValueError, "not between", problem.integrate, span, [1.0], t_eval=wrong)
        fails(ValueError, "comes after", problem.integrate, span, [1.0], t_eval=np.linspace(*span, 3)[::-1])
        close(problem.integrate(span, [1.0], t_eval=np.repeat(np.linspace(*span, 3), 2)).at[0, ::2],
              np.exp(-np.linspace(*span, 3) + span[0]), 1e-7)
    late = problem.integrate((0, 3), [1.0], t_eval=[0.5, 1.0]).at[0]
    close(late[0], np.exp(-0.5), 1e-7)
    assert np.isnan(late[1])


def test_events_of_a_dae():
    """the state after the last event at a time satisfies the constraint z = y^2"""
    def f(t, y, p):
        return np.array([-y[0], y[1] - y[0] ** 2])
    doses = [costate.Event(times=times, jump=lambda t, y, p: np.array([y[0] + 1, y[1]])) for times in ([0.5, 1], [0.5])]
    stop = costate.Event(lambda t, y, p: y[:1] - 0.5, direction=-1, terminal=True)
    run = costate.Problem(f, mass=np.diag([1.0, 0]), events=[*doses, stop], method="radau2a", **SHARP).integrate(
        (0, 9), [1.0, 1.0])
    assert len(run.events) == 4
    for k in (1, 2, 3):
        after = run.events[k][3]
        close(after[1], after[0] ** 2, 1e-8)
    close(run.events[2][2][1], run.events[2][2][0] ** 2, 1e-8)


def test_words_of_messages():
    """what is missing is called as it is given in Python"""
    problem = costate.Problem(hares, method="rodas4")
    error = fails(costate.CostateError, "give jac, jac_p", problem.integrate(SPAN, Y0, P0).adjoint, [1.0, 0])
    assert "rhs" not in str(error) and "tangent2" not in str(error)
    error = fails(costate.CostateError, "max_steps", costate.Problem(hares, max_steps=2).integrate, SPAN, Y0, P0)
    assert "options." not in str(error)


def test_tolerances_of_zero():
    """0 is no tolerance, and not the library's default: a state that stays 0 is no NaN of f"""
    def f(t, y, p):
        return np.array([-y[0], 0 * y[0], y[0] - y[1]])
    for atol in (0, [0, 0, 0], [1e-9, 0, 1e-9]):
        run = costate.Problem(f, method="dopri5", rtol=1e-9, atol=atol).integrate((0, 1), [1.0, 0, 0])
        close(run.y, [np.exp(-1.0), 0, 1 - np.exp(-1)], 1e-7)
    run = costate.Problem(lambda t, y, p: -y, method="dopri5", rtol=0, atol=1e-9).integrate((0, 1), [1.0])
    close(run.y, [np.exp(-1.0)], 1e-7)


def test_relations_and_modes():
    """functions receive the values that a step keeps, and the mode: a block with friction, a thermostat"""
    def block(t, y, p, now):
        push = p[1] if now.relation[0] else -p[1]
        return np.array([y[1], -p[0]*y[0] - push])

    def way(t, y, p, now):
        return np.array([y[1] if now.relation[0] else -y[1]])

    problem = costate.Problem(block, cost=way, relations=[lambda t, y, p, now: y[1]], method="dopri853", rtol=1e-11,
                      atol=1e-11)
    run = problem.integrate((0, np.pi), [1.0, 0.0], [4.0, 0.25])
    # half swings about -mu/k and mu/k, each 2 mu/k shorter: 1 -> -(1 - 2 mu/k) -> 1 - 4 mu/k
    assert np.allclose(run.y, [0.75, 0], atol=1e-9) and np.allclose(run.q, [1.875 + 1.625], atol=1e-9), run.q
    assert len(run.relations) == 1 and abs(run.relations[0][0] - np.pi / 2) < 1e-9 and run.events == []
    run = problem.integrate((0, 3), [1.0, 0.0], [4.0, 0.25])
    F = costate.Functional(end=lambda t, y, p: y[2], end_y=lambda t, y, p: np.array([0, 0, 1.0]))
    g = run.gradient(F)
    e = 1e-5
    for i in range(2):
        p = np.array([4.0, 0.25])
        p[i] += e
        up = problem.integrate((0, 3), [1.0, 0.0], p).q[0]
        p[i] -= 2 * e
        down = problem.integrate((0, 3), [1.0, 0.0], p).q[0]
        assert abs(g.p[i] - (up - down) / (2 * e)) < 1e-7, (i, g.p)

    def room(t, y, p, now):
        return -p[0] * (y - 5) + (p[1] if now.mode else 0)

    events = [costate.Event(lambda t, y, p, now: y[0] - p[2], direction=-1, active=0, to=1),
              costate.Event(lambda t, y, p, now: y[0] - p[3], direction=1, active=1, to=0)]
    heated = costate.Problem(room, events=events, method="dopri853", rtol=1e-11, atol=1e-11)
    run = heated.integrate((0, 10), [18.0], [0.1, 3.0, 18.0, 20.0])
    # heating at once: 35 - 17 exp(-0.1 t) to 20, then 5 + 15 exp(-0.1 t) to 18, and so on
    heat, cool = 10 * np.log(17 / 15), 10 * np.log(15 / 13)
    assert [event[1] for event in run.events] == [0, 1] * 4, run.events
    t = np.array([event[0] for event in run.events])
    assert np.allclose(t, [0, *np.cumsum([heat, cool] * 10)][:len(t)], atol=1e-8), t
    fails(ValueError, "modes are 0, 1, 2", costate.Event, times=[1.0], to=-1)
    decay = costate.Model("state y = 1\ny' = -y")
    fails(TypeError, "relations", costate.Problem, decay, relations=[lambda t, y, p, now: 1.0])


def test_what_a_sweep_says_of_its_gradient():
    """a relaxation oscillation, whose phase is wrong at 1e-4; f is evaluated at other times where it is autonomous"""
    def oscillation(t, y, p):
        return np.array([y[1], 5 * (1 - y[0] * y[0]) * y[1] - y[0]])
    for rtol, autonomous, wrong in ((1e-4, 1, True), (1e-8, 1, False), (1e-4, 0, False)):
        problem = costate.Problem(oscillation, method="dopri5", rtol=rtol, atol=rtol, autonomous=autonomous)
        run = problem.integrate((0.0, 50.0), [2.0, 0.0])
        assert run.gradient_error is None
        run.adjoint([1.0, 0.0])
        assert (run.gradient_error > 0.1) == wrong == ("relative error of the gradient" in run.message), run.message


run_all(globals())
