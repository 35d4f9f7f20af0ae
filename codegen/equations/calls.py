"""Functions that are written in C, as nodes of a graph: their values and derivatives at given arguments.

    call (name, places) x ...    the derivative of function `name` with respect to the arguments at these places, which
                                 do not decrease; without places the value
    jet (name, orders) x ...     an array, which printers put in the place of calls with the same arguments: the value
                                 and the derivatives of these orders, each with all its k, k^2 or k^3 elements

One call in C computes a jet.  The derivative of a call is a sum of calls with one place more (the chain rule), also
where the function has none of that order: `lacking` tells, and what needs it is not printed."""
import os
from dataclasses import dataclass
from pathlib import Path

MOST_ORDERS = 3                              # of derivatives: what products need
ORDERS = ("value", "gradient", "hessian", "third")
COST_OF_A_CALL = 100                         # additions: property libraries take tens to thousands


@dataclass
class Function:
    """NAME(x) of `count` arguments with derivatives up to `orders`; word: its name in C; file: where that is, as the
    equation file has it, and path: from here; None: a function of the program, NAME of the model before its name"""
    name: str
    arguments: list
    orders: int
    word: str
    file: str = None
    path: object = None
    place: int = 0                           # of the declaration

    @property
    def count(self):
        return len(self.arguments)

    def seen_from(self, folder):
        """file: relative to the folder of the C file that includes it; .. of a link is that of what it leads to"""
        if self.file and not Path(self.file).is_absolute():
            self.file = Path(os.path.relpath(self.path.resolve(), folder.resolve())).as_posix()

    def derivatives(self):
        """in words"""
        return ("no derivatives", "first derivatives", "first and second derivatives",
                "first, second and third derivatives")[self.orders]


class Calls:
    """Part of Nodes."""

    def call(self, head, *arguments):
        return self.node("call", head, *arguments)

    def jet(self, head, *arguments):
        return self.node("jet", head, *arguments)

    def partials_of_call(self, a):
        _, (name, places), *arguments = self.nodes[a]
        return [(b, self.call((name, tuple(sorted((*places, k)))), *arguments)) for k, b in enumerate(arguments)]

    def lacking(self, roots):
        """[name] of the functions whose derivatives below roots are of a higher order than they have"""
        if not self.functions:
            return []
        found = {self.nodes[a][1] for a in self.order(roots) if self.nodes[a][0] == "call"}
        return sorted({name for name, places in found if len(places) > self.functions[name].orders})

    def called(self, roots):
        """[name] of the functions below roots"""
        return sorted({self.nodes[a][1][0] for a in self.order(roots) if self.nodes[a][0] in ("call", "jet")})

    # ---- for printers ----

    def with_jets(self, roots):
        """roots with elements of jets in the place of calls"""
        if not self.functions:
            return roots
        orders, order = {}, self.order(roots)
        for a in order:
            if self.nodes[a][0] == "call":
                _, (name, places), *arguments = self.nodes[a]
                orders.setdefault((name, *arguments), set()).add(len(places))
        m = {}
        for a in order:
            key, below = self.nodes[a], tuple(m[b] for b in self.under[a])
            if key[0] == "call":
                found = tuple(sorted(orders[key[1][0], *key[2:]]))
                m[a] = self.el(self.place_in_jet(found, key[1][1], len(below)), self.jet((key[1][0], found), *below))
            else:
                m[a] = a if below == tuple(self.under[a]) else self.again(a, below)
        return [m[r] for r in roots]

    @staticmethod
    def place_in_jet(orders, places, count):
        """The element of a jet of these orders; the last place changes fastest"""
        at = 0
        for k in places:
            at = at*count + k
        return at + sum(count**order for order in orders if order < len(places))

    def is_jet(self, a):
        return self.nodes[a][0] == "jet"

    def is_of_jet(self, a):
        """an element of one"""
        return self.nodes[a][0] == "el" and self.is_jet(self.nodes[a][2])

    def length_of_jet(self, a):
        _, (_, orders), *arguments = self.nodes[a]
        return sum(len(arguments)**order for order in orders)
