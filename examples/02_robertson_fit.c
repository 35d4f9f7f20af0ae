/* 02_robertson_fit.c - two rate constants of a stiff reaction from measurements, by L-BFGS on adjoint gradients.

   Robertson's problem:  A -> B  k[0],   B + B -> B + C  k[1],   B + C -> A + C  k[2].  The constants of the two fast
   reactions are unknown, and the first guess is wrong by factors of 10.  All species are measured at 40 times between
   1e-5 and 1e4, equidistant in log t: inside the steps, by the dense output, so that the measurements cost no steps and
   the gradient is still that of the sum of squares as computed.  The unknowns are log k: they are positive, and of one
   size.  A misfit or gradient is one run forward and one back, whatever the number of constants and measurements.
   (H. H. Robertson, in: Numerical Analysis, ed. J. Walsh, Academic Press 1966, 178-182.) */
#include <costate/costate.h>
#include <lbfgs.h>
#include <math.h>
#include <stdio.h>

enum { TIMES = 40 };
static const double truth[3] = {0.04, 3e7, 1e4}, t_end = 1e4;
static const double size[3] = {1, 4e-5, 1};            /* of the species: the misfit is relative to it */

/* ---- the problem: value, Jacobian by columns, adjoint ---- */

static int f(const costate_point *x, double *out, void *ctx)
{
    const double *y = x->y, *k = x->p;
    double a = k[0] * y[0], b = k[1] * y[1] * y[1], c = k[2] * y[1] * y[2];
    (void)ctx;
    out[0] = c - a;
    out[1] = a - b - c;
    out[2] = b;
    return 0;
}

static int jac(const costate_point *x, double *J, void *ctx)
{
    const double *y = x->y, *k = x->p;
    double b = 2 * k[1] * y[1], c1 = k[2] * y[2], c2 = k[2] * y[1];
    (void)ctx;
    J[0] = -k[0]; J[3] = c1;      J[6] = c2;
    J[1] = k[0];  J[4] = -b - c1; J[7] = -c2;
    J[2] = 0;     J[5] = b;       J[8] = 0;
    return 0;
}

static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y, *k = x->p;
    double wa = w[1] - w[0], wb = w[2] - w[1], wc = w[0] - w[1];    /* weights of the rates a, b, c */
    (void)ctx;
    if (g->y) {
        g->y[0] += k[0] * wa;
        g->y[1] += 2 * k[1] * y[1] * wb + k[2] * y[2] * wc;
        g->y[2] += k[2] * y[1] * wc;
    }
    if (g->p) {
        g->p[0] += y[0] * wa;
        g->p[1] += y[1] * y[1] * wb;
        g->p[2] += y[1] * y[2] * wc;
    }
    return 0;
}

static const costate_problem problem = {.n = 3, .np = 3, .rhs = {.value = f, .adjoint = f_adjoint}, .jac = jac};

/* ---- the misfit ---- */

typedef struct {
    costate *solver;
    costate_tape *tape;
    double t[TIMES], measured[TIMES][3], sum;
    int runs;
} fit;

/* The gradient w.r.t. y(t_k) of the term of time k; its value on the way. */
static int residual(int i, double t, const double *y, int m, double *w, void *ctx)
{
    fit *z = ctx;
    (void)t;
    (void)m;
    for (int j = 0; j < 3; j++) {
        double r = (y[j] - z->measured[i][j]) / size[j];
        z->sum += r * r / 2;
        w[j] = r / size[j];
    }
    return 0;
}

static lbfgsfloatval_t misfit(void *ctx, const lbfgsfloatval_t *x, lbfgsfloatval_t *gradient, int n,
                              lbfgsfloatval_t step)
{
    fit *z = ctx;
    double y[3] = {1, 0, 0}, k[3] = {truth[0], exp(x[0]), exp(x[1])}, lambda[3] = {0}, mu[3] = {0};
    costate_observations all = {.count = TIMES, .t = z->t, .seed = residual, .ctx = z};
    (void)n;
    (void)step;
    z->sum = 0;
    z->runs++;
    int status = costate_integrate(z->solver, 0, t_end, y, k, z->tape);
    if (status == COSTATE_OK) status = costate_adjoint(z->solver, z->tape, 1, lambda, mu, NULL, &all);
    gradient[0] = mu[1] * k[1];                        /* by log k */
    gradient[1] = mu[2] * k[2];
    if (status == COSTATE_OK) return z->sum;
    fprintf(stderr, "%s\n", costate_message(z->solver));
    return NAN;
}

static int progress(void *ctx, const lbfgsfloatval_t *x, const lbfgsfloatval_t *gradient, const lbfgsfloatval_t value,
                    const lbfgsfloatval_t norm, const lbfgsfloatval_t gnorm, const lbfgsfloatval_t step, int n, int k,
                    int ls)
{
    (void)ctx, (void)gradient, (void)norm, (void)step, (void)n, (void)ls;
    printf("%9d  %10.3e  %10.3e  %12.6e  %12.6e\n", k, value, gnorm, exp(x[0]), exp(x[1]));
    return 0;
}

/* The measurements: another method, much tighter.  Its own steps, so the fit cannot be right by the same errors. */
static int measure(fit *z)
{
    costate_options tight = {.rtol = 1e-12, .atol = 1e-16};
    costate *solver = costate_new(costate_method_find("radau2a5"), &problem, &tight);
    double y[3] = {1, 0, 0};
    int status = costate_integrate(solver, 0, t_end, y, truth, z->tape);
    for (int i = 0; i < TIMES; i++) {
        z->t[i] = pow(10, -5 + 9.0 * i / (TIMES - 1));
        if (z->t[i] > t_end) z->t[i] = t_end;
        if (status == COSTATE_OK) status = costate_tape_eval(solver, z->tape, z->t[i], z->measured[i]);
    }
    if (status != COSTATE_OK) fprintf(stderr, "%s\n", costate_message(solver));
    costate_free(solver);
    return status;
}

int main(void)
{
    costate_options options = {.rtol = 1e-8, .atol = 1e-12};
    fit z = {.solver = costate_new(NULL, &problem, &options), .tape = costate_tape_new()};
    double x[2] = {log(truth[1] / 10), log(truth[2] * 10)};
    lbfgs_parameter_t how;
    if (costate_status(z.solver) != COSTATE_OK || !z.tape || measure(&z) != COSTATE_OK) {
        fprintf(stderr, "no measurements to fit: %s\n", costate_message(z.solver));
        return 1;
    }
    lbfgs_parameter_init(&how);
    how.epsilon = 1e-9;
    printf("iteration      misfit    gradient          k[1]          k[2]\n");
    int status = lbfgs(2, x, NULL, misfit, progress, &z, &how);
    double error = fmax(fabs(exp(x[0]) / truth[1] - 1), fabs(exp(x[1]) / truth[2] - 1));
    printf("%d runs forward and back; liblbfgs: %d\n", z.runs, status);
    printf("largest relative error of the constants: %.1e\n", error);
    costate_tape_free(z.tape);
    costate_free(z.solver);
    return !(error < 1e-4);
}
