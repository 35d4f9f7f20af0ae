"""y0 and p in forms of the user's: the same numbers as with vectors, and gradients in these forms."""
import dataclasses
import os
import sys
import warnings
from typing import NamedTuple

import numpy as np

import costate

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cases import fails, run_all  # noqa: E402

TOL = dict(method="dopri5", rtol=1e-9, atol=1e-9)
SPAN = (0.0, 1.0)


class Rates(NamedTuple):
    a: float
    b: np.ndarray


@dataclasses.dataclass(frozen=True)
class Settings:
    name: str
    rate: float
    matrix: np.ndarray


def flat(t, y, p):
    """y' = -p[0] y + p[1:5] y, as a matrix, + sin t"""
    return -p[0] * y + p[1:].reshape(2, 2) @ y + np.sin(t)


def of_dict(t, y, p):
    return -p["a"] * y + p["deep"]["M"] @ y + np.sin(t)


VECTOR = np.array([0.7, 0.1, -0.3, 0.2, 0.4])
MATRIX = VECTOR[1:].reshape(2, 2)
Y0 = np.array([1.0, 2.0])
TREES = [({"a": 0.7, "deep": {"M": MATRIX}}, of_dict, lambda g: np.r_[g["a"], g["deep"]["M"].ravel()]),
         (Rates(0.7, MATRIX), lambda t, y, p: -p.a * y + p.b @ y + np.sin(t), lambda g: np.r_[g.a, g.b.ravel()]),
         (Settings("x", 0.7, MATRIX), lambda t, y, p: -p.rate * y + p.matrix @ y + np.sin(t),
          lambda g: np.r_[g.rate, g.matrix.ravel()]),
         ([0.7, MATRIX], lambda t, y, p: -p[0] * y + p[1] @ y + np.sin(t), lambda g: np.r_[g[0], g[1].ravel()]),
         ((0.7, (MATRIX[0], MATRIX[1])), lambda t, y, p: -p[0] * y + np.stack(p[1]) @ y + np.sin(t),
          lambda g: np.r_[g[0], g[1][0], g[1][1]])]


def test_trees():
    """run, tangents, adjoints, functionals: the bits of vectors, in the form of p"""
    want = costate.Problem(flat, **TOL).integrate(SPAN, Y0, VECTOR)
    J = costate.Functional(end=lambda t1, y, p: y[0] ** 2)
    for p, f, back in TREES:
        run = costate.Problem(f, **TOL).integrate(SPAN, Y0, p)
        assert np.abs(run.y - want.y).max() < 1e-14
        by_y0, by_p = run.adjoint([1.0, 2.0])
        assert type(by_p) is type(p)
        assert np.abs(back(by_p) - want.adjoint([1.0, 2.0])[1]).max() < 1e-13
        assert np.abs(run.tangent(dp=p) - want.tangent(dp=VECTOR)).max() < 1e-13
        found = run.gradient(J)
        assert type(found.p) is type(p) and np.abs(back(found.p) - want.gradient(J).p).max() < 1e-13
    assert run.gradient(J).y0.shape == (2,)


def test_what_is_no_number_stays():
    run = costate.Problem(TREES[2][1], **TOL).integrate(SPAN, Y0, TREES[2][0])
    by_p = run.adjoint([1.0, 0.0])[1]
    assert by_p.name == "x" and isinstance(by_p.rate, float) and by_p.matrix.shape == (2, 2)
    p = {"a": 0.7, "deep": {"M": MATRIX}, "verbose": False, "units": None}
    assert costate.Problem(of_dict, **TOL).integrate(SPAN, Y0, p).adjoint([1.0, 0.0])[1]["verbose"] is False


