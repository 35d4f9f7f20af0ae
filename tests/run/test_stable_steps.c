/* test_stable_steps.c - explicit methods keep h inside their region of stability for all modes of the problem, so that
   a gradient does not grow where y shows nothing; what this costs, where it is not done, and what is said of it. */
#include <unistd.h>
#include "solver/solver.h"     /* before cmocka */
#include "line_heat.h"

#define CLAIM(x) do { if (!(x)) fail_msg("%s: not so: %s", method_name(m), #x); } while (0)

enum { POINTS = 40, CELLS = 30, WAVES = 2 * CELLS };
static const double PI = 3.14159265358979323846;

typedef struct { costate_problem P; double t1; void (*exact)(double *by_y0); } linear;

/* ---- heat on a line; u(0) excites the slowest mode alone ---- */

static int points = POINTS;
static const double HEAT_T1 = 0.05;
static void heat_exact(double *by_y0) { line_heat_exact(POINTS, HEAT_T1, by_y0); }

/* ---- u_t = v_x, v_t = u_x with central differences, periodic; a wide hump of u ---- */

static int waves(const costate_point *x, double *f, void *ctx)
{
    const double *u = x->y, *v = u + CELLS, s = CELLS / 2.0;
    for (int i = 0; i < CELLS; i++) {
        int left = (i + CELLS - 1) % CELLS, right = (i + 1) % CELLS;
        f[i] = s * (v[right] - v[left]);
        f[CELLS + i] = s * (u[right] - u[left]);
    }
    return (void)ctx, 0;
}
static int waves_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return (void)x, linear_tangent(waves, WAVES, dx, out, ctx);
}
static int waves_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double by_y[WAVES];
    costate_point at = {.y = w};
    waves(&at, by_y, ctx);
    for (int i = 0; g->y && i < WAVES; i++) g->y[i] -= by_y[i];
    return (void)x, 0;
}
static const double WAVES_T1 = 8;
static void waves_exact(double *by_y0)
{
    memset(by_y0, 0, WAVES * sizeof *by_y0);
    for (int k = 0; k < CELLS; k++)
        for (int i = 0; i < CELLS; i++) {
            double speed = CELLS * sin(2 * PI * k / CELLS), angle = 2 * PI * k * i / CELLS;
            by_y0[i] += cos(angle) * cos(speed * WAVES_T1) / CELLS;
            by_y0[CELLS + i] -= sin(angle) * sin(speed * WAVES_T1) / CELLS;
        }
}

static const linear diffusion = {
    {.n = POINTS, .rhs = {.value = line_heat, .tangent = line_heat_tangent, .adjoint = line_heat_adjoint},
     .ctx = &points}, 0.05, heat_exact};
static const linear hump = {
    {.n = WAVES, .rhs = {.value = waves, .tangent = waves_tangent, .adjoint = waves_adjoint}}, 8, waves_exact};

typedef struct { int status; double y[WAVES], g[WAVES]; int steps; costate_stats stats; char text[800]; } outcome;

static void start(const linear *b, double *y)
{
    memset(y, 0, WAVES * sizeof *y);
    if (b == &diffusion) line_heat_start(POINTS, y);
    for (int i = 0; i < CELLS && b == &hump; i++) y[i] = exp(-20 * pow((i + 0.5) / CELLS - 0.5, 2));
}

static outcome run(const costate_method *m, const linear *b, const costate_problem *P, costate_options o)
{
    outcome r = {0};
    o.rtol = o.rtol > 0 ? o.rtol : 1e-3;
    o.atol = o.rtol;
    o.autonomous = 1;
    costate *c = costate_new(m, P, &o);
    costate_tape *tape = costate_tape_new();
    start(b, r.y);
    r.g[0] = 1;
    r.status = costate_integrate(c, 0, b->t1, r.y, NULL, tape);
    r.stats = *costate_get_stats(c);
    snprintf(r.text, sizeof r.text, "%s", costate_message(c));
    r.steps = costate_tape_steps(tape);
    if (r.status == COSTATE_OK && (P->rhs.adjoint || P->jac))
        CHECK_OK(c, costate_adjoint(c, tape, 1, r.g, NULL, NULL, NULL));
    costate_tape_free(tape);
    costate_free(c);
    return r;
}

