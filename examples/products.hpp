// products.hpp - all six products of a costate_map from one function that is written for any type T of numbers:
//     struct f { enum { n = 2, np = 1, rows = 2 };
//                template<class T> static void of(T t, const T *y, const T *p, T *out); };
//     problem.rhs = products<f>::map();
// By numbers of dual.hpp, back by their tape: 5 (tangent) to 10 or, back, 80 to 150 times f of some operations a row.
#include <costate/costate.h>
#include "dual.hpp"

template<class F> struct products {
    using point = const costate_point *;
    enum { n = F::n, np = F::np, inputs = 1 + n + np };
    static double input(point x, int i) {                   // of t, y, p; NULL: 0
        const double *v = !x ? nullptr : i == 0 ? &x->t : i <= n ? x->y : x->p;
        return v ? v[i == 0 ? 0 : i <= n ? i - 1 : i - 1 - n] : 0;
    }
    static void set(dual<> &z, double x, double a, double) { z = {x, a}; }
    static void set(dual<dual<>> &z, double x, double a, double b) { z = {{x, a}, {b, 0}}; }
    template<class T> static void set(dual<T, wire<T>> &z, double x, double a, double b) {
        set(z.v, x, a, b);
        z.d = wire<T>() + wire<T>();                        // a place of its own, a sum of nothing
    }
    static void set(double &z, double x, double, double) { z = x; }
    static double last(double z) { return z; }              // along all directions that there are
    template<class T> static double last(const dual<T> &z) { return last(z.d); }
    template<class T> static std::vector<T> run(point x, point a, point b) {
        std::vector<T> in(inputs), out(F::rows);
        for (int i = 0; i < inputs; i++) set(in[i], input(x, i), input(a, i), input(b, i));
        F::of(in[0], in.data() + 1, in.data() + 1 + n, out.data());
        return out;
    }
    template<class T> static int along(point x, point a, point b, double *out) {
        for (const T &z : run<T>(x, a, b)) *out++ = last(z);
        return 0;
    }
    template<class T> static int back(point x, point a, point b, const double *w, const costate_gradient *g) {
        auto &tape = wire<T>::tape;
        tape.assign(1, {});
        auto out = run<dual<T, wire<T>>>(x, a, b);
        std::vector<T> bar(tape.size());                    // the gradient by each sum
        auto add = [&](const wire<T> &to, const T &by) { bar[to.at] = bar[to.at] + to.c * by; };
        for (int i = 0; i < F::rows; i++) add(out[i].d, w[i]);
        for (size_t k = tape.size(); --k > 0;) add(tape[k].first, bar[k]), add(tape[k].second, bar[k]);
        if (g->t) *g->t += last(bar[1]);
        for (int i = 0; g->y && i < n; i++) g->y[i] += last(bar[2 + i]);
        for (int i = 0; g->p && i < np; i++) g->p[i] += last(bar[2 + n + i]);
        return 0;
    }
    static costate_map map() {
        costate_map f = {};
        f.value = [](auto x, auto out, auto) { return F::of(x->t, x->y, x->p, out), 0; };
        f.tangent = [](auto x, auto a, auto out, auto) { return along<dual<>>(x, a, nullptr, out); };
        f.tangent2 = [](auto x, auto a, auto b, auto out, auto) { return along<dual<dual<>>>(x, a, b, out); };
        f.adjoint = [](auto x, auto w, auto g, auto) { return back<double>(x, nullptr, nullptr, w, g); };
        f.adjoint_tangent = [](auto x, auto a, auto w, auto g, auto) { return back<dual<>>(x, a, nullptr, w, g); };
        f.adjoint_tangent2 = [](auto x, auto a, auto b, auto w, auto g, auto)
            { return back<dual<dual<>>>(x, a, b, w, g); };
        return f;
    }
};
