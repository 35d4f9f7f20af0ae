/* 29_gear_change.c - optimal control through events: an electric car with two gears, and how far one gets without them.

       s' = v,   v' = G u - 0.1 - 0.00035 v^2,   G = i/12,   i = 40 in the first gear, 20 in the second,
       q' = 0.1 i v u + 4 u^2 + 1e-5 i^2 v^2:  power to the wheels, losses in copper and iron; kW

   u is the torque of the motor in 100 Nm, linear between its values at 16 nodes.  The second gear comes at v = up, the
   first at v = down; a change takes 2 % of the speed, v := 0.98 v, and 0.01 v^2 kJ of slip.  400 m in 45 s from rest to
   rest at the least energy: minimise

       J(u, up, down) = q(T) + 5 (s(T) - 400)^2 + 50 v(T)^2

   by L-BFGS.  When a gear is changed follows from all the u before, and up and down act through nothing else.  The
   gradient has that: events are located by their guards, and differentiated with their times.  To see what it is worth,
   the same is tried with the changes of gear held at the times where they were, as if these were given: J is the same
   then, and its gradient is not.

       29_gear_change [directory]                       writes files for pictures there */
#include <costate/costate.h>
#include <lbfgs.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NODES = 16, UP = NODES, DOWN, UNKNOWNS, MOST = 8, CURVE = 450 };
enum { S, V, Q, ROWS };
static const double t_end = 45, length = 400, ratio[2] = {40, 20}, kept = 0.98, slip = 0.01;
static const double by_s = 10, by_v = 100;          /* twice the weights of the end */

/* ---- the car; x->mode is 0 in the first gear, 1 in the second ---- */

/* u(t) and its derivatives: by t, and by p[k], p[k + 1], which are 1 - part and part */
typedef struct { double u, by_t, part; int k; } torque;

static torque torque_at(double t, const double *p)
{
    double x = t / t_end * (NODES - 1);
    torque r = {.k = x < NODES - 2 ? (int)x : NODES - 2};
    r.part = x - r.k;
    r.u = (1 - r.part) * p[r.k] + r.part * p[r.k + 1];
    r.by_t = (p[r.k + 1] - p[r.k]) * (NODES - 1) / t_end;
    return r;
}
static void torque_adjoint(const torque *r, double w, const costate_gradient *g)
{
    if (g->t) *g->t += r->by_t * w;
    if (!g->p) return;
    g->p[r->k] += (1 - r->part) * w;
    g->p[r->k + 1] += r->part * w;
}

static int f(const costate_point *x, double *out, void *ctx)
{
    double v = x->y[V];
    out[S] = v;
    out[V] = ratio[x->mode] / 12 * torque_at(x->t, x->p).u - 0.1 - 0.00035 * v * v;
    return (void)ctx, 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    torque r = torque_at(x->t, x->p);
    torque_adjoint(&r, ratio[x->mode] / 12 * w[V], g);
    if (g->y) g->y[V] += w[S] - 0.0007 * x->y[V] * w[V];
    return (void)ctx, 0;
}

static int power(const costate_point *x, double *out, void *ctx)
{
    double u = torque_at(x->t, x->p).u, turns = ratio[x->mode] * x->y[V];
    return (void)ctx, out[0] = 0.1 * turns * u + 4 * u * u + 1e-5 * turns * turns, 0;
}
static int power_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    torque r = torque_at(x->t, x->p);
    double i = ratio[x->mode], turns = i * x->y[V];
    torque_adjoint(&r, (0.1 * turns + 8 * r.u) * w[0], g);
    if (g->y) g->y[V] += i * (0.1 * r.u + 2e-5 * turns) * w[0];
    return (void)ctx, 0;
}

/* v - up in the first gear, v - down in the second */
static int speed(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->y[V] - x->p[UP + x->mode];
    return 0;
}
static int speed_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[V] += w[0];
    if (g->p) g->p[UP + x->mode] -= w[0];
    return (void)ctx, 0;
}

static int change(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[S] = x->y[S];
    out[V] = kept * x->y[V];
    return 0;
}
static int change_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) { g->y[S] += w[S]; g->y[V] += kept * w[V]; }
    return (void)x, (void)ctx, 0;
}
static int heat(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = slip * x->y[V] * x->y[V], 0;
}
static int heat_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[V] += 2 * slip * x->y[V] * w[0];
    return (void)ctx, 0;
}

#define CHANGE .jump = {.value = change, .adjoint = change_adjoint}, .cost = {.value = heat, .adjoint = heat_adjoint}
#define AT_SPEED .guard = {.value = speed, .adjoint = speed_adjoint}

