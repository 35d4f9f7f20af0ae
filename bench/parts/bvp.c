/* bvp.c - one row of the race of boundary value problems: a problem, a code, a tolerance; see --help. */
#include "bvp_cases.h"
#include "twpbvp.h"
#include "cli.h"
#include "json.h"
#include "measure.h"

#include <string.h>

enum { LAPS = 1000 };

typedef struct {
    const char *code, *problem;
    double eps, tol, budget;
    int intervals, most, repeat, fixed, from_wide, gradient, known, json, help;
} command;

#define AT(member) offsetof(command, member)
static const cli_option options[] = {
    {"--code", CLI_TEXT, AT(code), NULL, 0, "CODE", "costate:METHOD, twp:c, twp:l; with conditioning twp:cc, twp:lc"},
    {"--problem", CLI_TEXT, AT(problem), NULL, 0, "NAME", "arm, layer_a, layer_b, layer_c"},
    {"--eps", CLI_POSITIVE, AT(eps), NULL, 0, "E", "width of the layer"},
    {"--tol", CLI_POSITIVE, AT(tol), NULL, 0, "T", "rtol and atol"},
    {"--intervals", CLI_COUNT, AT(intervals), NULL, 0, "N", "of the first mesh"},
    {"--most", CLI_COUNT, AT(most), NULL, 0, "N", "intervals, at most"},
    {"--fixed", CLI_FLAG, AT(fixed), NULL, 0, "", "the first mesh stays"},
    {"--from-wide", CLI_FLAG, AT(from_wide), NULL, 0, "", "continuation from eps 0.1 by tenths, which counts, too"},
    {"--gradient", CLI_FLAG, AT(gradient), NULL, 0, "", "by all parameters, of the integral"},
    {"--repeat", CLI_COUNT, AT(repeat), NULL, 0, "N", "times at least, after the first"},
    {"--budget", CLI_POSITIVE, AT(budget), NULL, 0, "S", "seconds in which it repeats further"},
    {"--known", CLI_FLAG, AT(known), NULL, 0, "", "only print parameters, and what is known of the solution, as JSON"},
    {"--json", CLI_FLAG, AT(json), NULL, 0, "", "as one line of JSON"},
    {"--help", CLI_FLAG, AT(help), NULL, 0, "", "this"}};
enum { OPTIONS = sizeof options / sizeof *options };

typedef struct {
    int status, laps, intervals, meshes, iterations;
    long f, jac;
    double forward[LAPS], backward[LAPS], error, estimate;
    char message[300];
} result;

/* ---- costate ---- */

static int eval(double t, double *Y, void *solver) { return costate_bvp_eval(solver, t, Y); }

/* once, or from eps = 0.1 on */
static int solve(costate_bvp *b, const bvp_case *z, const command *c, result *r)
{
    double p[BVP_NP], guess[4];
    memcpy(p, z->p, sizeof p);
    bvp_case_guess(z, guess);
    r->meshes = r->iterations = 0;
    int status = z->line ? costate_bvp_guess(b, 2, NULL, guess) : COSTATE_OK;
    for (double eps = c->from_wide ? 0.1 : c->eps; status == COSTATE_OK; eps = fmax(c->eps, eps / 10)) {
        if (c->from_wide) p[0] = eps;
        status = costate_bvp_solve(b, z->a, z->b, p);
        r->meshes += costate_bvp_get_stats(b)->meshes;
        r->iterations += costate_bvp_get_stats(b)->iterations;
        if (eps <= c->eps) break;
    }
    return status;
}

/* a lap: the solver made, the problem solved, and the gradient, apart; error: look at it as well */
static void lap(const bvp_case *z, const command *c, int error, result *r)
{
    double end = z->b, lambda[3] = {0, 0, 1}, mu[BVP_NP] = {0}, from = clock_now();
    costate_bvp_options o = {.rtol = c->tol, .atol = c->tol, .nbreaks = z->nbreaks, .breaks = z->breaks,
                             .intervals = c->intervals, .fixed = c->fixed, .max_mesh = c->most};
    costate_bvp *b = costate_bvp_new(costate_method_find(c->code + strlen("costate:")), &z->P, &z->g, &o);
    costate_bvp_adjoints back = {.m = 1, .points = 1, .t = &end, .lambda = lambda, .mu = mu};
    r->status = solve(b, z, c, r);
    r->forward[r->laps] = clock_now() - from;
    from = clock_now();
    if (r->status == COSTATE_OK && c->gradient) r->status = costate_bvp_adjoint(b, &back);
    r->backward[r->laps] = clock_now() - from;
    if (error) {
        r->intervals = costate_bvp_intervals(b);
        r->f = costate_bvp_get_stats(b)->calls.f;
        r->jac = costate_bvp_get_stats(b)->calls.jac;
        r->estimate = costate_bvp_get_stats(b)->error;
        r->error = r->intervals ? bvp_case_error(z, eval, b) : NAN;
        snprintf(r->message, sizeof r->message, "%s", costate_bvp_message(b));
    }
    costate_bvp_free(b);
}

