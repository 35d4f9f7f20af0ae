/* grid_driver.c - checks of one generated model on a grid: maps, pattern, runs; for grids.py.

   NAME refused SIZES...    the model refuses these sizes
   NAME right SIZES...      costate_check_problem, _adjoint and _hessian find nothing wrong; with SPLITTING, also in
                            runs of auto with NAME_splitting, whose values and gradients are those of rodas5p */
#include HEADER

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOINED(a, b) a##b
#define OF(name, what) JOINED(name, what)

#ifndef SCALE                     /* where the state must stay away from kinks */
#define SCALE 1
#define LIFT 0
#endif

static const char *const methods[] = {"dopri5", "rodas5p", "radau2a"};

/* l = y + 1, and its derivative along each direction */
static int seed(double t, const double *y, const double *p, int m, const double *V, const double *Vp, double *l,
                double *mu, double *l2, double *mu2, void *ctx)
{
    const costate_problem *P = ctx;
    const int N = P->n + P->nq;
    for (int i = 0; i < N; i++) {
        l[i] = i < P->n ? y[i] + 1 : 1;
        for (int j = 0; j < m; j++) l2[j * N + i] = i < P->n ? V[j * N + i] : 0;
    }
    return (void)t, (void)p, (void)Vp, (void)mu, (void)mu2, 0;
}

static int wrong(const char *what, const char *text)
{
    printf("%s: %s\n", what, text);
    return 1;
}

static int unsorted(const costate_pattern *S)
{
    for (int c = 0; c < S->n; c++)
        for (int e = S->col[c] + 1; e < S->col[c + 1]; e++)
            if (S->row[e] <= S->row[e - 1]) return 1;
    return 0;
}

static int check_runs(const costate_problem *P, const double *y, const double *p)
{
    for (size_t k = P->mass ? 1 : 0; k < sizeof methods / sizeof *methods; k++) {       /* the first is explicit */
        costate_options o = {.rtol = 1e-7, .atol = 1e-9, .consistent = P->mass ? COSTATE_CONSISTENT_START : 0};
        costate_report r;
        costate *c = costate_new(costate_method_find(methods[k]), P, &o);
        if (costate_check_adjoint(c, 0, 0.02, y, p, &r)) return wrong(methods[k], r.text);
        if (!(r.transpose <= 1e-12)) return wrong(methods[k], "adjoint and tangent are no transposes");
        if (costate_check_hessian(c, 0, 0.02, y, p, seed, (void *)P, &r)) return wrong(methods[k], r.text);
        if (!(r.symmetry <= 1e-12)) return wrong(methods[k], "the Hessian is not symmetric");
        costate_free(c);
    }
    return 0;
}

#ifdef SPLITTING
static int sum(double t, const double *y, const double *p, int m, double *lambda, double *mu, void *ctx)
{
    const costate_problem *P = ctx;
    for (int i = 0; i < P->n; i++) lambda[i] = 1;
    return (void)t, (void)y, (void)p, (void)m, (void)mu, 0;
}

/* out (n + np): y at the end, without running costs, and the gradient of its sum with respect to y(0) */
static int gradient(costate *c, const costate_problem *P, const double *y, const double *p, double *out)
{
    const size_t n = (size_t)P->n, N = n + (size_t)P->nq;
    double *at = calloc(2 * N, sizeof *at);
    memcpy(at, y, n * sizeof *at);
    int status = costate_integrate_adj(c, 0, 0.02, at, p, 1, at + N, NULL, NULL, sum, (void *)P);
    memcpy(out, at, n * sizeof *out);
    memcpy(out + n, at + N, n * sizeof *out);
    free(at);
    return status ? wrong("gradient", costate_message(c)) : 0;
}

static double apart(int n, const double *a, const double *b)
{
    double gap = 0, size = 0;
    for (int i = 0; i < n; i++) {
        gap = fmax(gap, fabs(a[i] - b[i]));
        size = fmax(size, fabs(b[i]));
    }
    return gap / size;
}

static int check_splitting(const costate_problem *P, costate_splitting *s, const double *y, const double *p)
{
    const costate_options o = {.rtol = 1e-7, .atol = 1e-9, .preconditioner = costate_splitting_preconditioner(s)},
                          plain = {.rtol = 1e-9, .atol = 1e-11};
    costate *c = costate_new(NULL, P, &o), *exact = costate_new(costate_method_find("rodas5p"), P, &plain);
    double *found = calloc(4 * (size_t)P->n, sizeof *found), *right = found + 2 * P->n;
    costate_report r;
    int failed = 1;
    if (gradient(c, P, y, p, found) || gradient(exact, P, y, p, right)) goto end;
    if (costate_get_stats(c)->jac || !costate_get_stats(c)->solves) {
        wrong("splitting", "auto did not take it");
        goto end;
    }
    failed = !(apart(P->n, found, right) <= 1e-5 && apart(P->n, found + P->n, right + P->n) <= 1e-5)
             ? wrong("splitting", "values or gradients are not those of rodas5p") : 0;
    if (!failed && costate_check_adjoint(c, 0, 0.02, y, p, &r)) failed = wrong("splitting", r.text);
    if (!failed && !(r.transpose <= 1e-12)) failed = wrong("splitting", "adjoint and tangent are no transposes");
    if (!failed && costate_check_hessian(c, 0, 0.02, y, p, seed, (void *)P, &r)) failed = wrong("splitting", r.text);
    if (!failed && costate_check_matrix(c, 0, 1e-3, y, p, &r)) failed = wrong("splitting", r.text);
end:
    costate_free(c);
    costate_free(exact);
    free(found);
    return failed;
}
#endif

static int check(const costate_problem *P, const costate_map *start, double *y, const double *p)
{
    costate_point x = {.t = 0.3, .y = y, .p = p};
    costate_report rhs, cost;
    int status = costate_check_problem(P, &x, &rhs, &cost);
    if (status) return wrong(rhs.text, cost.text);
    if (unsorted(P->pattern)) return wrong("pattern", "not sorted");
    if (costate_check_map(start, P->n, P->np, P->n + P->nq, &x, P->ctx, &rhs)) return wrong("start", rhs.text);
    return check_runs(P, y, p);
}

int main(int count, char **arguments)
{
    int size[3] = {0};
    for (int k = 2; k < count && k < 5; k++) size[k - 2] = atoi(arguments[k]);
    OF(NAME, _grid) *grid = OF(NAME, _new)(SIZES);
    (void)size;
    if (!strcmp(arguments[1], "refused")) return grid ? wrong("size", "not refused") : 0;
    if (!grid) return wrong("size", "refused");
    const costate_problem *P = OF(NAME, _problem)(grid);
    double *y = calloc((size_t)(P->n + P->nq), sizeof *y), *p = calloc((size_t)P->np + 1, sizeof *p);
#ifdef DEFAULTS
    OF(NAME, _defaults)(grid, p);
#endif
    OF(NAME, _start)(grid, 0, p, y);
    for (int i = 0; i < P->n; i++) y[i] = SCALE * y[i] + LIFT + 0.3 * ((i * 7 + 3) % 11) / 11;    /* not symmetric */
    int status = check(P, OF(NAME, _start_map)(grid), y, p);
#ifdef SPLITTING
    costate_splitting *s = OF(NAME, _splitting)(grid);
    if (!status && costate_splitting_status(s)) status = wrong("splitting", costate_splitting_message(s));
    if (!status) status = check_splitting(P, s, y, p);
    costate_splitting_free(s);
#endif
    OF(NAME, _free)(grid);
    OF(NAME, _free)(NULL);
    free(y);
    free(p);
    return status;
}
