/* test_second_correct.c - what Newton's iteration leaves in the stages of sdirk and firk is removed from a gradient, to
   first order, by `correct`: stiff van der Pol, against the same steps with Newton to round-off
   (mathematics, section 8.2).

   The error e of the gradient is of first order in what is left, so that of the corrected one is about e^2: up to ten
   times that. */
#include "common.h"
#include "seconds.h"

enum { NS = 2, N = 3, NP = 1, COUNT = 2 };

/* y0' = y1, y1' = p ((1 - y0^2) y1 - y0) + sin t; integral of y0^2 + y1^2/10; y0^2/2 + 0.3 y1 at the end */
static void oscillator(second *s)
{
    second_declare(s, "van der Pol", NS, NP, 1, 0.4, 0, 0);
    graph *g = &s->rhs;
    int a = graph_y(g, 0), b = graph_y(g, 1), one = graph_number(g, 1);
    int damped = graph_times(g, graph_plus(g, one, -1, graph_times(g, a, a)), b);
    graph_row(g, b);
    graph_row(g, graph_plus(g, graph_times(g, graph_p(g, 0), graph_plus(g, damped, -1, a)), 1,
                            graph_sin(g, graph_t(g))));
    g = &s->cost;
    a = graph_times(g, graph_y(g, 0), graph_y(g, 0));
    graph_row(g, graph_plus(g, a, 0.1, graph_times(g, graph_y(g, 1), graph_y(g, 1))));
    g = &s->end;
    a = graph_times(g, graph_y(g, 0), graph_y(g, 0));
    graph_row(g, graph_plus(g, graph_times(g, graph_number(g, 0.5), a), 0.3, graph_y(g, 1)));
}

/* cos(y0) inside a step */
static int observed(int k, double t, const double *y, int m, const double *V, double *w, double *w2, void *ctx)
{
    (void)k, (void)t, (void)ctx;
    w[0] = -sin(y[0]);
    for (int j = 0; j < m; j++) w2[j * NS] = -cos(y[0]) * V[j * NS];
    return 0;
}

enum { GRADIENT = NS + NP + 2 };

/* by y, p, t0, t1; and a product, which is not corrected */
typedef struct { double gradient[GRADIENT], product[NS + NP]; } answer;

enum { PLAIN, CORRECT, ALONE };          /* ALONE: corrected, without a direction */

static void ask(second *s, const costate_method *m, int exact, int correct, int storage, answer *x)
{
    static const double times[COUNT] = {0.13, 0.3};
    const costate_options o = {.rtol = 1e-4, .atol = 1e-4, .controller = COSTATE_FIXED, .h0 = 0.01, .storage = storage,
                               .newton_tol = 1e-2, .derivative_mode = exact};
    const costate_observations at = {.count = COUNT, .t = times, .seed2 = observed};
    double y[N] = {2, -0.6, 0}, p[NP] = {100}, V[N] = {0.3, -1, 0}, Vp[NP] = {7}, lambda[N], lambda2[N] = {0},
           mu[NP] = {0}, mu2[NP] = {0};
    costate *c = costate_new(m, &s->P, &o);
    costate_tape *tape = costate_tape_new();
    CHECK_OK(c, costate_integrate(c, s->t0, s->t1, y, p, tape));
    const costate_times t = {.t0 = x->gradient + NS + NP, .t1 = x->gradient + NS + NP + 1};
    CHECK_OK(c, costate_hessian(c, tape, &(costate_second){
        .m = correct != ALONE, .V = V, .Vp = Vp, .seed = second_seed, .ctx = s, .observations = &at, .lambda = lambda,
        .mu = mu, .times = &t, .lambda2 = lambda2, .mu2 = mu2, .correct = correct != PLAIN}));
    memcpy(x->gradient, lambda, NS * sizeof *lambda);
    memcpy(x->gradient + NS, mu, sizeof mu);
    memcpy(x->product, lambda2, NS * sizeof *lambda2);
    memcpy(x->product + NS, mu2, sizeof mu2);
    costate_tape_free(tape);
    costate_free(c);
}

static void corrected(void **state)
{
    static second s;
    if (!is_newton(*state)) skip();
    oscillator(&s);
    for (int storage = COSTATE_ALL_STAGES; storage <= COSTATE_STATES_ONLY; storage++) {
        answer truth, plain, better, alone;
        ask(&s, *state, 1, PLAIN, storage, &truth);
        ask(&s, *state, 0, PLAIN, storage, &plain);
        ask(&s, *state, 0, CORRECT, storage, &better);
        ask(&s, *state, 0, ALONE, storage, &alone);
        double before = relative_gap(GRADIENT, plain.gradient, truth.gradient);
        double after = relative_gap(GRADIENT, better.gradient, truth.gradient);
        if (storage == COSTATE_ALL_STAGES)
            print_message("           gradient off by %.1e, corrected by %.1e\n", before, after);
        if (!(before > 1e-9)) fail_msg("Newton leaves nothing to correct: %.1e", before);
        if (!(after <= 1e-13 + 10 * before * before))
            fail_msg("%s: error of the gradient %.2e, corrected %.2e", method_name(*state), before, after);
        double change = relative_gap(NS + NP, better.product, plain.product);
        if (!(change <= 1e-13)) fail_msg("the product changed by %.1e", change);
        change = relative_gap(GRADIENT, alone.gradient, better.gradient);
        if (!(change <= 1e-13)) fail_msg("without a direction the gradient differs by %.1e", change);
    }
}

int main(void) { return run_by_method("Newton's error", corrected); }
