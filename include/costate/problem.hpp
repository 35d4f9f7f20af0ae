// problem.hpp - problems of costate.h from generic C++ functions, with all products of each map.  C++17.
//
// A map is one function that is written for any type of numbers, a generic lambda or a functor with a template, in one
// of these forms:
//
//     f(t, y, p, out)         f(t, y, yp, p, out) of a residual         f(x, out) of a point (below)
//
// It sets `out`, which holds zeros on entry; that of a jump holds y and m before the event, so that a jump only sets
// what changes.  It returns nothing, or an int as callbacks of costate.h do: > 0 means that it is not defined at x.  A
// map of one value may also return this value: f(t, y, p) or f(x).  y, p, yp, m and out are views: y[i], y.size(),
// y.data(). If solvers in several threads share a problem, they call its maps at the same time: a map must not change
// what it captures.
//
//     costate::problem decay(1, 1, [](auto t, auto const &y, auto const &p, auto &out) { out[0] = -p[0] * y[0]; });
//
// An exception that a map throws ends the call of the solver and reaches its caller.
#ifndef COSTATE_PROBLEM_HPP
#define COSTATE_PROBLEM_HPP

#include <algorithm>
#include <exception>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#include <costate/costate.h>
#include <costate/lanes.h>
#include <costate/numbers.hpp>

#ifdef __clang__                            // for lanes.hpp
#define COSTATE_CALL_INLINE [[gnu::always_inline]] inline
#else
#define COSTATE_CALL_INLINE inline
#endif

