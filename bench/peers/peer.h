/* peer.h - the race: what to run, what came out, and what a code is that can be raced. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <costate/costate.h>
#include <stddef.h>

#include "ivp.h"
#include "json.h"
#include "measure.h"

/* y(t1); dy(t1)/dy_0(0); the gradient of ivp.h; costate: y(t1), onto a tape; costate, petsc: Hessian products along the
   directions of ivp.h, and the gradient with them; costate: the first of them by central differences of gradients */
enum race_mode { RACE_FORWARD, RACE_TLM, RACE_ADJ, RACE_TAPE, RACE_SECOND, RACE_DIFFERENCES };

typedef struct {
    const char *code;            /* costate:METHOD, cvodes:bdf|adams, idas:bdf, hairer:radau5|rodas, arkode:rkc2,
                                    lsoda:jacobian|differences, petsc:cn|rk4|rk3bs|... */
    const char *problem;
    int size, sparse;            /* as of ivp_new */
    int mode, directions;        /* tlm: unit vectors 0, 1, ...; second */
    int solver;                  /* enum costate_solver */
    double rtol, atol, tf;       /* atol, tf 0: the problem's */
    int repeat;                  /* median of so many runs or more, after one to warm up */
    double budget;               /* seconds after which no run is repeated */
    int steps;                   /* costs: of matrices as for so many steps */
    int pairs;                   /* costate: a plain forward run before each measured one */
    int sensitivity_error;       /* tlm: tangents enter the error norm */
    /* costate */
    int keep_factors, stage_solve, storage, derivative_mode;
    double krylov_tol;           /* 0: the default, round-off */
    double eps;                  /* differences: the step along the direction */
    int ilu;                     /* with gmres: SuperLU's incomplete LU; cvodes: ILU(0) */
    int ilu0;                    /* costate with gmres: the ILU(0) of cvodes */
    int precondition;            /* costate, cvodes with gmres; costate with the preconditioner as the matrix: enum of
                                    precondition.h */
    int cycles, sweeps;          /* of multigrid */
    /* cvodes, idas */
    int krylov;                  /* dimension of SPGMR's space; 0: its default, 5 */
    int lapack;                  /* dense systems by LAPACK, not by its own elimination */
    int colamd;                  /* KLU orders by COLAMD, not by AMD */
    int right;                   /* ILU(0) on the right side of the matrix, not on the left */
    double adjoint_atol;         /* factor of atol in the adjoint; 0: 1 */
    int simultaneous;            /* cvodes: sensitivities are solved for together with the states, not after them */
    int polynomial;              /* the forward run is interpolated by polynomials, not by Hermite's */
    int suppress;                /* idas: algebraic unknowns stay out of its error test */
    const char *petsc;           /* petsc: its options */
} race_task;

enum { RACE_REPEATS = 101 };

typedef struct { double forward, backward, plain; } race_lap;   /* seconds */

typedef struct {
    int status;                  /* 0, or a costate_status; cvodes, idas: -100 and less is their own */
    char message[512];
    char solver[32];             /* the linear solver in use */
    costate_stats stats;         /* counters of one run */
    int laps;
    race_lap lap[RACE_REPEATS];
    double *y, *derivative;      /* y(t1); the first tangent or product, or the gradient by y(0), NULL if forward:
                                    ivp_length, and np more, 0 but for what is by p; race_result_free */
} race_result;

int race_fail(race_result *, int status, const char *message);
void race_result_free(race_result *);

/* ---- codes ------------------------------------------------------------------------------------------------------ */

/* What each code's own data begin with. */
typedef struct {
    race_task task;              /* a copy: a code may choose what was left to it */
    const ivp *b;
    race_result *r;              /* y and derivative are there, zero */
    costate_stats count;         /* of this run */
} ride;

/* A code is a file that fills in one of these, whatever the problem.  Its calls return 0, or what race_fail did. */
typedef struct peer peer;
struct peer {
    size_t size;                 /* of its data, which begin with a ride; zero before open */
    int any_mode;                /* 0: it has none beyond RACE_ADJ */
    int implicit;                /* 0: it is for y' = f alone */
    const peer *events;          /* what runs in its place where the problem has events; NULL: itself */
    int (*open)(void *ride);     /* whether it can do the task, r->solver, and what runs share */
    int (*run)(void *ride, race_lap *);      /* what is not solving is not timed */
    void (*keep)(void *ride);    /* results, after the last run; NULL: run has left them in r */
    void (*close)(void *ride);   /* also after an open that failed */
};
extern const peer peer_costate, peer_cvodes, peer_cvodes_events, peer_idas, peer_hairer, peer_lsoda,
                  peer_arkode, peer_petsc;

/* The task by the code that its name begins with; a status also where that was not built in. */
int race_by(const race_task *, const ivp *, race_result *);

/* ---- beside the race -------------------------------------------------------------------------------------------- */

/* Best times of what the codes are made of, callbacks and a linear solver's calls: seconds; null: not there. */
int race_measure_costs(const race_task *, const ivp *, json *);

/* A reference file (reference.h): y, the tangent by y_0(0) or, in mode second, the Hessian product, the gradient. */
int race_reference_make(const race_task *, const ivp *, const char *file, race_result *);

#endif
