"""papers.py - the part papers of the benchmark: tables of the papers that costate's problems come from, repeated.

The numbers of the papers stand beside those measured here.  They are of other programs on other machines; what can be
compared are the ratios between times of one table, and counts."""
import statistics

from report.tables import number

# H. Zhang, A. Sandu, FATODE, table 5.1: seconds with LAPACK, UMFPACK, SuperLU for a run, one tangent, a gradient
FATODE = {("rodas4", "forward"): ("ROS", 286.4, 18.7, 26.8), ("rodas4", "tlm"): ("ROS_TLM", 1093.2, 300.4, 321.5),
          ("rodas4", "adj"): ("ROS_ADJ", 1832.6, 363.5, 399.9),
          ("lobatto3c", "forward"): ("RK", 857.7, 25.6, 44.9), ("lobatto3c", "tlm"): ("RK_TLM", 1390.0, 92.4, 126.9),
          ("lobatto3c", "adj"): ("RK_ADJ", 2467.9, 149.9, 206.6),
          ("sdirk4a", "forward"): ("SDIRK", 175.3, 9.9, 15.4), ("sdirk4a", "tlm"): ("SDIRK_TLM", 499.9, 122.0, 135.8),
          ("sdirk4a", "adj"): ("SDIRK_ADJ", 2631.5, 174.2, 238.0)}
SOLVERS = ("dense", "umfpack", "superlu")                              # in the order of that table
# D. B. Ozyurt, P. I. Barton, SIAM J. Sci. Comput. 26 (2005) 1725-1743.  dSOA: a Hessian product with its run; SIM: a
# run; FDM: a difference of two gradients
# table 4.3: points a side: dSOA/SIM, dSOA/FDM, two directions over one
HEAT = {40: (3.7, 0.79, 1.31), 80: (3.0, 0.70, 1.24), 100: (2.7, 0.67, 1.30), 150: (3.0, 0.62, 1.13)}
# table 4.5: points a side, nodes of the control: dSOA/SIM, dSOA/FDM
CAN = {(5, 100): (2.2, 0.51), (5, 500): (3.5, 0.48), (10, 100): (2.2, 0.53), (10, 500): (2.6, 0.54),
       (20, 100): (2.4, 0.50)}
# S. Li, L. Petzold, Description of DASPKADJOINT, table 3: sensitivities, parameters: g by alpha and by beta, CPU
WEB = (("FD", 2, 6467.01, 3287.73, 6.09), ("FD", 10, 6467.01, 3287.73, 14.73), ("FD", 20, 6467.01, 3287.73, 26.77),
       ("AD", 402, 6467.12, 3287.79, 13.14))
# the same, made without costate and with more digits (tests/bench/test_bench_dae.c has them, too)
WEB_EXACT = (6467.01571535234575, 3287.73286667779953)
# the largest of log V, where RADAU5 at tolerances of 1e-12 leaves the points (tests/bench/test_bench_dae.c)
FEKETE_LOG_V = 54.01112997458417


def part_papers(run, rep):
    linear_solvers(run, rep)
    heat_plate(run, rep)
    cans(run, rep)
    web_at_rest(run, rep)
    fekete_at_rest(run, rep)


# ---- what rows are made of -------------------------------------------------------------------------------------------


def in_turns(run, cases):
    """{name: its row of each turn}; cases: {name: (what Runner.row takes, and by name)}.  All take turns: rows of one
    turn met the same machine."""
    found = {name: [] for name in cases}
    for turn in range(run.turns):
        for name, (what, more) in cases.items():
            found[name].append(run.row(*what, turn=turn, **more))
    return found


def median(values):
    """None where one is missing"""
    values = list(values)
    return None if not values or None in values else statistics.median(values)


def each(rows, key="seconds"):
    return [None if row.get("status") else row.get(key) for row in rows]


def quotients(above, below, key="seconds"):
    """of two rows of each turn"""
    return [a / b if a and b else None for a, b in zip(each(above, key), each(below, key))]


def over(above, below):
    """the median of the quotients of turns"""
    return median(quotients(above, below))


def megabytes(rows, key):
    value = median(each(rows, key))
    return "-" if value is None else "%.3g" % (value / 1e6)


