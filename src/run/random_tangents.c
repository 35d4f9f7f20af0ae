/* random_tangents.c - options.gradient_control: tangents along random directions, whose errors are controlled beside
   that of y (mathematics, section 13.4).

   They start from numbers in -1 .. 1 times the sizes of y and p, the same in every run:

       V_i = r (|y_i| + atol_i/rtol_i),   Vp_i = r |p_i|

   and V is measured with atol_i + rtol_i |y_i| at the start as its absolute tolerance and with rtol_i as its relative
   one. In constrained problems they begin along the constraints.  They stand behind the tangents of the user, if there
   are any, in columns of their own memory, and are in the file of a tape where a run can be resumed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "maps/callbacks.h"
#include "run/consistent.h"
#include "run/random_tangents.h"
#include "run/start.h"
#include "solver/arguments.h"
#include "solver/members.h"
#include "solver/workspace.h"

/* the relative tolerance that counts where options.rtol is 0 */
static const double DEFAULT_RTOL = 1e-6;

static double rtol_of(const costate *c, int i)
{
    double rtol = state_rtol(&c->st, i);
    return rtol > 0 ? rtol : DEFAULT_RTOL;
}

static int allocate(costate *c, int m)
{
    random_tangents *r = &c->random;
    size_t all = (size_t)(m + r->count), N = (size_t)c->st.N, np = (size_t)c->st.np;
    if (r->block && r->room >= m) return 0;
    double *block = NULL;
    for (;;) {
        cursor at = {block, 0};
        TAKE(&at, N * all, &r->V, &r->Vb);
        r->Vp = take(&at, np * all);
        r->atol = take(&at, N);
        TAKE(&at, all, &r->t0, &r->t1);
        if (block) break;
        free(r->block);
        r->block = NULL;
        if (!(block = calloc(at.used + 1, sizeof *block)))
            return fail(&c->v, COSTATE_NO_MEMORY, "No memory for %d directions (%zu doubles).", m + r->count, at.used);
    }
    r->block = block;
    r->room = m;
    return 0;
}

static void draw(costate *c, int m, const double *y, const double *p)
{
    random_tangents *r = &c->random;
    size_t N = (size_t)c->st.N, np = (size_t)c->st.np;
    unsigned of_y = 1, of_p = 2;        /* p is the same in all processes, of which each has its own part of y */
    for (size_t i = 0; i < N; i++) r->atol[i] = state_atol(&c->st, (int)i) + rtol_of(c, (int)i) * fabs(y[i]);
    for (size_t j = (size_t)m; j < (size_t)(m + r->count); j++) {
        for (size_t i = 0; i < N; i++)
            r->V[j * N + i] = (int)i < c->st.n ? random_number(&of_y) * r->atol[i] / rtol_of(c, (int)i) : 0;
        for (size_t i = 0; i < np; i++) r->Vp[j * np + i] = r->with_p ? random_number(&of_p) * fabs(p[i]) : 0;
        r->t0[j] = r->t1[j] = 0;
    }
}

int random_tangents_prepare(costate *c, int m, int with_p)
{
    const costate_map *f = c->maps.residual ? &c->P.residual : &c->P.rhs;
    if (c->random.count == 0) return 0;
    if (constrained(c) && c->st.sh->matfree)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.gradient_control places tangents along constraints, for "
                    "which it needs a matrix: with singular M or problem.residual it does not take COSTATE_LS_GMRES.");
    c->random.with_p = with_p || (c->st.np > 0 && (has_tangent(f) || c->o.differences));
    TRY(maps_available(c, NULL, TANGENT, c->random.with_p, 0));
    TRY(maps_have_events(&c->maps, TANGENT_OF));
    TRY(columns_prepare(c, m + c->random.count));
    return allocate(c, m);
}

static void copy(costate *c, const user_tangents *u)
{
    random_tangents *r = &c->random;
    size_t m = (size_t)u->m, N = (size_t)c->st.N, np = (size_t)c->st.np;
    if (m) memcpy(r->V, u->V, N * m * sizeof *u->V);
    for (size_t k = 0; k < np * m; k++) r->Vp[k] = u->Vp ? u->Vp[k] : 0;
    for (size_t j = 0; j < m; j++) {
        r->t0[j] = u->times && u->times->t0 ? u->times->t0[j] : 0;
        r->t1[j] = u->times && u->times->t1 ? u->times->t1[j] : 0;
    }
}

