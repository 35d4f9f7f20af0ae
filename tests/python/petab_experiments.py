"""petab_experiments.py - small PEtab problems of version 2 with closed forms: their files, and what they are as
formulas.

A' = -k A, in a vessel of size C.  Its experiments:
plain       the model as it is, A(0) = a0
doses       A is set by a formula of parameters at 1; at 2.5 A and the vessel by formulas of what they are, at 4, the
            last time that is measured, A alone
stopped     begins at -2; k is set there, and again at 0
rested      X' = supply - k X comes to rest at supply/k before; the run begins at 1 with another k, and at 3 there is a
            third one and X is changed
still, moved    measured at infinity, after they came to rest before"""
import numpy as np

from petab_problems import rows, sbml

NUMBER = '<math xmlns="http://www.w3.org/1998/Math/MathML">'


def rate_rule(variable, math):
    return f'<rateRule variable="{variable}">{NUMBER}{math}</math></rateRule>'


def apply(operator, *parts):
    return f"<apply><{operator}/>{''.join(p if p.startswith('<') else f'<ci>{p}</ci>' for p in parts)}</apply>"


def model(events="", *of_a):
    """of_a: further factors of the rate of A"""
    parts = sbml({"A": 1}, {"k": 1, "supply": 2, "a0": 1.5, "X": 0, "idle": 1}, [])
    parts = parts.replace('<parameter id="X" value="0" constant="true"/>', '<parameter id="X" constant="false"/>')
    assigned = f'<listOfInitialAssignments><initialAssignment symbol="A">{NUMBER}<ci>a0</ci></math>' \
               f'</initialAssignment><initialAssignment symbol="X">{NUMBER}<cn>0.5</cn></math></initialAssignment>' \
               '</listOfInitialAssignments>'
    rules = "<listOfRules>" + rate_rule("A", apply("minus", apply("times", "k", "A", *of_a))) + \
        rate_rule("X", apply("minus", "supply", apply("times", "k", "X"))) + "</listOfRules>"
    return parts.replace("<listOfReactions></listOfReactions>", assigned + rules + events)


FILES = {
    "problem.yaml": """format_version: 2.0.0
parameter_files: [parameters.tsv]
model_files:
  small: {location: model.xml, language: sbml}
condition_files: [conditions.tsv]
experiment_files: [experiments.tsv]
observable_files: [observables.tsv]
measurement_files: [measurements.tsv]
mapping_files: [mapping.tsv]
extensions:
  colours: {version: 1.0, required: false}
""",
    "model.xml": model(),
    "mapping.tsv": rows("petabEntityId modelEntityId", "amount_of_drug A", "remark ."),
    "parameters.tsv": rows("parameterId lowerBound upperBound nominalValue estimate priorDistribution priorParameters",
                           "k_0 0.1 10 0.7 true log-normal -0.4;0.3", "a0 0 10 1.2 true . .",
                           "sd 0.01 10 0.3 true gamma 3;0.2", "shift 0 1 0.25 true laplace 0.2;0.1",
                           "fixed . . 1.1 false . ."),
    "conditions.tsv": rows("conditionId targetId targetValue", "usual k k_0", "slow k 0.4", "fast k 3*k_0^2",
                           "dose A a0+fixed", "turn A A+shift*C*time", "widen C 1+A", "top A 2*A+1",
                           "more X 2*X+shift", "lean supply 1.3", "lift X 1.5"),
    "experiments.tsv": rows("experimentId time conditionId", "doses 0 usual", "doses 1 dose", "doses 4 top",
                            "doses 2.5 turn", "doses 2.5 widen", "doses 9 slow", "stopped 0 usual", "stopped -2 slow",
                            "rested -inf usual", "rested -inf lean", "rested 1 slow", "rested 3 fast",
                            "rested 3 more", "unused 0 slow", "still -inf usual", "moved -inf usual", "moved 0 slow",
                            "moved 0 lift"),
    "observables.tsv": rows(
        "observableId observableFormula noiseFormula noiseDistribution observablePlaceholders noisePlaceholders",
        "drug amount_of_drug sd . . .", "total C*A*scale 0.1+sd*total log-normal scale .", "x X+shift noise "
        "laplace spare noise", "lx X sd log-laplace . ."),
    "measurements.tsv": rows(
        "observableId experimentId time measurement observableParameters noiseParameters modelId",
        "drug . 0 1.1 . . small", "drug . 0.8 0.9 . .", "drug doses 1 2.1 . .", "drug doses 2 1.4 . .",
        "total doses 2.5 3.1 1.5 .", "total doses 3 2.2 shift .", "drug doses 4 1.9 . .", "drug doses 4 nan . .",
        "drug stopped -2 1.1 . .", "drug stopped 0.5 0.6 . .", "drug stopped -1 0.5 . .", "x rested 1 1.8 1 0.4",
        "x rested 2 2.9 1 sd", "lx rested 3 5.1 . .", "lx rested 4 3.3 . ."),
}
AT_REST = rows("observableId experimentId time measurement", "lx still 0 2.1", "lx still inf 2.2", "lx moved 0.5 1.2",
               "lx moved inf 1.5")


