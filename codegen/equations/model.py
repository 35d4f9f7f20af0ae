"""A model as data: quantities, and the nodes of a graph that say how they change.  Readers fill it."""
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..real import Refused
from .graph import Graph
from .scope import TOO_DEEP
from .syntax import Fault

LOW, HIGH = 0, 1                             # ends of an axis
PERIODIC, ZERO, WALL = "periodic", "zero", "wall"
CROSSES, RISES, FALLS = 0, 1, -1
ANY_MODE = -1
START_DEFAULT, START_FIRE, START_IGNORE = 0, 1, 2      # COSTATE_START_...
ZERO_FALSE, ZERO_TRUE = 3, 4                 # the event is a condition


@dataclass
class Quantity:
    """A state, parameter, memory variable, running cost or output; of a vector, one for each component."""
    name: str
    place: int
    index: int = 0                           # among those of its kind
    unit: str = ""
    text: str = ""
    axes: tuple = ()                         # of a field: the names of all axes
    value: object = None                     # parameter: default, a node; state, memory: initial value, a node
    order: int = 0                           # of an algebraic variable: its index, 1 or 2
    hidden: bool = False                     # a memory variable that the file does not name


@dataclass
class Axis:
    name: str
    size: object                             # name of a size, or a number
    ends: list = field(default_factory=lambda: [PERIODIC, PERIODIC])      # at LOW and HIGH


@dataclass
class Reaction:
    """Its rate is k times the powers `left` of states, (state, exponent); it changes states by net, (state, number)."""
    place: int
    left: list
    net: list
    k: int                                   # a node


@dataclass
class Event:
    name: str
    place: int
    guard: object = None                     # a node; None: at given times
    times: list = field(default_factory=list)
    direction: int = CROSSES
    active: int = ANY_MODE                   # the mode in which it is active
    mode: object = None                      # mode after it; None: the same
    terminal: bool = False
    passes: bool = False
    jumps: dict = field(default_factory=dict)    # (space, index) of states and memory: node
    costs: dict = field(default_factory=dict)    # index of a running cost: node that is added
    slopes: bool = False                     # y' occurs in it, and the model is a residual
    at_start: int = START_DEFAULT            # of a guard that is zero at the start


@dataclass
class Relation:
    """A value of a guard that the library keeps in a step: see costate_relation."""
    guard: int                               # a node
    kind: str = "sign"                       # of the guard; or truth: that it is positive; whole: the number below it

    @property
    def whole(self):
        return self.kind == "whole"


class Model:
    """n equations M y' = f, or F = 0 where `implicit`; q' = cost; see costate.h for what events do."""

    def __init__(self, name):
        self.name, self.text, self.graph = name, "", Graph()
        self.labels = {}                     # of nodes: names that they had in what was read
        self.source = None                   # the file that places belong to
        self.sizes = {}                      # name: default, or None
        self.axes = []
        self.states, self.parameters, self.memory = [], [], []
        self.costs, self.outputs, self.modes = [], [], []
        self.equations = []                  # nodes: f, or F
        self.reactions = []                  # what of f comes from reactions: kinetics() adds it
        self.mass = {}                       # (row, column): number; empty: identity
        self.implicit = False
        self.cost_nodes, self.output_nodes = [], []
        self.boundaries = {}                 # (field, axis, end): ZERO, WALL or a node
        self.events = []
        self.relations = []
        self.start_limit = None              # StartLimit: runs begin in a limit of the solution
        self.units = ""                      # what was found out about them
        self.stops = []                      # known times at which f is not smooth, increasing
        self.layout = "cells"                # of fields: all of a cell together, or one field after the other

    def refusal(self, fault, origin):
        """Of what is found to be wrong after reading; the place of a mechanism is (source, place)"""
        source, place = fault.place if isinstance(fault.place, tuple) else (self.source, fault.place)
        return source.refusal(Fault(place, fault.what)) if source else Refused(f"{origin}: {fault.what}")

    @contextmanager
    def refused(self, origin):
        """Faults of a printer, and expressions that are too deep for it, become Refused, with their places"""
        try:
            yield
        except Fault as fault:
            raise self.refusal(fault, origin) from None
        except RecursionError:
            raise self.refusal(Fault(self.graph.deepest(), TOO_DEEP), origin) from None

    @property
    def on_grid(self):
        return bool(self.axes)

    def state(self, index, offsets=()):
        return self.graph.v("y", index, offsets)

    def kinetics(self, reactions=None):
        """f with the reactions (all, or those given): the sum over them of net changes times rates, as nodes.  Of a
        residual y' - f they are subtracted."""
        g, f, sign = self.graph, list(self.equations), -1 if self.implicit else 1
        for r in self.reactions if reactions is None else reactions:
            rate = r.k
            for i, exponent in r.left:
                rate = g.mul(rate, g.pow(self.state(i), g.c(exponent)))
            for i, number in r.net:
                f[i] = g.add(f[i], g.mul(g.c(sign*number), rate))
        return f
