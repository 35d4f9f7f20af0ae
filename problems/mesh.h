/* mesh.h - what the problems F(t, y, y', p) = 0 on square meshes share: five points, a pattern, F_y' of 0 and 1. */
#ifndef PROBLEMS_MESH_H
#define PROBLEMS_MESH_H

#include <costate/costate.h>

enum { MESH_ENTRIES = 6 };       /* of a row: four neighbours, itself, one other */

typedef struct {
    int side, n;
    double d;                    /* 1 over the square of the mesh width */
    double *y0, *work[2];        /* n; n each, with a side of zeros before and behind it */
    int *differential;           /* n: F_y' is the diagonal of these, 0 or 1 */
    int *place;                  /* MESH_ENTRIES a row: where its entries are among the values */
    costate_pattern S;
} mesh;

mesh *mesh_new(int side, int n);                      /* all zero; NULL: no memory */
void mesh_free(void *);
/* place: from the columns of the entries, -1: none, to where they are; equal columns of a row share an entry */
void mesh_build(mesh *);
int mesh_jac_yp(const costate_point *, double *J, void *ctx);       /* ctx: a mesh, or begins with one */

static inline double mesh_hill(double x, double y) { return 16 * x * (1 - x) * y * (1 - y); }

#endif
