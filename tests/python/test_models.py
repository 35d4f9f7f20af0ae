"""test_models.py - models from equations, SymPy, Numba and C: gradients, the cache, wrong equations, interrupts."""
import ctypes
import glob
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir))
sys.path.insert(0, os.path.join(ROOT, "tests"))
PLACE = tempfile.TemporaryDirectory(prefix="costate-test-")
os.environ["COSTATE_CACHE"] = os.path.join(PLACE.name, "cache")

import numpy as np                                                      # noqa: E402

import costate                                                          # noqa: E402
from cases import Skipped, run_all                                      # noqa: E402
from common import child                                                # noqa: E402
from costate.models import Model, from_cfunc, from_numba, from_sympy    # noqa: E402

HARES = """model hares
parameter a = 1.5 {1/d} "births", b = 1, c = 1, d = 3
state hare = 1 {head}, lynx = a - 0.5
hare' = a*hare - b*hare*lynx
lynx' = c*hare*lynx - d*lynx + 0.1*sin(t)
cost eaten' = b*hare*lynx
output total = hare + lynx*t
output share = hare/(hare + d*lynx)
"""
P, SPAN, SHARP = np.array([1.5, 1.0, 1.0, 3.0]), (0.0, 3.0), dict(rtol=1e-10, atol=1e-10)


def end(t, y, p):
    return y[0] + y[1] ** 2


END = costate.Functional(end, end_y=lambda t, y, p: np.concatenate([[1 + 0 * y[1], 2 * y[1]], 0 * y[2:]]))


def rhs(t, y, p):
    return np.array([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1] + 0.1 * np.sin(t)])


def into(t, y, p, out):
    out[0] = p[0] * y[0] - p[1] * y[0] * y[1]
    out[1] = p[2] * y[0] * y[1] - p[3] * y[1] + 0.1 * np.sin(t)


def jac_into(t, y, p, J):
    J[0, 0] = p[0] - p[1] * y[1]
    J[0, 1] = -p[1] * y[0]
    J[1, 0] = p[2] * y[1]
    J[1, 1] = p[2] * y[0] - p[3]


def near(a, b, tol):
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    assert a.shape == b.shape, f"shapes {a.shape} and {b.shape}"
    gap = np.max(np.abs(a - b), initial=0) / (np.max(np.abs(b), initial=0) + 1e-300)
    assert gap <= tol, f"gap {gap:.1e} > {tol:.1e}: {a} {b}"


def raised(kind, text, call, *args, **named):
    try:
        call(*args, **named)
    except kind as error:
        assert text in str(error), str(error)
        return str(error)
    raise AssertionError(f"{kind.__name__} was not raised")


def module(name):
    try:
        return __import__(name)
    except ImportError:
        raise Skipped(f"{name} is not installed") from None


def by_hand():
    return costate.Problem(rhs, **SHARP).integrate(SPAN, [1.0, 1.0], P).gradient(costate.Functional(end))


def differences(problem, functional, span, y0, p):
    """of the value by p"""
    out = np.empty(p.size)
    for k in range(p.size):
        h = 1e-5 * max(abs(p[k]), 1e-3)
        up, down = p.copy(), p.copy()
        up[k], down[k] = p[k] + h, p[k] - h
        out[k] = (problem.integrate(span, y0, up).value(functional)
                  - problem.integrate(span, y0, down).value(functional)) / (2 * h)
    return out


# ---- models from text ------------------------------------------------------------------------------------------------

def test_text_has_names_values_and_units():
    m = Model(HARES)
    assert (m.name, m.n, m.np, m.nq, m.nm) == ("hares", 2, 4, 1, 0)
    assert m.states == ["hare", "lynx"] and m.parameters == ["a", "b", "c", "d"]
    assert m.costs == ["eaten"] and m.outputs == ["total", "share"] and m.memory == []
    assert m.units["a"] == "1/d" and m.units["hare"] == "head" and m.units["share"] == ""
    near(m.defaults, P, 0)
    near(m.start(0.0), [1, 1, 0], 0)
    near(m.start(0.0, [2, 1, 1, 3]), [1, 1.5, 0], 0)
    assert m.index("lynx") == 1 and m.index("d") == 3 and m.index("share") == 1
    near(m.parameter_vector(c=7.0), [1.5, 1, 7, 3], 0)
    assert "hares" in repr(m) and "4 parameters" in repr(m)


def test_gradient_of_text_is_that_of_the_problem_by_hand():
    run = costate.Problem(Model(HARES), **SHARP).integrate(SPAN, [1.0, 1.0], P)
    assert run.derivatives == "exact"
    found, expected = run.gradient(END), by_hand()
    near(found.p, expected.p, 1e-7)
    near(found.y0, expected.y0, 1e-7)
    near([found.t0, found.t1], [expected.t0, expected.t1], 1e-7)


def test_gradient_of_text_is_that_of_differences():
    problem = costate.Problem(Model(HARES), **SHARP)
    y0 = np.array([1.0, 1.0])
    near(problem.gradient(END, SPAN, y0, P).p, differences(problem, END, SPAN, y0, P), 1e-6)
    eaten = costate.Functional(lambda t, y, p: y[2])
    near(problem.gradient(eaten, SPAN, y0, P).p, differences(problem, eaten, SPAN, y0, P), 1e-6)


