/* test_rkc.c - stabilised explicit methods, degree by degree: transposes, tangents against the frozen steps, the
   spectral radius, what they refuse and what they say of problems that are not theirs. */
#include "rkc/rkc.h"
#include "solver/solver.h"     /* before cmocka, which has a macro fail */
#include "common.h"
#include <float.h>
#include "spread.h"

static const double H = 0.05;
static const char *const names[] = {"rkc2", "rkc2d", "rkl2", "rock2", "rock4"};
enum { METHODS = 5 };

/* reaction and diffusion on a line, of one process: eigenvalues to about -4 p1 */
typedef struct { cluster *w; costate_problem P; costate *c; costate_tape *tape; double p[NP]; } line;

static void fill_start(double *y) { for (int i = 0; i < CELLS; i++) y[i] = sin(0.3 * (i + 1)) + 0.01 * i; }

/* so that h rho is most of what the k-th degree allows, and that degree is taken */
static line line_of(const costate_method *m, int k, costate_options o)
{
    line x = {.w = cluster_new(1)};
    double beta = m->rkc->beta[k];
    x.p[0] = 0.7;
    x.p[1] = 0.24 * beta / H;
    o.controller = COSTATE_FIXED;
    o.h0 = H;
    o.spectral_bound = 0.9999 * beta / H;
    x.P = spread_problem(cluster_process(x.w, 0));
    x.c = costate_new(m, &x.P, &o);
    x.tape = costate_tape_new();
    return x;
}

static void line_free(line *x)
{
    costate_tape_free(x->tape);
    costate_free(x->c);
    cluster_free(x->w);
}

static void line_run(line *x, double *y)
{
    y[CELLS] = 0.2;
    fill_start(y);
    CHECK_OK(x->c, costate_integrate(x->c, 0, 3 * H, y, x->p, x->tape));
    assert_int_equal(costate_tape_steps(x->tape), 3);
}

static int seen_value(int k, double t, const double *y, int m, const double *V, void *ctx)
{
    (void)t; (void)y; (void)m;
    memcpy((double *)ctx + k * CELLS, V, CELLS * sizeof *V);
    return 0;
}
static int seen_seed(int k, double t, const double *y, int m, double *w, void *ctx)
{
    (void)k; (void)t; (void)y; (void)m; (void)ctx;
    for (int i = 0; i < CELLS; i++) w[i] = 1 / (2.0 + i);
    return 0;
}

/* y0, q0, p, t0, t1 in;  y1, q1 and two observations out */
static double gap_at(const costate_method *m, int k)
{
    double y[CELLS + NQ], V[CELLS + NQ], V0[CELLS + NQ], lambda[CELLS + NQ], w[CELLS + NQ], mu[NP] = {0};
    double dp[NP] = {0.3, 0}, d0 = 0.4, d1 = -0.6, g0, g1, at[] = {0.06, 0.13}, seen[2 * CELLS];
    line x = line_of(m, k, (costate_options){.storage = k % 2});
    dp[1] = 0.1 * x.p[1];
    line_run(&x, y);
    assert_int_equal(x.tape->list[0].degree, m->rkc->s[k]);
    for (int i = 0; i <= CELLS; i++) { V0[i] = V[i] = cos(1.7 * i); w[i] = lambda[i] = 1 / (1.0 + i); }
    costate_times forward = {.t0 = &d0, .t1 = &d1}, back = {.t0 = &g0, .t1 = &g1};
    costate_observations o = {.count = 2, .t = at, .value = seen_value, .seed = seen_seed, .ctx = seen};
    CHECK_OK(x.c, costate_tangent(x.c, x.tape, 1, V, dp, &forward, &o));
    CHECK_OK(x.c, costate_adjoint(x.c, x.tape, 1, lambda, mu, &back, &o));
    double a = mu[0] * dp[0] + mu[1] * dp[1] + g0 * d0 + g1 * d1, b = 0, size = 0;
    for (int i = 0; i <= CELLS; i++) { a += lambda[i] * V0[i]; b += w[i] * V[i]; size += fabs(w[i] * V[i]); }
    for (int i = 0; i < 2 * CELLS; i++) { b += seen[i] / (2.0 + i % CELLS); size += fabs(seen[i] / (2.0 + i % CELLS)); }
    line_free(&x);
    return fabs(a - b) / size;
}

