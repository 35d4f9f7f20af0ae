"""Functions of NumPy for traced arrays: those that move entries are NumPy's own, the others are here."""
import numpy as np

from costate.tracing import algebra
from costate.tracing.arrays import Array, each, elementwise, objects, reduced, wrapped
from costate.tracing.numbers import Number, choose, is_scalar
from costate.tracing.refusals import refuse

# NumPy's own on arrays of objects: they move entries, or add and multiply them.
NATIVE = """append array_split atleast_1d atleast_2d atleast_3d block broadcast_arrays broadcast_to column_stack
concatenate convolve copy correlate cross cumprod cumsum delete diag diagflat diagonal diff dsplit dstack ediff1d
expand_dims flip fliplr flipud hsplit hstack insert kron meshgrid moveaxis ndim outer ravel repeat reshape resize roll
rollaxis rot90 row_stack shape size split squeeze stack swapaxes take tile trace transpose trapz trapezoid tril triu
vander vsplit vstack""".split()
JOINS = ("concatenate", "stack", "hstack", "vstack", "dstack", "column_stack", "row_stack", "block")
PADDED = ("constant", "edge", "wrap", "reflect", "symmetric")
TABLE = {}


def of_function(tracer, function, arguments, named):
    name = function.__name__
    of_numpy = getattr(np, name, None) is function
    if of_numpy and name in NATIVE:
        return native(tracer, function, arguments, named)
    if function in TABLE:
        return TABLE[function](tracer, *arguments, **named)
    if not any(map(depends, (*arguments, *named.values()))):
        return function(*map(plain, arguments), **{key: plain(value) for key, value in named.items()})
    where = (getattr(function, "__module__", None) or "numpy").replace("numpy", "np")
    cure = CURES.get(name, "write it with other functions of NumPy")
    refuse(tracer, f"{where}.{name} is not traced: {cure}")


JUMPS = "it jumps: use np.floor(x + 0.5), whose jumps are found, or leave it out"
SORTED = "the order of values depends on them: use np.maximum and np.minimum, or an event"
CURES = {**dict.fromkeys(("sort", "argsort", "argmax", "argmin", "median", "percentile", "quantile", "unique",
                          "partition"), SORTED),
         **dict.fromkeys(("searchsorted", "digitize", "nonzero", "argwhere", "flatnonzero", "extract", "compress"),
                         "an index depends on a value: use np.where, or np.interp for tables"),
         **dict.fromkeys(("round", "around", "round_"), JUMPS),
         **dict.fromkeys(("array_equal", "allclose", "isclose", "count_nonzero"),
                         "a branch depends on a value: use np.where(condition, a, b)"),
         **dict.fromkeys(("array_str", "array_repr", "array2string", "savetxt", "save"),
                         "a value is printed or written: leave it out, or do that in on_step")}


def depends(a):
    """has it a traced number?"""
    if isinstance(a, (list, tuple)):
        return any(map(depends, a))
    a = a.entries if isinstance(a, Array) else a
    entries = a.flat if isinstance(a, np.ndarray) and a.dtype == object else (a,)
    return any(isinstance(b, Number) for b in entries)


def plain(a):
    """constants as NumPy has them"""
    if isinstance(a, (list, tuple)):
        return type(a)(map(plain, a))
    return a.entries.astype(float) if isinstance(a, Array) else a


def native(tracer, function, arguments, named):
    joins = function.__name__ if function.__name__ in JOINS else False
    first, rest = arguments[:1], arguments[1:]
    found = function(*(unwrapped(tracer, a, joins) for a in first), *(unwrapped(tracer, a) for a in rest),
                     **{key: unwrapped(tracer, a) for key, a in named.items()})
    return wrap_all(tracer, found)


def unwrapped(tracer, a, joins=False):
    """an argument with arrays of objects in the place of traced values; joins: a list of arrays remains a list"""
    if isinstance(a, (Array, Number)):
        return objects(tracer, a)
    if isinstance(a, (list, tuple)) and joins:
        return type(a)(unwrapped(tracer, b, joins == "block") for b in a)
    return nested(tracer, a) if isinstance(a, (list, tuple)) and depends(a) else a


def nested(tracer, a):
    """an array of objects, of lists of lists, arrays and numbers"""
    if not isinstance(a, (list, tuple)):
        return objects(tracer, a)
    parts = [nested(tracer, b) for b in a]
    if len({part.shape for part in parts}) > 1:
        raise ValueError("setting an array element with a sequence. The requested array has an inhomogeneous shape")
    return np.stack(parts) if parts else np.empty(0, dtype=object)


