/* maps.h - the user's maps, Jacobians and mass matrix.  Calls are counted, and the codes of callbacks become 0, RETRY
   or a status.  This room owns the counters, M and the work space of differences; the run sets p and w.

   Inside a step memory variables are treated as further parameters (mathematics, section 10.1): parameter directions
   and gradients, pm, have np + nm rows. */
#ifndef COSTATE_MAPS_H
#define COSTATE_MAPS_H

#include <math.h>
#include "base/arena.h"
#include "base/space.h"

enum product { TANGENT_OF = 2, ADJOINT_OF = 4, TANGENT2_OF = 8, ADJOINT_TANGENT_OF = 16,
               SLOPE_OF = 32,           /* the tangent along t */
               EXACT_JACOBIAN = 64,     /* J not by differences */
               ADJOINT_TANGENT2_OF = 128 };

/* A map that depends on more than the state, expressed as a map of the state alone (ops/slopes.c). */
typedef struct composed composed;
struct composed {
    int (*value)(composed *, const costate_point *x, double *out);
    int (*tangent)(composed *, const costate_point *x, const costate_point *dx, double *out);
    int (*adjoint)(composed *, const costate_point *x, const double *w, const costate_gradient *g);
    int (*adjoint_tangent)(composed *, const costate_point *x, const costate_point *dx, const double *w,
                           const costate_gradient *g);
};

typedef struct maps maps;
typedef struct map map;
typedef struct known_point known_point;

/* A map and how each of its products is computed: by the user's callback, from jac, by differences, or not at all,
   which is COSTATE_MISSING.  That is chosen once (products.c); calls go by way of map_tangent and its like, below. */
struct map {
    const costate_map *user;
    const char *name;                   /* "rhs", "residual", "cost", "event[2].guard" */
    int rows;
    void *ctx;                          /* of its callbacks */
    int counted;                        /* its calls are in the user's statistics */
    int timed;                          /* it depends on t */
    known_point *ready;                 /* where its prepare was called last; NULL: not remembered */
    int below;                          /* differences that lie in its adjoint_tangent: 0 to 2 */
    composed *as;                       /* NULL: it is a map of the state */
    int (*tangent)(maps *, const map *, const costate_point *x, const costate_point *dx, double *out);
    int (*adjoint)(maps *, const map *, const costate_point *x, const double *w, const costate_gradient *g);
    int (*tangents)(maps *, const map *, const costate_point *x, int m, const costate_point *dx, double *out,
                    size_t ld);
    int (*adjoints)(maps *, const map *, const costate_point *x, int m, const double *w, size_t ld,
                    const costate_gradient *g);
    int (*tangent2)(maps *, const map *, const costate_point *x, const costate_point *a, const costate_point *b,
                    double *out);
    int (*adjoint_tangent)(maps *, const map *, const costate_point *x, const costate_point *dx, const double *w,
                           const costate_gradient *g);
    int (*adjoint_tangent2)(maps *, const map *, const costate_point *x, const costate_point *a,
                            const costate_point *b, const double *w, const costate_gradient *g);
};

struct known_point {                    /* the point for which something was computed */
    int held;                           /* 0: none */
    double t;
    double *y, *yp;                     /* n; its p is the bound one; yp: NULL but of a residual */
};

typedef struct {                        /* of an event; rows 0: it has none */
    map guard, jump, cost;
    char name[3][40], whole[24];        /* of the maps; of the event: "event[2]", "relation[1]" */
} event_maps;

typedef struct {                        /* problem.after_step */
    event_maps correction, first;       /* its map and its start, as jumps */
    map invariant;
} after_step_maps;

typedef struct sliding sliding;         /* sliding.h */
typedef struct {                        /* the guard of an event that ends the validity of a relation's value */
    const costate_relation *of;
    struct sliding_map *exit;           /* of sliding; NULL: it does not slide */
    int which;
    void *ctx;                          /* of the user's guard */
} relation_guard;

