/* observed.c - residuals of measurements r = (h(y, p) - value)/sigma at the times of observation: what sweeps need of
   J = 1/2 sum r^2.

       value   R V: r' = h'(V, Vp)/sigma
       seed    J_y = h_y^T r/sigma,  J_p likewise
       seed2   J_y and, along (V, Vp), h_y^T r'/sigma + (h''[(V, Vp), .])^T r/sigma; Gauss-Newton: the first term */
#include <math.h>
#include "pieces/pieces.h"

/* ---- outputs that are components ---- */

static int pick(const costate_point *x, double *out, void *ctx)
{
    const costate_measurements *g = ctx;
    for (int j = 0; j < g->outputs; j++) out[j] = x->y[g->component[j]];
    return 0;
}

static int pick_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const costate_measurements *g = ctx;
    (void)x;
    for (int j = 0; j < g->outputs; j++) out[j] = dx->y ? dx->y[g->component[j]] : 0;
    return 0;
}

static int pick_adjoint(const costate_point *x, const double *w, const costate_gradient *to, void *ctx)
{
    const costate_measurements *g = ctx;
    (void)x;
    for (int j = 0; to->y && j < g->outputs; j++) to->y[g->component[j]] += w[j];
    return 0;
}

static int pick_second(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *to,
                       void *ctx)
{
    (void)x, (void)dx, (void)w, (void)to, (void)ctx;
    return 0;
}

costate_map observed_components(void)
{
    return (costate_map){.value = pick, .tangent = pick_tangent, .adjoint = pick_adjoint,
                         .adjoint_tangent = pick_second};
}

/* ---- residuals ---- */

/* the first failure of a callback of output; returns its code */
int observed_checked(costate_misfit *s, int code, const char *name, double t)
{
    if (code && !s->v.status)
        fail(&s->v, COSTATE_CALLBACK, "The callback measurements.output.%s returned %d at t = %.10g.", name, code, t);
    return code;
}

/* products that observations of a sweep need: of sweeps that the caller makes, misfit.c has not asked for them */
int observed_there(costate_misfit *s, int given, const char *name, double t)
{
    if (!given && !s->v.status)
        fail(&s->v, COSTATE_MISSING, "measurements.output.%s is missing, which a sweep needs at t = %.10g.", name, t);
    return given ? 0 : -1;
}

static double sigma_of(const costate_measurements *g, int k, int j)
{
    return g->sigma[g->sigma_at_times ? k * g->outputs + j : j];
}

static int measured(const costate_measurements *g, int k, int j) { return !isnan(g->value[k * g->outputs + j]); }

/* the residuals of time k, and r/sigma */
static int residuals(costate_misfit *s, int k, const costate_point *x)
{
    const costate_measurements *g = &s->given;
    double *r = s->r + k * g->outputs;
    TRY(observed_checked(s, g->output.value(x, s->u, g->ctx), "value", x->t));
    for (int j = 0; j < g->outputs; j++) {
        double sigma = sigma_of(g, k, j);
        r[j] = measured(g, k, j) ? (s->u[j] - g->value[k * g->outputs + j]) / sigma : 0;
        s->weight[j] = r[j] / sigma;
        s->out[k * g->outputs + j] = s->u[j];
    }
    return 0;
}

/* u = r' of time k along direction j, whose part in y is v */
static int along(costate_misfit *s, int k, const costate_point *x, const costate_point *dx)
{
    const costate_measurements *g = &s->given;
    TRY(observed_there(s, g->output.tangent != NULL, "tangent", x->t));
    TRY(observed_checked(s, g->output.tangent(x, dx, s->u, g->ctx), "tangent", x->t));
    for (int j = 0; j < g->outputs; j++) s->u[j] = measured(g, k, j) ? s->u[j] / sigma_of(g, k, j) : 0;
    return 0;
}

static costate_point direction(const costate_misfit *s, int j, const double *V)
{
    return (costate_point){.y = V + (size_t)j * (size_t)s->n,
                           .p = s->Vp ? s->Vp + (size_t)j * (size_t)s->np : NULL};
}

/* ---- callbacks ---- */

int observed_value(int k, double t, const double *y, int m, const double *V, void *ctx)
{
    costate_misfit *s = ctx;
    costate_point x = {.t = t, .y = y, .p = s->p};
    int outputs = s->given.outputs;
    size_t rows = (size_t)outputs * (size_t)s->given.times;
    TRY(residuals(s, k, &x));
    for (int j = 0; s->R && j < m; j++) {
        costate_point dx = direction(s, j, V);
        TRY(along(s, k, &x, &dx));
        for (int i = 0; i < outputs; i++) s->R[(size_t)j * rows + (size_t)(k * outputs + i)] = s->u[i];
    }
    return 0;
}

int observed_seed(int k, double t, const double *y, int m, double *w, void *ctx)
{
    costate_misfit *s = ctx;
    costate_point x = {.t = t, .y = y, .p = s->p};
    costate_gradient g = {.y = w, .p = s->direct};
    (void)m;
    TRY(observed_there(s, s->given.output.adjoint != NULL, "adjoint", t));
    TRY(residuals(s, k, &x));
    return observed_checked(s, s->given.output.adjoint(&x, s->weight, &g, s->given.ctx), "adjoint", t);
}

int observed_seed2(int k, double t, const double *y, int m, const double *V, double *w, double *w2, void *ctx)
{
    costate_misfit *s = ctx;
    const costate_measurements *of = &s->given;
    costate_point x = {.t = t, .y = y, .p = s->p};
    costate_gradient g = {.y = w, .p = s->direct};
    TRY(observed_there(s, of->output.adjoint != NULL, "adjoint", t));
    TRY(observed_there(s, !w || of->output.adjoint_tangent, "adjoint_tangent", t));
    TRY(residuals(s, k, &x));
    if (w) TRY(observed_checked(s, of->output.adjoint(&x, s->weight, &g, of->ctx), "adjoint", t));
    for (int j = 0; j < m; j++) {
        costate_point dx = direction(s, j, V);
        costate_gradient g2 = {.y = w2 + (size_t)j * (size_t)s->n,
                               .p = s->direct2 ? s->direct2 + (size_t)j * (size_t)s->np : NULL};
        TRY(along(s, k, &x, &dx));
        if (w)
            TRY(observed_checked(s, of->output.adjoint_tangent(&x, &dx, s->weight, &g2, of->ctx), "adjoint_tangent",
                                 t));
        for (int i = 0; i < of->outputs; i++) s->u[i] /= sigma_of(of, k, i);
        TRY(observed_checked(s, of->output.adjoint(&x, s->u, &g2, of->ctx), "adjoint", t));
    }
    return 0;
}
