/* rule.c - which member of a composite method takes the next step (mathematics, section 13.7).

   Explicit to stiff: a step is flagged where stability seems to limit h, by either of two signs,

       h |f_s - f_(s-1)| / |Y_s - Y_(s-1)| > theta beta        of the last two stages (Hairer & Wanner II, IV.2),
       h rho > theta beta, or h is as long as stability allows   rho by products (step/spectrum.c),

   beta the end of the stability region on the negative real axis and theta the part of it where error control settles.
   The stiff member is taken after LIMITED flagged steps, not counting those before CALM steps in a row without a flag.
   Waves, whose eigenvalues are far from the real axis, count three times: explicit methods do not damp them, and they
   spoil the state before errors show.  So do steps that stability shortened and that the error would permit to be far
   longer.  Steps that are nearly as long as stability allows count by their work (near_flag).

   Stiff to explicit: after CHEAPER steps in a row, from the SETTLED-th on, in which an explicit member, with steps that
   are stable, would take less work per unit of time than the last steps did,

       f / min(0.8 beta/rho, h) < work / h.

   Stabilised instead of stiff: where factorisations are dear and h is proposed, if

       (4 + sqrt(z/BETA)) rho/z < work / h,     z = min(h rho, the most that its degrees permit),

   and h hardly grows: in a transient, h says nothing about the rest of the run.

   Stiff instead of stabilised: after CHEAPER steps in a row whose work per unit of time exceeds that of stiff steps.
   Three guesses of the latter are compared (stiff_work), as the error of stabilised steps need not tell how long stiff
   ones would be: fast modes that are not diffusion may keep them hundreds of times shorter.  And all three may be
   wrong: the stiff member is also tried when stabilised steps have done as much work as a trial takes (trial_after).

   Where a splitting is given, only its member and the stabilised one take turns.  What decides is how many stages a
   stabilised step as long as the next one has, 4 + sqrt(h rho/BETA).  Stabilised steps begin a run, as h is short
   there, and end with more than MANY_STAGES.  They follow the splitting after CHEAPER steps in a row with fewer than
   FEW_STAGES, of which none grew much, and not before it has done as much work as it did the last time.  Runs with
   derivatives stay with the splitting, because the degrees of the other are limited there.  The spectrum that the
   splitting watches is that of the matrix and f_y together (ros/guard.c); rho is the rate of the fastest modes there.

   Work is counted, with fixed prices in evaluations of f; if it were measured, runs would not repeat bit for bit.

   The order of fully implicit members changes with the contraction psi of Newton's iteration (E. Hairer, G. Wanner,
   J. Comput. Appl. Math. 111 (1999) 93-111): it is raised while psi is below a bound of the method and h hardly
   changes, and lowered where the iteration hardly converges. */
#include <math.h>
#include "base/vec.h"
#include "choice/effort.h"
#include "choice/rule.h"
#include "choice/stiffness.h"
#include "linsol/backends.h"
#include "solver/members.h"
#include "solver/options.h"
#include "solver/status.h"

enum { LIMITED = 15 * FLAG, CALM = 6 };         /* as in DOPRI5 */
enum { SETTLED = 5, CHEAPER = 3 };
enum { TRIAL = SETTLED + CHEAPER };             /* about the number of stiff steps before explicit ones may follow */
/* rho is measured after every second stiff step, which takes 5 to 14 % of the instructions of small systems, or after
   every eighth where explicit steps would take FAR times the work. */
enum { EVERY = 2, RARELY = 8 };
static const double FAR = 8;

/* As in RADAU, but that the order is lowered by FAILED failures of the iteration in one step, not by one: in 80 runs of
   the benchmark `auto` that took 5 % more work. */
static const double LOWER = 0.8, SHRINKS = 0.8, GROWS = 1.2;
enum { FAILED = 4 };
enum { WAIT = 10 };                             /* steps before the order is raised again */

/* The prices of a factorisation from which stabilised steps are considered, DEAR_BAND if J is a band: most bands are
   those of diffusion on a line, where these steps are as long as accuracy permits.  In reaction networks they are not,
   and took up to 7 times as long as stiff ones for 15 to 40 species.  BETA: see degree_of. */
