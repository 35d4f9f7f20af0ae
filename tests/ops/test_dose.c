/* test_dose.c - a dose into a fast equilibrium: the step after an event is as short as the new transient asks, whatever
   the length of the steps before, so that the dense output after the dose is right, too.

       free' = -k free + koff bound - ke free,  bound' = k free - koff bound,  free += 100 at t = 24 */
#include "common.h"

static const double FAST = 1e5, BACK = 1e4, OUT = 0.2, GIVEN = 24, END = 30;

static int value(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[1] = FAST * x->y[0] - BACK * x->y[1];
    out[0] = -out[1] - OUT * x->y[0];
    return 0;
}

static int jacobian(const costate_point *x, double *J, void *ctx)
{
    (void)x, (void)ctx;
    J[0] = -FAST - OUT, J[1] = FAST, J[2] = BACK, J[3] = -BACK;
    return 0;
}

static int dose(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->y[0] + 100;
    out[1] = x->y[1];
    return 0;
}

/* y(t) from y(0), by the eigenvalues of J */
static void later(double t, double *y)
{
    double trace = -FAST - OUT - BACK, det = OUT * BACK, root = sqrt(trace * trace / 4 - det);
    double fast = trace / 2 - root, slow = det / fast, a[2], b[2];
    const double J[2][2] = {{-FAST - OUT, BACK}, {FAST, -BACK}};
    for (int i = 0; i < 2; i++) {
        double Jy = J[i][0] * y[0] + J[i][1] * y[1];
        a[i] = (Jy - slow * y[i]) / (fast - slow);
        b[i] = y[i] - a[i];
    }
    for (int i = 0; i < 2; i++) y[i] = a[i] * exp(fast * t) + b[i] * exp(slow * t);
}

static void is_followed(void **state)
{
    const costate_method *m = *state;
    static const double times[] = {24}, after[] = {1e-5, 1e-4, 1e-2, 0.08, 1, 5};
    if (is_explicit(m)) skip();
    NEEDS_ESTIMATE(m);
    const costate_event given = {.ntimes = 1, .times = times, .jump = {.value = dose}, .from = COSTATE_ANY_MODE,
                                 .to = COSTATE_SAME_MODE};
    const costate_problem P = {.n = 2, .rhs = {.value = value}, .jac = jacobian, .event = &given, .nevents = 1};
    for (int k = 0; k < 3; k++) {
        double rtol = k == 0 ? 1e-3 : k == 1 ? 1e-4 : 1e-6, y[2] = {1, 10}, end[2] = {1, 10};
        if (rtol < 1e-4 && method_info(m).order < 3) continue;
        costate *c = new_for_test(m, &P, &(costate_options){.rtol = rtol, .atol = rtol, .differences = 1,
                                                            .max_steps = 100000});
        costate_tape *tape = costate_tape_new();
        CHECK_OK(c, costate_integrate(c, 0, END, y, NULL, tape));
        later(GIVEN, end);
        end[0] += 100;
        for (int i = 0; i < 6; i++) {
            double u[2], truth[2] = {end[0], end[1]};
            later(after[i], truth);
            CHECK_OK(c, costate_tape_eval(c, tape, GIVEN + after[i], u));
            double error = relative_gap(2, u, truth);
            if (!(error <= 0.03)) fail_msg("%s, %g, %g after the dose: %.3g, %.3g for %.3g, %.3g", method_name(m), rtol,
                                           after[i], u[0], u[1], truth[0], truth[1]);
        }
        costate_tape_free(tape);
        costate_free(c);
    }
}

int main(void) { return run_by_method("a dose into a fast equilibrium", is_followed); }
