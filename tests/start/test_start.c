/* test_start.c - consistent values: found from guesses, differentiated as an operation of the run, or refused. */
#include <string.h>
#include "transpose.h"
#include "daes.h"
#include <costate/linsol.h>

/* ---- guesses: what problem.index keeps, and beside it what is to be found ---- */

/* Of index 1 the algebraic unknowns are somewhere else; of index 2 what is moved along f_z, too, so that it comes back
   to where references start: radially where z = 0 (I2A), speeds along the pendulum (I2P).  dy: n by np by columns,
   how the guess depends on p. */
static void guess(const dae *d, const double *p, double *y, double *dy)
{
    dae_start(d, p, y, dy);
    for (int i = 0; i < d->n; i++) {
        if (d->of[i] == 0) continue;
        y[i] = d->of[i] == 2 ? 0 : 0.3;
        for (int j = 0; dy && j < d->np; j++) dy[j * d->n + i] = 0;
    }
    if (strcmp(d->name, "I2A") == 0) {
        const double at[] = {2 * cos(p[3]), 2 * sin(p[3])}, by_p3[] = {-at[1], at[0]};
        for (int i = 0; i < 2; i++) {
            y[i] = at[i];
            for (int j = 0; dy && j < d->np; j++) dy[j * d->n + i] = j == 3 ? by_p3[i] : 0;
        }
    }
    if (strcmp(d->name, "I2P") == 0) {
        const double c = cos(p[4]), s = sin(p[4]), along[] = {c, s}, turned[] = {-s, c};
        for (int i = 0; i < 2; i++) {
            y[2 + i] = p[0] * p[5] * along[i];
            for (int j = 0; dy && j < d->np; j++)
                dy[j * d->n + 2 + i] = (j == 0 ? p[5] : j == 5 ? p[0] : 0) * along[i] +
                                       (j == 4 ? p[0] * p[5] : 0) * turned[i];
        }
    }
}

/* ---- the values ---- */

static void values(void **state)
{
    (void)state;
    const dae *d;
    for (int k = 0; (d = dae_at(k)); k++)
        for (int jacobians = 0; jacobians < 2; jacobians++) {
            costate_problem P = dae_problem(d, jacobians);
            costate *c = costate_new(costate_method_find("radau2a"), &P, NULL);
            double y[DAE_N], yp[DAE_N] = {0}, right[DAE_N], F[DAE_N];
            guess(d, d->p, y, NULL);
            dae_start(d, d->p, right, NULL);
            CHECK_OK(c, costate_consistent(c, 0, y, yp, d->p));
            costate_point x = {.y = y, .p = d->p, .yp = yp};
            assert_int_equal(P.residual.value(&x, F, P.ctx), 0);
            for (int i = 0; i < d->n; i++)
                if (!(fabs(y[i] - right[i]) <= 1e-14 * (1 + fabs(right[i])) && fabs(F[i]) <= 1e-13))
                    fail_msg("%s: y[%d] = %.16g for %.16g, F[%d] = %.1e", d->name, i, y[i], right[i], i, F[i]);
            costate_free(c);
        }
}

/* ---- gradients of runs that begin and end so ---- */

