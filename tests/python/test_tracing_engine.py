"""test_tracing_engine.py - traced problems run at once as byte code, and as compiled C when the compiler has ended,
with the same bits; layers of matrices; functionals by their traces."""
import os
import pickle
import subprocess
import sys
import tempfile
import time
import warnings

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir))
sys.path.insert(0, os.path.join(ROOT, "tests"))
PLACE = tempfile.TemporaryDirectory(prefix="costate-test-")
os.environ["COSTATE_CACHE"] = os.path.join(PLACE.name, "cache")

import numpy as np                              # noqa: E402

import costate                                  # noqa: E402
from cases import fails, run_all                # noqa: E402
from common import child                        # noqa: E402
from costate._compile import Compiled           # noqa: E402
from costate._program import Program            # noqa: E402
from costate.tracing import scalars             # noqa: E402

warnings.simplefilter("error", costate.NotTraced)
START = 0.2                 # s of the processor: takes 0.03 to 0.05; a compiler, which must not be waited for, 0.5
RATES = np.array([1.71, 0.43, 8.32, 0.0007, 8.75, 10.03, 0.035, 1.12, 1.745, 0.69, 1.81, 280.0])
HIRES = np.array([1.0, 0, 0, 0, 0, 0, 0, 0.0057])
FIRST = costate.Functional(lambda t, y, p: y[0])


def hires(t, y, p):
    r = p[11] * y[5] * y[7]
    return np.array([-p[0] * y[0] + p[1] * y[1] + p[2] * y[2] + p[3], p[0] * y[0] - p[4] * y[1],
                     -p[5] * y[2] + p[1] * y[3] + p[6] * y[4], p[2] * y[1] + p[0] * y[2] - p[7] * y[3],
                     -p[8] * y[4] + p[1] * y[5] + p[1] * y[6],
                     -r + p[9] * y[3] + p[0] * y[4] - p[1] * y[5] + p[9] * y[6],
                     r - p[10] * y[6], -r + p[10] * y[6]])


def layers(sizes):
    """tanh(W z + b), one after the other; the number of parameters"""
    def f(t, y, p):
        k, z = 0, y
        for n, m in zip(sizes, sizes[1:]):
            W, b = p[k:k + n * m].reshape(m, n), p[k + n * m:k + n * m + m]
            z, k = np.tanh(W @ z + b), k + n * m + m
        return z - 0.5 * y
    return f, sum(n * m + m for n, m in zip(sizes, sizes[1:]))


def hybrid(t, y, p):
    return np.array([y[1], -p[0] - p[1] * np.abs(y[1]) * y[1] + np.where(t > 0.3, 0.2, 0.0)])


def bouncing(**more):
    event = costate.Event(lambda t, y, p: y[0], direction=-1, jump=lambda t, y, p: np.array([0 * y[0], -p[2] * y[1]]))
    return costate.Problem(hybrid, events=[event], cost=lambda t, y, p: np.stack([y[0] ** 2, 0 * y[1]]), trace=True,
                           **more), [1.0, 0.0], [9.81, 0.1, 0.8]


def numbers(problem, y0, p, T):
    """a run, its gradient and a Hessian product, and what evaluated it"""
    run = problem.integrate((0, T), y0, p)
    F = costate.Functional(lambda t, y, p: y[0] ** 2 + y[-1])
    g, h = run.gradient(F), run.hessp(F, vp=np.cos(np.arange(len(p))))
    return np.concatenate([run.y, run.q, g.y0, g.p, h.Hy0, h.Hp]), run._b.engine


def check_same_bits(problem, y0, p, T):
    found, engine = numbers(problem, y0, p, T)
    assert isinstance(engine, Program), engine
    assert problem.wait(), problem.trace_message
    again, engine = numbers(problem, y0, p, T)
    assert isinstance(engine, Compiled) and np.array_equal(found, again), found - again
    return found


def test_compiled_code_has_the_same_bits():
    check_same_bits(costate.Problem(hires, trace=True), HIRES, RATES, 10.0)
    check_same_bits(*bouncing(), 1.5)
    f, count = layers((6, 9, 6))
    random = np.random.default_rng(3)
    y0, p = random.normal(size=6), 0.4 * random.normal(size=count)
    problem = costate.Problem(f, trace=True, rtol=1e-9, atol=1e-11)
    found = check_same_bits(problem, y0, p, 2.0)
    plain = costate.Problem(f, trace=False, rtol=1e-9, atol=1e-11).integrate((0, 2.0), y0, p).gradient(
        costate.Functional(lambda t, y, p: y[0] ** 2 + y[-1], trace=False))
    assert np.allclose(found[6:12 + count], np.concatenate([plain.y0, plain.p]), rtol=1e-6, atol=1e-9)


