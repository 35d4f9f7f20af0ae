/* adi.c - error against work on a parabolic problem: a W-method with a splitting, stabilised explicit steps, GMRES
   with the same splitting or an incomplete factorisation as its preconditioner.

       adi > rows; python3 bench/report/trust_pictures.py rows docs/pictures

   The Brusselator on 64 x 64 cells with diffusion 1 and 100 (problems/grid.c), forward and with a gradient, a line of
   JSON for each run: seconds of the processor, the least of REPEAT runs, counts, and relative errors in the 2-norm.
   The reference is a run of another family, rodas5p with a direct solver; a row says how far w6s4os is from it at a
   tight tolerance. */
#include <string.h>
#include "measure.h"
#include "peers/precondition.h"

enum { SIDE = 64, N = 2 * SIDE * SIDE, REPEAT = 2, TOLERANCES = 5 };
typedef struct { double seconds, both, *y, *g; costate_stats after, total; int status; } outcome;

/* a run, and the sweep for its gradient */
static outcome run(const ivp *b, const char *method, costate_options o, double rtol, double *y, double *g)
{
    outcome r = {.seconds = HUGE_VAL, .both = HUGE_VAL, .y = y, .g = g};
    o.rtol = rtol;
    o.atol = b->atol * rtol;
    o.autonomous = 1;
    for (int k = 0; k < REPEAT && r.status == COSTATE_OK; k++) {
        costate *c = costate_new(costate_method_find(method), &b->P, &o);
        costate_tape *tape = costate_tape_new();
        double start = clock_now();
        memcpy(y, b->y0, N * sizeof *y);
        r.status = costate_integrate(c, 0, b->t1, y, b->p, tape);
        r.seconds = fmin(r.seconds, clock_now() - start);
        r.after = *costate_get_stats(c);
        memset(g, 0, N * sizeof *g);
        ivp_seed(b, y, g);
        if (r.status == COSTATE_OK) r.status = costate_adjoint(c, tape, 1, g, NULL, NULL, NULL);
        r.both = fmin(r.both, clock_now() - start);
        r.total = *costate_get_stats(c);
        if (r.status != COSTATE_OK) fprintf(stderr, "%s, %g: %s\n", method, rtol, costate_message(c));
        costate_tape_free(tape);
        costate_free(c);
    }
    return r;
}

static double apart(const double *a, const double *b)
{
    double gap = 0, size = 0;
    for (int i = 0; i < N; i++) {
        gap += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
    }
    return sqrt(gap / size);
}

static void print(int alpha, const char *method, double rtol, const outcome *r, const outcome *exact)
{
    printf("{\"set\": \"adi\", \"diffusion\": %d, \"method\": \"%s\", \"rtol\": %g, \"status\": %d, \"steps\": %ld, "
           "\"f\": %ld, \"solves\": %ld, \"krylov\": %ld, \"products\": %ld, \"seconds\": %.4g, \"both\": %.4g, "
           "\"error\": %.3e, \"error_gradient\": %.3e}\n", alpha, method, rtol, r->status, r->after.steps, r->after.f,
           r->total.solves, r->total.krylov, r->total.adjoints, r->seconds, r->both, apart(r->y, exact->y),
           apart(r->g, exact->g));
    fflush(stdout);
}

static int races(int alpha, double *memory)
{
    ivp b;
    char name[40];
    snprintf(name, sizeof name, "brusselator_%d", alpha);
    if (ivp_new(&b, name, SIDE, 0) != COSTATE_OK) return 1;
    precondition *splitting = precondition_new(&b, PRECONDITION_ADI, 0, 0);
    if (!splitting) return ivp_free(&b), 1;
    const costate_options adi = {.solver = COSTATE_LS_PRECONDITIONER,
                                 .preconditioner = precondition_for_costate(splitting)};
    const costate_options direct = {.solver = 0}, bounded = {.spectral_bound = 8 * b.grid.d + 20};
    const costate_options ilu = {.solver = COSTATE_LS_GMRES, .ilu = 1};
    const costate_options krylov = {.solver = COSTATE_LS_GMRES, .preconditioner = adi.preconditioner};
    const struct { const char *name, *label; const costate_options *o; } methods[] = {
        {"w6s4os", "w6s4os", &adi}, {"rock4", "rock4", &bounded}, {"ark436", "ark436_adi", &krylov},
        {"ark436", "ark436_ilu", &ilu}};
    outcome exact = run(&b, "rodas5p", direct, 1e-9, memory, memory + N);
    int failed = exact.status != COSTATE_OK;
    outcome near = run(&b, "w6s4os", adi, 1e-9, memory + 2 * N, memory + 3 * N);
    print(alpha, "check", 1e-9, &near, &exact);
    for (int m = 0; m < 4 && !failed; m++) {
        if (alpha > 1 && methods[m].o == &krylov) continue;         /* takes minutes */
        double rtol = 1e-2;
        for (int k = 0; k < TOLERANCES; k++, rtol /= 10) {
            outcome r = run(&b, methods[m].name, *methods[m].o, rtol, memory + 2 * N, memory + 3 * N);
            print(alpha, methods[m].label, rtol, &r, &exact);
        }
    }
    precondition_free(splitting);
    ivp_free(&b);
    return failed;
}

int main(void)
{
    double *memory = malloc(4 * N * sizeof *memory);
    int failed = !memory || races(1, memory) || races(100, memory);
    free(memory);
    return failed;
}
