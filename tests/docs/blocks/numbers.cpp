// numbers.cpp - derivatives by numbers of one's own: f of the recipe, and its tangent.
#include <cmath>
#include "products.hpp"

@ recipes struct rates {

int main()
{
    costate_problem problem = {};
    @ recipes problem.rhs = products<rates>::map();
    const double y[] = {0.5, 0.25}, dy[] = {1, 0}, p[] = {1, 2, 3, 4};
    double out[2];
    costate_point x = {}, dx = {};
    x.y = y, x.p = p, dx.y = dy;
    int status = problem.rhs.tangent(&x, &dx, out, nullptr);
    return status || out[0] != 0 || std::fabs(out[1] - 4 * std::exp(0.5)) > 1e-14;
}
