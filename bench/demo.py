"""demo.py BUILD - the demonstration: tables of problems and methods, and pictures in BUILD/demo.

For work.gp it writes blocks of "error seconds", one a curve, and blocks without points that say what is not drawn."""
import os
import subprocess
import sys

from peers.runner import Runner
from recommend import family_of

FAMILIES = ["dopri5", "sdirk4a", "radau2a", "rodas4", "rock4"]     # one of each
EXPLICIT = ["dopri5", "rock4"]
COLUMN = ["auto", "trbdf2", "sdirk4a", "radau2a", "radau2a5", "ros4", "rodas4", "rodas5p"]
PLANE = ["auto", "dopri5", "rock4", "rkl2", "sdirk4a", "radau2a", "rodas4"]
NOT_DRAWN = {"swe": ["rock4"], "smog": EXPLICIT, "brusselator2d": []}
TOLERANCES = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7]
PANELS = [("swe", "error", "forward"), ("swe", "error_derivative", "seconds"),
          ("brusselator2d", "error", "forward"), ("brusselator2d", "error_derivative", "seconds"),
          ("smog", "error", "forward"), ("smog", "error_derivative", "seconds")]
CELLS = 40                                                         # a side, of shallow water
FORWARD = ["auto", "dopri5", "dopri853", "trbdf2", "sdirk4a", "radau2a", "ros4", "rodas4"]
DERIVATIVES = ["auto", "dopri5", "sdirk4a", "radau2a", "rodas4"]
PICTURES = ["height", "sensitivity", "hybrid", "layer", "work"]
SHORT = 1e-7                                                       # minutes that an explicit method gets


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


def explicit(runner, method):
    """A method without matrices, by its first steps: they are as long as the fastest reaction lets them be."""
    row = run(runner, method, "smog", 1e-3, mode="forward", tf=SHORT, compare=False)
    if row["status"]:
        sys.exit("%s: %s" % (method, row["message"]))
    factor = 60 / SHORT
    print("%s takes %d steps for the first %g minutes: that is %.0e steps, %.1g years, for all 60." %
          (method, row["steps"], SHORT, row["steps"] * factor, years(row["seconds"] * factor)))
    return "%s: %.0e steps" % (method, row["steps"] * factor)


def table(runner, problem, methods):
    print("\n%-9s %-7s %6s %4s %6s %5s %7s %9s %9s %9s %9s" % (
        "method", "solver", "steps", "rej", "f", "jac", "decomp", "forward s", "backwd s", "error", "gradient"))
    failures = 0
    for method in methods:
        row = run(runner, method, problem, 1e-6)
        if row["status"]:
            failures += 1
            print("%-9s %s" % (method, row["message"]))
            continue
        print("%-9s %-7s %6d %4d %6d %5d %7d %9.4f %9.4f %9.1e %9.1e" % (
            method, row["solver"] or "none", row["steps"], row["rejected"], row["f"], row["jac"],
            row["decompositions"] + row["complex"], row["forward"], row["backward"], row["error"],
            row["error_derivative"]))
        sys.stdout.flush()
    return failures


def shallow_water(runner):
    print("Shallow water, %d x %d cells (%d unknowns): a hump of water spreads, t from 0 to 0.011, "
          "rtol = atol = 1e-06.\n"
          "0.011 is the interval of FATODE's paper (Zhang and Sandu, SIAM J. Sci. Comput. 36, 2014), for comparison:\n"
          "the wave moves by 0.34, two cells.  The pictures are of t = 0.05, when it is half way to the boundary.\n"
          "tangent: dy(tf)/dy_1(0); adjoint: gradient of y_1(tf) with respect to all initial values.\n"
          "error: relative, 2-norm, against a converged reference of the differential equation.\n"
          "auto chooses the method of each step by itself; its solver is the one that stiff steps would use.\n\n"
          "%-9s %-6s %-8s %-8s %6s %4s %6s %5s %7s %6s %9s %9s %9s" % (
              CELLS, CELLS, 3 * CELLS ** 2, "method", "family", "solver", "mode", "steps", "rej", "f", "jac", "decomp",
              "solve", "forward s", "backwd s", "error"))
    family, failures = family_of(), 0
    modes = {"forward": "forward", "tlm": "tangent", "adj": "adjoint"}
    runs = [(m, "forward") for m in FORWARD] + [(m, mode) for m in DERIVATIVES for mode in ("tlm", "adj")]
    for method, mode in runs:
        row = run(runner, method, "swe", 1e-6, mode=mode)
        if row["status"]:
            failures += 1
            print("%-9s %s" % (method, row["message"]))
            continue
        print("%-9s %-6s %-8s %-8s %6d %4d %6d %5d %7d %6d %9.4f %9s %9.1e" % (
            method, family.get(method, "-"), row["solver"], modes[mode], row["steps"], row["rejected"], row["f"],
            row["jac"], row["decompositions"] + row["complex"], row["solves"] + row["complex_solves"], row["forward"],
            "%.4f" % row["backward"] if mode == "adj" else "-",
            row["error" if mode == "forward" else "error_derivative"]), flush=True)
    return failures


