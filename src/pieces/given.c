/* given.c (pieces) - checks of formulas, bounds, invariants and measurements, before any of them is used. */
#include <math.h>
#include "maps/callbacks.h"
#include "maps/check.h"
#include "maps/maps.h"
#include "pieces/pieces.h"

int pieces_said(const verdict *v, costate_report *report)
{
    if (report) check_clear(report);
    return report && v->status ? check_says(report, v->status, "%s", v->text) : v->status;
}

/* ---- formulas ---- */

static int bad_index(verdict *v, const char *of, int k, const char *member, int i, const char *what, int count)
{
    return fail(v, COSTATE_BAD_ARGUMENT, "formulas.%s.term[%d].%s = %d, but this problem has %d %s.", of, k, member, i,
                count, what);
}

static int quantity_given(verdict *v, const char *of, int k, const costate_problem *P, const char *names, int kind,
                          int i, double shift)
{
    const char member[] = {names[1], 0};
    if (kind < COSTATE_ONE || kind > COSTATE_MEMORY)
        return fail(v, COSTATE_BAD_ARGUMENT, "formulas.%s.term[%d].%c = %d is not an enum costate_quantity.", of, k,
                    names[0], kind);
    if (!(fabs(shift) < HUGE_VAL))
        return fail(v, COSTATE_BAD_ARGUMENT, "formulas.%s.term[%d].%c0 = %g is not finite.", of, k, names[0], shift);
    if (kind == COSTATE_ONE && shift != 0)
        return fail(v, COSTATE_BAD_ARGUMENT, "formulas.%s.term[%d].%c0 = %g, but %c is COSTATE_ONE: put the number "
                    "into factor.", of, k, names[0], shift, names[0]);
    if (kind == COSTATE_STATE && (i < 0 || i >= P->n))
        return bad_index(v, of, k, member, i, "states", P->n);
    if (kind == COSTATE_PARAMETER && (i < 0 || i >= P->np))
        return bad_index(v, of, k, member, i, "parameters", P->np);
    if (kind == COSTATE_MEMORY && (i < 0 || i >= P->nm))
        return bad_index(v, of, k, member, i, "memory variables", P->nm);
    return 0;
}

static int terms_given(verdict *v, const char *of, const costate_problem *P, const costate_terms *f, int rows,
                       int may_set)
{
    if (f->count < 0) return fail(v, COSTATE_BAD_ARGUMENT, "formulas.%s.count = %d is negative.", of, f->count);
    if (f->count > 0 && !f->term)
        return fail(v, COSTATE_BAD_ARGUMENT, "formulas.%s.term is NULL, but count = %d.", of, f->count);
    for (int k = 0; k < f->count; k++) {
        const costate_term *e = &f->term[k];
        if (e->row < 0 || e->row >= rows)
            return fail(v, COSTATE_BAD_ARGUMENT, "formulas.%s.term[%d].row = %d, but a %s of this problem has %d "
                        "row%s.", of, k, e->row, of, rows, rows == 1 ? "" : "s");
        if (!(fabs(e->factor) < HUGE_VAL))
            return fail(v, COSTATE_BAD_ARGUMENT, "formulas.%s.term[%d].factor = %g is not finite.", of, k, e->factor);
        TRY(quantity_given(v, of, k, P, "ai", e->a, e->i, e->a0));
        TRY(quantity_given(v, of, k, P, "bj", e->b, e->j, e->b0));
        if (e->set != 0 && (e->set != 1 || !may_set))
            return fail(v, COSTATE_BAD_ARGUMENT, "formulas.%s.term[%d].set = %d: it is %s.", of, k, e->set,
                        may_set ? "0 or 1" : "for jumps");
    }
    return 0;
}

