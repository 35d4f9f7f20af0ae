// limits.hpp - steady.h and periodic.h for C++17: steady states and periodic orbits; part of costate.hpp.
//
//     costate::steady_state rest(problem);
//     rest.solve(y, p);                                // y: the steady state that the solution from y tends to
//     rest.adjoint(lambda, mu);
//
//     costate::periodic_orbit cycle(problem);
//     double T = cycle.solve(y, 6.3, p);               // y and 6.3: guesses
//
// Sizes, failures and exceptions are as in costate.hpp.  Of options, vectors and names are used; their callbacks
// are not called, and refused.
#ifndef COSTATE_COSTATE_HPP
#error "include costate/costate.hpp, which includes this file"
#endif
#ifndef COSTATE_LIMITS_HPP
#define COSTATE_LIMITS_HPP

#include <complex>
#include <utility>
#include <costate/periodic.h>
#include <costate/steady.h>

namespace costate_cpp {

// costate_steady_options with vectors.
class steady_options : public costate_steady_options {
public:
    std::vector<std::pair<int, double>> before;     // parameters with values of their own in the steady state
    steady_options() : costate_steady_options() {}
    steady_options(const costate_steady_options &c) : costate_steady_options(c) {}
};

// costate_periodic_options with a vector.
class periodic_options : public costate_periodic_options {
public:
    std::vector<double> conserved;                  // n by k: vectors whose products with y do not change
    periodic_options() : costate_periodic_options() {}
    periodic_options(const costate_periodic_options &c) : costate_periodic_options(c) {}
};

namespace detail {

// What both have: a solver of C, and what it needs.  C: costate_steady or costate_periodic.
template<class C> class limit {
public:
    costate_problem P = {};
    std::shared_ptr<const problem> keeps;
    options run;
    std::unique_ptr<C, void (*)(C *)> c;
    const char *(*message)(const C *);
    void (*abandon)(C *);

    limit(void (*free_it)(C *), const char *(*says)(const C *), void (*leave)(C *))
        : c(nullptr, free_it), message(says), abandon(leave) {}

    template<class Body> void call(const Body &body)
    {
        catcher caught;
        int status = COSTATE_OK;
        try {
            status = body(c.get());
        } catch (...) {                     // from a callback of a problem in C
            abandon(c.get());
            throw;
        }
        caught.rethrow();
        if (status != COSTATE_OK) throw error(status, message(c.get()));
    }
    // make(method) creates the solver; its first call says what is wrong
    template<class Make> void made(const std::string *method, const Make &make)
    {
        const costate_method *found = method_named(method);
        if (run.on_step || run.on_event || run.on_back)
            throw error(COSTATE_BAD_ARGUMENT, "options: on_step, on_event and on_back are not called on the way to a "
                        "limit.");
        run.set_vectors(P.n);
        catcher caught;
        c.reset(make(found));
        caught.rethrow();
        if (!c) throw std::bad_alloc();
    }
    int columns(const char *what, std::size_t has, int rows) const
    {
        if (has == 0 || rows == 0 || has % static_cast<std::size_t>(rows) != 0)
            throw error(COSTATE_BAD_ARGUMENT, std::string(what) + " has " + std::to_string(has) + " values, which is "
                        "not a multiple of " + std::to_string(rows) + ".");
        return static_cast<int>(has / static_cast<std::size_t>(rows));
    }
    void parameters(values p) const { same_size("p", p.size(), static_cast<std::size_t>(P.np), "np"); }
};

}

// A steady state: see steady.h.  States are y and memory variables, n + nm.
class steady_state {
    struct contents : detail::limit<costate_steady> {
        steady_options o;
        std::vector<int> fixed;
        std::vector<double> of_fixed;
        contents() : limit(costate_steady_free, costate_steady_message, costate_steady_abandon) {}
    };
    std::unique_ptr<contents> s = std::make_unique<contents>();
    contents &held() const { return detail::held(s, "steady_state"); }

