/* rk.c - a Runge-Kutta method in K-form: A, b, c over all stages, dense output by slopes, and how the defect of that
   tells its error (mathematics, eq. 12.11).

   A descriptor has the table as its family needs it: an ESDIRK method without its explicit first stage, implicit ones
   with the dense output by Z = A X.

   A collocation method's u has u' - f(u) = C prod_i (theta - c_i) + ..., zero at its nodes, and the error
   h C int_0^theta prod_i (x - c_i) dx + ... (U. Ascher, J. Christiansen, R. D. Russell, Math. Comp. 33 (1979) 659): one
   defect between nodes tells the largest error in the interval.  Of other methods it is taken to be h times the
   defect. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "bvp/bvp.h"
#include "solver/families.h"

int rk_takes(const costate_method *m) { return has_implicit_stages(m); }

int costate_bvp_method_count(void)
{
    int count = 0;
    for (int k = 0; costate_method_table[k]; k++) count += rk_takes(costate_method_table[k]);
    return count;
}

const costate_method *costate_bvp_method_at(int k)
{
    for (int i = 0; k >= 0 && costate_method_table[i]; i++)
        if (rk_takes(costate_method_table[i]) && k-- == 0) return costate_method_table[i];
    return NULL;
}

/* A with the explicit first stage in front, whose column is a = A g */
static void table_with_first(rk *k, const costate_method *m)
{
    size_t s = (size_t)m->s, all = (size_t)k->s;
    k->b[0] = m->b0;
    for (size_t i = 0; i < s; i++) {
        double *row = k->A + (i + 1) * all;
        for (size_t j = 0; j < s; j++) {
            row[j + 1] = m->A[i * s + j];
            row[0] += m->A[i * s + j] * m->g[j];
        }
        k->b[i + 1] = m->b[i];
        k->c[i + 1] = m->c[i];
    }
}

static void table(rk *k, const costate_method *m)
{
    size_t s = (size_t)m->s;
    memcpy(k->A, m->A, s * s * sizeof *k->A);
    memcpy(k->b, m->b, s * sizeof *k->b);
    memcpy(k->c, m->c, s * sizeof *k->c);
}

/* D of slopes: D_j = sum_i A_ij D_i of Z; a method without W = A^-1 has slopes for its stages already */
static void dense_by_slopes(rk *k, const costate_method *m)
{
    size_t all = (size_t)k->s, first = all - (size_t)m->s, degree = (size_t)k->degree;
    if (!m->W) { memcpy(k->D, m->dense.D, all * degree * sizeof *k->D); return; }
    for (size_t i = 0; i < (size_t)m->s; i++)
        for (size_t j = 0; j < all; j++)
            for (size_t e = 0; e < degree; e++)
                k->D[j * degree + e] += k->A[(i + first) * all + j] * m->dense.D[i * degree + e];
}

void rk_weights(const rk *k, double theta, double *D, double *D1, double *D2)
{
    for (int j = 0; j < k->s; j++) {
        const double *a = k->D + (size_t)j * (size_t)k->degree;
        if (D) D[j] = dense_value(k->degree, a, theta);
        if (D1) D1[j] = dense_slope(k->degree, a, theta);
        if (D2) D2[j] = dense_second(k->degree, a, theta);
    }
}

/* ---- defects ---- */

static double product(const rk *k, double theta)
{
    double v = 1;
    for (int i = 0; i < k->s; i++) v *= theta - k->c[i];
    return v;
}

/* u(c_i) = Y_i and u'(c_i) = K_i, so that the defect is zero there */
static int collocates(const rk *k)
{
    double D[STAGES_MOST], D1[STAGES_MOST];
    const double ROUNDING = 1e-9;
    for (int i = 0; i < k->s; i++) {
        rk_weights(k, k->c[i], D, D1, NULL);
        for (int j = 0; j < k->s; j++)
            if (fabs(D[j] - k->A[i * k->s + j]) > ROUNDING || fabs(D1[j] - (i == j)) > ROUNDING) return 0;
    }
    return 1;
}

enum { GRID = 48 };             /* a share to some percent will do */

/* the largest modulus of int_0^theta prod (x - c_i) dx in [0, 1], by Simpson's rule */
static double largest_integral(const rk *k)
{
    double sum = 0, most = 0, h = 1.0 / GRID;
    for (int i = 0; i < GRID; i++) {
        sum += h / 6 * (product(k, i * h) + 4 * product(k, (i + 0.5) * h) + product(k, (i + 1) * h));
        most = fmax(most, fabs(sum));
    }
    return most;
}

/* Near the ends, which are no nodes there: a jump of f between an end and the first node is seen nowhere else.  f may
   jump at the end itself, a break. */
static const double AT_END = 1e-12;

/* Where prod (theta - c_i) is largest in each third: at the ends, or where these are nodes, inside. */
static void sample_collocation(rk *k)
{
    double most = largest_integral(k);
    k->samples = 3;
    for (int third = 0; third < 3; third++) {
        double best = 0;
        for (int i = 0; i <= GRID / 3; i++) {
            double theta = third / 3.0 + (double)i / GRID, v;
            theta = fmin(fmax(theta, AT_END), 1 - AT_END);
            v = fabs(product(k, theta));
            if (v <= best) continue;
            best = v;
            k->theta[third] = theta;
        }
        k->share[third] = most / product(k, k->theta[third]);
    }
}

static void sample(rk *k)
{
    k->collocates = collocates(k);
    if (k->collocates) { sample_collocation(k); return; }
    k->samples = SAMPLES_MOST;
    for (int i = 0; i < k->samples; i++) {
        k->theta[i] = AT_END + (1 - 2 * AT_END) * i / (k->samples - 1);
        k->share[i] = 1;
    }
}

int rk_init(rk *k, const costate_method *m, verdict *v)
{
    int first = (m->is & COSTATE_EXPLICIT_FIRST) != 0;
    size_t s = (size_t)(m->s + first);
    *k = (rk){.name = m->name, .s = m->s + first, .order = m->order, .dense = m->dense.order,
              .degree = m->dense.degree};
    k->A = calloc(s * s + 2 * s + s * (size_t)m->dense.degree, sizeof *k->A);
    if (!k->A) return fail(v, COSTATE_NO_MEMORY, "No memory for the table of %s.", m->name);
    k->b = k->A + s * s;
    k->c = k->b + s;
    k->D = k->c + s;
    (first ? table_with_first : table)(k, m);
    dense_by_slopes(k, m);
    sample(k);
    for (int i = 0; i < k->samples; i++) rk_weights(k, k->theta[i], k->at[i][0], k->at[i][1], NULL);
    return COSTATE_OK;
}

void rk_free(rk *k) { free(k->A); }
