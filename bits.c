/* bits.c - what a library computes, to the bit: a line of hashes for each method, problem, linear solver and variant of
   the options.

   Only the public interface: the same program runs with the libraries of two commits (same_bits).  Hashed are states
   and step sizes of a tape, its dense output, a replay, tangents and adjoints with parameters, times and observations,
   the tangents carried along, and the counters. */
#include "bits.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { M = 2, LONGEST = N_MOST + 1, TIMES = 3, VARIANTS = 4 };      /* directions and functionals; N = n + 1 */

#define HASH_START UINT64_C(14695981039346656037)                    /* FNV-1a, 64 bit */
#define HASH_PRIME UINT64_C(1099511628211)

static void hash(uint64_t *h, const void *x, size_t size)
{
    for (const unsigned char *p = x; size--; p++) *h = (*h ^ *p) * HASH_PRIME;
}

static void hash_numbers(uint64_t *h, const double *x, int count) { hash(h, x, (size_t)count * sizeof *x); }

/* in the order of the printed columns */
typedef struct { uint64_t tape, replay, dense, tangent, adjoint, carried, counters; } prints;

typedef struct {                /* a run, and what is hashed of it so far */
    const model *is;
    int N, status, steps;
    costate *c;
    costate_tape *tape;
    double start[LONGEST], p[NP];
    prints of;
} session;

/* ---- the parts of a run --------------------------------------------------------------------------------------- */

static void forward(session *s)
{
    double y[LONGEST], t, h;
    memcpy(y, s->start, sizeof y);
    s->status = costate_integrate(s->c, 0, s->is->t1, y, s->p, s->tape);
    s->steps = costate_tape_steps(s->tape);
    double state[LONGEST];
    for (int k = 0; s->status == 0 && k < s->steps; k++) {
        costate_tape_get(s->tape, k, &t, &h, state);
        hash_numbers(&s->of.tape, &t, 1);
        hash_numbers(&s->of.tape, &h, 1);
        hash_numbers(&s->of.tape, state, s->N);
    }
    hash_numbers(&s->of.tape, y, s->N);
}

static void dense(session *s)
{
    double state[LONGEST];
    for (int k = 1; s->status == 0 && k < 8; k++) {
        s->status = costate_tape_eval(s->c, s->tape, s->is->t1 * k / 8, state);
        hash_numbers(&s->of.dense, state, s->is->n);
    }
}

static void replay(session *s)
{
    double y[LONGEST];
    memcpy(y, s->start, sizeof y);
    if (s->status == 0) s->status = costate_replay(s->c, s->tape, y, s->p);
    hash_numbers(&s->of.replay, y, s->N);
}

static int observe(int k, double t, const double *y, int m, const double *V, void *ctx)
{
    uint64_t *h = ctx;
    (void)k, (void)t;
    hash_numbers(h, y, 3);                      /* every problem has three states */
    hash_numbers(h, V, 3 * m);
    return 0;
}

static int seed(int k, double t, const double *y, int m, double *w, void *ctx)
{
    (void)k, (void)t, (void)y, (void)m, (void)ctx;
    w[0] = w[2] = 1;
    return 0;
}

/* Two observations at one time. */
static const double observed[TIMES] = {0.1, 0.1, 0.45};
static const double directions_p[NP * M] = {1, 0, 0.5, -1};

static void directions(int N, double *V)
{
    for (int i = 0; i < M * N; i++) V[i] = 0.1 * (i % 7) - 0.2;
}

static void tangent(session *s)
{
    double V[M * LONGEST] = {0}, times[2 * M] = {0.5, 0, 1, -1}, by_times[TIMES * M] = {0};
    costate_observations see = {.count = TIMES, .t = observed, .value = observe, .seed = seed, .dt = by_times,
                                .ctx = &s->of.tangent};
    costate_times both = {.t0 = times, .t1 = times + M};
    directions(s->N, V);
    if (s->status == 0)
        s->status = costate_tangent(s->c, s->tape, M, V, directions_p, &both, &see);
    hash_numbers(&s->of.tangent, V, M * s->N);
}

