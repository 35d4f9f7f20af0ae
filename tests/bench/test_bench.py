"""What the benchmark says of its numbers is so: ratios at equal error, misses said as such, peers left out aloud.

    test_bench.py SOURCE     reports in the format of cmocka"""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile

root = sys.argv[1]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(root, "bench"))

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cases import Skipped, run_all  # noqa: E402
import bench  # noqa: E402
import demo  # noqa: E402
from parts import auto, bvp as bvp_part, lanes, papers as paper_part, second, wmethods  # noqa: E402
import recommend  # noqa: E402
from report import results, trust_pictures  # noqa: E402
from report.tables import Gain, Report, faster_at, gain  # noqa: E402


def rows(errors, seconds_of, slower=(1, 1, 1)):
    """as bench.py's sweep leaves them: one turn a factor"""
    turns = [[{"error": e, "seconds": f * seconds_of(e)} for f in slower] for e in errors]
    return [dict(t[0], turns=t) for t in turns]


def test_ratio_of_two_power_laws():
    """time = c error^(-1/4): lines in the log-log plane, which interpolation hits; their quotient is that of the c"""
    ours = rows([1e-2, 1e-4, 1e-8], lambda e: 3 * e ** -0.25)
    theirs = rows([3e-3, 1e-5, 1e-6, 1e-9], lambda e: 6 * e ** -0.25)
    found = gain(ours, theirs, "error")
    assert all(abs(x - 2) < 1e-12 for x in found), found


def test_ratio_compares_within_a_turn():
    """A machine three times slower in the second turn, for all codes, changes no ratio."""
    ours = rows([1e-2, 1e-8], lambda e: e ** -0.25, (1, 3, 1))
    theirs = rows([1e-2, 1e-8], lambda e: 2 * e ** -0.25, (1, 3, 1))
    found = gain(ours, theirs, "error")
    assert all(abs(x - 2) < 1e-12 for x in found), found


def test_times_at_the_error_of_one_row():
    """Between ours by interpolation; a row that is worse than all of ours meets the cheapest; a better one none."""
    ours = rows([1e-2, 1e-6], lambda e: e ** -0.25)
    for e, times in ((1e-4, 5), (1e-2, 5), (1, 5 * 1e-2 ** 0.25)):
        peer = rows([e], lambda e: 5 * e ** -0.25)[0]
        assert all(abs(x - times) < 1e-12 for x in faster_at(ours, peer, "error")), (e, times)
    assert faster_at(ours, rows([1e-8], lambda e: 1)[0], "error") is None


def reported(place, *targets):
    """of the part bvp: a table that is kept, one that is not, and targets (text, reached)"""
    with contextlib.redirect_stdout(io.StringIO()):
        report = Report(place)
        for text, reached in targets:
            report.target(text, reached, 1)
        report.ratio("p, rtol 0.0001", "gauss4", "SciPy", Gain(2, 1, 4))
        report.ratio("p, rtol 1e-06", "gauss5", "SciPy", Gain(4, 4, 4))
        report.plain_table("Growth with intervals", ["a"], [["1"]])
        report.plain_table("Intervals of the last mesh, tolerance", ["N"], [["7"]])
        report.say("target: behind the table")
    return report


def test_results_keep_what_is_of_each_part():
    """targets in a row for the same limit, misses bold; one table; other parts stay when a part is measured again"""
    with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(io.StringIO()):
        where = os.path.join(place, "RESULTS.md")
        with open(os.path.join(root, "bench", "RESULTS.md"), encoding="utf-8") as file:
            before = file.read()
        with open(where, "w", encoding="utf-8") as file:
            file.write(before)
        report = reported(place, ("a: x at rtol 0.1", 0.5), ("a: x at rtol 0.2", 2), ("b: x", None), ("y", 0.25))
        bench.keep(where, {"bvp": (["now, 3 s", "here"], report)})
        with open(where, encoding="utf-8") as file:
            after = file.read()
    assert "\n- bvp (3 s): now; here\n" in after
    after = results.read(after)
    before = results.read(before)
    assert after.pop("bvp") == results.Part("now, 3 s; here", [
        "| x | <= 1 | a: 0.5 at 0.1, **2** at 0.2; b: not measured |", "| y | <= 1 | 0.25 |"], [
        "| p | gauss4 or gauss5 | SciPy | 0.50 (0.25 to 1.00), 0.25 (0.25 to 0.25) |"],
        "### bvp: Intervals of the last mesh, tolerance\n\n```\nN\n7\n```"), after
    assert before.pop("bvp") and after == before and list(after) == [x for x in bench.PARTS if x in after]


