"""bvp.py - the part bvp of the benchmark: boundary value problems, beside SciPy's solve_bvp and TWPBVP."""
import json
import os
import statistics
import subprocess
import sys

from report.tables import faster_at

OURS = ("gauss3", "gauss4", "gauss5", "lobatto3a3", "lobatto3a4", "lobatto3a5")
TWP = {"twp:c": "TWPBVPC", "twp:l": "TWPBVPLC", "twp:cc": "TWPBVPC, cond", "twp:lc": "TWPBVPLC, cond"}
SCIPY = os.path.join(os.path.dirname(os.path.dirname(__file__)), "peers", "scipy_bvp.py")
HEAD = ["code", "rtol", "intervals", "meshes", "iterations", "f", "jac", "milliseconds", "error"]


class Rows:
    """rows of bvp_race and of SciPy, each a process of its own"""

    def __init__(self, run):
        self.program = os.path.join(run.out, "bvp_race")
        self.budget = run.budget
        self.turns = run.turns
        self.python = scipy_python()
        self.version = None

    def _run(self, command, name):
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            row = json.loads(done.stdout)
        except OSError as error:
            row = {"status": 1, "message": str(error)}
        except ValueError:
            row = {"status": 1, "message": "no answer (exit status %d)" % done.returncode}
        return dict(row, name=name)

    def ours(self, method, problem, tol, eps=0.1, flags=()):
        return self.code("costate:" + method, problem, tol, eps, flags)

    def code(self, code, problem, tol, eps=0.1, flags=()):
        name = TWP.get(code, code.split(":")[1])
        return self._run([self.program, "--code", code, "--problem", problem, "--tol", repr(tol), "--eps", repr(eps),
                          "--repeat", "5", "--budget", str(self.budget), "--json", *flags], name)

    def scipy(self, jac, problem, tol, eps=0.1):
        row = self._run([self.python, SCIPY, self.program, problem, repr(eps),
                         repr(tol), str(jac), str(self.budget)], "SciPy, fun_jac" if jac else "SciPy")
        self.version = row.get("version", self.version)
        return row

    def turned(self, make):
        """a row of median time; the turns stay in it"""
        turns = [make() for _ in range(self.turns)]
        row = dict(turns[0], turns=turns)
        if not row.get("status"):
            row["seconds"] = statistics.median(t["seconds"] for t in turns)
        return row


def scipy_python():
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import scipy.integrate"], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def cells(row, tol):
    if row.get("status"):
        return [row["name"], "%.0e" % tol, "failed: " + str(row.get("message")) + ",", *[""] * 6]
    return [row["name"], "%.0e" % tol] + [str(row.get(key, "-")) for key in HEAD[2:7]] + [
        "%.4g" % (1e3 * row["seconds"]), "%.1e" % row["error"]]


def table(rep, title, rows):
    rep.plain_table(title, HEAD, [cells(row, row["asked"]) for row in rows])


def tolerances(run, *exponents):
    return [float("1e-%d" % k) for k in (exponents[::3] if run.quick else exponents)]


def ladder(run, rows, problem, eps, tols, peer_tols):
    """rows by code: ours over tols, SciPy in both ways over peer_tols, TWPBVP where it is there"""
    found = [dict(rows.turned(lambda m=m, t=t: rows.ours(m, problem, t, eps)), asked=t)
             for m in (OURS[1:2] if run.quick else OURS) for t in tols]
    if rows.python:
        found += [dict(rows.turned(lambda j=j, t=t: rows.scipy(j, problem, t, eps)), asked=t)
                  for j in (0, 1) for t in peer_tols]
    if has_twp(rows):
        found += [dict(rows.turned(lambda c=c, t=t: rows.code(c, problem, t, eps)), asked=t)
                  for c in TWP for t in peer_tols[:1]]
    return found


def has_twp(rows):
    return rows.code("twp:c", "layer_a", 1e-3).get("status") == 0


