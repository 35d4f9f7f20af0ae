// test_numbers.cpp - the first three derivatives of every function of numbers.hpp are right, forward and in reverse,
// also where they are zero or infinite; and code may branch on values.
#include "check.hpp"
#include <type_traits>

// One function a state, each with a term that p is in.
struct functions {
    static constexpr int count = 44;
    template<class T, class Y, class Out> void operator()(const T &t, const Y &y, const Y &p, Out &out) const
    {
        const T x = y[0], z = y[1], h = y[2];                   // about 1.3, -0.7, 0.4
        int i = 0;
        auto put = [&](const T &value) { out[i] = value * (1 + p[0] * i), i++; };
        put(exp(x)), put(exp2(x)), put(expm1(x)), put(log(x)), put(log10(x)), put(log2(x)), put(log1p(x));
        put(sqrt(x)), put(cbrt(z)), put(sin(x)), put(cos(x)), put(tan(x)), put(asin(h)), put(acos(h)), put(atan(z));
        put(sinh(x)), put(cosh(x)), put(tanh(z)), put(asinh(z)), put(acosh(x)), put(atanh(h));
        put(erf(z)), put(erfc(h));
        put(pow(x, 3)), put(pow(z, 3.0)), put(pow(x, 0.4)), put(pow(2.5, z)), put(pow(x, z)), put(atan2(z, x));
        put(hypot(x, z)), put(fabs(z)), put(abs(z) + abs(x)), put(fmax(x, z)), put(fmin(x * x, 10));
        put(fmod(5 * x, h));
        put(copysign(x, z)), put(floor(x) * x + ceil(h) * h), put(x / z - 2 / x + h / 3);
        T sum = 1;
        sum += x, sum *= z, sum -= h, sum /= 1 + x * x, sum += 2, sum *= 3, sum -= 1, sum /= 2;
        put(sum), put(-(+x) * 3 + 2 * z - h * 0.5 + 1 - (4 - x)), put(x > z && 1 < x && h < 1 ? x * z : h);
        put(atan2(1.0, x) + hypot(z, 2) + t * x), put(x * z - z * x * x - x), put(trunc(x) + round(z) + x);
        check(i == count, std::to_string(i) + " functions");
    }
};

static void derivatives()
{
    std::vector<double> y(functions::count, 0.3);
    y[0] = 1.3, y[1] = -0.7, y[2] = 0.41;
    costate::problem P(functions::count, 1, functions());
    const costate_report r = P.check({0.2, y, {0.03}});
    check(r.tangent < 1e-9 && r.adjoint < 1e-13 && r.tangent2 < 1e-9 && r.adjoint_tangent < 1e-13 &&
          r.adjoint_tangent2 < 1e-9, r.text);
}

// exp, except that numbers get another derivative of the given order
template<int order> struct wrong {
    template<class T, class Y> T operator()(const T &, const Y &y, const Y &) const
    {
        T d = y[0] - value(y[0]), term = 1e-3;
        for (int k = 0; k < order; k++) term *= d;
        return exp(y[0]) + term;
    }
    static double value(double x) { return x; }
    template<class N> static double value(const N &x) { return costate_cpp::value(x); }
};

static void wrong_ones_are_found()
{
    refused([] { costate::problem(1, 0, wrong<1>()).check({0, {0.5}}); }, "tangent", "a wrong first derivative");
    refused([] { costate::problem(1, 0, wrong<2>()).check({0, {0.5}}); }, "tangent2", "a wrong second derivative");
    refused([] { costate::problem(1, 0, wrong<3>()).check({0, {0.5}}); }, "adjoint_tangent2", "a wrong third one");
}

// Products of one function of y and p, at a point.
struct one {
    costate::problem P;
    double y[2], p[1] = {0}, g[2] = {0, 0};
    template<class F> one(F f, double a, double b = 0) : P(2, 1, f), y{a, b} {}
    double tangent(double da, double db = 0)
    {
        double out[2], d[2] = {da, db};
        costate_point x = {}, dx = {};
        x.y = y, x.p = p, dx.y = d;
        P.c().rhs.tangent(&x, &dx, out, P.c().ctx);
        return out[0];
    }
    double tangent2(double da)
    {
        double out[2], d[2] = {da, 0};
        costate_point x = {}, dx = {};
        x.y = y, x.p = p, dx.y = d;
        P.c().rhs.tangent2(&x, &dx, &dx, out, P.c().ctx);
        return out[0];
    }
    double gradient(double w = 1)
    {
        const double all[2] = {w, 0};
        costate_point x = {};
        costate_gradient to = {};
        x.y = y, x.p = p, to.y = g;
        g[0] = g[1] = 0;
        P.c().rhs.adjoint(&x, all, &to, P.c().ctx);
        return g[0];
    }
};