def test_kept_results():
    """are as their reader writes them, of parts that there are, each with a table where one is named, and short"""
    with open(os.path.join(root, "bench", "RESULTS.md"), encoding="utf-8") as file:
        text = file.read()
    parts = results.read(text)
    assert results.written(parts) == text and set(parts) <= set(bench.PARTS) and text.count("\n") < 650
    assert {name for name, part in parts.items() if part.table} == set(results.SHOWN)


def test_no_ratio_without_a_common_error():
    assert gain(rows([1e-2, 1e-3], lambda e: 1 / e), rows([1e-5, 1e-6], lambda e: 1 / e), "error") is None


def test_verdicts():
    with contextlib.redirect_stdout(io.StringIO()):
        report = Report(".")
        for reached, limit, at_least in ((2, 1, True), (0.5, 1, True), (2, 1, False), (None, 1, True)):
            report.target("x", reached, limit, at_least)
    verdicts = [line.split(": ")[1] for line in report.targets]
    assert verdicts == ["met (2)", "MISSED (reached 0.5)", "MISSED (reached 2)", "not measured"], verdicts


class Failing:
    """a runner whose rows all failed, without valgrind, and without PETSc"""
    turns, has = 1, {"petsc": False}

    def row(self, *_, **__):
        return {"status": 1, "message": "it failed"}

    def instructions(self, *_, **__):
        return None

    instructions_of = instructions


def test_hessian_products_that_fail_are_said_to():
    with contextlib.redirect_stdout(io.StringIO()):
        report = Report(".")
        second.part_second(Failing(), report)
    assert report.targets and all(line.endswith(": not measured") for line in report.targets), report.targets
    assert any("PETSc is not there" in line for line in report.lines), report.lines


def test_costs_of_hessian_products():
    """0.5 of a forward run, ten directions 3 times that, 700 instructions in 200"""
    class Runs(Failing):
        def row(self, *_, mode="adj", flags=(), **__):
            ten = "10" in flags
            return {"plain": 2.0, "ratio": 1.5, "ratio_backward": 1.5 if ten else 0.5, "n": 1, "accepted": 1, "f": 7 if
                    mode == "second" else 3}

        def instructions(self, *_, **__):
            return 200

        def instructions_of(self, *_, **__):
            return 700

    with contextlib.redirect_stdout(io.StringIO()):
        row = second.second_row(Runs(), "ros", "rodas4", "umfpack", 20, True)
    assert row["time"] == 0.5 and row["ten"] == [3, 3] and row["instructions"] == 3.5, row
    assert [counts[2:4] for counts in row["counts"]] == [["forward", 3], ["product", 4]], row


def papers(run):
    """the report of the part papers, and the tables of its text"""
    with contextlib.redirect_stdout(io.StringIO()):
        report = Report(".")
        paper_part.part_papers(run, report)
    return report.lines, "\n".join(report.lines).split("```\n")[1::2]


