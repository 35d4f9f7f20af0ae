"""The splitting of a model on a grid: which entries of the Jacobian belong to which of its parts.

The parts are matrices that depend on parameters only, as costate/operators.h requires: along each axis the entries that
couple cells, as tridiagonal lines, and what is local.  With a coupling a(o) of a cell with the one at the offsets o,

    part of an axis:   a(o) at the neighbour, -a(o) at the cell itself, for all o along this axis
    local:             f_y(o = 0) + sum of all a(o), if that depends on parameters only; otherwise it is left out

so that the parts of diffusion have the sums of rows that one dimension has, and the sum of all parts is f_y where f is
linear.  What is local is in the first part.  If other states of the same cell belong to it, it is a part of blocks,
where f is linear: a solve with blocks takes four times as long as one along lines, which a reaction that is not stiff
is not worth.  One axis needs no splitting: if lines do not hold its entries, one matrix does."""
from dataclasses import dataclass

from . import grid_splitting_text as text
from .body import Body, Target
from .names import listed

NOT_IN_PARTS = ("y", "t", "mode")            # what an operator must not depend on
LINES, MATRIX, BLOCKS = "lines", "matrix", "blocks"


class NoSplitting(Exception):
    """Why there is none, as a sentence without its beginning"""


@dataclass
class Entry:
    """node times the unknown `column` at these offsets, in the equation `row`; balanced: and minus it, at the cell"""
    part: int
    row: int
    column: int
    offsets: tuple
    node: int
    balanced: bool

    @property
    def side(self):
        return (sum(self.offsets) > 0) - (sum(self.offsets) < 0)


