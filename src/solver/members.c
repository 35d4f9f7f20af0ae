/* members.c - the methods that a solver works with: one, or the members of a composite method.

   A member is prepared when it is first at hand, so that a run that never becomes stiff needs no memory for matrices.
   All share the state, the linearisation and the spectrum; each has its own options, linear solver and work space. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "solver/families.h"
#include "solver/members.h"
#include "solver/options.h"

int members_new(costate *c, const costate_method *m)
{
    c->st.method = m;
    size_t count = (size_t)members_count(&c->st);
    c->st.members = calloc(count, sizeof *c->st.members);
    c->works = calloc(count, sizeof *c->works);
    if (!c->st.members || !c->works) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the solver.");
    for (size_t k = 0; k < count; k++) {
        const costate_method *one = method_member(m, (int)k);
        costate_options *o = member_options(c, (int)k);
        c->st.members[k] = (member_method){.m = one, .F = family_of(one), .o = o, .sh = &c->works[k].sh};
        c->works[k].sh = (shifts){.maps = &c->maps, .v = &c->v, .o = o};
        if (one->s > c->st.most) c->st.most = one->s;
    }
    c->st.options = &c->o;
    c->st.prepare = member_prepare;
    stepper_look(&c->st, 0);
    return 0;
}

/* ---- which may be used ---- */

/* A word of options.members: a name, with a minus sign before it or not. */
typedef struct { const char *name; size_t length; int minus; } word;

/* the word at *at, which moves behind it; 0: there is none */
static int next_word(const char **at, word *w)
{
    *at += strspn(*at, " ,");
    w->minus = **at == '-';
    w->name = *at + w->minus;
    w->length = strcspn(w->name, " ,");
    if (!**at) return 0;
    *at = w->name + w->length;
    return 1;
}

static int names(const word *w, const costate_method *m)
{
    return strlen(m->name) == w->length && strncmp(w->name, m->name, w->length) == 0;
}

/* Every name must be that of a member. */
static int check_names(costate *c)
{
    const char *at = c->o.members;
    word w;
    if (at && !c->st.method->of)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.members is for composite methods as auto; %s has no members.",
                    c->st.method->name);
    while (at && next_word(&at, &w)) {
        int known = 0;
        for (int k = 0; k < members_count(&c->st); k++) known |= names(&w, c->st.members[k].m);
        if (!known)
            return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.members names %.*s, which is no member of %s "
                        "(costate_method_member lists them).", (int)w.length, w.name, c->st.method->name);
    }
    return 0;
}

/* The dense output has a lower order than the error estimate: inside long steps it is what is least accurate. */
static int is_weak_inside(const costate_method *m) { return m->dense.order < m->est.order; }

int member_is_coarse(const costate *c, int k)
{
    const member_method *one = &c->st.members[k];
    return c->st.method->of && (is_weak_inside(one->m) || one->looser > 1);
}

int member_takes(const costate *c, int k)
{
    return c->works[k].usable && !(c->o.accurate_inside && c->st.method->of && is_weak_inside(c->st.members[k].m));
}

void members_inside(costate *c)
{
    if (!c->o.members && !c->o.accurate_inside) c->o.accurate_inside = 1;
    if (member_begins(c) < 0) c->o.accurate_inside = 0;
}

/* The list names members that may be used, or only some that may not. */
static int allowed(const char *list, const costate_method *m)
{
    int some = 0, named = 0, excluded = 0;
    for (word w; list && next_word(&list, &w);) {
        some |= !w.minus;
        if (names(&w, m)) *(w.minus ? &excluded : &named) = 1;
    }
    return !excluded && (!some || named);
}

int members_choose(costate *c)
{
    int any = 0, vectors = c->o.rtol_vector || c->o.atol_vector;
    TRY(check_names(c));
    for (int k = 0; k < members_count(&c->st); k++) {
        const costate_method *of = c->st.method;
        member_work *w = &c->works[k];
        stepper_look(&c->st, k);
        int given = allowed(c->o.members, c->st.m), status = given ? refuse_method(c) : 0;
        c->st.members[k].F = c->st.F;                           /* refuse_method may have taken another table */
        if (!of->of) TRY(status);
        if (of->of && vectors && !(w->scaled = calloc(2 * (size_t)c->st.n, sizeof *w->scaled)))
            return fail(&c->v, COSTATE_NO_MEMORY, "No memory for tolerances.");
        if (of->of) options_of_member(c, k);
        if ((c->st.F->is & IMPLICIT) || c->P.mass) TRY(shifts_init(&w->sh));
        w->usable = given && !status;
        any |= member_takes(c, k);
    }
    stepper_look(&c->st, 0);
    if (any && c->v.status) verdict_clear(&c->v);
    if (any || c->v.status) return c->v.status;
    return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.members leaves no member of %s%s.", c->st.method->name,
                c->o.accurate_inside ? " that is accurate inside steps (options.accurate_inside = 1)" : "");
}

