"""The summary of a fit as text."""
import numpy as np

CLOSE = 0.9             # correlations above it are named
TOO_MUCH = 0.1          # of a standard error: what the integration may add without a remark
SAME = 0.01             # difference in J up to which two starts have reached one minimum


def counted(number, what):
    return f"{number} {what}{'s' * (number != 1)}"


def title(fit):
    misfit = fit.misfit
    parts = f"{counted(len(fit.names), 'unknown')}, {counted(misfit.count, 'value')}"
    parts += f" ({misfit.skipped} not measured)" if misfit.skipped else ""
    return parts + (f", {misfit.conditions} conditions" if misfit.conditions > 1 else "")


def quality(fit):
    """how well the model describes the data"""
    if fit.sigma is not None:
        return f"sum of squares {2 * fit.J:.6g}, sigma computed from the residuals {fit.sigma:.4g}"
    if not fit.misfit.is_least_squares:
        return f"-log(likelihood) {fit.J:.6g}"
    squares = float(np.sum(fit.misfit.residuals(fit.x)**2))
    return f"sum of squares {squares:.4g}, expected {fit.degrees} +- {np.sqrt(2 * max(fit.degrees, 0)):.2g}"


def rows(fit, level):
    """(name, scale, estimate, standard error, interval, integration) as texts"""
    for k, name in enumerate(fit.names):
        low, high = fit.interval(name, level)
        error = fit.errors[name]
        known = np.isfinite(error)
        yield (name, fit.scales[k], f"{fit.estimates[name]:.5g}",
               f"{error:.2g}" if known else "at its bound" if name in fit.at_bound else "not determined",
               f"{low:.4g} .. {high:.4g}" if known else "", f"{fit.integration[name]:+.0e}" if known else "")


def remarks(fit):
    """sentences about what a reader should know"""
    if not fit.converged:
        yield f"The search did not converge: {fit.message}"
    if not fit.is_minimum:
        yield ("The Hessian is not positive definite: J is flat there, or this is no minimum. Do not trust the "
               "standard errors; look at profiles, and start from other guesses.")
    for direction in fit.undetermined:
        yield f"The data do not determine {direction}: fix one of these unknowns, or give a prior."
    for name in fit.at_bound:
        yield f"{name} is at its bound; the errors of the others hold for this value of it."
    known = [k for k in range(len(fit.names)) if fit._determined[k]]
    for k in known:
        for j in known:
            if j < k and abs(fit.correlation[j, k]) > CLOSE:
                yield f"{fit.names[j]} and {fit.names[k]} are correlated: {fit.correlation[j, k]:+.3f}."
    if fit.not_estimated:
        yield f"The error of the integration is not known: {fit.not_estimated}"
    if fit.relative_integration > TOO_MUCH:
        yield (f"The error of the integration moves estimates by {fit.relative_integration:.1g} of their standard "
               "errors: choose smaller tolerances.")
    if fit.sigma is None and fit.misfit.is_least_squares and fit.degrees > 0:
        squares = float(np.sum(fit.misfit.residuals(fit.x)**2))
        if squares > fit.degrees + 4 * np.sqrt(2 * fit.degrees):
            yield ("The sum of squares is much larger than expected: the model does not describe the data, or sigma is "
                   "too small.")
    if len(fit.starts) > 1:
        best = int(np.sum(fit.starts - fit.starts[0] < SAME))
        failed = int(np.sum(np.isnan(fit.starts)))
        yield f"{best} of {len(fit.starts)} starts reached this minimum" + (f", {failed} failed." if failed else ".")


def summary(fit, level):
    table = [("", "scale", "estimate", "std. error", f"{100 * level:g} % interval", "integration"), *rows(fit, level)]
    widths = [max(len(row[k]) for row in table) for k in range(6)]
    lines = [f"{title(fit)}: {quality(fit)}"]
    lines += ["  ".join(cell.ljust(width) if k < 2 else cell.rjust(width)
                        for k, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in table]
    return "\n".join([*lines, *remarks(fit)])
