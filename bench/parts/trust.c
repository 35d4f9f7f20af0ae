/* trust.c - how far can results be trusted?  Errors of gradients, and estimates of these errors, as JSON.

       trust SET [PROBLEM [METHOD [RTOL]]]        a SET of rows, or those of a problem, method (or all),
                                                  tolerance alone

   steps     gradients with steps that are chosen for y alone, kept stable, or controlled by a random tangent, beside
             the errors of y: trust_steps.c
   accuracy  estimates of costate_accuracy beside true errors, of two functionals, a component of y(t1) and the integral
             of the cost, and of their gradients with respect to y(0)
   goal      errors of costate_gradient_within, of the same
   cases     the same on problems that are hard for it: trust_cases.c
   products, product_goal
             estimates of costate_accuracy of Hessian products, beside true errors, and errors of those that
             costate_gradient_within returns, with eight methods: trust_products.c

   All but the first run all methods with an error estimate on the problems of the tests whose gradients are
   known from quadruple precision; explicit methods where the problem is not stiff, rkc also where it is mildly so.  All
   errors are relative; those of gradients and products are in the 2-norm. */
#include <stdlib.h>
#include <string.h>

#include <costate/accuracy.h>
#include <costate/costate.h>

#include "problems.h"
#include "trust.h"

enum { MOST = 16 };

/* value and y0: of y[kout](t1), of the integral */
typedef struct { double value[2], y0[2 * MOST]; } derivatives;

static int functionals(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                       double *end, void *ctx)
{
    const problem *b = ctx;
    int n = b->P.n, N = n + b->P.nq, kout = b->reference->kout;
    (void)t1, (void)p, (void)m, (void)mu, (void)end;
    value[0] = y[kout];
    value[1] = y[n];
    lambda[kout] = 1;
    lambda[N + n] = 1;
    return 0;
}

/* true errors, or estimated ones, relative to the reference: two values, two gradients */
static void true_errors(const problem *b, const derivatives *found, double *relative)
{
    int n = b->P.n, N = n + b->P.nq;
    const problem_reference *z = b->reference;
    relative[0] = fabs(found->value[0] / z->y[z->kout] - 1);
    relative[1] = fabs(found->value[1] / z->G - 1);
    relative[2] = distance(n, found->y0, z->dyk_dy0) / norm(n, z->dyk_dy0);
    relative[3] = distance(n, found->y0 + N, z->dG_dy0) / norm(n, z->dG_dy0);
}

static void estimated_errors(const problem *b, const derivatives *error, double *relative)
{
    int n = b->P.n, N = n + b->P.nq;
    const problem_reference *z = b->reference;
    relative[0] = fabs(error->value[0] / z->y[z->kout]);
    relative[1] = fabs(error->value[1] / z->G);
    relative[2] = norm(n, error->y0) / norm(n, z->dyk_dy0);
    relative[3] = norm(n, error->y0 + N) / norm(n, z->dG_dy0);
}

static costate *solver(const costate_method *m, const problem *b, double rtol, int max_steps, double *atol)
{
    trust_atol(b, rtol, atol);
    const costate_options options = {.rtol = rtol, .atol_vector = atol, .max_steps = max_steps, .cost_error = 1,
                                     .autonomous = b->autonomous};
    return costate_new(m, &b->P, &options);
}

static double start(const problem *b, double *y)
{
    memset(y, 0, MOST * sizeof *y);
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
    return b->t0;
}

/* what a sweep of its own says of the gradients of the run on the tape */
static double sampled(costate *c, const problem *b, const costate_tape *tape)
{
    int n = b->P.n, N = n + b->P.nq;
    double lambda[2 * MOST] = {0};
    lambda[b->reference->kout] = lambda[N + n] = 1;
    return costate_adjoint(c, tape, 2, lambda, NULL, NULL, NULL) ? NAN : costate_get_stats(c)->gradient_error;
}

