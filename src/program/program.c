/* program.c - a model as byte code: its life, and what it offers. */
#include <stdlib.h>
#include "program/program.h"

costate_program *costate_program_new(const void *bytes, size_t size)
{
    costate_program *q = calloc(1, sizeof *q);
    if (!q) return NULL;
    atomic_init(&q->uses, 1);
    atomic_flag_clear(&q->busy);
    program_read(q, bytes, size);
    return q;
}

void costate_program_free(costate_program *q)
{
    if (q) program_release(q);
}

int costate_program_status(const costate_program *q) { return q ? q->v.status : COSTATE_NO_MEMORY; }

const char *costate_program_message(const costate_program *q)
{
    if (!q) return "No memory for a program.";
    return q->v.status ? q->v.text : "No error.";
}

static int usable(const costate_program *q) { return q && !q->v.status; }

const costate_problem *costate_program_problem(const costate_program *q) { return usable(q) ? &q->problem : NULL; }

const costate_map *costate_program_start(const costate_program *q) { return usable(q) ? &q->start : NULL; }

const costate_map *costate_program_outputs(const costate_program *q, int *count)
{
    if (count) *count = usable(q) ? q->outputs : 0;
    return usable(q) && q->outputs ? &q->output : NULL;
}

const double *costate_program_defaults(const costate_program *q)
{
    return usable(q) && q->problem.np ? q->defaults : NULL;
}

const costate_backend *costate_program_backend(const costate_program *q)
{
    return usable(q) && q->elimination.entries ? &q->elimination.backend : NULL;
}