def fastest(rows, error):
    """of those that are at least so good"""
    good = [row for row in rows if not row.get("status") and row["error"] <= error]
    return min(good, key=lambda row: row["seconds"], default=None)


def beside_scipy(rep, what, found, peer, limit):
    """ours at the error of a row of SciPy, the best of our methods"""
    best, name = None, OURS[0]
    for method in OURS:
        mine = [row for row in found if row["name"] == method and not row.get("status")]
        gain = faster_at(mine, peer, "error") if mine and peer else None
        if gain and (best is None or gain.median > best.median):
            best, name = gain, method
    rep.target("%s: %s, times faster than %s at its error" % (what, name, peer["name"] if peer else "SciPy"),
               best and best.median, limit, True)
    rep.ratio(what, name, peer["name"] if peer else "SciPy", best)


def arm(run, rep, rows):
    found = ladder(run, rows, "arm", 0.1, tolerances(run, 4, 5, 6, 7, 8, 9), tolerances(run, 6, 7, 8, 9, 10))
    table(rep, "An arm, torque of 9 nodes with breaks there (n = 2)", found)
    peer = fastest([row for row in found if row["name"].startswith("SciPy")], 1e-9)
    beside_scipy(rep, "arm to 1e-9", found, peer, 50)
    gradient = rows.turned(lambda: rows.ours("gauss4", "arm", 1e-6, flags=("--gradient",)))
    ratios = [t["backward"] / t["seconds"] for t in gradient["turns"] if not t.get("status")]
    rep.target("arm, gauss4: gradient by 15 parameters / solve", statistics.median(ratios) if ratios else None, 0.5)


def thin(run, rep, rows):
    eps = 1e-2 if run.quick else 1e-4
    found = ladder(run, rows, "layer_c", eps, tolerances(run, 4, 5, 6, 7, 8, 9), [1e-6])
    table(rep, "Layers at both ends, eps^2 y'' = y - f cos(kappa t), eps = %g" % eps, found)
    peer = min((row for row in found if row["name"].startswith("SciPy") and not row.get("status")),
               key=lambda row: row["seconds"], default=None)
    beside_scipy(rep, "layer_c, eps = %g, SciPy at 1e-6" % eps, found, peer, 30)


def right(row, tol):
    return not row.get("status") and row["error"] <= 10 * tol


def intervals(run, rep, rows):
    """of the last mesh, at tolerance 1e-6: fewer than those of TWPBVP, whichever of its four ways takes least"""
    tol, lines, twp = 1e-6, [], has_twp(rows)
    codes = list(TWP) if twp else []
    for problem in ("layer_a", "layer_b", "layer_c"):
        for eps in (1e-1, 1e-2) if run.quick else (1e-1, 1e-2, 1e-3, 1e-4):
            flags = ("--from-wide",) if problem == "layer_b" else ()
            mine = {m: rows.ours(m, problem, tol, eps, flags) for m in ("gauss3", "gauss4", "lobatto3a4")}
            other = {c: rows.code(c, problem, tol, eps) for c in codes}
            scipy = [rows.scipy(1, problem, tol, eps)] if rows.python else []
            lines.append(["%s %g" % (problem, eps)] + [number(r, tol) for r in mine.values()]
                         + ["%s of %s" % (mine["gauss4"].get("iterations"), mine["gauss4"].get("meshes"))]
                         + [number(r, tol) for r in [*other.values(), *scipy]])
            least = min((r["intervals"] for r in other.values() if right(r, tol)), default=None)
            if codes and least:
                reached = mine["gauss4"]["intervals"] / least if right(mine["gauss4"], tol) else None
                rep.target("%s, eps = %g: intervals of gauss4 / those of TWPBVP" % (problem, eps), reached, 1)
    head = ["layer, eps", "gauss3", "gauss4", "lobatto3a4", "Newton, meshes"] + [TWP[c] for c in codes]
    rep.plain_table("Intervals of the last mesh, tolerance 1e-6", head + (["SciPy"] if rows.python else []), lines)
    rep.say()
    rep.say("What is called solved with an error above ten tolerances counts as wrong: TWPBVP's error is that at its "
            "mesh points, the others' also that between them. layer_b: costate continues from eps = 0.1 by tenths, "
            "all others begin with the straight line; the other layers begin with zero. Newton, meshes: iterations and "
            "meshes of gauss4, of all its continuation.")


