"""solve_ivp: against exact solutions and SciPy's solve_ivp; events, dense output, complex y, Jacobians, failures."""
import gc
import math
import os
import pickle
import sys
import traceback
import warnings

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import Skipped, run_all

from costate import CostateError, methods
from costate._costate import ffi
from costate._crossings import root
from costate._dense import DenseOutput, OdeSolution
from costate._pattern import Pattern
from costate.ivp import solve_ivp

try:
    from scipy import integrate, sparse
except ImportError:
    integrate = sparse = None

SCIPY_METHODS = ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"]


def scipy():
    if integrate is None:
        raise Skipped("SciPy is not installed")
    return integrate.solve_ivp


def raises(kind, words, f, *args, **options):
    """the exception"""
    try:
        f(*args, **options)
    except kind as error:
        assert words in str(error), f"{words!r} is not in {error}"
        return error
    raise AssertionError(f"no {kind.__name__}")


def warned(f, *args, **options):
    """(what f returns, its warnings)"""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        return f(*args, **options), [str(w.message) for w in seen]


def decay(t, y):
    return -0.5 * y


def circle(t, y):
    return [y[1], -y[0]]


def lotka_volterra(t, z, a=1.5, b=1, c=3, d=1):
    x, y = z
    return [a * x - b * x * y, -c * y + d * x * y]


def robertson(t, y):
    return [-0.04 * y[0] + 1e4 * y[1] * y[2], 0.04 * y[0] - 1e4 * y[1] * y[2] - 3e7 * y[1]**2, 3e7 * y[1]**2]


def robertson_jac(t, y):
    return [[-0.04, 1e4 * y[2], 1e4 * y[1]], [0.04, -1e4 * y[2] - 6e7 * y[1], -1e4 * y[1]], [0, 6e7 * y[1], 0]]


def event(f, terminal=None, direction=None):
    """f with attributes"""
    def g(t, y, *args):
        return f(t, y, *args)
    if terminal is not None:
        g.terminal = terminal
    if direction is not None:
        g.direction = direction
    return g


# ---- the result -----------------------------------------------------------------------------------------------------

def test_result():
    r = solve_ivp(decay, (0, 10), [2, 4, 8])
    assert list(r) == ["message", "success", "status", "t", "y", "sol", "t_events", "y_events", "nfev", "njev", "nlu",
                       "derivatives"]
    assert r.t is r["t"] and r.success is True and r.status == 0 and r.sol is None
    assert r.message == "The solver successfully reached the end of the integration interval."
    assert r.t_events is None and r.y_events is None
    assert r.t.dtype == float and r.t[0] == 0 and r.t[-1] == 10 and r.y.shape == (3, len(r.t))
    assert_array_equal(r.y[:, 0], [2, 4, 8])
    assert_allclose(r.y[:, -1], np.array([2, 4, 8]) * math.exp(-5), rtol=1e-2)
    assert not hasattr(r, "nothing") and "nfev" in dir(r)
    r.more = 3
    assert r["more"] == 3
    del r.more
    assert "more" not in r


def test_print():
    text = repr(solve_ivp(decay, (0, 10), [2, 4, 8], dense_output=True))
    lines = text.splitlines()
    assert lines[0] == "     message: The solver successfully reached the end of the integration interval."
    assert "      status: 0" in lines and max(map(len, lines)) < 100
    assert str(solve_ivp(decay, (0, 10), [2])) != text


def test_counts():
    calls = []

    def fun(t, y):
        calls.append(t)
        return robertson(t, y)
    r = solve_ivp(fun, (0, 1), [1, 0, 0], method="Radau")
    assert r.njev > 0 and r.nlu > 0 and r.derivatives == "differences"
    assert r.nfev < len(calls) <= r.nfev + 3 * r.njev + 20     # those for differences are not counted
    r = solve_ivp(fun, (0, 1), [1, 0, 0], method="RK45")
    assert r.njev == r.nlu == 0
    jacs = []
    r = solve_ivp(robertson, (0, 1), [1, 0, 0], method="Radau",
                  jac=lambda t, y: jacs.append(t) or robertson_jac(t, y))
    assert r.njev == len(jacs) > 0 and r.derivatives == "exact"
    assert solve_ivp(decay, (0, 1), [1.0], method="Radau", jac=[[-0.5]]).njev == 0


# ---- against SciPy --------------------------------------------------------------------------------------------------

def test_like_scipy():
    other = scipy()
    for method in SCIPY_METHODS:
        for span in ((0, 4), (4, 1)):
            for fun, y0 in ((lotka_volterra, [10, 5]), (circle, [1, 0])):
                options = dict(method=method, rtol=1e-8, atol=1e-8, t_eval=np.linspace(*span, 7))
                mine, theirs = solve_ivp(fun, span, y0, **options), other(fun, span, y0, **options)
                assert_allclose(mine.y, theirs.y, rtol=2e-5, atol=2e-5)
                assert_array_equal(mine.t, theirs.t)


def test_stiff_like_scipy():
    other = scipy()
    for method in ("Radau", "BDF", "LSODA"):
        mine = solve_ivp(robertson, (0, 1e6), [1, 0, 0], method=method, rtol=1e-6, atol=1e-10)
        theirs = other(robertson, (0, 1e6), [1, 0, 0], method="Radau", rtol=1e-8, atol=1e-12)
        assert mine.success and len(mine.t) < 1000
        assert_allclose(mine.y[:, -1], theirs.y[:, -1], rtol=1e-3)


