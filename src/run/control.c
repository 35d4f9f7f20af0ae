/* control.c - choice of the first step size, and the step size controllers (mathematics, eq. 13.13 to 13.17).

   elementary  h_new = h fs err^(-1/k),  k = embedded order + 1
               fs = safety, for methods with Newton's iteration times (2 k + 1)/(2 k + iterations),
               iterations <= k = newton_max
   PI          h_new = h fs err^(-alpha) err_old^beta,  beta = 0.2/k (erk) or 0.4/k, alpha = 1/k - 0.75 beta
   Gustafsson  min(elementary, h fs (h/h_old) (err_old/err^2)^(1/k))
   first       after an event, too (at most the h proposed before); with T = |y|/|f|, the time in which y changes:
               h0 = min(T, T (0.01/max(0.01 T |f|, T^2 |y''|))^(1/(p+1)))
   (Hairer & Wanner II, IV.8; Gustafsson, ACM TOMS 20 (1994) 496; for the first step: Hairer, Norsett & Wanner I, II.4,
   with T as the unit of time, so that the result does not depend on the unit of the user.  T |f| equals |y|, which is
   1/rtol or more in tolerances; since a constant slope causes no error, a hundredth of it covers what the difference
   for y'' may miss.)
   A rejected step is repeated with the elementary rule.  The step after it uses Gustafsson's prediction; otherwise each
   step would be tried twice where h has to decrease. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "run/control.h"

int error_exponent(const costate_method *m)
{
    if (m->est.e2) return m->order;                     /* the combined estimate: h^6 h^6 / h^4 for DOP853 */
    return (m->est.order && m->est.order <= m->order ? m->est.order : m->order) + 1;
}

/* The exponents of err and err_old in h_new/h. */
law law_of(const stepper *c)
{
    int k = error_exponent(c->m);
    double elementary = -1.0 / k, beta = c->F->pi_beta / k;
    int pi = c->o->controller == COSTATE_PI;
    return (law){.controller = c->o->controller, .elementary = elementary,
                 .err = pi ? 0.75 * beta + elementary : 2 * elementary, .err_old = pi ? beta : -elementary,
                 .safety = c->o->safety, .least = c->o->fac_min, .most = c->o->fac_max,
                 .again = c->o->fac_reject};
}

control control_of(const stepper *c) { return (control){.converges = HUGE_VAL, .by = law_of(c)}; }

double next_factor(const stepper *c, const control *k, int newton, double log_err, double h)
{
    if (!newton) return factor_of(&k->by, k->rejected, log_err, k->log_old, fabs(h), k->h_old);
    law by = k->by;
    by.safety *= (2.0 * c->o->newton_max + 1) / (2.0 * c->o->newton_max + newton);
    return factor_of(&by, k->rejected, log_err, k->log_old, fabs(h), k->h_old);
}

double next_h(costate *c, const run *x, double judged, double log_err)
{
    int fixed = c->o.controller == COSTATE_FIXED;
    double factor = fixed ? 1 : next_factor(&c->st, &x->k, x->by.newton, log_err, judged);
    if (!fixed) factor = less(factor, more(1, x->k.converges / judged));
    if (c->st.F->keep) factor = c->st.F->keep(&c->st, factor);
    double h = proposal(judged, fabs(x->h_free), x->k.rejected, factor);
    return c->in.dir * more(less(fixed ? c->o.h0 : h, c->in.hmax), c->in.hmin);
}

/* The shortest step that differs from none when added to t0, with room for its stages. */
static double step_round_off(double t0) { return 64 * DBL_EPSILON * fabs(t0); }

/* T from the norms d0 of y and d1 of f, or a fraction of the interval where one of them is zero (*guessed).  T/100 is
   at least the round-off of t0, unless the interval is shorter. */
static double time_scale(double t0, double span, double d0, double d1, int *guessed)
{
    *guessed = d0 < 1e-5 || d1 * span < 1e-5;
    double T = *guessed ? 1e-4 * span : d0 / d1;
    return 100 * fmin(fmax(T / 100, step_round_off(t0)), span);
}

