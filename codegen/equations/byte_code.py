"""Byte code from a model of single states: what c_file.py prints as C, for the interpreter of the library.

A program is 32-bit words of the machine's byte order: MAGIC, VERSION, the numbers of doubles, of words and of 16-bit
numbers, the CRC-32 of these three, which follow.  src/program/read.c reads the words in the order in which Program
writes them:

    sizes        n, np, nq, nm; numbers of outputs; 1 for a residual; numbers of events, relations, stops
    maps         rhs (or the residual), cost, start, output
    Jacobian     entries of the pattern; 1 and columns and rows, or 0: dense, or 2: formed by the library from products;
                 but for 2, jac, and jac_yp of a residual
    mass         their number; places; then the doubles
    elimination  0, or the number of entries of L and U; that of sigma M - J, its columns and rows; of each of L and U:
                 the number of the pivot that it is divided by (its own: it is one), -1 in U; its place in A or -1;
                 terms; then the steps of both solutions, see elimination.py: k, x, number of the pivot, terms
    index        1 and n numbers, or 0
    events       of each: number of given times, direction, from, to, terminal, passes, slopes, at_start; maps guard,
                 jump, cost
    relations    of each: which of KINDS; map guard

A map is the number of its values, 0 for none, and its PRODUCTS; each is 0 for none, 1 and a routine, or 2, a routine,
bits of SPACE, and a routine for directions that are 0 in these spaces.  A routine is the numbers of registers and of
constants, two lists of loads (space, first, count), the length of the shared code, and parts: guard, length of the
code, numbers of results and of products that are added to a gradient.  Doubles are constants, elements of M, given
times, stops and defaults of parameters; numbers are code, results and products, all in the order of the words."""
import struct
import sys
import zlib

from . import formulas, start_limit
from .about import about
from .body import Target
from .elimination import compressed, elimination_of
from .functions import Writer
from .header import kinds
from .names import Names, prefix
from .routine import Routine
from .syntax import Fault
from .tables import MANY, in_tables

MAGIC, VERSION = 0x62736f63, 1               # "cosb" in the order of bytes of most machines
MARK = MAGIC.to_bytes(4, sys.byteorder).decode()
PRODUCTS = ("value", "tangent", "adjoint", "tangent2", "adjoint_tangent", "tangents", "adjoints", "adjoint_tangent2")
KINDS = ("truth", "whole", "sign")           # of relations
BACKWARD = ("adjoint", "adjoint_tangent", "adjoints", "adjoint_tangent2")
SAME_MODE = -2                               # COSTATE_SAME_MODE
SPACE = {"t": 1, "p": 2, "m": 4}             # bits of directions that are not zero in general
MOST_NUMBERS = 0xffff


def write(model, origin):
    """The program of a model, as bytes; Refused: what byte code does not serve"""
    with model.refused(origin):
        reason = not_served(model)
        if reason:
            raise Fault(model.states[0].place, f"byte code does not serve this model: {reason}; compile it")
        return Program(model).bytes()


def not_served(model):
    """Why byte code does not serve a model; None: it does"""
    if model.on_grid:
        return f"{model.name} is on a grid"
    if model.graph.functions:
        return f"{model.name} declares functions in C"
    if in_tables(model):
        return f"{model.name} has {len(model.reactions)} reactions, more than {MANY}"
    if max(len(model.states), len(model.parameters), len(model.memory)) > MOST_NUMBERS:
        return f"{model.name} has more than {MOST_NUMBERS} states or parameters"
    return None


def says(model, origin):
    """What the program of a model has, as JSON: about.py"""
    return about(origin, prefix(model), kinds(model), [], start=start_limit.data(model))


class Routines(Writer):
    """Routines instead of functions in C: {product: list of routines} in Map.callbacks"""

    def _function(self, m, product, name, targets, begin="", register=True):
        m.callbacks[product] = [Routine(self.g, targets)]

    def _alone(self, m, product, name, states, everything):
        """The routine for directions in states alone is a bit set of the others and the routine"""
        others = sum(SPACE[s] for s in dict.fromkeys(s for _, s in m.alone[product]))
        m.callbacks[product] = [Routine(self.g, everything), others, Routine(self.g, states)]

    def _loop(self, m, product, given, inside):
        m.callbacks[product] = [Routine(self.g, inside, given)]

    def _zeros(self, m, product):
        zero = self.g.c(0)
        m.callbacks[product] = [Routine(self.g, [Target(f"out[{k}]", "=", zero) for k in range(len(m.nodes))])]

    def _nothing(self, m, product):
        m.callbacks[product] = [Routine(self.g, [])]


