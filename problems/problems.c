/* problems.c - the table of test problems: each is its formula, its data and what is known of its solution.

   rober      H. H. Robertson (1966), in J. Walsh (ed.), Numerical Analysis: an Introduction, 178-182
   orego      R. J. Field, R. M. Noyes, J. Chem. Phys. 60 (1974) 1877-1884
   hires      E. Schaefer, J. Math. Biol. 2 (1975) 41-56; as in Hairer, Wanner, Solving ODEs II, section IV.10
   vdpol      Hairer, Wanner, Solving ODEs II, section IV.1: scaled time, p0 = mu^-2 (mild: a larger p0)
   lv         A. J. Lotka (1910), V. Volterra (1926), with rates
   detest     T. E. Hull et al., SIAM J. Numer. Anal. 9 (1972) 603-637, A3 and B2
   rotor      closed form, see below; rotor_dae: the same as an index-1 DAE */
#include "problems.h"

#include <string.h>

#include "formula.h"
#include "known.h"

#define UNUSED(x) ((void)(x))

/* ---- formulas ------------------------------------------------------------------------------------------ */

void problem_robertson(const formula *s, num t, const num *y, const num *p, num *f)
{
    num a = mul(p[0], y[0]), b = mul3(p[1], y[1], y[2]), c = mul(p[2], square(y[1]));
    UNUSED(s), UNUSED(t);
    f[0] = sub(b, a);
    f[1] = sub(sub(a, b), c);
    f[2] = c;
}
static void rober_r(const formula *s, num t, const num *y, const num *p, num *r)
{
    UNUSED(s), UNUSED(t), UNUSED(p);
    r[0] = y[2];
}

static void orego_f(const formula *s, num t, const num *y, const num *p, num *f)
{
    num yy = mul(y[0], y[1]);
    UNUSED(s), UNUSED(t);
    f[0] = mul(p[0], sub(sub(add(y[1], y[0]), yy), mul(p[1], square(y[0]))));
    f[1] = over(sub(sub(y[2], y[1]), yy), p[0]);
    f[2] = mul(p[2], sub(y[0], y[2]));
}
static void orego_r(const formula *s, num t, const num *y, const num *p, num *r)
{
    UNUSED(s), UNUSED(t);
    r[0] = mul(p[2], y[2]);
}

static void hires_f(const formula *s, num t, const num *y, const num *k, num *f)
{
    num bind = mul3(k[6], y[5], y[7]);
    UNUSED(s), UNUSED(t);
    f[0] = add(add(sub(mul(k[1], y[1]), mul(k[0], y[0])), mul(k[5], y[2])), k[9]);
    f[1] = sub(mul(k[0], y[0]), mul(add(k[1], k[2]), y[1]));
    f[2] = sub(add(mul(k[1], y[3]), mul(k[4], y[4])), mul(add(k[0], k[5]), y[2]));
    f[3] = sub(add(mul(k[2], y[1]), mul(k[0], y[2])), mul(add(k[1], k[3]), y[3]));
    f[4] = sub(mul(k[1], add(y[5], y[6])), mul(add(k[0], k[4]), y[4]));
    f[5] = sub(add(add(mul(k[3], y[3]), mul(k[0], y[4])), mul(k[7], y[6])), add(bind, mul(k[1], y[5])));
    f[6] = sub(bind, mul(add(add(k[1], k[7]), k[8]), y[6]));
    f[7] = times(-1, f[6]);
}
static void hires_r(const formula *s, num t, const num *y, const num *p, num *r)
{
    UNUSED(s), UNUSED(t);
    r[0] = mul3(p[6], y[5], y[7]);
}

static void vdpol_f(const formula *s, num t, const num *y, const num *p, num *f)
{
    UNUSED(s), UNUSED(t);
    f[0] = y[1];
    f[1] = over(sub(mul(sub(number(1), square(y[0])), y[1]), y[0]), p[0]);
}
static void half_square_r(const formula *s, num t, const num *y, const num *p, num *r)
{
    UNUSED(t), UNUSED(p);
    r[0] = number(0);
    for (int i = 0; i < (s->n == 3 ? 3 : 1); i++) r[0] = add(r[0], times(0.5, square(y[i])));
}

