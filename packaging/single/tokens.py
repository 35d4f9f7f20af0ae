"""The tokens of C, with blanks and comments, so that they add up to the text that they are from."""
import re
from typing import NamedTuple

TOKEN = re.compile(r"""
      (?P<line>\n)
    | (?P<blank>(?:[ \t]|\\\n)+)
    | (?P<comment>/\*.*?\*/|//[^\n]*)
    | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<name>[A-Za-z_]\w*)
    | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
    | (?P<mark>->|\.\.\.|\#\#|.)""", re.X | re.S)

OPEN = {"(": ")", "[": "]", "{": "}"}


class Token(NamedTuple):
    """A piece of text; directive: whether it belongs to a line of the preprocessor."""
    kind: str
    text: str
    directive: bool

    @property
    def counts(self):
        return self.kind not in ("line", "blank", "comment")


def tokens(text):
    found, directive, at_start = [], False, True
    for match in TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "line":
            directive, at_start = False, True
        elif kind not in ("blank", "comment"):
            directive = directive or (at_start and match[0] == "#")
            at_start = False
        found.append(Token(kind, match[0], directive))
    return found


def code(found):
    """The places of the tokens that the compiler sees behind the preprocessor."""
    return [k for k, token in enumerate(found) if token.counts and not token.directive]


def directives(found):
    """The lines of the preprocessor, each as the places of its tokens."""
    lines, here = [], []
    for k, token in enumerate(found):
        if token.directive and token.counts:
            here.append(k)
        elif here and token.kind == "line":
            lines.append(here)
            here = []
    return lines + [here] * bool(here)


def closing(found, places, k):
    """Where the bracket at places[k] is closed, as an index of places."""
    depth = 0
    for j in range(k, len(places)):
        text = found[places[j]].text
        depth += (text in OPEN) - (text in OPEN.values())
        if depth == 0:
            return j
    raise ValueError(f"a bracket is not closed: {found[places[k]].text}")
