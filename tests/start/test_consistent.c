/* test_consistent.c - a start of M y' = f, M singular,
    that does not meet the constraints is refused with the row and its
   residual, whatever the scales and however M couples; one that meets them as runs leave them is not. */
#include "common.h"
#include "random_case.h"

enum { MOST = 40, PARTS = 4 };

typedef struct {
    random_case *c;
    costate_problem P;                   /* z with y = state z; rows times scale; and `off` added to row `at` of f */
    double scale[MOST], state, off, z[MOST], atol;
    int at, first;                       /* first: of the constraints */
} shifted;

static costate_point unscaled(const shifted *s, const costate_point *x, double *y)
{
    for (int i = 0; i < s->c->P.n; i++) y[i] = x->y ? x->y[i] * s->state : 0;
    return (costate_point){.t = x->t, .y = x->y ? y : NULL, .p = x->p};
}
static int value(const costate_point *x, double *out, void *ctx)
{
    shifted *s = ctx;
    double y[MOST];
    costate_point at = unscaled(s, x, y);
    int r = s->c->P.rhs.value(&at, out, s->c->P.ctx);
    out[s->at] += s->off;
    for (int i = 0; i < s->c->P.n; i++) out[i] *= s->scale[i];
    return r;
}
static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    shifted *s = ctx;
    double y[MOST], dy[MOST];
    costate_point at = unscaled(s, x, y), along = unscaled(s, dx, dy);
    int r = s->c->P.rhs.tangent(&at, &along, out, s->c->P.ctx);
    for (int i = 0; i < s->c->P.n; i++) out[i] *= s->scale[i];
    return r;
}
static void scale_matrix(const shifted *s, double *A)
{
    const costate_pattern *a = s->c->P.pattern;
    int n = s->c->P.n;
    if (a) for (int k = 0; k < a->col[n]; k++) A[k] *= s->scale[a->row[k]] * s->state;
    else for (int k = 0; k < n * n; k++) A[k] *= s->scale[k % n] * s->state;
}
static int jac(const costate_point *x, double *J, void *ctx)
{
    shifted *s = ctx;
    double y[MOST];
    costate_point at = unscaled(s, x, y);
    int r = s->c->P.jac(&at, J, s->c->P.ctx);
    scale_matrix(s, J);
    return r;
}
static int mass(double *M, void *ctx)
{
    shifted *s = ctx;
    int r = s->c->P.mass(M, s->c->P.ctx);
    scale_matrix(s, M);
    return r;
}

/* rows: largest power of ten of a row's scale; sparse: M has rows of zeros, else they are mixed with the others */
static void open_shifted(shifted *s, unsigned seed, int n, int sparse, double state, double rows)
{
    unsigned u = seed;
    *s = (shifted){.state = state, .first = n - 1 - n / 4};
    s->c = random_case_new(&(random_spec){.seed = seed, .kind = (int)seed % RANDOM_KINDS, .n = n, .np = 2,
                                          .mass = MASS_SINGULAR, .sparse = sparse, .stiffness = 1e3});
    assert_non_null(s->c);
    for (int i = 0; i < n; i++) {
        s->scale[i] = pow(10, rows * random_in(&u));
        s->z[i] = s->c->y0[i] / state;
    }
    s->at = s->first + (int)random_below(&u, (unsigned)(n - s->first));
    s->P = s->c->P;
    s->P.ctx = s;
    s->P.rhs = (costate_map){.value = value, .tangent = tangent};
    s->P.jac = jac;
    s->P.mass = mass;
}

static costate *solver(const shifted *s, const costate_method *m, double tol)
{
    return new_for_test(m, &s->P, &(costate_options){.rtol = tol, .atol = tol / s->state});
}

static int takes(const costate_method *m) { return method_takes(m, MASS_SINGULAR); }

