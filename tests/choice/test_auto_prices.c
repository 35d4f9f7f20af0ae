/* test_auto_prices.c - auto prices the linear solver that it would use, and takes stabilised steps only where they are
   cheaper: small systems, bands, reaction networks, a plate; with and without a tape. */
#include "solver/solver.h"     /* before cmocka, which has a macro fail */
#include "common.h"

enum { BS54, VERNER76, ROCK4, RODAS5P, RADAU2A, RADAU2A5, N_MOST = 400, LINKS_MOST = 1600 };

/* ---- reactions a + b <-> c + d, where index n stands for 1 ---- */

typedef struct { int i[4]; double k, back; } link;
typedef struct {
    int n, count;
    double pull;                        /* of a force pull cos(pull t) on each unknown */
    link list[LINKS_MOST];
    int col[N_MOST + 1], row[16 * LINKS_MOST], place[LINKS_MOST][16];
    costate_pattern S;
    costate_problem P;
    double y0[N_MOST], J[16 * LINKS_MOST];
} links;

static const int sign[] = {-1, -1, 1, 1};

static double at(const links *w, const double *y, int i) { return i < w->n ? y[i] : 1; }

static int value(const costate_point *x, double *out, void *ctx)
{
    const links *w = ctx;
    for (int i = 0; i < w->n; i++) out[i] = w->pull * cos(w->pull * x->t);
    for (int l = 0; l < w->count; l++) {
        const link *r = &w->list[l];
        double v = r->k * at(w, x->y, r->i[0]) * at(w, x->y, r->i[1]) -
                   r->back * at(w, x->y, r->i[2]) * at(w, x->y, r->i[3]);
        for (int k = 0; k < 4; k++)
            if (r->i[k] < w->n) out[r->i[k]] += sign[k] * v;
    }
    return 0;
}

static int matrix(const costate_point *x, double *J, void *ctx)
{
    const links *w = ctx;
    memset(J, 0, (size_t)w->col[w->n] * sizeof *J);
    for (int l = 0; l < w->count; l++) {
        const link *r = &w->list[l];
        for (int j = 0; j < 4; j++) {
            double slope = (j < 2 ? r->k : -r->back) * at(w, x->y, r->i[j ^ 1]);
            for (int k = 0; k < 4; k++)
                if (w->place[l][4 * j + k] >= 0) J[w->place[l][4 * j + k]] += sign[k] * slope;
        }
    }
    return 0;
}

static int tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    links *w = ctx;
    matrix(x, w->J, w);
    for (int i = 0; i < w->n; i++) out[i] = -w->pull * w->pull * sin(w->pull * x->t) * d->t;
    for (int j = 0; d->y && j < w->n; j++)
        for (int e = w->col[j]; e < w->col[j + 1]; e++) out[w->row[e]] += w->J[e] * d->y[j];
    return 0;
}

static int adjoint(const costate_point *x, const double *lambda, const costate_gradient *g, void *ctx)
{
    links *w = ctx;
    matrix(x, w->J, w);
    for (int j = 0; g->y && j < w->n; j++)
        for (int e = w->col[j]; e < w->col[j + 1]; e++) g->y[j] += w->J[e] * lambda[w->row[e]];
    for (int i = 0; g->t && i < w->n; i++) *g->t -= w->pull * w->pull * sin(w->pull * x->t) * lambda[i];
    return 0;
}

/* the pattern of the reactions, with the diagonal */
static void finish(links *w)
{
    static char there[N_MOST + 1][N_MOST + 1];
    int e = 0;
    memset(there, 0, sizeof there);
    for (int i = 0; i < w->n; i++) there[i][i] = 1;
    for (int l = 0; l < w->count; l++)
        for (int k = 0; k < 16; k++) there[w->list[l].i[k / 4]][w->list[l].i[k % 4]] = 1;
    for (int j = 0; j < w->n; j++, w->col[j] = e)
        for (int i = 0; i < w->n; i++)
            if (there[j][i]) w->row[e++] = i;
    for (int l = 0; l < w->count; l++)
        for (int k = 0; k < 16; k++) {
            int j = w->list[l].i[k / 4], i = w->list[l].i[k % 4];
            w->place[l][k] = -1;
            for (int f = j < w->n ? w->col[j] : e; j < w->n && f < w->col[j + 1]; f++)
                if (w->row[f] == i) w->place[l][k] = f;
        }
    w->S = (costate_pattern){w->n, w->col, w->row};
    w->P = (costate_problem){.n = w->n, .ctx = w, .pattern = &w->S, .jac = matrix,
                             .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint}};
}

static double uniform(unsigned *u) { return 0.5 + 0.5 * random_in(u); }