int formulas_given(verdict *v, const costate_formulas *f, const costate_problem *P, int only_cost)
{
    if (!f) return fail(v, COSTATE_BAD_ARGUMENT, "formulas is NULL.");
    if (!P) return fail(v, COSTATE_BAD_ARGUMENT, "problem is NULL.");
    TRY(sizes_sound(v, "problem.", P->n, P->np, "nq", P->nq, 0));
    TRY(sizes_sound(v, "problem.", P->n, P->np, "nm", P->nm, 0));
    if (!only_cost) TRY(terms_given(v, "guard", P, &f->guard, 1, 0));
    if (!only_cost) TRY(terms_given(v, "jump", P, &f->jump, P->n + P->nm, 1));
    TRY(terms_given(v, "cost", P, &f->cost, P->nq, 0));
    if (f->cost.count == 0 && (only_cost || (f->guard.count == 0 && f->jump.count == 0)))
        return fail(v, COSTATE_BAD_ARGUMENT, "The formulas have no terms%s.", only_cost ? " in cost" : "");
    return 0;
}

/* ---- maps after each step ---- */

static int free_for(verdict *v, const costate_problem *P)
{
    if (!P) return fail(v, COSTATE_BAD_ARGUMENT, "problem is NULL.");
    TRY(sizes_sound(v, "problem.", P->n, P->np, "nm", P->nm, 0));
    return has_after_step(P) ? fail(v, COSTATE_BAD_ARGUMENT, "problem.after_step is set already: one map follows "
                                          "a step.") : 0;
}

int bounds_given(verdict *v, const costate_bounds *b, const costate_problem *P)
{
    TRY(free_for(v, P));
    if (!b || (!b->low && !b->high)) return fail(v, COSTATE_BAD_ARGUMENT, "There are no bounds.");
    if (b->at_start != 0 && b->at_start != 1)
        return fail(v, COSTATE_BAD_ARGUMENT, "bounds.at_start = %d: it is 0 or 1.", b->at_start);
    for (int i = 0; i < P->n; i++) {
        double low = b->low ? b->low[i] : -HUGE_VAL, high = b->high ? b->high[i] : HUGE_VAL;
        if (!(low <= high && low < HUGE_VAL && high > -HUGE_VAL))
            return fail(v, COSTATE_BAD_ARGUMENT, "bounds of y[%d]: low = %g, high = %g leave no value.", i, low, high);
    }
    return 0;
}

/* the memory variables that hold what invariants are at the start */
static int kept_given(verdict *v, const costate_invariants *g, const costate_problem *P)
{
    if (g->keep != 0 && g->keep != 1)
        return fail(v, COSTATE_BAD_ARGUMENT, "invariants.keep = %d: it is 0 or 1.", g->keep);
    if (g->at_start != 0 && (g->at_start != 1 || g->keep))
        return fail(v, COSTATE_BAD_ARGUMENT, "invariants.at_start = %d: it is 0 or 1, and 0 with keep.", g->at_start);
    if (g->keep && (g->memory < 0 || g->memory > P->nm - g->count))
        return fail(v, COSTATE_BAD_ARGUMENT, "invariants.memory = %d, count = %d, but problem.nm = %d: with keep, each "
                    "invariant takes one memory variable.", g->memory, g->count, P->nm);
    return 0;
}

static int products_given(verdict *v, const costate_invariants *g)
{
    if (!g->g.value) return fail(v, COSTATE_MISSING, "invariants.g.value is missing.");
    if (!has_tangent(&g->g) || !has_adjoint(&g->g))
        return fail(v, COSTATE_MISSING, "invariants.g.%s is missing: Newton's iteration needs it.",
                    has_tangent(&g->g) ? "adjoint" : "tangent");
    return 0;
}