typedef struct {                        /* what the user provides */
    void *ctx;                          /* of the callbacks */
    costate_map rhs, cost;
    const costate_event *events;
    const costate_relation *relations;
    costate_after_step after;
    int (*jac)(const costate_point *x, double *J, void *ctx);       /* NULL: none, or the user's is W */
    int (*w)(const costate_point *x, double *W, void *ctx);         /* problem.jac where jac_is_w; else NULL */
    int (*jac_yp)(const costate_point *x, double *J, void *ctx);
    int (*mass)(double *M, void *ctx);
    int (*radius)(const costate_point *x, double *rho, void *ctx);  /* options.spectral_radius */
    int (*bound)(const costate_point *x, double *h, void *ctx);     /* options.step_bound */
} callbacks;

/* A mode with values of relations.  Records name it by its number among those that a run has met; where a problem has
   no relations, that is the mode itself. */
typedef struct { int mode, values[]; } situation;
typedef struct {
    int relations;                      /* how many values each has */
    int count, room;
    situation **list;
} situations;

typedef struct {                        /* what every point of a run or a step shares */
    const double *p, *yp, *m;           /* parameters of the run; NULL; nm memory variables of the step, */
    int mode, side;                     /* its mode; 0 */
    const int *relation;                /* nrelations, values of relations.  These are in the order of a point, which
                                           then is a copy of them */
    int situation;                      /* the mode and the values of relations as records name them */
    const situations *known;            /* what the numbers mean; NULL where there are no relations */
    double from, to;                    /* of the step or, outside of steps, of the run; alike: not known.  Differences
                                           in t stay between them and are a small part of their distance */
    double first, last, near;           /* the neighbours of stops at the start and at the end of the step (sides.c),
                                           or infinite: t beyond them by up to `near` is moved to them */
    double dir;                         /* of the run or tape: 1 or -1 */
    const double *slope;                /* n: about y', if events request it; NULL: not known */
    const double *w;                    /* N: 1/(atol + rtol |y|); 1/w: the size of nothing, for differences */
} bindings;

typedef struct {                        /* known times at which f may jump */
    int any, count;                     /* any: some, those of events included */
    const double *at;                   /* count, non-decreasing: problem.stops */
} known_stops;

typedef struct {                        /* how J is formed by products or differences, and work space for it */
    int differenced;                    /* J comes from differences */
    int *color, ncolor;                 /* of columns, for forming J by products */
    int seen_whole;                     /* the pattern has been seen to hold a J so formed */
    double filled;                      /* part of a large dense J not zero when first formed; 0: not counted */
    double *seed, *column, *moved, *f, *probe;  /* n each, probe 6 n */
    double *step, *next, *terms;        /* of differences, 2 n, n, n: see formed.c */
} forming_work;

typedef struct {                        /* jac, jac_yp where products with them stand for those of rhs */
    double *J, *J_yp;                   /* entries */
    known_point at;
} jac_products;

typedef struct {                        /* what relations need; NULL and 0 without them.  relations.c */
    costate_event *made;                /* the problem's events and those of the relations, owned */
    relation_guard *guards;             /* nrelations: of integers, and where solutions may slide */
    map *relation;                      /* nrelations: their guards as the user gives them */
    int slides;                         /* option: solutions slide; then */
    sliding *sliding;                   /* what stands for rhs and cost */
} relation_maps;

typedef struct {                        /* memory in which products are put together; setup.c */
    double *minus;                      /* n*m: of a residual: -w */
    double *block;                      /* max(n, nq)*m: columns side by side that lie apart elsewhere */
    double *zeros, *work;               /* n + np + nm zeros at rest; levels of differences */
} products_room;

