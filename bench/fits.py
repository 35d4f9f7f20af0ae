"""fits.py [DIR [PROBLEM...]] - fits: coverage of intervals, published estimates, and time against SciPy.

    coverage    how many of 95 % intervals contain the truth in 300 simulated data sets: Laplace's in a nearly linear
                model, Laplace's and those of profiles in a curved one
    published   NIST's certified estimates (bench/reference/nist.toml): the largest relative difference
    time        one fit of costate, and the same by scipy.optimize.least_squares with differences of solve_ivp, by LSODA
                or by RK45 or Radau, with the same tolerances
    DIR         folder of the PEtab benchmark collection: fits from points around the published parameters, which must
                lead back: J - J(published) at the start and the end, and the largest distance in standard errors"""
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

import costate
from costate import Measurements
from costate.fitting import fitted
from costate.fitting.petab_problem import OfPetab

HERE = Path(__file__).resolve().parent
SETS, LEVEL = 300, 0.95
AWAY = 0.1              # how far from the published parameters PEtab fits begin, on their scales
DECAY = costate.Model("model decay\nparameter k = 0.7, A0 = 2\nstate A = A0\nA' = -k*A\n")
RISE = costate.Model("model rise\nparameter k = 0.7\nstate y = 0\ny' = k*(1 - y)\n")


# ---- coverage -------------------------------------------------------------------------------------------------------

def coverage(model, of, t, sigma, profiles, sets=SETS):
    """{name: (part of Laplace's intervals that contains the truth, of those of profiles or None)}"""
    random, truth = np.random.default_rng(1), dict(zip(model.parameters, model.defaults))
    problem = costate.Problem(model, method="dopri5", rtol=1e-7, atol=1e-9)
    exact = problem.integrate((0, t[-1]), t_eval=t).at[0]
    inside = {name: [0, 0] for name in truth}
    for _ in range(sets):
        values = exact + sigma*random.standard_normal(len(t))
        fit = costate.fit(problem, Measurements(t, values, of, sigma=sigma), truth)
        for name, value in truth.items():
            low, high = fit.interval(name, LEVEL)
            inside[name][0] += low <= value <= high
            if profiles:
                found = fit.profile(name, LEVEL)
                inside[name][1] += found.low <= value <= found.high
    return {name: (a/sets, b/sets if profiles else None) for name, (a, b) in inside.items()}


def print_coverage():
    print(f"coverage of {LEVEL:.0%} intervals in {SETS} simulated data sets; its own standard deviation is "
          f"{np.sqrt(LEVEL*(1 - LEVEL)/SETS):.3f}")
    for what, arguments in (("decay, 20 values, sigma 0.05", (DECAY, "A", np.linspace(0.25, 4, 20), 0.05, False)),
                            ("rise, 2 values, sigma 0.2", (RISE, "y", np.array([1.0, 4.0]), 0.2, True))):
        for name, (laplace, profile) in coverage(*arguments).items():
            other = "" if profile is None else f"  profile {profile:.3f}"
            print(f"  {what:30} {name:3} Laplace {laplace:.3f}{other}")


# ---- published estimates --------------------------------------------------------------------------------------------

def print_published():
    print("NIST: largest relative difference of estimates, and of the sum of squares, from the certified values")
    with open(HERE / "reference" / "nist.toml", "rb") as file:
        for name, of in tomllib.load(file).items():
            model = costate.Model(f"model {name}\nparameter {', '.join(of['guess'])}\n{of['equations']}")
            fit = costate.fit(costate.Problem(model, rtol=1e-10, atol=1e-10), Measurements(of["x"], of["y"], "y"),
                              of["guess"])
            gap = np.max(np.abs(fit.u/of["estimates"] - 1))
            print(f"  {name:10} {gap:.1e} {abs(2*fit.J/of['squares'] - 1):.1e}")


# ---- time -----------------------------------------------------------------------------------------------------------

PREY = costate.Model("""model prey
parameter a = 1.5, b = 1, c = 3, d = 1, x0 = 1, z0 = 1.2
state x = x0, z = z0
x' = a*x - b*x*z
z' = d*x*z - c*z
""")
ENZYME = costate.Model("""model enzyme "binding within milliseconds, slow inhibition"
parameter k1 = 100, k2 = 400, k3 = 10, k4 = 0.2, k5 = 0.05
state E = 1, S = 10, C = 0, P = 0, I = 2, D = 0
E' = -k1*E*S + (k2 + k3)*C - k4*E*I + k5*D
S' = -k1*E*S + k2*C
C' = k1*E*S - (k2 + k3)*C
P' = k3*C
I' = -k4*E*I + k5*D
D' = k4*E*I - k5*D
""")


