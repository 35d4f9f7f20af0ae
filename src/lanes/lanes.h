/* lanes.h - members of an ensemble side by side: their clocks, the step at hand, the tape, and the code for L lanes.

   Arrays hold L members, component by component: y[i*L + lane].  The files that include code.h are compiled once for
   each L, with instructions whose registers hold L numbers; the others do not depend on it. */
#ifndef COSTATE_LANES_ROOM_H
#define COSTATE_LANES_ROOM_H

#include <stdint.h>
#include <costate/lanes.h>
#include "lanes/members.h"
#include "linsol/layout.h"
#include "solver/run_state.h"

enum { LANES_MOST = COSTATE_LANES_MOST };

typedef struct lane_code lane_code;
typedef struct lane_steps lane_steps;

/* Of each lane: as `run` and `control` of a run alone.  Flags are 0 or 1, as wide as the numbers. */
typedef struct {
    _Alignas(64) double t[LANES_MOST];
    double low[LANES_MOST], t1[LANES_MOST], dir[LANES_MOST], hmin[LANES_MOST], hmax[LANES_MOST];
    double h[LANES_MOST], end[LANES_MOST], end_low[LANES_MOST];         /* of the step at hand */
    double h_free[LANES_MOST], h_old[LANES_MOST], log_old[LANES_MOST], err[LANES_MOST];
    int64_t rejected[LANES_MOST], cautious[LANES_MOST], small[LANES_MOST];
} lane_clock;

typedef struct {                        /* one step of all lanes, as the tape keeps it */
    double *t, *h, *end;                /* L each */
    double *y, *X;                      /* N, s*n by L: states at t; stages */
    double *V, *Xd;                     /* N*d, s*n*d by L, of Hessian products: tangents at t, and of the stages */
    int taken;                          /* bits of the lanes whose step counts */
    int begins, ends;                   /* bits of those lanes whose member begins, or ends, here */
    int *member;                        /* L: places of the members in the chunk */
} lane_record;

typedef struct {                        /* matrix.c: E = sigma I - J of all lanes, factored */
    int printed;                        /* by the functions of the maps; else densely, with pivots */
    int entries;                        /* of J */
    size_t size;                        /* numbers of E */
    int *at;                            /* the place in E of each entry of J; NULL: its own number */
    int *diagonal, *of_J;               /* n: their places in E, and in J, where -1: none */
    double *J, *A, *LU, *sigma;         /* entries, size, size or maps->entries, 1 by L */
    int64_t *pivot;                     /* dense: n by L */
    int apart;                          /* bits of the lanes whose matrix the backend has factored by itself */
    const costate_backend *backend;     /* that of a run alone */
    void *self[LANES_MOST];             /* its data, of each lane */
    double *one;                        /* one matrix, or one vector of each lane, for it */
    layout *lay;
} lane_matrix;

typedef struct {                        /* confirm.c: at the ends of steps */
    lane_matrix E;                      /* of the next steps */
    int whole;                          /* lanes are what they were when it was made */
    int of_J, of_E;                     /* bits of lanes whose next step has that J, and that E if its length is */
    double *h;                          /* L */
    double *raw, *change;               /* N by L */
} lane_after;

/* A chunk takes no more members when its tape has CHUNK_BYTES.  At the end of a chunk some lanes have no member: of 8
   lanes 6.0 have one with 1 MB (HIRES, rodas4, rtol 1e-6), 6.8 with 2 MB, 7.2 with 4 MB, 7.5 with 8 MB.  The sweeps
   read the tape in order, so that it need not stay in the cache. */
enum { CHUNK_MEMBERS = 256, CHUNK_BYTES = 1 << 23, SLAB_RECORDS = 32 };

typedef struct {                        /* a member at work */
    lane_member of;
    int alone;                          /* it is to be run alone */
    double *y, *V, *lambda, *mu;        /* its results */
    double *direct;                     /* np*k: direct gradients at the end, of jets */
    costate_stats count;
    char said[sizeof ((verdict *)0)->text];
} place_of_member;

typedef struct {                        /* the members whose gradients are computed together, and their tape */
    int count;                          /* members so far */
    place_of_member *place;             /* CHUNK_MEMBERS */
    long records;                       /* steps on the tape */
    int slabs, room;                    /* slabs of records; room for pointers to them */
    double **slab;
    size_t doubles;                     /* in a record */
} chunk;

typedef struct {                        /* work space of a step, by L; tried by the forward functions */
    double *y;                          /* N: the states before the step; now.y is this, or its copy on the tape */
    double *y1, *err;                   /* N, N: the states after it, the error estimates */
    double *K0;                         /* n: the first slope of each member's next step; NULL: not FSAL */
    double *Y, *v, *w, *r, *rq, *T;     /* n, N, n, nq, nq, 1: a stage; vectors; rates of integrals; its time */
    double *ft, *unit, *dt;             /* n, 1, 1: ros: f_t times unit (ros.h); the time of a direction */
} lane_step;

