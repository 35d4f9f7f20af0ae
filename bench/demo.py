"""demo.py BUILD - the demonstration: problems, tables and pictures; the pictures are in BUILD/demo.

Runs are started two at a time, since they take one core each, and are printed in the order of the tables. Seconds are
those of the processor, so that what else the machine does is not counted."""
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import textwrap
import threading

from peers.runner import Runner
from recommend import family_of

HERE = os.path.dirname(os.path.abspath(__file__))
RTOL = 1e-6
CELLS = 40                                                         # a side, of shallow water
SHORT, HOUR = 1e-7, 60                                             # minutes: what an explicit method gets, and all
ROBERTSON_END = 100
ROBERTSON = ["dopri5", "rock4", "auto", "sdirk4a", "radau2a", "rodas4"]
SMOG = ["auto", "trbdf2", "sdirk4a", "radau2a", "radau2a5", "ros4", "rodas4", "rodas5p"]
EXPLICIT = ["dopri5", "rock4"]
PILOT = {"rtol": 1e-3, "mode": "forward", "tf": SHORT, "compare": False}    # of smog by an explicit method
WATER = ["auto", "dopri5", "dopri853", "trbdf2", "sdirk4a", "radau2a", "ros4", "rodas4"]
PLAIN, TANGENT, ADJOINT = {"mode": "forward"}, {"mode": "tlm"}, {}
MODES = ["auto", "dopri5", "sdirk4a", "radau2a", "rodas4"]
PLANE = ["auto", "dopri5", "rock4", "rkl2", "sdirk4a", "radau2a", "rodas4"]
FAMILIES = ["dopri5", "sdirk4a", "radau2a", "rodas4", "rock4"]     # one of each, for the picture
DRAWN = [("smog", "polluted air, 800 unknowns, stiff", EXPLICIT),  # problem, title, methods that are not drawn
         ("swe", "shallow water, 4800 unknowns, not stiff", ["rock4"]),
         ("brusselator2d", "Brusselator, 2048 unknowns, mildly stiff", [])]
TOLERANCES = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7]
COLUMNS = ("method", "family", "solver", "steps", "rej", "f", "jac", "factor", "forward", "backward", "error y",
           "error grad")
FORMAT = "%-9s %-9s %-8s %7s %4s %7s %5s %6s %9s %9s %10s %10s"
KINDS = {"erk": "explicit", "rkc": "explicit", "sdirk": "implicit", "firk": "implicit", "ros": "implicit",
         "composite": "both"}
FAMILY_OF = family_of()                                            # the other methods are composite

INTRODUCTION = """
costate solves differential equations y' = f(t, y, p) and returns exact derivatives of the numerical solution: the
gradient of a result with respect to all initial values and parameters takes one run back (the discrete adjoint),
whatever their number. This demonstration solves six problems, prints what each method needs, and shows two things
that matter to anyone who chooses a method: on a stiff problem an explicit method takes about a hundred to billions
of times as many steps as an implicit one, on a wave it is hundreds of times faster; and a gradient with respect to
thousands of inputs costs about as much as a few forward runs."""

READING = """
In every table: family: erk and rkc are explicit, sdirk, firk and ros are implicit, composite changes between both
kinds by itself (`auto` is the default of the library); solver: the linear solver for the matrices of implicit
steps, for `auto` the one that implicit steps would use; steps: attempted steps, of which rej were rejected; f, jac,
factor: evaluations of f, Jacobians and factorisations, forward and back together; forward, backward: processor
seconds of the forward run, which records a tape, and of the run back for the gradient; error y, error grad:
relative errors (2-norm) of the final state and of the gradient, compared with a run at much smaller tolerances.
Tolerances are rtol = 1e-6. Seconds are the median of up to five runs, of one where it takes longer than 0.02 s,
while another program uses a second core: read them as orders of magnitude."""


def say(text, *values):
    print(textwrap.fill(" ".join(text.split()) % values if values else " ".join(text.split()), 118,
                        break_on_hyphens=False), flush=True)


def heading(text):
    print("\n== %s ==\n" % text, flush=True)


