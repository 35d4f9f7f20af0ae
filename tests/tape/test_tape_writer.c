/* test_tape_writer.c - a tape outlives the solver that wrote it: whoever sweeps it then, also a solver at the address
   of the old one, gets the writer's derivatives and does without the factorisations that the tape kept. */
#include "common.h"

enum { N = 5, M = 2, TRIES = 64 };

typedef struct {
    double V[N * M], lambda[N * M], mu[2 * M], at[3];
} swept;

static const double DP[2 * M] = {0.3, -0.2, 0.1, 0.5};

static swept sweep(costate *c, const problem *b, const costate_tape *tape)
{
    swept r = {.at = {0}};
    unsigned seed = 5;
    random_fill(&seed, N * M, r.V);
    random_fill(&seed, N * M, r.lambda);
    CHECK_OK(c, costate_tangent(c, tape, M, r.V, DP, NULL, NULL));
    CHECK_OK(c, costate_adjoint(c, tape, M, r.lambda, r.mu, NULL, NULL));
    CHECK_OK(c, costate_tape_eval(c, tape, 0.3 * b->t0 + 0.7 * b->t1, r.at));
    return r;
}

static void compare(const costate_method *m, int solver, const swept *x, const swept *y)
{
    double V = relative_gap(N * M, x->V, y->V), lambda = relative_gap(N * M, x->lambda, y->lambda),
           mu = relative_gap(2 * M, x->mu, y->mu);
    double at = relative_gap(3, x->at, y->at);
    /* GMRES ends at 1e-14 of a system, over some twenty steps of up to eight stages */
    if (!(V <= 1e-11 && lambda <= 1e-11 && mu <= 1e-11 && at <= 1e-11))
        fail_msg("%s, solver %d: tangents %.1e, adjoints %.1e, by p %.1e, between %.1e", method_name(m), solver, V,
                 lambda, mu, at);
}

/* new solvers until one lies where the old one lay; the others stay there until then */
static costate *at_address(uintptr_t old, const costate_method *m, const problem *b, const costate_options *o)
{
    costate *others[TRIES], *found = NULL;
    int count = 0;
    while (count < TRIES && !found) {
        costate *c = new_for_test(m, &b->P, o);
        if ((uintptr_t)c == old) found = c;
        else others[count++] = c;
    }
    if (!found) found = others[--count]; /* as under a sanitizer, that keeps freed memory apart */
    while (count > 0) costate_free(others[--count]);
    return found;
}

static void another(const costate_method *m, int storage, int solver)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 1);
    costate_options o = {.rtol = 1e-3,
                         .atol = 1e-3,
                         .keep_factors = 1,
                         .storage = storage,
                         .solver = COSTATE_LS_DENSE,
                         .derivative_mode = 1};
    costate *c = new_for_test(m, &b->P, &o);
    costate_tape *tape = costate_tape_new();
    double y[N] = {b->y0[0], b->y0[1], b->y0[2]};
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, tape));
    swept expected = sweep(c, b, tape);
    uintptr_t old = (uintptr_t)c;
    costate_free(c);
    o.solver = solver;
    c = at_address(old, m, b, &o);
    swept r = sweep(c, b, tape);
    compare(m, solver, &r, &expected);
    costate_free(c);
    costate_tape_free(tape);
}

static void writer_gone(void **state)
{
    static const int solver[] = {COSTATE_LS_DENSE, COSTATE_LS_BAND, COSTATE_LS_GMRES};
    for (int storage = COSTATE_ALL_STAGES; storage <= COSTATE_STATES_ONLY; storage++)
        for (int k = 0; k < 3; k++) another(*state, storage, solver[k]);
}

int main(void) { return run_by_method("a tape outlives its writer", writer_gone); }
