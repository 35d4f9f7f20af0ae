// costate.hpp - costate.h for C++17: solvers, tapes and problems that own what they hold, vectors, lambdas, exceptions.
//
//     costate::problem decay(1, 1, [](auto t, auto const &y, auto const &p, auto &out) { out[0] = -p[0] * y[0]; });
//     costate::solver solver(decay);
//     costate::functional J([](auto t, auto const &y, auto const &p) { return y[0] * y[0]; });
//     std::vector<double> y = {1}, p = {0.5};
//     costate::gradients g = solver.gradient(0, 10, y, p, J);       // g.value, g.lambda, g.mu
//
// problem.hpp says how a problem is written.  costate.h explains what the calls do.  Arguments differ from C as
// follows:
//  * A view<double> is made from a vector, an array, or a pointer and a size; `values` are a view that is only read,
//    and can be a list {1, 2}.  Their sizes are checked.  m, the number of columns, follows from them.  Whatever C
//    allows to be NULL may be empty.
//  * Every failure throws a costate::error with the status and the message of the library (COSTATE_STOPPED if a
//    callback stops a run).  An exception that leaves a callback reaches the caller of the solver unchanged.  In both
//    cases y is that of the last accepted step, and the solver can be used again.
//  * Problems, functionals, tapes and solvers can be moved.  One that was moved from throws a costate::error with
//    COSTATE_BAD_ARGUMENT when it is used; another one can be assigned to it.
//
// The classes are defined in namespace costate_cpp, because costate.h defines a type `costate`.  That type, the struct
// at the end, contains their names.
#ifndef COSTATE_COSTATE_HPP
#define COSTATE_COSTATE_HPP

#include <functional>
#include <costate/accuracy.h>
#include <costate/lanes.hpp>
#include <costate/problem.hpp>

namespace costate_cpp {

// A lambda, or nothing.
template<class... A> class callback {
    std::function<int(A...)> f;

public:
    callback() = default;
    template<class F, class = std::enable_if_t<std::is_invocable<const F &, A...>::value>>
    callback(F g) : f([g = std::move(g)](A... a) { return detail::status_of(g, a...); }) {}
    explicit operator bool() const { return static_cast<bool>(f); }
    int operator()(A... a) const { return f(a...); }
};

namespace detail {

inline values part(const double *first, int count) { return {first, first ? static_cast<std::size_t>(count) : 0}; }
inline view<double> part(double *first, int count) { return {first, first ? static_cast<std::size_t>(count) : 0}; }
template<class T> T *or_null(const view<T> &v) { return v.empty() ? nullptr : v.data(); }
inline double *or_null(std::vector<double> &v) { return v.empty() ? nullptr : v.data(); }
inline std::size_t product(int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); }

inline void size_or_none(const char *what, std::size_t has, std::size_t wanted, const char *why)
{
    if (has != 0) same_size(what, has, wanted, why);
}

// nullptr without a name: the library chooses
inline const costate_method *method_named(const std::string *name)
{
    costate_method_info info;
    const costate_method *found = name ? costate_method_find(name->c_str()) : nullptr;
    if (found || !name) return found;
    const costate_method *near = costate_method_near(name->c_str(), 0);
    const bool known = near && costate_method_describe(near, &info) == COSTATE_OK;
    throw error(COSTATE_BAD_ARGUMENT, "There is no method " + *name + "." +
                (known ? std::string(" Did you mean ") + info.name + "?" : ""));
}

}

// The step, in on_step: valid during this call.
class step {
    const costate_step *s;
    int n, N;

public:
    step(const costate_step *c, int states, int all) : s(c), n(states), N(all) {}
    double start() const { return costate_step_start(s); }
    double end() const { return costate_step_end(s); }
    values state() const { return detail::part(costate_step_state(s), N); }
    std::vector<double> eval(double t) const        // n states at a time inside
    {
        std::vector<double> y(static_cast<std::size_t>(n));
        const int status = costate_step_eval(s, t, y.data());
        if (status != COSTATE_OK) throw error(status, "costate_step_eval: t = " + std::to_string(t) + " is outside.");
        return y;
    }
    const costate_step *c() const { return s; }
};

// costate_options, in which vectors, a string and lambdas replace pointers.
class options : public costate_options {
public:
    std::vector<double> rtol_vector, atol_vector;               // n, or empty
    std::string members;
    callback<const step &> on_step;
    callback<int, double, values, values> on_event;             // event, t, before, after
    callback<int, double, double, values, int, values, values> on_back;     // step, t, h, y, m, lambda, mu

    options() : costate_options() {}
    options(const costate_options &c) : costate_options(c) {}
    // sets the pointers of C to what has taken their place
    void set_vectors(int n)
    {
        const auto size = static_cast<std::size_t>(n);
        detail::size_or_none("options.rtol_vector", rtol_vector.size(), size, "n");
        detail::size_or_none("options.atol_vector", atol_vector.size(), size, "n");
        if (!rtol_vector.empty()) costate_options::rtol_vector = rtol_vector.data();
        if (!atol_vector.empty()) costate_options::atol_vector = atol_vector.data();
        if (!members.empty()) costate_options::members = members.c_str();
    }
};

// costate_times.  Vectors are empty or have m values, `events` tape.events() by m; those that a sweep is to fill have
// their size before the call.
struct times {
    std::vector<double> t0, t1, defect, end, events;
};

