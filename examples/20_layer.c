/* 20_layer.c - a boundary layer of width 1e-4, by continuation from one that is a thousand times as wide, and how the
   mesh follows it; with an argument it writes data for a picture of the mesh.

       eps y'' + y y' = 0,   y(0) = alpha, y(1) = beta;    eps = 0.1, 0.01, 0.001, 0.0001

   eps is made smaller in steps: each solution begins with the one before, on its mesh, and refines it where the layer
   has become thinner.  All is known: eps y' + y^2/2 does not change along t, so that

       y = c tanh(c (t - t_0)/(2 eps)),   G = int_0^1 y^2 dt = c^2 - 2 eps (beta - alpha),

   with c = beta + O(e^(-1/eps)). */
#include <costate/bvp.h>
#include <math.h>
#include <stdio.h>

enum { EPS, ALPHA, BETA, NP };

static int f(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[1];
    out[1] = -x->y[0] * x->y[1] / x->p[EPS];
    return (void)ctx, 0;
}
static int jac(const costate_point *x, double *by_y, void *ctx)
{
    by_y[0] = 0;
    by_y[1] = -x->y[1] / x->p[EPS];
    by_y[2] = 1;
    by_y[3] = -x->y[0] / x->p[EPS];
    return (void)ctx, 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y, eps = x->p[EPS];
    if (g->y) {
        g->y[0] -= w[1] * y[1] / eps;
        g->y[1] += w[0] - w[1] * y[0] / eps;
    }
    if (g->p) g->p[EPS] += w[1] * y[0] * y[1] / (eps * eps);
    return (void)ctx, 0;
}

static int square(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = x->y[0] * x->y[0], 0;
}
static int square_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] += 2 * w[0] * x->y[0];
    return (void)ctx, 0;
}

static int ends(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[0] - x->p[ALPHA];
    out[1] = x->y[2] - x->p[BETA];
    return (void)ctx, 0;
}
static int ends_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) {
        g->y[0] += w[0];
        g->y[2] += w[1];
    }
    if (g->p) {
        g->p[ALPHA] -= w[0];
        g->p[BETA] -= w[1];
    }
    return (void)x, (void)ctx, 0;
}

/* y(t) where e^(-1/eps) is round-off or nearly: c = beta */
static double exact(double t, const double *p)
{
    return p[BETA] * tanh(p[BETA] * t / (2 * p[EPS]) + atanh(p[ALPHA] / p[BETA]));
}

/* the largest error of y at ten points of each interval */
static double largest_error(costate_bvp *b, const double *p)
{
    double largest = 0, from, to, Y[3];
    for (int k = 0; k < costate_bvp_intervals(b); k++) {
        costate_bvp_get(b, k, &from, Y);
        costate_bvp_get(b, k + 1, &to, Y);
        for (int i = 0; i < 10; i++) {
            double t = from + i * (to - from) / 10;
            costate_bvp_eval(b, t, Y);
            largest = fmax(largest, fabs(Y[0] - exact(t, p)));
        }
    }
    return largest;
}

/* eps t y of the mesh points, an empty line behind each eps; t = 0 is left out, as the picture's axis is logarithmic */
static void write_mesh(costate_bvp *b, double eps, FILE *file)
{
    double t, Y[3];
    for (int k = 1; k <= costate_bvp_intervals(b); k++) {
        costate_bvp_get(b, k, &t, Y);
        fprintf(file, "%g %.9g %.9g\n", eps, t, Y[0]);
    }
    fprintf(file, "\n\n");
}

/* the shortest interval */
static double shortest(const costate_bvp *b)
{
    double least = INFINITY, from, to, Y[3];
    for (int k = 0; k < costate_bvp_intervals(b); k++) {
        costate_bvp_get(b, k, &from, Y);
        costate_bvp_get(b, k + 1, &to, Y);
        least = fmin(least, to - from);
    }
    return least;
}

/* the first solution has no guess but a straight line, those behind it continue the one before */
static int continuation(costate_bvp *b, double *p, FILE *file)
{
    const double line[4] = {p[ALPHA], p[BETA] - p[ALPHA], p[BETA], p[BETA] - p[ALPHA]};    /* y, y' at 0 and 1 */
    int status = costate_bvp_guess(b, 2, NULL, line);
    printf("%8s %10s %10s %7s %11s %11s\n", "eps", "intervals", "shortest", "meshes", "iterations", "error of y");
    for (p[EPS] = 0.1; status == COSTATE_OK; p[EPS] /= 10) {
        status = costate_bvp_solve(b, 0, 1, p);
        if (status != COSTATE_OK) break;
        const costate_bvp_stats *s = costate_bvp_get_stats(b);
        printf("%8g %10d %10.1e %7d %11d", p[EPS], costate_bvp_intervals(b), shortest(b), s->meshes, s->iterations);
        if (p[EPS] < 0.05) printf(" %11.1e", largest_error(b, p));
        puts("");
        if (file) write_mesh(b, p[EPS], file);
        if (p[EPS] < 2e-4) break;
    }
    if (status != COSTATE_OK) puts(costate_bvp_message(b));
    return status;
}

int main(int argc, char **argv)
{
    double p[NP] = {0.1, 0.25, 1}, end = 1, lambda[3] = {0, 0, 1}, mu[NP] = {0}, Y[3] = {0}, error = INFINITY;
    costate_problem problem = {.n = 2, .np = NP, .nq = 1, .rhs = {.value = f, .adjoint = f_adjoint}, .jac = jac,
                               .cost = {.value = square, .adjoint = square_adjoint}};
    costate_conditions conditions = {.map = {.value = ends, .adjoint = ends_adjoint}, .count = 2};
    costate_bvp_options options = {.rtol = 1e-6, .atol = 1e-6};
    costate_bvp *b = costate_bvp_new(costate_method_find("lobatto3a4"), &problem, &conditions, &options);
    FILE *file = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (argc > 1 && !file) perror(argv[1]);
    int status = continuation(b, p, file);
    costate_bvp_adjoints back = {.m = 1, .points = 1, .t = &end, .lambda = lambda, .mu = mu};
    if (status == COSTATE_OK) status = costate_bvp_eval(b, end, Y);
    if (status == COSTATE_OK) status = costate_bvp_adjoint(b, &back);
    if (status == COSTATE_OK) {
        const double G = p[BETA] * p[BETA] - 2 * p[EPS] * (p[BETA] - p[ALPHA]);
        const double known[NP] = {-2 * (p[BETA] - p[ALPHA]), 2 * p[EPS], 2 * p[BETA] - 2 * p[EPS]};
        error = fmax(fabs(Y[2] - G), largest_error(b, p));
        printf("\nG = %.9f, exactly %.9f\n", Y[2], G);
        for (int i = 0; i < NP; i++) error = fmax(error, fabs(mu[i] - known[i]));
        printf("its gradient with respect to eps, alpha, beta: %.7f %.7f %.7f\n", mu[EPS], mu[ALPHA], mu[BETA]);
        printf("%46s %.7f %.7f %.7f\n", "exactly:", known[EPS], known[ALPHA], known[BETA]);
    }
    printf("largest error of y anywhere, of G and of its gradient: %.1e\n", error);
    costate_bvp_free(b);
    return (file && fclose(file) != 0) || (argc > 1 && !file) || !(error < 1e-5);
}
