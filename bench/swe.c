/* swe.c - the shallow-water benchmark: one run from the command line, or the demonstration. */
#include <costate/costate.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "swe_demo.h"
#include "swe_run.h"

#ifndef SWE_REFERENCE
#define SWE_REFERENCE "bench/reference/swe_40x40_0.011.f64"
#endif

/* ---- the command line -------------------------------------------------------------------------------------- */

typedef struct {
    swe_task task;
    int json, demo, help;
    const char *out;
} command;

/* in the order of the enums of costate.h and swe_run.h */
static const char *const solvers[] = {"auto", "dense", "band", "umfpack", "superlu", "klu", "gmres", NULL};
static const char *const stage_solves[] = {"auto", "direct", "iterative", NULL};
static const char *const modes[] = {"forward", "tlm", "adj", NULL};

#define IN(member) offsetof(command, member)
static const cli_option options[] = {
    {"--method", CLI_METHOD, IN(task.method), NULL, 0, "NAME", "the method (rodas4)"},
    {"--solver", CLI_WORD, IN(task.solver), solvers, 0, "NAME", "the linear solver (auto)"},
    {"--grid", CLI_COUNT, IN(task.nx), NULL, 0, "N", "cells a side (40)"},
    {"--ny", CLI_COUNT, IN(task.ny), NULL, 0, "N", "cells along y (as along x)"},
    {"--tf", CLI_POSITIVE, IN(task.tf), NULL, 0, "T", "final time (0.011)"},
    {"--rtol", CLI_POSITIVE, IN(task.rtol), NULL, 0, "TOL", "relative tolerance (1e-6)"},
    {"--atol", CLI_POSITIVE, IN(task.atol), NULL, 0, "TOL", "absolute tolerance (as rtol)"},
    {"--mode", CLI_WORD, IN(task.mode), modes, 0, "MODE",
     "forward: y(tf); tlm: dy(tf)/dy_1(0); adj: gradient of y_1(tf)"},
    {"--stage-solve", CLI_WORD, IN(task.stage_solve), stage_solves, 0, "HOW",
     "stage systems of tangents and adjoints (auto)"},
    {"--keep-factors", CLI_FLAG, IN(task.keep_factors), NULL, 0, "", "the tape keeps the factorisations"},
    {"--repeat", CLI_COUNT, IN(task.repeat), NULL, 0, "K", "the fastest of K runs"},
    {"--reference", CLI_TEXT, IN(task.reference), NULL, 0, "FILE", "stored reference of 40 x 40, tf = 0.011"},
    {"--no-error", CLI_FLAG, IN(task.no_error), NULL, 0, "", "do not compare with a reference"},
    {"--json", CLI_FLAG, IN(json), NULL, 0, "", "print one JSON object"},
    {"--demo", CLI_FLAG, IN(demo), NULL, 0, "", "methods of all families, a table, data for pictures"},
    {"--out", CLI_TEXT, IN(out), NULL, 0, "DIR", "where the demonstration writes (build/demo)"},
    {"--help", CLI_FLAG, IN(help), NULL, 0, "", "this"},
};
enum { OPTIONS = sizeof options / sizeof options[0] };

/* ---- output ----------------------------------------------------------------------------------------------------- */

static void print_json(const swe_task *task, const swe_result *r)
{
    const costate_stats *s = &r->stats;
    json j = {stdout, 0};
    json_text(&j, "method", task->method);
    json_text(&j, "solver", r->solver);
    json_count(&j, "nx", task->nx);
    json_count(&j, "ny", task->ny > 0 ? task->ny : task->nx);
    json_count(&j, "n", r->n);
    json_count(&j, "nnz", r->nnz);
    json_text(&j, "mode", modes[task->mode]);
    json_text(&j, "stage_solve", stage_solves[task->stage_solve]);
    json_count(&j, "keep_factors", task->keep_factors);
    json_number(&j, "tf", task->tf);
    json_number(&j, "rtol", task->rtol);
    json_number(&j, "atol", task->atol > 0 ? task->atol : task->rtol);
    json_text(&j, "status", costate_status_name(r->status));
    json_count(&j, "steps", s->steps);
    json_count(&j, "rejected", s->rejected);
    json_count(&j, "f", s->f);
    json_count(&j, "jac", s->jac);
    json_count(&j, "tangents", s->tangents);
    json_count(&j, "adjoints", s->adjoints);
    json_count(&j, "tangents2", s->tangents2);
    json_count(&j, "adjoints2", s->adjoints2);
    json_count(&j, "decomp", s->decompositions);
    json_count(&j, "decomp_complex", s->complex_decompositions);
    json_count(&j, "solve", s->solves);
    json_count(&j, "solve_complex", s->complex_solves);
    json_count(&j, "newton", s->newton);
    json_count(&j, "krylov", s->krylov);
    json_count(&j, "stage_direct", s->stage_direct);
    json_count(&j, "stage_iterative", s->stage_iterative);
    json_count(&j, "tape_bytes", (long)s->tape_bytes);
    json_number(&j, "seconds", r->forward + r->backward);
    json_number(&j, "seconds_forward", r->forward);
    json_number(&j, "seconds_backward", r->backward);
    json_number(&j, "error", r->error);
    json_text(&j, "reference", r->reference);
    json_end(&j);
}

static void print_text(const swe_task *task, const swe_result *r)
{
    const costate_stats *s = &r->stats;
    printf("%s, %s, %d unknowns, %s to t = %g\n", task->method, r->solver, r->n, modes[task->mode], task->tf);
    printf("%ld steps (%ld rejected), %ld f, %ld jac, %ld+%ld decompositions, %ld+%ld solves, %ld Newton, %ld Krylov\n",
           s->steps, s->rejected, s->f, s->jac, s->decompositions, s->complex_decompositions, s->solves,
           s->complex_solves, s->newton, s->krylov);
    printf("%.4g s forward, %.4g s backward, tape %.3g MB\n", r->forward, r->backward, 1e-6 * (double)s->tape_bytes);
    printf("relative error %.3g (reference: %s)\n", r->error, r->reference);
}

static int run(const command *c)
{
    swe_result r;
    int status = swe_run(&c->task, &r);
    if (status != COSTATE_OK) fprintf(stderr, "swe: %s\n", r.message);
    if (c->json) print_json(&c->task, &r);
    else if (status == COSTATE_OK) print_text(&c->task, &r);
    swe_result_free(&r);
    return status == COSTATE_OK ? 0 : status == COSTATE_BAD_ARGUMENT || status == COSTATE_BACKEND ? 2 : 1;
}

int main(int argc, char **argv)
{
    command c = {
        .task = {.method = "rodas4", .nx = 40, .tf = 0.011, .rtol = 1e-6, .repeat = 1, .reference = SWE_REFERENCE},
        .out = "build/demo"
    };
    int status = cli_parse("swe", options, OPTIONS, &c, argc, argv);
    if (status != 0) return status;
    if (c.help) {
        cli_usage(stdout, "swe [OPTION VALUE]...   the shallow-water benchmark", options, OPTIONS);
        return 0;
    }
    return c.demo ? swe_demo(c.out, c.task.reference) : run(&c);
}
