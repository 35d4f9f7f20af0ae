/* test_program.c - byte code: each operation is that of C, several calls at a time are separate, gradients that are not
   requested are left out, and bytes that are no program are refused with a sentence; also where memory runs out. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <costate/linsol.h>
#include <costate/program.h>
#include "alloc.h"
#include "common.h"

static void refused(const void *bytes, size_t size, const char *why);

/* ---- a program written by hand: x' = OPERATION(p0, p1, p2) ---- */

enum { HEAD = 6, WORDS = 8000, NUMBERS = 4000 };
enum { T, Y, YP, P, M, MODE, RELATION, DT, DY, DYP, DP, W = 17 };               /* spaces of loads */
enum { ALWAYS, OF_T, OF_Y, OF_YP, OF_P };                                       /* guards of parts */

typedef struct {
    double doubles[8];
    int32_t words[WORDS];
    uint16_t numbers[NUMBERS];
    uint32_t ndoubles, nwords, nnumbers;
    unsigned char bytes[4 * HEAD + sizeof(double[8]) + sizeof(int32_t[WORDS]) + sizeof(uint16_t[NUMBERS])];
    size_t size;
} written;

static void words(written *b, int count, const int *list)
{
    for (int k = 0; k < count; k++) b->words[b->nwords++] = list[k];
}
#define WRITE(b, ...) words(b, sizeof((int[]){__VA_ARGS__}) / sizeof(int), (int[]){__VA_ARGS__})

static void put(written *b, int value) { b->numbers[b->nnumbers++] = (uint16_t)value; }

/* a routine for the value of an operation on p0, p1, p2, with registers 0, 1, 2; the result is in register `result` */
static void operation(written *b, int op, int operands, int result)
{
    WRITE(b, result + 1, 0, 1, P, 0, 3, 0, 0, 1, ALWAYS, 3 + operands, 1, 0);
    put(b, op), put(b, 1), put(b, result);
    for (int k = 0; k < operands; k++) put(b, k);
    put(b, result);
}

/* the gradient p0 += w0 x, with no part for y */
static void gradient(written *b)
{
    WRITE(b, 3, 0, 1, Y, 0, 1, 1, W, 0, 1, 0, 1, OF_P, 5, 1, 0);
    put(b, 2), put(b, 1), put(b, 2), put(b, 0), put(b, 1);       /* a product */
    put(b, 0), put(b, 2);
}

static uint32_t checksum(const unsigned char *bytes, size_t size)
{
    uint32_t crc = 0xffffffffu;
    for (size_t k = 0; k < size; k++)
        for (int bit = 0; bit < 8; bit++) {
            const uint32_t low = (crc ^ (uint32_t)bytes[k] >> bit) & 1;
            crc = crc >> 1 ^ (low ? 0xedb88320u : 0);
        }
    return ~crc;
}

static void pack(written *b)
{
    unsigned char *body = b->bytes + 4 * HEAD;
    const size_t d = b->ndoubles * sizeof(double), w = b->nwords * sizeof(int32_t), k = b->nnumbers * sizeof(uint16_t);
    memcpy(body, b->doubles, d);
    memcpy(body + d, b->words, w);
    memcpy(body + d + w, b->numbers, k);
    const uint32_t head[HEAD] = {0x62736f63, 1, b->ndoubles, b->nwords, b->nnumbers, checksum(body, d + w + k)};
    memcpy(b->bytes, head, sizeof head);
    b->size = sizeof head + d + w + k;
}

/* registers: the number of that of the result, which many registers may precede */
static void write_program(written *b, int op, int operands, int result)
{
    *b = (written){.doubles = {2, 3, 5}, .ndoubles = 3};                        /* defaults */
    WRITE(b, 1, 3, 0, 0, 0, 0, 0, 0, 0);                                        /* n, np, ... */
    WRITE(b, 1, 1);                                                             /* rhs: value */
    operation(b, op, operands, result);
    WRITE(b, 0, 1);                                                             /* adjoint */
    gradient(b);
    WRITE(b, 0, 0, 0, 0, 0);
    WRITE(b, 0, 1, 1);                                                          /* no cost; start: value */
    operation(b, 0, 2, 3);
    WRITE(b, 0, 0, 0, 0, 0, 0, 0, 0);                                           /* no outputs */
    WRITE(b, 1, 0);                                                             /* Jacobian, dense */
    operation(b, 1, 2, 3);
    WRITE(b, 0, 0, 0);                                                          /* no mass, elimination, index */
    pack(b);
}

