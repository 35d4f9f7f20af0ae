// test_lanes.cpp - maps of members side by side, made from the functions of a problem: each lane has the bits of the
// problem's own products, also where lanes disagree on a branch or the function throws; ensembles have those of runs
// one by one.
#include <cstring>
#include <new>
#include <costate/ensemble.h>
#include "check.hpp"
#include "models.hpp"

// ---- products ---------------------------------------------------------------------------------------------------

static void same_bits(const costate::problem &P, double t, const std::vector<double> &y, const std::vector<double> &p,
                      const std::string &what)
{
    costate_point x = {};
    x.t = t, x.y = y.data(), x.p = p.data();
    costate_report report = {};
    const int status = costate_check_lanes(&P.c(), P.lanes(), &x, &report);
    check(status == COSTATE_OK, what + ": " + report.text);
}

static costate::problem pollution()
{
    costate::problem P(models::SPECIES, models::REACTIONS, costate::lanes(models::kinetics()));
    P.costs(1, costate::lanes([](auto, auto const &y, auto const &) { return y[0] * y[3]; }));
    return P;
}

// all functions; and zeros, where slopes may be infinite
struct functions {
    template<class T, class Y, class Out> void operator()(const T &t, const Y &y, const Y &p, Out &out) const
    {
        T v = y[0], w = y[1];
        out[0] = exp(-v) + exp2(v) + expm1(v) + log(v) + log10(v) + log2(v) + log1p(v) + sqrt(v) + cbrt(v);
        out[1] = sin(v) + cos(t * v) + tan(v) + asin(v / 4) + acos(v / 4) + atan(v) + erf(v) - erfc(w);
        out[2] = sinh(v) + cosh(v) + tanh(v) + asinh(v) + acosh(1 + v) + atanh(v / 4) + p[0] * t;
        out[3] = pow(v, 2) + pow(v, 2.5) + pow(2.5, v) + pow(v, w) + pow(v, 0) + pow(0 * v, w) + pow(y[2], 3);
        out[4] = atan2(v, w) + hypot(v, w) + fmod(10 * v, w) + fmod(v, 0.3) + copysign(v, y[3]) + hypot(3, v);
        out[5] = fmax(v, y[3]) + fmin(v, y[3]) + abs(y[3]) * fabs(v) + floor(v) + ceil(w) + trunc(v) * round(w * v);
        out[6] = (v > 0.1 && w <= 100 && y[3] != 0 ? v : w) / 3 - 2 / w + (1 - v) * 0.5 + sqrt(0 * y[2]) - -v;
        out[6] /= 1 + v * v;
        out[6] *= 2;
        ++out[6];
        out[6] += isnan(v) || !isfinite(w) || isinf(w) || signbit(w) ? T(1) : T(p[1] + costate::value(0 * v));
    }
};

static void every_function()
{
    const costate::problem P(7, 2, costate::lanes(functions()));
    same_bits(P, 0.4, {0.7, 1.3, 0, -0.5, 1, 2, 3}, {0.3, 1.7}, "all functions");
    same_bits(P, 0.4, {0.7, 1.3, 0.2, -0.5, 1, 2, 3}, {0, 0}, "parameters of zero");
}

// Lanes that lie on both sides of a branch: near 1, in the value, in what a derivative is made of, in a whole number.
static void branches()
{
    const costate::problem P(4, 1, costate::lanes([](auto const &t, auto const &y, auto const &p, auto &out) {
        out[0] = y[0] > 1 ? p[0] * y[0] : y[0] * y[0] * t;
        out[1] = abs(y[1]) + fmax(y[1], y[2]);
        const auto halvings = static_cast<int>(8 * y[2] * y[2]);
        for (int i = 0; i < halvings; i++) out[2] += y[i % 4] / 2;
        out[3] = 1000 * costate::value(y[3]) * y[0];
    }));
    same_bits(P, 0.2, {1, 1, 1, 1}, {2}, "branches");

    costate::problem undefined(2, 1, costate::lanes([](auto, auto const &y, auto const &p, auto &out) {
        out[0] = p[0] * y[1];
        out[1] = sqrt(y[0]);
        return y[0] > 1 ? 1 : 0;
    }));
    undefined.costs(1, costate::lanes([](auto, auto const &y, auto const &p, auto &out) {
        out[0] = y[0] * y[0] * p[0];
        return y[1] < 3 ? 2 : 0;                            // in all lanes
    }));
    same_bits(undefined, 0, {1, 1}, {2}, "not defined in some lanes");
}