def counts(row, keys):
    return ["failed"] + [""] * (len(keys) - 1) if row.get("status") else [row[k] for k in keys]


def say_failures(rep, found):
    """under a table: the messages of what failed, each once"""
    messages = {}
    for name, rows in found.items():
        failed = next((row for row in rows if row.get("status")), None)
        if failed:
            messages.setdefault(failed["message"], []).append(" ".join(str(part) for part in name))
    for message, names in messages.items():
        rep.say()
        rep.say("failed: %s: %s" % (", ".join(names), message))


# ---- FATODE: linear solvers ------------------------------------------------------------------------------------------


def linear_solvers(run, rep):
    """shallow water by LAPACK, UMFPACK, SuperLU; dense matrices of 4800 unknowns: minutes a row"""
    side = 10 if run.quick else 40
    cases = {(method, mode, solver): (("costate:" + method, "swe"), dict(
        size=side, solver=solver, mode=mode, repeat=1 if solver == "dense" else None,
        budget=0.1 if solver == "dense" else None))
        for method, mode in FATODE for solver in SOLVERS}
    found, rows = in_turns(run, cases), []
    keys = ("steps", "f", "jac", "decompositions", "complex", "solves", "complex_solves")
    for (method, mode), (name, *theirs) in FATODE.items():
        for solver, seconds in zip(SOLVERS, theirs):
            here, base = found[method, mode, solver], found[method, mode, "umfpack"]
            rows.append([name, method, solver] + counts(here[0], keys) + [
                number(median(each(here)), "%.3g"), megabytes(here, "peak_bytes"),
                number(median(each(here, "error")), "%.1e"), number(median(each(here, "error_derivative")), "%.1e"),
                number(over(here, base)), "%.1f" % seconds, "%.2f" % (seconds / theirs[1])])
    rep.plain_table("Table 5.1 of FATODE: shallow water %d x %d to 0.011, rtol = atol = 1e-6, by linear solvers" % (
        side, side), ["FATODE", "costate", "solver", "steps", "f", "jac", "LU", "cLU", "solves", "csolves", "seconds",
                      "peak MB", "err y", "err d", "to UMFPACK", "paper s", "to UMFPACK"], rows)
    rep.say()
    rep.say("Rows are named as in the paper: TLM is a run with one tangent, ADJ the gradient of y_1(tf) with "
            "respect to y(0), its forward run included. The solver dense stores all n^2 entries and calls LAPACK "
            "(OpenBLAS, one thread). The columns \"to UMFPACK\" divide the time of a row by that of the same task "
            "with UMFPACK, here and in the paper. The paper's seconds are those of an 8-core Xeon at 1.86 GHz and"
            " PGI Fortran: only such ratios can be compared. costate's adjoint reuses the factorisations of the "
            "forward run that its tape keeps: where LU and cLU are those of the forward run, it made none again.")
    say_failures(rep, found)


# ---- Hessian products ------------------------------------------------------------------------------------------------


def product_rows(run, problem, method, size, rtol, compare=True, quickly=False):
    """in turns: a forward run; a product along one direction, in pairs with forward runs; along two directions; a
    difference of two gradients.  quickly: a lap a turn"""
    keep = ("--keep-factors", "always")
    more = dict(size=size, rtol=rtol, repeat=1 if quickly else None, budget=0.1 if quickly else None)
    flags = {"forward": (), "second": keep + ("--pairs",), "two": keep + ("--directions", "2"),
             "differences": keep + ("--eps", "1e-3")}
    return in_turns(run, {name: (("costate:" + method, problem), dict(
        more, mode="second" if name == "two" else name, flags=of, compare=compare and name == "second"))
        for name, of in flags.items()})


def product_cells(found):
    """what PRODUCT names"""
    run, one, two = (found[name] for name in ("forward", "second", "two"))
    return counts(run[0], ("steps", "decompositions", "complex")) + [
        number(median(each(one, "plain")), "%.3g"), number(median(each(one, "ratio_backward"))),
        number(median(each(one, "ratio"))), number(over(one, found["differences"])), number(over(two, one)),
        number(median(quotients(two, one, "backward"))), number(median(each(one, "error_derivative")), "%.1e"),
        megabytes(two, "peak_bytes")]


