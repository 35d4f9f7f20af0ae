/* rooms.c - a network of rooms with thermostats: hysteresis, many events, twice as many thresholds as rooms.

   Rooms on a grid, neighbours conduct heat, each has losses to the outside and a heater that is on (m_i = 1) or off:

       T_i' = sum over neighbours k_ij (T_j - T_i) + loss_i (T_out(t) - T_i) + power_i m_i,   T_out = 4 - 5 cos(pi t/12)
       on when T_i falls to low_i, off when it rises to high_i

   t in hours.  p = (low, high).  Gradients are those of energy + sum (T_i(8) - 20.5)^2/2.  No two rooms are alike:
   their data follow the golden section, so that no two of their switchings coincide.  Energy, the integral of
   sum power_i m_i, is a sum over switchings.
   `rooms`: a guard a room.  `rooms_least`: one guard, the least of them, which is that of the room that it switches. */
#include "rooms.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 5 };

typedef struct network network;
typedef struct { network *q; int i; } thermostat;        /* of room i, LEAST: of that whose guard is the least */

enum { LEAST = -1 };

struct network {
    rooms r;
    costate_pattern S;
    costate_event *event;        /* n */
    thermostat *own;             /* n: their contexts */
    int *number;                 /* col[n + 1], row, diag[n] */
    const int *diagonal;         /* n: where J_ii is */
    double *work;                /* n: guards, products; behind it all numbers of the network */
    double *y0, *p;
};

static const double comfort = 20.5, until = 8, day = 3.14159265358979323846 / 12;

static double outside(double t) { return 4 - 5 * cos(day * t); }
static double outside_t(double t) { return 5 * day * sin(day * t); }
static double outside_tt(double t) { return 5 * day * day * cos(day * t); }

/* ---- the right-hand side ----------------------------------------------------------------------------------------- */

/* row i, wherever it is */
static double row(const rooms *r, int i, const double *v)
{
    int n = r->n, L = r->line;
    double sum = -r->loss[i] * v[i];
    if (i < n - 1) sum += r->right[i] * (v[i + 1] - v[i]);
    if (i > 0) sum += r->right[i - 1] * (v[i - 1] - v[i]);
    if (i < n - L) sum += r->below[i] * (v[i + L] - v[i]);
    if (i >= L) sum += r->below[i - L] * (v[i - L] - v[i]);
    return sum;
}

void rooms_spread(const rooms *r, const double *v, double *restrict out)
{
    int n = r->n, L = r->line;
    const double *right = r->right, *below = r->below, *loss = r->loss;
    for (int i = 0; i < L; i++) out[i] = row(r, i, v);
    for (int i = L; i < n - L; i++)
        out[i] = right[i] * (v[i + 1] - v[i]) + right[i - 1] * (v[i - 1] - v[i]) + below[i] * (v[i + L] - v[i])
                 + below[i - L] * (v[i - L] - v[i]) - loss[i] * v[i];
    for (int i = n - L; i < n; i++) out[i] = row(r, i, v);
}

double rooms_rate(const rooms *r, int i, double t, const double *T, const double *m)
{
    return row(r, i, T) + r->loss[i] * outside(t) + r->power[i] * m[i];
}

static int value(const costate_point *x, double *out, void *ctx)
{
    const rooms *r = &((network *)ctx)->r;
    double T = outside(x->t);
    rooms_spread(r, x->y, out);
    for (int i = 0; i < r->n; i++) out[i] += r->loss[i] * T + r->power[i] * x->m[i];
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const rooms *r = &((network *)ctx)->r;
    double T = outside_t(x->t) * dx->t;
    if (dx->y) rooms_spread(r, dx->y, out);
    else memset(out, 0, (size_t)r->n * sizeof *out);
    for (int i = 0; dx->t != 0 && i < r->n; i++) out[i] += r->loss[i] * T;
    for (int i = 0; dx->m && i < r->n; i++) out[i] += r->power[i] * dx->m[i];
    return 0;
}

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    network *q = ctx;
    const rooms *r = &q->r;
    if (g->y) {
        rooms_spread(r, w, q->work);
        for (int i = 0; i < r->n; i++) g->y[i] += q->work[i];
    }
    for (int i = 0; g->m && i < r->n; i++) g->m[i] += r->power[i] * w[i];
    if (g->t) *g->t += outside_t(x->t) * dot(r->n, r->loss, w);
    return 0;
}

