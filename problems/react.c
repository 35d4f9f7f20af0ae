/* react.c - a reaction and diffusion of one species on a square or a cube, 0 around it: u' = d Lap u + g(u).

   N points inside a side, unknown i + N (j + N k) at ((i + 1) h, (j + 1) h, (k + 1) h), h = 1/(N + 1).
   Combustion (S. Adjerid, J. E. Flaherty, SIAM J. Sci. Stat. Comput. 9 (1988) 792), u the temperature above that of the
   walls, which are those of the square [-1, 1]^2, scaled to the unit square:

       d = 1/4,  g(u) = R/delta (1 - u) exp(delta u/(1 + u)),  R = 5,  u(0) = 0

   A hot spot ignites and burns the square, where g' is about -R/delta exp(delta/2): -74 for delta = 10, -5500 for 20.
   Cube: d = 1, g(u) = u - u^3, u(0) = 64 x (1 - x) y (1 - y) z (1 - z). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ivp.h"

/* out += g(u), g'(u) v, g''(u) v w at n points */
typedef struct {
    void (*g)(int n, double delta, const double *u, double *restrict out);
    void (*slope)(int n, double delta, const double *u, const double *v, double *restrict out);
    void (*curvature)(int n, double delta, const double *u, const double *v, const double *w, double *restrict out);
    double (*slope_at)(double u, double delta);
} reaction;

typedef struct {
    int side, dimensions, n;
    double d;                            /* diffusion over the square of the mesh width */
    double delta;
    const reaction *by;
    double *y0;                          /* n, and behind it a row of zeros */
    int *col, *row;
    costate_pattern S;
} field;

/* ---- reactions ------------------------------------------------------------------------------------------------- */

static const double R = 5;

static inline double burn(double u, double delta) { return R / delta * (1 - u) * exp(delta * u / (1 + u)); }

/* by q = (delta u/(1 + u))' = delta/(1 + u)^2, q' = -2 q/(1 + u) */
static inline double burn_slope(double u, double delta)
{
    double q = delta / ((1 + u) * (1 + u));
    return R / delta * exp(delta * u / (1 + u)) * ((1 - u) * q - 1);
}

static inline double burn_curvature(double u, double delta)
{
    double q = delta / ((1 + u) * (1 + u));
    return R / delta * exp(delta * u / (1 + u)) * q * ((1 - u) * (q - 2 / (1 + u)) - 2);
}

static void burns(int n, double delta, const double *u, double *restrict out)
{
    for (int i = 0; i < n; i++) out[i] += burn(u[i], delta);
}

static void burn_slopes(int n, double delta, const double *u, const double *v, double *restrict out)
{
    for (int i = 0; i < n; i++) out[i] += burn_slope(u[i], delta) * v[i];
}

static void burn_curvatures(int n, double delta, const double *u, const double *v, const double *w,
                            double *restrict out)
{
    for (int i = 0; i < n; i++) out[i] += burn_curvature(u[i], delta) * v[i] * w[i];
}

static double cubic_slope(double u, double delta) { return (void)delta, 1 - 3 * u * u; }

static void cubics(int n, double delta, const double *u, double *restrict out)
{
    (void)delta;
    for (int i = 0; i < n; i++) out[i] += u[i] - u[i] * u[i] * u[i];
}

static void cubic_slopes(int n, double delta, const double *u, const double *v, double *restrict out)
{
    (void)delta;
    for (int i = 0; i < n; i++) out[i] += (1 - 3 * u[i] * u[i]) * v[i];
}

static void cubic_curvatures(int n, double delta, const double *u, const double *v, const double *w,
                             double *restrict out)
{
    (void)delta;
    for (int i = 0; i < n; i++) out[i] -= 6 * u[i] * v[i] * w[i];
}

static const reaction burning = {burns, burn_slopes, burn_curvatures, burn_slope},
                      decay = {cubics, cubic_slopes, cubic_curvatures, cubic_slope};

/* ---- diffusion ------------------------------------------------------------------------------------------------- */

/* A row and the rows beside it, across[0 .. 2 across): out = d Lap y, or is added to it */
static inline void row_of(int N, int rows, double d, const double *y, const double *const *across, double *restrict out,
                          int add)
{
    const double *s = across[0], *t = across[1], *u = across[2], *v = across[3];
    for (int i = 0; i < N; i++) {
        double x = (i ? y[i - 1] : 0) + (i < N - 1 ? y[i + 1] : 0) + s[i] + t[i];
        if (rows > 2) x += u[i] + v[i];
        x = d * (x - (rows + 2) * y[i]);
        out[i] = add ? out[i] + x : x;
    }
}

static void diffuse(const field *F, const double *y, double *out, int add)
{
    int N = F->side, rows = F->n / N, plane = N * N;
    const double *zeros = F->y0 + F->n;
    for (int k = 0; k < rows; k++) {
        const double *row = y + k * N;
        int j = k % N;
        const double *const across[] = {j ? row - N : zeros, j < N - 1 ? row + N : zeros, k >= N ? row - plane : zeros,
                                        k < rows - N ? row + plane : zeros};
        if (F->dimensions == 2) row_of(N, 2, F->d, row, across, out + k * N, add);
        else row_of(N, 4, F->d, row, across, out + k * N, add);
    }
}

