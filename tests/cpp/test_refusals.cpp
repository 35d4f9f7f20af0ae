// test_refusals.cpp - exceptions of every callback reach the caller unchanged, vectors of a wrong size are refused with
// both sizes, failures have the message of the library, objects that were moved from say so; and the solver can be used
// afterwards.
#include "check.hpp"
#include <functional>
#include <optional>
#include <stdexcept>
#include <type_traits>

struct my_error : std::runtime_error {
    int number;
    explicit my_error(int k) : std::runtime_error("mine"), number(k) {}
};

static std::string disturbed;               // the callback that throws, by its name

static void disturb(const std::string &name)
{
    if (name == disturbed) throw my_error(17);
}

template<class T> static const char *type()
{
    return std::is_same<T, double>::value ? "value" : std::is_same<T, costate::traced<>>::value ? "adjoint" :
           std::is_same<T, costate::traced<costate::dual<>>>::value ? "adjoint_tangent" :
           std::is_same<T, costate::dual<costate::dual<>>>::value ? "tangent2" :
           std::is_same<T, costate::traced<costate::dual<costate::dual<>>>>::value ? "adjoint_tangent2" : "tangent";
}

static void disturb_map(const char *map, const char *product) { disturb(std::string(map) + "." + product); }

static costate::problem hybrid()
{
    costate::problem P(1, 1, [](auto const &x, auto &out) {
        disturb_map("rhs", type<std::decay_t<decltype(x.t)>>());
        out[0] = -x.p[0] * x.y[0] * x.y[0] + x.m[0];
    });
    P.memory(1).costs(1, [](auto const &x) {
        disturb_map("cost", type<std::decay_t<decltype(x.t)>>());
        return x.y[0] * x.y[0];
    });
    costate::event e([](auto const &x) {
        disturb_map("guard", type<std::decay_t<decltype(x.t)>>());
        return x.y[0] - 0.5;
    });
    e.jump([](auto const &x, auto &out) {
        disturb_map("jump", type<std::decay_t<decltype(x.t)>>());
        out[0] = 1 + x.p[0] * x.y[0];
        out[1] = x.m[0] + 0.01;
    });
    e.cost([](auto const &x) {
        disturb_map("event cost", type<std::decay_t<decltype(x.t)>>());
        return x.p[0];
    });
    return P.add(e.falling());
}

struct everything {
    costate::options o;
    std::optional<costate::solver> s;
    costate::tape t;
    costate::observations all;
    costate::functional J{[](auto end, auto const &at, auto const &) {
        disturb_map("J", type<std::decay_t<decltype(end)>>());
        return at[0] * at[0] + at[1];
    }};
    std::vector<double> y, p = {1}, lambda, mu;

    everything()
    {
        o.on_step = [](const costate::step &) { disturb("on_step"); };
        o.on_event = [](int, double, costate::values, costate::values) { disturb("on_event"); };
        o.on_back = [](int, double, double, costate::values, int, costate::values, costate::values) {
            disturb("on_back");
        };
        s.emplace("rodas5p", hybrid(), o);
        all = costate::observations({0.3, 1.7}, [](int, auto when, auto const &of_y) {
            disturb_map("observations", type<std::decay_t<decltype(when)>>());
            return of_y[0] * of_y[0];
        });
        all.value = [](int, double, costate::values, int, costate::values) { disturb("observations.value"); };
    }
    void start() { y = {2, 0, 0}, lambda = {1, 0, 0}, mu = {0}; }
    void run() { start(), s->integrate(0, 2, y, p, t); }
};

