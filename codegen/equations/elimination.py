"""A linear solver for the pattern of one model: Gaussian elimination without loops, as a costate_backend.

The order of pivots is fixed: the entry with the least (r - 1)(c - 1) among those that cannot be zero, where r and c
count the entries of its row and column that are left (H. M. Markowitz, Management Science 3 (1957) 255-269); diagonal
entries first.  Whether it is safe is checked after each factorisation: as KLU does, no multiplier may exceed 1000, and
no pivot may have lost more than 11 digits.  Otherwise the matrix goes to a general solver of the library."""
import re
import textwrap

from .names import listed

MOST_PRODUCTS = 2500                         # of a factorisation: beyond, its code is slower than a sparse solver
MOST_ROWS = 200


class Plan:
    """pivots: [(row, column)]; lower, upper: entries by step; what each entry is computed from."""

    def __init__(self, n, pattern, structural):
        """pattern: all entries (row, column), by columns; structural: those that are not always zero"""
        self.n, self.pattern = n, pattern
        self.place = {entry: k for k, entry in enumerate(pattern)}
        rows, columns = [set() for _ in range(n)], [set() for _ in range(n)]
        for i, j in structural:
            rows[i].add(j)
            columns[j].add(i)
        self.pivots, self.lower, self.upper, self.products = [], [], [], 0
        left_rows, left_columns = set(range(n)), set(range(n))
        for _ in range(n):
            pivot = self._choose(rows, columns, left_rows)
            if pivot is None:
                self.pivots = None           # structurally singular
                return
            i, j = pivot
            below, right = sorted(columns[j] - {i}), sorted(rows[i] - {j})
            self.pivots.append(pivot)
            self.lower.append(below)
            self.upper.append(right)
            self.products += len(below) * len(right)
            if self.products > MOST_PRODUCTS:
                return
            for r in below:
                rows[r].discard(j)
                rows[r].update(right)
            for c in right:
                columns[c].discard(i)
                columns[c].update(below)
            left_rows.discard(i)
            left_columns.discard(j)
            rows[i], columns[j] = set(), set()

    @staticmethod
    def _choose(rows, columns, left):
        best = None
        for i in left:
            for j in rows[i]:
                key = ((len(rows[i]) - 1) * (len(columns[j]) - 1), i != j, i, j)
                if best is None or key < best:
                    best = key
        return best and best[2:]

    @property
    def small(self):
        return self.n <= MOST_ROWS and self.pivots is not None and self.products <= MOST_PRODUCTS


class Elimination:
    """Prints the functions of a backend; real and complex numbers by the same statements."""

    def __init__(self, plan, name):
        self.plan, self.name, n = plan, name, plan.n
        self.step_of_row = {i: k for k, (i, _) in enumerate(plan.pivots)}
        self.step_of_column = {j: k for k, (_, j) in enumerate(plan.pivots)}
        # entries of L and U by (step of their row, step of their column); each pivot is stored as its inverse
        entries = set()
        for k in range(n):
            entries.add((k, k))
            entries |= {(self.step_of_row[r], k) for r in plan.lower[k]}
            entries |= {(k, self.step_of_column[c]) for c in plan.upper[k]}
        self.order = sorted(entries, key=lambda e: (min(e), e[0] > e[1], max(e)))
        self.number = {e: k for k, e in enumerate(self.order)}
        self.of_row, self.of_column = {}, {}
        for r, c in entries:
            self.of_row.setdefault(r, []).append(c)
            self.of_column.setdefault(c, []).append(r)

    def text(self):
        n = self.plan.n
        columns, rows = compressed(n, self.plan.pattern)
        complex_text = self._functions("complex", Complex)
        return TEMPLATE % {"n": n, "entries": len(self.order), "name": self.name,
                           "column": table("lu_column", columns), "row": table("lu_row", rows),
                           "products": self.plan.products,
                           "real": self._functions("real", Real), "complex": complex_text,
                           "helpers": helpers(complex_text)}

    def _functions(self, kind, number):
        return FUNCTIONS % {"kind": kind, "type": number.type, "n": self.plan.n, "factor": self._factor(number),
                            "solve": self._solve(number, False), "transposed": self._solve(number, True)}

    def _factor(self, z):
        """Entry (r, c) of L U is A less the products with earlier steps; of L: times the inverse of the pivot."""
        lines = []
        row_of = {k: i for i, k in self.step_of_row.items()}
        column_of = {k: j for j, k in self.step_of_column.items()}
        for r, c in self.order:
            entry = self.plan.place.get((row_of[r], column_of[c]))
            terms = [(self.number[r, k], self.number[k, c]) for k in range(min(r, c))
                     if (r, k) in self.number and (k, c) in self.number]
            start = f"A[{entry}]" if entry is not None else z.zero
            terms = [(f"LU[{a}]", f"LU[{b}]") for a, b in terms]
            value = z.less(start, terms)
            at = f"LU[{self.number[r, c]}]"
            if r == c:
                moduli = [z.modulus(start)] if entry is not None else []
                moduli += [f"{z.modulus(a)}*{z.modulus(b)}" for a, b in terms]
                lines += [f"{at} = {value};", f"safe &= {' + '.join(moduli)} < 1e11*{z.modulus(at)};",
                          f"{at} = {z.inverse(at)};"]
            elif r > c:
                lines.append(f"{at} = {z.times(value, f'LU[{self.number[c, c]}]')};")
                lines.append(f"safe &= {z.modulus(at)} <= 1e3;")
            else:
                lines.append(f"{at} = {value};")
        return "\n".join(wrapped("    ", lines))

    def _solve(self, z, transposed):
        """L U y = b with the rows in the order of the pivots, or U^T L^T y = b"""
        n, lines = self.plan.n, []
        source = [j if transposed else i for i, j in self.plan.pivots]
        target = [i if transposed else j for i, j in self.plan.pivots]
        at = lambda r, c: f"LU[{self.number[(c, r) if transposed else (r, c)]}]"           # noqa: E731
        before = self.of_column if transposed else self.of_row
        after = self.of_column if transposed else self.of_row
        for k in range(n):
            value = z.less(f"x[{source[k]}]", [(at(k, c), f"y{c}") for c in sorted(before[k]) if c < k])
            if transposed:
                value = z.times(value, at(k, k))
            lines.append(f"{z.const} y{k} = {value};")
        for k in reversed(range(n)):
            value = z.less(f"y{k}", [(at(k, c), f"x[{target[c]}]") for c in sorted(after[k]) if c > k])
            if not transposed:
                value = z.times(value, at(k, k))
            lines.append(f"x[{target[k]}] = {value};")
        return "\n".join(wrapped("        ", lines))


