/* traits.h - what tests over all methods must know of a method. */
#ifndef TESTS_TRAITS_H
#define TESTS_TRAITS_H

#include <costate/costate.h>

/* No Jacobian, no linear solver */
int is_explicit(const costate_method *);
/* Stiff problems are not for explicit methods, but for stabilised ones: those with eigenvalues near the negative real
   axis and rho T up to about 1e6. */
int is_stabilised(const costate_method *);
int takes_stiff(const costate_method *);
/* Newton's iteration and stage systems: the families that share src/irk */
int is_newton(const costate_method *);
/* Does the method take this kind of mass matrix?  Those of the problems couple states. */
int method_takes(const costate_method *, int mass);
int takes_diagonal_mass_only(const costate_method *);

#endif
