"""bench.py BUILD [--quick] [--add] [PART...] - the benchmark: rows of all codes, targets, pictures, bench/RESULTS.md.

--add: the parts that were run replace their own section at the end of bench/RESULTS.md, or become one."""
import os
import re
import statistics
import subprocess
import sys
import time

from parts.bvp import part_bvp
from parts.papers import part_papers
from parts.scale import part_scale
from peers.codes import codes, machine
from report.tables import Report, curve, faster_at, front, gain, number, time_at
from peers.runner import Runner

QUICK = os.environ.get("BENCH_QUICK") == "1" or "--quick" in sys.argv


def tolerances(*exponents):
    return [float("1e-%d" % k) for k in ((4, 6) if QUICK else exponents)]


def widened(code, tols):
    """At the same tolerance codes differ by orders in error: loose ones here, tight ones there make them overlap."""
    if len(tols) < 2 or code.startswith("hairer"):
        return tols
    if code.startswith("costate"):
        return [min(0.1, tols[0] * 10)] + tols
    return tols + [tols[-1] / 10, tols[-1] / 100, tols[-1] / 1000]


# ---- shared by parts -------------------------------------------------------------------------------------------


def bdf(run, solver, *more):
    return ("%s:bdf" % run.peer, solver, *more)


def adams(run):
    return ("%s:adams" % run.peer, "auto")


def packaged(run, entries):
    """the same of CVODES again, by the packaged library"""
    return [("packaged:" + code.split(":")[1], *rest) for code, *rest in entries
            if code.startswith("cvodes:") and run.has["packaged"]]


def sweep(run, entries, problem, tols, mode="adj", once=False, **more):
    """{name: rows} over tolerances for entries (code, solver), (code, solver, flags, suffix) or with tolerances of
    its own, (code, solver, flags, suffix, tols).  All of them take turns
    (once: one), so that each turn's rows have met the same machine: they are compared with each other."""
    table = {}
    ladders = [rest[3] if len(rest) > 3 else widened(code, tols) for code, *rest in entries]
    for turn in range(1 if once else run.turns):
        for k in range(max(len(ladder) for ladder in ladders)):
            for (code, solver, *extra), ladder in zip(entries, ladders):
                flags, suffix, *_ = extra if extra else ((), "")
                if k < len(ladder):
                    row = run.row(code, problem, solver=solver, rtol=ladder[k], mode=mode, flags=flags, turn=turn,
                                  **more)
                    turns = table.setdefault(row["name"] + suffix, {}).setdefault(ladder[k], [])
                    turns.append(row)
    return {name: [over_turns(turns) for turns in rows.values()] for name, rows in table.items()}


def over_turns(turns):
    """one row, of median times; the turns stay in it"""
    row = dict(next((r for r in turns if r.get("status")), turns[0]), turns=turns)
    for time_of in ("forward", "backward", "seconds"):
        if not row.get("status"):
            row[time_of] = statistics.median(r[time_of] for r in turns)
    return row


def show(rep, title, table, picture=None, error="error_derivative"):
    rep.table(title, [row for rows in table.values() for row in rows])
    if picture:
        rep.picture(picture, title, {name: curve(rows, error) for name, rows in table.items()},
                    "relative error of y" if error == "error" else "relative error of the gradient")


def at_equal_error(table, ours, theirs, error="error_derivative"):
    """The best of ours (names) against the best of theirs at each error: (gain, our name)"""
    peers = [row for name in theirs for row in table.get(name, [])]
    found = [(gain(table.get(name, []), peers, error), name) for name in ours]
    return max((f for f in found if f[0]), key=lambda f: f[0].median, default=(None, None))


def compete(rep, table, what, ours, theirs, limit, error="error_derivative"):
    """A target at equal error, and the ratio's line in the report."""
    found, name = at_equal_error(table, ours, theirs, error)
    name = name or ours[0]
    peer = " or ".join(theirs)
    if limit:
        rep.target("%s: %s, times faster than %s at equal error" % (what, name, peer), found and found.median, limit,
                   True)
    rep.ratio(what, name, peer, found)
    return found


def ratio(row):
    return None if row.get("status") else row.get("ratio")


# ---- parts -----------------------------------------------------------------------------------------------------------


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
        turns = [[run.row("%s:%s" % (run.peer, method), problem, size=size, solver=solver, mode=mode, flags=flags,
                          turn=turn) for flags in choices] for turn in range(run.turns)]
        base = statistics.median(t[0].get("seconds") or float("nan") for t in turns)
        for k, flags in enumerate(choices):
            ratios = [t[k]["seconds"] / t[0]["seconds"] for t in turns if t[k].get("seconds") and t[0].get("seconds")]
            rows.append(["%s %s" % (problem, size or ""), method + " " + solver, " ".join(flags) or "as raced",
                         "%.3g" % base if k == 0 else "",
                         "%.2f" % statistics.median(ratios) if ratios else turns[0][k].get("message")])
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
    ros = run.row("costate:rodas4", "swe", size=side, mode="forward", solver="umfpack", budget=run.budget * 3)
    c = run.costs("swe", side, "umfpack", ros.get("steps") or 20)
    rep.say()
    rep.say("best costs: " + ", ".join("%s %.3g ms" % (k, 1e3 * v) for k, v in c.items() if v))
    erk = run.row("costate:dopri5", "swe", size=side, mode="forward", budget=run.budget * 3)
    rep.target("dopri5 forward / (calls of f x cost of f)", erk["forward"] / (erk["f"] * c["f"]), 1.25)
    rep.target("dopri5 gradient / forward", ratio(run.row("costate:dopri5", "swe", size=side, flags=("--pairs",))), 5)
    what = "swe %d, gradient" % side
    gmres = ["rodas4 gmres", "sdirk4a gmres", "radau2a gmres"]
    compete(rep, table, what, ["dopri5"], [run.peer + " adams"], 2.5)
    compete(rep, table, what, ["rodas4 umfpack"], [run.peer + " bdf umfpack"], 1.5)
    compete(rep, table, what + " exact to round-off", gmres, [run.peer + " bdf gmres"], 1.5)
    if run.peer != "packaged" and run.has["packaged"]:
        compete(rep, table, what, ["dopri5"], ["packaged adams"], None)
        compete(rep, table, what + " exact to round-off", gmres, ["packaged bdf gmres"], None)
    if c["factor"] and not ros["status"]:
        model = (ros["decompositions"] * c["factor"] + ros["solves"] * c["solve"] + ros["f"] * c["f"]
                 + ros["jac"] * c["jac"])
        rep.target("rodas4 umfpack forward / (its calls x their best costs)", ros["forward"] / model, 1.15)


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


