/* column.c - polluted air in a column: POLLU (network.c) in every layer, and diffusion between the layers.

       c' = chemistry(c) + D c_zz,   0 < z < 1,   no flux through the ground and the top,   60 minutes

   20 species in L layers; layer l holds the states 20 l .. 20 l + 19, so that the Jacobian has a band of 20.  Emissions
   have gathered at the ground: all but ozone begin as POLLU's exp(-3 z).  D = 0.005 a minute mixes in some 20 minutes;
   the fastest reaction takes 1e-12 of one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ivp.h"

enum { SPECIES = 20, OZONE = 3, MOST_LAYERS = 10000 };

typedef struct {
    ivp air;                        /* one layer, with its pattern */
    int layers, n;
    double d;                       /* D / dz^2 */
    costate_pattern S;
    double *y0;
    int *index;                     /* memory of the pattern */
} column;

static const double *layer(const double *x, int l) { return x ? x + l * SPECIES : NULL; }

/* out += the diffusion of u: symmetric, so that it is its own adjoint */
static void diffuse(const column *w, const double *u, double *out)
{
    for (int i = 0; u && i < w->n - SPECIES; i++) {
        double flux = w->d * (u[i + SPECIES] - u[i]);
        out[i] += flux;
        out[i + SPECIES] -= flux;
    }
}

static costate_point at(const costate_point *x, int l)
{
    return (costate_point){.t = x->t, .y = layer(x->y, l), .p = x->p};
}

static int value(const costate_point *x, double *out, void *ctx)
{
    const column *w = ctx;
    for (int l = 0; l < w->layers; l++) {
        costate_point z = at(x, l);
        w->air.P.rhs.value(&z, out + l * SPECIES, w->air.P.ctx);
    }
    diffuse(w, x->y, out);
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const column *w = ctx;
    for (int l = 0; l < w->layers; l++) {
        costate_point z = at(x, l), dz = at(dx, l);
        w->air.P.rhs.tangent(&z, &dz, out + l * SPECIES, w->air.P.ctx);
    }
    diffuse(w, dx->y, out);
    return 0;
}

static int adjoint(const costate_point *x, const double *v, const costate_gradient *g, void *ctx)
{
    const column *w = ctx;
    for (int l = 0; g->y && l < w->layers; l++) {
        costate_point z = at(x, l);
        costate_gradient to = {.y = g->y + l * SPECIES};
        w->air.P.rhs.adjoint(&z, layer(v, l), &to, w->air.P.ctx);
    }
    if (g->y) diffuse(w, v, g->y);
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2, double *out, void *ctx)
{
    const column *w = ctx;
    for (int l = 0; l < w->layers; l++) {
        costate_point z = at(x, l), a = at(dx1, l), b = at(dx2, l);
        w->air.P.rhs.tangent2(&z, &a, &b, out + l * SPECIES, w->air.P.ctx);
    }
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *v, const costate_gradient *g,
                           void *ctx)
{
    const column *w = ctx;
    for (int l = 0; g->y && l < w->layers; l++) {
        costate_point z = at(x, l), dz = at(dx, l);
        costate_gradient to = {.y = g->y + l * SPECIES};
        w->air.P.rhs.adjoint_tangent(&z, &dz, layer(v, l), &to, w->air.P.ctx);
    }
    return 0;
}

/* A column of the matrix: the layer below, the reactions of its own, the layer above. */
static int jacobian(const costate_point *x, double *J, void *ctx)
{
    const column *w = ctx;
    const costate_pattern *S = w->air.P.pattern;
    double A[SPECIES * SPECIES], *to = J;
    for (int l = 0; l < w->layers; l++) {
        costate_point z = at(x, l);
        int below = l > 0, above = l < w->layers - 1;
        w->air.P.jac(&z, A, w->air.P.ctx);
        for (int j = 0; j < SPECIES; j++) {
            if (below) *to++ = w->d;
            for (int k = S->col[j]; k < S->col[j + 1]; k++)
                *to++ = A[k] - (S->row[k] == j ? (below + above) * w->d : 0);
            if (above) *to++ = w->d;
        }
    }
    return 0;
}

static void lay_out(column *w)
{
    const costate_pattern *S = w->air.P.pattern;
    int *col = w->index, *row = col + w->n + 1, next = 0;
    for (int l = 0; l < w->layers; l++)
        for (int j = 0; j < SPECIES; j++) {
            int own = l * SPECIES;
            if (l > 0) row[next++] = own + j - SPECIES;
            for (int k = S->col[j]; k < S->col[j + 1]; k++) row[next++] = own + S->row[k];
            if (l < w->layers - 1) row[next++] = own + j + SPECIES;
            col[own + j + 1] = next;
        }
    w->S = (costate_pattern){w->n, col, row};
}

static void begin(const column *w)
{
    for (int l = 0; l < w->layers; l++)
        for (int i = 0; i < SPECIES; i++)
            w->y0[l * SPECIES + i] = w->air.y0[i] * (i == OZONE ? 1 : exp(-3 * (l + 0.5) / w->layers));
}

static void free_column(void *own)
{
    column *w = own;
    ivp_free(&w->air);
    free(w->y0);
    free(w->index);
    free(w);
}

int ivp_smog(ivp *b, int layers)
{
    column *w = calloc(1, sizeof *w);
    b->own = w;
    b->free_own = free_column;
    if (!w) return COSTATE_NO_MEMORY;
    if (layers < 2 || layers > MOST_LAYERS) return COSTATE_BAD_ARGUMENT;
    int status = ivp_pollu(&w->air, 1);
    if (status != COSTATE_OK) return status;
    w->layers = layers;
    w->n = layers * SPECIES;
    w->d = 0.005 * layers * layers;
    w->y0 = malloc((size_t)w->n * sizeof *w->y0);
    w->index = calloc((size_t)w->n + 1 + (size_t)layers * (size_t)(w->air.P.pattern->col[SPECIES] + 2 * SPECIES),
                      sizeof *w->index);
    if (!w->y0 || !w->index) return COSTATE_NO_MEMORY;
    lay_out(w);
    begin(w);
    b->P = (costate_problem){.n = w->n, .ctx = w, .jac = jacobian, .pattern = &w->S,
                             .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint,
                                     .tangent2 = tangent2, .adjoint_tangent = adjoint_tangent}};
    b->y0 = w->y0;
    b->t1 = w->air.t1;
    b->atol = w->air.atol;
    b->functional = OZONE;          /* at the ground */
    b->stiff = 1;
    return COSTATE_OK;
}
