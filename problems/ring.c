/* ring.c - the ring modulator, an electrical circuit that multiplies a signal of 1 kHz by a carrier of 10 kHz in a
   ring of four diodes (Test Set for IVP Solvers, problem RINGMOD).

   y[0 .. 6] are voltages, y[7 .. 14] currents through inductances.  z = (y[2], .. y[6]) are the voltages in the ring.
   The voltages at the diodes and their currents are

       U_k = C_k . z + C_k[4] carrier(t),   q(U) = gamma (exp(delta U) - 1)

   with the incidence matrix C, and y' = A y + e(t) with - C_k q(U_k)/capacity added to z', summed over k.  The
   capacitances between the diodes are 2e-12: where diodes conduct the circuit is stiff, elsewhere it oscillates.

   t is from 0 to 1e-4, one period of the carrier; the gradient in question is that of y[0](1e-4). */
#include <math.h>
#include <string.h>

#include "ivp.h"

enum { N = 15, DIODES = 4, RING = 5, FIRST = 2, SIGNAL = 13 };

/* farad, henry, ohm; the current of a diode: ampere, 1/volt */
#define C0 1.6e-8
#define CS 2e-12
#define CP 1e-8
#define LH 4.45
#define LS1 0.002
#define LS2 5e-4
#define R0 25000.0
#define RP 50.0
#define RG1 36.3
#define RG2 17.3
#define RI 50.0
#define RC 600.0
static const double GAMMA = 40.67286402e-9, DELTA = 17.7493332, PI = 3.14159265358979323846;

/* A */
static const struct { int row, column; double a; } linear[] = {
    {0, 7, 1 / C0}, {0, 9, -0.5 / C0}, {0, 10, 0.5 / C0}, {0, 13, 1 / C0}, {0, 0, -1 / (R0 * C0)},
    {1, 8, 1 / C0}, {1, 11, -0.5 / C0}, {1, 12, 0.5 / C0}, {1, 14, 1 / C0}, {1, 1, -1 / (R0 * C0)},
    {2, 9, 1 / CS}, {3, 10, -1 / CS}, {4, 11, 1 / CS}, {5, 12, -1 / CS}, {6, 6, -1 / (RP * CP)},
    {7, 0, -1 / LH}, {8, 1, -1 / LH},
    {9, 0, 0.5 / LS2}, {9, 2, -1 / LS2}, {9, 9, -RG2 / LS2}, {10, 0, -0.5 / LS2}, {10, 3, 1 / LS2},
    {10, 10, -RG2 / LS2}, {11, 1, 0.5 / LS2}, {11, 4, -1 / LS2}, {11, 11, -RG2 / LS2}, {12, 1, -0.5 / LS2},
    {12, 5, 1 / LS2}, {12, 12, -RG2 / LS2},
    {13, 0, -1 / LS1}, {13, 13, -(RI + RG1) / LS1}, {14, 1, -1 / LS1}, {14, 14, -(RC + RG1) / LS1},
};
enum { LINEAR = sizeof linear / sizeof *linear };

static const double C[DIODES][RING] = {{1, 0, -1, 0, -1}, {0, -1, 0, 1, -1}, {0, 1, 1, 0, 1}, {-1, 0, 0, -1, 1}};
static const double capacity[RING] = {CS, CS, CS, CS, CP};

static const double zero[N] = {0};

/* amplitude sin(w t), or its derivative of this order */
static double sine(double amplitude, double w, double t, int order)
{
    const double of[] = {sin(w * t), w * cos(w * t), -w * w * sin(w * t)};
    return amplitude * of[order];
}
static double signal(double t, int order) { return sine(0.5, 2e3 * PI, t, order); }
static double carrier(double t, int order) { return sine(2, 2e4 * PI, t, order); }

static double at_diode(int k, const double *y)
{
    double u = 0;
    for (int i = 0; i < RING; i++) u += C[k][i] * y[FIRST + i];
    return u;
}
static double voltage(int k, const costate_point *x) { return at_diode(k, x->y) + C[k][4] * carrier(x->t, 0); }

/* dU_k along dx */
static double voltage1(int k, double t, const costate_point *dx)
{
    return (dx->y ? at_diode(k, dx->y) : 0) + C[k][4] * carrier(t, 1) * dx->t;
}

