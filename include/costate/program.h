/* program.h - models as programs: byte code that the library runs at once, without a compiler.

   costate-model writes the equations of a model as C, or with --program as a program.  A program is a block of bytes
   that holds the right-hand side, running costs, events, relations, outputs and initial values with all their
   derivatives, the Jacobian in its pattern and the mass matrix.  An interpreter in the library runs it:

       costate_program *program = costate_program_new(bytes, size);
       if (costate_program_status(program)) puts(costate_program_message(program));
       else s = costate_new(method, costate_program_problem(program), &options);

   Results have the bits of the same model compiled as C, with the same linear solver: one of the library's, or that of
   the model (NAME_backend of the C, and costate_program_backend).  A call takes several times as long as in C.

   For C and C++; there is no Fortran module. */
#ifndef COSTATE_PROGRAM_H
#define COSTATE_PROGRAM_H

#include <costate/costate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct costate_program costate_program;

/** A program from the `size` bytes at `bytes`, which are copied.  They are checked completely: a program that is
   accepted reads and writes only where a map of its problem may, whatever its bytes are.  NULL: no memory.  Otherwise
   free the program with costate_program_free, also if its status is not COSTATE_OK. */
costate_program *costate_program_new(const void *bytes, size_t size);
void costate_program_free(costate_program *);                       /**< accepts NULL */

/** COSTATE_OK; COSTATE_BAD_ARGUMENT: the bytes are no program, are damaged, or are of another version of costate-model;
   COSTATE_NO_MEMORY, which is also the status of NULL.  The message is a sentence that says why. */
int costate_program_status(const costate_program *);
const char *costate_program_message(const costate_program *);

/** The problem; NULL if the status is not COSTATE_OK.  It lives as long as the program.  Several threads may use it at
   the same time. */
const costate_problem *costate_program_problem(const costate_program *);

/** Initial values as a map of t and p: n states, nq running costs, nm memory variables; and the outputs of the model,
   which has `count` of them (count may be NULL).  Both are called with the ctx of the problem.  NULL if the status is
   not COSTATE_OK; of a model without outputs, NULL. */
const costate_map *costate_program_start(const costate_program *);
const costate_map *costate_program_outputs(const costate_program *, int *count);

/** The linear solver of a small model, for options.backend.  Solvers and tapes that used it may be freed after the
   program.  NULL: there is none. */
const struct costate_backend *costate_program_backend(const costate_program *);

/** np values of the parameters, as the model gives them; NaN where it does not.  NULL if there are none. */
const double *costate_program_defaults(const costate_program *);

#ifdef __cplusplus
}
#endif
#endif