/* From a guess, by p: the references of runs from consistent values.  What is determined has a gradient of zero. */
static void references(void **state)
{
    (void)state;
    const dae *d;
    for (int k = 0; (d = dae_at(k)); k++) {
        costate_problem P = dae_problem(d, 1);
        costate_options o = {.rtol = 1e-10, .atol = 1e-10, .consistent = k & 1 ? 3 : 1};
        costate *c = costate_new(costate_method_find("radau2a5"), &P, &o);
        costate_tape *tape = costate_tape_new();
        double y[DAE_N + 1] = {0}, dy[DAE_N * DAE_P], lambda[DAE_N + 1] = {0}, mu[DAE_P] = {0};
        guess(d, d->p, y, dy);
        CHECK_OK(c, costate_integrate(c, 0, d->T, y, d->p, tape));
        double g = dae_g(d, d->T, y, d->p, lambda, mu);
        CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
        for (int i = 0; i < d->n; i++) {
            if (d->of[i] == 1) assert_true(lambda[i] == 0);
            for (int j = 0; j < d->np; j++) mu[j] += lambda[i] * dy[j * d->n + i];
        }
        double e = fmax(fabs(g - d->reference) / fabs(d->reference), relative_gap(d->np, mu, d->dg));
        print_message("           %s: error %.1e\n", d->name, e);
        if (!(e <= 1e-8)) fail_msg("%s: error %.2e", d->name, e);
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* from guesses that miss, at the start and at the end; every way of solving, of keeping, and of time */
static void transpose(void **state)
{
    const double H = 0.06;
    const costate_method *m = *state;
    const dae *d;
    for (int k = 0; (d = dae_at(k)); k++) {
        if (!dae_takes(m, d)) continue;
        for (int variant = 0; variant < 48; variant++) {
            costate_problem P = dae_problem(d, variant & 1);
            double y[DAE_N], scale[DAE_N];
            int when = 1 + variant / 16, at_end = when & COSTATE_CONSISTENT_END;
            if (when & COSTATE_CONSISTENT_START) guess(d, d->p, y, NULL);
            else dae_start(d, d->p, y, NULL);
            for (int i = 0; i < d->n; i++) scale[i] = d->of[i] == 2 && !at_end ? H / 10 : 1;
            transposed_run run = {m, &P, 0, variant & 8 ? -0.3 : 0.3, y, d->p,
                                  {.rtol = 1e-4, .atol = 1e-4, .hmax = H, .consistent = when}, 3, scale};
            run.o.storage = variant >> 1 & 1;
            run.o.stage_solve = COSTATE_STAGE_DIRECT + (variant >> 2 & 1);
            double gap = transpose_gap(&run);
            if (!(gap <= 1e-12)) fail_msg("%s, %s, variant %d: gap %.2e", method_name(m), d->name, variant, gap);
        }
    }
}

/* y(T) of the run again, from a guess and p that are moved by e */
static void again(costate *c, const costate_tape *tape, const dae *d, const double *dp, const double *dy, double e,
                  double *y)
{
    double p[DAE_P];
    for (int i = 0; i < d->np; i++) p[i] = d->p[i] + e * dp[i];
    guess(d, d->p, y, NULL);
    for (int i = 0; i < d->n; i++) y[i] += e * dy[i];
    y[d->n] = 0;
    CHECK_OK(c, costate_replay(c, tape, y, p));
}

/* Tangents are derivatives of what was done: 8th-order differences of it, by all of the guess and p. */
static void differences(void **state)
{
    static const double weight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}, E = 2e-3;
    const costate_method *m = *state;
    const dae *d;
    for (int k = 0; (d = dae_at(k)); k++) {
        if (!dae_takes(m, d)) continue;
        costate_problem P = dae_problem(d, k & 1);
        costate_options o = {.rtol = 1e-5, .atol = 1e-5, .hmax = 0.06, .derivative_mode = 1, .consistent = 3};
        costate *c = new_for_test(m, &P, &o);
        costate_tape *tape = costate_tape_new();
        double y[DAE_N + 1] = {0}, V[DAE_N + 1] = {0}, carried[DAE_N + 1], D[DAE_N + 1] = {0}, dp[DAE_P], dy[DAE_N],
               z[DAE_N + 1];
        unsigned seed = 3;
        random_fill(&seed, DAE_P, dp);
        random_fill(&seed, DAE_N, dy);
        memcpy(V, dy, (size_t)d->n * sizeof *V);
        memcpy(carried, V, sizeof V);
        guess(d, d->p, y, NULL);
        CHECK_OK(c, costate_integrate_tlm(c, 0, 0.5, y, d->p, 1, carried, dp, NULL, tape));
        CHECK_OK(c, costate_tangent(c, tape, 1, V, dp, NULL, NULL));
        for (int l = -4; l <= 4; l++) {
            if (l == 0) continue;
            again(c, tape, d, dp, dy, l * E, z);
            for (int i = 0; i <= d->n; i++) D[i] += (l > 0 ? 1 : -1) * weight[(l > 0 ? l : -l) - 1] / E * z[i];
        }
        if (!(relative_gap(d->n + 1, D, V) <= 1e-10))
            fail_msg("%s, %s: %.2e", method_name(m), d->name, relative_gap(d->n + 1, D, V));
        if (!(relative_gap(d->n + 1, carried, V) <= 1e-12))
            fail_msg("%s, %s: carried with the run %.2e", method_name(m), d->name, relative_gap(d->n + 1, carried, V));
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* a replay is the run, bit for bit, what was made consistent included; a run that is checked */
static void replayed(void **state)
{
    const costate_method *m = *state;
    const dae *d;
    for (int k = 0; (d = dae_at(k)); k++) {
        if (!dae_takes(m, d)) continue;
        costate_problem P = dae_problem(d, 1);
        costate_options o = {.rtol = 1e-4, .atol = 1e-4, .hmax = 0.06, .consistent = 3};
        costate *c = new_for_test(m, &P, &o);
        costate_tape *tape = costate_tape_new();
        double y0[DAE_N + 1] = {0}, y[DAE_N + 1], z[DAE_N + 1];
        guess(d, d->p, y0, NULL);
        memcpy(y, y0, sizeof y);
        memcpy(z, y0, sizeof z);
        CHECK_OK(c, costate_integrate(c, 0, 0.5, y, d->p, tape));
        CHECK_OK(c, costate_replay(c, tape, z, d->p));
        assert_memory_equal(y, z, sizeof y);
        CHECK_OK(c, costate_tape_eval(c, tape, 0.5, z));
        assert_memory_equal(y, z, (size_t)d->n * sizeof *y);
        costate_report r;
        int status = costate_check_adjoint(c, 0, 0.5, y0, d->p, &r);
        if (status != COSTATE_OK) fail_msg("%s, %s: %s", method_name(m), d->name, r.text);
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* ---- z at the end: the order of y, and so its gradient (mathematics, section 11.2) ---- */

static void errors_of_z(const costate_method *m, int N, double *value, double *gradient)
{
    const dae *d = dae_find("I2P");
    const int z = 4;
    costate_problem P = dae_problem(d, 1);
    costate_options o = {.controller = COSTATE_FIXED, .h0 = d->T / N, .derivative_mode = 1, .consistent = 3};
    costate *c = costate_new(m, &P, &o);
    costate_tape *tape = costate_tape_new();
    double y[DAE_N + 1] = {0}, dy[DAE_N * DAE_P], lambda[DAE_N + 1] = {[4] = 1}, mu[DAE_P] = {0};
    guess(d, d->p, y, dy);
    CHECK_OK(c, costate_integrate(c, 0, d->T, y, d->p, tape));
    *value = fabs(y[z] - d->y[z]);
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
    *gradient = 0;
    for (int j = 0; j < d->np; j++) {
        for (int i = 0; i < d->n; i++) mu[j] += lambda[i] * dy[j * d->n + i];
        *gradient = fmax(*gradient, fabs(mu[j] - d->dy[z * d->np + j]));
    }
    costate_tape_free(tape);
    costate_free(c);
}

static void orders(void **state)
{
    (void)state;
    static const struct { const char *method; int N; double order; } known[] = {
        {"radau2a2", 20, 3}, {"radau2a", 8, 5}, {"lobatto3c", 20, 4}, {"sdirk4a", 40, 2}};
    for (size_t l = 0; l < sizeof known / sizeof *known; l++) {
        double value[2], gradient[2];
        const costate_method *m = costate_method_find(known[l].method);
        for (int half = 0; half < 2; half++) errors_of_z(m, known[l].N << half, &value[half], &gradient[half]);
        double slope = log2(value[0] / value[1]), of_gradient = log2(gradient[0] / gradient[1]);
        print_message("           %s: z at the end %.2f | %.2f\n", known[l].method, slope, of_gradient);
        if (!(slope >= known[l].order - 0.35 && of_gradient >= known[l].order - 0.35))
            fail_msg("%s: order of z %.2f, of its gradient %.2f, known: %.0f", known[l].method, slope, of_gradient,
                     known[l].order);
    }
}

/* ---- problem.start ---- */

/* I2A: the angle of the guess, on the circle, with the hidden constraint; NO_START: y+ twice the same equation */
enum { START, NO_START };

static void start_equations(num t, const num *y, const num *p, int kind, num *out)
{
    const num *to = y, *from = y + 3;
    (void)t;
    out[0] = sub(mul(to[0], from[1]), mul(to[1], from[0]));
    out[1] = sub(add(square(to[0]), square(to[1])), p[0]);
    out[2] = kind == NO_START ? out[0] : sub(times(2, mul(to[2], p[0])), p[1]);
}

typedef struct { dae of; int kind; } started;           /* the dae first: it is ctx of the other callbacks */

static void start_at(const costate_point *x, const costate_point *dx, const started *d, num *out)
{
    num y[6], p[4];
    for (int i = 0; i < 6; i++) y[i] = moving(x->y[i], dx && dx->y ? dx->y[i] : 0, 0);
    for (int i = 0; i < 4; i++) p[i] = moving(x->p[i], dx && dx->p ? dx->p[i] : 0, 0);
    start_equations(number(x->t), y, p, d->kind, out);
}
static int start_value(const costate_point *x, double *out, void *ctx)
{
    num o[3];
    start_at(x, NULL, ctx, o);
    for (int i = 0; i < 3; i++) out[i] = o[i].v;
    return 0;
}
static int start_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    num o[3];
    start_at(x, dx, ctx, o);
    for (int i = 0; i < 3; i++) out[i] = o[i].a;
    return 0;
}
static int start_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double e[6] = {0}, ep[4] = {0}, out[3];
    const struct { double *to, *unit; int count; costate_point dx; } parts[] = {{g->y, e, 6, {.y = e}},
                                                                               {g->p, ep, 4, {.p = ep}}};
    for (int k = 0; k < 2; k++)
        for (int i = 0; parts[k].to && i < parts[k].count; i++) {
            parts[k].unit[i] = 1;
            start_tangent(x, &parts[k].dx, out, ctx);
            parts[k].unit[i] = 0;
            for (int r = 0; r < 3; r++) parts[k].to[i] += w[r] * out[r];
        }
    return 0;
}

/* w . N'' along dx and each unit */
static int start_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                 const costate_gradient *g, void *ctx)
{
    const started *d = ctx;
    for (int k = 0; k < 10; k++) {
        num y[6], p[4], o[3];
        for (int i = 0; i < 6; i++) y[i] = moving(x->y[i], dx->y ? dx->y[i] : 0, i == k);
        for (int i = 0; i < 4; i++) p[i] = moving(x->p[i], dx->p ? dx->p[i] : 0, 6 + i == k);
        start_equations(number(x->t), y, p, d->kind, o);
        double *to = k < 6 ? g->y : g->p;
        for (int r = 0; to && r < 3; r++) to[k < 6 ? k : k - 6] += w[r] * o[r].ab;
    }
    return 0;
}

static costate_problem with_start(started *d, int kind)
{
    *d = (started){*dae_find("I2A"), kind};
    costate_problem P = dae_problem(&d->of, 1);
    P.residual.tangent2 = NULL;         /* not needed */
    P.residual.adjoint_tangent = NULL;
    P.start = (costate_map){.value = start_value, .tangent = start_tangent, .adjoint = start_adjoint};
    return P;
}

/* references from a guess whose z and radius are wrong; y' comes with it; a replay; transposes */
static void own_start(void **state)
{
    (void)state;
    started d;
    costate_problem P = with_start(&d, START);
    const double *p = d.of.p;
    costate_options o = {.rtol = 1e-10, .atol = 1e-10, .consistent = COSTATE_CONSISTENT_START};
    costate *c = costate_new(costate_method_find("radau2a5"), &P, &o);
    costate_tape *tape = costate_tape_new();
    double y0[DAE_N + 1] = {0}, y[DAE_N + 1], z[DAE_N + 1], yp[DAE_N] = {0}, F[DAE_N], dy[DAE_N * DAE_P];
    double lambda[DAE_N + 1] = {0}, mu[DAE_P] = {0};
    guess(&d.of, p, y0, dy);
    y0[2] = 5;
    memcpy(y, y0, sizeof y);
    memcpy(z, y0, sizeof z);
    CHECK_OK(c, costate_consistent(c, 0, z, yp, p));
    costate_point x = {.y = z, .p = p, .yp = yp};
    P.residual.value(&x, F, P.ctx);
    for (int i = 0; i < 3; i++) assert_true(fabs(F[i]) <= 1e-13);
    CHECK_OK(c, costate_integrate(c, 0, d.of.T, y, p, tape));
    memcpy(z, y0, sizeof z);
    CHECK_OK(c, costate_replay(c, tape, z, p));
    assert_memory_equal(y, z, sizeof y);
    dae_g(&d.of, d.of.T, y, p, lambda, mu);
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
    assert_true(lambda[2] == 0);
    for (int j = 0; j < 4; j++) for (int i = 0; i < 3; i++) mu[j] += lambda[i] * dy[j * 3 + i];
    if (!(relative_gap(4, mu, d.of.dg) <= 1e-8)) fail_msg("error %.2e", relative_gap(4, mu, d.of.dg));
    costate_tape_free(tape);
    costate_free(c);
    const double scale[] = {1, 1, 1};
    transposed_run run = {costate_method_find("radau2a"), &P, 0, 0.3, y0, p,
                          {.rtol = 1e-4, .atol = 1e-4, .hmax = 0.06, .consistent = COSTATE_CONSISTENT_START}, 3, scale};
    double gap = transpose_gap(&run);
    if (!(gap <= 1e-12)) fail_msg("gap %.2e", gap);
}

/* y_0 y_1 + y_0^2/2 + p_0 y_1 at the end */
static int product_seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp,
                        double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    const int N = *(const int *)ctx;
    (void)t1;
    lambda[0] += y[0] + y[1];
    lambda[1] += y[0] + p[0];
    if (mu) mu[0] += y[1];
    for (int j = 0; j < m; j++) {
        lambda2[j * N] += V[j * N] + V[j * N + 1];
        lambda2[j * N + 1] += V[j * N] + (Vp ? Vp[j * 4] : 0);
        if (mu2) mu2[j * 4] += V[j * N + 1];
    }
    return 0;
}

/* Hessian products through problem.start: symmetric, and differences of gradients of frozen runs; or what is missing */
static void own_start_twice(void **state)
{
    const costate_method *m = *state;
    started d;
    if (!dae_takes(m, dae_find("I2A"))) return;
    for (int given = 0; given < 2; given++) {
        costate_problem P = with_start(&d, START), second = dae_problem(&d.of, 1);
        P.residual.tangent2 = second.residual.tangent2;
        P.residual.adjoint_tangent = second.residual.adjoint_tangent;
        if (given) P.start.adjoint_tangent = start_adjoint_tangent;
        int N = P.n;
        P.nq = 0;
        P.cost = (costate_map){.value = NULL};
        costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.05, .consistent = COSTATE_CONSISTENT_START};
        costate *c = new_for_test(m, &P, &o);
        double y[DAE_N + 1] = {0};
        guess(&d.of, d.of.p, y, NULL);
        y[2] = 5;
        costate_report r;
        int status = costate_check_hessian(c, 0, 0.3, y, d.of.p, product_seed, &N, &r);
        if (status != (given ? COSTATE_OK : COSTATE_MISSING)) fail_msg("%s: %d, %s", method_name(m), status, r.text);
        if (!given && !strstr(r.text, "start.adjoint_tangent is missing")) fail_msg("%s", r.text);
        costate_free(c);
    }
}

