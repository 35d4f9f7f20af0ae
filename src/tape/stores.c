/* stores.c - what a tape can be: where its bytes go, and which steps it keeps. */
#include <stdlib.h>
#include "tape/frames.h"
#include "tape/tape.h"

extern const retention blocks_kept;

/* ---- where bytes go ---- */

costate_tape *costate_tape_new(void) { return calloc(1, sizeof(costate_tape)); }

costate_tape *tape_on(const medium *on, void *own, const retention *kept)
{
    costate_tape *t = costate_tape_new();
    frames *f = frames_new(on, own);
    if (!t || !f) { frames_free(f); free(t); return NULL; }
    t->frames = f;
    t->fixed = kept;
    return t;
}

costate_tape *costate_tape_open(const char *path)
{
    return path ? tape_on(&file_medium, file_new(path), NULL) : NULL;
}

/* ---- which steps are kept ---- */

static int none(const costate_tape *t, int k) { return (void)t, (void)k, 0; }

static const retention all_kept = {.number = 0};
static const retention states_kept = {.number = 2, .alone = 1, .stages = none};

static const struct { const retention *in_memory, *on_medium; } kept[] = {
    [COSTATE_ALL_STAGES] = {&all_kept, &all_kept},
    [COSTATE_STATES_ONLY] = {&states_kept, &blocks_kept},
    [COSTATE_CHECKPOINTS] = {&blocks_kept, &blocks_kept},
};

const retention *retention_for(const costate_tape *t, int storage)
{
    if (t->fixed) return t->fixed;
    return t->frames ? kept[storage].on_medium : kept[storage].in_memory;
}

const retention *retention_of_number(const costate_tape *t, int number)
{
    if (t->fixed && t->fixed->number == number) return t->fixed;
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
        if (kept[k].in_memory->number == number) return kept[k].in_memory;
    return NULL;
}
