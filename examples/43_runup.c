/* 43_runup.c - how high does a wave run up a beach, and which part of the bathymetry decides it?

   examples/beach.eq is a finite volume scheme for the shallow-water equations that keeps water heights from becoming
   negative, if steps of a strong stability preserving method satisfy a CFL condition: ssp33 with options.step_bound.
   problem.after_step removes what round-off leaves: heights below zero, and the velocity of films thinner than a
   micrometre. A solitary wave of 0.3 m in water of 1 m runs up a beach of 1:20. The run-up is measured by

       R = log(integral of sum exp(s b_i) h_i/(h_i + 0.01) dt)/s

   the smooth maximum of the beds b_i that were wet. One sweep back gives dR/db_i for all cells, through limiters, wet
   and dry cells, the map after each step, and the initial values, which depend on b. It is compared with tangents of
   the same steps, and with differences of whole runs along smooth changes of the bathymetry.

       43_runup [DIRECTORY]       writes 43_runup.dat: x, bed, highest surface, and dR/db per metre of the beach */
#include "beach.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 400, N = 2 * CELLS };
static const double T = 20, LENGTH = 100, G = 9.81, FILM = 1e-6, CFL = 0.25;

/* ---- water that is not there ---- */

static int is_film(const double *y, int i) { return y[2 * i] < FILM; }

static int acts(const costate_point *x, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < CELLS; i++)
        if (is_film(x->y, i) && (x->y[2 * i] < 0 || x->y[2 * i + 1] != 0)) return 1;
    return 0;
}

/* the factors of h and q of a cell: 1 or 0 */
static void factors(const double *y, int i, double *h, double *q)
{
    *h = y[2 * i] >= 0;
    *q = !is_film(y, i);
}

static int dry(const costate_point *x, double *out, void *ctx)
{
    double h, q;
    for (int i = 0; i < CELLS; i++) {
        factors(x->y, i, &h, &q);
        out[2 * i] = h * x->y[2 * i];
        out[2 * i + 1] = q * x->y[2 * i + 1];
    }
    return (void)ctx, 0;
}

static int dry_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    double h, q;
    for (int i = 0; i < CELLS; i++) {
        factors(x->y, i, &h, &q);
        out[2 * i] = dx->y ? h * dx->y[2 * i] : 0;
        out[2 * i + 1] = dx->y ? q * dx->y[2 * i + 1] : 0;
    }
    return (void)ctx, 0;
}

static int dry_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double h, q;
    for (int i = 0; g->y && i < CELLS; i++) {
        factors(x->y, i, &h, &q);
        g->y[2 * i] += h * w[2 * i];
        g->y[2 * i + 1] += q * w[2 * i + 1];
    }
    return (void)ctx, 0;
}

/* the longest step in which no cell loses more water than it has */
static int cfl(const costate_point *x, double *h, void *ctx)
{
    double fastest = 0;
    (void)ctx;
    for (int i = 0; i < CELLS; i++) {
        double depth = fmax(x->y[2 * i], 0), velocity = depth > FILM ? fabs(x->y[2 * i + 1]) / fmax(depth, 1e-3) : 0;
        fastest = fmax(fastest, velocity + sqrt(G * depth));
    }
    *h = CFL * (LENGTH / CELLS) / fastest;
    return 0;
}

/* ---- runs ---- */

typedef struct {
    beach_grid *grid;
    costate_problem problem;
    costate *c;
    costate_tape *tape;
    double *p, *y, *lambda, *mu, *V, *Vp;
    double least, top[CELLS];                   /* smallest height, highest surface of each cell */
} shore;

static double bed(const shore *s, int i) { return s->p[beach_parameter(s->grid, beach_bed, i)]; }

static int see(const costate_step *step, void *ctx)
{
    shore *s = ctx;
    const double *y = costate_step_state(step);
    for (int i = 0; i < CELLS; i++) {
        s->least = fmin(s->least, y[2 * i]);
        if (y[2 * i] > 1e-2) s->top[i] = fmax(s->top[i], y[2 * i] + bed(s, i));
    }
    return 0;
}

/* R; NAN: the run failed */
static double runup(shore *s, costate_tape *tape)
{
    beach_start(s->grid, 0, s->p, s->y);
    int status = costate_integrate(s->c, 0, T, s->y, s->p, tape);
    if (status != COSTATE_OK) puts(costate_message(s->c));
    return status == COSTATE_OK ? log(s->y[N]) / s->p[beach_sharp] : NAN;
}

/* mu: dR/dp, over the tape of a run with this R */
static int gradient(shore *s, double R)
{
    const double sharp = s->p[beach_sharp];
    const costate_point start = {.t = 0, .p = s->p};
    memset(s->lambda, 0, (N + 1) * sizeof *s->lambda);
    s->lambda[N] = exp(-sharp * R) / sharp;
    int status = costate_adjoint(s->c, s->tape, 1, s->lambda, s->mu, NULL, NULL);
    if (status != COSTATE_OK) return puts(costate_message(s->c)), 1;
    return beach_start_map(s->grid)->adjoint(&start, s->lambda, &(costate_gradient){.p = s->mu}, s->grid);
}