// Observations at times t, see costate_observations.  seed and seed2 set w and w2, which are zero before.
class observations {
public:
    std::vector<double> t;
    callback<int, double, values, int, values> value;                                   // k, t, y, m, V
    callback<int, double, values, int, view<double>> seed;                              // k, t, y, m, w
    callback<int, double, values, int, values, view<double>, view<double>> seed2;       // k, t, y, m, V, w, w2
    std::vector<double> dt;                                     // count by m, if the gradient is requested

    observations() = default;
    // Terms of m functionals from one generic function: f(k, t, y, out), or f(k, t, y) that returns that of one.
    template<class F> observations(std::vector<double> at, F f, int m = 1) : t(std::move(at))
    {
        seed = [f, m](int k, double time, values y, int count, view<double> w) {
            return seed_of(k, f, time, y, m, count, w);
        };
        seed2 = [f, m](int k, double time, values y, int count, values V, view<double> w, view<double> w2) {
            return seed2_of(k, f, time, y, m, count, V, w, w2);
        };
    }

private:
    // f at time k as a map of y alone, where u is called with it, its shape, its point
    template<class F, class Use> static int with(int k, const F &f, double time, values y, int m, const Use &use)
    {
        const auto at_k = [k, &f](const auto &x, auto &out) {
            if constexpr (std::is_invocable<const F &, int, decltype(x.t), decltype(x.y), decltype(out)>::value)
                return detail::status_of(f, k, x.t, x.y, out);
            else
                return out[0] = f(k, x.t, x.y), 0;
        };
        detail::shape s;
        s.y = static_cast<int>(y.size());
        s.rows = m;
        costate_point x = {};
        x.t = time;
        x.y = y.data();
        return use(detail::map_of<decltype(at_k)>(at_k), s, x);
    }
    template<class F> static int seed_of(int k, const F &f, double time, values y, int m, int count, view<double> w)
    {
        detail::same_size("terms of observations", static_cast<std::size_t>(m), static_cast<std::size_t>(count), "m");
        return with(k, f, time, y, m, [&](const auto &map, const detail::shape &s, const costate_point &x) {
            std::vector<double> unit(detail::product(m, m));
            std::vector<costate_gradient> g(static_cast<std::size_t>(m), costate_gradient());
            for (std::size_t j = 0; j < g.size(); j++) unit[j * g.size() + j] = 1, g[j].y = w.data() + j * y.size();
            return map.adjoints(s, &x, m, unit.data(), g.data());
        });
    }
    // of one functional; without w for Gauss-Newton: half the sum of squares of the terms
    template<class F> static int seed2_of(int k, const F &f, double time, values y, int m, int count, values V,
                                          view<double> w, view<double> w2)
    {
        if (!w.empty()) detail::same_size("terms of observations", static_cast<std::size_t>(m), 1, "one functional");
        return with(k, f, time, y, m, [&](const auto &map, const detail::shape &s, const costate_point &x) {
            std::vector<double> weight(static_cast<std::size_t>(m), 1.0);
            costate_gradient g = {};
            costate_point dx = {};
            g.y = w.data();
            int status = w.empty() ? 0 : map.adjoints(s, &x, 1, weight.data(), &g);
            for (std::size_t j = 0; j < static_cast<std::size_t>(count) && status == 0; j++) {
                dx.y = V.data() + j * y.size();
                g.y = w2.data() + j * y.size();
                if (!w.empty()) {
                    status = map.adjoint_tangent(s, &x, &dx, weight.data(), &g);
                } else {
                    status = map.tangents(s, &x, 1, &dx, weight.data());
                    if (status == 0) status = map.adjoints(s, &x, 1, weight.data(), &g);
                }
            }
            return status;
        });
    }
};

// m functionals of the end of a run: a generic function as for a map, f(t, y, p, out), or f(t, y, p) that returns one
// value.  y is all N: states, running costs, memory.  Gradients and their derivatives come from it.
class functional {
    friend class solver;
    detail::map_ptr map;
    int m;
    const detail::any_map &held() const { return detail::held(map, "functional"); }

public:
    template<class F, class = std::enable_if_t<!std::is_base_of<functional, std::decay_t<F>>::value>>
    explicit functional(F f, int count = 1) : map(detail::make_map(std::move(f))), m(count) {}
    int count() const { return m; }
};

// Values of functionals and their gradients with respect to y at t0 (N by m) and p (np by m).
struct gradients {
    std::vector<double> value, lambda, mu;
};

// From solver.gradient_within.
struct accurate_gradients : gradients {
    std::vector<double> value_error, lambda_error, mu_error;    // relative, m each: see costate_estimate
    double worst = 0, rtol = 0, factor = 0;     // factor: for the next call
    int rounds = 0;
};

// From solver.hessian_within: lambda2 and mu2 are Hessian products, as in `second`.
struct accurate_products : accurate_gradients {
    std::vector<double> lambda2, mu2, lambda2_error, mu2_error;     // errors: relative, one for each direction
};

// A Hessian product, see costate_second: what it takes, what it gives.
struct second {
    std::vector<double> V, Vp;                                  // N by m, np by m or empty
    // t1, y, p, m, V, Vp, lambda, mu, lambda2, mu2
    callback<double, values, values, int, values, values, view<double>, view<double>, view<double>, view<double>> seed;
    const observations *observed = nullptr;
    times *along = nullptr, *gradient_times = nullptr, *gradient_times2 = nullptr;
    bool correct = false;
    std::vector<double> lambda, mu, lambda2, mu2;               // out: N, np, N by m, np by m
};

