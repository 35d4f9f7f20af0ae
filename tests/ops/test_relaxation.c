/* test_relaxation.c - relaxation: tangents and adjoints of relaxed runs are transposes, the derivatives of the replay,
   and the same whatever the tape keeps; Hessian products are symmetric and the derivatives of gradients.  By every
   method, without events and with them, in both directions of time. */
#include "relaxed.h"
#include "hybrid_seconds.h"

static costate_options options_of(const costate_method *m, int variant)
{
    static const int storage[] = {COSTATE_ALL_STAGES, COSTATE_STATES_ONLY, COSTATE_CHECKPOINTS};
    double hmax = method_info(m).order > 3 ? 0.8 : 0.15;    /* errors larger than round-off */
    costate_options o = {.rtol = 1e-4, .atol = 1e-4, .hmax = hmax, .storage = storage[variant % 3],
                         .keep_factors = variant >> 1 & 1, .derivative_mode = 1, .checkpoints = 40};
    if (is_newton(m)) o.stage_solve = COSTATE_STAGE_DIRECT + (variant & 1);
    if (!is_explicit(m)) o.solver = variant == 3 ? COSTATE_LS_GMRES : COSTATE_LS_DENSE;
    return o;
}

typedef struct { session s; costate_projection *q; } relaxed_session;

static void ran(relaxed_session *x, const costate_method *m, const hybrid *h, costate_options o)
{
    costate_problem P = hybrid_problem(h);
    x->q = relax(&P, 1);
    if (session_run_of(&x->s, m, h, P, o) != COSTATE_OK)
        fail_msg("%s, %s: %s", method_name(m), h->name, costate_message(x->s.c));
    int keeps = strncmp(method_name(m), "gauss", 5) == 0 || method_info(m).order > 10;      /* to round-off */
    if (!keeps && costate_get_stats(x->s.c)->corrections < 2) fail_msg("%s: not relaxed", method_name(m));
}

static void ended(relaxed_session *x)
{
    session_close(&x->s);
    costate_projection_free(x->q);
}

#define EACH_SWING(k) for (int k = 0; k < SWINGS_COUNT; k++)

static void transpose(void **state)
{
    double worst = 0;
    if (method_info(*state).order < 2) skip();
    EACH_SWING(k) for (int variant = 0; variant < 6; variant++) {
        if (skipped(k + variant, 2)) continue;
        relaxed_session x;
        ran(&x, *state, &SWINGS[k], options_of(*state, variant));
        double gap = session_gap(&x.s);
        say(&x.s, "gap", gap, 1e-12);
        worst = larger_of(worst, gap);
        ended(&x);
    }
    print_message("           largest gap %.1e\n", worst);
}

static void derivative(void **state)
{
    if (method_info(*state).order < 2) skip();
    EACH_SWING(k) {
        relaxed_session x;
        ran(&x, *state, &SWINGS[k], options_of(*state, 0));
        inputs d = replayed_inputs();
        say(&x.s, "differences of replays", differ(&x.s, &d, 1e-3), 1e-10);
        ended(&x);
    }
}

static void carried(void **state)
{
    if (method_info(*state).order < 2) skip();
    EACH_SWING(k) {
        relaxed_session x;
        ran(&x, *state, &SWINGS[k], options_of(*state, 0));
        session *s = &x.s;
        inputs d = random_inputs();
        double y[N_MOST], V[M * N_MOST], end[M];
        costate_times carry = {.t0 = d.t0, .t1 = d.t1, .end = end};
        memset(d.events, 0, sizeof d.events);
        memcpy(V, d.V, sizeof V);
        memcpy(y, s->y0, sizeof y);
        CHECK_OK(s->c, costate_integrate_tlm(s->c, s->h->t0, s->h->t1, y, s->h->p, M, V, d.p, &carry, s->tape));
        see_events(s);
        outputs over = tangent(s, &d);
        say(s, "carried", relative_gap(s->N * M, V, over.V), 1e-12);
        say(s, "carried, end", relative_gap(M, end, over.end), 1e-12);
        ended(&x);
    }
}

/* whatever the tape keeps, gradients have the same bits; a replay has those of the run */
static void stores(void **state)
{
    if (method_info(*state).order < 2) skip();
    EACH_SWING(k) {
        inputs of[3];
        for (int variant = 0; variant < 3; variant++) {
            costate_options o = options_of(*state, variant);
            o.keep_factors = 0;
            o.stage_solve = 0;
            o.hmax = fmin(o.hmax, 0.4);
            o.predictor = COSTATE_PREDICT_NONE;
            o.theta_reuse = -1;
            relaxed_session x;
            ran(&x, *state, &SWINGS[k], o);
            session *s = &x.s;
            double y[N_MOST];
            memcpy(y, s->y0, sizeof y);
            CHECK_OK(s->c, costate_replay(s->c, s->tape, y, s->h->p));
            assert_memory_equal(y, s->y, (size_t)s->N * sizeof *y);
            outputs w = random_outputs();
            of[variant] = adjoint(s, &w, s->c);
            if (variant == 2) assert_true(costate_get_stats(s->c)->remade > 0);
            say(s, "gradients by store", relative_gap(s->N * M, of[variant].V, of[0].V), 1e-11);
            say(s, "gradients by store, p", relative_gap(s->h->np * M, of[variant].p, of[0].p), 1e-11);
            ended(&x);
        }
    }
}

static void symmetry(void **state)
{
    double worst = 0;
    if (method_info(*state).order < 2) skip();
    EACH_SWING(k) for (int variant = 0; variant < 6; variant++) {
        if (skipped(k + variant, 2)) continue;
        relaxed_session x;
        ran(&x, *state, &SWINGS[k], options_of(*state, variant));
        inputs d = random_inputs();
        product_of r = hessian_over(&x.s, &d, x.s.tape, x.s.c, 0);
        double gap = asymmetry(&x.s, &d, &r);
        say(&x.s, "symmetry", gap, 1e-12);
        worst = larger_of(worst, gap);
        ended(&x);
    }
    print_message("           largest asymmetry %.1e\n", worst);
}

static void second_derivative(void **state)
{
    if (method_info(*state).order < 2) skip();
    EACH_SWING(k) {
        if (skipped(k, 2)) continue;
        relaxed_session x;
        ran(&x, *state, &SWINGS[k], options_of(*state, k & 1));
        say(&x.s, "differences of gradients", gap_to_differences(&x.s), 1e-9);
        ended(&x);
    }
}

int main(void)
{
    return run_by_kind("relaxation, transposes", transpose) + run_by_kind("relaxation, carried", carried) +
           run_by_kind("relaxation, derivative of the replay", derivative) +
           run_by_kind("relaxation, by any store", stores) + run_by_kind("relaxation, Hessian", symmetry) +
           run_by_kind("relaxation, differences of gradients", second_derivative);
}
