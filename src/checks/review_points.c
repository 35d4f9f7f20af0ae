/* review_points.c - the callbacks of a reviewed run, at points of it: in steps spread over the run, with mode, memory
   and relations of each, and the maps of events where they fired.

   Where a map is not smooth, at a stop or a kink, differences disagree with right derivatives: what is wrong at a point
   must be wrong at a second one in the same step, too. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include "checks/review.h"
#include "maps/check.h"
#include "start/start.h"
#include "sweeps/sweep.h"

enum { STEPS = 4 };                             /* in which a point is checked, besides both ends of the run */

typedef struct { int step; double part; } site;     /* part: of the step */
typedef struct { int status, at_stop; double t, worst; costate_report rhs, cost; } outcome_of_point;

/* ---- one point ---- */

static double worst_of(const costate_report *r)
{
    return fmax(fmax(fmax(r->tangent, r->adjoint), fmax(r->tangent2, r->adjoint_tangent)),
                fmax(r->jac, r->adjoint_tangent2));
}

/* Is the report of the cost that which ended the check, or has an error, where that of the other maps has none? */
static int of_cost(const outcome_of_point *o)
{
    const char *word = o->status == COSTATE_CHECK_FAILED ? "WRONG" : "returned";
    return !strstr(o->rhs.text, word) && strstr(o->cost.text, word);
}

static const char *text_of(const outcome_of_point *o) { return of_cost(o) ? o->cost.text : o->rhs.text; }

/* COSTATE_OK also where the solution slides: there f is not that of one value of the relation. */
static int check_at(run_review *x, costate_point *at, outcome_of_point *out)
{
    const costate_problem *P = &x->c->P;
    for (int k = 0; at->relation && k < P->nrelations; k++) if (at->relation[k] == COSTATE_SLIDES) return 0;
    out->t = at->t;
    out->at_stop = at->side != 0;
    out->status = check_problem(P, at, &out->rhs, &out->cost);
    out->worst = fmax(fmax(worst_of(&out->rhs), worst_of(&out->cost)), 0);
    if (!ends_review(out->status, 1)) return 0;
    char text[600];
    snprintf(text, sizeof text, "At t = %.8g: %s", at->t, text_of(out));
    return review_ends(x, "callbacks", at->t, out->status, text);
}

/* y' where it is an input of a residual, which derivatives may have at any y': the mean of the step */
static void mean_slope(const costate *c, const record *r, double *y, double *yp)
{
    dense_eval(&c->st, r, r->t + r->h, yp);
    dense_eval(&c->st, r, r->t, y);
    for (int i = 0; i < c->st.n; i++) yp[i] = (yp[i] - y[i]) / r->h;
}

/* y: 2 n of work */
static int check_in_step(run_review *x, site of, double *y, outcome_of_point *out)
{
    costate *c = x->c;
    record r;
    TRY(step_of_tape(c, x->tape, of.step, &r));
    double t = of.part == 0 ? r.t : of.part == 1 ? r.end : r.t + of.part * r.h;
    mean_slope(c, &r, y, y + c->st.n);
    if (of.part == 0) memcpy(y, r.y, (size_t)c->st.n * sizeof *y);
    else dense_eval(&c->st, &r, t, y);
    costate_point at = point(&c->maps, t, y);
    at.yp = c->maps.residual ? y + c->st.n : NULL;
    return check_at(x, &at, out);
}

/* A tape whose steps are repeated works in memory of its own. */
static int check_place(run_review *x, site of, double *y, outcome_of_point *out)
{
    costate *c = x->c;
    *out = (outcome_of_point){.status = COSTATE_OK};
    TRY(tape_begin(c, x->tape));
    int status = check_in_step(x, of, y, out);
    tape_leave(x->tape);
    return status;
}

/* a run that failed in its first step has no tape */
static int check_start(run_review *x, outcome_of_point *out)
{
    const costate_problem *P = &x->c->P;
    costate_point at = {.t = x->t0, .y = x->y, .p = x->p, .mode = x->o.mode,
                        .m = P->nm > 0 ? x->y + P->n + P->nq : NULL};
    *out = (outcome_of_point){.status = COSTATE_OK};
    return P->residual.value ? 0 : check_at(x, &at, out);
}

/* ---- what is said ---- */

typedef struct { int points, wrong, undefined, doubtful; double worst; outcome_of_point first; } summary;

/* the sentences of a report without those of what is right, unless a map's name is in them */
static void wrong_part(const char *text, char *out, size_t room)
{
    size_t used = 0;
    out[0] = 0;
    while (*text && used + 1 < room) {
        const char *end = strstr(text, ". ");
        int length = (int)(end ? end + 1 - text : (long)strlen(text));
        char piece[512];
        snprintf(piece, sizeof piece, "%.*s", length, text);
        if (!strstr(piece, " right (") || strstr(piece, ": "))
            used += (size_t)snprintf(out + used, room - used, "%s%s", used ? " " : "", piece);
        text += length + (end ? 1 : 0);
    }
}

