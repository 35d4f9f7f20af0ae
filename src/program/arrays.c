/* arrays.c - products of matrices and vectors on registers; codegen/equations/array_code.py says what the numbers are.

   Sums are taken in the order of the C that costate-model prints (codegen/equations/array_text.py): from the first
   column to the last. */
#include "program/program.h"

/* r[at[0]...] = M x: out, M, by_row, by_column, x, step, rows, columns.  Four rows at once: their sums do not wait for
   each other. */
void array_times(const uint16_t *at, double *r)
{
    const double *const M = r + at[1], *const x = r + at[4];
    const int by_row = at[2], by_column = at[3], step = at[5], rows = at[6], columns = at[7];
    double *restrict out = r + at[0];
    int i = 0;
    if (by_row == 1) {
        for (; i < rows; i++) out[i] = M[i] * x[0];
        for (int j = 1; j < columns; j++) {
            const double *a = M + (size_t)j * (size_t)by_column, z = x[j * step];
            for (i = 0; i < rows; i++) out[i] += a[i] * z;
        }
    }
    for (; i + 4 <= rows; i += 4) {
        const double *a = M + i * by_row, *b = a + by_row, *c = b + by_row, *d = c + by_row;
        double s = a[0] * x[0], t = b[0] * x[0], u = c[0] * x[0], v = d[0] * x[0];
        for (int j = 1; j < columns; j++) {
            const int k = j * by_column;
            const double z = x[j * step];
            s += a[k] * z, t += b[k] * z, u += c[k] * z, v += d[k] * z;
        }
        out[i] = s, out[i + 1] = t, out[i + 2] = u, out[i + 3] = v;
    }
    for (; i < rows; i++) {
        const double *a = M + i * by_row;
        out[i] = a[0] * x[0];
        for (int j = 1; j < columns; j++) out[i] += a[j * by_column] * x[j * step];
    }
}

/* r[at[0]...] = x y^T: out, x, step_x, y, step_y, rows, columns.  It is added to zeros, as in C: a product -0 becomes
   0. */
void array_outer(const uint16_t *at, double *r)
{
    const double *const x = r + at[1], *const y = r + at[3];
    double *restrict out = r + at[0];
    for (int i = 0; i < at[5]; i++)
        for (int j = 0; j < at[6]; j++) out[i * at[6] + j] = 0 + x[i * at[2]] * y[j * at[4]];
}

/* to += x y^T, or -= where the first number is 1: subtracted, x, step_x, y, step_y, rows, columns, first, by_row,
   by_column */
void array_add_outer(const uint16_t *at, const double *r, double *restrict to)
{
    const double *const x = r + at[1], *const y = r + at[3];
    for (int i = 0; i < at[5]; i++) {
        const double z = at[0] ? -x[i * at[2]] : x[i * at[2]];
        double *const row = to + at[7] + i * at[8];
        for (int j = 0; j < at[6]; j++) row[j * at[9]] += z * y[j * at[4]];
    }
}
