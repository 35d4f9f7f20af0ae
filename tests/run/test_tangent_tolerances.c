/* test_tangent_tolerances.c - tangents with tolerances of their own: errors in proportion to them, direction by
   direction; the unit of a direction changes no step, in runs of all kinds; what cannot be meant is refused.

       y0' = y0 (1 - y0) g,  y1' = y1 (1 - y0) g,  q' = y0 (1 - y0) g,  g = 1 + U0 p0 cos 6t + U1 p1 cos 15t,  p = 0

   The states are smooth and their steps see nothing of the forcing.  With y0(0) = 1/5 and y1(0) = y0(0)/1000:

       y0 = q + 1/5 = 1/(1 + 4 e^-t),  y1 = y0/1000,  dy0/dp_j = y0 (1 - y0) s_j,  s_0 = U0 sin(6t)/6,
       s_1 = U1 sin(15t)/15 */
#include "step/method.h"        /* before cmocka */
#include <float.h>
#include "common.h"
#include "hybrids.h"
#include "spread.h"

enum { STATES = 2, ROWS = 3, DIRECTIONS = 2 };
static const double END = 2, SECOND = 1e-3;

typedef struct { double U[DIRECTIONS]; } units;

static num forcing(const void *of, const num_point *x)
{
    const units *u = of;
    num a = mul(x->p[0], cosine(times(6, x->t))), b = mul(x->p[1], cosine(times(15, x->t)));
    return plus(add(times(u->U[0], a), times(u->U[1], b)), 1);
}

static void growth(const void *of, const num_point *x, num *out)
{
    num rest = mul(plus(times(-1, x->y[0]), 1), forcing(of, x));
    out[0] = mul(x->y[0], rest);
    out[1] = mul(x->y[1], rest);
}

static void gain(const void *of, const num_point *x, num *out)
{
    out[0] = mul3(x->y[0], plus(times(-1, x->y[0]), 1), forcing(of, x));
}

#define MAP(name, formula, rows_) \
    static num_map name##_map(const void *ctx) \
    { \
        return (num_map){.n = STATES, .np = DIRECTIONS, .rows = rows_, .f = formula, .of = ctx}; \
    } \
    static int name##_value(const costate_point *x, double *out, void *ctx) \
    { \
        num_map F = name##_map(ctx); \
        return num_value(&F, x, out), 0; \
    } \
    static int name##_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx) \
    { \
        num_map F = name##_map(ctx); \
        return num_tangent(&F, x, dx, NULL, out), 0; \
    } \
    static int name##_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx) \
    { \
        num_map F = name##_map(ctx); \
        return num_adjoint(&F, x, NULL, w, g), 0; \
    } \
    static int name##_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, \
                               void *ctx) \
    { \
        num_map F = name##_map(ctx); \
        return num_tangent(&F, x, a, b, out), 0; \
    } \
    static int name##_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, \
                                      const costate_gradient *g, void *ctx) \
    { \
        num_map F = name##_map(ctx); \
        return num_adjoint(&F, x, dx, w, g), 0; \
    }
MAP(growth, growth, STATES)
MAP(gain, gain, 1)
#define ALL(name) {.value = name##_value, .tangent = name##_tangent, .adjoint = name##_adjoint, \
                   .tangent2 = name##_tangent2, .adjoint_tangent = name##_adjoint_tangent}

static costate_problem problem_in(const units *u)
{
    return (costate_problem){.n = STATES, .np = DIRECTIONS, .nq = 1, .ctx = (void *)(uintptr_t)u, .rhs = ALL(growth),
                             .cost = ALL(gain)};
}

/* ---- runs of it -------------------------------------------------------------------------------------------------- */

typedef struct { double y[ROWS], V[ROWS * DIRECTIONS]; long accepted, rejected; } outcome;