PRODUCT = ["steps", "LU", "cLU", "forward s", "product", "with run", "to FDM", "two/one", "alone", "error", "peak MB"]


def heat_plate(run, rep):
    rows, all_found = [], {}
    for method in ("sdirk4a", "radau2a"):
        for M in (10, 20) if run.quick else HEAT:
            found = product_rows(run, "heat_edges", method, M, 1e-8, M <= 80, M >= 100)
            all_found.update({(method, M, name): of for name, of in found.items()})
            rows.append([method, M * M, 2 + 4 * M + M * M] + product_cells(found)
                        + [number(x, "%.2f") for x in HEAT.get(M, (None,) * 3)])
    rep.plain_table("Table 4.3 of Ozyurt and Barton: heat by its boundary and initial values, rtol 1e-8, atol 1e-10",
                    ["costate", "n_x", "n_p"] + PRODUCT + ["paper: with run", "to FDM", "two/one"], rows)
    rep.say()
    rep.say("The column product is the time of a Hessian-vector product over a tape that exists, its gradient "
            "included, divided by the time of a forward run; \"with run\" includes the forward run, as the paper's "
            "cost(dSOA)/cost(SIM) does. \"to FDM\" divides it by the time of a difference of two gradients with their "
            "forward runs (here a central difference; in the paper one of the two is at the nominal point). "
            "\"two/one\" is the time of two directions at once over that of one, forward run included, and \"alone\" "
            "the same without it. The error is that of the product, relative to radau2a5 at rtol 1e-12, up to 6400 "
            "unknowns. \"peak MB\" is the memory of the process with two directions and all factorisations kept. The "
            "paper integrates adjoint equations by DASPK (BDF), with error control of their own.")
    say_failures(rep, all_found)


def cans(run, rep):
    rows, all_found = [], {}
    for method in ("sdirk4a", "radau2a"):
        for side, nodes in ((5, 100),) if run.quick else CAN:
            found = product_rows(run, "sterilisation_%d" % nodes, method, side, 1e-7)
            all_found.update({(method, side, nodes, name): of for name, of in found.items()})
            rows.append([method, 3 * side * side, nodes + 3 * side * side] + product_cells(found)
                        + [number(x, "%.2f") for x in CAN[side, nodes]])
    rep.plain_table("Table 4.5 of Ozyurt and Barton: sterilisation of a can, along its first control, rtol 1e-7, "
                    "atol 1e-12", ["costate", "n_x", "n_p"] + PRODUCT + ["paper: with run", "to FDM"], rows)
    rep.say()
    rep.say("Columns are as above; the second direction is T(0) at r = z = 0. The nutrient is an unknown relative to "
            "its initial value 1e8. Steps end at the nodes of the control, so that there are at least as many steps as "
            "intervals. Their sizes are chosen for y alone, which comes close to rest and allows long steps; the error "
            "of the product includes what the nodes change, and can be larger than rtol.")
    say_failures(rep, all_found)


# ---- DASPKADJOINT ----------------------------------------------------------------------------------------------------


def gradient_cases(entries, problem, tf, tangents, tols):
    """{(code, solver, rtol, what): ...}, what: forward, adj, or a number of tangents; entries: (code, solver, flags)"""
    return {(method, solver, rtol, what): (("costate:" + method, problem), dict(
        solver=solver, rtol=rtol, tf=tf, compare=False, mode=what if isinstance(what, str) else "tlm",
        flags=flags + (() if isinstance(what, str) else ("--directions", str(what)))))
        for method, solver, flags in entries for rtol in tols for what in ("forward", "adj") + tangents}


COUNTED = ("steps", "rejected", "f", "jac", "decompositions", "complex")


