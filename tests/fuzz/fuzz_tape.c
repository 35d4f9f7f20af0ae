/* fuzz_tape.c - files of tapes with any bytes changed, their sums made right again or not: refused with a sentence, or
   read, swept and gone on with; nothing else.

   Input: which of the tapes, what to do, and edits of two bytes of place, one of kind, one of value. */
#define _DEFAULT_SOURCE
#include <costate/costate.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "bytes.h"
#include "robertson.h"
#include "tape/frames.h"

enum { TAPES = 6, N = 3, NP = 3, HEAD_BYTES = 16 };

static int guard(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = x->y[0] - 0.9, 0; }

static costate *solver(int k)
{
    static const char *const names[] = {"dopri5", "rodas4", "radau2a"};
    static const costate_event event = {.guard.value = guard, .passes = 1, .from = COSTATE_ANY_MODE,
                                        .to = COSTATE_SAME_MODE};
    costate_problem p = {.n = N, .np = NP, .rhs.value = robertson_value, .nevents = k == 4, .event = &event};
    costate_options o = {.rtol = 1e-2, .atol = 1e-9, .max_steps = 300, .differences = 1, .checkpoints = 30,
                         .storage = k % 2 ? COSTATE_CHECKPOINTS : COSTATE_ALL_STAGES};
    return costate_new(costate_method_find(names[k / 2]), &p, &o);
}

static double end_of(int k) { return k < 2 ? 0.01 : 40; }

typedef struct { uint8_t *data; size_t length; } image;

static void path_of(char *path, size_t room) { snprintf(path, room, "/tmp/costate-fuzz-%ld", (long)getpid()); }

/* as its run leaves it */
static image whole(int k)
{
    char path[64];
    image x = {NULL, 0};
    path_of(path, sizeof path);
    remove(path);
    costate *c = solver(k);
    costate_tape *t = costate_tape_open(path);
    double y[N];
    memcpy(y, robertson_start, sizeof y);
    if (costate_integrate(c, 0, end_of(k), y, robertson_rates, t) != COSTATE_OK) {
        fprintf(stderr, "%s\n", costate_message(c));
        abort();
    }
    costate_tape_free(t);
    costate_free(c);
    FILE *in = fopen(path, "rb");
    if (!in || fseek(in, 0, SEEK_END)) abort();
    x.length = (size_t)ftell(in);
    rewind(in);
    x.data = malloc(x.length);
    if (!x.data || fread(x.data, 1, x.length, in) != x.length) abort();
    fclose(in);
    return x;
}

/* sums as its writer would have them, of all frames that lie in the file */
static void seal(image *x)
{
    for (size_t at = HEAD_BYTES; at + sizeof(frame) <= x->length;) {
        frame f;
        memcpy(&f, x->data + at, sizeof f);
        if (f.bytes > x->length - at - sizeof f) return;
        summed data = words_begin(), head = words_begin();
        words_add(&data, x->data + at + sizeof f, f.bytes / 8 * 8);
        f.sum = data.sum;
        words_add(&head, &f, offsetof(frame, check));
        f.check = ~head.sum;
        memcpy(x->data + at, &f, sizeof f);
        at += sizeof f + f.bytes;
    }
}

static void edit(bytes *b, image *x)
{
    while (b->end - b->at >= 4) {
        size_t at = (next_byte(b) | (size_t)next_byte(b) << 8) % x->length;
        unsigned kind = next_byte(b) % 5, value = next_byte(b);
        if (kind == 0) x->data[at] = (uint8_t)value;
        if (kind == 1) x->data[at] = (uint8_t)(x->data[at] + value);
        if (kind == 2) x->data[at] ^= (uint8_t)(1u << (value & 7));
        if (kind == 3) x->length = at > HEAD_BYTES ? at : x->length;
        if (kind == 4 && at + 8 <= x->length) memset(x->data + at / 8 * 8, (int)value, 8);
    }
}

static void judge(const costate *c, int status) { if (status && !*costate_message(c)) abort(); }

static void use(int k, const char *path, int resume)
{
    costate *c = solver(k);
    costate_tape *t = costate_tape_open(path);
    double y[N] = {0}, lambda[N] = {1, 0, 0}, mu[NP] = {0}, V[N] = {1, 0, 0};
    int status = resume ? costate_resume(c, t, y) : costate_tape_read(c, t);
    judge(c, status);
    if (!status) judge(c, costate_adjoint(c, t, 1, lambda, mu, NULL, NULL));
    if (!status) judge(c, costate_tangent(c, t, 1, V, NULL, NULL, NULL));
    if (!status) judge(c, costate_replay(c, t, (double[]){1, 0, 0}, robertson_rates));
    costate_tape_free(t);
    costate_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static image tapes[TAPES];
    bytes b = {data, data + size};
    int k = next_below(&b, TAPES), what = (int)next_byte(&b);
    if (!tapes[k].data) tapes[k] = whole(k);
    image x = {malloc(tapes[k].length), tapes[k].length};
    if (!x.data) abort();
    memcpy(x.data, tapes[k].data, x.length);
    edit(&b, &x);
    if (what & 1) seal(&x);
    char path[64];
    path_of(path, sizeof path);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(x.data, 1, x.length, out) != x.length || fclose(out)) abort();
    free(x.data);
    use(k, path, what & 2);
    remove(path);
    return 0;
}