/* (y(e) - y(-e)) / 2e of the frozen steps, extrapolated, against the tangent */
static double frozen_gap(const costate_method *m, int k)
{
    double y[CELLS + NQ], V[CELLS + NQ], z[CELLS + NQ], d[2][CELLS + NQ] = {{0}}, dp[NP], p[NP], most = 0, size = 0;
    line x = line_of(m, k, (costate_options){0});
    line_run(&x, y);
    dp[0] = 0.3;
    dp[1] = 0;
    for (int l = 0; l < 2; l++)
        for (int side = -1; side <= 1; side += 2) {
            double e = side * (l ? 1e-3 : 2e-3);
            fill_start(z);
            z[CELLS] = 0.2 + e;
            for (int i = 0; i < CELLS; i++) z[i] += e * cos(0.2 * i);
            for (int i = 0; i < NP; i++) p[i] = x.p[i] + e * dp[i];
            CHECK_OK(x.c, costate_replay(x.c, x.tape, z, p));
            for (int i = 0; i <= CELLS; i++) d[l][i] += z[i] / (2 * e);
        }
    for (int i = 0; i <= CELLS; i++) V[i] = i < CELLS ? cos(0.2 * i) : 1;
    CHECK_OK(x.c, costate_tangent(x.c, x.tape, 1, V, dp, NULL, NULL));
    for (int i = 0; i <= CELLS; i++) {
        most = larger_of(most, fabs((4 * d[1][i] - d[0][i]) / 3 - V[i]));
        size = fmax(size, fabs(V[i]));
    }
    line_free(&x);
    return most / size;
}

/* Round-off of the last stages of ROCK4 is multiplied by w(z), of the size of z^4: the higher the degree, the less
   digits there are to agree in.

   The largest part of what is allowed, of each method over its degrees: otherwise, or some of the degree's
   round-off. */
static void over_degrees(double gap_of(const costate_method *, int), double otherwise, double some)
{
    for (int l = 0; l < METHODS; l++) {
        const costate_method *m = costate_method_find(names[l]);
        double most = 0;
        for (int k = 0; k < m->rkc->degrees; k += k < 10 ? 1 : 5) {
            double gap = gap_of(m, k), round_off = DBL_EPSILON * m->rkc->noise[k];
            most = larger_of(most, gap / fmax(otherwise, some * round_off));
            if (getenv("VERBOSE")) print_message("%s %d: %.2g (noise %.2g)\n", names[l], m->rkc->s[k], gap, round_off);
        }
        print_message("           %s: %.2g of what is allowed\n", names[l], most);
        assert_true(most <= 1);
    }
}

static void test_transposes(void **state)
{
    (void)state;
    over_degrees(gap_at, 1e-13, 1);
}

static void test_tangents_are_of_the_frozen_steps(void **state)
{
    (void)state;
    over_degrees(frozen_gap, 1e-10, 1e3);       /* round-off over 2e */
}

/* In derivative mode only degrees whose round-off shows nowhere: the check of a whole run finds nothing wrong. */
static void test_derivative_mode_is_exact(void **state)
{
    (void)state;
    for (int l = 0; l < METHODS; l++) {
        double y[CELLS + NQ], p[NP] = {0.7, 4000};
        cluster *w = cluster_new(1);
        costate_problem P = spread_problem(cluster_process(w, 0));
        costate *c = costate_new(costate_method_find(names[l]), &P, &(costate_options){.rtol = 1e-4, .atol = 1e-4});
        costate_report r;
        y[CELLS] = 0.2;
        fill_start(y);
        int status = costate_check_adjoint(c, 0, 0.05, y, p, &r);
        if (status != COSTATE_OK || !(r.transpose < 1e-12)) print_error("%s: %s\n", names[l], r.text);
        assert_int_equal(status, COSTATE_OK);
        assert_true(r.transpose < 1e-12);
        costate_free(c);
        cluster_free(w);
    }
}

static int see_degree(const costate_step *s, void *ctx)
{
    int *most = ctx;
    if (s->r->degree > *most) *most = s->r->degree;
    return 0;
}

/* The largest degree of a run with a tape, and the gap between its tangent and its adjoint; else without a tape, with
   tangents or not. */
