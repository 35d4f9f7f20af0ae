/* linsol.h - the interface of a linear solver: a backend of your own is this struct of functions.

   costate forms A = (re + i im) M - J in the layout that the backend declares, and calls

       init   once: allocate, analyse the pattern
       factor for each new A: the pattern never changes
       solve  A X = B or A^T X = B (transposed, never conjugated), nrhs columns of n, in place
       free

   Complex numbers are stored as pairs (re, im).  All functions except free return 0 for success, > 0 if the matrix is
   singular to working precision (costate then retries with a smaller step), and < 0 for a failure such as lack of
   memory (COSTATE_LS_NO_MEMORY) or a kind of matrix that is not supported (COSTATE_LS_UNSUPPORTED). */
#ifndef COSTATE_LINSOL_H
#define COSTATE_LINSOL_H

#include <costate/costate.h>

#ifdef __cplusplus
extern "C" {
#endif

enum costate_ls_results { COSTATE_LS_OK = 0, COSTATE_LS_SINGULAR = 1, COSTATE_LS_NO_MEMORY = -1,
       COSTATE_LS_UNSUPPORTED = -2, COSTATE_LS_FAILED = -3 };

typedef struct costate_backend {
    const char *name;
    int dense;            /**< 1: init receives pattern NULL, and factor receives n*n values by columns */
    int (*init)(void **self, int n, const costate_pattern *pattern, int is_complex, const void *like);
        /**< *self: on entry the backend itself, which may be the first member of a larger struct; out: an object of the
             backend.  pattern lives as long as this object.  like: NULL, or another object of the same backend with the
             same n, pattern and arithmetic, whose analysis may be shared or copied (that object may be freed first) */
    int (*factor)(void *self, const double *A);
        /**< A: values in the pattern (or n*n by columns), real or (re, im) pairs; valid only during the call */
    int (*solve)(void *self, int transpose, int nrhs, double *X);
    size_t (*bytes)(const void *self);      /**< memory of the last factorisation; NULL: unknown */
    void (*free)(void *self);               /**< accepts an object in any state; after a failed init it is called if
                                                 *self is an object */
} costate_backend;

/** The built-in backends by name: "dense", "band", "sparse", "umfpack", "superlu", "klu"; and "ilu", an incomplete
   factorisation for real matrices.  NULL: not built in.  "superlu" and "ilu" may end the process if memory runs out,
   see costate.h. */
const costate_backend *costate_backend_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
