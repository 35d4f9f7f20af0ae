/* test_checkpoints.c - tapes with COSTATE_CHECKPOINTS: what is made again are the bits of the run, and every sweep
   gives what it gives over a tape of the same steps that keeps them all.

   `everything` of hybrids.h (events, jumps, modes, memory, given times) in all its forms and both directions of time,
   by every method that takes it, with the least memory, little, and enough. */
#include "hybrid_sweeps.h"

/* a step with its stages takes s + 1 states at most (residuals: s/2 + 1) */
static int memory_of(const costate_method *m, int variant)
{
    const int least = method_info(m).family == COSTATE_RKC ? 8 : method_info(m).stages + 3;
    const int states[] = {least, 3 * least, 0};
    return states[variant % 3];
}

static costate_options variant_of(const costate_method *m, const hybrid *h, int variant)
{
    costate_options o = {.rtol = 1e-4, .atol = 1e-4, .hmax = 0.05, .mode = h->mode, .storage = COSTATE_CHECKPOINTS,
                         .checkpoints = memory_of(m, variant)};
    if (h->form != HYBRID_ODE) o.consistent = 1 + 2 * (variant & 1);
    if (is_newton(m)) o.stage_solve = COSTATE_STAGE_DIRECT + (variant & 1);
    if (!is_explicit(m)) o.solver = variant == 3 && h->form == HYBRID_ODE ? COSTATE_LS_GMRES : COSTATE_LS_DENSE;
    return o;
}

/* Bits, but where what is at hand, factorisations or solutions, serves for systems of another step: then round-off, as
   by another solver: what the run makes of it, its tangents and adjoints over one tape show (gap). */
static double most_apart(const session *s, double gap)
{
    return is_newton(s->m) || s->o.solver == COSTATE_LS_GMRES ? larger_of(1e-11, 3 * gap) : 0;
}

static void same_inputs(const session *s, const char *what, const inputs *a, const inputs *b, double bound)
{
    say(s, what, relative_gap(s->N * M, a->V, b->V), bound);
    say(s, what, relative_gap(s->h->np * M, a->p, b->p), bound);
    say(s, what, relative_gap(M, a->t0, b->t0), bound);
    say(s, what, relative_gap(M, a->t1, b->t1), bound);
    say(s, what, relative_gap(s->events * M, a->events, b->events), bound);
}

/* y at places all over, in no order */
static void same_states(const session *s, const session *all)
{
    double a[N_MOST], b[N_MOST];
    for (int k = 0; k < 40; k++) {
        double at = s->h->t0 + (s->h->t1 - s->h->t0) * ((7 * k) % 40) / 39.6;
        CHECK_OK(s->c, costate_tape_eval(s->c, s->tape, at, a));
        CHECK_OK(all->c, costate_tape_eval(all->c, all->tape, at, b));
        assert_memory_equal(a, b, (size_t)s->h->n * sizeof *a);
    }
}

static void sweeps(void **state)
{
    const hybrid *h;
    for (int k = 0; (h = hybrid_at(k)); k++)
        for (int variant = 0; variant < 4 && !h->reference && hybrid_takes(*state, h); variant++) {
            if (skipped(k + variant + turn_of(*state), 3)) continue;
            session s = session_ran(*state, h, variant_of(*state, h, variant)), all = session_with_stages(&s);
            inputs dx = random_inputs();
            outputs w = random_outputs(), ours, theirs;
            for (int again = 0; again < 2; again++) {
                inputs g = adjoint(&s, &w, s.c), other = adjoint(&all, &w, all.c);
                theirs = tangent(&all, &dx);
                double gap = gap_of(&all, &dx, &theirs, &w, &other), bound = most_apart(&s, gap);
                same_inputs(&s, "gradient", &g, &other, bound);
                ours = tangent(&s, &dx);
                say(&s, "tangent", relative_gap(s.N * M, ours.V, theirs.V), bound);
                g = adjoint(&s, &w, s.c);
                /* each iterated system is wrong by 1e-13 of its unknowns, and both kinds of sweep differ in which are
                   solved directly instead */
                double most = s.o.stage_solve == COSTATE_STAGE_ITERATIVE ? 4e-12 : 1e-12;
                say(&s, "transposed", gap_of(&s, &dx, &ours, &w, &g), larger_of(most, 3 * gap));
                same_states(&s, &all);
            }
            session_close(&s);
            session_close(&all);
        }
}

int main(void) { return run_by_kind("checkpoints", sweeps); }
