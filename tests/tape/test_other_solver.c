/* test_other_solver.c - a tape serves whoever sweeps it, in any order: tangents by one solver and adjoints by another
   are transposes, and no sweep changes what the next one gives.  A solver that would make other steps again than those
   of the run is refused, with a sentence that says why. */
#include <unistd.h>
#include <costate/linsol.h>
#include "common.h"

enum { N = 5, NP = 2 };

static char path[64];

/* ---- a run, and the tape that it leaves ---- */

enum { ALL, STATES, CHECKPOINTS, FILE_ALL, FILE_CHECKPOINTS, STORES };
static const int storage[] = {COSTATE_ALL_STAGES, COSTATE_STATES_ONLY, COSTATE_CHECKPOINTS, COSTATE_ALL_STAGES,
                              COSTATE_CHECKPOINTS};
static int in_file(int store) { return store >= FILE_ALL; }
static int keeps_stages(int store) { return store == ALL || store == FILE_ALL; }

static costate_options options_of(const costate_method *m, int store, int solver)
{
    int least = method_info(m).family == COSTATE_RKC ? 8 : method_info(m).stages + 3;
    costate_options o = {.rtol = 1e-3, .atol = 1e-3, .hmax = 0.02, .storage = storage[store], .solver = solver};
    if (storage[store] == COSTATE_CHECKPOINTS) o.checkpoints = 2 * least;
    if (is_newton(m)) o.stage_solve = COSTATE_STAGE_DIRECT;
    return o;
}

static costate_tape *run_onto_tape(costate *c, const problem *b, int store)
{
    double y[N] = {b->y0[0], b->y0[1], b->y0[2]};
    costate_tape *tape = in_file(store) ? costate_tape_open(path) : costate_tape_new();
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, tape));
    assert_true(costate_tape_steps(tape) > 40);
    return tape;
}

/* ---- what a solver sees there ---- */

typedef struct { int refused; double V[N], lambda[N], mu[NP], at[3]; } swept;

static const double dy[N] = {0.3, -1, 0.7}, dp[NP] = {0.9, -0.4}, w[N] = {1, -2, 0.5, 0.3, 0.8};

/* run: the linear solver that a sentence of refusal names */
static swept sweep(costate *c, const problem *b, const costate_tape *tape, const char *run, int back_first)
{
    swept s = {.refused = 0};
    memcpy(s.V, dy, sizeof s.V);
    memcpy(s.lambda, w, sizeof s.lambda);
    for (int k = 0; k < 2; k++) {
        int back = k == back_first ? 0 : 1;
        int status = back ? costate_adjoint(c, tape, 1, s.lambda, s.mu, NULL, NULL)
                          : costate_tangent(c, tape, 1, s.V, dp, NULL, NULL);
        if (status == COSTATE_BAD_TAPE && strstr(costate_message(c), run)) s.refused++;
        else CHECK_OK(c, status);
    }
    int status = costate_tape_eval(c, tape, 0.3 * b->t0 + 0.7 * b->t1, s.at);
    if (status && status != COSTATE_BAD_TAPE) CHECK_OK(c, status);
    assert_true(s.refused == 0 || s.refused == 2);
    return s;
}

/* of the tangents of one and the adjoints of the other */
static double gap_of(const swept *forward, const swept *back)
{
    double sum = 0, size = 0;
    for (int i = 0; i < N; i++) {
        sum += w[i] * forward->V[i] - dy[i] * back->lambda[i];
        size += fabs(w[i] * forward->V[i]) + fabs(dy[i] * back->lambda[i]);
    }
    for (int i = 0; i < NP; i++) { sum -= dp[i] * back->mu[i]; size += fabs(dp[i] * back->mu[i]); }
    return fabs(sum) / size;
}

typedef struct { const costate_method *m; int store; const char *run, *other; } who;

static void is_small(const who *x, const char *what, double gap, double most)
{
    if (!(gap <= most))
        fail_msg("%s, store %d, run by %s, swept by %s: %s %.1e", method_name(x->m), x->store, x->run, x->other, what,
                 gap);
}

