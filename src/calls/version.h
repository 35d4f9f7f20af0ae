/* version.h - are the structs of a program those of this library? */
#ifndef COSTATE_CALLS_VERSION_H
#define COSTATE_CALLS_VERSION_H

#include "base/verdict.h"

/* The first of the program's structs that is not the library's; NULL: all agree.  Then its sentence, or a report of the
   program's own size, emptied: its text would be garbage to print.  Both return COSTATE_VERSION_MISMATCH. */
const costate_size *mismatch(const costate_size *program);
int mismatch_said(verdict *, const costate_size *program, const costate_size *odd);
int mismatch_refused(const costate_size *program, const char *type, void *result);

/* The program's options; where they end earlier than ours a copy in room, of our size, with zeros behind. */
const void *grown(const costate_size *program, const char *type, const void *options, void *room);

#endif
