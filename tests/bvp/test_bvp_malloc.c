/* test_bvp_malloc.c - malloc fails at call k, for every k, in each call of a boundary value solver: a status (or no
   solver), nothing leaked, nothing lost but this call, and the same bits as ever when memory is back. */
#include "alloc.h"
#include "bvp_common.h"
#include <costate/linsol.h>

enum { NS = 3, NP = 2, NQ = 2, N = NS + NQ, POINTS = 3, ENDS = 3, CALLS = 7 };

typedef struct { const costate_method *m; bvps *s; costate_bvp_options o; } setting;

typedef struct {
    int intervals;
    double y[POINTS * N], V[N * POINTS], mu[NP], ends[ENDS], times[POINTS], c[NS], mu2[NP], ends2[ENDS],
           times2[POINTS], c2[NS];
} results;

static int seed(int points, const double *t, const double *X, const double *p, int m, const double *V, const double *Vp,
                double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t, (void)p, (void)Vp, (void)mu, (void)mu2, (void)ctx;
    for (int i = 0; i < points * N; i++) lambda[i] = X[i];
    for (int i = 0; i < m * points * N; i++) lambda2[i] = V[i];
    return 0;
}

static const double one[N * POINTS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* call `which` of all; in this order they need one another */
static int call(const setting *s, costate_bvp *c, int which, results *r)
{
    const bvps *b = s->s;
    const double t[POINTS] = {b->a, 0.6 * b->a + 0.4 * b->b, b->b};
    const double ends[2] = {b->a, b->b}, y[2 * NS] = {0.1, 0.2, 0.3, -0.1, -0.2, -0.3};
    int status = COSTATE_OK;
    switch (which) {
    case 0: return costate_bvp_guess(c, 2, ends, y);
    case 1: return costate_bvp_mesh(c, 2, ends);
    case 2:
        status = costate_bvp_solve(c, b->a, b->b, b->p);
        r->intervals = costate_bvp_intervals(c);
        return status;
    case 3:
        for (int k = 0; k < POINTS && status == COSTATE_OK; k++) status = costate_bvp_eval(c, t[k], r->y + k * N);
        return status;
    case 4:
        return costate_bvp_tangent(c, &(costate_bvp_tangents){
            .m = 1, .points = POINTS, .t = t, .Vp = one, .Vends = one, .Vtimes = one, .Vc = one, .V = r->V});
    case 5:
        memset(r->mu, 0, sizeof r->mu);
        return costate_bvp_adjoint(c, &(costate_bvp_adjoints){
            .m = 1, .points = POINTS, .t = t, .lambda = one, .mu = r->mu, .ends = r->ends, .times = r->times,
            .c = r->c});
    default:
        memset(r->mu, 0, sizeof r->mu);
        memset(r->mu2, 0, sizeof r->mu2);
        return costate_bvp_hessian(c, &(costate_bvp_second){
            .m = 1, .points = POINTS, .t = t, .Vp = one, .Vends = one, .Vtimes = one, .Vc = one, .seed = seed,
            .mu = r->mu, .ends = r->ends, .times = r->times, .c = r->c, .mu2 = r->mu2, .ends2 = r->ends2,
            .times2 = r->times2, .c2 = r->c2});
    }
}

static void complain(const setting *s, int which, long k, int status, const costate_bvp *c)
{
    alloc_fail_at(0);
    fail_msg("%s, form %d, solver %d, call %d, malloc %ld: %s: %s", method_name(s->m), s->s->form, s->o.solver, which,
             k, costate_status_name(status), costate_bvp_message(c));
}

static costate_bvp *opened(const setting *s) { return costate_bvp_new(s->m, &s->s->P, &s->s->C, &s->o); }

static void reference(const setting *s, results *r)
{
    costate_bvp *c = opened(s);
    memset(r, 0, sizeof *r);
    for (int which = 0; which < CALLS; which++) {
        int status = call(s, c, which, r);
        if (status != COSTATE_OK) complain(s, which, 0, status, c);
    }
    costate_bvp_free(c);
}

/* in costate_bvp_new: no solver, or one whose calls say it */
static long in_new(const setting *s)
{
    for (long k = 1;; k++) {
        results r;
        alloc_fail_at(k);
        costate_bvp *c = opened(s);
        long failures = alloc_failures();
        alloc_fail_at(0);
        if (!c && failures == 0) complain(s, -1, k, 0, c);
        if (c && failures) {
            int status = call(s, c, 2, &r);
            int said = status == COSTATE_NO_MEMORY && strstr(costate_bvp_message(c), "o memory");
            if (!said) complain(s, -1, k, status, c);
        }
        costate_bvp_free(c);
        if (failures == 0) return k;
    }
}

/* in call `which`; the same call again, and what follows, are as in a run that never failed */
static long in_call(const setting *s, int which, const results *expected)
{
    for (long k = 1;; k++) {
        results r = {0};
        costate_bvp *c = opened(s);
        for (int before = 0; before < which; before++) {
            int status = call(s, c, before, &r);
            if (status != COSTATE_OK) complain(s, before, 0, status, c);
        }
        alloc_fail_at(k);
        int status = call(s, c, which, &r);
        long failures = alloc_failures();
        alloc_fail_at(0);
        if (status != (failures ? COSTATE_NO_MEMORY : COSTATE_OK)) complain(s, which, k, status, c);
        if (failures && !strstr(costate_bvp_message(c), "o memory")) complain(s, which, k, status, c);
        if (failures && which == 2)                      /* what was given for this solve was for it alone */
            for (int again = 0; again < 2; again++) CHECK_BVP(c, call(s, c, again, &r));
        for (int after = failures ? which : which + 1; after < CALLS; after++) {
            status = call(s, c, after, &r);
            if (status != COSTATE_OK) complain(s, after, k, status, c);
        }
        if (memcmp(&r, expected, sizeof r) != 0) complain(s, which, k, 0, c);
        costate_bvp_free(c);
        if (failures == 0) return k;
    }
}

/* after a solution: a solve without memory leaves it as what the next one begins with */
static void continues(const setting *s)
{
    results expected = {0}, r = {0};
    double p0 = s->s->p[0];
    for (long k = 0, failures = 1; failures; k += k ? 3 : 1) {
        costate_bvp *c = opened(s);
        s->s->p[0] = p0 + 0.3;
        CHECK_BVP(c, call(s, c, 2, &r));
        s->s->p[0] = p0;
        if (k) {
            alloc_fail_at(k);
            int status = call(s, c, 2, &r);
            failures = alloc_failures();
            alloc_fail_at(0);
            if (status != (failures ? COSTATE_NO_MEMORY : COSTATE_OK)) complain(s, 2, k, status, c);
        }
        if (failures) CHECK_BVP(c, call(s, c, 2, &r));
        for (int which = 3; which < CALLS; which++) CHECK_BVP(c, call(s, c, which, &r));
        if (k) assert_memory_equal(&r, &expected, sizeof r);
        else expected = r;
        costate_bvp_free(c);
    }
}

static void no_memory(void **state)
{
    static const struct { int solver; const char *name; } solvers[] = {
        {COSTATE_LS_DENSE, NULL}, {COSTATE_LS_KLU, "klu"}, {COSTATE_LS_SPARSE, "sparse"},
        {COSTATE_LS_UMFPACK, "umfpack"}};
    long most[CALLS + 1] = {0};
    for (int l = 0; l < 4; l++)
        for (int form = 0; form < BVPS_FORMS; form++) {
            if (solvers[l].name && !costate_backend_find(solvers[l].name)) continue;
            setting s = {.m = *state};
            s.s = bvps_tangled(&(bvps_spec){.seed = 12, .n = NS, .np = NP, .pieces = ENDS - 1,
                                            .kind = {form, form != 1, solvers[l].name != NULL}});
            assert_non_null(s.s);
            s.o = bvps_options(s.s, 1e-3);
            s.o.solver = solvers[l].solver;
            results expected;
            reference(&s, &expected);
            long calls = in_new(&s);
            most[CALLS] = calls > most[CALLS] ? calls : most[CALLS];
            for (int which = 0; which < CALLS; which++) {
                calls = in_call(&s, which, &expected);
                most[which] = calls > most[which] ? calls : most[which];
            }
            continues(&s);
            bvps_free(s.s);
        }
    print_message("           up to %ld calls in new, %ld in solve, %ld %ld %ld in derivatives\n", most[CALLS], most[2],
                  most[4], most[5], most[6]);
}

int main(void)
{
    static const char *const names[] = {"gauss3", "radau2a", "lobatto3a3", "sdirk2a", "trbdf2"};
    enum { NAMES = sizeof names / sizeof *names };
    struct CMUnitTest tests[NAMES];
    for (int k = 0; k < NAMES; k++)
        tests[k] = (struct CMUnitTest){names[k], no_memory, NULL, NULL,
                                       (void *)(uintptr_t)costate_method_find(names[k])};
    return cmocka_run_group_tests_name("no memory for boundary value problems", tests, NULL, NULL);
}
