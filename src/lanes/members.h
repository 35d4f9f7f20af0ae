/* members.h - the members that lanes run: where they come from, and where their results go. */
#ifndef COSTATE_LANES_MEMBERS_H
#define COSTATE_LANES_MEMBERS_H

#include <costate/lanes.h>

typedef struct {                        /* one member, in the arrays of the caller */
    int number;
    double t0, t1;
    double *y;                          /* N, in and out */
    const double *p;                    /* np */
    double *V;                          /* N*d, in and out */
    const double *Vp;                   /* np*d; NULL: zero */
    double *lambda, *mu;                /* N*k, out; np*k, added to, or NULL */
    double *lambda2, *mu2;              /* N*d, np*d, of Hessian products; or NULL */
    int observations;                   /* of its functionals, at these times */
    const double *observed;
} lane_member;

typedef struct {
    void *ctx;
    int (*next)(void *ctx, lane_member *);      /* the next member; 0: there is none */
    /* lambda, mu <- the seeds of k functionals at (t1, y), mu being what it held; != 0: no success */
    int (*seed)(void *ctx, const lane_member *, const double *y, double *lambda, double *mu);
    /* lambda (N), mu (np) and their derivatives along V, behind them, <- those of the values at the end */
    int (*seed2)(void *ctx, const lane_member *, const double *y, const double *V, double *lambda, double *mu);
    /* w (n*k, zero) <- gradients of observation number `which` of the functionals at t, y; != 0: no success */
    int (*observe)(void *ctx, const lane_member *, int which, double t, const double *y, double *w);
    int (*observe2)(void *ctx, const lane_member *, int which, double t, const double *y, const double *V, double *w);
    /* its results are in its arrays; said: the message of its run */
    void (*done)(void *ctx, const lane_member *, const char *said, const costate_stats *);
    void (*alone)(void *ctx, const lane_member *);      /* it is to be run alone: its arrays are as they were */
} lane_source;

typedef struct {                        /* what the members of an ensemble are run with */
    const costate_method *method;
    const costate_problem *P;
    const costate_options *o;
    const costate_lane_maps *maps;      /* of one width */
    int d, k, with_Vp, with_mu;         /* directions and functionals of a member */
    int second, with_mu2;               /* Hessian products: of one functional along d directions */
    int observations;                   /* of the functionals of a member, at most */
} lane_task;

typedef struct { long tries, filled, taken; } lane_use;        /* tries of all lanes; lanes in them that had a member;
                                                                  and whose step was accepted */

struct batch;
/* NULL: lanes do not serve these members, or there is no memory, and *why says what the reason is. */
struct batch *lanes_new(const lane_task *, const char **why);
void lanes_run(struct batch *, const lane_source *);
void lanes_free(struct batch *);        /* NULL is fine */
lane_use lanes_used(const struct batch *);
/* the maps for the most lanes that this processor and this library serve, or NULL */
const costate_lane_maps *lane_maps_of(const costate_lane_maps *list);

#endif
