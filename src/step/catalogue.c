/* catalogue.c - the methods that the build made from methods/: found by name, counted, described.

   Counted are those that costate_new takes: those of boundary value problems come last in the table. */
#include <string.h>
#include "step/method.h"

int costate_method_count(void)
{
    int k = 0;
    while (costate_method_table[k] && costate_method_table[k]->family != COSTATE_COLLOCATION) k++;
    return k;
}

const costate_method *costate_method_at(int k)
{
    return k >= 0 && k < costate_method_count() ? costate_method_table[k] : NULL;
}

const costate_method *costate_method_find(const char *name)
{
    for (int k = 0; name && costate_method_table[k]; k++)
        if (strcmp(costate_method_table[k]->name, name) == 0) return costate_method_table[k];
    return NULL;
}

static int stages(const costate_method *m)
{
    if (m->rkc) return m->rkc->s[m->rkc->degrees - 1];
    return m->s + ((m->is & COSTATE_EXPLICIT_FIRST) != 0);
}

int costate_method_describe(const costate_method *m, costate_method_info *info)
{
    if (!m || !info) return COSTATE_BAD_ARGUMENT;
    *info = (costate_method_info){m->name, m->title, m->source, m->family, stages(m), m->order, m->embedded, m->dense,
                                  m->is, m->r_infinity};
    return COSTATE_OK;
}
