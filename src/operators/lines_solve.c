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

/* z <- U^-1 D^-1 L^-1 z; lanes: of the factors, 1 or width */
static inline void eliminate(size_t points, size_t width, size_t lanes, line_factors f, double *z)
{
    size_t chain = f.m ? points - 1 : points, each = lanes > 1;
    double *last = z + chain * width;
    for (size_t k = 1; k < chain; k++)
        for (size_t w = 0; w < width; w++)
            z[k * width + w] -= f.l[(k - 1) * lanes + each * w] * z[(k - 1) * width + w];
    if (f.m) {
        for (size_t k = 0; k < chain; k++)
            for (size_t w = 0; w < width; w++) last[w] -= f.m[k * lanes + each * w] * z[k * width + w];
        for (size_t w = 0; w < width; w++) last[w] *= f.d[chain * lanes + each * w];
    }
    for (size_t k = chain; k-- > 0;)
        for (size_t w = 0; w < width; w++) {
            size_t i = k * width + w, j = k * lanes + each * w;
            z[i] *= f.d[j];
            if (f.m) z[i] -= f.g[j] * last[w];
            if (k + 1 < chain) z[i] -= f.u[j] * z[i + width];
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

void lines_solve(const lines *f, int transpose, int count, double *X)
{
    for (size_t b = 0; b < f->bundles; b++) {
        const line_set *s = &f->set[f->set_of[b]];
        line_factors at = transpose ? transposed(lines_factors(f, s)) : lines_factors(f, s);
        size_t width = lines_width(f, b), each[LANES];
        for (size_t w = 0; w < width; w++) each[w] = lines_first(f, b * LANES + w);
        for (int j = 0; j < count; j++) {
            double *x = X + (size_t)j * f->n;
            gather(f->points, f->stride, width, each, x, f->tile);
            solve_tile(f->points, width, (size_t)s->lanes, at, f->tile);
            scatter(f->points, f->stride, width, each, f->tile, x);
        }
    }
}
