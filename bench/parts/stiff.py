"""stiff.py - parts brusselator, krylov, stiff, direct, inexact of the benchmark: reaction and diffusion on grids."""
from report.sweeps import (
    asked_of_peers, bdf, best_against, best_at, compete, gain_cells, ladder, preconditioned, QUICK, show, STABILISED,
    sweep, timed, tolerances)
from report.tables import curve, front, time_at


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


STIFF = [("rock4", (2, 3, 4, 5, 6, 7, 8, 9)), ("rock2", (2, 3, 4, 5, 6)), ("rkc2", (3, 4, 5, 6)),
         ("rkl2", (3, 4, 5, 6))]


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
    """a target for each tolerance of CVODES: the best of ours, and of its variants, at the error that it reached"""
    rows = []
    for rtol in asked_of_peers():
        best = {name: best_at(table, run.peer, rtol, error, [name]) for name, _ in STIFF}
        rows += [["%.0e" % rtol, name] + ([f[2]] + gain_cells(f, error) if f else ["-"] * 4)
                 for name, f in best.items()]
        gain, ours, peer, _ = max((f for f in best.values() if f), key=lambda f: f[0].median,
                                  default=(None, "rock4", run.peer, None))
        rep.target("%s: %s, times faster than %s at its error at rtol %g" % (what, ours, peer, rtol),
                   gain and gain.median, limit, True)
        rep.ratio("%s, rtol %g" % (what, rtol), ours, peer, gain)
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


def direct_targets(run, rep, table, names, kinds, what, error, limit):
    """the best of ours at the error that CVODES reached at each of its tolerances, for each of its solvers"""
    rows = []
    ours = [name for name in table if name.split()[0] in names]
    for solver, said in kinds.items():
        for rtol in asked_of_peers():
            best = best_at(table, "%s bdf %s" % (run.peer, solver), rtol, error, ours)
            rows += [["%.0e" % rtol, said, best[1]] + gain_cells(best, error)] if best else []
            rep.target("%s: times faster than CVODES with %s at its error at rtol %g" % (what, said, rtol),
                       best and best[0].median, limit, True)
    rep.plain_table(what + ": times faster than CVODES at its error",
                    ["rtol", "CVODES with", "costate", "error", "ratio", "turns"], rows)


def own_work(run, rep):
    """What of a run is neither f nor a product: times of the callbacks alone, as often as they were called"""
    rows = []
    for problem, side in (("brusselator_1", 32 if QUICK else 64), ("heat2d", 32 if QUICK else 128)):
        c = run.costs(problem, side, "auto", 20)
        for mode, method in STABILISED.items():
            for rtol in (1e-3, 1e-5):
                turns = [run.row("costate:" + method, problem, size=side, mode=mode, rtol=rtol, turn=turn)
                         for turn in range(run.turns)]
                row, least = turns[0], min(t["seconds_min"] for t in turns)
                calls = row["f"] * c["f"] + row["tangents"] * c["tangent"] + row["adjoints"] * c["adjoint"]
                share = 1 - calls / least
                rows.append(["%s %d" % (problem, side), method, mode, "%.0e" % rtol, row["steps"], row["f"],
                             row["adjoints"], "%.3g" % least, "%.3g" % calls, "%.2f" % share])
                if rtol == 1e-5:
                    rep.target("%s %d, %s: %s, part of the time that is not callbacks" % (
                        problem, side, "forward" if mode == "forward" else "gradient", method), share, 0.3)
    rep.plain_table("rock4, rkc2: the library's own work, by the best times of the run and of the callbacks alone",
                    ["problem", "method", "mode", "rtol", "steps", "f", "J'v", "seconds", "callbacks", "own part"],
                    rows)


def gradient_memory(run, rep):
    """what a gradient needs beyond a forward run, against the tape and the stages of the longest step"""
    side = 100 if QUICK else 400
    both = [run.row("costate:rkc2", "heat2d", size=side, mode=mode, rtol=1e-4, repeat=1, budget=0.1, compare=False)
            for mode in ("forward", "adj")]
    vector = both[1]["n"] * 8
    more, tape = (both[1]["peak_bytes"] - both[0]["peak_bytes"]) / vector, both[1]["tape_bytes"] / vector
    most = max(row["f"] / row["steps"] for row in both)                             # stages of the longest step, about
    rep.say()
    rep.say("Heat %d x %d, %d steps: the gradient takes %.0f vectors more than a forward run, of these the tape %.0f."
            % (side, side, both[1]["steps"], more, tape))
    share = more / (tape + most)
    rep.target("rkc2 gradient: memory beyond a forward run's over that of tape and s vectors", share, 1.1)


def seconds_at(points, e):
    if points and e > points[0][0]:
        return "<%.3g" % points[0][1]
    found = time_at(points, e)
    return "-" if found is None else "%.3g" % found


def crossing(run, rep):
    """the Brusselator with more and more diffusion: from where implicit methods win"""
    side, rows = 32 if QUICK else 64, []
    codes = [("costate:" + m, "umfpack", (), "", ladder((2, 3, 4, 5, 6))) for m in ("rodas4", "sdirk4a", "radau2a")]
    codes += [bdf(run, "gmres", ("--ilu",) + flags, name, ladder((4, 5, 6, 7, 8)))
              for flags, name in (((), ""), (("--right",), " right"))]
    codes += [bdf(run, "umfpack", (), "", ladder((4, 6, 8)))]
    for alpha in (1, 10, 100):
        problem = "brusselator_%d" % alpha
        for mode, error in (("forward", "error"), ("adj", "error_derivative")):
            table = sweep(run, [("costate:" + STABILISED[mode], "auto", (), "", ladder((2, 3, 4, 5, 6, 7)))] + codes,
                          problem, None, mode=mode, size=side, once=True, repeat=1, budget=0.2)
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
