"""test_petab_experiments.py - PEtab problems of version 2 against closed forms: experiments with several periods,
pre-equilibration, events, noise, truncated priors; sentences about what is wrong in their files."""
import importlib.util
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                                      # noqa: E402

from cases import Skipped, fails, run_all               # noqa: E402
from common import close                                # noqa: E402
from petab_experiments import (AT_REST, CONTENTS, FILES, SEEN, VESSELS, apply, at_rest, exchanged, likelihood,    # noqa
                               model, normal)
from petab_problems import rows, written                # noqa: E402
import costate.petab                                    # noqa: E402
from costate.petab import PetabError                    # noqa: E402
from costate.petab.truncated import distribution       # noqa: E402

PLACE = tempfile.TemporaryDirectory()
TIGHT = dict(rtol=1e-11, atol=1e-13, model=dict(compiled=False))
DIRECTION = np.array([0.3, -0.7, 0.2, 0.5])


def load(name, files=FILES, **more):
    if importlib.util.find_spec("yaml") is None:
        raise Skipped("no PyYAML")
    return costate.petab.load(written(files, os.path.join(PLACE.name, name)), **{**TIGHT, **more})


def gradient_of(f, x, h=1e-4):
    return np.array([(8 * (f(x + h * d) - f(x - h * d)) - (f(x + 2 * h * d) - f(x - 2 * h * d))) / (12 * h)
                     for d in np.eye(len(x))])


def against(problem, f, x):
    """value, gradient and tangent of the closed form f"""
    close(problem.value(x), f(x), 1e-9)
    found = problem.gradient(x)
    close(found.value, f(x), 1e-9)
    close(found.gradient, gradient_of(f, x), 1e-7)
    close(problem.tangent(DIRECTION, x), found.gradient @ DIRECTION, 1e-9)
    return found


def test_periods():
    problem = load("periods")
    assert problem.names == ["k_0", "a0", "sd", "shift"] and problem.scales == ["lin"] * 4
    assert problem.conditions == [("", ""), ("", "doses"), ("", "stopped"), ("lean+usual", "rested")], \
        problem.conditions
    assert problem.preequilibration == {}
    found, x = against(problem, likelihood, problem.nominal), problem.nominal
    assert problem.preequilibration == {"lean+usual": "steady state"}
    against(problem, likelihood, x + 0.05)
    moved = [problem.replayed(x, x + h * DIRECTION) for h in (1e-5, -1e-5)]
    close((moved[0] - moved[1]) / 2e-5, found.gradient @ DIRECTION, 1e-6)


def test_hessian_products():
    problem, h = load("hessian"), 1e-3
    x = problem.nominal
    slope = (gradient_of(likelihood, x + h * DIRECTION) - gradient_of(likelihood, x - h * DIRECTION)) / (2 * h)
    close(problem.hessp(DIRECTION, x).product, slope, 1e-4)


def test_at_rest():
    problem = load("rest", {**FILES, "measurements.tsv": AT_REST})
    against(problem, at_rest, problem.nominal)


def test_estimated_errors():
    """half to twice the true ones"""
    problem = load("errors", rtol=1e-4, atol=1e-6, method="bs32")
    found, x = problem.gradient(estimate=True), problem.nominal
    off = gradient_of(likelihood, x) - found.gradient
    assert np.max(np.abs(off)) > 1e-6, off
    big = np.abs(off) > 1e-2 * np.max(np.abs(off))
    ratio = (found.error.gradient / off)[big]
    assert np.all((ratio > 0.5) & (ratio < 2)), (found.error.gradient, off)


def test_vessels():
    """Amounts, concentrations and sizes, in the unit of each identifier; what nothing sets keeps its value"""
    found = load("vessels", VESSELS).residuals()
    for name, of, t, value in zip(found.observable, found.condition, found.time, found.output):
        contents = CONTENTS[of, t]
        expected = (*contents, 2 * contents[0])[SEEN.index(name[1:])]
        assert abs(value - expected) <= 1e-12 * expected, (name, of, t, value, expected)


def event(begins):
    """idle := idle + 1 where X rises above 3"""
    number = '<math xmlns="http://www.w3.org/1998/Math/MathML">'
    return f'<listOfEvents><event id="E" useValuesFromTriggerTime="true"><trigger initialValue="{begins}" ' \
           f'persistent="true">{number}{apply("gt", "X", "<cn>3</cn>")}</math></trigger><listOfEventAssignments>' \
           f'<eventAssignment variable="idle">{number}{apply("plus", "idle", "<cn>1</cn>")}</math></eventAssignment>' \
           '</listOfEventAssignments></event></listOfEvents>'


