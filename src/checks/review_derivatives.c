/* review_derivatives.c - the derivatives of a reviewed run: whether they are derivatives of its steps, by the checks of
   a run, and how far the steps are from the solution, by estimated errors.

   The functional is a weighted sum of all values at the end, each about 1: terms that do not cancel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "checks/check.h"
#include "checks/review.h"
#include "estimates/accuracy.h"
#include "maps/check.h"
#include "solver/options.h"

static const double USELESS = 0.1;              /* relative error of a gradient that points elsewhere */
/* A gradient less accurate than this, and less than the tolerance by this factor: steps chosen for y do not suit it. */
static const double ROUGH = 1e-2, BEYOND = 100;
static const double ALIKE = 10;                 /* the gradient is no worse than the value by this factor */
static const double LEAST_WRONG = 0.9;          /* fall of remainders */

static void set_weights(run_review *x, const double *end)
{
    unsigned state = 12;
    double most = 0;
    for (int i = 0; i < x->c->st.n; i++) most = fmax(most, fabs(end[i]));
    double least = 1e-3 * (most > 0 ? most : 1);
    for (int i = 0; i < x->c->st.N; i++) {
        double size = (0.75 + 0.25 * random_number(&state)) / fmax(fabs(end[i]), least);
        x->weight[i] = end[i] < 0 ? -size : size;
    }
}

/* ---- derivatives of the steps ---- */

static int not_checked(run_review *x, const char *topic, int status, const char *what)
{
    const char *text = costate_message(x->c);
    if (ends_review(status, x->c->v.gave_up)) return review_ends(x, topic, costate_time(x->c), status, text);
    return review_add(x->r, about(COSTATE_REMARK, topic), "%s: %s", what, text);
}

/* A gap of round-off that the run has multiplied is no wrong callback. */
static int say_transposes(run_review *x, const costate_report *r)
{
    int right = r->transpose <= CHECK_TRANSPOSED, wrong = !(r->transpose <= CHECK_RIGHT);
    review_about a = {right ? COSTATE_RIGHT : wrong ? COSTATE_WRONG : COSTATE_REMARK, -1, "transposes", NAN,
                      r->transpose};
    if (right) return review_add(x->r, a, "Adjoint and tangent of the run are transposes (to %.1e).", r->transpose);
    if (!wrong)
        return review_add(x->r, a, "Adjoint and tangent of the run are transposes to %.1e only: the run multiplies "
                          "round-off, so that gradients have few digits, or a derivative is slightly wrong.",
                          r->transpose);
    return review_add(x->r, a, "Adjoint and tangent of the run are not transposes of each other: products with them "
                      "differ by %.1e, relative.  The adjoint of a map does not belong to its tangent: a finding about "
                      "callbacks names it, or costate_check_problem where it is used.", r->transpose);
}

/* With a wrong derivative remainders fall by 2, at a jump by 1.  Any other number comes from runs that have left the
   neighbourhood of this one, or from round-off, and tells nothing. */
static int say_remainders(run_review *x, const costate_report *r)
{
    int right = fabs(r->taylor - 4) <= 1, wrong = r->taylor >= LEAST_WRONG && r->taylor < 3;
    review_about a = {right ? COSTATE_RIGHT : wrong ? COSTATE_WRONG : COSTATE_REMARK, -1, "remainders", NAN, r->taylor};
    if (right) return review_add(x->r, a, "The tangent is the derivative of the steps that were taken (Taylor "
                                 "remainders fall by %.2f per halving; 4 is right).", r->taylor);
    if (!wrong)
        return review_add(x->r, a, "The Taylor test of the tangent tells nothing: with the steps of this run, runs "
                          "beside it are too far from it.  Test a shorter interval.");
    return review_add(x->r, a, "The tangent is not the derivative of the steps that were taken: Taylor remainders fall "
                      "by %.2f per halving of the direction, where 4 is right.  A tangent or jac is wrong, or a map is "
                      "not smooth along the run.", r->taylor);
}

static int check_first(run_review *x)
{
    costate_report r;
    int status = solver_check_adjoint(x->c, x->t0, x->t1, x->y, x->p, &r);
    if (status && status != COSTATE_CHECK_FAILED) return not_checked(x, "transposes", status, "Derivatives of "
                                                                    "the run were not compared with runs beside it");
    TRY(say_transposes(x, &r));
    return say_remainders(x, &r);
}

/* sum_i u_i + u_i^2/2, u_i = w_i y_i */
static int seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    const run_review *x = ctx;
    const double *w = x->weight;
    size_t N = (size_t)x->c->st.N;
    (void)t1, (void)p, (void)Vp, (void)mu, (void)mu2;
    for (size_t i = 0; i < N; i++) lambda[i] = w[i] * (1 + w[i] * y[i]);
    for (size_t i = 0; i < N * (size_t)m; i++) lambda2[i] = w[i % N] * w[i % N] * V[i];
    return 0;
}