static const double DEAR = 50, DEAR_BAND = 15, BETA = 0.35;
enum { LONG_AGO = 1000000 };                    /* steps since rho was measured */

/* A step with a splitting takes as long as 9 stages, if f is expensive, or up to 50: w6s4os with ADI and rock4 on 4096
   to 16384 unknowns.  Counts do not show what a solution takes, so the bounds are apart. */
static const double MANY_STAGES = 30, FEW_STAGES = 14;
/* The first step with the splitting: with the same tolerance its steps are 0.6 to 0.9 times as long.  If the guard of
   its matrix finds it too long, the next 50 steps are bounded. */
static const double SHORTER = 0.8;

/* ---- stabilised steps ---- */

/* Of a stabilised step: beta = BETA degree^2 is stable (ROCK4). */
static double degree_of(double z) { return 4 + sqrt(z / BETA); }

/* of a stiff member, before it has taken any: the rest of the run is thought to be MANY of them */
static double guessed_step(const costate *c)
{
    enum { MANY = 100 };
    return fabs(c->in.t1 - c->v.t) / MANY;
}

/* The stabilised member, or -1 where it is not considered: it needs eigenvalues near the negative real axis, and no
   linear solver.  Instead of a stiff one it is only considered where factorisations are dear. */
static int stabilised_here(const costate *c)
{
    const costate_options *o = &c->o;
    int given = o->solver != COSTATE_LS_AUTO || o->backend || o->preconditioner;
    double dear = stiff_member(&c->st)->sh->backend == &LS_band ? DEAR_BAND : DEAR;
    if (!c->st.spectrum.negative || (c->first[1] >= 0 && (given || c->rule.lu < dear))) return -1;
    return member_stabilised(c);
}

/* *k <- the stabilised member, if it would take less than this work per unit of time, else -1.  h: the step that
   accuracy permits; stabilised steps may have to be shorter, because their degree is limited. */
static int stabilised_pays(costate *c, const run *x, double h, double work, int *k)
{
    double size, rho = stiffness_rho(c);
    if ((*k = stabilised_here(c)) < 0) return 0;
    const member_method *m = &c->st.members[*k];
    TRY(space_norm(&c->maps.space, (size_t)c->st.n, c->st.w, x->now.y, &size));
    double reach = m->F->reach(m, x->by.differentiated, size * c->st.members[c->st.at].looser);
    if (h * rho > reach) h = reach / rho;
    if (!(degree_of(h * rho) / h < work)) *k = -1;
    return 0;
}

/* ---- explicit steps ---- */

/* Where factorisations are cheap, fewer stages pay to tighter tolerances: with five, runs of 13 small problems took
   0.78 times the time at 1e-8 and 0.85 times at 1e-9, in the mean; where they are dear, seven took two thirds. */
static int with_fewer_stages(const costate *c, int k)
{
    if (k < 1 || c->rule.lu >= DEAR || !c->st.method->of || !member_takes(c, k - 1)) return k;
    double cheap = entry(c, k - 1)->rtol_cheap;
    return cheap > 0 && options_rtol(&c->o, c->st.n) >= cheap ? k - 1 : k;
}

/* ranks members for the tolerances of the run */
static void rank(costate *c)
{
    c->first[0] = member_first(c, 0);
    c->first[1] = with_fewer_stages(c, member_first(c, 1));
}

static int instead_of_explicit(costate *c, const run *by, int *k)
{
    double h = guessed_step(c);
    TRY(effort_prices(c));
    rank(c);
    TRY(stabilised_pays(c, by, h, c->first[1] >= 0 ? effort_of_stiff(&c->rule) / h : HUGE_VAL, k));
    if (*k < 0) *k = c->first[1];
    return 0;
}

static double evaluations(const costate_method *m) { return m->s - ((m->is & COSTATE_FSAL) != 0); }

/* Where nothing tells whether the stiff member would take less work, it is tried after as much work as a trial takes.
   Where it was tried before, after as much as it did, and twice as much each time. */
