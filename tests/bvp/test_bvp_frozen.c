/* test_bvp_frozen.c - derivatives are those of what was solved: tangents agree with 8th-order differences of solutions
   on the frozen mesh to 1e-10, Hessian products with those of gradients to 1e-9, and are symmetric to 1e-12.

   Moved are p, a, the breaks, b, the times of points and c, all at once along random directions; at mesh points, where
   the solution has a corner in time, p and c.  The mesh keeps its relative places in each piece; solvers of moved
   problems are new ones, given that mesh.  The problem M y' = f is solved by KLU, where that is built in. */
#include "bvp_common.h"
#include <costate/linsol.h>

enum { NB = 2, ENDS = NB + 2, NS = 3, NQ = 2, N = NS + NQ, NP = 2, POINTS = 6, M = 2, MESH = 300 };
enum { ALL = NP + ENDS + POINTS + NS };                  /* what one differentiates by: p, ends, times, c */
enum { AT_ENDS = NP, AT_TIMES = AT_ENDS + ENDS, AT_C = AT_TIMES + POINTS };

typedef struct {
    bvps *s;
    const costate_method *m;
    int solver;
    double at[ALL];                                      /* the data; */
    int mesh, piece[MESH];                               /* the frozen mesh: piece and place in it */
    double place[MESH], y[MESH * NS];
    int end[POINTS];                                     /* number of the end that a point is, or -1 */
} world;

/* ---- conditions g - c ---- */

typedef struct { const bvps *s; double c[NS]; } shifted;

static int value(const costate_point *x, double *out, void *ctx)
{
    const shifted *z = ctx;
    graph_value(&z->s->conditions, x, out);
    for (int i = 0; i < NS; i++) out[i] -= z->c[i];
    return 0;
}
static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return graph_tangent(&((shifted *)ctx)->s->conditions, x, dx, NULL, out), 0;
}
static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    return graph_adjoint(&((shifted *)ctx)->s->conditions, x, NULL, NULL, w, g), 0;
}
static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    return graph_adjoint(&((shifted *)ctx)->s->conditions, x, dx, NULL, w, g), 0;
}

/* ---- solutions at moved data ---- */

typedef struct {
    costate_bvp *c;
    shifted z;
    costate_conditions C;
    double breaks[NB], t[POINTS];
} moved;

static void open_moved(const world *w, const double *at, int fixed, moved *o)
{
    const double *ends = at + AT_ENDS;
    double t[MESH];
    o->z.s = w->s;
    memcpy(o->z.c, at + AT_C, sizeof o->z.c);
    memcpy(o->breaks, ends + 1, sizeof o->breaks);
    o->C = (costate_conditions){.map = {.value = value, .tangent = tangent, .adjoint = adjoint,
                                        .adjoint_tangent = adjoint_tangent}, .count = NS, .ctx = &o->z};
    const costate_bvp_options options = {.rtol = 1e-2, .atol = 1e-2, .nbreaks = NB, .breaks = o->breaks, .intervals = 6,
                                         .fixed = fixed, .solver = w->solver};
    for (int k = 0; k < POINTS; k++) o->t[k] = w->end[k] < 0 ? at[AT_TIMES + k] : ends[w->end[k]];
    o->c = costate_bvp_new(w->m, &w->s->P, &o->C, &options);
    if (fixed) {
        for (int k = 0; k < w->mesh; k++) {
            int piece = w->piece[k];
            t[k] = w->place[k] == 0 ? ends[piece] : ends[piece] + w->place[k] * (ends[piece + 1] - ends[piece]);
        }
        CHECK_BVP(o->c, costate_bvp_mesh(o->c, w->mesh, t));
        CHECK_BVP(o->c, costate_bvp_guess(o->c, w->mesh, t, w->y));
    }
    CHECK_BVP(o->c, costate_bvp_solve(o->c, ends[0], ends[ENDS - 1], at));
}

static void close_moved(moved *o) { costate_bvp_free(o->c); }

static void keep_mesh(world *w, costate_bvp *c)
{
    const double *ends = w->at + AT_ENDS;
    double t, Y[N];
    w->mesh = costate_bvp_intervals(c) + 1;
    assert_true(w->mesh <= MESH);
    for (int k = 0, piece = 0; k < w->mesh; k++) {
        CHECK_BVP(c, costate_bvp_get(c, k, &t, Y));
        memcpy(w->y + k * NS, Y, NS * sizeof *Y);
        while (piece < ENDS - 1 && t == ends[piece + 1]) piece++;
        w->piece[k] = piece;
        w->place[k] = t == ends[piece] ? 0 : (t - ends[piece]) / (ends[piece + 1] - ends[piece]);
    }
}

