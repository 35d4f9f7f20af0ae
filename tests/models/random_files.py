"""random_files.py SOURCE BUILD SANITIZE COMPILER...: random equation files become C whose values and products are those
that mpmath finds with 90 digits; their names, some of C and of its libraries, come out unique and legal.

Reports in the format of cmocka.  Derivatives in mpmath are differences of an evaluation of the random trees, which
shares nothing with codegen.  What rounding may do to a result is measured: every operation of a tree, every input and
direction is changed by a relative 1e-30, and a product may be wrong by some hundred times what this changes, scaled to
double precision."""
import math
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True

from compiled import need_library, program, run  # noqa: E402

from cases import Skipped, run_all  # noqa: E402
from codegen.equations import c_file, read  # noqa: E402

try:
    import mpmath
    from mpmath import mpf
except ImportError:
    mpmath = None

FILES, BATCH = 3000 if os.environ.get("COSTATE_TESTS") == "all" else 10, 20
DIGITS, STEP, CHANGE, EPS = 90, "1e-18", "1e-30", 2.0 ** -52
NOISE = 1e-22                                # of the differences of mpmath
MARGIN = 400                                 # beside what was measured with two random changes
HOSTILE = """asm linux unix M_PI M_E NAN INFINITY NULL EOF free zeros costate start modes events memset gamma y0 j1 I
errno stdin x y p m w g out ctx dx ex d_x e_x t_ s s1 s_0 s__1 L l K J M row column int_ x_ x__ x_1 _x __x _X k k_ k__
states problem rhs rhs_value exp_ bool true false alignas typeof main memory costs outputs grid defaults lanes backend
OVERFLOW HUGE DOMAIN assert isnan pattern map count event mode_ dy gy w_0 E e D d size state parameter output v_x
v""".split()
MODELS = """m rhs cost start output lu costate no on M FP rates lane less x jac linux factor asm_
zero_rates""".split()
SAME = """exp log log10 log2 log1p expm1 sqrt cbrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf floor
ceil""".split()
ONE = {name: name for name in SAME} | {"abs": "fabs", "ln": "log"}
POSITIVE, INSIDE = {"log", "log10", "log2", "log1p", "sqrt", "cbrt", "ln"}, {"asin", "acos", "atanh"}


# ---- random trees: (operation, parts...); their text and their value -------------------------------------------------

def tree(draw, leaves, depth):
    if depth == 0 or draw.random() < 0.12:
        return draw.choice(leaves) if draw.random() < 0.8 else ("c", draw.choice((2, 0.5, 3.25, 1e-3, 7, 120.5)))
    sub = lambda less=1: tree(draw, leaves, max(depth - less, 0))                   # noqa: E731
    kind = draw.choice("+-*+-*/~^^hfffffgisjk")
    if kind in "+-*":
        return (kind, sub(), sub())
    if kind == "~":
        return ("~", sub())
    if kind == "/":
        return ("/", sub(), away(draw, sub(2)))
    if kind == "^":
        k = draw.choice((2, 3, -1, -2, 4, 5))
        return ("^", sub() if k > 0 else away(draw, sub(2)), ("c", k))
    if kind == "h":                                       # of a positive base
        exponent = draw.choice((("c", 0.5), ("c", 1.5), ("c", -1.5), ("c", 0.3), ("c", -2.2), sub(3)))
        return ("^", away(draw, sub(2)), exponent)
    if kind == "g":
        return (draw.choice(("atan2", "hypot")), sub(2), away(draw, sub(2)))
    if kind == "i":
        return draw.choice((("if", ("<", sub(2), sub(2)), sub(), sub()), ("max", sub(), sub()), ("min", sub(), sub())))
    if kind == "j":                                       # what jumps
        return draw.choice((("heaviside", sub(2)), ("sign", sub(2)), ("mod", sub(2), away(draw, sub(3))),
                            ("piecewise", sub(2), ("<", sub(3), sub(3)), sub(2), ("<", sub(3), sub(3)), sub(2))))
    if kind == "k":
        return ("*", ("k", "pi"), sub())
    if kind == "s":
        return ("sum", draw.randint(1, 3), sub(2))
    name = draw.choice(sorted(ONE))
    inner = sub()
    if name in POSITIVE:
        inner = away(draw, inner)
    elif name in INSIDE:
        inner = ("*", ("c", 0.97), ("tanh", inner))
    elif name == "acosh":
        inner = ("+", ("c", 1.125), ("^", inner, ("c", 2)))
    elif name in ("sinh", "cosh", "exp", "expm1", "tan"):
        inner = ("*", ("c", draw.choice((0.75, -2.5))), ("sin", inner)) if draw.random() < 0.7 else ("atan", inner)
        if name == "tan" and inner[0] == "atan":           # far up at a pole no derivative has digits
            inner = ("*", ("c", 0.75), ("sin", inner[1]))
    elif name == "tanh":
        inner = ("*", ("c", draw.choice((1, 4, 15))), ("cos", inner))
    return (name, inner)


