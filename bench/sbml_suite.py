"""sbml_suite.py DIR [CASE...] - the semantic cases of the SBML test suite: which are right, wrong or refused.

DIR holds the cases, each a folder NUMBER with NUMBER-settings.txt, NUMBER-results.csv, NUMBER-model.m and files
NUMBER-sbml-lXvY.xml, of which l3v2 is read, or else the newest of levels 2 and 3.  A case is right if each value at
each time satisfies |value - expected| <= absolute + relative*|expected|, with the tolerances of its settings
(the suite's own rule).  Models run as byte code."""
import csv
import os
import re
import signal
import sys
import time
from collections import Counter, defaultdict
from multiprocessing import Pool
from pathlib import Path

import numpy as np

import costate
from costate._costate import ffi, lib
from costate._library import pointer
from codegen import sbml
from codegen.real import Refused

RIGHT, WRONG, REFUSED, FAILED = "right", "wrong", "refused", "failed"
RTOL, ATOL = 1e-9, 1e-13                     # the suite's own tolerances are 1e-4 relative in most cases
SAME = 1e-12                                 # times that are one, relative
PATIENCE = 60                                # seconds for a case
OTHER_TASKS = ("FluxBalanceSteadyState",)    # not differential equations


class Case:
    def __init__(self, folder):
        self.folder, self.number = Path(folder), Path(folder).name
        text = self.file("-settings.txt").read_text()
        self.settings = {key.strip(): value.strip() for key, _, value in
                         (line.partition(":") for line in text.splitlines()) if value.strip()}
        about = self.file("-model.m").read_text(errors="replace")
        self.tags = {tag for key in ("componentTags", "testTags") for tag in words(about, key)}
        self.task = "".join(words(about, "testType"))
        self.variables, self.amounts, self.contents = (words(text, key) for key in
                                                       ("variables", "amount", "concentration"))

    def file(self, end):
        return self.folder / (self.number + end)

    @property
    def model(self):
        files = sorted(self.folder.glob(self.number + "-sbml-l[23]v*.xml"))
        return files[-1] if files else None

    @property
    def times(self):
        start, duration, steps = (float(self.settings[key]) for key in ("start", "duration", "steps"))
        return start + duration*np.arange(int(steps) + 1)/max(steps, 1)

    def expected(self):
        """{column: values}"""
        with self.file("-results.csv").open(newline="") as file:
            rows = [row for row in csv.reader(file) if row]
        head = [name.strip() for name in rows[0]]
        values = np.array([[float(x) for x in row[:len(head)]] for row in rows[1:]])
        return {name: values[:, k] for k, name in enumerate(head)}


def words(text, key):
    found = re.search(rf"^{key}:(.*)$", text, re.M)
    return [w.strip() for w in re.split(r"[,\s]+", found[1]) if w.strip()] if found else []


def output(case, document, name):
    """What a column of the results means: an amount or a concentration of a species, or the value of its identifier"""
    species = document.species.get(name)
    term = ("name", name)
    if species is None:
        return term
    is_amount = species.only_substance or document.compartments[species.compartment].dimensions == 0
    if name in case.amounts and not is_amount:
        return ("*", term, ("name", species.compartment))
    if name in case.contents and is_amount:
        return ("/", term, ("name", species.compartment))
    return term


def computed(case):
    """The outputs of a case, (columns, times)"""
    document = sbml.read(case.model)
    found = sbml.write(document, "case", outputs=[(f"out_{k}", output(case, document, name))
                                                  for k, name in enumerate(case.variables)])
    model = costate.Model(found.text, compiled=False)
    times, start = case.times, model.start(0.0)
    if times[-1] == 0:
        return model.output(0.0, start[:model.n], m=start[model.n:])[:, None]
    problem = costate.Problem(model, rtol=RTOL, atol=ATOL)
    run = problem.integrate((0.0, times[-1]))
    return np.stack([model.output(t, y, m=m) for t, y, m in states(run, model, times, start)], axis=1)


