"""small.py - parts small and counts of the benchmark: small systems, and what a step of theirs costs."""
import statistics

from report.sweeps import asked_of_peers, at_equal_error, bdf, best_at, compete, packaged, QUICK, show, sweep, \
    tolerances

AT_CVODES_ERROR = ("rodas5p", "radau2a5")       # methods of the targets of part small


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
    gains, at_its_error = {}, {}
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
            for rtol in asked_of_peers() if m in AT_CVODES_ERROR else ():
                at_its_error.setdefault((m, rtol), []).append(best_at(table, run.peer, rtol, "error", [own]))
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
    for (m, rtol), found in at_its_error.items():
        values = [f[0].median for f in found if f]
        rep.target("small stiff systems: %s, times faster than %s, at its error, median over problems at rtol %g" %
                   (m, titles[run.peer], rtol), statistics.median(values) if values else None, 1.5, True)


# Ours, theirs, what of theirs a step may take.  RADAU5 replaces rtol by 0.1 rtol^(2/3), and atol alike: it is compared
# with radau2a at what it uses, where both take as many steps.
STIFF = (("costate:rodas4", 1e-6, "hairer:rodas", 1e-6, 1.0), ("costate:radau2a", 1e-5, "hairer:radau5", 1e-6, 1.3))
NOT_STIFF = (("costate:dopri5", 1e-6, "hairer:dopri5", 1e-6, 1.0),
             ("costate:dopri853", 1e-8, "hairer:dop853", 1e-8, 1.0))
SMALL = {"vdpol": (STIFF, "vdpol", None), "hires": (STIFF, "hires", None), "robertson": (STIFF, "robertson", None),
         "pollu": (STIFF, "pollu", None), "vdpol 1": (NOT_STIFF, "vdpol", 1), "lv": (NOT_STIFF, "lv", None),
         "pleiades": (NOT_STIFF, "pleiades", None)}


def part_counts(run, rep):
    """instructions and time of a step beside Hairer's codes, and time at equal error"""
    rows, names = [], ["vdpol", "hires", "vdpol 1"] if QUICK else list(SMALL)
    there = [s for s in STIFF + NOT_STIFF if run.has[s[2].split(":")[1].replace("radau5", "hairer")]]
    for code in [s[2] for s in STIFF + NOT_STIFF if s not in there]:
        rep.say("%s is not there (bench/peers/build.sh says why): it is not compared with." % code)
    for name in names:
        steppers, problem, size = SMALL[name]
        for own, own_rtol, other, other_rtol, limit in [s for s in steppers if s in there]:
            pair = step_costs(run, name, problem, size, ((own, own_rtol), (other, other_rtol)))
            rows += [cost["row"] for cost in pair]
            what = "%s: %s, %%s a step over that of %s" % (name, own.split(":")[1], other)
            counts = [cost["instructions"] for cost in pair]
            rep.target(what % "instructions", counts[0] / counts[1] if all(counts) else None, limit)
            times = [a / b for a, b in zip(pair[0]["seconds"], pair[1]["seconds"])]
            rep.target(what % "time", statistics.median(times), limit)
    rep.plain_table("Small systems, a step: instructions by callgrind, of a run after the first; ns of the fastest run",
                    ["problem", "code", "rtol", "steps", "f", "LU", "solves", "instructions", "ns"], rows)
    for name in names:
        steppers, problem, size = SMALL[name]
        raced = [s for s in steppers if s in there]
        table = sweep(run, [(code, "auto") for s in raced for code in (s[0], s[2])], problem, tolerances(4, 5, 6, 7, 8),
                      mode="forward", size=size)
        show(rep, name + ": forward", table, "counts_" + name.replace(" ", ""), "error")
        suffix = " dense" if steppers is STIFF else ""
        for own, _, other, _, _ in raced:
            compete(rep, table, name, [own.split(":")[1] + suffix], [other.replace(":", " ") + suffix], 1, "error")


def step_costs(run, name, problem, size, entries):
    """of each (code, rtol), in turns: its row in the table, instructions a step (None: not counted), and the seconds a
    step of each turn's fastest run"""
    turns = [[run.row(code, problem, size=size, mode="forward", rtol=rtol, turn=turn) for code, rtol in entries]
             for turn in range(run.turns)]
    costs = []
    for (code, rtol), rows in zip(entries, zip(*turns)):
        row, steps = rows[0], rows[0]["steps"]
        count = run.instructions(code, problem, rtol, size=size)
        seconds = [r["seconds_min"] / steps for r in rows]
        calls = [row["f"], row["decompositions"] + row["complex"], row["solves"] + row["complex_solves"]]
        costs.append({"instructions": count and count / steps, "seconds": seconds, "row": [
            name, code, "%.0e" % rtol, steps, *("%.2f" % (n / steps) for n in calls),
            "%.0f" % (count / steps) if count else "-", "%.0f" % (1e9 * statistics.median(seconds))]})
    return costs
