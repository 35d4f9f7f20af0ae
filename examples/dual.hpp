// dual.hpp - numbers with derivatives: dual<> has one along a direction, dual<dual<>> those along two and the mixed
// one; that of dual<T, wire<T>> is a place on a tape, over which products.hpp goes back.
#pragma once
#include <cmath>
#include <utility>
#include <vector>

template<class T> struct wire {         // c times sum number `at` of the tape; number 0 is that of constants
    static inline thread_local std::vector<std::pair<wire, wire>> tape;
    T c = 0;
    int at = 0;
    friend wire operator*(const T &by, const wire &x) { return {by * x.c, x.at}; }
    friend wire operator+(const wire &x, const wire &y)
    {
        tape.emplace_back(x, y);
        return {1, int(tape.size()) - 1};
    }
};

template<class T = double, class D = T> struct dual {
    T v = 0;
    D d = {};
    dual(double c = 0) : v(c) {}
    dual(const T &value, const D &along) : v(value), d(along) {}
    friend dual operator+(const dual &x, const dual &y) { return {x.v + y.v, x.d + y.d}; }
    friend dual operator-(const dual &x, const dual &y) { return {x.v - y.v, x.d + T(-1) * y.d}; }
    friend dual operator-(const dual &x) { return {-x.v, T(-1) * x.d}; }
    friend dual operator*(const dual &x, const dual &y) { return {x.v * y.v, y.v * x.d + x.v * y.d}; }
    friend dual operator/(const dual &x, const dual &y) { T q = x.v / y.v; return {q, 1 / y.v * x.d + -q / y.v * y.d}; }
    friend dual exp(const dual &x) { using std::exp; T e = exp(x.v); return {e, e * x.d}; }
    friend dual log(const dual &x) { using std::log; return {log(x.v), 1 / x.v * x.d}; }
    friend dual sqrt(const dual &x) { using std::sqrt; T r = sqrt(x.v); return {r, 0.5 / r * x.d}; }
    friend dual sin(const dual &x) { using std::sin, std::cos; return {sin(x.v), cos(x.v) * x.d}; }
    friend dual cos(const dual &x) { using std::sin, std::cos; return {cos(x.v), -sin(x.v) * x.d}; }
};
