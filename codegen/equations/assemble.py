"""The trees that a Reader collected become the nodes of its Model: equations, mass matrix, costs, events, start."""
from . import start_limit
from .model import Reaction
from .nodes import LEAVES
from .relations import conditions_to_relations
from .scope import MOST_TERMS
from .switches import switches_to_stops
from .syntax import Fault, near
from .times import times
from .unit_check import UnitCheck

FREE = ("p", "t", "size")                    # of initial values and boundaries
POINT = ("y", "p", "t", "m", "mode", "size", "axis")


def assemble(reader):
    ends_of_axes(reader)
    equations(reader)
    reactions(reader)
    model, scope = reader.model, reader.scope
    no_prime = "a derivative in time stands only in equations and events"
    if model.on_grid:
        only_on_points(reader)
        reader.cost_trees = [tree and of_a_cell(tree) for tree in reader.cost_trees]
    model.cost_nodes = [scope.g.c(0) if tree is None else scope.node(tree, POINT, no_prime)
                        for tree in reader.cost_trees]
    model.output_nodes = [scope.node(tree, POINT, no_prime) for tree in reader.output_trees]
    for q, tree in reader.starts:
        q.value = scope.node(tree, FREE + (("axis",) if q.axes else ()), "an initial value depends on parameters only")
        if any(any(key[3]) for key in scope.g.variables([q.value])):
            raise Fault(tree[1], "an initial value depends on parameters of its own cell only")
    events(reader)
    times(reader)
    start_limit.resolve(reader)
    if reader.check_units:
        model.units = f"checked, t has the unit {UnitCheck(reader).check() or 'that is not given'}"
    switches_to_stops(model)
    if not model.on_grid and not reader.branches:
        conditions_to_relations(model, reader.kinks)
    if not model.states:
        raise Fault(reader.tokens.place, "the file declares no state")


# ---- grids ----

def ends_of_axes(reader):
    model, scope = reader.model, reader.scope
    fields = {q.name: q for q in model.states if q.axes}
    single = [q for q in model.states if not q.axes]
    if fields and single:
        raise Fault(single[0].place, "fields and single states in one model are not generated")
    if model.on_grid and not fields and model.states:
        raise Fault(model.states[0].place, "the model has a grid, but its states are not fields")
    axes = {axis.name: axis for axis in model.axes}
    for field, field_at, axis, at, end, what in reader.declared:
        if field not in fields:
            raise Fault(field_at, f"{field} is not a field" + near(field, fields))
        if axis not in axes:
            raise Fault(at, f"{axis} is not an axis" + near(axis, axes))
        if axes[axis].ends[end] == "periodic":
            raise Fault(at, f"the axis {axis} is periodic: it has no ends")
        if not isinstance(what, str):
            tree, what = what, scope.node(what, FREE, "a value at a boundary depends on parameters and t only")
            if any(key[3] for key in scope.g.variables([what])):
                raise Fault(tree[1], "a value at a boundary depends on parameters that are no fields")
        model.boundaries[fields[field].index, model.axes.index(axes[axis]), end] = what


def only_on_points(reader):
    model = reader.model
    for what, quantities in (("memory variables", model.memory), ("outputs", model.outputs)):
        if quantities:
            raise Fault(quantities[0].place, f"{what} of models on grids are not generated: write them in C")
    if reader.kinks:
        raise Fault(model.states[0].place if model.states else 0, "kinks on a grid do not become events")


def of_a_cell(tree):
    """EXPRESSION of sum(EXPRESSION), the running cost of a model on a grid"""
    if tree[0] != "call" or tree[2] != "sum" or len(tree[3]) != 1:
        raise Fault(tree[1], "a running cost of a model on a grid is a sum over its cells: sum(EXPRESSION)")
    return tree[3][0]


# ---- equations ----

