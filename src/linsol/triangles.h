/* triangles.h - the factors P R A Q = L U of a sparse code, for many right-hand sides at once. */
#ifndef COSTATE_TRIANGLES_H
#define COSTATE_TRIANGLES_H

#include <stddef.h>

typedef struct {
    int n, parts;                 /* doubles a number: 1, or 2 when complex */
    int *Lp, *Lj, *Up, *Ui;       /* L by rows, unit diagonal stored last; U by columns, diagonal last */
    double *Lx, *Ux;
    int *P, *Q;                   /* P[k], Q[k]: row and column of A of pivot k */
    double *R;                    /* n: the rows' scales, indexed by the rows of A */
    double *Y;                    /* n * TRIANGLES_TOGETHER */
} LS_triangles;

enum { TRIANGLES_TOGETHER = 12 };    /* doubles next to each other: six complex numbers */

int LS_triangles_init(LS_triangles *, int n, int is_complex, int lnz, int unz);     /* COSTATE_LS_... ; room for them */
void LS_triangles_ready(LS_triangles *);                             /* once they are there, scales and all */
void LS_triangles_free(LS_triangles *);                              /* leaves it empty; empty is fine */
void LS_triangles_solve(const LS_triangles *, int transpose, int nrhs, double *X);
size_t LS_triangles_bytes(const LS_triangles *);

#endif
