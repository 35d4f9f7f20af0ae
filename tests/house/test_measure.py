"""tests/house/measure counts what it says it does, on sources made up here.

    test_measure.py     reports in the format of cmocka"""
import importlib.machinery
import importlib.util
import os
import sys

sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(here), here]

from cases import run_all  # noqa: E402

loader = importlib.machinery.SourceFileLoader("measure", os.path.join(here, "measure"))
measure = importlib.util.module_from_spec(importlib.util.spec_from_loader("measure", loader))
loader.exec_module(measure)

STRUCT = """struct costate_tape { int other; };
struct costate {
    const costate_method *m;    /* a comment; with, a semicolon */
    double *dt, *dh, at[2];     // and { another
    struct { int inner, most; } part;
    int (*call)(int a, int b);
    enum cause why;
};
struct later { int x; };
"""


def same(found, expected):
    assert found == expected, found


def test_fields():
    same(measure.fields({"run/solver.h": measure.code(STRUCT)}), ["m", "dt", "dh", "at", "part", "call", "why"])


def test_writers():
    lines = {"c->y = z;": 1, "c->y[k] += 1;": 1, "c->y[i[k]].x -= 1;": 1, "c->y.f++;": 1, "--c->y;": 1, "c->y |= 2;": 1,
             "z = c->y;": 0, "if (c->y == z)": 0, "c->y->x = z;": 0, "c->yy = z;": 0, "f(c->y[k], z = 1);": 0,
             "/* c->y = z */": 0, "z = c->y <= 1;": 0, "z = c->y != 1;": 0, "rc->y = z;": 0}
    for line, expected in lines.items():
        found = measure.writers({"a.c": measure.code(line)}, ["y"])
        assert len(found["y"]) == expected, line


def test_status_compared():
    lines = {"if (status == STEP_OK)": 1, "while (f(x) != COSTATE_OK)": 1, "if (COSTATE_OK == f(x))": 1,
             "if (s->status == 0)": 1, "if ((status = f(x)) != 0)": 1, "if ((status = f(x)) == STEP_OK)": 1,
             "if (!status)": 1, "if (!s->status) return;": 1, "if (s.status)": 1, "x = status ? 1 : 2;": 1,
             "if (status && x)": 1, "while (status) x;": 1,
             "status = f(x);": 0, "status = STEP_OK;": 0, "if (status < 0)": 0, "if (status == STEP_RETRY)": 0,
             "if (status != COSTATE_STOPPED)": 0, "f(status);": 0, 'f("status == 0");': 0, "int my_status == 0": 0}
    for line, expected in lines.items():
        assert sum(measure.compared({"a.c": measure.code(line)}).values()) == expected, line


def test_families_named():
    files = {"erk/family.c": "COSTATE_ERK", "run/a.c": "x == COSTATE_ROS", "run/b.c": "COSTATE_ROS_H",
             "step/c.c": "/* COSTATE_ERK */", "rkc/family.c": "COSTATE_RKC", "ops/d.c": "x == COSTATE_RKC"}
    same(measure.naming_families({p: measure.code(text) for p, text in files.items()}), ["run/a.c", "ops/d.c"])


def test_structs():
    files = {"run/solver.h": measure.code(STRUCT + "typedef struct { int a, b; struct { int c; } d; } pair;")}
    found = {name: len(x) for (_, name), x in measure.structs(files).items()}
    same(found, {"costate_tape": 1, "costate": 7, "later": 1, "pair": 3})


def test_named_elsewhere():
    files = {"erk/family.c": "const family erk_family = {", "erk/forward.c": "x = &erk_family; COSTATE_ERK",
             "run/families.c": "&erk_family, COSTATE_ERK", "run/a.c": "f(&erk_family); m == COSTATE_ERK; ERK",
             "step/step.h": "extern const family erk_family;\n", "tape/all.c": "const store all = {1}; y = &all;",
             "tape/load.c": "x = y ? &all : z; /* all */", "linsol/band.c": "const costate_backend LS_band = {",
             "linsol/choose.c": "return &LS_band;", "irk/a.c": "x == &LS_band && COSTATE_FIRK"}
    same(measure.elsewhere({p: measure.code(text) for p, text in files.items()}),
         {"run/a.c": ["COSTATE_ERK", "erk_family"], "tape/load.c": ["all"], "irk/a.c": ["LS_band"]})


def test_lines():
    same(measure.lines_of({"src/erk/a.c": ["", ""], "src/erk/a.h": [""], "src/run/a.c": [""], "bench/a.c": [""]}),
         {"erk": 3, "run": 1})


if __name__ == "__main__":
    run_all(globals())
