/* compute.c - what the page that computes calls: one run of a model in byte code, the gradient of a component at its
   end with respect to all parameters, and the estimated errors of both.

   The parameters act on the equations and on the initial values y0 = s(t0, p).  With lambda0 and mu of the adjoint
   sweep the gradient is mu + s_p^T lambda0, and so are its errors, because this is linear. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <costate/accuracy.h>
#include <costate/program.h>
#include "compute.h"

enum { ROWS = 256 };                        /* that memory begins with */

struct computation {
    costate_program *program;
    const costate_problem *problem;
    int width, component, pieces;           /* N; of y at the end; rows in each step */
    double *curve, *result, *y, *y0;        /* rows (t, y); see compute.h; N values of work */
    int rows, room;
    const char *message;
    char text[1024];
};

/* ---- the model ---- */

static int reserve(computation *c)
{
    const size_t N = (size_t)c->width, np = (size_t)c->problem->np;
    c->result = calloc(COMPUTE_GRADIENT + 2 * np, sizeof *c->result);
    c->y = calloc(N, sizeof *c->y);
    c->y0 = calloc(2 * N, sizeof *c->y0);
    return c->result && c->y && c->y0;
}

computation *compute_new(const unsigned char *bytes, int size)
{
    computation *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->program = costate_program_new(bytes, (size_t)size);
    c->message = costate_program_message(c->program);
    if (costate_program_status(c->program) != COSTATE_OK) return c;
    c->problem = costate_program_problem(c->program);
    c->width = c->problem->n + c->problem->nq + c->problem->nm;
    if (!reserve(c)) {
        compute_free(c);
        return NULL;
    }
    return c;
}

void compute_free(computation *c)
{
    if (!c) return;
    costate_program_free(c->program);
    free(c->curve);
    free(c->result);
    free(c->y);
    free(c->y0);
    free(c);
}

/* ---- the curve ---- */

/* the next row (t, y); NULL: no memory */
static double *row(computation *c)
{
    const size_t width = 1 + (size_t)c->width;
    if (c->rows == c->room) {
        const int room = c->room ? 2 * c->room : ROWS;
        double *more = realloc(c->curve, (size_t)room * width * sizeof *more);
        if (!more) return NULL;
        c->curve = more;
        c->room = room;
    }
    double *at = c->curve + (size_t)c->rows++ * width;
    for (size_t k = 0; k < width; k++) at[k] = NAN;        /* running costs are known at the ends of steps */
    return at;
}

static int after_step(const costate_step *s, void *ctx)
{
    computation *c = ctx;
    const double a = costate_step_start(s), b = costate_step_end(s);
    for (int k = 1; k <= c->pieces; k++) {
        double *at = row(c);
        if (!at) return 1;
        at[0] = k < c->pieces ? a + (b - a) * k / c->pieces : b;
        if (k == c->pieces) memcpy(at + 1, costate_step_state(s), (size_t)c->width * sizeof *at);
        else if (costate_step_eval(s, at[0], at + 1)) return 1;
    }
    return 0;
}

/* ---- the gradient and its errors ---- */

static int component_at_end(double t1, const double *y, const double *p, int m, double *value, double *lambda,
                            double *mu, double *end, void *ctx)
{
    const computation *c = ctx;
    (void)t1, (void)p, (void)m, (void)mu, (void)end;
    *value = y[c->component];
    lambda[c->component] = 1;
    return 0;
}

static void no_errors(computation *c)
{
    const int np = c->problem->np;
    c->result[COMPUTE_ERROR] = NAN;
    for (int k = 0; k < np; k++) c->result[COMPUTE_GRADIENT + np + k] = NAN;
}

/* of the initial values: g += s_p^T lambda0 */
static int through_start(computation *c, double t0, const double *p, const double *lambda0, double *g)
{
    const costate_gradient to = {.p = g};
    return costate_program_start(c->program)->adjoint(&(costate_point){.t = t0, .p = p}, lambda0, &to, c->problem->ctx);
}

