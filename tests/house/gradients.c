/* gradients.c - solutions and gradients of many problems with a method of each kind, to the bit.

   Only the public interface and problems/: the same program runs with the library, with costate.c, and on other
   systems (packaging/cross).  A line for each problem and method says the status, the number of steps, y(t1) and the
   gradients of a functional with respect to y0 and p as hashes, and one component of the latter as a number.
   With an argument FILE the tape goes to this file, from which the gradient is computed. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ivp.h"
#include "problems.h"

static const char *const methods[] = {"verner76", "esdirk54i8", "radau2a5", "rodas5p", "rock4", "auto", "radau"};

/* of ivp.h, small */
static const struct { const char *name; int size; } small[] = {
    {"brusselator2d", 6}, {"brusselator1d", 16}, {"heat2d", 6}, {"diffusion", 20}, {"hires", 0}, {"robertson", 0},
    {"pollu", 0}, {"orego", 0}, {"vdpol", 100}, {"heat_dae", 6}, {"ball", 0}};

static uint64_t hash(const double *x, int count)             /* FNV-1a, by value: the order of bytes does not matter */
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (int i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, x + i, sizeof bits);
        for (int k = 0; k < 64; k += 8) h = (h ^ (bits >> k & 255)) * UINT64_C(1099511628211);
    }
    return h;
}

typedef struct { const char *name; const costate_problem *P; const double *y0, *p; double t0, t1, atol; } task;

static void solve(const task *x, costate *c, costate_tape *tape, double *y, double *lambda, double *mu)
{
    int N = x->P->n + x->P->nq + x->P->nm, np = x->P->np;
    for (int i = 0; i < x->P->n; i++) y[i] = x->y0[i];
    int status = costate_integrate(c, x->t0, x->t1, y, x->p, tape);
    for (int i = 0; i < N; i++) lambda[i] = 1 + 0.25 * (i % 5);
    int forward = status;
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, np > 0 ? mu : NULL, NULL, NULL);
    if (forward) {                                           /* undefined after a failure */
        printf("%d\n", forward);
        return;
    }
    printf("%d %d %016" PRIx64, status, costate_tape_steps(tape), hash(y, N));
    if (status == COSTATE_OK) printf(" %016" PRIx64 " %016" PRIx64 " %.17g", hash(lambda, N), hash(mu, np), lambda[0]);
    printf("\n");
}

static int run(const task *x, const char *file)
{
    size_t N = (size_t)(x->P->n + x->P->nq + x->P->nm), np = (size_t)x->P->np;
    double *room = malloc((2 * N + np + 1) * sizeof *room);
    if (!room) return 1;
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        memset(room, 0, (2 * N + np + 1) * sizeof *room);
        costate_options o = {.rtol = 1e-5, .atol = x->atol > 0 ? x->atol : 1e-7, .max_steps = 5000};
        costate *c = costate_new(costate_method_find(methods[k]), x->P, &o);
        costate_tape *tape = file ? costate_tape_open(file) : costate_tape_new();
        printf("%s %s: ", x->name, methods[k]);
        solve(x, c, tape, room, room + N, room + 2 * N);
        costate_tape_free(tape);
        costate_free(c);
    }
    free(room);
    return 0;
}

static int run_problem(const problem *b, const char *file)
{
    return run(&(task){b->name, &b->P, b->y0, b->p0, b->t0, b->t1, 0}, file);
}

int main(int argc, char **argv)
{
    const char *file = argc > 1 ? argv[1] : NULL;
    int failed = 0;
    for (int k = 0; problem_at(k); k++) failed |= run_problem(problem_at(k), file);
    for (int k = 0; k < PROBLEM_SYNTHETICS; k++) failed |= run_problem(problem_synthetic_at(k), file);
    for (size_t k = 0; k < sizeof small / sizeof *small; k++) {
        ivp b;
        if (ivp_new(&b, small[k].name, small[k].size, 0)) return 1;
        failed |= run(&(task){small[k].name, &b.P, b.y0, b.p, 0, b.t1, 1e-7}, file);
        ivp_free(&b);
    }
    return failed;
}
