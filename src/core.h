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
#include "linsol/ls.h"

enum which { RHS, COST };

typedef struct { double *X; unsigned char *its; } place;  /* where forward writes a step's stages and Newton counts */

typedef struct {                /* one step: what the tape keeps */
    double t, h, end;           /* end: t of the next step, t + h but for the rounding of time (integrate.c) */
    int jstep;                  /* irk: the step at whose start the Jacobian was formed */
    int started;                /* forward only: stage 1 of erk, f(t,y) of irk are there already (a retry) */
    const double *y;            /* N: state at t */
    const double *X;            /* s*n: stages; NULL on a states-only tape */
    const unsigned char *its;   /* irk: Newton iterations, one a block */
    struct factors *kept;       /* the step's factorisations, when the tape keeps them, or NULL */
    place to;                   /* forward only; a step on a tape has none: sweeps read it, perhaps several at once */
} record;

typedef struct factors {        /* (eig_k/h) M - J for the real eigenvalues, then the pairs; shared by reference */
    int refs;
    double h;                   /* 0: none yet */
    int jstep;                  /* the step whose Jacobian is in them */
    double t, *y;               /* matrix-free: where J is taken; y: n */
    int nreal, npair;
    LS *lu[];
} factors;

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


typedef struct family {
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
    int singular;               /* M is singular */
    int differenced;            /* J comes from differences: 1 */

    /* this run */
    const double *p;
    double from, until, dir, hmin, hmax;
    int cautious;               /* first step, or the last one was rejected */
    identity *self;
    long stamp;                 /* runs and sweeps so far: what is held belongs to the last */
    int predict;                /* starting values of Newton from the step before */
    const costate_tape *replay; /* steps are prescribed; index in at */
    int repeat;                 /* 1: with them the numbers of Newton iterations */
    int at;                     /* index of the step */
    int jheld;                  /* step whose Jacobian is in J; -1: none */
    int most_newton;            /* most iterations of a block in the last step tried; 0: no Newton */
    ending ended;
    double *clock;              /* progress.c: 4 */
    double theta, eta;          /* Newton: last contraction; estimate theta/(1 - theta) */

    /* linear algebra */
    const costate_backend *backend;
    factors *fac;               /* of the step */
    LS *lm;                     /* M alone (erk with M; regularity) */
    LS *ld;                     /* stage matrices of the direct option */
    double *J, *J2, *M;         /* nnz: the step's, of a product, M (NULL: identity).  matrix-free: J is the point (n)
                                   where it is taken */
    int matfree;                /* GMRES on products, see matfree.c */
    LS *ilu;                    /* its preconditioner, if options.ilu */
    double jt, *gwork, *gw, *gb, *gr;
    size_t nnz;
    int *color, ncolor;         /* of columns, for forming J by products */
    double filled;              /* part of a large dense J that was not zero when first formed; 0: not counted yet */
    int held;                   /* the pattern has been seen to hold a J so formed */
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
    double *pz, *pw;            /* maps.c: n + np zeros at rest; the differences' work space */
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

/* maps.c: callbacks counted, their codes turned into 0, RETRY or a status, missing ones formed */
int map_value(costate *, enum which, double t, const double *y, double *out);
int map_jac(costate *, const costate_point *, double *J);
int map_tangent(costate *, enum which, const costate_point *x, const costate_point *dx, double *out);
int map_adjoint(costate *, enum which, const costate_point *x, const double *w, const costate_gradient *g);
int map_tangent2(costate *, enum which, const costate_point *x, const costate_point *a, const costate_point *b, double *out);
int map_adjoint_tangent(costate *, enum which, const costate_point *x, const costate_point *dx, const double *w,
                        const costate_gradient *g);
enum mode { FORWARD, TANGENT, ADJOINT };
int maps_available(costate *, enum mode, int with_p, int with_t);   /* COSTATE_OK or COSTATE_MISSING */

/* jacobian.c */
int colour(const costate_pattern *, int *color);                    /* of each column; how many, -1: no memory */
int jacobian_prepare(costate *);                                    /* colours the pattern when jac is missing */
int jacobian(costate *, double t, const double *y, double *J);
void mass_multiply(const costate *, int transpose, double a, int m, const double *x, double *y);  /* y += a M x */
void mass_apply(costate *, double *x);                              /* x <- M x; uses v1 */

/* missing.c: entries of J = f_y that its pattern leaves out */
typedef struct {
    const costate_pattern *pattern;
    int (*product)(void *ctx, const double *v, double *out);        /* f_y v; 0, or a code that is passed on */
    void *ctx;
    const double *size, *noise;          /* n: of y; what a product may be wrong by, NULL: nothing */
    double least;                        /* parts of a row up to this are taken for errors of the products */
    double *work;                        /* 4 n */
} pattern_probe;
typedef struct { int row, column; double value, part; } missing_entry;      /* row -1: none */
int missing_find(const pattern_probe *, const double *J, unsigned *seed, missing_entry *);

/* control.c */
void weights(const costate *, const double *y, double *w);
double error_norm(const costate *, const double *y, const double *y1, const double *err);  /* NaN: y1 not finite */
double next_factor(const costate *, const control *, double err, double h);
int first_step(costate *, double t0, double t1, const double *y, double *h);

/* irk/direct.c */
void kron_free(struct kron *);

/* irk/newton.c */
int newton(costate *, const record *, int block, double *Z, unsigned char *its, int fixed);

/* residual.c */
typedef struct {                                      /* of a solution x of A x = b, r = b - A x */
    int iterations, longest;                          /* of all cycles, of the longest */
    double residual;                                  /* |w r| / |w b| */
    double error, norm;                               /* backward errors: worst component, weighted norm */
} gmres_result;
#define EXACT_KRYLOV 1e-13     /* a larger krylov_tol asks for less than round-off */
/* An iteration need not do better in components below this part of the largest: measured, 1 leaves gaps of 1e-11 where
   weights are extreme, 0 doubles the iterations. */
#define ITERATED 1e-2
void residual_weights(const costate *, int transpose, int len, double *w);      /* n values again and again */
void moduli(size_t n, const double *b, double *size);                           /* size <- |b| */
void moduli_of_terms(size_t n, const double *b, const double *r, double *size); /* on entry T x of A = T - J */
/* sets error and norm; size: |A||x| + |b|; slack: 0, or ITERATED */
void backward_error(size_t n, const double *w, const double *size, const double *r, double slack, gmres_result *);
int at_round_off(double error);                       /* no correction would make it smaller */
double backward_stable(const costate *);              /* a norm up to this is as good as the condition of A allows */
int solved(const costate *, const gmres_result *, double tol);     /* residual <= tol, or backward stable */

/* gmres.c: A x = b, right-preconditioned, residual in the norm |w r| */
enum { GMRES_COLUMNS = 8 };                           /* at most, at a time */
typedef struct {
    int n, columns, limit;
    double tol;                                       /* |w (b - A x)| / |w b| asked for */
    const double *w;                                  /* n, multiplies residuals; largest about 1 */
    int (*apply)(void *, const double *x, double *out);
    int (*precondition)(void *, int m, double *X);    /* m columns in place */
    void (*backward_error)(void *, const double *b, const double *x, const double *r, gmres_result *);
                                                      /* sets error and norm; NULL: by norms, |A| as seen on the way */
    int believe;                                      /* 1: a cycle's own word for its residual will do */
    void *ctx;
    double *work;                                     /* gmres_work(n, columns, limit) */
} gmres_system;
size_t gmres_work(int n, int columns, int limit);
/* b, x: n by columns, two arrays.  Cycles until the residual is as asked, or at round-off, or falls no more; work: 2 n
   columns. What the callbacks return, else 0. */
int gmres(const gmres_system *, const double *b, double *x, double *work, gmres_result *);

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

/* matfree.c */
int matfree_prepare(costate *);                                     /* the incomplete factorisation, if asked for */
int matfree_setup(costate *, factors *, double h);
int matfree_solve(costate *, const factors *, int k, int transpose, int nrhs, double *X);
int matfree_precondition(costate *, int transpose, double *x);      /* the user's or the ILU, if any */
int matfree_preconditioned(const costate *);
int matfree_limit(void);
void matfree_layout(costate *, cursor *);

/* factors.c */
int factor(costate *, double h);                                    /* c->fac <- factorisations for J and h */
int factors_solve(costate *, const factors *, int k, int transpose, int nrhs, double *X);
int ls_failure(costate *, const costate_backend *, int code);       /* code < 0 as a status and a sentence */
factors *factors_new(costate *, const factors *like);
size_t factors_bytes(const factors *);
void factors_release(factors *);                                    /* NULL is fine */
double eigenvalue(const costate_method *, int k, double *im);       /* of lu[k]: real, then pairs */

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

/* check_run.c */
double check_random(unsigned *state);                               /* -1 .. 1 */

/* solver.c */
int derivatives_prepare(costate *, int m);
int begin(costate *);                                               /* each public call: c usable? clears the status */

struct costate_step { const costate *c; const record *r; };
#endif
