/* calibrated.c - the error of a step of a calibrated member, whose tolerance is looser than the one that is asked for.

   Its steps have order p and its estimate a lower one, so that a looser tolerance for the estimate is enough; but not
   where the problem is stiff, as p is reduced there.  With F = sigma (sigma M - J)^-1 M, 1 in slow directions and 0 in
   stiff ones,

       (1 - F)^(p - phat) est

   is of the order of the error in slow directions and is all of the estimate in stiff ones.  It is held below the
   tolerance that is asked for (mathematics, eq. 13.26). */
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
    *norm = larger(*norm, looser * now);
    return 0;
}