// From solver.check_run, see costate_check_run.
struct finding {
    int severity, component;            // enum costate_severity; -1: of no component
    std::string topic, text;
    double t, number;                   // NaN: none
};
struct review {
    int status = 0;                     // COSTATE_OK: nothing is wrong
    std::string text;
    std::vector<finding> findings;      // those that are wrong first
};

// The steps of a run.
class tape {
    std::unique_ptr<costate_tape, void (*)(costate_tape *)> t;

public:
    struct event {
        double t;
        int number;                                             // -1: the run was continued
        std::vector<double> before, after;
    };

    tape() : t(costate_tape_new(), costate_tape_free)
    {
        if (!t) throw std::bad_alloc();
    }
    explicit tape(const std::string &path) : t(costate_tape_open(path.c_str()), costate_tape_free)     // in a file
    {
        if (!t) throw std::bad_alloc();
    }
    int steps() const { return costate_tape_steps(c()); }
    std::size_t bytes() const { return costate_tape_bytes(c()); }
    int events() const { return costate_tape_events(c()); }
    costate_forecast forecast() const
    {
        costate_forecast f = {};
        const int status = costate_tape_forecast(c(), &f);
        if (status != COSTATE_OK) throw error(status, "costate_tape_forecast: the tape holds no steps.");
        return f;
    }
    // where step k starts, and its length
    std::pair<double, double> step(int k) const
    {
        double start = 0, h = 0;
        const int status = costate_tape_get(c(), k, &start, &h, nullptr);
        if (status != COSTATE_OK) throw error(status, "The tape has " + std::to_string(steps()) + " steps: there is no "
                                              "step " + std::to_string(k) + ".");
        return {start, h};
    }
    costate_tape *c() const { return &detail::held(t, "tape"); }
};

// Use one solver per thread.  It keeps its problem alive.  A costate_problem must outlive it, and so must what pointers
// in the options point to.
class solver {
    struct contents {
        costate_problem P = {};
        std::shared_ptr<const problem> keeps;
        options o;
        std::unique_ptr<costate, void (*)(costate *)> c{nullptr, costate_free};
        tape own;                           // of gradient()
        int N() const { return P.n + P.nq + P.nm; }
        values mu_of(const double *mu, int m) const { return detail::part(mu, P.np * m); }
    };
    std::unique_ptr<contents> s = std::make_unique<contents>();

    contents &held() const { return detail::held(s, "solver"); }
    static contents &of(void *ctx) { return *static_cast<contents *>(ctx); }

    // Calls the library: body returns its status.
    template<class Body> void call(const Body &body) const
    {
        detail::catcher caught;
        int status = COSTATE_OK;
        try {
            status = body(held().c.get());
        } catch (...) {                     // from a callback of a problem in C
            costate_abandon(held().c.get());
            throw;
        }
        caught.rethrow();
        if (status != COSTATE_OK) throw error(status, costate_message(held().c.get()));
    }

    void made(const std::string *method, const costate_problem &p)
    {
        held().P = p;
        const costate_method *found = detail::method_named(method);
        set_options();
        call([&](const costate *) {
            held().c.reset(costate_new(found, &held().P, &held().o));
            if (!held().c) throw std::bad_alloc();
            return costate_status(held().c.get());
        });
    }

    void set_options()
    {
        options &o = held().o;
        costate_options &c = o;
        o.set_vectors(held().P.n);
        if (o.on_step) {
            c.on_step_ctx = &held();
            c.on_step = [](const costate_step *now, void *ctx) {
                return detail::guarded([&] {
                    return of(ctx).o.on_step(step(now, of(ctx).P.n, of(ctx).N()));
                });
            };
        }
        if (o.on_event) {
            c.on_event_ctx = &held();
            c.on_event = [](int k, double t, const double *before, const double *after, void *ctx) {
                const int N = of(ctx).N();
                return detail::guarded([&] {
                    return of(ctx).o.on_event(k, t, detail::part(before, N), detail::part(after, N));
                });
            };
        }
        if (o.on_back) {
            c.on_back_ctx = &held();
            c.on_back = [](int k, double t, double h, const double *y, int m, const double *lambda, const double *mu,
                           void *ctx) {
                const contents &a = of(ctx);
                return detail::guarded([&] {
                    return a.o.on_back(k, t, h, detail::part(y, a.N()), m, detail::part(lambda, a.N() * m),
                                       a.mu_of(mu, m));
                });
            };
        }
    }

    // ---- sizes ----

    void sized(const char *what, std::size_t has) const
    {
        detail::same_size(what, has, static_cast<std::size_t>(held().N()), "n + nq + nm");
    }
    void states(values y, values p) const
    {
        sized("y", y.size());
        detail::same_size("p", p.size(), static_cast<std::size_t>(held().P.np), "np");
    }
    // how many columns of N values; and that those of np values are as many, or none
    int columns(const char *what, std::size_t has, const char *of_p, std::size_t has_p) const
    {
        const auto N = static_cast<std::size_t>(held().N());
        if (has == 0 || has % N != 0)
            throw error(COSTATE_BAD_ARGUMENT, std::string(what) + " has " + std::to_string(has) + " values, which is "
                        "not a multiple of N = " + std::to_string(N) + ".");
        const int m = static_cast<int>(has / N);
        detail::size_or_none(of_p, has_p, detail::product(held().P.np, m), "np by m");
        return m;
    }

