/* solve.c (steady) - a steady state and its derivatives as calls, with the states that are kept. */
#include <string.h>
#include "base/vec.h"
#include "steady/steady.h"

static int same(const steady *s, const limit *x, const double *y0, const double *p, const double *m)
{
    return x->held && memcmp(x->y0, y0, (size_t)s->n * sizeof *y0) == 0 &&
        (s->np == 0 || memcmp(x->p, p, (size_t)s->np * sizeof *p) == 0) &&
        (s->nm == 0 || memcmp(x->m, m, (size_t)s->nm * sizeof *m) == 0);
}

static int known(const steady *s, const double *y0, const double *p, const double *m)
{
    for (int k = 0; k < KEPT; k++) if (same(s, &s->limits[k], y0, p, m)) return k;
    return -1;
}

/* the factors of limit k, bit for bit those of the iteration that found it */
static int factored(steady *s, int k)
{
    const limit *x = &s->limits[k];
    s->current = -1;
    steady_bind(s, x);
    int status = steady_jacobian(s, x->y, s->dense.D);
    if (status == 0) status = steady_factor(s, x, s->dense.D);
    if (status > 0)
        status = fail(&s->v, cause_status(s->v.why), "The Jacobian of f at the steady state cannot be formed again: f "
                      "has changed.");
    if (status == 0) s->current = k;
    return status;
}

int steady_at(steady *s, const double *y0, const double *p, const double *m, const limit **x)
{
    p = fixed_parameters(s, p);
    int k = known(s, y0, p, m);
    if (k < 0) {
        s->current = -1;
        TRY(steady_follow(s, y0, p, m));
        k = s->next;
        s->next = (k + 1) % KEPT;
        limit found = s->candidate;
        s->candidate = s->limits[k];
        s->limits[k] = found;
        s->limits[k].held = 1;
    }
    if (s->current != k) TRY(factored(s, k));
    else steady_bind(s, &s->limits[k]);
    *x = &s->limits[k];
    s->count.invariants = (*x)->k;
    s->count.rank = s->n - (*x)->k;
    s->count.slowest = (*x)->slowest;
    s->last = k;
    return 0;
}

/* ---- calls ---- */

static int sound(steady *s, const char *name, const double *x, size_t count)
{
    if (count > 0 && !x) return fail(&s->v, COSTATE_BAD_ARGUMENT, "%s is NULL.", name);
    return all_finite(count, x) ? 0 : fail(&s->v, COSTATE_BAD_ARGUMENT, "%s holds a NaN or Inf.", name);
}

int call_steady_solve(steady *s, double *y, const double *p)
{
    const limit *x;
    TRY(steady_begin(s));
    TRY(sound(s, "y", y, (size_t)(s->n + s->nm)));
    TRY(sound(s, "p", p, (size_t)s->np));
    s->last = -1;
    TRY(steady_at(s, y, p, y + s->n, &x));
    memcpy(y, x->y, (size_t)s->n * sizeof *y);
    return COSTATE_OK;
}

static int solved(steady *s, int m)
{
    if (m < 1) return fail(&s->v, COSTATE_BAD_ARGUMENT, "m = %d: at least one column is needed.", m);
    if (s->last < 0)
        return fail(&s->v, COSTATE_BAD_ARGUMENT, "There is no steady state: costate_steady_solve comes first.");
    if (s->current != s->last) return factored(s, s->last);
    steady_bind(s, &s->limits[s->last]);
    return 0;
}

int call_steady_tangent(steady *s, int m, double *V, const double *Vp)
{
    TRY(steady_begin(s));
    TRY(solved(s, m));
    size_t n = (size_t)s->n, L = n + (size_t)s->nm, np = (size_t)s->np;
    TRY(sound(s, "V", V, L * (size_t)m));
    if (Vp) TRY(sound(s, "Vp", Vp, np * (size_t)m));
    for (size_t j = 0; j < (size_t)m; j++) {
        double *v = V + j * L;
        const costate_point given = {.y = v, .p = Vp && np ? Vp + j * np : NULL, .m = s->nm ? v + n : NULL};
        const costate_point d = fixed_direction(s, &given, s->fixed.by_p[0]);
        TRY(steady_tangent_at(s, &s->limits[s->last], &d, s->work.d));
        memcpy(v, s->work.d, n * sizeof *v);
    }
    return COSTATE_OK;
}

int call_steady_adjoint(steady *s, int m, double *lambda, double *mu)
{
    TRY(steady_begin(s));
    TRY(solved(s, m));
    size_t n = (size_t)s->n, L = n + (size_t)s->nm, np = (size_t)s->np;
    TRY(sound(s, "lambda", lambda, L * (size_t)m));
    for (size_t j = 0; j < (size_t)m; j++) {
        double *w = lambda + j * L;
        memcpy(s->work.d, w, n * sizeof *w);
        memset(w, 0, n * sizeof *w);
        const costate_gradient given = {.y = w, .p = mu && np ? mu + j * np : NULL, .m = s->nm ? w + n : NULL};
        const costate_gradient g = fixed_begin(s, &given);
        TRY(steady_adjoint_at(s, &s->limits[s->last], s->work.d, &g));
        fixed_end(s, &given);
    }
    return COSTATE_OK;
}
