/* confirm.c (lanes) - the estimates of Rosenbrock steps once more, by the matrices at their ends: ros/confirm.c lane by
   lane, for M = I. */
#include "lanes/norm.h"

static vecbits lanes_with(const lane_after *a, int bits, const vec *h)
{
    return mask_of(bits) & (*CVEC(a->h) == *h);
}

/* Takes the matrices of this step from the end of the one before, where all lanes have them; else a lane that has one
   makes it again, which a run alone would not: *has_J, *has_E. */
int LANED(ros_confirmed)(batch *b, vecbits *has_J, vecbits *has_E)
{
    lane_after *a = &b->after;
    *has_J = mask_of(a->of_J);
    *has_E = lanes_with(a, a->of_E, CVEC(b->now.h));
    int fits = bits_of_mask(*has_E);
    a->of_J = 0;
    a->of_E &= ~fits;
    if (!a->whole || (fits & b->active) != b->active) return 0;
    lane_matrix used = b->E;
    b->E = a->E;
    a->E = used;
    return 1;
}

/* out += a J x: pattern_multiply of base/pattern.c */
static void add_product(const batch *b, vec scale, const vec *J, const vec *x, vec *out)
{
    const costate_pattern *a = b->driver.solver[0]->P.pattern;
    for (int j = 0; j < b->n; j++) {
        vec by = scale * x[j];
        if (a) for (int k = a->col[j]; k < a->col[j + 1]; k++) out[a->row[k]] += J[k] * by;
        else for (int i = 0; i < b->n; i++) out[i] += J[(size_t)j * (size_t)b->n + (size_t)i] * by;
    }
}

/* change <- -J est / sigma; raw <- E est / sigma; est: in err */
static vec unfiltered(const batch *b, vec sigma)
{
    const lane_after *a = &b->after;
    vec *raw = VEC(a->raw), *change = VEC(a->change);
    clear_lanes((size_t)b->N, change);
    add_product(b, -1.0 / sigma, CVEC(b->E.J), CVEC(b->step.err), change);
    copy_lanes((size_t)b->N, raw, change);
    axpy_lanes(b->n, splat(1), CVEC(b->step.err), raw);
    return norm(b, raw);
}

/* J' of the lanes in `want`; the others repeat the start of their steps, so that maps only meet states of members */
static int next_jacobian(batch *b, vecbits want, vec sigma, vec *moved)
{
    const lane_after *a = &b->after;
    const lane_record *r = &b->now;
    vec *y = VEC(b->step.Y), *t = VEC(b->step.T);
    for (int i = 0; i < b->n; i++) y[i] = pick(want, CVEC(b->step.y1)[i], CVEC(r->y)[i]);
    *t = pick(want, *CVEC(r->end), *CVEC(r->t));
    costate_lane_point x = lane_point(b, b->step.T, y);
    int trouble = b->maps->jac(&x, a->E.J, b->ctx);
    if (trouble < 0) return trouble;
    add_product(b, 1.0 / sigma, CVEC(a->E.J), CVEC(b->step.err), VEC(a->change));
    *moved = norm(b, CVEC(a->change));
    return trouble & bits_of_mask(want);
}

/* of lanes in `want`: the norms by E' into err */
static int by_next_matrix(batch *b, vecbits want, double *h)
{
    lane_after *a = &b->after;
    vec *raw = VEC(a->raw), *err = VEC(b->clock.err);
    LANED(next_lengths)(b, h);
    *VEC(h) = pick(want, *CVEC(h), *CVEC(b->now.h));
    int trouble = LANED(matrix_factor)(b, &a->E, CVEC(h), bits_of_mask(want));
    LANED(matrix_solve)(b, &a->E, 0, raw);
    for (int i = 0; i < b->n; i++) raw[i] *= *CVEC(a->E.sigma);
    vec again = norm(b, raw);
    for (int l = 0; l < LANES; l++) if (want[l]) (*err)[l] = confirmed_norm((*err)[l], again[l]);
    return trouble;
}

int LANED(ros_confirm)(batch *b, int fine)
{
    lane_after *a = &b->after;
    const vec *err = CVEC(b->clock.err);
    vec sigma = (1 / b->m->gamma) / *CVEC(b->now.h), moved;
    vecbits judged = mask_of(fine) & (*err <= 1.0), want = judged & ~(unfiltered(b, sigma) <= 1.0);
    a->of_J = a->of_E = 0;
    if (!bits_of_mask(want)) return 0;
    counted(want & counting(b), b->counts.jac);
    int trouble = next_jacobian(b, want, sigma, &moved), new_J = bits_of_mask(want);
    if (trouble < 0) return trouble;
    want &= ~(*err + moved <= 1.0);
    counted(want & counting(b), b->counts.decompositions);
    counted(want & counting(b), b->counts.solves);
    int new_E = bits_of_mask(want);
    if (new_E) trouble |= by_next_matrix(b, want, a->h) & new_E;
    int taken = bits_of_mask(*err <= 1.0);
    a->of_J = new_J;
    a->of_E = new_E & taken;
    a->whole = 1;
    return trouble | (new_E & ~bits_of_mask(*err < HUGE_VAL));
}
