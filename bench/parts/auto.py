"""auto.py - the part auto of the benchmark: composite methods beside single ones in work and time, beside other codes
in time.

Work is counted, with the prices of docs/explanation/choosing.md: what a composite method takes over the least that
single methods take at the error that it reaches.  Times of `auto` are compared with those of its members in the same
way; each is the least of some runs.  Runs whose error is 1 or more solve nothing and are left out.  Then come the times
of CVODES and LSODA over that of `auto` at the error that they reach.

The environment variable BENCH_AUTO replaces composite methods by others, as in BENCH_AUTO=auto=rodas5p,radau=radau2a5,
to try this part with a library that lacks them."""
import json
import math
import os
import subprocess

import recommend
from report.sweeps import adams, bdf, best_at, sweep
from report.tables import number

# those first that are cheap nearly everywhere: see parts/auto.c
SINGLES = ("rodas5p", "radau2a5", "rodas4", "radau2a", "radau2a7", "radau2a4", "esdirk43i6", "sdirk4a", "rock4",
           "verner76", "bs54", "tsit5", "dopri5", "verner98")
PARABOLIC = ("rock4",)              # for large parabolic problems, which no member of `auto` is for
RADAU = ("radau2a", "radau2a5", "radau2a7")
# composite method, what it is compared with, targets: geometric mean over all cells, the worst cell
COMPOSITES = (("auto", SINGLES, 1.2, 2.5), ("radau", RADAU, 1.1, 1.6))
MEMBERS = ("rodas5p", "radau2a5", "radau2a", "radau2a7", "rock4", "verner76", "bs54")     # of `auto`
TIMED = ("auto", MEMBERS, 1.1, 1.5)             # as COMPOSITES, for times
WHICH = (("forward", "value", "error"), ("with gradient", "gradient", "gradient"))
TIME = {"value": "forward_time", "gradient": "time"}
RTOLS = (1e-3, 1e-5, 1e-7, 1e-9)
ENOUGH = 2e-11                     # errors below are too near those of the references
SMALL = ("orego", "lv", "vdpol", "line")


def part_auto(run, rep):
    rows = measured(run)
    work(rep, rows)
    times(rep, rows)
    race(run, rep)


def work(rep, rows):
    for name, against, mean, worst in COMPOSITES:
        for title, which, error in WHICH:
            cells = ratios(rows, name, against, which, error)
            what = "the best single method" if against is SINGLES else "the best of its members"
            ratio_table(rep, "`%s`, %s: work over that of %s at its error" % (name, title, what), cells)
            summary(rep, "%s, %s: work" % (name, title), cells, mean, worst)
            if against is SINGLES:
                others = tuple(single for single in SINGLES if single not in PARABOLIC)
                rep.say("without %s among the single methods: %s" % (
                    ", ".join(PARABOLIC), in_short(ratios(rows, name, others, which, error))))
    members(rep, rows)


def times(rep, rows):
    name, against, mean, worst = TIMED
    for title, which, error in WHICH:
        cells = ratios(rows, name, against, which, error, by_time=True)
        ratio_table(rep, "`%s`, %s: time over that of the best of its members at its error" % (name, title), cells)
        summary(rep, "%s, %s: time" % (name, title), cells, mean, worst)


def methods():
    """{composite method: what runs in its place}"""
    stand_ins = dict(pair.split("=") for pair in os.environ.get("BENCH_AUTO", "").split(",") if pair)
    return {name: stand_ins.get(name, name) for name, *_ in COMPOSITES}


# ---- work, and times of costate alone --------------------------------------------------------------------------------


def measured(run):
    """{problem: {"about": line, method: runs, from loose to tight}}; composite methods by their own names.  Times are
    the least of the turns: within one, methods that are compared may run a minute apart."""
    names = methods()
    command = [os.path.join(run.out, "auto_work"), ",".join(SINGLES), ",".join(names.values()),
               *(SMALL if run.quick else ())]
    turns = [subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.splitlines() for _ in range(run.turns)]
    return by_problem(least_times([json.loads(line) for line in turn] for turn in turns), names)


