"""Expressions as trees become nodes: names are looked up, macros expanded, indices of fields become offsets."""
import math

from .nodes import FUNCTIONS, FUNCTIONS_OF_TWO, HOLDS
from .syntax import Fault, near, number
from .table_file import spline_pieces

ALIASES = {"abs": "fabs", "ln": "log"}
# functions, and how many arguments they have; names of quantities, too
WRITTEN_OUT = {"pow": 2, "sign": 1, "mod": 2, "heaviside": 1}
CONSTANTS = {"pi": math.pi, "e": math.e}     # unless the file declares these names
MOST_OPERATIONS = 2_000_000                  # nodes of a graph
TOO_DEEP = "expressions, names and macros are too deep inside each other; give parts of them names of their own"
MOST_EXPANSIONS = 500_000                    # of macros
MOST_TERMS = 100_000                         # of a sum or a loop
DEEPEST = 60                                 # macros inside each other


UNKNOWN_DURING_RUNS = {
    "cost": "is a running cost, whose value equations and outputs cannot use; for that, make it a state",
    "output": "is an output, which no other expression can use; give its expression a name with let"}


class Let:
    """A name for an expression, or a macro with arguments; trees, evaluated where they are used."""

    def __init__(self, place, arguments, tree):
        self.place, self.arguments, self.tree = place, arguments, tree


class Table(Let):
    """A function of one argument, given at places that increase.  rows: trees (place, value).  kind: linear or cubic,
    what interpolates between them, or steps, with the value of the last place that is not behind the argument.  Two
    rows of a linear table with the same place are a step.  Outside it has the first and the last value."""

    def __init__(self, place, kind, rows):
        super().__init__(place, ["x"], None)
        self.kind, self.rows, self.places = kind, rows, None


class InC(Let):
    """A function that is written in C: a calls.Function, with the units of its arguments and of its value, or ""."""

    def __init__(self, place, function, units, unit):
        super().__init__(place, function.arguments, None)
        self.function, self.units, self.unit = function, units, unit


class Argument:
    """What a macro on a grid received: a tree and what was bound around it, so that it can be taken at neighbours"""

    def __init__(self, tree, bound):
        self.tree, self.bound = tree, bound