def part_small(run, rep):
    problems = [("hires", None), ("vdpol", 1000)] if QUICK else [
        ("hires", None), ("robertson", None), ("vdpol", 1000), ("vdpol", 1000000), ("pollu", None)]
    methods = ["rodas4", "rodas5p", "sdirk4a", "radau2a", "radau2a5"]
    entries = [("costate:" + m, "auto") for m in methods] + [bdf(run, "dense")] + packaged(run, [bdf(run, "dense")])
    entries += [bdf(run, "dense", ("--lapack",), "")] if run.peer == "cvodes" else []
    if run.has["hairer"]:
        entries.append(("hairer:radau5", "auto"))
    else:
        rep.say("RADAU5 could not be built (bench/peers/build.sh says why): it does not race.")
    gains = {}
    for problem, size in problems:
        pattern = [] if problem == "vdpol" else [bdf(run, "klu", ("--sparse",), "")]
        table = sweep(run, entries + pattern, problem, tolerances(4, 5, 6, 7, 8), mode="forward", size=size)
        name = problem + (" %g" % size if size else "")
        show(rep, name + ": forward", table, "small_%s%s" % (problem, size or ""), "error")
        groups = {run.peer: [k for k in table if k.startswith(run.peer)]}
        if run.peer != "packaged" and run.has["packaged"]:
            groups["packaged"] = ["packaged bdf dense"]
        if run.has["hairer"]:
            groups["radau5"] = ["hairer radau5 dense"]
        for m in methods:
            own = next((k for k in table if k.split()[0] == m), m)
            for group, peers in groups.items():
                found = at_equal_error(table, [own], peers, "error")[0]
                gains.setdefault(group, {}).setdefault(m, []).append(found)
            if run.has["hairer"] and m in ("rodas4", "radau2a"):
                compete(rep, table, name, [own], ["hairer radau5 dense"], 1, "error")
    titles = {"cvodes": "CVODES, the best of its dense, LAPACK and KLU solvers",
              "packaged": "CVODES as packaged, dense", "radau5": "RADAU5"}
    for group, by_method in gains.items():
        rep.plain_table("Small stiff systems, equal error of y: costate's time over that of " + titles[group],
                        ["method"] + [p + (" %g" % s if s else "") for p, s in problems],
                        [[m] + ["-" if g is None else "%.2f" % (1 / g.median) for g in by_method[m]] for m in methods])
    best, reached = None, float("nan")
    for m in methods:
        values = [g.median for g in gains[run.peer][m] if g]
        if values and not statistics.median(values) <= reached:
            best, reached = m, statistics.median(values)
    rep.target("small stiff systems (%s), times faster than %s at equal error, median over problems" % (best, run.peer),
               reached, 1.5, True)


# ---- counts: what a step of a small system costs ---------------------------------------------------------------------


# ours, theirs, what of theirs a step may take.  RADAU5 replaces rtol by 0.1 rtol^(2/3), and atol alike: it is compared
# with radau2a at what it uses, where both take as many steps.
STEPPERS = (("costate:rodas4", 1e-6, "hairer:rodas", 1e-6, 1.0), ("costate:radau2a", 1e-5, "hairer:radau5", 1e-6, 1.3))


def part_counts(run, rep):
    """instructions and time of a step beside Hairer's codes, and time at equal error"""
    rows, problems = [], ["vdpol", "hires"] if QUICK else ["vdpol", "hires", "robertson", "pollu"]
    there = [s for s in STEPPERS if run.has[s[2].split(":")[1].replace("radau5", "hairer")]]
    for code in [s[2] for s in STEPPERS if s not in there]:
        rep.say("%s is not there (bench/peers/build.sh says why): it is not compared with." % code)
    for problem in problems:
        for own, own_rtol, other, other_rtol, limit in there:
            pair = step_costs(run, problem, ((own, own_rtol), (other, other_rtol)))
            rows += [cost["row"] for cost in pair]
            what = "%s: %s, %%s a step over that of %s" % (problem, own.split(":")[1], other)
            counts = [cost["instructions"] for cost in pair]
            rep.target(what % "instructions", counts[0] / counts[1] if all(counts) else None, limit)
            times = [a / b for a, b in zip(pair[0]["seconds"], pair[1]["seconds"])]
            rep.target(what % "time", statistics.median(times), limit)
    rep.plain_table("Small systems, a step: instructions by callgrind, of a run after the first; ns of the fastest run",
                    ["problem", "code", "rtol", "steps", "f", "LU", "solves", "instructions", "ns"], rows)
    for problem in problems:
        names = [code for s in there for code in (s[0], s[2])]
        table = sweep(run, [(code, "auto") for code in names], problem, tolerances(4, 5, 6, 7, 8), mode="forward")
        show(rep, problem + ": forward", table, "counts_" + problem, "error")
        for own, _, other, _, _ in there:
            compete(rep, table, problem, [own.split(":")[1] + " dense"], [other.replace(":", " ") + " dense"], 1,
                    "error")


def step_costs(run, problem, entries):
    """of each (code, rtol), in turns: its row in the table, instructions a step (None: not counted), and the seconds a
    step of each turn's fastest run"""
    turns = [[run.row(code, problem, mode="forward", rtol=rtol, turn=turn) for code, rtol in entries]
             for turn in range(run.turns)]
    costs = []
    for (code, rtol), rows in zip(entries, zip(*turns)):
        row, steps = rows[0], rows[0]["steps"]
        count = run.instructions(code, problem, rtol)
        seconds = [r["seconds_min"] / steps for r in rows]
        calls = [row["f"], row["decompositions"] + row["complex"], row["solves"] + row["complex_solves"]]
        costs.append({"instructions": count and count / steps, "seconds": seconds, "row": [
            problem, code, "%.0e" % rtol, steps, *("%.2f" % (n / steps) for n in calls),
            "%.0f" % (count / steps) if count else "-", "%.0f" % (1e9 * statistics.median(seconds))]})
    return costs


def part_brusselator(run, rep):
    direct = [("costate:rodas4", "umfpack"), ("costate:rodas5p", "umfpack"), ("costate:sdirk4a", "umfpack"),
              ("costate:radau2a", "umfpack"), bdf(run, "umfpack"), bdf(run, "klu")]
    krylov = [("costate:sdirk4a", "gmres"), bdf(run, "gmres")]
    sides = ((16, (4, 6), direct + krylov, "adj"),) if QUICK else (
        (32, (3, 4, 5, 6, 7), direct + krylov, "adj"), (64, (3, 5), direct[:-1] + krylov, "adj"),
        (128, (4,), [direct[0], direct[4]] + krylov, "forward"), (256, (4,), krylov, "forward"))
    for side, exponents, entries, mode in sides:
        table = sweep(run, entries, "brusselator2d", tolerances(*exponents), size=side, mode=mode,
                      once=side > 32, repeat=None if side <= 32 else 1, budget=None if side <= 32 else 0.1,
                      compare=side <= 128)
        show(rep, "2-D Brusselator %d x %d: forward%s" % (side, side, " and gradient" if mode == "adj" else ""), table,
             "brusselator_%d" % side)
        if len(exponents) > 1:
            ours = ["%s umfpack" % m for m in ("rodas4", "rodas5p", "sdirk4a", "radau2a")]
            theirs = [k for k in (run.peer + " bdf umfpack", run.peer + " bdf klu") if k in table]
            compete(rep, table, "Brusselator %d, gradient" % side, ours, theirs, 1.5)
    if not QUICK:
        table = sweep(run, [("costate:rodas4", "auto"), ("costate:radau2a", "auto"), bdf(run, "band")], "diffusion",
                      tolerances(4, 6, 8), size=1000)
        show(rep, "Linear diffusion, 1000 points: forward and gradient", table, "diffusion")


