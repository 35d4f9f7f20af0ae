/* bouncing.c - a ball on a vibrating table: its impacts, and how the drop height moves it before and after each of
   them; data for a picture.

       y' = v,  v' = -g;   where y = z(t) = A sin w t:  v := z' - e (v - z')

   The derivatives by the height at which the ball was dropped jump at each impact, which comes later from higher up:
   that of y by the change of speed, times minus the derivative of the time of the impact. */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>

enum { POINTS = 60, MOST = 64 };                    /* points between two impacts, and most impacts */
static const double G = 9.81, E = 0.85, AMPLITUDE = 0.04, OMEGA = 14, HEIGHT = 0.8, T = 2.6;

static double table(double t) { return AMPLITUDE * sin(OMEGA * t); }
static double table_speed(double t) { return AMPLITUDE * OMEGA * cos(OMEGA * t); }

static int f(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[1];
    out[1] = -G;
    return (void)ctx, 0;
}
static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    out[0] = dx->y ? dx->y[1] : 0;
    out[1] = 0;
    return (void)x, (void)ctx, 0;
}

static int gap(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = x->y[0] - table(x->t), 0; }
static int gap_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return (void)ctx, out[0] = (dx->y ? dx->y[0] : 0) - table_speed(x->t) * dx->t, 0;
}

static int bounce(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[0];
    out[1] = (1 + E) * table_speed(x->t) - E * x->y[1];
    return (void)ctx, 0;
}
static int bounce_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    double acceleration = -OMEGA * OMEGA * table(x->t);
    out[0] = dx->y ? dx->y[0] : 0;
    out[1] = (1 + E) * acceleration * dx->t - (dx->y ? E * dx->y[1] : 0);
    return (void)ctx, 0;
}

static const costate_event impact = {.guard = {.value = gap, .tangent = gap_tangent}, .direction = -1,
                                     .jump = {.value = bounce, .tangent = bounce_tangent}, .to = COSTATE_SAME_MODE};

/* t y v dy dv table, a line a point; an empty line where an impact breaks the curves */
static int write_point(int k, double t, const double *y, int m, const double *V, void *ctx)
{
    fprintf(ctx, "%s%.9g %.9g %.9g %.9g %.9g %.9g\n", k > 0 && k % POINTS == 0 ? "\n" : "", t, y[0], y[1], V[0], V[1],
            table(t));
    return (void)m, 0;
}

/* times strictly inside the segments between impacts */
static int segments(const costate_tape *tape, double *t)
{
    int count = 0, events = costate_tape_events(tape);
    double from = 0, to;
    for (int k = 0; k <= events && k < MOST; k++) {
        to = T;
        if (k < events) costate_tape_event(tape, k, &to, NULL, NULL, NULL);
        for (int i = 0; i < POINTS; i++) t[count++] = from + (to - from) * (1e-6 + (1 - 2e-6) * i / (POINTS - 1));
        from = to;
    }
    return count;
}

static void write_impacts(const costate_tape *tape, FILE *file)
{
    double t, before[2], after[2];
    fprintf(file, "\n\n");
    printf("%12s %12s %12s %12s\n", "impact at", "height", "speed", "speed after");
    for (int k = 0; k < costate_tape_events(tape); k++) {
        costate_tape_event(tape, k, &t, NULL, before, after);
        printf("%12.8f %12.8f %12.8f %12.8f\n", t, before[0], before[1], after[1]);
        fprintf(file, "%.9g %.9g\n", t, before[0]);
    }
}

static int draw(costate *c, FILE *file)
{
    static double times[(MOST + 1) * POINTS];
    double y[2] = {HEIGHT, 0}, V[2] = {1, 0};
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, 0, T, y, NULL, tape);
    costate_observations all = {.count = segments(tape, times), .t = times, .value = write_point, .ctx = file};
    if (status == COSTATE_OK) status = costate_tangent(c, tape, 1, V, NULL, NULL, &all);
    if (status == COSTATE_OK) write_impacts(tape, file);
    else fprintf(stderr, "hybrid_demo: %s\n", costate_message(c));
    printf("at t = %g: dy/dheight = %.6f, dv/dheight = %.6f\n", T, V[0], V[1]);
    costate_tape_free(tape);
    return status != COSTATE_OK;
}

int main(int argc, char **argv)
{
    costate_problem problem = {.n = 2, .rhs = {.value = f, .tangent = f_tangent}, .nevents = 1, .event = &impact};
    costate_options options = {.rtol = 1e-9, .atol = 1e-9, .autonomous = 1,
                               .hmax = 0.02};      /* the table moves faster than the error tells: there is none */
    FILE *file = argc > 1 ? fopen(argv[1], "w") : stdout;
    if (!file) return perror(argv[1]), 1;
    printf("A ball on a vibrating table, dropped from %g m (dopri5):\n", HEIGHT);
    costate *c = costate_new(costate_method_find("dopri5"), &problem, &options);
    int wrong = draw(c, file);
    costate_free(c);
    return (argc > 1 && fclose(file) != 0) || wrong;
}