class Splitting:
    """reason: why there is none, or None; parts: of each one (LINES, axis), (MATRIX, None) or (BLOCKS, None)"""

    def __init__(self, grid, entries, has_jacobian):
        self.grid, self.g, self.model = grid, grid.g, grid.model
        self.parts, self.entries, self.reason = [], [], None
        try:
            self._split(entries, has_jacobian)
        except NoSplitting as fault:
            self.parts, self.entries, self.reason = [], [], str(fault)

    def has(self, *kinds):
        return any(kind in kinds for kind, _ in self.parts)

    # ---- which entries are in which part ----

    def _split(self, entries, has_jacobian):
        if self.model.mass:
            raise NoSplitting("it has constraints")
        if not has_jacobian:
            raise NoSplitting("a function in C has no derivatives")
        here = self.grid.here
        between = [(e, k, a) for e, k, a in entries if k[3] != here]
        if not between:
            raise NoSplitting("its cells are not coupled")
        for e, k, a in between:
            found = self.g.variables([a], *NOT_IN_PARTS)
            if found:
                raise NoSplitting(f"the coupling of cells in the equation of {self.model.states[e].name} depends on "
                                  + {"y": "states", "t": "t", "mode": "the mode"}[found[0][1]])
        whole = {(e, k[2]): a for e, k, a in entries if k[3] == here}
        tridiagonal = [self._along(e, k) for e, k, _ in between]
        local = self._local(whole, between)
        if self.g.variables([a for _, _, a in entries], *NOT_IN_PARTS):      # not linear
            local = {pair: a for pair, a in local.items() if pair[0] == pair[1]}
        if self.grid.axes == 1 and (None in tridiagonal or any(e != f for e, f in local)):
            self._one_matrix(whole, between)
        else:
            self._refuse_others(between, tridiagonal)
            self._lines(between, tridiagonal, local)

    def _along(self, e, key):
        """The axis whose lines hold this entry, or None"""
        axes = [a for a, o in enumerate(key[3]) if o]
        return axes[0] if key[2] == e and len(axes) == 1 and abs(key[3][axes[0]]) == 1 else None

    def _local(self, whole, between):
        """{(equation, state): node} of what is local and depends on parameters only"""
        g, out = self.g, {}
        pairs = dict.fromkeys([*whole, *((e, k[2]) for e, k, _ in between)])
        for pair in pairs:
            a = whole.get(pair, g.c(0))
            if g.variables([a], *NOT_IN_PARTS):
                continue
            rest = g.total([a, *(b for e, k, b in between if (e, k[2]) == pair)])
            if not g.is_zero(rest):
                out[pair] = rest
        return out

    def _refuse_others(self, between, tridiagonal):
        for (e, k, _), axis in zip(between, tridiagonal):
            if axis is None:
                name, other = self.model.states[e].name, self.model.states[k[2]].name
                where = "".join(f"{i}{o:+d}," if o else f"{i}," for i, o in zip(
                    (axis.name for axis in self.model.axes), k[3]))[:-1]
                raise NoSplitting(f"the equation of {name} reads {other}[{where}], which lines of neighbours with the "
                                  "same state do not hold")

    def _lines(self, between, tridiagonal, local):
        here, axes = self.grid.here, sorted(set(tridiagonal))
        self.parts = [(LINES, a) for a in axes]
        self.entries = [Entry(axes.index(axis), e, k[2], k[3], a, True) for (e, k, a), axis in
                        zip(between, tridiagonal)]
        blocks = any(e != f for e, f in local)
        self.parts += [(BLOCKS, None)] * blocks
        place = len(axes) if blocks else 0
        self.entries += [Entry(place, e, f, here, a, False) for (e, f), a in local.items()]
        self.entries.sort(key=lambda x: x.part)

    def _one_matrix(self, whole, between):
        """Entries as in the Jacobian; balanced are those beside what depends on states"""
        here, known = self.grid.here, {p for p, a in whole.items() if not self.g.variables([a], *NOT_IN_PARTS)}
        self.parts = [(MATRIX, None)]
        self.entries = [Entry(0, e, f, here, a, False) for (e, f), a in whole.items() if (e, f) in known]
        self.entries += [Entry(0, e, k[2], k[3], a, (e, k[2]) in whole and (e, k[2]) not in known)
                         for e, k, a in between]

    # ---- C ----

    def constants(self):
        if not self.parts:
            return ""
        return f"    COUPLINGS = {len(self.entries)},".ljust(24) + "/* entries of the splitting, a cell */\n" \
            f"    PARTS = {len(self.parts)},".ljust(24) + "/* of it */\n"

    def functions(self):
        """The callbacks, and what NAME_new calls"""
        grid = self.grid
        out = self._table() + self._values() + text.PUT_LINE * self.has(LINES)
        out += text.PUT_ENTRY * self.has(MATRIX, BLOCKS) + text.FORM
        for k, (kind, _) in enumerate(self.parts):
            template = text.LINES if kind == LINES else text.MATRIX
            out += template.replace("@PART", str(k)).replace("@PATTERN", pattern_of(kind))
        out += text.NEW_BLOCKS * self.has(BLOCKS) + self._set_parts() + text.PARTS
        for word, by in (("@ROW", grid.place_in_y("coupling[l].row", "cell")),
                         ("@OWN", grid.place_in_y("coupling[l].column", "cell")),
                         ("@COLUMN", grid.place_in_y("coupling[l].column", "there")),
                         ("@CELL_OF_C", grid.cell_of("c")), ("@STATE", grid.place_in_y("f", "cell"))):
            out = out.replace(word, by)
        return out

    def _table(self):
        rows = []
        for x in self.entries:
            offsets = ", ".join(str(o) for o in x.offsets)
            rows.append(f"{{{x.part}, {x.row}, {x.column}, {x.side}, {int(x.balanced)}, {{{offsets}}}}}")
        return text.TABLE + "\n".join(listed("    ", rows, "", 4)) + "\n};\n\n"

    def _values(self):
        grid, names = self.grid, {}
        nodes = [x.node for x in self.entries]
        lines = ""
        for key in grid.g.variables(nodes, "p"):
            names[key] = grid.local(key) if key[3] else f"p[{grid.place[key[2]]}]"
            lines += self._load(key) if key[3] else ""
        for key in grid.g.variables(nodes, "axis", "size"):
            names[key] = f"(double)at[{key[2]}]" if key[1] == "axis" else \
                f"(double)G->size.{list(grid.sizes.values())[key[2]]}"
        targets = [Target(f"value[{n}]", "=", a) for n, a in enumerate(nodes)]
        return text.VALUES + lines + Body(grid.g, targets, lambda key: names[key]).text() + "\n}\n\n"

    def _load(self, key):
        """A parameter that is a field, of the cell or of a neighbour"""
        grid, before, k = self.grid, len(self.grid.scalars), self.grid.place[key[2]]
        first = "".join([f"{before} + "] * bool(before) + [f"{k}*G->cells + " if k > 1 else "G->cells + "] * bool(k))
        if key[3] == grid.here:
            cell = "cell"
        else:
            cell = f"image_at(G, FIELDS, at, (const signed char[]){{{', '.join(str(o) for o in key[3])}}})"
        return f"    const double {grid.local(key)} = p[{first}{cell}];\n"

    def _set_parts(self):
        """Assignments of NAME_new"""
        out = ""
        for k, (kind, axis) in enumerate(self.parts):
            out += f"    G->part[{k}] = "
            if kind == LINES:
                stride = "*".join(["FIELDS"] * (self.grid.nf > 1 and not self.grid.strided)
                                  + [f"G->n[{a}]" for a in range(axis + 1, self.grid.axes)]) or "1"
                out += f"(costate_part){{.lines = lines_{k}, .points = G->n[{axis}], .stride = {stride}" + \
                    ", .periodic = 1" * self.grid.periodic[axis] + "};\n"
            else:
                out += f"(costate_part){{.matrix = matrix_{k}, .pattern = &G->{pattern_of(kind)}}};\n"
        return text.SET_PARTS + out + "}\n\n"

    def members(self):
        """Of the struct of the grid"""
        return text.MEMBERS * bool(self.parts) + text.BLOCK_MEMBERS * self.has(BLOCKS)


def pattern_of(kind):
    """The member of the grid that is the pattern of a part"""
    return "blocks" if kind == BLOCKS else "pattern"
