"""test_vectorised.py - Jacobians by complex steps in one call of a function, where it computes several points at once;
nowhere else, and nothing changes but the time."""
import os
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                              # noqa: E402

import costate                                  # noqa: E402
from costate.maps import KEPT, Bound, Map       # noqa: E402
from cases import run_all                       # noqa: E402

N, P = 12, np.array([3.0, 0.4, 1.0, 0.2, 0.7])
Y0 = np.sin(1 + np.arange(N))
NUMBERS = np.arange(1, N + 1) / N


def ring(t, y, p):
    return np.array([p[0] * (y[i - 1] - 2 * y[i] + y[(i + 1) % N]) - p[1] * y[i] ** 3 + p[2] * p[3] - p[4] * y[i] * t
                     for i in range(N)])


# functions that return arrays of the expected shape for several points, but not what they return for each of them
WRONG = {
    "sum": lambda t, y, p: p[0] * (y.sum() / N - y),
    "number of elements": lambda t, y, p: -p[0] * y * y.size,
    "roll": lambda t, y, p: p[0] * (np.roll(y, 1) - y),
    "late sum": lambda t, y, p: p[0] * ((y.sum() / N if t > 0.6 else 0.3) - y),
    "late number of elements": lambda t, y, p: -p[0] * y * (y.size if t > 0.6 else 5),
    "late exception": lambda t, y, p: p[0] * ((W @ y + NUMBERS if t > 0.6 else 0.3) - y),
}
# functions that do not take arrays
REFUSED = {
    "numbers": lambda t, y, p: -p[0] * NUMBERS * y,
    "parameters": lambda t, y, p: -p[:N] * y if len(p) >= N else -p[0] * np.append(p, np.ones(N - 5)) * y,
    "constant rows": lambda t, y, p: np.array([0.0, *(-p[0] * y[1:])]),
    "condition": lambda t, y, p: -p[0] * y if y[0].real > 3 else -p[1] * y,
    "float": lambda t, y, p: -float(p[0].real) * y - (p[0] - p[0].real) * y,
    "fewer": lambda t, y, p: np.array([np.ravel(-p[0] * y)[i] for i in range(N)]),
}
W = np.linspace(-1, 1, N * N).reshape(N, N)


class Watched:
    """f, and the shapes of y and whether an argument was complex in its calls"""

    def __init__(self, f, arrays=True):
        self.f, self.arrays, self.seen = f, arrays, []

    def __call__(self, t, y, p):
        if y.ndim > 1 and not self.arrays:
            raise TypeError("for one point only")
        self.seen.append((y.shape, np.iscomplexobj(y) or np.iscomplexobj(p)))
        return self.f(t, y, p)

    def calls(self, columns):
        """how many with complex arguments for several points, or for one"""
        return sum(is_complex and (len(shape) > 1) == columns for shape, is_complex in self.seen)


def gradient(f, p=P, method="radau2a", **more):
    """(y at 1, its derivatives with respect to y0 and p, the run)"""
    with warnings.catch_warnings():
        warnings.simplefilter("error", costate.DerivativeWarning)
        run = costate.Problem(f, method=method, rtol=1e-6, atol=1e-8, **more).integrate((0, 1), Y0, p)
        by_y, by_p = run.adjoint(NUMBERS)
    assert run.derivatives == "complex step"
    return run.y, by_y, by_p, run


def test_calls():
    """two calls for a Jacobian, where there were n; no Jacobian is computed twice"""
    for method in ("radau2a", "sdirk4a", "dopri5"):
        f, one = Watched(ring), Watched(ring, arrays=False)
        found, expected = gradient(f, method=method), gradient(one, method=method)
        for a, b in zip(found[1:3], expected[1:3]):
            assert np.max(np.abs(a - b)) <= 1e-9 * np.max(np.abs(b)), method        # other steps of Newton's iteration
        assert one.calls(True) == 0
        # at the first point, in checks, with respect to y and to p
        assert f.calls(False) <= f.calls(True) + 4 * (N + len(P)) + 200, method
        assert f.calls(True) + f.calls(False) < 0.6 * one.calls(False), method
        if method == "radau2a":
            assert f.calls(True) <= 2 * 3 * found[3].stats["accepted"] + found[3].stats["jac"] + 10


