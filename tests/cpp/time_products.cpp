// time_products.cpp - the cost of each product in evaluations of f, for POLLU; run by hand, on an idle machine.
#include <chrono>
#include <cstdio>
#include "models.hpp"

// nanoseconds of a call: the least of 30 samples
template<class Call> static double least(const Call &call)
{
    using clock = std::chrono::steady_clock;
    double best = 1e9;
    for (int k = 0; k < 30; k++) {
        const auto start = clock::now();
        for (int i = 0; i < 5000; i++) call();
        best = std::min(best, std::chrono::duration<double, std::nano>(clock::now() - start).count() / 5000);
    }
    return best;
}

int main()
{
    enum { MANY = 16 };
    const costate::problem P = models::pollution();
    const costate_map &f = P.c().rhs;
    void *ctx = P.c().ctx;
    const auto y = models::concentrations(), k = models::constants();
    std::vector<double> out(models::SPECIES * MANY), w(models::SPECIES, 1.0);
    std::vector<double> g(models::SPECIES), by_k(models::REACTIONS);
    costate_point x = {}, dx[MANY] = {};
    costate_gradient to = {};
    x.y = y.data(), x.p = k.data(), to.y = g.data(), to.p = by_k.data();
    for (auto &d : dx) d.y = y.data(), d.p = k.data();

    const double value = least([&] { f.value(&x, out.data(), ctx); });
    auto say = [&](const char *name, double time) { std::printf("%-24s %7.1f ns %5.1f\n", name, time, time / value); };
    say("value", value);
    say("tangent", least([&] { f.tangent(&x, dx, out.data(), ctx); }));
    say("tangents, each of 16", least([&] { f.tangents(&x, MANY, dx, out.data(), ctx); }) / MANY);
    say("adjoint", least([&] { f.adjoint(&x, w.data(), &to, ctx); }));
    to.p = nullptr;
    say("adjoint, states alone", least([&] { f.adjoint(&x, w.data(), &to, ctx); }));
    to.p = by_k.data();
    say("tangent2", least([&] { f.tangent2(&x, dx, dx + 1, out.data(), ctx); }));
    say("adjoint_tangent", least([&] { f.adjoint_tangent(&x, dx, w.data(), &to, ctx); }));
    say("adjoint_tangent2", least([&] { f.adjoint_tangent2(&x, dx, dx + 1, w.data(), &to, ctx); }));
    return 0;
}