def away(draw, a):
    """Positive, and not near 0"""
    return ("+", ("c", draw.choice((0.75, 1, 2.5))), draw.choice((("^", a, ("c", 2)), ("abs", a))))


def text(draw, a):
    kind = a[0]
    if kind == "c":
        return repr(a[1]) if a[1] >= 0 else f"({a[1]!r})" if draw.random() < 0.5 else repr(a[1])
    if kind in ("v", "k"):
        return a[1]
    if kind == "<":
        return f"{text(draw, a[1])} < {text(draw, a[2])}"
    if kind == "~":
        return f"-{bracketed(draw, a[1])}"
    if kind in "+-*/":
        blank = draw.choice(("", " "))
        return f"{bracketed(draw, a[1])}{blank}{kind}{blank}{bracketed(draw, a[2])}"
    if kind == "^":
        return f"{bracketed(draw, a[1])}{draw.choice(('^', '**'))}{bracketed(draw, a[2])}"
    if kind == "if":
        return f"if({text(draw, a[1])}, {text(draw, a[2])}, {text(draw, a[3])})"
    if kind == "sum":                                     # k times what does not depend on k
        return f"sum(kk = 1..{a[1]}, kk*{bracketed(draw, a[2])})"
    return f"{kind}({', '.join(text(draw, b) for b in a[1:])})"


def bracketed(draw, a):
    plain = a[0] in ("c", "v", "k") and not (a[0] == "c" and a[1] < 0) or a[0] in ONE
    return text(draw, a) if plain else f"({text(draw, a)})"


