"""test_derivatives.py - complex steps and differences of functions are right at all scales, in all kinds of maps."""
import os
import pickle
import sys
import threading
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                              # noqa: E402

import costate                                  # noqa: E402
from cases import fails, run_all                # noqa: E402

SHARP = dict(rtol=1e-9, atol=1e-11)
DIFFERENCED = 2e-6          # of a gradient by differences: those lose a part of the digits


def close(a, b, tol, what=""):
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    assert a.shape == b.shape, f"{what}: shapes {a.shape} and {b.shape}"
    gap = np.max(np.abs(a - b) / (np.abs(b) + 1e-300), initial=0)
    assert gap <= tol, f"{what}: gap {gap:.1e} > {tol:.1e}: {a} {b}"


class Counted:
    """a function of (t, y, p) that counts its calls, and the times of real ones"""

    def __init__(self, f):
        self.f, self.calls, self.low, self.high = f, 0, np.inf, -np.inf

    def __call__(self, t, *rest):
        self.calls += 1
        self.low, self.high = min(self.low, np.real(t)), max(self.high, np.real(t))
        return self.f(t, *rest)


# ---- functions that lose the imaginary part, everywhere or but where they vanish -------------------------------------

SQUARES = {"abs(y) y": lambda y: abs(y) * y, "norm": lambda y: np.sqrt(abs(y * y)) * y,
           "abs(y)^2": lambda y: abs(y) ** 2, "conj": lambda y: np.conj(y) * y, "real": lambda y: np.real(y) * y,
           "float": lambda y: float(np.real(y)) ** 2, "y^2": lambda y: y * y}


def test_squares():
    """y' = -p |y| y: y(1) = y0/(1 + p y0), from 0 on; beside it a fast component, whose derivatives are 1e6 times as
    large; n = 1 and 40"""
    for number, (name, square) in enumerate(SQUARES.items()):
        for n in (1, 40):
            def f(t, y, p):
                return np.concatenate([[p[1] - p[0] * square(y[0])], -1e6 * (y[1:] - y[0])])
            for method, y0 in (("radau2a", 1.0), ("auto", 0.0), ("dopri5", 1e-3)):
                if n == 40 and (method != "radau2a" or name not in ("abs(y) y", "y^2")):
                    continue
                if number % 3 == {"radau2a": 1, "auto": 2, "dopri5": 0}[method] and name != "y^2" and n == 1:
                    continue
                p = np.array([0.5, 0.0 if y0 else 1.0])
                run = costate.Problem(f, method=method, rtol=1e-7, atol=1e-9).integrate((0, 1), np.full(n, y0), p)
                if y0:
                    want = y0 / (1 + p[0] * y0), 1 / (1 + p[0] * y0) ** 2, -y0 ** 2 / (1 + p[0] * y0) ** 2
                else:           # tanh(a t)/a with a = sqrt(p0)
                    a = np.sqrt(p[0])
                    want = (np.tanh(a) / a, 1 / np.cosh(a) ** 2,
                            (1 / np.cosh(a) ** 2 / a - np.tanh(a) / a ** 2) / (2 * a))
                e = np.eye(n)[0]
                by_y, by_p = run.adjoint(e)
                got = run.y[0], by_y @ np.ones(n), by_p[0]
                close(got, want, 1e-5, f"{name}, n = {n}, {method}")
                close([run.tangent(np.ones(n))[0], run.tangent(dp=[1.0, 0])[0]], want[1:], 1e-5, name)
                assert run.derivatives == ("complex step" if name == "y^2" else "differences"), (name, method)


def test_a_branch_of_the_run():
    """what loses the imaginary part is met late in the run: before that complex steps are right"""
    for start in (0.2, 0.7):
        def f(t, y, p):
            return -p[0] * (np.abs(y) if t > start else y)
        run = costate.Problem(f, method="dopri5", hmax=0.01, **SHARP).integrate((0, 1), [2.0], [1.5])
        close(run.adjoint([1.0])[1], [-2 * np.exp(-1.5)], DIFFERENCED)
        close(run.tangent([1.0]), [np.exp(-1.5)], DIFFERENCED)
        assert run.derivatives == "differences"


# ---- kinds of maps ---------------------------------------------------------------------------------------------------

def decay(t, y, p, *m):
    return -y


