"""petab_collection.py DIR [PROBLEM...] - problems of the PEtab benchmark collection: values, gradients, their errors.

DIR holds a folder for each problem, with its yaml file.  One line a problem, at the nominal parameters:

    n, k, runs      states, estimated parameters, conditions
    log L           the log-likelihood
    published       relative difference from AMICI's value (bench/reference/petab.toml)
    simulated       the largest difference of an output from the collection's simulatedData file, relative to the
                    largest output of the observable there
    tangent         adjoint against tangents along a random direction, relative to sum |gradient_i d_i|
    replay          ... against differences of replayed runs, and their own uncertainty
    bars            how many estimated errors of gradient entries, at rtol = 1e-6, are between 1/3 and 3 times the true
                    ones; entries whose error is below 1e-9 of the largest entry are left out
    ms              processor milliseconds of the log-likelihood, and of it with its gradient; steps of the runs

Tolerances are rtol = 1e-8, atol = 1e-12.  Models are compiled, or run as byte code if that takes over a minute."""
import glob
import os
import sys
import time
import tomllib
from pathlib import Path

import numpy as np

import costate.petab
from costate.petab.check import check
from costate.petab.tables import table

HERE = Path(__file__).resolve().parent
ROUND_OFF, FACTOR = 1e-9, 3
PATIENCE = 60                                # seconds for the compiler; then byte code
COARSE, FINE = dict(rtol=1e-6, atol=1e-10), dict(rtol=1e-10, atol=1e-14)


def yaml_of(folder):
    found = [f for f in sorted(glob.glob(str(folder / "*.yaml"))) if "test" not in os.path.basename(f)]
    return found[0] if found else None


def simulated(problem, folder):
    """the largest difference from the simulatedData file, or None"""
    files = glob.glob(str(folder / "simulatedData*.tsv"))
    if not files:
        return None
    expected = {}
    columns = ("observableId", "preequilibrationConditionId", "simulationConditionId", "observableParameters",
               "noiseParameters")
    for row in table(files[0], ("observableId", "time")):
        column = "simulation" if "simulation" in row else "measurement"
        key = tuple(row.text(c) for c in columns[:3]) + (row.number_of("time"),)
        expected.setdefault(key, []).append(row.number_of(column))
    largest, worst = {}, 0.0
    for key, values in expected.items():
        largest[key[0]] = max(largest.get(key[0], 0.0), *map(abs, values))
    found, matched = problem.residuals(), 0
    for row, value in zip(found.rows, found.output):
        values = expected.get(tuple(row.text(c) for c in columns[:3]) + (row.number_of("time"),))
        if values:
            matched += 1
            worst = max(worst, min(abs(value - v) for v in values) / (largest[row.text("observableId")] or 1.0))
    return worst if matched else None


def bars(load):
    """(estimates that are right, estimates)"""
    coarse, fine = load(**COARSE).gradient(estimate=True), load(**FINE).gradient()
    true = fine.gradient - coarse.gradient
    counted = np.abs(true) > ROUND_OFF * np.max(np.abs(fine.gradient))
    ratio = np.abs(coarse.error.gradient[counted] / true[counted])
    same = np.sign(coarse.error.gradient[counted]) == np.sign(true[counted])
    return int(np.sum((ratio > 1 / FACTOR) & (ratio < FACTOR) & same)), int(np.sum(counted))


def milliseconds(call):
    """the shorter of two"""
    found = []
    for _ in range(2):
        before = time.process_time()
        call()
        found.append(1e3 * (time.process_time() - before))
    return min(found)


def line(folder, published):
    path = yaml_of(folder)
    if path is None or not glob.glob(str(folder / "*.xml")):
        return f"{folder.name:36} its model is not in the collection", None

    def load(**tolerances):
        return costate.petab.load(path, threads=1, **tolerances)
    try:
        problem = load()
        problem.model.wait(PATIENCE)
        found = check(problem)
        value, gradient = milliseconds(problem.value), milliseconds(problem.gradient)
        right, all_ = bars(load)
    except (costate.CostateError, costate.petab.PetabError, ArithmeticError) as error:
        return f"{folder.name:36} {str(error)[:200]}", False
    off, seen = published.get(folder.name), simulated(problem, folder)
    return (f"{folder.name:36} {problem.model.n:4} {len(problem.names):4} {len(problem.conditions):4} "
            f"{found.value:16.10g} {'-' if off is None else format(abs(found.value / off - 1), '.0e'):>9} "
            f"{'-' if seen is None else format(seen, '.0e'):>9} {found.by_tangent:8.0e} {found.by_difference:7.0e} "
            f"{found.uncertainty:6.0e} {right:4}/{all_:<4} {value:8.1f} {gradient:8.1f} {problem.steps:7}"), True


def main(words):
    folder, names = Path(words[0]), words[1:]
    with open(HERE / "reference" / "petab.toml", "rb") as file:
        published = tomllib.load(file)
    folders = [folder / name for name in names] or sorted(f for f in folder.iterdir() if f.is_dir())
    print(f"{'':36} {'n':>4} {'k':>4} {'runs':>4} {'log L':>16} {'published':>9} {'simulated':>9} {'tangent':>8} "
          f"{'replay':>7} {'':6} {'bars':>9} {'ms':>8} {'':8} {'steps':>7}")
    done = []
    for each in folders:
        text, right = line(each, published)
        print(text, flush=True)
        done.append(right)
    print(f"{sum(d is True for d in done)} of {len(done)} problems were solved")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
