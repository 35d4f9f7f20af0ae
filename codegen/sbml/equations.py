"""The equation file of an SBML model, and what became of its identifiers."""
import math
from dataclasses import dataclass, field
from pathlib import Path

from ..equations.declare import C_WORDS, RESERVED
from ..equations.eq_file import value
from ..equations.names import identifier
from ..real import Refused
from . import text
from .derived import Derived
from .cascade import amount_name
from .events import Events
from .formula import parse
from .kinds import ALGEBRAIC, CONSTANT, MEMORY, PARAMETER, RULE, STATE
from .starts import let_name, start_name
from .terms import ZERO, names
from .text import wrapped

CLOCK = "the clock"                          # no identifier of SBML holds a blank


@dataclass
class Meaning:
    """What became of an identifier: `name` in the equation file; kind: parameter, state, algebraic, memory, rule or
    reaction (a name for an expression), constant (such a name, of parameters only) or output.

    state       the state or memory variable that holds it; of a species whose compartment changes size, its amount
    start       the parameter that is its initial value; "" where that is a number or a formula of the file"""
    name: str
    kind: str
    state: str = ""
    start: str = ""


@dataclass
class Equations:
    text: str
    names: dict = field(default_factory=dict)            # {id: Meaning}
    outputs: dict = field(default_factory=dict)          # {name that was asked for: name in the text}
    parameters: list = field(default_factory=list)       # names in the text, in its order


def write(document, name=None, given=(), extra=(), outputs=(), defaults=None):
    """The Equations of a Document.

    name        of the model; None: the id of the model in the file, or the name of the file
    given       identifiers that must be parameters although the file computes them: of a constant its value, of a state
                its initial value (Meaning.start)
    extra       further parameters, {id: default} or ids, whose default is NaN: to be set
    outputs     [(name, formula)]: a term, or a text for formula.parse, in identifiers of the file and of extra
    defaults    {id: number}: values of parameters, instead of those of the file"""
    return File(document, name, given, dict(extra) if isinstance(extra, dict) else dict.fromkeys(extra, math.nan),
                outputs, defaults or {}).written()


