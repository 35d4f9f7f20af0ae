"""Constants that no mutant changes: their list does not grow.  docs/reference/thresholds.md is up to date, and every
option is read somewhere."""
import os
import sys

sys.dont_write_bytecode = True
root = sys.argv[1]
sys.path.insert(0, os.path.join(root, "tests", "house"))

from scripts import script  # noqa: E402

thresholds = script("thresholds")

C = """/* of all */
static const double ONE = 1.5, TWO = 2 * DBL_EPSILON;   /* behind */
enum { THREE = 3,           /* its own */
       FOUR = 4 };
enum { A = 1, B = 2, C = 4, D = 16 };
enum { FIRST, SECOND };
#define FIVE 5e-3
static const double from[] = {1, 2};
int x = f(UNKNOWN = 7);
"""
PYTHON = "# before\nONE = 1.5\nTWO, THREE = 2e3, 30    # behind\nBELOW, OPEN, ABOVE = -1, 0, 1\nNAMES = ('a', 'b')\n"

wrong = []
found = thresholds.constants(root)
keys = {c.key for c in found} - thresholds.pinned(root, found)
count, listed = thresholds.listed(root)
wrong += ["%s: a constant without a row in mutants.toml" % key for key in sorted(keys - set(listed))]
wrong += ["%s: has a row, or is gone: tests/house/thresholds --write" % key for key in sorted(set(listed) - keys)]
if count != len(listed):
    wrong.append("the first line of %s says %d, but there are %d" % (thresholds.LIST, count, len(listed)))
with open(os.path.join(root, thresholds.PAGE), encoding="utf-8") as file:
    if file.read() != thresholds.page(root):
        wrong.append("%s is not up to date: tests/house/thresholds --write" % thresholds.PAGE)
wrong += ["option %s is read nowhere" % name for name, files in thresholds.options(root) if not files]

read = [(c.name, c.value, c.comment) for c in thresholds.constants_of_c("src/x.c", C)]
if read != [("ONE", "1.5", "behind"), ("TWO", "2 * DBL_EPSILON", "behind"), ("THREE", "3", "its own"),
            ("FOUR", "4", ""), ("FIVE", "5e-3", "")]:
    wrong.append("constants of C are not found: %s" % read)
read = [(c.name, c.value, c.comment) for c in thresholds.constants_of_python("codegen/equations/x.py", PYTHON)]
if read != [("ONE", "1.5", "before"), ("TWO", "2000.0", "behind"), ("THREE", "30", "behind")]:
    wrong.append("constants of Python are not found: %s" % read)
sys.exit("\n".join(wrong) or 0)
