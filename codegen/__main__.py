"""Coefficient files to C.

    python3 -m codegen emit METHODS_DIR OUT.c    write the descriptors of all methods
    python3 -m codegen check FILE...             report on files without building anything
    python3 -m codegen table METHODS_DIR         print the table of methods, in markdown
    python3 -m codegen rock ORDER DAMPING        compute the rows `polynomials` of methods/rkc/rock*.toml (minutes)
"""
import sys
from decimal import Decimal
from pathlib import Path

from . import derive, document, emit, report, table
from .real import Refused
from .rkc import generate
from .rkc.read import is_rkc
from .rkc.read import method as rkc_method
from .rkc.report import report as rkc_report


def methods(directory):
    """All methods under a directory, by family, then by name."""
    files = [path for family in document.FAMILIES for path in sorted(Path(directory, family).glob("*.toml"))]
    if not files:
        raise Refused(f"{directory}: no coefficient files in {', '.join(f + '/' for f in document.FAMILIES)}")
    found = [derive.method(path) for path in files]
    names = [m.table.name for m in found]
    for m in found:
        if names.count(m.table.name) > 1:
            raise Refused(f"{m.table.path}: name: '{m.table.name}' is the name of a method of another family")
    return found


def check(files):
    """Report on every file; the number of those refused."""
    refused = 0
    for path in files:
        try:
            print(rkc_report(rkc_method(path)) if is_rkc(path) else report.report(derive.method(path)))
        except Refused as fault:
            print(f"refused: {fault}")
            refused += 1
    return refused


def main(args):
    match args:
        case ["emit", directory, out]:
            Path(out).write_text(emit.source(methods(directory)), encoding="utf-8")
        case ["check", _, *_]:
            return 1 if check(args[1:]) else 0
        case ["table", directory]:
            print(table.table(methods(directory)))
        case ["rock", ("2" | "4") as order, damping]:
            for row in generate.rows(int(order), 1 - Decimal(damping)):
                print(row, flush=True)
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
