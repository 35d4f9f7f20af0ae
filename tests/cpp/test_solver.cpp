// test_solver.cpp - each call of costate.hpp computes what it should, on y' = -p y, whose derivatives are known.
#include "check.hpp"
#include <cstdio>

static const double T = 1.5, p0 = 0.7, a0 = 1.2, E = std::exp(-p0 * T), tight = 1e-9;
static const std::vector<double> p = {p0};

static costate::problem decay()
{
    costate::problem P(1, 1, [](auto, auto const &y, auto const &of_p, auto &out) { out[0] = -of_p[0] * y[0]; });
    return P;
}

static costate::options precise()
{
    costate::options o;
    o.rtol = o.atol = 1e-12;
    return o;
}

static const costate::functional square([](auto, auto const &y, auto const &) { return y[0] * y[0]; });

// y^2 at T: gradient by a0 and p, its derivatives by both
static const double by_y = 2 * a0 * E * E, by_p = -2 * T * a0 * a0 * E * E, by_yy = 2 * E * E,
                    by_yp = -4 * T * a0 * E * E, by_pp = 4 * T * T * a0 * a0 * E * E;

static void runs()
{
    for (const char *method : {"", "dopri853", "radau2a7"}) {
        costate::solver s = *method ? costate::solver(method, decay(), precise()) : costate::solver(decay(), precise());
        double y[] = {a0};
        s.integrate(0, T, y, p);
        near(y[0], a0 * E, tight, "integrate");
        check(s.time() == T && s.stats().accepted > 3 && s.mode() == 0 && s.N() == 1, "what the solver says");
        s.reset_stats();
        check(s.stats().accepted == 0, "reset_stats");

        std::vector<double> at = {a0}, V = {1, 0}, Vp = {0, 1};
        costate::times when;
        when.t1 = {0, 1}, when.end = {0, 0};
        s.integrate_tlm(0, T, at, p, V, Vp, &when);
        near(V[0], E, tight, "a tangent by a0");
        near(V[1], -T * a0 * E - p0 * a0 * E, tight, "a tangent by p and t1");
        check(when.end[1] == 1, "the direction of the end");

        at = {a0};
        std::vector<double> lambda(2), mu(2);
        costate::times gradients;
        gradients.t1.resize(2);
        s.integrate_adj(0, T, at, p, lambda, mu,
            [&](double t1, costate::values end, costate::values of_p, int m, costate::view<double> l,
                costate::view<double> of_mu) {
                check(t1 == T && of_p[0] == p0 && m == 2 && of_mu.size() == 2, "arguments of a seed");
                l[0] = 2 * end[0];
                l[1] = 1;
            }, &gradients);
        near(lambda[0], by_y, tight, "an adjoint");
        near(mu[0], by_p, tight, "an adjoint by p");
        near(lambda[1], E, tight, "a second adjoint");
        near(gradients.t1[1], -p0 * a0 * E, tight, "an adjoint by t1");

        at = {a0};
        const costate::gradients g = s.gradient(0, T, at, p, square);
        near(g.value[0], a0 * a0 * E * E, tight, "a functional");
        near(g.lambda[0], by_y, tight, "its gradient");
        near(g.mu[0], by_p, tight, "its gradient by p");
    }
}

