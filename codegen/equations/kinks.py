"""Kinks become events: the branch of a condition is held in a memory variable, which changes where its guard is zero.

A step then never crosses a kink, and derivatives with respect to parameters include the change of the time at which it
is met.  A condition a < b becomes m > 1/2; m is set to 1 where a - b falls through zero and to 0 where it rises."""
from .model import FALLS, RISES, Event, Quantity


def kinks_to_events(model):
    g, memory = model.graph, {}
    roots, count = model.kinetics() + model.cost_nodes, len(model.states)

    def comparison(op, a, b):
        return condition(g, op, a, b, memory, model)

    def function(name, a):
        if name != "fabs":
            return g.f(name, a)
        return g.sel(comparison("<", a, g.c(0)), g.neg(a), a)

    held = g.rebuilt(roots, {"cmp": comparison, "f": function})
    model.equations, model.cost_nodes, model.reactions = held[:count], held[count:], []


def condition(g, op, x, y, memory, model):
    """The comparison itself where it cannot change between events"""
    if op in ("==", "!=") or not g.variables([x, y], "y", "t"):
        return g.cmp(op, x, y)
    guard = g.sub(x, y)
    if guard not in memory:
        memory[guard] = held(g, guard, model)
    below = g.cmp(">", g.v("m", memory[guard].index), g.c(0.5))
    return below if op in ("<", "<=") else g.no(below)


def held(g, guard, model):
    """1 while the guard is below zero"""
    k = 1 + sum(q.name.startswith("branch_") for q in model.memory)
    q = Quantity(f"branch_{k}", 0, len(model.memory), text="1 while the condition of a kink holds")
    start = {("y", s.index): s.value if s.value is not None else g.c(0) for s in model.states}
    at_start = g.mapped([guard], lambda v: start.get(v[1:3], g.v(*v[1:])))[0]
    q.value = g.sel(g.cmp("<", at_start, g.c(0)), g.c(1), g.c(0))
    model.memory.append(q)
    for direction, value in ((RISES, 0), (FALLS, 1)):
        e = Event(f"kink_{k}_{'rises' if direction == RISES else 'falls'}", 0, guard, direction=direction, passes=True)
        e.jumps["m", q.index] = g.c(value)
        model.events.append(e)
    return q
