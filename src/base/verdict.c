/* verdict.c - sets statuses and their sentences. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/verdict.h"

static const struct { int status; const char *text; } reasons[] = {
    [WHY_ERROR] = {COSTATE_STEP_TOO_SMALL, "the error test failed"},
    [WHY_NEWTON] = {COSTATE_NEWTON, "Newton's iteration did not converge"},
    [WHY_SINGULAR] = {COSTATE_SINGULAR, "the matrix (eig/h) M - J was singular or not finite"},
    [WHY_NOT_FINITE] = {COSTATE_NOT_FINITE, "a callback or the new state was NaN or Inf"},
    [WHY_CALLBACK] = {COSTATE_CALLBACK, "a callback asked for a smaller step"},
    [WHY_DEGREE] = {COSTATE_STEP_TOO_SMALL, "h times the spectral radius was beyond what the highest degree allows"},
    [WHY_SOFT] = {COSTATE_STEP_TOO_SMALL, "the preconditioner, or W, was too soft for this step"},
    [WHY_PRECONDITIONER] = {COSTATE_SINGULAR, "the preconditioner was singular or not finite"},
    [WHY_KRYLOV] = {COSTATE_STAGNATED, "GMRES did not converge (options.preconditioner would help)"},
    [WHY_INVARIANT] = {COSTATE_NEWTON, "no part of the step kept after_step.invariant (is it 0 at the start, and "
                       "convex?)"},
    [WHY_JAC] = {COSTATE_NOT_FINITE, "problem.jac (of residuals also jac_yp) was NaN or Inf"},
    [WHY_PRODUCTS] = {COSTATE_NOT_FINITE, "the Jacobian formed from products (tangent) was NaN or Inf"},
    [WHY_DIFFERENCED] = {COSTATE_NOT_FINITE, "the Jacobian formed from differences was NaN or Inf"},
};

int cause_status(enum cause why) { return reasons[why].status; }
const char *cause_text(enum cause why) { return reasons[why].text; }

void verdict_clear(verdict *v)
{
    v->status = COSTATE_OK;
    v->gave_up = 0;
    strcpy(v->text, "No error.");
}

void verdict_at(verdict *v, double t) { v->t = t; }

int fail(verdict *v, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(v->text, sizeof v->text, format, args);
    va_end(args);
    return v->status = status;
}

void remarked(verdict *v, const char *format, ...)
{
    size_t used = strlen(v->text);
    va_list args;
    va_start(args, format);
    vsnprintf(v->text + used, sizeof v->text - used, format, args);
    va_end(args);
}

int retry(verdict *v, enum cause why)
{
    v->why = why;
    return RETRY;
}

int frozen(verdict *v, int status)
{
    if (status != RETRY) return status;
    return fail(v, cause_status(v->why), "At t = %.10g in a run over the tape, where step sizes are prescribed, %s.",
                v->t, cause_text(v->why));
}

int decided(verdict *v, int status, const char *what)
{
    if (status != RETRY) return status;
    return fail(v, cause_status(v->why), "At t = %.10g, where %s is required, %s.", v->t, what, cause_text(v->why));
}
