"""test_fit_confidence.py - profiles and bands against closed forms: intervals, ends at bounds and at infinity, the
other unknowns along a profile, Student's quantiles, bands of predictions; pictures and the page show them."""
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                                      # noqa: E402
from scipy.optimize import brentq                       # noqa: E402
from scipy.stats import norm, t as student              # noqa: E402

from cases import fails, run_all                        # noqa: E402
from common import close                                # noqa: E402
import costate                                          # noqa: E402
from costate import Condition, Measurements, Unknown    # noqa: E402

DECAY = costate.Model("model decay\nparameter k = 0.7, A0 = 2\nstate A = A0\nA' = -k*A\noutput twice = 2*A\n",
                      compiled=False)
T = np.linspace(0.25, 4, 8)
SEEN = 2*np.exp(-0.7*T) + 0.2*np.random.default_rng(5).standard_normal(8)
SIGMA = 0.2
PLACE = tempfile.TemporaryDirectory()


def fitted(sigma=SIGMA, **guess):
    return costate.fit(DECAY, Measurements(T, SEEN, "A", sigma=sigma), guess or {"k": 1.0, "A0": 1.0})


def squares(k):
    """least sum of squares over A0, and where it is: A0 is linear"""
    f = np.exp(-np.multiply.outer(k, T))
    best = (f @ SEEN)/(f**2).sum(axis=-1)
    return (SEEN**2).sum() - best*(f @ SEEN), best


def ends(limit, unit):
    """of the profile of k, where it has risen by this limit"""
    least = brentq(lambda k: squares(k + 1e-6)[0] - squares(k - 1e-6)[0], 0.3, 1.5)
    rise = lambda k: (squares(k)[0] - squares(least)[0])/unit - limit             # noqa: E731
    return brentq(rise, 1e-3, least), brentq(rise, least, 20)


def test_profile():
    for sigma, quantile in ((SIGMA, norm.ppf(0.975)), (None, student.ppf(0.975, 6))):
        fit = fitted(sigma)
        unit = SIGMA**2 if sigma else 2*fit.J/6
        found = fit.profile("k")
        close([found.low, found.high], ends(quantile**2, unit), 1e-4)
        close(found.rise, (squares(found.values)[0] - squares(fit.estimates["k"])[0])/unit, 1e-5)
        close(found.at["A0"], squares(found.values)[1], 1e-4)
        assert found.closed == (True, True) and not found.lower and np.all(np.diff(found.values) > 0)
        laplace = fit.interval("k")
        assert found.high > laplace[1] and found.low > laplace[0]       # asymmetric, as exp(-k t) is curved
        assert fit.profile("k") is found and fit.profile("k", 0.5).high < found.high


def test_profile_of_a_linear_unknown():
    """A0 with k fixed: J is quadratic, and profile and Laplace's interval are the same; so on its log scale"""
    fit = costate.fit(DECAY, Measurements(T, SEEN, "A", sigma=SIGMA), {"A0": 1.0})
    close([fit.profile("A0").low, fit.profile("A0").high], fit.interval("A0"), 1e-4)
    scaled = costate.fit(DECAY, Measurements(T, SEEN, "A", sigma=SIGMA), {"A0": Unknown(1.0, scale="log10")})
    close([scaled.profile("A0").low, scaled.profile("A0").high], fit.interval("A0"), 1e-4)


def test_profile_of_a_likelihood():
    """with an unknown deviation: J = n/2 log(squares/n) and constants along k"""
    fit = fitted("sd", k=1.0, A0=1.0, sd=Unknown(0.1, scale="log"))
    found, n = fit.profile("k"), len(T)
    close(found.rise, n*np.log(squares(found.values)[0]/squares(fit.estimates["k"])[0]), 1e-4)
    close(found.at["sd"], np.sqrt(squares(found.values)[0]/n), 1e-4)


def test_lower_values():
    """a profile that finds a smaller J says that the fit is not at the minimum"""
    fit = fitted()
    assert not fit.profile("k").lower
    fit.J += 0.1
    assert fit.profile("k", 0.9).lower


def test_open_ends():
    """values that have reached the plateau do not bound the rate above, but at a bound or nowhere"""
    model = costate.Model("model rise\nparameter k = 5\nstate y = 0\ny' = k*(1 - y)\n", compiled=False)
    data = Measurements([1.0, 2.0, 3.0], [1.02, 0.97, 1.01], sigma=0.05)
    fit = costate.fit(model, data, {"k": Unknown(5.0, 0.01, 50.0)})
    found = fit.profile("k")
    assert found.closed == (True, False) and np.isclose(found.high, 50)
    rise = lambda k: (((1 - np.exp(-k*data.times) - data.values[:, 0])**2).sum()            # noqa: E731
                      - ((1 - np.exp(-fit.estimates["k"]*data.times) - data.values[:, 0])**2).sum())/0.05**2
    close(found.low, brentq(lambda k: rise(k) - norm.ppf(0.975)**2, 0.5, fit.estimates["k"]), 1e-3)
    free = costate.fit(model, data, {"k": Unknown(5.0, scale="log10")}).profile("k")
    assert free.high == np.inf and free.closed == (True, False)
    close(free.low, found.low, 1e-3)


