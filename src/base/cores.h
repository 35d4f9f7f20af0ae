/* cores.h - which cores a thread may run on. */
#ifndef COSTATE_BASE_CORES_H
#define COSTATE_BASE_CORES_H

int cores_of_process(void);             /* how many it may use; at least 1 */

/* Where the calling thread may run; there: 0: not known. */
typedef struct {
    int there;
    unsigned char set[1024];            /* as the system has it */
} affinity;

void affinity_get(affinity *);
void affinity_set(const affinity *);                    /* as it was */
void affinity_pin(const affinity *, int k);             /* to the k-th core of these, counted round */

#endif
