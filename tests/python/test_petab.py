"""test_petab.py - PEtab problems against closed forms: log-likelihood, gradient, Hessian products, residuals, estimated
errors, priors; sentences about what is wrong in their files."""
import contextlib
import importlib.util
import io
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                                      # noqa: E402

from cases import Skipped, fails, run_all               # noqa: E402
from common import close                                # noqa: E402
from petab_problems import DECAY, EXCHANGE, decay, decay_prior, exchange, written       # noqa: E402
import costate.petab                                    # noqa: E402
from costate.petab import PetabError                    # noqa: E402
from costate.petab.check import check                   # noqa: E402
from costate.petab.command import main as command       # noqa: E402


def there(module):
    return importlib.util.find_spec(module) is not None


PLACE = tempfile.TemporaryDirectory()
TIGHT = dict(rtol=1e-11, atol=1e-13, model=dict(compiled=False))


def load(files, name, **more):
    if not there("yaml"):
        raise Skipped("no PyYAML")
    return costate.petab.load(written(files, os.path.join(PLACE.name, name)), **{**TIGHT, **more})


def gradient_of(f, x, h=1e-4):
    found = []
    for d in np.eye(len(x)):
        found.append((8 * (f(x + h * d) - f(x - h * d)) - (f(x + 2 * h * d) - f(x - 2 * h * d))) / (12 * h))
    return np.array(found)


def against(problem, f, x):
    """value, gradient, tangent and Hessian products of the closed form f"""
    close(problem.value(x), f(x), 1e-9)
    found, d = problem.gradient(x), np.array([0.3, -0.7, 0.2, 0.5])
    close(found.value, f(x), 1e-9)
    close(found.gradient, gradient_of(f, x), 1e-7)
    close(problem.tangent(d, x), found.gradient @ d, 1e-9)


def of_hessp(problem, f, x):
    d, h = np.array([0.3, -0.7, 0.2, 0.5]), 1e-3
    found = problem.hessp(d, x)
    close(found.value, f(x), 1e-9)
    close(found.gradient, gradient_of(f, x), 1e-7)
    slope = (gradient_of(f, x + h * d) - gradient_of(f, x - h * d)) / (2 * h)
    close(found.product, slope, 1e-4)
    close(problem.hessp(np.stack([d, -2 * d, d**2], axis=1), x).product[:, :2], np.outer(found.product, [1, -2]), 1e-11)


def test_decay():
    problem = load(DECAY, "decay")
    assert problem.names == ["k", "scale", "sd", "start"] and problem.scales == ["log10", "lin", "log", "log10"]
    close(problem.nominal, [np.log10(0.7), 1.3, np.log(0.2), np.log10(2)], 1e-14)
    close(problem.lower, [-2, 0, np.log(0.001), -1], 1e-14)
    close(problem.upper, [2, 10, np.log(10), 1], 1e-14)
    assert problem.conditions == [("", "low"), ("", "high")]
    against(problem, decay, problem.nominal)
    against(problem, decay, problem.nominal + 0.1)
    of_hessp(problem, decay, problem.nominal + 0.1)


def test_posterior():
    problem = load(DECAY, "posterior", posterior=True)
    x = problem.nominal + 0.1
    against(problem, lambda z: decay(z) + decay_prior(z), x)
    of_hessp(problem, lambda z: decay(z) + decay_prior(z), x)


def test_preequilibration():
    problem = load(EXCHANGE, "exchange")
    against(problem, exchange, problem.nominal)
    against(problem, exchange, problem.nominal - 0.1)
    assert problem.preequilibration == {"before": "steady state"}


def test_preequilibration_with_memory():
    """k2 is the initial value of a quantity that only an event could change: the same likelihood and derivatives"""
    math = "http://www.w3.org/1998/Math/MathML"
    model = EXCHANGE["model.xml"].replace("</listOfParameters>", '<parameter id="feed" value="1" constant="false"/>'
                                          "</listOfParameters><listOfInitialAssignments><initialAssignment symbol="
                                          f'"feed"><math xmlns="{math}"><ci>k2</ci></math></initialAssignment>'
                                          "</listOfInitialAssignments>")
    model = model.replace("<ci>k2</ci><ci>B</ci>", "<ci>feed</ci><ci>B</ci>").replace(
        "</listOfReactions>", '</listOfReactions><listOfEvents><event id="E" useValuesFromTriggerTime="true"><trigger '
        f'initialValue="true" persistent="true"><math xmlns="{math}"><apply><gt/><ci>A</ci><cn>1000</cn></apply></math>'
        f'</trigger><listOfEventAssignments><eventAssignment variable="feed"><math xmlns="{math}"><cn>2</cn></math>'
        "</eventAssignment></listOfEventAssignments></event></listOfEvents>")
    problem = load({**EXCHANGE, "model.xml": model}, "memory")
    assert problem.model.memory == ["feed"]
    against(problem, exchange, problem.nominal)
    early, f = before_infinity()
    problem = load({**early, "model.xml": model}, "memory_early")
    of_hessp(problem, f, problem.nominal)


