/* options.c - checks the options and fills in defaults: zero means default. */
#include <float.h>
#include <math.h>
#include "solver/members.h"
#include "solver/options.h"
#include "step/option_table.h"

static int check_tolerances(costate *c, const double *vector, int count, const char *name)
{
    for (int i = 0; vector && i < count; i++)
        if (!(vector[i] >= 0 && vector[i] < HUGE_VAL))
            return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.%s[%d] is negative, NaN or Inf.", name, i);
    return COSTATE_OK;
}

/* Absolute tolerances of tangents must be positive: many components of tangents are 0 (with respect to parameters, all
   of them at t0), where a relative tolerance has no effect. */
static int check_positive(costate *c, const double *x, int rows, const char *name)
{
    size_t count = (size_t)c->o.tangent_count * (size_t)rows;
    for (size_t k = 0; x && k < count; k++)
        if (!(x[k] > 0 && x[k] < HUGE_VAL))
            return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.%s[%zu] = %g: it must be positive and finite.", name, k,
                        x[k]);
    return COSTATE_OK;
}

static int check_of_tangents(costate *c)
{
    const costate_options *o = &c->o;
    const char *given = tangent_tolerances(o);
    if (given && !o->tangent_error)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.%s is given, but tangents are not under error control: set "
                    "options.tangent_error = 1.", given);
    TRY(check_tolerances(c, o->tangent_rtol, o->tangent_count, "tangent_rtol"));
    TRY(check_positive(c, o->tangent_atol, 1, "tangent_atol"));
    TRY(check_positive(c, o->tangent_atol_vector, c->st.n, "tangent_atol_vector"));
    int of_y = o->tangent_rtol && o->atol_vector && !o->tangent_atol && !o->tangent_atol_vector;
    for (int i = 0; of_y && i < c->st.n; i++)
        if (o->atol_vector[i] == 0)
            return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.atol_vector[%d] = 0: tangents need a positive absolute "
                        "tolerance. Give options.tangent_atol beside tangent_rtol.", i);
    return COSTATE_OK;
}

/* defaults that depend on the method */
static void defaults_of(const member_method *one, costate_options *o)
{
    const costate_method *m = one->m;
    if (o->controller == COSTATE_AUTO) o->controller = one->F->controller;
    if (o->newton_max == 0) o->newton_max = 7 + (m->block > 3 ? 5 * (m->block - 3) / 2 : 0);
}

static int fits_method(costate *c)
{
    const costate_method *m = c->st.method;
    if (c->o.controller != COSTATE_FIXED && !m->est.order)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "Method %s has no error estimate: use COSTATE_FIXED with h0.",
                    m->name);
    if (c->o.estimator == COSTATE_EST_SDIRK && !m->est.theta)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.estimator = COSTATE_EST_SDIRK: method %s has no such "
                    "estimate.", m->name);
    if (m->of) return 0;
    defaults_of(&c->st.members[0], &c->o);
    if (c->o.event_samples == 0) c->o.event_samples = samples_for(m);
    return 0;
}

/* 0 becomes the default; a number outside its range is refused, NaN too. */
static int fill(costate *c, const option *x)
{
    void *at = (char *)&c->o + x->offset;
    double value = option_value(&c->o, x);
    if (value == 0) value = x->fallback;
    if (!(value >= x->least && value <= x->most))
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.%s = %.10g lies outside [%.10g, %.10g].", x->name, value,
                    x->least, x->most);
    if (x->kind == OPTION_REAL) *(double *)at = value;
    else *(int *)at = (int)value;
    return COSTATE_OK;
}

int options_fill(costate *c)
{
    for (const option *x = option_table; x->name; x++)
        if (x->kind == OPTION_REAL || x->kind == OPTION_INTEGER) TRY(fill(c, x));
    TRY(check_tolerances(c, c->o.rtol_vector, c->st.n, "rtol_vector"));
    TRY(check_tolerances(c, c->o.atol_vector, c->st.n, "atol_vector"));
    for (int i = 0; c->o.rtol_vector && c->o.atol_vector && i < c->st.n; i++)
        if (c->o.rtol_vector[i] + c->o.atol_vector[i] == 0)
            return fail(&c->v, COSTATE_BAD_ARGUMENT, "options: rtol_vector[%d] and atol_vector[%d] are both 0.", i, i);
    TRY(check_of_tangents(c));
    if (c->o.hmax > 0 && c->o.hmin > c->o.hmax)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.hmin = %g is larger than options.hmax = %g.", c->o.hmin,
                    c->o.hmax);
    if (c->o.controller == COSTATE_FIXED && c->o.gradient_control)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.gradient_control controls the lengths of steps, which "
                    "options.controller = COSTATE_FIXED prescribes.");
    if (c->o.controller == COSTATE_FIXED && c->o.h0 == 0)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.controller = COSTATE_FIXED needs a positive options.h0.");
    return fits_method(c);
}

