"""bench.py BUILD [--quick] [PART...] - the benchmark: rows of all codes, targets, pictures, bench/RESULTS.md."""
import os
import statistics
import sys
import time

from report import Report, curve, machine, speedup
from runner import Runner

QUICK = os.environ.get("BENCH_QUICK") == "1" or "--quick" in sys.argv
CVODES = {"umfpack": ("cvodes:bdf", "umfpack"), "gmres": ("cvodes:bdf", "gmres"), "adams": ("cvodes:adams", "auto")}


def tolerances(*exponents):
    return [float("1e-%d" % k) for k in ((4, 6) if QUICK else exponents)]


def widened(code, tols):
    """At the same tolerance the codes differ by orders in error: loose ones here and tight ones there make them overlap."""
    if len(tols) < 2:
        return tols
    return tols + [tols[-1] / 10, tols[-1] / 100, tols[-1] / 1000] if code.startswith("cvodes") else [min(0.1, tols[0] * 10)] + tols


# ---- shared by parts ---------------------------------------------------------------------------------------------------


def sweep(run, entries, problem, tols, mode="adj", **more):
    """{name: rows} over tolerances for entries (code, solver) or (code, solver, flags, suffix)"""
    table = {}
    ladders = [widened(code, tols) for code, *rest in entries]
    for k in range(max(len(ladder) for ladder in ladders)):     # codes take turns, so that all meet the same machine
        for (code, solver, *extra), ladder in zip(entries, ladders):
            flags, suffix = extra if extra else ((), "")
            if k < len(ladder):
                row = run.row(code, problem, solver=solver, rtol=ladder[k], mode=mode, flags=flags, **more)
                table.setdefault(row["name"] + suffix, []).append(row)
    return table


def show(rep, title, table, picture=None, error="error_derivative"):
    rep.table(title, [row for rows in table.values() for row in rows])
    if picture:
        rep.picture(picture, title, {name: curve(rows, error) for name, rows in table.items()},
                    "relative error of y" if error == "error" else "relative error of the gradient")


def at_equal_error(table, ours, theirs, error="error_derivative"):
    """the best of ours (names) against the best of theirs: (ratio, our name)"""
    best = None, None
    peers = [p for name in theirs for p in curve(table.get(name, []), error)]
    for name in ours:
        ratio = speedup(curve(table.get(name, []), error), peers)
        if ratio is not None and (best[0] is None or ratio > best[0]):
            best = ratio, name
    return best


def ratio(row):
    return None if row.get("status") else row.get("ratio")


# ---- parts ----------------------------------------------------------------------------------------------------------------


def part_swe(run, rep):
    side = 20 if QUICK else 40
    direct = [("costate:rodas4", "umfpack"), ("costate:rodas4", "umfpack", ("--keep-factors", "never"), " never kept"),
              ("costate:sdirk4a", "umfpack"), ("costate:radau2a", "umfpack"), CVODES["umfpack"]]
    cheap = [("costate:dopri5", "auto"), ("costate:tsit5", "auto"), CVODES["adams"]]
    krylov = [("costate:rodas4", "gmres"), ("costate:sdirk4a", "gmres"), ("costate:radau2a", "gmres"), CVODES["gmres"]]
    table = sweep(run, cheap + krylov, "swe", tolerances(3, 4, 5, 6, 7, 8), size=side)
    table.update(sweep(run, direct, "swe", tolerances(3, 4, 5, 6, 7, 8), size=side))
    if not QUICK:
        table.update(sweep(run, [("cvodes:bdf", "klu")], "swe", [1e-6], size=side, repeat=1, budget=0.1, mode="forward"))
    show(rep, "Shallow water %d x %d, tf 0.011: forward and gradient" % (side, side), table, "swe_%d" % side)
    swe_targets(run, rep, side, table)
    sensitivities(run, rep, side)
    if not QUICK:
        larger_swe(run, rep)


def swe_targets(run, rep, side, table):
    ros = run.row("costate:rodas4", "swe", size=side, mode="forward", solver="umfpack")
    c = run.costs("swe", side, "umfpack", ros.get("steps") or 20)
    rep.say()
    rep.say("best costs: " + ", ".join("%s %.3g ms" % (k, 1e3 * v) for k, v in c.items() if v))
    erk = run.row("costate:dopri5", "swe", size=side, mode="forward")
    rep.target("dopri5 forward / (calls of f x cost of f)", erk["forward"] / (erk["f"] * c["f"]), 1.25)
    rep.target("dopri5 gradient / forward", ratio(run.row("costate:dopri5", "swe", size=side, flags=("--pairs",))), 5)
    rep.target("dopri5 gradient, times faster than CVODES Adams at equal gradient error",
               at_equal_error(table, ["dopri5"], ["cvodes adams"])[0], 2.5, True)
    if c["factor"] and not ros["status"]:
        model = (ros["decompositions"] * c["factor"] + ros["solves"] * c["solve"] + ros["f"] * c["f"]
                 + ros["jac"] * c["jac"])
        rep.target("rodas4 umfpack forward / (its calls x their best costs)", ros["forward"] / model, 1.15)
    rep.target("rodas4 gradient, times faster than CVODES BDF, both with UMFPACK, at equal gradient error",
               at_equal_error(table, ["rodas4 umfpack"], ["cvodes bdf umfpack"])[0], 1.5, True)
    found, name = at_equal_error(table, ["rodas4 gmres", "sdirk4a gmres", "radau2a gmres"], ["cvodes bdf gmres"])
    rep.target("gradient by GMRES (%s), times faster than CVODES BDF + GMRES at equal gradient error" % name, found, 1.5,
               True)


