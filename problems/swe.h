/* swe.h - the shallow-water benchmark as a costate_problem, with all derivatives.

   Saint-Venant equations on a doubly periodic nx x ny grid; U = (h, hu, hv), n = 3 nx ny unknowns in the order
   y[k nx ny + i ny + j], k = 0 h, 1 hu, 2 hv; node i at x = -3 + (i+1) 6/(nx-1), the same in y.  np = nq = 0. */
#ifndef PROBLEMS_SWE_H
#define PROBLEMS_SWE_H

#include <costate/costate.h>

typedef struct swe swe;

swe *swe_new(int nx, int ny);          /* NULL: no memory, or a side below 5 or above 4000 */
void swe_free(swe *);                  /* NULL is fine */
int swe_share(swe *);                  /* from now on products share what prepare kept: 328 bytes a cell; 0: no
                                          memory */
const costate_problem *swe_problem(const swe *);
void swe_initial(const swe *, double *y);   /* h = 100 + 30 exp(-x^2 - y^2), hu = hv = 2 */

#endif