def with_events(begins, *of_a):
    """low comes to rest below 3; the change at 0 moves X above it.  high passes 3 on its way to rest"""
    return {**FILES, "model.xml": model(event(begins), *of_a).replace('id="idle" value="1" constant="true"',
                                                                 'id="idle" value="1" constant="false"'),
            "conditions.tsv": rows("conditionId targetId targetValue", "usual k k_0", "slow k 0.4", "more X X+1+shift",
                                   "more A 1", "jump X 4", "jump A 1"),
            "experiments.tsv": rows("experimentId time conditionId", "low -inf usual", "low 0 more", "high -inf slow",
                                    "high 0 more", "set -inf usual", "set 0 jump", "here 0 jump",
                                    "later -inf usual", "later 2 more"),
            "observables.tsv": rows("observableId observableFormula noiseFormula", "both X+10*idle sd", "drug A sd"),
            "measurements.tsv": rows("observableId experimentId time measurement", "both low 0 20", "both low 1 21",
                                     "both high 0 22", "both high 1 23", "both set 1 24", "both here 1 25",
                                     "both later 3 26")}


def test_events_of_the_model():
    """Those that a change of conditions sets off, and those on the way to rest, which do not occur again"""
    def f(x, begins):
        k, a0, sd, shift = x
        low, high = 2 / k + 1 + shift, 2 / 0.4 + 1 + shift
        return sum(normal(exchanged(t, start, rate) + 20, m, sd) for t, start, rate, m in (
            (0, low, k, 20), (1, low, k, 21), (0, high, 0.4, 22), (1, high, 0.4, 23), (1, 4, k, 24),
            (1, low, k, 26))) + \
            normal(exchanged(1, 4, 1) + (20 if begins == "false" else 10), 25, sd)
    for begins in ("true", "false"):
        problem = load(f"events_{begins}", with_events(begins))
        x = problem.nominal
        found = against(problem, lambda x: f(x, begins), x)     # noqa: B023
        moved = [problem.replayed(x, x + h * DIRECTION) for h in (1e-5, -1e-5)]
        close((moved[0] - moved[1]) / 2e-5, found.gradient @ DIRECTION, 1e-6)
        ways = problem.preequilibration
        assert (ways["usual"] == "steady state") == (begins == "true"), ways
        assert ways["slow"].startswith("run to t = 1e+08: "), ways


def test_a_change_at_the_only_time():
    files = with_events("true")
    files["measurements.tsv"] = rows("observableId experimentId time measurement", "both low 0 20")
    close(load("only", files).residuals().output, [2 / 0.7 + 1.25 + 20], 1e-9)


def test_what_events_set_on_the_way():
    """idle, which no observable shows, is a factor of the rate of A"""
    files = with_events("true", "idle")
    files["measurements.tsv"] = rows("observableId experimentId time measurement", "drug high 1 0.5")
    files["observables.tsv"] = rows("observableId observableFormula noiseFormula", "drug A sd")
    close(load("hidden", files).residuals().output, [np.exp(-0.8)], 1e-8)


def mass(density, low, high):
    """by Gauss's rule in 200 parts"""
    nodes, weights = np.polynomial.legendre.leggauss(10)
    edges = np.linspace(low, high, 201)
    half = (edges[1:] - edges[:-1]) / 2
    points = (edges[1:] + edges[:-1])[:, None] / 2 + half[:, None] * nodes
    return float(np.sum(half[:, None] * weights * density(points)))


def test_posterior():
    k, a0, sd, shift = x = load("posterior").nominal
    problem = load("posterior", posterior=True)

    def log_density(z):
        k, a0, sd, shift = z
        return -0.5 * np.log(2 * np.pi * 0.09 * k**2) - 0.5 * ((np.log(k) + 0.4) / 0.3)**2 - np.log(10) + \
            2 * np.log(sd) - sd / 0.2 - np.log(2 * 0.2**3) - np.log(0.2) - abs(shift - 0.2) / 0.1
    masses = [mass(lambda z: np.exp(-0.5 * ((np.log(z) + 0.4) / 0.3)**2) / (z * 0.3 * np.sqrt(2 * np.pi)), 0.1, 10),
              mass(lambda z: z**2 * np.exp(-z / 0.2) / (2 * 0.2**3), 0.01, 10), 1 - 0.5 * np.exp(-2) -
              0.5 * np.exp(-8)]
    constant = np.sum(np.log(masses))
    against(problem, lambda z: likelihood(z) + log_density(z) - constant, x)
    for outside in ([0, 9, 0, 0], [0, 0, 10, 0], [0, 0, -0.295, 0]):
        assert problem.value(x + outside) == -np.inf