/* f is linear but for t */
static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    const rooms *r = &((network *)ctx)->r;
    double T = outside_tt(x->t) * a->t * b->t;
    for (int i = 0; i < r->n; i++) out[i] = r->loss[i] * T;
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    const rooms *r = &((network *)ctx)->r;
    if (g->t) *g->t += outside_tt(x->t) * dx->t * dot(r->n, r->loss, w);
    return 0;
}

static int jacobian(const costate_point *x, double *J, void *ctx)
{
    const network *q = ctx;
    const costate_pattern *S = &q->S;
    (void)x;
    for (int j = 0; j < S->n; j++) {
        double sum = q->r.loss[j];
        for (int e = S->col[j]; e < S->col[j + 1]; e++) {
            int i = S->row[e], first = i < j ? i : j;
            if (i != j) sum += J[e] = abs(i - j) == 1 ? q->r.right[first] : q->r.below[first];
        }
        J[q->diagonal[j]] = -sum;
    }
    return 0;
}

/* y: T, q, m.  Heaters that are on go off at the end. */
static double goal(const costate_problem *P, const double *y, double *w)
{
    const rooms *r = &((network *)P->ctx)->r;
    const double *m = y + P->n + 1;
    double sum = y[P->n], *by_m = w + P->n + 1;
    w[P->n] = 1;
    for (int i = 0; i < P->n; i++) {
        w[i] = y[i] - comfort;
        by_m[i] = r->power[i] * until;
        sum += w[i] * w[i] / 2 + by_m[i] * m[i];
    }
    return sum;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static int on(const double *m, int i) { return m[i] > 0.5; }

int rooms_threshold(const rooms *r, int i, const double *m) { return on(m, i) ? r->n + i : i; }

/* T - low where m = 0, high - T where m = 1, exactly */
void rooms_guards(const rooms *r, const double *T, const double *m, const double *p, double *restrict out)
{
    const double *high = p + r->n;
    for (int i = 0; i < r->n; i++) out[i] = (1 - 2 * m[i]) * T[i] - (1 - m[i]) * p[i] + m[i] * high[i];
}

static double lower(double a, double b) { return a < b ? a : b; }

static double lowest(int n, const double *e)
{
    enum { CHAINS = 4 };                         /* of minima, none of which waits for another */
    double low[CHAINS] = {e[0], e[0], e[0], e[0]};
    int i = 0;
    for (; i + CHAINS <= n; i += CHAINS) for (int k = 0; k < CHAINS; k++) low[k] = lower(e[i + k], low[k]);
    for (; i < n; i++) low[0] = lower(e[i], low[0]);
    return lower(lower(low[0], low[1]), lower(low[2], low[3]));
}

static int least_value(const costate_point *x, double *out, void *ctx)
{
    network *q = ((thermostat *)ctx)->q;
    rooms_guards(&q->r, x->y, x->m, x->p, q->work);
    return *out = lowest(q->r.n, q->work), 0;
}

static int own_value(const costate_point *x, double *out, void *ctx)
{
    const thermostat *h = ctx;
    int i = h->i;
    double m = x->m[i];
    return *out = (1 - 2 * m) * x->y[i] - (1 - m) * x->p[i] + m * x->p[h->q->r.n + i], 0;
}

/* the room that is switched */
static int room_of(const thermostat *h, const costate_point *x)
{
    double low;
    int i = 0;
    if (h->i != LEAST) return h->i;
    least_value(x, &low, (void *)(uintptr_t)h);
    while (i < h->q->r.n - 1 && h->q->work[i] != low) i++;
    return i;
}

static int guard_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const thermostat *h = ctx;
    int i = room_of(h, x), n = h->q->r.n;
    double m = x->m[i];
    *out = dx->y ? (1 - 2 * m) * dx->y[i] : 0;
    if (dx->p) *out += m * dx->p[n + i] - (1 - m) * dx->p[i];
    if (dx->m) *out += (x->p[i] + x->p[n + i] - 2 * x->y[i]) * dx->m[i];
    return 0;
}

