/* known.c - the memory of a run at a fresh step (controller, guards): written to the file of its tape, and read back.
   */
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/vec.h"
#include "choice/rule.h"
#include "run/control.h"
#include "run/known.h"
#include "run/watch.h"

typedef struct {                /* in addition to t, y, y'; the guards, and v of the spectrum, follow it in the file */
    double low, h_free, log_old, h_old, failed, converges, hmax, when[LAST_EVENTS];
    double rho, h, shortened, stiffest, rate;       /* of the spectrum */
    rule rule;
    int negative, waves, products;      /* these and the next two: of the spectrum */
    long age;
    unsigned seed;
    long taken;
    int control_rejected, cautious, armed, first, still, tangents;
} known;

static size_t guard_bytes(const costate *c) { return (size_t)c->watch.count * sizeof *c->watch.guard; }
static size_t vector_bytes(const costate *c)
{
    return c->st.spectrum.v ? (size_t)c->st.n * sizeof *c->st.spectrum.v : 0;
}

/* Random tangents: N by count, and their N tolerances */
typedef struct { double *V, *atol; size_t bytes, atol_bytes; } randoms;

static randoms randoms_of(const costate *c, const run *x)
{
    size_t from = (size_t)c->st.random.from, count = (size_t)c->random.count, N = (size_t)c->st.N;
    if (!c->st.random.atol) return (randoms){.bytes = 0};
    return (randoms){x->Va + from * N, c->random.atol, count * N * sizeof(double), N * sizeof(double)};
}

int known_keep(costate *c, const run *x, int begins, long source)
{
    const watch *w = &c->watch;
    if (!x->tape->frames) return 0;
    known k;
    memset(&k, 0, sizeof k);
    k.low = x->low;
    k.h_free = x->h_free;
    k.log_old = x->k.log_old;
    k.h_old = x->k.h_old;
    k.failed = x->k.failed;
    k.converges = x->k.converges;
    k.hmax = c->in.hmax;
    k.control_rejected = x->k.rejected;
    k.cautious = x->by.cautious;
    k.taken = w->taken;
    memcpy(k.when, w->when, sizeof k.when);
    k.armed = w->armed;
    k.first = w->first;
    k.still = w->still;
    k.tangents = x->d && c->o.tangent_error;
    const spectrum *s = &c->st.spectrum;
    const randoms r = randoms_of(c, x);
    k.rho = s->rho;
    k.h = s->soft.h;
    k.shortened = s->soft.shortened;
    k.stiffest = s->soft.stiffest;
    k.rate = s->soft.rate;
    k.negative = s->negative;
    k.waves = s->waves;
    k.rule = rule_kept(c);
    k.products = s->products;
    k.age = s->age;
    k.seed = s->seed;
    const fresh_run f = {.t = x->t, .t0 = c->in.t0, .t1 = c->in.t1, .mode = c->maps.bound.situation, .begins = begins,
                         .y = c->work.y, .yp = c->work.yp, .source = source, .known = &k, .bytes = sizeof k,
                         .more = {{w->guard, guard_bytes(c)}, {s->v, vector_bytes(c)}, {r.V, r.bytes},
                                  {r.atol, r.atol_bytes}}};
    return space_agree(&c->maps.space, tape_fresh(&c->st, x->tape, &f));
}

/* what is read before it is computed anew */
static int guards_sound(const watch *w, const guarded *g)
{
    for (int k = 0; k < w->count; k++) {
        const double numbers[] = {g[k].value, g[k].size, g[k].change, g[k].last_change, g[k].band};
        if (!no_nan(sizeof numbers / sizeof *numbers, numbers) || g[k].sign < -1 || g[k].sign > 1) return 0;
    }
    return 1;
}

/* Refuses values that no run can have written: a correct checksum does not prove who wrote them.  Behind *k in the file
   follow the guards, and then the vector of the spectrum and random tangents. */