/* with the directions of p from .. from + count - 1 */
static outcome run(const costate_method *m, const units *u, int from, int count, costate_options o, costate_tape *tape)
{
    static const double p[DIRECTIONS], unit[DIRECTIONS * DIRECTIONS] = {1, 0, 0, 1};
    outcome x = {.y = {0.2, 0.2 * SECOND}};
    costate_problem P = problem_in(u);
    costate *c = costate_new(m, &P, &o);
    CHECK_OK(c, costate_integrate_tlm(c, 0, END, x.y, p, count, x.V, unit + from * DIRECTIONS, NULL, tape));
    x.accepted = costate_get_stats(c)->accepted;
    x.rejected = costate_get_stats(c)->rejected;
    costate_free(c);
    return x;
}

/* the largest of a direction, each component in its own unit */
static double error_of(const outcome *x, const units *u, int from, int j)
{
    double y = 1 / (1 + 4 * exp(-END)), frequency = from + j ? 15 : 6, U = u->U[from + j];
    double v = y * (1 - y) * sin(frequency * END) / frequency;
    const double *V = x->V + j * ROWS;
    return fmax(fmax(fabs(V[0] / U - v), fabs(V[1] / (U * SECOND) - v)), fabs(V[2] / U - v));
}

/* Steps that y asks for at 1e-2 are few.  Newton's iteration stops by the tolerances of y, and tangents are no better
   than what it leaves (radau2a7: 2e-5, whatever theirs are): here it goes on to round-off. */
static costate_options loose(void)
{
    return (costate_options){.rtol = 1e-2, .atol = 1e-2, .tangent_error = 1, .derivative_mode = 1};
}

static double tight_for(const costate_method *m) { return method_info(m).order <= 2 ? 1e-4 : 1e-7; }

static void proportion(void **state)
{
    NEEDS_ESTIMATE(*state);
    const costate_method *m = *state;
    static const double sizes[] = {1e-8, 1, 1e6};
    for (int k = 0; k < 3; k++) {
        const units u = {{sizes[k], sizes[k]}};
        costate_options o = loose();
        outcome by_y = run(m, &u, 1, 1, o, NULL);
        double last = HUGE_VAL, unseen = error_of(&by_y, &u, 1, 0);
        for (double tol = 100 * tight_for(m); tol > 0.5 * tight_for(m); tol /= 100) {
            double atol[STATES] = {0.1 * tol * sizes[k], 0.1 * tol * sizes[k] * SECOND};
            o.tangent_count = 1;
            o.tangent_rtol = &tol;
            o.tangent_atol_vector = atol;
            outcome x = run(m, &u, 1, 1, o, NULL);
            double error = error_of(&x, &u, 1, 0);
            if (!(error <= 10 * tol + 100 * m->about.rounding && error < last))
                fail_msg("tangent of size %g at tolerance %g: %.2e after %.2e", sizes[k], tol, error, last);
            last = error;
        }
        if (sizes[k] <= 1 && !(unseen > 5 * last)) fail_msg("tolerances of y do: %.2e, own: %.2e", unseen, last);
    }
}

/* Direction 0 is tight and 1 left out, and the other way round: the steps are those of the tight one alone. */
static void by_direction(void **state)
{
    NEEDS_ESTIMATE(*state);
    const costate_method *m = *state;
    const units u = {{1e-4, 1e3}};
    double tol = tight_for(m);
    long steps[DIRECTIONS];
    for (int tight = 0; tight < DIRECTIONS; tight++) {
        double rtol[DIRECTIONS] = {1, 1}, atol[DIRECTIONS] = {DBL_MAX, DBL_MAX}, own = 0.1 * tol * u.U[tight];
        costate_options o = loose();
        o.tangent_count = DIRECTIONS;
        o.tangent_rtol = rtol;
        o.tangent_atol = atol;
        rtol[tight] = tol;
        atol[tight] = own;
        outcome both = run(m, &u, 0, DIRECTIONS, o, NULL);
        double vector[] = {atol[0], atol[0], atol[1], atol[1]};
        o.tangent_atol_vector = vector;
        outcome same = run(m, &u, 0, DIRECTIONS, o, NULL);
        assert_memory_equal(&both, &same, sizeof both);
        o.tangent_atol_vector = NULL;
        o.tangent_count = 1;
        o.tangent_rtol = &tol;
        o.tangent_atol = &own;
        outcome alone = run(m, &u, tight, 1, o, NULL);
        double error = error_of(&both, &u, 0, tight);
        if (!(error <= 10 * tol / SECOND + 100 * m->about.rounding)) fail_msg("direction %d: %.2e", tight, error);
        assert_true(relative_gap(ROWS, both.y, alone.y) <= 1e-12);
        assert_int_equal(both.accepted, alone.accepted);
        assert_int_equal(both.rejected, alone.rejected);
        steps[tight] = both.accepted;
    }
    assert_true(steps[1] > steps[0]);           /* its tangent is the faster one */
}