def part_krylov(run, rep):
    """GMRES: to round-off, where tangent and adjoint stay transposes; with krylov_tol, where they do to about that"""
    exact = [("costate:" + m, "gmres") for m in ("rodas4", "rodas5p", "sdirk4a", "trbdf2", "radau2a")]
    loose = [("costate:" + m, "gmres", ("--krylov-tol", tol), " tol " + tol)
             for m in ("rodas5p", "sdirk4a") for tol in ("1e-6", "1e-5")]
    ilu = [("costate:" + m, "gmres", ("--ilu",), " ilu") for m in ("rodas4", "sdirk4a")]
    for problem, size in ((("swe", 20),) if QUICK else (("swe", 40), ("swe", 80), ("brusselator2d", 32))):
        ours = exact + loose + (ilu if problem == "brusselator2d" else [])
        table = sweep(run, ours + [bdf(run, "gmres"), bdf(run, "gmres", ("--krylov", "20"), " 20")], problem,
                      tolerances(3, 4, 5, 6), size=size)
        show(rep, "GMRES: %s %d" % (problem, size), table, "krylov_%s_%d" % (problem, size))
        peers = [k for k in table if k.startswith(run.peer)]
        for kind, names in (("gradient exact to round-off", [k for k in table if k not in peers and " tol " not in k]),
                            ("gradient with krylov_tol", [k for k in table if " tol " in k])):
            compete(rep, table, "%s %d, %s" % (problem, size, kind), names, peers, 1.5)


# ---- stiff: stabilised explicit methods ------------------------------------------------------------------------------


STIFF = [("rock4", (2, 3, 4, 5, 6, 7, 8, 9)), ("rock2", (2, 3, 4, 5, 6)), ("rkc2", (3, 4, 5, 6)),
         ("rkl2", (3, 4, 5, 6))]
ASKED = (1e-4, 1e-6, 1e-8)                      # of CVODES


def ladder(exponents):
    return [float("1e-%d" % k) for k in (exponents[:3] if QUICK else exponents)]


def preconditioned(run, mode):
    """CVODES with ILU(0), in the ways that were best somewhere: side, space, and atol of the adjoint"""
    tols = ladder((4, 6, 8))
    choices = [((), ""), (("--right",), " right"), (("--krylov", "10"), " 10")]
    if mode == "adj":
        choices = choices[:2] + [(side + ("--adjoint-atol", x), name + " atol " + x)
                                 for side, name in choices[:2] for x in ("1e-1", "1e-3")]
    return [bdf(run, "gmres", ("--ilu",) + flags, name, tols) for flags, name in choices]


def part_stiff(run, rep):
    """stabilised explicit methods against CVODES with GMRES and ILU(0), ARKODE's, and implicit methods"""
    ours = [("costate:" + m, "auto", (), "", ladder(exponents)) for m, exponents in STIFF]
    for problem, side in (("brusselator_1", 32 if QUICK else 64), ("heat2d", 32 if QUICK else 128)):
        for mode, error, limit in (("forward", "error", 4), ("adj", "error_derivative", 3)):
            what = "%s %d, %s" % (problem, side, "forward" if mode == "forward" else "gradient")
            lsrk = mode == "forward" and run.has["arkode"]
            peers = preconditioned(run, mode)
            peers += [("arkode:" + m, "auto", (), "", ladder((3, 4, 5, 6))) for m in ("rkc2", "rkl2") if lsrk]
            table = sweep(run, ours + peers, problem, None, mode=mode, size=side)
            show(rep, what, table, "stiff_%s_%s" % (problem, mode), error)
            against_cvodes(run, rep, table, what, error, limit)
            if lsrk:
                for m in ("rkc2", "rkl2"):
                    compete(rep, table, what, [m], ["arkode " + m], 1, error)
                compete(rep, table, what, ["rock4"], ["arkode rkc2", "arkode rkl2"], 1, error)
    own_work(run, rep)
    gradient_memory(run, rep)
    crossing(run, rep)


def against_cvodes(run, rep, table, what, error, limit):
    """a target for each tolerance of CVODES: the best of its variants, at the error that it reached"""
    rows = []
    for rtol in ASKED[:1] if QUICK else ASKED:
        peers = [(name, row) for name in table if name.startswith(run.peer) for row in table[name]
                 if row["asked"] == rtol and not row.get("status")]
        best = {}
        for name, _ in STIFF:
            found = [(faster_at(table[name], row, error), peer, row) for peer, row in peers]
            found = [f for f in found if f[0]]
            best[name] = min(found, key=lambda f: f[0].median) if found else None
        for name, f in best.items():
            rows.append(["%.0e" % rtol, name] + (["-"] * 4 if not f else [
                f[1], "%.1e" % f[2][error], "%.2f" % f[0].median, "%.2f to %.2f" % (f[0].low, f[0].high)]))
        top = best["rock4"]
        peer = top[1] if top else run.peer
        rep.target("%s: rock4, times faster than %s at its error at rtol %g" % (what, peer, rtol),
                   top and top[0].median, limit, True)
        rep.ratio("%s, rtol %g" % (what, rtol), "rock4", peer, top and top[0])
    rep.plain_table(what + ": times faster than the best of CVODES at its error",
                    ["rtol", "costate", "CVODES", "its error", "ratio", "turns"], rows)


def part_direct(run, rep):
    """implicit methods with direct solvers against CVODES with its own (KLU), and with costate's"""
    ours = [("costate:" + m, "auto", (), "", ladder((2, 3, 4, 5, 6, 7)))
            for m in ("rodas4", "rodas5p", "kvaerno54", "sdirk4a", "radau2a", "radau2a5")]
    names = [code.split(":")[1] for code, *_ in ours]
    kinds = {"klu": "its own KLU", "umfpack": "UMFPACK by costate's backend"}
    peers = [bdf(run, solver, (), "", ladder((4, 6, 8))) for solver in kinds]
    for problem, side in (("brusselator_1", 24 if QUICK else 64), ("heat2d", 24 if QUICK else 128)):
        table = sweep(run, ours + peers, problem, None, mode="adj", size=side)
        for mode, error, time, limit in (("forward", "error", "forward", 1), ("gradient", "error_derivative", None, 2)):
            part = {name: [timed(row, time) for row in rows] for name, rows in table.items()}
            what = "%s %d, %s" % (problem, side, mode)
            show(rep, what, part, "direct_%s_%s" % (problem, mode), error)
            direct_targets(run, rep, part, names, kinds, what, error, limit)


