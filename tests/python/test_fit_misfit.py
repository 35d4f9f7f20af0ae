"""test_fit_misfit.py - the misfit of a fit against a closed form: value, residuals, Jacobian, gradient, Hessian and
Gauss-Newton products, with several conditions, scales, noise, censored values and priors; of equations and of
functions."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                                      # noqa: E402
from scipy.stats import laplace, lognorm, norm          # noqa: E402

from cases import run_all                               # noqa: E402
from common import close                                # noqa: E402
import costate                                          # noqa: E402
from costate import Condition, Measurements, Misfit, Unknown    # noqa: E402

MODEL = costate.Model("""model decay
parameter k = 0.7, A0 = 2
state A = A0
A' = -k*A
output double = 2*A
""", compiled=False)
TIGHT = dict(rtol=1e-11, atol=1e-13)
T = np.array([0, 0.5, 1, 2, 3.0])
SEEN = np.array([2.7, 1.8, 1.2, 0.7, 0.33])


def of_model():
    """five unknowns in three conditions: a factor and a deviation, outputs, a bound below and one above"""
    noisy = Measurements(T, SEEN, "factor*A", sigma="sd")
    doubled = Measurements(T[[3, 1, 2, 4]], [1.1, 2.4, 1.9, np.nan], "double", sigma=0.2, noise="laplace")
    bounded = Measurements(T[1:], [1.2, 1, 0.5, 0.3], "A", sigma=0.2, censored=[0, -1, 1, 0], noise="log-normal")
    return Misfit(costate.Problem(MODEL, **TIGHT),
                  {"a": Condition([noisy, doubled]), "b": Condition(bounded, p={"A0": "other"}),
                   "c": Condition(noisy, p={"A0": 3.0})},
                  {"k": Unknown(0.6, 0.01, 10, scale="log10"), "A0": 1.8, "factor": 1.2,
                   "sd": Unknown(0.2, scale="log"), "other": Unknown(1.5, prior=("normal", 1.4, 0.3))})


def density(x):
    """-log of the densities, by SciPy"""
    k, A0, factor, sd, other = 10**x[0], x[1], x[2], np.exp(x[3]), x[4]
    L = sum(norm.logpdf(SEEN, factor*start*np.exp(-k*T), sd).sum() for start in (A0, 3.0))
    L += laplace.logpdf([2.4, 1.9, 1.1], 2*A0*np.exp(-k*T[1:4]), 0.2).sum()
    f = other*np.exp(-k*T[1:])
    L += lognorm.logpdf(1.2, 0.2, scale=f[0]) + lognorm.logpdf(0.3, 0.2, scale=f[3])
    L += lognorm.logcdf(1, 0.2, scale=f[1]) + lognorm.logsf(0.5, 0.2, scale=f[2])
    return -L - norm.logpdf(other, 1.4, 0.3)


def slope(f, x, h=1e-4):
    """derivatives by differences of fourth order: the last axis is that of x"""
    moved = [(8*(f(x + h*d) - f(x - h*d)) - (f(x + 2*h*d) - f(x - 2*h*d)))/(12*h) for d in np.eye(len(x))]
    return np.moveaxis(np.array(moved), 0, -1)


def test_against_densities():
    misfit, d = of_model(), np.array([0.3, -0.7, 0.2, 0.5, 0.4])
    assert (misfit.count, misfit.skipped, misfit.conditions) == (17, 1, 3) and not misfit.is_least_squares
    for x in (misfit.guess, misfit.guess + 0.1):
        close(misfit.value(x), density(x), 1e-9)
        close(misfit.gradient(x), slope(density, x), 1e-8)
        close(misfit.hessian(x), slope(misfit.gradient, x), 1e-8)
        close(misfit.hessp(x, d), misfit.hessian(x) @ d, 1e-11)
        close(misfit.jacobian(x), slope(misfit.residuals, x), 1e-8)
    assert np.allclose(misfit.lower, [-2, -np.inf, -np.inf, -np.inf, -np.inf])


def test_least_squares():
    """J^T J and J^T r, with a normal prior as one residual more, of a logarithmic unknown"""
    values = np.array([[1.3, 2.5], [0.9, 1.9], [np.nan, 1.0]])
    misfit = Misfit(costate.Problem(MODEL, **TIGHT), Measurements(T[1:4], values, ["A", "double"], sigma=[0.1, 0.3]),
                    {"k": Unknown(0.6, scale="log", prior=("normal", 0.5, 0.2)),
                     "A0": Unknown(2, scale="log10", prior=("parameterScaleNormal", 0.2, 0.1))})
    x = misfit.guess + 0.05
    r, J = misfit.residuals(x), misfit.jacobian(x)
    assert misfit.is_least_squares and misfit.skipped == 1 and r.shape == (7,) and J.shape == (7, 2)
    state = 10**x[1]*np.exp(-np.exp(x[0])*T[1:4])
    expected = np.stack([(state - values[:, 0])/0.1, (2*state - values[:, 1])/0.3], axis=1).reshape(-1)
    close(r, [*expected[np.isfinite(expected)], (np.exp(x[0]) - 0.5)/0.2, (x[1] - 0.2)/0.1], 1e-9)
    close(J, slope(misfit.residuals, x), 1e-8)
    close(misfit.gradient(x), J.T @ r, 1e-9)
    d = np.array([0.4, -1.1])
    curved = [(np.exp(x[0]) - 0.5)/0.2**2*np.exp(x[0])*d[0], 0]         # of the prior of k, whose residual is curved
    close(misfit.gauss_newton(x, d), J.T @ (J @ d) + curved, 1e-9)


def chain(t, y, p):
    return np.array([-p[0]*y[0], p[0]*y[0] - p[1]*y[1]])


def closed_chain(x, t):
    """y of chain from (x[2], 0)"""
    k, m, a = x[:3]
    first = a*np.exp(-k*t)
    return np.stack([first, a*k/(m - k)*(np.exp(-k*t) - np.exp(-m*t))], axis=1)


def test_functions():
    """components of y; a function of t, y and p, and a deviation that is a parameter; an unknown initial value"""
    t, values = T[1:], np.array([[0.8, 0.3], [0.5, 0.4], [0.4, 0.5], [0.2, 0.3]])
    problem = costate.Problem(chain, **TIGHT)
    plain = Misfit(problem, Measurements(t, values, sigma=0.1), {"p[0]": 0.5, "p[1]": 0.3, "y0[0]": 1.1}, y0=[1, 0])
    close(plain.residuals(plain.guess), ((closed_chain(plain.guess, t) - values)/0.1).reshape(-1), 1e-9)
    close(plain.jacobian(plain.guess), slope(plain.residuals, plain.guess), 1e-8)
    close(plain.hessian(plain.guess), slope(plain.gradient, plain.guess), 1e-8)
    data = Measurements(t, values, [lambda t, y, p: p[2]*y[0] + 0.1*t, 1],
                        sigma=["p[3]", lambda t, y, p: 0.1 + p[3]*y[1]])
    misfit = Misfit(problem, data, [0.5, 0.3, 1.1, 0.4], y0=[1, 0])
    x = misfit.guess
    y = closed_chain([x[0], x[1], 1.0], t)
    close(misfit.value(x), -norm.logpdf(values[:, 0], x[2]*y[:, 0] + 0.1*t, x[3]).sum()
          - norm.logpdf(values[:, 1], y[:, 1], 0.1 + x[3]*y[:, 1]).sum(), 1e-9)
    close(misfit.gradient(x), slope(misfit.value, x), 1e-8)
    close(misfit.hessian(x), slope(misfit.gradient, x), 1e-8)


def test_functions_of_many_conditions():
    """each condition keeps what it was given for as long as it is used"""
    import gc
    t = T[1:]
    data = Measurements(t, 0*t + 0.5, lambda t, y, p: p[1]*y[0], sigma="p[2]")
    misfit = Misfit(costate.Problem(chain_of_one, **TIGHT), [Condition(data, y0=[start]) for start in (1.0, 2.0, 3.0)],
                    [0.5, 1.1, 0.2], threads=1)
    misfit.value(misfit.guess)
    gc.collect()
    x = misfit.guess + 0.1
    f = np.concatenate([x[1]*start*np.exp(-x[0]*t) for start in (1.0, 2.0, 3.0)])
    close(misfit.value(x), -norm.logpdf(0.5, f, x[2]).sum(), 1e-9)
    close(misfit.hessian(x), slope(misfit.gradient, x), 1e-8)


def chain_of_one(t, y, p):
    return -p[0]*y


def test_names_of_functions():
    data = Measurements(T[1:], [0.8, 0.5, 0.4, 0.2], "a", sigma="sd")
    misfit = Misfit(costate.Problem(chain, **TIGHT), data, {"k": 0.5, "sd": 0.1, "y0[a]": 1.1}, y0=[1, 0],
                    p={"m": 0.3}, states=["a", "b"], parameters=["k", "m", "sd"])
    y = closed_chain([0.5, 0.3, 1.1], T[1:])[:, 0]
    close(misfit.value(misfit.guess), -norm.logpdf(data.values[:, 0], y, 0.1).sum(), 1e-9)


def test_initial_values():
    """of a Model whose initial value is a parameter: an unknown of its own in one condition, doses in others"""
    data = Measurements(T[1:], [1.3, 0.9, 0.5, 0.3], "A", sigma=0.1)
    misfit = Misfit(costate.Problem(MODEL, **TIGHT), [Condition(data), Condition(data, y0={"A": 1.5}, t0=0.25)],
                    {"k": 0.6, "y0[A]": 1.9})
    x = misfit.guess
    close(misfit.residuals(x), [*(1.9*np.exp(-0.6*T[1:]) - data.values[:, 0])/0.1,
                                *(1.5*np.exp(-0.6*(T[1:] - 0.25)) - data.values[:, 0])/0.1], 1e-9)
    close(misfit.jacobian(x), slope(misfit.residuals, x), 1e-8)
    close(misfit.hessian(x), slope(misfit.gradient, x), 1e-8)


def test_problems_of_conditions():
    """other equations in one condition, which share an unknown; the same with functions"""
    data = Measurements(T[1:], [1.3, 0.9, 0.5, 0.3], 0, sigma=0.1)
    grows = costate.Model("model growth\nparameter start = 0.1, k = 1\nstate B = start\nB' = k*B\n", compiled=False)
    misfit = Misfit(costate.Problem(MODEL, **TIGHT), {
        "falls": Condition(Measurements(T[1:], data.values, "A", sigma=0.1)),
        "rises": Condition(Measurements(T[1:], data.values, sigma=0.1), problem=costate.Problem(grows, **TIGHT))},
        {"k": 0.6})
    expected = np.concatenate([2*np.exp(-0.6*T[1:]), 0.1*np.exp(0.6*T[1:])]) - np.tile(data.values[:, 0], 2)
    close(misfit.residuals(misfit.guess), expected/0.1, 1e-9)
    close(misfit.jacobian(misfit.guess), slope(misfit.residuals, misfit.guess), 1e-8)
    functions = Misfit(costate.Problem(lambda t, y, p: -p*y, **TIGHT), [Condition(data), Condition(
        data, problem=costate.Problem(lambda t, y, p: p*y, **TIGHT), y0=[0.1])], [0.6], y0=[2.0])
    close(functions.residuals(functions.guess), misfit.residuals(misfit.guess), 1e-8)


def test_dose_and_time_of_an_event():
    """a dose that is an unknown, at an unknown time: derivatives pass through the event"""
    model = costate.Model("""model doses
