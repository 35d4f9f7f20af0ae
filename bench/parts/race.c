/* race.c - one code on one problem: a run from the command line, measured, compared with a reference. */
#include <string.h>

#include "cli.h"
#include "peer.h"
#include "precondition.h"
#include "reference.h"

/* ---- the command line -------------------------------------------------------------------------------------- */

typedef struct {
    race_task task;
    int json, costs, help;
    const char *reference, *write_reference, *result;
} command;

/* in the order of the enums of costate.h and race.h */
static const char *const solvers[] = {"auto", "dense", "band", "umfpack", "superlu", "klu", "gmres", "preconditioner",
                                      "sparse", NULL};
static const char *const stage_solves[] = {"auto", "direct", "iterative", NULL};
static const char *const storages[] = {"stages", "states", NULL};
static const char *const modes[] = {"forward", "tlm", "adj", "tape", "second", "differences", NULL};
static const char *const preconditions[] = {"none", "adi", "multigrid", "reaction", NULL};
static const char *const keeps[] = {"never", "auto", "always", NULL};     /* -1, 0, 1 */

#define IN(member) offsetof(command, member)
static const cli_option options[] = {
    {"--code", CLI_TEXT, IN(task.code), NULL, 0, "CODE",
     "costate:METHOD, cvodes:bdf|adams, idas:bdf, hairer:radau5|rodas, lsoda:jacobian|differences, "
     "arkode:rkc2|rkl2, petsc:cn|rk4|... "
     "(costate:rodas4)"},
    {"--problem", CLI_TEXT, IN(task.problem), NULL, 0, "NAME", "see below (swe)"},
    {"--size", CLI_COUNT, IN(task.size), NULL, 0, "N", "cells a side of a grid; mu of vdpol (the usual one)"},
    {"--sparse", CLI_FLAG, IN(task.sparse), NULL, 0, "", "small problems with their pattern"},
    {"--mode", CLI_WORD, IN(task.mode), modes, 0, "MODE", "y(tf); its tangents by y(0); the gradient of one of it; "
     "costate: y(tf) with a tape; Hessian products; one of them by central differences of gradients"},
    {"--directions", CLI_COUNT, IN(task.directions), NULL, 0, "M", "tangents, or Hessian products (1)"},
    {"--eps", CLI_POSITIVE, IN(task.eps), NULL, 0, "X", "of differences: that far along the direction (1e-4)"},
    {"--solver", CLI_WORD, IN(task.solver), solvers, 0, "NAME", "linear solver (auto)"},
    {"--rtol", CLI_POSITIVE, IN(task.rtol), NULL, 0, "TOL", "relative tolerance (1e-6)"},
    {"--atol", CLI_POSITIVE, IN(task.atol), NULL, 0, "TOL", "absolute tolerance (rtol times the problem's factor)"},
    {"--tf", CLI_POSITIVE, IN(task.tf), NULL, 0, "T", "final time (the problem's)"},
    {"--sens-error", CLI_FLAG, IN(task.sensitivity_error), NULL, 0, "", "tangents enter the error norm"},
    {"--keep-factors", CLI_WORD, IN(task.keep_factors), keeps, -1, "WHEN", "the tape keeps factorisations (auto)"},
    {"--stage-solve", CLI_WORD, IN(task.stage_solve), stage_solves, 0, "HOW", "stage systems of derivatives (auto)"},
    {"--storage", CLI_WORD, IN(task.storage), storages, 0, "WHAT", "what the tape holds (stages)"},
    {"--derivative-mode", CLI_FLAG, IN(task.derivative_mode), NULL, 0, "", "Newton's iteration to round-off"},
    {"--krylov-tol", CLI_POSITIVE, IN(task.krylov_tol), NULL, 0, "TOL", "of costate's GMRES (round-off)"},
    {"--ilu", CLI_FLAG, IN(task.ilu), NULL, 0, "", "GMRES preconditioned: SuperLU's incomplete LU; cvodes: ILU(0)"},
    {"--ilu0", CLI_FLAG, IN(task.ilu0), NULL, 0, "", "costate's GMRES preconditioned by the ILU(0) of cvodes"},
    {"--precondition", CLI_WORD, IN(task.precondition), preconditions, PRECONDITION_NONE, "NAME", "costate and cvodes "
     "with gmres, costate with preconditioner: of the diffusion; reaction: multigrid with the reaction's diagonal"},
    {"--cycles", CLI_COUNT, IN(task.cycles), NULL, 0, "K", "of multigrid (1)"},
    {"--sweeps", CLI_COUNT, IN(task.sweeps), NULL, 0, "K", "before and after each coarser grid (1)"},
    {"--right", CLI_FLAG, IN(task.right), NULL, 0, "", "cvodes' preconditioner on the right side"},
    {"--adjoint-atol", CLI_POSITIVE, IN(task.adjoint_atol), NULL, 0, "X", "atol of cvodes' adjoint: this times atol"},
    {"--krylov", CLI_COUNT, IN(task.krylov), NULL, 0, "K", "dimension of the space of cvodes' GMRES (5)"},
    {"--lapack", CLI_FLAG, IN(task.lapack), NULL, 0, "", "cvodes' dense systems by LAPACK"},
    {"--colamd", CLI_FLAG, IN(task.colamd), NULL, 0, "", "cvodes' KLU orders by COLAMD, not AMD"},
    {"--polynomial", CLI_FLAG, IN(task.polynomial), NULL, 0, "", "cvodes' adjoint: not Hermite's interpolation"},
    {"--simultaneous", CLI_FLAG, IN(task.simultaneous), NULL, 0, "", "cvodes solves for sensitivities with the states"},
    {"--suppress", CLI_FLAG, IN(task.suppress), NULL, 0, "", "idas' error test is without algebraic unknowns"},
    {"--petsc", CLI_TEXT, IN(task.petsc), NULL, 0, "OPTIONS", "PETSc's own, in one word"},
    {"--repeat", CLI_COUNT, IN(task.repeat), NULL, 0, "K", "median of K runs (1)"},
    {"--budget", CLI_POSITIVE, IN(task.budget), NULL, 0, "S", "seconds after which nothing is repeated (20)"},
    {"--pairs", CLI_FLAG, IN(task.pairs), NULL, 0, "", "costate: a plain forward run before each measured one"},
    {"--reference", CLI_TEXT, IN(reference), NULL, 0, "FILE", "compare with this"},
    {"--write-reference", CLI_TEXT, IN(write_reference), NULL, 0, "FILE",
     "only make a reference, by a tight run; --mode second: of Hessian products"},
    {"--result", CLI_TEXT, IN(result), NULL, 0, "FILE",
     "write y(tf), or its tangent, product or gradient: a number a line"},
    {"--costs", CLI_FLAG, IN(costs), NULL, 0, "", "only measure callbacks, factorisations, solves"},
    {"--steps", CLI_COUNT, IN(task.steps), NULL, 0, "K", "costs: I/(h gamma) - J with h = tf/K, gamma = 1/4 (20)"},
    {"--json", CLI_FLAG, IN(json), NULL, 0, "", "print one JSON object (--costs always does)"},
    {"--help", CLI_FLAG, IN(help), NULL, 0, "", "this"},
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static void usage(FILE *file)
{
    cli_usage(file, "race [OPTION VALUE]...   one code on one problem", options, OPTIONS);
    fputs("problems:", file);
    for (int k = 0; ivp_name(k); k++) fprintf(file, " %s", ivp_name(k));
    fputc('\n', file);
}

/* ---- output ----------------------------------------------------------------------------------------------------- */

static double forward_of(const race_lap *l) { return l->forward; }
static double backward_of(const race_lap *l) { return l->backward; }
static double total_of(const race_lap *l) { return l->forward + l->backward; }
static double plain_of(const race_lap *l) { return l->plain; }
static double ratio_of(const race_lap *l) { return total_of(l) / l->plain; }
static double backward_ratio_of(const race_lap *l) { return l->backward / l->plain; }

/* least: the smallest, else the median; NaN without laps */
static double over_laps(const race_result *r, double (*what)(const race_lap *), int least)
{
    double x[RACE_REPEATS], middle;
    for (int k = 0; k < r->laps; k++) x[k] = what(&r->lap[k]);
    middle = median(x, r->laps);
    return least && r->laps ? x[0] : middle;
}

static void print_counters(json *j, const costate_stats *s)
{
    const struct { const char *name; long n; } counters[] = {
        {"steps", s->steps}, {"accepted", s->accepted}, {"rejected", s->rejected}, {"f", s->f}, {"jac", s->jac},
        {"tangents", s->tangents}, {"adjoints", s->adjoints}, {"second", s->tangents2 + s->adjoints2},
        {"third", s->adjoints3},
        {"products", s->products}, {"decompositions", s->decompositions}, {"complex", s->complex_decompositions},
        {"solves", s->solves}, {"complex_solves", s->complex_solves}, {"newton", s->newton}, {"krylov", s->krylov},
        {"stage_direct", s->stage_direct}, {"stage_iterative", s->stage_iterative},
        {"tape_bytes", (long)s->tape_bytes}, {"factors_kept", s->factors_kept},
        {"factors_not_kept", s->factors_not_kept}, {"events", s->events}, {"guards", s->guards},
        {"located", s->located}, {"tangents_again", s->tangents_again}};
    for (size_t k = 0; k < sizeof counters / sizeof *counters; k++) json_count(j, counters[k].name, counters[k].n);
}

typedef struct { double y, functional, derivative; } errors;

/* the functional, and its gradient by what y(0) is made of, or by few p */
static void print_gradient(json *j, const race_task *task, const ivp *b, const race_result *r)
{
    enum { FEW = 8 };
    int N = ivp_length(b), there = r->status == COSTATE_OK && task->mode == RACE_ADJ;
    double g[FEW], *w = there && r->y ? malloc((size_t)N * sizeof *w) : NULL, value = w ? ivp_seed(b, r->y, w) : NAN;
    free(w);
    if (!w || !r->derivative) return;
    json_numbers(j, "functional", 1, &value);
    if (b->by_a && b->na <= FEW) ivp_by_a(b, r->derivative, g), json_numbers(j, "gradient", b->na, g);
    else if (b->P.np > 0 && b->P.np <= FEW) json_numbers(j, "gradient", b->P.np, r->derivative + N);
}

static void print_json(const race_task *task, const ivp *b, const race_result *r, errors e)
{
    const char *colon = strchr(task->code, ':');
    json j = {stdout, 0};
    json_name(&j, "code");
    printf("\"%.*s\"", (int)(colon - task->code), task->code);
    json_text(&j, "method", colon + 1);
    json_text(&j, "solver", r->solver);
    json_text(&j, "problem", task->problem);
    json_count(&j, "size", task->size);
    json_count(&j, "n", b->P.n);
    json_count(&j, "nnz", b->P.pattern ? b->P.pattern->col[b->P.n] : (long)b->P.n * b->P.n);
    json_text(&j, "mode", modes[task->mode]);
    json_count(&j, "directions", task->mode == RACE_TLM || task->mode == RACE_SECOND ? task->directions : 0);
    json_text(&j, "keep_factors", keeps[task->keep_factors + 1]);
    json_text(&j, "stage_solve", stage_solves[task->stage_solve]);
    json_number(&j, "tf", task->tf);
    json_number(&j, "rtol", task->rtol);
    json_number(&j, "atol", task->atol);
    json_count(&j, "status", r->status);
    json_text(&j, "message", r->status ? r->message : "");
    print_counters(&j, &r->stats);
    json_count(&j, "laps", r->laps);
    json_number(&j, "forward", over_laps(r, forward_of, 0));
    json_number(&j, "backward", over_laps(r, backward_of, 0));
    json_number(&j, "seconds", over_laps(r, total_of, 0));
    json_number(&j, "seconds_min", over_laps(r, total_of, 1));
    json_number(&j, "plain", task->pairs ? over_laps(r, plain_of, 0) : NAN);
    json_number(&j, "ratio", task->pairs ? over_laps(r, ratio_of, 0) : NAN);
    json_number(&j, "ratio_backward", task->pairs ? over_laps(r, backward_ratio_of, 0) : NAN);
    json_number(&j, "peak_bytes", peak_bytes());
    json_number(&j, "error", e.y);
    json_number(&j, "error_functional", e.functional);
    json_number(&j, "error_derivative", e.derivative);
    print_gradient(&j, task, b, r);
    json_end(&j);
}

static void print_text(const race_task *task, const ivp *b, const race_result *r, errors e)
{
    const costate_stats *s = &r->stats;
    printf("%s, %s, %s, %d unknowns, %s to t = %g\n", task->code, r->solver, task->problem, b->P.n, modes[task->mode],
           task->tf);
    printf("%ld steps (%ld rejected), %ld f, %ld jac, %ld+%ld decompositions, %ld+%ld solves, %ld Newton, %ld Krylov\n",
           s->steps, s->rejected, s->f, s->jac, s->decompositions, s->complex_decompositions, s->solves,
           s->complex_solves, s->newton, s->krylov);
    printf("%.4g s forward, %.4g s backward; error of y %.3g, of the derivative %.3g\n", over_laps(r, forward_of, 0),
           over_laps(r, backward_of, 0), e.y, e.derivative);
}

/* ---- the race ---------------------------------------------------------------------------------------------------- */

/* of the gradients by y(0), or by what y(0) is made of; work: 2 na */
static double gradient_distance(const ivp *b, const double *x, const double *reference, double *work)
{
    if (!b->by_a) return reference_distance(b->P.n, x, reference);
    ivp_by_a(b, x, work);
    ivp_by_a(b, reference, work + b->na);
    return reference_distance(b->na, work, work + b->na);
}

/* of a reference, or of one of products */
static int column_of(int mode) { return mode == RACE_ADJ ? 2 : 1; }

/* of gradients the worse of those by y(0) and by p; of y that of what is not of index 2, whose order is lower */
static errors compare(const command *c, const ivp *b, const race_result *r)
{
    errors e = {NAN, NAN, NAN};
    int n = b->P.n, N = ivp_length(b), mode = c->task.mode, np = mode == RACE_TLM ? 0 : b->P.np, all = N + b->P.np;
    double *z = c->reference ? malloc((size_t)(all + N + 2 * b->na) * sizeof *z) : NULL, *work = z ? z + all : NULL;
    if (z && r->y && reference_read(c->reference, 0, all, z)) {
        e.y = reference_distance(ivp_before_index2(b), r->y, z);
        e.functional = fabs(ivp_seed(b, r->y, work) / ivp_seed(b, z, work) - 1);
    }
    if (z && r->derivative && reference_read(c->reference, column_of(mode), all, z))
        e.derivative = mode == RACE_TLM ? reference_distance(n, r->derivative, z)
                                                : fmax(b->by_p ? 0 : gradient_distance(b, r->derivative, z, work),
                                                       np ? reference_distance(np, r->derivative + N, z + N) : 0);
    if (c->reference && !isfinite(e.y) && r->status == COSTATE_OK)
        fprintf(stderr, "race: %s is not a reference of this problem\n", c->reference);
    free(z);
    return e;
}

static int write_result(const command *c, const ivp *b, const race_result *r)
{
    const double *z = r->derivative ? r->derivative : r->y;
    FILE *file = fopen(c->result, "w");
    for (int i = 0; file && i < b->P.n; i++) fprintf(file, "%.17g\n", z[i]);
    return file && fclose(file) == 0;
}

static int race(const command *c, const ivp *b)
{
    static race_result r;
    errors e = {NAN, NAN, NAN};
    if (c->write_reference) race_reference_make(&c->task, b, c->write_reference, &r);
    else if (race_by(&c->task, b, &r) == COSTATE_OK) e = compare(c, b, &r);
    if (c->result && r.status == COSTATE_OK && !write_result(c, b, &r))
        race_fail(&r, COSTATE_BAD_ARGUMENT, "cannot write the result");
    if (r.status != COSTATE_OK) fprintf(stderr, "race: %s\n", r.message);
    if (c->json && strchr(c->task.code, ':')) print_json(&c->task, b, &r, e);
    else if (r.status == COSTATE_OK && !c->write_reference) print_text(&c->task, b, &r, e);
    race_result_free(&r);
    return r.status == COSTATE_OK ? 0 : r.status == COSTATE_BAD_ARGUMENT || r.status == COSTATE_BACKEND ? 2 : 1;
}

int main(int argc, char **argv)
{
    command c = {.task = {.code = "costate:rodas4", .problem = "swe", .directions = 1, .rtol = 1e-6, .repeat = 1,
                          .budget = 20, .steps = 20, .cycles = 1, .sweeps = 1, .eps = 1e-4}};
    ivp b;
    json j = {stdout, 0};
    int status = cli_parse("race", options, OPTIONS, &c, argc, argv);
    if (status != 0) return status;
    if (c.help) return usage(stdout), 0;
    if ((status = ivp_new(&b, c.task.problem, c.task.size, c.task.sparse)) != COSTATE_OK) {
        fprintf(stderr, "race: no problem \"%s\" of this size\n", c.task.problem);
        return status == COSTATE_BAD_ARGUMENT ? 2 : 1;
    }
    if (c.task.tf == 0) c.task.tf = b.t1;
    if (c.task.atol == 0) c.task.atol = c.task.rtol * b.atol;
    if (c.costs && (b.P.residual.value || b.P.nevents))
        status = (fputs("race: no costs of a residual or events\n", stderr), 2);
    else if (c.costs) {
        status = race_measure_costs(&c.task, &b, &j);
        json_end(&j);
    } else status = race(&c, &b);
    ivp_free(&b);
    return status;
}
