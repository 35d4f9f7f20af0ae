/* 04_pollu.c - which reactions make ozone?  Sensitivities to 25 rate constants from one adjoint run.

   POLLU is the chemistry of an air pollution model: 20 species, 25 reactions, constants from 1e-3 to 4e11, 60 minutes.
   (J. G. Verwer, SIAM J. Sci. Comput. 15 (1994) 1243-1259; problem "pollu" of the Test Set for IVP Solvers, whose
   reference solution is repeated below.)

   A reaction is a row of a table: its rate is k a b, with the concentrations a, b of one or two species.  Everything that
   a Rosenbrock method wants to know about the right-hand side - tangent, adjoint and second derivatives - is one line a
   reaction.  The Jacobian is not given: it is formed from the tangent, exactly.

   The adjoint is then compared with all 25 tangents (the same numbers, transposed) and with a finite difference. */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPECIES = 20, REACTIONS = 25, O3 = 3, NONE = -1 };

static const char *const name[SPECIES] = {
    "NO2", "NO", "O3P", "O3", "HO2", "OH", "HCHO", "CO", "ALD", "MEO2",
    "C2O3", "CO2", "PAN", "CH3O", "HNO3", "O1D", "SO2", "SO4", "NO3", "N2O5"};

/* Species count from 1, as in the source; 0: none. */
static const struct { double k; int in[2], out[4]; } reaction[REACTIONS] = {
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

static const double start[SPECIES] = {[1] = 0.2, [3] = 0.04, [6] = 0.1, [7] = 0.3, [8] = 0.01, [16] = 0.007};

static const double reference[SPECIES] = {       /* at t = 60 */
    0.5646255480022769e-1, 0.1342484130422339, 0.4139734331099427e-8, 0.5523140207484359e-2, 0.2018977262302196e-6,
    0.1464541863493966e-6, 0.7784249118997964e-1, 0.3245075353396018, 0.7494013383880406e-2, 0.1622293157301561e-7,
    0.1135863833257075e-7, 0.2230505975721359e-2, 0.2087162882798630e-3, 0.1396921016840158e-4, 0.8964884856898295e-2,
    0.4352846369330103e-17, 0.6899219696263405e-2, 0.1007803037365946e-3, 0.1772146513969984e-5, 0.5682943292316392e-4};

/* ---- the right-hand side and its derivatives ---- */

/* Concentrations of the reactants of reaction r, or their tangents; `none` where there is no second. */
static double first(int r, const double *y) { return y ? y[reaction[r].in[0] - 1] : 0; }
static double second(int r, const double *y, double none)
{
    return reaction[r].in[1] == 0 ? none : y ? y[reaction[r].in[1] - 1] : 0;
}
static double at(const double *p, int r) { return p ? p[r] : 0; }

/* A rate to the species: the reactants lose it, the products gain it.  And the transpose, weights of species to a rate. */
static void spread(int r, double rate, double *out)
{
    for (int i = 0; i < 2 && reaction[r].in[i]; i++) out[reaction[r].in[i] - 1] -= rate;
    for (int i = 0; i < 4 && reaction[r].out[i]; i++) out[reaction[r].out[i] - 1] += rate;
}
static double collect(int r, const double *w)
{
    double sum = 0;
    for (int i = 0; i < 2 && reaction[r].in[i]; i++) sum -= w[reaction[r].in[i] - 1];
    for (int i = 0; i < 4 && reaction[r].out[i]; i++) sum += w[reaction[r].out[i] - 1];
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
    g->y[reaction[r].in[0] - 1] += s_a;
    if (reaction[r].in[1]) g->y[reaction[r].in[1] - 1] += s_b;
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

static int f_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                             void *ctx)
{
    (void)ctx;
    for (int r = 0; r < REACTIONS; r++) {
        double s = collect(r, w), k = x->p[r], a = first(r, x->y), b = second(r, x->y, 1);
        double dk = at(dx->p, r), da = first(r, dx->y), db = second(r, dx->y, 0);
        back(r, s * (da * b + a * db), s * (dk * b + k * db), s * (dk * a + k * da), g);
    }
    return 0;
}

static const costate_problem problem = {.n = SPECIES, .np = REACTIONS,
    .rhs = {f, f_tangent, f_adjoint, f_tangent2, f_adjoint_tangent}};

/* ---- the comparison ---- */

static double gradient[REACTIONS];         /* of ozone at the end, by log k */
static double tangents[SPECIES * REACTIONS];

static int by_size(const void *a, const void *b)
{
    double x = fabs(gradient[*(const int *)a]), y = fabs(gradient[*(const int *)b]);
    return (x < y) - (x > y);
}

static void print_reaction(int r)
{
    const char *plus = "";
    for (int i = 0; i < 2 && reaction[r].in[i]; i++, plus = " + ") printf("%s%s", plus, name[reaction[r].in[i] - 1]);
    plus = " -> ";
    for (int i = 0; i < 4 && reaction[r].out[i]; i++, plus = " + ") printf("%s%s", plus, name[reaction[r].out[i] - 1]);
    putchar('\n');
}

static void print_largest(double ozone)
{
    int order[REACTIONS];
    for (int r = 0; r < REACTIONS; r++) order[r] = r;
    qsort(order, REACTIONS, sizeof *order, by_size);
    printf("\nozone after 60 minutes: %.6e ppm; the ten reactions it depends on most\n\n", ozone);
    printf("      d log O3 / d log k   reaction\n");
    for (int i = 0; i < 10; i++) {
        printf("%+24.4f   %2d  ", gradient[order[i]] / ozone, order[i] + 1);
        print_reaction(order[i]);
    }
}

static double largest_error(const double *y)
{
    double most = 0;
    for (int i = 0; i < SPECIES; i++) most = fmax(most, fabs(y[i] / reference[i] - 1));
    return most;
}

/* d O3 / d log k[r], by two runs with their own steps */
static double by_difference(costate *c, int r)
{
    double y[2][SPECIES], k[REACTIONS], e = 1e-3;
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < REACTIONS; i++) k[i] = reaction[i].k;
        k[r] *= side ? exp(e) : exp(-e);
        memcpy(y[side], start, sizeof start);
        if (costate_integrate(c, 0, 60, y[side], k, NULL) != COSTATE_OK) return NAN;
    }
    return (y[1][O3] - y[0][O3]) / (2 * e);
}

