/* lease.c - who wrote a tape, and who works in its memory. */
#include <stdlib.h>
#include "tape/tape.h"

identity *identity_new(void)
{
    identity *i = malloc(sizeof *i);
    if (!i) return NULL;
    atomic_init(&i->refs, 1);
    atomic_init(&i->at_work, 0);
    return i;
}

void identity_hold(identity *i) { atomic_fetch_add(&i->refs, 1); }

void identity_release(identity *i)
{
    if (i && atomic_fetch_sub(&i->refs, 1) == 1) free(i);
}

static void lock(lease *l) { while (atomic_flag_test_and_set(&l->guard)) { } }

int lease_take(lease *l, identity *who, int *abandoned)
{
    lock(l);
    identity *left = l->by;
    int taken = !left || atomic_load(&left->at_work) != l->call;
    if (taken) {
        l->by = who;
        l->call = atomic_load(&who->at_work);
        identity_hold(who);
    }
    atomic_flag_clear(&l->guard);
    *abandoned = taken && left;
    if (taken) identity_release(left);
    return taken;
}

void lease_end(lease *l)
{
    lock(l);
    identity *was = l->by;
    l->by = NULL;
    atomic_flag_clear(&l->guard);
    identity_release(was);
}
