"""timed.py SOURCE BUILD SANITIZE COMPILER...: what happens at times that a file gives - conditions on t, events at
times that depend on parameters - has the values and the first and second derivatives of closed forms, forward and
backward in time; tangents and adjoints are transposes; and it costs no more than memory variables and events there.

Reports in the format of cmocka.  Closed forms are evaluated by mpmath, and their derivatives are its differences."""
import itertools
import math
import os
import sys
import tempfile

sys.dont_write_bytecode = True

from compiled import need_library, program, run  # noqa: E402

from cases import Skipped, run_all  # noqa: E402
from codegen.equations import c_file, read  # noqa: E402

try:
    import mpmath
except ImportError:
    mpmath = None

METHODS = ("dopri853", "rodas5p", "radau2a5", "gauss4", "")
STEP = "1e-13"                               # of the differences of mpmath
VALUES = [3.25, -1.5, 4.0, 0.5, -2.75, 8.0, 1.25, -6.5, 2.0, 0.125]


class Form:
    """y' = c + d t - k y and q' = y between the times T, where y jumps by a multiple of J.  T, drives: functions of p,
    to times that increase, and to (c, d) before the first, between them and behind the last; jumps: of T and p"""

    def __init__(self, k, T, drives, jumps=None):
        self.k, self.T, self.drives, self.jumps = k, T, drives, jumps or (lambda t, p: 0)

    def __call__(self, p, at, t0, t1):
        """y and q at t1; what lies between t0 and t1 is decided by the parameters `at`"""
        way, fixed, T, drives = (1 if t1 > t0 else -1), self.T(at), self.T(p), self.drives(p)
        crossed = [i for i, t in enumerate(fixed) if way*t0 <= way*t < way*t1][::way]
        part = sum(t < t0 if way > 0 else t <= t0 for t in fixed)
        y, q, t = mpmath.mpf(1.75), mpmath.mpf(0), mpmath.mpf(t0)
        for i in crossed:
            y, q = self.piece(p, drives[part], t, T[i], y, q)
            t, part = T[i], part + way
            y += self.jumps(t, p)
        return self.piece(p, drives[part], t, mpmath.mpf(t1), y, q)

    def piece(self, p, drive, t, end, y, q):
        k, (c, d), h = self.k(p), drive, end - t
        slope = d/k
        rest = lambda at: (c - slope)/k + slope*at                         # noqa: E731
        free = y - rest(t)
        return rest(end) + free*mpmath.exp(-k*h), \
            q + (rest(t) + rest(end))*h/2 - free*mpmath.expm1(-k*h)/k


HEAD = "parameter k = 0.5, a = 1.5, T = 1.25, D = 1.5, E = 6.75\nstate y = 1.75\ncost q' = y\n"
HOLD = VALUES[-1]
for number in range(len(VALUES) - 2, -1, -1):
    HOLD = f"if(t < {number + 1}, {VALUES[number]}, {HOLD})"
PULSES = [(0.1*i, 0.1*i + 0.05, i) for i in range(1, 41)]
constant = lambda values: lambda p: [(p[1]*v, 0) for v in values]          # noqa: E731
doses = lambda p: [p[2] + i*p[3] for i in range(4)]                        # noqa: E731

