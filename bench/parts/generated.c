/* generated.c - what equation files cost beside callbacks written by hand and beside costate.hpp: every product, and
   whole runs.

       generated products [small]     a row (JSON) for each problem, product and code: nanoseconds, median of turns
       generated runs [small]         and for each method: forward, and with the gradient, microseconds

   The codes take turns, so that what else the machine does meets all of them. */
#include <costate/costate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brusselator.h"
#include "examples/pollu.h"
#include "heat_plate.h"
#include "hires.h"
#include "ivp.h"
#include "json.h"
#include "measure.h"
#include "pollution.h"
#include "shallow_water.h"

const costate_problem *generated_by_cpp(void);              /* generated.cpp: POLLU by costate.hpp */

enum { CODES = 4, TURNS = 31, MOST_P = 32 };
static const char *const code_names[CODES] = {"hand", "generated", "costate.hpp", "generated, own LU"};

typedef struct {
    const char *name;
    const costate_problem *code[CODES];      /* NULL: there is none */
    const costate_backend *backend;          /* of the last */
    double *y, p[MOST_P], p_hand[MOST_P], t1, atol;
    const char *methods;
    int exact;                               /* the codes have the same parameters */
} race;

/* ---- products ---- */

enum { VALUE, JAC, TANGENT, TANGENT_P, ADJOINT, ADJOINT_P, TANGENT2, ADJOINT_TANGENT, ADJOINT_TANGENT_P,
       ADJOINT_TANGENT2, PRODUCTS };
static const char *const product_names[PRODUCTS] = {"value", "jac", "tangent", "tangent, y and p", "adjoint",
    "adjoint, y and p", "tangent2", "adjoint_tangent", "adjoint_tangent, y and p", "adjoint_tangent2"};

typedef struct { double *dy, *ey, *w, *out, *J, dp[MOST_P], gp[MOST_P]; } buffers;

static double *numbers(size_t n, unsigned seed)
{
    double *v = malloc((n + 1) * sizeof *v);
    for (size_t i = 0; v && i <= n; i++) {
        seed = seed * 1664525u + 1013904223u;
        v[i] = (double)(seed >> 8) / 8388608.0 - 1;
    }
    if (!v) exit(2);
    return v;
}

static int provided(const race *r, int code, int product)
{
    const costate_problem *P = r->code[code];
    if (!P || code == 3) return 0;
    int with_p = product == TANGENT_P || product == ADJOINT_P || product == ADJOINT_TANGENT_P;
    if (with_p && (!P->np || !r->exact)) return 0;
    return product == JAC ? P->jac != NULL : product == TANGENT2 ? P->rhs.tangent2 != NULL
        : product == ADJOINT_TANGENT2 ? P->rhs.adjoint_tangent2 != NULL : 1;
}

static int call(const race *r, int code, int product, const buffers *b)
{
    const costate_problem *P = r->code[code];
    const costate_map *f = &P->rhs;
    const costate_point x = {.t = 0.1, .y = r->y, .p = code ? r->p : r->p_hand};
    const costate_point d = {.y = b->dy}, dp = {.y = b->dy, .p = b->dp}, e = {.y = b->ey};
    const costate_gradient g = {.y = b->out}, gp = {.y = b->out, .p = (double *)b->gp};
    switch (product) {
    case VALUE: return f->value(&x, b->out, P->ctx);
    case JAC: return P->jac(&x, b->J, P->ctx);
    case TANGENT: return f->tangent(&x, &d, b->out, P->ctx);
    case TANGENT_P: return f->tangent(&x, &dp, b->out, P->ctx);
    case ADJOINT: return f->adjoint(&x, b->w, &g, P->ctx);
    case ADJOINT_P: return f->adjoint(&x, b->w, &gp, P->ctx);
    case TANGENT2: return f->tangent2(&x, &d, &e, b->out, P->ctx);
    case ADJOINT_TANGENT: return f->adjoint_tangent(&x, &d, b->w, &g, P->ctx);
    case ADJOINT_TANGENT_P: return f->adjoint_tangent(&x, &dp, b->w, &gp, P->ctx);
    default: return f->adjoint_tangent2(&x, &d, &e, b->w, &g, P->ctx);
    }
}

