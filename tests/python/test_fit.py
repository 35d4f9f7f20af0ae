"""test_fit.py - fits: certified values of NIST, standard errors and intervals against closed forms, likelihoods with
unknown deviations, bounds, several starts, unknowns that the data do not determine, the error of the integration."""
import os
import sys
import tomllib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                                      # noqa: E402

from cases import fails, run_all                        # noqa: E402
from common import close                                # noqa: E402
import costate                                          # noqa: E402
from costate import Condition, Measurements, Unknown    # noqa: E402
from costate.fitting import fitted                      # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)
with open(os.path.join(ROOT, "bench", "reference", "nist.toml"), "rb") as table:
    CERTIFIED = tomllib.load(table)


def certified(name, **more):
    """(Fit, what is certified)"""
    of = CERTIFIED[name]
    model = costate.Model(f"model {name}\nparameter {', '.join(of['guess'])}\n{of['equations']}", compiled=False)
    return costate.fit(costate.Problem(model, rtol=1e-8, atol=1e-8), Measurements(of["x"], of["y"], "y"), of["guess"],
                       **more), of


def test_certified_values():
    for name in CERTIFIED:
        fit, of = certified(name)
        estimates, deviations, squares = map(np.array, (of["estimates"], of["deviations"], of["squares"]))
        close(np.array(list(fit.estimates.values()))/estimates, np.ones(len(estimates)), 2e-6)
        close(2*fit.J, squares, 1e-6)
        close(fit.sigma**2*fit.degrees, squares, 1e-6)
        J = fit.misfit.jacobian(fit.x)                  # NIST's deviations are those of J^T J
        close(fit.sigma*np.sqrt(np.diag(np.linalg.inv(J.T @ J)))/deviations, np.ones(len(estimates)), 1e-5)


def test_exact_hessian():
    """of BoxBOD, which is curved, from the formula: standard errors, correlation, Student's quantile"""
    fit, of = certified("BoxBOD")
    (a, b), squares, x, y = of["estimates"], of["squares"], np.array(of["x"]), np.array(of["y"])
    E = np.exp(-b*x)
    r, J = a*(1 - E) - y, np.stack([1 - E, a*x*E], axis=1)
    H = J.T @ J + np.array([[0, (r*x*E).sum()], [(r*x*E).sum(), -(r*a*x**2*E).sum()]])
    C = np.linalg.inv(H)*squares/4
    close(fit.covariance, C, 1e-4)
    close(fit.errors["b2"], np.sqrt(C[1, 1]), 1e-4)
    close(fit.correlation[0, 1], C[0, 1]/np.sqrt(C[0, 0]*C[1, 1]), 1e-4)
    low, high = fit.interval("b1")
    close((high - low)/2, 2.7764451052*np.sqrt(C[0, 0]), 1e-4)          # t of 4 degrees of freedom, 0.975
    close((high + low)/2, a, 1e-6)


DECAY = costate.Model("model decay\nparameter k = 0.7, A0 = 2\nstate A = A0\nA' = -k*A\n", compiled=False)
T = np.linspace(0.25, 4, 16)
SEEN = 2*np.exp(-0.7*T) + 0.05*np.random.default_rng(3).standard_normal(16)


def test_unknown_deviation():
    """the likelihood has its maximum at sd^2 = squares/values; for k and A0 it is the fit by least squares"""
    guess = {"k": Unknown(1, scale="log10"), "A0": 1.0}
    squares = costate.fit(DECAY, Measurements(T, SEEN), guess)
    for method in ("trust-exact", "trust-krylov", "L-BFGS-B"):
        fit = costate.fit(DECAY, Measurements(T, SEEN, sigma="sd"), {**guess, "sd": Unknown(0.3, scale="log")},
                          method=method)
        close(fit.estimates["sd"], np.sqrt(2*squares.J/16), 1e-4)
        close(fit.x[:2], squares.x, 1e-4)
        close(fit.errors["sd"], fit.estimates["sd"]/np.sqrt(32), 1e-2)          # 1/sqrt(2 n) of log sd
    assert squares.degrees == 14 and squares.scales == ["log10", "linear"]
    close(squares.errors["k"], np.log(10)*squares.estimates["k"]*np.sqrt(squares.covariance[0, 0]), 1e-12)


