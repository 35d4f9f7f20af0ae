"""test_sbml.py - models in SBML run as the specification says: each construct against a closed form, with gradients."""
import math
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir))
sys.path[:0] = [ROOT, os.path.join(ROOT, "tests")]
PLACE = tempfile.TemporaryDirectory(prefix="costate-test-")
os.environ["COSTATE_CACHE"] = os.path.join(PLACE.name, "cache")

import numpy as np                                                      # noqa: E402

import costate                                                          # noqa: E402
from cases import Skipped, run_all                                      # noqa: E402
from codegen import sbml                                                # noqa: E402
from codegen.equations import read                                      # noqa: E402
from codegen.sbml.export import export                                  # noqa: E402
from codegen.tests.sbml_text import math as formula_of                  # noqa: E402
from codegen.tests.sbml_text import (compartment, element, event, function, initial, model, parameters,  # noqa: E402
                                     reaction, rule, species)

SHARP = dict(rtol=1e-11, atol=1e-13)
TEXTS = []                                   # files of these tests, but for those that are wrong
VESSEL = ("Compartments", compartment(size=2))


def file_of(text):
    path = Path(PLACE.name, "small.xml")
    TEXTS.append(text)
    path.write_text(text, encoding="utf-8")
    return path


class Solved:
    """A model that is run to t1; value(FORMULA) is that of an output there"""

    def __init__(self, text, t1=1.0, outputs=(), given=(), **options):
        self.equations = sbml.write(sbml.read(file_of(text)), given=given,
                                    outputs=[(f"out{k}", each) for k, each in enumerate(outputs)])
        self.model, self.outputs, self.t1 = costate.Model(self.equations.text, compiled=False), list(outputs), t1
        self.problem = costate.Problem(self.model, **{**SHARP, **options})
        self.run = self.problem.integrate((0.0, t1))

    def values(self, p=None):
        run = self.run if p is None else self.problem.integrate((0.0, self.t1), p=p)
        return self.model.output(self.t1, run.y, p, m=run.m)


def check(text, t1=1.0, rtol=1e-8, given=(), **expected):
    """outputs: FORMULA or name, and what it is at t1"""
    wanted = {name.replace("__", "*"): x for name, x in expected.items()}
    found = Solved(text, t1, list(wanted), given).values()
    for (name, x), value in zip(wanted.items(), found):
        assert math.isclose(value, x, rel_tol=rtol, abs_tol=rtol), f"{name}: {value}, expected {x}"


# ---- amounts, concentrations, compartments ----

def test_amounts_and_concentrations():
    """The same reaction of amounts, with and without hasOnlySubstanceUnits: n' = -k n"""
    for only, law in (("false", "k*C*S"), ("true", "k*S")):
        for start in (dict(initialAmount=6), dict(initialConcentration=3)):
            text = model(VESSEL, ("Species", species("S", only=only, **start) +
                                  species("P", only=only, initialAmount=0)), ("Parameters", parameters(k=0.5)),
                         ("Reactions", reaction("R", {"S": 1}, {"P": 2}, law)))
            of = 1 if only == "true" else 1/2
            check(text, S=of*6*math.exp(-0.5), P=of*12*(1 - math.exp(-0.5)), R=0.5*6*math.exp(-0.5))


def test_compartments_that_grow():
    """n' = -k n in V' = a V; what does not react is diluted"""
    for grows in (("Rules", rule("rate", "C", "a*C")), ("Rules", rule("assignment", "C", "2*exp(a*time)"))):
        text = model(("Compartments", compartment(size=2, constant="false")),
                     ("Species", species("S", initialConcentration=3) + species("B", initialConcentration=5) +
                      species("X", initialConcentration=7, boundary="true", constant="true")),
                     ("Parameters", parameters(k=0.5, a=0.25)), grows,
                     ("Reactions", reaction("R", {"S": 1, "X": 1}, {}, "k*C*S")))
        check(text, S=3*math.exp(-0.75), B=5*math.exp(-0.25), X=7*math.exp(-0.25), C__S=6*math.exp(-0.5))


