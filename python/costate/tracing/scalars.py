"""Functions of one value, of functionals and observations: derivatives by byte code of their traces.

They are evaluated at a few points, so that no compiler works for them."""
import threading

import numpy as np

from costate._costate import ffi
from costate._library import pointer
from costate._program import Program
from costate import _generator as codegen
from costate.tracing.evaluate import agree
from costate.tracing.reads import same, state
from costate.tracing.trace import MOST_NODES, Shape, points_near, traced, values

MOST_KEPT = 50                  # traces of one function, which differ in what it reads or in sizes
KEPT, LOCK = {}, threading.Lock()               # {code of a function: [Scalar]}, for functions that are made again


class Scalar:
    """f(t, y) or f(t, y, p) at points like `at`.  Raises an exception where it cannot be traced."""

    def __init__(self, f, at):
        parts, self.graph = codegen.equations("model"), codegen.equations("graph").Graph()
        self.sizes, self.reads, self.lock = tuple(map(np.size, at[1:])), state(f), threading.Lock()
        self.shape = Shape(self.sizes[0], self.sizes[1] if len(at) > 2 else None, 0)
        self.nodes = traced(self.graph, f, self.shape, 1, points_near(at, None, ()), most=MOST_NODES)
        model, g = parts.Model("functional"), self.graph
        model.graph = g
        model.states, model.parameters = ([parts.Quantity(f"{letter}{k}", 0, k) for k in range(count)]
                                          for letter, count in zip("yp", (*self.sizes, 0)))
        model.equations, model.costs = [g.c(0)] * self.sizes[0], [parts.Quantity("value", 0, 0)]
        model.cost_nodes = self.nodes
        self.program = Program.of_model(model, "a traced function")
        P = self.program.problem
        self.map, self.ctx = (P.cost, P.ctx) if P.cost.value else (None, None)       # None: it is 0 everywhere

    def holds(self, f, at):
        """Is the function what was traced?"""
        if self.sizes != tuple(map(np.size, at[1:])) or not same(self.reads, state(f)) and self.reads is not None:
            return False
        wanted = values(f, at)
        return wanted.shape == (1,) and agree(self.graph, self.nodes, self.shape.value_of(at), wanted)

    def point(self, t, y, p=np.empty(0)):
        x, keep = ffi.new("costate_point *"), [np.array(part, dtype=float) for part in (y, p)]
        x.t, x.y, x.p = float(t), pointer(keep[0]), pointer(keep[1])
        return x, keep

    def into(self, product):
        """what product(w, g) adds to the gradient g with the weight 1: by t, y and p"""
        parts = [np.zeros(1), np.zeros(self.sizes[0]), np.zeros((*self.sizes, 0)[1])]
        g, w = ffi.new("costate_gradient *"), np.ones(1)
        g.t, g.y, g.p = map(pointer, parts)
        if self.map is not None and product(pointer(w), g):
            raise MemoryError("no memory for a traced function")
        return parts

    def gradient(self, at):
        """[by t, by y, by p]"""
        x, keep = self.point(*at)
        return self.into(lambda w, g: self.map.adjoint(x, w, g, self.ctx))

    def curvature(self, at, along):
        """the derivative of the gradient along directions of y and p"""
        (x, keep), (dx, keep_too) = self.point(*at), self.point(0.0, *along)
        return self.into(lambda w, g: self.map.adjoint_tangent(x, dx, w, g, self.ctx))


def scalar(f, at):
    """(Scalar, "") of f, from an earlier trace if that holds; or (None, why it cannot be traced)"""
    reason = codegen.why_not()
    if reason is not None:
        return None, reason
    code = getattr(f, "__code__", f)
    try:
        with LOCK:
            known = list(KEPT.setdefault(code, []))
        for found in known:
            if found.holds(f, at):
                return found, ""
        found = Scalar(f, at)
    except Exception as error:                  # of the function itself, too: it is called where that belongs
        return None, str(error)
    with LOCK:
        KEPT[code] = [*KEPT[code][-MOST_KEPT:], found]
    return found, ""