def grid(runner, place, name, mode, first):
    """x y value in blocks of constant x, for gnuplot: of the height, or of the gradient by it.  first: the number of
    the cell that comes first, as the gradient is of that in the corner, which goes to the middle"""
    raw = os.path.join(place, name + ".raw")
    if run(runner, "dopri5", "swe", 1e-6, mode=mode, tf=0.05, compare=False, flags=("--result", raw))["status"]:
        return 1
    d = 6 / (CELLS - 1)
    with open(raw) as file:
        z = [float(line) for line in file]
    os.remove(raw)
    at = [(k - first) * d if first else (k + 1) * d - 3 for k in range(CELLS)]
    with open(os.path.join(place, name + ".dat"), "w") as file:
        for i in range(CELLS):
            for j in range(CELLS):
                file.write("%.6g %.6g %.9g\n" % (
                    at[i], at[j], z[(i + first) % CELLS * CELLS + (j + first) % CELLS]))
            file.write("\n")
    return 0


def plane(runner):
    print("\nBrusselator, reaction and diffusion in the plane: 32 x 32 cells (2048 unknowns), rtol = 1e-6.\n"
          "gradient: of u in one cell at the end with respect to all initial values.\n"
          "errors: relative, 2-norm, against a run by dopri853 at rtol = 1e-13.\n"
          "dopri5 runs at the limit of its stability: y hardly shows it, its gradient does.")
    return table(runner, "brusselator2d", PLANE)


def column(runner):
    print("\nPolluted air in a column: 20 species, 25 reactions, 40 layers (800 unknowns), 60 minutes, rtol = 1e-6.\n"
          "gradient: of the ozone at the ground after an hour with respect to all 800 initial concentrations.\n"
          "errors: relative, 2-norm, against a run by radau2a5 at rtol = 1e-12.\n")
    not_drawn = [explicit(runner, method) for method in EXPLICIT]
    return table(runner, "smog", COLUMN), not_drawn


def curves(runner, file, not_drawn):
    failures = 0
    for problem, error, seconds in PANELS:
        for method in FAMILIES:
            if method in NOT_DRAWN[problem]:
                continue
            file.write('"%s"\n' % method)
            for rtol in TOLERANCES:
                row = run(runner, method, problem, rtol)
                failures += 1 if row["status"] else 0
                if not row["status"]:
                    file.write("%.6g %.6g\n" % (row[error], row[seconds]))
            file.write("\n\n")
    for text in not_drawn:
        file.write('"%s"\nNaN NaN\n\n\n' % text)
    return failures


def draw(place):
    print()
    for picture in PICTURES:
        data, image = (os.path.join(place, picture + end) for end in (".dat", ".png"))
        subprocess.run(["gnuplot", "-e", "data='%s'; image='%s'" % (data, image),
                        os.path.join(os.path.dirname(__file__), "report", picture + ".gp")], check=True)
        print("picture: " + image)


def main(build):
    runner, place = Runner(build, quick=False), os.path.join(build, "demo")
    os.makedirs(place, exist_ok=True)
    failures = shallow_water(runner)
    failures += grid(runner, place, "height", "forward", 0) + grid(runner, place, "sensitivity", "adj", CELLS // 2)
    sys.stdout.flush()
    subprocess.run([os.path.join(build, "bench", "hybrid_demo"), os.path.join(place, "hybrid.dat")], check=True)
    print("\nA boundary layer, by continuation (examples/20_layer.c, lobatto3a4):", flush=True)
    subprocess.run([os.path.join(build, "examples", "20_layer"), os.path.join(place, "layer.dat")], check=True)
    failures += plane(runner)
    more, not_drawn = column(runner)
    with open(os.path.join(place, "work.dat"), "w", encoding="utf-8") as file:
        failures += more + curves(runner, file, not_drawn)
    draw(place)
    return 1 if failures else 0


sys.exit(main(sys.argv[1]))
