/* grid_memory.c - NAME_new of a generated model returns NULL whichever of its allocations fails, and frees the others.

   In the C of the model, calls of malloc and calloc are replaced by those of failing_malloc and failing_calloc. */
#include HEADER

#include <stdio.h>
#include <stdlib.h>

#define JOINED(a, b) a##b
#define OF(name, what) JOINED(name, what)

void *failing_malloc(size_t bytes);
void *failing_calloc(size_t count, size_t size);

static int calls, failing;

void *failing_malloc(size_t bytes)
{
    return calls++ == failing ? NULL : malloc(bytes);
}

void *failing_calloc(size_t count, size_t size)
{
    return calls++ == failing ? NULL : calloc(count, size);
}

int main(void)
{
    for (failing = 0; failing < 100; failing++) {
        calls = 0;
        OF(NAME, _grid) *grid = OF(NAME, _new)(3, 4);
        if (!grid) continue;
        const int all = calls == failing;                    /* every call has failed once */
        OF(NAME, _free)(grid);
        if (!all) printf("call %d of %d failed, and the model was made\n", failing, calls);
        return !all || calls < 10;
    }
    puts("the model is never made");
    return 1;
}
