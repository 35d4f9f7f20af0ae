"""What ./run test prints last is true: cases are counted as both versions of cmocka write them, and programs and
sections that take too long are named.

    test_budget.py SOURCE       reports in the format of cmocka"""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
root = sys.argv[1]
sys.path[:0] = [os.path.join(root, "tests", "house"), os.path.join(root, "tests")]

import budget  # noqa: E402
import run_tests  # noqa: E402
from cases import run_all  # noqa: E402

# What cmocka 1.1.5 and 1.1.7 wrote of one program with three groups: two cases pass and one is skipped; one fails and
# one passes; and in the last, which has a name of several words, a case ends the program.
OLD = """[==========] Running 3 test(s).
[ RUN      ] good
[       OK ] good
[ RUN      ] left_out
[  SKIPPED ] left_out
[ RUN      ] good
[       OK ] good
[==========] 3 test(s) run.
[  PASSED  ] 2 test(s).
[  SKIPPED ] 1 test(s), listed below:
[  SKIPPED ] left_out

 1 SKIPPED TEST(S)
[==========] Running 2 test(s).
[ RUN      ] wrong
[  ERROR   ] --- 0x1 != 0x2
[   LINE   ] --- c.c:9: error: Failure!
[  FAILED  ] wrong
[ RUN      ] good
[       OK ] good
[==========] 2 test(s) run.
[  PASSED  ] 1 test(s).
[  FAILED  ] 1 test(s), listed below:
[  FAILED  ] wrong

 1 FAILED TEST(S)
[==========] Running 3 test(s).
[ RUN      ] good
[       OK ] good
[ RUN      ] ends
"""
NEW = """[==========] tests: Running 3 test(s).
[ RUN      ] good
[       OK ] good
[ RUN      ] left_out
[  SKIPPED ] left_out
[ RUN      ] good
[       OK ] good
[==========] tests: 3 test(s) run.
[  PASSED  ] 2 test(s).
[  SKIPPED ] tests: 1 test(s), listed below:
[  SKIPPED ] left_out

 1 SKIPPED TEST(S)
[==========] what fails: all of it: Running 2 test(s).
[ RUN      ] wrong
[  ERROR   ] --- 0x1 != 0x2
[   LINE   ] --- c.c:9: error: Failure!
[  FAILED  ] wrong
[ RUN      ] good
[       OK ] good
[==========] what fails: all of it: 2 test(s) run.
[  PASSED  ] 1 test(s).
[  FAILED  ] what fails: all of it: 1 test(s), listed below:
[  FAILED  ] wrong

 1 FAILED TEST(S)
[==========] what ends: Running 3 test(s).
[ RUN      ] good
[       OK ] good
[ RUN      ] ends
"""
TIMES = "[processor]\n0m0.002000s 0m0.001000s\n1m2.500000s 0m0.250000s\n"


def test_cases_are_counted():
    for text in (OLD, NEW):
        first = text[:text.index("[==========]", text.index("SKIPPED TEST"))]
        assert run_tests.cases(first, True, False) == (2, 0, 1), first
        assert run_tests.cases(first, False, False) == (2, 1, 1), first                # sanitizers fail at the end
        assert run_tests.cases(2 * first, True, False) == (4, 0, 2), first
        second = text[len(first):text.index("[==========]", text.index("FAILED TEST"))]
        assert run_tests.cases(second, False, False) == (1, 1, 0), second
        assert run_tests.cases(text, False, False) == (4, 3, 1), text                  # what was announced did not pass


def test_programs_without_cases():
    assert run_tests.cases("", True, False) == (1, 0, 0)
    assert run_tests.cases("words", False, False) == (0, 1, 0)
    assert run_tests.cases("skipped: no PETSc", True, True) == (0, 0, 1)


def test_processor_seconds():
    assert run_tests.processor_seconds("words\n" + TIMES) == 62.75
    assert run_tests.processor_seconds("killed before the end") is None


def test_long_programs_are_named():
    usual, (name, (allowed, reason)) = budget.read()["program"], next(iter(budget.read()["programs"].items()))
    for slow in (1, 1.7):
        assert list(budget.too_long({"test_other": 1.4 * slow * usual, name: 1.4 * slow * allowed}, slow)) == []
        other, long = budget.too_long({"test_other": 1.6 * slow * usual, name: 1.6 * slow * allowed}, slow)
        assert "test_other takes" in other and name + " takes" in long, (other, long)


def test_a_slow_machine():
    """a file of one function takes no longer anywhere; three times the file, as on a slow machine"""
    copies, budget.COPIES = budget.COPIES, 1
    fast = budget.slowness()
    budget.COPIES = 3 * copies
    slow = budget.slowness()
    budget.COPIES = copies
    assert fast == 1 and slow > 1, (fast, slow)


def test_every_exception_has_a_reason_and_is_needed():
    table = budget.read()
    for name, (allowed, reason) in table["programs"].items():
        assert allowed > table["program"] and len(reason) > 20, name
    with open(os.path.join(root, "tests", "meson.build"), encoding="utf-8") as file:
        meson = file.read()
    lost = [name for name in table["programs"] if not any("'%s'" % end in meson for end in ends(name))]
    assert not lost, "no such tests: " + " ".join(lost)


def ends(name):
    """Of test_python_ivp: itself, python_ivp, ivp, as meson.build puts names together."""
    words = name.split("_")
    return ["_".join(words[k:]) for k in range(len(words))]


def test_sections():
    table = budget.read()["sections"]
    name = next(iter(table))
    lines = ["%s\t10\t%g\t%g\n" % (name, share * slow * table[name], slow) for slow in (1, 2) for share in (1.4, 1.6)]
    found = list(budget.sections([*lines, "another\t1\t1\t1\n"]))
    assert [bool(row[5]) for row in found] == [False, True, False, True, True], found
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "sections")
        for seconds, wrong in ((0.1, False), (1e6, True)):
            with open(path, "w", encoding="utf-8") as file:
                file.write("%s\t10\t%g\t1\n" % (name, seconds))
            assert budget.main(path) == wrong


def test_every_section_of_ci_has_a_budget():
    with open(os.path.join(root, ".ci", "run"), encoding="utf-8") as file:
        named = [line.split('"')[1] for line in file if line.startswith('section "')]
    assert [name for name in named if name] == list(budget.read()["sections"]), named


run_all(globals())
