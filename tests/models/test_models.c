/* test_models.c - every generated problem: all maps and Jacobians are right, adjoints and tangents are transposes to
   1e-12, and Hessian products are symmetric, with one method of each kind that can run it. */
#include "common.h"

#include "battery.h"
#include "bouncing_ball.h"
#include "cascade.h"
#include "dosing.h"
#include "drug.h"
#include "friction.h"
#include "hares.h"
#include "hires.h"
#include "kepler.h"
#include "lotka_volterra.h"
#include "oregonator.h"
#include "pendulum.h"
#include "pendulum_mass.h"
#include "pollution.h"
#include "population.h"
#include "reactor.h"
#include "relay.h"
#include "robertson_dae.h"
#include "robertson_ode.h"
#include "rotor_dae.h"
#include "smog.h"
#include "thermostat.h"
#include "van_der_pol.h"

typedef struct {
    const char *name;
    const costate_problem *(*problem)(void);
    const double *defaults;
    void (*start)(double t, const double *p, double *y);
    const costate_map *(*start_map)(void), *(*output_map)(void);
    int outputs;
    double begin, end;        /* differentiated from begin to end; before, if begin > 0, it is run from 0 */
    const char *methods;
    const costate_backend *(*backend)(void);
} model;

/* of one equation, which needs no linear solver of its own */
#define MAPS(name) #name, name##_problem, name##_defaults, name##_start, name##_start_map
#define ONE(name, outputs, count, end, methods) {MAPS(name), outputs, count, 0, end, methods, NULL}
#define ROW(name, outputs, count, end, methods) {MAPS(name), outputs, count, 0, end, methods, name##_backend}
/* species that begin at zero have no size of their own: a while later they have */
#define LATER(name, begin, end) {MAPS(name), NULL, 0, begin, end, STIFF, name##_backend}
#define ANY "dopri5 rodas4 radau2a5 sdirk4a rkc2"
#define STIFF "rodas4 rodas5p radau2a5 sdirk4a"
static const model models[] = {
    ROW(battery, battery_output_map, battery_outputs, 1, "rodas4 radau2a5"),
    ROW(bouncing_ball, bouncing_ball_output_map, bouncing_ball_outputs, 2, "dopri5 rodas4 radau2a5 sdirk4a"),
    ROW(cascade, cascade_output_map, cascade_outputs, 2, ANY),
    ROW(dosing, dosing_output_map, dosing_outputs, 30, ANY),
    ROW(drug, drug_output_map, drug_outputs, 30, ANY),
    ROW(friction, NULL, 0, 6, "dopri5 rodas4 radau2a5 sdirk4a"),
    ROW(hares, hares_output_map, hares_outputs, 5, ANY),
    ROW(hires, NULL, 0, 5, STIFF),
    ROW(kepler, kepler_output_map, kepler_outputs, 3, ANY),
    ROW(lotka_volterra, lotka_volterra_output_map, lotka_volterra_outputs, 5, ANY),
    ROW(oregonator, NULL, 0, 5, "rodas4 radau2a5"),
    ROW(pendulum, NULL, 0, 1, "radau2a5"),
    ROW(pendulum_mass, NULL, 0, 1, "radau2a5"),
    LATER(pollution, 10, 20),
    ROW(population, population_output_map, population_outputs, 5, ANY),
    ROW(reactor, NULL, 0, 1, STIFF),
    ROW(relay, NULL, 0, 3, "radau2a5 sdirk4a"),
    ROW(robertson_ode, NULL, 0, 10, STIFF),
    ROW(robertson_dae, NULL, 0, 10, "rodas4 radau2a5"),
    ROW(rotor_dae, NULL, 0, 1, "rodas4 radau2a5"),
    LATER(smog, 36000, 40000),
    ONE(thermostat, NULL, 0, 20, "dopri5 rodas4 radau2a5"),
    ROW(van_der_pol, NULL, 0, 5, STIFF),
};
enum { COUNT = sizeof models / sizeof *models };
_Static_assert(COUNT == MODELS, "every model that the build knows has a row");

enum { MOST = 64 };

/* y and p near those of the file, where no expression has a kink and no state is zero */
static void near_start(const model *m, const costate_problem *of, double *y, double *p)
{
    for (int i = 0; i < of->np; i++) p[i] = m->defaults ? m->defaults[i] * (1 + 0.01 * (i % 3)) : 0;
    m->start(0, p, y);
}