def test_w_methods_meet_the_best_of_cvodes():
    """time = c error^(-1/4), c = 1 with ADI, 2 with multigrid of one cycle, 5 with two; of CVODES 9 with ILU(0), 4 with
    multigrid, 3.5 with the reaction in it on the right, 2 with ADI, which is not among the two that are asked for"""
    class Runs(Failing):
        turns, peer, has, asked = 1, "cvodes", {"arkode": False}, set()

        def row(self, code, _, solver="auto", rtol=1e-6, mode="adj", flags=(), **__):
            kind = "ilu0" if "--ilu" in flags else flags[1] if flags else ""
            self.asked.add((code, mode, kind, "--right" in flags))
            if code == "cvodes:bdf":
                name = "cvodes bdf gmres+" + kind
                factor = {"ilu0": 9, "multigrid": 4, "reaction": 3.5 if "--right" in flags else 5, "adi": 2}[kind]
            else:
                name = code.split(":")[1] + (" " + solver if solver != "auto" else "")
                factor = {"adi": 1, "multigrid": 5 if "--cycles" in flags else 2, "": 50}[kind]
            return {"name": name, "asked": rtol, "error": rtol, "error_derivative": rtol, "code": code, "status": 0,
                    "seconds": factor * rtol ** -0.25, "forward": 1.0, "backward": 1.0}

    with contextlib.redirect_stdout(io.StringIO()):
        report = Report(".")
        report.picture = lambda *_: None
        for mode, error in (("forward", "error"), ("adj", "error_derivative")):
            wmethods.one_problem(Runs(), report, "x", 8, mode, error, 0)
    found = {line.split(" at its error")[0]: line.split(": ")[-1] for line in report.targets}
    best, ilu = "times faster than CVODES with its best preconditioner", "times faster than CVODES with ILU(0)"
    assert found == {"x 8, forward: w6s4os adi, " + best: "met (3.5)", "x 8, forward: w6s4os adi, " + ilu: "met (9)",
                     "x 8, forward: w6s4os multigrid, " + best: "met (1.75)",
                     "x 8, gradient: w6s4os adi, " + best: "met (3.5)",
                     "x 8, gradient: w6s4os multigrid, " + best: "met (1.75)"}, found


def test_tables_of_papers_say_what_failed():
    lines, tables = papers(type("Run", (Failing,), {"quick": True})())
    assert len(tables) == 5 and all("failed" in row for table in tables for row in table.splitlines()[1:]), tables
    assert sum(line.startswith("failed: ") and line.endswith(": it failed") for line in lines) == 5, lines


def test_ratios_of_tables_of_papers_are_of_one_turn():
    """SuperLU takes 4, dense 8, UMFPACK 2 s; two directions 3, one 2.  The machine is 1, 5, 2 times slower in the three
    turns; in the last something else slows all but what takes 2 s by 3, which the median leaves out."""
    class Runs(Failing):
        turns, quick = 3, True

        def row(self, code, problem, solver="auto", mode="adj", flags=(), turn=0, **_):
            slow = (1, 5, 2)[turn]
            seconds = 3 if "--directions" in flags else {"dense": 8, "superlu": 4}.get(solver, 2)
            seconds *= slow * (3 if turn == 2 and seconds != 2 else 1)
            keys = ("f", "jac", "steps", "rejected", "decompositions", "complex", "solves", "complex_solves", "plain",
                    "ratio", "ratio_backward", "tape_bytes", "peak_bytes", "error", "error_derivative")
            return dict.fromkeys(keys, 7) | {"status": 0, "seconds": seconds, "backward": seconds, "gradient": [1, 2],
                                             "functional": [54]}

    _, tables = papers(Runs())
    fatode, heat = ([line.split() for line in table.splitlines()[1:]] for table in tables[:2])
    assert {(row[2], row[10], row[14]) for row in fatode} == {
        ("dense", "40", "4.00"), ("umfpack", "4", "1.00"), ("superlu", "20", "2.00")}, fatode
    assert all(row[10:12] == ["1.50", "1.50"] for row in heat), heat


def test_boundary_values_that_fail_are_said_to():
    """without the program, SciPy and TWPBVP"""
    bvp_part.scipy_python = lambda: None
    run = type("Run", (), {"out": "nowhere", "turns": 1, "budget": 0.1, "quick": True})
    with contextlib.redirect_stdout(io.StringIO()):
        report = Report(".")
        bvp_part.part_bvp(run, report)
    assert report.targets and all(line.endswith(": not measured") for line in report.targets), report.targets
    for peer in ("SciPy", "TWPBVP"):
        assert any(line.startswith(peer + " is not there") for line in report.lines), report.lines


