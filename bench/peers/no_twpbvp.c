/* no_twpbvp.c - the race without TWPBVP: no source of it was named when the peers were built. */
#include "twpbvp.h"

int bvp_twp(const bvp_case *z, int lobatto, int conditioning, double tol, int most, bvp_twp_result *r)
{
    return (void)z, (void)lobatto, (void)conditioning, (void)tol, (void)most, (void)r, -1;
}
