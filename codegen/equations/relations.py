"""Conditions become relations: values that the library keeps fixed in a step and determines anew after events.

A step then never crosses the place where a branch changes, and derivatives include the change of the time at which it
is met.  a < b has the guard a - b, whose relation is its sign: -1 where a < b, 1 where a > b, 0 where they are equal
for some time; floor(a) is the value of a relation with whole numbers.  The guard of a condition in a condition depends
on the relation of the inner one, which stands before it in the list.  abs, min and max in a guard become relations,
too: a guard such as x - max(x, 0) is zero in a whole region, and an event finds the end of a region only where a guard
passes zero.  So do those whose kink is at the zero of a guard: a step that ends there may end on either side of the
kink.

Comparisons stay where no event can replace them: those of t with stops (switches.py); those that a branch needs at each
point, as x > 0 of if(x > 0, sqrt(x), 0), because stages may lie beyond the zero of the guard; and those in a branch
that cannot be evaluated outside of it."""
from .model import Relation
from .nodes import LEAVES
from .switches import is_switch

LIMITED = {"log", "log10", "log2", "log1p", "sqrt", "asin", "acos", "acosh", "atanh"}       # not defined everywhere
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
SIGNS = {">": ("==", 1), "<": ("==", -1), "<=": ("!=", 1), ">=": ("!=", -1)}    # that hold


def conditions_to_relations(model, kinks):
    """kinks: also abs, min and max, which leave the right-hand side continuous"""
    g = model.graph
    roots, count = model.kinetics() + model.cost_nodes, len(model.states)
    maker = Maker(model, roots, kinks)
    held = maker.rebuilt(roots)
    if model.relations:
        model.equations, model.cost_nodes, model.reactions = held[:count], held[count:], []
    for event in model.events:
        if event.guard is not None:
            event.guard = maker.smooth(event.guard)


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
        self.in_guards, self.zeros = set(), set()
        self.choose(selections)
        held = [c for c in self.used if not self.stays(c, *g.nodes[c][1:])]
        self.in_guards = set(g.order(held))
        self.zeros = {g.sub(*pair) for c in held for pair in (g.nodes[c][2:], g.nodes[c][:1:-1])}
        self.choose(selections)

    def choose(self, selections):
        self.plain = {a: self.comparisons_of(a) for a in selections}            # selection: what stays as it is
        self.used = {c for a in selections for c in comparisons(self.g, self.g.nodes[a][1]) - self.plain[a]}

    def is_event(self, kink):
        """Does abs, min or max become a relation?"""
        key = self.g.nodes[kink]
        zero = key[2] if key[0] == "f" else self.g.sub(*self.g.nodes[key[1]][2:])
        return self.kinks or kink in self.in_guards or zero in self.zeros

    def comparisons_of(self, selection):
        g, (_, condition, *branches) = self.g, self.g.nodes[selection]
        if is_extreme(g, selection) and not self.is_event(selection):
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

    def smooth(self, guard):
        """The guard of an event, in which abs, min and max become relations: it may rest at zero on one side of a kink.
        A condition of `if` stays, as an event occurs where the guard jumps through zero."""
        g, new = self.g, {}
        for a in g.order([guard]):
            key, below = g.nodes[a], [new[b] for b in g.children(a)]
            if key[0] in LEAVES:
                new[a] = a
            elif key[0] == "sel" and is_extreme(g, a):
                new[a] = g.sel(self.kink(g.nodes[key[1]][1], *(new[b] for b in g.nodes[key[1]][2:])), *below[1:])
            elif key[0] == "f" and key[1] == "fabs" and self.bends(*below):
                new[a] = g.sel(self.held("<", below[0], g.c(0)), g.neg(below[0]), below[0])
            else:
                new[a] = g.again(a, below)
        return new[guard]

    def bends(self, *nodes):
        return self.moves(nodes) and not limits(self.g, nodes)

    def kink(self, op, a, b):
        g = self.g
        return self.held(op, a, b) if self.bends(a, b) and g.const(g.sub(a, b)) is None else g.cmp(op, a, b)

    def partly(self, a, plain, new):
        """The condition a, in which some comparisons stay"""
        g, key = self.g, self.g.nodes[a]
        if key[0] == "cmp":
            return g.cmp(key[1], *(new[b] for b in key[2:])) if a in plain else new[a]
        return g.builders()[key[0]](*(self.partly(b, plain, new) for b in key[1:]))

    def stays(self, at, op, a, b):
        """A comparison that cannot change between events, as x < x, whose guard would be 0, remains one."""
        g = self.g
        return op in ("==", "!=") or is_switch(g, op, a, b) or not self.may_hold(at, [a, b]) or \
            g.const(g.sub(a, b)) is not None

    def condition(self, at, a, b):
        op = self.g.nodes[at][1]
        return self.g.cmp(op, a, b) if self.stays(at, op, a, b) else self.held(op, a, b)

    def held(self, op, a, b):
        g = self.g
        if (g.sub(b, a), "sign") in self.of:            # the other way round
            a, b, op = b, a, TURNED[op]
        equals, sign = SIGNS[op]
        return g.cmp(equals, self.relation(g.sub(a, b), "sign"), g.c(sign))

    def function(self, at, name, a):
        g = self.g
        if name == "fabs" and self.is_event(at) and self.may_hold(at, [a]):
            return g.sel(self.held("<", a, g.c(0)), g.neg(a), a)
        if name == "floor" and self.may_hold(at, [a]):
            return self.relation(a, "whole")
        if name == "ceil" and self.may_hold(at, [a]):
            return g.neg(self.relation(g.neg(a), "whole"))
        return g.f(name, a)

    def may_hold(self, at, nodes):
        """Is their difference a guard?  at: the node that they are below"""
        return self.moves(nodes) and (at in self.always or not limits(self.g, nodes))

    def moves(self, nodes):
        return self.g.variables(nodes, "y", "t") and not self.g.variables(nodes, "yp")

    def relation(self, guard, kind):
        if (guard, kind) not in self.of:
            space = "whole" if kind == "whole" else "relation"
            self.of[guard, kind] = self.g.v(space, len(self.model.relations))
            self.model.relations.append(Relation(guard, kind))
        return self.of[guard, kind]
