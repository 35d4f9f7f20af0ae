/* family.c (sdirk) - the table of singly diagonally implicit Runge-Kutta methods (SDIRK, ESDIRK): stage by stage. */
#include "irk/irk.h"

static int prepare(stepper *c) { return irk_prepare(c, &irk_one_stage); }

const family sdirk_family = {
    .is = IMPLICIT,
    .needs = {0, TANGENT_OF, ADJOINT_OF},
    .costs = {0, TANGENT_OF, ADJOINT_OF},
    .controller = COSTATE_GUSTAFSSON,
    .pi_beta = 0.4,
    .prepare = prepare,
    .layout = irk_layout,
    .layout_derivatives = irk_layout_derivatives,
    .ready = irk_ready,
    .restart = irk_restart,
    .forward = irk_forward,
    .tangent = irk_tangent,
    .adjoint = irk_adjoint,
    .estimate = irk_estimate,
    .keep = irk_keep,
    .free = irk_free,
};
