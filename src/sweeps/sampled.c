/* sampled.c - how far the gradients of a sweep may be off, by a few of its steps (mathematics, section 13.8).

   Local errors.  Backward through a step, lambda has the local error that y has forward: with E(y, p) = sum e_i X_i,
   or with h e_0 f(t, y) in addition, the error estimate of the step,

       e = E'^T lambda

   is the difference between the gradients of the method and of the embedded one.  A part of it is damped at once, by
   the problem or by the method.  So e is carried back through two more steps: r_1, r_2 are its sizes relative to
   lambda after one and two of them, and the relative error of the gradient is that of

       eps <- kappa eps + r_2,   kappa = min(1, r_2/r_1)        in each of the steps for which a place stands.

   Sizes are 2-norms, as in costate_accuracy.  Where r_2 is far above that of both neighbours, a place stands for a few
   steps of a transition, and is taken for one.

   A matrix of the user's that is not exact on slow modes: slow_modes.c.

   A conserved quantity.  Where f does not depend on t, lambda^T y' is constant along the solution; an observation with
   the gradient w changes it by w^T y'.  Whatever the cause of an error, with delta for the change of lambda^T y'
   between t1 and t0,

       |delta| <= sum_i |error of lambda_i| |y'_i|,   so that  |delta| / sum_i |lambda_i y'_i|

   is a lower bound of the relative error of the gradient in this norm, up to the error of y' at t1. */
#include <math.h>
#include <string.h>
#include "base/larger.h"
#include "base/modulus.h"
#include "base/vec.h"
#include "solver/options.h"
#include "sweeps/sampled.h"

/* Three steps for each place are a twentieth of a sweep. */
enum { APART = 60, CARRIED = 2 };
static const double LONE = 10;              /* times its neighbours: a place in a transition */
static const double WORSE = 10;             /* times the local error of y: local errors of lambda that tell nothing */
static const double DAMPS = 0.1;            /* |R(inf)| of implicit methods that damp fast modes */
/* A remark is made on relative errors of this size that are so many times rtol. */
static const double LARGE = 0.03, BEYOND = 50;
static const double SLOWLY = 10;            /* the same, of errors of slow modes, which shorter steps need not mend */

/* Does what is asked for suit a run without events whose f is the same at all times? */
static int may_conserve(const costate *c, const costate_tape *tape)
{
    int plain = tape->maps.count == 0 && c->P.nstops == 0 && c->st.nm == 0 && !corrects(&c->maps) && !relaxes(&c->maps);
    int looks = c->o.gradient_estimate == COSTATE_ESTIMATE_ON && !c->maps.space.sum;
    return plain && equation_plain(&c->maps) && (c->o.autonomous || looks);
}

void sampled_begin(sampled *s, costate *c, const costate_tape *tape)
{
    size_t m = (size_t)c->d.columns;
    double *all = c->d.sampled;
    memset(all, 0, SAMPLED * m * sizeof *all);
    *s = (sampled){.c = c, .conserves = may_conserve(c, tape), .first = all, .part = all + m, .ended = all + 2 * m,
                   .seen = all + 3 * m, .change = all + 4 * m, .r = all + 5 * m,
                   .kappa = all + (5 + PLACES_MOST) * m};
    slow_modes_begin(&s->slow, c, tape, c->d.columns, all + (5 + 2 * PLACES_MOST) * m);
    s->places = tape->count / APART < PLACES_MOST ? tape->count / APART : PLACES_MOST;
    s->apart = s->places > 0 ? (double)tape->count / s->places : 0;
}

/* ---- lambda^T y' ---- */

/* y' at (t, y), and the rates of the integrals behind it: 0, or they are not defined there */
static int slope(costate *c, double t, const double *y, double *out)
{
    TRY(map_value(&c->maps, &c->maps.rhs, t, y, out));
    return c->st.nq ? map_value(&c->maps, &c->maps.cost, t, y, out + c->st.n) : 0;
}

/* work.err <- y' at y, which must be the same at both ends of the run.  Where it is not defined, it is not. */
static int same_slope(sampled *s, const costate_tape *tape, const double *y)
{
    costate *c = s->c;
    size_t all = (size_t)(c->st.n + c->st.nq);
    double *a = c->work.err, *b = c->work.z;
    if (!s->conserves) return 0;
    int status = slope(c, tape->from.t0, y, a), other = !c->o.autonomous;
    if (status == 0 && other) status = slope(c, tape->from.t1, y, b);
    s->conserves = status == 0 && !(other && memcmp(a, b, all * sizeof *a) != 0);
    return status < 0 ? status : 0;
}

/* sums[0]: lambda^T y', sums[1]: sum |lambda_i y'_i| of one functional */
static int products_with_slope(costate *c, const double *lambda, const double *slope, double sums[2])
{
    sums[0] = sums[1] = 0;
    for (int i = 0; i < c->st.n + c->st.nq; i++) {
        double x = lambda[i] * slope[i];
        sums[0] += x;
        sums[1] += fabs(x);
    }
    return space_total(&c->maps.space, 2, sums);
}