def test_hessian_product():
    problem = costate.Problem(Model(HARES), **SHARP)
    y0, v, h = np.array([1.0, 1.0]), np.array([1.0, -0.5, 0.3, 0.2]), 1e-5
    up, down = (problem.gradient(END, SPAN, y0, P + s * h * v).p for s in (1, -1))
    near(problem.hessp(END, SPAN, y0, P, vp=v).Hp, (up - down) / (2 * h), 1e-5)


def test_outputs():
    m = Model(HARES)
    t, y = 2.0, np.array([3.0, 4.0])
    near(m.output(t, y), [11.0, 3 / 15], 1e-15)
    J = m.output_jacobian(t, y)
    near(J.y, [[1, 2], [12 / 225, -9 / 225]], 1e-15)
    near(J.p, [[0, 0, 0, 0], [0, 0, 0, -12 / 225]], 1e-15)
    near(J.t, [4, 0], 0)
    run = costate.Problem(m).integrate(SPAN, t_eval=[1.0, 2.0])
    many = m.output([1.0, 2.0], run.at)
    assert many.shape == (2, 2)
    near(many[:, 1], m.output(2.0, run.at[:, 1]), 0)
    raised(costate.ModelError, "has no outputs", Model("state x = 1\nx' = -x").output, 0.0, [1.0])


def test_derivatives_of_the_start():
    m = Model("parameter a = 2, b = 3\nstate x = a^2*t, y\nmemory m = b\nx' = -x\ny' = m")
    near(m.start(5.0), [20, 0, 3], 0)
    near(m.start_jvp(5.0, dp=[1.0, 2.0], dt=1.0), [2 * 2 * 5 + 4, 0, 2], 1e-15)
    by_p, by_t = m.start_vjp(5.0, None, [1.0, 1.0, 10.0])
    near(by_p, [20, 10], 1e-15)
    near(by_t, 4.0, 1e-15)
    by_p, by_t = m.start_hvp(5.0, None, [1.0, 1.0, 10.0], dp=[1.0, 0.0], dt=0.5)
    near(by_p, [2 * 5 + 2 * 2 * 0.5, 0], 1e-15)
    near(by_t, 2 * 2, 1e-15)
    grid = Model.from_file(os.path.join(ROOT, "models", "heat.eq"), sizes={"N": 9})
    near(grid.start_vjp(0.0, None, np.ones(9))[0], np.zeros(11), 0)


def test_names_that_are_not_known():
    m = Model("state x = 1\nparameter rate = 1, k[1..3] = 2\nx' = -rate*x*k[1]")
    raised(KeyError, "rate", m.parameter_vector, rat=1.0)
    raised(KeyError, "no quantity 'z'", m.index, "z")
    near(m.parameter_vector(k=[3, 4, 5]), [1, 3, 4, 5], 0)
    near(m.parameter_vector(**{"k[2]": 9.0}), [1, 2, 9, 2], 0)


def test_pickle_and_copies():
    m = Model(HARES)
    again = pickle.loads(pickle.dumps(m))
    near(costate.Problem(again).integrate(SPAN).y, costate.Problem(m).integrate(SPAN).y, 0)
    grid = pickle.loads(pickle.dumps(Model.from_file(os.path.join(ROOT, "models", "heat.eq"), sizes={"N": 9})))
    assert grid.n == 9


# ---- files -----------------------------------------------------------------------------------------------------------

def test_all_files_load_and_run():
    for path in sorted(glob.glob(os.path.join(ROOT, "models", "*.eq"))):
        m = Model.from_file(path)
        if m.sizes:
            m = Model.from_file(path, sizes=dict.fromkeys(m.sizes, 8))
        y0 = m.start()
        if not y0[:m.n].any():
            continue
        run = costate.Problem(m, consistent=1 if m.problem.index else 0).integrate((0.0, 0.5))
        assert np.all(np.isfinite(run.y)), path
        assert all(np.all(np.isfinite(part)) for part in run.adjoint(np.ones(m.n))), path


def test_tables_and_equations_in_other_files():
    """what they contribute becomes a part of the model, which is kept and copied by its text"""
    with tempfile.TemporaryDirectory() as place:
        path, rows = os.path.join(place, "m.eq"), os.path.join(place, "rain.csv")
        with open(path, "w") as file:
            file.write('table rain linear "rain.csv"\nstate x\nx\' = rain(t)\n')
        found = []
        for last in ("3", "5"):
            with open(rows, "w") as file:
                file.write("0,1\n1," + last)
            for compiled in (True, False):
                found.append(pickle.loads(pickle.dumps(Model.from_file(path, compiled=compiled))))
        whole = os.path.join(place, "whole.eq")
        with open(whole, "w") as file:
            file.write('include "m.eq" as a\nstate z; z\' = a_x\n')
        found += [Model.from_file(whole, compiled=compiled) for compiled in (True, False)]
        os.remove(rows)
        raised(costate.ModelError, "rain.csv cannot be read", Model.from_file, path)
    assert found[-1].states == ["a_x", "z"]
    for m, wanted in zip(found, (2, 2, 3, 3, 3, 3)):
        assert abs(costate.Problem(m).integrate((0.0, 1.0)).y[0] - wanted) < 1e-10


