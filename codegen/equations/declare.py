"""Declarations of an equation file: parameters, states, memory variables, modes, costs, outputs and macros."""
from pathlib import Path

from .model import Quantity
from .nodes import FUNCTIONS, FUNCTIONS_OF_TWO
from .scope import ALIASES, CONSTANTS, Let, Table
from .syntax import AFTER, Fault
from .table_file import rows_of_file

RESERVED = {"t", "if", "piecewise", "sum", "min", "max", "mode", "not", "pow", *AFTER, *FUNCTIONS, *FUNCTIONS_OF_TWO,
            *ALIASES}
TABLES = ("linear", "steps", "cubic")
MOST_COMPONENTS = 10_000                     # of a vector
C_WORDS = set("""auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
main""".split())


class Declarations:
    """Part of a Reader."""

    def declare(self, name, place, what):
        if name in RESERVED:
            raise Fault(place, f"{name} is a word of the language; choose another name")
        if name in self.scope.known or name in self.scope.vectors:
            raise Fault(place, f"{name} is declared twice")
        if name in self.scope.constants:
            raise Fault(place, f"{name} was used above as the number {CONSTANTS[name]:.6g}; declare it before that")
        self.scope.known[name] = what

    def quantities(self, kind, into, value=None):
        """NAME [shape] [= value] {unit} "text", ...; value: what is done with the trees of values"""
        def one():
            name, place = self.tokens.take("name", f"the name of a {kind}")[1:]
            shape = self.tokens.indices_or_range() if self.tokens.peek()[0] == "[" else None
            order = self.index_of_algebraic() if kind == "algebraic variable" else 0
            trees = self.values(shape) if value and self.tokens.skip("=") else []
            order = order or (self.index_of_algebraic() if kind == "algebraic variable" else 0)
            unit = self.tokens.next()[1][1:-1].strip() if self.tokens.peek()[0] == "unit" else ""
            text = self.tokens.next()[1][1:-1].strip() if self.tokens.peek()[0] == "text" else ""
            for q in self.components(kind, name, place, shape, into):
                q.unit, q.text, q.order = unit, text, order
                if trees:
                    self.give(q, place, trees, shape, value)
        self.tokens.commas(one)

    def index_of_algebraic(self):
        if not self.tokens.word("index"):
            return 0
        token = self.tokens.take("number", "1 or 2")
        if token[1] not in ("1", "2"):
            raise Fault(token[2], "the index of an algebraic variable is 1 or 2")
        return int(token[1])

    def values(self, shape):
        """One tree, or those in parentheses with commas between them"""
        if shape is None or not isinstance(shape, tuple) or self.tokens.peek()[0] != "(" or not self.commas_inside():
            return [self.tokens.expression()]
        self.tokens.next()
        out = self.tokens.commas(self.tokens.expression)
        self.tokens.take(")")
        return out

    def commas_inside(self):
        depth, k = 0, 0
        while True:
            kind = self.tokens.peek(k)[0]
            depth += (kind in ("(", "[")) - (kind in (")", "]"))
            if depth == 1 and kind == ",":
                return True
            if depth == 0 or kind == "end":
                return False
            k += 1

    def components(self, kind, name, place, shape, into):
        """The quantities of a declaration: one, or one for each component of a vector"""
        known = {"algebraic variable": "state", "memory variable": "memory", "running cost": "cost"}.get(kind, kind)
        if isinstance(shape, tuple):
            low, high = (self.scope.whole(tree, "the end of a range") for tree in shape)
            if not 0 <= high - low < MOST_COMPONENTS:
                raise Fault(place, f"a vector has 1 to {MOST_COMPONENTS} components; {name} has {high - low + 1}")
            self.declare(name, place, None)
            del self.scope.known[name]
            self.scope.vectors[name] = (low, high)
            names = [f"{name}[{k}]" for k in range(low, high + 1)]
        else:
            names = [name]
        out = []
        for one in names:
            q = Quantity(one, place, len(into))
            if shape is not None and not isinstance(shape, tuple):
                self.check_axes(place, name, shape)
                q.axes = tuple(axis.name for axis in self.model.axes)
            if len(names) == 1 and one == name:
                self.declare(one, place, (known, q))
            else:
                self.scope.known[one] = (known, q)
            into.append(q)
            out.append(q)
        return out

    def check_axes(self, place, name, shape):
        wanted = [axis.name for axis in self.model.axes]
        if not wanted:
            raise Fault(place, f"{name}: there is no grid; a vector is declared with its range, as in {name}[1..5]")
        if [tree[2] if tree[0] == "name" else None for tree in shape] != wanted:
            raise Fault(place, f"a field is declared as {name}[{', '.join(wanted)}]")

    def give(self, q, place, trees, shape, value):
        count = len(trees)
        if count > 1:
            low, high = self.scope.vectors[q.name.split("[")[0]]
            if count != high - low + 1:
                raise Fault(place, f"{count} values for {high - low + 1} components")
            value(q, trees[int(q.name.split("[")[1][:-1]) - low])
        else:
            value(q, trees[0])

    def read_parameter(self, place):
        def value(q, tree):
            if tree[0] == "name" and tree[2] == "nan" and "nan" not in self.scope.known:
                q.value = self.model.graph.c(float("nan"))           # it must be set
                return
            allowed = ("size", "axis") if q.axes else ()
            q.value = self.scope.node(tree, allowed, "the default of a parameter is a number")
            if not q.axes and self.model.graph.const(q.value) is None:
                raise Fault(tree[1], "the default of a parameter is a number")
        self.quantities("parameter", self.model.parameters, value)

    def read_state(self, place):
        self.quantities("state", self.model.states, lambda q, tree: self.starts.append((q, tree)))

    def read_algebraic(self, place):
        before = len(self.model.states)
        self.quantities("algebraic variable", self.model.states, lambda q, tree: self.starts.append((q, tree)))
        for q in self.model.states[before:]:
            q.order = q.order or 1

    def read_memory(self, place):
        self.quantities("memory variable", self.model.memory, lambda q, tree: self.starts.append((q, tree)))

    def read_mode(self, place):
        def one():
            name, at = self.tokens.take("name", "the name of a mode")[1:]
            self.declare(name, at, ("mode", len(self.model.modes)))
            self.model.modes.append(name)
        self.tokens.commas(one)

    def read_let(self, place):
        name, at = self.tokens.take("name", "a name")[1:]
        arguments = []
        if self.tokens.skip("("):
            arguments = [token[1] for token in self.tokens.commas(lambda: self.tokens.take("name", "an argument"))]
            self.tokens.take(")")
        self.tokens.take("=")
        self.declare(name, at, Let(at, arguments, self.tokens.expression()))

    def read_table(self, place):
        """table NAME steps|linear|cubic (PLACE, VALUE), ..., or "FILE" column K"""
        name, at = self.tokens.take("name", "the name of a table")[1:]
        kind = next((kind for kind in TABLES if self.tokens.word(kind)), None)
        if not kind:
            raise Fault(self.tokens.place, f"expected {', '.join(TABLES[:-1])} or {TABLES[-1]}, found "
                        + self.tokens.found())
        if self.tokens.peek()[0] == "text":
            self.declare(name, at, Table(at, kind, self.rows_of_file()))
            return

        def row():
            self.tokens.take("(", "'(' and a row (PLACE, VALUE) of the table")
            x = self.tokens.expression()
            self.tokens.take(",", "',' and the value there")
            value = self.tokens.expression()
            self.tokens.take(")", "')' behind the row")
            return x, value
        rows = self.tokens.commas(row)
        self.declare(name, at, Table(at, kind, rows))

    def rows_of_file(self):
        """"FILE" column K: beside the equation file; K is 2 if it is not given"""
        _, text, place = self.tokens.next()
        column = 2
        if self.tokens.word("column"):
            _, word, at = self.tokens.take("number", "the number of a column")
            column = int(word) if word.isdigit() and len(word) < 6 else 0
            if column < 2:
                raise Fault(at, "values stand in column 2 or one behind it; column 1 has the places")
        return rows_of_file(place, Path(self.source.path).parent, text[1:-1], column)

    def read_cost(self, place):
        name, at = self.tokens.take("name", "the name of a running cost")[1:]
        q = Quantity(name, at, len(self.model.costs))
        self.declare(name, at, ("cost", q))
        self.model.costs.append(q)
        tree = None
        if self.tokens.skip("'"):
            self.tokens.take("=")
            tree = self.tokens.expression()
        self.cost_trees.append(tree)
        self.remarks(q)

    def read_output(self, place):
        name, at = self.tokens.take("name", "the name of an output")[1:]
        q = Quantity(name, at, len(self.model.outputs))
        self.declare(name, at, ("output", q))
        self.model.outputs.append(q)
        self.tokens.take("=")
        self.output_trees.append(self.tokens.expression())
        self.remarks(q)

    def remarks(self, q):
        if self.tokens.peek()[0] == "unit":
            q.unit = self.tokens.next()[1][1:-1].strip()
        if self.tokens.peek()[0] == "text":
            q.text = self.tokens.next()[1][1:-1].strip()