/* Members of composite methods calibrate the tolerances of y, by this factor, and not those that are given for
   tangents. */
static double calibrated(const costate_method *m, double rtol)
{
    for (int k = 0; m->of && k < m->of->count; k++) {
        const composite_member *one = &m->of->member[k];
        if (one->method == newton_member(m)) return one->tighter * pow(rtol, one->power) / rtol;
    }
    return 1;
}

/* Those of y, given again: the same bits as without.  One column of absolute ones is that value n times. */
static void same_as_of_y(void **state)
{
    NEEDS_ESTIMATE(*state);
    const units u = {{1, 1}};
    const char *only = is_composite(*state) ? method_name(newton_member(*state)) : NULL;
    double by = calibrated(*state, 1e-3), relative = 1e-3 * by, absolute = 2e-4 * by;
    double rtol[] = {relative, relative}, atol[] = {absolute, absolute};
    double vector[] = {absolute, absolute, absolute, absolute};
    const costate_options base = {.rtol = 1e-3, .atol = 2e-4, .tangent_error = 1, .cost_error = 1,
                                  .tangent_count = DIRECTIONS, .members = only};
    outcome without = run(*state, &u, 0, DIRECTIONS, base, NULL);
    for (int k = 1; k < 8; k++) {
        costate_options o = base;
        if (k & 1) o.tangent_rtol = rtol;
        if (k & 2) o.tangent_atol = atol;
        if (k & 4) o.tangent_atol_vector = vector;
        outcome with = run(*state, &u, 0, DIRECTIONS, o, NULL);
        assert_memory_equal(&with, &without, sizeof with);
    }
    double of_y[] = {2e-4, 1e-7};               /* n values of y stand for each direction that has none */
    costate_options o = base;
    o.atol_vector = of_y;
    without = run(*state, &u, 0, DIRECTIONS, o, NULL);
    o.tangent_rtol = rtol;
    outcome with = run(*state, &u, 0, DIRECTIONS, o, NULL);
    assert_memory_equal(&with, &without, sizeof with);
    double columns[] = {absolute, 1e-7 * by, absolute, 1e-7 * by};
    o.tangent_atol_vector = columns;
    with = run(*state, &u, 0, DIRECTIONS, o, NULL);
    assert_memory_equal(&with, &without, sizeof with);
    double tighter[] = {1e-5, 1e-5}, numbers[] = {1e-3, 1e-3};      /* they stand for both forms of those of y */
    o = base;
    o.tangent_rtol = tighter;
    without = run(*state, &u, 0, DIRECTIONS, o, NULL);
    o.rtol_vector = numbers;
    with = run(*state, &u, 0, DIRECTIONS, o, NULL);
    assert_memory_equal(&with, &without, sizeof with);
}

/* ---- units of directions ----------------------------------------------------------------------------------------- */

/* Powers of two, by which nothing is rounded: 1.4e-160 to 8.2e149. */
static const int powers[] = {-531, -100, 100, 498};
enum { POWERS = sizeof powers / sizeof *powers, LONGEST = HYBRID_LONGEST, WIDEST = LONGEST * DIRECTIONS };

