"""test_periodic.py - periodic orbits in Python: the Hopf normal form and repeated doses against closed forms, van der
Pol's period, models, callbacks; what has none says why."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                                          # noqa: E402

from cases import fails, run_all                            # noqa: E402
from common import close                                    # noqa: E402
from costate import CostateError, Event, Model, Problem     # noqa: E402

SHARP = dict(method="dopri853", rtol=1e-12, atol=1e-12)
P = np.array([0.8, 1.5, 0.4])


def hopf(t, y, p):
    """r' = r (p0 - r^2), phi' = p1 + p2 r^2: r = sqrt(p0), T = 2 pi/(p1 + p2 p0)"""
    r2 = y[0] ** 2 + y[1] ** 2
    grow, turn = p[0] - r2, p[1] + p[2] * r2
    return np.array([grow * y[0] - turn * y[1], turn * y[0] + grow * y[1]])


def period(p):
    return 2 * np.pi / (p[1] + p[2] * p[0])


def slope(p):
    return -period(p) ** 2 / (2 * np.pi) * np.array([p[2], 1, p[0]])


def compare(problem, within):
    orbit = problem.periodic([0.9, 0.1], 3.0, P)
    assert abs(orbit.period - period(P)) < within and orbit.stable
    close(np.hypot(*orbit.y), np.sqrt(P[0]), within)
    close(np.sort(orbit.multipliers.real), [np.exp(-2 * P[0] * period(P)), 1], 1e-6)
    close(orbit.adjoint(period=1), slope(P), 10 * within)
    moved = orbit.tangent(np.eye(3))
    close(moved.period, slope(P), 10 * within)
    close(orbit.y @ moved.y / np.sqrt(P[0]), np.array([0.5 / np.sqrt(P[0]), 0, 0]), 100 * within)
    return orbit


def test_traced():
    problem = Problem(hopf, **SHARP)
    orbit = compare(problem, 1e-9)
    assert problem.traced, problem.trace_message
    v, h = np.array([0.3, -0.2, 0.5]), 1e-5
    exact = (slope(P + h * v) - slope(P - h * v)) / (2 * h)
    close(orbit.hessp(v, period=1), exact, 1e-7)
    k = int(np.argmin(abs(orbit.multipliers)))
    rho = lambda p: np.exp(-2 * p[0] * period(p))          # noqa: E731
    exact = [(rho(P + h * e) - rho(P - h * e)) / (2 * h) for e in np.eye(3)]
    close(orbit.multiplier_gradient(k).real, exact, 1e-6)
    close(orbit(orbit.period), orbit.y, 1e-9)
    assert orbit(np.linspace(0, 1, 5)).shape == (2, 5) and "stable" in repr(orbit)


def test_callbacks():
    compare(Problem(hopf, trace=False, **SHARP), 1e-8)


def test_models():
    text = ("parameter a = 0.8, b = 1.5, c = 0.4\nstate x = 0.9, y = 0.1\nlet r2 = x^2 + y^2\n"
            "x' = (a - r2)*x - (b + c*r2)*y\ny' = (b + c*r2)*x + (a - r2)*y\n")
    orbit = Problem(Model(text), **SHARP).periodic(None, 3.0)
    assert abs(orbit.period - period(P)) < 1e-9


def test_van_der_pol():
    orbit = Problem(lambda t, y, p: np.array([y[1], p[0] * (1 - y[0] ** 2) * y[1] - y[0]]),
                    cost=lambda t, y, p: np.array([y[0] ** 2]), **SHARP).periodic([2.0, 0.0], 6.5, [1.0])
    assert abs(orbit.period - 6.66328685932) < 1e-9 and orbit.q.shape == (1,)
    lower, upper = (Problem(lambda t, y, p: np.array([y[1], p[0] * (1 - y[0] ** 2) * y[1] - y[0]]),
                            **SHARP).periodic([2.0, 0.0], 6.5, [mu]).period for mu in (0.999, 1.001))
    close(orbit.adjoint(period=1), [(upper - lower) / 2e-3], 1e-5)


def test_repeated_doses():
    """y' = -k y, a dose D at the start of each interval of 2: y just before it is D/(exp(2 k) - 1)"""
    p = np.array([0.7, 3.0])
    dose = Event(times=[0.5], jump=lambda t, y, p: y + p[1])
    orbit = Problem(lambda t, y, p: -p[0] * y, events=[dose], **SHARP).periodic([0.0], None, p, period=2.0)
    before = p[1] / np.expm1(2 * p[0]) * np.exp(0.5 * p[0])
    close(orbit.y, [before], 1e-11)
    by_k = before * (0.5 - 2 * np.exp(2 * p[0]) / np.expm1(2 * p[0]))
    close(orbit.adjoint(y=[1.0]), [by_k, before / p[1]], 1e-10)


def test_what_has_none():
    fails(ValueError, "either guess", Problem(hopf).periodic, [1.0, 0.0], None, P)
    fails(ValueError, "either guess", Problem(hopf).periodic, [1.0, 0.0], 3.0, P, period=2.0)
    rest = Problem(lambda t, y, p: -y)
    fails(CostateError, "there is no orbit nearby", rest.periodic, [1.0], 1.0)
    orbit = Problem(hopf, **SHARP).periodic([0.9, 0.1], 3.0, P)
    fails(ValueError, "dp has shape", orbit.tangent, [1.0])
    fails(ValueError, "invariants has shape", Problem(hopf).periodic, [0.9, 0.1], 3.0, P, invariants=[[1.0]])


run_all(globals())
