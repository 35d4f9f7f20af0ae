/* tape.c (lanes) - the steps of a chunk of members, all lanes in one record, in slabs that later chunks use again. */
#include <stdlib.h>
#include "lanes/aligned.h"
#include "lanes/tape.h"

/* a record: t, h, end, y, X, and of jets V, Xd, by L; then the places of the members and three sets of bits */
typedef struct { int taken, begins, ends, member[LANES_MOST]; } record_bits;

size_t lane_tape_doubles(const batch *b)
{
    size_t states = (size_t)b->N + (size_t)b->s * (size_t)b->n;
    size_t numbers = (3 + states * (size_t)(1 + b->jet)) * (size_t)b->code->lanes;
    size_t bits = (sizeof(record_bits) + sizeof(double) - 1) / sizeof(double);
    return (numbers + bits + 7) / 8 * 8;
}

static record_bits *bits_of_record(const batch *b, const lane_record *r)
{
    size_t stages = (size_t)b->s * (size_t)b->n, of_jet = (stages + (size_t)b->N) * (size_t)b->jet;
    return (record_bits *)(void *)(r->X + (stages + of_jet) * (size_t)b->code->lanes);
}

static void place_record(const batch *b, double *at, lane_record *r)
{
    size_t L = (size_t)b->code->lanes;
    *r = (lane_record){.t = at, .h = at + L, .end = at + 2 * L, .y = at + 3 * L, .X = at + (3 + (size_t)b->N) * L};
    if (!b->jet) return;
    r->V = r->X + (size_t)b->s * (size_t)b->n * L;
    r->Xd = r->V + (size_t)b->N * (size_t)b->jet * L;
}

static double *address(const batch *b, long k)
{
    return b->driver.chunk.slab[k / SLAB_RECORDS] + (size_t)(k % SLAB_RECORDS) * b->driver.chunk.doubles;
}

/* room for one more record; 0, or COSTATE_NO_MEMORY */
static int one_more(batch *b)
{
    chunk *c = &b->driver.chunk;
    if (c->records < (long)c->slabs * SLAB_RECORDS) return 0;
    if (c->slabs == c->room) {
        int room = c->room ? 2 * c->room : 64;
        double **larger = realloc(c->slab, (size_t)room * sizeof *larger);
        if (!larger) return COSTATE_NO_MEMORY;
        c->slab = larger;
        c->room = room;
    }
    double *fresh = aligned_new(SLAB_RECORDS * c->doubles * sizeof *fresh);
    if (!fresh) return COSTATE_NO_MEMORY;
    c->slab[c->slabs++] = fresh;
    return 0;
}

int lane_tape_next(batch *b, lane_record *r)
{
    TRY(one_more(b));
    place_record(b, address(b, b->driver.chunk.records), r);
    return 0;
}

void lane_tape_commit(batch *b, const lane_record *r)
{
    record_bits *bits = bits_of_record(b, r);
    *bits = (record_bits){.taken = r->taken, .begins = r->begins, .ends = r->ends};
    for (int l = 0; l < b->code->lanes; l++) bits->member[l] = b->driver.at[l];
    b->driver.chunk.records++;
}

void lane_tape_get(const batch *b, long k, lane_record *r)
{
    place_record(b, address(b, k), r);
    record_bits *bits = bits_of_record(b, r);
    r->taken = bits->taken;
    r->begins = bits->begins;
    r->ends = bits->ends;
    r->member = bits->member;
}

size_t lane_tape_bytes(const batch *b)
{
    return (size_t)b->driver.chunk.records * b->driver.chunk.doubles * sizeof(double);
}

void lane_tape_free(batch *b)
{
    for (int k = 0; k < b->driver.chunk.slabs; k++) aligned_free(b->driver.chunk.slab[k]);
    free(b->driver.chunk.slab);
}