def test_intervals_of_wrong_solutions_do_not_count():
    assert bvp_part.number({"status": 0, "error": 1e-4, "intervals": 9}, 1e-6) == "wrong"
    assert bvp_part.number({"status": 1, "error": None, "intervals": 9}, 1e-6) == "failed"
    assert bvp_part.number({"status": 0, "error": 1e-7, "intervals": 9}, 1e-6) == "9"


def powers(order, factor, errors=(1e-1, 1e-3, 1e-5, 1e-7, 1e-9, 1e-11)):
    """runs of a method, work = factor error^(-1/order)"""
    return [{"method": "x", "problem": "p", "block": 1, "error": e, "gradient": e,
             "forward": [factor * e ** (-1 / order)] + [0] * 8, "whole": [2 * factor * e ** (-1 / order)] + [0] * 8}
            for e in errors]


def work_at(runs, e):
    return recommend.at_error(runs, lambda run: run["error"], lambda run: run["forward"][0], e)


def test_work_at_an_error():
    """a line in logarithms; the loosest run, where all are better; none, where none is; after the last that is worse"""
    runs = powers(4, 3)
    assert abs(work_at(runs, 1e-6) / (3 * 1e-6 ** -0.25) - 1) < 1e-12
    assert work_at(runs, 1) == runs[0]["forward"][0] and work_at(runs, 1e-12) is None
    runs[1]["error"] = 1e-8                                            # by chance: the next are worse
    assert abs(work_at(runs, 1e-6) / (3 * 1e-6 ** -0.25) - 1) < 1e-12


def test_recommended_are_those_of_least_work_that_reach_the_error():
    """rodas4 twice as dear as dopri5 on one problem, half as dear on the other; tsit5 ends at 1e-5 on one"""
    about = {"trait": "t", "prices": "small"}
    found = {"a": {"about": about, "dopri5": powers(4, 1), "rodas4": powers(4, 2.2), "tsit5": powers(4, 0.1)},
             "b": {"about": about, "dopri5": powers(4, 2), "rodas4": powers(4, 1), "tsit5": powers(4, 0.1)[:3]}}
    kept = recommend.kept_of(found)
    means = recommend.means(kept, "t", "value", recommend.ALL, 3)
    assert set(means) == {"dopri5", "rodas4"} and means["dopri5"] == 1, means
    assert abs(means["rodas4"] - 1.1 ** 0.5) < 1e-3, means
    assert recommend.one_for_all([means, {"rodas4": 1, "dopri5": 1.01}])[0] == "dopri5"
    assert set(recommend.means(kept, "t", "gradient", ("ros",), 3)) == {"rodas4"}


def recommended():
    """{(row of recommend.ROWS): the methods of its cells} as docs/explanation/choosing.md has them; its text"""
    with open(recommend.DOCUMENT, encoding="utf-8") as file:
        text = file.read()
    lines = text[text.index("| " + recommend.HEAD):].split("\n\n")[0].split("\n")[2:]
    names = [[re.findall("`([a-z0-9]+)`", cell) for cell in line.split("|")[2:]] for line in lines]
    assert [line.split("|")[1].strip() for line in lines] == [row[0] for row in recommend.ROWS]
    return {row: set(sum(cells, [])) for row, cells in zip(recommend.ROWS, names)}, text


def test_table_is_replaced_alone():
    text = "a\n\n| %s | 1 |\n|---|---|\n| x | `y` |\n\nb | c\n" % recommend.HEAD
    assert recommend.spliced(text, "| new |\n| z |") == "a\n\n| new |\n| z |\n\nb | c\n"


def test_table_of_recommendations():
    """names methods that there are, of the families of each row"""
    families = recommend.family_of()
    for row, names in recommended()[0].items():
        assert names and all(families.get(name) in row[3] for name in names), (row, names)


def test_advice_is_that_of_the_table():
    """methods of the short answers are among the best somewhere in a row of their kind of problem"""
    table, text = recommended()
    short = text[text.index("## Which method"):text.index("### Measured")]
    traits = {"not stiff": "not stiff", "stiff": "stiff", "[parabolic": "parabolic", "DAE M y'": "singular",
              "DAE in residual form": "index 2"}
    seen = set()
    for line in short.splitlines():
        start = next((start for start in traits if line.startswith("| " + start)), None)
        for name in re.findall("`([a-z0-9]+)`", line.split("|")[2]) if start else ():
            seen.add(start)
            if name in (composite for composite, *_ in auto.COMPOSITES):      # the part auto has their work
                continue
            assert any(name in names for row, names in table.items() if row[1] == traits[start]), (start, name)
    assert seen == set(traits), seen


