/* test_bench_second.c - the benchmark's problems of second order have the Hessian products that are known of them. */
#include "common.h"
#include "ivp.h"
#include "seconds.h"

enum { MOST = 80 };

typedef struct { double y[MOST], lambda[MOST], mu[MOST], lambda2[2 * MOST], mu2[2 * MOST]; } products;

static int seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t1, (void)p, (void)Vp, (void)mu, (void)mu2;
    ivp_seed(ctx, y, lambda);
    return ivp_seed2(ctx, m, V, lambda2);
}

/* along the first m directions of ivp.h; hmax: the longest step, 0: any */
static void hessian(ivp *b, const char *method, double tol, double hmax, int m, products *x)
{
    costate_options o = {.rtol = tol, .atol = tol * b->atol, .hmax = hmax};
    costate *c = costate_new(costate_method_find(method), &b->P, &o);
    costate_tape *tape = costate_tape_new();
    int N = ivp_length(b), np = b->P.np;
    double V[2 * MOST], Vp[2 * MOST];
    costate_second s = {.m = m, .V = V, .Vp = np ? Vp : NULL, .seed = seed, .ctx = b, .lambda = x->lambda,
                        .mu = np ? x->mu : NULL, .lambda2 = x->lambda2, .mu2 = np ? x->mu2 : NULL};
    assert_true(N <= MOST && np <= MOST);
    for (int j = 0; j < m; j++) ivp_direction(b, j, V + j * N, Vp + j * np);
    memset(x->mu, 0, sizeof x->mu);
    memset(x->mu2, 0, sizeof x->mu2);
    memcpy(x->y, b->y0, (size_t)N * sizeof *x->y);
    CHECK_OK(c, costate_integrate(c, 0, b->t1, x->y, b->p, tape));
    CHECK_OK(c, costate_hessian(c, tape, &s));
    costate_tape_free(tape);
    costate_free(c);
}

/* in the 2-norm, relative */
static void near(const char *what, const char *method, int n, const double *x, const double *known)
{
    double gap = 0, size = 0;
    for (int i = 0; i < n; i++) gap += pow(x[i] - known[i], 2), size += pow(known[i], 2);
    if (!(sqrt(gap / size) <= 1e-8)) fail_msg("%s, %s: %.1e", what, method, sqrt(gap / size));
}

/* whose stages stay inside the step: beyond a node the control is another one */
static const char *const methods[] = {"dopri853", "tsit5", "rodas5p", "sdirk4a", "radau2a5"};
enum { METHODS = sizeof methods / sizeof *methods };

/* problem S1 of the references, by ten numbers: the gradient, and its derivative along (1, ..., 1)/10 */
static void control(void **state)
{
    static const struct { const char *name; double by_p[10], Hu[10]; } known[] = {
        {"control_linear",
         {-1.7633313249886626, -4.5952895678771695, -4.625447830537707, -2.924061265483209, -0.566859275743169,
          1.3594287902800997, 2.341654362097319, 2.376771820085934, 1.7252448734886658, 0.552304420623796},
         {2.6296133849316403, 6.958129898455541, 7.79184767215575, 6.519921586792651, 4.190310392507872,
          1.9547319077759857, 0.38688578558261993, -0.36233898101911993, -0.35394116859911234, -0.03969778164974775}},
        {"control_chebyshev",
         {-12.773726503184106, 20.69078421807983, -2.0257791689212623, -18.771385241745037, 7.507296228301539,
          1.1148753826920434, 0.9627429502868123, 0.8724984471162308, 2.1073978735100902, 1.3262602605262828},
         {-3.2329100063367853, 1.9993146920533325, 1.0075882619661618, -1.8100809073359538, 0.7544721232665317,
          0.1811316241061783, -0.09605234814978723, 0.07973636773218797, 0.35380827842483076, 0.2329000767134113}}};
    products x;
    (void)state;
    for (int k = 0; k < 2; k++) {
        ivp b;
        assert_int_equal(ivp_new(&b, known[k].name, 10, 0), COSTATE_OK);
        for (int i = 0; i < METHODS; i++) {
            hessian(&b, methods[i], 1e-10, 0, 1, &x);
            near(known[k].name, methods[i], 10, x.mu, known[k].by_p);
            near(known[k].name, methods[i], 10, x.mu2, known[k].Hu);
        }
        ivp_free(&b);
    }
}

