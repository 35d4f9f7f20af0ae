// models.hpp - problems for the tests of costate.hpp: kinetics, a pendulum in residual form, a ball, doses of a drug.
#pragma once
#include <costate/costate.hpp>
#include <vector>

namespace models {

// POLLU, of examples/pollu.c: a rate is k times one or two of 20 concentrations; constants here are near 1
struct reaction {
    int in[2], out[4];
};
inline const reaction reactions[] = {
    {{1, 0}, {2, 3, 0, 0}}, {{2, 4}, {1, 0, 0, 0}}, {{5, 2}, {1, 6, 0, 0}}, {{7, 0}, {5, 5, 8, 0}},
    {{7, 0}, {8, 0, 0, 0}}, {{7, 6}, {5, 8, 0, 0}}, {{9, 0}, {10, 5, 8, 0}}, {{9, 6}, {11, 0, 0, 0}},
    {{11, 2}, {1, 10, 12, 0}}, {{11, 1}, {13, 0, 0, 0}}, {{13, 0}, {11, 1, 0, 0}}, {{10, 2}, {14, 1, 0, 0}},
    {{14, 0}, {7, 5, 0, 0}}, {{1, 6}, {15, 0, 0, 0}}, {{3, 0}, {4, 0, 0, 0}}, {{4, 0}, {16, 0, 0, 0}},
    {{4, 0}, {3, 0, 0, 0}},
    {{16, 0}, {6, 6, 0, 0}}, {{16, 0}, {3, 0, 0, 0}}, {{17, 6}, {18, 5, 0, 0}}, {{19, 0}, {2, 0, 0, 0}},
    {{19, 0}, {1, 3, 0, 0}}, {{1, 4}, {19, 0, 0, 0}}, {{19, 1}, {20, 0, 0, 0}}, {{20, 0}, {19, 1, 0, 0}}};
enum { SPECIES = 20, REACTIONS = 25 };

struct kinetics {
    template<class T, class Y, class Out> void operator()(const T &, const Y &y, const Y &k, Out &out) const
    {
        for (int r = 0; r < REACTIONS; r++) {
            const reaction &R = reactions[r];
            T rate = k[r] * y[R.in[0] - 1];
            if (R.in[1]) rate *= y[R.in[1] - 1];
            for (int i = 0; i < 2 && R.in[i]; i++) out[R.in[i] - 1] -= rate;
            for (int i = 0; i < 4 && R.out[i]; i++) out[R.out[i] - 1] += rate;
        }
    }
};

inline costate::problem pollution()
{
    costate::problem P(SPECIES, REACTIONS, kinetics());
    P.costs(1, [](auto, auto const &y, auto const &) { return y[0] * y[3]; });
    return P;
}
inline std::vector<double> concentrations()
{
    std::vector<double> y(SPECIES + 1);
    for (int i = 0; i < SPECIES; i++) y[static_cast<std::size_t>(i)] = 0.1 + 0.02 * i;
    return y;
}
inline std::vector<double> constants()
{
    std::vector<double> k(REACTIONS);
    for (int i = 0; i < REACTIONS; i++) k[static_cast<std::size_t>(i)] = 0.5 + 0.1 * i;
    return k;
}

// examples/10_pendulum.c: index 2, x' = u, y' = v, u' = -x z, v' = -y z - g, x u + y v = 0; p = g, mass of the bob
inline costate::problem pendulum()
{
    auto P = costate::problem::residual(5, 1, [](auto, auto const &y, auto const &yp, auto const &p, auto &F) {
        F[0] = yp[0] - y[2];
        F[1] = yp[1] - y[3];
        F[2] = yp[2] + y[0] * y[4];
        F[3] = yp[3] + y[1] * y[4] + p[0];
        F[4] = y[0] * y[2] + y[1] * y[3];
    });
    P.index({0, 0, 0, 0, 2});
    return P;
}

// A ball that bounces until the third impact: m[0] counts impacts, and each takes a little more of the speed.
// y = height, speed; p = g, restitution, drag; q = work of the drag and what impacts take
inline costate::problem ball()
{
    costate::problem P(2, 3, [](auto const &x, auto &out) {
        out[0] = x.y[1];
        out[1] = -x.p[0] - x.p[2] * x.y[1] * abs(x.y[1]) * (1 + x.m[0] / 10);
    });
    P.memory(1).costs(1, [](auto const &x) { return x.p[2] * x.y[1] * x.y[1]; });
    auto bounce = [](auto const &x, auto &out) {
        out[1] = -x.p[1] * pow(0.9, x.m[0]) * x.y[1];
        out[2] = x.m[0] + 1;
    };
    auto loss = [](auto const &x) { return (1 - x.p[1] * x.p[1]) * x.y[1] * x.y[1] / 2; };
    for (int k = 0; k < 3; k++) {
        costate::event impact([](auto, auto const &y, auto const &) { return y[0]; });
        impact.falling().from(k).to(k + 1).jump(bounce).cost(loss);
        if (k == 2) impact.terminal();
        P.add(impact);
    }
    return P;
}

// examples/14_dosing.c: gut, blood, tissue; p = ka, cl, V, k12, k21; m = rate of the infusion.  Doses are captured.
inline costate::problem dosing(double dose, double rate)
{
    costate::problem P(3, 5, [](auto const &x, auto &out) {
        auto absorbed = x.p[0] * x.y[0], stored = x.p[3] * x.y[1] - x.p[4] * x.y[2];
        out[0] = -absorbed;
        out[1] = absorbed - x.p[1] / x.p[2] * x.y[1] - stored + x.m[0];
        out[2] = stored;
    });
    P.memory(1);
    P.add(costate::event::at({0, 8, 24}).jump([dose](auto const &, auto &out) { out[0] += dose; }));
    P.add(costate::event::at({12, 27}).jump([rate](auto const &, auto &out) { out[3] = rate; }));
    P.add(costate::event::at({14.5, 28}).jump([](auto const &, auto &out) { out[3] = 0; }));
    return P;
}

}