def test_rates_of_concentrations():
    """A rate rule is for the concentration, also where the compartment jumps: then the amount is kept"""
    text = model(("Compartments", compartment(size=2, constant="false")), ("Species", species("S", initialAmount=6)),
                 ("Rules", rule("rate", "S", "1")), ("Events", event("E", "time > 0.5", C="4")))
    check(text, S=3.5/2 + 0.5, C__S=4*(3.5/2 + 0.5))
    text = model(("Compartments", compartment(size=2, constant="false")), ("Species", species("S", initialAmount=6)),
                 ("Events", event("E", "time > 0.5", C="4", S="1")))         # the amount is 1 times the size before
    check(text, S=0.5, C=4)


def test_fixed_species():
    """Boundary and constant species do not change by reactions; conversion factors scale what reactions do"""
    text = model(VESSEL, ("Species", species("A", initialConcentration=1, boundary="true") +
                          species("B", initialConcentration=1, boundary="true", constant="true") +
                          species("P", initialConcentration=0, conversionFactor="c") +
                          species("Q", initialConcentration=0)),
                 ("Parameters", parameters(c=3, d=5)),
                 ("Reactions", reaction("R", {"A": 1, "B": 1}, {"P": 1, "Q": 1}, "C*A*B")),
                 attributes='conversionFactor="d"')
    check(text, A=1, B=1, P=3, Q=5)


# ---- stoichiometry, local parameters, functions ----

def test_stoichiometry():
    reference = element("speciesReference", species="P", id="n", constant="false")
    text = model(VESSEL, ("Species", species("P", only="true", initialAmount=0)), ("Parameters", parameters(k=2)),
                 ("Rules", rule("assignment", "n", "3*time")), ("Reactions", reaction("R", {}, {"n": reference}, "k")))
    check(text, P=3, n=3)
    by_start = text.replace("Rule variable", "Rule symbol").replace("assignmentRule", "initialAssignment").replace(
        "listOfRules", "listOfInitialAssignments").replace("<csymbol", "<cn>4</cn><!--").replace("</csymbol>", "-->")
    check(by_start, P=24, n=12)
    written = element("speciesReference", f"<stoichiometryMath>{formula_of('k + 1')}</stoichiometryMath>", species="P")
    text = model(VESSEL, ("Species", species("P", only="true", initialAmount=0)), ("Parameters", parameters(k=2)),
                 ("Reactions", reaction("R", {}, {"n": written}, "k")), level=2)
    check(text, P=6)


def test_local_parameters_and_functions():
    local = "<listOfLocalParameters>" + element("localParameter", id="k", value=7) + "</listOfLocalParameters>"
    text = model(("FunctionDefinitions", function("f", "ab", "a + g(b)") + function("g", "a", "2*a*a")), VESSEL,
                 ("Species", species("P", only="true", initialAmount=0)), ("Parameters", parameters(k=2, b=3)),
                 ("Reactions", reaction("R", {}, {"P": 1}, "f(k, b)", local) + reaction("Q", {}, {"P": 1}, "f(b, k)")))
    check(text, R=7 + 18, Q=3 + 8, P=25 + 11)


# ---- rules, initial values ----

def test_rules():
    """x' = -y, y = x + z', z' = 2: x = -2 + (x0 + 2) exp(-t)"""
    text = model(("Parameters", parameters("false", x=1, y=0, z=0)),
                 ("Rules", rule("rate", "x", "-y") + rule("assignment", "y", "x + rateOf(z)") + rule("rate", "z", "2")))
    check(text, x=-2 + 3*math.exp(-1), y=3*math.exp(-1), z=2)


def test_algebraic_rules():
    """One that is solved, one that is not: z^3 + z = x; both at once in the unknowns of the other"""
    pair = rule("rate", "x", "1") + rule("algebraic", None, "x - 2*y + 3")
    check(model(("Parameters", parameters("false", x=1, y=0)), ("Rules", pair)), y=2.5)
    cubic = rule("rate", "x", "1") + rule("algebraic", None, "z*z*z + z - x")
    check(model(("Parameters", parameters("false", x=1, z=0.6823278038280193)), ("Rules", cubic)), z=1)
    both = rule("rate", "x", "1") + rule("algebraic", None, "y + z - x") + rule("algebraic", None, "y - z - 1")
    check(model(("Parameters", parameters("false", x=1, y=1, z=0)), ("Rules", both)), y=1.5, z=0.5)