    void made(const std::string *method, const costate_problem &p, options &run, steady_options &o)
    {
        contents &a = held();
        a.P = p;
        a.run = std::move(run);
        a.o = std::move(o);
        for (const auto &[index, value] : a.o.before) a.fixed.push_back(index), a.of_fixed.push_back(value);
        if (!a.fixed.empty()) a.o.fixed = a.fixed.data(), a.o.values = a.of_fixed.data(), a.o.nfixed = a.fixed.size();
        a.made(method, [&](const costate_method *m) { return costate_steady_new(m, &a.P, &a.run, &a.o); });
    }
    int states() const { return held().P.n + held().P.nm; }

public:
    explicit steady_state(const problem &p, options run = {}, steady_options o = {})
    {
        held().keeps = std::make_shared<const problem>(p);
        made(nullptr, p.c(), run, o);
    }
    steady_state(const std::string &method, const problem &p, options run = {}, steady_options o = {})
    {
        held().keeps = std::make_shared<const problem>(p);
        made(&method, p.c(), run, o);
    }
    explicit steady_state(const costate_problem &p, options run = {}, steady_options o = {})
    {
        made(nullptr, p, run, o);
    }
    steady_state(const std::string &method, const costate_problem &p, options run = {}, steady_options o = {})
    {
        made(&method, p, run, o);
    }

    // y: where the solution starts; then the steady state
    void solve(view<double> y, values p)
    {
        detail::same_size("y", y.size(), static_cast<std::size_t>(states()), "n + nm");
        held().parameters(p);
        held().call([&](costate_steady *c) { return costate_steady_solve(c, y.data(), p.data()); });
    }
    // directions of the start; then of the steady state
    void tangent(view<double> V, values Vp = {})
    {
        const int m = held().columns("V", V.size(), states());
        detail::size_or_none("Vp", Vp.size(), detail::product(held().P.np, m), "np by m");
        held().call([&](costate_steady *c) { return costate_steady_tangent(c, m, V.data(), detail::or_null(Vp)); });
    }
    // gradients with respect to the steady state; then to the start, and added to mu
    void adjoint(view<double> lambda, view<double> mu = {})
    {
        const int m = held().columns("lambda", lambda.size(), states());
        detail::size_or_none("mu", mu.size(), detail::product(held().P.np, m), "np by m");
        held().call([&](costate_steady *c) {
            return costate_steady_adjoint(c, m, lambda.data(), detail::or_null(mu));
        });
    }
    // n by stats().invariants
    values invariants() const
    {
        const double *found = costate_steady_invariants(held().c.get());
        return detail::part(found, held().P.n * stats().invariants);
    }
    const costate_steady_stats &stats() const { return *costate_steady_get_stats(held().c.get()); }
    // as a jump of an event, whose ctx is c()
    costate_map map() const { return costate_steady_map(held().c.get()); }
    costate_steady *c() const { return held().c.get(); }
};

// A periodic orbit: see periodic.h.  X = (y, T, q) has n + 1 + nq values.
class periodic_orbit {
    struct contents : detail::limit<costate_periodic> {
        periodic_options o;
        contents() : limit(costate_periodic_free, costate_periodic_message, costate_periodic_abandon) {}
        int X() const { return P.n + 1 + P.nq; }
    };
    std::unique_ptr<contents> s = std::make_unique<contents>();
    contents &held() const { return detail::held(s, "periodic_orbit"); }

    void made(const std::string *method, const costate_problem &p, options &run, periodic_options &o)
    {
        contents &a = held();
        a.P = p;
        a.run = std::move(run);
        a.o = std::move(o);
        if (!a.o.conserved.empty()) {
            a.o.ninvariants = a.columns("options.conserved", a.o.conserved.size(), p.n);
            a.o.invariants = a.o.conserved.data();
        }
        a.made(method, [&](const costate_method *m) { return costate_periodic_new(m, &a.P, &a.run, &a.o); });
    }
    std::size_t states() const { return static_cast<std::size_t>(held().P.n); }
    template<class Body> void call(const Body &body) const { held().call(body); }

public:
    explicit periodic_orbit(const problem &p, options run = {}, periodic_options o = {})
    {
        held().keeps = std::make_shared<const problem>(p);
        made(nullptr, p.c(), run, o);
    }
    periodic_orbit(const std::string &method, const problem &p, options run = {}, periodic_options o = {})
    {
        held().keeps = std::make_shared<const problem>(p);
        made(&method, p.c(), run, o);
    }
    explicit periodic_orbit(const costate_problem &p, options run = {}, periodic_options o = {})
    {
        made(nullptr, p, run, o);
    }
    periodic_orbit(const std::string &method, const costate_problem &p, options run = {}, periodic_options o = {})
    {
        made(&method, p, run, o);
    }

