"""costate.plots: what is drawn is what was computed, and every picture can be written."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import Skipped, run_all

import numpy as np

try:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
except ImportError:
    matplotlib = None

import costate

Y0, P = [1.0, 1.2], [1.5, 1.0, 3.0, 1.1]


def prey(t, y, p):
    return np.array([y[0] * (p[0] - p[1] * y[1]), y[1] * (p[3] * y[0] - p[2])])


def problem(**more):
    return costate.Problem(prey, rtol=1e-8, atol=1e-8, **more)


def plots():
    """costate.plots"""
    if matplotlib is None:
        raise Skipped("no matplotlib")
    import costate.plots
    return costate.plots


def written(ax, labels, xlabel, ylabel):
    """the picture exists, has these lines in its legend, and labels"""
    assert ax.get_xlabel() == xlabel and ax.get_ylabel() == ylabel, (ax.get_xlabel(), ax.get_ylabel())
    found = [text.get_text() for text in ax.get_legend().get_texts()] if ax.get_legend() else []
    assert found == labels, found
    with tempfile.TemporaryDirectory() as place:
        name = os.path.join(place, "picture.png")
        ax.figure.savefig(name)
        assert os.path.getsize(name) > 5000
    pyplot.close(ax.figure)


def test_methods():
    """run.plot() and, of solve_ivp, result.plot()"""
    plots()
    run = problem().integrate((0.0, 5.0), Y0, P)
    written(run.plot(labels=["prey", "predator"]), ["prey", "predator"], "$t$", "$y$")
    for dense in (False, True):
        found = costate.solve_ivp(lambda t, y: prey(t, y, P), (0, 5), Y0, dense_output=dense)
        ax = found.plot(components=[1], labels=["predator"])
        t, y = ax.lines[0].get_data()
        assert len(ax.lines) == 1 and np.allclose(y, found.sol(t)[1] if dense else found.y[1])
        written(ax, ["predator"], "$t$", "$y$")


def test_run():
    run = problem().integrate((0.0, 5.0), Y0, P)
    ax = plots().plot_run(run, labels=["prey", "predator"], xlabel="$t$ [a]", ylabel="animals")
    for i, line in enumerate(ax.lines):
        t, y = line.get_data()
        assert t[0] == 0.0 and t[-1] == 5.0 and len(t) > 300 and np.all(np.diff(t) >= 0)
        assert np.allclose(y, run(t)[i], rtol=1e-12)
    assert len(ax.lines) == 2
    written(ax, ["prey", "predator"], "$t$ [a]", "animals")


def test_components_and_steps():
    run = problem().integrate((5.0, 0.0), Y0, P)
    ax = plots().plot_run(run, components=[1], labels=["prey", "predator"], steps=True)
    line, dots = ax.lines
    assert np.allclose(line.get_ydata(), run(line.get_xdata())[1], rtol=1e-12)
    assert len(dots.get_xdata()) == run.stats["accepted"] and dots.get_xdata()[-1] == 0.0
    written(ax, ["predator"], "$t$", "$y$")


def test_given_axes():
    if matplotlib is None:
        raise Skipped("no matplotlib")
    run = problem().integrate((0.0, 1.0), Y0, P)
    _, mine = pyplot.subplots()
    assert plots().plot_run(run, ax=mine) is mine
    written(mine, ["$y_{0}$", "$y_{1}$"], "$t$", "$y$")


def test_events_jump():
    """both sides of each bounce are drawn"""
    bounce = costate.Event(lambda t, y, p: y[:1], jump=lambda t, y, p: np.array([0 * y[0], -0.8 * y[1]]), direction=-1)
    ball = costate.Problem(lambda t, y, p: np.array([y[1], -9.81 + 0 * y[0]]), events=[bounce])
    run = ball.integrate((0.0, 2.0), [1.0, 0.0])
    ax = plots().plot_run(run, components=[1])
    t, y = ax.lines[0].get_data()
    for at, _, before, after in run.events:
        assert np.array_equal(y[t == at], [before[1], after[1]])
    assert len(run.events) == 3 and abs(run.events[0][0] - np.sqrt(2 / 9.81)) < 1e-6
    written(ax, [], "$t$", "$y$")


def test_sensitivities():
    run = problem().integrate((0.0, 5.0), Y0, P)
    ax = plots().plot_sensitivities(run, component=1, parameters=[0, 2], labels=["a", "b", "c", "d"])
    assert len(ax.lines) == 3                                   # and zero
    assert np.allclose(ax.lines[1].get_ydata()[-1], run.tangent(dp=[0, 0, 1.0, 0])[1], rtol=1e-10)
    written(ax, ["a", "c"], "$t$", r"$\partial y_{1}/\partial p_j$")
    ax = plots().plot_sensitivities(run, component=1, relative=True)
    assert np.allclose(ax.lines[2].get_ydata()[-1], 3.0 * run.tangent(dp=[0, 0, 1.0, 0])[1], rtol=1e-10)
    written(ax, [f"$p_{{{j}}}$" for j in range(4)], "$t$", r"$p_j\,\partial y_{1}/\partial p_j$")


def test_work_precision():
    ax = plots().plot_work_precision(problem(), (0.0, 5.0), Y0, P, methods=("bs32", "dopri5"), rtols=[1e-4, 1e-6, 1e-8])
    low, high = (line.get_data() for line in ax.lines)
    assert np.all(np.diff(low[0]) > 0) and np.all(np.diff(low[1]) < 0)
    assert high[0][-1] < low[0][-1] / 3 and high[1][-1] < 1e-6
    written(ax, ["bs32", "dopri5"], "evaluations of $f$", "relative error at the end")
    written(plots().plot_work_precision(problem(), (0.0, 1.0), Y0, P, methods=("dopri5",), rtols=[1e-4], work="time"),
            ["dopri5"], "time [s]", "relative error at the end")


def test_growth_of_a_step():
    """is |R(z)|, whose formulas are known"""
    z = np.array([0.3 + 0.2j, -1 - 2j, -20 + 1j])
    R = {"euler": 1 + z, "rk4": 1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24, "trapezoid": (1 + z / 2) / (1 - z / 2),
         "radau2a": (1 + 2 * z / 5 + z**2 / 20) / (1 - 3 * z / 5 + 3 * z**2 / 20 - z**3 / 60),
         "ros2": (1 + (1 - 2 * G) * z + (0.5 - 2 * G + G * G) * z**2) / (1 - G * z)**2}
    for name, value in R.items():
        assert np.allclose(plots().growth(name, z), abs(value), rtol=1e-12), name


G = 1 + 1 / np.sqrt(2)          # of ros2


def test_stability():
    for name, real in (("rk4", -2.785293563405282), ("euler", -2.0)):
        ax = plots().plot_stability(name)
        x = np.concatenate([p.vertices[:, 0] for p in ax.collections[-1].get_paths()])
        assert abs(x.min() - real) < 0.01, (name, x.min())
        written(ax, [], r"$\mathrm{Re}\,z = h\,\mathrm{Re}\,\lambda$", r"$\mathrm{Im}\,z$")
    for name in ("rkc2", "auto"):
        try:
            plots().plot_stability(name)
        except ValueError as error:
            assert "no single stability function" in str(error)
        else:
            raise AssertionError(name)


def test_progress():
    """shows nothing where there is no terminal, and does not stop the run"""
    on_step = plots().tqdm_step((0.0, 5.0))
    run = problem().integrate((0.0, 5.0), Y0, P, on_step=on_step)
    assert run.t == 5.0 and not run.stopped


run_all(globals())