class Runs:
    """Runs of bench/race, two at a time; a run that was started before is not repeated."""

    def __init__(self, build):
        self.runner = Runner(build, quick=False)
        self.pool = concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1))
        self.started, self.failures = {}, 0
        self.references = {}
        self.lock = threading.Lock()

    def start(self, method, problem, rtol=RTOL, **more):
        key = (method, problem, rtol, *sorted(more.items()))
        if key not in self.started:
            self.started[key] = self.pool.submit(self._row, method, problem, rtol, more)
        return self.started[key]

    def row(self, method, problem, rtol=RTOL, **more):
        """The row of a run; one that failed is counted and has a message."""
        future = self.start(method, problem, rtol, **more)
        if sys.stderr.isatty() and not future.done():
            sys.stderr.write("\r%-60s\r" % ("%s, %s, rtol %g" % (problem, method, rtol)))
        row = future.result()
        if sys.stderr.isatty():
            sys.stderr.write("\r%-60s\r" % "")
        self.failures += 1 if row["status"] else 0
        return row

    def _row(self, method, problem, rtol, more):
        size = CELLS if problem == "swe" else None
        if more.get("compare", True):
            with self.lock:                         # a reference is made once
                lock = self.references.setdefault(problem, threading.Lock())
            with lock:
                self.runner.reference(problem, size, more.get("tf"))
        return self.runner.row("costate:" + method, problem, size=size, rtol=rtol, repeat=5, budget=0.02, **more)


def family(method):
    return FAMILY_OF.get(method, "composite")


def ratios(rows, above, below):
    """quotients of two times; none where the clock is too coarse for the second"""
    return [row[above] / row[below] for row in rows if row[below] > 0]


def table(runs, problem, methods, **more):
    """prints it; {method: row} of the runs that succeeded"""
    rows = {}
    print("\n" + FORMAT % COLUMNS)
    for method in methods:
        row = runs.row(method, problem, **more)
        if row["status"]:
            print("%-9s %s" % (method, row["message"]), flush=True)
            continue
        rows[method] = row
        print(FORMAT % (
            method, family(method), row["solver"] or "none", row["steps"], row["rejected"], row["f"],
            row["jac"], row["decompositions"] + row["complex"], "%.5f" % row["forward"], "%.5f" % row["backward"],
            "%.1e" % row["error"], "%.1e" % row["error_derivative"]), flush=True)
    print()
    return rows


def of_kind(rows, kind):
    """the rows of explicit or of implicit methods"""
    return [row for method, row in rows.items() if KINDS[family(method)] == kind]


def least(rows, name):
    return min((row[name] for row in rows), default=float("nan"))


# ---- the problems ----------------------------------------------------------------------------------------------------

def robertson(runs):
    heading("1. A stiff problem: Robertson's chemical reactions")
    say("""Three substances react at rates from 0.04 to 3e7 (3 unknowns), t from 0 to %g s. How much work does each
        method need for the concentrations at the end and the gradient of one of them? The first two methods are
        explicit.""", ROBERTSON_END)
    rows = table(runs, "robertson", ROBERTSON, tf=ROBERTSON_END)
    explicit, implicit = of_kind(rows, "explicit"), of_kind(rows, "implicit")
    if explicit and implicit:
        say("""Implicit methods shine here: they take %d to %d steps, explicit ones %d to %d. The solution is
            smooth, but an explicit method becomes unstable unless its steps resolve the fastest reaction, which was
            over at once; only accuracy limits implicit steps. This is what "stiff" means.""",
            least(implicit, "steps"), max(r["steps"] for r in implicit), least(explicit, "steps"),
            max(r["steps"] for r in explicit))


def years(seconds):
    return seconds / 3600 / 24 / 365.25


def smog(runs):
    heading("2. A large stiff problem: polluted air")
    say("""20 species and 25 reactions in 40 layers of air, with diffusion between the layers (800 unknowns), for 60
        minutes. What is the ozone at the ground after an hour, and how does it depend on all 800 initial
        concentrations (the gradient)? Explicit methods would not finish. How many steps they need is extrapolated
        from their first %g minutes:""", SHORT)
    print()
    missing = []
    for method in EXPLICIT:
        row = runs.row(method, "smog", **PILOT)
        if row["status"]:
            print("%-9s %s" % (method, row["message"]))
            continue
        factor = HOUR / SHORT
        print("%-9s %d steps for %g minutes at rtol = 1e-3, thus %.0e steps and %.1g years for %d minutes" % (
            method, row["steps"], SHORT, row["steps"] * factor, years(row["seconds"] * factor), HOUR), flush=True)
        missing.append("%s: %.0e steps" % (method, row["steps"] * factor))
    rows = table(runs, "smog", SMOG)
    implicit = of_kind(rows, "implicit")
    back = ratios(implicit, "backward", "forward")
    if back:
        say("""Implicit methods need %d to %d steps and at most %.2g s: an implicit step costs much more, since it
            solves linear systems with a banded matrix, but only accuracy limits its size. The run back for the
            gradient with respect to 800 inputs costs %.1f to %.1f times the forward run.""",
            least(implicit, "steps"), max(r["steps"] for r in implicit), max(r["seconds"] for r in implicit),
            min(back), max(back))
    return missing


