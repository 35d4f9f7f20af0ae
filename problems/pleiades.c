/* pleiades.c - seven stars in a plane that attract each other (E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary
   Differential Equations I, section II.10): positions r_i and velocities r_i', masses m_i = i,

       r_i'' = sum over j of m_j F(r_j - r_i),   F(d) = d/|d|^3,

   y = (x_1 .. x_7, y_1 .. y_7, x_1' .. x_7', y_1' .. y_7').  Close encounters need short steps; it is not stiff.  The
   gradient in question is that of x_1(3).

   Derivatives of F, both symmetric in all their arguments but d:

       F'(d) u = u/r^3 - 3 (d.u) d/r^5,
       F''(d)(u, v) = -3 ((d.u) v + (d.v) u + (u.v) d)/r^5 + 15 (d.u)(d.v) d/r^7 */
#include <math.h>
#include <string.h>

#include "ivp.h"

enum { STARS = 7, N = 4 * STARS, VELOCITY = 2 * STARS };

typedef struct { double x, y; } vector;

static const double start[N] = {3, 3, -1, -3, 2, -2, 2, 3, -3, 2, 0, 0, -4, 4,
                                0, 0, 0, 0, 0, 1.75, -1.5, 0, 0, 0, -1.25, 1, 0, 0};

static double mass(int i) { return i + 1; }
static double dot(vector a, vector b) { return a.x * b.x + a.y * b.y; }
static vector sum(double s, vector a, double t, vector b) { return (vector){s * a.x + t * b.x, s * a.y + t * b.y}; }
static vector star(const double *y, int i) { return (vector){y[i], y[STARS + i]}; }
static vector between(const double *y, int i, int j) { return sum(1, star(y, j), -1, star(y, i)); }

static void put(double *out, int i, double s, vector a)
{
    out[i] += s * a.x;
    out[STARS + i] += s * a.y;
}

static vector force(vector d)
{
    double q = dot(d, d);
    return sum(1 / (q * sqrt(q)), d, 0, d);
}

static vector force1(vector d, vector u)
{
    double q = dot(d, d), cube = q * sqrt(q);
    return sum(1 / cube, u, -3 * dot(d, u) / (cube * q), d);
}

static vector force2(vector d, vector u, vector v)
{
    double q = dot(d, d), fifth = q * q * sqrt(q), du = dot(d, u), dv = dot(d, v);
    vector a = sum(du, v, dv, u);
    return sum(-3 / fifth, a, (15 * du * dv / q - 3 * dot(u, v)) / fifth, d);
}

/* accelerations += those of F(r_j - r_i), or of its derivatives along V, and W; NULL: the value, or only along V */
static void attract(const double *y, const double *V, const double *W, double *out)
{
    for (int i = 0; i < STARS; i++)
        for (int j = i + 1; j < STARS; j++) {
            vector d = between(y, i, j);
            vector f = W ? force2(d, between(V, i, j), between(W, i, j)) : V ? force1(d, between(V, i, j)) : force(d);
            put(out + VELOCITY, i, mass(j), f);
            put(out + VELOCITY, j, -mass(i), f);
        }
}

/* g += the transposed of the derivative at y, or of the second one along V, times the weights w of accelerations */
static void attract_back(const double *y, const double *V, const double *w, double *g)
{
    for (int i = 0; i < STARS; i++)
        for (int j = i + 1; j < STARS; j++) {
            vector d = between(y, i, j), u = sum(mass(j), star(w, i), -mass(i), star(w, j));
            vector f = V ? force2(d, u, between(V, i, j)) : force1(d, u);
            put(g, j, 1, f);
            put(g, i, -1, f);
        }
}

static void move(const double *from, double *out)
{
    memcpy(out, from + VELOCITY, VELOCITY * sizeof *out);
    memset(out + VELOCITY, 0, VELOCITY * sizeof *out);
}

static int nothing(double *out) { return memset(out, 0, N * sizeof *out), 0; }

static int value(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    move(x->y, out);
    attract(x->y, NULL, NULL, out);
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)ctx;
    if (!dx->y) return nothing(out);
    move(dx->y, out);
    attract(x->y, dx->y, NULL, out);
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (!g->y) return 0;
    attract_back(x->y, NULL, w + VELOCITY, g->y);
    for (int i = 0; i < VELOCITY; i++) g->y[VELOCITY + i] += w[i];
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2, double *out, void *ctx)
{
    (void)ctx;
    nothing(out);
    if (dx1->y && dx2->y) attract(x->y, dx1->y, dx2->y, out);
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    (void)ctx;
    if (g->y && dx->y) attract_back(x->y, dx->y, w + VELOCITY, g->y);
    return 0;
}

/* column k of d r''/d r, and its opposite, of the attraction of i and j along one axis */
static void pair_columns(double *J, int i, int j, int axis, vector f)
{
    const int from[] = {i, j};
    for (int k = 0; k < 2; k++) {
        double *column = J + (size_t)N * (size_t)(axis * STARS + from[k]) + VELOCITY, s = k ? 1 : -1;
        put(column, i, s * mass(j), f);
        put(column, j, -s * mass(i), f);
    }
}

static int jacobian(const costate_point *x, double *J, void *ctx)
{
    (void)ctx;
    memset(J, 0, (size_t)N * N * sizeof *J);
    for (int i = 0; i < VELOCITY; i++) J[(size_t)N * (size_t)(VELOCITY + i) + (size_t)i] = 1;
    for (int i = 0; i < STARS; i++)
        for (int j = i + 1; j < STARS; j++) {
            vector d = between(x->y, i, j);
            pair_columns(J, i, j, 0, force1(d, (vector){1, 0}));
            pair_columns(J, i, j, 1, force1(d, (vector){0, 1}));
        }
    return 0;
}

int ivp_pleiades(ivp *b, int unused)
{
    (void)unused;
    *b = (ivp){.P = {.n = N, .jac = jacobian, .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint,
                                                      .tangent2 = tangent2, .adjoint_tangent = adjoint_tangent}},
               .y0 = start, .t1 = 3, .atol = 1};
    return COSTATE_OK;
}
