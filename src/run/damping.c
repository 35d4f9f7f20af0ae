/* damping.c - does a run with a tape keep fast modes? y may not contain them, but gradients over the tape do.

   Over K steps a fast mode keeps the product of |R(-z)| of the steps, z = h times the rate of the mode, where
   exp(-sum z) is right.  The rate is the largest -J_ii/M_ii, which does not depend on the units of the unknowns; a
   system whose fast modes do not show on the diagonal is not noticed. */
#include <math.h>
#include "run/damping.h"

static const double KEPT = 1e-4;                /* a larger part of fast modes that is left is remarked on */
static const double SLOW = 1;                   /* below this z, exp(-z) stands for R(-z): near, and cheaper */
static const double DECAYED = 0.1;              /* a mode is fast if the solution keeps no more than this of it */

int damping_looks(const costate *c)
{
    if (c->st.method->of) return 0;                 /* stiff members damp */
    int implicit = (c->st.F->is & IMPLICIT) && c->st.lin.J && c->st.m->about.r_infinity != 0;
    return !c->random.count && (implicit || c->st.F->keeps);
}

/* the largest -J_ii/M_ii; 0: none is positive */
static double fastest(const costate *c)
{
    const costate_pattern *a = c->P.pattern;
    const double *J = c->st.lin.J, *M = c->st.lin.M;
    int n = c->st.n;
    double most = 0;
    for (int j = 0; j < n; j++) {
        size_t at = (size_t)j * (size_t)n + (size_t)j;
        if (a) {
            int k = a->col[j];
            while (k < a->col[j + 1] && a->row[k] != j) k++;
            if (k == a->col[j + 1]) continue;
            at = (size_t)k;
        }
        double m = M ? M[at] : 1;
        if (m != 0) most = fmax(most, -J[at] / m);
    }
    return most;
}

static void add(damping *d, double z, double kept)
{
    d->z = fmax(d->z, z);
    d->kept *= kept;
    d->sum += z;
}

void damping_add(costate *c, double h, double rate)
{
    double z = fabs(h) * rate;
    add(&c->remarks.damping, z, z < SLOW ? exp(-z) : implicit_growth(c->st.m, z));
}

void damping_step(costate *c, const run *x)
{
    damping *d = &c->remarks.damping;
    double kept, z;
    if (!x->tape || !damping_looks(c)) return;
    if (c->st.F->keeps) {
        kept = c->st.F->keeps(&c->st, &x->now, &z);
        add(d, z, kept);
        return;
    }
    if (d->serial != x->now.jacobian) d->fastest = fastest(c);
    d->serial = x->now.jacobian;
    damping_add(c, x->now.h, d->fastest);
}

void damping_remark(costate *c, long steps)
{
    const damping *d = &c->remarks.damping;
    if (!damping_looks(c) || !(d->kept > KEPT && exp(-d->sum) < DECAYED * d->kept) || steps == 0) return;
    remarked(&c->v, "  Fast modes (h times their rate up to %.2g) keep %.2g of their size over these steps of %s: y "
             "may be right, but gradients contain these modes.  %s or options.gradient_control = 1 mend that.", d->z,
             d->kept, c->st.m->name, c->st.F->damps ? c->st.F->damps : "radau2a");
}
