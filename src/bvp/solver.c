/* solver.c - creates and frees a solver of boundary value problems: checks arguments, fills in defaults, sets up the
   rooms below. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include "base/grown.h"
#include "base/pattern.h"
#include "bvp/bvp.h"
#include "linsol/backends.h"

int bvp_begin(bvp *b)
{
    if (!b) return COSTATE_BAD_ARGUMENT;
    if (!b->block) return b->v.status;          /* costate_bvp_new failed: keep its message */
    verdict_clear(&b->v);
    return COSTATE_OK;
}

/* ---- arguments ---- */

static int refuse_problem(bvp *b, const costate_problem *P)
{
    if (!P) return 0;                           /* problem_sound reports it */
    if (P->nrelations > 0)
        return fail(&b->v, COSTATE_BAD_ARGUMENT, "problem.nrelations = %d: boundary value problems have no relations.",
                    P->nrelations);
    if (P->nm > 0 || P->nevents > 0 || P->nstops > 0)
        return fail(&b->v, COSTATE_BAD_ARGUMENT, "problem.nevents = %d, nm = %d, nstops = %d: boundary value problems "
                    "have no events or stops; where f jumps at given times, set options.breaks.", P->nevents, P->nm,
                    P->nstops);
    for (int i = 0; P->index && i < P->n; i++)
        if (P->index[i] > 0)
            return fail(&b->v, COSTATE_BAD_ARGUMENT, "problem.index calls y[%d] algebraic: boundary value problems "
                        "need a regular M, or F_y'.", i);
    if (has_after_step(P))
        return fail(&b->v, COSTATE_BAD_ARGUMENT, "problem.after_step: boundary value problems have no steps that it "
                    "could follow.");
    if (P->jac_is_w)
        return fail(&b->v, COSTATE_BAD_ARGUMENT, "problem.jac_is_w = 1: boundary value problems need df/dy.");
    if (P->start.value)
        return fail(&b->v, COSTATE_BAD_ARGUMENT, "problem.start is of initial value problems: conditions say what "
                    "holds at the ends.");
    return 0;
}

static int refuse_conditions(bvp *b, const costate_conditions *g, int n)
{
    if (!g) return fail(&b->v, COSTATE_BAD_ARGUMENT, "conditions is NULL.");
    if (!g->map.value) return fail(&b->v, COSTATE_MISSING, "conditions.map.value is missing.");
    if (g->count != n)
        return fail(&b->v, COSTATE_BAD_ARGUMENT, "conditions.count = %d, but problem.n = %d: as many conditions as "
                    "states determine a solution (an unknown parameter is a state with p' = 0).", g->count, n);
    const char *fault = g->pattern ? pattern_fault(g->pattern, 2 * n) : NULL;
    for (int k = 0; g->pattern && !fault && k < g->pattern->col[2 * n]; k++)
        if (g->pattern->row[k] >= n) fault = "a row is n or more";
    return fault ? fail(&b->v, COSTATE_BAD_ARGUMENT, "conditions.pattern: %s.", fault) : 0;
}

static int tolerances_sound(bvp *b)
{
    costate_bvp_options *o = &b->o;
    if (!(o->rtol >= 0 && o->rtol < 1))
        return fail(&b->v, COSTATE_BAD_ARGUMENT, "options.rtol = %g: it lies in [0, 1).", o->rtol);
    if (!(o->atol >= 0 && o->atol < HUGE_VAL))
        return fail(&b->v, COSTATE_BAD_ARGUMENT, "options.atol = %g: it is not negative, and finite.", o->atol);
    for (int i = 0; o->atol_vector && i < b->N_all; i++)
        if (!(o->atol_vector[i] > 0 && o->atol_vector[i] < HUGE_VAL))
            return fail(&b->v, COSTATE_BAD_ARGUMENT, "options.atol_vector[%d] = %g: it is positive, and finite.", i,
                        o->atol_vector[i]);
    return 0;
}