static int begin_conserved(sampled *s, const sweep_state *w)
{
    costate *c = s->c;
    double sums[2];
    TRY(same_slope(s, w->tape, w->tape->end));
    if (!s->conserves) return 0;
    for (int j = 0; j < w->g.m; j++) {
        TRY(products_with_slope(c, w->g.lambda + (size_t)j * (size_t)c->st.N, c->work.err, sums));
        s->ended[j] = sums[0];
    }
    return 0;
}

static int end_conserved(sampled *s, const sweep_state *w)
{
    costate *c = s->c;
    double sums[2];
    TRY(same_slope(s, w->tape, w->now.y));
    if (!s->conserves) return 0;
    for (int j = 0; j < w->g.m; j++) {
        TRY(space_total(&c->maps.space, 1, &s->seen[j]));
        TRY(products_with_slope(c, w->g.lambda + (size_t)j * (size_t)c->st.N, c->work.err, sums));
        double change = fabs(sums[0] - s->ended[j] - s->seen[j]);
        s->change[j] = sums[1] > 0 ? change / sums[1] : 0;
    }
    return 0;
}

/* ---- local errors ---- */

/* Is the error estimate of the member at hand a sum over its stages that needs no solution with the matrix?  What this
   leaves of fast modes must be damped by the method.  Without a matrix, each system of a sweep begins with what the one
   before has found. */
static int has_sum(const costate *c)
{
    const method_estimate *est = &c->st.m->est;
    int implicit = c->st.F->is & IMPLICIT, damps = fabs(c->st.m->about.r_infinity) < DAMPS;
    return est->e && est->ex0 == 0 && (!implicit || (damps && !c->st.sh->matfree)) &&
           (est->e0 == 0 || equation_plain(&c->maps));
}

/* *out <- the local error of y in this step, relative to y as the tolerances are; 0 where there are no stages */
static int of_state(costate *c, const record *r, double *out)
{
    const method_estimate *est = &c->st.m->est;
    size_t n = (size_t)c->st.n;
    double *err = c->work.err, *f = c->work.z;
    *out = 0;
    if (c->st.F->is & REMAKES) return 0;
    combine(n, err, NULL, dense_scale(&c->st, r), c->st.s, est->e, r->X, n);
    if (est->e0 != 0) {
        TRY(map_value(&c->maps, &c->maps.rhs, r->t, r->y, f));
        axpy(n, r->h * est->e0, f, err);
    }
    TRY(space_norm(&c->maps.space, n, c->st.w, err, out));
    *out *= options_rtol(&c->o, c->st.n);
    return 0;
}

/* onto e: h e_0 f_y^T lambda */
static int first_slope(costate *c, const record *r, int m, const double *lambda, double *e)
{
    size_t n = (size_t)c->st.n, N = (size_t)c->st.N;
    double e0 = c->st.m->est.e0, *w = c->d.w;
    costate_point x = point(&c->maps, r->t, r->y);
    for (size_t j = 0; j < (size_t)m && e0 != 0; j++) {
        costate_gradient to = {.y = e + j * N};
        add_scaled(n, w, NULL, r->h * e0, lambda + j * N);
        TRY(map_adjoint(&c->maps, &c->maps.rhs, &x, w, &to));
    }
    return 0;
}

/* e through a step; seed: as in functionals */
static int carry(costate *c, const sweep_state *w, const double *seed)
{
    functionals g = {.m = w->g.m, .lambda = c->d.V, .U = c->d.U, .seed = seed};
    return c->st.F->adjoint(&c->st, &w->now, &g);
}

/* e <- (sum e_i X_i)'^T lambda */
static int weigh(costate *c, const sweep_state *w, const double *weight)
{
    size_t n = (size_t)c->st.n, N = (size_t)c->st.N, m = (size_t)w->g.m;
    double *seed = c->d.X;
    memset(c->d.V, 0, N * m * sizeof *c->d.V);
    for (size_t i = 0; i < (size_t)c->st.s; i++)
        for (size_t j = 0; j < m; j++) add_scaled(n, seed + (i * m + j) * n, NULL, weight[i], w->g.lambda + j * N);
    return carry(c, w, seed);
}

/* |e| / |lambda|, lambda behind the step; 0 where lambda is 0 */
static int relative(costate *c, const sweep_state *w, int j, double *out)
{
    const double *lambda = w->g.lambda + (size_t)j * (size_t)c->st.N, *e = c->d.V + (size_t)j * (size_t)c->st.N;
    double sums[2] = {0, 0};
    for (int i = 0; i < c->st.n; i++) {
        sums[0] += e[i] * e[i];
        sums[1] += lambda[i] * lambda[i];
    }
    TRY(space_total(&c->maps.space, 2, sums));
    *out = sums[0] > 0 && sums[1] > 0 ? sqrt(sums[0] / sums[1]) : 0;
    return 0;
}

