/* splitting.h - a splitting: its parts, and for what sigma and p they are factored. */
#ifndef COSTATE_OPERATORS_SPLITTING_H
#define COSTATE_OPERATORS_SPLITTING_H

#include <costate/operators.h>
#include "base/verdict.h"
#include "linsol/ls.h"
#include "operators/lines.h"

typedef struct {
    costate_part given;
    LS *ls;                     /* of a matrix in a pattern, with */
    double *A, *scaled;         /* its values, and those that are factored */
    tridiagonals along;                /* of lines */
} summand;

struct costate_splitting {
    verdict v;                  /* of the constructor or of the last call */
    int broken;                 /* the constructor failed */
    int n, np, count;
    summand *parts;
    double *mass;               /* n: the diagonal of M; NULL: identity */
    double *p;                  /* np: for which the matrices were read */
    double sigma;               /* for which they are factored */
    int was_read, factored;
    lines_room room;
    costate_preconditioner operator;
};

int splitting_given(costate_splitting *, const costate_problem *, int count, const costate_part *);
int splitting_read(costate_splitting *, const costate_point *);        /* the matrices, by the callbacks */
int splitting_factor(costate_splitting *, double sigma);
int splitting_solve(costate_splitting *, int transpose, int count, double *X);

#endif
