"""The functions of a model on a grid that its user calls: NAME_new, NAME_start, NAME_defaults, NAME_index."""
from . import grid_new_text as text
from .body import Body, Target, constant
from .grid import INDICES
from .grid_splitting import BLOCKS
from .names import listed


class Object:
    """rhs, cost, start: the Functions of the maps; None: there are no running costs or initial values; splitting: the
    Splitting"""

    def __init__(self, grid, rhs, cost, start, splitting):
        self.grid, self.model, self.g, self.rhs, self.cost, self.start = grid, grid.model, grid.g, rhs, cost, start
        self.splitting = splitting
        self.indices = "".join(f", {i}" for i in INDICES[:grid.axes])
        self.arguments = "".join(f", int {i}" for i in INDICES[:grid.axes])
        self.has_index = any(q.order for q in self.model.states)

    # ---- the pattern, and @NAME_new ----

    def pattern(self):
        grid, by_columns = self.grid, self.rhs.by_columns
        place = "there, b->number[there]" if by_columns else "cell"
        out = (text.BY_COLUMNS if by_columns else text.BY_ROWS) + text.PATTERN
        for word, by in (("@CELL", grid.cell_of("row")), ("@EQUATION", self._state_of("row")),
                         ("@STATE", grid.place_in_y("entry[l].column", "there")),
                         ("@PLACE", f"place_of(G, b->number[cell], {place}, l)"),
                         ("@LAST", "G->listed" if by_columns else "G->edges")):
            out = out.replace(word, by)
        return out

    def _state_of(self, c):
        return "0" if self.grid.nf == 1 else f"{c} / G->cells" if self.grid.strided else f"{c} % FIELDS"

    def new(self, loads):
        """loads: of a cell and its neighbours, whose number limits that of cells"""
        m, grid = self.model, self.grid
        out = ""
        if m.mass:
            differential = ", ".join(str(int((f, f) in m.mass)) for f in range(grid.nf))
            out += text.MASS.replace("@DIFFERENTIAL", differential).replace("@STATE_OF_C", self._state_of("c"))
        if self.has_index:
            orders = ", ".join(str(q.order) for q in m.states)
            out += text.INDEX.replace("@ORDERS", orders).replace("@STATE_OF_C", self._state_of("c"))
        sizes = [f"G->size.{s} = {s};" for s in grid.sizes.values()]
        sizes += [f"G->n[{a}] = {grid.sizes.get(axis.size, axis.size)};" for a, axis in enumerate(m.axes)]
        if m.stops:
            times = listed("static const double stops[] = {", [constant(t) for t in m.stops], "};", 4)
            out += "\n".join(times) + "\n\n"
        out += text.NEW
        for word, by in (("@ARGUMENTS", ", ".join(f"int {s}" for s in grid.sizes.values()) or "void"),
                         ("@SIZES", "\n    ".join(sizes)), ("@PROBLEM", self._problem()),
                         ("@LARGEST", str(self._largest(loads))),
                         ("@NEW_INDEX", " || !new_index(G)" * self.has_index),
                         ("@NEW_BLOCKS", " || !new_blocks(G)" * self.splitting.has(BLOCKS)),
                         ("    @START\n", self._start()),
                         ("    @SET_PARTS\n", "    set_parts(G);\n" * bool(self.splitting.parts)),
                         ("    @FREE_BLOCKS\n", text.FREE_BLOCKS * self.splitting.has(BLOCKS)),
                         ("    @FREE_INDEX\n", "    free(G->index);\n" * self.has_index)):
            out = out.replace(word, by)
        return out

    def _largest(self, loads):
        """The most that is counted for each cell"""
        blocks = self.grid.nf**2 * self.splitting.has(BLOCKS)
        return max(self.grid.nf, len(self.rhs.entries), len(self.grid.fields) + 1, loads, self.grid.axes, blocks)

    def _problem(self):
        m, grid = self.model, self.grid
        count = [str(len(grid.scalars))] * (bool(grid.scalars) or not grid.fields)
        count += ["G->cells" if len(grid.fields) == 1 else f"{len(grid.fields)}*G->cells"] * bool(grid.fields)
        parts = [f".n = FIELDS*G->cells, .np = {' + '.join(count)}, .nq = {len(m.costs)}, .ctx = G",
                 f".rhs = {self._map(self.rhs, 15)}"]
        parts += [f".cost = {self._map(self.cost, 16)}"] if self.cost else []
        parts += [".jac = jac, " * self.rhs.has_jacobian + ".mass = mass, " * bool(m.mass) + ".pattern = &G->pattern"]
        parts += [f".nstops = {len(m.stops)}, .stops = stops"] * bool(m.stops)
        return "\n" + ",\n".join(f"        {part}" for part in parts) + "}"

    @staticmethod
    def _map(functions, column):
        """The initializer of a costate_map that begins in this column"""
        members = [f".{member} = {function}" for member, function in functions.callbacks.items()]
        return "\n".join(listed(" " * column + "{", members, "}", column + 1)).lstrip()

    def _start(self):
        return f"    G->start = (costate_map){self._map(self.start, 27)};\n" if self.start else ""

    # ---- values ----

    def values(self):
        """Initial values and defaults of parameters"""
        grid, out = self.grid, ""
        if self.start:
            out += text.START
        if self.model.parameters:
            out += "void @NAME_defaults(const @NAME_grid *G, double *p)\n{\n    (void)G;\n"
            for k, q in enumerate(grid.scalars):
                out += f"    p[{k}] = {constant(self.g.const(q.value)) if q.value is not None else '0.0'};\n"
            first = len(grid.scalars)
            targets = [(f"p[@NAME_parameter(G, {first + k}{self.indices})]", q) for k, q in enumerate(grid.fields)]
            out += (self._over_cells(targets) if targets else "") + "}\n\n"
        return out

    def _over_cells(self, lines):
        """Assignments for all cells; what they read comes from t, p, sizes and indices"""
        grid, out, indent = self.grid, "", "    "
        for a, i in enumerate(INDICES[:grid.axes]):
            out += f"{indent}for (int {i} = 0; {i} < G->n[{a}]; {i}++)\n"
            indent += "    "
        targets = [Target(target, "=", self.g.c(0) if q.value is None else q.value) for target, q in lines]
        body = Body(self.g, targets, self._variable, indent=indent).text()
        if "\n" in body:
            return out[:-1] + " {\n" + body + f"\n{indent[4:]}}}\n"
        return out + body + "\n"

    def _variable(self, key):
        grid, space, index = self.grid, key[1], key[2]
        if space == "size":
            return f"(double)G->size.{list(grid.sizes.values())[index]}"
        if space == "axis":
            return f"(double){INDICES[index]}"
        if space == "p" and key[3]:
            return f"p[@NAME_parameter(G, {len(grid.scalars) + grid.place[index]}{self.indices})]"
        return f"p[{grid.place[index]}]" if space == "p" else space

    # ---- where quantities are ----

    def positions(self):
        grid, cell = self.grid, "i"
        for a in range(1, grid.axes):
            cell = f"{cell if a == 1 else f'({cell})'}*G->n[{a}] + {INDICES[a]}"
        out = f"int @NAME_index(const @NAME_grid *G, int state{self.arguments})\n{{\n    const int cell = {cell};\n" \
            f"    return (void)G, (void)state, {grid.place_in_y('state', 'cell')};\n}}\n\n"
        if grid.fields:
            first = len(grid.scalars)
            scalar = f"    if (parameter < {first}) return parameter;\n" * bool(first)
            where = f"{first} + (parameter - {first})" if first else "parameter"
            out += f"int @NAME_parameter(const @NAME_grid *G, int parameter{self.arguments})\n{{\n{scalar}" \
                f"    return {where}*G->cells + {cell};\n}}\n\n"
        return out
