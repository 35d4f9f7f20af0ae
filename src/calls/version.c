/* version.c - the version of the library, and whether a program was compiled with the same structs.

   A struct of another size would be read past its end, or its members in the wrong places.  So if a program passes
   other sizes, none of its structs is read, and only zeros are written to them, within the sizes that it states.
   Options of a version with the same major number may be shorter: they are copied and the rest is set to zero. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <costate/accuracy.h>
#include <costate/bvp.h>
#include <costate/ensemble.h>
#include <costate/operators.h>
#include <costate/pieces.h>
#include "calls/version.h"
#include "solver/solver.h"

const char *costate_version(void) { return COSTATE_VERSION; }

static size_t size_in(const costate_size *list, const char *type)
{
    for (; list && type && list->type; list++)
        if (list->size && strcmp(list->type, type) == 0) return list->size;
    return 0;
}

size_t costate_sizeof(const char *type)
{
    const costate_size *const lists[] = {costate_sizes(), costate_bvp_sizes(), costate_ensemble_sizes(),
                                         costate_accuracy_sizes(), costate_operators_sizes(),
                                         costate_pieces_sizes()};
    size_t size = 0;
    for (size_t k = 0; !size && k < sizeof lists / sizeof *lists; k++) size = size_in(lists[k], type);
    return size;
}

/* Are these options of an earlier version with the same major number?  The list starts with its version. */
static int grown_since(const costate_size *program, const costate_size *s)
{
    size_t first = strcspn(COSTATE_VERSION, ".") + 1;
    int options = strcmp(s->type, "costate_options") == 0 || strcmp(s->type, "costate_bvp_options") == 0;
    return options && s->size < costate_sizeof(s->type) && strncmp(program->type, COSTATE_VERSION, first) == 0;
}

const costate_size *mismatch(const costate_size *program)
{
    for (const costate_size *s = program; s && s->type; s++)
        if (s->size && s->size != costate_sizeof(s->type) && !grown_since(program, s)) return s;
    return NULL;
}

const void *grown(const costate_size *program, const char *type, const void *o, void *room)
{
    size_t size = size_in(program, type), whole = costate_sizeof(type);
    if (!o || !size || size >= whole) return o;
    memset(room, 0, whole);
    return memcpy(room, o, size);
}

costate *costate_new_sized(const costate_size *program, const costate_method *m, const costate_problem *P,
                           const costate_options *o)
{
    const costate_size *odd = mismatch(program);
    costate_options room;
    if (!odd) return costate_new(m, P, grown(program, "costate_options", o, &room));
    costate *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    mismatch_said(&c->v, program, odd);
    return c;
}

int mismatch_said(verdict *v, const costate_size *program, const costate_size *odd)
{
    return fail(v, COSTATE_VERSION_MISMATCH,
                "The program was compiled with the header of costate %s, where a %s has %zu bytes; the library that it "
                "runs with is %s, where it has %zu: compile the program again, with the header of this library.",
                program->type, odd->type, odd->size, COSTATE_VERSION, costate_sizeof(odd->type));
}

int mismatch_refused(const costate_size *program, const char *type, void *result)
{
    if (result) memset(result, 0, size_in(program, type));
    return COSTATE_VERSION_MISMATCH;
}

int costate_method_describe_sized(const costate_size *program, const costate_method *m, costate_method_info *info)
{
    if (mismatch(program)) return mismatch_refused(program, "costate_method_info", info);
    return costate_method_describe(m, info);
}

int costate_method_load_sized(const costate_size *program, const char *path, const costate_method **out,
                              costate_report *report)
{
    if (!mismatch(program)) return costate_method_load(path, out, report);
    if (out) *out = NULL;
    return mismatch_refused(program, "costate_report", report);
}

int costate_check_map_sized(const costate_size *program, const costate_map *f, int n, int np, int k,
                            const costate_point *x, void *ctx, costate_report *report)
{
    if (mismatch(program)) return mismatch_refused(program, "costate_report", report);
    return costate_check_map(f, n, np, k, x, ctx, report);
}

int costate_check_problem_sized(const costate_size *program, const costate_problem *P, const costate_point *x,
                                costate_report *rhs, costate_report *cost)
{
    if (!mismatch(program)) return costate_check_problem(P, x, rhs, cost);
    mismatch_refused(program, "costate_report", cost);
    return mismatch_refused(program, "costate_report", rhs);
}

int costate_pattern_detect_sized(const costate_size *program, const costate_problem *P, const costate_point *x,
                                 costate_pattern **out, costate_report *report)
{
    if (!mismatch(program)) return costate_pattern_detect(P, x, out, report);
    if (out) *out = NULL;
    return mismatch_refused(program, "costate_report", report);
}

int costate_check_adjoint_sized(const costate_size *program, costate *c, double t0, double t1, const double *y,
                                const double *p, costate_report *report)
{
    if (mismatch(program)) return mismatch_refused(program, "costate_report", report);
    return costate_check_adjoint(c, t0, t1, y, p, report);
}

int costate_check_matrix_sized(const costate_size *program, costate *c, double t, double h, const double *y,
                               const double *p, costate_report *report)
{
    if (mismatch(program)) return mismatch_refused(program, "costate_report", report);
    return costate_check_matrix(c, t, h, y, p, report);
}

int costate_check_hessian_sized(const costate_size *program, costate *c, double t0, double t1, const double *y,
                                const double *p, costate_seed2 seed, void *ctx, costate_report *report)
{
    if (mismatch(program)) return mismatch_refused(program, "costate_report", report);
    return costate_check_hessian(c, t0, t1, y, p, seed, ctx, report);
}

int costate_accuracy_sized(const costate_size *program, costate *c, const costate_tape *tape,
                           const costate_functional *F, costate_estimate *e)
{
    if (mismatch(program)) return mismatch_refused(program, "costate_estimate", e);
    return costate_accuracy(c, tape, F, e);
}

int costate_gradient_within_sized(const costate_size *program, costate *c, double t0, double t1, double *y,
                                  const double *p, const costate_functional *F, costate_goal *goal, costate_tape *tape)
{
    if (mismatch(program)) return mismatch_refused(program, "costate_goal", goal);
    return costate_gradient_within(c, t0, t1, y, p, F, goal, tape);
}
