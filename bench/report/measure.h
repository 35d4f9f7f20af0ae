/* measure.h - clocks, medians, memory: what all programs of the benchmark measure with. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Seconds of the processor, not of the wall: one thread runs, and what others do meanwhile is not its cost. */
static inline double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double wall_now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* sorts x; NaN where there are none */
static inline double median(double *x, int count)
{
    if (count == 0) return NAN;
    qsort(x, (size_t)count, sizeof *x, ascending);
    return (x[(count - 1) / 2] + x[count / 2]) / 2;
}

/* The most memory that this process ever had, in bytes; NaN where /proc does not say.  (getrusage's number begins with
   that of the process that called exec.) */
static inline double peak_bytes(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char text[128];
    long kB = 0;
    while (file && kB == 0 && fgets(text, sizeof text, file)) sscanf(text, "VmHWM: %ld kB", &kB);
    if (file) fclose(file);
    return kB > 0 ? 1024.0 * (double)kB : NAN;
}

#endif
