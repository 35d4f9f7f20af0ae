// headers.cpp - the public headers compile as C++11, and their functions have C linkage.
#include <costate/costate.h>
#include <costate/linsol.h>

extern "C" {
static int value(const costate_point *, double *out, void *) { out[0] = 0.0; return 0; }
}

int main()
{
    costate_problem problem = costate_problem();
    costate_options options = costate_options();
    costate_backend backend = costate_backend();
    problem.n = 1;
    problem.rhs.value = value;
    options.backend = &backend;
    return problem.n == 1 && options.solver == COSTATE_LS_AUTO ? 0 : 1;
}