class Scope:
    """known: name -> ("state", quantity), ("parameter", q), ("memory", q), ("size", k), ("axis", k), ("mode", k), Let.

    A component c[2] of a vector is known by that name."""

    def __init__(self, model):
        self.model, self.g = model, model.graph
        self.known = {"t": ("time", None)}
        self.vectors = {}                    # name: (low, high)
        self.allowed = None                  # spaces of variables, None: all
        self.forbidden = ""                  # what is said of others
        self.made = {}                       # (let, shift or arguments, allowed): node
        self.expanded = 0                    # macros
        self.constants = set()               # of CONSTANTS: names that were used

    # ---- entry ----

    def node(self, tree, allowed=None, forbidden="", loop=None):
        """allowed: the spaces whose variables may occur; forbidden: why no others may."""
        self.allowed, self.forbidden = allowed, forbidden
        try:
            a = self._value(tree, dict(loop or {}), (0,) * len(self.model.axes), 0)
        except RecursionError:
            raise Fault(tree[1], TOO_DEEP) from None
        self.allowed = None
        return self.g.placed(a, tree[1])

    def number(self, tree, what, loop=None):
        a = self.g.const(self.node(tree, (), f"{what} must be a number", loop))
        if a is None:
            raise Fault(tree[1], f"{what} must be a number")
        return a

    def whole(self, tree, what, loop=None):
        a = self.number(tree, what, loop)
        if a != int(a) or abs(a) > 1e9:
            raise Fault(tree[1], f"{what} must be a whole number")
        return int(a)

    # ---- trees ----

    def _value(self, tree, bound, shift, depth):
        """bound: arguments of the macro at hand, and indices of loops; shift: the cell, relative to the one at hand"""
        spine = []
        while tree[0] == "binary" and tree[2] in ("+", "-", "*", "/"):       # long sums lean to the left
            spine.append(tree)
            tree = tree[3]
        a = self._operand(tree, bound, shift, depth)
        for _, place, op, _, right in reversed(spine):
            b = self._value(right, bound, shift, depth)
            if op == "/" and self.g.is_zero(b):
                raise Fault(right[1], "division by zero")
            a = {"+": self.g.add, "-": self.g.sub, "*": self.g.mul, "/": self.g.div}[op](a, b)
        if len(self.g.nodes) > MOST_OPERATIONS:
            raise Fault(tree[1], f"the model has more than {MOST_OPERATIONS} operations")
        return a

    def _operand(self, tree, bound, shift, depth):
        kind, place = tree[:2]
        if kind == "number":
            return self._constant(tree)
        if kind == "unary":
            return self.g.neg(self._value(tree[3], bound, shift, depth))
        if kind == "binary":
            return self._power(tree, bound, shift, depth)
        if kind == "if":
            c = self._condition(tree[2], bound, shift, depth)
            a, b = (self._value(x, bound, shift, depth) for x in tree[3:])
            return a if c is True else b if c is False else self.g.sel(c, a, b)
        if kind == "sum":
            return self._sum(tree, bound, shift, depth)
        if kind == "call":
            return self._call(tree, bound, shift, depth)
        if kind == "prime":
            return self._prime(tree, bound, shift)
        if kind == "name":
            return self._name(tree, bound, shift, depth)
        raise Fault(place, "a condition stands where a number is expected; write if(condition, a, b)")

    def _constant(self, tree):
        return self.g.c(number(tree[1], tree[2]))

    def _power(self, tree, bound, shift, depth):
        a, b = (self._value(x, bound, shift, depth) for x in tree[3:])
        if self.g.is_zero(a) and (self.g.const(b) or 0) < 0:
            raise Fault(tree[1], "division by zero")
        return self.g.pow(a, b)

    def _condition(self, tree, bound, shift, depth):
        """A node, or True or False where it is known already"""
        if tree[0] == "unary":
            a = self._condition(tree[3], bound, shift, depth)
            return (not a) if isinstance(a, bool) else self.g.no(a)
        if tree[0] == "binary":
            op, joined = tree[2], []
            while tree[0] == "binary" and tree[2] == op:                    # long ones lean to the left
                joined.append(tree[4])
                tree = tree[3]
            known, join = (False, self.g.both) if op == "and" else (True, self.g.either)
            parts = [self._condition(x, bound, shift, depth) for x in [tree, *reversed(joined)]]
            if any(a is known for a in parts):
                return known
            parts = [a for a in parts if not isinstance(a, bool)]
            return self.g.extreme(join, parts) if parts else not known
        op, sides = tree[2], tree[3:]
        if any(x[0] == "name" and x[2] in ("mode",) + tuple(self.model.modes) for x in sides):
            return self._mode(tree, op, sides)
        a, b = (self._value(x, bound, shift, depth) for x in sides)
        x, y = self.g.const(a), self.g.const(b)
        if x is not None and y is not None:
            return HOLDS[op](x, y)
        return self.g.cmp(op, a, b)

    def _mode(self, tree, op, sides):
        names = [x[2] if x[0] == "name" else "" for x in sides]
        modes = [x for x in names if x in self.model.modes]
        if sorted(names) != sorted(["mode"] + modes) or op not in ("==", "!="):
            example = self.model.modes[0] if self.model.modes else "NAME"
            raise Fault(tree[1], f"modes are compared as in mode == {example}")
        return self.g.cmp(op, self.g.v("mode"), self.g.c(self.model.modes.index(modes[0])))

    def _sum(self, tree, bound, shift, depth):
        index, low, high = tree[2], *(self._whole(x, bound, shift, depth) for x in tree[3:5])
        if high - low > MOST_TERMS:
            raise Fault(tree[1], f"a sum of more than {MOST_TERMS} terms")
        return self.g.total(self._value(tree[5], {**bound, index: self.g.c(k)}, shift, depth)
                            for k in range(low, high + 1))

    def _whole(self, tree, bound, shift, depth):
        value = self.g.const(self._value(tree, bound, shift, depth))
        if value is None or value != int(value):
            raise Fault(tree[1], "an index or the end of a range must be a whole number")
        return int(value)

    def _call(self, tree, bound, shift, depth):
        _, place, name, trees = tree
        name = ALIASES.get(name, name)
        let = self.known.get(name)
        if isinstance(let, Let):
            return self._macro(tree, let, bound, shift, depth)
        given = [self._value(x, bound, shift, depth) for x in trees]
        if name in ("min", "max"):
            if len(given) < 2:
                raise Fault(place, f"{name} needs at least two arguments")
            return self.g.extreme(self.g.least if name == "min" else self.g.largest, given)
        wanted = 1 if name in FUNCTIONS else 2 if name in FUNCTIONS_OF_TWO else WRITTEN_OUT.get(name, 0)
        if not wanted:
            macros = [k for k, x in self.known.items() if isinstance(x, Let) and x.arguments]
            raise Fault(place, f"{name} is not a function" + near(name, [*FUNCTIONS, *FUNCTIONS_OF_TWO, *ALIASES,
                                                                        *WRITTEN_OUT, "min", "max", "if", "sum",
                                                                        "piecewise", *macros]))
        if len(given) != wanted:
            raise Fault(place, f"{name} needs {wanted} argument{'s' * (wanted > 1)}, not {len(given)}")
        if name in WRITTEN_OUT:
            return getattr(self, "_" + name)(*given)
        return self.g.f(name, *given) if wanted == 1 else self.g.g(name, *given)

    def _pow(self, a, b):
        return self.g.pow(a, b)

    def _sign(self, a):
        g, zero = self.g, self.g.c(0)
        return g.sel(g.cmp(">", a, zero), g.c(1), g.sel(g.cmp("<", a, zero), g.c(-1), zero))

    def _heaviside(self, a):
        """The unit step, 1 at 0"""
        return self.g.sel(self.g.cmp("<", a, self.g.c(0)), self.g.c(0), self.g.c(1))

    def _mod(self, a, b):
        """What is left of a behind whole multiples of b, with the sign of b"""
        g = self.g
        return g.sub(a, g.mul(b, g.f("floor", g.div(a, b))))

    def _macro(self, tree, let, bound, shift, depth):
        _, place, name, trees = tree
        if depth > DEEPEST:
            raise Fault(place, f"{name} uses itself, or macros are nested too deeply")
        if len(trees) != len(let.arguments):
            raise Fault(place, f"{name} has {len(let.arguments)} arguments, not {len(trees)}")
        self.expanded += 1
        if self.expanded > MOST_EXPANSIONS:
            raise Fault(place, f"macros are expanded more than {MOST_EXPANSIONS} times")
        if isinstance(let, Table):
            return self._table(let, self._value(trees[0], bound, shift, depth + 1), shift, depth)
        if isinstance(let, InC):
            return self.g.call((let.function.name, ()), *(self._value(x, bound, shift, depth) for x in trees))
        if self.model.on_grid:
            given = {a: Argument(x, bound) for a, x in zip(let.arguments, trees)}
            return self._value(let.tree, given, shift, depth + 1)
        given = {a: self._value(x, bound, shift, depth) for a, x in zip(let.arguments, trees)}
        key = (name, tuple(given.values()), self.allowed)
        if key not in self.made:
            self.made[key] = self._value(let.tree, given, shift, depth + 1)
        return self.made[key]

    def _table(self, table, x, shift, depth):
        """Selections by halves, so that none lies deep inside others"""
        g, at = self.g, self._places(table)
        values = [self._value(tree, {}, shift, depth + 1) for _, tree in table.rows]
        pieces = list(zip([*at[1:], None], values))            # (end, what it is before that)
        if table.kind == "cubic":
            pieces = [(at[0], values[0]), *spline_pieces(g, at, values, x), (None, values[-1])]
        if table.kind == "linear":
            lines = [(end, g.add(v, g.mul(g.div(g.sub(w, v), g.c(end - start)), g.sub(x, g.c(start)))))
                     for start, end, v, w in zip(at, at[1:], values, values[1:]) if start < end]
            pieces = [(at[0], values[0]), *lines, (None, values[-1])]

        def chosen(first, last):
            """Of these pieces, the one in which x is"""
            if first == last:
                return pieces[first][1]
            middle = (first + last)//2
            return g.sel(g.cmp("<", x, g.c(pieces[middle][0])), chosen(first, middle), chosen(middle + 1, last))
        return chosen(0, len(pieces) - 1)

    def _places(self, table):
        if table.places is None:
            known = self.allowed, self.forbidden
            places = [self.number(tree, "a place in a table") for tree, _ in table.rows]
            table.places, (self.allowed, self.forbidden) = places, known
            for k in range(1, len(places)):
                step = table.kind == "linear" and places[k - 1] == places[k] and places[k - 2:k - 1] != [places[k]]
                if not places[k - 1] < places[k] and not step:
                    raise Fault(table.rows[k][0][1], "the places in a table must increase" +
                                "; two rows with the same place are a step" * (table.kind == "linear"))
        return table.places

    # ---- names ----

    def _prime(self, tree, bound, shift):
        _, place, name, indices = tree
        kind, q, offsets = self._quantity(place, name, indices, bound, shift)
        if kind != "state":
            raise Fault(place, f"{name} is not a state: it has no derivative in time")
        return self._variable(place, "yp", q.index, offsets, f"{name}'")

    def _name(self, tree, bound, shift, depth):
        _, place, name, indices = tree
        if name in bound:
            given = bound[name]
            if not isinstance(given, Argument):
                if indices is not None:
                    raise Fault(place, f"{name} is not a field here: it has no indices")
                return given
            if indices is not None:
                shift = tuple(s + o for s, o in zip(shift, self._offsets(place, indices, bound)))
            return self._value(given.tree, given.bound, shift, depth + 1)
        known = self.known.get(name)
        if isinstance(known, Let):
            return self._let(tree, known, bound, shift, depth)
        if name in CONSTANTS and name not in self.known and name not in self.vectors and indices is None:
            self.constants.add(name)
            return self.g.c(CONSTANTS[name])
        kind, what, offsets = self._quantity(place, name, indices, bound, shift)
        if kind in ("state", "parameter", "memory"):
            space = {"state": "y", "parameter": "p", "memory": "m"}[kind]
            return self._variable(place, space, what.index, offsets, name)
        if kind == "axis":
            return self.g.add(self._variable(place, "axis", what, (), name), self.g.c(shift[what]))
        if kind == "mode":
            raise Fault(place, f"{name} is a mode; compare it, as in if(mode == {name}, a, b)")
        return self._variable(place, "t" if kind == "time" else "size", what or 0, (), name)

    def _let(self, tree, let, bound, shift, depth):
        _, place, name, indices = tree
        if let.arguments:
            raise Fault(place, f"{name} needs its arguments in parentheses")
        if depth > DEEPEST:
            raise Fault(place, f"{name} uses itself, or names are nested too deeply")
        if indices is not None:
            shift = tuple(s + o for s, o in zip(shift, self._offsets(place, indices, bound)))
        key = (name, shift, self.allowed)
        if key not in self.made:
            self.made[key] = self._value(let.tree, {}, shift, depth + 1)
        return self.made[key]

    def _variable(self, place, space, index, offsets, name):
        if self.allowed is not None and space not in self.allowed:
            raise Fault(place, f"{name} may not occur here: {self.forbidden}")
        return self.g.v(space, index, offsets)

    def _quantity(self, place, name, indices, bound, shift):
        """(kind, what, offsets) of a name with its indices"""
        if name in self.vectors:
            return self._component(place, name, indices, bound)
        if name not in self.known:
            functions = [*FUNCTIONS, *FUNCTIONS_OF_TWO, "min", "max"]
            known = [k for k in [*self.known, *self.vectors] if "[" not in k]
            raise Fault(place, f"{name} is a function; its arguments are missing" if name in functions else
                        f"{name} is not declared" + near(name, known))
        kind, what = self.known[name]
        if kind in UNKNOWN_DURING_RUNS:
            raise Fault(place, f"{name} {UNKNOWN_DURING_RUNS[kind]}")
        axes = getattr(what, "axes", ())
        if not axes:
            if indices is not None:
                raise Fault(place, f"{name} is not a vector or a field: it has no indices")
            return kind, what, ()
        offsets = self._offsets(place, indices, bound) if indices is not None else (0,) * len(axes)
        return kind, what, tuple(s + o for s, o in zip(shift, offsets))

    def _component(self, place, name, indices, bound):
        low, high = self.vectors[name]
        if indices is None or len(indices) != 1:
            raise Fault(place, f"{name} is a vector: write {name}[k], {low} <= k <= {high}")
        k = self._whole(indices[0], bound, (), 0)
        if not low <= k <= high:
            raise Fault(indices[0][1], f"{name}[{k}] does not exist: {name} goes from {low} to {high}")
        return (*self.known[f"{name}[{k}]"], ())

    def _offsets(self, place, indices, bound):
        axes = self.model.axes
        if len(indices) != len(axes):
            raise Fault(place, f"expected {len(axes)} ind{'ices' if len(axes) > 1 else 'ex'}, found {len(indices)}")
        return tuple(self._offset(tree, axis.name, bound) for tree, axis in zip(indices, axes))

    def _offset(self, tree, axis, bound):
        """k of i + k or i - k"""
        if tree[0] == "name" and tree[2] == axis and tree[3] is None:
            return 0
        if tree[0] == "binary" and tree[2] in ("+", "-") and tree[3][0] == "name" and tree[3][2] == axis:
            k = self._whole(tree[4], bound, (), 0)
            if k > 8:
                raise Fault(tree[1], "neighbours are at most 8 cells away")
            return k if tree[2] == "+" else -k
        raise Fault(tree[1], f"expected {axis}, {axis} + number or {axis} - number as an index")