static void lv_f(const formula *s, num t, const num *y, const num *p, num *f)
{
    num yy = mul(y[0], y[1]);
    UNUSED(s), UNUSED(t);
    f[0] = sub(mul(p[0], y[0]), mul(p[1], yy));
    f[1] = sub(mul(p[3], yy), mul(p[2], y[1]));
}
static void lv_r(const formula *s, num t, const num *y, const num *p, num *r)
{
    UNUSED(s), UNUSED(t);
    r[0] = add(times(0.5, square(plus(y[0], -1))), mul(p[1], y[1]));
}

static void detest_A3_f(const formula *s, num t, const num *y, const num *p, num *f)
{
    UNUSED(s);
    f[0] = mul3(p[0], y[0], cosine(t));
}

static void detest_B2_f(const formula *s, num t, const num *y, const num *p, num *f)
{
    UNUSED(s), UNUSED(t);
    f[0] = mul(p[0], sub(y[1], y[0]));
    f[1] = mul(p[0], add(sub(y[0], times(2, y[1])), y[2]));
    f[2] = mul(p[0], sub(y[1], y[2]));
}

/* Rotor: z = ln y turns by the angle a = int p0 (1 + p1 cos t) dt,

       y0' = -a'(t) y0 ln y1,   y1' = a'(t) y1 ln y0,   q' = 2 a' ln y0 ln y1 = -(ln^2 y0)'.

   Nonlinear and non-autonomous, so that every order condition counts; smooth and bounded. */
static num rotor_rate(num t, const num *p) { return mul(p[0], plus(mul(p[1], cosine(t)), 1)); }
static num rotor_angle(num t, const num *p) { return mul(p[0], add(t, mul(p[1], sine(t)))); }

static void rotor_f(const formula *s, num t, const num *y, const num *p, num *f)
{
    num w = rotor_rate(t, p);
    UNUSED(s);
    f[0] = times(-1, mul3(w, y[0], logarithm(y[1])));
    f[1] = mul3(w, y[1], logarithm(y[0]));
}
static void rotor_r(const formula *s, num t, const num *y, const num *p, num *r)
{
    UNUSED(s);
    r[0] = times(2, mul3(rotor_rate(t, p), logarithm(y[0]), logarithm(y[1])));
}
static void rotor_solution(num t0, const num *y0, num t, const num *p, num *yq)
{
    num a = sub(rotor_angle(t, p), rotor_angle(t0, p)), c = cosine(a), s = sine(a);
    num z0 = logarithm(y0[0]), z1 = logarithm(y0[1]);
    num x0 = sub(mul(c, z0), mul(s, z1)), x1 = add(mul(s, z0), mul(c, z1));
    yq[0] = exponential(x0);
    yq[1] = exponential(x1);
    yq[2] = sub(square(z0), square(x0));
}

/* Rotor as a DAE: the unknown x2 = ln y1 by the constraint x1 = exp(x2), x0 = y0 + x2/2 so that the kernel of M is
   no axis, and the three equations mixed by L = [1 0 1; 1/2 1 0; 1 -1 1] so that M = L diag(1,1,0) dy/dx is not
   diagonal.  Index 1. */
static const double rotor_dae_M[] = {1, 0.5, 1, 0, 1, -1, -0.5, -0.25, -0.5};

static void rotor_dae_f(const formula *s, num t, const num *x, const num *p, num *f)
{
    num w = rotor_rate(t, p), y0 = sub(x[0], times(0.5, x[2]));
    num g0 = times(-1, mul3(w, y0, x[2])), g1 = mul3(w, x[1], logarithm(y0));
    num g2 = sub(x[1], exponential(x[2]));
    UNUSED(s);
    f[0] = add(g0, g2);
    f[1] = add(times(0.5, g0), g1);
    f[2] = add(sub(g0, g1), g2);
}
static void rotor_dae_r(const formula *s, num t, const num *x, const num *p, num *r)
{
    UNUSED(s);
    r[0] = times(2, mul3(rotor_rate(t, p), logarithm(sub(x[0], times(0.5, x[2]))), x[2]));
}
static void rotor_dae_solution(num t0, const num *x0, num t, const num *p, num *xq)
{
    num y0[2] = {sub(x0[0], times(0.5, x0[2])), x0[1]}, yq[3];
    rotor_solution(t0, y0, t, p, yq);
    xq[2] = logarithm(yq[1]);
    xq[1] = yq[1];
    xq[0] = add(yq[0], times(0.5, xq[2]));
    xq[3] = yq[2];
}

/* ---- the table ------------------------------------------------------------------------------------------- */

