"""dae.py - parts dae and fekete of the benchmark: residuals, and M y' = f of index 2."""
import re
import statistics

from report.sweeps import (
    alternatives, asked_of_peers, best_at, compete, ladder, peer_table, QUICK, ratio, show, sweep, timed, tolerances)
from report.tables import curve


def part_dae(run, rep):
    """residuals against IDAS: by KLU, banded, and by GMRES with the same ILU(0)"""
    if not run.has["idas"]:
        rep.say("IDAS is not there (bench/peers/build.sh says why): it does not race.")
    exponents, methods = (1, 2, 3, 4, 5, 6, 7), ("sdirk4a", "sdirk4b", "radau2a", "radau2a5", "lobatto3c", "radau2a2")
    for problem, side in (("heat_dae", 24 if QUICK else 40), ("foodweb", 12 if QUICK else 20)):
        for solver, own in (("klu", methods), ("band", methods[:4])):
            ours = [("costate:" + m, solver, (), "", ladder(exponents)) for m in own]
            table = sweep(run, ours + idas(solver), problem, None, size=side)
            dae_tables(rep, table, "%s %d, %s" % (problem, side, solver), {"forward": (2.5, 1.5), "gradient": (5, 1.5)})
            if solver == "klu" and problem == "heat_dae":
                mass_form(run, rep, table, side)
        ours = [("costate:" + m, "gmres", ("--ilu0", "--krylov-tol", repr(tol)), " krylov_tol = rtol", [tol])
                for m in methods[:3] for tol in ladder(exponents + (8,))]
        ours += [("costate:" + m, "gmres", ("--ilu0",), "", ladder(exponents)) for m in methods[:1]]
        table = sweep(run, ours + idas("gmres"), problem, None, size=side)
        dae_tables(rep, table, "%s %d, gmres" % (problem, side), {"forward": None, "gradient": (1.5, 1.5)})
        for m in methods[:4]:
            row = run.row("costate:" + m, problem, size=side, solver="klu", flags=("--pairs",), repeat=5)
            rep.target("%s %d, %s: gradient / forward" % (problem, side, m), ratio(row), 2.5)
    idas_options(run, rep)


def idas(solver):
    """IDAS in the ways that were best somewhere: atol of the adjoint"""
    ilu = ("--ilu",) if solver == "gmres" else ()
    return [("idas:bdf", solver, ilu + flags, name, ladder((4, 6, 8))) for flags, name in (
        ((), ""), (("--adjoint-atol", "1e-1"), " atol 1e-1"), (("--adjoint-atol", "10"), " atol 10"))]


def dae_tables(rep, table, what, limits):
    """limits: {forward or gradient: what two of the ratios, and what all of them must reach; None: no target}"""
    for mode, error, time in (("forward", "error", "forward"), ("gradient", "error_derivative", None)):
        part = {name: [timed(row, time) for row in rows] for name, rows in table.items()}
        if mode == "gradient":
            show(rep, what, part, "dae_" + re.sub("[^a-z]+", "_", what))
        found = {rtol: best_at(part, "idas", rtol, error) for rtol in asked_of_peers()}
        peer_table(rep, "%s, %s" % (what, mode), "IDAS", error, found)
        for rtol, f in found.items():
            rep.ratio("%s, %s, rtol %g" % (what, mode, rtol), f[1] if f else "", f[2] if f else "idas", f and f[0])
        if limits[mode]:
            ratios = sorted((f[0].median for f in found.values() if f), reverse=True)
            whole = len(ratios) == len(found)
            for k, limit in ((min(1, len(found) - 1), limits[mode][0]), (len(found) - 1, limits[mode][1])):
                rep.target("%s, %s: times faster than IDAS at its error, at %d of %d tolerances" % (
                    what, mode, k + 1, len(found)), ratios[k] if whole else None, limit, True)


def mass_form(run, rep, table, side):
    """the same problem as M y' = f, by a Rosenbrock method, at IDAS' errors"""
    ours = [("costate:rodas5p", "klu", (), " M y' = f", ladder((1, 2, 3, 4, 5, 6, 7)))]
    peers = {name: rows for name, rows in table.items() if name.startswith("idas")}
    both = dict(sweep(run, ours, "heat_mass", None, size=side), **peers)
    dae_tables(rep, both, "heat_mass %d, klu" % side, {"forward": None, "gradient": None})