# (name, equations, closed form, pairs t0, t1)
CASES = [
    ("hold", f"y' = a*{HOLD} - k*y", Form(lambda p: p[0], lambda p: list(range(1, 10)), constant(VALUES)),
     ((0, 9.5), (6.5, 0), (3, 7), (7, 3))),
    ("pulses", "y' = a*sum(i = 1..40, if(t >= 0.1*i and t < 0.1*i + 0.05, i, 0)) - k*y",
     Form(lambda p: p[0], lambda p: [mpmath.mpf(x)/20 for x in range(2, 82)],
          constant([x for i in range(1, 41) for x in (0, i)] + [0])), ((0, 50), (5, 0))),
    ("ramp", "y' = a*min(max(t, 1), 3) + abs(a*abs(t - 2)) + a*if(t > 1.5 and t <= 3, floor(2*t), 7) - k*y",
     Form(lambda p: p[0], lambda p: [1, mpmath.mpf(1.5), 2, mpmath.mpf(2.5), 3], lambda p: [
         (p[1]*x, p[1]*z) for x, z in ((10, -1), (9, 0), (5, 0), (2, 2), (3, 2), (8, 1))]),
     ((0, 4), (4, 0), (1.5, 2.5), (2.5, 1.5))),
    ("stairs", "y' = a*(t - 0.5*floor(2*t)) - k*y",
     Form(lambda p: p[0], lambda p: [mpmath.mpf(i)/2 for i in range(1, 9)],
          lambda p: [(-p[1]*i/2, p[1]) for i in range(9)]), ((0, 4.2), (4.2, 0), (0.5, 3), (3, 0.5))),
    ("regular", "y' = -k*y\nevent e at T every D until E, 2*a\n  y += a*(2 + t)",
     Form(lambda p: p[0], lambda p: sorted([*doses(p), 2*p[1]]), lambda p: [(0, 0)]*6, lambda t, p: p[1]*(2 + t)),
     ((0, 9), (9, 0), (1.25, 5.75), (5.75, 1.25), (2, 4))),
    ("lagging", "memory rate = 0\ny' = rate - k*y\nevent on at T - 1.25\n  rate := a\n"
     "event off at T - 1.25 + D\n  rate := 0",
     Form(lambda p: p[0], lambda p: [p[2] - 1.25, p[2] - 1.25 + p[3]], lambda p: [(0, 0), (p[1], 0), (0, 0)]),
     ((0, 4), (-1, 4), (0, 1.5))),
    ("in_mode", "mode u, v\ny' = -k*y\nevent change at 3\n  mode := v\nevent e at T every D until E in v\n  y += a",
     Form(lambda p: p[0], lambda p: doses(p)[2:], lambda p: [(0, 0)]*3, lambda t, p: p[1]), ((0, 9), (3, 8))),
    ("daily", "kinks as events\ny' = a*if(t - 2*floor(t/2) < T, 1, 3) - k*y",
     Form(lambda p: p[0], lambda p: [x for i in range(0, 5) for x in (2*i, 2*i + p[2])], lambda p: [
         (p[1]*x, 0) for x in [3] + [1, 3]*5]), ((0, 7), (0.5, 5), (7, 0.5))),
    ("threshold", "kinks as events\ny' = a*if(y > if(t <= 2, 100, 1), 3, 1) - k*y",
     Form(lambda p: p[0], lambda p: [2], constant([1, 3])), ((0, 4), (2, 4))),
    ("table", "table u linear (0, 1), (1, 3), (1, -2), (2.5, a)\ny' = u(t) - k*y",
     Form(lambda p: p[0], lambda p: [0, 1, mpmath.mpf(2.5)], lambda p: [
         (1, 0), (1, 2), (-2 - (p[1] + 2)/mpmath.mpf(1.5), (p[1] + 2)/mpmath.mpf(1.5)), (p[1], 0)]),
     ((0, 4), (4, -1), (1, 2.5))),
    ("residual", "(1 + y^2)*y' = (1 + y^2)*(a*if(t < 2, 1, 4) - k*y)",
     Form(lambda p: p[0], lambda p: [2], constant([1, 4])), ((0, 3), (2, 3))),
]