/* n species and n/2 reactions between any of them, with rates over eight decades */
static void network(links *w, int n, unsigned seed)
{
    *w = (links){.n = n, .count = n / 2};
    for (int l = 0; l < w->count; l++) {
        link *r = &w->list[l];
        for (int k = 0; k < 4; k++) r->i[k] = (int)random_below(&seed, (unsigned)n);
        r->k = pow(10, 8 * uniform(&seed) - 4);
        r->back = r->k * pow(10, 2 * uniform(&seed) - 1.5);
    }
    for (int i = 0; i < n; i++) w->y0[i] = fmax(0, random_in(&seed));
    finish(w);
}

/* diffusion between cells, 0 around them, and growth */
static void plate(links *w, int width, int height, double rate, double growth)
{
    *w = (links){.n = width * height};
    for (int i = 0; i < w->n; i++) {
        int x = i % width, y = i / width, n = w->n, walls = (x == 0) + (x == width - 1);
        if (height > 1) walls += (y == 0) + (y == height - 1);
        if (x + 1 < width) w->list[w->count++] = (link){{i, n, i + 1, n}, rate, rate};
        if (y + 1 < height) w->list[w->count++] = (link){{i, n, i + width, n}, rate, rate};
        if (walls) w->list[w->count++] = (link){{i, n, n, n}, walls * rate, 0};
        w->list[w->count++] = (link){{i, n, i, i}, growth, 0};
        w->y0[i] = sin(3.0 * x / width) * (1 + 0.3 * y);
    }
    finish(w);
}

/* ---- runs ---- */

typedef struct { costate_stats count; double lu, solve, gap; } result;

/* tape: also the gap between its tangent and its adjoint */
static result ran(const links *w, double t1, double tol, const char *members, int with_tape)
{
    costate *c = costate_new(NULL, &w->P, &(costate_options){.rtol = tol, .atol = tol, .members = members});
    costate_tape *tape = with_tape ? costate_tape_new() : NULL;
    double y[N_MOST], V[N_MOST], lambda[N_MOST], before = 0, after = 0, size = 0;
    memcpy(y, w->y0, sizeof y);
    CHECK_OK(c, costate_integrate(c, 0, t1, y, NULL, tape));
    result r = {*costate_get_stats(c), c->rule.lu, c->rule.solve, 0};
    for (int i = 0; i < w->n; i++) { lambda[i] = sin(1.0 + i); V[i] = cos(2.0 + 3 * i); }
    if (tape) CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL));
    if (tape) CHECK_OK(c, costate_tangent(c, tape, 1, V, NULL, NULL, NULL));
    for (int i = 0; i < w->n; i++) {
        before += lambda[i] * cos(2.0 + 3 * i);
        after += sin(1.0 + i) * V[i];
        size += fabs(lambda[i] * cos(2.0 + 3 * i)) + fabs(sin(1.0 + i) * V[i]);
    }
    r.gap = fabs(before - after) / size;
    costate_tape_free(tape);
    costate_free(c);
    return r;
}

static long stabilised(const result *r) { return r->count.member_steps[ROCK4]; }

/* ---- claims ---- */

/* With a pattern, small matrices are dense and those of lines are bands: factorisations are cheap.  The smallest ones
   cost what calls cost. */
static void cheap(void **state)
{
    links *w = malloc(sizeof *w);
    (void)state;
    for (int n = 4; n <= 320; n *= n == 4 ? 4 : 20)
        for (int k = 3; k <= 7; k += 2) {
            plate(w, n, 1, n <= 16 ? 3e4 : 1e4, 0);
            result r = ran(w, 1, pow(10, -k), NULL, 0);
            if (r.count.switches == 0 || (n <= 16 && stabilised(&r) > 0))
                fail_msg("n %d, 1e-%d: %ld stabilised steps", n, k, stabilised(&r));
            double f = 4.0 * n + 3 * n - 2, operations = n <= 16 ? 2.0 / 3 * n * n * n : n * (30.0 * 4 + 2 * 2);
            assert_true(fabs(r.lu - fmax(10, operations / f)) < 1e-12 * r.lu);
            assert_true(fabs(r.solve - fmax(2, (n <= 16 ? 2.0 * n * n : 4.0 * 4 * n) / f)) < 1e-12 * r.solve);
        }
    free(w);
}

static double work_of(const result *r)
{
    const costate_stats *s = &r->count;
    return (double)(s->f + s->jac) + r->lu * (double)(s->decompositions + 2 * s->complex_decompositions) +
           r->solve * (double)(s->solves + 2 * s->complex_solves);
}