class File:
    def __init__(self, document, name, given, extra, outputs, defaults):
        self.document, self.derived, self.extra, self.defaults = document, Derived(document, given), extra, defaults
        self.taken, self.words = {*RESERVED, "nan"}, {}
        self.name = model_name(name or document.id or Path(document.path).stem)
        ids = [*self.derived.kind, *extra]
        for id_ in ids:
            self.words[id_] = identifier(id_, self.taken)
        for id_ in extra:
            if id_ in self.derived.kind:
                raise document.refusal(id_, "the model already has this identifier")
        self.outputs = [(n, parse(f) if isinstance(f, str) else f) for n, f in outputs]
        for n, term in self.outputs:
            for x in names(term):
                if x not in self.words:
                    raise Refused(f"{document.path}: {n} uses {x}, which the model does not declare")
        self.output_words = {n: identifier(n, self.taken) for n, _ in self.outputs}
        self.states = {id_: self.word(amount_name(id_)) if id_ in self.derived.amounts else self.words[id_]
                       for id_, kind in self.derived.kind.items()
                       if kind in (STATE, MEMORY, ALGEBRAIC) or id_ in self.derived.amounts}
        self.events = Events(self.derived)
        self.states.update((name, self.word(name)) for name in self.events.memory)
        self.parameters, self.event_words = [], set()

    def word(self, id_):
        """What the equation file calls an identifier, or a key with a blank"""
        if id_ not in self.words:
            self.words[id_] = identifier(id_, self.taken)
        return self.words[id_]

    def expression(self, term):
        term_numbers(self.document, term)
        return text.expression(text.as_value(term), self.word)

    def of_kind(self, *kinds):
        return [id_ for id_, kind in self.derived.kind.items() if kind in kinds]

    def unit(self, declared):
        """The texts of the file; of a concentration substance/size"""
        found, d = declared.unit if declared else "", self.document
        if declared and declared.id in d.species and not self.derived.means_amount(declared.id) and \
                declared.id not in self.derived.amounts:
            size = d.compartments[declared.compartment].unit
            found = f"{found}/{size}" if found and size else ""
        found = "".join(c for c in found if c.isprintable() and c not in "{}")
        return f" {{{found}}}" if found else ""

    # ---- the parts of the file ----

    def written(self):
        body = [*self.variables(), "", *self.lets(), "", *self.equations(), *self.event_lines(), *self.output_lines()]
        constants = self.constants()
        starts = [line for id_, term in self.derived.starts().items()
                  for line in wrapped(f"let {self.word(let_name(id_))} = {self.expression(term)}")]
        lines = [*self.head(), "", *self.parameter_lines(), *constants, *starts, *body]
        return Equations("\n".join(tidy(lines)) + "\n", self.meanings(), self.output_words, self.parameters)

    def head(self):
        d = self.document
        lines = [f"# written by costate-model from {Path(d.path).name}; it does not overwrite this file once it is "
                 "edited"]
        renamed = [f"{id_} is {word}" for id_, word in self.words.items() if word != id_ and id_ in self.derived.kind]
        if renamed:
            lines += ["# Words of this language are called otherwise here: " + ", ".join(renamed)]
        return [*lines, f"model {self.name}" + remark_of(d.name)]

    def parameter_lines(self):
        out = [self.parameter(id_, self.derived.number_at_start(id_), self.document.declared(id_))
               for id_ in self.of_kind(PARAMETER)]
        for id_ in self.states:
            if id_ in self.derived.given:
                out.append(self.parameter(start_name(id_), self.derived.number_at_start(id_),
                                          self.document.declared(id_)))
        return out + [self.parameter(id_, number, None) for id_, number in self.extra.items()]

    def parameter(self, id_, number, declared):
        word, number = self.word(id_), self.defaults.get(id_, number)
        if math.isinf(number):
            raise self.document.refusal(id_, "its value is not finite")
        self.parameters.append(word)
        return f"parameter {word} = {value(number)}{self.unit(declared)}{remark_of(declared.name if declared else '')}"

    def constants(self):
        """Species references without an id cannot be used"""
        named = [id_ for id_ in self.of_kind(CONSTANT)
                 if id_ not in self.document.references or self.document.references[id_].element.get("id")]
        return [line for id_ in named
                for line in wrapped(f"let {self.words[id_]} = {self.expression(self.derived.constant(id_))}")]

    def variables(self):
        out = [f"memory {self.states[name]} = 0" for name in self.events.memory]
        words = {STATE: "state", MEMORY: "memory", ALGEBRAIC: "algebraic"}
        for id_, word in self.states.items():
            kind = self.derived.kind.get(id_)
            if kind not in words:
                continue
            term = self.derived.amount_at_start(id_) if id_ in self.derived.amounts else self.derived.start(id_)
            declared = self.document.declared(id_)
            out.append(f"{words[kind]} {word} = {self.expression(term)}{self.unit(declared)}{remark_of(declared.name)}")
        if not any(self.derived.kind.get(id_) in (STATE, ALGEBRAIC) for id_ in self.states):
            out.append(f"state {self.word(CLOCK)} = 0 \"the time: the file declares no state\"")
        return out

    def lets(self):
        self.check_cycles()
        out = []
        for id_ in self.derived.amounts:
            held = self.derived.kind[id_] == RULE        # its amount never changes
            amount = self.expression(self.derived.amount_at_start(id_)) if held else self.states[id_]
            out.append(f"let {self.words[id_]} = {amount}/{self.word(self.derived.size(id_)[1])}"
                       if not held or amount.isidentifier() else
                       f"let {self.words[id_]} = ({amount})/{self.word(self.derived.size(id_)[1])}")
        for id_, term in [*self.derived.rules.items(), *self.derived.laws.items()]:
            out += wrapped(f"let {self.words[id_]} = {self.expression(term)}")
        return out

    def check_cycles(self):
        """No rule, rate or constant uses itself"""
        constants = self.of_kind(CONSTANT)
        done, path = set(), []

        def visit(id_):
            if id_ in path:
                raise self.document.refusal(id_, "this assignment depends on itself: " +
                                            " -> ".join([*path[path.index(id_):], id_]))
            if id_ not in done:
                path.append(id_)
                constant = self.derived.kind.get(id_) == CONSTANT
                for each in names(self.derived.constant(id_) if constant else self.derived.definition(id_) or ZERO):
                    visit(each)
                path.pop()
                done.add(id_)
        for id_ in [*self.derived.rules, *self.derived.laws, *constants]:
            visit(id_)

    def equations(self):
        out = []
        for id_, word in self.states.items():
            if self.derived.kind.get(id_) == STATE:
                out += wrapped(f"{word}' = {self.expression(self.derived.rate(id_))}")
        if CLOCK in self.words and CLOCK not in self.derived.kind:
            out.append(f"{self.words[CLOCK]}' = 1")
        return out + [line for term in self.derived.open for line in wrapped(f"0 = {self.expression(term)}")]

    def event_lines(self):
        out = []
        for id_, heading, lets, jump in self.events.written():
            out.append("")
            for key, term in lets:
                out += wrapped(f"let {self.word(key)} = {self.expression(term)}")
            when = f"when {self.becomes(*heading)}" if isinstance(heading, tuple) else f"at {value(heading)}"
            out.append(f"event {identifier(id_, self.event_words)} {when}")
            out += [line for x, term in jump
                    for line in wrapped(f"    {self.states[x]} := {self.expression(term)}")]
        return out

    def becomes(self, guard, what):
        """The text of a - b > 0 is a > b"""
        if what.endswith(" 0") and guard[0] == "-" and len(guard) == 3:
            return f"{self.expression(guard[1])} {what[:-2]} {self.expression(guard[2])}"
        return f"{self.expression(guard)} {what}"

    def output_lines(self):
        return ["", *(line for n, term in self.outputs
                      for line in wrapped(f"output {self.output_words[n]} = {self.expression(term)}"))]

    def meanings(self):
        out = {}
        for id_, kind in self.derived.kind.items():
            start = self.words[start_name(id_)] if id_ in self.states and id_ in self.derived.given else ""
            state = self.states.get(id_, "") if kind != RULE else ""
            out[id_] = Meaning(self.words[id_], kind, state, start)
        out.update((id_, Meaning(self.words[id_], PARAMETER)) for id_ in self.extra)
        return out


def term_numbers(document, term):
    """Refuses numbers that are not finite"""
    if term[0] == "number":
        if not math.isfinite(term[1]):
            what = "infinity" if math.isinf(term[1]) else "NaN, or a piecewise without otherwise"
            raise Refused(f"{document.path}: a formula contains {what}, which is not supported")
    elif term[0] not in ("name", "time", "rate"):
        for part in term[1:]:
            term_numbers(document, part)


def model_name(name):
    word = identifier(name, set(C_WORDS)).lstrip("_0123456789")
    return word if word and word.isascii() else "model"


def remark_of(name):
    cleaned = " ".join(name.replace('"', "'").split())
    return f' "{cleaned}"' if cleaned else ""


def tidy(lines):
    """No two empty lines one after the other"""
    return [line for k, line in enumerate(lines) if line or k and lines[k - 1]]