def test_bounds():
    """A0 is held by its bound, by either search; the rest is that of a fit with this A0"""
    data = Measurements(T, SEEN, sigma=0.05)
    alone = costate.fit(DECAY, data, {"k": 1.0}, p={"A0": 1.8})
    for more in (dict(method="least_squares"), dict(method="trust-exact"), dict(method="L-BFGS-B")):
        fit = costate.fit(DECAY, data, {"k": 1.0, "A0": Unknown(1.5, 0.5, 1.8)}, **more)
        assert fit.at_bound == ["A0"] and np.isnan(fit.errors["A0"]) and fit.degrees == 15, more
        close(fit.estimates["k"], alone.estimates["k"], 1e-5)
        close(fit.errors["k"], alone.errors["k"], 1e-4)
        assert "A0 is at its bound" in fit.summary()
    free = costate.fit(DECAY, data, {"k": 1.0, "A0": 1.5})
    near = costate.fit(DECAY, data, {"k": 1.0, "A0": Unknown(1.5, 0.5, 2.05)})
    assert near.at_bound == [] and near.interval("A0")[1] == 2.05 and near.interval("A0")[0] > 1.9
    # the search begins at a bound, or meets bounds on its way
    for k, A0 in ((Unknown(1.0), Unknown(0.5, 0.5, 4)), (Unknown(2.3, 0.55, 2.47), Unknown(1.86, 1.767, 2.483)),
                  (Unknown(1.94, 0.126, 2.334), Unknown(2.832, 1.579, 2.855))):
        for method in ("least_squares", "trust-exact", "trust-krylov", "L-BFGS-B", "Nelder-Mead"):
            released = costate.fit(DECAY, data, {"k": k, "A0": A0}, method=method)
            close(released.x, free.x, 1e-4)
            assert released.converged and not released.at_bound


def test_undetermined():
    """only the product of factor and A0 is known, and `unused` nothing: both are named, by either search"""
    model = costate.Model("model decay\nparameter k = 0.7, A0 = 2, unused = 1\nstate A = A0, B = unused\nA' = -k*A\n"
                          "B' = -B\n", compiled=False)
    for sigma, more in ((0.05, {}), ("sd", {"sd": Unknown(0.1, scale="log")})):
        fit = costate.fit(model, Measurements(T, SEEN, "factor*A", sigma=sigma),
                          {"k": 1.0, "A0": 1.5, "factor": 1.2, "unused": 0.7, **more})
        one, other = sorted((direction.weights for direction in fit.undetermined), key=len)
        assert list(one) == ["unused"] and sorted(other) == ["A0", "factor"]
        u = fit.estimates
        close(other["A0"]/other["factor"], -u["A0"]/u["factor"], 1e-5)
        assert fit.errors["A0"] == np.inf and np.isnan(fit.correlation[1, 0]) and fit.is_minimum
        free = costate.fit(DECAY, Measurements(T, SEEN, sigma=sigma), {"k": 1.0, "A0": 1.5, **more})
        close(fit.errors["k"], free.errors["k"], 1e-4)
        assert "do not determine" in fit.summary() and "not determined" in fit.summary()


def test_undetermined_pairs():
    """two pairs that are not determined are named as such, whatever basis the decomposition has found, and whatever
    their units are"""
    model = costate.Model("model two\nparameter k = 0.7, m = 0.3, A0 = 2, B0 = 3e6\nstate A = A0, B = B0\nA' = -k*A\n"
                          "B' = -m*B\n", compiled=False)
    values = np.stack([SEEN, 4*np.exp(-0.3*T)], axis=1)
    fit = costate.fit(model, Measurements(T, values, ["a*A", "b*B"], sigma=0.05),
                      {"k": 1.0, "m": 0.5, "A0": 1.5, "B0": 2e6, "a": 1.2, "b": 1e-6})
    assert sorted(sorted(direction.weights) for direction in fit.undetermined) == [["A0", "a"], ["B0", "b"]]
    pair = next(direction.weights for direction in fit.undetermined if "b" in direction.weights)
    close(pair["b"]/pair["B0"], -fit.estimates["b"]/fit.estimates["B0"], 1e-5)
    assert np.isfinite(fit.errors["k"]) and np.isfinite(fit.errors["m"])


