/* check_given.c - the report of the public checks; and their arguments: sizes or problem, and point, are verified
   before any callback is called.  There is no solver to hold an error sentence, so it goes into the report. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "maps/maps.h"
#include "maps/check.h"

int check_says(costate_report *r, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->text, sizeof r->text, format, args);
    va_end(args);
    return status;
}

int check_no_memory(costate_report *r) { return check_says(r, COSTATE_NO_MEMORY, "No memory for the check."); }

void check_adds(costate_report *r, const char *format, ...)
{
    size_t used = strlen(r->text);
    va_list args;
    va_start(args, format);
    vsnprintf(r->text + used, sizeof r->text - used, format, args);
    va_end(args);
}

void check_clear(costate_report *r)
{
    *r = (costate_report){.tangent = NAN, .adjoint = NAN, .tangent2 = NAN, .adjoint_tangent = NAN, .jac = NAN,
                          .transpose = NAN, .taylor = NAN, .adjoint_tangent2 = NAN, .symmetry = NAN, .hessian = NAN,
                          .accuracy = NAN, .linear = NAN, .repeats = NAN, .softness = NAN,
                          .smooth = NAN};
}

static int array(const char *name, const double *v, int count, costate_report *r)
{
    if (count > 0 && !v)
        return check_says(r, COSTATE_BAD_ARGUMENT, "%s is NULL, but %d values are expected.", name, count);
    for (int i = 0; i < count; i++)
        if (!isfinite(v[i])) return check_says(r, COSTATE_BAD_ARGUMENT, "%s[%d] is %g, not finite.", name, i, v[i]);
    return COSTATE_OK;
}

static int point_given(int n, int np, int nm, const costate_point *x, costate_report *r)
{
    if (!x) return check_says(r, COSTATE_BAD_ARGUMENT, "x is NULL.");
    if (!isfinite(x->t)) return check_says(r, COSTATE_BAD_ARGUMENT, "x.t is %g, not finite.", x->t);
    TRY(array("x.y", x->y, n, r));
    TRY(array("x.p", x->p, np, r));
    return array("x.m", x->m, nm, r);
}

static int in_report(const verdict *v, costate_report *r) { return check_says(r, v->status, "%s", v->text); }

/* Sizes first: they say how much of the point may be read. */
int check_given(int n, int np, int k, const costate_point *x, costate_report *r)
{
    verdict v;
    if (sizes_sound(&v, "", n, np, "k", k, 1)) return in_report(&v, r);
    return point_given(n, np, 0, x, r);
}

int check_given_problem(const costate_problem *P, const costate_point *x, costate_report *r)
{
    verdict v;
    if (problem_sound(&v, P)) return in_report(&v, r);
    TRY(point_given(P->n, P->np, P->nm, x, r));
    return P->residual.value ? array("x.yp", x->yp, P->n, r) : COSTATE_OK;
}

/* ---- the verdict ---- */

int check_right(const costate_report *r)
{
    const double e[] = {r->tangent, r->adjoint, r->tangent2, r->adjoint_tangent, r->jac, r->adjoint_tangent2};
    for (size_t i = 0; i < sizeof e / sizeof *e; i++) if (e[i] > CHECK_RIGHT) return 0;
    return strstr(r->text, "WRONG") == NULL;
}

int check_result(int code, costate_report *r)
{
    if (code != 0) return check_says(r, code > 0 ? RETRY : COSTATE_CALLBACK, "A callback returned %d.", code);
    return check_right(r) ? COSTATE_OK : COSTATE_CHECK_FAILED;
}
