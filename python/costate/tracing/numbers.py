"""Traced numbers: nodes of the graph that behave as NumPy's numbers do, and conditions."""
import numbers

import numpy as np

from costate.tracing.elementwise import BITS, FORMULAS, OF_TRUTHS, TRUTHS
from costate.tracing.refusals import refuse

DEEPEST = 240                                  # conditions inside each other, as in equation files
UNCOUNTED = ("v", "c", "arr", "el")              # nodes that are no operations; a product of matrices is one
CONSTANTS = (float, int, np.floating, np.integer, np.bool_)


def operations(keys):
    """the number of operations among nodes of these keys"""
    return sum(key[0] not in UNCOUNTED for key in keys)


class Tracer:
    """One call of a function with traced arguments: its graph, and why it cannot be traced, if so."""

    def __init__(self, graph, most=None):
        self.graph, self.refusal, self.most = graph, None, most
        self.seen, self.operations = len(graph.nodes), 0        # nodes that are counted, and what was counted

    def constant(self, value):
        return self.graph.c(float(value))

    def number(self, node):
        nodes = self.graph.nodes
        self.operations += operations(nodes[self.seen:])
        self.seen = len(nodes)
        if self.most is not None and self.operations > self.most:
            refuse(self, f"the function has more than {self.most} operations on single numbers, whose derivatives take "
                   "long to compile; trace=True does so nevertheless")
        if self.graph.depth[node] > DEEPEST:
            refuse(self, f"more than {DEEPEST} conditions are inside each other: use an event, or fewer conditions")
        return Number(self, node)

    def variable(self, space, index=0):
        return Number(self, self.graph.v(space, index))


class Recorded:
    """What numbers and arrays have in common: functions of NumPy are recorded, and what loses a trace is refused."""

    __slots__ = ("tracer",)

    # ---- what NumPy asks

    def __array_ufunc__(self, ufunc, method, *inputs, **more):
        from costate.tracing.arrays import of_ufunc
        return of_ufunc(self.tracer, ufunc, method, inputs, more)

    def __array_function__(self, function, types, arguments, named):
        from costate.tracing.functions import of_function
        return of_function(self.tracer, function, arguments, named)

    # ---- conversions that lose what is traced

    def __bool__(self):
        refuse(self.tracer, "bool")

    def __float__(self):
        refuse(self.tracer, "float")

    def __int__(self):
        refuse(self.tracer, "int")

    def __complex__(self):
        refuse(self.tracer, "complex")

    def __index__(self):
        refuse(self.tracer, "index")

    def __hash__(self):
        refuse(self.tracer, "hash")

    def __repr__(self):
        refuse(self.tracer, "text")

    __str__ = __repr__

    def __format__(self, form):
        refuse(self.tracer, "text")

    def __reduce_ex__(self, protocol):
        refuse(self.tracer, "a value is copied by pickle or copy.deepcopy: use .copy()")


class Number(Recorded):
    """A number that depends on t, y, p or m."""

    __slots__ = ("node",)
    truth = False
    ndim, shape, size = 0, (), 1

    def __init__(self, tracer, node):
        self.tracer, self.node = tracer, node

    def __round__(self, digits=None):
        refuse(self.tracer, "int")

    # ---- methods of NumPy's numbers

    @property
    def real(self):
        return self

    @property
    def imag(self):
        return 0.0

    @property
    def T(self):
        return self

    def item(self):
        return self

    def copy(self):
        return self

    def __copy__(self):
        return self

    def conjugate(self):
        return self

    conj = conjugate

    def sum(self):
        return self

    mean = max = min = prod = sum

    def astype(self, dtype, **more):
        return cast(self, np.dtype(dtype))

    def clip(self, low=None, high=None):
        return clipped(self, low, high)

    def __abs__(self):
        return apply("absolute", self)

    def __neg__(self):
        return apply("negative", self)

    def __pos__(self):
        return self

    def __invert__(self):
        if not self.truth:
            refuse(self.tracer, "~ is for conditions")
        return apply("logical_not", self)

    def __floor__(self):
        return apply("floor", self)

    def __ceil__(self):
        return apply("ceil", self)

    def __trunc__(self):
        return apply("trunc", self)

    def __divmod__(self, other):
        return self // other, self % other


class Truth(Number):
    """A condition; as a number it is 1 or 0."""

    __slots__ = ()
    truth = True


def is_constant(a):
    return isinstance(a, CONSTANTS)


def is_scalar(a):
    return isinstance(a, (Number, *CONSTANTS))


def tracer_of(arguments):
    """of traced numbers, which must belong to one call"""
    found = None
    for a in arguments:
        if isinstance(a, Number):
            if found is not None and a.tracer is not found:
                refuse(a.tracer, "the function keeps values of an earlier call")
            found = a.tracer
    return found


def as_node(tracer, a):
    """a number as a node; conditions become 1 or 0"""
    if isinstance(a, Number):
        g = tracer.graph
        return g.sel(a.node, g.c(1), g.c(0)) if a.truth else a.node
    if is_constant(a):
        return tracer.constant(a)
    if a is None:
        refuse(tracer, "an entry of an array has not been set")
    if isinstance(a, (complex, np.complexfloating)):
        refuse(tracer, "complex")
    refuse(tracer, f"a value of type {type(a).__name__} is combined with traced values")