    // ---- structs of C ----

    class times_of {
        costate_times c = {};
        bool any;

    public:
        times_of(times *t, int m, int events) : any(t)
        {
            if (!t) return;
            const auto count = static_cast<std::size_t>(m);
            detail::size_or_none("times.t0", t->t0.size(), count, "m");
            detail::size_or_none("times.t1", t->t1.size(), count, "m");
            detail::size_or_none("times.defect", t->defect.size(), count, "m");
            detail::size_or_none("times.end", t->end.size(), count, "m");
            detail::size_or_none("times.events", t->events.size(), detail::product(events, m), "events by m");
            c.t0 = detail::or_null(t->t0);
            c.t1 = detail::or_null(t->t1);
            c.defect = detail::or_null(t->defect);
            c.end = detail::or_null(t->end);
            c.events = detail::or_null(t->events);
        }
        operator const costate_times *() const { return any ? &c : nullptr; }
    };

    class observations_of {
        const observations *all;
        int n;
        costate_observations c = {};

        template<class Call> static int guarded(void *ctx, const Call &call)
        {
            return detail::guarded([&] {
                const observations_of &a = *static_cast<observations_of *>(ctx);
                return call(*a.all, a.n);
            });
        }
        void set_calls()
        {
            if (all->value)
                c.value = [](int k, double t, const double *y, int m, const double *V, void *ctx) {
                    return guarded(ctx, [&](const observations &o, int n_of) {
                        return o.value(k, t, detail::part(y, n_of), m, detail::part(V, n_of * m));
                    });
                };
            if (all->seed)
                c.seed = [](int k, double t, const double *y, int m, double *w, void *ctx) {
                    return guarded(ctx, [&](const observations &o, int n_of) {
                        return o.seed(k, t, detail::part(y, n_of), m, detail::part(w, n_of * m));
                    });
                };
            if (all->seed2)
                c.seed2 = [](int k, double t, const double *y, int m, const double *V, double *w, double *w2,
                             void *ctx) {
                    return guarded(ctx, [&](const observations &o, int n_of) {
                        return o.seed2(k, t, detail::part(y, n_of), m, detail::part(V, n_of * m), detail::part(w, n_of),
                                       detail::part(w2, n_of * m));
                    });
                };
        }

    public:
        // dt: NULL where all of these observations are const
        observations_of(const observations *o, std::vector<double> *dt, int states, int m) : all(o), n(states)
        {
            if (!o) return;
            c.count = static_cast<int>(o->t.size());
            c.t = o->t.data();
            c.ctx = this;
            if (dt) {
                detail::size_or_none("observations.dt", dt->size(), o->t.size() * static_cast<std::size_t>(m),
                                     "times by m");
                c.dt = detail::or_null(*dt);
            }
            set_calls();
        }
        observations_of(const observations_of &) = delete;
        observations_of &operator=(const observations_of &) = delete;
        operator const costate_observations *() const { return all ? &c : nullptr; }
    };

    // ---- seeds of functionals ----

    detail::shape shape_of(const functional &J) const
    {
        detail::shape of_J;
        of_J.y = held().N();
        of_J.p = held().P.np;
        of_J.rows = J.m;
        return of_J;
    }
    static costate_point point_at(double t, const double *y, const double *p)
    {
        costate_point x = {};
        x.t = t, x.y = y, x.p = p;
        return x;
    }
    // value (m), if it is no null pointer, and gradients with respect to y, p, t, which are added
    int seed(const functional &J, double t1, const double *y, const double *p, double *value, double *lambda,
             double *mu, double *end) const
    {
        const detail::shape of_J = shape_of(J);
        const costate_point x = point_at(t1, y, p);
        const auto m = static_cast<std::size_t>(J.m);
        std::vector<double> unit(m * m);
        std::vector<costate_gradient> g(m, costate_gradient());
        for (std::size_t j = 0; j < m; j++) {
            unit[j * m + j] = 1;
            g[j].y = lambda + j * static_cast<std::size_t>(of_J.y);
            g[j].p = mu ? mu + j * static_cast<std::size_t>(of_J.p) : nullptr;
            g[j].t = end ? end + j : nullptr;
        }
        const int status = value ? J.held().value(of_J, &x, value) : 0;
        return status ? status : J.held().adjoints(of_J, &x, J.m, unit.data(), g.data());
    }

