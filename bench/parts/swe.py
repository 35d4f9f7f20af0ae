"""swe.py - parts peers, swe, adj, growth, columns of the benchmark: shallow water, where explicit methods do."""
import os
import re
import statistics
import subprocess

from report.sweeps import adams, alternatives, bdf, compete, packaged, QUICK, ratio, show, sweep, tolerances


def part_peers(run, rep):
    """What CVODES could be given, beside what it is: forward and gradient, same tolerance, in turns."""
    side, grid = (20, 16) if QUICK else (40, 32)
    cases = [("swe", side, "adj", "adams", "auto", [(), ("--polynomial",)]),
             ("swe", side, "adj", "bdf", "gmres", [(), ("--polynomial",), ("--krylov", "10"), ("--krylov", "20")]),
             ("brusselator2d", grid, "adj", "bdf", "gmres", [(), ("--krylov", "10"), ("--krylov", "20")]),
             ("brusselator2d", grid, "adj", "bdf", "umfpack", [(), ("--polynomial",)]),
             ("brusselator2d", grid, "adj", "bdf", "klu", [(), ("--colamd",)]),
             ("hires", None, "forward", "bdf", "dense", [(), ("--lapack",)]),
             ("pollu", None, "forward", "bdf", "dense", [(), ("--lapack",)])]
    rows = []
    for problem, size, mode, method, solver, choices in cases:
        ways = alternatives(run, "%s:%s" % (run.peer, method), problem, choices, size=size, solver=solver, mode=mode)
        for k, (flags, ratios, seconds, row) in enumerate(ways):
            rows.append(["%s %s" % (problem, size or ""), method + " " + solver, " ".join(flags) or "as raced",
                         "%.3g" % seconds if k == 0 else "",
                         "%.2f" % statistics.median(ratios) if ratios else row.get("message")])
    rep.plain_table("What CVODES was given, rtol 1e-6: time of the alternatives over that of what is raced",
                    ["problem", "CVODES", "options", "seconds", "ratio"], rows)
    rep.say()
    rep.say("As raced: Hermite interpolation of the forward run with one checkpoint, so that no step is computed "
            "twice; GMRES with a space of 5; KLU ordered by AMD. On small dense systems its own elimination, LAPACK "
            "and (where there is a pattern) KLU all race, and the best at each error counts.")


def part_swe(run, rep):
    side = 20 if QUICK else 40
    direct = [("costate:" + m, "umfpack") for m in ("rodas4", "sdirk4a", "radau2a")] + [bdf(run, "umfpack")]
    direct.insert(1, ("costate:rodas4", "umfpack", ("--keep-factors", "never"), " never kept"))
    cheap = [("costate:dopri5", "auto"), ("costate:tsit5", "auto"), adams(run)]
    krylov = [("costate:" + m, "gmres") for m in ("rodas4", "sdirk4a", "radau2a")] + [bdf(run, "gmres")]
    table = sweep(run, cheap + krylov + packaged(run, cheap + krylov), "swe", tolerances(3, 4, 5, 6, 7, 8), size=side)
    table.update(sweep(run, direct, "swe", tolerances(3, 4, 6, 8), size=side))
    if not QUICK:
        if run.peer != "packaged" and run.has["packaged"]:
            table.update(sweep(run, packaged(run, direct), "swe", [1e-6], size=side))
        table.update(sweep(run, [bdf(run, "klu")], "swe", [1e-6], size=side, once=True, repeat=1, budget=0.1,
                           mode="forward"))
    show(rep, "Shallow water %d x %d, tf 0.011: forward and gradient" % (side, side), table, "swe_%d" % side)
    swe_targets(run, rep, side, table)
    sensitivities(run, rep, side)
    if not QUICK:
        larger_swe(run, rep)


