"""Preconditioners of GMRES, W-methods with a matrix or a preconditioner of the user, against closed forms."""
import copy
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                              # noqa: E402

import costate                                  # noqa: E402
from cases import Skipped, fails, run_all       # noqa: E402

try:
    import scipy.sparse as sparse
    import scipy.sparse.linalg
except ImportError:
    sparse = None

N, T = 30, 0.7
P = np.array([0.8, 1.5])
L = (np.diag(-2 * np.ones(N)) + np.diag(np.ones(N - 1), 1) + np.diag(np.ones(N - 1), -1)) * (N + 1) ** 2 / np.pi ** 2
RATES, MODES = np.linalg.eigh(L)
Y0 = MODES @ np.linspace(-1.0, 1.0, N)
SHARP = dict(rtol=1e-8, atol=1e-10)


def heat(t, y, p):
    """diffusion and decay"""
    return p[0] * (L @ y) - p[1] * y




def close(a, b, tol):
    gap = np.max(np.abs(np.asarray(a) - b)) / np.max(np.abs(b))
    assert gap <= tol, f"gap {gap:.1e} > {tol:.1e}"


def solution():
    """y at T, and its derivative with respect to p0"""
    modes = np.exp((P[0] * RATES - P[1]) * T) * (MODES.T @ Y0)
    return MODES @ modes, MODES @ (RATES * T * modes)


def judge(problem, tol):
    """values, derivatives with respect to p, and transposes"""
    run, (exact, by_p0) = problem.integrate((0.0, T), Y0, P), solution()
    close(run.y, exact, tol)
    close(run.tangent(dp=[1.0, 0.0]), by_p0, 10 * tol)
    by_y, by_p = run.adjoint(np.ones(N))
    close(by_p, np.array([by_p0.sum(), -T * exact.sum()]), 10 * tol)
    dy, dp = np.cos(np.arange(N)), np.array([0.3, -0.4])
    close(np.ones(N) @ run.tangent(dy, dp), by_y @ dy + by_p @ dp, 1e-12)
    return run


class Factors:
    """a preconditioner that solves exactly, or for a neglected part"""

    def __init__(self, part=1.0):
        self.part, self.setups, self.sides = part, 0, set()

    def setup(self, sigma, t, y, p):
        self.setups += 1
        return np.linalg.inv((sigma + p[1]) * np.eye(N) - self.part * p[0] * L)

    def solve(self, x, transpose, of):
        self.sides.add(transpose)
        return (of.T if transpose else of) @ x


def test_gmres_with_a_preconditioner():
    for method in ("radau2a5", "sdirk4a"):
        counts = {}
        for part in (None, 1.0, 0.9):
            of = Factors(part)
            more = {} if part is None else dict(preconditioner=(of.setup, of.solve))
            judge(costate.Problem(heat, solver="gmres", method=method, **more, **SHARP), 1e-5)
            coarse = costate.Problem(heat, solver="gmres", method=method, rtol=1e-3, atol=1e-3, **more)
            counts[part] = coarse.integrate((0.0, 5.0), Y0, P).stats["krylov"]
            if part is not None:
                assert of.setups > 0 and of.sides == ({False, True} if method == "sdirk4a" else {False}), of.sides
        assert counts[1.0] <= counts[0.9] < 0.5 * counts[None], counts


def test_without_setup():
    """solve alone: a diagonal"""
    run = judge(costate.Problem(heat, solver="gmres", method="radau2a5", **SHARP,
                                preconditioner=lambda x, transpose, of: x / 500.0), 1e-5)
    assert run.stats["krylov"] > 0


def test_preconditioners_that_fail():
    def broken(sigma, t, y, p):
        raise ZeroDivisionError("no factors")
    fails(ZeroDivisionError, "no factors", costate.Problem(heat, solver="gmres", method="radau2a5", preconditioner=(
        broken, lambda x, transpose, of: x)).integrate, (0.0, T), Y0, P)
    fails(ValueError, "shape (3,)", costate.Problem(heat, solver="gmres", method="radau2a5", preconditioner=(
        None, lambda x, transpose, of: x[:3])).integrate, (0.0, T), Y0, P)
    fails(TypeError, "setup(sigma, t, y, p)", costate.Problem, heat, preconditioner=(1, 2))


def test_w_methods_with_a_matrix():
    """any W keeps the order; it may be sparse, and a function of p"""
    if sparse is None:
        raise Skipped("no scipy")
    ways = {"constant": 0.9 * L, "of p": lambda p: p[0] * L, "sparse": sparse.csc_matrix(L),
            "sparse of p": lambda p: p[0] * sparse.csc_matrix(L)}
    for trace in ("auto", False):
        for name, w in ways.items():
            run = judge(costate.Problem(heat, w=w, method="w6s4os", trace=trace, **SHARP), 1e-5)
            assert run.stats["jac"] <= 1, (name, run.stats["jac"])
    order = []
    for h in (T / 40, T / 80):
        run = costate.Problem(heat, w=1.1 * L, method="w6s4os", controller="fixed", h0=h).integrate((0.0, T), Y0, P)
        order.append(np.abs(run.y - solution()[0]).max())
    assert 3.5 < np.log2(order[0] / order[1]) < 5.0, order


def test_w_methods_with_a_mass_matrix():
    if sparse is None:
        raise Skipped("no scipy")
    M = np.diag(np.linspace(1.0, 2.0, N))

    def heavy(t, y, p):
        return M @ (p[0] * (L @ y) - p[1] * y)
    for w, mass in ((M @ L, M), (sparse.csc_matrix(M @ L), sparse.csc_matrix(M)),
                    (sparse.csc_matrix(M @ L), M)):
        judge(costate.Problem(heavy, w=w, mass=mass, method="w6s4os", **SHARP), 1e-5)
    judge(costate.Problem(heavy, w=M @ L, mass=M, sparsity=L, method="w6s4os", **SHARP), 1e-5)


