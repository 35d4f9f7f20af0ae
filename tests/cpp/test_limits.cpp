// test_limits.cpp - steady states and periodic orbits in C++: values, first and second derivatives of closed forms;
// sizes, exceptions and failures.
#include "check.hpp"
#include <array>
#include <stdexcept>

// a <-> b with p = (there, back)
static costate::problem pair()
{
    return costate::problem(2, 2, [](auto, auto const &y, auto const &p, auto &out) {
        out[1] = p[0] * y[0] - p[1] * y[1];
        out[0] = -out[1];
    });
}

// r' = r (p0 - r^2), phi' = p1 + p2 r^2: the radius of the limit cycle is sqrt(p0), its period 2 pi/(p1 + p2 p0)
static costate::problem hopf()
{
    costate::problem P(2, 3, [](auto, auto const &y, auto const &p, auto &out) {
        auto r2 = y[0] * y[0] + y[1] * y[1], turn = p[1] + p[2] * r2;
        out[0] = (p[0] - r2) * y[0] - turn * y[1];
        out[1] = turn * y[0] + (p[0] - r2) * y[1];
    });
    P.costs(1, [](auto, auto const &y, auto const &, auto &out) { out[0] = y[0] * y[0] + y[1] * y[1]; });
    return P;
}

static void steady()
{
    costate::steady_state s(pair());
    std::vector<double> y = {1.5, 0.25}, p = {2, 0.3}, lambda = {1, 0}, mu = {10, 0};
    std::vector<double> V = {1, 0, 0, 0}, Vp = {0, 0, 1, 0};
    s.solve(y, p);
    const double a = 1.75 * 0.3 / 2.3;
    near(y[0], a, 1e-13, "the steady state");
    check(s.stats().invariants == 1 && s.invariants().size() == 2 && s.invariants()[0] == s.invariants()[1],
          "a + b does not change");
    near(s.stats().slowest, -2.3, 1e-10, "how disturbances decay");
    s.adjoint(lambda, mu);
    near(lambda[1], 0.3 / 2.3, 1e-13, "by the start");
    near(mu[0], 10 - a / 2.3, 1e-13, "by p, added");
    s.tangent(V, Vp);
    near(V[1], 2 / 2.3, 1e-13, "along the start");
    near(V[2], -a / 2.3, 1e-13, "along p");
    refused([&] { s.solve(y, {1.0}); }, "p has 1 values instead of 2", "a short p");
    refused([&] { s.tangent(V, {1.0}); }, "Vp has 1 values instead of 4", "a short Vp");
    refused([&] { lambda.resize(3); s.adjoint(lambda); }, "not a multiple of 2", "a lambda of three");

    costate::steady_options before;
    before.before = {{1, 0.7}};
    costate::steady_state other("radau2a5", pair(), {}, before);
    y = {1.5, 0.25}, lambda = {1, 0}, mu = {0, 0};
    other.solve(y, p);
    near(y[0], 1.75 * 0.7 / 2.7, 1e-13, "with a parameter of its own");
    other.adjoint(lambda, mu);
    check(mu[1] == 0 && mu[0] != 0, "which has no derivative");
    costate::steady_state moved = std::move(other);
    check(moved.map().value && moved.c(), "as a map");
    refused([&] { other.solve(y, p); }, "was moved", "a solver that was moved");
    refused([] { costate::steady_state x("radau2a55", pair()); }, "Did you mean", "an unknown method");
    costate::options shown;
    shown.on_step = [](const costate::step &) {};
    refused([&] { costate::steady_state x(pair(), shown); }, "on_step", "a callback");
}

static void absent()
{
    costate::steady_state turning(costate::problem(2, 0, [](auto, auto const &y, auto const &, auto &out) {
        out[0] = y[1];
        out[1] = -y[0];
    }));
    std::vector<double> y = {1, 0};
    try {
        turning.solve(y, {});
        check(false, "a rotation has no steady state");
    } catch (const costate::error &e) {
        check(e.status == COSTATE_NO_LIMIT && y[0] == 1, "the status, and y as it was");
    }
    costate::steady_state thrown(costate::problem(1, 0, [](auto, auto const &y_, auto const &, auto &out) {
        if (costate::value(y_[0]) < 0.5) throw std::domain_error("below");
        out[0] = -y_[0];
    }));
    std::vector<double> z = {1};
    bool caught = false;
    try { thrown.solve(z, {}); } catch (const std::domain_error &) { caught = true; }
    check(caught, "an exception of a function");
}