typedef struct { double y[LONGEST], V[WIDEST]; long accepted, rejected; } end_of_run;

/* A hybrid system, direction j 2^power_j times as large.  newton_tol: what Newton's iteration leaves of the tolerances
   of y, in algebraic unknowns whatever the step, is in the tangents' errors, and these are to be a tenth of that. */
static end_of_run hybrid_run(const costate_method *m, const hybrid *h, const int *power)
{
    costate_problem P = hybrid_problem(h);
    int N = h->n + h->nq + h->nm;
    double by_p[LONGEST * NUMS_P], Vp[DIRECTIONS * NUMS_P] = {0};
    double rtol[] = {1e-3, 1e-2}, atol[] = {ldexp(1e-4, power[0]), ldexp(1e-3, power[1])};
    end_of_run x = {.accepted = 0};
    costate *c = costate_new(m, &P, &(costate_options){.rtol = 1e-2, .atol = 1e-2, .cost_error = 1, .mode = h->mode,
        .tangent_error = 1, .tangent_count = DIRECTIONS, .tangent_rtol = rtol, .tangent_atol = atol,
        .newton_tol = 1e-3,
        .consistent = h->form == HYBRID_ODE ? 0 : COSTATE_CONSISTENT_START});
    hybrid_start(h, h->p, x.y, by_p);
    for (int j = 0; j < DIRECTIONS; j++) {              /* along p_j and p_(j+1): consistent, as the start is */
        int k = (j + 1) % h->np;
        for (int i = 0; i < N; i++) x.V[j * N + i] = ldexp(by_p[j * N + i] + by_p[k * N + i], power[j]);
        Vp[j * h->np + j] = Vp[j * h->np + k] = ldexp(1, power[j]);
    }
    CHECK_OK(c, costate_integrate_tlm(c, h->t0, h->t1, x.y, h->p, DIRECTIONS, x.V, Vp, NULL, NULL));
    for (int j = 0; j < DIRECTIONS; j++)
        for (int i = 0; i < N; i++) x.V[j * N + i] = ldexp(x.V[j * N + i], -power[j]);
    x.accepted = costate_get_stats(c)->accepted;
    x.rejected = costate_get_stats(c)->rejected;
    costate_free(c);
    return x;
}

/* events, jumps, memory, integrals; M singular, residuals, unknowns of index 2 */
static void scaled(void **state)
{
    NEEDS_ESTIMATE(*state);
    const hybrid *h;
    for (int k = 0; (h = hybrid_at(k)); k++) {
        if (h->reference || !hybrid_takes(*state, h)) continue;
        end_of_run unit = hybrid_run(*state, h, (int[DIRECTIONS]){0, 0});
        for (int i = 0; i < POWERS; i++) {
            end_of_run x = hybrid_run(*state, h, (int[DIRECTIONS]){powers[i], powers[(i + 1) % POWERS]});
            if (memcmp(&x, &unit, sizeof x) != 0)
                fail_msg("%s, direction 0 in 2^%d: other bits, %ld steps for %ld", h->name, powers[i], x.accepted,
                         unit.accepted);
        }
    }
}

/* GMRES, whose residuals are scaled by powers of ten: estimates are solved as far as the tolerances of the tangents
   ask, not those of y */