def part_inexact(run, rep):
    """implicit methods without a matrix against CVODES with the same preconditioner, ILU(0); one turn of the larger
    grid and of exact gradients, whose rows take minutes"""
    methods, tols = ("sdirk4a", "ark436", "kvaerno54"), ladder((3, 4, 5, 6, 7, 8))
    forward = [("costate:" + m, "gmres", ("--ilu0",), "", tols + ladder((9,))) for m in methods]
    exact = [("costate:" + m, "gmres", ("--ilu0",), "", ladder((3, 4, 5, 6))) for m in methods[:2]]
    loose = [("costate:" + m, "gmres", ("--ilu0", "--krylov-tol", repr(tol)), " krylov_tol = rtol", [tol])
             for m in methods for tol in tols]
    kinds = (("forward", "forward", "error", forward, {"brusselator_1": 1.2, "heat2d": 2}),
             ("gradient, krylov_tol = rtol", "adj", "error_derivative", loose, {"brusselator_1": 1.2, "heat2d": 1.2}),
             ("gradient, exact", "adj", "error_derivative", exact, {"brusselator_1": 0.4, "heat2d": 0.4}))
    grids = (("brusselator_1", 64, None), ("heat2d", 128, None), ("brusselator_1", 128, 0.5))
    for problem, side, tf in grids[:2] if QUICK else grids:
        for said, mode, error, ours, limits in kinds:
            once = tf is not None or ours is exact
            table = sweep(run, ours + preconditioned(run, mode), problem, None, mode=mode, size=32 if QUICK else side,
                          tf=tf, once=once, repeat=1 if once else None)
            what = "%s %d, %s" % (problem, 32 if QUICK else side, said)
            show(rep, what, table, None, error)
            best_against(run, rep, table, what, error, limits[problem])


def best_at(table, peer, rtol, error):
    """the best of ours against each way of a peer at the error that it reached: (Gain, ours, the way, its row) of the
    way that is best for it"""
    ways = []
    for name in (n for n in table if n.startswith(peer)):
        reached = [row for row in table[name] if row["asked"] == rtol and not row.get("status")]
        found = [(faster_at(table[own], row, error), own, name, row) for row in reached for own in table
                 if not own.startswith(peer)]
        ways += [max((f for f in found if f[0]), key=lambda f: f[0].median, default=None)]
    return min((w for w in ways if w), key=lambda w: w[0].median, default=None)


def asked_of_peers():
    return ASKED[:1] if QUICK else ASKED


def peer_table(rep, what, said, error, found):
    """found: {rtol: best_at}"""
    rows = [["%.0e" % rtol, f[1], f[2], "%.1e" % f[3][error], "%.2f" % f[0].median, "%.2f to %.2f" % f[0][1:]]
            for rtol, f in found.items() if f]
    rep.plain_table("%s: times faster than %s at its error" % (what, said),
                    ["rtol", "costate", said, "error", "ratio", "turns"], rows)


def best_against(run, rep, table, what, error, limit):
    """a target at each tolerance of CVODES"""
    found = {rtol: best_at(table, run.peer, rtol, error) for rtol in asked_of_peers()}
    for rtol, f in found.items():
        rep.target("%s: times faster than CVODES at its error at rtol %g" % (what, rtol), f and f[0].median, limit,
                   True)
    peer_table(rep, what, "CVODES", error, found)


def timed(row, time):
    """the row with one of its times as the one that counts"""
    if not time or row.get("status"):
        return row
    return dict(row, seconds=row[time], turns=[dict(turn, seconds=turn[time]) for turn in row["turns"]])


def direct_targets(run, rep, table, names, kinds, what, error, limit):
    """the best of ours at the error that CVODES reached at each of its tolerances, for each of its solvers"""
    rows = []
    own = [name for name in table if name.split()[0] in names]
    for solver, said in kinds.items():
        peer = "%s bdf %s" % (run.peer, solver)
        for rtol in ASKED[:1] if QUICK else ASKED:
            reached = [row for row in table.get(peer, []) if row["asked"] == rtol and not row.get("status")]
            found = [(faster_at(table[name], row, error), name, row) for name in own for row in reached]
            best = max((f for f in found if f[0]), key=lambda f: f[0].median, default=None)
            if best:
                rows.append(["%.0e" % rtol, said, best[1], "%.1e" % best[2][error], "%.2f" % best[0].median,
                             "%.2f to %.2f" % (best[0].low, best[0].high)])
            rep.target("%s: times faster than CVODES with %s at its error at rtol %g" % (what, said, rtol),
                       best and best[0].median, limit, True)
    rep.plain_table(what + ": times faster than CVODES at its error",
                    ["rtol", "CVODES with", "costate", "error", "ratio", "turns"], rows)


def own_work(run, rep):
    """What of a run is neither f nor a product: times of the callbacks alone, as often as they were called"""
    rows = []
    for problem, side in (("brusselator_1", 32 if QUICK else 64), ("heat2d", 32 if QUICK else 128)):
        c = run.costs(problem, side, "auto", 20)
        for mode in ("forward", "adj"):
            for rtol in (1e-3, 1e-5):
                turns = [run.row("costate:rock4", problem, size=side, mode=mode, rtol=rtol, turn=turn)
                         for turn in range(run.turns)]
                row, least = turns[0], min(t["seconds_min"] for t in turns)
                calls = row["f"] * c["f"] + row["tangents"] * c["tangent"] + row["adjoints"] * c["adjoint"]
                share = 1 - calls / least
                rows.append(["%s %d" % (problem, side), mode, "%.0e" % rtol, row["steps"], row["f"], row["adjoints"],
                             "%.3g" % least, "%.3g" % calls, "%.2f" % share])
                if rtol == 1e-5:
                    rep.target("%s %d, %s: rock4, part of the time that is not callbacks" % (
                        problem, side, "forward" if mode == "forward" else "gradient"), share, 0.3)
    rep.plain_table("rock4: the library's own work, by the best times of the run and of the callbacks alone",
                    ["problem", "mode", "rtol", "steps", "f", "J'v", "seconds", "callbacks", "own part"], rows)


def gradient_memory(run, rep):
    """what a gradient needs beyond a forward run, against the tape and the stages of the longest step"""
    side = 100 if QUICK else 400
    both = [run.row("costate:rock4", "heat2d", size=side, mode=mode, rtol=1e-4, repeat=1, budget=0.1, compare=False)
            for mode in ("forward", "adj")]
    vector = both[1]["n"] * 8
    more, tape = (both[1]["peak_bytes"] - both[0]["peak_bytes"]) / vector, both[1]["tape_bytes"] / vector
    most = 149                                  # stages of rock4's recurrence and its start, at the highest degree
    rep.say()
    rep.say("Heat %d x %d, %d steps: the gradient takes %.0f vectors more than a forward run, of these the tape %.0f."
            % (side, side, both[1]["steps"], more, tape))
    share = more / (tape + most)
    rep.target("rock4 gradient: memory beyond a forward run's over that of tape and s vectors", share, 1.1)


