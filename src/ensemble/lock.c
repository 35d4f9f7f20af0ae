/* lock.c (ensemble) - a mutex; without thread support it does nothing. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include "ensemble/ensemble.h"
#if defined __unix__ || defined __APPLE__
#include <pthread.h>

struct lock { pthread_mutex_t mutex; };

struct lock *lock_new(void)
{
    struct lock *l = malloc(sizeof *l);
    if (!l || pthread_mutex_init(&l->mutex, NULL) == 0) return l;
    free(l);
    return NULL;
}

void lock_free(struct lock *l)
{
    if (l) pthread_mutex_destroy(&l->mutex);
    free(l);
}

void lock(struct lock *l) { if (l) pthread_mutex_lock(&l->mutex); }
void unlock(struct lock *l) { if (l) pthread_mutex_unlock(&l->mutex); }

#elif defined _WIN32
#include "base/windows.h"

struct lock { slim_lock one; };

struct lock *lock_new(void) { return calloc(1, sizeof(struct lock)); }
void lock_free(struct lock *l) { free(l); }
void lock(struct lock *l) { if (l) AcquireSRWLockExclusive(&l->one); }
void unlock(struct lock *l) { if (l) ReleaseSRWLockExclusive(&l->one); }

#else
struct lock *lock_new(void) { return NULL; }
void lock_free(struct lock *l) { (void)l; }
void lock(struct lock *l) { (void)l; }
void unlock(struct lock *l) { (void)l; }
#endif