def normal(f, m, s):
    return -0.5 * np.log(2 * np.pi * s**2) - 0.5 * ((f - m) / s)**2


def log_normal(f, m, s):
    return normal(np.log(f), np.log(m), s) - np.log(m)


def laplace(f, m, s):
    return -np.log(2 * s) - abs(f - m) / s


def log_laplace(f, m, s):
    return laplace(np.log(f), np.log(m), s) - np.log(m)


def exchanged(t, start, k, supply=2):
    """X"""
    return supply / k + (start - supply / k) * np.exp(-k * t)


def likelihood(x):
    """the log-likelihood of FILES at x = (k_0, a0, sd, shift)"""
    k, a0, sd, shift = x

    dose = a0 + 1.1
    at = dose * np.exp(-k * 1.5)                            # at 2.5, before
    widened, turned = 1 + at, at + shift * 2.5
    third, last = turned * np.exp(-k * 0.5), turned * np.exp(-k * 1.5)
    before, early = a0 * np.exp(-0.4), a0 * np.exp(-0.8) * np.exp(-k * 0.5)
    total, total3 = 1.5 * turned * widened, shift * third * widened
    out = normal(a0, 1.1, sd) + normal(a0 * np.exp(-0.8), 0.9, sd)             # k is 1 in the model
    out += normal(dose, 2.1, sd) + normal(dose * np.exp(-k), 1.4, sd) + normal(2 * last + 1, 1.9, sd)
    out += log_normal(total, 3.1, 0.1 + sd * total) + log_normal(total3, 2.2, 0.1 + sd * total3)
    out += normal(a0, 1.1, sd) + normal(before, 0.5, sd) + normal(early, 0.6, sd)
    rest = 1.3 / k
    second, third = exchanged(1, rest, 0.4, 1.3), 2 * exchanged(2, rest, 0.4, 1.3) + shift
    return out + laplace(rest + shift, 1.8, 0.4) + laplace(second + shift, 2.9, sd) + log_laplace(third, 5.1, sd) + \
        log_laplace(exchanged(1, third, 3 * k**2, 1.3), 3.3, sd)


def at_rest(x):
    """the log-likelihood of FILES with the measurements AT_REST"""
    k, a0, sd, shift = x
    rest, end = 2 / k, 2 / 0.4
    return log_laplace(rest, 2.1, sd) + log_laplace(rest, 2.2, sd) + log_laplace(exchanged(0.5, 1.5, 0.4), 1.2, sd) + \
        log_laplace(end, 1.5, sd)


