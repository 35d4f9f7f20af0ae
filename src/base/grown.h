/* grown.h - structs of programs that were compiled with an earlier header, where they are shorter. */
#ifndef COSTATE_BASE_GROWN_H
#define COSTATE_BASE_GROWN_H

#include "base/verdict.h"

/* Copies options of `size` bytes, or none if NULL, to `out`: `whole` bytes, all 0.  Longer options are refused. */
int grown_read(verdict *, const char *type, const void *options, size_t size, void *out, size_t whole);

#endif