def test_initial_values_have_gradients():
    """x0 = a^2 + b, b = 3 a, x' = -x: the derivative of x(1) with respect to a is (2 a + 3) exp(-1)"""
    text = model(("Parameters", parameters(a=2, b=0) + parameters("false", x=0)),
                 ("InitialAssignments", initial("x", "a*a + b") + initial("b", "3*a")),
                 ("Rules", rule("rate", "x", "-x")))
    found = Solved(text)
    by_y0, by_p = found.run.adjoint([1.0])
    assert found.model.parameters == ["a"]
    assert math.isclose(found.run.y[0], 10*math.exp(-1), rel_tol=1e-9)
    assert math.isclose(by_p[0], 7*math.exp(-1), rel_tol=1e-9)
    given = Solved(text, given=["x"])
    assert given.model.parameters == ["a", "x_0"] and given.model.defaults[1] == 10
    assert np.allclose(given.run.adjoint([1.0])[1], [0, math.exp(-1)], rtol=1e-9)


# ---- MathML ----

def test_mathematics():
    """Every function at points, against Python's"""
    formulas = {
        "exp(x) + ln(y)": lambda x, y: math.exp(x) + math.log(y), "log(x) + log(3, y)": lambda x, y:
        math.log10(x) + math.log(y, 3), "root(3, x) + root(y)": lambda x, y: x**(1/3) + math.sqrt(y),
        "abs(x - y) + floor(y) + ceiling(x)": lambda x, y: abs(x - y) + math.floor(y) + math.ceil(x),
        "sin(x)*cos(y) + tan(x)": lambda x, y: math.sin(x)*math.cos(y) + math.tan(x),
        "sec(x) + csc(y) + cot(x)": lambda x, y: 1/math.cos(x) + 1/math.sin(y) + 1/math.tan(x),
        "sinh(x) + cosh(y) + tanh(x)": lambda x, y: math.sinh(x) + math.cosh(y) + math.tanh(x),
        "sech(x) + csch(y) + coth(x)": lambda x, y: 1/math.cosh(x) + 1/math.sinh(y) + 1/math.tanh(x),
        "arcsin(x/3) + arccos(x/3) + arctan(y)": lambda x, y: math.pi/2 + math.atan(y),
        "arcsec(3*y) + arccsc(3*y) + arccot(y)": lambda x, y: math.pi/2 + math.atan(1/y),
        "arcsinh(x) + arccosh(1 + y) + arctanh(x/3)": lambda x, y: math.asinh(x) + math.acosh(1 + y) + math.atanh(x/3),
        "arcsech(x/3) + arccsch(y) + arccoth(1 + y)": lambda x, y: math.acosh(3/x) + math.asinh(1/y) +
        math.atanh(1/(1 + y)), "max(x, y, 1) - min(x, y, 1)": lambda x, y: max(x, y, 1) - min(x, y, 1),
        "quotient(-7*y, x) + rem(-7*y, x)": lambda x, y: math.trunc(-7*y/x) + math.fmod(-7*y, x),
        "x**y - (-x)**2": lambda x, y: x**y - x*x, "factorial(5)*pi + exponentiale": lambda x, y: 120*math.pi + math.e,
        "piecewise(1, x > y, 2, x < 1, 3)": lambda x, y: 1 if x > y else 2 if x < 1 else 3,
        "piecewise(1, xor(x > y, x < 1), 3)": lambda x, y: 1 if (x > y) != (x < 1) else 3,
        "piecewise(1, implies(x > y, x < 1), 3)": lambda x, y: 1 if x <= y or x < 1 else 3,
        "piecewise(1, not (x > y and x > 1), 3) + (x > y)": lambda x, y: (3 if x > y and x > 1 else 1) + (x > y),
        "avogadro*x*1e-23": lambda x, y: 6.02214179*x, "plus(x) + times() + plus()": lambda x, y: x + 1,
        "piecewise(1, 0.5 < x < y, 2)": lambda x, y: 1 if 0.5 < x < y else 2}
    names = [f"v{k}" for k in range(len(formulas))]
    points = [(0.75, 1.625), (1.5, 0.875), (2.25, 2.5)]
    for x, y in points:
        text = model(("Parameters", parameters(x=x, y=y) + parameters("false", **dict.fromkeys(names, 0))),
                     ("Rules", "".join(rule("assignment", name, f) for name, f in zip(names, formulas))))
        found = Solved(text, outputs=names).values()
        for (formula, expected), value in zip(formulas.items(), found):
            assert math.isclose(value, expected(x, y), rel_tol=1e-13), f"{formula} at {x, y}: {value}"