int main(void)
{
    double y[SPECIES], k[REACTIONS], lambda[SPECIES] = {[O3] = 1}, mu[REACTIONS] = {0};
    double directions[REACTIONS * REACTIONS] = {0}, gap = 0, most = 0;
    costate_options options = {.rtol = 1e-8, .atol = 1e-14, .autonomous = 1};
    costate *c = costate_new(costate_method_find("rodas4"), &problem, &options);
    costate_tape *tape = costate_tape_new();
    memcpy(y, start, sizeof start);
    for (int r = 0; r < REACTIONS; r++) {
        k[r] = reaction[r].k;
        directions[r * REACTIONS + r] = k[r];      /* direction r: log k[r] */
    }
    int status = costate_integrate(c, 0, 60, y, k, tape);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    if (status == COSTATE_OK) status = costate_tangent(c, tape, REACTIONS, tangents, directions, NULL, NULL);
    if (status != COSTATE_OK) {
        fprintf(stderr, "%s\n", costate_message(c));
        return 1;
    }
    for (int r = 0; r < REACTIONS; r++) {
        gradient[r] = mu[r] * k[r];
        most = fmax(most, fabs(gradient[r]));
        gap = fmax(gap, fabs(gradient[r] - tangents[r * SPECIES + O3]));
    }
    print_largest(y[O3]);
    long steps = costate_get_stats(c)->accepted;
    double error = largest_error(y), difference = by_difference(c, 0);
    printf("\n%ld steps; state against the reference solution: largest relative error %.1e\n", steps, error);
    printf("reaction 1: adjoint %.8e, central difference %.8e\n", gradient[0], difference);
    printf("adjoint against 25 tangents: largest relative difference %.1e\n", gap / most);
    costate_tape_free(tape);
    costate_free(c);
    return !(gap <= 1e-12 * most && error < 1e-4 && fabs(difference / gradient[0] - 1) < 1e-4);
}