def swe_targets(run, rep, side, table):
    beside_calls(run, rep, "costate:dopri5", "auto", side, 1.25)
    rep.target("dopri5 gradient / forward", ratio(run.row("costate:dopri5", "swe", size=side, flags=("--pairs",))), 5)
    what = "swe %d, gradient" % side
    gmres = ["rodas4 gmres", "sdirk4a gmres", "radau2a gmres"]
    compete(rep, table, what, ["dopri5"], [run.peer + " adams"], 2.5)
    compete(rep, table, what, ["rodas4 umfpack"], [run.peer + " bdf umfpack"], 1.5)
    compete(rep, table, what + " exact to round-off", gmres, [run.peer + " bdf gmres"], 1.5)
    if run.peer != "packaged" and run.has["packaged"]:
        compete(rep, table, what, ["dopri5"], ["packaged adams"], None)
        compete(rep, table, what + " exact to round-off", gmres, ["packaged bdf gmres"], None)
    beside_calls(run, rep, "costate:rodas4", "umfpack", side, 1.15)


# the cost of each count of a forward run
COSTS = {"f": "f", "jac": "jac", "tangents": "tangent", "decompositions": "factor", "solves": "solve"}


def beside_calls(run, rep, code, solver, side, limit):
    """the fastest forward run over its calls at their best costs, which are measured in the same turn"""
    ratios = []
    for turn in range(run.turns):
        row = run.row(code, "swe", size=side, mode="forward", solver=solver, turn=turn, budget=run.budget * 3)
        costs = run.costs("swe", side, "umfpack", row.get("steps") or 20)
        if costs["factor"] and not row["status"]:
            ratios.append(row["seconds_min"] / sum(row[count] * costs[of] for count, of in COSTS.items()))
    rep.say()
    rep.say("best costs: " + ", ".join("%s %.3g ms" % (k, 1e3 * v) for k, v in costs.items() if v))
    rep.target(code.split(":")[1] + " forward / (its calls x their best costs)",
               statistics.median(ratios) if ratios else None, limit)


def sensitivities(run, rep, side):
    """one tangent, error control with and without it"""
    rows = []
    for code, solver in [("costate:dopri5", "auto"), ("costate:rodas4", "umfpack"), adams(run), bdf(run, "umfpack"),
                         bdf(run, "gmres")]:
        for flags in ((), ("--sens-error",)):
            rows.append(run.row(code, "swe", size=side, solver=solver, mode="tlm", flags=flags))
    rep.table("Shallow water %d x %d: one tangent; each without and with it in the error norm" % (side, side), rows)


def larger_swe(run, rep):
    cheap = [("costate:dopri5", "auto"), adams(run), ("costate:rodas4", "gmres"), ("costate:sdirk4a", "gmres"),
             bdf(run, "gmres")]
    direct = [("costate:rodas4", "umfpack"), bdf(run, "umfpack")]
    for side, tf in ((80, None), (160, None), (40, 0.11)):
        table = sweep(run, cheap, "swe", [1e-4, 1e-6, 1e-8], size=side, tf=tf)
        if side < 160:                                                     # minutes else
            table.update(sweep(run, direct, "swe", [1e-6], size=side, tf=tf, once=True, repeat=1, budget=0.1))
        show(rep, "Shallow water %d x %d, tf %g" % (side, side, tf or 0.011), table, "swe_%d_%g" % (side, tf or 0.011))
        compete(rep, table, "swe %d to %g, gradient" % (side, tf or 0.011), ["dopri5"], [run.peer + " adams"], None)


