"""A linear solver for the pattern of one model: Gaussian elimination without loops, as a costate_backend; large complex
matrices have loops over tables.

The order of pivots is fixed: of the diagonal entries that are not always zero, on which sigma M - J has its large
numbers, the one with the least (r - 1)(c - 1), where r and c count the entries of its row and column that are left
(H. M. Markowitz, Management Science 3 (1957) 255-269); if there is no such entry, others by the same rule.  Whether it
is safe is checked after each factorisation: as KLU does, no multiplier may exceed 1000, and no pivot may have lost more
than 11 digits (mathematics, eq. 15.3).  Otherwise the matrix goes to a general solver of the library."""
import re
import textwrap

from .elimination_text import BACKEND, BACKEND_OF_LANES, FUNCTIONS, HELPERS, LANE_FUNCTIONS, LOOPS, TEMPLATE
from .formulas import by_columns
from .lanes import wanted
from .names import listed

# Of a factorisation.  Runs with rodas4 took 0.55 of the time with KLU at n = 150 and 659 products, 0.6 at n = 30 and
# 1114, and as long as with dense elimination at n = 20 and 1293.
MOST_PRODUCTS = 1500
MOST_ROWS = 200
# Of complex matrices, as statements: with 71 products (pollution) loops take 2 to 2.8 times as long to run; with 568
# (cbm4) 1.35 times to factor and 0.66 times to solve, and 0.3 s instead of 4.3 s to compile at -O2.
MOST_STATEMENTS = 300


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
                key = (i != j, (len(rows[i]) - 1) * (len(columns[j]) - 1), i, j)
                if best is None or key < best:
                    best = key
        return best and best[2:]

    @property
    def small(self):
        return self.n <= MOST_ROWS and self.pivots is not None and self.products <= MOST_PRODUCTS


