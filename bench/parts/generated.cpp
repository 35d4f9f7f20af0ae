// generated.cpp - POLLU by costate.hpp, for generated.c: the table of reactions of examples/pollu.h.
#include <costate/costate.hpp>

#include "tests/cpp/models.hpp"

extern "C" const costate_problem *generated_by_cpp(void)
{
    static const costate::problem P(models::SPECIES, models::REACTIONS, models::kinetics());
    return &P.c();
}
