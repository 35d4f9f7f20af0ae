"""mutated.py SOURCE BUILD SANITIZE COMPILER...: equation files with seeded accidents are refused in a sentence that
names line and column, or become C that compiles without warnings and passes costate_check_problem.

Reports in the format of cmocka.  Kinks, values that are not finite at the point of the check, and an `index` that the
equations do not have are no faults of the generated code: such models are counted, and the others must be many."""
import glob
import os
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True

from compiled import need_library, program, root, run  # noqa: E402

from cases import run_all  # noqa: E402
from codegen.equations import c_file, read  # noqa: E402
from codegen.real import Refused  # noqa: E402

MUTANTS, BATCH = 2000 if os.environ.get("COSTATE_TESTS") == "all" else 120, 40
PIECES = ("( ) [ ] , ; : ' = + - * / ^ -> <-> := += .. if( sum( sqrt( log( 0 1e999 1e-300 2^ t x \" { } # é @ in index "
          "mode state parameter cost and not").split()
PIECES += ["\n", "\0", " for k = 1..3", "event e at 1", "kinks as events", "\nstop at 2, 1\n", " every 0.5 until 3 ",
           " fires at start ", "floor(t)", "if(t < 2, 1, 3)", "abs(t - 1)",
           "\ntable f steps (0, 1), (2, 3)\n", "(0, 1), (2, 3)", "f(t)", "piecewise(", "heaviside(t - 1)",
           "mod(t, 2)", "sign(", "pi", "e", "//", "; ", "(k) ", "(t - 2) ", "\n0 -> (1 + t) x : 1\n",
           "\ntable f cubic (0, 1), (2, 3), (3, 1)\n", "\ntable f linear \"none.csv\"\n",
           "\nfunction f(a) from \"none.h\" derivatives 2\n", " derivatives 1", "\nfunction f(a, a) ",
           "piecewise(1, t < 1, t, t < 3, 2)"]

DRIVER = """#include <costate/costate.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
%(declared)s
static double y[256];
static const struct { int number; const costate_problem *(*problem)(void); const double *p;
                      void (*start)(double t, const double *p, double *y); } models[] = {%(rows)s};
static double p[256], yp[256], out[256];
static int relation[256];
/* values of relations there: the maps read them */
static void relate(const costate_problem *P, costate_point *x)
{
    x->relation = relation;
    for (int k = 0; k < P->nrelations && k < 256; k++) {
        double u = 0;
        P->relation[k].guard.value(x, &u, P->ctx);
        const costate_relation *r = &P->relation[k];
        relation[k] = r->whole ? (int)floor(fmax(fmin(u, 1e9), -1e9)) : (u > 0) - (r->sign && u < 0);
    }
}
/* whether all values are finite there and a little beside it */
static int smooth(const costate_problem *P, const costate_point *x)
{
    const costate_map *f = P->residual.value ? &P->residual : &P->rhs;
    if (f->value(x, out, P->ctx)) return 0;
    for (int i = 0; i < P->n; i++) if (!isfinite(out[i]) || fabs(out[i]) > 1e100) return 0;
    return 1;
}
/* the first thing that is wrong is problem.index, which stands behind all derivatives */
static int index_alone(const char *text)
{
    const char *wrong = strstr(text, "WRONG");
    return wrong && wrong - text >= 6 && !strncmp(wrong - 6, "index ", 6);
}
int main(void)
{
    for (unsigned k = 0; k < sizeof models / sizeof *models; k++) {
        const costate_problem *P = models[k].problem();
        const char *result = "none";
        costate_report r = {0}, q = {0};
        for (int point = 0; point < 3 && *result != 'r'; point++) {
            for (int i = 0; i < P->np; i++) p[i] = models[k].p[i] == 0 ? 0.5 : models[k].p[i] * (1 + 0.01 * point);
            models[k].start(0, p, y);
            for (int i = 0; i < P->n; i++) {
                y[i] += (fabs(y[i]) + 0.1) * (0.03 + 0.02 * ((i * 7 + point * 3) %% 11));
                yp[i] = 0.2 + 0.03 * i;
            }
            costate_point x = {.t = 0.3 + point, .y = y, .p = p, .m = P->nm ? y + P->n + P->nq : NULL,
                               .yp = P->residual.value ? yp : NULL};
            relate(P, &x);
            if (!smooth(P, &x)) continue;
            if (costate_check_problem(P, &x, &r, &q) == COSTATE_OK) result = "right";
            else if (!strstr(r.text, "should be nan") && !strstr(r.text, "should be -nan") && !index_alone(r.text))
                result = "WRONG";
        }
        printf("%%d %%s %%s\\n", models[k].number, result, *result == 'W' ? r.text : "");
    }
    return 0;
}
"""


