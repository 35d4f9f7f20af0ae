/* network.c - reaction networks with mass-action kinetics: HIRES, Robertson's problem, POLLU, Lotka and Volterra's
   populations, the Oregonator.

   A reaction has the rate k a b, with the concentrations a, b of its reactants; each loses the rate, each product gains
   it.  The equations, starts and end times are those of the Test Set for IVP Solvers and of E. Hairer, G. Wanner,
   Solving Ordinary Differential Equations II; HIRES and Robertson's problem are written as reactions here, POLLU's are
   those of the examples.  The last two become reactions some of which give back a reactant; with parameters they are in
   problems.c. */
#include <stdlib.h>
#include <string.h>

#include "../examples/pollu.h"
#include "ivp.h"

enum { SPECIES = POLLU_SPECIES, REACTIONS = POLLU_REACTIONS, TOUCHED = 6, NONE = -1 };

typedef pollu_reaction reaction;            /* species count from 1; 0: none */

static const reaction hires[] = {
    {1.71, {1}, {2}}, {0.43, {2}, {1}}, {8.32, {2}, {4}}, {8.32, {3}, {1}}, {1.71, {3}, {4}}, {0.43, {4}, {3}},
    {0.69, {4}, {6}}, {0.035, {5}, {3}}, {1.71, {5}, {6}}, {0.43, {6}, {5}}, {280, {6, 8}, {7}}, {0.69, {7}, {6, 8}},
    {0.43, {7}, {5, 8}}, {0.69, {7}, {8}}, {0.0007, {0}, {1}},
};
static const double hires_start[8] = {[0] = 1, [7] = 0.0057};

static const reaction robertson[] = {{0.04, {1}, {2}}, {3e7, {2, 2}, {2, 3}}, {1e4, {2, 3}, {1, 3}}};
static const double robertson_start[3] = {1};

/* y1' = 1.5 y1 - y1 y2, y2' = y1 y2 - 3 y2 */
static const reaction lv[] = {{1.5, {1}, {1, 1}}, {1, {1, 2}, {2, 2}}, {3, {2}, {0}}};
static const double lv_start[2] = {1, 1};

/* y1' = s (y2 + y1 (1 - q y1 - y2)), y2' = (y3 - (1 + y1) y2)/s, y3' = w (y1 - y3)
   (R. J. Field, R. M. Noyes, J. Chem. Phys. 60 (1974) 1877-1884) */
#define S 77.27
static const reaction orego[] = {
    {S, {2}, {1, 2}}, {S, {1}, {1, 1}}, {S * 8.375e-6, {1, 1}, {1}}, {S, {1, 2}, {2}},
    {1 / S, {3}, {2, 3}}, {1 / S, {2}, {0}}, {1 / S, {1, 2}, {1}}, {0.161, {1}, {1, 3}}, {0.161, {3}, {0}},
};
#undef S
static const double orego_start[3] = {1, 2, 3};

/* ---- a network, made for speed ---------------------------------------------------------------------------- */

/* a, b index the states extended by a one, so that every rate is k y[a] y[b]; the species it changes, net. */
typedef struct {
    double k, change[TOUCHED];
    int a, b, count, species[TOUCHED];
    int place[2][TOUCHED];          /* of d rate/da, d rate/db times change, in the values of the Jacobian */
} rate;

typedef struct {
    int n, count;
    size_t values;                  /* of the Jacobian */
    rate r[REACTIONS];
    costate_pattern S;
    int col[SPECIES + 1], row[SPECIES * SPECIES];
} network;

static double at(const network *w, const double *y, int i) { return i < w->n ? y[i] : 1; }
static double at0(const network *w, const double *v, int i) { return i < w->n ? v[i] : 0; }

static void spread(const rate *r, double x, double *out)
{
    for (int i = 0; i < r->count; i++) out[r->species[i]] += r->change[i] * x;
}
static double collect(const rate *r, const double *w)
{
    double sum = 0;
    for (int i = 0; i < r->count; i++) sum += r->change[i] * w[r->species[i]];
    return sum;
}

static int value(const costate_point *x, double *out, void *ctx)
{
    const network *w = ctx;
    memset(out, 0, (size_t)w->n * sizeof *out);
    for (const rate *r = w->r; r < w->r + w->count; r++)
        spread(r, r->k * at(w, x->y, r->a) * at(w, x->y, r->b), out);
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const network *w = ctx;
    memset(out, 0, (size_t)w->n * sizeof *out);
    for (const rate *r = w->r; dx->y && r < w->r + w->count; r++)
        spread(r, r->k * (at0(w, dx->y, r->a) * at(w, x->y, r->b) + at(w, x->y, r->a) * at0(w, dx->y, r->b)), out);
    return 0;
}

static void back(const network *w, const rate *r, double a, double b, double *g)
{
    if (r->a < w->n) g[r->a] += a;
    if (r->b < w->n) g[r->b] += b;
}

static int adjoint(const costate_point *x, const double *v, const costate_gradient *g, void *ctx)
{
    const network *w = ctx;
    for (const rate *r = w->r; g->y && r < w->r + w->count; r++) {
        double s = r->k * collect(r, v);
        back(w, r, s * at(w, x->y, r->b), s * at(w, x->y, r->a), g->y);
    }
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2, double *out, void *ctx)
{
    const network *w = ctx;
    const double *u = dx1->y, *v = dx2->y;
    (void)x;
    memset(out, 0, (size_t)w->n * sizeof *out);
    for (const rate *r = w->r; u && v && r < w->r + w->count; r++)
        spread(r, r->k * (at0(w, u, r->a) * at0(w, v, r->b) + at0(w, v, r->a) * at0(w, u, r->b)), out);
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *v, const costate_gradient *g,
                           void *ctx)
{
    const network *w = ctx;
    (void)x;
    for (const rate *r = w->r; g->y && dx->y && r < w->r + w->count; r++) {
        double s = r->k * collect(r, v);
        back(w, r, s * at0(w, dx->y, r->b), s * at0(w, dx->y, r->a), g->y);
    }
    return 0;
}

