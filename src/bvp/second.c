/* second.c - Hessian products: the tangent of the adjoint (mathematics, eq. 12.8).

       z'      tangents along the directions
       nu      W^T nu = Psi_z^T, of the one functional
       nu'     W^T nu' = [Psi_z^T]' - [W^T]' nu
       result  [Psi_theta - nu^T G_theta]' */
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "bvp/second.h"

/* of m columns, which are those of z, with other places for their gradients */
static derivation with(const derivation *d, int m, double *z, const theta_gradients *into)
{
    derivation other = *d;
    other.m = m;
    other.z = z;
    other.into = *into;
    return other;
}

/* first: the gradients of the functional itself */
static int seeded(products *s, const costate_bvp_second *user, const theta_gradients *first)
{
    derivation *d = s->d;
    bvp *b = d->b;
    size_t N = (size_t)b->N_all, all = N * (size_t)d->points.count;
    for (int k = 0; k < d->points.count; k++) {
        solution_state(b, d->x, &d->points.at[k], s->X + (size_t)k * N);
        TRY(solution_integral_at(b, d->x, &d->points.at[k], s->X + (size_t)k * N + b->n));
    }
    TRY(space_finite(&b->maps.space, all, s->X));
    TRY(space_finite(&b->maps.space, all * (size_t)d->m, d->V));
    int r = user->seed(d->points.count, d->points.t, s->X, b->p, d->m, d->V, d->along.p, s->lambda, first->p,
                       s->lambda2, s->into.p, user->ctx);
    if (r != 0) return fail(&b->v, COSTATE_CALLBACK, "The callback seed returned %d.", r);
    TRY(sums_finite(b, 1, first->p, "What seed added to mu"));
    TRY(sums_finite(b, d->m, s->into.p, "What seed added to mu2"));
    if (all_finite(all, s->lambda) && all_finite(all * (size_t)d->m, s->lambda2)) return 0;
    return fail(&b->v, COSTATE_BAD_ARGUMENT, "seed set lambda or lambda2 to NaN or Inf.");
}

static int second(products *s, const costate_bvp_second *user, const theta_gradients *first)
{
    derivation *d = s->d;
    bvp *b = d->b;
    TRY(tangents(d));
    TRY(tangents_at_points(d));
    TRY(seeded(s, user, first));
    derivation one = with(d, 1, s->nu, first), all = with(d, d->m, s->rho, &s->into);
    TRY(adjoints(&one, s->lambda));             /* nu, and the gradient */
    TRY(second_sides(s));
    b->count.solves += d->m;
    TRY(b->linear.by->solve(b, 1, d->m, s->rho));
    return adjoint_gradients(&all);
}

static void second_layout(products *s, cursor *at)
{
    const derivation *d = s->d;
    size_t n = (size_t)d->b->n, nq = (size_t)d->b->nq, m = (size_t)d->m, N = n + nq, points = (size_t)d->points.count;
    s->d->V = take(at, N * points * m);
    s->nu = take(at, d->all);
    s->rho = take(at, d->all * m);
    TAKE(at, N * points, &s->X, &s->lambda);
    s->lambda2 = take(at, N * points * m);
    s->omega = take(at, nq);
    s->omega2 = take(at, nq * m);
    s->tail = take(at, nq);
    s->tail2 = take(at, nq * m);
    TAKE(at, m, &s->dt, &s->dh);
    TAKE(at, n, &s->y, &s->k, &s->w, &s->phi);
}

static int lay_out(products *s)
{
    cursor counting = {0};
    second_layout(s, &counting);
    if (!(s->block = calloc(counting.used + 1, sizeof *s->block)))
        return fail(&s->d->b->v, COSTATE_NO_MEMORY, "No memory for %d Hessian products.", s->d->m);
    cursor at = {.base = s->block};
    second_layout(s, &at);
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
    const theta_gradients first = {b->np ? user->mu : NULL, user->ends, user->times, user->c};
    derivation d = {.m = user->m, .points = {.count = user->points, .t = user->t},
                    .along = {b->np ? user->Vp : NULL, user->Vends, user->Vtimes, user->Vc},
                    .into = {b->np ? user->mu2 : NULL, user->ends2, user->times2, user->c2}};
    products s = {.d = &d, .into = d.into};
    TRY(directions_finite(b, user->m, user->points, &d.along));
    if (!d.into.p) d.into.p = first.p;          /* requested by products() */
    int status = derivation_begin(b, &d, BY_TANGENT | BY_ADJOINT | BY_SECOND);
    if (status == 0) status = lay_out(&s);
    if (status == 0) {
        gradients_begin(b, 1, d.points.count, &first);
        gradients_begin(b, d.m, d.points.count, &s.into);
        status = second(&s, user, &first);
        if (status == 0) status = gradients_finite(b, 1, d.points.count, &first);
        if (status == 0) status = gradients_finite(b, d.m, d.points.count, &s.into);
    }
    free(s.block);
    if (d.b) derivation_end(&d);
    return bvp_failed(b, status, "a derivative of the solution");
}
