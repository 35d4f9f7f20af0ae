/* formula.h - all callbacks of a costate_problem from one formula over num.

   ctx of the problem is the formula.  Directions may have NULL members (zero), gradients NULL members (not
   wanted).  Adjoints run over unit directions, grouped by colour where the pattern allows it. */
#ifndef PROBLEMS_FORMULA_H
#define PROBLEMS_FORMULA_H

#include <costate/costate.h>
#include "num.h"

enum { FORMULA_MAX_N = 512, FORMULA_MAX_P = 16 };   /* largest n (and nq), np */

typedef struct formula formula;
typedef void formula_map(const formula *, num t, const num *y, const num *p, num *out);

struct formula {
    int n, np, nq;
    int autonomous, mass;             /* switches that a formula may read */
    formula_map *f, *r;               /* M y' = f, q' = r (NULL when nq = 0) */
    const double *M;                  /* n*n by columns, NULL: identity */
    const costate_pattern *pattern;   /* NULL: dense */
    int colours;                      /* columns j, k of f_y with j = k mod colours share no row; 0: not so */
    double size;                      /* of a grid, where the formula has one */
};

void problem_robertson(const formula *, num t, const num *y, const num *p, num *out);  /* problems.c */

int formula_rhs_value(const costate_point *, double *, void *);
int formula_rhs_tangent(const costate_point *, const costate_point *, double *, void *);
int formula_rhs_adjoint(const costate_point *, const double *, const costate_gradient *, void *);
int formula_rhs_tangent2(const costate_point *, const costate_point *, const costate_point *, double *, void *);
int formula_rhs_adjoint_tangent(const costate_point *, const costate_point *, const double *,
                                const costate_gradient *, void *);
int formula_cost_value(const costate_point *, double *, void *);
int formula_cost_tangent(const costate_point *, const costate_point *, double *, void *);
int formula_cost_adjoint(const costate_point *, const double *, const costate_gradient *, void *);
int formula_cost_tangent2(const costate_point *, const costate_point *, const costate_point *, double *, void *);
int formula_cost_adjoint_tangent(const costate_point *, const costate_point *, const double *,
                                 const costate_gradient *, void *);
int formula_jac(const costate_point *, double *, void *);
int formula_mass(double *, void *);

/* third derivatives, which Hessian products of ros need: not in these tables, so that tests can do without them */
int formula_rhs_adjoint_tangent2(const costate_point *, const costate_point *, const costate_point *, const double *,
                                 const costate_gradient *, void *);
int formula_cost_adjoint_tangent2(const costate_point *, const costate_point *, const costate_point *, const double *,
                                  const costate_gradient *, void *);

#define FORMULA_RHS                                                                            \
    {.value = formula_rhs_value, .tangent = formula_rhs_tangent, .adjoint = formula_rhs_adjoint, \
     .tangent2 = formula_rhs_tangent2, .adjoint_tangent = formula_rhs_adjoint_tangent}
#define FORMULA_COST                                                                               \
    {.value = formula_cost_value, .tangent = formula_cost_tangent, .adjoint = formula_cost_adjoint, \
     .tangent2 = formula_cost_tangent2, .adjoint_tangent = formula_cost_adjoint_tangent}

#endif
