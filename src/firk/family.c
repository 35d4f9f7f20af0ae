/* family.c (firk) - the table of fully implicit Runge-Kutta methods: one block of all stages. */
#include "firk/firk.h"
#include "linsol/gmres.h"

/* The exact matrix has block*n rows.  Up to direct_most of them systems are solved to round-off of every component, by
   iteration where that converges fast (iterated.c), else by factoring.  In stiff chemical kinetics iterations with the
   matrix of the run converge slowly: for mechanisms with 10, 30 and 66 species (330 rows), forward, tangent and adjoint
   runs with radau2a5 took 0.29, 0.72 and 0.81 times as long with factored matrices.  A preconditioner of the user is
   for single stages. */
static const block_algebra coupled = {
    .most_columns = GMRES_COLUMNS,
    .direct_most = 350,
    .band_most = 100,                   /* coupled stages have no band */
    .solve = firk_solve,
    .exact_factor = firk_exact_factor,
    .exact_solve = firk_exact_solve,
    .exact_column = firk_exact_column,
    .exact_moduli = firk_exact_moduli,
    .exact_instead = firk_exact_instead,
    .restart = firk_restart,
    .free = firk_free,
};

static int prepare(stepper *c) { return irk_prepare(c, c->s == 1 ? &irk_one_stage : &coupled); }

const family firk_family = IRK_FAMILY(prepare);
