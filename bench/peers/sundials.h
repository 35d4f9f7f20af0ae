/* sundials.h - what the codes of SUNDIALS share: linear solvers as the task asks for them, laps, names. */
#ifndef BENCH_SUNDIALS_H
#define BENCH_SUNDIALS_H

#include <nvector/nvector_serial.h>
#include <sundials/sundials_linearsolver.h>

#include "ilu0.h"
#include "peer.h"
#include "precondition.h"

enum { SUN_MAX_STEPS = 10000000, SUN_OWN_STATUS = -100, SUN_MESSAGE = 256 };

/* One direction of time: what an integrator holds for it. */
typedef struct {
    SUNMatrix A;                 /* NULL: without a matrix */
    SUNLinearSolver S;
} sun_algebra;

static inline double *sun_values(N_Vector v) { return N_VGetArrayPointer(v); }

static inline double sun_adjoint_atol(const race_task *task)
{
    return task->atol * (task->adjoint_atol > 0 ? task->adjoint_atol : 1);
}

/* What the data of a code of SUNDIALS begin with. */
typedef struct {
    ride of;
    const costate_problem *P;
    char said[SUN_MESSAGE];      /* its last message */
    SUNContext context;
    SUNLinearSolver shared;      /* umfpack: whose analysis is shared by all runs */
    sun_algebra forward, backward;
    double *J;                   /* values in the pattern, or of all entries */
    ilu0 *preconditioner;        /* --ilu: of one direction after the other */
    precondition *matrix;        /* --precondition: likewise */
    int checkpoint_steps;        /* adjoint: one checkpoint in so many steps */
    int which;                   /* the backward problem */
} sun_rider;

/* How a code goes forward (back 0), and back; calls return statuses of its own, below 0: failed. */
typedef struct {
    const char *failed;          /* what to say where the code itself said nothing */
    int (*prepare)(void *rider, int back);       /* make what it holds, or as before the first run */
    int (*solve)(void *rider, int back);
    void (*count)(void *rider, int back);
    void (*free)(void *rider);   /* what prepare made */
} sun_code;

/* functional: without a linear solver; matrices: so many of J.  Both: 0, or what race_fail did */
int sun_open(sun_rider *, int functional, int matrices);
/* Adjoint: the steps are counted by a plain run, so that one checkpoint does, and nothing is computed twice. */
int sun_count_steps(sun_rider *, const sun_code *);
int sun_run(sun_rider *, const sun_code *, race_lap *);
int sun_status(sun_rider *, const char *failed, int status);
void sun_close(sun_rider *);
void sun_keep_message(int code, const char *module, const char *function, char *message, void *rider);
void sun_taped(sun_rider *, int vectors);          /* bytes of a tape of so many vectors a step */
/* counters of a code: steps, failed error tests, failed solves, Newton's iterations, setups, Krylov's */
void sun_count(sun_rider *, long steps, long rejected, long failures, long newton, long setups, long krylov);

int sun_preconditioned(const race_task *);
/* type: CSC_MAT, or CSR_MAT for the transpose.  0, or 1: failed */
int sun_algebra_new(sun_rider *, N_Vector like, int type, sun_algebra *);
void sun_algebra_free(sun_algebra *);
/* A, sparse, banded or dense, from values in the pattern, or of all entries; transposed: A is the transpose */
void sun_put_pattern(const costate_pattern *, SUNMatrix A);
void sun_put(const costate_problem *, const double *values, int transposed, SUNMatrix A);

#endif
