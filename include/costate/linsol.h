/* linsol.h - the contract of a linear solver: a user's backend is this struct of functions.

   costate forms A = (re + i im) M - J once for all backends, in the layout that a backend asks for, and calls

       init   once: allocate, analyse the pattern
       factor A again and again: the pattern never changes
       solve  A X = B or A^T X = B (transposed, never conjugated), nrhs columns of n, in place
       free

   Complex numbers are stored as pairs (re, im).  All functions but free return 0 for success, > 0 for a matrix
   that is singular to working precision (costate retries with a smaller step), < 0 for a failure such as no
   memory (COSTATE_LS_NO_MEMORY) or a matrix it cannot take (COSTATE_LS_UNSUPPORTED). */
#ifndef COSTATE_LINSOL_H
#define COSTATE_LINSOL_H

#include <costate/costate.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { COSTATE_LS_OK = 0, COSTATE_LS_SINGULAR = 1, COSTATE_LS_NO_MEMORY = -1, COSTATE_LS_UNSUPPORTED = -2,
       COSTATE_LS_FAILED = -3 };

typedef struct costate_backend {
    const char *name;
    int dense;            /* 1: init gets pattern NULL and factor gets n*n values by columns */
    int (*init)(void **self, int n, const costate_pattern *pattern, int is_complex, const void *like);
        /* *self: the backend's own object.  pattern lives as long as self.  like: NULL, or another object of the
           same backend, n, pattern and arithmetic, whose analysis may be shared or copied (it may be freed first) */
    int (*factor)(void *self, const double *A);
        /* A: values in the pattern (or n*n by columns); real or (re, im) pairs.  A is not kept */
    int (*solve)(void *self, int transpose, int nrhs, double *X);
    size_t (*bytes)(const void *self);      /* memory held by the last factor; NULL: unknown */
    void (*free)(void *self);               /* takes what init made, in any state; after a failed init it is called if
                                               *self is not NULL */
} costate_backend;

/* The built-in ones by name: "dense", "band", "umfpack", "superlu", "klu"; and "ilu", real, which solves only nearly.
   NULL when not built in.  "superlu" and "ilu" end the process without memory, see costate.h. */
const costate_backend *costate_backend_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
