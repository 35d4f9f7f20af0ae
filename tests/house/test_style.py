"""The form of all files in git: lines of at most 120 columns, no blanks at their ends, no tabs, a newline at the end.

    test_style.py SOURCE     reports in the format of cmocka"""

import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cases import Skipped, run_all, tracked  # noqa: E402

root = sys.argv[1]

COLUMNS = 120

GENERATED = ("bench/RESULTS.md", "tests/docs/moved.toml")          # tables as wide as they come


def lines_of_all():
    """(file, its lines without their ends) for each text file in git; the last line is empty after a newline"""
    files = [name for name in tracked(root, ".") if os.path.isfile(os.path.join(root, name))]
    if not files:
        raise Skipped("this is not a git repository")
    for name in files:
        with open(os.path.join(root, name), "rb") as f:
            content = f.read()
        if b"\0" not in content:
            yield name, content.decode("utf-8").split("\n")


def may_be_long(name, lines):
    """Which lines: rows of a table in Markdown, of a tableau in a method's file (between ''' and '''), of pictures."""
    inside = False
    for line in lines:
        if name.endswith(".toml") and line.count("'''") == 1:
            inside = not inside
        yield inside or name.endswith(".md") and line.startswith("|") or name.endswith(".svg")


def places(wrong, spared=()):
    """file:line of each line for which wrong(file, line) holds"""
    return ["%s:%d" % (name, k + 1) for name, lines in lines_of_all() if name not in spared
            for k, (line, row) in enumerate(zip(lines, may_be_long(name, lines))) if wrong(name, line, row)]


def none(found, what):
    assert not found, "%d lines %s: %s" % (len(found), what, " ".join(found))


def test_columns():
    found = places(lambda name, line, row: len(line) > COLUMNS and not row, GENERATED)
    none(found, "have more than %d columns" % COLUMNS)


def test_tabs():
    code = re.compile(r"\.(c|h|cpp|f90|py|toml|md|sh|in|map)$|(^|/)(run|meson\.build|meson_options\.txt)$")
    none(places(lambda name, line, row: "\t" in line and code.search(name)), "hold a tab")


def test_trailing_blanks():
    none(places(lambda name, line, row: line != line.rstrip()), "end with a blank")


def test_last_newline():
    """one, and no empty lines before it"""
    wrong = [name for name, lines in lines_of_all() if lines[-1] or len(lines) > 1 and not lines[-2]]
    assert not wrong, "files that do not end with one newline: " + " ".join(wrong)


def test_no_list_by_accident():
    """In Markdown a line of prose that begins as an item of a list does would be one: wrap it elsewhere."""
    item = re.compile(r"(\d+[.)]|[-+*]) ")
    found = []
    for name, lines in lines_of_all():
        if not name.endswith(".md") or name in GENERATED:
            continue
        code = False
        for k, (before, line) in enumerate(zip(lines, lines[1:])):
            code ^= line.startswith("```")
            prose = before.strip() and not before.startswith((" ", "|", "#", "`")) and not item.match(before)
            if not code and prose and item.match(line):
                found.append("%s:%d" % (name, k + 2))
    none(found, "are items of a list without an empty line before them")


run_all(globals())