def test_all_methods():
    for method in methods():
        if method["embedded"] and method["family"] != "collocation":
            rtol = 1e-3 if method["order"] < 2 else 1e-5
            r = solve_ivp(circle, (0, 2), [1, 0], method=method["name"], rtol=rtol, atol=rtol, dense_output=True)
            assert r.success, r.message
            assert_allclose(r.y[:, -1], [math.cos(2), -math.sin(2)], atol=100 * rtol, err_msg=method["name"])
            t = np.linspace(0, 2, 50)
            assert_allclose(r.sol(t), [np.cos(t), -np.sin(t)], atol=100 * rtol, err_msg=method["name"])
            assert_array_equal(r.sol(r.t), r.y)
    r = solve_ivp(circle, (0, 2), [1, 0], method="rk4", controller="fixed", first_step=0.125)
    assert_allclose(np.diff(r.t), 0.125)


# ---- what fun may return, y0 may be ---------------------------------------------------------------------------------

def test_shapes():
    exact = math.exp(-1)
    for fun in (lambda t, y: -y, lambda t, y: -y[0], lambda t, y: [-y[0]], lambda t, y: (-float(y[0]),),
                lambda t, y: [[-y[0]]], lambda t, y: np.float32(-1) * y):
        assert_allclose(solve_ivp(fun, (0, 1), [1], rtol=1e-6).y[0, -1], exact, rtol=1e-4)
    assert_allclose(solve_ivp(lambda t, y: 2, (0, 1), (1, 2, 3)).y[:, -1], [3, 4, 5])
    buffer = np.zeros((3, 8))

    def fun(t, y):
        buffer[:, 4] = -y
        return buffer[:, 4]
    y0 = np.arange(12)[::4]
    r = solve_ivp(fun, (0, 1), y0, rtol=1e-6)
    assert_allclose(r.y[:, -1], y0 * exact, rtol=1e-4)
    assert_array_equal(y0, [0, 4, 8])
    integers = solve_ivp(lambda t, y: np.array([1, 2]), (0, 2), np.array([1, 1]))
    assert_allclose(integers.y[:, -1], [3, 5])
    assert_allclose(solve_ivp(lambda t, y: y > 0, (0, 2), [1.0]).y[0, -1], 3)


def test_fun_may_change_its_y():
    def fun(t, y):
        y *= -1
        return y
    assert_allclose(solve_ivp(fun, (0, 1), [1.0], rtol=1e-6).y[0, -1], math.exp(-1), rtol=1e-4)


def test_wrong_shapes():
    raises(ValueError, "expected (3,)", solve_ivp, lambda t, y: [1, 2], (0, 1), [1, 2, 3])
    raises(ValueError, "expected (2,)", solve_ivp, lambda t, y: -y[:, None], (0, 1), [1, 2])
    raises(ValueError, "1-dimensional", solve_ivp, decay, (0, 1), 1.0)
    raises(ValueError, "1-dimensional", solve_ivp, decay, (0, 1), [[1.0, 2.0]])


def test_vectorized():
    seen = set()

    def fun(t, y):
        seen.add(y.shape)
        return np.vstack([y[1], -y[0]])
    for y0 in ([1, 0], [1, 1j]):
        plain = solve_ivp(circle, (0, 1), y0, method="Radau", t_eval=[1])
        assert_allclose(solve_ivp(fun, (0, 1), y0, method="Radau", t_eval=[1], vectorized=True).y, plain.y, rtol=1e-12)
    assert seen == {(2, 1)}


def test_args():
    r = solve_ivp(lambda t, y, a, b: a * y + b, (0, 1), [1], args=(-1, 0), rtol=1e-6, method="Radau",
                  jac=lambda t, y, a, b: [[a]], events=event(lambda t, y, a, b: y[0] + a * 0.5))
    assert_allclose(r.y[0, -1], math.exp(-1), rtol=1e-4)
    assert_allclose(r.t_events[0], [math.log(2)], rtol=1e-4)
    raises(TypeError, "Supplied 'args' cannot be unpacked", solve_ivp, lambda t, y, a: a * y, (0, 1), [1], args=-1)


# ---- complex y ------------------------------------------------------------------------------------------------------

def test_complex():
    rate = -0.3 + 2j
    for method in SCIPY_METHODS + ["auto", "rodas5p"]:
        for jac in (None, [[rate]], lambda t, y: np.array([[rate]])):
            _, warning = warned(solve_ivp, lambda t, y: rate * y, (0, 1), [1 + 1j], method=method, jac=jac)
            assert bool(warning) == (jac is not None and method in SCIPY_METHODS[:3])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                r = solve_ivp(lambda t, y: rate * y, (0, 1), [1 + 1j], method=method, jac=jac, rtol=1e-7, atol=[1e-9],
                              dense_output=True, t_eval=[0, 0.5, 1], events=lambda t, y: y[0].real)
            assert r.success and r.y.dtype == complex
            assert_allclose(r.y[0], (1 + 1j) * np.exp(rate * r.t), rtol=1e-4)
            assert_allclose(r.sol(0.3), [(1 + 1j) * np.exp(rate * 0.3)], rtol=1e-4)
            assert r.y_events[0].dtype == complex and abs(r.y_events[0][0, 0].real) < 1e-13


def test_complex_start_of_real_equations():
    r = solve_ivp(lambda t, y: [1.0, 2.0], (0, 1), np.array([0, 0], dtype=complex))
    assert r.y.dtype == complex
    assert_allclose(r.y[:, -1], [1, 2])


def test_complex_fun_of_real_y():
    _, warning = warned(solve_ivp, lambda t, y: 1j * y, (0, 1), [1.0])
    assert "discards the imaginary part" in warning[0]


# ---- t_eval, dense output -------------------------------------------------------------------------------------------

def test_t_eval():
    for span in ((0, 3), (3, 0)):
        exact = solve_ivp(circle, span, [1, 0], method="RK45", dense_output=True)
        for at in (np.linspace(*span, 20), np.linspace(*span, 20)[1:-1], [span[0]], [span[1]], [1.5]):
            r = solve_ivp(circle, span, [1, 0], method="RK45", t_eval=at)
            assert_array_equal(r.t, at)
            assert_allclose(r.y, exact.sol(at), rtol=1e-13, atol=1e-13)
    r = solve_ivp(circle, (0, 3), [1, 0], t_eval=[0, 1, 3])
    assert r.t.dtype.kind == "i"
    r = solve_ivp(circle, (0, 3), [1, 0], t_eval=[])
    assert r.t == [] and r.y == []