/* problem S2: by p and z(0), along the first conductivity, and along all */
static void heat(void **state)
{
    enum { NP = 14, ALL = NP + 9 };
    const double corner = 0.0774732803355052, edge = 0.09546260020718522, conductivity = -0.1326409767949782;
    const double by_p[NP] = {conductivity, conductivity, corner, edge, corner, corner, edge, corner,
                             corner, edge, corner, corner, edge, corner};
    static const double known[2][ALL] = {
        {0.09589862843860307, 0.09541145743971696, 0.05252106121260758, 0.0624708527526721, 0.05252106121260758,
         0.05252106121260758, 0.0624708527526721, 0.05252106121260758, -0.024952219122897613, -0.02494444557435725,
         -0.024952219122897613, -0.024952219122897613, -0.02494444557435725, -0.024952219122897613,
         -0.01761127700110508, -0.023819812159905192, -0.01761127700110508, -0.01991513017720977,
         -0.02741319003681932, -0.01991513017720977, -0.01761127700110508, -0.023819812159905192,
         -0.01761127700110508},
        {0.008317829820796523, 0.008317829820796523, 0.0011986453082482593, 0.0016315829207962978,
         0.0011986453082482593, 0.0011986453082482593, 0.0016315829207962978, 0.0011986453082482593,
         0.0011986453082482593, 0.0016315829207962978, 0.0011986453082482593, 0.0011986453082482593,
         0.0016315829207962978, 0.0011986453082482593, -0.0015314153914004417, -0.0019015192320484767,
         -0.0015314153914004417, -0.0019015192320484767, -0.0023837556553755928, -0.0019015192320484767,
         -0.0015314153914004417, -0.0019015192320484767, -0.0015314153914004417}};
    ivp b;
    products x;
    (void)state;
    assert_int_equal(ivp_new(&b, "heat_edges", 3, 0), COSTATE_OK);
    for (int i = 0; i < METHODS; i++) {
        hessian(&b, methods[i], 1e-10, 0, 2, &x);
        near("gradient", methods[i], NP, x.mu, by_p);
        for (int j = 0; j < 2; j++) {
            near("by p", methods[i], NP, x.mu2 + j * NP, known[j]);
            near("by z(0)", methods[i], 9, x.lambda2 + j * 10, known[j] + NP);
        }
    }
    ivp_free(&b);
}

/* problem S3: by ten nodes of the control and by y(0), along the first node, and along T(0) in the middle of the can.
   The unknowns of its reference have the nutrient itself, the benchmark's have 1e-8 of it.  The can comes to rest:
   errors of y allow steps as long as an interval between two nodes there; what the nodes change needs shorter ones. */
static void sterilisation(void **state)
{
    enum { NP = 10, POINTS = 25, ALL = NP + 3 * POINTS };
    second *s = second_new(4);
    ivp b;
    products x;
    (void)state;
    assert_non_null(s);
    assert_string_equal(s->name, "S3_nc10");
    assert_int_equal(s->unknowns, ALL);
    assert_int_equal(ivp_new(&b, "sterilisation_10", 5, 0), COSTATE_OK);
    for (int i = 0; i < METHODS; i++) {
        double w[3 * POINTS];
        hessian(&b, methods[i], 1e-10, 10, 2, &x);
        assert_true(fabs(ivp_seed(&b, x.y, w) / s->value - 1) <= 1e-9);
        for (int of = 0; of < 3; of++) {                    /* the gradient, two products */
            const double *known = of ? s->products + (of - 1) * ALL : s->gradient;
            double *by_p = of ? x.mu2 + (of - 1) * NP : x.mu, *by_y = of ? x.lambda2 + (of - 1) * 3 * POINTS : x.lambda;
            near("by the nodes", methods[i], NP, by_p, known);
            near("by T(0)", methods[i], POINTS, by_y, known + NP);
            for (int k = 2 * POINTS; k < 3 * POINTS; k++) by_y[k] *= 1e-8;
            near("by the nutrient's start", methods[i], POINTS, by_y + 2 * POINTS, known + NP + 2 * POINTS);
            for (int k = POINTS; k < 2 * POINTS; k++) assert_true(by_y[k] == 0);     /* microbes do not enter G */
        }
    }
    second_free(s);
    ivp_free(&b);
}

/* prepare changes no bit: what products share is what each would compute */
static void shared(void **state)
{
    static const char *const names[] = {"swe", "swe_shared"};
    enum { SIDE = 5, N = 3 * SIDE * SIDE };
    double lambda2[2][N];
    (void)state;
    for (int k = 0; k < 2; k++) {
        ivp b;
        assert_int_equal(ivp_new(&b, names[k], SIDE, 0), COSTATE_OK);
        costate_options o = {.rtol = 1e-6, .atol = 1e-6, .autonomous = 1};
        costate *c = costate_new(costate_method_find("tsit5"), &b.P, &o);
        costate_tape *tape = costate_tape_new();
        double y[N], V[N], lambda[N];
        ivp_direction(&b, 0, V, NULL);
        costate_second s = {.m = 1, .V = V, .seed = seed, .ctx = &b, .lambda = lambda, .lambda2 = lambda2[k]};
        memcpy(y, b.y0, sizeof y);
        CHECK_OK(c, costate_integrate(c, 0, b.t1, y, NULL, tape));
        CHECK_OK(c, costate_hessian(c, tape, &s));
        costate_tape_free(tape);
        costate_free(c);
        ivp_free(&b);
    }
    assert_memory_equal(lambda2[0], lambda2[1], sizeof lambda2[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(control), cmocka_unit_test(heat),
                                       cmocka_unit_test(sterilisation), cmocka_unit_test(shared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