static int guard_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const thermostat *h = ctx;
    int i = room_of(h, x), n = h->q->r.n;
    double m = x->m[i];
    if (g->y) g->y[i] += (1 - 2 * m) * *w;
    if (g->p) g->p[n + i] += m * *w;
    if (g->p) g->p[i] -= (1 - m) * *w;
    if (g->m) g->m[i] += (x->p[i] + x->p[n + i] - 2 * x->y[i]) * *w;
    return 0;
}

static int jump_value(const costate_point *x, double *out, void *ctx)
{
    const thermostat *h = ctx;
    size_t n = (size_t)h->q->r.n;
    int i = room_of(h, x);
    memcpy(out, x->y, n * sizeof *out);
    memcpy(out + n, x->m, n * sizeof *out);
    out[n + (size_t)i] = 1 - x->m[i];
    return 0;
}

static void copy_or_clear(size_t n, const double *from, double *out)
{
    if (from) memcpy(out, from, n * sizeof *out);
    else memset(out, 0, n * sizeof *out);
}

static int jump_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const thermostat *h = ctx;
    size_t n = (size_t)h->q->r.n;
    int i = room_of(h, x);
    copy_or_clear(n, dx->y, out);
    copy_or_clear(n, dx->m, out + n);
    out[n + (size_t)i] = -out[n + (size_t)i];
    return 0;
}

static int jump_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const thermostat *h = ctx;
    int i = room_of(h, x), n = h->q->r.n;
    for (int j = 0; g->y && j < n; j++) g->y[j] += w[j];
    for (int j = 0; g->m && j < n; j++) g->m[j] += j == i ? -w[n + j] : w[n + j];
    return 0;
}

/* Energy: what power was from 0 on, when a heater goes off, less that, when it goes on. */
static int cost_value(const costate_point *x, double *out, void *ctx)
{
    const thermostat *h = ctx;
    int i = room_of(h, x);
    return *out = h->q->r.power[i] * (2 * x->m[i] - 1) * x->t, 0;
}

static int cost_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const thermostat *h = ctx;
    int i = room_of(h, x);
    return *out = h->q->r.power[i] * ((2 * x->m[i] - 1) * dx->t + (dx->m ? 2 * dx->m[i] * x->t : 0)), 0;
}

static int cost_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const thermostat *h = ctx;
    int i = room_of(h, x);
    if (g->t) *g->t += h->q->r.power[i] * (2 * x->m[i] - 1) * *w;
    if (g->m) g->m[i] += h->q->r.power[i] * 2 * x->t * *w;
    return 0;
}

/* ---- the problem ------------------------------------------------------------------------------------------------- */

static void free_network(void *own)
{
    network *q = own;
    if (!q) return;
    free(q->event);
    free(q->own);
    free(q->number);
    free(q->work);
    free(q);
}

static network *allocate(int n)
{
    network *q = calloc(1, sizeof *q);
    size_t N = (size_t)n;
    if (!q) return NULL;
    q->event = calloc(N, sizeof *q->event);
    q->own = calloc(N, sizeof *q->own);
    q->number = calloc(N + 1 + ENTRIES * N + N, sizeof *q->number);
    q->work = calloc(9 * N + 1, sizeof *q->work);
    if (q->event && q->own && q->number && q->work) return q;
    free_network(q);
    return NULL;
}

