/* sterilisation.c - a can of food in a retort: what is left of a nutrient, by the retort's temperature v(t).

       T_t = a (T_rr + T_r/r + T_zz),   T(R, z) = T(r, L) = v,   T_r = 0 at r = 0, T_z = 0 at z = 0,   T(0) = 71.11
       C_t = -(ln 10/D) C 10^((T - 121.11)/Z) for microbes and for the nutrient,   C(0) = 1
       G = mean over the can of the nutrient at t = 8000,   v linear between equidistant nodes, 100 there

   (D. B. Ozyurt, P. I. Barton, SIAM J. Sci. Comput. 26 (2005) 1725-1743, section 4.3 and table 4.4.)  S x S points,
   r = i R/S, z = j L/S; unknown S i + j is T there, those S^2 and 2 S^2 behind it are the microbes and the nutrient,
   over 1e8.  Second differences are those of the paper; at r = 0 T_rr + T_r/r is 2 T_rr.  The mean gives each point the
   volume of the cell around it; the outermost cells end at the boundary.  Hessian products are those along the first
   node, and along T(0) at r = z = 0. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ivp.h"
#include "nodes.h"

enum { ROW = 8 };                /* entries of a row of A, at most */

static const double end = 8000;

typedef struct {
    int side, points, n, nodes;
    double *a, *b;               /* T' = A T + b v; A by rows */
    int *first, *at, *place;     /* of a: points + 1; the columns; where they are in S */
    double rate[2], slope[2];    /* a reaction's speed is rate exp(slope T) */
    double *y0, *p, *u, *weights, *times;
    costate_pattern S;
    int *col, *row;
    costate_event corners;
    double *numbers;             /* what the doubles above are parts of, and the integers */
    int *integers;
} can;

/* ---- v(t, p), its derivative by t ------------------------------------------------------------------------------- */

typedef struct { double value, slope; } line;

static line control(const can *g, double t, const double *p)
{
    double part;
    int k = nodes_interval(end, g->nodes, t, &part);
    if (!p) return (line){0, 0};
    return (line){(1 - part) * p[k] + part * p[k + 1], (p[k + 1] - p[k]) * (g->nodes - 1) / end};
}

/* its transpose: out += w by the value, and by the slope */
static void spread(const can *g, double t, line w, double *out)
{
    double part, by_slope = w.slope * (g->nodes - 1) / end;
    int k = nodes_interval(end, g->nodes, t, &part);
    out[k] += (1 - part) * w.value - by_slope;
    out[k + 1] += part * w.value + by_slope;
}

/* what v changes by along t and p */
static double along(const can *g, const costate_point *x, const costate_point *dx)
{
    return control(g, x->t, dx->p).value + (dx->t != 0 ? control(g, x->t, x->p).slope * dx->t : 0);
}

/* v is bilinear in t and p between two nodes */
static double along2(const can *g, double t, const costate_point *a, const costate_point *b)
{
    return control(g, t, a->p).slope * b->t + control(g, t, b->p).slope * a->t;
}

/* ---- T' = A T + b v --------------------------------------------------------------------------------------------- */

/* T NULL: zero */
static void heat(const can *g, const double *T, double v, double *out)
{
    for (int k = 0; k < g->points; k++) {
        out[k] = g->b[k] * v;
        for (int e = g->first[k]; T && e < g->first[k + 1]; e++) out[k] += g->a[e] * T[g->at[e]];
    }
}

static void heat_back(const can *g, const double *w, double *out)
{
    for (int k = 0; k < g->points; k++)
        for (int e = g->first[k]; e < g->first[k + 1]; e++) out[g->at[e]] += g->a[e] * w[k];
}

/* what a change of v does: b.w */
static double heat_by_v(const can *g, const double *w)
{
    double sum = 0;
    for (int k = 0; k < g->points; k++) sum += g->b[k] * w[k];
    return sum;
}

/* ---- f ---------------------------------------------------------------------------------------------------------- */

/* C' = -e C with e = rate exp(slope T): e, and the place of its C among the unknowns */
static double speed(const can *g, int of, int k, const double *y, int *C)
{
    *C = (of + 1) * g->points + k;
    return g->rate[of] * exp(g->slope[of] * y[k]);
}