def test_costs():
    for square in (SQUARES["abs(y) y"], SQUARES["conj"]):
        run = costate.Problem(lambda t, y, p: 1 + 0 * y, method="dopri5", **SHARP,
                              cost=lambda t, y, p: np.array([1e6 * y[0], p[0] * square(y[0])])).integrate(
                                  (0, 2), [0.0], [3.0])
        by_y, by_p = run.adjoint(w_costs=[0.0, 1.0])
        close([by_y[0], by_p[0]], [3 * 4, 8 / 3], 1e-6)
        assert run.derivatives == "differences"


def test_jumps_and_guards():
    jump = costate.Event(times=[1.0], jump=lambda t, y, p: p[0] * np.abs(y) ** 2)
    run = costate.Problem(decay, events=[jump], method="dopri5", **SHARP).integrate((0, 2), [2.0], [3.0])
    by_y, by_p = run.adjoint([1.0])
    close([by_y[0], by_p[0]], [3 * 2 * 2 * np.exp(-3), 4 * np.exp(-3)], 1e-6)
    for guard in (lambda t, y, p: np.abs(y[0]) - p[0], lambda t, y, p: y[0] - np.abs(p[0]),
                  lambda t, y, p: y[0] * np.abs(t) - p[0] * t):
        stop = costate.Event(guard, direction=1, terminal=True)
        problem = costate.Problem(lambda t, y, p: 1 + 0 * y, events=[stop], method="dopri5", **SHARP)
        g = problem.gradient(costate.Functional(end=lambda t, y, p: t ** 2), (0.5, 9.0), [1.0], [3.0])
        close([g.value, g.y0[0], g.p[0]], [2.5 ** 2, -5.0, 5.0], 1e-6)
        assert g.derivatives == "differences"


def test_memory():
    """y' = -m y: with respect to m; jac_m is given, or lost by the function"""
    def lost(t, y, p, m):
        return -np.abs(m[0]) * y
    doubled = costate.Map(lambda t, y, p, m: np.array([y[0], 2 * m[0]]), jac=[[1.0], [0]], jac_p=np.zeros((2, 1)),
                          jac_t=np.zeros(2), jac_m=[[0.0], [2]])
    later = [costate.Event(times=[5.0], jump=doubled)]
    ways = {"exact": dict(rhs=lost, jac=lambda t, y, p, m: [[-m[0]]], jac_p=np.zeros((1, 1)), jac_t=np.zeros(1),
                          jac_m=lambda t, y, p, m: [[-y[0]]]), "differences": dict(rhs=lost),
            "complex step": dict(rhs=lambda t, y, p, m: -m[0] * y)}
    for way, given in ways.items():
        given = dict(given)
        run = costate.Problem(given.pop("rhs"), memory=1, events=later, method="dopri5", **given, **SHARP).integrate(
            (0, 1), [2.0, 3.0], [1.0])
        close(run.adjoint([1.0])[2], [-2 * np.exp(-3)], 1e-7)
        close(run.tangent(dm=[1.0]), [-2 * np.exp(-3)], 1e-7)
        assert run.derivatives == way
    run = costate.Problem(lost, memory=1, jac=lambda t, y, p, m: [[-m[0]]], events=later, method="dopri5").integrate(
        (0, 1), [2.0, 3.0])
    fails(TypeError, "give jac_m", run.adjoint, [1.0])


def test_boundary_values():
    """y'' = p |y| y with conditions that lose y; and a function that does"""
    def f(t, y, p):
        return np.array([y[1], p[0] * np.abs(y[0]) + 0 * y[0]])
    for rhs, conditions in ((f, lambda a, b, p: np.array([a[0] - 1, b[0] - p[1]])),
                            (lambda t, y, p: np.array([y[1], p[0] * y[0]]),
                             lambda a, b, p: np.array([a[0] - 1, np.abs(b[0]) - p[1]]))):
        solution = costate.BoundaryProblem(rhs, conditions).solve((0, 1), [1.0, 0.0], [4.0, 2.0])
        close(solution(0.5)[0], 1.5 / np.cosh(1.0), 1e-5)       # (1 + 2) sinh(1)/sinh(2)
        want = [-3 * np.tanh(1) / np.cosh(1) / 16, np.sinh(1) / np.sinh(2)]
        close(solution.adjoint([0.5], [[1.0, 0.0]]), want, 1e-5)
        close(solution.tangent([0.5], np.eye(2))[0, 0], want, 1e-5)
        assert solution.derivatives == "differences"