def test_piecewise_meets_its_conditions():
    """x' = 1 up to x = k, then 3: x(1) = k + 3 (1 - k); its derivative -2 is that of the time of the crossing"""
    text = model(("Parameters", parameters(k=0.3) + parameters("false", x=0)),
                 ("Rules", rule("rate", "x", "piecewise(1, x < k, 3)")))
    found = Solved(text)
    assert math.isclose(found.run.y[0], 0.3 + 3*0.7, rel_tol=1e-12)
    assert math.isclose(found.run.adjoint([1.0])[1][0], -2, rel_tol=1e-12)


# ---- events ----

EVENT = ("Parameters", parameters(k=0.5) + parameters("false", x=1, y=0, z=0))


def test_triggers():
    """x' = 2; a trigger that is said to be false before the start executes there"""
    grows = ("Rules", rule("rate", "x", "2"))
    check(model(EVENT, grows, ("Events", event("E", "x > 2 or time > 5", x="0", y="x"))), x=1, y=2)
    check(model(EVENT, grows, ("Events", event("E", "x >= 1", y="7"))), x=3, y=0)
    check(model(EVENT, grows, ("Events", event("E", "x > 1", y="7"))), x=3, y=7)
    check(model(EVENT, grows, ("Events", event("E", "x > 0", begins="false", y="x + k"))), x=3, y=1.5)
    check(model(EVENT, grows, ("Events", event("E", "not (x < 2 or time > 3)", y="x"))), y=2)
    check(model(EVENT, grows, ("Events", event("E", "time >= 0.5 and z == 0", y="x"))), y=2)


def test_events_at_one_time():
    """Priorities; values at the time of the trigger, or of the execution; triggers that do not persist"""
    def both(**more):
        return model(EVENT, ("Events", event("E", "time > k", priority="1", y="x", **more) +
                             event("F", "time > k", priority="2", x="5")))
    check(both(), x=5, y=1)
    check(both(at_trigger="false"), x=5, y=5)
    first = event("F", "time > k and x < 3", priority="2", x="5")
    check(model(EVENT, ("Events", event("E", "time > k and x < 3", priority="1", y="1") + first)), x=5, y=1)
    lasting = event("E", "time > k and x < 3", priority="1", persistent="false", y="1")
    check(model(EVENT, ("Events", lasting + first)), x=5, y=0)


def test_events_that_set_off_others():
    """E lifts x over the triggers of F and G; G is set off again by what F does"""
    chain = event("E", "time > k", x="4") + event("F", "x > 3", y="x + 1") + event("G", "y > 4.5", z="y*2")
    check(model(EVENT, ("Events", chain)), x=4, y=5, z=10)
    through = ("Rules", rule("assignment", "w", "10*x"))
    more = ("Parameters", EVENT[1] + parameters("false", w=0))
    check(model(more, through, ("Events", event("E", "time > k", x="4") + event("F", "w > 30", y="w"))), w=40, y=40)
    once = event("E", "time > k", x="4") + event("F", "x > 3", y="y + 1") + event("G", "y > 0", x="0")
    check(model(EVENT, ("Events", once)), x=0, y=1)