def test_bad_t_eval():
    for at in ([0, 4], [-1, 0]):
        raises(ValueError, "not within `t_span`", solve_ivp, circle, (0, 3), [1, 0], t_eval=at)
    for span, at in (((0, 3), [2, 1]), ((0, 3), [1, 1]), ((3, 0), [1, 2])):
        raises(ValueError, "not properly sorted", solve_ivp, circle, span, [1, 0], t_eval=at)
    raises(ValueError, "1-dimensional", solve_ivp, circle, (0, 3), [1, 0], t_eval=[[1]])
    raises(ValueError, "unpack", solve_ivp, circle, (0, 1, 2), [1, 0])


def test_dense_output():
    for span in ((0, 5), (5, 0)):
        for method in ("RK45", "Radau", "auto"):
            r = solve_ivp(circle, span, [1, 0], method=method, dense_output=True, rtol=1e-6)
            sol, t = r.sol, np.linspace(*span, 101)
            assert isinstance(sol, OdeSolution) and (sol.t_min, sol.t_max) == (0, 5)
            assert_array_equal(sol.ts, r.t)
            assert_array_equal(sol(r.t), r.y)
            assert sol(1).shape == (2,) and sol([1]).shape == (2, 1) and sol([]).shape == (2, 0)
            assert_allclose(sol(t), np.stack([sol(x) for x in t], axis=1), rtol=1e-14, atol=1e-15)
            shuffled = np.random.default_rng(0).permutation(t)
            assert_allclose(sol(shuffled)[0], np.cos(shuffled - span[0]), atol=1e-3)
            raises(ValueError, "1-D", sol, [[1, 2]])
            steps = sol.interpolants
            assert len(steps) == sol.n_segments == len(r.t) - 1 and isinstance(steps[0], DenseOutput)
            middle = (r.t[1] + r.t[2]) / 2
            assert_allclose(steps[1](middle), sol(middle), rtol=1e-14)
            assert_allclose(steps[1]([middle, r.t[1]]), sol([middle, r.t[1]]), rtol=1e-14)
            assert (steps[1].t_old, steps[1].t_min) == (r.t[1], min(r.t[1:3]))


def test_accuracy_inside():
    """at t_eval, and of events, auto is as accurate as at the ends of its steps"""
    t = np.linspace(0, 10, 101)
    for tol in (1e-5, 1e-8):
        r = solve_ivp(circle, (0, 10), [1, 0], rtol=tol, atol=tol, t_eval=t, events=event(lambda t, y: y[0]))
        assert_allclose(r.y, [np.cos(t), -np.sin(t)], atol=20 * tol)
        assert_allclose(r.t_events[0], np.pi * np.array([0.5, 1.5, 2.5]), atol=20 * tol)


def test_dense_output_outside():
    r = solve_ivp(lambda t, y: [2 * t], (1, 2), [1], dense_output=True, method="RK45")
    assert_allclose(r.sol([0, 3, 4])[0], [0, 9, 16], rtol=1e-9, atol=1e-9)
    assert_allclose(r.sol(3), [9], rtol=1e-9)
    other = scipy()(lambda t, y: [np.cos(t)], (1, 2), [0], dense_output=True, method="RK45", first_step=0.1,
                    max_step=0.1)
    mine = solve_ivp(lambda t, y: [np.cos(t)], (1, 2), [0], dense_output=True, method="RK45", first_step=0.1,
                     max_step=0.1)
    assert_allclose(mine.sol([0.8, 2.2]), other.sol([0.8, 2.2]), rtol=1e-4)


def test_far_outside():
    """a polynomial whose round-off is all that is left is not evaluated"""
    def hit(t, y):
        return y[0]
    hit.terminal, hit.direction = True, -1
    sol = solve_ivp(lambda t, y: [y[1], -9.8], (0, 1), [0, 0.01], max_step=5e-6, events=hit, dense_output=True).sol
    raises(ValueError, "outside the run", sol, 0.01)
    raises(ValueError, "outside the run", sol, [0.001, 0.01])
    raises(ValueError, "outside the run", sol.interpolants[0], 0.01)
    assert_allclose(sol(sol.t_max + 1e-5)[1], 0.01 - 9.8 * (sol.t_max + 1e-5), rtol=1e-4)


def test_events_at_every_scale():
    """roots to round-off of the times, from 1e-15 to 1e15, and t in order"""
    for T in (1e-15, 1e-13, 1e-6, 1.0, 1e15):
        half = event(lambda t, y: y[0] - 0.5, terminal=True)
        for t0 in (0.0, -2 * T):
            r = solve_ivp(lambda t, y: [-y[0] / T], (t0, t0 + 5 * T), [1.0], events=half, rtol=1e-9, atol=1e-9)
            assert_allclose((r.t[-1] - t0) / T, math.log(2), rtol=1e-7)
            assert r.t[-1] == r.t_events[0][0] and np.all(np.diff(r.t) > 0)


def test_times_of_calls():
    """fun is called between the ends of t_span only, to the last bit"""
    for span in ((0.1, 0.3), (1e5, 1e5 + 0.7), (-0.7, -0.1), (0.007762366413183597, 0.00025346052988926664)):
        for method in ("RK45", "DOP853", "Radau", "auto"):
            seen = []
            solve_ivp(lambda t, y: seen.append(t) or -y, span, [1.0], method=method, rtol=1e-6)
            assert min(span) <= min(seen) and max(seen) <= max(span), (method, span)