/* ---- costate_check_problem ---- */

static int checked(const costate_problem *P, const double *y, const double *p, const char *said)
{
    double yp[DAE_N] = {0.1, 0.2, -0.3, 0.4, 0.2};
    costate_report r;
    costate_point x = {.t = 0.1, .y = y, .p = p, .yp = P->residual.value ? yp : NULL};
    int status = costate_check_problem(P, &x, &r, NULL);
    if (!strstr(r.text, said)) fail_msg("\"%s\" is not in \"%s\"", said, r.text);
    return status;
}

static void checks(void **state)
{
    (void)state;
    started d;
    costate_problem P = with_start(&d, START);
    double y[DAE_N];
    const dae *e;
    dae_start(&d.of, d.of.p, y, NULL);
    assert_int_equal(checked(&P, y, d.of.p, ""), COSTATE_OK);
    for (int k = 0; (e = dae_at(k)); k++) {
        double z[DAE_N];
        P = dae_problem(e, 1);
        dae_start(e, e->p, z, NULL);
        assert_int_equal(checked(&P, z, e->p, ""), COSTATE_OK);
    }
    static const int too_low[] = {0, 0, 1}, none[] = {0, 0, 0}, too_high[] = {0, 2, 2};
    P = dae_problem(&d.of, 1);
    P.index = too_low;
    assert_int_equal(checked(&P, y, d.of.p, "row 2 is a constraint on unknowns of index 0 alone"),
                     COSTATE_CHECK_FAILED);
    P.index = too_high;
    assert_int_equal(checked(&P, y, d.of.p, "2 unknowns of index 2, but at t = 0.1 0 rows"), COSTATE_CHECK_FAILED);
    P.index = none;
    assert_int_equal(checked(&P, y, d.of.p, "row 2"), COSTATE_CHECK_FAILED);
}

