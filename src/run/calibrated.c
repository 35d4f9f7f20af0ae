/* calibrated.c - the error of a step of a calibrated member, whose tolerance is looser than the one that is asked for.

   Its steps have order p and its estimate a lower one, so that a looser tolerance for the estimate is enough; but not
   where the problem is stiff, as p is reduced there.  With F = sigma (sigma M - J)^-1 M, 1 in slow directions and 0 in
   stiff ones,

       (1 - F)^(p - phat) est

   is of the order of the error in slow directions and is all of the estimate in stiff ones.  It is held below the
   tolerance that is asked for (mathematics, eq. 13.26).

   There the estimate is the defect at the start of the step.  It has two parts: the error of this step, which falls
   with h^phat at least, and by how much y is off already, which the step damps and which is the same for all h.  Two
   tries of a step, of h and r h, differ by 1 - r^phat of the first part, which tells them apart.  Otherwise a step that
   is some tolerances off is followed by rejections down to the fastest time of the problem. */
#include <math.h>
#include <string.h>
#include "run/calibrated.h"

static const double ENOUGH = 0.1;               /* an error below needs not be known better */

/* of the state (j < 0) or of tangent j */
static int norm_of(const costate *c, const run *x, int j, const double *e, double *norm)
{
    size_t at = (size_t)(j < 0 ? 0 : j) * (size_t)c->st.N;
    if (j < 0) return error_norm(&c->st, c->work.y, c->work.y1, e, norm);
    return tangent_error_norm(&c->st, j, x->Va + at, x->Vb + at, e, norm);
}

void calibrated_anew(costate *c, const run *x)
{
    if (!c->st.method->of) return;
    c->work.stiff.h[0] = 0;
    for (int j = 0; x->d && j < x->d->m; j++) c->d.stiff.h[j] = 0;
}

/* The stiff part is larger than the tolerance: how much of it is the error of this step? */
static int without_start(costate *c, const run *x, int j, const double *stiff, double *now)
{
    size_t N = (size_t)c->st.N, at = (size_t)(j < 0 ? 0 : j);
    const last_try *all = j < 0 ? &c->work.stiff : &c->d.stiff;
    double *before = all->part + at * N, h_before = all->h[at], h = fabs(x->h), change = HUGE_VAL;
    if (h < h_before) {
        double rest = pow(h / h_before, c->st.m->est.order);
        add_scaled(N, before, stiff, -1, before);
        TRY(norm_of(c, x, j, before, &change));
        change *= rest / (1 - rest);
    }
    memcpy(before, stiff, N * sizeof *before);
    all->h[at] = h;
    *now = less(*now, change);
    return 0;
}

int calibrated_norm(costate *c, const run *x, int j, double *norm)
{
    const costate_method *m = c->st.m;
    double looser = c->st.members[c->st.at].looser, *stiff = c->work.z, now = *norm;
    size_t n = (size_t)c->st.n, N = (size_t)c->st.N;
    if (j >= 0 && tangent_has_tolerances(&c->st, j)) return 0;
    memcpy(stiff, c->work.err, n * sizeof *stiff);
    memset(stiff + n, 0, (N - n) * sizeof *stiff);
    for (int k = m->est.order; k < m->order; k++) {
        if (looser * now <= fmax(*norm, ENOUGH)) return 0;
        TRY(c->st.F->stiff_part(&c->st, &x->now, stiff));
        TRY(norm_of(c, x, j, stiff, &now));
    }
    if (looser * now > 1) TRY(without_start(c, x, j, stiff, &now));
    *norm = larger(*norm, looser * now);
    return 0;
}
