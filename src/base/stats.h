/* stats.h - the sum of two statistics. */
#ifndef COSTATE_BASE_STATS_H
#define COSTATE_BASE_STATS_H

#include <costate/costate.h>

/* of tape_bytes, krylov_error and gradient_error the larger */
void stats_add(costate_stats *to, const costate_stats *);

#endif