def test_a_dae_of_index_2():
    m = Model.from_file(os.path.join(ROOT, "models", "pendulum.eq"))
    problem = costate.Problem(m, method="radau2a", **SHARP)
    height = costate.Functional(lambda t, y, p: y[1])
    run = problem.integrate((0.0, 1.0))
    assert abs(run.y[0] ** 2 + run.y[1] ** 2 - 1) < 1e-8
    near(run.gradient(height).p, differences(problem, height, (0.0, 1.0), None, m.defaults), 1e-5)


def test_doses():
    m = Model.from_file(os.path.join(ROOT, "models", "dosing.eq"))
    problem, span = costate.Problem(m, **SHARP), (0.0, 30.0)
    blood = costate.Functional(lambda t, y, p: y[1])
    run = problem.integrate(span)
    assert [event[0] for event in run.events] == [0, 8, 12, 14.5, 24, 27, 28]
    near(run.gradient(blood).p, differences(problem, blood, span, None, m.defaults), 1e-6)
    near(m.output(30.0, run.y), [run.y[1] / m.defaults[2]], 1e-15)


def test_events_with_guards():
    m = Model.from_file(os.path.join(ROOT, "models", "thermostat.eq"))
    problem, span = costate.Problem(m, **SHARP), (0.0, 10.0)
    energy = costate.Functional(lambda t, y, p: y[1])
    run = problem.integrate(span, [20.0])
    assert len(run.events) > 2
    near(run.gradient(energy).p, differences(problem, energy, span, [20.0], m.defaults), 1e-5)


def test_stops():
    """Those of the equations and those that are given; gradients have one number for each"""
    model = costate.Model("model steps\nparameter a = 2\nstate y = 1\nstop at 7\ny' = a*if(t < 2, 1, 3)\n")
    assert model.stops.tolist() == [2, 7]
    problem = costate.Problem(model, stops=[5, 2], method="dopri5", **SHARP)
    assert problem.stops.tolist() == [2, 5, 7]
    none = [0, 0, 0]
    for span, y, by_a, by_stops in (((0, 4), 17, 8, [-4, 0, 0]), ((4, 0), -15, -8, [4, 0, 0]), ((2, 6), 25, 12, none),
                                    ((2, 0), -3, -2, none)):
        run = problem.integrate(span, [1.0])
        g = run.gradient(costate.Functional(end=lambda t, y, p: y[0]))
        assert np.allclose([run.y[0], g.p[0], *g.stops], [y, by_a, *by_stops], rtol=1e-13, atol=1e-12), (span, run.y, g)


def test_times_of_events_that_depend_on_parameters():
    """Initial values without the hidden memory variable will do, wherever the run begins"""
    model = costate.Model("model doses\nparameter T = 1, D = 2, E = 7.5, k = 0.5\nstate y = 1\ny' = -k*y\n"
                          "event e at T every D until E, 2*D\n    y += 3\n")
    problem = costate.Problem(model, method="dopri853", rtol=1e-12, atol=1e-12)
    T, D, k = 1.0, 2.0, 0.5
    for t0, t1 in ((0.0, 9.0), (1.0, 7.0), (4.0, 9.0), (9.0, 0.0), (7.0, 1.0), (8.0, 9.0)):
        way = 1 if t1 > t0 else -1
        given = [(x, i, j) for x, i, j in ((T + j * D, 1, j) for j in range(4)) if way * t0 <= way * x < way * t1]
        given += [(2 * D, 0, 2)] * (way * t0 <= way * 2 * D < way * t1)
        y = np.exp(-k * (t1 - t0)) + sum(3 * np.exp(-k * (t1 - x)) for x, _, _ in given)
        by = [sum(3 * k * np.exp(-k * (t1 - x)) * times[1 + n] for times in given for x in times[:1]) for n in (0, 1)]
        run = problem.integrate((t0, t1), [1.0])
        found = run.gradient(costate.Functional(end=lambda t, y, p: y[0])).p
        assert np.allclose([*run.y, *found[:3]], [y, *by, 0], rtol=1e-10, atol=1e-11), (t0, t1, run.y, found, y, by)
    for D in (0.0, -1.0):
        try:
            problem.integrate((0, 9), [1.0], [1.0, D, 7.5, 0.5])
            raise AssertionError("a step of %g" % D)
        except costate.CostateError as error:
            assert "guard is NaN" in str(error), error


def test_gradients_of_runs_that_start_where_the_equations_say():
    m = Model(HARES)
    problem = costate.Problem(m, **SHARP)
    found = problem.integrate(SPAN, m.start()).gradient(END)
    near(found.p + m.start_vjp(0.0, None, found.y0)[0], differences(problem, END, SPAN, None, m.defaults), 1e-6)