class Evaluation:
    """The value of trees in mpmath; changes: relative changes of operations, by their number, None: none"""

    def __init__(self, changes=None):
        self.changes = changes

    def __call__(self, trees, at):
        self.number = 0
        return [self.value(a, at) for a in trees]

    def value(self, a, at):
        kind = a[0]
        if kind == "c":
            return mpf(a[1])
        if kind == "v":
            return at[a[1]]
        if kind == "k":
            return mpf(getattr(math, a[1]))
        self.number += 1
        number = self.number
        if kind in ("if", "piecewise"):                   # all parts are evaluated: operations keep their numbers
            given = [a[2], a[1], a[3]] if kind == "if" else a[1:]
            parts = [self.less(b, at) if b[0] == "<" else self.value(b, at) for b in given]
            return next((value for value, holds in zip(parts[::2], parts[1::2]) if holds), parts[-1])
        if kind == "sum":
            result = self.value(a[2], at) * (a[1] * (a[1] + 1) // 2)
        else:
            result = self.operation(kind, [self.value(b, at) for b in a[1:]])
        return result if self.changes is None else result * (1 + self.changes[number % len(self.changes)])

    def less(self, a, at):
        x, y = (self.value(b, at) for b in a[1:])
        return x < y

    @staticmethod
    def operation(kind, x):
        if kind == "+":
            return x[0] + x[1]
        if kind == "-":
            return x[0] - x[1]
        if kind == "*":
            return x[0] * x[1]
        if kind == "/":
            return x[0] / x[1]
        if kind == "~":
            return -x[0]
        if kind == "^":
            return x[0] ** (int(x[1]) if x[1] == int(x[1]) else x[1])
        if kind in ("max", "min"):
            return max(x) if kind == "max" else min(x)
        special = {"heaviside": lambda v: mpf(v >= 0), "mod": lambda u, v: u - v * mpmath.floor(u / v),
                   "abs": abs, "ln": mpmath.log, "log2": lambda v: mpmath.log(v, 2),
                   "log1p": lambda v: mpmath.log(1 + v), "expm1": lambda v: mpmath.exp(v) - 1,
                   "cbrt": lambda v: v ** (mpf(1) / 3),
                   "hypot": lambda u, v: mpmath.sqrt(u * u + v * v)}
        return special[kind](*x) if kind in special else getattr(mpmath, kind)(*x)


# ---- products by differences -----------------------------------------------------------------------------------------

def difference(f, at, directions):
    """The derivative of f along each of the directions"""
    if not directions:
        return f(at)
    h, along = mpf(STEP), directions[0]
    up, down = ({k: v + s * h * along.get(k, 0) for k, v in at.items()} for s in (1, -1))
    return [(u - d) / (2 * h) for u, d in zip(difference(f, up, directions[1:]), difference(f, down, directions[1:]))]


def products(f, at, inputs, d, e, w):
    """All values that the driver prints, in its order"""
    out = []
    for directions in ([], [d], [d, e]):
        out += difference(f, at, directions)
    for more in ([], [d], [d, e]):
        for k in inputs:
            out.append(sum(a * b for a, b in zip(w, difference(f, at, [{k: mpf(1)}, *more]))))
    return out


# ---- one file --------------------------------------------------------------------------------------------------------

class Case:
    def __init__(self, number):
        self.number, self.draw = number, random.Random(number)
        draw = self.draw
        names = draw.sample(HOSTILE, 14) if draw.random() < 0.8 else random_names(draw)
        self.model = f"{draw.choice(MODELS)}" if draw.random() < 0.5 else f"m{number}"
        vector = names[0]
        self.states = [f"{vector}[1]", f"{vector}[2]", names[1]] if draw.random() < 0.4 else names[:3]
        self.parameters = [f"{names[3]}[{k}]" for k in (0, 1)] if draw.random() < 0.3 else names[3:5]
        self.others = names[5:]
        leaves = [("v", k) for k in [*self.states, *self.states, *self.parameters, "t"]]
        self.equations = [tree(draw, leaves, draw.randint(2, 4)) for _ in self.states]
        self.output, self.cost = (tree(draw, leaves, 3) for _ in range(2))
        number = lambda: draw.choice((-1, 1)) * round(draw.uniform(0.2, 1.7), 6)           # noqa: E731
        self.inputs = [*self.states, *self.parameters, "t"]
        self.at, self.d, self.e = ({k: number() for k in self.inputs} for _ in range(3))
        self.w = [number() for _ in self.states]

    def text(self):
        draw, others = self.draw, self.others
        lines = [f"model {self.model}", f"memory {others[0]} = 2"]
        for kind, names in (("parameter", self.parameters), ("state", self.states)):
            plain = [k for k in names if "[" not in k]
            vectors = [k for k in names if "[" in k]
            if vectors:
                first, last = (k.split("[")[1][:-1] for k in (vectors[0], vectors[-1]))
                lines.append(f"{kind} {vectors[0].split('[')[0]}[{first}..{last}] = 1 {{??/}}")
            lines += [f"{kind} {k} = {draw.choice(('1', '0.5'))} {{m/s}} \"*??/ \\ \"" for k in plain]
        lines += [f"mode {others[1]}, {others[2]}", f"let {others[3]} = {text(draw, self.equations[0])}"]
        lines += [f"{self.states[0]}' = {others[3]}"]
        for k, a in zip(self.states[1:], self.equations[1:]):
            as_reaction = "[" not in k and draw.random() < 0.3            # whose coefficient is an expression
            lines += [f"0 -> ({text(draw, a)}) {k} : 1" if as_reaction else f"{k}' = {text(draw, a)}"]
        lines += [f"cost {others[4]}' = {text(draw, self.cost)}", f"output {others[5]} = {text(draw, self.output)}"]
        lines += [f"event {draw.choice(others + self.others)} at 1, 2", f"    {self.states[0]} := 2",
                  f"    {others[0]} += 1", f"    mode := {others[2]}"]
        return "".join(line + draw.choice(("\n", "\n", ";", " // a comment\n")) for line in lines) + "\n"

    def arrays(self):
        numbers = lambda point, keys: ", ".join(repr(float(point[k])) for k in keys)        # noqa: E731
        out = ""
        for name, point in (("", self.at), ("d", self.d), ("e", self.e)):
            out += f"static const double {name}y{self.number}[] = {{{numbers(point, self.states)}}}, " \
                f"{name}p{self.number}[] = {{{numbers(point, self.parameters)}}};\n"
        return out + f"static const double w{self.number}[] = {{{', '.join(repr(x) for x in self.w)}}};\n"

    def row(self, prefix):
        k = self.number
        return f"{{{k}, {prefix}_problem, {prefix}_output_map, y{k}, p{k}, dy{k}, dp{k}, ey{k}, ep{k}, w{k}, " \
            f"{self.at['t']!r}, {self.d['t']!r}, {self.e['t']!r}}}"

    def expected(self):
        """(values, what rounding may change them by), or None where they are no usual numbers"""
        with mpmath.workdps(DIGITS):
            mp = lambda point: {k: mpf(v) for k, v in point.items()}                        # noqa: E731
            w = [mpf(x) for x in self.w]

            def all_of(changed):
                change = lambda: 1 + self.draw.choice((-1, 1)) * mpf(CHANGE) if changed else 1      # noqa: E731
                f = Evaluation([change() - 1 for _ in range(97)] if changed else None)
                at, d, e = ({k: v * change() for k, v in mp(point).items()} for point in (self.at, self.d, self.e))
                maps = ((self.equations, w), ([self.cost], w[:1]), ([self.output], w[:1]))
                return [products(lambda at, trees=trees: f(trees, at), at, self.inputs, d, e,
                                 [x * change() for x in weights]) for trees, weights in maps]
            try:
                maps = all_of(False)
                changed = [sum(all_of(True), []) for _ in range(2)]
            except (ZeroDivisionError, ValueError, OverflowError, TypeError):
                return None
            # terms that cancel wherever they are, as in the third derivative of sqrt(u)^2, are about as large as others
            values, others = sum(maps, []), [max(map(abs, part)) for part in maps for _ in part]
            if not all(isinstance(v, mpf) and mpmath.isfinite(v) and abs(v) < 1e60 for v in values):
                return None
            moved = [max(abs(c[k] - v) for c in changed) / mpf(CHANGE) for k, v in enumerate(values)]
            return [float(v) for v in values], [float(EPS * (MARGIN * m + 40 * abs(v) + 4 * other))
                                                for m, v, other in zip(moved, values, others)]


def random_names(draw):
    """Words of few letters, most of which resemble each other"""
    found = []
    while len(found) < 14:
        word = draw.choice("abxy_") + "".join(draw.choice("x_1") for _ in range(draw.randint(1, 4)))
        if word not in found and word.strip("_"):
            found.append(word)
    return found


DRIVER = """#include <costate/costate.h>
#include <math.h>
#include <stdio.h>
%(declared)s
static const struct { int number; const costate_problem *(*problem)(void); const costate_map *(*output)(void);
    const double *y, *p, *dy, *dp, *ey, *ep, *w, t, dt, et; } row[] = {%(rows)s};

static void show(const char *kind, int number, const double *x, int count)
{
    for (int i = 0; i < count; i++) printf("%%d %%s %%.17g\\n", number, kind, x[i]);
}

static void all(const costate_map *f, int number, int rows, int n, int np, const costate_point *x,
                const costate_point *d, const costate_point *e, const double *w)
{
    double out[9], gy[9], gp[9], gt;
    const costate_gradient g = {.y = gy, .p = gp, .t = &gt};
    f->value(x, out, NULL), show("f", number, out, rows);
    f->tangent(x, d, out, NULL), show("f", number, out, rows);
    f->tangent2(x, d, e, out, NULL), show("f", number, out, rows);
    for (int product = 0; product < 3; product++) {
        for (int i = 0; i < 9; i++) gy[i] = gp[i] = 0;
        gt = 0;
        if (product == 0) f->adjoint(x, w, &g, NULL);
        else if (product == 1) f->adjoint_tangent(x, d, w, &g, NULL);
        else f->adjoint_tangent2(x, d, e, w, &g, NULL);
        show("f", number, gy, n), show("f", number, gp, np), show("f", number, &gt, 1);
    }
}

int main(void)
{
    const double m[] = {2};
    for (unsigned k = 0; k < sizeof row / sizeof *row; k++) {
        const costate_problem *P = row[k].problem();
        int relation[64];                   /* values of conditions there, which the maps read */
        costate_point x = {.t = row[k].t, .y = row[k].y, .p = row[k].p, .m = m, .relation = relation};
        for (int i = 0; i < P->nrelations && i < 64; i++) {
            double u = 0;
            P->relation[i].guard.value(&x, &u, NULL);
            relation[i] = P->relation[i].whole ? (int)floor(u) : (u > 0) - (P->relation[i].sign && u < 0);
        }
        const costate_point
            d = {.t = row[k].dt, .y = row[k].dy, .p = row[k].dp}, e = {.t = row[k].et, .y = row[k].ey, .p = row[k].ep};
        const int number = row[k].number, n = P->n, np = P->np;
        all(&P->rhs, number, n, n, np, &x, &d, &e, row[k].w);
        if (P->cost.value) all(&P->cost, number, 1, n, np, &x, &d, &e, row[k].w);
        for (int i = 0; !P->cost.value && i < 3 + 3 * (n + np + 1); i++) printf("%%d f 0\\n", number);
        all(row[k].output(), number, 1, n, np, &x, &d, &e, row[k].w);
        double J[81] = {0}, dense[81] = {0};
        P->jac(&x, J, NULL);
        for (int j = 0, at = 0; j < n; j++) {
            if (!P->pattern) for (int i = 0; i < n; i++, at++) dense[i + n * j] = J[at];
            else for (; at < P->pattern->col[j + 1]; at++) dense[P->pattern->row[at] + n * j] = J[at];
        }
        for (int j = 0; j < n; j++) {
            double column[9], unit[9] = {0}, gap = 0, size = 0;
            unit[j] = 1;
            const costate_point along = {.y = unit};
            P->rhs.tangent(&x, &along, column, NULL);
            for (int i = 0; i < n; i++) {
                const double a = dense[i + n * j] - column[i], b = column[i] < 0 ? -column[i] : column[i];
                gap = a > gap ? a : -a > gap ? -a : gap, size = b > size ? b : size;
            }
            printf("%%d J %%.17g\\n", number, size > 0 ? gap / size : gap);
        }
    }
    return 0;
}
"""


def compiled(place, cases):
    """{number: (values, gaps of the Jacobian)} of a batch"""
    declared, rows, sources = "", [], []
    for case in cases:
        model = read.parse(case.text(), "m.eq")
        model.name = case.model if case.model not in [c.model for c in cases[:cases.index(case)]] else f"m{case.number}"
        texts = c_file.write(model, "??/m.eq", f"f{case.number}")
        prefix = texts[1].split("const costate_problem *")[1].split("_problem(")[0]
        for suffix, part in zip((".c", ".h"), texts):
            with open(os.path.join(place, f"f{case.number}{suffix}"), "w", encoding="utf-8") as file:
                file.write(part)
        declared += f'#include "f{case.number}.h"\n' + case.arrays()
        rows.append(case.row(prefix))
        sources.append(os.path.join(place, f"f{case.number}.c"))
    exe = program(place, DRIVER % {"declared": declared, "rows": ",\n    ".join(rows)}, sources)
    found = {case.number: ([], []) for case in cases}
    for line in run(exe).splitlines():
        number, kind, value = line.split()
        found[int(number)][kind == "J"].append(float(value))
    return found


def test_values_and_products():
    need_library()
    if mpmath is None:
        raise Skipped("mpmath is not installed")
    compared = 0
    for first in range(0, FILES, BATCH):
        cases = [Case(number) for number in range(first, min(first + BATCH, FILES))]
        with tempfile.TemporaryDirectory(prefix="costate-") as place:
            found = compiled(place, cases)
        for case in cases:
            values, gaps = found[case.number]
            assert all(gap < 1e-9 for gap in gaps), "%d: jac and tangents differ by %s\n%s" % (
                case.number, gaps, Case(case.number).text())
            expected = case.expected()
            if expected is None:
                continue
            compared += 1
            wanted, allowed = expected
            assert len(values) == len(wanted), (case.number, len(values), len(wanted))
            for k, (a, b, gap) in enumerate(zip(values, wanted, allowed)):
                assert abs(a - b) <= gap + NOISE, "%d, product %d: %r, exactly %r, allowed are %.1e\n%s" % (
                    case.number, k, a, b, gap, Case(case.number).text())
    assert compared >= 0.7 * FILES, (compared, FILES)
    print("%d of %d random files were compared" % (compared, FILES))


if __name__ == "__main__":
    run_all(globals())