static const formula rober_formula = {.n = 3, .np = 3, .nq = 1, .f = problem_robertson, .r = rober_r};
static const formula orego_formula = {.n = 3, .np = 3, .nq = 1, .f = orego_f, .r = orego_r};
static const formula hires_formula = {.n = 8, .np = 10, .nq = 1, .f = hires_f, .r = hires_r};
static const formula vdpol_formula = {.n = 2, .np = 1, .nq = 1, .f = vdpol_f, .r = half_square_r};
static const formula lv_formula = {.n = 2, .np = 4, .nq = 1, .f = lv_f, .r = lv_r};
static const formula detest_A3_formula = {.n = 1, .np = 1, .nq = 1, .f = detest_A3_f, .r = half_square_r};
static const formula detest_B2_formula = {.n = 3, .np = 1, .nq = 1, .f = detest_B2_f, .r = half_square_r};
static const formula rotor_formula = {.n = 2, .np = 2, .nq = 1, .f = rotor_f, .r = rotor_r};
static const formula rotor_dae_formula = {
    .n = 3, .np = 2, .nq = 1, .f = rotor_dae_f, .r = rotor_dae_r, .M = rotor_dae_M
};

static const double vdpol_y0[] = {2, -0.66}, mu_1e3[] = {1e-6}, mu_1e6[] = {1e-12};
/* far from linear, so that errors of order 8 and 9 show before round-off and slopes are clean */
static const double rotor_p[] = {3, 0.8};
static const double rotor_y0[] = {1.6, 1.2};
static const double rotor_dae_y0[] = {1.6 + 0.091160778396977313106, 1.2, 0.18232155679395462621};   /* x2 = ln 1.2 */

#define FORMULA_PROBLEM(F, N, NP, MASS)                                                                  \
    {.n = N, .np = NP, .nq = 1, .ctx = (void *)&F, .rhs = FORMULA_RHS, .cost = FORMULA_COST,             \
     .jac = formula_jac, .mass = MASS}

static const problem table[] = {
    {"rober_4e7", 0, 4e7, rober_4e7_y0, rober_4e7_p0, FORMULA_PROBLEM(rober_formula, 3, 3, NULL),
     1, 1, MASS_IDENTITY, &rober_4e7_reference, NULL},
    {"orego", 0, 360, orego_y0, orego_p0, FORMULA_PROBLEM(orego_formula, 3, 3, NULL),
     1, 1, MASS_IDENTITY, &orego_reference, NULL},
    {"hires", 0, 321.8122, hires_y0, hires_p0, FORMULA_PROBLEM(hires_formula, 8, 10, NULL),
     1, 1, MASS_IDENTITY, &hires_reference, NULL},
    {"vdpol_mild", 0, 0.5, vdpol_mild_y0, vdpol_mild_p0, FORMULA_PROBLEM(vdpol_formula, 2, 1, NULL),
     1, 1, MASS_IDENTITY, &vdpol_mild_reference, NULL},
    {"lv", 0, 10, lv_y0, lv_p0, FORMULA_PROBLEM(lv_formula, 2, 4, NULL),
     1, 0, MASS_IDENTITY, &lv_reference, NULL},
    {"detest_A3", 0, 20, detest_A3_y0, detest_A3_p0, FORMULA_PROBLEM(detest_A3_formula, 1, 1, NULL),
     0, 0, MASS_IDENTITY, &detest_A3_reference, NULL},
    {"detest_B2", 0, 20, detest_B2_y0, detest_B2_p0, FORMULA_PROBLEM(detest_B2_formula, 3, 1, NULL),
     1, 0, MASS_IDENTITY, &detest_B2_reference, NULL},
    {"rotor", 0.2, 1.7, rotor_y0, rotor_p, FORMULA_PROBLEM(rotor_formula, 2, 2, NULL),
     0, 0, MASS_IDENTITY, NULL, rotor_solution},
    {"rotor_dae", 0.2, 1.7, rotor_dae_y0, rotor_p, FORMULA_PROBLEM(rotor_dae_formula, 3, 2, formula_mass),
     0, 1, MASS_SINGULAR, NULL, rotor_dae_solution},
    {"vdpol_1e3", 0, 2, vdpol_y0, mu_1e3, FORMULA_PROBLEM(vdpol_formula, 2, 1, NULL),
     1, 1, MASS_IDENTITY, NULL, NULL},
    {"vdpol_1e6", 0, 2, vdpol_y0, mu_1e6, FORMULA_PROBLEM(vdpol_formula, 2, 1, NULL),
     1, 1, MASS_IDENTITY, NULL, NULL},
};