def test_grids():
    path = os.path.join(ROOT, "models", "heat.eq")
    m = Model.from_file(path, sizes={"N": 12})
    assert m.n == 12 and m.np == 14 and m.index("u", 3) == 3
    p = m.parameter_vector(frequency=3.0, k=2.0)
    near(p[[m.index("k", i) for i in range(12)]], np.full(12, 2.0), 0)
    near(p[[m.index("amplitude"), m.index("frequency")]], [1.0, 3.0], 0)
    raised(KeyError, "no size 'M'", Model.from_file, path, sizes={"M": 3})
    raised(costate.ModelError, "too few cells", Model.from_file, path, sizes={"N": 0})
    raised(IndexError, "12 cells", m.index, "u", 12)
    raised(costate.ModelError, "not on a grid", Model, HARES, sizes={"N": 3})


def test_threads_share_a_model():
    problem, found = costate.Problem(Model(HARES), **SHARP), {}

    def one(k):
        found[k] = problem.gradient(END, SPAN, [1.0, 1.0], P).p

    threads = [threading.Thread(target=one, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        near(found[k], problem.gradient(END, SPAN, [1.0, 1.0], P).p, 0)


# ---- SymPy -----------------------------------------------------------------------------------------------------------

def test_sympy():
    sp = module("sympy")
    x, y, a, b, c, d, t = sp.symbols("hare lynx a b c d t")
    right = [a * x - b * x * y, c * x * y - d * y + sp.Float(0.1) * sp.sin(t)]
    m = from_sympy(right, [x, y], {a: 1.5, b: 1, c: 1, d: 3}, initial={x: 1, y: a - sp.Rational(1, 2)},
                   costs={"eaten": b * x * y}, name="hares")
    assert m.states == ["hare", "lynx"] and m.costs == ["eaten"]
    near(m.start(), [1, 1, 0], 0)
    near(costate.Problem(m, **SHARP).integrate(SPAN, [1.0, 1.0]).gradient(END).p, by_hand().p, 1e-7)


def test_sympy_functions_of_time():
    sp = module("sympy")
    s, k = sp.symbols("s k")
    x = sp.Function("x")(s)
    m = from_sympy([-k * x * sp.cos(s)], [x], [k], s, initial=[2])
    run = costate.Problem(m, **SHARP).integrate((0.0, 1.0), p=[0.7])
    near(run.y, [2 * np.exp(-0.7 * np.sin(1.0))], 1e-8)


def test_sympy_expressions_have_the_values_of_sympy():
    sp = module("sympy")
    x, k, t = sp.symbols("x k t")
    expressions = [
        x ** 3 / (1 + x ** 2) - x ** sp.Rational(3, 2) / sp.sqrt(k) + 1 / x ** 2 - (-x) ** 3 * k ** x,
        sp.exp(-x ** 2 / 2) + sp.log(x) * sp.tanh(k) + sp.log(x, 10) + sp.sinh(x) / sp.cosh(k) + sp.atan2(x, k),
        sp.Abs(x - 5) + sp.Max(x, k, 1) - sp.Min(x, 2) + sp.floor(3 * x) + sp.ceiling(k) + sp.erf(x),
        sp.Piecewise((x, x > 1), (k, (x < sp.Rational(1, 2)) | ~(k >= x)), (x * k, sp.Ne(x, 3)), (0, True)),
        sp.pi * x + sp.E * k + 1e-30 * x + sp.Integer(10) ** 12 - sp.Rational(1, 3) + x * t - sp.asin(x / 9)]
    states = sp.symbols("y1:6")
    m = from_sympy(expressions, states, {x: 0, k: 0}, t)
    from costate._costate import ffi
    point, out = ffi.new("costate_point *"), np.empty(5)
    zeros = np.zeros(5)
    for values in ((0.3, 0.4), (0.9, 0.7), (1.5, 0.2), (0.7, 2.5)):
        p = np.array(values)
        point.t, point.y, point.p = 0.6, ffi.from_buffer("double[]", zeros), ffi.from_buffer("double[]", p)
        assert m.problem.rhs.value(point, ffi.from_buffer("double[]", out), m.problem.ctx) == 0
        expected = [float(e.subs({x: values[0], k: values[1], t: 0.6})) for e in expressions]
        near(out, expected, 1e-14)


def test_sympy_refuses_what_equations_do_not_have():
    sp = module("sympy")
    x, k = sp.symbols("x k")
    u = sp.Function("u")(sp.Symbol("t"))
    raised(ValueError, "besselj(0, x)", from_sympy, [sp.besselj(0, x)], [x])
    raised(ValueError, "has I,", from_sympy, [sp.I * x], [x])
    raised(ValueError, "Derivative(u(t), t)", from_sympy, [sp.Derivative(u, sp.Symbol("t"))], [u])
    raised(ValueError, "k occurs in the derivative of x", from_sympy, [k * x], [x])
    raised(ValueError, "(expression, True)", from_sympy, [sp.Piecewise((x, x > 1))], [x])
    raised(ValueError, "rename the symbol", from_sympy, [x], [sp.Symbol("k_{1}")])
    raised(ValueError, "2 right-hand sides", from_sympy, [x, x], [x])
    raised(ValueError, "initial has 2 values", from_sympy, [x], [x], initial=[1, 2])


# ---- compiled functions ----------------------------------------------------------------------------------------------

def compiled_functions(model):
    """a problem by the differences that its runs need"""
    return costate.Problem(model, differences=int(model.differences), **SHARP)


def test_numba():
    module("numba")
    m = from_numba(into, 2, 4)
    assert m.differences and m.backend is None
    near(m.defaults, np.zeros(4), 0)
    raised(ValueError, "give y0", m.start)
    found, expected = compiled_functions(m).integrate(SPAN, [1.0, 1.0], P).gradient(END), by_hand()
    near(found.value, expected.value, 1e-8)
    near(found.p, expected.p, 1e-5)
    near(found.y0, expected.y0, 1e-5)


def test_numba_with_a_jacobian():
    module("numba")
    problem = costate.Problem(from_numba(into, 2, 4, jac=jac_into), method="rodas5p", differences=1, **SHARP)
    found = problem.integrate(SPAN, [1.0, 1.0], P).gradient(END)
    near(found.y0, by_hand().y0, 1e-6)


def test_numba_exceptions_end_the_run():
    module("numba")

    def fails(t, y, p, out):
        if t > 0.5:
            raise ValueError("too late")
        out[0] = 1.0

    raised(costate.CostateError, "rhs.value", compiled_functions(from_numba(fails, 1)).integrate, SPAN, [0.0])


def test_functions_of_c():
    model = Model(HARES)
    maps = model.problem.rhs
    m = from_cfunc(maps.value, 2, 4, tangent=maps.tangent, adjoint=maps.adjoint, tangent2=maps.tangent2,
                   adjoint_tangent=maps.adjoint_tangent)
    assert not m.differences
    run = compiled_functions(m).integrate(SPAN, [1.0, 1.0], P)
    near(run.gradient(END).p, by_hand().p, 1e-7)


def test_addresses():
    numba, maps = module("numba"), Model(HARES).problem.rhs
    from costate._costate import ffi
    number = int(ffi.cast("uintptr_t", maps.value))
    for f in (number, np.int64(number), ctypes.c_void_p(number), ctypes.CFUNCTYPE(ctypes.c_int)(number), maps.value):
        near(compiled_functions(from_cfunc(f, 2, 4)).integrate(SPAN, [1.0, 1.0], P).y,
             costate.Problem(rhs, **SHARP).integrate(SPAN, [1.0, 1.0], P).y, 1e-7)
    assert from_cfunc(numba.cfunc("void()")(lambda: None), 1).n == 1
    raised(TypeError, "expected an address", from_cfunc, rhs, 2, 4)
    raised(TypeError, "expected an address", from_cfunc, "rhs", 2, 4)
    raised(ValueError, "NULL", from_cfunc, 0, 2, 4)


# ---- compiling and the cache -----------------------------------------------------------------------------------------

LOAD = """
import sys
from costate.models import Model
import costate
m = Model("model cached\\nparameter k = 2\\nstate x = 1\\nx' = -k*x", compiled=True)
print(costate.Problem(m).integrate((0.0, 1.0)).y[0] > 0, m._c.path)
"""


def counting():
    """(directory, environment in which each call of the compiler for a model adds a line to the file `count`)"""
    place = tempfile.mkdtemp(dir=PLACE.name)
    script = os.path.join(place, "compiler")
    with open(script, "w", encoding="utf-8") as out:
        out.write('#!/bin/sh\nif [ "$1" != --version ]; then echo run >> "%s/count"; fi\nexec cc "$@"\n' % place)
    os.chmod(script, 0o755)
    return place, dict(CC=script, COSTATE_CACHE=os.path.join(place, "cache"))


def compilations(place):
    with open(os.path.join(place, "count"), encoding="utf-8") as file:
        return len(file.readlines())


def test_the_second_load_does_not_compile():
    place, env = counting()
    assert child(LOAD, **env) == child(LOAD, **env)
    assert compilations(place) == 1
    child(LOAD.replace("k = 2", "k = 3"), **env)
    assert compilations(place) == 2


def test_damaged_entries_are_made_again():
    place, env = counting()
    first = child(LOAD, **env)
    objects, entries = (glob.glob(os.path.join(place, "cache", "*" + end)) for end in (".so", ".json"))
    for k, (path, content) in enumerate([(objects[0], b"\177ELF"), (objects[0], b""), (entries[0], b"{"),
                                         (entries[0], b"[]"), (entries[0], b"\xff")]):
        with open(path, "wb") as out:
            out.write(content)
        assert child(LOAD, **env) == first
        assert compilations(place) == k + 2
    os.unlink(objects[0])
    assert child(LOAD, **env) == first


def test_processes_at_the_same_time():
    place, env = counting()
    running = [subprocess.Popen([sys.executable, "-c", LOAD], stdout=subprocess.PIPE, text=True,
                                env=dict(os.environ, **env)) for _ in range(6)]
    printed = {process.communicate()[0] for process in running}
    assert len(printed) == 1 and printed.pop().startswith("True")
    assert sorted(os.path.splitext(name)[1] for name in os.listdir(os.path.join(place, "cache"))) == [".json", ".so"]


def test_a_cache_that_cannot_be_written():
    place, env = counting()
    env["COSTATE_CACHE"] = os.path.join(place, "compiler", "below-a-file")
    for _ in range(2):
        printed = child(LOAD, **env).split()
        assert printed[0] == "True" and not os.path.exists(printed[1]), "the temporary directory was left behind"
    assert compilations(place) == 2


def test_parameters_that_must_be_set():
    m = Model("model open\nparameter K1 = nan, k = 2\nstate x = 1\nx' = -K1*k*x\n")
    for call in (costate.Problem(m).integrate, lambda span: costate.solve_ivp(m, span, [1.0])):
        raised(ValueError, "K1 of open must be set", call, (0.0, 1.0))
    near(costate.Problem(m, **SHARP).integrate((0.0, 1.0), p=m.parameter_vector(K1=0.5)).y, [np.exp(-1)], 1e-8)


def test_outputs_that_are_undefined():
    """their derivatives do not spoil those of others"""
    m = Model("parameter k = 1, s = 0\nstate a = 1, b = 0, c = 0\na' = -k*a\nb' = k*a\nc' = 0\noutput plain = a*k\n"
              "output share = b/(b + c)\noutput scaled = a/s\noutput root = sqrt(c - 1)")
    found = m.output_jacobian(0.0, [1.0, 0.0, 0.0])
    assert np.array_equal(found.y[0], [1, 0, 0]) and np.array_equal(found.p[0], [1, 0])
    assert np.isnan(found.y[1]).any() and not np.isfinite(found.y[2:]).all()


def test_a_cache_of_others_is_refused():
    """what others may write, they could replace by their own programs"""
    place = os.path.join(PLACE.name, "shared")
    os.mkdir(place)
    model = "import costate; costate.Model('model c\\nstate x = 1\\nx\\' = -x')"
    for mode, fails in ((0o777, True), (0o775, True), (0o755, False)):
        os.chmod(place, mode)
        code = f"try:\n {model}\nexcept costate.ModelError as e: print(e)"
        said = child(code, COSTATE_CACHE=place)
        assert ("other users may write to the cache" in said) == fails, said
    if os.geteuid() == 0:                                   # only root can give files away
        os.chown(place, 1, 1)
        assert "belongs to another user" in child(code, COSTATE_CACHE=place)


def test_options_of_the_compiler():
    """-O3, unless CC or CFLAGS choose another one; words in quotes stay together"""
    show = "from costate._compile import command; print(*[w for w in command() if w.startswith(('-O', '-D'))])"
    for environment, wanted in (({}, "-O3"), ({"CFLAGS": "-O1 -DNAME='a b'"}, "-O1 -DNAME=a b"),
                                ({"CC": "cc -O0"}, "-O0"), ({"CFLAGS": "-g"}, "-O3")):
        assert child(show, **{"CC": "cc", "CFLAGS": "", **environment}).strip() == wanted


def test_long_models_are_optimised_less():
    """-O1 above a size, unless CFLAGS choose another level"""
    show = """if True:
        import costate
        from costate import _compile
        run, seen, _compile.LONG = _compile.run, [], {long}
        _compile.run = lambda words, *more, **names: (seen.append(words), run(words, *more, **names))[1]
        costate.Model("state x = 1\\nx' = -x", compiled=True)
        print(*[word for word in seen[-1] if word.startswith('-O')])"""
    for long, flags, wanted in ((10**6, "", "-O3"), (10, "", "-O1"), (10, "-O0", "-O0")):
        place = tempfile.mkdtemp(dir=PLACE.name)
        assert child(show.format(long=long), CC="cc", CFLAGS=flags, COSTATE_CACHE=place).strip() == wanted


def test_the_place_of_the_cache():
    home = tempfile.mkdtemp(dir=PLACE.name)
    print_place = "from costate._compile import user_cache; print(user_cache())"
    assert child(print_place, COSTATE_CACHE="", XDG_CACHE_HOME="", HOME=home).strip() == home + "/.cache/costate"
    assert child(print_place, COSTATE_CACHE="", XDG_CACHE_HOME=home).strip() == home + "/costate"
    assert child(print_place, COSTATE_CACHE=home).strip() == home


def test_wrong_equations():
    text = raised(costate.ModelError, "did you mean blood?", Model, "state gut, blood\ngut' = -2*blod\nblood' = gut")
    assert "model.eq:2:11:" in text and "^" in text and "gut' = -2*blod" in text
    path = os.path.join(PLACE.name, "wrong.eq")
    with open(path, "w", encoding="utf-8") as out:
        out.write("state x = 1\nx' = (x\n")
    raised(costate.ModelError, path + ":3:1:", Model.from_file, path)
    raised(ValueError, "model.eq", Model, "")
    raised(costate.ModelError, "use Model.from_file('dosing.eq')", Model, "dosing.eq")
    raised(costate.ModelError, "mechanism", Model.from_file, os.path.join(ROOT, "models", "smog", "smog.def"))
    raised(FileNotFoundError, "none.eq", Model.from_file, "none.eq")


def with_compiler(command, text, compiled=True):
    before = os.environ.get("CC")
    os.environ["CC"] = command
    try:
        return Model(text, compiled=compiled)
    finally:
        if before is None:
            del os.environ["CC"]
        else:
            os.environ["CC"] = before


def test_no_compiler():
    text = "state x = 1\nx' = -3*x"
    raised(costate.ModelError, "Install one", with_compiler, "/nonexistent/cc", text)
    assert not with_compiler("/nonexistent/cc", text, None).is_compiled
    if shutil.which("cc"):
        raised(costate.ModelError, "--no-such-option", with_compiler, "cc --no-such-option", text)


# ---- interrupts ------------------------------------------------------------------------------------------------------

def interrupted(call, after=0.3):
    """seconds between SIGINT and KeyboardInterrupt"""
    sent = []

    def send():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)
    timer.start()
    try:
        call()
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]
    finally:
        timer.join()
    raise AssertionError("the run was not interrupted")