def test_w_methods_with_a_preconditioner():
    of = Factors()
    run = judge(costate.Problem(heat, solver="preconditioner", preconditioner=(of.setup, of.solve), method="w6s4os",
                                **SHARP), 1e-5)
    assert of.sides == {False, True} and run.stats["krylov"] == 0


def test_auto_with_a_splitting():
    of = Factors()
    run = judge(costate.Problem(heat, preconditioner=(of.setup, of.solve), splitting=True, **SHARP), 1e-5)
    assert run.stats["member_steps"][7] == run.stats["accepted"]            # w6s4os
    again = copy.deepcopy(run.problem)
    assert again.splitting and again.integrate((0.0, T), Y0, P).stats["member_steps"][7] > 0
    run = costate.Problem(heat, preconditioner=(of.setup, of.solve), **SHARP).integrate((0.0, T), Y0, P)
    assert run.stats["member_steps"][7] == 0
    fails(TypeError, "needs the preconditioner", costate.Problem, heat, splitting=True)


PLATE = """model plate
size M = 9
grid i: M zero, j: M zero
parameter d = 0.1, k = 0.5
state u[i,j] = sin(pi*(i + 1)/(M + 1))*sin(2*pi*(j + 1)/(M + 1))
u' = d*(M + 1)^2*(u[i-1,j] + u[i+1,j] + u[i,j-1] + u[i,j+1] - 4*u) - k*u
"""


def test_splitting_of_a_model():
    """an eigenvector of the differences decays; gradients, transposes, and an ensemble in two threads"""
    model = costate.Model(PLATE)
    run = costate.Problem(model, splitting=True, **SHARP).integrate((0.0, 1.0))
    assert run.stats["member_steps"][7] == run.stats["accepted"] and run.stats["jac"] == 0      # w6s4os
    rate = 4 * 100 * (np.sin(np.pi / 20) ** 2 + np.sin(np.pi / 10) ** 2)
    y0, exact = model.start(), model.start() * np.exp(-0.1 * rate - 0.5)
    close(run.y, exact, 1e-5)
    by_y, by_p = run.adjoint(y0)
    close(by_p, [-rate * (y0 @ exact), -(y0 @ exact)], 1e-4)
    close(by_y, exact, 1e-4)                                                 # the matrix of the run is symmetric
    dy, dp = np.cos(np.arange(81)), np.array([0.3, -0.4])
    close(y0 @ run.tangent(dy, dp), by_y @ dy + by_p @ dp, 1e-12)
    again = copy.deepcopy(run.problem).integrate((0.0, 1.0))
    assert again.problem.splitting and np.array_equal(again.y, run.y)
    P2 = np.array([[0.1, 0.5], [0.2, 0.1], [0.3, 0.2], [0.05, 1.0]])
    many = run.problem.ensemble((0.0, 1.0), None, P2, w=y0, threads=2)
    for p, y, gradient in zip(P2, many.y, many.p):
        one = run.problem.integrate((0.0, 1.0), None, p)
        assert np.array_equal(y, one.y) and np.array_equal(gradient, one.adjoint(y0)[1])
    assert many.threads == 2


def test_models_without_a_splitting():
    across = PLATE.replace("u[i-1,j]", "u[i-1,j-1]")
    fails(costate.ModelError, "plate has no splitting: the equation of u reads u[i-1,j-1]", costate.Problem,
          costate.Model(across), splitting=True)
    single = costate.Model("state x = 1\nx' = -x")
    fails(costate.ModelError, "model has no splitting: it is not on a grid", costate.Problem, single, splitting=True)
    fails(TypeError, "or a Model on a grid", costate.Problem, heat, splitting=True)


def test_forms():
    def f(t, u, p):
        return p["D"] * np.reshape(L @ np.ravel(u), u.shape) - p["k"] * u
    values = {"D": P[0], "k": P[1]}
    exact, by_p0 = solution()
    seen = []

    def setup(sigma, t, u, p):
        seen.append((u.shape, sorted(p)))
        return np.linalg.inv((sigma + p["k"]) * np.eye(N) - p["D"] * L)
    gmres = costate.Problem(f, solver="gmres", method="radau2a5", **SHARP,
                            preconditioner=(setup, lambda x, transpose, of: (of.T if transpose else of) @ x))
    w = costate.Problem(f, w=lambda p: p["D"] * L, method="w6s4os", **SHARP)
    for problem in (gmres, w):
        run = problem.integrate((0.0, T), Y0.reshape(5, 6), values)
        close(run.y.ravel(), exact, 1e-5)
        close(run.adjoint(np.ones((5, 6)))[1]["D"], by_p0.sum(), 1e-4)
    assert seen[0] == ((5, 6), ["D", "k"])


def test_refusals():
    small = costate.Problem(heat, w=np.eye(3), method="w6s4os")
    fails(ValueError, "expected (30, 30)", small.integrate, (0.0, T), Y0, P)
    fails(costate.CostateError, "jac_is_w", costate.Problem(heat, w=L, method="radau2a5").integrate, (0.0, T), Y0, P)
    fails(costate.CostateError, "preconditioner", costate.Problem(heat, solver="preconditioner",
                                                                  method="w6s4os").integrate, (0.0, T), Y0, P)


run_all(globals())
