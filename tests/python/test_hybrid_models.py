"""test_hybrid_models.py - hybrid problems with closed forms: values, gradients and Hessian products with methods of
each family, all stores, in both directions of time; transposes; differences of whole runs; solutions that slide."""
import functools
import os
import re
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir))
os.environ["CFLAGS"] = "-O0"                    # to compile a model takes longer than to run it
sys.path[:0] = [os.path.join(ROOT, "tests"), os.path.dirname(os.path.abspath(__file__))]

import numpy as np                                                      # noqa: E402

import costate                                                          # noqa: E402
from cases import Skipped, fails, run_all                               # noqa: E402

try:
    import mpmath as mp
    import hybrid_problems as table
except ImportError:
    mp = None

STORES = ("stages", "states", "checkpoints")
ALONG = (0.7, -0.4, 0.3, 0.5)                   # direction of second derivatives, in units of the parameters
TRANSPOSED = 1e-12


def mirrored(text):
    """The model with time multiplied by a first parameter `way`, 1 or -1: y(way t) is the same for both"""
    lines = ["parameter way = 1"]
    for line in text.strip().splitlines():
        rate = re.match(r"((?:cost )?[\w\[\]]+' *=)(.*?)( for .*)?$", line)
        timed = re.match(r"(event \w+ at )(.*)$", line)
        if rate:
            line = f"{rate[1]} way*({rate[2]}){rate[3] or ''}"
        if timed:
            times = [float(t) for t in timed[2].split(",")]
            line = timed[1] + ", ".join(str(t) for t in sorted(times + [-t for t in times]))
        lines.append(re.sub(r"\bt\b", "(way*t)", line))
    return "\n".join(lines) + "\n"


def derivatives(f, p, unit):
    """value, gradient and Hessian product of f, by central differences with sixty digits, in units of the parameters"""
    with mp.workdps(60):
        p, unit, h = [mp.mpf(x) for x in p], [mp.mpf(x) for x in unit], mp.mpf(10)**-15

        def at(i=None, d=0, e=0):
            return f(*(x + u * (e * mp.mpf(c) + (d if k == i else 0))
                       for k, (x, u, c) in enumerate(zip(p, unit, ALONG))))

        first = [(at(i, h) - at(i, -h)) / (2 * h) for i in range(len(p))]
        second = [(at(i, h, h) - at(i, -h, h) - at(i, h, -h) + at(i, -h, -h)) / (4 * h * h) for i in range(len(p))]
        return float(at()), np.array(first, dtype=float), np.array(second, dtype=float)


def last(n):
    """the last state or cost as a functional"""
    w, none = np.eye(n)[-1], np.zeros((n, n))
    return costate.Functional(lambda t, y, p: w @ y, end_y=lambda t, y, p: w, end_yy=lambda t, y, p: none)


class Posed:
    """A case with its model"""

    def __init__(self, case):
        self.case, self.mirror = case, case.mirror
        self.model = costate.Model(mirrored(case.text) if case.mirror else case.text)
        self.p = np.array(self.model.defaults)
        own = self.p[1:] if case.mirror else self.p
        self.unit = np.where(own == 0, 1, abs(own))
        self.value, self.first, self.second = derivatives(case.f, own, self.unit)
        self.size = abs(self.value) + max(abs(self.first))

    def run(self, method, way=1, store="stages", own=None, record=True, **more):
        case, p = self.case, self.p.copy()
        if self.mirror:
            p[0] = way
        if own is not None:
            p[-len(own):] = own
        options = dict(rtol=1e-12, atol=1e-13, storage=store, checkpoints=40) | case.options | more
        problem = costate.Problem(self.model, method=method, **options)
        return problem.integrate((case.start, way * case.end), case.y0, p, record=record)

    def own(self, dp):
        """of a gradient: with respect to the parameters of the case, in their units"""
        return np.asarray(dp)[-len(self.unit):] * self.unit

    def gaps(self, run):
        """errors of the value, the gradient and the Hessian product; how tangent and adjoint differ"""
        v = np.zeros(len(self.p))
        v[-len(self.unit):] = np.array(ALONG[:len(self.unit)]) * self.unit
        functional = last(len(run.y) + len(run.q))
        g, h = run.gradient(functional), run.hessp(functional, vp=v)
        along, w = run.tangent(dp=v), 1 / (abs(run.y) + self.size)
        mu = run.adjoint(w)[1]
        return [abs(g.value - self.value) / self.size, max(abs(self.own(g.p) - self.first)) / self.size,
                max(abs(self.own(h.Hp) - self.second)) / (self.size + max(abs(self.second))),
                abs(along @ w - mu @ v) / max(abs(mu * v).sum(), 1)]


@functools.lru_cache(maxsize=1)
def posed():
    if mp is None:
        raise Skipped("mpmath is not installed")
    return [Posed(case) for case in table.PROBLEMS]


def chosen(number, methods):
    """the first two methods and two of the others"""
    rest = methods[2:]
    return list(methods[:2]) + [rest[(number + k) % len(rest)] for k in range(0, min(4, len(rest)), 2)]