static void all_calls(everything &x)
{
    x.run();
    x.s->adjoint(x.t, x.J, x.y, x.p, &x.all);
    x.lambda = {1, 0, 0, 0, 1, 0};
    x.s->tangent(x.t, x.lambda, {}, nullptr, &x.all);
    x.s->hessian(x.t, x.J, {1, 0, 0}, {0.5}, &x.all);
    x.start();
    x.s->integrate_adj(0, 2, x.y, x.p, x.lambda, x.mu, [](double, costate::values, costate::values, int,
                                                         costate::view<double> l, costate::view<double>) {
        disturb("seed");
        l[0] = 1;
    });
    x.start();
    x.s->check_hessian(0, 2, x.y, x.p, x.J);
    x.start();
    x.s->check_run(0, 2, x.y, x.p);
    hybrid().check({0, {2.0}, x.p, {}, {0.1}});
    x.start();
    x.s->gradient_within(1e-3, 0, 2, x.y, x.p, x.J);
}

static void exceptions()
{
    everything x;
    all_calls(x);
    std::vector<std::string> names = {"on_step", "on_event", "on_back", "seed", "observations.value", "J.value",
                                      "J.adjoint", "J.adjoint_tangent", "observations.adjoint",
                                      "observations.adjoint_tangent"};
    for (const char *map : {"rhs", "cost", "guard", "jump", "event cost"})
        for (const char *product : {"value", "tangent", "adjoint", "tangent2", "adjoint_tangent", "adjoint_tangent2"})
            names.push_back(std::string(map) + "." + product);
    x.run();
    const std::vector<double> before = x.y;
    for (const std::string &name : names) {
        int number = 0;
        disturbed = name;
        try {
            all_calls(x);
        } catch (const my_error &e) {
            number = e.number;
        }
        disturbed = "";
        check(number == 17, "the exception of " + name);
        x.run();
        check(x.y == before, "a run after the exception of " + name);
    }
}

// A callback may use another solver, whose exceptions are its own.
static void nested()
{
    const costate::problem inner(1, 0, [](auto, auto const &y, auto const &) {
        disturb("inner");
        return -y[0];
    });
    costate::solver other("dopri5", inner);
    int caught = 0;
    costate::options o;
    o.on_step = [&](const costate::step &) {
        std::vector<double> y = {1};
        try {
            other.integrate(0, 1, y, {});
        } catch (const my_error &) {
            caught++;
        }
        if (caught > 1) throw my_error(18);
    };
    costate::solver s("dopri5", costate::problem(1, 0, [](auto, auto const &y, auto const &) { return -y[0]; }), o);
    std::vector<double> y = {1};
    int number = 0;
    disturbed = "inner";
    try {
        s.integrate(0, 1, y, {});
    } catch (const my_error &e) {
        number = e.number;
    }
    disturbed = "";
    check(caught == 2 && number == 18, "an exception inside a callback, and one of it");
}

// Callbacks in C that throw leave the library by unwinding it.
static void of_c()
{
    costate_problem c = {};
    c.n = 1;
    c.rhs.value = [](const costate_point *x, double *out, void *) {
        disturb("value of C");
        return out[0] = -x->y[0], 0;
    };
    costate::solver s("dopri5", c);
    std::vector<double> y = {1};
    bool thrown = false;
    disturbed = "value of C";
    try {
        s.integrate(0, 1, y, {});
    } catch (const my_error &) {
        thrown = true;
    }
    disturbed = "";
    s.integrate(0, 1, y, {});
    check(thrown, "an exception through the library");
}

