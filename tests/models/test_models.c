/* test_models.c - every generated problem: all maps and Jacobians are right, adjoints and tangents are transposes to
   1e-12, and Hessian products are symmetric, with one method of each kind that can run it. */
#include "common.h"

#include "battery.h"
#include "bouncing_ball.h"
#include "cascade.h"
#include "dosing.h"
#include "friction.h"
#include "hires.h"
#include "kepler.h"
#include "lotka_volterra.h"
#include "oregonator.h"
#include "pendulum.h"
#include "pendulum_mass.h"
#include "pollution.h"
#include "reactor.h"
#include "relay.h"
#include "robertson_dae.h"
#include "robertson_ode.h"
#include "thermostat.h"
#include "van_der_pol.h"

typedef struct {
    const char *name;
    const costate_problem *(*problem)(void);
    const double *defaults;
    void (*start)(double t, const double *p, double *y);
    const costate_map *(*start_map)(void), *(*output_map)(void);
    int outputs;
    double end;
    const char *methods;
    const costate_backend *(*backend)(void);
} model;

/* of one equation, which needs no linear solver of its own */
#define ONE(name, outputs, count, end, methods) {#name, name##_problem, name##_defaults, name##_start, \
                                                 name##_start_map, outputs, count, end, methods, NULL}
#define ROW(name, outputs, count, end, methods) {#name, name##_problem, name##_defaults, name##_start, \
                                                 name##_start_map, outputs, count, end, methods, name##_backend}
#define ANY "dopri5 rodas4 radau2a5 sdirk4a rkc2"
#define STIFF "rodas4 rodas5p radau2a5 sdirk4a"
static const model models[] = {
    ROW(battery, battery_output_map, battery_outputs, 1, "rodas4 radau2a5"),
    ROW(bouncing_ball, bouncing_ball_output_map, bouncing_ball_outputs, 2, "dopri5 rodas4 radau2a5 sdirk4a"),
    ROW(cascade, cascade_output_map, cascade_outputs, 2, ANY),
    ROW(dosing, dosing_output_map, dosing_outputs, 30, ANY),
    ROW(friction, NULL, 0, 6, "dopri5 rodas4 radau2a5 sdirk4a"),
    ROW(hires, NULL, 0, 5, STIFF),
    ROW(kepler, kepler_output_map, kepler_outputs, 3, ANY),
    ROW(lotka_volterra, lotka_volterra_output_map, lotka_volterra_outputs, 5, ANY),
    ROW(oregonator, NULL, 0, 5, "rodas4 radau2a5"),
    ROW(pendulum, NULL, 0, 1, "radau2a5"),
    ROW(pendulum_mass, NULL, 0, 1, "radau2a5"),
    ROW(pollution, NULL, 0, 10, STIFF),
    ROW(reactor, NULL, 0, 1, STIFF),
    ROW(relay, NULL, 0, 3, "radau2a5 sdirk4a"),
    ROW(robertson_ode, NULL, 0, 10, STIFF),
    ROW(robertson_dae, NULL, 0, 10, "rodas4 radau2a5"),
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

/* half the sum of squares of the states, and the sum of the integrals */
static int seed(double t, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    const costate_problem *of = ctx;
    int n = of->n, rows = n + of->nq + of->nm;
    (void)t, (void)p, (void)Vp, (void)mu, (void)mu2;
    for (int i = 0; i < n + of->nq; i++) lambda[i] = i < n ? y[i] : 1;
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++) lambda2[i + j * rows] = V[i + j * rows];
    return 0;
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
    /* a change of a concentration of pollution by 1 moves rates by 4e11: callbacks written by hand give 1.6e-11, too */
    double most = of->n == 20 ? 1e-10 : 1e-12;
    int status = costate_check_adjoint(c, 0, m->end, y, p, &report);
    if (status != COSTATE_OK || !(report.transpose < most))
        fail_msg("%s with %s: transposes to %.1e: %s", m->name, method, report.transpose, report.text);
    status = costate_check_hessian(c, 0, m->end, y, p, seed, (void *)of, &report);
    if (status != COSTATE_OK || !(report.symmetry < most))
        fail_msg("%s with %s: symmetric to %.1e: %s", m->name, method, report.symmetry, report.text);
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