/* ---- cost and gradient ---- */

enum gradient { EXACT, SPEEDS_HELD, TIMES_HELD, WAYS };
static const char *const named[WAYS] = {"events and their times", "the same, up and down held", "times of events held"};

typedef struct {
    double node[NODES - 2], at[MOST];       /* times of nodes inside, where u has kinks, and of changes of gear */
    int changes, runs;
    enum gradient way;
    double y[ROWS];                         /* at the end */
    FILE *file;
} trip;

static const costate_options options = {.rtol = 1e-12, .atol = 1e-12};

/* A run from rest, onto the tape: gears are changed where v says so, or (held) at the times z->at.  The problem and its
   events are the caller's, and are read by sweeps. */
static costate *run(trip *z, const double *p, int held, costate_problem *problem, costate_event *event,
                    costate_tape *tape)
{
    int count = 0;
    for (int k = 0; held && k < z->changes; k++)
        event[count++] = (costate_event){.ntimes = 1, .times = z->at + k, CHANGE, .from = k % 2, .to = 1 - k % 2};
    for (int k = 0; !held && k < 2; k++)
        event[count++] = (costate_event){AT_SPEED, CHANGE, .direction = k ? -1 : 1, .from = k, .to = 1 - k};
    *problem = (costate_problem){.n = 2, .np = UNKNOWNS, .nq = 1, .rhs = {.value = f, .adjoint = f_adjoint},
                                 .cost = {.value = power, .adjoint = power_adjoint}, .nevents = count, .event = event,
                                 .nstops = NODES - 2, .stops = z->node};        /* no step goes over a kink */
    costate *c = costate_new(costate_method_find("dopri853"), problem, &options);
    memset(z->y, 0, sizeof z->y);
    costate_integrate(c, 0, t_end, z->y, p, tape);
    if (costate_status(c) != COSTATE_OK) fprintf(stderr, "%s\n", costate_message(c));
    return c;
}

/* J and its gradient, made as z->way says; z->at: when gears are changed */
static double cost(trip *z, const double *p, double *g)
{
    costate_problem problem;
    costate_event event[MOST + 1];
    costate_tape *tape = costate_tape_new();
    costate *c = run(z, p, 0, &problem, event, tape);
    z->runs++;
    z->changes = 0;
    for (int k = 0; k < costate_tape_events(tape); k++) {
        int which;
        double t;
        costate_tape_event(tape, k, &t, &which, NULL, NULL);
        if (which >= 0 && z->changes < MOST) z->at[z->changes++] = t;
    }
    if (z->way == TIMES_HELD && costate_status(c) == COSTATE_OK) {
        costate_free(c);
        c = run(z, p, 1, &problem, event, tape);
    }
    double miss = z->y[S] - length, v = z->y[V], lambda[ROWS] = {by_s * miss, by_v * v, 1};
    int status = costate_status(c);
    memset(g, 0, UNKNOWNS * sizeof *g);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, g, NULL, NULL);
    if (z->way == SPEEDS_HELD) g[UP] = g[DOWN] = 0;
    costate_tape_free(tape);
    costate_free(c);
    return status == COSTATE_OK ? z->y[Q] + (by_s * miss * miss + by_v * v * v) / 2 : NAN;
}

static lbfgsfloatval_t evaluate(void *ctx, const lbfgsfloatval_t *p, lbfgsfloatval_t *g, int n, lbfgsfloatval_t step)
{
    return (void)n, (void)step, cost(ctx, p, g);
}
static int progress(void *ctx, const lbfgsfloatval_t *p, const lbfgsfloatval_t *g, const lbfgsfloatval_t J,
                    const lbfgsfloatval_t norm, const lbfgsfloatval_t gnorm, const lbfgsfloatval_t step, int n, int k,
                    int ls)
{
    const trip *z = ctx;
    (void)p, (void)g, (void)norm, (void)gnorm, (void)step, (void)n, (void)k, (void)ls;
    if (z->file) fprintf(z->file, "%d %.9g\n", z->runs, J);
    return 0;
}

/* ---- the comparison ---- */

static double norm_of(const double *a, const double *b, int count)      /* of a - b; b NULL: zero */
{
    double sum = 0;
    for (int k = 0; k < count; k++) sum += pow(a[k] - (b ? b[k] : 0), 2);
    return sqrt(sum);
}

static FILE *open_file(const char *directory, const char *file, int number)
{
    char path[512];
    if (!directory) return NULL;
    snprintf(path, sizeof path, "%s/29_%s_%d.dat", directory, file, number);
    FILE *out = fopen(path, "w");
    if (!out) perror(path);
    return out;
}