# ---- F(t, y, y', p) = 0 ----------------------------------------------------------------------------------------------


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
            turns = [[run.row("idas:bdf", problem, solver=solver, flags=flags, turn=turn) for flags in ways]
                     for turn in range(run.turns)]
            for k, flags in enumerate(ways):
                ratios = [t[k]["seconds"] / t[0]["seconds"] for t in turns if t[k].get("seconds")]
                rows.append([problem, solver, " ".join(flags) or "as raced"] + (
                    ["%.2f" % statistics.median(ratios), "%.1e" % turns[0][k]["error_derivative"]] if ratios
                    else [turns[0][k].get("message", ""), ""]))
    rep.plain_table("What IDAS was given, rtol 1e-6: time of the alternatives over that of what is raced",
                    ["problem", "solver", "options", "ratio", "error"], rows)
    rep.say()
    rep.say("As raced: all unknowns in the error test, the adjoint's atol 0.1, 1 and 10 times the one given, whichever "
            "is best; Hermite interpolation of the forward run with one checkpoint; consistent y' and adjoint given, "
            "not timed; integrals not in the error test; GMRES with a space of 5; KLU ordered by AMD, refactored.")


# ---- index 2 ---------------------------------------------------------------------------------------------------------


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


# ---- events ----------------------------------------------------------------------------------------------------------


def part_hybrid(run, rep):
    """events: rooms with thermostats against CVODES, what a gradient, a guard and an event cost"""
    rooms_forward(run, rep)
    rooms_gradient(run, rep)
    rooms_options(run, rep)
    rooms_each(run, rep)
    hysteresis(run, rep)
    idle_guard(run, rep)
    many_events(run, rep)


ROOMS = "rooms_least"                           # a guard for all rooms
EVENTS_ERK = ("rk23", "rk32", "dopri5", "tsit5")


def rooms(run, mode, ours, peers, **more):
    """a sweep, and what it is of"""
    side = 4 if QUICK else 10
    return sweep(run, ours + peers, ROOMS, None, mode=mode, size=side, **more), "%d rooms" % (2 * side * side)


def rooms_forward(run, rep):
    ours = [("costate:" + m, "auto", (), "", ladder((1, 3, 5, 7))) for m in EVENTS_ERK]
    peers = [(*adams(run), (), "", ladder((4, 6, 8))), bdf(run, "gmres", (), "", ladder((4, 6, 8)))]
    table, what = rooms(run, "forward", ours, peers, repeat=11)
    show(rep, what + ", forward", table, "rooms_forward", "error")
    rep.say()
    rep.say("events, steps tried and steps solved again: " + ", ".join(
        "%s %d, %d, %d" % (name, rows[-1]["events"], rows[-1]["steps"], rows[-1]["located"])
        for name, rows in table.items() if not rows[-1].get("status")))
    best_against(run, rep, table, what + ", forward", "error", 1)


def rooms_gradient(run, rep):
    """by 400 thresholds: the adjoint of one functional against as many forward sensitivities"""
    ours = [("costate:" + m, "auto", (), "", ladder((1, 3, 5, 7))) for m in EVENTS_ERK]
    peers = [(*adams(run), flags, name, ladder((4, 6, 8)))
             for flags, name in (((), ""), (("--sens-error",), " in the error norm"))]
    table, what = rooms(run, "adj", ours, peers)
    show(rep, what + ", gradient by both thresholds of each", table, "rooms_gradient")
    best_against(run, rep, table, what + ", gradient", "error_derivative", 10)
    tight = run.row(*adams(run)[:1], ROOMS, size=4 if QUICK else 10, rtol=1e-12, flags=("--sens-error",), repeat=1,
                    budget=0.1)
    rep.target(what + ": CVODES at rtol 1e-12 from the reference, gradient", tight.get("error_derivative"), 1e-8)


def rooms_options(run, rep):
    """what CVODES could be given, beside what it is"""
    side, rows = 4 if QUICK else 10, []
    ways = [(*adams(run), ()), (*adams(run), ("--simultaneous",)), bdf(run, "gmres", ()), bdf(run, "band", ()),
            bdf(run, "klu", ())]
    for code, solver, flags in ways:
        row = run.row(code, ROOMS, size=side, solver=solver, flags=flags, repeat=1, budget=0.1)
        rows.append([row["name"], " ".join(flags)] + (["failed: " + row["message"], "", ""] if row.get("status") else [
            "%.3g" % row["seconds"], "%.1e" % (row["error_derivative"] or float("nan")), row["steps"]]))
    rep.plain_table("What CVODES was given, rtol 1e-6: %d forward sensitivities" % (4 * side * side),
                    ["CVODES", "options", "seconds", "error", "steps"], rows)
    rep.say()
    rep.say("As raced: staggered, all right-hand sides of sensitivities in one call of the stencil, fused vector "
            "operations, all guards in one call, energy as powers times lengths, exact jumps of one entry each, "
            "reinitialised at each switching.")


def rooms_each(run, rep):
    """a guard a room, beside one that is the least of them"""
    rows = []
    for method in EVENTS_ERK[:3]:
        turns = [[run.row("costate:" + method, name, size=4 if QUICK else 10, mode="forward", rtol=1e-4, turn=turn)
                  for name in ("rooms", ROOMS)] for turn in range(run.turns)]
        times = [statistics.median(t[k].get("seconds") or float("nan") for t in turns) for k in (0, 1)]
        rows.append([method] + ["%.3g" % time for time in times] + [t.get("guards") for t in turns[0]]
                    + ["%.1e" % (t.get("error") or float("nan")) for t in turns[0]])
    rep.plain_table("A guard a room, beside one that is the least of them: forward, rtol 1e-4",
                    ["method", "a room, s", "least, s", "guards", "guards", "error", "error"], rows)


def hysteresis(run, rep):
    """a gradient's price in forward runs where two unknowns leave nothing but the library's own work"""
    rows = []
    for method in ("dopri853", "tsit5", "dopri5", "sdirk4a", "radau2a5"):
        code = "costate:" + method
        turns = [run.row(code, "hysteresis", rtol=1e-8, flags=("--pairs",), repeat=21, turn=turn)
                 for turn in range(run.turns)]
        times = [ratio(row) for row in turns]
        counts = [run.instructions(code, "hysteresis", 1e-8, mode) for mode in ("adj", "forward")]
        time = None if None in times else statistics.median(times)
        each = counts[0] / counts[1] if all(counts) else None
        rows.append([method] + (["failed: " + turns[0]["message"]] + [""] * 7 if time is None else [
            turns[0]["events"], turns[0]["steps"], turns[0]["located"], "%.3g" % turns[0]["plain"], "%.2f" % time,
            "%.2f" % each if each else "-", "%.1e" % turns[0]["error_functional"],
            "%.1e" % turns[0]["error_derivative"]]))
        rep.target("hysteresis, %s: gradient / forward, time" % method, time, 3)
        rep.target("hysteresis, %s: gradient / forward, instructions" % method, each, 3)
    rep.plain_table("Hysteresis, rtol 1e-8: the gradient by seven parameters, its forward run included",
                    ["method", "events", "steps", "located", "forward s", "time", "instructions", "error",
                     "of gradient"], rows)