static double gradient_error(const linear *b, const outcome *r)
{
    double exact[WAVES];
    b->exact(exact);
    return relative_error(b->P.n, r->g, exact);
}

static int is_erk(const costate_method *m) { return method_info(m).family == COSTATE_ERK && method_info(m).embedded; }

/* Diffusion is damped: the gradient is as right as its slow modes.  Waves keep what the gradient excites, with phases
   of the fast ones that are wrong: it is bounded. */
static void gradients(void **state)
{
    static const double tolerances[] = {1e-3, 1e-5};
    const costate_method *m = *state;
    double spoilt = 0;
    if (!is_erk(m)) skip();
    for (int k = 0; k < 2; k++) {
        costate_options o = {.rtol = tolerances[k]};
        outcome r = run(m, &diffusion, &diffusion.P, o), w = run(m, &hump, &hump.P, o);
        CLAIM(r.status == COSTATE_OK && w.status == COSTATE_OK);
        CLAIM(gradient_error(&diffusion, &r) <= 1e-3);
        /* each class has its limit: the longer one near the negative real axis, the one of the span elsewhere */
        double decay = 4.0 * (POINTS + 1) * (POINTS + 1) * diffusion.t1, turns = CELLS * hump.t1;
        if (k == 0) CLAIM(r.steps <= 1.25 * decay / m->limits[0] + 20);
        CLAIM(w.steps >= turns / m->limits[3]);
        CLAIM(gradient_error(&hump, &w) <= 4);
        o.stability = COSTATE_STABILITY_OFF;
        r = run(m, &diffusion, &diffusion.P, o);
        w = run(m, &hump, &hump.P, o);
        spoilt = fmax(spoilt, fmax(gradient_error(&diffusion, &r), gradient_error(&hump, &w)));
    }
    if (strcmp(method_name(m), "dopri5") == 0) CLAIM(spoilt > 1e2);
}

/* J^T v serves as well as J v; no tape, states alone and checkpoints have the same steps */
static void same_steps(void **state)
{
    const costate_method *m = *state;
    if (!is_erk(m)) skip();
    const linear *all[] = {&diffusion, &hump};
    for (int k = 0; k < 2; k++) {
        const linear *b = all[k];
        costate_problem backward = b->P;
        backward.rhs.tangent = NULL;
        outcome r = run(m, b, &b->P, (costate_options){0}), s = run(m, b, &backward, (costate_options){0});
        CLAIM(abs(r.steps - s.steps) <= r.steps / 50 + 1);
        s = run(m, b, &b->P, (costate_options){.storage = COSTATE_STATES_ONLY});
        CLAIM(s.steps == r.steps && memcmp(s.g, r.g, sizeof s.g) == 0);
        s = run(m, b, &b->P, (costate_options){.storage = COSTATE_CHECKPOINTS, .checkpoints = 40});
        CLAIM(s.steps == r.steps && memcmp(s.y, r.y, sizeof s.y) == 0);
        double y[WAVES];
        start(b, y);
        costate *c = costate_new(m, &b->P, &(costate_options){.rtol = 1e-3, .atol = 1e-3, .autonomous = 1});
        for (int i = 0; i < 2; i++) {               /* a second run of the solver does not know the first */
            start(b, y);
            CHECK_OK(c, costate_integrate(c, 0, b->t1, y, NULL, NULL));
            CLAIM(memcmp(y, r.y, (size_t)b->P.n * sizeof *y) == 0);
        }
        costate_free(c);
    }
}

/* A run that is continued from its file measures as the run that was not stopped would have; costate_continue goes on
   from what was measured. */
static int stops(const costate_step *s, void *ctx)
{
    int *left = ctx;
    return (void)s, --*left == 0;
}