def test_functionals():
    """end and terms that lose the imaginary part are refused; in t1 there are differences"""
    run = costate.Problem(decay, method="dopri5", **SHARP).integrate((0, 1), [2.0, 1.0], [3.0])
    for end in (lambda t, y, p: abs(y[0]) ** 2, lambda t, y, p: y[1] + 1e-3 * abs(y[0]), lambda t, y, p: y[0].real):
        fails(TypeError, "complex y", run.gradient, costate.Functional(end=end))
    fails(TypeError, "complex p", run.gradient, costate.Functional(end=lambda t, y, p: y[0] * abs(p[0])))
    fails(TypeError, "complex y", run.gradient, costate.Functional(times=[0.5], term=lambda t, y: abs(y[0]) * y[1]))
    table = [0.0, 1.0, 4.0, 9.0]
    for end, way in ((lambda t, y, p: t ** 2 * y[0], "complex step"),
                     (lambda t, y, p: np.interp(t, [0, 5], [0, 5]) ** 2 * y[0], "differences")):
        g = run.gradient(costate.Functional(end=end))
        close(g.t1, 2 * run.y[0] - run.y[0], 1e-8)
        assert g.derivatives == way
    assert run.gradient(costate.Functional(end=lambda t, y, p: table[int(t)] * y[0])).y0[0] > 0
    F = costate.Functional(end=lambda t, y, p: y[0] ** 2, end_y=lambda t, y, p: np.array([2 * abs(y[0]), 0]))
    jac = dict(jac=-np.eye(2), jac_p=np.zeros((2, 1)), jac_t=np.zeros(2))
    run = costate.Problem(decay, method="dopri5", **jac, **SHARP).integrate((0, 1), [2.0, 1.0], [3.0])
    fails(TypeError, "end_yy", run.hessp, F, [1.0, 0])


def test_second_derivatives():
    """of a given Jacobian that loses the imaginary part: refused, or by differences where that is wanted"""
    def f(t, y, p):
        return -p[0] * y * np.abs(y)

    def jac(t, y, p):
        return np.array([[-2 * p[0] * abs(y[0])]])

    def jac_p(t, y, p):
        return np.array([[-y[0] * abs(y[0])]])
    F = costate.Functional(end=lambda t, y, p: y[0], end_y=lambda t, y, p: np.array([1 + 0 * y[0]]))
    given = dict(jac=jac, jac_p=jac_p, jac_t=np.zeros(1), method="dopri5", **SHARP)
    fails(TypeError, "jac of fun does not compute with complex y", costate.Problem(f, **given).hessp, F, (0, 1), [2.0],
          [3.0], vy0=[1.0])
    found = costate.Problem(f, differences=1, **given).hessp(F, (0, 1), [2.0], [3.0], vy0=[1.0])
    close(found.Hy0, [-2 * 3 / 7 ** 3], 1e-4)


# ---- scales ----------------------------------------------------------------------------------------------------------

def test_scales():
    """an RC circuit v' = (u - v)/(R C) with the units of v, C and t anything: dv/du, dv/dC, dv/dv0 in all ways"""
    places = [tuple(s if k == axis else 0 for k in range(3)) for axis in range(3) for s in (-15, 15)]
    for k, powers in enumerate(places + [(0, 0, 0), (0, -8, 0), (15, -15, -15), (-15, 15, 15), (-12, -12, 0)]):
        V, C, T = (10.0 ** k for k in powers)
        R = T / C

        def lost(t, v, p):
            return (p[0] - np.abs(v)) / (p[1] * p[2])

        def kept(t, v, p):
            return (p[0] - v) / (p[1] * p[2])
        want = np.array([1 - np.exp(-1), -4 * V * np.exp(-1) / R, -4 * V * np.exp(-1) / C])
        for f, ways in ((kept, ("auto", "complex step", "differences")), (lost, ("auto",))):
            for way in ways:
                for method in (("dopri5", "radau2a")[k % 2],):
                    problem = costate.Problem(f, method=method, derivatives=way, rtol=1e-7, atol=1e-7 * V)
                    run = problem.integrate((0, T), [V], [5 * V, R, C])
                    what, tol = f"{powers}, {way}, {method}", 1e-5
                    by_y, by_p = run.adjoint([1.0])
                    close(by_y, [np.exp(-1)], tol, what)
                    close(by_p, want, tol, what)
                    close(run.tangent(dp=np.eye(3))[0], want, tol, what)
                    exact = f is kept and way != "differences"
                    assert run.derivatives == ("complex step" if exact else "differences"), what