def least_times(turns):
    """the lines of the first turn, with the least times of all"""
    first, *others = turns
    for turn in others:
        for line, again in zip(first, turn, strict=True):
            for time in TIME.values():
                if line.get(time) is not None:
                    line[time] = min(line[time], again[time])
    return first


def by_problem(lines, names):
    found, own = {}, {method: name for name, method in names.items()}
    for line in lines:
        of = found.setdefault(line["problem"], {})
        if "method" in line:
            name = "composite " + own[line["method"]] if line["composite"] else line["method"]
            of.setdefault(name, []).append(line)
        else:
            of["about"] = line
    return found


def ratios(rows, name, against, which, error, by_time=False):
    """{problem: {rtol: (ratio, best method)}}; ratio inf: the run failed; None: no single method reaches its error, it
    is 1 or more, or there is no gradient"""
    return {problem: {run["rtol"]: ratio(run, of, against, which, error, by_time)
                      for run in of.get("composite " + name, ())} for problem, of in rows.items()}


def ratio(run, of, against, which, error, by_time):
    prices = recommend.PRICES[of["about"]["prices"]]

    def error_of(single):
        return math.inf if single[error] is None else single[error]

    def cost_of(single):
        return single[TIME[which]] if by_time else recommend.work_of(single, which, prices)

    if run["status"]:
        return math.inf, "-"
    if run[error] is None or run[error] >= 1:
        return None, "-"
    reached = max(run[error], ENOUGH)
    costs = {name: recommend.at_error(of[name], error_of, cost_of, reached) for name in against if name in of}
    costs = {name: cost for name, cost in costs.items() if cost}
    if not costs:
        return None, "-"
    best = min(costs, key=costs.get)
    return cost_of(run) / costs[best], best


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def all_ratios(cells):
    return [found for row in cells.values() for found, _ in row.values() if found is not None]


def ratio_table(rep, heading, cells):
    rep.heading(heading)
    rep.say("| problem | " + " | ".join("rtol %.0e" % rtol for rtol in RTOLS) + " |")
    rep.say("|---" * (len(RTOLS) + 1) + "|")
    for problem, row in cells.items():
        rep.say("| %s | %s |" % (problem, " | ".join(ratio_cell(*at(row, rtol)) for rtol in RTOLS)))


def at(row, rtol):
    """the cell of this tolerance, however it was rounded"""
    return next((cell for key, cell in row.items() if abs(key / rtol - 1) < 1e-3), (None, "-"))


def ratio_cell(found, best):
    return "-" if found is None else "failed" if math.isinf(found) else "%.2f %s" % (found, best)


def summary(rep, what, cells, mean, worst):
    found = all_ratios(cells)
    rep.say()
    rep.say(in_short(cells))
    target(rep, what + ", geometric mean", geometric_mean(found), mean)
    target(rep, what + ", worst cell", max(found, default=None), worst)


def in_short(cells):
    found = all_ratios(cells)
    failed = sum(map(math.isinf, found))
    where = max(((value, problem, rtol) for problem, row in cells.items() for rtol, (value, _) in row.items()
                 if value is not None), default=None)
    if not where:
        return "no cells"
    return "%d cells, %d of them failed; geometric mean %s, worst %s (%s, rtol %.0e)" % (
        len(found), failed, number(geometric_mean([x for x in found if math.isfinite(x)])),
        "failed" if failed else "%.2f" % where[0], where[1], where[2])


def target(rep, text, reached, limit):
    """A cell that failed is a target that is missed, not one that was not measured."""
    rep.target(text, 1e9 if reached == math.inf else reached, limit)


def members(rep, rows):
    """how often composite methods change the member, and how many steps each takes"""
    lines = [[problem, key.split()[1], "%.0e" % line["rtol"], line.get("switches", 0),
              " ".join("%s %d" % tuple(member) for member in line.get("members", ()) if member[1])]
             for problem, of in rows.items() for key, found in of.items() if key.startswith("composite ")
             for line in found if not line["status"]]
    if any(line[4] for line in lines):
        rep.plain_table("Changes of the member, and steps by each", ["problem", "method", "rtol", "changes", "steps"],
                        lines)


# ---- time ----------------------------------------------------------------------------------------------------------

