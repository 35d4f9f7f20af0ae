"""What the part trust of the benchmark measures and counts: the program on a few rows, the counts on rows of our own.

    test_trust.py SOURCE PROGRAM     reports in the format of cmocka"""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile

root, program = sys.argv[1:3]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(root, "bench"))

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cases import run_all  # noqa: E402
from parts import trust  # noqa: E402
from report.tables import Report  # noqa: E402


def rows(*arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_three_kinds_of_steps():
    """van der Pol, mu = 5: a reference that another method confirms; shorter steps make the gradient better"""
    reference, *found = rows("steps", "vdpol_5", "dopri5", "1e-5")
    assert reference["set"] == "reference" and reference["error_derivative"] < 1e-8, reference
    assert [row["mode"] for row in found] == list(trust.MODES), found
    for row in found:
        assert row["status"] == 0 and row["error"] < 1e-3 and row["f"] > 6 * row["steps"] > 100, row
    plain, _, controlled = found
    assert controlled["steps"] > plain["steps"] and controlled["products"] > 6 * controlled["steps"], found
    assert controlled["error_derivative"] < plain["error_derivative"] / 3, found


def test_estimates_of_a_run():
    row, = rows("accuracy", "lv", "dopri5", "1e-5")
    assert row["family"] == "erk" and row["steps"] > 10 and len(row["errors"]) == len(trust.WHAT), row
    assert all(1e-10 < true < 1e-2 for true in row["errors"]), row
    assert all(trust.is_near(ratio) for _, _, ratio in trust.judged([row])), row


def test_a_gradient_to_a_tolerance():
    row, = rows("goal", "detest_A3", "bs54", "1e-5")
    assert trust.within(row) and 1 <= row["rounds"] <= 5 and 0 < row["worst"] <= 1, row


def test_hard_cases():
    """a jump of f in y: refused where it is missed, right where it is an event; closed forms, no failure"""
    found = [row for problem in ("relay", "relay_met", "pulse_met", "enzyme") for row in rows("cases", problem)]
    assert len(found) == 4 * 2 * 4 and all(row["set"] == "cases" for row in found), found
    assert trust.verdicts(found[:8]) == (0, 0, 8, 0, 0), found[:8]
    assert trust.verdicts(found[8:]) == (24, 0, 0, 0, 0), found[8:]
    near, count = trust.counted(list(trust.judged_cases(found)))
    assert near == count > 20, (near, count)
    reference, *of = rows("cases", "spike", "auto", "1e-4")
    assert reference["set"] == "reference" and reference["error"] < 1e-9 and len(of) == 1, reference


def test_judged_cases():
    """not what is below the doubt about the reference, or failed"""
    row = {"set": "cases", "problem": "a", "status": 0, "errors": [1e-3, 0, 1e-6], "estimates": [2e-3, 0, 1e-3]}
    doubt = {"set": "reference", "problem": "a", "error": 1e-6}
    assert [(k, ratio) for _, k, ratio in trust.judged_cases([doubt, row, row | {"status": -24}])] == [(0, 2)]
    assert [k for _, k, _ in trust.judged_cases([row])] == [0, 2]


def test_verdicts():
    row = {"status": 0, "alone": 0, "error": 1}
    assert trust.verdicts([row, row | {"error": 4}, row | {"error": None}]) == (3, 2, 0, 0, 0)
    refused = row | {"status": trust.ACCURACY}
    assert trust.verdicts([refused, refused | {"error": 4}, refused | {"error": None}]) == (0, 0, 3, 1, 0)
    failed = row | {"status": -6}
    assert trust.verdicts([failed, failed | {"alone": -6}]) == (0, 0, 0, 0, 1)


def test_estimates_of_a_product():
    row, = rows("products", "lv", "rodas4", "1e-4")
    assert row["family"] == "ros" and row["steps"] > 10 and all(1e-6 < true < 1 for true in row["errors"]), row
    assert max(row["unsure"]) < 1e-8 and all(trust.is_near(ratio) for _, _, ratio in trust.judged_products([row])), row


def test_a_product_to_a_tolerance():
    row, = rows("product_goal", "lv", "dopri5", "1e-5")
    assert row["error"] < trust.GOAL and 0 < row["worst"] <= 1 and 1 <= row["rounds"] <= 5, row


def test_all_of_a_problem():
    """implicit methods alone on stiff ones, explicit ones elsewhere, too"""
    families = {problem: {row["family"] for row in rows("accuracy", problem, "all", "1e-2")}
                for problem in ("orego", "detest_A3")}
    assert families["orego"] == {"sdirk", "firk", "ros", "composite"}, families
    assert families["detest_A3"] == {"sdirk", "firk", "ros", "erk", "rkc", "composite"}, families


def test_wrong_usage():
    for arguments in ([], ["speed"]):
        done = subprocess.run([program, *arguments], capture_output=True, text=True)
        assert done.returncode == 2 and "usage" in done.stderr and done.stdout == "", done


def test_part():
    """at its quick sizes: tables, targets, and the rows for the pictures"""
    class Quick:
        quick = True
    with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(io.StringIO()):
        os.symlink(os.path.realpath(program), os.path.join(place, "trust"))
        Quick.out = place
        report = Report(place)
        trust.part_trust(Quick, report)
        with open(os.path.join(place, "trust.json"), encoding="utf-8") as file:
            kept = [json.loads(line) for line in file]
    assert {row["set"] for row in kept} == {"reference", "steps", "accuracy", "goal", "cases", "products",
                                            "product goal"}
    assert len(report.targets) == 13 and not any("not measured" in line for line in report.targets), report.targets
    assert sum(line.startswith("### ") for line in report.lines) >= 7


def test_wrong_gradients_are_counted():
    """wrong where y is right, or not finite; not where y is wrong as well, or the run failed"""
    def row(y, d, status=0):
        return {"error": y, "error_derivative": d, "status": status}
    assert trust.is_wrong(row(1e-5, 0.2)) and trust.is_wrong(row(1e-5, None))
    assert not trust.is_wrong(row(1e-5, 0.05)) and not trust.is_wrong(row(1e-3, 5))
    assert not trust.is_wrong({"status": 1}) and not trust.is_wrong(row(None, None))


def test_estimates_are_counted():
    """not near: too small, too large, not finite.  Not counted: round-off, failed runs"""
    row = {"status": 0, "errors": [1e-3, 1e-4, 1e-5, 1e-12], "estimates": [1.1e-3, 4e-4, None, 1e-3]}
    found = list(trust.judged([row, {"status": 3}]))
    assert trust.counted(found) == (1, 3) and [k for _, k, _ in found] == [0, 1, 2], found


def test_products_are_counted():
    """not those below ten times the doubt about the reference"""
    row = {"status": 0, "errors": [1e-3, 1e-9], "estimates": [1.1e-3, 1e-6], "unsure": [1e-9, 2e-10]}
    assert [k for _, k, _ in trust.judged_products([row, {"status": 3}])] == [0]


def test_named_gradients_are_counted():
    """large and far above rtol; where y is right alone"""
    def run(error, found, rtol=1e-6, y=1e-5):
        return {"set": "steps", "mode": "stable", "status": 0, "error": y, "error_derivative": error, "estimate": found,
                "asked": rtol}
    lines = {}
    class Report:
        def plain_table(self, title, heads, rows):
            lines.update((row[0], row[1:]) for row in rows)
        def target(self, *values):
            pass
    steps = [run(0.5, 0.4), run(0.5, 0.02), run(0.5, None), run(0.05, 0.04), run(1e-3, 0.04, 1e-3), run(0.5, 0.4, y=1)]
    other = {"status": 0, "family": "ros", "errors": [1e-5, 1e-5, 0.5, 0.1], "sampled": 1, "asked": 1e-6}
    trust.sampled(Report(), {"steps": steps, "accuracy": [other, {"status": 3}]})
    assert lines == {"explicit, stable": [3, 2, 1, 1, 1, 0], "ros": [1, 1, 0, 0, 0, 0]}, lines


run_all(globals())
