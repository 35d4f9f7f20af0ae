/* random_case.h - random problems M y' = f, q' = r with every derivative, from a seed: any size, stiffness, pattern,
   kind of M.

       fhat_i = sum_j ( A_ij y_j + B_ij sin y_j ) + k_i + g_i sin t + e_i P_i T(t) sin y_i,
       r_l    = sum_i C_li sin y_i + P_l T(t) sin y_0,   T = 1 + sin(t)/2,  P_l = p[l mod np],
       f = dir G fhat,   M = G Mhat          (G = 1 where M is diagonal or in a pattern)

   kinds of A:  RATES     rows -rate_i (y_i + small terms), rates from 0.1 to the stiffness
                KINETICS  columns sum to zero (conserved mass), with rate constants from 0.01 to the stiffness:
                          conditions of 1e14 */
#ifndef TESTS_RANDOM_CASE_H
#define TESTS_RANDOM_CASE_H
#include <costate/costate.h>

enum random_kind { RANDOM_RATES, RANDOM_KINETICS, RANDOM_KINDS };

typedef struct {
    unsigned seed;
    int kind, n, np, nq, mass, sparse, autonomous, backwards;    /* mass: enum problem_mass */
    int diagonal;                                                /* 1: M_ij = 0 but for i = j, 0.7 to 1.3 */
    double stiffness;
} random_spec;

typedef struct {
    costate_problem P;
    double t0, t1, *y0, *p0;             /* consistent; n, np */
} random_case;

int random_case_kept(int n);            /* of a singular M: the unknowns before this one are kept, the rest algebraic */
random_case *random_case_new(const random_spec *);               /* NULL: no memory */
void random_case_free(random_case *);

#endif
