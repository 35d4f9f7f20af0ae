"""Maps after each step, bounds, projection onto invariants and relaxation, against closed forms of the steps."""
import os
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                              # noqa: E402

import costate                                  # noqa: E402
from cases import fails, run_all                # noqa: E402
from common import close                        # noqa: E402

STEPS, H = 8, 0.125
FIXED = dict(controller="fixed", h0=H, method="rk4")
EULER = dict(controller="fixed", h0=H, method="euler")


def transposes(run, n, np_):
    dy, dp, w = np.cos(np.arange(n) + 1.0), np.sin(np.arange(np_) + 2.0), np.cos(3 * np.arange(n) + 0.5)
    by_y, by_p = run.adjoint(w)
    close(w @ run.tangent(dy, dp), by_y @ dy + by_p @ dp, 1e-12)


def grow(t, y, p):
    """each step of any method adds h p0"""
    return p[:1] + 0 * y


def damp(t, y, p):
    """... after which y0 is multiplied by p1"""
    return p[1] * y


def damped(y0, p):
    """y after STEPS steps, and its derivatives with respect to y0, p0, p1"""
    y, by = y0, np.array([1.0, 0.0, 0.0])
    for _ in range(STEPS):
        y, by = y + H * p[0], by + np.array([0.0, H, 0.0])
        y, by = p[1] * y, p[1] * by + np.array([0.0, 0.0, y])
    return y, by


def test_a_function_after_each_step():
    p = np.array([0.7, 0.9])
    y, by = damped(1.5, p)
    ways = {"traced": damp, "given": costate.Map(damp, jac=lambda t, y, p: p[1] * np.eye(1) + 0 * y[0],
                                                 jac_p=lambda t, y, p: np.array([[0 * y[0], y[0]]]), jac_t=[0.0])}
    for name, f in ways.items():
        run = costate.Problem(grow, after_step=f, **FIXED).integrate((0.0, 1.0), [1.5], p)
        close(run.y, [y], 1e-13)
        close(np.append(*run.adjoint([1.0])), by, 1e-12)
        transposes(run, 1, 2)
        assert run.stats["corrections"] == STEPS, run.stats
        G = costate.Functional(end=lambda t, y, p: y[0], end_y=lambda t, y, p: np.ones(1) + 0 * y)
        e, d = 1e-6, np.array([0.3, 0.4])
        by_differences = (damped(1.5, p + e * d)[1] - damped(1.5, p - e * d)[1])[1:] / (2 * e)
        close(run.hessp(G, vp=d).Hp, by_differences, 1e-8)
    untraced = costate.Problem(grow, after_step=damp, trace=False, **FIXED).integrate((0.0, 1.0), [1.5], p)
    assert untraced.derivatives == "complex step"
    assert untraced.derivatives.by_map["after_step"] == {"y": "complex step", "p": "complex step"}
    close(np.append(*untraced.adjoint([1.0])), by, 1e-12)


def test_it_also_acts_at_the_start():
    p = np.array([0.7, 0.9])
    for trace in ("auto", False):
        run = costate.Problem(grow, after_step=costate.AfterStep(damp, at_start=True), trace=trace, **FIXED).integrate(
            (0.0, 1.0), [1.5], p)
        y, by = damped(0.9 * 1.5, p)
        close(run.y, [y], 1e-13)
        close(run.adjoint([1.0])[0], [0.9 * by[0]], 1e-12)
        close(run.adjoint([1.0])[1], by[1:] + by[0] * np.array([0.0, 1.5]), 1e-12)


def test_what_the_map_reads_may_change():
    factor = [0.5]
    problem = costate.Problem(grow, after_step=lambda t, y, p: factor[0] * y, **FIXED)
    first = problem.integrate((0.0, 1.0), [1.0], [0.0])
    factor[0] = 1.0
    second = problem.integrate((0.0, 1.0), [1.0], [0.0])
    close([first.y[0], second.y[0]], [0.5 ** STEPS, 1.0], 1e-14)


def test_complex_steps_that_are_wrong():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = costate.Problem(grow, after_step=lambda t, y, p: abs(p[1]) * y, trace=False, **FIXED).integrate(
            (0.0, 1.0), [1.5], [0.7, 0.9])
        found = np.append(*run.adjoint([1.0]))
    assert [w.category for w in caught] == [costate.DerivativeWarning] and "after_step" in str(caught[0].message)
    close(found, damped(1.5, [0.7, 0.9])[1], 1e-7)


def test_a_map_after_steps_of_a_model():
    model = costate.Model("model grow\nparameter a = 0.7, b = 0.9\nstate y = 1.5\ny' = a\n", compiled=False)
    run = costate.Problem(model, after_step=damp, **FIXED).integrate((0.0, 1.0), [1.5])
    y, by = damped(1.5, [0.7, 0.9])
    close(run.y, [y], 1e-13)
    close(np.append(*run.adjoint([1.0])), by, 1e-12)


