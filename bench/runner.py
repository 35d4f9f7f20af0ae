"""runner.py - runs the race: one process a row, rows and references kept."""
import json
import os
import subprocess


class Runner:
    def __init__(self, build, quick):
        self.build = build
        self.quick = quick
        self.race = os.path.join(build, "bench", "race")
        self.out = os.path.join(build, "bench")
        self.hairer = self._hairer()
        self.rows = {}
        self.repeat = 3 if quick else 5
        self.budget = 0.2 if quick else 1.5
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        os.environ.setdefault("OPENBLAS_CORETYPE", best_kernel())

    @staticmethod
    def _hairer():
        where = os.environ.get("COSTATE_HAIRER")
        program = os.path.join(where, "hairer") if where else None
        return program if program and os.access(program, os.X_OK) else None

    def has_cvodes(self):
        return self.row("cvodes:bdf", "hires", mode="forward")["message"] != "cvodes was not built in"

    def reference(self, problem, size, tf):
        """The file that rows of this problem are compared with; made once a build."""
        if problem == "swe" and size == 40 and tf in (None, 0.011):
            return os.path.join(os.path.dirname(__file__), "reference", "swe_40x40_0.011.f64")
        folder = os.path.join(self.out, "references")
        os.makedirs(folder, exist_ok=True)
        name = os.path.join(folder, "%s_%s_%s.f64" % (problem, size or "", tf or ""))
        if not os.path.exists(name):
            made = subprocess.run([self.race, "--problem", problem, *option("--size", size), *option("--tf", tf),
                                   "--write-reference", name + ".new"], stderr=subprocess.DEVNULL)
            if made.returncode != 0:
                return None
            os.rename(name + ".new", name)
        return name

    def row(self, code, problem, size=None, solver="auto", mode="adj", rtol=1e-6, tf=None, compare=True, repeat=None,
            budget=None, flags=()):
        """One row of a table: the dictionary that race prints, with a message when it failed."""
        arguments = ["--code", code, "--problem", problem, *option("--size", size), "--solver", solver, "--mode", mode,
                     "--rtol", repr(rtol), *option("--tf", tf), *flags, "--repeat", str(repeat or self.repeat),
                     "--budget", str(budget or self.budget), "--json"]
        key = tuple(arguments)
        if key in self.rows:
            return self.rows[key]
        file = self.reference(problem, size, tf) if compare else None
        program = self.hairer if code.startswith("hairer:") else self.race
        done = subprocess.run([program, *arguments, *option("--reference", file)], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        try:
            row = json.loads(done.stdout)
        except ValueError:
            row = {"message": "no answer (exit status %d)" % done.returncode, "status": 1, "seconds": None}
        row["name"] = "%s %s" % (code.split(":")[1] if code.startswith("costate") else code.replace(":", " "),
                                 "" if row.get("solver") in (None, "none") else row["solver"])
        row["name"] = row["name"].strip()
        row["asked"] = rtol
        self.rows[key] = row
        return row

    def costs(self, problem, size, solver, steps):
        done = subprocess.run([self.race, "--problem", problem, *option("--size", size), "--solver", solver, "--costs",
                               "--steps", str(steps)], stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(done.stdout)


def option(name, value):
    return [] if value is None else [name, str(value)]


def best_kernel():
    """OpenBLAS falls back to its slowest kernel on a processor newer than itself; the same choice for all codes."""
    flags = set()
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("flags"):
                    flags = set(line.split())
                    break
    except OSError:
        pass
    return "SkylakeX" if "avx512f" in flags else "Haswell" if "avx2" in flags else ""