struct maps {
    space space;
    int n, np, nq, nm, nevents, nrelations;
    int autonomous, differences;        /* options */
    callbacks user;
    map rhs, cost;                      /* M y' = f, or F = 0 where residual; q' = r */
    event_maps *events;                 /* of the events: those of the problem, and one for each relation */
    const costate_event *event;         /* nevents + nrelations: these events */
    relation_maps relations;
    after_step_maps after_step;
    int residual;                       /* the problem is F(t, y, y', p) = 0 */
    const costate_pattern *pattern;     /* of J and M; NULL: dense */
    const int *index;                   /* n, of unknowns; NULL: none is of index 2 */
    size_t entries;                     /* of J and M */
    double *M;                          /* NULL: identity, or a residual's, which depends on the point */
    const char *method;                 /* for sentences */
    costate_stats *count;
    verdict *v;
    bindings bound;
    known_stops stops;
    forming_work form;
    jac_products by_jac;
    known_point ready[2];               /* where rhs.prepare, cost.prepare were called last */
    products_room room;
};

/* Is after_step an invariant?  Is there an after_step at all? */
static inline int relaxes(const maps *a) { return a->after_step.invariant.rows > 0; }
static inline int corrects(const maps *a) { return a->after_step.correction.jump.rows > 0 || relaxes(a); }
static inline int has_after_step(const costate_problem *P)
{
    return P->after_step.map.value || P->after_step.invariant.value;
}

void point_beside(const maps *, costate_point *);        /* sides.c: moves t to the step's side of a stop */

/* at t itself, where an event or a map of values happens */
static inline costate_point point_at(const maps *a, double t, const double *y)
{
    const bindings *b = &a->bound;
    return (costate_point){.t = t, .y = y, .p = b->p, .yp = b->yp, .m = b->m, .mode = b->mode, .side = b->side,
                           .relation = b->relation};
}

/* x at its time, or at the step's side of a stop; by a copy, because compilers keep x in registers where its address is
   not given away */
static inline void point_side(const maps *a, costate_point *x)
{
    x->side = 0;
    if (!a->stops.any || (x->t > a->bound.first && x->t < a->bound.last)) return;
    costate_point beside = *x;
    point_beside(a, &beside);
    *x = beside;
}

/* of a step */
static inline costate_point point(const maps *a, double t, const double *y)
{
    costate_point x = point_at(a, t, y);
    point_side(a, &x);
    return x;
}

/* the parts of column j of pm, or NULL */
static inline const double *p_of(const maps *a, const double *pm, size_t j)
{
    return pm && a->np ? pm + j * (size_t)(a->np + a->nm) : NULL;
}
static inline const double *m_of(const maps *a, const double *pm, size_t j)
{
    return pm && a->nm ? pm + j * (size_t)(a->np + a->nm) + a->np : NULL;
}
/* the direction (t, y, column j of pm) */
static inline costate_point along_pm(const maps *a, double t, const double *y, const double *pm, size_t j)
{
    return (costate_point){.t = t, .y = y, .p = p_of(a, pm, j), .m = m_of(a, pm, j)};
}
/* where gradients with respect to t, y, column j of pm are added */
static inline costate_gradient into_pm(const maps *a, double *t, double *y, double *pm, size_t j)
{
    double *at = pm ? pm + j * (size_t)(a->np + a->nm) : NULL;
    return (costate_gradient){.t = t, .y = y, .p = at && a->np ? at : NULL, .m = at && a->nm ? at + a->np : NULL};
}

/* sound.c: COSTATE_OK, or what is wrong.  name: of k, which is at least `least`; of: "problem." or "" in sentences */
int sizes_sound(verdict *, const char *of, int n, int np, const char *name, int k, int least);
int problem_sound(verdict *, const costate_problem *);

/* The maps of a valid problem.  The caller sets options, method, count and v; after that maps_init allocates what is
   owned.  with_jacobian: J will be formed. */
maps maps_of(const costate_problem *);
int maps_init(maps *, int with_jacobian, size_t entries);
void maps_layout(maps *, cursor *);
void maps_layout_columns(maps *, cursor *, int m);        /* for products with m columns */
void maps_free(maps *);
void maps_bind(maps *, const double *p);                  /* the parameters of the run or sweep that follows */
void maps_bind_step(maps *, const double *m, int situation);     /* those of the step that follows */
static inline void maps_bind_time(maps *a, double t, double h) { a->bound.from = t; a->bound.to = t + h; }

/* sides.c: which side of a stop the maps see: in a step from t to end; in what ends at t, and in what begins there;
   none, where t is passed as it is */