typedef struct { double size; int e; } slope2;          /* |y''|, in a unit of time of 2^e */

/* Does f, at the same y, change in the interval far more than y'' at its start says?  An input that begins later (the
   sun, a dose) is not seen there, and steps as long as the interval may have their nodes before and after it.  f1 <-
   changes of f. */
static int surprises(stepper *c, const interval *in, const double *y, const double *f, slope2 d2, double *f1, int *does)
{
    static const double LOOKS[] = {0.23, 0.5, 0.77}, MUCH = 10;
    double span = fabs(in->t1 - in->t0), size;
    *does = 0;
    for (int k = 0; k < 3 && !c->o->autonomous; k++) {
        int status = map_value(c->maps, &c->maps->rhs, in->t0 + LOOKS[k] * (in->t1 - in->t0), y, f1);
        if (status < 0) return status;
        if (status > 0) continue;
        axpy((size_t)c->n, -1, f, f1);
        TRY(space_norm(&c->maps->space, (size_t)c->n, c->w, f1, &size));
        *does |= size * span > 1 && ldexp(size, d2.e) > MUCH * LOOKS[k] * ldexp(span, -d2.e) * d2.size;
    }
    return 0;
}

/* h0 from the norms of y, f and a difference quotient for y'' (one more f; none for a residual, whose y' is known and
   which has no f).  M y' is used in place of y'.  in->usual, not 0: the length to be taken where these tell nothing.
   in->hmax <- a tenth of the interval, where f has surprises; it is asked (three more f) where f and y tell nothing, or
   so long a first step.
   Norms of slopes are in a unit of time of 2^e, about T/100: in other
   units y'' would overflow for times of 1e-160. */
int first_step(stepper *c, interval *in, const double *y, const double *yp, double *f, double *z, double *f1, double *h)
{
    const double PART = 0.1;
    size_t n = (size_t)c->n;
    int p = c->m->est.order && c->m->est.order < c->m->order ? c->m->est.order : c->m->order;
    weights(c, y, c->w);
    if (yp) memcpy(f, yp, n * sizeof *f);
    else TRY(map_value(c->maps, &c->maps->rhs, in->t0, y, f));
    const double *both[] = {y, f};
    double d[2];
    TRY(space_norms(&c->maps->space, n, 2, c->w, both, d));
    double d0 = d[0], d1 = d[1];
    if (!(d1 < HUGE_VAL)) return retry(c->v, WHY_NOT_FINITE);
    int guessed;
    double span = fabs(in->t1 - in->t0), T = time_scale(in->t0, span, d0, d1, &guessed);
    double t = in->t0 + in->dir * T / 100, d2 = 0;
    int e = fpclassify(t - in->t0) == FP_ZERO ? 0 : ilogb(t - in->t0);
    add_scaled(n, z, y, t - in->t0, f);
    int status = yp ? RETRY : map_value(c->maps, &c->maps->rhs, t, z, f1);
    if (status < 0) return status;
    if (status == 0) {
        axpy(n, -1, f, f1);
        TRY(space_norm(&c->maps->space, n, c->w, f1, &d2));
        d2 = ldexp(d2 / fabs(ldexp(t - in->t0, -e)), e);
    }
    if (!(d2 < HUGE_VAL)) d2 = 0;
    double units = ldexp(T, -e), change = units * fmax(0.01 * ldexp(d1, e), units * d2);
    double none = in->usual > 0 ? in->usual : fmax(1e-6 * span, 1e-5 * T);
    double h1 = change <= 1e-15 ? none : T * pow(0.01 / change, 1.0 / (p + 1));
    double most = guessed && in->usual > 0 ? HUGE_VAL : T;
    *h = fmin(fmax(fmin(most, h1), step_round_off(in->t0)), in->hmax);
    if (yp || in->usual > 0 || (!guessed && *h <= PART * span)) return 0;
    int surprised;
    TRY(surprises(c, in, y, f, (slope2){d2, e}, f1, &surprised));
    if (surprised) in->hmax = fmin(in->hmax, PART * span);
    *h = fmin(*h, in->hmax);
    return 0;
}