static int wrong_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    start_tangent(x, dx, out, ctx);
    out[1] *= 1.01;
    return 0;
}

static void wrong_start(void **state)
{
    (void)state;
    started d;
    costate_problem P = with_start(&d, START);
    double y[DAE_N];
    dae_start(&d.of, d.of.p, y, NULL);
    P.start.tangent = wrong_tangent;
    assert_int_equal(checked(&P, y, d.of.p, "start: "), COSTATE_CHECK_FAILED);
    P.start.tangent = NULL;
    P.start.adjoint = NULL;
    costate *c = costate_new(costate_method_find("radau2a"), &P, NULL);
    assert_int_equal(costate_consistent(c, 0, y, NULL, d.of.p), COSTATE_MISSING);
    assert_non_null(strstr(costate_message(c), "start.tangent"));
    costate_free(c);
}

/* ---- M y' = f: every family that takes it, and what cannot be found ---- */

/* y0' = -y0 + y1, 0 = y1^2 - y0 - p0 (two roots); ctx: the constraint has no root, or does not determine y1 */
enum { TWO_ROOTS, NO_ROOT, UNDETERMINED };

static int roots_value(const costate_point *x, double *out, void *ctx)
{
    const double *y = x->y;
    const int kind = *(const int *)ctx;
    out[0] = y[1] - y[0];
    out[1] = kind == UNDETERMINED ? y[0] - x->p[0] : y[1] * y[1] + (kind == NO_ROOT ? 1 : -y[0] - x->p[0]);
    return 0;
}
static double of(const double *d, int i) { return d ? d[i] : 0; }
static int roots_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const int kind = *(const int *)ctx;
    out[0] = of(dx->y, 1) - of(dx->y, 0);
    if (kind == UNDETERMINED) out[1] = of(dx->y, 0) - of(dx->p, 0);
    else out[1] = 2 * x->y[1] * of(dx->y, 1) - (kind == NO_ROOT ? 0 : of(dx->y, 0) + of(dx->p, 0));
    return 0;
}
static int roots_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) { g->y[0] += -w[0] - w[1]; g->y[1] += w[0] + 2 * x->y[1] * w[1]; }
    if (g->p) g->p[0] -= w[1];
    return 0;
}
static int roots_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out,
                          void *ctx)
{
    (void)x; (void)ctx;
    out[0] = 0;
    out[1] = 2 * of(a->y, 1) * of(b->y, 1);
    return 0;
}
static int roots_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                 const costate_gradient *g, void *ctx)
{
    (void)x; (void)ctx;
    if (g->y) g->y[1] += 2 * of(dx->y, 1) * w[1];
    return 0;
}
static int roots_jac(const costate_point *x, double *J, void *ctx)
{
    const int kind = *(const int *)ctx;
    J[0] = -1;
    J[1] = kind == UNDETERMINED ? 1 : kind == NO_ROOT ? 0 : -1;
    J[2] = 1;
    J[3] = kind == UNDETERMINED ? 0 : 2 * x->y[1];
    return 0;
}
static int roots_mass(double *M, void *ctx)
{
    (void)ctx;
    memcpy(M, (const double[]){1, 0, 0, 0}, 4 * sizeof *M);
    return 0;
}