PRIORS = {
    "uniform 0.2;5": lambda z: np.where((z >= 0.2) & (z <= 5), 1 / 4.8, 0),
    "normal 0.5;2": lambda z: np.exp(-(z - 0.5)**2 / 8) / np.sqrt(8 * np.pi),
    "cauchy 0.5;2": lambda z: 1 / (2 * np.pi * (1 + (z / 2 - 0.25)**2)),
    "chisquare 4": lambda z: z * np.exp(-z / 2) / 4,
    "exponential 3": lambda z: np.exp(-z / 3) / 3,
    "gamma 3;0.5": lambda z: z**2 * np.exp(-2 * z) * 4,
    "laplace 0.15;2": lambda z: np.exp(-abs(z - 0.15) / 2) / 4,
    "laplace 8;1": lambda z: np.exp(-abs(z - 8)) / 2,
    "log-laplace -4;0.5": lambda z: np.exp(-abs(np.log(z) + 4) / 0.5) / z,
    "log-uniform 0.05;20": lambda z: 1 / (z * np.log(400)),
    "rayleigh 2": lambda z: z / 4 * np.exp(-z**2 / 8)}


def test_priors():
    """log density, truncated to [0.2, 6], and its first two derivatives"""
    text = FILES["parameters.tsv"]
    for k, (words, density) in enumerate(PRIORS.items()):
        kind, numbers = words.split()
        table = text.replace("k_0\t0.1\t10\t0.7\ttrue\tlog-normal\t-0.4;0.3",
                             f"k_0\t0.2\t6\t0.7\ttrue\t{kind}\t{numbers}")
        estimated = load(f"prior{k}", {**FILES, "parameters.tsv": table}, posterior=True).estimated
        rest = estimated.log_prior(np.array([1.0, 1, 1, 1]))[0] - np.log(density(1.0))
        for z in (0.5, 1.0, 3.7):
            x, h = np.array([z, 1, 1, 1]), 1e-4
            value, first, second = estimated.log_prior(x)
            close(value - rest, np.log(density(z)), 1e-12)
            near = [np.log(density(z + d)) for d in (-h, 0.0, h)]
            slopes = (near[2] - near[0]) / (2 * h), (near[2] - 2 * near[1] + near[0]) / h**2
            assert abs(first[0] - slopes[0]) < 1e-6 * (1 + abs(slopes[0])), (words, first, slopes)
            assert abs(second[0] - slopes[1]) < 1e-5 * (1 + abs(slopes[1])), (words, second, slopes)
        close(distribution(*estimated.priors[0], 6.0) - distribution(*estimated.priors[0], 0.2),
              mass(density, 0.2, 5 if kind == "uniform" else 6), 1e-9)
        assert distribution(*estimated.priors[0], np.inf) == 1


