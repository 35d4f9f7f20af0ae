"""Values of nodes with bounds of their round-off: whether a trace and its function agree.

The bound of a node is what the bounds of its arguments become, plus its own rounding (N. J. Higham, Accuracy and
Stability of Numerical Algorithms, SIAM 2002, section 3.3)."""
import math
import operator

import numpy as np

ROUND_OFF = 2.0 ** -53
OF_FUNCTIONS = 4                # roundings of exp, sin, ...: glibc, and NumPy's own
APART = 64                      # times the bound: the function adds its terms in another order
HOLDS = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
         "atanh": "arctanh", "atan2": "arctan2"}
ARITHMETIC = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "pow": np.power}


def function(name):
    if name == "erf":
        return lambda x: np.float64(math.erf(x))
    return getattr(np, NAMES.get(name, name))


def evaluated(g, roots, value_of):
    """([value], [bound]) of the roots; value_of: the number of a variable, by its key"""
    value, bound = {}, {}
    with np.errstate(all="ignore"):
        for a in g.order(roots):
            key = g.nodes[a]
            if key[0] == "c":
                value[a], bound[a] = np.float64(key[1]), 0.0
            elif key[0] == "v":
                value[a], bound[a] = np.float64(value_of(key)), 0.0
            else:
                value[a], bound[a] = one(g, key, value, bound, g.children(a))
    return [value[a] for a in roots], [bound[a] for a in roots]


def one(g, key, value, bound, children):
    kind, x, e = key[0], [value[b] for b in children], [bound[b] for b in children]
    if kind == "arr":
        return np.array(x), np.array(e)
    if kind == "el":
        return x[0][key[1]], e[0][key[1]]
    if kind == "mv":
        return product_of_matrix(key[1], x, e)
    if kind == "cmp":
        close = abs(x[0] - x[1]) <= APART * (e[0] + e[1]) and e[0] + e[1] > 0
        return bool(HOLDS[key[1]](*x)), np.inf if close else 0.0
    if kind in ("and", "or", "not"):
        return {"and": all, "or": any, "not": lambda x: not x[0]}[kind](x), max(e)
    if kind == "sel":
        chosen = 1 if x[0] else 2
        return x[chosen], e[chosen] if e[0] == 0 else np.inf
    if kind == "neg":
        return -x[0], e[0]
    f = ARITHMETIC.get(kind) or function(key[1])
    out = f(*x)
    if kind in "+-":
        moved = e[0] + e[1]
    elif kind == "*":
        moved = abs(x[0]) * e[1] + abs(x[1]) * e[0] + e[0] * e[1]
    else:
        moved = sum(spread(f, x, e, k) for k in range(len(x)))
    if kind in ("f", "g", "pow"):
        return out, moved + OF_FUNCTIONS * ROUND_OFF * abs(out)
    return out, moved + ROUND_OFF * abs(out)


def product_of_matrix(shape, x, e):
    """with a rounding of each product and each sum"""
    rows, columns, transposed = shape
    M, of_M = (a.reshape(rows, columns).T if transposed else a.reshape(rows, columns) for a in (x[0], e[0]))
    size = np.abs(M) @ np.abs(x[1])
    return M @ x[1], np.abs(M) @ e[1] + of_M @ (np.abs(x[1]) + e[1]) + M.shape[1] * ROUND_OFF * size


def spread(f, x, e, k):
    """how far the value moves with argument k in its bounds"""
    if e[k] == 0:
        return 0.0
    ends = [f(*x[:k], x[k] + s * e[k], *x[k + 1:]) for s in (-1, 1)]
    moved = max(abs(end - f(*x)) for end in ends)
    return np.inf if np.isnan(moved) else moved


def agree(g, roots, value_of, wanted):
    """Are the roots these values, to round-off?"""
    values, bounds = evaluated(g, roots, value_of)
    for v, e, w in zip(values, bounds, wanted):
        if v == w or np.isnan(v) and np.isnan(w):
            continue
        if not abs(v - w) <= APART * (e + ROUND_OFF * abs(w)):
            return False
    return True
