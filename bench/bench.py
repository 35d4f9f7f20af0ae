"""bench.py BUILD [--quick] [--add] [PART...] - the benchmark: rows of all codes, targets, pictures, bench/RESULTS.md.

--add: the parts that were run replace their own section at the end of bench/RESULTS.md, or become one."""
import os
import re
import sys
import time

from parts import auto, bvp, dae, events, lanes, model, papers, scale, second, small, stiff, swe, trust, wmethods
from peers.codes import codes, machine
from peers.runner import Runner
from report.sweeps import QUICK
from report.tables import Report

PARTS = {"peers": swe.part_peers, "swe": swe.part_swe, "adj": swe.part_adj, "growth": swe.part_growth,
         "columns": swe.part_columns, "small": small.part_small, "counts": small.part_counts,
         "brusselator": stiff.part_brusselator, "krylov": stiff.part_krylov, "stiff": stiff.part_stiff,
         "direct": stiff.part_direct, "inexact": stiff.part_inexact, "dae": dae.part_dae, "fekete": dae.part_fekete,
         "hybrid": events.part_hybrid, "second": second.part_second, "bvp": bvp.part_bvp, "scale": scale.part_scale,
         "papers": papers.part_papers, "trust": trust.part_trust, "auto": auto.part_auto,
         "model": model.part_model, "lanes": lanes.part_lanes, "wmethods": wmethods.part_wmethods}
WITHIN = {"wmethods"}                      # the end of another part, stiff; by its name alone
WITHOUT_PEERS = {"papers", "trust", "model"}

INTRODUCTION = """# Results of `./run bench`

Written whole by it, in one go of %.0f s. Seconds are of the processor, one thread; a row's are medians: in %d turns of
all codes of a table, each with a few runs after one that warms up. A ratio compares the rows of one turn with each
other, by interpolation at equal error on the front of each code; it is the median of the turns, beside it their range.
All codes call the same callbacks at the same tolerances; their objects are made beforehand, and reinitialised.

Columns: rej rejected steps; Jv, J'v, 2nd products with the Jacobian, its transpose, second derivatives; LU, cLU real
and complex decompositions; err y, err d relative 2-norm errors of y(tf) and of its tangent or gradient.
"""


def write_results(run, rep, where, began):
    with open(where, "w") as file:
        file.write(INTRODUCTION % (time.time() - began, run.turns))
        for title, lines in (("Machine and codes", machine() + codes(run)), ("Targets", rep.targets)):
            file.write("\n## %s\n\n%s\n" % (title, "\n".join("- " + line for line in lines)))
        file.write("\n## costate against its peers\n\n%s\n" % "\n".join(rep.ratio_lines()))
        file.write("\n## Tables\n%s\n" % "\n".join(rep.lines))
    print("written: " + where)


def add_results(run, rep, where, parts, began):
    """Sections of one run each, "Added: PARTS", stand behind what a whole run wrote."""
    title = "Added: " + " ".join(parts)
    with open(where) as file:
        kept = re.sub(r"\n## %s\n.*?(?=\n## Added: |\Z)" % re.escape(title), "", file.read(), flags=re.S)
    with open(where, "w") as file:
        file.write("%s\n\n## %s\n\nIn a run of its own of %.0f s, %d turns, as above.\n" % (
            kept.rstrip("\n"), title, time.time() - began, run.turns))
        for lines in (machine() + codes(run, not set(parts) <= WITHOUT_PEERS), rep.targets):
            if lines:
                file.write("\n%s\n" % "\n".join("- " + line for line in lines))
        file.write("\n%s\n%s\n" % ("\n".join(rep.ratio_lines()) if rep.ratios else "", "\n".join(rep.lines)))
    print("added to " + where)


def main():
    build, *parts = [a for a in sys.argv[1:] if a not in ("--quick", "--add")]
    unknown = [p for p in parts if p not in PARTS]
    if unknown:
        sys.exit("bench: no part %s; there are: %s" % (", ".join(unknown), " ".join(PARTS)))
    began, whole = time.time(), not parts and not QUICK
    results = os.path.join(os.path.dirname(__file__), "RESULTS.md")
    run = Runner(build, QUICK)
    rep = Report(run.out)
    print("\n".join(machine() + codes(run)))
    for part in parts or [name for name in PARTS if name not in WITHIN]:
        start, used = time.time(), os.times().children_user
        PARTS[part](run, rep)
        took = (part, time.time() - start, os.times().children_user - used)
        print("(%s took %.0f s, %.0f s of the processor)" % took, flush=True)
        if whole:                           # a run that is stopped leaves what it has
            write_results(run, rep, results, began)
    print("\nTargets\n\n" + "\n".join(rep.targets) + "\n\n" + "\n".join(rep.ratio_lines()))
    if parts and "--add" in sys.argv and not QUICK:
        add_results(run, rep, results, parts, began)
        return
    if not whole:
        write_results(run, rep, os.path.join(run.out, "RESULTS.md"), began)


if __name__ == "__main__":
    main()