double options_rtol(const costate_options *o, int n)
{
    double least = 0;
    for (int i = 0; o->rtol_vector && i < n; i++)
        if (o->rtol_vector[i] > 0 && (least == 0 || o->rtol_vector[i] < least)) least = o->rtol_vector[i];
    return o->rtol_vector ? least : o->rtol;
}

double newton_round_off(double rtol) { return 10 * DBL_EPSILON / fmax(rtol, 1e-14); }

/* The default of newton_tol of fully implicit methods.  Their error estimate is O(h^(s+1)) and is kept at rtol.  The
   error of the step itself, O(h^(2s)) for Radau IIA, is then rtol times rtol^((s-1)/(s+1)), and the remainder of
   Newton's iteration must not be larger.  For three stages this is the square root, as in RADAU5; for more stages it is
   the choice of RADAU (E. Hairer, G. Wanner, J. Comput. Appl. Math. 111 (1999) 93-111).  For seven stages the square
   root is too loose if M is singular: steps fail until h is round-off. */
static double as_accurate(const costate *c, double rtol)
{
    int s = c->st.m->block;
    return s > 3 ? pow(rtol, (s - 1.0) / (s + 1)) : sqrt(rtol);
}

void options_newton(costate *c, costate_options *o)
{
    double rtol = fmax(options_rtol(o, c->st.n), 1e-14);
    double loose = c->st.F->loosely ? c->st.F->loosely(&c->st) : 0;
    double usual = loose > 0 ? loose : fmin(0.03, as_accurate(c, rtol));
    if (o->newton_tol == 0) o->newton_tol = fmax(newton_round_off(rtol), usual);
}

/* The tolerances of y, those given times a factor for each kind; vectors are stored in `scaled`. */
static void scale(costate_options *o, const costate_options *given, double relative, double absolute, int n,
                  double *scaled)
{
    o->rtol = fmin(given->rtol * relative, 1);
    o->atol = fmin(given->atol * absolute, DBL_MAX);
    for (int i = 0; given->rtol_vector && i < n; i++) scaled[i] = given->rtol_vector[i] * relative;
    for (int i = 0; given->atol_vector && i < n; i++) scaled[n + i] = given->atol_vector[i] * absolute;
    if (given->rtol_vector) o->rtol_vector = scaled;
    if (given->atol_vector) o->atol_vector = scaled + n;
}

/* Explicit steps are longer than their dense output is accurate: on the problems of tests its errors are up to 4 times
   those at the ends of steps, with steps by this part of the tolerance they are not larger than these. */
static const double INSIDE = 0.25;

/* The error estimate of a fully implicit method has a lower order than the method: kept at a looser tolerance, its
   steps are as accurate as rtol says (E. Hairer, G. Wanner, J. Comput. Appl. Math. 111 (1999) 93-111).  The dense
   output has the order of the estimate, so that inside the steps only the tolerance itself is enough. */
static double calibration(const costate *c, const composite_member *m)
{
    double rtol = options_rtol(&c->o, c->st.n);
    if (c->o.accurate_inside) return m->stiff || m->stabilised ? 1 : INSIDE;
    return rtol > 0 ? m->tighter * pow(rtol, m->power) / rtol : 1;
}

void options_of_member(costate *c, int k)
{
    const composite_member *m = &c->st.method->of->member[k];
    member_work *w = &c->works[k];
    w->o = c->o;
    c->st.members[k].looser = calibration(c, m);
    scale(&w->o, &c->o, c->st.members[k].looser, c->st.members[k].looser, c->st.n, w->scaled);
    if (m->splits) w->o.solver = COSTATE_LS_PRECONDITIONER;
    defaults_of(&c->st.members[k], &w->o);
}

/* atol says what is too small to matter: it becomes smaller, never larger.  Tolerances of tangents, given apart,
   stay. */
void options_scale(costate *c, double factor)
{
    int at = c->st.at;
    scale(&c->o, &c->given, factor, fmin(factor, 1), c->st.n, c->scaled);
    c->o.newton_tol = c->given.newton_tol;
    for (int k = 0; k < members_count(&c->st); k++) {
        stepper_look(&c->st, k);
        if (c->st.method->of) options_of_member(c, k);
        if (!c->st.members[k].ready) continue;
        options_newton(c, member_options(c, k));
    }
    stepper_look(&c->st, at);
}

costate_options options_unwatched(const costate *c)
{
    costate_options o = c->o;
    options_clear(&o, OPTION_WATCHES);
    if (!o.consistent) o.consistent = COSTATE_CONSISTENT_NONE;       /* 0 says that of a solver, not of options */
    return o;
}