def water(runs):
    heading("3. A problem that is not stiff: shallow water")
    say("""A hump of water spreads on %d x %d cells (%d unknowns), t from 0 to 0.011, the interval of FATODE's paper
        (Zhang and Sandu, SIAM J. Sci. Comput. 36, 2014). The result is the height in one cell; its gradient is taken
        with respect to all %d initial values.""", CELLS, CELLS, 3 * CELLS ** 2, 3 * CELLS ** 2)
    rows = table(runs, "swe", WATER)
    explicit, implicit = of_kind(rows, "explicit"), of_kind(rows, "implicit")
    if implicit and least(explicit, "forward") > 0:
        times = [row["forward"] / least(explicit, "forward") for row in implicit]
        say("""Here explicit methods win: forward, implicit ones take %.0f to %.0f times the time of the fastest
            explicit one. Waves must be resolved in any case, so that accuracy limits the steps of both kinds and an
            implicit method saves few or none; and its linear systems with a sparse matrix of %d unknowns cost as much
            as hundreds of evaluations of f in each step. `auto` takes explicit steps by itself.""",
            min(times), max(times), 3 * CELLS ** 2)


def derivatives(runs):
    print()
    say("""What do derivatives cost? The same problem: processor seconds of a forward run without derivatives; with
        one tangent (forward sensitivity), the derivative of the final state with respect to one initial value; with
        the gradient (adjoint) of one result with respect to all initial values; and the last two divided by the
        first.""")
    print("\n%-9s %9s %9s %9s %10s %10s" % ("method", "forward", "+ tangent", "+ adjoint", "tangent", "adjoint"))
    costs = []
    for method in MODES:
        plain, tangent, adjoint = (runs.row(method, "swe", **more) for more in (PLAIN, TANGENT, ADJOINT))
        if plain["status"] or tangent["status"] or adjoint["status"]:
            print("%-9s %s" % (method, plain["message"] or tangent["message"] or adjoint["message"]))
            continue
        tangent_cost, cost = (seconds / plain["forward"] if plain["forward"] > 0 else float("nan")
                              for seconds in (tangent["forward"], adjoint["seconds"]))
        costs += [cost] if cost == cost else []
        print("%-9s %9.4f %9.4f %9.4f %8.1f x %8.1f x" % (
            method, plain["forward"], tangent["forward"], adjoint["seconds"], tangent_cost, cost), flush=True)
    if costs:
        print()
        say("""A gradient with respect to %d inputs costs %.1f to %.1f forward runs in all, because one run back
            serves all inputs. Finite differences or tangents would need %d further runs, one for each input.""",
            3 * CELLS ** 2, min(costs), max(costs), 3 * CELLS ** 2)


def plane(runs):
    heading("4. Between the two: reaction and diffusion in the plane")
    say("""The Brusselator with diffusion on 32 x 32 cells (2048 unknowns). The result is the concentration in one
        cell at the end; its gradient is taken with respect to all initial values. rock4 and rkl2 are stabilised
        explicit methods (rkc), made for diffusion: their stability grows with the square of their number of stages.""")
    rows = table(runs, "brusselator2d", PLANE)
    ordinary = rows.get("dopri5")
    stabilised = [rows[m] for m in ("rock4", "rkl2") if m in rows]
    implicit = of_kind(rows, "implicit")
    if ordinary and implicit and least(stabilised, "forward") > 0:
        say("""The problem is mildly stiff: dopri5 needs %d steps since stability limits them, while the implicit
            methods need %d to %d. The best stabilised explicit method is nevertheless %.0f times faster than the
            best implicit one, which must factor large matrices. On finer grids dopri5 falls behind: its steps must
            shrink with the square of the size of a cell, while a stabilised method adds stages in proportion to the
            number of cells a side.""", ordinary["steps"],
            least(implicit, "steps"), max(r["steps"] for r in implicit),
            least(implicit, "forward") / least(stabilised, "forward"))


def program(runs, build, folder, name, place, data, before, after):
    say(before)
    print(flush=True)
    failed = subprocess.run([os.path.join(build, folder, name), os.path.join(place, data)]).returncode != 0
    runs.failures += failed
    print(flush=True)
    say(after)


