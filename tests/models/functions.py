"""functions.py SOURCE BUILD SANITIZE COMPILER...: functions in C that an equation file declares with their derivatives
give a model the products that it has with the same function in the language; wrong derivatives are found, and products
that would need derivatives which a function does not have are missing.  Reports in the format of cmocka."""
import os
import sys
import tempfile
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True

from compiled import need_library, program, run  # noqa: E402  (first: it sets the path)

from cases import run_all  # noqa: E402
from codegen import command  # noqa: E402
from codegen.equations import pieces, tables  # noqa: E402
from rho import IN_C, IN_LANGUAGE, RHO  # noqa: E402


# a function of states, parameters and time, of itself, of the same thing twice, in a branch, and in each kind of map
MODEL = """{kinks}parameter k = 0.5, a = 1.3, b = 0.7
state T = rho(a, b*t), x = 0.3
memory m = 1
T' = -k*T*rho(T, x*a) + rho(t, rho(b, x))
x' = b - x*rho(x, x) + if(T < rho(x, b), x*rho(T, k)^2, rho(x, T) - 1/rho(b, t))
cost q' = rho(T, m*t)*k
output o = rho(x, k)/x
output u = rho(T, rho(x, a))
event e when rho(T, x) - 1.2 falls
    T := T + rho(T, b)
    m := rho(m, x)
    q += rho(T, a)*x
"""
REACTIONS = """parameter T = 290, E = 2
state A = 1, B = 2, C
A + B -> C : 0.3*rho(T, E)
2 C -> A : rho(t, E)^2
C -> 2 B : 0.1*rho(E, E)*exp(-E)
A -> B : 0.2*rho(A, C)
0 -> A : rho(T, t)
"""
GRID = """size N = 5
grid i: N wall
parameter D = 0.1, k = 0.3, r[i] = 1 + rho(i, N)/N
state u[i] = 0.5 + rho(k, i)/4
boundary u: i low = rho(k, t), i high = k
let flux(f) = rho((f[i+1] + f[i])/2, k)*(f[i+1] - f[i])
u' = N^2*D*(flux(u[i]) - flux(u[i-1])) - rho(u, r)*u
cost total' = sum(u*rho(k, t) + rho(u, u))
"""

