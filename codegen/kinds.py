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


def methods(directory):
    """(kind, method) of all under a directory, by family, then by name."""
    files = [path for family in document.FAMILIES for path in sorted(Path(directory, family).glob("*.toml"))]
    if not files:
        raise Refused(f"{directory}: no coefficient files in {', '.join(f + '/' for f in document.FAMILIES)}")
    names = [path.stem for path in files]
    for path, name in zip(files, names):
        if names.count(name) > 1:
            raise Refused(f"{path}: name: '{name}' is the name of a method of another family")
    kinds = {path: kind_of(path) for path in files}
    found = {path.stem: kind.method(path) for path, kind in kinds.items() if kind is not COMPOSITE}
    members = found | {path.stem: composite_read.unread(path) for path, kind in kinds.items() if kind is COMPOSITE}
    for path in [path for path, kind in kinds.items() if kind is COMPOSITE]:
        found[path.stem] = composite_read.method(path, members.get)
    return [(kind, found[path.stem]) for path, kind in kinds.items()]


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
