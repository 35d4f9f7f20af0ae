/* rule.c - which member of a composite method takes the next step (mathematics, section 13.7).

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
   J. Comput. Appl. Math. 111 (1999) 93-111): it is raised while psi is below a bound of the method and h hardly
   changes, and lowered where the iteration hardly converges. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "run/rule.h"

enum { FLAG = 20, LIMITED = 15 * FLAG, CALM = 6, WAVE = 3 * FLAG };   /* as in DOPRI5; a wave is known after 5 steps */
/* At tight tolerances error control settles lower, at 0.45 beta for verner76 on Robertson's problem with rtol = 1e-11.
   Steps that are NEARLY as long as beta allows count, too: a stiff member is tried after 300 of them. */
enum { NEAR_FLAG = 1 };
static const double NEARLY = 0.35;
enum { SETTLED = 5, CHEAPER = 3, EVERY = 2 };   /* EVERY: rho is measured after every second stiff step */
static const double MARGIN = 1.1, PART = 0.8;   /* of stability, for the first explicit step: rho may grow */
static const double SPIRAL = 1.5;               /* eigenvalues neither real nor imaginary: stable up to SPIRAL times the
                                                   limit of waves */
static const double NOISE = 1e3;                /* stages that differ by fewer roundings of y tell nothing */

/* As in RADAU, but that the order is lowered by FAILED failures of the iteration in one step, not by one: in 80 runs of
   the benchmark `auto` that took 5 % more work. */
static const double LOWER = 0.8, SHRINKS = 0.8, GROWS = 1.2;
enum { FAILED = 4 };
/* DEAR: factorisations, from which stabilised steps are considered; BETA: see degree_of; GRADIENT: sweeps through
   stabilised steps take more evaluations than those through stiff ones */
static const double DEAR = 50, BETA = 0.35, GRADIENT = 2;
enum { WAIT = 10 };                             /* steps before the order is raised again */

static const spectrum_accuracy ONE_PAIR = {.first = 2, .first_most = 6, .least = 2, .most = 2, .settled = 1,
                                           .safety = SPECTRUM_SAFETY};

enum { LONG_AGO = 1000000 };

static const composite_member *entry(const costate *c, int k) { return &c->st.method->of->member[k]; }

static int is_stiff(const costate *c) { return (c->st.F->is & IMPLICIT) != 0; }
static int is_stabilised(const costate *c) { return c->st.method->of && entry(c, c->st.at)->stabilised; }

static double rho(const costate *c) { return c->st.spectrum.rho / SPECTRUM_SAFETY; }

/* ---- work ---- */

/* Prices in evaluations of f, which is thought to take 4 operations for each unknown and one for each entry of J.  A
   factorisation of a dense matrix takes 2/3 n^3 operations; that of a sparse one with `fill` entries takes 30 for each,
   as they are found by their indices, and fill^2/n.  Measured, in evaluations of f: 42 for a band (100 unknowns), 135
   and 774 for KLU (441 and 512 unknowns in two dimensions).  LEAST: what small systems take (docs/choosing.md). */
static const double LEAST_LU = 10, LEAST_SOLVE = 2, JACOBIAN = 2, PRODUCT = 1.5, COMPLEX_LU = 1.8, COMPLEX_SOLVE = 2;
static const double PER_ENTRY = 30, PER_SOLVE = 4;

static double price_of_f(const costate *c)
{
    return 4.0 * c->st.n + (double)c->maps.entries;
}

/* entries of the factors; before there are any, those of nested dissection in two dimensions */
static double entries_of_factors(const costate *c)
{
    const factors *f = c->st.fac;
    double n = c->st.n, dense = c->P.pattern == NULL, bytes = f ? (double)factors_bytes(f) : 0;
    if (dense) return n * n;
    if (bytes > 0) return bytes / 12 / (f->nreal + 2 * f->npair);
    return (double)c->maps.entries * log2(n + 1);
}

static void find_prices(costate *c)
{
    rule *x = &c->rule;
    double n = c->st.n, dense = c->P.pattern == NULL, fill = entries_of_factors(c), one = price_of_f(c);
    double lu = dense ? 2.0 / 3 * n * n * n : PER_ENTRY * fill + fill * fill / n;
    x->lu = fmax(LEAST_LU, lu / one);
    x->solve = fmax(LEAST_SOLVE, (dense ? 2 : PER_SOLVE) * fill / one);
}

