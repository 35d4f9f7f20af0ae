"""Which method?  The table of docs/explanation/choosing.md, from what errors cost on problems with known solutions.

    recommend.py BUILD            measures by BUILD/bench/recommend, in a quarter of an hour, and replaces the table
    recommend.py BUILD --again    the table from what the last run of this measured: BUILD/recommend.raw

The work of a run is what its calls cost in values of f (PRICES); at an error it is between those of the runs that end
above and below it, a line in logarithms, where all tighter runs are below, too.  A method's number at a trait is the
geometric mean of its work over the least one, problem by problem; one that does not reach the error on a problem of the
trait is out of the column.  The counts, and so the tables, repeat on one machine; times do not, and are not kept."""
import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, ROOT)

from codegen.families import FAMILIES  # noqa: E402

DOCUMENT = os.path.join(ROOT, "docs", "explanation", "choosing.md")
HEAD = "error reached"             # the first cell of the table

# In values of f: f, a Jacobian, a product f' v or f'^T w, a second one; a factorisation, a complex one, a solution of
# each.  Rounded from `race --costs`: small between HIRES and POLLU, dense; large the Brusselator on 24 x 24 to 64 x 64
# cells, UMFPACK.  Where n is 2 or 3, or f is dear, linear algebra is cheaper than that.
PRICES = {"small": (1, 2, 1.5, 1.5, 10, 18, 2, 4), "large": (1, 2, 1.5, 1, 2000, 3500, 50, 90)}
ACCURACIES = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
NEAR = 1.2                         # the least times this is as good
SHOWN = 5                          # names a cell

ALL = tuple(family for family in FAMILIES if family not in ("collocation", "composite"))
ROWS = (                           # what is asked for, trait, of what, families
    ("not stiff", "not stiff", "value", ALL),
    ("its gradient", "not stiff", "gradient", ALL),
    ("stiff", "stiff", "value", ALL),
    ("its gradient", "stiff", "gradient", ALL),
    ("without second derivatives", "stiff", "gradient", ("sdirk", "firk")),
    ("parabolic, large", "parabolic", "value", ALL),
    ("its gradient", "parabolic", "gradient", ALL),
    ("the same, implicit", "parabolic", "value", ("sdirk", "firk", "ros")),
    ("its gradient", "parabolic", "gradient", ("sdirk", "firk", "ros")),
    ("without second derivatives", "parabolic", "gradient", ("sdirk", "firk")),
    ("M singular", "singular", "value", ALL),
    ("its gradient", "singular", "gradient", ALL),
    ("without second derivatives", "singular", "gradient", ("sdirk", "firk")),
    ("index 2", "index 2", "value", ALL),
    ("its gradient", "index 2", "gradient", ALL),
)


def family_of():
    """{method: family} of the files in methods/"""
    folder = os.path.join(ROOT, "methods")
    return {file[:-5]: family for family in ALL for file in os.listdir(os.path.join(folder, family))
            if file.endswith(".toml")}


# ---- from runs to work ---------------------------------------------------------------------------------------------


def work_of(run, which, prices):
    """of the run alone (value), or with its gradient; systems of all stages at once, factored: of block times n rows;
    block_squared: where steps differ in that, block is its mean over them, and this that of the square"""
    total = sum(x * p for x, p in zip(run["forward"], prices))
    if which == "value":
        return total
    back = [b - a for a, b in zip(run["forward"], run["whole"])]
    direct, block = back[8], run["block"]
    if direct:
        total += direct * (run.get("block_squared", block ** 2) - 1) * prices[4] + back[6] * (block - 1) * prices[6]
    return total + sum(x * p for x, p in zip(back, prices))


def at_error(runs, error, work, e):
    """runs: from loose to tight; None: not reached"""
    last = max((k for k, run in enumerate(runs) if not error(run) <= e), default=-1)
    if last + 1 == len(runs):
        return None
    after = runs[last + 1]
    if last < 0 or not math.isfinite(error(runs[last])):
        return work(after)
    before = runs[last]
    part = math.log(error(before) / e) / math.log(error(before) / max(error(after), 1e-300))
    return work(before) ** (1 - part) * work(after) ** part


def read(lines):
    """{problem: {"about": line, method: runs}}"""
    found = {}
    for line in map(json.loads, lines):
        of = found.setdefault(line["problem"], {})
        if "method" in line:
            of.setdefault(line["method"], []).append(line)
        else:
            of["about"] = line
    return found


