"""costate petab PROBLEM.yaml [--check] [--posterior]: the log-likelihood of a PEtab problem and its gradient.

    --check         the gradient by adjoints against tangents and differences of replayed runs
    --posterior     with the priors of the table of parameters

It prints the log-likelihood and its gradient at the nominal parameters, with estimated errors.  The exit status is 0, 1
if a check fails, and 2 if the problem is not right."""
import sys

from costate._library import CostateError
from costate.petab.problem import Problem
from costate.petab.tables import PetabError

AGREE = 1e-6            # differences of replays have round-off of about 1e-8
TANGENT = 1e-7          # of steps whose Newton's iteration ends at its tolerance


def table(problem, found):
    width = max(map(len, problem.names), default=4)
    yield f"{'':{width}}  scale        value   d log L / d value       error"
    for k, name in enumerate(problem.names):
        yield f"{name:{width}}  {problem.scales[k]:5} {problem.nominal[k]:12.6g}   {found.gradient[k]:17.10g}   " \
              f"{found.error.gradient[k]:+9.1e}"


def checked(problem):
    from costate.petab.check import check
    found = check(problem)
    lines = [f"along a random direction: adjoint {found.adjoint:.10g}, estimated error {found.adjoint_error:+.1e}",
             f"    tangents {found.tangent:.10g}, relative difference {found.by_tangent:.1e}",
             f"    differences of replayed runs {found.difference:.10g}, relative difference "
             f"{found.by_difference:.1e}, their own uncertainty {found.uncertainty:.0e}"]
    right = found.by_tangent < TANGENT and found.by_difference <= max(AGREE, 10 * found.uncertainty)
    return lines + ["the gradient passes" if right else "the gradient is not confirmed"], bool(right)


def main(words):
    paths = [word for word in words if not word.startswith("-")]
    flags = {word for word in words if word.startswith("-")}
    if len(paths) != 1 or not flags <= {"--check", "--posterior"}:
        print(__doc__, file=sys.stdout if flags & {"-h", "--help"} else sys.stderr)
        return 0 if flags & {"-h", "--help"} else 2
    try:
        problem = Problem(paths[0], posterior="--posterior" in flags)
        print(problem)
        found = problem.gradient(estimate=True)
        print(f"log-{'posterior' if problem.posterior else 'likelihood'} {found.value:.12g}, "
              f"estimated error {found.error.value:+.1e}")
        for id_, way in problem.preequilibration.items():
            print(f"pre-equilibration {id_}: {way}")
        print(*table(problem, found), sep="\n")
        lines, right = checked(problem) if "--check" in flags else ([], True)
        print(*lines, sep="\n", end="\n" if lines else "")
        return 0 if right else 1
    except (PetabError, ImportError, CostateError, ArithmeticError, ValueError) as error:
        print(f"costate petab: {error}", file=sys.stderr)
        return 2
