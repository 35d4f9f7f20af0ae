"""What the page that computes knows of functions and byte code, from the tables of codegen.

A derivative is an expression in the arguments "x" and "y" of a function and in its value "a": a number, a name, or
[kind, ...] as the key of a node (codegen/equations/nodes.py)."""
from codegen.equations.byte_code import MAGIC, PRODUCTS, VERSION
from codegen.equations.declare import RESERVED
from codegen.equations.graph import Graph
from codegen.equations.nodes import (BELL, CIRCLE, COSINE, COST_OF_A_FUNCTION, COSTS, COSTS_OF_FUNCTIONS, FUNCTIONS,
                                     FUNCTIONS_OF_TWO, LEAVES, MOST_FACTORS, STEPS, WITH_HEAD)
from codegen.equations.operations import NUMBER
from codegen.equations.routine import GUARDS, SPACES
from codegen.equations.scope import ALIASES, CONSTANTS, WRITTEN_OUT
from codegen.equations.syntax import AFTER

WITH_KINKS = {*STEPS, "fabs"}                     # relations or branches of a compiled model


def table():
    one = {*FUNCTIONS, CIRCLE, BELL} - WITH_KINKS
    two = {*FUNCTIONS_OF_TWO, COSINE}
    aliases = [name for name, of in ALIASES.items() if of in WITH_KINKS]
    return {
        "operations": NUMBER, "spaces": SPACES, "guards": [key and key.replace("->", "") for key in GUARDS],
        "products": PRODUCTS, "magic": MAGIC, "version": VERSION, "mostFactors": MOST_FACTORS,
        "costs": {**COSTS, **{f"f {name}": cost for name, cost in COSTS_OF_FUNCTIONS.items()}},
        "costOfFunction": COST_OF_A_FUNCTION, "reserved": sorted(RESERVED), "after": sorted(AFTER), "aliases": ALIASES,
        "withKinks": sorted({*WITH_KINKS, *aliases, "min", "max", "if", "piecewise", *WRITTEN_OUT} - {"pow"}),
        "constants": CONSTANTS,
        "derivatives": {**{name: derivatives("f", name) for name in sorted(one)},
                        **{name: derivatives("g", name) for name in sorted(two)},
                        "pow": derivatives("pow")},
        "writtenOut": {**{name: written_out("f", name) for name in (CIRCLE, BELL)},
                       COSINE: written_out("g", COSINE)},
    }


def built(graph, kind, name):
    """a function of x and y, or x alone"""
    x, y = graph.v("x"), graph.v("y")
    return {"f": lambda: graph.f(name, x), "g": lambda: graph.g(name, x, y), "pow": lambda: graph.pow(x, y)}[kind]()


def derivatives(kind, name=None):
    """With respect to each argument"""
    graph = Graph()
    a = built(graph, kind, name)
    return [expression(graph, slope, a) for _, slope in graph.partials(a)]


def written_out(kind, name):
    """A part of derivatives, by operations of byte code"""
    graph = Graph()
    return expression(graph, graph.printable([built(graph, kind, name)])[0])


def expression(graph, a, value=None):
    key = graph.nodes[a]
    if a == value:
        return "a"
    if key[0] in LEAVES:
        return key[1]
    head = 2 if key[0] in WITH_HEAD else 1
    return [*key[:head], *(expression(graph, b, value) for b in graph.children(a))]
