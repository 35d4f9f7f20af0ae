/* 26_resume.c - a run that is killed, and resumed by another process: the same end, to the bit, and its gradient.

   Robertson's reaction (1966), stiff: A -> B,  2 B -> B + C,  B + C -> A + C, to t = 1e8 by radau2a.  The run writes
   its tape into a file.  A child process kills itself on the way, so that nothing of it is left but the file; the
   parent reads that and goes on where it ends.  A second file has the same run without a hindrance. */
#define _POSIX_C_SOURCE 200809L
#include <costate/costate.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 3, RATES = 3, FATAL = 150 };
static const double rate[RATES] = {0.04, 3e7, 1e4}, end = 1e8;

static int f(const costate_point *x, double *out, void *ctx)
{
    const double *y = x->y, *k = x->p, r[] = {k[0] * y[0], k[1] * y[1] * y[1], k[2] * y[1] * y[2]};
    out[0] = r[2] - r[0];
    out[1] = r[0] - r[1] - r[2];
    out[2] = r[1];
    return (void)ctx, 0;
}
static int jac(const costate_point *x, double *J, void *ctx)
{
    const double *y = x->y, *k = x->p, by_b = k[2] * y[2], by_c = k[2] * y[1];
    const double columns[] = {-k[0], k[0], 0, by_b, -2 * k[1] * y[1] - by_b, 2 * k[1] * y[1], by_c, -by_c, 0};
    memcpy(J, columns, sizeof columns);
    return (void)ctx, 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y;
    double J[N * N];
    jac(x, J, ctx);
    for (int j = 0; g->y && j < N; j++) for (int i = 0; i < N; i++) g->y[j] += J[i + N * j] * w[i];
    if (!g->p) return 0;
    g->p[0] += y[0] * (w[1] - w[0]);
    g->p[1] += y[1] * y[1] * (w[2] - w[1]);
    g->p[2] += y[1] * y[2] * (w[0] - w[1]);
    return 0;
}

typedef struct { int fatal, steps; } life;

static int step_taken(const costate_step *s, void *ctx)
{
    life *x = ctx;
    if (++x->steps == x->fatal) kill(getpid(), SIGKILL);
    return (void)s, 0;
}

typedef struct { double y[N], lambda[N], mu[RATES]; int steps, taken; } result;

/* A run onto the file, or on with the one that is in it, and the gradient of C by y0 and the rates. */
static int solve(const char *path, int go_on, int fatal, result *r)
{
    life l = {fatal, 0};
    costate_problem problem = {.n = N, .np = RATES, .rhs = {.value = f, .adjoint = f_adjoint}, .jac = jac};
    costate_options options = {.rtol = 1e-8, .atol = 1e-12, .autonomous = 1, .on_step = step_taken, .on_step_ctx = &l};
    costate *c = costate_new(costate_method_find("radau2a"), &problem, &options);
    costate_tape *tape = costate_tape_open(path);
    memset(r, 0, sizeof *r);
    r->y[0] = r->lambda[2] = 1;
    int status = go_on ? costate_resume(c, tape, r->y) : costate_integrate(c, 0, end, r->y, rate, tape);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, r->lambda, r->mu, NULL, NULL);
    if (status != COSTATE_OK) puts(costate_message(c));
    r->steps = costate_tape_steps(tape);
    r->taken = l.steps;
    costate_tape_free(tape);
    costate_free(c);
    return status;
}

static void print(const char *what, const result *r)
{
    printf("%-9s %d steps, C = %.12f, by the rates %.9e, %.9e, %.9e\n", what, r->steps, r->y[2], r->mu[0], r->mu[1],
           r->mu[2]);
}

/* Nothing of the child comes back but how it ended. */
static int run_and_die(const char *path)
{
    result r;
    int how = 0;
    pid_t child = fork();
    if (child == 0) _exit(solve(path, 0, FATAL, &r) == COSTATE_OK ? 0 : 1);
    return child > 0 && waitpid(child, &how, 0) == child && WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL;
}

static double apart(const double *a, const double *b, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++) most = fmax(most, fabs(a[i] - b[i]) / fabs(b[i]));
    return most;
}

int main(void)
{
    char killed[64], unhindered[64];
    result r, whole;
    snprintf(killed, sizeof killed, "26_resume_%ld.tape", (long)getpid());
    snprintf(unhindered, sizeof unhindered, "26_resume_%ld.whole.tape", (long)getpid());
    int died = run_and_die(killed);
    int status = died ? solve(killed, 1, 0, &r) : COSTATE_CHECK_FAILED;
    if (status == COSTATE_OK) status = solve(unhindered, 0, 0, &whole);
    unlink(killed);
    unlink(unhindered);
    if (status != COSTATE_OK) return 1;
    printf("killed in step %d; another process takes the last %d\n", FATAL, r.taken);
    print("gone on:", &r);
    print("at once:", &whole);
    double gap = fmax(apart(r.y, whole.y, N), fmax(apart(r.lambda, whole.lambda, N), apart(r.mu, whole.mu, RATES)));
    printf("largest relative difference: %g\n", gap);
    return !(gap == 0 && r.steps == whole.steps && r.taken < r.steps);
}
