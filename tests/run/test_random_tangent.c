/* test_random_tangent.c - random runs in derivative mode: the tangent is the derivative of replays, by differences of
   order 8, with a factorisation or with GMRES, for any size, stiffness and kind of M; loose tolerances, where Newton
   has most to do.

       (4/5) d1 - (1/5) d2 + (4/105) d3 - (1/280) d4,  dk = F(x + k e v) - F(x - k e v) */
#include "common.h"
#include "random_case.h"

enum { TRIES = 12, FIRST = 55 };     /* from case FIRST on */
enum { DEGREE_MOST = 9 };            /* rkc: higher ones bring the differences more round-off */

typedef struct { const costate_method *m; random_case *b; costate_options o; char text[200]; } setting;

/* The differences' own error: round-off of the replays over e, which counts where the tangent has become small beside
   y; and e^8 times eighth derivatives: the better of two e. */
static const double STEPS[] = {0.02, 0.005}, ALLOWED = 1e-9, SMALL = 1e-3;

static double gap(int N, const double *V, const double *d, const double *y)
{
    double size = 0;
    for (int i = 0; i < N; i++) size = larger_of(size, larger_of(fabs(d[i]), SMALL * fabs(y[i])));
    return largest_gap(N, V, d) / size;
}

typedef struct {
    costate *c;
    costate_tape *tape;
    const random_case *b;
    double *y, *z, *V, *V0, *d, *Vp, *p, *memory;
    size_t n, N, np;
} trial;

static trial open_trial(const setting *s, unsigned *u)
{
    const random_case *b = s->b;
    trial x = {.b = b, .n = (size_t)b->P.n, .N = (size_t)(b->P.n + b->P.nq), .np = (size_t)b->P.np};
    x.memory = x.y = calloc(5 * x.N + 2 * x.np, sizeof *x.y);
    assert_non_null(x.memory);
    x.z = x.y + x.N;
    x.V = x.z + x.N;
    x.V0 = x.V + x.N;
    x.d = x.V0 + x.N;
    x.Vp = x.d + x.N;
    x.p = x.Vp + x.np;
    random_fill(u, x.n, x.V0);
    random_fill(u, x.np, x.Vp);
    for (size_t i = 0; i < x.n; i++) x.V0[i] *= 0.3;
    memcpy(x.V, x.V0, x.N * sizeof *x.V);
    memcpy(x.y, b->y0, x.n * sizeof *x.y);
    x.c = new_for_test(s->m, &b->P, &s->o);
    x.tape = costate_tape_new();
    return x;
}

static int differences(trial *x, double e)
{
    static const double w[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    memset(x->d, 0, x->N * sizeof *x->d);
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        for (size_t i = 0; i < x->N; i++) x->z[i] = (i < x->n ? x->b->y0[i] : 0) + k * e * x->V0[i];
        for (size_t i = 0; i < x->np; i++) x->p[i] = x->b->p0[i] + k * e * x->Vp[i];
        int status = costate_replay(x->c, x->tape, x->z, x->p);
        if (status != COSTATE_OK) return status;
        for (size_t i = 0; i < x->N; i++) x->d[i] += (k > 0 ? 1 : -1) * w[abs(k) - 1] / e * (x->z[i] - x->y[i]);
    }
    return COSTATE_OK;
}

/* -1: the run needs too many steps, or a step that was right at the point is not so beside it, or GMRES says that it
 * cannot */
static double error_of(const setting *s, unsigned *u)
{
    trial x = open_trial(s, u);
    double best = HUGE_VAL;
    int status = costate_integrate(x.c, s->b->t0, s->b->t1, x.y, s->b->p0, x.tape);
    if (status == COSTATE_OK) status = costate_tangent(x.c, x.tape, 1, x.V, x.np ? x.Vp : NULL, NULL, NULL);
    for (int k = 0; k < 2 && status == COSTATE_OK && best > ALLOWED; k++) {
        status = differences(&x, STEPS[k]);
        if (status == COSTATE_OK) best = fmin(best, gap((int)x.N, x.V, x.d, x.y));
    }
    if (status != COSTATE_OK && status != COSTATE_MAX_STEPS && status != COSTATE_NEWTON && status != COSTATE_STAGNATED)
        fail_msg("%s: %s", s->text, costate_message(x.c));
    costate_free(x.c);
    costate_tape_free(x.tape);
    free(x.memory);
    return status == COSTATE_OK ? best : -1;
}

static void derivatives(void **state)
{
    costate_method_info i = method_info(*state);
    int done = 0, tries = getenv("TRIES") ? atoi(getenv("TRIES")) : TRIES;      /* more of them by hand */
    double worst = 0;
    for (int k = FIRST; k < FIRST + tries; k++) {
        unsigned u = 104729u * (unsigned)k + (unsigned)i.stages * 31u + (unsigned)i.order;
        for (int w = 0; w < 3; w++) random_in(&u);
        random_spec r = {.seed = u,
                         .np = (int)random_below(&u, 3),
                         .nq = (int)random_below(&u, 3),
                         .sparse = (int)random_below(&u, 2),
                         .autonomous = (int)random_below(&u, 2),
                         .backwards = (int)random_below(&u, 2),
                         .n = 1 + (int)random_below(&u, 12)};
        r.mass = (int)random_below(&u, i.properties & COSTATE_DAE ? 3 : 2);
        r.diagonal = takes_diagonal_mass_only(*state);
        double digits = is_stabilised(*state) ? 3 : 5;
        r.stiffness = takes_stiff(*state) ? pow(10, digits * random_below(&u, 1000) / 999.0) : 5;
        setting s = {.m = *state, .b = random_case_new(&r)};
        assert_non_null(s.b);
        s.o = (costate_options){.rtol = pow(10, -2 - (i.order > 2 ? 3.0 : 1.0) * random_below(&u, 1000) / 999.0),
                                .derivative_mode = 1,
                                .max_steps = 1000,
                                .degree_max = DEGREE_MOST,
                                .autonomous = r.autonomous,
                                .solver = random_below(&u, 2) ? COSTATE_LS_GMRES : 0,
                                .storage = (int)random_below(&u, 2)};
        s.o.atol = s.o.rtol;
        snprintf(s.text, sizeof s.text,
                 "%s, case %d: n %d, np %d, nq %d, mass %d, sparse %d, stiff %.0e, rtol %.0e, solver %d, storage %d",
                 i.name, k, r.n, r.np, r.nq, r.mass, r.sparse, r.stiffness, s.o.rtol, s.o.solver, s.o.storage);
        double error = error_of(&s, &u);
        if (!(error <= ALLOWED)) fail_msg("%s: error %.2e", s.text, error);
        done += error >= 0;
        worst = larger_of(worst, error);
        random_case_free(s.b);
    }
    print_message("           %d of %d, largest error %.1e\n", done, tries, worst);
    assert_true(2 * done >= tries);
}

int main(void) { return run_by_kind("tangents are differences of replays", derivatives); }
