/* core.h - what the parts of the library know of each other: solver, record of a step, family, shared pieces.

   A family (erk; irk for sdirk and firk; ros) is a table of functions of one record, struct family; nothing else of
   it is visible outside.  Only the step loop (integrate.c) decides about steps; tangent and adjoint read what forward
   left in the record. */
#ifndef COSTATE_CORE_H
#define COSTATE_CORE_H

#include <stdatomic.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/larger.h"
#include "base/vec.h"
#include "base/verdict.h"
#include "step/method.h"
#include "linsol/shifts.h"
#include "maps/maps.h"


typedef struct { double *X; unsigned char *its; } place;  /* where forward writes a step's stages and Newton counts */

typedef struct {                /* one step: what the tape keeps */
    double t, h, end;           /* end: t of the next step, t + h but for the rounding of time (integrate.c) */
    long jacobian;              /* irk: serial of the linearisation that it was solved with */
    int started;                /* forward only: stage 1 of erk, f(t,y) of irk are there already (a retry) */
    const double *y;            /* N: state at t */
    const double *X;            /* s*n: stages; NULL on a states-only tape */
    const unsigned char *its;   /* irk: Newton iterations, one a block */
    struct factors *kept;       /* the step's factorisations, when the tape keeps them, or NULL */
    place to;                   /* forward only; a step on a tape has none: sweeps read it, perhaps several at once */
} record;

typedef struct {                /* m directions through a step */
    int m;
    const double *dt, *dh;      /* m each */
    const double *V;            /* N*m in */
    const double *Vp;           /* np*m, NULL: zero */
    double *V1;                 /* N*m out */
    double *Xd;                 /* s*m*n out: tangents of the stage variables (erk: of h K) */
} directions;

typedef struct {                /* m functionals back through a step */
    int m;
    int times;                  /* 1: t and h are wanted */
    double *lambda;             /* N*m in and out */
    double *mu;                 /* np*m, added to; NULL: not wanted */
    double *t, *h;              /* m each, set when times */
    double *defect;             /* m, added to; NULL: not wanted */
    const double *seed;         /* s*m*n adjoint of the stage variables (erk: of h K), or NULL */
} functionals;


enum mode { FORWARD, TANGENT, ADJOINT };
enum trait { IMPLICIT = 1,              /* solves with sigma M - J */
             REGULAR_MASS = 2 };        /* M must be regular */

typedef struct family {
    unsigned is;                                         /* enum trait */
    unsigned needs[3], costs[3];                         /* products of rhs and of cost, by mode */
    void (*layout)(costate *, cursor *);                 /* forward work space */
    void (*layout_derivatives)(costate *, cursor *, int m);
    int (*prepare)(costate *);                           /* linear solvers; once, in costate_new */
    void (*ready)(costate *);                            /* what needs the work space; may be NULL */
    int (*forward)(costate *, record *, const record *prev, double *y1, double *err);
    int (*tangent)(costate *, const record *, const directions *);
    int (*adjoint)(costate *, const record *, const functionals *);
    int (*tangent_estimate)(costate *, const record *, const directions *, int j, double *err);
} family;

int stage_estimate(costate *, const record *, const directions *, int j, double *err);   /* sum e_i X'_i: erk, ros */
int estimating(const costate *);                         /* will the estimate of this step be asked for? */

/* Singular M: an accepted step leaves a residual in the constraints, Newton's remainder, or more where the method is
   not stiffly accurate.  The stages of the next step remove it, and an estimate from the last state and these stages
   holds it, the same for every h: no step would be small enough.  Such an estimate is filtered once more, from M err:
   this is 0 on the kernel of M, where what was removed lies, and elsewhere the filter is 1 + O(h), so that the order
   stays.  A family says which of its estimates these are. */

extern const family erk_family, irk_family, ros_family;

/* Who wrote a tape.  The solver and its tapes hold it together, so its address does not come again while one of them
   lives; the address of a solver may.  Tapes may be freed in other threads. */
typedef struct { atomic_int refs; } identity;

struct costate_tape {
    const costate_method *method;
    costate_problem problem;
    int usable, storage, keep, predict, matfree;   /* usable: a run, or its steps up to where it ended */
    identity *writer;           /* who wrote it, and its run number */
    long stamp;
    int count, room;            /* steps; room in list */
    size_t limit, bytes, kept_bytes;
    double t0, t1;
    double *p, *end;            /* np; N state at t1 */
    record *list;
    struct block { struct block *next; size_t size, used; } *first, *last;
};

typedef struct { double err_old, h_old; int rejected, k; } control;    /* what controllers remember; k: of err ~ h^k */

typedef struct {                /* where the last run ended, for options.warm */
    int held;                   /* 0: there was none, or it failed */
    int linear;                 /* the matrices, and the step before, are kept, too */
    long stamp;                 /* of that run: another run or sweep uses their memory */
    double t, dir, h, low;      /* h: the step to try next, unsigned */
    control k;
    record prev;
    double *y, *p;              /* N, np */
} ending;

/* Work space of the forward step.  Arrays are n (N where said) unless noted. */
struct costate {
    const costate_method *m;
    const family *F;
    costate_problem P;
    costate_options o;
    costate_stats count;
    int n, np, nq, N, s;
    verdict v;
    maps maps;
    shifts sh;