def equations(reader):
    model, scope, g = reader.model, reader.scope, reader.model.graph
    explicit, general = {}, []
    for place, left, right, loop in reader.equations:
        for bound in loop_of(scope, loop):
            if left[0] == "prime":
                q = state_of(scope, left, bound)
                if q.index in explicit:
                    raise Fault(place, f"{q.name}' has a second equation")
                if q.order:
                    raise Fault(place, f"{q.name} is algebraic: its equation has no {q.name}'; write 0 = ...")
                explicit[q.index] = scope.node(right, loop=bound)
            else:
                general.append((place, scope.node(left, loop=bound), scope.node(right, loop=bound)))
    reacting = {t[1] for r in reader.reaction_trees for side in r[1:3] for _, t in side}
    for q in model.states:
        if q.name in reacting:
            explicit.setdefault(q.index, g.c(0))
    open_rows = [q for q in model.states if q.index not in explicit]
    if len(open_rows) > len(general):
        q = open_rows[len(general)]
        raise Fault(q.place, f"there is no equation for {q.name}")
    if len(general) > len(open_rows):
        raise Fault(general[len(open_rows)][0], f"there are {len(explicit) + len(general)} equations for "
                    f"{len(model.states)} unknowns: this one is too many")
    rows = [None] * len(model.states)
    for index, f in explicit.items():
        rows[index] = (g.v("yp", index, zero_offsets(model)), f)
    for q, (_, left, right) in zip(open_rows, general):
        rows[q.index] = (left, right)
    if model.on_grid and any(g.variables(list(row), "yp") and g.variables([row[1]], "yp") or
                             g.nodes[row[0]][0] not in LEAVES for row in rows):
        raise Fault(reader.equations[0][0], "on a grid, equations have the form u' = ... or 0 = ...")
    shape(model, rows)


def zero_offsets(model):
    return (0,) * len(model.axes)


def loop_of(scope, loop):
    """What is bound in each turn"""
    if loop is None:
        return [{}]
    name, low, high = loop
    first, last = scope.whole(low, "the end of a range"), scope.whole(high, "the end of a range")
    if last - first > MOST_TERMS:
        raise Fault(low[1], f"a loop of more than {MOST_TERMS} turns")
    return [{name: scope.g.c(k)} for k in range(first, last + 1)]


def state_of(scope, tree, bound):
    a = scope.node(tree, loop=bound)
    key = scope.g.nodes[a]
    if any(key[3]):
        raise Fault(tree[1], "the equation of a field is that of the cell at hand")
    return scope.model.states[key[2]]


def shape(model, rows):
    """M y' = f if y' occurs linearly with constant coefficients, else F = left - right = 0"""
    g, n = model.graph, len(rows)
    primes = [g.v("yp", k, zero_offsets(model)) for k in range(n)]
    whole = [g.sub(left, right) for left, right in rows]
    mass = {}
    for i, F in enumerate(whole):
        if not g.variables([F], "yp"):
            continue
        for k, m in enumerate(g.adjoint([F], [g.c(1)], primes)):
            if not g.is_zero(m):
                mass[i, k] = g.const(m)
    model.implicit = None in mass.values()
    if model.implicit:
        model.equations = whole
        return
    nothing = {p: g.c(0) for p in primes}
    at_rest = lambda key: nothing.get(g.v(*key[1:]), g.v(*key[1:]))        # noqa: E731
    model.equations = [g.neg(F) for F in g.mapped(whole, at_rest)]
    if mass != {(i, i): 1.0 for i in range(n)}:
        model.mass = mass


# ---- reactions ----

def reactions(reader):
    model, scope, g = reader.model, reader.scope, reader.model.graph
    if reader.reaction_trees and model.on_grid:
        raise Fault(reader.reaction_trees[0][0], "reactions on a grid are written as equations, with let for each rate")
    for place, left, right, tree in reader.reaction_trees:
        k = scope.node(tree, POINT, "a rate has no derivative in time")
        reactants, changes = [], []          # (state, node of a coefficient)
        for count, (_, name, at) in left:
            kind, q = species(scope, name, at)
            count = coefficient(scope, count)
            if (g.const(count) or 0) < 0:
                raise Fault(at, f"the rate cannot depend on minus {name}: only products may be subtracted")
            if kind == "parameter":
                k = g.mul(k, g.pow(g.v("p", q.index), count))
            else:
                reactants.append((q.index, count))
                changes.append((q.index, g.neg(count)))
        for count, (_, name, at) in right:
            kind, q = species(scope, name, at)
            if kind == "state":
                changes.append((q.index, coefficient(scope, count)))
        react(model, place, k, reactants, changes)


