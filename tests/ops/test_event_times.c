/* test_event_times.c - gradients by times and thresholds of events are what they are said to be: of a closed form.

   An oscillator, sin t from t0 = 0: where it rises to 0.3 - s its y1 grows by 1, at T = 1.2 it doubles; y1(2) by s, T,
   t0 and t1, and by the parameter of the guard. */
#include "clockwork.h"

static const double given = 1.2;

/* the oscillator after a time */
static void turn(double *y, double by)
{
    double c = cos(by), s = sin(by), y0 = y[0];
    y[0] = c * y0 + s * y[1];
    y[1] = c * y[1] - s * y0;
}

/* x: s, T, t0, t1, each as a difference from its value */
static double closed_form(const double *x)
{
    double level = 0.3 - x[0], t0 = x[2], rise = t0 + asin(level), y[2] = {1 + level, cos(asin(level))};
    turn(y, given + x[1] - rise);
    y[0] *= 2;
    turn(y, 2 + x[3] - given - x[1]);
    return y[0];
}

/* differences of 8th order */
static double by(int k)
{
    static const double w[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}, e = 1e-2;
    double sum = 0;
    for (int i = 1; i <= 4; i++) {
        double up[4] = {0}, down[4] = {0};
        up[k] = i * e;
        down[k] = -i * e;
        sum += w[i - 1] * (closed_form(up) - closed_form(down)) / e;
    }
    return sum;
}

static void gradient(void **state)
{
    const costate_method *m = *state;
    costate_method_info info = method_info(m);
    clockwork w;
    double y[CLOCK_ROWS], lambda[CLOCK_ROWS] = {[1] = 1}, mu[2] = {0}, by_events[2], t0, t1;
    const double none[4] = {0};
    if (!info.embedded || info.order < 4) skip();
    clock_wind(&w, 2, 0, 0.3);
    w.event[0].guard = clock_sine_guard;
    w.event[0].direction = w.event[0].passes = 1;
    w.event[0].jump = clock_one_more;
    w.event[1].times = &given;
    w.event[1].ntimes = 1;
    w.event[1].jump = clock_twice;
    w.o.rtol = w.o.atol = 1e-9;
    w.o.max_steps = 1000000;
    costate_tape *tape = costate_tape_new();
    costate *c = clock_run(&w, m, 0, 2, y, tape);
    assert_true(w.count == 2 && fabs(y[1] - closed_form(none)) <= 1e-7);
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, &(costate_times){.t0 = &t0, .t1 = &t1, .events = by_events},
                                NULL));
    const double found[] = {by_events[0], by_events[1], t0, t1, mu[1], mu[0]};
    const double exact[] = {by(0), by(1), by(2), by(3), -by(0), 0};         /* the guard is y1 - p1 */
    for (int k = 0; k < 6; k++)
        if (!(fabs(found[k] - exact[k]) <= 1e-6))
            fail_msg("%s: gradient %d: %.9f, not %.9f", method_name(m), k, found[k], exact[k]);
    costate_free(c);
    costate_tape_free(tape);
}

int main(void) { return run_by_method("gradients by times of events", gradient); }
