/* swe.c - the shallow-water benchmark: one run from the command line, or the demonstration. */
#include <costate/costate.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

enum kind { FLAG, METHOD, WORD, COUNT, POSITIVE, TEXT };

typedef struct {
    const char *name;
    enum kind kind;
    size_t where;                  /* in command */
    const char *const *words;      /* WORD: the choices, by value */
    const char *argument, *help;
} option;

#define IN(member) offsetof(command, member)
static const option options[] = {
    {"--method", METHOD, IN(task.method), NULL, "NAME", "the method (rodas4)"},
    {"--solver", WORD, IN(task.solver), solvers, "NAME", "the linear solver (auto)"},
    {"--grid", COUNT, IN(task.nx), NULL, "N", "cells a side (40)"},
    {"--ny", COUNT, IN(task.ny), NULL, "N", "cells along y (as along x)"},
    {"--tf", POSITIVE, IN(task.tf), NULL, "T", "final time (0.011)"},
    {"--rtol", POSITIVE, IN(task.rtol), NULL, "TOL", "relative tolerance (1e-6)"},
    {"--atol", POSITIVE, IN(task.atol), NULL, "TOL", "absolute tolerance (as rtol)"},
    {"--mode", WORD, IN(task.mode), modes, "MODE", "forward: y(tf); tlm: dy(tf)/dy_1(0); adj: gradient of y_1(tf)"},
    {"--stage-solve", WORD, IN(task.stage_solve), stage_solves, "HOW", "stage systems of tangents and adjoints (auto)"},
    {"--keep-factors", FLAG, IN(task.keep_factors), NULL, "", "the tape keeps the factorisations"},
    {"--repeat", COUNT, IN(task.repeat), NULL, "K", "the fastest of K runs"},
    {"--reference", TEXT, IN(task.reference), NULL, "FILE", "stored reference of 40 x 40, tf = 0.011"},
    {"--no-error", FLAG, IN(task.no_error), NULL, "", "do not compare with a reference"},
    {"--json", FLAG, IN(json), NULL, "", "print one JSON object"},
    {"--demo", FLAG, IN(demo), NULL, "", "methods of all families, a table, data for pictures"},
    {"--out", TEXT, IN(out), NULL, "DIR", "where the demonstration writes (build/demo)"},
    {"--help", FLAG, IN(help), NULL, "", "this"},
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static void usage(FILE *file)
{
    fputs("usage: swe [OPTION VALUE]...   the shallow-water benchmark\n", file);
    for (int k = 0; k < OPTIONS; k++) {
        fprintf(file, "  %-14s %-5s %s\n", options[k].name, options[k].argument, options[k].help);
        if (!options[k].words) continue;
        fprintf(file, "%24sone of:", "");
        for (int w = 0; options[k].words[w]; w++) fprintf(file, " %s", options[k].words[w]);
        fputc('\n', file);
    }
}

static int unknown_method(const char *name)
{
    costate_method_info info;
    fprintf(stderr, "swe: no method \"%s\"; there are:", name);
    for (int k = 0; k < costate_method_count(); k++)
        if (costate_method_describe(costate_method_at(k), &info) == COSTATE_OK) fprintf(stderr, " %s", info.name);
    fputc('\n', stderr);
    return 2;
}

static int unknown_word(const option *o, const char *word)
{
    fprintf(stderr, "swe: %s cannot be \"%s\"; it is one of:", o->name, word);
    for (int w = 0; o->words[w]; w++) fprintf(stderr, " %s", o->words[w]);
    fputc('\n', stderr);
    return 2;
}

/* Sets what option o says; 0, or 2 after a message. */
static int assign(command *c, const option *o, const char *value)
{
    void *at = (char *)c + o->where;
    char *end;
    double x;
    int w = 0;
    switch (o->kind) {
    case FLAG:
        *(int *)at = 1;
        return 0;
    case METHOD:
        if (!costate_method_find(value)) return unknown_method(value);
        *(const char **)at = value;
        return 0;
    case WORD:
        while (o->words[w] && strcmp(o->words[w], value) != 0) w++;
        if (!o->words[w]) return unknown_word(o, value);
        *(int *)at = w;
        return 0;
    case COUNT:
    case POSITIVE:
        x = strtod(value, &end);
        if (end == value || *end || !(x > 0) || x > 1e9 || (o->kind == COUNT && x != (int)x)) {
            fprintf(stderr, "swe: %s needs a positive %s, not \"%s\"\n", o->name,
                    o->kind == COUNT ? "whole number" : "number", value);
            return 2;
        }
        if (o->kind == COUNT) *(int *)at = (int)x;
        else *(double *)at = x;
        return 0;
    case TEXT:
        *(const char **)at = value;
        return 0;
    }
    return 2;
}

static int parse(command *c, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int k = 0, status;
        while (k < OPTIONS && strcmp(options[k].name, argv[i]) != 0) k++;
        if (k == OPTIONS) {
            fprintf(stderr, "swe: no option \"%s\"\n", argv[i]);
            usage(stderr);
            return 2;
        }
        if (options[k].kind != FLAG && i + 1 == argc) {
            fprintf(stderr, "swe: %s needs a value\n", argv[i]);
            return 2;
        }
        if ((status = assign(c, &options[k], options[k].kind == FLAG ? NULL : argv[++i])) != 0) return status;
    }
    return 0;
}

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
    int status = parse(&c, argc, argv);
    if (status != 0) return status;
    if (c.help) {
        usage(stdout);
        return 0;
    }
    return c.demo ? swe_demo(c.out, c.task.reference) : run(&c);
}
