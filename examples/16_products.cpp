// 16_products.cpp - exact Hessian products of a Rosenbrock method, which needs third derivatives of f, without writing
// any derivative: costate.hpp makes them from f.
//
// Predators and prey in the logarithms of their numbers, x' = a - b e^y, y' = d e^x - c.  V = d e^x - c x + b e^y - a y
// does not change along solutions.  The gradient and the Hessian of V at t = 10 with respect to x, y at t = 0 and a, b,
// c, d are therefore those of V itself at t = 0, where they are known: V is a sum of products and exponentials.
#include <cmath>
#include <costate/costate.hpp>
#include <cstdio>

using std::exp;

// derivatives with respect to x, y, a, b, c, d
enum { ALL = 6 };

static void by_hand(const double *y, const double *p, double gradient[ALL], double hessian[ALL][ALL])
{
    const double ex = exp(y[0]), ey = exp(y[1]);
    const double g[ALL] = {p[3] * ex - p[2], p[1] * ey - p[0], -y[1], ey, -y[0], ex};
    const double H[ALL][ALL] = {{p[3] * ex, 0, 0, 0, -1, ex}, {0, p[1] * ey, -1, ey, 0, 0}, {0, -1, 0, 0, 0, 0},
                                {0, ey, 0, 0, 0, 0}, {-1, 0, 0, 0, 0, 0}, {ex, 0, 0, 0, 0, 0}};
    for (int i = 0; i < ALL; i++) {
        gradient[i] = g[i];
        for (int j = 0; j < ALL; j++) hessian[i][j] = H[i][j];
    }
}

int main()
try {
    const costate::problem rates(2, 4, [](auto, auto const &y, auto const &p, auto &out) {
        out[0] = p[0] - p[1] * exp(y[1]);
        out[1] = p[3] * exp(y[0]) - p[2];
    });
    const costate::functional V([](auto, auto const &y, auto const &p) {
        return p[3] * exp(y[0]) - p[2] * y[0] + p[1] * exp(y[1]) - p[0] * y[1];
    });
    const std::vector<double> start = {0.3, -0.2}, p = {1.5, 1, 3, 1};
    std::puts(rates.check({0, start, p}).text);

    costate::options options;
    options.rtol = options.atol = 1e-12, options.autonomous = 1;
    costate::solver solver("rodas5p", rates, options);
    costate::tape tape;
    std::vector<double> y = start;
    solver.integrate(0, 10, y, p, tape);

    const double along[3][ALL] = {{1, 0}, {0, 1}, {0.5, -0.3, 0.7, -0.2, 0.4, 0.1}};
    std::vector<double> directions, directions_p;
    for (const auto &d : along) {
        directions.insert(directions.end(), d, d + 2);
        directions_p.insert(directions_p.end(), d + 2, d + ALL);
    }
    const costate::second H = solver.hessian(tape, V, directions, directions_p);

    double gradient[ALL], hessian[ALL][ALL], error = 0;
    by_hand(start.data(), p.data(), gradient, hessian);
    for (std::size_t i = 0; i < ALL; i++) {
        error = std::fmax(error, std::fabs((i < 2 ? H.lambda[i] : H.mu[i - 2]) - gradient[i]));
        for (std::size_t j = 0; j < 3; j++) {
            double product = 0;
            for (std::size_t k = 0; k < ALL; k++) product += hessian[i][k] * along[j][k];
            error = std::fmax(error, std::fabs((i < 2 ? H.lambda2[2 * j + i] : H.mu2[4 * j + i - 2]) - product));
        }
    }
    std::printf("V's gradient with respect to x, y: %.9f %.9f; its Hessian times the third direction: %.9f %.9f\n",
                H.lambda[0], H.lambda[1], H.lambda2[4], H.lambda2[5]);
    std::printf("largest difference from those of V at t = 0: %.1e\n", error);
    return !(error < 1e-8);
} catch (const costate::error &e) {
    std::puts(e.what());
    return 1;
}
