"""test_programs.py - models run as byte code at once: without a compiler, while one works, and after it, with the same
bits."""
import glob
import os
import pickle
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
from cases import fails, run_all                                        # noqa: E402
from common import child                                                # noqa: E402
from costate import _program                                            # noqa: E402
from costate.models import Model                                        # noqa: E402

START = 0.2                 # s of the processor: takes 0.01 to 0.04; a compiler, which must not be waited for, 0.5
ENDS = {"hires": 30.0, "pollution": 1.0, "drug": 20.0, "thermostat": 10.0, "hares": 3.0, "robertson_dae": 10.0}
COUNT = """model counted
parameter k = 2
state x = 1, y = 0
x' = -k*x + y
y' = x - y^3
cost q' = x^2
output half = x/2
"""


def text(name):
    with open(os.path.join(ROOT, "models", name + ".eq"), encoding="utf-8") as file:
        return file.read()


def results(model, end):
    """a run, its gradient and a Hessian product, and outputs, as one array"""
    n, rows = model.n, model.n + model.nq

    def seed(t, y, p):
        return np.concatenate([np.ones(n), 2 * y[n:rows], np.zeros(model.nm)])[:len(y)]
    functional = costate.Functional(lambda t, y, p: y[:n].sum() + (y[n:rows] ** 2).sum(), end_y=seed)
    run = costate.Problem(model, rtol=1e-6, atol=1e-9).integrate((0.0, end))
    g = run.gradient(functional)
    h = run.hessp(functional, vp=0.1 * model.defaults)
    outputs = model.output(end, run.y[:n], m=np.ones(model.nm)) if model.outputs else []
    return np.concatenate([run.y, g.y0, g.p, h.Hy0, h.Hp, outputs])


def slow_compiler(seconds):
    """(directory, environment) with a compiler that takes so long"""
    place = tempfile.mkdtemp(dir=PLACE.name)
    script = os.path.join(place, "compiler")
    with open(script, "w", encoding="utf-8") as out:
        out.write('#!/bin/sh\n[ "$1" = --version ] || { echo $$ > "%s/pid"; sleep %g; }\nexec cc "$@"\n'
                  % (place, seconds))
    os.chmod(script, 0o755)
    return place, dict(CC=script, COSTATE_CACHE=os.path.join(place, "cache"))


def test_results_have_the_same_bits():
    for name, end in ENDS.items():
        programs, compiled = (Model(text(name), compiled=c) for c in (False, True))
        assert not programs.is_compiled and compiled.is_compiled
        assert (programs.backend is None) == (compiled.backend is None)
        a, b = results(programs, end), results(compiled, end)
        assert np.array_equal(a, b), f"{name}: {a - b}"
        assert (programs.name, programs.states, programs.units) == (compiled.name, compiled.states, compiled.units)
        assert np.array_equal(programs.defaults, compiled.defaults) and repr(programs) == repr(compiled)
        for one, other in zip(programs.start_vjp(0.5, None, np.ones(programs.n)),
                              compiled.start_vjp(0.5, None, np.ones(programs.n))):
            assert np.array_equal(one, other)


def test_the_next_run_is_compiled():
    model = Model(COUNT)
    assert isinstance(model._c, _program.Program)
    problem = costate.Problem(model)
    before = problem.integrate((0.0, 2.0))
    first = results(model, 2.0)
    assert model.wait() and model.is_compiled
    after = problem.integrate((0.0, 2.0))
    assert problem.built(0.0, None, None)[0].of == model.problem == model._c.problem
    assert np.array_equal(before.y, after.y) and np.array_equal(first, results(model, 2.0))
    gradients = [run.gradient(costate.Functional(lambda t, y, p: y[0])).p for run in (before, after)]
    assert np.array_equal(*gradients)
    assert Model(COUNT).is_compiled, "the next model comes out of the cache"
    warm = costate.Problem(Model(COUNT.replace("k = 2", "k = 4")), warm=1)
    warm.integrate((0.0, 1.0))
    assert warm.model.wait()
    used = warm.built(0.0, None, None)[0]
    assert used.of != warm.model.problem, "a solver that goes on where it ended is kept"


