/* test_heat_dae.c - the heat equation on 42 x 42 points with constraints on the boundary, index 1: values and gradients
   against the closed form.

       interior: u' - p0 u_xx - p1 u_yy = 0,   boundary: u - b = 0,

   g1 = sum of u(0.16)^2, g2 = integral of the sum of u; by p0, p1 and by all 1764 initial values.  What a value on the
   boundary is in u' = 0 is the parameter b here: the gradient by it is that by b, and that by u(0) is 0. */
#include "common.h"
#include <costate/linsol.h>

enum { INTERIOR = 40, W = INTERIOR + 2, N = W * W, NP = 2 + 4 * (INTERIOR + 1) };

typedef struct { double g[2], by_p[2][2], by_u[2][N]; int steps; } answer;

static answer *solve(const char *method, const costate_options *o, int with_jacobians)
{
    static double lambda[2 * (N + 1)], mu[2 * NP], y[N + 1];
    static answer a;
    problem *b = problem_heat_dae(INTERIOR, with_jacobians);
    costate *c = costate_new(costate_method_find(method), &b->P, o);
    costate_tape *tape = costate_tape_new();
    memset(lambda, 0, sizeof lambda);
    memset(mu, 0, sizeof mu);
    memcpy(y, b->y0, N * sizeof *y);
    y[N] = 0;
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, tape));
    a.steps = costate_tape_steps(tape);
    a.g[0] = 0;
    a.g[1] = y[N];
    for (int i = 0; i < N; i++) { a.g[0] += y[i] * y[i]; lambda[i] = 2 * y[i]; }
    lambda[N + 1 + N] = 1;
    CHECK_OK(c, costate_adjoint(c, tape, 2, lambda, mu, NULL, NULL));
    for (int l = 0; l < 2; l++) {
        memcpy(a.by_p[l], mu + l * NP, sizeof a.by_p[l]);
        for (int i = 0; i < N; i++) {
            int of = problem_heat_boundary(b, i);
            a.by_u[l][i] = of < 0 ? lambda[l * (N + 1) + i] : mu[l * NP + 2 + of];
            if (of >= 0 && lambda[l * (N + 1) + i] != 0) fail_msg("%s: lambda[%d] is not 0", method, i);
        }
    }
    costate_tape_free(tape);
    costate_free(c);
    problem_free(b);
    return &a;
}

static double error(double x, double y) { return y == 0 ? fabs(x) : fabs(x / y - 1); }

/* the largest relative error of any number that there is a reference of */
static double error_of(const answer *a)
{
    const heat_reference *r = problem_heat_reference();
    const double g[2] = {r->g1, r->g2}, sums[2] = {r->sum_dg1, r->sum_dg2}, norms[2] = {r->norm_dg1, r->norm_dg2};
    const double *by_p[2] = {r->dg1_dp, r->dg2_dp};
    double e = 0;
    for (int l = 0; l < 2; l++) {
        double sum = 0, squares = 0;
        e = larger_of(e, error(a->g[l], g[l]));
        for (int k = 0; k < 2; k++) e = larger_of(e, error(a->by_p[l][k], by_p[l][k]));
        for (int i = 0; i < N; i++) { sum += a->by_u[l][i]; squares += a->by_u[l][i] * a->by_u[l][i]; }
        e = larger_of(e, larger_of(error(sum, sums[l]), error(sqrt(squares), norms[l])));
        for (int k = 0; k < r->count; k++) {
            const heat_sample *s = &r->sample[k];
            e = larger_of(e, error(a->by_u[l][s->k * W + s->j], l ? s->dg2 : s->dg1));
        }
    }
    return e;
}

typedef struct { const char *name; int solver, with_jacobians; } way;

static void tight(void **state)
{
    const way *by = *state;
    const double rtol = 1e-10;
    if (!costate_backend_find(by->name)) skip();
    costate_options o = {.rtol = rtol, .atol = rtol, .autonomous = 1, .solver = by->solver};
    const answer *a = solve("radau2a5", &o, by->with_jacobians);
    double e = error_of(a);
    print_message("           %s: %d steps, largest relative error %.1e\n", by->name, a->steps, e);
    if (!(e <= rtol)) fail_msg("%s: error %.2e", by->name, e);
}

typedef struct { const char *method; int proportional; } follower;

/* Errors stay below some tolerances; those of methods whose estimate is about as large as the error, within a factor
   of 3 in proportion to it, over four decades. */
static void follows(void **state)
{
    const follower *f = *state;
    double least = INFINITY, most = 0;
    for (int decade = 0; decade <= 4; decade++) {
        double rtol = 1e-4 * pow(10, -decade);
        costate_options o = {.rtol = rtol, .atol = rtol, .autonomous = 1};
        const answer *a = solve(f->method, &o, 1);
        double ratio = error_of(a) / rtol;
        print_message("           %s, rtol %.0e: %d steps, error %.2f rtol\n", f->method, rtol, a->steps, ratio);
        if (!(ratio <= 10)) fail_msg("%s, rtol %.0e: error %.2e", f->method, rtol, ratio * rtol);
        least = fmin(least, ratio);
        most = fmax(most, ratio);
    }
    if (f->proportional && !(most <= 3 * least)) fail_msg("%s: from %.2f to %.2f rtol", f->method, least, most);
}

int main(void)
{
    static way klu = {"klu", COSTATE_LS_KLU, 1}, umfpack = {"umfpack", COSTATE_LS_UMFPACK, 1},
               formed = {"klu", COSTATE_LS_KLU, 0};
    static follower radau = {"radau2a", 0}, sdirk = {"sdirk4a", 1}, lobatto = {"lobatto3c", 1};
    const struct CMUnitTest tests[] = {
        {"tight: klu", tight, NULL, NULL, &klu}, {"tight: umfpack", tight, NULL, NULL, &umfpack},
        {"tight: Jacobians formed", tight, NULL, NULL, &formed}, {"radau2a", follows, NULL, NULL, &radau},
        {"sdirk4a", follows, NULL, NULL, &sdirk}, {"lobatto3c", follows, NULL, NULL, &lobatto}};
    return cmocka_run_group_tests_name("heat with constraints on its boundary", tests, NULL, NULL);
}
