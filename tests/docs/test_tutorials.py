"""The tutorials show what their programs in C print, and excerpts that are in these programs.

    test_tutorials.py SOURCE [PROGRAM... [-- MPIEXEC...]]     reports in the format of cmocka

Without a program only the pages are read, with a single one only its tables: examples that tutorials show are run by
this test instead of once more.

A table is a block of text that names its program, as in ```text 27_twin_experiment.  Words must be the same.  Numbers
may differ in the last digit that is shown, or by 2 %, and counts by 10 %, as those of other compilers and libraries of
mathematics do after many iterations; where both are below 1e-3 and written with an exponent, they are what an
iteration or a difference left, and may be another.  Programs that are spread over processes run with MPIEXEC."""

import glob
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cases import run_all  # noqa: E402

root, arguments = sys.argv[1], sys.argv[2:]
at = arguments.index("--") if "--" in arguments else len(arguments)
programs, launcher = arguments[:at], arguments[at + 1:]
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]\d+)?(?![\w.])")
TABLE = re.compile(r"^```text (\w+)\n(.*?)^```", re.M | re.S)
SPREAD = ("23_swe_mpi",)


def pages():
    """{path: text}"""
    found = {}
    for path in sorted(glob.glob(os.path.join(root, "docs", "tutorials", "*.md"))):
        with open(path, encoding="utf-8") as f:
            found[path] = f.read()
    return found


def tables():
    """[(page, program, text)]"""
    return [(os.path.basename(path), *found) for path, text in pages().items() for found in TABLE.findall(text)]


def unit(number):
    """of the last digit"""
    digits, _, power = number.partition("e")
    return 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))


def same(a, b):
    x, y = float(a), float(b)
    small = "e-" in a and max(abs(x), abs(y)) < 1e-3
    return small or abs(x - y) <= max(1.001 * unit(a), (0.1 if a.isdigit() else 0.02) * abs(x))


def compare(name, text, out):
    lines = text.splitlines(), out.splitlines()
    assert len(lines[0]) == len(lines[1]), "the tutorial of %s shows another number of lines than\n%s" % (name, out)
    for ours, theirs in zip(*lines):
        words = [NUMBER.sub("#", line).split() for line in (ours, theirs)]
        pairs = list(zip(NUMBER.findall(ours), NUMBER.findall(theirs)))
        assert words[0] == words[1] and all(same(a, b) for a, b in pairs), (
            "the tutorial shows\n%s\nbut %s prints\n%s" % (ours, name, theirs))


def test_tables():
    there = {os.path.splitext(os.path.basename(program))[0]: program for program in programs}
    shown = {name for _, name, _ in tables()}
    assert set(there) <= shown, "no tutorial shows what %s prints" % sorted(set(there) - shown)
    for _, name, text in tables():
        if name in there:
            start = launcher if name in SPREAD else []
            out = subprocess.run(start + [there[name]], check=True, capture_output=True, text=True).stdout
            compare(name, text, out)


def test_tables_are_of_programs_that_the_page_links_to():
    for page, name, _ in tables():
        text = pages()[os.path.join(root, "docs", "tutorials", page)]
        assert "(../../examples/%s.c)" % name in text, "%s has no link to examples/%s.c" % (page, name)


def test_excerpts():
    """every block of C is in one of the programs that its page links to, as it stands"""
    for path, text in pages().items():
        linked = sorted(set(re.findall(r"\(\.\./\.\./(examples/\w+\.c)\)", text)))
        sources = []
        for name in linked:
            with open(os.path.join(root, name), encoding="utf-8") as f:
                sources.append(f.read())
        for block in re.findall(r"^```c\n(.*?)^```", text, re.M | re.S):
            assert any(block in source for source in sources), (
                "%s shows what is in none of %s:\n%s" % (os.path.basename(path), linked, block))


def test_what_differs_is_found():
    compare("x", "a 1.25 2e-9\n", "a 1.26 7e-12\n")
    for text in ("a 1.30 2e-9\n", "b 1.25 2e-9\n", "a 1.25 2e-9\na\n", "a -1.25 2e-9\n", "a 1.25\n"):
        try:
            compare("x", "a 1.25 2e-9\n", text)
        except AssertionError:
            continue
        raise AssertionError("not found: " + text)


tests = {name: what for name, what in globals().items() if name.startswith("test_")}
if not programs:
    del tests["test_tables"]
run_all({"test_tables": test_tables} if len(programs) == 1 else tests)
