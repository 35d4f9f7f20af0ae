/* common.h - what tests share: cmocka's headers, methods in loops, random numbers, errors, a failed call's sentence. */
#ifndef TESTS_COMMON_H
#define TESTS_COMMON_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "problems.h"
#include "traits.h"

static inline double random_in(unsigned *state)      /* -1 .. 1, the same on every machine */
{
    *state = *state * 1664525u + 1013904223u;
    return ((double)(*state >> 8) / 8388608.0) - 1;
}

static inline void random_fill(unsigned *state, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) x[i] = random_in(state);
}

/* |a - b| / |b| in the 2-norm */
static inline double relative_error(int n, const double *a, const double *b)
{
    double error = 0, size = 0;
    for (int i = 0; i < n; i++) {
        error += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
    }
    return sqrt(error / size);
}

static inline unsigned random_below(unsigned *state, unsigned most)      /* 0 .. most - 1 */
{
    return (unsigned)((0.5 + 0.5 * random_in(state)) * most) % most;
}

static inline const char *method_name(const costate_method *m)
{
    costate_method_info info;
    return costate_method_describe(m, &info) == COSTATE_OK ? info.name : "NULL";
}

static inline costate_method_info method_info(const costate_method *m)
{
    costate_method_info info = {0};
    costate_method_describe(m, &info);
    return info;
}

/* costate_new for tests over all methods: one without an error estimate takes fixed steps, short ones for the problems
   of these tests (their intervals are about 1 long), where options leave the choice open.  Tests of step size control
   leave such methods out (NEEDS_ESTIMATE). */
static inline costate *new_for_test(const costate_method *m, const costate_problem *P, const costate_options *given)
{
    costate_options o = given ? *given : (costate_options){0};
    if (!m || method_info(m).embedded || o.controller != COSTATE_AUTO) return costate_new(m, P, given);
    o.controller = COSTATE_FIXED;
    if (o.h0 == 0) o.h0 = o.hmax > 0 ? o.hmax / 2 : 0.02;
    return costate_new(m, P, &o);
}

static inline double larger_of(double a, double b) { return a > b || a != a ? a : b; }    /* NaN stays, unlike fmax's */

/* root mean square of n unknowns */
static inline double error_in_tolerances(int n, const double *y, const double *truth, double tol)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double e = (y[i] - truth[i]) / (tol + tol * fabs(truth[i]));
        sum += e * e;
    }
    return sqrt(sum / n);
}

static inline double largest_gap(int n, const double *x, const double *y)                    /* absolute */
{
    double most = 0;
    for (int i = 0; i < n; i++) most = larger_of(most, fabs(x[i] - y[i]));
    return most;
}

static inline double relative_gap(int n, const double *x, const double *y)                   /* to the largest y */
{
    double most = largest_gap(n, x, y), size = 0;
    for (int i = 0; i < n; i++) size = larger_of(size, fabs(y[i]));
    return most == 0 ? 0 : most / size;
}

#define NEEDS_ESTIMATE(m) do { if (!method_info(m).embedded) skip(); } while (0)

