"""Tokens of an equation file, each with its place; expressions as trees; refusals with line, column and caret.

An expression is a tuple (kind, place, ...): ("number", place, text), ("name", place, name, indices), where indices is
None or a list of expressions, ("call", place, name, arguments), ("prime", place, name, indices) for a derivative in
time, ("unary", place, op, a), ("binary", place, op, a, b), ("compare", place, op, a, b), ("if", place, c, a, b),
("sum", place, index, low, high, a)."""
import difflib
import re

from ..real import Refused

SYMBOLS = r"<->|->|\*\*|:=|\+=|==|!=|>=|<=|\.\.|[-+*/^()\[\],:;=<>'|]"
TOKEN = re.compile(rf"""(?P<number>(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eEdD][-+]?\d+)?)|(?P<name>[A-Za-z_]\w*)
    |(?P<symbol>{SYMBOLS})|(?P<unit>\{{[^}}\n]*\}})|(?P<text>"[^"\n]*")|(?P<newline>\n)""", re.X | re.A)
BLANK = re.compile(r"[ \t\r]*(?:(?:\#|//)[^\n]*)?")      # with a comment to the end of the line
OPENING, CLOSING = ("(", "["), (")", "]")
DEEPEST = 100                                # parentheses inside each other: Python's stack
QUOTED = 60                                  # characters of a file that a refusal quotes
LONGEST = 4_000_000                          # characters of a file


class Fault(Exception):
    """What is wrong at a place; Source.refusal makes the sentence.  Long words in it are shortened."""

    def __init__(self, place, what):
        what = re.sub(rf"[^\s']{{{QUOTED + 1},}}", lambda word: word[0][:QUOTED - 3] + "...", what)
        super().__init__(what)
        self.place, self.what = place, what