static int options_sound(bvp *b)
{
    costate_bvp_options *o = &b->o;
    const struct { const char *name; int *value, ready_made, least; } table[] = {
        {"intervals", &o->intervals, 8, 1},
        {"max_mesh", &o->max_mesh, 10000, 1},
        {"newton_max", &o->newton_max, 50, 1},
    };
    TRY(tolerances_sound(b));
    if (o->rtol == 0) o->rtol = 1e-6;
    if (o->atol == 0) o->atol = 1e-6;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        if (*table[k].value == 0) *table[k].value = table[k].ready_made;
        if (*table[k].value < table[k].least)
            return fail(&b->v, COSTATE_BAD_ARGUMENT, "options.%s = %d: at least %d is needed.", table[k].name,
                        *table[k].value, table[k].least);
    }
    if (o->nbreaks < 0 || (o->nbreaks > 0 && !o->breaks))
        return fail(&b->v, COSTATE_BAD_ARGUMENT, "options.nbreaks = %d, but breaks is %s.", o->nbreaks,
                    o->breaks ? "given" : "NULL");
    if (o->solver < COSTATE_LS_AUTO || o->solver > COSTATE_LS_SPARSE)
        return fail(&b->v, COSTATE_BAD_ARGUMENT, "options.solver = %d is no enum costate_solver.", o->solver);
    if (o->solver == COSTATE_LS_GMRES || o->solver == COSTATE_LS_BAND)
        return fail(&b->v, COSTATE_BACKEND, "options.solver: boundary value problems are solved by COSTATE_LS_DENSE "
                    "(elimination) or a sparse solver of the whole system.");
    return 0;
}

/* ---- set up ---- */

static void furnish(bvp *b)
{
    b->maps = maps_of(&b->P);
    b->edge.maps = (maps){.n = 2 * b->n, .np = b->np, .user.ctx = b->edge.user.ctx ? b->edge.user.ctx : b->P.ctx};
    b->maps.method = b->edge.maps.method = b->rk.name;
    b->maps.differences = b->edge.maps.differences = b->o.differences;
    b->maps.count = b->edge.maps.count = &b->count.calls;
    b->maps.v = b->maps.space.v = b->edge.maps.v = b->edge.maps.space.v = &b->v;
    b->edge.g = map_new(&b->edge.maps, &b->edge.user.map, "conditions.map", b->n, 1, b->edge.maps.user.ctx);
}

static void solver_layout(bvp *b, cursor *at)
{
    size_t n = (size_t)b->n, nq = (size_t)b->nq, s = (size_t)b->s, most = n > nq ? n : nq;
    maps_layout(&b->maps, at);
    maps_layout_columns(&b->maps, at, 1);
    maps_layout(&b->edge.maps, at);
    maps_layout_columns(&b->edge.maps, at, 1);
    b->p = take(at, (size_t)b->np + 1);
    b->ends = take(at, (size_t)b->nends);
    b->linear.unit = take(at, n);
    b->stage.w = take(at, n + nq);
    TAKE(at, n, &b->stage.Y, &b->stage.K, &b->stage.E);
    b->stage.E2 = take(at, most);
    b->est.filtered = take(at, 2 * n);
    b->est.rates = take(at, s * nq);
    TAKE(at, SAMPLES_MOST * (n + nq), &b->est.errors, &b->est.defects);
    TAKE(at, 2 * n, &b->edge.y, &b->edge.dy, &b->edge.gradient, &b->edge.w);
    b->atol = take(at, n + nq);
    b->stage.J = take(at, b->maps.entries);
    b->stage.M = b->maps.residual ? take(at, b->maps.entries) : NULL;
    b->edge.B = take(at, 2 * n * n);
}

static int work(bvp *b)
{
    cursor counting = {0};
    solver_layout(b, &counting);
    if (!(b->block = calloc(counting.used + 1, sizeof *b->block)))
        return fail(&b->v, COSTATE_NO_MEMORY, "No memory for the solver.");
    cursor at = {.base = b->block};
    solver_layout(b, &at);
    if (!b->maps.residual) b->stage.M = b->maps.M;
    b->maps.bound.w = b->stage.w;
    b->edge.maps.bound.w = b->edge.w;
    for (int i = 0; i < b->N_all; i++) b->atol[i] = b->o.atol_vector ? b->o.atol_vector[i] : b->o.atol;
    return 0;
}

static int solver_of(bvp *b, int is_complex, LS **of)
{
    int status;
    const costate_backend *backend = LS_Choose(COSTATE_LS_AUTO, b->n, b->P.pattern);
    *of = LS_Init(backend, b->n, b->P.pattern, is_complex, NULL, &b->count.calls, &status);
    return *of ? 0 : fail(&b->v, COSTATE_NO_MEMORY, "No memory for the linear solver %s.", backend->name);
}

