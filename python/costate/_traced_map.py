"""A function that is no right-hand side, traced and compiled: a map with all its products."""
import numpy as np

from costate import _generator as codegen
from costate.tracing.building import Functions, model_of
from costate.tracing.engine import engine
from costate.tracing.reads import same, state
from costate.tracing.trace import Shape, points_near, traced


class Alone:
    """What a Model takes from a problem: nothing."""

    events, relations, stops, mass = (), (), np.empty(0), None


class CompiledMap:
    """map: a costate_map; ctx: that of it; holds(): does the function still read what it did?"""

    def __init__(self, of, built, reads):
        self.of, self.engine, self.reads = of, built, reads
        P = built.now().problem
        self.map, self.ctx = P.cost, P.ctx

    def holds(self):
        return same(self.reads, state(self.of.value))


def compiled_map(of, rows, at):
    """A CompiledMap of a Map at (t, y, p), or None: it is called.  In the compiled problem it takes the place of
    running costs."""
    if of.exact or len(at) > 3 or codegen.why_not() is not None:
        return None
    graph = codegen.equations("graph").Graph()
    functions, shape, reads = Functions(graph), Shape(len(at[1]), len(at[2]), 0), state(of.value)
    try:
        points = points_near(at, None, ())
        functions.cost = traced(graph, of.value, shape, rows, points)
        functions.rhs = traced(graph, lambda t, y, p: -y, shape, shape.n, points)
        if all(graph.is_zero(a) for a in functions.cost):
            return None
        found = engine(model_of(functions, Alone, shape, rows))
    except Exception:               # it cannot be traced: callbacks say what is wrong with it
        return None
    if found.now().problem.nrelations or found.now().problem.nstops:
        return None                 # branches of maps after a step are not located
    return CompiledMap(of, found, reads)
