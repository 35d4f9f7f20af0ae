/* tape.c - shallow water with so many steps of one length: a run, its gradient, and what its tape takes.

       scale_tape [--method dopri5] [--side 40] [--steps 2000] [--h 1e-5] [--storage all|checkpoints] [--states K]
                  [--file PATH] [--resume] [--repeat R]

   Prints one line of JSON: medians of R repetitions in seconds, bytes of the tape and of its file, steps made again,
   the largest resident memory of the process, and a sum of the bits of the end and of the gradient.  --resume goes
   on with the run in PATH.  No factorisation is kept on the tape. */
#include <costate/costate.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "measure.h"
#include "swe.h"

enum { REPEAT_MOST = 99 };

typedef struct {
    const char *method, *file, *storage;
    int side, steps, states, repeat, resume;
    double h;
} task;

typedef struct {
    double forward[REPEAT_MOST], backward[REPEAT_MOST];
    size_t tape, file;
    long remade;
    int steps;
    uint64_t bits;
} result;

static uint64_t bits_of(const double *x, size_t n, uint64_t sum)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t word;
        memcpy(&word, x + i, sizeof word);
        sum = (sum ^ word) * 0x100000001b3u;
    }
    return sum;
}

static size_t file_bytes(const char *path)
{
    struct stat is;
    return path && stat(path, &is) == 0 ? (size_t)is.st_size : 0;
}

static costate_options options_of(const task *k)
{
    return (costate_options){.controller = COSTATE_FIXED, .h0 = k->h, .max_steps = 2147483647, .keep_factors = -1,
                             .solver = strcmp(k->method, "dopri5") && strcmp(k->method, "dopri853")
                                       ? COSTATE_LS_UMFPACK : COSTATE_LS_AUTO,
                             .storage = strcmp(k->storage, "all") ? COSTATE_CHECKPOINTS : COSTATE_ALL_STAGES,
                             .checkpoints = k->states};
}

/* one run and its gradient of y_0(t1) */
static int lap(const task *k, const swe *s, double *y, double *lambda, int turn, result *r)
{
    const costate_problem *P = swe_problem(s);
    size_t n = (size_t)P->n;
    costate_options o = options_of(k);
    costate *c = costate_new(costate_method_find(k->method), P, &o);
    costate_tape *tape = k->file ? costate_tape_open(k->file) : costate_tape_new();
    swe_initial(s, y);
    memset(lambda, 0, n * sizeof *lambda);
    lambda[0] = 1;
    double began = wall_now();
    int status = k->resume ? costate_resume(c, tape, y) : costate_integrate(c, 0, k->steps * k->h, y, NULL, tape);
    double went = wall_now();
    if (!status) status = costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL);
    r->forward[turn] = went - began;
    r->backward[turn] = wall_now() - went;
    r->tape = costate_tape_bytes(tape) > costate_get_stats(c)->tape_bytes ? costate_tape_bytes(tape)
                                                                        : costate_get_stats(c)->tape_bytes;
    r->remade = costate_get_stats(c)->remade;
    r->steps = costate_tape_steps(tape);
    r->bits = bits_of(lambda, n, bits_of(y, n, 14695981039346656037u));
    if (status) fprintf(stderr, "%s\n", costate_message(c));
    costate_tape_free(tape);
    costate_free(c);
    return status;
}

static void print(const task *k, int n, result *r)
{
    printf("{\"method\": \"%s\", \"n\": %d, \"steps\": %d, \"forward\": %.6g, \"backward\": %.6g, \"tape_bytes\": %zu, "
           "\"file_bytes\": %zu, \"remade\": %ld, \"peak_bytes\": %.0f, \"bits\": \"%016llx\"}\n", k->method, n,
           r->steps, median(r->forward, k->repeat), median(r->backward, k->repeat), r->tape, r->file, r->remade,
           peak_bytes(), (unsigned long long)r->bits);
}

static int run(const task *k)
{
    swe *s = swe_new(k->side, k->side);
    if (!s) return 1;
    int n = swe_problem(s)->n, status = 0;
    double *y = malloc(2 * (size_t)n * sizeof *y);
    result r = {.steps = 0};
    for (int turn = 0; y && turn < k->repeat && !status; turn++) status = lap(k, s, y, y + n, turn, &r);
    r.file = file_bytes(k->file);
    if (!status && y) print(k, n, &r);
    free(y);
    swe_free(s);
    return status != 0 || !y;
}

int main(int argc, char **argv)
{
    task k = {.method = "dopri5", .storage = "all", .side = 40, .steps = 2000, .repeat = 1, .h = 1e-5};
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(name, "--resume")) { k.resume = 1; continue; }
        i++;
        if (!strcmp(name, "--method")) k.method = value;
        else if (!strcmp(name, "--storage")) k.storage = value;
        else if (!strcmp(name, "--file")) k.file = value;
        else if (!strcmp(name, "--side")) k.side = atoi(value);
        else if (!strcmp(name, "--steps")) k.steps = atoi(value);
        else if (!strcmp(name, "--states")) k.states = atoi(value);
        else if (!strcmp(name, "--repeat")) k.repeat = atoi(value);
        else if (!strcmp(name, "--h")) k.h = atof(value);
        else { fprintf(stderr, "scale_tape: %s?\n", name); return 2; }
    }
    if (k.repeat < 1 || k.repeat > REPEAT_MOST || k.steps < 1 || (k.resume && !k.file)) return 2;
    return run(&k);
}
