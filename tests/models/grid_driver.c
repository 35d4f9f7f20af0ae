/* grid_driver.c - checks of one generated model on a grid: maps, pattern, runs; for grids.py.

   NAME refused SIZES...    the model refuses these sizes
   NAME right SIZES...      costate_check_problem, _adjoint and _hessian find nothing wrong */
#include HEADER

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
    OF(NAME, _free)(grid);
    OF(NAME, _free)(NULL);
    free(y);
    free(p);
    return status;
}
