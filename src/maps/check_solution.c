/* check_solution.c - compares the derivative of an operator along random directions: tangent and adjoint must be
   transposes, a solve must be linear, and a derivative must be what differences along a line show. */
#include <math.h>
#include <stdlib.h>
#include "base/random.h"
#include "base/vec.h"
#include "maps/check.h"

static int no_memory(const check_operator *F)
{
    return fail(F->space->v, COSTATE_NO_MEMORY, "No memory for the check.");
}

typedef struct { const double *v, *w; double *V, *g; } pair;         /* V <- F' v, g <- F'^T w */

static int gap_of(const check_operator *F, const pair *s, double least, double *gap)
{
    TRY(F->tangent(F->ctx, s->v, s->V));
    TRY(F->adjoint(F->ctx, s->w, s->g));
    double sums[] = {dot(F->rows, s->w, s->V), dot(F->in, s->v, s->g), 0, least};
    for (size_t i = 0; i < F->rows; i++) sums[2] += fabs(s->w[i] * s->V[i]);
    for (size_t i = 0; i < F->in; i++) sums[2] += fabs(s->v[i] * s->g[i]);
    TRY(space_total(F->space, 4, sums));
    *gap = fabs(sums[0] - sums[1]) / fmax(fmax(sums[2], sums[3]), 1e-300);
    return 0;
}

int check_transposes(const check_operator *F, const double *v, const double *w, double least, double *gap)
{
    double *V = malloc((F->rows + F->in) * sizeof *V);
    int status = V ? gap_of(F, &(pair){v, w, V, V + F->rows}, least, gap) : no_memory(F);
    free(V);
    return status;
}

int check_distance(const space *all, size_t n, double *u, const double *v, double *out)
{
    double size, gap;
    TRY(space_dots(all, n, 1, v, 0, v, &size));
    axpy(n, -1, v, u);
    TRY(space_dots(all, n, 1, u, 0, u, &gap));
    *out = gap == 0 ? 0 : sqrt(gap / size);
    return 0;
}

int check_linear(const check_operator *S, double *const *work, double *linear, double *gap)
{
    size_t n = S->in;
    double *a = work[0], *w = work[1], *Sa = work[2], *Sw = work[3], *other = work[4];
    unsigned seed = 3;
    for (size_t i = 0; i < n; i++) {
        a[i] = random_number(&seed);
        w[i] = random_number(&seed);
    }
    TRY(gap_of(S, &(pair){a, w, Sa, other}, 0, gap));
    TRY(S->tangent(S->ctx, w, Sw));
    add_scaled(n, other, a, 0.5, w);
    TRY(S->tangent(S->ctx, other, other));
    add_scaled(n, Sw, Sa, 0.5, Sw);
    return check_distance(S->space, n, Sw, other, linear);
}

/* Does a failed solution end the check?  Yes at the smallest step, for lack of memory and if a callback fails;
   otherwise the step may have been too long. */
static int is_fatal(int status, int smallest)
{
    return status == COSTATE_NO_MEMORY || status == COSTATE_CALLBACK || (status && smallest);
}

/* |a - b| over the size of the derivative b and a thousandth of F; out: work */
static int distance(const check_operator *F, const double *of, const double *a, const double *b, double *out,
                    double *relative)
{
    const double LEAST = 1e-3;
    double norms[3];
    add_scaled(F->rows, out, a, -1, b);
    TRY(space_norms(F->space, F->rows, 3, F->weight, (const double *const[]){out, b, of}, norms));
    *relative = norms[0] == 0 ? 0 : norms[0] / (norms[1] + LEAST * norms[2]);
    return 0;
}

/* work: 5 rows and, zero, in */
static int agreement_along(const check_operator *F, const double *v, const check_steps *steps, double *work,
                           agreement *to)
{
    double *given = work, *of = given + F->rows, *d = of + F->rows, *other = d + F->rows, *out = other + F->rows;
    double e = steps->first, now, apart;
    const double *before = NULL;
    TRY(F->value(F->ctx, out + F->rows, of));
    TRY(F->tangent(F->ctx, v, given));
    for (int k = 0; k < steps->count && !(to->error <= steps->enough); k++, e /= steps->shorter) {
        int status = check_differentiate(F, v, e, d, out);
        if (is_fatal(status, k == steps->count - 1)) return status;
        if (F->back) TRY(F->back(F->ctx));
        if (status) { before = NULL; continue; }
        TRY(distance(F, of, given, d, out, &now));
        to->error = fmin(to->error, now);
        if (before) {
            TRY(distance(F, of, before, d, out, &apart));
            to->blur = fmin(to->blur, apart);
        }
        double *swap = d;
        before = d, d = other, other = swap;
    }
    return 0;
}

int check_along(const check_operator *F, const double *v, const check_steps *steps, agreement *to)
{
    double *work = calloc(5 * F->rows + F->in, sizeof *work);
    *to = (agreement){NAN, NAN};
    int status = work ? agreement_along(F, v, steps, work, to) : no_memory(F);
    free(work);
    return status;
}

int check_hessian(const check_operator *G, const double *const v[2], const check_steps *steps, double part, double *gap,
                  agreement *to)
{
    double *g = calloc(2 * G->in, sizeof *g), size = 0;
    int status = g ? G->value(G->ctx, g + G->in, g) : no_memory(G);
    for (size_t i = 0; status == 0 && i < G->in; i++) size += fabs(g[i]) * (fabs(v[0][i]) + fabs(v[1][i]));
    free(g);
    TRY(status);
    TRY(check_transposes(G, v[0], v[1], part * size, gap));
    return check_along(G, v[0], steps, to);
}

/* Solutions carry round-off, 1e-10 of what varies where y is 1e6 + u, and differences 1/e times that.  Differences of
   two lengths then disagree, and a right product is no farther from them; a wrong one is as far from both. */
int check_agrees(const agreement *a)
{
    const double BLURRED = 1e-2;        /* differences that disagree by more tell nothing */
    return a->error <= CHECK_RIGHT || (a->blur <= BLURRED && a->error <= 2 * a->blur);
}

void check_says_blur(costate_report *r, const agreement *a)
{
    if (a->error > CHECK_RIGHT && check_agrees(a))
        check_adds(r, " (The differences agree with each other to %.0e only: round-off.)", a->blur);
}
