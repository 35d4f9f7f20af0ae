/* matrices.c (ros) - the factors of E = M/(h gamma) - f_y of a step, or of the user's matrix, and where they are
   kept. */
#include "ros/ros.h"

/* the user's matrix for r->held; it depends on nothing else, and W not on h */
static int held_matrix(stepper *c, const record *r)
{
    costate_point x = point(c->maps, r->t, r->y);
    if (c->fac->h == r->held && c->fac->serial != 0) return 0;
    if (c->lin.serial == 0 || c->sh->matfree)
        TRY(linearise(c->maps, r->jacobian > 0 ? r->jacobian : 1, &x, c->w, &c->lin));
    return shifts_factor(c->sh, &c->lin, r->held, &c->fac);
}

static int matrix_of_step(stepper *c, const record *r)
{
    if (c->fac->h == r->h && c->fac->serial == r->jacobian) return 0;
    if (c->lin.serial != r->jacobian) {
        costate_point x = point(c->maps, r->t, r->y);
        TRY(linearise(c->maps, r->jacobian, &x, c->w, &c->lin));
    }
    return shifts_factor(c->sh, &c->lin, r->h, &c->fac);
}

int ros_matrices(stepper *c, const record *r, const factors **f)
{
    *f = r->kept;
    if (r->kept) return 0;
    TRY(ros_holds(c) ? held_matrix(c, r) : matrix_of_step(c, r));
    *f = c->fac;
    return 0;
}