static int sound(const costate *c, const known *k, const fresh_run *f)
{
    const char *guards = (const char *)f->known + sizeof *k;
    const double *vectors = (const double *)(const void *)(guards + guard_bytes(c));
    size_t count = (f->bytes - sizeof *k - guard_bytes(c)) / sizeof *vectors;
    const double numbers[] = {k->low, k->log_old, k->h_old, k->stiffest, k->rate};
    if (!no_nan(sizeof numbers / sizeof *numbers, numbers) || !no_nan(LAST_EVENTS, k->when)) return 0;
    if (!guards_sound(&c->watch, (const guarded *)(const void *)guards) || !no_nan(count, vectors)) return 0;
    if (!(fabs(k->low) <= fabs(f->t) + 1)) return 0;
    double low = fmin(f->t0, f->t1), high = fmax(f->t0, f->t1);
    return k->taken >= 0 && k->first >= 0 && k->first <= c->watch.count && isfinite(k->h_free) &&
           (f->t1 >= f->t0 ? k->h_free >= 0 : k->h_free <= 0) && low >= -DBL_MAX && high <= DBL_MAX &&
           low <= f->t && f->t <= high && k->failed >= 0 && k->converges > 0 && k->hmax > 0 && k->rho >= 0 &&
           isfinite(k->rho) && k->h >= 0 && k->shortened >= 0 && k->products >= 0 && k->age >= 0 &&
           rule_sound(c, &k->rule);
}

static void spectrum_again(costate *c, const known *k, const void *v)
{
    spectrum *s = &c->st.spectrum;
    spectrum_forget(s);
    s->rho = k->rho;
    s->soft.h = k->h;
    s->soft.shortened = k->shortened;
    s->soft.stiffest = k->stiffest;
    s->soft.rate = k->rate;
    s->negative = k->negative != 0;
    s->waves = k->waves != 0;
    s->products = k->products;
    s->age = k->age;
    s->seed = k->seed;
    s->run = c->stamp;
    if (s->v) memcpy(s->v, v, vector_bytes(c));
}

int known_again(costate *c, run *x, const fresh_run *f)
{
    watch *w = &c->watch;
    const randoms r = randoms_of(c, x);
    known k;
    if (f->bytes != sizeof k + guard_bytes(c) + vector_bytes(c) + r.bytes + r.atol_bytes)
        return fail(&c->v, COSTATE_BAD_TAPE, "What the tape's run knew is not of this problem.");
    memcpy(&k, f->known, sizeof k);
    if (!sound(c, &k, f))
        return fail(&c->v, COSTATE_BAD_TAPE, "What the tape's run knew cannot have been known.");
    if (k.tangents)
        return fail(&c->v, COSTATE_BAD_TAPE, "The run's steps depended on its tangents (options.tangent_error), which "
                    "are not on its tape: it cannot be gone on with.");
    if (w->count > 0) memcpy(w->guard, (const char *)f->known + sizeof k, (size_t)w->count * sizeof *w->guard);
    TRY(rule_again(c, &k.rule));
    fresh(c, 0);
    x->k.by = law_of(&c->st);
    const char *at = (const char *)f->known + sizeof k + guard_bytes(c);
    spectrum_again(c, &k, at);
    at += vector_bytes(c);
    if (r.bytes) memcpy(r.V, at, r.bytes);
    if (r.bytes) memcpy(r.atol, at + r.bytes, r.atol_bytes);
    x->low = k.low;
    x->h_free = k.h_free;
    x->k.log_old = k.log_old;
    x->k.h_old = k.h_old;
    x->k.failed = k.failed;
    x->k.converges = k.converges;
    c->in.hmax = k.hmax;
    x->k.rejected = k.control_rejected;
    x->by.cautious = k.cautious;
    w->taken = k.taken;
    memcpy(w->when, k.when, sizeof k.when);
    w->armed = k.armed;
    w->first = k.first;
    w->still = k.still;
    w->done = DONE_HERE;        /* the events at the start were applied */
    return 0;
}