int invariants_given(verdict *v, const costate_invariants *g, const costate_problem *P)
{
    TRY(free_for(v, P));
    if (!g) return fail(v, COSTATE_BAD_ARGUMENT, "invariants is NULL.");
    if (g->count < 1 || g->count > COSTATE_INVARIANTS_MOST || g->count > P->n)
        return fail(v, COSTATE_BAD_ARGUMENT, "invariants.count = %d lies outside [1, %d].", g->count,
                    P->n < COSTATE_INVARIANTS_MOST ? P->n : COSTATE_INVARIANTS_MOST);
    TRY(products_given(v, g));
    TRY(kept_given(v, g, P));
    if (g->linear != 0 && g->linear != 1)
        return fail(v, COSTATE_BAD_ARGUMENT, "invariants.linear = %d: it is 0 or 1.", g->linear);
    int moving = !g->move;
    for (int i = 0; g->move && i < P->n; i++) {
        if (!(g->move[i] >= 0 && g->move[i] < HUGE_VAL))
            return fail(v, COSTATE_BAD_ARGUMENT, "invariants.move[%d] = %g: it is finite and not negative.", i,
                        g->move[i]);
        moving |= g->move[i] > 0;
    }
    return moving ? 0 : fail(v, COSTATE_BAD_ARGUMENT, "invariants.move is 0 for all components.");
}

int invariant_given(verdict *v, const costate_invariants *g, const costate_problem *P)
{
    TRY(invariants_given(v, g, P));
    if (g->count != 1)
        return fail(v, COSTATE_BAD_ARGUMENT, "invariants.count = %d: relaxation keeps one.", g->count);
    if (g->linear || g->move || g->at_start)
        return fail(v, COSTATE_BAD_ARGUMENT, "invariants.%s is for projection: relaxation %s.",
                    g->linear ? "linear" : g->move ? "move" : "at_start",
                    g->linear ? "keeps a nonlinear invariant, and methods themselves keep linear ones" :
                    g->move ? "moves y along the step" : "does not change initial values");
    return 0;
}

/* ---- measurements ---- */

static int outputs_given(verdict *v, const costate_problem *P, const costate_measurements *g)
{
    if (!g->component == !g->output.value)
        return fail(v, COSTATE_BAD_ARGUMENT, "measurements has %s: set one of component and output.value.",
                    g->component ? "components and an output map" : "neither components nor an output map");
    for (int j = 0; g->component && j < g->outputs; j++)
        if (g->component[j] < 0 || g->component[j] >= P->n)
            return fail(v, COSTATE_BAD_ARGUMENT, "measurements.component[%d] = %d, but this problem has %d states.", j,
                        g->component[j], P->n);
    return 0;
}

static int replaced_given(verdict *v, const costate_problem *P, const costate_measurements *g)
{
    if (g->nreplaced < 0 || (g->nreplaced > 0 && !g->replaced))
        return fail(v, COSTATE_BAD_ARGUMENT, "measurements: nreplaced is negative or replaced is NULL.");
    for (int j = 0; j < g->nreplaced; j++) {
        const costate_replaced *r = g->replaced + j;
        if (r->parameter < 0 || r->parameter >= P->np || r->by >= P->np || !(r->by >= 0 || isfinite(r->value)))
            return fail(v, COSTATE_BAD_ARGUMENT, "measurements.replaced[%d] replaces parameter %d by %d or %g: indices "
                        "are below %d, and the number is finite.", j, r->parameter, r->by, r->value, P->np);
    }
    return 0;
}

