/* test_ensemble_malloc.c - malloc fails from call k on, for every k: a status for what it was needed for, nothing
   leaked, other members as ever; and after its first members an ensemble allocates nothing. */
#include "alloc.h"
#include "ensembles.h"

static const wanted ALL[] = {{0, 0, 0}, {0, EM, 0}, {ED, EM, 0}};

typedef struct { const costate_method *m; const problem *b; costate_options o; wanted w; int threads; } setting;

static int run(const setting *s, const given_to_all *g, results_of_all *r, costate_ensemble_report *report)
{
    int N;
    costate_times times[2];
    costate_members a = members_of(s->b, g, s->w, r, &N, times);
    a.threads = s->threads;
    return costate_ensemble(s->m, &s->b->P, &s->o, &a, report);
}

/* those that were not short of memory are as ever; how many were */
static int unharmed(const setting *s, const results_of_all *r, const results_of_all *truth, long k)
{
    int N = s->b->P.n + s->b->P.nq, np = s->b->P.np, m = s->w.m, d = s->w.directions;
    int others = 0;
    for (int j = 0; j < MEMBERS; j++) {
        if (r->status[j] == COSTATE_NO_MEMORY) continue;
        others++;
#define SAME(x, size) (memcmp(r->x + j * (size), truth->x + j * (size), (size_t)(size) * sizeof *r->x) == 0)
        if (!SAME(y, N) || !SAME(V, N * d) || !SAME(lambda, N * m) || !SAME(mu, np * m) || !SAME(status, 1))
            fail_msg("%s, m %d, directions %d, %d threads, malloc %ld: member %d", method_name(s->m), m, d, s->threads,
                     k, j);
    }
    return MEMBERS - others;
}

static void every_call_fails(void **state)
{
    const costate_method *m = *state;
    for (size_t w = 0; w < sizeof ALL / sizeof *ALL; w++)
        for (int threads = 1; threads <= 2; threads++) {
            setting s = {m, problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0), {.rtol = 1e-2, .atol = 1e-2}, ALL[w],
                         threads};
            given_to_all g;
            results_of_all truth, r;
            costate_ensemble_report report;
            members_given(s.b, &g);
            run(&s, &g, &truth, &report);
            long most = 400, failures = 1;
            for (long k = 1; failures > 0 && k < most; k++) {
                alloc_fail_at(k);
                int status = run(&s, &g, &r, &report);
                failures = alloc_failures();
                alloc_fail_at(0);
                if (status == COSTATE_NO_MEMORY) assert_non_null(strstr(report.text, "o memory"));
                if (unharmed(&s, &r, &truth, k) == 0 && threads == 1) assert_int_equal(failures, 0);
            }
            assert_int_equal(failures, 0);
        }
}

/* A hundred times the members, and not one call more, with and without tapes. */
static void no_allocation_a_member(void **state)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    costate_options o = {.rtol = 1e-2, .atol = 1e-2};
    const costate_method *m = *state;
    static double y[1000 * EN], V[1000 * EN], lambda[1000 * EN];
    long calls[2][2];
    for (int derivatives = 0; derivatives < 2; derivatives++)
        for (int many = 0; many < 2; many++) {
            costate_members a = {.count = many ? 1000 : 10, .threads = 1, .t0 = b->t0, .t1 = b->t1, .y = y, .p = b->p0,
                                 .same = COSTATE_SAME_P, .directions = derivatives ? 0 : 1, .V = V, .m = derivatives,
                                 .lambda = lambda};
            for (int k = 0; k < a.count * EN; k++) y[k] = k % EN < 3 ? b->y0[k % EN] : 0;
            alloc_fail_at(0);
            int status = costate_ensemble(m, &b->P, &o, &a, NULL);
            calls[derivatives][many] = alloc_calls();
            assert_int_equal(status, COSTATE_OK);
        }
    assert_int_equal(calls[0][1], calls[0][0]);
    assert_int_equal(calls[1][1], calls[1][0]);
}

int main(void)
{
    const char *const names[] = {"dopri5", "rodas4", "sdirk4a", "radau2a", "rkc2"};
    struct CMUnitTest tests[10];
    for (int k = 0; k < 10; k++) {
        void *m = (void *)(uintptr_t)costate_method_find(names[k % 5]);
        tests[k] = k < 5 ? (struct CMUnitTest){names[k], every_call_fails, NULL, NULL, m}
                         : (struct CMUnitTest){names[k - 5], no_allocation_a_member, NULL, NULL, m};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
