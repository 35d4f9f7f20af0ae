/* trust_cases.c - the set `cases` of trust.c: costate_gradient_within where it is hard, beside the plain run.

   Stiff reactions over long times, small populations, chaos over short spans, units from 1e-15 to 1e15, index 1 and 2,
   spikes and pulses of f(t), jumps of f in y, each both met (stops, events) and missed.  The values are one component
   of y(t1) and its gradients with respect to y(0) and p.

   References: closed forms where a line below has one; else a run of another method with rtol = 1e-12 whose steps end
   where f jumps in t.  A row before those of a problem says how far a second method with ten times the tolerance is
   from it. */
#include <stdlib.h>
#include <string.h>

#include <costate/accuracy.h>

#include "formula.h"
#include "trust.h"

enum { MOST = 8 };
static const double PI = 3.14159265358979323846;

/* ---- formulas ---- */

#define FORMULA(name) static void name(const formula *F, num t, const num *y, const num *p, num *out)
#define UNUSED (void)F, (void)t, (void)y, (void)p

FORMULA(predators)
{
    UNUSED;
    num met = mul3(p[1], y[0], y[1]);
    out[0] = sub(mul(p[0], y[0]), met);
    out[1] = sub(mul3(p[2], y[0], y[1]), mul(p[3], y[1]));
}
FORMULA(epidemic)                   /* susceptible, exposed, infected, removed */
{
    UNUSED;
    num caught = mul3(p[0], y[0], y[2]), fell_ill = mul(p[1], y[1]), healed = mul(p[2], y[2]);
    out[0] = times(-1, caught);
    out[1] = sub(caught, fell_ill);
    out[2] = sub(fell_ill, healed);
    out[3] = healed;
}
FORMULA(robertson) { UNUSED; problem_robertson(F, t, y, p, out); }
FORMULA(robertson_dae)
{
    UNUSED;
    problem_robertson(F, t, y, p, out);
    out[2] = plus(add(add(y[0], y[1]), y[2]), -1);
}
FORMULA(oregonator)
{
    UNUSED;
    out[0] = mul(p[0], add(y[1], mul(y[0], sub(plus(times(-8.375e-6, y[0]), 1), y[1]))));
    out[1] = mul(sub(y[2], mul(plus(y[0], 1), y[1])), inverse(p[0]));
    out[2] = mul(p[1], sub(y[0], y[2]));
}
FORMULA(van_der_pol)
{
    UNUSED;
    out[0] = y[1];
    out[1] = sub(mul3(p[0], plus(times(-1, square(y[0])), 1), y[1]), y[0]);
}
FORMULA(brusselator)
{
    UNUSED;
    num a = mul(square(y[0]), y[1]), b = mul(p[1], y[0]);
    out[0] = sub(sub(add(p[0], a), b), y[0]);
    out[1] = sub(b, a);
}
FORMULA(lorenz)
{
    UNUSED;
    out[0] = mul(p[0], sub(y[1], y[0]));
    out[1] = sub(mul(y[0], sub(p[1], y[2])), y[1]);
    out[2] = sub(mul(y[0], y[1]), mul(p[2], y[2]));
}
FORMULA(henon_heiles)
{
    UNUSED;
    out[0] = y[2];
    out[1] = y[3];
    out[2] = times(-1, add(y[0], times(2, mul3(p[0], y[0], y[1]))));
    out[3] = sub(mul(p[0], sub(square(y[1]), square(y[0]))), y[1]);
}
FORMULA(orbit)
{
    UNUSED;
    num r2 = add(square(y[0]), square(y[1])), by = mul(p[0], exponential(times(-1.5, logarithm(r2))));
    out[0] = y[2];
    out[1] = y[3];
    out[2] = times(-1, mul(by, y[0]));
    out[3] = times(-1, mul(by, y[1]));
}
FORMULA(decay) { UNUSED; out[0] = times(-1, mul(p[0], y[0])); }
FORMULA(saturates) { UNUSED; out[0] = mul3(p[0], y[0], plus(times(-1, over(y[0], p[1])), 1)); }
FORMULA(circuit) { UNUSED; out[0] = mul(inverse(p[0]), sub(sine(times(2e12 * PI, t)), y[0])); }
FORMULA(flame) { UNUSED; out[0] = mul(mul(p[0], square(y[0])), plus(times(-1, y[0]), 1)); }
FORMULA(follows) { UNUSED; out[0] = add(mul(p[0], sub(cosine(t), y[0])), times(-1, sine(t))); }
FORMULA(enzyme)                     /* 0 = y1 + y1 y0 - p y0: index 1 */
{
    UNUSED;
    out[0] = times(-1, y[1]);
    out[1] = sub(mul(y[1], plus(y[0], 1)), mul(p[0], y[0]));
}
FORMULA(steered)                    /* x' = -x + z, 0 = x - p cos t: index 2 */
{
    UNUSED;
    out[0] = sub(y[1], y[0]);
    out[1] = sub(y[0], mul(p[0], cosine(t)));
}
/* y' = -p_1 y + p_0 g(t), with an input g(t) */
static num bell(num t, double at, double width)
{
    num x = times(1 / width, plus(t, -at));
    return times(1 / (width * sqrt(2 * PI)), exponential(times(-0.5, square(x))));
}
static void driven(num g, const num *y, const num *p, num *out) { out[0] = sub(mul(p[0], g), mul(p[1], y[0])); }
FORMULA(narrow_spike) { UNUSED; driven(bell(t, 6.3, 0.002), y, p, out); }
FORMULA(spike) { UNUSED; driven(bell(t, 6.3, 0.05), y, p, out); }
FORMULA(broad_spike) { UNUSED; driven(bell(t, 6.3, 0.3), y, p, out); }
FORMULA(doses)
{
    UNUSED;
    num g = number(0);
    for (int k = 0; k < 5; k++) g = add(g, bell(t, 1 + 2 * k, 0.02));
    driven(g, y, p, out);
}
FORMULA(pulse) { UNUSED; driven(number(t.v > 40 && t.v < 42 ? 1 : 0), y, p, out); }
FORMULA(steps_of_input) { UNUSED; driven(number(floor(t.v)), y, p, out); }
FORMULA(broken_line)
{
    UNUSED;
    double x = fmod(t.v, 2);
    driven(x < 1 ? plus(t, x - t.v) : plus(times(-1, t), 2 - x + t.v), y, p, out);
}
FORMULA(rectified) { UNUSED; num s = sine(times(3, t)); driven(s.v < 0 ? times(-1, s) : s, y, p, out); }
FORMULA(relay) { UNUSED; out[0] = p[y[0].v < 1 ? 0 : 1]; }
FORMULA(friction)
{
    UNUSED;
    out[0] = y[1];
    out[1] = sub(times(-1, y[0]), times(y[1].v < 0 ? -1 : 1, p[0]));
}