static costate_program *loaded(const written *b)
{
    costate_program *q = costate_program_new(b->bytes, b->size);
    if (costate_program_status(q) != COSTATE_OK) fail_msg("%s", costate_program_message(q));
    return q;
}

/* ---- operations ---- */

static double c_plus(double a, double b) { return a + b; }
static double c_minus(double a, double b) { return a - b; }
static double c_times(double a, double b) { return a * b; }
static double c_over(double a, double b) { return a / b; }
static double c_negate(double a) { return -a; }
static double c_choose(double a, double b, double c) { return a != 0 ? b : c; }
static double c_less(double a, double b) { return a < b; }
static double c_less_equal(double a, double b) { return a <= b; }
static double c_equal(double a, double b) { return a == b; }
static double c_unequal(double a, double b) { return a != b; }
static double c_both(double a, double b) { return a != 0 && b != 0; }
static double c_either(double a, double b) { return a != 0 || b != 0; }
static double c_negation(double a) { return a == 0; }
static double c_copy(double a) { return a; }

static const struct { double (*one)(double), (*two)(double, double), (*three)(double, double, double); } of_c[] = {
    {.two = c_plus}, {.two = c_minus}, {.two = c_times}, {.two = c_over}, {.one = c_negate}, {.three = c_choose},
    {.two = c_less}, {.two = c_less_equal}, {.two = c_equal}, {.two = c_unequal}, {.two = c_both}, {.two = c_either},
    {.one = c_negation}, {.two = pow}, {.two = atan2}, {.two = hypot}, {.one = acos}, {.one = acosh}, {.one = asin},
    {.one = asinh}, {.one = atan}, {.one = atanh}, {.one = cbrt}, {.one = ceil}, {.one = cos}, {.one = cosh},
    {.one = erf}, {.one = exp}, {.one = expm1}, {.one = fabs}, {.one = floor}, {.one = log}, {.one = log10},
    {.one = log1p}, {.one = log2}, {.one = sin}, {.one = sinh}, {.one = sqrt}, {.one = tan}, {.one = tanh},
    {.one = c_copy},
};
enum { OPERATIONS = sizeof of_c / sizeof *of_c };

static int operands_of(int op) { return of_c[op].one ? 1 : of_c[op].two ? 2 : 3; }

static double expected(int op, const double *p)
{
    if (of_c[op].one) return of_c[op].one(p[0]);
    return of_c[op].two ? of_c[op].two(p[0], p[1]) : of_c[op].three(p[0], p[1], p[2]);
}

static void operations_are_those_of_c(void **state)
{
    static const double values[] = {0, -0.0, 1, -1, 0.3, 2.5, -7.25, 1e-310, 1e300, INFINITY, -INFINITY, NAN};
    enum { COUNT = sizeof values / sizeof *values };
    (void)state;
    for (int op = 0; op < OPERATIONS; op++) {
        written b;
        write_program(&b, op, operands_of(op), 3);
        costate_program *q = loaded(&b);
        const costate_problem *of = costate_program_problem(q);
        for (int i = 0; i < COUNT; i++)
            for (int j = 0; j < COUNT; j++) {
                const double p[3] = {values[i], values[j], 4};
                double out, right = expected(op, p);
                assert_int_equal(of->rhs.value(&(costate_point){.p = p}, &out, of->ctx), 0);
                if (memcmp(&out, &right, sizeof out) && !(isnan(out) && isnan(right)))
                    fail_msg("operation %d of %g, %g: %.17g, not %.17g", op, p[0], p[1], out, right);
            }
        costate_program_free(q);
    }
    written b;
    write_program(&b, OPERATIONS + 2, 1, 3);                    /* behind the two of arrays */
    costate_program *q = costate_program_new(b.bytes, b.size);
    assert_int_equal(costate_program_status(q), COSTATE_BAD_ARGUMENT);
    costate_program_free(q);
}

/* ---- what a program offers ---- */

