/* test_pattern.c - a sparsity pattern that leaves entries out is found and the entry named, with or without jac, from
   tangents or from values alone: by costate_check_problem, and by the first Jacobian of a run formed by
   products; costate_pattern_detect finds all. */
#include "alloc.h"
#include "common.h"
#include "random_case.h"

enum { MOST = 40 };

typedef struct {
    random_case *c;
    costate_problem P;
    costate_pattern pattern;             /* without entry (row, column) */
    int col[MOST + 1], at[MOST * MOST], row, column;
    double value;                        /* of f_y there */
} gap;

static double product(const gap *g, const costate_point *x, int i, int j)
{
    double e[MOST] = {0}, out[MOST];
    e[j] = 1;
    g->c->P.rhs.tangent(x, &(costate_point){.y = e}, out, g->c->P.ctx);
    return out[i];
}

/* entry k of the pattern is left out; k < 0: none */
static void leave_out(gap *g, int k)
{
    const costate_pattern *full = g->c->P.pattern;
    int n = full->n, used = 0;
    for (int j = 0; j < n; j++) {
        g->col[j] = used;
        for (int l = full->col[j]; l < full->col[j + 1]; l++) {
            if (l != k) { g->at[used++] = full->row[l]; continue; }
            g->row = full->row[l];
            g->column = j;
        }
    }
    g->col[n] = used;
    g->pattern = (costate_pattern){n, g->col, g->at};
    g->P = g->c->P;
    g->P.pattern = &g->pattern;
    g->P.jac = NULL;
    costate_point x = {.t = g->c->t0, .y = g->c->y0, .p = g->c->p0};
    if (k >= 0) g->value = product(g, &x, g->row, g->column);
}

/* n: states of a random problem; its pattern has about 4 entries a column */
static void open_gap(gap *g, unsigned seed, int n, int kind)
{
    g->c = random_case_new(&(random_spec){.seed = seed, .kind = kind, .n = n, .np = 2, .sparse = 1, .stiffness = 1e4});
    assert_non_null(g->c);
    leave_out(g, -1);
}

static void shows_entry(const gap *g, const char *text, const char *call)
{
    char place[64];
    double value = NAN;
    snprintf(place, sizeof place, "row %d with respect to y[%d], which is ", g->row, g->column);
    const char *at = strstr(text, place);
    if (!at || sscanf(at + strlen(place), "%lf", &value) != 1 || !(fabs(value - g->value) <= 1e-3 * fabs(g->value)))
        fail_msg("%s: no %s%.8g: %s", call, place, g->value, text);
}

static int checked(gap *g, int tangent, costate_report *r)
{
    costate_point x = {.t = g->c->t0, .y = g->c->y0, .p = g->c->p0};
    costate_problem P = g->P;
    if (!tangent) P.rhs = (costate_map){.value = P.rhs.value};
    return costate_check_problem(&P, &x, r, NULL);
}

/* each entry of the pattern in turn, all of the small ones: none is too small or too far off to be named */
static void check_names_entry(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 12; seed++) {
        gap g;
        costate_report r;
        open_gap(&g, seed, seed % 3 ? (int)seed + 1 : MOST, (int)seed % RANDOM_KINDS);
        int entries = g.col[g.c->P.n];
        for (int tangent = 0; tangent <= 1; tangent++) {
            leave_out(&g, -1);
            int status = checked(&g, tangent, &r);
            if (status != COSTATE_OK || !(r.jac < 1e-7))
                fail_msg("seed %u, whole pattern: %d: %s", seed, status, r.text);
            for (int k = 0; k < entries; k += 1 + entries / 20) {
                leave_out(&g, k);
                status = checked(&g, tangent, &r);
                if (status != COSTATE_CHECK_FAILED || !(r.jac > 0))
                    fail_msg("seed %u, entry (%d, %d) = %g left out: %d: %s", seed,
                             g.row, g.column, g.value, status, r.text);
                shows_entry(&g, r.text, "check");
            }
        }
        random_case_free(g.c);
    }
}

/* ---- detected ---- */

