/* confirm.c (ros) - the estimate of a step once more, by the matrix at its end.

   U_i and est = sum e_i U_i are small in stiff directions because E = sigma M - J is large there, and J belongs to the
   start of the step.  Where the problem is much less stiff at its end, est is too small by the ratio of both matrices.
   With E' = sigma' M - J' of the next step, which is needed there anyway,

       est' = (sigma'/sigma) E'^-1 E est,   E est = sigma M est - J est      (mathematics, eq. 6.37)

   If est is filtered, E est is sigma M sum e_i U_i.  Matrices only make errors smaller, in problems whose solutions
   decay: so nothing is done where E est / sigma, M = I, is within the tolerance; and for sigma' = sigma
   |est'| <= |est| + |(J' - J) est| / sigma, so that no matrix is factored where that is.

   Not without matrices, where J' is known only by its products.  lanes/confirm.c does the same in lanes. */
#include <string.h>
#include "base/pattern.h"
#include "ros/ros.h"

/* a step that has been made, with its estimate, not filtered */
typedef struct { stepper *c; const record *r; const trial *t; double sigma; const double *est; } made;

void ros_confirm_layout(stepper *c, cursor *at)
{
    ros_after *a = &work(c)->after;
    if (!ros_confirms(c)) return;
    TAKE(at, (size_t)c->N, &a->w, &a->raw, &a->change);
    a->lin.J = take(at, c->maps->entries);
    a->lin.M = c->maps->M;
}

void ros_confirm_clear(stepper *c)
{
    linearisation_outdate(&work(c)->after.lin);
    factors_reset(work(c)->after.fac);
}

void ros_confirm_made(stepper *c, const record *r)
{
    ros_after *a = &work(c)->after;
    if (!a->lin.serial || a->lin.serial != r->jacobian) return;
    if (c->lin.serial != r->jacobian) {
        memcpy(c->lin.J, a->lin.J, c->maps->entries * sizeof *a->lin.J);
        c->lin.t = a->lin.t;
        c->lin.serial = a->lin.serial;
    }
    if (!factors_fit(a->fac, &a->lin, r->h)) return;
    factors *used = c->fac;
    c->fac = a->fac;
    a->fac = used;
}

static double sigma_for(const stepper *c, double h) { return (1 / c->m->gamma) / h; }

/* out += a J x */
static void add_product(const stepper *c, double a, const linearisation *of, const double *x, double *out)
{
    pattern_multiply(c->n, c->maps->pattern, of->J, 0, a, 1, x, out);
}

static int norm_of(const made *s, const double *x, double *norm)
{
    return error_norm(s->c, s->r->y, s->t->y1, x, norm);
}

/* change <- -J est / sigma, or 0; raw <- E est / sigma.  Of states alone: integrals are 0.  known: as of combine_known,
   of systems that have neither a pattern nor a mass matrix */
INLINE int unfiltered(size_t known, made *s, double *norm)
{
    stepper *c = s->c;
    ros_after *a = &work(c)->after;
    size_t n = known ? known : (size_t)c->n, N = (size_t)c->N;
    double *change = a->change, *raw = a->raw;
    if (N > known) memset(change + known, 0, (N - known) * sizeof *change);
    if (known) sum_of(known, change, NULL, -1 / s->sigma, (int)known, s->est, c->lin.J, known);
    else if (work(c)->filtered) {
        combine(n, work(c)->v2, NULL, 1, c->s, c->m->est.e, s->r->X, n);
        s->est = work(c)->v2;
    } else add_product(c, -1 / s->sigma, &c->lin, s->est, change);
    for (size_t i = 0; i < known; i++) raw[i] = change[i] + s->est[i];
    if (N > known) memcpy(raw + known, change + known, (N - known) * sizeof *raw);
    if (!known) mass_multiply(c->maps, 0, 1, 1, s->est, raw);
    return norm_of(s, raw, norm);
}

/* J' of the next step; *moved: |(J' - J) est| / sigma */
static int next_jacobian(const made *s, double *moved)
{
    stepper *c = s->c;
    ros_after *a = &work(c)->after;
    costate_point x = point(c->maps, s->r->end, s->t->y1);
    weights(c, s->t->y1, a->w);
    TRY(linearise(c->maps, s->t->serial + 1, &x, a->w, &a->lin));
    add_product(c, 1 / s->sigma, &a->lin, s->est, a->change);
    return norm_of(s, a->change, moved);
}

/* norm: |est| */
static int by_next_matrix(const made *s, const next_step *next, double norm, double *again)
{
    stepper *c = s->c;
    ros_after *a = &work(c)->after;
    double moved;
    TRY(next_jacobian(s, &moved));
    if (!c->maps->M && norm + moved <= 1) return 0;
    double h = next->length(next->of, norm), sigma = sigma_for(c, h);
    TRY(shifts_factor(c->sh, &a->lin, h, &a->fac));
    TRY(factors_solve(c->sh, a->fac, 0, 0, 1, &(accuracy){.from = NULL}, a->raw));
    for (int i = 0; i < c->n; i++) a->raw[i] *= sigma;
    return norm_of(s, a->raw, again);
}

INLINE int confirm(size_t known, stepper *c, const record *r, const trial *t, const next_step *next, double norm,
                   double *again)
{
    made s = {c, r, t, sigma_for(c, r->h), t->err};
    double size;
    *again = 0;
    ros_confirm_clear(c);
    if (!ros_confirms(c)) return 0;
    TRY(unfiltered(known, &s, &size));
    if (!c->maps->M && size <= 1) return 0;
    int status = by_next_matrix(&s, next, norm, again);
    if (status || corrects(c->maps)) ros_confirm_clear(c);      /* or the next step begins elsewhere */
    return status;
}

typedef int confirmation(stepper *c, const record *r, const trial *t, const next_step *next, double norm,
                         double *again);
#define CONFIRM(known)                                                                                             \
    static int confirm_n_##known(stepper *c, const record *r, const trial *t, const next_step *next, double norm,  \
                                 double *again)                                                                    \
    {                                                                                                              \
        return confirm(known, c, r, t, next, norm, again);                                                         \
    }
CONFIRM(0) CONFIRM(1) CONFIRM(2) CONFIRM(3) CONFIRM(4) CONFIRM(5) CONFIRM(6) CONFIRM(7) CONFIRM(8)

int ros_confirm(stepper *c, const record *r, const trial *t, const next_step *next, double norm, double *again)
{
    static confirmation *const by_size[KNOWN + 1] = BY_KNOWN(confirm_n);
    return by_size[c->maps->pattern || c->maps->M ? 0 : IS_KNOWN(c->n)](c, r, t, next, norm, again);
}