def prey(t, y, a, b, c, d):
    return [a*y[0] - b*y[0]*y[1], d*y[0]*y[1] - c*y[1]]


def enzyme(t, y, k1, k2, k3, k4, k5):
    E, S, C, P, I, D = y
    bind, inhibit = k1*E*S, k4*E*I - k5*D
    return [-bind + (k2 + k3)*C - inhibit, -bind + k2*C, bind - (k2 + k3)*C, k3*C, -inhibit, inhibit]


CASES = {"prey, 6 unknowns": (PREY, prey, lambda x: (x[4:], x[:4]), np.linspace(0.5, 12, 24), [0, 1], 0.1, 1.08,
                              "RK45"),
         "enzyme, 5 unknowns": (ENZYME, enzyme, lambda x: ([1, 10, 0, 0, 2, 0], x), np.geomspace(1e-4, 30, 30), [2, 3],
                                0.03, 1.3, "Radau")}


def timed(call):
    began = time.perf_counter()
    return call(), time.perf_counter() - began


def print_time(tol=1e-8):
    print("seconds of a fit, function evaluations as the optimiser counts them, and the distance of the estimate from "
          "costate's in standard errors")
    for name, (model, f, split, t, seen, sigma, away, method) in CASES.items():
        truth, problem = model.defaults, costate.Problem(model, rtol=tol, atol=tol)
        exact = problem.integrate((0, t[-1]), t_eval=t).at[seen]
        data = exact.T + sigma*np.random.default_rng(7).standard_normal(exact.T.shape)
        guess = {word: away*value for word, value in zip(model.parameters, truth)}
        measured = Measurements(t, data, [model.states[k] for k in seen], sigma=sigma)
        problem.wait()
        costate.fit(problem, measured, guess)           # the first one loads SciPy, and what is measured is compiled
        fit, seconds = timed(lambda: costate.fit(problem, measured, guess))
        print(f"  {name:20} costate         {seconds:8.3f} s {fit.evaluations:6}")
        for how in ("LSODA", method):
            def residuals(x):
                y0, p = split(x)
                y = solve_ivp(f, (0, t[-1]), y0, how, t_eval=t, args=tuple(p), rtol=tol, atol=tol).y[seen]
                return ((y.T - data)/sigma).reshape(-1)
            found, seconds = timed(lambda: least_squares(residuals, list(guess.values()), x_scale="jac"))
            gap = np.max(np.abs(found.x - fit.x)/np.array(list(fit.errors.values())))
            runs = found.nfev + found.njev*len(guess)
            print(f"  {'':20} SciPy, {how:8} {seconds:8.3f} s {runs:6}   {gap:.1e}")


# ---- PEtab ----------------------------------------------------------------------------------------------------------

def print_petab(folder, names):
    print("PEtab: J - J(published) at the start and at the end, distance of the estimates in standard errors, seconds")
    for name in names:
        path = sorted(path for path in (folder / name).glob("*.yaml") if "test" not in path.name)[0]
        misfit, random = OfPetab(costate.petab.load(path)), np.random.default_rng(1)
        published, J = misfit.guess, misfit.value(misfit.guess)
        misfit.guess = np.clip(published + AWAY*random.standard_normal(len(published)), misfit.lower, misfit.upper)
        try:
            before = misfit.value(misfit.guess)
            fit, seconds = timed(lambda: fitted(misfit))
        except costate.CostateError as error:
            print(f"  {name:30} no run from there: {error.message}", flush=True)
            continue
        known = np.isfinite(fit._deviation)
        gap = np.max(np.abs(fit.x - published)[known]/fit._deviation[known], initial=0)
        print(f"  {name:30} {len(published):3} unknowns {before - J:12.3g} {fit.J - J:+10.1e} {gap:8.1e} "
              f"{seconds:7.1f} s", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        import costate.petab
        place = Path(sys.argv[1])
        print_petab(place, sys.argv[2:] or ["Boehm_JProteomeRes2014", "Elowitz_Nature2000", "Fiedler_BMCSystBiol2016"])
    else:
        for part in (print_published, print_coverage, print_time):
            part()