static int narrower(const costate_pattern *a, const costate_pattern *b)          /* every entry of a is in b */
{
    for (int j = 0; j < a->n; j++)
        for (int k = a->col[j]; k < a->col[j + 1]; k++) {
            int l = b->col[j];
            while (l < b->col[j + 1] && b->row[l] != a->row[k]) l++;
            if (l == b->col[j + 1]) return 0;
        }
    return 1;
}

static void detects(const problem *b, const costate_pattern *wanted, int tangent)
{
    costate_problem P = b->P;
    costate_point x = {.t = b->t0, .y = b->y0, .p = b->p0};
    costate_report r;
    costate_pattern *found;
    P.pattern = NULL;
    if (!tangent) P.rhs.tangent = NULL;
    int status = costate_pattern_detect(&P, &x, &found, &r);
    if (status != COSTATE_OK) fail_msg("%s: %d: %s", b->name, status, r.text);
    for (int j = 0; j < P.n; j++)
        for (int k = found->col[j] + 1; k < found->col[j + 1]; k++) assert_true(found->row[k] > found->row[k - 1]);
    if (!narrower(wanted, found)) fail_msg("%s: entries are missing: %s", b->name, r.text);
    if (!narrower(found, wanted)) fail_msg("%s: more entries than there are: %s", b->name, r.text);
    costate_pattern_free(found);
}

/* The pattern that is known, and no more: of grids, of random problems with and without M, from tangents or values. */
static void detected(void **state)
{
    (void)state;
    for (int tangent = 0; tangent <= 1; tangent++) {
        problem *grid = problem_brusselator(12);
        detects(grid, grid->P.pattern, tangent);
        problem_free(grid);
        for (unsigned seed = 1; seed <= 20; seed++) {
            random_case *c = random_case_new(&(random_spec){.seed = seed, .kind = (int)seed % 2,
                .n = 1 + (int)seed % 12,
                                                            .np = 2, .sparse = 1, .stiffness = 1e3});
            assert_non_null(c);
            problem b = {"random", c->t0, c->t1, c->y0, c->p0, c->P, 0, 0, 0, NULL, NULL};
            detects(&b, c->P.pattern, tangent);
            random_case_free(c);
        }
    }
}

/* y0' = y0 y1 + sqrt y1, y1' = (t - 1) y0, 0 = y2 - y0 at y = 0, t = 1: all entries are zero, or infinite,
    there.  M in n*n. */
static int vanishing(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    if (x->y[1] < 0) return 1;
    out[0] = x->y[0] * x->y[1] + sqrt(x->y[1]);
    out[1] = (x->t - 1) * x->y[0];
    out[2] = 0 * x->y[2];
    return 0;
}
static int full_mass(double *M, void *ctx) { (void)ctx; M[0] = M[4] = 1; M[7] = 2; return 0; }

static void detected_near(void **state)
{
    static const int col[] = {0, 2, 4, 6}, row[] = {0, 1, 0, 1, 1, 2};
    static const costate_pattern wanted = {3, col, row};
    const double y[3] = {0, 0, 0};
    problem b = {"vanishing", 1, 2, y, NULL, {.n = 3, .rhs = {.value = vanishing}, .mass = full_mass}, 0, 0, 0, NULL,
        NULL};
    (void)state;
    detects(&b, &wanted, 0);
}

/* f_i = y_i y_(i+1), defined for y >= 0 only: at y = 0 nothing is seen, and points near it must have no sign wrong. */
enum { FLAT = 12 };
static int one_sided(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < FLAT; i++) {
        if (x->y[i] < 0) return 1;
        out[i] = x->y[i] * x->y[(i + 1) % FLAT];
    }
    return 0;
}

static void detected_on_one_side(void **state)
{
    int col[FLAT + 1], row[2 * FLAT];
    const costate_pattern wanted = {FLAT, col, row};
    const double y[FLAT] = {0};
    problem b = {"one side", 1, 2, y, NULL, {.n = FLAT, .rhs = {.value = one_sided}}, 0, 0, 0, NULL, NULL};
    (void)state;
    for (int j = 0; j <= FLAT; j++) col[j] = 2 * j;
    for (int j = 0; j < FLAT; j++) {                    /* rows j - 1 and j, in order */
        row[2 * j] = j ? j - 1 : 0;
        row[2 * j + 1] = j ? j : FLAT - 1;
    }
    detects(&b, &wanted, 0);
}