/* ---- an event: the relay whose jump is known, by modes in place of a formula ---- */

static int second_rate(const costate_point *x) { return x->mode == 1; }
static int relay_value(const costate_point *x, double *f, void *ctx)
{
    return (void)ctx, f[0] = x->p[second_rate(x)], 0;
}
static int relay_tangent(const costate_point *x, const costate_point *dx, double *f, void *ctx)
{
    return (void)ctx, f[0] = dx->p ? dx->p[second_rate(x)] : 0, 0;
}
static int relay_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->p) g->p[second_rate(x)] += w[0];
    return 0;
}
static int no_second(const costate_point *x, const costate_point *a, const costate_point *b, double *f, void *ctx)
{
    return (void)x, (void)a, (void)b, (void)ctx, f[0] = 0, 0;
}
static int no_mixed(const costate_point *x, const costate_point *a, const double *w, const costate_gradient *g,
                    void *ctx)
{
    return (void)x, (void)a, (void)w, (void)g, (void)ctx, 0;
}
static int at_one(const costate_point *x, double *e, void *ctx) { return (void)ctx, e[0] = x->y[0] - 1, 0; }
static int at_one_tangent(const costate_point *x, const costate_point *dx, double *e, void *ctx)
{
    return (void)x, (void)ctx, e[0] = dx->y ? dx->y[0] : 0, 0;
}
static int at_one_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x, (void)ctx;
    if (g->y) g->y[0] += w[0];
    return 0;
}
static const costate_event passes_one = {.guard = {.value = at_one, .tangent = at_one_tangent,
                                                   .adjoint = at_one_adjoint}, .from = COSTATE_ANY_MODE, .to = 1};

/* ---- closed forms: value, by y0, by p ---- */

typedef void closed(const double *y0, const double *p, double t1, double *g);