static costate_problem roots(int *kind)
{
    return (costate_problem){.n = 2, .np = 1, .ctx = kind,
                             .rhs = {.value = roots_value, .tangent = roots_tangent, .adjoint = roots_adjoint,
                                     .tangent2 = roots_tangent2, .adjoint_tangent = roots_adjoint_tangent},
                             .jac = roots_jac, .mass = roots_mass};
}

/* the guess chooses the root, and stays with it; exact for every method that takes a singular M */
static void two_roots(void **state)
{
    const costate_method *m = *state;
    static const int solver[] = {COSTATE_LS_DENSE, COSTATE_LS_UMFPACK, COSTATE_LS_GMRES};
    if (is_explicit(m) || !(method_info(m).properties & COSTATE_DAE)) return;
    for (int variant = 0; variant < 12; variant++) {
        int kind = TWO_ROOTS, sign = variant & 1 ? 1 : -1;
        static const int col[] = {0, 2, 4}, row[] = {0, 1, 0, 1};
        static const costate_pattern full = {2, col, row};
        costate_problem P = roots(&kind);
        if (variant % 3) P.pattern = &full;
        double p = 1.25, y0[] = {1, 0.2 * sign}, y[] = {1, 0.2 * sign};
        costate_options o = {.rtol = 1e-5, .atol = 1e-5, .consistent = 1 + variant / 4, .solver = solver[variant % 3]};
        if (o.consistent == COSTATE_CONSISTENT_END) y0[1] = y[1] = 1.5 * sign;
        if (o.solver == COSTATE_LS_UMFPACK && !costate_backend_find("umfpack")) o.solver = COSTATE_LS_DENSE;
        costate *c = new_for_test(m, &P, &o);
        CHECK_OK(c, costate_integrate(c, 0, 0.4, y, &p, NULL));
        if (!(sign * y[1] > 0 && fabs(y[1] * y[1] - y[0] - p) <= (o.consistent & 2 ? 1e-14 : 1e-3)))
            fail_msg("%s: (%.8g, %.8g) from the root of sign %d", method_name(m), y[0], y[1], sign);
        costate_free(c);
        transposed_run run = {m, &P, 0, variant & 2 ? 0.4 : -0.2, y0, &p, o, 2, NULL};
        run.o.hmax = 0.05;
        double gap = transpose_gap(&run);
        if (!(gap <= 1e-12)) fail_msg("%s, variant %d: gap %.2e", method_name(m), variant, gap);
    }
}