def test_closed_forms():
    wrong = []
    for number, of in enumerate(posed()):
        for k, method in enumerate(chosen(number, of.case.methods)):
            for way in (1, -1) if of.mirror and k in (number % 2, 2) else (1,):
                gaps = of.gaps(of.run(method, way, STORES[(number + k) % 3]))
                if not (max(gaps[:3]) <= of.case.tol and gaps[3] <= TRANSPOSED):
                    wrong.append(f"{of.case.name}, {method}, {way}: {gaps}")
    assert not wrong, "\n".join(wrong)
    assert len(posed()) >= 60


def test_differences_of_runs():
    """from both sides of each parameter"""
    step, methods = 1e-6, ("dopri853", "radau2a5")
    for number, of in enumerate(posed()):
        if of.case.tol > 1e-9:
            continue
        method, own = methods[number % 2 if of.case.methods[0] in methods[:1] else 1], of.p[-len(of.unit):]
        for k, unit in enumerate(of.unit):
            for side in (of.case.side,) if of.case.side and k == 0 else (1, -1):
                run = of.run(method, own=own + side * step * unit * np.eye(len(own))[k], record=False)
                found = (side * (np.concatenate([run.y, run.q])[-1] - of.value)) / step
                gap = abs(found - of.first[k]) / (of.size + max(abs(of.second)))
                assert gap < 1e-4, (of.case.name, k, side, found, of.first)


def test_sliding():
    """Both values drive the guard back: the run ends there, at once, and says so."""
    for name, text, end, at in table.SLIDING if mp else ():
        model = costate.Model(mirrored(text))
        for way in (1, -1):
            for method in ("dopri5", "radau2a5", "rodas5p", "auto"):
                taken = []
                problem = costate.Problem(model, method=method)
                error = fails(costate.CostateError, "the solution slides along it", problem.integrate, (0, way * end),
                              p=[float(way)], on_step=lambda step: taken.append(step) and False)
                assert f"At t = {way * at:.10g} " in str(error) and len(taken) < 100, (name, method, error, len(taken))


def test_branches_that_are_defined_on_one_side():
    """The comparison stays: stages lie beyond zero, too."""
    model = costate.Model("state h = 1, x = 1, y[1..4] = 0\nh' = if(h > 0, -sqrt(2*h), 0)\nx' = -1\n"
                          "y[1]' = if(x > 0, sqrt(x), 0)\ny[2]' = if(x > 0, x*log(x), 0)\n"
                          "y[3]' = if(x > 0, x^1.3, 0)\ny[4]' = if(x > 0, if(log(x) > -1, 2, 3), 4)\n")
    for method in ("dopri5", "radau2a5", "rodas5p", "auto"):
        run = costate.Problem(model, method=method, rtol=1e-7, atol=1e-9).integrate((0, 2))
        assert np.allclose(run.y, [0, -1, 2 / 3, -1 / 4, 1 / 2.3, 2 + 1 / np.e + 4], atol=1e-4), (method, run.y)
        assert len(run.events) == 0


def test_whole_numbers_have_a_range():
    model = costate.Model("state x = 0\nx' = 1 + 1e-9*floor(1e10 + x)\n")
    fails(costate.CostateError, "the integer below it is too large", costate.Problem(model).integrate, (0, 1))


def test_other_ways_to_the_gradient():
    """observations between events, estimated errors, ensembles, one solver for several runs"""
    model = costate.Model("parameter a = 1, b = 1\nstate x = 0, z = 0, y = 0\nx' = a\nz' = b\n"
                          "y' = if(x > 1, 1, 0) + 3*if(z > 1, 1, 0)\n")
    problem = costate.Problem(model, method="dopri5", rtol=1e-9, atol=1e-11)
    times = costate.Functional(times=[0.5, 1.5, 3.0], term=lambda t, y: y[2], term_y=lambda t, y: np.eye(3)[2],
                               term_yy=lambda t, y: np.zeros((3, 3)))
    seen, along = problem.hessp(times, (0, 4), vp=[1.0, 0.0]), problem.integrate((0, 4), t_eval=[0.5, 1.5, 3.0])
    assert np.allclose(seen.p, [2, 6], rtol=1e-12) and np.allclose(seen.Hp, [-4, 0], atol=1e-10), seen
    assert np.allclose(along.at[2], [0, 2, 8], atol=1e-12)
    careful = problem.gradient(last(3), (0, 3), estimate=True)
    assert abs(careful.value - 8) < 1e-10 and np.allclose(careful.p, [1, 3], rtol=1e-9), careful
    p = np.array([[0.8, 1.25], [2, 0.3]])
    many = problem.ensemble((0, 3), None, p, w=[0.0, 0, 1])
    assert np.allclose(many.y[:, 2], [3 - 1.25 + 3 * (3 - 0.8), 2.5], rtol=1e-12)
    assert np.allclose(many.p, [[1 / 0.64, 3 / 1.5625], [0.25, 0]], atol=1e-11), many.p
    again = [run.y[2] for run in (problem.integrate((0, 3), p=p[1]), problem.integrate((0, 3)))]
    assert np.allclose(again, [2.5, 8], rtol=1e-12), again


run_all(globals())