# problem of the race, size, linear solvers of CVODES' BDF, and whether its Adams ends in finite time
RACES = (("lv", None, ("dense",), 1), ("pleiades", None, ("dense",), 1), ("swe", 20, ("klu",), 1),
         ("vdpol_original", 1, ("dense",), 1), ("vdpol", 100, ("dense",), 1), ("vdpol", 1000, ("dense",), 0),
         ("vdpol", 10000, ("dense",), 0), ("robertson", None, ("dense", "klu"), 0), ("orego", None, ("dense",), 1),
         ("hires", None, ("dense", "klu"), 1), ("pollu", None, ("dense", "klu"), 0), ("ring", None, ("dense",), 0),
         ("brusselator1d", 50, ("band", "klu"), 1), ("brusselator_10", 16, ("klu",), 1))
RACES_QUICK = ("lv", "orego", "brusselator1d")
GROUPS = (("CVODES", ("cvodes", "packaged")), ("LSODA", ("lsoda",)))


def race(run, rep):
    rep.heading("Times of other codes over that of `auto`, at their errors")
    for line in absent(run):
        rep.say(line)
    lines = []
    for problem, size, solvers, functional in RACES:
        if run.quick and problem not in RACES_QUICK:
            continue
        tols = list(RTOLS[:2] if run.quick else RTOLS)
        table = sweep(run, entries(run, solvers, functional, tols), problem, tols, mode="forward", size=size)
        lines += race_rows(problem + (" %d" % size if size else ""), table, tols)
    rep.say("| problem | rtol | " + " | ".join("%s | turns | with" % code for code, _ in GROUPS) + " |")
    rep.say("|---" * (2 + 3 * len(GROUPS)) + "|")
    for line in lines:
        rep.say("| " + " | ".join(line) + " |")
    race_summary(rep, lines)


def absent(run):
    said = []
    if not run.has[run.peer]:
        said.append("CVODES is not there: it does not race (bench/peers/build.sh).")
    if not run.has["lsoda"]:
        said.append("LSODA could not be built: it does not race (bench/peers/build.sh).")
    return said


def entries(run, solvers, functional, tols):
    """as sweep takes them: `auto`, with ten times smaller and larger tolerances as well; CVODES' BDF with each linear
    solver and its Adams; LSODA with given Jacobians and with its own differences"""
    finer = sorted({float("%.0e" % (t * f)) for t in tols for f in (0.1, 1, 10)}, reverse=True)
    found = [("costate:" + methods()["auto"], "auto", (), "", finer)]
    if run.has[run.peer]:
        found += [(*bdf(run, solver, ("--sparse",) if solver == "klu" else (), ""), tols) for solver in solvers]
        found += [(*adams(run), (), "", tols)] if functional else []
    if run.has["lsoda"]:
        found += [("lsoda:" + jacobian, "auto", (), "", tols) for jacobian in ("jacobian", "differences")]
    return found


def race_rows(problem, table, tols):
    """a line a tolerance: of each group the smallest ratio over its ways to run, its range over turns, the way"""
    ours = [name for name, rows in table.items() if rows[0].get("code") == "costate"]
    lines = []
    for rtol in tols:
        line = [problem, "%.0e" % rtol]
        for _, codes in GROUPS:
            found = [best_at(table, code, rtol, "error", ours) for code in codes]
            gain, _, name, _ = min((f for f in found if f), key=lambda f: f[0].median, default=(None, "", "-", None))
            line += ["%.2f" % gain.median, "%.2f to %.2f" % gain[1:], name] if gain else ["-", "-", "-"]
        lines.append(line)
    return lines


def race_summary(rep, lines):
    rep.say()
    for k, (code, _) in enumerate(GROUPS):
        cells = [(line[0], line[1], float(line[2 + 3 * k])) for line in lines if line[2 + 3 * k] != "-"]
        for problem, rtol, found in cells:
            rep.target("%s: auto, times faster than %s at its error at rtol %s" % (problem, code, rtol), found, 1, True)
        found = [cell[2] for cell in cells]
        if found:
            rep.say("%s, the best of its ways: geometric mean of the ratios %.2f, %d cells, the least %.2f" % (
                code, geometric_mean(found), len(found), min(found)))
