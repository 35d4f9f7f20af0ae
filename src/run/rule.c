/* rule.c - which member of a composite method takes the next step (mathematics, section 13.5).

   Explicit to stiff: a step is flagged where stability seems to limit h, by either of two signs,

       h |f_s - f_(s-1)| / |Y_s - Y_(s-1)| > theta beta        of the last two stages (Hairer & Wanner II, IV.2),
       h rho > theta beta, or h is as long as stability allows   rho by products (step/spectrum.c),

   beta the end of the stability region on the negative real axis and theta the part of it where error control settles.
   The stiff member is taken after LIMITED flagged steps, not counting those before CALM steps in a row without a flag.
   Waves, whose eigenvalues are far from the real axis, count WAVE times: explicit methods do not damp them, and they
   spoil the state before errors show.

   Stiff to explicit: after CHEAPER steps in a row, from the SETTLED-th on, in which an explicit member, with steps that
   are stable, would take less work per unit of time than the last steps did,

       f / min(0.8 beta/rho, h) * MARGIN < work / h.

   Work is counted, with fixed prices in evaluations of f; if it were measured, runs would not repeat bit for bit.

   The order of fully implicit members changes with the contraction psi of Newton's iteration (E. Hairer, G. Wanner,
   J. Comput. Appl. Math. 111 (1999) 93-111): it is raised while psi < RAISE and h hardly changes, and lowered where the
   iteration fails or nearly does. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/pattern.h"
#include "run/rule.h"

enum { LIMITED = 15, CALM = 6, WAVE = 3 };      /* as in DOPRI5; a wave is known for one after 5 steps */
enum { SETTLED = 5, CHEAPER = 3, EVERY = 2 };   /* EVERY: rho is measured after every second stiff step */
static const double MARGIN = 1.1, PART = 0.8;   /* of stability, for the first explicit step: rho may grow */
static const double SPIRAL = 1.5;               /* eigenvalues neither real nor imaginary: stable up to SPIRAL times the
                                                   limit of waves */
static const double NOISE = 1e3;                /* stages that differ by fewer roundings of y tell nothing */

/* RADAU's bounds were 0.002 and 0.8; matrices that are kept for several steps make psi larger here. */
static const double RAISE = 0.02, LOWER = 0.8, SHRINKS = 0.8, GROWS = 1.2;
enum { WAIT = 10 };                             /* steps before the order is raised again */

static const spectrum_accuracy ONE_PAIR = {.first = 2, .first_most = 6, .least = 2, .most = 2, .settled = 1,
                                           .safety = SPECTRUM_SAFETY};

static const composite_member *entry(const costate *c, int k) { return &c->st.method->of->member[k]; }

static double rho(const costate *c) { return c->st.spectrum.rho / SPECTRUM_SAFETY; }

/* ---- explicit steps ---- */

/* h |f_s - f_(s-1)| / |Y_s - Y_(s-1)| by the last two stages, in the norm of the error test; 0: they are too close */
static int stage_estimate_of(costate *c, const record *r, double *z)
{
    const costate_method *m = c->st.m;
    size_t n = (size_t)c->st.n, s = (size_t)m->s;
    double *dY = c->work.f, *dK = c->work.z, D[STAGES_MOST], norms[3];
    const double *last = r->X + (s - 1) * n, *before = last - n, *x[] = {dY, dK, r->y};
    for (size_t j = 0; j < s; j++) D[j] = m->A[(s - 1) * s + j] - m->A[(s - 2) * s + j];
    combine(n, dY, NULL, r->h, (int)s, D, r->X, n);
    for (size_t i = 0; i < n; i++) dK[i] = last[i] - before[i];
    TRY(space_norms(&c->maps.space, n, 3, c->st.w, x, norms));
    *z = norms[0] > NOISE * DBL_EPSILON * norms[2] ? fabs(r->h) * norms[1] / norms[0] : 0;
    return 0;
}

/* how much this step counts towards a stiff one */
static int flags(costate *c, const record *r, int *count)
{
    const composite_member *m = entry(c, c->st.at);
    const spectrum *s = &c->st.spectrum;
    double h = fabs(r->h), z, settled = m->settles * m->real;
    int known = s->rho > 0 && (s->products > 0 || spectrum_given(&c->st));
    int capped = known && s->longest > 0 && h >= 0.99 * s->longest;
    TRY(stage_estimate_of(c, r, &z));
    *count = z > settled;
    if (!known) return 0;
    z = h * rho(c);
    if (s->waves && (z > m->waves || capped)) *count = WAVE;
    else if (capped || z > (s->negative ? settled : fmin(settled, SPIRAL * m->waves))) *count = 1;
    return 0;
}

static int after_explicit(costate *c, const record *r)
{
    rule *x = &c->rule;
    int count, stiff;
    TRY(flags(c, r, &count));
    x->flagged += count;
    x->calm = count ? 0 : x->calm + 1;
    if (x->calm == CALM) x->flagged = 0;
    if (x->flagged < LIMITED) return 0;
    if ((stiff = member_first(c, 1)) >= 0) x->next = stiff;
    else x->missed++;
    return 0;
}

