/* pairs.c - pairs (x, J x) of earlier systems, and the best initial guess for the next system that they contain.

       minimise | w (b - (sigma M - J) sum c_j x_j) |

   for any sigma, by the normal equations: inner products of M x_j and J x_j are computed once, when a pair is added.  J
   may have changed since then; the result is only a guess.  A pair nearly in the span of later ones is left out
   (PIVOT). */
#include <math.h>
#include <string.h>
#include "base/invariant.h"
#include "linsol/pairs.h"

/* The squared length of a unit vector's part orthogonal to the others, at least: normal equations keep only half of the
   digits. */
static const double PIVOT = 1e-11;

void pairs_layout(pairs *a, cursor *at, size_t n, int room, int plain)
{
    size_t all = (size_t)room * n;
    a->n = n;
    a->room = room;
    a->plain = plain;
    TAKE(at, n, &a->w, &a->b);
    TAKE(at, all, &a->x, &a->v);
    a->u = plain ? a->x : take(at, all);
}

int pairs_is_valid(const pairs *a)
{
    if (a->room < 1 || a->room > PAIRS_MOST || a->count < 0 || a->count > a->room) return 0;
    return a->next >= 0 && a->next < a->room && (a->plain ? a->u == a->x : a->u != a->x);
}

void pairs_clear(pairs *a) { a->count = a->next = 0; }

void pairs_drop(pairs *a, int count)
{
    if (count >= a->count) { pairs_clear(a); return; }
    a->count -= count;
    a->next = (a->next - count + a->room) % a->room;
}

void pairs_next(const pairs *a, double **x, double **u, double **v)
{
    *x = a->x + (size_t)a->next * a->n;
    *u = a->u + (size_t)a->next * a->n;
    *v = a->v + (size_t)a->next * a->n;
}

/* slot of the k-th pair from the last */
static int slot(const pairs *a, int k) { return (a->next - 1 - k + 2 * a->room) % a->room; }

static void weigh(size_t n, const double *w, double a, double *x) { for (size_t i = 0; i < n; i++) x[i] *= a * w[i]; }

/* four inner products, each vector read once */
static void dots_of_pairs(size_t n, const double *u, const double *v, const double *U, const double *V, double *out)
{
    enum { LANES = 4 };
    double s[4][LANES] = {{0}};
    size_t whole = n / LANES * LANES;
    for (size_t i = 0; i < whole; i += LANES)
        for (size_t l = 0; l < LANES; l++) {
            s[0][l] += u[i + l] * U[i + l];
            s[1][l] += u[i + l] * V[i + l];
            s[2][l] += v[i + l] * U[i + l];
            s[3][l] += v[i + l] * V[i + l];
        }
    for (size_t i = whole; i < n; i++) {
        s[0][0] += u[i] * U[i];
        s[1][0] += u[i] * V[i];
        s[2][0] += v[i] * U[i];
        s[3][0] += v[i] * V[i];
    }
    for (int k = 0; k < 4; k++) out[k] = (s[k][0] + s[k][1]) + (s[k][2] + s[k][3]);
}

/* inner products of pair `me` with itself and earlier pairs */
static int products(pairs *a, int me, int count)
{
    size_t n = a->n;
    double sum[4 * PAIRS_MOST];
    const double *u = a->u + (size_t)me * n, *v = a->v + (size_t)me * n;
    for (int k = 0; k < count; k++) {
        const double *U = a->u + (size_t)slot(a, k) * n, *V = a->v + (size_t)slot(a, k) * n;
        dots_of_pairs(n, u, v, U, V, sum + 4 * k);
    }
    TRY(space_total(a->space, 4 * count, sum));
    for (int k = 0; k < count; k++) {
        int j = slot(a, k);
        a->uu[me][j] = a->uu[j][me] = sum[4 * k];
        a->uv[me][j] = sum[4 * k + 1];
        a->uv[j][me] = sum[4 * k + 2];
        a->vv[me][j] = a->vv[j][me] = sum[4 * k + 3];
    }
    return 0;
}

