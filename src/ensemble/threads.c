/* threads.c (ensemble) - starts, pins and joins the threads of the workers.  Without thread support one worker runs all
   members. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include "ensemble/ensemble.h"
#if defined __unix__ || defined __APPLE__
#include <pthread.h>
#elif defined _WIN32
#include <fenv.h>
#include <process.h>
#include "base/windows.h"
#endif
#if defined __unix__ || defined __APPLE__ || defined _WIN32

static void work(worker *w)
{
    if (w->of->all->pin) affinity_pin(&w->of->cores, w->number);
    if (worker_open(w) == 0) worker_run(w);
}

#ifdef _WIN32
/* thread: a HANDLE.  Threads of POSIX begin with the floating-point environment of who starts them; those of Windows
   with less precision in the x87 unit, which the C library's pow and exp use: results would depend on the thread. */
typedef struct { void *thread; int started; worker *of; fenv_t environment; } other;

static const unsigned long FOREVER = 0xffffffff;            /* INFINITE, of milliseconds */

static unsigned __stdcall begin(void *ctx)
{
    other *o = ctx;
    fesetenv(&o->environment);
    work(o->of);
    return 0;
}

static int start(other *o, worker *w)
{
    o->of = w;
    if (fegetenv(&o->environment) == 0) o->thread = (void *)_beginthreadex(NULL, 0, begin, o, 0, NULL);
    return o->thread != NULL;
}

static void join(const other *o)
{
    WaitForSingleObject(o->thread, FOREVER);
    CloseHandle(o->thread);
}
#else
typedef struct { pthread_t thread; int started; } other;

static void *begin(void *ctx) { return work(ctx), NULL; }
static int start(other *o, worker *w) { return pthread_create(&o->thread, NULL, begin, w) == 0; }
static void join(const other *o) { pthread_join(o->thread, NULL); }
#endif

static void with_others(ensemble *e, other *others)
{
    for (int k = 1; k < e->threads; k++)
        others[k].started = worker_given(&e->workers[k]) == 0 && start(&others[k], &e->workers[k]);
    worker_run(&e->workers[0]);
    for (int k = 1; k < e->threads; k++) if (others[k].started) join(&others[k]);
}

void threads_run(ensemble *e)
{
    other *others = e->threads > 1 ? calloc((size_t)e->threads, sizeof *others) : NULL;
    e->lock = others ? lock_new() : NULL;
    if (e->lock) with_others(e, others);
    else worker_run(&e->workers[0]);
    lock_free(e->lock);
    e->lock = NULL;
    free(others);
}

#else
void threads_run(ensemble *e) { worker_run(&e->workers[0]); }
#endif