def vessels():
    """A vessel V of size 2 with S, a concentration, 6 mol in all, and N, an amount, 2 mol/L; twice is 2*base at the
    start; Z has no initial value; T is 2 S by a rule; R.loss is a local parameter.  Nothing moves"""
    species = "".join(f'<species id="{id_}" compartment="V" initial{kind}="{value}" hasOnlySubstanceUnits="{only}" '
                      'boundaryCondition="true" constant="false"/>' for id_, kind, value, only in
                      (("S", "Amount", 6, "false"), ("N", "Concentration", 2, "true"), ("T", "Amount", 1, "false"),
                       ("Z", "Amount", "", "false")))
    species = species.replace('initialAmount="" ', "")
    text = sbml({}, {"base": 1, "twice": 1, "sum": 0}, [])
    text = text.replace('<compartment id="C" size="1" constant="true"', '<compartment id="V" size="2" constant="false"')
    text = text.replace("<listOfSpecies></listOfSpecies>", f"<listOfSpecies>{species}</listOfSpecies>")
    text = text.replace('<parameter id="sum" value="0" constant="true"/>', '<parameter id="sum" constant="false"/>')
    loss = f'<reaction id="R" reversible="false"><kineticLaw>{NUMBER}<ci>loss</ci></math><listOfLocalParameters>' \
           '<localParameter id="loss" value="0.25"/></listOfLocalParameters></kineticLaw></reaction>'
    return text.replace("<listOfReactions></listOfReactions>",
                        f'<listOfInitialAssignments><initialAssignment symbol="twice">{NUMBER}'
                        f'{apply("times", "<cn>2</cn>", "base")}</math></initialAssignment></listOfInitialAssignments>'
                        f'<listOfRules><assignmentRule variable="sum">{NUMBER}{apply("plus", "S", "N")}</math>'
                        f'</assignmentRule><assignmentRule variable="T">{NUMBER}'
                        f'{apply("times", "<cn>2</cn>", "S")}</math></assignmentRule>'
                        f"</listOfRules><listOfReactions>{loss}</listOfReactions>")


SEEN = ("S", "N", "V", "base", "twice", "lost", "Z", "T")
VESSELS = {
    "problem.yaml": FILES["problem.yaml"],
    "model.xml": vessels(),
    "mapping.tsv": rows("petabEntityId modelEntityId", "lost R.loss"),
    "parameters.tsv": rows("parameterId lowerBound upperBound nominalValue estimate", "p 0 10 1.5 true",
                           "q 0 10 0.5 true"),
    "conditions.tsv": rows("conditionId targetId targetValue", "wide V 4", "full S 5", "twofold V V*2", "three V 3",
                           "three N N+V", "added S p+q", "added Z 7", "times S p*q", "one base 1.25", "other base 3",
                           "five V 5"),
    "experiments.tsv": rows("experimentId time conditionId", "a 0 wide", "b 0 full", "b 1 twofold", "b 2 three",
                            "c 0 added", "d 0 times", "e -inf one", "e 0 other", "f -inf full", "f 0 five"),
    "observables.tsv": rows("observableId observableFormula noiseFormula", *(f"o{name} {name} 1" for name in SEEN)),
    "measurements.tsv": rows("observableId experimentId time measurement", *(
        f"o{name} {of} {t} 0" for name in SEEN for of, t in (
            (".", 1), ("a", 1), ("b", 0), ("b", 1), ("b", 3), ("c", 1), ("d", 1), ("e", 1), ("f", 0)))),
}
CONTENTS = {            # S, N, V, base, twice, the local parameter, Z
    ("", 1): (3, 4, 2, 1, 2, 0.25, 0), ("a", 1): (1.5, 8, 4, 1, 2, 0.25, 0), ("b", 0): (5, 4, 2, 1, 2, 0.25, 0),
    ("b", 1): (5, 4, 4, 1, 2, 0.25, 0), ("b", 3): (5, 8, 3, 1, 2, 0.25, 0), ("c", 1): (2, 4, 2, 1, 2, 0.25, 7),
    ("d", 1): (0.75, 4, 2, 1, 2, 0.25, 0), ("e", 1): (3, 4, 2, 3, 2.5, 0.25, 0), ("f", 0): (5, 4, 5, 1, 2, 0.25, 0)}
