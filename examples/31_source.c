/* 31_source.c - where does a pollutant enter a basin?  A source field with up to a million unknowns from one image.

       c' = D Laplacian c - div(v c) + p(x, y),     c(0) = 0,     nothing passes the walls of the unit square

   The flow v is a large eddy.  At t = 1 an image of 20 x 20 pixels shows the means of c, with errors of 0.5 %.  Wanted
   is the source p in each cell.  c is linear in p, so this is a linear least-squares problem, which conjugate gradients
   (CGLS) solve: each iteration takes the image of a direction of p, one tangent, and the gradient with respect to p of
   the misfit, one adjoint.  They stop when the misfit is that of the errors: more iterations would fit these.

   Diffusion on 1000 x 1000 cells has a spectral radius of 8 D/dx^2 = 8e4.  The W-method w6s4os with a splitting takes
   steps as long as the solution permits, and each of its stages one pass over the lines along x and one along y: there
   is no matrix in two dimensions, no factorisation of one and no iteration.

       31_source [side]        cells along each side, a multiple of 20; 1000: a million unknowns,
                               0.9 GB, 41 seconds of one core */
#include <costate/operators.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 20, IMAGE = PIXELS * PIXELS, MOST = 30 };
static const double D = 0.01, speed = 1, t_end = 1, noise = 0.005, pi = 3.14159265358979323846;

/* Tridiagonal matrices along x (stride 1) or y (stride side): row i couples cells i - stride, i, i + stride. */
typedef struct { int side, n, stride; double *lower, *diagonal, *upper; } direction;

/* ---- the problem ---- */

/* out += A x, or A^T x */
static void add_product(const direction *d, int transpose, const double *x, double *out)
{
    for (int i = 0; i < d->n; i++) out[i] += d->diagonal[i] * x[i];
    for (int i = d->stride; i < d->n; i++) {
        int j = i - d->stride;
        out[i] += (transpose ? d->upper[j] : d->lower[i]) * x[j];
        out[j] += (transpose ? d->lower[i] : d->upper[j]) * x[i];
    }
}

static int f(const costate_point *x, double *out, void *ctx)
{
    const direction *along = ctx;
    memcpy(out, x->p, (size_t)along->n * sizeof *out);
    for (int j = 0; j < 2; j++) add_product(&along[j], 0, x->y, out);
    return 0;
}

static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const direction *along = ctx;
    (void)x;
    if (dx->p) memcpy(out, dx->p, (size_t)along->n * sizeof *out);
    else memset(out, 0, (size_t)along->n * sizeof *out);
    for (int j = 0; dx->y && j < 2; j++) add_product(&along[j], 0, dx->y, out);
    return 0;
}

static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const direction *along = ctx;
    (void)x;
    for (int j = 0; g->y && j < 2; j++) add_product(&along[j], 1, w, g->y);
    for (int i = 0; g->p && i < along->n; i++) g->p[i] += w[i];
    return 0;
}

static int lines(const costate_point *x, double *lower, double *diagonal, double *upper, void *ctx)
{
    const direction *d = ctx;
    size_t bytes = (size_t)d->n * sizeof *lower;
    (void)x;
    memcpy(lower, d->lower, bytes);
    memcpy(diagonal, d->diagonal, bytes);
    memcpy(upper, d->upper, bytes);
    return 0;
}

/* v = (psi_y, -psi_x): through the faces it has no divergence, and none passes the walls, where psi = 0 */
static double psi(double x, double y) { return speed / pi * sin(pi * x) * sin(pi * y); }

/* of cell i and its neighbour j along d: diffusion, and the flow through their face with the value from upstream */
static void face(direction *d, int i, int j)
{
    double dx = 1.0 / d->side, x = i % d->side * dx, y = i / d->side * dx;      /* the corner of cell i */
    double flow = d->stride == 1 ? psi(x + dx, y + dx) - psi(x + dx, y) : psi(x, y + dx) - psi(x + dx, y + dx);
    double from_i = (D + fmax(flow, 0)) / (dx * dx), from_j = (D - fmin(flow, 0)) / (dx * dx);
    d->diagonal[i] -= from_i;
    d->lower[j] = from_i;
    d->diagonal[j] -= from_j;
    d->upper[i] = from_j;
}

