/* cores.c - which cores a thread may run on: those of its affinity mask, limited by the quota of the control group. */
#define _GNU_SOURCE                     /* Linux: sched_getaffinity, CPU_SET */
#define _DARWIN_C_SOURCE
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "base/cores.h"
#if defined __unix__ || defined __APPLE__
#include <unistd.h>
#endif
#include "base/windows.h"
#ifdef __linux__
#include <sched.h>
_Static_assert(sizeof(cpu_set_t) <= sizeof ((affinity *)0)->set, "the system's set of cores is larger than ours");
#endif

/* ---- affinity: only on Linux ---- */

/* Acting on one thread: sched_setaffinity of 0 is the calling thread's. */
void affinity_get(affinity *a)
{
    a->there = 0;
#ifdef __linux__
    cpu_set_t set;
    a->there = sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0;
    if (a->there) memcpy(a->set, &set, sizeof set);
#endif
}

void affinity_set(const affinity *a)
{
#ifdef __linux__
    cpu_set_t set;
    memcpy(&set, a->set, sizeof set);
    if (a->there) sched_setaffinity(0, sizeof set, &set);
#endif
    (void)a;
}

void affinity_pin(const affinity *a, int k)
{
#ifdef __linux__
    cpu_set_t all, one;
    if (!a->there) return;
    memcpy(&all, a->set, sizeof all);
    int core = 0;
    for (k %= CPU_COUNT(&all); !CPU_ISSET(core, &all) || k-- > 0;) core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
#endif
    (void)a, (void)k;
}

/* ---- how many ---- */

static int on_line(void)
{
    affinity a;
    affinity_get(&a);
#ifdef __linux__
    cpu_set_t set;
    memcpy(&set, a.set, sizeof set);
    if (a.there) return CPU_COUNT(&set);
#endif
#ifdef _SC_NPROCESSORS_ONLN
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    if (count > 0 && count < INT_MAX) return (int)count;
#endif
#ifdef _WIN32
    unsigned long active = GetActiveProcessorCount(EVERY_GROUP);
    if (active > 0 && active < INT_MAX) return (int)active;
#endif
    return 1;
}

/* of a container: Linux, control groups of version 2, seen from inside: microseconds of processor time in a period.  A
   part of a core counts as one.  "max": no number, no limit */
static int quota(void)
{
    double time, period, cores = 0;
#ifdef __linux__
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "r");
    if (!file) return INT_MAX;
    if (fscanf(file, "%lf %lf", &time, &period) == 2 && time > 0 && period > 0) cores = time / period;
    fclose(file);
#else
    (void)time, (void)period;
#endif
    if (!(cores > 0 && cores < INT_MAX / 2)) return INT_MAX;
    return cores > (int)cores ? (int)cores + 1 : (int)cores;
}

int cores_of_process(void)
{
    int count = on_line(), most = quota();
    return count < most ? count : most;
}