/* Does the problem have the products that derivatives through this member need and those through the explicit member do
   not?  Without them, whether a run has gradients would depend on whether it becomes stiff. */
static int differentiable(costate *c, const family *explicit, const family *stiff)
{
    for (int mode = TANGENT; mode <= ADJOINT; mode++) {
        int without = maps_have(&c->maps, explicit->needs[mode], explicit->costs[mode], 0, 0);
        if (!without && maps_have(&c->maps, stiff->needs[mode], stiff->costs[mode], 0, 0)) return 0;
    }
    return 1;
}

/* The second derivatives of Rosenbrock methods, and an exact Jacobian. */
static int has_second(costate *c, const family *F)
{
    return !c->o.differences && !maps_have(&c->maps, F->needs[FORWARD], F->costs[FORWARD], 0, 0) &&
           !maps_have(&c->maps, F->needs[ADJOINT], F->costs[ADJOINT], c->st.np > 0, 0);
}

/* GMRES takes products with f_y. */
static int can_solve(costate *c, int k)
{
    return !c->works[k].sh.matfree || !maps_have(&c->maps, TANGENT_OF, 0, 0, 0);
}

static void choose_by_products(costate *c)
{
    const composite *of = c->st.method->of;
    const member_method *first = &c->st.members[0];
    for (int k = 0; of && k < of->count; k++) {
        const family *F = c->st.members[k].F;
        if (of->member[k].second && !has_second(c, F)) c->works[k].usable = 0;
        if (of->member[k].stabilised && (F->is & DIAGONAL_MASS) && mass_diagonal(&c->maps, NULL))
            c->works[k].usable = 0;
        if (!of->member[k].stiff || member_first(c, 0) < 0) continue;
        if (!can_solve(c, k) || !differentiable(c, first->F, F)) c->works[k].usable = 0;
    }
    verdict_clear(&c->v);
}

/* A stiff member that takes the splitting comes before those that solve with f_y. */
int member_first(const costate *c, int stiff)
{
    const composite *of = c->st.method->of;
    double rtol = options_rtol(&c->o, c->st.n);
    int last = -1;
    if (!of) return stiff == ((c->st.F->is & IMPLICIT) != 0) ? 0 : -1;
    for (int k = 0; k < of->count && stiff; k++) if (of->member[k].splits && member_takes(c, k)) return k;
    for (int k = 0; k < of->count; k++) {
        const composite_member *m = &of->member[k];
        if (m->stiff != stiff || m->stabilised || !member_takes(c, k)) continue;
        last = k;
        if (rtol >= m->rtol) return k;
    }
    return last;
}

int member_stabilised(const costate *c)
{
    const composite *of = c->st.method->of;
    for (int k = 0; k < of->count; k++)
        if (of->member[k].stabilised && member_takes(c, k)) return k;
    return -1;
}

int takes_splitting(const costate *c)
{
    int k = member_first(c, 1);
    return k >= 0 && c->st.method->of && c->st.method->of->member[k].splits;
}

/* Fixed steps are taken by a stiff member, as no error control keeps explicit ones stable; and a splitting is given for
   problems that are stiff, mostly from the start. */
int member_begins(const costate *c)
{
    int stiff = takes_splitting(c) || c->o.controller == COSTATE_FIXED, k = member_first(c, stiff);
    return k >= 0 ? k : member_first(c, !stiff);
}

/* Stiff members other than that with the splitting will be needed. */
static void choose_solvers(costate *c)
{
    for (int k = 0; k < members_count(&c->st); k++) if (!c->works[k].sh.fixed) shifts_choose(&c->works[k].sh);
}

/* Where M is singular, that turns out when the first member is prepared. */
int members_begin(costate *c)
{
    choose_by_products(c);
    for (;;) {
        int k = member_begins(c);
        if (!takes_splitting(c)) choose_solvers(c);
        if (k < 0) return c->v.status;
        int status = stepper_take(&c->st, k), singular = c->works[k].sh.singular && c->v.status == COSTATE_BAD_ARGUMENT;
        if (!status || !c->st.method->of || !singular) return status;
        for (int j = 0; j < members_count(&c->st); j++)
            if (j == k || (c->st.members[j].F->is & REGULAR_MASS)) c->works[j].usable = 0;
        if (member_begins(c) >= 0) verdict_clear(&c->v);
    }
}

/* ---- work space ---- */

static size_t lay_steps(costate *c, double *block)
{
    cursor at = {block, 0};
    shifts_layout(c->st.sh, &at);
    c->st.F->layout(&c->st, &at);
    return at.used;
}

static size_t lay_columns(costate *c, double *block, int all)
{
    cursor at = {block, 0};
    left_layout(c->st.sh, &at, all);
    c->st.F->layout_derivatives(&c->st, &at, all);
    return at.used;
}

static size_t lay_second(costate *c, double *block, int m)
{
    cursor at = {block, 0};
    if (c->st.F->layout_second) c->st.F->layout_second(&c->st, &at, m);
    return at.used;
}