static double trial_after(const rule *x) { return fmax(TRIAL * effort_of_stiff(x), x->wait); }

/* How much a step counts that is nearly as long as stability allows. */
static int near_flag(costate *c, int *count)
{
    TRY(effort_prices(c));
    *count = (int)fmax(NEAR_FLAG, LIMITED * evaluations(c->st.m) / trial_after(&c->rule));
    return 0;
}

/* By their errors steps become three times as long as stability allows, after shorter ones that have damped the fast
   modes.  There bs54 multiplies these by 8000 and estimates a seventh of it, or less where f is not linear: on
   Robertson's problem a component was left 180 tolerances below zero, from where no step leads back. */
static int after_explicit(costate *c, run *by)
{
    rule *x = &c->rule;
    int count, next;
    double stable;
    TRY(stiffness_flags(c, &by->now, fabs(by->h_free), &count, &stable));
    if (stable < fabs(by->h_free)) by->h_free = c->in.dir * fmax(stable, c->in.hmin);
    if (count == NEAR_FLAG) TRY(near_flag(c, &count));
    x->flagged += count;
    x->calm = count ? 0 : x->calm + 1;
    if (x->calm == CALM) x->flagged = 0;
    if (x->flagged < LIMITED) return 0;
    TRY(instead_of_explicit(c, by, &next));
    if (next >= 0) x->next = next;
    return 0;
}

/* ---- stiff and stabilised steps ---- */

/* May explicit steps follow stiff ones?  Where a slow phase ends by itself, in a layer, fast modes grow and are damped
   again.  Explicit steps follow them less accurately than y shows, which forgets them and gradients do not.  So not in
   runs that are differentiated, but where an event ended the phase, where no step since the switch has damped fast
   modes, so that it was a mistake, or options.stability is off. */
static int bears_explicit(const costate *c, const run *by)
{
    const rule *x = &c->rule;
    return !by->by.differentiated || x->eventful || !x->fast || is_stabilised(c) || follows_error_alone(&c->st);
}

void rule_event(costate *c) { c->rule.eventful = 1; }

/* work of explicit steps per unit of time, by the last rho; *longest: the length of such a step */
static double explicit_rate(const costate *c, const run *by, double *longest)
{
    if (c->first[0] < 0) return HUGE_VAL;
    *longest = stiffness_step(c, c->first[0], fabs(by->h_free));
    return evaluations(c->st.members[c->first[0]].m) / *longest;
}

/* *k <- the member that would take less work than this one, or -1; *h: its step */
static int cheaper_one(costate *c, const run *by, double *h, int *k)
{
    rule *x = &c->rule;
    double proposed = fabs(by->h_free);
    *h = proposed;
    *k = -1;
    if (x->taken < SETTLED || c->st.spectrum.products == 0) return 0;
    double longest = proposed, rate = explicit_rate(c, by, &longest);
    if (longest < proposed) x->fast = 1;
    if (bears_explicit(c, by) && rate < effort_rate(x)) {
        *h = longest;
        *k = c->first[0];
        return 0;
    }
    if (!is_stiff(c) || proposed > GROWS * fabs(by->now.h)) return 0;
    return stabilised_pays(c, by, proposed, effort_of_step(x) / proposed, k);
}

