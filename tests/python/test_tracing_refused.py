"""test_tracing_refused.py - what cannot be traced says why and runs as before; what changes is noticed."""
import array
import collections
import ctypes
import functools
import math
import os
import random
import sys
import time
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, os.pardir), HERE]

import numpy as np                              # noqa: E402

import costate                                  # noqa: E402
from cases import Skipped, fails, run_all       # noqa: E402
from costate.tracing import use                 # noqa: E402

try:
    import scipy.integrate
    import scipy.interpolate
    import scipy.special
except ImportError:
    scipy = None

Y0, P = np.array([0.5, 0.3]), np.array([1.5, 0.4])
SHARP = dict(method="dopri5", rtol=1e-7, atol=1e-9)


def run(f, **more):
    """(the run, the warnings of tracing)"""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        problem = costate.Problem(f, **SHARP, **more)
        found = problem.integrate((0, 1), Y0, P)
    return found, [str(w.message) for w in caught if isinstance(w.message, costate.NotTraced)]


def refused(f, *words):
    """f is not traced, with one warning of these words and the line of f; the run is that of callbacks"""
    found, told = run(f)
    problem = found.problem
    assert not problem.traced and len(told) == 1, (f, told)
    for word in words:
        assert word in told[0] and word in problem.trace_message, f"{told[0]!r} does not say {word!r}"
    assert np.array_equal(found.y, run(f, trace=False)[0].y)
    fails(costate.NotTraced, words[0], costate.Problem(f, trace=True).integrate, (0, 1), Y0, P)
    return told[0]


def is_traced(f, tol=1e-12):
    found, told = run(f)
    assert found.problem.traced and not told, told
    other = run(f, trace=False)[0]
    assert np.allclose(found.y, other.y, rtol=tol, atol=1e-14), (f, found.y, other.y)
    return found


# ---- what loses values: the line and the cure ----------------------------------------------------------------------

def branch(t, y, p):
    if y[0] > 0:
        return -y
    return y


def least(t, y, p):
    return np.array([-min(y[0], y[1]), -y[1]])


def both(t, y, p):
    return -y * (1 if y[0] > 0 and y[1] > 0 else 2)


def sine_of_math(t, y, p):
    return np.array([math.sin(t) - y[0], -y[1]])


def arc_of_math(t, y, p):
    return np.array([math.atan2(y[0], 1.0), -y[1]])


def made_float(t, y, p):
    return np.array([-float(y[0]), -y[1]])


def index_of_time(t, y, p):
    return -y * [1.0, 2.0, 3.0][int(t)]


def index_of_value(t, y, p):
    return -y * np.array([1.0, 2.0])[np.searchsorted([0.0, 0.4], y[0]) - 1]


def sorted_values(t, y, p):
    return -np.sort(y)


def whole_numbers(t, y, p):
    return -y * p.astype(int)[0]


def single(t, y, p):
    return -y.astype(np.float32).astype(float)


def looked_up(t, y, p, known={0.5: 2.0}):
    return -y * known.get(y[0], 1.0)


def printed(t, y, p):
    text = f"{y[0]:.3f}"
    return -y * len(text) / 5


def speaks(t, y, p):
    if False:
        print("called")
    return -y


def masked(t, y, p):
    out = -y
    out[y > 0.4] = 0.0
    return out


def finite(t, y, p):
    assert np.all(np.isfinite(y))
    return -y


def swallowed(t, y, p):
    try:
        return -y * math.exp(y[0])
    except TypeError:
        return -y


def matrix_of_values(t, y, p):
    return np.linalg.solve(np.array([[2.0, y[0]], [0.0, 1.0]]), -y)


def of_memory(t, y, p):
    return -np.frombuffer(np.real(y).tobytes())


def of_pointer(t, y, p):
    return -np.array(y.ctypes.data_as(ctypes.POINTER(ctypes.c_double))[:2])


def rounded(t, y, p):
    return -np.round(y, 2)


def without_nan(t, y, p):
    return -np.where(np.isnan(y), 0.0, y)


def of_five(t, y, p):
    return -y * np.linalg.det(np.eye(5) + np.outer(np.arange(5), np.arange(5)) * y[0])