const problem *problem_at(int k)
{
    return k >= 0 && k < (int)(sizeof table / sizeof table[0]) ? &table[k] : NULL;
}

const problem *problem_find(const char *name)
{
    const problem *b;
    for (int k = 0; (b = problem_at(k)) != NULL; k++)
        if (strcmp(b->name, name) == 0) return b;
    return NULL;
}

/* ---- the synthetic family ---------------------------------------------------------------------------------- */

/* f_y is tridiagonal with rates of about -1.2, -7.3, -2.9.  Autonomous: t is replaced by 0.3, its value at the
   start, so that both have the same consistent initial values. */
static void synthetic_f(const formula *s, num t, const num *y, const num *p, num *f)
{
    num p0 = s->np ? p[0] : number(1.2), p1 = s->np ? p[1] : number(0.7);
    num u = s->autonomous ? number(0.3) : t;
    f[0] = add(sub(mul(p1, square(y[1])), mul(p0, y[0])), cosine(times(2, u)));
    f[1] = add(sub(mul3(p1, y[0], y[2]), times(7, y[1])),
               add(over(times(2, sine(u)), plus(square(y[0]), 1)), y[2]));
    f[2] = sub(plus(mul3(p0, y[1], exponential(times(-0.5, u))), 1),
               add(times(3, y[2]), times(0.5, mul(y[1], y[2]))));
}
static void synthetic_r(const formula *s, num t, const num *y, const num *p, num *r)
{
    num p0 = s->np ? p[0] : number(1.2), p1 = s->np ? p[1] : number(0.7);
    num u = s->autonomous ? number(0.3) : t;
    r[0] = add(square(y[0]), mul3(p0, y[1], sine(u)));
    r[1] = sub(mul(y[1], y[2]), mul3(p1, u, exponential(times(-1, y[0]))));
}

static const double synthetic_p[] = {1.2, 0.7};
static const double synthetic_y0[] = {0.8, 0.25, 0.545764677034948290915637};   /* f0 - f1 + f2 = 0 */

/* regular, not symmetric; singular: rank 2, left and right kernel (1, -1, 1), positive semidefinite */
static const double regular_M[] = {2, -0.3, 0.1, 0.5, 1.5, 0.2, 0, 0.4, 1};
static const double singular_M[] = {2, 1.25, -0.75, 2, 2.25, 0.25, 0, 1, 1};

static const int tridiagonal_col[] = {0, 2, 5, 7}, tridiagonal_row[] = {0, 1, 0, 1, 2, 1, 2};
static const int hessenberg_col[] = {0, 3, 6, 8}, hessenberg_row[] = {0, 1, 2, 0, 1, 2, 1, 2};
static const costate_pattern tridiagonal = {3, tridiagonal_col, tridiagonal_row};
static const costate_pattern hessenberg = {3, hessenberg_col, hessenberg_row};

/* what the switches select; the words are pasted: m in 0 1 2, np and nq in 0 2, the others in 0 1 */
#define MATRIX_0 NULL
#define MATRIX_1 regular_M
#define MATRIX_2 singular_M
#define MASS_CALL_0 NULL
#define MASS_CALL_1 formula_mass
#define MASS_CALL_2 formula_mass
#define MASS_KIND_0 MASS_IDENTITY
#define MASS_KIND_1 MASS_REGULAR
#define MASS_KIND_2 MASS_SINGULAR
#define MASS_NAME_0 "identity"
#define MASS_NAME_1 "regular"
#define MASS_NAME_2 "singular"
#define TIME_NAME_0 ", f(t,y)"
#define TIME_NAME_1 ", f(y)"
#define P_NAME_0 ""
#define P_NAME_2 ", p"
#define P_VALUE_0 NULL
#define P_VALUE_2 synthetic_p
#define Q_NAME_0 ""
#define Q_NAME_2 ", q"
#define Q_CALL_0 NULL
#define Q_CALL_2 synthetic_r
#define COST_0 {.value = NULL}
#define COST_2 FORMULA_COST
#define SPARSE_NAME_0 ""
#define SPARSE_NAME_1 ", sparse"
#define PATTERN_0_0 NULL
#define PATTERN_1_0 NULL
#define PATTERN_2_0 NULL
#define PATTERN_0_1 &tridiagonal
#define PATTERN_1_1 &hessenberg
#define PATTERN_2_1 &hessenberg