static void gradients_that_are_not_requested_are_left_out(void **state)
{
    written b;
    (void)state;
    write_program(&b, 0, 2, 3);
    costate_program *q = loaded(&b);
    const costate_problem *of = costate_program_problem(q);
    const double y = 7, p[3] = {1, 2, 3}, w = 0.5;
    double gp[3] = {1, 1, 1}, gy = 4, out;
    const costate_point x = {.y = &y, .p = p};
    of->rhs.adjoint(&x, &w, &(costate_gradient){.y = &gy, .p = gp}, of->ctx);
    assert_true(gp[0] == 4.5 && gp[1] == 1 && gy == 4);
    of->rhs.adjoint(&x, &w, &(costate_gradient){.y = &gy}, of->ctx);
    assert_true(gp[0] == 4.5 && gy == 4);
    /* directions and points that are NULL are zero */
    of->rhs.adjoint(&(costate_point){.p = p}, &w, &(costate_gradient){.p = gp}, of->ctx);
    assert_true(gp[0] == 4.5);
    assert_null(of->rhs.tangent);
    assert_null(of->rhs.adjoints);
    assert_null(of->mass);
    assert_null(costate_program_outputs(q, NULL));
    assert_null(costate_program_backend(q));
    assert_true(costate_program_defaults(q)[2] == 5);
    costate_program_start(q)->value(&x, &out, of->ctx);
    assert_true(out == 3);
    of->jac(&x, &out, of->ctx);
    assert_true(out == -1);
    costate_program_free(q);
}

/* ---- products of matrices ---- */

enum { TIMES = OPERATIONS, OUTER, IN_ALL = 12, FACTORS = 10 };

/* x' = the value in register `result` after this code on p0, p1, p2; a gradient that is a product */
static void write_arrays(written *b, int count, const int *code, int result, const int *product)
{
    *b = (written){.doubles = {2, 3, 5}, .ndoubles = 3};
    WRITE(b, 1, 3, 0, 0, 0, 0, 0, 0, 0);
    WRITE(b, 1, 1, IN_ALL, 0, 1, P, 0, 3, 0, 0, 1, ALWAYS, count, 1, 0);
    for (int k = 0; k < count; k++) put(b, code[k]);
    put(b, result);
    WRITE(b, 0, 1, 4, 0, 1, P, 0, 3, 1, W, 0, 1, 0, 1, OF_P, 0, 0, 1);
    for (int k = 0; k < FACTORS; k++) put(b, product[k]);
    WRITE(b, 0, 0, 0, 0, 0);
    WRITE(b, 0, 1, 1);
    operation(b, 0, 2, 3);
    WRITE(b, 0, 0, 0, 0, 0, 0, 0, 0);
    WRITE(b, 1, 2, 0, 0, 0);                                    /* no Jacobian, mass, elimination, index */
    pack(b);
}
#define CODE(...) sizeof((int[]){__VA_ARGS__}) / sizeof(int), (int[]){__VA_ARGS__}

static const int by_weight[FACTORS] = {0, 0, 1, 3, 1, 3, 1, 0, 1, 1};           /* gp += p w */

static double result_of(int count, const int *code, int result)
{
    written b;
    const double p[3] = {2, 3, -5};
    double out;
    write_arrays(&b, count, code, result, by_weight);
    costate_program *q = loaded(&b);
    const costate_problem *of = costate_program_problem(q);
    assert_null(of->jac);
    assert_int_equal(of->rhs.value(&(costate_point){.p = p}, &out, of->ctx), 0);
    costate_program_free(q);
    return out;
}

static void arrays_refused(int count, const int *code, const int *product)
{
    written b;
    write_arrays(&b, count, code, 0, product);                  /* p0, which is there in any case */
    refused(b.bytes, b.size, "do not fit together");
}

