/* test_units.c - states, times, parameters and integrals in units from 1e-300 to 1e300, one after another and some
   together, tolerances with them: what is asked of a solver gives the same numbers, or is refused with a sentence.

   Units are powers of two, by which nothing is rounded.  COSTATE_FAULTS=all: every act of every case of acts.h in every
   unit; else some drawn from a seed. */
#include "faults.h"

static const int powers[] = {-996, -531, -100, 100, 531, 996};            /* 1.5e-300, 1.4e-160, 7.9e-31, .. */
enum { POWERS = sizeof powers / sizeof *powers, ONE_BY_ONE = 4 * POWERS, TOGETHER = 8 };

static act_units units_at(int k, unsigned *seed)
{
    double u[4] = {1, 1, 1, 1};
    if (k < ONE_BY_ONE) u[k / POWERS] = ldexp(1, powers[k % POWERS]);
    else for (int i = 0; i < 4; i++) u[i] = ldexp(1, (int)random_below(seed, 401) - 200);
    return (act_units){u[0], u[1], u[2], u[3]};
}

static long done, refused;

static int says(const char *text) { return strlen(text) > 20 && strcmp(text, "No error.") != 0; }

static void complain(const act_world *w, int act, int status, const char *what, double gap)
{
    const act_units *u = &w->in;
    fail_msg("%s: %s in S %.1e, T %.1e, P %.1e, Q %.1e: %s %.1e: %s: %s", w->of->name, act_names[act], u->S, u->T, u->P,
             u->Q, what, gap, costate_status_name(status), w->said);
}

/* Steps by GMRES are right to a part of the tolerance, 1e-2, and its residuals are scaled by powers of ten; unknowns of
   index 2 are weighed by h, in the unit of time. */
static double bound_of(const act_world *w)
{
    int by_h = w->of->h->form == HYBRID_INDEX_2 && w->in.T != 1;
    return w->o.solver == COSTATE_LS_GMRES || by_h ? 1e-2 : 1e-9;
}

/* 0: the act was refused */
static int judge(const act_world *w, int act, int status, const double *expected)
{
    done++;
    if (status != COSTATE_OK) {
        refused++;
        if (status > 0 || !says(w->said)) complain(w, act, status, "no sentence", 0);
        return 0;
    }
    double gap = relative_gap(ACT_OUT, w->out, expected);
    if (!(gap <= bound_of(w))) complain(w, act, status, "other by", gap);
    return 1;
}

static int cut_file(act_world *w, bytes_of *cut)
{
    act_world one;
    if (!w->of->file) return 0;
    act_open(&one, w->of);
    if (act_before(&one, ACTS) != COSTATE_OK) { act_close(&one); return 0; }
    costate_tape_free(one.tape);
    one.tape = NULL;
    *cut = file_bytes(one.path);
    cut->length = cut->length * 2 / 3;
    act_close(&one);
    w->cut = cut->data;
    w->cut_bytes = cut->length;
    return 1;
}

static void in_units(const act_case *x, double expected[][ACT_OUT])
{
    static act_world w;
    bytes_of cut = {NULL, 0};
    int has_cut = cut_file(&(act_world){.of = x}, &cut), status = COSTATE_OK;
    act_open(&w, x);
    w.cut = cut.data;
    w.cut_bytes = cut.length;
    for (int act = 0; act < ACTS; act++) {
        if (!act_applies(x, act) || (act == ACT_RESUME && !has_cut)) continue;
        status = act_do(&w, act);
        if (!judge(&w, act, status, expected[act]) && act <= ACT_GO_ON) break;
    }
    act_close(&w);
    free(cut.data);
}

static void reference(const act_case *x, double expected[][ACT_OUT])
{
    static act_world w;
    bytes_of cut = faults_cut(x);
    act_open(&w, x);
    w.cut = cut.data;
    w.cut_bytes = cut.length;
    for (int act = 0; act < ACTS; act++) {
        if (!act_applies(x, act)) continue;
        if (act_do(&w, act) != COSTATE_OK) fail_msg("%s: %s: %s", x->name, act_names[act], w.said);
        memcpy(expected[act], w.out, sizeof w.out);
    }
    act_close(&w);
    free(cut.data);
}

static void in_all_units(act_case *x, unsigned *seed)
{
    static double expected[ACTS][ACT_OUT];
    reference(x, expected);
    for (int i = 0; i < ONE_BY_ONE + TOGETHER; i++) {
        x->in = units_at(i, seed);
        in_units(x, expected);
    }
}

/* measured rates of 1e-300, and matrices of such entries, whose squares are no numbers */
static int has_squares(const act_case *x)
{
    return strcmp(x->name, "rkc2, everything, dense, all stages") == 0 ||
           strcmp(x->name, "radau2a, everything, gmres, all stages") == 0;
}

static void units(void **state)
{
    enum { STRIDE = 151 };
    act_case x;
    unsigned seed = 6;
    int squares = 0;
    (void)state;
    for (int k = 0, is; (is = act_case_at(k, &x)); k++) {
        if (is < 0 || !(faults_all() || k % STRIDE == 3 || has_squares(&x))) continue;
        squares += has_squares(&x);
        in_all_units(&x, &seed);
    }
    assert_int_equal(squares, 2);
    print_message("           %ld acts, %ld of them refused\n", done, refused);
    assert_true(refused < done);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(units)};
    return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
