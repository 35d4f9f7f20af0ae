/* code.c (lanes) - the table of the functions for L lanes. */
#include "lanes/code.h"

const lane_code LANED(lane_code) = {
    LANES,
    {[LANES_OF_SLOPES] = {LANED(erk_forward), LANED(erk_tangent), LANED(erk_adjoint), NULL},
     [LANES_OF_ROSENBROCK] = {LANED(ros_forward), LANED(ros_tangent), LANED(ros_adjoint), LANED(ros_confirm)}},
    LANED(aim), LANED(judge), LANED(propose), LANED(take), LANED(pick),
};