static void products_of_matrices(void **state)
{
    (void)state;
    /* (p0 p1; p1 p2) (p1, p0), row by row and in the order of columns; out, M, by_row, by_column, x, step, ... */
    assert_true(result_of(CODE(TIMES, 1, 3, 0, 1, 1, 1, 1, 1, 2), 3) == 2 * 3 + 3 * -5.);
    assert_true(result_of(CODE(TIMES, 1, 3, 0, 2, 1, 0, 2, 1, 2), 3) == 2 * 2 + 3 * -5.);
    assert_true(result_of(CODE(TIMES, 1, 3, 0, 1, 1, 0, 1, 2, 2), 4) == 3 * 2 + -5. * 3);
    assert_true(result_of(CODE(TIMES, 2, 3, 0, 1, 1, 0, 1, 2, 2, 5, 0, 1, 1, 3, 1, 1, 2), 5) == 2 * 13 + 3 * -9.);
    assert_true(result_of(CODE(TIMES, 1, 3, 0, 2, 1, 0, 1, 2, 1), 4) == -5. * 2);
    /* x y^T, row by row */
    assert_true(result_of(CODE(OUTER, 1, 3, 0, 1, 1, 1, 2, 2), 6) == 3 * -5.);
    assert_true(result_of(CODE(OUTER, 1, 3, 0, 2, 0, 1, 2, 3), 8) == -5. * -5.);
    written b;
    const double p[3] = {2, 3, -5}, w = 7;
    double gp[3] = {1, 1, 1};
    static const int subtracted[FACTORS] = {1, 0, 1, 3, 1, 2, 1, 1, 1, 1};
    for (int k = 0; k < 2; k++) {
        write_arrays(&b, CODE(TIMES, 1, 3, 0, 1, 1, 1, 1, 1, 2), 3, k ? subtracted : by_weight);
        costate_program *q = loaded(&b);
        const costate_problem *of = costate_program_problem(q);
        of->rhs.adjoint(&(costate_point){.p = p}, &w, &(costate_gradient){.p = gp}, of->ctx);
        costate_program_free(q);
    }
    assert_true(gp[0] == 15 && gp[1] == 22 - 14 && gp[2] == -34 - 21);
}

static void products_of_matrices_that_do_not_fit(void **state)
{
    (void)state;
    static const int wrong[][2] = {{0, 11}, {0, 2}, {1, 2}, {2, 2}, {3, 4}, {4, 3}, {5, 9}, {6, 0}, {6, 3}, {7, 0},
                                   {7, 4}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        int code[] = {TIMES, 1, 3, 0, 1, 1, 0, 1, 2, 2};
        code[2 + wrong[k][0]] = wrong[k][1];
        arrays_refused(sizeof code / sizeof *code, code, by_weight);
    }
    static const int outside[][2] = {{0, IN_ALL - 3}, {0, 1}, {1, 2}, {2, 3}, {3, 2}, {4, 3}, {5, 0}, {5, 5}, {6, 0},
                                     {6, 5}};
    for (size_t k = 0; k < sizeof outside / sizeof *outside; k++) {
        int code[] = {OUTER, 1, 3, 0, 1, 0, 1, 2, 2};
        code[2 + outside[k][0]] = outside[k][1];
        arrays_refused(sizeof code / sizeof *code, code, by_weight);
    }
    arrays_refused(CODE(TIMES, 2, 3, 0, 1, 1, 0, 1, 2, 2), by_weight);
    arrays_refused(CODE(OUTER, 1, 3, 0, 1, 0, 1, 2), by_weight);
    arrays_refused(CODE(OUTER), by_weight);
    static const int of_gradient[][2] = {{0, 2}, {1, 2}, {2, 2}, {3, 4}, {5, 4}, {5, 0}, {6, 2}, {6, 0}, {7, 1},
                                         {8, 2}};
    for (size_t k = 0; k < sizeof of_gradient / sizeof *of_gradient; k++) {
        int product[FACTORS];
        memcpy(product, by_weight, sizeof product);
        product[of_gradient[k][0]] = of_gradient[k][1];
        arrays_refused(CODE(TIMES, 1, 3, 0, 1, 1, 0, 1, 2, 2), product);
    }
}

/* ---- the linear solver ---- */

/* n constants 2 */
static void twos(written *b, int n)
{
    WRITE(b, 1, 1, 0, 0, 0, 1, ALWAYS, 0, n, 0);
    b->doubles[b->ndoubles++] = 2;
    for (int k = 0; k < n; k++) put(b, 0);
}

static void diagonal_pattern(written *b, int n)
{
    for (int k = 0; k <= n; k++) WRITE(b, k);
    for (int k = 0; k < n; k++) WRITE(b, k);
}

