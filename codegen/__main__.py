"""Coefficient files to C.

    python3 -m codegen emit METHODS_DIR OUT.c    write the descriptors of all methods
    python3 -m codegen check FILE...             report on files without building anything
    python3 -m codegen object FILE -o OUT.c      write one method for costate_method_load, with the same checks
    python3 -m codegen table METHODS_DIR         print the table of methods, in markdown
    python3 -m codegen rock ORDER DAMPING        compute the rows `polynomials` of methods/rkc/rock*.toml (minutes)
    python3 -m codegen refine FILE               compute the long entries of a W-method from its order conditions
"""
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from . import derive, document, emit, objects, refine, report, table
from .composite import emit as composite_emit
from .composite import read as composite_read
from .composite import report as composite_report
from .real import Refused
from .rkc import emit as rkc_emit
from .rkc import generate
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


def check(files):
    """Report on every file; the number of those refused."""
    refused = 0
    for path in files:
        try:
            kind = kind_of(path)
            print(kind.report(kind.method(path)))
        except Refused as fault:
            print(f"refused: {fault}")
            refused += 1
    return refused


def main(args):
    match args:
        case ["emit", directory, out]:
            text = source(methods(directory))
            Path(out).write_text(text, encoding="utf-8")
        case ["object", path, "-o", out]:
            Path(out).write_text(method_object(path), encoding="utf-8")
        case ["check", _, *_]:
            return 1 if check(args[1:]) else 0
        case ["table", directory]:
            print(table.table([kind.row(m) for kind, m in methods(directory)]))
        case ["rock", ("2" | "4") as order, damping]:
            for row in generate.rows(int(order), 1 - Decimal(damping)):
                print(row, flush=True)
        case ["refine", path]:
            print(refine.report(document.document(path)))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Refused as fault:
        print(f"codegen: {fault}", file=sys.stderr)
        sys.exit(1)
    except OSError as fault:
        print(f"codegen: {fault}", file=sys.stderr)
        sys.exit(1)
