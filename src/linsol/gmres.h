/* gmres.h - A x = b, right-preconditioned, residual in the norm |w r|. */
#ifndef COSTATE_LINSOL_GMRES_H
#define COSTATE_LINSOL_GMRES_H

#include "linsol/residual.h"

enum { GMRES_COLUMNS = 12 };                           /* most columns solved together */

typedef struct {
    const space *space;
    int n, columns, limit;
    double tol;                                       /* required |w (b - A x)| / |w b| */
    const double *w;                                  /* n, multiplies residuals; largest about 1 */
    int (*apply)(void *, int m, const double *X, double *out);       /* m columns */
    int (*precondition)(void *, int m, double *X);    /* m columns in place */
    int (*backward_error)(void *, const double *b, const double *x, const double *r, gmres_result *);
                                                      /* sets error and norm; NULL: from norms, with |A| as observed */
    int guess;                                        /* 1: x holds a first guess on entry */
    int believe;                                      /* 1: the residual of the recurrence is accepted */
    void *ctx;
    double *left;                                     /* NULL, or n by columns: the final b - A x, unless `believe` */
    double *work;                                     /* gmres_work(n, columns, limit) */
} gmres_system;

size_t gmres_work(int n, int columns, int limit);
/* b, x: n by columns, two arrays.  Cycles until the residual meets tol, is at round-off or stagnates; work: 2 n
   columns.  Returns an error of a callback, else 0. */
int gmres(const gmres_system *, const double *b, double *x, double *work, gmres_result *);

#endif
