"""What two versions of a model, printed as C, have in common: both pass costate_check_problem, and all their products
agree to round-off."""
import os

from compiled import program, run

DRIVER = r"""#include <costate/costate.h>
#include <math.h>
#include <stdio.h>
#include "first.h"
#include "second.h"
enum { N = first_states, P = first_parameters };
static double y[N], p[P], dy[N], dp[P], ey[N], ep[P], w[N];

static double apart(int count, const double *a, const double *b)
{
    double most = 0, size = 0;
    for (int i = 0; i < count; i++) {
        most = fmax(most, fabs(a[i] - b[i]));
        size = fmax(size, fabs(b[i]));
    }
    return most / (size > 0 ? size : 1);
}

int main(void)
{
    const costate_problem *problem[2] = {first_problem(), second_problem()};
    for (int i = 0; i < N; i++) {
        y[i] = 0.3 + 0.1 * sin(i);
        dy[i] = cos(i);
        ey[i] = sin(2 * i);
        w[i] = cos(3 * i);
    }
    for (int i = 0; i < P; i++) {
        p[i] = first_defaults[i];
        dp[i] = p[i] * sin(i + 1);
        ep[i] = p[i] * cos(i + 2);
    }
    costate_point x = {.t = 0.3, .y = y, .p = p}, none = {0};
    for (int k = 0; k < 2; k++) {
        costate_report r, cost;
        int status = costate_check_problem(problem[k], &x, &r, &cost);
        if (status != COSTATE_OK) return printf("%d: %s\n", k, r.text), 1;
    }
    double worst = 0;
    for (int which = 0; which < 4; which++) {                /* directions in states, parameters, time, all */
        costate_point d = none, e = none;
        if (which == 0 || which == 3) d.y = dy, e.y = ey;
        if (which == 1 || which == 3) d.p = dp, e.p = ep;
        if (which >= 2) d.t = 0.7, e.t = -0.4;
        for (int product = 0; product < 6; product++)
            for (int wanted = 1; wanted < 8; wanted++) {     /* gradients with respect to y, p, t */
                double out[2][N + P + 1] = {{0}};
                for (int k = 0; k < 2; k++) {
                    const costate_map *f = &problem[k]->rhs;
                    costate_gradient g = {.y = wanted & 1 ? out[k] : NULL, .p = wanted & 2 ? out[k] + N : NULL,
                                          .t = wanted & 4 ? out[k] + N + P : NULL};
                    int code = product == 0 ? f->value(&x, out[k], NULL)
                        : product == 1 ? f->tangent(&x, &d, out[k], NULL)
                        : product == 2 ? f->tangent2(&x, &d, &e, out[k], NULL)
                        : product == 3 ? f->adjoint(&x, w, &g, NULL)
                        : product == 4 ? f->adjoint_tangent(&x, &d, w, &g, NULL)
                        : f->adjoint_tangent2(&x, &d, &e, w, &g, NULL);
                    if (code) return printf("a product returned %d\n", code), 1;
                }
                worst = fmax(worst, apart(N + P + 1, out[0], out[1]));
            }
    }
    printf("%.1e\n", worst);
    return !(worst < 1e-13);
}
"""


def agree(place, first, second):
    """texts of the C file and of the header of models that are called first and second"""
    files = []
    for name, texts in (("first", first), ("second", second)):
        for suffix, text in zip((".c", ".h"), texts):
            with open(os.path.join(place, name + suffix), "w", encoding="utf-8") as file:
                file.write(text)
        files.append(os.path.join(place, name + ".c"))
    run(program(place, DRIVER, files))
