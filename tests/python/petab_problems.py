"""petab_problems.py - two small PEtab problems with closed forms: their files, and what they are as formulas.

decay       A' = -k A, two conditions, scale factors and noise as parameters of measurements, logarithmic scales and
            Laplace's distribution
exchange    A' = -k1 A + k2 B = -B', in its steady state first, then with another k1; also measured at infinity"""
import math
import os

import numpy as np

LN10 = math.log(10)


def reaction(name, reactant, product, law):
    return f"""<reaction id="{name}" reversible="false"><listOfReactants><speciesReference species="{reactant}"
        stoichiometry="1" constant="true"/></listOfReactants><listOfProducts>{product}</listOfProducts><kineticLaw>
        <math xmlns="http://www.w3.org/1998/Math/MathML"><apply><times/><ci>{law}</ci><ci>{reactant}</ci></apply></math>
        </kineticLaw></reaction>"""


def sbml(species, parameters, reactions):
    of_species = "".join(f'<species id="{s}" compartment="C" initialConcentration="{v}" hasOnlySubstanceUnits="false" '
                         'boundaryCondition="false" constant="false"/>' for s, v in species.items())
    of_parameters = "".join(f'<parameter id="{p}" value="{v}" constant="true"/>' for p, v in parameters.items())
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<sbml xmlns="http://www.sbml.org/sbml/level3/version1/core" level="3" version="1"><model id="small">
<listOfCompartments><compartment id="C" size="1" constant="true" spatialDimensions="3"/></listOfCompartments>
<listOfSpecies>{of_species}</listOfSpecies><listOfParameters>{of_parameters}</listOfParameters>
<listOfReactions>{"".join(reactions)}</listOfReactions></model></sbml>
"""


def product(species):
    return f'<speciesReference species="{species}" stoichiometry="1" constant="true"/>'


def rows(*lines):
    """a table: cells are separated by blanks, . is an empty one"""
    return "".join("\t".join("" if c == "." else c for c in line.split()) + "\n" for line in lines)


YAML = """format_version: 1
parameter_file: parameters.tsv
problems:
- condition_files: [conditions.tsv]
  measurement_files: [measurements.tsv]
  observable_files: [observables.tsv]
  sbml_files: [model.xml]