#define CHECK_OK(c, call) do { \
    int s_ = (call); \
    if (s_ != COSTATE_OK) fail_msg("%s: %s: %s", #call, costate_status_name(s_), costate_message(c)); } while (0)

/* How much is tested, as COSTATE_TESTS in the environment says: "all" (./run test all): every method and every
   combination; "few" (mutants): one method of each kind wherever a test goes over methods; "rest" (under sanitizers):
   the same, but where ./run test takes every second kind, the other ones; else each test as it says.  COSTATE_METHODS:
   names of methods; tests go over these alone (methods that were added). */
enum { TESTS_FEW, TESTS_REST, TESTS_USUAL, TESTS_ALL };
static inline int how_much(void)
{
    const char *s = getenv("COSTATE_TESTS");
    const char *const names[] = {"few", "rest", "usual", "all"};
    for (int k = TESTS_FEW; s && k <= TESTS_ALL; k++) if (strcmp(s, names[k]) == 0) return k;
    return TESTS_USUAL;
}

/* Of combinations numbered k one in `one_in` is enough, unless all are asked for: a sum of indices is a Latin square */
static inline int skipped(int k, int one_in) { return how_much() != TESTS_ALL && k % one_in != 0; }

static inline unsigned hash_of(const char *name)
{
    unsigned hash = 5381;
    while (*name) hash = 33 * hash + (unsigned char)*name++;
    return hash;
}

/* A sum of indices with this one: each method leaves out other combinations. */
static inline int turn_of(const costate_method *m) { return (int)(hash_of(method_name(m)) % 1024); }

static inline int is_listed(const costate_method *m, const char *names)
{
    const char *name = method_name(m), *at = names;
    size_t length = strlen(name);
    while ((at = strstr(at, name))) {
        if ((at == names || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return 1;
        at += length;
    }
    return 0;
}

/* Two methods are of a kind where the library treats them alike: the same family, properties and form of estimate, and
   of firk the same number of blocks; each of rkc is a kind of its own, as their last stages differ, and each composite
   method, as their members differ. */
static inline int of_a_kind(const costate_method *a, const costate_method *b)
{
    costate_method_info i = method_info(a), j = method_info(b);
    int blocks = i.family != COSTATE_FIRK || ((i.stages > 1) + (i.stages > 3) == (j.stages > 1) + (j.stages > 3));
    int alone = i.family == COSTATE_RKC || i.family == COSTATE_COMPOSITE;
    return a == b || (i.family == j.family && !alone && i.properties == j.properties &&
                      !i.embedded == !j.embedded && blocks);
}

enum { KINDS_ALL, KINDS_SECOND, KINDS_OTHER };

/* One method of each kind stands for the others: another one in each test, by its name.  Of each kind, of every second
   one, in each test of others, or of those that are left. */
static inline int stands_for_its_kind(const char *claim, const costate_method *m, int kinds)
{
    const costate_method *same[128];
    unsigned hash = hash_of(claim);
    int count = 0;
    for (int k = 0; k < costate_method_count(); k++)
        if (of_a_kind(m, costate_method_at(k))) same[count++] = costate_method_at(k);
    if (count == 0) return 1;                                       /* a method of bvp.h alone */
    int other = (hash + (unsigned)turn_of(same[0])) / 64 % 2;
    if (kinds != KINDS_ALL && other != (kinds == KINDS_OTHER)) return 0;
    return same[hash % (unsigned)count] == m;
}

static inline int is_tested(const char *claim, const costate_method *m, int by_kind)
{
    const char *names = getenv("COSTATE_METHODS");
    if (names) return is_listed(m, names);
    int much = how_much();
    if (much == TESTS_ALL || (much == TESTS_USUAL && !by_kind)) return 1;
    if (!by_kind || much == TESTS_FEW) return stands_for_its_kind(claim, m, KINDS_ALL);
    return stands_for_its_kind(claim, m, much == TESTS_USUAL ? KINDS_SECOND : KINDS_OTHER);
}

/* One cmocka test a method, named "claim: method"; *state is the method.  Use: return run_by_method("claim", test);
   before: done once, or NULL.  by_kind: as run_by_kind. */
static inline int run_by_method_after(const char *claim, CMUnitTestFunction test, CMFixtureFunction before, int by_kind)
{
    enum { MOST = 128 };
    static struct CMUnitTest tests[MOST];
    static char names[MOST][96];
    int all = costate_method_count(), count = 0;
    if (all > MOST) return 1;
    for (int k = 0; k < all; k++) {
        const costate_method *m = costate_method_at(k);
        if (!is_tested(claim, m, by_kind)) continue;
        snprintf(names[count], sizeof names[count], "%s: %s", claim, method_name(m));
        tests[count] = (struct CMUnitTest){names[count], test, NULL, NULL, (void *)(uintptr_t)m};
        count++;
    }
    return _cmocka_run_group_tests(claim, tests, (size_t)count, before, NULL);
}

static inline int run_by_method(const char *claim, CMUnitTestFunction test)
{
    return run_by_method_after(claim, test, NULL, 0);
}

/* For what takes long: all methods by ./run test all, else one of each kind (few) or of every second one */
static inline int run_by_kind(const char *claim, CMUnitTestFunction test)
{
    return run_by_method_after(claim, test, NULL, 1);
}

#endif