DRIVER = r"""#include "first.h"
#include "second.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
enum { MOST = 40, MODEL = 0, GRID = 1 };
static const costate_problem *problem[2];
static double worst;
static int missing;                                /* products that one model has and the other has not */

static void draw(double *v, int k)
{
    for (int i = 0; i < MOST; i++) v[i] = 0.6 + 0.3*sin(i + 3*k);
}

static void compare(const double *a, const double *b, int count)
{
    for (int i = 0; i < count; i++) worst = fmax(worst, fabs(a[i] - b[i])/(1 + fabs(b[i])));
}

/* product `which` of a map; out: its values, or the gradients */
static int product(const costate_map *f, int which, const costate_point *x, const costate_point *d,
                   const costate_point *e, const double *w, double *out, const costate_gradient *g, void *ctx)
{
    switch (which) {
    case 0: return f->value ? f->value(x, out, ctx) : -1;
    case 1: return f->tangent ? f->tangent(x, d, out, ctx) : -1;
    case 2: return f->tangent2 ? f->tangent2(x, d, e, out, ctx) : -1;
    case 3: return f->adjoint ? f->adjoint(x, w, g, ctx) : -1;
    case 4: return f->adjoint_tangent ? f->adjoint_tangent(x, d, w, g, ctx) : -1;
    case 5: return f->adjoint_tangent2 ? f->adjoint_tangent2(x, d, e, w, g, ctx) : -1;
    case 6: return f->tangents ? f->tangents(x, 1, d, out, ctx) : f->tangent ? f->tangent(x, d, out, ctx) : -1;
    }
    return f->adjoints ? f->adjoints(x, 1, w, g, ctx) : f->adjoint ? f->adjoint(x, w, g, ctx) : -1;
}

static int maps(const costate_map *a, const costate_map *b, int count)
{
    double v[3][4][MOST], w[MOST];
    const int relation[2] = {1, 1};
    if (!a->value && !b->value) return 0;
    costate_point x[3];
    for (int k = 0; k < 3; k++) {
        for (int s = 0; s < 4; s++) draw(v[k][s], 4*k + s);
        x[k] = (costate_point){.t = 0.3 + k, .y = v[k][0], .p = v[k][1], .m = v[k][2], .yp = v[k][3]};
    }
    x[0].relation = relation;
    draw(w, 17);
    for (int which = 0; which < 8; which++)
        for (int given = 0; given < 4; given++) {          /* directions in states alone; gradients that are wanted */
            double out[2][4*MOST] = {{0}};
            int code[2];
            costate_point d = x[1], e = x[2];
            if (given & 1) d = (costate_point){.y = v[1][0]}, e = (costate_point){.y = v[2][0]};
            for (int k = 0; k < 2; k++) {
                const costate_gradient g = {.y = out[k], .p = given & 2 ? NULL : out[k] + MOST,
                                            .t = out[k] + 2*MOST, .m = out[k] + 3*MOST};
                code[k] = product(k ? b : a, which, x, &d, &e, w, out[k], &g, problem[k]->ctx);
            }
            if (code[0] > 0 || code[1] != 0) return printf("product %d returned %d, %d\n", which, code[0], code[1]), 1;
            if (code[0] < 0) missing |= 1 << which;
            else compare(out[0], out[1], 4*MOST);
        }
    return (void)count, 0;
}

static int jacobians(void)
{
    double J[2][MOST*MOST] = {{0}}, y[MOST], p[MOST], m[MOST];
    const int relation[2] = {1, 0};
    draw(y, 0), draw(p, 1), draw(m, 2);
    const costate_point x = {.t = 0.3, .y = y, .p = p, .m = m, .relation = relation};
    for (int k = 0; k < 2; k++)
        if (!problem[k]->jac || problem[k]->jac(&x, J[k], problem[k]->ctx)) return 0;
    compare(J[0], J[1], MOST*MOST);
    return 1;
}

int main(void)
{
    costate_report report, cost;
    double y[MOST], p[MOST], m[MOST];
    const int relation[2] = {1, 0};
    FIRST
    const costate_problem *f = problem[0], *s = problem[1];
    int failed = maps(&f->rhs, &s->rhs, f->n) || maps(&f->cost, &s->cost, f->nq);
    for (int k = 0; k < f->nevents && !failed; k++)
        failed = maps(&f->event[k].guard, &s->event[k].guard, 1) || maps(&f->event[k].cost, &s->event[k].cost, f->nq)
            || maps(&f->event[k].jump, &s->event[k].jump, f->n + f->nm);
    for (int k = 0; k < f->nrelations && !failed; k++) failed = maps(&f->relation[k].guard, &s->relation[k].guard, 1);
    failed = failed || MORE;
    const int has_jacobian = jacobians();
    draw(y, 0), draw(p, 1), draw(m, 2);
    const costate_point x = {.t = 0.3, .y = y, .p = p, .m = m, .relation = f->nrelations ? relation : NULL};
    const int status = costate_check_problem(f, &x, &report, &cost);
    printf("%d %d %s %.1e\n", missing, has_jacobian, costate_status_name(status), worst);
    return failed;
}
"""
OF_MODEL = ("problem[0] = first_problem(), problem[1] = second_problem();",
            "maps(first_output_map(), second_output_map(), 2) || maps(first_start_map(), second_start_map(), 4)")
OF_REACTIONS = (OF_MODEL[0], "maps(first_start_map(), second_start_map(), 3)")
OF_GRID = ("first_grid *a = first_new(5);\n    second_grid *b = second_new(5);\n"
           "    problem[0] = first_problem(a), problem[1] = second_problem(b);",
           "maps(first_start_map(a), second_start_map(b), 6)")


def written(place, name, text):
    """The path of the C file of an equation file in place"""
    Path(place, f"{name}.eq").write_text(f"model {name}\n{text}", encoding="utf-8")
    return str(command.write(Path(place, f"{name}.eq"), Path(place, f"{name}.c"))[0])


def text_of(text):
    """The C of a model"""
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        Path(place, "rho.h").write_text(RHO, encoding="utf-8")
        return Path(written(place, "m", text)).read_text(encoding="utf-8")


