"""lanes.py SOURCE BUILD SANITIZE COMPILER...: maps of several members side by side, which costate-model --lanes writes,
have the bits of the callbacks of one member, lane by lane, optimised or not: all products, with all directions and
gradients that may be NULL, and the linear solver.  Models that lanes do not serve are refused.  Reports in the format
of cmocka."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

from compiled import need_library, program, root, run, sanitize  # noqa: E402

from cases import Skipped, run_all  # noqa: E402
from codegen import command  # noqa: E402
from codegen.equations import pieces  # noqa: E402
from rho import IN_C, RHO  # noqa: E402

SHIPPED = ["pollution", "hires", "robertson_ode", "lotka_volterra", "oregonator", "van_der_pol", "reactor"]
OTHERS = {
    # time, running costs, branches, minima, powers and calls; names that lanes use themselves
    "timed": """kinks as branches
parameter k = 2, L = 0.5, p = 3, w_0 = 0.1
state l = 1, y = 0.3, ts = 0.4
let rate = if(y > 0.25, exp(-k*y)*L/(1 + exp(-y)), y^2.5 + 1)
l' = -k*l*sin(t) + p*y
y' = max(l, ts)*rate - y*w_0 + t
ts' = sqrt(1 + l^2)*t - ts^3 + abs(l - ts)
cost a' = l^2*t + p
cost b' = y^k*exp(-t)
""",
    "in_time": "parameter a = 1, b\nstate x, y\nx' = a*t^2*x + b\ny' = -x*t\ncost q' = t\n",
    "free": "state x = 1, y\nx' = x*y - t\ny' = -x^2\n",                # without parameters
    "linear": "parameter k = 2\nstate x = 1, y\nx' = 2*y\ny' = -3*x + k\n",
    "still": "state x\nx' = 1\n",
    # a function in C, in a branch, too
    "called": IN_C.format(3) + """kinks as branches
parameter k = 2
state T = 1, x = 0.3
T' = -k*rho(T, x*t)*T + if(x > 0.2, rho(x, x), rho(k, x)^2)
x' = rho(k, T) - x
cost q' = rho(x, k)*t
""",
    "events": "mode a, b\nstate x = 1\nx' = -x\nevent e when x - 0.5 falls\n  x += 1\n  mode := b\n",
}

DRIVER = r"""#include "%(name)s.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef COSTATE_LANES_ONLY
#define COSTATE_LANES_ONLY 0
#endif
enum { N = %(name)s_states, MOST = COSTATE_LANES_MOST, ONLY = COSTATE_LANES_ONLY };
static const costate_problem *problem;
static int L, rows, np;                                 /* rows of the map at hand */
static double *y, *p, *t, *w, *direction[2][3], *start[3], *got, *wanted;       /* [3]: t, y, p */

static double draw(void) { return (double)rand() / RAND_MAX; }

static double *vector(int size)
{
    double *v = aligned_alloc(64, (size_t)(size + 1) * MOST * sizeof(double));
    for (int i = 0; i < (size + 1) * MOST; i++) v[i] = draw() - 0.5;
    return v;
}

static void of_lane(const double *v, int size, int l, double *out)
{
    for (int i = 0; i < size; i++) out[i] = v[i * L + l];
}

static int size_of(int space) { return space == 0 ? 1 : space == 1 ? N : np; }

static costate_lane_point lane_point(double *const *v, int given)
{
    return (costate_lane_point){given & 1 ? v[0] : NULL, given & 2 ? v[1] : NULL, given & 4 ? v[2] : NULL};
}

/* that of one lane; `into` holds its numbers */
static costate_point point(const costate_lane_point *x, int l, double *into)
{
    if (x->y) of_lane(x->y, N, l, into);
    if (x->p) of_lane(x->p, np, l, into + N);
    return (costate_point){.t = x->t ? x->t[l] : 0, .y = x->y ? into : NULL, .p = x->p ? into + N : NULL};
}

