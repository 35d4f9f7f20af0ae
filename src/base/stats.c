/* stats.c - the sum of two statistics, member by member. */
#include <stddef.h>
#include "base/larger.h"
#include "base/stats.h"

static const size_t sums[] = {
#define S(name) offsetof(costate_stats, name)
    S(steps), S(accepted), S(rejected), S(newton_failures), S(f), S(jac), S(jac_products), S(tangents), S(adjoints),
    S(tangents2), S(adjoints2), S(differences), S(decompositions), S(complex_decompositions), S(solves),
    S(complex_solves), S(newton), S(krylov), S(products), S(power), S(stage_direct), S(stage_iterative),
    S(factors_kept), S(factors_not_kept), S(events), S(guards), S(located), S(adjoints3), S(tangents_again), S(remade),
    S(corrections), S(switches)
#undef S
};

void stats_add(costate_stats *to, const costate_stats *of_one)
{
    for (size_t k = 0; k < sizeof sums / sizeof *sums; k++)
        *(long *)(void *)((char *)to + sums[k]) += *(const long *)(const void *)((const char *)of_one + sums[k]);
    for (int k = 0; k < COSTATE_MEMBERS_MOST; k++) to->member_steps[k] += of_one->member_steps[k];
    if (of_one->tape_bytes > to->tape_bytes) to->tape_bytes = of_one->tape_bytes;
    to->correction = larger(to->correction, of_one->correction);
    to->krylov_error = larger(to->krylov_error, of_one->krylov_error);
    to->gradient_error = larger(to->gradient_error, of_one->gradient_error);
}
