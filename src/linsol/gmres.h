/* gmres.h - A x = b, right-preconditioned, residual in the norm |w r|. */
#ifndef COSTATE_LINSOL_GMRES_H
#define COSTATE_LINSOL_GMRES_H

#include "linsol/residual.h"

enum { GMRES_COLUMNS = 12 };                           /* at most, at a time */

typedef struct {
    const space *space;
    int n, columns, limit;
    double tol;                                       /* |w (b - A x)| / |w b| asked for */
    const double *w;                                  /* n, multiplies residuals; largest about 1 */
    int (*apply)(void *, int m, const double *X, double *out);       /* m columns */
    int (*precondition)(void *, int m, double *X);    /* m columns in place */
    int (*backward_error)(void *, const double *b, const double *x, const double *r, gmres_result *);
                                                      /* sets error and norm; NULL: by norms, |A| as seen on the way */
    int guess;                                        /* 1: x holds a first guess on entry */
    int believe;                                      /* 1: a cycle's own word for its residual will do */
    void *ctx;
    double *left;                                     /* NULL, or n by columns: b - A x in the end, unless believed */
    double *work;                                     /* gmres_work(n, columns, limit) */
} gmres_system;

size_t gmres_work(int n, int columns, int limit);
/* b, x: n by columns, two arrays.  Cycles until the residual is as asked, or at round-off, or falls no more; work: 2 n
   columns.  What the callbacks return, else 0. */
int gmres(const gmres_system *, const double *b, double *x, double *work, gmres_result *);

#endif