def idle_guard(run, rep):
    """a guard that never fires: instructions with and without it, its own calls (about 10 each) included; implicit
    methods on the smaller grid, where matrices cost least"""
    rows = []
    for method, solver, full in (("dopri5", "auto", 40), ("tsit5", "auto", 40), ("rodas4", "umfpack", 10),
                                 ("sdirk4a", "umfpack", 10), ("radau2a", "umfpack", 10)):
        code, side = "costate:" + method, 10 if QUICK else full
        counts = [run.instructions(code, name, 1e-6, size=side, solver=solver) for name in ("swe_guarded", "swe")]
        row = run.row(code, "swe_guarded", size=side, solver=solver, mode="forward", compare=False, repeat=1)
        more = counts[0] / counts[1] if all(counts) else None
        rows.append([method, side, row.get("steps"), row.get("guards")]
                    + ["%.4g" % (n / 1e6) if n else "-" for n in counts] + ["%.4f" % more if more else "-"])
        rep.target("shallow water %d, %s: instructions with a guard that never fires / without" % (side, method), more,
                   1.02)
    rep.plain_table("A guard that never fires: millions of instructions of a forward run",
                    ["method", "side", "steps", "guards", "with", "without", "ratio"], rows)


def many_events(run, rep):
    """1e5 events in a run: steps and time of one, and memory that the tape does not account for"""
    few, many = (100, 1000) if QUICK else (1000, 100000)
    step = run.row("costate:dopri5", "vdpol", size=1, mode="forward", tf=100, compare=False, repeat=21)
    step = step["seconds_min"] / step["steps"]
    rows = []
    for method in ("dopri5", "tsit5", "sdirk4a"):
        runs = {(mode, tf): run.row("costate:" + method, "ball", mode=mode, tf=tf, compare=False, repeat=1)
                for mode in ("forward", "adj") for tf in (few, many)}
        row, taped = runs["forward", many], runs["adj", many]
        failed = [r["message"] for r in runs.values() if r.get("status")]
        if failed:
            rep.say("ball, %s failed: %s" % (method, failed[0]))
            continue
        growth = row["peak_bytes"] - runs["forward", few]["peak_bytes"]
        beside = taped["peak_bytes"] - taped["tape_bytes"] - runs["adj", few]["peak_bytes"]
        solved = (row["steps"] + row["located"]) / row["events"]
        each = row["seconds"] / row["events"]
        rows.append([method, row["events"], row["steps"], row["located"], "%.2f" % solved, "%.0f" % (1e9 * each),
                     "%.0f" % (1e9 * (each - step * row["steps"] / row["events"])) if method == "dopri5" else "",
                     "%.0f" % (growth / 1024), "%.1f" % (taped["tape_bytes"] / 2 ** 20), "%.0f" % (beside / 1024)])
        rep.target("ball, %s: steps solved an event" % method, solved, 6)
        if method == "dopri5":
            rep.target("ball, dopri5: time of an event / of a step of van der Pol's equation", each / step, 6)
        rep.target("ball, %s: bytes an event that a run without a tape grows by" % method, growth / row["events"], 1)
        rep.target("ball, %s: memory of a gradient beyond the tape, over the tape" % method,
                   beside / taped["tape_bytes"], 0.1)
    rep.plain_table("A ball on a vibrating table, rtol 1e-6, %d seconds" % many,
                    ["method", "events", "steps", "located", "solved/event", "ns/event", "less steps", "growth kB",
                     "tape MB", "beside it kB"], rows)
    rep.say()
    rep.say("less steps: less the time of as many steps of van der Pol's equation as were tried; growth: of the "
            "process from %d events to %d, forward; beside it: the same of a gradient, less the tape.  A step of van "
            "der Pol's equation with mu = 1, two unknowns too, takes dopri5 %.0f ns."
            % (few, many, 1e9 * step))


def seconds_at(points, e):
    if points and e > points[0][0]:
        return "<%.3g" % points[0][1]
    found = time_at(points, e)
    return "-" if found is None else "%.3g" % found


def crossing(run, rep):
    """the Brusselator with more and more diffusion: from where implicit methods win"""
    side, rows = 32 if QUICK else 64, []
    codes = [("costate:rock4", "auto", (), "", ladder((2, 3, 4, 5, 6, 7)))]
    codes += [("costate:" + m, "umfpack", (), "", ladder((2, 3, 4, 5, 6))) for m in ("rodas4", "sdirk4a", "radau2a")]
    codes += [bdf(run, "gmres", ("--ilu",) + flags, name, ladder((4, 5, 6, 7, 8)))
              for flags, name in (((), ""), (("--right",), " right"))]
    codes += [bdf(run, "umfpack", (), "", ladder((4, 6, 8)))]
    for alpha in (1, 10, 100):
        problem = "brusselator_%d" % alpha
        for mode, error in (("forward", "error"), ("adj", "error_derivative")):
            table = sweep(run, codes, problem, None, mode=mode, size=side, once=True, repeat=1, budget=0.2)
            if alpha > 1 or QUICK:
                show(rep, "%s %d, %s" % (problem, side, mode), table)
            for name, of in table.items():
                points = front(curve(of, error))
                rows.append([str(alpha), "%.1e" % (8 * alpha * side ** 2), mode, name]
                            + [seconds_at(points, e) for e in (1e-3, 1e-4, 1e-5, 1e-6)])
    rep.plain_table("Crossing: Brusselator %d x %d, seconds at an error" % (side, side),
                    ["alpha", "rho T", "mode", "code", "1e-3", "1e-4", "1e-5", "1e-6"], rows)
    rep.say()
    rep.say("<: the loosest run, whose error is smaller.")


# ---- second order ----------------------------------------------------------------------------------------------------


# family: its methods, linear solver, what a Hessian product may cost in forward runs
SECOND = {"erk": (("dopri5", "tsit5", "dopri853"), "auto", 8), "ros": (("rodas4", "rodas5p"), "umfpack", 5),
          "sdirk": (("sdirk4a", "trbdf2", "kvaerno54"), "umfpack", 4),
          "firk": (("radau2a", "radau2a5", "lobatto3c"), "umfpack", 4)}
# what the two tables have: the key of a row, or the sum of two
COUNTS = {"f": ("f",), "jac": ("jac",), "LU": ("decompositions", "complex"), "solves": ("solves", "complex_solves"),
          "Jv": ("tangents",), "J'v": ("adjoints",), "2nd": ("second",), "3rd": ("third",)}


def part_second(run, rep):
    """Hessian products: in forward runs, many directions, many parameters; beside differences and PETSc"""
    second_shallow_water(run, rep)
    second_parameters(run, rep)
    second_differences(run, rep)
    second_petsc(run, rep)