/* all 48, sparse fastest: X(index, mass, autonomous, np, nq, sparse) */
#define OVER_SPARSE(X, k, m, a, p, q) X(k, m, a, p, q, 0) X(k + 1, m, a, p, q, 1)
#define OVER_Q(X, k, m, a, p) OVER_SPARSE(X, k, m, a, p, 0) OVER_SPARSE(X, k + 2, m, a, p, 2)
#define OVER_P(X, k, m, a) OVER_Q(X, k, m, a, 0) OVER_Q(X, k + 4, m, a, 2)
#define OVER_TIME(X, k, m) OVER_P(X, k, m, 0) OVER_P(X, k + 8, m, 1)
#define OVER_ALL(X) OVER_TIME(X, 0, 0) OVER_TIME(X, 16, 1) OVER_TIME(X, 32, 2)

#define SYNTHETIC_FORMULA(K, m, a, NP, NQ, sp)                                                     \
    {.n = 3, .np = NP, .nq = NQ, .autonomous = a, .mass = MASS_KIND_##m, .f = synthetic_f,         \
     .r = Q_CALL_##NQ, .M = MATRIX_##m, .pattern = PATTERN_##m##_##sp},

#define SYNTHETIC_PROBLEM(K, m, a, NP, NQ, sp)                                                     \
    {.name = "M " MASS_NAME_##m TIME_NAME_##a P_NAME_##NP Q_NAME_##NQ SPARSE_NAME_##sp,            \
     .t0 = 0.3, .t1 = 1.3, .y0 = synthetic_y0, .p0 = P_VALUE_##NP, .autonomous = a,                \
     .stiff = m == 2, .mass = MASS_KIND_##m,                                                       \
     .P = {.n = 3, .np = NP, .nq = NQ, .ctx = (void *)&synthetic_formulas[K], .rhs = FORMULA_RHS,  \
           .cost = COST_##NQ, .jac = formula_jac, .mass = MASS_CALL_##m,                           \
           .pattern = PATTERN_##m##_##sp}},

static const formula synthetic_formulas[] = {OVER_ALL(SYNTHETIC_FORMULA)};
static const problem synthetics[] = {OVER_ALL(SYNTHETIC_PROBLEM)};

const problem *problem_synthetic_at(int k)
{
    return k >= 0 && k < PROBLEM_SYNTHETICS ? &synthetics[k] : NULL;
}

const problem *problem_synthetic(int mass, int autonomous, int np, int nq, int sparse)
{
    if (mass < MASS_IDENTITY || mass > MASS_SINGULAR || (np != 0 && np != 2) || (nq != 0 && nq != 2)) return NULL;
    return problem_synthetic_at(16 * mass + 8 * (autonomous != 0) + 4 * (np != 0) + 2 * (nq != 0) + (sparse != 0));
}

/* ---- closed forms --------------------------------------------------------------------------------------------- */

typedef struct { num t0, t, y[4], p[4]; } start;    /* more than any problem with a closed form has */

/* x gets the direction 1 (or 0) */
static void direction(const problem *b, start *s, num *x, double *d)
{
    num yq[4];
    if (!d) return;
    x->a = 1;
    b->solution(s->t0, s->y, s->t, s->p, yq);
    x->a = 0;
    for (int i = 0; i < b->P.n + b->P.nq; i++) d[i] = yq[i].a;
}

int problem_exact(const problem *b, double t0, const double *y0, const double *p, double t,
                  double *yq, double *dy0, double *dp, double *dt0, double *dt)
{
    start s = {.t0 = number(t0), .t = number(t)};
    num out[4];
    int n = b->P.n, N = n + b->P.nq;
    if (!b->solution) return 0;
    for (int i = 0; i < n; i++) s.y[i] = number(y0[i]);
    for (int i = 0; i < b->P.np; i++) s.p[i] = number(p[i]);
    b->solution(s.t0, s.y, s.t, s.p, out);
    for (int i = 0; yq && i < N; i++) yq[i] = out[i].v;
    for (int j = 0; dy0 && j < n; j++) direction(b, &s, &s.y[j], dy0 + j * N);
    for (int j = 0; dp && j < b->P.np; j++) direction(b, &s, &s.p[j], dp + j * N);
    direction(b, &s, &s.t0, dt0);
    direction(b, &s, &s.t, dt);
    return 1;
}
