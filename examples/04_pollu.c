/* 04_pollu.c - which reactions make ozone?  Sensitivities to 25 rate constants from one adjoint run.

   The problem - a table of reactions, and all derivatives of its right-hand side - is in pollu.c.  The adjoint is
   compared with all 25 tangents (the same numbers, transposed) and with a finite difference. */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pollu.h"

enum { SPECIES = POLLU_SPECIES, REACTIONS = POLLU_REACTIONS, O3 = POLLU_O3 };

static double gradient[REACTIONS];         /* of ozone at the end, by log k */
static double tangents[SPECIES * REACTIONS];

static int by_size(const void *a, const void *b)
{
    double x = fabs(gradient[*(const int *)a]), y = fabs(gradient[*(const int *)b]);
    return (x < y) - (x > y);
}

static void print_reaction(int r)
{
    const int *in = pollu_reactions[r].in, *out = pollu_reactions[r].out;
    const char *plus = "";
    for (int i = 0; i < 2 && in[i]; i++, plus = " + ") printf("%s%s", plus, pollu_names[in[i] - 1]);
    plus = " -> ";
    for (int i = 0; i < 4 && out[i]; i++, plus = " + ") printf("%s%s", plus, pollu_names[out[i] - 1]);
    putchar('\n');
}

static void print_largest(double ozone)
{
    int order[REACTIONS];
    for (int r = 0; r < REACTIONS; r++) order[r] = r;
    qsort(order, REACTIONS, sizeof *order, by_size);
    printf("\nozone after 60 minutes: %.6e ppm; the ten reactions it depends on most\n\n", ozone);
    printf("      d log O3 / d log k   reaction\n");
    for (int i = 0; i < 10; i++) {
        printf("%+24.4f   %2d  ", gradient[order[i]] / ozone, order[i] + 1);
        print_reaction(order[i]);
    }
}

static double largest_error(const double *y)
{
    double most = 0;
    for (int i = 0; i < SPECIES; i++) most = fmax(most, fabs(y[i] / pollu_reference[i] - 1));
    return most;
}

/* d O3 / d log k[r], by two runs with their own steps */
static double by_difference(costate *c, int r)
{
    double y[2][SPECIES], k[REACTIONS], e = 1e-3;
    for (int side = 0; side < 2; side++) {
        pollu_constants(k);
        k[r] *= side ? exp(e) : exp(-e);
        memcpy(y[side], pollu_start, sizeof y[side]);
        if (costate_integrate(c, 0, 60, y[side], k, NULL) != COSTATE_OK) return NAN;
    }
    return (y[1][O3] - y[0][O3]) / (2 * e);
}

int main(void)
{
    double y[SPECIES], k[REACTIONS], lambda[SPECIES] = {[O3] = 1}, mu[REACTIONS] = {0};
    double directions[REACTIONS * REACTIONS] = {0}, gap = 0, most = 0;
    costate_options options = {.rtol = 1e-8, .atol = 1e-14, .autonomous = 1};
    costate *c = costate_new(NULL, &pollu_problem, &options);
    costate_tape *tape = costate_tape_new();
    memcpy(y, pollu_start, sizeof y);
    pollu_constants(k);
    for (int r = 0; r < REACTIONS; r++) directions[r * REACTIONS + r] = k[r];      /* direction r: log k[r] */
    int status = costate_integrate(c, 0, 60, y, k, tape);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    if (status == COSTATE_OK) status = costate_tangent(c, tape, REACTIONS, tangents, directions, NULL, NULL);
    if (status != COSTATE_OK) {
        fprintf(stderr, "%s\n", costate_message(c));
        return 1;
    }
    for (int r = 0; r < REACTIONS; r++) {
        gradient[r] = mu[r] * k[r];
        most = fmax(most, fabs(gradient[r]));
        gap = fmax(gap, fabs(gradient[r] - tangents[r * SPECIES + O3]));
    }
    print_largest(y[O3]);
    long steps = costate_get_stats(c)->accepted;
    double error = largest_error(y), difference = by_difference(c, 0);
    printf("\n%ld steps; state against the reference solution: largest relative error %.1e\n", steps, error);
    printf("reaction 1: adjoint %.8e, central difference %.8e\n", gradient[0], difference);
    printf("adjoint against 25 tangents: largest relative difference %.1e\n", gap / most);
    costate_tape_free(tape);
    costate_free(c);
    return !(gap <= 1e-12 * most && error < 1e-4 && fabs(difference / gradient[0] - 1) < 1e-4);
}
