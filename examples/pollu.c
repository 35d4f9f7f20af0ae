/* pollu.c - the chemistry of an air pollution model: 20 species, 25 reactions, constants from 1e-3 to 4e11, 60 minutes.
   (J. G. Verwer, SIAM J. Sci. Comput. 15 (1994) 1243-1259; problem "pollu" of the Test Set for IVP Solvers, whose
   reference solution is repeated below.)

   A reaction is a row of a table: its rate is k a b, with the concentrations a, b of one or two species.  Everything
   that a Rosenbrock method wants to know about the right-hand side - tangent, adjoint and second derivatives - is one
   line a reaction.  The Jacobian is not given: it is formed from the tangent, exactly. */
#include "pollu.h"

#include <stddef.h>
#include <string.h>

enum { SPECIES = POLLU_SPECIES, REACTIONS = POLLU_REACTIONS };

const char *const pollu_names[SPECIES] = {
    "NO2", "NO", "O3P", "O3", "HO2", "OH", "HCHO", "CO", "ALD", "MEO2",
    "C2O3", "CO2", "PAN", "CH3O", "HNO3", "O1D", "SO2", "SO4", "NO3", "N2O5"};

const pollu_reaction pollu_reactions[REACTIONS] = {
    {0.35,    {1, 0},  {2, 3, 0, 0}},    /*  1  NO2 -> NO + O3P            */
    {26.6,    {2, 4},  {1, 0, 0, 0}},    /*  2  NO + O3 -> NO2             */
    {1.23e4,  {5, 2},  {1, 6, 0, 0}},    /*  3  HO2 + NO -> NO2 + OH       */
    {8.6e-4,  {7, 0},  {5, 5, 8, 0}},    /*  4  HCHO -> 2 HO2 + CO         */
    {8.2e-4,  {7, 0},  {8, 0, 0, 0}},    /*  5  HCHO -> CO                 */
    {1.5e4,   {7, 6},  {5, 8, 0, 0}},    /*  6  HCHO + OH -> HO2 + CO      */
    {1.3e-4,  {9, 0},  {10, 5, 8, 0}},   /*  7  ALD -> MEO2 + HO2 + CO     */
    {2.4e4,   {9, 6},  {11, 0, 0, 0}},   /*  8  ALD + OH -> C2O3           */
    {1.65e4,  {11, 2}, {1, 10, 12, 0}},  /*  9  C2O3 + NO -> NO2 + MEO2 + CO2 */
    {9e3,     {11, 1}, {13, 0, 0, 0}},   /* 10  C2O3 + NO2 -> PAN          */
    {0.022,   {13, 0}, {11, 1, 0, 0}},   /* 11  PAN -> C2O3 + NO2          */
    {1.2e4,   {10, 2}, {14, 1, 0, 0}},   /* 12  MEO2 + NO -> CH3O + NO2    */
    {1.88,    {14, 0}, {7, 5, 0, 0}},    /* 13  CH3O -> HCHO + HO2         */
    {1.63e4,  {1, 6},  {15, 0, 0, 0}},   /* 14  NO2 + OH -> HNO3           */
    {4.8e6,   {3, 0},  {4, 0, 0, 0}},    /* 15  O3P -> O3                  */
    {3.5e-4,  {4, 0},  {16, 0, 0, 0}},   /* 16  O3 -> O1D                  */
    {0.0175,  {4, 0},  {3, 0, 0, 0}},    /* 17  O3 -> O3P                  */
    {1e8,     {16, 0}, {6, 6, 0, 0}},    /* 18  O1D -> 2 OH                */
    {4.44e11, {16, 0}, {3, 0, 0, 0}},    /* 19  O1D -> O3P                 */
    {1240,    {17, 6}, {18, 5, 0, 0}},   /* 20  SO2 + OH -> SO4 + HO2      */
    {2.1,     {19, 0}, {2, 0, 0, 0}},    /* 21  NO3 -> NO                  */
    {5.78,    {19, 0}, {1, 3, 0, 0}},    /* 22  NO3 -> NO2 + O3P           */
    {0.0474,  {1, 4},  {19, 0, 0, 0}},   /* 23  NO2 + O3 -> NO3            */
    {1780,    {19, 1}, {20, 0, 0, 0}},   /* 24  NO3 + NO2 -> N2O5          */
    {3.12,    {20, 0}, {19, 1, 0, 0}},   /* 25  N2O5 -> NO3 + NO2          */
};

const double pollu_start[SPECIES] = {[1] = 0.2, [3] = 0.04, [6] = 0.1, [7] = 0.3, [8] = 0.01, [16] = 0.007};

