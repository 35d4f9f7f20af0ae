/* family.c (firk) - the table of fully implicit Runge-Kutta methods: one block of all stages. */
#include "firk/firk.h"
#include "linsol/gmres.h"

/* The exact matrix has block*n rows: beyond 21, three
   stages of 7, it costs more than iterations do (step-maps 6).  The user's preconditioner is one of a single stage. */
static const block_algebra coupled = {
    .most_columns = GMRES_COLUMNS,
    .dense_most = 21,
    .sparse = 1,
    .solve = firk_solve,
    .exact_factor = firk_exact_factor,
    .exact_solve = firk_exact_solve,
    .free = firk_free,
};

static int prepare(stepper *c) { return irk_prepare(c, c->s == 1 ? &irk_one_stage : &coupled); }

const family firk_family = IRK_FAMILY(prepare);