static void decayed(const double *y0, const double *p, double t1, double *g)
{
    g[0] = y0[0] * exp(-p[0] * t1);
    g[1] = g[0] / y0[0];
    g[2] = -t1 * g[0];
}
static void relayed(const double *y0, const double *p, double t1, double *g)
{
    double crossed = (1 - y0[0]) / p[0];
    g[0] = 1 + p[1] * (t1 - crossed);
    g[1] = p[1] / p[0];
    g[2] = p[1] * crossed / p[0];
    g[3] = t1 - crossed;
}
/* from x = 0 with the velocity y0[1], between the first and the second turn; not by y0 */
static void rubbed(const double *y0, const double *p, double t1, double *g)
{
    double v = y0[1], m = p[0], R = hypot(m, v), s = t1 - atan2(v, m);
    g[0] = m + (R - 2 * m) * cos(s);
    g[1] = g[2] = NAN;
    g[3] = 1 + (m / R - 2) * cos(s) - (R - 2 * m) * sin(s) * v / (R * R);
}
static void pulsed(const double *y0, const double *p, double t1, double *g)
{
    double a = exp(-p[1] * (t1 - 42)), b = exp(-p[1] * (t1 - 40));
    g[0] = y0[0] * exp(-p[1] * t1) + p[0] / p[1] * (a - b);
    g[1] = exp(-p[1] * t1);
    g[2] = (a - b) / p[1];
    g[3] = -t1 * y0[0] * exp(-p[1] * t1) - p[0] / (p[1] * p[1]) * (a - b) -
           p[0] / p[1] * ((t1 - 42) * a - (t1 - 40) * b);
}
/* log y + y = log y0 + y0 - p t; not by y0 */
static void digested(const double *y0, const double *p, double t1, double *g)
{
    double right = log(y0[0]) + y0[0] - p[0] * t1, y = exp(right - y0[0]);
    for (int k = 0; k < 50; k++) y -= (log(y) + y - right) / (1 / y + 1);
    g[0] = y;
    g[1] = g[2] = NAN;
    g[3] = -t1 * y / (1 + y);
}
static void steered_to(const double *y0, const double *p, double t1, double *g)
{
    (void)y0;
    g[0] = p[0] * (cos(t1) - sin(t1));                      /* z */
    g[1] = g[2] = NAN;
    g[3] = g[0] / p[0];
}

/* ---- the cases ---- */

