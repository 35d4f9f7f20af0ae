"""What the documents say is so: the first program compiles as printed and prints its numbers, the table of
methods is the generated one, the documents name all there is, links lead somewhere.

    test_readme.py SOURCE BUILD SANITIZE COMPILER...     reports in the format of cmocka"""

import math
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cases import documents, run_all, tracked  # noqa: E402

root, build, sanitize, compiler = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]


def read(name):
    with open(os.path.join(root, name), encoding="utf-8") as f:
        return f.read()


FIRST = "docs/start/first-run.md"
HISTORY = "docs/reference/changes-before-2.md"            # it names what is no longer there
PAGES = [name for name in documents(root) if name != HISTORY]
TEXTS = ["README.md", "CONVENTIONS.md", *PAGES]


def program():
    return re.search(r"```c\n(.*?)```", read(FIRST), re.S).group(1)


def test_program_is_the_first_example():
    assert program() == read("examples/01_decay.c")
    assert program().count("\n") <= 40, "more than 40 lines"


def output_of(text):
    """what a program prints, compiled from its text without a warning"""
    with tempfile.TemporaryDirectory() as place:
        source, exe = os.path.join(place, "program.c"), os.path.join(place, "program")
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        command = compiler + ["-std=c11", "-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror", source, "-o", exe,
                              "-I" + os.path.join(root, "include"),
                              "-L" + build, "-Wl,-rpath," + build, "-lcostate", "-lm"]
        if sanitize != "none":
            command.insert(len(compiler), "-fsanitize=" + sanitize)
        subprocess.run(command, check=True)
        return subprocess.run([exe], check=True, capture_output=True, text=True).stdout


def test_program_compiles_and_is_right():
    out = output_of(program())
    printed = [float(x) for x in re.findall(r"= (-?[\d.]+)", out)]
    expected = [2 * math.exp(-3), math.exp(-3), -2 * math.exp(-3)]
    assert len(printed) == 3 and all(abs(a - b) < 1e-7 for a, b in zip(printed, expected)), out
    assert out.strip() in read(FIRST), FIRST + " shows another output than:\n" + out


