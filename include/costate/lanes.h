/* lanes.h - maps of several members side by side, for ensembles of many small systems.

   A register of the processor holds L = 2, 4 or 8 numbers.  With maps that treat L members at once, an ensemble
   (ensemble.h) runs L members in the lanes of one thread.  Each lane has its own time, step size and end; a lane whose
   member has ended takes the next one.  Every member has the bits of a separate run if the maps have the bits of the
   problem's callbacks lane by lane: costate_check_lanes in ensemble.h compares them.

   Members that cannot run in lanes are run one at a time in the same call: see members.lanes in ensemble.h.

   Conventions as in costate.h; arrays hold L members, component by component: value i of lane l is y[i*L + l].  All
   arrays start at multiples of 8 L bytes.  Equation files (costate-model --lanes) and costate.hpp write these maps; by
   hand they are loops over lanes around the statements of one member:

       static inline int decay(const int L, const costate_lane_point *x, double *out)
       {
           #pragma omp simd
           for (int l = 0; l < L; l++) out[l] = -x->p[l]*x->y[l];
           return 0;
       }
       COSTATE_LANES_8 static int decay_8(const costate_lane_point *x, double *out, void *ctx)
       {
           return (void)ctx, decay(8, x, out);
       }

   L is a constant where the loop is compiled.  Compile with -O3 -fopenmp-simd -ffp-contract=off: contracted
   multiplications and additions would have other bits on other processors. */
#ifndef COSTATE_LANES_H
#define COSTATE_LANES_H

#include <costate/linsol.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The instructions that a function may use which treats 2, 4 or 8 lanes.  The library calls it only on processors that
   have them. */
#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
#define COSTATE_LANES_2
#define COSTATE_LANES_4 __attribute__((target("avx2")))
#define COSTATE_LANES_8 __attribute__((target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")))
#elif defined __x86_64__ && defined __clang__
#define COSTATE_LANES_2
#define COSTATE_LANES_4 __attribute__((target("avx2")))
#define COSTATE_LANES_8 __attribute__((target("avx512f,avx512dq,avx512vl")))
#else
#define COSTATE_LANES_2
#define COSTATE_LANES_4
#define COSTATE_LANES_8
#endif

enum costate_lane_limits { COSTATE_LANES_MOST = 8 };

/** points of L members; or directions, in which NULL means zero */
typedef struct {
    const double *t;      /**< L */
    const double *y;      /**< n by L states */
    const double *p;      /**< np by L parameters */
} costate_lane_point;

/** where adjoints add their results; NULL: not requested */
typedef struct {
    double *t, *y, *p;    /**< L, n by L, np by L */
} costate_lane_gradient;

/** A map and its derivatives, as costate_map.  A callback returns 0 for success.  A value > 0 has bit l set if the map
   is not defined for the member in lane l; the results of other lanes are used.  A value < 0 takes all members out of
   the lanes: each runs again by itself, and its own callbacks say what is wrong.  Lanes without a member hold copies of
   one that has. */
typedef struct {
    int (*value)(const costate_lane_point *x, double *out, void *ctx);
    int (*tangent)(const costate_lane_point *x, const costate_lane_point *dx, double *dout, void *ctx);
    int (*adjoint)(const costate_lane_point *x, const double *w, const costate_lane_gradient *g, void *ctx);
    int (*tangent2)(const costate_lane_point *x, const costate_lane_point *dx1, const costate_lane_point *dx2,
                    double *ddout, void *ctx);
    int (*adjoint_tangent)(const costate_lane_point *x, const costate_lane_point *dx, const double *w,
                           const costate_lane_gradient *g, void *ctx);
    int (*adjoint_tangent2)(const costate_lane_point *x, const costate_lane_point *dx1, const costate_lane_point *dx2,
                            const double *w, const costate_lane_gradient *g, void *ctx);
} costate_lane_map;

/** The maps of a problem for L lanes.  Products that are missing keep members out of lanes that need them: each mode
   needs those that costate.h lists for the problem. */
typedef struct {
    int lanes;                              /**< L: 2, 4 or 8; 0: the end of a list */
    costate_lane_map rhs, cost;             /**< of problem.rhs and problem.cost, with problem.ctx */
    int (*jac)(const costate_lane_point *x, double *J, void *ctx);          /**< number k of problem.jac is J[k*L +
                                                                                 l] */
    /** A linear solver side by side, or all NULL: then dense matrices are factored with pivots of each lane.  It is
       used in runs with this backend in options.backend, whose bits it has. */
    const costate_backend *backend;
    int entries;                            /**< numbers in the factors of one matrix */
    int (*factor)(const double *A, double *LU);     /**< A: sigma I - J, as `backend` gets it: in the pattern of J and
                                                         the diagonal; LU: entries by L; returns the bits of lanes whose
                                                         matrix `backend` is to factor by itself */
    void (*solve)(const double *LU, int transpose, double *x);      /**< x <- A^-1 x or A^-T x; n by L */
} costate_lane_maps;

/** The number of lanes of this processor that this library serves: 8 with AVX-512, 4 with AVX2, 2 with SSE2 or NEON; 1:
   none. */
int costate_lanes(void);

#ifdef __cplusplus
}
#endif
#endif
