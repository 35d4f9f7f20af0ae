/* foreign_tape.c - a tape in a file that one machine writes and another reads (packaging/cross).

   foreign_tape write FILE; foreign_tape read FILE: prints what became of it.  The gradient of a tape that is read must
   be that of the run. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <costate/costate.h>

static int f(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = -x->p[0] * x->y[0], 0; }

static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] += -x->p[0] * w[0];
    if (g->p) g->p[0] += -x->y[0] * w[0];
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    double y = 2, p = 3, lambda = 1, mu = 0;
    costate_problem P = {.n = 1, .np = 1, .rhs = {.value = f, .adjoint = f_adjoint}};
    costate_options o = {.rtol = 1e-9, .atol = 1e-9};
    costate *c = costate_new(costate_method_find("verner76"), &P, &o);
    int writes = strcmp(argv[1], "write") == 0;
    costate_tape *tape = costate_tape_open(argv[2]);
    int status = writes ? costate_integrate(c, 0, 1, &y, &p, tape) : costate_tape_read(c, tape);
    if (!status) status = costate_adjoint(c, tape, 1, &lambda, &mu, NULL, NULL);
    if (status) printf("refused (%s): %s\n", costate_status_name(status), costate_message(c));
    else printf("read, gradient %s\n", fabs(mu + 2 * exp(-3)) < 1e-7 ? "right" : "WRONG");
    costate_tape_free(tape);
    costate_free(c);
    return 0;
}
