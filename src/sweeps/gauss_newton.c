/* gauss_newton.c - Gauss-Newton products J^T W J v over a tape, from first derivatives only: tangents forward, weighted
   where they are observed (seed2, seed), and an adjoint sweep with these weights (mathematics, eq. 2.8). */
#include <stdlib.h>
#include <string.h>
#include "sweeps/second.h"
#include "sweeps/sweep.h"

typedef struct {
    const costate_observations *user;
    size_t n;
    int m;
    double *weighed;            /* count by n*m: C^T W C V of each observation */
    int code;                   /* the return value of seed2, and its time */
    double t;
} seen;

static double *weighed_of(const seen *x, int k) { return x->weighed + (size_t)k * x->n * (size_t)x->m; }

static int weigh(int k, double t, const double *y, int m, const double *V, void *ctx)
{
    seen *x = ctx;
    memset(weighed_of(x, k), 0, x->n * (size_t)m * sizeof *V);
    x->t = t;
    return x->code = x->user->seed2(k, t, y, m, V, NULL, weighed_of(x, k), x->user->ctx);
}

static int back(int k, double t, const double *y, int m, double *w, void *ctx)
{
    const seen *x = ctx;
    (void)t;
    (void)y;
    memcpy(w, weighed_of(x, k), x->n * (size_t)m * sizeof *w);
    return 0;
}

/* calls seed with V (N*m) at the end to set lambda2, mu2 */
static int end_values(costate *c, const costate_tape *tape, const costate_second *s, const double *V)
{
    size_t all = (size_t)c->st.N * (size_t)s->m;
    memset(s->lambda2, 0, all * sizeof *V);
    if (!s->seed) return COSTATE_OK;
    int r = s->seed(tape->from.t1, tape->end, tape->p, s->m, V, s->Vp, NULL, NULL, s->lambda2, s->mu2, s->ctx);
    r = r == 0 ? 0 : fail(&c->v, COSTATE_CALLBACK, "The callback seed returned %d.", r);
    size_t by_p = s->mu2 ? (size_t)c->st.np * (size_t)s->m : 0;
    if (r == 0 && !(all_finite(all, s->lambda2) && all_finite(by_p, s->mu2)))
        r = fail(&c->v, COSTATE_BAD_ARGUMENT, "seed set lambda2 or mu2 to NaN or Inf.");
    return space_agree(&c->maps.space, r);
}

static int both_ways(costate *c, const costate_tape *tape, const costate_second *s, double *V, seen *x)
{
    const costate_observations *o = s->observations;
    int count = o ? o->count : 0;
    costate_observations forward = {.count = count, .value = weigh, .ctx = x},
                         backward = {.count = count, .seed = back, .ctx = x};
    if (o) { forward.t = backward.t = o->t; backward.dt = o->dt; }
    if (s->V) memcpy(V, s->V, (size_t)c->st.N * (size_t)s->m * sizeof *V);
    int status = solver_tangent(c, tape, s->m, V, s->Vp, s->along, &forward);
    if (x->code)
        return fail(&c->v, COSTATE_CALLBACK, "The callback observations.seed2 returned %d at t = %.10g.", x->code,
                    x->t);
    TRY(status);
    TRY(end_values(c, tape, s, V));
    return solver_adjoint(c, tape, s->m, s->lambda2, s->mu2, s->times2, &backward);
}

int solver_gauss_newton(costate *c, const costate_tape *tape, const costate_second *s)
{
    TRY(begin(c));
    if (!s) return fail(&c->v, COSTATE_BAD_ARGUMENT, "second is NULL.");
    TRY(tape_serves(&c->st, &c->P, tape, 1));
    TRY(second_directions(c, s, 1));
    TRY(second_derivatives(c, s));
    TRY(check_observations(c, tape, s->observations, SECOND));
    size_t n = (size_t)c->st.n, m = (size_t)s->m, NM = (size_t)c->st.N * m;
    seen x = {.user = s->observations, .n = n, .m = s->m};
    size_t count = s->observations ? (size_t)s->observations->count : 0;
    double *V = calloc(NM + count * n * m, sizeof *V);
    if (!V) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for tangents at %zu observations.", count);
    x.weighed = V + NM;
    int status = both_ways(c, tape, s, V, &x);
    free(V);
    return status;
}