static int item_given(verdict *v, const costate_measurements *g, int i)
{
    const costate_measured *a = g->list + i;
    if (a->time < (i ? a[-1].time : 0) || a->time >= g->times)
        return fail(v, COSTATE_BAD_ARGUMENT, "measurements.list[%d].time = %d: it must be below %d, and not before "
                    "that of the value before.", i, a->time, g->times);
    if (a->output < 0 || a->output >= g->outputs || a->noise < -1 || a->noise >= g->outputs)
        return fail(v, COSTATE_BAD_ARGUMENT, "measurements.list[%d]: output = %d, noise = %d, but there are %d "
                    "outputs.", i, a->output, a->noise, g->outputs);
    if (a->noise < 0 && !(a->sigma > 0 && isfinite(a->sigma)))
        return fail(v, COSTATE_BAD_ARGUMENT, "measurements.list[%d].sigma = %g: it must be positive and finite.", i,
                    a->sigma);
    if (a->scale < 0 || a->scale > COSTATE_SCALE_LOG10 || a->distribution < 0 ||
        a->distribution > (COSTATE_ABOVE | COSTATE_NOISE_LAPLACE))
        return fail(v, COSTATE_BAD_ARGUMENT, "measurements.list[%d]: scale = %d, distribution = %d: see enum "
                    "costate_scale, costate_noise and costate_censored.", i, a->scale, a->distribution);
    if (!isfinite(a->value) || (a->scale && a->value <= 0))
        return fail(v, COSTATE_BAD_ARGUMENT, "measurements.list[%d].value = %g: it must be finite, and positive on a "
                    "logarithmic scale.", i, a->value);
    if (a->replaced < 0 || a->first < 0 || a->first > g->nreplaced - a->replaced)
        return fail(v, COSTATE_BAD_ARGUMENT, "measurements.list[%d]: first = %d, replaced = %d, but nreplaced = %d.", i,
                    a->first, a->replaced, g->nreplaced);
    return 0;
}

static int list_given(verdict *v, const costate_problem *P, const costate_measurements *g)
{
    if (g->count < 0 || !g->list)
        return fail(v, COSTATE_BAD_ARGUMENT, "measurements: count is negative or list is NULL.");
    if (g->value || g->sigma)
        return fail(v, COSTATE_BAD_ARGUMENT, "measurements has a list and %s: set one of them.",
                    g->value ? "value" : "sigma");
    TRY(replaced_given(v, P, g));
    for (int i = 0; i < g->count; i++) TRY(item_given(v, g, i));
    return 0;
}

int measurements_given(verdict *v, const costate_problem *P, const costate_measurements *g)
{
    if (!P) return fail(v, COSTATE_BAD_ARGUMENT, "problem is NULL.");
    if (!g) return fail(v, COSTATE_BAD_ARGUMENT, "measurements is NULL.");
    TRY(sizes_sound(v, "problem.", P->n, P->np, "nm", P->nm, 0));
    if (g->times < 1 || g->outputs < 1 || (long long)g->times * g->outputs > 1 << 30)
        return fail(v, COSTATE_BAD_ARGUMENT, "measurements: times = %d, outputs = %d: both are at least 1, and their "
                    "product is at most 2^30.", g->times, g->outputs);
    if (!g->t) return fail(v, COSTATE_BAD_ARGUMENT, "measurements.t is NULL.");
    if (g->count) {
        TRY(list_given(v, P, g));
        return outputs_given(v, P, g);
    }
    if (!g->value || !g->sigma)
        return fail(v, COSTATE_BAD_ARGUMENT, "measurements.%s is NULL.", !g->value ? "value" : "sigma");
    if (g->sigma_at_times != 0 && g->sigma_at_times != 1)
        return fail(v, COSTATE_BAD_ARGUMENT, "measurements.sigma_at_times = %d: it is 0 or 1.", g->sigma_at_times);
    int rows = g->outputs * g->times;
    for (int i = 0; i < rows; i++)
        if (isinf(g->value[i]))
            return fail(v, COSTATE_BAD_ARGUMENT, "measurements.value[%d] = %g is not finite (NaN: not measured).", i,
                        g->value[i]);
    for (int i = 0; i < (g->sigma_at_times ? rows : g->outputs); i++)
        if (!(g->sigma[i] > 0 && g->sigma[i] < HUGE_VAL))
            return fail(v, COSTATE_BAD_ARGUMENT, "measurements.sigma[%d] = %g: a standard deviation is positive and "
                        "finite.", i, g->sigma[i]);
    return outputs_given(v, P, g);
}
