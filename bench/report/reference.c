/* reference.c - reference files: n rows of y, tangent, gradient, little-endian doubles; and the distance to one. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "reference.h"

static void put(double x, unsigned char b[8])
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    for (int i = 0; i < 8; i++, bits >>= 8) b[i] = (unsigned char)(bits & 255);
}

static double get(const unsigned char b[8])
{
    uint64_t bits = 0;
    double x;
    for (int i = 7; i >= 0; i--) bits = bits << 8 | b[i];
    memcpy(&x, &bits, sizeof x);
    return x;
}

int reference_read(const char *name, int column, int n, double *out)
{
    unsigned char row[24];
    int i = 0;
    FILE *file = name ? fopen(name, "rb") : NULL;
    if (!file) return 0;
    for (; i < n && fread(row, 1, sizeof row, file) == sizeof row; i++) out[i] = get(row + 8 * column);
    int whole = i == n && fgetc(file) == EOF;
    fclose(file);
    return whole;
}

int reference_write(const char *name, int n, const double *y, const double *tangent, const double *gradient)
{
    unsigned char row[24];
    FILE *file = fopen(name, "wb");
    int ok = file != NULL;
    for (int i = 0; ok && i < n; i++) {
        put(y[i], row);
        put(tangent[i], row + 8);
        put(gradient[i], row + 16);
        ok = fwrite(row, sizeof row, 1, file) == 1;
    }
    if (file && fclose(file) != 0) ok = 0;
    return ok;
}

double reference_distance(int n, const double *x, const double *reference)
{
    double d = 0, s = 0;
    for (int i = 0; i < n; i++) {
        d += (x[i] - reference[i]) * (x[i] - reference[i]);
        s += reference[i] * reference[i];
    }
    return sqrt(d / s);
}
