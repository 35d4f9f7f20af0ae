/* functional.c - values of functionals of a run and their gradients, by one sweep over its tape, and Hessian products.
   */
#include <math.h>
#include <string.h>
#include "estimates/functional.h"
#include "solver/arguments.h"
#include "solver/workspace.h"
#include "sweeps/output.h"
#include "sweeps/second.h"

/* Is what second derivatives are given of the same functional? */
static int second_sound(costate *c, const costate_functional *F)
{
    const costate_second *s = F->second;
    if (!s) return fail(&c->v, COSTATE_MISSING, "functional.second is missing: Hessian products are requested, and it "
                        "has their directions and seeds.");
    if (F->m != 1) return fail(&c->v, COSTATE_BAD_ARGUMENT, "functional.m = %d: Hessian products are of one "
                               "functional.", F->m);
    TRY(second_directions(c, s, 1));
    if (F->at_end && !s->seed)
        return fail(&c->v, COSTATE_MISSING, "functional.second.seed is missing: it provides the second derivatives of "
                    "at_end.");
    if (!F->at_end && s->seed)
        return fail(&c->v, COSTATE_MISSING, "functional.at_end is missing: functional.second.seed has terms at the "
                    "end.");
    int count = s->observations ? s->observations->count : 0;
    if (count != F->count)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "functional.second.observations has %d times, the functional %d: they "
                    "must be the same.", count, F->count);
    if (count > 0 && !s->observations->t)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "functional.second.observations.t is NULL.");
    for (int k = 0; k < count; k++)
        if (s->observations->t[k] != F->t[k])
            return fail(&c->v, COSTATE_BAD_ARGUMENT, "functional.second.observations.t[%d] = %.17g, but "
                        "functional.t[%d] = %.17g: they must be the same.", k, s->observations->t[k], k, F->t[k]);
    return 0;
}

int functional_sound(costate *c, const costate_functional *F, unsigned wanted)
{
    if (!F) return fail(&c->v, COSTATE_BAD_ARGUMENT, "The functional is NULL.");
    if (F->m < 1) return fail(&c->v, COSTATE_BAD_ARGUMENT, "functional.m = %d: it must be at least 1.", F->m);
    if (F->count < 0 || (F->count > 0 && !F->t))
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "functional: count is negative or t is NULL.");
    if (F->count > 0 && !F->at_time && !F->at_time_p)
        return fail(&c->v, COSTATE_MISSING, "functional.at_time is missing: there are %d times.", F->count);
    if (F->at_time && F->at_time_p)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "functional has at_time and at_time_p: set one of them.");
    if (F->at_time_p && wanted & PRODUCTS)
        return fail(&c->v, COSTATE_MISSING, "functional.second has no second derivatives with respect to p of terms at "
                    "times: Hessian products require at_time, whose terms depend on y alone.");
    if (F->count == 0 && !F->at_end) return fail(&c->v, COSTATE_MISSING, "functional.at_end is missing.");
    return wanted & PRODUCTS ? second_sound(c, F) : 0;
}

void outcome_layout(const costate *c, const costate_functional *F, const costate_tape *tape, unsigned wanted,
                    cursor *at, outcome *o)
{
    size_t m = (size_t)F->m, N = (size_t)c->st.N, np = (size_t)c->st.np;
    size_t along = wanted & PRODUCTS ? (size_t)F->second->m : 0;
    TAKE(at, m, &o->value, &o->last, &o->t0, &o->t1, &o->end);
    o->lambda = take(at, N * m);
    o->mu = take(at, np * m);
    o->events = take(at, (size_t)tape->maps.events * m);
    o->terms = take(at, (size_t)F->count * m);
    o->direct = take(at, np * m);
    o->of_term = take(at, np * m);
    o->lambda2 = take(at, N * along);
    o->mu2 = take(at, np * along);
    o->again_y0 = take(at, N);
    o->again_p = take(at, np);
}

/* ---- observations: `seed` of a sweep, which also has the values ---- */

/* code: of at_time */
typedef struct { costate *c; const costate_functional *F; outcome *o; const double *p; int code; } observed;

static int called(costate *c, const char *name, int r)
{
    return r == 0 ? 0 : fail(&c->v, COSTATE_CALLBACK, "The callback functional.%s returned %d.", name, r);
}

static const char *term_name(const costate_functional *F) { return F->at_time ? "at_time" : "at_time_p"; }

static int term(observed *x, int k, double t, const double *y, double *w)
{
    const costate_functional *F = x->F;
    outcome *o = x->o;
    size_t m = (size_t)F->m, np = (size_t)x->c->st.np * m;
    double *value = o->terms + (size_t)k * m;
    memset(o->of_term, 0, np * sizeof *o->of_term);
    x->code = F->at_time ? F->at_time(k, t, y, F->m, value, w, F->ctx)
                         : F->at_time_p(k, t, y, x->p, F->m, value, w, o->of_term, F->ctx);
    for (size_t j = 0; j < m; j++) o->value[j] += value[j];
    for (size_t i = 0; i < np; i++) o->direct[i] += o->of_term[i];
    return x->code;
}

static int seed_of_term(int k, double t, const double *y, int m, double *w, void *ctx)
{
    (void)m;
    return term(ctx, k, t, y, w);
}

