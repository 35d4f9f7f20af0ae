/* catalogue.c - the methods that the build made from methods/: look-up by name, suggestions for misspelt names, and
   descriptions.  solver/families.c counts those that costate_new takes. */
#include <string.h>
#include "step/method.h"

const costate_method *costate_method_find(const char *name)
{
    for (int k = 0; name && costate_method_table[k]; k++)
        if (strcmp(costate_method_table[k]->name, name) == 0) return costate_method_table[k];
    return NULL;
}

/* letters to add, leave out or replace to get from a to b, where both are short: Levenshtein's distance */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 40 };
    int row[LONGEST + 1], la = (int)strlen(a), lb = (int)strlen(b);
    if (la > LONGEST || lb > LONGEST) return LONGEST;
    for (int j = 0; j <= lb; j++) row[j] = j;
    for (int i = 1; i <= la; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            int least = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            if (row[j] + 1 < least) least = row[j] + 1;
            if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
            row[j] = least;
        }
    }
    return row[lb];
}

/* near: a third of its letters may differ, or one begins with the other */
static int far(const char *name, const char *of)
{
    size_t a = strlen(name), b = strlen(of), both = a < b ? a : b;
    int d = distance(name, of), most = (int)(a + 2) / 3;
    if (d > 0 && both >= 3 && strncmp(name, of, both) == 0) return 1 + d / 4;
    return d <= most ? d : -1;
}

const costate_method *costate_method_near(const char *name, int k)
{
    for (int d = 0; name && k >= 0 && d <= 40; d++)
        for (int i = 0; costate_method_table[i]; i++)
            if (far(name, costate_method_table[i]->name) == d && k-- == 0) return costate_method_table[i];
    return NULL;
}

const costate_method *costate_method_member(const costate_method *m, int k)
{
    return m && m->of && k >= 0 && k < m->of->count ? m->of->member[k].method : NULL;
}

static int stages(const costate_method *m)
{
    if (m->rkc) return m->rkc->s[m->rkc->degrees - 1];
    return m->s + ((m->is & COSTATE_EXPLICIT_FIRST) != 0);
}

int costate_method_describe(const costate_method *m, costate_method_info *info)
{
    if (!m || !info) return COSTATE_BAD_ARGUMENT;
    *info = (costate_method_info){m->name, m->about.title, m->about.source, m->family, stages(m), m->order,
                                  m->est.order, m->dense.order, m->is, m->about.r_infinity};
    return COSTATE_OK;
}
