/* test_bvp_layers.c - layers down to eps = 1e-4, linear ones 1e-5, at tolerance 1e-6 by adaptation alone: no mesh is
   given, at most 1000 intervals, errors of y, y' and q within 10 tolerances at many points, half of them in the layers.

   The truth are closed forms, of exponentials that do not overflow:
   B3a, eps y'' + b y' + c y = s:   y = s/c + A exp(r1 (t - 1)) + B exp(r2 t),  r = (-b -+ sqrt(b^2 - 4 eps c))/(2 eps)
   B3c, eps^2 y'' = y - f cos kt:   y = f cos(kt)/(1 + eps^2 k^2) + A exp(-t/eps) + B exp((t - 1)/eps)
   B3b, eps y'' + y y' = 0:         eps y' + y^2/2 = k^2/2, so y = k tanh(k (t + d)/(2 eps)), q = k^2 t - 2 eps (y - al)

   Radau IIA is asked for B3a and B3b alone: it damps what grows as it does what decays, and B3c has a mode that
   grows as exp(t/eps). */
#include <complex.h>
#include "bvp_common.h"

enum { MOST = 4, POINTS = 400 };

static const double TOL = 1e-6;

/* ---- sums of exponentials C exp(r (t - s)) ---- */

typedef struct { double complex C, r; double s; } term;
typedef struct { int count; term term[MOST]; } sum;

static void evaluate(const sum *z, double t, double *Y)
{
    double complex y = 0, slope = 0, q = 0;
    for (int j = 0; j < z->count; j++) {
        const term *a = &z->term[j];
        double complex e = a->C * cexp(a->r * (t - a->s));
        y += e;
        slope += a->r * e;
        for (int k = 0; k < z->count; k++) {
            const term *b = &z->term[k];
            double complex r = a->r + b->r, CC = a->C * b->C;
            double complex end = cexp(a->r * (t - a->s) + b->r * (t - b->s)), start = cexp(-a->r * a->s - b->r * b->s);
            q += cabs(r) == 0 ? CC * start * t : CC * (end - start) / r;
        }
    }
    Y[0] = creal(y), Y[1] = creal(slope), Y[2] = creal(q);
}

/* the factors of the last two terms from y(0), y(1) */
static void meet(sum *z, double al, double be)
{
    double at0[3], at1[3];
    term *A = &z->term[z->count - 2], *B = A + 1;
    double a0 = creal(cexp(-A->r * A->s)), a1 = creal(cexp(A->r * (1 - A->s)));
    double b0 = creal(cexp(-B->r * B->s)), b1 = creal(cexp(B->r * (1 - B->s))), det = a0 * b1 - a1 * b0;
    A->C = B->C = 0;
    evaluate(z, 0, at0);
    evaluate(z, 1, at1);
    al -= at0[0], be -= at1[0];
    A->C = (al * b1 - be * b0) / det;
    B->C = (a0 * be - a1 * al) / det;
}

static void B3a(const double *p, double t, double *Y)
{
    double eps = p[0], b = p[1], c = p[2], root = sqrt(b * b - 4 * eps * c);
    sum z = {3, {{p[3] / c, 0, 0}, {0, -2 * c / (b + root), 1}, {0, -(b + root) / (2 * eps), 0}}};
    meet(&z, p[4], p[5]);
    evaluate(&z, t, Y);
}

static void B3c(const double *p, double t, double *Y)
{
    double eps = p[0], half = 0.5 * p[1] / (1 + eps * eps * p[2] * p[2]);
    double complex wave = p[2] * _Complex_I;
    sum z = {4, {{half, wave, 0}, {half, -wave, 0}, {0, -1 / eps, 0}, {0, 1 / eps, 1}}};
    meet(&z, p[3], p[4]);
    evaluate(&z, t, Y);
}

static void B3b(const double *p, double t, double *Y)
{
    double eps = p[0], al = p[1], be = p[2], k = be, d = 0;
    for (int i = 0; i < 60; i++) {
        d = 2 * eps / k * atanh(al / k);
        k = be / tanh(k * (1 + d) / (2 * eps));
    }
    Y[0] = k * tanh(k * (t + d) / (2 * eps));
    Y[1] = (k - Y[0]) * (k + Y[0]) / (2 * eps);
    if (t > 30 * eps) {                          /* k - y is round-off there: 2 k exp(-k (t + d)/eps) */
        double e = exp(-k * (t + d) / eps);
        Y[1] = 2 * k * k / eps * e;
    }
    Y[2] = k * k * t - 2 * eps * (Y[0] - al);
}

typedef void solution(const double *p, double t, double *Y);

/* ---- errors ---- */

/* half of them equidistant, half closer and closer to both ends, down to eps/100 */
static double point(double eps, int k)
{
    double x = (k / 2) / (double)(POINTS / 2 - 1);
    if (k % 2 == 0) return x;
    double far = 0.01 * eps * pow(50 / eps, k % 4 == 1 ? x : 1 - x);
    return k % 4 == 1 ? far : 1 - far;
}

