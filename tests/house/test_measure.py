"""tests/house/measure and tests/house/words count what they say they do, on sources made up here; documents and headers
have none of the phrases that words counts.

    test_measure.py     reports in the format of cmocka"""
import glob
import os
import sys
import tempfile

sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(here), here]

from cases import run_all  # noqa: E402
from scripts import script  # noqa: E402

measure, words = script("measure"), script("words")
PLAIN = {"README, docs", "headers"}

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
    same(measure.fields({"solver/solver.h": measure.code(STRUCT)}), ["m", "dt", "dh", "at", "part", "call", "why"])


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
    files = {"solver/solver.h": measure.code(STRUCT + "typedef struct { int a, b; struct { int c; } d; } pair;")}
    found = {name: len(x) for (_, name), x in measure.structs(files).items()}
    same(found, {"costate_tape": 1, "costate": 7, "later": 1, "pair": 3})


def test_named_elsewhere():
    files = {"erk/family.c": "const family erk_family = {", "erk/forward.c": "x = &erk_family; COSTATE_ERK",
             "solver/families.c": "&erk_family, COSTATE_ERK", "run/a.c": "f(&erk_family); m == COSTATE_ERK; ERK",
             "step/step.h": "extern const family erk_family;\n", "tape/all.c": "const store all = {1}; y = &all;",
             "tape/load.c": "x = y ? &all : z; /* all */", "linsol/band.c": "const costate_backend LS_band = {",
             "linsol/choose.c": "return &LS_band;", "irk/a.c": "x == &LS_band && COSTATE_FIRK"}
    same(measure.elsewhere({p: measure.code(text) for p, text in files.items()}),
         {"run/a.c": ["COSTATE_ERK", "erk_family"], "tape/load.c": ["all"], "irk/a.c": ["LS_band"]})


def test_lines():
    same(measure.lines_of({"src/erk/a.c": ["", ""], "src/erk/a.h": [""], "src/run/a.c": [""], "bench/a.c": [""]}),
         {"erk": 3, "run": 1})


def test_definitions():
    files = {"a/x.c": "static int pace(int a, int b, int c, int d, int e, int f, int g)\n{\n}\n"
                      "int six(int (*f)(int, int), double b, int c, int d, int e, int g)\n{\n}\n",
             "a/y.h": "int seven(int a, int b, int c, int d, int e, int f, int g);\n",
             "a/y.c": "static double *pace(void)\n{\n}\n",
             "b/z.c": "static void pace(int x) { }\nvoid pace2(void)\n{\n}\n"}
    same([x[1:] for x in measure.many_parameters(files)], [("pace", 7)])
    same(measure.alike(files), {"pace": {"a/x.c", "a/y.c", "b/z.c"}})
    same(measure.largest_room(files), ("a", 3))


def test_one_letter():
    files = {"a.h": "typedef struct { int a; } pair;\ntypedef struct { int a; } rule;\n",
             "a.c": "int f(pair *x, const rule *x, double y, pair z)"}
    same({k: sorted(v) for k, v in measure.one_letter(files).items()}, {"x": ["pair", "rule"], "z": ["pair"]})


def test_phrases():
    lines = {"The gradient by p.": 1, "the derivative by the parameters": 1, "a derivative by a separate run": 0,
             "all but the first": 1, "It is right, but the gradient is not.": 0, "f alone": 1,
             "report.alone says why": 0, "It is counted, too.": 1, "Too much.": 0, "`f alone`": 0,
             "```\nf alone\n```": 0, "[f](alone.md)": 0}
    for line, expected in lines.items():
        with tempfile.TemporaryDirectory() as tree:
            with open(os.path.join(tree, "a.md"), "w", encoding="utf-8") as f:
                f.write(line + "\n")
            assert len(words.found_in(tree, ["**/*.md"])) == expected, line


def test_phrases_in_comments_only():
    text = 'int alone;   /* f\nalone */\nchar *s = "alone";\n'
    same(words.prose("a.h", text).count("alone"), 1)


def test_plain_documents_and_headers():
    files = [p for group, patterns in words.GROUPS if group in PLAIN for p in patterns]
    same(["%s:%d: %s: %s" % (path, line, name, text.strip())
          for name, path, line, text in words.found_in(measure.ROOT, files)], [])


def test_plain_covers_all_documents():
    listed = {os.path.relpath(p, measure.ROOT) for group, patterns in words.GROUPS if group in PLAIN for x in patterns
              for p in glob.glob(os.path.join(measure.ROOT, x), recursive=True)}
    expected = {"README.md", "CONVENTIONS.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "methods/README.md",
                "docs/index.md", "docs/howto/events.md", "docs/reference/options.md", "include/costate/costate.h"}
    assert expected <= listed, expected - listed


if __name__ == "__main__":
    run_all(globals())