static void scaled_by_gmres(void **state)
{
    NEEDS_ESTIMATE(*state);
    if (is_explicit(*state)) skip();
    const units one = {{1, 1}};
    double rtol[] = {1e-4, 1e-4}, atol[] = {1e-5, 1e-5};
    costate_options o = {.rtol = 1e-2, .atol = 1e-2, .solver = COSTATE_LS_GMRES, .tangent_error = 1,
                         .tangent_count = DIRECTIONS, .tangent_rtol = rtol, .tangent_atol = atol};
    outcome unit = run(*state, &one, 0, DIRECTIONS, o, NULL);
    for (int i = 0; i < POWERS; i++) {
        units u = {{ldexp(1, powers[i]), 1}};
        atol[0] = ldexp(1e-5, powers[i]);
        outcome x = run(*state, &u, 0, DIRECTIONS, o, NULL);
        if (!(labs(x.accepted - unit.accepted) <= 1 && relative_gap(ROWS, x.y, unit.y) <= 1e-6))
            fail_msg("direction 0 in 2^%d: %ld steps for %ld, y other by %.1e", powers[i], x.accepted, unit.accepted,
                     relative_gap(ROWS, x.y, unit.y));
    }
}

/* ---- states spread over processes -------------------------------------------------------------------------------- */

typedef struct {
    const costate_method *m;
    int power, status[RANKS_MOST];
    long steps[RANKS_MOST];
    double y[CELLS];
} spread_run;

static void one_process(process *p, void *ctx)
{
    spread_run *x = ctx;
    costate_problem P = spread_problem(p);
    double y[CELLS + NQ] = {0}, V[CELLS + NQ] = {0}, parameters[NP] = {0.7, 3}, Vp[NP] = {0};
    double rtol = 1e-3, atol = ldexp(1e-4, x->power);
    costate *c = costate_new(x->m, &P, &(costate_options){.rtol = 1e-2, .atol = 1e-2, .solver = COSTATE_LS_GMRES,
        .sum = cluster_sum, .sum_ctx = p, .tangent_error = 1, .tangent_count = 1, .tangent_rtol = &rtol,
        .tangent_atol = &atol});
    for (int i = 0; i < p->cells.n; i++) y[i] = sin(0.3 * (p->cells.from + i + 1));
    Vp[1] = ldexp(1, x->power);
    x->status[p->rank] = costate_integrate_tlm(c, 0, 0.05, y, parameters, 1, V, Vp, NULL, NULL);
    x->steps[p->rank] = costate_get_stats(c)->accepted;
    memcpy(x->y + p->cells.from, y, (size_t)p->cells.n * sizeof *y);
    costate_free(c);
}

static spread_run spread_over(const costate_method *m, int ranks, int power)
{
    spread_run x = {.m = m, .power = power};
    cluster *w = cluster_new(ranks);
    cluster_run(w, one_process, &x);
    cluster_free(w);
    for (int r = 0; r < ranks; r++) {
        assert_int_equal(x.status[r], COSTATE_OK);
        assert_int_equal(x.steps[r], x.steps[0]);
    }
    return x;
}

static void over_processes(void **state)
{
    NEEDS_ESTIMATE(*state);
    spread_run one = spread_over(*state, 1, 0), small = spread_over(*state, 2, -531);
    assert_true(labs(one.steps[0] - small.steps[0]) <= 1);
    assert_true(relative_gap(CELLS, one.y, small.y) <= 1e-4);
}

/* ---- its tape ---------------------------------------------------------------------------------------------------- */

/* what the run carried, and an adjoint over its tape: <w, V> = <mu, Vp> */
static void transposed(void **state)
{
    NEEDS_ESTIMATE(*state);
    const units u = {{1e-8, 1e6}};
    double rtol[] = {1e-4, 1e-3}, atol[] = {1e-12, 1e3}, w[ROWS] = {0.7, -300, 0.4}, lambda[ROWS], mu[DIRECTIONS] = {0};
    const costate_options o = {.rtol = 1e-2, .atol = 1e-2, .tangent_error = 1, .tangent_count = DIRECTIONS,
                               .tangent_rtol = rtol, .tangent_atol = atol};
    costate_problem P = problem_in(&u);
    costate_tape *tape = costate_tape_new();
    outcome x = run(*state, &u, 0, DIRECTIONS, o, tape);
    costate *c = costate_new(*state, &P, &o);
    memcpy(lambda, w, sizeof w);
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
    for (int j = 0; j < DIRECTIONS; j++) {
        double left = 0, size = 0;
        for (int i = 0; i < ROWS; i++) {
            left += w[i] * x.V[j * ROWS + i];
            size += fabs(w[i] * x.V[j * ROWS + i]);
        }
        if (!(fabs(left - mu[j]) <= 1e-12 * size)) fail_msg("direction %d: gap %.1e", j, fabs(left - mu[j]) / size);
    }
    costate_free(c);
    costate_tape_free(tape);
}

