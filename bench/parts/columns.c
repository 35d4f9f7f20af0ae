/* columns.c - several directions at once on shallow water: what ten tangents and ten adjoints cost beside one run.

   columns [GRID]: cells a side (40).  Times are processor seconds, the least of a few turns that all cases share. */
#include <costate/costate.h>

#include <string.h>

#include "measure.h"
#include "swe.h"

enum { TURNS = 5, MOST = 20 };

/* ---- the problem with a clock in its callbacks ---------------------------------------------------------------- */

typedef struct {
    const costate_map *f;
    void *ctx;
    double inside;                       /* seconds in the callbacks */
} timed;

#define INSIDE(call) \
    timed *s = ctx; double from = clock_now(); int code = call; s->inside += clock_now() - from; return code

static int value(const costate_point *x, double *out, void *ctx) { INSIDE(s->f->value(x, out, s->ctx)); }
static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    INSIDE(s->f->tangent(x, dx, out, s->ctx));
}
static int tangents(const costate_point *x, int count, const costate_point *dx, double *out, void *ctx)
{
    INSIDE(s->f->tangents(x, count, dx, out, s->ctx));
}
static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    INSIDE(s->f->adjoint(x, w, g, s->ctx));
}
static int adjoints(const costate_point *x, int count, const double *w, const costate_gradient *g, void *ctx)
{
    INSIDE(s->f->adjoints(x, count, w, g, s->ctx));
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

typedef struct {
    const swe *s;
    costate *c;
    costate_tape *tape;
    double *y, *V;                       /* n, n * MOST */
} bench;

static void start(const bench *b, int m)
{
    size_t n = (size_t)swe_problem(b->s)->n;
    swe_initial(b->s, b->y);
    memset(b->V, 0, n * (size_t)m * sizeof *b->V);
    for (size_t j = 0; j < (size_t)m; j++) b->V[j * n + j * 7] = 1;
}

static void must(const bench *b, int status)
{
    if (status == COSTATE_OK) return;
    fprintf(stderr, "columns: %s\n", costate_message(b->c));
    exit(1);
}

/* seconds of a run with m tangents (0: none), of a backward sweep with m columns */
static double forward(const bench *b, int m)
{
    start(b, m);
    double from = clock_now();
    must(b, m ? costate_integrate_tlm(b->c, 0, 0.011, b->y, NULL, m, b->V, NULL, NULL, NULL)
              : costate_integrate(b->c, 0, 0.011, b->y, NULL, NULL));
    return clock_now() - from;
}

static double backward(const bench *b, int m)
{
    start(b, m);
    double from = clock_now();
    must(b, costate_adjoint(b->c, b->tape, m, b->V, NULL, NULL, NULL));
    return clock_now() - from;
}

static double lesser(double a, double b) { return a > 0 && a < b ? a : b; }

static void verdict(const char *what, double is, double limit)
{
    printf("%-58s %6.2f   (at most %.2f: %s)\n", what, is, limit, is <= limit ? "met" : "missed");
}

static void open_solver(bench *b, const char *method, const costate_problem *P, int solver)
{
    costate_options o = {.rtol = 1e-6, .atol = 1e-6, .autonomous = 1, .solver = solver};
    b->c = costate_new(costate_method_find(method), P, &o);
    must(b, costate_status(b->c));
}

/* beyond the callbacks' own time, of dopri5 */
static void explicit_tangents(bench *b)
{
    timed t = {&swe_problem(b->s)->rhs, swe_problem(b->s)->ctx, 0};
    costate_problem P = *swe_problem(b->s);
    P.ctx = &t;
    P.rhs = (costate_map){.value = value, .tangent = tangent, .adjoint = adjoint, .tangents = tangents,
                          .adjoints = adjoints};
    P.jac = NULL;
    open_solver(b, "dopri5", &P, COSTATE_LS_AUTO);
    static const int columns[] = {0, 1, 10, 20};
    double best[4] = {0}, least[4] = {0};
    for (int turn = 0; turn < TURNS; turn++)
        for (int k = 0; k < 4; k++) {
            t.inside = 0;
            double all = forward(b, columns[k]), beyond = all / t.inside;
            best[k] = lesser(best[k], all);
            least[k] = lesser(least[k], beyond);
        }
    for (int k = 0; k < 4; k++)
        printf("dopri5, %2d tangents: %.4f s, %.2f forward runs, of which %.2f in callbacks\n", columns[k], best[k],
               best[k] / best[0], best[k] / best[0] / least[k]);
    for (int k = 2; k < 4; k++) {
        char what[80];
        snprintf(what, sizeof what, "dopri5, %d tangents: time over the callbacks' own", columns[k]);
        verdict(what, least[k], 1.15);
    }
    costate_free(b->c);
}

static void implicit_columns(bench *b, const char *method)
{
    double one = 0, ten = 0, back = 0, back_ten = 0;
    char what[80];
    open_solver(b, method, swe_problem(b->s), COSTATE_LS_UMFPACK);
    start(b, 1);
    must(b, costate_integrate(b->c, 0, 0.011, b->y, NULL, b->tape));
    for (int turn = 0; turn < TURNS; turn++) {
        one = lesser(one, forward(b, 0));
        ten = lesser(ten, forward(b, 10));
        back = lesser(back, backward(b, 1));
        back_ten = lesser(back_ten, backward(b, 10));
    }
    printf("%s: forward %.4f s, ten tangents %.4f s, backward %.4f s, ten columns %.4f s\n", method, one, ten, back,
           back_ten);
    snprintf(what, sizeof what, "%s, UMFPACK: ten tangents in forward runs", method);
    verdict(what, ten / one, 3.5);
    snprintf(what, sizeof what, "%s, UMFPACK: ten adjoint columns in backward runs of one", method);
    verdict(what, back_ten / back, 4);
    costate_free(b->c);
}

int main(int argc, char **argv)
{
    static const char *const methods[] = {"sdirk4a", "radau2a", "rodas4"};
    int side = argc > 1 ? atoi(argv[1]) : 40;
    bench b = {.s = swe_new(side, side), .tape = costate_tape_new()};
    if (!b.s || !b.tape) return 2;
    size_t n = (size_t)swe_problem(b.s)->n;
    b.y = malloc(n * sizeof *b.y);
    b.V = malloc(n * MOST * sizeof *b.V);
    if (!b.y || !b.V) return 2;
    explicit_tangents(&b);
    for (int k = 0; k < 3; k++) implicit_columns(&b, methods[k]);
    free(b.y);
    free(b.V);
    costate_tape_free(b.tape);
    swe_free((swe *)b.s);
    return 0;
}