/* 0 = 1 + y1' - y0, 0 = y1 at y = 1e-20, y' = 0: a change of y' must be seen beside 1. */
static int beside_one(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = 1 + x->yp[1] - x->y[0];
    out[1] = x->y[1];
    return 0;
}

static void detected_slope(void **state)
{
    const double y[] = {1e-20, 1e-20}, yp[] = {0, 0};
    const costate_problem P = {.n = 2, .residual = {.value = beside_one}};
    costate_pattern *found;
    costate_report r;
    (void)state;
    assert_int_equal(costate_pattern_detect(&P, &(costate_point){.y = y, .yp = yp}, &found, &r), COSTATE_OK);
    assert_int_equal(found->col[2] - found->col[1], 2);
    costate_pattern_free(found);
}

static int never(const costate_point *x, double *out, void *ctx) { (void)x, (void)ctx; out[0] = NAN; return 0; }
static int refuses(const costate_point *x, double *out, void *ctx) { (void)x, (void)out, (void)ctx; return -3; }

static void not_detected(void **state)
{
    const double y = 1;
    costate_point x = {.y = &y};
    costate_problem P = {.n = 1, .rhs = {.value = never}};
    costate_pattern *found = (void *)&P;
    costate_report r;
    (void)state;
    assert_int_equal(costate_pattern_detect(&P, &x, NULL, &r), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_pattern_detect(NULL, &x, &found, &r), COSTATE_BAD_ARGUMENT);
    assert_null(found);
    assert_int_equal(costate_pattern_detect(&P, NULL, &found, NULL), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_pattern_detect(&P, &x, &found, &r), COSTATE_NOT_FINITE);
    P.rhs.value = refuses;
    assert_int_equal(costate_pattern_detect(&P, &x, &found, &r), COSTATE_CALLBACK);
    assert_non_null(strstr(r.text, "-3"));
    costate_pattern_free(NULL);
    random_case *c = random_case_new(&(random_spec){.seed = 3, .n = 10, .np = 2, .sparse = 1, .stiffness = 10});
    costate_point at = {.t = c->t0, .y = c->y0, .p = c->p0};
    P = c->P;
    int status = COSTATE_NO_MEMORY;
    for (long k = 1; k < 100 && status != COSTATE_OK; k++) {
        alloc_fail_at(k);
        status = costate_pattern_detect(&P, &at, &found, &r);
        alloc_fail_at(0);
        if (status != COSTATE_OK && (status != COSTATE_NO_MEMORY || found))
            fail_msg("allocation %ld: %d: %s", k, status, r.text);
    }
    assert_int_equal(status, COSTATE_OK);
    costate_pattern_free(found);
    random_case_free(c);
}

/* ---- runs ---- */

static double part_of_row(const gap *g)
{
    costate_point x = {.t = g->c->t0, .y = g->c->y0, .p = g->c->p0};
    double sum = 0;
    for (int j = 0; j < g->c->P.n; j++) sum += fabs(product(g, &x, g->row, j) * g->c->y0[j]);
    return fabs(g->value * g->c->y0[g->column]) / sum;
}

static int started(gap *g, const costate_method *m, int tangent, costate_stats *count, char *said)
{
    costate_problem P = g->P;
    double y[MOST];
    if (!tangent) P.rhs.tangent = NULL;
    double part = 0.01 * (g->c->t1 - g->c->t0);
    costate_options o = {.rtol = 1e-3, .atol = 1e-3, .autonomous = 1, .hmax = fabs(part) / 8,    /* Newton converges */
                         .members = newton_members(m)};
    costate *c = new_for_test(m, &P, &o);
    memcpy(y, g->c->y0, (size_t)P.n * sizeof *y);
    int status = costate_integrate(c, g->c->t0, g->c->t0 + part, y, g->c->p0, NULL);
    *count = *costate_get_stats(c);
    snprintf(said, 400, "%s", costate_message(c));
    costate_free(c);
    return status;
}

