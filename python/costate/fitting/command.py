"""costate fit MODEL DATA.csv [NAME=GUESS ...]: fits a model to a table, and prints estimates with their errors.
costate fit PROBLEM.yaml: the same for a PEtab problem.

    MODEL           an equation file (.eq), or SBML (.xml)
    DATA.csv        the time, then columns named like states or outputs of the model; sigma_NAME: standard deviations;
                    a parameter, or condition: rows that agree in it belong to one experiment.  Empty: not measured;
                    <2.5 or >2.5: the value is below or above this bound
    NAME=GUESS      an unknown; NAME=GUESS:LOW:HIGH: with bounds; NAME alone: from its value in the model.  Without any,
                    all parameters that are no column of the table
    --sigma S       standard deviation of columns without one: a number, or the name of an unknown
    --noise WORD    normal, log-normal, laplace or log-laplace
    --log           the search sees logarithms of the unknowns, which are positive
    --starts N      searches from N points between the bounds
    --profiles      intervals by profile likelihoods, too
    --page FILE     one HTML page with tables and pictures

The exit status is 0, 1 if the search did not converge, and 2 if the input is not right."""
import argparse
import sys

from costate._library import CostateError

SCALES = {True: "log10", False: "linear"}


class Wrong(ValueError):
    """of the words of the command"""


class Words(argparse.ArgumentParser):
    def error(self, message):
        raise Wrong(f"{message}; costate fit --help describes the command")


def words_of(words):
    reader = Words(prog="costate fit", add_help=False)
    reader.add_argument("model")
    reader.add_argument("rest", nargs="*")
    reader.add_argument("--sigma")
    reader.add_argument("--noise", default="normal")
    reader.add_argument("--starts", type=int, default=1)
    reader.add_argument("--page")
    for flag in ("--log", "--profiles"):
        reader.add_argument(flag, action="store_true")
    return reader.parse_intermixed_args(words)


def unknown_of(word, model, log):
    """(name, Unknown) of NAME, NAME=GUESS or NAME=GUESS:LOW:HIGH"""
    from costate.fitting import Unknown
    name, given, numbers = word.partition("=")
    try:
        values = [float(part) if part else None for part in numbers.split(":")] if given else [None]
    except ValueError:
        raise Wrong(f"{word!r} is no unknown: expected NAME=GUESS or NAME=GUESS:LOW:HIGH") from None
    if len(values) not in (1, 3):
        raise Wrong(f"{word!r} has {len(values)} numbers: expected NAME=GUESS or NAME=GUESS:LOW:HIGH")
    if values[0] is None:
        if name not in model.parameters:
            raise Wrong(f"{name!r} has no guess: it is no parameter of {model.name}; write {name}=GUESS")
        values[0] = float(model.defaults[model.parameters.index(name)])
    return name, Unknown(*values, scale=SCALES[log])


def number_or_word(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return text


def of_model(given):
    from costate.fitting import fit, read_table
    from costate.models import Model
    if not given.rest:
        raise Wrong(f"there are no data: costate fit {given.model} DATA.csv")
    model, (table, *names) = Model.from_file(given.model), given.rest
    data = read_table(table, model, number_or_word(given.sigma), given.noise)
    fixed = {name for condition in data.values() for name in condition.p}
    names = names or [name for name in model.parameters if name not in fixed]
    unknowns = [unknown_of(word, model, given.log) for word in names]
    guess = dict(unknowns)
    if len(guess) < len(unknowns):
        raise Wrong(f"an unknown is named twice: {', '.join(name for name, _ in unknowns)}")
    return fit(model, data, guess, starts=given.starts)


def of_problem(given):
    from costate.fitting import of_petab
    if given.rest:
        raise Wrong(f"{given.rest[0]!r} is one word too many: a PEtab problem names its data and unknowns itself")
    return of_petab(given.model, starts=given.starts)


def main(words):
    if not words or {"-h", "--help"} & set(words):
        print(__doc__, file=sys.stdout if words else sys.stderr)
        return 0 if words else 2
    try:
        given = words_of(words)
        found = (of_problem if given.model.endswith((".yaml", ".yml")) else of_model)(given)
        print(found)
        for name in found.names if given.profiles else ():
            print(found.profile(name))
        if given.page:
            found.write_page(given.page, profiles=given.profiles)
            print(f"{given.page} was written")
        return 0 if found.converged else 1
    except OSError as error:
        print(f"costate fit: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    except (ImportError, CostateError, ArithmeticError, ValueError) as error:
        print(f"costate fit: {error}", file=sys.stderr)
        return 2
