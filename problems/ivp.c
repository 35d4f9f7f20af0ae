/* ivp.c - the table of the initial-value problems. */
#include "ivp.h"

#include <stdlib.h>
#include <string.h>

#include "swe.h"

typedef struct { swe *s; double *y0; } swe_own;

static void free_swe(void *p)
{
    swe_own *own = p;
    if (!own) return;
    swe_free(own->s);
    free(own->y0);
    free(own);
}

int ivp_swe(ivp *b, int side)
{
    swe_own *own = calloc(1, sizeof *own);
    b->own = own;
    b->free_own = free_swe;
    if (!own) return COSTATE_NO_MEMORY;
    if (!(own->s = swe_new(side, side))) return COSTATE_BAD_ARGUMENT;
    b->P = *swe_problem(own->s);
    if (!(own->y0 = malloc((size_t)b->P.n * sizeof *own->y0))) return COSTATE_NO_MEMORY;
    swe_initial(own->s, own->y0);
    b->y0 = own->y0;
    b->t1 = 0.011;
    b->atol = 1;
    return COSTATE_OK;
}

int ivp_swe_shared(ivp *b, int side)
{
    int status = ivp_swe(b, side);
    swe_own *own = b->own;
    if (status != COSTATE_OK) return status;
    if (!swe_share(own->s)) return COSTATE_NO_MEMORY;
    b->P = *swe_problem(own->s);
    return COSTATE_OK;
}

static int height(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    return *out = x->y[0], 0;
}

static int height_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x, (void)ctx;
    return *out = dx->y ? dx->y[0] : 0, 0;
}

static int height_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x, (void)ctx;
    if (g->y) g->y[0] += *w;
    return 0;
}

int ivp_swe_guarded(ivp *b, int side)
{
    static const costate_event dry = {
        .guard = {.value = height, .tangent = height_tangent, .adjoint = height_adjoint}, .direction = -1,
        .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE, .terminal = 1};
    int status = ivp_swe(b, side);
    b->P.nevents = 1;
    b->P.event = &dry;
    return status;
}

static const struct {
    const char *name;
    int size, sparse_choice;                 /* the usual size; 1: make takes `sparse` instead */
    int (*make)(ivp *, int);
} table[] = {
    {"swe", 40, 0, ivp_swe},
    {"swe_guarded", 40, 0, ivp_swe_guarded},
    {"swe_shared", 40, 0, ivp_swe_shared},
    {"brusselator2d", 32, 0, ivp_brusselator2d},
    {"brusselator_1", 64, 0, ivp_brusselator_1},
    {"brusselator_10", 64, 0, ivp_brusselator_10},
    {"brusselator_100", 64, 0, ivp_brusselator_100},
    {"brusselator1d", 50, 0, ivp_brusselator1d},
    {"heat2d", 128, 0, ivp_heat2d},
    {"combustion_10", 64, 0, ivp_combustion_10},
    {"combustion_20", 64, 0, ivp_combustion_20},
    {"cube", 64, 0, ivp_cube},
    {"diffusion", 200, 0, ivp_diffusion},
    {"hires", 0, 1, ivp_hires},
    {"robertson", 0, 1, ivp_robertson},
    {"lv", 0, 1, ivp_lv},
    {"orego", 0, 1, ivp_orego},
    {"ring", 0, 1, ivp_ring},
    {"pleiades", 0, 1, ivp_pleiades},
    {"vdpol", 1000, 0, ivp_vdpol},
    {"vdpol_original", 50, 0, ivp_vdpol_original},
    {"waves", 100, 0, ivp_waves},
    {"pollu", 0, 1, ivp_pollu},
    {"smog", 40, 0, ivp_smog},
    {"heat_dae", 40, 0, ivp_heat_dae},
    {"heat_mass", 40, 0, ivp_heat_mass},
    {"foodweb", 20, 0, ivp_foodweb},
    {"fekete", 0, 1, ivp_fekete},
    {"rooms", 10, 0, ivp_rooms},
    {"rooms_least", 10, 0, ivp_rooms_least},
    {"hysteresis", 0, 1, ivp_hysteresis},
    {"ball", 0, 1, ivp_ball},
    {"control_linear", 100, 0, ivp_control_linear},
    {"control_chebyshev", 100, 0, ivp_control_chebyshev},
    {"heat_edges", 40, 0, ivp_heat_edges},
    {"sterilisation_10", 5, 0, ivp_sterilisation_10},
    {"sterilisation_100", 10, 0, ivp_sterilisation_100},
    {"sterilisation_500", 10, 0, ivp_sterilisation_500},
};
enum { COUNT = sizeof table / sizeof table[0] };

