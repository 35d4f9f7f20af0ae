/* test_faults_files.c - open, pread, pwrite, ftruncate, fstat, flock fail at call k, alone or from there on, in each
   act on a tape in a file: a status with the system's words, and all as ever when the disk is back; interrupted and
   short transfers are gone on with; a run that had no room left goes on from its file to the same bits.

   COSTATE_FAULTS=all: every k of every act of every case of acts.h, else some drawn from a seed. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <unistd.h>
#include "disk.h"
#include "faults.h"

static const struct { const char *how; int kind; } ways[] = {
    {"no space", ENOSPC}, {"an error of the disk", EIO}, {"no locks", ENOLCK}, {"interrupted", EINTR},
    {"short", DISK_SHORT}, {"at an end", DISK_END}};
enum { WAYS = sizeof ways / sizeof *ways };

/* interrupted again and again is no failure of this act, but would never end */
static int recovers(int kind, int ever) { return kind == DISK_SHORT || (kind == EINTR && !ever); }

static int allowed(int kind, int status)
{
    if (kind == DISK_END) return status == COSTATE_BAD_TAPE || status == COSTATE_IO || status == COSTATE_OK;
    return status == COSTATE_IO;
}

/* What a run without room left is gone on with from, by a solver of its own: its bits, or nothing was there. */
static void gone_on(const fault *f, act_world *w, long k, const char *how)
{
    double y[ACT_N], out[ACT_OUT] = {0};
    if (access(w->path, F_OK) != 0) return;                  /* not even made */
    costate_tape_free(w->tape);
    w->tape = costate_tape_open(w->path);
    costate *c = costate_new(f->x->m, &w->P, &w->o);
    int status = costate_resume(c, w->tape, y);
    if (status != COSTATE_OK && status != COSTATE_BAD_TAPE) faults_complain(f, k, how, status, costate_message(c));
    memcpy(out, y, (size_t)(w->base.n + w->base.nq + w->base.nm) * sizeof *y);
    if (status == COSTATE_OK) faults_same(f, out, f->expected[ACT_RUN], k, how);
    costate_free(c);
}

/* how many calls were harmed */
static long at_call(fault *f, long k, int way, int ever)
{
    static act_world w;
    int kind = ways[way].kind;
    long before = alloc_live();
    faults_open(f, &w);
    int status = act_before(&w, f->act);
    if (status != COSTATE_OK) faults_complain(f, k, ways[way].how, status, w.said);
    disk_fail(kind, k, ever ? LONG_MAX : k + 1);
    status = act_do(&w, f->act);
    long harmed = disk_failures(), calls = disk_calls();
    disk_fail(0, 0, 0);
    faults_said(f, &w, k, ways[way].how, status);
    int wanted = harmed == 0 || recovers(kind, ever) ? status == COSTATE_OK : allowed(kind, status);
    if (!wanted) faults_complain(f, k, ways[way].how, status, w.said);
    if (status == COSTATE_IO && f->act < ACT_READ && kind > 0 && !strstr(w.said, strerror(kind)))
        faults_complain(f, k, ways[way].how, status, w.said);
    if (status == COSTATE_OK) faults_same(f, w.out, f->out, k, ways[way].how);
    if (status == COSTATE_IO && f->act == ACT_RUN) gone_on(f, &w, k, ways[way].how);
    if (status != COSTATE_OK && f->act > ACT_GO_ON) {        /* tapes whose sweep failed need not be whole */
        int again = act_do(&w, f->act);
        if (again != COSTATE_OK) faults_complain(f, k, "the same sweep again", again, w.said);
        faults_same(f, w.out, f->out, k, ways[way].how);
    }
    if (f->act <= ACT_GO_ON) faults_again(f, &w, k, ways[way].how);
    act_close(&w);
    if (alloc_live() != before) fail_msg("%s: %s: a leak", f->x->name, act_names[f->act]);
    f->tried++;
    f->harmed += status != COSTATE_OK;
    return k <= calls;
}

/* the first calls are all tried */
static long step(long k, unsigned *seed) { return k < 4 ? 1 : 1 + random_below(seed, faults_all() ? 4 : 60); }

static void every_call(fault *f, unsigned *seed)
{
    if (!f->x->file) return;
    for (int way = 0; way < WAYS; way++)
        for (int ever = 0; ever <= (ways[way].kind != EINTR); ever++)
            for (long k = 1; at_call(f, k, way, ever); k += step(k, seed)) ;
}

static void files(void **state)
{
    (void)state;
    faults_each(3, every_call);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(files)};
    return cmocka_run_group_tests_name("the disk fails in any act", tests, NULL, NULL);
}
