"""Conditions become relations: values that the library keeps fixed in a step and determines anew after events.

A step then never crosses the place where a branch changes, and derivatives include the change of the time at which it
is met.  a < b has the guard a - b, whose relation is 0 where a < b and 1 where a > b; floor(a) is the value of a
relation with whole numbers.  The guard of a condition in a condition depends on the relation of the inner one, which
stands before it in the list.

Comparisons stay where no event can replace them: those of t with stops (switches.py); those that a branch needs at each
point, as x > 0 of if(x > 0, sqrt(x), 0), because stages may lie beyond the zero of the guard; and those in a branch
that cannot be evaluated outside of it."""
from .model import Relation
from .nodes import LEAVES
from .switches import is_switch

LIMITED = {"log", "log10", "log2", "log1p", "sqrt", "asin", "acos", "acosh", "atanh"}       # not defined everywhere
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def conditions_to_relations(model, kinks):
    """kinks: also abs, min and max, which leave the right-hand side continuous"""
    g = model.graph
    roots, count = model.kinetics() + model.cost_nodes, len(model.states)
    held = Maker(model, roots, kinks).rebuilt(roots)
    if model.relations:
        model.equations, model.cost_nodes, model.reactions = held[:count], held[count:], []


def comparisons(g, condition):
    """below a condition"""
    key = g.nodes[condition]
    return {condition} if key[0] == "cmp" else set().union(*(comparisons(g, b) for b in key[1:]))


def is_extreme(g, selection):
    """min or max: a < b chooses between a and b"""
    _, condition, *chosen = g.nodes[selection]
    return g.nodes[condition][0] == "cmp" and set(chosen) == set(g.nodes[condition][2:])


def limits(g, roots):
    """The nodes that must not be zero, or negative"""
    found = set()
    for a in g.order(roots):
        key = g.nodes[a]
        if key[0] == "f" and key[1] in LIMITED or key[0] == "/":
            found.add(key[2])
        elif key[0] == "pow" and (g.whole_power(a) or -1) < 0:
            found.add(key[1])
    return {a for a in found if g.variables([a], "y", "t")}


def factors(g, a):
    """a, and what is zero only where a is"""
    key = g.nodes[a]
    below = {"*": key[1:], "neg": key[1:], "/": key[1:2], "pow": key[1:2], "f": key[2:]}.get(key[0], ())
    deeper = key[0] != "f" or key[1] in ("fabs", "sqrt")
    return {a}.union(*(factors(g, b) for b in below)) if deeper else {a}


def keeps_inside(g, comparison, limited):
    """Does the comparison keep a branch where the nodes `limited` are not zero, or not negative?"""
    _, _, a, b = g.nodes[comparison]
    return bool((factors(g, g.sub(a, b)) | factors(g, g.sub(b, a))) & set().union(*(factors(g, c) for c in limited)))


def evaluated_always(g, roots):
    """The nodes below roots that are in no branch, and no part of a condition that others decide"""
    found, stack = set(), list(roots)
    while stack:
        a = stack.pop()
        if a not in found:
            found.add(a)
            kind = g.nodes[a][0]
            stack += () if kind in ("and", "or") else g.children(a)[:1] if kind == "sel" else g.children(a)
    return found


class Maker:
    """Gives a condition its relation, the same for the same guard"""

    def __init__(self, model, roots, kinks):
        self.model, self.g, self.kinks, self.of = model, model.graph, kinks, {}
        g, selections = self.g, [a for a in model.graph.order(roots) if model.graph.nodes[a][0] == "sel"]
        self.always = evaluated_always(g, roots)
        self.plain = {a: self.comparisons_of(a) for a in selections}            # selection: what stays as it is
        self.used = {c for a in selections for c in comparisons(g, g.nodes[a][1]) - self.plain[a]}

    def comparisons_of(self, selection):
        g, (_, condition, *branches) = self.g, self.g.nodes[selection]
        if not self.kinks and is_extreme(g, selection):
            return {condition}
        limited = limits(g, branches)
        return {c for c in comparisons(g, condition) if keeps_inside(g, c, limited)} if limited else set()

    def rebuilt(self, roots):
        g, new = self.g, {}
        for a in g.order(roots):
            key, below = g.nodes[a], [new[b] for b in g.children(a)]
            if key[0] in LEAVES:
                new[a] = a
            elif key[0] == "cmp":
                new[a] = self.condition(a, *below) if a in self.used else g.cmp(key[1], *below)
            elif key[0] == "sel" and self.plain[a]:
                new[a] = g.sel(self.partly(key[1], self.plain[a], new), *below[1:])
            elif key[0] == "f":
                new[a] = self.function(a, key[1], *below)
            else:
                new[a] = g.again(a, below)
            if a in g.places:
                g.places.setdefault(new[a], g.places[a])
        return [new[r] for r in roots]

    def partly(self, a, plain, new):
        """The condition a, in which some comparisons stay"""
        g, key = self.g, self.g.nodes[a]
        if key[0] == "cmp":
            return g.cmp(key[1], *(new[b] for b in key[2:])) if a in plain else new[a]
        return g.builders()[key[0]](*(self.partly(b, plain, new) for b in key[1:]))

    def condition(self, at, a, b):
        """The comparison itself where it cannot change between events, as in x < x, whose guard would be 0"""
        g, op = self.g, self.g.nodes[at][1]
        stays = op in ("==", "!=") or is_switch(g, op, a, b) or not self.may_hold(at, [a, b]) or \
            g.const(g.sub(a, b)) is not None
        return g.cmp(op, a, b) if stays else self.held(op, a, b)

    def held(self, op, a, b):
        g = self.g
        if (g.sub(b, a), False) in self.of:             # the other way round
            a, b, op = b, a, TURNED[op]
        above = g.cmp("==", self.relation(g.sub(a, b), False), g.c(1))
        return above if op in (">", ">=") else g.no(above)

    def function(self, at, name, a):
        g = self.g
        if name == "fabs" and self.kinks and self.may_hold(at, [a]):
            return g.sel(self.held("<", a, g.c(0)), g.neg(a), a)
        if name == "floor" and self.may_hold(at, [a]):
            return self.relation(a, True)
        if name == "ceil" and self.may_hold(at, [a]):
            return g.neg(self.relation(g.neg(a), True))
        return g.f(name, a)

    def may_hold(self, at, nodes):
        """Is their difference a guard?  at: the node that they are below"""
        moves = self.g.variables(nodes, "y", "t") and not self.g.variables(nodes, "yp")
        return moves and (at in self.always or not limits(self.g, nodes))

    def relation(self, guard, whole):
        if (guard, whole) not in self.of:
            self.of[guard, whole] = self.g.v("whole" if whole else "relation", len(self.model.relations))
            self.model.relations.append(Relation(guard, whole))
        return self.of[guard, whole]