def test_interrupt_stops_a_compiled_run():
    problem = costate.Problem(Model(HARES), method="dopri5", max_steps=10 ** 9, **SHARP)
    expected = problem.integrate(SPAN).y
    for record in (False, True):
        assert interrupted(lambda: problem.integrate((0.0, 1e7), record=record)) < 0.3
        near(problem.integrate(SPAN).y, expected, 0)
        near(problem.integrate(SPAN).gradient(END).y0, by_hand().y0, 1e-6)


def test_interrupt_stops_a_sweep():
    problem = costate.Problem(Model(HARES), method="dopri5", max_steps=10 ** 9, storage="states", **SHARP)
    run = problem.integrate((0.0, 2e4))
    lasts = time.perf_counter()
    before = run.adjoint([1.0, 0.0])[1]
    lasts = time.perf_counter() - lasts
    assert interrupted(lambda: run.adjoint([1.0, 0.0]), after=lasts / 4) < 0.3
    near(run.adjoint([1.0, 0.0])[1], before, 0)


def test_start_values_that_depend_on_parameters():
    """y0=None: gradients and Hessian products with respect to p include those of the start values"""
    model = costate.Model("model decay\nparameter k = 0.7, start = 2\nstate y = start^2\ny' = -k*y\n")
    problem = costate.Problem(model, method="dopri5", rtol=1e-11, atol=1e-11)
    F = costate.Functional(end=lambda t, y, p: y[0], end_y=lambda t, y, p: np.array([1 + 0 * y[0]]))
    e = np.exp(-0.7)
    for g in (problem.gradient(F, (0, 1)), problem.gradient(F, (0, 1), estimate=True)):
        assert np.allclose(g.p, [-4 * e, 4 * e], rtol=1e-8), g
    run = problem.integrate((0, 1))
    assert np.allclose(run.tangent(dp=[0.0, 1.0]), [4 * e], rtol=1e-8)
    rough = costate.Problem(model, method="dopri5", rtol=1e-4, atol=1e-4)
    for more in (dict(), dict(estimate=True), dict(tol=1e-8)):
        H = problem.hessp(F, (0, 1), vp=np.eye(2), **more).Hp
        assert np.allclose(H, [[4 * e, -4 * e], [-4 * e, 2 * e]], rtol=1e-7), H
    h = rough.hessp(F, (0, 1), vp=np.eye(2), estimate=True)
    assert np.allclose(h.error.Hp, H - h.Hp, rtol=0.3), (h.error.Hp, H - h.Hp)


