/* family.c (sdirk) - the table of singly diagonally implicit Runge-Kutta methods (SDIRK, ESDIRK): stage by stage. */
#include "irk/irk.h"

static int prepare(stepper *c) { return irk_prepare(c, &irk_one_stage); }

const family sdirk_family = IRK_FAMILY(prepare);
