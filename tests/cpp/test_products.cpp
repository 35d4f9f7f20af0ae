// test_products.cpp - all products of all maps of a problem come from one function each, and whole runs with them have
// adjoints that are transposes of tangents and exact Hessian products.
#include "check.hpp"
#include "models.hpp"

static std::vector<double> filled(int count, double from)
{
    std::vector<double> x(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < x.size(); i++) x[i] = from + 0.1 * static_cast<double>(i);
    return x;
}

static void whole(costate::solver &s, double t1, const std::vector<double> &y, const std::vector<double> &p,
                  const std::string &what)
try {
    const costate_report r = s.check_adjoint(0, t1, y, p);
    check(r.transpose <= 1e-12, what + ": " + r.text);
    const costate::functional J([](auto, auto const &at, auto const &of_p) {
        auto sum = of_p[0] * at[0];
        for (const auto &v : at) sum += v * v / 2;
        return sum;
    });
    s.check_hessian(0, t1, y, p, J);
} catch (const std::exception &e) {
    check(false, what + ": " + e.what());
}

static void explicit_and_stiff()
{
    const costate::problem P = models::pollution();
    const auto y = models::concentrations(), k = models::constants();
    P.check({0, costate::values(y.data(), models::SPECIES), k});
    for (const char *method : {"dopri5", "radau2a5", "rodas5p", "sdirk4a", "rock4"}) {
        costate::solver s(method, P);
        whole(s, 0.5, y, k, method);
    }
}

static void residuals()
{
    const costate::problem P = models::pendulum();
    const std::vector<double> y = {0.7, -0.7, 0, 0, 7}, yp = {0.1, 0.2, 0.3, 0.4, 0}, p = {9.81};
    P.check({0, y, p, yp});
    costate::solver s("radau2a5", P);
    whole(s, 0.5, y, p, "pendulum");
}

static void events()
{
    const costate::problem ball = models::ball();
    for (int mode = 0; mode < 3; mode++)
        ball.check({0.3, filled(2, 0.4), std::vector<double>{9.81, 0.8, 0.05}, {}, std::vector<double>{1.0}, mode});
    costate::solver s("dopri5", ball);
    whole(s, 3, {1, 0.5, 0, 0}, {9.81, 0.8, 0.05}, "ball");
    costate::tape t;
    std::vector<double> y = {1, 0.5, 0, 0};
    s.integrate(0, 9, y, {9.81, 0.8, 0.05}, t);
    check(t.events() == 3 && s.mode() == 3 && y[3] == 3 && s.time() < 3, "three impacts");
    const costate::tape::event second = s.event(t, 1);
    check(second.after[3] == 2 && second.before[3] == 1 && second.after[1] > 0, "the second impact");

    costate::solver of_drug("dopri5", models::dosing(100, 25));
    whole(of_drug, 36, {0, 0, 0, 0}, {1.1, 5, 30, 0.4, 0.25}, "doses");
    std::vector<double> drug(4);
    of_drug.integrate(0, 36, drug, {1.1, 5, 30, 0.4, 0.25}, t);
    check(t.events() == 7 && of_drug.event(t, 0).after[0] == 100 && drug[3] == 0, "seven doses and switchings");
}

// A constraint that follows from a mass matrix in a pattern, and a start map: y0' = -p y1, 0 = y1 - y0^2
static void constraints()
{
    costate::problem P(2, 1, [](auto, auto const &y, auto const &p, auto &out) {
        out[0] = -p[0] * y[1];
        out[1] = y[1] - y[0] * y[0];
    });
    P.pattern({0, 2, 4}, {0, 1, 0, 1}).mass({1, 0, 0, 0});
    P.start([](auto, auto const &y, auto const &, auto &out) {          // y after, y given
        out[0] = y[0] - y[2];
        out[1] = y[1] - y[0] * y[0];
    });
    P.check({0, {0.5, 0.2}, {2.0}});
    costate::options o;
    o.consistent = COSTATE_CONSISTENT_START;
    o.rtol = o.atol = 1e-10;
    costate::solver s("radau2a5", P, o);
    std::vector<double> y = {1, 0.3};
    whole(s, 1, y, {2}, "constraint");
    s.integrate(0, 1, y, {2});                                          // y0 = 1/(1 + p t)
    near(y[0], 1.0 / 3, 1e-8, "y0");
    y = {1, 0.3};
    s.consistent(0, y, {2});
    near(y[1], 1, 1e-14, "a consistent value");
}