def test_bounds():
    """a tank runs empty, and is filled after t = 1"""
    def tank(t, y, p):
        return np.array([-p[0], p[0]])
    for bounds in (costate.Bounds(0.0), costate.Bounds([0.0, -np.inf], [np.inf, np.inf])):
        run = costate.Problem(tank, after_step=bounds, **FIXED).integrate((0.0, 1.0), [0.3, 0.0], [1.0])
        close(run.y, [0.0, 1.0], 1e-14)
        close(run.tangent(dp=[1.0]), [0.0, 1.0], 1e-14)
        close(run.adjoint([1.0, 1.0])[0], [0.0, 1.0], 1e-14)
        transposes(run, 2, 1)
        assert run.stats["corrections"] == 6
    kept = costate.Problem(tank, after_step=costate.Bounds(high=0.25, at_start=True), **FIXED).integrate(
        (0.0, 0.125), [0.3, 0.3], [1.0])
    close(kept.y, [0.125, 0.25], 1e-14)
    close(kept.tangent(dy0=np.eye(2)), np.zeros((2, 2)), 1e-14)
    fails(costate.CostateError, "low", costate.Problem(tank, after_step=costate.Bounds(1.0, 0.0), **FIXED).integrate,
          (0.0, 1.0), [0.3, 0.0], [1.0])
    fails(ValueError, "expected () or (2,)", costate.Problem(tank, after_step=costate.Bounds(np.zeros(3)),
                                                             **FIXED).integrate, (0.0, 1.0), [0.3, 0.0], [1.0])


def turn(t, y, p):
    return p[0] * np.array([-y[1], y[0]])


def radius(t, y, p):
    return y[0] ** 2 + y[1] ** 2 - p[1] ** 2


def angle(p):
    """of Euler's steps on the circle, and its derivative with respect to p0"""
    return STEPS * np.arctan(H * p), STEPS * H / (1 + (H * p) ** 2)


def test_projection_onto_a_circle():
    """each step of Euler's method turns by atan(h p0), and is then moved along the radius"""
    p = np.array([1.2, 2.0])
    a, by_p0 = angle(p[0])
    given = costate.Map(radius, jac=lambda t, y, p: np.array([2 * y]), jac_p=lambda t, y, p: np.array(
        [[0 * p[0], -2 * p[1]]]), jac_t=[0.0])
    for g in (radius, given):
        run = costate.Problem(turn, after_step=costate.Projection(g), **EULER).integrate((0.0, 1.0), [2.0, 0.0], p)
        close(run.y, 2 * np.array([np.cos(a), np.sin(a)]), 1e-13)
        J = run.tangent(dp=np.eye(2))
        close(J[:, 0], 2 * by_p0 * np.array([-np.sin(a), np.cos(a)]), 1e-12)
        close(J[:, 1], run.y / 2, 1e-12)
        transposes(run, 2, 2)
    G = costate.Functional(end=lambda t, y, p: y[0], end_y=lambda t, y, p: np.array([1 + 0 * y[0], 0 * y[1]]))
    traced = costate.Problem(turn, after_step=costate.Projection(radius), **EULER)
    H_ = traced.hessp(G, (0.0, 1.0), [2.0, 0.0], p, vp=np.eye(2)).Hp
    close(H_, H_.T, 1e-10)
    close(H_[0, 1], -by_p0 * np.sin(a), 1e-11)
    untraced = costate.Problem(turn, after_step=costate.Projection(radius), trace=False, **EULER)
    close(untraced.integrate((0.0, 1.0), [2.0, 0.0], p).y, run.y, 1e-14)
    fails(costate.CostateError, "a function that can be traced", untraced.integrate((0.0, 1.0), [2.0, 0.0], p).adjoint,
          [1.0, 0.0])


def test_projection_keeps_what_is_at_the_start():
    p = np.array([1.2])
    a, by_p0 = angle(p[0])
    problem = costate.Problem(turn, after_step=costate.Projection(lambda t, y, p: y[0] ** 2 + y[1] ** 2, keep=True),
                              **EULER)
    run = problem.integrate((0.0, 1.0), [3.0, 0.0], p)
    close(run.y, 3 * np.array([np.cos(a), np.sin(a)]), 1e-13)
    close(run.m, [9.0], 1e-15)
    R = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    close(run.tangent(np.eye(2)), R, 1e-12)
    by_y, by_p = run.adjoint([1.0, 0.0])
    close(by_y, R[0], 1e-12)
    close(by_p, [-3 * np.sin(a) * by_p0], 1e-12)
    transposes(run, 2, 1)
    many = problem.ensemble((0.0, 1.0), [[3.0, 0.0], [1.0, 0.0]], p, w=[1.0, 0.0])
    close(many.y[0], run.y, 1e-14)
    close(many.y0[0], by_y, 1e-12)
    jump = costate.Event(times=[0.5], jump=lambda t, y, p: y / 2)
    kept = costate.Problem(turn, events=[jump], after_step=costate.Projection(radius, keep=True), **EULER)
    fails(ValueError, "jumps of events", kept.integrate, (0.0, 1.0), [2.0, 0.0], [1.0, 2.0])
    fails(ValueError, "at_start", costate.Projection, radius, keep=True, at_start=True)