def part_adj(run, rep):
    side = 20 if QUICK else 40
    limits = {"rodas4": ("ros", 2.5), "sdirk4a": ("sdirk", 2.5), "radau2a": ("firk", 3)}
    tighter = {"rodas4": 2.1, "sdirk4a": 2.2, "radau2a": 2.5, "dopri5": 5}
    head = ["method", "solver", "forward s", "gradient, kept", "not kept", "1 tangent", "10", "20"]
    rows, reached = [], {}
    for method in ("dopri5", "rodas4", "sdirk4a", "radau2a"):
        solver = "auto" if method == "dopri5" else "umfpack"

        def measured(mode, flags=()):
            return run.row("costate:" + method, "swe", size=side, solver=solver, mode=mode, compare=False,
                           flags=("--pairs",) + flags, budget=run.budget * (1 if QUICK else 6), repeat=5)
        kept = measured("adj", ("--keep-factors", "always"))
        never = measured("adj", ("--keep-factors", "never"))
        tangents = [measured("tlm", ("--directions", str(m))) for m in (1, 10, 20)]
        values = [ratio(r) for r in [kept, never] + tangents]
        reached[method] = values
        rows.append([method, kept.get("solver", ""), "%.3g" % (kept.get("plain") or 0)]
                    + ["-" if v is None else "%.2f" % v for v in values])
    rep.plain_table("Shallow water %d x %d, rtol 1e-6: times over that of a forward run" % (side, side), head, rows)
    for method, (family, limit) in limits.items():
        rep.target("%s: INTEGRATE_ADJ / INTEGRATE (%s)" % (family, method), reached[method][0], limit)
    for method, limit in tighter.items():
        rep.target("%s: gradient / forward, nothing kept" % method, reached[method][1], limit)
    rep.target("rodas4: gradient / forward, factors kept", reached["rodas4"][0], 1.4)
    for method, values in reached.items():
        rep.target("%s: one tangent / forward" % method, values[2], 1.5)
    for method, values in reached.items():
        rep.target("%s: ten tangents / forward" % method, values[3], 4)
    for method, values in reached.items():
        rep.target("%s: twenty tangents / forward" % method, values[4], 8)


def part_growth(run, rep):
    """the explicit gradient per unknown and call of f, and the tape's memory against what the system gave"""
    rows, each, memory = [], [], []
    for side in ((20, 40) if QUICK else (40, 80, 160, 320)):
        row = run.row("costate:dopri5", "swe", size=side, compare=False)
        plain = run.row("costate:dopri5", "swe", size=side, mode="forward", compare=False)
        if row.get("status") or plain.get("status"):
            continue
        each.append(row["seconds"] / row["n"] / row["f"])
        memory.append((row["peak_bytes"] - plain["peak_bytes"]) / row["tape_bytes"])
        rows.append([side, row["n"], row["steps"], row["f"], "%.3g" % row["seconds"], "%.2f" % (1e9 * each[-1]),
                     "%.1f" % (row["tape_bytes"] / 1e6), "%.2f" % memory[-1]])
    rep.plain_table("Growth of the dopri5 gradient",
                    ["side", "n", "steps", "f", "seconds", "ns/n/f", "tape MB", "memory/tape"], rows)
    rep.target("dopri5 gradient: time per unknown and call of f, largest grid / smallest", each[-1] / each[0], 1.5)
    off = memory[-1] if row["tape_bytes"] > 2e7 and memory[-1] > 0 else float("nan")     # else lost in the process
    rep.target("memory of the largest gradient beyond a forward run's over tape_bytes, or its inverse",
               max(off, 1 / off), 1.1)
    side = 80 if QUICK else 640
    pair = run.row("costate:dopri5", "swe", size=side, repeat=5, budget=100, compare=False, flags=("--pairs",))
    rep.target("dopri5, shallow water %d: forward with a tape / without" % side, pair["forward"] / pair["plain"], 1.03)


def part_columns(run, rep):
    """ten and twenty tangents, ten adjoint columns, beside one run"""
    done = subprocess.run([os.path.join(run.out, "columns"), "20" if QUICK else "40"], capture_output=True, text=True,
                          check=True).stdout
    rep.say("## Several directions at once\n")
    for line in done.splitlines():
        target = re.match(r"(.*\S) +([0-9.]+) +\(at most ([0-9.]+)", line)
        if target:
            rep.target(target[1], float(target[2]), float(target[3]))
        else:
            rep.say("- " + line)