static void is_same(const who *x, const char *what, const swept *a, const swept *b)
{
    double most = is_newton(x->m) || strcmp(x->run, "gmres") == 0 ? 1e-11 : 0;     /* which matrix serves may differ */
    is_small(x, what, relative_gap(N, a->V, b->V), most);
    is_small(x, what, relative_gap(N, a->lambda, b->lambda), most);
    is_small(x, what, relative_gap(NP, a->mu, b->mu), most);
    is_small(x, what, relative_gap(3, a->at, b->at), 0);
}

/* a before b, b, a after b: all that are not refused are of the same steps */
static int in_turn(const costate_method *m, const problem *b, int store, const costate_options *oa,
                   const costate_options *ob)
{
    costate *a = new_for_test(m, &b->P, oa), *c = new_for_test(m, &b->P, ob);
    costate_tape *tape = run_onto_tape(a, b, store);
    who x = {m, store, costate_solver_name(a), costate_solver_name(c)};
    double most = strcmp(x.run, "gmres") == 0 || strcmp(x.other, "gmres") == 0 ? 1e-11 : 1e-12;
    for (int turn = 0; turn < 2; turn++) {
        swept first = sweep(a, b, tape, x.run, turn), other = sweep(c, b, tape, x.run, turn),
              then = sweep(a, b, tape, x.run, !turn);
        assert_int_equal(first.refused + then.refused, 0);
        is_same(&x, "its own sweeps, before and after", &first, &then);
        is_small(&x, "its own transpose", gap_of(&first, &first), most);
        if (other.refused) continue;
        is_small(&x, "its transpose", gap_of(&other, &other), most);
        is_small(&x, "tangent by the run's, adjoint by the other", gap_of(&first, &other), most);
        is_small(&x, "tangent by the other, adjoint by the run's", gap_of(&other, &first), most);
    }
    int refused = sweep(c, b, tape, x.run, 0).refused;
    costate_tape_free(tape);
    costate_free(a);
    costate_free(c);
    return refused;
}

static const struct { int solver; const char *name; } solvers[] = {
    {COSTATE_LS_DENSE, "dense"}, {COSTATE_LS_BAND, "band"}, {COSTATE_LS_GMRES, NULL}, {COSTATE_LS_UMFPACK, "umfpack"},
    {COSTATE_LS_KLU, "klu"},
};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

static int built_in(int k) { return !solvers[k].name || costate_backend_find(solvers[k].name); }

static int index_of(const costate_method *m)
{
    int k = 0;
    while (costate_method_at(k) != m) k++;
    return k;
}

/* Checkpoints and one more store a method; all pairs of linear solvers come up, in turn. */
static void linear_solvers(void **state)
{
    static const int others[] = {ALL, STATES, FILE_ALL, FILE_CHECKPOINTS};
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 1);
    int turn = index_of(*state), stores[] = {CHECKPOINTS, others[turn % 4]};
    for (int k = 0; k < 2; k++) {
        int i = is_explicit(*state) ? 0 : turn % SOLVERS;
        int j = is_explicit(*state) ? 0 : (i + 1 + (turn / SOLVERS + k) % (SOLVERS - 1)) % SOLVERS;
        costate_options run = options_of(*state, stores[k], solvers[i].solver), other = run;
        if (!built_in(i) || !built_in(j)) continue;
        run.derivative_mode = other.derivative_mode = turn / 4 % 2;
        other.solver = solvers[j].solver;
        int refused = in_turn(*state, b, stores[k], &run, &other);
        if (keeps_stages(stores[k]) || i == j) assert_int_equal(refused, 0);
        else if (stores[k] != STATES) assert_true(refused > 0);
    }
}

/* ---- the run again with another linear solver, onto a tape of its own ---- */