int pairs_add(pairs *a, int use, const double *w)
{
    size_t n = a->n;
    double *x, *u, *v, size;
    if (!a->count) memcpy(a->w, w, n * sizeof *w);
    pairs_next(a, &x, &u, &v);
    TRY(space_norm(a->space, n, a->w, u, &size));
    if (!(size > 0 && size < HUGE_VAL)) return 0;
    double scale = ldexp(1, -ilogb(size));                    /* a power of two, so that nothing is rounded */
    if (!(scale > 0 && scale < HUGE_VAL)) return 0;
    weigh(n, a->w, scale, x);
    if (!a->plain) weigh(n, a->w, scale, u);
    weigh(n, a->w, scale, v);
    int me = a->next;
    a->next = (a->next + 1) % a->room;
    if (a->count < a->room) a->count++;
    INVARIANT(pairs_is_valid(a));
    return products(a, me, use < a->count ? use : a->count);
}

/* The Gram matrix of sigma u - v, scaled to a unit diagonal, factored pair by pair; L: rows of the accepted pairs. */
typedef struct { double L[PAIRS_MOST][PAIRS_MOST], scale[PAIRS_MOST]; int at[PAIRS_MOST], count; } pair_triangle;

static double gram(const pairs *a, double s, int i, int j)
{
    return s * s * a->uu[i][j] - s * (a->uv[i][j] + a->uv[j][i]) + a->vv[i][j];
}

static void add_row(const pairs *a, double s, int j, pair_triangle *t)
{
    double *row = t->L[t->count], pivot = 1, scale = 1 / sqrt(gram(a, s, j, j));
    for (int l = 0; l < t->count; l++) {
        row[l] = gram(a, s, j, t->at[l]) * scale * t->scale[l];
        for (int k = 0; k < l; k++) row[l] -= row[k] * t->L[l][k];
        row[l] /= t->L[l][l];
        pivot -= row[l] * row[l];
    }
    if (!(pivot > PIVOT)) return;
    row[t->count] = sqrt(pivot);
    t->scale[t->count] = scale;
    t->at[t->count++] = j;
}

static void pairs_solve(const pair_triangle *t, double *c)
{
    for (int i = 0; i < t->count; i++) {
        for (int l = 0; l < i; l++) c[i] -= t->L[i][l] * c[l];
        c[i] /= t->L[i][i];
    }
    for (int i = t->count - 1; i >= 0; i--) {
        for (int l = i + 1; l < t->count; l++) c[i] -= t->L[l][i] * c[l];
        c[i] /= t->L[i][i];
    }
}

int pairs_guess(pairs *a, int use, double sigma, const double *b, double *x, int *good)
{
    size_t n = a->n;
    pair_triangle t = {.count = 0};
    double sum[2 * PAIRS_MOST], c[PAIRS_MOST];
    memset(x, 0, n * sizeof *x);
    for (int k = 0; k < use && k < a->count; k++) add_row(a, sigma, slot(a, k), &t);
    *good = t.count > 0;
    if (!*good) return 0;
    for (size_t i = 0; i < n; i++) a->b[i] = a->w[i] * b[i];
    for (int k = 0; k < t.count; k++) {
        sum[2 * k] = dot(n, a->u + (size_t)t.at[k] * n, a->b);
        sum[2 * k + 1] = dot(n, a->v + (size_t)t.at[k] * n, a->b);
    }
    TRY(space_total(a->space, 2 * t.count, sum));
    for (int k = 0; k < t.count; k++) c[k] = (sigma * sum[2 * k] - sum[2 * k + 1]) * t.scale[k];
    pairs_solve(&t, c);
    for (int k = 0; k < t.count; k++) *good = *good && fabs(c[k] * t.scale[k]) < HUGE_VAL;
    if (!*good) return 0;
    double at[PAIRS_MOST] = {0};
    for (int k = 0; k < t.count; k++) at[t.at[k]] = c[k] * t.scale[k];
    combine_many(n, x, 1, a->room, at, a->x);
    for (size_t i = 0; i < n; i++) x[i] /= a->w[i];
    return 0;
}