def idas_options(run, rep):
    """What IDAS could be given, beside what it is: gradient at rtol 1e-6, in turns, time and error."""
    choices = {"klu": [(), ("--suppress",), ("--polynomial",), ("--colamd",)],
               "gmres": [("--ilu",), ("--ilu", "--suppress"), ("--ilu", "--krylov", "10"), ("--ilu", "--krylov", "20")]}
    rows = []
    for problem in ("heat_dae", "foodweb"):
        for solver, ways in choices.items():
            for flags, ratios, _, row in alternatives(run, "idas:bdf", problem, ways, solver=solver):
                rows.append([problem, solver, " ".join(flags) or "as raced"] + (
                    ["%.2f" % statistics.median(ratios), "%.1e" % row["error_derivative"]] if ratios
                    else [row.get("message", ""), ""]))
    rep.plain_table("What IDAS was given, rtol 1e-6: time of the alternatives over that of what is raced",
                    ["problem", "solver", "options", "ratio", "error"], rows)
    rep.say()
    rep.say("As raced: all unknowns in the error test, the adjoint's atol 0.1, 1 and 10 times the one given, whichever "
            "is best; Hermite interpolation of the forward run with one checkpoint; consistent y' and adjoint given, "
            "not timed; integrals not in the error test; GMRES with a space of 5; KLU ordered by AMD, refactored.")


def part_fekete(run, rep):
    """points on a sphere, 160 unknowns of index 0 and 2, against RADAU5 with the same M y' = f and full Jacobian"""
    methods, tols = ("radau2a", "radau2a5", "lobatto3c"), tolerances(4, 5, 6, 7, 8, 9)
    entries = [("costate:" + m, "dense", (), "", tols) for m in methods]
    entries += [("costate:" + m, "klu", ("--sparse",), "", tols) for m in methods[:2]]
    peers = ["hairer radau5 dense"] if run.has["hairer"] else []
    if not peers:
        rep.say("RADAU5 could not be built (bench/peers/build.sh says why): it does not race.")
    # the gradient by the eight numbers that the start is made of is that by y(0) times a matrix: it costs nothing
    pairs = [(code, solver, flags + ("--pairs",), *rest) for code, solver, flags, *rest in entries]
    gradients = sweep(run, pairs, "fekete", None, mode="adj")
    table = sweep(run, entries + [("hairer:radau5", "dense", (), "", tols) for _ in peers], "fekete", None,
                  mode="forward")
    rows = [fekete_row(row, gradients.get(name, [None] * len(of))[k])
            for name, of in table.items() for k, row in enumerate(of)]
    rep.plain_table("Fekete points to t = 1: errors of p and q, of log V, of its gradient by eight numbers",
                    ["code", "tol", "acc", "rej", "f", "jac", "LU", "cLU", "solves", "csolves", "forward s",
                     "gradient s", "ratio", "err p,q", "err V", "err dV"], rows)
    rep.say()
    rep.say("ratio: of the gradient's time, its forward run included, to that of a forward run alone.")
    rep.picture("fekete", "Fekete points, forward", {name: curve(of, "error") for name, of in table.items()},
                "relative error of p and q")
    for name in [n for n in table if n not in peers] if peers else []:
        for what, error in (("p and q", "error"), ("log V", "error_functional")):
            limit = 1 if name.startswith("radau2a") else None
            compete(rep, table, "Fekete points, " + what, [name], peers, limit, error)


def fekete_row(row, gradient):
    """gradient: None for a code that has none"""
    if row.get("status"):
        return [row["name"], "%.0e" % row["asked"], "failed: " + row["message"]] + [""] * 13
    both = gradient and not gradient.get("status")
    ratios = [turn["ratio"] for turn in gradient["turns"]] if both else []
    return [row["name"], "%.0e" % row["asked"], row["accepted"], row["rejected"], row["f"], row["jac"],
            row["decompositions"], row["complex"], row["solves"], row["complex_solves"], "%.3g" % row["forward"],
            "%.3g" % gradient["seconds"] if both else "-", "%.2f" % statistics.median(ratios) if both else "-",
            "%.1e" % row["error"], "%.1e" % row["error_functional"],
            "%.1e" % gradient["error_derivative"] if both else "-"]