static void without_parameters()
{
    costate::problem P(3, 0, costate::lanes([](auto const &x, auto &out) {
        out[0] = x.y[1] * x.y[2] + sin(x.t);
        out[2] = -x.y[0] * x.y[1];
    }));
    P.pattern({0, 1, 3, 4}, {2, 0, 2, 0});
    P.costs(2, costate::lanes([](auto const &x, auto &out) { out[1] = x.y[0] * x.t; }));
    same_bits(P, 1.5, {0.2, 0.3, 0.4}, {}, "no parameters, a pattern");
    P.check({1.5, {0.2, 0.3, 0.4}});
}

// ---- ensembles --------------------------------------------------------------------------------------------------

enum { MEMBERS = 21 };

struct run {
    std::vector<double> y, V, lambda, mu;
    std::vector<int> status = std::vector<int>(MEMBERS);
    costate_ensemble_report report = {};
};

// every member starts elsewhere; d directions, k functionals
static run integrated(const costate::problem &P, const char *method, const std::vector<double> &y,
                      const std::vector<double> &p, double t1, int d, int k, const costate_lane_maps *lanes)
{
    run r;
    const std::size_t N = static_cast<std::size_t>(P.N()), np = p.size();
    std::vector<double> all_p, Vp, ends;
    for (std::size_t m = 0; m < MEMBERS; m++) {
        const double part = 0.9 + 0.01 * static_cast<double>(m);
        for (std::size_t i = 0; i < N; i++) r.y.push_back(i < y.size() ? y[i] * part : 0);
        for (double of : p) all_p.push_back(of / part);
        ends.push_back(t1 * part);
        for (int i = 0; i < P.N() * d; i++) r.V.push_back(0.1 * (i % 7));
        for (int i = 0; i < P.np() * d; i++) Vp.push_back(0.2 * (i % 5));
        for (int i = 0; i < P.N() * k; i++) r.lambda.push_back(1 / (1.0 + i));
    }
    r.mu.resize(np * static_cast<std::size_t>(k) * MEMBERS);
    costate::options o;
    o.rtol = o.atol = 1e-5;
    costate_members all = {};
    all.count = MEMBERS, all.threads = 1, all.t1_each = ends.data(), all.y = r.y.data(), all.p = all_p.data();
    all.directions = d, all.V = r.V.data(), all.Vp = Vp.data();
    all.m = k, all.lambda = r.lambda.data(), all.mu = r.mu.data();
    all.status = r.status.data(), all.lanes = lanes;
    costate_ensemble(costate_method_find(method), &P.c(), &o, &all, &r.report);
    return r;
}

static bool same(const std::vector<double> &a, const std::vector<double> &b)
{
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0);
}

// returns how many members ran in lanes
static int compared(const costate::problem &P, const std::vector<double> &y, const std::vector<double> &p, double t1,
                    const std::string &what, int widths = 7)
{
    int in_lanes = MEMBERS;
    for (const char *method : {"tsit5", "rodas4"})
        for (int mode = 0; mode < 3; mode++)
            for (const costate_lane_maps *of = P.lanes(); of->lanes && of->lanes <= costate_lanes(); of++) {
                if (!(widths >> (of - P.lanes()) & 1)) continue;
                const int d = mode == 1 ? 2 : 0, k = mode == 2 ? 2 : 0;
                const costate_lane_maps only[] = {*of, {}};
                const run alone = integrated(P, method, y, p, t1, d, k, nullptr);
                const run beside = integrated(P, method, y, p, t1, d, k, only);
                const std::string where = what + ", " + method + ", " + std::to_string(of->lanes) + " lanes, mode " +
                                          std::to_string(mode);
                check(beside.report.lanes == of->lanes, where + ": " + beside.report.alone);
                check(same(alone.y, beside.y) && same(alone.V, beside.V) && same(alone.lambda, beside.lambda) &&
                      same(alone.mu, beside.mu) && alone.status == beside.status, where + ": other results");
                check(alone.report.failed == beside.report.failed, where + ": other failures");
                in_lanes = std::min(in_lanes, beside.report.in_lanes);
            }
    return in_lanes;
}

