/* transposed.c (ros) - once in a sweep of adjoints: is the user's solve linear, and the transposed one its transpose?

   Nothing else would show in a sweep that it is not: gradients would be wrong. */
#include <string.h>
#include "maps/check.h"
#include "ros/ros.h"

static const double ROUND_OFF_OF_SOLVES = 1e-8;         /* exact ones differ by 1e-13 */

typedef struct { stepper *c; const factors *f; } solver_of;

static int transposed_solve(const solver_of *s, int transpose, const double *v, double *out)
{
    if (out != v) memcpy(out, v, (size_t)s->c->n * sizeof *out);
    return ros_solve(s->c, s->f, transpose, 1, &(accuracy){.from = NULL}, out);
}
static int tangent(void *ctx, const double *v, double *out) { return transposed_solve(ctx, 0, v, out); }
static int adjoint(void *ctx, const double *w, double *g) { return transposed_solve(ctx, 1, w, g); }

static int refuse(stepper *c, const record *r, const char *what, double gap)
{
    return fail(c->v, COSTATE_BACKEND, "%s (relative gap %.1e at t = %.10g): gradients would be wrong.  "
                "costate_check_matrix tests a preconditioner.", what, gap, r->t);
}

int ros_transposed(stepper *c, const record *r, const factors *f)
{
    ros_work *k = c->own;
    solver_of s = {c, f};
    const check_operator S = {.ctx = &s, .in = (size_t)c->n, .rows = (size_t)c->n, .tangent = tangent,
                              .adjoint = adjoint, .space = &c->maps->space};
    double linear, gap;
    if (!c->sh->fixed || k->transposed) return 0;
    TRY(check_linear(&S, (double *const[]){k->Y, k->v1, k->v2, k->sum, k->Yb}, &linear, &gap));
    if (!(linear <= ROUND_OFF_OF_SOLVES)) return refuse(c, r, "The preconditioner's solve is not linear", linear);
    if (!(gap <= ROUND_OFF_OF_SOLVES))
        return refuse(c, r, "The preconditioner's solve with transpose = 1 is not the transpose of the one with "
                      "transpose = 0", gap);
    k->transposed = 1;
    return 0;
}
