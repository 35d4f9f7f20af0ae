"""test_steady.py - steady states in Python: traced functions, callbacks, models, residuals and masses, against closed
forms; what has none says why."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                                      # noqa: E402

from cases import fails, run_all                        # noqa: E402
from common import close                                # noqa: E402
from costate import CostateError, Model, Problem        # noqa: E402

P = np.array([2.0, 0.3])
Y0 = np.array([1.5, 0.25])


def pair(t, y, p):
    flow = p[0] * y[0] - p[1] * y[1]
    return np.array([-flow, flow])


def closed(y0, p):
    return y0.sum() * np.array([p[1], p[0]]) / p.sum()


def differences(f, x, d, h=1e-5):
    """the derivative of f along d, of fourth order"""
    return (8 * (f(x + h * d) - f(x - h * d)) - (f(x + 2 * h * d) - f(x - 2 * h * d))) / (12 * h)


def compare(problem, within=1e-12):
    s = problem.steady(Y0, P)
    close(s.y, closed(Y0, P), within)
    close(s.invariants, [[1, 1]], within)
    assert abs(s.slowest + P.sum()) < max(1e-9, within) and s.stats["rank"] == 1
    dy, dp, w = np.array([0.3, -1.0]), np.array([1.0, 0.7]), np.array([0.4, -0.2])
    exact = differences(lambda x: closed(x[:2], x[2:]), np.concatenate([Y0, P]), np.concatenate([dy, dp]))
    close(s.tangent(dy, dp), exact, 1e-9)
    close(s.tangent(np.eye(2)), closed(Y0, P)[:, None] / Y0.sum() * np.ones((1, 2)), 1e-9)
    lam, mu = s.adjoint(w)
    close(lam @ dy + mu @ dp, w @ s.tangent(dy, dp), 1e-12)
    both = s.adjoint(np.stack([w, 2 * w], axis=1))
    close(both[1][:, 1], 2 * mu, 1e-12)
    return s


def gradient(x, w):
    """of w . closed"""
    y0, p = x[:2], x[2:]
    T, sum_ = y0.sum(), p.sum()
    part = np.array([w[1], w[0]])
    by_p = T * (part * sum_ - part @ p) / sum_ ** 2
    return np.concatenate([np.full(2, part @ p / sum_), by_p])


def test_traced_functions():
    problem = Problem(pair, rtol=1e-8)
    s = compare(problem)
    assert problem.traced, problem.trace_message
    w, v = np.array([0.4, -0.2]), np.array([0.3, -1.0, 1.0, 0.7])
    H = np.concatenate(s.hessp(w, v[:2], v[2:]))
    close(H, differences(lambda x: gradient(x, w), np.concatenate([Y0, P]), v), 1e-9)
    assert "slowest=-2.3" in repr(s)


def test_callbacks():
    problem = Problem(pair, rtol=1e-8, trace=False)
    s = compare(problem)
    assert s.derivatives == "complex step"
    compare(Problem(pair, rtol=1e-8, trace=False, derivatives="differences"), 1e-7)


def test_models():
    text = "parameter k = 2, l = 0.3\nstate a = 1.5, b = 0.25\na' = l*b - k*a\nb' = k*a - l*b\n"
    compare(Problem(Model(text)))
    s = Problem(Model(text)).steady()           # its own start and parameters
    close(s.y, closed(Y0, P), 1e-12)


def test_mass():
    s = Problem(lambda t, y, p: np.array([p[0] * (y[1] - y[0]), p[0] * (y[0] - y[1])]),
                mass=np.diag([3.0, 5.0])).steady(Y0, P[:1])
    close(s.y, np.full(2, (3 * 1.5 + 5 * 0.25) / 8), 1e-12)
    close(s.invariants / s.invariants[0, 0], [[1, 5 / 3]], 1e-12)


def test_conditions_before_a_run():
    """p1 is 0.3 before: the gradient of the run passes through the steady state"""
    problem, p = Problem(pair, rtol=1e-11, atol=1e-13, method="dopri853"), np.array([2.0, 1.1])

    def end(x, before=0.3):
        rest, to = closed(x[:2], np.array([x[2], before])), closed(x[:2], x[2:])
        return to + np.exp(-1.5 * x[2:].sum()) * (rest - to)
    state = problem.steady(Y0, p, fixed={1: 0.3})
    run = problem.integrate((0, 1.5), state.y, p)
    close(run.y, end(np.concatenate([Y0, p])), 1e-9)
    w, v = np.array([0.4, -0.2]), np.array([0.3, -1.0, 1.0, 0.7])
    lam, mu = run.adjoint(w)
    d_start, d_parameters = state.adjoint(lam)
    exact = w @ differences(end, np.concatenate([Y0, p]), v)
    close(np.concatenate([d_start, mu + d_parameters]) @ v, exact, 1e-8)
    assert d_parameters[1] == 0
    fails(CostateError, "fixed[0] = 2", problem.steady, Y0, p, fixed={2: 0.3})


def test_what_has_none():
    rotation = Problem(lambda t, y, p: np.array([y[1], -y[0]]), max_steps=2000)
    fails(CostateError, "as in a periodic solution", rotation.steady, [1.0, 0.0])
    fails(CostateError, "f depends on t", Problem(lambda t, y, p: np.sin(t) - y).steady, [1.0])
    fails(ZeroDivisionError, "division", Problem(lambda t, y, p: -y * (1 / 0), trace=False).steady, [1.0])
    s = Problem(pair).steady(Y0, P)
    fails(ValueError, "w has shape", s.adjoint, [1.0])
    fails(ValueError, "dp has shape", s.tangent, None, [1.0])
    fails(ValueError, "different numbers", s.tangent, np.eye(2), P)


run_all(globals())