def sensitivities(run, rep, side):
    """one tangent, error control with and without it"""
    rows = []
    for code, solver in [("costate:dopri5", "auto"), ("costate:rodas4", "umfpack"), CVODES["adams"], CVODES["umfpack"],
                         CVODES["gmres"]]:
        for flags in ((), ("--sens-error",)):
            rows.append(run.row(code, "swe", size=side, solver=solver, mode="tlm", flags=flags))
    rep.table("Shallow water %d x %d: one tangent; each without and with it in the error norm" % (side, side), rows)


def larger_swe(run, rep):
    cheap = [("costate:dopri5", "auto"), CVODES["adams"], ("costate:rodas4", "gmres"), ("costate:sdirk4a", "gmres"),
             CVODES["gmres"]]
    direct = [("costate:rodas4", "umfpack"), CVODES["umfpack"]]
    for side, tf, tols, once in ((80, None, [1e-4, 1e-6, 1e-8], [1e-4, 1e-6]), (160, None, [1e-4, 1e-6, 1e-8], [1e-6]),
                                 (40, 0.11, [1e-4, 1e-6, 1e-8], [1e-4, 1e-6])):
        table = sweep(run, cheap, "swe", tols, size=side, tf=tf)
        table.update(sweep(run, direct, "swe", once, size=side, tf=tf, repeat=1, budget=0.1,
                           mode="adj" if side < 160 else "forward"))       # minutes else
        show(rep, "Shallow water %d x %d, tf %g" % (side, side, tf or 0.011), table, "swe_%d_%g" % (side, tf or 0.011))


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
                           flags=("--pairs",) + flags, budget=run.budget * 2)
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


def part_small(run, rep):
    problems = [("hires", None), ("vdpol", 1000)] if QUICK else [
        ("hires", None), ("robertson", None), ("vdpol", 1000), ("vdpol", 1000000), ("pollu", None)]
    methods = ["rodas4", "rodas5p", "sdirk4a", "radau2a", "radau2a5"]
    entries = [("costate:" + m, "auto") for m in methods] + [("cvodes:bdf", "auto")]
    if run.hairer:
        entries += [("hairer:radau5", "auto"), ("hairer:rodas", "auto")]
    else:
        rep.say("RADAU5 and RODAS of Hairer and Wanner: set COSTATE_HAIRER to a directory with a program `hairer` that takes "
                "the arguments of `race`; skipped.")
    gains = {}
    for problem, size in problems:
        table = sweep(run, entries, problem, tolerances(4, 5, 6, 7, 8), mode="forward", size=size)
        name = problem + (" mu = %g" % size if size else "")
        show(rep, name + ": forward", table, "small_%s%s" % (problem, size or ""), "error")
        for m in methods:
            own = next((k for k in table if k.split()[0] == m), m)
            gains.setdefault(m, []).append(at_equal_error(table, [own], ["cvodes bdf dense"], "error")[0])
            for peer in (k for k in table if k.startswith("hairer") and m in ("rodas4", "radau2a")):
                rep.target("%s: %s, times faster than %s at equal error" % (name, m, peer),
                           at_equal_error(table, [own], [peer], "error")[0], 1, True)
    if not QUICK:
        sparse = (("--sparse",), "")
        table = sweep(run, [("costate:rodas4", "klu", *sparse), ("cvodes:bdf", "klu", *sparse)], "pollu",
                      tolerances(4, 6, 8), mode="forward")
        show(rep, "pollu, sparse", table)
    rep.plain_table("Small stiff systems: times faster than CVODES at equal error of y",
                    ["method"] + [p + (" %g" % s if s else "") for p, s in problems],
                    [[m] + ["-" if g is None else "%.2f" % g for g in gains[m]] for m in methods])
    medians = {m: statistics.median([g for g in gains[m] if g] or [float("nan")]) for m in methods}
    best = max(medians, key=lambda m: medians[m])
    rep.target("small stiff systems (%s), times faster than CVODES at equal error, median over problems" % best,
               medians[best], 1.5, True)