namespace costate_cpp {

// What a call of the library returned, and its message.
class error : public std::runtime_error {
public:
    int status;
    error(int code, const std::string &message) : std::runtime_error(message), status(code) {}
};

// Consecutive numbers that belong to somebody else: a vector, an array, or a pointer and a size.
template<class T> class view {
    T *first = nullptr;
    std::size_t count = 0;
    template<class C> using of_container = std::enable_if_t<
        std::is_convertible<decltype(std::declval<C &>().data()), T *>::value &&
        (std::is_const<T>::value || std::is_lvalue_reference<C>::value)>;

public:
    view() = default;
    view(T *start, std::size_t length) : first(start), count(length) {}
    template<std::size_t length> view(T (&all)[length]) : view(all, length) {}
    template<class C, class = of_container<C>> view(C &&c) : view(c.data(), c.size()) {}
    template<class U = T, class = std::enable_if_t<std::is_const<U>::value>>
    view(std::initializer_list<std::remove_const_t<U>> all)     // of an argument, which lives as long as the call
    {
        first = all.begin();
        count = all.size();
    }
    T &operator[](std::size_t i) const { return first[i]; }
    T *data() const { return first; }
    std::size_t size() const { return count; }
    bool empty() const { return count == 0; }
    T *begin() const { return first; }
    T *end() const { return first + count; }
};
using values = view<const double>;

// The argument of a map: x.t, x.y, x.p, x.yp, x.m, x.mode, x.side, x.relation[k].
template<class T> struct point {
    T t{};
    view<const T> y{}, p{}, yp{}, m{};
    int mode = 0, side = 0;             // see costate_point
    const int *relation = nullptr;
};

template<class F> struct in_lanes;          // lanes.hpp

namespace detail {

template<class F, bool of_rhs> class lane_map_of;

// ---- exceptions: kept while the library returns to the caller ---------------------------------------------------

inline std::exception_ptr &thrown()
{
    static thread_local std::exception_ptr it;
    return it;
}

// Around a call of the library, which may be made inside a callback of another one.
class catcher {
    std::exception_ptr outer = std::exchange(thrown(), nullptr);

public:
    catcher() = default;
    ~catcher() { thrown() = outer; }
    catcher(const catcher &) = delete;
    catcher &operator=(const catcher &) = delete;
    void rethrow()
    {
        if (thrown()) std::rethrow_exception(std::exchange(thrown(), nullptr));
    }
};

// The body of a callback.
template<class Body> int guarded(const Body &body) noexcept
{
    try {
        return body();
    } catch (...) {
        thrown() = std::current_exception();
        return COSTATE_CALLBACK;
    }
}

// What a callback of the user returned: nothing is success.
template<class F, class... A> COSTATE_CALL_INLINE int status_of(const F &f, A &&...a)
{
    using returned = std::invoke_result_t<const F &, A...>;
    if constexpr (std::is_void<returned>::value) {
        f(std::forward<A>(a)...);
        return 0;
    } else {
        static_assert(std::is_same<returned, int>::value, "a callback returns nothing, or an int: 0 for success");
        return f(std::forward<A>(a)...);
    }
}

inline void same_size(const char *what, std::size_t has, std::size_t wanted, const char *why)
{
    if (has != wanted)
        throw error(COSTATE_BAD_ARGUMENT, std::string(what) + " has " + std::to_string(has) + " values instead of " +
                    std::to_string(wanted) + " (" + why + ").");
}

// What an object holds, which another one has after a move.
template<class Pointer> auto &held(const Pointer &p, const char *what)
{
    if (!p)
        throw error(COSTATE_BAD_ARGUMENT, std::string("costate::") + what + ": what this object held was moved to "
                    "another one.  Assign a new one to it before it is used.");
    return *p;
}

// ---- a map of any function, and of one function ------------------------------------------------------------------

// Numbers of each argument and of the result.
struct shape {
    int y = 0, p = 0, yp = 0, m = 0, rows = 0;
    bool keeps = false;                 // the result is y and m unless it is set
    std::size_t inputs() const { return static_cast<std::size_t>(1 + y + p + yp + m); }
};

// The products of a map for members side by side: lanes.hpp.
class any_map;
struct lane_calls {
    using at = const costate_lane_point *;
    int (*value)(const any_map &, const shape &, at x, double *out);
    int (*forward[2])(const any_map &, const shape &, at x, at a, at b, double *out);   // tangent, tangent2
    int (*back[3])(const any_map &, const shape &, at x, at a, at b, const double *w, const costate_lane_gradient *g);
    int (*jac)(const any_map &, const shape &, const costate_pattern *, at x, double *J);
};

// One callback of costate_map each; a and b are directions.
class any_map {
public:
    virtual ~any_map() = default;
    virtual int value(const shape &, const costate_point *x, double *out) const = 0;
    virtual int tangents(const shape &, const costate_point *x, int count, const costate_point *a,
                         double *out) const = 0;
    virtual int tangent2(const shape &, const costate_point *x, const costate_point *a, const costate_point *b,
                         double *out) const = 0;
    virtual int adjoints(const shape &, const costate_point *x, int count, const double *w,
                         const costate_gradient *g) const = 0;
    virtual int adjoint_tangent(const shape &, const costate_point *x, const costate_point *a, const double *w,
                                const costate_gradient *g) const = 0;
    virtual int adjoint_tangent2(const shape &, const costate_point *x, const costate_point *a, const costate_point *b,
                                 const double *w, const costate_gradient *g) const = 0;
    // of maps in lanes
    virtual const lane_calls *beside(int) const { return nullptr; }
    virtual int jac(const shape &, const costate_pattern *, const costate_point *, double *) const
    {
        return COSTATE_CALLBACK;
    }
};

enum { LANES = 8 };                     // directions that a number carries at once: a cache line
using lanes = dual<double, pack<LANES>>;

// Numbers of the types with derivatives a, b along the directions; the derivative along all of them.
inline void set(double &z, double x, double, double) { z = x; }
inline void set(dual<> &z, double x, double a, double) { z = {x, a}; }
inline void set(dual<dual<>> &z, double x, double a, double b) { z = {{x, a}, {b, 0.0}}; }
inline double last(double z) { return z; }
template<class T> double last(const dual<T, T> &z) { return last(z.d); }

template<class T> struct buffers {
    std::vector<T> in, out;
};

// Calls part(numbers of x, those of a, those of b, how many, which gradient) for t, y, p, yp, m in turn.
template<class Part> void parts(const shape &s, const costate_point &x, const Part &part)
{
    part(&x.t, 1, [](const costate_point &d) { return &d.t; });
    part(x.y, s.y, [](const costate_point &d) { return d.y; });
    part(x.p, s.p, [](const costate_point &d) { return d.p; });
    part(x.yp, s.yp, [](const costate_point &d) { return d.yp; });
    part(x.m, s.m, [](const costate_point &d) { return d.m; });
}

// Where the parts of x begin among its inputs: t, y, p, yp, m.
template<class T> point<T> point_of(const shape &s, const T *in, int mode, int side, const int *relation = nullptr)
{
    auto part = [&](int count) {
        const T *first = in;
        in += count;
        return view<const T>(first, static_cast<std::size_t>(count));
    };
    point<T> x;
    x.t = *in++;
    x.y = part(s.y);
    x.p = part(s.p);
    x.yp = part(s.yp);
    x.m = part(s.m);
    x.mode = mode;
    x.side = side;
    x.relation = relation;
    return x;
}

template<class T> void prepare(const shape &s, const point<T> &x, view<T> out)
{
    if (s.keeps) std::copy(x.m.begin(), x.m.end(), std::copy(x.y.begin(), x.y.end(), out.begin()));
    else std::fill(out.begin(), out.end(), T(0));
}

template<class F, class T> COSTATE_CALL_INLINE int call(const F &f, const point<T> &x, view<T> out)
{
    using V = const view<const T> &;
    if constexpr (std::is_invocable<const F &, const T &, V, V, view<T> &>::value) {
        return status_of(f, x.t, x.y, x.p, out);
    } else if constexpr (std::is_invocable<const F &, const T &, V, V, V, view<T> &>::value) {
        return status_of(f, x.t, x.y, x.yp, x.p, out);
    } else if constexpr (std::is_invocable<const F &, const point<T> &, view<T> &>::value) {
        return status_of(f, x, out);
    } else if constexpr (std::is_invocable<const F &, const T &, V, V>::value) {
        out[0] = f(x.t, x.y, x.p);
        return 0;
    } else {
        static_assert(std::is_invocable<const F &, const point<T> &>::value,
                      "a map is f(t, y, p, out), f(t, y, yp, p, out), f(x, out), f(t, y, p) or f(x), for any numbers");
        out[0] = f(x);
        return 0;
    }
}

template<class F> class map_of : public any_map {
protected:
    const F f;

    // f with numbers of type T that `load` sets; `store` reads the result
    template<class T, class Load, class Store>
    int forward(const shape &s, const costate_point *x, const Load &load, const Store &store) const
    {
        lease<buffers<T>> memory;
        memory->in.resize(s.inputs());
        memory->out.resize(static_cast<std::size_t>(s.rows));
        load(memory->in.data());
        const auto at = point_of(s, static_cast<const T *>(memory->in.data()), x->mode, x->side, x->relation);
        const view<T> out(memory->out);
        prepare(s, at, out);
        const int status = call(f, at, out);
        if (status == 0) store(static_cast<const T *>(out.data()));
        return status;
    }

    template<class T> int along(const shape &s, const costate_point *x, const costate_point *a, const costate_point *b,
                                double *to) const
    {
        return forward<T>(s, x, [&](T *in) {
            parts(s, *x, [&](const double *of_x, int count, auto of) {
                const double *of_a = of(*a), *of_b = b ? of(*b) : nullptr;
                for (int i = 0; i < count; i++) set(*in++, of_x[i], of_a ? of_a[i] : 0, of_b ? of_b[i] : 0);
            });
        }, [&](const T *out) {
            for (int i = 0; i < s.rows; i++) to[i] = last(out[i]);
        });
    }

    // Columns of the Jacobian, at most LANES: n*n by columns, or the entries of the pattern.
    int columns(const shape &s, const costate_pattern *pattern, const costate_point *x, int first, int count,
                double *J) const
    {
        return forward<lanes>(s, x, [&](lanes *in) {
            parts(s, *x, [&](const double *of_x, int length, auto) {
                for (int i = 0; i < length; i++) *in++ = of_x[i];
            });
            in -= s.inputs() - 1;                       // y
            for (int c = 0; c < count; c++) in[first + c].d.d[c] = 1;
        }, [&](const lanes *out) {
            for (int c = 0; c < count; c++) {
                const int j = first + c;
                if (!pattern) for (int i = 0; i < s.y; i++) J[j * s.y + i] = out[i].d.d[c];
                else for (int k = pattern->col[j]; k < pattern->col[j + 1]; k++) J[k] = out[pattern->row[k]].d.d[c];
            }
        });
    }

    template<class T> int back(const shape &s, const costate_point *x, const costate_point *a, const costate_point *b,
                               int count, const double *w, const costate_gradient *g) const
    {
        lease<buffers<traced<T>>> memory;
        auto &in = memory->in;
        auto &out = memory->out;
        in.resize(s.inputs());
        out.resize(static_cast<std::size_t>(s.rows));
        std::size_t place = 0;
        bool wanted[5] = {}, *one = wanted;                 // of others nothing is recorded: they are constants
        for (int j = 0; j < count; j++) {
            const double *const to[] = {g[j].t, g[j].y, g[j].p, g[j].yp, g[j].m};
            for (int k = 0; k < 5; k++) wanted[k] |= to[k] != nullptr;
        }
        parts(s, *x, [&](const double *of_x, int length, auto of) {
            const double *of_a = a ? of(*a) : nullptr, *of_b = b ? of(*b) : nullptr;
            for (int i = 0; i < length; i++, place++) {
                set(in[place].v, of_x[i], of_a ? of_a[i] : 0, of_b ? of_b[i] : 0);
                in[place].at = *one ? static_cast<unsigned>(place + 1) : 0;
            }
            one++;
        });
        recording<T> tape(s.inputs());
        const auto at = point_of(s, static_cast<const traced<T> *>(in.data()), x->mode, x->side, x->relation);
        const view<traced<T>> results(out);
        prepare(s, at, results);
        const int status = call(f, at, results);
        for (int j = 0; j < count && status == 0; j++, w += s.rows, g++) {
            const T *from = tape.gradient(results.data(), w, s.rows) + 1;
            auto add = [&](double *to, int length) {
                for (int i = 0; to && i < length; i++) to[i] += last(from[i]);
                from += length;
            };
            add(g->t, 1);
            add(g->y, s.y);
            add(g->p, s.p);
            add(g->yp, s.yp);
            add(g->m, s.m);
        }
        return status;
    }

public:
    explicit map_of(F function) : f(std::move(function)) {}

    int value(const shape &s, const costate_point *x, double *to) const override
    {
        auto part = [](const double *first, int count) { return values(first, static_cast<std::size_t>(count)); };
        const point<double> at{x->t, part(x->y, s.y), part(x->p, s.p), part(x->yp, s.yp), part(x->m, s.m), x->mode,
                               x->side, x->relation};
        const view<double> out(to, static_cast<std::size_t>(s.rows));
        prepare(s, at, out);
        return call(f, at, out);
    }
    int tangents(const shape &s, const costate_point *x, int count, const costate_point *a, double *to) const override
    {
        int status = 0;
        for (; count > 1 && status == 0; count -= LANES, a += LANES, to += LANES * s.rows) {
            const int width = std::min<int>(count, LANES);
            status = forward<lanes>(s, x, [&](lanes *in) {
                parts(s, *x, [&](const double *of_x, int length, auto of) {
                    for (int i = 0; i < length; i++) in[i] = of_x[i];
                    for (int l = 0; l < width; l++)
                        if (const double *of_a = of(a[l]))
                            for (int i = 0; i < length; i++) in[i].d.d[l] = of_a[i];
                    in += length;
                });
            }, [&](const lanes *out) {
                for (int l = 0; l < width; l++)
                    for (int i = 0; i < s.rows; i++) to[l * s.rows + i] = out[i].d.d[l];
            });
        }
        return count == 1 && status == 0 ? along<dual<>>(s, x, a, nullptr, to) : status;
    }
    int tangent2(const shape &s, const costate_point *x, const costate_point *a, const costate_point *b,
                 double *to) const override
    {
        return along<dual<dual<>>>(s, x, a, b, to);
    }
    int adjoints(const shape &s, const costate_point *x, int count, const double *w,
                 const costate_gradient *g) const override
    {
        return back<double>(s, x, nullptr, nullptr, count, w, g);
    }
    int adjoint_tangent(const shape &s, const costate_point *x, const costate_point *a, const double *w,
                        const costate_gradient *g) const override
    {
        return back<dual<>>(s, x, a, nullptr, 1, w, g);
    }
    int adjoint_tangent2(const shape &s, const costate_point *x, const costate_point *a, const costate_point *b,
                         const double *w, const costate_gradient *g) const override
    {
        return back<dual<dual<>>>(s, x, a, b, 1, w, g);
    }
};

using map_ptr = std::shared_ptr<const any_map>;
template<bool of_rhs = false, class F> map_ptr make_map(F f) { return std::make_shared<map_of<F>>(std::move(f)); }
template<bool of_rhs = false, class F> map_ptr make_map(in_lanes<F> of)
{
    return std::make_shared<lane_map_of<F, of_rhs>>(std::move(of.f));
}

struct sized_map {
    map_ptr map;
    shape s;
};
struct guard_of_relation { sized_map guard; };

// The callbacks of the map that is a member of ctx, or none.
template<class Owner, sized_map Owner::*member> costate_map callbacks(const Owner &owner)
{
    using point_ptr = const costate_point *;
    using gradient_ptr = const costate_gradient *;
    costate_map c = {};
    if (!(owner.*member).map) return c;
#define COSTATE_CALL(what, ...) \
    guarded([&] { \
        const sized_map &of = static_cast<const Owner *>(ctx)->*member; \
        return of.map->what(of.s, __VA_ARGS__); \
    })
    c.value = [](point_ptr x, double *out, void *ctx) { return COSTATE_CALL(value, x, out); };
    c.tangent = [](point_ptr x, point_ptr a, double *out, void *ctx) { return COSTATE_CALL(tangents, x, 1, a, out); };
    c.tangents = [](point_ptr x, int count, point_ptr a, double *out, void *ctx) {
        return COSTATE_CALL(tangents, x, count, a, out);
    };
    c.tangent2 = [](point_ptr x, point_ptr a, point_ptr b, double *out, void *ctx) {
        return COSTATE_CALL(tangent2, x, a, b, out);
    };
    c.adjoint = [](point_ptr x, const double *w, gradient_ptr g, void *ctx) {
        return COSTATE_CALL(adjoints, x, 1, w, g);
    };
    c.adjoints = [](point_ptr x, int count, const double *w, gradient_ptr g, void *ctx) {
        return COSTATE_CALL(adjoints, x, count, w, g);
    };
    c.adjoint_tangent = [](point_ptr x, point_ptr a, const double *w, gradient_ptr g, void *ctx) {
        return COSTATE_CALL(adjoint_tangent, x, a, w, g);
    };
    c.adjoint_tangent2 = [](point_ptr x, point_ptr a, point_ptr b, const double *w, gradient_ptr g, void *ctx) {
        return COSTATE_CALL(adjoint_tangent2, x, a, b, w, g);
    };
#undef COSTATE_CALL
    return c;
}

// The callbacks for L members side by side, or none.  What they throw takes the members out of the lanes.
template<class Body> int in_lanes_or_alone(const Body &body) noexcept
{
    try {
        return body();
    } catch (...) {
        return COSTATE_CALLBACK;
    }
}
template<class Owner, sized_map Owner::*member, int L> costate_lane_map lane_callbacks(const Owner &owner)
{
    using at = const costate_lane_point *;
    using gradient_ptr = const costate_lane_gradient *;
    costate_lane_map c = {};
    if (!(owner.*member).map || !(owner.*member).map->beside(L)) return c;
#define COSTATE_CALL(what, ...) \
    in_lanes_or_alone([&] { \
        const sized_map &of = static_cast<const Owner *>(ctx)->*member; \
        return of.map->beside(L)->what(*of.map, of.s, __VA_ARGS__); \
    })
    c.value = [](at x, double *out, void *ctx) { return COSTATE_CALL(value, x, out); };
    c.tangent = [](at x, at a, double *out, void *ctx) { return COSTATE_CALL(forward[0], x, a, nullptr, out); };
    c.tangent2 = [](at x, at a, at b, double *out, void *ctx) { return COSTATE_CALL(forward[1], x, a, b, out); };
    c.adjoint = [](at x, const double *w, gradient_ptr g, void *ctx) {
        return COSTATE_CALL(back[0], x, nullptr, nullptr, w, g);
    };
    c.adjoint_tangent = [](at x, at a, const double *w, gradient_ptr g, void *ctx) {
        return COSTATE_CALL(back[1], x, a, nullptr, w, g);
    };
    c.adjoint_tangent2 = [](at x, at a, at b, const double *w, gradient_ptr g, void *ctx) {
        return COSTATE_CALL(back[2], x, a, b, w, g);
    };
#undef COSTATE_CALL
    return c;
}

}

// ---- events ---------------------------------------------------------------------------------------------------

// An event of a hybrid system, see costate_event: event(guard) occurs where guard passes through zero, event::at(times)
// at given times.  It is active in all modes and keeps the mode unless from() and to() say otherwise.
class event {
    friend class problem;
    costate_event e = {};
    std::vector<double> when;
    detail::map_ptr of_guard, of_jump, of_cost, of_transition;
    event()
    {
        e.from = COSTATE_ANY_MODE;
        e.to = COSTATE_SAME_MODE;
    }

public:
    template<class F, class = std::enable_if_t<!std::is_base_of<event, std::decay_t<F>>::value>>
    explicit event(F guard) : event()
    {
        of_guard = detail::make_map(std::move(guard));
    }
    static event at(std::vector<double> times)
    {
        event made;
        made.when = std::move(times);
        return made;
    }
    event &falling() { return e.direction = -1, *this; }
    event &rising() { return e.direction = 1, *this; }
    event &from(int mode) { return e.from = mode, *this; }
    event &to(int mode) { return e.to = mode, *this; }
    event &terminal() { return e.terminal = 1, *this; }
    event &passes() { return e.passes = 1, *this; }
    event &slopes() { return e.slopes = 1, *this; }
    template<class F> event &jump(F f) { return of_jump = detail::make_map(std::move(f)), *this; }
    template<class F> event &cost(F f) { return of_cost = detail::make_map(std::move(f)), *this; }
    template<class F> event &transition(F f) { return of_transition = detail::make_map(std::move(f)), *this; }
};

// ---- problems -------------------------------------------------------------------------------------------------

// A costate_problem with what it points to.  Copies share it; solvers keep it.  Once it is shared, its setters throw.
class problem {
    struct event_maps {
        detail::sized_map guard, jump, cost, transition;
        std::vector<double> times;
    };
    struct contents {
        costate_problem c = {};
        detail::sized_map rhs, cost, residual, start, after, at_start;
        std::vector<double> mass;
        std::vector<double> stops;
        std::vector<int> index, col, row;
        costate_pattern pattern = {};
        std::vector<std::unique_ptr<event_maps>> maps;
        std::vector<costate_event> events;
        std::vector<std::unique_ptr<detail::guard_of_relation>> guards;
        std::vector<costate_relation> relations;
        costate_lane_maps beside[4] = {};
    };
    std::shared_ptr<contents> all = std::make_shared<contents>();

