"""Traced arrays: arrays of NumPy whose entries are traced numbers or constants.  Views and assignments are NumPy's.

They are no subclass of numpy.ndarray: what reads the memory of an array cannot read them."""
import functools

import numpy as np

from costate.tracing.elementwise import FORMULAS
from costate.tracing.numbers import BITS, OF_TRUTHS, OPERATORS, RELATIONS, Number, Recorded, apply, cast, is_scalar
from costate.tracing.refusals import refuse

OF_NAN = {"isnan", "isfinite", "isinf", "signbit"}
ARITHMETIC = {"vecdot", "matvec", "vecmat"}     # ufuncs of whole arrays, by operators of the entries


class Array(Recorded):
    """entries: an array of objects, which may be a view of another one"""

    __slots__ = ("entries",)
    __array_priority__ = 1000

    def __init__(self, tracer, entries):
        self.tracer, self.entries = tracer, entries

    # ---- what NumPy asks

    def __array__(self, dtype=None, copy=None):
        if dtype is None or np.dtype(dtype) == object:
            return self.entries
        refuse(self.tracer, "complex" if np.dtype(dtype).kind == "c" else "float")

    def __getattr__(self, name):
        if name in ("data", "ctypes", "tobytes", "tofile", "dumps", "view", "__array_interface__", "base", "strides",
                    "__array_struct__", "__dlpack__", "__cuda_array_interface__"):
            if name.startswith("__"):
                raise AttributeError(name)
            refuse(self.tracer, "buffer")
        if name.startswith("__"):
            raise AttributeError(name)
        if hasattr(np.ndarray, name):
            refuse(self.tracer, f"the method {name} of arrays is not traced: write it with other functions of NumPy")
        raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")

    # ---- shape and entries

    shape = property(lambda self: self.entries.shape)
    ndim = property(lambda self: self.entries.ndim)
    size = property(lambda self: self.entries.size)
    dtype = property(lambda self: self.entries.dtype)
    real = property(lambda self: self)
    imag = property(lambda self: np.zeros(self.shape))
    T = property(lambda self: Array(self.tracer, self.entries.T))

    @property
    def flat(self):
        return self.entries.flat

    def __len__(self):
        return len(self.entries)

    def __iter__(self):
        return (wrapped(self.tracer, part) for part in self.entries)

    def __getitem__(self, key):
        return wrapped(self.tracer, self.entries[self.index(key)])

    def __setitem__(self, key, value):
        self.entries[self.index(key)] = entries_of(value)

    def index(self, key):
        for part in key if isinstance(key, tuple) else (key,):
            if isinstance(part, (Number, Array)) or isinstance(part, np.ndarray) and part.dtype == object:
                refuse(self.tracer, "index")
        return key

    def __contains__(self, value):
        refuse(self.tracer, "bool")

    def item(self, *place):
        return self.entries.item(*place)

    def tolist(self):
        return self.entries.tolist()

    def fill(self, value):
        self.entries.fill(value)

    def copy(self, order="C"):
        return Array(self.tracer, self.entries.copy())

    def __copy__(self):
        return self.copy()

    def conj(self):
        return self.copy()

    conjugate = conj

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        dtype = np.dtype(dtype)
        return wrapped(self.tracer, each(lambda a: cast(a, dtype), 1)(self.entries))

    def clip(self, min=None, max=None):
        return np.clip(self, min, max)

    def std(self, axis=None, ddof=0, keepdims=False):
        return self.var(axis, ddof=ddof, keepdims=keepdims) ** 0.5

    def var(self, axis=None, ddof=0, keepdims=False):
        apart = self - self.mean(axis, keepdims=True)
        count = self.size if axis is None else self.shape[axis]
        return (apart * apart).sum(axis, keepdims=keepdims) / (count - ddof)


def moved(name):
    """a method that is NumPy's of the entries"""
    def method(self, *arguments, **named):
        return wrapped(self.tracer, getattr(self.entries, name)(*map(entries_of, arguments), **named))
    return method


def in_functions(name):
    """a method that is the function of this name"""
    def method(self, *arguments, **named):
        return getattr(np, name)(self, *arguments, **named)
    return method


for name_ in ("reshape", "ravel", "flatten", "transpose", "swapaxes", "squeeze", "repeat", "take", "diagonal"):
    setattr(Array, name_, moved(name_))
for name_ in ("sum", "mean", "prod", "cumsum", "cumprod", "dot", "max", "min", "any", "all", "trace"):
    setattr(Array, name_, in_functions(name_))


# ---- operators -----------------------------------------------------------------------------------------------------

UFUNCS = {**OPERATORS, **RELATIONS, "matmul": "matmul"}
for short, name_ in UFUNCS.items():
    def straight(self, other, ufunc=getattr(np, name_)):
        return ufunc(self, other)

    def turned(self, other, ufunc=getattr(np, name_)):
        return ufunc(other, self)

    def in_place(self, other, ufunc=getattr(np, name_)):
        return ufunc(self, other, out=(self,))
    setattr(Array, f"__{short}__", straight)
    if short not in RELATIONS:
        setattr(Array, f"__r{short}__", turned)
        setattr(Array, f"__i{short}__", in_place)
for short, name_ in {"neg": "negative", "abs": "absolute", "invert": "invert", "pos": "positive"}.items():
    setattr(Array, f"__{short}__", lambda self, ufunc=getattr(np, name_): ufunc(self))


# ---- conversions ---------------------------------------------------------------------------------------------------

