"""scale.py - the part scale of the benchmark: tapes with checkpoints and in files, ensembles, processes."""
import json
import os
import random
import re
import signal
import subprocess
import time

STAGES = {"dopri5": 7, "dopri853": 15, "rodas4": 6, "radau2a": 3}       # of a step on the tape


class Tapes:
    """rows of scale_tape, each a process of its own"""

    def __init__(self, run):
        self.program = os.path.join(run.out, "scale_tape")
        self.repeat = "1" if run.quick else "3"
        self.file = os.path.join(run.out, "scale.tape")

    def command(self, method, side, steps, storage="all", states=0, more=()):
        return [self.program, "--method", method, "--side", str(side), "--steps", str(steps), "--storage", storage,
                "--states", str(states), *more]

    def row(self, *what, more=(), **named):
        done = subprocess.run(self.command(*what, more=[*more, "--repeat", self.repeat], **named),
                              stdout=subprocess.PIPE, text=True)
        row = json.loads(done.stdout) if done.returncode == 0 else None
        if row:
            row["seconds"] = row["forward"] + row["backward"]
        return row


def megabytes(count):
    return "%.3g" % (count / 1e6)


def checkpoints(run, rep, tapes):
    """a hundredth of the memory"""
    cases = [("dopri5", 20, 2000), ("dopri5", 20, 20000), ("dopri853", 20, 2000), ("rodas4", 10, 2000),
             ("radau2a", 10, 2000)]
    lines, reached = [], {}
    for method, side, steps in [("dopri5", 10, 500)] if run.quick else cases:
        whole = tapes.row(method, side, steps)
        budgets = {steps: steps * (STAGES[method] + 1) // 100}
        if steps > 2000:
            budgets[2000] = budgets[steps] // 10
        for of, states in budgets.items():
            part = tapes.row(method, side, steps, "checkpoints", states)
            if not (whole and part):
                lines.append([method, side, steps, states] + ["failed"] + [""] * 5)
                continue
            again = part["remade"] / steps
            reached[method, steps, of] = again
            lines.append([method, side, steps, states, megabytes(whole["tape_bytes"]), megabytes(part["tape_bytes"]),
                          "%.1f" % (whole["tape_bytes"] / part["tape_bytes"]), "%.3f" % again,
                          "%.2f" % (part["seconds"] / whole["seconds"]),
                          "%.2f" % (part["seconds"] / part["forward"])])
    rep.plain_table("Shallow water, a gradient by checkpoints beside one with all stages (MB; s)",
                    ["method", "side", "steps", "states", "all stages", "checkpoints", "times less",
                     "made again / steps", "time / all stages", "time / run"], lines)
    for key, limit in ((("dopri5", 2000, 2000), 1.5), (("dopri5", 20000, 20000), 2.5), (("dopri5", 20000, 2000), 2.5),
                       (("rodas4", 2000, 2000), 1.5), (("radau2a", 2000, 2000), 1.5)):
        if key in reached:
            rep.target("%s, %d steps, a hundredth of %d steps' memory: extra forward runs" % key, reached[key], limit)


def files(run, rep, tapes):
    lines = []
    for method, side, steps in [("dopri5", 20, 500)] if run.quick else [("dopri5", 80, 2000), ("rodas4", 20, 500)]:
        whole = tapes.row(method, side, steps)
        for storage in ("all", "checkpoints"):
            part = tapes.row(method, side, steps, storage, more=["--file", tapes.file])
            if not (whole and part):
                lines.append([method, side, steps, storage, "failed", "", "", "", ""])
                continue
            ratio, size = part["seconds"] / whole["seconds"], part["file_bytes"]
            lines.append([method, side, steps, storage, megabytes(size), megabytes(part["tape_bytes"]), "%.2f" % ratio,
                          megabytes(size / part["forward"]), megabytes(size / part["backward"])])
            if storage == "all":
                rep.target("%s %d x %d: gradient, tape in a file / in memory" % (method, side, side), ratio, 1.3)
        os.remove(tapes.file)
    rep.plain_table("Tapes in files beside those in memory with all stages (MB)",
                    ["method", "side", "steps", "storage", "file", "memory", "time / memory's", "MB/s forward",
                     "MB/s back"], lines)


def large(run, rep, tapes):
    sides, steps = ((20, 40), 100) if run.quick else ((80, 320), 400)
    found = [tapes.row("dopri5", side, steps, "checkpoints", 120) for side in sides]
    if not all(found):
        return rep.target("dopri5 on the larger grid: memory", None, 1)
    each = [row["seconds"] / row["n"] / steps for row in found]
    rep.plain_table("Shallow water, dopri5, checkpoints of 120 states: size",
                    ["side", "n", "steps", "seconds", "ns an unknown and step", "peak MB", "made again"],
                    [[side, row["n"], steps, "%.3g" % row["seconds"], "%.1f" % (1e9 * one),
                      megabytes(row["peak_bytes"]), row["remade"]] for side, row, one in zip(sides, found, each)])
    rep.target("%d x %d: peak memory, GiB" % (sides[1], sides[1]), found[1]["peak_bytes"] / 2 ** 30, 1)
    rep.target("time an unknown and step, %d x %d / %d x %d" % (sides[1], sides[1], sides[0], sides[0]),
               each[1] / each[0], 1.3)


def begun(path):
    """its head and a first state are there"""
    return os.path.exists(path) and os.path.getsize(path) > 1000


def killed(run, rep, tapes):
    """SIGKILL at random moments of a run, then resume: the bits of a run that was not killed"""
    random.seed(1)
    same = count = 0
    file = ["--file", tapes.file]
    for method, side, steps, storage in (("dopri5", 20, 2000, "all"), ("rodas4", 10, 200, "checkpoints")):
        whole = tapes.row(method, side, steps, storage, more=file)
        for _ in range(3 if run.quick else 25):
            count += 1
            os.remove(tapes.file)
            child = subprocess.Popen(tapes.command(method, side, steps, storage, more=file), stdout=subprocess.DEVNULL)
            while child.poll() is None and not begun(tapes.file):
                time.sleep(0.001)
            time.sleep(random.uniform(0, 0.95) * whole["forward"])
            child.send_signal(signal.SIGKILL)
            child.wait()
            row = tapes.row(method, side, steps, storage, more=[*file, "--resume"])
            same += row is not None and row["bits"] == whole["bits"] and row["steps"] == whole["steps"]
        os.remove(tapes.file)
    rep.target("runs killed at random moments that ended with other bits, of %d" % count, count - same, 0)


def program(run, name, *arguments, launcher=()):
    path = os.path.join(run.out, name)
    if not os.path.exists(path):
        return None
    done = subprocess.run([*launcher, path, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout


def number_in(text, pattern):
    found = re.search(pattern, text or "")
    return float(found.group(1)) if found else None


def ensembles(run, rep):
    text = program(run, "scale_ensemble", "500" if run.quick else "10000", "3" if run.quick else "5")
    rep.say()
    rep.say("Robertson's problem, gradients by threads pinned to cores: " + "; ".join((text or "").splitlines()))
    rep.target("an ensemble: times faster by two threads than by one", number_in(text, r"by all: median ([\d.]+)"),
               1.9, True)


def processes(run, rep):
    """scale_petsc on one process, and beside PETSc's TSAdjoint"""
    more = ["-seconds", "0.2" if run.quick else "2"]
    text = program(run, "scale_petsc", *more, "-part", "overhead")
    if text is None:
        return rep.say("PETSc is not there (Debian: petsc-dev): states are not spread.")
    rep.target("dopri5 over processes of PETSc: one process / without MPI",
               number_in(text, r"without; ([\d.]+) times"), 1.15)
    for part in ("explicit", "implicit"):
        text = program(run, "scale_petsc", *more, "-part", part)
        rep.say()
        rep.say("```\n" + text.strip() + "\n```")
        best = {}                                   # of ours at each error of PETSc's
        for error, times in re.findall(r"at the error (\S+): .* ([\d.]+) times as long", text):
            best[error] = max(best.get(error, 0), float(times))
        rep.target("PETSc's TSAdjoint, %s: times as long as the best of ours at its error" % part,
                   min(best.values()) if best else None, 1, True)


def part_scale(run, rep):
    """checkpoints, tapes in files, killed runs, a large state; ensembles; states over processes"""
    tapes = Tapes(run)
    for part in (checkpoints, files, large, killed):
        part(run, rep, tapes)
    ensembles(run, rep)
    processes(run, rep)