def test_many_directions_and_functionals():
    p, f, back = TREES[0]
    want = costate.Problem(flat, **TOL).integrate(SPAN, Y0, VECTOR)
    run = costate.Problem(f, **TOL).integrate(SPAN, Y0, p)
    dp = {"a": np.array([1.0, 0.0]), "deep": {"M": np.stack([0 * MATRIX, MATRIX], axis=-1)}}
    along = np.stack([np.eye(5)[0], np.r_[0.0, MATRIX.ravel()]], axis=1)
    assert np.abs(run.tangent(dp=dp) - want.tangent(dp=along)).max() < 1e-13
    by_p = run.adjoint(np.eye(2))[1]
    assert by_p["a"].shape == (2,) and by_p["deep"]["M"].shape == (2, 2, 2)
    assert np.abs(by_p["deep"]["M"].reshape(4, 2) - want.adjoint(np.eye(2))[1][1:]).max() < 1e-13
    assert run.tangent(dp=dp, at=[0.5, 1.0]).shape == (2, 2, 2)
    fails(ValueError, "different numbers of directions", run.tangent, dp={"a": np.ones(2), "deep": {"M": MATRIX}})
    fails(ValueError, "another form", run.tangent, dp={"a": 1.0})


def heat(t, u, p):
    """a field of 3 by 4, whose sum is kept but for a source"""
    return p["k"] * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u) + p["source"]


FIELD = np.arange(12.0).reshape(3, 4)
OF_FIELD = {"k": 0.3, "source": 0.1 * np.ones((3, 4))}


def test_states_of_any_shape():
    """the sum of a field grows by the source: closed forms"""
    run = costate.Problem(heat, **TOL).integrate(SPAN, FIELD, OF_FIELD, t_eval=[0.0, 0.5, 1.0])
    assert run.y.shape == (3, 4) and run.at.shape == (3, 4, 3) and run([0.1, 0.2]).shape == (3, 4, 2)
    assert run(0.3).shape == (3, 4) and abs(run.y.sum() - 66 - 1.2) < 1e-9
    by_y0, by_p = run.adjoint(np.ones((3, 4)))
    assert np.abs(by_y0 - 1).max() < 1e-12 and np.abs(by_p["source"] - 1).max() < 1e-12 and abs(by_p["k"]) < 1e-12
    seen = run.tangent(dy0=np.ones((3, 4)), at=[0.5, 1.0])
    assert seen.shape == (2, 3, 4) and np.abs(seen - 1).max() < 1e-12
    assert run.tangent(dy0=np.ones((3, 4, 2))).shape == (3, 4, 2)
    later = run.adjoint(at=[0.5, 1.0], w_at=np.ones((2, 3, 4)))
    assert np.abs(later[0] - 2).max() < 1e-12 and np.abs(later[1]["source"] - 1.5).max() < 1e-9
    F = costate.Functional(end=lambda t1, u, p: u.sum() * p["k"], times=[0.5], term=lambda t, u: u[1, 2] + 0 * t)
    found = costate.Problem(heat, **TOL).gradient(F, SPAN, FIELD, OF_FIELD, estimate=True)
    assert abs(found.value - run.value(F)) < 1e-12 and found.y0.shape == (3, 4) == found.error.y0.shape
    assert np.abs(found.p["source"] - run.gradient(F).p["source"]).max() < 1e-13
    assert found.error.p["source"].shape == (3, 4) and abs(found.relative_error.p) < 1
    fails(ValueError, "expected (3, 4), the shape of y0", costate.Problem(lambda t, u, p: u.T).integrate, SPAN, FIELD)
    fails(ValueError, "w has shape (12,)", run.adjoint, np.ones(12))
    assert np.abs(costate.Problem(heat, method="dopri5", rtol=1e-9, atol=1e-9 * np.ones((3, 4))).integrate(
        SPAN, FIELD, OF_FIELD).y - run.y).max() < 1e-12