static int value(const costate_point *x, double *out, void *ctx)
{
    const can *g = ctx;
    heat(g, x->y, control(g, x->t, x->p).value, out);
    for (int of = 0, C; of < 2; of++)
        for (int k = 0; k < g->points; k++) {
            double e = speed(g, of, k, x->y, &C);
            out[C] = -e * x->y[C];
        }
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const can *g = ctx;
    const double *y = x->y, *d = dx->y;
    memset(out, 0, (size_t)g->n * sizeof *out);
    heat(g, d, along(g, x, dx), out);
    for (int of = 0, C; d && of < 2; of++)
        for (int k = 0; k < g->points; k++) {
            double e = speed(g, of, k, y, &C);
            out[C] = -e * (d[C] + g->slope[of] * y[C] * d[k]);
        }
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *to, void *ctx)
{
    const can *g = ctx;
    double by_v = heat_by_v(g, w);
    if (to->t) *to->t += by_v * control(g, x->t, x->p).slope;
    if (to->p) spread(g, x->t, (line){by_v, 0}, to->p);
    if (!to->y) return 0;
    heat_back(g, w, to->y);
    for (int of = 0, C; of < 2; of++)
        for (int k = 0; k < g->points; k++) {
            double e = speed(g, of, k, x->y, &C);
            to->y[C] -= e * w[C];
            to->y[k] -= e * g->slope[of] * x->y[C] * w[C];
        }
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2, double *out, void *ctx)
{
    const can *g = ctx;
    const double *y = x->y, *d1 = dx1->y, *d2 = dx2->y;
    memset(out, 0, (size_t)g->n * sizeof *out);
    heat(g, NULL, along2(g, x->t, dx1, dx2), out);
    for (int of = 0, C; d1 && d2 && of < 2; of++)
        for (int k = 0; k < g->points; k++) {
            double e = speed(g, of, k, y, &C), s = g->slope[of];
            out[C] = -e * s * (d1[C] * d2[k] + d1[k] * d2[C] + s * y[C] * d1[k] * d2[k]);
        }
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                           const costate_gradient *to, void *ctx)
{
    const can *g = ctx;
    const double *y = x->y, *d = dx->y;
    double by_v = heat_by_v(g, w);
    if (to->t) *to->t += by_v * control(g, x->t, dx->p).slope;
    if (to->p && dx->t != 0) spread(g, x->t, (line){0, by_v * dx->t}, to->p);
    for (int of = 0, C; to->y && d && of < 2; of++)
        for (int k = 0; k < g->points; k++) {
            double e = speed(g, of, k, y, &C), s = g->slope[of];
            to->y[C] -= e * s * d[k] * w[C];
            to->y[k] -= e * s * (d[C] + s * y[C] * d[k]) * w[C];
        }
    return 0;
}

static int adjoint_tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2,
                            const double *w, const costate_gradient *to, void *ctx)
{
    const can *g = ctx;
    const double *y = x->y, *d1 = dx1->y, *d2 = dx2->y;
    for (int of = 0, C; to->y && d1 && d2 && of < 2; of++)
        for (int k = 0; k < g->points; k++) {
            double e = speed(g, of, k, y, &C), s = g->slope[of];
            to->y[C] -= e * s * s * d1[k] * d2[k] * w[C];
            to->y[k] -= e * s * s * (d1[C] * d2[k] + d1[k] * d2[C] + s * y[C] * d1[k] * d2[k]) * w[C];
        }
    return 0;
}

/* column T: its column of A, and two reactions; the others: their diagonal */
static int jacobian(const costate_point *x, double *J, void *ctx)
{
    const can *g = ctx;
    for (int e = 0; e < g->first[g->points]; e++) J[g->place[e]] = g->a[e];
    for (int of = 0, C; of < 2; of++)
        for (int k = 0; k < g->points; k++) {
            double e = speed(g, of, k, x->y, &C);
            J[g->col[k + 1] - 2 + of] = -e * g->slope[of] * x->y[C];
            J[g->col[C]] = -e;
        }
    return 0;
}

/* ---- A, b and the pattern --------------------------------------------------------------------------------------- */

/* weights of f_0 .. f_S, f_S on the boundary, in step^2 f'' at point i: one-sided at 0, lopsided at 1 */
static void second_difference(int S, int i, double factor, double *out)
{
    static const double at_0[] = {-1, 0.25, 1, -0.25}, at_1[] = {0.75, -1.25, 0.25, 0.25}, inside[] = {1, -2, 1};
    int from = i > 1 ? i - 1 : 0, count = i > 1 ? 3 : 4;
    memset(out, 0, ((size_t)S + 1) * sizeof *out);
    for (int k = 0; k < count; k++) out[from + k] = factor * (i == 0 ? at_0 : i == 1 ? at_1 : inside)[k];
}

/* of point (i, j); radial, axial: S + 1 to work in */
static void heat_row(can *g, int i, int j, double *radial, double *axial)
{
    static const double diffusivity = 1.5443e-7, R = 0.04375, L = 0.058;
    int S = g->side, k = S * i + j, e = g->first[k];
    double rr = diffusivity * S * S / (R * R), zz = diffusivity * S * S / (L * L);
    second_difference(S, i, i ? rr : 2 * rr, radial);
    second_difference(S, j, zz, axial);
    if (i) {                                            /* T_r/r, r = i steps */
        radial[i + 1] += rr / (2 * i);
        radial[i - 1] -= rr / (2 * i);
    }
    g->b[k] = radial[S] + axial[S];
    for (int l = 0; l < S; l++)
        if (l != i && radial[l] != 0) g->at[e] = S * l + j, g->a[e++] = radial[l];
    for (int l = 0; l < S; l++)
        if (l == j || axial[l] != 0) g->at[e] = S * i + l, g->a[e++] = axial[l] + (l == j ? radial[i] : 0);
    g->first[k + 1] = e;
}

