/* code.c (lanes) - the table of the functions for L lanes. */
#include "lanes/code.h"

const lane_code LANED(lane_code) = {
    LANES,
    LANED(erk_forward), LANED(ros_forward), LANED(erk_tangent), LANED(ros_tangent), LANED(erk_adjoint),
    LANED(ros_adjoint), LANED(ros_confirm),
    LANED(aim), LANED(judge), LANED(propose), LANED(take), LANED(pick),
};