/* One product in lanes and one by one */
static int product(const costate_lane_map *a, const costate_map *b, int which, int x_given, int d_given, int e_given,
                   int g_given)
{
    double *const at[3] = {t, y, p};
    costate_lane_point x = lane_point(at, x_given), d = lane_point(direction[0], d_given);
    costate_lane_point e = lane_point(direction[1], e_given);
    const int adjoint = which >= 3;
    double *place[3] = {got, got + MOST, got + MOST * (N + 1)};
    double *expected[3] = {wanted, wanted + MOST, wanted + MOST * (N + 1)};
    const size_t all = (size_t)(MOST * (N + 1 + np)) * sizeof(double);
    memset(got, 0, all);
    memset(wanted, 0, all);
    for (int s = 0; s < 3 && adjoint; s++) {
        memcpy(place[s], start[s], (size_t)(L * size_of(s)) * sizeof(double));
        memcpy(expected[s], start[s], (size_t)(L * size_of(s)) * sizeof(double));
    }
    costate_lane_gradient g = {g_given & 1 ? place[0] : NULL, g_given & 2 ? place[1] : NULL,
                               g_given & 4 ? place[2] : NULL};
    int code = which == 0 ? a->value(&x, got, NULL) : which == 1 ? a->tangent(&x, &d, got, NULL)
        : which == 2 ? a->tangent2(&x, &d, &e, got, NULL) : which == 3 ? a->adjoint(&x, w, &g, NULL)
        : which == 4 ? a->adjoint_tangent(&x, &d, w, &g, NULL) : a->adjoint_tangent2(&x, &d, &e, w, &g, NULL);
    for (int l = 0; l < L; l++) {
        double numbers[3][N + %(np)s + 1], weights[N + 8], out[N + 8], sum[3][N + %(np)s + 1];
        costate_point X = point(&x, l, numbers[0]), D = point(&d, l, numbers[1]), E = point(&e, l, numbers[2]);
        of_lane(w, rows, l, weights);
        for (int s = 0; s < 3; s++) of_lane(start[s], size_of(s), l, sum[s]);
        costate_gradient G = {.t = g.t ? sum[0] : NULL, .y = g.y ? sum[1] : NULL, .p = g.p ? sum[2] : NULL};
        code |= which == 0 ? b->value(&X, out, NULL) : which == 1 ? b->tangent(&X, &D, out, NULL)
            : which == 2 ? b->tangent2(&X, &D, &E, out, NULL) : which == 3 ? b->adjoint(&X, weights, &G, NULL)
            : which == 4 ? b->adjoint_tangent(&X, &D, weights, &G, NULL)
            : b->adjoint_tangent2(&X, &D, &E, weights, &G, NULL);
        for (int i = 0; i < rows && !adjoint; i++) wanted[i * L + l] = out[i];
        for (int s = 0; s < 3 && adjoint; s++)
            for (int i = 0; i < size_of(s); i++) expected[s][i * L + l] = sum[s][i];
    }
    if (!code && !memcmp(got, wanted, all)) return 0;
    return printf("L = %%d, product %%d, x %%d, d %%d, e %%d, g %%d: code %%d or other bits\n", L, which, x_given,
                  d_given, e_given, g_given, code), 1;
}

static int map(const costate_lane_map *a, const costate_map *b, int count)
{
    rows = count;
    if (!a->value != !b->value) return puts("a map is missing"), 1;
    if (!b->value) return 0;
    for (int which = 0; which < 6; which++)
        for (int x_given = 6; x_given < 8; x_given++)
            for (int d = 0; d < (which %% 3 ? 8 : 1); d++)
                for (int e = 0; e < (which %% 3 == 2 ? 8 : 1); e++)
                    for (int g = 0; g < (which < 3 ? 1 : 8); g++)
                        if (product(a, b, which, x_given, d, e, g)) return 1;
    return 0;
}

static int jacobian(const costate_lane_maps *m)
{
    const int entries = problem->pattern ? problem->pattern->col[N] : N * N;
    double *J = vector(entries);
    double one[N * N], numbers[N + %(np)s + 1];
    costate_lane_point x = {t, y, p};
    int differ = m->jac(&x, J, NULL);
    for (int l = 0; l < L; l++) {
        costate_point X = point(&x, l, numbers);
        problem->jac(&X, one, NULL);
        for (int i = 0; i < entries; i++) differ |= !!memcmp(&J[i * L + l], &one[i], sizeof(double));
    }
    free(J);
    return differ && printf("L = %%d: another Jacobian\n", L);
}

