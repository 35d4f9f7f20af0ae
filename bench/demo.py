"""demo.py BUILD - the stiff half of the demonstration, and work against precision of all families on both problems.

Prints the table of the air column, writes BUILD/demo/work.dat for work.gp: blocks of "error seconds", one a curve, and
one without points that says what is not drawn."""
import os
import sys

from runner import Runner

FAMILIES = ["dopri5", "sdirk4a", "radau2a", "rodas4"]              # one of each
COLUMN = ["trbdf2", "sdirk4a", "radau2a", "radau2a5", "ros4", "rodas4", "rodas5p"]
TOLERANCES = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7]
PANELS = [("swe", "error", "forward"), ("swe", "error_derivative", "seconds"),
          ("smog", "error", "forward"), ("smog", "error_derivative", "seconds")]
SHORT = 1e-9                                                       # minutes that an explicit method gets


def waiting(text):
    if sys.stderr.isatty():
        sys.stderr.write("\r%-60s\r" % text)


def run(runner, method, problem, rtol, **more):
    waiting("%s, %s, rtol %g" % (problem, method, rtol))
    size = 40 if problem == "swe" else None
    row = runner.row("costate:" + method, problem, size=size, rtol=rtol, repeat=1, budget=1e-3, **more)
    waiting("")
    return row


def years(seconds):
    return seconds / 3600 / 24 / 365.25


def explicit(runner):
    """A method without matrices, by its first steps: they are as long as the fastest reaction lets them be."""
    row = run(runner, "dopri5", "smog", 1e-3, mode="forward", tf=SHORT, compare=False)
    if row["status"]:
        sys.exit("dopri5: %s" % row["message"])
    factor = 60 / SHORT
    print("dopri5 takes %d steps for the first %g minutes: that is %.0e steps, %.1g years, for all 60." %
          (row["steps"], SHORT, row["steps"] * factor, years(row["seconds"] * factor)))
    return "dopri5: %.0e steps" % (row["steps"] * factor)


def table(runner):
    print("\nPolluted air in a column: 20 species, 25 reactions, 40 layers (800 unknowns), 60 minutes, rtol = 1e-6.\n"
          "gradient: of the ozone at the ground after an hour by all 800 initial concentrations.\n"
          "errors: relative, 2-norm, against a run by radau2a5 at rtol = 1e-12.\n")
    failures, not_drawn = 0, explicit(runner)
    print("\n%-9s %-7s %6s %4s %6s %5s %7s %9s %9s %9s %9s" % (
        "method", "solver", "steps", "rej", "f", "jac", "decomp", "forward s", "backwd s", "error", "gradient"))
    for method in COLUMN:
        row = run(runner, method, "smog", 1e-6)
        if row["status"]:
            failures += 1
            print("%-9s %s" % (method, row["message"]))
            continue
        print("%-9s %-7s %6d %4d %6d %5d %7d %9.4f %9.4f %9.1e %9.1e" % (
            method, row["solver"], row["steps"], row["rejected"], row["f"], row["jac"],
            row["decompositions"] + row["complex"], row["forward"], row["backward"], row["error"],
            row["error_derivative"]))
        sys.stdout.flush()
    return failures, not_drawn


def curves(runner, file, not_drawn):
    failures = 0
    for problem, error, seconds in PANELS:
        for method in FAMILIES:
            if method == "dopri5" and problem == "smog":
                continue
            file.write('"%s"\n' % method)
            for rtol in TOLERANCES:
                row = run(runner, method, problem, rtol)
                failures += 1 if row["status"] else 0
                if not row["status"]:
                    file.write("%.6g %.6g\n" % (row[error], row[seconds]))
            file.write("\n\n")
    file.write('"%s"\nNaN NaN\n' % not_drawn)
    return failures


def main(build):
    runner = Runner(build, quick=False)
    failures, not_drawn = table(runner)
    with open(os.path.join(build, "demo", "work.dat"), "w", encoding="utf-8") as file:
        failures += curves(runner, file, not_drawn)
    return 1 if failures else 0


sys.exit(main(sys.argv[1]))