def before_infinity():
    """(files, log-likelihood) of EXCHANGE without the measurements at infinity"""
    early = dict(EXCHANGE)
    early["measurements.tsv"] = "".join(line for line in EXCHANGE["measurements.tsv"].splitlines(True)
                                        if "inf" not in line)

    def f(x):
        calm, fast, k2, sd = 10**x
        late = [((3 * k2 / (calm + k2) + 0.3) * k2 / (fast + k2), 0.6), (3 * k2 / (fast + k2), 0.8)]
        return exchange(x) - sum(-0.5 * np.log(2 * np.pi * sd**2) - 0.5 * ((a - m) / sd)**2 for a, m in late)
    return early, f


def test_hessian_with_preequilibration():
    early, f = before_infinity()
    problem = load(early, "early")
    of_hessp(problem, f, problem.nominal)


def test_residuals():
    problem = load(DECAY, "residuals")
    found = problem.residuals()
    k, scale, sd, start = 0.7, 1.3, 0.2, 2
    assert len(found.residual) == 8
    for name, condition, t, m, f, r in zip(found.observable, found.condition, found.time, found.measurement,
                                           found.output, found.residual):
        a = {"low": 1.5, "high": start}[condition] * np.exp(-k * t)
        if name == "natural":
            close(f, a + 0.1, 1e-9)
            close(r, (np.log(a + 0.1) - np.log(m)) / (sd * (1 + a)), 1e-8)
        if name == "tenth":
            of, s = {0.9: (2, 0.1), 2.8: (scale, sd)}[m]
            close(f, of * a, 1e-9)
            close(r, (np.log10(of * a) - np.log10(m)) / s, 1e-8)


def test_estimated_errors():
    """half to twice the true ones, where these are above round-off"""
    problem = load(EXCHANGE, "errors", rtol=1e-4, atol=1e-6, method="bs32", threads=2)
    found, x = problem.gradient(estimate=True), problem.nominal
    off = gradient_of(exchange, x) - found.gradient
    assert np.all(np.abs(off) > 1e-7), off
    ratio = found.error.gradient / off
    assert np.all((ratio > 0.5) & (ratio < 2)), (found.error.gradient, off)
    ratio = found.error.value / (exchange(x) - found.value)
    assert 0.5 < ratio < 2, ratio
    plain = problem.gradient()
    close(found.gradient, plain.gradient, 1e-12)


def test_threads():
    """results do not depend on their number"""
    one, two = (load(DECAY, "threads", threads=n).gradient() for n in (1, 2))
    assert one.value == two.value and np.array_equal(one.gradient, two.gradient)


def test_long_runs():
    """without a steady state that Newton's iteration finds: y' = -y^2 comes to rest too slowly"""
    files = dict(EXCHANGE)
    files["model.xml"] = files["model.xml"].replace("<apply><times/><ci>k1</ci><ci>A</ci></apply>",
                                                    "<apply><times/><ci>k1</ci><ci>A</ci><ci>A</ci></apply>", 1) \
        .replace("<apply><times/><ci>k2</ci><ci>B</ci></apply>", "<apply><times/><ci>k2</ci><cn>0</cn></apply>", 1)
    files["measurements.tsv"] = "".join(line for line in files["measurements.tsv"].splitlines(True)
                                        if "inf" not in line)
    problem = load(files, "long", rtol=1e-5, atol=1e-9, method="bs32", max_steps=10**6)
    found, d = problem.gradient(estimate=True), np.array([0.3, -0.7, 0.2, 0.5])
    tight = load(files, "long", rtol=1e-9, method="rodas5p").gradient()
    depends = [0, 1, 3]                                 # k2 has no effect
    ratio = found.error.gradient[depends] / (tight.gradient - found.gradient)[depends]
    assert np.all((ratio > 0.5) & (ratio < 2)), (found.error.gradient, tight.gradient - found.gradient)
    way = problem.preequilibration["before"]
    assert way.startswith("run to t = 1e+08: "), way
    close(problem.tangent(d), found.gradient @ d, 1e-6)


def test_parameters_of_zero():
    """... on a logarithmic scale are at -inf, where the gradient is 0"""
    problem = load({**EXCHANGE, "parameters.tsv": EXCHANGE["parameters.tsv"].replace("\t0.4\t", "\t0\t")}, "zero")
    assert problem.nominal[0] == -np.inf
    rest = np.array([-300, *problem.nominal[1:]])
    found = problem.gradient()
    close(found.value, exchange(rest), 1e-9)
    assert found.gradient[0] == 0
    close(found.gradient[1:], gradient_of(exchange, rest)[1:], 1e-6)


