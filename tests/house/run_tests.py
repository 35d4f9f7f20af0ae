"""Runs the tests of a build directory, counts their cases, and says which take long.

    run_tests.py BUILD [NAME...]              the last line counts cases: N passed, N failed
    run_tests.py --targets BUILD [NAME...]    what ninja must build for them

Cases are counted, not programs.  A case that was announced and did not report success has failed (crash, exit, time
out), and so has a program that fails without a failed case.  Processor seconds of each program are written to
BUILD/meson-logs/seconds.tsv.  With COSTATE_BUDGET in the environment (.ci/run) a program that takes more than
budget.toml allows is a failure, too."""
import fnmatch
import json
import os
import re
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from budget import slowness, too_long  # noqa: E402


def introspected(build, what):
    with open(os.path.join(build, "meson-info", f"intro-{what}.json"), encoding="utf-8") as file:
        return json.load(file)


def targets(build, names):
    """What the tests need; those of packaging read all that is installed."""
    tests = [t for t in introspected(build, "tests")
             if not names or any(fnmatch.fnmatch(t["name"], name.split(":")[-1]) for name in names)]
    wanted = {x for t in tests for x in t["depends"]}
    files = {os.path.relpath(name, os.path.realpath(build)) for target in introspected(build, "targets")
             if target["id"] in wanted for name in target["filename"]}
    return sorted(files | {"installed"})


def cases(text, good, skip):
    """(passed, failed, skipped) of a program with this output; cmocka 1.1.7 names the group, in one word or several"""
    announced = sum(int(n) for n in re.findall(r"\[=+\] (?:.*: )?Running (\d+) test", text))
    if announced == 0:                  # one case, without words
        return (0, 0, 1) if skip else (int(good), int(not good), 0)
    ok = len(re.findall(r"\[ +OK \]", text))
    left_out = sum(int(n) for n in re.findall(r"\[ +SKIPPED \] (?:.*: )?(\d+) test\(s\), listed below", text))
    left_out = max(0, min(left_out, announced - ok))
    return ok, max(announced - ok - left_out, 0 if good else 1), left_out


def processor_seconds(text):
    """what `timed` wrote behind the output of a program; None if it was killed"""
    found = re.search(r"^\[processor\]\n.*\n(\d+)m([\d.]+)s (\d+)m([\d.]+)s$", text, re.M)
    return found and sum(60 * int(found[k]) + float(found[k + 1]) for k in (1, 3))


def run(build, names):
    log = os.path.join(build, "meson-logs", "testlog-timed.json")       # Meson adds the name of the wrapper
    if os.path.exists(log):
        os.remove(log)
    status = subprocess.call(["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs",
                              "--wrapper", shlex.quote(os.path.join(HERE, "timed")), *names])
    if not os.path.exists(log):
        return status, []
    with open(log, encoding="utf-8") as file:
        return status, [json.loads(line) for line in file]


def main(build, *names):
    held = os.environ.get("COSTATE_BUDGET")
    slow = slowness() if held else 1
    status, tests = run(build, names)
    passed = failed = skipped = 0
    seconds = {}
    for test in tests:
        out = test.get("stdout") or ""
        good = test["result"] in ("OK", "SKIP", "EXPECTEDFAIL")
        ok, bad, left_out = cases(out + "\n" + (test.get("stderr") or ""), good, test["result"] == "SKIP")
        if bad:
            print("FAILED: %s (%d of its tests)" % (test["name"], bad))
        passed, failed, skipped = passed + ok, failed + bad, skipped + left_out
        seconds[test["name"].split(" / ")[-1]] = (processor_seconds(out) or test["duration"], ok + bad + left_out)
    if status != 0 and failed == 0:
        print("FAILED: meson test ended with status %d" % status)
        failed = 1
    with open(os.path.join(build, "meson-logs", "seconds.tsv"), "w", encoding="utf-8") as file:
        for name, (time, count) in sorted(seconds.items(), key=lambda x: -x[1][0]):
            file.write("%s\t%.2f\t%d\n" % (name, time, count))
    print("%.0f s of processor time in tests" % sum(time for time, _ in seconds.values()))
    if held:
        slow = max(slow, slowness())
        for sentence in too_long({name: time for name, (time, _) in seconds.items()}, slow):
            print("FAILED: " + sentence)
            failed += 1
    if skipped:
        print("%d skipped" % skipped)
    print("%d passed, %d failed" % (passed, failed))
    return 0 if passed > 0 and failed == 0 else 1


if __name__ == "__main__":
    if sys.argv[1] == "--targets":
        print(*targets(sys.argv[2], sys.argv[3:]))
    else:
        sys.exit(main(*sys.argv[1:]))