static int sweeps(computation *c, costate *solver, const costate_tape *tape, double t0, const double *p)
{
    const int N = c->width, np = c->problem->np;
    double *r = c->result, *lambda = c->y0, *error = c->y0 + N, *gradient = r + COMPUTE_GRADIENT;
    r[COMPUTE_VALUE] = c->y[c->component];
    lambda[c->component] = 1;
    int status = costate_adjoint(solver, tape, 1, lambda, gradient, NULL, NULL);
    if (status == COSTATE_OK) status = through_start(c, t0, p, lambda, gradient);
    if (status != COSTATE_OK) return status;
    const costate_functional functional = {.m = 1, .at_end = component_at_end, .ctx = c};
    costate_estimate estimate = {.error = {.value = r + COMPUTE_ERROR, .y0 = error, .p = gradient + np}};
    status = costate_accuracy(solver, tape, &functional, &estimate);
    if (status == COSTATE_OK) status = through_start(c, t0, p, error, gradient + np);
    if (status != COSTATE_OK) no_errors(c);     /* also numbers that the third run of costate_accuracy contradicts */
    return status;
}

/* ---- a run ---- */

static void clear(computation *c)
{
    const size_t N = (size_t)c->width, np = (size_t)c->problem->np;
    c->rows = 0;
    memset(c->y0, 0, 2 * N * sizeof *c->y0);
    memset(c->result, 0, (COMPUTE_GRADIENT + np) * sizeof *c->result);
    no_errors(c);
}

static int run(computation *c, costate *solver, costate_tape *tape, const double *span, const double *p)
{
    double *first = row(c);
    if (!first) return COSTATE_NO_MEMORY;
    costate_program_start(c->program)->value(&(costate_point){.t = span[0], .p = p}, c->y, c->problem->ctx);
    first[0] = span[0];
    memcpy(first + 1, c->y, (size_t)c->width * sizeof *first);
    int status = costate_integrate(solver, span[0], span[1], c->y, p, tape);
    const costate_stats *s = costate_get_stats(solver);
    const double counts[] = {s->accepted, s->rejected, s->f, s->jac, s->decompositions + s->complex_decompositions,
                             s->newton};
    memcpy(c->result + COMPUTE_COUNTS, counts, sizeof counts);
    if (status == COSTATE_OK) {
        c->result[COMPUTE_DONE] = 1;
        status = sweeps(c, solver, tape, span[0], p);
    }
    return status;
}

static int say(computation *c, const char *text)
{
    strncpy(c->text, text, sizeof c->text - 1);
    c->message = c->text;
    return COSTATE_BAD_ARGUMENT;
}

int compute_run(computation *c, const char *method, int component, double t0, double t1, double rtol, double atol,
                const double *p, int pieces)
{
    if (!c->problem) return costate_program_status(c->program);
    if (component < 0 || component >= c->width) return say(c, "There is no such component.");
    c->component = component;
    c->pieces = pieces;
    clear(c);
    const costate_method *known = costate_method_find(method);
    if (!known) return say(c, "There is no method of this name in the module of this page.");
    const costate_options options = {.rtol = rtol, .atol = atol, .max_steps = COMPUTE_MOST_STEPS,
                                     .on_step = after_step, .on_step_ctx = c};
    costate *solver = costate_new(known, c->problem, &options);
    costate_tape *tape = costate_tape_new();
    int status = solver && tape ? run(c, solver, tape, (double[]){t0, t1}, p) : COSTATE_NO_MEMORY;
    say(c, solver ? costate_message(solver) : "No memory for a solver.");
    costate_tape_free(tape);
    costate_free(solver);
    return status;
}

/* ---- what is known ---- */

const char *compute_message(const computation *c) { return c->message; }
int compute_rows(const computation *c) { return c->rows; }
const double *compute_curve(const computation *c) { return c->curve; }
const double *compute_result(const computation *c) { return c->result; }
int compute_methods(void) { return costate_method_count(); }

const char *compute_method(int k)
{
    costate_method_info info = {0};
    return costate_method_describe(costate_method_at(k), &info) == COSTATE_OK ? info.name : "";
}
