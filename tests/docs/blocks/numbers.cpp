// numbers.cpp - problems in C++: those of the recipe, their gradients, and what an event does.
#include <cmath>
#include <costate/costate.hpp>
#include <costate/ensemble.h>

using std::cos, std::exp, std::sin;

int main()
{
    @ cpp const double harvest
    const double by_p0 = g.mu[0], d = 1e-4;
    double J_at[2];
    for (int k = 0; k < 2; k++) {
        y = {0.3, -0.2};
        p[0] = 1.5 + (2 * k - 1) * d;
        J_at[k] = solver.gradient(0, 10, y, p, J).value[0];
    }
    const bool right = std::fabs((J_at[1] - J_at[0]) / (2 * d) / by_p0 - 1) < 1e-3;

    costate::problem ball(2, 2, [](auto const &x, auto &out) { out[0] = x.y[1], out[1] = -x.p[0]; });
    @ cpp ball.add(
    y = {1, 0};
    costate::tape tape;
    costate::solver falls(ball);
    falls.integrate(0, 0.5, y, {9.81, 0.8}, tape);
    const costate::tape::event impact = falls.event(tape, 0);

    const int count = 11;
    std::vector<double> states(count, 0.1), parameters;
    for (int m = 0; m < count; m++) parameters.insert(parameters.end(), {1 + 0.1 * m, 0.2});
    costate_ensemble_report report = {};
    {
        @ cpp auto f = [](auto t
    }
    const bool ran = report.failed == 0 && (costate_lanes() == 1 || report.in_lanes == count);
    return !(ran && right && std::fabs(impact.after[1] + 0.8 * impact.before[1]) < 1e-12);
}
