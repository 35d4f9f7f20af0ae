"""elimination.py SOURCE BUILD SANITIZE COMPILER...: complex matrices of a model are eliminated by loops, if statements
would take long to compile, with the bits of the statements: random matrices and those whose pivots are not safe.

Reports in the format of cmocka."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True

from compiled import need_library, program, run  # noqa: E402

from cases import run_all  # noqa: E402
from codegen.equations import c_file, elimination, read  # noqa: E402

# a sparse ring, and one whose states all depend on each other: pivots off the diagonal, fill-in, singular structures
MODELS = {"ring": "state x[1..9]\nalgebraic z\nx[1]' = x[9] + z\nx[k]' = x[k - 1]*x[k]^2 + x[1] for k = 2..9\n"
                  "0 = x[3] + x[7]",
          "full": "state x[1..7]\nx[k]' = sin(sum(i = 1..7, i*k*x[i])) for k = 1..7"}
DRIVER = """#include <costate/costate.h>
#include <costate/linsol.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
%(declared)s
enum { MOST = 20, ENTRIES = MOST * MOST, MATRICES = 40 };
static double some(void) { return rand() / (double)RAND_MAX - 0.5; }

static int compared(const costate_problem *of, const costate_backend *loops, const costate_backend *statements)
{
    int n = of->n, col[MOST + 1] = {0}, row[ENTRIES], entries = 0;
    for (int j = 0; j < n; j++) {
        const int first = of->pattern ? of->pattern->col[j] : 0, last = of->pattern ? of->pattern->col[j + 1] : n;
        int diagonal = 0;
        for (int k = first; k < last; k++) {
            const int i = of->pattern ? of->pattern->row[k] : k;
            if (i > j && !diagonal) row[entries++] = j, diagonal = 1;
            diagonal |= i == j;
            row[entries++] = i;
        }
        if (!diagonal) row[entries++] = j;
        col[j + 1] = entries;
    }
    const costate_pattern pattern = {n, col, row};
    const costate_backend *both[] = {loops, statements};
    void *solver[2];
    for (int s = 0; s < 2; s++) if (both[s]->init(&solver[s], n, &pattern, 1, NULL)) return 1;
    int wrong = 0;
    for (int m = 0; m < MATRICES; m++) {
        double A[2 * ENTRIES], X[2][4 * MOST], B[4 * MOST];
        for (int k = 0; k < 2 * entries; k++) A[k] = some() * (m %% 3 == 2 && k %% 5 == 0 ? 1e-9 : 1);
        for (int i = 0; i < 4 * n; i++) B[i] = some();
        for (int transpose = 0; transpose < 2; transpose++) {
            for (int s = 0; s < 2; s++) {
                memcpy(X[s], B, sizeof B);
                if (both[s]->factor(solver[s], A) || both[s]->solve(solver[s], transpose, 2, X[s])) return 2;
            }
            wrong += memcmp(X[0], X[1], 4 * (size_t)n * sizeof **X) != 0;
            double worst = 0;                                   /* of A X - B */
            for (int r = 0; r < 2; r++) for (int i = 0; i < n; i++) {
                double re = -B[2 * (r * n + i)], im = -B[2 * (r * n + i) + 1];
                for (int j = 0; j < n; j++) for (int k = col[j]; k < col[j + 1]; k++) {
                    const int here = transpose ? j == i : row[k] == i, other = transpose ? row[k] : j;
                    if (!here) continue;
                    const double *x = X[0] + 2 * (r * n + other);
                    re += A[2 * k] * x[0] - A[2 * k + 1] * x[1], im += A[2 * k] * x[1] + A[2 * k + 1] * x[0];
                }
                worst = worst > re * re + im * im ? worst : re * re + im * im;
            }
            wrong += !(worst < 1e-12);
        }
    }
    for (int s = 0; s < 2; s++) both[s]->free(solver[s]);
    return wrong ? 3 : 0;
}

int main(void)
{
    %(calls)s
    return 0;
}
"""


def test_loops_are_statements():
    need_library()
    declared, sources, calls = "", [], ""
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        kept = elimination.MOST_STATEMENTS
        for name, text in MODELS.items():
            for kind, most in (("loops", -1), ("statements", 10**9)):
                elimination.MOST_STATEMENTS, word = most, f"{name}_{kind}"
                texts = c_file.write(read.parse(f"model {word}\n{text}\n", word + ".eq"), word + ".eq", word)
                assert ("substitute" in texts[0]) == (kind == "loops")
                for suffix, part in zip((".c", ".h"), texts):
                    with open(os.path.join(place, word + suffix), "w", encoding="utf-8") as file:
                        file.write(part)
                declared += f'#include "{word}.h"\n'
                sources.append(os.path.join(place, word + ".c"))
            calls += f"if (compared({name}_loops_problem(), {name}_loops_backend(), {name}_statements_backend())) " \
                f'return puts("{name}"), 1;\n    '
        elimination.MOST_STATEMENTS = kept
        run(program(place, DRIVER % {"declared": declared, "calls": calls}, sources, "-ffp-contract=off"))


run_all(globals())