"""

DECAY = {
    "problem.yaml": YAML,
    "model.xml": sbml({"A": 1, "D": 0}, {"k": 1}, [reaction("R", "A", product("D"), "k")]),
    "parameters.tsv": rows(
        "parameterId parameterScale lowerBound upperBound nominalValue estimate objectivePriorType "
        "objectivePriorParameters",
        "k log10 0.01 100 0.7 1 parameterScaleNormal -0.1;0.2", "scale lin 0 10 1.3 1 normal 1;0.5",
        "offset lin 0 1 0.05 0 . .", "sd log 0.001 10 0.2 1 logLaplace -1;0.4", "start log10 0.1 10 2 1 . ."),
    "conditions.tsv": rows("conditionId A", "low 1.5", "high start"),
    "observables.tsv": rows(
        "observableId observableFormula noiseFormula observableTransformation noiseDistribution",
        "plain observableParameter1_plain*A+offset noiseParameter1_plain lin normal",
        "tenth observableParameter1_tenth*A noiseParameter1_tenth log10 normal",
        "natural A+0.1 sd*(1+A) log laplace", "of_noise A 0.1+0.05*natural lin ."),
    "measurements.tsv": rows(
        "observableId simulationConditionId time measurement observableParameters noiseParameters",
        "plain low 0 2.2 scale 0.3", "plain low 0 1.9 1.1 sd", "plain low 1.5 0.6 scale sd",
        "tenth low 1.5 0.9 2 0.1", "tenth high 0.5 2.8 scale sd", "natural high 0.5 1.2 . .",
        "natural low 2 0.7 . .", "natural low 1.5 nan . .", "of_noise low 1 0.9 . ."),
}


def decay(x):
    """the log-likelihood of DECAY at x = (log10 k, scale, log sd, log10 start)"""
    k, scale, sd, start = 10**x[0], x[1], np.exp(x[2]), 10**x[3]

    def A(t, a):
        return a * np.exp(-k * t)

    def normal(r, s):
        return -0.5 * np.log(2 * np.pi * s**2) - 0.5 * (r / s)**2
    tenths = [(2 * A(1.5, 1.5), 0.9, 0.1), (scale * A(0.5, start), 2.8, sd)]
    naturals = [(A(0.5, start), 1.2), (A(2, 1.5), 0.7)]
    out = normal(scale * 1.5 + 0.05 - 2.2, 0.3) + normal(1.1 * 1.5 + 0.05 - 1.9, sd) + \
        normal(scale * A(1.5, 1.5) + 0.05 - 0.6, sd) + normal(A(1, 1.5) - 0.9, 0.105 + 0.05 * A(1, 1.5))
    out = out + sum(normal(np.log10(f) - np.log10(m), s) - np.log(m * LN10) for f, m, s in tenths)
    return out + sum(-np.log(2 * sd * (1 + a)) - abs(np.log(a + 0.1) - np.log(m)) / (sd * (1 + a)) - np.log(m)
                     for a, m in naturals)


def decay_prior(x):
    u = np.exp(x[2])
    return -0.5 * np.log(2 * np.pi * 0.04) - 0.5 * ((x[0] + 0.1) / 0.2)**2 - 0.5 * np.log(2 * np.pi * 0.25) - \
        0.5 * ((x[1] - 1) / 0.5)**2 - np.log(0.8 * u) - abs(x[2] + 1) / 0.4


EXCHANGE = {
    "problem.yaml": YAML,
    "model.xml": sbml({"A": 2, "B": 1}, {"k1": 1, "k2": 0.5},
                      [reaction("R", "A", product("B"), "k1"), reaction("S", "B", product("A"), "k2")]),
    "parameters.tsv": rows("parameterId parameterScale lowerBound upperBound nominalValue estimate",
                           "calm log10 0.01 100 0.4 1", "fast log10 0.01 100 1.7 1", "k2 log10 0.01 100 0.6 1",
                           "sd log10 0.01 10 0.15 1"),
    "conditions.tsv": rows("conditionId k1 B", "before calm 1", "kept fast nan", "set fast 0.3"),
    "observables.tsv": rows("observableId observableFormula noiseFormula", "a A sd"),
    "measurements.tsv": rows(
        "observableId preequilibrationConditionId simulationConditionId time measurement",
        "a before kept 0 1.7", "a before kept 0.4 1.3", "a before kept 2 0.9", "a before set 0.7 1.1",
        "a before set inf 0.6", "a . kept 0.5 1.4", "a . kept inf 0.8"),
}


def exchange(x):
    """the log-likelihood of EXCHANGE at x = log10 of (calm, fast, k2, sd)"""
    calm, fast, k2, sd = 10**np.asarray(x)
    rest = 3 * k2 / (calm + k2)                     # A in the steady state before; A + B = 3

    def A(t, a, total):
        limit = total * k2 / (fast + k2)
        return limit + (a - limit) * np.exp(-(fast + k2) * t)
    pairs = [(rest, 1.7), (A(0.4, rest, 3), 1.3), (A(2, rest, 3), 0.9), (A(0.7, rest, rest + 0.3), 1.1),
             ((rest + 0.3) * k2 / (fast + k2), 0.6), (A(0.5, 2, 3), 1.4), (3 * k2 / (fast + k2), 0.8)]
    return sum(-0.5 * np.log(2 * np.pi * sd**2) - 0.5 * ((f - m) / sd)**2 for f, m in pairs)


def written(files, folder, **changed):
    """writes the files; changed: {"name_tsv": (text, instead)} ; returns the path of problem.yaml"""
    os.makedirs(folder, exist_ok=True)
    for name, text in files.items():
        before, after = changed.get(name.replace(".", "_"), ("", ""))
        if before and before not in text:
            raise ValueError(f"{before!r} is not in {name}")
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text.replace(before, after, 1) if before else text)
    return os.path.join(folder, "problem.yaml")