def test_table_of_methods():
    """Every row of the table is as the generator makes it; a method of yours (not in git) needs no row."""
    made = subprocess.run([sys.executable, "-m", "codegen", "table", "methods"], cwd=root, check=True,
                          capture_output=True, text=True, env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1")).stdout
    made = {first_cell(row): cells(row) for row in made.splitlines()}
    width = len(next(iter(made.values())))                          # other tables name methods, too
    rows = [row for row in read("docs/reference/methods.md").splitlines()
            if first_cell(row) in made and len(cells(row)) == width]
    shown = {first_cell(row): cells(row) for row in rows}
    shipped = {os.path.splitext(os.path.basename(file))[0] for file in tracked(root, "methods")} & made.keys()
    assert shown, "docs/reference/methods.md has no table of methods"
    for method in shipped | shown.keys():
        assert shown.get(method) == made[method], (
            "docs/reference/methods.md has another row %s than: python3 -m codegen table methods" % method)


def cells(row):
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def first_cell(row):
    return cells(row)[0] if row.startswith("|") else None


HEADERS = tuple("include/costate/%s.h" % name for name in ("costate", "accuracy", "bvp", "ensemble", "lanes",
                                                         "linsol", "operators", "periodic", "petsc", "pieces",
                                                         "program", "steady"))


def header_names():
    """Options, counters and members of costate_times; functions; enumerators; of all public headers."""
    text = re.sub(r"/\*.*?\*/", "", "".join(read(name) for name in HEADERS), flags=re.S)
    names = set(re.findall(r"\b(costate_\w+)\s*\(", text)) | set(re.findall(r"\bCOSTATE_[A-Z][A-Z_0-9]+\b", text))
    names -= {"COSTATE_VERSION", "COSTATE_H", "COSTATE_LANES_H", "COSTATE_LINSOL_H", "COSTATE_BVP_H",
              "COSTATE_ENSEMBLE_H", "COSTATE_PETSC_H", "COSTATE_ACCURACY_H", "COSTATE_OPERATORS_H", "COSTATE_PIECES_H",
              "COSTATE_PROGRAM_H", "COSTATE_PERIODIC_H", "COSTATE_STEADY_H"}
    for struct in ("costate_options", "costate_stats", "costate_times", "costate_conditions", "costate_bvp_options",
                   "costate_bvp_stats", "costate_bvp_tangents", "costate_bvp_adjoints", "costate_bvp_second",
                   "costate_members", "costate_ensemble_report", "costate_functional", "costate_derivatives",
                   "costate_estimate", "costate_goal", "costate_part", "costate_polynomial", "costate_periodic_options",
                   "costate_orbit", "costate_steady_options", "costate_steady_stats"):
        body = re.findall(r"typedef struct \{([^{}]*)\} " + struct + ";", text)[0]
        for line in body.split(";"):
            line = re.sub(r"\(\*(\w+)\)(\([^)]*\)|\[\w+\])", r"\1", line)
            for part in line.split(",") if line.strip() else []:
                names.add(re.findall(r"(\w+)(?:\[\w+\])?\s*$", part)[0])
    return names


def words(text):
    return set(re.findall(r"\w+", text))


def test_documents_name_everything():
    lost = sorted(header_names() - words("".join(map(read, PAGES))))
    assert not lost, "the documents do not mention: " + ", ".join(lost)


def test_documents_name_nothing_else():
    """but PETSc's options, -costate_..., and the environment of tests and of the package for Python"""
    there = "".join(read(name) for name in HEADERS + ("packaging/costate.map", "packaging/costateConfig.cmake.in",
                                                  "CMakeLists.txt", "fortran/costate_errors.f90"))
    there = words(there) | set(re.findall(r'getenv\("(\w+)"\)', read("tests/shared/common.h")))
    for file in ("python/costate/tracing/use.py", "tests/models/mechanisms.py"):
        there |= set(re.findall(r'environ\.get\("(\w+)"', read(file)))
    for document in TEXTS:
        for name in sorted(set(re.findall(r"(?<!-)\b(?:costate_[a-z_0-9]+|COSTATE_[A-Z_0-9]+)\b", read(document)))):
            if name.startswith("COSTATE_HAVE_"):
                continue
            assert name in there, document + " mentions " + name + ", which is not there"


def test_links():
    for document in TEXTS + ["CHANGELOG.md", HISTORY, "methods/README.md"]:
        text = re.sub(r"^```.*?^```", "", read(document), flags=re.M | re.S)       # lambdas in code look like links
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            where = os.path.normpath(os.path.join(root, os.path.dirname(document), target))
            assert os.path.exists(where), document + " links to " + target + ", which is not there"


def table_after(text, heading):
    """rows of the first table behind a heading, without its head"""
    rows = []
    for line in text[text.index(heading):].splitlines():
        if line.startswith("|"):
            rows.append(cells(line))
        elif rows:
            break
    return rows[2:]


COSTS = "docs/explanation/cost.md"
GRIDS = {"Brusselator 64 x 64, diffusion 1": "brusselator_1 64", "diffusion 10": "brusselator_10 64",
         "diffusion 100": "brusselator_100 64", "heat 128 x 128": "heat2d 128",
         "combustion 64 x 64, exponent 10": "combustion_10 64", "exponent 20": "combustion_20 64",
         "diffusion 64 x 64 x 64": "cube 64"}


def reached():
    """{(target, problem): its values in bench/RESULTS.md, from loose to tight tolerances}"""
    found = {}
    for what, values in re.findall(r"^\| \w+ \| (.*) \| >= \S+ \| (.*) \|$", read("bench/RESULTS.md"), re.M):
        for cell in values.replace("*", "").split("; "):
            problem, _, of = cell.rpartition(": ")
            found[what, problem] = [value.split(" at ")[0] for value in of.split(", ")]
    return found


def short(value):
    """two digits of a number"""
    return "%.1f" % float(value) if 1 <= float(value) < 10 else "%.2g" % float(value)


def test_peers_of_the_results_are_optimised():
    results = read("bench/RESULTS.md")
    for code in (r"costate(?: \w+)?: ", "SUNDIALS ", "RADAU5"):
        compiled = re.findall("; (%s[^;]*)" % code, results)
        assert compiled and all("-O3" in line for line in compiled), "how %s was compiled: %s" % (code, compiled)


def test_costs_of_gradients_are_those_of_the_results():
    results = read("bench/RESULTS.md")
    block = results[results.index("times over that of a forward run"):]
    for row in table_after(read(COSTS), "| method | forward |"):
        found = re.search(r"^%s +\S+ +(.*)$" % row[0], block, re.M).group(1).split()
        for ours, theirs in zip(row[1:], found, strict=True):
            a, b = float(ours.split()[0]), float(theirs)
            assert abs(a - b) <= 0.006 * b, "%s says %s for %s, bench/RESULTS.md %s" % (COSTS, ours, row[0], theirs)


def test_comparisons_are_those_of_the_results():
    """Those with other codes in the document of costs, and those of them that README repeats."""
    found, said = reached(), set()
    for problem, ours, theirs, ratio in table_after(read(COSTS), "| at equal error |"):
        assert found["%s, times faster than %s at equal error" % (ours, theirs), problem] == [ratio], (problem, ours)
        said.add((ours, ratio))
    for problem, ours, theirs, *ratios in table_after(read(COSTS), "| at the error of the other code |"):
        names = [start + "times faster than %s at its error" % theirs for start in (ours + ", ", "")]
        names.append("%s, times faster than %s, at its error, median over problems" % (ours, theirs))
        assert ratios in [found.get((name, problem)) for name in names], (problem, ours, theirs, ratios)
        said.add((ours, ", ".join(ratios)))
    for problem, *cells in table_after(read(COSTS), "| problem | ADI, forward |"):
        kinds = [(kind, mode) for kind in ("adi", "multigrid") for mode in ("forward", "gradient")]
        for (kind, mode), cell in zip(kinds, cells, strict=True):
            what = "w6s4os %s, times faster than CVODES with its best preconditioner at its error" % kind
            values = found[what, "%s, %s" % (GRIDS[problem], mode)]
            assert cell == ", ".join(map(short, values)), (problem, kind, mode, values)
            said.add(("w6s4os", cell))
    for problem, ours, _, ratio in table_after(read("README.md"), "## How fast it is"):
        assert any(own.startswith(ours.split(",")[0]) and ratio == known for own, known in said), (problem, ratio)


run_all(globals())