/* so many calls take about a millisecond */
static long calls_of(const race *r, int code, int product, const buffers *b)
{
    for (long count = 1;; count *= 2) {
        double start = clock_now();
        for (long k = 0; k < count; k++) if (call(r, code, product, b)) exit(3);
        if (clock_now() - start > 1e-3) return count;
    }
}

static void time_products(const race *r, int turns)
{
    size_t n = (size_t)r->code[1]->n, entries = r->code[1]->pattern ? (size_t)r->code[1]->pattern->col[n] : n * n;
    buffers b = {.dy = numbers(n, 1), .ey = numbers(n, 2), .w = numbers(n, 3), .out = numbers(n, 4),
                 .J = numbers(n < 100 ? n * n : entries, 5)};
    for (int k = 0; k < MOST_P; k++) b.dp[k] = r->p[k] * 0.3;
    for (int product = 0; product < PRODUCTS; product++) {
        double time[CODES][TURNS];
        long count[CODES] = {0};
        for (int code = 0; code < CODES; code++)
            if (provided(r, code, product)) count[code] = calls_of(r, code, product, &b);
        for (int turn = 0; turn < turns; turn++)
            for (int code = 0; code < CODES; code++) {
                double start = clock_now();
                for (long k = 0; k < count[code]; k++) call(r, code, product, &b);
                time[code][turn] = count[code] ? (clock_now() - start) / (double)count[code] : 0;
            }
        for (int code = 0; code < CODES; code++) {
            if (!count[code]) continue;
            json row = {stdout, 0};
            json_text(&row, "problem", r->name);
            json_text(&row, "product", product_names[product]);
            json_text(&row, "code", code_names[code]);
            json_number(&row, "ns", 1e9 * median(time[code], turns));
            json_end(&row);
        }
    }
    free(b.dy), free(b.ey), free(b.w), free(b.out), free(b.J);
}

/* ---- runs ---- */

static int seed(double t, const double *y, const double *p, int m, double *lambda, double *mu, void *ctx)
{
    (void)t, (void)p, (void)m, (void)mu;
    memcpy(lambda, y, *(const size_t *)ctx * sizeof *y);
    return 0;
}

static double run(costate *c, const race *r, int code, int adjoint, double *y, double *lambda)
{
    size_t n = (size_t)r->code[1]->n;
    double mu[MOST_P] = {0}, start = clock_now();
    const double *p = code ? r->p : r->p_hand;
    memcpy(y, r->y, n * sizeof *y);
    double *by_p = r->code[code]->np ? mu : NULL;
    int status = adjoint ? costate_integrate_adj(c, 0, r->t1, y, p, 1, lambda, by_p, NULL, seed, &n)
                         : costate_integrate(c, 0, r->t1, y, p, NULL);
    if (status != COSTATE_OK) {
        fprintf(stderr, "%s: %s\n", r->name, costate_message(c));
        exit(3);
    }
    return clock_now() - start;
}

static void time_runs(const race *r, const char *method, int turns)
{
    size_t n = (size_t)r->code[1]->n;
    double *y = numbers(n, 1), *lambda = numbers(n, 1);
    for (int adjoint = 0; adjoint < 2; adjoint++) {
        double time[CODES][TURNS], end[CODES] = {0};
        costate *solver[CODES] = {0};
        for (int code = 0; code < CODES; code++) {
            const costate_options o = {.rtol = 1e-6, .atol = r->atol * 1e-6, .autonomous = 1,
                                       .backend = code == 3 ? r->backend : NULL};
            if (r->code[code]) solver[code] = costate_new(costate_method_find(method), r->code[code], &o);
        }
        for (int turn = -1; turn < turns; turn++)                       /* the first warms up */
            for (int code = 0; code < CODES; code++)
                if (solver[code]) {
                    double seconds = run(solver[code], r, code, adjoint, y, lambda);
                    if (turn >= 0) time[code][turn] = seconds;
                    end[code] = y[n / 2];
                }
        for (int code = 0; code < CODES; code++) {
            if (!solver[code]) continue;
            json row = {stdout, 0};
            json_text(&row, "problem", r->name);
            json_text(&row, "method", method);
            json_text(&row, "mode", adjoint ? "with gradient" : "forward");
            json_text(&row, "code", code_names[code]);
            json_number(&row, "us", 1e6 * median(time[code], turns));
            json_count(&row, "steps", costate_get_stats(solver[code])->accepted / (turns + 1));
            json_numbers(&row, "end", 1, &end[code]);
            json_end(&row);
            costate_free(solver[code]);
        }
    }
    free(y), free(lambda);
}

