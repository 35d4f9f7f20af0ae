/* stores.c - the table of stores: which one serves options.storage, in memory and in a file. */
#include "tape/tape.h"

extern const store memory_store, states_store, checkpoints_store, disk_store;

static const struct { const store *in_memory, *in_file; } stores[] = {
    [COSTATE_ALL_STAGES] = {&memory_store, &disk_store},
    [COSTATE_STATES_ONLY] = {&states_store, &checkpoints_store},
    [COSTATE_CHECKPOINTS] = {&checkpoints_store, &checkpoints_store},
};
enum { STORES = sizeof stores / sizeof *stores };

const store *store_for(int storage, int in_file)
{
    return in_file ? stores[storage].in_file : stores[storage].in_memory;
}

const store *store_that_wrote(int makes_again)
{
    for (int k = 0; k < STORES; k++)
        if (stores[k].in_file->makes_again == !!makes_again) return stores[k].in_file;
    return NULL;
}
