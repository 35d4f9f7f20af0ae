/* test_methods.c - the list of methods: found by name, described, and what is said of them fits together. */
#include "step/method.h"
#include "common.h"

static void listed(void **state)
{
    int count = costate_method_count();
    (void)state;
    assert_true(count >= 30);
    assert_true(costate_method_at(-1) == NULL && costate_method_at(count) == NULL &&
                costate_method_at(2147483647) == NULL);
    assert_true(!costate_method_find("") && !costate_method_find("dopri") && !costate_method_find("dopri55") &&
                !costate_method_find("DOPRI5"));
    for (int k = 0; k < count; k++)
        for (int j = 0; j < k; j++) {
            costate_method_info a = method_info(costate_method_at(j)), b = method_info(costate_method_at(k));
            if (strcmp(a.name, b.name) == 0 || strcmp(a.title, b.title) == 0)
                fail_msg("%s and %s: one name or title twice", a.name, b.name);
            if (a.family > b.family) fail_msg("%s comes before %s, but its family after", a.name, b.name);
        }
}

/* Those for boundary values alone are found and described, but not listed, and no solver of initial values is made. */
static void for_boundary_values(void **state)
{
    (void)state;
    const problem *b = problem_find("lv");
    int count = costate_method_count(), found = 0, all = 0;
    for (int k = 0; k < count; k++) assert_int_not_equal(method_info(costate_method_at(k)).family, COSTATE_COLLOCATION);
    for (const costate_method *const *m = costate_method_table; *m; m++, all++) {
        costate_method_info i = method_info(*m);
        if (i.family != COSTATE_COLLOCATION) continue;
        found++;
        assert_ptr_equal(costate_method_find(i.name), *m);
        assert_true(i.stages == (*m)->s && i.dense == (*m)->dense.degree && i.embedded == 0);
        assert_true(!(*m)->W && !(*m)->T && !(*m)->eig && !(*m)->est.e);
        assert_memory_equal((*m)->d, (*m)->b, (size_t)i.stages * sizeof(double));
        costate *c = costate_new(*m, &b->P, NULL);
        double y[3] = {b->y0[0], b->y0[1], 0};
        assert_int_equal(costate_integrate(c, 0, 1, y, b->p0, NULL), COSTATE_BAD_ARGUMENT);
        char sentence[160];
        snprintf(sentence, sizeof sentence, "Method %s is for boundary value problems: see costate/bvp.h, "
                 "costate_bvp_new.", i.name);
        assert_string_equal(costate_message(c), sentence);
        costate_free(c);
    }
    assert_true(found >= 4 && count + found == all);
}

#define IS(property) ((i.properties & (property)) != 0)
#define CLAIM(x) do { if (!(x)) fail_msg("%s: not so: %s", i.name, #x); } while (0)