def second_shallow_water(run, rep):
    """a product over a tape that is there, its gradient included, over a forward run without a tape"""
    rows, counts, reached = [], [], {}
    for family, (methods, solver, limit) in SECOND.items():
        for method in methods[:1] if QUICK else methods:
            first = method == methods[0]
            for side in (10,) if QUICK else (40,) if family == "erk" else (20, 40) if first else (20,):
                row = second_row(run, family, method, solver, side, first and side < 40 or family == "erk")
                rows.append(row["cells"])
                counts += row["counts"]
                reached.setdefault(family, []).append((method, side, row))
    rep.plain_table("Shallow water, rtol 1e-6: a Hessian product, its gradient included, in forward runs",
                    ["method", "side", "forward s", "kept", "not kept", "ten/one", "not kept", "instructions"], rows)
    rep.say()
    rep.say("kept: over a tape that was written before and keeps factorisations, as is the default here; not kept: one "
            "that keeps none; ten/one: directions at once; instructions: those of one product over those of a forward "
            "run without a tape, by callgrind, on 40 x 40 cells for explicit methods, 10 x 10 for the others. The "
            "callbacks alone of one stage of an explicit method cost 10 of f: a tangent 2.1, two adjoints 4.9, an "
            "adjoint's tangent 4.6, less what they share here through prepare.")
    rep.plain_table("Shallow water: what a forward run calls, and what a product does beside it",
                    ["method", "side", "what"] + list(COUNTS), counts)
    for family, found in reached.items():
        for method, side, row in found:
            what = "%s, shallow water %d: " % (method, side)
            rep.target(what + "Hessian product / forward (%s), time" % family, row["time"], SECOND[family][2])
            if row["instructions"]:
                rep.target("%s, shallow water %d: Hessian product / forward (%s), instructions" % (
                    method, row["small"], family), row["instructions"], SECOND[family][2])
            if family != "erk" and (side == 40 or QUICK):
                rep.target(what + "ten directions / one, factorisations kept", row["ten"][0], 4)
                rep.target(what + "ten directions / one, none kept", row["ten"][1], 4)


def second_row(run, family, method, solver, side, counted):
    """time: in forward runs; ten: in one; counts: rows of the table of them.  Pairs: in turns within a row"""
    code, problem = "costate:" + method, "swe_shared" if family == "erk" else "swe"

    def measured(*flags):
        return run.row(code, problem, size=side, solver=solver, mode="second", compare=False, repeat=9,
                       flags=("--pairs", "--keep-factors") + flags)
    rows = {(keep, m): measured(keep, "--directions", m) for keep in ("always", "never") for m in ("1", "10")}
    ratios = [rows[keep, "1"].get("ratio_backward") for keep in ("always", "never")]
    more = [quotient(rows[keep, "10"], rows[keep, "1"], "ratio_backward") for keep in ("always", "never")]
    small = 10 if QUICK or family != "erk" else 40
    each = product_instructions(run, code, problem, small, solver) if counted else None
    forward = run.row(code, problem, size=side, solver=solver, mode="forward", compare=False, repeat=1, budget=0.1)
    one = rows["always", "1"]
    product = {k: one.get(k, 0) - forward.get(k, 0) for keys in COUNTS.values() for k in keys}
    return {"time": ratios[0], "ten": more, "instructions": each, "small": small,
            "cells": [method, side, number(one.get("plain"), "%.3g")] + [number(x) for x in ratios + more]
            + [number(each)],
            "counts": [[method, side, said] + [sum(of.get(k, 0) for k in keys) for keys in COUNTS.values()]
                       for said, of in (("forward", forward), ("product", product))]}


def quotient(above, below, key):
    return above[key] / below[key] if above.get(key) and below.get(key) else None


def product_instructions(run, code, problem, size, solver):
    """of a product over a tape, over those of a forward run without one"""
    product = run.instructions_of("costate_hessian", code, problem, 1e-6, mode="second", size=size, solver=solver)
    forward = run.instructions(code, problem, 1e-6, size=size, solver=solver)
    return product / forward if product and forward else None


# problem, method, rtol, flags, sizes, parameters of a size, cost of a product in simulations there by D. B. Ozyurt and
# P. I. Barton's program (SIAM J. Sci. Comput. 26 (2005) 1725-1743, tables 4.1 to 4.3), the simulation itself included
PARAMETERS = (
    ("control_linear", "dopri5", 1e-7, (), (1, 10, 100, 1000, 1762), lambda n: n,
     {1: 1.0, 10: 2.0, 100: 5.4, 1000: 21.1}),
    ("control_chebyshev", "dopri5", 1e-7, (), (1, 10, 100, 1000, 1762), lambda n: n,
     {1: 1.0, 10: 1.0, 100: 10.2, 1000: 27.5}),
    ("heat_edges", "radau2a", 1e-6, ("--keep-factors", "always"), (10, 20, 40, 80), lambda M: 2 + 4 * M + M * M,
     {40: 3.7, 80: 3.0}),
    ("heat_edges", "sdirk4a", 1e-6, ("--keep-factors", "always"), (10, 20, 40, 80), lambda M: 2 + 4 * M + M * M,
     {40: 3.7, 80: 3.0}))
EPS = ("1e-1", "1e-2", "1e-3", "1e-4", "1e-5")


def second_parameters(run, rep):
    """what a gradient and a product cost in forward runs as parameters grow; and central differences of gradients"""
    for problem, method, rtol, flags, sizes, count, theirs in PARAMETERS:
        rows, cost = [], {}
        for size in sizes[:2] if QUICK else sizes:
            found = parameters_row(run, problem, "costate:" + method, size, rtol, flags)
            cost[size] = found[5]
            rows.append([count(size)] + [number(x, "%s") for x in found[:2]] + [
                number(x, form) for x, form in zip(found[2:] + [theirs.get(size)], FORMS)])
        rep.plain_table("%s, %s, rtol %g: times over that of a forward run, by the number of parameters" % (
            problem, method, rtol), ["n_p", "n", "steps", "forward s", "gradient", "with run", "product", "error",
                                     "differences", "error", "paper"], rows)
        few, many = min(cost), max(cost)
        rep.target("%s, %s: Hessian product / forward with %d parameters over that with %d" % (
            problem, method, count(many), count(few)),
            cost[many] / cost[few] if cost[few] and cost[many] else None, 1.2)
    rep.say()
    rep.say("gradient: with its forward run; product: over a tape that is there, its gradient included; with run: with "
            "its forward run, too, as the paper counts (another program, on a Pentium III); error: of the product, "
            "relative, against one at rtol 1e-13 by another method, where that is not too large; differences: two "
            "gradients, with their forward runs, at the best of five distances along the direction.")


FORMS = ("%.3g", "%.2f", "%.2f", "%.2f", "%.1e", "%.2f", "%.1e", "%.1f")


def parameters_row(run, problem, code, size, rtol, flags):
    compare = size < 1000 and not (problem == "heat_edges" and size > 40)

    def measured(mode, *more, compare=compare):
        return run.row(code, problem, size=size, mode=mode, rtol=rtol, flags=("--pairs",) + flags + more, repeat=9,
                       compare=compare)
    gradient, product = measured("adj", compare=False), measured("second")
    if product.get("status"):
        print("%s %d failed: %s" % (problem, size, product["message"]))
    tried = [measured("differences", "--eps", eps) for eps in EPS] if compare else []
    best = min((row for row in tried if row.get("error_derivative")), key=lambda row: row["error_derivative"],
               default={})
    return [product.get("n"), product.get("accepted"), product.get("plain"), gradient.get("ratio"),
            product.get("ratio"), product.get("ratio_backward"), product.get("error_derivative"), best.get("ratio"),
            best.get("error_derivative")]


