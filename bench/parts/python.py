"""python.py - the part python of the benchmark: functions of NumPy, traced, beside callbacks, equation files, SciPy."""
import json
import os
import runpy
import subprocess
import sys

TRACED, BYTE_CODE, OVERHEAD = 1.1, 10, 15            # over an equation file; microseconds of a call beyond C's
CODES = ("equation file", "traced", "byte code", "callbacks")


def part_python(run, rep):
    folder = os.path.abspath(os.path.join(run.out, os.pardir, "python"))
    places = os.path.join(folder, "costate", "_places.py")
    if not os.path.exists(places):
        rep.say("The package for Python is not built: nothing is measured.")
        return
    python = runpy.run_path(places)["PYTHON"]
    script = os.path.join(os.path.dirname(__file__), os.pardir, "python_rows.py")
    env = dict(os.environ, PYTHONPATH=folder, OPENBLAS_NUM_THREADS="1")
    done = subprocess.run([python or sys.executable, script, *(["small"] if run.quick else [])], stdout=subprocess.PIPE,
                          text=True, check=True, env=env)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    with open(os.path.join(run.out, "python.json"), "w", encoding="utf-8") as file:
        file.write(done.stdout)
    report(rep, rows)


def report(rep, rows):
    gradient, forward = ({(r["problem"], r["code"]): r for r in rows if r["what"] == what}
                         for what in ("gradient", "forward"))
    problems = list(dict.fromkeys(name for name, _ in gradient))
    rep.plain_table("A run and its gradient from Python: milliseconds, and times that of the equation file",
                    ["problem", *CODES, *(f"{code}/equation file" for code in CODES[1:])],
                    [[name, *("%.3f" % (1e3 * gradient[name, code]["seconds"]) for code in CODES),
                      *("%.2f" % gradient[name, code]["ratio"] for code in CODES[1:])] for name in problems])
    for name in problems:
        rep.target(f"{name}: traced over equation file, run and gradient", gradient[name, "traced"]["ratio"], TRACED)
        rep.target(f"{name}: byte code over equation file, run and gradient", gradient[name, "byte code"]["ratio"],
                   BYTE_CODE)
    codes = list(dict.fromkeys(code for _, code in forward))
    rep.plain_table("Runs without gradients at rtol = atol = 1e-6: milliseconds (calls of f; error of y)",
                    ["problem", *codes], [[name, *(cell(forward.get((name, code))) for code in codes)]
                                          for name in dict.fromkeys(name for name, _ in forward)])
    for row in rows:
        if row["what"] == "overhead":
            rep.target("lotka_volterra: microseconds of a call from Python beyond one from C (%s)" % row["code"],
                       1e6 * row["seconds"], OVERHEAD)
        elif row["what"] == "lacking":
            rep.say(row["code"])


def cell(row):
    return "-" if row is None else "%.3f (%d; %.0e)" % (1e3 * row["seconds"], row["calls"], row["error"])