def test_priors():
    """a prior makes it determined: of a linear problem the posterior is known"""
    data = Measurements(T, SEEN, "factor*A", sigma=0.05)
    fit = costate.fit(DECAY, data, {"factor": Unknown(1.2, prior=("normal", 1.1, 0.2))}, p={"k": 0.7, "A0": 2.0})
    f = 2*np.exp(-0.7*T)
    weight = (f**2).sum()/0.05**2 + 1/0.2**2
    close(fit.estimates["factor"], ((f*SEEN).sum()/0.05**2 + 1.1/0.2**2)/weight, 1e-7)
    close(fit.errors["factor"], 1/np.sqrt(weight), 1e-7)
    assert fit.degrees == 16                            # the prior is one residual more
    fails(ValueError, "without priors", costate.fit, DECAY, Measurements(T, SEEN), {
        "k": Unknown(1.0, prior=("normal", 1.1, 0.2))})


def test_several_starts():
    """y = sin(w t) has a minimum of its own near each frequency that fits: the best is found from many starts"""
    model = costate.Model("model wave\nparameter w = 1\nstate u = 0, v = w\nu' = v\nv' = -w^2*u\n", compiled=False)
    t = np.linspace(0.3, 9, 30)
    data = Measurements(t, np.sin(3*t), "u", sigma=0.1)
    alone = costate.fit(model, data, {"w": Unknown(1.2, 0.5, 6)})
    fit = costate.fit(model, data, {"w": Unknown(1.2, 0.5, 6)}, starts=20, seed=2, threads=2, progress=False)
    assert alone.J > fit.J + 100 and len(fit.starts) == 20
    close(fit.estimates["w"], 3, 1e-6)
    assert np.all(np.diff(fit.starts) >= 0) and "of 20 starts" in fit.summary()
    again = costate.fit(model, data, {"w": Unknown(1.2, 0.5, 6)}, starts=20, seed=2, threads=1, progress=False)
    assert np.array_equal(fit.starts, again.starts)


def test_tolerances():
    """tolerances that are too coarse are reduced until the estimate is right to tol of its error; the rest is told"""
    data = Measurements(T, SEEN, sigma=0.05)
    tight = costate.fit(costate.Problem(DECAY, rtol=1e-12, atol=1e-13), data, {"k": 1.0, "A0": 1.5})
    guess = {"k": 1.0, "A0": 1.5}
    fit = costate.fit(costate.Problem(DECAY, method="dopri5", rtol=1e-1, atol=1e-1), data, guess, tol=1e-3)
    assert fit.rtol < 1e-1 and fit.relative_integration <= 1e-3
    assert np.all(np.abs(fit.x - tight.x) < 2e-3*np.array(list(tight.errors.values())))
    loose = costate.fit(costate.Problem(DECAY, method="dopri5", rtol=1e-2, atol=1e-2), data, guess, tol=10)
    assert loose.rtol == 1e-2
    for k, name in enumerate(loose.names):              # first order
        assert abs(loose.integration[name] - (tight.x - loose.x)[k]) < 0.2*abs((tight.x - loose.x)[k])


def test_coarse_first_search():
    """with tolerances a hundred times those of the problem, but rtol of at most 1e-3; then with its own"""
    class Seen(costate.Misfit):
        factors = ()

        def with_factor(self, factor):
            Seen.factors += (factor,)
            return super().with_factor(factor)
    for rtol, factors in ((1e-8, (100.0, 1.0)), (1e-4, (10.0, 1.0)), (1e-2, (1.0, 1.0))):
        Seen.factors = ()
        problem = costate.Problem(DECAY, rtol=rtol, atol=rtol)
        fitted(Seen(problem, Measurements(T, SEEN, sigma=0.05), {"k": 1.0}), tol=10)
        close(Seen.factors, factors, 1e-12)


