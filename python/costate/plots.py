"""Pictures of runs, sensitivities, work against error and stability regions (Matplotlib), and a bar of progress."""
import copy
import sys
import threading
import time

import numpy as np

from costate._library import describe, method as found_method
from costate.problem import Problem

TIGHT = 1e-13           # rtol of reference solutions
ASIDE = 1e-9            # how far points of the complex plane are moved: a pole of R lies at a round number, often


def axes(ax):
    """ax, or new axes that are readable at 400 pixels"""
    if ax is not None:
        return ax
    from matplotlib import pyplot
    return pyplot.subplots(figsize=(4.8, 3.4), dpi=100, layout="constrained")[1]


def names_of(labels, letter, which):
    """names of components: labels, of all or of the shown ones, or letters with subscripts"""
    if labels is None:
        return [f"${letter}_{{{i}}}$" for i in which]
    return [labels[i] for i in which] if len(labels) > max(which) else list(labels)


def finished(ax, xlabel, ylabel, entries):
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(True, color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    if entries:             # above the axes, where it hides nothing
        ax.legend(fontsize="small", frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=min(entries, 4),
                  borderaxespad=0.2, handlelength=1.4, columnspacing=1.2)
    return ax


# ---- states ---------------------------------------------------------------------------------------------------------

def path(run, points):
    """(times, states as n by their number) by dense output, with both sides of each event"""
    before, states, starts_at = [], [], run.t0
    for end, left, right in [(e[0], e[2], e[3]) for e in run.events] + [(run.t, run.y, run.y)]:
        inside = np.linspace(starts_at, end, max(2, round(points * abs((end - starts_at) / (run.t - run.t0)))))
        before += [inside[1:-1], [end, end]]
        states += [run(inside[1:-1]) if len(inside) > 2 else np.empty((len(run.y), 0)), np.stack([left, right], axis=1)]
        starts_at = end
    first = np.asarray(run._y0[:len(run.y)])[:, None]
    return np.concatenate([[run.t0], *before]), np.hstack([first, *states])


def plot_run(run, *, components=None, labels=None, steps=False, points=400, xlabel="$t$", ylabel="$y$", ax=None):
    """States over time, by dense output, with jumps at events.

    components: numbers of the states to show; labels: their names; steps: True: marks the ends of steps;
    xlabel, ylabel: with units, as "$t$ [s]".  Returns the axes."""
    which = range(len(run.y)) if components is None else components
    t, y = path(run, points)
    ax = axes(ax)
    for i, name in zip(which, names_of(labels, "y", which)):
        line, = ax.plot(t, y[i], linewidth=1.4, label=name)
        if steps:
            starts, lengths = run.steps
            ends = starts + lengths
            ax.plot(ends, run(ends)[i], ".", color=line.get_color(), markersize=4)
    return finished(ax, xlabel, ylabel, len(which) if len(which) > 1 or labels is not None else 0)


def plot_result(found, *, components=None, labels=None, points=400, xlabel="$t$", ylabel="$y$", ax=None):
    """What solve_ivp returned: y over t (of complex y the real part), by dense output where there is some.  Arguments
    as of plot_run."""
    which = range(len(found.y)) if components is None else components
    t = found.t if found.sol is None else np.linspace(found.t[0], found.t[-1], points)
    y = found.y if found.sol is None else found.sol(t)
    ax = axes(ax)
    for i, name in zip(which, names_of(labels, "y", which)):
        ax.plot(t, y[i].real, linewidth=1.4, label=name)
    return finished(ax, xlabel, ylabel, len(which) if len(which) > 1 or labels is not None else 0)


def plot_sensitivities(run, *, component=0, parameters=None, labels=None, relative=False, points=200, xlabel="$t$",
                       ylabel=None, ax=None):
    """The derivative of one state with respect to parameters over time, by tangents.

    parameters: their numbers; labels: their names; relative: True: times the parameter, in the unit of the state."""
    count = len(run._p)
    if count == 0:
        raise ValueError("the problem has no parameters")
    which = range(count) if parameters is None else parameters
    times = np.linspace(run.t0, run.t, points)
    moved = run.tangent(dp=np.eye(count)[:, list(which)], at=times)[:, component, :]
    ax = axes(ax)
    for j, name, line in zip(which, names_of(labels, "p", which), moved.T):
        ax.plot(times, run._p[j] * line if relative else line, linewidth=1.4, label=name)
    ax.axhline(0, color="0.6", linewidth=0.6, zorder=1)
    of = rf"\partial y_{{{component}}}/\partial p_j"
    return finished(ax, xlabel, ylabel or (f"$p_j\\,{of}$" if relative else f"${of}$"), len(which))


# ---- work against error ---------------------------------------------------------------------------------------------

def variant(problem, **changed):
    """the same equations, solved in another way"""
    new = copy.copy(problem)
    new.__dict__.update(changed, _local=threading.local())
    return new


def work_and_error(problem, t_span, y0, p, reference, work):
    """(work, relative error at the end) of one run without a tape"""
    problem.integrate(t_span, y0, p, record=False)          # the first run also builds the solver
    began = time.perf_counter()
    run = problem.integrate(t_span, y0, p, record=False)
    seconds = time.perf_counter() - began
    error = np.linalg.norm(run.y - reference) / np.linalg.norm(reference)
    return seconds if work == "time" else run.stats[work], error


def plot_work_precision(problem, t_span, y0=None, p=None, *, methods=("bs32", "dopri5", "dopri853"), rtols=None,
                        reference=None, work="f", ax=None):
    """The error at the end of a run against its work, for several methods and tolerances.

    rtols: relative tolerances, 1e-3 to 1e-10; atol keeps its ratio to rtol.  reference: the states at the end, or
    None: a run of the problem's method with rtol = 1e-13.  work: "f" (evaluations), another member of run.stats, or
    "time" (seconds, measured once)."""
    rtols = 10.0**-np.arange(3, 11) if rtols is None else rtols
    ratio = np.asarray(problem.atol) / np.max(problem.rtol)
    if reference is None:
        reference = variant(problem, rtol=TIGHT, atol=TIGHT * ratio).integrate(t_span, y0, p, record=False).y
    ax = axes(ax)
    for name in methods:
        runs = [work_and_error(variant(problem, method=name, rtol=rtol, atol=rtol * ratio), t_span, y0, p, reference,
                               work) for rtol in rtols]
        ax.loglog(*zip(*runs), "o-", linewidth=1.2, markersize=3.5, label=name)
    units = {"f": "evaluations of $f$", "time": "time [s]"}
    return finished(ax, units.get(work, work), "relative error at the end", len(methods))


# ---- stability ------------------------------------------------------------------------------------------------------

def growth(name, z):
    """|R(z)|: the length after one step h = 1 of y' = z y from 1, as real systems of two states"""
    z = np.asarray(z, dtype=complex).reshape(-1)
    spin = np.zeros((2 * z.size, 2 * z.size))
    first = 2 * np.arange(z.size)
    spin[first, first] = spin[first + 1, first + 1] = z.real
    spin[first, first + 1], spin[first + 1, first] = -z.imag, z.imag
    oscillators = Problem(lambda t, y, p: spin @ y, jac=spin, jac_t=np.zeros(2 * z.size), method=name,
                          controller="fixed", h0=1.0, autonomous=1, stability="off")
    end = oscillators.integrate((0.0, 1.0), np.tile([1.0, 0.0], z.size), record=False).y
    return np.hypot(end[first], end[first + 1])


def plot_stability(name, *, box=None, points=120, ax=None):
    """The region of absolute stability of a method: where |R(z)| <= 1, for z = h lambda.

    |R(z)| is not taken from a formula: it is the growth of one step of the library, h = 1, for y' = z y, written as a
    real system of two states.  Oscillators that do not know each other share a run, 32 in each.  box: limits of the
    real and of the imaginary part; points: in either direction, all moved aside by 1e-9 to miss poles.  Not for methods
    whose step depends on the spectrum (rkc) or on the history (composite), which have no such region."""
    family = describe(found_method(name))["family"]
    if family in ("rkc", "composite", "collocation"):
        raise ValueError(f"{name} is of the family {family}, which has no single stability function")
    box = box or ((-6.0, 3.0, -4.5, 4.5) if family == "erk" else (-6.0, 14.0, -10.0, 10.0))
    x, y = np.linspace(*box[:2], points) + ASIDE, np.linspace(*box[2:], points) + ASIDE
    z = (x[None, :] + 1j * y[:, None]).reshape(-1)
    size = np.concatenate([growth(name, part) for part in np.array_split(z, -(-z.size // 32))]).reshape(points, points)
    ax = axes(ax)
    ax.contourf(x, y, size, levels=[0.0, 1.0], colors=["#9ecae1"])
    ax.contour(x, y, size, levels=[1.0], colors=["#08519c"], linewidths=1.2)
    for line in (ax.axhline, ax.axvline):
        line(0, color="0.4", linewidth=0.6)
    ax.set_aspect("equal")
    ax.set_title(rf"{name}: $|R(z)|\leq 1$", fontsize="medium")
    return finished(ax, r"$\mathrm{Re}\,z = h\,\mathrm{Re}\,\lambda$", r"$\mathrm{Im}\,z$", 0)


# ---- progress -------------------------------------------------------------------------------------------------------

def tqdm_step(t_span):
    """on_step for integrate: a bar of progress in t, on a terminal and if tqdm is installed; else it does nothing."""
    try:
        from tqdm import tqdm
    except ImportError:
        return lambda step: False
    t0, t1 = map(float, t_span)
    bar = tqdm(total=abs(t1 - t0), disable=not sys.stderr.isatty(), leave=False,
               bar_format="{percentage:3.0f}% |{bar}| t: {n:.4g} of {total:.4g} [{elapsed} < {remaining}]")

    def on_step(step):
        bar.update(abs(step.end - t0) - bar.n)
        if step.end == t1:
            bar.close()
        return False
    return on_step
