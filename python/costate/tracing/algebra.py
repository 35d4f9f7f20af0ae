"""Tables, sums of products and linear systems of traced numbers."""
import functools
import math
import string

import numpy as np

from costate.tracing.numbers import Number, apply, as_node, choose, tracer_of

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
    for k in range(1, len(operands)):
        later = set(result).union(*inputs[k + 1:])
        names, found = contracted(names, found, *diagonals(inputs[k], operands[k]), later)
    names, found = summed(names, found, result)
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


def contracted(left, a, right, b, kept):
    """The product of two arrays, summed over the letters that are not kept: products of matrices, one for each set of
    indices that both have and that are kept"""
    left, a = summed(left, a, [c for c in left if c in right or c in kept])
    right, b = summed(right, b, [c for c in right if c in left or c in kept])
    inner = [c for c in left if c in right and c not in kept]
    if not inner:
        return multiplied(left, a, right, b)
    both = [c for c in left if c in right and c in kept]
    rows, columns = ([c for c in names if c not in both + inner] for names in (left, right))
    a = a.transpose([left.index(c) for c in both + rows + inner])
    b = b.transpose([right.index(c) for c in both + inner + columns])
    shape = a.shape[:len(both + rows)] + b.shape[len(both + inner):]
    count, length = math.prod(a.shape[:len(both)]), math.prod(a.shape[len(both + rows):])
    a = a.reshape(count, math.prod(a.shape[len(both):len(both + rows)]), length)
    b = b.reshape(count, length, math.prod(b.shape[len(both + inner):]))
    found = np.empty((count, a.shape[1], b.shape[2]), dtype=object)
    for k in range(count):
        found[k] = product(a[k], b[k])
    return "".join(both + rows + columns), found.reshape(shape)


def summed(names, a, kept):
    for c in [c for c in names if c not in kept]:
        k = names.index(c)
        parts = np.moveaxis(a, k, 0)
        total = parts[:1]
        for j in range(1, len(parts)):
            total = ADD(total, parts[j:j + 1])
        a, names = total.reshape(parts.shape[1:]), names[:k] + names[k + 1:]
    return names, a


# ---- products of matrices ------------------------------------------------------------------------------------------

def product(a, b):
    """a b, arrays of objects with two axes: a node for each product of a matrix and a vector, column by column, or row
    by row where there are fewer rows"""
    out, tracer = np.empty((a.shape[0], b.shape[1]), dtype=object), tracer_of((*a.flat, *b.flat))
    if tracer is None or not a.shape[1]:
        out[...] = a.astype(float) @ b.astype(float)
        return out
    by_rows = len(out) < out.shape[1]
    matrix, vectors, places = (b, a, out) if by_rows else (a, b.T, out.T)
    g, entries = tracer.graph, [as_node(tracer, x) for x in matrix.flat]
    for k, vector in enumerate(vectors):
        found = g.times(*matrix.shape, entries, [as_node(tracer, x) for x in vector], by_rows)
        places[k] = [tracer.number(node) for node in found]
    return out


def joined(a, b, axis_of_a, axis_of_b, shared=0):
    """a and b, summed over these axes of each; shared: number of the first axes that both have"""
    names = iter(string.ascii_letters)
    left = [next(names) for _ in range(a.ndim)]
    right = left[:shared] + [next(names) for _ in range(b.ndim - shared)]
    for i, j in zip(axis_of_a, axis_of_b):
        if a.shape[i] != b.shape[j]:
            raise ValueError(f"shapes {a.shape} and {b.shape} not aligned: {a.shape[i]} (dim {i}) != {b.shape[j]} "
                             f"(dim {j})")
        right[j] = left[i]
    summed_over = {left[i] for i in axis_of_a}
    kept = [c for c in dict.fromkeys(left + right) if c not in summed_over]
    found, values = contracted("".join(left), a, "".join(right), b, kept)
    return values.transpose([found.index(c) for c in kept])


def dot(a, b):
    """np.dot"""
    if not a.ndim or not b.ndim:
        return MULTIPLY(a.reshape(1, *a.shape), b.reshape(1, *b.shape))[0, ...]
    return joined(a, b, [a.ndim - 1], [max(b.ndim - 2, 0)])


def inner(a, b):
    """np.inner"""
    return joined(a, b, [a.ndim - 1], [b.ndim - 1]) if a.ndim and b.ndim else dot(a, b)


def matmul(a, b):
    """np.matmul: matrices in the last two axes"""
    if not a.ndim or not b.ndim:
        raise ValueError("matmul: an operand has no axes; use *")
    if a.ndim <= 2 and b.ndim <= 2:
        return dot(a, b)
    of_row, of_column = a.ndim == 1, b.ndim == 1
    a, b = a[None] if of_row else a, b[:, None] if of_column else b
    shared = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (np.broadcast_to(x, shared + x.shape[-2:]) for x in (a, b))
    found = joined(a, b, [len(shared) + 1], [len(shared)], len(shared))
    found = found[..., 0, :] if of_row else found
    return found[..., 0] if of_column else found


def tensordot(a, b, axes):
    """np.tensordot"""
    if not np.iterable(axes):
        axes = range(a.ndim - axes, a.ndim), range(axes)
    of_a, of_b = (list(part) if np.iterable(part) else [part] for part in axes)
    if len(of_a) != len(of_b):
        raise ValueError("shape-mismatch for sum")
    return joined(a, b, [k % a.ndim for k in of_a], [k % b.ndim for k in of_b])


def determinant(a):
    """by minors of the first row"""
    if not len(a):
        return 1.0
    rest, total = np.arange(len(a)), 0.0
    for j, x in enumerate(a[0]):
        term = apply("multiply", x, determinant(a[1:, rest != j]))
        total = apply("subtract" if j % 2 else "add", total, term)
    return total


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
