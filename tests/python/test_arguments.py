"""test_arguments.py - functions may change their arguments in place: they receive copies, and results are right."""
import os
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir))
sys.path.insert(0, os.path.join(ROOT, "tests"))

import numpy as np                              # noqa: E402

import costate                                  # noqa: E402
from cases import run_all                       # noqa: E402

Y0, P = np.array([1.0, 0.5]), np.array([1.3, 0.7])
SHARP = dict(rtol=1e-10, atol=1e-12)


def careless(f):
    """the same function, which then overwrites all that it received"""
    def called(*at):
        found = f(*at)
        found = tuple(map(np.array, found)) if isinstance(found, tuple) else np.array(found)
        for a in at:
            if isinstance(a, np.ndarray):
                a *= 3.0
        return found
    return called


def rhs(t, y, p):
    return np.array([-p[0] * y[0] * y[1], p[1] * np.sin(y[0]) - y[1]])


def jac(t, y, p):
    return np.array([[-p[0] * y[1], -p[0] * y[0]], [p[1] * np.cos(y[0]), -1.0]])


def jac_p(t, y, p):
    return np.array([[-y[0] * y[1], 0.0], [0.0, np.sin(y[0])]])


def jvp(t, y, p, dt, dy, dp):
    return jac(t, y, p) @ dy + jac_p(t, y, p) @ dp


def vjp(t, y, p, w):
    return w @ jac(t, y, p), w @ jac_p(t, y, p), 0.0 * t


def hvp(t, y, p, dt, dy, dp, w):
    step = 1e-30
    moved = t + 1j * step * dt, y + 1j * step * dy, p + 1j * step * dp
    return tuple(np.imag(w @ f(*moved)) / step for f in (jac, jac_p)) + (0.0,)


def results(change, given_ones, **more):
    """a run with everything that calls functions, and its derivatives, as one array"""
    given = {name: change(f) for name, f in given_ones.items()}
    guard, jump = (change(f) for f in (lambda t, y, p: y[0] - 0.7 * p[1], lambda t, y, p: y * 1.1 + 0.01 * p))
    event = costate.Event(guard, jump=jump, direction=-1)
    cost = change(lambda t, y, p: y[0] ** 2 * p[0])
    F = costate.Functional(change(lambda t, y, p: y[0] * y[1] * p[0] + y[2]), times=[0.4],
                           term=change(lambda t, y: y[0] ** 3), **({"trace": False} if more else {}))
    problem = costate.Problem(costate.Map(change(rhs), **given), cost=cost, events=[event], **SHARP, **more)
    run = problem.integrate((0, 1), Y0, P)
    g = run.gradient(F)
    assert np.array_equal(Y0, [1.0, 0.5]) and np.array_equal(P, [1.3, 0.7])
    out = [run.y, run.q, [g.value], g.y0, g.p, run.tangent(dp=[1.0, 2.0])]
    if "hvp" in given_ones:
        plain = costate.Problem(costate.Map(change(rhs), **given), **SHARP).integrate((0, 1), Y0, P)
        end_y, end_p = change(lambda t, y, p: np.array([y[1], y[0]])), change(lambda t, y, p: 0 * p)
        h = plain.hessp(costate.Functional(change(lambda t, y, p: y[0] * y[1]), end_y=end_y, end_p=end_p), vp=[1.0, 0])
        out += [h.Hy0, h.Hp]
    return np.concatenate(out), problem


def test_functions_that_change_their_arguments():
    ways = [{}, dict(jac=jac, jac_p=jac_p), dict(jvp=jvp, vjp=vjp), dict(jvp=jvp, vjp=vjp, hvp=hvp)]
    for derivatives in ways:
        for policy in ("auto", "differences"):
            more = dict(trace=False, derivatives=policy) if not derivatives else dict(trace=False)
            expected, _ = results(lambda f: f, derivatives, **more)
            found, _ = results(careless, derivatives, **more)
            assert np.array_equal(expected, found), (list(derivatives), policy, found - expected)


def test_traced_functions_that_change_their_arguments():
    expected, problem = results(lambda f: f, {})
    found, careless_one = results(careless, {})
    assert problem.traced and careless_one.traced, careless_one.trace_message
    assert np.allclose(found, expected, rtol=1e-9, atol=0), found - expected


def test_solve_ivp():
    for method in ("RK45", "BDF", "auto"):
        runs = [costate.solve_ivp(change(lambda t, y: rhs(t, y, P)), (0, 1), Y0, method=method, rtol=1e-8)
                for change in (lambda f: f, careless)]
        assert np.array_equal(runs[0].y, runs[1].y)


def test_matrices_are_not_copied_away():
    """a jac that is a constant matrix"""
    A = np.array([[-1.0, 0.5], [0.0, -2.0]])
    problem = costate.Problem(costate.Map(lambda t, y, p: A @ y, jac=A, jac_p=np.zeros((2, 0))), **SHARP)
    y = problem.integrate((0, 1), Y0).y
    assert abs(y[1] - 0.5 * np.exp(-2)) < 1e-9 and repr(problem).startswith("<Problem")


run_all(globals())