    // Seeds of Hessian products of one functional (m of Gauss-Newton products), whose end moves along the directions.
    struct second_seed {
        const solver *of;
        const functional *J;
        std::vector<double> along_end;
    };
    static int seed2(const second_seed &x, double t1, values y, values p, int m, values V, values Vp,
                     view<double> lambda, view<double> mu, view<double> lambda2, view<double> mu2, double *end,
                     double *end2)
    {
        const detail::shape of_J = x.of->shape_of(*x.J);
        const costate_point at = point_at(t1, y.data(), p.data());
        std::vector<double> w(static_cast<std::size_t>(of_J.rows), 1.0);
        const bool newton = !lambda.empty();
        costate_gradient g = {};
        g.y = lambda.data(), g.p = mu.data(), g.t = end;
        int status = newton ? x.J->held().adjoints(of_J, &at, 1, w.data(), &g) : 0;
        for (int j = 0; j < m && status == 0; j++) {
            costate_point dx = {};
            dx.t = j < static_cast<int>(x.along_end.size()) ? x.along_end[static_cast<std::size_t>(j)] : 0;
            dx.y = V.data() + detail::product(j, of_J.y);
            dx.p = Vp.empty() ? nullptr : Vp.data() + detail::product(j, of_J.p);
            g.y = lambda2.data() + detail::product(j, of_J.y);
            g.p = mu2.empty() ? nullptr : mu2.data() + detail::product(j, of_J.p);
            g.t = newton ? end2 + j : nullptr;
            if (newton) {
                status = x.J->held().adjoint_tangent(of_J, &at, &dx, w.data(), &g);
            } else {
                status = x.J->held().tangents(of_J, &at, 1, &dx, w.data());
                if (status == 0) status = x.J->held().adjoints(of_J, &at, 1, w.data(), &g);
            }
        }
        return status;
    }

public:
    // Without a name: auto, which chooses the method of each step.
    explicit solver(const problem &p, options o = {})
    {
        held().keeps = std::make_shared<const problem>(p);
        held().o = std::move(o);
        made(nullptr, p.c());
    }
    solver(const std::string &method, const problem &p, options o = {})
    {
        held().keeps = std::make_shared<const problem>(p);
        held().o = std::move(o);
        made(&method, p.c());
    }
    explicit solver(const costate_problem &p, options o = {})
    {
        held().o = std::move(o);
        made(nullptr, p);
    }
    solver(const std::string &method, const costate_problem &p, options o = {})
    {
        held().o = std::move(o);
        made(&method, p);
    }

    // ---- runs: y is changed ----

    void integrate(double t0, double t1, view<double> y, values p, tape *onto = nullptr)
    {
        states(y, p);
        call([&](costate *c) { return costate_integrate(c, t0, t1, y.data(), p.data(), onto ? onto->c() : nullptr); });
    }
    void integrate(double t0, double t1, view<double> y, values p, tape &onto) { integrate(t0, t1, y, p, &onto); }
    // costate_continue, whose name C++ reserves
    void continue_to(tape &on, double t1, view<double> y)
    {
        sized("y", y.size());
        call([&](costate *c) { return costate_continue(c, on.c(), t1, y.data()); });
    }
    void integrate_tlm(double t0, double t1, view<double> y, values p, view<double> V, values Vp = {},
                       times *given = nullptr, tape *onto = nullptr)
    {
        states(y, p);
        const int m = columns("V", V.size(), "Vp", Vp.size());
        const times_of t(given, m, 0);
        call([&](costate *c) {
            return costate_integrate_tlm(c, t0, t1, y.data(), p.data(), m, V.data(), detail::or_null(Vp), t,
                                         onto ? onto->c() : nullptr);
        });
    }
    // seed(t1, y, p, m, lambda, mu) sets lambda and may add to mu
    template<class Seed> void integrate_adj(double t0, double t1, view<double> y, values p, view<double> lambda,
                                            view<double> mu, const Seed &seed_of_end, times *given = nullptr)
    {
        states(y, p);
        const int m = columns("lambda", lambda.size(), "mu", mu.size());
        const times_of t(given, m, 0);
        struct context {
            const contents *a;
            const Seed *seed;
        } x = {&held(), &seed_of_end};
        call([&](costate *c) {
            return costate_integrate_adj(c, t0, t1, y.data(), p.data(), m, lambda.data(), detail::or_null(mu), t,
                [](double end, const double *at, const double *of_p, int count, double *l, double *of_mu, void *ctx) {
                    const context &v = *static_cast<context *>(ctx);
                    return detail::guarded([&] {
                        const int N = v.a->N(), np = v.a->P.np;
                        return detail::status_of(*v.seed, end, detail::part(at, N), detail::part(of_p, np), count,
                                                 detail::part(l, N * count), detail::part(of_mu, np * count));
                    });
                }, &x);
        });
    }
    // Runs, and sweeps back: values of the functionals at t1, and gradients.
    gradients gradient(double t0, double t1, view<double> y, values p, const functional &J,
                       observations *observed = nullptr)
    {
        integrate(t0, t1, y, p, held().own);
        return adjoint(held().own, J, y, p, observed);
    }
    // To a tolerance, see costate_gradient_within.  factor: of the tolerances of the first run, 0: chosen
    accurate_gradients gradient_within(double tol, double t0, double t1, view<double> y, values p, const functional &J,
                                       tape *onto = nullptr, double factor = 0)
    {
        accurate_gradients out;
        costate_goal goal = {};
        goal.tol = tol, goal.factor = factor;
        within(goal, out, t0, t1, y, p, J, nullptr, onto);
        return out;
    }
    // Products of one functional along directions V and Vp, and its gradient, to a tolerance.  product_atol: errors of
    // products that are allowed in any case
    accurate_products hessian_within(double tol, double t0, double t1, view<double> y, values p, const functional &J,
                                     values V, values Vp = {}, tape *onto = nullptr, double factor = 0,
                                     double product_atol = 0)
    {
        detail::same_size("J", static_cast<std::size_t>(J.m), 1, "Hessian products are of one functional");
        second x = directions(V, Vp, nullptr);
        const int m = columns("V", V.size(), "Vp", Vp.size()), N = held().N(), np = held().P.np;
        end_of_products end(*this, J, m);
        end.seeds(x);
        const times_of along(x.along, m, 0), first(x.gradient_times, 1, 0), derived(x.gradient_times2, m, 0);
        second_call from = {&held(), &x};
        costate_second c = second_of(from, m);
        c.along = along, c.times = first, c.times2 = derived;
        accurate_products out;
        out.lambda2.resize(detail::product(N, m)), out.lambda2_error.resize(static_cast<std::size_t>(m));
        out.mu2.resize(detail::product(np, m)), out.mu2_error.resize(np ? static_cast<std::size_t>(m) : 0);
        costate_goal goal = {};
        goal.tol = tol, goal.factor = factor, goal.product_atol = product_atol;
        goal.estimate.products.run.y0 = out.lambda2.data(), goal.estimate.products.y0_error = out.lambda2_error.data();
        goal.estimate.products.run.p = detail::or_null(out.mu2);
        goal.estimate.products.p_error = detail::or_null(out.mu2_error);
        within(goal, out, t0, t1, y, p, J, &c, onto);
        return out;
    }
    // y and yp (n, or empty): guesses, in and out
    void consistent(double t, view<double> y, values p, view<double> yp = {})
    {
        if (held().P.nm) sized("y", y.size());
        else detail::same_size("y", y.size(), static_cast<std::size_t>(held().P.n), "n");
        detail::same_size("p", p.size(), static_cast<std::size_t>(held().P.np), "np");
        detail::size_or_none("yp", yp.size(), static_cast<std::size_t>(held().P.n), "n");
        call([&](costate *c) { return costate_consistent(c, t, y.data(), detail::or_null(yp), p.data()); });
    }

