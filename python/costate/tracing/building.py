"""Traced functions to a Model of codegen: as the reader of equation files builds it, with relations and stops."""
import numpy as np

from costate._generator import equations


class Functions:
    """Nodes of one graph, as lists: rhs, cost; guards and jumps by number of their event, None: it has none; relations
    by number."""

    def __init__(self, graph):
        self.graph, self.rhs, self.cost = graph, None, None
        self.guards, self.jumps, self.relations = {}, {}, {}


def model_of(functions, problem, shape, nq):
    """a Model; its events and relations are those of the problem, the relations of conditions follow"""
    parts = equations("model")
    model, g = parts.Model("traced"), functions.graph
    model.graph = g

    def named(letter, count):
        return [parts.Quantity(f"{letter}{k}", 0, k) for k in range(count)]
    model.states, model.parameters, model.memory = named("y", shape.n), named("p", shape.np), named("m", shape.nm)
    model.costs = named("q", nq if functions.cost is not None else 0)
    model.equations, model.cost_nodes = list(functions.rhs), list(functions.cost or [])
    model.mass = mass_of(problem, shape.n)
    for k, event in enumerate(problem.events):
        model.events.append(event_of(parts, functions, k, event, shape.n))
    for k, relation in enumerate(problem.relations):
        model.relations.append(parts.Relation(functions.relations[k][0], relation.kind))
    given = set(problem.stops.tolist())
    model.stops = sorted(given)
    equations("switches").switches_to_stops(model)
    equations("relations").conditions_to_relations(model, False)
    return model


def event_of(parts, functions, k, event, n):
    guard = functions.guards.get(k)
    made = parts.Event(f"event_{k}", 0, guard and guard[0], times=[] if event.times is None else event.times.tolist())
    for i, node in enumerate(functions.jumps.get(k) or ()):
        made.jumps["y" if i < n else "m", i if i < n else i - n] = node
    return made


def mass_of(problem, n):
    """{(row, column): number}; empty: the identity"""
    if problem.mass is None:
        return {}
    mass = problem.mass.tocoo() if hasattr(problem.mass, "tocoo") else np.asarray(problem.mass, dtype=float)
    if hasattr(mass, "row"):
        entries = zip(mass.row.tolist(), mass.col.tolist(), mass.data.tolist())
    else:
        entries = ((i, j, mass[i, j]) for i, j in np.argwhere(mass != 0).tolist())
    found = {}
    for i, j, value in entries:
        found[i, j] = found.get((i, j), 0.0) + float(value)
    return found


def described(model):
    """all that decides about the C of a model, as a text: the key of the cache"""
    g = model.graph
    lists = [model.equations, model.cost_nodes, *([e.guard] if e.guard is not None else [] for e in model.events),
             *(list(e.jumps.values()) for e in model.events), [r.guard for r in model.relations]]
    order = g.order([a for nodes in lists for a in nodes])
    number = {a: k for k, a in enumerate(order)}

    def key(a):
        below = g.children(a)
        kind = g.nodes[a]
        return kind[:len(kind) - len(below)] + tuple(number[b] for b in below)
    counts = [len(q) for q in (model.states, model.parameters, model.memory, model.costs)]
    events = [(e.guard is not None, e.times, sorted(e.jumps)) for e in model.events]
    return repr((counts, [key(a) for a in order], [[number[a] for a in nodes] for nodes in lists],
                 sorted(model.mass.items()), model.stops, events, [r.kind for r in model.relations]))
