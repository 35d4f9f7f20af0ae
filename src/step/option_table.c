/* option_table.c - the members of costate_options: kind, default and range of each, and what depends on it. */
#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include "step/option_table.h"

enum {
    STEPS = OPTION_STEPS, REPEATED = OPTION_REPEATED, ITERATED = OPTION_ITERATED, WEIGHED = OPTION_WEIGHED,
    SLOPED = OPTION_SLOPED, ALONE = OPTION_ALONE, ALONE_TANGENTS = OPTION_ALONE_TANGENTS,
    ALONE_ADJOINTS = OPTION_ALONE_ADJOINTS, WATCHES = OPTION_WATCHES, ONE_RUN = OPTION_ONE_RUN
};

#define ROW(name, kind, ...) {#name, "lanes do not follow options." #name, offsetof(costate_options, name), \
                              sizeof ((costate_options *)0)->name, kind, __VA_ARGS__}
#define REAL(name, fallback, least, most, ...) ROW(name, OPTION_REAL, fallback, least, most, __VA_ARGS__)
#define INTEGER(name, fallback, least, most, ...) ROW(name, OPTION_INTEGER, fallback, least, most, __VA_ARGS__)
#define OTHER(name, kind, is) ROW(name, kind, 0, 0, 0, is, 0)
const option option_table[] = {
    REAL(rtol, 1e-6, 0, 1, STEPS | WEIGHED, 0),
    REAL(atol, 1e-6, 0, DBL_MAX, STEPS | WEIGHED, 0),
    OTHER(rtol_vector, OPTION_VECTOR, STEPS | WEIGHED),
    OTHER(atol_vector, OPTION_VECTOR, STEPS | WEIGHED),
    INTEGER(cost_error, 0, 0, 1, STEPS, 0),
    INTEGER(tangent_error, 0, 0, 1, ALONE_TANGENTS | ONE_RUN, 0),
    REAL(h0, 0, 0, DBL_MAX, STEPS, 0),
    REAL(hmin, 0, 0, DBL_MAX, STEPS | ONE_RUN, 0),
    REAL(hmax, 0, 0, DBL_MAX, STEPS | ONE_RUN, 0),
    INTEGER(max_steps, 100000, 1, INT_MAX, 0, 0),
    INTEGER(controller, 0, 0, COSTATE_FIXED, STEPS | ALONE, COSTATE_FIXED - 1),
    REAL(safety, 0.9, 0, 1, STEPS, 0),
    REAL(fac_min, 0.2, 0, 1, STEPS, 0),
    REAL(fac_max, 8, 1, DBL_MAX, STEPS, 0),
    REAL(fac_reject, 0.1, 0, 1, STEPS, 0),
    REAL(q_min, 1, 0, 1, STEPS, 0),
    REAL(q_max, 1.2, 1, DBL_MAX, STEPS, 0),
    INTEGER(estimator, 0, 0, COSTATE_EST_SDIRK, STEPS | ITERATED, 0),
    INTEGER(autonomous, 0, 0, 1, STEPS | SLOPED, 0),
    INTEGER(warm, 0, 0, 1, ONE_RUN, 0),
    INTEGER(newton_max, 0, 0, 255, STEPS | ITERATED, 0),
    REAL(newton_tol, 0, 0, 1, STEPS | ITERATED, 0),
    REAL(theta_reuse, 0.03, -DBL_MAX, 1, STEPS, 0),
    INTEGER(predictor, 0, 0, COSTATE_PREDICT_NONE, STEPS, 0),
    INTEGER(derivative_mode, 0, 0, 1, STEPS | ITERATED, 0),
    INTEGER(solver, 0, 0, COSTATE_LS_SPARSE, STEPS, 0),
    INTEGER(stage_solve, 0, 0, COSTATE_STAGE_ITERATIVE, 0, 0),
    OTHER(backend, OPTION_POINTER, STEPS),
    REAL(krylov_tol, 1e-14, 0, 0.1, STEPS | ITERATED, 0),
    OTHER(preconditioner, OPTION_POINTER, STEPS | ITERATED),
    INTEGER(keep_factors, 0, -1, 1, ALONE_ADJOINTS, 0),
    INTEGER(ilu, 0, 0, 1, STEPS | ITERATED, 0),
    INTEGER(differences, 0, 0, 1, STEPS | ALONE, 0),
    INTEGER(degree_max, 0, 0, 1 << 30, STEPS, 0),
    OTHER(spectral_radius, OPTION_POINTER, STEPS),
    REAL(spectral_bound, 0, 0, DBL_MAX, STEPS, 0),
    INTEGER(storage, 0, 0, COSTATE_CHECKPOINTS, ALONE_ADJOINTS, 0),
    INTEGER(checkpoints, 0, 0, INT_MAX, 0, 0),
    OTHER(tape_limit, OPTION_BYTES, ALONE_ADJOINTS),
    OTHER(on_step, OPTION_POINTER, ALONE | WATCHES),
    OTHER(on_step_ctx, OPTION_POINTER, 0),
    INTEGER(consistent, 0, COSTATE_CONSISTENT_NONE, COSTATE_CONSISTENT_START + COSTATE_CONSISTENT_END,
            STEPS | ALONE, 0),
    INTEGER(mode, 0, 0, INT_MAX, STEPS | ALONE, 0),
    INTEGER(max_events, 1000000, 1, INT_MAX, 0, 0),
    INTEGER(event_samples, 0, 0, 1000, STEPS, 0),
    INTEGER(sliding, 0, 0, 1, STEPS, 0),
    OTHER(on_event, OPTION_POINTER, WATCHES),
    OTHER(on_event_ctx, OPTION_POINTER, 0),
    OTHER(sum, OPTION_POINTER, STEPS | REPEATED | ALONE),
    OTHER(sum_ctx, OPTION_POINTER, 0),
    INTEGER(tangent_count, 0, 0, INT_MAX, ONE_RUN, 0),
    OTHER(tangent_rtol, OPTION_POINTER, ONE_RUN),
    OTHER(tangent_atol, OPTION_POINTER, ONE_RUN),
    OTHER(tangent_atol_vector, OPTION_POINTER, ONE_RUN),
    OTHER(on_back, OPTION_POINTER, ALONE | WATCHES),
    OTHER(on_back_ctx, OPTION_POINTER, 0),
    INTEGER(stability, 0, 0, COSTATE_STABILITY_OFF, STEPS, 0),
    INTEGER(gradient_control, 0, 0, 1000, STEPS | ALONE | ONE_RUN, 0),
    INTEGER(gradient_estimate, 0, 0, COSTATE_ESTIMATE_OFF, 0, 0),
    INTEGER(accurate_inside, 0, 0, 1, STEPS, 0),
    OTHER(members, OPTION_TEXT, STEPS),
    OTHER(step_bound, OPTION_POINTER, STEPS | ALONE),
    {.name = NULL}
};
#undef ROW
#undef REAL
#undef INTEGER
#undef OTHER

const void *option_pointer(const costate_options *o, const option *x)
{
    const void *found;
    memcpy(&found, (const char *)o + x->offset, sizeof found);
    return found;
}

double option_value(const costate_options *o, const option *x)
{
    static const char null[sizeof(void *)];
    const char *at = (const char *)o + x->offset;
    if (x->kind == OPTION_REAL) return *(const double *)(const void *)at;
    if (x->kind == OPTION_INTEGER) return *(const int *)(const void *)at;
    if (x->kind == OPTION_BYTES) return (double)*(const size_t *)(const void *)at;
    return memcmp(at, null, x->size) != 0;                  /* members point to objects and to functions */
}

void options_clear(costate_options *o, unsigned which)
{
    for (const option *x = option_table; x->name; x++)
        if (x->is & which) memset((char *)o + x->offset, 0, x->size);
}
