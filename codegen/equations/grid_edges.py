"""Functions for the cells that are listed because they are near boundaries.

The neighbourhood of such a cell is copied to a patch, with the values that stand outside of the grid; the function of a
cell works on the patch, and what it wrote is added or copied back."""
from dataclasses import dataclass, field

from .functions import DIRECTIONS, INPUTS, SIGNATURES, returned, words
from .grid_cell import NOT_COPIED
from .names import listed

CALLBACKS = SIGNATURES | {"jac": ("const costate_point *x", "double *J")}
OUTSIDE = {"y": "outside", "dy": "d_outside", "ey": "e_outside", "dey": "de_outside"}     # values there, by array


@dataclass
class Edge:
    """A function for some of the cells listed: those from `first` to `last`"""
    name: str
    product: str
    cell: object
    after: list                              # statements for each cell, after the function of the cell
    first: str = "0"
    last: str = "G->edges"
    spaces: tuple = INPUTS                   # what directions have
    inside: bool = False                     # whether all neighbours are in the grid
    bars: bool = False                       # whether values outside have weights, which are summed
    before: list = field(default_factory=list)   # and those of lower derivatives
    sums: bool = False                       # whether gradients are summed over cells
    begin: str = ""                          # statements before the cells


def arguments(product):
    """The names of what a callback takes, without ctx"""
    return words(CALLBACKS[product])[:-1]


def low(q):
    """The array of a derivative below the one at hand"""
    return f"{q}_low".lstrip("_")


class Printer:
    """Prints functions; products: what depends on values outside"""

    def __init__(self, grid, products):
        self.grid, self.products = grid, products

    # ---- any function ----

    def function(self, name, arguments_, lines, begin="", before=""):
        if "G->" in lines or "(G, " in lines or "(G)" in lines:
            lines = f"    const {self.grid.name}_grid *const G = ctx;\n" + lines
        whole = begin + lines
        start = f"{before}static int {name}("
        head = "\n".join(listed(start, [*arguments_, "void *ctx"], ")", len(start)))
        return head + "\n{\n" + whole + returned(arguments_, whole) + "}\n"

    def prelude(self, cell, product):
        return self.declare(cell.reads + cell.writes) + self.numbers(cell, product)

    def declare(self, arrays):
        lines = ""
        for a in arrays:
            source, kind = self._source(a), "" if a == "gy" or self.grid.is_gradient(a) else "const "
            lines += f"    {kind}double *const {a} = {source};\n" if source else ""
        return lines

    def _source(self, array):
        """Where an array begins: in the point, a direction or the gradient; None: it is an argument"""
        if array in ("y", "gy"):
            return "x->y" if array == "y" else "g->y"
        if array in ("dy", "ey"):
            return f"{array[0]}x->y ? {array[0]}x->y : G->zeros"
        if array not in self.grid.arrays.values():
            return None
        side, place = self.grid.parameter_array(array)
        point = {"p": "x", "dp": "dx", "ep": "ex", "gp": "g"}[side]
        at = f"{point}->p{place}"
        return at if side == "p" else f"{point}->p ? {at} : {'NULL' if side == 'gp' else 'G->zeros'}"

    def numbers(self, cell, product):
        if not cell.uses_numbers:
            return ""
        points = [f"{q}x" for q in DIRECTIONS.get(product, "")]
        return f"    const numbers p = numbers_at({', '.join(['G', 'x', *points, 'NULL', 'NULL'][:4])});\n"

    # ---- near boundaries ----

    def edge(self, e):
        cell, product = e.cell, e.product
        copied = [w for w in cell.writes if w not in NOT_COPIED]
        lines = self.declare([a for a in cell.reads + cell.writes if a not in ("y", "gy")])
        lines += self.numbers(cell, product) + self._outside(e)
        patches = [f"near_{a}[{self._length(a)}]" for a in cell.reads + copied]
        lines += "\n".join(listed("    double ", patches, ";", 8)) + "\n" if patches else ""
        lines += e.begin + f"    for (int m = {e.first}; m < {e.last}; m++) {{\n"
        lines += "".join(f"        {self._fill(e, a)}\n" for a in cell.reads)
        lines += "".join(f"        memset(near_{a}, 0, sizeof near_{a});\n" for a in copied if a not in ("out", "J"))
        lines += cell.call(near=True) + "".join(f"        {line}\n" for line in e.after) + "    }\n"
        lines += self._back_outside(e) if e.bars else ""
        return self.function(e.name, [*CALLBACKS[product], *["double *sum"] * e.sums], lines, before="APART ")

    def _length(self, array):
        """Of what is copied of an array"""
        fields = "FIELDS*" * (self.grid.nf > 1 and array not in self.grid.arrays.values())
        return "ENTRIES" if array == "J" else fields + "PATCH"

    def _fill(self, e, array):
        if array in self.grid.arrays.values():
            return f"read_parameter(G, m, {array}, near_{array});"
        if array == "w" and not e.cell.reaches("w"):
            return "read_own(G, m, w, near_w);"
        source = {"y": "x->y", "dey": "G->zeros"}.get(array, array)
        outside = "NULL" if e.inside else OUTSIDE[array]
        return f"read_near(G, m, {source}{', ' + outside if self.grid.has_outside else ''}, near_{array});"

    def _outside(self, e):
        """Values outside of the grid, and sums of their weights"""
        used = [a for a in OUTSIDE if a in e.cell.reads and self.grid.has_outside and not e.inside]
        names = [OUTSIDE[a] for a in used] + ["bar"] * e.bars + [low(q) + "_bar" for q in e.before]
        if not names:
            return ""
        count = 1 + len(self.grid.outside)
        lines = "\n".join(listed("    double ", [f"{n}[{count}] = {{0}}" for n in names], ";", 8)) + "\n"
        if self.grid.outside and "y" in used:
            lines += "    outside_value(x, outside + 1, ctx);\n"
        if self.products.active and e.spaces == INPUTS:
            for q in [a[0] for a in used if a in ("dy", "ey")]:
                lines += f"    outside_tangent(x, {q}x, {q}_outside + 1, ctx);\n"
            lines += "    outside_tangent2(x, dx, ex, de_outside + 1, ctx);\n" if "dey" in used else ""
        return lines

    @staticmethod
    def _back_outside(e):
        """Weights of values outside go to what these depend on: the derivatives of a composition"""
        lines = "    outside_adjoint(x, bar + 1, g, ctx);\n"
        if e.before == [""]:
            lines += "    outside_adjoint_tangent(x, dx, low_bar + 1, g, ctx);\n"
        if len(e.before) == 3:
            lines += "    outside_adjoint_tangent(x, ex, d_low_bar + 1, g, ctx);\n" \
                "    outside_adjoint_tangent(x, dx, e_low_bar + 1, g, ctx);\n" \
                "    outside_adjoint_tangent2(x, dx, ex, low_bar + 1, g, ctx);\n"
        return lines
