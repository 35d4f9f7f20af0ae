/* on_back.c - the gradient at every step: of y(1) for y' = -y it is exp(t - 1), printed from the last step to the
   first. */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>
#include <stddef.h>

static int f(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = -x->y[0], 0; }
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] -= w[0];
    return (void)x, (void)ctx, 0;
}

@ gradient-at-every-step static int show(int step, double t, double h, const double *y, int m, const double *lambda

int main(void)
{
    FILE *out = tmpfile();
    if (!out) return 1;
    double y[1] = {1}, lambda[1] = {1}, t, l, worst = 0, before = 1;
    costate_problem problem = {.n = 1, .rhs = {.value = f, .adjoint = f_adjoint}};
    costate_options options = {.rtol = 1e-8, .atol = 1e-8, .on_back = show, .on_back_ctx = out};
    costate *c = costate_new(costate_method_find("dopri5"), &problem, &options);
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, 0, 1, y, NULL, tape), lines = 0;
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL);
    rewind(out);
    for (; fscanf(out, "%lf %lf", &t, &l) == 2; lines++) {
        worst = fmax(worst, fabs(l - exp(t - 1)));
        if (t >= before) worst = 1;
        before = t;
    }
    status = status || lines != costate_tape_steps(tape) || worst > 1e-5;
    costate_tape_free(tape);
    costate_free(c);
    fclose(out);
    return status;
}
