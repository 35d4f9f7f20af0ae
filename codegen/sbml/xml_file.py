"""An XML file as elements that know their lines, so that a refusal can name the place."""
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from ..real import Refused

MATHML = "http://www.w3.org/1998/Math/MathML"
SBML = "http://www.sbml.org/sbml/level"
DEEPEST = 200                                # elements inside each other: Python's stack


@dataclass
class Element:
    tag: str                                 # without its namespace
    space: str                               # the namespace
    attributes: dict                         # those of the namespace of the element have no prefix
    line: int
    path: str
    text: str = ""                           # before the first child
    tail: str = ""                           # behind the element
    children: list = field(default_factory=list)

    def __iter__(self):
        return iter(self.children)

    def get(self, name, default=None):
        return self.attributes.get(name, default)

    def all(self, tag):
        return [child for child in self.children if child.tag == tag and child.space == self.space]

    def first(self, tag):
        return next(iter(self.all(tag)), None)

    def listed(self, tag):
        """The elements of all lists of this name"""
        return [item for each in self.all(tag) for item in each.children if item.space == self.space and
                item.tag not in ("notes", "annotation")]

    @property
    def math(self):
        return next((child for child in self.children if child.tag == "math" and child.space == MATHML), None)

    @property
    def shown(self):
        """How a message calls the element"""
        name = next((f" {self.attributes[key]}" for key in ("id", "variable", "symbol", "species")
                     if self.attributes.get(key)), "")
        return self.tag + name

    def refusal(self, what):
        return Refused(f"{self.path}:{self.line}: {self.shown}: {what}")


def read(path):
    """The root of a file"""
    try:
        content = Path(path).read_bytes()
    except OSError as fault:
        raise Refused(f"{path}: cannot be read: {fault.strerror}") from None
    return Builder(str(path)).root_of(content)


class Builder:
    def __init__(self, path):
        self.path, self.root, self.open = path, None, []
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler, self.parser.EndElementHandler = self.start, self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.doctype

    def root_of(self, content):
        try:
            self.parser.Parse(content, True)
        except expat.ExpatError as fault:
            raise Refused(f"{self.path}:{fault.lineno}: this is not well-formed XML: "
                          f"{expat.ErrorString(fault.code)}") from None
        except (ValueError, LookupError) as fault:
            raise Refused(f"{self.path}: the encoding of this file is not known: {fault}") from None
        return self.root

    def start(self, name, attributes):
        space, _, tag = name.rpartition(" ")
        if len(self.open) == DEEPEST:
            raise Refused(f"{self.path}:{self.parser.CurrentLineNumber}: {tag}: more than {DEEPEST} elements inside "
                          "each other")
        element = Element(tag, space, attributes, self.parser.CurrentLineNumber, self.path)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, name):
        self.open.pop()

    def characters(self, text):
        if self.open[-1].children:
            self.open[-1].children[-1].tail += text
        else:
            self.open[-1].text += text

    def doctype(self, *_):
        """Entities could make a small file large"""
        raise Refused(f"{self.path}:{self.parser.CurrentLineNumber}: a document type declaration is not read; remove "
                      "it: SBML files have none")