/* ---- problems ---- */

static void each(const race *r, int runs, int turns)
{
    char names[80], *rest = names;
    if (!runs) {
        time_products(r, turns);
        return;
    }
    snprintf(names, sizeof names, "%s", r->methods);
    for (char *method = strtok_r(names, " ", &rest); method; method = strtok_r(NULL, " ", &rest))
        time_runs(r, method, turns);
}

static double *copy(size_t n, const double *y)
{
    double *v = numbers(n, 0);
    return memcpy(v, y, n * sizeof *v);
}

static void kinetics(int runs, int turns)
{
    ivp hand;
    double start[POLLU_SPECIES];
    if (ivp_new(&hand, "hires", 0, 1)) exit(2);
    race hires_race = {.name = "hires", .code = {&hand.P, hires_problem(), NULL, hires_problem()}, .t1 = hand.t1,
                       .backend = hires_backend(), .y = copy(8, hand.y0), .atol = hand.atol,
                       .methods = "rodas4 radau2a"};
    memcpy(hires_race.p, hires_defaults, sizeof hires_defaults);
    each(&hires_race, runs, turns);
    free(hires_race.y);
    ivp_free(&hand);
    race pollu = {.name = "pollu", .t1 = 60, .atol = 0.01, .methods = "rodas4 rodas5p radau2a", .exact = 1,
                  .code = {&pollu_problem, pollution_problem(), generated_by_cpp(), pollution_problem()},
                  .backend = pollution_backend()};
    memcpy(pollu.p, pollution_defaults, sizeof pollution_defaults);
    pollu_constants(pollu.p_hand);
    pollution_start(0, pollu.p, start);
    pollu.y = copy(POLLU_SPECIES, start);
    if (!runs) for (int i = 0; i < POLLU_SPECIES; i++) pollu.y[i] += 1e-3;
    each(&pollu, runs, turns);
    free(pollu.y);
}

static void grids(int small, int runs, int turns)
{
    int side = small ? 16 : 128, waves = small ? 12 : 100;
    ivp hand;
    if (ivp_new(&hand, "brusselator2d", runs && !small ? 64 : side, 0)) exit(2);
    brusselator_grid *b = brusselator_new(runs && !small ? 64 : side);
    race cells = {.name = "brusselator", .code = {&hand.P, brusselator_problem(b)}, .t1 = 1, .atol = 1,
                  .methods = "rock4 rodas4", .y = copy((size_t)hand.P.n, hand.y0), .exact = 0};
    brusselator_defaults(b, cells.p);
    if (hand.P.np) memcpy(cells.p_hand, hand.p, (size_t)hand.P.np * sizeof *hand.p);
    each(&cells, runs, turns);
    free(cells.y), brusselator_free(b), ivp_free(&hand);

    if (ivp_new(&hand, "swe", runs && !small ? 40 : waves, 0)) exit(2);
    int cells_of_swe = runs && !small ? 40 : waves;
    shallow_water_grid *s = shallow_water_new(cells_of_swe, cells_of_swe);
    race water = {.name = "shallow water", .code = {&hand.P, shallow_water_problem(s)}, .t1 = hand.t1, .atol = 1,
                  .methods = "dopri5 rodas4", .y = copy((size_t)hand.P.n, hand.y0)};
    each(&water, runs, turns);
    free(water.y), shallow_water_free(s), ivp_free(&hand);

    if (ivp_new(&hand, "heat2d", side, 0)) exit(2);
    heat_plate_grid *h = heat_plate_new(side);
    race plate = {.name = "heat", .code = {&hand.P, heat_plate_problem(h)}, .t1 = 0.01, .atol = 1, .methods = "rock4",
                  .y = copy((size_t)hand.P.n, hand.y0)};
    each(&plate, runs, turns);
    free(plate.y), heat_plate_free(h), ivp_free(&hand);
}

int main(int argc, char **argv)
{
    int runs = argc > 1 && !strcmp(argv[1], "runs"), small = argc > 2 && !strcmp(argv[2], "small");
    int turns = small ? 3 : runs ? 9 : TURNS;
    kinetics(runs, turns);
    grids(small, runs, turns);
    return 0;
}
