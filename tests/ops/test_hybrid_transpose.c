/* test_hybrid_transpose.c - derivatives through events: the adjoint is the transpose of the tangent, the tangent over
   the tape is the one that was carried, and both are the derivatives of the replay, whose steps are frozen and whose
   events are found again.

   `everything` of hybrids.h in all its forms and both directions of time, by every method that takes it: derivatives by
   y, m, p, t0, t1, given times and thresholds of events, of end values, integrals, the time of the end, and of what is
   seen inside the steps that end in events. */
#include "hybrid_sweeps.h"

static int is_implicit(const costate_method *m) { return !is_explicit(m); }

static costate_options variant_of(const costate_method *m, const hybrid *h, int variant)
{
    static const int solver[] = {COSTATE_LS_DENSE, COSTATE_LS_GMRES};
    costate_options o = {.rtol = 1e-4, .atol = 1e-4, .hmax = 0.15, .mode = h->mode, .storage = variant & 1,
                         .keep_factors = variant >> 1 & 1};
    if (h->form != HYBRID_ODE) o.consistent = 1 + 2 * (variant >> 1 & 1);
    if (is_newton(m)) o.stage_solve = COSTATE_STAGE_DIRECT + (variant & 1);
    if (is_implicit(m)) o.solver = solver[variant == 3 && h->form == HYBRID_ODE];
    return o;
}

static session run_of(const costate_method *m, const hybrid *h, costate_options o)
{
    session s = session_ran(m, h, o);
    assert_int_equal(s.events, 5);
    return s;
}

static void transpose(void **state)
{
    const hybrid *h;
    double worst = 0;
    for (int k = 0; (h = hybrid_at(k)); k++)
        for (int variant = 0; variant < 4 && !h->reference && hybrid_takes(*state, h); variant++) {
            session s = run_of(*state, h, variant_of(*state, h, variant));
            double gap = session_gap(&s);
            say(&s, "gap", gap, 1e-12);
            worst = larger_of(worst, gap);
            session_close(&s);
        }
    print_message("           largest gap %.1e\n", worst);
}

/* another solver, of another backend, sweeps the tape */
static void swept_by_another(void **state)
{
    const hybrid *h;
    for (int k = 0; (h = hybrid_at(k)); k++) {
        if (h->reference || !hybrid_takes(*state, h)) continue;
        costate_options o = variant_of(*state, h, 0), with = o;
        session s = run_of(*state, h, o);
        outputs w = random_outputs();
        with.solver = COSTATE_LS_BAND;
        costate *other = new_for_test(*state, &s.P, &with);
        inputs mine = adjoint(&s, &w, s.c), its = adjoint(&s, &w, other);
        say(&s, "by another solver", relative_gap(s.N * M, its.V, mine.V), 1e-11);
        say(&s, "by another solver", relative_gap(h->np * M, its.p, mine.p), 1e-11);
        say(&s, "by another solver", relative_gap(s.events * M, its.events, mine.events), 1e-11);
        costate_free(other);
        session_close(&s);
    }
}

/* a functional alone, or beside others that are 1e8 larger: the same */
static void columns(void **state)
{
    const hybrid *h;
    for (int k = 0; (h = hybrid_at(k)); k++) {
        if (h->reference || !hybrid_takes(*state, h)) continue;
        session s = run_of(*state, h, variant_of(*state, h, k & 1));
        double three[M * N_MOST], one[N_MOST], mu3[M * NUMS_P] = {0}, mu1[NUMS_P] = {0}, by3[M * MOST_EVENTS],
               by1[MOST_EVENTS];
        unsigned seeds = 8;
        random_fill(&seeds, M * N_MOST, three);
        memcpy(one, three, sizeof one);
        for (int i = s.N; i < M * s.N; i++) three[i] *= 1e8;
        costate_times times3 = {.events = by3}, times1 = {.events = by1};
        CHECK_OK(s.c, costate_adjoint(s.c, s.tape, M, three, mu3, &times3, NULL));
        CHECK_OK(s.c, costate_adjoint(s.c, s.tape, 1, one, mu1, &times1, NULL));
        say(&s, "one column", relative_gap(s.N, three, one), 1e-12);
        say(&s, "one column, by p", relative_gap(h->np, mu3, mu1), 1e-12);
        say(&s, "one column, by events", relative_gap(s.events, by3, by1), 1e-12);
        session_close(&s);
    }
}

/* costate_integrate_tlm takes the steps of costate_integrate, and carries what costate_tangent gives over its tape */
static void carried(void **state)
{
    const hybrid *h;
    for (int k = 0; (h = hybrid_at(k)); k++) {
        if (h->reference || !hybrid_takes(*state, h)) continue;
        session s = run_of(*state, h, variant_of(*state, h, 2));
        inputs x = random_inputs();
        double y[N_MOST], V[M * N_MOST], end[M];
        costate_times carry = {.t0 = x.t0, .t1 = x.t1, .end = end};
        memset(x.events, 0, sizeof x.events);
        memcpy(V, x.V, sizeof V);
        memcpy(y, s.y0, sizeof y);
        CHECK_OK(s.c, costate_integrate_tlm(s.c, h->t0, h->t1, y, h->p, M, V, x.p, &carry, s.tape));
        see_events(&s);
        outputs over = tangent(&s, &x);
        say(&s, "carried", relative_gap(s.N * M, V, over.V), 1e-12);
        say(&s, "carried, end", relative_gap(M, end, over.end), 1e-12);
        session_close(&s);
    }
}

/* ---- differences of replays ---- */

static void derivative(void **state)
{
    const hybrid *h;
    double worst = 0;
    for (int k = 0; (h = hybrid_at(k)); k++) {
        if (h->reference || !hybrid_takes(*state, h)) continue;
        costate_options o = variant_of(*state, h, 2);
        o.derivative_mode = 1;
        o.hmax = 0.1;
        session s = run_of(*state, h, o);
        inputs x = replayed_inputs();
        double error = differ(&s, &x, 4e-3);
        say(&s, "differences of replays", error, 1e-10 * amplified(&s) * instants(&s, 0));
        worst = larger_of(worst, error);
        session_close(&s);
    }
    print_message("           largest error %.1e\n", worst);
}

int main(void)
{
    return run_by_kind("transpose through events", transpose) + run_by_kind("another solver", swept_by_another) +
           run_by_kind("columns", columns) + run_by_kind("carried", carried) +
           run_by_kind("derivative of the replay", derivative);
}
