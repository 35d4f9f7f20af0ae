/* 09_robertson_dae.c - a stiff reaction whose third equation is a constraint: F(t, y, y', k) = 0, index 1.

   Robertson's problem with the sum of the species in the place of the last rate:

       y1' + k1 y1 - k2 y2 y3 = 0,   y2' - k1 y1 + k2 y2 y3 + k3 y2^2 = 0,   y1 + y2 + y3 - 1 = 0

   to t = 4e7: what is left of the first species, and its gradient by the three rate constants.  y(0) must meet the
   constraint; y' is found.  (H. H. Robertson, in: Numerical Analysis, ed. J. Walsh, Academic Press 1966, 178-182; the
   values that it is compared with were made in quadruple precision, from the form y' = f.) */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>

static int residual(const costate_point *x, double *F, void *ctx)
{
    const double *y = x->y, *k = x->p;
    double a = k[0] * y[0], b = k[1] * y[1] * y[2], c = k[2] * y[1] * y[1];
    F[0] = x->yp[0] + a - b;
    F[1] = x->yp[1] - a + b + c;
    F[2] = y[0] + y[1] + y[2] - 1;
    return (void)ctx, 0;
}

/* g += (F_y, F_y', F_k)^T w */
static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y, *k = x->p;
    double wa = w[0] - w[1], wb = w[1] - w[0], wc = w[1];           /* weights of the rates a, b, c */
    if (g->y) {
        g->y[0] += k[0] * wa + w[2];
        g->y[1] += k[1] * y[2] * wb + 2 * k[2] * y[1] * wc + w[2];
        g->y[2] += k[1] * y[1] * wb + w[2];
    }
    if (g->yp) { g->yp[0] += w[0]; g->yp[1] += w[1]; }
    if (g->p) { g->p[0] += y[0] * wa; g->p[1] += y[1] * y[2] * wb; g->p[2] += y[1] * y[1] * wc; }
    return (void)ctx, 0;
}

/* dF/dy and dF/dy', by columns */
static int jac(const costate_point *x, double *J, void *ctx)
{
    const double *y = x->y, *k = x->p;
    double b2 = k[1] * y[2], b3 = k[1] * y[1], c2 = 2 * k[2] * y[1];
    J[0] = k[0];  J[3] = -b2;     J[6] = -b3;
    J[1] = -k[0]; J[4] = b2 + c2; J[7] = b3;
    J[2] = 1;     J[5] = 1;       J[8] = 1;
    return (void)ctx, 0;
}
static int jac_yp(const costate_point *x, double *J, void *ctx)
{
    for (int i = 0; i < 9; i++) J[i] = i == 0 || i == 4;
    return (void)x, (void)ctx, 0;
}

int main(void)
{
    static const double expected[] = {5.2030718441205471e-05, -2.5991436073143566e-03, 1.0396511011719444e-08,
                                      -1.7327553005433020e-12};
    double y[3] = {1, 0, 0}, k[3] = {0.04, 1e4, 3e7}, lambda[3] = {1, 0, 0}, mu[3] = {0}, worst;
    costate_problem problem = {.n = 3, .np = 3, .residual = {.value = residual, .adjoint = adjoint}, .jac = jac,
                               .jac_yp = jac_yp};
    const double atol[3] = {1e-13, 1e-17, 1e-9};
    costate_options options = {.rtol = 1e-9, .atol_vector = atol};
    costate *c = costate_new(costate_method_find("radau2a"), &problem, &options);
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, 0, 4e7, y, k, tape);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    if (status != COSTATE_OK) puts(costate_message(c));
    printf("y1(4e7) = %.9e after %d steps, y1 + y2 + y3 - 1 = %.1e\n", y[0], costate_tape_steps(tape),
           y[0] + y[1] + y[2] - 1);
    printf("by k: %.8e %.8e %.8e\n", mu[0], mu[1], mu[2]);
    printf("by y3(0): %g: the constraint determines it\n", lambda[2]);
    worst = fabs(y[0] / expected[0] - 1);
    for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(mu[i] / expected[i + 1] - 1));
    printf("largest relative error %.1e\n", worst);
    costate_tape_free(tape);
    costate_free(c);
    return status != COSTATE_OK || !(worst < 1e-6) || lambda[2] != 0;
}