/* points at a, both breaks and b; two in the middle of intervals, whose times are moved */
static void choose_points(world *w)
{
    static const int end[POINTS] = {3, -1, 1, 0, -1, 2};
    double t[2], place[2];
    memcpy(w->end, end, sizeof end);
    for (int i = 0; i < 2; i++) {
        int k = i ? w->mesh - 2 : 1, piece = w->piece[k];
        const double *ends = w->at + AT_ENDS + piece;
        place[0] = w->place[k], place[1] = w->piece[k + 1] == piece ? w->place[k + 1] : 1;
        t[i] = ends[0] + (0.55 * place[0] + 0.45 * place[1]) * (ends[1] - ends[0]);
    }
    for (int k = 0; k < POINTS; k++)
        w->at[AT_TIMES + k] = end[k] < 0 ? t[k == 4] : w->at[AT_ENDS + end[k]];
}

static void open_world(world *w, const costate_method *m, bvps_kind kind, moved *o)
{
    memset(w, 0, sizeof *w);
    w->m = m;
    w->solver = kind.sparse ? COSTATE_LS_KLU : COSTATE_LS_DENSE;
    w->s = bvps_tangled(&(bvps_spec){.seed = 21, .n = NS, .np = NP, .pieces = NB + 1, .kind = kind});
    assert_non_null(w->s);
    memcpy(w->at, w->s->p, NP * sizeof *w->at);
    w->at[AT_ENDS] = w->s->a;
    for (int k = 0; k < NB; k++) w->at[AT_ENDS + 1 + k] = w->s->breaks[k];
    w->at[AT_ENDS + ENDS - 1] = w->s->b;
    open_moved(w, w->at, 0, o);
    keep_mesh(w, o->c);
    choose_points(w);
    for (int k = 0; k < POINTS; k++) o->t[k] = w->at[AT_TIMES + k];
}

/* random directions; steps of 4 h must leave times in their intervals, and h^8 must be round-off */
static const double STEP = 4e-3;

static void directions(double *d)
{
    unsigned seed = 9;
    random_fill(&seed, M * ALL, d);
    for (int j = 0; j < M; j++) for (int i = AT_ENDS; i < AT_C; i++) d[j * ALL + i] *= 0.5;
}

/* sum of c_k (x(k h) - x(-k h))/h */
typedef void function(const world *, const double *at, double *out);

static void difference(const world *w, const double *d, int count, function *f, double *out)
{
    static const double c[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    double at[ALL], x[POINTS * N + ALL];
    for (int i = 0; i < count; i++) out[i] = 0;
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        for (int i = 0; i < ALL; i++) at[i] = w->at[i] + k * STEP * d[i];
        f(w, at, x);
        for (int i = 0; i < count; i++) out[i] += (k < 0 ? -c[-k - 1] : c[k - 1]) * x[i] / STEP;
    }
}

static void split(const double *d, int m, double *Vp, double *Vends, double *Vtimes, double *Vc)
{
    for (int j = 0; j < m; j++, d += ALL) {
        memcpy(Vp + j * NP, d, NP * sizeof *d);
        memcpy(Vends + j * ENDS, d + AT_ENDS, ENDS * sizeof *d);
        memcpy(Vtimes + j * POINTS, d + AT_TIMES, POINTS * sizeof *d);
        memcpy(Vc + j * NS, d + AT_C, NS * sizeof *d);
    }
}

/* ---- tangents ---- */

static void values(const world *w, const double *at, double *X)
{
    moved o;
    open_moved(w, at, 1, &o);
    assert_int_equal(costate_bvp_intervals(o.c), w->mesh - 1);
    for (int k = 0; k < POINTS; k++) CHECK_BVP(o.c, costate_bvp_eval(o.c, o.t[k], X + k * N));
    close_moved(&o);
}

static void fails(const world *w, const char *what, double error, double bound)
{
    if (!(error <= bound))
        fail_msg("%s, form %d, jac %d: %s by %.2e (bound %.0e)", method_name(w->m), w->s->form, w->s->P.jac != NULL,
                 what, error, bound);
}