static int third_step(const costate_step *s, void *ctx) { (void)s; return ++*(int *)ctx == 3; }

/* Steps that tangents asked for are not made without them. */
static void not_resumed(void **state)
{
    NEEDS_ESTIMATE(*state);
    const units u = {{1, 1}};
    static const double p[DIRECTIONS], unit[] = {1, 0};
    double rtol = 1e-4, atol = 1e-5, y[ROWS] = {0.2, 0.2 * SECOND}, V[ROWS] = {0};
    int steps = 0;
    char path[64];
    snprintf(path, sizeof path, "tangent_tolerances_%s.tape", method_name(*state));
    costate_problem P = problem_in(&u);
    costate *c = costate_new(*state, &P, &(costate_options){.rtol = 1e-2, .atol = 1e-2, .tangent_error = 1,
        .tangent_count = 1, .tangent_rtol = &rtol, .tangent_atol = &atol, .on_step = third_step,
        .on_step_ctx = &steps});
    remove(path);
    costate_tape *tape = costate_tape_open(path);
    assert_int_equal(costate_integrate_tlm(c, 0, END, y, p, 1, V, unit, NULL, tape), COSTATE_STOPPED);
    assert_int_equal(costate_resume(c, tape, y), COSTATE_BAD_TAPE);
    assert_non_null(strstr(costate_message(c), "tangent_error"));
    costate_tape_free(tape);
    costate_free(c);
    remove(path);
}

/* ---- what cannot be meant ---------------------------------------------------------------------------------------- */

static const double good[] = {1e-3, 1e-3, 1e-3, 1e-3}, zero[] = {1e-3, 1e-3, 1e-3, 0}, negative[] = {1e-3, -1e-3},
                    no_number[] = {NAN, 1}, endless[] = {1, INFINITY}, zero_at_1[] = {1e-3, 0}, zero_of_y[] = {1, 0};

static const struct { costate_options o; const char *words[2]; } refused[] = {
    {{.tangent_count = -1}, {"tangent_count", "-1"}},
    {{.tangent_count = 2, .tangent_rtol = good}, {"tangent_rtol", "tangent_error = 1"}},
    {{.tangent_count = 2, .tangent_atol = good}, {"tangent_atol", "tangent_error = 1"}},
    {{.tangent_count = 2, .tangent_atol_vector = good}, {"tangent_atol_vector", "tangent_error = 1"}},
    {{.tangent_error = 1, .tangent_count = 2, .tangent_rtol = negative}, {"tangent_rtol[1]", "negative"}},
    {{.tangent_error = 1, .tangent_count = 2, .tangent_rtol = no_number}, {"tangent_rtol[0]", "NaN"}},
    {{.tangent_error = 1, .tangent_count = 2, .tangent_rtol = endless}, {"tangent_rtol[1]", "Inf"}},
    {{.tangent_error = 1, .tangent_count = 2, .tangent_atol = negative}, {"tangent_atol[1]", "positive"}},
    {{.tangent_error = 1, .tangent_count = 2, .tangent_atol = no_number}, {"tangent_atol[0]", "nan"}},
    {{.tangent_error = 1, .tangent_count = 2, .tangent_atol = endless}, {"tangent_atol[1]", "inf"}},
    {{.tangent_error = 1, .tangent_count = 2, .tangent_atol = zero_at_1}, {"tangent_atol[1]", "positive"}},
    {{.tangent_error = 1, .tangent_count = 2, .tangent_atol_vector = zero}, {"tangent_atol_vector[3]", "positive"}},
    {{.tangent_error = 1, .tangent_count = 2, .tangent_rtol = good, .atol_vector = zero_of_y},
     {"atol_vector[1]", "tangent_atol"}},
};