def test_start_values_of_many():
    """the initial values of many members, and gradients through them, have the bits of those of single ones"""
    text = "parameter a = 3, c = 1\nstate y = a*c, z = a^2/c\ny' = -c*y\nz' = y - z\n"
    P, W = np.array([[1.0, 2.0], [3.0, 0.5], [2.0, 2.0]]), np.array([[1.0, 0.5], [2.0, -1.0], [0.0, 3.0]])
    for compiled in (False, True):
        model = costate.Model("model two\n" + text, compiled=compiled)
        assert np.array_equal(model.starts(0.0, P), [model.start(0.0, p) for p in P])
        assert np.array_equal(model.start_vjps(0.0, P, W), [model.start_vjp(0.0, p, w)[0] for p, w in zip(P, W)])
        problem = costate.Problem(model, method="dopri5")
        many = problem.ensemble((0, 1), None, P, w=[1.0, 1.0])
        for k, p in enumerate(P):
            run = problem.integrate((0, 1), None, p)
            assert np.array_equal(many.y[k], run.y) and np.array_equal(many.p[k], run.adjoint([1.0, 1.0])[1])


def test_branches_of_kinks_at_other_initial_values():
    """y0 on the other side of a kink than the model's own: the condition decides, and its derivatives follow"""
    model = costate.Model("model fall\nparameter slow = 1, fast = 3\nstate y = 1\nkinks as events\n"
                          "y' = -if(y > 0, slow, fast)\n")
    problem = costate.Problem(model, method="dopri5", rtol=1e-10, atol=1e-10)
    # from 1 the kink is at t = 1/slow: y = -fast (2 - 1/slow)
    for y0, end, by_p in ((None, -3.0, [-3.0, -1.0]), ([1.0], -3.0, [-3.0, -1.0]), ([-1.0], -7.0, [0.0, -2.0]),
                          ([2.5], 0.5, [-2.0, 0.0])):
        run = problem.integrate((0, 2), y0)
        assert np.allclose(run.y, [end], rtol=1e-8), (y0, run.y)
        assert np.allclose(run.adjoint([1.0])[1], by_p, rtol=1e-7, atol=1e-9), y0
    all_ = problem.ensemble((0, 2), [[-1.0], [2.5]], np.tile([1.0, 3.0], (2, 1)))
    assert np.allclose(all_.y[:, 0], [-7.0, 0.5], rtol=1e-8)


