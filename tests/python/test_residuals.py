"""Residuals F(t, y, y', p) = 0, indices, consistent values, slopes and transitions of events, against closed forms."""
import os
import pickle
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                              # noqa: E402

import costate                                  # noqa: E402
from cases import fails, run_all                # noqa: E402
from common import close                        # noqa: E402

SHARP = dict(method="radau2a5", rtol=1e-11, atol=1e-11)
P0 = np.array([0.7, 1.3])


def F(t, y, yp, p):
    """y0' = -p0 y0 + sin t, y1 = p1 y0**2, whose y1' appears nowhere"""
    return np.array([yp[0] + p[0] * y[0] - np.sin(t), y[1] - p[1] * y[0] ** 2])


def F_y(t, y, yp, p):
    return np.array([[p[0] + 0 * y[0], 0 * y[0]], [-2 * p[1] * y[0], 1 + 0 * y[0]]])


F_YP = np.array([[1.0, 0.0], [0.0, 0.0]])


def F_p(t, y, yp, p):
    return np.array([[y[0], 0 * y[0]], [0 * y[0], -y[0] ** 2]])


def F_t(t, y, yp, p):
    return np.array([-np.cos(t), 0 * t])


def jvp(t, y, yp, p, dt, dy, dyp, dp):
    return F_y(t, y, yp, p) @ dy + F_YP @ dyp + F_p(t, y, yp, p) @ dp + F_t(t, y, yp, p) * dt


def vjp(t, y, yp, p, w):
    return w @ F_y(t, y, yp, p), w @ F_YP, w @ F_p(t, y, yp, p), w @ F_t(t, y, yp, p)


def real(t, y, yp, p):
    """does not compute with complex numbers"""
    return np.array([float(v) for v in F(t, y, yp, p)])


JACOBIANS = dict(jac=F_y, jac_yp=F_YP, jac_p=F_p, jac_t=F_t)
WAYS = {"jacobians": (F, JACOBIANS, "exact"), "products": (F, dict(jvp=jvp, vjp=vjp), "exact"),
        "complex": (F, {}, "complex step"), "differences": (real, dict(derivatives="differences"), "differences")}


def solution(t, y0, p):
    """y0(t), its derivatives with respect to y0 and p0"""
    a = p[0]
    k, e = 1 / (1 + a * a), np.exp(-a * t)
    s = a * np.sin(t) - np.cos(t)
    y = (y0 + k) * e + k * s
    return y, e, -t * (y0 + k) * e + (-2 * a * k * k) * (e + s) + k * np.sin(t)


def start(y0=1.1):
    return np.array([y0, P0[1] * y0 ** 2])


def test_values_and_derivatives_in_every_way():
    y, by_y0, by_p0 = solution(2.0, 1.1, P0)
    for name, (f, given, way) in WAYS.items():
        run = costate.Problem(residual=f, **given, **SHARP).integrate((0.0, 2.0), start(), P0)
        close(run.y, [y, P0[1] * y * y], 1e-9)
        assert run.derivatives == way, (name, run.derivatives)
        V = run.tangent([1.0, 2 * P0[1] * 1.1], [0.0, 0.0])
        W = run.tangent([0.0, 0.0], [1.0, 0.0])
        exact = 1e-6 if name == "differences" else 1e-9
        close(V, by_y0 * np.array([1, 2 * P0[1] * y]), exact)
        close(W, by_p0 * np.array([1, 2 * P0[1] * y]), exact)
        dy, dp, w = np.array([0.4, -0.3]), np.array([0.6, 0.2]), np.array([0.7, 0.5])
        by_y, by_p = run.adjoint(w)
        close(w @ run.tangent(dy, dp), by_y @ dy + by_p @ dp, 1e-8 if name == "differences" else 1e-12)
        with_ends = run.gradient(costate.Functional(end=lambda t, y, p: y[0]))
        close(with_ends.t1, np.sin(2.0) - P0[0] * y, 1e-8)