def test_projection_with_weights_and_at_the_start():
    """a sum is kept by moving the second component alone"""
    total = costate.Projection(lambda t, y, p: y[0] + y[1] - 1.0, move=[0.0, 1.0], at_start=True, linear=True)
    run = costate.Problem(lambda t, y, p: np.array([p[0] + 0 * y[0], 0 * y[1]]), after_step=total, **EULER).integrate(
        (0.0, 1.0), [0.25, 7.0], [0.5])
    close(run.y, [0.75, 0.25], 1e-14)
    close(run.tangent(dp=[1.0]), [1.0, -1.0], 1e-14)
    transposes(run, 2, 1)


def test_relaxation():
    """the energy of an oscillator at the ends of steps, and the derivatives"""
    kept = costate.Relaxation(lambda t, y, p: (y[0] ** 2 + y[1] ** 2) / 2, keep=True)
    problem = costate.Problem(turn, after_step=kept, **FIXED)
    run = problem.integrate((0.0, 1.0), [1.0, 0.0], [1.2], dense=True)
    energy = (run.steps_y ** 2).sum(axis=0) / 2
    close(energy[:-1], np.full(len(energy) - 1, 0.5), 1e-14)
    plain = costate.Problem(turn, **FIXED).integrate((0.0, 1.0), [1.0, 0.0], [1.2], dense=True)
    assert abs((plain.steps_y[:, -2] ** 2).sum() / 2 - 0.5) > 1e-8
    close(run.y, [np.cos(1.2), np.sin(1.2)], 1e-4)
    transposes(run, 2, 1)
    e = 1e-6
    up, down = (problem.integrate((0.0, 1.0), [1.0, 0.0], [1.2 + s * e]).y for s in (1, -1))
    close(run.tangent(dp=[1.0]), (up - down) / (2 * e), 1e-7)


def test_estimated_errors_and_reviews():
    F, p = costate.Functional(end=lambda t, y, p: y[0]), np.array([1.2, 1.0])
    for after in (costate.Projection(radius), costate.Projection(radius, keep=True), costate.Bounds(-5.0, 5.0)):
        problem = costate.Problem(turn, after_step=after, method="dopri5", rtol=1e-6, atol=1e-6)
        rough = problem.gradient(F, (0.0, 1.0), [1.0, 0.0], p, estimate=True)
        true = -np.sin(1.2) - rough.p[0]
        assert abs(rough.error.p[0] - true) < 0.1 * abs(true), (rough.error.p, true)
        close(problem.gradient(F, (0.0, 1.0), [1.0, 0.0], p, tol=1e-8).p[0], -np.sin(1.2), 1e-7)
        assert problem.check((0.0, 1.0), [1.0, 0.0], p).ok


def test_forms():
    """y of any shape, p as a dict"""
    for after in (costate.Bounds(low=np.zeros((1, 2))), costate.AfterStep(lambda t, y, p: np.maximum(y, p["least"])),
                  costate.Projection(lambda t, y, p: y[0, 1] - p["least"], move=[0, 1.0], linear=True)):
        run = costate.Problem(lambda t, y, p: p["rate"] * np.ones((1, 2)), after_step=after, **FIXED).integrate(
            (0.0, 1.0), np.array([[2.0, 0.5]]), {"rate": -1.0, "least": 0.0})
        close(run.y, [[1.0, 0.0]], 1e-14)
        by_y, by_p = run.adjoint(np.ones((1, 2)))
        close(by_y, [[1.0, 0.0]], 1e-14)
        close(by_p["rate"], 1.0, 1e-14)


def test_refusals():
    fails(TypeError, "expected a function", costate.Problem, grow, after_step=3)
    fails(ValueError, "(2,)", costate.Problem(grow, after_step=lambda t, y, p: np.ones(2), **FIXED).integrate,
          (0.0, 1.0), [1.0], [1.0, 1.0])
    many = costate.Problem(turn, after_step=costate.Projection(lambda t, y, p: np.zeros(9)), **EULER)
    fails(costate.CostateError, "count = 9", many.integrate, (0.0, 1.0), [1.0, 0.0], [1.0])


run_all(globals())
