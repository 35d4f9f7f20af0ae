"""Exact formulas of coefficient files: integers, decimals, + - * / **, sqrt(x), root(..., near=x), names."""
import ast
import operator
import warnings
from decimal import Decimal, getcontext
from functools import lru_cache

from .real import Refused, brief

BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
LONGEST, DEEPEST = 1000, 200                       # characters; operations inside each other: Python's parser recurses
LEAST, MOST = Decimal("1e-100"), Decimal("1e100")  # products of three, as conditions have them, are still doubles


def evaluate(text, names):
    """The value of a formula; names maps the file's let.* definitions to their values."""
    try:
        if len(text) > LONGEST:
            raise Refused(f"{len(text)} characters, at most {LONGEST} are read")
        tree = _parse(text)
        return _constant(text, getcontext().prec) if tree.constant else _sensible(_value(tree, text, names))
    except ArithmeticError:
        fault = "has no value (division by zero or the like)"
    except Refused as refused:
        fault = refused
    raise Refused(f"'{brief(text)}': {fault}")


@lru_cache(maxsize=None)
def _parse(text):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")         # what Python only warns of, 1if 1else 1, is no formula either
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):              # ValueError: too many digits, a NUL
        raise Refused("not a formula") from None
    except (RecursionError, MemoryError):
        raise Refused("nested too deeply") from None
    level, depth = [tree], 0
    while level:
        level, depth = [child for node in level for child in ast.iter_child_nodes(node)], depth + 1
    if depth > DEEPEST:
        raise Refused("nested too deeply")
    nodes = list(ast.walk(tree))
    tree.constant = not any(isinstance(node, ast.Name) for node in nodes)
    for node in nodes:
        if isinstance(node, ast.Constant):
            node.digits = ast.get_source_segment(text.strip(), node)
    return tree


@lru_cache(maxsize=None)
def _constant(text, precision):
    """The value of a formula without names; it depends on the precision of the context, too."""
    return _sensible(_value(_parse(text), text, {}))


def _sensible(x):
    if x and not LEAST <= x.copy_abs() <= MOST:    # abs() would round, and overflow
        raise Refused(f"outside {LEAST:e} .. {MOST:e}".replace("+", ""))
    return x


def _value(node, text, names):
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return _number(node.digits)
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise Refused(f"no definition let.{brief(node.id)}")
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        x = _value(node.operand, text, names)
        return -x if isinstance(node.op, ast.USub) else x
    if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        return BINARY[type(node.op)](_value(node.left, text, names), _value(node.right, text, names))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        power = _value(node.right, text, names)
        if abs(power) > 100 or power != int(power):
            raise Refused("powers are small integers")
        return _value(node.left, text, names) ** int(power)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _call(node, text, names)
    raise Refused("has something other than numbers, names, + - * / **, sqrt and root")


def _number(digits):
    """Of its digits, never through a float."""
    if not set(digits) <= set("0123456789.eE+-_"):
        raise Refused(f"{brief(digits)} is not a decimal number")
    try:
        return _sensible(Decimal(digits))
    except ArithmeticError:                        # an exponent of twenty digits
        raise Refused(f"{brief(digits)} is not a decimal number") from None


def _call(node, text, names):
    args = [_value(a, text, names) for a in node.args]
    keys = {k.arg: _value(k.value, text, names) for k in node.keywords}
    if node.func.id == "sqrt" and len(args) == 1 and not keys:
        return args[0].sqrt()
    if node.func.id == "root" and len(args) > 1 and set(keys) == {"near"}:
        return root(args, keys["near"])
    raise Refused("only sqrt(x) and root(leading, ..., constant, near=x) are functions")


def root(coefficients, near):
    """The root of a polynomial (leading coefficient first) that Newton's iteration finds from near."""
    x = near
    for _ in range(200):
        p = dp = Decimal(0)
        for a in coefficients:
            p, dp = p * x + a, dp * x + p
        step = p / dp
        x -= step
        if abs(step) <= abs(x) * Decimal("1e-95"):
            break
    else:
        raise Refused(f"no simple root found near {near}")
    if abs(x - near) > Decimal("0.01") * max(1, abs(near)):
        raise Refused(f"the root found, {x:.6f}, is not near {near}")
    return x