def test_many_scales_at_once():
    """40 components from 1e-15 to 1e15 in one problem, some of which start at 0, with their own parameters; one
    parameter is 0"""
    n = 40
    size = 10.0 ** np.linspace(-15, 15, n)
    rate = np.linspace(0.5, 2, n)
    p = np.concatenate([rate * size, [0.0]])
    y0 = np.where(np.arange(n) % 4 == 0, 0.0, size)
    for lose in (np.abs,):
        def f(t, y, p):
            return (p[:n] - lose(p[:n] / size) * y) + p[n] * size
        run = costate.Problem(f, method="dopri5", rtol=1e-8, atol=1e-8 * size).integrate((0, 1), y0, p)
        E = np.exp(-rate)
        by_y, by_p = run.adjoint(np.eye(n))
        close(np.diag(by_y), E, 1e-6)
        # y = s + (y0 - s) exp(-p/s) with s = size
        assert np.max(np.abs(np.diag(by_p[:n]) - (1 - y0 / size) * E)) < 1e-6
        close(by_p[n], size * (1 - E) / rate, 1e-6)
        close(run.tangent(dp=np.eye(n + 1)[n]), size * (1 - E) / rate, 1e-6)


def test_far_from_zero_in_time():
    """t0 = 1.7e12 s and a span of a day"""
    t0, day = 1.7e12, 86400.0

    def f(t, y, p):
        return -p[0] * np.abs(y) + p[0] * np.real(t - t0) / day
    for method in ("dopri5", "rodas4"):
        run = costate.Problem(f, method=method, rtol=1e-7, atol=1e-7).integrate((t0, t0 + day), [1.0], [2 / day])
        assert run.stats["steps"] < 100
        # y = x - 1/2 + 3/2 exp(-2 x) with x = (t - t0)/day
        close(run.y, [0.5 + 1.5 * np.exp(-2.0)], 1e-5)
        close(run.tangent([1.0]), [np.exp(-2.0)], 1e-5)
        close(run.adjoint([1.0])[0], [np.exp(-2.0)], 1e-5)


# ---- time ------------------------------------------------------------------------------------------------------------

def test_slopes_in_time():
    """Stiff, driven by a sine of time of period T, with methods that need df/dt: as many steps as with jac_t; t that
    loses its imaginary part, in floats; f is never called outside t_span."""
    for method, places in (("rodas4", ((1e-15, 0.0), (1e15, 1e14))), ("rodas5p", ((1e-6, 0.0), (1.0, -3.0)))):
        for T, t0 in places:
            lam, w = 1e4 / T, 2 * np.pi / T

            def kept(t, y, p):
                return -lam * (y - np.sin(w * t)) + w * np.cos(w * t)

            def lost(t, y, p):
                return -lam * (y - np.sin(w * np.real(t))) + w * np.cos(w * np.real(t))
            given = dict(jac=[[-lam]], jac_p=np.zeros((1, 0)),
                         jac_t=lambda t, y, p: [lam * w * np.cos(w * t) - w * w * np.sin(w * t)])
            y0, steps = [np.sin(w * t0)], []
            for f, more in ((kept, given), (kept, {}), (lost, {}), (kept, dict(derivatives="differences"))):
                f = Counted(f)
                run = costate.Problem(f, method=method, rtol=1e-5, atol=1e-8, **more).integrate((t0, t0 + 2 * T), y0)
                steps.append(run.stats["steps"])
                assert f.low >= t0 and f.high <= t0 + 2 * T, (method, T, f.low - t0, f.high - t0 - 2 * T)
                assert abs(run.y[0] - np.sin(w * (t0 + 2 * T))) < 1e-4
            assert max(steps) <= 1.1 * min(steps) + 3, (method, T, steps)
            assert run.derivatives == "differences"


