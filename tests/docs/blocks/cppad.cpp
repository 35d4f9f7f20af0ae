// cppad.cpp - the products of the recipe, beside formulas:  f = (-p y1^2).
#include <algorithm>
#include <cmath>
#include <cppad/cppad.hpp>
#include <costate/costate.h>
#include <vector>

@ derivative-tools typedef std::vector<double> numbers;

int main()
{
    std::vector<CppAD::AD<double>> x(3), f(1);
    x[0] = 0, x[1] = 2, x[2] = 3;
    CppAD::Independent(x);
    f[0] = -x[2] * x[1] * x[1];
    recorded r = {CppAD::ADFun<double>(), 1, 1};
    r.F.Dependent(x, f);
    const double y = 2, p = 3, dy = 1, w = 1;
    double out, by_y = 0;
    costate_point at = {}, d = {};
    costate_gradient g = {};
    at.y = &y, at.p = &p, d.y = &dy, g.y = &by_y;
    int bad = value(&at, &out, &r) || out != -12;
    bad += tangent(&at, &d, &out, &r) || out != -12;
    bad += tangent2(&at, &d, &d, &out, &r) || out != -6;
    bad += adjoint(&at, &w, &g, &r) || by_y != -12;
    by_y = 0;
    bad += adjoint_tangent(&at, &d, &w, &g, &r) || by_y != -6;
    return bad;
}