def mutant(draw, texts):
    text = draw.choice(texts)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        kind, at = draw.randrange(6), draw.randrange(len(text))
        to = min(len(text), at + draw.choice((1, 1, 2, 5, 20)))
        words = [m.span() for m in re.finditer(r"\w+|[^\w\s]", text)]
        (a, b), (c, d) = sorted(draw.sample(words, 2))
        if kind == 0:                                      # characters are lost
            text = text[:at] + text[to:]
        elif kind == 1:                                    # or doubled
            text = text[:to] + text[at:]
        elif kind == 2:
            text = text[:a] + draw.choice(PIECES) + text[b:]
        elif kind == 3:                                    # words change places
            text = text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]
        elif kind == 4:                                    # lines do
            lines = text.split("\n")
            i, j = draw.randrange(len(lines)), draw.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
            text = "\n".join(lines)
        else:
            text = text[:a] + text[c:d] + text[b:]
    return text


def accepted(place):
    """[(number, text)] of those that became C, in files of place"""
    draw = random.Random(2026)
    texts = []
    for name in sorted(glob.glob(os.path.join(root, "models", "*.eq"))):
        with open(name, encoding="utf-8") as file:
            text = file.read()
        if "grid" not in text:
            texts.append(text)
    found = []
    for number in range(MUTANTS):
        text = mutant(draw, texts)
        try:
            model = read.parse(text, "m.eq")
        except Refused as fault:
            assert re.match(r"m\.eq:\d+:\d+: [^\n]{8,}\n  .*\n +\^$", str(fault)), "%d: %s" % (number, fault)
            continue
        if model.on_grid or len(model.states) + len(model.memory) > 100 or len(model.parameters) > 200:
            continue
        model.name = "m%d" % number
        for suffix, part in zip((".c", ".h"), c_file.write(model, "m.eq")):
            with open(os.path.join(place, model.name + suffix), "w", encoding="utf-8") as file:
                file.write(part)
        found.append((number, bool(model.parameters), text))
    return found


def test_mutants():
    need_library()
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        found, results = accepted(place), {}
        for first in range(0, len(found), BATCH):
            batch = found[first:first + BATCH]
            rows = ", ".join("{%d, m%d_problem, %s, m%d_start}" % (n, n, "m%d_defaults" % n if has else "y", n)
                             for n, has, _ in batch)
            declared = "\n".join('#include "m%d.h"' % n for n, _, _ in batch)
            exe = program(place, DRIVER % {"declared": declared, "rows": rows},
                          [os.path.join(place, "m%d.c" % n) for n, _, _ in batch])
            for line in run(exe).splitlines():
                number, result, said = line.split(" ", 2)
                results[int(number)] = result, said
    texts = {n: text for n, _, text in found}
    wrong = ["%d: %s\n%s" % (n, said, texts[n]) for n, (result, said) in results.items() if result == "WRONG"]
    assert not wrong, "\n".join(wrong)
    right = sum(result == "right" for result, _ in results.values())
    assert len(found) >= MUTANTS // 5 and right >= 0.8 * len(found), (len(found), right)
    print("%d of %d mutants were accepted, %d of them could be checked" % (len(found), MUTANTS, right))


run_all(globals())