def test_relations_of_a_run():
    """They are apart from events; a solution slides if that is asked for"""
    model = costate.Model("model fall\nparameter slow = 1, fast = 3\nstate y = 1\ny' = -if(y > 0, slow, fast)\n"
                          "event mark at 0.5, 1.5\n    y += 0\n")
    F = costate.Functional(end=lambda t, y, p: y[0], end_y=lambda t, y, p: np.array([1 + 0 * y[0]]))
    run = costate.Problem(model, method="dopri5", rtol=1e-10, atol=1e-10).integrate((0, 2))
    assert np.allclose([t for t, _ in run.relations], [1.0]) and [k for _, k in run.relations] == [0]
    assert [number for _, number, *_ in run.events] == [0, 0]
    gradient = run.gradient(F)
    assert gradient.events.shape == (2,) and np.allclose(gradient.relations, [2.0])     # -s - fast (2 - (1 + s)/slow)
    slide = costate.Model("model slide\nparameter k = 2\nstate y = 1, z = 0\ny' = if(y > 0, -k, k)\n"
                          "z' = if(y > 0, 1, 3)\n")
    try:
        costate.Problem(slide).integrate((0, 2))
    except costate.CostateError as error:
        assert error.status == "COSTATE_TOO_MANY_EVENTS" and "slides along it" in str(error)
    else:
        raise AssertionError("nothing was said")
    run = costate.Problem(slide, sliding=1, method="dopri5").integrate((0, 2))
    assert np.allclose(run.y, [0, 0.5 + 1.5 * 2], atol=1e-12), run.y
    assert np.allclose(run.adjoint([0.0, 1.0])[1], [1 / 4], atol=1e-12)                  # 1/k + 2 (2 - 1/k)


