/* fmi.c - the functions that costate calls over those of an FMU: in place of an FMU a decay chain of two states and two
   parameters, whose functions have the types of the headers of FMI 3.0.  All products agree with differences, and the
   gradient with tangents. */
#include <costate/costate.h>
#include <stddef.h>
#include <stdint.h>

typedef void *fmi3Instance;
typedef uint32_t fmi3ValueReference;
typedef double fmi3Float64;
typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;

typedef struct { double t, y[2], p[2]; } chain;

static fmi3Status fmi3SetTime(fmi3Instance instance, fmi3Float64 time)
{
    ((chain *)instance)->t = time;
    return fmi3OK;
}

static fmi3Status fmi3SetContinuousStates(fmi3Instance instance, const fmi3Float64 y[], size_t count)
{
    if (count != 2) return fmi3Error;
    for (size_t i = 0; i < count; i++) ((chain *)instance)->y[i] = y[i];
    return fmi3OK;
}

static fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance instance, fmi3Float64 out[], size_t count)
{
    const chain *c = instance;
    if (count != 2) return fmi3Error;
    out[0] = -c->p[0] * c->y[0];
    out[1] = c->p[0] * c->y[0] - c->p[1] * c->y[1];
    return fmi3OK;
}

/* row `unknown` of the Jacobian with respect to y0, y1, p0, p1 */
static double jacobian(const chain *c, fmi3ValueReference unknown, fmi3ValueReference known)
{
    const double of[2][4] = {{-c->p[0], 0, -c->y[0], 0}, {c->p[0], -c->p[1], c->y[0], -c->y[1]}};
    return of[unknown - 10][known];
}

static fmi3Status fmi3GetDirectionalDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                               size_t nUnknowns, const fmi3ValueReference knowns[], size_t nKnowns,
                                               const fmi3Float64 seed[], size_t nSeed, fmi3Float64 sensitivity[],
                                               size_t nSensitivity)
{
    if (nSeed != nKnowns || nSensitivity != nUnknowns) return fmi3Error;
    for (size_t i = 0; i < nUnknowns; i++) {
        sensitivity[i] = 0;
        for (size_t j = 0; j < nKnowns; j++) sensitivity[i] += jacobian(instance, unknowns[i], knowns[j]) * seed[j];
    }
    return fmi3OK;
}

static fmi3Status fmi3GetAdjointDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                           size_t nUnknowns, const fmi3ValueReference knowns[], size_t nKnowns,
                                           const fmi3Float64 seed[], size_t nSeed, fmi3Float64 sensitivity[],
                                           size_t nSensitivity)
{
    if (nSeed != nUnknowns || nSensitivity != nKnowns) return fmi3Error;
    for (size_t j = 0; j < nKnowns; j++) {
        sensitivity[j] = 0;
        for (size_t i = 0; i < nUnknowns; i++) sensitivity[j] += jacobian(instance, unknowns[i], knowns[j]) * seed[i];
    }
    return fmi3OK;
}

@ fmi typedef struct {                                    /* one instance for each thread */

/* f sets the parameters of the model, as a program would before the initialisation: checks vary them */
static int f_of_p(const costate_point *x, double *out, void *ctx)
{
    chain *c = ((fmu *)ctx)->instance;
    for (int i = 0; i < 2; i++) c->p[i] = x->p[i];
    return f(x, out, ctx);
}

int main(void)
{
    static const fmi3ValueReference derivatives[] = {10, 11}, knowns[] = {0, 1, 2, 3};
    double y[2] = {1, 0.5}, p[2] = {2, 0.3}, seed[4], result[4];
    chain model = {.p = {2, 0.3}};
    fmu m = {&model, 2, 2, derivatives, knowns, seed, result};
    costate_problem problem = {.n = 2, .np = 2, .ctx = &m,
                               .rhs = {.value = f_of_p, .tangent = f_tangent, .adjoint = f_adjoint}};
    costate_options options = {.autonomous = 1};
    costate_point x = {.t = 0, .y = y, .p = p};
    costate_report report;
    if (costate_check_problem(&problem, &x, &report, NULL) != COSTATE_OK) return 1;
    model.p[0] = p[0];
    model.p[1] = p[1];
    problem.rhs.value = f;
    costate *c = costate_new(costate_method_find("radau2a"), &problem, &options);
    double lambda[2] = {0, 1}, mu[2] = {0}, V[2] = {0}, Vp[2] = {1, 0};
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, 0, 2, y, p, tape);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    if (status == COSTATE_OK) status = costate_tangent(c, tape, 1, V, Vp, NULL, NULL);
    double gap = V[1] - mu[0];
    costate_tape_free(tape);
    costate_free(c);
    return status != COSTATE_OK || mu[0] == 0 || gap > 1e-12 || gap < -1e-12;
}