def test_delays():
    """E is executed 0.25 after k: with x = 1 + k of the trigger, or the present x; unless its trigger has ended"""
    grows = ("Rules", rule("rate", "x", "1"))
    check(model(EVENT, grows, ("Events", event("E", "time > k", delay="k/2", y="x", z="time"))), y=1.5, z=0.5)
    later = event("E", "time > k", delay="k/2", at_trigger="false", y="x", z="time")
    check(model(EVENT, grows, ("Events", later)), y=1.75, z=0.75)
    for persistent, y in (("true", 1), ("false", 0)):
        ends = event("E", "x > 1.4 and x < 1.6", delay="0.4", persistent=persistent, y="1")
        check(model(EVENT, grows, ("Events", ends)), y=y)
        jumps = event("E", "x > 1.4", delay="0.4", persistent=persistent, y="1") + event("F", "time > k", x="0")
        check(model(EVENT, grows, ("Events", jumps)), y=y)
    several = [event("E", "sin(20*time) > 0", delay=delay, at_trigger="false", y="y + 1") for delay in ("1.2", "1.6")]
    check(model(EVENT, grows, ("Events", several[0])), t1=2, y=3)            # triggers at 0, 0.31, 0.63, ...: four wait
    try:
        check(model(EVENT, grows, ("Events", several[1])), t1=2, y=2)
    except costate.CostateError as fault:
        assert "NaN" in str(fault)
    else:
        raise AssertionError("executions that wait for a place were forgotten")


def test_gradients_of_events():
    """x' = a x, at x = 2 it is halved and y := time: derivatives against differences"""
    text = model(("Parameters", parameters(a=1.3, b=2) + parameters("false", x=1, y=0)),
                 ("Rules", rule("rate", "x", "a*x")), ("Events", event("E", "x > b", x="x/2", y="time")))
    found = Solved(text)
    p, by_p, h = found.model.defaults, found.run.adjoint([1.0])[1], 1e-5
    for k, direction in enumerate(h*np.eye(2)):
        ends = [found.problem.integrate((0.0, 1.0), p=p + sign*direction).y[0] for sign in (1, -1)]
        assert math.isclose(by_p[k], (ends[0] - ends[1])/(2*h), rel_tol=1e-7, abs_tol=1e-8), found.model.parameters[k]
    assert math.isclose(found.run.m[0], math.log(2)/1.3, rel_tol=1e-9)


# ---- Model.from_file, libSBML ----

def test_from_file():
    text = model(VESSEL, ("Species", species("S", initialConcentration=3)), ("Parameters", parameters(k=0.5)),
                 ("Reactions", reaction("R", {"S": 1}, {}, "C*k*S")))
    found = costate.Model.from_file(file_of(text), compiled=False)
    assert found.states == ["S"] and found.parameters == ["k", "C"] and "let R = C*k*S" in found.text
    for call in (lambda: costate.Model("small.xml"), lambda: costate.Model.from_file(file_of("<sbml"))):
        try:
            call()
        except costate.ModelError as fault:
            assert "Model.from_file" in str(fault) or "small.xml:1: this is not well-formed XML" in str(fault)
        else:
            raise AssertionError("not refused")


def test_export():
    """Models that costate-model --to-sbml writes are the same when they are read again"""
    for name, t1 in (("bouncing_ball", 1.5), ("cascade", 1.0), ("dosing", 30.0), ("friction", 2.0), ("hares", 3.0),
                     ("hires", 10.0), ("pollution", 1.0), ("population", 2.0)):
        path = Path(ROOT, "models", name + ".eq")
        before = costate.Model.from_file(path, compiled=False)
        text = export(read.read(path), path.name)
        after = costate.Model.from_file(file_of(text), compiled=False)
        values = {}
        for model_ in (before, after):
            run = costate.Problem(model_, **SHARP).integrate((0.0, t1))
            names = [re.sub(r"\W+", "_", q.rstrip("]")) for q in (*model_.states, *model_.costs, *model_.memory)]
            values[model_] = dict(zip(names, [*run.y, *run.q, *run.m]))
        for quantity, value in values[before].items():
            assert math.isclose(values[after][quantity], value, rel_tol=1e-8, abs_tol=1e-9), f"{name}: {quantity}"


def test_files_are_valid():
    """libSBML reads the files of the tests above and finds no errors: they are what the specification says"""
    try:
        import libsbml
    except ImportError:
        raise Skipped("python3-sbml5 is not there")
    for text in TEXTS:
        document = libsbml.readSBMLFromString(text)
        document.checkConsistency()
        wrong = [document.getError(k).getMessage() for k in range(document.getNumErrors())
                 if document.getError(k).getSeverity() >= libsbml.LIBSBML_SEV_ERROR]
        assert not wrong or text == "<sbml", f"{text}: {wrong}"


run_all(globals())