static void every_map_is_right(void **state)
{
    const model *m = *state;
    const costate_problem *of = m->problem();
    double y[MOST], p[MOST], yp[MOST];
    near_start(m, of, y, p);
    for (int i = 0; i < of->n; i++) {
        y[i] += 0.01 * (1 + 0.3 * i) * (fabs(y[i]) + 1e-3);
        yp[i] = 0.2 + 0.1 * i;
    }
    for (int mode = 0; mode < 2; mode++) {
        costate_point x = {.t = 0.3, .y = y, .p = p, .m = of->nm ? y + of->n + of->nq : NULL,
                           .yp = of->residual.value ? yp : NULL, .mode = mode};
        costate_report rhs, cost, one;
        int status = costate_check_problem(of, &x, &rhs, &cost);
        if (status != COSTATE_OK) fail_msg("%s: %s %s", m->name, rhs.text, of->nq ? cost.text : "");
        const costate_map *maps[] = {m->start_map(), m->output_map ? m->output_map() : NULL};
        int rows[] = {of->n + of->nq + of->nm, m->outputs};
        for (int k = 0; k < 2; k++)
            if (maps[k] && costate_check_map(maps[k], of->n, of->np, rows[k], &x, NULL, &one) != COSTATE_OK)
                fail_msg("%s: map %d: %s", m->name, k, one.text);
    }
}

/* half the sum of squares of the states in units of `unit`, and the sum of the integrals */
typedef struct { const costate_problem *of; double unit[MOST]; } squares;

static int seed(double t, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    const squares *s = ctx;
    int n = s->of->n, rows = n + s->of->nq + s->of->nm;
    (void)t, (void)p, (void)Vp, (void)mu, (void)mu2;
    for (int i = 0; i < n + s->of->nq; i++) lambda[i] = i < n ? y[i] / (s->unit[i] * s->unit[i]) : 1;
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++) lambda2[i + j * rows] = V[i + j * rows] / (s->unit[i] * s->unit[i]);
    return 0;
}

/* The relative gap of <w, V(t1)> and <lambda(t0), V> + <mu, Vp>, relative to the terms of both, for directions and
   weights in the units of the components: kinetics have states of 1e-16 beside 1. */
static double transpose_gap(const model *m, costate *c, const double *y, const double *p)
{
    const costate_problem *of = m->problem();
    int N = of->n + of->nq + of->nm;
    unsigned random = 5;
    double at[MOST], V[MOST], Vp[MOST], dy[MOST], w[MOST], lambda[MOST], mu[MOST] = {0}, left = 0, right = 0, size = 0;
    costate_tape *tape = costate_tape_new();
    memcpy(at, y, sizeof at);
    assert_int_equal(costate_integrate(c, m->begin, m->end, at, p, tape), COSTATE_OK);
    for (int i = 0; i < N; i++) dy[i] = V[i] = i < of->n ? random_in(&random) * (fabs(y[i]) + 1e-20) : 0;
    for (int i = 0; i < of->np; i++) Vp[i] = random_in(&random) * fabs(p[i]);
    for (int i = 0; i < N; i++) w[i] = lambda[i] = i < of->n + of->nq ? random_in(&random) / (fabs(at[i]) + 1e-20) : 0;
    assert_int_equal(costate_tangent(c, tape, 1, V, Vp, NULL, NULL), COSTATE_OK);
    assert_int_equal(costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL), COSTATE_OK);
    for (int i = 0; i < N; i++) {
        left += w[i] * V[i];
        right += lambda[i] * dy[i];
        size += fabs(w[i] * V[i]) + fabs(lambda[i] * dy[i]);
    }
    for (int i = 0; i < of->np; i++) {
        right += mu[i] * Vp[i];
        size += fabs(mu[i] * Vp[i]);
    }
    costate_tape_free(tape);
    return fabs(left - right) / size;
}