class Real:
    type, const, zero = "double", "const double", "0.0"

    @staticmethod
    def less(start, terms):
        text = start if start != "0.0" or not terms else ""
        for a, b in terms:
            text = f"{text} - {a}*{b}" if text else f"-{a}*{b}"
        return text

    @staticmethod
    def times(value, factor):
        return f"({value})*{factor}" if " " in value else f"{value}*{factor}"

    @staticmethod
    def modulus(at):
        return f"fabs({at})"

    @staticmethod
    def inverse(at):
        return f"1 / {at}"


class Complex:
    type, const, zero = "number", "const number", "(number){0, 0}"

    @staticmethod
    def less(start, terms):
        while len(terms) >= 4:
            start = f"less4({start}, {', '.join(f'{a}, {b}' for a, b in terms[:4])})"
            terms = terms[4:]
        for a, b in terms:
            start = f"less({start}, {a}, {b})"
        return start

    @staticmethod
    def times(value, factor):
        return f"times({value}, {factor})"

    @staticmethod
    def modulus(at):
        return f"modulus({at})"

    @staticmethod
    def inverse(at):
        return f"inverse({at})"


def wrapped(indent, lines):
    for line in lines:
        yield from textwrap.wrap(line, 118, initial_indent=indent, subsequent_indent=indent + "    ",
                                 break_long_words=False, break_on_hyphens=False)


def compressed(n, pattern):
    columns = [0] * (n + 1)
    for _, j in pattern:
        columns[j + 1] += 1
    for j in range(n):
        columns[j + 1] += columns[j]
    return columns, [i for i, _ in pattern]


def helpers(text):
    """The functions that `text` calls, and those that these call"""
    used = []
    for name in reversed(HELPERS):
        if re.search(rf"\b{name}\(", text + "".join(HELPERS[k] for k in used)):
            used.append(name)
    return "".join(HELPERS[k] for k in reversed(used))


def table(name, values):
    return "\n".join(listed(f"static const int {name}[] = {{", [str(v) for v in values], "};", 4))


FUNCTIONS = """/* LU of a %(kind)s matrix; whether it may be used */
static int factor_%(kind)s(const %(type)s *restrict A, %(type)s *restrict LU)
{
    int safe = 1;
%(factor)s
    return safe;
}

static void solve_%(kind)s(const %(type)s *restrict LU, int nrhs, %(type)s *restrict x)
{
    for (int j = 0; j < nrhs; j++, x += %(n)d) {
%(solve)s
    }
}

static void transposed_%(kind)s(const %(type)s *restrict LU, int nrhs, %(type)s *restrict x)
{
    for (int j = 0; j < nrhs; j++, x += %(n)d) {
%(transposed)s
    }
}
"""

