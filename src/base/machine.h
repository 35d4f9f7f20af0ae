/* machine.h - how much memory this process can use. */
#ifndef COSTATE_BASE_MACHINE_H
#define COSTATE_BASE_MACHINE_H

#include <stddef.h>

size_t memory_of_machine(void);     /* upper bound in bytes for this process; 0: unknown */

#endif
