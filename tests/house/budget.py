"""How much processor time tests may take: budget.toml, which ./run test and .ci/run are held to.

    budget.py FILE      FILE: a line for each section of .ci/run, NAME, seconds of wall time, seconds of processor time,
                        separated by tabs.  Prints them beside their budgets; ends with 1 when one takes more than half
                        as much again, or has no budget."""
import os
import sys
import tomllib

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "budget.toml")
MORE = 1.5                      # machines differ, and are shared


def read():
    with open(TABLE, "rb") as file:
        return tomllib.load(file)


def too_long(seconds):
    """A sentence for each program of ./run test that takes too long.  seconds: {name: processor seconds}"""
    budget = read()
    usual, reasons = budget["program"], budget["programs"]
    for name, time in sorted(seconds.items()):
        allowed = reasons[name][0] if name in reasons else usual
        if time > MORE * allowed:
            yield "%s takes %.1f s of processor time; tests/house/budget.toml allows %g" % (name, time, allowed)


def sections(lines):
    """(name, wall seconds, processor seconds, budget, sentence or None) of each section"""
    budget = read()["sections"]
    for line in lines:
        name, wall, time = line.rstrip("\n").split("\t")
        allowed = budget.get(name)
        wrong = "has no budget in tests/house/budget.toml" if allowed is None else \
            "exceeds its budget by more than half" if float(time) > MORE * allowed else None
        yield name, float(wall), float(time), allowed, wrong


def main(path):
    with open(path, encoding="utf-8") as file:
        found = list(sections(file))
    print("%8s %10s %8s" % ("wall", "processor", "budget"))
    for name, wall, time, allowed, wrong in found:
        print("%8.0f %10.0f %8s  %s%s" % (wall, time, "-" if allowed is None else "%g" % allowed, name,
                                          ": FAILED: " + wrong if wrong else ""))
    print("%8.0f %10.0f %8g  all" % (sum(x[1] for x in found), sum(x[2] for x in found),
                                     sum(x[3] or 0 for x in found)))
    return any(x[4] for x in found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