static void described(void **state)
{
    const costate_method *m = *state;
    costate_method_info i;
    assert_int_equal(costate_method_describe(m, &i), COSTATE_OK);
    assert_ptr_equal(costate_method_find(i.name), m);
    int sdirk = i.family == COSTATE_SDIRK, firk = i.family == COSTATE_FIRK,
        ros = i.family == COSTATE_ROS, rkc = i.family == COSTATE_RKC;
    for (const char *p = i.name; *p; p++) CLAIM((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '_');
    CLAIM(strlen(i.title) > 3 && strlen(i.source) > 10);
    CLAIM(i.stages >= 1 && i.stages <= (rkc ? 200 : 32) && i.order >= 1);
    CLAIM(i.order <= (firk ? 2 * i.stages : sdirk || ros ? i.stages + 1 : i.stages));
    CLAIM(!rkc || (IS(COSTATE_FSAL) && i.embedded >= 1 && i.dense == (i.order < 3 ? i.order : 3)));     /* Hermite */
    CLAIM(i.embedded >= 0);                          /* any: the generator refuses weights that are the method's own */
    CLAIM(i.dense >= 0 && i.dense <= i.order);
    CLAIM(!IS(COSTATE_L_STABLE) || IS(COSTATE_A_STABLE));
    CLAIM(!IS(COSTATE_L_STABLE) || fabs(i.r_infinity) < 1e-12);
    CLAIM(!IS(COSTATE_A_STABLE) || fabs(i.r_infinity) <= 1 + 1e-12);
    CLAIM(!is_explicit(m) ||
          !IS(COSTATE_A_STABLE | COSTATE_L_STABLE | COSTATE_DAE | COSTATE_W_METHOD | COSTATE_EXPLICIT_FIRST));
    CLAIM(!is_explicit(m) || isnan(i.r_infinity));
    CLAIM(is_explicit(m) || !IS(COSTATE_FSAL) || IS(COSTATE_STIFFLY_ACCURATE));
    CLAIM(ros || !IS(COSTATE_W_METHOD));
    CLAIM(sdirk || !IS(COSTATE_EXPLICIT_FIRST));
    CLAIM(!IS(COSTATE_DAE) || isfinite(i.r_infinity));
    CLAIM((sdirk || firk) ? !IS(COSTATE_STIFFLY_ACCURATE) || IS(COSTATE_DAE) || IS(COSTATE_EXPLICIT_FIRST) : 1);
}

/* What a solver for it counts: one decomposition a step or more for implicit methods, none for explicit ones.  Nothing
   is stiff here: a composite method works as its explicit members, if it has any. */
static void works_as_its_family(void **state)
{
    const costate_method *m = *state;
    const problem *b = problem_find("lv");
    costate_method_info i = method_info(m);
    int explicit_steps = begins_explicit(m), full = i.family == COSTATE_FIRK || i.family == COSTATE_COMPOSITE;
    double y[3] = {b->y0[0], b->y0[1], 0};
    costate *c = new_for_test(m, &b->P, &(costate_options){.rtol = 1e-3, .atol = 1e-3, .autonomous = 1});
    CHECK_OK(c, costate_integrate(c, 0, 1, y, b->p0, NULL));
    const costate_stats *s = costate_get_stats(c);
    long made = s->decompositions + s->complex_decompositions;
    CLAIM(s->steps == s->accepted + s->rejected && s->accepted > 0);
    CLAIM(explicit_steps == (made == 0) && (made == 0) == (s->jac == 0));
    CLAIM(explicit_steps == (s->power > 0));
    CLAIM(i.family != COSTATE_ROS || (made == s->steps && s->jac == s->accepted && s->newton == 0));
    CLAIM(is_newton(m) == (s->newton > 0));
    CLAIM(s->complex_decompositions == 0 || full);
    CLAIM(strcmp(costate_solver_name(c), is_explicit(m) ? "none" : "dense") == 0);
    costate_reset_stats(c);
    CLAIM(s->steps == 0 && s->f == 0);
    costate_free(c);
}

/* a name that is not quite one: what was meant is the first that is near */
static void mistyped(void **state)
{
    static const struct { const char *typed, *meant; } names[] = {
        {"dopri", "dopri5"}, {"Radau2a", "radau2a"}, {"radua2a", "radau2a"}, {"rodas", "rodas4"},
        {"sdirk4", "sdirk4a"}};
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        int found = 0;
        assert_null(costate_method_find(names[k].typed));
        assert_non_null(costate_method_near(names[k].typed, 0));
        for (int i = 0; i < 5 && costate_method_near(names[k].typed, i); i++)
            found |= costate_method_near(names[k].typed, i) == costate_method_find(names[k].meant);
        if (!found) fail_msg("%s is not near %s", names[k].typed, names[k].meant);
    }
    assert_ptr_equal(costate_method_near("radau2a", 0), costate_method_find("radau2a"));
    assert_null(costate_method_near("a method of nobody's", 0));
    assert_null(costate_method_near("radau2a", 1000));
    assert_null(costate_method_near("radau2a", -1));
    assert_null(costate_method_near(NULL, 0));
}

/* no method: auto, bit for bit */
static void none_is_auto(void **state)
{
    const costate_method *by[2] = {NULL, costate_method_find("auto")};
    double y[2][4] = {{0}};
    costate_stats counts[2];
    (void)state;
    for (int k = 0; k < 2; k++) {
        const problem *b = problem_find("vdpol_mild");
        costate *c = costate_new(by[k], &b->P, &(costate_options){.rtol = 1e-5, .atol = 1e-5});
        memcpy(y[k], b->y0, (size_t)b->P.n * sizeof(double));
        CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y[k], b->p0, NULL));
        counts[k] = *costate_get_stats(c);
        costate_free(c);
    }
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_memory_equal(&counts[0], &counts[1], sizeof counts[0]);
}

/* The members of composite methods are methods that take steps on their own, explicit ones before stiff ones; others
   have none. */
static void members(void **state)
{
    const costate_method *m = *state;
    int count = 0, stiff = 0;
    assert_null(costate_method_member(m, -1));
    assert_null(costate_method_member(m, COSTATE_MEMBERS_MOST));
    assert_null(costate_method_member(NULL, 0));
    for (const costate_method *of; count < COSTATE_MEMBERS_MOST && (of = costate_method_member(m, count)); count++) {
        assert_ptr_equal(costate_method_find(method_name(of)), of);
        assert_true(!is_composite(of) && method_info(of).embedded > 0);
        assert_true(!(is_explicit(of) && stiff));
        stiff |= !is_explicit(of);
    }
    assert_true(is_composite(m) ? count > 1 : count == 0);
    for (int k = count; k < COSTATE_MEMBERS_MOST; k++) assert_null(costate_method_member(m, k));
}

int main(void)
{
    const struct CMUnitTest once[] = {cmocka_unit_test(listed), cmocka_unit_test(for_boundary_values),
                                       cmocka_unit_test(mistyped), cmocka_unit_test(none_is_auto)};
    return cmocka_run_group_tests(once, NULL, NULL) + run_by_method("described", described) +
           run_by_method("works as its family", works_as_its_family) + run_by_method("members", members);
}