static int degree_of_run(const costate_method *m, int with_tape, int with_tangents, double *gap)
{
    double y[CELLS + NQ], V[CELLS + NQ], lambda[CELLS + NQ], p[NP] = {0.7, 4000}, a = 0, b = 0, size = 0;
    int most = 0;
    cluster *w = cluster_new(1);
    costate_problem P = spread_problem(cluster_process(w, 0));
    costate *c = costate_new(m, &P, &(costate_options){.rtol = 1e-2, .atol = 1e-2, .on_step = see_degree,
                                                       .on_step_ctx = &most});
    costate_tape *tape = with_tape ? costate_tape_new() : NULL;
    y[CELLS] = 0.2;
    fill_start(y);
    for (int i = 0; i <= CELLS; i++) { V[i] = cos(1.7 * i); lambda[i] = 1 / (1.0 + i); }
    if (with_tangents) CHECK_OK(c, costate_integrate_tlm(c, 0, 0.2, y, p, 1, V, NULL, NULL, NULL));
    else CHECK_OK(c, costate_integrate(c, 0, 0.2, y, p, tape));
    if (tape) CHECK_OK(c, costate_tangent(c, tape, 1, V, NULL, NULL, NULL));
    if (tape) CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL));
    for (int i = 0; i <= CELLS; i++) {
        a += lambda[i] * cos(1.7 * i);
        b += V[i] / (1.0 + i);
        size += fabs(V[i] / (1.0 + i)) + fabs(lambda[i] * cos(1.7 * i));
    }
    *gap = fabs(a - b) / size;
    costate_tape_free(tape);
    costate_free(c);
    cluster_free(w);
    return most;
}

/* What is differentiated takes degrees whose round-off shows in no transpose; methods that have little of it take the
   same degrees as without. */
static void test_tapes_transpose(void **state)
{
    (void)state;
    for (int l = 0; l < METHODS; l++) {
        const costate_method *m = costate_method_find(names[l]);
        double gap, none;
        int taped = degree_of_run(m, 1, 0, &gap), alone = degree_of_run(m, 0, 0, &none);
        int limited = strcmp(names[l], "rock2") == 0 || strcmp(names[l], "rock4") == 0;
        if (!(gap < 1e-13) || limited != (taped < alone))
            fail_msg("%s: degree %d, without a tape %d; gap %.1e", names[l], taped, alone, gap);
        assert_int_equal(degree_of_run(m, 0, 1, &none), taped);
    }
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

/* With less room the stages of a step are made again in segments: the same gradients, to the bit. */
static void test_segments(void **state)
{
    (void)state;
    for (int l = 0; l < METHODS; l++) {
        const costate_method *m = costate_method_find(names[l]);
        for (int k = 0; k < m->rkc->degrees; k += 7) {
            double y[CELLS + NQ], lambda[2][CELLS + NQ], mu[2][NP] = {{0}}, t0[2], t1[2];
            size_t room[2];
            for (int small = 0; small < 2; small++) {
                line x = line_of(m, k, (costate_options){.storage = COSTATE_STATES_ONLY});
                line_run(&x, y);
                x.c->o.tape_limit = small ? 1 : 0;              /* as little as there can be, for the sweep alone */
                for (int i = 0; i <= CELLS; i++) lambda[small][i] = 1 / (1.0 + i);
                costate_times times = {.t0 = &t0[small], .t1 = &t1[small]};
                CHECK_OK(x.c, costate_adjoint(x.c, x.tape, 1, lambda[small], mu[small], &times, NULL));
                room[small] = rkc_of(&x.c->st)->room;
                line_free(&x);
            }
            assert_memory_equal(lambda[0], lambda[1], sizeof lambda[0]);
            assert_memory_equal(mu[0], mu[1], sizeof mu[0]);
            assert_true(t0[0] == t0[1] && t1[0] == t1[1]);
            assert_true(room[1] < 4 * sqrt((double)room[0]) + 4);
        }
    }
}

/* ---- the spectral radius ------------------------------------------------------------------------------------- */

enum { SIDE = 40, PLANE = SIDE * SIDE };
typedef struct { double mass, scale; int calls, fails_at; } heat;

/* s (u_xx + u_yy) on a square, h = 1/(SIDE + 1), u = 0 around: rho = 8 s/h^2 cos^2(pi h/2) */
static int heat_value(const costate_point *x, double *f, void *ctx)
{
    heat *a = ctx;
    double s = a->scale * (SIDE + 1) * (SIDE + 1);
    const double *u = x->y;
    for (int i = 0; i < PLANE; i++) {
        double sum = -4 * u[i];
        if (i % SIDE > 0) sum += u[i - 1];
        if (i % SIDE < SIDE - 1) sum += u[i + 1];
        if (i >= SIDE) sum += u[i - SIDE];
        if (i < PLANE - SIDE) sum += u[i + SIDE];
        f[i] = s * sum;
    }
    return ++a->calls == a->fails_at ? 1 : 0;
}
static int heat_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    costate_point at = {.t = x->t, .y = dx->y};
    memset(out, 0, PLANE * sizeof *out);
    return dx->y ? heat_value(&at, out, ctx) : 0;
}

