"""Coefficient files to C.

    python3 -m codegen emit OUT.c METHODS_DIR... write the descriptors of all methods, and keep each for the next time:
                                                 in OUT.checked, or where COSTATE_CHECKED in the environment says
    python3 -m codegen check FILE...             report on files without building anything
    python3 -m codegen table METHODS_DIR         print the table of methods, in markdown
    python3 -m codegen rock ORDER DAMPING        compute the rows `polynomials` of methods/rkc/rock*.toml (minutes)
    python3 -m codegen refine FILE               compute the long entries of a W-method from its order conditions
    python3 -m codegen model FILE [-o NAME.c] [--lanes] [--program]
                                                 costate-model: write the C or the byte code of an equation file or a
                                                 mechanism, or the C of one method for costate_method_load
"""
import os
import sys
from decimal import Decimal
from pathlib import Path

from . import checked, command, document, refine, table
from .kinds import kind_of, methods
from .real import Refused
from .rkc import generate


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
        case ["emit", out, _, *_]:
            kept = os.environ.get("COSTATE_CHECKED") or Path(out).with_suffix(".checked")
            Path(out).write_text(checked.source(args[2:], Path(kept)), encoding="utf-8")
        case ["check", _, *_]:
            return 1 if check(args[1:]) else 0
        case ["table", directory]:
            print(table.table([kind.row(m) for kind, m in methods(directory)]))
        case ["rock", ("2" | "4") as order, damping]:
            for row in generate.rows(int(order), 1 - Decimal(damping)):
                print(row, flush=True)
        case ["model", *rest]:
            return command.main(rest)
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