/* t, u, v, gear */
static void write_trip(trip *z, const double *p, const char *directory, int number)
{
    costate_problem problem;
    costate_event event[MOST + 1];
    costate_tape *tape = costate_tape_new();
    costate *c = run(z, p, 0, &problem, event, tape);
    FILE *out = open_file(directory, "trip", number);
    for (int i = 0; out && i <= CURVE; i++) {
        double t = t_end * i / CURVE, y[2];
        int gear = 1;
        for (int k = 0; k < z->changes; k++) gear += t > z->at[k] ? k % 2 ? -1 : 1 : 0;
        if (costate_tape_eval(c, tape, t, y) == COSTATE_OK)
            fprintf(out, "%.9g %.9g %.9g %d\n", t, torque_at(t, p).u, y[V], gear);
    }
    if (out) fclose(out);
    costate_tape_free(tape);
    costate_free(c);
}

/* the three gradients at p, and differences of J; returns the gap of the first and differences */
static double compare_gradients(trip *z, double *p)
{
    double g[WAYS][UNKNOWNS], J[WAYS], by[UNKNOWNS], none[UNKNOWNS], e = 1e-4;
    for (int k = 0; k < UNKNOWNS; k++) {
        double at = p[k], up = (p[k] = at + e, cost(z, p, none)), down = (p[k] = at - e, cost(z, p, none));
        by[k] = (up - down) / (2 * e);
        p[k] = at;
    }
    for (int w = 0; w < WAYS; w++) z->way = w, J[w] = cost(z, p, g[w]);
    printf("at the start J = %.4f, with %d changes of gear\n", J[0], z->changes);
    printf("gradient of J there            |by u|      by up    by down   error by u\n");
    for (int w = 0; w < WAYS; w += TIMES_HELD)
        printf("%-26s%11.1f%11.1f%11.1f%11.0e\n", named[w], norm_of(g[w], NULL, NODES), g[w][UP], g[w][DOWN],
               norm_of(g[w], by, NODES) / norm_of(by, NULL, NODES));
    if (!(fabs(J[TIMES_HELD] / J[EXACT] - 1) < 1e-12)) return NAN;             /* the values must be the same */
    return norm_of(g[EXACT], by, UNKNOWNS) / norm_of(by, NULL, UNKNOWNS);
}

int main(int argc, char **argv)
{
    trip z = {0};
    const char *directory = argc > 1 ? argv[1] : NULL;
    double start[UNKNOWNS], p[UNKNOWNS], g[UNKNOWNS], size[2] = {0}, J[WAYS];
    for (int k = 0; k < NODES - 2; k++) z.node[k] = t_end * (k + 1) / (NODES - 1);
    for (int k = 0; k < NODES; k++) start[k] = k < 5 ? 0.4 : k < 12 ? 0.1 : -0.5;
    start[UP] = 9, start[DOWN] = 5;
    double gap = compare_gradients(&z, start);
    write_trip(&z, start, directory, 0);
    printf("\nL-BFGS by gradients with           J   energy     up   down  runs  gradient  liblbfgs\n");
    for (int w = 0; w < WAYS; w++) {
        lbfgs_parameter_t how;
        lbfgs_parameter_init(&how);
        how.m = UNKNOWNS;
        how.epsilon = 1e-4;
        how.max_iterations = 2000;
        z.runs = 0, z.way = w;
        z.file = open_file(directory, "iterations", w);
        int status = lbfgs(UNKNOWNS, memcpy(p, start, sizeof p), NULL, evaluate, progress, &z, &how), runs = z.runs;
        if (z.file) fclose(z.file);
        z.way = w == SPEEDS_HELD ? SPEEDS_HELD : EXACT;
        J[w] = cost(&z, p, g);
        printf("%-27s%9.3f%9.3f%7.3f%7.3f%6d%10.0e%10d\n", named[w], J[w], z.y[Q], p[UP], p[DOWN], runs,
               norm_of(g, NULL, UNKNOWNS), status);
        write_trip(&z, p, directory, w + 1);
        if (w != EXACT) continue;
        size[0] = norm_of(g, NULL, UNKNOWNS);
        z.way = TIMES_HELD;
        cost(&z, p, g);
        size[1] = norm_of(g, NULL, UNKNOWNS);
    }
    printf("\nat the first optimum the gradient is %.0e, with the times held %.0e\n", size[0], size[1]);
    printf("gradient and differences: relative gap %.0e\n", gap);
    return !(gap < 1e-6 && size[0] < 1e-3 && J[EXACT] < J[SPEEDS_HELD] && J[SPEEDS_HELD] < J[TIMES_HELD]);
}
