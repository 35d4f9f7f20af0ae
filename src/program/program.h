/* program.h - a program of byte code in memory: the maps of a problem as routines on numbered registers. */
#ifndef COSTATE_PROGRAM_PROGRAM_H
#define COSTATE_PROGRAM_PROGRAM_H

#include <stdatomic.h>
#include <stdint.h>
#include <costate/linsol.h>
#include <costate/program.h>
#include "base/verdict.h"

/* products of a map, in their order in the file */
enum product { VALUE, TANGENT, ADJOINT, TANGENT2, ADJOINT_TANGENT, TANGENTS, ADJOINTS, ADJOINT_TANGENT2, PRODUCTS };
/* what routines load: components of the point, of its directions d and e, and weights */
enum space { LOAD_T, LOAD_Y, LOAD_YP, LOAD_P, LOAD_M, LOAD_MODE, LOAD_RELATION, LOAD_DT, LOAD_DY, LOAD_DYP, LOAD_DP,
             LOAD_DM, LOAD_ET, LOAD_EY, LOAD_EYP, LOAD_EP, LOAD_EM, LOAD_W, SPACES };
/* which gradient a part of a routine serves */
enum guard { ALWAYS, OF_T, OF_Y, OF_YP, OF_P, OF_M, GUARDS };
/* directions that are not zero in general, bits */
enum { OTHER_T = 1, OTHER_P = 2, OTHER_M = 4 };

/* `count` times (space, first, number): these values of a space go into the next registers */
typedef struct { int count; const int32_t *of; } loads;

/* results: registers in the order of the values, or pairs (index, register) of a gradient */
/* products: x y^T that are added to the gradient, each OUTER_RESULT numbers */
enum { OUTER_RESULT = 10 };
typedef struct {
    int guard, words, results, products;
    const uint16_t *code, *result, *product;
} part;

typedef struct {
    int registers, constants;
    const double *constant;
    loads point, column;                    /* loaded once, and for each column */
    const uint16_t *code;                   /* shared by all columns: `words` numbers */
    int words, parts;
    part *part;
} routine;

typedef struct {
    routine *all;                           /* NULL: this product is missing */
    routine *states;                        /* of directions in states alone, or NULL */
    int others;                             /* that are zero there: OTHER_T, ... */
} versions;

typedef struct {
    int values;
    versions product[PRODUCTS];
} map_routines;

/* What the callbacks of a problem, an event or a relation have as ctx. */
enum { SLOT_0, SLOT_1, SLOT_2, SLOT_3, SLOTS };
enum { RHS = SLOT_0, COST, START, OUTPUT, GUARD = SLOT_0, JUMP, EVENT_COST };
typedef struct {
    struct costate_program *program;
    map_routines map[SLOTS];
} unit;

/* The linear solver of a model, codegen/equations/elimination.py: Gaussian elimination in the pattern of sigma M - J.
   Steps are lists of integers: (pivot, place, terms) of a factorisation, (k, x, pivot, terms) of a solution.  Terms are
   their number and pairs. */
typedef struct {
    costate_backend backend;                /* the first member: init gets it */
    struct costate_program *program;
    int n, entries;                         /* of L and U together; 0: there is none */
    const int32_t *col, *row;
    const int32_t *factor, *forward[2], *backward[2];       /* of L U x = b, and of the transposed system */
} elimination;

typedef struct idle { struct idle *next; double registers[]; } idle;

struct costate_program {
    verdict v;
    int outputs, implicit;
    costate_problem problem;
    costate_map start, output;
    unit unit;                              /* of the problem; events and relations have their own */
    routine jac, jac_yp;
    int entries, masses;                    /* of the Jacobian in memory; of M that are not zero */
    const int32_t *mass_place;
    const double *mass, *defaults;
    costate_pattern pattern;
    elimination elimination;
    struct owned *owned;                    /* blocks of memory, among them a copy of the bytes */
    int most;                               /* registers of the largest routine */
    atomic_int uses;                        /* its owner, and factorisations by its linear solver */
    atomic_flag busy;                       /* while the list of idle registers is changed */
    idle *idle;                             /* registers that no call uses */
};

/* compute.c */
void compute(const uint16_t *code, int words, double *restrict registers);
int operands(int operation);                /* their number; 0: there is none, or it is one of arrays */

/* arrays.c */
void array_times(const uint16_t *numbers, double *registers);
void array_outer(const uint16_t *numbers, double *registers);
void array_add_outer(const uint16_t *numbers, const double *registers, double *restrict to);

/* call.c */
typedef struct {
    const costate_point *x, *dx, *ex;
    const double *w;
    double *out;                            /* of products without weights */
    const costate_gradient *g;
    int count, values;                      /* columns; values of the map */
} call;
int call_routine(const routine *, struct costate_program *, const call *);
void call_free(struct costate_program *);       /* the registers that no call uses */

/* maps.c */
costate_map map_of(const map_routines *, int slot);
int program_jac(const costate_point *, double *J, void *ctx);
int program_jac_yp(const costate_point *, double *J, void *ctx);
int program_mass(double *M, void *ctx);

/* eliminate.c: real numbers, or pairs (re, im); y: 2 n, work */
enum { MOST_ROWS = 200 };                   /* codegen/equations/elimination.py: MOST_ROWS */
typedef struct { double re, im; } number;
int factor_real(const elimination *, const double *A, double *LU);           /* whether it may be used */
int factor_complex(const elimination *, const number *A, number *LU);
void solve_real(const elimination *, int transposed, const double *LU, double *x);
void solve_complex(const elimination *, int transposed, const number *LU, number *x);

/* memory.c */
void *program_own(struct costate_program *, size_t count, size_t size);      /* zeros, which the program frees */
void program_release(struct costate_program *);     /* frees it after the last use */

/* solver.c */
costate_backend elimination_backend(void);

/* read.c */
int program_read(struct costate_program *, const void *bytes, size_t size);

/* valid.c: whether a routine only touches what there is, and reads no register before it is written */
typedef struct {
    int values;                             /* results of the map, or entries of the matrix */
    int slopes;                             /* y' is there */
    int first, second;                      /* so are directions d, and e */
    int backward;                           /* weights and a gradient instead of values */
} purpose;
int routine_valid(struct costate_program *, const routine *, const purpose *, int *no_memory);

#endif
