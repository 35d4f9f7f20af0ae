// 16_products.cpp - exact Hessian products of a Rosenbrock method, which needs third derivatives of f, without writing
// any derivative: products.hpp makes them from f.
//
// Predators and prey by the logarithms of their numbers, x' = a - b e^y, y' = d e^x - c.  V = d e^x - c x + b e^y - a y
// does not change along solutions: so the gradient and the Hessian of V at t = 10 by x, y at t = 0 and a, b, c, d are
// those of V itself at t = 0.
#include <cmath>
#include <cstdio>
#include "products.hpp"

struct rates {
    enum { n = 2, np = 4, rows = 2 };
    template<class T> static void of(T, const T *y, const T *p, T *out)
    {
        out[0] = p[0] - p[1] * exp(y[1]);
        out[1] = p[3] * exp(y[0]) - p[2];
    }
};

struct invariant {
    enum { n = 2, np = 4, rows = 1 };
    template<class T> static void of(T, const T *y, const T *p, T *out)
    {
        *out = p[3] * exp(y[0]) - p[2] * y[0] + p[1] * exp(y[1]) - p[0] * y[1];
    }
};

enum { N = 2, NP = 4, M = 3 };          // M directions

// costate_seed2: gradient of V by y and p, and its derivatives along the directions, are products of V, too
static int seed(double t, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *)
{
    const costate_map of = products<invariant>::map();
    const double one = 1;
    costate_point x = {}, dx = {};
    costate_gradient g = {};
    x.t = t, x.y = y, x.p = p, g.y = lambda, g.p = mu;
    int status = of.adjoint(&x, &one, &g, nullptr);
    for (int j = 0; j < m && status == 0; j++) {
        dx.y = V + j * N, dx.p = Vp + j * NP, g.y = lambda2 + j * N, g.p = mu2 + j * NP;
        status = of.adjoint_tangent(&x, &dx, &one, &g, nullptr);
    }
    return status;
}

struct derivatives { double gradient[N], by_p[NP], along[N * M], by_p_along[NP * M]; };

static double gap(const derivatives &a, const derivatives &b)
{
    const double *u = reinterpret_cast<const double *>(&a), *v = reinterpret_cast<const double *>(&b);
    double worst = 0, size = 0;
    for (size_t i = 0; i < sizeof a / sizeof *u; i++) {
        worst = std::fmax(worst, std::fabs(u[i] - v[i]));
        size = std::fmax(size, std::fabs(v[i]));
    }
    return worst / size;
}

int main()
{
    const double y0[N] = {0.3, -0.2}, p[NP] = {1.5, 1, 3, 1};
    const double V[N * M] = {1, 0, 0, 1, 0.5, -0.3}, Vp[NP * M] = {0, 0, 0, 0, 0, 0, 0, 0, 0.7, -0.2, 0.4, 0.1};
    costate_problem problem = {};
    problem.n = N, problem.np = NP, problem.rhs = products<rates>::map();
    costate_options options = {};
    options.rtol = options.atol = 1e-12, options.autonomous = 1;

    costate_point x = {};
    costate_report report;
    x.y = y0, x.p = p;
    int status = costate_check_map(&problem.rhs, N, NP, N, &x, nullptr, &report);
    std::puts(report.text);

    derivatives at_end = {}, at_start = {};
    double y[N] = {y0[0], y0[1]};
    costate *c = costate_new(costate_method_find("rodas5p"), &problem, &options);
    costate_tape *tape = costate_tape_new();
    costate_second s = {};
    s.m = M, s.V = V, s.Vp = Vp, s.seed = seed;
    s.lambda = at_end.gradient, s.mu = at_end.by_p, s.lambda2 = at_end.along, s.mu2 = at_end.by_p_along;
    if (status == COSTATE_OK) status = costate_integrate(c, 0, 10, y, p, tape);
    if (status == COSTATE_OK) status = costate_hessian(c, tape, &s);
    if (status != COSTATE_OK) std::puts(costate_message(c));
    seed(0, y0, p, M, V, Vp, at_start.gradient, at_start.by_p, at_start.along, at_start.by_p_along, nullptr);
    std::printf("V's gradient by x, y: %.9f %.9f; its Hessian times the third direction, by x, y: %.9f %.9f\n",
                at_end.gradient[0], at_end.gradient[1], at_end.along[2 * N], at_end.along[2 * N + 1]);
    std::printf("they differ from those at t = 0 by %.1e\n", gap(at_end, at_start));
    costate_tape_free(tape);
    costate_free(c);
    return status != COSTATE_OK || !(gap(at_end, at_start) < 1e-8);
}
