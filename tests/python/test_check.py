"""test_check.py - Problem.check: a review of functions, of a compiled model, of runs that fail; exceptions."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                              # noqa: E402

import costate                                  # noqa: E402
from cases import fails, run_all                # noqa: E402

SPAN, Y0, P0 = (0.0, 2.0), [1.0, 0.1], [0.7]
LIMIT = 0.4


def f(t, y, p):
    return np.array([-p[0] * y[0] * (1 + y[1]), p[0] * y[0] - 0.5 * y[1]])


def jac(t, y, p):
    return np.array([[-p[0] * (1 + y[1]), -p[0] * y[0]], [p[0] + 0 * y[0], -0.5 + 0 * y[0]]])


def jac_p(t, y, p):
    return np.array([[-y[0] * (1 + y[1])], [y[0]]])


def jac_t(t, y, p):
    return np.array([0 * y[0], 0 * y[0]])


def late(t, y, p):
    """right at the start"""
    return jac(t, y, p) * (1.01 if np.real(y[1]) > LIMIT else 1)


def topics(review, severity):
    return [found.topic for found in review.findings if found.severity == severity]


def test_right_functions():
    for given in ({}, dict(jac=jac, jac_p=jac_p, jac_t=jac_t)):
        for method in ("auto", "dopri5", "radau2a"):
            review = costate.Problem(f, method=method, rtol=1e-7, atol=1e-9, **given).check(SPAN, Y0, P0)
            assert review.ok and review.status == "COSTATE_OK", review
            assert not topics(review, "wrong") + topics(review, "remark"), review
            assert {"run", "callbacks", "transposes", "remainders", "accuracy"} <= set(topics(review, "right")), review
            assert str(review).startswith("Review of a run with ") and "Nothing is wrong." in str(review)


def test_without_second_derivatives():
    """jac alone does not tell how f changes in t: a remark, and the Hessian of the problem still says so"""
    for given in (dict(jac=jac, jac_p=jac_p), dict(jac=jac, jac_p=jac_p, autonomous=1)):
        problem = costate.Problem(f, rtol=1e-7, atol=1e-9, **given)
        review = problem.check(SPAN, Y0, P0)
        assert review.ok and "fun lacks jac_t" in str(review), review
        assert topics(review, "remark") == ["callbacks"] and review.findings[-1].severity == "remark", review
        assert not problem.trust.unasked


def test_a_wrong_derivative_is_found():
    problem = costate.Problem(f, jac=late, jac_p=jac_p, jac_t=jac_t, method="dopri5")
    review = problem.check(SPAN, Y0, P0)
    assert not review.ok and review.status == "COSTATE_CHECK_FAILED"
    found = review.findings[0]
    assert (found.severity, found.topic) == ("wrong", "callbacks") and "WRONG" in found.text, review
    assert 0 < found.t <= 2 and found.number > 1e-3 and found.component is None
    assert repr(found) == f"wrong, callbacks: {found.text}"
    assert "remainders" in topics(review, "wrong")


def test_atol_and_a_small_component():
    problem = costate.Problem(lambda t, y, p: [-y[0], 1e-9 * y[0] - y[1]], rtol=1e-6, atol=1e-6, method="dopri5")
    review = problem.check(SPAN, [1.0, 3e-9], [])
    found, = [x for x in review.findings if x.topic == "tolerances"]
    assert review.ok and found.severity == "remark" and found.component == 1 and found.number == 3e-9, review
    assert "atol is 1e-06 for y[1], whose largest value is 3e-09" in found.text


def test_models_and_events():
    model = costate.Model("parameter k = 0.5\nstate y = 1\ny' = -k*y*y\n")
    review = costate.Problem(model, method="dopri5").check(SPAN)
    assert review.ok and "Hessian" in topics(review, "right"), review
    event = costate.Event(lambda t, y, p: y[0] - 0.5, direction=-1, terminal=True)
    review = costate.Problem(f, events=[event], rtol=1e-7, atol=1e-9).check(SPAN, Y0, P0)
    assert review.ok and "events" in topics(review, "right"), review


def test_a_run_that_fails():
    review = costate.Problem(lambda t, y, p: y * y, method="dopri5").check((0.0, 2.0), [1.0])
    assert not review.ok and review.status in ("COSTATE_STEP_TOO_SMALL", "COSTATE_NOT_FINITE"), review
    assert topics(review, "wrong") == ["run"] and "callbacks" in topics(review, "right"), review


def test_exceptions():
    def raises(t, y, p):
        if t > 1:
            raise ZeroDivisionError("of f")
        return -y
    fails(ZeroDivisionError, "of f", lambda: costate.Problem(raises, method="dopri5").check(SPAN, [1.0]))
    fails(ValueError, "shape of y0", lambda: costate.Problem(lambda t, y, p: y.T).check(SPAN, [[1.0, 2.0]]))
    fails(costate.CostateError, "y holds", lambda: costate.Problem(f).check(SPAN, [np.nan, 1.0], P0))


def test_the_problem_is_as_before():
    problem = costate.Problem(f, method="radau2a", rtol=1e-7)
    run = problem.integrate(SPAN, Y0, P0)
    before = run.adjoint([1.0, 2.0])
    problem.check(SPAN, Y0, P0)
    again = run.adjoint([1.0, 2.0])
    assert all((a == b).all() for a, b in zip(before, again))
    assert (problem.integrate(SPAN, Y0, P0).y == run.y).all()


run_all(globals())