static int direction_new(direction *d, int side, int stride)
{
    int n = side * side;
    double *at = calloc(3 * (size_t)n, sizeof *at);
    if (!at) return 1;
    *d = (direction){side, n, stride, at, at + n, at + 2 * n};
    for (int i = 0; i < n; i++) if (i / stride % side < side - 1) face(d, i, i + stride);
    return 0;
}

/* ---- what is measured, and its transpose ---- */

static int pixel(int side, int i) { return i / side * PIXELS / side * PIXELS + i % side * PIXELS / side; }

static void photograph(int side, const double *c, double *image)
{
    memset(image, 0, IMAGE * sizeof *image);
    for (int i = 0; i < side * side; i++) image[pixel(side, i)] += c[i] * IMAGE / ((double)side * side);
}

static double norm2(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sum;
}

/* ---- conjugate gradients ---- */

typedef struct {
    int side, n;
    costate *solver;
    costate_tape *tape;
    double *y, *truth, *p, *way, *gradient;     /* n each; way: the direction in which p moves */
} search;

/* the image of a source */
static int image_of(search *z, const double *source, double *image)
{
    memset(z->y, 0, (size_t)z->n * sizeof *z->y);
    int status = costate_tangent(z->solver, z->tape, 1, z->y, source, NULL, NULL);
    photograph(z->side, z->y, image);
    return status;
}

/* the gradient with respect to p of (misfit of the image, misfit)/2, with its sign changed */
static int descent(search *z, const double *misfit)
{
    for (int i = 0; i < z->n; i++) z->y[i] = misfit[pixel(z->side, i)] * IMAGE / z->n;
    memset(z->gradient, 0, (size_t)z->n * sizeof *z->gradient);
    return costate_adjoint(z->solver, z->tape, 1, z->y, z->gradient, NULL, NULL);
}

/* z->p from an image with errors of the size `expected`: CGLS, A. Bjorck, Numerical Methods for Least Squares Problems,
   SIAM 1996, algorithm 7.4.1 */
static int fit(search *z, const double *image, double expected)
{
    double misfit[IMAGE], change[IMAGE];
    memcpy(misfit, image, sizeof misfit);
    int status = descent(z, misfit);
    memcpy(z->way, z->gradient, (size_t)z->n * sizeof *z->way);
    for (int k = 1; k <= MOST && status == COSTATE_OK; k++) {
        double before = norm2(z->gradient, z->n);
        status = image_of(z, z->way, change);
        double step = before / norm2(change, IMAGE);
        for (int i = 0; i < z->n; i++) z->p[i] += step * z->way[i];
        for (int i = 0; i < IMAGE; i++) misfit[i] -= step * change[i];
        double left = sqrt(norm2(misfit, IMAGE)) / expected;
        printf("%9d  %17.3f\n", k, left);
        if (left < 1 || status != COSTATE_OK) break;
        status = descent(z, misfit);
        double turn = norm2(z->gradient, z->n) / before;
        for (int i = 0; i < z->n; i++) z->way[i] = z->gradient[i] + turn * z->way[i];
    }
    return status;
}

/* ---- all of it ---- */

/* of mean 0 and standard deviation 1, the same on every machine */
static double random_error(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return sqrt(12) * ((double)(*state >> 11) / 9007199254740992.0 - 0.5);
}

