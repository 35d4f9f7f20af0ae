/* progress.c - costate_progress, a ready-made on_step: one line on a terminal that shows the progress of a long run.

   This is the only function of the library that prints, and only if the user passes it as options.on_step. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <time.h>
#include "solver/solver.h"
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

enum { STAMP, TERMINAL, BEGAN, SHOWN };       /* indices of c->work.clock; times in seconds */
static const double EVERY = 0.2;              /* seconds between two lines */

static int on_terminal(void)
{
#if defined STDERR_FILENO && !defined _WIN32
    return isatty(STDERR_FILENO);
#else
    return 0;
#endif
}

static double now(void)
{
#ifdef TIME_UTC
    struct timespec t = {0};
    return timespec_get(&t, TIME_UTC) ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : 0;
#else                                       /* C11, which not every library has */
    return (double)time(NULL);
#endif
}

/* 90 s, 45 min, 3.2 h, 12 days */
static void duration(char *out, size_t size, double s)
{
    if (s < 100) snprintf(out, size, "%.*f s", s < 10 ? 1 : 0, s);
    else if (s < 6000) snprintf(out, size, "%.0f min", s / 60);
    else if (s < 2e5) snprintf(out, size, "%.1f h", s / 3600);
    else snprintf(out, size, "%.0f days", s / 86400);
}

static void show(const costate *c, const record *r, double elapsed)
{
    char line[160], left[32];
    double done = (c->v.t - c->in.t0) / (c->in.t1 - c->in.t0);
    duration(left, sizeof left, elapsed * (1 - done) / done);
    snprintf(line, sizeof line, "%s: %3.0f %%, t = %.6g, h = %.2g, %ld steps, about %s left", c->st.m->name,
             floor(100 * done), c->v.t, fabs(r->h), c->at + 1, left);
    fprintf(stderr, "\r%-78.78s\r", line);
}

static void begin_clock(const costate *c)
{
    c->work.clock[STAMP] = (double)c->stamp;
    c->work.clock[TERMINAL] = on_terminal();
    c->work.clock[BEGAN] = c->work.clock[SHOWN] = now();
}

int costate_progress(const costate_step *s, void *ctx)
{
    (void)ctx;
    if (!s) return 0;
    const costate *c = s->c;
    double *clock = c->work.clock;
    if (clock[STAMP] != (double)c->stamp) begin_clock(c);
    if (!clock[TERMINAL]) return 0;
    double t = now();
    int over = c->v.t == c->in.t1, shown = clock[SHOWN] > clock[BEGAN];
    if (over && shown) fprintf(stderr, "\r%78s\r", "");
    if (over || t - clock[SHOWN] < EVERY) return 0;
    clock[SHOWN] = t;
    show(c, s->r, t - clock[BEGAN]);
    return 0;
}
