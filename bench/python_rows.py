"""python_rows.py [small] - rows of the part python of the benchmark, a line of JSON each.

Medians over rounds, in which all codes of a problem take turns; ratios are those of the turns of one round."""
import json
import os
import statistics
import sys
import tempfile
import time

import numpy as np

CACHE = tempfile.TemporaryDirectory(prefix="costate-bench-")
os.environ["COSTATE_CACHE"] = CACHE.name
import costate                                                          # noqa: E402
import python_speed                                                     # noqa: E402
from costate.models import Model                                        # noqa: E402
from costate.tracing import engine                                      # noqa: E402

try:
    from scipy.integrate import solve_ivp
except ImportError:
    solve_ivp = None
try:
    import numba
except ImportError:
    numba = None

SMALL = "small" in sys.argv
ROUNDS, TURN = (3, 0.01) if SMALL else (15, 0.05)      # rounds; s of a turn of one code
TOL, PAIRS = 1e-6, 5 if SMALL else 41
N = 20


def hires(t, y, p):
    k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11 = p[:11]
    r = p[11] * y[5] * y[7]
    return np.array([-k1 * y[0] + k2 * y[1] + k3 * y[2] + k4, k1 * y[0] - k5 * y[1], -k6 * y[2] + k2 * y[3] + k7 * y[4],
                     k3 * y[1] + k1 * y[2] - k8 * y[3], -k9 * y[4] + k2 * y[5] + k2 * y[6],
                     -r + k10 * y[3] + k1 * y[4] - k2 * y[5] + k10 * y[6], r - k11 * y[6], -r + k11 * y[6]])


def ring(t, y, p):
    return p[0] * (np.roll(y, 1) - 2 * y + np.roll(y, -1)) + p[1] * np.sin(y) - y ** 3


def network(t, y, p):
    W, b, V = p[:48].reshape(12, 4), p[48:60], p[60:].reshape(4, 12)
    return V @ np.tanh(W @ y + b) - 0.2 * y


HIRES = """parameter k1 = 1, k2 = 1, k3 = 1, k4 = 1, k5 = 1, k6 = 1, k7 = 1, k8 = 1, k9 = 1, k10 = 1, k11 = 1, k12 = 1
state a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0
a' = -k1*a + k2*b + k3*c + k4
b' = k1*a - k5*b
c' = -k6*c + k2*d + k7*e
d' = k3*b + k1*c - k8*d
e' = -k9*e + k2*f + k2*g
f' = -k12*f*h + k10*d + k1*e - k2*f + k10*g
g' = k12*f*h - k11*g
h' = -k12*f*h + k11*g
"""
RING = f"""parameter c = 1, s = 1
state x[1..{N}] = 0
x[1]' = c*(x[{N}] - 2*x[1] + x[2]) + s*sin(x[1]) - x[1]^3
x[i]' = c*(x[i - 1] - 2*x[i] + x[i + 1]) + s*sin(x[i]) - x[i]^3 for i = 2..{N - 1}
x[{N}]' = c*(x[{N - 1}] - 2*x[{N}] + x[1]) + s*sin(x[{N}]) - x[{N}]^3
"""
NETWORK = """parameter w[1..48] = 0, b[1..12] = 0, v[1..48] = 0
state y[1..4] = 0
y[i]' = sum(j = 1..12, v[12*i - 12 + j]*tanh(sum(k = 1..4, w[4*j - 4 + k]*y[k]) + b[j])) - 0.2*y[i] for i = 1..4
"""
draw = np.random.default_rng(5)
PROBLEMS = [
    ("HIRES", hires, HIRES, np.array([1.0, 0, 0, 0, 0, 0, 0, 0.0057]), np.array(
        [1.71, 0.43, 8.32, 0.0007, 8.75, 10.03, 0.035, 1.12, 1.745, 0.69, 1.81, 280.0]), 30.0, "radau2a"),
    (f"ring of {N}", ring, RING, np.sin(np.arange(N)), np.array([0.7, 1.2]), 5.0, "dopri5"),
    ("network of 108", network, NETWORK, draw.normal(size=4), 0.4 * draw.normal(size=108), 5.0, "dopri5")]


def problems_of(f, text, method):
    """{code: Problem}"""
    more = dict(method=method, rtol=TOL, atol=TOL)
    compiled, started = Model(text, compiled=True), engine.started
    engine.started = lambda *arguments: None            # no compiler: byte code for good
    found = {"equation file": costate.Problem(compiled, **more), "byte code": costate.Problem(f, trace=True, **more)}
    return found, started, {"traced": costate.Problem(f, trace=True, **more),
                            "callbacks": costate.Problem(f, trace=False, **more)}