static void resumed(void **state)
{
    char path[64];
    const costate_method *m = *state;
    const linear *all[] = {&diffusion, &hump};
    if (method_info(m).family != COSTATE_RKC && !is_erk(m)) skip();
    for (int k = 0; k < 2; k++) {
        const linear *b = all[k];
        if (b == &hump && !is_erk(m)) continue;
        snprintf(path, sizeof path, "stable-%ld.tape", (long)getpid());
        for (int storage = COSTATE_ALL_STAGES; storage <= COSTATE_STATES_ONLY; storage++) {
            double whole[WAVES], y[WAVES];
            int left = 3;
            costate_options o = {.rtol = 1e-5, .atol = 1e-5, .autonomous = 1, .storage = storage};
            costate *c = costate_new(m, &b->P, &o);
            costate_tape *tape = costate_tape_open(path);
            start(b, whole);
            CHECK_OK(c, costate_integrate(c, 0, b->t1, whole, NULL, tape));
            int steps = costate_tape_steps(tape);
            costate_tape_free(tape);
            costate_free(c);
            o.on_step = stops;
            o.on_step_ctx = &left;
            c = costate_new(m, &b->P, &o);
            tape = costate_tape_open(path);
            start(b, y);
            CLAIM(costate_integrate(c, 0, b->t1, y, NULL, tape) == COSTATE_STOPPED);
            costate_tape_free(tape);
            costate_free(c);
            o.on_step = NULL;
            c = costate_new(m, &b->P, &o);
            tape = costate_tape_open(path);
            CHECK_OK(c, costate_resume(c, tape, y));
            CLAIM(costate_tape_steps(tape) == steps && memcmp(y, whole, (size_t)b->P.n * sizeof *y) == 0);
            costate_tape_free(tape);
            costate_free(c);
            remove(path);
        }
    }
}

/* ---- what is measured: oscillators x' = v, m v' = -m w^2 x: positions and velocities have different units ---- */

enum { OSCILLATORS = 20, BOTH = 2 * OSCILLATORS };
static const double MASS = 1e3;
static double frequency(int i) { return 50.0 * (i + 1); }

static int swings(const costate_point *x, double *f, void *ctx)
{
    for (int i = 0; i < OSCILLATORS; i++) {
        f[i] = x->y[OSCILLATORS + i];
        f[OSCILLATORS + i] = -MASS * frequency(i) * frequency(i) * x->y[i];
    }
    return (void)ctx, 0;
}
static int swings_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return (void)x, linear_tangent(swings, BOTH, dx, out, ctx);
}
static int swings_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    for (int i = 0; g->y && i < OSCILLATORS; i++) {
        g->y[OSCILLATORS + i] += w[i];
        g->y[i] -= MASS * frequency(i) * frequency(i) * w[OSCILLATORS + i];
    }
    return (void)x, (void)ctx, 0;
}
static int masses(double *M, void *ctx)
{
    memset(M, 0, BOTH * BOTH * sizeof *M);
    for (int i = 0; i < BOTH; i++) M[i * BOTH + i] = i < OSCILLATORS ? 1 : MASS;
    return (void)ctx, 0;
}

static void measured(void **state)
{
    const costate_method *m = *state;
    if (!is_erk(m)) skip();
    for (int backward = 0; backward < 2; backward++) {
        costate_problem P = {.n = BOTH, .rhs = {.value = swings}, .mass = masses};
        if (backward) P.rhs.adjoint = swings_adjoint;
        else P.rhs.tangent = swings_tangent;
        costate *c = costate_new(m, &P, &(costate_options){.rtol = 1e-3, .atol = 1e-3, .autonomous = 1});
        double y[BOTH] = {1};                               /* the slowest alone */
        CHECK_OK(c, costate_integrate(c, 0, 0.3, y, NULL, NULL));
        double rho = c->st.spectrum.rho / 1.1, exact = frequency(OSCILLATORS - 1);
        if (!(rho > 0.85 * exact && rho < 1.3 * exact)) fail_msg("%s: %g of %g", method_name(m), rho, exact);
        CLAIM(!c->st.spectrum.negative);
        costate_free(c);
    }
    costate *c = costate_new(m, &diffusion.P, &(costate_options){.rtol = 1e-3, .atol = 1e-3, .autonomous = 1});
    double y[WAVES], exact = 4.0 * (POINTS + 1) * (POINTS + 1);
    start(&diffusion, y);
    CHECK_OK(c, costate_integrate(c, 0, diffusion.t1, y, NULL, NULL));
    CLAIM(c->st.spectrum.rho > 1.0 * exact && c->st.spectrum.rho < 1.2 * exact && c->st.spectrum.negative);
    costate_free(c);
}