static void bad(void **state)
{
    NEEDS_ESTIMATE(*state);
    const units u = {{1, 1}};
    costate_problem P = problem_in(&u);
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        double y[ROWS] = {0.2}, V[ROWS] = {0}, p[DIRECTIONS] = {0};
        costate *c = costate_new(*state, &P, &refused[k].o);
        const char *text = costate_message(c);
        assert_int_equal(costate_status(c), COSTATE_BAD_ARGUMENT);
        if (!strstr(text, refused[k].words[0]) || !strstr(text, refused[k].words[1])) fail_msg("%zu: %s", k, text);
        assert_int_equal(costate_integrate_tlm(c, 0, END, y, p, 1, V, NULL, NULL, NULL), COSTATE_BAD_ARGUMENT);
        assert_true(y[0] == 0.2);
        costate_free(c);
    }
}

/* directions without a value: refused before anything is done; fewer than there are values are fine */
static void too_few(void **state)
{
    NEEDS_ESTIMATE(*state);
    const units u = {{1, 1}};
    costate_problem P = problem_in(&u);
    for (int count = 0; count < 3; count++)
        for (int m = 1; m < 4; m++) {
            double y[ROWS] = {0.2}, V[3 * ROWS] = {0}, Vp[3 * DIRECTIONS] = {0, 1, 1}, p[DIRECTIONS] = {0};
            costate *c = costate_new(*state, &P, &(costate_options){.rtol = 1e-2, .atol = 1e-2, .tangent_error = 1,
                .tangent_count = count, .tangent_atol = good});
            int status = costate_integrate_tlm(c, 0, END, y, p, m, V, Vp, NULL, NULL);
            assert_int_equal(status, m > count ? COSTATE_BAD_ARGUMENT : COSTATE_OK);
            if (m > count) {
                assert_non_null(strstr(costate_message(c), "tangent_count"));
                assert_true(y[0] == 0.2 && V[0] == 0 && costate_get_stats(c)->f == 0);
            }
            CHECK_OK(c, costate_integrate(c, 0, END, y, p, NULL));         /* has no directions */
            costate_free(c);
        }
}

/* The absolute tolerances of y may be 0 where y is not.  A tangent that stays 0 needs its own; of tangent_rtol 0 will
   do. */
static void stays_zero(void **state)
{
    NEEDS_ESTIMATE(*state);
    const units u = {{1, 1}};
    static const double zeros[STATES], p[DIRECTIONS];
    double y[ROWS] = {0.2, 0.2 * SECOND}, V[ROWS] = {0, SECOND};             /* y0 does not depend on y1 */
    costate_problem P = problem_in(&u);
    costate *c = costate_new(*state, &P, &(costate_options){.rtol = 1e-2, .atol_vector = zeros, .tangent_error = 1,
        .tangent_count = 1, .tangent_rtol = zeros, .tangent_atol = good});
    CHECK_OK(c, costate_integrate_tlm(c, 0, END, y, p, 1, V, NULL, NULL, NULL));
    assert_true(V[0] == 0 && V[1] > SECOND);
    costate_free(c);
}

int main(void)
{
    return run_by_method("errors in proportion", proportion) + run_by_kind("by direction", by_direction) +
           run_by_kind("as of y", same_as_of_y) + run_by_kind("units of directions", scaled) +
           run_by_kind("units, by GMRES", scaled_by_gmres) + run_by_kind("over processes", over_processes) +
           run_by_kind("transposed", transposed) + run_by_kind("not resumed", not_resumed) +
           run_by_kind("refused", bad) + run_by_kind("too few", too_few) +
           run_by_kind("tangents of 0", stays_zero);
}