static int systems(const costate_lane_maps *m, int *safe, int *others)
{
    if (!m->backend) return 0;
    int column[N + 1], row[N * N], diagonal[N], entries = 0;                /* of J, and the diagonal */
    for (int j = 0; j < N; j++) {
        column[j] = entries;
        for (int i = 0; i < N; i++) {
            int used = i == j || !problem->pattern;
            for (int k = used ? 0 : problem->pattern->col[j]; !used && k < problem->pattern->col[j + 1]; k++)
                used = problem->pattern->row[k] == i;
            if (i == j) diagonal[j] = entries;
            if (used) row[entries++] = i;
        }
    }
    column[N] = entries;
    costate_pattern pattern = {N, column, row};
    double *A = vector(entries), *LU = vector(m->entries), *X = vector(N), one[N * N], x[N], out[N];
    int status = 0;
    for (int k = 0; k < entries * L; k++) A[k] = draw() - 0.5;
    for (int l = 0; l < L; l++) {
        const int kind = rand() %% 4;                                       /* small pivots, none, NaN */
        for (int j = 0; j < N; j++) A[diagonal[j] * L + l] += 5;
        double *a = &A[diagonal[rand() %% N] * L + l];
        *a = kind == 0 ? *a * 1e-6 : kind == 1 ? *a * 0 : kind == 2 && rand() %% 4 == 0 ? NAN : *a;
    }
    const int bits = m->factor(A, LU);
    for (int transpose = 0; transpose < 2; transpose++) {
        double *b = vector(N);
        memcpy(X, b, (size_t)(N * L) * sizeof(double));
        m->solve(LU, transpose, X);
        for (int l = 0; l < L; l++) {
            void *self = NULL;
            status |= m->backend->init(&self, N, &pattern, 0, NULL);
            const size_t alone = m->backend->bytes(self);
            of_lane(A, entries, l, one);
            const int failed = m->backend->factor(self, one);
            const int elsewhere = m->backend->bytes(self) > alone;         /* the general solver has it */
            if (elsewhere != (bits >> l & 1)) status |= printf("L = %%d: the bit of lane %%d is wrong\n", L, l);
            *(elsewhere ? others : safe) += 1;
            of_lane(b, N, l, x);
            of_lane(X, N, l, out);
            if (!elsewhere && !failed && (m->backend->solve(self, transpose, 1, x) || memcmp(x, out, sizeof x)))
                status |= printf("L = %%d: another solution, transposed: %%d\n", L, transpose);
            m->backend->free(self);
        }
        free(b);
    }
    if (bits >> L) status |= puts("bits of other lanes");
    free(A), free(LU), free(X);
    return status;
}

static int runs_here(int lanes)
{
#if defined __x86_64__ && defined __GNUC__
    if (lanes == 4) return __builtin_cpu_supports("avx2");
    if (lanes == 8)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
            && __builtin_cpu_supports("avx512vl");
#endif
    return lanes > 0;
}

static void points(void)
{
    double first[N + 8];
    const double *defaults = %(defaults)s;
    %(name)s_start(0, defaults, first);
    for (int i = 0; i < N * MOST; i++) y[i] = first[i / L %% N] * (0.5 + draw()) + 0.1 * draw();
    for (int i = 0; i < np * MOST; i++) p[i] = defaults[i / L %% np] * (0.8 + 0.4 * draw());
}

