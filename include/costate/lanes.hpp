// lanes.hpp - maps of several members side by side (lanes.h) from the functions that give the problem.  C++17.
//
// A wide<L> is a number of L members, one in each lane of a register.  A function for any type of numbers, evaluated
// with wide numbers in place of doubles, treats L members at once, and so do all products that numbers.hpp makes of it.
// Each lane does the operations of a member alone in their order, so that it has the same bits; exp and pow are
// calculated lane by lane.
//
//     costate::problem decay(1, 1, costate::lanes([](auto t, auto const &y, auto const &p, auto &out) {
//         out[0] = -p[0] * y[0];
//     }));
//     costate_members all = {};
//     all.lanes = decay.lanes();
//
// A comparison holds for all lanes or for none.  Where lanes disagree, the evaluation is that of lane 0 and is not
// used; all lanes are then calculated one by one, as they are if the function throws.
//
// Compile with optimisation.  If options permit fused multiplications and additions (-march=native), results are the
// same only with -ffp-contract=off: costate_check_lanes compares them.
#ifndef COSTATE_LANES_HPP
#define COSTATE_LANES_HPP

#include <cstring>
#include <costate/lanes.h>
#include <costate/problem.hpp>

// Operations of wide numbers; and the functions between those for the instructions of lanes, into which everything that
// is called is compiled, and the function of the user.  gcc has optimised a function before it is compiled into another
// one, unless always_inline is between them.  No operations are contracted.
#define COSTATE_INLINE [[gnu::always_inline]] inline
#ifdef __clang__
#define COSTATE_BETWEEN [[gnu::always_inline]] inline
#define COSTATE_CALLS_USER [[gnu::always_inline, gnu::flatten]] inline
#define COSTATE_ALL_INLINE __attribute__((flatten))
#else
#define COSTATE_BETWEEN inline
#define COSTATE_CALLS_USER inline
#define COSTATE_ALL_INLINE __attribute__((flatten, optimize("fp-contract=off")))
#endif