def coefficient(scope, count):
    """The node of a stoichiometric coefficient"""
    sign, tree = count
    a = scope.node(tree, POINT, "a coefficient has no derivative in time")
    return a if sign > 0 else scope.g.neg(a)


def react(model, place, k, reactants, changes):
    """A Reaction if its coefficients are numbers, else parts of equations"""
    g = model.graph
    if all(g.const(a) is not None for _, a in reactants + changes):
        left, net = {}, {}
        for index, a in reactants:
            left[index] = left.get(index, 0) + g.const(a)
        for index, a in changes:
            net[index] = net.get(index, 0) + g.const(a)
        model.reactions.append(Reaction(place, sorted(left.items()), [x for x in sorted(net.items()) if x[1]], k))
        return
    rate = k
    for index, a in reactants:
        rate = g.mul(rate, g.pow(model.state(index), a))
    for index, a in changes:
        change = g.neg(a) if model.implicit else a
        model.equations[index] = g.add(model.equations[index], g.mul(change, rate))


def species(scope, name, place):
    """A state; or a parameter, whose concentration is held"""
    kind, q = scope.known.get(name, ("", None)) if isinstance(scope.known.get(name), tuple) else ("", None)
    if kind not in ("state", "parameter"):
        states = [q.name for q in scope.model.states]
        raise Fault(place, f"{name} is not a species" + near(name, states))
    return kind, q


# ---- events ----

def events(reader):
    model, scope, g = reader.model, reader.scope, reader.model.graph
    if model.on_grid and model.events:
        raise Fault(model.events[0].place, "events of models on grids are not generated: write them in C")
    for event, tree in reader.guards:
        event.guard = with_slopes(model, event, scope.node(tree))
    for event, (_, name, place), indices, op, tree in reader.assignments:
        if name == "mode":
            if op != ":=" or tree[0] != "name":
                raise Fault(place, "a mode is set as in mode := NAME")
            event.mode = reader.mode_number((None, tree[2], tree[1]))
            continue
        kind, q = target(scope, name, indices, place)
        value = with_slopes(model, event, scope.node(tree))
        if kind == "cost":
            if op != "+=":
                raise Fault(place, f"{name} is a running cost: an event adds to it with +=")
            event.costs[q.index] = g.add(event.costs.get(q.index, g.c(0)), value)
            continue
        space = "y" if kind == "state" else "m"
        if (space, q.index) in event.jumps:
            raise Fault(place, f"{q.name} is assigned twice")
        event.jumps[space, q.index] = g.add(g.v(space, q.index), value) if op == "+=" else value


def target(scope, name, indices, place):
    if name in scope.vectors:
        kind, q, _ = scope._component(place, name, indices, {})
    else:
        known = scope.known.get(name)
        if not isinstance(known, tuple) or known[0] not in ("state", "memory", "cost"):
            raise Fault(place, f"{name} is not a state, a memory variable or a running cost" +
                        near(name, [k for k, x in scope.known.items() if isinstance(x, tuple)]))
        kind, q = known
    return kind, q


def with_slopes(model, event, a):
    """y' in a guard or a jump: of a residual, what the event receives; else f, as M is the identity"""
    g = model.graph
    used = g.variables([a], "yp")
    if not used:
        return a
    if model.implicit:
        event.slopes = True
        return a
    if model.mass:
        raise Fault(event.place, f"event {event.name} uses a derivative in time, which a model with a mass matrix "
                    "does not give: write its right-hand side")
    f = model.kinetics()
    return g.mapped([a], lambda key: f[key[2]] if key[1] == "yp" else g.v(*key[1:]))[0]