def composite_run(error, work, status=0, rtol=1e-3):
    return {"status": status, "error": error, "gradient": error, "rtol": rtol, "block": 1,
            "forward": [work] + [0] * 8, "whole": [2 * work] + [0] * 8}


def cells_of(*runs):
    """of two single methods, 3 error^(-1/4) and error^(-1/2): the first is better below 1/81"""
    rows = {"p": {"about": {"prices": "small"}, "bs54": powers(4, 3), "rodas4": powers(2, 1), "composite auto": runs}}
    return auto.ratios(rows, "auto", ("rodas4", "bs54", "tsit5"), "value", "error")


def test_work_of_composite_methods_over_the_best_at_their_error():
    """and not at their tolerance; errors are at least ENOUGH; a failed run is worse than any, a run better than all
    single ones is not compared"""
    cells = cells_of(composite_run(1e-4, 60, rtol=1e-3), composite_run(1e-2, 30, rtol=1e-5),
                     composite_run(1e-15, 6, rtol=1e-7), composite_run(None, 0, status=-1, rtol=1e-9))["p"]
    assert cells[1e-3][1] == "bs54" and abs(cells[1e-3][0] - 60 / 30) < 1e-12, cells
    assert cells[1e-5][1] == "bs54" and abs(cells[1e-5][0] - 30 / (3 * 1e-2 ** -0.25)) < 1e-12, cells
    assert abs(cells[1e-7][0] - 6 / (3 * auto.ENOUGH ** -0.25)) < 1e-12, cells
    assert cells[1e-9] == (float("inf"), "-"), cells
    assert cells_of(composite_run(0.05, 9))["p"][1e-3][1] == "rodas4"
    found = auto.ratios({"p": {"about": {"prices": "small"}, "bs54": powers(4, 3, (1e-1, 1e-3)),
                               "composite auto": [composite_run(1e-4, 1)]}}, "auto", ("bs54",), "value", "error")
    assert found == {"p": {1e-3: (None, "-")}}, found


def test_times_of_composite_methods_over_the_best_at_their_error():
    """times that are not in proportion to work: rodas4 takes error^(-1/2), bs54 4 error^(-1/2) seconds, a gradient
    twice as much; an error of 1 is no solution"""
    def timed(runs, factor):
        return [dict(run, forward_time=factor * run["error"] ** -0.5, time=2 * factor * run["error"] ** -0.5)
                for run in runs]
    rows = {"p": {"about": {"prices": "small"}, "bs54": timed(powers(4, 3), 4), "rodas4": timed(powers(2, 1), 1),
                  "composite auto": timed([composite_run(1e-4, 60), composite_run(1.0, 60, rtol=1e-5)], 1.5)}}
    for which in ("value", "gradient"):
        cells = auto.ratios(rows, "auto", ("bs54", "rodas4"), which, "error", by_time=True)["p"]
        assert cells[1e-3][1] == "rodas4" and abs(cells[1e-3][0] - 1.5) < 1e-12, cells
        assert cells[1e-5] == (None, "-"), cells


def test_times_are_the_least_of_the_turns():
    """each time of each run by itself; lines about problems have none, and runs without a gradient no time of it"""
    def turn(*times):
        runs = [{"problem": "p", "method": "m", "composite": k, "forward_time": forward, "time": whole}
                for k, (forward, whole) in enumerate(times)]
        return [{"problem": "p", "prices": "small"}, *runs]
    lines = auto.least_times(iter([turn((3, 8), (2, None)), turn((4, 7), (1, None)), turn((5, 9), (6, None))]))
    found = auto.by_problem(lines, {"auto": "m"})["p"]
    assert [(run["forward_time"], run["time"]) for run in found["m"] + found["composite auto"]] == [(3, 7), (1, None)]
    try:
        auto.least_times([turn((1, 1)), turn((1, 1), (2, 2))])
        assert False, "runs were dropped"
    except ValueError:
        pass