def wrap_all(tracer, found):
    if isinstance(found, (list, tuple)):
        return type(found)(wrap_all(tracer, part) for part in found)
    return wrapped(tracer, found)


def traces(*functions):
    """a decorator: the function that stands for these of NumPy"""
    def made(ours):
        TABLE.update(dict.fromkeys((f for f in functions if f is not None), ours))
        return ours
    return made


def refuse_rest(tracer, what, named, **usual):
    """arguments that are not what they usually are"""
    for name, value in named.items():
        if value is not np._NoValue and value is not None and value is not usual.get(name, None):
            refuse(tracer, f"{what} with {name}=: leave it out")


# ---- shapes --------------------------------------------------------------------------------------------------------

def new(value):
    def made(tracer, a, fill_value=value, dtype=None, order="K", subok=True, shape=None, **more):
        shape = np.shape(a) if shape is None else shape
        if dtype is not None and np.dtype(dtype) not in (np.dtype(float), np.dtype(object)):
            return np.full(shape, 0 if fill_value is None else fill_value, dtype=dtype)
        out = np.empty(shape, dtype=object)
        out[...] = np.float64(fill_value) if isinstance(fill_value, (int, float, np.number)) else \
            objects(tracer, fill_value) if fill_value is not None else None
        return Array(tracer, out)
    return made


TABLE[np.zeros_like] = lambda tracer, a, dtype=None, order="K", subok=True, shape=None: \
    new(0.0)(tracer, a, dtype=dtype, shape=shape)
TABLE[np.ones_like] = lambda tracer, a, dtype=None, order="K", subok=True, shape=None: \
    new(1.0)(tracer, a, dtype=dtype, shape=shape)
TABLE[np.empty_like] = lambda tracer, a, dtype=None, order="K", subok=True, shape=None: \
    new(None)(tracer, a, dtype=dtype, shape=shape)
TABLE[np.full_like] = lambda tracer, a, fill_value, dtype=None, order="K", subok=True, shape=None: \
    new(0.0)(tracer, a, fill_value=fill_value, dtype=dtype, shape=shape)
TABLE[np.result_type] = lambda tracer, *arguments: np.dtype(object)
TABLE[np.iscomplexobj] = lambda tracer, a: False
TABLE[np.isrealobj] = lambda tracer, a: True
TABLE[np.real] = lambda tracer, a: a
TABLE[np.imag] = lambda tracer, a: np.zeros(np.shape(a))
TABLE[np.may_share_memory] = TABLE[np.shares_memory] = lambda tracer, a, b, *more: refuse(tracer, "buffer")


@traces(np.pad)
def pad(tracer, array, pad_width, mode="constant", **more):
    if mode not in PADDED:
        refuse(tracer, f"np.pad with mode={mode!r}: use one of {', '.join(PADDED)}")
    return native(tracer, np.pad, (array, pad_width, mode), more)


@traces(np.copyto)
def copyto(tracer, target, source, casting="same_kind", where=True):
    if not isinstance(target, Array):
        refuse(tracer, "float")
    target.entries[...] = objects(tracer, source) if where is True else \
        objects(tracer, np.where(where, source, target))


# ---- sums and extremes ---------------------------------------------------------------------------------------------

def over(name):
    def made(tracer, a, axis=None, dtype=None, out=None, keepdims=False, initial=None, **more):
        if name not in ("add", "multiply"):
            dtype, out = None, dtype if out is None else out        # their third argument is out
        refuse_rest(tracer, name, dict(out=out, dtype=dtype, **more), dtype=float, where=True)
        more = dict(axis=axis, keepdims=keepdims is True, initial=initial)
        found = reduced(name, objects(tracer, a), more)
        return found if is_scalar(found) else wrapped(tracer, np.asarray(found, dtype=object))
    return made


TABLE[np.sum], TABLE[np.prod] = over("add"), over("multiply")
TABLE[np.max] = TABLE[np.amax] = over("maximum")
TABLE[np.min] = TABLE[np.amin] = over("minimum")
TABLE[np.any], TABLE[np.all] = over("logical_or"), over("logical_and")


def counted(a, axis):
    shape = np.shape(a)
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return int(np.prod([shape[k] for k in axes]))


