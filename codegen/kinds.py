"""The kinds of coefficient files: how each is read, and what is made of it."""
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from . import derive, document, emit, objects, report, table
from .composite import emit as composite_emit
from .composite import read as composite_read
from .composite import report as composite_report
from .real import Refused
from .rkc import emit as rkc_emit
from .rkc import read as rkc_read
from .rkc import report as rkc_report


class Kind(NamedTuple):
    """How a coefficient file is read, and what is made of it."""
    method: Callable
    text: Callable
    row: Callable
    report: Callable


TABLEAU = Kind(derive.method, emit.descriptor, table.row, report.report)
DEGREES = Kind(rkc_read.method, rkc_emit.method, rkc_report.row, rkc_report.report)
COMPOSITE = Kind(composite_read.method, composite_emit.method, composite_report.row, composite_report.report)


def kind_of(path):
    family = document.document(path).keys.get("family")
    return {"rkc": DEGREES, "composite": COMPOSITE}.get(family if isinstance(family, str) else "", TABLEAU)


def files(*directories):
    """All coefficient files of these directories, by family, then by name."""
    found = [path for family in document.FAMILIES
             for path in sorted((f for d in directories for f in Path(d, family).glob("*.toml")), key=lambda f: f.stem)]
    if not found:
        raise Refused(f"{directories[0]}: no coefficient files in {', '.join(f + '/' for f in document.FAMILIES)}")
    first = {}
    for path in found:
        if first.setdefault(path.stem, path) is not path:
            raise Refused(f"{path}: name: '{path.stem}' is the name of another method: {first[path.stem]}")
    return found


class Methods:
    """The methods of coefficient files, each derived when it is first asked for."""

    def __init__(self, files):
        self.paths = {path.stem: path for path in files}
        self.kinds = {path.stem: kind_of(path) for path in files}
        self.derived = {}

    def method(self, name):
        if name not in self.derived:
            more = (self.member,) if self.kinds[name] is COMPOSITE else ()
            self.derived[name] = self.kinds[name].method(self.paths[name], *more)
        return self.derived[name]

    def member(self, name):
        """A composite method cannot be a member: it is named, not derived."""
        if name not in self.paths:
            return None
        return composite_read.unread(self.paths[name]) if self.kinds[name] is COMPOSITE else self.method(name)

    def text(self, name):
        return self.kinds[name].text(self.method(name))

    def made_from(self, name):
        """The files that the descriptor depends on.  What is wrong in a composite file is refused by its derivation."""
        listed = document.document(self.paths[name]).keys.get("member") if self.kinds[name] is COMPOSITE else []
        names = [x.get("method") for x in listed if isinstance(x, dict)] if isinstance(listed, list) else []
        return [self.paths[x] for x in [name, *names] if isinstance(x, str) and x in self.paths]


def methods(*directories):
    """(kind, method) of all files of these directories."""
    found = Methods(files(*directories))
    return [(found.kinds[name], found.method(name)) for name in found.paths]


def source(found):
    """The C source; descriptors of members stand before the composite ones, which point to them."""
    late = sorted(found, key=lambda pair: pair[0] is COMPOSITE)
    return emit.source([m.name for _, m in found], [kind.text(m) for kind, m in late], objects.layout())


def method_object(path):
    """The C source of the object of one file; a composite method comes with its members."""
    kind = kind_of(path)
    found = kind.method(path)
    if kind is not COMPOSITE:
        return objects.source(found.name, [kind.text(found)])
    find, texts = composite_read.beside(path), []
    for x in found.members:
        member = find(x.name)
        texts.append((DEGREES if x.facts.family == "rkc" else TABLEAU).text(member))
    return objects.source(found.name, texts + [kind.text(found)])
