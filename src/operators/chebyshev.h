/* chebyshev.h - a Chebyshev polynomial around a preconditioner: what it is made of. */
#ifndef COSTATE_OPERATORS_CHEBYSHEV_H
#define COSTATE_OPERATORS_CHEBYSHEV_H

#include <costate/operators.h>
#include "base/verdict.h"

struct costate_chebyshev {
    verdict v;                  /* of the constructor or of the last call */
    int broken;                 /* the constructor failed */
    size_t n;
    costate_polynomial given;
    const costate_pattern *pattern;     /* of */
    double *M;                  /* the mass matrix; NULL: identity */
    double *z, *d, *Kd;         /* n by columns each: preconditioned residual, direction, product */
    double sigma;
    int was_set_up;
    costate_preconditioner operator;
};

int chebyshev_given(costate_chebyshev *, const costate_problem *, const costate_polynomial *);

#endif