/* q(U), or its derivative of this order */
static double current(double U, int order)
{
    double e = exp(DELTA * U);
    return GAMMA * (order == 0 ? e - 1 : order == 1 ? DELTA * e : DELTA * DELTA * e);
}

/* the current q through diode k, in y' */
static void drive(int k, double q, double *out)
{
    for (int i = 0; i < RING; i++) out[FIRST + i] -= C[k][i] / capacity[i] * q;
}

/* what the weights w of y' say of q */
static double weight(int k, const double *w)
{
    double s = 0;
    for (int i = 0; i < RING; i++) s -= C[k][i] / capacity[i] * w[FIRST + i];
    return s;
}

static void times_A(const double *y, double *out)
{
    memset(out, 0, N * sizeof *out);
    for (int e = 0; e < LINEAR; e++) out[linear[e].row] += linear[e].a * y[linear[e].column];
}

static int value(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    times_A(x->y, out);
    out[SIGNAL] += signal(x->t, 0) / LS1;
    for (int k = 0; k < DIODES; k++) drive(k, current(voltage(k, x), 0), out);
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)ctx;
    times_A(dx->y ? dx->y : zero, out);
    out[SIGNAL] += signal(x->t, 1) / LS1 * dx->t;
    for (int k = 0; k < DIODES; k++) drive(k, current(voltage(k, x), 1) * voltage1(k, x->t, dx), out);
    return 0;
}

static void to_ring(int k, double s, double *g)
{
    for (int i = 0; i < RING; i++) g[FIRST + i] += s * C[k][i];
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    for (int e = 0; g->y && e < LINEAR; e++) g->y[linear[e].column] += linear[e].a * w[linear[e].row];
    if (g->t) *g->t += signal(x->t, 1) / LS1 * w[SIGNAL];
    for (int k = 0; k < DIODES; k++) {
        double s = weight(k, w) * current(voltage(k, x), 1);
        if (g->y) to_ring(k, s, g->y);
        if (g->t) *g->t += s * C[k][4] * carrier(x->t, 1);
    }
    return 0;
}

/* the second derivative of U_k: it is by t alone */
static double voltage2(int k, double t, double dt1, double dt2) { return C[k][4] * carrier(t, 2) * dt1 * dt2; }

static int tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2, double *out, void *ctx)
{
    (void)ctx;
    memset(out, 0, N * sizeof *out);
    out[SIGNAL] = signal(x->t, 2) / LS1 * dx1->t * dx2->t;
    for (int k = 0; k < DIODES; k++) {
        double U = voltage(k, x), U1 = voltage1(k, x->t, dx1), U2 = voltage1(k, x->t, dx2);
        drive(k, current(U, 2) * U1 * U2 + current(U, 1) * voltage2(k, x->t, dx1->t, dx2->t), out);
    }
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    (void)ctx;
    if (g->t) *g->t += signal(x->t, 2) / LS1 * dx->t * w[SIGNAL];
    for (int k = 0; k < DIODES; k++) {
        double U = voltage(k, x), q = weight(k, w), s = q * current(U, 2) * voltage1(k, x->t, dx);
        if (g->y) to_ring(k, s, g->y);
        if (g->t) *g->t += s * C[k][4] * carrier(x->t, 1) + q * current(U, 1) * voltage2(k, x->t, dx->t, 1);
    }
    return 0;
}

static int jacobian(const costate_point *x, double *J, void *ctx)
{
    (void)ctx;
    memset(J, 0, N * N * sizeof *J);
    for (int e = 0; e < LINEAR; e++) J[N * linear[e].column + linear[e].row] += linear[e].a;
    for (int k = 0; k < DIODES; k++) {
        double s = current(voltage(k, x), 1);
        for (int j = 0; j < RING; j++) drive(k, s * C[k][j], J + N * (FIRST + j));
    }
    return 0;
}

int ivp_ring(ivp *b, int unused)
{
    (void)unused;
    *b = (ivp){.P = {.n = N, .jac = jacobian, .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint,
                                                      .tangent2 = tangent2, .adjoint_tangent = adjoint_tangent}},
               .y0 = zero, .t1 = 1e-4, .atol = 1e-2, .timed = 1, .stiff = 1};
    return COSTATE_OK;
}
