/* 36_ozone.c - what does ozone depend on?  All rate constants, emissions and fixed species in one adjoint run.

   models/smog is a mechanism in the format of the Kinetic PreProcessor, from which costate-model makes C.  The run
   starts at midnight and ends at noon of the second day, with the sun as a function of t (seconds), so that the problem
   is not autonomous.  The linear systems are solved by smog_backend(), elimination in the pattern of the mechanism.

   Each reaction has a parameter: k_LABEL, its rate constant, or f_LABEL, a factor of its rate.  One sweep back over the
   tape gives d ln O3 / d ln p for all of them.  Two are compared with central differences of runs, and all with
   tangents, which are the same numbers transposed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "smog.h"

enum { N = smog_states, K = smog_parameters };
static const double noon = 36 * 3600.0, ppb = 2.46e10;              /* seconds; molecules per cm^3, as CFACTOR/1000 */

static double sensitivity[K];               /* d ln O3 / d ln p */

static int by_size(const void *a, const void *b)
{
    double x = fabs(sensitivity[*(const int *)a]), y = fabs(sensitivity[*(const int *)b]);
    return (x < y) - (x > y);
}

/* ozone at noon with p[k] multiplied by a factor */
static double ozone(costate *c, int k, double factor)
{
    double y[N], p[K];
    memcpy(p, smog_defaults, sizeof p);
    p[k] *= factor;
    smog_start(0, p, y);
    return costate_integrate(c, 0, noon, y, p, NULL) == COSTATE_OK ? y[smog_O3] : NAN;
}

int main(void)
{
    const costate_options options = {.rtol = 1e-7, .atol = 1e-3, .backend = smog_backend()};
    const double *p = smog_defaults, e = 1e-3;
    const int compared[] = {smog_f_J1, smog_k_E1};
    double y[N], lambda[N] = {[smog_O3] = 1}, mu[K] = {0}, V[N * K] = {0}, Vp[K * K] = {0}, most = 0, gap = 0, off = 0;
    int order[K];
    costate *c = costate_new(costate_method_find("rodas4"), smog_problem(), &options);
    costate_tape *tape = costate_tape_new();
    smog_start(0, p, y);
    for (int k = 0; k < K; k++) order[k] = k, Vp[k * K + k] = p[k];                     /* direction k: ln p[k] */
    int status = costate_integrate(c, 0, noon, y, p, tape);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    if (status == COSTATE_OK) status = costate_tangent(c, tape, K, V, Vp, NULL, NULL);
    if (status != COSTATE_OK) return puts(costate_message(c)), 1;
    for (int k = 0; k < K; k++) {
        sensitivity[k] = mu[k] * p[k] / y[smog_O3];
        most = fmax(most, fabs(sensitivity[k]));
        gap = fmax(gap, fabs(sensitivity[k] - V[k * N + smog_O3] / y[smog_O3]));
    }
    qsort(order, K, sizeof *order, by_size);
    printf("%d steps; ozone at noon of the second day: %.1f ppb\n", costate_tape_steps(tape), y[smog_O3] / ppb);
    printf("d ln O3 / d ln p\n");
    for (int i = 0; i < K; i++) printf("%+15.5f  %s\n", sensitivity[order[i]], smog_parameter_names[order[i]]);
    for (int i = 0; i < 2; i++) {
        int k = compared[i];
        double difference = log(ozone(c, k, exp(e)) / ozone(c, k, exp(-e))) / (2 * e);
        printf("%s: adjoint %.6f, central difference %.6f\n", smog_parameter_names[k], sensitivity[k], difference);
        off = fmax(off, fabs(difference / sensitivity[k] - 1));
    }
    printf("largest relative gap: of differences %.1e, of tangents %.1e\n", off, gap / most);
    costate_tape_free(tape);
    costate_free(c);
    return !(off < 1e-4 && gap < 1e-12 * most);
}
