"""lanes.py - the part lanes of the benchmark: members of ensembles side by side, one by one, and by CVODES."""
import json
import os
import subprocess
import sys

# Times as fast as members one by one with dense matrices, 8 lanes: (forward, gradient); with fewer lanes FEWER of it
DENSE = {"pollution": (3.6, 4.1), "hires": (5.6, 6.2), "robertson_ode": (4.7, 9.2), "lotka_volterra": (2.8, 5.0)}
OWN = {"pollution": (16, 14.4), "hires": (8.8, 10.4), "robertson_ode": (5.0, 10)}
FEWER = 0.6
CONTROL = 0.15                                          # share of a try
MODES = ("forward", "gradient")
OTHERS = ("rodas5p", "ros3")                            # one line of a table each, no targets


def part_lanes(run, rep):
    rows = measured(run, "lanes", "runs")
    filled, threads = measured(run, "lanes", "filled"), measured(run, "lanes", "threads")
    pace = measured(run, "lanes_pace")
    with open(os.path.join(run.out, "lanes.json"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows + filled + threads + pace)
    explain(rep, rows)
    for mode in MODES:
        speeds(rep, rows, mode)
    for mode in MODES:
        ratios(rep, rows, mode)
    use_of_lanes(rep, rows)
    targets(rep, rows)
    control(rep, pace)
    few_members(rep, filled)
    two_threads(rep, threads)


def measured(run, program, *what):
    """The rows; whatever the program has to say is said, and where it fails so does the benchmark."""
    done = subprocess.run([os.path.join(run.out, program), *what, *(["small"] if run.quick else [])],
                          stdout=subprocess.PIPE, text=True, env=dict(os.environ, OPENBLAS_NUM_THREADS="1"))
    if done.returncode != 0:
        sys.exit("bench: %s failed: members in lanes and one by one differ, or a run did not succeed" % program)
    return [json.loads(line) for line in done.stdout.splitlines()]


def explain(rep, rows):
    widest = max(row.get("lanes", 1) for row in rows)
    rep.heading("Members of an ensemble in lanes")
    for line in (
            "Models of models/ with parameters and initial values within 20 % of theirs (smog: initial values); a",
            "gradient is of one functional, by initial values and parameters. Rosenbrock methods; Lotka-Volterra by",
            "tsit5. The tolerance is rtol, with atol = rtol/1000 times 1, Robertson 0.01, smog 1e8 molecules/cm^3.",
            "Dense: matrices are factored with pivots, as is the default. Own: by NAME_backend() of the equation file,",
            "straight-line elimination without pivoting; one by one that is scalar generated code as KPP makes it. One",
            "thread; medians of 7 turns in one process, in which all codes run one after the other; ratios are of one",
            "turn. The widest lanes of this machine: %d." % widest,
            "",
            "CVODES: BDF, dense matrices, the same tolerances and callbacks, without integrals; its gradient is by",
            "initial values alone. Objects are made beforehand."
            if any(row["elimination"] == "cvodes" for row in rows) else "CVODES is not there: it has no column."):
        rep.say(line)


# ---- tables of runs ------------------------------------------------------------------------------------------------


class Case:
    """the rows of a model, method, tolerance and mode"""

    def __init__(self, key, rows):
        self.key = self.model, self.method, self.rtol, self.mode = key
        self.rows = {(row["elimination"], row.get("lanes", 1)): row for row in rows}

    def of(self, elimination, lanes, name):
        return self.rows.get((elimination, lanes), {}).get(name)

    def head(self):
        return [self.model, self.method, "%.0e" % self.rtol]


def cases(rows, mode=None):
    keys = dict.fromkeys((row["model"], row["method"], row["rtol"], row["mode"]) for row in rows)
    all_of = [Case(key, [r for r in rows if (r["model"], r["method"], r["rtol"], r["mode"]) == key]) for key in keys]
    return [case for case in all_of if mode in (None, case.mode)]


def widths(rows):
    return sorted({row["lanes"] for row in rows if row.get("lanes", 1) > 1})


def show(x, form="%.2f"):
    return "-" if x is None else form % x


def speeds(rep, rows, mode):
    some = widths(rows)
    with_cvodes = any(row["elimination"] == "cvodes" for row in rows)
    head = ["model", "method", "rtol", "dense", "own", *("dense %d" % w for w in some), *("own %d" % w for w in some)]
    table = []
    for case in cases(rows, mode):
        cells = [("dense", 1), ("own", 1), *(("dense", w) for w in some), *(("own", w) for w in some)]
        cells += [("cvodes", 1)] if with_cvodes else []
        table.append(case.head() + [show(case.of(*cell, "per_second"), "%.4g") for cell in cells])
    rep.plain_table("Members a second, %s: one by one, and with so many lanes" % described(mode),
                    head + (["CVODES"] if with_cvodes else []), table)


def described(mode):
    return "with gradient" if mode == "gradient" else mode


def ratios(rep, rows, mode):
    some = widths(rows)
    kinds = [("dense", "over_dense"), ("own", "over_dense"), ("own", "over_own")]
    head = ["model", "method", "rtol", "own/dense"]
    head += ["%s %d%s" % (kind, w, "/own" if of == "over_own" else "") for kind, of in kinds for w in some]
    table = []
    for case in cases(rows, mode):
        cells = [show(case.of("own", 1, "over_dense"))]
        for kind, of in kinds:
            cells += ["-" if case.of(kind, w, of) is None else
                      "%.2f (%.2f)" % (case.of(kind, w, of), case.of(kind, w, of + "_least")) for w in some]
        table.append(case.head() + cells)
    rep.plain_table("Times as fast as one by one and dense, or (/own) one by one and own, %s: median (least)"
                    % described(mode), head, table)


def use_of_lanes(rep, rows):
    """Dense and own differ in round-off, hence hardly in steps: dense."""
    some, table = widths(rows), []
    for case in cases(rows):
        every = [row for row in case.rows.values() if row.get("lanes", 1) > 1]
        same = all(row["same"] for row in every)
        alone = sum(row["members"] - row["in_lanes"] for row in every)
        table.append(case.head() + [case.mode, *(show(case.of("dense", w, "active")) for w in some),
                                    *(show(case.of("dense", w, "accepted")) for w in some), alone,
                                    "yes" if same else "NO"])
    rep.plain_table("Mean active lanes, those of them whose step was accepted (dense); members that left lanes; bits",
                    ["model", "method", "rtol", "mode", *("active of %d" % w for w in some),
                     *("accepted of %d" % w for w in some), "ran alone", "same bits"], table)


# ---- targets -------------------------------------------------------------------------------------------------------


def targets(rep, rows):
    """The lesser of the tolerances counts."""
    widest = max(widths(rows), default=1)
    factor = {8: 1, 4: FEWER}.get(widest)
    rep.heading("Targets of lanes: times as fast as one by one and dense, at the tolerance where that is less")
    for kind, wanted in (("dense", DENSE), ("own", OWN)):
        for model, limits in wanted.items():
            for mode, limit in zip(MODES, limits):
                found = [case.of(kind, widest, "over_dense") for case in cases(rows, mode)
                         if case.model == model and case.method not in OTHERS]
                found = [x for x in found if x]
                rep.target("%s, %s, %s, %d lanes: times as fast" % (model, described(mode), kind, widest),
                           min(found) if factor and found else None, limit * (factor or 1), True)


def control(rep, pace):
    rep.plain_table("Step size control of a forward run, nanoseconds a lane (rtol 1e-04)",
                    ["model", "method", "elimination", "lanes", "control", "a try", "control, share of a try", "most"],
                    [[row["model"], row["method"], row["elimination"], row["lanes"], "%.1f" % row["control"],
                      "%.4g" % row["try"], "%.1f %%" % (100 * row["share"]), "%.1f %%" % (100 * row["share_most"])]
                     for row in pace])
    shares = {}
    for row in pace:
        shares[row["model"]] = max(shares.get(row["model"], 0), row["share"])
    for model, share in shares.items():
        rep.target("%s: control, share of a try, its largest row" % model, share, CONTROL)


# ---- few members, threads ------------------------------------------------------------------------------------------


def few_members(rep, filled):
    found = {(row["members"], row["mode"]): row for row in filled}
    table = []
    for count in dict.fromkeys(row["members"] for row in filled):
        row, gradient = (found[count, mode] for mode in MODES)
        table.append([count, show(row["active"]), show(row["accepted"]), show(row["over_dense"]),
                      show(gradient["over_dense"])])
    rep.plain_table("Pollution, rodas4, rtol 1e-04, dense, %d lanes: mean active lanes by number of members"
                    % filled[0]["lanes"],
                    ["members", "active", "accepted", "times as fast, forward", "with gradient"], table)


def two_threads(rep, threads):
    rep.plain_table("Pollution, rodas4, rtol 1e-04, with gradient: members a second of the wall, by threads",
                    ["elimination", "lanes", "one thread", "two", "times as fast, median", "least", "most",
                     "processor time, two / one"],
                    [[row["elimination"], row["lanes"], "%.4g" % row["one"], "%.4g" % row["two"], show(row["faster"]),
                      show(row["faster_least"]), show(row["faster_most"]), show(row["processor"])] for row in threads])
    rep.say()
    rep.say("Time on the wall depends on what else the machine does; where threads cost nothing, the processor time of")
    rep.say("two is that of one.")
