/* trials.c - the problems that methods are recommended by, and those that composite methods meet besides, from the
   tables of the tests and the race. */
#include "recommend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daes.h"
#include "problems.h"
#include "robertson_dae.h"
#include "rotor_dae.h"

static int open_problem(trial *), open_grid(trial *), open_ivp(trial *), open_dae(trial *), open_robertson(trial *);
static int open_by_p(trial *), open_value(trial *), open_ivp_value(trial *);

#define BIT(family) (1u << (family))
#define ERK BIT(COSTATE_ERK)
#define RKC BIT(COSTATE_RKC)
#define FIRK BIT(COSTATE_FIRK)
#define IMPLICIT (FIRK | BIT(COSTATE_SDIRK) | BIT(COSTATE_ROS))
#define EXPLICIT_TIGHT {"verner98", "verner76"}
#define IMPLICIT_TIGHT {"radau2a5", "rodas6p"}
#define INDEX2_TIGHT {"radau2a5", "lobatto3c5"}

/* atol: of the size that the components have while they matter.  line: the Brusselator in one dimension; heat: on a
   square; heat_mass: the same with values on the boundary by constraints. */
static const trial table[] = {
#define NOT_STIFF .trait = "not stiff", .prices = "small", .families = ERK, .max_steps = 20000, .stride = 1, \
                  .tightest = 25, .tight = EXPLICIT_TIGHT
    {.name = "lv", .from = "lv", .by_hand = "lv", .open = open_problem, NOT_STIFF, .atol = 1},
    {.name = "detest_A3", .from = "detest_A3", .open = open_problem, NOT_STIFF, .atol = 1},
    {.name = "rotor", .from = "rotor", .open = open_problem, NOT_STIFF, .atol = 1},
    {.name = "swe", .from = "swe", .size = 20, .open = open_ivp, NOT_STIFF, .atol = 100},
#define STIFF .trait = "stiff", .prices = "small", .families = IMPLICIT, .max_steps = 20000, .stride = 1, \
              .tightest = 24, .tight = IMPLICIT_TIGHT
    {.name = "robertson", .from = "rober_4e7", .by_hand = "robertson", .open = open_problem, STIFF, .atol = 1e-6},
    {.name = "orego", .from = "orego", .by_hand = "orego", .open = open_problem, STIFF, .atol = 1},
    {.name = "hires", .from = "hires", .by_hand = "hires", .open = open_problem, STIFF, .atol = 1e-4},
    {.name = "vdpol", .from = "vdpol_1e3", .by_hand = "vdpol", .size = 1000, .open = open_value, STIFF,
     .atol = 1},
    {.name = "pollu", .from = "pollu", .open = open_ivp, STIFF, .atol = 1e-4},
/* line has a band: a factorisation takes 3 f of its formula, a solution 1 to 3, as times of 160 runs say.  With the f
   that is written by hand it takes 27 (choice/effort.c); its work is still counted with the prices of small systems.
   */
#define PARABOLIC .trait = "parabolic", .families = IMPLICIT | RKC, .max_steps = 1000, \
                  .stride = 2, .tightest = 24, .atol = 1, .tight = IMPLICIT_TIGHT
    {.name = "brusselator", .from = "brusselator_10", .size = 16, .open = open_ivp, PARABOLIC, .prices = "large"},
    {.name = "line", .from = "brusselator", .by_hand = "brusselator1d", .size = 50, .open = open_grid, PARABOLIC,
     .prices = "small"},
    {.name = "heat", .from = "heat", .size = 20, .open = open_grid, PARABOLIC, .prices = "large"},
#define GENERATED(model) .generated = model##_problem, .defaults = model##_defaults
#define SINGULAR .trait = "singular", .families = IMPLICIT, .stride = 1, .tightest = 24, .tight = IMPLICIT_TIGHT
    {.name = "rotor_dae", .from = "rotor_dae", GENERATED(rotor_dae), .open = open_by_p, SINGULAR, .prices = "small",
     .atol = 1, .max_steps = 20000},
    {.name = "robertson_dae", .from = "rober_4e7", GENERATED(robertson_dae), .open = open_robertson, SINGULAR,
     .prices = "small", .atol = 1e-6, .max_steps = 20000},
    {.name = "heat_mass", .from = "heat_mass", .size = 15, .open = open_by_p, SINGULAR, .prices = "large", .atol = 1,
     .max_steps = 2000},
#define RINGING .trait = "stiff", .prices = "small", .families = IMPLICIT, .max_steps = 200000, .stride = 1, \
                .tightest = 24, .tight = IMPLICIT_TIGHT
#define INDEX2 .trait = "index 2", .families = FIRK, .index2 = 1, .stride = 1, .prices = "small", .atol = 1, \
               .tightest = 24, .max_steps = 20000, .tight = INDEX2_TIGHT
    {.name = "I2A", .from = "I2A", .open = open_dae, INDEX2},
    {.name = "I2P", .from = "I2P", .open = open_dae, INDEX2},
    {.name = "pleiades", .more = 1, .from = "pleiades", .open = open_ivp, NOT_STIFF, .atol = 1},
    {.name = "vdpol_mu1", .more = 1, .from = "vdpol_original", .size = 1, .open = open_ivp, NOT_STIFF, .atol = 1},
    {.name = "vdpol_mu100", .more = 1, .from = "vdpol", .size = 100, .open = open_ivp_value, STIFF, .atol = 1},
    {.name = "vdpol_mu1e4", .more = 1, .from = "vdpol", .size = 10000, .open = open_ivp_value, STIFF, .atol = 1},
    {.name = "ring", .more = 1, .from = "ring", .open = open_ivp, RINGING, .atol = 1e-2},
};