    problem(int n, int np)
    {
        held().c.n = n;
        held().c.np = np;
    }

    contents &held() const { return detail::held(all, "problem"); }
    contents &mine()
    {
        contents &a = held();
        if (all.use_count() != 1) throw std::logic_error("costate::problem: it cannot change while others use it.");
        return a;
    }

    static void sized(detail::sized_map &map, int y, int p, int yp, int m, int rows)
    {
        map.s.y = y, map.s.p = p, map.s.yp = yp, map.s.m = m, map.s.rows = rows;
    }

    // All that costate reads, after something has changed.
    problem &update()
    {
        contents &a = held();
        costate_problem &c = a.c;
        const int n = c.n, np = c.np, nq = c.nq, nm = c.nm;
        sized(a.rhs, n, np, 0, nm, n);
        sized(a.residual, n, np, n, nm, n);
        sized(a.cost, n, np, a.residual.map ? n : 0, nm, nq);
        sized(a.start, 2 * n, np, 0, nm, n);
        sized(a.after, n, np, 0, nm, n + nm);
        sized(a.at_start, n, np, 0, nm, n + nm);
        a.after.s.keeps = a.at_start.s.keeps = true;
        c.ctx = &a;
        c.rhs = detail::callbacks<contents, &contents::rhs>(a);
        c.cost = detail::callbacks<contents, &contents::cost>(a);
        c.residual = detail::callbacks<contents, &contents::residual>(a);
        c.start = detail::callbacks<contents, &contents::start>(a);
        c.after_step.map = detail::callbacks<contents, &contents::after>(a);
        c.after_step.start = detail::callbacks<contents, &contents::at_start>(a);
        c.nstops = static_cast<int>(a.stops.size());
        c.stops = a.stops.empty() ? nullptr : a.stops.data();
        c.index = a.index.empty() ? nullptr : a.index.data();
        c.pattern = a.col.empty() ? nullptr : &a.pattern;
        a.pattern = {n, a.col.data(), a.row.data()};
        c.mass = nullptr;
        if (!a.mass.empty())
            c.mass = [](double *M, void *ctx) {
                const std::vector<double> &of = static_cast<contents *>(ctx)->mass;
                std::copy(of.begin(), of.end(), M);
                return 0;
            };
        for (std::size_t k = 0; k < a.events.size(); k++) {
            event_maps &of = *a.maps[k];
            costate_event &e = a.events[k];
            const int yp = e.slopes ? n : 0;
            sized(of.guard, n, np, yp, nm, 1);
            sized(of.jump, n, np, yp, nm, n + nm);
            sized(of.cost, n, np, yp, nm, nq);
            sized(of.transition, 2 * n, np, 2 * n, nm, n);
            of.jump.s.keeps = true;
            e.ctx = &of;
            e.guard = detail::callbacks<event_maps, &event_maps::guard>(of);
            e.jump = detail::callbacks<event_maps, &event_maps::jump>(of);
            e.cost = detail::callbacks<event_maps, &event_maps::cost>(of);
            e.transition = detail::callbacks<event_maps, &event_maps::transition>(of);
            e.ntimes = static_cast<int>(of.times.size());
            e.times = of.times.empty() ? nullptr : of.times.data();
        }
        for (std::size_t k = 0; k < a.relations.size(); k++) {
            detail::guard_of_relation &of = *a.guards[k];
            sized(of.guard, n, np, 0, nm, 1);
            a.relations[k].ctx = &of;
            a.relations[k].guard = detail::callbacks<detail::guard_of_relation, &detail::guard_of_relation::guard>(of);
        }
        c.nrelations = static_cast<int>(a.relations.size());
        c.relation = a.relations.empty() ? nullptr : a.relations.data();
        c.nevents = static_cast<int>(a.events.size());
        c.event = a.events.empty() ? nullptr : a.events.data();
        set_lanes(a);
        return *this;
    }

