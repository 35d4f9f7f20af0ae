"""Kinks become events: the branch of a condition is held in a memory variable, which changes where its guard is zero.

A step then never crosses a kink, and derivatives with respect to parameters include the change of the time at which it
is met.  A condition a < b has the guard a - b.  Its memory variable is set to BELOW where the guard falls through zero,
to ABOVE where it rises, and again after events that change the guard.  A guard that is zero at the start meets no event
there: the side to which it moves decides, and while that is not known, OPEN, the condition itself holds."""
from .model import FALLS, RISES, Event, Quantity
from .switches import is_switch

BELOW, OPEN, ABOVE = 1, 0.5, 0


def kinks_to_events(model):
    g, memory = model.graph, {}
    rates = model.kinetics()
    roots, count = rates + model.cost_nodes, len(model.states)

    def comparison(op, a, b):
        return condition(g, op, a, b, memory, model, rates)

    def function(name, a):
        if name != "fabs":
            return g.f(name, a)
        return g.sel(comparison("<", a, g.c(0)), g.neg(a), a)

    held = g.rebuilt(roots, {"cmp": comparison, "f": function})
    model.equations, model.cost_nodes, model.reactions = held[:count], held[count:], []
    model.events += at_stops(g, memory)
    for e in model.events:
        follow(g, e, memory)


def condition(g, op, x, y, memory, model, rates):
    """The comparison itself where it cannot change between events"""
    if op in ("==", "!=") or not g.variables([x, y], "y", "t") or is_switch(g, op, x, y):
        return g.cmp(op, x, y)
    guard = g.sub(x, y)
    if guard not in memory:
        memory[guard] = held(g, guard, model, rates)
    at = g.v("m", memory[guard].index)       # also where checks move it a little
    below, above = g.cmp(">", at, g.c((OPEN + BELOW) / 2)), g.cmp("<", at, g.c((OPEN + ABOVE) / 2))
    holds, fails = (below, above) if op in ("<", "<=") else (above, below)
    return g.either(holds, g.both(g.no(fails), g.cmp(op, x, y)))


def side(g, guard, at_zero):
    return g.sel(g.cmp("<", guard, g.c(0)), g.c(BELOW), g.sel(g.cmp(">", guard, g.c(0)), g.c(ABOVE), at_zero))


def held(g, guard, model, rates):
    k = 1 + sum(q.name.startswith("branch_") for q in model.memory)
    q = Quantity(f"branch_{k}", 0, len(model.memory), text="1 while the condition of a kink holds", hidden=True)
    q.value = at_start(g, guard, model, rates)
    model.memory.append(q)
    for direction, value in ((RISES, ABOVE), (FALLS, BELOW)):
        e = Event(f"kink_{k}_{'rises' if direction == RISES else 'falls'}", 0, guard, direction=direction, passes=True)
        e.jumps["m", q.index] = g.c(value)
        model.events.append(e)
    return q


def at_start(g, guard, model, rates):
    start = {(space, q.index): q.value if q.value is not None else g.c(0)
             for space, quantities in (("y", model.states), ("m", model.memory)) for q in quantities}
    moves = g.c(0)                           # where y' is not given by an equation of its own, it is not known
    if not (model.mass or model.implicit):
        seed = {g.v("y", i): f for i, f in enumerate(rates)}
        moves, = g.tangent([guard], {**seed, g.v("t"): g.c(1)})
    guard, moves = g.mapped([guard, moves], lambda v: start.get(v[1:3], g.v(*v[1:])))
    return side(g, guard, side(g, moves, g.c(OPEN)))


def at_stops(g, memory):
    """A guard that depends on states and on conditions on t jumps at stops: the side behind the stop decides anew, in
    either direction of time"""
    times = {guard: {g.const(key[3]): key[1] for a in g.order([guard]) for key in [g.nodes[a]]
                     if key[0] == "cmp" and is_switch(g, *key[1:])} for guard in memory}
    events = []
    for k, T in enumerate(sorted({T for found in times.values() for T in found}), 1):
        for direction, sign in ((RISES, 1), (FALLS, -1)):
            def behind(op, x, y):
                there = is_switch(g, op, x, y) and g.const(y) == T               # noqa: B023
                return g.cmp(op, g.c(sign), g.c(0)) if there else g.cmp(op, x, y)          # noqa: B023
            e = Event(f"stop_{k}_{'rises' if direction == RISES else 'falls'}", 0, g.sub(g.v("t"), g.c(T)),
                      direction=direction, passes=True)
            for guard, q in memory.items():
                if T in times[guard]:
                    after, = g.rebuilt([guard], {"cmp": behind})
                    e.jumps["m", q.index] = side(g, after, g.c(OPEN))
            events.append(e)
    return events


def follow(g, event, memory):
    """Other guards may be anywhere after an event that changes what they depend on."""
    for guard, q in memory.items():
        mode = event.mode is not None and g.variables([guard], "mode")
        if ("m", q.index) not in event.jumps and (mode or any(v[1:3] in event.jumps for v in g.variables([guard]))):
            after, = g.mapped([guard], lambda v: g.c(event.mode) if v[1] == "mode" and mode else
                              event.jumps.get(v[1:3], g.v(*v[1:])))
            event.jumps["m", q.index] = side(g, after, g.c(OPEN))