static void adjoint(session *s)
{
    double lambda[M * LONGEST] = {0}, mu[NP * M] = {0}, times[2 * M] = {0}, by_times[TIMES * M] = {0};
    costate_observations see = {.count = TIMES, .t = observed, .value = observe, .seed = seed, .dt = by_times,
                                .ctx = &s->of.tangent};
    costate_times both = {.t0 = times, .t1 = times + M};
    for (int i = 0; i < M * s->N; i++) lambda[i] = 0.3 - 0.1 * (i % 5);
    if (s->status == 0)
        s->status = costate_adjoint(s->c, s->tape, M, lambda, mu, &both, &see);
    hash_numbers(&s->of.adjoint, lambda, M * s->N);
    hash_numbers(&s->of.adjoint, mu, NP * M);
    hash_numbers(&s->of.adjoint, times, 2 * M);
    hash_numbers(&s->of.adjoint, by_times, TIMES * M);
}

static void carried(session *s)
{
    double y[LONGEST], V[M * LONGEST] = {0}, Vp[NP * M];
    memcpy(y, s->start, sizeof y);
    memcpy(Vp, directions_p, sizeof Vp);
    directions(s->N, V);
    if (s->status == 0) s->status = costate_integrate_tlm(s->c, 0, s->is->t1, y, s->p, M, V, Vp, NULL, NULL);
    hash_numbers(&s->of.carried, V, M * s->N);
}

/* ---- all of it ------------------------------------------------------------------------------------------------ */

/* Counters grow at the end of the struct: those up to tape_bytes. */
static void counters(session *s)
{
    const costate_stats *found = costate_get_stats(s->c);
    if (found) hash(&s->of.counters, found, offsetof(costate_stats, tape_bytes));
}

static session all(const costate_method *m, int which, const costate_options *o)
{
    diffusion_entries entries;
    costate_pattern pattern = diffusion_pattern(&entries);
    costate_problem P = bits_problem(&which, &pattern);
    session s = {.is = &models[which], .N = models[which].n + 1, .p = {4, 3}};
    s.of = (prints){HASH_START, HASH_START, HASH_START, HASH_START, HASH_START, HASH_START, HASH_START};
    bits_start(which, s.start);
    s.c = costate_new(m, &P, o);
    s.tape = costate_tape_new();
    forward(&s);
    dense(&s);
    replay(&s);
    tangent(&s);
    adjoint(&s);
    carried(&s);
    counters(&s);
    costate_tape_free(s.tape);
    costate_free(s.c);
    return s;
}

static void print(const session *s)
{
    const uint64_t columns[] = {s->of.tape, s->of.replay, s->of.dense, s->of.tangent, s->of.adjoint, s->of.carried,
                                s->of.counters};
    printf("%3d %3d", s->status, s->steps);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) printf(" %016" PRIx64, columns[k]);
    printf("\n");
}

int main(void)
{
    static const struct { const char *name; int is; } solvers[] = {
        {"auto", COSTATE_LS_AUTO}, {"band", COSTATE_LS_BAND}, {"klu", COSTATE_LS_KLU}, {"umfpack", COSTATE_LS_UMFPACK},
        {"gmres", COSTATE_LS_GMRES}};
    static const costate_options variants[VARIANTS] = {         /* the four differ in storage and kept factorisations */
        {.storage = 0, .keep_factors = 0}, {.storage = 1, .keep_factors = 0},
        {.storage = 0, .keep_factors = 1, .tangent_error = 1}, {.storage = 1, .keep_factors = 1, .derivative_mode = 1}};
    for (int k = 0; k < costate_method_count(); k++)
        for (int which = 0; which < MODELS; which++)
            for (size_t l = 0; l < sizeof solvers / sizeof *solvers; l++)
                for (int variant = 0; variant < VARIANTS; variant++) {
                    costate_options o = variants[variant];
                    costate_method_info info;
                    o.rtol = 1e-4;
                    o.atol = 1e-6;
                    o.solver = solvers[l].is;
                    costate_method_describe(costate_method_at(k), &info);
                    session s = all(costate_method_at(k), which, &o);
                    printf("%-10s %-9s %-7s %d: ", info.name, models[which].name, solvers[l].name, variant);
                    print(&s);
                }
    return 0;
}
