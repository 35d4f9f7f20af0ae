"""Formulas as text, a + b*sin(time), as terms: those that PEtab and SBML's own tools write."""
import ast
import math
import re

from ..real import Refused
from .mathml import OF_RECIPROCAL, RECIPROCAL
from .terms import FALSE, ONE, TRUE, number

BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "^"}
COMPARED = {ast.Lt: "<", ast.Gt: ">", ast.LtE: "<=", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
FUNCTIONS = {"exp": "exp", "ln": "log", "log": "log", "log10": "log10", "log2": "log2", "sqrt": "sqrt", "abs": "abs",
             "pow": "^", "power": "^", "min": "min", "max": "max", "sign": "sign", "floor": "floor", "ceil": "ceil",
             "ceiling": "ceil", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos",
             "atan": "atan", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh",
             "tanh": "tanh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "arcsinh": "asinh",
             "arccosh": "acosh", "arctanh": "atanh"}
CONSTANTS = {"pi": number(math.pi), "exponentiale": number(math.e), "avogadro": number(6.02214179e23),
             "true": TRUE, "false": FALSE}
OF_QUOTIENT = {**OF_RECIPROCAL, "arccot": "atan"}
TWO = ("^",)
SEVERAL = ("min", "max")


def parse(text, constants=CONSTANTS):
    """The term of a formula; `time` is the time, ^ a power, ! not, and names are identifiers of the model"""
    source = text.strip().replace("^", "**").replace("&&", " and ").replace("||", " or ")
    if "~" in source:
        raise Refused(f"{text.strip()!r}: the operator ~ is not known")
    source = re.sub("!(?!=)", "~", source)               # binds as a sign does, which Python's `not` does not
    try:
        tree = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Refused(f"{text.strip()!r} is not a formula") from None
    return Formula(text.strip(), constants, source).term(tree)


class Formula:
    def __init__(self, text, constants, source):
        self.text, self.constants, self.source = text, constants, source.encode()

    def refusal(self, what):
        return Refused(f"{self.text!r}: {what}")

    def term(self, e):
        if isinstance(e, ast.Constant) and type(e.value) in (int, float):
            return number(e.value)
        if isinstance(e, ast.Constant) and isinstance(e.value, bool):
            return ("==", number(0), number(not e.value))
        if isinstance(e, ast.Name):
            return ("time",) if e.id == "time" else self.constants.get(e.id, ("name", e.id))
        if isinstance(e, ast.BinOp) and type(e.op) in BINARY:
            return (BINARY[type(e.op)], self.term(e.left), self.term(e.right))
        if isinstance(e, ast.UnaryOp):
            return self.signed(e)
        if isinstance(e, ast.BoolOp):
            return ("and", *map(self.term, e.values)) if isinstance(e.op, ast.And) else self.alternatives(e)
        if isinstance(e, ast.Compare) and all(type(op) in COMPARED for op in e.ops):
            parts = [self.term(part) for part in (e.left, *e.comparators)]
            pairs = [(COMPARED[type(op)], a, b) for op, a, b in zip(e.ops, parts, parts[1:])]
            return pairs[0] if len(pairs) == 1 else ("and", *pairs)
        if isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and not e.keywords:
            return self.call(e.func.id, [self.term(a) for a in e.args])
        raise self.refusal("this is not a formula of numbers, names, operators and functions")

    def alternatives(self, e):
        """a || b && c is (a || b) && c: both bind alike, from left to right, while Python's `and` is tighter"""
        out = self.term(e.values[0])
        for value in e.values[1:]:
            loose = isinstance(value, ast.BoolOp) and not self.in_parentheses(value)
            first, *rest = value.values if loose else [value]
            out = ("or", *(out[1:] if out[0] == "or" else (out,)), self.term(first))
            out = ("and", out, *map(self.term, rest)) if rest else out
        return out

    def in_parentheses(self, e):
        return self.source[:e.col_offset].rstrip()[-1:] == b"(" and \
            self.source[e.end_col_offset:].lstrip()[:1] == b")"

    def signed(self, e):
        a = self.term(e.operand)
        if isinstance(e.op, ast.USub):
            return number(-a[1]) if a[0] == "number" else ("-", a)
        return a if isinstance(e.op, ast.UAdd) else ("not", a)

    def call(self, name, a):
        if name == "piecewise" and len(a) >= 3:
            out = a[-1] if len(a) % 2 else number(math.nan)
            for value, condition in reversed(list(zip(a[0::2], a[1::2]))):
                out = ("if", condition, value, out)
            return out
        if name == "log" and len(a) == 2:
            return ("/", ("log", a[0]), ("log", a[1]))
        if name in RECIPROCAL and len(a) == 1:
            return ("/", ONE, (RECIPROCAL[name], a[0]))
        if name in OF_QUOTIENT and len(a) == 1:
            return (OF_QUOTIENT[name], ("/", ONE, a[0]))
        kind = FUNCTIONS.get(name)
        if kind is None:
            raise self.refusal(f"the function {name} is not known")
        if not a or len(a) != (2 if kind in TWO else len(a) if kind in SEVERAL else 1):
            raise self.refusal(f"{name} has {len(a)} arguments")
        return (kind, *a)