WRONG = [
    (dict(problem_yaml=("2.0.0", "3")), "format_version is 3; versions 1 and 2 are read"),
    (dict(problem_yaml=("required: false", "required: true")), "the extension colours is required"),
    (dict(problem_yaml=(", required: false", "")), "the extension colours is required"),
    (dict(measurements_tsv=("x\trested\t1", "x\trested\t0.5")), "row 13: time is 0.5, before the start"),
    (dict(measurements_tsv=("small", "large")), "row 2: the model large is not in model_files"),
    (dict(problem_yaml=("language: sbml", "language: pysb")), "the language of the model small is pysb"),
    (dict(problem_yaml=("  small: {location: model.xml, language: sbml}",
                        "  a: {location: a.xml, language: sbml}\n  b: {location: b.xml, language: sbml}")),
     "there are 2 models (a, b)"),
    (dict(problem_yaml=("mapping_files", "maps")), "maps is not known; expected one of"),
    (dict(problem_yaml=("location: model.xml, ", "")), "the model small needs a location"),
    (dict(problem_yaml=("model_files:\n  small: {location: model.xml, language: sbml}\n", "")),
     "model_files is missing"),
    (dict(measurements_tsv=("drug\t\t0\t", "drug\tdose\t0\t")), "row 2: the experiment dose is in no table"),
    (dict(measurements_tsv=("drug\tstopped\t-2", "drug\tstopped\t-3")), "row 10: time is -3, before the start of the "
                                                                          "experiment at -2"),
    (dict(measurements_tsv=("lx\trested\t4", "lx\trested\tinf")), "row 16: a measurement at infinity after the change "
                                                                    "of conditions at 3 is not supported"),
    (dict(measurements_tsv=("total\tdoses\t2.5\t3.1\t1.5", "total\tdoses\t2.5\t3.1\t1.5;2")),
     "row 6: observableParameters has 2 entries; the formulas of total have placeholders for 1"),
    (dict(measurements_tsv=("3.1\t1.5", "3.1\t")), "row 6: observableParameters has no value for scale"),
    (dict(measurements_tsv=("3.1\t1.5", "-3.1\t1.5")), "row 6: the measurement -3.1 has no logarithm"),
    (dict(experiments_tsv=("doses\t1\tdose", "doses\tinf\tdose")), "row 3: time is inf"),
    (dict(experiments_tsv=("doses\t1\tdose", "doses\t1\tdoze")), "row 3: the condition doze is in no table"),
    (dict(experiments_tsv=("doses\t2.5\twiden", "doses\t2.5\ttop")), "the conditions of time 2.5 set A twice"),
    (dict(conditions_tsv=("slow\tk", "slow\tR2-D2")), "row 3: targetId is 'R2-D2'"),
    (dict(conditions_tsv=("slow\tk", "usual\tk")), "row 3: k is also set in row 2"),
    (dict(conditions_tsv=("slow\tk", "slow\tfixed")), "row 3: fixed is in the table of parameters"),
    (dict(conditions_tsv=("0.4", "inf")), "row 3: targetValue is inf"),
    (dict(conditions_tsv=("3*k_0^2", "3*(k_0")), "row 4: targetValue: "),
    (dict(conditions_tsv=("usual\tk\tk_0", "usual\tk\tX")), "row 2: targetValue of the first period contains X"),
    (dict(conditions_tsv=("usual\tk\tk_0", "usual\tnew\tk_0")), "row 2: new is not in the model: all experiments"),
    (dict(parameters_tsv=("true\tlog-normal", "1\tlog-normal")), "row 2: estimate is '1'; expected one of true, false"),
    (dict(parameters_tsv=("log-normal", "flat")), "row 2: priorDistribution is 'flat'"),
    (dict(parameters_tsv=("-0.4;0.3", "-0.4")), "row 2: priorParameters is '-0.4': expected two numbers"),
    (dict(parameters_tsv=("3;0.2", "-3;0.2")), "row 4: priorParameters is '-3;0.2': the first number is not positive"),
    (dict(parameters_tsv=("a0\t0\t10", "a0\t\t10")), "row 3: other parameters have priors: this one needs finite"),
    (dict(parameters_tsv=("laplace\t0.2;0.1", "log-uniform\t2;3")), "row 5: the prior is 0 between the bounds 0 and 1"),
    (dict(parameters_tsv=("laplace\t0.2;0.1", "\t0.2;0.1")), "row 5: there are priorParameters"),
    (dict(parameters_tsv=("sd\t0.01\t10", "sd\t10\t0.01")), "row 4: lowerBound is 10, upperBound 0.01"),
    (dict(observables_tsv=("laplace", "cauchy")), "row 4: noiseDistribution is 'cauchy'"),
    (dict(model_xml=("<cn>0.5</cn>", '<csymbol encoding="text" definitionURL="http://www.sbml.org/sbml/symbols/time">t'
                                     "</csymbol>")), "initial assignments depend on the time, and the experiment"),
]


def test_wrong_files():
    for k, (changed, words) in enumerate(WRONG):
        path = written(FILES, os.path.join(PLACE.name, f"wrong{k}"), **changed)
        changed = {name: open(os.path.join(os.path.dirname(path), name), encoding="utf-8").read() for name in FILES}
        fails(PetabError, words, load, f"wrong{k}", changed)


def test_wrong_targets():
    for target in ("sum", "R"):
        files = {**VESSELS, "conditions.tsv": VESSELS["conditions.tsv"].replace("wide\tV", f"wide\t{target}")}
        fails(PetabError, f"row 2: {target} follows from the model, by a rule or a reaction", load, f"target_{target}",
              files)


def test_wrong_starts():
    """Events that can occur at the start have the time 0"""
    files = with_events("false")
    files["experiments.tsv"] = files["experiments.tsv"].replace("-inf", "-1")
    fails(PetabError, "there are events that can occur at the start, and the experiment low begins at -1", load,
          "wrong_starts", files)
    files = {**FILES, "measurements.tsv": rows("observableId experimentId time measurement", "drug . 1 1.1")}
    files["model.xml"] = files["model.xml"].replace("<cn>0.5</cn>", '<csymbol encoding="text" definitionURL="http://'
                                                    'www.sbml.org/sbml/symbols/time">t</csymbol>')
    assert load("times_at_0", files).residuals().output.shape == (1,)


def test_changes_before_infinity():
    files = {**FILES, "measurements.tsv": rows("observableId experimentId time measurement", "lx still inf 2.1"),
             "experiments.tsv": rows("experimentId time conditionId", "still 0 usual", "still 5 slow")}
    fails(PetabError, "row 2: a measurement at infinity after the change of conditions at 5", load, "before_infinity",
          files)


run_all(globals())
