"""Times of events and stops: numbers become lists, and times that depend on parameters become guards.

An event at T has the guard t - T.  One at T_k = FIRST + k STEP <= LAST, k = 0, 1, ..., has a hidden memory variable s
that says which of these times come next: those with the numbers k = ceil(s), forward in time, and floor(s), backward.
Between two times s is k - 1/2; at the start it is k if the start is T_k itself.  s does not depend on the parameters,
so that all derivatives with respect to them are those of the guards t - T_k."""
import math
import sys

from .model import ANY_MODE, CROSSES, FALLS, RISES, START_FIRE, Event, Quantity
from .syntax import Fault

MOST_TIMES = 1_000_000                       # of an event
SLACK = 1e-9                                 # of a step: LAST is one of the times in spite of round-off


def times(reader):
    for event, items in reader.timed:
        numbers, guards = [], []
        for item in items:
            made = [time(reader, tree, event) for tree in item]
            if all(a is None or isinstance(a, float) for a in made):
                numbers += repeated(item, *made)
            elif event is None:
                tree = next(tree for tree, a in zip(item, made) if a is not None and not isinstance(a, float))
                raise Fault(tree[1], "the times of stops are numbers; a time that depends on parameters is that of an "
                            "event, as in event NAME at TIME")
            else:
                check_step(item, made[1])
                guards.append([reader.scope.g.c(a) if isinstance(a, float) else a for a in made])
        if len(numbers) > MOST_TIMES:
            raise Fault(items[0][0][1], f"more than {MOST_TIMES} times")
        if event is None:
            reader.model.stops = sorted({*reader.model.stops, *numbers})
            continue
        event.times = sorted(numbers)
        if guards:
            guarded(reader, event, guards)


def time(reader, tree, event):
    """A number, or the node of an expression in parameters; None: there is no tree"""
    if tree is None:
        return None
    what = "the times of events depend on parameters only" if event else "the times of stops are numbers"
    a = reader.scope.node(tree, ("p",), what)
    value = reader.scope.g.const(a)
    if value is None and not reader.scope.g.variables([a]) or value is not None and not math.isfinite(value):
        raise Fault(tree[1], "this time is not a finite number")
    return a if value is None else value


def check_step(item, step):
    if isinstance(step, float) and not step > 0:
        raise Fault(item[1][1], "the step behind 'every' must be positive")


def repeated(item, first, step, last):
    """The numbers FIRST + k STEP until LAST"""
    if step is None:
        return [first]
    check_step(item, step)
    if last < first:
        raise Fault(item[2][1], "the last time, behind 'until', is before the first one")
    if (last - first) / step > MOST_TIMES:
        raise Fault(item[1][1], f"more than {MOST_TIMES} times")
    return [first + k * step for k in range(int((last - first) / step + SLACK) + 1)]


# ---- times that depend on parameters ----

def guarded(reader, event, items):
    """Behind the event, or instead of it if it has no other times, one with a guard for each item"""
    model, made = reader.model, []
    for first, step, last in items:
        made += once(model.graph, event, first) if step is None else again(reader, event, first, step, last)
    at = model.events.index(event)
    model.events[at:at + 1] = [event] * bool(event.times) + made
    names = {e.name for e in model.events}
    for e in made[bool(not event.times):]:
        e.name = unused(event.name, names)


def unused(name, taken):
    k = 2
    while f"{name}_{k}" in taken:
        k += 1
    taken.add(f"{name}_{k}")
    return f"{name}_{k}"


def copy(event, guard, direction, **more):
    return Event(event.name, event.place, guard, direction=direction, passes=True, **{
        "active": event.active, "mode": event.mode, "terminal": event.terminal, "slopes": event.slopes,
        "jumps": dict(event.jumps), "costs": dict(event.costs)} | more)


def once(g, event, time):
    """Applied where a run passes it, in either direction, or begins there; as at given times"""
    return [copy(event, g.sub(g.v("t"), time), CROSSES, at_start=START_FIRE)]


def again(reader, event, first, step, last):
    model, g = reader.model, reader.model.graph
    count = g.f("floor", g.add(g.div(g.sub(last, first), step), g.c(SLACK)))     # the number of the last time
    value = g.least(g.largest(place(g, first, step), g.c(-0.5)), g.add(count, g.c(0.5)))
    memory = hidden(model, f"{event.name}_next", value, f"which of the times of event {event.name} come next")
    made = []
    for direction, guard, k, after in passages(g, memory, first, step):
        inside = g.cmp("<=", k, count) if direction == RISES else g.cmp(">=", k, g.c(0))
        guard = g.sel(inside, guard, g.c(-direction))
        if g.const(step) is None:
            guard = g.sel(g.cmp(">", step, g.c(0)), guard, g.c(math.nan))       # a failure with the event's name
        made.append(copy(event, guard, direction, jumps=event.jumps | after))
        if event.active != ANY_MODE:             # in other modes the time only passes
            made += [copy(event, guard, direction, active=mode, mode=None, terminal=False, costs={}, jumps=after)
                     for mode in range(len(model.modes)) if mode != event.active]
    return made


# ---- the memory variable s of the times FIRST + k STEP ----

def hidden(model, name, value, text):
    """A memory variable that the file does not name"""
    names = {q.name for q in [*model.states, *model.parameters, *model.memory, *model.costs, *model.outputs]}
    while name in names:
        name += "_"
    model.memory.append(Quantity(name, 0, len(model.memory), text=text, value=value, hidden=True))
    return model.memory[-1]


def place(g, first, step):
    """s at t: k at the time number k, k + 1/2 behind it"""
    t = g.v("t")
    turns = g.div(g.sub(t, first), step)
    k = g.f("floor", g.add(turns, g.c(0.5)))
    passed = g.mul(k, step)
    size = g.add(g.f("fabs", t), g.add(g.f("fabs", first), g.f("fabs", passed)))
    there = g.cmp("<=", g.f("fabs", g.sub(t, g.add(first, passed))), g.mul(g.c(8 * sys.float_info.epsilon), size))
    return g.sel(there, k, g.add(g.f("floor", turns), g.c(0.5)))


def passages(g, memory, first, step):
    """(direction, guard, number of the time, what it does to s) forward and backward in time"""
    s = g.v("m", memory.index)
    for direction, name in ((RISES, "ceil"), (FALLS, "floor")):
        k = g.f(name, s)
        guard = g.sub(g.v("t"), g.add(first, g.mul(k, step)))
        yield direction, guard, k, {("m", memory.index): g.add(k, g.c(direction/2))}