def test_hessian_products():
    problem = costate.Problem(residual=F, **JACOBIANS, **SHARP, derivative_mode=1)
    G = costate.Functional(end=lambda t, y, p: y[0] ** 2, end_y=lambda t, y, p: np.array([2 * y[0], 0 * y[0]]))
    H = problem.hessp(G, (0.0, 2.0), start(), P0, vp=np.eye(2)).Hp
    e = 1e-5
    up, down = (solution(2.0, 1.1, P0 + [s * e, 0]) for s in (1, -1))
    close(H[0, 0], (2 * up[0] * up[2] - 2 * down[0] * down[2]) / (2 * e), 1e-6)
    close(H, H.T, 1e-9)
    fails(costate.CostateError, "jac_t that compute with complex y", costate.Problem(residual=F, **SHARP).hessp, G,
          (0.0, 2.0), start(), P0, vp=P0)


def test_complex_steps_that_are_wrong():
    """|y| loses the imaginary part: differences take its place, with a warning"""
    def kinked(t, y, yp, p):
        return np.array([yp[0] + p[0] * np.abs(y[0])])
    import warnings
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = costate.Problem(residual=kinked, **SHARP).integrate((0.0, 1.0), [2.0], [0.5])
        found = run.tangent(dp=[1.0])
    assert run.derivatives == "differences" and caught[0].category is costate.DerivativeWarning
    assert run.derivatives.by_map["residual"]["y"] == "differences"
    close(found, [-2 * np.exp(-0.5)], 1e-6)


def test_sparsity_and_sparse_jacobians():
    sparse = __import__("scipy.sparse").sparse
    n = 40
    A = sparse.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(n, n), format="csc")

    def heat(t, y, yp, p):
        return yp - p[0] * (A @ y)
    y0, exact = np.sin(np.pi * np.arange(1, n + 1) / (n + 1)), np.exp(-2 * (1 - np.cos(np.pi / (n + 1))) * 5.0 * 0.9)
    for more in ({}, dict(jac=lambda t, y, yp, p: -p[0] * A, jac_yp=lambda *at: sparse.identity(n, format="csc"),
                          jac_p=lambda t, y, yp, p: -(A @ y)[:, None])):
        run = costate.Problem(residual=heat, sparsity=A, solver="sparse", **more, **SHARP).integrate(
            (0.0, 5.0), y0, [0.9])
        close(run.y, y0 * exact, 1e-9)
        dy, w = np.cos(np.arange(n)), np.sin(np.arange(n))
        by_y, by_p = run.adjoint(w)
        close(w @ run.tangent(dy, [1.0]), by_y @ dy + by_p[0], 1e-12)
        close(run.tangent(dp=[1.0]), y0 * exact * -2 * (1 - np.cos(np.pi / (n + 1))) * 5.0, 1e-8)
    wrong = costate.Problem(residual=heat, sparsity=np.eye(n), jac=lambda t, y, yp, p: -p[0] * A,
                            jac_yp=lambda *at: sparse.identity(n), **SHARP)
    fails(ValueError, "outside sparsity", wrong.integrate, (0.0, 5.0), y0, [0.9])


def constrained(t, y, p):
    """y0' = z + p0 y1, y1' = -y0', 0 = y0 - p1 sin t: z is of index 2"""
    return np.array([y[2] + p[0] * y[1], -p[1] * np.sin(t), y[0] - p[1] * np.sin(t)])


def of_constrained(t, y1, p):
    y1 = y1 - p[1] * (1 - np.cos(t))
    return np.array([p[1] * np.sin(t), y1, p[1] * np.cos(t) - p[0] * y1])


