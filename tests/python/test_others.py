"""test_others.py - ensembles and boundary value problems from Python."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                              # noqa: E402

import costate                                  # noqa: E402
from cases import fails, run_all                # noqa: E402
from common import close                        # noqa: E402


def growth(t, y, p):
    return p[0] * y * (1 - y / p[1])


def test_ensemble():
    """rows are those of single runs, to the bit; gradients and tangents, too"""
    problem = costate.Problem(growth, method="dopri5", rtol=1e-8, atol=1e-8)
    y0, p = np.array([[0.1], [0.2], [0.4]]), np.array([[1.0, 2], [1.5, 2], [0.5, 1]])
    all_ = problem.ensemble((0, 3), y0, p, w=[1.0], dp=[1.0, 0.0])
    assert all_.y.shape == (3, 1) and all_.p.shape == (3, 2) and all_.dy.shape == (3, 1) and not all_.failed.size
    for k in range(3):
        run = problem.integrate((0, 3), y0[k], p[k])
        assert run.y[0] == all_.y[k, 0]
        close(run.adjoint([1.0])[1], all_.p[k], 1e-12)
        close(run.adjoint([1.0])[0], all_.y0[k], 1e-12)
        close(all_.dy[k, 0], all_.p[k, 0], 1e-11)
    shared = problem.ensemble((0, 3), y0, p[0])
    close(shared.y[0], all_.y[0], 0)
    close(problem.ensemble((0, 3), y0[0], p).y[1], problem.integrate((0, 3), y0[0], p[1]).y, 0)
    fails(ValueError, "a row for each member", problem.ensemble, (0, 3), [0.1], p[0])
    fails(ValueError, "a row for each member", problem.ensemble, (0, 3), y0, p[:2])
    fails(ValueError, "w has shape", problem.ensemble, (0, 3), y0, p, w=[1.0, 2])


def test_members_that_fail():
    problem = costate.Problem(lambda t, y, p: y ** 2 * p[0], method="dopri5")
    all_ = problem.ensemble((0, 2), [1.0], [[0.1], [1.0], [0.2]])
    assert list(all_.failed) == [1] and np.isnan(all_.y[1, 0]) and np.isfinite(all_.y[[0, 2]]).all()
    assert all_.status[1] != "COSTATE_OK" and all_.messages[1] and all_.status[0] == "COSTATE_OK"
    fails(ZeroDivisionError, "", costate.Problem(lambda t, y, p: y / 0 if p[0] > 1 else 1 // 0).ensemble, (0, 1), [1.0],
          [[0.5], [1.5]])


def test_boundary_values():
    """y'' = -p y, y(0) = 0, y(1) = 1:  y = sin(w t)/sin(w), w^2 = p"""
    problem = costate.BoundaryProblem(lambda t, y, p: np.array([y[1], -p[0] * y[0]]),
                                      lambda ya, yb, p: np.array([ya[0], yb[0] - 1]), rtol=1e-10, atol=1e-10)
    w, t = 1.3, np.array([0.25, 0.5, 0.9])
    s = problem.solve((0, 1), [0.0, 0.0], [w * w])
    close(s(t)[0], np.sin(w * t) / np.sin(w), 1e-8)
    exact = (t * np.cos(w * t) * np.sin(w) - np.sin(w * t) * np.cos(w)) / np.sin(w) ** 2 / (2 * w)
    close(s.tangent(t, [1.0])[:, 0], exact, 1e-7)
    weights = np.array([[1.0, 0], [2, 0.5], [-1, 0]])
    close(s.adjoint(t, weights)[0], np.sum(weights * s.tangent(t, [1.0])), 1e-10)
    again = problem.solve((0, 1), s, [1.1 * w * w])
    close(again(0.5)[0], np.sin(np.sqrt(1.1) * w / 2) / np.sin(np.sqrt(1.1) * w), 1e-8)
    assert s.error <= 1 and s.t[0] == 0 and s.t[-1] == 1 and s.y.shape == (2, len(s.t)) and s.derivatives
    raising = costate.BoundaryProblem(lambda t, y, p: -y, lambda ya, yb, p: 1 / 0)
    fails(ZeroDivisionError, "", raising.solve, (0, 1), [1.0])
    unsolvable = costate.BoundaryProblem(lambda t, y, p: 0 * y, lambda ya, yb, p: yb - ya - 1)
    fails(costate.CostateError, "", unsolvable.solve, (0, 1), [1.0])
    fails(ValueError, "expected (3, 2)", s.adjoint, t, weights[:2])


run_all(globals())
