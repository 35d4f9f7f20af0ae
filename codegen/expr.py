"""Exact formulas of coefficient files: integers, decimals, + - * / **, sqrt(x), root(..., near=x), names."""
import ast
import operator
from decimal import Decimal
from functools import lru_cache

from .real import Refused

BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def evaluate(text, names):
    """The value of a formula; names maps the file's let.* definitions to their values."""
    try:
        return _value(_parse(text), text, names)
    except SyntaxError:
        raise Refused(f"'{text}' is not a formula") from None
    except ArithmeticError:
        raise Refused(f"'{text}' has no value (division by zero or the like)") from None


@lru_cache(maxsize=None)
def _parse(text):
    return ast.parse(text.strip(), mode="eval").body


def _value(node, text, names):
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return Decimal(ast.get_source_segment(text.strip(), node))   # its digits, never through a float
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise Refused(f"'{text}': no definition let.{node.id}")
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        x = _value(node.operand, text, names)
        return -x if isinstance(node.op, ast.USub) else x
    if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        return BINARY[type(node.op)](_value(node.left, text, names), _value(node.right, text, names))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        power = _value(node.right, text, names)
        if power != int(power) or abs(power) > 100:
            raise Refused(f"'{text}': powers are small integers")
        return _value(node.left, text, names) ** int(power)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _call(node, text, names)
    raise Refused(f"'{text}' has something other than numbers, names, + - * / **, sqrt and root")


def _call(node, text, names):
    args = [_value(a, text, names) for a in node.args]
    keys = {k.arg: _value(k.value, text, names) for k in node.keywords}
    if node.func.id == "sqrt" and len(args) == 1 and not keys:
        return args[0].sqrt()
    if node.func.id == "root" and len(args) > 1 and set(keys) == {"near"}:
        return root(args, keys["near"], text)
    raise Refused(f"'{text}': only sqrt(x) and root(leading, ..., constant, near=x) are functions")


def root(coefficients, near, text="root"):
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
        raise Refused(f"'{text}': no simple root found near {near}")
    if abs(x - near) > Decimal("0.01") * max(1, abs(near)):
        raise Refused(f"'{text}': the root found, {x:.6f}, is not near {near}")
    return x