def number(row, tol):
    return str(row["intervals"]) if right(row, tol) else "wrong" if not row.get("status") else "failed"


METHODS = ("gauss2", "gauss3", "gauss4", "gauss5", "lobatto3a3", "lobatto3a4", "lobatto3a5", "radau2a", "radau2a4",
           "radau2a5", "lobatto3c", "sdirk4a", "kvaerno54")


def methods(run, rep, rows):
    """of all kinds, at one tolerance; docs/howto/bvp-methods.md has this table, without times"""
    lines, cases = [], (("arm", 0.1), ("layer_a", 0.01), ("layer_c", 0.01))
    for method in METHODS[:3] if run.quick else METHODS:
        found = [rows.turned(lambda p=p, e=e: rows.ours(method, p, 1e-8, e)) for p, e in cases]
        lines.append([method] + [
            str(row.get("message")) if row.get("status") else
            "%d, %.2f, %.0e" % (row["intervals"], 1e3 * row["seconds"], row["error"]) for row in found])
    rep.plain_table("Methods at tolerance 1e-8: intervals, milliseconds, error",
                    ["method"] + ["%s, eps = %g" % case if case[0] != "arm" else "arm" for case in cases], lines)


def growth(run, rep, rows):
    """a fixed mesh of ever more intervals, n = 2: time and memory an interval"""
    lines, time, memory = [], [], []
    sizes = (1000, 10000) if run.quick else (1000, 10000, 100000)
    least = rows.ours("gauss3", "layer_c", 1e-6, flags=("--fixed", "--intervals", "10", "--gradient"))
    for N in sizes:
        row = rows.turned(lambda N=N: rows.ours("gauss3", "layer_c", 1e-6, flags=(
            "--fixed", "--intervals", str(N), "--most", str(N), "--gradient")))
        if row.get("status"):
            lines.append([N, row.get("message"), "", "", "", ""])
            continue
        time.append((row["seconds"] + row["backward"]) / N)
        memory.append((row["peak_bytes"] - (least.get("peak_bytes") or 0)) / N)
        lines.append([N, row["iterations"], "%.3g" % row["seconds"], "%.3g" % row["backward"],
                      "%.0f" % (1e9 * time[-1]), "%.0f" % memory[-1]])
    rep.plain_table("Growth with intervals, gauss3, n = 2, layer_c, eps = 0.1",
                    ["intervals", "iterations", "seconds", "gradient", "ns/interval", "bytes/interval"], lines)
    rep.target("time an interval, solve and gradient, most intervals / fewest", time[-1] / time[0] if time else None,
               1.5)
    rep.target("memory an interval, most intervals / fewest", memory[-1] / memory[0] if memory else None, 1.2)


def part_bvp(run, rep):
    """boundary value problems: at equal error beside SciPy, intervals beside TWPBVP, the gradient, growth"""
    rows = Rows(run)
    if not rows.python:
        rep.say("SciPy is not there (Debian: python3-scipy): it does not race.")
    if not has_twp(rows):
        rep.say("TWPBVP is not there (bench/peers/build.sh): it does not race.")
    for part in (arm, thin, intervals, methods, growth):
        part(run, rep, rows)
    rep.say()
    rep.say("%s: solve_bvp, vectorised, max_nodes 100000; its times after a solve that warms up. costate: a solve from "
            "costate_bvp_new to the solution; TWPBVP: the call alone. The error is the largest over the times of a "
            "case, relative where |y| > 1." % (rows.version or "SciPy"))
