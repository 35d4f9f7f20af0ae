"""SciPy's own tests of solve_ivp, and the examples of its documentation, with costate's solve_ivp.

Only what the names solve_ivp stand for is replaced.  What does not pass is listed in EXEMPT, with the reason."""
import doctest
import glob
import inspect
import itertools
import os
import sys
import tarfile
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import Skipped, run_all

import numpy as np

from costate.ivp import solve_ivp

try:
    import pytest
    import scipy.integrate
except ImportError:
    pytest = None

PLACE = "scipy/integrate/_ivp/tests/test_ivp.py"
SOURCES = "/usr/src"                    # where `apt-get source scipy` was run, if it was

# Functions of the file that test classes and functions inside SciPy, and do not call solve_ivp.
NOT_OURS = {"test_no_integration_class", "test_ConstantDenseOutput", "test_classes", "test_OdeSolution",
            "test_num_jac", "test_num_jac_sparse"}

AUTO = "SciPy's name stands for auto, which solves this problem with explicit steps"
# (test, method): the counts of the result that the test rejects, with values that it accepts, and the reason.  The
# test must fail with the counts as they are, and pass with these.  None: it does not pass whatever the counts.
EXEMPT = {
    ("test_integration", "BDF"): (dict(njev=1, nlu=1), AUTO + ": no Jacobian is decomposed"),
    ("test_integration", "LSODA"): (dict(njev=0), AUTO + ", but looks at a given Jacobian once"),
    ("test_integration_complex", "BDF"): (dict(njev=1, nfev=24), AUTO + ": no Jacobian is formed; and 27 f, of which 3 "
                                          "look for changes in time; the test allows 24"),
    ("test_integration_const_jac", "BDF"): (None, AUTO + ": no Jacobian is decomposed; and one of these steps ends "
                                            "where a component is 0.001, relative to which its error of 6e-4 (SciPy's "
                                            "BDF: 8e-3) is not below 10 rtol"),
    ("test_integration_const_jac", "Radau"): (dict(nlu=14), "16 decompositions, a real and a complex one of each "
                                              "matrix; the test allows 14"),
}

# Lines of the examples whose output is that of SciPy's steps, not of the problem.
OTHER_STEPS = {"print(sol.t)", "print(sol.y)"}


def text_of_tests():
    """of SciPy's file: as installed, or in the source package of the distribution"""
    if pytest is None:
        raise Skipped("SciPy or pytest is not installed")
    installed = os.path.join(os.path.dirname(scipy.integrate.__file__), "_ivp", "tests", "test_ivp.py")
    if os.path.exists(installed):
        with open(installed, encoding="utf-8") as file:
            return file.read()
    for path in glob.glob(f"{SOURCES}/scipy*.orig.tar.*"):
        with tarfile.open(path) as archive:
            for name in archive.getnames():
                if name.endswith(PLACE):
                    return archive.extractfile(name).read().decode()
    raise Skipped(f"{PLACE} is neither installed nor in {SOURCES}")


class Suite:
    """SciPy's tests, whose solve_ivp is ours.

    only                a method: loops over methods leave out the others; counts: replace those of results"""

    def __init__(self):
        self.only, self.counts = None, {}
        self.names = {"__name__": "scipy_suite"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")     # marks that pytest does not know here
            exec(compile(text_of_tests(), PLACE, "exec"), self.names)
        self.names["solve_ivp"], self.names["product"] = self.solve, self.product

    def solve(self, *args, **options):
        result = solve_ivp(*args, **options)
        result.update(self.counts)
        return result

    def product(self, *lists):
        every = itertools.product(*lists)
        return [one for one in every if self.only is None or any(isinstance(x, str) and x == self.only for x in one)]

    def tests(self):
        return [name for name, f in self.names.items() if name.startswith("test_") and inspect.isfunction(f)]

    def methods(self, name):
        """over which the test loops by product, or None"""
        seen = []
        self.names["product"] = lambda *lists: seen.extend(m for l in lists for m in l if isinstance(m, str)) or []
        if "product" in self.names[name].__code__.co_names:
            self.names[name]()
        self.names["product"] = self.product
        return seen or [None]

    def run(self, name, only=None, counts=None):
        """what is wrong, or None"""
        self.only, self.counts = only, counts or {}
        f = self.names[name]
        try:
            for options in cases_of(f):
                f(**options)
        except (Exception, pytest.fail.Exception) as error:
            return f"{type(error).__name__}: {' '.join(str(error).split())}"
        return None


def cases_of(f):
    """keyword arguments of the calls that pytest.mark.parametrize asks for"""
    cases = [{}]
    for mark in getattr(f, "pytestmark", []):
        if mark.name == "parametrize":
            names, values = mark.args
            assert "," not in names, "one name at a time"
            cases = [{**case, names: value} for case in cases for value in values]
    return cases


def test_suite():
    suite, wrong, passed = Suite(), [], 0
    assert NOT_OURS <= set(suite.tests()), "SciPy's file has changed"
    for name in suite.tests():
        if name in NOT_OURS:
            continue
        for method in suite.methods(name):
            found = suite.run(name, method)
            if (name, method) in EXEMPT:
                counts, _ = EXEMPT[name, method]
                wrong += [f"{name}, {method}: passes, but is listed"] if found is None else []
                found = suite.run(name, method, counts) if counts is not None else None
            wrong += [f"{name}, {method}: {found}"] if found else []
            passed += not found
    assert not wrong, "\n".join(wrong)
    assert passed >= 25, passed


def test_every_exemption_is_met():
    suite = Suite()
    known = {(name, method) for name in suite.tests() if name not in NOT_OURS for method in suite.methods(name)}
    assert set(EXEMPT) <= known, set(EXEMPT) - known


def number_list(text):
    return np.array([float(x) for x in text.replace("array", " ").translate(str.maketrans("[](),", "     ")).split()])


def same_numbers(want, got):
    want, got = number_list(want), number_list(got)
    return want.shape == got.shape and np.allclose(got, want, rtol=1e-2, atol=1e-6)


class Examples(doctest.OutputChecker):
    """Outputs agree where their numbers do; those of the steps themselves only in their first and last number."""

    def check_output(self, want, got, optionflags):
        if super().check_output(want, got, optionflags) or same_numbers(want, got):
            return True
        ends = [number_list(text)[[0, -1]] for text in (want, got)]
        self.steps += 1
        return bool(np.allclose(*ends, rtol=2e-2))


class Quiet:
    """stands for matplotlib.pyplot"""

    def __getattr__(self, name):
        return lambda *args, **options: None


def test_examples():
    """those of scipy.integrate.solve_ivp, whose import names costate"""
    if pytest is None:
        raise Skipped("SciPy is not installed")
    text = inspect.getdoc(scipy.integrate.solve_ivp)
    text = text[text.index("Examples\n"):].replace("from scipy.integrate import", "from costate.ivp import")
    text = text.replace("import matplotlib.pyplot as plt", "plt = Quiet()")
    assert text.count("from costate.ivp import solve_ivp") == 1
    examples = doctest.DocTestParser().get_doctest(text, {"Quiet": Quiet}, "solve_ivp", None, 0)
    checker, out = Examples(), []
    checker.steps = 0
    runner = doctest.DocTestRunner(checker=checker, optionflags=doctest.NORMALIZE_WHITESPACE)
    failed, tried = runner.run(examples, out=out.append)
    assert failed == 0 and tried >= 25, (tried, "".join(out))
    steps = sum(e.source.strip() in OTHER_STEPS for e in examples.examples)
    assert checker.steps <= steps, (checker.steps, steps)


run_all(globals())