void stops_init(maps *, int count, const double *stops);
void stops_sides(maps *, double t, double end);
void point_beginning(const maps *, double end, costate_point *);  /* the start of an earlier step to `end` */
static inline void maps_bind_sides(maps *a, double t, double end) { if (a->stops.any) stops_sides(a, t, end); }
static inline void maps_bind_end(maps *a, double t) { maps_bind_sides(a, -a->bound.dir * HUGE_VAL, t); }
static inline void maps_bind_start(maps *a, double t) { maps_bind_sides(a, t, a->bound.dir * HUGE_VAL); }
static inline void maps_bind_no_side(maps *a) { a->bound.first = -HUGE_VAL; a->bound.last = HUGE_VAL; }
int stops_at(const maps *, double t);                     /* is t a stop of the problem? */
/* how many of non-decreasing times are less than t (with_it: less than or equal to t) */
int times_below(int count, const double *times, double t, int with_it);
double times_next(int count, const double *times, double t, double dir);  /* the next one along dir, or dir infinite */

/* J v is known for all v from callbacks: of a residual both Jacobians are needed */
static inline int jac_serves(const maps *a) { return a->user.jac && (a->user.jac_yp || !a->residual); }

/* The maps take the numbers that follow from these. */
static inline void maps_know(maps *a, const situations *s)
{
    a->bound.known = s;
    a->bound.situation = a->nrelations > 0 ? -1 : 0;
}
/* relations.c: its number, which it gets if it is new; -1: no memory */
int situation_number(situations *, int mode, const int *values);
int situations_copy(situations *to, const situations *from);        /* 0, or -1: no memory */
void situations_cut(situations *, int count);               /* to the first so many */
void situations_clear(situations *);
int relations_init(maps *);                               /* event, made, guards, sliding */
/* the value for a guard of u away from its zeros; and on side 1 or -1 of one, where it is zero to round-off */
static inline int relation_value(const costate_relation *r, double u)
{
    return r->whole ? (int)floor(u) : (u > 0) - (r->sign && u < 0);
}
static inline int relation_beside(const costate_relation *r, double u, int side)
{
    return r->whole ? (int)rint(u) - (side < 0) : relation_value(r, side);
}
/* how far it is from the nearest of its zeros */
static inline double relation_distance(const costate_relation *r, double u) { return fabs(r->whole ? u - rint(u) : u); }
/* the values at x, into x->relation, for checks; 0, or what a guard returned */
int relations_at(const costate_problem *, costate_point *x, int *values);

/* products.c: a map with its products, for the options in *maps; timed: it depends on t */
map map_new(const maps *, const costate_map *user, const char *name, int rows, int timed, void *ctx);
void map_by_jac(map *);                         /* it is the equation: jac gives products that are missing */
void map_compose(map *, composed *);            /* it becomes a map of the state alone */

int map_jac(maps *, const costate_point *, double *J);              /* of a residual: -F_y */
int map_w(maps *, const costate_point *, double *W);                /* the user's W */
int map_jac_yp(maps *, const costate_point *, double *M);           /* F_y' */
int map_radius(maps *, const costate_point *, double *rho);
int map_bound(maps *, const costate_point *, double *h);