static void ensembles()
{
    const auto y = models::concentrations(), k = models::constants();
    check(compared(pollution(), y, k, 0.5, "pollution", 4) == MEMBERS, "all members of pollution in lanes");
    const costate::problem pendulum(2, 2, costate::lanes([](auto const &t, auto const &x, auto const &p, auto &out) {
        out[0] = x[1];
        out[1] = -p[0] * sin(x[0]) - p[1] * x[1] * abs(x[1]) + (x[0] > 0 ? 0.1 * cos(t) : 0.2 * exp(x[0]));
    }));
    check(compared(pendulum, {1, 0.5}, {9.81, 0.3}, 3, "pendulum") == MEMBERS, "all pendulums in lanes");
}

// A member whose function throws leaves its lane and fails alone.
static void exceptions()
{
    const costate::problem P(1, 1, costate::lanes([](auto, auto const &y, auto const &p, auto &out) {
        if (y[0] > 2.5) throw std::bad_alloc();
        out[0] = p[0] * y[0];
    }));
    const int in_lanes = compared(P, {1}, {1}, 1, "exceptions");
    check(0 < in_lanes && in_lanes < MEMBERS, "some members throw: " + std::to_string(in_lanes));
    for (const costate_lane_maps *of = P.lanes(); of->lanes; of++) {
        if (of->lanes > costate_lanes()) break;
        alignas(64) double t[COSTATE_LANES_MOST] = {}, y[COSTATE_LANES_MOST], p[COSTATE_LANES_MOST];
        alignas(64) double out[COSTATE_LANES_MOST];
        const int L = of->lanes;
        for (int l = 0; l < L; l++) y[l] = l == 1 ? 3 : 2, p[l] = 1 + l;
        const costate_lane_point x = {t, y, p};
        check(of->rhs.value(&x, out, P.c().ctx) == 2, "lane 1 is not defined");
        check(out[0] == 2 && (L == 2 || out[L - 1] == 2 * L), "the others are");
        alignas(64) double g[COSTATE_LANES_MOST] = {}, w[COSTATE_LANES_MOST];
        for (int l = 0; l < L; l++) w[l] = 1, g[l] = l;
        const costate_lane_gradient to = {nullptr, g, nullptr};
        check(of->rhs.adjoint(&x, w, &to, P.c().ctx) == 2 && g[0] == 1 && (L == 2 || g[L - 1] == 2 * L - 1),
              "the adjoints of the others");
        check(of->jac(&x, out, P.c().ctx) == 2 && out[0] == 1, "the Jacobians of the others");
    }
}

// ---- problems that lanes do not serve ---------------------------------------------------------------------------

static void refusals()
{
    const auto decay = [](auto, auto const &y, auto const &p, auto &out) { out[0] = -p[0] * y[0]; };
    const auto refused_by = [](const costate::problem &P) {
        try {
            P.lanes();
        } catch (const std::logic_error &) {
            return true;
        }
        return false;
    };
    costate::problem plain(1, 1, decay), plain_cost(1, 1, costate::lanes(decay)), memory(1, 1, costate::lanes(decay));
    plain_cost.costs(1, [](auto, auto const &y, auto const &) { return y[0]; });
    check(refused_by(plain) && refused_by(plain_cost), "functions without lanes");
    check(!plain.c().jac && plain_cost.c().jac, "a Jacobian for lanes alone");
    memory.memory(1);
    check(!memory.lanes()->rhs.value, "memory variables");
}

int main()
{
    same_bits(pollution(), 0, models::concentrations(), models::constants(), "pollution");
    every_function();
    branches();
    without_parameters();
    ensembles();
    exceptions();
    refusals();
    return failures != 0;
}
