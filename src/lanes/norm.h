/* norm.h (lanes) - error norms of L members, in the order of step/norm.c. */
#ifndef COSTATE_LANES_NORM_H
#define COSTATE_LANES_NORM_H

#include <math.h>
#include "lanes/code.h"

INLINE vec scaled(double rtol, double atol, vec y, vec z, vec e)
{
    vec u = modulus(y), v = modulus(z), q = e / (atol + rtol * pick(u > v, u, v));
    return q * q;
}

/* sum_scaled of vec.c; with tolerances of each component they are added one by one */
INLINE vec sum_scaled_lanes(const batch *b, int count, const vec *y, const vec *z, const vec *e)
{
    enum { AT_ONCE = 8 };
    const costate_options *o = b->o;
    vec rest = {0}, s[AT_ONCE] = {{0}};
    if (o->rtol_vector || o->atol_vector) {
        for (int i = 0; i < count; i++) {
            int own = i < b->n;
            rest += scaled(own && o->rtol_vector ? o->rtol_vector[i] : o->rtol,
                           own && o->atol_vector ? o->atol_vector[i] : o->atol, y[i], z[i], e[i]);
        }
        return rest;
    }
    int whole = count / AT_ONCE * AT_ONCE;
    for (int i = whole; i < count; i++) rest += scaled(o->rtol, o->atol, y[i], z[i], e[i]);
    if (!whole) return rest;
    for (int i = 0; i < whole; i += AT_ONCE)
        for (int j = 0; j < AT_ONCE; j++) s[j] += scaled(o->rtol, o->atol, y[i + j], z[i + j], e[i + j]);
    return (((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))) + rest;
}

INLINE vec norm(const batch *b, const vec *err)
{
    int count = b->o->cost_error ? b->n + b->nq : b->n;
    vec q = sum_scaled_lanes(b, count, CVEC(b->now.y), CVEC(b->step.y1), err) / (double)count, root;
    for (int l = 0; l < LANES; l++) root[l] = sqrt(q[l]);
    return root;
}

#endif