    /* this run */
    double from, until, dir, hmin, hmax;
    int cautious;               /* first step, or the last one was rejected */
    identity *self;
    long stamp;                 /* runs and sweeps so far: what is held belongs to the last */
    int predict;                /* starting values of Newton from the step before */
    const costate_tape *replay; /* steps are prescribed; index in at */
    int repeat;                 /* 1: with them the numbers of Newton iterations */
    int at;                     /* index of the step */
    linearisation lin;          /* its serial: 1 + index of the step at whose start it was taken */
    int most_newton;            /* most iterations of a block in the last step tried; 0: no Newton */
    ending ended;
    double *clock;              /* progress.c: 4 */
    double theta, eta;          /* Newton: last contraction; estimate theta/(1 - theta) */

    /* linear algebra */
    factors *fac;               /* of the step */
    LS *ld;                     /* stage matrices of the direct option */
    double *J2;                 /* irk: entries, a Jacobian at a stage */
    struct kron *kron;          /* firk direct: its pattern and values, see irk/direct.c */
    const factors *pre;         /* preconditioner of the stage systems of this step */

    /* arrays */
    void *arena, *derivatives;
    int derivatives_m;
    double *y, *y1, *err;       /* N */
    double *w;                  /* N: 1/(atol + rtol |y|) at the start of the step */
    double *Y, *f0, *v1, *v2;
    double *r, *rq;             /* nq each */
    double *eb;                 /* s: bhat - b; eb0 for the explicit first stage */
    double eb0;
    place scratch[2];
    double *R, *Rz;             /* irk: block*n residuals; complex pairs 2n each */
    double *ft;                 /* ros: f_t */
    /* derivative work space: laid out by families, see layout_derivatives */
    double *dt, *dh;            /* m */
    double *Vb, *Xd;            /* N*m, s*m*n */
    double *tb, *hb;            /* m: adjoints of t and h */
    double *seed;               /* s*m*n: adjoint seeds of the stages */
    double *stage;              /* s*n: stage states Y_i */
    double *U, *Q;              /* family's own, see its layout_derivatives */
    double *obs, *sum;          /* n*m each */
    double *tau;                /* 3 m: adjoint of t; corrections by observations */
    double *krylov, *wk;        /* GMRES: work space, weights */
    costate_tape *own;          /* of costate_integrate_adj */
    int last_krylov;            /* most iterations of the last step's systems */
    int observing;              /* stage tangents are wanted for dense output */
};

/* status.c */
void no_error(costate *);

int maps_available(costate *, enum mode, int with_p, int with_t);   /* may this mode run?  0, or COSTATE_MISSING */

/* control.c */
void weights(const costate *, const double *y, double *w);
double error_norm(const costate *, const double *y, const double *y1, const double *err);  /* NaN: y1 not finite */
double next_factor(const costate *, const control *, double err, double h);
int first_step(costate *, double t0, double t1, const double *y, double *h);

/* irk/direct.c */
void kron_free(struct kron *);

/* irk/newton.c */
int newton(costate *, const record *, int block, double *Z, unsigned char *its, int fixed);

/* consistent.c */
int consistent(costate *, double t, double span);                   /* c->y at the start: COSTATE_INCONSISTENT? */

/* dense.c */
void dense_weights(const costate_method *, double theta, double *D, double *D1);   /* s each; D1 = dD/dtheta or NULL */
void dense_eval(const costate *, const record *, double t, double *y);

/* tape.c */
identity *identity_new(void);                                       /* NULL: no memory */
void identity_release(identity *);                                  /* NULL is fine */
int tape_start(costate *, costate_tape *, double t0, double t1);
record spare_record(const costate *, int k);                        /* of step k beside a tape: begins at c->y */
int tape_slot(costate *, costate_tape *, const double *y, record *);  /* the next record, its memory and state there */
void tape_commit(costate *, costate_tape *, const record *);
void tape_end(costate *, costate_tape *);                           /* the run is over: c->y, c->time are its end */
int tape_fits(costate *, const costate_tape *);                     /* COSTATE_OK or COSTATE_BAD_TAPE */
void forget(costate *);                                             /* what is held belongs to another run */
int tape_stages(costate *, const costate_tape *, int k, record *r); /* r: record k with its stages there */
void tape_clear(costate_tape *);

/* warm.c */
enum { COLD, WARM, WARM_WITH_MATRICES };
int warm(const costate *, double t0, double t1, const double *y, const double *p, const costate_tape *);
void warm_keep(costate *, double h, double low, const control *, const record *prev, const costate_tape *);


/* arguments.c */
int check_vector(costate *, const char *name, const double *x, size_t count);  /* there and finite */
int check_arguments(costate *, double t0, double t1, const double *y, const double *p);
int tangent_begin(costate *, int m, const double *V, const double *Vp, const costate_times *);
int adjoint_begin(costate *, int m, const double *lambda, const double *mu, const costate_times *);
void step_directions(costate *, int m, const costate_times *, int last);

/* options.c */
int options_fill(costate *);
void options_newton(costate *);     /* newton_tol, which follows the tolerances */

/* solver.c */
int derivatives_prepare(costate *, int m);
int begin(costate *);                                               /* each public call: c usable? clears the status */

struct costate_step { const costate *c; const record *r; };
#endif