/* M must be regular: it is factored once; F_y' of a residual is checked where it is formed (stages.c). */
static int small_solvers(bvp *b)
{
    TRY(solver_of(b, 1, &b->est.filter));
    if (b->maps.M || b->maps.residual) TRY(solver_of(b, 0, &b->stage.mass));
    if (!b->maps.M) return 0;
    int failed = LS_Decomp(b->stage.mass, 1, 0, NULL, b->maps.M);
    if (failed < 0) return fail(&b->v, COSTATE_NO_MEMORY, "No memory for the mass matrix.");
    return failed ? fail(&b->v, COSTATE_SINGULAR, "The mass matrix is singular: boundary value problems need a regular "
                         "one.") : 0;
}

static const linear_system *system_of(const bvp *b)
{
    enum { LARGE = 60 };
    if (b->o.backend) return &whole;
    if (b->o.solver == COSTATE_LS_AUTO) return b->n > LARGE && b->P.pattern ? &whole : &eliminated;
    return b->o.solver == COSTATE_LS_DENSE ? &eliminated : &whole;
}

static int set_up(bvp *b, const costate_method *m, const costate_problem *P, const costate_conditions *g,
                  const costate_bvp_options *o, size_t size)
{
    TRY(grown_read(&b->v, "costate_bvp_options", o, size, &b->o, sizeof b->o));
    if (!m) return fail(&b->v, COSTATE_BAD_ARGUMENT, "method is NULL (costate_method_find knows no such name?).");
    if (!rk_takes(m))
        return fail(&b->v, COSTATE_BAD_ARGUMENT, "Method %s is not implicit Runge-Kutta: boundary value problems are "
                    "solved by the families firk, sdirk and collocation, as gauss4, radau2a5 or lobatto3a4.", m->name);
    TRY(refuse_problem(b, P));
    TRY(problem_sound(&b->v, P));
    TRY(refuse_conditions(b, g, P->n));
    b->P = *P;
    b->edge.user = *g;
    TRY(rk_init(&b->rk, m, &b->v));
    b->n = P->n;
    b->np = P->np;
    b->nq = P->nq;
    b->s = b->rk.s;
    if (b->n > INT_MAX / (b->s + 1))
        return fail(&b->v, COSTATE_BAD_ARGUMENT, "problem.n = %d states, at %d stages an interval, are more than "
                    "2^31 - 1 unknowns, which cannot be counted.", b->n, b->s);
    b->N_all = b->n + b->nq;
    b->L = (b->s + 1) * b->n;
    TRY(options_sound(b));
    b->nends = b->o.nbreaks + 2;
    furnish(b);
    TRY(maps_init(&b->maps, 1, pattern_entries(P->pattern, P->n)));
    TRY(small_solvers(b));
    b->fixed = b->o.fixed;
    b->linear.by = system_of(b);
    TRY(work(b));
    return COSTATE_OK;
}

costate_bvp *costate_bvp_new_sized(size_t size, const costate_method *m, const costate_problem *P,
                                   const costate_conditions *g, const costate_bvp_options *o)
{
    costate_bvp *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    verdict_clear(&b->v);
    set_up(b, m, P, g, o, size);    /* after a failure the verdict stays: see bvp_begin */
    return b;
}

costate_bvp *costate_bvp_new(const costate_method *m, const costate_problem *P, const costate_conditions *g,
                             const costate_bvp_options *o)
{
    return costate_bvp_new_sized(sizeof *o, m, P, g, o);
}

void bvp_free(bvp *b)
{
    if (b->linear.by) b->linear.by->free(b);
    LS_Free(b->stage.mass);
    LS_Free(b->est.filter);
    solution_free(&b->now);
    solution_free(&b->last);
    maps_free(&b->maps);
    rk_free(&b->rk);
    free(b->est.forcing);
    free(b->est.rough);
    replace_points(&b->guess, (given_points){0});
    replace_points(&b->mesh, (given_points){0});
    free(b->block);
    free(b);
}

const char *costate_bvp_message(const costate_bvp *b) { return b ? b->v.text : "The solver is NULL."; }
const costate_bvp_stats *costate_bvp_get_stats(const costate_bvp *b) { return b ? &b->count : NULL; }
