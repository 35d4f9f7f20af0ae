/* test_second_step.c - the adjoint of a jet holds the derivatives of the adjoint, a step at a time, for all methods:
   the gradient of w.y1 + S.X with respect to t, h, y, p, where w and S move, too, against 8th-order differences of the
   adjoints of steps taken again, to 1e-9; its Hessian is symmetric to 1e-12; and the gradient in the first column is
   that of the functional alone. */
#include "solver/workspace.h"     /* before cmocka, which has a macro fail */
#include "common.h"
#include "nonlinear.h"

enum { M = 3, INPUTS = ALL + NP + 2, STAGES = STAGES_MOST * N };

/* what a gradient is of: columns of y (integrals 0), p, t, h, the weights w, S */
typedef struct { double y[ALL], p[NP], t, h, w[ALL], S[STAGES]; } step_at;
/* by y, integrals, p, t, h */
typedef struct { double by[INPUTS]; } gradient;

typedef struct {
    costate *c;
    step_at x, along[M];
    int seeded, degree;
    long serial;
    record r;                   /* the step taken last, */
    double y[ALL], X[STAGES];   /* and what it holds */
    unsigned char iterations[STAGES_MOST];
} tried;

#define DONE(s, call) \
    do { if ((call) != 0) fail_msg("%s: %s: %s", (s)->c->st.m->name, #call, (s)->c->v.text); } while (0)

/* its stages to round-off */
static void go_to(tried *s, const step_at *x)
{
    double y1[ALL], err[ALL];
    stepper *c = &s->c->st;
    decisions as = {.degree = s->degree};
    trial by = {.as = s->degree ? &as : NULL, .serial = ++s->serial, .to = {s->X, s->iterations}, .cautious = 1,
                .exact = 1, .y1 = y1, .err = err};
    memcpy(s->y, x->y, sizeof s->y);
    s->r = (record){.t = x->t, .h = x->h, .end = x->t + x->h, .exact = 1, .y = s->y, .X = s->X,
                    .iterations = s->iterations};
    maps_bind(&s->c->maps, x->p);
    weights(c, s->y, c->w);
    DONE(s, c->F->forward(c, &s->r, &by));
}

static functionals into(int m, double *lambda, double *mu, double *t, double *h)
{
    return (functionals){.m = m, .times = 1, .lambda = lambda, .mu = mu, .t = t, .h = h};
}

static gradient joined(const double *lambda, const double *mu, double t, double h)
{
    gradient g;
    memcpy(g.by, lambda, ALL * sizeof *lambda);
    memcpy(g.by + ALL, mu, NP * sizeof *mu);
    g.by[ALL + NP] = t;
    g.by[ALL + NP + 1] = h;
    return g;
}

static gradient adjoint_at(tried *s, const step_at *x)
{
    double lambda[ALL], mu[NP] = {0}, t = 0, h = 0, U[STAGES];
    functionals g = into(1, lambda, mu, &t, &h);
    go_to(s, x);
    memcpy(lambda, x->w, sizeof lambda);
    g.U = U;
    g.seed = s->seeded ? x->S : NULL;
    DONE(s, s->c->st.F->adjoint(&s->c->st, &s->r, &g));
    return joined(lambda, mu, t, h);
}

static gradient difference(tried *s, const step_at *d)
{
    static const double w[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}, e = 4e-3;
    gradient sum = {{0}};
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        step_at x = s->x;
        double *z = (double *)&x;
        const double *dz = (const double *)d;
        for (size_t i = 0; i < sizeof x / sizeof *z; i++) z[i] += k * e * dz[i];
        gradient g = adjoint_at(s, &x);
        for (int i = 0; i < INPUTS; i++) sum.by[i] += (k > 0 ? 1 : -1) * w[abs(k) - 1] / e * g.by[i];
    }
    return sum;
}

/* the gradient, and behind it its derivatives */
static void second(tried *s, gradient out[1 + M])
{
    double V[ALL * M], Vp[NP * M], dt[M], dh[M], V1[ALL * M], Xd[STAGES * M], Sd[STAGES * (1 + M)],
           U[STAGES * (1 + M)], lambda[ALL * (1 + M)], mu[NP * (1 + M)] = {0}, t[1 + M] = {0}, h[1 + M] = {0};
    stepper *c = &s->c->st;
    size_t s_of = (size_t)c->s;
    go_to(s, &s->x);
    memcpy(lambda, s->x.w, sizeof s->x.w);
    for (size_t j = 0; j < M; j++) {
        const step_at *d = &s->along[j];
        memcpy(V + j * ALL, d->y, sizeof d->y);
        memcpy(Vp + j * NP, d->p, sizeof d->p);
        dt[j] = d->t;
        dh[j] = d->h;
        memcpy(lambda + (j + 1) * ALL, d->w, sizeof d->w);
        for (size_t i = 0; i < s_of; i++) memcpy(Sd + (i * (1 + M) + 1 + j) * N, d->S + i * N, N * sizeof *Sd);
    }
    directions d = {.m = M, .stages = 1, .dt = dt, .dh = dh, .V = V, .Vp = Vp, .V1 = V1, .Xd = Xd};
    DONE(s, c->F->tangent(c, &s->r, &d));
    for (size_t i = 0; i < s_of; i++) memcpy(Sd + i * (1 + M) * N, s->x.S + i * N, N * sizeof *Sd);
    functionals g = into(1 + M, lambda, mu, t, h);
    g.along = &d;
    g.U = U;
    g.seed = s->seeded ? Sd : NULL;
    DONE(s, c->F->adjoint(c, &s->r, &g));
    for (int j = 0; j <= M; j++) out[j] = joined(lambda + j * ALL, mu + j * NP, t[j], h[j]);
}

static double product(const gradient *g, const step_at *d)
{
    double s = g->by[ALL + NP] * d->t + g->by[ALL + NP + 1] * d->h;
    for (int i = 0; i < ALL; i++) s += g->by[i] * d->y[i];
    for (int i = 0; i < NP; i++) s += g->by[ALL + i] * d->p[i];
    return s;
}

/* of v.Hw and w.Hv: weights fixed */
static double asymmetry(tried *s)
{
    gradient of[1 + M];
    double size = 0, worst = 0;
    for (int j = 0; j < M; j++) {
        memset(s->along[j].w, 0, sizeof s->along[j].w);
        memset(s->along[j].S, 0, sizeof s->along[j].S);
    }
    second(s, of);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) {
            double a = product(&of[1 + i], &s->along[j]), b = product(&of[1 + j], &s->along[i]);
            size = larger_of(size, fabs(a));
            worst = larger_of(worst, fabs(a - b));
        }
    return worst / size;
}

