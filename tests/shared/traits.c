/* traits.c - what tests over all methods must know of a method, from the table of its family. */
#include <stdio.h>
#include <string.h>
#include "solver/families.h"
#include "step/step.h"
#include "problems.h"
#include "traits.h"

/* 0: of bvp.h alone */
static unsigned traits(const costate_method *m) { return family_of(m) ? family_of(m)->is : 0; }

int is_explicit(const costate_method *m) { return family_of(m) && !(traits(m) & IMPLICIT); }
int is_stabilised(const costate_method *m) { return m->rkc != NULL; }
int takes_stiff(const costate_method *m) { return !is_explicit(m) || is_stabilised(m); }
int takes_diagonal_mass_only(const costate_method *m) { return (traits(m) & DIAGONAL_MASS) != 0; }
int is_composite(const costate_method *m) { return m->of != NULL; }

int is_newton(const costate_method *m)
{
    int all = 1;
    if (!m->of) return (traits(m) & RUNGE_KUTTA_INVERSE) != 0;
    for (int k = 0; k < m->of->count; k++) all = all && is_newton(m->of->member[k].method);
    return all;
}

int begins_explicit(const costate_method *m) { return is_explicit(m->of ? m->of->member[0].method : m); }

const char *newton_members(const costate_method *m)
{
    static char names[COSTATE_MEMBERS_MOST * 32];
    names[0] = 0;
    for (int k = 0; m->of && k < m->of->count; k++) {
        const costate_method *one = m->of->member[k].method;
        size_t used = strlen(names);
        if (is_newton(one)) snprintf(names + used, sizeof names - used, " %s", one->name);
    }
    return m->of ? names : NULL;
}

const costate_method *newton_member(const costate_method *m)
{
    int k = 0;
    if (!m->of) return m;
    while (k + 1 < m->of->count && !is_newton(m->of->member[k].method)) k++;
    return m->of->member[k].method;
}

int method_takes(const costate_method *m, int mass)
{
    if (mass == MASS_REGULAR) return !takes_diagonal_mass_only(m);
    return mass == MASS_IDENTITY || (m->is & COSTATE_DAE);
}
