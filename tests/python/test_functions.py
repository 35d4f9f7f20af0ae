"""test_functions.py - functions in C and in Python that an equation file declares: values and derivatives, what is
compiled again, what is refused, exceptions."""
import math
import os
import pickle
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir))
sys.path.insert(0, os.path.join(ROOT, "tests"))
sys.path.insert(0, os.path.join(ROOT, "tests", "models"))
PLACE = tempfile.TemporaryDirectory(prefix="costate-test-")
os.environ["COSTATE_CACHE"] = os.path.join(PLACE.name, "cache")

import numpy as np                                                      # noqa: E402

import costate                                                          # noqa: E402
from cases import run_all                                               # noqa: E402
from common import close                                                # noqa: E402
from costate.models import Model                                        # noqa: E402
from rho import IN_C, IN_LANGUAGE, RHO                                  # noqa: E402

IN_PROGRAM = "function rho(T, x) derivatives {}\n"
EQUATIONS = """model tank
parameter k = 0.5, a = 1.3
state T = rho(a, k), x = 0.3
T' = -k*T*rho(T, x*a) + sin(t)
x' = 1 - x*rho(x, t)
output o = rho(T, x)
event e when rho(T, x) - 1.2 falls
    T := T - 0.3*rho(T, a)
"""
SPAN = (0.0, 1.5)
END = costate.Functional(lambda t, y, p: y[0]**2 + y[1])


def value(T, x):
    return 1 + math.exp(-T)*math.sin(x)


def derivative(order):
    """sin and e^-T differentiated: each T changes the sign, each x shifts by a quarter of a turn"""
    def of(T, x):
        out = np.empty((2,)*order)
        for places in np.ndindex(*out.shape):
            out[places] = (-1)**places.count(0)*math.exp(-T)*math.sin(x + places.count(1)*math.pi/2)
        return out
    return of


LAW = (value, derivative(1), derivative(2), derivative(3))


def in_folder(text, rho=RHO):
    """the path of an equation file beside rho.h"""
    place = tempfile.mkdtemp(dir=PLACE.name)
    for name, content in (("rho.h", rho), ("tank.eq", text)):
        with open(os.path.join(place, name), "w", encoding="utf-8") as out:
            out.write(content)
    return os.path.join(place, "tank.eq")


def results(model, method="rodas5p"):
    problem = costate.Problem(model, method=method, rtol=1e-8, atol=1e-10)
    found = problem.hessp(END, SPAN, vp=np.array([1.0, -0.5]))
    run = problem.integrate(SPAN)
    return np.concatenate([run.y, run.tangent(dp=np.eye(2)).ravel(), found.p, found.Hp, model.output(0, [1.0, 0.5]),
                           model.output_jacobian(0, [1.0, 0.5]).y.ravel()])