    // Maps in lanes need the Jacobian, which otherwise the library forms from tangents.
    template<int L> static costate_lane_maps beside(const contents &a)
    {
        costate_lane_maps of = {};
        of.lanes = L;
        if (a.c.nm > 0) return of;                      // lanes have no memory variables
        of.rhs = detail::lane_callbacks<contents, &contents::rhs, L>(a);
        of.cost = detail::lane_callbacks<contents, &contents::cost, L>(a);
        if (of.rhs.value)
            of.jac = [](const costate_lane_point *x, double *J, void *ctx) {
                const contents &of_all = *static_cast<const contents *>(ctx);
                return detail::in_lanes_or_alone([&] {
                    const detail::sized_map &f = of_all.rhs;
                    return f.map->beside(L)->jac(*f.map, f.s, of_all.c.pattern, x, J);
                });
            };
        return of;
    }
    void set_lanes(contents &a)
    {
        a.c.jac = nullptr;
        if (!is_in_lanes(a.rhs)) return;
        a.c.jac = [](const costate_point *x, double *J, void *ctx) {
            const contents &of = *static_cast<const contents *>(ctx);
            return detail::guarded([&] { return of.rhs.map->jac(of.rhs.s, of.c.pattern, x, J); });
        };
        a.beside[0] = beside<2>(a);
        a.beside[1] = beside<4>(a);
        a.beside[2] = beside<8>(a);
    }
    static bool is_in_lanes(const detail::sized_map &f) { return f.map && f.map->beside(2); }