namespace costate_cpp {

namespace detail {

template<int L> struct registers;
#define COSTATE_REGISTERS(L, bytes) \
    template<> struct registers<L> { \
        typedef double numbers __attribute__((vector_size(bytes))); \
        typedef long long signs __attribute__((vector_size(bytes))); \
        typedef unsigned long long bits __attribute__((vector_size(bytes))); \
    };
COSTATE_REGISTERS(2, 16)
COSTATE_REGISTERS(4, 32)
COSTATE_REGISTERS(8, 64)
#undef COSTATE_REGISTERS

// Did lanes disagree in the evaluation of this thread?
inline bool &disagreed()
{
    static thread_local bool they;
    return they;
}

// holds(l) in all lanes, as lane 0 has it
template<int L, class Holds> COSTATE_INLINE bool agreed(const Holds &holds)
{
    const bool first = holds(0);
    bool others = false;
    for (int l = 1; l < L; l++) others |= holds(l) != first;
    if (others) disagreed() = true;
    return first;
}

}

// In which lanes numbers are zero.  Comparisons of vectors are avoided: gcc 12 takes many of them apart, or fails.
template<int L> struct alignas(8 * L) zeros {
    using bits = typename detail::registers<L>::bits;
    bits v;                                 // none, where they are zero
    zeros(const zeros &o) : v(o.v) {}
    zeros &operator=(const zeros &) = default;
    COSTATE_INLINE explicit zeros(const bits &all) : v(all + all) {}        // without their signs
    COSTATE_INLINE friend zeros operator&&(zeros x, const zeros &y)
    {
        x.v |= y.v;
        return x;
    }
};

// Copies are made by a constructor, so that arguments are passed in memory, whatever instructions a function may use.
template<int L> struct alignas(8 * L) wide {
    using numbers = typename detail::registers<L>::numbers;
    using bits = typename detail::registers<L>::bits;
    numbers v;
    COSTATE_INLINE wide() : v{} {}
    COSTATE_INLINE wide(double c) : v(c - numbers{}) {}             // -0.0 - 0.0 is -0.0
    COSTATE_INLINE wide(const wide &o) : v(o.v) {}
    COSTATE_INLINE wide &operator=(const wide &o) { return v = o.v, *this; }
    template<class A, class = std::enable_if_t<std::is_arithmetic<A>::value>>
    explicit operator A() const { return static_cast<A>(value(*this)); }

    COSTATE_INLINE static wide at(const double *all)
    {
        wide x;
        std::memcpy(&x.v, __builtin_assume_aligned(all, sizeof x.v), sizeof x.v);
        return x;
    }
    COSTATE_INLINE void store(double *all) const
    {
        std::memcpy(__builtin_assume_aligned(all, sizeof v), &v, sizeof v);
    }

    COSTATE_INLINE friend wide operator+(const wide &x) { return x; }
    COSTATE_INLINE friend wide operator-(const wide &x)
    {
        wide f;
        f.v = -x.v;
        return f;
    }
#define COSTATE_ARITHMETIC(op) \
    COSTATE_INLINE friend wide operator op(const wide &x, const wide &y) \
    { \
        wide f; \
        f.v = x.v op y.v; \
        return f; \
    } \
    COSTATE_INLINE wide &operator op##=(const wide &y) { return *this = *this op y; }
    COSTATE_ARITHMETIC(+)
    COSTATE_ARITHMETIC(-)
    COSTATE_ARITHMETIC(*)
    COSTATE_ARITHMETIC(/)
#undef COSTATE_ARITHMETIC
    COSTATE_INLINE wide &operator++() { return *this += 1; }
    COSTATE_INLINE wide &operator--() { return *this -= 1; }

#define COSTATE_COMPARISON(op) \
    COSTATE_INLINE friend bool operator op(const wide &x, const wide &y) \
    { \
        return detail::agreed<L>([&](int l) { return x.v[l] op y.v[l]; }); \
    }
    COSTATE_COMPARISON(<)
    COSTATE_COMPARISON(<=)
    COSTATE_COMPARISON(>)
    COSTATE_COMPARISON(>=)
    COSTATE_COMPARISON(==)
    COSTATE_COMPARISON(!=)
#undef COSTATE_COMPARISON

    COSTATE_INLINE friend zeros<L> is_zero(const wide &x) { return zeros<L>((bits)x.v); }
    COSTATE_INLINE friend wide nothing_where(const zeros<L> &are, const wide &x)
    {
        using signs = typename detail::registers<L>::signs;
        wide f;
        f.v = (numbers)((bits)x.v & (bits)((signs)(are.v | -are.v) >> 63));     // all bits of the others
        return f;
    }
    friend std::ostream &operator<<(std::ostream &out, const wide &x) { return out << value(x); }
};
// That of all lanes, as lane 0 has it.
template<int L> double value(const wide<L> &x)
{
    detail::agreed<L>([&](int l) { return x.v[l] == x.v[0]; });
    return x.v[0];
}
template<int L, class T> COSTATE_INLINE dual<T> nothing_where(const zeros<L> &are, const dual<T> &x)
{
    return {nothing_where(are, x.v), nothing_where(are, x.d)};
}

// ---- functions, lane by lane ------------------------------------------------------------------------------------

#define COSTATE_LANEWISE(name) \
    template<int L> COSTATE_INLINE wide<L> name(const wide<L> &x) \
    { \
        wide<L> f; \
        for (int l = 0; l < L; l++) f.v[l] = std::name(x.v[l]); \
        return f; \
    }
COSTATE_LANEWISE(exp)
COSTATE_LANEWISE(exp2)
COSTATE_LANEWISE(expm1)
COSTATE_LANEWISE(log)
COSTATE_LANEWISE(log10)
COSTATE_LANEWISE(log2)
COSTATE_LANEWISE(log1p)
COSTATE_LANEWISE(sqrt)
COSTATE_LANEWISE(cbrt)
COSTATE_LANEWISE(sin)
COSTATE_LANEWISE(cos)
COSTATE_LANEWISE(tan)
COSTATE_LANEWISE(asin)
COSTATE_LANEWISE(acos)
COSTATE_LANEWISE(atan)
COSTATE_LANEWISE(sinh)
COSTATE_LANEWISE(cosh)
COSTATE_LANEWISE(tanh)
COSTATE_LANEWISE(asinh)
COSTATE_LANEWISE(acosh)
COSTATE_LANEWISE(atanh)
COSTATE_LANEWISE(erf)
COSTATE_LANEWISE(erfc)
COSTATE_LANEWISE(floor)
COSTATE_LANEWISE(ceil)
COSTATE_LANEWISE(trunc)
COSTATE_LANEWISE(round)
COSTATE_LANEWISE(fabs)
COSTATE_LANEWISE(abs)
#undef COSTATE_LANEWISE

#define COSTATE_LANEWISE(name) \
    template<int L> bool name(const wide<L> &x) \
    { \
        return detail::agreed<L>([&](int l) { return std::name(x.v[l]); }); \
    }
COSTATE_LANEWISE(isfinite)
COSTATE_LANEWISE(isnan)
COSTATE_LANEWISE(isinf)
COSTATE_LANEWISE(signbit)
#undef COSTATE_LANEWISE

#define COSTATE_LANEWISE(name) \
    template<int L> COSTATE_INLINE wide<L> name(const wide<L> &x, const wide<L> &y) \
    { \
        wide<L> f; \
        for (int l = 0; l < L; l++) f.v[l] = std::name(x.v[l], y.v[l]); \
        return f; \
    } \
    template<int L> COSTATE_INLINE wide<L> name(const wide<L> &x, double y) \
    { \
        wide<L> f; \
        for (int l = 0; l < L; l++) f.v[l] = std::name(x.v[l], y); \
        return f; \
    } \
    template<int L> COSTATE_INLINE wide<L> name(double x, const wide<L> &y) \
    { \
        wide<L> f; \
        for (int l = 0; l < L; l++) f.v[l] = std::name(x, y.v[l]); \
        return f; \
    }
COSTATE_LANEWISE(pow)
COSTATE_LANEWISE(atan2)
COSTATE_LANEWISE(hypot)
COSTATE_LANEWISE(fmax)
COSTATE_LANEWISE(fmin)
COSTATE_LANEWISE(fmod)
COSTATE_LANEWISE(copysign)
#undef COSTATE_LANEWISE

namespace detail {

// ---- one lane after the other -----------------------------------------------------------------------------------

// What the map of the problem makes of each lane; returns the bits of the lanes in which it is not defined, or throws.
class apart {
    const any_map &map;
    const shape &s;
    const int L;