static void periodic()
{
    costate::options sharp;
    sharp.rtol = sharp.atol = 1e-12;
    costate::periodic_orbit cycle("dopri853", hopf(), sharp);
    const std::vector<double> p = {0.8, 1.5, 0.4};
    std::vector<double> y = {0.9, 0.1};
    const double turn = 1.5 + 0.4 * 0.8, T = 2 * std::acos(-1.0) / turn, found = cycle.solve(y, 3, p);
    near(found, T, 1e-10, "the period");
    near(std::hypot(y[0], y[1]), std::sqrt(0.8), 1e-10, "the radius");
    check(cycle.orbit().stable == 1, "stable");
    const std::vector<double> X = cycle.get(), half = cycle.eval(T / 2);
    near(X[3], 0.8 * T, 1e-9, "the cost of a period");
    near(half[0], -y[0], 1e-8, "half a period later");
    const auto rho = cycle.multipliers();
    near(std::min(rho[0].real(), rho[1].real()), std::exp(-1.6 * T), 1e-9, "a multiplier");
    const std::array<double, 3> slope = {-T / turn * 0.4, -T / turn, -T / turn * 0.8};
    const std::vector<double> along = cycle.tangent({0, 1, 0, 0, 0, 1});
    near(along[2], slope[1], 1e-8, "a tangent of the period");
    near(along[6], slope[2], 1e-8, "a second tangent");
    std::vector<double> mu(3), mu2(3), lambda = {0, 0, 1, 0};
    cycle.adjoint(lambda, mu);
    for (std::size_t i = 0; i < 3; i++) near(mu[i], slope[i], 1e-8, "the gradient of the period");
    mu.assign(3, 0);
    cycle.hessian(lambda, {0, 1, 0}, mu, mu2);
    near(mu[0], slope[0], 1e-8, "the gradient again");
    near(mu2[1], 2 * T / turn / turn, 1e-7, "a second derivative");
    const std::size_t small = rho[0].real() < rho[1].real() ? 0 : 1;
    const auto by_p = cycle.multiplier_gradient(static_cast<int>(small));
    near(by_p[0].real(), rho[small].real() * -2 * (T + 0.8 * slope[0]), 1e-6, "the gradient of a multiplier");
    refused([&] { cycle.tangent({1.0}); }, "not a multiple of 3", "a short Vp");
    refused([&] { cycle.solve(mu, 3, p); }, "y has 3 values instead of 2", "a long y");
}

static void forced()
{
    costate::periodic_options day;
    day.period = 2;
    costate::problem P(1, 2, [](auto, auto const &y, auto const &p, auto &out) { out[0] = -p[0] * y[0]; });
    P.add(costate::event::at({0.5}).jump([](auto const &x, auto &out) { out[0] = x.y[0] + x.p[1]; }));
    costate::options sharp;
    sharp.rtol = sharp.atol = 1e-12;
    costate::periodic_orbit orbit("dopri853", P, sharp, day);
    std::vector<double> y = {0};
    check(orbit.solve(y, 0, {0.7, 3}) == 2, "the period that is given");
    near(y[0], 3 / std::expm1(1.4) * std::exp(0.35), 1e-10, "before the dose");

    costate::periodic_options total;
    total.period = 3, total.conserved = {1, 1};
    costate::periodic_orbit mixed("dopri853", pair(), sharp, total);
    std::vector<double> z = {1.5, 0.25};
    mixed.solve(z, 0, {2, 0.3});
    near(z[0], 1.75 * 0.3 / 2.3, 1e-9, "with a total");
}

int main()
{
    steady();
    absent();
    periodic();
    forced();
    return failures != 0;
}
