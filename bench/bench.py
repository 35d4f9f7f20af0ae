"""bench.py BUILD [--quick] [--add] [PART...] - the benchmark: rows of all codes, targets, pictures, all in
BUILD/bench/RESULTS.md.

All parts, or those named with --add, replace what bench/RESULTS.md keeps of them."""
import os
import sys
import time

from parts import auto, bvp, dae, events, lanes, model, papers, python, scale, second, small, stiff, swe, \
    trust, wmethods
from peers.codes import codes, machine
from peers.runner import Runner
from report.results import part_of, read, written
from report.sweeps import QUICK
from report.tables import Report

PARTS = {"peers": swe.part_peers, "swe": swe.part_swe, "adj": swe.part_adj, "growth": swe.part_growth,
         "columns": swe.part_columns, "small": small.part_small, "counts": small.part_counts,
         "brusselator": stiff.part_brusselator, "krylov": stiff.part_krylov, "stiff": stiff.part_stiff,
         "direct": stiff.part_direct, "inexact": stiff.part_inexact, "dae": dae.part_dae, "fekete": dae.part_fekete,
         "hybrid": events.part_hybrid, "second": second.part_second, "bvp": bvp.part_bvp, "scale": scale.part_scale,
         "papers": papers.part_papers, "trust": trust.part_trust, "auto": auto.part_auto,
         "model": model.part_model, "lanes": lanes.part_lanes, "wmethods": wmethods.part_wmethods,
         "python": python.part_python}
WITHOUT_PEERS = {"papers", "trust", "model", "python"}


def lines_of_run(run, part, seconds):
    made = machine() + codes(run, part not in WITHOUT_PEERS)
    return ["%s, %d turns, %.0f s" % (made[0].removeprefix("date: "), run.turns, seconds)] + made[1:]


def write_all(where, done):
    """all that the parts said; done: {part: (lines of its run, its report)}"""
    with open(where, "w") as file:
        for part, (ran, rep) in done.items():
            lists = ["\n".join("- " + line for line in lines) for lines in (ran, rep.targets) if lines]
            ratios = ["\n".join(rep.ratio_lines())] if rep.ratios else []
            file.write("## %s\n\n%s\n%s\n\n" % (part, "\n\n".join(lists + ratios), "\n".join(rep.lines)))
    print("written: " + where)


def keep(where, done):
    """The parts that were run replace theirs in bench/RESULTS.md."""
    with open(where) as file:
        parts = read(file.read())
    parts.update({part: part_of(part, ran, rep) for part, (ran, rep) in done.items()})
    with open(where, "w") as file:
        file.write(written({part: parts[part] for part in PARTS if part in parts}))
    print("written: " + where)


def main():
    build, *parts = [a for a in sys.argv[1:] if a not in ("--quick", "--add")]
    unknown = [p for p in parts if p not in PARTS]
    if unknown:
        sys.exit("bench: no part %s; there are: %s" % (", ".join(unknown), " ".join(PARTS)))
    kept = not QUICK and (not parts or "--add" in sys.argv)
    run, done = Runner(build, QUICK), {}
    print("\n".join(machine() + codes(run)))
    for part in parts or PARTS:
        start, used = time.time(), os.times().children_user
        rep = Report(run.out)
        PARTS[part](run, rep)
        took = (part, time.time() - start, os.times().children_user - used)
        print("(%s took %.0f s, %.0f s of the processor)" % took, flush=True)
        done[part] = lines_of_run(run, part, took[1]), rep
        write_all(os.path.join(run.out, "RESULTS.md"), done)        # a run that is stopped leaves what it has
        if kept:
            keep(os.path.join(os.path.dirname(__file__), "RESULTS.md"), {part: done[part]})
    reports = [rep for _, rep in done.values()]
    print("\nTargets\n\n" + "\n".join(line for rep in reports for line in rep.targets))
    print("\n" + "\n".join(line for rep in reports if rep.ratios for line in rep.ratio_lines()))


if __name__ == "__main__":
    main()