/* ---- stiff steps ---- */

/* Prices in evaluations of f, which is thought to take 10 operations for each unknown and 2 for each entry of J.  A
   factorisation of a dense matrix takes 2/3 n^3, of a sparse one about the square of its entries in a row, n times;
   solving takes 2 for each entry.  LEAST: what small systems take (docs/choosing.md). */
static const double LEAST_LU = 10, LEAST_SOLVE = 2, JACOBIAN = 2, PRODUCT = 1.5, COMPLEX_LU = 1.8, COMPLEX_SOLVE = 2;

static void find_prices(costate *c)
{
    rule *x = &c->rule;
    const factors *f = c->st.fac;
    double n = c->st.n, sparse = c->P.pattern != NULL;
    double entries = (double)c->maps.entries * (sparse || !(c->maps.form.filled > 0) ? 1 : c->maps.form.filled);
    double one = 10 * n + 2 * entries, bytes = f ? (double)factors_bytes(f) : 0;
    double fill = f ? bytes / (sparse ? 12 : 8) / (f->nreal + 2 * f->npair) : 0;
    x->lu = fmax(LEAST_LU, 2.0 / 3 * fill * fill / n / one);
    x->solve = fmax(LEAST_SOLVE, 2 * fill / one);
}

static effort plus(effort a, double s, effort b)
{
    return (effort){a.f + s * b.f, a.factorisations + s * b.factorisations, a.solutions + s * b.solutions};
}

effort rule_effort(const costate *c)
{
    const costate_stats *s = &c->count;
    return (effort){(double)s->f + JACOBIAN * (double)s->jac + PRODUCT * (double)(s->krylov + s->products),
                    (double)s->decompositions + COMPLEX_LU * (double)s->complex_decompositions,
                    (double)s->solves + COMPLEX_SOLVE * (double)s->complex_solves};
}

void rule_aside(costate *c, effort since)
{
    c->rule.done = plus(c->rule.done, 1, plus(rule_effort(c), -1, since));
}

/* work per unit of time in the last steps */
static double rate(const rule *x)
{
    double length = 0, price = 0;
    for (int k = 0; k < SETTLED; k++) { length += x->length[k]; price += x->price[k]; }
    return length > 0 ? price / length : 0;
}

static int by_matrix(stepper *c, double t, const double *y, const double *v, double *out)
{
    (void)t;
    (void)y;
    memset(out, 0, (size_t)c->n * sizeof *out);
    pattern_multiply(c->n, c->maps->pattern, c->lin.J, 0, 1, 1, v, out);
    return c->spectrum.divide(c, 0, out);
}

/* rho by the J of the step, which costs no evaluation, or by products */
static int measure(costate *c, const record *r)
{
    spectrum *s = &c->st.spectrum;
    int formed = c->st.lin.J && c->st.lin.serial;
    if (!formed && !spectrum_products(&c->maps)) return 0;
    if (formed) s->product = by_matrix;
    int status = spectrum_measure(&c->st, r->end, c->work.y1, &ONE_PAIR, NULL, NULL);
    s->product = NULL;
    return status == RETRY ? 0 : status;
}

/* h of an explicit member, as its stability and the proposed step allow */
static double explicit_h(const costate *c, const composite_member *m, double proposed)
{
    double stable = c->st.spectrum.negative ? m->real : m->waves, z = rho(c);
    return z > 0 ? fmin(PART * stable / z, proposed) : proposed;
}

static int compare(costate *c, const record *r, double proposed)
{
    rule *x = &c->rule;
    int k = member_first(c, 0);
    if (k < 0) return 0;
    if (x->taken % EVERY == 0 || x->cheaper > 0) TRY(measure(c, r));
    const costate_method *m = c->st.members[k].m;
    double h = explicit_h(c, entry(c, k), fabs(proposed)), f = m->s - ((m->is & COSTATE_FSAL) != 0);
    int cheaper = c->st.spectrum.products > 0 && x->taken >= SETTLED && f / h * MARGIN < rate(x);
    x->cheaper = cheaper ? x->cheaper + 1 : 0;
    if (x->cheaper < CHEAPER) return 0;
    x->next = k;
    x->h = h;
    return 0;
}

/* the next calibrated member in this direction, or this one */
static int neighbour(const costate *c, int up)
{
    int k = c->st.at + (up ? 1 : -1);
    return k >= 0 && k < members_count(&c->st) && c->works[k].usable && entry(c, k)->tighter != 1 ? k : c->st.at;
}

