/* sides.c - known times at which f may jump, and the side of them that a step sees (mathematics, section 10.11).

   A step from t to t + h that begins or ends at such a time evaluates its maps at times of the open interval between
   them only: f(T-) of the step that ends at T is f at the neighbouring double before T, f(T+) of the step that begins
   there at the one behind it, and x->side says so.  A stage beyond the step, as of ros3prl2, sees f where it is: such
   methods are refused where the problem has stops. */
#include <float.h>
#include <math.h>
#include "maps/maps.h"

int times_below(int count, const double *times, double t, int with_it)
{
    int low = 0, high = count;
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (times[mid] < t || (with_it && times[mid] == t)) low = mid + 1;
        else high = mid;
    }
    return low;
}

double times_next(int count, const double *times, double t, double dir)
{
    int i = dir > 0 ? times_below(count, times, t, 1) : times_below(count, times, t, 0) - 1;
    return i >= 0 && i < count ? times[i] : dir * HUGE_VAL;
}

static int among(int count, const double *times, double t)
{
    int i = times_below(count, times, t, 0);
    return i < count && times[i] == t;
}

int stops_at(const maps *a, double t) { return among(a->stops.count, a->stops.at, t); }

/* Given times of events count where a step begins or ends at one: in other modes steps pass over them. */
static int given(const maps *a, double t)
{
    if (stops_at(a, t)) return 1;
    for (int k = 0; k < a->nevents; k++)
        if (among(a->user.events[k].ntimes, a->user.events[k].times, t)) return 1;
    return 0;
}

void stops_init(maps *a, int count, const double *at)
{
    a->stops = (known_stops){count > 0, count, at};
    for (int k = 0; k < a->nevents; k++) a->stops.any |= a->user.events[k].ntimes > 0;
    maps_bind_no_side(a);
    a->bound.dir = 1;
}

void stops_sides(maps *a, double t, double end)
{
    double low = fmin(t, end), high = fmax(t, end);
    a->bound.first = given(a, low) ? nextafter(low, HUGE_VAL) : -HUGE_VAL;
    a->bound.last = given(a, high) ? nextafter(high, -HUGE_VAL) : HUGE_VAL;
    a->bound.near = 8 * DBL_EPSILON * fmax(isinf(t) ? 0 : fabs(t), isinf(end) ? 0 : fabs(end));
}

void point_beginning(const maps *a, double end, costate_point *x)
{
    x->side = given(a, x->t) ? end > x->t ? 1 : -1 : 0;
    if (x->side != 0) x->t = nextafter(x->t, end);
}

void point_beside(const maps *a, costate_point *x)
{
    int side = x->t <= a->bound.first ? 1 : -1;
    double beside = side > 0 ? a->bound.first : a->bound.last;
    if (fabs(x->t - beside) > a->bound.near) return;
    x->side = side;
    x->t = beside;
}
