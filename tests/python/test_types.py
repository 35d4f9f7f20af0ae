"""The type hints of the package: programs that are right pass mypy, wrong ones do not, and the stubs are true."""
import os
import shutil
import subprocess
import sys
import tempfile

import costate

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cases import Skipped, run_all  # noqa: E402

PACKAGE = os.path.dirname(os.path.abspath(costate.__file__))
RIGHT = '''
from typing import Any

import costate
import numpy as np


def f(t: float, y: Any, p: Any) -> Any:
    return -p["k"] * y


problem = costate.Problem(f, method="dopri5", rtol=1e-9, max_steps=1000, events=[costate.Event(times=[1.0])])
run = problem.integrate((0.0, 1.0), [1.0], {"k": 2.0}, t_eval=[0.5])
by_y0, by_p = run.adjoint([1.0])
number: float = run.t + float(run.y[0]) + run.stats["steps"]
model = costate.Model("model m\\nstate a = 1\\na' = -a\\n")
names: list[str] = model.states
F = costate.Functional(end=lambda t1, y, p: y[0])
found = problem.gradient(F, (0, 1), np.ones(1), {"k": 2.0}, estimate=True)
print(found.value, found.error.p, costate.Problem(model).check((0, 1)).ok)
sol = costate.solve_ivp(lambda t, y: -y, (0, 1), [1.0], rtol=1e-6)
'''
WRONG = {'costate.Problem(print).integrate((0, 1), y=[1.0])': '"y"', 'costate.Event(terminal="yes")': '"terminal"',
         'x: str = costate.Problem(print).integrate((0, 1), [1.0]).t': '"float"', 'costate.Functional(3)': '"int"',
         'costate.Problem(print, derivatives="exact")': 'derivatives', 'costate.nonsense': 'nonsense'}


def mypy(*words, place):
    """what mypy, or a module of it, says of files in a folder with the stubs"""
    env = dict(os.environ, MYPYPATH=place, PYTHONPATH=os.path.dirname(PACKAGE))
    done = subprocess.run([sys.executable, "-m", *words], cwd=place, env=env, capture_output=True, text=True)
    if "No module named" in done.stderr:
        raise Skipped("no module mypy (Debian: mypy)")
    return done.stdout + done.stderr


def stubs(place):
    """the stubs alone, as they are installed"""
    os.makedirs(os.path.join(place, "costate"))
    for name in ("__init__.pyi", "py.typed"):
        shutil.copy(os.path.join(PACKAGE, name), os.path.join(place, "costate", name))


def test_programs():
    with tempfile.TemporaryDirectory() as place:
        stubs(place)
        files = {"right.py": RIGHT, **{f"wrong{k}.py": f"import costate\n{line}\n" for k, line in enumerate(WRONG)}}
        for name, text in files.items():
            with open(os.path.join(place, name), "w", encoding="utf-8") as out:
                out.write(text)
        said = mypy("mypy", "--strict", *files, place=place)
        assert "right.py" not in said, said
        for k, words in enumerate(WRONG.values()):
            assert [line for line in said.splitlines() if line.startswith(f"wrong{k}.py:2: error") and words in line], (
                k, said)


def test_stubs_are_true():
    """signatures are those of the package, and there is what they name"""
    with tempfile.TemporaryDirectory() as place:
        stubs(place)
        with open(os.path.join(place, "mypy.ini"), "w", encoding="utf-8") as out:
            out.write("[mypy]\nignore_missing_imports = True\n")
        said = mypy("mypy.stubtest", "--concise", "--mypy-config-file", "mypy.ini", "costate", place=place)
        assert "costate.Problem.sizes is not present in stub" in said, said             # which are not public
        wrong = [line for line in said.splitlines() if "not present in stub" not in line and "to find stubs" not in line
                 and "Result.__getattr__" not in line]
        assert not wrong, "\n".join(wrong)


def test_all_public_names():
    with open(os.path.join(PACKAGE, "__init__.pyi"), encoding="utf-8") as file:
        text = file.read()
    for name in costate.__all__:
        assert f"class {name}" in text or f"def {name}(" in text, name


run_all(globals())