static int compare(costate *c, const run *by)
{
    rule *x = &c->rule;
    double h;
    int k;
    if (c->first[0] < 0 && member_stabilised(c) < 0) return 0;
    int every = explicit_rate(c, by, &h) > FAR * effort_rate(x) ? RARELY : EVERY;
    if (is_stiff(c) && (x->taken % every == 0 || x->cheaper > 0)) TRY(stiffness_measure(c, &by->now));
    TRY(cheaper_one(c, by, &h, &k));
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
    return k >= 0 && k < members_count(&c->st) && member_takes(c, k) && entry(c, k)->tighter != 1 ? k : c->st.at;
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

/* Work per unit of time of stiff steps: the least of what those before the stabilised ones took, of what steps of the
   length would take that the error of this one permits, and of what as many as are guessed would take.  The last is a
   guess that costs the work of a few stiff steps where it is wrong.  Once they were tried, stabilised steps therefore
   first do as much work as those did, and twice as much each time. */
static double stiff_work(const costate *c, const run *by, double err)
{
    const rule *x = &c->rule;
    double h = fabs(by->now.h) * exp2_of(by->k.by.elementary * log_of_error(err));
    if (x->spent >= x->wait) h = fmax(h, guessed_step(c));
    return fmin(effort_of_stiff(x) / h, x->stiff > 0 ? x->stiff : HUGE_VAL);
}

/* ---- stabilised steps and a splitting ---- */

/* The member that takes turns with the splitting, or -1.  With spectral_radius or spectral_bound nothing tells whether
   eigenvalues are near the negative real axis. */
static int beside_splitting(const costate *c, int differentiated)
{
    int chosen = takes_splitting(c) && c->o.controller != COSTATE_FIXED && !c->halves.tape && !differentiated;
    return chosen && !spectrum_given(&c->st) ? member_stabilised(c) : -1;
}

static int too_many(const stepper *c, double rho, const void *h)
{
    return (void)c, degree_of(*(const double *)h * rho) > MANY_STAGES;
}

int rule_first(costate *c, const run *by)
{
    static const spectrum_accuracy ROUGH = {.first = 4, .first_most = 4, .settled = 1, .safety = 1, .plain = 1};
    double h = fabs(by->h_free);
    if (!is_stabilised(c) || !takes_splitting(c)) return 0;
    int status = spectrum_measure(&c->st, by->t, c->work.y, &ROUGH, too_many, &h);
    if (status) return status == RETRY ? 0 : status;
    if (too_many(&c->st, c->st.spectrum.rho, &h)) c->rule.next = c->first[1];
    spectrum_changed(&c->st.spectrum);          /* its own steps need rho more accurately */
    return 0;
}

static int before_splitting(costate *c, const run *by)
{
    const spectrum *s = &c->st.spectrum;
    double h = fabs(by->h_free);
    if (!by->by.differentiated && s->negative && degree_of(h * s->rho) <= MANY_STAGES) return 0;
    c->rule.next = c->first[1];
    c->rule.h = SHORTER * h;
    return 0;
}

static int after_splitting(costate *c, const run *by)
{
    rule *x = &c->rule;
    int k = beside_splitting(c, by->by.differentiated);
    double h = fabs(by->h_free), rate = c->st.spectrum.soft.rate;
    effort_note(c, &by->now);
    int few = k >= 0 && rate > 0 && degree_of(h * rate) < FEW_STAGES && h <= GROWS * fabs(by->now.h);
    x->cheaper = few ? x->cheaper + 1 : 0;
    if (x->cheaper >= CHEAPER && x->spent >= x->wait) x->next = k;
    return 0;
}

/* ---- the others ---- */

/* A stiff member is taken where the eigenvalues leave the real axis, and where its steps would take less work. */
static int after_stabilised(costate *c, const run *by, double err)
{
    rule *x = &c->rule;
    int k = c->first[1];
    if (takes_splitting(c)) return before_splitting(c, by);
    effort_note(c, &by->now);
    TRY(compare(c, by));
    int dearer = x->taken >= SETTLED && (effort_rate(x) > stiff_work(c, by, err) || x->spent > trial_after(x));
    x->flagged = stabilised_here(c) < 0 || dearer ? x->flagged + 1 : 0;
    if (k >= 0 && x->next == c->st.at && x->flagged >= CHEAPER) x->next = k;
    return 0;
}

static int after_stiff(costate *c, const run *by)
{
    rule *x = &c->rule;
    if (entry(c, c->st.at)->splits) return after_splitting(c, by);
    TRY(effort_prices(c));
    effort_note(c, &by->now);
    TRY(compare(c, by));
    if (x->next == c->st.at && c->st.method->of->raises > 0) choose_order(c, &by->now, &by->by);
    return 0;
}

/* ---- the run ---- */

static int starts_with(const costate *c, const costate_tape *on, int differentiated)
{
    int k = beside_splitting(c, differentiated);
    if (on && on->count > 0) return (int)on->list[on->count - 1].member;
    if (k >= 0) return k;
    k = member_begins(c);
    return k == member_first(c, 1) ? c->first[1] : k;
}

static void samples(costate *c)
{
    if (c->o.event_samples == 0) c->watch.samples = samples_for(c->st.m);
}

/* Where the run begins with a stiff member.  A pattern without prices is left to the first step. */
static int prices_at_start(costate *c)
{
    if (!c->st.method->of || takes_splitting(c) || member_begins(c) != member_first(c, 1)) return 0;
    int status = effort_prices(c);
    if (status == RETRY) no_error(c);
    return status == RETRY ? 0 : status;
}

int rule_begin(costate *c, const costate_tape *on, int warm, int differentiated)
{
    rule *x = &c->rule;
    TRY(prices_at_start(c));
    rank(c);
    if (!warm && (!on || x->run != on->from.stamp)) {
        int k = starts_with(c, on, differentiated);
        *x = (rule){.run = on ? on->from.stamp : c->stamp, .member = k, .next = k, .lu = x->lu, .solve = x->solve};
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
    x.done = effort_plus(x.done, -1, effort_so_far(c));
    x.failures -= c->count.newton_failures;
    return x;
}

void rule_counts(costate *c)
{
    c->rule.done = effort_plus(c->rule.done, 1, effort_so_far(c));
    c->rule.failures += c->count.newton_failures;
}

int rule_again(costate *c, const rule *x)
{
    c->rule = *x;
    c->rule.run = c->stamp;
    rank(c);
    TRY(stepper_take(&c->st, x->next));
    samples(c);
    return 0;
}

int rule_sound(const costate *c, const rule *x)
{
    int count = members_count(&c->st), there = x->member >= 0 && x->member < count && x->next >= 0 && x->next < count;
    const double numbers[] = {x->psi, x->h_old, x->solve, x->done.f, x->done.factorisations, x->done.solutions};
    there &= no_nan(sizeof numbers / sizeof *numbers, numbers);
    for (int i = 0; i < RECENT; i++) there &= x->length[i] >= 0 && x->price[i] >= 0;
    there &= x->calm >= 0 && x->cheaper >= 0 && x->since >= 0 && x->taken >= 0 && x->flagged >= 0;
    return there && member_takes(c, x->next) && ((x->eventful | x->fast) & ~1) == 0 && x->lu >= 0 &&
           isfinite(x->lu) && x->h >= 0 && isfinite(x->h) && x->spent >= 0 && x->stiff >= 0 && x->wait >= 0;
}

int rule_step(costate *c, run *x, double err)
{
    rule *r = &c->rule;
    c->count.member_steps[c->st.at]++;
    r->member = c->st.at;
    if (!c->st.method->of || c->o.controller == COSTATE_FIXED || c->halves.tape) return 0;
    r->taken++;
    if (is_stiff(c)) return after_stiff(c, x);
    return is_stabilised(c) ? after_stabilised(c, x, err) : after_explicit(c, x);
}

int rule_rescues(costate *c, int status)
{
    rule *x = &c->rule;
    int k = c->st.method->of ? c->first[!is_stiff(c)] : -1;
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
    if (entry(c, before)->splits || entry(c, c->st.at)->splits) spectrum_forget(&c->st.spectrum);
    if (is_stabilised(c)) c->st.spectrum.age = LONG_AGO;        /* it needs rho more accurately */
    if (was_stiff && is_stiff(c)) return 0;
    double stiff = was_stiff && is_stabilised(c) ? effort_of_step(x) / fabs(*h) : 0;
    double wait = was_stiff ? fmax(2 * x->wait, x->spent) : x->wait;
    *x = (rule){.run = x->run, .member = before, .next = x->next, .lu = x->lu, .solve = x->solve, .stiff = stiff,
                .wait = wait, .rescued = x->rescued, .failures = c->count.newton_failures};
    x->done = effort_so_far(c);
    return 0;
}