static effort plus(effort a, double s, effort b)
{
    return (effort){a.f + s * b.f, a.factorisations + s * b.factorisations, a.solutions + s * b.solutions};
}

effort rule_effort(const costate *c)
{
    const costate_stats *s = &c->count;
    return (effort){(double)s->f + JACOBIAN * (double)s->jac + PRODUCT * (double)(s->krylov + s->products + s->power),
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

/* Of a stabilised step: beta = BETA degree^2 is stable (ROCK4). */
static double degree_of(double z) { return 4 + sqrt(z / BETA); }

/* what a stiff step takes, about */
static double stiff_price(const rule *x) { return 3 * x->lu + 10 * x->solve + 20; }

/* A stabilised member needs eigenvalues near the negative real axis, and no linear solver.  It pays where
   factorisations are dear, and only if its step would take less work were the rest of the run MANY stiff steps: fast
   modes may keep its own steps much shorter than stiff ones. */
static int stabilised_pays(const costate *c)
{
    enum { MANY = 100 };
    const costate_options *o = &c->o;
    double h = fabs(c->in.t1 - c->v.t) / MANY;
    int given = o->solver != COSTATE_LS_AUTO || o->backend || o->preconditioner;
    if (given || !c->st.spectrum.negative || c->rule.lu < DEAR) return -1;
    return GRADIENT * degree_of(h * rho(c)) < stiff_price(&c->rule) ? member_stabilised(c) : -1;
}

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
    *count = z > settled ? FLAG : 0;
    if (!known) return 0;
    z = h * rho(c);
    if (s->waves && (z > m->waves || capped)) *count = WAVE;
    else if (capped || z > (s->negative ? settled : fmin(settled, SPIRAL * m->waves))) *count = FLAG;
    else if (s->negative && z > NEARLY * m->real && *count == 0) *count = NEAR_FLAG;
    return 0;
}

/* The first stiff member for these tolerances; if it belongs to those whose order varies, the one of lowest order. */
static int stiff_after_explicit(const costate *c)
{
    int k = member_first(c, 1);
    if (k < 0 || c->st.method->of->raises == 0 || entry(c, k)->tighter == 1) return k;
    while (k > 0 && entry(c, k - 1)->tighter != 1 && c->works[k - 1].usable) k--;
    return k;
}

static int instead_of_explicit(costate *c)
{
    if (!c->rule.lu) find_prices(c);
    int k = stabilised_pays(c);
    return k >= 0 ? k : stiff_after_explicit(c);
}

static int after_explicit(costate *c, const record *r)
{
    rule *x = &c->rule;
    int count, next;
    TRY(flags(c, r, &count));
    x->flagged += count;
    x->calm = count ? 0 : x->calm + 1;
    if (x->calm == CALM) x->flagged = 0;
    if (x->flagged < LIMITED) return 0;
    if ((next = instead_of_explicit(c)) >= 0) x->next = next;
    else x->missed++;
    return 0;
}

/* ---- stiff and stabilised steps ---- */

/* rho by the J of the step, which costs no evaluation, or by products */
static int measure(costate *c, const record *r)
{
    if (!spectrum_formed(&c->st) && !spectrum_products(&c->maps)) return 0;
    int status = spectrum_measure(&c->st, r->end, c->work.y1, &ONE_PAIR, NULL, NULL);
    return status == RETRY ? 0 : status;
}

/* h of an explicit member, as its stability and the proposed step allow */
static double explicit_h(const costate *c, const composite_member *m, double proposed)
{
    double stable = c->st.spectrum.negative ? m->real : m->waves, z = rho(c);
    return z > 0 ? fmin(PART * stable / z, proposed) : proposed;
}

/* The member that would take less work than this one, or -1; *h: its step. */
static int cheaper_one(const costate *c, double proposed, double *h)
{
    const rule *x = &c->rule;
    int k = member_first(c, 0), s = is_stiff(c) ? stabilised_pays(c) : -1;
    if (x->taken < SETTLED || c->st.spectrum.products == 0) return -1;
    if (k >= 0) {
        const costate_method *m = c->st.members[k].m;
        double f = m->s - ((m->is & COSTATE_FSAL) != 0);
        *h = explicit_h(c, entry(c, k), proposed);
        if (f / *h * MARGIN < rate(x)) return k;
    }
    *h = proposed;
    return s >= 0 && degree_of(proposed * rho(c)) / proposed * GRADIENT < rate(x) ? s : -1;
}

static int compare(costate *c, const record *r, double proposed)
{
    rule *x = &c->rule;
    double h;
    if (member_first(c, 0) < 0 && member_stabilised(c) < 0) return 0;
    if (is_stiff(c) && (x->taken % EVERY == 0 || x->cheaper > 0)) TRY(measure(c, r));
    int k = cheaper_one(c, fabs(proposed), &h);
    x->cheaper = k >= 0 ? x->cheaper + 1 : 0;
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
    int iterated = by->newton > 1;
    long failed = c->count.newton_failures - x->failures;
    x->psi = fmin(10, fmax(iterated ? by->contraction : 1e-3, x->psi / 2));
    x->h_old = h;
    x->failures = c->count.newton_failures;
    x->since++;
    if (entry(c, c->st.at)->tighter == 1) return;
    if (x->psi >= LOWER || failed >= FAILED) x->next = neighbour(c, 0);
    else if (iterated && x->psi <= c->st.method->of->raises && grows < GROWS && grows > SHRINKS && x->since > WAIT)
        x->next = neighbour(c, 1);
}

/* the work of this step among the last */
static void note_work(costate *c, const record *r)
{
    rule *x = &c->rule;
    effort all = rule_effort(c), step = plus(all, -1, x->done);
    int at = x->taken % SETTLED;
    x->length[at] = fabs(r->h);
    x->price[at] = fmax(0, step.f + x->lu * step.factorisations + x->solve * step.solutions);
    x->done = all;
}

/* A stiff member is taken where the eigenvalues leave the real axis, and where its steps would take less work. */
static int after_stabilised(costate *c, const record *r, double proposed)
{
    rule *x = &c->rule;
    int k = stiff_after_explicit(c);
    note_work(c, r);
    TRY(compare(c, r, proposed));
    int dearer = x->taken >= SETTLED && rate(x) > MARGIN * stiff_price(x) / fabs(r->h);
    x->flagged = stabilised_pays(c) < 0 || dearer ? x->flagged + 1 : 0;
    if (k >= 0 && x->next == c->st.at && x->flagged >= CHEAPER) x->next = k;
    return 0;
}

/* After the first step the price of a factorisation is known better. */
static int after_stiff(costate *c, const record *r, const trial *by, double proposed)
{
    rule *x = &c->rule;
    if (x->taken == 1) find_prices(c);
    note_work(c, r);
    TRY(compare(c, r, proposed));
    if (x->next == c->st.at && c->st.method->of->raises > 0) choose_order(c, r, by);
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
    x->rescued = 0;
    rule_counts(c);
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
    if (is_stiff(c)) return after_stiff(c, &x->now, &x->by, x->h_free);
    return is_stabilised(c) ? after_stabilised(c, &x->now, x->h_free) : after_explicit(c, &x->now);
}

int rule_rescues(costate *c, int status)
{
    rule *x = &c->rule;
    int k = c->st.method->of ? member_first(c, !is_stiff(c)) : -1;
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
    int before = c->st.at, was_stiff = is_stiff(c);
    TRY(stepper_take(&c->st, x->next));
    fresh(c, 0);
    samples(c);
    c->count.switches++;
    x->since = 0;
    x->psi = x->h_old = 0;
    if (x->h > 0) *h = c->in.dir * x->h;
    x->h = 0;
    c->st.spectrum.longest = 0;
    if (is_stabilised(c)) c->st.spectrum.age = LONG_AGO;        /* it needs rho more accurately */
    if (was_stiff && is_stiff(c)) return 0;
    *x = (rule){.run = x->run, .member = before, .next = x->next, .missed = x->missed, .lu = x->lu, .solve = x->solve,
                .rescued = x->rescued, .failures = c->count.newton_failures};
    x->done = rule_effort(c);
    return 0;
}