/* One row: a run, its errors, and what is estimated of them. */
static void accuracy(const costate_method *m, const costate_method_info *about, const problem *b, double rtol)
{
    double y[MOST], atol[MOST], errors[4], estimates[4];
    derivatives found, error;
    costate_estimate e = {.run = {.value = found.value, .y0 = found.y0},
                          .error = {.value = error.value, .y0 = error.y0}};
    costate_functional F = {.m = 2, .at_end = functionals, .ctx = (void *)(size_t)b};
    costate *c = solver(m, b, rtol, TRUST_STEPS, atol);
    costate_tape *tape = costate_tape_new();
    json j = {.file = stdout};
    int status = costate_integrate(c, start(b, y), b->t1, y, b->p0, tape);
    double by_sweep = status == COSTATE_OK ? sampled(c, b, tape) : NAN;
    int estimated = status == COSTATE_OK ? costate_accuracy(c, tape, &F, &e) : status;
    row_of(&j, "accuracy", b->name, about, rtol, c, estimated);
    json_count(&j, "ran", status == COSTATE_OK);
    if (estimated == COSTATE_OK) {
        true_errors(b, &found, errors);
        estimated_errors(b, &error, estimates);
        json_count(&j, "steps", costate_tape_steps(tape));
        json_numbers(&j, "errors", 4, errors);
        json_numbers(&j, "estimates", 4, estimates);
        json_number(&j, "sampled", by_sweep);
    }
    json_end(&j);
    costate_tape_free(tape);
    costate_free(c);
}

/* One row: a gradient to a tolerance, from a solver that begins with rtol = 1e-6. */
static void goal(const costate_method *m, const costate_method_info *about, const problem *b, double tol)
{
    double y[MOST], atol[MOST], errors[4], worst = 0;
    derivatives found;
    costate_goal G = {.tol = tol, .estimate.run = {.value = found.value, .y0 = found.y0}};
    costate_functional F = {.m = 2, .at_end = functionals, .ctx = (void *)(size_t)b};
    costate *c = solver(m, b, 1e-6, 0, atol);
    costate_tape *tape = costate_tape_new();
    json j = {.file = stdout};
    int status = costate_gradient_within(c, start(b, y), b->t1, y, b->p0, &F, &G, tape);
    row_of(&j, "goal", b->name, about, tol, c, status);
    json_count(&j, "rounds", G.rounds);
    json_number(&j, "rtol", G.rtol);
    json_count(&j, "steps", costate_tape_steps(tape));
    if (status == COSTATE_OK) {
        true_errors(b, &found, errors);
        for (int i = 0; i < 4; i++) worst = isnan(errors[i]) ? NAN : fmax(worst, errors[i]);
        json_number(&j, "worst", G.worst);
        json_number(&j, "error", worst / tol);
    }
    json_end(&j);
    costate_tape_free(tape);
    costate_free(c);
}

typedef void measurement(const costate_method *, const costate_method_info *, const problem *, double);

static void all_rows(const choice *only, measurement *row, double loosest, double tightest, double factor)
{
    const problem *b;
    for (int k = 0; (b = problem_at(k)) != NULL; k++) {
        if (b->reference == NULL || b->P.n + b->P.nq > MOST || !chosen(only->task, b->name)) continue;
        for (int i = 0; i < costate_method_count(); i++) {
            const costate_method *m = costate_method_at(i);
            costate_method_info about;
            if (costate_method_describe(m, &about) != COSTATE_OK || !trust_fits(&about, b)) continue;
            if (!chosen(only->method, about.name)) continue;
            for (double rtol = loosest; rtol > 0.9 * tightest; rtol *= factor)
                if (chosen_rtol(only, rtol)) row(m, &about, b, rtol);
            fflush(stdout);
        }
    }
}

int main(int argc, char **argv)
{
    const choice only = {argc > 2 ? argv[2] : NULL, argc > 3 ? argv[3] : NULL, argc > 4 ? atof(argv[4]) : 0};
    const char *set = argc > 1 ? argv[1] : "";
    if (strcmp(set, "steps") == 0) return trust_steps(&only);
    if (strcmp(set, "cases") == 0) return trust_cases(&only);
    if (strcmp(set, "accuracy") == 0) all_rows(&only, accuracy, 1e-2, 1e-8, 0.1);
    else if (strcmp(set, "goal") == 0) all_rows(&only, goal, 1e-3, 1e-7, 0.01);
    else if (strcmp(set, "products") == 0) trust_products(&only, 0);
    else if (strcmp(set, "product_goal") == 0) trust_products(&only, 1);
    else return fputs("usage: trust steps|accuracy|goal|cases|products|product_goal [PROBLEM [METHOD [RTOL]]]\n",
                      stderr), 2;
    return 0;
}
