/* test_locate.c - the length of a step that ends in an event: found to round-off for guards of many shapes, from good
   and bad slopes, and no length is tried twice, as each try solves the step again. */
#include "solver/solver.h"     /* before cmocka, whose fail is a macro */
#include "run/watch.h"
#include "common.h"

enum { SHAPES = 6, TRIES_MOST = 80 };
static const double ROOT = 0.3;
/* a root of third order is known to the cube root of round-off, one at a kink as far as the slope is */
static const double TOLERANCE[SHAPES] = {1e-15, 1e-15, 1e-15, 1e-3, 1e-15, 1e-9};

typedef struct { int shape, sign, count; double tried[TRIES_MOST]; } guard_of_step;

static double shape_of(int shape, double x)
{
    switch (shape) {
    case 0: return x;
    case 1: return expm1(4 * x);
    case 2: return -expm1(-4 * x);
    case 3: return x * x * x;
    case 4: return atan(30 * x);
    default: return x < 0 ? x : 5 * x;
    }
}

static int solve(void *ctx, double h, double *e)
{
    guard_of_step *g = ctx;
    for (int k = 0; k < g->count; k++)
        if (g->tried[k] == h) fail_msg("shape %d: h = %.17g is tried twice, of %d tries", g->shape, h, g->count);
    assert_true(g->count < TRIES_MOST);
    g->tried[g->count++] = h;
    *e = g->sign * shape_of(g->shape, h - ROOT);
    return 0;
}

/* the bracket [low, high], a first guess at part of it, and a slope that is wrong by this factor */
static void locates(int shape, int sign, double low, double high, double part, double off)
{
    verdict v = {0};
    guard_of_step g = {.shape = shape, .sign = sign};
    double h = low + part * (high - low), d = 1e-7, miss, slope;
    double exact = (shape_of(shape, h - ROOT + d) - shape_of(shape, h - ROOT - d)) / (2 * d);
    search s = {.solve = solve, .ctx = &g, .v = &v, .t = 0, .slope = sign * fmax(exact, 1e-9) * off, .low = low,
                .high = high, .sign = -sign};
    assert_int_equal(search_step(&s, &h, &miss, &slope), 0);
    if (!(fabs(h - ROOT) <= TOLERANCE[shape]))
        fail_msg("shape %d, sign %d, guess at %g, slope off by %g: h is wrong by %g after %d tries", shape, sign, part,
                 off, h - ROOT, g.count);
}

static void located_without_trying_twice(void **state)
{
    static const double parts[] = {0.02, 0.3, 0.5, 0.9, 1}, offs[] = {1, 0.1, 0.5, 2, 5};
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++)
        for (int sign = -1; sign <= 1; sign += 2)
            for (int p = 0; p < 5; p++)
                for (int k = 0; k < 5; k++) {
                    locates(shape, sign, 0.25, 0.5, parts[p], offs[k]);
                    locates(shape, sign, 0.1, 1, parts[p], offs[k]);
                    locates(shape, sign, 0.2999, 0.8, parts[p], offs[k]);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(located_without_trying_twice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
