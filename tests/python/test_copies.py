"""Problems, runs, events and functionals are pickled and copied, go through processes, and say what they are."""
import copy
import multiprocessing
import os
import pickle
import sys
import threading

import numpy as np

import costate

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cases import Skipped, fails, run_all  # noqa: E402

SPAN, Y0, P = (0.0, 2.0), [1.0, 0.5], [0.7, 0.2]
CONSTANT = [1.0]


def rhs(t, y, p):
    return np.array([-p[0] * y[0] + np.sin(t), p[0] * y[0] - p[1] * y[1] * CONSTANT[0]])


def half(t, y, p):
    return y[0] - 0.5


def fill(t, y, p):
    return y + p


def real_only(t, y, p):
    return np.array([float(-p[0] * y[0]), float(y[0])])


def of_dict(t, y, p):
    return -p["k"] * y


def last(t1, y, p):
    return y[1]


def full(**more):
    """a problem with all kinds of members"""
    return costate.Problem(rhs, method="radau2a", rtol=1e-5, atol=[1e-5, 1e-6], sparsity=np.array([[1, 0], [1, 1]]),
                           mass=np.eye(2), stops=[0.3], **more,
                           events=[costate.Event(half, direction=-1, jump=fill, passes=True),
                                   costate.Event(times=[1.0, 1.5], jump=fill)])


def again(thing):
    return pickle.loads(pickle.dumps(thing))


def same(a, b):
    """the numbers of two runs, and what is computed from their steps"""
    assert np.array_equal(a.y, b.y) and a.t == b.t and a.stats == b.stats and a.message == b.message
    for one, other in zip(a.adjoint([1.0, 2.0]), b.adjoint([1.0, 2.0])):
        assert np.array_equal(one, other)
    assert np.array_equal(a.tangent(dp=[1.0, 2.0]), b.tangent(dp=[1.0, 2.0]))
    assert np.array_equal(a(0.7), b(0.7)) and len(a.events) == len(b.events) and np.array_equal(a.steps, b.steps)


def test_problems():
    problem = full()
    run = problem.integrate(SPAN, Y0, P)
    for other in (again(problem), copy.deepcopy(problem), copy.copy(problem)):
        assert other is not problem and other.events[0] is not problem.events[0] or other.events is problem.events
        same(run, other.integrate(SPAN, Y0, P))
    constant = costate.Problem(rhs, jac=[[-0.7, 0], [0.7, -0.2]], jac_p=np.zeros((2, 2)), jac_t=np.zeros(2))
    same(constant.integrate(SPAN, Y0, P), again(constant).integrate(SPAN, Y0, P))
    fails(Exception, "lambda", pickle.dumps, costate.Problem(lambda t, y, p: y))


def test_runs():
    """the bits of the run, also of one whose complex steps were wrong, and with runs between"""
    for problem in (full(), costate.Problem(real_only), costate.Problem(costate.Model(
            "model m\nparameter a = 0.7, b = 0.2\nstate A = 1, B = a\nA' = -a*A\nB' = a*A - b*B\n"))):
        run = problem.integrate(SPAN, Y0, P, t_eval=[0.5, 1.0], dense=True)
        for other in (again(run), copy.deepcopy(run), copy.copy(run)):
            assert np.array_equal(other.at, run.at) and np.array_equal(other.steps_y, run.steps_y)
            assert "_tape" not in vars(other)                       # nothing is computed before it is asked for
            assert repr(other) == repr(run) and "_tape" not in vars(other)
            problem.integrate(SPAN, [3.0, 3.0], P)
            same(run, other)
    middle = again(run)
    assert "_tape" not in vars(again(middle)) and "_tape" not in vars(middle)
    same(run, again(again(run)))


def test_runs_that_cannot_be_repeated():
    run = again(costate.Problem(rhs).integrate(SPAN, Y0, P))
    CONSTANT[0] = 2.0
    try:
        fails(costate.CostateError, "has other values now", run.adjoint, [1.0, 0.0])
    finally:
        CONSTANT[0] = 1.0
    plain = again(costate.Problem(rhs).integrate(SPAN, Y0, P, record=False))
    fails(ValueError, "not recorded", plain.adjoint, [1.0, 0.0])
    fails(AttributeError, "no attribute 'nonsense'", getattr, plain, "nonsense")
    fails(TypeError, "addresses in this process", pickle.dumps, costate.from_cfunc(1234, 1))