def kept_of(found, work=work_of):
    """what is kept: by problem and method the work at the accuracies"""
    kept = {}
    for problem, methods in found.items():
        about = methods.pop("about")
        kept[problem] = {"trait": about["trait"], "prices": about["prices"]}
        for which, key in (("value", "error"), ("gradient", "gradient")):
            kept[problem][which] = works = {}
            for name, runs in methods.items():
                def error(run):
                    return math.inf if run[key] is None else run[key]
                row = [at_error(runs, error, lambda run: work(run, which, PRICES[about["prices"]]), e)
                       for e in ACCURACIES]
                if any(row):
                    works[name] = [x and float("%.4g" % x) for x in row]
        methods["about"] = about
    return kept


# ---- from work to tables -------------------------------------------------------------------------------------------


def means(kept, trait, which, families, k):
    """{method: geometric mean over the problems of work over the least}"""
    family, logs, problems = family_of(), {}, 0
    for problem in kept.values():
        works = {m: row[k] for m, row in problem[which].items() if row[k] and family.get(m) in families}
        if problem["trait"] != trait or not problem[which]:
            continue
        problems += 1
        for name, x in works.items():
            logs.setdefault(name, []).append(math.log(x / min(works.values())))
    found = {name: math.exp(sum(row) / problems) for name, row in logs.items() if len(row) == problems}
    return {name: x / min(found.values()) for name, x in found.items()}


def one_for_all(columns):
    """The method whose worst number is least, and that."""
    worst = {name: max(c[name] for c in columns) for name in columns[0] if all(name in c for c in columns)}
    return min(worst.items(), key=lambda item: item[1], default=None)


def cell(column):
    near = sorted((x, name) for name, x in column.items() if x <= NEAR)[:SHOWN]
    return ", ".join("`%s`" % name + (" %.2f" % x if x >= 1.005 else "") for x, name in near) or "-"


def rows_of(kept):
    for label, trait, which, families in ROWS:
        columns = [means(kept, trait, which, families, k) for k in range(len(ACCURACIES))]
        yield label, columns, one_for_all(columns[:4])


def tables(kept):
    reached = " | ".join("%.0e" % e for e in ACCURACIES).replace("e-0", "e-")
    lines = ["| %s | %s | one for all to 1e-8 |" % (HEAD, reached), "|---|" + "---|" * (len(ACCURACIES) + 1)]
    for label, columns, one in rows_of(kept):
        lines.append("| %s | %s | %s |" % (label, " | ".join(map(cell, columns)),
                                           "`%s` %.2f" % one if one else "-"))
    return "\n".join(lines)


def spliced(text, table):
    """text with its table replaced"""
    lines = text.split("\n")
    begin = next(k for k, line in enumerate(lines) if line.startswith("| %s |" % HEAD))
    end = next(k for k, line in enumerate(lines) if k > begin and not line.startswith("|"))
    return "\n".join(lines[:begin] + table.split("\n") + lines[end:])


# ---- by time -------------------------------------------------------------------------------------------------------


def by_time(run, which, _):
    return run["forward_time" if which == "value" else "time"]


def compare(found):
    """what the methods of least work cost in time, over the fastest"""
    counted, timed = kept_of(found), kept_of(found, by_time)
    for label, trait, which, families in ROWS:
        for k, e in enumerate(ACCURACIES):
            best = means(counted, trait, which, families, k)
            fast = means(timed, trait, which, families, k)
            if best:
                name = min(best, key=best.get)
                print("%-28s %-10s %.0e  %-12s %.2f of the least time, by %s" % (
                    label, trait, e, name, fast[name], min(fast, key=fast.get)))


def main(build, *again):
    if again not in ((), ("--again",)):
        sys.exit(__doc__)
    raw = os.path.join(build, "recommend.raw")
    if not again:
        with open(raw, "w") as out:
            subprocess.run([os.path.join(build, "bench", "recommend")], stdout=out, check=True,
                           env=dict(os.environ, OPENBLAS_NUM_THREADS="1"))
    with open(raw) as lines:
        found = read(lines)
    compare(found)
    with open(DOCUMENT, encoding="utf-8") as file:
        text = file.read()
    with open(DOCUMENT, "w", encoding="utf-8") as file:
        file.write(spliced(text, tables(kept_of(found))))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
