"""runner.py - runs the race: one process a row and turn, rows and references kept."""
import json
import math
import os
import re
import subprocess


class Runner:
    def __init__(self, build, quick):
        self.build = build
        self.quick = quick
        self.out = os.path.join(build, "bench")
        self.programs = {code: os.path.join(self.out, name) for code, name in
                         (("costate", "race"), ("cvodes", "race"), ("idas", "race"), ("hairer", "race"),
                          ("lsoda", "race"), ("packaged", "race-packaged"), ("arkode", "race-arkode"),
                          ("petsc", "race-petsc"))}
        # codes in Fortran, whose other level of optimisation may be faster
        at_O2 = os.path.join(self.out, "race-O2")
        self.other_level = {code: at_O2 for code in ("hairer", "lsoda") if os.access(at_O2, os.X_OK)}
        self.rows = {}
        self.turns = 1 if quick else 3
        self.repeat = 3
        self.budget = 0.2 if quick else 0.5
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        os.environ.setdefault("OPENBLAS_CORETYPE", best_kernel())
        self.has = {code: self._runs(code, method) for code, method in
                    (("cvodes", "bdf"), ("packaged", "bdf"), ("hairer", "radau5"))}
        self.has["lsoda"] = self._runs("lsoda", "jacobian")
        self.has["idas"] = self._runs("idas", "bdf", "heat_dae")
        for method, problem in (("rodas", "vdpol"), ("dopri5", "lv"), ("dop853", "lv")):
            self.has[method] = self.has["hairer"] and self._runs("hairer", method, problem)
        for code in ("arkode", "petsc"):
            self.has[code] = os.access(self.programs[code], os.X_OK)
        # the CVODES that costate races: the one at -O3, or what there is
        self.peer = "packaged" if self.has["packaged"] and not self.has["cvodes"] else "cvodes"

    def _runs(self, code, method, problem="vdpol"):
        if not os.access(self.programs[code], os.X_OK):
            return False
        return not self.row("%s:%s" % (code, method), problem, mode="forward", compare=False).get("status")

    def reference(self, problem, size, tf, mode="adj"):
        """The file that rows of this problem are compared with; made once a build.  Hessian products have their own."""
        products = mode in ("second", "differences")
        if problem == "swe" and size == 40 and tf in (None, 0.011) and not products:
            return os.path.join(os.path.dirname(os.path.dirname(__file__)), "reference", "swe_40x40_0.011.f64")
        folder = os.path.join(self.out, "references")
        os.makedirs(folder, exist_ok=True)
        name = os.path.join(folder, "%s_%s_%s%s.f64" % (problem, size or "", tf or "", "_second" if products else ""))
        if not os.path.exists(name):
            made = subprocess.run([self.programs["costate"], "--problem", problem, *option("--size", size),
                                   *option("--tf", tf), *(["--mode", "second"] if products else []),
                                   "--write-reference", name + ".new"], stderr=subprocess.DEVNULL)
            if made.returncode != 0:
                return None
            os.rename(name + ".new", name)
        return name

    def row(self, code, problem, size=None, solver="auto", mode="adj", rtol=1e-6, tf=None, compare=True, repeat=None,
            budget=None, flags=(), turn=0):
        """One row of a table: the dictionary that race prints, with a message when it failed.  turn: the how manieth
        time it runs."""
        family, method = code.split(":")
        own = code.replace("packaged", "cvodes")
        arguments = ["--code", own, "--problem", problem, *option("--size", size), "--solver", solver, "--mode", mode,
                     "--rtol", repr(rtol), *option("--tf", tf), *flags, "--repeat", str(repeat or self.repeat),
                     "--budget", str(budget or self.budget), "--json"]
        key = (family, turn, *arguments)
        if key in self.rows:
            return self.rows[key]
        file = self.reference(problem, size, tf, mode) if compare else None
        arguments_of_run = [*arguments, *option("--reference", file)]
        row = one_row(self.programs[family], arguments_of_run)
        if family in self.other_level and not row.get("status"):
            row = min(row, one_row(self.other_level[family], arguments_of_run), key=lambda r: r["seconds"] or math.inf)
        solver = "" if row.get("solver") in (None, "none") else row["solver"]
        row["name"] = " ".join(w for w in (family if family != "costate" else "", method, solver) if w)
        row["code"] = family
        row["asked"] = rtol
        self.rows[key] = row
        return row

    def instructions(self, code, problem, rtol, mode="forward", size=None, solver="auto", flags=()):
        """Of a run in a mode, beyond what is made once: two runs less one, as callgrind counts them; None: it
        cannot.  Of a code that was built twice, the smaller number."""
        family, found = code.split(":")[0], []
        for program in dict.fromkeys([self.programs[family], self.other_level.get(family, self.programs[family])]):
            counts = [self._counted([], self._command(code, problem, rtol, mode, size, solver, budget, flags, program))
                      for budget in ("1e9", "1e-9")]
            found += [counts[0] - counts[1]] if all(counts) else []
        return min(found, default=None)

    def _command(self, code, problem, rtol, mode, size, solver, budget, flags, program):
        """race repeats what its budget allows: a run after the first, or none"""
        return [program, "--code", code, "--problem", problem, *option("--size", size),
                "--solver", solver, "--mode", mode, "--rtol", repr(rtol), *flags, "--repeat", "1", "--budget", budget]

    def _counted(self, options, command):
        try:
            done = subprocess.run(
                ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *options, *command],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                env=dict(os.environ, OPENBLAS_CORETYPE="Haswell"))     # valgrind knows no AVX-512
        except OSError:
            return None
        found = re.search(r"Collected : (\d+)", done.stderr)
        return int(found[1]) if done.returncode == 0 and found else None

    def instructions_of(self, functions, code, problem, rtol, mode, size=None, solver="auto", flags=()):
        """Of the calls of functions in one run, none of which calls another; None: they cannot be counted."""
        return self._counted(["--toggle-collect=" + name for name in functions],
                             self._command(code, problem, rtol, mode, size, solver, "1e-9", flags,
                                           self.programs[code.split(":")[0]]))

    def costs(self, problem, size, solver, steps):
        command = [self.programs["costate"], "--problem", problem, *option("--size", size), "--solver", solver]
        command += ["--costs", "--steps", str(steps)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(done.stdout)


def one_row(program, arguments):
    done = subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"message": "no answer (exit status %d)" % done.returncode, "status": 1, "seconds": None}


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
