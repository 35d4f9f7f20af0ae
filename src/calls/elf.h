/* elf.h - is a file a whole shared library? */
#ifndef COSTATE_CALLS_ELF_H
#define COSTATE_CALLS_ELF_H

#include "costate/costate.h"

/* COSTATE_OK, or COSTATE_IO with a sentence in the report, which may be NULL */
int elf_whole(const char *path, costate_report *report);

#endif
