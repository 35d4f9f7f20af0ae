/* family.c (firk) - the table of fully implicit Runge-Kutta methods: one block of all stages. */
#include "firk/firk.h"
#include "linsol/gmres.h"

/* The exact matrix has block*n rows.  Beyond 21, three stages of 7, it costs more than iterations that go well
   (mathematics, section 8.4); but in stiff kinetics they do not: of programs that ran mechanisms of 10, 30 and 66
   species with radau2a5 (330 rows) forward, tangent and adjoint, those with exact matrices took 0.29, 0.72 and 0.81
   times the time.  The user's preconditioner is one of a single stage. */
static const block_algebra coupled = {
    .most_columns = GMRES_COLUMNS,
    .direct_most = 350,
    .band_most = 100,                   /* coupled stages have no band */
    .solve = firk_solve,
    .exact_factor = firk_exact_factor,
    .exact_solve = firk_exact_solve,
    .free = firk_free,
};

static int prepare(stepper *c) { return irk_prepare(c, c->s == 1 ? &irk_one_stage : &coupled); }

const family firk_family = IRK_FAMILY(prepare);