/* Allocates derivative work space of the current member for `all` columns and, if m > 0, a jet along m directions. */
static int derivatives(costate *c, int all, int m)
{
    member_work *w = &c->works[c->st.at];
    free(w->columns);
    free(w->second);
    w->columns = w->second = NULL;
    size_t first = all > 0 ? lay_columns(c, NULL, all) : 0, second = m > 0 ? lay_second(c, NULL, m) : 0;
    if (all > 0) w->columns = calloc(first + 8, sizeof(double));
    if (m > 0) w->second = calloc(second + 8, sizeof(double));
    if ((all > 0 && !w->columns) || (m > 0 && !w->second))
        return fail(&c->v, COSTATE_NO_MEMORY, "No memory for %d directions (%zu doubles).", all, first + second);
    if (all > 0) lay_columns(c, w->columns, all);
    if (m > 0) lay_second(c, w->second, m);
    return 0;
}

/* the next member that is ready, at hand; 0: there is none */
static int next_ready(costate *c, int *k)
{
    while (*k < members_count(&c->st) && !c->st.members[*k].ready) ++*k;
    if (*k == members_count(&c->st)) return 0;
    stepper_look(&c->st, (*k)++);
    return 1;
}

static int of_all(costate *c, int all, int m)
{
    int before = c->st.at, status = 0;
    for (int k = 0; !status && next_ready(c, &k);) status = derivatives(c, all, m);
    stepper_look(&c->st, before);
    if (status) c->d.columns = c->d.all = c->second.columns = 0;
    return status;
}

int members_columns(costate *c, int all) { return of_all(c, all, c->second.columns); }

int members_second(costate *c, int m) { return of_all(c, c->d.all, m); }

/* ---- preparing ---- */

static void release(costate *c, int k)
{
    member_method *m = &c->st.members[k];
    member_work *w = &c->works[k];
    if (m->F && m->own) m->F->free(m->own);
    factors_release(m->fac);
    shifts_free(m->sh);
    m->sh->mass = m->sh->ilu = NULL;
    m->sh->ilu_J = NULL;
    m->own = NULL;
    m->fac = NULL;
    m->ready = 0;
    free(w->block);
    free(w->columns);
    free(w->second);
    w->block = w->columns = w->second = NULL;
}

/* J of a step, which members share */
static int matrix(costate *c)
{
    if (c->st.lin.J || !(c->st.F->is & IMPLICIT) || c->st.sh->matfree) return 0;
    size_t entries = c->maps.entries, both = (c->maps.residual ? 2 : 1) * entries;
    if (!(c->st.lin.J = calloc(both + 1, sizeof *c->st.lin.J)))
        return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the Jacobian (%zu entries).", entries);
    c->st.lin.M = c->maps.residual ? c->st.lin.J + entries : c->maps.M;
    return 0;
}

static int prepare(costate *c, int k)
{
    member_work *w = &c->works[k];
    TRY(matrix(c));
    TRY(c->st.F->prepare(&c->st));
    options_newton(c, member_options(c, k));                /* depends on whether M is regular */
    TRY(refuse_singular(c));
    size_t used = lay_steps(c, NULL);
    if (!(w->block = calloc(used + 8, sizeof(double))))
        return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the work space (%zu doubles).", used);
    lay_steps(c, w->block);
    if (c->st.F->ready) c->st.F->ready(&c->st);
    TRY(derivatives(c, c->d.all, c->second.columns));
    c->st.members[k].ready = 1;
    return 0;
}

/* Layouts of columns of derivatives are partly in the maps, which all members share. */
static void lay_again(costate *c)
{
    int at = c->st.at;
    for (int k = 0; c->d.all > 0 && next_ready(c, &k);) lay_columns(c, c->works[c->st.at].columns, c->d.all);
    stepper_look(&c->st, at);
}

int member_prepare(stepper *st, int k)
{
    costate *c = (costate *)(void *)((char *)st - offsetof(struct costate, st));
    int status = prepare(c, k);
    if (!status) return 0;
    stepper_put(&c->st);
    release(c, k);
    c->st.own = NULL;
    c->st.fac = NULL;
    lay_again(c);
    return status;
}

void members_sweep(costate *c)
{
    int before = c->st.at;
    for (int k = 0; next_ready(c, &k);)
        if (c->st.F->sweep) c->st.F->sweep(&c->st);
    stepper_look(&c->st, before);
}

void members_left_sweep(costate *c)
{
    c->st.left = NULL;
    for (int k = 0; k < members_count(&c->st); k++)
        if (c->st.members[k].ready) left_sweep(c->st.members[k].sh);
}

shifts *members_left(costate *c)
{
    return c->st.sh->left.columns || !c->st.left ? c->st.sh : c->st.left;
}

void members_free(costate *c)
{
    if (!c->works || !c->st.members) { free(c->works); free(c->st.members); return; }
    stepper_put(&c->st);
    for (int k = 0; k < members_count(&c->st); k++) {
        release(c, k);
        free(c->works[k].scaled);
    }
    free(c->works);
    free(c->st.members);
}
