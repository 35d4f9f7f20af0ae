/* grown.c - structs of programs that were compiled with an earlier header, where they are shorter. */
#include <string.h>
#include "base/grown.h"

int grown_read(verdict *v, const char *type, const void *options, size_t size, void *out, size_t whole)
{
    if (size > whole)
        return fail(v, COSTATE_VERSION_MISMATCH,
                    "The program was compiled with the header of another version of costate, where %s has %zu bytes; "
                    "in this library, %s, it has %zu: compile the program with the header of this library, or run it "
                    "with a later library.", type, size, COSTATE_VERSION, whole);
    if (options) memcpy(out, options, size);
    return COSTATE_OK;
}
