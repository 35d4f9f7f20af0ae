/* again.h - calls of the system that a signal may interrupt. */
#ifndef COSTATE_BASE_AGAIN_H
#define COSTATE_BASE_AGAIN_H

#include <errno.h>

#define AGAIN(result, call) do (result) = (call); while ((result) < 0 && errno == EINTR)

#endif
