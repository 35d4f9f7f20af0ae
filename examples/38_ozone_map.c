/* 38_ozone_map.c - which emissions make the ozone of a region?  A gradient with respect to those of 100000 cells.

   In each cell of a map of 800 x 500 km the mechanism of models/smog runs from 6:00 to 18:00, while a constant wind
   carries all species and turbulence mixes them (periodic at the edges, which nothing reaches in half a day):

       c' = chemistry(t, c, e) - v . grad c + D Laplacian c

   e holds the emissions of NO and of HCHO, which stands for volatile organic compounds (VOC), of each cell.  Splitting
   (G. Strang, SIAM J. Numer. Anal. 5 (1968) 506-517) takes steps of 15 minutes: half of the transport, chemistry, the
   other half.  The chemistry of a step is an ensemble, one member a cell, which runs in lanes.  Transport is linear: a
   stencil along x and one along y.

   Wanted: the mean ozone of a region at the end, and its derivatives with respect to all emissions.  One pass back
   gives them: where the states went through a stencil, lambda goes through the transposed stencil; where they went
   through chemistry, the adjoints of the ensemble take lambda to the beginning of the step and add to mu.

   Compared: lanes with members one by one, bit for bit; the gradient with a tangent, which is the same number
   transposed; and with a central difference of the whole program, which also changes the steps.

       38_ozone_map [directory [cells along x]]      writes files for pictures there; a multiple of 40: 40, or 400 */
#include <costate/ensemble.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "smog.h"

enum { N = smog_states, K = smog_parameters, STEPS = 48, EMITTED = 2, CITIES = 3, LARGE = 10000 };
static const double side[2] = {800e3, 500e3}, wind[2] = {4, 1.5}, D = 100;                  /* m, m/s, m^2/s */
static const double begin = 6 * 3600.0, step = 900;                                         /* s */
static const double ppb = 2.46e10;                  /* molecules per cm^3, as CFACTOR/1000 of smog.def */
static const int emitted[EMITTED] = {smog_k_E1, smog_k_E2};         /* NO, VOC: molecules per cm^3 and s */
static const double region[2][2] = {{440e3, 520e3}, {200e3, 280e3}};

typedef struct { double x, y, radius, strength[EMITTED]; } city;
static const city cities[CITIES] = {{300e3, 170e3, 30e3, {1.2e7, 8e6}}, {460e3, 300e3, 20e3, {8e6, 5e6}},
                                    {400e3, 120e3, 25e3, {3e6, 1.5e7}}};
static const double everywhere[EMITTED] = {1e5, 6e5};

typedef struct {
    int nx, ny, cells;
    size_t states, parameters;                  /* of all cells */
    double along[2][4];                         /* the stencils of half a step */
    double *y, *p, *lambda, *mu, *V, *Vp, *work;
    double *kept;                               /* the states before the chemistry of each step */
    const costate_lane_maps *lanes;
    double seconds;                             /* of chemistry, of all cores together */
    char what[16];                              /* the pass, for progress */
} air;

/* of all cores together */
static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* the middle of cell i */
static double x_of(const air *z, int i) { return (i % z->nx + 0.5) * side[0] / z->nx; }
static double y_of(const air *z, int i) { return (i / z->nx + 0.5) * side[1] / z->ny; }

static int inside(const air *z, int i)
{
    double x = x_of(z, i), y = y_of(z, i);
    return x > region[0][0] && x < region[0][1] && y > region[1][0] && y < region[1][1];
}

/* ---- transport ---- */

/* Weights of c[i-2], c[i-1], c[i], c[i+1] in the new c[i]: Fromm's scheme (J. Comput. Phys. 3 (1968) 176-189), which is
   conservative and of second order, for the Courant number r = v h/dx, and explicit diffusion with d = D h/dx^2 */
static void stencil(double r, double d, double *w)
{
    double a = r * (1 - r) / 4;
    w[0] = -a;
    w[1] = r + a + d;
    w[2] = 1 - r + a - 2 * d;
    w[3] = d - a;
}

static int wrapped(int i, int n) { return (i + n) % n; }