def as_truth(tracer, a):
    """a number as a condition"""
    g = tracer.graph
    if isinstance(a, Number):
        return a.node if a.truth else g.cmp("!=", a.node, g.c(0))
    return g.cmp("!=", as_node(tracer, a), g.c(0))


def apply(name, *arguments):
    """an elementwise function of traced numbers and constants"""
    tracer = tracer_of(arguments)
    if tracer is None:
        return of_constants(name, arguments)
    if name in BITS:
        if not all(isinstance(a, (bool, np.bool_)) or isinstance(a, Number) and a.truth for a in arguments):
            refuse(tracer, "&, |, ^ and ~ are for conditions")
        name = BITS[name]
    if name in OF_TRUTHS:
        return Truth(tracer, OF_TRUTHS[name](tracer.graph, *(as_truth(tracer, a) for a in arguments)))
    if name not in FORMULAS:
        refuse(tracer, f"{name} is not traced: write it with other functions of NumPy")
    node = FORMULAS[name](tracer.graph, *(as_node(tracer, a) for a in arguments))
    return Truth(tracer, node) if name in TRUTHS else tracer.number(node)


def of_constants(name, arguments):
    """NumPy's own function, in double precision"""
    if name == "sinc":
        return np.sinc(arguments[0])
    with np.errstate(all="ignore"):
        if name in ("clip", "expit", "xlogy", "erf"):
            return of_constants_by_formula(name, arguments)
        return getattr(np, name)(*arguments)


def of_constants_by_formula(name, arguments):
    if name == "clip":
        return np.minimum(np.maximum(arguments[0], arguments[1]), arguments[2])
    from scipy import special           # whose function it was that called this
    return getattr(special, name)(*arguments)


def choose(condition, a, b):
    """a where the condition holds, else b"""
    tracer = tracer_of((condition, a, b))
    if tracer is None:
        return a if condition else b
    if not isinstance(condition, Number):
        return a if condition else b
    g, truth = tracer.graph, as_truth(tracer, condition)
    if all(isinstance(x, Number) and x.truth or isinstance(x, (bool, np.bool_)) for x in (a, b)):
        x, y = as_truth(tracer, a), as_truth(tracer, b)
        return Truth(tracer, g.either(g.both(truth, x), g.both(g.no(truth), y)))
    return tracer.number(g.sel(truth, as_node(tracer, a), as_node(tracer, b)))


def clipped(a, low, high):
    a = a if low is None else apply("maximum", a, low)
    return a if high is None else apply("minimum", a, high)


def cast(a, dtype):
    """a number of another type: of double precision, or 1 and 0 of a condition"""
    if not isinstance(a, Number):
        return a if dtype == object else dtype.type(a)
    if dtype == object or dtype == bool and a.truth:
        return a
    if dtype == float or a.truth and dtype.kind in "iuf":
        return a.tracer.number(as_node(a.tracer, a)) if a.truth else a
    if dtype == bool:
        return Truth(a.tracer, as_truth(a.tracer, a))
    if dtype.kind == "c":
        refuse(a.tracer, "complex")
    if dtype.kind in "iu":
        refuse(a.tracer, "int")
    refuse(a.tracer, f"values are made {dtype}, which loses digits: leave them in double precision")


# ---- operators and methods: apply("add", a, b) ---------------------------------------------------------------------

OPERATORS = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power",
             "mod": "remainder", "floordiv": "floor_divide", "and": "bitwise_and", "or": "bitwise_or",
             "xor": "bitwise_xor"}
RELATIONS = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}
METHODS = ("exp", "log", "log10", "log2", "log1p", "expm1", "sqrt", "cbrt", "sin", "cos", "tan", "sinh", "cosh", "tanh",
           "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "arctan2", "hypot", "floor", "ceil", "trunc",
           "fabs", "square", "reciprocal", "exp2", "deg2rad", "rad2deg", "radians", "degrees", "fmod", "logical_and",
           "logical_or", "logical_not")


def operator(name, turned):
    def made(a, b):
        if not is_scalar(b):
            return unknown(a, b)
        return apply(name, b, a) if turned else apply(name, a, b)
    return made


def unknown(a, b):
    """left to an array; complex numbers are refused"""
    if isinstance(b, numbers.Number):
        refuse(a.tracer, "complex" if isinstance(b, numbers.Complex) and not isinstance(b, numbers.Real) else
               f"a number of type {type(b).__name__} is combined with traced values")
    return NotImplemented


for short, name_ in OPERATORS.items():
    setattr(Number, f"__{short}__", operator(name_, False))
    setattr(Number, f"__r{short}__", operator(name_, True))
for short, name_ in RELATIONS.items():
    setattr(Number, f"__{short}__", operator(name_, False))
for name_ in METHODS:
    setattr(Number, name_, lambda self, *others, name=name_: apply(name, self, *others))