static double measured(const costate_method *m, int with_tangent, double scale)
{
    heat a = {.scale = scale};
    costate_problem P = {.n = PLANE, .ctx = &a, .rhs.value = heat_value};
    if (with_tangent) P.rhs.tangent = heat_tangent;
    costate *c = costate_new(m, &P, &(costate_options){.rtol = 1e-4, .atol = 1e-6});
    static double y[PLANE];
    for (int i = 0; i < PLANE; i++) y[i] = sin(0.07 * (i % SIDE)) * (1 + 0.01 * i / SIDE);
    CHECK_OK(c, costate_integrate(c, 0, 0.02 / scale, y, NULL, NULL));
    double rho = c->st.spectrum.rho;
    assert_true(costate_get_stats(c)->power >= 16);
    costate_free(c);
    return rho / 1.15;
}

static void test_measured_to_a_hundredth(void **state)
{
    static const double scales[] = {1e-12, 1, 1e9};
    (void)state;
    double cosine = cos(acos(-1.0) / (2 * (SIDE + 1)));
    for (int l = 0; l < METHODS; l++)
        for (int k = 0; k < 3; k++)
            for (int with = 0; with < 2; with++) {
                double exact = 8 * scales[k] * (SIDE + 1) * (SIDE + 1) * cosine * cosine;
                double rho = measured(costate_method_find(names[l]), with, scales[k]);
                if (!(rho > 0.99 * exact && rho < 1.01 * exact)) print_error("%g of %g\n", rho, exact);
                assert_true(rho > 0.99 * exact && rho < 1.01 * exact);
            }
}

/* The rate of y' = -rate(t) (y - 1) grows a hundredfold at t = 1.  rho that was measured before it is too low by as
   much, until a step is rejected there, after which it is measured again. */
static int steeper(const costate_point *x, double *f, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < 4; i++) f[i] = -(x->t < 1 ? 1e2 : 1e4) * (i + 1) * (x->y[i] - 1 - 1e-3 * sin(x->t));
    return 0;
}

typedef struct { costate *c; long rejected, judged; } watched;

static int measured_again(const costate_step *s, void *ctx)
{
    watched *w = ctx;
    long rejected = costate_get_stats(w->c)->rejected;
    if (costate_step_start(s) >= 1 && rejected > w->rejected) {
        assert_true(w->c->st.spectrum.rho >= 4e4);
        w->judged++;
    }
    w->rejected = rejected;
    return 0;
}

static void test_measured_again_after_a_rejection(void **state)
{
    (void)state;
    for (int l = 0; l < METHODS; l++) {
        double y[4] = {1, 1, 1, 1};
        watched w = {.rejected = 0};
        const costate_problem P = {.n = 4, .rhs.value = steeper};
        const costate_options o = {.rtol = 1e-4, .atol = 1e-4, .on_step = measured_again, .on_step_ctx = &w};
        costate *c = w.c = costate_new(costate_method_find(names[l]), &P, &o);
        CHECK_OK(c, costate_integrate(c, 0, 1.2, y, NULL, NULL));
        assert_true(w.judged > 0);
        costate_free(c);
    }
}

/* a fixed step beyond the stability interval of the highest degree is not taken */
static void test_steps_too_long_for_any_degree(void **state)
{
    (void)state;
    for (int l = 0; l < METHODS; l++) {
        double y[4] = {2, 2, 2, 2};
        const costate_problem P = {.n = 4, .rhs.value = steeper};
        const costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.1, .spectral_bound = 1e9};
        costate *c = costate_new(costate_method_find(names[l]), &P, &o);
        assert_int_equal(costate_integrate(c, 0, 1, y, NULL, NULL), COSTATE_STEP_TOO_SMALL);
        assert_non_null(strstr(costate_message(c), "beyond what the highest degree allows"));
        costate_free(c);
    }
}

/* ---- what is refused, and what is said ------------------------------------------------------------------------ */

