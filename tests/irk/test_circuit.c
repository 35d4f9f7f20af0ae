/* test_circuit.c - an index-1 circuit whose capacitances couple its nodes: a method that takes a singular M ends the
   run, with errors in proportion to the tolerance and few rejected steps.

   A transistor stage that feeds a rectifier, in V, mA, kOhm, uF, ms:

       u(t) - R1 - 1 - C1 - 2 (base)    3 (collector) - C3 - 5 - diode - 6 (R6 and C6 to ground)
       R2a, R2b: 2 to supply, ground    R3: 3 to supply    R5: 5 to ground    R4 and C4: 4 (emitter) to ground

   C v' = f(t, v):  C is singular, as the pairs {1, 2} and {3, 5} have no capacitance to anything else: its kernel is
   spanned by (1,1,0,0,0,0) and (0,0,1,0,1,0), and the currents into each pair add up to 0.  The start is that of
   capacitors without charge at the moment of switching on. */
#include "step/method.h"
#include "common.h"

enum { N = 6, KERNEL = 2 };

static const double SUPPLY = 6, R1 = 1, R2A = 20, R2B = 5, R3 = 1, R4 = 0.3, R5 = 5, R6 = 20;
static const double C1 = 0.5, C3 = 0.3, C4 = 2, C6 = 1;
static const double UT = 0.026, SATURATION = 1e-6, ALPHA = 0.99;
static const int kernel[KERNEL][2] = {{0, 1}, {2, 4}};

static double junction(double u) { return SATURATION * (exp(u / UT) - 1); }
static double conductance(double u) { return SATURATION * exp(u / UT) / UT; }

static int currents(const costate_point *x, double *f, void *ctx)
{
    const double *v = x->y;
    double u = 0.2 * sin(1.5 * x->t), base = junction(v[1] - v[3]), diode = junction(v[4] - v[5]);
    (void)ctx;
    f[0] = (u - v[0]) / R1;
    f[1] = (SUPPLY - v[1]) / R2A - v[1] / R2B - (1 - ALPHA) * base;
    f[2] = (SUPPLY - v[2]) / R3 - ALPHA * base;
    f[3] = base - v[3] / R4;
    f[4] = -v[4] / R5 - diode;
    f[5] = diode - v[5] / R6;
    return 0;
}

static int jacobian_of(const costate_point *x, double *J, void *ctx)
{
    const double *v = x->y;
    double base = conductance(v[1] - v[3]), diode = conductance(v[4] - v[5]);
    const double diagonal[N] = {1 / R1, 1 / R2A + 1 / R2B + (1 - ALPHA) * base, 1 / R3, base + 1 / R4, 1 / R5 + diode,
                                diode + 1 / R6};
    (void)ctx;
    memset(J, 0, N * N * sizeof *J);
    for (int i = 0; i < N; i++) J[i * N + i] = -diagonal[i];
    J[3 * N + 1] = (1 - ALPHA) * base;
    J[1 * N + 2] = -ALPHA * base;
    J[3 * N + 2] = ALPHA * base;
    J[1 * N + 3] = base;
    J[5 * N + 4] = J[4 * N + 5] = diode;
    return 0;
}

static int along(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    double J[N * N];
    jacobian_of(x, J, ctx);
    for (int i = 0; i < N; i++) out[i] = 0;
    for (int j = 0; dx->y && j < N; j++)
        for (int i = 0; i < N; i++) out[i] += J[j * N + i] * dx->y[j];
    out[0] += 0.2 * 1.5 * cos(1.5 * x->t) / R1 * dx->t;
    return 0;
}

static void couple(double *M, int i, int j, double C)
{
    M[i * N + i] += C;
    M[j * N + j] += C;
    M[i * N + j] -= C;
    M[j * N + i] -= C;
}

static int capacitances(double *M, void *ctx)
{
    (void)ctx;
    memset(M, 0, N * N * sizeof *M);
    couple(M, 0, 1, C1);
    couple(M, 2, 4, C3);
    M[3 * N + 3] = C4;
    M[5 * N + 5] = C6;
    return 0;
}

static const costate_problem circuit = {.n = N, .rhs = {.value = currents, .tangent = along}, .jac = jacobian_of,
                                        .mass = capacitances};

/* v += sum a_k kernel_k, which lessens the currents into each pair by g: a Newton step of the constraints, no longer
   than UT */
static double correct(const double *at, const double *g, double *v)
{
    const costate_point x = {.y = at};
    double J[N * N], K[KERNEL][KERNEL] = {{0}};
    jacobian_of(&x, J, NULL);
    for (int k = 0; k < KERNEL; k++)
        for (int l = 0; l < KERNEL; l++)
            for (int i = 0; i < 4; i++) K[k][l] += J[kernel[l][i / 2] * N + kernel[k][i % 2]];
    double det = K[0][0] * K[1][1] - K[0][1] * K[1][0];
    const double a[KERNEL] = {(K[0][1] * g[1] - K[1][1] * g[0]) / det, (K[1][0] * g[0] - K[0][0] * g[1]) / det};
    double most = fmax(fabs(a[0]), fabs(a[1]));
    for (int k = 0; k < KERNEL; k++)
        for (int i = 0; i < 2; i++) v[kernel[k][i]] += a[k] * (most > UT ? UT / most : 1);
    return most;
}

static void into_pairs(const double *f, double *g)
{
    for (int k = 0; k < KERNEL; k++) g[k] = f[kernel[k][0]] + f[kernel[k][1]];
}

