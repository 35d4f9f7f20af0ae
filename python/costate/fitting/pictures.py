"""Pictures of fits (Matplotlib): data and curves, residuals, the minima of several starts, profiles."""
import numpy as np

from costate.plots import axes, finished

POINTS = 200            # of a curve
MOST = 8                # curves in one picture


def curves(fit, condition=None):
    """(condition, name of the quantity, what it is, index of the data, column) of what was measured"""
    for e in fit.misfit.experiments:
        if condition is None or e.name == str(condition):
            for k, d in enumerate(e.data):
                for j, of in enumerate(d.of):
                    yield e, named(of, e), of, k, j


def named(of, e):
    if callable(of):
        return getattr(of, "__name__", "function")
    return of if isinstance(of, str) else e.names.states[of]


def plot_fit(fit, *, condition=None, band=True, level=0.95, xlabel="$t$", ylabel=None, ax=None):
    """Measured values with their standard deviations, fitted curves, and bands of confidence of these.

    condition: its name; None: all, up to eight curves; band: False: no bands.  Returns the axes"""
    ax, shown = axes(ax), list(curves(fit, condition))[:MOST]
    if not shown:
        return of_petab(fit, ax) if not fit.misfit.experiments else ax
    several = len({e.name for e, *_ in shown}) > 1
    for number, (e, name, of, k, j) in enumerate(shown):
        color, d = f"C{number % 10}", e.data[k]
        t = np.linspace(e.t0, e.t[-1], POINTS)
        found = fit.predict(t, of, condition=e.name, level=level)
        ax.plot(t, found.value[:, 0], color=color, linewidth=1.4, label=f"{name}, {e.name}" if several else name)
        if band and np.all(np.isfinite(found.low)):
            ax.fill_between(t, found.low[:, 0], found.high[:, 0], color=color, alpha=0.2, linewidth=0)
        for side, marker in ((0, "."), (-1, "v"), (1, "^")):
            which = (d.censored[:, j] == side) & np.isfinite(d.values[:, j])
            sigma = d.sigma[j][which] if isinstance(d.sigma[j], np.ndarray) and d.noise[j] == "normal" and not side \
                else None
            ax.errorbar(d.times[which], d.values[which, j], yerr=sigma, fmt=marker, color=color, markersize=5,
                        elinewidth=0.8)
    return finished(ax, xlabel, ylabel or ("" if len(shown) > 1 else shown[0][1]), len(shown))


def of_petab(fit, ax):
    """measurements over outputs, where there are no curves"""
    found = fit.misfit.problem.residuals(fit.x)
    ax.plot(found.output, found.measurement, ".", markersize=4)
    ends = [min(found.output.min(), found.measurement.min()), max(found.output.max(), found.measurement.max())]
    ax.plot(ends, ends, color="0.6", linewidth=0.8)
    return finished(ax, "fitted", "measured", 0)


def plot_residuals(fit, *, ax=None):
    """Residuals, in units of sigma, over time: a trend shows that the model lacks something.  Returns the axes"""
    ax = axes(ax)
    if not fit.misfit.experiments:
        found = fit.misfit.problem.residuals(fit.x)
        ax.plot(found.time, found.residual, ".")
    for e, (r, _) in zip(fit.misfit.experiments, fit.misfit.outputs(fit.x) if fit.misfit.experiments else ()):
        t = e.gathered(lambda d, i, j: d.times[i])
        plain = e.gathered(lambda d, i, j: d.censored[i, j]) == 0
        ax.plot(t[plain], r[plain] / (fit.sigma or 1.0), ".", label=e.name)
    ax.axhline(0, color="0.6", linewidth=0.8, zorder=1)
    several = len(fit.misfit.experiments) if 1 < len(fit.misfit.experiments) <= MOST else 0
    return finished(ax, "$t$", r"residual/$\sigma$", several)


def plot_starts(fit, *, ax=None):
    """J of all starts less the smallest one, sorted: equal values are one minimum.  Returns the axes"""
    ax, J = axes(ax), fit.starts[~np.isnan(fit.starts)]
    ax.semilogy(np.arange(1, len(J) + 1), np.maximum(J - J[0], 1e-6), "o-", markersize=4, linewidth=0.8)
    return finished(ax, "start, sorted", r"$J - J_{\min}$ (at least $10^{-6}$)", 0)


def plot_profile(fit, profile, *, ax=None):
    """The rise of 2 J along one unknown, the parabola of Laplace's approximation and the limit of the interval.
    Returns the axes"""
    ax, k = axes(ax), fit.index(profile.name)
    ax.plot(profile.values, profile.rise, ".-", linewidth=1.4, label="profile")
    if np.isfinite(fit._deviation[k]) and fit._deviation[k] > 0:
        x = fit.x[k] + fit._deviation[k] * np.sqrt(1.5 * profile.limit) * np.linspace(-1, 1, POINTS)
        ax.plot([fit._of_scale(k, one) for one in x], ((x - fit.x[k]) / fit._deviation[k])**2, "--", linewidth=1,
                label="Laplace")
    ax.axhline(profile.limit, color="0.5", linewidth=0.8)
    ax.set_ylim(0, 1.5 * profile.limit)
    return finished(ax, profile.name, r"rise of $2 J$", 2)