static void refused(const costate_problem *P, const costate_options *o, const double *y0, const double *p, int status,
                    const char *said)
{
    costate *c = costate_new(costate_method_find("radau2a"), P, o);
    double y[DAE_N + 1] = {0};
    memcpy(y, y0, (size_t)P->n * sizeof *y);
    assert_int_equal(costate_consistent(c, 0, y, NULL, p), status);
    if (!strstr(costate_message(c), said)) fail_msg("\"%s\" is not in \"%s\"", said, costate_message(c));
    assert_memory_equal(y, y0, (size_t)P->n * sizeof *y);
    costate_free(c);
    costate_options at_start = o ? *o : (costate_options){0};
    at_start.consistent = COSTATE_CONSISTENT_START;
    c = costate_new(costate_method_find("radau2a"), P, &at_start);
    costate_tape *tape = costate_tape_new();
    assert_int_equal(costate_integrate(c, 0, 1, y, p, tape), status);
    assert_memory_equal(y, y0, (size_t)P->n * sizeof *y);
    assert_int_equal(costate_tape_steps(tape), 0);
    costate_tape_free(tape);
    costate_free(c);
}

static void bad_guesses(void **state)
{
    (void)state;
    started d;
    costate_problem S = with_start(&d, NO_START);
    double at[DAE_N];
    guess(&d.of, d.of.p, at, NULL);
    refused(&S, NULL, at, d.of.p, COSTATE_SINGULAR, "problem.start with respect to y+ is singular");
    int none = NO_ROOT, undetermined = UNDETERMINED, two = TWO_ROOTS;
    double p = 1.25, y[] = {1, 0.2}, flat[] = {1, 0};
    costate_problem P = roots(&none);
    refused(&P, NULL, y, &p, COSTATE_INCONSISTENT, "row 1 still misses by 1");
    P = roots(&undetermined);
    refused(&P, NULL, y, &p, COSTATE_SINGULAR, "do not determine y[1]");
    P = roots(&two);
    refused(&P, NULL, flat, &p, COSTATE_SINGULAR, "do not determine y[1]");
    static const int high[] = {0, 2}, algebraic[] = {1, 0};
    P.index = high;
    refused(&P, NULL, y, &p, COSTATE_BAD_ARGUMENT, "1 unknowns of index 2, but at t = 0 0 rows");
    P = roots(&two);
    P.mass = NULL;
    P.index = algebraic;
    refused(&P, NULL, y, &p, COSTATE_BAD_ARGUMENT, "problem.index calls y[0] algebraic, but M is the identity");
}

