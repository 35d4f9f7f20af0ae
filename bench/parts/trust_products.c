/* trust_products.c - Hessian products: estimated errors beside true ones, and products to a tolerance.

   The functional is y[kout](t1), along one direction in which every component of y(t0) that is not zero and every
   parameter changes, in proportion to its size.  The reference of each problem is a run with a tight tolerance, which a
   run with another method confirms. */
#include <stdlib.h>
#include <string.h>

#include <costate/accuracy.h>
#include <costate/costate.h>

#include "formula.h"
#include "problems.h"
#include "trust.h"

enum { MOST = 16, PARAMETERS = FORMULA_MAX_P };
/* to a tolerance: all methods would take hours */
static const char *const goal_methods[] = {"auto", "dopri5", "verner76", "rodas4", "rodas5p", "radau2a", "kencarp5",
                                           "sdirk4a"};
static const double TIGHT = 1e-13, CONFIRMING = 1e-12;

typedef struct { double y0[MOST], p[PARAMETERS]; } product;
typedef struct { const problem *b; double V[MOST], Vp[PARAMETERS]; costate_second second; } direction;
typedef struct { int status; product exact; double unsure[2]; } reference;      /* unsure: difference of both runs */

static int component(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                     double *end, void *ctx)
{
    const problem *b = ((direction *)ctx)->b;
    (void)t1, (void)p, (void)m, (void)mu, (void)end;
    value[0] = y[b->reference->kout];
    lambda[b->reference->kout] = 1;
    return 0;
}

static int seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t1, (void)y, (void)p, (void)m, (void)V, (void)Vp, (void)mu, (void)lambda2, (void)mu2;
    lambda[((direction *)ctx)->b->reference->kout] = 1;
    return 0;
}

static void direct(direction *d, const problem *b)
{
    *d = (direction){.b = b};
    for (int i = 0; i < b->P.n; i++) d->V[i] = b->y0[i] * cos(1 + i);
    for (int i = 0; i < b->P.np; i++) d->Vp[i] = b->p0[i] * sin(1 + i);
    d->second = (costate_second){.m = 1, .V = d->V, .Vp = b->P.np ? d->Vp : NULL, .seed = seed, .ctx = d};
}

static costate_functional functional_of(direction *d)
{
    return (costate_functional){.m = 1, .at_end = component, .ctx = d, .second = &d->second};
}

/* A run, its Hessian product, and what is estimated of its error; steps: of the run. */
static int estimated(costate *c, direction *d, product *found, product *error, int *steps)
{
    const problem *b = d->b;
    double y[MOST] = {0};
    const costate_functional F = functional_of(d);
    costate_estimate e = {.products = {.run = {found->y0, found->p}, .error = {error->y0, error->p}}};
    costate_tape *tape = costate_tape_new();
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
    int status = costate_integrate(c, b->t0, b->t1, y, b->p0, tape);
    if (status == COSTATE_OK) status = costate_accuracy(c, tape, &F, &e);
    *steps = costate_tape_steps(tape);
    costate_tape_free(tape);
    return status;
}

static costate *solver(const costate_method *m, const costate_problem *P, const problem *b, double rtol, double *atol)
{
    trust_atol(b, rtol, atol);
    return costate_new(m, P, &(costate_options){.rtol = rtol, .atol_vector = atol, .max_steps = TRUST_STEPS,
                                                .autonomous = b->autonomous});
}

static int tight(const char *method, double rtol, const costate_problem *P, direction *d, product *found)
{
    double atol[MOST];
    product error;
    int steps;
    costate *c = solver(costate_method_find(method), P, d->b, rtol, atol);
    int status = estimated(c, d, found, &error, &steps);
    costate_free(c);
    return status;
}

static reference reference_of(const costate_problem *P, direction *d)
{
    const problem *b = d->b;
    reference r = {0};
    product other;
    r.status = tight(b->stiff ? "radau2a7" : "verner98", TIGHT, P, d, &r.exact);
    if (!r.status) r.status = tight(b->stiff ? "radau2a5" : "dopri853", CONFIRMING, P, d, &other);
    if (r.status) return r;
    r.unsure[0] = distance(b->P.n, other.y0, r.exact.y0) / norm(b->P.n, r.exact.y0);
    r.unsure[1] = distance(b->P.np, other.p, r.exact.p) / norm(b->P.np, r.exact.p);
    return r;
}