static void build_pattern(network *q)
{
    int n = q->r.n, L = q->r.line, *col = q->number, *row = col + n + 1, *diagonal = row + ENTRIES * n, e = 0;
    for (int j = 0; j < n; j++) {
        const int at[] = {j >= L ? j - L : -1, j % L ? j - 1 : -1, j, (j + 1) % L ? j + 1 : -1, j + L < n ? j + L : -1};
        for (int k = 0; k < ENTRIES; k++) {
            if (at[k] < 0) continue;
            if (at[k] == j) diagonal[j] = e;
            row[e++] = at[k];
        }
        col[j + 1] = e;
    }
    q->S = (costate_pattern){.n = n, .col = col, .row = row};
    q->diagonal = diagonal;
}

/* in [0, 1), evenly spread, different for each k and kind */
static double spread(int k, int kind) { return fmod(0.6180339887498949 * (k + 1) + 0.4142135623730950 * kind, 1); }

static void furnish(network *q)
{
    int n = q->r.n, L = q->r.line;
    double *loss = q->work + n, *power = loss + n, *right = power + n, *below = right + n, *low = below + n,
           *high = low + n, *T = high + n, *m = T + n + 1;
    for (int i = 0; i < n; i++) {
        int walls = (i < L) + (i >= n - L) + (i % L == 0) + (i % L == L - 1);
        loss[i] = 0.05 + 0.01 * walls + 0.02 * spread(i, 1);
        power[i] = 2.2 + 0.3 * walls + 0.5 * spread(i, 2);
        right[i] = i % L < L - 1 ? 0.08 + 0.04 * spread(i, 7) : 0;
        below[i] = i < n - L ? 0.08 + 0.04 * spread(i, 8) : 0;
        low[i] = 19.3 + 0.4 * spread(i, 3);
        high[i] = 21.2 + 0.5 * spread(i, 4);
        T[i] = low[i] + (high[i] - low[i]) * (0.05 + 0.9 * spread(i, 5));
        m[i] = spread(i, 6) < 0.5;
    }
    q->r = (rooms){.n = n, .line = L, .right = right, .below = below, .loss = loss, .power = power};
    q->y0 = T;
    q->p = low;
}

static network *network_new(int line)
{
    int n = 2 * line * line;
    network *q = allocate(n);
    if (!q) return NULL;
    q->r = (rooms){.n = n, .line = line};
    build_pattern(q);
    furnish(q);
    return q;
}

static const costate_problem like = {
    .nq = 1, .jac = jacobian,
    .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = tangent2,
            .adjoint_tangent = adjoint_tangent}};

static const costate_event switching = {
    .guard = {.tangent = guard_tangent, .adjoint = guard_adjoint},
    .jump = {.value = jump_value, .tangent = jump_tangent, .adjoint = jump_adjoint},
    .cost = {.value = cost_value, .tangent = cost_tangent, .adjoint = cost_adjoint},
    .direction = -1, .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE};

const rooms *rooms_of(const ivp *b) { return b->P.rhs.value == value ? &((network *)b->own)->r : NULL; }

/* count: of guards, n or 1 */
static int furnished(ivp *b, network *q, int count)
{
    *b = (ivp){.P = like, .y0 = q->y0, .p = q->p, .t1 = until, .atol = 1, .goal = goal, .by_p = 1, .timed = 1, .own = q,
               .free_own = free_network};
    b->P.n = b->P.nm = q->r.n;
    b->P.np = 2 * q->r.n;
    b->P.ctx = q;
    b->P.pattern = &q->S;
    b->P.event = q->event;
    b->P.nevents = count;
    for (int k = 0; k < count; k++) {
        q->own[k] = (thermostat){q, count > 1 ? k : LEAST};
        q->event[k] = switching;
        q->event[k].guard.value = count > 1 ? own_value : least_value;
        q->event[k].ctx = &q->own[k];
    }
    return COSTATE_OK;
}

static int new_rooms(ivp *b, int line, int each)
{
    if (line < 2 || line > 1000) return COSTATE_BAD_ARGUMENT;
    network *q = network_new(line);
    return q ? furnished(b, q, each ? q->r.n : 1) : COSTATE_NO_MEMORY;
}

int ivp_rooms(ivp *b, int line) { return new_rooms(b, line, 1); }
int ivp_rooms_least(ivp *b, int line) { return new_rooms(b, line, 0); }
