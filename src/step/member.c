/* member.c - the member of a composite method that a stepper has at hand. */
#include "step/step.h"

void stepper_put(stepper *c)
{
    c->members[c->at].fac = c->fac;
    c->members[c->at].own = c->own;
}

void stepper_look(stepper *c, int k)
{
    const member_method *from = &c->members[c->at], *to = &c->members[k];
    stepper_put(c);
    if (from->sh->left.columns) c->left = from->sh;
    c->at = k;
    c->m = to->m;
    c->s = to->m->s;
    c->F = to->F;
    c->o = to->o;
    c->sh = to->sh;
    c->fac = to->fac;
    c->own = to->own;
    if (c->left && c->left != c->sh && c->sh->left.columns) {
        c->sh->left = c->left->left;
        c->left = c->sh;
    }
}

int stepper_take(stepper *c, int k)
{
    int before = c->at;
    if (k != before) stepper_look(c, k);
    if (c->members[k].ready) return 0;
    int status = c->prepare(c, k);
    if (status && k != before) stepper_look(c, before);
    return status;
}

const member_method *stiff_member(const stepper *c)
{
    const composite *of = c->method->of;
    int k = 0;
    while (of && k + 1 < of->count && !of->member[k].stiff) k++;
    return &c->members[k];
}