const double pollu_reference[SPECIES] = {       /* at t = 60 */
    0.5646255480022769e-1, 0.1342484130422339, 0.4139734331099427e-8, 0.5523140207484359e-2, 0.2018977262302196e-6,
    0.1464541863493966e-6, 0.7784249118997964e-1, 0.3245075353396018, 0.7494013383880406e-2, 0.1622293157301561e-7,
    0.1135863833257075e-7, 0.2230505975721359e-2, 0.2087162882798630e-3, 0.1396921016840158e-4, 0.8964884856898295e-2,
    0.4352846369330103e-17, 0.6899219696263405e-2, 0.1007803037365946e-3, 0.1772146513969984e-5, 0.5682943292316392e-4};

/* ---- the right-hand side and its derivatives ---- */

/* Concentrations of the reactants of reaction r, or their tangents; `none` where there is no second. */
static double first(int r, const double *y) { return y ? y[pollu_reactions[r].in[0] - 1] : 0; }
static double second(int r, const double *y, double none)
{
    return pollu_reactions[r].in[1] == 0 ? none : y ? y[pollu_reactions[r].in[1] - 1] : 0;
}
static double at(const double *p, int r) { return p ? p[r] : 0; }

/* A rate to the species: the reactants lose it, the products gain it.  And the transpose: weights of species to a
   rate. */
static void spread(int r, double rate, double *out)
{
    for (int i = 0; i < 2 && pollu_reactions[r].in[i]; i++) out[pollu_reactions[r].in[i] - 1] -= rate;
    for (int i = 0; i < 4 && pollu_reactions[r].out[i]; i++) out[pollu_reactions[r].out[i] - 1] += rate;
}
static double collect(int r, const double *w)
{
    double sum = 0;
    for (int i = 0; i < 2 && pollu_reactions[r].in[i]; i++) sum -= w[pollu_reactions[r].in[i] - 1];
    for (int i = 0; i < 4 && pollu_reactions[r].out[i]; i++) sum += w[pollu_reactions[r].out[i] - 1];
    return sum;
}

/* rate = k a b */
static int f(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    memset(out, 0, SPECIES * sizeof *out);
    for (int r = 0; r < REACTIONS; r++) spread(r, x->p[r] * first(r, x->y) * second(r, x->y, 1), out);
    return 0;
}

/* rate' = k' a b + k a' b + k a b' */
static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)ctx;
    memset(out, 0, SPECIES * sizeof *out);
    for (int r = 0; r < REACTIONS; r++) {
        double k = x->p[r], a = first(r, x->y), b = second(r, x->y, 1);
        spread(r, at(dx->p, r) * a * b + k * (first(r, dx->y) * b + a * second(r, dx->y, 0)), out);
    }
    return 0;
}

/* weights s_k, s_a, s_b of k', a', b' in the rate to where they belong */
static void back(int r, double s_k, double s_a, double s_b, const costate_gradient *g)
{
    if (g->p) g->p[r] += s_k;
    if (!g->y) return;
    g->y[pollu_reactions[r].in[0] - 1] += s_a;
    if (pollu_reactions[r].in[1]) g->y[pollu_reactions[r].in[1] - 1] += s_b;
}

static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    for (int r = 0; r < REACTIONS; r++) {
        double s = collect(r, w), k = x->p[r], a = first(r, x->y), b = second(r, x->y, 1);
        back(r, s * a * b, s * k * b, s * k * a, g);
    }
    return 0;
}

static int f_tangent2(const costate_point *x, const costate_point *u, const costate_point *v, double *out, void *ctx)
{
    (void)ctx;
    memset(out, 0, SPECIES * sizeof *out);
    for (int r = 0; r < REACTIONS; r++) {
        double k = x->p[r], a = first(r, x->y), b = second(r, x->y, 1);
        double ku = at(u->p, r), au = first(r, u->y), bu = second(r, u->y, 0);
        double kv = at(v->p, r), av = first(r, v->y), bv = second(r, v->y, 0);
        spread(r, ku * (av * b + a * bv) + kv * (au * b + a * bu) + k * (au * bv + av * bu), out);
    }
    return 0;
}

static int f_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                             const costate_gradient *g, void *ctx)
{
    (void)ctx;
    for (int r = 0; r < REACTIONS; r++) {
        double s = collect(r, w), k = x->p[r], a = first(r, x->y), b = second(r, x->y, 1);
        double dk = at(dx->p, r), da = first(r, dx->y), db = second(r, dx->y, 0);
        back(r, s * (da * b + a * db), s * (dk * b + k * db), s * (dk * a + k * da), g);
    }
    return 0;
}

const costate_problem pollu_problem = {.n = SPECIES, .np = REACTIONS,
    .rhs = {.value = f, .tangent = f_tangent, .adjoint = f_adjoint, .tangent2 = f_tangent2,
            .adjoint_tangent = f_adjoint_tangent}};

void pollu_constants(double k[POLLU_REACTIONS])
{
    for (int r = 0; r < REACTIONS; r++) k[r] = pollu_reactions[r].k;
}
