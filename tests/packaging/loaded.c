/* loaded.c - a program of an installed library runs with a method that it loads, and with its twin that is built in:

       loaded FILE [TWIN]       prints the name of the method, then "good" */
#include <costate/pieces.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 2, BYTES = 4096 };

/* Lotka and Volterra: y0' = y0 (1 - y1),  y1' = y1 (y0 - p0), with all products */
static const costate_term motion[] = {
    {0, -1, COSTATE_STATE, 0, 0, COSTATE_STATE, 1, 1, 0}, {1, 1, COSTATE_STATE, 1, 0, COSTATE_STATE, 0, 0, 0},
    {1, -1, COSTATE_STATE, 1, 0, COSTATE_PARAMETER, 0, 0, 0},
};

typedef struct { double y[N], lambda[N], mu, V[N], resumed[N]; int steps; } results;

static int good(costate *c, int status, const char *what)
{
    if (status != COSTATE_OK) printf("%s: %s\n", what, costate_message(c));
    return status == COSTATE_OK;
}

/* a run on a tape with its adjoint and tangent; and one in a file, which is read back and swept */
static int run(const costate_method *m, const costate_problem *P, results *r)
{
    const double p = 1.5, Vp = 1;
    costate_method_info info = {0};
    costate_options o = {.rtol = 1e-6, .atol = 1e-6};
    if (costate_method_describe(m, &info) != COSTATE_OK) return puts("no description"), 0;
    if (info.embedded == 0) o.controller = COSTATE_FIXED, o.h0 = 0.01;
    *r = (results){.y = {1.2, 0.7}, .lambda = {1, -2}, .V = {0.3, 0}};
    costate *c = costate_new(m, P, &o);
    costate_tape *tape = costate_tape_new(), *file = costate_tape_open("loaded.tape");
    int ok = good(c, costate_integrate(c, 0, 3, r->y, &p, tape), "run");
    ok = ok && good(c, costate_adjoint(c, tape, 1, r->lambda, &r->mu, NULL, NULL), "adjoint");
    ok = ok && good(c, costate_tangent(c, tape, 1, r->V, &Vp, NULL, NULL), "tangent");
    double left = r->V[0] - 2 * r->V[1], right = 0.3 * r->lambda[0] + r->mu;
    if (ok && !(fabs(left - right) <= 1e-12 * (fabs(left) + fabs(r->mu)))) ok = 0, puts("not transposed");
    double y[N] = {1.2, 0.7};
    ok = ok && good(c, costate_integrate(c, 0, 3, y, &p, file), "run onto a file");
    ok = ok && good(c, costate_resume(c, file, r->resumed), "resume");
    if (ok && memcmp(r->resumed, y, sizeof y)) ok = 0, puts("resumed to other bits");
    r->steps = costate_tape_steps(tape);
    costate_tape_free(file);
    costate_tape_free(tape);
    costate_free(c);
    remove("loaded.tape");
    return ok && (info.name ? puts(info.name) : 0) >= 0;
}

int main(int argc, char **argv)
{
    costate_formulas f = {.cost = {3, motion}};
    const costate_problem sizes = {.n = N, .np = 1, .nq = N};
    costate_event as_map;
    const costate_method *m, *twin = argc > 2 ? costate_method_find(argv[2]) : NULL;
    static costate_report report;
    results a, b;
    if (costate_formulas_event(&f, &sizes, &as_map, &report) != COSTATE_OK) return puts(report.text), 1;
    const costate_problem P = {.n = N, .np = 1, .ctx = &f, .rhs = as_map.cost};
    int status = costate_method_load(argv[1], &m, &report);
    if (status != COSTATE_OK) return printf("%s: %s\n", costate_status_name(status), report.text), m != NULL;
    int ok = run(m, &P, &a);
    if (ok && argc > 2) ok = twin && run(twin, &P, &b);
    if (ok && argc > 2 && memcmp(&a, &b, sizeof a)) ok = 0, puts("other bits than the twin");
    costate_method_unload(m);
    costate_method_unload(twin);
    costate_method_unload(NULL);
    return puts(ok ? "good" : "bad"), !ok;
}