static void over_a_tape()
{
    costate::solver s("dopri853", decay(), precise());
    costate::tape t;
    std::vector<double> y = {a0};
    s.integrate(0, T / 2, y, p, t);
    s.continue_to(t, T, y);
    near(y[0], a0 * E, tight, "continue_to");
    check(t.events() == 1 && s.event(t, 0).number == -1 && s.event(t, 0).t == T / 2, "where the run was continued");
    check(t.steps() > 2 && t.bytes() > 0 && t.step(0).first == 0 && t.step(0).second > 0, "what the tape says");
    check(t.forecast().steps == t.steps(), "the forecast");
    near(s.eval(t, 1)[0], a0 * std::exp(-p0), 1e-7, "eval");

    std::vector<double> lambda = {2 * y[0]}, mu = {0}, V = {1}, again = {a0};
    s.adjoint(t, lambda, mu);
    near(lambda[0], by_y, tight, "adjoint");
    near(mu[0], by_p, tight, "adjoint by p");
    s.tangent(t, V);
    near(V[0], E, tight, "tangent");
    costate::tape other;
    s.replay(t, again, p, &other);
    check(again[0] == y[0] && other.steps() == t.steps(), "replay");

    const costate::second h = s.hessian(t, square, {1, 0}, {0, 1});
    near(h.lambda[0], by_y, tight, "a gradient from hessian");
    near(h.mu[0], by_p, tight, "a gradient by p from hessian");
    near(h.lambda2[0], by_yy, tight, "a Hessian product");
    near(h.lambda2[1], by_yp, tight, "a Hessian product along p");
    near(h.mu2[0], by_yp, tight, "the same by p");
    near(h.mu2[1], by_pp, tight, "the Hessian by p");

    // J = 1/2 (y^2 + y'^2): Gauss-Newton products are those of the Jacobian of both
    const costate::functional both([](auto, auto const &at, auto const &of_p, auto &out) {
        out[0] = at[0];
        out[1] = -of_p[0] * at[0];
    }, 2);
    const costate::second n = s.gauss_newton(t, both, {1}, {0.0});
    near(n.lambda2[0], (1 + p0 * p0) * E * E, tight, "a Gauss-Newton product");
    near(n.mu2[0], -T * a0 * E * E + -p0 * E * (-a0 * E + p0 * T * a0 * E), tight, "a Gauss-Newton product by p");

    costate::second own;
    own.V = {1};
    own.seed = [](double, costate::values end, costate::values, int, costate::values v, costate::values,
                  costate::view<double> l, costate::view<double>, costate::view<double> l2, costate::view<double>) {
        l[0] = 2 * end[0];
        l2[0] = 2 * v[0];
    };
    s.hessian(t, own);
    near(own.lambda2[0], by_yy, tight, "a Hessian product with a seed of one's own");
}

// a functional that depends on where the run ends: t at a terminal event, y = 1/2: t = log(2 a0)/p
static void explicit_time()
{
    costate::problem P = decay();
    P.add(costate::event([](auto, auto const &y, auto const &) { return y[0] - 0.5; }).falling().terminal());
    costate::solver s("dopri853", P, precise());
    const costate::functional when([](auto t, auto const &, auto const &) { return t * t / 2; });
    std::vector<double> y = {a0};
    costate::tape tape;
    s.integrate(0, 9, y, p, tape);
    const double t = std::log(2 * a0) / p0, dy = 1 / (p0 * a0), dp = -t / p0;
    near(s.time(), t, tight, "the time of an event");
    const costate::gradients g = s.adjoint(tape, when, y, p);
    near(g.value[0], t * t / 2, tight, "a functional of time");
    near(g.lambda[0], t * dy, tight, "its gradient");
    near(g.mu[0], t * dp, tight, "its gradient by p");
    const costate::second h = s.hessian(tape, when, {1}, {0.0});
    near(h.lambda2[0], dy * dy - t * dy / a0, tight, "its Hessian");
    near(h.mu2[0], dy * dp - t * dy / p0, tight, "its Hessian by p");
}

// J = sum of (y(t_k) - k)^2/2 at three times, and y(T)^2
static void observed()
{
    costate::solver s("dopri853", decay(), precise());
    costate::tape t;
    std::vector<double> y = {a0};
    const std::vector<double> at = {0.3, 0.9, 1.2};
    s.integrate(0, T, y, p, t);
    costate::observations all(at, [](int k, auto, auto const &of_y) { return (of_y[0] - k) * (of_y[0] - k) / 2; });
    all.dt.resize(3);
    double g = by_y, h = by_yy, n = E * E, dt = 0;
    for (std::size_t k = 0; k < 3; k++) {
        const double e = std::exp(-p0 * at[k]), r = a0 * e - static_cast<double>(k);
        g += r * e, h += e * e, n += e * e * r * r;
        if (k == 1) dt = r * -p0 * a0 * e;
    }
    near(s.adjoint(t, square, y, p, &all).lambda[0], g, 1e-7, "observations");
    near(all.dt[1], dt, 1e-7, "by the time of an observation");
    near(s.hessian(t, square, {1}, {}, &all).lambda2[0], h, 1e-7, "a Hessian product with observations");
    const costate::functional end([](auto, auto const &of_y, auto const &) { return of_y[0]; });
    near(s.gauss_newton(t, end, {1}, {}, &all).lambda2[0], n, 1e-7, "a Gauss-Newton product with observations");

    std::vector<double> seen, V = {1};
    costate::observations told;
    told.t = at;
    told.value = [&](int, double, costate::values of_y, int, costate::values v) { seen.push_back(of_y[0] * v[0]); };
    s.tangent(t, V, {}, nullptr, &told);
    check(seen.size() == 3, "as many observations as times");
    near(seen[2], a0 * std::exp(-2 * p0 * at[2]), 1e-7, "a tangent that is observed");
}

