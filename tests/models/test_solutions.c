/* test_solutions.c - runs of generated problems with kinks, events, modes and memory variables give their closed forms:
   a block with friction and a stop, a ball that bounces with drag, a thermostat, doses and infusions. */
#include "common.h"

#include "bouncing_ball.h"
#include "dosing.h"
#include "friction.h"
#include "thermostat.h"

enum { MOST = 8 };

/* y at t1 from the closed form; y: states, integrals, memory variables */
typedef void solution(const double *p, double t1, double *y);

/* ---- x'' = -k x - mu sign(v) - stiffness max(x - stop, 0) + amplitude sin(frequency t) ----

   An oscillator with constant coefficients from one change of a branch to the next. */

typedef struct { double t, x, v; int sign, touches; } arc;

static void on_arc(const double *p, const arc *a, double t, double *x, double *v)
{
    double k = p[0], mu = p[1], f = p[3], stop = p[4], stiffness = a->touches ? p[5] : 0, w = sqrt(k + stiffness);
    double S = p[2] / (w * w - f * f), c = (stiffness * stop - a->sign * mu) / (w * w), s = w * (t - a->t);
    double from = a->x - c - S * sin(f * a->t), at = (a->v - S * f * cos(f * a->t)) / w;
    *x = c + S * sin(f * t) + from * cos(s) + at * sin(s);
    *v = S * f * cos(f * t) + w * (at * cos(s) - from * sin(s));
}

/* Has the velocity or the contact changed before t?  2: the velocity, 1: the contact */
static int left(const double *p, const arc *a, double t)
{
    double x, v;
    on_arc(p, a, t, &x, &v);
    return v * a->sign < 0 ? 2 : (x > p[4]) != a->touches;
}

static void friction_solution(const double *p, double t1, double *y)
{
    const double STEP = 1e-3;
    arc a = {0, y[0], y[1], -1, 0};                 /* the spring pulls it back first */
    double heat = 0, t = 0;
    int changes = 0;
    while (a.t < t1) {
        double x, v, low = t, high;
        while (t < t1 && !left(p, &a, t = fmin(t + STEP, t1))) low = t;
        int why = left(p, &a, t);
        for (high = t; why && high - low > 1e-15 * high;) {
            double middle = (low + high) / 2;
            if (middle <= low || middle >= high) break;
            if (left(p, &a, middle)) high = middle;
            else low = middle;
        }
        t = why ? high : t1;
        on_arc(p, &a, t, &x, &v);
        heat += p[1] * fabs(x - a.x);
        a = (arc){t, x, why == 2 ? 0 : v, why == 2 ? -a.sign : a.sign, why == 1 ? !a.touches : a.touches};
        changes += why > 0;
    }
    assert_true(changes >= 3);
    y[0] = a.x;
    y[1] = a.v;
    y[2] = heat;
}

/* ---- v' = -g - drag v |v|, in units of the terminal velocity and g ---- */

static void ball_solution(const double *p, double t1, double *y)
{
    double g = p[0], e = p[1], drag = p[2], height = p[3], end = sqrt(g / drag), unit = end * end / g;
    double up = 0, top = height / unit, left_over = g * t1 / end, u = 0;        /* the first flight begins at its top */
    int bounces = 0;
    for (;; bounces++) {
        double rises = atan(up), falls = acosh(exp(top));
        if (left_over < rises + falls) { u = left_over - rises; break; }
        left_over -= rises + falls;
        up = e * tanh(falls);
        top = 0.5 * log1p(up * up);
    }
    y[0] = unit * (top + (u < 0 ? log(cos(u)) : -log(cosh(u))));
    y[1] = -end * (u < 0 ? tan(u) : tanh(u));
    y[2] = g * height - g * y[0] - y[1] * y[1] / 2;                              /* energy is not lost otherwise */
    y[3] = bounces;
    assert_true(bounces > 2);
}

/* ---- a heater ---- */

static void thermostat_solution(const double *p, double t1, double *y)
{
    double low = p[0], high = p[1], k = p[2], outside = p[3], power = p[4], T = y[0], t = 0, used = 0;
    int on = 1, switches = 0;
    for (;; on = !on, switches++) {
        double rest = outside + (on ? power / k : 0), to = on ? high : low, takes = log((T - rest) / (to - rest)) / k;
        double h = fmin(takes, t1 - t);
        used += on ? power * h : 0;
        t += h;
        T = rest + (T - rest) * exp(-k * h);
        if (h < takes) break;
    }
    y[0] = T;
    y[1] = used;
    assert_true(switches > 2);
}

