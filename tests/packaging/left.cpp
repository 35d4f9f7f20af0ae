// left.cpp - an exception may leave a callback: the solver and its tape, whatever it keeps, can be used again, and give
// what they give undisturbed.  Initial value problems and boundary value problems.
#include <costate/bvp.h>
#include <costate/costate.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

// Work space that a left call had allocated for itself is lost (docs/reference/calls.md): the leak checker of a
// sanitizer is not asked.
extern "C" int __lsan_is_turned_off(void);
extern "C" int __lsan_is_turned_off(void) { return 1; }

static long countdown;
static costate_bvp *inner;
static int inner_status;

static void disturb()
{
    if (countdown == 0 || --countdown > 0) return;
    if (inner) inner_status = costate_bvp_solve(inner, 0, 1, NULL);
    else throw std::runtime_error("from a callback");
}

/* y' = -p y + y^2/4 */
static int value(const costate_point *x, double *out, void *)
{
    disturb();
    out[0] = -x->p[0] * x->y[0] + 0.25 * x->y[0] * x->y[0];
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *)
{
    disturb();
    out[0] = (-x->p[0] + 0.5 * x->y[0]) * (dx->y ? dx->y[0] : 0) - x->y[0] * (dx->p ? dx->p[0] : 0);
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *)
{
    disturb();
    if (g->y) g->y[0] += (-x->p[0] + 0.5 * x->y[0]) * w[0];
    if (g->p) g->p[0] -= x->y[0] * w[0];
    return 0;
}

static int jac(const costate_point *x, double *J, void *)
{
    disturb();
    J[0] = -x->p[0] + 0.5 * x->y[0];
    return 0;
}

static costate_problem problem()
{
    costate_problem P = costate_problem();
    P.n = P.np = 1;
    P.rhs.value = value;
    P.rhs.tangent = tangent;
    P.rhs.adjoint = adjoint;
    P.jac = jac;
    return P;
}

static int failed;
static void check(bool good, const char *what, const char *method, int store, const char *said)
{
    if (good) return;
    std::printf("%s, store %d: %s: %s\n", method, store, what, said);
    failed = 1;
}

enum { RUN, GRADIENT, TANGENT, ACTS };
struct results { double y, lambda, mu, V; };

static int act(int which, costate *c, costate_tape *tape, results *r)
{
    double p = 1, dp = 0.3;
    if (which == RUN) { r->y = 1; return costate_integrate(c, 0, 1, &r->y, &p, tape); }
    if (which == GRADIENT) { r->lambda = 1; r->mu = 0; return costate_adjoint(c, tape, 1, &r->lambda, &r->mu, 0, 0); }
    r->V = 1;
    return costate_tangent(c, tape, 1, &r->V, &dp, 0, 0);
}

static bool is_left(int which, costate *c, costate_tape *tape, results *r, long at)
{
    bool was = false;
    countdown = at;
    try { act(which, c, tape, r); } catch (const std::exception &) { was = true; }
    countdown = 0;
    return was;
}

static bool near(double a, double b) { return std::fabs(a - b) <= 1e-11 * std::fabs(b); }

static void initial_values(const char *method, int store)
{
    static const int storage[] = {COSTATE_ALL_STAGES, COSTATE_STATES_ONLY, COSTATE_CHECKPOINTS, COSTATE_ALL_STAGES,
                                  COSTATE_CHECKPOINTS};
    costate_problem P = problem();
    costate_options o = costate_options();
    o.hmax = 0.01;
    o.storage = storage[store];
    o.checkpoints = o.storage == COSTATE_CHECKPOINTS ? 40 : 0;
    costate *c = costate_new(costate_method_find(method), &P, &o);
    costate_tape *tape = store > 2 ? costate_tape_open("left.tape") : costate_tape_new();
    results first, r;
    for (int k = 0; k < ACTS; k++) check(act(k, c, tape, &first) == COSTATE_OK, "first", method, store,
                                         costate_message(c));
    for (int k = 0; k < ACTS; k++)
        for (long at = 1; at < 300; at += 71) {
            check(is_left(k, c, tape, &r, at) || at > 72, "no exception", method, store, "");
            if (k == RUN) check(act(RUN, c, tape, &r) == COSTATE_OK, "run", method, store, costate_message(c));
            for (int l = GRADIENT; l < ACTS; l++)
                check(act(l, c, tape, &r) == COSTATE_OK, "sweep", method, store, costate_message(c));
            check(k != RUN || near(r.y, first.y), "other values", method, store, "");
            check(near(r.lambda, first.lambda) && near(r.mu, first.mu) && near(r.V, first.V), "other derivatives",
                  method, store, "");
        }
    costate_tape_free(tape);
    costate_free(c);
    std::remove("left.tape");
}