def test_check():
    found = check(load(EXCHANGE, "check"))
    assert found.by_tangent < 1e-9 and found.by_difference < 1e-7 and found.uncertainty < 1e-6
    assert abs(found.adjoint_error) < 1e-6


def test_command():
    if not there("yaml"):
        raise Skipped("no PyYAML")
    path = written(EXCHANGE, os.path.join(PLACE.name, "command"))
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert command([path, "--check"]) == 0
    text = said.getvalue()
    assert "log-likelihood" in text and "pre-equilibration before: steady state" in text, text
    assert "the gradient passes" in text and "calm" in text, text
    with contextlib.redirect_stderr(io.StringIO()) as said:
        assert command([path + ".absent"]) == 2
        assert command([]) == 2
    assert "cannot be read" in said.getvalue() and "--posterior" in said.getvalue(), said.getvalue()


WRONG = [
    (dict(problem_yaml=("format_version: 1", "format_version: 3")), "format_version is 3"),
    (dict(problem_yaml=("problems:", "problem:")), "`problems` is a list of one problem"),
    (dict(problem_yaml=("[model.xml]", "[model.xml, other.xml]")), "2 models in sbml_files"),
    (dict(problem_yaml=("[conditions.tsv]", "[]")), "condition_files is missing"),
    (dict(problem_yaml=("[conditions.tsv]", "[absent.tsv]")), "absent.tsv cannot be read"),
    (dict(problem_yaml=("- condition", "- {condition")), "is not YAML"),
    (dict(conditions_tsv=("conditionId", "condition")), "conditions.tsv has no column conditionId"),
    (dict(conditions_tsv=("high", "low")), "conditions.tsv, row 3: low is also in row 2"),
    (dict(conditions_tsv=("start", "begin")), "conditions.tsv, row 3: begin is neither a number nor a parameter"),
    (dict(parameters_tsv=("\t0.7\t", "\tmuch\t")), "parameters.tsv, row 2: nominalValue is 'much'"),
    (dict(parameters_tsv=("\t0.7\t", "\t-0.7\t")), "row 2: the value -0.7 has no logarithm"),
    (dict(parameters_tsv=("\tlog10\t", "\tlog2\t")),
     "row 2: parameterScale is 'log2'; expected one of lin, log, log10"),
    (dict(parameters_tsv=("-0.1;0.2", "-0.1")), "row 2: objectivePriorParameters is '-0.1'"),
    (dict(parameters_tsv=("-0.1;0.2", "-0.1;0")), "row 2: objectivePriorParameters is '-0.1;0'"),
    (dict(parameters_tsv=("parameterScaleNormal", "flat")), "row 2: objectivePriorType is 'flat'"),
    (dict(measurements_tsv=("plain\tlow", "plane\tlow")),
     "measurements.tsv, row 2: the observable plane is in no table"),
    (dict(measurements_tsv=("plain\tlow", "plain\tlower")), "row 2: the condition lower is in no table"),
    (dict(measurements_tsv=("\t0\t2.2", "\t-1\t2.2")), "row 2: time is -1"),
    (dict(measurements_tsv=("\t0\t2.2", "\t0\tinf")), "row 2: the measurement is 'inf'"),
    (dict(measurements_tsv=("\tscale\t0.3", "\t\t0.3")), "row 2: observableParameters has no value for"),
    (dict(measurements_tsv=("\tscale\t0.3", "\tscale;1\t0.3")), "row 2: observableParameters has 2 entries"),
    (dict(measurements_tsv=("\tscale\t0.3", "\tscales\t0.3")), "row 2: scales is neither a number nor a parameter"),
    (dict(measurements_tsv=("\t0.9\t2\t", "\t-0.9\t2\t")), "row 5: the measurement -0.9 has no logarithm"),
    (dict(measurements_tsv=("2.2\tscale\t0.3", "2.2\tscale\t0.3\tmore")),
     "row 2: it has 7 cells, the head of the table 6"),
    (dict(observables_tsv=("A+0.1", "A+(0.1")), "observables.tsv, row 4: observableFormula: "),
    (dict(observables_tsv=("laplace", "cauchy")), "row 4: noiseDistribution is 'cauchy'"),
    (dict(model_xml=("<listOfParameters>", "<listOfParts>")), "model.xml"),
]


def test_wrong_files():
    if not there("yaml"):
        raise Skipped("no PyYAML")
    for k, (changed, words) in enumerate(WRONG):
        path = written(DECAY, os.path.join(PLACE.name, f"wrong{k}"), **changed)
        fails(PetabError, words, costate.petab.load, path, **TIGHT)


def test_wrong_arguments():
    problem = load(DECAY, "arguments")
    for x in (np.zeros(3), [np.nan] * 4):
        try:
            problem.value(x)
        except ValueError as error:
            assert "one value for each" in str(error) or "is not finite" in str(error), error
        else:
            raise AssertionError("nothing was said")


run_all(globals())
