/* counted.c - small standard runs whose instructions test_counts.py counts: `counted K` does run K inside counted_run,
   and prints its name, and with a further argument what comes out; `counted` prints how many there are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "problems.h"

typedef struct { const char *name, *method, *problem; double rtol, length; int gradient; int storage; } standard;

/* length: share of the problem's interval */
static const standard runs[] = {
    {"not stiff, forward", "dopri5", "lv", 1e-8, 1, 0, 0},
    {"not stiff, high order, gradient", "dopri853", "detest_B2", 1e-10, 1, 1, 0},
    {"Rosenbrock, forward", "rodas4", "orego", 1e-6, 0.3, 0, 0},
    {"Rosenbrock, gradient", "rodas4", "hires", 1e-6, 1, 1, 0},
    {"fully implicit, gradient", "radau2a", "rober_4e7", 1e-8, 1e-3, 1, 0},
    {"Gauss, forward", "gauss3", "lv", 1e-8, 1, 0, 0},
    {"ESDIRK, gradient", "kvaerno43", "hires", 1e-6, 0.2, 1, 0},
    {"SDIRK, states only, gradient", "sdirk4b", "orego", 1e-6, 0.1, 1, COSTATE_STATES_ONLY},
    {"stabilised, forward", "rock4", "detest_B2", 1e-6, 1, 0, 0},
    {"checkpoints, gradient", "tsit5", "lv", 1e-9, 1, 1, COSTATE_CHECKPOINTS},
    /* small systems, in which what is around the arithmetic counts most: n = 2, 3, 8 */
    {"n = 2, Rosenbrock", "rodas4", "vdpol_1e3", 1e-6, 1, 0, 0},
    {"n = 2, three stages", "radau2a", "vdpol_1e3", 1e-6, 1, 0, 0},
    {"n = 2, ESDIRK", "kvaerno43", "vdpol_1e3", 1e-6, 1, 0, 0},
    {"n = 2, chosen method, stiff", "auto", "vdpol_1e3", 1e-6, 1, 0, 0},
    {"n = 2, chosen method, not stiff", "auto", "lv", 1e-8, 1, 0, 0},
    {"n = 2, high order", "dopri853", "lv", 1e-8, 1, 0, 0},
    {"n = 3, Rosenbrock", "rodas4", "rober_4e7", 1e-6, 1, 0, 0},
    {"n = 3, five stages", "radau2a5", "rober_4e7", 1e-8, 1, 0, 0},
    {"n = 8, three stages", "radau2a", "hires", 1e-6, 1, 0, 0},
    {"n = 8, chosen method, gradient", "auto", "hires", 1e-6, 1, 1, 0}
};
enum { RUNS = sizeof runs / sizeof *runs, N_MOST = 64 };

/* What callgrind counts: no more than the calls of one user. */
int counted_run(const standard *r, const problem *b, double *y, double *lambda, double *mu);
__attribute__((noinline)) int counted_run(const standard *r, const problem *b, double *y, double *lambda, double *mu)
{
    costate_options o = {.rtol = r->rtol, .atol = 1e-3 * r->rtol, .max_steps = 1000000, .storage = r->storage,
                         .checkpoints = r->storage == COSTATE_CHECKPOINTS ? 60 : 0};
    costate *c = costate_new(costate_method_find(r->method), &b->P, &o);
    costate_tape *tape = costate_tape_new();
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
    lambda[0] = 1;
    int status = !c || !tape;
    if (!status) status = costate_integrate(c, b->t0, b->t0 + r->length * (b->t1 - b->t0), y, b->p0, tape);
    if (!status && r->gradient) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    if (status) fprintf(stderr, "%s: %s\n", r->name, costate_message(c));
    costate_tape_free(tape);
    costate_free(c);
    return status;
}

static void print(const char *what, int n, const double *x)
{
    printf("%s", what);
    for (int i = 0; i < n; i++) printf(" %.17g", x[i]);
    puts("");
}

int main(int argc, char **argv)
{
    int k = argc > 1 ? atoi(argv[1]) : -1;
    if (k < 0 || k >= RUNS) return printf("%d\n", RUNS) < 0;
    const problem *b = problem_find(runs[k].problem);
    double y[N_MOST] = {0}, lambda[N_MOST] = {0}, mu[N_MOST] = {0};
    printf("%s: %s, %s\n", runs[k].name, runs[k].method, runs[k].problem);
    if (!b || b->P.n + b->P.nq > N_MOST || b->P.np > N_MOST || counted_run(&runs[k], b, y, lambda, mu)) return 1;
    if (argc < 3) return 0;
    print("y", b->P.n + b->P.nq, y);
    if (runs[k].gradient) print("lambda", b->P.n + b->P.nq, lambda);
    if (runs[k].gradient) print("mu", b->P.np, mu);
    return 0;
}
