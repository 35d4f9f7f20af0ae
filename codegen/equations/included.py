"""include "OTHER.eq" as PREFIX: the statements of another equation file, whose names begin with PREFIX_.

The other file is a model by itself.  Its tokens take the place of the statement; places in it lie behind those of the
file that includes it, so that faults name the right one."""
from pathlib import Path

from .scope import CONSTANTS, WRITTEN_OUT, Let
from .syntax import Fault, Source

DEEPEST = 10                                 # files that include each other
# words that mean something at some place of a statement: a quantity of this name could not be told from them
WORDS = {"linear", "steps", "cubic", "column", "as", "at", "when", "start", "fires", "ignored", "events", "branches",
         "from", "derivatives"}


class Includes:
    """Part of a Reader."""

    def read_include(self, place):
        _, text, at = self.tokens.take("text", "the name of an equation file in double quotes")
        if not self.tokens.word("as"):
            raise Fault(self.tokens.place, f"expected 'as' and a prefix for its names, found {self.tokens.found()}")
        prefix = self.tokens.take("name", "a prefix")[1]
        if self.tokens.peek()[0] not in ("\n", "end"):
            raise Fault(self.tokens.place, f"expected the end of the statement, found {self.tokens.found()}")
        if self.depth == DEEPEST:
            raise Fault(at, f"files include each other more than {DEEPEST} levels deep")
        other = self.other(Path(self.source.path).parent / text[1:-1], at)
        base = self.source.extent() + 1
        self.source.included.append((base, other.source))
        begin = self.tokens.at - 4           # include, the file, as, the prefix
        inside = [(kind, word, base + where) for kind, word, where in renamed(other, prefix, at)]
        self.tokens.list[begin:self.tokens.at] = [("\n", "\n", at), *inside]
        self.tokens.at = begin

    def check_includes(self):
        """Functions mean the same in all files"""
        for name in WRITTEN_OUT if self.source.included else ():
            if name in self.scope.known:
                kind = self.scope.known[name]
                place = kind.place if isinstance(kind, Let) else getattr(kind[1], "place", 0)
                raise Fault(place, f"{name} is a function, which included files may call; choose another name")

    def other(self, path, place):
        """The Reader of the other file"""
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as fault:
            reason = fault.strerror if isinstance(fault, OSError) else "it is no text"
            raise Fault(place, f"{path} cannot be read: {reason}") from None
        source = Source(path, text)
        try:
            return type(self)(source, self.depth + 1)
        except Fault as fault:
            raise source.refusal(fault) from None


def renamed(other, prefix, place):
    """Tokens of a Reader, without the statement `model` and the end of the file"""
    model = other.model
    if model.modes or model.on_grid:
        what = f"has modes ({', '.join(model.modes)}): a model has one mode" if model.modes else "has a grid"
        raise Fault(place, f"{other.source.path} {what}, so that it cannot be included")
    if model.start_limit:
        raise Fault(place, f"{other.source.path} says where runs begin, which is said of the whole model: it cannot be "
                    "included")
    names = {name for name in (*other.scope.known, *other.scope.vectors, *other.events_read) if "[" not in name} - {"t"}
    taken = sorted(names & (WORDS | set(other.STATEMENTS)))
    if taken:
        raise Fault(place, f"{taken[0]} of {other.source.path} is also a word of statements: give it another name "
                    "there")
    tokens, out, skipping = other.tokens.list[:-1], [], False
    in_c = None                              # the name of the function in C that a statement declares
    for k, (kind, word, where) in enumerate(tokens):
        starts = not k or tokens[k - 1][0] == "\n"
        in_c = tokens[k + 1][1] if starts and word == "function" and tokens[k + 1][0] == "name" else \
            None if starts else in_c
        skipping = (skipping or starts and word == "model") and kind != "\n"
        if skipping:
            continue
        if in_c and kind == "text":
            out += from_file(other, word, where, in_c, tokens[k + 1][1] == "as")
            continue
        if kind == "name" and word in names and not (in_c and tokens[k - 1][1] == "as"):
            word = f"{prefix}_{word}"
        elif kind == "name" and word in other.scope.constants:               # whatever it is called elsewhere
            kind, word = "number", repr(CONSTANTS[word])
        elif kind == "text" and k >= 3 and tokens[k - 3][1] == "table":      # beside the file that names it
            word = absolute(word, other.source.path)
        out.append((kind, word, where))
    return out


def absolute(text, path):
    """The name of a file in quotes, which another file at path has"""
    return f'"{Path(path).resolve().parent / text[1:-1]}"'


def from_file(other, text, where, name, renamed):
    """Tokens of the file of a function in C, and of its name there"""
    return [("text", absolute(text, other.source.path), where)] + \
        ([] if renamed else [("name", "as", where), ("name", name, where)])


def as_text(reader):
    """What a Reader has read, with the files that it includes, as the text of one equation file"""
    return " ".join(word for _, word, _ in reader.tokens.list[:-1])