DRIVER = """#include <costate/costate.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
%(declared)s
enum { P = 5, MOST = 8 };
static const struct { const costate_problem *(*problem)(void); const double *p;
                      void (*start)(double t, const double *p, double *y); double t0, t1; int mode; } cases[] = {
    %(rows)s};
static int N;
static const double weight[] = {1, 0.25};

static int seed(double t, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    memcpy(lambda, weight, sizeof weight);
    return (void)t, (void)y, (void)p, (void)m, (void)V, (void)Vp, (void)mu, (void)lambda2, (void)mu2, (void)ctx, 0;
}

static int run(int number, int k, const char *method)
{
    const costate_problem *of = cases[k].problem();
    if (of->residual.value && !strstr("radau2a5 gauss4", method)) return 0;         /* "": the default method */
    const costate_options o = {.rtol = 1e-12, .atol = 1e-13, .mode = cases[k].mode,
                               .storage = number %% 2 ? COSTATE_CHECKPOINTS : COSTATE_ALL_STAGES};
    costate *c = costate_new(*method ? costate_method_find(method) : NULL, of, &o);
    costate_tape *tape = costate_tape_new();
    double y[MOST], V[P * MOST] = {0}, Vp[P * P] = {0}, lambda[MOST] = {0}, mu[P] = {0}, l2[P * MOST], mu2[P * P] = {0};
    N = of->n + of->nq + of->nm;
    cases[k].start(cases[k].t0, cases[k].p, y);
    for (int i = 0; i < P; i++) Vp[i * (P + 1)] = 1;
    double middle = number %% 2 ? cases[k].t1 : (cases[k].t0 + cases[k].t1) / 2;     /* some are stops or events */
    int status = costate_integrate(c, cases[k].t0, middle, y, cases[k].p, tape);
    if (!status && middle != cases[k].t1) status = costate_continue(c, tape, cases[k].t1, y);
    if (!status) status = costate_tangent(c, tape, P, V, Vp, NULL, NULL);
    memcpy(lambda, weight, sizeof weight);
    if (!status) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    double gap = 0;
    for (int i = 0; i < P; i++) {
        double forward = V[i * N] + 0.25 * V[i * N + 1];
        gap = fmax(gap, fabs(mu[i] - forward) / (1 + fabs(forward)));
    }
    printf("%%d %%d %%.17g %%.17g %%.2e", number, k, y[0], y[1], gap);
    for (int i = 0; i < P; i++) printf(" %%.17g", mu[i]);
    memset(V, 0, sizeof V);
    const costate_second s = {.m = P, .V = V, .Vp = Vp, .seed = seed, .lambda = lambda, .lambda2 = l2, .mu2 = mu2};
    if (!status) status = costate_hessian(c, tape, &s);
    for (int i = 0; i < P * P; i++) printf(" %%.17g", mu2[i]);
    printf("\\n");
    if (status) fprintf(stderr, "case %%d with %%s: %%s\\n", k, method, costate_message(c));
    costate_tape_free(tape);
    costate_free(c);
    return status;
}

int main(int count, char **methods)
{
    for (int i = 1; i < count; i++)
        for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++)
            if (run(i, (int)k, methods[i])) return 1;
    return 0;
}
"""


def closed_form(form, p, t0, t1):
    """y, q; the gradient and the Hessian of y + q/4"""
    with mpmath.workdps(45):
        at, h, n = [mpmath.mpf(x) for x in p], mpmath.mpf(STEP), len(p)

        def f(*moves):
            moved = list(at)
            for i, sign in moves:
                moved[i] += sign*h
            y, q = form(moved, at, t0, t1)
            return y + q/4
        first = [(f((i, 1)) - f((i, -1)))/(2*h) for i in range(n)]
        second = [[0]*n for _ in at]
        for i, j in itertools.combinations_with_replacement([i for i in range(n) if first[i]], 2):
            second[i][j] = second[j][i] = sum(a*b*f((i, a), (j, b)) for a in (1, -1) for b in (1, -1))/(4*h*h)
        return [float(x) for x in (*form(at, at, t0, t1), *first, *itertools.chain(*second))]


def written(place, models):
    """[(prefix, file)] of models {name: text}"""
    declared, sources = "", []
    for name, text in models.items():
        texts = c_file.write(read.parse(f"model {name}_m\n{text}\n", name + ".eq"), name + ".eq", name)
        for suffix, part in zip((".c", ".h"), texts):
            with open(os.path.join(place, name + suffix), "w", encoding="utf-8") as file:
                file.write(part)
        declared += f'#include "{name}.h"\n'
        sources.append(os.path.join(place, name + ".c"))
    return declared, sources


def test_closed_forms():
    need_library()
    if mpmath is None:
        raise Skipped("mpmath is not installed")
    runs = [(name, form, t0, t1, int(name == "in_mode" and t0 == 3))
            for name, _, form, times in CASES for t0, t1 in times]
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        declared, sources = written(place, {name: HEAD + text for name, text, _, _ in CASES})
        rows = ", ".join(f"{{{name}_m_problem, {name}_m_defaults, {name}_m_start, {t0}, {t1}, {mode}}}"
                         for name, _, t0, t1, mode in runs)
        exe = program(place, DRIVER % {"declared": declared, "rows": rows}, sources)
        lines = run(exe, *METHODS).splitlines()
    wanted = [closed_form(form, (0.5, 1.5, 1.25, 1.5, 6.75), t0, t1) for _, form, t0, t1, _ in runs]
    assert len(lines) == len(runs)*len(METHODS) - 2*sum(run[0] == "residual" for run in runs)
    worst = 0
    for line in lines:
        number, k, y, q, gap, *derivatives = line.split()
        name, _, t0, t1, _ = runs[int(k)]
        where = f"{name} with {METHODS[int(number) - 1] or 'the default method'} from {t0} to {t1}"
        assert float(gap) < 1e-12, (where, gap)
        for found, exact in zip(([y, q], derivatives[:5], derivatives[5:]), (wanted[int(k)][:2], wanted[int(k)][2:7],
                                                                             wanted[int(k)][7:])):
            size = max(1, *map(abs, exact))
            error = max(abs(float(a) - b) for a, b in zip(found, exact))/size
            worst = max(worst, error)
            assert error < 1e-10, (where, error, found, exact)
    print(f"{len(lines)} runs, the largest error {worst:.1e}")