/* An entry of some weight in its row ends the run at its first Jacobian, which costs one product more. */
static void run_names_entry(void **state)
{
    const costate_method *m = *state;
    if (is_explicit(m)) return;                            /* they form none */
    for (unsigned seed = 1; seed <= 6; seed++) {
        gap g;
        char said[400];
        costate_stats count;
        open_gap(&g, seed, seed % 3 ? (int)seed + 1 : MOST, (int)seed % RANDOM_KINDS);
        g.c->P.mass = NULL;
        int entries = g.col[g.c->P.n];
        for (int tangent = 0; tangent <= 1; tangent++) {
            leave_out(&g, -1);
            int status = started(&g, m, tangent, &count, said);
            if (status != COSTATE_OK) fail_msg("seed %u, whole pattern: %d: %s", seed, status, said);
            assert_int_equal(count.jac_products % count.jac, 1 % count.jac);
            for (int k = 0; k < entries; k += 1 + entries / 8) {
                leave_out(&g, k);
                if (part_of_row(&g) < (tangent ? 1e-5 : 0.05)) continue;
                status = started(&g, m, tangent, &count, said);
                if (status != COSTATE_BAD_ARGUMENT || count.accepted > 0)
                    fail_msg("%s, seed %u, entry (%d, %d) = %g left out: %d: %s", method_name(m), seed, g.row,
                        g.column, g.value, status, said);
                shows_entry(&g, said, "run");
            }
        }
        random_case_free(g.c);
    }
}

/* ---- mass ---- */

enum { RIGHT, GIVES_UP, NOT_FINITE, INFINITE, CHANGES, DENSE, FAULTS };
typedef struct { random_case *c; int fault, calls; } masses;

static int mass(double *M, void *ctx)
{
    masses *s = ctx;
    int n = s->c->P.n, entries = s->c->P.pattern->col[n];
    s->c->P.mass(M, s->c->P.ctx);
    s->calls++;
    if (s->fault == NOT_FINITE) M[entries - 1] = NAN;
    if (s->fault == INFINITE) M[entries - 1] = HUGE_VAL;
    if (s->fault == CHANGES) M[1] += s->calls;
    if (s->fault == DENSE) for (int k = 0; k < n * n; k++) M[k] = k % (n + 1) == 0;
    return s->fault == GIVES_UP ? -5 : 0;
}
static int value(const costate_point *x, double *out, void *ctx)
{
    masses *s = ctx;
    return s->c->P.rhs.value(x, out, s->c->P.ctx);
}

/* Nothing else knows M: what can be told is told. */
static void mass_faults(void **state)
{
    static const char *const words[] = {"", "-5", "nan", "inf", "not constant", "outside"};
    static const int statuses[] = {COSTATE_OK, COSTATE_CALLBACK, COSTATE_CHECK_FAILED, COSTATE_CHECK_FAILED,
        COSTATE_CHECK_FAILED, COSTATE_CHECK_FAILED};
    (void)state;
    for (int fault = RIGHT; fault < FAULTS; fault++) {
        masses s = {random_case_new(&(random_spec){.seed = 4, .n = 12, .np = 2, .mass = MASS_REGULAR, .sparse = 1,
            .stiffness = 10}), fault, 0};
        assert_non_null(s.c);
        costate_problem P = {.n = 12, .np = 2, .ctx = &s, .rhs = {.value = value}, .mass = mass,
            .pattern = s.c->P.pattern};
        costate_report r;
        int status = costate_check_problem(&P, &(costate_point){.t = s.c->t0, .y = s.c->y0, .p = s.c->p0}, &r, NULL);
        if (status != statuses[fault] || !strstr(r.text, words[fault]))
            fail_msg("mass, fault %d: %d: %s", fault, status, r.text);
        random_case_free(s.c);
    }
}

int main(void)
{
    const struct CMUnitTest once[] = {cmocka_unit_test(check_names_entry), cmocka_unit_test(mass_faults),
                                      cmocka_unit_test(detected), cmocka_unit_test(detected_near),
                                      cmocka_unit_test(detected_on_one_side), cmocka_unit_test(detected_slope),
                                      cmocka_unit_test(not_detected)};
    return cmocka_run_group_tests(once, NULL, NULL) + run_by_method("a run names the entry", run_names_entry);
}
