/* test_order.c - orders on a nonlinear, non-autonomous problem with a closed form: the method, its error estimate, its
   dense output, its tangent and its adjoint, each to the order that the method claims.

   Fixed steps are halved until the error is near round-off; the slope is that of the last halving above it. */
#include "solver/solver.h"     /* before cmocka, which has a macro fail */
#include "common.h"
#include <float.h>

enum { N = 2, NP = 2 };

typedef struct { double state, dense, tangent, adjoint; } errors;

/* degree: which of a stabilised method's, that a bound on the spectral radius asks for */
static errors errors_at(const costate_method *m, const problem *b, int steps, int degree)
{
    int n = b->P.n, np = b->P.np, NQ = n + b->P.nq;
    double y[8] = {0}, z[8], exact[8], dy0[64], dp[64], V[64] = {0}, lambda[64] = {0}, mu[64] = {0};
    costate_options o = {.controller = COSTATE_FIXED, .h0 = (b->t1 - b->t0) / steps, .derivative_mode = 1, .rtol = 1e-6,
                         .atol = 1e-6};
    if (m->rkc) o.spectral_bound = 0.999 * m->rkc->beta[degree] / o.h0;
    costate *c = costate_new(m, &b->P, &o);
    costate_tape *tape = costate_tape_new();
    errors e = {0};
    memcpy(y, b->y0, (size_t)n * sizeof *y);
    if (costate_integrate(c, b->t0, b->t1, y, b->p0, tape) != COSTATE_OK) {    /* a step outside the problem's domain */
        costate_tape_free(tape);
        costate_free(c);
        return (errors){NAN, NAN, NAN, NAN};
    }
    assert_int_equal(costate_tape_steps(tape), steps);
    problem_exact(b, b->t0, b->y0, b->p0, b->t1, exact, dy0, dp, NULL, NULL);
    e.state = largest_gap(n, y, exact);
    for (int k = 1; k < steps; k++) {                    /* along the way, too: errors at one time may cancel */
        double t, at[8];
        assert_int_equal(costate_tape_get(tape, k, &t, NULL, z), COSTATE_OK);
        problem_exact(b, b->t0, b->y0, b->p0, t, at, NULL, NULL, NULL, NULL);
        e.state = larger_of(e.state, largest_gap(n, z, at));
    }
    double size = 1;
    int stride = 1 + steps / 64;
    if (stride % 5 == 0) stride++;                                                /* all five places in a step */
    for (int k = 0; k < 5 * steps; k += stride) {
        double t, h;
        assert_int_equal(costate_tape_get(tape, k / 5, &t, &h, NULL), COSTATE_OK);
        t += h * (0.1 + 0.2 * (k % 5));
        CHECK_OK(c, costate_tape_eval(c, tape, t, z));
        problem_exact(b, b->t0, b->y0, b->p0, t, exact, NULL, NULL, NULL, NULL);
        e.dense = larger_of(e.dense, largest_gap(n, z, exact));
    }
    for (int i = 0; i < n; i++) V[i * NQ + i] = lambda[i * NQ + i] = 1;
    CHECK_OK(c, costate_tangent(c, tape, n, V, NULL, NULL, NULL));
    CHECK_OK(c, costate_adjoint(c, tape, n, lambda, mu, NULL, NULL));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            size = fmax(size, fabs(dy0[j * NQ + i]));
            e.tangent = larger_of(e.tangent, fabs(V[j * NQ + i] - dy0[j * NQ + i]));
            e.adjoint = larger_of(e.adjoint, fabs(lambda[i * NQ + j] - dy0[j * NQ + i]));
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < np; j++) e.adjoint = larger_of(e.adjoint, fabs(mu[i * np + j] - dp[j * NQ + i]));
    costate_tape_free(tape);
    costate_free(c);
    return (errors){e.state, e.dense, e.tangent / size, e.adjoint / size};
}

enum { LEVELS = 17 };

static int steps_at(int level) { return (level & 1 ? 6 : 4) << level / 2; }      /* 4, 6, 8, 12, 16 .. 1024 */

/* Over a factor of 2, the last whose errors are small, above round-off, which grows with the steps, and 10 times above
   what the digits of the table leave: an error that is the same for all h, of the estimate one like h^power.  Dense
   output that is derived holds to the power 0.75 of it (dense.py).  Of order 9 and more round-off leaves few such h,
   where h^(p+1) bends the slope up and down: the mean of the last two.  Of order 13 the last but one
   begins with 4 steps, of 1.6 radians each, and is not near the limit yet: the last. */
static double slope(const double *e, int count, double round_off, double rounding, int power, double order)
{
    double s = NAN, before = NAN;
    for (int k = 2; k < count; k++) {
        double least = fmax(round_off * steps_at(k), 10 * rounding / pow(steps_at(k), power));
        if (!(e[k] > least && e[k - 2] < 0.1)) continue;
        before = s;
        s = log2(e[k - 2] / e[k]);
    }
    return order > 8 && order < 13 && before == before ? (s + before) / 2 : s;
}

