/* hessian.c - the Hessian of a fit of two parameters:  y1' = -p1 y1, y2' = p1 y1 - p2 y2,  beside differences of its
   gradients. */
#include <costate/costate.h>
#include <math.h>
#include <string.h>

enum { N = 2 };

static int f(const costate_point *x, double *out, void *ctx)
{
    out[0] = -x->p[0] * x->y[0];
    out[1] = x->p[0] * x->y[0] - x->p[1] * x->y[1];
    return (void)ctx, 0;
}
static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    double a = 0, b = 0;
    if (dx->y) a += x->p[0] * dx->y[0], b += x->p[1] * dx->y[1];
    if (dx->p) a += dx->p[0] * x->y[0], b += dx->p[1] * x->y[1];
    out[0] = -a;
    out[1] = a - b;
    return (void)ctx, 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double a = w[1] - w[0];
    if (g->y) g->y[0] += x->p[0] * a, g->y[1] -= x->p[1] * w[1];
    if (g->p) g->p[0] += x->y[0] * a, g->p[1] -= x->y[1] * w[1];
    return (void)ctx, 0;
}
static int f_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                             const costate_gradient *g, void *ctx)
{
    double a = w[1] - w[0];
    if (g->y && dx->p) g->y[0] += dx->p[0] * a, g->y[1] -= dx->p[1] * w[1];
    if (g->p && dx->y) g->p[0] += dx->y[0] * a, g->p[1] -= dx->y[1] * w[1];
    return (void)x, (void)ctx, 0;
}

@ hessian-products static int seed(double t1, const double *y, const double *p, int m,

static int hessian(costate *c, costate_tape *tape, double *z, double *by_p, double *out)
{
    int status;
    @ hessian-products double unit[] = {1, 0, 0, 1}, mu[2] = {0}, H[4] = {0}
    memcpy(by_p, mu, sizeof mu);
    memcpy(out, H, sizeof H);
    return status;
}

static int at(costate *c, const double *p, double *by_p, double *H)
{
    double y[N] = {1, 0}, z[N] = {0.3, 0.4};
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, 0, 1, y, p, tape);
    if (status == COSTATE_OK) status = hessian(c, tape, z, by_p, H);
    costate_tape_free(tape);
    return status;
}

int main(void)
{
    costate_problem problem = {.n = N, .np = 2, .rhs = {.value = f, .tangent = f_tangent, .adjoint = f_adjoint,
                                                        .adjoint_tangent = f_adjoint_tangent}};
    costate_options options = {.controller = COSTATE_FIXED, .h0 = 0.1};
    costate *c = costate_new(costate_method_find("dopri5"), &problem, &options);
    double H[4], other[4], more[2], less[2], mu[2], worst = 0;
    int status = at(c, (double[]){1, 2}, mu, H);
    for (int j = 0; j < 2 && !status; j++) {
        const double d = 1e-4;
        status = at(c, (double[]){1 + (j == 0) * d, 2 + (j == 1) * d}, more, other);
        if (!status) status = at(c, (double[]){1 - (j == 0) * d, 2 - (j == 1) * d}, less, other);
        for (int i = 0; i < 2; i++) worst = fmax(worst, fabs((more[i] - less[i]) / (2 * d) - H[i + 2 * j]));
    }
    costate_free(c);
    return status || !(worst < 1e-7);
}