static void choose_order(costate *c, const record *r, const trial *by)
{
    rule *x = &c->rule;
    double h = fabs(r->h), grows = x->h_old > 0 ? h / x->h_old : 1;
    int iterated = by->newton > 1, failed = c->count.newton_failures > x->failures;
    x->psi = fmin(10, fmax(iterated ? by->contraction : 1e-3, x->psi / 2));
    x->h_old = h;
    x->failures = c->count.newton_failures;
    x->since++;
    if (entry(c, c->st.at)->tighter == 1) return;
    if (x->psi >= LOWER || failed) x->next = neighbour(c, 0);
    else if (iterated && x->psi <= RAISE && grows < GROWS && grows > SHRINKS && x->since > WAIT)
        x->next = neighbour(c, 1);
}

static int after_stiff(costate *c, const record *r, const trial *by, double proposed)
{
    rule *x = &c->rule;
    if (!x->lu) find_prices(c);
    effort all = rule_effort(c), step = plus(all, -1, x->done);
    int at = x->taken % SETTLED;
    x->length[at] = fabs(r->h);
    x->price[at] = fmax(0, step.f + x->lu * step.factorisations + x->solve * step.solutions);
    x->done = all;
    TRY(compare(c, r, proposed));
    if (x->next == c->st.at && c->st.method->of->variable) choose_order(c, r, by);
    return 0;
}

/* ---- the run ---- */

static int starts_with(const costate *c, const costate_tape *on)
{
    return on && on->count > 0 ? (int)on->list[on->count - 1].member : member_begins(c);
}

static void samples(costate *c)
{
    int order = c->st.m->order;
    if (c->o.event_samples == 0) c->watch.samples = order > 4 ? order : 4;
}

int rule_begin(costate *c, const costate_tape *on, int warm)
{
    rule *x = &c->rule;
    if (!warm && (!on || x->run != on->from.stamp)) {
        int k = starts_with(c, on);
        *x = (rule){.run = on ? on->from.stamp : c->stamp, .member = k, .next = k};
    }
    x->done = rule_effort(c);                       /* costate_reset_stats may have been called since */
    x->failures = c->count.newton_failures;
    x->rescued = 0;
    TRY(stepper_take(&c->st, x->member));           /* of the last step: a change that was decided there comes first */
    samples(c);
    return 0;
}

rule rule_kept(const costate *c)
{
    rule x = c->rule;
    x.done = plus(x.done, -1, rule_effort(c));
    x.failures -= c->count.newton_failures;
    return x;
}

void rule_counts(costate *c)
{
    c->rule.done = plus(c->rule.done, 1, rule_effort(c));
    c->rule.failures += c->count.newton_failures;
}

int rule_again(costate *c, const rule *x)
{
    c->rule = *x;
    c->rule.run = c->stamp;
    TRY(stepper_take(&c->st, x->next));
    samples(c);
    return 0;
}

int rule_sound(const costate *c, const rule *x)
{
    int count = members_count(&c->st), there = x->member >= 0 && x->member < count && x->next >= 0 && x->next < count;
    return there && c->works[x->next].usable && x->taken >= 0 && x->flagged >= 0 && x->lu >= 0 && isfinite(x->lu) &&
           x->h >= 0 && isfinite(x->h);
}

int rule_step(costate *c, const run *x)
{
    rule *r = &c->rule;
    c->count.member_steps[c->st.at]++;
    r->member = c->st.at;
    if (!c->st.method->of || c->o.controller == COSTATE_FIXED || c->halves.tape) return 0;
    r->taken++;
    return (c->st.F->is & IMPLICIT) ? after_stiff(c, &x->now, &x->by, x->h_free) : after_explicit(c, &x->now);
}

int rule_rescues(costate *c, int status)
{
    rule *x = &c->rule;
    int stiff = (c->st.F->is & IMPLICIT) != 0, k = c->st.method->of ? member_first(c, !stiff) : -1;
    int of_steps = status == COSTATE_STEP_TOO_SMALL || status == COSTATE_NOT_FINITE || status == COSTATE_NEWTON ||
                   status == COSTATE_SINGULAR;
    if (k < 0 || !of_steps || c->o.controller == COSTATE_FIXED || c->halves.tape || x->rescued == c->at + 1) return 0;
    x->rescued = c->at + 1;
    x->next = k;
    x->h = 0;
    return 1;
}

int rule_change(costate *c, double *h)
{
    rule *x = &c->rule;
    int before = c->st.at, was_stiff = (c->st.F->is & IMPLICIT) != 0;
    TRY(stepper_take(&c->st, x->next));
    fresh(c, 0);
    samples(c);
    c->count.switches++;
    x->since = 0;
    x->psi = x->h_old = 0;
    if (x->h > 0) *h = c->in.dir * x->h;
    x->h = 0;
    c->st.spectrum.longest = 0;
    if (was_stiff == ((c->st.F->is & IMPLICIT) != 0)) return 0;
    *x = (rule){.run = x->run, .member = before, .next = x->next, .missed = x->missed, .lu = x->lu, .solve = x->solve,
                .rescued = x->rescued, .failures = c->count.newton_failures};
    x->done = rule_effort(c);
    return 0;
}