@traces(np.mean)
def mean(tracer, a, axis=None, dtype=None, out=None, keepdims=False, **more):
    return over("add")(tracer, a, axis=axis, dtype=dtype, out=out, keepdims=keepdims, **more) / counted(a, axis)


@traces(np.var)
def var(tracer, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **more):
    refuse_rest(tracer, "np.var", dict(dtype=dtype, out=out, **more))
    return Array(tracer, objects(tracer, a)).var(axis, ddof=ddof, keepdims=keepdims is True)


@traces(np.std)
def std(tracer, a, **more):
    return var(tracer, a, **more) ** 0.5


@traces(np.ptp)
def ptp(tracer, a, axis=None):
    return np.max(a, axis=axis) - np.min(a, axis=axis)


@traces(np.average)
def average(tracer, a, axis=None, weights=None, **more):
    refuse_rest(tracer, "np.average", more)
    if weights is None:
        return mean(tracer, a, axis)
    if np.shape(weights) != np.shape(a):
        refuse(tracer, "np.average with weights of another shape than its values")
    product = Array(tracer, objects(tracer, a)) * weights
    return np.sum(product, axis=axis) / np.sum(weights, axis=axis)


@traces(np.gradient)
def gradient(tracer, f, *spacing, axis=None, edge_order=1):
    """differences of the second order inside; at the ends of the order edge_order"""
    f = objects(tracer, f)
    axes = range(f.ndim) if axis is None else [a % f.ndim for a in (axis if isinstance(axis, tuple) else (axis,))]
    if len(spacing) not in (0, 1, len(axes)) or edge_order not in (1, 2):
        raise TypeError("invalid number of arguments" if edge_order in (1, 2) else "edge_order must be 1 or 2")
    spacing = spacing * len(axes) if len(spacing) == 1 else spacing or (1.0,) * len(axes)
    found = [Array(tracer, along_axis(f, a, plain(h), edge_order)) for a, h in zip(axes, spacing)]
    return found[0] if len(found) == 1 else found


def along_axis(f, axis, h, edge_order):
    f, n = np.moveaxis(f, axis, 0), f.shape[axis]
    if n < edge_order + 1:
        raise ValueError("Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) "
                         "elements are required.")
    x = np.asarray(h, dtype=float) if np.ndim(h) else float(h) * np.arange(n)
    if len(x) != n:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    out = np.empty(f.shape, dtype=object)
    for i in range(n):
        at = [i, i + 1] if i == 0 else [i - 1, i] if i == n - 1 else [i - 1, i, i + 1]
        if i in (0, n - 1) and edge_order == 2:
            at = [0, 1, 2] if i == 0 else [n - 3, n - 2, n - 1]
        out[i] = sum(c * f[k] for k, c in zip(at, weights_of(x[at], x[i])))
    return np.moveaxis(out, 0, axis)


def weights_of(x, at):
    """of values at x in the derivative at `at` of the polynomial through them (Lagrange)"""
    out = []
    for j in range(len(x)):
        others = [k for k in range(len(x)) if k != j]
        slope = sum(np.prod([at - x[k] for k in others if k != left]) for left in others)
        out.append(float(slope / np.prod([x[j] - x[k] for k in others])))
    return out


# ---- conditions ----------------------------------------------------------------------------------------------------

CHOOSE = each(choose, 3)


@traces(np.where)
def where(tracer, condition, *branches):
    if len(branches) != 2:
        refuse(tracer, "index")
    return as_result(tracer, CHOOSE(*(objects(tracer, a) for a in (condition, *branches))))


def as_result(tracer, found):
    return found if is_scalar(found) else wrapped(tracer, np.asarray(found, dtype=object))