def elimination_of(model, pattern, name):
    """The elimination for the pattern of a model's Jacobian, where it stays short; else None"""
    n = len(model.states)
    if not 2 <= n <= MOST_ROWS:
        return None
    diagonal = {(i, i) for i in range(n)}
    structural = set(pattern) | (set() if model.mass or model.implicit else diagonal)
    plan = Plan(n, by_columns(set(pattern) | diagonal), structural)
    return Elimination(plan, name) if plan.small else None


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

    def text(self, lanes=False):
        """lanes: also the functions that treat several matrices side by side"""
        n = self.plan.n
        columns, rows = compressed(n, self.plan.pattern)
        complex_text = self._functions("complex", Complex) if self.plan.products <= MOST_STATEMENTS else self._loops()
        text = TEMPLATE + (BACKEND_OF_LANES if lanes else BACKEND)
        text %= {"n": n, "entries": len(self.order), "name": self.name,
                 "column": table("lu_column", columns), "row": table("lu_row", rows),
                 "products": self.plan.products,
                 "real": self._functions("real", Real), "complex": complex_text,
                 "helpers": helpers(complex_text)}
        return text + self._lanes() if lanes else text

    def _lanes(self):
        z = Lanes
        return LANE_FUNCTIONS % {"factor": self._factor(z), "solve": self._solve(z, False),
                                 "transposed": self._solve(z, True), "instances": wanted("LINEAR_SYSTEMS({0})")}

    def _functions(self, kind, number):
        return FUNCTIONS % {"kind": kind, "type": number.type, "n": self.plan.n, "factor": self._factor(number),
                            "solve": self._solve(number, False), "transposed": self._solve(number, True)}

    def _loops(self):
        """The functions of complex matrices as loops, which compute the same as statements"""
        return LOOPS % {"n": self.plan.n, "entries": len(self.order), "tables": self._tables(),
                        "triangles": "\n\n".join(self._triangles(t) for t in (False, True))}

    def _tables(self):
        """Of the factorisation of complex matrices"""
        steps = list(self.factor_steps())
        products = [pair for _, _, _, terms in steps for pair in terms]
        pivots = [self.number[c, c] if r >= c else -1 for r, c, _, _ in steps]
        return "\n".join([table("lu_from", [-1 if entry is None else entry for _, _, entry, _ in steps]),
                          table("lu_pivot", pivots), table("lu_first", ends(terms for _, _, _, terms in steps)),
                          table("lu_left", [a for a, _ in products] or [0]),
                          table("lu_right", [b for _, b in products] or [0])])

    def _triangles(self, transposed):
        """The tables of both substitutions"""
        prefix, parts = "transposed_" * transposed, []
        for name, steps in zip(("forward", "backward"), self.solve_steps(transposed)):
            places = [k for k, _, _ in steps], [x for _, x, _ in steps]
            terms = [term for *_, t in steps for term in t]
            columns = {"from": places[name == "forward"], "to": places[name == "backward"],
                       "pivot": [self.number[k, k] for k in places[0]] * (transposed == (name == "forward")),
                       "first": ends(t for *_, t in steps), "entry": [a for a, _ in terms] or [0],
                       "other": [c for _, c in terms] or [0]}
            parts += [table(f"{prefix}{name}_{key}", values) for key, values in columns.items() if values]
            members = ", ".join(f".{key} = {prefix}{name}_{key}" for key, values in columns.items() if values)
            parts += listed(f"static const triangle {prefix}{name} = {{", members.split(", "), "};", 4)
        return "\n".join(parts)

    def factor_steps(self):
        """For each entry (r, c) of L and U, in the order in which they are computed: r, c, the place of its element of
        A or None, and [(numbers of two entries whose product is subtracted)]"""
        row_of = {k: i for i, k in self.step_of_row.items()}
        column_of = {k: j for j, k in self.step_of_column.items()}
        for r, c in self.order:
            terms = [(self.number[r, k], self.number[k, c]) for k in range(min(r, c))
                     if (r, k) in self.number and (k, c) in self.number]
            yield r, c, self.plan.place.get((row_of[r], column_of[c])), terms

    def solve_steps(self, transposed):
        """L U y = b with the rows in the order of the pivots, or U^T L^T y = b: two lists (k, number of x, terms) of
        products that are subtracted, forward and backward; a term is the number of an entry of L and U, and of y in the
        first list or of x in the second one.  The first list of the transposed system and the second one of the other
        multiply by the inverse pivot k."""
        source = [j if transposed else i for i, j in self.plan.pivots]
        target = [i if transposed else j for i, j in self.plan.pivots]
        number = lambda r, c: self.number[(c, r) if transposed else (r, c)]         # noqa: E731
        of = self.of_column if transposed else self.of_row
        n = self.plan.n
        return [(k, source[k], [(number(k, c), c) for c in sorted(of[k]) if c < k]) for k in range(n)], \
            [(k, target[k], [(number(k, c), target[c]) for c in sorted(of[k]) if c > k]) for k in reversed(range(n))]

    def _factor(self, z):
        """Entry (r, c) of L U is A less the products with earlier steps; of L: times the inverse of the pivot."""
        lines = []
        for r, c, entry, terms in self.factor_steps():
            start = z.at("A", entry) if entry is not None else z.zero
            terms = [(z.at("LU", a), z.at("LU", b)) for a, b in terms]
            value = z.less(start, terms)
            at = z.at("LU", self.number[r, c])
            if r == c:
                moduli = [z.modulus(start)] if entry is not None else []
                moduli += [f"{z.modulus(a)}*{z.modulus(b)}" for a, b in terms]
                lines += [f"{at} = {value};", z.check(f"{' + '.join(moduli)} < 1e11*{z.modulus(at)}"),
                          f"{at} = {z.inverse(at)};"]
            elif r > c:
                lines.append(f"{at} = {z.times(value, z.at('LU', self.number[c, c]))};")
                lines.append(z.check(f"{z.modulus(at)} <= 1e3"))
            else:
                lines.append(f"{at} = {value};")
        return "\n".join(wrapped(z.indent, lines))

    def _solve(self, z, transposed):
        lines, (forward, backward) = [], self.solve_steps(transposed)
        pivot = lambda k: z.at("LU", self.number[k, k])                             # noqa: E731
        for k, x, terms in forward:
            value = z.less(z.at("x", x), [(z.at("LU", a), f"y{c}") for a, c in terms])
            if transposed:
                value = z.times(value, pivot(k))
            lines.append(f"{z.const} y{k} = {value};")
        for k, x, terms in backward:
            value = z.less(f"y{k}", [(z.at("LU", a), z.at("x", c)) for a, c in terms])
            if not transposed:
                value = z.times(value, pivot(k))
            lines.append(f"{z.at('x', x)} = {value};")
        return "\n".join(wrapped("        ", lines))


class Number:
    indent = "    "

    @staticmethod
    def at(array, k):
        return f"{array}[{k}]"

    @staticmethod
    def check(condition):
        return f"safe &= {condition};"


class Real(Number):
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


class Lanes(Real):
    """Of lane l.  A selection is vectorised as the numbers are; `safe` as an integer would have another width."""
    indent = "        "

    @staticmethod
    def at(array, k):
        return f"{array}[{k}*L + l]"

    @staticmethod
    def times(value, factor):
        return f"({value})*{factor}" if " - " in value else f"{value}*{factor}"

    @staticmethod
    def check(condition):
        return f"safe = {condition} ? safe : 0.0;"


class Complex(Number):
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
    """(start of each column, rows) of a pattern that is sorted by columns"""
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


def ends(lists):
    """Where each of the lists begins, one behind the other, and where the last one ends"""
    out = [0]
    for one in lists:
        out.append(out[-1] + len(one))
    return out


def table(name, values):
    return "\n".join(listed(f"static const int {name}[] = {{", [str(v) for v in values], "};", 4))