def test_lines_and_cures():
    for f, words in ((branch, ("if y[0] > 0:", "np.where")), (least, ("min(y[0], y[1])", "np.minimum")),
                     (both, ("and y[1] > 0", "np.where")), (sine_of_math, ("math.sin(t)", "np.sin")),
                     (arc_of_math, ("np.arctan2",)), (made_float, ("float(y[0])", "leave out float()")),
                     (index_of_time, ("[int(t)]", "np.floor")), (index_of_value, ("np.searchsorted", "np.interp")),
                     (sorted_values, ("np.sort",)), (whole_numbers, ("p.astype(int)", "np.floor")),
                     (single, ("float32", "double precision")), (looked_up, ("known.get", "dictionary")),
                     (printed, ("on_step",)), (speaks, ("print()", "on_step")), (masked, ("np.where",)),
                     (finite, ("np.isfinite", "np.where")), (rounded, ("np.floor(x + 0.5)",)),
                     (without_nan, ("np.isnan", "not defined")), (of_five, ("more than four rows",)),
                     (swallowed, ("math.exp(y[0])", "np.exp")),
                     (matrix_of_values, ("np.linalg.solve", "constant matrix")), (of_memory, (".tobytes()", "NumPy")),
                     (of_pointer, ("y.ctypes", "NumPy"))):
        told = refused(f, *words)
        if f is not speaks:
            assert "test_tracing_refused.py:" in told, told


def test_other_packages():
    if scipy is None:
        raise Skipped("SciPy is not installed")
    spline = scipy.interpolate.CubicSpline([0, 0.5, 1], [1.0, 2.0, 0.5])
    refused(lambda t, y, p: -y * spline(t), "spline(t)")
    refused(lambda t, y, p: -y * scipy.special.j0(y), "j0")
    refused(lambda t, y, p: -y * scipy.integrate.quad(lambda x: x * y[0], 0, 1)[0], "quad")
    is_traced(lambda t, y, p: -scipy.special.erf(y) + scipy.special.expit(p))


def test_compiled_functions():
    try:
        import numba
    except ImportError:
        raise Skipped("Numba is not installed")

    @numba.njit
    def inner(t, y, p):
        return -y * p[0]
    refused(lambda t, y, p: inner(t, y, p), "inner(t, y, p)")
    refused(inner, "fun")


def test_torch_functions():
    try:
        import torch
    except ImportError:
        raise Skipped("PyTorch is not installed")
    refused(lambda t, y, p: -torch.as_tensor(y).tanh().numpy(), "torch.as_tensor(y)")


# ---- functions that are not the same at each call ------------------------------------------------------------------

def test_random_numbers_and_clocks():
    for f in (lambda t, y, p: -y * (1 + 1e-9 * random.random()), lambda t, y, p: -y * (1 + 1e-9 * np.random.rand()),
              lambda t, y, p: -y * (1 + 1e-9 * time.perf_counter())):
        found, told = run(f)
        assert not found.problem.traced and "not the same at each call" in told[0], told


def test_what_functions_keep():
    calls, count, last = [], 0, {}

    def appends(t, y, p):
        calls.append(t)
        return -y

    def counts(t, y, p):
        nonlocal count
        count += 1
        return -y

    def remembers(t, y, p):
        last["y"] = y
        return -y

    class Logger:
        n = 0

        def __call__(self, t, y, p):
            self.n += 1
            return -y
    for f in (appends, counts, remembers, Logger()):
        found, told = run(f)
        assert not found.problem.traced and "keeps between calls" in told[0], (f, told)
    assert all(isinstance(t, float) for t in calls) and isinstance(last["y"], np.ndarray)
    assert len(calls) > 20 and count > 20

    seen = iter(range(10 ** 6))
    found, told = run(lambda t, y, p: -y * (1 + 1e-3 * next(seen)))
    assert not found.problem.traced and "not the same at each call" in told[0], told


def test_looks_at_types():
    found, told = run(lambda t, y, p: -y if isinstance(y, np.ndarray) else -2 * y)
    assert not found.problem.traced and "other values" in told[0], told
    found, told = run(lambda t, y, p: -y * (1.0 if isinstance(t, float) else 3.0))
    assert not found.problem.traced and "other values" in told[0], told


# ---- constants that change -----------------------------------------------------------------------------------------

RATE = 1.0
TABLE = np.array([1.0, 2.0])


class Settings:
    rate = 2.0


def of_a_global(t, y, p):
    return -RATE * y


def late(t, y, p):
    return -np.where(t > 0.5, RATE, 1.0) * y


def of_a_table(t, y, p):
    return -TABLE * y


def of_a_class(t, y, p):
    return -Settings.rate * y


class Base:
    factor = 1.0
    __slots__ = ("slot",)


class Derived(Base):
    def __init__(self):
        self.slot, self.own = 1.0, 1.0

    @property
    def product(self):
        return self.slot * self.own * self.factor

    def rate(self):
        return self.product * len(self.parts) if hasattr(self, "parts") else self.product


class Values(dict):
    extra = 1.0


