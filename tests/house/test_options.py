"""Every member of costate_options has a row in the library's table, a member in the module for Fortran, a place in
options.md, and in Python a keyword, or is a pointer.

    test_options.py SOURCE     reports in the format of cmocka"""

import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import run_all  # noqa: E402
from scripts import script  # noqa: E402


def read(name):
    with open(os.path.join(sys.argv[1], name), encoding="utf-8") as file:
        return file.read()


MEMBERS = script("thresholds").option_names(sys.argv[1])


def same(found, where):
    assert found == MEMBERS, "%s: %s" % (where, sorted(set(found) ^ set(MEMBERS)) or "in another order")


def test_table():
    same(re.findall(r"^    (?:REAL|INTEGER|OTHER)\((\w+),", read("src/step/option_table.c"), re.M), "option_table.c")


def test_fortran():
    body = re.search(r"type, bind\(c\) :: costate_options(.*?)end type", read("fortran/costate.f90"), re.S)[1]
    same(re.findall(r":: (\w+) =", body), "costate.f90")


def test_document():
    rows = re.findall(r"^\| (`[^|]*) \|", read("docs/reference/options.md"), re.M)
    found = re.findall(r"`(\w+)`", " ".join(rows))
    assert sorted(found) == sorted(MEMBERS), "options.md: %s" % sorted(set(found) ^ set(MEMBERS))


run_all(globals())
