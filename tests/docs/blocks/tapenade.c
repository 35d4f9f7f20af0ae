/* tapenade.c - what Tapenade and Enzyme are given: compiled only. */
#include <costate/costate.h>

enum { N = 2, NP = 2 };

@ derivative-tools void f(double t, const double *y, const double *p, double *out);

@ derivative-tools extern int enzyme_dup, enzyme_const;

costate_map of(void);
costate_map of(void) { return (costate_map){.tangent = tangent}; }