/* A second estimate e_2 makes of |e| what it makes of the error of y: |e|^2/sqrt(|e|^2 + 0.01 |e_2|^2). */
static int local_error(sampled *s, const sweep_state *w)
{
    costate *c = s->c;
    const method_estimate *est = &c->st.m->est;
    for (int j = 0; j < w->g.m; j++) s->part[j] = 0;
    if (est->e2) {
        TRY(weigh(c, w, est->e2));
        for (int j = 0; j < w->g.m; j++) TRY(relative(c, w, j, &s->part[j]));
    }
    TRY(of_state(c, &w->now, &s->allowed));
    s->allowed *= WORSE;
    TRY(weigh(c, w, est->e));
    for (int j = 0; j < w->g.m; j++) {
        double r = 0;
        if (s->part[j] > 0) TRY(relative(c, w, j, &r));
        s->part[j] = s->part[j] > 0 ? r / modulus(r, 0.1 * s->part[j]) : 1;
    }
    return first_slope(c, &w->now, w->g.m, w->g.lambda, c->d.V);
}

/* r_1 behind two steps, r_2 behind three, and kappa, of all functionals */
static int measure(sampled *s, const sweep_state *w)
{
    for (int j = 0; j < w->g.m; j++) {
        double r;
        TRY(relative(s->c, w, j, &r));
        r *= s->part[j];
        if (s->steps == CARRIED) { s->first[j] = r; continue; }
        s->r[j * PLACES_MOST + s->at] = fmax(0, r - s->allowed);
        s->kappa[j * PLACES_MOST + s->at] = s->first[j] > r ? r / s->first[j] : 1;
    }
    if (s->steps > CARRIED) { s->steps = 0; s->at++; }
    return 0;
}

/* eps behind `count` steps that add r and keep the part kappa of what is there */
static double accumulated(double eps, double r, double kappa, double count)
{
    if (kappa >= 1) return eps + count * r;
    double kept = pow(kappa, count);
    return kept * eps + r * (1 - kept) / (1 - kappa);
}

/* the relative error of the gradient of functional j */
static double from_places(const sampled *s, int j)
{
    const double *r = s->r + j * PLACES_MOST, *kappa = s->kappa + j * PLACES_MOST;
    double eps = 0;
    for (int k = 0; k < s->at; k++) {
        double beside = fmax(k > 0 ? r[k - 1] : 0, k + 1 < s->at ? r[k + 1] : 0);
        int lone = s->at > 1 && r[k] > LONE * beside;
        eps = accumulated(eps, lone ? 0 : r[k], kappa[k], s->apart) + (lone ? r[k] : 0);
    }
    return eps;
}

/* Nothing else happens between the end of the step and the start of the next one. */
static int follows(const sweep_state *w, int step)
{
    int next = tape_first_map(w->tape, step + 1);
    int between = next < w->tape->maps.count && w->tape->maps.list[next].before == step + 1;
    return !between && !w->tape->list[step].corrected;
}

int sampled_step(sampled *s, sweep_state *w, int step)
{
    costate *c = s->c;
    TRY(sweep_hold(w, step));
    for (int j = 0; w->any && j < w->g.m; j++) s->seen[j] -= w->tau_seen[j];
    if (step == w->tape->count - 1) TRY(begin_conserved(s, w));
    if (s->steps > 0 && !(step == s->next && follows(w, step))) s->steps = 0;
    if (s->steps >= CARRIED) TRY(measure(s, w));
    TRY(slow_modes_step(&s->slow, w, step));
    int due = s->at < s->places && step < w->tape->count - (s->at + 0.5) * s->apart;
    int begins = s->steps == 0 && due && step > CARRIED && has_sum(c) && s->begun < 2 * s->places;
    if (s->steps == 0 && !begins) return 0;
    if (begins && !c->o.autonomous) TRY(same_slope(s, w->tape, w->now.y));
    s->begun += begins;
    TRY(begins ? local_error(s, w) : carry(c, w, NULL));
    s->steps++;
    s->next = step - 1;
    return 0;
}

/* ---- the result ---- */

/* slow: the part of slow modes */
static void gradient_remark(costate *c, double error, double slow)
{
    double rtol = options_rtol(&c->o, c->st.n);
    if (slow >= error && slow > LARGE && slow > SLOWLY * rtol)
        remarked(&c->v, "  The relative error of the gradient is estimated as %.2g, because the preconditioner or "
                 "matrix W is not exact enough on slow modes: costate_check_matrix measures this.  Shorter steps may "
                 "not help.", error);
    else if (error > LARGE && error > BEYOND * rtol)
        remarked(&c->v, "  The relative error of the gradient is estimated as %.2g: options.gradient_control = 1 also "
                 "chooses steps for gradients, costate_accuracy measures their errors.", error);
}

int sampled_end(sampled *s, sweep_state *w)
{
    costate *c = s->c;
    double most = 0, slow = 0;
    if (w->tape->count > 0) TRY(end_conserved(s, w));
    for (int j = 0; j < w->g.m; j++) {
        most = larger(most, larger(s->change[j], from_places(s, j)));
        slow = larger(slow, slow_modes_error(&s->slow, j));
    }
    most = larger(most, slow);
    c->count.gradient_error = most;
    gradient_remark(c, most, slow);
    return 0;
}
