"""scipy_bvp.py PROBLEM EPS TOL JAC BUDGET - SciPy's solve_bvp on a problem of bvp_cases.c, vectorised as its users
write it; prints a row as bvp_race does.  JAC: 1: with fun_jac and bc_jac, 0: without.

Times are of the processor, the median of as many solves as the budget in seconds allows, after one that warms up."""
import json
import os
import statistics
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402
import scipy  # noqa: E402
from scipy.integrate import solve_bvp  # noqa: E402

ARM = [(0, 0, 0.08282322120549214), (0.125, 0.009701891627932141, 0.082824195167925774),
       (0.25, 0.022659457425876543, 0.1297073245708098), (0.3, 0.029686685165635843, 0.14971588405666506),
       (0.375, 0.041478672844363726, 0.16098974571225128), (0.5, 0.059653802666936456, 0.1141970596191435),
       (0.625, 0.066774810513401825, -0.010672769889378524), (0.75, 0.05633433029757929, -0.15117340817921568),
       (0.875, 0.031257490780447789, -0.2370468426807899), (1, 0, -0.25266148465696775)]


def of_curvature(value, by_y):
    """y'' = value(t, y, y'), by_y: its derivatives by y and y'"""
    def f(t, y):
        return np.vstack((y[1], value(t, y[0], y[1])))

    def jac(t, y):
        J = np.zeros((2, 2, t.size))
        J[0, 1] = 1
        J[1, 0], J[1, 1] = by_y(t, y[0], y[1])
        return J
    return f, jac


def arm(eps):
    nodes, u = np.linspace(0, 1, 9), np.array([0.5, 1.5, 2, 1, -0.5, -1.5, -1, 0.25, 1.25])
    f = of_curvature(lambda t, y, v: (np.interp(t, nodes, u) - np.cos(y)) / 2, lambda t, y, v: (np.sin(y) / 2, 0))
    table = np.array(ARM)
    return f, (0, 0), nodes, table[:, 0], table[:, 1:].T


def layer_times(eps):
    inside = np.minimum(1, 20 * eps * np.arange(100) / 100)
    return np.concatenate((np.linspace(0, 1, 1001), inside, 1 - inside))


def layer_a(eps):
    b, c, s, left, right = 1, 0.5, 0.25, 2, 1
    root = np.sqrt(b * b - 4 * eps * c)
    slow, fast = -2 * c / (b + root), -(b + root) / 2 / eps
    al, be, det = left - s / c, right - s / c, np.exp(fast - slow) - 1
    c1, c2 = (al * np.exp(fast) - be) / det, (be * np.exp(-slow) - al) / det
    f = of_curvature(lambda t, y, v: (s - b * v - c * y) / eps, lambda t, y, v: (-c / eps, -b / eps))
    t = layer_times(eps)
    return f, (left, right), np.linspace(0, 1, 11), t, [s / c + c1 * np.exp(slow * (t - 1)) + c2 * np.exp(fast * t)]


def layer_b(eps):
    left, right = 0.25, 1
    c = right
    for _ in range(50):
        c = right / np.tanh(c / (2 * eps) + np.arctanh(left / c))
    f = of_curvature(lambda t, y, v: -y * v / eps, lambda t, y, v: (-v / eps, -y / eps))
    t = layer_times(eps)
    return f, (left, right), np.linspace(0, 1, 11), t, [c * np.tanh(c * t / (2 * eps) + np.arctanh(left / c))]


def layer_c(eps):
    kappa, left, right = 3, 2, -1
    scale, e = 1 / (1 + (eps * kappa) ** 2), np.exp(-1 / eps)
    al, be = left - scale, right - scale * np.cos(kappa)
    f = of_curvature(lambda t, y, v: (y - np.cos(kappa * t)) / eps ** 2, lambda t, y, v: (1 / eps ** 2, 0))
    t = layer_times(eps)
    return f, (left, right), np.linspace(0, 1, 11), t, [scale * np.cos(kappa * t) + (
        (al - be * e) * np.exp(-t / eps) + (be - al * e) * np.exp((t - 1) / eps)) / (1 - e * e)]


def main(problem, eps, tol, jac, budget):
    (f, f_jac), (left, right), mesh, t, known = globals()[problem](eps)
    guess = np.zeros((2, mesh.size))
    if problem == "layer_b":
        guess[0], guess[1] = np.linspace(left, right, mesh.size), right - left

    def bc(a, b):
        return np.array((a[0] - left, b[0] - right))

    def bc_jac(a, b):
        return np.array(((1.0, 0), (0, 0))), np.array(((0.0, 0), (1, 0)))
    given = {"fun_jac": f_jac, "bc_jac": bc_jac} if jac else {}
    seconds, began = [], time.perf_counter()
    while len(seconds) < 2 or (time.perf_counter() - began < budget and len(seconds) < 1000):
        start = time.process_time()
        found = solve_bvp(f, bc, mesh, guess, tol=tol, max_nodes=100000, **given)
        seconds.append(time.process_time() - start)
    there = found.sol(t)
    error = max(float(np.max(np.abs(y - k) / np.maximum(1, np.abs(k)))) for y, k in zip(there, known))
    print(json.dumps({
        "code": "scipy", "method": "with jac" if jac else "without", "problem": problem, "eps": eps, "rtol": tol,
        "status": int(found.status), "message": found.message, "intervals": int(found.x.size) - 1,
        "iterations": int(found.niter), "seconds": statistics.median(seconds[1:]), "error": error,
        "version": "SciPy %s, NumPy %s, Python %s" % (scipy.__version__, np.__version__, sys.version.split()[0])}))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