def test_gradients_with_respect_to_times():
    """y' = -y + s(t) with a forcing that loses t: dy/dt1 and dy/dt0 by differences in all functions"""
    def f(t, y, p):
        return -np.abs(y) + p[0] * np.interp(np.real(t), [0, 10], [0, 10])
    end = costate.Functional(end=lambda t, y, p: y[0])
    g = costate.Problem(f, method="dopri5", **SHARP).gradient(end, (1, 3), [2.0], [1.0])
    # y = t - 1 + (y0 - t0 + 1) exp(t0 - t)
    E = np.exp(-2)
    close([g.value, g.t1, g.t0], [2 + 2 * E, 1 - 2 * E, E], 1e-6)
    assert g.derivatives == "differences"


def test_times_that_end_a_run():
    """the time of flight, from n = 1 to 40, with estimates; thresholds and given times"""
    fall = costate.Problem(lambda t, y, p: np.array([y[1], -p[0] + 0 * y[0]]), method="dopri5", rtol=1e-10, atol=1e-10,
                           events=[costate.Event(lambda t, y, p: y[:1], direction=-1, terminal=True)])
    T = np.sqrt(2 / 9.81)
    of_time = [costate.Functional(end=lambda t, y, p: t), costate.Functional(end=lambda t, y, p: t + 0 * y[0]),
               costate.Functional(end=lambda t, y, p: t, end_t=lambda t, y, p: 1.0),
               costate.Functional(end=lambda t, y, p: np.interp(np.real(t), [0, 9], [0, 9]))]
    for F in of_time:
        g = fall.gradient(F, (0, 10.0), [1.0, 0.0], [9.81])
        close([g.value, g.p[0], *g.y0], [T, -T / (2 * 9.81), 1 / (9.81 * T), 1 / 9.81], 1e-8)
        close(g.events, [1 / (9.81 * T)], 1e-8)         # a constant that is added to the guard, as y[0]
        g = fall.gradient(F, (0, 10.0), [1.0, 0.0], [9.81], estimate=True)
        close(g.p[0], -T / (2 * 9.81), 1e-8)
    stopped = costate.Functional(end=lambda t, y, p: t * y[1], end_y=lambda t, y, p: np.array([0 * t, t]))
    fails((TypeError, costate.CostateError), "", fall.hessp, stopped, (0, 10.0), [1.0, 0.0], [9.81], vp=[1.0])
    lands = costate.Problem(lambda t, y, p: np.array([y[1], -p[0] + 0 * y[0]]), method="dopri5", differences=1,
                            jac=lambda t, y, p: np.array([[0, 1], [0, 0]]), rtol=1e-8, atol=1e-8,
                            jac_p=lambda t, y, p: np.array([[0], [-1]]), jac_t=lambda t, y, p: np.zeros(2),
                            events=[costate.Event(lambda t, y, p: y[:1], direction=-1, terminal=True)])
    late = costate.Functional(end=lambda t, y, p: t * t * y[1], end_y=lambda t, y, p: np.array([0 * t, t * t]))
    for more in (dict(), dict(estimate=True), dict(tol=1e-4)):
        fails(TypeError, "where an event ended the run", lands.hessp, late, (0, 10.0), [1.0, 0.0], [9.81], vp=[1.0],
              **more)
    dose = costate.Problem(decay, method="dopri5", **SHARP,
                           events=[costate.Event(times=[1.0, 1.5], jump=lambda t, y, p: y + p[0])])
    g = dose.gradient(costate.Functional(end=lambda t, y, p: y[0] * t), (0, 2), [1.0], [3.0])
    close(g.events, 2 * 3 * np.exp([-1.0, -0.5]), 1e-7)
    y = np.exp(-2.0) + 3 * np.exp(-1) + 3 * np.exp(-0.5)
    close(g.t1, y - 2 * y, 1e-7)


# ---- no false alarms, and what it costs ------------------------------------------------------------------------------