@traces(np.select)
def select(tracer, condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    found = default
    for condition, choice in reversed(list(zip(condlist, choicelist))):
        found = where(tracer, condition, choice, found)
    return found


@traces(np.piecewise)
def piecewise(tracer, x, condlist, funclist, *args, **kw):
    """The functions receive all of x, not only the entries for which their condition holds."""
    listed = isinstance(condlist, (list, tuple))
    conditions = list(condlist) if listed or np.ndim(condlist) > np.ndim(x) else [condlist]
    values = [f(x, *args, **kw) if callable(f) else f for f in funclist]
    found = values[-1] if len(values) == len(conditions) + 1 else 0.0
    for condition, value in zip(conditions, values):        # later conditions win
        found = where(tracer, condition, value, found)
    return found


@traces(np.clip)
def clip(tracer, a, a_min=None, a_max=None, out=None, **more):
    low, high = more.pop("min", a_min), more.pop("max", a_max)
    found = a if low is None else np.maximum(a, low)
    found = found if high is None else np.minimum(found, high)
    if out is not None:
        copyto(tracer, out, found)
        return out
    return found


@traces(np.sinc)
def sinc(tracer, x):
    return as_result(tracer, elementwise("sinc", 1)(objects(tracer, x)))


@traces(np.nan_to_num)
def nan_to_num(tracer, x, *more, **named):
    refuse(tracer, "np.nan_to_num hides values that are not defined: leave it out, or use np.where around the argument "
           "of the function that is not defined there")


@traces(np.fix)
def fix(tracer, x, out=None):
    return np.trunc(x)


@traces(np.polyval)
def polyval(tracer, p, x):
    found = np.zeros_like(x) if isinstance(x, Array) else 0.0
    for coefficient in p:
        found = found * x + coefficient
    return found


# ---- tables and linear algebra: algebra.py -------------------------------------------------------------------------

@traces(np.interp)
def interp(tracer, x, xp, fp, left=None, right=None, period=None):
    if period is not None:
        refuse(tracer, "np.interp with period=: use np.interp(x % period, ...)")
    if any(isinstance(a, Number) for a in np.ravel(objects(tracer, xp))):
        refuse(tracer, "np.interp with places that depend on values: they must be constants")
    places, values = np.asarray(xp, dtype=float), np.ravel(objects(tracer, fp))
    if places.ndim != 1 or places.shape != values.shape or not places.size:
        raise ValueError("fp and xp are not of the same length.")
    if not np.all(np.diff(places) > 0):
        refuse(tracer, "np.interp with places that do not increase: sort them, each once")
    table = each(lambda a: algebra.in_table(a, places, values, left, right), 1)
    return as_result(tracer, table(objects(tracer, x)))


@traces(np.einsum)
def einsum(tracer, subscripts, *operands, out=None, optimize=None, **more):
    refuse_rest(tracer, "np.einsum", dict(out=out, **more))
    if not isinstance(subscripts, str):
        refuse(tracer, "np.einsum with lists of axes: use letters, as in 'ij,j->i'")
    if "." in subscripts:
        refuse(tracer, "np.einsum with '...': name all axes by letters")
    return as_result(tracer, algebra.einsum(subscripts, [objects(tracer, a) for a in operands]))


def of_two(function):
    def made(tracer, a, b, out=None, **more):
        refuse_rest(tracer, function.__name__, dict(out=out))
        return as_result(tracer, function(*(nested(tracer, x) for x in (a, b)), **more))
    return made


TABLE[np.dot], TABLE[np.inner] = of_two(algebra.dot), of_two(algebra.inner)
TABLE[np.vdot] = of_two(lambda a, b: algebra.dot(a.ravel(), b.ravel()))


@traces(np.tensordot)
def tensordot(tracer, a, b, axes=2):
    return as_result(tracer, algebra.tensordot(*(nested(tracer, x) for x in (a, b)), axes))


@traces(np.linalg.solve)
def solve(tracer, a, b):
    if isinstance(a, (Array, Number)) or np.asarray(a).dtype == object:
        refuse(tracer, "np.linalg.solve with a matrix that depends on values is not traced: use a constant matrix, "
               "or give these equations as algebraic ones, with mass")
    return as_result(tracer, algebra.solve(np.asarray(a, dtype=float), objects(tracer, b)))


@traces(np.linalg.det)
def det(tracer, a):
    a = objects(tracer, a)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if len(a) > 4:
        refuse(tracer, "np.linalg.det of more than four rows is not traced: write the determinant out, or give its "
               "equation as an algebraic one, with mass")
    return algebra.determinant(a)


@traces(np.linalg.norm)
def norm(tracer, x, ord=None, axis=None, keepdims=False):
    if np.ndim(x) > 1 and axis is None and ord not in (None, "fro") or isinstance(axis, tuple):
        refuse(tracer, "np.linalg.norm of a matrix: use sums of its entries")
    if ord in (None, "fro", 2):
        return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))
    if ord == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == np.inf:
        return np.max(np.abs(x), axis=axis, keepdims=keepdims)
    refuse(tracer, f"np.linalg.norm with ord={ord!r}: use 1, 2 or np.inf")
