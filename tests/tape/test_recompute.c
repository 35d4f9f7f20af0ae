/* test_recompute.c - the stages of a states-only tape, recomputed: by the same linear solver and options the same bits;
   by another linear solver the same within what Newton's tolerance leaves.  Stages on the tape are everyone's, bit for
   bit. */
#include "common.h"
#include <costate/linsol.h>

enum { N = 5, POINTS = 41 };

typedef struct {
    const costate_method *m;
    problem b;
    costate_options o;
    costate *c;
    costate_tape *tape;
    double end[N], at[POINTS][3];
} world;

/* from the end, as a backward sweep goes: the Jacobian of a step is that of an earlier one */
static void look(const world *w, costate *c, double (*at)[3])
{
    for (int k = POINTS - 1; k >= 0; k--)
        CHECK_OK(c, costate_tape_eval(c, w->tape, w->b.t0 + (w->b.t1 - w->b.t0) * k / (POINTS - 0.6), at[k]));
}

static world open_world(const costate_method *m, const problem *b, costate_options o)
{
    world w = {.m = m, .b = *b, .o = o};
    w.c = new_for_test(m, &w.b.P, &w.o);
    w.tape = costate_tape_new();
    memcpy(w.end, b->y0, 3 * sizeof *w.end);
    CHECK_OK(w.c, costate_integrate(w.c, b->t0, b->t1, w.end, b->p0, w.tape));
    look(&w, w.c, w.at);
    return w;
}

static void close_world(world *w)
{
    costate_free(w->c);
    costate_tape_free(w->tape);
}

/* largest |difference| / (1 + |y|) of what a solver with these options sees on the tape */
static double seen_by(const world *w, costate_options o)
{
    double at[POINTS][3], most = 0;
    costate *c = new_for_test(w->m, &w->b.P, &o);
    look(w, c, at);
    costate_free(c);
    for (int k = 0; k < POINTS; k++)
        for (int i = 0; i < 3; i++) most = larger_of(most, fabs(at[k][i] - w->at[k][i]) / (1 + fabs(w->at[k][i])));
    return most;
}

static const struct {
    int solver;
    const char *name;
} solvers[] = {{COSTATE_LS_DENSE, "dense"},     {COSTATE_LS_BAND, "band"}, {COSTATE_LS_UMFPACK, "umfpack"},
               {COSTATE_LS_SUPERLU, "superlu"}, {COSTATE_LS_KLU, "klu"},   {COSTATE_LS_GMRES, NULL}};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

static int missing(int k) { return solvers[k].name && !costate_backend_find(solvers[k].name); }

static void solver_to_solver(void **state)
{
    const costate_method *m = *state;
    const double rtol = 1e-4, newton_tol = sqrt(rtol); /* the default: min(0.03, sqrt(rtol)),
an estimate in the error norm */
    for (int from = 0; from < SOLVERS; from++)
        for (int storage = COSTATE_ALL_STAGES; storage <= COSTATE_STATES_ONLY; storage++) {
            costate_options o = {.rtol = rtol, .atol = rtol, .storage = storage, .solver = solvers[from].solver};
            if (missing(from)) continue;
            world w = open_world(m, problem_synthetic(MASS_IDENTITY, 0, 2, 2, 1), o);
            for (int to = 0; to < SOLVERS; to++) {
                if (missing(to)) continue;
                o.solver = solvers[to].solver;
                double gap = seen_by(&w, o),
                       most = from == to || storage == COSTATE_ALL_STAGES ? 0 : 10 * newton_tol * rtol;
                /* between factorisations there is only their rounding */
                if (most > 0 && from != SOLVERS - 1 && to != SOLVERS - 1) most = 1e-13;
                if (!(gap <= most))
                    fail_msg("%s, storage %d, solver %d after %d: %.1e", method_name(m), storage, solvers[to].solver,
                             solvers[from].solver, gap);
            }
            close_world(&w);
        }
}

/* The increments of a Jacobian by differences follow the weights: those of the step where it was made, not of the one
 * that uses it. */
static void by_differences(void **state)
{
    const costate_method *m = *state;
    problem b = *problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    if (!is_newton(m)) return;
    b.P.jac = NULL;
    b.P.rhs.tangent = NULL;
    costate_options o = {.controller = COSTATE_FIXED,
                         .h0 = 0.05,
                         .rtol = 0.5,
                         .atol = 1e4,
                         .theta_reuse = 0.9,
                         .predictor = COSTATE_PREDICT_NONE};
    world all = open_world(m, &b, o);
    assert_true(costate_get_stats(all.c)->jac < costate_tape_steps(all.tape)); /* kept from step to step */
    o.storage = COSTATE_STATES_ONLY;
    world states = open_world(m, &b, o);
    assert_memory_equal(all.end, states.end, sizeof all.end);
    if (memcmp(all.at, states.at, sizeof all.at) != 0)
        fail_msg("%s: the recomputed stages differ by %.1e", method_name(m),
                 largest_gap(POINTS * 3, all.at[0], states.at[0]));
    close_world(&all);
    close_world(&states);
}

int main(void)
{
    return run_by_kind("by this or another linear solver", solver_to_solver) +
           run_by_kind("Jacobian by differences", by_differences);
}
