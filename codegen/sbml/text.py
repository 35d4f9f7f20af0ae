"""Terms as text of an equation file (docs/reference/equations.md)."""
import re

from ..equations.eq_file import COLUMNS
from .terms import COMPARISONS, CONDITIONS, ONE, ZERO

SUM, PRODUCT, SIGN, POWER, ATOM = range(5)   # how tightly a text binds


def wrapped(line):
    """A statement in lines of at most COLUMNS characters: what stands behind = or := in parentheses, inside which
    ends of lines are blanks"""
    if len(line) <= COLUMNS:
        return [line]
    head, text = re.match(r"(.*? :?= )(.*)$", line, re.S).groups()
    lines, row = [], head + "("
    for piece in re.findall(r"[^ ,(*/]*[ ,(*/]?", text + ")"):
        if len(row) + len(piece.rstrip()) > COLUMNS:
            lines.append(row.rstrip())
            row = "    "
        row += piece
    return [*lines, row]


def number(x):
    """A number that is not negative"""
    return repr(int(x)) if x == int(x) and x < 1e6 else repr(x)


def expression(term, name, least=SUM):
    """The text of a term as a value; name(identifier): what the file calls it, name(identifier, True): its rate"""
    text, binds = _text(term, name)
    return f"({text})" if binds < least else text


def condition(term, name):
    """The text of a term as a condition; a number holds where it is not 0"""
    kind = term[0]
    if kind in COMPARISONS:
        return f"{expression(as_value(term[1]), name)} {kind} {expression(as_value(term[2]), name)}"
    if kind == "not":
        return f"not ({condition(term[1], name)})"
    if kind in CONDITIONS:
        return f" {kind} ".join(f"({condition(part, name)})" for part in term[1:])
    return f"{expression(term, name)} != 0"


def as_value(term):
    """A condition as a number is 1 where it holds"""
    return ("if", term, ONE, ZERO) if term[0] in CONDITIONS else term


def _text(term, name):
    kind, parts = term[0], term[1:]

    def inner(part, least):
        return expression(as_value(part), name, least)
    if kind == "number":
        return (number(parts[0]), ATOM) if parts[0] >= 0 else ("-" + number(-parts[0]), SIGN)
    if kind in ("name", "rate"):
        return name(parts[0]), ATOM
    if kind == "time":
        return "t", ATOM
    if kind == "if":
        return f"if({condition(parts[0], name)}, {inner(parts[1], SUM)}, {inner(parts[2], SUM)})", ATOM
    if kind == "-" and len(parts) == 1:
        return "-" + inner(parts[0], POWER), SIGN
    if kind == "+":
        return _sum(parts, inner), SUM
    if kind == "-":
        return f"{inner(parts[0], SUM)} - {inner(parts[1], PRODUCT)}", SUM
    if kind == "*":
        return "*".join([inner(parts[0], PRODUCT), *(inner(part, POWER) for part in parts[1:])]), PRODUCT
    if kind == "/":
        return f"{inner(parts[0], PRODUCT)}/{inner(parts[1], POWER)}", PRODUCT
    if kind == "^":
        return f"{inner(parts[0], ATOM)}^{inner(parts[1], ATOM)}", POWER
    if kind in CONDITIONS:
        return inner(term, ATOM), ATOM
    return f"{kind}({', '.join(inner(part, SUM) for part in parts)})", ATOM


def _sum(parts, inner):
    """a - b for a + (-b)"""
    out = inner(parts[0], SUM)
    for part in parts[1:]:
        minus = part[0] == "-" and len(part) == 2 or part[0] == "number" and part[1] < 0
        if minus:
            part = ("number", -part[1]) if part[0] == "number" else part[1]
        out += (" - " if minus else " + ") + inner(part, PRODUCT)
    return out