/* The same of v.H u and u.H v for two such directions u, v. */
static double symmetry_gap(const model *m, costate *c, const double *y, const double *p)
{
    const costate_problem *of = m->problem();
    int N = of->n + of->nq + of->nm, np = of->np;
    unsigned random = 9;
    squares functional = {.of = of};
    double at[MOST], V[2 * MOST] = {0}, Vp[2 * MOST], lambda[MOST], lambda2[2 * MOST], mu2[2 * MOST] = {0};
    double product[2] = {0}, size = 0;
    costate_tape *tape = costate_tape_new();
    memcpy(at, y, sizeof at);
    assert_int_equal(costate_integrate(c, m->begin, m->end, at, p, tape), COSTATE_OK);
    for (int i = 0; i < of->n; i++) functional.unit[i] = fabs(at[i]) + 1e-20;
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < of->n; i++) V[i + j * N] = random_in(&random) * (fabs(y[i]) + 1e-20);
        for (int i = 0; i < np; i++) Vp[i + j * np] = random_in(&random) * fabs(p[i]);
    }
    const costate_second s = {.m = 2, .V = V, .Vp = Vp, .seed = seed, .ctx = &functional, .lambda = lambda,
                              .lambda2 = lambda2, .mu2 = mu2};
    assert_int_equal(costate_hessian(c, tape, &s), COSTATE_OK);
    for (int j = 0; j < 2; j++) {
        const double *v = V + (1 - j) * N, *vp = Vp + (1 - j) * np;
        for (int i = 0; i < N + np; i++) {
            double term = i < N ? v[i] * lambda2[i + j * N] : vp[i - N] * mu2[i - N + j * np];
            product[j] += term;
            size += fabs(term);
        }
    }
    costate_tape_free(tape);
    return fabs(product[0] - product[1]) / size;
}

static void run_with(const model *m, const char *method, const costate_backend *backend)
{
    const costate_problem *of = m->problem();
    double y[MOST], p[MOST];
    near_start(m, of, y, p);
    int dae = of->index || of->residual.value, both = COSTATE_CONSISTENT_START + COSTATE_CONSISTENT_END;
    const costate_options options = {.rtol = 1e-6, .atol = 1e-8, .backend = backend,
                                     .consistent = !dae ? 0 : of->index ? both : COSTATE_CONSISTENT_START};
    costate *c = costate_new(costate_method_find(method), of, &options);
    costate_report report;
    if (m->begin > 0) assert_int_equal(costate_integrate(c, 0, m->begin, y, p, NULL), COSTATE_OK);
    double gap = transpose_gap(m, c, y, p), symmetric = symmetry_gap(m, c, y, p);
    if (!(gap < 1e-12)) fail_msg("%s with %s: tangent and adjoint differ by %.1e", m->name, method, gap);
    if (!(symmetric < 1e-12)) fail_msg("%s with %s: symmetric to %.1e", m->name, method, symmetric);
    if (m->begin == 0) {
        squares functional = {.of = of};
        for (int i = 0; i < of->n; i++) functional.unit[i] = 1;
        int status = costate_check_adjoint(c, 0, m->end, y, p, &report);
        if (status != COSTATE_OK || !(report.transpose < 1e-12))
            fail_msg("%s with %s: transposes to %.1e: %s", m->name, method, report.transpose, report.text);
        status = costate_check_hessian(c, 0, m->end, y, p, seed, &functional, &report);
        if (status != COSTATE_OK || !(report.symmetry < 1e-12))
            fail_msg("%s with %s: symmetric to %.1e: %s", m->name, method, report.symmetry, report.text);
    }
    costate_free(c);
}

static void runs_are_differentiated(void **state)
{
    const model *m = *state;
    char names[80], *rest = names;
    snprintf(names, sizeof names, "%s", m->methods);
    for (char *method = strtok_r(names, " ", &rest); method; method = strtok_r(NULL, " ", &rest)) {
        run_with(m, method, NULL);
        if (m->backend) run_with(m, method, m->backend());
    }
}

int main(void)
{
    struct CMUnitTest tests[2 * COUNT];
    char names[2 * COUNT][80];
    for (int k = 0; k < COUNT; k++)
        for (int i = 0; i < 2; i++) {
            snprintf(names[2 * k + i], sizeof *names, "%s: %s", i ? "runs are differentiated" : "every map is right",
                     models[k].name);
            tests[2 * k + i] = (struct CMUnitTest){.name = names[2 * k + i],
                .test_func = i ? runs_are_differentiated : every_map_is_right, .initial_state = (void *)&models[k]};
        }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
