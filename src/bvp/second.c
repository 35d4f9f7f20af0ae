/* second.c - Hessian products: the tangent of the adjoint (mathematics, eq. 12.8).

       z'      tangents along the directions
       nu      W^T nu = Psi_z^T, of the one functional
       nu'     W^T nu' = [Psi_z^T]' - [W^T]' nu
       result  [Psi_theta - nu^T G_theta]' */
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "bvp/second.h"

/* the gradients of the columns of z to other places, m of them */
static int gradients_of(derivation *d, int m, double *z, double *mu, double *ends, double *times, double *c)
{
    derivation other = *d;
    other.m = m;
    other.z = z;
    other.mu = mu;
    other.ends = ends;
    other.times = times;
    other.c = c;
    return adjoint_gradients(&other);
}

/* nu, and the gradient */
static int first_order(products *s, const costate_bvp_second *user)
{
    derivation one = *s->d;
    one.m = 1;
    one.z = s->nu;
    one.mu = s->d->b->np ? user->mu : NULL;
    one.ends = user->ends;
    one.times = user->times;
    one.c = user->c;
    return adjoints(&one, s->lambda);
}

static int seeded(products *s, const costate_bvp_second *user)
{
    derivation *d = s->d;
    bvp *b = d->b;
    size_t N = (size_t)b->N_all, all = N * (size_t)d->points;
    for (int k = 0; k < d->points; k++) {
        solution_state(b, d->x, &d->at[k], s->X + (size_t)k * N);
        TRY(solution_integral_at(b, d->x, &d->at[k], s->X + (size_t)k * N + b->n));
    }
    TRY(space_finite(&b->maps.space, all, s->X, 0.5));
    TRY(space_finite(&b->maps.space, all * (size_t)d->m, d->V, 0.5));
    int r = user->seed(d->points, d->t, s->X, b->p, d->m, d->V, d->Vp, s->lambda, b->np ? user->mu : NULL, s->lambda2,
                       s->mu2, user->ctx);
    if (r != 0) return fail(&b->v, COSTATE_CALLBACK, "The callback seed returned %d.", r);
    TRY(sums_finite(b, 1, b->np ? user->mu : NULL, "What seed added to mu"));
    TRY(sums_finite(b, d->m, s->mu2, "What seed added to mu2"));
    if (all_finite(all, s->lambda) && all_finite(all * (size_t)d->m, s->lambda2)) return 0;
    return fail(&b->v, COSTATE_BAD_ARGUMENT, "seed set lambda or lambda2 to NaN or Inf.");
}

static int second(products *s, const costate_bvp_second *user)
{
    derivation *d = s->d;
    bvp *b = d->b;
    TRY(tangents(d));
    TRY(tangents_at_points(d));
    TRY(seeded(s, user));
    TRY(first_order(s, user));
    TRY(second_sides(s));
    b->count.solves += d->m;
    TRY(b->system->solve(b, 1, d->m, s->rho));
    return gradients_of(d, d->m, s->rho, s->mu2, s->ends2, s->times2, s->c2);
}

static void layout(products *s, cursor *at)
{
    const derivation *d = s->d;
    size_t n = (size_t)d->b->n, nq = (size_t)d->b->nq, m = (size_t)d->m, N = n + nq, points = (size_t)d->points;
    s->d->V = take(at, N * points * m);
    s->nu = take(at, d->all);
    s->rho = take(at, d->all * m);
    s->X = take(at, N * points);
    s->lambda = take(at, N * points);
    s->lambda2 = take(at, N * points * m);
    s->omega = take(at, nq);
    s->omega2 = take(at, nq * m);
    s->tail = take(at, nq);
    s->tail2 = take(at, nq * m);
    s->dt = take(at, m);
    s->dh = take(at, m);
    s->y = take(at, n);
    s->k = take(at, n);
    s->w = take(at, n);
    s->phi = take(at, n);
}

static int lay_out(products *s)
{
    cursor counting = {0};
    layout(s, &counting);
    if (!(s->block = calloc(counting.used + 1, sizeof *s->block)))
        return fail(&s->d->b->v, COSTATE_NO_MEMORY, "No memory for %d Hessian products.", s->d->m);
    cursor at = {.base = s->block};
    layout(s, &at);
    return 0;
}

int call_bvp_hessian(costate_bvp *b, const costate_bvp_second *user)
{
    TRY(bvp_begin(b));
    if (!user || !user->seed)
        return fail(&b->v, user ? COSTATE_MISSING : COSTATE_BAD_ARGUMENT, "%s is NULL.",
                    user ? "second.seed" : "second");
    TRY(sums_finite(b, 1, user->mu, "second.mu"));
    TRY(sums_finite(b, user->m, user->mu2, "second.mu2"));
    TRY(directions_finite(b, user->m, user->points, user->Vp, user->Vends, user->Vtimes, user->Vc));
    derivation d = {.m = user->m, .points = user->points, .t = user->t, .Vp = b->np ? user->Vp : NULL,
                    .Vends = user->Vends, .Vtimes = user->Vtimes, .Vc = user->Vc, .mu = b->np ? user->mu2 : NULL,
                    .ends = user->ends2};
    products s = {.d = &d, .mu2 = d.mu, .ends2 = user->ends2, .times2 = user->times2, .c2 = user->c2};
    if (user->mu && !d.mu) d.mu = b->np ? user->mu : NULL;      /* requested by products() */
    int status = derivation_begin(b, &d, BY_TANGENT | BY_ADJOINT | BY_SECOND);
    if (status == 0) status = lay_out(&s);
    size_t m = (size_t)d.m, points = (size_t)d.points, ends = (size_t)b->nends, n = (size_t)b->n;
    if (status == 0) {
        zero(user->ends, ends);
        zero(user->times, points);
        zero(user->c, n);
        zero(user->ends2, ends * m);
        zero(user->times2, points * m);
        zero(user->c2, n * m);
        status = second(&s, user);
        if (status == 0) status = gradients_finite(b, 1, d.points, b->np ? user->mu : NULL, user->ends, user->times,
                                                   user->c);
        if (status == 0) status = gradients_finite(b, d.m, d.points, s.mu2, s.ends2, s.times2, s.c2);
    }
    free(s.block);
    if (d.b) derivation_end(&d);
    return bvp_failed(b, status, "a derivative of the solution");
}