typedef struct {                        /* work space of derivatives, by L; 0 numbers if there are none */
    double *V, *V1, *Vp;                /* N*d, N*d, np*d: tangents before and after the step; of p */
    double *Xd;                         /* s*n*d: tangents of the stages; of jets on the tape */
    double *lambda, *mu;                /* N*k, np*k: adjoints by functional; mu NULL: not wanted */
    double *spare_mu;                   /* np*k: copy of mu, restored in lanes that skip the stage */
    double *kept_lambda, *kept_mu;      /* copies, restored in lanes whose step does not count */
    double *Yb, *U, *sum;               /* s*n*k, s*n*k, n*k: adjoints of stages, and of y */
    double *v0, *r0, *along;            /* n, nq, n: weights of the functional of a jet; a direction */
} lane_sweep;

typedef struct {                        /* observations of the functionals, on the way back (back.c) */
    int count;                          /* observations of a member, at most */
    int left[LANES_MOST];               /* of each lane: observations before the current step */
    int lanes;                          /* bits of lanes with observations in it */
    double *seeds, *sum;                /* s*n*k, n*k by L: adjoint seeds of the stages, and of y */
    double *X, *y, *w;                  /* s*n, n, n*k: stages, state and gradients of one lane */
    double *V, *Vt;                     /* of jets: N*d and s*n*d tangents of the step, n*d of the observed state */
} lane_observations;

typedef struct {                        /* tables of the method in the order in which lanes need them */
    double *At, *Ct;                    /* s*s: A and C by columns */
    const double *error_b;              /* s: bhat - b of ros */
    const unsigned char *extends;       /* s + 1: see ros.h */
    unsigned char used[STAGES_MOST];    /* explicit: stage i enters y+ or a later stage */
} lane_tableau;

/* Calls, by lane, since its member entered: counted where they are made, in the lanes of `of` (all bits set), as a run
   alone would count them. */
typedef struct {
    _Alignas(64) int64_t of[LANES_MOST];
    int64_t f[LANES_MOST], jac[LANES_MOST], decompositions[LANES_MOST], solves[LANES_MOST];
    int64_t tangents[LANES_MOST], tangents2[LANES_MOST];
    int64_t adjoints[LANES_MOST], adjoints2[LANES_MOST], adjoints3[LANES_MOST];
} lane_counts;

typedef struct {                        /* run.c, fill.c, leave.c: members on their way through the lanes */
    costate *solver[LANES_MOST];        /* of each lane: first steps, and limits of stability */
    run state[LANES_MOST];              /* of their runs */
    int at[LANES_MOST];                 /* the place of the lane's member in the chunk */
    long tries[LANES_MOST], accepted[LANES_MOST];
    int begins;                         /* bits of lanes whose member has no accepted step yet */
    int limited;                        /* steps may be limited by stability */
    int damps;                          /* remarks may be due on fast modes that gradients contain (run/damping.c) */
    chunk chunk;
    const lane_source *source;
    lane_use use;
    double *gathered;                   /* N: the state of one lane */
    void *block;                        /* the memory of all work space */
} lane_driver;

typedef struct batch {
    const lane_code *code;              /* for L lanes */
    const lane_steps *steps;            /* of these, those of the method's family */
    const costate_lane_maps *maps;
    const costate_method *m;
    const costate_options *o;
    void *ctx;                          /* of the problem */
    int n, np, nq, N, s;
    int d, k;                           /* directions and functionals of a member */
    int jet;                            /* Hessian products: d, for a jet (step.h) with k = 1 + d; else 0 */
    int active;                         /* bits of the lanes that have a member */
    law by;
    double *p;                          /* np by L */
    lane_clock clock;
    lane_record now;                    /* its X and scalars stand on the tape if there is one */
    lane_matrix E;                      /* of ros */
    lane_after after;
    lane_tableau tableau;
    lane_step step;
    lane_sweep sweep;
    lane_observations seen;
    lane_counts counts;
    lane_driver driver;
} batch;

/* Functions for L lanes.  Those that call maps return 0, or bits of lanes in which something went wrong, or < 0: in all
   of them. */
struct lane_steps {                     /* of one family */
    int (*forward)(batch *);
    int (*tangent)(batch *, const lane_record *, int again);    /* again: the matrices are made again */
    int (*adjoint)(batch *, const lane_record *);
    int (*confirm)(batch *, int fine);  /* the error norms by the matrices at the ends; fine: bits of lanes; or NULL */
};

struct lane_code {
    int lanes;
    lane_steps of[LANE_FAMILIES];       /* by family.lanes */
    void (*aim)(batch *);               /* the lengths and ends of the steps to try */
    int (*judge)(batch *);              /* the error norms; returns the bits of lanes with one that is finite */
    void (*propose)(batch *);           /* accepts or rejects, and proposes the next step */
    void (*take)(batch *, int taken);   /* y <- y1, V <- V1, K0 <- the last slope, of these lanes */
    void (*pick)(size_t count, int which, double *to, const double *from);    /* to <- from, of these lanes */
};

#endif
