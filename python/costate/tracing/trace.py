"""One function of the user becomes nodes: called with traced arguments, twice, and compared with itself."""
import numpy as np

from costate.tracing.arrays import Array, objects
from costate.tracing.evaluate import agree
from costate.tracing.numbers import Number, Tracer, as_node
from costate.tracing.reads import same, speaks, state
from costate.tracing.rebound import Rebinder
from costate.tracing.refusals import Untraceable, line_of, sentence

NEAR = (1e-3, -0.02, 0.1)                 # relative changes of y and p where a trace is compared
MOST_NODES, MOST_ASKED = 5_000, 50_000         # of a function; with trace=True


class Shape:
    """How many states, parameters, memory variables a function receives; its relations.  np and kinds None: it
    receives none"""

    def __init__(self, n, np_, nm, kinds=None):
        self.n, self.np, self.nm, self.kinds = n, np_, nm, kinds

    def traced(self, tracer, situation):
        """the arguments"""
        def vector(space, count):
            entries = np.empty(count, dtype=object)
            entries[:] = [tracer.variable(space, k) for k in range(count)]
            return Array(tracer, entries)
        at = [tracer.variable("t"), vector("y", self.n)] + ([] if self.np is None else [vector("p", self.np)])
        if self.nm:
            at.append(vector("m", self.nm))
        if self.kinds is not None:
            values = tuple(tracer.variable("relation" if kind == "truth" else "whole", k)
                           for k, kind in enumerate(self.kinds))
            at.append(situation(tracer.variable("mode"), values))
        return at

    def value_of(self, at):
        """the number of a variable at a point (t, y, p[, m][, situation])"""
        parts = {"y": at[1], "p": at[2] if self.np is not None else None, "m": at[3] if self.nm else None}

        def value(key):
            if key[1] == "t":
                return at[0]
            if key[1] in parts:
                return parts[key[1]][key[2]]
            return at[-1].mode if key[1] == "mode" else at[-1].relation[key[2]]
        return value


def traced(graph, f, shape, rows, points, situation=None, most=MOST_NODES):
    """The nodes of f, or raises Untraceable with a sentence for the user.

    points: [(t, y, p, ...)], at which f and its trace are compared; f is defined at the first one; most: nodes"""
    word = speaks(f)
    if word:
        raise Untraceable(f"the function calls {word}(), which a compiled function would not: call it in on_step")
    before = state(f)
    wanted = values(f, points[0])
    if wanted.shape != (rows,):
        raise ValueError(f"the function returned {wanted.size} values; expected {rows}")
    after = state(f)
    if before is not None and not same(before, after):
        raise Untraceable("the function changes what it reads: a counter, a list or an attribute that it keeps between "
                          "calls")
    nodes = once(graph, f, shape, rows, situation, most)
    if after is not None and not same(after, state(f)) or once(graph, f, shape, rows, situation, most) != nodes:
        raise Untraceable("the function is not the same at each call: random numbers, a clock, or what it keeps "
                          "between calls; give such values as parameters")
    for k, at in enumerate(points):
        if k:
            try:
                wanted = values(f, at)
            except Exception:                   # outside its domain
                continue
        if not agree(graph, nodes, shape.value_of(at), wanted):
            raise Untraceable(f"its trace has other values than the function at t = {at[0]:.10g}: the function looks "
                              "at the type of its arguments, computes in single precision, or keeps values between "
                              "calls")
    return nodes


def once(graph, f, shape, rows, situation, most):
    tracer = Tracer(graph, most)
    try:
        found = Rebinder(tracer).of(f)(*shape.traced(tracer, situation))
        nodes = [as_node(tracer, a) for a in np.ravel(result(tracer, found, rows))]
    except Exception as error:
        if tracer.refusal is not None:
            raise tracer.refusal from None
        if isinstance(error, Untraceable):
            raise
        what = f"raises {type(error).__name__} for traced values: {error}"
        raise Untraceable(sentence(line_of(error), what)) from error
    if tracer.refusal is not None:              # the function caught it
        raise tracer.refusal
    return nodes


def result(tracer, found, rows):
    if isinstance(found, Number):
        found = [found]
    array = objects(tracer, found)
    if array.shape != (rows,) and not (rows == 1 and array.shape == ()):
        raise Untraceable(f"its trace has the shape {array.shape}, the function ({rows},)")
    return array


def values(f, at):
    """of the function itself, for copies of a point"""
    with np.errstate(all="ignore"):
        found = np.ravel(np.asarray(f(*(a.copy() if isinstance(a, np.ndarray) else a for a in at))))
    if found.dtype.kind not in "fiub":
        raise TypeError(f"the function returned values of type {found.dtype}; expected real numbers")
    return found.astype(float)


def points_near(at, t1, last):
    """(t, y, p, ...) itself, and some near it, at times between t and t1"""
    random, out = np.random.default_rng(1), [(*at, *last)]
    for k, part in enumerate(NEAR):
        t = at[0] if t1 is None else at[0] + (t1 - at[0]) * (k + 1) / (len(NEAR) + 1)
        moved = [a * (1 + part * random.uniform(-1, 1, a.shape)) + part * 1e-3 * random.uniform(-1, 1, a.shape)
                 for a in at[1:]]
        out.append((float(t), *moved, *last))
    return out