/* Diffusion on a line: a band of three diagonals, whose factorisation takes 17 evaluations. */
static void lines(void **state)
{
    links *w = malloc(sizeof *w);
    (void)state;
    for (int k = 3; k <= 7; k += 2) {
        plate(w, 60, 1, 400, 0);
        result r = ran(w, 2, pow(10, -k), NULL, 0), without = ran(w, 2, pow(10, -k), "-rock4", 0);
        assert_true(r.lu > 15 && r.lu < 20 && stabilised(&r) > 0);
        assert_true(work_of(&r) < 0.7 * work_of(&without));
    }
    free(w);
}

/* Where no stiff member may be taken, their prices do not matter. */
static void no_rival(void **state)
{
    links *w = malloc(sizeof *w);
    (void)state;
    plate(w, 16, 1, 3e4, 0);
    result r = ran(w, 1, 1e-4, "bs54 rock4", 0), explicit = ran(w, 1, 1e-4, "bs54", 0);
    assert_true(stabilised(&r) > 0 && r.count.f < explicit.count.f / 10);
    free(w);
}

/* The fast modes of these networks keep stabilised steps up to 300 times shorter than stiff ones. */
static void networks(void **state)
{
    links *w = malloc(sizeof *w);
    (void)state;
    for (unsigned seed = 2; seed <= 3; seed++)
        for (int k = 3; k <= 8; k++) {
            network(w, 109, seed);
            result r = ran(w, 1000, pow(10, -k), NULL, 0), without = ran(w, 1000, pow(10, -k), "-rock4", 0);
            if (r.count.accepted > 3 * without.count.accepted)
                fail_msg("seed %u, 1e-%d: %ld steps, without rock4 %ld", seed, k, r.count.accepted,
                         without.count.accepted);
        }
    free(w);
}

/* In shorter runs stabilised steps come first.  They are left at once where a hundred stiff steps would take less work,
   and else when they have done the work of eight: ten stiff steps would have been enough. */
static void tried(void **state)
{
    links *w = malloc(sizeof *w);
    (void)state;
    for (unsigned seed = 2; seed <= 3; seed++)
        for (int k = 3; k <= 5; k++)
            for (int sooner = 0; sooner < 2; sooner++) {
                network(w, 109, seed);
                result r = ran(w, sooner ? 12 : 3, pow(10, -k), NULL, 0);
                double most = 1.2 * 8 * (3 * r.lu + 10 * r.solve + 20);
                long stiff = r.count.member_steps[RADAU2A] + r.count.member_steps[RADAU2A5];
                int right = sooner ? stabilised(&r) < 12 : stabilised(&r) > 50 && (double)r.count.f < most;
                if (!right || stiff < 4 || stiff > 20)
                    fail_msg("seed %u, 1e-%d: %ld stabilised and %ld stiff steps", seed, k, stabilised(&r), stiff);
            }
    free(w);
}

/* The rest of a run is thought to be a hundred stiff steps.  Here it is thousands, and stiff steps are dear: they are
   tried more and more rarely, each time after twice the work. */
static void waits(void **state)
{
    links *w = malloc(sizeof *w);
    (void)state;
    plate(w, 20, 20, 441, 0);
    w->pull = 20;
    result r = ran(w, 50, 1e-4, NULL, 0);
    if (r.count.switches > 16 || stabilised(&r) < 0.9 * (double)r.count.accepted)
        fail_msg("%ld switches, %ld of %ld steps", r.count.switches, stabilised(&r), r.count.accepted);
    free(w);
}

/* With a tape or with tangents the degree is limited by what transposes bear.  Whether stabilised steps pay is judged
   with that limit: without it they do for both rates, and with it for the faster one hardly ever. */
static void tapes(void **state)
{
    links *w = malloc(sizeof *w);
    (void)state;
    for (int fast = 0; fast < 2; fast++)
        for (int k = 2; k <= 4; k++) {
            double rate = fast ? 16000 : 441;
            plate(w, 20, 20, rate, rate * 4 * (1 - cos(acos(-1) / 21)));
            w->pull = 3;
            result r = ran(w, 1, pow(10, -k), NULL, 1), without = ran(w, 1, pow(10, -k), NULL, 0);
            if (!(r.gap < 1e-13)) fail_msg("rate %.0f, 1e-%d: gap %.1e", rate, k, r.gap);
            if (stabilised(&without) == 0 || (3 * stabilised(&r) < stabilised(&without)) != fast)
                fail_msg("rate %.0f, 1e-%d: %ld stabilised steps, %ld without a tape", rate, k, stabilised(&r),
                         stabilised(&without));
        }
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cheap), cmocka_unit_test(lines), cmocka_unit_test(no_rival), cmocka_unit_test(networks),
        cmocka_unit_test(tried), cmocka_unit_test(waits), cmocka_unit_test(tapes)};
    if (!costate_method_find("auto")) return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
