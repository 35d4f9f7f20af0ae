/* given.c (pieces) - checks of formulas and measurements, before any of them is used. */
#include <math.h>
#include "maps/callbacks.h"
#include "maps/maps.h"
#include "pieces/pieces.h"

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

int measurements_given(verdict *v, const costate_problem *P, const costate_measurements *g)
{
    if (!P) return fail(v, COSTATE_BAD_ARGUMENT, "problem is NULL.");
    if (!g) return fail(v, COSTATE_BAD_ARGUMENT, "measurements is NULL.");
    TRY(sizes_sound(v, "problem.", P->n, P->np, "nm", P->nm, 0));
    if (g->times < 1 || g->outputs < 1 || (long long)g->times * g->outputs > 1 << 30)
        return fail(v, COSTATE_BAD_ARGUMENT, "measurements: times = %d, outputs = %d: both are at least 1, and their "
                    "product is at most 2^30.", g->times, g->outputs);
    if (!g->t || !g->value || !g->sigma)
        return fail(v, COSTATE_BAD_ARGUMENT, "measurements.%s is NULL.", !g->t ? "t" : !g->value ? "value" : "sigma");
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