// Equations for the state after an event: y' = v, v' = -p; where y = 0, the speed turns and keeps four fifths.
static void transitions()
{
    auto P = costate::problem::residual(2, 1, [](auto, auto const &y, auto const &yp, auto const &p, auto &F) {
        F[0] = yp[0] - y[1];
        F[1] = yp[1] + p[0];
    });
    P.add(costate::event([](auto const &x) { return x.y[0] - 0.0 * x.yp[1]; }).falling().slopes()
              .transition([](auto const &x, auto &out) {
                  out[0] = x.y[0] - x.y[2];
                  out[1] = x.y[1] + 0.8 * x.y[3];
              }));
    P.check({0, {0.2, 0.3}, {9.81}, {0.3, -9.0}});
    costate::solver s("radau2a5", P);
    whole(s, 0.8, {1, 0.2}, {9.81}, "transition");
}

static void detected()
{
    costate::problem P(40, 1, [](auto, auto const &y, auto const &p, auto &out) {
        for (std::size_t i = 0; i < 40; i++)
            out[i] = p[0] * ((i ? y[i - 1] : 0.0 * y[0]) - 2 * y[i] + (i < 39 ? y[i + 1] : 0.0 * y[0]));
    });
    P.detect_pattern({0, filled(40, 0.3), {1.5}});
    const costate_pattern *found = P.c().pattern;
    check(found && found->col[40] == 118, "a tridiagonal pattern");
    costate::solver s("radau2a5", P);
    whole(s, 0.3, filled(40, 0.3), {1.5}, "diffusion");
}

struct wrong_square {
    double operator()(double, const costate::values &y, const costate::values &) const { return -y[0] * y[0]; }
    template<class T> T operator()(const T &, const costate::view<const T> &y, const costate::view<const T> &) const
    {
        return -y[0] * y[0] * 1.001;
    }
};

static void wrong_ones_are_found()
{
    refused([] { costate::problem(1, 0, wrong_square()).check({0, {0.5}}); }, "tangent", "wrong products");
    costate::solver s("dopri5", costate::problem(1, 0, wrong_square()));
    refused([&] { s.check_adjoint(0, 1, {1.0}, {}); }, "frozen run", "a run with wrong products");
    const costate::review found = s.check_run(0, 1, {1.0}, {});
    check(found.status == COSTATE_CHECK_FAILED && found.text.find("tangent WRONG") != std::string::npos, found.text);
    check(found.findings.size() > 3 && found.findings[0].severity == COSTATE_WRONG &&
          found.findings[0].topic == "callbacks" && found.findings[0].component == -1, "findings of a review");
    refused([&] { s.check_run(0, 1, {std::nan("")}, {}); }, "y holds", "a review from NaN");
}

static void right_ones_are_right()
{
    costate::solver s("dopri5", costate::problem(1, 1, [](auto, auto const &y, auto const &p, auto &out) {
        out[0] = -p[0] * y[0] * y[0];
    }));
    const costate::review found = s.check_run(0, 1, {1.0}, {0.5});
    check(found.status == COSTATE_OK && found.findings.back().severity == COSTATE_RIGHT, found.text);
}

int main()
{
    try {
        explicit_and_stiff();
        residuals();
        events();
        constraints();
        transitions();
        detected();
        wrong_ones_are_found();
        right_ones_are_right();
    } catch (const std::exception &e) {
        check(false, e.what());
    }
    return failures != 0;
}
