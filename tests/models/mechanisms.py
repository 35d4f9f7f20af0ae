"""mechanisms.py SOURCE BUILD SANITIZE COMPILER...: mechanisms convert, compile, and pass costate_check_problem.

Those of models/, and of the folders that COSTATE_MECHANISMS names, with ':' between them: their .def files, and .kpp
and .eqn files with reactions that these do not include.  One line for each: species, reactions, parameters that have no
value, seconds to convert and to compile, and what the check says, at concentrations about 1 and with values about 1
for what has none, but 298.15 for the temperature.  Reports in the format of cmocka."""
import os
import re
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True

from compiled import FLAGS, build, compiler, need_library, root, run  # noqa: E402

from cases import run_all  # noqa: E402
from codegen.equations import c_file, kpp  # noqa: E402
from codegen.real import Refused  # noqa: E402

FOLDERS = [p for p in os.environ.get("COSTATE_MECHANISMS", "").split(":") if p]
OPTIMIZATION = os.environ.get("COSTATE_OPTIMIZATION", "-O0")
NAME = "mechanism"
DRIVER = """#include "mechanism.h"
#include <stdio.h>
#include <math.h>
#include <stdlib.h>

static double some(void) { return 0.5 + rand() / (double)RAND_MAX; }

int main(void)
{
    const costate_problem *of = %(prefix)s_problem();
    double *y = calloc((size_t)of->n, sizeof *y), *p = calloc((size_t)of->np, sizeof *p);
    for (int i = 0; i < of->n; i++) y[i] = some();
    for (int k = 0; k < of->np; k++) p[k] = %(prefix)s_defaults[k];
    for (int k = 0; k < of->np; k++) if (isnan(p[k])) p[k] = k == %(temperature)d ? 298.15 : some();
    const costate_point x = {.t = 43210, .y = y, .p = p};
    costate_report report;
    const int status = costate_check_problem(of, &x, &report, NULL);
    puts(status == COSTATE_OK ? "right" : report.text);
    free(y), free(p);
    return 0;
}
"""


def files(folder):
    """Mechanisms of a folder: each .def, and what has reactions and is in none of the others"""
    found = sorted(p for p in Path(folder).rglob("*") if p.suffix in (".def", ".kpp", ".eqn"))
    texts = {p: p.read_text(encoding="utf-8", errors="replace") for p in found}
    included = {Path(name).name for text in texts.values()
                for name in re.findall(r"^\s*#INCLUDE\s+(\S+)", text, re.I | re.M)}
    return [p for p in found if p.name not in included and re.search(r"^\s*#(EQUATIONS|INCLUDE\s+\S+\.eqn)", texts[p],
                                                                     re.I | re.M)]


def checked(path, place):
    """(line of a mechanism, whether it is right)"""
    start = time.time()
    try:
        model, _ = kpp.read(path)
    except Refused as fault:
        return "refused: " + str(fault).split("\n", 1)[0], False
    model.name = NAME
    source, header, _ = c_file.write(model, path.name, NAME)
    converted = time.time() - start
    for name, text in ((NAME + ".c", source), (NAME + ".h", header), ("driver.c", DRIVER % {
            "prefix": NAME, "temperature": next((q.index for q in model.parameters if q.name.lower() == "temp"), -1)})):
        Path(place, name).write_text(text, encoding="utf-8")
    start = time.time()
    run(*compiler, *FLAGS, OPTIMIZATION, "-ffp-contract=off", "-c", f"{place}/{NAME}.c", "-o", f"{place}/{NAME}.o")
    compiled = time.time() - start
    run(*compiler, *FLAGS, "-O0", f"{place}/driver.c", f"{place}/{NAME}.o", "-o", f"{place}/driver", "-L" + build,
        "-lcostate", "-lm")
    says = run(f"{place}/driver").strip()
    unset = sum(q.value is not None and model.graph.const(q.value) != model.graph.const(q.value)
                for q in model.parameters)
    return f"{len(model.states)} species, {len(model.reactions)} reactions, {unset} without a value; converted in " \
        f"{converted:.1f} s, compiled in {compiled:.1f} s; {says}", says == "right"


def test_mechanisms():
    need_library()
    wrong = []
    for folder in [os.path.join(root, "models"), *FOLDERS]:
        for path in files(folder):
            with tempfile.TemporaryDirectory(prefix="costate-") as place:
                line, right = checked(path, place)
            print(f"{path}: {line}", flush=True)
            wrong += [] if right else [str(path)]
    assert not wrong, ", ".join(wrong)


run_all(globals())
