"""`start steady` and `start periodic`: runs begin in a limit of the solution from the initial values.

    start steady [with NAME = NUMBER, ...]     where it comes to rest, with these values of parameters
    start periodic PERIOD                      on the periodic orbit with this period
    start periodic near PERIOD                 on the limit cycle with about this period

The library solves for both (costate/steady.h, costate/periodic.h).  What is printed here are their options as data, and
for a steady state the problem without events at given times, which belong to the run."""
import math
from dataclasses import dataclass, field

from .syntax import Fault, near

STEADY, PERIODIC = "steady", "periodic"


@dataclass
class StartLimit:
    kind: str                                # STEADY or PERIODIC
    place: int
    fixed: list = field(default_factory=list)    # (index of a parameter, its value in the steady state)
    period: float = 0.0
    near: bool = False                       # the period is a guess


# ---- reading ----

def read(reader, place):
    """The words behind `start`; resolve() replaces the names, as parameters may be declared below"""
    if reader.start_limit:
        raise Fault(place, "the start of runs is declared twice")
    if reader.tokens.word(PERIODIC):
        limit = StartLimit(PERIODIC, place, near=reader.tokens.word("near"))
        tree = reader.tokens.expression()
        limit.period = constant(reader, tree, "the period")
        if limit.period <= 0:
            raise Fault(tree[1], "the period must be positive")
    elif reader.tokens.word(STEADY):
        limit = StartLimit(STEADY, place)
        if reader.tokens.word("with"):
            limit.fixed = reader.tokens.commas(lambda: one_fixed(reader))
    else:
        raise Fault(reader.tokens.place, f"expected steady or periodic, found {reader.tokens.found()}")
    reader.start_limit = limit


def one_fixed(reader):
    """(name, place, indices, value)"""
    name, at = reader.tokens.take("name", "a parameter")[1:]
    indices = reader.tokens.indices() if reader.tokens.peek()[0] == "[" else None
    reader.tokens.take("=", "'=' and the value in the steady state")
    return name, at, indices, constant(reader, reader.tokens.expression(), f"the value of {name} in the steady state")


def constant(reader, tree, what):
    value = reader.scope.g.const(reader.scope.node(tree, (), f"{what} is a number"))
    if value is None or not math.isfinite(value):
        raise Fault(tree[1], f"{what} is a finite number")
    return value


def resolve(reader):
    """Names become indices"""
    limit = reader.start_limit
    if limit is None:
        return
    model, known = reader.model, {q.name: q.index for q in reader.model.parameters}
    if model.on_grid:
        raise Fault(limit.place, "models on grids start from their initial values: steady states and periodic orbits "
                    "of few states can be the start")
    fixed = {}
    for name, at, indices, value in limit.fixed:
        if indices is not None:
            if len(indices) != 1:
                raise Fault(at, f"{name} has one index")
            name = f"{name}[{reader.scope.whole(indices[0], 'an index')}]"
        if name not in known:
            raise Fault(at, f"{name} is not a parameter" + near(name, known))
        if known[name] in fixed:
            raise Fault(at, f"{name} has two values")
        fixed[known[name]] = value
    limit.fixed = sorted(fixed.items())
    model.start_limit = limit


# ---- printing ----

def kept_events(model):
    """Numbers of the events that can also occur before a run: their guards depend on states"""
    return [k for k, e in enumerate(model.events)
            if e.guard is not None and model.graph.variables([e.guard], "y", "yp")]


def data(model):
    """For programs that load the model: about.py"""
    limit = model.start_limit
    if limit is None:
        return {}
    if limit.kind == STEADY:
        return dict(start=dict(kind=STEADY, fixed=[k for k, _ in limit.fixed], values=[x for _, x in limit.fixed],
                               events=kept_events(model)))
    return dict(start=dict(kind=PERIODIC, period=limit.period, near=limit.near))


STEADY_DECLARATIONS = """
/* Runs begin where the solution from {0}_start comes to rest.  These are for costate_steady_new, the problem without
   events at given times; costate_steady_map is the jump of an event at the start of the run. */
const costate_problem *{0}_start_problem(void);
const costate_steady_options *{0}_start_steady(void);
"""
PERIODIC_DECLARATIONS = """
/* Runs begin on a periodic orbit.  The options are for costate_periodic_new; {0}_start gives a guess of y, and
   {0}_start_period the period{1}. */
const costate_periodic_options *{0}_start_periodic(void);
extern const double {0}_start_period;
"""


def include(model):
    return f"#include <costate/{model.start_limit.kind}.h>\n" if model.start_limit else ""


def declarations(model, name):
    limit = model.start_limit
    if limit is None:
        return ""
    return STEADY_DECLARATIONS.format(name) if limit.kind == STEADY else \
        PERIODIC_DECLARATIONS.format(name, " or a guess of it" * limit.near)


def text(model, name, number, array, rows, members_of_problem):
    """What is declared above.  number, array: how constants and arrays are printed; rows: of the array of events;
    members_of_problem: initializers of those that do not concern events and stops"""
    limit = model.start_limit
    if limit is None:
        return ""
    if limit.kind == PERIODIC:
        period = number(limit.period)
        member = "" if limit.near else f".period = {period}"
        return f"const costate_periodic_options *{name}_start_periodic(void)\n{{\n    static const " \
            f"costate_periodic_options options = {{{member or '.period = 0'}}};\n    return &options;\n}}\n\n" \
            f"const double {name}_start_period = {period};\n\n"
    kept, out, members, parts = kept_events(model), "", ".nfixed = 0", list(members_of_problem)
    if limit.fixed:
        out += array("static const int", "fixed_at_rest", [k for k, _ in limit.fixed])
        out += array("static const double", "values_at_rest", [number(x) for _, x in limit.fixed])
        members = f".fixed = fixed_at_rest, .values = values_at_rest, .nfixed = {len(limit.fixed)}"
    if kept:
        out += "static const costate_event events_at_rest[] = {\n" + "".join(rows[k] for k in kept) + "};\n\n"
        parts.append(f".nevents = {len(kept)}, .event = events_at_rest")
    return out + f"const costate_problem *{name}_start_problem(void)\n{{\n" \
        "    static const costate_problem problem = {\n        " + ",\n        ".join(parts) + \
        f"}};\n    return &problem;\n}}\n\nconst costate_steady_options *{name}_start_steady(void)\n{{\n" \
        f"    static const costate_steady_options options = {{{members}}};\n    return &options;\n}}\n\n"