/* along x (axis 0) or y (axis 1); transposed, a cell gives to those that it received from */
static void sweep(const air *z, int axis, int transposed, const double *c, double *out)
{
    const double *w = z->along[axis];
    for (int i = 0; i < z->cells; i++) {
        int column = i % z->nx, row = i / z->nx;
        const double *from[4];
        for (int k = 0; k < 4; k++) {
            int shift = transposed ? 2 - k : k - 2;
            from[k] = c + N * (axis ? wrapped(row + shift, z->ny) * z->nx + column
                                    : row * z->nx + wrapped(column + shift, z->nx));
        }
        for (int s = 0; s < N; s++)
            out[N * i + s] = w[0] * from[0][s] + w[1] * from[1][s] + w[2] * from[2][s] + w[3] * from[3][s];
    }
}

/* half a step */
static void transport(air *z, int transposed, double *c)
{
    sweep(z, transposed, transposed, c, z->work);
    sweep(z, !transposed, transposed, z->work, c);
}

/* ---- chemistry ---- */

/* of step k, with V or with lambda and mu if asked for */
static int chemistry(air *z, int k, int directions, int m)
{
    const costate_options options = {.rtol = 1e-4, .atol = 1e3, .backend = smog_backend()};
    costate_members all = {.count = z->cells, .t0 = begin + k * step, .t1 = begin + (k + 1) * step, .y = z->y,
                           .p = z->p, .directions = directions, .V = z->V, .Vp = z->Vp, .m = m, .lambda = z->lambda,
                           .mu = z->mu, .lanes = z->lanes};
    costate_ensemble_report report;
    double start = seconds();
    int status = costate_ensemble(costate_method_find("rodas4"), smog_problem(), &options, &all, &report);
    z->seconds += seconds() - start;
    if (status != COSTATE_OK) fprintf(stderr, "%s\n", report.text);
    if (z->cells > LARGE) fprintf(stderr, "\r%s: %d of %d, %.1f steps in each cell  ", z->what, k + 1, STEPS,
                                  (double)report.stats.accepted / z->cells);
    return status;
}

/* ---- the day, forward and back ---- */

/* of z->y, in ppb; weight: d mean/d O3 of each cell of the region */
static double mean_ozone(const air *z, double *weight)
{
    double sum = 0;
    int cells = 0;
    for (int i = 0; i < z->cells; i++) if (inside(z, i)) sum += z->y[N * i + smog_O3], cells++;
    *weight = 1 / (cells * ppb);
    return sum * *weight;
}

/* The mean ozone; or, with a tangent, its derivative along the direction Vp.  NAN: chemistry failed. */
static double forward(air *z, int tangent)
{
    double weight, slope = 0;
    memset(z->y, 0, z->states * sizeof *z->y);
    memset(z->V, 0, z->states * sizeof *z->V);
    for (int i = 0; i < z->cells; i++) smog_start(begin, z->p + K * i, z->y + N * i);
    for (int k = 0; k < STEPS; k++) {
        transport(z, 0, z->y);
        if (tangent) transport(z, 0, z->V);
        memcpy(z->kept + (size_t)k * z->states, z->y, z->states * sizeof *z->y);
        if (chemistry(z, k, tangent, 0) != COSTATE_OK) return NAN;
        transport(z, 0, z->y);
        if (tangent) transport(z, 0, z->V);
    }
    double mean = mean_ozone(z, &weight);
    for (int i = 0; i < z->cells; i++) if (inside(z, i)) slope += weight * z->V[N * i + smog_O3];
    return tangent ? slope : mean;
}

/* after forward: mu, the gradient of the mean with respect to p */
static int back(air *z)
{
    double weight;
    mean_ozone(z, &weight);
    memset(z->lambda, 0, z->states * sizeof *z->lambda);
    memset(z->mu, 0, z->parameters * sizeof *z->mu);
    for (int i = 0; i < z->cells; i++) if (inside(z, i)) z->lambda[N * i + smog_O3] = weight;
    for (int k = STEPS - 1; k >= 0; k--) {
        transport(z, 1, z->lambda);
        memcpy(z->y, z->kept + (size_t)k * z->states, z->states * sizeof *z->y);
        if (chemistry(z, k, 0, 1) != COSTATE_OK) return 1;
        transport(z, 1, z->lambda);
    }
    return 0;
}