/* where stability does not limit h, 3 % of the evaluations of f, and no step is another one */
static void price(void **state)
{
    static const char *const names[] = {"lv", "rotor"};
    const costate_method *m = *state;
    if (!is_erk(m)) skip();
    for (int k = 0; k < 2; k++) {
        const problem *b = problem_find(names[k]);
        double y[2][8] = {{0}}, t1 = b->t0 + 3 * (b->t1 - b->t0);
        costate_stats s[2];
        for (int off = 0; off < 2; off++) {
            costate_options o = {.rtol = 1e-6, .atol = 1e-6, .stability = off};
            costate *c = new_for_test(m, &b->P, &o);
            memcpy(y[off], b->y0, (size_t)b->P.n * sizeof **y);
            CHECK_OK(c, costate_integrate(c, b->t0, t1, y[off], b->p0, NULL));
            s[off] = *costate_get_stats(c);
            costate_free(c);
        }
        if (s[0].accepted < 50) continue;
        CLAIM(memcmp(y[0], y[1], sizeof y[0]) == 0);
        CLAIM(s[0].power > 0 && s[0].power <= 0.04 * s[0].f);
        CLAIM(s[0].power <= s[1].power + 4 || s[1].power > 0);
    }
}

/* ---- at an event the rate of a component that is 0 becomes ten thousand times as large ---- */

static int turns_on(const costate_point *x, double *f, void *ctx)
{
    f[0] = 50 * x->y[1];
    f[1] = -50 * x->y[0];
    f[2] = -(x->mode ? 1e4 : 1) * x->y[2];
    return (void)ctx, 0;
}
static int turns_on_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    costate_point at = {.y = dx->y, .mode = x->mode};
    out[0] = out[1] = out[2] = 0;
    return dx->y ? turns_on(&at, out, ctx) : 0;
}
static int turns_on_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (!g->y) return (void)ctx, 0;
    g->y[0] -= 50 * w[1];
    g->y[1] += 50 * w[0];
    g->y[2] -= (x->mode ? 1e4 : 1) * w[2];
    return 0;
}

static void after_events(void **state)
{
    static const double when[] = {0.5};
    const costate_method *m = *state;
    if (!is_erk(m)) skip();
    const costate_event event[] = {{.times = when, .ntimes = 1, .from = 0, .to = 1}};
    costate_problem P = {.n = 3, .rhs = {turns_on, .tangent = turns_on_tangent, .adjoint = turns_on_adjoint},
                         .nevents = 1, .event = event};
    costate *c = costate_new(m, &P, &(costate_options){.rtol = 1e-4, .atol = 1e-4, .autonomous = 1});
    costate_tape *tape = costate_tape_new();
    double y[] = {1, 0, 0}, g[] = {0, 0, 1};
    CHECK_OK(c, costate_integrate(c, 0, 0.6, y, NULL, tape));
    CLAIM(costate_mode(c) == 1);
    CHECK_OK(c, costate_adjoint(c, tape, 1, g, NULL, NULL, NULL));
    CLAIM(fabs(g[2]) < 1e-3);                                       /* exp(-1000.5) */
    costate_tape_free(tape);
    costate_free(c);
}

/* no products: nothing is measured, nothing is limited */
static void values_only(void **state)
{
    const costate_method *m = *state;
    if (!is_erk(m)) skip();
    costate_problem P = {.n = POINTS, .rhs.value = line_heat, .ctx = &points};
    outcome r = run(m, &diffusion, &P, (costate_options){0});
    outcome off = run(m, &diffusion, &diffusion.P, (costate_options){.stability = COSTATE_STABILITY_OFF});
    CLAIM(r.stats.power == 0 && r.steps == off.steps && memcmp(r.y, off.y, sizeof r.y) == 0);
    double rho = 4.0 * (POINTS + 1) * (POINTS + 1);
    outcome bound = run(m, &diffusion, &P, (costate_options){.spectral_bound = rho});   /* given: it counts */
    CLAIM(bound.stats.power == 0 && bound.steps >= r.steps);
}