HELPERS = {                                 # name: text; those that are used, in this order
    "less": """static inline number less(number a, number b, number c)          /* a - b c */
{
    return (number){a.re - (b.re*c.re - b.im*c.im), a.im - (b.re*c.im + b.im*c.re)};
}
""",
    "less4": """static inline number less4(number a, number b, number c, number d, number e, number f, number g,
                           number h, number i)
{
    return less(less(less(less(a, b, c), d, e), f, g), h, i);
}
""",
    "times": """static inline number times(number a, number b)
{
    return (number){a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re};
}
""",
    "modulus": """static inline double modulus(number a) { return fabs(a.re) + fabs(a.im); }
""",
    "inverse": """static inline number inverse(number a)                           /* Smith, CACM 5 (1962) 435 */
{
    if (fabs(a.re) >= fabs(a.im)) {
        const double r = a.im / a.re, d = a.re + a.im*r;
        return (number){1 / d, -r / d};
    }
    const double r = a.re / a.im, d = a.re*r + a.im;
    return (number){r / d, -1 / d};
}
""",
}

TEMPLATE = """/* %(products)d products a factorisation; pivots are stored as their inverses */

typedef struct { double re, im; } number;

%(helpers)s
%(real)s
%(complex)s
typedef struct {
    int is_complex, mine;                  /* mine: the pattern is that of the model */
    int elsewhere;                         /* the last matrix went to `other` */
    const costate_pattern *pattern;
    const costate_backend *other;          /* for other patterns, and for matrices that need other pivots */
    void *self;                            /* its object; NULL: it was not needed yet */
    double *full;                          /* n by n, if `other` is dense */
    number LU[%(entries)d];
} eliminated;

%(column)s
%(row)s

static void lu_free(void *self)
{
    eliminated *e = self;
    if (!e) return;
    if (e->self) e->other->free(e->self);
    free(e->full);
    free(e);
}

static int prepare_other(eliminated *e, int n)
{
    if (e->self) return COSTATE_LS_OK;
    if (!(e->other = costate_backend_find("klu")) && !(e->other = costate_backend_find("umfpack")))
        e->other = costate_backend_find("dense");
    if (e->other->dense && !e->full && !(e->full = calloc((size_t)n * (size_t)n, sizeof(number))))
        return COSTATE_LS_NO_MEMORY;
    return e->other->init(&e->self, n, e->other->dense ? NULL : e->pattern, e->is_complex, NULL);
}

static int lu_init(void **self, int n, const costate_pattern *of, int is_complex, const void *like)
{
    (void)like;
    if (!of) return COSTATE_LS_UNSUPPORTED;
    eliminated *e = *self = calloc(1, sizeof *e);
    if (!e) return COSTATE_LS_NO_MEMORY;
    e->is_complex = is_complex;
    e->pattern = of;
    e->mine = n == %(n)d && !memcmp(of->col, lu_column, sizeof lu_column) && !memcmp(of->row, lu_row, sizeof lu_row);
    return e->mine ? COSTATE_LS_OK : prepare_other(e, n);            /* coupled stages, for example */
}

static int factor_other(eliminated *e, const double *A)
{
    const int n = e->pattern->n, parts = e->is_complex ? 2 : 1;
    int status = prepare_other(e, n);
    if (status || !e->other->dense) return status ? status : e->other->factor(e->self, A);
    memset(e->full, 0, (size_t)n * (size_t)n * sizeof(number));
    for (int j = 0; j < n; j++)
        for (int k = e->pattern->col[j]; k < e->pattern->col[j + 1]; k++)
            memcpy(e->full + parts * (e->pattern->row[k] + n * j), A + parts * k, (size_t)parts * sizeof *A);
    return e->other->factor(e->self, e->full);
}

static int lu_factor(void *self, const double *A)
{
    eliminated *e = self;
    if (e->mine && (e->is_complex ? factor_complex((const number *)(const void *)A, e->LU)
                                  : factor_real(A, (double *)(void *)e->LU)))
        return e->elsewhere = 0, COSTATE_LS_OK;
    e->elsewhere = 1;
    return factor_other(e, A);
}

static int lu_solve(void *self, int transpose, int nrhs, double *X)
{
    const eliminated *e = self;
    if (e->elsewhere) return e->other->solve(e->self, transpose, nrhs, X);
    number *Z = (number *)(void *)X;
    const double *LU = (const double *)(const void *)e->LU;
    if (e->is_complex && transpose) transposed_complex(e->LU, nrhs, Z);
    else if (e->is_complex) solve_complex(e->LU, nrhs, Z);
    else if (transpose) transposed_real(LU, nrhs, X);
    else solve_real(LU, nrhs, X);
    return COSTATE_LS_OK;
}

static size_t lu_bytes(const void *self)
{
    const eliminated *e = self;
    return sizeof *e + (e->elsewhere && e->other->bytes ? e->other->bytes(e->self) : 0);
}

const costate_backend *%(name)s_backend(void)
{
    static const costate_backend backend = {"%(name)s", 0, lu_init, lu_factor, lu_solve, lu_bytes, lu_free};
    return &backend;
}
"""
