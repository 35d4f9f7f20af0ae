/* norm.c - the error norm, its weights, and the estimate that is a sum over stages (mathematics, eq. 13.1).

   |e| = ( (1/n) sum (e_i / (atol_i + rtol_i max(|y_i|, |y1_i|)))^2 )^(1/2), accepted if <= 1

   A tangent is measured alike, V_ij in place of y_i, with tolerances of its direction j where options give any. */
#include <math.h>
#include "base/vec.h"
#include "step/step.h"

typedef struct {
    int n;                                          /* states */
    double rtol, atol;
    const double *rtol_vector, *atol_vector;        /* n values instead, or NULL */
} tolerances;

static tolerances of_state(const stepper *c)
{
    return (tolerances){c->n, c->o->rtol, c->o->atol, c->o->rtol_vector, c->o->atol_vector};
}

const char *tangent_tolerances(const costate_options *o)
{
    return o->tangent_rtol ? "tangent_rtol" : o->tangent_atol ? "tangent_atol" :
           o->tangent_atol_vector ? "tangent_atol_vector" : NULL;
}

static int is_random(const stepper *c, int j) { return c->random.atol && j >= c->random.from; }

int tangent_has_tolerances(const stepper *c, int j) { return tangent_tolerances(c->o) || is_random(c, j); }

static tolerances of_tangent(const stepper *c, int j)
{
    const costate_options *o = c->o;
    tolerances x = of_state(c);
    if (is_random(c, j)) { x.atol_vector = c->random.atol; return x; }
    if (o->tangent_rtol) { x.rtol = o->tangent_rtol[j]; x.rtol_vector = NULL; }
    if (o->tangent_atol) { x.atol = o->tangent_atol[j]; x.atol_vector = NULL; }
    if (o->tangent_atol_vector) x.atol_vector = o->tangent_atol_vector + (size_t)j * (size_t)c->n;
    return x;
}

static double rtol_at(const tolerances *x, int i) { return i < x->n && x->rtol_vector ? x->rtol_vector[i] : x->rtol; }
static double atol_at(const tolerances *x, int i) { return i < x->n && x->atol_vector ? x->atol_vector[i] : x->atol; }

double state_rtol(const stepper *c, int i)
{
    tolerances x = of_state(c);
    return rtol_at(&x, i);
}

double state_atol(const stepper *c, int i)
{
    tolerances x = of_state(c);
    return atol_at(&x, i);
}

static void weights_within(const tolerances *x, int N, const double *y, double *w)
{
    double rtol = x->rtol, atol = x->atol;
    if (x->rtol_vector || x->atol_vector)
        for (int i = 0; i < N; i++) w[i] = 1 / (atol_at(x, i) + rtol_at(x, i) * fabs(y[i]));
    else for (int i = 0; i < N; i++) w[i] = 1 / (atol + rtol * fabs(y[i]));
}

void weights(const stepper *c, const double *y, double *w)
{
    tolerances x = of_state(c);
    weights_within(&x, c->N, y, w);
}

const double *tangent_weights(const stepper *c, int j, const double *V, double *room)
{
    if (!tangent_has_tolerances(c, j)) return c->w;
    tolerances x = of_tangent(c, j);
    weights_within(&x, c->N, V, room);
    return room;
}

void index_scale(const stepper *c, double h, double *x)
{
    const int *index = c->maps->index;
    for (int i = 0; index && i < c->n; i++) if (index[i] == 2) x[i] *= fabs(h);
}

static int norm_within(const stepper *c, const tolerances *x, const double *y, const double *y1, const double *err,
                       double *norm)
{
    int count = c->o->cost_error ? c->n + c->nq : c->n;
    double sum = 0;
    if (x->rtol_vector || x->atol_vector)
        for (int i = 0; i < count; i++) sum += sum_scaled(1, rtol_at(x, i), atol_at(x, i), y + i, y1 + i, err + i);
    else sum = sum_scaled((size_t)count, x->rtol, x->atol, y, y1, err);
    double all[] = {sum, count, !all_finite((size_t)c->N, y1)};
    TRY(space_total(&c->maps->space, 3, all));
    *norm = all[2] == 0 ? sqrt(all[0] / all[1]) : NAN;
    return 0;
}

int error_norm(const stepper *c, const double *y, const double *y1, const double *err, double *norm)
{
    const costate_options *o = c->o;
    if (!o->rtol_vector && !o->atol_vector && !o->cost_error && !c->maps->space.sum) {     /* most of the time */
        double sum = sum_scaled((size_t)c->n, o->rtol, o->atol, y, y1, err);
        *norm = all_finite((size_t)c->N, y1) ? sqrt(sum / c->n) : NAN;
        return 0;
    }
    tolerances x = of_state(c);
    return norm_within(c, &x, y, y1, err, norm);
}

int tangent_error_norm(const stepper *c, int j, const double *V, const double *V1, const double *err, double *norm)
{
    tolerances x = of_tangent(c, j);
    return norm_within(c, &x, V, V1, err, norm);
}

int stage_estimate(stepper *c, const record *r, const directions *d, int j, double *err)
{
    size_t n = (size_t)c->n;
    (void)r;
    combine(n, err, NULL, 1, c->s, c->m->est.e, d->Xd + (size_t)j * n, n * (size_t)d->m);
    return 0;
}
