"""Statements of an equation file become a Model.  docs/reference/equations.md describes the language."""
from pathlib import Path

from ..real import Refused
from . import start_limit, unit_check
from .assemble import assemble
from .declare import C_WORDS, Declarations
from .declared import Declared, located
from .included import Includes, as_text
from .model import HIGH, LOW, PERIODIC, WALL, ZERO, Axis, Model, Quantity
from .occur import Occurrences
from .scope import TOO_DEEP, Scope
from .syntax import Fault, Source, Tokens, near
from .table_file import inlined

STATEMENTS = ("model", "size", "grid", "boundary", "layout", "parameter", "state", "algebraic", "memory", "mode", "let",
              "table", "cost", "output", "event", "start", "stop", "kinks", "reactions", "include", "unit", "function")
MOST_AXES = 3


def read(path):
    """The model in a file; Refused names file, line and column."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise Refused(f"{path}: cannot be read: {fault}") from None
    return parse(text, path)


def parse(text, path):
    source = Source(path, text)
    try:
        model = Reader(source).model
        model.source = source
        return model
    except Fault as fault:
        raise source.refusal(fault) from None


def self_contained(text, path):
    """The text of an equation file with what other files contribute to it: included ones, and rows of tables; and with
    whole names of files in C"""
    source = Source(path, text)
    try:
        reader = Reader(source)
    except Fault as fault:
        raise source.refusal(fault) from None
    return located(inlined(as_text(reader) if source.included else text, path), path)


def name_of_file(path):
    name = Path(path).stem
    return name if name.isidentifier() and name.isascii() else "model"


class Reader(Declarations, Declared, Occurrences, Includes):
    STATEMENTS = STATEMENTS

    def __init__(self, source, depth=0):
        self.tokens, self.source, self.depth = Tokens(source.tokens()), source, depth
        self.model = Model(name_of_file(source.path))
        self.scope = Scope(self.model)
        self.equations = []                  # (place, left tree, right tree, loop tree or None)
        self.cost_trees, self.output_trees = [], []
        self.starts = []                     # (quantity, tree)
        self.declared = []                   # (boundary, axis, end, what, place)
        self.start_limit = None
        self.check_units, self.time_unit = False, None
        self.kinks = self.branches = False
        self.event, self.events_read = None, set()
        self.assignments = []                # (event, place, target token, indices, op, tree)
        self.guards = []                     # (event, tree)
        self.timed = []                      # (event, or None for stops; times as Occurrences.times reads them)
        self.reaction_trees = []             # (place, left, right, tree)
        while self.tokens.peek()[0] != "end":
            if not self.tokens.skip("\n"):
                place = self.tokens.place
                try:
                    self.statement()
                except RecursionError:
                    raise Fault(place, TOO_DEEP) from None
        self.check_includes()
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

    def read_unit(self, place):
        unit_check.read(self, place)

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
                size = int(text) if text.isdigit() and len(text) < 10 else 0
                self.tokens.next()
                if size < 1:
                    raise Fault(size_at, "the number of cells must be a whole number of at least 1")
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
        as_ = self.tokens.word("as")
        self.kinks = as_ and self.tokens.word("events")
        self.branches = as_ and not self.kinks and self.tokens.word("branches")
        if not (self.kinks or self.branches):
            raise Fault(place, "expected kinks as events or kinks as branches")

    def read_reactions(self, place):
        """A heading: reactions are known by their arrows."""
        self.tokens.skip(":")

    def read_start(self, place):
        start_limit.read(self, place)

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
        """[(coefficient, name token)]; nothing, if it is 0 or empty; on the right also A - B.  A coefficient is (sign,
        tree of a number or of an expression in parentheses)"""
        out, sign = [], 1
        if self.tokens.peek()[0] in ends:
            return out
        if self.tokens.peek()[:2] == ("number", "0") and self.tokens.peek(1)[0] in ends:
            self.tokens.next()
            return out
        if self.tokens.peek()[:2] == ("number", "0") and self.tokens.peek(1)[0] == "-":
            self.tokens.next()
            self.tokens.next()
            sign = -1
        while True:
            count = ("number", self.tokens.place, "1")
            if self.tokens.peek()[0] in ("number", "("):
                count = self.tokens.operand()
                self.tokens.skip("*")
            out.append(((sign, count), self.tokens.take("name", "a species")))
            if self.tokens.peek()[0] not in ("+", "-"):
                break
            sign = 1 if self.tokens.next()[0] == "+" else -1
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