static int jacobian(const costate_point *x, double *J, void *ctx)
{
    const network *w = ctx;
    memset(J, 0, w->values * sizeof *J);
    for (const rate *r = w->r; r < w->r + w->count; r++) {
        double a = r->k * at(w, x->y, r->b), b = r->k * at(w, x->y, r->a);
        for (int i = 0; r->a < w->n && i < r->count; i++) J[r->place[0][i]] += r->change[i] * a;
        for (int i = 0; r->b < w->n && i < r->count; i++) J[r->place[1][i]] += r->change[i] * b;
    }
    return 0;
}

/* ---- from reactions to rates -------------------------------------------------------------------------------- */

static void touch(rate *r, int species, double change)
{
    int i = 0;
    if (species == NONE) return;
    while (i < r->count && r->species[i] != species) i++;
    if (i == r->count) r->species[r->count++] = species;
    r->change[i] += change;
}

static rate compile(const network *w, const reaction *q)
{
    rate r = {.k = q->k, .a = q->in[0] ? q->in[0] - 1 : w->n, .b = q->in[1] ? q->in[1] - 1 : w->n};
    int kept = 0;
    for (int i = 0; i < 2; i++) touch(&r, q->in[i] - 1, -1);
    for (int i = 0; i < 4; i++) touch(&r, q->out[i] - 1, 1);
    for (int i = 0; i < r.count; i++)
        if (r.change[i] != 0) {
            r.species[kept] = r.species[i];
            r.change[kept++] = r.change[i];
        }
    r.count = kept;
    return r;
}

/* where the entries of the Jacobian go: position[row + n column] */
static void place(network *w, const int *position)
{
    for (rate *r = w->r; r < w->r + w->count; r++)
        for (int i = 0; i < r->count; i++) {
            if (r->a < w->n) r->place[0][i] = position[r->species[i] + w->n * r->a];
            if (r->b < w->n) r->place[1][i] = position[r->species[i] + w->n * r->b];
        }
}

static void mark(const network *w, int *position)
{
    for (int i = 0; i < w->n; i++) position[i + w->n * i] = 1;
    for (const rate *r = w->r; r < w->r + w->count; r++)
        for (int i = 0; i < r->count; i++) {
            if (r->a < w->n) position[r->species[i] + w->n * r->a] = 1;
            if (r->b < w->n) position[r->species[i] + w->n * r->b] = 1;
        }
}

static void lay_out(network *w, int sparse)
{
    int position[SPECIES * SPECIES] = {0}, next = 0;
    mark(w, position);
    for (int j = 0; j < w->n; j++) {
        for (int i = 0; i < w->n; i++) {
            int *p = &position[i + w->n * j];
            if (sparse && *p) w->row[next] = i;
            *p = !sparse ? i + w->n * j : *p ? next++ : NONE;
        }
        w->col[j + 1] = next;
    }
    place(w, position);
    w->values = sparse ? (size_t)next : (size_t)w->n * (size_t)w->n;
    w->S = (costate_pattern){w->n, w->col, w->row};
}

static int make(ivp *b, int n, int count, const reaction *table, const double *start, int sparse)
{
    network *w = calloc(1, sizeof *w);
    if (!w) return COSTATE_NO_MEMORY;
    w->n = n, w->count = count;
    for (int k = 0; k < count; k++) w->r[k] = compile(w, &table[k]);
    lay_out(w, sparse);
    *b = (ivp){.P = {.n = n, .ctx = w, .jac = jacobian, .pattern = sparse ? &w->S : NULL,
                     .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = tangent2,
                             .adjoint_tangent = adjoint_tangent}},
               .y0 = start, .stiff = 1, .own = w, .free_own = free};
    return COSTATE_OK;
}

#define LENGTH(a) ((int)(sizeof(a) / sizeof(a)[0]))

int ivp_hires(ivp *b, int sparse)
{
    int status = make(b, 8, LENGTH(hires), hires, hires_start, sparse);
    b->t1 = 321.8122;
    b->atol = 1e-4;
    return status;
}

int ivp_robertson(ivp *b, int sparse)
{
    int status = make(b, 3, LENGTH(robertson), robertson, robertson_start, sparse);
    b->t1 = 1e4;
    b->atol = 1e-6;
    return status;
}

int ivp_lv(ivp *b, int sparse)
{
    int status = make(b, 2, LENGTH(lv), lv, lv_start, sparse);
    b->t1 = 10;
    b->atol = 1;
    b->stiff = 0;
    return status;
}

int ivp_orego(ivp *b, int sparse)
{
    int status = make(b, 3, LENGTH(orego), orego, orego_start, sparse);
    b->t1 = 360;
    b->atol = 1;
    return status;
}

int ivp_pollu(ivp *b, int sparse)
{
    int status = make(b, SPECIES, REACTIONS, pollu_reactions, pollu_start, sparse);
    b->t1 = 60;
    b->atol = 1e-4;
    b->functional = POLLU_O3;
    return status;
}