/* the same at mesh points, which stay where they are */
static double at_mesh_points(world *w, const moved *o)
{
    double d[M * ALL] = {0}, V[POINTS * N], truth[POINTS * N], t[POINTS], Y[N];
    double Vp[M * NP], Vends[M * ENDS], Vtimes[M * POINTS], Vc[M * NS];
    for (int k = 0; k < POINTS; k++) {
        int at = k < 3 ? k : w->mesh - POINTS + k;
        CHECK_BVP(o->c, costate_bvp_get(o->c, at, &t[k], Y));
        w->at[AT_TIMES + k] = t[k];
        w->end[k] = -1;
    }
    for (int i = 0; i < NP; i++) d[i] = 1 - 1.7 * i;
    for (int i = 0; i < NS; i++) d[AT_C + i] = 0.5 * i - 0.7;
    split(d, 1, Vp, Vends, Vtimes, Vc);
    CHECK_BVP(o->c, costate_bvp_tangent(o->c, &(costate_bvp_tangents){.m = 1, .points = POINTS, .t = t, .Vp = Vp,
                                                                     .Vc = Vc, .V = V}));
    difference(w, d, POINTS * N, values, truth);
    return relative_gap(POINTS * N, V, truth);
}

static double tangents(const costate_method *m, bvps_kind kind)
{
    world w;
    moved o;
    double d[M * ALL], V[M * POINTS * N], truth[POINTS * N], worst = 0;
    double Vp[M * NP], Vends[M * ENDS], Vtimes[M * POINTS], Vc[M * NS];
    open_world(&w, m, kind, &o);
    directions(d);
    split(d, M, Vp, Vends, Vtimes, Vc);
    CHECK_BVP(o.c, costate_bvp_tangent(o.c, &(costate_bvp_tangents){.m = M, .points = POINTS, .t = o.t, .Vp = Vp,
                                                                   .Vends = Vends, .Vtimes = Vtimes, .Vc = Vc,
                                                                   .V = V}));
    for (int j = 0; j < M; j++) {
        difference(&w, d + j * ALL, POINTS * N, values, truth);
        worst = larger_of(worst, relative_gap(POINTS * N, V + j * POINTS * N, truth));
    }
    fails(&w, "tangents and differences differ", worst, 1e-10);
    worst = larger_of(worst, at_mesh_points(&w, &o));
    fails(&w, "tangents at mesh points and differences differ", worst, 1e-10);
    close_moved(&o);
    bvps_free(w.s);
    return worst;
}

/* ---- second derivatives: of sum_k (a_k y0 y1 + X_2 X_3^2/2 + sin(p0 X_4)), a_k = 1 + k/3, by the points' X ---- */

static int seed(int points, const double *t, const double *X, const double *p, int m, const double *V, const double *Vp,
                double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t, (void)ctx;
    for (int k = 0; k < points; k++) {
        const double *x = X + k * N;
        double *l = lambda + k * N, a = 1 + k / 3.0, arg = p[0] * x[4];
        l[0] = a * x[1];
        l[1] = a * x[0];
        l[2] = x[3] * x[3] / 2;
        l[3] = x[2] * x[3];
        l[4] = p[0] * cos(arg);
        if (mu) mu[0] += x[4] * cos(arg);
        for (int j = 0; j < m; j++) {
            const double *v = V + (j * points + k) * N;
            double *l2 = lambda2 + (j * points + k) * N, dp = Vp ? Vp[j * NP] : 0, darg = dp * x[4] + p[0] * v[4];
            l2[0] = a * v[1];
            l2[1] = a * v[0];
            l2[2] = x[3] * v[3];
            l2[3] = v[2] * x[3] + x[2] * v[3];
            l2[4] = dp * cos(arg) - p[0] * sin(arg) * darg;
            if (mu2) mu2[j * NP] += v[4] * cos(arg) - x[4] * sin(arg) * darg;
        }
    }
    return 0;
}

/* the gradient by all data, by one adjoint call */
static void gradient_of(const world *w, const moved *o, const double *at, double *out)
{
    double X[POINTS * N], lambda[POINTS * N] = {0};
    (void)w;
    for (int i = 0; i < ALL; i++) out[i] = 0;
    for (int k = 0; k < POINTS; k++) CHECK_BVP(o->c, costate_bvp_eval(o->c, o->t[k], X + k * N));
    seed(POINTS, o->t, X, at, 0, NULL, NULL, lambda, out, NULL, NULL, NULL);
    CHECK_BVP(o->c, costate_bvp_adjoint(o->c, &(costate_bvp_adjoints){
        .m = 1, .points = POINTS, .t = o->t, .lambda = lambda, .mu = out, .ends = out + AT_ENDS,
        .times = out + AT_TIMES, .c = out + AT_C}));
}

