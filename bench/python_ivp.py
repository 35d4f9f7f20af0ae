"""python_ivp.py [--quick] - solve_ivp of the package costate beside SciPy's, in one run: five problems with functions
in Python and, with costate, as compiled models; gradients beside SciPy with finite differences.

Each row: the method, the error at the end against a run with tolerances of 1e-12, the median time of several
repetitions, and that time relative to the fastest of SciPy's methods that reached ten times the tolerance."""
import statistics
import sys
import time
import warnings

import numpy as np
import scipy
from scipy.integrate import solve_ivp as scipy_ivp

import costate

QUICK = "--quick" in sys.argv
REPEAT = 1 if QUICK else 5


def lotka(t, y):
    return [1.5 * y[0] - y[0] * y[1], y[0] * y[1] - 3 * y[1]]


def van_der_pol(t, y):
    return [y[1], 1000 * (1 - y[0] ** 2) * y[1] - y[0]]


def robertson(t, y):
    a, b, c = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return [-a + b, a - b - c, c]


def hires(t, y):
    q = 280 * y[5] * y[7]
    return [-1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007, 1.71 * y[0] - 8.75 * y[1],
            -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4], 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3],
            -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6], -q + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6],
            q - 1.81 * y[6], -q + 1.81 * y[6]]


CELLS = 60


def heat(t, y):
    """a heated rod that radiates: one-dimensional diffusion with a nonlinear loss"""
    padded = np.concatenate([[1.0], y, [y[-1]]])
    return (padded[:-2] - 2 * y + padded[2:]) * CELLS ** 2 - y ** 4


TEXT = {
    "Lotka-Volterra": """model lotka
state a = 1, b = 1
a' = 1.5*a - a*b
b' = a*b - 3*b
""",
    "Van der Pol": """model oscillator
state x = 2, v = 0
x' = v
v' = 1000*(1 - x^2)*v - x
""",
    "Robertson": """model robertson
state a = 1, b = 0, c = 0
a' = -0.04*a + 1e4*b*c
b' = 0.04*a - 1e4*b*c - 3e7*b^2
c' = 3e7*b^2
""",
    "HIRES": """model hires
state y0 = 1, y1 = 0, y2 = 0, y3 = 0, y4 = 0, y5 = 0, y6 = 0, y7 = 0.0057
let q = 280*y5*y7
y0' = -1.71*y0 + 0.43*y1 + 8.32*y2 + 0.0007
y1' = 1.71*y0 - 8.75*y1
y2' = -10.03*y2 + 0.43*y3 + 0.035*y4
y3' = 8.32*y1 + 1.71*y2 - 1.12*y3
y4' = -1.745*y4 + 0.43*y5 + 0.43*y6
y5' = -q + 0.69*y3 + 1.71*y4 - 0.43*y5 + 0.69*y6
y6' = q - 1.81*y6
y7' = -q + 1.81*y6
""",
    "radiating rod": "model rod\n" + "".join(f"state u{k} = 0\n" for k in range(CELLS)) + "".join(
        f"u{k}' = ({f'u{k - 1}' if k else '1'} - 2*u{k} + u{min(k + 1, CELLS - 1)})*{CELLS ** 2} - u{k}^4\n"
        for k in range(CELLS)),
}
PROBLEMS = [("Lotka-Volterra", lotka, (0, 20), [1, 1]), ("Van der Pol", van_der_pol, (0, 2000), [2, 0]),
            ("Robertson", robertson, (0, 1e4), [1, 0, 0]),
            ("HIRES", hires, (0, 321.8122), [1, 0, 0, 0, 0, 0, 0, 0.0057]),
            ("radiating rod", heat, (0, 0.5), [0.0] * CELLS)]
RTOL, ATOL = 1e-6, 1e-9


def timed(call):
    """(what it returns, the median time in ms)"""
    times = []
    for _ in range(REPEAT):
        began = time.perf_counter()
        out = call()
        times.append(1e3 * (time.perf_counter() - began))
    return out, statistics.median(times)