def test_index_2():
    """with a mass matrix and as a residual, consistent values and derivatives"""
    M, index = np.diag([1.0, 1.0, 0.0]), [0, 0, 2]
    forms = {"mass": costate.Problem(constrained, mass=M, index=index, **SHARP),
             "residual": costate.Problem(residual=lambda t, y, yp, p: M @ yp - constrained(t, y, p), index=index,
                                         **SHARP)}
    for name, problem in forms.items():
        y, yp = problem.consistent(0.5, [9.0, 2.0, 0.0], P0)
        expected = np.array([P0[1] * np.sin(0.5), 2.0, P0[1] * np.cos(0.5) - 2.0 * P0[0]])
        close(y, expected, 1e-12)
        close(yp[:2], [P0[1] * np.cos(0.5), -P0[1] * np.sin(0.5)], 1e-12)
        run = problem.integrate((0.0, 2.0), of_constrained(0.0, 1.5, P0), P0)
        close(run.y, of_constrained(2.0, 1.5, P0), 1e-7)
        e = 1e-6
        dp = (of_constrained(2.0, 1.5, P0 + [0, e]) - of_constrained(2.0, 1.5, P0 - [0, e])) / (2 * e)
        dy = (of_constrained(0.0, 1.5, P0 + [0, e]) - of_constrained(0.0, 1.5, P0 - [0, e])) / (2 * e)
        close(run.tangent(dy, [0.0, 1.0])[:2], dp[:2], 1e-7)
        by_y, by_p = run.adjoint([0.3, 0.7, 0.0])
        close(np.array([0.3, 0.7, 0.0]) @ run.tangent(dy, [0.0, 1.0]), by_y @ dy + by_p[1], 1e-12)
    fails(ValueError, "expected 3 numbers 0, 1 or 2", costate.Problem(constrained, mass=M, index=[0, 0, 3],
                                                                      **SHARP).integrate, (0.0, 1.0), np.ones(3), P0)


def test_consistent_of_index_1():
    y, yp = costate.Problem(residual=F, **SHARP).consistent(0.3, [1.1, 0.0], P0)
    close(y, start(), 1e-13)
    close(yp[0], np.sin(0.3) - P0[0] * 1.1, 1e-13)
    fails(costate.CostateError, "inconsistent", costate.Problem(residual=F, **SHARP).integrate, (0.0, 1.0), [1.1, 7.0],
          P0)


def test_events_of_slopes():
    """y' = p0 y: where y' = 2, y is halved"""
    event = costate.Event(lambda t, y, yp, p: yp[0] - 2.0, direction=1, slopes=True,
                          jump=lambda t, y, yp, p: y - yp / (2 * p[0]))
    problem = costate.Problem(residual=lambda t, y, yp, p: yp - p[0] * y, events=[event], **SHARP)
    run = problem.integrate((0.0, 0.9), [1.0], [1.2])
    at = np.log(2 / 1.2) / 1.2
    assert len(run.events) == 1
    close([run.events[0][0], run.events[0][3][0]], [at, 1 / 1.2], 1e-9)
    close(run.y, [np.exp(0.9 * 1.2) / 2], 1e-9)                 # wherever it is halved
    close(run.tangent(dp=[1.0]), 0.9 * run.y, 1e-8)
    close(run.adjoint([1.0])[1], run.tangent(dp=[1.0]), 1e-12)


def test_transitions():
    """a ball: y = (height, speed), speed after = -p0 speed before"""
    def T(t, y, yp, p):
        return np.array([y[0, 0] - y[1, 0], y[0, 1] + p[0] * y[1, 1]])
    hit = costate.Event(lambda t, y, p: y[0], direction=-1, transition=T)
    ball = costate.Problem(residual=lambda t, y, yp, p: np.array([yp[0] - y[1], yp[1] + 10.0 + 0 * y[0]]),
                           events=[hit], **SHARP)
    run = ball.integrate((0.0, 1.0), [1.0, 0.0], [0.8])
    at = np.sqrt(0.2)
    close(run.y, [0.8 * 10 * at * (1 - at) - 5 * (1 - at) ** 2, 0.8 * 10 * at - 10 * (1 - at)], 1e-9)
    close(run.tangent(dp=[1.0]), [10 * at * (1 - at), 10 * at], 1e-9)
    dy, w = np.array([0.3, -0.2]), np.array([0.4, 0.9])
    by_y, by_p = run.adjoint(w)
    close(w @ run.tangent(dy, [0.7]), by_y @ dy + 0.7 * by_p[0], 1e-12)
    assert repr(hit) == "<Event where <lambda> falls through 0, transition T>", repr(hit)
    fails(ValueError, "not both", costate.Event, lambda t, y, p: y[0], jump=lambda t, y, p: y, transition=T)
    fails(TypeError, "events of a residual", costate.Problem, lambda t, y, p: y, events=[hit])