static void to_a_tolerance()
{
    costate::solver s("dopri5", decay());
    std::vector<double> y = {a0};
    const costate::accurate_gradients g = s.gradient_within(1e-7, 0, T, y, p, square);
    near(g.lambda[0], by_y, 1e-7, "gradient_within");
    near(g.mu[0], by_p, 1e-7, "gradient_within, by p");
    y = {a0};
    const costate::accurate_gradients again = s.gradient_within(1e-7, 0, T, y, p, square, nullptr, g.factor);
    near(again.rounds, 1, 0, "gradient_within with the factor of the last call");
    near(again.mu[0], g.mu[0], 0, "the same run");
    check(g.worst <= 1 && g.rounds >= 1 && g.lambda_error[0] < 1e-7 && g.rtol > 0, "what was achieved");

    y = {a0};
    const costate::accurate_products h = s.hessian_within(1e-6, 0, T, y, p, square, {1, 0}, {0, 1});
    near(h.lambda[0], by_y, 1e-6, "the gradient from hessian_within");
    near(h.lambda2[0], by_yy, 1e-6, "hessian_within");
    near(h.lambda2[1], by_yp, 1e-6, "hessian_within along p");
    near(h.mu2[0], by_yp, 1e-6, "the same by p");
    near(h.mu2[1], by_pp, 1e-6, "the Hessian by p from hessian_within");
    check(h.worst <= 1 && h.lambda2_error.size() == 2 && h.mu2_error[1] > 0 && h.mu2_error[1] <= 1e-6,
          "errors of Hessian products");
    y = {a0};
    const costate::accurate_products vast = s.hessian_within(1e-2, 0, T, y, p, square, {1}, {0.0}, nullptr,
                                                             h.factor);
    check(vast.factor == h.factor && vast.mu2_error.size() == 1, "hessian_within with the factor of the last call");
}

static void files()
{
    const char *name = "test_solver.tape";
    std::vector<double> y = {a0}, end = {0};
    costate::solver s("dopri853", decay(), precise());
    {
        costate::tape t(name);
        s.integrate(0, T, y, p, t);
    }
    costate::tape t(name);
    s.read(t);
    std::vector<double> lambda = {2 * y[0]};
    s.adjoint(t, lambda);
    near(lambda[0], by_y, tight, "an adjoint over a file");
    s.resume(t, end);
    check(end[0] == y[0], "resume");
    std::remove(name);
}

static void options()
{
    costate::options o;
    int steps = 0, events = 0, back = 0;
    double inside = 0;
    o.atol_vector = {1e-10};
    o.members = "bs54 radau2a5";
    o.on_step = [&](const costate::step &now) {
        steps++;
        inside = now.eval((now.start() + now.end()) / 2)[0] - now.state()[0];
    };
    o.on_event = [&](int k, double t, costate::values before, costate::values after) {
        events += k == 0 && t == 0.5 && after[0] == before[0] + 1;
    };
    o.on_back = [&](int, double, double h, costate::values, int m, costate::values lambda, costate::values mu) {
        back += h > 0 && m == 1 && lambda.size() == 1 && mu.empty();
    };
    costate::problem P = decay();
    P.add(costate::event::at({0.5}).jump([](auto const &, auto &out) { out[0] += 1; }));
    costate::solver first(P, o), s = std::move(first);
    costate::tape t;
    std::vector<double> y = {a0}, lambda = {1};
    s.integrate(0, T, y, p, t);
    s.adjoint(t, lambda);
    check(steps == t.steps() && back == steps && events == 1 && inside > 0, "callbacks of options");
    near(y[0], (a0 * std::exp(-0.5 * p0) + 1) * std::exp(-p0 * (T - 0.5)), 1e-6, "a jump");
}

