/* system.c - what the library takes from the system: threads, and files of tapes (packaging/cross).

   Prints a line for each and ends with 1 if one is not as it must be.  Problem: y' = -p y, y(0) = 2, p = 3. */
#include <stdio.h>
#include <string.h>
#include <costate/ensemble.h>

enum { MEMBERS = 512, THREADS = 3, STOP = 40 };
static const char file[] = "system.tape";

static int f(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = -x->p[0] * x->y[0], 0; }

static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] += -x->p[0] * w[0];
    if (g->p) g->p[0] += -x->y[0] * w[0];
    return 0;
}

static int jac(const costate_point *x, double *J, void *ctx) { return (void)ctx, J[0] = -x->p[0], 0; }

static const costate_problem problem = {.n = 1, .np = 1, .rhs = {.value = f, .adjoint = f_adjoint}, .jac = jac};

/* ---- threads: gradients of an ensemble have the same bits ---- */

typedef struct { double y[MEMBERS], lambda[MEMBERS], mu[MEMBERS]; int status, threads; } ensemble;

static void run_members(int threads, ensemble *e)
{
    double p[MEMBERS];
    costate_options o = {.rtol = 1e-9, .atol = 1e-9};
    costate_ensemble_report report = {0};
    memset(e, 0, sizeof *e);
    for (int k = 0; k < MEMBERS; k++) {
        e->y[k] = 2;
        e->lambda[k] = 1;
        p[k] = 1 + 0.01 * k;
    }
    costate_members members = {.count = MEMBERS, .threads = threads, .t1 = 1, .y = e->y, .p = p, .m = 1,
                               .lambda = e->lambda, .mu = e->mu};
    e->status = costate_ensemble(costate_method_find("verner76"), &problem, &o, &members, &report);
    e->threads = report.threads;
}

static int check_threads(void)
{
    ensemble one, more;
    run_members(1, &one);
    run_members(THREADS, &more);
    int same = !memcmp(one.y, more.y, sizeof one.y) && !memcmp(one.lambda, more.lambda, sizeof one.lambda) &&
               !memcmp(one.mu, more.mu, sizeof one.mu);
    printf("%d cores, %d threads%s\n", costate_cores(), more.threads, same ? "" : ", OTHER BITS");
    return same && one.status == COSTATE_OK && more.status == COSTATE_OK && more.threads == THREADS;
}

/* ---- files: a run that was stopped is resumed; one run writes, another reads ---- */

typedef struct { costate *c; costate_tape *tape; double y, lambda, mu; } session;

static int stop(const costate_step *step, void *ctx) { return (void)step, ++*(int *)ctx == STOP; }

static session begin(int *steps)
{
    costate_options o = {.rtol = 1e-10, .atol = 1e-10, .hmax = 0.01, .autonomous = 1, .storage = COSTATE_CHECKPOINTS,
                         .checkpoints = 12, .on_step = steps ? stop : NULL, .on_step_ctx = steps};
    return (session){costate_new(costate_method_find("radau2a"), &problem, &o), costate_tape_open(file), 2, 1, 0};
}

static void end(session *s)
{
    costate_tape_free(s->tape);
    costate_free(s->c);
}

static int integrate(session *s) { return costate_integrate(s->c, 0, 1, &s->y, &(double){3}, s->tape); }
static int adjoint(session *s) { return costate_adjoint(s->c, s->tape, 1, &s->lambda, &s->mu, NULL, NULL); }

static int check_files(void)
{
    int steps = 0;
    session whole = begin(NULL), stopped, other, resumed, reads;
    int status = integrate(&whole);
    if (!status) status = adjoint(&whole);
    if (status) printf("tape in a file: %s\n", costate_message(whole.c));
    end(&whole);
    if (status) return 0;
    stopped = begin(&steps);
    int stops = integrate(&stopped);
    other = begin(NULL);
    int second = integrate(&other);
    printf("another run: %s\n", costate_message(other.c));
    end(&other);
    end(&stopped);
    resumed = begin(NULL);
    status = costate_resume(resumed.c, resumed.tape, &resumed.y);
    if (!status) status = adjoint(&resumed);
    reads = begin(NULL);
    if (!status) status = costate_tape_read(reads.c, reads.tape);
    if (!status) status = adjoint(&reads);
    int same = whole.y == resumed.y && whole.mu == resumed.mu && whole.mu == reads.mu;
    printf("a run that was stopped is resumed%s\n", status ? " with an ERROR" : same ? "" : " to OTHER BITS");
    end(&reads);
    end(&resumed);
    remove(file);
    return stops == COSTATE_STOPPED && second == COSTATE_IO && !status && same;
}

int main(void)
{
    int threads = check_threads(), files = check_files();
    return !(threads && files);
}
