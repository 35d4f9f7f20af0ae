"""tables.py SOURCE BUILD SANITIZE COMPILER...: a mechanism of 360 reactions, in tables and as straight-line code: both
pass costate_check_problem, and all their products agree to round-off.  Reports in the format of cmocka."""
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True

from compiled import need_library, program, run  # noqa: E402

from cases import run_all  # noqa: E402
from codegen.equations import c_file, read  # noqa: E402

DRIVER = r"""#include <costate/costate.h>
#include <math.h>
#include <stdio.h>
#include "tabled.h"
#include "straight.h"
enum { N = tabled_states, P = tabled_parameters };
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
    const costate_problem *problem[2] = {tabled_problem(), straight_problem()};
    for (int i = 0; i < N; i++) {
        y[i] = 0.3 + 0.1 * sin(i);
        dy[i] = cos(i);
        ey[i] = sin(2 * i);
        w[i] = cos(3 * i);
    }
    for (int i = 0; i < P; i++) {
        p[i] = tabled_defaults[i];
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


def mechanism():
    draw = random.Random(7)
    lines = ["parameter T = 290, E = 2", "state " + ", ".join(f"S{i} = 1" for i in range(20))]
    for r in range(360):
        left = [draw.randrange(20) for _ in range(draw.choice((0, 1, 1, 2, 2, 2, 3)))]
        right = [draw.choice(("", "2 ", "0.5 ")) + f"S{draw.randrange(20)}" for _ in range(draw.choice((1, 2, 3)))]
        k = round(draw.uniform(0.1, 1), 3)
        rate = draw.choice((f"k{r} = {k}", f"{k}*exp(-E*{r % 7 + 1}/T)*(1 + 0.1*sin(t))", str(k)))
        lines.append(f"{' + '.join(f'S{i}' for i in left) or '0'} -> {' + '.join(right)} : {rate}")
    # sums of states, of which one occurs twice, in rates
    lines += ["let RO2 = S3 + 0.5*S4 - S5/3 + 2*(S6 + 0.1)", "S2 -> S7 : 0.3*RO2*E", "S8 + S9 -> 2 S1 : 0.01*T*RO2^2",
              "S3 -> S10 : 0.2*S11", "0 -> S12 : -(S13 + S14)*exp(-E)"]
    # what tables do not hold: a rate that depends on states, a fractional order, an equation beside reactions
    lines += ["S0 + S1 -> S2 : 0.3*S3/(1 + S3)", "0.5 S4 -> S5 : 0.2", "S1' = 0.01*sin(t) - 0.1*S1*S6*E"]
    return "\n".join(lines)


def test_tables_and_straight_line_code_agree():
    need_library()
    many, files = c_file.MANY, []
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        for name, limit in (("tabled", many), ("straight", 10**9)):
            model = read.parse(mechanism(), "m.eq")
            model.name, c_file.MANY = name, limit
            try:
                texts = c_file.write(model, "m.eq")
            finally:
                c_file.MANY = many
            assert ("net_start" in texts[0]) == (name == "tabled")
            for suffix, text in zip((".c", ".h"), texts):
                with open(os.path.join(place, name + suffix), "w", encoding="utf-8") as file:
                    file.write(text)
            files.append(os.path.join(place, name + ".c"))
        run(program(place, DRIVER, files))


run_all(globals())
