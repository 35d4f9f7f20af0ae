/* machine.h - what is asked of the machine. */
#ifndef COSTATE_BASE_MACHINE_H
#define COSTATE_BASE_MACHINE_H

#include <stddef.h>

size_t memory_of_machine(void);     /* bytes that this process may have at most; 0: cannot be told */

#endif
