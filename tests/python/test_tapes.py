"""Tapes in files, runs that are read, resumed and continued, also by other processes."""
import os
import pickle
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                              # noqa: E402

import costate                                  # noqa: E402
from cases import fails, run_all                # noqa: E402

Y0, P, SPAN = [1.0, 0.5], [1.5, 1.0, 3.0, 1.0], (0.0, 4.0)
W = np.array([0.3, -0.8])


def hares(t, y, p):
    return np.array([p[0] * y[0] - p[1] * y[0] * y[1], p[3] * y[0] * y[1] - p[2] * y[1]])


def eaten(t, y, p):
    return y[:1]


def until(step):
    return step.end > 1.0


def problem(**more):
    return costate.Problem(hares, cost=eaten, **{**dict(method="dopri5", rtol=1e-8, atol=1e-8), **more})


def same(a, b):
    """runs with the same bits, and their derivatives"""
    assert a.t == b.t and np.array_equal(a.y, b.y) and np.array_equal(a.q, b.q)
    for one, other in zip(a.adjoint(W, w_costs=[0.5]), b.adjoint(W, w_costs=[0.5])):
        assert np.array_equal(one, other), (one, other)
    assert np.array_equal(a.tangent(dp=np.eye(4)), b.tangent(dp=np.eye(4)))
    assert np.array_equal(a(np.linspace(a.t0, a.t, 7)), b(np.linspace(a.t0, a.t, 7)))
    for one, other in zip(a.steps, b.steps):
        assert np.array_equal(one, other)


def transposes(run):
    dy, dp = np.array([0.4, 0.9]), np.array([0.1, -0.5, 0.3, 0.7])
    by_y, by_p = run.adjoint(W)
    gap = W @ run.tangent(dy, dp) - by_y @ dy - by_p @ dp
    assert abs(gap) <= 1e-12 * abs(by_y @ dy), gap


def path(place):
    return os.path.join(place, "run.tape")


def test_a_tape_in_a_file():
    for more in ({}, dict(storage="checkpoints"), dict(method="radau2a5", trace=False)):
        with tempfile.TemporaryDirectory() as place:
            usual, of = problem(**more).integrate(SPAN, Y0, P), problem(**more)
            written = of.integrate(SPAN, Y0, P, tape=path(place))
            assert np.allclose(written.y, usual.y, rtol=1e-6)           # now and then a step uses nothing from others
            assert np.allclose(written.adjoint(W)[1], usual.adjoint(W)[1], rtol=1e-5)
            transposes(written)
            same(written, of.load(path(place), SPAN, Y0, P))
            size = os.path.getsize(path(place))
            other = problem(**more).load(path(place), SPAN, Y0, P)
            same(written, other)
            assert other.stats["steps"] == 0 and os.path.getsize(path(place)) == size
            fails(costate.CostateError, "written by another run", problem(**more).resume, path(place), SPAN, Y0, P)
            fails(ValueError, "read from a file", other.continue_to, 5.0)
            del written, of                     # which hold the file
            same(other, problem(**more).resume(path(place), SPAN, Y0, P))


def test_in_another_process():
    program = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np, test_tapes as T
