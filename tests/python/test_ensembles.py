"""Ensembles: states at given times, gradients and Hessian products with respect to them, forms, lanes; methods that are
loaded from files."""
import os
import pickle
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                              # noqa: E402

import costate                                  # noqa: E402
from costate import _places                     # noqa: E402
from costate._costate import lib                # noqa: E402
from cases import Skipped, fails, run_all       # noqa: E402
from common import close                        # noqa: E402

TIMES = np.array([0.0, 0.7, 1.5, 3.0])
Y0 = np.array([[0.1], [0.2], [0.4]])
P = np.array([[1.0, 2.0], [1.5, 2.0], [0.5, 1.0]])
SHARP = dict(method="dopri853", rtol=1e-11, atol=1e-11)


def growth(t, y, p):
    return p[0] * y * (1 - y / p[1])


def jac(t, y, p):
    return np.array([[p[0] - 2 * p[0] * y[0] / p[1]]])


def jac_p(t, y, p):
    return np.array([[y[0] * (1 - y[0] / p[1]), p[0] * y[0] ** 2 / p[1] ** 2]])


def exact(t, y0, p):
    """y(t) = p1/(1 + (p1/y0 - 1) exp(-p0 t))"""
    return p[1] / (1 + (p[1] / y0 - 1) * np.exp(-p[0] * t))


WAYS = {"traced": {}, "called": dict(trace=False), "given": dict(jac=jac, jac_p=jac_p, jac_t=[0.0])}


def test_states_at_times():
    for more in WAYS.values():
        problem = costate.Problem(growth, **more, **SHARP)
        many = problem.ensemble((0, 3), Y0, P, t_eval=TIMES)
        assert many.at.shape == (3, 1, 4)
        for k in range(3):
            close(many.at[k, 0], exact(TIMES, Y0[k, 0], P[k]), 1e-9)
            close(many.at[k], problem.integrate((0, 3), Y0[k], P[k], t_eval=TIMES).at, 1e-15)
        back = problem.ensemble((3, 0), many.y, P, t_eval=TIMES[::-1])
        close(back.at[:, 0, -1], Y0[:, 0], 1e-8)
    ends = costate.Problem(growth, events=costate.Event(lambda t, y, p: y[0] - 0.5, terminal=True), **SHARP)
    many = ends.ensemble((0, 3), Y0, P, t_eval=TIMES)
    reached = exact(TIMES, Y0, P.T[:, :, None]) < 0.5
    assert np.array_equal(np.isfinite(many.at[:, 0]), reached) and reached.any() and not reached.all()
    fails(ValueError, "not between", problem.ensemble, (0, 3), Y0, P, t_eval=[4.0])


OWN = [[0.5, 1.0, 2.5], [], [3.0, 3.0]]


def test_times_of_members():
    """States, tangents, gradients and Hessian products have the bits of runs with the times of each member alone; where
    functions are called, nearly: the last bits of NumPy's complex products depend on where arrays are in memory."""
    w_at, padded = np.cos(np.arange(9.0)).reshape(3, 3, 1), np.full((3, 3), np.nan)
    for row, times in zip(padded, OWN):
        row[:len(times)] = times
    for way in WAYS:
        def same(a, b, tol=0 if way == "traced" else 1e-13):
            return np.allclose(a, b, rtol=tol, atol=tol, equal_nan=True)

        problem = costate.Problem(growth, **WAYS[way], **SHARP)
        for _ in range(2):
            many = problem.ensemble((0, [2.75, 2, 3]), Y0, P, t_eval=OWN, w=[0.3], w_at=w_at, dy0=[0.4], dp=P / 5)
            again = problem.ensemble((0, np.array([2.75, 2, 3])), Y0, P, t_eval=padded, w_at=w_at, vy0=[0.4], vp=P / 5)
            problem.wait()                              # byte code and C of a traced function have bits of their own
        assert many.at.shape == many.dy_at.shape == (3, 1, 3) and same(many.at, again.at)
        for k, times in enumerate(OWN):
            one, seen = ((0, [2.75, 2, 3][k]), Y0[k:k + 1], P[k:k + 1]), dict(t_eval=times, w_at=w_at[k, :len(times)])
            alone = problem.ensemble(*one, w=[0.3], dy0=[0.4], dp=P[k] / 5, **(seen if times else {}))
            assert same(many.y[k], alone.y[0]) and same(many.dy[k], alone.dy[0])
            assert same(many.p[k], alone.p[0]) and same(many.y0[k], alone.y0[0])
            for name in ("at", "dy_at") if times else ():
                assert same(getattr(many, name)[k, :, :len(times)], getattr(alone, name)[0]), name
            assert np.all(np.isnan(many.at[k, :, len(times):])) and np.all(np.isnan(many.dy_at[k, :, len(times):]))
            if way == "called":                         # without second derivatives
                continue
            second = problem.ensemble(*one, vy0=[0.4], vp=P[k] / 5, **(seen if times else dict(w=[0.0])))
            assert same(again.Hp[k], second.Hp[0]) and same(again.Hy0[k], second.Hy0[0])
    for times, said in (([[1], [2]], "t_eval has times of 2 members; there are 3"),
                        ([[1], [], [4.0]], "member 2: t_eval has 4, which is not between"),
                        ([[1], [2, 1], []], "member 1: t_eval is not sorted"),
                        ([[1], [np.nan, 2], []], "member 1: t_eval has NaN before a time")):
        fails(ValueError, said, problem.ensemble, (0, 3), Y0, P, t_eval=times)
    fails(ValueError, "t1 has shape (2,); expected a number, or (3,)", problem.ensemble, (0, [1, 2]), Y0, P)


