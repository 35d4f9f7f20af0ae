"""Chemical mechanisms in the format of the Kinetic PreProcessor (A. Sandu, R. Sander, Atmos. Chem. Phys. 6 (2006)
187-195) become Models: files .def, .kpp, .spc, .eqn.

Every reaction has a parameter of its own, so that one adjoint run gives the sensitivities to all of them: k_LABEL, if
its rate constant is a number, else f_LABEL = 1, a factor of the expression.  Fixed species are parameters, and so are
values that inlined code sets.  What the mechanism does not define is a parameter without a value: NaN until it is set.
Time is in seconds, as SUN has it."""
import math
import os
import re
from pathlib import Path

from ..real import Refused
from . import kpp_code
from .kpp_rates import Rates
from .model import Model, Quantity, Reaction
from .scope import MOST_OPERATIONS, TOO_DEEP
from .syntax import Fault, Source, Tokens, near, number

SECTIONS = {"DEFVAR", "DEFRAD", "DEFFIX", "EQUATIONS", "INITVALUES", "SETVAR", "SETRAD", "SETFIX"}
DUMMIES = {"hv", "prod", "dummy"}
GENERIC = {"all_spec": ("var", "fix"), "var_spec": ("var",), "fix_spec": ("fix",)}
DEEPEST = 10                                 # includes inside each other
STANDARD = re.compile(r"atoms(_red)?(\.kpp)?$", re.I)         # elements, for checks of the balance of atoms
FORTRAN = (".f90", ".f", ".f95", ".f03", ".f08")              # suffixes of files of modules, in either case
QUOTED, LISTED = 60, 40                      # characters of code, and names, that a note shows
LANGUAGES = {"c": "C", "fortran77": "F77", "fortran90": "F90", "fortran": "F90", "matlab": "MATLAB"}
# Comments, which are {...}, or // to the end of the line; and inlined code, in which these characters mean others.
PARTS = re.compile(r"\{[^}]*\}|//[^\n]*|^[ \t]*#[ \t]*INLINE[ \t]+(\w+)[^\n]*\n(.*?)^[ \t]*#[ \t]*ENDINLINE[^\n]*",
                   re.M | re.S | re.I)


def read(path, folders=()):
    """(model, notes: what was skipped or has no value, sentences); folders: where included files are looked for"""
    reader = Reader(path, folders)
    return reader.model, reader.notes


def same_places(text):
    """Without suffixes of numbers, and with words for what has a point or a percent sign in Fortran"""
    text = re.sub(r"(?<=[\d.])_(dp|sp|wp|r8)\b", kpp_code.blank, text, flags=re.I)
    text = re.sub(r"\.(true|false)\.", lambda m: f"_{m[1]}_", text, flags=re.I)
    return re.sub(r"(?<=\w)%(?=\w)", "_", text)


def quoted(text):
    """Words instead of texts that are arguments of rate laws, as in J('NO2 -> NO + O')"""
    return re.sub(r"'[^'\n]*'", lambda m: re.sub(r"\W", "_", m.group()), text)


