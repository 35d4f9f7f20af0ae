"""tests/house/mutants.toml fits the sources: each text stands in its file once, and the tests that are named exist."""
import os
import re
import sys

sys.dont_write_bytecode = True
root = sys.argv[1]
sys.path.insert(0, os.path.join(root, "tests", "house"))

from scripts import script  # noqa: E402

mutants = script("mutants")

with open(os.path.join(root, "tests", "meson.build"), encoding="utf-8") as file:
    tests = {prefix + name for name in re.findall(r"'(\w+)'", file.read()) for prefix in ("", "test_")}
with open(mutants.TABLE, encoding="utf-8") as file:
    table = mutants.read_table(file.read())
wrong = list(mutants.mistakes(table, root, tests))
absent = mutants.Mutant("run/control.c", "no such text", "", ["test_no_such_test"])
absent = list(mutants.mistakes([absent], root, tests))
if len(absent) != 2:
    wrong.append("a text that is not there, and a test that is not there, are not noticed: %s" % absent)
sys.exit("\n".join(wrong) or 0)