def test_dense_output_remains():
    """after the solver is gone, and as a copy"""
    sol = solve_ivp(circle, (0, 3), [1, 0], dense_output=True, rtol=1e-8).sol
    gc.collect()
    assert_allclose(sol(2.2), [math.cos(2.2), -math.sin(2.2)], atol=1e-5)
    copy = pickle.loads(pickle.dumps(sol))
    assert_array_equal(copy(2.2), sol(2.2))
    r = solve_ivp(circle, (0, 3), [1, 0], dense_output=True, t_eval=[1, 2])
    assert_allclose(r.sol([1, 2]), r.y, rtol=1e-13)
    assert r.sol.n_segments > 2 and r.sol.t_max == 3


# ---- events ---------------------------------------------------------------------------------------------------------

def test_events_like_scipy():
    other = scipy()
    lists = [
        [event(lambda t, y: y[0])], [event(lambda t, y: y[0], direction=1)], [event(lambda t, y: y[0], direction=-1)],
        [event(lambda t, y: y[0]), event(lambda t, y: y[1] - 0.5, direction=-1), event(lambda t, y: t - 3)],
        [event(lambda t, y: y[0]), event(lambda t, y: y[1] - 0.5, terminal=True, direction=1)],
        [event(lambda t, y: t - 2.5, terminal=True), event(lambda t, y: t - 2.4), event(lambda t, y: t - 2.6)],
        [event(lambda t, y: y[0] - 1), event(lambda t, y: y[1]), event(lambda t, y: t - 1)],
        [event(lambda t, y: np.array([y[1]]))],
        [event(lambda t, y: y[0] - 5, terminal=True)], [event(lambda t, y: 0.0)],
    ]
    for events in lists:
        for span in ((0, 10), (10, 0)):
            for method in ("RK45", "Radau"):
                options = dict(method=method, events=events, rtol=1e-9, atol=1e-9, max_step=0.1, first_step=0.1)
                mine, theirs = solve_ivp(circle, span, [1, 0], **options), other(circle, span, [1, 0], **options)
                assert (mine.status, mine.message) == (theirs.status, theirs.message)
                for a, b in zip(mine.t_events + mine.y_events, theirs.t_events + theirs.y_events):
                    assert np.shape(a) == np.shape(b) or events is lists[-1], (a, b)
                    if np.shape(a) == np.shape(b):
                        assert_allclose(a, b, atol=1e-7)
                assert abs(mine.t[-1] - theirs.t[-1]) < 1e-7


def test_one_event():
    r = solve_ivp(circle, (0, 10), [1, 0], events=lambda t, y: y[0], rtol=1e-9, atol=1e-9)
    assert r.status == 0 and len(r.t_events) == 1
    assert_allclose(r.t_events[0], np.pi * np.array([0.5, 1.5, 2.5]), atol=1e-6)
    assert r.y_events[0].shape == (3, 2)
    assert_allclose(r.y_events[0][:, 0], 0, atol=1e-14)
    raises(TypeError, "NoneType", solve_ivp, circle, (0, 10), [1, 0], events=lambda t, y: None)
    raises(ValueError, "", solve_ivp, circle, (0, 10), [1, 0], events=lambda t, y: y)
    r = solve_ivp(circle, (0, 10), [1, 0], events=[])
    assert r.t_events == [] and r.y_events == []


def test_terminal_event():
    hit = event(lambda t, y: y[0], terminal=True, direction=-1)
    for span, end in (((0, 100), 40.0), ((0, np.inf), 40.0), ((0, 1e25), 40.0)):
        r = solve_ivp(lambda t, y: [y[1], -0.5], span, [0, 10], events=hit, dense_output=True)
        assert (r.status, r.success, r.message) == (1, True, "A termination event occurred.")
        assert_allclose(r.t_events[0], [end], rtol=1e-12)
        assert r.t[-1] == r.t_events[0][0] == r.sol.ts[-1] and r.sol.n_segments == len(r.t) - 1
        assert_array_equal(r.y[:, -1], r.y_events[0][0])
        assert_allclose(r.sol([10, 20]), [[75, 100], [5, 0]], rtol=1e-9, atol=1e-9)
    at = [1, 39, 40 - 1e-9, 40 + 1e-9, 60]
    r = solve_ivp(lambda t, y: [y[1], -0.5], (0, 100), [0, 10], events=hit, t_eval=at)
    assert_array_equal(r.t, at[:3])
    assert r.y.shape == (2, 3)
    back = solve_ivp(lambda t, y: [1.0], (5, 0), [0.0], events=event(lambda t, y: t - 2, terminal=True),
                     t_eval=[4, 3, 1])
    assert_array_equal(back.t, [4, 3])
    assert back.t_events[0][0] == 2
    early = solve_ivp(decay, (0, 9), [1], events=event(lambda t, y: t - 1, terminal=True), t_eval=[2, 3])
    assert early.t == [] and early.y == [] and early.status == 1


def test_terminal_after_several():
    """a number: so many occurrences, as in later versions of SciPy"""
    r = solve_ivp(circle, (0, 100), [1, 0], events=event(lambda t, y: y[0], terminal=3), rtol=1e-9, atol=1e-9)
    assert_allclose(r.t_events[0], np.pi * np.array([0.5, 1.5, 2.5]), atol=1e-6)
    assert r.status == 1 and r.t[-1] == r.t_events[0][2]
    for wrong in (-1, 2.5, "yes"):
        raises(ValueError, "boolean or positive integer", solve_ivp, circle, (0, 100), [1, 0],
              events=event(lambda t, y: y[0], terminal=wrong))
    for right in (None, False, 0, True, 1, np.int64(2), 2.0):
        assert solve_ivp(circle, (0, 9), [1, 0], events=event(lambda t, y: y[0], terminal=right)).status == bool(right)


def test_event_at_the_start():
    """a zero at t0 counts, as in SciPy"""
    g = event(lambda t, y: y[0] - 1, direction=-1)
    r = solve_ivp(decay, (0, 1), [1], events=g)
    assert_array_equal(r.t_events[0], [0])
    g = event(lambda t, y: y[0] - 1, terminal=True)
    r = solve_ivp(decay, (0, 1), [1], events=g, dense_output=True)
    assert r.status == 1 and r.t[-1] == 0