def test_bands():
    """A and 2 A, at times that were not measured and at t0"""
    fit = fitted()
    t = np.array([0.0, 1.3, 6.0])
    k, A0 = fit.x
    found = fit.predict(t, "A", level=0.9)
    G = np.stack([-A0*t*np.exp(-k*t), np.exp(-k*t)], axis=1)
    deviation = np.sqrt(np.einsum("ti,ij,tj->t", G, fit.covariance, G))
    close(found.value[:, 0], A0*np.exp(-k*t), 1e-6)
    close(found.deviation[:, 0], deviation, 1e-5)
    close(found.high - found.low, 2*norm.ppf(0.95)*found.deviation, 1e-12)
    both = costate.fit(DECAY, {"x": Condition(Measurements(T, SEEN, "twice", sigma=0.4)),
                               "y": Condition(Measurements(T, SEEN, "A", sigma=0.2), p={"A0": 3.0})},
                       {"k": 1.0, "A0": 1.0})
    close(both.predict(t[1:], condition="y").value[:, 0], 3*np.exp(-both.x[0]*t[1:]), 1e-6)
    close(both.predict(t[1:]).value[:, 0], 2*both.x[1]*np.exp(-both.x[0]*t[1:]), 1e-6)
    fails(ValueError, "is not measured in condition 'x'", both.predict, t, "A")
    fails(ValueError, "there is no condition 'z'", both.predict, t, condition="z")


def test_runs_that_fail():
    """y = 1/(1 - k t) is infinite a little beyond the end of the interval, where steps of the profile find no run"""
    model = costate.Model("model blow\nparameter k = 0.5\nstate y = 1\ny' = k*y^2\n", compiled=False)
    fit = costate.fit(model, Measurements([1.5], [1000.0], "y", sigma=900.0), {"k": 0.6})
    q = norm.ppf(0.975)
    close((1/(1 - 1.5*fit.profile("k").high) - 1000)/900, q, 1e-2)


def test_times_of_bands():
    """in any order, more than once, and the start alone"""
    fit = costate.fit(costate.Model("model line\nparameter a = 1, b = 1\nstate y = a\ny' = b\n", compiled=False),
                      Measurements([1, 2, 3], [1.0, 2.1, 2.9], sigma=0.1), {"a": 1.0, "b": 0.5})
    a, b = fit.x
    found = fit.predict([2, 0, 1, 2])
    close(found.t, [2, 0, 1, 2], 0)
    close(found.value[:, 0], a + b*found.t, 1e-8)
    deviation = np.sqrt([[1, t] @ fit.covariance @ [1, t] for t in found.t])
    close(found.deviation[:, 0], deviation, 1e-8)
    start = fit.predict(0)
    close([start.value[0, 0], start.deviation[0, 0]], [a, fit.errors["a"]], 1e-8)
    for wrong in (-1, [], np.nan, [[1, 2]]):
        fails(ValueError, "finite numbers from t0 = 0 on", fit.predict, wrong)


def test_pictures():
    data = Measurements(T, SEEN, "A", sigma=SIGMA, censored=[0, 0, 0, 0, 0, 0, 1, -1], noise="laplace")
    fit = costate.fit(DECAY, data, {"k": Unknown(1.0, 0.1, 3), "A0": Unknown(1.0, 0.5, 5)}, starts=3, progress=False)
    ax = fit.plot()
    line = ax.lines[0]
    close(line.get_ydata(), fit.x[1]*np.exp(-fit.x[0]*line.get_xdata()), 1e-5)
    assert len(ax.collections) >= 1                     # the band
    assert len(fit.plot_residuals().lines[0].get_xdata()) == 6          # those of censored values are not shown
    assert len(fit.plot_starts().lines[0].get_xdata()) == 3
    close(fit.plot_profile("k").lines[0].get_xdata(), fit.profile("k").values, 1e-12)


def test_page():
    """it stands alone: nothing is loaded; every number of the summary is in it"""
    fit = costate.fit(DECAY, [Condition(Measurements(T, SEEN, "A", sigma=SIGMA)),
                              Condition(Measurements(T, SEEN, "A", sigma=SIGMA))], {"k": 1.0, "A0": 1.0})
    path = os.path.join(PLACE.name, "fit.html")
    fit.write_page(path, profiles=True)
    with open(path, encoding="utf-8") as file:
        page = file.read()
    assert page.count("<svg") == 4 and page.count("</html>") == 1
    assert not re.findall(r"<(?:script|link|img|iframe)|@import|url\((?!#)", page)
    assert all(reference.startswith("#") for reference in re.findall(r'href="([^"]*)"', page))
    for word in (f"{fit.estimates['k']:.5g}", f"{fit.profile('A0').low:.4g}", "integration", "2 conditions"):
        assert word in page, word


if __name__ == "__main__":
    run_all(globals())