/* ---- of the tests: the gradient of a component by y0, or by p ---- */

static int component(const trial *k)
{
    const problem *b = k->own;
    return b && b->reference ? b->reference->kout : 0;
}

static void one(const trial *k, const double *y, double *lambda)
{
    (void)y;
    lambda[component(k)] = 1;
}

static void squares(const trial *k, const double *y, double *lambda)
{
    for (int i = 0; i < k->P.n; i++) lambda[i] = y[i];
}

static void by_y0(const trial *k, const double *lambda, const double *mu, double *out)
{
    (void)mu;
    memcpy(out, lambda, (size_t)k->length * sizeof *out);
}

static void by_p(const trial *k, const double *lambda, const double *mu, double *out)
{
    (void)lambda;
    memcpy(out, mu, (size_t)k->length * sizeof *out);
}

static int take(trial *k, problem *b)
{
    if (!b) return 1;
    k->P = b->P;
    k->P.nq = 0;
    k->y0 = b->y0, k->p = b->p0, k->t0 = b->t0, k->t1 = b->t1;
    k->autonomous = b->autonomous;
    k->length = b->P.n;
    k->seed = one;
    k->gradient = by_y0;
    k->own = b;
    k->known = b->reference ? b->reference->y : NULL;
    return 0;
}

static int open_problem(trial *k) { return take(k, (problem *)(size_t)problem_find(k->from)); }

/* of y0 constraints leave less to choose than there is */
static int open_by_p(trial *k)
{
    int status = strcmp(k->from, "heat_mass") == 0 ? open_ivp(k) : open_problem(k);
    k->length = k->P.np;
    k->gradient = by_p;
    return status;
}

/* no gradient: see docs/explanation/choosing.md */
static int open_value(trial *k)
{
    int status = open_problem(k);
    k->length = 0;
    return status;
}

static void close_grid(void *own) { problem_free(own); }

static int open_grid(trial *k)
{
    int status = take(k, strcmp(k->from, "heat") == 0 ? problem_heat(k->size) : problem_brusselator(k->size));
    k->close = close_grid;
    k->seed = squares;
    return status;
}

static void by_two(const trial *k, const double *lambda, const double *mu, double *out)
{
    (void)k, (void)mu;
    for (int i = 0; i < 2; i++) out[i] = lambda[i] - lambda[2];
}