    // ---- over a tape ----

    void adjoint(const tape &over, view<double> lambda, view<double> mu = {}, times *requested = nullptr,
                 observations *observed = nullptr)
    {
        const int m = columns("lambda", lambda.size(), "mu", mu.size());
        const times_of t(requested, m, over.events());
        const observations_of o(observed, observed ? &observed->dt : nullptr, held().P.n, m);
        call([&](costate *c) { return costate_adjoint(c, over.c(), m, lambda.data(), detail::or_null(mu), t, o); });
    }
    // of functionals of the end of this tape, where y is
    gradients adjoint(const tape &over, const functional &J, values y, values p, observations *observed = nullptr)
    {
        states(y, p);
        gradients g;
        times end;
        g.value.resize(static_cast<std::size_t>(J.m));
        g.lambda.resize(detail::product(held().N(), J.m));
        g.mu.resize(detail::product(held().P.np, J.m));
        end.end.resize(g.value.size());
        const auto last = over.step(over.steps() - 1);
        const int status = seed(J, last.first + last.second, y.data(), p.data(), g.value.data(), g.lambda.data(),
                                detail::or_null(g.mu), end.end.data());
        if (status != 0) throw error(COSTATE_CALLBACK, "The functional returned " + std::to_string(status) + ".");
        const bool timed = std::any_of(end.end.begin(), end.end.end(), [](double d) { return d != 0; });
        adjoint(over, g.lambda, g.mu, timed ? &end : nullptr, observed);
        return g;
    }
    void tangent(const tape &over, view<double> V, values Vp = {}, times *given = nullptr,
                 observations *observed = nullptr)
    {
        const int m = columns("V", V.size(), "Vp", Vp.size());
        const times_of t(given, m, over.events());
        const observations_of o(observed, nullptr, held().P.n, m);
        call([&](costate *c) { return costate_tangent(c, over.c(), m, V.data(), detail::or_null(Vp), t, o); });
    }
    void hessian(const tape &over, second &x) { second_order(over, x, costate_hessian, true); }
    void gauss_newton(const tape &over, second &x) { second_order(over, x, costate_gauss_newton, false); }
    // of one functional and, if given, of observations; lambda and mu are its gradient
    second hessian(const tape &over, const functional &J, values V, values Vp = {},
                   const observations *observed = nullptr)
    {
        detail::same_size("J", static_cast<std::size_t>(J.m), 1, "Hessian products are of one functional");
        second x = directions(V, Vp, observed);
        end_of_products end(*this, J, static_cast<int>(V.size() / static_cast<std::size_t>(held().N())));
        end.seeds(x);
        hessian(over, x);
        x.seed = {};
        x.along = x.gradient_times = x.gradient_times2 = nullptr;
        return x;
    }
    // of half the sum of squares of functionals and, if given, of terms of observations: lambda2, mu2
    second gauss_newton(const tape &over, const functional &residuals, values V, values Vp = {},
                        const observations *observed = nullptr)
    {
        second x = directions(V, Vp, observed);
        const second_seed of = {this, &residuals, {}};
        x.seed = [&](double t1, values y, values p, int count, values v, values vp, view<double> lambda,
                     view<double> mu, view<double> lambda2, view<double> mu2) {
            return seed2(of, t1, y, p, count, v, vp, lambda, mu, lambda2, mu2, nullptr, nullptr);
        };
        gauss_newton(over, x);
        x.seed = {};
        return x;
    }
    void replay(const tape &over, view<double> y, values p, tape *onto = nullptr)
    {
        states(y, p);
        call([&](costate *c) {
            return onto ? costate_replay_onto(c, over.c(), y.data(), p.data(), onto->c())
                        : costate_replay(c, over.c(), y.data(), p.data());
        });
    }
    std::vector<double> eval(const tape &over, double t) const          // n states
    {
        std::vector<double> y(static_cast<std::size_t>(held().P.n));
        call([&](costate *c) { return costate_tape_eval(c, over.c(), t, y.data()); });
        return y;
    }
    tape::event event(const tape &over, int k) const
    {
        const auto N = static_cast<std::size_t>(held().N());
        tape::event e = {0, 0, std::vector<double>(N), std::vector<double>(N)};
        const int status = costate_tape_event(over.c(), k, &e.t, &e.number, e.before.data(), e.after.data());
        if (status != COSTATE_OK)
            throw error(status, "The tape has " + std::to_string(over.events()) + " events: there is no event " +
                        std::to_string(k) + ".");
        return e;
    }
    void read(tape &from) { call([&](costate *c) { return costate_tape_read(c, from.c()); }); }
    void resume(tape &on, view<double> y)
    {
        sized("y", y.size());
        call([&](costate *c) { return costate_resume(c, on.c(), y.data()); });
    }