def test_root():
    for f, a, b in ((lambda x: x**3 - 2, 0, 2), (lambda x: math.exp(-x) - x, 0, 1), (lambda x: x - 1, 3, -5),
                    (lambda x: math.copysign(1, x - 0.3), 0, 1), (lambda x: (x - 1)**9, 0.2, 4),
                    (lambda x: math.atan(1e6 * (x - 0.7)), -10, 10)):
        x = root(f, a, b, f(a), f(b))
        near = 4e-15 * (1 + abs(x))
        assert f(x) == 0 or f(x - near) * f(x + near) <= 0, x
    assert root(lambda x: x, 0, 1, 0, 1) == 0 and root(lambda x: x - 1, 0, 1, -1, 0) == 1


# ---- Jacobians ------------------------------------------------------------------------------------------------------

N = 40


def heat_matrix():
    return N**2 * (np.diag(-2 * np.ones(N)) + np.diag(np.ones(N - 1), 1) + np.diag(np.ones(N - 1), -1))


def heat_packed():
    packed = np.zeros((3, N))
    packed[0, 1:] = packed[2, :-1] = N**2
    packed[1] = -2 * N**2
    return packed


def jacobians():
    """options by name"""
    A = heat_matrix()
    out = dict(none={}, constant=dict(jac=A), lists=dict(jac=lambda t, y: A.tolist()), array=dict(jac=lambda t, y: A),
               sparsity=dict(jac_sparsity=A), band=dict(lband=1, uband=1), wide=dict(lband=2, uband=3),
               packed=dict(lband=1, uband=1, jac=lambda t, y: heat_packed()),
               ignored=dict(jac=A, jac_sparsity=np.eye(N)))
    if sparse is not None:
        S = sparse.csr_matrix(A)
        out.update(sparse=dict(jac=S), function=dict(jac=lambda t, y: S.tocoo()), pattern=dict(jac_sparsity=S))
    return out


def test_jacobians():
    A, y0 = heat_matrix(), np.sin(np.pi * np.arange(1, N + 1) / (N + 1))
    decayed = y0 * math.exp(0.1 * 2 * N**2 * (math.cos(math.pi / (N + 1)) - 1))
    for name, options in jacobians().items():
        for method in ("Radau", "BDF", "rodas5p", "kvaerno54"):
            r = solve_ivp(lambda t, y: A @ y, (0, 0.1), y0, method=method, rtol=1e-6, **options)
            assert r.success, (name, r.message)
            assert_allclose(r.y[:, -1], decayed, rtol=1e-4, err_msg=name)
            assert r.derivatives == ("exact" if "jac" in options else "differences")
    sparsity = solve_ivp(lambda t, y: A @ y, (0, 0.1), y0, method="Radau", jac_sparsity=A)
    assert sparsity.njev == 1


def test_complex_jacobians():
    """the wave along the line, y' = i A y - 0.1 y"""
    A, y0 = heat_matrix(), np.sin(np.pi * np.arange(1, N + 1) / (N + 1)) + 0j
    M = 1j * A - 0.1 * np.eye(N)
    packed = 1j * heat_packed()
    packed[1] -= 0.1
    exact = y0 * np.exp(0.1 * (2j * N**2 * (math.cos(math.pi / (N + 1)) - 1) - 0.1))
    cases = dict(none={}, constant=dict(jac=M), band=dict(lband=1, uband=1), sparsity=dict(jac_sparsity=A),
                 packed=dict(lband=1, uband=1, jac=lambda t, y: packed))
    if sparse is not None:
        cases["sparse"] = dict(jac=sparse.csc_matrix(M))
    for name, options in cases.items():
        r = solve_ivp(lambda t, y: M @ y, (0, 0.1), y0, method="Radau", rtol=1e-6, **options)
        assert_allclose(r.y[:, -1], exact, rtol=1e-4, err_msg=name)


def test_entries_that_appear():
    """a sparse Jacobian with an entry that is not there at the start"""
    if sparse is None:
        raise Skipped("SciPy is not installed")

    def fun(t, y):
        out = -y**2
        out[0] += 5 * y[-1] * max(t - 0.5, 0)
        return out

    def jac(t, y):
        J = sparse.lil_matrix((N, N))
        J.setdiag(-2 * y)
        if t > 0.5:
            J[0, N - 1] = 5 * (t - 0.5)
        return J
    ends = [solve_ivp(fun, (0, 1), np.ones(N), method="Radau", jac=j, theta_reuse=-1, rtol=1e-6, max_step=0.1)
            for j in (jac, None)]
    assert_allclose(ends[0].y[:, -1], ends[1].y[:, -1], rtol=1e-5)