/* what index 2 needs beyond the first derivatives, and what it does not */
static void second_derivatives(void **state)
{
    (void)state;
    const dae *d = dae_find("I2A");
    costate_problem P = dae_problem(d, 1);
    P.residual.tangent2 = NULL;
    P.residual.adjoint_tangent = NULL;
    for (int moved = 0; moved < 2; moved++) {
        costate_options o = {.consistent = COSTATE_CONSISTENT_START};
        costate *c = costate_new(costate_method_find("radau2a"), &P, &o);
        costate_tape *tape = costate_tape_new();
        double y[DAE_N + 1] = {0}, lambda[DAE_N + 1] = {1, 1}, V[DAE_N + 1] = {1};
        if (moved) guess(d, d->p, y, NULL);
        else dae_start(d, d->p, y, NULL);
        CHECK_OK(c, costate_integrate(c, 0, d->T, y, d->p, tape));
        int status = costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL);
        assert_int_equal(status, moved ? COSTATE_MISSING : COSTATE_OK);
        if (moved) assert_non_null(strstr(costate_message(c), "residual.adjoint_tangent"));
        assert_int_equal(costate_tangent(c, tape, 1, V, NULL, NULL, NULL), COSTATE_MISSING);
        assert_non_null(strstr(costate_message(c), "residual.tangent2"));
        costate_tape_free(tape);
        costate_free(c);
    }
}

