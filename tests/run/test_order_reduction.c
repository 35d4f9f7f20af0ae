/* test_order_reduction.c - composite methods keep the tolerance where their members lose order: Prothero and Robinson's
   problem from slow to stiff, Kaps' problem, and a boundary layer with forcing, at tolerances down to 1e-14; and few of
   their steps are rejected after one that was some tolerances off, also where tangents are judged. */
#include "common.h"

/* Tolerances, of each problem; without (13.26) the first is up to 1.7e5 away. */
static const double most[] = {10, 15, 50};

typedef struct { int kind, n; double stiff; } stiff_problem;
enum { FORCED, KAPS, LAYER, KINDS };

/* FORCED: y' = -L (y - g) + g', g = 2 + sin t.  LAYER: y' = -L (y - cos t), whose solution is known.
   KAPS: y_1' = -(2 + L) y_1 + L y_2^2, y_2' = y_1 - y_2 - y_2^2, y_2 = exp(-t), y_1 = y_2^2 */
static int value(const costate_point *x, double *out, void *ctx)
{
    const stiff_problem *p = ctx;
    double L = p->stiff, t = x->t;
    const double *y = x->y;
    if (p->kind == FORCED) out[0] = -L * (y[0] - 2 - sin(t)) + cos(t);
    if (p->kind == LAYER) out[0] = -L * (y[0] - cos(t));
    if (p->kind != KAPS) return 0;
    out[0] = -(2 + L) * y[0] + L * y[1] * y[1];
    out[1] = y[0] - y[1] - y[1] * y[1];
    return 0;
}

static int jacobian(const costate_point *x, double *J, void *ctx)
{
    const stiff_problem *p = ctx;
    J[0] = -p->stiff;
    if (p->kind != KAPS) return 0;
    J[0] = -(2 + p->stiff);
    J[1] = 1;
    J[2] = 2 * p->stiff * x->y[1];
    J[3] = -1 - 2 * x->y[1];
    return 0;
}

static void solution(const stiff_problem *p, double t, double *y)
{
    double L = p->stiff;
    if (p->kind == FORCED) y[0] = 2 + sin(t);
    if (p->kind == LAYER) y[0] = L * (L * cos(t) + sin(t)) / (1 + L * L) + (2 - L * L / (1 + L * L)) * exp(-L * t);
    if (p->kind != KAPS) return;
    y[1] = exp(-t);
    y[0] = y[1] * y[1];
}

static void run(const costate_method *m, stiff_problem p, double tol)
{
    const costate_problem P = {.n = p.n, .rhs = {.value = value}, .jac = jacobian, .ctx = &p};
    const costate_options o = {.rtol = tol, .atol = tol, .differences = 1};
    costate *c = costate_new(m, &P, &o);
    double y[2], truth[2], end = 3;
    solution(&p, 0, y);
    solution(&p, end, truth);
    CHECK_OK(c, costate_integrate(c, 0, end, y, NULL, NULL));
    double error = error_in_tolerances(p.n, y, truth, tol);
    if (!(error <= most[p.kind]))
        fail_msg("%s, problem %d, L = %.3g, %g: %.3g tolerances", method_name(m), p.kind, p.stiff, tol, error);
    costate_free(c);
}

static void keeps_tolerance(void **state)
{
    const costate_method *m = *state;
    if (!is_listed(m, "auto radau")) skip();        /* other ones may have members of low order */
    for (int kind = 0; kind < KINDS; kind++)
        for (int k = 3; k <= 14; k++)
            for (int i = 4; i <= 28; i++)
                if (!skipped(k + i + kind, 2))
                    run(m, (stiff_problem){kind, kind == KAPS ? 2 : 1, pow(10, i / 4.0)}, pow(10, -k));
}

/* FORCED times p, for a long time */
static int scaled(const costate_point *x, double *out, void *ctx)
{
    const stiff_problem *p = ctx;
    double g = 2 + sin(x->t), slope = cos(x->t);
    out[0] = -p->stiff * (x->y[0] - x->p[0] * g) + x->p[0] * slope;
    return 0;
}

static int scaled_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const stiff_problem *p = ctx;
    double g = 2 + sin(x->t), slope = cos(x->t), dy = dx->y ? dx->y[0] : 0, dp = dx->p ? dx->p[0] : 0;
    out[0] = -p->stiff * (dy - dp * g - x->p[0] * slope * dx->t) + dp * slope - x->p[0] * sin(x->t) * dx->t;
    return 0;
}

/* Rejected steps over all tolerances, without and with tangents judged.  If tries are not compared, they are 264 to
   407; now 34 and 37, 88 and 98. */
static const long few[] = {40, 105};

static void rejects_few(void **state)
{
    const costate_method *m = *state;
    if (!is_listed(m, "auto radau")) skip();
    for (int judged = 0; judged < 2; judged++) {
        long rejected = 0;
        for (int k = 5; k <= 9; k++) {
            stiff_problem f = {FORCED, 1, 1e4};
            const costate_problem P = {.n = 1, .np = 1, .rhs = {.value = scaled, .tangent = scaled_tangent},
                                       .jac = jacobian, .ctx = &f};
            const costate_options o = {.rtol = pow(10, -k), .atol = pow(10, -k), .tangent_error = judged};
            costate *c = costate_new(m, &P, &o);
            double y = 2, by_p = 2, one = 1, end = 60;
            CHECK_OK(c, costate_integrate_tlm(c, 0, end, &y, &one, 1, &by_p, &one, NULL, NULL));
            double truth = 2 + sin(end);
            assert_true(error_in_tolerances(1, &y, &truth, o.rtol) <= most[FORCED]);
            assert_true(!judged || error_in_tolerances(1, &by_p, &truth, o.rtol) <= most[FORCED]);
            rejected += costate_get_stats(c)->rejected;
            costate_free(c);
        }
        assert_in_range(rejected, 0, few[judged]);
    }
}

int main(void)
{
    int failed = run_by_method("tolerances under order reduction", keeps_tolerance);
    return failed + run_by_method("few rejections after a poor step", rejects_few);
}
