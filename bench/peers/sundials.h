/* sundials.h - what the codes of SUNDIALS share: linear solvers as the task asks for them, laps, names. */
#ifndef BENCH_SUNDIALS_H
#define BENCH_SUNDIALS_H

#include <nvector/nvector_serial.h>
#include <sundials/sundials_linearsolver.h>

#include "peer.h"

enum { SUN_MAX_STEPS = 10000000, SUN_OWN_STATUS = -100, SUN_MESSAGE = 256 };

/* One direction of time: what an integrator holds for it. */
typedef struct {
    SUNMatrix A;                 /* NULL: without a matrix */
    SUNLinearSolver S;
} sun_algebra;

typedef struct {
    const race_task *task;
    const costate_problem *P;
    SUNContext context;
    SUNLinearSolver shared;      /* umfpack: whose analysis is shared by all runs, or NULL */
    long *solves;                /* umfpack: counted here */
} sun_setting;

static inline double *sun_values(N_Vector v) { return N_VGetArrayPointer(v); }

/* Whether the task's linear solver fits the problem: 0, or r says why not; r->solver is its name. */
int sun_suited(const race_task *, const ivp *, race_result *);
/* type: CSC_MAT, or CSR_MAT for the transpose.  0, or 1: failed */
int sun_algebra_new(const sun_setting *, N_Vector like, int type, sun_algebra *);
void sun_algebra_free(sun_algebra *);
/* A, sparse or banded, from values in the pattern; transposed: A is the transpose */
void sun_put_pattern(const costate_pattern *, SUNMatrix A);
void sun_put(const costate_pattern *, const double *values, int transposed, SUNMatrix A);

/* A run of a code: what its rider begins with. */
typedef struct {
    char said[SUN_MESSAGE];      /* its last message: sun_keep_message */
    const race_task *task;
    const ivp *b;
    race_result *r;
    costate_stats count;         /* of this run */
    SUNContext context;
    int checkpoint_steps;        /* adjoint: one checkpoint in so many steps */
} sun_rider;

typedef struct {
    const char *failed;          /* what to say where the code itself said nothing */
    int (*run)(void *rider, race_lap *);         /* by the task's mode; < 0: failed */
    void (*keep)(void *rider);   /* results, after the last run */
    void (*free)(void *rider);   /* what runs made; the next one makes it again */
} sun_code;

/* Laps into r, and a status.  Adjoint: the steps are counted by a plain run, so that one checkpoint does, and nothing
   is computed twice. */
int sun_measure(sun_rider *, const sun_code *);
void sun_keep_message(int code, const char *module, const char *function, char *message, void *rider);

#endif