static int nothing(const field *F, double *out) { return memset(out, 0, (size_t)F->n * sizeof *out), 0; }

/* ---- callbacks ------------------------------------------------------------------------------------------------- */

static int value(const costate_point *x, double *out, void *ctx)
{
    const field *F = ctx;
    diffuse(F, x->y, out, 0);
    F->by->g(F->n, F->delta, x->y, out);
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const field *F = ctx;
    if (!dx->y) return nothing(F, out);
    diffuse(F, dx->y, out, 0);
    F->by->slope(F->n, F->delta, x->y, dx->y, out);
    return 0;
}

/* the Laplacian is symmetric */
static int adjoint(const costate_point *x, const double *w, const costate_gradient *to, void *ctx)
{
    const field *F = ctx;
    if (!to->y) return 0;
    diffuse(F, w, to->y, 1);
    F->by->slope(F->n, F->delta, x->y, w, to->y);
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    const field *F = ctx;
    if (!a->y || !b->y) return nothing(F, out);
    nothing(F, out);
    F->by->curvature(F->n, F->delta, x->y, a->y, b->y, out);
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *to,
                           void *ctx)
{
    const field *F = ctx;
    if (to->y && dx->y) F->by->curvature(F->n, F->delta, x->y, dx->y, w, to->y);
    return 0;
}

static int jacobian(const costate_point *x, double *J, void *ctx)
{
    const field *F = ctx;
    for (int j = 0; j < F->n; j++)
        for (int e = F->col[j]; e < F->col[j + 1]; e++)
            J[e] = F->row[e] != j ? F->d : F->by->slope_at(x->y[j], F->delta) - 2 * F->dimensions * F->d;
    return 0;
}

/* ---- the problems ------------------------------------------------------------------------------------------------ */

static void free_field(void *p)
{
    field *F = p;
    if (!F) return;
    free(F->y0);
    free(F->col);
    free(F);
}

static field *new_field(int side, int dimensions)
{
    size_t N = (size_t)side, n = dimensions == 2 ? N * N : N * N * N, entries = 2 * (size_t)dimensions + 1;
    field *F = calloc(1, sizeof *F);
    if (!F) return NULL;
    F->side = side;
    F->dimensions = dimensions;
    F->n = (int)n;
    F->y0 = calloc(n + N, sizeof *F->y0);
    F->col = malloc((n + 1 + entries * n) * sizeof *F->col);
    if (!F->y0 || !F->col) return free_field(F), NULL;
    F->row = F->col + n + 1;
    F->S = (costate_pattern){F->n, F->col, F->row};
    return F;
}

static void put_column(field *F, int j)
{
    int N = F->side, plane = N * N, deep = F->dimensions == 3, next = F->col[j];
    if (deep && j >= plane) F->row[next++] = j - plane;
    if (j / N % N > 0) F->row[next++] = j - N;
    if (j % N > 0) F->row[next++] = j - 1;
    F->row[next++] = j;
    if (j % N < N - 1) F->row[next++] = j + 1;
    if (j / N % N < N - 1) F->row[next++] = j + N;
    if (deep && j < F->n - plane) F->row[next++] = j + plane;
    F->col[j + 1] = next;
}

static int react(ivp *b, int side, int dimensions, double d, double t1, const reaction *by, double delta)
{
    if (side < 2 || side > (dimensions == 2 ? 4000 : 250)) return COSTATE_BAD_ARGUMENT;
    field *F = new_field(side, dimensions);
    if (!F) return COSTATE_NO_MEMORY;
    F->d = d * (side + 1.0) * (side + 1.0);
    F->by = by;
    F->delta = delta;
    F->col[0] = 0;
    for (int j = 0; j < F->n; j++) put_column(F, j);
    *b = (ivp){.P = {.n = F->n, .ctx = F, .jac = jacobian, .pattern = &F->S,
                     .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = tangent2,
                             .adjoint_tangent = adjoint_tangent}},
               .y0 = F->y0, .t1 = t1, .atol = 1, .functional = IVP_SQUARES, .stiff = 1,
               .grid = {.dimensions = dimensions, .side = side, .components = 1, .d = F->d}, .own = F,
               .free_own = free_field};
    return COSTATE_OK;
}

static int combustion(ivp *b, int side, double delta)
{
    return react(b, side, 2, 0.25, 0.3, &burning, delta);
}

int ivp_combustion_10(ivp *b, int side) { return combustion(b, side, 10); }
int ivp_combustion_20(ivp *b, int side) { return combustion(b, side, 20); }

int ivp_cube(ivp *b, int side)
{
    int status = react(b, side, 3, 1, 0.1, &decay, 0);
    if (status != COSTATE_OK) return status;
    field *F = b->own;
    for (int i = 0; i < F->n; i++) {
        double h = 1.0 / (side + 1), x = (i % side + 1) * h, y = (i / side % side + 1) * h,
               z = (i / side / side + 1) * h;
        F->y0[i] = 64 * x * (1 - x) * y * (1 - y) * z * (1 - z);
    }
    return COSTATE_OK;
}
