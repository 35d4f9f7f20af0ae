/* lines.c - tridiagonal matrices along lines: memory, and which lines are equal. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "operators/lines.h"

int lines_new(tridiagonals *f, size_t n, size_t points, size_t stride, int periodic, int with_mass)
{
    size_t lanes = n / points < LANES ? n / points : LANES;
    *f = (tridiagonals){.n = n, .lines = n / points, .points = points, .stride = stride,
                 .periodic = periodic && points > 1, .loop = periodic && points == 1,
                 .rows = 3 + with_mass, .factors = periodic && points > 1 ? 5 : 3};
    f->bundles = (f->lines + LANES - 1) / LANES;
    f->set_of = malloc(f->bundles * sizeof *f->set_of);
    f->set = malloc(f->bundles * sizeof *f->set);
    f->row = malloc(n * (size_t)f->rows * sizeof *f->row);              /* if no two lines are equal; pages that are */
    f->factor = malloc(n * (size_t)f->factors * sizeof *f->factor);     /* never written take no memory */
    f->tile = malloc(points * (lanes > (size_t)f->rows ? lanes : (size_t)f->rows) * sizeof *f->tile);
    return f->set_of && f->set && f->row && f->factor && f->tile;
}

void lines_free(tridiagonals *f)
{
    free(f->set_of);
    free(f->set);
    free(f->row);
    free(f->factor);
    free(f->tile);
}

size_t lines_first(const tridiagonals *f, size_t line)
{
    return line / f->stride * f->stride * f->points + line % f->stride;
}

size_t lines_width(const tridiagonals *f, size_t bundle)
{
    size_t left = f->lines - bundle * LANES;
    return left < LANES ? left : LANES;
}

/* The number of the line among the distinct ones.  What it does not use is the same for all. */
static int number_line(tridiagonals *f, lines_room *room, const double *mass, size_t line)
{
    size_t at = lines_first(f, line), p = f->points;
    const double *from[] = {room->raw, room->raw + f->n, room->raw + 2 * f->n, mass};
    for (int r = 0; r < f->rows; r++)
        for (size_t k = 0; k < p; k++) f->tile[(size_t)r * p + k] = from[r][at + k * f->stride];
    if (f->loop) f->tile[1] += f->tile[0] + f->tile[2];
    if (!f->periodic) f->tile[0] = f->tile[3 * p - 1] = 0;
    return intern(&room->line, f->tile);
}

static void add_set(tridiagonals *f, const interned *known, const uint64_t *key)
{
    size_t width = (size_t)key[0], p = f->points, at = 0, lanes = 1;
    for (size_t w = 1; w < width; w++) if (key[1 + w] != key[1]) lanes = width;
    if (f->sets > 0) {
        const line_set *last = &f->set[f->sets - 1];
        at = last->at + (size_t)last->lanes * p;
    }
    f->set[f->sets++] = (line_set){(int)lanes, at};
    for (size_t w = 0; w < lanes; w++) {
        const double *line = intern_key(known, (size_t)key[1 + w]);
        for (size_t r = 0; r < (size_t)f->rows; r++)
            for (size_t k = 0; k < p; k++)
                f->row[(size_t)f->rows * at + (r * p + k) * lanes + w] = line[r * p + k];
    }
}

void lines_read(tridiagonals *f, lines_room *room, const double *mass)
{
    intern_clear(&room->line, f->points * (size_t)f->rows, f->lines);
    intern_clear(&room->bundle, LANES + 1, f->bundles);
    f->sets = 0;
    for (size_t b = 0; b < f->bundles; b++) {
        uint64_t key[LANES + 1] = {lines_width(f, b)};
        for (size_t w = 0; w < key[0]; w++) key[1 + w] = (uint64_t)number_line(f, room, mass, b * LANES + w);
        f->set_of[b] = intern(&room->bundle, key);
        if ((size_t)f->set_of[b] == f->sets) add_set(f, &room->line, key);
    }
}