def test_fewer_runs():
    """One run serves the residuals and their Jacobian: fewer runs than with differences, and the same estimate"""
    from scipy.optimize import least_squares
    misfit = costate.Misfit(DECAY, Measurements(T, SEEN, sigma=0.05), {"k": 1.0, "A0": 1.0})
    whole = least_squares(misfit.residuals, misfit.guess, xtol=1e-10)
    fit = costate.fit(DECAY, Measurements(T, SEEN, sigma=0.05), {"k": 1.0, "A0": 1.0})
    close(fit.x, whole.x, 1e-6)
    assert fit.evaluations < whole.nfev*3
    runs, problem = [], misfit.experiments[0].problem
    integrate = problem.integrate
    problem.integrate = lambda *at: runs.append(at) or integrate(*at)
    for x in (fit.x + 0.1, fit.x + 0.2):
        for call in (misfit.residuals, misfit.jacobian, misfit.value, misfit.gradient, misfit.hessian, misfit.fisher):
            call(x)
    assert len(runs) == 2, len(runs)


def test_without_second_derivatives():
    """functions that are not traced: a likelihood is maximised by gradients, the Hessian is by differences"""
    data = Measurements(T, SEEN, ["A"], sigma=0.05, censored=np.where(SEEN < 0.2, -1, 0))
    fits = [costate.fit(costate.Problem(lambda t, y, p: -p[0]*y, rtol=1e-9, atol=1e-11, trace=trace), data,
                        {"k": 1.0, "y0[A]": 1.0}, y0=[1.0], states=["A"], parameters=["k"])
            for trace in ("auto", False)]
    assert [fit.misfit.has_hessian for fit in fits] == [True, False]
    close(fits[1].J, fits[0].J, 1e-8)
    close(fits[1].x, fits[0].x, 1e-4)
    close(fits[1].covariance, fits[0].covariance, 1e-4)


def test_laplace_noise():
    """the estimate of a factor is a weighted median; errors are those of the Fisher information"""
    f = np.exp(-0.7*T)
    fit = costate.fit(DECAY, Measurements(T, SEEN, "factor*A", sigma=0.05, noise="laplace"), {"factor": 1.2},
                      p={"k": 0.7, "A0": 1.0})
    order = np.argsort(SEEN/f)
    middle = order[np.searchsorted(np.cumsum(f[order]), f.sum()/2)]
    close(fit.estimates["factor"], SEEN[middle]/f[middle], 1e-4)
    close(fit.errors["factor"], 0.05/np.sqrt((f**2).sum()), 1e-6)
    both = costate.fit(DECAY, Measurements(T, SEEN, sigma=0.05, noise="laplace"), {"k": 1.0, "A0": 1.0})
    r = np.abs(both.misfit.residuals(both.x))
    assert np.sum(r < 1e-3) >= 2                        # as many as unknowns are met, at least


