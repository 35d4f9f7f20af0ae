// headers.cpp - the public headers compile as C++11; their functions, also those that are macros, too, have C linkage.
#include <costate/accuracy.h>
#include <costate/bvp.h>
#include <costate/costate.h>
#include <costate/ensemble.h>
#include <costate/linsol.h>
#include <costate/operators.h>
#include <costate/periodic.h>
#include <costate/steady.h>
#include <costate/pieces.h>
#include <costate/program.h>

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
    options.backend = &backend;                     // not used by an explicit method
    costate *c = costate_new(costate_method_find("dopri5"), &problem, &options);
    costate *(*plain)(const costate_method *, const costate_problem *, const costate_options *) = costate_new;
    costate *d = plain(costate_method_find("dopri5"), &problem, &options);
    int made = costate_status(c) == COSTATE_OK && costate_status(d) == COSTATE_OK;
    costate_free(c);
    costate_free(d);
    costate_conditions conditions = costate_conditions();
    costate_bvp_options more = costate_bvp_options();
    conditions.map.value = value;
    conditions.count = 1;
    costate_bvp *b = costate_bvp_new(costate_method_find("gauss2"), &problem, &conditions, &more);
    costate_bvp *(*other)(const costate_method *, const costate_problem *, const costate_conditions *,
                          const costate_bvp_options *) = costate_bvp_new;
    made = made && b && other && costate_bvp_intervals(b) == 0;
    costate_bvp_free(b);
    costate_members members = costate_members();
    costate_ensemble_report report = costate_ensemble_report();
    double y = 1;
    members.count = 1;
    members.y = &y;
    int (*many)(const costate_method *, const costate_problem *, const costate_options *, const costate_members *,
                costate_ensemble_report *) = costate_ensemble;
    made = made && costate_ensemble(costate_method_find("dopri5"), &problem, NULL, &members, &report) == COSTATE_OK;
    made = made && many && report.done == 1;
    costate_part part = costate_part();
    costate_polynomial polynomial = costate_polynomial();
    costate_splitting *s = costate_splitting_new(&problem, 1, &part);
    costate_chebyshev *k = costate_chebyshev_new(&problem, &polynomial);
    costate_splitting *(*parts)(const costate_problem *, int, const costate_part *) = costate_splitting_new;
    costate_chebyshev *(*terms)(const costate_problem *, const costate_polynomial *) = costate_chebyshev_new;
    made = made && parts && terms && costate_splitting_status(s) == COSTATE_BAD_ARGUMENT;
    made = made && costate_chebyshev_status(k) == COSTATE_MISSING;
    costate_splitting_free(s);
    costate_chebyshev_free(k);
    costate_formulas formulas = costate_formulas();
    costate_event event = costate_event();
    costate_measurements measurements = costate_measurements();
    int (*terms_of)(costate_formulas *, const costate_problem *, costate_event *, costate_report *) =
        costate_formulas_event;
    made = made && terms_of && costate_formulas_event(&formulas, &problem, &event, NULL) == COSTATE_BAD_ARGUMENT;
    made = made && costate_formulas_cost(&formulas, &problem, NULL) == COSTATE_BAD_ARGUMENT;
    costate_misfit *misfit = costate_misfit_new(&problem, &measurements);
    made = made && costate_misfit_status(misfit) == COSTATE_BAD_ARGUMENT;
    costate_misfit_free(misfit);
    return made && problem.n == 1 && options.solver == COSTATE_LS_AUTO ? 0 : 1;
}
