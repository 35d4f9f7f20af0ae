/* ivp.h - the initial-value problems of the race: for each the callbacks, the start and the end. */
#ifndef PROBLEMS_IVP_H
#define PROBLEMS_IVP_H

#include <costate/costate.h>

enum { IVP_SQUARES = -1 };

/* The diffusion in f: d times the sum of second differences along the dimensions of a grid, for each component c of a
   point alike: y[c + components (i + side (j + side k))].  Around it is 0, or it is periodic. */
typedef struct {
    int dimensions, side, components, periodic;      /* dimensions 0: f is not of this form */
    double d;                    /* diffusion over the square of the mesh width */
} ivp_grid;

typedef struct {
    costate_problem P;           /* all derivatives, but hysteresis and ball without second ones; zero by zero as calloc
                                    leaves it */
    const double *y0;            /* ivp_length; consistent; unknowns of index 2 come last */
    const double *p;             /* np; NULL where that is 0 */
    double t1;                   /* from t = 0 */
    double atol;                 /* atol = this times rtol, as the literature has it */
    int timed;                   /* 1: t is in the callbacks */
    int functional;              /* the gradient is that of y[functional](t1), or IVP_SQUARES: of |y(t1)|^2 / 2 */
    const double *weights;       /* or of the sum of weights[i] y[i](t1), i < ivp_length; NULL: of the former */
    double (*goal)(const costate_problem *, const double *y, double *w);    /* or of this, of y(t1); w: ivp_length, its
                                    gradient; NULL: of the former */
    const double *by_a;          /* n by na: y0 by the numbers a that it is made of, which keep it consistent: the
                                    gradient in question is that by a; NULL: by y0 */
    int na;
    int by_p;                    /* 1: the gradient in question is that by p alone */
    const double *u;             /* ivp_length + np by nu: directions of Hessian products; those after them, and NULL:
                                    unit vectors of y0 */
    int nu;
    int stiff;                   /* 1: references by an implicit method */
    ivp_grid grid;               /* for preconditioners */
    void *own;                   /* what free_own frees; P.ctx and y0 may be parts of it */
    void (*free_own)(void *);
} ivp;

/* size: cells a side of a grid, mu of vdpol, np of a control, unused else; 0: the usual one.  sparse: 1: small
   problems with their pattern, too.  0, or COSTATE_BAD_ARGUMENT (no such name, bad size), COSTATE_NO_MEMORY. */
int ivp_new(ivp *, const char *name, int size, int sparse);
void ivp_free(ivp *);
int ivp_length(const ivp *);     /* of y: states, integrals, memory */
double ivp_seed(const ivp *, const double *y, double *w);   /* the functional; w: its gradient by y(t1) = y */
void ivp_by_a(const ivp *, const double *by_y0, double *out);    /* na: the chain rule through y0(a) */
/* of Hessian products; w2: ivp_length by m, the derivatives of w along V; 0, or 1: this one has none */
int ivp_seed2(const ivp *, int m, const double *V, double *w2);
void ivp_direction(const ivp *, int k, double *V, double *Vp);      /* the kth: ivp_length, np */
int ivp_before_index2(const ivp *);          /* how many unknowns are not of index 2 */
const char *ivp_name(int k);     /* k from 0; NULL past the end */

/* by file: what ivp_new calls */
int ivp_swe(ivp *, int side);
int ivp_brusselator2d(ivp *, int side);
int ivp_brusselator_1(ivp *, int side);      /* alpha = 1, 10, 100 in place of 0.1 */
int ivp_brusselator_10(ivp *, int side);
int ivp_brusselator_100(ivp *, int side);
int ivp_brusselator1d(ivp *, int points);
int ivp_heat2d(ivp *, int side);
int ivp_combustion_10(ivp *, int side);      /* 10, 20: the exponent of its reaction */
int ivp_combustion_20(ivp *, int side);
int ivp_cube(ivp *, int side);               /* in 3-D */
int ivp_diffusion(ivp *, int points);
int ivp_vdpol(ivp *, int mu);
int ivp_vdpol_original(ivp *, int mu);       /* not scaled: y'' = mu (1 - y^2) y' - y */
int ivp_waves(ivp *, int cells);
int ivp_hires(ivp *, int sparse);
int ivp_robertson(ivp *, int sparse);
int ivp_pollu(ivp *, int sparse);
int ivp_lv(ivp *, int sparse);
int ivp_orego(ivp *, int sparse);
int ivp_ring(ivp *, int unused);
int ivp_pleiades(ivp *, int unused);
int ivp_smog(ivp *, int layers);
int ivp_swe_guarded(ivp *, int side);        /* swe and one guard that never fires */
int ivp_swe_shared(ivp *, int side);         /* swe whose products at a point share what they have in common */
/* with events */
int ivp_rooms(ivp *, int line);              /* as the next, with a guard a room */
int ivp_rooms_least(ivp *, int line);        /* 2 line^2 rooms, twice as many parameters */
int ivp_hysteresis(ivp *, int unused);
int ivp_ball(ivp *, int unused);
/* F(t, y, y', p) = 0, F_y' a diagonal of 0 and 1; the functional does not change with what is algebraic at t1 */
int ivp_heat_dae(ivp *, int inside);         /* points a side without the boundary */
int ivp_foodweb(ivp *, int side);
int ivp_heat_mass(ivp *, int inside);        /* the same as M y' = f */
int ivp_fekete(ivp *, int sparse);           /* M y' = f, index 2 */
/* with many parameters */
int ivp_control_linear(ivp *, int np);
int ivp_control_chebyshev(ivp *, int np);
int ivp_heat_edges(ivp *, int inside);       /* 2 + 4 inside parameters */
int ivp_sterilisation_10(ivp *, int side);   /* the number of nodes of the control: so many parameters */
int ivp_sterilisation_100(ivp *, int side);
int ivp_sterilisation_500(ivp *, int side);

#endif