def test_memory_relations_and_costs():
    """a residual with a memory variable, a relation and a running cost"""
    def G(t, y, yp, p, m, now):
        return yp + m[0] * np.where(now.relation[0], 2.0, 1.0) * y
    keep = costate.Event(times=[0.2], jump=lambda t, y, p, m, now: np.append(y, m))
    problem = costate.Problem(residual=G, memory=1, events=[keep], relations=[lambda t, y, p, m, now: y[0] - 1],
                              cost=lambda t, y, p, m, now: y[:1], **SHARP)
    run = problem.integrate((0.0, 2.0), [np.e, 0.5])
    close(run.y, [np.exp(-0.5)], 1e-9)                          # at 1 at t = 1
    close(run.relations[0][0], 1.0, 1e-9)
    close(run.q, [(np.e - 1) + 2 * (1 - np.exp(-0.5))], 1e-9)
    by_y, by_p, by_m = run.adjoint([1.0])
    dy, dm = np.array([0.4]), np.array([0.3])
    close(run.tangent(dy, dm=dm), by_y @ dy + by_m @ dm + np.zeros(1), 1e-12)
    close(by_m, [-2 * np.exp(-0.5)], 1e-8)                      # y(2) = e^(1/2 - 2 m)


def test_forms():
    """y of any shape, p as a dict"""
    def G(t, y, yp, p):
        return yp + p["rate"] * y
    values = {"rate": np.array([[0.5, 1.0]])}
    run = costate.Problem(residual=G, **SHARP).integrate((0.0, 1.0), np.ones((1, 2)), values)
    close(run.y, np.exp(-values["rate"]), 1e-9)
    by_y, by_p = run.adjoint(np.ones((1, 2)))
    close(by_p["rate"], -np.exp(-values["rate"]), 1e-9)
    y, yp = costate.Problem(residual=G, **SHARP).consistent(0.0, np.ones((1, 2)), values)
    close(yp, -values["rate"], 1e-12)


def test_review_and_copies():
    problem = costate.Problem(residual=F, **JACOBIANS, method="radau2a5", rtol=1e-6, atol=1e-6)
    assert problem.check((0.0, 2.0), start(), P0).ok
    wrong = costate.Problem(residual=F, **dict(JACOBIANS, jac_yp=-F_YP), **SHARP)
    assert not wrong.check((0.0, 2.0), start(), P0).ok
    run = problem.integrate((0.0, 2.0), start(), P0)
    other = pickle.loads(pickle.dumps(run))
    assert np.array_equal(other.adjoint([1.0, 0.0])[1], run.adjoint([1.0, 0.0])[1])
    assert "F(t, y, y', p) = 0" in repr(problem)


def test_refusals():
    fails(TypeError, "give a right-hand side", costate.Problem)
    fails(TypeError, "give a right-hand side", costate.Problem, lambda t, y, p: y, residual=F)
    fails(TypeError, "give both", costate.Problem, residual=F, jac=F_y)
    fails(TypeError, "no mass matrix", costate.Problem, residual=F, mass=np.eye(2))
    fails(TypeError, "Residual has its own", costate.Problem, residual=costate.Residual(F), jac_p=F_p)
    fails(TypeError, "jac_yp is of a residual", costate.Problem, lambda t, y, p: y, jac_yp=F_YP)
    fails(ValueError, "expected (2,)", costate.Problem(residual=lambda t, y, yp, p: yp[:1], **SHARP).integrate,
          (0.0, 1.0), start(), P0)
    large = costate.Problem(residual=F, jac=np.eye(3), jac_yp=np.eye(3), **SHARP)
    fails(ValueError, "expected (2, 2)", large.integrate, (0.0, 1.0), start(), P0)


run_all(globals())
