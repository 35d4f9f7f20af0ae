"""`unit check on [{h}]`: units of all expressions are compared where they are given; {h} is that of t.

What is not given fits everywhere.  A number multiplies without a unit, and has the unit that it needs where it is
added, compared or assigned: constants with a unit are parameters.  Without {h}, t has the unit with which the first
equation that gives one is right."""
from fractions import Fraction

from .nodes import FUNCTIONS
from .scope import ALIASES, CONSTANTS, InC, Let, Table
from .syntax import Fault
from .units import ONE, NoUnit, unit

NUMBER = "number"
AS_ARGUMENTS = {"fabs", "floor", "ceil", "min", "max", "hypot", "mod"}
PURE = {"sign", "heaviside", "atan2"}


def read(reader, place):
    """The words behind `unit`"""
    if not (reader.tokens.word("check") and reader.tokens.word("on")):
        raise Fault(place, "expected unit check on, and the unit of t in braces if you want to give it")
    reader.check_units = True
    if reader.tokens.peek()[0] == "unit":
        given = of_text(reader.tokens.next()[1][1:-1], place)
        if reader.time_unit and not reader.time_unit.same(given):
            raise Fault(place, f"t has the unit {reader.time_unit} elsewhere")
        reader.time_unit = given


def of_text(text, place):
    try:
        return unit(text)
    except NoUnit as reason:
        raise Fault(place, str(reason)) from None