def second_differences(run, rep):
    """how far central differences of gradients come, by tolerance and distance"""
    rows, problem = [], "control_chebyshev"
    for rtol in (1e-5, 1e-7) if QUICK else (1e-5, 1e-7, 1e-9, 1e-11):
        def error(mode, *flags):
            row = run.row("costate:dopri853", problem, size=10, mode=mode, rtol=rtol, flags=flags, repeat=1, budget=0.1)
            return number(row.get("error_derivative"), "%.1e")
        rows.append(["%.0e" % rtol, error("second")] + [error("differences", "--eps", eps) for eps in EPS])
    rep.plain_table("%s 10, dopri853: errors of a Hessian product, and of central differences at distances" % problem,
                    ["rtol", "product"] + list(EPS), rows)


def second_petsc(run, rep):
    """a product, its gradient and forward run included, at the error that PETSc reached with each step"""
    if not run.has["petsc"]:
        rep.say("PETSc is not there (Debian: petsc-dev): it does not race.")
        return
    halves = (1, 2, 4) if QUICK else (1, 2, 4, 8, 16)
    for problem, size, longest in (("control_chebyshev", 10, 0.1), ("swe", 20 if QUICK else 40, 1e-3)):
        ours = [("costate:" + m, "auto", (), "", ladder((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)))
                for m in ("dopri5", "tsit5", "dopri853")]
        peers = [("petsc:" + m, "auto", ("--petsc", "-ts_dt %g" % (longest / k)), "", [longest / k])
                 for m in ("rk4", "rk3bs") for k in halves]
        table = sweep(run, ours + peers, problem, None, mode="second", size=size)
        show(rep, "%s %d: a Hessian product, PETSc beside it" % (problem, size), table, "second_" + problem)
        found = {longest / k: best_at(table, "petsc", longest / k, "error_derivative") for k in halves}
        peer_table(rep, "%s %d, Hessian product" % (problem, size), "PETSc", "error_derivative", found)
        for step, f in found.items():
            rep.ratio("%s %d, Hessian product" % (problem, size), f[1] if f else "", f[2] if f else "petsc", f and f[0])
    rep.say()
    rep.say("PETSc (Debian's, -O2): TSRK, -ts_adapt_type none -ts_trajectory_type basic in /dev/shm, in the row's rtol "
            "the step; f_y and f_p as shells with the problem's products; its tangent and sweep back are one product.  "
            "Its second-order adjoint is right with steps all alike and without zero weights alone (rk4, rk3bs; not "
            "rk5dp, rk8vr), and by TSTheta along a single parameter (bench/peers/petsc.c).")


PARTS = {"peers": part_peers, "swe": part_swe, "adj": part_adj, "growth": part_growth, "columns": part_columns,
         "small": part_small, "counts": part_counts, "brusselator": part_brusselator, "krylov": part_krylov,
         "stiff": part_stiff, "direct": part_direct, "inexact": part_inexact, "dae": part_dae,
         "fekete": part_fekete, "hybrid": part_hybrid, "second": part_second, "bvp": part_bvp, "scale": part_scale,
         "papers": part_papers}
WITHOUT_PEERS = {"papers"}


# ---- all of it -------------------------------------------------------------------------------------------------------


INTRODUCTION = """# Results of `./run bench`

Written whole by it, in one go of %.0f s. Seconds are of the processor, one thread; a row's are medians: in %d turns of
all codes of a table, each with a few runs after one that warms up. A ratio compares the rows of one turn with each
other, by interpolation at equal error on the front of each code; it is the median of the turns, beside it their range.
All codes call the same callbacks at the same tolerances; their objects are made beforehand, and reinitialised.

Columns: rej rejected steps; Jv, J'v, 2nd products with the Jacobian, its transpose, second derivatives; LU, cLU real
and complex decompositions; err y, err d relative 2-norm errors of y(tf) and of its tangent or gradient.
"""


def write_results(run, rep, where, began):
    with open(where, "w") as file:
        file.write(INTRODUCTION % (time.time() - began, run.turns))
        for title, lines in (("Machine and codes", machine() + codes(run)), ("Targets", rep.targets)):
            file.write("\n## %s\n\n%s\n" % (title, "\n".join("- " + line for line in lines)))
        file.write("\n## costate against its peers\n\n%s\n" % "\n".join(rep.ratio_lines()))
        file.write("\n## Tables\n%s\n" % "\n".join(rep.lines))
    print("written: " + where)


def add_results(run, rep, where, parts, began):
    """Sections of one run each, "Added: PARTS", stand behind what a whole run wrote."""
    title = "Added: " + " ".join(parts)
    with open(where) as file:
        kept = re.sub(r"\n## %s\n.*?(?=\n## Added: |\Z)" % re.escape(title), "", file.read(), flags=re.S)
    with open(where, "w") as file:
        file.write("%s\n\n## %s\n\nIn a run of its own of %.0f s, %d turns, as above.\n" % (
            kept.rstrip("\n"), title, time.time() - began, run.turns))
        for lines in (machine() + codes(run, not set(parts) <= WITHOUT_PEERS), rep.targets):
            if lines:
                file.write("\n%s\n" % "\n".join("- " + line for line in lines))
        file.write("\n%s\n%s\n" % ("\n".join(rep.ratio_lines()) if rep.ratios else "", "\n".join(rep.lines)))
    print("added to " + where)


def main():
    build, *parts = [a for a in sys.argv[1:] if a not in ("--quick", "--add")]
    unknown = [p for p in parts if p not in PARTS]
    if unknown:
        sys.exit("bench: no part %s; there are: %s" % (", ".join(unknown), " ".join(PARTS)))
    began, whole = time.time(), not parts and not QUICK
    results = os.path.join(os.path.dirname(__file__), "RESULTS.md")
    run = Runner(build, QUICK)
    rep = Report(run.out)
    print("\n".join(machine() + codes(run)))
    for part in parts or PARTS:
        start, used = time.time(), os.times().children_user
        PARTS[part](run, rep)
        took = (part, time.time() - start, os.times().children_user - used)
        print("(%s took %.0f s, %.0f s of the processor)" % took, flush=True)
        if whole:                           # a run that is stopped leaves what it has
            write_results(run, rep, results, began)
    print("\nTargets\n\n" + "\n".join(rep.targets) + "\n\n" + "\n".join(rep.ratio_lines()))
    if parts and "--add" in sys.argv and not QUICK:
        add_results(run, rep, results, parts, began)
        return
    if not whole:
        write_results(run, rep, os.path.join(run.out, "RESULTS.md"), began)


if __name__ == "__main__":
    main()