static void sizes()
{
    everything x;
    x.run();
    costate::solver *const s = &*x.s;
    std::vector<double> two(2), three(3), four(4), none;
    refused([&] { s->integrate(0, 1, two, x.p); }, "y has 2 values instead of 3", "integrate");
    refused([&] { s->integrate(0, 1, three, two); }, "p has 2 values instead of 1", "integrate");
    refused([&] { s->adjoint(x.t, four); }, "lambda has 4 values, which is not a multiple of N = 3", "adjoint");
    refused([&] { s->adjoint(x.t, none); }, "lambda has 0 values", "adjoint");
    refused([&] { s->adjoint(x.t, three, two); }, "mu has 2 values instead of 1", "adjoint");
    refused([&] { s->tangent(x.t, three, two); }, "Vp has 2 values instead of 1", "tangent");
    refused([&] { s->hessian(x.t, x.J, two); }, "V has 2 values", "hessian");
    refused([&] { s->integrate_tlm(0, 1, three, x.p, two); }, "V has 2 values", "integrate_tlm");
    refused([&] { s->consistent(0, two, x.p); }, "y has 2 values instead of 3", "consistent");
    refused([&] { s->consistent(0, three, x.p, two); }, "yp has 2 values instead of 1", "consistent");
    refused([&] { s->continue_to(x.t, 3, two); }, "y has 2 values instead of 3", "continue_to");
    refused([&] { s->adjoint(x.t, x.J, two, x.p); }, "y has 2 values instead of 3", "adjoint of a functional");
    costate::times when;
    when.t0 = {1, 2};
    refused([&] { s->tangent(x.t, three, {}, &when); }, "times.t0 has 2 values instead of 1", "times");
    x.all.dt.resize(3);
    refused([&] { s->adjoint(x.t, three, {}, nullptr, &x.all); }, "observations.dt has 3 values instead of 2", "dt");
    costate::options o;
    o.rtol_vector = two;
    refused([&] { costate::solver("dopri5", hybrid(), o); }, "options.rtol_vector has 2 values instead of 1", "rtol");
    refused([&] { hybrid().mass(two); }, "mass has 2 values instead of 1", "mass");
    refused([&] { hybrid().index({0, 0}); }, "index has 2 values instead of 1", "index");
    refused([&] { hybrid().pattern({0}, {}); }, "col has 1 values instead of 2", "pattern");
    refused([&] { hybrid().check({0, two, x.p, {}, {0.0}}); }, "x.y has 2 values instead of 1", "check");
    refused([&] { hybrid().check({0, {1.0}, x.p}); }, "x.m has 0 values instead of 1", "check");
    x.run();
}

static void statuses()
{
    everything x;
    x.run();
    refused([&] { costate::solver("dopri6", hybrid()); }, "There is no method dopri6. Did you mean dopri5?", "a name");
    refused([&] { costate::tape empty; x.s->adjoint(empty, x.lambda); }, "tape", "an empty tape");
    refused([&] { x.s->event(x.t, 99); }, "there is no event 99", "an event");
    refused([&] { x.t.step(-1); }, "there is no step -1", "a step");
    refused([&] { x.s->eval(x.t, 99); }, "99", "a time");
    costate::options o;
    o.on_step = [](const costate::step &now) { return now.end() > 0.5 ? 1 : 0; };
    costate::solver stopped("dopri5", hybrid(), o);
    std::vector<double> y = {2, 0, 0};
    int status = 0;
    try {
        stopped.integrate(0, 2, y, x.p);
    } catch (const costate::error &e) {
        status = e.status;
    }
    check(status == COSTATE_STOPPED && y[0] < 2 && stopped.time() > 0.5 && stopped.time() < 2, "a run that is stopped");
    costate::problem P = hybrid();
    costate::solver s("dopri5", P);
    bool refuses = false;
    try {
        P.costs(2);
    } catch (const std::logic_error &) {
        refuses = true;
    }
    check(refuses, "a problem that a solver has must not change");
    static_assert(!std::is_copy_constructible<costate::solver>::value, "solvers are not copied");
    static_assert(!std::is_copy_constructible<costate::tape>::value, "tapes are not copied");
    static_assert(std::is_nothrow_move_constructible<costate::solver>::value, "solvers are moved");
}

template<class T> static void to_itself(T &x)
{
    T &same = x;
    x = std::move(same);
}