def error(y, exact):
    return np.max(np.abs(y - exact)) / np.max(np.abs(exact))


def rows_of(f, span, y0, text):
    exact = scipy_ivp(f, span, y0, method="Radau", rtol=1e-12, atol=1e-15).y[:, -1]
    stiff = f is not lotka
    for method in (["Radau", "BDF", "LSODA"] if stiff else ["RK45", "DOP853", "Radau", "LSODA"]):
        found, ms = timed(lambda: scipy_ivp(f, span, y0, method=method, rtol=RTOL, atol=ATOL))
        yield "SciPy", method, error(found.y[:, -1], exact), ms
    for method in ("auto", "radau2a" if stiff else "dopri5"):
        found, ms = timed(lambda: costate.solve_ivp(f, span, y0, method=method, rtol=RTOL, atol=ATOL))
        yield "costate", method, error(found.y[:, -1], exact), ms
    model = costate.Model(text)
    for method in ("auto", "radau2a" if stiff else "dopri5"):
        problem = costate.Problem(model, method=method, rtol=RTOL, atol=ATOL)
        found, ms = timed(lambda: problem.integrate(span, y0, record=False))
        yield "costate, compiled", method, error(found.y, exact), ms


def table(name, rows):
    best = min((ms for who, _, e, ms in rows if who == "SciPy" and e < 10 * RTOL),
               default=min(ms for who, _, _, ms in rows if who == "SciPy"))
    print(f"\n{name}: rtol {RTOL:g}, atol {ATOL:g}")
    print(f"{'':20}{'method':>10}{'error':>10}{'time, ms':>12}{'relative':>10}")
    for who, method, e, ms in rows:
        print(f"{who:20}{method:>10}{e:10.1e}{ms:12.3f}{ms / best:10.3f}")


def gradients():
    """of a functional of HIRES with respect to its 8 initial values"""
    name, f, span, y0 = PROBLEMS[3]
    problem = costate.Problem(lambda t, y, p: np.array(f(t, y)), method="radau2a", trace=False, rtol=RTOL, atol=ATOL)
    model = costate.Problem(costate.Model(TEXT[name]), method="radau2a", rtol=RTOL, atol=ATOL)
    w = np.arange(1.0, 9)

    def differences(rtol, atol, by):
        ends = [scipy_ivp(f, span, np.array(y0) + by * d, method="Radau", rtol=rtol, atol=atol).y[:, -1] @ w
                for d in np.vstack([np.zeros(8), np.eye(8)])]
        return (np.array(ends[1:]) - ends[0]) / by
    exact = costate.Problem(costate.Model(TEXT[name]), method="radau2a5", rtol=1e-12, atol=1e-15).integrate(
        span, y0).adjoint(w)[0]
    print(f"\ngradient of a functional of {name} with respect to its 8 initial values")
    print(f"{'':47}{'error':>10}{'time, ms':>12}")
    for who, call in (("SciPy Radau, differences, the same tolerances", lambda: differences(RTOL, ATOL, 1e-4)),
                      ("SciPy Radau, differences, rtol 1e-10", lambda: differences(1e-10, 1e-13, 1e-7)),
                      ("costate, Python functions, adjoint", lambda: problem.integrate(span, y0).adjoint(w)[0]),
                      ("costate, compiled, adjoint", lambda: model.integrate(span, y0).adjoint(w)[0])):
        g, ms = timed(call)
        print(f"{who:47}{error(g, exact):10.1e}{ms:12.3f}")


def main():
    warnings.simplefilter("ignore")
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, SciPy {scipy.__version__}, costate "
          f"{costate.__version__}; medians of {REPEAT} repetitions")
    for name, f, span, y0 in PROBLEMS:
        table(name, list(rows_of(f, span, y0, TEXT[name])))
    gradients()


if __name__ == "__main__":
    main()