def wrapped(tracer, found):
    """an array of objects as an Array; of no dimension: its entry"""
    if isinstance(found, np.ndarray) and found.dtype == object:
        return found.item() if found.ndim == 0 else Array(tracer, found)
    return found


def entries_of(a):
    """the entries of an Array; everything else as it is"""
    return a.entries if isinstance(a, Array) else a


def objects(tracer, a):
    """an array of objects: entries of an Array, of an array of NumPy, of lists; for real numbers only"""
    if isinstance(a, Array):
        if a.tracer is not tracer:
            refuse(tracer, "the function keeps values of an earlier call")
        return a.entries
    if isinstance(a, Number):
        out = np.empty((), dtype=object)
        out[()] = a
        return out
    if isinstance(a, (list, tuple)):
        a = np.array([np.asarray(entries_of(b)) if isinstance(b, Array) else b for b in a], dtype=object) \
            if any(isinstance(b, (Array, Number)) for b in a) else np.asarray(a)
    array = np.asarray(a)
    if array.dtype == object:
        return array
    if array.dtype.kind not in "fiub":
        refuse(tracer, "complex" if array.dtype.kind == "c" else
               f"an array of type {array.dtype} is combined with traced values")
    out = np.empty(array.shape, dtype=object)
    out[...] = array.astype(float) if array.dtype.kind in "fiu" else array
    return out


@functools.lru_cache(maxsize=None)
def elementwise(name, count):
    return np.frompyfunc(functools.partial(apply, name), count, 1)


def each(function, count):
    return np.frompyfunc(function, count, 1)


# ---- ufuncs --------------------------------------------------------------------------------------------------------

def of_ufunc(tracer, ufunc, method, inputs, more):
    name, out = ufunc.__name__, more.pop("out", None)
    where, dtype = more.pop("where", True), more.pop("dtype", None)
    more.pop("casting", None), more.pop("order", None), more.pop("subok", None)
    if name in OF_NAN:
        refuse(tracer, f"np.{name} is not traced: a branch depends on whether a value is defined; use np.where around "
               "the argument of the function that is not defined there")
    if method == "at":
        return add_at(tracer, ufunc, *inputs)
    if dtype is not None and np.dtype(dtype) not in (np.dtype(float), np.dtype(object)):
        refuse(tracer, f"{name} with dtype={np.dtype(dtype)}: leave out dtype")
    if where is not True:
        refuse(tracer, f"{name} with where=: use np.where(condition, a, b)")
    known = name in FORMULAS or name in OF_TRUTHS or name in BITS or name in ARITHMETIC or ufunc is np.matmul
    if not known or method not in ("__call__", "reduce", "accumulate", "outer"):
        refuse(tracer, f"{name}{'.' + method if known else ''} is not traced: write it with other functions of NumPy")
    arrays = [objects(tracer, a) for a in inputs]
    if ufunc is np.matmul and method == "__call__" and not more:
        from costate.tracing.algebra import matmul
        found = matmul(*arrays)
    elif name in ARITHMETIC:
        found = getattr(ufunc, method)(*arrays, **more)
    elif method == "reduce":
        found = reduced(name, arrays[0], more)
    else:
        found = getattr(elementwise(name, ufunc.nin), method)(*arrays, **more)
    return put(tracer, found, out)


def add_at(tracer, ufunc, target, index, *values):
    """np.add.at and the like: an index that occurs twice counts twice"""
    if not isinstance(target, Array):
        refuse(tracer, "float")
    ufunc.at(target.entries, target.index(index), *(objects(tracer, a) for a in values))


def reduced(name, array, more):
    """over an axis, None: over all; maxima and minima by halves, so that conditions do not lie inside each other"""
    axis, keepdims, initial = more.get("axis", 0), more.get("keepdims", False), more.get("initial")
    axes = tuple(range(array.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(a % max(array.ndim, 1) for a in axes) if array.ndim else ()
    rest = [a for a in range(array.ndim) if a not in axes]
    parts = array.transpose(list(axes) + rest).reshape(-1, *(array.shape[a] for a in rest))
    if initial is not None and initial is not np._NoValue:
        first = np.empty((1, *parts.shape[1:]), dtype=object)
        first[...] = initial
        parts = np.concatenate([first, parts])
    if not len(parts):
        empty = np.full(parts.shape[1:], getattr(np, name).reduce(np.empty(0)))
        return empty.astype(object)
    join = elementwise(name, 2)
    if name in ("maximum", "minimum", "fmax", "fmin"):
        while len(parts) > 1:
            half = len(parts) // 2
            parts = np.concatenate([join(parts[:half], parts[half:2 * half]), parts[2 * half:]])
        found = parts[0]
    else:
        found = parts[:1]                       # an array even of no dimension: entries would be dispatched to us
        for k in range(1, len(parts)):
            found = join(found, parts[k:k + 1])
        found = found[0]
    if keepdims:
        found = np.asarray(found, dtype=object).reshape([1 if a in axes else k for a, k in enumerate(array.shape)])
    return found


def put(tracer, found, out):
    """the result, or out with it"""
    if out is None:
        if is_scalar(found):
            return found
        return wrapped(tracer, np.asarray(found, dtype=object))
    target, = out if isinstance(out, tuple) else (out,)
    if isinstance(target, Array):
        target.entries[...] = found
    elif isinstance(target, np.ndarray) and target.dtype == object:
        target[...] = found
    else:
        refuse(tracer, "float")
    return target
