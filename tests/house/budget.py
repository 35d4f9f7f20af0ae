"""How much processor time tests may take: budget.toml, which ./run test and .ci/run are held to.  Machines differ, and
are shared: a compiler that translates the same file each time says how slow this one is now.

    budget.py           prints how many times as long as on the machine of budget.toml that takes
    budget.py FILE      FILE: a line for each section of .ci/run, NAME, seconds of wall time, seconds of processor time,
                        that number, separated by tabs.  Prints them beside their budgets; ends with 1 when one takes
                        more than half as much again, or has no budget."""
import os
import resource
import subprocess
import sys
import tempfile
import tomllib

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "budget.toml")
MORE = 1.5                      # what a test and a compiler do differs
COMPILED = """
double work_%(k)d(int n, const double *a, double *b)
{
    double sum = %(k)d;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) b[i] -= a[i * n + j] * b[j];
        switch (i %% 4) {
        case 0: sum += b[i] > sum ? b[i] / a[i] : a[i] * b[i]; break;
        case 1: sum -= b[i] * (a[i] + %(k)d); break;
        default: b[i] = sum < a[i] ? sum : a[i] + b[i];
        }
    }
    return sum;
}
"""
COPIES = 100


def read():
    with open(TABLE, "rb") as file:
        return tomllib.load(file)


def slowness():
    """How many times as long as on the machine of budget.toml a compiler takes now, all processors being busy; at least
    1, because a machine may become slower while tests run"""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "work.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(COMPILED % {"k": k} for k in range(COPIES)))
        before, count = resource.getrusage(resource.RUSAGE_CHILDREN), os.cpu_count()
        running = [subprocess.Popen(["cc", "-O2", "-c", path, "-o", "%s/%d.o" % (place, k)]) for k in range(count)]
        if any([process.wait() for process in running]):
            raise RuntimeError("cc does not compile")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) / count
    return max(1.0, seconds / read()["compiler"])


def too_long(seconds, slow):
    """A sentence for each program of ./run test that takes too long.  seconds: {name: processor seconds}"""
    budget = read()
    usual, reasons = budget["program"], budget["programs"]
    for name, time in sorted(seconds.items()):
        allowed = reasons[name][0] if name in reasons else usual
        if time > MORE * slow * allowed:
            yield "%s takes %.1f s of processor time; tests/house/budget.toml allows %g, and a compiler takes %.2f " \
                "times as long as there" % (name, time, allowed, slow)


def sections(lines):
    """(name, wall seconds, processor seconds, slowness, budget, sentence or None) of each section"""
    budget = read()["sections"]
    for line in lines:
        name, wall, time, slow = line.rstrip("\n").split("\t")
        allowed = budget.get(name)
        wrong = "has no budget in tests/house/budget.toml" if allowed is None else \
            "exceeds its budget by more than half" if float(time) > MORE * float(slow) * allowed else None
        yield name, float(wall), float(time), float(slow), allowed, wrong


def main(path=None):
    if path is None:
        print("%.2f" % slowness())
        return 0
    with open(path, encoding="utf-8") as file:
        found = list(sections(file))
    print("%8s %10s %8s %8s" % ("wall", "processor", "budget", "slower"))
    for name, wall, time, slow, allowed, wrong in found:
        print("%8.0f %10.0f %8s %8.2f  %s%s" % (wall, time, "-" if allowed is None else "%g" % allowed, slow, name,
                                                ": FAILED: " + wrong if wrong else ""))
    print("%8.0f %10.0f %8g %8s  all" % (sum(x[1] for x in found), sum(x[2] for x in found),
                                         sum(x[4] or 0 for x in found), ""))
    return any(x[5] for x in found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
