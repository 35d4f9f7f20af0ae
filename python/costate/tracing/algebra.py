"""Tables, sums of products and linear systems of traced numbers."""
import functools

import numpy as np

from costate.tracing.numbers import Number, apply, choose

ADD, MULTIPLY = (np.frompyfunc(functools.partial(apply, name), 2, 1) for name in ("add", "multiply"))


def in_table(x, places, values, left, right):
    """np.interp of one number.  Selections by halves, so that none lies deep inside others."""
    if not isinstance(x, Number):
        if not any(isinstance(v, Number) for v in values):
            return np.interp(x, places, values.astype(float), left, right)
        if np.isnan(x):
            return x
    below = values[0] if left is None else left
    pieces = [(places[0], lambda: below)]
    for k in range(len(places) - 1):
        pieces.append((places[k + 1], lambda k=k: on_line(x, places[k:k + 2], values[k:k + 2])))
    if right is None:
        pieces.append((None, lambda: values[-1]))
    else:                                   # the last place itself has the value of the table
        pieces.append((None, lambda: choose(apply("greater", x, places[-1]), right, values[-1])))

    def chosen(first, last):
        if first == last:
            return pieces[first][1]()
        middle = (first + last) // 2
        return choose(apply("less", x, pieces[middle][0]), chosen(first, middle), chosen(middle + 1, last))
    return chosen(0, len(pieces) - 1)


def on_line(x, places, values):
    slope = apply("divide", apply("subtract", values[1], values[0]), places[1] - places[0])
    return apply("add", apply("multiply", slope, apply("subtract", x, places[0])), values[0])


def einsum(subscripts, operands):
    """Products of all operands, aligned by letters, summed over those that the result does not have; each letter is
    summed as soon as no later operand has it"""
    inputs, arrow, result = subscripts.replace(" ", "").partition("->")
    inputs = inputs.split(",")
    if not arrow:
        letters = "".join(inputs)
        result = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    if len(inputs) != len(operands) or any(len(names) != np.ndim(a) for names, a in zip(inputs, operands)):
        raise ValueError(f"einsum: the operands do not have the axes of {subscripts!r}")
    if len(set(result)) < len(result) or not set(result) <= set("".join(inputs)):
        raise ValueError(f"einsum: the result of {subscripts!r} has an axis twice, or one that no operand has")
    sizes = {}
    for names, a in zip(inputs, operands):
        for c, size in zip(names, a.shape):
            if sizes.setdefault(c, size) != size:
                raise ValueError(f"einsum: the axis {c} has the sizes {sizes[c]} and {size}")
    names, found = diagonals(inputs[0], operands[0])
    for k in range(1, len(operands) + 1):
        later = set(result).union(*inputs[k:])
        names, found = summed(names, found, later)
        if k < len(operands):
            names, found = multiplied(names, found, *diagonals(inputs[k], operands[k]))
    return found.transpose([names.index(c) for c in result]) if result else found.item()


def diagonals(names, a):
    """without letters that occur twice"""
    for c in sorted(set(names)):
        while names.count(c) > 1:
            i, j = names.index(c), names.rindex(c)
            a = np.diagonal(a, axis1=i, axis2=j)            # the new axis is the last one
            names = "".join(x for k, x in enumerate(names) if k not in (i, j)) + c
    return names, a


def multiplied(left, a, right, b):
    names = left + "".join(c for c in right if c not in left)
    a = a.reshape(a.shape + (1,) * (len(names) - len(left)))
    b = b.transpose([right.index(c) for c in names if c in right])
    b = b.reshape([b.shape[[c for c in names if c in right].index(c)] if c in right else 1 for c in names])
    return names, MULTIPLY(a.reshape(1, *a.shape), b.reshape(1, *b.shape))[0, ...]


def summed(names, a, kept):
    for c in [c for c in names if c not in kept]:
        k = names.index(c)
        parts = np.moveaxis(a, k, 0)
        total = parts[:1]
        for j in range(1, len(parts)):
            total = ADD(total, parts[j:j + 1])
        a, names = total.reshape(parts.shape[1:]), names[:k] + names[k + 1:]
    return names, a


def factors(a):
    """(rows, L and U in one matrix): Gaussian elimination with partial pivoting"""
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    a, rows = a.copy(), np.arange(len(a))
    for k in range(len(a)):
        pivot = k + int(np.argmax(np.abs(a[k:, k])))
        if a[pivot, k] == 0:
            raise np.linalg.LinAlgError("Singular matrix")
        a[[k, pivot]], rows[[k, pivot]] = a[[pivot, k]], rows[[pivot, k]]
        a[k + 1:, k] /= a[k, k]
        a[k + 1:, k + 1:] -= np.outer(a[k + 1:, k], a[k, k + 1:])
    return rows, a


def solve(a, b):
    rows, lu = factors(a)
    if b.shape[0] != len(a):
        raise ValueError(f"solve: the matrix has {len(a)} rows, the right-hand side {b.shape[0]}")
    x = list(b[rows])
    for i in range(len(x)):
        for j in np.flatnonzero(lu[i, :i]):
            x[i] = x[i] - float(lu[i, j]) * x[j]
    for i in reversed(range(len(x))):
        for j in i + 1 + np.flatnonzero(lu[i, i + 1:]):
            x[i] = x[i] - float(lu[i, j]) * x[j]
        x[i] = x[i] / float(lu[i, i])
    out = np.empty(b.shape, dtype=object)
    for i, row in enumerate(x):
        out[i] = row
    return out