/* A problem without second products has no Hessian products to be checked. */
static int check_second(run_review *x)
{
    costate_report r;
    int status = solver_check_hessian(x->c, x->t0, x->t1, x->y, x->p, seed, x, &r);
    if (status == COSTATE_MISSING) return 0;
    if (status && status != COSTATE_CHECK_FAILED) return not_checked(x, "Hessian", status, "Hessian products were "
                                                                    "not compared with runs beside this one");
    review_about a = {status ? COSTATE_WRONG : COSTATE_RIGHT, -1, "Hessian", NAN, fmax(r.symmetry, r.hessian)};
    return review_add(x->r, a, "%s%s", r.text, status ? "  A second derivative (tangent2, adjoint_tangent) is wrong." :
                      "");
}

/* ---- errors of the steps ---- */

typedef struct { run_review *x; double *end[2]; int calls; } weighed;        /* N each: of the finer run, of the run */

static int weigh(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                 double *end, void *ctx)
{
    weighed *s = ctx;
    const double *w = s->x->weight;
    (void)t1, (void)p, (void)m, (void)mu, (void)end;
    for (int i = 0; i < s->x->c->st.N; i++) {
        value[0] += w[i] * y[i];
        lambda[i] = w[i];
    }
    memcpy(s->end[s->calls++ > 0], y, (size_t)s->x->c->st.N * sizeof *y);
    return 0;
}

typedef struct { double value, y0, p; } errors;

/* *with: 0, or 1 if there are gradients; where products are missing there are none */
static int estimate(run_review *x, weighed *s, errors *e, int *with)
{
    const costate_functional F = {.m = 1, .at_end = weigh, .ctx = s};
    costate_estimate all = {.value_error = &e->value, .y0_error = &e->y0, .p_error = x->c->st.np ? &e->p : NULL};
    const costate_estimate alone = {.value_error = &e->value};
    *with = 1;
    s->calls = 0;
    int status = solver_accuracy(x->c, x->tape, &F, &all);
    if (status != COSTATE_MISSING) return status;
    *with = s->calls = 0;
    all = alone;
    return solver_accuracy(x->c, x->tape, &F, &all);
}

static int say_value(run_review *x, const errors *e, int rough)
{
    review_about a = {rough ? COSTATE_REMARK : COSTATE_RIGHT, -1, "accuracy", NAN, e->value};
    return review_add(x->r, a, "A sum of all values at the end is %s %.1e.  %s", rough ? "off by about" : "right to",
                      e->value, rough ? "Set smaller tolerances." :
                      "Gradients lack products of the maps, so nothing is known of them.");
}

static int say_errors(run_review *x, const errors *e, int with)
{
    double gradient = fmax(e->y0, e->p), most = fmax(ROUGH, BEYOND * options_rtol(&x->o, x->c->st.n));
    int useless = !(gradient <= USELESS), rough = fmax(e->value, gradient) > most;
    const char *remark = review_remark(costate_message(x->c));
    review_about a = {COSTATE_RIGHT, -1, "accuracy", NAN, gradient};
    if (*remark && !strstr(x->said, remark)) TRY(review_add(x->r, about(COSTATE_REMARK, "accuracy"), "%s", remark));
    if (!with) return say_value(x, e, e->value > most);
    char of_p[40] = "";
    if (x->c->st.np) snprintf(of_p, sizeof of_p, " and to p to %.1e", e->p);
    if (!useless && !rough)
        return review_add(x->r, a, "A sum of all values at the end is right to %.1e, its gradients with respect to y0 "
                          "to %.1e%s (estimated).", e->value, e->y0, of_p);
    a.severity = useless ? COSTATE_WRONG : COSTATE_REMARK;
    return review_add(x->r, a, "The gradient of a sum of all values at the end %s: its relative error is estimated as "
                      "%.2g, that of the sum as %.2g.  %s", useless ? "cannot be trusted" : "is rough", gradient,
                      e->value, gradient <= ALIKE * e->value ? "Set smaller tolerances." : "Steps that suit y do not "
                      "suit gradients: set options.gradient_control = 1, or smaller tolerances.");
}

static int check_accuracy(run_review *x, double *ends)
{
    size_t N = (size_t)x->c->st.N;
    weighed s = {x, {ends, ends + N}, 0};
    errors e = {0, 0, 0};
    int with, status = estimate(x, &s, &e, &with);
    if (status == COSTATE_ACCURACY)
        return review_add(x->r, about(COSTATE_WRONG, "accuracy"), "%s  Set smaller tolerances.", costate_message(x->c));
    x->c->v.gave_up |= status == COSTATE_CALLBACK;      /* it may be another solver's callback */
    if (status) return not_checked(x, "accuracy", status, "Errors were not estimated");
    TRY(say_errors(x, &e, with));
    return review_errors(x, s.end[1], s.end[0]);
}

int review_derivatives(run_review *x)
{
    size_t N = (size_t)x->c->st.N;
    double *ends = calloc(2 * N, sizeof *ends);
    if (!ends) return COSTATE_NO_MEMORY;
    set_weights(x, x->tape->end);
    int status = check_first(x);
    if (status == 0) status = check_second(x);
    if (status == 0) status = check_accuracy(x, ends);
    free(ends);
    return status;
}