    // ---- checks: throw if something is wrong; and the rest ----

    costate_report check_adjoint(double t0, double t1, values y, values p)
    {
        states(y, p);
        costate_report r = {};
        call([&](costate *c) { return costate_check_adjoint(c, t0, t1, y.data(), p.data(), &r); });
        return r;
    }
    // What is wrong is in the review, and so is why the run fails.  Throws for bad arguments, and what callbacks throw.
    review check_run(double t0, double t1, values y, values p)
    {
        states(y, p);
        const std::unique_ptr<costate_review, void (*)(costate_review *)> r(costate_review_new(), costate_review_free);
        if (!r) throw std::bad_alloc();
        review found;
        call([&](costate *c) {
            found.status = costate_check_run(c, t0, t1, y.data(), p.data(), r.get());
            const int count = costate_review_count(r.get());
            return count > 0 && found.status != COSTATE_NO_MEMORY ? COSTATE_OK : found.status;
        });
        found.text = costate_review_text(r.get());
        costate_finding f;
        for (int k = 0; costate_review_get(r.get(), k, &f) == COSTATE_OK; k++)
            found.findings.push_back({f.severity, f.component, f.topic, f.text, f.t, f.number});
        return found;
    }
    // J does not depend on t where an event ends the run
    costate_report check_hessian(double t0, double t1, values y, values p, const functional &J)
    {
        states(y, p);
        detail::same_size("J", static_cast<std::size_t>(J.m), 1, "Hessian products are of one functional");
        second_seed of_J = {this, &J, {}};
        costate_report r = {};
        call([&](costate *c) {
            return costate_check_hessian(c, t0, t1, y.data(), p.data(),
                [](double end, const double *at, const double *of_p, int m, const double *V, const double *Vp,
                   double *lambda, double *mu, double *lambda2, double *mu2, void *ctx) {
                    const second_seed &x = *static_cast<second_seed *>(ctx);
                    const int N = x.of->held().N(), np = x.of->held().P.np;
                    std::vector<double> unused(static_cast<std::size_t>(m));
                    return detail::guarded([&] {
                        return seed2(x, end, detail::part(at, N), detail::part(of_p, np), m, detail::part(V, N * m),
                                     detail::part(Vp, np * m), detail::part(lambda, N), detail::part(mu, np),
                                     detail::part(lambda2, N * m), detail::part(mu2, np * m), nullptr, unused.data());
                    });
                }, &of_J, &r);
        });
        return r;
    }
    double time() const { return costate_time(held().c.get()); }
    int mode() const { return costate_mode(held().c.get()); }
    const costate_stats &stats() const { return *costate_get_stats(held().c.get()); }
    void reset_stats() { costate_reset_stats(held().c.get()); }
    const char *message() const { return costate_message(held().c.get()); }
    const char *linear_solver() const { return costate_solver_name(held().c.get()); }
    int N() const { return held().N(); }
    costate *c() const { return held().c.get(); }

private:
    second directions(values V, values Vp, const observations *observed) const
    {
        columns("V", V.size(), "Vp", Vp.size());
        second x;
        x.V.assign(V.begin(), V.end());
        x.Vp.assign(Vp.begin(), Vp.end());
        x.observed = observed;
        return x;
    }

    // The end of a run that moves along the directions: its tangents, and the gradients with respect to it.
    struct end_of_products {
        times along, end, end2;
        second_seed of;

        end_of_products(const solver &s, const functional &J, int m) : of{&s, &J, {}}
        {
            along.end.resize(static_cast<std::size_t>(m)), end2.end.resize(along.end.size());
            end.end.resize(1);
        }
        void seeds(second &x)
        {
            x.along = &along, x.gradient_times = &end, x.gradient_times2 = &end2;
            x.seed = [this](double t1, values y, values p, int count, values v, values vp, view<double> lambda,
                            view<double> mu, view<double> lambda2, view<double> mu2) {
                of.along_end = along.end;
                return seed2(of, t1, y, p, count, v, vp, lambda, mu, lambda2, mu2, end.end.data(), end2.end.data());
            };
        }
    };