def test_a_large_layer():
    """64 x 64 and two of them, at once"""
    for sizes in ((64, 64), (64, 64, 64)):
        f, count = layers(sizes)
        random = np.random.default_rng(1)
        y0, p, d = random.normal(size=64), 0.1 * random.normal(size=count), random.normal(size=count)
        problem = costate.Problem(f, trace=True, rtol=1e-8, atol=1e-10)
        run = problem.integrate((0, 1), y0, p)
        assert isinstance(run._b.engine, Program)
        by_p, tangent = run.adjoint(np.ones(64))[1], run.tangent(dp=d)
        assert abs(by_p @ d - tangent.sum()) < 1e-9 * np.abs(by_p * d).sum()
        traced = problem._use.traces[64, count]
        assert sum(key[0] == "mv" for key in traced.graph.nodes[:10 * count]) >= len(sizes) - 1


def test_the_start():
    """the first run and gradient"""
    costate.Problem(lambda t, y, p: -p * np.sin(y) / y, trace=True).integrate((0, 1), [1.0], [2.0]).gradient(FIRST)
    taken = []
    for k in range(4):
        rates = RATES * (1 + k / 100)
        begin = time.process_time()
        costate.Problem(lambda t, y, p, k=1 + k / 7: k * hires(t, y, p), trace=True).integrate(
            (0, 30), HIRES, rates).gradient(FIRST)
        taken.append(time.process_time() - begin)
    assert min(taken) < START, taken


CODE = """
import numpy as np, costate
problem = costate.Problem(lambda t, y, p: -p * np.exp(y) * 1.125)
y = problem.integrate((0, 1), [1.0], [2.0]).y[0]
before = type(problem.integrate((0, 1), [1.0], [2.0])._b.engine).__name__
print(repr(y), before, problem.wait(), problem.traced, problem.integrate((0, 1), [1.0], [2.0]).y[0] == y)
"""


def test_compilers():
    """none, one that fails, a cache that is full, and the end of a program while the compiler works"""
    empty = os.path.join(PLACE.name, "empty")
    found = [child(CODE, CC=missing, COSTATE_CACHE=empty).split()
             for missing in ("/nonexistent/cc", "cc --no-such-option")]
    assert found[0] == found[1] and found[0][1:] == ["Program", "False", "True", "True"], found
    first, second = child(CODE, COSTATE_CACHE=empty).split(), child(CODE, COSTATE_CACHE=empty).split()
    assert first == [found[0][0], "Program", "True", "True", "True"], first
    assert second == [found[0][0], "Compiled", "True", "True", "True"], second
    script = os.path.join(PLACE.name, "slow")
    with open(script, "w", encoding="utf-8") as out:
        out.write('#!/bin/sh\n[ "$1" = --version ] || sleep 60\nexec cc "$@"\n')
    os.chmod(script, 0o755)
    begin, temporary = time.monotonic(), tempfile.mkdtemp(dir=PLACE.name)
    child(CODE.replace("problem.wait()", "problem.wait(0.3)"), CC=script, TMPDIR=temporary,
          COSTATE_CACHE=os.path.join(PLACE.name, "other"))
    assert time.monotonic() - begin < 30 and not os.listdir(temporary), os.listdir(temporary)


def test_what_is_sent_to_the_compiler():
    """only a model is read"""
    from costate.tracing.engine import ORIGIN
    with tempfile.TemporaryDirectory() as place:
        with open(os.path.join(place, "model.pickle"), "wb") as out:
            pickle.dump(os.getcwd, out)
        done = subprocess.run([sys.executable, "-m", "codegen.equations.pickled", ORIGIN], cwd=place, text=True,
                              capture_output=True, env=dict(os.environ, PYTHONPATH=ROOT))
        assert done.returncode and "is no part of a model" in done.stderr, done.stderr


# ---- functionals -----------------------------------------------------------------------------------------------------

def rhs(t, y, p):
    return np.array([y[1], -p[0] * np.sin(y[0]) - p[1] * y[1]])


def kinked(t, y, p):
    return np.abs(y[0]) ** 2 * p[0] + np.maximum(y[1], -5.0) * t + p[1] ** 3