static void replayed(void **state)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 1);
    int turn = index_of(*state), i = turn % 3, j = (i + 1 + turn / 3 % 2) % 3;
    costate_options run = options_of(*state, CHECKPOINTS, solvers[i].solver), other = run;
    if (is_explicit(*state)) skip();
    other.solver = solvers[j].solver;
    costate *a = new_for_test(*state, &b->P, &run), *c = new_for_test(*state, &b->P, &other);
    costate_tape *tape = run_onto_tape(a, b, CHECKPOINTS), *onto = costate_tape_new();
    double y[N] = {b->y0[0], b->y0[1], b->y0[2]};
    who x = {*state, CHECKPOINTS, costate_solver_name(c), costate_solver_name(a)};
    CHECK_OK(c, costate_replay_onto(c, tape, y, b->p0, onto));
    swept first = sweep(c, b, onto, x.run, 0), then = sweep(c, b, onto, x.run, 1);
    assert_int_equal(first.refused + then.refused, 0);
    is_same(&x, "over its own tape of the run, twice", &first, &then);
    is_small(&x, "over its own tape of the run, its transpose", gap_of(&first, &then), 1e-11);
    assert_int_equal(sweep(a, b, onto, x.run, 0).refused, 2);
    costate_tape_free(tape);
    costate_tape_free(onto);
    costate_free(a);
    costate_free(c);
}

/* ---- options that the bits of a step depend on ---- */

static void refused_by(const char *method, costate_options *run, costate_options *other, const problem *b,
                       const char *word)
{
    const costate_method *m = costate_method_find(method);
    costate *a = new_for_test(m, &b->P, run), *c = new_for_test(m, &b->P, other);
    costate_tape *tape = run_onto_tape(a, b, CHECKPOINTS);
    double lambda[N] = {1}, mu[NP] = {0};
    int status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    if (word ? status != COSTATE_BAD_TAPE || !strstr(costate_message(c), word) : status != COSTATE_OK)
        fail_msg("%s: %s: %s", method, costate_status_name(status), costate_message(c));
    CHECK_OK(a, costate_adjoint(a, tape, 1, lambda, mu, NULL, NULL));
    costate_tape_free(tape);
    costate_free(a);
    costate_free(c);
}

/* Tolerances enter Jacobians that are formed by differences, and iterations of GMRES, but no other step that is made
   again; autonomous leaves f_t out of Rosenbrock methods. */
static void options(void **state)
{
    problem given = *problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0), formed = given;
    (void)state;
    formed.P.jac = NULL;
    formed.P.rhs.tangent = NULL;
    formed.P.rhs.tangents = NULL;
    static const char *const names[] = {"radau2a", "sdirk4a", "esdirk43i6", "gauss4"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        costate_options run = options_of(costate_method_find(names[k]), CHECKPOINTS, COSTATE_LS_DENSE), other = run;
        other.rtol = 1e-5;
        refused_by(names[k], &run, &other, &given, NULL);
        refused_by(names[k], &run, &other, &formed, "tolerances");
        run.solver = other.solver = COSTATE_LS_GMRES;
        refused_by(names[k], &run, &other, &given, "tolerances");
        other = run;
        other.krylov_tol = 1e-8;
        refused_by(names[k], &run, &other, &given, "krylov_tol");
        other.solver = COSTATE_LS_DENSE;
        refused_by(names[k], &run, &other, &given, "gmres");
    }
    costate_options run = options_of(costate_method_find("rodas4"), CHECKPOINTS, COSTATE_LS_DENSE), other = run;
    other.autonomous = 1;
    refused_by("rodas4", &run, &other, &given, "autonomous");
}

int main(void)
{
    static const struct CMUnitTest all[] = {cmocka_unit_test(options)};
    snprintf(path, sizeof path, "other_solver.%ld.tape", (long)getpid());
    int failed = run_by_method("sweeps by another linear solver", linear_solvers) +
                 run_by_method("replayed with another linear solver", replayed) +
                 cmocka_run_group_tests(all, NULL, NULL);
    unlink(path);
    return failed;
}