def test_gradients_of_composite_methods_with_blocks_of_several_sizes():
    """direct systems on the way back: 2 of 3 stages and 1 of 7, each n factor 10 at n stages 10 (s^2 - 1) more"""
    run = {"block": (2 * 3 + 7) / 3, "block_squared": (2 * 9 + 49) / 3, "forward": [0] * 9,
           "whole": [0] * 4 + [3] + [0] * 3 + [3]}
    assert abs(recommend.work_of(run, "gradient", recommend.PRICES["small"]) - 10 * (2 * 9 + 49)) < 1e-12


def test_targets_of_composite_methods_are_missed_where_a_cell_fails():
    with contextlib.redirect_stdout(io.StringIO()):
        report = Report(".")
        for runs in ((composite_run(1e-4, 30),), (composite_run(1e-4, 60),), (composite_run(None, 0, status=-1),)):
            cells = cells_of(*runs)
            auto.ratio_table(report, "work", cells)
            auto.summary(report, "work", cells, 1.2, 1.5)
    verdicts = [line.split(": ")[-1].split(" ")[0] for line in report.targets]
    assert verdicts == ["met", "met", "MISSED", "MISSED", "MISSED", "MISSED"], report.targets
    assert "| p | 1.00 bs54 | - | - | - |" in report.lines and "| p | failed | - | - | - |" in report.lines


def test_other_codes_meet_auto_with_the_best_of_their_ways():
    """time = c error^(-1/4), c = 1 of auto, 2 of CVODES with Adams, 3 with BDF, 5 and 4 of LSODA, in three turns of
    which the second is slower; LSODA is left out where it is not there"""
    class Runs(Failing):
        turns, peer, quick = 3, "cvodes", True

        def row(self, code, _, solver="auto", rtol=1e-6, turn=0, **__):
            factor = {"costate:auto": 1, "cvodes:bdf": 3, "cvodes:adams": 2, "lsoda:jacobian": 5}.get(code, 4)
            return {"name": code.replace(":", " "), "asked": rtol, "error": rtol, "code": code.split(":")[0],
                    "status": 0, "seconds": (1, 3, 1)[turn] * factor * rtol ** -0.25, "forward": 1.0,
                    "backward": 0.0}

    for there in (True, False):
        run = Runs()
        run.has = {"cvodes": True, "lsoda": there}
        with contextlib.redirect_stdout(io.StringIO()):
            report = Report(".")
            auto.race(run, report)
        rows = [line for line in report.lines if line.startswith("| lv")]
        lsoda = "4.00 | 4.00 to 4.00 | lsoda differences" if there else "- | - | -"
        assert rows == ["| lv | %s | 2.00 | 2.00 to 2.00 | cvodes adams | %s |" % (rtol, lsoda)
                        for rtol in ("1e-03", "1e-05")], rows
        assert (["lv: auto, times faster than LSODA at its error at rtol %s >= 1: met (4)" % rtol
                 for rtol in ("1e-03", "1e-05")] == report.targets[6:8]) == there, report.targets
        assert there == (not any("LSODA could not be built" in line for line in report.lines)), report.lines


def test_targets_of_lanes():
    """The lesser of two tolerances counts, and other methods do not; 4 lanes need 60 % of what 8 do, 2 lanes have no
    target."""
    def verdict(width):
        rows = [{"model": "pollution", "method": method, "rtol": rtol, "mode": "forward", "elimination": "dense",
                 "lanes": width, "over_dense": ratio}
                for method, rtol, ratio in (("rodas4", 1e-4, 2.9), ("rodas4", 1e-6, 4.0), ("ros3", 1e-4, 1.5))]
        with contextlib.redirect_stdout(io.StringIO()):
            report = Report(".")
            lanes.targets(report, rows)
        return [line.split(" >= ")[1] for line in report.targets if line.startswith("pollution, forward, dense")]

    assert verdict(8) == ["3.6: MISSED (reached 2.9)"], verdict(8)
    assert verdict(4) == ["2.16: met (2.9)"], verdict(4)
    assert verdict(2) == ["3.6: not measured"], verdict(2)


