/* waves.c - waves on a circle: u_t = v_x, v_t = u_x by central differences, a wide hump of u.

   Eigenvalues are imaginary, +-i sin(2 pi k/cells) cells.  Steps that resolve the hump may be too long for the shortest
   waves, which the hump does not contain but every gradient of one component does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ivp.h"

typedef struct { int cells; double y0[]; } waves;

/* out += s A x, A = -A^T: out_u = x_v, out_v = x_u by differences of neighbours */
static void differences(const waves *w, double s, const double *x, double *out)
{
    int n = w->cells;
    for (int i = 0; i < n; i++) {
        int left = (i + n - 1) % n, right = (i + 1) % n;
        out[i] += s * n / 2 * (x[n + right] - x[n + left]);
        out[n + i] += s * n / 2 * (x[right] - x[left]);
    }
}

static int zero(const waves *w, double *out)
{
    memset(out, 0, 2 * (size_t)w->cells * sizeof *out);
    return 0;
}

static int value(const costate_point *x, double *out, void *ctx)
{
    zero(ctx, out);
    differences(ctx, 1, x->y, out);
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x;
    zero(ctx, out);
    if (dx->y) differences(ctx, 1, dx->y, out);
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x;
    if (g->y) differences(ctx, -1, w, g->y);
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    (void)x, (void)a, (void)b;
    return zero(ctx, out);
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    (void)x, (void)dx, (void)w, (void)g, (void)ctx;
    return 0;
}

/* dense, by columns */
static int jacobian(const costate_point *x, double *J, void *ctx)
{
    int n = ((const waves *)ctx)->cells;
    size_t N = 2 * (size_t)n;
    (void)x;
    memset(J, 0, N * N * sizeof *J);
    for (int i = 0; i < n; i++) {
        size_t left = (size_t)((i + n - 1) % n), right = (size_t)((i + 1) % n), u = (size_t)i, v = (size_t)(n + i);
        J[((size_t)n + right) * N + u] += n / 2.0;
        J[((size_t)n + left) * N + u] -= n / 2.0;
        J[right * N + v] += n / 2.0;
        J[left * N + v] -= n / 2.0;
    }
    return 0;
}

int ivp_waves(ivp *b, int cells)
{
    if (cells < 3 || cells > 10000) return COSTATE_BAD_ARGUMENT;
    waves *w = calloc(1, sizeof *w + 2 * (size_t)cells * sizeof *w->y0);
    if (!w) return COSTATE_NO_MEMORY;
    w->cells = cells;
    for (int i = 0; i < cells; i++) w->y0[i] = exp(-40 * pow((i + 0.5) / cells - 0.5, 2));
    *b = (ivp){.P = {.n = 2 * cells, .ctx = w, .jac = jacobian,
                     .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = tangent2,
                             .adjoint_tangent = adjoint_tangent}},
               .y0 = w->y0, .t1 = 4, .atol = 1, .own = w, .free_own = free};
    return COSTATE_OK;
}
