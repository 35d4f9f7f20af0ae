"""What problems, runs, events, relations, maps and functionals say of themselves in print."""


def name_of(f):
    """of a function"""
    return getattr(f, "__name__", None) or getattr(getattr(f, "func", None), "__name__", None) or type(f).__name__


def counted(number, what):
    return f"{number} {what}{'s' * (number != 1)}"


def joined(words):
    return ", ".join(word for word in words if word)


def of_map(of):
    given = [name for name in ("jac", "jac_p", "jac_t", "jac_m", "jvp", "vjp", "hvp") if getattr(of, name) is not None]
    return f"<Map {name_of(of.value)}{' with ' + ', '.join(given) if given else ''}>"


def of_problem(problem):
    if problem.model is not None:
        of = f"of {problem.model!r}"
    elif problem.residual is not None:
        of = f"{name_of(problem.residual.value)}(t, y, y', p) = 0"
    else:
        of = f"y' = {name_of(problem.rhs.value)}(t, y, p)"
    parts = [f"method {problem.method or 'auto'}", f"rtol {problem.rtol}", f"atol {problem.atol}",
             problem.cost is not None and f"costs {name_of(problem.cost.value)}",
             problem.mass is not None and "a mass matrix",
             problem.after_step is not None and f"after each step {type(problem.after_step).__name__}"]
    parts += [counted(len(items), what) for items, what in
              ((problem.events, "event"), (problem.relations, "relation"), (problem.stops, "stop")) if len(items)]
    return f"<Problem {of}: {joined([*parts, *(f'{name} {value!r}' for name, value in problem.options.items())])}>"


def of_run(run):
    derivatives = f"derivatives: {run.derivatives}" if run.recorded else "not recorded"
    return (f"<Run from t = {run.t0:.10g} to {run.t:.10g}{' (stopped)' * run.stopped}: "
            f"{counted(run.y.size, 'state')}, {counted(run.parameters, 'parameter')}, "
            f"{counted(run.stats['steps'], 'step')}, {derivatives}>")


def of_event(event):
    if event.guard is not None:
        way = {-1: "falls through", 0: "crosses", 1: "rises through"}[event.direction]
        when = f"where {name_of(event.guard.value)} {way} 0"
    else:
        times = ", ".join(f"{t:.10g}" for t in event.times[:4]) + ", ..." * (len(event.times) > 4)
        when = f"at t = {times}"
    words = [when, event.jump is not None and f"jump {name_of(event.jump.value)}",
             event.transition is not None and f"transition {name_of(event.transition.value)}",
             event.terminal and "terminal", event.active is not None and f"in mode {event.active}",
             event.to is not None and f"to mode {event.to}"]
    return f"<Event {joined(words)}>"


def of_relation(relation):
    name = name_of(relation.guard.value)
    of = f"floor({name})" if relation.whole else f"sign({name})" if relation.sign else f"{name} > 0"
    return f"<Relation {of}>"


def of_functional(functional):
    words = [functional.end is not None and f"{name_of(functional.end)} at the end",
             functional.term is not None and f"{name_of(functional.term)} at {counted(len(functional.times), 'time')}"]
    return f"<Functional {joined(words)}>"
