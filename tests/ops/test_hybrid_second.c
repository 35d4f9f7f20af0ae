/* test_hybrid_second.c - Hessian products through everything: symmetric, and the derivative of the gradient of frozen
   runs whose events are found again.

   `everything` of hybrids.h in all its forms and both directions of time, by every method that takes it: a functional
   of end values, integrals, the time of the end and of what is seen inside the steps that end in events, none of them
   linear, along directions in y, m, p, t0, t1, given times and thresholds. */
#include "hybrid_seconds.h"

static costate_options variant_of(const costate_method *m, const hybrid *h, int variant)
{
    costate_options o = {.rtol = 1e-4, .atol = 1e-4, .hmax = 0.15, .mode = h->mode, .storage = variant & 1,
                         .keep_factors = variant >> 1 & 1, .derivative_mode = 1};
    if (h->form != HYBRID_ODE) o.consistent = 1 + 2 * (variant >> 1 & 1);
    if (is_newton(m)) o.stage_solve = COSTATE_STAGE_DIRECT + (variant & 1);
    if (!is_explicit(m)) o.solver = variant == 3 && h->form == HYBRID_ODE ? COSTATE_LS_GMRES : COSTATE_LS_DENSE;
    return o;
}

static void symmetry(void **state)
{
    const hybrid *h;
    double worst = 0;
    for (int k = 0; (h = hybrid_at(k)); k++)
        for (int variant = 0; variant < 4 && !h->reference && hybrid_takes(*state, h); variant++) {
            if (skipped(k + variant + turn_of(*state), 3)) continue;
            session s = session_ran(*state, h, variant_of(*state, h, variant));
            inputs x = random_inputs();
            product_of r = hessian_over(&s, &x, s.tape, s.c, 0);
            double gap = asymmetry(&s, &x, &r);
            /* slopes of a step's stages are differences over its length, and second derivatives by times have these in
               them: round-off grows with its inverse */
            say(&s, "symmetry", gap, 1e-12 * fmax(1, 0.05 / shortest_step(&s)) * amplified(&s));
            worst = larger_of(worst, gap);
            session_close(&s);
        }
    print_message("           largest gap %.1e\n", worst);
}

/* With checkpoints, tangents are computed again, segment by segment, between the parts of the sweep back. */
static void segments(void **state)
{
    const hybrid *h = hybrid_find("everything");
    for (int checkpoints = 10; checkpoints <= 40; checkpoints += 30) {
        costate_options o = variant_of(*state, h, 0);
        o.storage = COSTATE_CHECKPOINTS;
        o.checkpoints = checkpoints;
        o.hmax = 0.01;
        session s = session_ran(*state, h, o), all = session_with_stages(&s);
        inputs x = random_inputs();
        product_of r = hessian_over(&s, &x, s.tape, s.c, 0), of_all = hessian_over(&s, &x, all.tape, all.c, 0);
        assert_true(costate_get_stats(s.c)->tangents_again > 0);
        say(&s, "symmetry, in segments", asymmetry(&s, &x, &r), 1e-11);
        say(&s, "gradient, in segments", relative_gap(s.N, r.g.V, of_all.g.V), 1e-11);
        say(&s, "by events, in segments", relative_gap(s.events, r.g.events, of_all.g.events), 1e-11);
        say(&s, "products, in segments", relative_gap(M * s.N, r.H.V, of_all.H.V), 1e-9);
        session_close(&all);
        session_close(&s);
    }
}

static void derivative(void **state)
{
    const hybrid *h;
    for (int k = 0; (h = hybrid_at(k)); k++) {
        if (h->reference || !hybrid_takes(*state, h) || skipped(k + turn_of(*state), 2)) continue;
        session s = session_ran(*state, h, variant_of(*state, h, k & 1));
        say(&s, "differences", gap_to_differences(&s), 1e-9 * instants(&s, 1));
        session_close(&s);
    }
}

int main(void)
{
    return run_by_kind("Hessian products through events, symmetric", symmetry) +
           run_by_kind("Hessian products through events, in segments", segments) +
           run_by_kind("Hessian products through events, differences of gradients", derivative);
}