def part_brusselator(run, rep):
    direct = [("costate:rodas4", "umfpack"), ("costate:rodas5p", "umfpack"), ("costate:sdirk4a", "umfpack"),
              ("costate:radau2a", "umfpack"), CVODES["umfpack"], ("cvodes:bdf", "klu")]
    krylov = [("costate:sdirk4a", "gmres"), CVODES["gmres"]]
    sides = ((16, (4, 6), direct + krylov, "adj"),) if QUICK else (
        (32, (3, 4, 5, 6, 7), direct + krylov, "adj"), (64, (3, 5), direct[:-1] + krylov, "adj"),
        (128, (4,), [direct[0], direct[4]] + krylov, "forward"), (256, (4,), krylov, "forward"))
    for side, exponents, entries, mode in sides:
        table = sweep(run, entries, "brusselator2d", tolerances(*exponents), size=side, mode=mode,
                      repeat=None if side <= 32 else 1, budget=1 if side <= 32 else 0.1, compare=side <= 128)
        show(rep, "2-D Brusselator %d x %d: forward%s" % (side, side, " and gradient" if mode == "adj" else ""), table,
             "brusselator_%d" % side)
        if len(exponents) > 1:
            ours = ["%s umfpack" % m for m in ("rodas4", "rodas5p", "sdirk4a", "radau2a")]
            found, name = at_equal_error(table, ours, ["cvodes bdf umfpack"])
            rep.target("Brusselator %d: gradient (%s), times faster than CVODES BDF, both with UMFPACK" % (side, name),
                       found, 1.5, True)
    if not QUICK:
        table = sweep(run, [("costate:rodas4", "auto"), ("costate:radau2a", "auto"), ("cvodes:bdf", "klu")], "diffusion",
                      tolerances(4, 6, 8), size=1000)
        show(rep, "Linear diffusion, 1000 points: forward and gradient", table, "diffusion")


def part_krylov(run, rep):
    """GMRES: to round-off, where tangent and adjoint stay transposes; and with krylov_tol, where they do to about that"""
    exact = [("costate:" + m, "gmres") for m in ("rodas4", "rodas5p", "sdirk4a", "trbdf2", "radau2a")]
    loose = [("costate:" + m, "gmres", ("--krylov-tol", tol), " tol " + tol)
             for m in ("rodas5p", "sdirk4a") for tol in ("1e-6", "1e-5")]
    ilu = [("costate:" + m, "gmres", ("--ilu",), " ilu") for m in ("rodas4", "sdirk4a")]
    for problem, size in ((("swe", 20),) if QUICK else (("swe", 40), ("swe", 80), ("brusselator2d", 32))):
        ours = exact + loose + (ilu if problem == "brusselator2d" else [])
        table = sweep(run, ours + [CVODES["gmres"], ("cvodes:bdf", "gmres", ("--krylov", "20"), " 20")], problem,
                      tolerances(3, 4, 5, 6), size=size, budget=1)
        show(rep, "GMRES: %s %d" % (problem, size), table, "krylov_%s_%d" % (problem, size))
        peers = [k for k in table if k.startswith("cvodes")]
        for kind, names in (("exact gradient", [k for k in table if k not in peers and " tol " not in k]),
                            ("gradient with krylov_tol", [k for k in table if " tol " in k])):
            found, name = at_equal_error(table, names, peers)
            rep.target("%s %d: %s by GMRES (%s), times faster than CVODES BDF + GMRES at equal gradient error"
                       % (problem, size, kind, name), found, 1.5, True)


PARTS = {"swe": part_swe, "adj": part_adj, "growth": part_growth, "small": part_small, "brusselator": part_brusselator,
         "krylov": part_krylov}


# ---- all of it --------------------------------------------------------------------------------------------------------------


def write_results(rep, where, began):
    with open(where, "w") as file:
        file.write("# Results of `./run bench`\n\nMedians of a few runs each, seconds of processor time; all codes on the same callbacks, "
                   "tolerances and machine, in one go (%.0f s).\nColumns: rej rejected steps; Jv, J'v, 2nd products with "
                   "the Jacobian, its transpose, second derivatives;\nLU, cLU real and complex decompositions; err y, err "
                   "d relative 2-norm errors of y(tf) and of its tangent or gradient.\n\n" % (time.time() - began))
        file.write("\n".join("- " + line for line in machine()) + "\n")
        file.write("\n".join(rep.lines) + "\n")
    print("written: " + where)


def main():
    build, *parts = [a for a in sys.argv[1:] if a != "--quick"]
    unknown = [p for p in parts if p not in PARTS]
    if unknown:
        sys.exit("bench: no part %s; there are: %s" % (", ".join(unknown), " ".join(PARTS)))
    began = time.time()
    run = Runner(build, QUICK)
    rep = Report(run.out)
    for line in machine():
        print(line)
    if not run.has_cvodes():
        rep.say("cvodes was not built in: its rows say failed (Debian: libsundials-dev)")
    for part in parts or PARTS:
        start = time.time()
        PARTS[part](run, rep)
        print("(%s took %.0f s)" % (part, time.time() - start), flush=True)
    rep.targets_table()
    whole = not parts and not QUICK
    write_results(rep, os.path.join(os.path.dirname(__file__) if whole else run.out, "RESULTS.md"), began)


if __name__ == "__main__":
    main()
