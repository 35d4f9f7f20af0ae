// 07_adolc.cpp - all products of a right-hand side by ADOL-C: Robertson's reactions written once, solved by rodas4,
// which needs second derivatives for gradients.  costate_check_problem and costate_check_adjoint check the glue.
#include <adolc/adolc.h>
#include <costate/costate.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

// The one thing to write: f for any kind of number.
template <class number> static void robertson(const number *y, const number *p, number *f)
{
    f[0] = -p[0] * y[0] + p[1] * y[1] * y[2];
    f[2] = p[2] * y[1] * y[1];
    f[1] = -f[0] - f[2];
}

// ---- the glue: a trace of F(x), x = (t, y, p), and the drivers that go with each member of costate_map --------------

struct trace {
    short tag;
    int n, np, k, size;                       // size: 1 + n + np arguments
    std::vector<double> x, dx, out, dout, w, g;
    std::vector<double> Z2;                   // Taylor coefficients, size by 2
    std::vector<double *> Z2_rows;
};

static void room(trace &T)
{
    size_t size = (size_t)T.size, k = (size_t)T.k;
    T.x.resize(size), T.dx.resize(size), T.g.resize(size), T.out.resize(k), T.dout.resize(k), T.w.resize(k);
    T.Z2.resize(2 * size);
    for (size_t i = 0; i < size; i++) T.Z2_rows.push_back(&T.Z2[2 * i]);
}

// a point, or a direction, where NULL means zero
static void gather(const trace &T, const costate_point *from, std::vector<double> &x)
{
    x[0] = from->t;
    for (int i = 0; i < T.n; i++) x[1 + (size_t)i] = from->y ? from->y[i] : 0;
    for (int i = 0; i < T.np; i++) x[1 + (size_t)(T.n + i)] = from->p ? from->p[i] : 0;
}

static void add(const trace &T, const double *from, size_t stride, const costate_gradient *g)
{
    if (g->t) *g->t += from[0];
    for (int i = 0; g->y && i < T.n; i++) g->y[i] += from[stride * (size_t)(1 + i)];
    for (int i = 0; g->p && i < T.np; i++) g->p[i] += from[stride * (size_t)(1 + T.n + i)];
}

// What ADOL-C returns: < 0 where the trace does not hold at x, as another branch would be taken there: trace anew.
static int code(int returned) { return returned < 0 ? -1 : 0; }

static int value(const costate_point *x, double *out, void *ctx)
{
    trace &T = *static_cast<trace *>(ctx);
    gather(T, x, T.x);
    return code(zos_forward(T.tag, T.k, T.size, 0, T.x.data(), out));
}

static int tangent(const costate_point *x, const costate_point *dx, double *dout, void *ctx)
{
    trace &T = *static_cast<trace *>(ctx);
    gather(T, x, T.x);
    gather(T, dx, T.dx);
    return code(fos_forward(T.tag, T.k, T.size, 0, T.x.data(), T.dx.data(), T.out.data(), dout));
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    trace &T = *static_cast<trace *>(ctx);
    gather(T, x, T.x);
    T.w.assign(w, w + T.k);
    int status = code(zos_forward(T.tag, T.k, T.size, 1, T.x.data(), T.out.data()));
    if (status == 0) status = code(fos_reverse(T.tag, T.k, T.size, T.w.data(), T.g.data()));
    if (status == 0) add(T, T.g.data(), 1, g);
    return status;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    trace &T = *static_cast<trace *>(ctx);
    gather(T, x, T.x);
    gather(T, dx, T.dx);
    T.w.assign(w, w + T.k);
    int status = code(fos_forward(T.tag, T.k, T.size, 2, T.x.data(), T.dx.data(), T.out.data(), T.dout.data()));
    if (status == 0) status = code(hos_reverse(T.tag, T.k, T.size, 1, T.w.data(), T.Z2_rows.data()));
    if (status == 0) add(T, T.Z2.data() + 1, 2, g);
    return status;
}

// A row of F''[a, b] is b times the gradient that adjoint_tangent returns for that row.  Differences of F''[v, v] for
// v = a + b and a - b take one sweep, but cancel where components of a differ in size.
static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    trace &T = *static_cast<trace *>(ctx);
    std::vector<double> row((size_t)T.k), along((size_t)T.size), slope((size_t)T.size);
    gather(T, b, along);
    for (int i = 0; i < T.k; i++) {
        costate_gradient g = {};
        std::fill(slope.begin(), slope.end(), 0), std::fill(row.begin(), row.end(), 0);
        g.t = &slope[0], g.y = &slope[1], g.p = slope.data() + 1 + T.n;
        row[(size_t)i] = 1;
        int status = adjoint_tangent(x, a, row.data(), &g, ctx);
        if (status != 0) return status;
        out[i] = 0;
        for (size_t j = 0; j < slope.size(); j++) out[i] += slope[j] * along[j];
    }
    return 0;
}

// ---- the problem ----------------------------------------------------------------------------------------------------

enum { N = 3, NP = 3 };

static void record(trace &T)
{
    adouble t, y[N], p[NP], f[N];
    double dummy;
    trace_on(T.tag);
    t <<= 0.0;
    for (int i = 0; i < N; i++) y[i] <<= 1.0 / (1 + i);
    for (int i = 0; i < NP; i++) p[i] <<= 1.0;
    robertson(y, p, f);
    for (int i = 0; i < N; i++) f[i] >>= dummy;
    trace_off();
}

int main()
{
    trace T = {};
    T.tag = 1, T.n = N, T.np = NP, T.k = N, T.size = 1 + N + NP;
    room(T);
    record(T);

    costate_problem problem = {};
    problem.n = N, problem.np = NP, problem.ctx = &T;
    problem.rhs.value = value, problem.rhs.tangent = tangent, problem.rhs.adjoint = adjoint;
    problem.rhs.tangent2 = tangent2, problem.rhs.adjoint_tangent = adjoint_tangent;
    costate_options options = {};
    options.rtol = 1e-7, options.atol = 1e-11, options.autonomous = 1;

    double y[N] = {1, 0, 0}, p[NP] = {0.04, 1e4, 3e7}, somewhere[N] = {0.7, 1e-5, 0.3};
    costate_point x = {};
    x.y = somewhere, x.p = p;
    costate_report products, run;
    costate *c = costate_new(costate_method_find("rodas4"), &problem, &options);
    int status = costate_check_problem(&problem, &x, &products, nullptr);
    if (status == COSTATE_OK) status = costate_check_adjoint(c, 0, 40, y, p, &run);
    else std::puts(products.text);

    double lambda[N] = {0, 0, 1}, mu[NP] = {0, 0, 0};       // the gradient of y3(40)
    costate_tape *tape = costate_tape_new();
    if (status == COSTATE_OK) status = costate_integrate(c, 0, 40, y, p, tape);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, mu, nullptr, nullptr);
    if (status != COSTATE_OK) std::puts(costate_message(c));
    std::printf("y3(40) = %.9f, by log of the rates: %.6f %.6f %.6f\n", y[2], p[0] * mu[0], p[1] * mu[1], p[2] * mu[2]);
    std::printf("tangent2 of ADOL-C is right to %.1e, adjoint_tangent to %.1e\n", products.tangent2,
                products.adjoint_tangent);
    costate_tape_free(tape);
    costate_free(c);
    // y is a function of the rates times t: their derivatives add up to t y3'(t) = t p2 y2^2
    double sum = p[0] * mu[0] + p[1] * mu[1] + p[2] * mu[2];
    return status != COSTATE_OK || std::fabs(sum - 40 * p[2] * y[1] * y[1]) > 1e-6;
}
