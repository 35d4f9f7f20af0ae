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
/* Newton's iteration and stage systems: the families that share src/irk, and composite methods with only such members
   */
int is_newton(const costate_method *);
int is_composite(const costate_method *);
/* Where nothing is stiff: do explicit stages take the steps?  Those of the method, or of its first member. */
int begins_explicit(const costate_method *);
/* options.members that leaves a composite method its members with Newton's iteration; NULL: it has no members.  Valid
   until the next call. */
const char *newton_members(const costate_method *);
/* the first member of a composite method with Newton's iteration; another method itself */
const costate_method *newton_member(const costate_method *);
/* Does the method take this kind of mass matrix?  Those of the problems couple states. */
int method_takes(const costate_method *, int mass);
int takes_diagonal_mass_only(const costate_method *);

#endif
