"""The statements of C for arrays of a graph (arrays.py), and the functions that they call."""
from .arrays import PRODUCTS
from .calls import MOST_ORDERS
from .calls_text import wrapper

TIMES = """\
/* out = M x; element (i, j) of M is M[i*by_row + j*by_column].  Four rows at once: their sums do not wait for each
   other, and each is taken from the first column to the last. */
static void matrix_times(int rows, int columns, const double *M, int by_row, int by_column, const double *x, int step,
                         double *restrict out)
{
    int i = 0;
    if (by_row == 1) {
        for (; i < rows; i++) out[i] = M[i]*x[0];
        for (int j = 1; j < columns; j++) {
            const double *a = M + (size_t)j*by_column, z = x[(size_t)j*step];
            for (i = 0; i < rows; i++) out[i] += a[i]*z;
        }
    }
    for (; i + 4 <= rows; i += 4) {
        const double *a = M + (size_t)i*by_row, *b = a + by_row, *c = b + by_row, *d = c + by_row;
        double s = a[0]*x[0], t = b[0]*x[0], u = c[0]*x[0], v = d[0]*x[0];
        for (int j = 1; j < columns; j++) {
            const size_t k = (size_t)j*by_column;
            const double z = x[(size_t)j*step];
            s += a[k]*z, t += b[k]*z, u += c[k]*z, v += d[k]*z;
        }
        out[i] = s, out[i + 1] = t, out[i + 2] = u, out[i + 3] = v;
    }
    for (; i < rows; i++) {
        const double *a = M + (size_t)i*by_row;
        out[i] = a[0]*x[0];
        for (int j = 1; j < columns; j++) out[i] += a[(size_t)j*by_column]*x[(size_t)j*step];
    }
}
"""
OUTER = """\
/* M += sign x y^T */
static void add_outer(int rows, int columns, double sign, const double *x, int step_x, const double *y, int step_y,
                      double *restrict M, int by_row, int by_column)
{
    for (int i = 0; i < rows; i++) {
        const double z = sign*x[(size_t)i*step_x];
        for (int j = 0; j < columns; j++) M[(size_t)i*by_row + (size_t)j*by_column] += z*y[(size_t)j*step_y];
    }
}
"""
HELPERS = {"matrix_times": TIMES, "add_outer": OUTER}


class ArrayText:
    """Part of Body."""

    def _arrays(self):
        """The arrays that are temporaries: those that are used and are not variables, where they are"""
        found = set()
        for a in self.order:
            key = self.g.nodes[a]
            if key[0] in PRODUCTS:
                found |= {b for b, *shape in self.g.operands(a) if not self.g.block(b, *shape)}
            elif key[0] == "el":
                found.add(key[2])
        return found

    def _array(self, a, lines, indent):
        g, key, declared = self.g, self.g.nodes[a], a in self.texts
        if not declared:
            self._take_name(a)
        name = self.texts[a][0]
        if key[0] == "arr" and not declared:
            kind = "static const" if g.is_table(a) else "const"
            values = ", ".join(self._inline(b)[0] for b in key[1:])
            self._wrap(f"{indent}{kind} double {name}[] = {{{values}}};", lines, indent)
        elif key[0] == "arr":
            for k, b in enumerate(key[1:]):
                self._wrap(f"{indent}{name}[{k}] = {self._inline(b)[0]};", lines, indent)
        else:
            if not declared:
                lines.append(f"{indent}double {name}{self._size(a)};")
            if key[0] == "jet":
                self._wrap(f"{indent}{self._jet(a, name)};", lines, indent)
            elif key[0] == "outer":
                columns = g.length(key[2])
                lines.append(f"{indent}{self._outer(a, 1, name, columns, 1)};")
            else:
                lines.append(f"{indent}{self._times(a, name)};")

    def _size(self, a):
        """in its declaration; outer products are added to zeros"""
        return f"[{self.g.length(a)}]" + " = {0}"*(self.g.nodes[a][0] == "outer")

    def _operand(self, A, rows, columns):
        """(text of a pointer, distances of rows and of columns)"""
        block = self.g.block(A, rows, columns)
        if block:
            return self.name(("block", block.space, block.first, ())), block.by_row, block.by_column
        return self.texts[A][0], columns, 1

    def _times(self, a, name):
        rows, columns, transposed = self.g.nodes[a][1]
        (M, by_row, by_column), (x, _, step) = (self._operand(*operand) for operand in self.g.operands(a))
        if transposed:
            rows, columns, by_row, by_column = columns, rows, by_column, by_row
        return f"matrix_times({rows}, {columns}, {M}, {by_row}, {by_column}, {x}, {step}, {name})"

    def _jet(self, a, name):
        """The call of a function in C: value, gradient, Hessian and third derivatives, or NULL"""
        _, (function, orders), *arguments = self.g.nodes[a]
        at, places = 0, []
        for order in range(MOST_ORDERS + 1):
            places.append((f"{name} + {at}" if at else name) if order in orders else "NULL")
            at += len(arguments)**order if order in orders else 0
        values = ", ".join(self._inline(b)[0] for b in arguments)
        return f"{wrapper(function)}((const double[]){{{values}}}, {', '.join(places)})"

    def _outer(self, a, sign, array, by_row, by_column):
        (x, _, step_x), (y, _, step_y) = (self._operand(*operand) for operand in self.g.operands(a))
        rows, columns = (self.g.length(z) for z in self.g.nodes[a][1:])
        return f"add_outer({rows}, {columns}, {sign}, {x}, {step_x}, {y}, {step_y}, {array}, {by_row}, {by_column})"