class Reader:
    def __init__(self, path, folders=()):
        self.model, self.notes = Model(name_of(path)), []
        self.g = self.model.graph
        self.folders = [Path(path).parent, Path(), *map(Path, folders)]
        if os.environ.get("KPP_HOME"):
            self.folders.append(Path(os.environ["KPP_HOME"], "models"))
        self.items = {name: [] for name in SECTIONS}     # (source, place, end) of each item
        self.blocks, self.language, self.skipped = [], "", []
        self.kind, self.spelling = {}, {}                # of species, by lower-case name: var, fix; as first written
        self.state, self.parameter = {}, {}
        self.initial, self.factor = {}, 1.0
        self.collect(Path(path), 0)
        for name, kind in (("DEFVAR", "var"), ("DEFRAD", "var"), ("DEFFIX", "fix"), ("SETVAR", "var"),
                           ("SETRAD", "var"), ("SETFIX", "fix")):
            self.each(name, lambda tokens, kind=kind: self.declare(tokens, kind))
        self.rates = Rates(self, kpp_code.read(self.blocks, self.language, self.modules()))
        self.each("INITVALUES", self.initial_value)
        self.rates.initial_concentrations()
        self.undeclared = not self.items["DEFVAR"]
        self.equations = []
        self.each("EQUATIONS", self.equation)
        if not self.equations:
            raise Refused(f"{path}: there is no reaction in a section #EQUATIONS")
        self.build()
        self.note_all()

    # ---- notes ----

    def note_all(self):
        """One note for each kind of what a user should know"""
        if self.skipped:
            self.notes.append(f"{', '.join(f'#{word}' for word in dict.fromkeys(self.skipped))}: skipped, as equations "
                              "do not depend on these")
        code = [f"{source.path}:{source.line(at)}: {text if len(text) <= QUOTED else text[:QUOTED - 3] + '...'}"
                for source, at, text in self.rates.code.unread]
        if code:
            self.notes.append("this code was not read; if rates depend on it, what it sets has no value:\n    "
                              + "\n    ".join(code))
        if self.rates.by_name:
            self.notes.append("names of species stand in rates for their concentrations: "
                              + ", ".join(dict.fromkeys(self.rates.by_name)))
        unset = [q.name for q in self.model.parameters if math.isnan(self.g.const(q.value))]
        if unset:
            more = f" and {len(unset) - LISTED} more" if len(unset) > LISTED else ""
            self.notes.append("the mechanism gives no value for " + ", ".join(unset[:LISTED]) + more + ": these "
                              "parameters are NaN, and runs are refused, until they are set")

    # ---- files and sections ----

    def collect(self, path, depth):
        if depth > DEEPEST:
            raise Refused(f"{path}: files include each other more than {DEEPEST} levels deep")
        try:
            shown = path.read_text(encoding="utf-8", errors="replace")
        except OSError as fault:
            raise Refused(f"{path}: cannot be read: {fault.strerror}") from None
        code = []
        text = PARTS.sub(lambda m: self.part(m, code), shown)
        source = Source(path, same_places(quoted(text)), shown)
        whole = Source(path, same_places(shown), shown)
        self.blocks += [(kind.upper(), whole, start, end) for kind, start, end in code]
        marks = list(re.finditer(r"^[ \t]*#[ \t]*(\w+)", source.text, re.M))
        for mark, after in zip(marks, marks[1:] + [None]):
            word, end = mark.group(1).upper(), after.start() if after else len(source.text)
            if word == "INCLUDE":
                self.include(source, mark.end(), depth)
            elif word == "MODEL":
                self.included_model(source, mark.end(), path, depth)
            elif word in SECTIONS:
                self.split(word, source, mark.end(), end)
            elif word in ("INLINE", "ENDINLINE"):
                raise source.refusal(Fault(mark.start(1) - 1, f"#{word} without #{'END' * (word == 'INLINE')}INLINE"))
            elif word == "LANGUAGE":
                self.language = LANGUAGES.get(self.rest_of_line(source, mark.end()).lower(), "")
            else:
                self.skipped.append(word)

    @staticmethod
    def part(found, code):
        if found[1]:
            code.append((found[1], found.start(2), found.end(2)))
        return kpp_code.blank(found)

    @staticmethod
    def rest_of_line(source, at):
        return source.text[at:].split("\n", 1)[0].strip().strip(';"').strip()

    def find(self, *names):
        for folder in self.folders:
            for name in names:
                if name and (folder / name).is_file():
                    return folder / name
        return None

    def include(self, source, at, depth):
        name = self.rest_of_line(source, at)
        file = Path(source.path).parent / name
        file = file if name and file.is_file() else self.find(name)
        if file:
            self.collect(file, depth + 1)
        elif not STANDARD.match(name):
            raise source.refusal(Fault(at + 1, f"the file {name or '(no name)'} does not exist in {self.searched()}"))

    def included_model(self, source, at, path, depth):
        """#MODEL NAME stands for NAME.def"""
        name = self.rest_of_line(source, at)
        file = self.find(f"{name}.def", f"{name}.kpp")
        if not file or file.resolve() == path.resolve():
            raise source.refusal(Fault(at + 1, f"there is no {name}.def in {self.searched()}"))
        self.collect(file, depth + 1)

    def modules(self):
        """{name: source} of the modules that inlined code uses, and of those that these use, as far as their files are
        found; used ones stand before"""
        found, seen = {}, set()

        def use(text):
            for name in kpp_code.used_modules(text):
                file = None if name in seen else self.module_file(name)
                seen.add(name)
                if file:
                    shown = file.read_text(encoding="utf-8", errors="replace")
                    use(shown)
                    found[name] = Source(file, same_places(shown), shown)
        for kind, source, start, end in self.blocks:
            if kind.startswith("F90"):
                use(source.text[start:end])
        return found

    def module_file(self, name):
        for folder in self.folders:
            for file in sorted(folder.glob("*")) if folder.is_dir() else ():
                if file.stem.lower() == name and file.suffix.lower() in FORTRAN and file.is_file():
                    return file
        return None

    def searched(self):
        return ", ".join(dict.fromkeys(str(folder) for folder in self.folders)) + "; -I FOLDER names others"

    def split(self, section, source, at, end):
        while at < end:
            stop = source.text.find(";", at, end)
            stop = end if stop < 0 else stop
            at = re.compile(r"[\s,)]*").match(source.text, at, stop).end()         # commas are left between comments
            if at < stop:
                self.items[section].append((source, at, stop))
            at = stop + 1

    def each(self, section, do):
        for source, at, end in self.items[section]:
            self.source = source
            try:
                do(Tokens(source.tokens(at, end)))
            except Fault as fault:
                raise source.refusal(fault) from None
            except RecursionError:
                raise source.refusal(Fault(at, TOO_DEEP)) from None

    @staticmethod
    def only(tokens):
        """Line ends are blanks here"""
        tokens.list = [t for t in tokens.list if t[0] != "\n"] + [("\n", "\n", tokens.list[-1][2]), tokens.list[-1]]
        tokens.list = [t for k, t in enumerate(tokens.list) if t[0] != "end" or k == len(tokens.list) - 1]
        return tokens

    # ---- species ----

    def declare(self, tokens, kind):
        name, place = self.only(tokens).take("name", "the name of a species")[1:]
        low = name.lower()
        if low in GENERIC:
            for species in self.kind:
                self.kind[species] = kind if self.kind[species] in GENERIC[low] else self.kind[species]
            return
        self.kind[low] = kind
        self.spelling.setdefault(low, name)

    def initial_value(self, tokens):
        name, place = self.only(tokens).take("name", "the name of a species")[1:]
        tokens.take("=")
        value = self.g.const(self.rates.expression(tokens))
        if value is None:
            raise Fault(place, f"the initial value of {name} must be a number")
        if name.lower() == "cfactor":
            self.factor = value
        elif name.lower() in self.kind or name.lower() in GENERIC:
            self.initial[name.lower()] = value
        elif self.items["DEFVAR"]:
            raise Fault(place, f"{name} is not declared in #DEFVAR or #DEFFIX" + near(name, self.spelling.values()))
        else:
            self.initial[name.lower()] = value

    def start(self, low, kind):
        if low in self.rates.concentrations:             # set by code, which does not use CFACTOR
            return self.rates.concentrations[low]
        if low in self.initial:
            return self.initial[low] * self.factor
        for generic in ("var_spec" if kind == "var" else "fix_spec", "all_spec"):
            if generic in self.initial:
                return self.initial[generic] * self.factor
        return 0.0

    # ---- reactions ----

    def equation(self, tokens):
        self.only(tokens)
        label = str(len(self.equations) + 1)
        if tokens.skip("<"):
            parts = []
            while tokens.peek()[0] not in (">", "\n"):
                parts.append(tokens.next()[1])
            tokens.take(">")
            label = "".join(parts)
        place = tokens.place
        left = self.side(tokens, "=")
        tokens.take("=")
        right = self.side(tokens, ":")
        tokens.take(":", "':' and the rate constant")
        if tokens.peek()[0] == "\n":
            raise Fault(tokens.place, "expected a rate constant, found the end of the reaction")
        self.equations.append((label, place, left, right, self.source, tokens))

    def side(self, tokens, end):
        out, more = [], end != ":" or tokens.peek()[0] != end                  # products may be missing
        while more:
            sign = 1.0
            while tokens.peek()[0] in ("+", "-"):
                sign = -sign if tokens.next()[0] == "-" else sign
            at, text = tokens.place, tokens.next()[1] if tokens.peek()[0] == "number" else "1"
            count = number(at, text)
            tokens.skip("*")
            name, place = tokens.take("name", "a species")[1:]
            if name.lower() not in DUMMIES:
                out.append((sign * count, self.species(name, place)))
            more = tokens.peek()[0] in ("+", "-")
        if tokens.peek()[0] != end:
            raise Fault(tokens.place, f"expected + or '{end}', found {tokens.found()}")
        return out

    def species(self, name, place):
        low = name.lower()
        if low not in self.kind:
            if not self.undeclared:
                raise Fault(place, f"{name} is not declared in #DEFVAR or #DEFFIX" + near(name, self.spelling.values()))
            self.kind[low] = "var"
            self.spelling[low] = name
        return low

    # ---- the model ----

    def build(self):
        used = {low for _, _, left, right, _, _ in self.equations for _, low in left + right}
        used |= self.rates.species_used()
        unused = [self.spelling[low] for low, kind in self.kind.items() if low not in used and kind == "var"]
        if unused:
            self.notes.append("species that occur in no reaction were left out: " + ", ".join(unused))
        for low, kind in self.kind.items():
            if low in used and kind == "var":
                q = Quantity(self.spelling[low], 0, len(self.model.states))
                q.value = self.g.c(self.start(low, kind))
                self.state[low] = q.index
                self.model.states.append(q)
        self.model.equations = [self.g.c(0)] * len(self.model.states)
        rates = []
        for label, place, left, right, source, tokens in self.equations:
            self.source = source
            try:
                rates.append(self.rates.rate(label, place, tokens, rates))
            except Fault as fault:
                raise source.refusal(fault) from None
            except RecursionError:
                raise source.refusal(Fault(place, TOO_DEEP)) from None
            if len(self.g.nodes) > MOST_OPERATIONS:
                raise source.refusal(Fault(place, f"the mechanism has more than {MOST_OPERATIONS} operations"))
        for (label, place, left, right, _, _), k in zip(self.equations, rates):
            self.react(place, left, right, k)
        self.drop_unused()

    def drop_unused(self):
        """Parameters without a value that no rate depends on, as those of functions that were read in vain"""
        g, m = self.g, self.model
        used = {key[2] for key in g.variables([r.k for r in m.reactions], "p")}
        kept = [q for q in m.parameters if q.index in used or not math.isnan(g.const(q.value))]
        if len(kept) == len(m.parameters):
            return
        place = {q.index: k for k, q in enumerate(kept)}
        old = [*(r.k for r in m.reactions), *m.labels]
        new = dict(zip(old, g.mapped(old, lambda key: g.v("p", place.get(key[2], 0)) if key[1] == "p" else
                                     g.v(*key[1:]))))
        for r in m.reactions:
            r.k = new[r.k]
        m.labels = {new[a]: name for a, name in m.labels.items()}
        for q in kept:
            q.index = place[q.index]
        m.parameters = kept

    def react(self, place, left, right, k):
        reactants, net = {}, {}
        for count, low in left:
            if low in self.state:
                i = self.state[low]
                reactants[i] = reactants.get(i, 0) + max(count, 0)
                net[i] = net.get(i, 0) - count
            elif count > 0:
                k = self.g.mul(k, self.g.pow(self.fixed_species(low), self.g.c(count)))
        for count, low in right:
            if low in self.state:
                net[self.state[low]] = net.get(self.state[low], 0) + count
        self.model.reactions.append(Reaction(place, [x for x in sorted(reactants.items()) if x[1]],
                                             [x for x in sorted(net.items()) if x[1]], k))

    def fixed_species(self, low):
        return self.named_parameter(self.spelling[low], self.start(low, "fix"), "a fixed species", ("species", low))

    def named_parameter(self, name, value, text, key):
        """The parameter for what is called by key; its name is made different from those of others"""
        if key not in self.parameter:
            taken = {q.name.lower() for q in self.model.parameters} | {self.spelling[low].lower() for low in self.state}
            while name.lower() in taken:
                name += "_"
            q = Quantity(name, 0, len(self.model.parameters), text=text, value=self.g.c(value))
            self.model.parameters.append(q)
            self.parameter[key] = self.g.v("p", q.index)
        return self.parameter[key]


def name_of(path):
    word = re.sub(r"\W+", "_", Path(path).stem)
    return word if word.isidentifier() else "mechanism"