def test_pattern():
    # entries (0, 0), (1, 1), (2, 1), (2, 3), to which the diagonal is added
    p = Pattern(4, np.array([0, 5, 6, 14]))
    assert_array_equal(p.keys, [0, 5, 6, 10, 14, 15])
    assert_array_equal(p.row, [0, 1, 2, 2, 2, 3])
    assert_array_equal(p.col, [0, 1, 3, 4, 6])
    values = np.arange(1, 7) + 1j * np.arange(6, 0, -1)
    dense, column = np.zeros((4, 4), dtype=complex), p.keys // 4
    dense[p.row, column] = values
    q, real = p.in_pairs(), np.zeros((8, 8))
    real[q.row, q.keys // 8] = p.values_in_pairs(values)
    for i in range(4):
        for j in range(4):
            z = dense[i, j]
            assert_array_equal(real[2 * i:2 * i + 2, 2 * j:2 * j + 2], [[z.real, -z.imag], [z.imag, z.real]])


def test_wrong_jacobians():
    for jac in ([[1.0]], lambda t, y: [[1.0]], np.ones(3)):
        raises(ValueError, "`jac` is expected to have shape (3, 3)", solve_ivp, robertson, (0, 1), [1, 0, 0],
               method="Radau", jac=jac)
    raises(ValueError, "(2, 3)", solve_ivp, robertson, (0, 1), [1, 0, 0], method="Radau", lband=1,
           jac=lambda t, y: np.eye(3))
    raises(ValueError, "`jac_sparsity` is expected", solve_ivp, robertson, (0, 1), [1, 0, 0], jac_sparsity=np.eye(2))
    A = heat_matrix()
    raises(ValueError, "leaves out row", solve_ivp, lambda t, y: A @ y, (0, 1), np.sin(np.arange(N)), method="Radau",
           jac_sparsity=np.eye(N))


# ---- arguments ------------------------------------------------------------------------------------------------------

def test_bad_arguments():
    for options, words in ((dict(method="RK54"), "RK54"), (dict(method=3), "`method`"), (dict(method=None), "`method`"),
                           (dict(method=dict), "`method`"), (dict(atol=[1e-3, 1e-3]), "`atol` has wrong shape"),
                           (dict(atol=-1), "`atol` must be positive"), (dict(rtol=[1e-3, 1e-3]), "`rtol` has wrong"),
                           (dict(first_step=0), "`first_step` must be positive"),
                           (dict(first_step=-1), "`first_step` must be positive"),
                           (dict(first_step=2), "`first_step` exceeds bounds"),
                           (dict(max_step=0), "`max_step` must be positive"),
                           (dict(max_step=-1), "`max_step` must be positive")):
        raises(ValueError, words, solve_ivp, lambda t, y: -y, (0, 1), [1, 2, 3], **options)
    raises(CostateError, "no error estimate", solve_ivp, decay, (0, 1), [1], method="rk4")


def test_warnings():
    r, seen = warned(solve_ivp, decay, (0, 1), [1.0], rtol=1e-17)
    assert r.success and len(seen) == 1 and seen[0].startswith("At least one element of `rtol` is too small.")
    r, seen = warned(solve_ivp, decay, (0, 1), [1.0], nothing=1, method="RK45", jac=[[-0.5]])
    assert seen == ["The following arguments have no effect for a chosen solver: `nothing`, `jac`."]
    with warnings.catch_warnings(record=True) as where:
        warnings.simplefilter("always")
        solve_ivp(decay, (0, 1), [1.0], nothing=1)
        solve_ivp(decay, (0, 1), [1.0], rtol=0)
    assert all(w.filename == __file__ for w in where), [w.filename for w in where]
    assert warned(solve_ivp, decay, (0, 1), [1.0], method="RK45", jac=None)[1] == []


def test_tolerances():
    fine = solve_ivp(circle, (0, 10), [1, 1], method="RK45", rtol=1e-10, atol=0)
    assert_allclose(fine.y[0, -1], math.cos(10) + math.sin(10), rtol=1e-7)
    assert len(solve_ivp(circle, (0, 10), [1, 1], method="RK45", rtol=[1e-10] * 2, atol=[0, 0]).t) == len(fine.t)
    assert len(solve_ivp(circle, (0, 10), [1, 1], method="RK45", rtol=[1e-10, 1], atol=[0, 1]).t) < len(fine.t)
    assert solve_ivp(circle, (0, 10), [1, 0], method="RK45", rtol=7).success


def test_steps():
    r = solve_ivp(circle, (0, 3), [1, 0], first_step=0.01, max_step=0.25, method="RK45")
    assert_allclose(r.t[1], 0.01)
    assert np.max(np.diff(r.t)) <= 0.25 * (1 + 1e-12)
    r = solve_ivp(circle, (3, 0), [1, 0], first_step=0.01, max_step=0.25, method="RK45")
    assert_allclose(r.t[1], 2.99)
    r = solve_ivp(circle, (0, 3), [1, 0], min_step=0.5, rtol=1e-12, atol=1e-12, method="RK45")
    assert r.status == -1 and "0.5" in r.message


def test_options_of_the_library():
    r = solve_ivp(circle, (0, 1000), [1, 0], max_steps=5)
    assert r.status == -1 and len(r.t) == 6 and "max_steps" in r.message
    assert len(solve_ivp(circle, (0, 2000), [1, 0], method="RK23", rtol=1e-10, atol=1e-10, t_eval=[2000]).t) == 1


def test_classes_of_scipy():
    scipy()
    for name in SCIPY_METHODS:
        of_class = solve_ivp(circle, (0, 1), [1, 0], method=getattr(integrate, name))
        assert_array_equal(of_class.y, solve_ivp(circle, (0, 1), [1, 0], method=name).y)


# ---- no interval, no equations --------------------------------------------------------------------------------------

def test_no_interval():
    for method in ("RK45", "Radau", "auto"):
        r = solve_ivp(decay, (4, 4), [2, 3], method=method, dense_output=True, events=event(lambda t, y: y[0] - 2))
        assert r.success and r.nfev == 1
        assert_array_equal(r.t, [4, 4])
        assert_array_equal(r.y, [[2, 2], [3, 3]])
        assert_array_equal(r.sol([3, 4, 5]), [[2, 2, 2], [3, 3, 3]])
        assert_array_equal(r.t_events[0], [4])
    assert_array_equal(solve_ivp(decay, (4, 4), [2j], t_eval=[4]).y, [[2j]])
    raises(ZeroDivisionError, "", solve_ivp, lambda t, y: 1 / 0, (4, 4), [2])


def test_no_equations():
    for end in (10, np.inf):
        r = solve_ivp(lambda t, y: np.zeros(0), (0, end), [], dense_output=True)
        assert r.success and r.y.shape == (0, 2) and r.t[-1] == end
        assert r.sol(1).shape == (0,) and r.sol([1, 2, 3]).shape == (0, 3)


# ---- exceptions and failures ----------------------------------------------------------------------------------------

class Mine(Exception):
    pass


def test_exceptions():
    def bad(t, y, *more):
        if t > 0.5:
            raise Mine("here")
        return -y

    def bad_event(t, y):
        return bad(t, y)[0]

    for method in ("RK45", "Radau", "auto"):
        for fun, options in ((bad, {}), (decay, dict(events=bad_event)), (decay, dict(events=event(bad_event))),
                             (bad, dict(dense_output=True, t_eval=[1]))):
            error = raises(Mine, "here", solve_ivp, fun, (0, 1), [1.0], method=method, max_step=0.2, **options)
            names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
            assert names[-1] == "bad" and "test_exceptions" not in names[-1:], names
        raises(Mine, "here", solve_ivp, decay, (0, 1), [1.0], events=event(lambda t, y: bad(1, y)), method=method)
    raises(Mine, "here", solve_ivp, decay, (0, 1), [1.0], method="Radau", jac=lambda t, y: bad(1, y))
    raises(KeyboardInterrupt, "", solve_ivp, interrupted, (0, 1), [1.0])
    assert solve_ivp(decay, (0, 1), [1.0]).success


def interrupted(t, y):
    raise KeyboardInterrupt


def test_failures():
    r = solve_ivp(lambda t, y: y**2, (0, 2), [1.0], method="RK45", dense_output=True, rtol=1e-8, atol=1e-8)
    assert (r.status, r.success) == (-1, False)
    assert r.message.startswith("Method dopri5 cannot take its next step at t = 1")
    assert 0.99 < r.t[-1] < 1.01 and r.y.shape == (1, len(r.t))
    assert_allclose(r.sol(0.5), [2], rtol=1e-6)
    r = solve_ivp(lambda t, y: y**2, (0, 2), [1.0], method="RK45", t_eval=[0, 0.5, 1.5], rtol=1e-8, atol=1e-8)
    assert r.status == -1
    assert_array_equal(r.t, [0, 0.5])
    assert_allclose(r.y, [[1, 2]], rtol=1e-6)
    r = solve_ivp(lambda t, y: np.nan * y, (0, 2), [1.0], dense_output=True)
    assert r.status == -1 and "NaN" in r.message
    assert_array_equal(r.t, [0])
    assert_array_equal(r.sol(1), [1])
    r = solve_ivp(decay, (5, 9), [1.0], max_step=1e-20)
    assert r.status == -1 and "round-off" in r.message


def test_callback():
    """after each step it sees the run so far; StopIteration ends the run, other exceptions are passed on"""
    seen = []

    def rises(t, y):
        return y[0] - 0.5

    def look(r):
        seen.append((r, r.t.copy(), r.y.copy(), None if r.sol is None else r.sol((r.t[-2] + r.t[-1]) / 2)))
    for kind, more in (("real", {}), ("complex", {}), ("real", dict(events=rises, dense_output=True))):
        seen.clear()
        y0 = [0.0 + 1j if kind == "complex" else 0.0, 1.0]
        found = solve_ivp(lambda t, y: [y[1], -y[0]], (0, 2), y0, method="RK45", callback=look, **more)
        assert found.status == 0 and len(seen) == len(found.t) - 1
        for k, (r, t, y, middle) in enumerate(seen):
            assert_array_equal(t, found.t[:k + 2])
            assert_array_equal(y, found.y[:, :k + 2].T)
            assert r.current_t == t[-1] and np.array_equal(r.current_y, y[-1]) and r.solver is None
        last = seen[-1][0]
        assert (last.nfev, last.njev, last.nlu) == (found.nfev, found.njev, found.nlu)
        if more:
            assert_allclose(seen[0][3], found.sol(found.t[1] / 2), rtol=1e-13)
            assert [len(r.t_events[0]) for r, *_ in seen] == [int(found.t_events[0][0] <= t[-1]) for _, t, *_ in seen]
            assert sum(r.active_events.size for r, *_ in seen) == 1 and last.active_events.dtype.kind == "i"
        else:
            assert last.sol is None and last.t_events is None and last.active_events is None

    def stop(r):
        if r.current_t > 0.5:
            raise StopIteration
    for more in ({}, dict(dense_output=True), dict(t_eval=[0.1, 1.9]), dict(events=rises)):
        found = solve_ivp(lambda t, y: [y[1], -y[0]], (0, 2), [0.0, 1.0], callback=stop, **more)
        assert found.status == 2 and found.success and found.message == "Solver stopped via callback."
        assert found.t[-1] == 0.1 if "t_eval" in more else 0.5 < found.t[-1] < 2
    raises(KeyError, "mine", solve_ivp, lambda t, y: -y, (0, 2), [1.0], callback=lambda r: {}["mine"])


def test_solve_inside_solve():
    def fun(t, y):
        inner = solve_ivp(decay, (0, 1), [1.0], t_eval=[1], rtol=1e-8)
        return -inner.y[0] * y
    r = solve_ivp(fun, (0, 1), [1.0], rtol=1e-6)
    assert_allclose(r.y[0, -1], math.exp(-math.exp(-0.5)), rtol=1e-5)


def test_nothing_is_left():
    """what a call made is freed at its end, without the collector of cycles"""
    class Equations:
        def __call__(self, t, y):
            return -y
    gc.collect()
    gc.disable()
    try:
        before = sum(isinstance(x, Equations) for x in gc.get_objects())
        for _ in range(3):
            solve_ivp(Equations(), (0, 1), [1.0], events=lambda t, y: y[0] - 0.5, dense_output=True, method="Radau")
        assert sum(isinstance(x, Equations) for x in gc.get_objects()) == before
    finally:
        gc.enable()


# ---- compiled equations ---------------------------------------------------------------------------------------------

class Stand:
    """a Model as solve_ivp sees it: y' = -p y, with y' counted"""

    n, np, backend, differences, defaults = 2, 1, None, False, np.array([0.5])

    def __init__(self):
        self.calls, self.problem = 0, ffi.new("costate_problem *")
        self._value = ffi.callback(ffi.typeof(self.problem.rhs.value), self.value)
        self.problem.n, self.problem.np = 2, 1
        self.problem.rhs.value = self._value

    def value(self, x, out, ctx):
        self.calls += 1
        out[0], out[1] = -x.p[0] * x.y[0], -x.p[0] * x.y[1]
        return 0

    @staticmethod
    def start(t, p):
        return np.array([1.0, 2.0])


def test_model():
    for args, rate in ((None, 0.5), ((2.0,), 2.0), ((np.array([2.0]),), 2.0)):
        for method in ("auto", "RK45", "Radau"):
            model = Stand()
            r = solve_ivp(model, (0, 1), None, method=method, args=args, rtol=1e-6, dense_output=True, differences=1)
            assert r.success and model.calls >= r.nfev > 0 and r.derivatives == "exact"
            assert_allclose(r.y[:, -1], np.array([1, 2]) * math.exp(-rate), rtol=1e-4)
            assert_allclose(r.sol(0.5), np.array([1, 2]) * math.exp(-rate / 2), rtol=1e-4)
    r = solve_ivp(Stand(), (0, 1), [3, 4], args=(2.0,), events=event(lambda t, y, p: y[0] - p, terminal=True),
                  rtol=1e-8, t_eval=[0, 0.1])
    assert_allclose(r.t_events[0], [math.log(1.5) / 2], rtol=1e-6)
    assert_array_equal(r.t, [0, 0.1])
    raises(ValueError, "", solve_ivp, Stand(), (0, 1), [3, 4, 5], args=(2.0,))
    raises(ValueError, "", solve_ivp, Stand(), (0, 1), [3, 4], args=(2.0, 3.0))
    _, seen = warned(solve_ivp, Stand(), (0, 1), [3, 4], jac=np.eye(2))
    assert "`jac`" in seen[0]


BALL = """model ball
parameter g = 9.81, kept = 0.5
state height = 1, velocity
height' = velocity
velocity' = -g
cost fallen' = 1
event bounce when height falls
    velocity := -kept*velocity
event apex when t - 0.7 rises terminal
"""


def held(times, values):
    """values[k] from times[k] on"""
    return lambda t: values[np.searchsorted(times, t, side="right") - 1]


def relaxed(times, values, rate, t1):
    """y(t1) of y' = held - rate y, y(times[0]) = 0"""
    y = 0.0
    for begin, end, u in zip(times, [*times[1:], t1], values):
        y = u / rate + (y - u / rate) * math.exp(-rate * (end - begin))
    return y


def test_stops_where_inputs_jump():
    """zero-order hold, hourly powers, infusions: as accurate and as cheap as a run of pieces, in each of which the
    input is a constant"""
    hours, clock = np.arange(24.0), np.linspace(0, 5, 50, endpoint=False)
    doses = np.sort(np.concatenate([np.arange(0, 240, 12.0), np.arange(0, 240, 12.0) + 0.5]))
    problems = [(clock, np.sin(7 * clock), 2.0, 5.0), (hours, 50 + 30 * np.cos(hours**2), 0.3, 24.0),
                (doses, np.tile([200.0, 0.0], 20), 0.2, 240.0)]
    for times, values, rate, t1 in problems:
        u = held(times, values)

        def f(t, y, u=u, rate=rate):
            return u(t) - rate * y
        for method in "RK45", "Radau", "auto":
            options = dict(method=method, rtol=1e-6, atol=1e-6)
            r = solve_ivp(f, (times[0], t1), [0.0], stops=times, **options)
            exact = relaxed(times, values, rate, t1)
            unit, pieces, y = 1e-6 + 1e-6 * abs(exact), 0, [0.0]
            for begin, end, v in zip(times, [*times[1:], t1], values):
                part = solve_ivp(lambda t, y: v - rate * y, (begin, end), y, **options)
                y, pieces = part.y[:, -1], pieces + part.nfev
            error, usual = abs(r.y[0, -1] - exact) / unit, abs(y[0] - exact) / unit
            assert r.success and error <= max(0.1, 1.5 * usual), (method, error, usual)
            assert r.nfev <= 1.2 * pieces, (method, r.nfev, pieces)
    for method in "RK45", "DOP853", "Radau", "rodas5p", "sdirk4a", "rock4", "auto":
        back = solve_ivp(lambda t, y: held(clock, np.sin(7 * clock))(t), (5.0, 0.0), [0.0], stops=clock[::-1],
                         method=method)
        assert_allclose(back.y[0, -1], -np.sum(np.sin(7 * clock)) / 10, atol=1e-13)
    raises(CostateError, "evaluates f outside of its steps", solve_ivp, f, (0, 1), [0.0], stops=[0.5], method="ros4")
    raises(ValueError, "stops are finite times", solve_ivp, f, (0, 1), [0.0], stops=[0.5, np.nan])


def test_model_with_events():
    """the events of the equations themselves: a jump, and an end of the run"""
    try:
        from costate.models import Model
        ball = Model(BALL)
    except (ImportError, CostateError) as reason:
        raise Skipped(reason) from None
    r = solve_ivp(ball, (0, 3), None, method="RK45", dense_output=True, rtol=1e-8, max_step=0.1)
    hit = math.sqrt(2 / 9.81)
    assert r.status == 1 and r.message == "A termination event occurred." and r.y.shape == (2, len(r.t))
    assert_allclose(r.t[-1], 0.7, rtol=1e-12)
    t = np.linspace(0, hit - 1e-6, 20)
    assert_allclose(r.sol(t)[0], 1 - 9.81 / 2 * t**2, atol=1e-8)
    t = np.linspace(hit + 1e-6, 0.7, 20) - hit
    assert_allclose(r.sol(t + hit)[0], 0.5 * 9.81 * hit * t - 9.81 / 2 * t**2, atol=1e-8)


run_all(globals())
