/* residual.h - problems M y' = f as residuals F(t, y, y', p) = 0: the same solutions, references and consistent starts.

   plain:    F = u,                                              u = M y' - f(t, y, p)
   twisted:  F_i = s_i (u_i + sin(u_i)/3),   s_i = 2 + sin(t + y_i + p_0)   (y_i: where the pattern has the diagonal)

   so that dF/dy' depends on t, y, y' and p, and is singular where M is. */
#ifndef TESTS_RESIDUAL_H
#define TESTS_RESIDUAL_H

#include "problems.h"

enum residual_kind { RESIDUAL_PLAIN, RESIDUAL_TWISTED };

/* with jac and jac_yp, or without: formed from products.  of: stays; NULL: no memory */
problem *residual_of(const problem *of, int kind, int with_jacobians);
void residual_free(problem *);

#endif