# ---- what it costs ----

INFUSIONS = [(8*i, 8*i + 1.5, 10 + i) for i in range(20)]
POWERS = [50 + 30*math.cos(i*i) for i in range(24)]


def held(values, step):
    """A zero-order hold: its text with conditions, and with a memory variable; its times and values"""
    text = repr(values[-1])
    for i in range(len(values) - 2, -1, -1):
        text = f"if(t < {(i + 1)*step!r}, {values[i]!r}, {text})"
    events = "".join(f"\nevent e{i} at {i*step!r}\n  u := {values[i]!r}" for i in range(1, len(values)))
    return text, f"memory u = {values[0]!r}{events}", [i*step for i in range(1, len(values))], values


INPUTS = [
    ("held", 5, *held(VALUES, 0.5)),
    ("powers", 24, *held(POWERS, 1.0)),
    ("infused", 160, " + ".join(f"if(t >= {b} and t < {e}, {v}, 0)" for b, e, v in INFUSIONS),
     "memory u = 10" + "".join(f"\nevent on{v} at {b}\n  u := {v}\nevent off{v} at {e}\n  u := 0"
                               for b, e, v in INFUSIONS),
     [t for b, e, _ in INFUSIONS for t in (b, e)][1:], [x for _, _, v in INFUSIONS for x in (v, 0)]),
]

COUNTS = """#include <costate/costate.h>
#include <stdio.h>
%(declared)s
static const struct { const costate_problem *(*problem)(void); void (*start)(double, const double *, double *);
                      double t1; } cases[] = {%(rows)s};
int main(int count, char **methods)
{
    for (int i = 1; i < count; i++)
        for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
            double y[4];
            costate *c = costate_new(*methods[i] ? costate_method_find(methods[i]) : NULL, cases[k].problem(), NULL);
            cases[k].start(0, NULL, y);
            if (costate_integrate(c, 0, cases[k].t1, y, NULL, NULL)) return puts(costate_message(c)), 1;
            printf("%%.17g %%ld\\n", y[0], costate_get_stats(c)->f);
            costate_free(c);
        }
    return 0;
}
"""


def test_conditions_cost_what_events_cost():
    """Errors below a tenth of the tolerance of 1e-6, with at most 1.2 times the evaluations of f"""
    need_library()
    methods = ("rodas5p", "radau2a5", "dopri853", "")
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        models = {}
        for name, _, plain, memory, _, _ in INPUTS:
            models[name + "_plain"] = f"state y\ny' = {plain} - 0.3*y"
            models[name + "_memory"] = f"{memory}\nstate y\ny' = u - 0.3*y"
        declared, sources = written(place, models)
        rows = ", ".join(f"{{{name}_{kind}_m_problem, {name}_{kind}_m_start, {t1}}}"
                         for name, t1, *_ in INPUTS for kind in ("plain", "memory"))
        found = [line.split() for line in run(program(place, COUNTS % {"declared": declared, "rows": rows}, sources),
                                              *methods).splitlines()]
    for k, (plain, memory) in enumerate(zip(found[::2], found[1::2])):
        name, t1, _, _, times, values = INPUTS[k % len(INPUTS)]
        y = 0
        for start, end, u in zip([0, *times], [*times, t1], values):
            y = u/0.3 + (y - u/0.3)*math.exp(-0.3*(end - start))
        error = abs(float(plain[0]) - y)/(1e-6*(1 + abs(y)))
        print(f"{name} with {methods[k//len(INPUTS)] or 'auto'}: {error:.1e} tolerances, f {plain[1]}, {memory[1]}")
        assert error < 0.1 and int(plain[1]) <= 1.2*int(memory[1]), (name, methods[k//len(INPUTS)])


run_all(globals())