static const struct { int n, sparse; double state, rows; } kinds[] = {
    {2, 1, 1, 0}, {3, 0, 1, 0}, {MOST, 1, 1, 0}, {12, 0, 1, 0}, {8, 1, 1e160, 0}, {8, 0, 1e-160, 0}, {8, 1, 1, 6},
        {MOST, 1, 1e-160, 6}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int seeds(int k) { return kinds[k].n == MOST ? 1 : 3; }

/* a constraint missed by a thousand tolerances */
static void refuses(const costate_method *m, int k, int seed, double tol)
{
    shifted s;
    char row[64];
    double y[MOST];
    open_shifted(&s, (unsigned)seed, kinds[k].n, kinds[k].sparse, kinds[k].state, kinds[k].rows);
    s.off = 1e3 * tol;
    costate *c = solver(&s, m, tol);
    memcpy(y, s.z, sizeof y);
    int status = costate_integrate(c, s.c->t0, s.c->t1, y, s.c->p0, NULL);
    if (status != COSTATE_INCONSISTENT || costate_get_stats(c)->steps != 0)
        fail_msg("%s, kind %d, seed %d, tol %g: %d: %s", method_name(m), k, seed, tol, status, costate_message(c));
    assert_memory_equal(y, s.z, (size_t)s.c->P.n * sizeof *y);
    snprintf(row, sizeof row, "row %d of f is ", s.at);
    const char *says = strstr(costate_message(c), row);
    double residual = says ? strtod(says + strlen(row), NULL) / s.scale[s.at] : NAN;
    if (kinds[k].sparse && !(fabs(residual - s.off) <= 1e-4 * s.off))
        fail_msg("no %s%g: %s", row, s.off, costate_message(c));
    costate_free(c);
    random_case_free(s.c);
}

static void refused(void **state)
{
    if (!takes(*state)) return;
    for (int k = 0; k < KINDS; k++)
        for (int seed = 1; seed <= seeds(k); seed++)
            for (int e = 3; e <= 9; e += 3) refuses(*state, k, seed, pow(10, -e));
}

/* a run in parts, short ones where steps are: each starts where the one before ended */
static void restarts(const costate_method *m, int k, int seed, double tol)
{
    shifted s;
    open_shifted(&s, (unsigned)seed, kinds[k].n, kinds[k].sparse, kinds[k].state, kinds[k].rows);
    costate *c = solver(&s, m, tol);
    double t = s.c->t0, h = (s.c->t1 - t) / PARTS / (method_info(m).order < 3 || tol < 1e-5 ? 10 : 1);
    for (int part = 0; part < PARTS; part++) {
        int status = costate_integrate(c, t + part * h, t + (part + 1) * h, s.z, s.c->p0, NULL);
        if (status != COSTATE_OK)
            fail_msg("%s, kind %d, seed %d, tol %g, part %d: %s", method_name(m), k, seed, tol, part,
                     costate_message(c));
    }
    costate_free(c);
    random_case_free(s.c);
}

static void restarted(void **state)
{
    const costate_method_info info = method_info(*state);
    if (!takes(*state) || !info.embedded) return;
    for (int k = 0; k < KINDS; k++)
        for (int seed = 1; seed <= seeds(k); seed += 2) {
            restarts(*state, k, seed, 1e-3);
            restarts(*state, k, seed, 1e-5);
            if (info.order >= 4) restarts(*state, k, seed, 1e-10);
        }
}

/* 0 = f alone, in one unknown, at a late time */
static int alone(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = 1e-3 * (x->t / 1.7e12 + 1 - 2 * x->y[0] * x->y[0] * x->y[0]);
    return 0;
}
static int nothing(double *M, void *ctx) { (void)ctx; M[0] = 0; return 0; }

static void one_unknown(void **state)
{
    const costate_method *m = *state;
    costate_problem P = {.n = 1, .rhs = {.value = alone}, .mass = nothing};
    if (!takes(m)) return;
    costate *c = new_for_test(m, &P, &(costate_options){.autonomous = 1});
    double y = 1;
    CHECK_OK(c, costate_integrate(c, 1.7e12, 1.7e12 + 1000, &y, NULL, NULL));
    y = 1.001;
    assert_int_equal(costate_integrate(c, 1.7e12, 1.7e12 + 1000, &y, NULL, NULL), COSTATE_INCONSISTENT);
    assert_non_null(strstr(costate_message(c), "row 0 of f is -6.0"));
    costate_free(c);
}

/* Steps that a tape prescribes are taken from wherever they start. */
static void replayed(void **state)
{
    const costate_method *m = *state;
    if (!takes(m)) return;
    shifted s;
    double y[MOST];
    open_shifted(&s, 2, 8, 1, 1, 0);
    costate *c = solver(&s, m, 1e-4);
    costate_tape *tape = costate_tape_new();
    memcpy(y, s.z, sizeof y);
    CHECK_OK(c, costate_integrate(c, s.c->t0, s.c->t1, y, s.c->p0, tape));
    memcpy(y, s.z, sizeof y);
    y[s.at] += 0.01;
    CHECK_OK(c, costate_replay(c, tape, y, s.c->p0));
    costate_tape_free(tape);
    costate_free(c);
    random_case_free(s.c);
}

int main(void)
{
    return run_by_kind("inconsistent: refused", refused) + run_by_kind("restarts: not refused", restarted) +
           run_by_kind("one unknown", one_unknown) + run_by_kind("replayed", replayed);
}