def test_gradients_of_states_at_times():
    w, w_at = np.array([0.3]), np.arange(12.0).reshape(3, 4, 1) - 4
    for more in WAYS.values():
        problem = costate.Problem(growth, **more, **SHARP)
        many = problem.ensemble((0, 3), Y0, P, t_eval=TIMES, w=w, w_at=w_at)
        shared = problem.ensemble((0, 3), Y0, P, t_eval=TIMES, w_at=w_at[1])
        for k in range(3):
            run = problem.integrate((0, 3), Y0[k], P[k])
            both = [a + b for a, b in zip(run.adjoint(w), run.adjoint(at=TIMES, w_at=w_at[k]))]
            close(many.y0[k], both[0], 1e-12)
            close(many.p[k], both[1], 1e-12)
            close(shared.p[k], run.adjoint(at=TIMES, w_at=w_at[1])[1], 1e-12)
        moved = problem.ensemble((0, 3), Y0, P, dy0=[0.4], dp=[0.2, -0.3])
        gradient = problem.ensemble((0, 3), Y0, P, w=[1.0])
        close(moved.dy[:, 0], gradient.y0[:, 0] * 0.4 + gradient.p @ [0.2, -0.3], 1e-12)
        moved = problem.ensemble((0, 3), Y0, P, dy0=[0.4], dp=P / 5, t_eval=TIMES)
        for k in range(3):
            run = problem.integrate((0, 3), Y0[k], P[k])
            close(moved.dy_at[k].T, run.tangent([0.4], P[k] / 5, at=TIMES), 1e-13)
            close(moved.dy[k], run.tangent([0.4], P[k] / 5), 1e-13)
    fails(ValueError, "expected (4, 1) or (3, 4, 1)", problem.ensemble, (0, 3), Y0, P, t_eval=TIMES, w_at=w)
    fails(ValueError, "the 0 times of t_eval", problem.ensemble, (0, 3), Y0, P, w_at=w_at)


def test_hessian_products():
    w_at, vy0, vp = np.cos(np.arange(12.0)).reshape(3, 4, 1), np.array([[0.5], [0.1], [-1.0]]), np.array([0.7, -0.2])
    for name in ("traced", "given"):
        problem = costate.Problem(growth, **WAYS[name], **SHARP)
        many = problem.ensemble((0, 3), Y0, P, t_eval=TIMES, w=[0.3], w_at=w_at, vy0=vy0, vp=vp)
        plain = problem.ensemble((0, 3), Y0, P, t_eval=TIMES, w=[0.3], w_at=w_at)
        close(many.p, plain.p, 1e-11)
        for k in range(3):
            run = problem.integrate((0, 3), Y0[k], P[k])
            number = {t: i for i, t in enumerate(TIMES)}
            F = costate.Functional(
                end=lambda t, y, p: 0.3 * y[0], end_y=lambda t, y, p: np.array([0.3 + 0 * y[0]]), times=TIMES,
                term=lambda t, y: w_at[k, number[t]] @ y, term_y=lambda t, y: w_at[k, number[t]] + 0 * y)
            one = run.hessp(F, vy0[k], vp)
            close(many.Hy0[k], one.Hy0, 1e-11)
            close(many.Hp[k], one.Hp, 1e-11)
    e = 1e-4
    up, down = (problem.ensemble((0, 3), Y0 + s * e * vy0, P + s * e * vp, t_eval=TIMES, w=[0.3], w_at=w_at)
                for s in (1, -1))
    close(many.Hp, (up.p - down.p) / (2 * e), 1e-6)
    fails(TypeError, "take the place of dy0 and dp", problem.ensemble, (0, 3), Y0, P, vp=vp)
    fails(TypeError, "take the place of dy0 and dp", problem.ensemble, (0, 3), Y0, P, w=[1.0], vp=vp, dp=vp)