def gradients(f, text, y0, p, T, method):
    """{code: function that runs and forms the gradient}"""
    found, started, others = problems_of(f, text, method)
    w = np.cos(np.arange(len(y0)))
    found["byte code"].integrate((0, T), y0, p)
    engine.started = started
    found.update(others)
    found["traced"].integrate((0, T), y0, p)
    found["traced"].wait()
    return {code: lambda problem=problem: problem.integrate((0, T), y0, p).adjoint(w)[1]
            for code, problem in found.items()}


def rounds(calls):
    """{code: (median of seconds, median of ratios to the first code)}"""
    counts = {}
    for code, call in calls.items():
        call()
        start = time.perf_counter()
        call()
        counts[code] = max(1, int(TURN / (time.perf_counter() - start)))
    seconds = {code: [] for code in calls}
    for _ in range(ROUNDS):
        for code, call in calls.items():
            start = time.process_time()
            for _ in range(counts[code]):
                call()
            seconds[code].append((time.process_time() - start) / counts[code])
    first = seconds[next(iter(calls))]
    return {code: (statistics.median(s), statistics.median(a / b for a, b in zip(s, first)))
            for code, s in seconds.items()}


def say(**row):
    print(json.dumps(row), flush=True)


def counted(f):
    def called(t, y, *p):
        called.count += 1
        return f(t, y, *p)
    called.count = 0
    return called


def forward(name, f, y0, p, T, method):
    """runs by this package and by SciPy, with their errors"""
    exact = costate.Problem(f, trace=True, method="radau2a5", rtol=1e-12, atol=1e-14).integrate((0, T), y0, p).y
    problem = costate.Problem(f, trace=True, method=method, rtol=TOL, atol=TOL)
    problem.integrate((0, T), y0, p)
    problem.wait()
    calls = {"traced": lambda: problem.integrate((0, T), y0, p, record=False).y}
    functions = {"": f}
    if numba is not None:
        functions[", Numba"] = numba.njit(f)
    for kind, g in functions.items():
        for code in ("RK45", "LSODA", "BDF") if solve_ivp is not None else ():
            calls[f"SciPy {code}{kind}"] = lambda code=code, g=g: solve_ivp(
                g, (0, T), y0, method=code, rtol=TOL, atol=TOL, args=(p,)).y[:, -1]
    numbers = {"traced": problem.integrate((0, T), y0, p).stats["f"]}
    if solve_ivp is not None:
        for code in ("RK45", "LSODA", "BDF"):
            numbers[f"SciPy {code}"] = numbers[f"SciPy {code}, Numba"] = solve_ivp(
                f, (0, T), y0, method=code, rtol=TOL, atol=TOL, args=(p,)).nfev
    found = rounds(calls)
    for code, call in calls.items():
        say(what="forward", problem=name, code=code, seconds=found[code][0], calls=numbers[code],
            error=float(np.linalg.norm(call() - exact) / np.linalg.norm(exact)))


def main():
    for name, f, text, y0, p, T, method in PROBLEMS:
        found = gradients(f, text, y0, p, T, method)
        values = {code: call() for code, call in found.items()}
        assert np.array_equal(values["traced"], values["byte code"])
        for code, (seconds, ratio) in rounds(found).items():
            assert np.allclose(values[code], values["traced"], rtol=1e-3, atol=1e-6 * np.abs(values["traced"]).max())
            say(what="gradient", problem=name, code=code, seconds=seconds, ratio=ratio)
        forward(name, f, y0, p, T, method)
    for lacking, there in (("SciPy", solve_ivp), ("Numba", numba)):
        if there is None:
            say(what="lacking", code=f"{lacking} is not there: nothing is compared with it.")
    name, method, tol, short, _ = python_speed.CASES[0]
    with tempfile.TemporaryDirectory() as place:
        model = Model.from_file(os.path.join(python_speed.ROOT, "models", name + ".eq"), compiled=True)
        problem = costate.Problem(model, method=method, rtol=tol, atol=tol, max_steps=10 ** 9)
        c = python_speed.InC(problem, place)
        for mode in "ig":
            both = python_speed.paired(problem, c, mode, short, PAIRS)
            say(what="overhead", code=python_speed.MODES[mode], seconds=statistics.median(b - a for a, b in both))
        c.close()


if __name__ == "__main__":
    main()
