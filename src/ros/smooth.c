/* smooth.c (ros) - how exact is the user's matrix of the stages on slow modes?

   Fast modes only need a matrix that is stiff enough (guard.c).  A slow one, f_y = -a with h a << 1, for which
   E^-1 (sigma M - f_y) = x, is multiplied by 1 - (1 - e) h a in a step, where

       e(x) = 1 + gamma sum m_i u_i,   u_i = x (gamma sum_{j<i} c_ij u_j - 1)           (mathematics, eq. 6.38)

   is about (1 - x)^p: it moves with a rate that is wrong by the part e.  Where x -> 1 as h -> 0, as for a matrix W that
   is bounded, this is an error of order p.  Where it does not, as with cycles of multigrid that leave a part of the
   residual for every h, no step is short enough.  With a smooth vector v

       |(sigma M - f_y) E^-1 v - v| / |v|                                               (mathematics, eq. 6.39)

   stands for |1 - x|, with the sign that v^T of it has.  v <- sigma M E^-1 v makes vectors smooth: it divides a
   mode by 1 + gamma h a. */
#include <stdio.h>
#include <string.h>
#include "base/vec.h"
#include "maps/callbacks.h"
#include "ros/ros.h"

enum { EVERY = 20 };                            /* steps from one measurement to the next, at most */
static const double LASTING = 2;                /* steps after which a mode is expected to be there */
static const double TOLERANCES = 5;             /* errors of y that are remarked on, in units of the tolerance */

int ros_looks(const stepper *c)
{
    return ros_holds(c) && c->spectrum.v && (has_tangent(&c->maps->user.rhs) || c->maps->user.jac);
}

/* of e, for x = 1 + departure; a mode that does not move at all errs by 1 */
static double error_of_rate(const costate_method *m, double departure)
{
    return fmin(1, rosenbrock_slow_error(m, 1 + departure));
}

/* x <- E^-1 x */
static int inverse(stepper *c, const factors *f, int transpose, double *x)
{
    return factors_solve(c->sh, f, 0, transpose, 1, &(accuracy){.from = NULL}, x);
}

/* out <- sigma M x */
static void sigma_mass(stepper *c, double sigma, int transpose, const double *x, double *out)
{
    memset(out, 0, (size_t)c->n * sizeof *out);
    mass_multiply(c->maps, transpose, sigma, 1, x, out);
}

static int norms(stepper *c, const double *const x[4], double out[4])
{
    for (int k = 0; k < 4; k++) {
        TRY(space_dots(&c->maps->space, (size_t)c->n, 1, x[k], 0, x[k], &out[k]));
        out[k] = sqrt(out[k]);
    }
    return 0;
}

/* v <- sigma M E^-1 v, so many times */
static int smoothed(stepper *c, const factors *f, int transpose, int times, double *v)
{
    spectrum *s = &c->spectrum;
    for (; times > 0; times--) {
        memcpy(s->Jv, v, (size_t)c->n * sizeof *v);
        TRY(inverse(c, f, transpose, s->Jv));
        sigma_mass(c, 1 / (c->m->gamma * f->h), transpose, s->Jv, v);
    }
    return 0;
}

/* out->departure <- |(sigma M - f_y) E^-1 v - v| / |v|, < 0 where E is too stiff; out->rate <- |f_y E^-1 v| /
   |M E^-1 v|; v <- what is left of it */
static int leave(stepper *c, const record *r, const factors *f, int transpose, double *v, smoothness *out)
{
    spectrum *s = &c->spectrum;
    size_t n = (size_t)c->n;
    double sigma = 1 / (c->m->gamma * f->h), size[4], along;
    shifted a = {c->sh, point(c->maps, r->t, r->y), sigma, 0, transpose};
    memcpy(s->Jv, v, n * sizeof *v);
    TRY(inverse(c, f, transpose, s->Jv));
    TRY(shifted_apply(&a, 1, s->Jv, s->JJv));
    sigma_mass(c, sigma, transpose, s->Jv, s->z);
    memcpy(s->Jv, s->z, n * sizeof *v);
    add_scaled(n, s->z, s->z, -1, s->JJv);
    add_scaled(n, s->JJv, s->JJv, -1, v);
    TRY(norms(c, (const double *const[]){v, s->JJv, s->z, s->Jv}, size));
    TRY(space_dots(&c->maps->space, n, 1, v, 0, s->JJv, &along));
    out->departure = size[0] > 0 ? copysign(size[1] / size[0], along) : 0;
    out->rate = size[3] > 0 ? sigma * size[2] / size[3] : 0;
    memcpy(v, s->JJv, n * sizeof *v);
    return 0;
}

