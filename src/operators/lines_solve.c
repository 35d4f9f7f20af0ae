/* lines_solve.c - solves with tridiagonal matrices along lines, LANES lines at a time.

   A bundle of lines is copied to a tile, point by point with its lanes side by side, so that the loop over the lanes
   has no dependences and the tile stays in the cache, whatever the stride of the lines. */
#include <string.h>
#include "operators/lines.h"

/* the tile <- the lines of a bundle in x, or back; each: first unknowns; width: LANES, where the compiler knows it */
static void gather(size_t points, size_t stride, size_t width, const size_t *each, const double *x, double *tile)
{
    for (size_t k = 0; k < points; k++)
        for (size_t w = 0; w < width; w++) tile[k * width + w] = x[each[w] + k * stride];
}

static void scatter(size_t points, size_t stride, size_t width, const size_t *each, const double *tile, double *x)
{
    for (size_t k = 0; k < points; k++)
        for (size_t w = 0; w < width; w++) x[each[w] + k * stride] = tile[k * width + w];
}

/* the last point of periodic lines */
static inline void solve_border(size_t chain, size_t width, size_t lanes, line_factors f, double *z)
{
    double *last = z + chain * width;
    size_t each = lanes > 1;
    for (size_t k = 0; k < chain; k++)
        for (size_t w = 0; w < width; w++) last[w] -= f.m[k * lanes + each * w] * z[k * width + w];
    for (size_t w = 0; w < width; w++) last[w] *= f.d[chain * lanes + each * w];
}

/* z <- U^-1 D^-1 L^-1 z; lanes: of the factors, 1 or width */
static inline void eliminate(size_t points, size_t width, size_t lanes, line_factors f, double *z)
{
    size_t chain = f.m ? points - 1 : points, each = lanes > 1;
    double *last = z + chain * width, now[LANES];
    for (size_t w = 0; w < width; w++) now[w] = z[w];
    for (size_t k = 1; k < chain; k++)
        for (size_t w = 0; w < width; w++)
            z[k * width + w] = now[w] = z[k * width + w] - f.l[(k - 1) * lanes + each * w] * now[w];
    if (f.m) solve_border(chain, width, lanes, f, z);
    for (size_t w = 0; w < width; w++) now[w] = 0;
    for (size_t k = chain; k-- > 0;)
        for (size_t w = 0; w < width; w++) {
            size_t i = k * width + w, j = k * lanes + each * w;
            double x = z[i] * f.d[j] - f.u[j] * now[w];
            z[i] = now[w] = f.m ? x - f.g[j] * last[w] : x;
        }
}

static void solve_tile(size_t points, size_t width, size_t lanes, line_factors f, double *z)
{
    if (width == LANES && lanes == 1) eliminate(points, LANES, 1, f, z);
    else if (width == LANES) eliminate(points, LANES, LANES, f, z);
    else eliminate(points, width, lanes, f, z);
}

static line_factors transposed(line_factors f)
{
    return (line_factors){.l = f.u, .d = f.d, .u = f.l, .m = f.g, .g = f.m};
}

static void solve_bundle(const tridiagonals *f, size_t b, int transpose, double *x)
{
    const line_set *s = &f->set[f->set_of[b]];
    line_factors at = lines_factors(f, s);
    size_t width = lines_width(f, b), each[LANES];
    for (size_t w = 0; w < width; w++) each[w] = lines_first(f, b * LANES + w);
    gather(f->points, f->stride, width, each, x, f->tile);
    solve_tile(f->points, width, (size_t)s->lanes, transpose ? transposed(at) : at, f->tile);
    scatter(f->points, f->stride, width, each, f->tile, x);
}

void lines_solve(const tridiagonals *f, int transpose, int count, double *X)
{
    for (int j = 0; j < count; j++)
        for (size_t b = 0; b < f->bundles; b++) solve_bundle(f, b, transpose, X + (size_t)j * f->n);
}
