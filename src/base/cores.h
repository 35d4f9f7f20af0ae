/* cores.h - which cores a thread may run on. */
#ifndef COSTATE_BASE_CORES_H
#define COSTATE_BASE_CORES_H

int cores_of_process(void);             /* how many it may use; at least 1 */

/* Where the calling thread may run; there: 0: not known. */
typedef struct {
    int there;
    unsigned char set[1024];            /* in the format of the system */
} affinity;

void affinity_get(affinity *);
void affinity_set(const affinity *);                    /* restores it */
void affinity_pin(const affinity *, int k);             /* to core k of these, modulo their number */

#endif
