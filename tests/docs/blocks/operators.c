/* operators.c - a splitting and a Chebyshev polynomial as the matrix of a W-method. */
#include <costate/operators.h>
#include <math.h>

enum { NX = 8, NY = 6, LINE = 20 };
typedef struct { int points, stride; } direction;

@ splitting static int diffusion(

/* diffusion alone: what each component has in sum does not change */
static int f(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < 2 * NX * NY; i++) {
        int a = i / 2 % NX, b = i / 2 / NX, up = 2 * NX;
        double w = x->p[i % 2], u = x->y[i];
        out[i] = w * NX * NX * ((a > 0 ? x->y[i - 2] - u : 0) + (a < NX - 1 ? x->y[i + 2] - u : 0)) +
                 w * NY * NY * ((b > 0 ? x->y[i - up] - u : 0) + (b < NY - 1 ? x->y[i + up] - u : 0));
    }
    return 0;
}

static int splits(void)
{
    static const costate_problem problem = {.n = 2 * NX * NY, .np = 2, .rhs = {.value = f}};
    const double p[] = {10, 5};
    double y[2 * NX * NY], gap = 0;
    @ splitting     direction along[] =
    for (int i = 0; i < 2 * NX * NY; i++) y[i] = i / 2 < NX * NY / 2;
    int status = costate_integrate(c, 0, 1, y, p, NULL);
    for (int i = 0; i < 2 * NX * NY; i++) gap = fmax(gap, fabs(y[i] - 0.5));
    costate_free(c);
    costate_splitting_free(splitting);
    return status || !(gap < 1e-3);
}

/* ---- heat on a line ---- */

static double scale(void) { return (LINE + 1) * (LINE + 1); }
static int laplace(int transpose, const double *x, double *out, void *ctx)
{
    (void)transpose, (void)ctx;
    for (int i = 0; i < LINE; i++)
        out[i] = scale() * ((i > 0 ? x[i - 1] : 0) - 2 * x[i] + (i < LINE - 1 ? x[i + 1] : 0));
    return 0;
}
static int heat(const costate_point *x, double *out, void *ctx) { return laplace(0, x->y, out, ctx); }
static int jacobi_setup(double sigma, const costate_point *x, void *ctx)
{
    return (void)x, *(double *)ctx = sigma + 2 * scale(), 0;
}
static int jacobi_solve(int transpose, double *x, void *ctx)
{
    (void)transpose;
    for (int i = 0; i < LINE; i++) x[i] /= *(double *)ctx;
    return 0;
}

static int polynomial(void)
{
    static const costate_problem problem = {.n = LINE, .rhs = {.value = heat}};
    double y[LINE], pivot = 1, pi = acos(-1), gap = 0;
    direction line = {LINE, 1};
    const costate_preconditioner jacobi = {.setup = jacobi_setup, .solve = jacobi_solve, .ctx = &pivot};
    @ splitting     const costate_polynomial with =
    costate *c = costate_new(costate_method_find("w6s4os"), &problem, &options);
    for (int i = 0; i < LINE; i++) y[i] = sin(pi * (i + 1) / (LINE + 1));
    int status = costate_integrate(c, 0, 0.1, y, NULL, NULL);
    double rate = 4 * scale() * pow(sin(pi / 2 / (LINE + 1)), 2);
    for (int i = 0; i < LINE; i++)
        gap = fmax(gap, fabs(y[i] - exp(-0.1 * rate) * sin(pi * (i + 1) / (LINE + 1))));
    costate_free(c);
    costate_chebyshev_free(chebyshev);
    return status || !(gap < 1e-4);
}

int main(void) { return splits() || polynomial(); }