static double error_of(costate_bvp *c, const double *p, solution *truth, double *worst_at)
{
    double worst = 0, X[3], Y[3];
    for (int k = 0; k < POINTS; k++) {
        double t = point(p[0], k);
        CHECK_BVP(c, costate_bvp_eval(c, t, X));
        truth(p, t, Y);
        for (int i = 0; i < 3; i++) {
            double e = fabs(X[i] - Y[i]) / (TOL + TOL * fabs(Y[i]));
            if (!(e <= worst)) worst = e, *worst_at = t;
        }
    }
    return worst;
}

static void solved(costate_bvp *c, const costate_method *m, const bvps *s, solution *truth)
{
    double at = 0;
    CHECK_BVP(c, costate_bvp_solve(c, 0, 1, s->p));
    const costate_bvp_stats *stats = costate_bvp_get_stats(c);
    double error = error_of(c, s->p, truth, &at);
    print_message("           %-4s eps %.0e: %4d intervals, %2d meshes, %2d iterations; error %.2f, estimated %.2f\n",
                  s->name, s->p[0], costate_bvp_intervals(c), stats->meshes, stats->iterations, error, stats->error);
    if (!(error <= 10))
        fail_msg("%s, %s, eps = %.0e: error of %.1f tolerances at t = %.6g", method_name(m), s->name, s->p[0], error,
                 at);
    assert_true(costate_bvp_intervals(c) <= 1000);
}

/* linear: from y = 0, each eps anew */
static void linear(const costate_method *m, const char *name, double least, solution *truth)
{
    bvps *s = bvps_find(name, (bvps_kind){.jac = 1});
    costate_bvp_options o = {.rtol = TOL, .atol = TOL, .max_mesh = 1000};
    assert_non_null(s);
    for (s->p[0] = 0.1; s->p[0] > 0.9 * least; s->p[0] /= 10) {
        costate_bvp *c = costate_bvp_new(m, &s->P, &s->C, &o);
        solved(c, m, s, truth);
        costate_bvp_free(c);
    }
    bvps_free(s);
}

/* not linear: each eps from the solution of the one before */
static void continued(const costate_method *m)
{
    bvps *s = bvps_find("B3b", (bvps_kind){.jac = 1});
    costate_bvp_options o = {.rtol = TOL, .atol = TOL, .max_mesh = 1000};
    const double line[] = {0.25, 0.75, 1, 0.75}, t[] = {0, 1};
    assert_non_null(s);
    costate_bvp *c = costate_bvp_new(m, &s->P, &s->C, &o);
    CHECK_BVP(c, costate_bvp_guess(c, 2, t, line));
    for (s->p[0] = 0.1; s->p[0] > 0.9e-4; s->p[0] /= 10) solved(c, m, s, B3b);
    costate_bvp_free(c);
    bvps_free(s);
}

static int damps_what_grows(const costate_method *m) { return strncmp(method_name(m), "radau", 5) == 0; }

static void left(void **state) { linear(*state, "B3a", damps_what_grows(*state) ? 1e-6 : 1e-5, B3a); }
static void both_ends(void **state)
{
    if (damps_what_grows(*state)) skip();
    linear(*state, "B3c", 1e-5, B3c);
}
static void nonlinear(void **state) { continued(*state); }

/* The closed forms are solutions: the references of the oracles, at eps = 0.1. */
static void closed(void **state)
{
    static const struct { const char *name; solution *truth; } table[] = {
        {"B3a", B3a}, {"B3a 0.01", B3a}, {"B3b", B3b}, {"B3c", B3c}};
    (void)state;
    for (int k = 0; k < 4; k++) {
        bvps *s = bvps_find(table[k].name, (bvps_kind){0});
        assert_non_null(s);
        for (int l = 0; l < s->functionals; l++) {
            const bvps_functional *f = &s->functional[l];
            double Y[3];
            table[k].truth(s->p, f->t, Y);
            double y = Y[f->what == BVPS_INTEGRAL ? 2 : f->what];
            if (!(fabs(y - f->value) <= 1e-13 * fabs(f->value)))
                fail_msg("%s at t = %g: %.16g, not %.16g", s->name, f->t, y, f->value);
        }
        bvps_free(s);
    }
}

int main(void)
{
    static const char *const names[] = {"gauss3", "gauss4", "gauss5", "radau2a", "radau2a5", "lobatto3a3", "lobatto3a4",
                                        "lobatto3a5"};
    static const struct { const char *title; CMUnitTestFunction test; } claim[] = {
        {"B3a", left}, {"B3c", both_ends}, {"B3b", nonlinear}};
    enum { NAMES = sizeof names / sizeof *names, CLAIMS = 3 };
    static char title[CLAIMS * NAMES][40];
    struct CMUnitTest tests[CLAIMS * NAMES + 1] = {cmocka_unit_test(closed)};
    for (int k = 0; k < CLAIMS * NAMES; k++) {
        snprintf(title[k], sizeof title[k], "%s: %s", claim[k / NAMES].title, names[k % NAMES]);
        tests[k + 1] = (struct CMUnitTest){title[k], claim[k / NAMES].test, NULL, NULL,
                                           (void *)(uintptr_t)costate_method_find(names[k % NAMES])};
    }
    return cmocka_run_group_tests_name("layers", tests, NULL, NULL);
}
