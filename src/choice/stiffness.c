/* stiffness.c - does stability limit the steps of an explicit member, and how long would they be? (mathematics,
   eq. 13.19 to 13.21)

       h |f_s - f_(s-1)| / |Y_s - Y_(s-1)|    of the last two stages (Hairer & Wanner II, IV.2),
       h rho                                  rho by products (step/spectrum.c) */
#include <math.h>
#include "choice/rule.h"
#include "choice/stiffness.h"

enum { WAVE = 3 * FLAG };                       /* a wave is known after 5 steps */
/* So is stiffness where stability shortened the steps and their errors permit OUTGROWN times the length: on POLLU, with
   15 steps instead, explicit steps took a third of the run. */
enum { CERTAIN = 3 * FLAG };
static const double OUTGROWN = 4;
/* At tight tolerances error control settles lower, at 0.45 beta for verner76 on Robertson's problem with rtol = 1e-11.
   Steps that are NEARLY as long as beta allows also count. */
static const double NEARLY = 0.35;
static const double PART = 0.8;                 /* of the stability limit, for the first explicit step: rho may grow */

static const spectrum_accuracy ONE_PAIR = {.first = 2, .first_most = 6, .least = 2, .most = 2, .settled = 1,
                                           .safety = SPECTRUM_SAFETY};

double stiffness_rho(const costate *c) { return c->st.spectrum.rho / SPECTRUM_SAFETY; }

/* h |f_s - f_(s-1)| / |Y_s - Y_(s-1)| by the last two stages, in the norm of the error test; 0: they are equal */
static int stage_estimate_of(costate *c, const record *r, double *z)
{
    const costate_method *m = c->st.m;
    size_t n = (size_t)c->st.n, s = (size_t)m->s;
    double *dY = c->work.f, *dK = c->work.z, D[STAGES_MOST], norms[2];
    const double *last = r->X + (s - 1) * n, *before = last - n, *x[] = {dY, dK};
    for (size_t j = 0; j < s; j++) D[j] = m->A[(s - 1) * s + j] - m->A[(s - 2) * s + j];
    combine(n, dY, NULL, r->h, (int)s, D, r->X, n);
    for (size_t i = 0; i < n; i++) dK[i] = last[i] - before[i];
    TRY(space_norms(&c->maps.space, n, 2, c->st.w, x, norms));
    *z = norms[0] > 0 ? fabs(r->h) * norms[1] / norms[0] : 0;
    return 0;
}

int stiffness_flags(costate *c, const record *r, double proposed, int *count, double *stable)
{
    const composite_member *m = entry(c, c->st.at);
    const spectrum *s = &c->st.spectrum;
    double h = fabs(r->h), z, settled = m->settles * m->real;
    int known = s->rho > 0 && (s->products > 0 || spectrum_given(&c->st));
    int capped = known && s->longest > 0 && h >= 0.99 * s->longest;
    TRY(stage_estimate_of(c, r, &z));
    *count = z > settled ? FLAG : 0;
    *stable = z > 0 ? fmax(m->real / z, c->o.fac_min) * h : HUGE_VAL;
    if (!known) return 0;
    z = h * stiffness_rho(c);
    if (s->waves && (z > m->waves || capped)) *count = WAVE;
    else if (capped && proposed > OUTGROWN * h) *count = CERTAIN;
    else if (capped || z > settled) *count = FLAG;
    else if (s->negative && z > NEARLY * m->real && *count == 0) *count = NEAR_FLAG;
    return 0;
}

/* rho by the J of the step, which costs no evaluation, or by products */
int stiffness_measure(costate *c, const record *r)
{
    if (!spectrum_formed(&c->st) && !spectrum_products(&c->maps)) return 0;
    int status = spectrum_measure(&c->st, r->end, c->work.y1, &ONE_PAIR, NULL, NULL);
    return status == RETRY ? 0 : status;
}

/* h of an explicit member, as its stability and the proposed step allow */
double stiffness_step(const costate *c, int k, double proposed)
{
    const composite_member *m = entry(c, k);
    double stable = c->st.spectrum.negative ? m->real : m->waves, z = stiffness_rho(c);
    return z > 0 ? fmin(PART * stable / z, proposed) : proposed;
}
