/* machine.c - the available memory: that of the machine, or a lower limit set for this process. */
#define _DEFAULT_SOURCE             /* BSD and GNU: _SC_PHYS_PAGES is not in POSIX */
#define _DARWIN_C_SOURCE
#include <stdio.h>
#include <stdint.h>
#include "base/machine.h"
#if defined __unix__ || defined __APPLE__
#include <sys/resource.h>
#include <unistd.h>
#endif

static size_t physical(void)
{
#if defined _SC_PHYS_PAGES && defined _SC_PAGESIZE
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0) return (size_t)pages > SIZE_MAX / (size_t)size ? SIZE_MAX : (size_t)pages * (size_t)size;
#endif
    return 0;
}

static size_t address_space(void)
{
#ifdef RLIMIT_AS
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) return (size_t)limit.rlim_cur;
#endif
    return 0;
}

/* of a container: Linux, control groups of version 2, seen from inside.  "max": no number, no limit */
static size_t control_group(void)
{
    unsigned long long bytes = 0;
#ifdef __linux__
    FILE *file = fopen("/sys/fs/cgroup/memory.max", "r");
    if (!file) return 0;
    if (fscanf(file, "%llu", &bytes) != 1 || bytes > SIZE_MAX) bytes = 0;
    fclose(file);
#endif
    return (size_t)bytes;
}

size_t memory_of_machine(void)
{
    size_t bounds[] = {physical(), address_space(), control_group()}, least = 0;
    for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++)
        if (bounds[k] && (!least || bounds[k] < least)) least = bounds[k];
    return least;
}