/* with y1 + y2 + y3 = 1 in place of the third equation; y3(0) is given by the others: the gradient by them */
static int open_robertson(trial *k)
{
    int status = open_problem(k);
    k->length = 2;
    k->gradient = by_two;
    return status;
}

/* ---- of the race ---- */

static void ivp_functional(const trial *k, const double *y, double *lambda) { ivp_seed(k->own, y, lambda); }

static void ivp_gradient(const trial *k, const double *lambda, const double *mu, double *out)
{
    const ivp *b = k->own;
    (void)mu;
    if (b->by_a) ivp_by_a(b, lambda, out);
    else memcpy(out, lambda, (size_t)k->length * sizeof *out);
}

static void close_ivp(void *own)
{
    ivp_free(own);
    free(own);
}

/* NULL: it cannot be made */
static ivp *ivp_of(const char *name, int size)
{
    ivp *b = calloc(1, sizeof *b);
    if (!b || ivp_new(b, name, size, 0) == COSTATE_OK) return b;
    free(b);
    return NULL;
}

static int open_ivp(trial *k)
{
    ivp *b = ivp_of(k->from, k->size);
    if (!b) return 1;
    k->P = b->P;
    k->y0 = b->y0, k->p = b->p, k->t1 = b->t1;
    k->autonomous = !b->timed;
    k->length = b->by_a ? b->na : b->P.n;
    k->seed = ivp_functional;
    k->gradient = ivp_gradient;
    k->own = b;
    k->close = close_ivp;
    return 0;
}

static int open_ivp_value(trial *k)
{
    int status = open_ivp(k);
    k->length = 0;
    return status;
}

/* ---- residuals of the tests: the gradient by p, the start's included ---- */

typedef struct { const dae *d; double y0[DAE_N], by_p[DAE_N * DAE_P]; } dae_own;

static void dae_functional(const trial *k, const double *y, double *lambda)
{
    double by_p[DAE_P];
    const dae *d = ((const dae_own *)k->own)->d;
    dae_g(d, d->T, y, d->p, lambda, by_p);
}

static void dae_gradient(const trial *k, const double *lambda, const double *mu, double *out)
{
    const dae_own *own = k->own;
    for (int j = 0; j < k->P.np; j++) {
        out[j] = mu[j];
        for (int i = 0; i < k->P.n; i++) out[j] += own->by_p[j * k->P.n + i] * lambda[i];
    }
}

static int open_dae(trial *k)
{
    dae_own *own = calloc(1, sizeof *own);
    if (!own) return 1;
    own->d = dae_find(k->from);
    dae_start(own->d, own->d->p, own->y0, own->by_p);
    k->P = dae_problem(own->d, 1);
    k->P.nq = 0;
    k->y0 = own->y0, k->p = own->d->p, k->t1 = own->d->T;
    k->length = k->P.np;
    k->known = own->d->y;
    k->seed = dae_functional;
    k->gradient = dae_gradient;
    k->own = own;
    k->close = free;
    return 0;
}

/* ---- the table ---- */

int trial_count(void) { return (int)(sizeof table / sizeof *table); }

/* Formulas take an evaluation for each unknown and parameter to form an adjoint. */
static int take_callbacks(trial *k)
{
    if (k->generated) {
        int n = k->P.n;
        k->P = *k->generated();
        k->p = k->defaults;
        return k->P.n != n;
    }
    if (!k->by_hand) return 0;
    ivp *b = k->callbacks = ivp_of(k->by_hand, k->size);
    if (!b || b->P.n != k->P.n) return 1;
    k->P = b->P;
    k->p = b->p;
    return 0;
}

int trial_open(int i, trial *k)
{
    *k = table[i];
    int status = k->open(k) || take_callbacks(k);
    return status || k->P.n > TRIAL_MOST || k->P.np > TRIAL_MOST;
}

void trial_close(trial *k)
{
    if (k->close) k->close(k->own);
    k->close = NULL;
    if (k->callbacks) close_ivp(k->callbacks);
    k->callbacks = NULL;
}