    // y: a guess; then y(t0).  T: a guess of the period, which is not read if options.period is given.  Returns the
    // period
    double solve(view<double> y, double T, values p)
    {
        detail::same_size("y", y.size(), states(), "n");
        held().parameters(p);
        call([&](costate_periodic *c) { return costate_periodic_solve(c, y.data(), &T, p.data()); });
        return T;
    }
    costate_orbit orbit() const
    {
        costate_orbit found;
        call([&](costate_periodic *c) { return costate_periodic_orbit(c, &found); });
        return found;
    }
    std::vector<double> eval(double t) const        // n states at any time
    {
        std::vector<double> y(states());
        call([&](costate_periodic *c) { return costate_periodic_eval(c, t, y.data()); });
        return y;
    }
    std::vector<double> get() const                 // X
    {
        std::vector<double> X(static_cast<std::size_t>(held().X()));
        call([&](costate_periodic *c) { return costate_periodic_get(c, X.data()); });
        return X;
    }
    std::vector<std::complex<double>> multipliers() const
    {
        std::vector<double> re(states()), im(states());
        call([&](costate_periodic *c) { return costate_periodic_multipliers(c, re.data(), im.data()); });
        return together(re, im);
    }
    std::vector<double> tangent(values Vp) const    // X by m
    {
        const int m = held().columns("Vp", Vp.size(), held().P.np);
        std::vector<double> V(detail::product(held().X(), m));
        call([&](costate_periodic *c) { return costate_periodic_tangent(c, m, Vp.data(), V.data()); });
        return V;
    }
    // lambda: X by m; added to mu
    void adjoint(values lambda, view<double> mu) const
    {
        const int m = held().columns("lambda", lambda.size(), held().X());
        detail::same_size("mu", mu.size(), detail::product(held().P.np, m), "np by m");
        call([&](costate_periodic *c) { return costate_periodic_adjoint(c, m, lambda.data(), mu.data()); });
    }
    // derivatives along Vp of the gradient of the functional with these weights of X: np by m, added to mu2; the
    // gradient is added to mu
    void hessian(values weights, values Vp, view<double> mu, view<double> mu2) const
    {
        const int m = held().columns("Vp", Vp.size(), held().P.np);
        detail::same_size("weights", weights.size(), static_cast<std::size_t>(held().X()), "n + 1 + nq");
        detail::same_size("mu", mu.size(), static_cast<std::size_t>(held().P.np), "np");
        detail::same_size("mu2", mu2.size(), Vp.size(), "as many as Vp");
        call([&](costate_periodic *c) {
            return costate_periodic_hessian(c, m, Vp.data(),
                [](const double *, const double *, int, const double *, const double *, double *lambda, double *,
                   double *, double *, void *ctx) {
                    const values &w = *static_cast<values *>(ctx);
                    for (std::size_t i = 0; i < w.size(); i++) lambda[i] = w[i];
                    return 0;
                }, &weights, mu.data(), mu2.data());
        });
    }
    std::vector<std::complex<double>> multiplier_gradient(int k) const
    {
        std::vector<double> re(static_cast<std::size_t>(held().P.np)), im(re.size());
        call([&](costate_periodic *c) { return costate_periodic_multiplier_gradient(c, k, re.data(), im.data()); });
        return together(re, im);
    }
    costate_periodic *c() const { return held().c.get(); }

private:
    static std::vector<std::complex<double>> together(const std::vector<double> &re, const std::vector<double> &im)
    {
        std::vector<std::complex<double>> z(re.size());
        for (std::size_t i = 0; i < z.size(); i++) z[i] = {re[i], im[i]};
        return z;
    }
};

}
#endif
