/* test_side_by_side.c - generated maps for lanes have the bits of the generated problem, and ensembles in lanes those
   of members run one by one: with dense elimination and with the elimination of the model. */
#include "common.h"

#include <costate/ensemble.h>

#include "hires.h"
#include "lotka_volterra.h"
#include "pollution.h"
#include "population.h"
#include "robertson_ode.h"
#include "smog.h"

typedef struct {
    const char *name, *method;
    double t1;
    const costate_problem *(*problem)(void);
    void (*start)(double, const double *, double *);
    const double *defaults;
    const costate_lane_maps *(*lanes)(void);
    const costate_backend *(*backend)(void);
} model;

#define MODEL(name, method, t1, backend) {#name, method, t1, name##_problem, name##_start, name##_defaults, \
                                          name##_lanes, backend}
static const model models[] = {
    MODEL(hires, "rodas4", 40, hires_backend),
    MODEL(hires, "rodas5p", 40, hires_backend),
    MODEL(lotka_volterra, "tsit5", 5, NULL),
    MODEL(lotka_volterra, "ros3", 5, NULL),
    MODEL(pollution, "rodas4", 2, pollution_backend),
    MODEL(pollution, "ros34pw3", 2, pollution_backend),
    MODEL(population, "dopri5", 5, NULL),
    MODEL(population, "rodas4", 5, population_backend),
    MODEL(robertson_ode, "rodas4", 1e4, robertson_ode_backend),
    MODEL(smog, "rodas4", 7200, smog_backend),
};
enum { MODELS = sizeof models / sizeof *models, MEMBERS = 21, ROWS = 24, PARAMETERS = 40, D = 2, K = 2 };

typedef struct {
    double y[MEMBERS * ROWS], V[MEMBERS * ROWS * D], lambda[MEMBERS * ROWS * K], mu[MEMBERS * PARAMETERS * K];
    char message[MEMBERS][COSTATE_ENSEMBLE_TEXT];
    costate_ensemble_report report;
} results;

static double p[MEMBERS * PARAMETERS], y0[MEMBERS * ROWS];

static double uniform(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 16777216.0;
}

/* each member has parameters within 10 % of the defaults; temperatures and times of the day as they are */
static void members_of(const model *m)
{
    const costate_problem *P = m->problem();
    unsigned seed = 3;
    int N = P->n + P->nq;
    assert_true(N <= ROWS && P->np <= PARAMETERS);
    for (int k = 0; k < MEMBERS; k++) {
        for (int i = 0; i < P->np; i++)
            p[k * P->np + i] = m->defaults[i] * (m->start == smog_start ? 1 : 0.9 + 0.2 * uniform(&seed));
        m->start(0, p + k * P->np, y0 + k * N);
        for (int i = 0; i < P->n; i++) y0[k * N + i] *= 0.9 + 0.2 * uniform(&seed);
    }
}

static void run(const model *m, int own, int tangents, const costate_lane_maps *lanes, results *r)
{
    const costate_problem *P = m->problem();
    costate_options o = {.rtol = 1e-5, .atol = 1e-9, .backend = own ? m->backend() : NULL,
                         .solver = own ? COSTATE_LS_AUTO : COSTATE_LS_DENSE};
    int N = P->n + P->nq;
    memset(r, 0, sizeof *r);
    memcpy(r->y, y0, sizeof y0);
    for (int i = 0; i < MEMBERS * N * K; i++) r->lambda[i] = 1.0 / (1 + i % 7);
    for (int i = 0; i < MEMBERS * N * D; i++) r->V[i] = 1.0 / (1 + i % 5);
    costate_members all = {.count = MEMBERS, .threads = 1, .t1 = m->t1, .y = r->y, .p = p, .m = K, .lambda = r->lambda,
                           .mu = r->mu, .directions = tangents ? D : 0, .V = r->V, .message = r->message,
                           .lanes = lanes};
    if (costate_ensemble(costate_method_find(m->method), P, &o, &all, &r->report)) fail_msg("%s", r->report.text);
}

static void compare(const model *m, int own, int tangents)
{
    static results alone, beside;
    run(m, own, tangents, NULL, &alone);
    for (int k = 0; k < 3; k++) {
        costate_lane_maps list[] = {m->lanes()[k], {.lanes = 0}};
        if (list[0].lanes > costate_lanes()) continue;
        run(m, own, tangents, list, &beside);
        if (beside.report.in_lanes != MEMBERS)
            fail_msg("%s: %d members in %d lanes; %s", m->name, beside.report.in_lanes, list[0].lanes,
                     beside.report.alone);
#define SAME(x) if (memcmp(alone.x, beside.x, sizeof alone.x)) \
        fail_msg("%s, %s, %d lanes, own %d: " #x " differs", m->name, m->method, list[0].lanes, own)
        SAME(y);
        SAME(V);
        SAME(lambda);
        SAME(mu);
        SAME(message);
#undef SAME
    }
}

static void test_maps(void **state)
{
    (void)state;
    for (int k = 0; k < MODELS; k++) {
        members_of(&models[k]);
        costate_report r;
        costate_point x = {.t = 100, .y = y0, .p = p};
        if (costate_check_lanes(models[k].problem(), models[k].lanes(), &x, &r))
            fail_msg("%s: %s", models[k].name, r.text);
    }
}

static void test_runs(void **state)
{
    (void)state;
    for (int k = 0; k < MODELS; k++) {
        members_of(&models[k]);
        for (int own = 0; own <= (models[k].backend != NULL); own++)
            for (int tangents = 0; tangents < 2; tangents++) compare(&models[k], own, tangents);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
