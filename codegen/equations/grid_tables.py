"""Tables and small functions in C for a model on a grid: neighbours, boundaries, what is the same for all cells."""
import math
import re

from . import grid_text as text
from .body import Body, Target
from .grid import INDICES, offset_word
from .names import listed

ENDS = {-1: "PERIODIC", -2: "WALL"}


class Tables:
    """maps: the Functions of the file; entries: those of the Jacobian, whose function may be missing"""

    def __init__(self, grid, maps, entries, has_jacobian):
        self.grid, self.entries, self.has_jacobian = grid, entries, has_jacobian
        own = {("v", "y", f, grid.here) for f in range(grid.nf)}
        self.states = sorted(own.union(*(m.loads for m in maps)))
        self.parameters = sorted(({grid.here} if grid.fields else set()).union(*(m.parameter_loads for m in maps)))
        self.rim = 2 if any(m.spread for m in maps) else 1
        offsets = [k[3] for k in self.states] + self.parameters
        self.reach = [max(abs(o[a]) for o in offsets) for a in range(grid.axes)]
        self.patch = [2 * r + 1 for r in self.reach]
        self.middle = self.patch_cell(grid.here)

    def patch_cell(self, offsets):
        """The cell of a patch at these offsets from its middle"""
        cell = 0
        for n, o in zip(self.patch, offsets):
            cell = cell * n + (n - 1) // 2 + o
        return cell

    def spot(self, field, offsets):
        """Where a patch has a state"""
        cell = self.patch_cell(offsets)
        return field * math.prod(self.patch) + cell if self.grid.strided else self.grid.nf * cell + field

    def least(self):
        """Of the size of each axis: a periodic one must not map two neighbours to one cell, a wall mirrors them"""
        nodes = [a for f in self.grid.F for a in f]
        offsets = [self.grid.here] + [k[3] for k in self.grid.g.variables(nodes) if k[3]]
        out = []
        for a in range(self.grid.axes):
            low, high = -min(o[a] for o in offsets), max(o[a] for o in offsets)
            out.append(low + high + 1 if self.grid.periodic[a] else max(low, high, 1))
        return out

    # ---- tables ----

    def constants(self, more=""):
        numbers = [("AXES", self.grid.axes, "of the grid"), ("FIELDS", self.grid.nf, "states of a cell"),
                   ("STATE_LOADS", len(self.states), "states of a cell and its neighbours that are read"),
                   ("LOADS", len(self.states) + len(self.parameters), "the same with parameters"),
                   ("ENTRIES", len(self.entries), "of the Jacobian, a cell"),
                   ("PATCH", math.prod(self.patch), "cells of a neighbourhood"),
                   ("CENTRE", self.middle % self.patch[-1], "its middle, in a row"), ("INTERIOR", 5, "see kind_of")]
        lines = [f"    {name} = {value},".ljust(24) + f"/* {remark} */\n" for name, value, remark in numbers]
        return "enum {\n" + "".join(lines) + more + "    PERIODIC = -1, WALL = -2\n};\n\n"

    def tables(self):
        grid = self.grid
        listing = lambda values: "{" + ", ".join(str(v) for v in values) + "}"             # noqa: E731
        out = "static const int reach[AXES] = " + listing(self.reach) + ", least[AXES] = " + listing(self.least()) + \
            ", is_periodic[AXES] = " + listing(int(p) for p in grid.periodic) + ";\n\n"
        ends = ["    {" + ", ".join(listing(ENDS.get(code, code) for code in both) for both in field) + "}"
                for field in grid.ends]
        out += text.ENDS + ",\n".join(ends) + "\n};\n\n"
        rows = [(k[2], self.spot(k[2], k[3]), listing(k[3])) for k in self.states]
        rows += [(grid.nf, self.patch_cell(o), listing(o)) for o in self.parameters]
        out += self._table("static const struct { int field, spot; signed char offset[AXES]; } load[LOADS] = {\n", rows)
        rows = [(e, k[2], listing(k[3])) for e, k, _ in self.entries]
        out += self._table("static const struct { int row, column; signed char offset[AXES]; } entry[ENTRIES] = {\n",
                           rows)
        order = listed("static const int in_order[ENTRIES] = {", [str(k) for k in range(len(rows))], "};", 4)
        return out + ("\n".join(order) + "\n\n")*self.has_jacobian

    @staticmethod
    def _table(head, rows):
        rows = ["{" + ", ".join(str(x) for x in row) + "}" for row in rows]
        return head + "\n".join(listed("    ", rows, "", 4)) + "\n};\n\n"

    # ---- what is the same for all cells ----

    def numbers(self):
        """The struct of parameters, sizes and times, and the function that fills it"""
        grid = self.grid
        for a in grid.once:                                  # they may use others, which then are members, too
            for k in grid.g.variables([a]):
                grid.member(k)
        if not grid.numbers:
            return ""
        keys = sorted(grid.numbers, key=lambda k: (k[1] == "once", k[1], k[2]))
        doubles = [grid.numbers[k] for k in keys if k[1] != "mode"]
        out = text.NUMBERS + "\n".join(listed("    double ", doubles, ";", 8)) + "\n" * bool(doubles)
        out += "    int mode;\n" * any(k[1] == "mode" for k in keys) + "} numbers;\n\n" + text.NUMBERS_AT
        for space in dict.fromkeys(k[1] for k in keys):
            out += self._set([k for k in keys if k[1] == space], space)
        once = [Target(f"p.{grid.numbers[k]}", "=", grid.once[k[2]]) for k in keys if k[1] == "once"]
        out += Body(grid.g, once, grid.variable).text() + "\n" if once else ""
        return out + "    return p;\n}\n\n"

    def _set(self, keys, space):
        """Assignments of the numbers of one space"""
        grid, d = self.grid, space[0]
        if space == "once":
            return ""
        if space == "size":
            sources = [f"G->size.{list(grid.sizes.values())[k[2]]}" for k in keys]
        else:
            point = "x" if space in ("p", "t", "mode") else f"{d}x"
            member = {"mode": "mode", "p": "p"}.get(space[-1] if space != "mode" else "mode", "t")
            sources = [f"{point}->{member}" + (f"[{grid.place[k[2]]}]" if member == "p" else "") for k in keys]
        lines = [f"p.{grid.numbers[k]} = {source};" for k, source in zip(keys, sources)]
        if space in ("size", "p", "t", "mode"):
            return "".join(f"    {line}\n" for line in lines)
        condition = f"{d}x" if space in ("dt", "et") else f"{d}x && {d}x->p"
        if len(lines) == 1:
            return f"    if ({condition}) {lines[0]}\n"
        return f"    if ({condition}) {{\n" + "".join(f"        {line}\n" for line in lines) + "    }\n"

    # ---- rows ----

    def rows(self):
        grid = self.grid
        if not grid.needs_rows():
            return ""
        names = [offset_word(o) for o in sorted(grid.rows)] * (grid.axes > 1)
        values = [f".{offset_word(o)} = {self._row(o)}" for o in sorted(grid.rows)] * (grid.axes > 1)
        patch = [f".{offset_word(o)} = {self.patch_cell((*o, 0)) - self.middle % self.patch[-1]}"
                 for o in sorted(grid.rows)] * (grid.axes > 1)
        if grid.strided:
            names, values = names + ["field"], values + [".field = G->cells"]
            patch.append(f".field = {math.prod(self.patch)}")
        remark = "where rows begin, by their offsets: m1 is the row before" * (grid.axes > 1)
        remark += ("; " * bool(remark) + "field: from one state to the next") * grid.strided
        arguments = ", ".join(["const @NAME_grid *G"] + ["int " + i for i in INDICES[:grid.axes - 1]])
        head = f"INLINE rows rows_at({arguments})\n{{\n"
        return f"/* {remark} */\ntypedef struct {{ int {', '.join(names)}; }} rows;\n" \
            + "\n".join(listed("static const rows patch = {", patch, "};", 4)) + "\n\n" \
            + head + "\n".join(listed("    return (rows){", values, "};", 8)) + "\n}\n\n"

    def _row(self, offsets):
        out = ""
        for a, o in enumerate(offsets):
            i = INDICES[a] if o == 0 else f"{INDICES[a]} {'-' if o < 0 else '+'} {abs(o)}"
            if o and self.grid.periodic[a]:
                i = f"wrapped({i}, G->n[{a}])"
            out = f"({out}*G->n[{a}] + {i})" if out else i if o == 0 or "(" in i else f"({i})"
        return f"{out}*G->n[{self.grid.axes - 1}]"

    # ---- functions for neighbourhoods ----

    def near(self, body):
        """Those that the body calls"""
        name = lambda t: re.search(r"\bstatic (?:int|void) (\w+)\(", t).group(1)           # noqa: E731
        return "".join(self._filled(t) for t in text.NEAR if name(t) + "(" in body)

    def _filled(self, template):
        grid = self.grid
        spot = self.middle if grid.nf == 1 else f"FIELDS*{self.middle} + f"
        spot = f"f*PATCH + {self.middle}" if grid.strided else spot
        read = f"y[{grid.place_in_y('load[l].field', 'c')}]"
        for word, by in (("@OUTSIDE", "const double *outside, " * grid.has_outside), ("@SPOT", str(spot)),
                         ("@READ", read),
                         ("@OWN", grid.place_in_y("f", "G->cell[m]")), ("@AT", grid.place_in_y("load[l].field", "c"))):
            template = template.replace(word, by)
        if grid.nf == 1:
            template = template.replace("for (int f = 0; f < FIELDS; f++) ", "")
        begin, end = ("@IF", "@ELSE"), ("@ELSE", "@END")
        while "@IF" in template:
            keep, drop = (begin, end) if grid.has_outside else (end, begin)
            first = template[template.index(keep[0]) + len(keep[0]):template.index(keep[1])]
            template = template[:template.index("@IF")] + first + template[template.index("@END") + 4:]
        return template
