// test_reuse.cpp - products allocate nothing after their first call, threads share a problem, and a map may be
// evaluated inside another one.
#include "check.hpp"
#include "models.hpp"
#include <cstdlib>
#include <new>
#include <thread>

static thread_local long allocations = 0;

// not inlined, so that the compiler does not mistake new and delete for others of malloc and free
[[gnu::noinline]] void *operator new(std::size_t size)
{
    allocations++;
    if (void *p = std::malloc(size)) return p;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void *p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void *p, std::size_t) noexcept { std::free(p); }

static void products_allocate_once()
{
    const costate::problem P = models::pollution();
    const costate_map &f = P.c().rhs;
    void *ctx = P.c().ctx;
    const auto y = models::concentrations(), k = models::constants();
    std::vector<double> out(models::SPECIES * 9), w(models::SPECIES, 1.0), g(models::SPECIES), by_k(models::REACTIONS);
    costate_point x = {}, dx[9] = {};
    costate_gradient to = {};
    x.y = y.data(), x.p = k.data(), to.y = g.data(), to.p = by_k.data();
    for (auto &d : dx) d.y = y.data(), d.p = k.data();
    auto all = [&] {
        int status = f.value(&x, out.data(), ctx) + f.tangent(&x, dx, out.data(), ctx);
        status += f.tangents(&x, 9, dx, out.data(), ctx) + f.tangent2(&x, dx, dx + 1, out.data(), ctx);
        status += f.adjoint(&x, w.data(), &to, ctx) + f.adjoint_tangent(&x, dx, w.data(), &to, ctx);
        status += f.adjoint_tangent2(&x, dx, dx + 1, w.data(), &to, ctx);
        check(status == 0, "products");
    };
    all();
    const long before = allocations;
    for (int i = 0; i < 100; i++) all();
    const long more = allocations - before;
    check(more == 0, std::to_string(more) + " allocations after the first call");
}

static costate::gradients gradient(const costate::problem &P, double first)
{
    costate::solver s("radau2a5", P);
    auto y = models::concentrations();
    y[0] = first;
    return s.gradient(0, 1, y, models::constants(), costate::functional([](auto, auto const &at, auto const &) {
        return at[0] * at[3] + at[models::SPECIES];
    }));
}

static void threads_share_a_problem()
{
    const costate::problem P = models::pollution();
    const costate::gradients alone[] = {gradient(P, 0.1), gradient(P, 0.2)};
    bool same[2] = {true, true};
    auto work = [&](int k) {
        for (int i = 0; i < 20; i++) {
            const costate::gradients g = gradient(P, k ? 0.2 : 0.1);
            same[k] = same[k] && g.lambda == alone[k].lambda && g.mu == alone[k].mu;
        }
    };
    std::thread one(work, 0), other(work, 1);
    one.join();
    other.join();
    check(same[0] && same[1], "gradients in two threads");
}

// The outer map calls the adjoint of the inner one while it is recorded itself.
static void maps_inside_maps()
{
    const costate::problem inner(1, 1, [](auto, auto const &y, auto const &p) { return p[0] * cos(y[0]); });
    const costate::problem outer(1, 1, [&](auto, auto const &y, auto const &p) {
        costate_point x = {};
        double at = costate::value(y[0]), of_p = 0.5, out, gradient = 0, w = 1;
        costate_gradient g = {};
        x.y = &at, x.p = &of_p, g.y = &gradient;
        const costate_problem &c = inner.c();
        c.rhs.value(&x, &out, c.ctx);
        auto first = y[0] * p[0];
        c.rhs.adjoint(&x, &w, &g, c.ctx);
        return first + out + gradient * (y[0] - at);
    });
    double y = 0.3, p = 2, w = 1, gradient = 0;
    costate_point x = {};
    costate_gradient g = {};
    x.y = &y, x.p = &p, g.y = &gradient;
    outer.c().rhs.adjoint(&x, &w, &g, outer.c().ctx);
    near(gradient, 2 - 0.5 * std::sin(0.3), 1e-15, "a map inside a map");
}

int main()
{
    try {
        products_allocate_once();
        threads_share_a_problem();
        maps_inside_maps();
    } catch (const std::exception &e) {
        check(false, e.what());
    }
    return failures != 0;
}