/* a callback's code as 0, RETRY or a status, the same in all processes; inline, as it nearly always is 0 */
int map_failed(maps *, int r, const char *of, const char *name);
static inline int map_code(maps *a, int r, const char *of, const char *name)
{
    return r == 0 && !a->space.sum ? 0 : map_failed(a, r, of, name);
}
static inline int map_value_at(maps *a, const map *f, const costate_point *x, double *out)
{
    if (f->as) return f->as->value(f->as, x, out);
    if (f->counted) a->count->f++;
    int r = f->user->value(x, out, f->ctx);
    return map_code(a, r, f->name, "value");
}
static inline int map_value(maps *a, const map *f, double t, const double *y, double *out)
{
    costate_point x = point(a, t, y);
    return map_value_at(a, f, &x, out);
}
/* x: a point of the same step, which moves to t and y */
static inline int map_value_next(maps *a, const map *f, costate_point *x, double t, const double *y, double *out)
{
    x->t = t;
    x->y = y;
    point_side(a, x);
    return map_value_at(a, f, x, out);
}
static inline int map_tangent(maps *a, const map *f, const costate_point *x, const costate_point *dx, double *out)
{
    return f->tangent(a, f, x, dx, out);
}
static inline int map_adjoint(maps *a, const map *f, const costate_point *x, const double *w, const costate_gradient *g)
{
    return f->adjoint(a, f, x, w, g);
}
static inline int map_tangent2(maps *a, const map *f, const costate_point *x, const costate_point *dx1,
                               const costate_point *dx2, double *out)
{
    return f->tangent2(a, f, x, dx1, dx2, out);
}
static inline int map_adjoint_tangent(maps *a, const map *f, const costate_point *x, const costate_point *dx,
                                      const double *w, const costate_gradient *g)
{
    return f->adjoint_tangent(a, f, x, dx, w, g);
}
static inline int map_adjoint_tangent2(maps *a, const map *f, const costate_point *x, const costate_point *dx1,
                                       const costate_point *dx2, const double *w, const costate_gradient *g)
{
    return f->adjoint_tangent2(a, f, x, dx1, dx2, w, g);
}
/* The same for m columns, by one call where the user has one for them; out, w: columns ld apart.  A gradient's p is
   NULL where there are no parameters.  One column goes straight through, for systems of a few states. */
static inline int map_tangents(maps *a, const map *f, const costate_point *x, int m, const costate_point *dx,
                               double *out, size_t ld)
{
    return m == 1 ? map_tangent(a, f, x, dx, out) : f->tangents(a, f, x, m, dx, out, ld);
}
static inline int map_adjoints(maps *a, const map *f, const costate_point *x, int m, const double *w, size_t ld,
                               const costate_gradient *g)
{
    return m == 1 ? map_adjoint(a, f, x, w, g) : f->adjoints(a, f, x, m, w, ld, g);
}
/* Are these products of rhs and of cost available, with directions in p, in t?  0, or COSTATE_MISSING with the name */
int maps_have(maps *, unsigned rhs, unsigned cost, int with_p, int with_t);
int maps_have_events(maps *, unsigned products);          /* those of all guards, jumps and costs of events, and of
                                                             problem.after_step */
int map_acts(maps *, const costate_point *, int *acts);   /* is problem.after_step another map than the identity? */

/* noise.c: the largest change of a map of one value when t and each y_i change by up to a fraction `part` of
   themselves.  Several combinations of signs are tried, because terms may cancel and round-off differs from point to
   point; points where the map is not defined are skipped.  map_noise: the change that round-off of t, of y and of the
   map's own terms may cause.  z: n, work */
enum { MOVES = 4 };                                       /* evaluations */
int map_moves(maps *, const map *, double t, const double *y, double value, double part, double *z, double *moves);
int map_noise(maps *, const map *, double t, const double *y, double value, double *z, double *noise);

/* equation.c: the equation in one form, whichever the user gave it in:

       E(t, y, k, p) = f(t, y, p) - M k   or   -F(t, y, k, p),    k = y',    J = E_y,  M = -E_k

   k, dk, K lie apart from points: a right-hand side's callbacks see none.  n each; dk, K: of column j at j ldk. */
