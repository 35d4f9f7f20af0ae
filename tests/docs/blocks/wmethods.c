/* wmethods.c - a preconditioner that is the matrix: of y' = -50 (y - 1), exactly. */
#include <costate/costate.h>
#include <math.h>

typedef struct { double pivot; } pivots;

static int f(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = -50 * (x->y[0] - 1), 0; }
static int lines_setup(double sigma, const costate_point *x, void *ctx)
{
    ((pivots *)ctx)->pivot = sigma + 50;
    return (void)x, 0;
}
static int lines_solve(int transpose, double *x, void *ctx)
{
    x[0] /= ((pivots *)ctx)->pivot;
    return (void)transpose, 0;
}

int main(void)
{
    static const costate_problem problem = {.n = 1, .rhs = {.value = f}};
    pivots lines = {0};
    double y[1] = {0};
    @ w-methods     const costate_preconditioner adi = {.setup = lines_setup, .solve = lines_solve, .ctx = &lines};
    int status = costate_integrate(c, 0, 0.1, y, NULL, NULL), failed = status || !(fabs(y[0] - 1 + exp(-5)) < 1e-5);
    costate_free(c);
    return failed;
}