def test_stopped_runs():
    run = costate.Problem(rhs).integrate(SPAN, Y0, P, on_step=lambda step: step.end > 0.5)
    assert run.stopped and again(run).stopped
    same(run, again(run))


def test_forms():
    """what is not a vector"""
    problem = costate.Problem(of_dict)
    run = problem.integrate(SPAN, np.ones((2, 2)), {"k": 2.0})
    for other in (again(run), copy.deepcopy(run), again(problem).integrate(SPAN, np.ones((2, 2)), {"k": 2.0})):
        assert np.array_equal(other.y, run.y)
        assert other.adjoint(np.ones((2, 2)))[1] == run.adjoint(np.ones((2, 2)))[1]
    both = again((problem, run))
    assert both[1].form.whole is both[0]


def test_functionals():
    """before and after they were used"""
    functional = costate.Functional(end=last, times=[0.5], term=lambda t, y: y[0])
    problem = full()
    found = problem.integrate(SPAN, Y0, P).gradient(functional)
    other = copy.deepcopy(functional)
    assert np.array_equal(problem.integrate(SPAN, Y0, P).gradient(other).p, found.p)
    used = costate.Functional(end=last)
    problem.integrate(SPAN, Y0, P).gradient(used)
    assert again(used).end is last


def gradient_of(k):
    return full_run(k).adjoint([1.0, 0.0])[1]


def full_run(k):
    return full().integrate(SPAN, [1.0, 0.1 * k], P)


def test_processes():
    """runs come back from other processes, and are differentiated here"""
    with multiprocessing.get_context("fork").Pool(2) as pool:
        runs, gradients = pool.map(full_run, range(4)), pool.map(gradient_of, range(4))
    for k, (run, gradient) in enumerate(zip(runs, gradients)):
        assert np.array_equal(run.adjoint([1.0, 0.0])[1], gradient) and np.array_equal(gradient, gradient_of(k))


def test_joblib():
    try:
        import joblib
    except ImportError:
        raise Skipped("no module joblib (Debian: python3-joblib)") from None
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(gradient_of)(k) for k in range(4))
    assert all(np.array_equal(value, gradient_of(k)) for k, value in enumerate(found))


def test_threads_that_sweep_one_run():
    """one at a time: each gets its own gradient, also of a copy whose steps are computed by the first"""
    for run in (full().integrate(SPAN, Y0, P), again(full().integrate(SPAN, Y0, P))):
        seeds = np.random.default_rng(1).normal(size=(32, 2))
        found = [None] * 32
        gate = threading.Barrier(8)

        def sweep(first):
            gate.wait()
            for k in range(first, 32, 8):
                found[k] = (run.adjoint(seeds[k])[1], run.tangent(dy0=seeds[k]), run(0.1 + 0.01 * k))
        threads = [threading.Thread(target=sweep, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for k in range(32):
            want = run.adjoint(seeds[k])[1], run.tangent(dy0=seeds[k]), run(0.1 + 0.01 * k)
            assert all(np.array_equal(*pair) for pair in zip(found[k], want)), k


def test_repr():
    """a line that says what it is"""
    problem = full(max_steps=1000)
    assert repr(problem) == ("<Problem y' = rhs(t, y, p): method radau2a, rtol 1e-05, atol [1e-05, 1e-06], a mass "
                             "matrix, 2 events, 1 stop, max_steps 1000>")
    run = problem.integrate(SPAN, Y0, P)
    assert repr(run) == (f"<Run from t = 0 to 2: 2 states, 2 parameters, {run.stats['steps']} steps, derivatives: "
                         "exact>"), run
    assert "not recorded" in repr(costate.Problem(rhs).integrate(SPAN, Y0, P, record=False))
    assert repr(problem.events) == ("[<Event where half falls through 0, jump fill>, "
                                    "<Event at t = 1, 1.5, jump fill>]")
    assert repr(costate.Relation(half)) == "<Relation half > 0>"
    assert repr(costate.Relation(half, whole=True)) == "<Relation floor(half)>"
    assert repr(costate.Event(half, terminal=True, active=0, to=1)) == (
        "<Event where half crosses 0, terminal, in mode 0, to mode 1>")
    assert repr(costate.Map(rhs, jac=rhs, jac_p=rhs)) == "<Map rhs with jac, jac_p>"
    assert repr(costate.Functional(end=last, times=[1.0], term=half)) == (
        "<Functional last at the end, half at 1 time>")
    assert "1 state, 1 parameter," in repr(costate.Problem(of_dict).integrate(SPAN, [1.0], {"k": 1.0}))


run_all(globals())