/* An image of the true source, by another run with a tighter tolerance.  Returns the size of its errors. */
static double observe(search *z, const costate_problem *problem, costate_options options, double *image)
{
    uint64_t state = 7;
    double most = 0;
    for (int i = 0; i < z->n; i++) {
        double x = (i % z->side + 0.5) / z->side, y = (i / z->side + 0.5) / z->side;
        z->truth[i] = 10 * exp(-60 * (pow(x - 0.3, 2) + pow(y - 0.4, 2))) +
                      5 * exp(-60 * (pow(x - 0.7, 2) + pow(y - 0.75, 2)));
    }
    options.rtol = options.atol = 1e-6;
    costate *c = costate_new(costate_method_find("w6s4os"), problem, &options);
    int status = costate_integrate(c, 0, t_end, z->y, z->truth, NULL);
    if (status != COSTATE_OK) puts(costate_message(c));
    costate_free(c);
    photograph(z->side, z->y, image);
    for (int i = 0; i < IMAGE; i++) most = fmax(most, image[i]);
    for (int i = 0; i < IMAGE; i++) image[i] += noise * most * random_error(&state);
    return status == COSTATE_OK ? noise * most * PIXELS : NAN;
}

/* the distance of z->p from the truth, in its size; and of what it lets out */
static double error(const search *z, double *of_total)
{
    double gap = 0, size = 0, total = 0, true_total = 0;
    for (int i = 0; i < z->n; i++) {
        gap += pow(z->p[i] - z->truth[i], 2);
        size += pow(z->truth[i], 2);
        total += z->p[i];
        true_total += z->truth[i];
    }
    *of_total = fabs(total / true_total - 1);
    return sqrt(gap / size);
}

int main(int argc, char **argv)
{
    int side = argc > 1 ? atoi(argv[1]) : 200, status = COSTATE_NO_MEMORY;
    double image[IMAGE], of_total = NAN, of_source = NAN;
    direction along[2] = {{0}};
    if (side < PIXELS || side > 20000 || side % PIXELS) return puts("side: a multiple of 20"), 1;
    int n = side * side;
    double *memory = calloc(5 * (size_t)n, sizeof *memory);
    costate_tape *tape = costate_tape_new();
    if (!memory || !tape || direction_new(&along[0], side, 1) || direction_new(&along[1], side, side)) return 1;
    search z = {side, n, NULL, tape, memory, memory + n, memory + 2 * n, memory + 3 * n, memory + 4 * n};
    const costate_problem problem = {.n = n, .np = n, .ctx = along,
                                     .rhs = {.value = f, .tangent = f_tangent, .adjoint = f_adjoint}};
    const costate_part parts[] = {{.lines = lines, .points = side, .stride = 1, .ctx = &along[0]},
                                  {.lines = lines, .points = side, .stride = side, .ctx = &along[1]}};
    costate_splitting *splitting = costate_splitting_new(&problem, 2, parts);
    const costate_options options = {.rtol = 1e-4, .atol = 1e-4, .autonomous = 1, .solver = COSTATE_LS_PRECONDITIONER,
                                     .preconditioner = costate_splitting_preconditioner(splitting)};
    double expected = observe(&z, &problem, options, image);
    z.solver = costate_new(costate_method_find("w6s4os"), &problem, &options);

    /* c is linear in p: the steps of one run, with any source, serve for all tangents and adjoints */
    memset(z.y, 0, (size_t)n * sizeof *z.y);
    for (int i = 0; i < n; i++) z.p[i] = 1;
    if (expected > 0) status = costate_integrate(z.solver, 0, t_end, z.y, z.p, tape);
    memset(z.p, 0, (size_t)n * sizeof *z.p);
    printf("%d unknowns, %d steps, a tape of %.0f MB\niteration  misfit / expected\n", n, costate_tape_steps(tape),
           (double)costate_tape_bytes(tape) / 1e6);
    if (status == COSTATE_OK) status = fit(&z, image, expected);
    if (status != COSTATE_OK) puts(costate_message(z.solver));
    else of_source = error(&z, &of_total);
    printf("relative error of the source: %.3f, of all that it lets out: %.4f\n", of_source, of_total);

    costate_tape_free(tape);
    costate_free(z.solver);
    costate_splitting_free(splitting);
    for (int j = 0; j < 2; j++) free(along[j].lower);
    free(memory);
    return !(of_source < 0.1 && of_total < 0.01);
}