def test_no_compiler_is_needed():
    code = f"""
import costate
m = costate.Model({COUNT!r})
print(costate.Problem(m).integrate((0.0, 1.0)).y[0], m.wait(), m.is_compiled)
"""
    for missing in ("/nonexistent/cc", "cc --no-such-option"):
        y, *compiled = child(code, CC=missing, COSTATE_CACHE=os.path.join(PLACE.name, "empty")).split()
        assert compiled == ["False", "False"]
        assert float(y) == costate.Problem(Model(COUNT, compiled=False)).integrate((0.0, 1.0)).y[0]


def test_a_model_starts_at_once():
    texts = [text("hires").replace("1.71", f"1.7{k}") for k in range(5)]
    Model(texts[0], compiled=False)
    taken = []
    for each in texts[1:]:
        begin = time.process_time()
        Model(each, compiled=False)
        taken.append(time.process_time() - begin)
    assert min(taken) < START, taken


def test_the_end_of_a_program_stops_the_compiler():
    place, env = slow_compiler(60)
    temporary = tempfile.mkdtemp(dir=PLACE.name)
    code = f"""
import costate, os, time
m = costate.Model({COUNT!r})
costate.Problem(m).integrate((0.0, 1.0))
while not os.path.exists({os.path.join(place, "pid")!r}): time.sleep(0.01)
"""
    begin = time.monotonic()
    child(code, TMPDIR=temporary, **env)
    assert time.monotonic() - begin < 30
    assert not glob.glob(os.path.join(temporary, "costate-*")), "a directory is left"


def test_runs_in_threads_while_it_is_compiled():
    model = Model(COUNT.replace("k = 2", "k = 3"))
    expected, found = None, []

    def work():
        problem = costate.Problem(model)
        for _ in range(30):
            found.append(problem.integrate((0.0, 2.0)).gradient(costate.Functional(lambda t, y, p: y[0])).p[0])
    threads = [threading.Thread(target=work) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    model.wait()
    expected = costate.Problem(model).integrate((0.0, 2.0)).gradient(costate.Functional(lambda t, y, p: y[0])).p[0]
    assert len(found) == 90 and set(found) == {expected}


def test_garbage_in_circles():
    """solvers and tapes may be freed after the program whose linear solver they used"""
    code = """
import gc, costate, numpy as np
value = costate.Functional(lambda t, y, p: y[0], end_y=lambda t, y, p: np.array([1.0, 0, 0]))
for k in range(40):
    m = costate.Model(f"model g\\nparameter k={k}\\nstate x=1, y=2, z\\nx'=-k*x+y\\ny'=x-y^3\\nz'=-z*x", compiled=False)
    assert m.backend is not None
    run = costate.Problem(m, method="rodas4", keep_factors=1).integrate((0.0, 1.0))
    run.gradient(value)
    m.circle = [m, run]
    del m, run
    gc.collect()
"""
    child(code, MALLOC_PERTURB_="189")


def test_wrong_equations_and_wrong_words():
    said = fails(costate.ModelError, "y is not declared", Model, "state x = 1\nx' = y", compiled=False, file="a/b.eq")
    assert str(said) == str(fails(costate.ModelError, "y is not declared", Model, "state x = 1\nx' = y", compiled=True,
                                  file="a/b.eq"))
    fails(ValueError, "compiled='yes'", Model, COUNT, compiled="yes")
    heat = os.path.join(ROOT, "models", "heat.eq")
    fails(costate.ModelError, "heat is on a grid", Model.from_file, heat, compiled=False)
    assert Model.from_file(heat, sizes={"N": 8}).is_compiled
    many = "state A = 1, B\n" + "\n".join(f"A -> B : {k + 1}" for k in range(301))
    fails(costate.ModelError, "301 reactions", Model, many, compiled=False)
    assert Model("\ufeff" + COUNT.replace("\n", "\r\n"), compiled=False).states == ["x", "y"]
    fails(costate.ModelError, "not a program", _program.Program, b"something else", {})


def test_copies_and_other_packages():
    for compiled in (False, True):
        model = pickle.loads(pickle.dumps(Model(COUNT, compiled=compiled)))
        assert model.is_compiled == compiled and model.outputs == ["half"]
    place = tempfile.mkdtemp(dir=PLACE.name)
    with open(os.path.join(place, "codegen.py"), "w", encoding="utf-8") as out:
        out.write("raise ImportError('of somebody else')\n")
    path = os.pathsep.join([place, os.environ.get("PYTHONPATH", "")])
    child(f"import costate; costate.Model({COUNT!r}, compiled=False)", PYTHONPATH=path)


if __name__ == "__main__":
    run_all(globals())