// Every member function of a class that owns something, after another object has it; an assignment to itself.
static void moved()
{
    const char *const solver = "costate::solver: what this object held was moved", *const tape =
        "costate::tape: what this object held was moved", *const problem = "costate::problem: what this object held";
    everything x, from;
    x.run(), from.run();
    const std::vector<double> end = x.y;
    to_itself(*x.s), to_itself(x.t), to_itself(x.J), to_itself(x.all);
    const costate::gradients g = x.s->adjoint(x.t, x.J, x.y, x.p);
    check(std::isfinite(g.lambda[0]), "objects that are assigned to themselves");

    costate::solver &s = *from.s;
    const costate::solver of_solver = std::move(s);
    const costate::tape of_tape = std::move(from.t);
    const costate::functional of_J = std::move(from.J);
    check(of_solver.eval(of_tape, 1) == x.s->eval(x.t, 1) && of_J.count() == 1, "objects that were moved to");
    costate::second second;
    costate::times when;
    double seed = 0;
    const auto set = [&](auto &&...) { seed++; };
    const std::vector<std::pair<const char *, std::function<void()>>> calls = {
        {"integrate", [&] { s.integrate(0, 1, x.y, x.p); }},
        {"integrate onto", [&] { s.integrate(0, 1, x.y, x.p, x.t); }},
        {"continue_to", [&] { s.continue_to(x.t, 3, x.y); }},
        {"integrate_tlm", [&] { s.integrate_tlm(0, 1, x.y, x.p, x.lambda); }},
        {"integrate_adj", [&] { s.integrate_adj(0, 1, x.y, x.p, x.lambda, x.mu, set); }},
        {"gradient", [&] { s.gradient(0, 1, x.y, x.p, x.J); }},
        {"gradient_within", [&] { s.gradient_within(1e-3, 0, 1, x.y, x.p, x.J); }},
        {"consistent", [&] { s.consistent(0, x.y, x.p); }},
        {"adjoint", [&] { s.adjoint(x.t, x.lambda); }},
        {"adjoint of a functional", [&] { s.adjoint(x.t, x.J, x.y, x.p); }},
        {"tangent", [&] { s.tangent(x.t, x.lambda, {}, &when); }},
        {"hessian", [&] { s.hessian(x.t, second); }},
        {"gauss_newton", [&] { s.gauss_newton(x.t, second); }},
        {"hessian of a functional", [&] { s.hessian(x.t, x.J, x.lambda); }},
        {"gauss_newton of functionals", [&] { s.gauss_newton(x.t, x.J, x.lambda); }},
        {"replay", [&] { s.replay(x.t, x.y, x.p); }},
        {"eval", [&] { s.eval(x.t, 1); }},
        {"event", [&] { s.event(x.t, 0); }},
        {"read", [&] { s.read(x.t); }},
        {"resume", [&] { s.resume(x.t, x.y); }},
        {"check_adjoint", [&] { s.check_adjoint(0, 1, x.y, x.p); }},
        {"check_hessian", [&] { s.check_hessian(0, 1, x.y, x.p, x.J); }},
        {"check_run", [&] { s.check_run(0, 1, x.y, x.p); }},
        {"time", [&] { s.time(); }},
        {"mode", [&] { s.mode(); }},
        {"stats", [&] { s.stats(); }},
        {"reset_stats", [&] { s.reset_stats(); }},
        {"message", [&] { s.message(); }},
        {"linear_solver", [&] { s.linear_solver(); }},
        {"N", [&] { s.N(); }},
        {"c", [&] { s.c(); }},
    };
    for (const auto &[name, call] : calls) refused(call, solver, name);
    check(seed == 0 && x.y == end, "a solver that was moved from writes something");

    costate::tape &t = from.t;
    const std::vector<std::pair<const char *, std::function<void()>>> of_tapes = {
        {"steps", [&] { t.steps(); }},
        {"bytes", [&] { t.bytes(); }},
        {"events", [&] { t.events(); }},
        {"forecast", [&] { t.forecast(); }},
        {"step", [&] { t.step(0); }},
        {"c", [&] { t.c(); }},
        {"integrate", [&] { x.s->integrate(0, 1, x.y, x.p, t); }},
        {"integrate_tlm", [&] { x.s->integrate_tlm(0, 1, x.y, x.p, x.lambda, {}, nullptr, &t); }},
        {"gradient_within", [&] { x.s->gradient_within(1e-3, 0, 1, x.y, x.p, x.J, &t); }},
        {"continue_to", [&] { x.s->continue_to(t, 3, x.y); }},
        {"adjoint", [&] { x.s->adjoint(t, x.lambda); }},
        {"tangent", [&] { x.s->tangent(t, x.lambda); }},
        {"hessian", [&] { x.s->hessian(t, x.J, x.lambda); }},
        {"replay", [&] { x.s->replay(x.t, x.y, x.p, &t); }},
        {"eval", [&] { x.s->eval(t, 1); }},
        {"event", [&] { x.s->event(t, 0); }},
        {"read", [&] { x.s->read(t); }},
        {"resume", [&] { x.s->resume(t, x.y); }},
    };
    for (const auto &[name, call] : of_tapes) refused(call, tape, std::string("a tape in ") + name);

    const std::vector<std::pair<const char *, std::function<void()>>> of_functionals = {
        {"adjoint", [&] { x.s->adjoint(x.t, from.J, x.y, x.p); }},
        {"hessian", [&] { x.s->hessian(x.t, from.J, x.lambda); }},
        {"gauss_newton", [&] { x.s->gauss_newton(x.t, from.J, x.lambda); }},
        {"gradient_within", [&] { x.s->gradient_within(1e-3, 0, 1, x.y, x.p, from.J); }},
        {"check_hessian", [&] { x.s->check_hessian(0, 1, x.y, x.p, from.J); }},
    };
    for (const auto &[name, call] : of_functionals)
        refused(call, "costate::functional: what this object held", std::string("a functional in ") + name);

    costate::problem P = hybrid();
    const costate::problem of_P = std::move(P);
    const auto zero = [](auto const &, auto &out) { out[0] = 0; };
    const costate::event e([](auto const &at) { return at.y[0]; });
    const std::vector<std::pair<const char *, std::function<void()>>> of_problems = {
        {"solver", [&] { costate::solver("dopri5", P); }},
        {"costs", [&] { P.costs(1); }},
        {"costs of a map", [&] { P.costs(1, zero); }},
        {"memory", [&] { P.memory(1); }},
        {"stops", [&] { P.stops({1}); }},
        {"add", [&] { P.add(e); }},
        {"mass", [&] { P.mass({1}); }},
        {"index", [&] { P.index({0}); }},
        {"start", [&] { P.start(zero); }},
        {"after_step", [&] { P.after_step(zero); }},
        {"pattern", [&] { P.pattern({0, 0}, {}); }},
        {"detect_pattern", [&] { P.detect_pattern({0, {1.0}, {1.0}}); }},
        {"check", [&] { P.check({0, {1.0}, {1.0}}); }},
        {"lanes", [&] { P.lanes(); }},
        {"c", [&] { P.c(); }},
        {"n", [&] { P.n(); }},
        {"np", [&] { P.np(); }},
        {"N", [&] { P.N(); }},
    };
    for (const auto &[name, call] : of_problems) refused(call, problem, std::string("a problem in ") + name);
    P = of_P;
    check(P.n() == 1, "a problem that is assigned to one that was moved from");

    costate::event gone([](auto const &at) { return at.y[0]; });
    const costate::event of_event = std::move(gone);
    gone.falling().from(1);
    refused([&] { hybrid().add(gone); }, "costate::event: it has neither a guard nor times", "an event");
    hybrid().add(of_event);

    *from.s = costate::solver("dopri5", hybrid());           // and an assignment mends all of them
    from.t = costate::tape();
    from.J = x.J;
    from.run();
    from.s->adjoint(from.t, from.J, from.y, from.p);
}

int main()
{
    try {
        exceptions();
        nested();
        of_c();
        sizes();
        statuses();
        moved();
    } catch (const std::exception &e) {
        check(false, e.what());
    }
    return failures != 0;
}