/* Ozone at the end goes to `ozone`, if there is one. */
static double ozone_and_gradient(air *z, const costate_lane_maps *lanes, double *ozone)
{
    z->lanes = lanes;
    z->seconds = 0;
    strcpy(z->what, "forward");
    double mean = forward(z, 0), first = z->seconds, each = 1e6 / ((double)z->cells * STEPS);
    for (int i = 0; i < z->cells && ozone; i++) ozone[i] = z->y[N * i + smog_O3] / ppb;
    strcpy(z->what, "back");
    if (!(mean > 0) || back(z)) return NAN;
    fprintf(stderr, "%slanes: %d; chemistry per cell and step, us of a core: forward %.1f, back %.1f\n",
            z->cells > LARGE ? "\n" : "", lanes ? costate_lanes() : 1, first * each, (z->seconds - first) * each);
    return mean;
}

/* ---- the map ---- */

static double emission(int species, double x, double y)
{
    double e = everywhere[species];
    for (const city *c = cities; c < cities + CITIES; c++)
        e += c->strength[species] * exp(-(pow(x - c->x, 2) + pow(y - c->y, 2)) / (2 * c->radius * c->radius));
    return e;
}

static int air_new(air *z, int nx)
{
    *z = (air){.nx = nx, .ny = nx * 5 / 8};
    z->cells = z->nx * z->ny;
    z->states = (size_t)z->cells * N;
    z->parameters = (size_t)z->cells * K;
    double *memory = calloc(4 * z->states + 3 * z->parameters + STEPS * z->states, sizeof *memory);
    if (!memory) return 1;
    z->y = memory, z->lambda = z->y + z->states, z->V = z->lambda + z->states, z->work = z->V + z->states;
    z->p = z->work + z->states, z->mu = z->p + z->parameters, z->Vp = z->mu + z->parameters;
    z->kept = z->Vp + z->parameters;
    for (int k = 0; k < 2; k++) {
        double dx = side[k] / (k ? z->ny : z->nx);
        stencil(wind[k] * step / (2 * dx), D * step / (2 * dx * dx), z->along[k]);
    }
    for (int i = 0; i < z->cells; i++) {
        memcpy(z->p + K * i, smog_defaults, sizeof smog_defaults);
        for (int s = 0; s < EMITTED; s++) z->p[K * i + emitted[s]] = emission(s, x_of(z, i), y_of(z, i));
    }
    return 0;
}

/* One emission of a cell, in kg/h of NO or HCHO, in the unit of p: the air is mixed up to 1000 m. */
static double unit_of(const air *z, int species)
{
    double mass[EMITTED] = {30.006, 30.026}, volume = side[0] * side[1] / z->cells * 1e3 * 1e6;     /* g/mol, cm^3 */
    return 1e3 / mass[species] * 6.02214076e23 / 3600 / volume;
}

/* ---- what is compared ---- */

/* 1: members one by one give the same bits of lambda and mu */
static int same_bits(air *z)
{
    double *lambda = malloc(z->states * sizeof *lambda), *mu = malloc(z->parameters * sizeof *mu);
    int same = lambda && mu;
    if (same) {
        memcpy(lambda, z->lambda, z->states * sizeof *lambda);
        memcpy(mu, z->mu, z->parameters * sizeof *mu);
        same = ozone_and_gradient(z, NULL, NULL) > 0 && !memcmp(lambda, z->lambda, z->states * sizeof *lambda) &&
               !memcmp(mu, z->mu, z->parameters * sizeof *mu);
    }
    z->lanes = smog_lanes();
    return free(lambda), free(mu), same;
}