def test_refusals():
    data = Measurements(T, SEEN, sigma=0.05)
    fit = costate.fit(DECAY, data, {"k": 1.0})
    for words, call in (
            ("'q' is no unknown", lambda: costate.fit(DECAY, data, {"q": 1.0})),
            ("guess names no unknowns", lambda: costate.fit(DECAY, data, {})),
            ("guess has shape (3,)", lambda: costate.fit(DECAY, data, [1, 2, 3])),
            ("outside its bounds", lambda: costate.fit(DECAY, data, {"k": Unknown(3, 1, 2)})),
            ("no finite number on the scale 'log10'", lambda: costate.fit(DECAY, data, {
                "k": Unknown(-1, scale="log10")})),
            ("the first must be less", lambda: Unknown(1, 2, 1)),
            ("scale is 'square'", lambda: Unknown(1, scale="square")),
            ("prior is ('cauchy', 1, 2)", lambda: Unknown(1, prior=("cauchy", 1, 2))),
            ("there are no data: values are empty", lambda: Measurements(T, np.nan*T)),
            ("there are no data", lambda: costate.fit(DECAY, [], {"k": 1.0})),
            ("one row for each time", lambda: Measurements(T, SEEN[1:])),
            ("must be positive", lambda: Measurements(T, SEEN, sigma=0)),
            ("noise is 'white'", lambda: Measurements(T, SEEN, noise="white")),
            ("no logarithm", lambda: Measurements(T, SEEN - 1, sigma=1, noise="log-normal")),
            ("censored is -1", lambda: Measurements(T, SEEN, sigma=1, censored=2*np.ones(16))),
            ("sigma is None", lambda: costate.fit(DECAY, Measurements(T, SEEN, noise="laplace"), {"k": 1.0})),
            ("for all or none", lambda: costate.fit(DECAY, [data, Measurements(T, SEEN)], {"k": 1.0})),
            ("values has 2 columns", lambda: costate.fit(DECAY, Measurements(T, np.ones((16, 2)), sigma=1), {
                "k": 1.0})),
            ("set t0 to a time before", lambda: costate.fit(DECAY, data, {"k": 1.0}, t0=1.0)),
            ("names 'q'", lambda: costate.fit(DECAY, data, {"k": 1.0}, p={"q": 1})),
            ("which is neither a number nor one of the unknowns", lambda: costate.fit(DECAY, [Condition(
                data, p={"A0": "other"})], {"k": 1.0})),
            ("method is 'newton'", lambda: costate.fit(DECAY, data, {"k": 1.0}, method="newton")),
            ("needs normal noise", lambda: costate.fit(DECAY, Measurements(T, SEEN, sigma=1, noise="laplace"), {
                "k": 1.0}, method="least_squares")),
            ("needs finite bounds", lambda: costate.fit(DECAY, data, {"k": 1.0}, starts=3)),
            ("starts is 0", lambda: costate.fit(DECAY, data, {"k": 1.0}, starts=0)),
            ("tol is 0", lambda: costate.fit(DECAY, data, {"k": 1.0}, tol=0)),
            ("sigma cannot be computed", lambda: costate.fit(DECAY, Measurements([1.0], [1.0]), {"k": 1.0})),
            ("'q' is no unknown of this fit", lambda: fit.interval("q")),
            ("between 0 and 1", lambda: fit.interval("k", 95)),
            ("y0 is None", lambda: costate.fit(costate.Problem(lambda t, y, p: -p*y), data, [1.0]))):
        fails(ValueError, words, call)
    for words, call in (
            ("data is None", lambda: costate.fit(DECAY, None, {"k": 1.0})),
            ("data of a condition are Measurements", lambda: costate.fit(DECAY, [1, 2], {"k": 1.0})),
            ("the guess of k is 'x'", lambda: costate.fit(DECAY, data, {"k": "x"}))):
        fails(TypeError, words, call)
    memory = costate.Model("model x\nparameter k = 1, b = 1\nstate A = 1\nmemory m = 0\nA' = -k*A + m\nevent e at 1\n"
                           "    m := b\n", compiled=False)
    fails(ValueError, "depends on memory variables (m)", costate.fit, memory, Measurements(T, SEEN, "A + m", sigma=1), {
        "k": 1.0})
    pair = costate.Model("model x\nparameter k = 1, b = 1\nstate A = 1, B = b\nA' = -k*A\nB' = -k*B\n", compiled=False)
    fails(ValueError, "must give all initial values that depend on parameters: y0[B]", costate.fit, pair,
          Measurements(T, SEEN, "A", sigma=1), {"k": 1.0, "y0[A]": 1.0})
    fails(ValueError, "7 is not measured", costate.fit, DECAY, Measurements(T, SEEN, 7, sigma=1), {"k": 1.0})
    ends = costate.Problem(lambda t, y, p: -p*y, events=[costate.Event(lambda t, y, p: y[0] - 0.5, terminal=True)])
    fails(ArithmeticError, "an event ended the run at t = 0.69", costate.fit, ends, data, [1.0], y0=[1.0])
    fails(TypeError, "expected a costate.Problem", costate.fit, "decay", data, {"k": 1.0})
    fails(costate.ModelError, "Q is not declared", costate.fit, DECAY, Measurements(T, SEEN, "2*Q", sigma=1), {
        "k": 1.0})
    burst = costate.Model("model burst\nparameter k = 1\nstate A = 1\nA' = k*A^2\n", compiled=False)
    fails(costate.CostateError, "t = ", costate.fit, burst, data, {"k": 1.0})


if __name__ == "__main__":
    run_all(globals())