/* a bar of 1 m (times its derivative) around x = at, in b */
static void bar(const shore *s, double at, double *b)
{
    memset(b, 0, (size_t)s->problem.np * sizeof *b);
    for (int i = 0; i < CELLS; i++)
        b[beach_parameter(s->grid, beach_bed, i)] = exp(-pow(((i + 0.5) * LENGTH / CELLS - at) / 5, 2));
}

/* dR along Vp by tangents of the same steps */
static double along(shore *s, double R)
{
    const costate_point start = {.t = 0, .p = s->p};
    memset(s->V, 0, (N + 1) * sizeof *s->V);
    if (beach_start_map(s->grid)->tangent(&start, &(costate_point){.p = s->Vp}, s->V, s->grid) ||
        costate_tangent(s->c, s->tape, 1, s->V, s->Vp, NULL, NULL)) return NAN;
    return s->V[N] * exp(-s->p[beach_sharp] * R) / s->p[beach_sharp];
}

/* dR along Vp by runs that are e away */
static double difference(shore *s, double e)
{
    double R[2];
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < s->problem.np; i++) s->p[i] += (side ? -2 * e : e) * s->Vp[i];
        R[side] = runup(s, NULL);
    }
    for (int i = 0; i < s->problem.np; i++) s->p[i] += e * s->Vp[i];
    return (R[0] - R[1]) / (2 * e);
}

static int shore_new(shore *s)
{
    static const costate_map map = {.value = dry, .tangent = dry_tangent, .adjoint = dry_adjoint};
    memset(s, 0, sizeof *s);
    if (!(s->grid = beach_new(CELLS))) return 1;
    s->problem = *beach_problem(s->grid);
    s->problem.after_step = (costate_after_step){.map = map, .acts = acts};
    const costate_options options = {.rtol = 1e-4, .atol = 1e-6, .step_bound = cfl, .on_step = see, .on_step_ctx = s};
    s->c = costate_new(costate_method_find("ssp33"), &s->problem, &options);
    s->tape = costate_tape_new();
    double **const all[] = {&s->p, &s->y, &s->lambda, &s->mu, &s->V, &s->Vp};
    for (int k = 0; k < 6; k++)
        if (!(*all[k] = calloc((size_t)(N + 1 + s->problem.np), sizeof(double)))) return 1;
    beach_defaults(s->grid, s->p);
    for (int i = 0; i < CELLS; i++) s->top[i] = -HUGE_VAL;
    return !s->c || !s->tape;
}

static void shore_free(shore *s)
{
    costate_tape_free(s->tape);
    costate_free(s->c);
    beach_free(s->grid);
    double *const all[] = {s->p, s->y, s->lambda, s->mu, s->V, s->Vp};
    for (int k = 0; k < 6; k++) free(all[k]);
}

static double volume(const double *y)
{
    double sum = 0;
    for (int i = 0; i < CELLS; i++) sum += y[2 * i] * LENGTH / CELLS;
    return sum;
}

static int write_shore(const shore *s, const char *directory)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/43_runup.dat", directory);
    FILE *out = fopen(path, "w");
    if (!out) return perror(path), 1;
    for (int i = 0; i < CELLS; i++)
        fprintf(out, "%g %.4f %.4f %.5e\n", (i + 0.5) * LENGTH / CELLS, bed(s, i), fmax(s->top[i], bed(s, i)),
                s->mu[beach_parameter(s->grid, beach_bed, i)] * CELLS / LENGTH);
    return fclose(out);
}

int main(int argc, char **argv)
{
    static const double bars[] = {45, 55, 62};
    shore s;
    if (shore_new(&s)) return puts("no memory"), 1;
    beach_start(s.grid, 0, s.p, s.y);
    double before = volume(s.y), R = runup(&s, s.tape), highest = -1, gap = 0, off = 0;
    for (int i = CELLS / 2; i < CELLS; i++) if (s.top[i] > -1) highest = fmax(highest, bed(&s, i));
    printf("%d steps; smallest height %.1g m, water lost %.0e\n", costate_tape_steps(s.tape), s.least,
           fabs(volume(s.y) / before - 1));
    printf("highest bed under a centimetre of water %.2f m, R %.4f m\n", highest, R);
    int failed = gradient(&s, R);
    if (argc > 1) failed |= write_shore(&s, argv[1]);
    puts("bar at   dR/dbar   of tangents   of runs");
    for (int k = 0; k < 3 && !failed; k++) {
        double by_sweep = 0;
        bar(&s, bars[k], s.Vp);
        for (int i = 0; i < s.problem.np; i++) by_sweep += s.mu[i] * s.Vp[i];
        double by_tangent = along(&s, R), by_runs = difference(&s, 0.01);
        printf("%4.0f m %10.4f %12.4f %10.4f\n", bars[k], by_sweep, by_tangent, by_runs);
        gap = fmax(gap, fabs(by_tangent / by_sweep - 1));
        off = fmax(off, fabs(by_runs - by_sweep));
    }
    printf("largest relative gap of tangents %.0e\n", gap);
    failed |= !(s.least >= 0 && gap < 1e-10 && off < 0.05);
    shore_free(&s);
    return failed;
}