const char *ivp_name(int k) { return k >= 0 && k < COUNT ? table[k].name : NULL; }

int ivp_new(ivp *b, const char *name, int size, int sparse)
{
    int k = 0;
    *b = (ivp){.own = NULL};
    while (k < COUNT && strcmp(table[k].name, name) != 0) k++;
    if (k == COUNT) return COSTATE_BAD_ARGUMENT;
    int status = table[k].make(b, table[k].sparse_choice ? sparse : size > 0 ? size : table[k].size);
    if (status != COSTATE_OK) ivp_free(b);
    return status;
}

static double squares(int n, const double *y)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += y[i] * y[i];
    return sum / 2;
}

int ivp_length(const ivp *b) { return b->P.n + b->P.nq + b->P.nm; }

static double weighted(const ivp *b, const double *y, double *w)
{
    double sum = 0;
    for (int i = 0; i < ivp_length(b); i++) sum += (w[i] = b->weights[i]) * y[i];
    return sum;
}

double ivp_seed(const ivp *b, const double *y, double *w)
{
    size_t bytes = (size_t)b->P.n * sizeof *w;
    if (b->goal) return b->goal(&b->P, y, w);
    if (b->weights) return weighted(b, y, w);
    if (b->functional == IVP_SQUARES) return memcpy(w, y, bytes), squares(b->P.n, y);
    memset(w, 0, (size_t)ivp_length(b) * sizeof *w);
    w[b->functional] = 1;
    return y[b->functional];
}

int ivp_seed2(const ivp *b, int m, const double *V, double *w2)
{
    size_t N = (size_t)ivp_length(b);
    if (b->goal) return 1;
    memset(w2, 0, N * (size_t)m * sizeof *w2);
    for (size_t j = 0; !b->weights && b->functional == IVP_SQUARES && j < (size_t)m; j++)
        memcpy(w2 + j * N, V + j * N, (size_t)b->P.n * sizeof *w2);
    return 0;
}

void ivp_direction(const ivp *b, int k, double *V, double *Vp)
{
    size_t N = (size_t)ivp_length(b), np = (size_t)b->P.np;
    const double *u = k < b->nu ? b->u + (size_t)k * (N + np) : NULL;
    memset(V, 0, N * sizeof *V);
    if (np) memset(Vp, 0, np * sizeof *Vp);
    if (u) memcpy(V, u, N * sizeof *V);
    else V[(k - b->nu) % b->P.n] = 1;
    if (u && np) memcpy(Vp, u + N, np * sizeof *Vp);
}

void ivp_by_a(const ivp *b, const double *by_y0, double *out)
{
    const double *column = b->by_a;
    for (int j = 0; j < b->na; j++, column += b->P.n) {
        out[j] = 0;
        for (int i = 0; i < b->P.n; i++) out[j] += column[i] * by_y0[i];
    }
}

int ivp_before_index2(const ivp *b)
{
    int count = b->P.index ? 0 : b->P.n;
    for (int i = 0; b->P.index && i < b->P.n; i++) count += b->P.index[i] < 2;
    return count;
}

void ivp_free(ivp *b)
{
    if (b->own) b->free_own(b->own);
    *b = (ivp){.own = NULL};
}