class Program:
    def __init__(self, model):
        self.model, self.g = model, model.graph
        self.writer = Routines(model, Names(model, ()))
        self.doubles, self.words, self.numbers = [], [], []

    def bytes(self):
        m = self.model
        f = m.kinetics()
        self.words += [len(m.states), len(m.parameters), len(m.costs), len(m.memory), len(m.outputs), m.implicit,
                       len(m.events), len(m.relations), len(m.stops)]
        self.map(f)
        self.map(m.cost_nodes if formulas.has_costs(m) else None)
        self.map(formulas.start(m))
        self.map(m.output_nodes if m.outputs else None, apart=True)
        self.jacobians(f)
        orders = [q.order for q in m.states]
        self.words += [1, *orders] if any(orders) else [0]
        for e in m.events:
            self.event(e)
        for r in m.relations:
            self.words.append(KINDS.index(r.kind))
            self.map([r.guard])
        self.doubles += [*m.stops, *formulas.defaults(m)]
        return self.packed()

    def packed(self):
        body = struct.pack(f"={len(self.doubles)}d{len(self.words)}i{len(self.numbers)}H", *self.doubles,
                           *map(int, self.words), *self.numbers)
        return struct.pack("=6I", MAGIC, VERSION, len(self.doubles), len(self.words), len(self.numbers),
                           zlib.crc32(body)) + body

    # ---- maps ----

    def map(self, nodes, apart=False):
        if nodes is None:
            self.words.append(0)
            return
        m = self.writer.map("", nodes, "", apart=apart)
        self.words.append(len(nodes))
        for product in PRODUCTS:
            self.product(m.callbacks.get(product), product in BACKWARD)

    def product(self, routines, backward):
        """None; [routine]; or [routine, other spaces of directions, routine for states alone]"""
        if not routines:
            self.words.append(0)
            return
        self.words.append(1 if len(routines) == 1 else 2)
        self.routine(routines[0], backward)
        if len(routines) > 1:
            self.words.append(routines[1])
            self.routine(routines[2], backward)

    def routine(self, r, backward):
        self.words += [r.registers, len(r.constants)]
        self.doubles += r.constants
        for loads in r.loads:
            self.words.append(len(loads))
            for load in loads:
                self.words += load
        self.words += [len(r.code), len(r.parts)]
        self.numbers += r.code
        for guard, code, results, products in r.parts:
            self.words += [guard, len(code), len(results), len(products)]
            self.numbers += code
            for index, register in results if backward else sorted(results):
                self.numbers += [index, register] if backward else [register]
            for product in products:
                self.numbers += product

    def jacobians(self, f):
        m, n = self.model, len(self.model.states)
        if formulas.only_products(m, f):
            self.words += [n * n, 2, 0]
            self.elimination(elimination_of(m, [(i, j) for j in range(n) for i in range(n)], ""))
            return
        parts = formulas.jacobians(m, f)
        pattern = formulas.by_columns({k for e in parts.values() for k in e} | set(m.mass))
        dense = len(pattern) == n * n
        self.words += [len(pattern), not dense]
        if not dense:
            columns, rows = compressed(n, pattern)
            self.words += columns + rows
        for entries in parts.values():
            zero = self.g.c(0)
            self.routine(Routine(self.g, [Target(f"J[{i}]", "=", entries.get(k, zero))
                                          for i, k in enumerate(pattern)]), False)
        place = {k: i for i, k in enumerate(pattern)}
        mass = sorted((place[k], value) for k, value in m.mass.items())
        self.words += [len(mass), *(k for k, _ in mass)]
        self.doubles += [value for _, value in mass]
        self.elimination(elimination_of(m, pattern, ""))

    def elimination(self, e):
        """The linear solver of the model"""
        if e is None:
            self.words.append(0)
            return
        columns, rows = compressed(e.plan.n, e.plan.pattern)
        self.words += [len(e.order), len(rows), *columns, *rows]
        for r, c, place, terms in e.factor_steps():
            self.words += [-1 if r < c else e.number[c, c], -1 if place is None else place]
            self.terms(terms)
        for transposed in (False, True):
            for steps in e.solve_steps(transposed):
                for k, x, terms in steps:
                    self.words += [k, x, e.number[k, k]]
                    self.terms(terms)

    def terms(self, pairs):
        self.words.append(len(pairs))
        for pair in pairs:
            self.words += pair

    def event(self, e):
        m = self.model
        self.words += [len(e.times), e.direction, e.active, SAME_MODE if e.mode is None else e.mode, e.terminal,
                       e.passes, e.slopes, e.at_start]
        self.doubles += e.times
        self.map(None if e.guard is None else [e.guard])
        self.map(formulas.after(m, e) if e.jumps else None)
        self.map(formulas.added(m, e) if e.costs else None)