    costate_point checked(const point<double> &x) const
    {
        const costate_problem &c = held().c;
        detail::same_size("x.y", x.y.size(), static_cast<std::size_t>(c.n), "n");
        detail::same_size("x.p", x.p.size(), static_cast<std::size_t>(c.np), "np");
        detail::same_size("x.m", x.m.size(), static_cast<std::size_t>(c.nm), "nm");
        const int yp = held().residual.map ? c.n : 0;
        detail::same_size("x.yp", x.yp.size(), static_cast<std::size_t>(yp), "n of a residual");
        return {x.t, x.y.data(), x.p.data(), x.yp.data(), x.m.data(), x.mode, x.side, x.relation};
    }

public:
    // M y' = f(t, y, p) with n states and np parameters
    template<class F> problem(int n, int np, F f) : problem(n, np)
    {
        held().rhs.map = detail::make_map<true>(std::move(f));
        update();
    }
    // F(t, y, y', p) = 0
    template<class F> static problem residual(int n, int np, F f)
    {
        problem made(n, np);
        made.held().residual.map = detail::make_map(std::move(f));
        made.update();
        return made;
    }

    // nq running costs, and the map of their integrands; without a map only events add to them
    template<class F> problem &costs(int nq, F r)
    {
        mine().cost.map = detail::make_map(std::move(r));
        return costs(nq);
    }
    problem &costs(int nq) { return mine().c.nq = nq, update(); }
    problem &memory(int nm) { return mine().c.nm = nm, update(); }
    // known times at which the maps jump in t, in non-decreasing order: see costate_problem.stops
    problem &stops(std::vector<double> times) { return mine().stops = std::move(times), update(); }
    // x.relation[k], with k from 0: 1 where this guard is positive, else 0; whole: the integer below the guard;
    // sign: 1, 0 or -1.  See costate_relation
    template<class F> problem &relation(F guard, bool whole = false, bool sign = false)
    {
        contents &a = mine();
        a.guards.push_back(std::make_unique<detail::guard_of_relation>());
        a.guards.back()->guard.map = detail::make_map(std::move(guard));
        costate_relation of = {};
        of.whole = whole;
        of.sign = sign;
        a.relations.push_back(of);
        return update();
    }
    problem &add(const event &e)
    {
        contents &a = mine();
        if (!e.of_guard && e.when.empty())
            throw error(COSTATE_BAD_ARGUMENT, "costate::event: it has neither a guard nor times, or was moved from.");
        a.maps.push_back(std::make_unique<event_maps>());
        event_maps &of = *a.maps.back();
        of.guard.map = e.of_guard;
        of.jump.map = e.of_jump;
        of.cost.map = e.of_cost;
        of.transition.map = e.of_transition;
        of.times = e.when;
        a.events.push_back(e.e);
        return update();
    }
    // M: n*n by columns, or the entries of the pattern
    problem &mass(std::vector<double> M)
    {
        contents &a = mine();
        const auto n = static_cast<std::size_t>(a.c.n);
        const bool dense = a.col.empty();
        detail::same_size("mass", M.size(), dense ? n * n : a.row.size(), dense ? "n*n" : "the pattern");
        a.mass = std::move(M);
        return update();
    }
    problem &index(std::vector<int> of)
    {
        detail::same_size("index", of.size(), static_cast<std::size_t>(mine().c.n), "n");
        held().index = std::move(of);
        return update();
    }
    // equations for consistent values, in y of 2n values: see costate_problem
    template<class F> problem &start(F f)
    {
        mine().start.map = detail::make_map(std::move(f));
        return update();
    }
    // a map after each step, as a jump: it only sets what changes; at_start: it is also applied to initial values.  See
    // costate_after_step
    template<class F> problem &after_step(F f, bool at_start = false)
    {
        contents &a = mine();
        a.after.map = detail::make_map(std::move(f));
        a.at_start.map = at_start ? a.after.map : nullptr;
        return update();
    }
    // of the Jacobian, in compressed columns; before mass
    problem &pattern(std::vector<int> col, std::vector<int> row)
    {
        contents &a = mine();
        detail::same_size("col", col.size(), static_cast<std::size_t>(a.c.n) + 1, "n + 1");
        detail::same_size("row", row.size(), static_cast<std::size_t>(std::max(col.back(), 0)), "col[n]");
        if (!a.mass.empty()) throw std::logic_error("costate::problem: pattern is set before mass.");
        a.col = std::move(col);
        a.row = std::move(row);
        return update();
    }
    // as costate_pattern_detect finds it near x
    problem &detect_pattern(const point<double> &x)
    {
        contents &a = mine();
        const costate_point at = checked(x);
        detail::catcher caught;
        costate_report report = {};
        costate_pattern *found = nullptr;
        const int status = costate_pattern_detect(&a.c, &at, &found, &report);
        const std::unique_ptr<costate_pattern, void (*)(costate_pattern *)> owned(found, costate_pattern_free);
        caught.rethrow();
        if (status != COSTATE_OK) throw error(status, report.text);
        return pattern({found->col, found->col + found->n + 1}, {found->row, found->row + found->col[found->n]});
    }

    // costate_check_problem: throws the report if a product is wrong
    costate_report check(const point<double> &x) const
    {
        const costate_point at = checked(x);
        detail::catcher caught;
        costate_report report = {}, of_cost = {};
        const int status = costate_check_problem(&held().c, &at, &report, held().c.nq ? &of_cost : nullptr);
        caught.rethrow();
        if (status != COSTATE_OK) throw error(status, std::string(report.text) + " " + of_cost.text);
        return report;
    }

    // The maps of members side by side, for members.lanes of ensemble.h; they live as long as the problem.  f, and r of
    // costs, are given as costate::lanes(f): see lanes.hpp.
    const costate_lane_maps *lanes() const
    {
        if (!is_in_lanes(held().rhs) || (held().cost.map && !is_in_lanes(held().cost)))
            throw std::logic_error("costate::problem: lanes need f, and r of costs, as costate::lanes(f).");
        return held().beside;
    }

    const costate_problem &c() const { return held().c; }
    int n() const { return held().c.n; }
    int np() const { return held().c.np; }
    int N() const { return held().c.n + held().c.nq + held().c.nm; }
};

}
#undef COSTATE_CALL_INLINE
#endif
