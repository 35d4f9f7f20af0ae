// numbers.hpp - numbers that carry derivatives: dual along a direction, traced for gradients.  C++17.
//
// dual<> holds a value v and its derivative d along a direction; dual<dual<>> holds those along two directions and the
// mixed one; dual<double, pack<8>> those along eight directions.  A traced<T> records every operation on a tape, over
// which a sweep goes back for the gradient; T is double, or a dual number for derivatives of gradients.  costate.hpp
// makes all products of a map from them.
//
// Call the functions of <cmath> without std::, or after `using std::exp;`.  Comparisons compare values, so that code
// may branch; costate::value(x) is the value of any number as a double.  A derivative that is zero stays zero where a
// slope is infinite: sqrt(x) at 0 has an infinite derivative only along directions in which x changes.
#ifndef COSTATE_NUMBERS_HPP
#define COSTATE_NUMBERS_HPP

#include <math.h>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <ostream>
#include <type_traits>
#include <vector>

namespace costate_cpp {

template<class T, class D> struct dual;
template<class T> struct traced;

template<class N> struct is_number : std::false_type {};
template<class T, class D> struct is_number<dual<T, D>> : std::true_type {};
template<class T> struct is_number<traced<T>> : std::true_type {};
template<class N, class Result = N> using if_number = std::enable_if_t<is_number<N>::value, Result>;

inline double value(double x) { return x; }
template<class N> if_number<N, double> value(const N &x) { return value(x.v); }

// Derivatives along `count` directions, which the compiler calculates side by side.
template<int count, class T = double> struct pack {
    T d[count] = {};
    friend pack operator+(pack x, const pack &y)
    {
        for (int i = 0; i < count; i++) x.d[i] += y.d[i];
        return x;
    }
    friend pack operator*(const T &c, pack x)
    {
        for (int i = 0; i < count; i++) x.d[i] *= c;
        return x;
    }
    friend pack operator*(const pack &x, const T &c) { return c * x; }
    friend pack operator-(const pack &x) { return T(-1.0) * x; }
    friend pack operator-(const pack &x, const pack &y) { return x + -y; }
};

template<class T = double, class D = T> struct dual {
    T v{};
    D d{};
    dual() = default;
    dual(double c) : v(c) {}
    dual(const T &val, const D &along) : v(val), d(along) {}
    template<class A, class = std::enable_if_t<std::is_arithmetic<A>::value>>
    explicit operator A() const { return static_cast<A>(value(v)); }
};

namespace detail {

// the value, of numbers with derivatives: a double, or one of each member (lanes.hpp)
template<class N> auto &innermost(N &x)
{
    if constexpr (is_number<std::remove_const_t<N>>::value) return innermost(x.v);
    else return x;
}

// of members: in which lanes
inline bool is_zero(double x) { return x == 0; }
template<class T> auto is_zero(const dual<T, T> &x) { return is_zero(x.v) && is_zero(x.d); }

// nothing where a condition holds, and else a number
template<class T, class Number> T nothing_if(bool is, const Number &number) { return is ? T(0) : T(number()); }
template<class T, class Lanes, class Number> T nothing_if(const Lanes &are, const Number &number)
{
    return nothing_where(are, T(number()));
}

// slope times d, where nothing times infinity is nothing
template<class T> T times(const T &slope, const T &d)
{
    return nothing_if<T>(is_zero(d), [&] { return slope * d; });
}
template<int count, class T> pack<count, T> times(const T &slope, pack<count, T> x)
{
    for (int i = 0; i < count; i++) x.d[i] = times(slope, x.d[i]);
    return x;
}

// The tape: a number that an operation made has an edge for each number that it was made of, one behind the other, and
// is named by the last of them.  Sums share edges: a + b + c has those of a + b and one more.  So a sum of many terms
// takes one edge for each of them, and the sweep passes over a + b, which has no weight of its own.
template<class T> struct edge {
    T slope;
    unsigned from, count;                   // the operand; how many edges the number has that ends here
};
enum : unsigned {
    PAIR = 0,                               // count of a number with two edges of its own
    TERMS = 16                              // a sum shares at most so many: they are swept for each sum that is used
};

// Memory of one recording, kept for the next one.
template<class T> struct tape {
    std::vector<edge<T>> edges;
    std::vector<T> bar;                     // the gradient with respect to each number
};

// The recording of this thread.  It has no constructor, so that a thread_local variable need not be asked for whether
// it has been called; and its count is not of a type that edges contain, so that it can stay in a register.
template<class T> struct recorder {
    edge<T> *edges;
    std::size_t count, room;
    tape<T> *owner;
    static recorder &here()
    {
        static thread_local recorder r;
        return r;
    }
    // apart from the operations, which are inlined and must stay short
    [[gnu::noinline, gnu::cold]] void provide(std::size_t more)
    {
        owner->edges.resize(more);
        edges = owner->edges.data();
        room = more;
    }
};

}

// The number at a place on the tape; place 0 is that of all constants, about which nothing is recorded.
template<class T = double> struct traced {
    T v;
    unsigned at;
    traced(double c = 0) : v(c), at(0) {}
    traced(const T &val, unsigned place) : v(val), at(place) {}
    template<class A, class = std::enable_if_t<std::is_arithmetic<A>::value>>
    explicit operator A() const { return static_cast<A>(value(v)); }
};

namespace detail {

// The place of f(x) with this slope, of f(x, y), and of x + sign * y: places 0 are those of constants.
template<class T> unsigned place(unsigned x, const T &slope)
{
    if (!x) return 0;
    recorder<T> &r = recorder<T>::here();
    if (r.count + 2 > r.room) r.provide(2 * r.room);
    edge<T> &e = r.edges[r.count];
    e.slope = slope, e.from = x, e.count = 1;
    return static_cast<unsigned>(r.count++);
}
template<class T> unsigned place(unsigned x, const T &slope_x, unsigned y, const T &slope_y)
{
    if (!x) return place(y, slope_y);
    if (!y) return place(x, slope_x);
    recorder<T> &r = recorder<T>::here();
    if (r.count + 2 > r.room) r.provide(2 * r.room);
    edge<T> *const e = r.edges + r.count;
    e[0].slope = slope_x, e[0].from = x;
    e[1].slope = slope_y, e[1].from = y, e[1].count = PAIR;
    r.count += 2;
    return static_cast<unsigned>(r.count - 1);
}
template<class T> unsigned place_of_sum(unsigned x, unsigned y, double sign)
{
    if (!y) return x;
    if (!x && sign > 0) return y;
    recorder<T> &r = recorder<T>::here();
    if (x + 1 != r.count || r.edges[x].count >= TERMS) return place<T>(x, T(1), y, T(sign));
    if (r.count + 2 > r.room) r.provide(2 * r.room);
    edge<T> &e = r.edges[r.count];                  // the last number gets one more term
    e.slope = T(sign), e.from = y, e.count = r.edges[x].count == PAIR ? 3 : r.edges[x].count + 1;
    return static_cast<unsigned>(r.count++);
}

// f(x) and f(x, y) from their values and slopes
template<class T, class D> dual<T, D> chain(const T &f, const dual<T, D> &x, const T &slope)
{
    return {f, times(slope, x.d)};
}
template<class T, class D> dual<T, D> chain(const T &f, const dual<T, D> &x, const T &slope_x, const dual<T, D> &y,
                                            const T &slope_y)
{
    return {f, times(slope_x, x.d) + times(slope_y, y.d)};
}
template<class T> traced<T> chain(const T &f, const traced<T> &x, const T &slope)
{
    return {f, place(x.at, slope)};
}
template<class T> traced<T> chain(const T &f, const traced<T> &x, const T &slope_x, const traced<T> &y,
                                  const T &slope_y)
{
    return {f, place(x.at, slope_x, y.at, slope_y)};
}

}

// ---- arithmetic ------------------------------------------------------------------------------------------------

template<class T, class D> dual<T, D> operator+(const dual<T, D> &x, const dual<T, D> &y)
{
    return {x.v + y.v, x.d + y.d};
}
template<class T, class D> dual<T, D> operator-(const dual<T, D> &x, const dual<T, D> &y)
{
    return {x.v - y.v, x.d - y.d};
}
template<class T, class D> dual<T, D> operator*(const dual<T, D> &x, const dual<T, D> &y)
{
    return {x.v * y.v, y.v * x.d + x.v * y.d};
}
template<class T, class D> dual<T, D> operator-(const dual<T, D> &x) { return {-x.v, -x.d}; }
template<class T, class D> dual<T, D> operator+(const dual<T, D> &x, double c) { return {x.v + c, x.d}; }
template<class T, class D> dual<T, D> operator*(const dual<T, D> &x, double c) { return {x.v * c, x.d * c}; }

template<class T> traced<T> operator+(const traced<T> &x, const traced<T> &y)
{
    return {x.v + y.v, detail::place_of_sum<T>(x.at, y.at, 1)};
}
template<class T> traced<T> operator-(const traced<T> &x, const traced<T> &y)
{
    return {x.v - y.v, detail::place_of_sum<T>(x.at, y.at, -1)};
}
template<class T> traced<T> operator*(const traced<T> &x, const traced<T> &y)
{
    return detail::chain<T>(x.v * y.v, x, y.v, y, x.v);
}
template<class T> traced<T> operator-(const traced<T> &x) { return detail::chain<T>(-x.v, x, -1); }
template<class T> traced<T> operator+(const traced<T> &x, double c) { return {x.v + c, x.at}; }
template<class T> traced<T> operator*(const traced<T> &x, double c) { return detail::chain<T>(x.v * c, x, c); }

// For both kinds.  A quotient is rounded as that of doubles is, x / y and not x * (1 / y).
template<class N> if_number<N> operator+(const N &x) { return x; }
template<class N> if_number<N> operator+(double c, const N &x) { return x + c; }
template<class N> if_number<N> operator-(const N &x, double c) { return x + -c; }
template<class N> if_number<N> operator-(double c, const N &x) { return -x + c; }
template<class N> if_number<N> operator*(double c, const N &x) { return x * c; }
template<class N> if_number<N> operator/(const N &x, const N &y)
{
    auto q = x.v / y.v, s = 1 / y.v;
    return detail::chain(q, x, s, y, -q * s);
}
template<class N> if_number<N> operator/(double c, const N &y)
{
    auto q = c / y.v;
    return detail::chain(q, y, -q / y.v);
}
template<class N> if_number<N> operator/(const N &x, double c)
{
    return detail::chain(x.v / c, x, decltype(x.v)(1 / c));
}

template<class N, class M> if_number<N, N &> operator+=(N &x, const M &y) { return x = x + y; }
template<class N, class M> if_number<N, N &> operator-=(N &x, const M &y) { return x = x - y; }
template<class N, class M> if_number<N, N &> operator*=(N &x, const M &y) { return x = x * y; }
template<class N, class M> if_number<N, N &> operator/=(N &x, const M &y) { return x = x / y; }
template<class N> if_number<N, N &> operator++(N &x) { return x = x + 1.0; }
template<class N> if_number<N, N &> operator--(N &x) { return x = x - 1.0; }

#define COSTATE_COMPARISON(op) \
    template<class N> if_number<N, bool> operator op(const N &x, const N &y) \
    { \
        return detail::innermost(x) op detail::innermost(y); \
    } \
    template<class N> if_number<N, bool> operator op(const N &x, double y) { return detail::innermost(x) op y; } \
    template<class N> if_number<N, bool> operator op(double x, const N &y) { return x op detail::innermost(y); }
COSTATE_COMPARISON(<)
COSTATE_COMPARISON(<=)
COSTATE_COMPARISON(>)
COSTATE_COMPARISON(>=)
COSTATE_COMPARISON(==)
COSTATE_COMPARISON(!=)
#undef COSTATE_COMPARISON

// ---- functions of one number: value f and slope at v ---------------------------------------------------------------

#define COSTATE_FUNCTION(name, slope) \
    template<class N> if_number<N> name(const N &x) \
    { \
        using std::name, std::exp, std::sqrt, std::sin, std::cos, std::sinh, std::cosh; \
        const auto &v = x.v; \
        const auto f = name(v); \
        return detail::chain<std::decay_t<decltype(x.v)>>(f, x, slope); \
    }
COSTATE_FUNCTION(exp, f)
COSTATE_FUNCTION(exp2, f * 0.69314718055994530942)
COSTATE_FUNCTION(expm1, exp(v))
COSTATE_FUNCTION(log, 1 / v)
COSTATE_FUNCTION(log10, 0.43429448190325182765 / v)
COSTATE_FUNCTION(log2, 1.44269504088896340736 / v)
COSTATE_FUNCTION(log1p, 1 / (1 + v))
COSTATE_FUNCTION(sqrt, 0.5 / f)
COSTATE_FUNCTION(cbrt, 1 / (3 * f * f))
COSTATE_FUNCTION(sin, cos(v))
COSTATE_FUNCTION(cos, -sin(v))
COSTATE_FUNCTION(tan, 1 + f * f)
COSTATE_FUNCTION(asin, 1 / sqrt((1 - v) * (1 + v)))
COSTATE_FUNCTION(acos, -1 / sqrt((1 - v) * (1 + v)))
COSTATE_FUNCTION(atan, 1 / (1 + v * v))
COSTATE_FUNCTION(sinh, cosh(v))
COSTATE_FUNCTION(cosh, sinh(v))
COSTATE_FUNCTION(tanh, 1 - f * f)
COSTATE_FUNCTION(asinh, 1 / sqrt(1 + v * v))
COSTATE_FUNCTION(acosh, 1 / sqrt((v - 1) * (v + 1)))
COSTATE_FUNCTION(atanh, 1 / ((1 - v) * (1 + v)))
COSTATE_FUNCTION(erf, 1.12837916709551257390 * exp(-v * v))
COSTATE_FUNCTION(erfc, -1.12837916709551257390 * exp(-v * v))
#undef COSTATE_FUNCTION

// By value alone: what is constant between its jumps has no derivative.
#define COSTATE_JUMPS(name) \
    template<class N> if_number<N> name(const N &x) \
    { \
        using std::name; \
        N f(0.0); \
        detail::innermost(f) = name(detail::innermost(x)); \
        return f; \
    }
COSTATE_JUMPS(floor)
COSTATE_JUMPS(ceil)
COSTATE_JUMPS(trunc)
COSTATE_JUMPS(round)
#undef COSTATE_JUMPS
#define COSTATE_ASKS(name) \
    template<class N> if_number<N, bool> name(const N &x) \
    { \
        using std::name; \
        return name(detail::innermost(x)); \
    }
COSTATE_ASKS(isfinite)
COSTATE_ASKS(isnan)
COSTATE_ASKS(isinf)
COSTATE_ASKS(signbit)
#undef COSTATE_ASKS

template<class N> if_number<N> fabs(const N &x) { return signbit(x) ? -x : x; }
template<class N> if_number<N> abs(const N &x) { return fabs(x); }

// ---- functions of two numbers; either may be a double, which becomes a constant -------------------------------------

template<class N> if_number<N> pow(const N &x, double c)
{
    using std::pow;
    using T = std::decay_t<decltype(x.v)>;
    return detail::chain<T>(pow(x.v, c), x, c == 0 ? T(0) : T(c * pow(x.v, c - 1)));
}
template<class N> if_number<N> pow(double c, const N &x)
{
    using std::pow;
    using T = std::decay_t<decltype(x.v)>;
    const T f = pow(c, x.v);
    return detail::chain<T>(f, x, c == 0 ? T(0) : T(std::log(c) * f));
}
template<class N> if_number<N> pow(const N &x, const N &y)
{
    using std::log;
    using std::pow;
    using detail::is_zero;
    using T = std::decay_t<decltype(x.v)>;
    const T f = pow(x.v, y.v);
    const auto at_zero = is_zero(detail::innermost(x)), zeroth = is_zero(detail::innermost(y));
    return detail::chain<T>(f, x, detail::nothing_if<T>(at_zero && zeroth, [&] { return y.v * pow(x.v, y.v - 1); }),
                            y, detail::nothing_if<T>(at_zero, [&] { return log(x.v) * f; }));
}
template<class N> if_number<N> atan2(const N &y, const N &x)
{
    using std::atan2;
    using T = std::decay_t<decltype(x.v)>;
    const T r = x.v * x.v + y.v * y.v;
    return detail::chain<T>(atan2(y.v, x.v), y, x.v / r, x, -y.v / r);
}
template<class N> if_number<N> hypot(const N &x, const N &y)
{
    using std::hypot;
    using T = std::decay_t<decltype(x.v)>;
    const T r = hypot(x.v, y.v);
    return detail::chain<T>(r, x, x.v / r, y, y.v / r);
}
template<class N> if_number<N> fmax(const N &x, const N &y) { return isnan(x) || x < y ? y : x; }
template<class N> if_number<N> fmin(const N &x, const N &y) { return isnan(x) || x > y ? y : x; }
template<class N> if_number<N> fmod(const N &x, const N &y)
{
    using std::fmod;
    using std::trunc;
    using T = std::decay_t<decltype(x.v)>;
    T slope(0.0);
    detail::innermost(slope) = -trunc(detail::innermost(x) / detail::innermost(y));
    return detail::chain<T>(fmod(x.v, y.v), x, 1, y, slope);
}
template<class N> if_number<N> copysign(const N &x, const N &y) { return signbit(x) == signbit(y) ? x : -x; }

#define COSTATE_WITH_DOUBLE(name) \
    template<class N> if_number<N> name(const N &x, double y) { return name(x, N(y)); } \
    template<class N> if_number<N> name(double x, const N &y) { return name(N(x), y); }
COSTATE_WITH_DOUBLE(atan2)
COSTATE_WITH_DOUBLE(hypot)
COSTATE_WITH_DOUBLE(fmax)
COSTATE_WITH_DOUBLE(fmin)
COSTATE_WITH_DOUBLE(fmod)
COSTATE_WITH_DOUBLE(copysign)
#undef COSTATE_WITH_DOUBLE

template<class N> if_number<N, std::ostream &> operator<<(std::ostream &out, const N &x) { return out << value(x); }

// ---- use of the tape -------------------------------------------------------------------------------------------

namespace detail {

// Memory that a thread lends out, last first, and keeps: a map may be evaluated inside another one.
template<class T> class lease {
    static std::vector<std::unique_ptr<T>> &kept()
    {
        static thread_local std::vector<std::unique_ptr<T>> all;
        return all;
    }
    std::unique_ptr<T> mine;

public:
    lease()
    {
        auto &all = kept();
        if (all.empty()) {
            mine = std::make_unique<T>();
            all.reserve(all.capacity() + 1);            // its place when it comes back
        } else {
            mine = std::move(all.back());
            all.pop_back();
        }
    }
    ~lease() { kept().push_back(std::move(mine)); }
    lease(const lease &) = delete;
    lease &operator=(const lease &) = delete;
    T &operator*() const { return *mine; }
    T *operator->() const { return mine.get(); }
};

// A recording, from its inputs to the sweep back.
template<class T> class recording {
protected:
    lease<tape<T>> memory;
    recorder<T> &here = recorder<T>::here();
    const recorder<T> outer = here;
    std::size_t first;                  // number that is no input

public:
    // 1 .. count are the inputs; one more, which nobody has, lets the first sum see that its operand is one of them.
    explicit recording(std::size_t count) : first(count + 2)
    {
        tape<T> &m = *memory;
        here = {m.edges.data(), first, m.edges.size(), &m};
        if (here.room < first) here.provide(2 * first + 100);
    }
    ~recording() { here = outer; }
    recording(const recording &) = delete;
    recording &operator=(const recording &) = delete;

    // The gradient with respect to each place of w . out, of `rows` numbers.
    const T *gradient(const traced<T> *out, const double *w, int rows)
    {
        memory->bar.resize(here.count);
        T *const bar = memory->bar.data();
        std::memset(static_cast<void *>(bar), 0, here.count * sizeof(T));       // 0.0 is zero bits
        for (int i = 0; i < rows; i++) bar[out[i].at] += w[i];
        sweep(bar);
        return bar;
    }

private:
    // What has no weight is passed over: the slopes of a branch that ends in nothing may be infinite.
    void sweep(T *bar) const
    {
        const edge<T> *const edges = here.edges;
        for (std::size_t k = here.count; --k >= first;) {
            const T b = bar[k];
            if (is_zero(b)) continue;
            const edge<T> *e = edges + k;
            bar[e->from] += e->slope * b;
            if (e->count == PAIR) {
                bar[e[-1].from] += e[-1].slope * b;
                k--;                        // its first edge is no number
                continue;
            }
            for (unsigned left = e->count; --left > 0;) {
                e--;
                bar[e->from] += e->slope * b;
            }
        }
    }
};

}
}

namespace std {
template<class T, class D> class numeric_limits<costate_cpp::dual<T, D>> : public numeric_limits<double> {};
template<class T> class numeric_limits<costate_cpp::traced<T>> : public numeric_limits<double> {};
}
#endif