const user_tangents no_tangents = {0, NULL, NULL, NULL};

void tangents_begin(costate *c, const user_tangents *u, const double *y, const double *p, run *x, directed_run *all)
{
    random_tangents *r = &c->random;
    int m = u->m + r->count;
    double *V = u->V;
    const double *Vp = u->Vp;
    x->times = u->times;
    x->Vb = c->d.V;
    if (r->count > 0) {
        draw(c, u->m, y, p);
        copy(c, u);
        V = r->V;
        Vp = u->Vp || r->with_p ? r->Vp : NULL;
        all->times = (costate_times){.t0 = r->t0, .t1 = r->t1};
        x->times = &all->times;
        x->Vb = r->Vb;
        c->st.random = (random_columns){u->m, r->atol};
    }
    if (m == 0) return;
    all->d = (directions){.m = m, .stages = c->o.tangent_error || r->count > 0, .dt = c->d.dt,
                           .dh = c->d.dh, .Vp = pm_begin(c, m, Vp), .Xd = c->d.X};
    x->d = &all->d;
    x->Va = V;
    memory_to_pm(&c->st, m, V, c->d.events.pm);
    times_begin(x->times, m, c->d.dt);
    members_left_sweep(c);
}

void tangents_end(costate *c, const user_tangents *u, const run *x)
{
    c->st.random = (random_columns){0, NULL};
    if (u->m && x->Va != u->V) memcpy(u->V, x->Va, (size_t)c->st.N * (size_t)u->m * sizeof *u->V);
}

/* those of index 2, which are hidden, too */
static int along_hidden(costate *c, const run *x, double *V, const double *Vp)
{
    size_t n = (size_t)c->st.n, N = (size_t)c->st.N;
    memcpy(c->work.y1, c->work.y, N * sizeof *c->work.y);
    if (c->work.yp) memcpy(c->work.yp1, c->work.yp, n * sizeof *c->work.yp);
    int status = make_consistent(c, x->t, 0);
    memcpy(c->work.y, c->work.y1, N * sizeof *c->work.y);
    if (c->work.yp) memcpy(c->work.yp, c->work.yp1, n * sizeof *c->work.yp);
    TRY(status);
    return start_tangent(&c->start, &c->start.mine, c->random.count, c->d.dt + c->st.random.from, V, N, Vp);
}

/* Along the constraints, which the values satisfy: else the first estimates of errors would not fall with h. */
static int along_constraints(costate *c, const run *x)
{
    size_t from = (size_t)c->st.random.from;
    double *V = x->Va + from * (size_t)c->st.N;
    const double *Vp = x->d->Vp ? x->d->Vp + from * (size_t)(c->st.np + c->st.nm) : NULL;
    int status = c->maps.index ? along_hidden(c, x, V, Vp) :
                 tangents_along_constraints(c, x->t, fabs(x->end - x->t), c->random.count, V, Vp);
    return decided(&c->v, status, "random tangents along the constraints");
}

int random_tangents_start(costate *c, const run *x)
{
    return c->st.random.atol && constrained(c) ? along_constraints(c, x) : 0;
}

/* Events at guards have given them derivatives of the time: these are dropped, because in a short step up to a given
   time, h' = -t' leaves estimates of algebraic components that do not fall with h.  y' of a residual is not known
   there: it is found. */
int random_tangents_restart(costate *c, const run *x)
{
    if (!c->st.random.atol || x->t == x->end) return 0;
    for (int j = 0; j < c->random.count; j++) c->d.dt[c->st.random.from + j] = 0;
    if (!constrained(c)) return 0;
    memory_bind(&c->st, c->work.y, c->maps.bound.situation);
    if (c->maps.residual) TRY(residual_start(c, x->t, fabs(x->end - x->t)));
    TRY(along_constraints(c, x));
    linearisation_outdate(&c->st.lin);
    return 0;
}