    void within(costate_goal &goal, accurate_gradients &out, double t0, double t1, view<double> y, values p,
                const functional &J, const costate_second *products, tape *onto)
    {
        states(y, p);
        struct context {
            const solver *of;
            const functional *J;
        } x = {this, &J};
        const auto m = static_cast<std::size_t>(J.m);
        out.value.resize(m), out.value_error.resize(m), out.lambda_error.resize(m), out.mu_error.resize(m);
        out.lambda.resize(detail::product(held().N(), J.m));
        out.mu.resize(detail::product(held().P.np, J.m));
        costate_functional F = {};
        F.m = J.m;
        F.ctx = &x;
        F.second = products;
        F.at_end = [](double end, const double *at, const double *of_p, int, double *value, double *lambda, double *mu,
                      double *of_end, void *ctx) {
            const context &v = *static_cast<context *>(ctx);
            return detail::guarded([&] { return v.of->seed(*v.J, end, at, of_p, value, lambda, mu, of_end); });
        };
        goal.estimate.run.value = out.value.data();
        goal.estimate.run.y0 = out.lambda.data();
        goal.estimate.value_error = out.value_error.data();
        goal.estimate.y0_error = out.lambda_error.data();
        if (held().P.np) goal.estimate.run.p = out.mu.data(), goal.estimate.p_error = out.mu_error.data();
        call([&](costate *c) {
            return costate_gradient_within(c, t0, t1, y.data(), p.data(), &F, &goal, onto ? onto->c() : nullptr);
        });
        out.worst = goal.worst, out.rtol = goal.rtol, out.factor = goal.factor, out.rounds = goal.rounds;
    }

    struct second_call {
        const contents *a;
        second *x;
    };
    // what it takes, without times and observations; `from` is its context
    static costate_second second_of(second_call &from, int m)
    {
        second &x = *from.x;
        costate_second c = {};
        c.m = m;
        c.V = x.V.data();
        c.Vp = x.Vp.empty() ? nullptr : x.Vp.data();
        c.ctx = &from;
        c.correct = x.correct;
        if (x.seed)
            c.seed = [](double t1, const double *y, const double *p, int count, const double *V, const double *Vp,
                        double *lambda, double *mu, double *lambda2, double *mu2, void *ctx) {
                const second_call &v = *static_cast<second_call *>(ctx);
                return detail::guarded([&] {
                    const int all = v.a->N(), of_p = v.a->P.np;
                    return v.x->seed(t1, detail::part(y, all), detail::part(p, of_p), count,
                                     detail::part(V, all * count), detail::part(Vp, of_p * count),
                                     detail::part(lambda, all), detail::part(mu, of_p),
                                     detail::part(lambda2, all * count), detail::part(mu2, of_p * count));
                });
            };
        return c;
    }
    using second_library = int(costate *, const costate_tape *, const costate_second *);
    void second_order(const tape &over, second &x, second_library *library, bool newton)
    {
        const int N = held().N(), np = held().P.np, m = columns("V", x.V.size(), "Vp", x.Vp.size());
        const times_of along(x.along, m, over.events()), first(x.gradient_times, 1, over.events());
        const times_of derived(x.gradient_times2, m, over.events());
        const observations_of o(x.observed, nullptr, held().P.n, m);
        x.lambda.assign(newton ? static_cast<std::size_t>(N) : 0, 0.0);
        x.mu.assign(newton ? static_cast<std::size_t>(np) : 0, 0.0);
        x.lambda2.assign(detail::product(N, m), 0.0);
        x.mu2.assign(detail::product(np, m), 0.0);
        second_call from = {&held(), &x};
        costate_second c = second_of(from, m);
        c.along = along, c.times = first, c.times2 = derived, c.observations = o;
        c.lambda = detail::or_null(x.lambda), c.mu = detail::or_null(x.mu);
        c.lambda2 = detail::or_null(x.lambda2), c.mu2 = detail::or_null(x.mu2);
        call([&](costate *solver_of_c) { return library(solver_of_c, over.c(), &c); });
    }
};

}

#include <costate/limits.hpp>

// The names of this header.
struct costate {
    costate() = delete;
    ~costate() = delete;
    template<class N> static double value(const N &x) { return costate_cpp::value(x); }     // of any number
    template<class T = double, class D = T> using dual = costate_cpp::dual<T, D>;
    template<class T = double> using traced = costate_cpp::traced<T>;
    template<int L> using wide = costate_cpp::wide<L>;
    template<class F> static costate_cpp::in_lanes<F> lanes(F f) { return {std::move(f)}; }         // see lanes.hpp
    template<class T> using view = costate_cpp::view<T>;
    template<class T> using point = costate_cpp::point<T>;
    using values = costate_cpp::values;
    using error = costate_cpp::error;
    using event = costate_cpp::event;
    using problem = costate_cpp::problem;
    using functional = costate_cpp::functional;
    using gradients = costate_cpp::gradients;
    using accurate_gradients = costate_cpp::accurate_gradients;
    using accurate_products = costate_cpp::accurate_products;
    using options = costate_cpp::options;
    using step = costate_cpp::step;
    using times = costate_cpp::times;
    using observations = costate_cpp::observations;
    using second = costate_cpp::second;
    using finding = costate_cpp::finding;
    using review = costate_cpp::review;
    using tape = costate_cpp::tape;
    using solver = costate_cpp::solver;
    using steady_options = costate_cpp::steady_options;
    using steady_state = costate_cpp::steady_state;
    using periodic_options = costate_cpp::periodic_options;
    using periodic_orbit = costate_cpp::periodic_orbit;
};
#endif