def test_constants_that_change():
    global RATE
    settings, derived, values = Settings(), Derived(), Values(a=1.0)
    inner = [1.0]

    def set_rate(value):
        global RATE
        RATE = value
    for f, change, want in (
            (of_a_global, lambda: set_rate(3.0), np.exp(-3.0)), (late, lambda: set_rate(5.0), np.exp(-3.0)),
            (of_a_table, lambda: TABLE.__setitem__(0, 4.0), np.exp(-4.0)),
            (of_a_class, lambda: setattr(Settings, "rate", 1.5), np.exp(-1.5)),
            (lambda t, y, p: -derived.rate() * y, lambda: setattr(derived, "slot", 2.0), np.exp(-2.0)),
            (lambda t, y, p: -derived.rate() * y, lambda: setattr(derived, "own", 2.0), np.exp(-4.0)),
            (lambda t, y, p: -np.where(t > 0.5, derived.rate(), 4.0) * y, lambda: setattr(Base, "factor", 0.5),
             np.exp(-3.0)),
            (lambda t, y, p: -np.where(t > 0.5, values["a"] + values.extra, 1.0) * y,
             lambda: setattr(values, "extra", 2.0), np.exp(-2.0)),
            (lambda t, y, p: -settings.rate * y, lambda: setattr(settings, "rate", 0.5), np.exp(-0.5)),
            (lambda t, y, p: -inner[0] * y, lambda: inner.__setitem__(0, 2.5), np.exp(-2.5)),
            (functools.partial(lambda k, t, y, p: -k[0] * y, inner), lambda: inner.__setitem__(0, 0.25),
             np.exp(-0.25))):
        RATE = 1.0
        problem = costate.Problem(f, **SHARP)
        first = problem.integrate((0, 1), Y0, P)
        before = first.gradient(costate.Functional(end=lambda t, y, p: y[0])).y0
        assert problem.traced, problem.trace_message
        change()
        again = problem.integrate((0, 1), Y0, P)
        assert problem.traced and abs(again.y[0] / Y0[0] - want) < 1e-6, (f, again.y)
        assert np.array_equal(first.gradient(costate.Functional(end=lambda t, y, p: y[0])).y0, before)


def test_constants_of_objects_that_cannot_be_compared():
    for rates in (array.array("d", [1.0]), collections.deque([1.0]), np.array([1.0], dtype=object)):
        check_late_change(rates)


def check_late_change(rates):
    """which does not show at t0"""
    problem = costate.Problem(lambda t, y, p: -np.where(t > 0.5, rates[0], 1.0) * y, **SHARP)
    problem.integrate((0, 1), Y0, P)
    assert problem.wait()
    problem.integrate((0, 1), Y0, P)
    built = problem._local.built
    problem.integrate((0, 1), Y0, P)
    assert problem.traced and problem._local.built is built, "nothing changed: the solver stays"
    rates[0] = 2.0
    assert abs(problem.integrate((0, 1), Y0, P).y[0] / Y0[0] - np.exp(-1.5)) < 1e-6


def test_too_many_constants():
    """A function whose constants change at each Problem is compiled a few times; then it remains byte code"""
    compiling = []
    for k in range(use.MOST_COMPILED + 3):
        rate = 1 + k / 7 + 1e-9 * (time.time() % 1)         # not in the cache of an earlier test

        def f(t, y, p, rate=rate):
            return -rate * y
        found, told = run(f)
        assert not told and abs(found.y[0] / Y0[0] - np.exp(-rate)) < 1e-6
        compiling.append(found._b.trace.engine._background is not None)
    assert compiling == [True] * use.MOST_COMPILED + [False] * 3 and not found.problem.wait()


def test_without_a_compiler():
    """byte code serves for good"""
    before = os.environ.get("CC")
    os.environ["CC"] = "/nonexistent/cc"
    try:
        found, told = run(lambda t, y, p: -1.2345 * y)
    finally:
        del os.environ["CC"]
        os.environ.update({} if before is None else {"CC": before})
    assert found.problem.traced and not told and not found.problem.wait()
    assert abs(found.y[0] / Y0[0] - np.exp(-1.2345)) < 1e-6


def test_sizes():
    """long functions, and conditions inside each other, are refused before their derivatives are formed"""
    def long(t, y, p):
        return -y * np.sum(np.sin(np.arange(3000) * y[0])) / 3000

    def deep(t, y, p):
        s = y[0]
        for k in range(300):
            s = np.where(s > 0.1 * k, 0.5 * s + k, s)
        return -y * s
    for f, words in ((long, "more than 5000 operations"), (deep, "more than 240 conditions")):
        found, told = run(f)
        assert not found.problem.traced and len(told) == 1 and words in told[0], told
    Y, Q = np.array([0.5]), np.zeros(0)
    asked = [use.Traced(costate.Problem(f, trace=True), 1, 0, (0.0, Y, Q), 1.0).refused for f in (long, deep)]
    assert not asked[0] and "conditions" in asked[1][0][1], asked