/* x' = 2 in n states, whose Jacobian is 2 I, with the elimination of a diagonal matrix */
static void write_diagonal(written *b, int n)
{
    *b = (written){.nwords = 0};
    WRITE(b, n, 0, 0, 0, 0, 0, 0, 0, 0, n, 1);
    twos(b, n);
    WRITE(b, 0, 0, 0, 0, 0, 0, 0, 0, n, 1);
    twos(b, n);
    WRITE(b, 0, 0, 0, 0, 0, 0, 0, 0, n, 1);
    diagonal_pattern(b, n);
    twos(b, n);
    WRITE(b, 0, n, n);
    diagonal_pattern(b, n);
    for (int k = 0; k < n; k++) WRITE(b, k, k, 0);              /* pivots, without terms */
    for (int list = 0; list < 4; list++)
        for (int k = 0; k < n; k++) WRITE(b, k, n - 1 - k, k, 0);
    WRITE(b, 0);
    pack(b);
}

enum { LARGEST = 200 };

/* last: the program is freed before its factorisation */
static void solved(costate_program *q, int is_complex, int last)
{
    const costate_problem *of = costate_program_problem(q);
    const costate_backend *by = costate_program_backend(q);
    double A[2 * LARGEST] = {0}, x[4 * LARGEST];
    void *self = (void *)(uintptr_t)by;
    const int parts = 1 + is_complex, n = of->n;
    for (int i = 0; i < n; i++) A[parts * i] = 1 + i;
    assert_int_equal(by->init(&self, n, of->pattern, is_complex, NULL), COSTATE_LS_OK);
    for (int transposed = 0; transposed < 2; transposed++) {
        for (int i = 0; i < 2 * parts * n; i++) x[i] = 1;       /* 1, or 1 + i */
        assert_int_equal(by->factor(self, A), COSTATE_LS_OK);
        assert_int_equal(by->solve(self, transposed, 2, x), COSTATE_LS_OK);
        /* the steps of this test exchange the order of x in both halves */
        for (int i = 0; i < 2 * parts * n; i++) assert_float_equal(x[i], 1.0 / (1 + n - 1 - i / parts % n), 1e-16);
    }
    assert_true(by->bytes(self) > 0);
    if (last) costate_program_free(q);
    by->free(self);
}

static void models_have_a_linear_solver(void **state)
{
    written b;
    (void)state;
    write_diagonal(&b, LARGEST);
    costate_program *q = loaded(&b);
    assert_non_null(costate_program_backend(q));
    solved(q, 0, 0);
    solved(q, 1, 1);
    assert_int_equal(alloc_live(), 0);
    write_diagonal(&b, LARGEST + 1);
    q = costate_program_new(b.bytes, b.size);
    assert_int_equal(costate_program_status(q), COSTATE_BAD_ARGUMENT);
    costate_program_free(q);
}

/* ---- several threads ---- */

enum { MANY = 2000, THREADS = 4, CALLS = 20000 };               /* registers: more than fit on the stack */

static void *calls(void *program)
{
    const costate_problem *of = costate_program_problem(program);
    for (long k = 0; k < CALLS; k++) {
        const double p[3] = {(double)k, (double)(size_t)&k, 0};
        double out;
        if (of->rhs.value(&(costate_point){.p = p}, &out, of->ctx) || out != p[0] + p[1]) return program;
    }
    return NULL;
}

static void calls_at_the_same_time_are_separate(void **state)
{
    written b;
    (void)state;
    write_program(&b, 0, 2, MANY);
    costate_program *q = loaded(&b);
    pthread_t thread[THREADS];
    for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_create(&thread[k], NULL, calls, q), 0);
    for (int k = 0; k < THREADS; k++) {
        void *wrong;
        pthread_join(thread[k], &wrong);
        assert_null(wrong);
    }
    costate_program_free(q);
    assert_int_equal(alloc_live(), 0);
}

/* ---- refused, and no memory ---- */

static void refused(const void *bytes, size_t size, const char *why)
{
    costate_program *q = costate_program_new(bytes, size);
    assert_int_equal(costate_program_status(q), COSTATE_BAD_ARGUMENT);
    if (!strstr(costate_program_message(q), why)) fail_msg("%s: %s", why, costate_program_message(q));
    assert_null(costate_program_problem(q));
    assert_null(costate_program_start(q));
    assert_null(costate_program_outputs(q, NULL));
    assert_null(costate_program_defaults(q));
    assert_null(costate_program_backend(q));
    costate_program_free(q);
}

