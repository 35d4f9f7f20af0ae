/* transposed.c (ros) - once in a sweep of adjoints: is the user's solve linear, and the transposed one its transpose?

   With random a, w:  P^-1 (a + w) = P^-1 a + P^-1 w,  w . P^-1 a = a . P^-T w.  Nothing else would show in a sweep that
   it is not: gradients would be wrong. */
#include <string.h>
#include "base/random.h"
#include "maps/check.h"
#include "ros/ros.h"

static const double ROUND_OFF_OF_SOLVES = 1e-8;         /* exact ones differ by 1e-13 */

static int refuse(stepper *c, const record *r, const char *what, double gap)
{
    return fail(c->v, COSTATE_BACKEND, "%s (relative gap %.1e at t = %.10g): gradients would be wrong.  "
                "costate_check_matrix tests a preconditioner.", what, gap, r->t);
}

static int linear(stepper *c, const record *r, const factors *f, const double *a, const double *w, double *of_a)
{
    ros_work *k = c->own;
    size_t n = (size_t)c->n;
    const accuracy to = {.from = NULL};
    double *of_w = k->sum, *both = k->Yb, squares[2];
    memcpy(of_a, a, n * sizeof *a);
    memcpy(of_w, w, n * sizeof *w);
    add_scaled(n, both, a, 1, w);
    TRY(ros_solve(c, f, 0, 1, &to, of_a));
    TRY(ros_solve(c, f, 0, 1, &to, of_w));
    TRY(ros_solve(c, f, 0, 1, &to, both));
    TRY(space_dots(&c->maps->space, n, 1, both, 0, both, &squares[0]));
    for (size_t i = 0; i < n; i++) both[i] -= of_a[i] + of_w[i];
    TRY(space_dots(&c->maps->space, n, 1, both, 0, both, &squares[1]));
    double gap = squares[1] == 0 ? 0 : sqrt(squares[1] / squares[0]);
    return gap <= ROUND_OFF_OF_SOLVES ? 0 : refuse(c, r, "The preconditioner's solve is not linear", gap);
}

int ros_transposed(stepper *c, const record *r, const factors *f)
{
    ros_work *k = c->own;
    size_t n = (size_t)c->n;
    double *a = k->Y, *w = k->v1, *of_a = k->v2, *back = k->sum, gap;
    unsigned seed = 3;
    if (!c->sh->fixed || k->transposed) return 0;
    for (size_t i = 0; i < n; i++) {
        a[i] = random_number(&seed);
        w[i] = random_number(&seed);
    }
    TRY(linear(c, r, f, a, w, of_a));
    memcpy(back, w, n * sizeof *w);
    TRY(ros_solve(c, f, 1, 1, &(accuracy){.from = NULL}, back));
    TRY(check_gap(&c->maps->space, n, w, of_a, n, a, back, 0, &gap));
    k->transposed = 1;
    return gap <= ROUND_OFF_OF_SOLVES ? 0 : refuse(c, r, "The preconditioner's solve with transpose = 1 is not the "
                                                   "transpose of the one with transpose = 0", gap);
}
