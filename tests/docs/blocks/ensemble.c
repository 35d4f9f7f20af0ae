/* ensemble.c - many members at once; a context for each thread. */
#include <costate/ensemble.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MEMBERS = 10000, TIMES = 2, THREADS = 2 };
typedef struct { long calls; } work;
typedef struct { int member; double t[TIMES], *gradients; } fit;

static int f(const costate_point *x, double *out, void *ctx)
{
    work *w = ctx;
    if (w) w->calls++;
    return out[0] = -x->p[0] * x->y[0], 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] -= x->p[0] * w[0];
    if (g->p) g->p[0] -= x->y[0] * w[0];
    return (void)ctx, 0;
}
static int jac(const costate_point *x, double *J, void *ctx) { return (void)ctx, J[0] = -x->p[0], 0; }

/* lambda += d/dy of the sum of y at the times */
static int residual(int i, double t, const double *y, int m, double *lambda, void *ctx)
{
    (void)i; (void)t; (void)y; (void)ctx;
    for (int j = 0; j < m; j++) lambda[j] += 1;
    return 0;
}

@ ensembles static int each_thread(int thread, costate_problem *P, costate_options *o, void *ctx)

@ ensembles static int on_member(int member, int thread, costate *c, costate_tape *tape, void *ctx)

static int all_at_once(const double *p, double *y, double *lambda, double *mu, int *status)
{
    const costate_problem problem = {.n = 1, .np = 1, .rhs = {.value = f, .adjoint = f_adjoint}, .jac = jac};
    const costate_options options = {.rtol = 1e-3};
    @ ensembles costate_members all = {.count = 10000, .t1 = 1e4
    return report.failed;
}

/* d/dy of the sum of y at the times of a member */
static int observe(int member, int k, double t, const double *y, int m, double *w, void *ctx)
{
    (void)member; (void)k; (void)t; (void)y; (void)ctx;
    for (int j = 0; j < m; j++) w[j] = 1;
    return 0;
}

static int three(const double *p, double *y, double *lambda, double *mu)
{
    const costate_problem problem = {.n = 1, .np = 1, .rhs = {.value = f, .adjoint = f_adjoint}, .jac = jac};
    const costate_options options = {.rtol = 1e-9, .atol = 1e-12};
    costate_ensemble_report report;
    for (int k = 0; k < 3; k++) y[k] = 1, lambda[k] = mu[k] = 0;
    @ ensembles const double observed[][3]
    int bad = costate_ensemble(costate_method_find("dopri5"), &problem, &options, &all, &report);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3 && !isnan(observed[k][i]); i++) mu[k] += observed[k][i] * exp(-p[k] * observed[k][i]);
    for (int k = 0; k < 3; k++) bad += !(fabs(mu[k]) < 1e-6);
    return bad;
}

static int ten(const double *p, double *y, costate_members how)
{
    const costate_problem problem = {.n = 1, .np = 1, .rhs = {.value = f, .adjoint = f_adjoint}, .jac = jac};
    const costate_options options = {.rtol = 1e-9, .atol = 1e-12};
    costate_ensemble_report report;
    for (int k = 0; k < 10; k++) y[k] = 1;
    how.count = 10, how.threads = THREADS, how.t1 = 1, how.y = y, how.p = p;
    return costate_ensemble(costate_method_find("dopri5"), &problem, &options, &how, &report);
}

int main(void)
{
    double *y = malloc(6 * MEMBERS * sizeof *y), *p = y + MEMBERS, *lambda = p + MEMBERS, *mu = lambda + MEMBERS,
           *gradients = mu + MEMBERS;
    int *status = malloc(MEMBERS * sizeof *status), bad;
    for (int k = 0; k < MEMBERS; k++) y[k] = 1, p[k] = 1e-4 * (1 + k % 7), lambda[k] = 1, mu[k] = 0;
    bad = all_at_once(p, y, lambda, mu, status);
    for (int k = 0; k < MEMBERS; k++) bad += status[k] != 0 || !(fabs(mu[k] + 1e4 * exp(-1e4 * p[k])) < 300);
    for (int k = 0; k < 10; k++) p[k] = 1 + k, gradients[3 * k] = 0;
    bad += three(p, y, lambda, mu);
    work works[THREADS] = {{0}};
    bad += ten(p, y, (costate_members){.each_thread = each_thread, .ctx = works}) || works[0].calls == 0;
    fit fits[THREADS] = {{0, {0.5, 1}, gradients}, {0, {0.5, 1}, gradients}};
    bad += ten(p, y, (costate_members){.tape = 1, .on_member = on_member, .ctx = fits});
    for (int k = 0; k < 10; k++) {
        bad += fabs(y[k] - exp(-p[k])) > 1e-7;
        bad += fabs(gradients[3 * k] + exp(-p[k] / 2) / 2 + exp(-p[k])) > 1e-6;
    }
    free(y);
    free(status);
    return bad;
}
