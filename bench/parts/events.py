"""events.py - part hybrid of the benchmark: events."""
import statistics

from report.sweeps import adams, bdf, best_against, ladder, QUICK, ratio, show, sweep


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