static int radius_of(const costate_point *x, double *rho, void *ctx)
{
    (void)ctx;
    *rho = x->t < 0.01 ? 50 : x->p[0] == 7 ? NAN : x->p[0];
    return x->p[1] != 0 ? (int)x->p[1] : 0;
}
static int decay(const costate_point *x, double *f, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < 3; i++) f[i] = -(i + 1) * x->y[i];
    return 0;
}
static int coupled(double *M, void *ctx)
{
    (void)ctx;
    memset(M, 0, 9 * sizeof *M);
    M[0] = M[4] = M[8] = M[3] = 2;
    return 0;
}
static int no_row(double *M, void *ctx) { (void)ctx; memset(M, 0, 9 * sizeof *M); M[0] = M[4] = 2; return 0; }
static int halves(double *M, void *ctx)
{
    (void)ctx;
    memset(M, 0, 9 * sizeof *M);
    for (int i = 0; i < 3; i++) M[4 * i] = 0.5 * (i + 1);
    return 0;
}

static int asked(const costate_point *x, double *rho, void *ctx) { (void)x; *rho = 60; ++*(int *)ctx; return 0; }

/* once a step, also where steps are rejected */
static void test_the_callback_is_asked_once_a_step(void **state)
{
    (void)state;
    for (int l = 0; l < METHODS; l++)
        for (int fixed = 0; fixed < 2; fixed++) {
            int calls = 0;
            double y[3] = {1, 1, 1};
            costate_problem P = {.n = 3, .ctx = &calls, .rhs.value = decay};
            costate_options o = {.spectral_radius = asked, .h0 = 0.3, .controller = fixed ? COSTATE_FIXED : 0};
            costate *c = costate_new(costate_method_find(names[l]), &P, &o);
            CHECK_OK(c, costate_integrate(c, 0, 3, y, NULL, NULL));
            assert_int_equal(calls, costate_get_stats(c)->accepted);
            costate_free(c);
        }
}

static void says(const costate_problem *P, const costate_options *o, const double *p, int status, const char *sentence)
{
    costate *c = costate_new(costate_method_find("rock4"), P, o);
    double y[3] = {1, 1, 1};
    int got = costate_integrate(c, 0, 1, y, p, NULL);
    if (got != status || !strstr(costate_message(c), sentence)) fail_msg("%d: %s", got, costate_message(c));
    costate_free(c);
}

static void test_bad_input(void **state)
{
    costate_problem P = {.n = 3, .rhs.value = decay}, M = P, S = P, Q = P;
    double p[] = {60, 0}, nan[] = {7, 0}, less[] = {-3, 0}, smaller[] = {60, 1}, ends[] = {60, -7};
    costate_options by_callback = {.spectral_radius = radius_of};
    (void)state;
    M.mass = coupled;
    S.mass = no_row;
    Q.np = 2;
    says(&P, &(costate_options){.spectral_bound = -1}, NULL, COSTATE_BAD_ARGUMENT, "options.spectral_bound = -1");
    says(&P, &(costate_options){.spectral_bound = NAN}, NULL, COSTATE_BAD_ARGUMENT, "options.spectral_bound");
    says(&P, &(costate_options){.degree_max = 1}, NULL, COSTATE_BAD_ARGUMENT, "the lowest degree of rock4 is 5");
    says(&P, &(costate_options){.degree_max = -4}, NULL, COSTATE_BAD_ARGUMENT, "options.degree_max = -4");
    says(&M, NULL, NULL, COSTATE_BAD_ARGUMENT, "needs a diagonal mass matrix: row 0 of column 1 is 2");
    says(&S, NULL, NULL, COSTATE_BAD_ARGUMENT, "mass matrix is singular");
    says(&Q, &by_callback, p, COSTATE_OK, "No error.");
    says(&Q, &by_callback, nan, COSTATE_BAD_ARGUMENT, "options.spectral_radius gave nan");
    says(&Q, &by_callback, less, COSTATE_BAD_ARGUMENT, "options.spectral_radius gave -3");
    says(&Q, &by_callback, smaller, COSTATE_CALLBACK, "spectral radius");
    says(&Q, &by_callback, ends, COSTATE_CALLBACK, "options.spectral_radius returned -7");
}