static void fill(tried *s)
{
    static const step_at at = {.y = {0.8, -0.6, 1.1}, .p = {1.2, 0.7}, .t = 0.4, .h = 0.3};
    unsigned seed = 11;
    s->x = at;
    random_fill(&seed, ALL, s->x.w);
    random_fill(&seed, STAGES, s->x.S);
    for (int j = 0; j < M; j++) random_fill(&seed, sizeof s->along[j] / sizeof(double), (double *)&s->along[j]);
}

static void judge(const char *what, const tried *s, double gap, double most)
{
    if (!(gap <= most))
        fail_msg("%s, degree %d, mass %d, seeds %d, limit %zu: %s: %.1e", s->c->st.m->name, s->degree,
                 s->c->maps.M != NULL, s->seeded, s->c->o.tape_limit, what, gap);
}

static double compare(tried *s)
{
    gradient of[1 + M];
    double worst = 0;
    fill(s);
    second(s, of);
    gradient alone = adjoint_at(s, &s->x);
    judge("not the gradient of adjoint", s, relative_gap(INPUTS, of[0].by, alone.by), 1e-14);
    for (int j = 0; j < M; j++) {
        gradient expected = difference(s, &s->along[j]);
        double gap = relative_gap(INPUTS, of[1 + j].by, expected.by);
        judge("not its derivative", s, gap, 1e-9);
        worst = larger_of(worst, gap);
    }
    double gap = asymmetry(s);
    judge("not symmetric", s, gap, 1e-12);
    return worst;
}

/* degree 0: the family has none.  Without room stages are made again in segments. */
static double one(const costate_method *m, int mass, int degree, size_t limit)
{
    formula formulas = {.n = N, .np = NP, .nq = NQ, .f = f_of, .r = r_of, .M = mass ? MASS : NULL};
    costate_problem P = {.n = N, .np = NP, .nq = NQ, .ctx = &formulas, .rhs = FORMULA_RHS, .cost = FORMULA_COST,
                         .jac = formula_jac, .mass = mass ? formula_mass : NULL};
    costate_options o = {.derivative_mode = 1, .tape_limit = limit, .controller = COSTATE_FIXED, .h0 = 0.1};
    double worst = 0;
    tried *s = calloc(1, sizeof *s);
    P.rhs.adjoint_tangent2 = f_third;
    P.cost.adjoint_tangent2 = r_third;
    s->degree = degree;
    s->c = costate_new(m, &P, &o);
    DONE(s, costate_status(s->c));
    DONE(s, seconds_prepare(s->c, M));
    for (s->seeded = 0; s->seeded < 2; s->seeded++) worst = larger_of(worst, compare(s));
    costate_free(s->c);
    free(s);
    return worst;
}

static void steps(void **state)
{
    const costate_method *m = *state;
    double worst = 0;
    int rkc = m->family == COSTATE_RKC, degrees = rkc ? m->rkc->degrees : 1;
    for (int k = 0; k < degrees; k += k < 4 ? 1 : degrees / 3)
        for (int mass = 0; mass < 2; mass++)
            for (int limit = 0; limit < 1 + rkc; limit++)
                worst = larger_of(worst, one(m, mass, rkc ? m->rkc->s[k] : 0, (size_t)limit));
    print_message("           largest error %.1e\n", worst);
}

int main(void) { return run_by_method("second is the derivative of the adjoint step", steps); }
