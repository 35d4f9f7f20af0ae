/* families.c - the table of families, and the methods that take steps.

   A new family needs its name in enum costate_family and a row here.  Families without a row are only for boundary
   value problems. */
#include "solver/families.h"
#include "step/step.h"

extern const family erk_family, sdirk_family, firk_family, ros_family, rkc_family;

static const family *const families[] = {
    [COSTATE_ERK] = &erk_family,
    [COSTATE_SDIRK] = &sdirk_family,
    [COSTATE_FIRK] = &firk_family,
    [COSTATE_ROS] = &ros_family,
    [COSTATE_RKC] = &rkc_family,
};

const family *family_of(const costate_method *m)
{
    size_t count = sizeof families / sizeof *families;
    return !m->of && (size_t)m->family < count ? families[m->family] : NULL;
}

int has_implicit_stages(const costate_method *m)
{
    const family *F = family_of(m);
    return !m->of && (!F || (F->is & RUNGE_KUTTA_INVERSE) != 0);
}

/* members of composite methods take the steps of these */
static int takes_steps(const costate_method *m) { return m->of || family_of(m); }

int costate_method_count(void)
{
    int count = 0;
    for (int k = 0; costate_method_table[k]; k++) count += takes_steps(costate_method_table[k]);
    return count;
}

const costate_method *costate_method_at(int k)
{
    for (int i = 0; k >= 0 && costate_method_table[i]; i++)
        if (takes_steps(costate_method_table[i]) && k-- == 0) return costate_method_table[i];
    return NULL;
}
