"""What a function reads besides its arguments: globals, closures, defaults, attributes; to notice that they change."""
import functools
import types

import numpy as np

MOST = 20_000                                  # values that are looked at
LARGEST = 10_000_000                           # bytes of arrays
SPEAKS = ("print", "input", "open")
OF_CLASSES = ("__dict__", "__weakref__", "__doc__", "__module__", "__slots__", "__qualname__", "__abstractmethods__",
              "_abc_impl", "__parameters__", "__orig_bases__", "__annotations__", "__firstlineno__",
              "__static_attributes__")
PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic)
OF_C = (types.MethodDescriptorType, types.WrapperDescriptorType)     # methods of classes that are written in C
SEEN_AS_THEY_ARE = (types.BuiltinFunctionType, np.ufunc, types.MethodDescriptorType, types.WrapperDescriptorType,
                    types.MemberDescriptorType, types.GetSetDescriptorType)
OF_LIBRARIES = ("numpy", "math", "scipy", "builtins", "functools", "itertools", "cmath", "costate")


class Unseen(Exception):
    """There is something whose contents cannot be compared."""


class Reader:
    """One look at what a function reads."""

    def __init__(self):
        self.count, self.bytes, self.known, self.speaks = 0, 0, set(), None

    def look(self, value, names=()):
        """a value that is equal as long as nothing changes"""
        self.count += 1
        if self.count > MOST:
            raise Unseen
        if isinstance(value, PLAIN):
            return type(value), repr(value)
        if isinstance(value, SEEN_AS_THEY_ARE):
            return id(value)
        if id(value) in self.known:
            return "again", id(value)
        self.known.add(id(value))
        if isinstance(value, np.ndarray):
            return self.array(value)
        if isinstance(value, (list, tuple)):
            return self.more(value, names), tuple(self.look(part, names) for part in value)
        if isinstance(value, dict):
            return self.more(value, names), tuple((self.look(key, names), self.look(part, names))
                                                  for key, part in value.items())
        if isinstance(value, types.FunctionType):
            return self.function(value)
        if isinstance(value, types.MethodType):
            return self.look(value.__func__), self.look(value.__self__, self.names(value.__func__))
        if isinstance(value, functools.partial):
            return self.look(value.func), self.look(value.args), self.look(value.keywords)
        if isinstance(value, types.ModuleType):
            return self.named(value, names)
        if isinstance(value, type):
            return self.of_class(value)
        if isinstance(value, property):
            return self.look((value.fget, value.fset))
        if isinstance(value, (staticmethod, classmethod)):
            return self.look(value.__func__)
        return self.instance(value, names)

    def array(self, value):
        self.bytes += value.nbytes
        if value.dtype.hasobject or self.bytes > LARGEST:
            raise Unseen
        return value.shape, value.dtype.str, value.tobytes()

    def function(self, f):
        names = self.names(f)
        hidden = [cell.cell_contents for cell in f.__closure__ or () if filled(cell)]
        read = [f.__globals__[name] for name in names if name in f.__globals__]
        for name in SPEAKS:
            if name in names and name not in f.__globals__:
                self.speaks = name
        parts = (f.__defaults__, f.__kwdefaults__, *hidden, *read)
        return id(f.__code__), tuple(self.look(part, names) for part in parts)

    def names(self, f):
        return all_names(getattr(f, "__code__", None))

    def named(self, value, names):
        """a module: only the attributes whose names occur"""
        if of_library(value.__name__):
            return id(value)
        return id(value), tuple(self.look(vars(value)[name], names) for name in names if name in vars(value))

    def of_class(self, kind):
        """all attributes of a class, and of those that it is derived from"""
        own = [k for k in kind.__mro__ if not of_library(k.__module__)]
        return id(kind), tuple(self.look(part) for k in own for name, part in vars(k).items() if name not in OF_CLASSES)

    def instance(self, value, names):
        kind = type(value)
        if of_library(kind.__module__) and not callable(value):
            raise Unseen
        if any(isinstance(part, OF_C) for k in kind.__mro__[:-1] for part in vars(k).values()):
            raise Unseen                        # an array.array, a deque, a tensor: its contents are not attributes
        return self.more(value, names)

    def more(self, value, names):
        """the attributes of an object and of its class"""
        kind = type(value)
        if kind in (list, tuple, dict):
            return id(kind)
        slots = [name for k in kind.__mro__ for name in listed(vars(k).get("__slots__", ()))]
        inside = [getattr(value, name) for name in slots if hasattr(value, name) and name not in OF_CLASSES]
        return self.of_class(kind) if not of_library(kind.__module__) else id(kind), self.look(inside, names), \
            self.look(getattr(value, "__dict__", None), names)


def listed(names):
    return (names,) if isinstance(names, str) else names


def of_library(module):
    return module.split(".")[0] in OF_LIBRARIES


def filled(cell):
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


@functools.lru_cache(maxsize=1000)
def all_names(code):
    """of globals and attributes in a function and in those inside it"""
    if code is None:
        return ()
    inner = (name for part in code.co_consts if isinstance(part, types.CodeType) for name in all_names(part))
    return tuple(dict.fromkeys((*code.co_names, *inner)))


def state(*functions):
    """what these functions read, comparable with ==; None: it cannot be compared"""
    try:
        return Reader().look(list(functions))
    except Exception:                           # Unseen, or an attribute that raises when it is read
        return None


def speaks(f):
    """the name of a function of Python that f calls for more than its value, if there is one"""
    reader = Reader()
    try:
        reader.look(f)
    except Exception:
        pass
    return reader.speaks


def same(a, b):
    return a is not None and a == b
