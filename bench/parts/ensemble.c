/* ensemble.c - how an ensemble scales: gradients of Robertson's problem by one thread and by all, pinned.

       scale_ensemble [MEMBERS [PAIRS [THREADS]]]      10000, 5, as many as there are cores

   Runs alternate, one thread and all, so that what else the machine does harms both alike; the ratio of each pair of
   times counts, and their median is printed.  Beside it processor time of all threads over that of one: 1 where threads
   cost nothing, whatever the machine does beside.  Ends with 0 when all results have the same bits. */
#include <costate/ensemble.h>
#include <string.h>

#include "measure.h"
#include "robertson.h"

/* ---- one ensemble ---- */

typedef struct { double *p, *y, *lambda, *mu; } arrays;
typedef struct { double seconds, processor; } cost;

/* constants within a factor of 2 */
static void begin(arrays *a, int count)
{
    unsigned state = 1;
    for (int i = 0; i < 3 * count; i++) {
        state = state * 1664525u + 1013904223u;
        a->p[i] = robertson_rates[i % 3] * exp2((double)(state >> 8) / 8388608.0 - 1);
        a->y[i] = a->lambda[i] = i % 3 == 0;
        a->mu[i] = 0;
    }
}

static int run(arrays *a, int count, int threads, cost *of, costate_ensemble_report *report)
{
    costate_options options = {.rtol = 1e-6, .atol = 1e-10};
    costate_members all = {.count = count, .threads = threads, .pin = 1, .t1 = 1e4, .y = a->y, .p = a->p, .m = 1,
                           .lambda = a->lambda, .mu = a->mu};
    begin(a, count);
    double t = wall_now(), c = clock_now();
    int status = costate_ensemble(costate_method_find("sdirk4a"), &robertson_problem, &options, &all, report);
    of->seconds = wall_now() - t;
    of->processor = clock_now() - c;
    if (status != COSTATE_OK) fprintf(stderr, "%s\n", report->text);
    return status;
}

/* ---- pairs of them ---- */

enum { MOST = 100 };

static int pairs(arrays *one, arrays *all, int count, int runs, int threads)
{
    double ratio[MOST], processor[MOST], alone[MOST];
    size_t size = 3 * (size_t)count * sizeof(double);
    int differ = 0;
    costate_ensemble_report report;
    for (int k = 0; k < runs; k++) {
        cost a, b;
        if (run(one, count, 1, &a, &report) || run(all, count, threads, &b, &report)) return 1;
        ratio[k] = a.seconds / b.seconds;
        processor[k] = b.processor / a.processor;
        alone[k] = a.seconds;
        differ |= memcmp(one->y, all->y, size) || memcmp(one->lambda, all->lambda, size) ||
                  memcmp(one->mu, all->mu, size);
    }
    printf("%d gradients, %d threads on %d cores, %d pairs of runs\n", count, report.threads, costate_cores(), runs);
    printf("one thread: %.3f s, %.1f us a gradient\n", median(alone, runs), 1e6 * median(alone, runs) / count);
    printf("times faster by all: median %.3f", median(ratio, runs));
    printf(", least %.3f, most %.3f\n", ratio[0], ratio[runs - 1]);
    printf("processor time of all over that of one: median %.3f\n", median(processor, runs));
    if (differ) puts("results differ");
    return differ;
}

static int made(arrays *a, int count)
{
    a->p = malloc(12 * (size_t)count * sizeof *a->p);
    if (!a->p) return 0;
    a->y = a->p + 3 * count;
    a->lambda = a->y + 3 * count;
    a->mu = a->lambda + 3 * count;
    return 1;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 10000, runs = argc > 2 ? atoi(argv[2]) : 5;
    int threads = argc > 3 ? atoi(argv[3]) : 0;
    arrays one = {0}, all = {0};
    if (count < 1 || count > 1000000 || runs < 1 || runs > MOST || threads < 0) {
        fprintf(stderr, "usage: %s [MEMBERS [PAIRS [THREADS]]]\n", argv[0]);
        return 2;
    }
    int status = made(&one, count) && made(&all, count) ? pairs(&one, &all, count, runs, threads) : 1;
    free(one.p);
    free(all.p);
    return status;
}
