"""model.py - the part model of the benchmark: generated problems beside callbacks written by hand and costate.hpp."""
import json
import os
import subprocess

KINETICS = ("pollu", "hires")
GRIDS = ("brusselator", "shallow water", "heat")
ADJOINT, NEAR_HAND = 3, 1.15                           # over value; over what is written by hand


def part_model(run, rep):
    rows = {what: measured(run, what) for what in ("products", "runs")}
    with open(os.path.join(run.out, "model.json"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for several in rows.values() for row in several)
    products(rep, rows["products"])
    runs(rep, rows["runs"])


def measured(run, what):
    done = subprocess.run([os.path.join(run.out, "generated"), what, *(["small"] if run.quick else [])],
                          stdout=subprocess.PIPE, text=True, check=True, env=dict(os.environ, OPENBLAS_NUM_THREADS="1"))
    return [json.loads(line) for line in done.stdout.splitlines()]


def ratio(a, b):
    return "%.2f" % (a / b) if a and b else "-"


def time(x):
    return "-" if x is None else "%.4g" % x


def products(rep, rows):
    found = {(row["problem"], row["product"], row["code"]): row["ns"] for row in rows}
    names = list(dict.fromkeys((row["problem"], row["product"]) for row in rows))
    table, slowest = [], {}
    for problem, product in names:
        hand, own, cpp = (found.get((problem, product, code)) for code in ("hand", "generated", "costate.hpp"))
        table.append([problem, product, time(hand), time(own), time(cpp), ratio(own, hand), ratio(cpp, hand)])
        if hand and problem in GRIDS:
            slowest[problem] = max(slowest.get(problem, (0, "")), (own / hand, product))
    rep.plain_table("Products of a right-hand side, nanoseconds: by hand, from an equation file, by costate.hpp",
                    ["problem", "product", "hand", "generated", "costate.hpp", "generated/hand", "costate.hpp/hand"],
                    table)
    for problem in KINETICS:
        value, adjoint = (found.get((problem, p, "generated")) for p in ("value", "adjoint"))
        rep.target("%s: generated adjoint over generated value" % problem, adjoint / value, ADJOINT)
    for problem, (worst, product) in slowest.items():
        rep.target("%s: generated over hand-written, the slowest product (%s)" % (problem, product), worst, NEAR_HAND)
    cpp = [found.get(("pollu", p, "costate.hpp")) for p in ("value", "adjoint, y and p")]
    if all(cpp):
        rep.target("pollu by costate.hpp: adjoint over value", cpp[1] / cpp[0], 10)


def runs(rep, rows):
    found = {(row["problem"], row["method"], row["mode"], row["code"]): row["us"] for row in rows}
    names = list(dict.fromkeys((row["problem"], row["method"], row["mode"]) for row in rows))
    codes = ("hand", "generated", "costate.hpp", "generated, own LU")
    table = []
    for name in names:
        times = [found.get((*name, code)) for code in codes]
        table.append([*name, *(time(x) for x in times), ratio(times[0], times[1]), ratio(times[0], times[3])])
    rep.plain_table("Whole runs, rtol 1e-6, microseconds; own LU: the linear solver of the generated file",
                    ["problem", "method", "mode", *codes, "hand/generated", "hand/generated, own LU"], table)