/* without a gradient */
static int terms(costate *c, const costate_tape *tape, observed *x)
{
    double *y = c->work.z, *w = c->d.w;
    for (int k = 0; k < x->F->count; k++) {
        TRY(solver_tape_eval(c, tape, x->F->t[k], y));
        memset(w, 0, (size_t)c->st.n * (size_t)x->F->m * sizeof *w);
        TRY(space_agree(&c->maps.space, called(c, term_name(x->F), term(x, k, x->F->t[k], y, w))));
    }
    return 0;
}

/* ---- the whole ---- */

static int at_end(costate *c, const costate_tape *tape, const observed *x)
{
    const costate_functional *F = x->F;
    outcome *o = x->o;
    size_t m = (size_t)F->m;
    if (!F->at_end) return 0;
    TRY(space_agree(&c->maps.space, called(c, "at_end", F->at_end(tape->from.t1, tape->end, tape->p, F->m, o->value,
                                                                  o->lambda, o->mu, o->end, F->ctx))));
    int sound = all_finite((size_t)c->st.N * m, o->lambda) && all_finite((size_t)c->st.np * m, o->mu) &&
                all_finite(m, o->end);
    memcpy(o->last, o->value, m * sizeof *o->last);
    return space_agree(&c->maps.space, sound ? 0 : fail(&c->v, COSTATE_BAD_ARGUMENT, "functional.at_end set a gradient "
                       "to NaN or Inf."));
}

static int any(size_t count, const double *x)
{
    for (size_t k = 0; k < count; k++) if (x[k] != 0) return 1;
    return 0;
}

/* what terms at times depend on p directly */
static int add_direct(costate *c, outcome *o, size_t count)
{
    for (size_t i = 0; i < count; i++) o->mu[i] += o->direct[i];
    return space_agree(&c->maps.space, all_finite(count, o->direct) ? 0 : fail(&c->v, COSTATE_BAD_ARGUMENT,
                       "functional.at_time_p set a gradient to NaN or Inf."));
}

/* A run that ends at a terminal event ends at a time that depends on y0 and p. */
static int gradients(costate *c, const costate_tape *tape, unsigned wanted, observed *x, const visit *after)
{
    outcome *o = x->o;
    int m = x->F->m, ends = any((size_t)m, o->end);
    costate_times times = {.t0 = o->t0, .t1 = o->t1, .end = o->end, .events = o->events};
    const costate_observations seen = {.count = x->F->count, .t = x->F->t, .seed = seed_of_term, .ctx = x};
    const costate_times *timed = (wanted & OF_TIMES) || ends ? &times : NULL;
    TRY(adjoint_begin(c, tape, m, o->lambda, wanted & OF_P ? o->mu : NULL, timed));
    TRY(check_observations(c, tape, &seen, ADJOINT));
    TRY(tape_begin(c, tape));
    int status = adjoint_sweep(c, tape, m, o->lambda, wanted & OF_P ? o->mu : NULL, timed, &seen, after, NULL);
    tape_leave(tape);
    if (x->code) return called(c, term_name(x->F), x->code);
    return status ? status : add_direct(c, o, (size_t)c->st.np * (size_t)m);
}

/* The arrays of the user's costate_second are those of another call.  What its seeds read is kept: the direct gradient
   with respect to the end. */
static int products(costate *c, const costate_tape *tape, const costate_second *asked, unsigned wanted, outcome *o)
{
    costate_times times = {.end = asked->times ? asked->times->end : NULL};
    costate_times times2 = {.end = asked->times2 ? asked->times2->end : NULL};
    costate_second s = *asked;
    s.times = times.end ? &times : NULL;
    s.times2 = times2.end ? &times2 : NULL;
    s.lambda = o->again_y0;
    s.lambda2 = o->lambda2;
    s.mu = wanted & PRODUCT_P ? o->again_p : NULL;
    s.mu2 = wanted & PRODUCT_P ? o->mu2 : NULL;
    return solver_hessian(c, tape, &s);
}

int functional_sweep(costate *c, const costate_tape *tape, const costate_functional *F, unsigned wanted, outcome *o,
                     const visit *after)
{
    observed x = {c, F, o, tape->p, 0};
    size_t m = (size_t)F->m;
    TRY(columns_prepare(c, F->m));
    TRY(at_end(c, tape, &x));
    TRY(wanted & GRADIENT ? gradients(c, tape, wanted, &x, after) : terms(c, tape, &x));
    if (wanted & PRODUCTS) TRY(products(c, tape, F->second, wanted, o));
    TRY(space_total(&c->maps.space, F->m, o->value));
    return all_finite(m, o->value) ? 0 : fail(&c->v, COSTATE_NOT_FINITE, "The functional is NaN or Inf.");
}

int functional_values(costate *c, const costate_tape *tape, const costate_functional *F, outcome *o)
{
    size_t m = (size_t)F->m, N = (size_t)c->st.N, np = (size_t)c->st.np;
    memset(o->value, 0, m * sizeof *o->value);
    memset(o->end, 0, m * sizeof *o->end);
    memset(o->lambda, 0, N * m * sizeof *o->lambda);
    memset(o->mu, 0, np * m * sizeof *o->mu);
    memset(o->terms, 0, (size_t)F->count * m * sizeof *o->terms);
    return functional_sweep(c, tape, F, 0, o, NULL);
}