def test_memory_that_is_not_given():
    """y0 of n values: memory variables start as the model says, and depend on p as it says"""
    model = costate.Model("model decay\nparameter a = 3, c = 1\nstate y = 1\nmemory rate = a^2/3\ny' = -rate*y\n"
                          "event late at 5\n    rate := 2*rate\n")
    problem = costate.Problem(model, method="dopri5", rtol=1e-10, atol=1e-10)
    F = costate.Functional(end=lambda t, y, p: y[0], end_y=lambda t, y, p: np.array([1 + 0 * y[0]]))
    e = np.exp(-3.0)
    for y0 in ([2.0], [2.0, 3.0], None):
        size, through = (1.0, 1) if y0 is None else (2.0, len(y0) == 1)
        run = problem.integrate((0, 1), y0)
        want = [-2 * size * e * through, 0.0]           # d rate/d a = 2
        assert np.allclose(run.y, [size * e], rtol=1e-8), (y0, run.y)
        assert np.allclose(run.adjoint([1.0])[1], want, rtol=1e-7), y0
        assert np.allclose(run.tangent(dp=[1.0, 0.0]), want[:1], rtol=1e-7)
        for g in (problem.gradient(F, (0, 1), y0), problem.gradient(F, (0, 1), y0, estimate=True)):
            assert np.allclose(g.p, want, rtol=1e-7), (y0, g)
        H = problem.hessp(F, (0, 1), y0, vp=[1.0, 0.0]).Hp
        # rate' = 2 a/3, rate'' = 2/3: exp(-rate) (rate'^2 - rate'')
        assert np.allclose(H, [size * e * (4 - 2 / 3) * through, 0], rtol=1e-6), (y0, H)
        p = np.array([[3.0, 1.0], [1.5, 1.0]])
        rate = p[:, 0] ** 2 / 3 if through else np.full(2, 3.0)
        all_ = problem.ensemble((0, 1), y0, p, w=[1.0], dp=[1.0, 0.0])
        assert np.allclose(all_.y[:, 0], size * np.exp(-rate), rtol=1e-8), y0
        want = -2 * p[:, 0] / 3 * size * np.exp(-rate) * through
        assert np.allclose(all_.p[:, 0], want, rtol=1e-7) and np.allclose(all_.dy[:, 0], want, rtol=1e-7), y0
        if y0 is None or through:
            assert np.allclose(costate.solve_ivp(model, (0, 1), y0, rtol=1e-8).y[0, -1], size * e, rtol=1e-5)


run_all(globals())
