/* norm.c - the error norm, its weights, and the estimate that is a sum over stages.

   |e| = ( (1/n) sum (e_i / (atol_i + rtol_i max(|y_i|, |y1_i|)))^2 )^(1/2), accepted if <= 1 */
#include <math.h>
#include "base/vec.h"
#include "step/step.h"

static double rtol_at(const stepper *c, int i)
{
    return i < c->n && c->o->rtol_vector ? c->o->rtol_vector[i] : c->o->rtol;
}

static double atol_at(const stepper *c, int i)
{
    return i < c->n && c->o->atol_vector ? c->o->atol_vector[i] : c->o->atol;
}

void weights(const stepper *c, const double *y, double *w)
{
    double rtol = c->o->rtol, atol = c->o->atol;
    if (c->o->rtol_vector || c->o->atol_vector)
        for (int i = 0; i < c->N; i++) w[i] = 1 / (atol_at(c, i) + rtol_at(c, i) * fabs(y[i]));
    else for (int i = 0; i < c->N; i++) w[i] = 1 / (atol + rtol * fabs(y[i]));
}

void index_scale(const stepper *c, double h, double *x)
{
    const int *index = c->maps->index;
    for (int i = 0; index && i < c->n; i++) if (index[i] == 2) x[i] *= fabs(h);
}

int error_norm(const stepper *c, const double *y, const double *y1, const double *err, double *norm)
{
    int count = c->o->cost_error ? c->n + c->nq : c->n;
    double sum = 0;
    if (c->o->rtol_vector || c->o->atol_vector)
        for (int i = 0; i < count; i++) sum += sum_scaled(1, rtol_at(c, i), atol_at(c, i), y + i, y1 + i, err + i);
    else sum = sum_scaled((size_t)count, c->o->rtol, c->o->atol, y, y1, err);
    double all[] = {sum, count, !all_finite((size_t)c->N, y1)};
    TRY(space_total(&c->maps->space, 3, all));
    *norm = all[2] == 0 ? sqrt(all[0] / all[1]) : NAN;
    return 0;
}

int stage_estimate(stepper *c, const record *r, const directions *d, int j, double *err)
{
    size_t n = (size_t)c->n;
    (void)r;
    combine(n, err, NULL, 1, c->s, c->m->e, d->Xd + (size_t)j * n, n * (size_t)d->m);
    return 0;
}