static const double dae3[] = {1, 0, 0, 0, 1, 0, 0, 0, 0}, dae2[] = {1, 0, 0, 0};
static const int index2[] = {0, 2};
static const double borders[] = {40, 42}, whole[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, about_spike[] = {6, 6.3, 6.6},
    near_spike[] = {6.29, 6.3, 6.31}, about_doses[] = {0.9, 1, 1.1, 2.9, 3, 3.1, 4.9, 5, 5.1, 6.9, 7, 7.1, 8.9, 9, 9.1};
#define STOPS(list) list, sizeof (list) / sizeof *(list)

enum { BY_Y0 = 1, BY_P = 2 };

typedef struct {
    const char *name, *about;
    formula F;
    double y0[4], p[4], t1;
    int component;
    double atol;                            /* over rtol */
    const char *exact, *other;              /* methods of the reference */
    closed *closed;
    const double *stops;                    /* at which f jumps, or around which it is large */
    int nstops, met;                        /* met: the problem has them; else only the reference */
    unsigned wanted;                        /* gradients with respect to: */
    const costate_event *event;
    const int *index;
} trial;

#define F_OF(n, np, f) .F = {n, np, 0, 0, 0, f, NULL, NULL, NULL, 0, 0}
#define DAE_OF(n, np, f, M) .F = {n, np, 0, 0, 0, f, NULL, M, NULL, 0, 0}
#define BOTH BY_Y0 | BY_P
#define STIFF "radau2a7", "rodas5p"
#define PLAIN "verner98", "dopri853"

static const trial trials[] = {
    {"predators", "predator and prey, atol 1e-14", F_OF(2, 4, predators), {1, 1}, {2, 1.3, 0.8, 1}, 30, 1, 1e-8, PLAIN,
     .wanted = BOTH},
    {"epidemic", "one case in ten million", F_OF(4, 3, epidemic), {1 - 1e-7, 0, 1e-7, 0}, {0.5, 0.2, 0.1}, 160, 2, 1e-9,
     PLAIN, .wanted = BOTH},
    {"robertson", "t = 1e11", F_OF(3, 3, robertson), {1, 0, 0}, {0.04, 1e4, 3e7}, 1e11, 0, 1e-8, STIFF, .wanted = BY_P},
    {"robertson_40", "t = 40", F_OF(3, 3, robertson), {1, 0, 0}, {0.04, 1e4, 3e7}, 40, 1, 1e-4, STIFF, .wanted = BY_P},
    {"robertson_dae", "index 1", DAE_OF(3, 3, robertson_dae, dae3), {1, 0, 0}, {0.04, 1e4, 3e7}, 4e5, 0, 1e-4, STIFF,
     .wanted = BY_P},
    {"oregonator", "half a cycle", F_OF(3, 2, oregonator), {1, 2, 3}, {77.27, 0.161}, 180, 1, 1e-2, STIFF,
     .wanted = BY_P},
    {"van_der_pol", "mu = 5", F_OF(2, 1, van_der_pol), {2, 0}, {5}, 20, 0, 1, PLAIN, .wanted = BOTH},
    {"van_der_pol_stiff", "mu = 1000", F_OF(2, 1, van_der_pol), {2, 0}, {1000}, 700, 0, 1e-2, STIFF, .wanted = BY_P},
    {"brusselator", "n = 2", F_OF(2, 2, brusselator), {1.5, 3}, {1, 3}, 20, 0, 1, PLAIN, .wanted = BOTH},
    {"lorenz", "chaos, t = 5", F_OF(3, 3, lorenz), {1, 1, 1}, {10, 28, 8.0 / 3}, 5, 0, 1, PLAIN, .wanted = BOTH},
    {"henon_heiles", "chaos, t = 60", F_OF(4, 1, henon_heiles), {0.3, 0.2, 0.1, 0.4}, {1}, 60, 0, 1, PLAIN,
     .wanted = BOTH},
    {"orbit", "eccentricity 0.9, two turns", F_OF(4, 1, orbit), {0.1, 0, 0, 4.358898943540674}, {1}, 12, 1, 1, PLAIN,
     .wanted = BOTH},
    {"femto", "y = 1e-15", F_OF(1, 1, decay), {1e-15}, {0.7}, 3, 0, 1e-15, PLAIN, decayed, .wanted = BOTH},
    {"peta", "y = 1e15, a limit", F_OF(1, 2, saturates), {1e12}, {1.1, 1e15}, 8, 0, 1e12, PLAIN, .wanted = BOTH},
    {"circuit", "a picosecond", F_OF(1, 1, circuit), {0}, {3e-13}, 5e-12, 0, 1, PLAIN, .wanted = BY_P},
    {"slow", "t = 1e12", F_OF(1, 1, decay), {1}, {3e-12}, 1e12, 0, 1, PLAIN, decayed, .wanted = BOTH},
    {"flame", "ignition at 1/y0", F_OF(1, 1, flame), {1e-2}, {1}, 101, 0, 1e-4, PLAIN, .wanted = BOTH},
    {"follows", "stiffness 1e6", F_OF(1, 1, follows), {1}, {1e6}, 10, 0, 1, STIFF, .wanted = 0},
    {"enzyme", "index 1", DAE_OF(2, 1, enzyme, dae2), {1, 0.5}, {1}, 2, 0, 1, NULL, NULL, digested,
     .wanted = BY_P},
    {"steered", "index 2", DAE_OF(2, 1, steered, dae2), {1, 1}, {1}, 2, 1, 1, NULL, NULL, steered_to,
     .wanted = BY_P, .index = index2},
    {"broad_spike", "of width 0.3 in 10", F_OF(1, 2, broad_spike), {1}, {1, 0.1}, 10, 0, 1, PLAIN, .wanted = BOTH},
    {"spike", "of width 0.05 in 10", F_OF(1, 2, spike), {1}, {1, 0.1}, 10, 0, 1, PLAIN, NULL,
     STOPS(about_spike), .wanted = BOTH},
    {"narrow_spike", "of width 0.002 in 10", F_OF(1, 2, narrow_spike), {1}, {1, 0.1}, 10, 0, 1, PLAIN, NULL,
     STOPS(near_spike), .wanted = BOTH},
    {"doses", "five of width 0.02 in 10", F_OF(1, 2, doses), {1}, {1, 0.1}, 10, 0, 1, PLAIN, NULL,
     STOPS(about_doses), .wanted = BOTH},
    {"pulse", "of 2 in 100, missed", F_OF(1, 2, pulse), {1}, {1, 0.01}, 100, 0, 1, PLAIN, pulsed, .wanted = BOTH},
    {"pulse_met", "of 2 in 100, with stops", F_OF(1, 2, pulse), {1}, {1, 0.01}, 100, 0, 1, PLAIN, pulsed,
     STOPS(borders), 1, .wanted = BOTH},
    {"inputs", "that jump nine times, missed", F_OF(1, 2, steps_of_input), {1}, {1, 0.5}, 10, 0, 1, PLAIN, NULL,
     STOPS(whole), 0, .wanted = BOTH},
    {"inputs_met", "that jump nine times, with stops", F_OF(1, 2, steps_of_input), {1}, {1, 0.5}, 10, 0, 1, PLAIN, NULL,
     STOPS(whole), 1, .wanted = BOTH},
    {"broken_line", "an input with nine kinks", F_OF(1, 2, broken_line), {1}, {1, 0.5}, 10, 0, 1, PLAIN, NULL,
     STOPS(whole), 0, .wanted = BOTH},
    {"rectified", "an input abs(sin 3t)", F_OF(1, 2, rectified), {1}, {1, 0.5}, 10, 0, 1, PLAIN, .wanted = BOTH},
    {"relay", "f jumps in y, missed", F_OF(1, 2, relay), {0.2}, {1, 3}, 2, 0, 1, PLAIN, relayed, .wanted = BOTH},
    {"relay_met", "f jumps in y, an event", F_OF(1, 2, relay), {0.2}, {1, 3}, 2, 0, 1, PLAIN, relayed,
     .wanted = BOTH, .event = &passes_one},
    {"friction", "dry friction, missed", F_OF(2, 1, friction), {0, 3}, {0.5}, 3.5, 0, 1, PLAIN, rubbed, .wanted = BY_P},
};
enum { TRIALS = sizeof trials / sizeof *trials };

/* ---- runs ---- */

static costate_problem problem_of(const trial *k, int known)
{
    costate_problem P = {.n = k->F.n, .np = k->F.np, .ctx = (void *)(size_t)&k->F, .rhs = FORMULA_RHS};
    if (k->F.M) P.mass = formula_mass;
    if (k->event) {
        P.rhs = (costate_map){.value = relay_value, .tangent = relay_tangent, .adjoint = relay_adjoint,
                              .tangent2 = no_second, .adjoint_tangent = no_mixed};
        P.event = k->event;
        P.nevents = 1;
    }
    P.index = k->index;
    if (known || k->met) P.nstops = k->nstops, P.stops = k->stops;
    return P;
}

/* value, gradients with respect to y(0) and p */
typedef struct { double value, y0[MOST], p[MOST]; } answer;

static int component(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                     double *end, void *ctx)
{
    const trial *k = ctx;
    (void)t1, (void)p, (void)m, (void)mu, (void)end;
    value[0] = y[k->component];
    lambda[k->component] = 1;
    return 0;
}

static costate *solver(const trial *k, const costate_problem *P, const char *method, double rtol, int control)
{
    const costate_options o = {.rtol = rtol, .atol = k->atol * rtol, .gradient_control = control,
                               .max_steps = 1000000};
    return costate_new(costate_method_find(method), P, &o);
}

static int tight(const trial *k, const char *method, double rtol, answer *z)
{
    const costate_problem P = problem_of(k, 1);
    costate *c = solver(k, &P, method, rtol, 1);
    costate_tape *tape = costate_tape_new();
    double y[MOST] = {0};
    memset(z, 0, sizeof *z);
    memcpy(y, k->y0, (size_t)k->F.n * sizeof *y);
    z->y0[k->component] = 1;
    int status = costate_integrate(c, 0, k->t1, y, k->p, tape);
    z->value = y[k->component];
    if (!status) status = costate_adjoint(c, tape, 1, z->y0, z->p, NULL, NULL);
    if (status) fprintf(stderr, "%s, %s: %s\n", k->name, method, costate_message(c));
    costate_tape_free(tape);
    costate_free(c);
    return status;
}

/* relative errors of the value and of the gradients that are wanted, in the 2-norm; 0: of those that are not */
enum { VALUE, Y0, PARAMETERS, KINDS };

static void errors_of(const trial *k, const answer *a, const answer *z, double *errors)
{
    errors[VALUE] = fabs(a->value / z->value - 1);
    errors[Y0] = k->wanted & BY_Y0 ? distance(k->F.n, a->y0, z->y0) / norm(k->F.n, z->y0) : 0;
    errors[PARAMETERS] = k->wanted & BY_P ? distance(k->F.np, a->p, z->p) / norm(k->F.np, z->p) : 0;
}

static double error_of(const trial *k, const answer *a, const answer *z)
{
    double errors[KINDS];
    errors_of(k, a, z, errors);
    return fmax(errors[VALUE], fmax(errors[Y0], errors[PARAMETERS]));
}

static int reference(const trial *k, answer *z)
{
    answer other;
    double g[1 + 2 * MOST];
    int status = 0;
    if (k->closed) {
        k->closed(k->y0, k->p, k->t1, g);
        z->value = g[0];
        memcpy(z->y0, g + 1, (size_t)k->F.n * sizeof *g);
        memcpy(z->p, g + 1 + k->F.n, (size_t)k->F.np * sizeof *g);
        return 0;
    }
    status = tight(k, k->exact, 1e-12, z) || tight(k, k->other, 1e-11, &other);
    json j = {.file = stdout};
    json_text(&j, "set", "reference");
    json_text(&j, "problem", k->name);
    json_text(&j, "title", k->about);
    json_text(&j, "method", k->exact);
    json_text(&j, "other", k->other);
    json_count(&j, "status", status);
    if (!status) json_number(&j, "error", error_of(k, &other, z));
    json_end(&j);
    return status;
}

/* One row: a call, and the run that it would have been without the estimates. */
static void row(const trial *k, const char *method, double tol, const answer *z)
{
    const costate_problem P = problem_of(k, 0);
    costate *plain = solver(k, &P, method, 0.1 * tol, 0), *c = solver(k, &P, method, 1e-6, 0);
    answer a = {0};
    double y[MOST] = {0}, errors[KINDS], estimates[KINDS] = {0};
    costate_method_info about;
    costate_goal G = {.tol = tol, .estimate = {.run = {.value = &a.value, .y0 = k->wanted & BY_Y0 ? a.y0 : NULL,
                                                       .p = k->wanted & BY_P ? a.p : NULL},
                                               .value_error = &estimates[VALUE],
                                               .y0_error = k->wanted & BY_Y0 ? &estimates[Y0] : NULL,
                                               .p_error = k->wanted & BY_P ? &estimates[PARAMETERS] : NULL}};
    costate_functional F = {.m = 1, .at_end = component, .ctx = (void *)(size_t)k};
    costate_method_describe(costate_method_find(method), &about);
    memcpy(y, k->y0, (size_t)k->F.n * sizeof *y);
    int alone = costate_integrate(plain, 0, k->t1, y, k->p, NULL);
    memcpy(y, k->y0, (size_t)k->F.n * sizeof *y);
    int status = costate_gradient_within(c, 0, k->t1, y, k->p, &F, &G, NULL);
    json j = {.file = stdout};
    row_of(&j, "cases", k->name, &about, tol, c, status);
    json_text(&j, "title", k->about);
    json_count(&j, "alone", alone);
    json_count(&j, "rounds", G.rounds);
    json_count(&j, "f", costate_get_stats(c)->f);
    json_count(&j, "f_alone", costate_get_stats(plain)->f);
    if (status == COSTATE_OK || status == COSTATE_ACCURACY) {
        errors_of(k, &a, z, errors);
        json_number(&j, "error", error_of(k, &a, z) / tol);
        json_numbers(&j, "errors", KINDS, errors);
        json_numbers(&j, "estimates", KINDS, estimates);
    }
    json_end(&j);
    costate_free(plain);
    costate_free(c);
}

int trust_cases(const choice *only)
{
    static const double tols[] = {1e-2, 1e-3, 1e-4, 1e-6};
    static const char *const methods[] = {"auto", "radau2a5"};
    for (int i = 0; i < TRIALS; i++) {
        const trial *k = &trials[i];
        answer z;
        if (!chosen(only->task, k->name)) continue;
        if (reference(k, &z)) return 1;
        for (size_t l = 0; l < sizeof methods / sizeof *methods; l++)
            for (size_t e = 0; e < sizeof tols / sizeof *tols; e++)
                if (chosen(only->method, methods[l]) && chosen_rtol(only, tols[e])) row(k, methods[l], tols[e], &z);
        fflush(stdout);
    }
    return 0;
}
