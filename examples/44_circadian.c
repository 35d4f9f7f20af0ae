/* 44_circadian.c - a circadian clock: which of its 17 constants determine its period?

   Goldbeter's model of the protein PER in Drosophila (Proc. R. Soc. Lond. B 261 (1995) 319): messenger RNA M is made at
   a rate that nuclear protein PN represses; the protein P0 is phosphorylated twice, moves into the nucleus and back,
   and is degraded.  Every reaction has one rate that depends on one concentration, so that a table is the whole model.

   costate_periodic_solve finds the limit cycle, and one backward sweep over one period gives the derivatives of the
   period with respect to all constants.  The check: where all rates are s times as large, the clock is s times as fast;
   so the sum of k dT/dk over the constants k that are rates is -T. */
#include <costate/periodic.h>
#include <math.h>
#include <stdio.h>

enum { M, P0, P1, P2, PN, N };
enum { VS, KI, VM, KM, KS, V1, K1, V2, K2, V3, K3, V4, K4, IN, OUT, VD, KD, NP };
static const char *const names[NP] = {"vs", "KI", "vm", "Km", "ks", "V1", "K1", "V2", "K2", "V3", "K3", "V4", "K4",
                                      "k1", "k2", "vd", "Kd"};
/* micromol/l and hours */
static const double known[NP] = {0.76, 1, 0.65, 0.5, 0.38, 3.2, 2, 1.58, 2, 5, 2, 2.5, 2, 1.9, 1.3, 0.95, 0.2};

/* v x (LINEAR), v x/(k + x) (SATURATED) or v k^4/(k^4 + x^4) (REPRESSED); -1: no constant k, no source, no target */
enum { LINEAR, SATURATED, REPRESSED };
typedef struct { int kind, v, k, of, from, to; } reaction;
static const reaction table[] = {
    {REPRESSED, VS, KI, PN, -1, M}, {SATURATED, VM, KM, M, M, -1}, {LINEAR, KS, -1, M, -1, P0},
    {SATURATED, V1, K1, P0, P0, P1}, {SATURATED, V2, K2, P1, P1, P0}, {SATURATED, V3, K3, P1, P1, P2},
    {SATURATED, V4, K4, P2, P2, P1}, {LINEAR, IN, -1, P2, P2, PN}, {LINEAR, OUT, -1, PN, PN, P2},
    {SATURATED, VD, KD, P2, P2, -1}};
enum { REACTIONS = sizeof table / sizeof *table };

typedef struct { double rate, by_v, by_k, by_x; } rates;

static rates rate_of(const reaction *r, const double *y, const double *p)
{
    double x = y[r->of], v = p[r->v], k = r->k < 0 ? 0 : p[r->k];
    if (r->kind == LINEAR) return (rates){v * x, x, 0, v};
    double both = (k + x) * (k + x);
    if (r->kind == SATURATED) return (rates){v * x / (k + x), x / (k + x), -v * x / both, v * k / both};
    double a = pow(k, 4), b = pow(x, 4), square = (a + b) * (a + b);
    return (rates){v * a / (a + b), a / (a + b), v * 4 * pow(k, 3) * b / square, -v * a * 4 * pow(x, 3) / square};
}

static int f(const costate_point *x, double *out, void *ctx)
{
    for (int i = 0; i < N; i++) out[i] = 0;
    for (int i = 0; i < REACTIONS; i++) {
        const reaction *r = table + i;
        double rate = rate_of(r, x->y, x->p).rate;
        if (r->from >= 0) out[r->from] -= rate;
        if (r->to >= 0) out[r->to] += rate;
    }
    return (void)ctx, 0;
}
static int f_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    for (int i = 0; i < N; i++) out[i] = 0;
    for (int i = 0; i < REACTIONS; i++) {
        const reaction *r = table + i;
        rates by = rate_of(r, x->y, x->p);
        double rate = d->y ? by.by_x * d->y[r->of] : 0;
        if (d->p) rate += by.by_v * d->p[r->v] + (r->k < 0 ? 0 : by.by_k * d->p[r->k]);
        if (r->from >= 0) out[r->from] -= rate;
        if (r->to >= 0) out[r->to] += rate;
    }
    return (void)ctx, 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    for (int i = 0; i < REACTIONS; i++) {
        const reaction *r = table + i;
        rates by = rate_of(r, x->y, x->p);
        double weight = (r->to >= 0 ? w[r->to] : 0) - (r->from >= 0 ? w[r->from] : 0);
        if (g->y) g->y[r->of] += by.by_x * weight;
        if (g->p) g->p[r->v] += by.by_v * weight;
        if (g->p && r->k >= 0) g->p[r->k] += by.by_k * weight;
    }
    return (void)ctx, 0;
}

static int is_rate(int constant)
{
    for (int i = 0; i < REACTIONS; i++) if (table[i].v == constant) return 1;
    return 0;
}

int main(void)
{
    costate_problem problem = {.n = N, .np = NP, .rhs = {.value = f, .tangent = f_tangent, .adjoint = f_adjoint}};
    costate_options options = {.rtol = 1e-11, .atol = 1e-11};
    costate_periodic_options orbits = {.settle = 5};                /* from a guess: the cycle is stable */
    costate_periodic *c = costate_periodic_new(costate_method_find("dopri853"), &problem, &options, &orbits);
    double y[N] = {1, 1, 1, 1, 1}, T = 24, lambda[N + 1] = {[N] = 1}, by_p[NP] = {0}, sum = 0;
    costate_orbit orbit;
    int status = costate_periodic_solve(c, y, &T, known);
    if (status == COSTATE_OK) status = costate_periodic_orbit(c, &orbit);
    if (status == COSTATE_OK) status = costate_periodic_adjoint(c, 1, lambda, by_p);
    if (status != COSTATE_OK) {
        puts(costate_periodic_message(c));
        return 1;
    }
    printf("period %.8f h; largest other multiplier %.4f, so that the cycle is %s\n", T, orbit.multiplier,
           orbit.stable ? "stable" : "unstable");
    puts("constant  percent of the period for one percent more");
    for (int k = 0; k < NP; k++) {
        printf("%-8s %8.4f\n", names[k], by_p[k] * known[k] / T);
        if (is_rate(k)) sum += by_p[k] * known[k];
    }
    printf("sum over rates: -1 %+.1e\n", sum / T + 1);
    costate_periodic_free(c);
    return !(fabs(sum / T + 1) < 1e-8);
}
