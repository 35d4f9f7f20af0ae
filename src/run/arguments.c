/* arguments.c - what is given to a run, checked: there, finite, and enough callbacks for what is asked; and the directions
   of t and h that each step gets from those of t0 and t1. */
#include <math.h>
#include "core.h"

int check_vector(costate *c, const char *name, const double *x, size_t count)
{
    if (count > 0 && !x) return fail(&c->v, COSTATE_BAD_ARGUMENT, "%s is NULL, but %zu values are expected.", name, count);
    if (!all_finite(count, x)) return fail(&c->v, COSTATE_BAD_ARGUMENT, "%s holds a NaN or Inf.", name);
    return COSTATE_OK;
}

int check_arguments(costate *c, double t0, double t1, const double *y, const double *p)
{
    if (!(fabs(t0) < HUGE_VAL)) return fail(&c->v, COSTATE_BAD_ARGUMENT, "t0 is not finite.");
    if (!(fabs(t1) < HUGE_VAL)) return fail(&c->v, COSTATE_BAD_ARGUMENT, "t1 is not finite.");
    int status = check_vector(c, "y", y, (size_t)c->N);
    return status == COSTATE_OK ? check_vector(c, "p", p, (size_t)c->np) : status;
}

int maps_available(costate *c, enum mode mode, int with_p, int with_t)
{
    return maps_have(&c->maps, c->F->needs[mode], c->F->costs[mode], with_p, with_t);
}

static int check_directions(costate *c, int m, const double *V, const double *Vp, const costate_times *g)
{
    if (m <= 0) return fail(&c->v, COSTATE_BAD_ARGUMENT, "m = %d directions: at least one is needed.", m);
    int status = check_vector(c, "V", V, (size_t)c->N * (size_t)m);
    if (status == COSTATE_OK && Vp) status = check_vector(c, "Vp", Vp, (size_t)c->np * (size_t)m);
    if (status == COSTATE_OK && g && g->t0) status = check_vector(c, "times.t0", g->t0, (size_t)m);
    if (status == COSTATE_OK && g && g->t1) status = check_vector(c, "times.t1", g->t1, (size_t)m);
    return status;
}

int tangent_begin(costate *c, int m, const double *V, const double *Vp, const costate_times *g)
{
    int status = check_directions(c, m, V, Vp, g);
    if (status == COSTATE_OK) status = maps_available(c, TANGENT, Vp && c->np, g && (g->t0 || g->t1));
    return status == COSTATE_OK ? derivatives_prepare(c, m) : status;
}

int adjoint_begin(costate *c, int m, const double *lambda, const double *mu, const costate_times *g)
{
    if (m <= 0) return fail(&c->v, COSTATE_BAD_ARGUMENT, "m = %d functionals: at least one is needed.", m);
    int status = check_vector(c, "lambda", lambda, (size_t)c->N * (size_t)m);
    if (status == COSTATE_OK && mu) status = check_vector(c, "mu", mu, (size_t)c->np * (size_t)m);
    if (status == COSTATE_OK) status = maps_available(c, ADJOINT, mu && c->np, g && (g->t0 || g->t1));
    return status == COSTATE_OK ? derivatives_prepare(c, m) : status;
}

/* t' and h' of a step: all steps but the last are fixed, the last is t1 - t */
void step_directions(costate *c, int m, const costate_times *g, int last)
{
    for (int j = 0; j < m; j++) {
        c->dt[j] = g && g->t0 ? g->t0[j] : 0;
        c->dh[j] = last ? (g && g->t1 ? g->t1[j] : 0) - c->dt[j] : 0;
    }
}