/* ---- all ---- */

static void twp_lap(const bvp_case *z, const command *c, result *r)
{
    bvp_twp_result found = {0};
    if (bvp_twp(z, c->code[4] == 'l', strlen(c->code) > 5, c->tol, c->most ? c->most : 10000, &found) != 0) {
        r->status = COSTATE_BACKEND;
        snprintf(r->message, sizeof r->message, "TWPBVP is not there");
        return;
    }
    r->status = found.status <= 0 ? 0 : found.status;
    snprintf(r->message, sizeof r->message, "flag %d", found.status);
    r->forward[r->laps] = found.seconds;
    r->backward[r->laps] = 0;
    r->intervals = found.intervals;
    r->f = found.f;
    r->jac = found.jac;
    r->meshes = found.meshes;
    r->error = found.error;
}

static int race(const bvp_case *z, const command *c, result *r)
{
    int twp = strncmp(c->code, "twp:", 4) == 0;
    double began = clock_now();
    if (twp) twp_lap(z, c, r);
    else lap(z, c, 1, r);
    for (r->laps = 0; r->status == 0 && r->laps < LAPS; r->laps++) {
        if (r->laps >= c->repeat && clock_now() - began > c->budget) break;
        if (twp) twp_lap(z, c, r);
        else lap(z, c, 0, r);
    }
    return r->status;
}

static void print(const command *c, result *r)
{
    json j = {stdout, 0};
    double forward = median(r->forward, r->laps), backward = c->gradient ? median(r->backward, r->laps) : 0;
    json_text(&j, "code", c->code);
    json_text(&j, "problem", c->problem);
    json_number(&j, "eps", c->eps);
    json_number(&j, "rtol", c->tol);
    json_count(&j, "status", r->status);
    json_text(&j, "message", r->status ? r->message : "");
    json_count(&j, "intervals", r->intervals);
    json_count(&j, "meshes", r->meshes);
    if (r->iterations) json_count(&j, "iterations", r->iterations);
    json_count(&j, "f", r->f);
    json_count(&j, "jac", r->jac);
    json_number(&j, "estimate", r->estimate);
    json_number(&j, "error", r->error);
    json_count(&j, "laps", r->laps);
    json_number(&j, "seconds", forward);
    json_number(&j, "backward", backward);
    json_number(&j, "peak_bytes", peak_bytes());
    json_end(&j);
}

/* y, and y' where that is known */
static void print_known(const bvp_case *z)
{
    enum { MOST = 2000 };
    static double t[MOST], y[2][MOST], pair[2];
    int count = 0;
    json j = {stdout, 0};
    for (int k = 0; k < z->points && k < MOST; k++) {
        t[k] = z->time(z->p, k);
        count = z->known(z->p, t[k], pair);
        y[0][k] = pair[0], y[1][k] = pair[1];
    }
    json_numbers(&j, "p", z->P.np, z->p);
    json_numbers(&j, "ends", 2, (const double[]){z->p[z->start], z->p[z->end]});
    json_count(&j, "breaks", z->nbreaks);
    json_numbers(&j, "t", z->points, t);
    json_numbers(&j, "y", z->points, y[0]);
    if (count == 2) json_numbers(&j, "y'", z->points, y[1]);
    json_end(&j);
}

int main(int argc, char **argv)
{
    static result r;
    static bvp_case z;
    command c = {.code = "costate:gauss3", .problem = "arm", .eps = 0.1, .tol = 1e-6, .repeat = 1, .budget = 1e-3};
    int status = cli_parse("bvp_race", options, OPTIONS, &c, argc, argv);
    if (status != 0) return status;
    if (c.help) return cli_usage(stdout, "bvp_race [OPTION VALUE...]: times are of the processor", options, OPTIONS), 0;
    if (bvp_case_new(&z, c.problem, c.eps) != 0) return fprintf(stderr, "bvp_race: no problem \"%s\"\n", c.problem), 2;
    if (strncmp(c.code, "twp:", 4) != 0 && strncmp(c.code, "costate:", 8) != 0)
        return fprintf(stderr, "bvp_race: no code \"%s\"\n", c.code), 2;
    if (c.known) return print_known(&z), 0;
    race(&z, &c, &r);
    if (c.json) print(&c, &r);
    else printf("%s %s: status %d, %d intervals, error %.2e, %.3g s %s\n", c.code, c.problem, r.status, r.intervals,
                r.error, median(r.forward, r.laps), r.status ? r.message : "");
    return r.status != 0;
}