run = T.problem().load(sys.argv[2], T.SPAN, T.Y0, T.P)
np.save(sys.argv[2] + ".npy", np.concatenate([run.y, *run.adjoint(T.W)]))
"""
    with tempfile.TemporaryDirectory() as place:
        run = problem().integrate(SPAN, Y0, P, tape=path(place))
        subprocess.run([sys.executable, "-c", program, os.path.dirname(os.path.abspath(__file__)), path(place)],
                       check=True, timeout=120)
        assert np.array_equal(np.load(path(place) + ".npy"), np.concatenate([run.y, *run.adjoint(W)]))


class Killed(Exception):
    pass


def interrupted(place, **more):
    """a tape whose run ended with an exception"""
    count = [0]

    def kill(step):
        count[0] += 1
        if count[0] == 30:
            raise Killed
    try:
        problem(**more).integrate(SPAN, Y0, P, tape=path(place), on_step=kill)
    except Killed:
        return
    raise AssertionError("it was not interrupted")


def test_resumed():
    for more in (dict(storage="checkpoints"), {}):
        with tempfile.TemporaryDirectory() as place:
            interrupted(place, **more)
            part = problem(**more).load(path(place), SPAN, Y0, P)
            assert 0 < part.t < SPAN[1]
            transposes(part)
            whole, of = problem(**more).resume(path(place), SPAN, Y0, P), problem(**more)
            alone = of.integrate(SPAN, Y0, P, tape=path(place) + "2")
            same(whole, alone)
            same(whole.continue_to(5.0), alone.continue_to(5.0))


def test_what_does_not_belong_to_the_file():
    with tempfile.TemporaryDirectory() as place:
        problem().integrate(SPAN, Y0, P, tape=path(place))
        load = problem().load
        fails(costate.CostateError, "y0, p, or what functions", load, path(place), SPAN, Y0, [1.5, 1.0, 3.0, 1.1])
        fails(costate.CostateError, "y0, p, or what functions", load, path(place), SPAN, [1.0, 0.6], P)
        fails(costate.CostateError, "begins at t = 0", load, path(place), (0.5, 4.0), Y0, P)
        fails(costate.CostateError, "of method dopri5", problem(method="tsit5").load, path(place), SPAN, Y0, P)
        fails(costate.CostateError, "BAD_TAPE", costate.Problem(lambda t, y, p: -y, method="dopri5").load, path(place),
              SPAN, [1.0], [])
        fails(costate.CostateError, "COSTATE_IO", load, path(place) + "-", SPAN, Y0, P)
        with open(path(place), "w", encoding="ascii") as out:
            out.write("a text that is no tape")
        fails(costate.CostateError, "BAD_TAPE", problem().integrate, SPAN, Y0, P, tape=path(place))
        fails(ValueError, "record=False", problem().integrate, SPAN, Y0, P, tape=path(place), record=False)


def test_a_copy_leaves_the_file_alone():
    with tempfile.TemporaryDirectory() as place:
        run = problem(storage="checkpoints").integrate(SPAN, Y0, P, tape=path(place))
        other = pickle.loads(pickle.dumps(run))
        before = os.stat(path(place)).st_mtime_ns
        assert np.array_equal(other.adjoint(W)[1], run.adjoint(W)[1])
        assert os.stat(path(place)).st_mtime_ns == before


def test_continued():
    """a run in two parts: derivatives are those of both together, and it is as accurate as one in one part"""
    for more in ({}, dict(storage="checkpoints"), dict(method="radau2a5"), dict(trace=False)):
        times = np.array([0.5, 2.5])
        one = problem(**more).integrate(SPAN, Y0, P, t_eval=[0.5, 2.5, 3.0])
        run = problem(**more).integrate((0.0, 2.5), Y0, P, t_eval=times, dense=True)
        assert run.continue_to(4.0, t_eval=[3.0]) is run
        assert run.t == 4.0 and np.allclose(run.at, one.at, rtol=1e-6) and np.allclose(run.y, one.y, rtol=1e-6)
        assert np.allclose(run.q, one.q, rtol=1e-6) and np.allclose(run(1.0), one(1.0), rtol=1e-6)
        assert run.steps_t[0] == 0 and run.steps_t[-1] == 4.0 and np.all(np.diff(run.steps_t) > 0)
        assert np.array_equal(run.steps_y[:, -1], run.y)
        transposes(run)
        assert np.allclose(run.adjoint(W)[1], one.adjoint(W)[1], rtol=1e-5)
        F = costate.Functional(end=lambda t, y, p: t * y[0])
        assert np.allclose(run.gradient(F).p, one.gradient(F).p, rtol=1e-5)
        assert np.allclose(run.gradient(F).t1, one.gradient(F).t1, rtol=1e-5)
        other = pickle.loads(pickle.dumps(run))
        assert np.array_equal(other.adjoint(W)[1], run.adjoint(W)[1])
        assert np.array_equal(run.continue_to(4.5).adjoint(W)[1], other.continue_to(4.5).adjoint(W)[1])


def fall(t, y, p):
    return np.array([y[1], -10.0 + 0 * y[0]])


def test_continued_behind_events_and_stops():
    hit = costate.Event(lambda t, y, p: y[0], direction=-1, terminal=True,
                        jump=lambda t, y, p: np.array([y[0], -p[0] * y[1]]))
    run = costate.Problem(fall, events=[hit], rtol=1e-10, atol=1e-10).integrate((0.0, 9.0), [1.0, 0.0], [0.8])
    at = np.sqrt(0.2)
    assert abs(run.t - at) < 1e-8
    run.continue_to(1.0)
    assert np.allclose(run.y, [8 * at * (1 - at) - 5 * (1 - at) ** 2, 8 * at - 10 * (1 - at)], atol=1e-8)
    assert np.allclose(run.tangent(dp=[1.0]), [10 * at * (1 - at), 10 * at], atol=1e-8)
    assert np.allclose(run.adjoint([1.0, 0.0])[1], 10 * at * (1 - at), atol=1e-8)
    stopped = problem().integrate(SPAN, Y0, P, on_step=until)
    assert stopped.stopped and 1.0 < stopped.t < 4.0
    first = stopped.t
    stopped.continue_to(4.0)
    assert not stopped.stopped and stopped.t == 4.0 and first in stopped.steps[0]
    transposes(stopped)
    again = pickle.loads(pickle.dumps(stopped))
    assert np.array_equal(again.adjoint(W)[1], stopped.adjoint(W)[1])
    twice = problem().integrate((0.0, 0.5), Y0, P).continue_to(SPAN[1], on_step=until)
    assert twice.stopped and 1.0 < twice.t < 4.0
    assert np.array_equal(pickle.loads(pickle.dumps(twice)).adjoint(W)[1], twice.adjoint(W)[1])


def test_continued_with_complex_steps_that_turn_out_wrong():
    def late(t, y, p):
        return np.array([-p[0] * (y[0] if t < 1.0 else abs(y[0]))])
    import warnings
    run = costate.Problem(late, method="radau2a5", trace=False, stops=[1.0], rtol=1e-8, atol=1e-8).integrate(
        (0.0, 0.9), [1.0], [0.5])
    assert run.derivatives == "complex step"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run.continue_to(2.0, t_eval=[1.5])
        assert np.allclose(run.adjoint([1.0])[1], -2 * np.exp(-1.0), rtol=1e-5)
    assert run.derivatives == "differences" and np.allclose(run.at, np.exp(-0.75), rtol=1e-6)


def test_refused_continuations():
    run = problem().integrate(SPAN, Y0, P)
    fails(ValueError, "the run ended at t = 4", run.continue_to, 4.0)
    fails(ValueError, "not between", run.continue_to, 5.0, t_eval=[3.0])
    fails(costate.CostateError, "before the end of the tape", run.continue_to, 3.0)
    before, y, count = run.adjoint(W)[1], run.y, len(run.steps[0])

    def fail(step):
        raise Killed
    fails(Killed, "", run.continue_to, 6.0, on_step=fail)
    assert run.t == 4.0 and np.array_equal(run.y, y) and np.array_equal(run.adjoint(W)[1], before)
    assert len(run.steps[0]) == count
    assert np.array_equal(run.continue_to(5.0).y, problem().integrate(SPAN, Y0, P).continue_to(5.0).y)
    fails(ValueError, "was not recorded", problem().integrate(SPAN, Y0, P, record=False).continue_to, 5.0)


def test_a_file_is_continued():
    with tempfile.TemporaryDirectory() as place:
        run = problem().integrate((0.0, 2.0), Y0, P, tape=path(place)).continue_to(4.0)
        transposes(run)
        usual = problem().integrate((0.0, 2.0), Y0, P).continue_to(4.0)
        assert np.allclose(run.adjoint(W)[1], usual.adjoint(W)[1], rtol=1e-5)
        same(problem().load(path(place), SPAN, Y0, P), run)


def test_forms():
    with tempfile.TemporaryDirectory() as place:
        form = costate.Problem(lambda t, y, p: -p["k"] * y, method="dopri5")
        run = form.integrate((0.0, 1.0), np.ones((1, 2)), {"k": 2.0}, tape=path(place))
        other = form.load(path(place), (0.0, 1.0), np.ones((1, 2)), {"k": 2.0})
        assert np.array_equal(other.y, run.y) and other.y.shape == (1, 2)
        assert other.adjoint(np.ones((1, 2)))[1] == run.adjoint(np.ones((1, 2)))[1]
        assert run.continue_to(2.0).t == 2.0 and np.array_equal(run.y, run(2.0))


if __name__ == "__main__":
    run_all(globals())
