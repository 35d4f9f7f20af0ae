"""second.py - part second of the benchmark: Hessian products."""
from report.sweeps import best_at, ladder, peer_table, QUICK, show, sweep
from report.tables import number


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
    product = run.instructions_of(("costate_hessian",), code, problem, 1e-6, mode="second", size=size, solver=solver)
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
