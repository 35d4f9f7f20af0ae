/* trust_steps.c - the set `steps` of trust.c: what gradients of explicit runs are worth, by how their steps are chosen.

   plain: for y alone, as without options.stability.  stable: the default, never longer than is stable.  controlled:
   also for a tangent along a random direction (options.gradient_control).  The gradient is that of one component of
   y(t1) with respect to y(0).

   References are from a tight run of one method with gradient_control, so that its steps resolve the gradient as well.
   A row before those of a problem says how far another method with ten times the tolerance is from it. */
#include <stdlib.h>
#include <string.h>

#include "ivp.h"
#include "problems.h"
#include "trust.h"

/* What there is to integrate: an ivp, or the Brusselator on a line. */
typedef struct {
    const char *name, *title, *from;
    int size;
    double t1;                               /* 0: that of the ivp */
    double tight, tightest;                  /* rtol of the reference, and of the last run */
    const char *exact, *other;               /* methods of the reference, and of the one to compare it with */
    int few;                                 /* 1: every second tolerance, and the methods of `few_methods` */
} setting;

static const setting settings[] = {
    {"waves", "waves, 200 unknowns", "waves", 100, 0, 1e-12, 1e-8, "verner98", "dopri853", 0},
    {"vdpol_5", "van der Pol, mu = 5", "vdpol_original", 5, 0, 1e-12, 1e-8, "radau2a5", "verner98", 0},
    {"vdpol_20", "van der Pol, mu = 20", "vdpol_original", 20, 0, 1e-12, 1e-8, "radau2a5", "verner98", 0},
    {"vdpol_50", "van der Pol, mu = 50", "vdpol_original", 50, 0, 1e-12, 1e-8, "radau2a5", "verner98", 0},
    {"brusselator", "Brusselator on a line, 80 unknowns", NULL, 40, 2, 1e-12, 1e-8, "radau2a5", "verner98", 0},
    {"heat", "heat on a line, 50 unknowns", "diffusion", 50, 0, 1e-12, 1e-8, "radau2a5", "verner98", 0},
    {"swe_40", "shallow water, 40 x 40 cells", "swe", 40, 0.11, 1e-10, 1e-8, "verner98", "dopri853", 0},
    {"swe_80", "shallow water, 80 x 80 cells", "swe", 80, 0.05, 1e-9, 1e-6, "verner98", "dopri853", 0},
    {"swe_160", "shallow water, 160 x 160 cells", "swe", 160, 0.011, 1e-8, 1e-7, "verner98", "dopri853", 1},
};
static const char *const methods[] = {"dopri5", "bs54", "verner76", "tsit5", "bs32", "dopri853", "rk43"};
enum { SETTINGS = sizeof settings / sizeof *settings, METHODS = sizeof methods / sizeof *methods, FEW_METHODS = 3 };

static const struct { const char *name; int stability, control; } modes[] = {
    {"plain", COSTATE_STABILITY_OFF, 0}, {"stable", COSTATE_STABILITY_ON, 0}, {"controlled", COSTATE_STABILITY_ON, 1}};

typedef struct {
    const setting *about;
    ivp b;                                   /* where `from` is given */
    problem *line;                           /* where it is not */
    costate_problem P;                       /* without integrals */
    const double *y0, *p;
    double t1, atol;
    int component;
} task;

typedef struct { double *y, *g; } outcome;   /* n each */

static int task_open(const setting *s, task *k)
{
    *k = (task){.about = s, .atol = 1, .t1 = s->t1};
    if (s->from) {
        if (ivp_new(&k->b, s->from, s->size, 0) != COSTATE_OK) return 1;
        k->P = k->b.P;
        k->y0 = k->b.y0;
        k->p = k->b.p;
        k->atol = k->b.atol;
        k->component = k->b.functional;
        if (k->t1 <= 0) k->t1 = k->b.t1;
    } else {
        if (!(k->line = problem_brusselator(s->size))) return 1;
        k->P = k->line->P;
        k->P.nq = 0;
        k->y0 = k->line->y0;
        k->p = k->line->p0;
    }
    return 0;
}

static void task_close(task *k)
{
    ivp_free(&k->b);
    problem_free(k->line);
}

