/* intern.h - numbers for equal keys: a key that was seen before gets its number again. */
#ifndef COSTATE_OPERATORS_INTERN_H
#define COSTATE_OPERATORS_INTERN_H

#include <stddef.h>

typedef struct {
    size_t words, count;        /* of a key; distinct keys so far: 0 .. count - 1 */
    size_t mask;                /* places - 1, where places is a power of two, larger than the number of keys */
    void *keys;                 /* count by words, of 8 bytes each */
    int *place;                 /* the number of a key plus 1; 0: free */
} interned;

size_t intern_places(size_t most);                             /* for at most this many keys */
void intern_clear(interned *, size_t words, size_t most);      /* keys and place are the caller's */
int intern(interned *, const void *key);                       /* the number of this key */
const void *intern_key(const interned *, size_t number);

#endif