def states(run, model, times, start):
    """(t, y, memory) at these times; behind events that occur there"""
    jumps, n = [(0.0, start)] + after_events(run), model.n
    for t in times:
        s, values = [jump for jump in jumps if jump[0] <= t + SAME*max(t, 1.0)][-1]
        yield t, values[:n] if abs(s - t) <= SAME*max(t, 1.0) else run(t), values[n:]


def after_events(run):
    """[(time, states and memory variables behind it)] of the events of a run"""
    out, size = [], run._b.N
    for k, (t, number) in enumerate(run._marks()):
        after = np.empty(size)
        lib.costate_tape_event(run._tape, k, ffi.NULL, ffi.NULL, ffi.NULL, pointer(after))
        if 0 <= number < run._b.P.nevents:
            out.append((t, after))
    return out


def judged(folder):
    """(number, verdict, why, seconds, tags)"""
    case, began = Case(folder), time.process_time()
    if case.task in OTHER_TASKS or case.model is None:
        return case.number, REFUSED, f"task {case.task}" if case.model else "only level 1", 0.0, case.tags
    try:
        verdict, why = compared(case, computed(case))
    except Refused as fault:
        verdict, why = REFUSED, str(fault)
    except Exception as fault:                          # the suite goes on; what failed is listed
        verdict, why = FAILED, f"{type(fault).__name__}: {fault}"
    return case.number, verdict, why, time.process_time() - began, case.tags


def compared(case, values):
    expected = case.expected()
    absolute, relative = (float(case.settings[key]) for key in ("absolute", "relative"))
    for name, row in zip(case.variables, values):
        column = expected[name]
        same = np.isclose(row, column, rtol=relative, atol=absolute, equal_nan=True)
        if not same.all():
            k = int(np.argmin(same))
            return WRONG, f"{name} at {case.times[k]:g}: {row[k]:.9g}, expected {column[k]:.9g}"
    return RIGHT, ""


def row(number, verdict, why):
    return f"{number} {verdict:8s} {' '.join(why.split())[:200]}"


def main(arguments):
    folder, *chosen = arguments
    cases = sorted(path for path in Path(folder).iterdir() if (path / (path.name + "-settings.txt")).is_file())
    cases = [path for path in cases if not chosen or path.name in chosen]
    done = []
    with Pool(int(os.environ.get("JOBS", "2")), maxtasksperchild=200) as pool:
        for result in pool.imap_unordered(limited, cases, chunksize=4):
            done.append(result)
            if result[1] != RIGHT or chosen:
                print(row(*result[:3]), flush=True)
    report(done)


def limited(folder):
    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(PATIENCE)
    try:
        return judged(folder)
    except TimeoutError:
        return folder.name, FAILED, f"no result in {PATIENCE} s", float(PATIENCE), set()
    finally:
        signal.alarm(0)


def out_of_time(*_):
    raise TimeoutError(f"no result in {PATIENCE} s")


def report(done):
    counts = Counter(verdict for _, verdict, *_ in done)
    print(", ".join(f"{counts[verdict]} {verdict}" for verdict in (RIGHT, WRONG, FAILED, REFUSED)))
    reasons = Counter(reason(why) for _, verdict, why, *_ in done if verdict == REFUSED)
    for why, count in reasons.most_common():
        print(f"  refused {count:4d}  {why}")
    tags = defaultdict(Counter)
    for _, verdict, _, _, found in done:
        for tag in found:
            tags[tag][verdict] += 1
    for tag, of in sorted(tags.items()):
        if of[WRONG] + of[FAILED]:
            print(f"  {tag}: {dict(of)}")
    print(f"{sum(seconds for *_, seconds, _ in done):.0f} s of the processor")


def reason(why):
    """... without places and identifiers"""
    return re.sub(r"\b\d+\b", "N", why.rpartition(": ")[2])[:90]


if __name__ == "__main__":
    main(sys.argv[1:])
