/* shell.c - products with sigma M - J, computed from the derivatives of the problem, and a shell matrix (MatShell) of
   PETSc that multiplies with them.

   For a residual F(t, y, y', p), the product (sigma F_y' + F_y) x is the tangent of F along dy = x, dy' = sigma x.  The
   product with the transpose is the gradient with respect to y plus sigma times the gradient with respect to y'. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "petsc/petsc.h"

static const costate_map *map_of(const costate_petsc *c)
{
    return c->P.residual.value ? &c->P.residual : &c->P.rhs;
}

int shell_possible(costate_petsc *c, int transpose, const char *who)
{
    const costate_map *f = map_of(c);
    char sentence[200];
    const char *lacks = f->prepare                                ? "products without prepare"
                      : transpose && !f->adjoint && !f->adjoints  ? "adjoint"
                      : !transpose && !f->tangent && !f->tangents ? "tangent"
                                                                  : NULL;
    if (!lacks) return 0;
    snprintf(sentence, sizeof sentence, "%s: %s.%s missing.", who, c->P.residual.value ? "residual" : "rhs",
             f->prepare ? "prepare is there, products without it are" : lacks);
    return petsc_fail(c, sentence);
}

int shell_mass(costate_petsc *c)
{
    size_t n = (size_t)c->P.n, entries = c->P.pattern ? (size_t)c->P.pattern->col[n] : n * n;
    if (!c->P.mass || c->M) return 0;
    if (!(c->M = calloc(entries + 1, sizeof *c->M))) return petsc_fail(c, "No memory for M.");
    return c->P.mass(c->M, c->P.ctx);
}

/* out += factor M x or M^T x */
static void add_mass(const costate_petsc *c, int transpose, double factor, const double *x, double *out)
{
    const costate_pattern *S = c->P.pattern;
    int n = c->P.n;
    for (int j = 0; j < n; j++) {
        if (!c->M) { out[j] += factor * x[j]; continue; }
        size_t first = S ? (size_t)S->col[j] : (size_t)j * (size_t)n;
        size_t end = S ? (size_t)S->col[j + 1] : first + (size_t)n;
        for (size_t k = first; k < end; k++) {
            int i = S ? S->row[k] : (int)(k - first);
            if (transpose) out[j] += factor * c->M[k] * x[i];
            else out[i] += factor * c->M[k] * x[j];
        }
    }
}

static int along(const costate_petsc *c, const double *x, double *out)
{
    const costate_map *f = map_of(c);
    size_t n = (size_t)c->P.n;
    costate_point dx = {.y = x};
    if (c->P.residual.value) {
        for (size_t i = 0; i < n; i++) c->scaled[i] = c->sigma * x[i];
        dx.yp = c->scaled;
    }
    TRY(f->tangent ? f->tangent(&c->x, &dx, out, c->P.ctx) : f->tangents(&c->x, 1, &dx, out, c->P.ctx));
    if (c->P.residual.value) return 0;
    for (size_t i = 0; i < n; i++) out[i] = -out[i];
    add_mass(c, 0, c->sigma, x, out);
    return 0;
}

static int against(const costate_petsc *c, const double *w, double *out)
{
    const costate_map *f = map_of(c);
    size_t n = (size_t)c->P.n;
    int residual = c->P.residual.value != NULL;
    costate_gradient g = {.y = out, .yp = residual ? c->scaled : NULL};
    memset(out, 0, n * sizeof *out);
    if (residual) memset(c->scaled, 0, n * sizeof *c->scaled);
    TRY(f->adjoint ? f->adjoint(&c->x, w, &g, c->P.ctx) : f->adjoints(&c->x, 1, w, &g, c->P.ctx));
    for (size_t i = 0; i < n; i++) out[i] = residual ? out[i] + c->sigma * c->scaled[i] : -out[i];
    if (!residual) add_mass(c, 1, c->sigma, w, out);
    return 0;
}

int shell_product(costate_petsc *c, int transpose, const double *x, double *out)
{
    return transpose ? against(c, x, out) : along(c, x, out);
}

/* A process whose product fails must stay in KSP with the others.  It sets its part of the result to NaN, which all
   processes find in the next norm, and keeps the status for the end of the solution. */
static PetscErrorCode multiply(Mat shell, Vec x, Vec y, int transpose)
{
    costate_petsc *c;
    const double *in;
    double *out;
    PetscErrorCode code = MatShellGetContext(shell, &c);
    if (code || (code = VecGetArrayRead(x, &in)) || (code = VecGetArray(y, &out))) return code;
    int failed = shell_product(c, transpose, in, out);
    for (int i = 0; failed && i < c->P.n; i++) out[i] = NAN;
    if (failed && !c->trouble) c->trouble = failed;
    code = VecRestoreArray(y, &out);
    return code ? code : VecRestoreArrayRead(x, &in);
}

static PetscErrorCode times(Mat shell, Vec x, Vec y) { return multiply(shell, x, y, 0); }
static PetscErrorCode times_transposed(Mat shell, Vec x, Vec y) { return multiply(shell, x, y, 1); }

int shell_make(costate_petsc *c, MPI_Comm comm)
{
    PetscInt n = c->P.n;
    ASK(MatCreateShell(comm, n, n, PETSC_DETERMINE, PETSC_DETERMINE, c, &c->shell));
    ASK(MatShellSetOperation(c->shell, MATOP_MULT, (void (*)(void))times));
    ASK(MatShellSetOperation(c->shell, MATOP_MULT_TRANSPOSE, (void (*)(void))times_transposed));
    ASK(MatAssemblyBegin(c->shell, MAT_FINAL_ASSEMBLY));
    return -(int)MatAssemblyEnd(c->shell, MAT_FINAL_ASSEMBLY);
}
