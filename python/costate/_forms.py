"""Parameters and states in forms of the user's: dicts, lists, tuples, dataclasses of numbers and arrays, arrays of any
shape, as vectors, and vectors in these forms again."""
import copy
import dataclasses
import math

import numpy as np

NUMBERS = (int, float, np.integer, np.floating)
FIXED = (str, bool, np.bool_, type(None))       # passed on as they are


def is_vector(value):
    """is it what Problem takes as it stands: a number, a vector, or a list of numbers?"""
    if type(value) is np.ndarray:
        return value.ndim < 2
    if type(value) in (list, tuple):
        return all(isinstance(v, (*NUMBERS, complex)) for v in value)
    return parts(value) is None and getattr(value, "ndim", 0) < 2


def is_numbers(value):
    """numbers, and lists in lists of them, which are one array"""
    if type(value) in (list, tuple):
        return all(map(is_numbers, value))
    return isinstance(value, NUMBERS) and not isinstance(value, FIXED)


def parts(value):
    """[(name, part)] of a container, or None"""
    if isinstance(value, dict):
        return list(value.items())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, (list, tuple)):
        return list(zip(getattr(value, "_fields", range(len(value))), value))
    return None


def with_parts(like, values):
    """a container of the same kind with these parts"""
    if isinstance(like, dict):
        new = copy.copy(like)
        new.update(values)
        return new
    if isinstance(like, (list, tuple)):
        return type(like)(*values.values()) if hasattr(like, "_fields") else type(like)(values.values())
    new = copy.copy(like)
    for name, value in values.items():
        object.__setattr__(new, name, value)            # a frozen dataclass is no obstacle
    return new


def emptied(value):
    """the container without its numbers, which a form does not keep"""
    return with_parts(value, {name: None for name, _ in parts(value)})


class Leaf:
    """A number (shape None), or an array, in a vector."""

    def __init__(self, shape):
        self.shape, self.size = shape, math.prod(shape or ())

    def key(self):
        return self.shape

    def flat(self, value, name):
        """(size,) or (size, m)"""
        array, shape = np.asarray(value), self.shape or ()
        if array.dtype.kind not in "fiub":
            raise TypeError(f"{name} has the type {array.dtype}; expected real numbers")
        if array.shape[:len(shape)] != shape or array.ndim > len(shape) + 1:
            raise ValueError(f"{name} has shape {array.shape}; expected {shape}")
        return array.reshape((self.size,) + array.shape[len(shape):]).astype(float)

    def of(self, vector):
        return vector[0] if self.shape is None else vector.reshape(self.shape + vector.shape[1:])


class Fixed:
    """What is no number, and passed on."""

    size = 0

    def __init__(self, value):
        self.value = value

    def key(self):
        return (type(self.value).__name__, self.value)

    def flat(self, value, name):
        return None

    def of(self, vector):
        return self.value


class Tree:
    """A container of others, whose numbers follow each other in a vector."""

    def __init__(self, value, name):
        self.like = emptied(value)
        self.members = {key: node(part, f"{name}[{key!r}]") for key, part in parts(value)}
        self.size = sum(member.size for member in self.members.values())

    def key(self):
        return (type(self.like), tuple((key, member.key()) for key, member in self.members.items()))

    def flat(self, value, name):
        given = dict(parts(value) or [])
        if type(value) is not type(self.like) or given.keys() != self.members.keys():
            raise ValueError(f"{name} has another form than before: expected {type(self.like).__name__} with "
                             f"{', '.join(map(repr, self.members))}")
        found = [member.flat(given[key], f"{name}[{key!r}]") for key, member in self.members.items() if member.size]
        if not found:
            return np.empty(0)
        if len({array.shape[1:] for array in found}) > 1:
            raise ValueError(f"{name} has directions and single values, or different numbers of directions")
        return np.concatenate(found)

    def of(self, vector):
        out, at = {}, 0
        for key, member in self.members.items():
            out[key] = member.of(vector[at:at + member.size])
            at += member.size
        return with_parts(self.like, out)


def node(value, name):
    if isinstance(value, FIXED):
        return Fixed(value)
    if isinstance(value, NUMBERS):
        return Leaf(None)
    if is_numbers(value) and len(value) or hasattr(value, "__array__"):
        return Leaf(np.shape(value))
    if parts(value) is not None:
        return Tree(value, name)
    raise TypeError(f"{name} is {value!r}; expected a number, an array, or a dict, list, tuple or dataclass of these")


class Vector:
    """The form of a vector: none."""

    shape, key = None, "vector"

    @staticmethod
    def flat(value, name=None):
        return value

    of = flat


class Form:
    """The form of y0 or p: flat(value) is a vector, or (size, m) for m directions; of(vector) has the form again.

    shape       of an array; None of others"""

    def __init__(self, value, name):
        self.name, self.node = name, node(value, name)
        self.size, self.key = self.node.size, self.node.key()
        self.shape = getattr(self.node, "shape", None)

    def flat(self, value, name=None):
        return None if value is None else self.node.flat(value, name or self.name)

    def of(self, vector):
        return None if vector is None else self.node.of(vector)


def form(value, name):
    return Vector if is_vector(value) else Form(value, name)


class Named:
    """Parameters of a Model by name, in a dict; those that are left out have their default values."""

    def __init__(self, p, model):
        self.model, self.like = model, emptied(p)
        self.shapes = {name: np.shape(value) for name, value in p.items()}
        self.size, self.key = model.np, tuple(self.shapes.items())
        self.places = {name: self.place(name, shape) for name, shape in self.shapes.items()}

    def place(self, name, shape):
        """(indices in p, of which entries of the value): two values that differ by 1 say where they went"""
        value = 0.25 + np.arange(math.prod(shape)).reshape(shape)
        one, two = (self.model.parameter_vector(**{name: value + k}) for k in (0, 1))
        found = np.flatnonzero(two - one == 1)
        return found, (one[found] - 0.25).astype(int)

    def flat(self, p):
        """all parameters; or directions of these, where others do not change"""
        return None if p is None else self.model.parameter_vector(**p)

    def direction(self, d):
        if d is None:
            return None
        if not isinstance(d, dict) or d.keys() - self.places.keys():
            raise ValueError(f"a direction of p has other names than p: {', '.join(map(repr, self.places))}")
        m = {np.shape(value)[len(self.shapes[name]):] for name, value in d.items()}
        if len(m) > 1:
            raise ValueError("the directions of p have different numbers of columns")
        out = np.zeros((self.size,) + (m.pop() if m else ()))
        for name, value in d.items():
            into, of = self.places[name]
            out[into] = np.reshape(value, (-1,) + out.shape[1:])[of]
        return out

    def of(self, vector):
        if vector is None:
            return None
        out = {}
        for name, (into, of) in self.places.items():
            total = np.zeros((math.prod(self.shapes[name]),) + vector.shape[1:])
            np.add.at(total, of, vector[into])
            out[name] = total.reshape(self.shapes[name] + vector.shape[1:])[()]
        return with_parts(self.like, out)