def compared(first, second, parts, *options, files=()):
    """(bits of missing products, whether there is a Jacobian, verdict of costate_check_problem, largest difference) of
    two texts; options: of the compiler"""
    need_library()
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        Path(place, "rho.h").write_text(RHO, encoding="utf-8")
        for name, text in files:
            Path(place, name).write_text(text, encoding="utf-8")
        sources = [written(place, "first", first), written(place, "second", second)]
        driver = DRIVER.replace("FIRST", parts[0]).replace("MORE", parts[1])
        more = [os.path.join(place, name) for name, _ in files if name.endswith(".c")]
        missing, has_jacobian, status, worst = run(program(place, driver, [*sources, *more], *options)).split()
        return int(missing), int(has_jacobian), status, float(worst)


def same(first, second, parts, *options, files=()):
    missing, has_jacobian, status, worst = compared(first, second, parts, *options, files=files)
    assert (missing, has_jacobian, status) == (0, 1, "COSTATE_OK") and worst < 1e-14, \
        (missing, has_jacobian, status, worst)


def model(function, kinks=""):
    return function + MODEL.format(kinks=kinks)


def test_products_are_those_of_the_language():
    same(model(IN_C.format(3)), model(IN_LANGUAGE), OF_MODEL)


def test_without_relations():
    branches = "kinks as branches\n"
    same(model(IN_C.format(3), branches), model(IN_LANGUAGE, branches), OF_MODEL)


def test_in_pieces():
    """long functions are split; each call and what it returns stay together"""
    with mock.patch.multiple(pieces, WHOLE=0, LENGTH=1):
        assert "PIECE void rhs_adjoint_part2" in text_of(model(IN_C.format(3)))
        same(model(IN_C.format(3), "kinks as branches\n"), model(IN_LANGUAGE, "kinks as branches\n"), OF_MODEL)


def test_in_tables_of_reactions():
    """of mechanisms; without third derivatives they are straight-line code"""
    with mock.patch.object(tables, "MANY", 3):
        assert "net_start" in text_of(IN_C.format(3) + REACTIONS) and \
            "net_start" not in text_of(IN_C.format(2) + REACTIONS)
        same(IN_C.format(3) + REACTIONS, IN_LANGUAGE + REACTIONS, OF_REACTIONS)


def test_on_a_grid():
    same(IN_C.format(3) + GRID, IN_LANGUAGE + GRID, OF_GRID)


def test_wrong_derivatives_are_found():
    for order in (1, 2, 3):
        _, _, status, worst = compared(model(IN_C.format(3)), model(IN_LANGUAGE), OF_MODEL, f"-DWRONG={order}")
        assert status == "COSTATE_CHECK_FAILED" and worst > 1e-6, (order, status, worst)


def test_derivatives_that_a_function_lacks():
    """tangent2 (bit 2), adjoint_tangent (4) and adjoint_tangent2 (5) need the second and third ones; what is there is
    right"""
    for parts, text in ((OF_MODEL, MODEL.format(kinks="")), (OF_GRID, GRID)):
        for orders, lacking in ((2, {5}), (1, {2, 4, 5}), (0, {1, 2, 3, 4, 5, 6, 7})):
            missing, has_jacobian, status, worst = compared(IN_C.format(orders) + text, IN_LANGUAGE + text, parts)
            assert (missing, has_jacobian) == (sum(1 << k for k in lacking), int(orders > 0)), (orders, missing)
            assert status == "COSTATE_OK" and worst < 1e-14, (status, worst)


def test_a_function_of_the_program():
    own = '#include "rho.h"\n#include "first.h"\n' \
        "void first_rho(const double *x, double *value, double *gradient, double *hessian, double *third)\n" \
        "{\n    rho(x, value, gradient, hessian, third);\n}\n"
    same(model("function rho(T, x) derivatives 3\n"), model(IN_LANGUAGE), OF_MODEL, files=[("own.c", own)])


def test_in_included_files():
    """twice, each with a prefix, and under another name"""
    part = 'function law(T, x) from "rho.h" as rho derivatives 3\nstate x = 1\nx\' = -law(x, t)*x\n'
    macro = "let law(T, x) = 1 + exp(-T)*sin(x)\nstate x = 1\nx' = -law(x, t)*x\n"
    pair = 'include "{0}" as a\ninclude "{0}" as b\nparameter k = 1\n' \
        "a_x + b_x -> 0 : k*{1}\noutput o = {1}*b_x\noutput u = a_law(k, b_x)\n"
    same(pair.format("part.eq", "b_law(k, a_x)"), pair.format("macro.eq", "b_law(k, a_x)"), OF_MODEL,
         files=[("part.eq", part), ("macro.eq", macro)])


run_all(globals())
