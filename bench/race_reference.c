/* race_reference.c - references: made by tight runs of another method, kept in files. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "race.h"

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

int race_reference_read(const char *name, int column, int n, double *out)
{
    unsigned char row[24];
    int i = 0;
    FILE *file = fopen(name, "rb");
    if (!file) return 0;
    for (; i < n && fread(row, 1, sizeof row, file) == sizeof row; i++) out[i] = get(row + 8 * column);
    int whole = i == n && fgetc(file) == EOF;
    fclose(file);
    return whole;
}

static int write_rows(const char *name, int n, const double *y, const double *tangent, const double *gradient)
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

/* An explicit method of order 8 where it is not stiff; Radau IIA of order 9 where it is. */
int race_reference_make(const race_task *like, const ivp *b, const char *name, race_result *r)
{
    race_task task = *like;
    race_result tangent = {0}, gradient = {0};
    task.code = b->stiff ? "costate:radau2a5" : "costate:dopri853";
    task.rtol = b->stiff ? 1e-12 : 1e-13;
    task.atol = task.rtol * b->atol;
    task.repeat = task.directions = 1;
    task.budget = 0;
    task.pairs = task.sensitivity_error = 0;
    task.storage = COSTATE_STATES_ONLY;
    task.mode = RACE_TLM;
    if (race_costate(&task, b, &tangent) != COSTATE_OK) race_fail(r, tangent.status, tangent.message);
    task.mode = RACE_ADJ;
    if (r->status == COSTATE_OK && race_costate(&task, b, &gradient) != COSTATE_OK)
        race_fail(r, gradient.status, gradient.message);
    if (r->status == COSTATE_OK && !write_rows(name, b->P.n, gradient.y, tangent.derivative, gradient.derivative))
        race_fail(r, COSTATE_BAD_ARGUMENT, "cannot write the reference");
    race_result_free(&tangent);
    race_result_free(&gradient);
    return r->status;
}

double race_distance(int n, const double *x, const double *reference)
{
    double d = 0, s = 0;
    for (int i = 0; i < n; i++) {
        d += (x[i] - reference[i]) * (x[i] - reference[i]);
        s += reference[i] * reference[i];
    }
    return sqrt(d / s);
}