static int decay(const costate_point *x, double *out, void *ctx)
{
    for (int i = 0; i < *(const int *)ctx; i++) out[i] = -x->y[i];
    return 0;
}

/* y' = f needs no matrix: n*n numbers would be 320 GB */
static void large_and_plain(void **state)
{
    (void)state;
    int n = 200000;
    costate_problem P = {.n = n, .ctx = &n, .rhs = {.value = decay}};
    costate *c = costate_new(costate_method_find("dopri5"), &P, NULL);
    double *y = calloc(2 * (size_t)n, sizeof *y);
    assert_non_null(y);
    for (int i = 0; i < n; i++) y[i] = i;
    CHECK_OK(c, costate_consistent(c, 0, y, y + n, NULL));
    for (int i = 0; i < n; i++) assert_true(y[i] == i && y[n + i] == -i);
    free(y);
    costate_free(c);
}

static void bad_arguments(void **state)
{
    (void)state;
    const dae *d = dae_find("eq32");
    costate_problem P = dae_problem(d, 1);
    costate *c = costate_new(costate_method_find("radau2a"), &P, NULL);
    double y[] = {1, NAN}, yp[] = {0, INFINITY}, fine[] = {1, 2};
    assert_int_equal(costate_consistent(NULL, 0, fine, NULL, d->p), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_consistent(c, NAN, fine, NULL, d->p), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_consistent(c, 0, NULL, NULL, d->p), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_consistent(c, 0, y, NULL, d->p), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_consistent(c, 0, fine, yp, d->p), COSTATE_BAD_ARGUMENT);
    assert_string_equal(costate_message(c), "yp holds a NaN or Inf.");
    assert_int_equal(costate_consistent(c, 0, fine, NULL, NULL), COSTATE_BAD_ARGUMENT);
    costate_free(c);
    costate_options o = {.consistent = 4};
    c = costate_new(costate_method_find("radau2a"), &P, &o);
    assert_int_equal(costate_status(c), COSTATE_BAD_ARGUMENT);
    costate_free(c);
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(values), cmocka_unit_test(references), cmocka_unit_test(orders),
        cmocka_unit_test(own_start), cmocka_unit_test(checks), cmocka_unit_test(wrong_start),
        cmocka_unit_test(bad_guesses), cmocka_unit_test(second_derivatives), cmocka_unit_test(bad_arguments),
        cmocka_unit_test(large_and_plain)};
    return run_by_method("start: the adjoint is the transpose of the tangent", transpose) +
           run_by_method("start: tangents are differences of the run again", differences) +
           run_by_method("start: replayed, checked", replayed) +
           run_by_method("start: problem.start, Hessian products", own_start_twice) +
           run_by_method("start: two roots", two_roots) +
           cmocka_run_group_tests_name("start", others, NULL, NULL);
}
