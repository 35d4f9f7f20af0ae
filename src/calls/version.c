/* version.c - the version of the library and the sizes of its public structs. */
#include <string.h>
#include <costate/accuracy.h>
#include <costate/bvp.h>
#include <costate/ensemble.h>
#include <costate/operators.h>
#include <costate/periodic.h>
#include <costate/pieces.h>
#include <costate/steady.h>

const char *costate_version(void) { return COSTATE_VERSION; }

size_t costate_sizeof(const char *type)
{
#define S(name) {"costate_" #name, sizeof(costate_##name)}
    static const struct { const char *type; size_t size; } structs[] = {
        S(point), S(gradient), S(map), S(pattern), S(event), S(relation), S(after_step), S(problem), S(method_info),
        S(preconditioner), S(options), S(stats), S(times), S(observations), S(second), S(forecast), S(report),
        S(finding), S(conditions), S(bvp_iteration), S(bvp_options), S(bvp_stats), S(bvp_tangents), S(bvp_adjoints),
        S(bvp_second), S(lane_point), S(lane_gradient), S(lane_map), S(lane_maps), S(members), S(ensemble_report),
        S(functional), S(derivatives), S(products), S(product_estimate), S(estimate), S(goal), S(part), S(polynomial),
        S(term), S(terms), S(formulas), S(bounds), S(invariants), S(measurements),
        S(measured), S(replaced),
        S(periodic_options), S(orbit), S(steady_options), S(steady_stats),
    };
#undef S
    for (size_t k = 0; type && k < sizeof structs / sizeof *structs; k++)
        if (strcmp(structs[k].type, type) == 0) return structs[k].size;
    return 0;
}
