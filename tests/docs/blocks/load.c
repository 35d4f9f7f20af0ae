// load.c - docs/howto/add-a-method.md: a method from an object
#include <costate/costate.h>
#include <stdio.h>

static int f(const costate_point *x, double *out, void *ctx)
{
    out[0] = -x->y[0];
    return 0;
}

static const costate_problem problem = {.n = 1, .rhs = {.value = f}};

static int run(void)
{
    @ add-a-method static costate_report
    costate_free(solver);
    costate_method_unload(method);
    return 0;
}

int main(void)
{
    return run() != 1;                 // there is no heun.so here
}