/* A run and a sweep.  The tape stores states alone: the sweep repeats each step, and the gradient is the same. */
static int run(const task *k, const char *method, double rtol, int mode, outcome *o, costate_stats *s, int *steps,
               char text[400])
{
    const costate_options options = {
        .rtol = rtol, .atol = k->atol * rtol, .max_steps = 1000000, .autonomous = 1, .storage = COSTATE_STATES_ONLY,
        .stability = modes[mode].stability, .gradient_control = modes[mode].control};
    costate *c = costate_new(costate_method_find(method), &k->P, &options);
    costate_tape *tape = costate_tape_new();
    memcpy(o->y, k->y0, (size_t)k->P.n * sizeof *o->y);
    memset(o->g, 0, (size_t)k->P.n * sizeof *o->g);
    o->g[k->component] = 1;
    int status = costate_integrate(c, 0, k->t1, o->y, k->p, tape);
    if (c) *s = *costate_get_stats(c);
    *steps = costate_tape_steps(tape);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, o->g, NULL, NULL, NULL);
    if (c) s->gradient_error = costate_get_stats(c)->gradient_error;
    snprintf(text, 400, "%s", costate_message(c));
    costate_tape_free(tape);
    costate_free(c);
    return status;
}

static int reference(const task *k, outcome *z, outcome *o)
{
    const setting *b = k->about;
    costate_stats s = {0};
    char text[400];
    int steps, status = run(k, b->exact, b->tight, 2, z, &s, &steps, text);
    if (status == COSTATE_OK) status = run(k, b->other, 10 * b->tight, 2, o, &s, &steps, text);
    json j = {.file = stdout};
    json_text(&j, "set", "reference");
    json_text(&j, "problem", b->name);
    json_text(&j, "title", b->title);
    json_text(&j, "method", b->exact);
    json_text(&j, "other", b->other);
    json_number(&j, "asked", b->tight);
    json_count(&j, "status", status);
    if (status == COSTATE_OK) {
        json_number(&j, "error", distance(k->P.n, o->y, z->y) / norm(k->P.n, z->y));
        json_number(&j, "error_derivative", distance(k->P.n, o->g, z->g) / norm(k->P.n, z->g));
    } else json_text(&j, "message", text);
    json_end(&j);
    fflush(stdout);
    return status;
}

static void row(const task *k, const char *method, double rtol, int mode, const outcome *z, outcome *o)
{
    costate_stats s = {0};
    char text[400];
    int steps, status = run(k, method, rtol, mode, o, &s, &steps, text);
    json j = {.file = stdout};
    json_text(&j, "set", "steps");
    json_text(&j, "problem", k->about->name);
    json_text(&j, "method", method);
    json_number(&j, "asked", rtol);
    json_text(&j, "mode", modes[mode].name);
    json_count(&j, "status", status);
    if (status != COSTATE_OK) json_text(&j, "message", text);
    json_count(&j, "steps", steps);
    json_count(&j, "rejected", s.rejected);
    json_count(&j, "f", s.f);
    json_count(&j, "products", s.tangents + s.adjoints);       /* of the run, without its sweep */
    if (status == COSTATE_OK) {
        json_number(&j, "error", distance(k->P.n, o->y, z->y) / norm(k->P.n, z->y));
        json_number(&j, "error_derivative", distance(k->P.n, o->g, z->g) / norm(k->P.n, z->g));
        json_number(&j, "estimate", s.gradient_error);
    }
    json_end(&j);
    fflush(stdout);
}

/* Methods of order 3 stop at 1e-6. */
static void rows(const task *k, const choice *only, const outcome *z, outcome *o)
{
    for (int i = 0; i < (k->about->few ? FEW_METHODS : METHODS); i++) {
        costate_method_info about;
        costate_method_describe(costate_method_find(methods[i]), &about);
        double tightest = fmax(k->about->tightest, about.order < 4 ? 1e-6 : 0);
        if (!chosen(only->method, methods[i])) continue;
        for (double rtol = 1e-3; rtol > 0.9 * tightest; rtol *= k->about->few ? 0.01 : 0.1)
            for (int mode = 0; mode < 3; mode++)
                if (chosen_rtol(only, rtol)) row(k, methods[i], rtol, mode, z, o);
    }
}

static int measure(const setting *s, const choice *only)
{
    task k;
    int status = task_open(s, &k);
    size_t n = (size_t)k.P.n;
    double *room = status == 0 ? malloc(4 * n * sizeof *room) : NULL;
    if (room) {
        outcome z = {room, room + n}, o = {room + 2 * n, room + 3 * n};
        if (reference(&k, &z, &o) == COSTATE_OK) rows(&k, only, &z, &o);
    }
    free(room);
    task_close(&k);
    return room == NULL;
}

int trust_steps(const choice *only)
{
    int status = 0;
    for (int i = 0; i < SETTINGS && status == 0; i++)
        if (chosen(only->task, settings[i].name)) status = measure(&settings[i], only);
    if (status) fputs("trust: no memory\n", stderr);
    return status;
}