def test_events_and_given_derivatives():
    """guards, jumps and derivatives receive y and p in their forms; jumps return a state in its shape"""
    def vjp(t, u, p, w):
        return p["k"] * w, {"k": (w * u).sum(), "c": np.zeros(2)}
    common = dict(jvp=lambda t, u, p, dt, du, dp: p["k"] * du + dp["k"] * u, vjp=vjp)
    events = [costate.Event(lambda t, u, p: u[1, 1] - p["c"][0], direction=1, passes=True,
                            jump=lambda t, u, p: u + p["c"][1] * np.ones((2, 2)))]
    p = {"k": 1.0, "c": np.array([2.0, 0.5])}
    run = costate.Problem(lambda t, u, p: p["k"] * u, events=events, **common, **TOL).integrate(
        SPAN, np.ones((2, 2)), p)
    (time, _, before, after), = run.events
    assert abs(time - np.log(2)) < 1e-8 and before.shape == (2, 2) and np.abs(after - 2.5).max() < 1e-8
    # y(1) = 2.5 e^(1 - log 2), with respect to the level c0: t* = log c0, y = (c0 + c1) e / c0
    by_p = run.adjoint(np.eye(2)[:, :1] * np.eye(2)[0])[1]
    assert np.abs(by_p["c"] - [-0.5 * np.e / 4, np.e / 2]).max() < 1e-7, by_p
    second = costate.Problem(lambda t, u, p: p["k"] * u, jac=lambda t, u, p: p["k"] * np.eye(4),
                             jac_p=lambda t, u, p: np.column_stack([np.reshape(u, -1), np.zeros((4, 2))]),
                             jac_t=np.zeros(4), **TOL).integrate(SPAN, np.ones((2, 2)), p)
    F = costate.Functional(end=lambda t1, u, p: (u ** 2).sum(), end_y=lambda t1, u, p: 2 * u,
                           end_p=lambda t1, u, p: {"k": 0.0, "c": np.zeros(2)})
    found = second.hessp(F, vp={"k": 1.0, "c": np.zeros(2)})
    assert abs(found.Hp["k"] - 16 * np.e ** 2) < 1e-6 and found.Hy0.shape == (2, 2), found


def test_parameters_of_a_model_by_name():
    """those that are left out have their defaults, also of vectors"""
    model = costate.Model("model chain\nparameter a = 2, k[1..2] = 0.5\nstate A = 1, B = 0\n"
                          "A' = -a*A\nB' = a*A - (k[1] + 2*k[2])*B\n")
    problem = costate.Problem(model, **TOL)
    want = problem.integrate(SPAN, None, model.parameter_vector(a=3.0, k=[0.1, 0.2])).adjoint([0.0, 1.0])[1]
    by_p = problem.integrate(SPAN, p={"a": 3.0, "k": [0.1, 0.2]}).adjoint([0.0, 1.0])[1]
    assert list(by_p) == ["a", "k"] and by_p["a"] == want[0] and np.all(by_p["k"] == want[1:])
    both = problem.integrate(SPAN, p={"k": 0.5})                    # one value for both
    want = problem.integrate(SPAN).adjoint([0.0, 1.0])[1]
    assert list(both.adjoint([0.0, 1.0])[1]) == ["k"]
    assert abs(both.adjoint([0.0, 1.0])[1]["k"] - want[1:].sum()) < 1e-15
    assert np.abs(both.tangent(dp={"k": 1.0}) - problem.integrate(SPAN).tangent(dp=[0.0, 1.0, 1.0])).max() < 1e-15
    fails(ValueError, "other names than p", both.tangent, dp={"a": 1.0})
    fails(Exception, "kk", problem.integrate, SPAN, p={"kk": 1.0})


def test_traces():
    """functions of p in its form are traced, unless that was not asked for; what cannot be traced is said"""
    traced, called = costate.Problem(of_dict, **TOL), costate.Problem(of_dict, trace=False, **TOL)
    p = {"a": VECTOR[0], "deep": {"M": MATRIX}}
    same = [problem.integrate(SPAN, Y0, p) for problem in (traced, called)]
    assert traced.traced and traced.trace_message == "" and same[0].derivatives == "exact"
    assert not called.traced and called.trace_message == "trace=False" and same[1].derivatives == "complex step"
    assert np.abs(same[0].y - same[1].y).max() < 1e-8
    branch = costate.Problem(lambda t, y, p: -p["k"] * y if y[0] > 0 else y)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        branch.integrate(SPAN, [1.0], {"k": 1.0})
    assert not branch.traced and "a branch depends on a value" in branch.trace_message


def test_refusals():
    fails(TypeError, "p['f'] is <", costate.Problem(of_dict).integrate, SPAN, Y0, {"f": object()})
    fails(TypeError, "expected real numbers", costate.Problem(of_dict).integrate, SPAN, Y0, {"a": np.array([1j])})
    fails(ValueError, "memory variables is a vector", costate.Problem(heat, memory=1).integrate, SPAN, FIELD)
    fails(TypeError, "containers are for p", costate.Problem(of_dict).integrate, SPAN, {"y": 1.0}, 1.0)


run_all(globals())