static void switched_on(double *v)
{
    const costate_point at = {.y = v};
    double f[N], g[KERNEL], change = 1;
    memset(v, 0, N * sizeof *v);
    for (int it = 0; it < 500 && change > 1e-15; it++) {
        currents(&at, f, NULL);
        into_pairs(f, g);
        change = correct(v, g, v);
    }
    assert_true(change < 1e-12);
}

/* dv: C1 has some charge more, and the constraints still hold */
static void charged(const double *v, double *dv)
{
    double J[N * N], f[N], g[KERNEL];
    const costate_point at = {.y = v};
    const double charge[N] = {1e-2};
    jacobian_of(&at, J, NULL);
    memcpy(dv, charge, N * sizeof *dv);
    for (int i = 0; i < N; i++) { f[i] = 0; for (int j = 0; j < N; j++) f[i] += J[j * N + i] * dv[j]; }
    into_pairs(f, g);
    assert_true(correct(v, g, dv) < UT);
}

static const double END = 12;

/* by two methods of different families; a method is compared with the other's */
static const double *reference(const costate_method *m)
{
    static const char *const names[] = {"rodas5p", "radau2a5"};
    static double v[2][N];
    static int known;
    for (int k = 0; !known && k < 2; k++) {
        const costate_options o = {.rtol = 1e-11, .atol = 1e-11};
        costate *c = costate_new(costate_method_find(names[k]), &circuit, &o);
        switched_on(v[k]);
        CHECK_OK(c, costate_integrate(c, 0, END, v[k], NULL, NULL));
        costate_free(c);
    }
    known = 1;
    assert_true(largest_gap(N, v[0], v[1]) < 1e-9);
    return v[m == costate_method_find("rodas5p")];
}

/* Those at switching on and where the diode opens and closes may fail. */
static void few_rejected(const costate *c, double tol)
{
    const costate_stats *s = costate_get_stats(c);
    if (s->rejected - s->newton_failures > 15 + s->accepted / 5)
        fail_msg("at %g: %ld steps rejected by the error test, %ld accepted", tol, s->rejected - s->newton_failures,
                 s->accepted);
}

/* sdirk: how many times its estimate the error of one step of y' = -y, y(0) = 1, h = 1 is, about the longest that a
   decay allows: with the stages Z of y' = -y, Z = -A (Z + 1) - a, the error is that of 1 + d Z, and the estimate
   (e Z - e0)/(1 + gamma). */
static double unseen(const costate_method *m)
{
    double Z[STAGES_MOST], end = 1, est = -m->est.e0;
    for (int i = 0; i < m->s; i++) {
        Z[i] = 0;
        for (int j = 0; j < i; j++) Z[i] -= m->A[i * m->s + j] * (1 + Z[j]);
        for (int j = 0; m->g && j <= i; j++) Z[i] -= m->A[i * m->s + j] * m->g[j];
        Z[i] = (Z[i] - m->gamma) / (1 + m->gamma);
        end += m->d[i] * Z[i];
        est += m->est.e[i] * Z[i];
    }
    return fabs(end - exp(-1)) / fabs(est / (1 + m->gamma));
}

/* Where the estimate falls like h^(q+1) and the error of the method like h^p, it is like tol^(p/(q+1)), or like the
   tolerance; more where a step's error is more than twice its estimate (ark324 4.4, ark436 3.5; sdirk2b 2, and the
   others of sdirk 1.3 at most). */
static void proportionate(const costate_method *m, double tol, const double *v)
{
    costate_method_info info = method_info(m);
    double p = info.order, q = fmin(p, info.embedded), error = largest_gap(N, v, reference(m));
    double constant = 50 * (info.family == COSTATE_SDIRK ? fmax(1, unseen(m) / 2) : 1);
    print_message("           %g: %.1e\n", tol, error);
    if (!(error <= constant * pow(tol, fmin(1, p / (q + 1))))) fail_msg("at %g: error %.1e", tol, error);
}

static void circuit_with(const costate_method *m, costate_options o)
{
    for (o.rtol = 1e-3; o.rtol > 5e-8; o.rtol /= 100) {
        double v[N], dv[N];
        o.atol = o.rtol;
        costate *c = costate_new(m, &circuit, &o);
        switched_on(v);
        charged(v, dv);
        if (o.tangent_error) CHECK_OK(c, costate_integrate_tlm(c, 0, END, v, NULL, 1, dv, NULL, NULL, NULL));
        else CHECK_OK(c, costate_integrate(c, 0, END, v, NULL, NULL));
        few_rejected(c, o.rtol);
        proportionate(m, o.rtol, v);
        costate_free(c);
    }
}

static void states(void **state)
{
    if (!method_takes(*state, MASS_SINGULAR)) skip();
    NEEDS_ESTIMATE(*state);
    circuit_with(*state, (costate_options){0});
}

static void tangents(void **state)
{
    if (!method_takes(*state, MASS_SINGULAR)) skip();
    NEEDS_ESTIMATE(*state);
    circuit_with(*state, (costate_options){.tangent_error = 1, .differences = 1});
}

static void one_more_stage(void **state)
{
    const costate_method *m = *state;
    if (!method_takes(m, MASS_SINGULAR)) skip();
    costate_options o = {.estimator = COSTATE_EST_SDIRK};
    costate *c = new_for_test(m, &circuit, &o);
    int has = costate_status(c) == COSTATE_OK;
    costate_free(c);
    if (!has) skip();
    circuit_with(m, o);
}

int main(void)
{
    return run_by_method("a circuit", states) + run_by_method("a circuit, tangents in the error norm", tangents)
        + run_by_method("a circuit, estimate by one more stage", one_more_stage);
}