# ---- what is allowed -----------------------------------------------------------------------------------------------

def test_what_a_user_asks():
    assert not run(branch, trace=False)[1]
    found = run(lambda t, y, p: -y, trace=False)[0]
    assert not found.problem.traced and found.problem.trace_message == "trace=False"
    for more, words in ((dict(jac=lambda t, y, p: -np.eye(2)), "given"),
                        (dict(derivatives="differences"), "differences")):
        found, told = run(lambda t, y, p: -y, **more)
        assert not found.problem.traced and not told and words in found.problem.trace_message
        fails(costate.NotTraced, words, costate.Problem, lambda t, y, p: -y, trace=True, **more)
    for wrong in (1, 0, "yes", None):
        fails(ValueError, "trace=", costate.Problem, lambda t, y, p: -y, trace=wrong)


def test_errors_of_functions():
    """are those of the function, without a word about tracing"""
    for f, kind in ((lambda t, y, p: y[5] * y, IndexError), (lambda t, y, p: y[:1], ValueError),
                    (lambda t, y, p: 1j * y, TypeError), (lambda t, y: -y, TypeError)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fails(kind, "", costate.Problem(f, **SHARP).integrate, (0, 1), Y0, P)


def test_arguments_are_the_functions_own():
    """what f does to its arguments changes nothing outside"""
    def f(t, y, p):
        y *= 2
        p += 1
        return -y * p[0]
    y0, p = Y0.copy(), P.copy()
    found = is_traced(f)
    assert np.array_equal(y0, Y0) and np.array_equal(p, P) and found.problem.traced


def test_copies_and_views():
    def copied(t, y, p):
        a, b, c = y.copy(), np.asarray(y), np.array(y)
        a[0], c[1] = 5.0, 7.0
        b[0] = 2 * b[0]                         # is y
        d = y.ravel()[1:]
        d += 1
        return -(a + c) * y

    def listed(t, y, p):
        a, b = y.tolist()
        return [-a * p[0], sum(x for x in (a, b)) * -p.item(1)]

    def typed(t, y, p):
        z = np.zeros(2, dtype=y.dtype)
        z[:] = y.astype(float)
        z[1] += np.float64(3) * np.float32(0.5) * y[0]
        return -np.array(z, dtype=float) * np.array([1, 2])

    def with_zeros(t, y, p):
        out = np.zeros(2)
        out[0] = -y[0]
        out[1:] -= p[1] * y[1:]
        return out

    def with_empty(t, y, p):
        out = np.empty((1, 2))
        out[0, :] = -y
        np.multiply(out, 2, out=out)
        return out[0]

    @functools.lru_cache
    def constant(k):
        return np.full(2, k)

    def cached(t, y, p):
        return -constant(3.0) * y

    def default(t, y, p, k=2.0, *, m=3):
        return -k * m * y

    def full(t, y, p):
        return -np.full(2, p[0]) * np.ones(2) * np.r_[y[0], y[1:]]

    def generated(t, y, p):
        return np.array([-k * v for k, v in zip((1, 2), (a for a in y))])

    def helped(t, y, p):
        return helper(y) + np.array([helper(a)[0] for a in y])
    for f in (copied, listed, typed, with_zeros, with_empty, cached, default, full, generated, helped):
        is_traced(f)


def helper(y):
    out = np.zeros(np.shape(y) or 1)
    out[:] = -y
    return out


def test_loops_of_sums_and_means():
    def f(t, y, p):
        a = y.sum() + y.mean() + y.prod() + y.max() - y.min() + np.var(y) + y.std() + y.dot(p) + np.ptp(y)
        b = np.average(y, weights=[1.0, 3.0]) + np.polyval([1.0, -2.0, 0.5], y[0]) + np.linalg.norm(y, 1)
        c = np.trace(np.outer(y, y)) + np.linalg.norm(y, np.inf) + np.sum(y > 0.4) + np.any(y > 0.4) * 2
        d = np.einsum("i,i", y, y) + np.einsum("ii->", np.outer(y, y)) + (y[0] % 0.3) + y[1] // 0.2
        return -np.array([a + b, c + d]) * y * 0.1 + np.cumprod(y) - np.kron(y, [1.0])
    is_traced(f, 1e-5)                          # with events where conditions change


if __name__ == "__main__":
    run_all(globals())