def test_complex_steps_stay():
    """functions that compute with complex y: cancellation, round-off, kinks and other scales raise no alarm"""
    def heat(t, y, p):
        d = np.zeros_like(y)
        d[1:-1] = (y[:-2] - 2 * y[1:-1] + y[2:]) * (len(y) + 1) ** 2
        return p[0] * d

    def robertson(t, y, p):
        a, b, c = p[0] * y[0], p[1] * y[1] * y[2], p[2] * y[1] ** 2
        return np.array([-a + b, a - b - c, c])

    def arrhenius(t, y, p):
        r = p[0] * np.exp(-p[1] / (8.314 * y[1])) * y[0]
        return np.array([-r, 1e2 * r - 0.1 * (y[1] - 300)])

    def difference_of_large(t, y, p):
        return np.array([(1e8 + y[0]) - (1e8 + y[1]), p[0] * (np.exp(1e-3 * y[0]) - 1 - y[1] * 1e-8)])

    def kinked(t, y, p):
        return np.array([np.where(y[0] > 1, 2 - y[0], y[0]) * p[0], np.maximum(y[1], 0.5) - y[1]])
    for f, y0, p, end in ((heat, np.r_[0, np.ones(38), 0], [1.0], 0.05), (heat, np.r_[0, np.ones(398), 0], [1.0], 1e-6),
                          (robertson, [1.0, 0, 0], [0.04, 1e4, 3e7], 40), (arrhenius, [1.0, 320.0], [1e10, 8e4], 5.0),
                          (difference_of_large, [1.0, 2.0], [1.0], 1.0), (kinked, [0.3, 0.2], [1.0], 3.0)):
        method = "radau2a" if len(y0) < 100 else "dopri5"
        run = costate.Problem(f, method=method, rtol=1e-6, atol=1e-10).integrate((0, end), y0, p)
        dy = run.tangent(dp=np.ones(len(p)))
        by_p = run.adjoint(np.ones(len(y0)))[1]
        assert run.derivatives == "complex step", f.__name__
        assert abs(by_p.sum() - dy.sum()) <= 1e-9 * np.abs(dy).sum() + 1e-12


def test_a_pattern_in_gradients():
    """adjoints and tangents move columns that share no row together; a pattern that leaves out entries is refused"""
    for n in (20, 200):
        band = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 1
        counted = []
        for lose in (lambda y: y, np.abs):
            def f(t, y, p):
                d = np.zeros_like(y * p[0])
                d[1:-1] = y[:-2] - 2 * y[1:-1] + y[2:]
                return p[0] * (d - lose(y))
            f = Counted(f)
            y0 = np.sin(np.linspace(0, np.pi, n)) + 1
            run = costate.Problem(f, method="radau2a", sparsity=band, rtol=1e-6, atol=1e-8).integrate((0, 1), y0, [1.0])
            f.calls = 0
            by_y, by_p = run.adjoint(np.ones(n))
            counted.append(f.calls)
            dense_ = costate.Problem(f, method="radau2a", rtol=1e-6, atol=1e-8).integrate((0, 1), y0, [1.0])
            close(by_p, dense_.adjoint(np.ones(n))[1] if n == 20 else by_p, 1e-5)
            close(run.tangent(y0, [1.0]) @ np.ones(n), by_y @ y0 + by_p[0], 1e-6)
        assert max(counted) < 2500, counted

    def ring(t, y, p):
        return np.roll(y, 1) - 2 * y + np.roll(y, -1) + 0 * p[0]
    band = np.abs(np.subtract.outer(np.arange(40), np.arange(40))) <= 1
    for way in ("auto", "differences"):
        problem = costate.Problem(ring, sparsity=band, method="dopri5", derivatives=way)
        fails(ValueError, "sparsity leaves out", problem.gradient, costate.Functional(end=lambda t, y, p: y[0]), (0, 1),
              np.arange(40.0), [1.0])


# ---- the truth -------------------------------------------------------------------------------------------------------

def test_what_run_derivatives_says():
    run = costate.Problem(lambda t, y, p: -p[0] * y, jac=lambda t, y, p: [[-p[0]]], method="dopri5").integrate(
        (0, 1), [1.0], [2.0])
    assert run.derivatives == "complex step" and run.adjoint([1.0])[1][0] < 0       # jac_p is not given
    run = costate.Problem(lambda t, y, p: -2 * y, jac=[[-2.0]], method="dopri5").integrate((0, 1), [1.0])
    assert run.derivatives == "exact"
    steps = costate.Problem(lambda t, y, p: -np.abs(y), derivatives="complex step")
    fails(TypeError, 'derivatives="auto"', steps.gradient, costate.Functional(end=lambda t, y, p: y[0]), (0, 1), [1.0])
    # a run whose problem has learned since: it is repeated before it is differentiated
    problem = costate.Problem(lambda t, y, p: np.array([1 - abs(y[0]) * y[0]]), method="radau2a", **SHARP)
    early, late = (problem.integrate((0, end), [0.0]) for end in (1.0, 2.0))
    close(late.tangent([1.0]), [1 / np.cosh(2) ** 2], 1e-6)
    close(early.tangent([1.0]), [1 / np.cosh(1) ** 2], 1e-6)
    assert early.derivatives == late.derivatives == "differences"
    ensemble = problem.ensemble((0, 1), np.array([[0.0], [0.5]]), w=[1.0])
    close(ensemble.y0[:, 0], [1 / np.cosh(1) ** 2, 0.75 / (np.cosh(1) + 0.5 * np.sinh(1)) ** 2 / 0.75], 1e-6)