class UnitCheck:
    """Raises a Fault where units differ.  A unit is a Unit, NUMBER, or None: not known."""

    def __init__(self, reader):
        self.reader, self.scope, self.time, self.made = reader, reader.scope, reader.time_unit, {}
        m = reader.model
        self.units = {id(q): of_text(q.unit, q.place) if q.unit else None
                      for q in m.states + m.parameters + m.memory + m.costs + m.outputs}

    def check(self):
        """The unit of t, or None"""
        source = None if self.time else self.infer_time()
        try:
            self.compare()
        except Fault as fault:
            if source is None:
                raise
            raise Fault(fault.place, f"{fault.what} (t is taken to have the unit {self.time}, from the equation of "
                        f"{source}; unit check on {{h}} would say that it is h)") from None
        return self.time

    def compare(self):
        r = self.reader
        for place, left, right, loop in r.equations:
            bound = {loop[0]: NUMBER} if loop else {}
            self.agree(place, self.of(left, bound), self.of(right, bound), "the left side has the unit {}, the right "
                       "side {}")
        for reaction in r.reaction_trees:
            self.reaction(*reaction)
        for q, tree in zip(r.model.costs, r.cost_trees):
            if tree:
                self.agree(tree[1], self.rate_of(q), self.of(tree), q.name + "' has the unit {}, this {}")
        pairs = [*zip(r.model.outputs, r.output_trees), *r.starts, *self.assigned(), *self.at_boundaries()]
        for q, tree in pairs:
            self.agree(tree[1], self.units[id(q)], self.of(tree), q.name + " has the unit {}, this {}")
        for _, tree in r.guards:
            self.of(tree)
        for tree in (tree for _, times in r.timed for time in times for tree in time if tree):
            self.agree(tree[1], self.time, self.of(tree), "t has the unit {}, this time {}")

    def assigned(self):
        for _, (_, name, place), indices, _, tree in self.reader.assignments:
            if name != "mode":
                yield self.known(name)[1], tree

    def at_boundaries(self):
        for field, _, _, _, _, what in self.reader.declared:
            if not isinstance(what, str):
                yield self.known(field)[1], what

    def infer_time(self):
        """The name of the state whose equation gives the unit of t, or None"""
        for _, left, right, loop in self.reader.equations:
            if left[0] == "prime" and (u := self.units[id(self.known(left[2])[1])]):
                try:
                    f = self.of(right, {loop[0]: NUMBER} if loop else {})
                except Fault:
                    continue                     # it is found again
                finally:
                    self.made.clear()
                if f not in (None, NUMBER):
                    self.time = u/f
                    return left[2]
        return None

    def rate_of(self, q):
        """The unit of the derivative of a state or running cost"""
        u = self.units[id(q)]
        return u/self.time if u and self.time else None

    def reaction(self, place, left, right, tree):
        rate = self.of(tree)
        for (_, count), (_, name, _) in left:
            rate = self.times(rate, self.power(self.units[id(self.known(name)[1])], count))
        for (_, count), (_, name, at) in left + right:
            kind, q = self.known(name)
            if kind == "state":
                self.agree(at, self.rate_of(q), self.times(rate, self.of(count)),
                           f"{name}' has the unit " + "{}, and changes in {} by this reaction")

    # ---- trees ----

    def of(self, tree, bound={}):
        """bound: units of the arguments of a macro, and of indices"""
        kind, place = tree[:2]
        if kind == "number":
            return NUMBER
        if kind == "unary":
            return self.of(tree[3], bound)
        if kind == "binary":
            return self.binary(tree, bound)
        if kind == "compare":
            if not any(side[0] == "name" and side[2] == "mode" for side in tree[3:]):
                self.agree(place, *(self.of(side, bound) for side in tree[3:]), "{} is compared with {}")
            return None
        if kind == "if":
            self.of(tree[2], bound)
            return self.agree(place, *(self.of(side, bound) for side in tree[3:]), "one value has the unit {}, the "
                              "other {}")
        if kind == "sum":
            return self.of(tree[5], {**bound, tree[2]: NUMBER})
        if kind == "call":
            return self.call(tree, bound)
        u = self.of_name(tree, bound)
        return u if kind == "name" else u/self.time if u and self.time else None

    def binary(self, tree, bound):
        """Long sums lean to the left"""
        spine = []
        while tree[0] == "binary" and tree[2] in ("+", "-", "*", "/", "and", "or"):
            spine.append(tree)
            tree = tree[3]
        u = self.power(self.of(tree[3], bound), tree[4], bound) if tree[0] == "binary" else self.of(tree, bound)
        for _, place, op, _, right in reversed(spine):
            v = self.of(right, bound)
            if op in ("+", "-"):
                u = self.agree(place, u, v, "the terms of this sum have the units {} and {}")
            else:
                u = None if op in ("and", "or") else self.times(u, v, op == "/")
        return u

    def power(self, u, tree, bound={}):
        exponent = self.of(tree, bound)
        if exponent not in (None, NUMBER) and not exponent.same(ONE):
            raise Fault(tree[1], f"this exponent has the unit {exponent}, and should have none")
        if u is NUMBER or u is not None and u.same(ONE):
            return u
        exponent = self.constant(tree)
        return None if u is None or exponent is None else u**exponent

    def constant(self, tree):
        """The value of an exponent that is a number"""
        try:
            value = self.scope.g.const(self.scope.node(tree))
        except Fault:                            # it has arguments of a macro, or indices
            return None
        return None if value is None else Fraction(value).limit_denominator(1000)

    @staticmethod
    def times(u, v, divided=False):
        if u is None or v is None:
            return None
        if v is NUMBER:
            return u
        if u is NUMBER:
            u = ONE
        return u/v if divided else u*v

    @staticmethod
    def agree(place, u, v, what):
        """The unit of both"""
        if u in (None, NUMBER) or v in (None, NUMBER):
            known = [w for w in (u, v) if w not in (None, NUMBER)]
            return known[0] if known else None if None in (u, v) else NUMBER
        if not u.same(v):
            raise Fault(place, what.format(u, v))
        return u

    def call(self, tree, bound):
        _, place, name, trees = tree
        name = ALIASES.get(name, name)
        let = self.scope.known.get(name)
        given = [self.of(x, bound) for x in trees]
        if isinstance(let, Table):
            return self.of_table(let)
        if isinstance(let, InC):
            return self.of_function(let, trees, given)
        if isinstance(let, Let):
            key = id(let), *given
            if key not in self.made:
                self.made[key] = self.of(let.tree, dict(zip(let.arguments, given)))
            return self.made[key]
        if name == "pow":
            return self.power(given[0], trees[1], bound)
        if name in ("sqrt", "cbrt"):
            return given[0]**Fraction(1, 2 if name == "sqrt" else 3) if given[0] not in (None, NUMBER) else given[0]
        if name == "sum":
            return given[0]
        if name in AS_ARGUMENTS or name in PURE:
            u = given[0]
            for v in given[1:]:
                u = self.agree(place, u, v, f"the arguments of {name} have the units " + "{} and {}")
            return u if name in AS_ARGUMENTS else ONE
        if name in FUNCTIONS and given[0] not in (None, NUMBER) and not given[0].same(ONE):
            raise Fault(place, f"the argument of {name} has the unit {given[0]}, and should have none")
        return ONE

    def of_function(self, function, trees, given):
        for tree, argument, text, u in zip(trees, function.arguments, function.units, given):
            if text:
                self.agree(tree[1], of_text(text, function.place), u, argument + " has the unit {}, this {}")
        return of_text(function.unit, function.place) if function.unit else None

    def of_table(self, table):
        """Of its values, where these are no numbers"""
        u = NUMBER
        for _, tree in table.rows:
            u = self.agree(tree[1], u, self.of(tree), "the values of this table have the units {} and {}")
        return None if u is NUMBER else u

    def of_name(self, tree, bound):
        name = tree[2]
        if name in bound:
            return bound[name]
        let = self.scope.known.get(name)
        if isinstance(let, Let):
            if (id(let),) not in self.made:
                self.made[id(let),] = self.of(let.tree)
            return self.made[id(let),]
        if name in CONSTANTS and name not in self.scope.known and name not in self.scope.vectors:
            return NUMBER
        kind, q = self.known(name)
        return self.time if kind == "time" else self.units.get(id(q), NUMBER)

    def known(self, name):
        """What a name is; of a vector, its first component, as all have one unit"""
        if name in self.scope.vectors:
            name = f"{name}[{self.scope.vectors[name][0]}]"
        return self.scope.known[name]
