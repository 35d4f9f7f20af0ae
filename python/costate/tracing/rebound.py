"""A function that finds other ones in the place of np.array, np.zeros and their like, which NumPy does not dispatch.

The code is that of the user; only the globals and closures in which it looks up names are copies."""
import functools
import types

import numpy as np

from costate.tracing.arrays import Array, each, objects
from costate.tracing.functions import NATIVE, TABLE, nested, new, of_function
from costate.tracing.numbers import Number, cast
from costate.tracing.reads import OF_LIBRARIES, all_names, filled


def holds_traced(a):
    """is this a traced value, or a list with one in it?"""
    return isinstance(a, (Array, Number)) or isinstance(a, (list, tuple)) and any(map(holds_traced, a)) or \
        isinstance(a, np.ndarray) and a.dtype == object


class Numpy:
    """The module numpy of one trace."""

    def __init__(self, tracer):
        self._tracer, self._made = tracer, {}
        self.zeros, self.ones, self.empty = (self.filled(f, value) for f, value in
                                             ((np.zeros, 0.0), (np.ones, 1.0), (np.empty, None)))
        self.array = self.converted(np.array, True)
        self.asarray, self.asanyarray, self.ascontiguousarray, self.asfarray = (
            self.converted(f, False) for f in (np.asarray, np.asanyarray, np.ascontiguousarray, np.asarray))
        self.r_ = Joined()

    def __getattr__(self, name):
        real = getattr(np, name)
        if name not in self._made:
            listed = name in NATIVE or callable(real) and not isinstance(real, type) and real in TABLE
            self._made[name] = self.of_lists(real) if listed else real
        return self._made[name]

    def filled(self, real, value):
        @functools.wraps(real)
        def made(shape, dtype=float, order="C", **more):
            if np.dtype(dtype) not in (np.dtype(float), np.dtype(object)):
                return real(shape, dtype, order, **more)
            return new(value)(self._tracer, None, shape=shape)
        return made

    def full(self, shape, fill_value, dtype=None, order="C", **more):
        if not holds_traced(fill_value) and dtype not in (None, float, np.float64):
            return np.full(shape, fill_value, dtype, order, **more)
        if not holds_traced(fill_value) and dtype is None and not isinstance(fill_value, (float, np.floating)):
            return np.full(shape, fill_value)
        return new(0.0)(self._tracer, None, fill_value=fill_value, shape=shape)

    def converted(self, real, copies):
        @functools.wraps(real)
        def made(a, dtype=None, *arguments, **named):
            if not holds_traced(a):
                return real(a, dtype, *arguments, **named)
            entries = nested(self._tracer, a)
            copies_now = named.get("copy", copies) and isinstance(a, Array)
            if dtype is not None:
                kind = np.dtype(dtype)
                entries = np.asarray(each(lambda x: cast(x, kind), 1)(entries.reshape(1, *entries.shape))[0, ...],
                                     dtype=object) if kind != float or has_truths(entries) else entries
            entries = entries.copy() if copies_now else entries
            return entries_with(self._tracer, entries, named.get("ndmin", 0))
        return made

    def of_lists(self, real):
        @functools.wraps(real)
        def made(*arguments, **named):
            if any(map(holds_traced, (*arguments, *named.values()))):
                return of_function(self._tracer, real, arguments, named)
            return real(*arguments, **named)
        return made


def has_truths(entries):
    return any(isinstance(a, Number) and a.truth for a in entries.flat)


def entries_with(tracer, entries, ndmin):
    shape = (1,) * (ndmin - entries.ndim) + entries.shape
    return Array(tracer, entries.reshape(shape))


REPLACED = ("array", "asarray", "asanyarray", "ascontiguousarray", "zeros", "ones", "empty", "full", "r_")


class Joined:
    """np.r_ of arrays, lists and numbers; everything else is NumPy's own"""

    def __getitem__(self, key):
        parts = key if isinstance(key, tuple) else (key,)
        if not any(map(holds_traced, parts)):
            return np.r_[key]
        return np.concatenate([np.atleast_1d(np.r_[part] if isinstance(part, slice) else part) if not isinstance(
            part, Number) else Array(part.tracer, objects(part.tracer, [part])) for part in parts])


class Rebinder:
    """One trace: what replaces what."""

    def __init__(self, tracer):
        self.numpy, self.known = Numpy(tracer), {}
        self.functions = {id(getattr(np, name)): getattr(self.numpy, name) for name in REPLACED}

    def of(self, f):
        """f with these replacements, as far as it is a function of Python"""
        if isinstance(f, types.MethodType):
            return types.MethodType(self.of(f.__func__), f.__self__)
        if isinstance(f, functools.partial):
            return functools.partial(self.of(f.func), *f.args, **f.keywords)
        if isinstance(f, types.FunctionType):
            return self.function(f)
        call = getattr(type(f), "__call__", None)
        return types.MethodType(self.of(call), f) if isinstance(call, types.FunctionType) else f

    def function(self, f):
        if (f.__module__ or "").split(".")[0] in OF_LIBRARIES:
            return f
        if id(f) in self.known:
            return self.known[id(f)]
        names = dict(f.__globals__)
        cells = tuple(types.CellType() for _ in f.__closure__ or ())
        made = types.FunctionType(f.__code__, names, f.__name__, f.__defaults__, cells or None)
        made.__kwdefaults__ = f.__kwdefaults__
        self.known[id(f)] = made                # before the rest: functions may call themselves
        for name in all_names(f.__code__):
            if name in names:
                names[name] = self.value(names[name])
        for cell, old in zip(cells, f.__closure__ or ()):
            if filled(old):
                cell.cell_contents = self.value(old.cell_contents)
        return made

    def value(self, value):
        if value is np:
            return self.numpy
        if id(value) in self.functions:
            return self.functions[id(value)]
        return self.function(value) if isinstance(value, types.FunctionType) else value