def test_threads_on_one_run():
    """sweeps of one run from several threads, each with gradients of its own"""
    n = 5
    problem = costate.Problem(lambda t, y, p: -p * y, method="dopri5", **SHARP)
    run = problem.integrate((0, 1), np.ones(n), np.arange(1.0, n + 1), t_eval=[0.5])
    wrong = []

    def work(k):
        for _ in range(4):
            got = run.gradient(costate.Functional(end=lambda t, y, p: y[k], times=[0.5], term=lambda t, y: k * y[k]))
            want = -np.exp(-(k + 1)) - 0.5 * k * np.exp(-0.5 * (k + 1))
            if abs(got.p[k] - want) > 1e-7 or np.count_nonzero(got.p) != 1:
                wrong.append((k, got.p))
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[0]


def lossy(t, y, p):
    return np.array([-p[0] * abs(y[0]) + np.sin(t), y[0] - y[1]])


def test_by_map():
    """each function and argument has its word, and t only where it was needed"""
    events = [costate.Event(lambda t, y, p: y[1] - 10 + 0 * p[0])]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        problem = costate.Problem(lossy, cost=lambda t, y, p: y[0] * np.exp(p[0]), events=events, method="dopri5")
        run = problem.integrate((0, 1), [1.0, 0.0], [2.0])
        run.adjoint([1.0, 0.0])
        run.adjoint([0.0, 1.0])
        problem.integrate((0, 1), [1.0, 0.0], [2.0]).tangent(dp=[1.0])
    right = dict.fromkeys("typ", "complex step")                # an event needs slopes with respect to t
    assert run.derivatives == "differences" and run.derivatives.by_map == {
        "fun": {**right, "y": "differences"}, "cost": right, "the guard of events[0]": right}, run.derivatives.by_map
    assert [(w.category, w.filename) for w in caught] == [(costate.DerivativeWarning, __file__)], caught    # once, here
    assert "of fun with respect to y" in str(caught[0].message) and "give jac " in str(caught[0].message).lower()
    found = problem.gradient(costate.Functional(end=lambda t1, y, p: y[0] * float(t1)), (0, 1), [1.0, 0.0], [2.0])
    assert found.derivatives.by_map["functional"] == {**right, "t": "differences"}
    given = costate.Problem(lambda t, y, p: -y, jac=-np.eye(1), jac_t=[0.0]).integrate((0, 1), [1.0])
    assert given.derivatives == "exact" and given.derivatives.by_map == {"fun": {"y": "given"}}
    again = pickle.loads(pickle.dumps(run.derivatives))
    assert again == "differences" and again.by_map == run.derivatives.by_map


def test_one_fault_at_a_time():
    """a function whose values are wrong is not said to lose imaginary parts"""
    with warnings.catch_warnings():
        warnings.simplefilter("error", costate.DerivativeWarning)
        fails(ValueError, "expected (2,)", costate.Problem(lambda t, y, p: [1, 2, 3]).integrate, (0, 1), [1.0, 2.0])
        fails(ValueError, "no float", costate.Problem(lambda t, y, p: [float("no float")]).integrate, (0, 1), [1.0])


def test_no_warning_unasked():
    """where differences were asked for, and in solve_ivp, which has no derivatives"""
    with warnings.catch_warnings():
        warnings.simplefilter("error", costate.DerivativeWarning)
        run = costate.Problem(lossy, derivatives="differences").integrate((0, 1), [1.0, 0.0], [2.0])
        assert run.derivatives.by_map == {"fun": {"y": "differences", "p": "differences"}}
        assert costate.solve_ivp(lossy, (0, 1), [1.0, 0.0], args=([2.0],)).success


run_all(globals())
