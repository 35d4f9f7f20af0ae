/* arguments.c - checks the arguments of a run: present, finite, and enough callbacks for the requested derivatives. */
#include <math.h>
#include "solver/arguments.h"
#include "solver/workspace.h"

int check_vector(costate *c, const char *name, const double *x, size_t count)
{
    if (count > 0 && !x)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "%s is NULL, but %zu values are expected.", name, count);
    int sound = all_finite(count, x);
    return space_agree(&c->maps.space, sound ? COSTATE_OK : fail(&c->v, COSTATE_BAD_ARGUMENT, "%s holds a NaN or Inf.",
                                                                 name));
}

int check_arguments(costate *c, double t0, double t1, const double *y, const double *p)
{
    if (!(fabs(t0) < HUGE_VAL)) return fail(&c->v, COSTATE_BAD_ARGUMENT, "t0 is not finite.");
    if (!(fabs(t1) < HUGE_VAL)) return fail(&c->v, COSTATE_BAD_ARGUMENT, "t1 is not finite.");
    TRY(check_vector(c, "y", y, (size_t)c->st.N));
    return check_vector(c, "p", p, (size_t)c->st.np);
}

/* What a member needs that took steps on the tape, or without a tape may take them. */
int maps_available(costate *c, const costate_tape *tape, enum mode mode, int with_p, int with_t)
{
    const composite *of = c->st.method->of;
    unsigned on = of && tape ? tape_members(tape) : 0;
    for (int k = 0; k < members_count(&c->st); k++) {
        const family *F = c->st.members[k].F;
        if (of && (tape ? !(on >> k & 1) : !c->works[k].usable)) continue;
        int status = maps_have(&c->maps, F->needs[mode], F->costs[mode], with_p, with_t);
        if (status && of && of->member[k].second)
            remarked(&c->v, "  Only the member %s needs it: options.members = \"-%s\" excludes it from a run.",
                     c->st.members[k].m->name, c->st.members[k].m->name);
        TRY(status);
    }
    return 0;
}

static int check_directions(costate *c, int m, const double *V, const double *Vp, const costate_times *g)
{
    if (m <= 0) return fail(&c->v, COSTATE_BAD_ARGUMENT, "m = %d directions: at least one is needed.", m);
    TRY(check_vector(c, "V", V, (size_t)c->st.N * (size_t)m));
    if (Vp) TRY(check_vector(c, "Vp", Vp, (size_t)c->st.np * (size_t)m));
    if (g && g->t0) TRY(check_vector(c, "times.t0", g->t0, (size_t)m));
    if (g && g->t1) TRY(check_vector(c, "times.t1", g->t1, (size_t)m));
    return 0;
}

int check_no_events(costate *c, const costate_times *g)
{
    return g && g->events ? fail(&c->v, COSTATE_BAD_ARGUMENT, "times.events is for sweeps over a tape: before a run "
                                 "its events are not known.") : COSTATE_OK;
}

/* Does the sweep differentiate lengths of steps?  Those of steps that end at events depend on the times of the events,
   those that relaxation scales on the state. */
int timed_sweep(const costate *c, const costate_times *g)
{
    return guards(c) > 0 || relaxes(&c->maps) || (g && (g->t0 || g->t1 || g->end || g->events));
}

/* Refuses derivatives with respect to times if unknowns of index 2 end without being made consistent: z contains the
   error of the last step divided by its length, which times change, so the derivative would lose an order. */
static int refuse_open_end(costate *c, const costate_times *g)
{
    if (!c->ends.open || !timed_sweep(c, g)) return 0;
    return fail(&c->v, COSTATE_MISSING, "Derivatives with respect to times need an end that is consistent where "
                "problem.index names unknowns of index 2, and for that tangent2 and adjoint_tangent (or "
                "options.differences = 1). options.consistent = COSTATE_CONSISTENT_NONE takes the last step as it is, "
                "with derivatives of these unknowns of a lower order.");
}

int tangent_begin(costate *c, const costate_tape *tape, int m, const double *V, const double *Vp,
                  const costate_times *g)
{
    TRY(check_directions(c, m, V, Vp, g));
    TRY(refuse_open_end(c, g));
    TRY(maps_available(c, tape, TANGENT, Vp && c->st.np, timed_sweep(c, g)));
    TRY(maps_have_events(&c->maps, TANGENT_OF));
    return columns_prepare(c, m);
}

int adjoint_begin(costate *c, const costate_tape *tape, int m, const double *lambda, const double *mu,
                  const costate_times *g)
{
    if (m <= 0) return fail(&c->v, COSTATE_BAD_ARGUMENT, "m = %d functionals: at least one is needed.", m);
    TRY(check_vector(c, "lambda", lambda, (size_t)c->st.N * (size_t)m));
    if (mu) TRY(check_vector(c, "mu", mu, (size_t)c->st.np * (size_t)m));
    if (g && g->end) TRY(check_vector(c, "times.end", g->end, (size_t)m));
    TRY(refuse_open_end(c, g));
    TRY(maps_available(c, tape, ADJOINT, mu && c->st.np, timed_sweep(c, g)));
    TRY(maps_have_events(&c->maps, ADJOINT_OF));
    return columns_prepare(c, m);
}

void times_begin(const costate_times *times, int m, double *dt)
{
    for (int j = 0; j < m; j++) dt[j] = times && times->t0 ? times->t0[j] : 0;
}