/* the word at this place becomes another one, with the checksum of the new bytes */
static void changed(const written *from, uint32_t at, int32_t value)
{
    written b = *from;
    b.words[at] = value;
    pack(&b);
    refused(b.bytes, b.size, "do not fit together");
}

static void refused_again(written *b)
{
    pack(b);
    refused(b->bytes, b->size, "do not fit together");
}

static void contents_that_do_not_fit_are_refused(void **state)
{
    written b;
    (void)state;
    write_program(&b, 0, 2, 3);
    refused(b.bytes, b.size + 1, "more or fewer");
    b.nwords++;                             /* one word too many, one double, one number */
    refused_again(&b);
    b.nwords--, b.ndoubles++;
    refused_again(&b);
    b.ndoubles--, b.nnumbers++;
    refused_again(&b);
    write_program(&b, 0, 2, 3);
    b.numbers[2] = 4, b.numbers[5] = 0;     /* an operation writes behind the registers, which nothing reads */
    refused_again(&b);
    write_program(&b, 0, 2, 3);
    b.words[b.nwords - 5] = 2;              /* two entries of the Jacobian in the place of one */
    put(&b, 0);
    refused_again(&b);
    write_diagonal(&b, LARGEST);
    changed(&b, 9, LARGEST - 1);            /* fewer values of f than states */
}

static void bytes_that_are_no_program_are_refused(void **state)
{
    written b;
    (void)state;
    write_program(&b, 0, 2, 3);
    refused(NULL, 0, "too few");
    refused(b.bytes, 23, "too few");
    refused("text instead of a program", 25, "begin otherwise");
    refused(b.bytes, b.size - 1, "more or fewer");
    for (size_t k = 4 * HEAD; k < b.size; k++) {                /* one bit */
        b.bytes[k] ^= 1 << k % 8;
        refused(b.bytes, b.size, "damaged");
        b.bytes[k] ^= 1 << k % 8;
    }
    b.bytes[4]++;
    refused(b.bytes, b.size, "another version");
    b.bytes[4]--;
    costate_program_free(loaded(&b));
    changed(&b, 0, 0);                      /* no states */
    changed(&b, 1, 4);                      /* another parameter has no default */
    changed(&b, 9, 2);                      /* two values of f for one state */
    changed(&b, 11, 3);                     /* the result is in no register */
    changed(&b, 15, 2);                     /* p3 */
    changed(&b, 16, 1);                     /* p0 alone is loaded: another register is read before it is written */
    changed(&b, 21, 6);                     /* longer code */
    changed(&b, 22, 2);                     /* two results */
    costate_program *none = NULL;
    assert_int_equal(costate_program_status(none), COSTATE_NO_MEMORY);
    assert_non_null(costate_program_message(none));
    assert_null(costate_program_problem(none));
    costate_program_free(none);
}

static void memory_may_run_out(void **state)
{
    written b;
    (void)state;
    write_program(&b, 0, 2, MANY);
    const long before = alloc_live();
    int failures = 0;
    for (long call = 1;; call++) {
        alloc_fail_once(call);
        costate_program *q = costate_program_new(b.bytes, b.size);
        const int failed = alloc_failures() > 0;
        assert_int_equal(costate_program_status(q), failed ? COSTATE_NO_MEMORY : COSTATE_OK);
        failures += failed;
        if (!failed) {
            const costate_problem *of = costate_program_problem(q);
            const double p[3] = {1, 2, 3};
            double out = 0;
            alloc_fail_at(1);
            assert_true(of->rhs.value(&(costate_point){.p = p}, &out, of->ctx) < 0);
            alloc_fail_at(0);
            assert_int_equal(of->rhs.value(&(costate_point){.p = p}, &out, of->ctx), 0);
            assert_true(out == 3);
        }
        alloc_fail_at(0);
        costate_program_free(q);
        assert_int_equal(alloc_live(), before);
        if (!failed) break;
    }
    assert_true(failures > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_those_of_c),
        cmocka_unit_test(products_of_matrices),
        cmocka_unit_test(products_of_matrices_that_do_not_fit),
        cmocka_unit_test(gradients_that_are_not_requested_are_left_out),
        cmocka_unit_test(models_have_a_linear_solver),
        cmocka_unit_test(calls_at_the_same_time_are_separate),
        cmocka_unit_test(bytes_that_are_no_program_are_refused),
        cmocka_unit_test(contents_that_do_not_fit_are_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
