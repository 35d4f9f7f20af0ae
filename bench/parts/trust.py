"""trust.py - the part trust of the benchmark: errors of gradients beside those of y, and estimates of errors.

No times are measured: one run of each row.  The rows are written to trust.json beside the references, from which
report/trust_pictures.py draws the pictures of the documents."""
import json
import os
import subprocess

MODES = ("plain", "stable", "controlled")
RIGHT, WRONG = 1e-4, 0.1                               # of y; of a gradient beside such a y
NEAR = (0.3, 3)                                        # estimated over true error
LARGE, BEYOND = 0.03, 50                                # a sweep names a gradient whose error it finds above both, the
                                                       # second in units of rtol
KNOWN = 1e-11                                          # true errors below are too near the round-off of the references
UNSURE = 10                                            # and those below this times the doubt about a reference
GOAL = 3                                               # true error in units of the tolerance
ACCURACY = -24                                         # COSTATE_ACCURACY
WHAT = ("y", "G", "dy/dy0", "dG/dy0")                  # in the order of the rows
VALUES, GRADIENTS = (0, 1), (2, 3)


def part_trust(run, rep):
    small = {"steps": ["vdpol_5"], "accuracy": ["lv", "all", "1e-4"], "goal": ["lv", "all", "1e-3"],
             "products": ["lv", "all", "1e-4"], "product_goal": ["lv", "all", "1e-3"], "cases": ["enzyme"]}
    rows = {name: measured(run, [name, *(of if run.quick else [])]) for name, of in small.items()}
    with open(os.path.join(run.out, "trust.json"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for several in rows.values() for row in several)
    gradients(rep, rows["steps"])
    sampled(rep, rows)
    estimates(rep, rows["accuracy"])
    goals(rep, rows["goal"], "", "the two values and the two gradients")
    products(rep, rows["products"])
    goals(rep, rows["product_goal"], ", Hessian products", "both parts of the product")
    cases(rep, rows["cases"])


def measured(run, arguments):
    done = subprocess.run([os.path.join(run.out, "trust"), *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def share(part, whole):
    return "%.1f %%" % (100 * part / whole) if whole else "-"


# ---- gradients by how steps are chosen -------------------------------------------------------------------------------


def cells(row):
    """null is what is not finite"""
    if row["status"]:
        return [row["steps"], row["f"], row["products"], "failed", "failed"]
    return [row["steps"], row["f"], row["products"]] + [
        "not finite" if row[key] is None else "%.1e" % row[key] for key in ("error", "error_derivative")]


def is_right(row):
    return not row["status"] and row["error"] is not None and row["error"] <= RIGHT


def is_far(row):
    """null is not finite"""
    return not row["status"] and (row["error_derivative"] is None or row["error_derivative"] > WRONG)


def is_wrong(row):
    return is_right(row) and is_far(row)


def gradients(rep, rows):
    references = {row["problem"]: row for row in rows if row["set"] == "reference"}
    runs = {}
    for row in rows:
        if row["set"] == "steps":
            runs.setdefault(row["problem"], {}).setdefault((row["method"], row["asked"]), {})[row["mode"]] = row
    for name, reference in references.items():
        if reference["status"]:
            rep.say("%s has no reference: %s" % (reference["title"], reference["message"]))
            continue
        rep.plain_table("%s: gradient of a component of y(t1) with respect to y(0)" % reference["title"],
                        ["method", "rtol"] + ["steps", "f", "Jv", "err y", "err d"] * len(MODES),
                        [[method, "%.0e" % rtol] + [cell for mode in MODES for cell in cells(of[mode])]
                         for (method, rtol), of in runs[name].items()])
        rep.say()
        rep.say("Reference: %s, rtol %.0e, gradient_control = 1; %s at ten times this rtol differs from it by %.1e in "
                "y and %.1e in the gradient." % (reference["method"], reference["asked"], reference["other"],
                                                 reference["error"], reference["error_derivative"]))
    rep.say()
    rep.say("Three runs a line: plain, with options.stability off; stable, the default; controlled, with "
            "gradient_control = 1. f and Jv are calls in the run without its sweep, Jv products with the Jacobian or "
            "its transpose. The products of plain runs serve only their remarks.")
    wrong_gradients(rep, references, runs)


def wrong_gradients(rep, references, runs):
    lines, lists, total = [], {mode: [] for mode in MODES}, {mode: [0, 0, 0, 0] for mode in MODES}
    for name, of_problem in runs.items():
        line = [references[name]["title"], len(of_problem)]
        for mode in MODES:
            of_mode = [of[mode] for of in of_problem.values()]
            wrong = [row for row in of_mode if is_wrong(row)]
            counts = [len(of_mode), sum(bool(row["status"]) for row in of_mode), sum(map(is_right, of_mode)),
                      len(wrong)]
            total[mode] = [a + b for a, b in zip(total[mode], counts)]
            lists[mode] += wrong
            line += counts[1:]
        lines.append(line)
    count = total["plain"][0]
    lines.append(["all", count] + [x for mode in MODES for x in total[mode][1:]])
    rep.plain_table("Gradients that are wrong by more than %g where y is right to %.0e" % (WRONG, RIGHT),
                    ["problem", "runs"] + ["failed", "y right", "wrong"] * len(MODES), lines)
    rep.say()
    alike = [of for of_problem in runs.values() for of in of_problem.values() if is_right(of["plain"])]
    rep.say("From the left: plain, stable, controlled. Of the %d runs in which y is right with plain steps, gradients "
            "are wrong by more than %g in %s." % (len(alike), WRONG, ", ".join(
                "%d (%s)" % (sum(is_far(of[mode]) for of in alike), mode) for mode in MODES)))
    for mode in MODES[1:]:
        rep.say()
        rep.say("%s, %d left: %s" % (mode, len(lists[mode]), "; ".join(
            "%s %s %.0e (y %.1e, gradient %s)" % (
                row["problem"], row["method"], row["asked"], row["error"],
                "not finite" if row["error_derivative"] is None else "%.2g" % row["error_derivative"])
            for row in lists[mode]) or "none"))
    rep.target("runs of explicit methods with steps of each kind", count, 252, True)
    for mode in MODES[1:]:
        rep.target("%s steps: gradients wrong by more than %g where y is right to %.0e (plain steps: %d)" % (
            mode, WRONG, RIGHT, total["plain"][3]), total[mode][3], 0)


# ---- what sweeps say of their gradients ------------------------------------------------------------------------------


def graded(rows):
    """(what the run is one of, error of its gradient, error that its sweep has found, rtol), where y is right"""
    for row in rows["steps"]:
        if row["set"] == "steps" and is_right(row):
            yield "explicit, " + row["mode"], row["error_derivative"], row["estimate"], row["asked"]
    for row in rows["accuracy"]:
        if not row["status"] and None not in row["errors"] and max(row["errors"][k] for k in VALUES) <= RIGHT:
            yield row["family"], max(row["errors"][k] for k in GRADIENTS), row["sampled"], row["asked"]


def sampled(rep, rows):
    """null is what is not finite"""
    grades = {"wrong": 2, "by 0.01 to %g" % WRONG: 1, "right to 0.01": 0}
    counts = {}
    for kind, error, found, rtol in graded(rows):
        grade = 2 if error is None or error > WRONG else int(error > 0.01)
        count = counts.setdefault(kind, {0: [0, 0], 1: [0, 0], 2: [0, 0]})[grade]
        count[0] += 1
        count[1] += found is None or found > max(LARGE, BEYOND * rtol)
    rep.plain_table("Gradients that their sweeps name, where y is right to %.0e" % RIGHT,
                    ["runs"] + [head for name in grades for head in (name, "named")],
                    [[kind] + [n for grade in grades.values() for n in of[grade]] for kind, of in counts.items()])
    asked = [of for kind, of in counts.items() if kind != "explicit, plain"]
    wrong, named = (sum(of[2][k] for of in asked) for k in (0, 1))
    rep.target("share of wrong gradients that their sweeps name", named / wrong if wrong else None, 0.9, True)
    rep.target("right gradients that their sweeps name", sum(of[0][1] for of in asked), 0)


# ---- estimates -------------------------------------------------------------------------------------------------------


def judged(rows):
    """(row, which of WHAT, estimated over true error) of the true errors that are above round-off"""
    for row in rows:
        if row["status"]:
            continue
        for k, (true, estimate) in enumerate(zip(row["errors"], row["estimates"])):
            if true is not None and true > KNOWN:
                yield row, k, None if estimate is None else estimate / true


def is_near(ratio):
    return ratio is not None and NEAR[0] <= ratio <= NEAR[1]


def counted(found):
    return sum(is_near(ratio) for _, _, ratio in found), len(found)


def estimates(rep, rows):
    found = list(judged(rows))
    for title, key in (("family", lambda row: row["family"]), ("problem", lambda row: row["problem"]),
                       ("rtol", lambda row: "%.0e" % row["asked"])):
        names = list(dict.fromkeys(key(row) for row in rows))
        lines = []
        for name in names + ["all"]:
            of = [entry for entry in found if name == "all" or key(entry[0]) == name]
            runs = [row for row in rows if name == "all" or key(row) == name]
            line = [name, len(runs), sum(bool(row["status"]) for row in runs)]
            for kinds in (VALUES, GRADIENTS, VALUES + GRADIENTS):
                near, count = counted([entry for entry in of if entry[1] in kinds])
                line += [count, share(near, count)]
            lines.append(line)
        rep.plain_table("costate_accuracy: estimates within %g to %g of the true error, by %s" % (*NEAR, title),
                        [title, "runs", "status", "values", "near", "gradients", "near", "both", "near"], lines)
    rep.say()
    rep.say("Two functionals of each run: a component of y(t1), and the integral of the cost; gradients with respect "
            "to y(0), estimated and true errors in the 2-norm. References are from quadruple precision. Left out are "
            "true errors below %.0e, relative. A run with a status has no estimate: it failed, or its halved steps "
            "did." % KNOWN)
    far(rep, found)
    statuses(rep, rows)
    for kinds, what in ((VALUES, "values"), (GRADIENTS, "gradients")):
        near, count = counted([entry for entry in found if entry[1] in kinds])
        rep.target("costate_accuracy: share of estimated errors of %s within %g to %g of the true ones" % (
            what, *NEAR), near / count if count else None, 0.95, True)


def far(rep, found):
    """by problem, then by method: which estimates are not near"""
    by_problem = {}
    for row, k, ratio in found:
        if not is_near(ratio):
            by_problem.setdefault(row["problem"], {}).setdefault((row["method"], row["asked"]), []).append(
                "%s %s" % (WHAT[k], "not finite" if ratio is None else "%.2g" % ratio))
    rep.heading("costate_accuracy: estimates that are not within these, over the true errors")
    for name, of in by_problem.items():
        rep.say("- %s, %d: %s" % (name, sum(map(len, of.values())), "; ".join(
            "%s %.0e (%s)" % (*run, ", ".join(words)) for run, words in of.items())))


def statuses(rep, rows):
    """what failed, by problem and status, each with the message of the first"""
    failed = {}
    for row in rows:
        if row["status"]:
            failed.setdefault((row["problem"], row["status"]), []).append(row)
    if failed:
        rep.heading("Runs with a status")
        for (name, _), of in failed.items():
            rep.say("- %s, %d: %s. The first: %s" % (
                name, len(of), "; ".join("%s %.0e" % (row["method"], row["asked"]) for row in of), of[0]["message"]))


# ---- Hessian products ------------------------------------------------------------------------------------------------


def judged_products(rows):
    """(row, 0 with respect to y(0) or 1 to p, estimated over true error)"""
    for row, k, ratio in judged(rows):
        if row["errors"][k] > UNSURE * row["unsure"][k]:
            yield row, k, ratio


def products(rep, rows):
    found = list(judged_products(rows))
    for title, key in (("family", lambda row: row["family"]), ("problem", lambda row: row["problem"]),
                       ("rtol", lambda row: "%.0e" % row["asked"])):
        lines = []
        for name in list(dict.fromkeys(key(row) for row in rows)) + ["all"]:
            runs = [row for row in rows if name in ("all", key(row))]
            of = [entry for entry in found if name in ("all", key(entry[0]))]
            line = [name, len(runs), sum(bool(row["status"]) for row in runs),
                    sum(entry[0]["errors"][entry[1]] > WRONG for entry in of)]
            for which in ((0,), (1,)):
                near, count = counted([entry for entry in of if entry[1] in which])
                line += [count, share(near, count)]
            lines.append(line)
        rep.plain_table("Hessian products: estimated errors within %g to %g of the true ones, by %s" % (*NEAR, title),
                        [title, "runs", "status", "off by > %g" % WRONG, "of y(0)", "near", "of p", "near"], lines)
    rep.say()
    rep.say("The functional is a component of y(t1); the direction changes all of y(0) and p in proportion to their "
            "sizes. References are runs with rtol = 1e-13, which another method confirms; left out are true errors "
            "below %.0e, and below %d times the difference of both." % (KNOWN, UNSURE))
    far_products = {}
    for row, k, ratio in found:
        if not is_near(ratio):
            far_products.setdefault(row["problem"], []).append("%s %.0e %s" % (
                row["method"], row["asked"], "not finite" if ratio is None else "%.2g" % ratio))
    for name, of in far_products.items():
        rep.say("- %s, %d, estimated over true error: %s" % (name, len(of), "; ".join(of)))
    statuses(rep, rows)
    near, count = counted(found)
    rep.target("costate_accuracy: share of estimated errors of Hessian products within %g to %g of the true ones" % (
        NEAR), near / count if count else None, 0.95, True)


# ---- gradients to a tolerance ----------------------------------------------------------------------------------------


def within(row):
    return not row["status"] and row["error"] is not None and row["error"] <= GOAL


def goals(rep, rows, what, of_what):
    names = list(dict.fromkeys(row["family"] for row in rows))
    lines = []
    for tol in sorted({row["asked"] for row in rows}, reverse=True):
        for name in names + ["all"]:
            of = [row for row in rows if row["asked"] == tol and name in ("all", row["family"])]
            done = [row for row in of if not row["status"]]
            rounds = [row["rounds"] for row in done]
            lines.append(["%.0e" % tol, name, len(of), len(of) - len(done), share(sum(map(within, done)), len(done)),
                          "%.2f" % (sum(rounds) / len(rounds)) if rounds else "-", max(rounds, default="-")])
    rep.plain_table("costate_gradient_within%s: true errors of at most %d tol" % (what, GOAL),
                    ["tol", "family", "calls", "status", "within", "rounds", "most"], lines)
    rep.say()
    rep.say("Of the calls without a status, those whose largest true error of %s is at most %d tol, and the number of "
            "runs that they took." % (of_what, GOAL))
    rep.say()
    beyond = [row for row in rows if not row["status"] and not within(row)]
    rep.say("Beyond that, true error over tol: %s" % ("; ".join("%s %s %.0e (%s)" % (
        row["problem"], row["method"], row["asked"], "not finite" if row["error"] is None else "%.2g" % row["error"])
        for row in beyond) or "none"))
    statuses(rep, rows)
    done = sum(not row["status"] for row in rows)
    rep.target("costate_gradient_within%s: share of calls without a status with a true error of at most %d tol" % (
        what, GOAL), sum(map(within, rows)) / done if done else None, 0.95, True)


# ---- where that is hard ----------------------------------------------------------------------------------------------


def verdicts(rows):
    """calls with COSTATE_OK, of these with a larger error than GOAL tol; with COSTATE_ACCURACY, of these with a smaller
    one; that fail where the run without estimates does not"""
    done = [row for row in rows if not row["status"]]
    refused = [row for row in rows if row["status"] == ACCURACY]
    failed = [row for row in rows if row["status"] not in (0, ACCURACY) and not row["alone"]]
    return len(done), len(done) - sum(map(within, done)), len(refused), sum(
        row["error"] is not None and row["error"] <= GOAL for row in refused), len(failed)


def median(values):
    values = sorted(values)
    return values[len(values) // 2] if values else float("nan")


def judged_cases(rows):
    """(row, 0: value, 1, 2: gradient with respect to y(0), p; estimated over true error) of calls that succeed"""
    doubts = {row["problem"]: row["error"] for row in rows if row["set"] == "reference"}
    for row, k, ratio in judged([row for row in rows if row["set"] == "cases"]):
        if row["errors"][k] > UNSURE * doubts.get(row["problem"], 0):
            yield row, k, ratio


def cases(rep, rows):
    near, count = counted(list(judged_cases(rows)))
    rows = [row for row in rows if row["set"] == "cases"]
    names = list(dict.fromkeys(row["problem"] for row in rows))
    lines = []
    for name in names + ["all"]:
        of = [row for row in rows if name in ("all", row["problem"])]
        title = "" if name == "all" else of[0]["title"]
        lines.append([name, title, len(of), *verdicts(of), "%.1f" % median(
            [row["f"] / row["f_alone"] for row in of if not row["status"]])])
    rep.plain_table("costate_gradient_within where it is hard", ["problem", "", "calls", "OK", "beyond %d tol" % GOAL,
                    "ACCURACY", "within", "failed", "f over plain"], lines)
    rep.say()
    rep.say("Calls by auto and radau2a5 at tol = 1e-2, 1e-3, 1e-4 and 1e-6. Beyond: COSTATE_OK although the true error "
            "of the value or of a gradient is larger than %d tol. Within: COSTATE_ACCURACY although it is not. Failed: "
            "another status where the plain run works. f over plain: evaluations of f of a call that succeeds over "
            "those of a run with rtol = tol/10 and no gradient, the median." % GOAL)
    done, beyond, _, _, failed = verdicts(rows)
    rep.target("costate_gradient_within where it is hard: calls with COSTATE_OK that are beyond %d tol, of %d" % (
        GOAL, done), beyond, 0, False)
    rep.target("costate_gradient_within where it is hard: failures where the plain run works", failed, 0, False)
    rep.target("costate_gradient_within where it is hard: share of %d estimated errors within %g to %g of the true ones"
               % (count, *NEAR), near / count if count else None, 0.95, True)