parameter k = 0.4, dose = 3, at = 1.2
state A = 1
A' = -k*A
event dosed when t - at rises passes
    A += dose
""", compiled=False)
    t = np.array([0.5, 1.0, 1.5, 2.5])
    misfit = Misfit(costate.Problem(model, **TIGHT), Measurements(t, [0.8, 0.7, 3, 2], sigma=0.1),
                    {"k": 0.5, "dose": 2.5, "at": 1.25})
    x = misfit.guess
    state = np.exp(-x[0]*t) + np.where(t > x[2], x[1]*np.exp(-x[0]*(t - x[2])), 0)
    close(misfit.residuals(x), (state - [0.8, 0.7, 3, 2])/0.1, 1e-9)
    late = np.where(t > x[2], 1, 0)
    jump = late*x[1]*np.exp(-x[0]*(t - x[2]))
    close(misfit.jacobian(x), np.stack([-t*np.exp(-x[0]*t) - (t - x[2])*jump, jump/x[1], x[0]*jump], axis=1)/0.1, 1e-8)


def test_values_at_an_event():
    """a value at the time of a dose is that after it, for the value of J as for its derivatives"""
    model = costate.Model("model doses\nparameter k = 0.5, dose = 2\nstate A = 1\nA' = -k*A\nevent dosed at 1\n"
                          "    A += dose\n", compiled=False)
    t = np.array([0.5, 1.0, 2.0])
    misfit = Misfit(costate.Problem(model, **TIGHT), Measurements(t, [0.7, 2.5, 1.6], sigma=0.1),
                    {"k": 0.6, "dose": 1.9})
    k, dose = x = misfit.guess
    state = np.exp(-k*t) + np.where(t >= 1, dose*np.exp(-k*(t - 1)), 0)
    close(misfit.residuals(x), (state - [0.7, 2.5, 1.6])/0.1, 1e-9)
    close(misfit.jacobian(x), slope(misfit.residuals, x), 1e-8)
    close(misfit.gradient(x), slope(misfit.value, x), 1e-8)


def test_limits_and_memory():
    """a run that begins in a steady state, and a memory variable that an event sets"""
    model = costate.Model("model fed\nparameter feed = 1, k = 0.5, rest = 2\nstate A\nmemory extra = 0\n"
                          "A' = feed - k*A + extra\nstart steady\nevent more at 1\n    extra := rest\n", compiled=False)
    t = np.array([0.5, 1.5, 3.0])
    misfit = Misfit(costate.Problem(model, **TIGHT), Measurements(t, [2, 2.4, 3.9], "A", sigma=0.1),
                    {"feed": 1.2, "k": 0.6, "rest": 1.5})
    feed, k, rest = x = misfit.guess
    state = feed/k + np.where(t > 1, rest/k*(1 - np.exp(-k*(t - 1))), 0)
    close(misfit.residuals(x), (state - [2, 2.4, 3.9])/0.1, 1e-8)
    close(misfit.jacobian(x), slope(misfit.residuals, x), 1e-7)
    close(misfit.hessian(x), slope(misfit.gradient, x), 1e-7)


def test_memory_of_functions():
    """a memory variable whose initial value is unknown: y0 holds it behind the states"""
    problem = costate.Problem(lambda t, y, p, m: -p[0]*y + m, memory=1, **TIGHT)
    misfit = Misfit(problem, Measurements(T[1:], [1.3, 0.9, 0.5, 0.3], 0, sigma=0.1), {"p[0]": 0.6, "y0[0]": 1.4,
                                                                                       "y0[1]": 0.2}, y0=[1.0, 0.0])
    k, start, m = x = misfit.guess
    state = m/k + (start - m/k)*np.exp(-k*T[1:])
    close(misfit.residuals(x), (state - [1.3, 0.9, 0.5, 0.3])/0.1, 1e-9)
    close(misfit.jacobian(x), slope(misfit.residuals, x), 1e-8)
    close(misfit.gradient(x), slope(misfit.value, x), 1e-8)


def test_error_of_the_integration():
    """the estimate tells the gradient of a coarse misfit from that of a tight one, and tolerances are changed"""
    misfit = of_model()
    coarse = misfit.with_factor(1e7)
    x = misfit.guess
    error = misfit.gradient(x) - coarse.gradient(x)
    assert np.linalg.norm(error) > 1e-4 and np.isclose(coarse.rtol, 1e-4) and misfit.rtol == 1e-11
    assert np.linalg.norm(coarse.gradient_error(x) - error) < 0.1*np.linalg.norm(error)


def test_jacobian_by_adjoints():
    """of few values and many unknowns; the same as by tangents.  Unknowns of other conditions cost nothing"""
    names = [f"k{i}" for i in range(9)]
    rate = " + ".join(f"{name}*exp(-{i}*t)" for i, name in enumerate(names))
    model = costate.Model(f"model many\nparameter {', '.join(f'{name} = 0.1' for name in names)}, A0 = 2\n"
                          f"state A = A0^2\nA' = -({rate})*A\noutput seen = A*k0\n", compiled=False)
    few = Measurements([0.5, 1.5], [[3.0, 0.3], [np.nan, 0.2]], ["A", "seen"], sigma=[0.1, 0.2],
                       noise=["normal", "log-normal"])
    guess = {**dict.fromkeys(names, 0.12), "A0": 1.9, "other": 1.5}
    both = {"a": Condition(few), "b": Condition(few, p={"A0": "other"})}
    misfit = Misfit(costate.Problem(model, **TIGHT), both, guess)
    x, first = misfit.guess, misfit.experiments[0]
    assert first.takes_adjoints(10) and not first.takes_adjoints(6)
    J = misfit.jacobian(x)
    close(J, slope(misfit.residuals, x), 1e-8)
    first.takes_adjoints = misfit.experiments[1].takes_adjoints = lambda directions: False
    close(J, misfit.jacobian(x), 1e-11)
    assert np.all(J[:3, -1] == 0) and np.all(J[3:, -2] == 0)
    close(misfit.hessian(x), slope(misfit.gradient, x), 1e-8)


def test_forms_of_sigma():
    """a number, one for each column, one for each time of a single column, the shape of the values"""
    for sigma, rows in ((0.2, [[0.2, 0.2]]*3), ([0.2, 0.4], [[0.2, 0.4]]*3), (np.array([0.2, 0.4]), [[0.2, 0.4]]*3),
                        (np.arange(1, 7).reshape(3, 2), [[1, 2], [3, 4], [5, 6]])):
        close(np.transpose(Measurements(T[1:4], np.ones((3, 2)), sigma=sigma).sigma), rows, 0)
    for sigma in ([0.1, 0.2, 0.3], np.array([0.1, 0.2, 0.3]), np.array([[0.1], [0.2], [0.3]])):
        close(Measurements(T[1:4], np.ones(3), sigma=sigma).sigma[0], [0.1, 0.2, 0.3], 0)
    assert Measurements(T[1:4], np.ones((3, 2)), sigma=["sd", 0.1]).sigma[0] == "sd"


def test_threads():
    one, two = (Misfit(costate.Problem(MODEL), [Condition(Measurements(T[1:], SEEN[1:], "A", sigma=0.1),
                                                          p={"A0": float(dose)}) for dose in range(1, 9)],
                       {"k": 0.6}, threads=threads) for threads in (1, 2))
    assert one.value(one.guess) == two.value(two.guess)
    assert np.array_equal(one.jacobian(one.guess), two.jacobian(two.guess))


if __name__ == "__main__":
    run_all(globals())