    struct one {
        std::vector<double> y, p;
        costate_point at = {};
    };
    struct memory {
        one x, a, b;
        std::vector<double> w, out, y, p;
    };
    lease<memory> of;

    const double *lane(int l, const double *all, int count, std::vector<double> &to) const
    {
        if (!all) return nullptr;
        to.resize(static_cast<std::size_t>(count));
        for (int i = 0; i < count; i++) to[static_cast<std::size_t>(i)] = all[i * L + l];
        return to.data();
    }
    const costate_point *lane(int l, const costate_lane_point *all, one &to) const
    {
        if (!all) return nullptr;
        to.at.t = all->t ? all->t[l] : 0;
        to.at.y = lane(l, all->y, s.y, to.y);
        to.at.p = lane(l, all->p, s.p, to.p);
        return &to.at;
    }
    void put(int l, const double *one_lane, int count, double *all) const
    {
        for (int i = 0; all && i < count; i++) all[i * L + l] = one_lane[i];
    }
    template<class Body> int each(const Body &body) const
    {
        int undefined = 0;
        for (int l = 0; l < L; l++) {
            try {
                if (body(l)) undefined |= 1 << l;
            } catch (...) {
                undefined |= 1 << l;            // alone, the member throws it again
            }
        }
        return undefined;
    }

public:
    apart(const any_map &of_problem, const shape &sizes, int width) : map(of_problem), s(sizes), L(width) {}