/* M y' = f with a diagonal M is y' = M^-1 f: to round-off, adjoints, too */
static int scaled(const costate_point *x, double *f, void *ctx)
{
    decay(x, f, ctx);
    for (int i = 0; i < 3; i++) f[i] /= 0.5 * (i + 1);
    return 0;
}
static void test_diagonal_mass(void **state)
{
    (void)state;
    for (int l = 0; l < METHODS; l++) {
        double y[2][3] = {{1, 2, 3}, {1, 2, 3}}, lambda[2][3] = {{1, 2, 3}, {1, 2, 3}};
        for (int k = 0; k < 2; k++) {
            costate_problem P = {.n = 3, .rhs.value = k ? scaled : decay, .mass = k ? NULL : halves};
            costate *c = costate_new(costate_method_find(names[l]), &P, &(costate_options){.differences = 1, .h0 = 1e-3,
                                   .spectral_bound = 10});
            costate_tape *tape = costate_tape_new();
            CHECK_OK(c, costate_integrate(c, 0, 1, y[k], NULL, tape));
            CHECK_OK(c, costate_adjoint(c, tape, 1, lambda[k], NULL, NULL, NULL));
            costate_tape_free(tape);
            costate_free(c);
        }
        assert_true(largest_gap(3, y[0], y[1]) < 1e-13);
        assert_true(largest_gap(3, lambda[0], lambda[1]) < 1e-8);       /* by differences */
    }
}

static int still(const costate_point *x, double *f, void *ctx) { (void)ctx; f[0] = cos(x->t); return 0; }
static int advection(const costate_point *x, double *f, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < 100; i++) f[i] = -1e4 * (x->y[(i + 1) % 100] - x->y[(i + 99) % 100]);
    return 0;
}

/* A bound that is too low: y may be right, but the run was uneasy, and says so. */
static void test_too_low_a_bound(void **state)
{
    (void)state;
    double y[PLANE];
    heat a = {.scale = 1};
    costate_problem P = {.n = PLANE, .ctx = &a, .rhs.value = heat_value};
    costate *c = costate_new(costate_method_find("rock4"), &P,
                             &(costate_options){.rtol = 1e-5, .spectral_bound = 0.8 * 8 * (SIDE + 1) * (SIDE + 1)});
    for (int i = 0; i < PLANE; i++) y[i] = sin(0.07 * (i % SIDE)) * (1 + 0.01 * i / SIDE);
    CHECK_OK(c, costate_integrate(c, 0, 0.2, y, NULL, NULL));
    if (!strstr(costate_message(c), "tries were rejected")) fail_msg("%s", costate_message(c));
    costate_free(c);
}

static void test_what_it_says(void **state)
{
    (void)state;
    for (int l = 0; l < METHODS; l++) {
        const costate_method *m = costate_method_find(names[l]);
        double y[PLANE] = {0};
        costate_problem P = {.n = 1, .rhs.value = still};                       /* rho = 0: the lowest degree */
        costate *c = costate_new(m, &P, NULL);
        costate_tape *tape = costate_tape_new();
        CHECK_OK(c, costate_integrate(c, 0, 1, y, NULL, tape));
        assert_true(fabs(y[0] - sin(1.0)) < 1e-4);
        for (int k = 0; k < tape->count; k++) assert_int_equal(tape->list[k].degree, m->rkc->s[0]);
        costate_tape_free(tape);
        costate_free(c);

        P = (costate_problem){.n = 100, .rhs.value = advection};                /* imaginary eigenvalues */
        c = costate_new(m, &P, &(costate_options){.max_steps = 1000});
        for (int i = 0; i < 100; i++) y[i] = i / 10 % 2;
        assert_int_equal(costate_integrate(c, 0, 1, y, NULL, NULL), COSTATE_MAX_STEPS);
        if (!strstr(costate_message(c), "near the negative real axis")) fail_msg("%s", costate_message(c));
        assert_non_null(strstr(costate_message(c), "sdirk4a"));
        costate_free(c);

        heat a = {.scale = 1e5};                                                /* nothing happens, but rho T is 1e9 */
        P = (costate_problem){.n = PLANE, .ctx = &a, .rhs.value = heat_value};
        c = costate_new(m, &P, &(costate_options){.rtol = 1e-3, .atol = 1, .degree_max = 20});
        for (int i = 0; i < PLANE; i++) y[i] = 1e-3;
        CHECK_OK(c, costate_integrate(c, 0, 1e-4, y, NULL, NULL));
        const char *said = costate_message(c);
        if (!strstr(said, "at the highest degree: an implicit method")) fail_msg("%s", said);
        costate_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transposes),
        cmocka_unit_test(test_tangents_are_of_the_frozen_steps),
        cmocka_unit_test(test_derivative_mode_is_exact),
        cmocka_unit_test(test_tapes_transpose),
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_measured_to_a_hundredth),
        cmocka_unit_test(test_the_callback_is_asked_once_a_step),
        cmocka_unit_test(test_measured_again_after_a_rejection),
        cmocka_unit_test(test_steps_too_long_for_any_degree),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_diagonal_mass),
        cmocka_unit_test(test_what_it_says),
        cmocka_unit_test(test_too_low_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