static void remarks(void **state)
{
    const costate_method *m = *state;
    if (!is_erk(m)) skip();
    outcome r = run(m, &diffusion, &diffusion.P, (costate_options){.controller = COSTATE_FIXED, .h0 = 1e-2});
    CLAIM(strstr(r.text, "times what stability allows") != NULL);
    r = run(m, &diffusion, &diffusion.P, (costate_options){.controller = COSTATE_FIXED, .h0 = 1e-4});
    CLAIM(r.status == COSTATE_OK && strcmp(r.text, "No error.") == 0);
    r = run(m, &diffusion, &diffusion.P, (costate_options){.rtol = 1e-3});
    CLAIM(strstr(r.text, "steps h was as long as stability allows") && strstr(r.text, "rock4"));
    r = run(m, &hump, &hump.P, (costate_options){.rtol = 1e-2});
    CLAIM(!strstr(r.text, "rock4"));
    r = run(m, &diffusion, &diffusion.P, (costate_options){.hmin = 0.01, .rtol = 0.5});
    CLAIM(r.status != COSTATE_OK || r.stats.accepted <= 5);        /* hmin is the user's word */
}

/* ---- products that are zero, not defined, or end the run; one unknown; units ---- */

typedef struct { double scale, bad_before; int code, calls; } odd;

static int odd_value(const costate_point *x, double *f, void *ctx)
{
    const odd *a = ctx;
    f[0] = -a->scale * x->y[0];
    return 0;
}
static int odd_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    odd *a = ctx;
    a->calls++;
    out[0] = dx->y ? -a->scale * dx->y[0] : 0;
    if (x->t < a->bad_before) out[0] = NAN;
    return x->t < a->bad_before ? a->code : 0;
}

static int one_unknown(const costate_method *m, odd *a, double unit, double t1, double *y, costate_stats *s)
{
    costate_problem P = {.n = 1, .rhs = {.value = odd_value, .tangent = odd_tangent}, .ctx = a};
    costate_options o = {.rtol = 1e-4, .atol = 1e-4 * unit, .autonomous = 1, .h0 = 1e-3 * t1};
    costate *c = costate_new(m, &P, &o);
    *y = unit;
    int status = costate_integrate(c, 0, t1, y, NULL, NULL);
    *s = *costate_get_stats(c);
    costate_free(c);
    return status;
}

static void odd_products(void **state)
{
    const costate_method *m = *state;
    costate_stats s;
    double y;
    if (!is_erk(m)) skip();
    CLAIM(one_unknown(m, &(odd){.scale = 0}, 1, 1, &y, &s) == COSTATE_OK && y == 1 && s.power <= 16);
    for (int code = 0; code < 2; code++) {                       /* not defined at the start: limits nothing there */
        odd a = {.scale = 1, .bad_before = 0.3, .code = code};
        CLAIM(one_unknown(m, &a, 1, 1, &y, &s) == COSTATE_OK && fabs(y - exp(-1)) < 1e-2);
    }
    CLAIM(one_unknown(m, &(odd){.scale = 1, .bad_before = 1, .code = -1}, 1, 1, &y, &s) == COSTATE_CALLBACK);
    CLAIM(one_unknown(m, &(odd){.scale = -5}, 1, 1, &y, &s) == COSTATE_OK);        /* grows */
    static const double units[] = {1e-300, 1e-150, 1e150, 1e300};
    int steps = 0;
    for (int k = 0; k < 4; k++)
        for (int time = 0; time < 4; time++) {
            double rate = 1 / units[time];
            if (fabs(log10(units[k]) + log10(rate)) > 290) continue;            /* f would be 0, or no number */
            CLAIM(one_unknown(m, &(odd){.scale = 50 * rate}, units[k], 1 / rate, &y, &s) == COSTATE_OK);
            if (steps == 0) steps = (int)s.accepted;
            CLAIM(abs((int)s.accepted - steps) <= 1);
        }
}

int main(void)
{
    return run_by_kind("gradients", gradients) + run_by_kind("same_steps", same_steps) +
           run_by_kind("measured", measured) + run_by_kind("resumed", resumed) + run_by_kind("price", price) +
           run_by_kind("values_only", values_only) + run_by_kind("after_events", after_events) +
           run_by_kind("remarks", remarks) + run_by_kind("odd_products", odd_products);
}
