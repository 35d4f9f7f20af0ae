"""The operations of byte code, numbered as in src/program/operations.h, and how many operands they have.

A comparison with > or >= is one with its sides exchanged."""
from .nodes import FUNCTIONS, FUNCTIONS_OF_TWO

OPERANDS = {"+": 2, "-": 2, "*": 2, "/": 2, "neg": 1, "sel": 3, "<": 2, "<=": 2, "==": 2, "!=": 2, "and": 2, "or": 2,
            "not": 1, "pow": 2}
OPERANDS |= {name: 2 for name in sorted(FUNCTIONS_OF_TWO)} | {name: 1 for name in sorted(FUNCTIONS)} | {"copy": 1}
OF_ARRAYS = {"arr": "copy", "mv": "times", "outer": "outer"}           # array_code.py
NUMBER = {name: k for k, name in enumerate([*OPERANDS, "times", "outer"])}
TURNED = {">": "<", ">=": "<="}


def operation(key, children):
    """(operation, operands) of a node"""
    kind = key[0]
    if kind in OF_ARRAYS:
        return OF_ARRAYS[kind], children
    if kind == "cmp":
        return (TURNED[key[1]], children[::-1]) if key[1] in TURNED else (key[1], children)
    return (key[1] if kind in ("f", "g") else kind), children