int main(void)
{
    int safe = 0, others = 0, tested = 0;
    problem = %(name)s_problem(), np = %(np)s;
    t = vector(1), y = vector(N), p = vector(np), w = vector(N + problem->nq);
    got = vector(N + np), wanted = vector(N + np);
    for (int s = 0; s < 3; s++) {
        start[s] = vector(size_of(s));
        for (int k = 0; k < 2; k++) direction[k][s] = vector(size_of(s));
    }
    const costate_lane_maps *m = %(name)s_lanes();
    for (int k = 0; m->lanes; m++, k++) {
        L = m->lanes;
        if (L != (ONLY ? ONLY : 2 << k)) return puts("other numbers of lanes"), 1;
        for (int trial = 0; trial < 20 && runs_here(L); trial++) {
            points();
            if (trial < 3 && (map(&m->rhs, &problem->rhs, N) || map(&m->cost, &problem->cost, problem->nq))) return 1;
            if (jacobian(m) || systems(m, &safe, &others)) return 1;
            tested++;
        }
    }
    if (m - %(name)s_lanes() != (ONLY ? 1 : 3) || !tested) return puts("numbers of lanes are missing"), 1;
    if ((N > 1) != (safe > 0 && others > 0)) return printf("%%d safe matrices, %%d others\n", safe, others), 1;
    for (int s = 0; s < 3; s++) free(start[s]), free(direction[0][s]), free(direction[1][s]);
    free(t), free(y), free(p), free(w), free(got), free(wanted);
    return 0;
}
"""


def sources(place, optimised):
    """(name, file) of all models; optimised, which takes long to compile, or in part, the larger ones only if all are
    asked for"""
    thorough = not optimised or os.environ.get("COSTATE_TESTS") == "all"
    for name in SHIPPED[-2:] if sanitize != "none" else SHIPPED if thorough else SHIPPED[5:6]:
        yield name, os.path.join(root, "models", name + ".eq")
    Path(place, "rho.h").write_text(RHO, encoding="utf-8")
    for name, text in OTHERS.items():
        file = os.path.join(place, name + ".eq")
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
        yield name, file


def same_bits(*options):
    need_library()
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        for name, file in sources(place, "-O3" in options or "-DCOSTATE_LANES_ONLY=2" in options):
            written = command.write(file, os.path.join(place, name + ".c"), lanes=True)
            with open(written[1], encoding="utf-8") as header:
                has_parameters = f"{name}_defaults" in header.read()
            words = {"name": name, "np": f"{name}_parameters" if has_parameters else "0",
                     "defaults": f"{name}_defaults" if has_parameters else "NULL"}
            run(program(place, DRIVER % words, [str(written[0])], "-I" + place, "-fopenmp-simd", "-ffp-contract=off",
                        "-Wno-pass-failed", *options))


def test_optimised_code_has_the_bits_of_single_members():
    if sanitize != "none":
        raise Skipped("with sanitizers it takes minutes to compile")
    same_bits("-O3", "-fno-math-errno")


def test_code_that_is_not_optimised_has_them_too():
    same_bits("-O0")


def test_one_number_of_lanes_alone_has_them_too():
    same_bits("-O0", "-DCOSTATE_LANES_ONLY=2")


def test_functions_in_pieces_have_them_too():
    """as those of large models, here with a few lines in each"""
    before = pieces.WHOLE, pieces.LENGTH
    pieces.WHOLE, pieces.LENGTH = 0, 3
    try:
        same_bits("-O1", "-fno-math-errno")
    finally:
        pieces.WHOLE, pieces.LENGTH = before


def test_models_that_lanes_do_not_serve():
    for model, why in (("battery", "it has a mass matrix"), ("heat_plate", "its states are fields on a grid"),
                       ("pendulum", "it is a residual F(t, y, y', p) = 0, not a right-hand side"),
                       ("thermostat", "its right-hand side or a running cost depends on the mode"),
                       ("dosing", "it has the memory variable infusion")):
        with tempfile.TemporaryDirectory(prefix="costate-") as place:
            done = subprocess.run([sys.executable, "-B", "-m", "codegen", "model", f"models/{model}.eq", "--lanes",
                                   "-o", os.path.join(place, "m.c")], cwd=root, capture_output=True, text=True)
            assert done.returncode == 1 and not os.listdir(place), done
            assert done.stderr == f"{model}.eq: --lanes does not serve this model: {why}\n", done.stderr


run_all(globals())
