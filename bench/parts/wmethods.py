"""wmethods.py - W-methods whose matrix is the preconditioner, and CVODES with the same ones; in one turn."""
from report.sweeps import (
    asked_of_peers, bdf, best_at, gain_cells, ladder, preconditioned, QUICK, show, STABILISED, sweep)

OWN = {"adi": ("w6s4os adi",), "multigrid": ("w6s4os multigrid", "w6s4os multigrid 2", "w6s4os multigrid 3")}
MULTIGRID, ADI = ("--precondition", "multigrid"), ("--precondition", "adi")

# problem, size, its size in --quick, whether rows are long: fewer ways of CVODES
GRIDS = [("brusselator_1", 64, 24, 0), ("heat2d", 128, 32, 0), ("brusselator_10", 64, 24, 0),
         ("combustion_10", 64, 24, 0), ("brusselator_100", 64, 24, 1), ("cube", 64, 12, 1),
         ("combustion_20", 64, 24, 0)]


def ours(mode, large):
    """entries of a sweep; those of stabilised methods and ARK436 are no targets here"""
    looser = ladder((2, 3, 4, 5, 6) if large else (2, 3, 4, 5, 6, 7))
    tight = ladder((7, 8) if large else (8, 9)) * (not QUICK)
    ways = [(ADI, " adi", tight), (MULTIGRID, " multigrid", tight[:1 - large])]
    ways += [(MULTIGRID + ("--cycles", k), " multigrid " + k, tight[:2 - large]) for k in "23"]
    return [("costate:w6s4os", "preconditioner", flags, name, looser + more) for flags, name, more in ways] + [
        ("costate:" + STABILISED[mode], "auto", (), "", looser)] + [
        ("costate:ark436", "gmres", MULTIGRID + ("--krylov-tol", repr(tol)), " multigrid", [tol]) for tol in looser]


def theirs(run, mode, large):
    """CVODES with ILU(0), and with what costate has: with the reaction in it and not, on the left and right; in
    gradients with the atol that were best somewhere; with ADI at one tolerance, because it takes several times as long.
    large: without the ways that are never best on small grids"""
    tols = ladder((4, 6, 8))
    reaction = ("--precondition", "reaction")
    ways = [(MULTIGRID, ""), (reaction, ""), (MULTIGRID + ("--right",), " right"), (reaction + ("--right",), " right")]
    if mode == "adj":
        ways += [(flags + ("--adjoint-atol", x), name + " atol " + x) for flags, name in ways[1:3]
                 for x in ("1e-1", "1e-3")]
    ilu = preconditioned(run, mode)
    if large:
        return ilu[:2] + [bdf(run, "gmres", flags, name, tols) for flags, name in ways[:4]]
    return ilu + [bdf(run, "gmres", flags, name, tols) for flags, name in ways] + [
        bdf(run, "gmres", ADI + ("--right",), " right", tols[:1])]


def part_wmethods(run, rep):
    own_instructions(run, rep)
    for problem, size, quick, large in GRIDS:
        for mode, error in (("forward", "error"), ("adj", "error_derivative")):
            one_problem(run, rep, problem, quick if QUICK else size, mode, error, large)


def one_problem(run, rep, problem, size, mode, error, large):
    what = "%s %d, %s" % (problem, size, "forward" if mode == "forward" else "gradient")
    table = sweep(run, ours(mode, large) + theirs(run, mode, large), problem, None, mode=mode, size=size, once=True,
                  repeat=1, budget=0.1)
    named = {name.replace(" preconditioner", ""): rows for name, rows in table.items()}
    show(rep, what + ": the preconditioner as the matrix", named, "wmethods_%s_%d_%s" % (problem, size, mode), error)
    rows = []
    for kind, names in OWN.items():
        limits = ((" with its best preconditioner", kinds(named, run.peer, ("ilu0", "multigrid", "reaction")),
                   1 if kind == "multigrid" else 2),
                  (" with ILU(0)", kinds(named, run.peer, ("ilu0",)),
                   5 if mode == "forward" and kind != "multigrid" else None),
                  (" with ADI", kinds(named, run.peer, ("adi",)), None))
        for said, peers, limit in limits:
            rows += ratios(run, rep, {k: named[k] for k in (*names, *peers) if k in named}, names, error,
                           "%s: w6s4os %s, times faster than CVODES%s" % (what, kind, said), limit)
    rep.plain_table(what + ": times faster than CVODES at its error",
                    ["rtol", "costate", "CVODES", "error", "ratio", "turns"], rows)


def kinds(table, peer, preconditioners):
    return [name for name in table if name.startswith(peer) and any("+" + p in name for p in preconditioners)]


def ratios(run, rep, table, names, error, what, limit):
    """rows of a table, and targets where there is a limit: the best of names against the way of CVODES that is best at
    each of its tolerances"""
    rows = []
    for rtol in asked_of_peers():
        best = best_at(table, run.peer, rtol, error, names)
        if limit:
            rep.target("%s at its error at rtol %g" % (what, rtol), best and best[0].median, limit, True)
        rows += [["%.0e" % rtol, best[1], best[2]] + gain_cells(best, error)] if best else []
    return rows


# what a run calls that is not the library's own: callbacks of the Brusselator, and the splitting
CALLS = tuple("brusselator_" + name for name in ("value", "tangent", "adjoint", "jacobian"))


def own_instructions(run, rep):
    """the library's instructions beside those of callbacks and preconditioner"""
    rows, size = [], 16 if QUICK else 64
    more = {"size": size, "solver": "preconditioner", "flags": ("--precondition", "adi")}
    for mode, said in (("forward", "forward"), ("adj", "gradient")):
        whole = run.instructions("costate:w6s4os", "brusselator_1", 1e-6, mode=mode, **more)
        parts = [run.instructions_of(names, "costate:w6s4os", "brusselator_1", 1e-6, mode, **more)
                 for names in (CALLS, ("splitting_read", "splitting_factor", "splitting_solve"))]
        own = 1 - sum(parts) / whole if whole and all(parts) else None
        rows.append([said] + ["-" if x is None else "%.1f" % (x / 1e6) for x in [whole] + parts] +
                    ["-" if own is None else "%.3f" % own])
        rep.target("brusselator_1 %d, %s: w6s4os adi, the library's own part of the instructions" % (size, said), own,
                   0.15)
    rep.plain_table("w6s4os adi, Brusselator %d x %d, rtol 1e-6: millions of instructions, by callgrind" % (size, size),
                    ["mode", "run", "callbacks", "splitting", "own part"], rows)
