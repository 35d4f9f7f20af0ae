"""Coefficient files to C.

    python3 -m codegen emit METHODS_DIR OUT.c    write the descriptors of all methods
    python3 -m codegen check FILE...             report on files without building anything
    python3 -m codegen table METHODS_DIR         print the table of methods, in markdown
    python3 -m codegen rock ORDER DAMPING        compute the rows `polynomials` of methods/rkc/rock*.toml (minutes)
    python3 -m codegen refine FILE               compute the long entries of a W-method from its order conditions
"""
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from . import derive, document, emit, refine, report, table
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


def kind_of(path):
    return DEGREES if rkc_read.is_rkc(path) else TABLEAU


def methods(directory):
    """(kind, method) of all under a directory, by family, then by name."""
    files = [path for family in document.FAMILIES for path in sorted(Path(directory, family).glob("*.toml"))]
    if not files:
        raise Refused(f"{directory}: no coefficient files in {', '.join(f + '/' for f in document.FAMILIES)}")
    kinds = [kind_of(path) for path in files]
    found = [(kind, kind.method(path)) for kind, path in zip(kinds, files)]
    names = [m.name for _, m in found]
    for path, name in zip(files, names):
        if names.count(name) > 1:
            raise Refused(f"{path}: name: '{name}' is the name of a method of another family")
    return found


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
            text = emit.source([(m.name, kind.text(m)) for kind, m in methods(directory)])
            Path(out).write_text(text, encoding="utf-8")
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
