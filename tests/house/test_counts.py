"""Instructions of twenty small standard runs are those of counts.json to 2 %: a slow-down is seen when it is made.

    test_counts.py COUNTED "COMPILER VERSION" BUILDTYPE SANITIZE [--write]

COUNTED is the program of counted.c; callgrind counts inside its function counted_run.  The counts are those of one
compiler: with another one, without optimisation or with sanitizers there is nothing to compare (status 77).  A change
that is meant is written by --write, and its commit says why.  What got faster is to be written, too: else a later
slow-down would pass."""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "counts.json")
MOST = 0.02
# Counts are not to depend on the machine, or on who asks: the kernels of OpenBLAS that every x86-64 has, in one thread;
# all symbols found before main; no memory filled by malloc, as meson wants it.
ENVIRONMENT = dict(os.environ, OPENBLAS_NUM_THREADS="1", OPENBLAS_CORETYPE="Nehalem", LC_ALL="C", LD_BIND_NOW="1",
                   MALLOC_PERTURB_="0")


def counted(program, run):
    """(name, instructions) of one run"""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no",
                           "--toggle-collect=counted_run", program, str(run)], capture_output=True, text=True,
                          env=ENVIRONMENT)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        sys.exit("run %d: %s%s" % (run, done.stdout, done.stderr[-2000:]))
    return done.stdout.strip(), int(found[1])


def all_counted(program):
    runs = int(subprocess.run([program], capture_output=True, text=True, check=True).stdout)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(lambda run: counted(program, run), range(runs)))


def skipped(why):
    print("skipped: " + why)
    sys.exit(77)


def main(program, compiler, buildtype, sanitize, *options):
    if not shutil.which("valgrind"):
        skipped("valgrind is not there (Debian: valgrind)")
    if buildtype != "release" or sanitize != "none":
        skipped("counts are those of a release build without sanitizers")
    kept = json.load(open(KEPT)) if os.path.exists(KEPT) else {"compiler": compiler, "instructions": {}}
    if options:
        with open(KEPT, "w") as out:
            json.dump({"compiler": compiler, "instructions": all_counted(program)}, out, indent=1)
            out.write("\n")
        return 0
    if kept["compiler"] != compiler:
        skipped("the counts kept are those of %s, this is %s" % (kept["compiler"], compiler))
    now, passed, failed = all_counted(program), 0, 0
    for name in sorted(set(now) | set(kept["instructions"])):
        new, old = now.get(name), kept["instructions"].get(name)
        good = new and old and abs(new / old - 1) <= MOST
        print("%-6s %-60s %s, kept %s%s" % ("ok" if good else "FAILED", name, new, old,
                                            " (%.3f)" % (new / old) if new and old else ""))
        passed, failed = passed + bool(good), failed + (not good)
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
