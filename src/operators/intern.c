/* intern.c - numbers for equal keys, by a hash table with linear probing. */
#include <stdint.h>
#include <string.h>
#include "operators/intern.h"

size_t intern_places(size_t most)
{
    size_t places = 2;
    while (places < 2 * most) places *= 2;
    return places;
}

void intern_clear(interned *t, size_t words, size_t most)
{
    t->words = words;
    t->count = 0;
    t->mask = intern_places(most) - 1;
    memset(t->place, 0, (t->mask + 1) * sizeof *t->place);
}

enum { WORD = 8 };

/* FNV-1a over words instead of bytes; the shift lets high bits reach the low ones that choose a place */
static size_t hash(size_t words, const char *key)
{
    uint64_t h = 14695981039346656037u, word;
    for (size_t i = 0; i < words; i++) {
        memcpy(&word, key + i * WORD, WORD);
        h = (h ^ word) * 1099511628211u;
        h ^= h >> 32;
    }
    return (size_t)h;
}

const void *intern_key(const interned *t, size_t number) { return (const char *)t->keys + number * t->words * WORD; }

int intern(interned *t, const void *key)
{
    size_t bytes = t->words * WORD, at = hash(t->words, key) & t->mask;
    for (; t->place[at]; at = (at + 1) & t->mask) {
        int known = t->place[at] - 1;
        if (!memcmp(intern_key(t, (size_t)known), key, bytes)) return known;
    }
    memcpy((char *)t->keys + t->count * bytes, key, bytes);
    t->place[at] = (int)++t->count;
    return (int)t->count - 1;
}