def others(runs, build, place):
    heading("5. Events: a ball on a vibrating table")
    program(runs, build, "bench", "hybrid_demo", place, "hybrid.dat",
            """A ball falls from 0.8 m on a table that vibrates. costate finds the time of every impact and
            differentiates through it. The table lists the impacts: time (s), height (m), and the speed before and
            after (m/s); the last line is the derivative of the final height and speed with respect to the drop
            height.""",
            """The derivative is exact although its value jumps at every impact: the times of the impacts depend on
            the drop height, and this dependence is part of the derivative.""")
    heading("6. A boundary value problem: a thin layer")
    program(runs, build, "examples", "20_layer", place, "layer.dat",
            """eps y'' + y y' = 0 on [0, 1] with y given at both ends: the solution has a layer of width eps at t =
            0. Each row of the table starts from the solution of the row before (continuation). intervals: of the
            last mesh; shortest: length of its shortest interval; meshes, iterations: how many meshes and Newton
            iterations it took; error of y: largest absolute error, where the exact solution is known. G is the
            integral of y^2, printed with its gradient.""",
            """The mesh follows the layer: its shortest interval shrinks as eps does, so that a layer a thousand
            times thinner takes only a few times as many intervals. The gradient with respect to eps and both
            boundary values is that of the last solution and agrees with the exact one.""")


# ---- pictures --------------------------------------------------------------------------------------------------------

def grid(runs, place, name, mode, first):
    """The values of a run to t = 0.05 at the cells, as {"at": coordinates, "value": rows}: of the height, or of its
    gradient. first: the cell that comes first; the gradient is that of the cell in the corner, which goes to the
    middle."""
    raw = os.path.join(place, name + ".raw")
    if runs.row("dopri5", "swe", mode=mode, tf=0.05, compare=False, flags=("--result", raw))["status"]:
        return None
    d = 6 / (CELLS - 1)
    with open(raw, encoding="utf-8") as file:
        z = [float(line) for line in file]
    os.remove(raw)
    return {"at": [(k - first) * d if first else (k + 1) * d - 3 for k in range(CELLS)],
            "value": [[z[(i + first) % CELLS * CELLS + (j + first) % CELLS] for j in range(CELLS)]
                      for i in range(CELLS)]}


def drawn_methods(left_out):
    return [method for method in FAMILIES if method not in left_out]


def curves(runs, missing):
    panels = []
    for problem, title, left_out in DRAWN:
        rows = {method: [runs.row(method, problem, rtol) for rtol in TOLERANCES] for method in drawn_methods(left_out)}
        for error, seconds, what in (("error", "forward", "forward"), ("error_derivative", "seconds", "with gradient")):
            panels.append({
                "title": "%s: %s" % (title, what), "tightest": TOLERANCES[-1],
                "missing": missing if problem == "smog" else [],
                "curves": {method: [(row[error], row[seconds]) for row in of_method if not row["status"]]
                           for method, of_method in rows.items()}})
    return panels


def python_with_matplotlib():
    for python in (sys.executable, "/usr/bin/python3", shutil.which("python3")):
        if python and subprocess.run([python, "-c", "import matplotlib"], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def draw(runs, place, missing):
    heading("7. Pictures")
    say("""Error against processor time on problems 2 to 4, forward and with the gradient (work.png: the lower left
        is best); the water after t = 0.05 and the sensitivity of one cell to all others; the ball and its
        sensitivity; the layer and its mesh.""")
    data = {"work": curves(runs, missing), "height": grid(runs, place, "height", "forward", 0),
            "sensitivity": grid(runs, place, "sensitivity", "adj", CELLS // 2)}
    with open(os.path.join(place, "pictures.json"), "w", encoding="utf-8") as file:
        json.dump(data, file)
    python = python_with_matplotlib()
    if python is None:
        print("no pictures: no Python with Matplotlib was found (Debian: python3-matplotlib)")
        return
    print(flush=True)
    subprocess.run([python, os.path.join(HERE, "report", "demo_pictures.py"), place], check=True)


def start_all(runs, place):
    """in the order in which they are printed"""
    for method in ROBERTSON:
        runs.start(method, "robertson", tf=ROBERTSON_END)
    for method in EXPLICIT:
        runs.start(method, "smog", **PILOT)
    for method in SMOG:
        runs.start(method, "smog")
    for method in WATER:
        runs.start(method, "swe")
    for method in MODES:
        runs.start(method, "swe", **PLAIN)
        runs.start(method, "swe", **TANGENT)
    for method in PLANE:
        runs.start(method, "brusselator2d")
    for problem, _, left_out in DRAWN:
        for rtol in TOLERANCES:
            for method in drawn_methods(left_out):
                runs.start(method, problem, rtol)


def main(build):
    place = os.path.join(build, "demo")
    os.makedirs(place, exist_ok=True)
    runs = Runs(build)
    say(INTRODUCTION)
    print()
    say(READING)
    start_all(runs, place)
    robertson(runs)
    missing = smog(runs)
    water(runs)
    derivatives(runs)
    plane(runs)
    others(runs, build, place)
    draw(runs, place, missing)
    if runs.failures:
        print("%d runs failed" % runs.failures)
    return 1 if runs.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
