"""Statements of an equation file become a Model.  docs/equations.md describes the language."""
from pathlib import Path

from ..real import Refused
from .assemble import assemble
from .graph import FUNCTIONS, FUNCTIONS_OF_TWO
from .model import HIGH, LOW, PERIODIC, VALUE, WALL, ZERO, Axis, Event, Model, Quantity, CROSSES, FALLS, RISES
from .scope import ALIASES, Let, Scope
from .syntax import AFTER, Fault, Source, Tokens, near

STATEMENTS = ("model", "size", "grid", "boundary", "layout", "parameter", "state", "algebraic", "memory", "mode", "let",
              "cost", "output", "event", "kinks", "reactions")
RESERVED = {"t", "if", "sum", "min", "max", "mode", "not", "pow", *AFTER, *FUNCTIONS, *FUNCTIONS_OF_TWO, *ALIASES}
MOST_COMPONENTS = 10_000                     # of a vector
MOST_AXES = 3
MOST_TIMES = 1_000_000                       # of an event


def read(path):
    """The model in a file; Refused names file, line and column."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise Refused(f"{path}: cannot be read: {fault}") from None
    return parse(text, path)


def parse(text, path):
    source = Source(path, text)
    try:
        return Reader(source).model
    except Fault as fault:
        raise source.refusal(fault) from None


def name_of_file(path):
    name = Path(path).stem
    return name if name.isidentifier() and name.isascii() else "model"


class Reader:
    def __init__(self, source):
        self.tokens = Tokens(source.tokens())
        self.model = Model(name_of_file(source.path))
        self.scope = Scope(self.model)
        self.equations = []                  # (place, left tree, right tree, loop tree or None)
        self.cost_trees, self.output_trees = [], []
        self.starts = []                     # (quantity, tree)
        self.declared = []                   # (boundary, axis, end, what, place)
        self.kinks = False
        self.event = None
        self.assignments = []                # (event, place, target token, indices, op, tree)
        self.guards = []                     # (event, tree)
        self.reaction_trees = []             # (place, left, right, tree)
        while self.tokens.peek()[0] != "end":
            if not self.tokens.skip("\n"):
                self.statement()
        assemble(self)

    # ---- statements ----

    def statement(self):
        kind, word, place = self.tokens.peek()
        following = self.tokens.peek(1)[0]
        if kind == "name" and word in STATEMENTS and following in ("name", "text", "\n", ":"):
            self.tokens.next()
            if word != "event":
                self.event = None
            getattr(self, "read_" + word)(place)
        elif self.line_has("->", "<->"):
            self.reaction()
        elif self.line_has(":=", "+="):
            self.assignment()
        elif self.line_has("="):
            self.equation()
        elif kind == "name":
            raise Fault(place, f"'{word}' is neither a statement nor the beginning of an equation" +
                        near(word, STATEMENTS))
        else:
            raise Fault(place, f"expected a statement, found {self.tokens.found()}")
        if self.tokens.peek()[0] != "end":
            self.tokens.take("\n", "the end of the statement")

    def line_has(self, *symbols):
        k = 0
        while self.tokens.peek(k)[0] not in ("\n", "end"):
            if self.tokens.peek(k)[0] in symbols:
                return True
            k += 1
        return False

    def read_model(self, place):
        if self.tokens.peek()[0] == "name":
            self.model.name = self.tokens.next()[1]
            if self.model.name in C_WORDS:
                raise Fault(place, f"{self.model.name} is a word of C; choose another name")
        if self.tokens.peek()[0] == "text":
            self.model.text = self.tokens.next()[1][1:-1]

    def read_size(self, place):
        def one():
            name, at = self.tokens.take("name", "the name of a size")[1:]
            self.declare(name, at, ("size", len(self.model.sizes)))
            self.model.sizes[name] = None
            if self.tokens.skip("="):
                value = self.scope.whole(self.tokens.expression(), "a size")
                if value < 1:
                    raise Fault(at, "a size must be at least 1")
                self.model.sizes[name] = value
        self.tokens.commas(one)

    def read_grid(self, place):
        def one():
            name, at = self.tokens.take("name", "the name of an index")[1:]
            if len(self.model.axes) == MOST_AXES:
                raise Fault(at, f"a grid has at most {MOST_AXES} axes")
            if self.model.states or self.model.parameters:
                raise Fault(at, "grid must stand before states and parameters")
            self.tokens.take(":", "':' and the number of cells")
            kind, text, size_at = self.tokens.peek()
            if kind == "number":
                size = self.scope.whole(self.tokens.expression(), "the number of cells")
                if size < 1:
                    raise Fault(size_at, "the number of cells must be at least 1")
            else:
                size = self.tokens.take("name", "a size, or a number of cells")[1]
                if size not in self.model.sizes:
                    raise Fault(size_at, f"{size} is not a size" + near(size, self.model.sizes))
            self.declare(name, at, ("axis", len(self.model.axes)))
            axis = Axis(name, size)
            axis.ends = [self.boundary_word(axis_too=True)] * 2 if self.tokens.peek()[0] == "name" else [None, None]
            self.model.axes.append(axis)
        self.tokens.commas(one)

    def boundary_word(self, axis_too):
        """One of the conditions that are named; None: an expression"""
        words = (PERIODIC, ZERO, WALL) if axis_too else (ZERO, WALL)
        kind, word, place = self.tokens.peek()
        if kind == "name" and word in words:
            self.tokens.next()
            return word
        if axis_too:
            raise Fault(place, f"expected {', '.join(words[:-1])} or {words[-1]}, found {self.tokens.found()}"
                        + near(word, words))
        return None

    def read_boundary(self, place):
        """boundary u, v: i low = zero, i high = EXPRESSION"""
        fields = self.tokens.commas(lambda: self.tokens.take("name", "the name of a field"))
        self.tokens.take(":", "':' and an end of an axis, as in i low = 0")

        def one():
            axis, at = self.tokens.take("name", "an axis")[1:]
            end_kind, end, end_at = self.tokens.peek()
            if end not in ("low", "high"):
                raise Fault(end_at, f"expected low or high, found {self.tokens.found()}")
            self.tokens.next()
            self.tokens.take("=")
            what = self.boundary_word(axis_too=False) or self.tokens.expression()
            for _, field, field_at in fields:
                self.declared.append((field, field_at, axis, at, LOW if end == "low" else HIGH, what))
        self.tokens.commas(one)

    def read_layout(self, place):
        word = self.tokens.take("name", "cells or fields")[1]
        if word not in ("cells", "fields"):
            raise Fault(place, f"layout is cells or fields, not {word}")
        self.model.layout = word

    def read_kinks(self, place):
        if not (self.tokens.word("as") and self.tokens.word("events")):
            raise Fault(place, "expected kinks as events")
        self.kinks = True

    def read_reactions(self, place):
        """A heading: reactions are known by their arrows."""
        self.tokens.skip(":")

    # ---- declarations ----

    def declare(self, name, place, what):
        if name in RESERVED:
            raise Fault(place, f"{name} is a word of the language; choose another name")
        if name in self.scope.known or name in self.scope.vectors:
            raise Fault(place, f"{name} is declared twice")
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

    # ---- events ----

    def read_event(self, place):
        name, at = self.tokens.take("name", "the name of an event")[1:]
        if any(e.name == name for e in self.model.events):
            raise Fault(at, f"event {name} is declared twice")
        self.event = Event(name, at)
        self.model.events.append(self.event)
        if self.tokens.word("at"):
            self.event.times = self.times()
        elif self.tokens.word("when"):
            self.guards.append((self.event, self.tokens.expression()))
            self.event.direction = self.direction()
        else:
            raise Fault(self.tokens.place, f"expected 'at' and times or 'when' and a guard, found {self.tokens.found()}")
        while self.tokens.peek()[0] == "name":
            word = self.tokens.next()
            if word[1] == "terminal":
                self.event.terminal = True
            elif word[1] == "passes":
                self.event.passes = True
            elif word[1] == "in":
                mode = self.tokens.take("name", "a mode")
                self.event.active = self.mode_number(mode)
            else:
                raise Fault(word[2], f"expected 'in MODE', 'terminal' or 'passes', found '{word[1]}'")

    def mode_number(self, token):
        if token[1] not in self.model.modes:
            raise Fault(token[2], f"{token[1]} is not a mode" + near(token[1], self.model.modes))
        return self.model.modes.index(token[1])

    def direction(self):
        words = {"rises": RISES, "falls": FALLS, "crosses": CROSSES}
        token = self.tokens.peek()
        if token[1] not in words:
            raise Fault(token[2], f"expected rises, falls or crosses, found {self.tokens.found()}")
        self.tokens.next()
        return words[token[1]]

    def times(self):
        place = self.tokens.place
        number = lambda: self.scope.number(self.tokens.expression(), "the time of an event")     # noqa: E731
        times = self.tokens.commas(number)
        if self.tokens.word("every"):
            step = number()
            if not self.tokens.word("until"):
                raise Fault(self.tokens.place, f"expected 'until' and the last time, found {self.tokens.found()}")
            last = number()
            if len(times) != 1 or not step > 0 or not last >= times[0] or (last - times[0]) / step > MOST_TIMES:
                raise Fault(place, f"expected FIRST every STEP until LAST: at most {MOST_TIMES} times in increasing order")
            times = [times[0] + k * step for k in range(int((last - times[0]) / step * (1 + 1e-14) + 1e-9) + 1)]
        if any(b < a for a, b in zip(times, times[1:])):
            raise Fault(place, "the times of an event must not decrease")
        return times

    def assignment(self):
        token = self.tokens.take("name", "a state, memory variable, running cost or mode")
        if self.event is None:
            raise Fault(token[2], "an assignment belongs to an event: it stands below the line of the event")
        indices = self.tokens.indices() if self.tokens.peek()[0] == "[" else None
        op = self.tokens.next()
        if op[0] not in (":=", "+="):
            raise Fault(op[2], f"expected := or +=, found '{op[1]}'")
        self.assignments.append((self.event, token, indices, op[0], self.tokens.expression()))

    # ---- equations, reactions ----

    def equation(self):
        place = self.tokens.place
        left = self.tokens.expression()
        self.tokens.take("=", "'='")
        right = self.tokens.expression()
        loop = None
        if self.tokens.word("for"):
            index = self.tokens.take("name", "an index")[1]
            loop = (index, *self.tokens.range("="))
        self.equations.append((place, left, right, loop))

    def reaction(self):
        """A + 2 B -> C : k = 3, or A <-> B : forward, back"""
        place = self.tokens.place
        left = self.side("->", "<->")
        both = self.tokens.next()[0] == "<->"
        right = self.side(":")
        self.tokens.take(":", "':' and the rate constant")
        self.reaction_trees.append((place, left, right, self.rate()))
        if both:
            self.tokens.take(",", "',' and the rate constant of the way back")
            self.reaction_trees.append((place, right, left, self.rate()))

    def side(self, *ends):
        """[(coefficient, name token)]; nothing, if it is 0 or empty"""
        out = []
        if self.tokens.peek()[0] in ends:
            return out
        if self.tokens.peek()[:2] == ("number", "0") and self.tokens.peek(1)[0] in ends:
            self.tokens.next()
            return out
        while True:
            count = float(self.tokens.next()[1].replace("d", "e")) if self.tokens.peek()[0] == "number" else 1.0
            self.tokens.skip("*")
            out.append((count, self.tokens.take("name", "a species")))
            if not self.tokens.skip("+"):
                break
        if self.tokens.peek()[0] not in ends:
            raise Fault(self.tokens.place, f"expected + or '{ends[0]}', found {self.tokens.found()}")
        return out

    def rate(self):
        """An expression, or NAME = NUMBER, which declares a parameter"""
        if self.tokens.peek()[0] == "name" and self.tokens.peek(1)[0] == "=":
            name, place = self.tokens.next()[1:]
            self.tokens.next()
            q = Quantity(name, place, len(self.model.parameters))
            self.declare(name, place, ("parameter", q))
            tree = self.tokens.expression()
            q.value = self.scope.node(tree, (), "the default of a parameter is a number")
            self.model.parameters.append(q)
            self.remarks(q)
            return ("name", place, name, None)
        return self.tokens.expression()


C_WORDS = set("""auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main""".split())