def test_forms():
    """y0 of any shape, parameters as dicts: one for all members, or one for each"""
    def f(t, u, p):
        return -p["rate"]["of"] * u
    problem = costate.Problem(f, **SHARP)
    u0 = np.array([[[1.0, 2.0]], [[3.0, 4.0]]])
    one = {"rate": {"of": np.array([[0.5, 1.0]])}}
    two = {"rate": {"of": np.array([[0.2, 0.3]])}}
    shared = problem.ensemble((0, 1), u0, one, shape=(1, 2), w=np.ones((1, 2)), t_eval=[0.5, 1.0],
                              w_at=np.zeros((2, 1, 2)))
    close(shared.y, u0 * np.exp(-one["rate"]["of"]))
    close(shared.at[:, :, :, 0], u0 * np.exp(-0.5 * one["rate"]["of"]))
    assert shared.at.shape == (2, 1, 2, 2) and shared.y0.shape == (2, 1, 2)
    each = problem.ensemble((0, 1), u0, [one, two], shape=(1, 2), w=np.ones((2, 1, 2)))
    for k, p in enumerate((one, two)):
        close(each.y[k], u0[k] * np.exp(-p["rate"]["of"]))
        close(each.p[k]["rate"]["of"], -u0[k] * np.exp(-p["rate"]["of"]))
    moved = problem.ensemble((0, 1), u0[0], [one, two], shape=(1, 2), dp=two, dy0=np.ones((1, 2)))
    close(moved.dy[0], (1 - u0[0] * two["rate"]["of"]) * np.exp(-one["rate"]["of"]))
    curved = problem.ensemble((0, 1), u0[0], [one, two], shape=(1, 2), w=np.ones((1, 2)), vp=two)
    close(curved.Hp[0]["rate"]["of"], u0[0] * two["rate"]["of"] * np.exp(-one["rate"]["of"]))
    by_name = costate.Problem(lambda t, y, p: -p["k"] * y, **SHARP).ensemble((0, 1), [1.0], [{"k": 0.5}, {"k": 2.0}])
    close(by_name.y[:, 0], np.exp([-0.5, -2.0]))
    fails(ValueError, "expected (1, 2)", problem.ensemble, (0, 1), np.ones((2, 3)), one, shape=(1, 2))


TEXT = "model growing\nparameter a = 1, c = 2\nstate y = 0.1\ny' = a*y*(1 - y/c)\n"


def test_lanes():
    """members side by side have the bits of members one by one"""
    plain = costate.Problem(costate.Model(TEXT, compiled=True), method="dopri5", rtol=1e-8)
    model = costate.Model(TEXT, lanes=True)
    maps = model.lanes()
    assert [maps[k].lanes for k in range(2)] == [lib.costate_lanes(), 0], "those of this processor alone are compiled"
    beside = costate.Problem(model, method="dopri5", rtol=1e-8)
    y0, p = np.linspace(0.1, 1.0, 50)[:, None], np.stack([np.linspace(0.5, 2.0, 50), np.full(50, 2.0)], axis=1)
    for more in (dict(w=[1.0]), dict(dp=[1.0, 0.0]), {}):
        one, other = (of.ensemble((0, 3), y0, p, **more) for of in (plain, beside))
        for name in ("y", "p", "dy"):
            if hasattr(one, name):
                assert np.array_equal(getattr(one, name), getattr(other, name))
        assert one.lanes == 1 and one.in_lanes == 0
        assert other.lanes in (2, 4, 8) and other.in_lanes == 50 and other.alone == "", (other.lanes, other.alone)
    alone = beside.ensemble((0, 3), y0, p, t_eval=[1.0])
    assert alone.in_lanes == 0 and alone.alone
    again = pickle.loads(pickle.dumps(model))
    assert again.has_lanes and costate.Problem(again, method="dopri5").ensemble((0, 1), y0, p).in_lanes == 50
    fails(ValueError, "lanes are compiled", costate.Model, TEXT, lanes=True, compiled=False)


def test_methods_from_files():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)
    with open(os.path.join(root, "methods", "erk", "tsit5.toml"), encoding="utf-8") as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as place:
        source = os.path.join(place, "mine.toml")
        with open(source, "w", encoding="utf-8") as out:
            out.write(text.replace('"tsit5"', '"mine"'))
        env = dict(os.environ, PYTHONPATH=_places.CODEGEN)
        subprocess.run([sys.executable, "-m", "codegen", "model", source, "-o", os.path.join(place, "mine.c")],
                       check=True, env=env, capture_output=True)
        try:
            subprocess.run(["cc", "-shared", "-fPIC", "-I", _places.INCLUDE, "mine.c", "-o", "mine.so"], cwd=place,
                           check=True, capture_output=True)
        except OSError:
            raise Skipped("no compiler") from None
        mine = costate.load_method(os.path.join(place, "mine.so"))
        assert mine.name == "mine" and mine.order == 5 and mine.family == "erk" and "mine" in repr(mine)
        run, usual = (costate.Problem(growth, method=m, rtol=1e-8).integrate((0, 3), Y0[0], P[0])
                      for m in (mine, "tsit5"))
        assert np.array_equal(run.y, usual.y) and np.array_equal(run.adjoint([1.0])[1], usual.adjoint([1.0])[1])
        assert pickle.loads(pickle.dumps(mine)).name == "mine"
        assert repr(costate.Problem(growth, method=mine)).count("mine")
    fails(costate.CostateError, "COSTATE_IO", costate.load_method, "/nowhere/mine.so")


run_all(globals())
