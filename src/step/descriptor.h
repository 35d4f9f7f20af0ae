/* descriptor.h - the descriptor of a method, as the code generator writes it from a coefficient file.

   Objects of methods that are loaded at run time contain this text (codegen/objects.py): it includes costate.h alone.

   One struct for all families; arrays that a family does not use are NULL.  X_j are the stage variables that
   the family computes and the tape stores:

       erk          X_j = K_j:  y+ = y + h sum_j d_j X_j,   est = h sum_j e_j X_j,  d = b, e = bhat - b
       sdirk, firk  X_j = Z_j:  y+ = y + sum_j d_j X_j,     est = h e0 f(t,y) + sum_j e_j X_j
                    (firk, c_1 = 0:  + h ex0 f(t + at h, u(at)) + sum_j ex_j X_j)
       ros          X_j = U_j:  y+ = y + sum_j d_j X_j,     est = sum_j e_j X_j,    d = m
       rkc          X_j as in rkc.h, for all degrees
       collocation  X_j = h K_j, K_j = f(t + c_j h, y + h sum_k a_jk K_k):  y+ = y + sum_j d_j X_j,  d = b

   dense output u(theta) = y + sum_j D_j(theta) X_j (erk: h X_j),  D_j(theta) = sum_k D[j*degree + k-1] theta^k.
   Matrices are stored by rows.

   collocation methods are only for boundary value problems.  Their stages are in K-form because A may be singular, as
   in Lobatto IIIA, whose first row is 0.  s counts all stages; there is no estimate; the members that need A^-1
   (W, T, Ti, eig) are NULL, and block is 0. */
#ifndef COSTATE_DESCRIPTOR_H
#define COSTATE_DESCRIPTOR_H

#include <costate/costate.h>

enum { STAGES_MOST = 32 };      /* the generator refuses more */

/* All degrees of a stabilised explicit method (rkc.h has the formulas). */
typedef struct {
    int degrees, r;             /* number of degrees; stages after the recurrence */
    const int *s;               /* degrees: evaluations of f per step, ascending */
    const int *first;           /* degrees + 1: the coefficients of j of the k-th degree are at first[k] + j - 1 */
    const double *beta;         /* degrees: stable where h rho <= beta */
    const double *noise;        /* degrees: independent errors of 1 in all stages change y+ by this, in the root mean
                                   square over the spectrum of a Laplacian with h rho = beta */
    const double *largest;      /* degrees: |R| from its first extremum to -beta */
    const double *mu, *nu, *mut, *eta, *gat, *c;      /* first[degrees]; eta, gat: NULL where all are 0 */
    const double *A, *b, *cr, *e;                     /* degrees * r(r-1)/2, degrees * r; NULL for r = 0 */
    const double *e1;           /* degrees */
    double ey, e0;
} costate_rkc;

typedef struct {                /* for documents and tests */
    const char *title, *source;
    double r_infinity;
    double rounding;            /* accuracy of the order conditions, given the digits of the table */
} method_facts;

typedef struct {                /* the error estimate, with its factor (codegen/scale.py) */
    int order;                  /* 0: there is none */
    const double *e;            /* s; NULL if none */
    const double *e2;           /* s: second estimate of lower order, err = |e|^2/sqrt(|e|^2 + 0.01 |e2|^2); or NULL */
    double e0;                  /* sdirk, firk: weight of h f(t,y) */
    double at, ex0;             /* est includes the defect of the dense output u at theta = at; ex0 0: it does not */
    const double *ex;           /* s: weights of that part, NULL if none */
    /* firk: estimate by one more SDIRK stage (mathematics, eq. 13.11),
       Zhat = h theta0 f(t,y) + sum theta_j Z_j + h gamma f(t+h, y+Zhat),  est = Zhat - sum d_j Z_j */
    const double *theta;        /* s; NULL if none */
    double theta0;
} method_estimate;

typedef struct {
    int order, degree;          /* of its polynomials */
    const double *D;            /* s*degree */
} method_dense;

/* A composite method (family COSTATE_COMPOSITE) has members, of which choice/rule.c chooses one at each step.  Those
   with explicit stages come before the stiff ones. */
typedef struct {
    const costate_method *method;
    int stiff;                  /* 0: explicit stages */
    int stabilised;             /* 1: explicit, for eigenvalues near the negative real axis (rkc) */
    int second;                 /* 1: only for problems that provide the second derivatives that its sweeps need */
    int splits;                 /* 1: a W-method, whose matrix is a preconditioner that splits: before all stiff ones,
                                   and only where there is one */
    double rtol;                /* of the explicit and of the stiff members, the first is taken of which this is at
                                   most options.rtol; 0: any */
    double rtol_cheap;          /* stiff: rtol where factorisations are cheap; 0: as rtol */
    double tighter, power;      /* its relative tolerance is tighter rtol^power, and atol changes by the same factor;
                                   both 1: those of the options */
    double real, settles;       /* explicit: the longest stable h rho on the negative real axis; where the error control
                                   settles there, as a part of it (codegen/composite/facts.py) */
    double waves;               /* explicit: the longest stable h rho on the imaginary axis */
} composite_member;

typedef struct {
    int count;
    double raises;              /* the order of the stiff members with tolerances of their own is raised where Newton's
                                   iteration contracts by less than this; 0: it stays */
    const composite_member *member;
} composite;

struct costate_method {
    const char *name;
    method_facts about;
    int family;                 /* enum costate_family */
    int s;                      /* stages; ESDIRK: unknown stages, the explicit first one not counted */
    int order;
    unsigned is;                /* enum costate_property */
    double gamma;               /* sdirk, ros: the diagonal; firk: 1/(real eigenvalue of A^-1), 0 if none */
    const double *A;            /* s*s: A of the (unknown) stages; ros: a = alpha Gamma^-1 */
    const double *b;            /* s: quadrature weights (ros: the original b) */
    const double *c;            /* s: stage times (ros: alpha_i) */
    const double *d;            /* s: update */
    method_estimate est;
    method_dense dense;
    const double *limits;       /* erk: the longest stable h rho: near the negative real axis; elsewhere, for runs with
                                   span rho <= 10, 100 .. 1e8 (codegen/limits.py) */
    /* sdirk, firk: W = A^-1 over the unknown stages */
    const double *W;            /* s*s */
    const double *g;            /* s: W a, a the column of the explicit first stage; NULL if none */
    double b0;                  /* quadrature weight of the explicit first stage */
    int block;                  /* stages solved together: sdirk 1, firk s */
    int nreal, npair;           /* nreal + 2 npair = block: eigenvalues of (a diagonal block of) W */
    const double *eig;          /* nreal real ones, then (re, im > 0) of each pair */
    const double *T, *Ti;       /* block*block, real: Ti W T = diag(real, [re -im; im re]) ; sdirk: 1 */
    /* ros */
    const double *C;            /* s*s: diag(1/gamma) - Gamma^-1, strictly lower */
    const double *gi;           /* s: gamma_i, row sums of Gamma */
    const unsigned char *newf;  /* s: 0 if the stage has the same point, and so the same f, as the previous one */
    const costate_rkc *rkc;     /* rkc: its degrees */
    const composite *of;        /* composite: its members; else NULL */
};

/* What the object of a method exports as `costate_object`.  The first two members never change, so that any version of
   the library can tell which objects it cannot load. */
typedef struct {
    const char *version;        /* COSTATE_VERSION of the header that it was compiled with */
    const char *layout;         /* checksum of this file, as codegen/objects.py computes it */
    size_t size;                /* sizeof(costate_method) */
    const costate_method *method;
} method_object;

#endif
