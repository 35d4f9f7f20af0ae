"""scipy_bvp.py BVP_RACE PROBLEM EPS TOL JAC BUDGET - SciPy's solve_bvp on a problem of bvp_cases.c, vectorised as its
users write it; prints a row as bvp_race does.  Parameters and known solutions are those of the program BVP_RACE.
JAC: 1: with fun_jac and bc_jac, 0: without.

Times are of the processor, the median of as many solves as the budget in seconds allows, after one that warms up."""
import json
import os
import statistics
import subprocess
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402
import scipy  # noqa: E402
from scipy.integrate import solve_bvp  # noqa: E402


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


# right-hand sides by the parameters p of bvp_cases.c
def arm(p):
    nodes, u = np.linspace(0, 1, 9), p[:9]
    return of_curvature(lambda t, y, v: (np.interp(t, nodes, u) - np.cos(y)) / 2, lambda t, y, v: (np.sin(y) / 2, 0))


def layer_a(p):
    eps, b, c, s = p[:4]
    return of_curvature(lambda t, y, v: (s - b * v - c * y) / eps, lambda t, y, v: (-c / eps, -b / eps))


def layer_b(p):
    eps = p[0]
    return of_curvature(lambda t, y, v: -y * v / eps, lambda t, y, v: (-v / eps, -y / eps))


def layer_c(p):
    eps, f, kappa = p[:3]
    return of_curvature(lambda t, y, v: (y - f * np.cos(kappa * t)) / eps ** 2, lambda t, y, v: (1 / eps ** 2, 0))


def main(program, problem, eps, tol, jac, budget):
    case = json.loads(subprocess.run([program, "--problem", problem, "--eps", repr(eps), "--known"], check=True,
                                     stdout=subprocess.PIPE).stdout)
    f, f_jac = globals()[problem](case["p"])
    left, right = case["ends"]
    mesh, t = np.linspace(0, 1, case["breaks"] + 2 if case["breaks"] else 11), np.array(case["t"])
    known = [np.array(case[name]) for name in ("y", "y'") if name in case]
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
    main(*sys.argv[1:3], float(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]), float(sys.argv[6]))