def needs_matplotlib():
    try:
        import matplotlib
    except ImportError:
        raise Skipped("no matplotlib") from None
    matplotlib.use("Agg")


def test_runs_that_failed_are_not_in_pictures():
    """of work against error on parabolic problems, one for each diffusion: neither as points nor in the legend"""
    needs_matplotlib()
    made = trust_pictures.parabolic([
        {"diffusion": diffusion, "method": method, "status": method == "rock4", "error_gradient": error, "both": 1}
        for diffusion in (1, 100) for method in ("w6s4os", "rock4", "check") for error in (1e-3, 1e-5)])
    assert sorted(made) == ["parabolic-1", "parabolic-100"]
    for picture in made.values():
        ax, = picture.axes
        line, = ax.lines
        shown = [text.get_text() for text in ax.get_legend().get_texts()]
        assert len(line.get_xdata()) == 2 and shown == [trust_pictures.PARABOLIC["w6s4os"]], shown


def test_picture_of_estimates():
    """has a point for each error that is known, beside the lines of the factors that estimates should be within"""
    needs_matplotlib()
    known = trust_pictures.KNOWN
    picture = trust_pictures.scatter([{"errors": [1e-3, 0.1 * known, 1e-5], "estimates": [2e-3, 1, 0]},
                                      {"errors": [1e-4], "estimates": [1e-4]}])
    points, *lines = picture.axes[0].lines
    assert list(points.get_xdata()) == [1e-3, 1e-4] and list(points.get_ydata()) == [2e-3, 1e-4]
    assert [line.get_ydata()[1] / line.get_xdata()[1] for line in lines] == list(trust_pictures.NEAR)


def test_peers_that_cannot_be_had_are_left_out_aloud():
    with tempfile.TemporaryDirectory() as place:
        for command in ("apt-get", "apt-cache", "dpkg-query"):
            with open(os.path.join(place, command), "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nexit 100\n")
            os.chmod(os.path.join(place, command), 0o755)
        done = subprocess.run(["sh", os.path.join(root, "bench", "peers", "build.sh")], capture_output=True, text=True,
                              env=dict(os.environ, PATH=place + ":" + os.environ["PATH"], XDG_CACHE_HOME=place))
        left = os.listdir(os.path.join(place, "costate-bench"))
    assert done.returncode == 0 and done.stdout.strip() == "", done
    assert "no source of sundials" in done.stderr and "no source of r-cran-desolve" in done.stderr, done.stderr
    assert left == [], left


class Invented:
    """stands for demo.Runs: every run takes the same steps and seconds, or fails"""

    def __init__(self, status, seconds):
        self.status, self.seconds = status, seconds

    def row(self, method, problem, rtol=1e-6, **more):
        counts = dict.fromkeys(("steps", "rejected", "f", "jac", "decompositions", "complex"), 7)
        times = dict.fromkeys(("forward", "backward", "seconds"), self.seconds)
        return {"status": self.status, "message": "it failed", "solver": "dense", "error": 1e-6,
                "error_derivative": 1e-5, **counts, **times}


def said(status, seconds):
    """paragraphs of the parts of the demonstration that print tables"""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        for part in (demo.robertson, demo.smog, demo.water, demo.derivatives, demo.plane):
            part(Invented(status, seconds))
    return [lines for lines in text.getvalue().split("\n\n") if lines.strip()]


def test_tables_of_the_demonstration_are_explained():
    """A paragraph before each table and one after it; also where the clock is too coarse, or all runs fail, it ends."""
    paragraphs = said(0, 0.5)
    tables = [k for k, text in enumerate(paragraphs) if text.strip().startswith("method ")]
    assert len(tables) == 5, len(tables)
    for k in tables:
        before = [text for text in paragraphs[:k] if not text.startswith("dopri5 ")][-1]     # what smog extrapolates
        assert all(re.search(r"[a-z].*[.:]$", text.strip(), re.S) for text in (before, paragraphs[k + 1])), k
    said(0, 0.0)
    said(1, None)


run_all(globals())
