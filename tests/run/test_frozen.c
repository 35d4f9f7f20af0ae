/* test_frozen.c - the tangent is the derivative: against 8th-order differences of the frozen-step map, to 1e-10.

   Fixed steps freeze the map: t0, t1, y0 and p move, the steps do not (the last is t1 - t).  Newton to round-off.
   (4/5) d1 - (1/5) d2 + (4/105) d3 - (1/280) d4, dk = F(x + k e v) - F(x - k e v). */
#include "common.h"

enum { N_MOST = 8 };

typedef struct { const problem *b; costate *c; double y[N_MOST], p[4], V[N_MOST], Vp[4], dt0, dt1; } trial;

static void run_at(trial *x, double e, double *y)
{
    double p[4];
    for (int i = 0; i < x->b->P.n + x->b->P.nq; i++) y[i] = x->y[i] + e * x->V[i];
    for (int i = 0; i < x->b->P.np; i++) p[i] = x->p[i] + e * x->Vp[i];
    CHECK_OK(x->c, costate_integrate(x->c, x->b->t0 + e * x->dt0, x->b->t1 + e * x->dt1, y, p, NULL));
}

static double error_of(const costate_method *m, const problem *b)
{
    static const double w[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    double span = b->t1 - b->t0, e = 0.01, d[N_MOST] = {0}, y[N_MOST], worst = 0, size = 0;
    int N = b->P.n + b->P.nq;
    costate_options o = {.controller = COSTATE_FIXED, .h0 = span / 3.7, .derivative_mode = 1,
                         .autonomous = b->autonomous, .rtol = 1e-4, .atol = 1e-4};
    trial x = {b, costate_new(m, &b->P, &o), {0}, {0}, {0}, {0}, 0.3 * span, -0.4 * span};
    unsigned seed = 3;
    memcpy(x.y, b->y0, (size_t)b->P.n * sizeof *x.y);
    if (b->P.np) memcpy(x.p, b->p0, (size_t)b->P.np * sizeof *x.p);
    random_fill(&seed, N_MOST, x.V);
    random_fill(&seed, 4, x.Vp);
    for (int i = 0; i < N; i++) x.V[i] *= 0.3;
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        run_at(&x, k * e, y);
        for (int i = 0; i < N; i++) d[i] += (k > 0 ? 1 : -1) * w[abs(k) - 1] / e * y[i];
    }
    costate_times t = {.t0 = &x.dt0, .t1 = &x.dt1};
    CHECK_OK(x.c, costate_integrate_tlm(x.c, b->t0, b->t1, x.y, b->p0, 1, x.V, b->P.np ? x.Vp : NULL, &t, NULL));
    for (int i = 0; i < N; i++) { worst = larger_of(worst, fabs(x.V[i] - d[i])); size = fmax(size, fabs(d[i])); }
    costate_free(x.c);
    return worst / size;
}

static void frozen(void **state)
{
    const costate_method *m = *state;
    double worst = 0;
    const problem *b;
    for (int k = 0; (b = problem_synthetic_at(k)); k++) {
        if (!method_takes(m, b->mass)) continue;
        double error = error_of(m, b);
        if (!(error <= 1e-10)) fail_msg("%s, %s: error %.2e", method_name(m), b->name, error);
        worst = larger_of(worst, error);
    }
    print_message("           largest error %.1e\n", worst);
}

int main(void) { return run_by_method("tangent is the derivative of the frozen run", frozen); }