static const char *const what[] = {"state", "dense", "tangent", "adjoint"};

static int is_order(double found, double order) { return found >= order - 0.35; }

static void expect(const char *of, double found, double order)
{
    print_message("           %-10s %.2f (%g)\n", of, found, order);
    if (!is_order(found, order)) fail_msg("%s: slope %.2f, order %g", of, found, order);
}

/* Of e[][0 .. count - 1] */
static void measured_orders(const costate_method *m, double (*e)[LEVELS], int count, double *found)
{
    for (int i = 0; i < 4; i++)
        found[i] = slope(e[i], count, 4e-15, i == 1 ? pow(m->about.rounding, 0.75) : m->about.rounding, 0,
                         i == 1 ? 0 : method_info(m).order);
}

/* To 256 steps; to 1024, which takes four times as long, where the slopes are not there yet. */
static void order(void **state)
{
    const costate_method *m = *state;
    costate_method_info info = method_info(m);
    const problem *b = problem_find("rotor");
    if (10 * m->about.rounding > 5e-5) skip();    /* 7 digits and fewer: not the three decades that an order takes */
    double e[4][LEVELS], found[4], orders[] = {info.order, fmin(info.order, info.dense + 1), info.order, info.order};
    int most = info.order > 5 ? 12 : LEVELS, few = how_much() == TESTS_ALL || most < 13 ? most : 13;
    for (int degree = 0; degree < (m->rkc ? m->rkc->degrees : 1); degree += 14) {
        for (int k = 0, count = few, there = 0; !there; count = most) {
            for (; k < count; k++) {
                errors x = errors_at(m, b, steps_at(k), degree);
                e[0][k] = x.state; e[1][k] = x.dense; e[2][k] = x.tangent; e[3][k] = x.adjoint;
            }
            measured_orders(m, e, count, found);
            there = 1;
            for (int i = 0; i < 4 && count < most; i++) there = there && is_order(found[i], orders[i]);
        }
        if (m->rkc) print_message("           degree %d\n", m->rkc->s[degree]);
        for (int i = 0; i < 4; i++) expect(what[i], found[i], orders[i]);
    }
}

/* |M est| of one step: where M is singular, of what is integrated */
static double estimate_at(const costate_method *m, const problem *b, double h)
{
    costate_options o = {.rtol = 1e-6, .atol = 1e-6, .derivative_mode = 1};
    costate *c = costate_new(m, &b->P, &o);
    assert_int_equal(costate_status(c), COSTATE_OK);
    maps_bind(&c->maps, b->p0);
    place to = c->work.scratch[0];
    record r = {.t = b->t0, .h = h, .end = b->t0 + h, .y = c->work.y, .X = to.X, .iterations = to.iterations};
    trial by = {.serial = 1, .to = to, .cautious = 1, .estimate = 1, .y1 = c->work.y1, .err = c->work.err};
    size_t n = (size_t)c->st.n;
    memset(c->work.y, 0, (size_t)c->st.N * sizeof *c->work.y);
    memcpy(c->work.y, b->y0, n * sizeof *c->work.y);
    weights(&c->st, c->work.y, c->st.w);
    double most = c->st.F->forward(&c->st, &r, &by) == 0 ? 0 : NAN;
    memset(c->work.z, 0, n * sizeof *c->work.z);
    mass_multiply(&c->maps, 0, 1, 1, c->work.err, c->work.z);
    for (size_t i = 0; most == most && i < n; i++) most = larger_of(most, fabs(c->work.z[i]));
    costate_free(c);
    return most;
}

/* est = h sum e_j f_j is h sum e_j with f_j nearly alike, which is 0: to the round-off of its terms. */
static double cancelled(const costate_method *m)
{
    double sum = 0;
    for (int j = 0; m->est.e && j < m->s; j++) sum += fabs(m->est.e[j]);
    return DBL_EPSILON * sum;
}

static void embedded(void **state)
{
    NEEDS_ESTIMATE(*state);
    static const char *const names[] = {"rotor", "rotor_dae"};
    const costate_method *m = *state;
    costate_method_info info = method_info(m);
    for (int i = 0; i < 2; i++) {
        const problem *b = problem_find(names[i]);
        double e[LEVELS];
        if (!method_takes(m, b->mass)) continue;
        for (int k = 0; k < LEVELS; k++) e[k] = estimate_at(m, b, 1.0 / steps_at(k));
        expect(i ? "of a DAE" : "estimate", slope(e, LEVELS, 1e-19, fmax(m->about.rounding, cancelled(m)), 1, 0),
               fmin(info.order, info.embedded) + 1);
    }
}

int main(void)
{
    return run_by_method("order of the error estimate", embedded) +
           run_by_method("order of state, dense output, tangent, adjoint", order);
}