def test_functionals():
    """values with kinks, which complex steps do not see; t1 and p directly; terms; second order"""
    problem = costate.Problem(rhs, rtol=1e-11, atol=1e-13, method="verner98")
    Y, Q = np.array([-1.0, 0.2]), np.array([2.0, 0.3])
    F = costate.Functional(kinked, times=[0.5, 1.0], term=lambda t, y: t * y[0] ** 3)
    given = costate.Functional(
        kinked, times=[0.5, 1.0], term=lambda t, y: t * y[0] ** 3, trace=False,
        end_y=lambda t, y, p: np.array([2 * y[0] * p[0], t + 0 * y[0]]), end_t=lambda t, y, p: y[1],
        end_p=lambda t, y, p: np.array([y[0] ** 2, 3 * p[1] ** 2]),
        term_y=lambda t, y: np.array([3 * t * y[0] ** 2, 0]))
    run = problem.integrate((0, 1.5), Y, Q)
    found, wanted = run.gradient(F), run.gradient(given)
    assert F.trace_message == "" and found.derivatives == "exact"
    assert found.derivatives.by_map["functional"] == {"y": "exact", "p": "exact"}
    assert wanted.derivatives.by_map["functional"] == {"y": "given", "p": "given"}
    assert found.value == wanted.value and abs(found.t1 - wanted.t1) < 1e-14
    for name in ("y0", "p"):
        assert np.allclose(getattr(found, name), getattr(wanted, name), rtol=1e-14, atol=1e-15)
    a, b = (run.hessp(f, vy0=[1.0, 0.5], vp=[1.0, -2.0]) for f in (F, given))
    assert np.allclose(a.Hy0, b.Hy0, rtol=1e-12) and np.allclose(a.Hp, b.Hp, rtol=1e-12)
    mixed = costate.Functional(lambda t, y, p: y[0] * p[0] ** 2, end_y=lambda t, y, p: np.array([p[0] ** 2, 0 * p[0]]))
    whole = costate.Functional(lambda t, y, p: y[0] * p[0] ** 2)
    a, b = (run.hessp(f, vp=[1.0, -2.0]).Hp for f in (mixed, whole))
    assert np.allclose(a, b, rtol=1e-12), (a, b)
    zero = run.gradient(costate.Functional(lambda t, y, p: 0.0 * y[0]))
    assert not zero.y0.any() and not zero.p.any()
    assert run.gradient(costate.Functional(lambda t, y, p: t ** 2 + 0 * y[0])).t1 == 3.0


def test_functionals_that_change():
    """what they read, or their sizes"""
    run = costate.Problem(rhs).integrate((0, 1), [1.0, 0.0], [2.0, 0.3])
    weight = [2.0]
    F = costate.Functional(lambda t, y, p: weight[0] * y[0])
    first = run.gradient(F)
    weight[0] = 3.0
    assert np.allclose(run.gradient(F).p, 1.5 * first.p, rtol=1e-14)
    other = costate.Problem(lambda t, y, p: -p[0] * y).integrate((0, 1), [1.0], [2.0])
    assert abs(other.gradient(F).p[0] + 3 * np.exp(-2.0)) < 1e-5
    for k in range(3 + scalars.MOST_KEPT):
        run.gradient(costate.Functional(lambda t, y, p, k=k: (k + 1) * y[0]))
    code = (lambda t, y, p: 0).__code__
    assert all(len(kept) <= scalars.MOST_KEPT + 1 for kept in scalars.KEPT.values()) and code not in scalars.KEPT


def test_functionals_that_cannot_be_traced():
    """complex steps, as before; errors are those of the function"""
    run = costate.Problem(rhs).integrate((0, 1), [1.0, 0.0], [2.0, 0.3])
    F = costate.Functional(lambda t, y, p: y[0] * (2.0 if t > 0.5 else 1.0))
    found = run.gradient(F)
    assert "np.where" in F.trace_message and found.derivatives.by_map["functional"]["y"] == "complex step"
    assert np.allclose(found.p, run.gradient(costate.Functional(lambda t, y, p: 2 * y[0])).p, rtol=1e-12)
    fails(KeyError, "lost", run.gradient, costate.Functional(lambda t, y, p: {}["lost"]))
    fails(ValueError, "trace=2", costate.Functional, kinked, trace=2)
    assert costate.Functional(kinked, trace=False).traced(None, ()) is None


if __name__ == "__main__":
    run_all(globals())
