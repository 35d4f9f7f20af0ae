/* swe_demo.c - the demonstration: all families forward, their tangents and adjoints, data for two pictures. */
#include "swe_demo.h"

#include <costate/costate.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "swe_run.h"

enum { CELLS = 40 };

static const char *const forward_methods[] = {
    "dopri5", "dopri853", "trbdf2", "sdirk4a", "radau2a", "ros4", "rodas4"
};
static const char *const derivative_methods[] = {"dopri5", "sdirk4a", "radau2a", "rodas4"};   /* one a family */
#define LENGTH(list) ((int)(sizeof(list) / sizeof((list)[0])))
static const char *const mode_names[] = {"forward", "tangent", "adjoint"};

/* ---- the table ---------------------------------------------------------------------------------------------- */

typedef struct { int done, all, terminal; } progress;

static void announce(progress *p, const char *method, int mode)
{
    p->done++;
    if (p->terminal) fprintf(stderr, "\r%2d/%d  %-10s %-8s", p->done, p->all, method, mode_names[mode]);
}
static void hide(const progress *p)
{
    if (p->terminal) fprintf(stderr, "\r%40s\r", "");
}

static const char *family_name(const char *method)
{
    static const char *const names[] = {"erk", "sdirk", "firk", "ros", "rkc"};
    costate_method_info info;
    if (costate_method_describe(costate_method_find(method), &info) != COSTATE_OK) return "?";
    return names[info.family];
}

static void head(void)
{
    printf("%-9s %-6s %-8s %-8s %6s %4s %6s %5s %7s %6s %9s %9s %9s\n", "method", "family", "solver", "mode", "steps",
           "rej", "f", "jac", "decomp", "solve", "forward s", "backwd s", "error");
}

static void line(const swe_task *task, const swe_result *r)
{
    const costate_stats *s = &r->stats;
    printf("%-9s %-6s %-8s %-8s %6ld %4ld %6ld %5ld %7ld %6ld %9.4f ", task->method, family_name(task->method),
           r->solver, mode_names[task->mode], s->steps, s->rejected, s->f, s->jac,
           s->decompositions + s->complex_decompositions, s->solves + s->complex_solves, r->forward);
    if (task->mode == SWE_ADJ) printf("%9.4f ", r->backward);
    else printf("%9s ", "-");
    printf("%9.1e\n", r->error);
    fflush(stdout);
}

/* One line of the table; 0 when it went well. */
static int show(progress *p, const swe_task *task)
{
    swe_result r;
    announce(p, task->method, task->mode);
    int status = swe_run(task, &r);
    hide(p);
    if (status == COSTATE_OK) line(task, &r);
    else printf("%-9s %s\n", task->method, r.message);
    swe_result_free(&r);
    return status != COSTATE_OK;
}

static int table(swe_task task)
{
    progress p = {0, LENGTH(forward_methods) + 2 * LENGTH(derivative_methods), isatty(2)};
    int failures = 0;
    head();
    for (int k = 0; k < LENGTH(forward_methods); k++) {
        task.method = forward_methods[k];
        task.mode = SWE_FORWARD;
        failures += show(&p, &task);
    }
    for (int k = 0; k < LENGTH(derivative_methods); k++)
        for (task.mode = SWE_TLM; task.mode <= SWE_ADJ; task.mode++) {
            task.method = derivative_methods[k];
            failures += show(&p, &task);
        }
    return failures;
}

/* ---- the pictures --------------------------------------------------------------------------------------------- */

/* x y value in blocks of constant x, for gnuplot; z: one value a cell.  shift: cell (0,0) goes to the middle. */
static int write_grid(const char *directory, const char *name, const double *z, int shift)
{
    char path[1024];
    double d = 6.0 / (CELLS - 1);
    int s = shift ? CELLS / 2 : 0;
    FILE *file;
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path) return 1;
    file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "swe: cannot write %s\n", path);
        return 1;
    }
    for (int i = 0; i < CELLS; i++) {
        for (int j = 0; j < CELLS; j++) {
            double x = shift ? (i - s) * d : -3 + (i + 1) * d, y = shift ? (j - s) * d : -3 + (j + 1) * d;
            fprintf(file, "%.6g %.6g %.9g\n", x, y, z[(i + s) % CELLS * CELLS + (j + s) % CELLS]);
        }
        fputc('\n', file);
    }
    return fclose(file) != 0;
}

static int picture(swe_task task, const char *directory, const char *name)
{
    swe_result r;
    task.no_error = 1;
    int status = swe_run(&task, &r), failed = status != COSTATE_OK;
    if (failed) fprintf(stderr, "swe: %s\n", r.message);
    else failed = write_grid(directory, name, r.result, task.mode == SWE_ADJ);
    swe_result_free(&r);
    return failed;
}

int swe_demo(const char *directory, const char *reference)
{
    swe_task task = {.nx = CELLS, .tf = 0.011, .rtol = 1e-6, .repeat = 1, .reference = reference};
    printf("Shallow water, %d x %d cells (%d unknowns): a hump of water spreads, t from 0 to %g, rtol = atol = %g.\n"
           "0.011 is the interval of FATODE's paper (Zhang and Sandu, SIAM J. Sci. Comput. 36, 2014), for comparison:\n"
           "the wave moves by 0.34, two cells.  The pictures are of t = 0.05, when it is half way to the boundary.\n"
           "tangent: dy(tf)/dy_1(0); adjoint: gradient of y_1(tf) with respect to all initial values.\n"
           "error: relative, 2-norm, against a converged reference of the differential equation.\n\n",
           CELLS, CELLS, 3 * CELLS * CELLS, task.tf, task.rtol);
    int failures = table(task);
    task.method = "dopri5";
    task.tf = 0.05;
    failures += picture(task, directory, "height.dat");
    task.mode = SWE_ADJ;
    failures += picture(task, directory, "sensitivity.dat");
    return failures ? 1 : 0;
}