class Source:
    """A file's text and its tokens (kind, text, place); place: offset in the text.  shown: the text with what a reader
    has blanked"""

    def __init__(self, path, text, shown=None):
        self.path, self.text, self.shown = str(path), text, text if shown is None else shown
        self.included = []                   # (place of its first character, Source) of other files

    def extent(self):
        """The last place, with those of included files"""
        base, last = self.included[-1] if self.included else (0, None)
        return base + last.extent() if last else len(self.shown)

    def refusal(self, fault):
        for base, other in reversed(self.included):
            if fault.place >= base:
                return other.refusal(Fault(fault.place - base, fault.what))
        place = min(fault.place, len(self.shown))
        start = self.shown.rfind("\n", 0, place) + 1
        end = self.shown.find("\n", place)
        line = self.shown[start:end if end >= 0 else len(self.shown)]
        shown = "".join(c if c.isprintable() else " " for c in line.expandtabs(1))
        column = place - start
        cut = max(0, column - QUOTED // 2) if len(shown) > QUOTED else 0
        before = "..." if cut else ""
        return Refused(f"{self.path}:{self.line(place)}:{column + 1}: {fault.what}\n"
                       f"  {before}{shown[cut:cut + QUOTED]}\n  {' ' * (len(before) + column - cut)}^")

    def line(self, place):
        return self.shown.count("\n", 0, place) + 1

    def tokens(self, at=0, end=None):
        """Of the text from `at` to `end`"""
        if len(self.text) > LONGEST:
            raise Fault(0, f"the file has {len(self.text)} characters; at most {LONGEST} are read")
        end = len(self.text) if end is None else end
        out, depth = [], 0
        while True:
            at = BLANK.match(self.text, at, end).end()
            if at == end:
                break
            m = TOKEN.match(self.text, at, end)
            if not m:
                raise Fault(at, self._strange(self.text[at]))
            kind, text = m.lastgroup, m.group()
            depth += (text in OPENING) - (text in CLOSING)
            if text == ";" and depth <= 0:                # ends a statement, as the end of a line does
                out.append(("\n", text, at))
            elif kind != "newline" or depth <= 0 and not (out and out[-1][1] == ","):
                out.append((text if kind in ("symbol", "newline") else kind, text, at))
            at = m.end()
        return out + [("\n", "\n", at), ("end", "", at)]

    @staticmethod
    def _strange(character):
        if character in '"{':
            return f"this {character} is not closed on its line"
        shown = character if character.isprintable() else f"U+{ord(character):04X}"
        return f"'{shown}' is not a character of equations"


def number(place, text):
    """The value of a number, which may have the exponent of Fortran, 1d3"""
    value = float(text.lower().replace("d", "e"))
    if value == float("inf"):
        raise Fault(place, f"{text} is too large a number")
    return value


def near(name, known):
    """A hint: names that resemble this one"""
    if len(name) > QUOTED:
        return ""
    known = list(dict.fromkeys(known))
    found = [k for k in known if k.lower() == name.lower()] or difflib.get_close_matches(name, known, 3, 0.7)
    return f"; did you mean {' or '.join(found)}?" if found else ""


class Tokens:
    """A cursor over tokens."""

    def __init__(self, tokens):
        self.list, self.at, self.depth = tokens, 0, 0

    def peek(self, k=0):
        return self.list[min(self.at + k, len(self.list) - 1)]

    @property
    def place(self):
        return self.peek()[2]

    def next(self):
        token = self.peek()
        self.at += 1
        return token

    def skip(self, kind):
        if self.peek()[0] == kind:
            self.at += 1
            return True
        return False

    def word(self, text):
        """Whether this word, which is no keyword elsewhere, comes next; taken if so"""
        if self.peek()[:2] == ("name", text):
            self.at += 1
            return True
        return False

    def take(self, kind, what=None):
        token = self.peek()
        if token[0] != kind:
            raise Fault(token[2], f"expected {what or repr(kind)}, found {self.found()}")
        self.at += 1
        return token

    def found(self):
        text = self.peek()[1].strip()
        return f"'{text}'" if text else "the end of the line"

    def commas(self, one):
        out = [one()]
        while self.skip(","):
            out.append(one())
        return out

    # ---- expressions ----

    def expression(self):
        self.depth += 1
        if self.depth > DEEPEST:
            raise Fault(self.place, "too many parentheses inside each other")
        a = self._sum()
        self.depth -= 1
        return a

    def condition(self):
        a = self._conjunction()
        while self.peek()[:2] == ("name", "or"):
            place = self.next()[2]
            a = ("binary", place, "or", a, self._conjunction())
        return a

    def _conjunction(self):
        a = self._comparison()
        while self.peek()[:2] == ("name", "and"):
            place = self.next()[2]
            a = ("binary", place, "and", a, self._comparison())
        return a

    def _comparison(self):
        place = self.place
        if self.word("not"):
            holds = True
            while self.word("not"):
                holds = not holds
            a = self._comparison()
            return ("unary", place, "not", a) if holds else a
        if self.peek()[0] == "(" and self._is_condition():
            self.next()
            self.depth += 1
            if self.depth > DEEPEST:
                raise Fault(place, "too many parentheses inside each other")
            a = self.condition()
            self.depth -= 1
            self.take(")")
            return a
        a = self.expression()
        op = self.peek()
        if op[0] not in ("<", ">", "<=", ">=", "==", "!="):
            raise Fault(op[2], f"expected a comparison (< <= > >= == !=), found {self.found()}")
        self.next()
        return ("compare", op[2], op[0], a, self.expression())

    def _is_condition(self):
        """Whether the parenthesis here encloses comparisons, not an expression"""
        depth = 0
        for kind, text, _ in self.list[self.at:]:
            depth += (kind in OPENING) - (kind in CLOSING)
            if depth == 1 and (kind in ("<", ">", "<=", ">=", "==", "!=") or kind == "name"
                               and text in ("and", "or", "not")):
                return True
            if depth == 0 or kind in ("\n", "end"):
                return False
        return False

    def _sum(self):
        a = self._product()
        while self.peek()[0] in ("+", "-"):
            op = self.next()
            a = ("binary", op[2], op[0], a, self._product())
        return a

    def _product(self):
        a = self._signed()
        while self.peek()[0] in ("*", "/"):
            op = self.next()
            a = ("binary", op[2], op[0], a, self._signed())
        kind, text, _ = self.peek()
        if kind in ("number", "(") or kind == "name" and text not in AFTER | BEHIND_GUARDS:
            raise Fault(self.place, f"expected an operator before {self.found()}; products are written with *")
        return a

    def _signed(self):
        place, minus = self.place, False
        while self.peek()[0] in ("+", "-"):
            minus ^= self.next()[0] == "-"
        a = self._power()
        return ("unary", place, "-", a) if minus else a

    def _power(self):
        a = self.operand()
        if self.peek()[0] in ("^", "**"):
            place = self.next()[2]
            self.depth += 1
            if self.depth > DEEPEST:
                raise Fault(place, "too many powers inside each other")
            b = self._signed()
            self.depth -= 1
            return ("binary", place, "^", a, b)
        return a

    def operand(self):
        """A number, a name, a call, or an expression in parentheses"""
        kind, text, place = self.peek()
        if kind == "number":
            self.next()
            return ("number", place, text)
        if kind == "(":
            self.next()
            a = self.expression()
            self.take(")")
            return a
        if kind != "name" or text in AFTER:
            raise Fault(place, f"expected an expression, found {self.found()}")
        self.next()
        if self.peek()[0] == "(":
            return self._call(text, place)
        indices = self.indices() if self.peek()[0] == "[" else None
        if self.skip("'"):
            return ("prime", place, text, indices)
        return ("name", place, text, indices)

    def indices(self):
        self.take("[")
        out = self.commas(self.expression)
        self.take("]")
        return out

    def indices_or_range(self):
        """Of a declaration: [i, j], a list of trees; or [low..high], a pair"""
        self.take("[")
        first = self.expression()
        if self.skip(".."):
            out = (first, self.expression())
        else:
            out = [first] + (self.commas(self.expression) if self.skip(",") else [])
        self.take("]")
        return out

    def _call(self, name, place):
        self.next()
        if name == "if":
            c = self.condition()
            self.take(",", "',' and the value where the condition holds")
            a = self.expression()
            self.take(",", "',' and the value where it does not")
            out = ("if", place, c, a, self.expression())
        elif name == "piecewise":
            out = self._piecewise(place)
        elif name == "sum" and self.peek(1)[0] == "=":
            index = self.take("name", "an index")[1]
            low, high = self.range("=")
            self.take(",", "',' and what is summed")
            out = ("sum", place, index, low, high, self.expression())
        else:
            out = ("call", place, name, self.commas(self.expression) if self.peek()[0] != ")" else [])
        self.take(")")
        return out

    def _piecewise(self, place):
        """VALUE, CONDITION, ..., VALUE: the value of the first condition that holds, or the last one"""
        pairs, a = [], self.expression()
        while self.peek()[0] == "," or not pairs:
            self.take(",", "',' and the condition for the value before it")
            c = self.condition()
            self.take(",", "',' and another value: the last one is that where no condition holds")
            pairs.append((c, a))
            a = self.expression()
        for c, value in reversed(pairs):
            a = ("if", place, c, value, a)
        return a

    def range(self, before):
        self.take(before)
        low = self.expression()
        self.take("..", "'..' of a range")
        return low, self.expression()


AFTER = {"and", "or", "rises", "falls", "crosses", "for", "terminal", "passes", "index", "every", "until", "in"}
BEHIND_GUARDS = {"fires", "ignored"}         # can be names
