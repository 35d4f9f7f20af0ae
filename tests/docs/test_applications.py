"""The tables of docs/applications.md are what its programs print.

    test_applications.py SOURCE PROGRAM...     reports in the format of cmocka

Words must be the same.  Numbers may differ in the last digit that is shown, or by 2 %, and counts by 10 %, as those of
other compilers and libraries of mathematics do after many iterations; where both are below 1e-3 and written with an
exponent, they are what an iteration or a difference left, and may be another."""

import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cases import run_all  # noqa: E402

root, programs = sys.argv[1], sys.argv[2:]
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]\d+)?(?![\w.])")


def shown(name):
    with open(os.path.join(root, "docs", "applications.md"), encoding="utf-8") as f:
        return re.search(r"^```%s\n(.*?)^```" % name, f.read(), re.S | re.M).group(1)


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
    assert len(lines[0]) == len(lines[1]), "docs/applications.md shows another number of lines than\n" + out
    for ours, theirs in zip(*lines):
        words = [NUMBER.sub("#", line).split() for line in (ours, theirs)]
        pairs = list(zip(NUMBER.findall(ours), NUMBER.findall(theirs)))
        assert words[0] == words[1] and all(same(a, b) for a, b in pairs), (
            "docs/applications.md shows\n%s\nbut %s prints\n%s" % (ours, name, theirs))


def test_tables():
    for program in programs:
        out = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        name = os.path.splitext(os.path.basename(program))[0]
        compare(name, shown(name), out)


def test_what_differs_is_found():
    compare("x", "a 1.25 2e-9\n", "a 1.26 7e-12\n")
    for text in ("a 1.30 2e-9\n", "b 1.25 2e-9\n", "a 1.25 2e-9\na\n", "a -1.25 2e-9\n", "a 1.25\n"):
        try:
            compare("x", "a 1.25 2e-9\n", text)
        except AssertionError:
            continue
        raise AssertionError("not found: " + text)


run_all(globals())
