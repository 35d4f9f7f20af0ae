"""Conditions become relations: values that the library keeps fixed in a step and determines anew after events.

A step then never crosses the place where a branch changes, and derivatives include the change of the time at which it
is met.  a < b has the guard a - b, whose relation is 0 where a < b and 1 where a > b; floor(a) is the value of a
relation with whole numbers.  The guard of a condition in a condition depends on the relation of the inner one, which
stands before it in the list."""
from .model import Relation


def conditions_to_relations(model, kinks):
    """kinks: also abs, min and max, which leave the right-hand side continuous"""
    g = model.graph
    roots, count = model.kinetics() + model.cost_nodes, len(model.states)
    maker = Maker(model)
    chosen = {} if kinks else {a: None for a in continuous(g, roots)}

    def comparison(op, a, b):
        return maker.condition(op, a, b)

    def function(name, a):
        if name == "fabs" and kinks:
            return g.sel(maker.condition("<", a, g.c(0)), g.neg(a), a)
        if name == "floor":
            return maker.floor(a)
        return g.neg(maker.floor(g.neg(a))) if name == "ceil" else g.f(name, a)

    held = rebuilt_but(g, roots, {"cmp": comparison, "f": function}, chosen)
    if model.relations:
        model.equations, model.cost_nodes, model.reactions = held[:count], held[count:], []


def continuous(g, roots):
    """Conditions of min and max: a < b chooses between a and b"""
    found = []
    for a in g.order(roots):
        key = g.nodes[a]
        if key[0] == "sel" and g.nodes[key[1]][0] == "cmp" and set(key[2:]) == set(g.nodes[key[1]][2:]):
            found.append(a)
    return found


def rebuilt_but(g, roots, rules, kept):
    """roots built again by rules, but with the conditions of the selections `kept` as comparisons"""
    plain = {g.nodes[a][1] for a in kept}

    def selection(c, a, b):
        return g.sel(c, a, b)

    new = {}
    for a in g.order(roots):
        key = g.nodes[a]
        children = [new[b] for b in g.children(a)]
        if key[0] in ("c", "v"):
            new[a] = a
        elif key[0] == "cmp" and a in plain:
            new[a] = g.cmp(key[1], *children)
        elif key[0] == "sel":
            new[a] = selection(*children)
        else:
            head = key[1:2] if key[0] in ("f", "g", "cmp") else ()
            new[a] = (rules.get(key[0]) or g.builders()[key[0]])(*head, *children)
    return [new[r] for r in roots]


class Maker:
    """Gives a condition its relation, the same for the same guard"""

    def __init__(self, model):
        self.model, self.g, self.of = model, model.graph, {}

    def condition(self, op, a, b):
        """The comparison itself where it cannot change between events"""
        g = self.g
        if op in ("==", "!=") or not self.moves([a, b]):
            return g.cmp(op, a, b)
        if (g.sub(b, a), False) in self.of:             # the other way round
            a, b, op = b, a, {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
        above = g.cmp("==", self.relation(g.sub(a, b), False), g.c(1))
        return above if op in (">", ">=") else g.no(above)

    def floor(self, a):
        return self.relation(a, True) if self.moves([a]) else self.g.f("floor", a)

    def moves(self, nodes):
        return self.g.variables(nodes, "y", "t") and not self.g.variables(nodes, "yp")

    def relation(self, guard, whole):
        if (guard, whole) not in self.of:
            self.of[guard, whole] = self.g.v("whole" if whole else "relation", len(self.model.relations))
            self.model.relations.append(Relation(guard, whole))
        return self.of[guard, whole]