def raises(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError(f"no {kind.__name__}: {words}")


def test_all_derivatives():
    """up to third ones, with a Rosenbrock method: those of the language"""
    wanted = results(Model(IN_LANGUAGE + EQUATIONS))
    close(results(Model.from_file(in_folder(IN_C.format(3) + EQUATIONS))), wanted, 1e-11)
    close(results(Model(IN_PROGRAM.format(3) + EQUATIONS, functions={"rho": LAW})), wanted, 1e-11)


def test_a_changed_file_is_compiled_again():
    path = in_folder(IN_C.format(3) + EQUATIONS, '#include "law.h"\n')
    law, found = os.path.join(os.path.dirname(path), "law.h"), []
    for text in (RHO, RHO.replace("1 + e*s", "2 + e*s"), RHO):
        with open(law, "w", encoding="utf-8") as out:
            out.write(text)
        found.append(Model.from_file(path).output(0, [1.0, 0.5])[0])
    assert found[0] == found[2] == value(1.0, 0.5) and abs(found[1] - found[0] - 1) < 1e-15, found


def test_files_are_beside_the_text():
    """where `file` says that it is, or in the current directory"""
    path, text = in_folder(""), IN_C.format(3) + EQUATIONS
    assert Model(text, file=path).output(0, [1.0, 0.5])[0] == value(1.0, 0.5)
    raises(costate.ModelError, "of_rho.h cannot be read: there is no such file",
           lambda: Model(text.replace("rho.h", "of_rho.h")))


def test_models_of_one_text_have_their_own_functions():
    text = IN_PROGRAM.format(0) + EQUATIONS
    models = [Model(text, functions={"rho": lambda T, x, c=c: c}) for c in (1.0, 2.0)]
    assert [model.output(0, [1.0, 0.5])[0] for model in models] == [1, 2]


def test_pickled():
    model = pickle.loads(pickle.dumps(Model(IN_PROGRAM.format(0) + EQUATIONS, functions={"rho": value})))
    assert model.output(0, [1.0, 0.5])[0] == value(1.0, 0.5) and model.functions == {"rho": value}


def test_on_a_grid_and_in_ensembles():
    grid = "size N = 4\ngrid i: N periodic\nparameter D = 0.1\nstate u[i] = i/N\nu' = D*(u[i+1] - u)*rho(u, t)\n"
    states = [costate.Problem(model, rtol=1e-8).integrate(SPAN).y for model in (
        Model(IN_PROGRAM.format(1) + grid, functions={"rho": LAW[:2]}), Model(IN_LANGUAGE + grid))]
    close(*states, 1e-12)
    model, p = Model(IN_PROGRAM.format(1) + EQUATIONS, functions={"rho": LAW[:2]}), np.array([[0.5, 1.3], [0.4, 1.2]])
    many = costate.Problem(model).ensemble(SPAN, p=p)
    for k in range(2):
        close(many.y[k], costate.Problem(model).integrate(SPAN, p=p[k]).y, 0)


def test_what_a_function_raises():
    def outside(T, x):
        raise ArithmeticError(f"outside of the table: {T > 0}")

    for law, order in (((outside,), 0), ((value, outside), 1)):
        model = Model(IN_PROGRAM.format(order) + EQUATIONS.replace("rho(a, k)", "1"), functions={"rho": law})
        problem = costate.Problem(model, method="radau2a" if order else "dopri5")
        for _ in range(2):
            raises(ArithmeticError, "outside of the table: True", lambda: problem.integrate(SPAN))
        if not order:
            raises(ArithmeticError, "outside", lambda: model.output(0, [1.0, 0.5]))
    model = Model(IN_PROGRAM.format(0) + EQUATIONS, functions={"rho": outside})
    raises(ArithmeticError, "outside", model.start)
    model = Model(IN_PROGRAM.format(1) + EQUATIONS, functions={"rho": (value, lambda T, x: [T])})
    raises(ValueError, "gradient of rho has shape (1,); expected (2,)", lambda: model.start_jvp(dp=np.ones(2)))


def test_refusals():
    text = IN_PROGRAM.format(1) + EQUATIONS
    for functions, words in (({}, 'give functions={"rho": (value, gradient)}'),
                             ({"rho": value}, "rho is declared with derivatives 1"),
                             ({"rho": LAW}, "rho is declared with derivatives 1"),
                             ({"rho": (value, 3)}, "give the callables (value, gradient) of T, x"),
                             ({"rho": LAW[:2], "eta": value}, "tank declares no function eta without a file in C")):
        raises(costate.ModelError, words, lambda f=functions: Model(text, functions=f))
    raises(costate.ModelError, "declares no function f", lambda: Model("state y\ny' = 1", functions={"f": value}))
    raises(costate.ModelError, "declares functions in C",
           lambda: Model(text, functions={"rho": LAW[:2]}, compiled=False))


def test_missing_derivatives():
    """are said with the function's name"""
    text = IN_PROGRAM.format(1) + EQUATIONS
    model = Model(text, functions={"rho": LAW[:2]})
    assert model.lacking == {"rho": 1}
    problem = costate.Problem(model, method="dopri5")
    raises(costate.CostateError, "derivatives of f here up to order 2, and the equations declare fewer for rho",
           lambda: problem.hessp(END, SPAN, vp=np.ones(2)))
    raises(costate.CostateError, "derivatives of initial values of tank are needed up to order 2",
           lambda: model.start_hvp(0.0, None, np.ones(2), np.ones(2)))
    without = Model(IN_PROGRAM.format(0) + EQUATIONS, functions={"rho": value})
    raises(costate.CostateError, "derivatives of outputs of tank are needed up to order 1, and its equations declare "
           "fewer for rho", lambda: without.output_jacobian(0, [1.0, 0.5]))
    raises(costate.CostateError, "up to order 1", lambda: without.start_jvp(dp=np.ones(2)))
    raises(costate.CostateError, "up to order 1", lambda: without.start_vjp(0.0, None, np.ones(2)))


run_all(globals())
