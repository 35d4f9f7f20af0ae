/* test_after_step.c - problem.after_step in runs with events: tangents and adjoints are transposes, the derivatives of
   the replay, and the same whatever the tape keeps; Hessian products are symmetric and the derivatives of gradients.

   `everything` of hybrids.h in its forms up to index 1 and both directions of time, with a map after each step, by
   every method that takes it. */
#include "corrected.h"
#include "hybrid_seconds.h"

static costate_options options_of(const costate_method *m, const hybrid *h, int variant)
{
    static const int storage[] = {COSTATE_ALL_STAGES, COSTATE_STATES_ONLY, COSTATE_CHECKPOINTS};
    costate_options o = {.rtol = 1e-4, .atol = 1e-4, .hmax = 0.15, .mode = h->mode, .storage = storage[variant % 3],
                         .keep_factors = variant >> 1 & 1, .derivative_mode = 1, .checkpoints = 40};
    if (h->form != HYBRID_ODE) o.consistent = 1 + 2 * (variant >> 1 & 1);
    if (is_newton(m)) o.stage_solve = COSTATE_STAGE_DIRECT + (variant & 1);
    if (!is_explicit(m)) o.solver = variant == 3 && h->form == HYBRID_ODE ? COSTATE_LS_GMRES : COSTATE_LS_DENSE;
    return o;
}

#define EACH_FORM(h) \
    const hybrid *h; \
    for (int k_ = 0; (h = hybrid_at(k_)); k_++) \
        if (!h->reference && h->form != HYBRID_INDEX_2 && hybrid_takes(*state, h))

static void transpose(void **state)
{
    double worst = 0;
    EACH_FORM(h) for (int variant = 0; variant < 6; variant++) {
        if (skipped(k_ + variant + turn_of(*state), 4)) continue;
        session s = session_corrected(*state, h, variant, options_of(*state, h, variant));
        double gap = session_gap(&s);
        say(&s, "gap", gap, 1e-12 * amplified(&s));
        worst = larger_of(worst, gap);
        session_close(&s);
    }
    print_message("           largest gap %.1e\n", worst);
}

static void derivative(void **state)
{
    EACH_FORM(h) {
        if (skipped(k_ + turn_of(*state), 3)) continue;
        costate_options o = options_of(*state, h, 0);
        o.hmax = 0.1;
        session s = session_corrected(*state, h, k_ % 4, o);
        inputs x = replayed_inputs();
        say(&s, "differences of replays", differ(&s, &x, 5e-4), 1e-10 * amplified(&s) * instants(&s, 0));
        session_close(&s);
    }
}

static void carried(void **state)
{
    EACH_FORM(h) {
        if (skipped(k_ + turn_of(*state), 2)) continue;
        session s = session_corrected(*state, h, 3, options_of(*state, h, 0));
        inputs x = random_inputs();
        double y[N_MOST], V[M * N_MOST], end[M];
        costate_times carry = {.t0 = x.t0, .t1 = x.t1, .end = end};
        memset(x.events, 0, sizeof x.events);
        memcpy(V, x.V, sizeof V);
        memcpy(y, s.y0, sizeof y);
        CHECK_OK(s.c, costate_integrate_tlm(s.c, h->t0, h->t1, y, h->p, M, V, x.p, &carry, s.tape));
        see_events(&s);
        outputs over = tangent(&s, &x);
        say(&s, "carried", relative_gap(s.N * M, V, over.V), 1e-12 * amplified(&s));
        say(&s, "carried, end", relative_gap(M, end, over.end), 1e-12 * amplified(&s));
        session_close(&s);
    }
}

/* whatever the tape keeps, gradients have the same bits; a replay has those of the run */
static void stores(void **state)
{
    EACH_FORM(h) {
        if (skipped(k_ + turn_of(*state), 3)) continue;
        inputs of[3];
        for (int variant = 0; variant < 3; variant++) {
            costate_options o = options_of(*state, h, 0);
            o.storage = (int[]){COSTATE_ALL_STAGES, COSTATE_STATES_ONLY, COSTATE_CHECKPOINTS}[variant];
            o.hmax = 0.02;
            o.predictor = COSTATE_PREDICT_NONE;
            o.theta_reuse = -1;
            if (h->form != HYBRID_ODE) o.consistent = 3;
            session s = session_corrected(*state, h, 3, o);
            double y[N_MOST];
            memcpy(y, s.y0, sizeof y);
            CHECK_OK(s.c, costate_replay(s.c, s.tape, y, h->p));
            assert_memory_equal(y, s.y, (size_t)s.N * sizeof *y);
            outputs w = random_outputs();
            of[variant] = adjoint(&s, &w, s.c);
            if (variant == 2) assert_true(costate_get_stats(s.c)->remade > 0);
            say(&s, "gradients by store", relative_gap(s.N * M, of[variant].V, of[0].V), 1e-11);
            say(&s, "gradients by store, p", relative_gap(h->np * M, of[variant].p, of[0].p), 1e-11);
            session_close(&s);
        }
    }
}

static void symmetry(void **state)
{
    double worst = 0;
    EACH_FORM(h) for (int variant = 0; variant < 6; variant++) {
        if (skipped(k_ + variant + turn_of(*state), 4)) continue;
        session s = session_corrected(*state, h, variant, options_of(*state, h, variant));
        inputs x = random_inputs();
        product_of r = hessian_over(&s, &x, s.tape, s.c, 0);
        double gap = asymmetry(&s, &x, &r);
        say(&s, "symmetry", gap, 1e-12 * fmax(1, 0.05 / shortest_step(&s)) * amplified(&s));
        worst = larger_of(worst, gap);
        session_close(&s);
    }
    print_message("           largest asymmetry %.1e\n", worst);
}

static void second_derivative(void **state)
{
    EACH_FORM(h) {
        if (skipped(k_ + turn_of(*state), 6)) continue;
        session s = session_corrected(*state, h, k_ % 4, options_of(*state, h, k_ & 1));
        say(&s, "differences of gradients", gap_to_differences(&s), 1e-9 * instants(&s, 1));
        session_close(&s);
    }
}

int main(void)
{
    return run_by_kind("after_step, transposes", transpose) + run_by_kind("after_step, carried", carried) +
           run_by_kind("after_step, derivative of the replay", derivative) +
           run_by_kind("after_step, by any store", stores) + run_by_kind("after_step, Hessian", symmetry) +
           run_by_kind("after_step, differences of gradients", second_derivative);
}