// Each of n steps halves the state, and so does the start.
static void after_steps()
{
    costate::problem P = decay();
    P.after_step([](auto const &, auto &out) { out[0] *= 0.5; }, true);
    P.check({0.2, {1.5}, {p0}});
    costate::options o = precise();
    o.controller = COSTATE_FIXED;
    o.h0 = T / 64;
    costate::solver s("dopri853", P, o);
    costate::tape t;
    std::vector<double> y = {a0}, lambda = {1};
    s.integrate(0, T, y, p, t);
    s.adjoint(t, lambda);
    const double part = std::exp(-p0 * T) * std::ldexp(1, -1 - t.steps());
    near(y[0], a0 * part, tight * part, "a map after each step");
    near(lambda[0], part, tight * part, "its gradient");
}

// A problem in C, and one whose function says that it is not defined
static void other_problems()
{
    costate_problem of_c = {};
    of_c.n = 1;
    of_c.rhs.value = [](const costate_point *x, double *out, void *) { return out[0] = -x->y[0], 0; };
    costate::solver s("dopri853", of_c, precise());
    std::vector<double> y = {1};
    s.integrate(0, 1, y, {});
    near(y[0], std::exp(-1), tight, "a problem in C");

    costate::solver root("radau2a5", costate::problem(1, 0, [](auto, auto const &at, auto const &, auto &out) -> int {
        if (at[0] < 0) return 1;
        out[0] = -sqrt(at[0]);
        return 0;
    }));
    y = {1};
    root.integrate(0, 1, y, {});
    near(y[0], 0.25, 1e-5, "a function that is not defined everywhere");
}

// y' = p u, u = 1 before t = 0.5 and 3 behind it; a table has both values there.
static void stops()
{
    int beside = 0;
    costate::problem P(1, 1, [&](auto const &x, auto &out) {
        const bool behind = x.side != 0 ? x.side > 0 : x.t > 0.5;
        beside += x.side != 0;
        out[0] = x.p[0] * (behind ? 3.0 : 1.0);
    });
    P.stops({0.5});
    costate::solver s("dopri5", P);
    costate::tape t;
    std::vector<double> y = {0}, lambda = {1}, mu = {0};
    s.integrate(0, 1, y, std::vector<double>{2}, t);
    s.adjoint(t, lambda, mu);
    near(y[0], 4, 1e-14, "a function that jumps at a stop");
    near(mu[0], 2, 1e-14, "its gradient");
    check(beside > 2 && t.events() == 1, "sides of a stop");
}

// A ball of mass 1 thrown up with v0 = p0 against friction c |v|: v' = -g - c v, and the way that it goes, q' = |v|.
static void relations()
{
    costate::problem P(2, 2, [](auto const &x, auto &out) {
        out[0] = -x.p[0];
        out[1] = x.relation[0] ? x.y[0] : -x.y[0];
    });
    P.relation([](auto const &x, auto &out) { out[0] = x.y[0]; });
    costate::solver s("dopri5", P);
    costate::tape t;
    std::vector<double> y = {3, 0}, lambda = {0, 1}, mu = {0, 0};
    s.integrate(0, 2, y, std::vector<double>{2, 0}, t);
    s.adjoint(t, lambda, mu);
    near(y[1], 9.0 / 4 + 0.25, 1e-13, "a way up and down");                  // v0^2/(2 g) + g (T - v0/g)^2/2
    near(mu[0], -9.0 / 8 + 0.125 + 0.75, 1e-13, "its gradient");
    near(lambda[0], 1.5 - 0.5, 1e-13, "its gradient with respect to v0");
    check(t.events() == 1, "a relation changes once");
}

int main()
{
    try {
        runs();
        over_a_tape();
        explicit_time();
        observed();
        to_a_tolerance();
        files();
        options();
        after_steps();
        other_problems();
        stops();
        relations();
    } catch (const std::exception &e) {
        check(false, e.what());
    }
    return failures != 0;
}