/* ---- two compartments: responses of both to a unit in the blood, and to a rate, are sums of exponentials ---- */

/* what is left at t of what came in at `from`: as exp(-rate (t - from)), or as its integral from `from` to `until` */
static double faded(double t, double from, double rate) { return t < from ? 0 : exp(-rate * (t - from)); }

static double gathered(double t, double from, double until, double rate)
{
    return t < from ? 0 : (exp(-rate * (t - fmin(t, until))) - exp(-rate * (t - from))) / rate;
}

static void dosing_solution(const double *p, double t, double *y)
{
    static const double swallowed[] = {0, 8, 24}, on[] = {12, 27}, off[] = {14.5, 28};
    double ka = p[0], out = p[1] / p[2], k12 = p[3], k21 = p[4], sum = out + k12 + k21;
    double fast = (sum + sqrt(sum * sum - 4 * out * k21)) / 2, slow = out * k21 / fast;
    const double rate[] = {fast, slow}, of_blood[] = {(fast - k21) / (fast - slow), (k21 - slow) / (fast - slow)};
    const double of_tissue[] = {-k12 / (fast - slow), k12 / (fast - slow)};
    y[0] = y[1] = y[2] = y[3] = 0;
    for (int i = 0; i < 3; i++) y[0] += 100 * faded(t, swallowed[i], ka);
    for (int k = 0; k < 2; k++) {
        double x = 0;
        for (int i = 0; i < 3; i++)
            x += 100 * ka / (ka - rate[k]) * (faded(t, swallowed[i], rate[k]) - faded(t, swallowed[i], ka));
        for (int i = 0; i < 2; i++) x += 25 * gathered(t, on[i], off[i], rate[k]);
        y[1] += of_blood[k] * x;
        y[2] += of_tissue[k] * x;
    }
    for (int i = 0; i < 2; i++) y[3] += t >= on[i] && t < off[i] ? 25 : 0;
}

/* ---- runs ---- */

typedef struct {
    const char *name;
    const costate_problem *(*problem)(void);
    const double *p;
    void (*start)(double t, const double *p, double *y);
    solution *exact;
    int mode;
    double t1[3];
} model;

#define MODEL(name) #name, name##_problem, name##_defaults, name##_start
static const model models[] = {
    {MODEL(friction), friction_solution, 0, {3, 7.5, 10}},
    {MODEL(bouncing_ball), ball_solution, 0, {2, 2.3, 2.8}},
    {MODEL(thermostat), thermostat_solution, 1, {8, 11, 20}},
    {MODEL(dosing), dosing_solution, 0, {13, 27.5, 40}},
};

static void closed_form(void **state)
{
    const costate_method *m = *state;
    for (size_t k = 0; k < sizeof models / sizeof *models; k++)
        for (int i = 0; i < 3; i++) {
            const model *of = &models[k];
            const costate_problem *P = of->problem();
            int N = P->n + P->nq + P->nm;
            double y[MOST], exact[MOST], t1 = of->t1[i];
            assert_true(N <= MOST);
            of->start(0, of->p, y);
            memcpy(exact, y, sizeof y);
            const costate_options o = {.rtol = 1e-10, .atol = 1e-12, .mode = of->mode};
            costate *c = costate_new(m, P, &o);
            CHECK_OK(c, costate_integrate(c, 0, t1, y, of->p, NULL));
            of->exact(of->p, t1, exact);
            for (int j = 0; j < P->n + P->nq; j++)
                if (!(fabs(y[j] - exact[j]) < 1e-8 * (1 + fabs(exact[j]))))
                    fail_msg("%s with %s at t = %g: component %d is %.12g, not %.12g", of->name, method_name(m), t1, j,
                             y[j], exact[j]);
            if (P->n + P->nq + P->nm > P->n + P->nq && k != 0) assert_true(y[N - 1] == exact[N - 1]);
            costate_free(c);
        }
}

int main(void)
{
    static const char *const methods[] = {"dopri5", "rodas4", "radau2a5"};
    struct CMUnitTest tests[sizeof methods / sizeof *methods];
    size_t count = 0;
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        const costate_method *m = costate_method_find(methods[k]);
        if (m) tests[count++] = (struct CMUnitTest){.name = methods[k], .test_func = closed_form,
                                                    .initial_state = (void *)(uintptr_t)m};
    }
    return _cmocka_run_group_tests("closed forms", tests, count, NULL, NULL);
}
