/* bits_diffusion.c - u and v in CELLS cells, with every derivative by hand; D is the discrete Laplacian without flux
   through the ends, times 0.02:

       u' = p0 D u + u^2 v - (p1 + 1) u + 1,    v' = p0 D v + p1 u - u^2 v */
#include "bits.h"
#include <string.h>

static double laplacian(const double *y, int k)
{
    double left = k >= 2 ? y[k - 2] : y[k], right = k + 2 < N_MOST ? y[k + 2] : y[k];
    return (left - 2 * y[k] + right) * CELLS * CELLS * 0.02;
}

void diffusion(const costate_point *x, double *f)
{
    for (int k = 0; k < N_MOST; k += 2) {
        double u = x->y[k], v = x->y[k + 1], r = u * u * v;
        f[k] = x->p[0] * laplacian(x->y, k) + r - (x->p[1] + 1) * u + 1;
        f[k + 1] = x->p[0] * laplacian(x->y, k + 1) + x->p[1] * u - r;
    }
}

void diffusion_tangent(const costate_point *x, const costate_point *dx, double *out)
{
    memset(out, 0, N_MOST * sizeof *out);
    for (int k = 0; k < N_MOST; k += 2) {
        double u = x->y[k], v = x->y[k + 1];
        if (dx->y) {
            double du = dx->y[k], dv = dx->y[k + 1], r = 2 * u * v * du + u * u * dv;
            out[k] = x->p[0] * laplacian(dx->y, k) + r - (x->p[1] + 1) * du;
            out[k + 1] = x->p[0] * laplacian(dx->y, k + 1) + x->p[1] * du - r;
        }
        if (dx->p) {
            out[k] += dx->p[0] * laplacian(x->y, k) - dx->p[1] * u;
            out[k + 1] += dx->p[0] * laplacian(x->y, k + 1) + dx->p[1] * u;
        }
    }
}

/* D is symmetric */
void diffusion_adjoint(const costate_point *x, const double *w, const costate_gradient *g)
{
    for (int k = 0; k < N_MOST; k += 2) {
        double u = x->y[k], v = x->y[k + 1], d = w[k] - w[k + 1];
        if (g->y) {
            g->y[k] += x->p[0] * laplacian(w, k) + 2 * u * v * d - (x->p[1] + 1) * w[k] + x->p[1] * w[k + 1];
            g->y[k + 1] += x->p[0] * laplacian(w, k + 1) + u * u * d;
        }
        if (g->p) {
            g->p[0] += laplacian(x->y, k) * w[k] + laplacian(x->y, k + 1) * w[k + 1];
            g->p[1] += -u * d;
        }
    }
}

void diffusion_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                               const costate_gradient *g)
{
    double a = dx->p ? dx->p[0] : 0, b = dx->p ? dx->p[1] : 0;
    for (int k = 0; k < N_MOST; k += 2) {
        double u = x->y[k], v = x->y[k + 1], du = dx->y ? dx->y[k] : 0, dv = dx->y ? dx->y[k + 1] : 0;
        double d = w[k] - w[k + 1];
        if (g->y) {
            g->y[k] += a * laplacian(w, k) + 2 * (du * v + u * dv) * d - b * d;
            g->y[k + 1] += a * laplacian(w, k + 1) + 2 * u * du * d;
        }
        if (g->p) {
            g->p[0] += dx->y ? laplacian(dx->y, k) * w[k] + laplacian(dx->y, k + 1) * w[k + 1] : 0;
            g->p[1] += -du * d;
        }
    }
}

/* row by row, from the adjoint of each */
void diffusion_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out)
{
    for (int k = 0; k < N_MOST; k++) {
        double w[N_MOST] = {0}, gy[N_MOST] = {0}, gp[NP] = {0};
        costate_gradient g = {.y = gy, .p = gp};
        w[k] = 1;
        diffusion_adjoint_tangent(x, a, w, &g);
        out[k] = 0;
        for (int i = 0; b->y && i < N_MOST; i++) out[k] += gy[i] * b->y[i];
        for (int i = 0; b->p && i < NP; i++) out[k] += gp[i] * b->p[i];
    }
}

/* of column j: its own cell, and the same species in the neighbours */
costate_pattern diffusion_pattern(diffusion_entries *e)
{
    int next = 0;
    e->col[0] = 0;
    for (int j = 0; j < N_MOST; j++) {
        for (int i = j < 3 ? 0 : j - 3; i < N_MOST && i <= j + 3; i++)
            if (i / 2 == j / 2 || i == j - 2 || i == j + 2) e->row[next++] = i;
        e->col[j + 1] = next;
    }
    return (costate_pattern){N_MOST, e->col, e->row};
}