/* of both parts, relative; NaN where a part is zero */
static void true_errors(const problem *b, const product *found, const product *exact, double *errors)
{
    errors[0] = distance(b->P.n, found->y0, exact->y0) / norm(b->P.n, exact->y0);
    errors[1] = distance(b->P.np, found->p, exact->p) / norm(b->P.np, exact->p);
}

/* One row: relative errors of both parts of the product, true and estimated. */
static void accuracy(const costate_method *m, const costate_method_info *about, const costate_problem *P, direction *d,
                const reference *r, double rtol)
{
    const problem *b = d->b;
    double atol[MOST], errors[2];
    product found, error;
    int steps;
    costate *c = solver(m, P, b, rtol, atol);
    json j = {.file = stdout};
    int status = r->status ? r->status : estimated(c, d, &found, &error, &steps);
    row_of(&j, "products", b->name, about, rtol, c, status);
    if (status == COSTATE_OK) {
        const double estimates[] = {norm(b->P.n, error.y0) / norm(b->P.n, r->exact.y0),
                                    norm(b->P.np, error.p) / norm(b->P.np, r->exact.p)};
        true_errors(b, &found, &r->exact, errors);
        json_count(&j, "steps", steps);
        json_numbers(&j, "errors", 2, errors);
        json_numbers(&j, "estimates", 2, estimates);
        json_numbers(&j, "unsure", 2, r->unsure);
    }
    json_end(&j);
    costate_free(c);
}

/* One row: a product to a tolerance, with the gradient with respect to y(0), from a solver that begins with
   rtol = 1e-6. */
static void goal(const costate_method *m, const costate_method_info *about, const costate_problem *P, direction *d,
                 const reference *r, double tol)
{
    const problem *b = d->b;
    double y[MOST] = {0}, by_y0[MOST], atol[MOST], errors[2];
    product found;
    costate_goal G = {.tol = tol, .estimate = {.run.y0 = by_y0, .products.run = {found.y0, found.p}}};
    const costate_functional F = functional_of(d);
    costate *c = solver(m, P, b, 1e-6, atol);
    json j = {.file = stdout};
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
    int status = r->status ? r->status : costate_gradient_within(c, b->t0, b->t1, y, b->p0, &F, &G, NULL);
    row_of(&j, "product goal", b->name, about, tol, c, status);
    json_count(&j, "rounds", G.rounds);
    json_number(&j, "rtol", G.rtol);
    if (status == COSTATE_OK) {
        true_errors(b, &found, &r->exact, errors);
        json_number(&j, "worst", G.worst);
        json_number(&j, "error", fmax(errors[0], errors[1]) / tol);     /* without a part that is zero */
    }
    json_end(&j);
    costate_free(c);
}

static int is_goal_method(const char *name)
{
    for (size_t k = 0; k < sizeof goal_methods / sizeof *goal_methods; k++)
        if (strcmp(name, goal_methods[k]) == 0) return 1;
    return 0;
}

void trust_products(const choice *only, int to_goal)
{
    const double loosest = to_goal ? 1e-3 : 1e-2, tightest = to_goal ? 1e-5 : 1e-6;
    const problem *b;
    for (int k = 0; (b = problem_at(k)) != NULL; k++) {
        if (b->reference == NULL || b->P.n + b->P.nq > MOST || !chosen(only->task, b->name)) continue;
        costate_problem P = b->P;
        P.rhs.adjoint_tangent2 = formula_rhs_adjoint_tangent2;
        P.cost.adjoint_tangent2 = P.nq ? formula_cost_adjoint_tangent2 : NULL;
        direction d;
        direct(&d, b);
        const reference r = reference_of(&P, &d);
        for (int i = 0; i < costate_method_count(); i++) {
            const costate_method *m = costate_method_at(i);
            costate_method_info about;
            if (costate_method_describe(m, &about) != COSTATE_OK || !trust_fits(&about, b)) continue;
            if (!chosen(only->method, about.name) || (to_goal && !is_goal_method(about.name))) continue;
            for (double rtol = loosest; rtol > 0.9 * tightest; rtol *= 0.01)
                if (chosen_rtol(only, rtol)) (to_goal ? goal : accuracy)(m, &about, &P, &d, &r, rtol);
            fflush(stdout);
        }
    }
}