/* y(0) + y(1) = 3/2: the conditions' x->y is y(0), y(1) */
static int ends(const costate_point *x, double *out, void *)
{
    disturb();
    out[0] = x->y[0] + x->y[1] - 1.5;
    return 0;
}

static int ends_tangent(const costate_point *, const costate_point *dx, double *out, void *)
{
    disturb();
    out[0] = dx->y ? dx->y[0] + dx->y[1] : 0;
    return 0;
}

static int ends_adjoint(const costate_point *, const double *w, const costate_gradient *g, void *)
{
    disturb();
    if (g->y) { g->y[0] += w[0]; g->y[1] += w[0]; }
    return 0;
}

struct bvp_results { double y, mu, V; };

static int bvp_act(int which, costate_bvp *b, bvp_results *r)
{
    static const double at[] = {0.4}, one[] = {1}, p[] = {1};
    double y = 0;
    if (which == RUN) {
        int status = costate_bvp_solve(b, 0, 1, p);
        return status ? status : costate_bvp_eval(b, 0.4, &r->y);
    }
    if (which == GRADIENT) {
        costate_bvp_adjoints s = costate_bvp_adjoints();
        s.m = s.points = 1, s.t = at, s.lambda = one, s.mu = &r->mu;
        r->mu = 0;
        return costate_bvp_adjoint(b, &s);
    }
    costate_bvp_tangents s = costate_bvp_tangents();
    s.m = s.points = 1, s.t = at, s.Vp = one, s.V = &y;
    int status = costate_bvp_tangent(b, &s);
    r->V = y;
    return status;
}

static void boundary_values(const char *method)
{
    costate_problem P = problem();
    costate_conditions g = costate_conditions();
    g.map.value = ends, g.map.tangent = ends_tangent, g.map.adjoint = ends_adjoint, g.count = 1;
    costate_bvp *b = costate_bvp_new(costate_method_find(method), &P, &g, NULL);
    bvp_results first, r;
    for (int k = 0; k < ACTS; k++) check(bvp_act(k, b, &first) == COSTATE_OK, "bvp", method, 0, costate_bvp_message(b));
    check(near(first.mu, first.V), "bvp: not transposes", method, 0, "");
    for (int k = 0; k < ACTS; k++)
        for (long at = 1; at < 60; at += k == RUN ? 19 : 2) {
            countdown = at;
            bool was = false;
            try { bvp_act(k, b, &r); } catch (const std::exception &) { was = true; }
            countdown = 0;
            check(was || (k != RUN && at > 2), "bvp: no exception", method, 0, "");
            if (at > 2) costate_bvp_abandon(b);
            for (int l = 0; l < ACTS; l++)
                check(bvp_act(l, b, &r) == COSTATE_OK, "bvp afterwards", method, 0, costate_bvp_message(b));
            check(near(r.mu, r.V) && std::fabs(r.y - first.y) < 1e-5 && std::fabs(r.mu - first.mu) < 1e-5,
                  "bvp: other results", method, 0, "");
            inner = b;                                          /* and a callback that solves with its own solver */
            inner_status = COSTATE_OK;
            countdown = at;
            check(bvp_act(k, b, &r) == COSTATE_OK, "bvp around a refused call", method, 0, costate_bvp_message(b));
            check(inner_status == COSTATE_BAD_ARGUMENT || countdown > 0, "bvp within bvp", method, 0, "");
            inner = NULL;
            countdown = 0;
        }
    costate_bvp_free(b);
}

int main()
{
    const char *const methods[] = {"dopri5", "radau2a", "sdirk4a", "esdirk43i6", "rock4"};
    for (const char *m : methods)
        for (int store = 0; store < 5; store++) initial_values(m, store);
    boundary_values("gauss3");
    boundary_values("radau2a");
    return failed;
}