    int forward(int order, const costate_lane_point *x, const costate_lane_point *a, const costate_lane_point *b,
                double *out) const
    {
        return each([&](int l) {
            memory &m = *of;
            const costate_point *at = lane(l, x, m.x), *along = lane(l, a, m.a), *and_along = lane(l, b, m.b);
            m.out.resize(static_cast<std::size_t>(s.rows));
            double *to = m.out.data();
            const int status = order == 0 ? map.value(s, at, to) : order == 1 ? map.tangents(s, at, 1, along, to) :
                               map.tangent2(s, at, along, and_along, to);
            put(l, to, s.rows, out);
            return status;
        });
    }
    int back(int order, const costate_lane_point *x, const costate_lane_point *a, const costate_lane_point *b,
             const double *w, const costate_lane_gradient *g) const
    {
        return each([&](int l) {
            memory &m = *of;
            const costate_point *at = lane(l, x, m.x), *along = lane(l, a, m.a), *and_along = lane(l, b, m.b);
            const double *weights = lane(l, w, s.rows, m.w);
            double t = g->t ? g->t[l] : 0;
            costate_gradient to = {};
            to.t = g->t ? &t : nullptr;
            to.y = lane(l, g->y, s.y, m.y) ? m.y.data() : nullptr;
            to.p = lane(l, g->p, s.p, m.p) ? m.p.data() : nullptr;
            const int status = order == 0 ? map.adjoints(s, at, 1, weights, &to) :
                               order == 1 ? map.adjoint_tangent(s, at, along, weights, &to) :
                               map.adjoint_tangent2(s, at, along, and_along, weights, &to);
            put(l, &t, 1, g->t);
            put(l, to.y, s.y, g->y);
            put(l, to.p, s.p, g->p);
            return status;
        });
    }
    int jac(const costate_pattern *pattern, const costate_lane_point *x, double *J) const
    {
        const int entries = pattern ? pattern->col[pattern->n] : s.y * s.y;
        return each([&](int l) {
            memory &m = *of;
            m.out.resize(static_cast<std::size_t>(entries));
            const int status = map.jac(s, pattern, lane(l, x, m.x), m.out.data());
            put(l, m.out.data(), entries, J);
            return status;
        });
    }
};

[[gnu::noinline]] inline int one_by_one(int order, const any_map &map, const shape &s, int L,
                                        const costate_lane_point *x, const costate_lane_point *a,
                                        const costate_lane_point *b, double *out)
{
    return apart(map, s, L).forward(order, x, a, b, out);
}
[[gnu::noinline]] inline int one_by_one(int order, const any_map &map, const shape &s, int L,
                                        const costate_lane_point *x, const costate_lane_point *a,
                                        const costate_lane_point *b, const double *w, const costate_lane_gradient *g)
{
    return apart(map, s, L).back(order, x, a, b, w, g);
}
[[gnu::noinline]] inline int one_by_one(const any_map &map, const shape &s, int L, const costate_pattern *pattern,
                                        const costate_lane_point *x, double *J)
{
    return apart(map, s, L).jac(pattern, x, J);
}

// ---- all lanes at once ------------------------------------------------------------------------------------------

enum class flag : int { no, yes };      // of a type that no number contains

// Memory of an evaluation.  It grows apart from the functions into which everything else is compiled.
template<class T> struct lane_memory {
    std::vector<T> in, out;
    std::vector<flag> reached;
    [[gnu::noinline]] void provide(std::size_t inputs, std::size_t rows)
    {
        if (in.size() < inputs) in.resize(inputs);
        if (out.size() < rows) out.resize(rows);
    }
};
template<class T> class lane_lease {
    lease<lane_memory<T>> memory;

public:
    [[gnu::noinline]] lane_lease() {}
    [[gnu::noinline]] ~lane_lease() {}
    lane_memory<T> *operator->() const { return memory.operator->(); }
};

// A recording of L members.  Their gradients have the same terms, but those that are zero in one lane are passed over
// in this lane.  Numbers that no gradient has reached are passed over by all, without a look at lanes.
template<class T> class lane_recording : public recording<T> {
    T *first_bar;
    flag *first_reached;

public:
    [[gnu::noinline]] explicit lane_recording(std::size_t count) : recording<T>(count) {}
    [[gnu::noinline]] ~lane_recording() {}
    [[gnu::noinline]] void begin(std::vector<flag> &of)
    {
        const std::size_t count = this->here.count;
        if (this->memory->bar.size() < count) this->memory->bar.resize(count);
        if (of.size() < count) of.resize(count);
        first_bar = this->memory->bar.data();
        first_reached = of.data();
        std::memset(static_cast<void *>(first_bar), 0, count * sizeof(T));
        std::fill_n(first_reached, count, flag::no);
    }
    template<class W> COSTATE_BETWEEN const T *gradient(const traced<T> *out, const W *w, int rows)
    {
        T *const bar = first_bar;
        flag *const reached = first_reached;
        const edge<T> *const edges = this->here.edges;
        const std::size_t from = this->first;
        for (int i = 0; i < rows; i++) {
            innermost(bar[out[i].at]) += w[i];
            reached[out[i].at] = flag::yes;
        }
        for (std::size_t k = this->here.count; --k >= from;) {
            if (reached[k] == flag::no) continue;
            const T b = bar[k];
            const auto nothing = is_zero(b);
            const edge<T> *e = edges + k;
            auto pass = [&] {
                bar[e->from] += nothing_where(nothing, e->slope * b);        // is never -0.0, which + 0.0 would change
                reached[e->from] = flag::yes;
            };
            unsigned left = e->count;
            if (left == PAIR) left = 2, k--;        // its first edge is no number
            pass();
            while (--left > 0) {
                e--;
                pass();
            }
        }
        return bar;
    }
};

// A function that is compiled into its caller; clang does so only with calls in a function that says it.
template<class F> struct inlined {
    const F &f;
    template<class... A> COSTATE_CALLS_USER
    auto operator()(A &&...a) const -> decltype(f(std::forward<A>(a)...)) { return f(std::forward<A>(a)...); }
};

template<int L, int order> struct wide_number { using type = dual<typename wide_number<L, order - 1>::type>; };
template<int L> struct wide_number<L, 0> { using type = wide<L>; };

// Numbers with derivatives along a and b, where these are not NULL.
template<int L> COSTATE_BETWEEN wide<L> lanes_at(const double *all, int i)
{
    return all ? wide<L>::at(all + i * L) : wide<L>(0.0);
}
template<int L> COSTATE_BETWEEN void set(wide<L> &z, const double *x, const double *, const double *, int i)
{
    z = wide<L>::at(x + i * L);
}
template<int L> COSTATE_BETWEEN void set(dual<wide<L>> &z, const double *x, const double *a, const double *, int i)
{
    z.v = wide<L>::at(x + i * L);
    z.d = lanes_at<L>(a, i);
}
template<int L> COSTATE_BETWEEN void set(dual<dual<wide<L>>> &z, const double *x, const double *a, const double *b,
                                        int i)
{
    set(z.v, x, a, nullptr, i);
    z.d.v = lanes_at<L>(b, i);
    z.d.d = 0.0;
}
template<int L> COSTATE_BETWEEN const wide<L> &last(const wide<L> &z) { return z; }
template<class T> COSTATE_BETWEEN const auto &last_of(const T &z)
{
    if constexpr (is_number<T>::value) return last_of(z.d);
    else return z;
}

// Calls part(numbers of x, those of a, those of b, how many) for t, y, p.
template<class Part> COSTATE_BETWEEN void lane_parts(const shape &s, const costate_lane_point *x,
                                                    const costate_lane_point *a, const costate_lane_point *b,
                                                    const Part &part)
{
    part(x->t, a ? a->t : nullptr, b ? b->t : nullptr, 1);
    part(x->y, a ? a->y : nullptr, b ? b->y : nullptr, s.y);
    part(x->p, a ? a->p : nullptr, b ? b->p : nullptr, s.p);
}

// One evaluation, inside which there may be another one: do lanes agree in it, and does nobody throw?
class evaluation {
    const bool outer = std::exchange(disagreed(), false);

public:
    int status = 0;
    evaluation() = default;
    ~evaluation() { disagreed() = outer; }
    evaluation(const evaluation &) = delete;
    evaluation &operator=(const evaluation &) = delete;
    template<class F, class T>
    COSTATE_BETWEEN bool succeeds(const F &f, const shape &s, const point<T> &at, view<T> out)
    {
        prepare(s, at, out);
        try {
            status = call(inlined<F>{f}, at, out);
        } catch (...) {
            return false;
        }
        return !disagreed();
    }
};

// The products of f for L members.  A status is that of all lanes.
template<class F, int L> struct lane_products {
    static constexpr int ALL = (1 << L) - 1;

    COSTATE_BETWEEN static int value(const any_map &map, const F &f, const shape &s, const costate_lane_point *x,
                                    double *to)
    {
        using T = wide<L>;
        auto part = [](const double *all, int count) {
            return view<const T>(reinterpret_cast<const T *>(all), static_cast<std::size_t>(count));
        };
        const point<T> at{T::at(x->t), part(x->y, s.y), part(x->p, s.p), {}, {}, 0};
        const view<T> out(reinterpret_cast<T *>(to), static_cast<std::size_t>(s.rows));
        evaluation e;
        if (!e.succeeds(f, s, at, out)) return one_by_one(0, map, s, L, x, nullptr, nullptr, to);
        return e.status ? ALL : 0;
    }

    template<int order> COSTATE_BETWEEN static int forward(const any_map &map, const F &f, const shape &s,
                                                          const costate_lane_point *x, const costate_lane_point *a,
                                                          const costate_lane_point *b, double *to)
    {
        using T = typename wide_number<L, order>::type;
        lane_lease<T> memory;
        memory->provide(s.inputs(), static_cast<std::size_t>(s.rows));
        T *in = memory->in.data();
        lane_parts(s, x, a, b, [&](const double *of_x, const double *of_a, const double *of_b, int count) {
            for (int i = 0; i < count; i++) set(*in++, of_x, of_a, of_b, i);
        });
        const auto at = point_of(s, static_cast<const T *>(memory->in.data()), 0, 0);
        const view<T> out(memory->out.data(), static_cast<std::size_t>(s.rows));
        evaluation e;
        if (!e.succeeds(f, s, at, out)) return one_by_one(order, map, s, L, x, a, b, to);
        for (int i = 0; e.status == 0 && i < s.rows; i++) last_of(out[static_cast<std::size_t>(i)]).store(to + i * L);
        return e.status ? ALL : 0;
    }

    template<int order> COSTATE_BETWEEN static int back(const any_map &map, const F &f, const shape &s,
                                                       const costate_lane_point *x, const costate_lane_point *a,
                                                       const costate_lane_point *b, const double *w,
                                                       const costate_lane_gradient *g)
    {
        using T = typename wide_number<L, order>::type;
        lane_lease<traced<T>> memory;
        memory->provide(s.inputs(), static_cast<std::size_t>(s.rows));
        traced<T> *const in = memory->in.data();
        double *const wanted[] = {g->t, g->y, g->p}, *const *to = wanted;
        unsigned place = 0;
        lane_parts(s, x, a, b, [&](const double *of_x, const double *of_a, const double *of_b, int count) {
            for (int i = 0; i < count; i++, place++) {
                set(in[place].v, of_x, of_a, of_b, i);
                in[place].at = *to ? place + 1 : 0;
            }
            to++;
        });
        lane_recording<T> tape(s.inputs());
        const auto at = point_of(s, static_cast<const traced<T> *>(in), 0, 0);
        const view<traced<T>> out(memory->out.data(), static_cast<std::size_t>(s.rows));
        evaluation e;
        if (!e.succeeds(f, s, at, out)) return one_by_one(order, map, s, L, x, a, b, w, g);
        if (e.status) return ALL;
        tape.begin(memory->reached);
        const T *from = tape.gradient(out.data(), reinterpret_cast<const wide<L> *>(w), s.rows) + 1;
        auto add = [&](double *of, int count) {
            for (int i = 0; of && i < count; i++) (wide<L>::at(of + i * L) + last_of(from[i])).store(of + i * L);
            from += count;
        };
        add(g->t, 1);
        add(g->y, s.y);
        add(g->p, s.p);
        return 0;
    }

    COSTATE_BETWEEN static int jac(const any_map &map, const F &f, const shape &s, const costate_pattern *pattern,
                                  const costate_lane_point *x, double *J)
    {
        enum { COLUMNS = 4 };
        using T = dual<wide<L>, pack<COLUMNS, wide<L>>>;
        lane_lease<T> memory;
        memory->provide(s.inputs(), static_cast<std::size_t>(s.rows));
        T *in = memory->in.data();
        lane_parts(s, x, nullptr, nullptr, [&](const double *of_x, const double *, const double *, int count) {
            for (int i = 0; i < count; i++) *in++ = {wide<L>::at(of_x + i * L), pack<COLUMNS, wide<L>>()};
        });
        const auto at = point_of(s, static_cast<const T *>(memory->in.data()), 0, 0);
        const view<T> out(memory->out.data(), static_cast<std::size_t>(s.rows));
        T *const y = memory->in.data() + 1;
        evaluation e;
        for (int first = 0; first < s.y; first += COLUMNS) {
            const int width = std::min<int>(COLUMNS, s.y - first);
            for (int c = 0; c < width; c++) y[first + c].d.d[c] = 1.0;
            if (!e.succeeds(f, s, at, out)) return one_by_one(map, s, L, pattern, x, J);
            if (e.status) return ALL;
            for (int c = 0; c < width; c++) {
                const int j = first + c;
                y[j].d.d[c] = 0.0;
                for (int k = pattern ? pattern->col[j] : 0; k < (pattern ? pattern->col[j + 1] : s.y); k++)
                    out[static_cast<std::size_t>(pattern ? pattern->row[k] : k)].d.d[c]
                        .store(J + (pattern ? k : j * s.y + k) * L);
            }
        }
        return 0;
    }
};

// ---- the callbacks ----------------------------------------------------------------------------------------------

template<class F, bool of_rhs> class lane_map_of;

// The products, each compiled for the instructions of its lanes.
template<class Map, int L> struct lane_code;
#define COSTATE_LANE_CODE(L) \
    template<class Map> struct lane_code<Map, L> { \
        using all = lane_products<typename Map::function, L>; \
        using at = const costate_lane_point *; \
        static const auto &f(const any_map &map) { return static_cast<const Map &>(map).f; } \
        COSTATE_LANES_##L COSTATE_ALL_INLINE static int value(const any_map &map, const shape &s, at x, double *out) \
        { \
            return all::value(map, f(map), s, x, out); \
        } \
        template<int order> COSTATE_LANES_##L COSTATE_ALL_INLINE \
        static int forward(const any_map &map, const shape &s, at x, at a, at b, double *out) \
        { \
            return all::template forward<order>(map, f(map), s, x, a, b, out); \
        } \
        template<int order> COSTATE_LANES_##L COSTATE_ALL_INLINE \
        static int back(const any_map &map, const shape &s, at x, at a, at b, const double *w, \
                        const costate_lane_gradient *g) \
        { \
            return all::template back<order>(map, f(map), s, x, a, b, w, g); \
        } \
        COSTATE_LANES_##L COSTATE_ALL_INLINE \
        static int jac(const any_map &map, const shape &s, const costate_pattern *pattern, at x, double *J) \
        { \
            return all::jac(map, f(map), s, pattern, x, J); \
        } \
    };
COSTATE_LANE_CODE(2)
COSTATE_LANE_CODE(4)
COSTATE_LANE_CODE(8)
#undef COSTATE_LANE_CODE

// A map that also has its products for several members.  of_rhs: with the Jacobian.
template<class F, bool of_rhs> class lane_map_of final : public map_of<F> {
    template<class Map, int L> friend struct lane_code;

    // the third derivatives, which runs in lanes do not use
    template<int L> static int back2(const any_map &map, const shape &s, const costate_lane_point *x,
                                     const costate_lane_point *a, const costate_lane_point *b, const double *w,
                                     const costate_lane_gradient *g)
    {
        return one_by_one(2, map, s, L, x, a, b, w, g);
    }
    template<int L> static const lane_calls *calls()
    {
        using code = lane_code<lane_map_of, L>;
        static const lane_calls all = {code::value, {code::template forward<1>, code::template forward<2>},
                                       {code::template back<0>, code::template back<1>, back2<L>}, jac_of<code>()};
        return &all;
    }
    template<class Code> static decltype(lane_calls::jac) jac_of()
    {
        if constexpr (of_rhs) return Code::jac;
        else return nullptr;
    }

public:
    using function = F;
    explicit lane_map_of(F given) : map_of<F>(std::move(given)) {}
    const lane_calls *beside(int L) const override
    {
        return L == 2 ? calls<2>() : L == 4 ? calls<4>() : L == 8 ? calls<8>() : nullptr;
    }
    int jac(const shape &s, const costate_pattern *pattern, const costate_point *x, double *J) const override
    {
        int status = 0;
        for (int first = 0; first < s.y && status == 0; first += LANES)
            status = this->columns(s, pattern, x, first, std::min<int>(LANES, s.y - first), J);
        return status;
    }
};

}

// A function whose map treats several members side by side, too.
template<class F> struct in_lanes {
    F f;
};

}

namespace std {
template<int L> class numeric_limits<costate_cpp::wide<L>> : public numeric_limits<double> {};
}
#undef COSTATE_ALL_INLINE
#undef COSTATE_CALLS_USER
#undef COSTATE_BETWEEN
#undef COSTATE_INLINE
#endif