static void gradients(const world *w, const double *at, double *out)
{
    moved o;
    open_moved(w, at, 1, &o);
    gradient_of(w, &o, at, out);
    close_moved(&o);
}

typedef struct { double frozen, symmetry, gradient; } gaps;

static gaps hessians(const costate_method *m, bvps_kind kind)
{
    world w;
    moved o;
    gaps g = {0};
    double d[M * ALL], Vp[M * NP], Vends[M * ENDS], Vtimes[M * POINTS], Vc[M * NS], H[M * ALL], truth[ALL];
    double mu[NP] = {0}, ends[ENDS], times[POINTS], c[NS], all[ALL], first[ALL];
    double mu2[M * NP] = {0}, ends2[M * ENDS], times2[M * POINTS], c2[M * NS];
    open_world(&w, m, kind, &o);
    directions(d);
    split(d, M, Vp, Vends, Vtimes, Vc);
    CHECK_BVP(o.c, costate_bvp_hessian(o.c, &(costate_bvp_second){
        .m = M, .points = POINTS, .t = o.t, .Vp = Vp, .Vends = Vends, .Vtimes = Vtimes, .Vc = Vc, .seed = seed,
        .mu = mu, .ends = ends, .times = times, .c = c, .mu2 = mu2, .ends2 = ends2, .times2 = times2, .c2 = c2}));
    memcpy(first, mu, sizeof mu);
    memcpy(first + AT_ENDS, ends, sizeof ends);
    memcpy(first + AT_TIMES, times, sizeof times);
    memcpy(first + AT_C, c, sizeof c);
    gradient_of(&w, &o, w.at, all);
    g.gradient = relative_gap(ALL, first, all);
    double pair[2] = {0}, size = 0;
    for (int j = 0; j < M; j++) {
        double *h = H + j * ALL;
        memcpy(h, mu2 + j * NP, sizeof mu);
        memcpy(h + AT_ENDS, ends2 + j * ENDS, sizeof ends);
        memcpy(h + AT_TIMES, times2 + j * POINTS, sizeof times);
        memcpy(h + AT_C, c2 + j * NS, sizeof c);
        difference(&w, d + j * ALL, ALL, gradients, truth);
        g.frozen = larger_of(g.frozen, relative_gap(ALL, h, truth));
    }
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < ALL; i++) {
            pair[j] += H[j * ALL + i] * d[(1 - j) * ALL + i];
            size += fabs(H[j * ALL + i] * d[(1 - j) * ALL + i]);
        }
    g.symmetry = fabs(pair[0] - pair[1]) / size;
    fails(&w, "the gradient of hessian and of adjoint differ", g.gradient, 1e-12);
    fails(&w, "Hessian products are not symmetric", g.symmetry, 1e-12);
    fails(&w, "Hessian products and differences of gradients differ", g.frozen, 1e-9);
    close_moved(&o);
    bvps_free(w.s);
    return g;
}

/* ---- all forms; Jacobians given or not ---- */

static bvps_kind kind_of(int form)
{
    return (bvps_kind){form, form != BVPS_MASS, form == BVPS_MASS && costate_backend_find("klu")};
}

static void first(void **state)
{
    double worst = 0;
    for (int form = 0; form < BVPS_FORMS; form++)
        worst = larger_of(worst, tangents(*state, kind_of(form)));
    print_message("           largest gap of tangents %.1e\n", worst);
}

static void second(void **state)
{
    gaps worst = {0};
    for (int form = 0; form < BVPS_FORMS; form++) {
        gaps g = hessians(*state, kind_of(form));
        worst.frozen = larger_of(worst.frozen, g.frozen);
        worst.symmetry = larger_of(worst.symmetry, g.symmetry);
    }
    print_message("           largest gap of Hessian products %.1e, of symmetry %.1e\n", worst.frozen, worst.symmetry);
}

int main(void)
{
    int failed = run_by_bvp_method("tangents are differences", first);
    return run_by_bvp_method("Hessian products are differences", second) + failed;
}