static int say_points(run_review *x, const summary *s)
{
    char part[512];
    const char *name = of_cost(&s->first) ? "cost" : x->c->maps.residual ? "residual" : "rhs";
    int bad = s->wrong + s->doubtful;
    wrong_part(text_of(&s->first), part, sizeof part);
    review_about a = {s->wrong ? COSTATE_WRONG : COSTATE_REMARK, -1, "callbacks", s->first.t, s->first.worst};
    if (s->wrong)
        return review_add(x->r, a, "At t = %.8g (and in all at %d of %d points), %s: %s  Each derivative is compared "
                          "with differences of the one below it: correct the callback that is named.", s->first.t,
                          bad, s->points, name, part);
    if (s->doubtful)
        return review_add(x->r, a, "At t = %.8g (and in all at %d of %d points), but not beside it, derivatives and "
                          "differences disagree, as where a map is not smooth: %s: %s", s->first.t, bad, s->points,
                          name, part);
    if (s->undefined)
        return review_add(x->r, a, "At t = %.8g a callback is not defined a little beside the solution, so that its "
                          "derivatives were not checked there: %s", s->first.t, text_of(&s->first));
    return review_add(x->r, (review_about){COSTATE_RIGHT, -1, "callbacks", NAN, s->worst}, "All maps and their "
                      "derivatives are right at %d point%s of the run (to %.1e, by differences).", s->points,
                      s->points == 1 ? "" : "s", s->worst);
}

/* ---- points of the run ---- */

static site beside_of(site a) { return (site){a.step, fmod(a.part + 1.0 / 3, 1)}; }

/* What matters most is kept as the first: what is wrong, then doubtful, then not defined. */
static void take_in(summary *s, const outcome_of_point *o, int wrong_beside)
{
    int wrong = o->status == COSTATE_CHECK_FAILED && wrong_beside;
    int doubtful = o->status == COSTATE_CHECK_FAILED && !wrong, undefined = o->status == RETRY;
    int before = s->wrong ? 3 : s->doubtful ? 2 : s->undefined ? 1 : 0;
    if ((wrong ? 3 : doubtful ? 2 : undefined ? 1 : 0) > before) s->first = *o;
    s->points++;
    s->wrong += wrong;
    s->doubtful += doubtful;
    s->undefined += undefined;
    s->worst = fmax(s->worst, o->worst);
}

static int check_places(run_review *x, double *y, summary *s)
{
    int count = x->tape->count, steps = count < STEPS ? count : STEPS;
    site all[STEPS + 2] = {{0, 0}};
    for (int k = 0; k < steps; k++)
        all[k + 1] = (site){steps > 1 ? (int)((double)k * (count - 1) / (steps - 1) + 0.5) : 0, 0.5};
    all[steps + 1] = (site){count - 1, 1};
    for (int k = 0; k < steps + 2; k++) {
        outcome_of_point here, beside = {.status = COSTATE_OK};
        TRY(check_place(x, all[k], y, &here));
        if (here.status == COSTATE_CHECK_FAILED)
            TRY(check_place(x, beside_of(all[k]), y, &beside));
        int wrong = beside.status == COSTATE_CHECK_FAILED;
        take_in(s, here.at_stop && !wrong ? &beside : &here, wrong);        /* a stop is where maps may jump */
    }
    return 0;
}

static int at_points(run_review *x)
{
    summary s = {.points = 0};
    outcome_of_point here;
    double *y = malloc(2 * (size_t)x->c->st.n * sizeof *y);
    if (!y) return COSTATE_NO_MEMORY;
    int status = 0;
    if (x->tape->usable && x->tape->count > 0) status = check_places(x, y, &s);
    else if (!(status = check_start(x, &here))) take_in(&s, &here, 1);
    free(y);
    return status ? status : say_points(x, &s);
}

/* ---- events ---- */

static int say_event(run_review *x, const mapped *e, int status, const costate_report *r)
{
    char part[512];
    review_about a = {COSTATE_WRONG, e->event, "callbacks", e->t, worst_of(r)};
    wrong_part(r->text, part, sizeof part);
    if (status == COSTATE_CHECK_FAILED)
        return review_add(x->r, a, "Where event %d fired, at t = %.8g, %s  Each derivative is compared with "
                          "differences of the one below it: correct the callback that is named.", e->event, e->t,
                          part);
    a.severity = COSTATE_REMARK;
    return review_add(x->r, a, "Where event %d fired, at t = %.8g, a map of it is not defined a little beside the "
                      "solution: its derivatives were not checked.", e->event, e->t);
}

static int check_fired(run_review *x, const mapped *e)
{
    const costate_problem *P = &x->c->P;
    const situations *known = &x->tape->situations;
    costate_report r;
    int wrong = 0;
    costate_point at = {.t = e->t, .y = e->y, .p = x->p, .mode = tape_mode(x->tape, e->from),
                        .m = P->nm > 0 ? e->y + P->n + P->nq : NULL, .yp = e->k,
                        .relation = known->count > 0 ? known->list[e->from]->values : NULL};
    if (P->residual.value && !e->k) return 0;
    check_clear(&r);
    int status = check_event(P, e->event, &at, &r, &wrong);
    if (ends_review(status, 1)) {
        char text[600];
        snprintf(text, sizeof text, "Where event %d fired, at t = %.8g: %s", e->event, e->t, r.text);
        return review_ends(x, "callbacks", e->t, status, text);
    }
    return status || wrong ? say_event(x, e, status ? status : COSTATE_CHECK_FAILED, &r) : 0;
}

/* where each event fired first */
static int at_events(run_review *x)
{
    const costate_tape *tape = x->tape;
    for (int k = 0; k < tape->maps.count; k++) {
        const mapped *e = &tape->maps.list[k];
        int seen = e->event < 0 || e->event >= x->c->P.nevents;
        for (int j = 0; j < k && !seen; j++) seen = tape->maps.list[j].event == e->event;
        if (!seen) TRY(check_fired(x, e));
    }
    return 0;
}

int review_points(run_review *x)
{
    TRY(at_points(x));
    return at_events(x);
}
