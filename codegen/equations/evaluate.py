"""Numbers of nodes in Python, as C computes them: for what is said about a model, and for tests."""
import math
import operator

from .arrays import ARRAYS
from .nodes import HOLDS


def held(model, values):
    """values with those of the relations, one after the other, as the library determines them"""
    values = dict(values)
    for k, r in enumerate(model.relations):
        guard, = evaluate(model.graph, [r.guard], values)
        sign = (guard > 0) - (guard < 0)
        value = {"whole": math.floor, "sign": lambda _: sign, "truth": lambda _: max(sign, 0)}[r.kind](guard)
        values["whole" if r.whole else "relation", k] = value
    return values


def evaluate(g, roots, values):
    """Numbers of nodes as C computes them; values: of variables, by (space, index)"""
    found, roots = {}, g.printable(roots)
    binary = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": divide, "pow": power}
    for a in g.order(roots):
        key = g.nodes[a]
        x = [found[b] for b in g.children(a)]
        if key[0] == "c":
            found[a] = key[1]
        elif key[0] == "v":
            found[a] = values[key[1], key[2]]
        elif key[0] in binary:
            found[a] = binary[key[0]](*x)
        elif key[0] == "neg":
            found[a] = -x[0]
        elif key[0] == "sel":
            found[a] = x[1] if x[0] else x[2]
        elif key[0] == "cmp":
            found[a] = HOLDS[key[1]](*x)
        elif key[0] in ("f", "g"):
            found[a] = call(key[1], x)
        elif key[0] == "el":
            found[a] = x[0][key[1]]
        elif key[0] in ARRAYS:
            found[a] = list(x) if key[0] == "arr" else \
                [v*w for v in x[0] for w in x[1]] if key[0] == "outer" else matrix_times(*key[1], *x)
        else:
            found[a] = {"and": all, "or": any, "not": lambda v: not v[0]}[key[0]](x)
    return [found[r] for r in roots]


def matrix_times(rows, columns, transposed, M, x):
    lines = [M[i*columns:(i + 1)*columns] for i in range(rows)]
    return [sum(a*b for a, b in zip(line, x)) for line in (zip(*lines) if transposed else lines)]


def divide(x, y):
    return x / y if y else math.nan if x == 0 or x != x else math.copysign(math.inf, x)


def power(x, y):
    return math.inf if x == 0 and y < 0 else math.pow(x, y)


def call(name, x):
    try:
        return getattr(math, name)(*x)
    except ValueError:
        return -math.inf if name == "log" and x[0] == 0 else math.nan
    except OverflowError:
        return math.copysign(math.inf, x[0]) if name == "sinh" else math.inf