/* Of v itself, as if all of it departed by this much; and of what is left of it, made smooth once more, as if the rest
   of v were exact: its share in v is the quotient of both departures, and was larger by 1/x each time that v was made
   smooth. */
static int measure(stepper *c, const record *r, const factors *f, int transpose, int times, double *v,
                   smoothness out[2])
{
    const double LEAST = 1e-3;                          /* of x */
    TRY(leave(c, r, f, transpose, v, &out[0]));
    TRY(smoothed(c, f, transpose, 1, v));
    TRY(leave(c, r, f, transpose, v, &out[1]));
    for (int k = 0; k < 2; k++) out[k].error = error_of_rate(c->m, out[k].departure);
    double share = fabs(out[0].departure) / fabs(out[1].departure) / pow(fmax(LEAST, 1 + out[1].departure), times);
    if (share < 1) out[1].error *= share;
    for (int k = 0; k < 2; k++) out[k].lasting = out[k].error * exp(-LASTING * out[k].rate * fabs(r->h));
    return 0;
}

int ros_smooth(stepper *c, const record *r, int transpose, int times, double *v, smoothness out[2])
{
    const factors *f;
    out[0] = out[1] = (smoothness){.departure = 0};
    if (!ros_looks(c)) return RETRY;
    TRY(ros_matrices(c, r, &f));
    TRY(smoothed(c, f, transpose, times, v));
    return measure(c, r, f, transpose, times, v, out);
}

/* The first stage is E^-1 f, so that sigma M U_1 is y' made smooth. */
static int of_slope(stepper *c, const record *r, slowness *k)
{
    const factors *f;
    double *v = work(c)->v1;
    smoothness found[2];
    TRY(ros_matrices(c, r, &f));
    sigma_mass(c, 1 / (c->m->gamma * f->h), 0, r->X, v);
    int status = measure(c, r, f, 0, 1, v, found);
    if (status) return status == RETRY ? 0 : status;
    k->last = found[found[1].lasting > found[0].lasting];
    if (k->last.lasting >= k->worst.lasting) k->worst = k->last;
    k->age = 0;
    return 0;
}

/* The change of y errs by the part e, which decays as the mode does. */
int ros_smooth_step(stepper *c, const record *r, const double *y1, int measured)
{
    softness *g = &c->spectrum.soft;
    slowness *k = &g->tried;
    double change;
    if (!ros_looks(c)) return 0;
    if (r->t != g->t) g->accepted = g->tried;
    g->t = r->t;
    g->tried = g->accepted;
    if (++k->age >= EVERY || measured) TRY(of_slope(c, r, k));
    add_scaled((size_t)c->n, work(c)->v1, y1, -1, r->y);
    TRY(space_norm(&c->maps->space, (size_t)c->n, c->w, work(c)->v1, &change));
    k->off = (k->off + k->last.error * change) * exp(-k->last.rate * fabs(r->h));
    return 0;
}

void ros_smooth_remark(const stepper *c, char *text, size_t room)
{
    const slowness *g = &c->spectrum.soft.tried;
    if (ros_looks(c) && g->off > TOLERANCES)
        snprintf(text, room, "  The %s is not exact enough on slow modes: on y' made smooth it departs from sigma M - "
                 "f_y by the part %.2g, so that rates are wrong by the part %.2g and y by about %.2g tolerances.  "
                 "Shorter steps may not help: make it more exact.", ros_matrix_name(c), fabs(g->worst.departure),
                 g->worst.error, g->off);
}