/* Vp: emissions grow, each by its own part between 0 and 1 of itself.  Returns the derivative of the mean by mu. */
static double random_direction(air *z)
{
    uint64_t state = 38;
    double slope = 0;
    for (int i = 0; i < z->cells; i++) for (int s = 0; s < EMITTED; s++) {
        size_t k = (size_t)K * i + emitted[s];
        state = state * 6364136223846793005u + 1442695040888963407u;
        z->Vp[k] = z->p[k] * (double)(state >> 11) / 9007199254740992.0;
        slope += z->mu[k] * z->Vp[k];
    }
    return slope;
}

static double difference(air *z, double e)
{
    double mean[2];
    for (int way = 0; way < 2; way++) {
        for (size_t k = 0; k < z->parameters; k++) z->p[k] += (way ? -2 : 1) * e * z->Vp[k];
        mean[way] = forward(z, 0);
    }
    for (size_t k = 0; k < z->parameters; k++) z->p[k] += e * z->Vp[k];
    return (mean[0] - mean[1]) / (2 * e);
}

/* ---- what is shown ---- */

/* the change of the mean if emissions grow by 10 %: those of each city, and of all cells outside of cities */
static void table(const air *z)
{
    double sum[CITIES + 1][EMITTED] = {{0}};
    for (int i = 0; i < z->cells; i++) {
        int of = 0;
        while (of < CITIES && hypot(x_of(z, i) - cities[of].x, y_of(z, i) - cities[of].y) > 2 * cities[of].radius) of++;
        for (int s = 0; s < EMITTED; s++)
            sum[of][s] += 0.1 * z->mu[K * i + emitted[s]] * z->p[K * i + emitted[s]];
    }
    puts("10 % more of           NO       VOC    ppb of ozone");
    for (int k = 0; k < CITIES; k++) printf("city %d         %+9.3f %+9.3f\n", k + 1, sum[k][0], sum[k][1]);
    printf("elsewhere      %+9.3f %+9.3f\n", sum[CITIES][0], sum[CITIES][1]);
}

/* x, y in km, ozone in ppb, d mean/d emission in ppt per 100 kg/h */
static int write_map(const air *z, const char *directory, const double *ozone)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/38_map.dat", directory);
    FILE *out = fopen(path, "w");
    if (!out) return perror(path), 1;
    fprintf(out, "# %d x %d cells: x y ozone by_NO by_VOC NO VOC\n", z->nx, z->ny);
    for (int i = 0; i < z->cells; i++) {
        fprintf(out, "%g %g %.4f", x_of(z, i) / 1e3, y_of(z, i) / 1e3, ozone[i]);
        for (int s = 0; s < EMITTED; s++) fprintf(out, " %.5e", 1e5 * z->mu[K * i + emitted[s]] * unit_of(z, s));
        for (int s = 0; s < EMITTED; s++) fprintf(out, " %.4e", z->p[K * i + emitted[s]] / unit_of(z, s));
        fprintf(out, "\n");
    }
    return fclose(out);
}

int main(int argc, char **argv)
{
    int nx = argc > 2 ? atoi(argv[2]) : 40, failed = 0;
    air z;
    if (nx < 40 || nx > 800 || nx % 40) return puts("cells along x: a multiple of 40, at most 800"), 1;
    double *ozone = malloc((size_t)nx * nx * sizeof *ozone);
    if (!ozone || air_new(&z, nx)) return puts("no memory"), 1;

    printf("%d cells, %d emissions, %d steps\n", z.cells, EMITTED * z.cells, STEPS);
    double mean = ozone_and_gradient(&z, smog_lanes(), ozone);
    printf("mean ozone of the region at 18:00: %.2f ppb\n", mean);
    table(&z);
    if (argc > 1) failed = write_map(&z, argv[1], ozone);
    double slope = random_direction(&z);
    int same = same_bits(&z);
    double by_tangent = forward(&z, 1), by_difference = difference(&z, 0.01);
    printf("with lanes and without: %s bits\n", same ? "the same" : "other");
    printf("derivative along a direction: %.6f, relative gap to a tangent %.1e, to a difference %.1e\n", slope,
           fabs(by_tangent / slope - 1), fabs(by_difference / slope - 1));

    free(z.y);
    free(ozone);
    return failed || !same || !(fabs(by_tangent / slope - 1) < 1e-10 && fabs(by_difference / slope - 1) < 5e-4);
}