static inline costate_point equation_point(const maps *a, double t, const double *y, const double *k)
{
    costate_point x = point(a, t, y);
    x.yp = a->residual ? k : NULL;
    return x;
}
int equation_minus_residual(maps *, double t, const double *y, const double *k, double *out);
/* *M: the matrix that `mass` writes, finite, which the caller frees, also after a failure; NULL without `mass` */
int mass_read(verdict *, int (*mass)(double *M, void *ctx), void *ctx, size_t entries, double **M);
/* d (n): the diagonal of M, out, or NULL; fails where M has other entries: `whose` needs a diagonal one */
int diagonal_of(verdict *, const char *whose, size_t n, const costate_pattern *, const double *M, double *d);
int mass_diagonal(const maps *, double *d);               /* that of a method */
int mass_is_diagonal(const maps *);
void mass_multiply(const maps *, int transpose, double a, int m, const double *x, double *y);  /* y += a M x */
/* k NULL: zero, of right-hand sides; inline for systems of a few states */
static inline int equation_value(maps *a, double t, const double *y, const double *k, double *out)
{
    if (a->residual) return equation_minus_residual(a, t, y, k, out);
    TRY(map_value(a, &a->rhs, t, y, out));
    if (k) mass_multiply(a, 0, -1, 1, k, out);
    return 0;
}
/* E'(x) (dx_j, dk_j); dk NULL: zero.  dx: yp is written */
int equation_tangents(maps *, const costate_point *x, int m, costate_point *dx, const double *dk, size_t ldk,
                      double *out, size_t ld);
int equation_adjoints_apart(maps *, const costate_point *x, int m, const double *w, size_t ld, costate_gradient *g,
                            double *K, size_t ldk);
/* g_j += (E_t, E_y, E_p)^T w_j; K_j = M^T w_j, NULL: not wanted, and then some of the others is.  g: yp is written */
static inline int equation_adjoints(maps *a, const costate_point *x, int m, const double *w, size_t ld,
                                    costate_gradient *g, double *K, size_t ldk)
{
    if (a->residual || K) return equation_adjoints_apart(a, x, m, w, ld, g, K, ldk);
    return map_adjoints(a, &a->rhs, x, m, w, ld, g);
}
/* E''(x)[dx1, dx2], M of right-hand sides being constant; g += (E''(x)[dx, .])^T w, and w is overwritten */
int equation_tangent2(maps *, const costate_point *x, const costate_point *dx1, const costate_point *dx2, double *out);
int equation_adjoint_tangent(maps *, const costate_point *x, const costate_point *dx, double *w,
                             const costate_gradient *g);
int equation_adjoint_tangent2(maps *, const costate_point *x, const costate_point *dx1, const costate_point *dx2,
                              double *w, const costate_gradient *g);
/* out += s M x or s M^T x, M there; Mx: n, work */
int equation_mass(maps *, const costate_point *at, int transpose, double s, const double *x, double *out, double *Mx);
/* K of equation_adjoints is w itself: M is the identity */
static inline int equation_plain(const maps *a) { return !a->residual && !a->M; }

/* J and M where they were taken.  serial: its name, 0: nothing is held; who linearises gives it, none twice */
typedef struct {
    double *J;                          /* entries; NULL: known only through products at the point */
    double *M;                          /* entries; of right-hand sides the maps' own: NULL: identity */
    double t, *y, *yp;                  /* the point; y, yp: n, held where J is NULL */
    long serial;
} linearisation;

/* jacobian.c: J = E_y at a point, and M = -E_k of a residual; w: the weights there */
int jacobian(maps *, const costate_point *, const double *w, double *J, double *M);
int linearise(maps *, long serial, const costate_point *, const double *w, linearisation *);
/* The linearisation is out of date: whoever needs one computes it anew. */
void linearisation_outdate(linearisation *);
int jacobian_colour(maps *);                                        /* the pattern, where jac is missing */
int colour(const costate_pattern *, int *color);                    /* of each column; how many, -1: no memory */
void mass_apply(const maps *, double *x, double *work);             /* x <- M x; work: n */

/* missing.c: entries of J = f_y that its pattern leaves out */
typedef struct {
    const costate_pattern *pattern;
    int (*product)(void *ctx, const double *v, double *out);        /* f_y v; 0, or a code that is passed on */
    void *ctx;
    const double *size, *noise;          /* n: of y; what a product may be wrong by */
    double least;                        /* parts of a row up to this are taken for errors of the products */
    double *work;                        /* 4 n */
} pattern_probe;
typedef struct { int row, column; double value, part; } missing_entry;      /* row -1: none */
int missing_find(const pattern_probe *, const double *J, unsigned *seed, missing_entry *);

#endif
