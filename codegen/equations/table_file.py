"""Rows of a table that stands in a file of its own, and cubic splines through the rows of a table.

A natural cubic spline has the second derivatives M_i at its places x_i, with 0 at both ends, and the tridiagonal system

    h_(i-1) M_(i-1) + 2 (h_(i-1) + h_i) M_i + h_i M_(i+1) = 6 ((v_(i+1) - v_i)/h_i - (v_i - v_(i-1))/h_(i-1))

where h_i = x_(i+1) - x_i (C. de Boor, A Practical Guide to Splines, Springer 2001, chapter 4).  It is eliminated from
the first to the last row; values v_i may be expressions."""
import re
from pathlib import Path

from .syntax import LONGEST, Fault, Source, number

SEPARATORS = re.compile(r"[ \t]*[,;][ \t]*|[ \t]+")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?")


def inlined(text, path):
    """The text of an equation file with the rows of its tables instead of the names of their files"""
    source = Source(path, text)
    try:
        tokens, out, at = source.tokens(), [], 0
        for k, (_, words, place) in enumerate(tokens):
            behind = [token[:2] for token in tokens[k:k + 6]]
            if words != "table" or k and tokens[k - 1][0] != "\n" or [kind for kind, _ in behind[1:4]] != \
                    ["name", "name", "text"]:
                continue
            given = behind[4] == ("name", "column") and behind[5][1].isdigit()
            _, name, start = tokens[k + 3]
            rows = rows_of_file(start, Path(path).parent, name[1:-1], int(behind[5][1]) if given else 2)
            _, last, end = tokens[k + 5] if given else tokens[k + 3]
            out += [text[at:start], ", ".join(f"({written(x)}, {written(v)})" for x, v in rows)]
            at = end + len(last)
        return "".join(out) + text[at:]
    except Fault as fault:
        raise source.refusal(fault) from None


def written(tree):
    return "-" + tree[3][2] if tree[0] == "unary" else tree[2]


def rows_of_file(place, folder, name, column):
    """[(tree of a place, tree of the value there)] of a text file with a row of numbers a line, which commas,
    semicolons, tabs or blanks separate.  A first line without numbers is a heading, and # begins a comment.

    place: of its name in the equation file; column: of the values, from 2"""
    path = Path(folder, name)
    try:
        if path.stat().st_size > LONGEST:
            raise Fault(place, f"{path} has more than {LONGEST} characters")
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else "it is no text"
        raise Fault(place, f"{path} cannot be read: {reason}") from None
    rows = []
    for k, line in enumerate(lines, 1):
        cells = [cell.strip('"') for cell in SEPARATORS.split(line.split("#")[0].strip()) if cell]
        wrong = [cell for cell in cells if not NUMBER.fullmatch(cell)]
        if not cells or not rows and len(wrong) == len(cells):
            continue
        if wrong:
            raise Fault(place, f"{path}, line {k}: expected numbers, found {wrong[0]}")
        if len(cells) < column:
            raise Fault(place, f"{path}, line {k}: there is no column {column}")
        rows.append((tree(place, cells[0]), tree(place, cells[column - 1])))
    if not rows:
        raise Fault(place, f"{path} has no rows of numbers")
    return rows


def tree(place, text):
    number(place, text.lstrip("+-"))
    a = ("number", place, text.lstrip("+-"))
    return ("unary", place, "-", a) if text.startswith("-") else a


def spline_pieces(g, at, values, x):
    """[(end of an interval, the spline there)]; at: places, values and x: nodes"""
    h = [b - a for a, b in zip(at, at[1:])]
    slopes = [g.mul(g.sub(w, v), g.c(1/d)) for v, w, d in zip(values, values[1:], h)]
    curvature = second_derivatives(g, h, slopes)
    pieces = []
    for k, (v, slope, d) in enumerate(zip(values, slopes, h)):
        left, right = curvature[k], curvature[k + 1]
        first = g.sub(slope, g.mul(g.c(d/6), g.add(g.mul(g.c(2), left), right)))
        third = g.mul(g.sub(right, left), g.c(1/(6*d)))
        s, inner = g.sub(x, g.c(at[k])), g.mul(g.c(0.5), left)
        inner = g.add(first, g.mul(s, g.add(inner, g.mul(s, third))))
        pieces.append((at[k + 1], g.add(v, g.mul(s, inner))))
    return pieces


def second_derivatives(g, h, slopes):
    zero = g.c(0)
    factors, rights = [0.0], [zero]          # M_i = right_i - factor_i M_(i+1), from the first row on
    for k in range(1, len(h)):
        pivot = 2*(h[k - 1] + h[k]) - h[k - 1]*factors[-1]
        right = g.mul(g.c(6), g.sub(slopes[k], slopes[k - 1]))
        rights.append(g.mul(g.sub(right, g.mul(g.c(h[k - 1]), rights[-1])), g.c(1/pivot)))
        factors.append(h[k]/pivot)
    found = [zero]
    for factor, right in zip(reversed(factors[1:]), reversed(rights[1:])):
        found.append(g.sub(right, g.mul(g.c(factor), found[-1])))
    return [zero, *reversed(found)]
