/* noise.c - how far round-off moves a map of one value. */
#include <float.h>
#include <math.h>
#include "maps/maps.h"

/* t never moves by as much as components do: in y0 - p t they would hide each other. */
int map_moves(maps *a, const map *f, double t, const double *y, double value, double part, double *z, double *moves)
{
    static const struct { unsigned bits; double part, time; } sets[] = {
        {0x6cb5a6d1, 1, 0.5}, {0x1fd39c47, -1, 0.5}, {0xa5a6c93b, 0.75, -1}, {0x59e3714d, -0.5, -1}};
    *moves = 0;
    for (int i = 0; i < MOVES; i++) {
        double by = sets[i].part * part, moved;
        for (int j = 0; j < a->n; j++) z[j] = y[j] * (1 + (sets[i].bits >> j % 32 & 1 ? by : -by));
        int status = map_value(a, f, t * (1 + sets[i].time * part), z, &moved);
        if (status < 0) return status;
        if (status == 0 && fabs(moved - value) < HUGE_VAL) *moves = fmax(*moves, fabs(moved - value));
    }
    return 0;
}

int map_noise(maps *a, const map *f, double t, const double *y, double value, double *z, double *noise)
{
    TRY(map_moves(a, f, t, y, value, 4 * DBL_EPSILON, z, noise));
    *noise *= 2;
    return 0;
}
