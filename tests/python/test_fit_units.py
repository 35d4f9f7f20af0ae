"""test_fit_units.py - a fit depends neither on units nor on how far away the search begins; priors and data at the
limits of what is sensible give the right numbers or a sentence."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                                      # noqa: E402

from cases import fails, run_all                        # noqa: E402
from common import close                                # noqa: E402
import costate                                          # noqa: E402
from costate import Measurements, Unknown               # noqa: E402

DECAY = costate.Model("model decay\nparameter k = 0.5, A0 = 2\nstate A = A0\nA' = -k*A\n", compiled=False)
STILL = costate.Model("model still\nparameter a = 1, b = 1\nstate y = a\ny' = 0*y\n", compiled=False)
T = np.linspace(0.2, 5, 12)
SEEN = 2*np.exp(-0.7*T)*(1 + 0.05*np.random.default_rng(1).standard_normal(12))


def test_units():
    """estimates and errors are proportional to the unit of the data, with every scale of the unknowns"""
    for sigma in (None, 0.05):
        one = costate.fit(DECAY, Measurements(T, SEEN, sigma=sigma), {"k": 0.5, "A0": 1.0})
        for unit in (1e-15, 1e-9, 1e15):
            for more in (dict(), dict(scale="log"), dict(low=0, high=1e3)):
                high = {} if "low" not in more else dict(high=1e3*unit)
                fit = costate.fit(DECAY, Measurements(T, unit*SEEN, sigma=sigma and unit*sigma),
                                  {"k": Unknown(0.5, **more), "A0": Unknown(unit, **{**more, **high})})
                assert fit.converged and not fit.at_bound, (sigma, unit, more)
                for name, scale in (("k", 1), ("A0", unit)):
                    assert abs(fit.estimates[name]/scale - one.estimates[name]) < 1e-3*one.errors[name], (unit, more)
                    close(fit.errors[name]/scale/one.errors[name], 1, 1e-3)


def test_units_of_other_searches():
    """small and large unknowns: L-BFGS-B and Nelder-Mead see them in units of their standard errors"""
    for noise, method in (("normal", "L-BFGS-B"), ("laplace", None), ("normal", "trust-exact")):
        one = costate.fit(DECAY, Measurements(T, SEEN, sigma=0.05, noise=noise), {"k": 0.5, "A0": 1.0}, method=method)
        for unit in (1e-12, 1e12):
            data = Measurements(T, unit*SEEN, sigma=0.05*unit, noise=noise)
            fit = costate.fit(DECAY, data, {"k": 0.5, "A0": Unknown(unit, 0, 1e13)}, method=method)
            assert not fit.at_bound, (noise, method, unit)
            assert abs(fit.estimates["A0"]/unit - one.estimates["A0"]) < 1e-2*one.errors["A0"], (noise, method, unit)


def test_residuals_of_zero():
    """values that the model meets exactly have sigma 0, and estimates no error"""
    fit = costate.fit(STILL, Measurements([1, 2, 3], [2.0, 2, 2]), {"a": 1.0})
    assert fit.sigma == 0 and fit.errors["a"] == 0 and fit.interval("a") == (2.0, 2.0)
    close([fit.profile("a").low, fit.profile("a").high], [2, 2], 2e-5)          # of the first step, 0.2
    fails(ArithmeticError, "lower bound", costate.fit, STILL, Measurements([1, 2, 3], [2.0, 2, 2], sigma="sd"),
          {"a": 1.0, "sd": Unknown(0.1, scale="log")})


def test_degrees():
    """two unknowns of which one combination is determined count as one: sigma is that of the fit of their sum"""
    model = costate.Model("model sum\nparameter j = 0.2, k = 0.3\nstate A = 2\nA' = -(j + k)*A\n", compiled=False)
    both = costate.fit(model, Measurements(T, SEEN), {"j": 0.5, "k": 0.1})
    alone = costate.fit(DECAY, Measurements(T, SEEN), {"k": 0.5})
    assert both.degrees == alone.degrees == 11 and len(both.undetermined) == 1
    close(both.sigma, alone.sigma, 1e-6)


def test_prior_that_excludes():
    """the search stays where a uniform prior has a density"""
    for sigma, more in ((0.05, {}), (None, {}), ("sd", {"sd": Unknown(0.1, scale="log")})):
        for prior in (dict(prior=("uniform", 0.1, 0.6)), dict(
                scale="log10", prior=("parameterScaleUniform", -1, np.log10(0.6)))):
            data = Measurements(T, SEEN, sigma=sigma)
            fit = costate.fit(DECAY, data, {"k": Unknown(0.5, **prior), "A0": 1.0, **more})
            held = costate.fit(DECAY, data, {"A0": 1.0, **more}, p={"k": 0.6})
            assert fit.at_bound == ["k"] and np.isfinite(fit.J)
            close(fit.estimates["k"], 0.6, 1e-8)
            close(fit.estimates["A0"], held.estimates["A0"], 1e-5)
    fails(ValueError, "outside its bounds", costate.fit, DECAY, Measurements(T, SEEN), {
        "k": Unknown(1.5, prior=("uniform", 0.1, 0.6))})
    fails(ValueError, "bounds are 0.7", Unknown, 0.8, 0.7, 1, prior=("uniform", 0.1, 0.6))


def test_laplace_prior():
    """y = a is measured 4 times with mean 2 and sigma 0.2; exp(-|a - m|/b) moves the mode by 0.01/b or holds it at m"""
    data = Measurements([1, 2, 3, 4], [1.9, 2.1, 1.8, 2.2], sigma=0.2)
    for kind, scale, mean, b, mode, error in (("laplace", "linear", 3.0, 0.5, 2.02, 1/np.sqrt(104)),
                                              ("laplace", "linear", 2.01, 0.1, 2.01, 1/np.sqrt(200)),
                                              ("logLaplace", "linear", np.log(2.01), 0.01, 2.01, None),
                                              ("parameterScaleLaplace", "log", np.log(2.01), 0.01, 2.01, None)):
        fit = costate.fit(STILL, data, {"a": Unknown(1.0, scale=scale, prior=(kind, mean, b))})
        assert fit.converged and not fit.undetermined, kind
        close(fit.estimates["a"], mode, 1e-4)
        if error is None:                               # of log a: 1/b^2 of the prior, and a^2 of each value
            a = fit.estimates["a"]
            error = a/np.sqrt(1/b**2 + 100*a**2)
        close(fit.errors["a"], error, 2e-2*error if kind == "logLaplace" else 1e-4)


def test_sigma_from_afar():
    """trials at which sigma is negative are rejected, wherever the search begins"""
    least = costate.fit(DECAY, Measurements(T, SEEN), {"k": 0.5, "A0": 1.0})
    for guess in (1e-6, 1e-3, 1e6):
        fit = costate.fit(DECAY, Measurements(T, SEEN, sigma="sd"), {"k": 0.5, "A0": 1.0, "sd": guess})
        assert fit.converged
        close(fit.estimates["sd"]/np.sqrt(2*least.J/12), 1, 1e-5)


def test_refusals():
    """what has the number of values but another shape, and what is no number"""
    values = np.ones((3, 2))
    for wrong in (np.ones((2, 3)), np.ones((1, 2)), np.ones((3, 3))):
        fails(ValueError, "expected (3, 2)", Measurements, [1, 2, 3], values, sigma=wrong)
        fails(ValueError, "expected (3, 2)", Measurements, [1, 2, 3], values, sigma=1, censored=wrong)
    of = Measurements([1, 2, 3], values, sigma=np.array([[1.0], [2], [3]]), censored=[[0, 1], [-1, 0], [0, 0]])
    close(np.transpose(of.sigma), [[1, 1], [2, 2], [3, 3]])
    assert of.censored.tolist() == [[0, 1], [-1, 0], [0, 0]]
    close(Measurements([1, 2], [1, 1], censored=[0, 1], sigma=[1, 2]).censored[:, 0], [0, 1])
    for wrong in ([0.5, 0, 0], [np.nan, 0, 0], [2, 0, 0]):
        fails(ValueError, "censored is -1", Measurements, [1, 2, 3], [1, 1, 1], sigma=1, censored=wrong)
    fails(ValueError, "finite", Measurements, [1, 2], [1, 1], sigma=[1, np.inf])
    fails(ValueError, "expected (kind", Unknown, 1, prior=5)
    fails(ValueError, "starts is nan", costate.fit, DECAY, Measurements(T, SEEN), {"k": 1.0}, starts=np.nan)
    fails(ValueError, "threads is -1", costate.fit, DECAY, Measurements(T, SEEN), {"k": 1.0}, threads=-1)
    fails(ValueError, "'k' changes nothing", costate.fit, DECAY, costate.Condition(Measurements(T, SEEN), p={"k": 0.3}),
          {"k": 0.5, "A0": 1.0})
    fails(ValueError, "y0 is 2.0; expected a list", costate.fit, costate.Problem(lambda t, y, p: -p*y), Measurements(
        T, SEEN), [1.0], y0=2.0)
    fails(ValueError, "no finite number", costate.fit, STILL, Measurements(
        [1, 2, 3], [1.0, 2, 3], "y - 2", sigma=0.1, noise="log-normal"), {"a": 1.0})


if __name__ == "__main__":
    run_all(globals())