def test_round_off():
    """what one call gives are the columns of single calls, to round-off, wherever that is"""
    problem = costate.Problem(ring)
    problem.integrate((0, 1e-3), Y0, P).adjoint(NUMBERS)
    of = Bound(Map(ring), "fun", N, len(P), 0, N, problem.trust)
    assert of.trust.vectorised == {("fun", 1): True, ("fun", 2): True}
    for t in (0.0, 2.0):
        at = (t, 3 * Y0, P)
        for part in (1, 2):
            one = of.columns.one_by_one(of, part, at, np.eye(len(at[part])))
            assert np.max(np.abs(of.columns.all(of, part, at) - one)) <= 1e-14 * np.max(np.abs(one))


def test_many_columns():
    """more than fit in one call"""
    n = 700

    def f(t, y, p):
        return -p[0] * y ** 2
    watched = Watched(f)
    of = Bound(Map(watched), "fun", n, 1, 0, n)
    at = (0.0, np.linspace(1, 2, n), np.array([3.0]))
    for _ in range(2):
        J = of.columns.all(of, 1, at)
        assert np.max(np.abs(J + np.diag(6 * at[1]))) <= 1e-14 * 12
    wide = [shape[1] for shape, _ in watched.seen if len(shape) > 1]
    assert wide[0] == 5 and max(wide) < 100 and sum(k - 1 for k in wide[1:]) == 2 * n
    assert of.trust.vectorised == {("fun", 1): True}


def test_wrong_for_arrays():
    """the same bits as with single calls only"""
    for functions in (WRONG, REFUSED):
        for name, f in functions.items():
            found, expected = gradient(f), gradient(Watched(f, arrays=False))
            for a, b in zip(found[:3], expected[:3]):
                assert np.array_equal(a, b), name
            known = found[3].problem.trust.vectorised
            assert known[("fun", 1)] is False or (name == "float" and not known[("fun", 2)]), name


def test_sparse():
    """columns of a pattern move together; several such groups in one call"""
    def f(t, y, p):
        return np.array([p[0] * (y[i - 1] - y[i]) - y[(i + 3) % N] ** 2 - y[(i + 5) % N] for i in range(N)])
    pattern = np.eye(N) + sum(np.roll(np.eye(N), k, axis=1) for k in (-1, 3, 5))
    watched = Watched(f)
    found, expected = gradient(watched, sparsity=pattern), gradient(f)
    for a, b in zip(found[1:3], expected[1:3]):
        assert np.max(np.abs(a - b)) <= 1e-9 * np.max(np.abs(b))
    assert watched.calls(True) > 0 and found[3].problem.trust.vectorised[("fun", 1)]


def test_given_jacobian():
    """it may return the same array each time, and is called once for each point"""
    calls, array = [], np.empty((N, N))

    def f(t, y, p):
        return -p[0] * y * np.roll(y, 1)

    def jac(t, y, p):
        calls.append((t, y.tobytes()))
        return -p[0] * (np.diag(np.roll(y, 1)) + np.diag(y) @ np.roll(np.eye(N), -1, axis=1))

    def again(t, y, p):
        array[...] = jac(t, y, p)
        return array

    def jac_p(t, y, p):
        return np.outer(-y * np.roll(y, 1), np.eye(1, len(p)))
    p = np.array([0.3])
    expected = gradient_given(f, jac, jac_p, p)
    calls.clear()
    found = gradient_given(f, again, jac_p, p)
    for a, b in zip(found[:2], expected[:2]):
        assert np.array_equal(a, b)
    steps, points = found[2].stats["accepted"], len(set(calls))
    assert points >= 3 * steps and len(calls) <= points + steps / 2, (len(calls), points, steps)


def gradient_given(f, jac, jac_p, p):
    run = costate.Problem(f, jac=jac, jac_p=jac_p, method="radau2a", rtol=1e-6, atol=1e-8).integrate((0, 1), Y0, p)
    return (*run.adjoint(NUMBERS), run)


def test_kept():
    """few Jacobians, fewer if they are large; those that were used last"""
    for n, most in ((3, KEPT), (3000, 1)):
        of, y = Bound(Map(ring), "fun", n, 0, 0, n), np.zeros(n)
        made = []
        for t in range(2 * KEPT):
            for again in (t, max(t - 1, 0)):
                of.at_point((float(again), y, y[:0]), "name", lambda again=again: made.append(again))
        assert len(of.kept) == most
        assert len(made) == (2 * KEPT if most > 1 else 4 * KEPT - 1), made


run_all(globals())