/* The rows of A are entered in order: those of a column rise.  next[k] is at first the number of entries of column k,
   then the place of its next entry, and in the end where column k + 1 begins. */
static void build_pattern(can *g)
{
    int P = g->points, *next = g->col + 1;
    for (int e = 0; e < g->first[P]; e++) next[g->at[e]]++;
    for (int k = 0, sum = 0; k < g->n; k++) {
        int count = next[k] + (k < P ? 2 : 1);
        next[k] = sum;
        sum += count;
    }
    for (int k = 0; k < P; k++)
        for (int e = g->first[k]; e < g->first[k + 1]; e++) g->row[g->place[e] = next[g->at[e]]++] = k;
    for (int k = 0; k < P; k++)
        for (int of = 1; of <= 2; of++) g->row[next[k]++] = of * P + k;
    for (int k = P; k < g->n; k++) g->row[next[k]++] = k;
    g->S = (costate_pattern){g->n, g->col, g->row};
}

/* ---- the problem ------------------------------------------------------------------------------------------------ */

static void free_can(void *p)
{
    can *g = p;
    if (!g) return;
    free(g->numbers);
    free(g->integers);
    free(g);
}

static can *can_new(int S, int nodes)
{
    size_t P = (size_t)S * (size_t)S, n = 3 * P, np = (size_t)nodes, A = ROW * P;
    can *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    *g = (can){.side = S, .points = (int)P, .n = (int)n, .nodes = nodes,
               .numbers = calloc(A + P + 2 * n + np + n + np + np, sizeof(double)),
               .integers = calloc((P + 1) + 2 * A + (n + 1) + (A + 2 * P + 2 * P), sizeof(int))};
    if (!g->numbers || !g->integers) return free_can(g), NULL;
    g->a = g->numbers;
    g->b = g->a + A;
    g->y0 = g->b + P;
    g->weights = g->y0 + n;
    g->p = g->weights + n;
    g->u = g->p + np;
    g->times = g->u + n + np;
    g->first = g->integers;
    g->at = g->first + P + 1;
    g->place = g->at + A;
    g->col = g->place + A;
    g->row = g->col + n + 1;
    return g;
}

/* of the S steps of a side those nearer to point i than to another; the last cell ends at the boundary */
static double cell_begin(int i) { return i ? i - 0.5 : 0; }
static double cell_end(int S, int i) { return i == S - 1 ? S : i + 0.5; }

static void start(can *g)
{
    int S = g->side;
    for (int k = 0; k < g->n; k++) g->y0[k] = k < g->points ? 71.11 : 1;
    for (int k = 0; k < g->points; k++) {
        double r0 = cell_begin(k / S), r1 = cell_end(S, k / S), z0 = cell_begin(k % S), z1 = cell_end(S, k % S);
        g->weights[2 * g->points + k] = (r1 * r1 - r0 * r0) * (z1 - z0) / ((double)S * S * S);
    }
    for (int k = 0; k < g->nodes; k++) {
        g->p[k] = 100;
        g->times[k] = end * (k + 1) / (g->nodes - 1);
    }
    g->u[g->n] = 1;
}

static int make(ivp *b, int side, int nodes)
{
    static const double D[2] = {240, 10716}, Z[2] = {10, 25.56};
    if (side < 4 || side > 1000) return COSTATE_BAD_ARGUMENT;
    can *g = can_new(side, nodes);
    double *work = malloc(2 * ((size_t)side + 1) * sizeof *work);
    if (!g || !work) return free_can(g), free(work), COSTATE_NO_MEMORY;
    for (int of = 0; of < 2; of++) {
        g->slope[of] = log(10) / Z[of];
        g->rate[of] = log(10) / D[of] * exp(-121.11 * g->slope[of]);
    }
    for (int k = 0; k < g->points; k++) heat_row(g, k / side, k % side, work, work + side + 1);
    free(work);
    build_pattern(g);
    start(g);
    g->corners = (costate_event){.times = g->times, .ntimes = nodes - 2, .from = COSTATE_ANY_MODE,
                                 .to = COSTATE_SAME_MODE};
    *b = (ivp){.P = {.n = g->n, .np = nodes, .ctx = g, .jac = jacobian, .pattern = &g->S, .nevents = 1,
                     .event = &g->corners,
                     .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = tangent2,
                             .adjoint_tangent = adjoint_tangent, .adjoint_tangent2 = adjoint_tangent2}},
               .y0 = g->y0, .p = g->p, .t1 = end, .atol = 1e-5, .timed = 1, .weights = g->weights, .u = g->u, .nu = 1,
               .stiff = 1, .own = g, .free_own = free_can};
    return COSTATE_OK;
}

int ivp_sterilisation_10(ivp *b, int side) { return make(b, side, 10); }
int ivp_sterilisation_100(ivp *b, int side) { return make(b, side, 100); }
int ivp_sterilisation_500(ivp *b, int side) { return make(b, side, 500); }