def web_at_rest(run, rep):
    """the food web to t = 5: at rest, 402 parameters"""
    tangents, rows = (2,) if run.quick else (2, 10, 20), []
    entries = [(m, "klu", ()) for m in ("sdirk4a", "radau2a", "radau2a5")]
    tols = (1e-5,) if run.quick else (1e-5, 1e-7)
    found = in_turns(run, gradient_cases(entries, "foodweb", 5, tangents, tols))
    for method, solver, _ in entries:
        for rtol in tols:
            of = {what: found[method, solver, rtol, what] for what in ("forward", "adj") + tangents}
            gradient = of["adj"][0]
            by_p = [None, None] if gradient.get("status") else [2 * x for x in gradient["gradient"]]   # g, not g/2
            errors = [x and abs(x / exact - 1) for x, exact in zip(by_p, WEB_EXACT)]
            rows.append([method, "%.0e" % rtol] + counts(of["forward"][0], COUNTED) + [
                number(median(each(of["forward"])), "%.3g"), number(median(each(of["adj"])), "%.3g")]
                + [number(over(of[what], of["forward"])) for what in ("adj",) + tangents]
                + [megabytes(of["adj"], "tape_bytes"), megabytes(of["adj"], "peak_bytes")]
                + [number(x, "%.2f") for x in by_p] + [number(x, "%.0e") for x in errors])
    rep.plain_table("Table 3 of Li and Petzold: food web 20 x 20 to t = 5, gradient of the sum of squares",
                    ["costate", "rtol", "steps", "rej", "f", "jac", "LU", "cLU", "forward s", "gradient s", "gradient"]
                    + ["%d tangents" % m for m in tangents] + ["tape MB", "peak MB", "g_alpha", "g_beta", "err alpha",
                       "err beta"], rows)
    rep.say()
    rep.say("The columns gradient and tangents are times over that of a forward run, which they include. The gradient "
            "is with respect to alpha, beta and the 400 initial values of the prey at once; tangents are those along "
            "initial values. The paper, by DASPK with rtol = atol = 1e-5: " + "; ".join(
                "%s, %d parameters: g_alpha %.2f, g_beta %.2f, CPU %.2f" % row for row in WEB)
            + ". There the adjoint takes %.2f times as long as 2 forward sensitivities and %.2f times as long as 20. "
            "The paper starts from c2 = 100 and computes consistent values first; costate starts from the root c2 = 0. "
            "The gradients by FD differ from those here by a unit of their last digit at most." % (
                WEB[3][4] / WEB[0][4], WEB[3][4] / WEB[2][4]))
    say_failures(rep, found)


def fekete_at_rest(run, rep):
    """Fekete's points to t = 1000: log V by the numbers that the start is made of, at a maximum"""
    rows, tols = [], (1e-4,) if run.quick else (1e-4, 1e-6, 1e-8)
    entries = [(m, "dense", ()) for m in ("radau2a", "radau2a5", "lobatto3c")]
    entries += [(m, "klu", ("--sparse",)) for m in ("radau2a", "radau2a5", "lobatto3c")]
    found = in_turns(run, gradient_cases(entries, "fekete", 1000, (8,), tols))
    for method, solver, _ in entries:
        for rtol in tols:
            forward, adjoint, tangent = (found[method, solver, rtol, what] for what in ("forward", "adj", 8))
            there = not adjoint[0].get("status")
            away = adjoint[0]["functional"][0] - FEKETE_LOG_V if there else None
            most = max(abs(x) for x in adjoint[0]["gradient"]) if there else None
            rows.append([method, solver, "%.0e" % rtol] + counts(forward[0], COUNTED) + [
                number(median(each(forward)), "%.3g"), number(median(each(adjoint)), "%.3g"),
                number(over(adjoint, forward)), number(over(tangent, forward)), number(away, "%.0e"),
                number(most, "%.0e")])
    rep.plain_table("Table 4 of Li and Petzold: Fekete's points to t = 1000, the gradient of log V by "
                    "eight numbers", ["costate", "solver", "rtol", "steps", "rej", "f", "jac", "LU", "cLU", "forward s",
                                      "gradient s", "gradient", "8 tangents", "err log V", "|dV| at most"], rows)
    rep.say()
    rep.say("The columns gradient and \"8 tangents\" are times over that of a forward run, which they include. At rest "
            "log V is at a maximum, and its derivatives are 0. The paper, by DASPK with rtol = atol = 1e-4: forward "
            "sensitivities of V between -3.8355e-11 and 4.4342e-11 with CPU 11.49, adjoint ones between -9.3772e-4 and "
            "6.3065e-4 with CPU 6.78, 0.59 times as long. It does not say whether V or log V is meant.")
    say_failures(rep, found)