static void special_points()
{
    auto square = [](auto, auto const &y, auto const &, auto &out) { out[0] = pow(y[0], 2); };
    check(one(square, 0).tangent(1) == 0 && one(square, 0).gradient() == 0, "the derivative of x^2 at 0");
    check(one(square, 0).tangent2(1) == 2, "the second derivative of x^2 at 0");
    auto power = [](auto, auto const &y, auto const &, auto &out) { out[0] = pow(y[0], y[1]); };
    check(one(power, 0, 2).tangent(1, 1) == 0 && one(power, 0, 1).tangent(1, 1) == 1, "x^z at x = 0");
    auto none = [](auto, auto const &y, auto const &, auto &out) { out[0] = pow(y[0], 0) + pow(y[0], 1); };
    check(one(none, 0).gradient() == 1 && one(none, 0).tangent2(1) == 0, "x^0 + x^1 at 0");
    auto root = [](auto, auto const &y, auto const &, auto &out) { out[0] = sqrt(y[0]) + y[1]; };
    check(std::isinf(one(root, 0).tangent(1)) && std::isinf(one(root, 0).gradient()), "the slope of sqrt at 0");
    check(one(root, 0).tangent(0, 1) == 1 && one(root, 0).gradient(0) == 0, "sqrt at 0 along no direction");
    auto branch = [](auto, auto const &y, auto const &, auto &out) {
        auto unused = sqrt(y[0]) / y[0];
        out[0] = y[0] > 0 ? unused : y[1] * y[1];
    };
    one taken(branch, 0, 3);
    check(taken.gradient() == 0 && taken.g[1] == 6, "a branch that is not taken, whose slope is infinite");
    auto absolute = [](auto, auto const &y, auto const &, auto &out) { out[0] = fabs(y[0]) + cbrt(y[1]); };
    check(one(absolute, -2, 1).tangent(1) == -1 && one(absolute, 2, 1).gradient() == 1, "the slope of fabs");
    auto zero = [](auto, auto const &y, auto const &, auto &out) {
        out[0] = 0;
        out[1] = floor(y[0]) + ceil(y[0]) + round(y[0]) + trunc(y[0]);
    };
    check(one(zero, 1.5).gradient() == 0, "constants have no gradient");
}

// Sums share edges: each one that is used must have its own gradient, also where many are.
static void sums()
{
    auto running = [](auto, auto const &y, auto const &, auto &out) {
        auto s = y[0] * y[1], all = s;
        for (int k = 1; k < 100; k++) {
            s = s + k * y[0];
            if (k % 2) s += s * y[1];                           // also of itself
            if (k % 30 == 0) s = s / 1e6;
            all += s;
        }
        auto twice = all;
        twice += all;                                           // all stays as it is
        out[0] = all * 2 - twice + all;
        out[1] = y[1] - (all - all);
    };
    costate::problem P(2, 0, running);
    const costate_report r = P.check({0, {0.3, 0.2}});
    check(r.adjoint < 1e-13, r.text);
}

static void as_numbers()
{
    using number = costate::dual<>;
    const number a(2.5, 1), b(2, 0);
    check(a > b && a >= 2 && 3 > a && a == 2.5 && a != b && !(a < b) && a <= 2.5, "comparisons are those of values");
    check(int(a) == 2 && double(a) == 2.5 && isfinite(a) && !isnan(a) && isinf(log(number(0))), "values as numbers");
    check(std::numeric_limits<number>::epsilon() == std::numeric_limits<double>::epsilon(), "limits");
    check(value(a + 1 + 2u - 3L) == 2.5, "all kinds of numbers in sums");
    static_assert(std::is_trivially_copyable<number>::value, "numbers are copied as bytes");
    static_assert(std::is_trivially_copyable<costate::traced<>>::value, "traced numbers, too");
}

int main()
{
    derivatives();
    wrong_ones_are_found();
    special_points();
    sums();
    as_numbers();
    return failures != 0;
}
