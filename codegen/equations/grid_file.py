"""A C file and its header from a model whose states are fields on a grid."""
import re

from . import grid_text
from .body import Body, Target, constant
from .c_file import array, comment, heading, quoted
from .functions import Writer, nothing
from .grid import INDICES, Grid
from .grid_functions import Functions
from .grid_header import header
from .grid_products import Products
from .model import Model
from .names import Names, c_word, listed


def write(model, origin, stem=None):
    """(text of STEM.c, text of STEM.h); origin: name of the file that the model was read from"""
    return GridFile(model, origin, stem or model.name).texts()


class NamesOutside(Names):
    """For the map of values outside of the grid, whose expressions may contain sizes"""

    def variable(self, key):
        if key[1] == "size":
            return f"(double)G->size.{list(self.model.sizes)[key[2]]}"
        return super().variable(key)

    def loads(self, graph, roots, directions):
        out = super().loads(graph, roots, directions)
        if graph.variables(roots, "size"):
            out.text = f"    const {self.model.name}_grid *const G = ctx;\n" + out.text
        return out


class GridFile:
    def __init__(self, model, origin, stem):
        self.model, self.g, self.origin, self.stem = model, model.graph, origin, stem
        self.grid = Grid(model)
        self.products = Products(self.grid)
        self.functions = Functions(self.grid, self.products)
        self.entries = self.functions.entries

    def texts(self):
        f = self.functions
        outside = self.outside()
        functions = heading("right-hand side, its products and its Jacobian") + "\n".join(f.text)
        body = outside + functions + "\n" + self.public()
        text = self.head(body) + self.tables() + self.helpers(body) + body
        return text, header(self)

    # ---- values outside of the grid ----

    def outside(self):
        """A map from t and p to these values, with its derivatives; what of it is used"""
        grid, g = self.grid, self.g
        if not grid.outside:
            return ""
        m = Model(self.model.name)
        m.graph, m.parameters, m.sizes = g, grid.scalars, self.model.sizes
        moved = lambda k: g.v("p", grid.place[k[2]]) if k[1] == "p" else g.v(*k[1:])        # noqa: E731
        before = {q.index: k for k, q in enumerate(grid.scalars)}
        names = NamesOutside(m)
        for q in grid.scalars:                               # numbered by their place in p
            for side in ("", "d", "e"):
                names.of[side + "p", before[q.index]] = f"{side}_{c_word(q.name)}".lstrip("_")
        self.writer = Writer(m, names)
        made = self.writer.map("outside", g.mapped(grid.outside, moved), "")
        used = "".join(self.functions.text)
        texts, wanted = [], [n for n in re.findall(r"outside_[a-z0-9_]+(?=\()", used)]
        for text in reversed(made.text):
            if any(re.search(rf"\b{n}\(", text.split("{")[0]) for n in wanted):
                wanted += re.findall(r"outside_[a-z0-9_]+(?=\()", text.split("{", 1)[1])
                texts.insert(0, text)
        for product, function in made.callbacks.items():
            if function.startswith("no_") and f"outside_{product}" in wanted:
                texts.append(nothing(product).replace(function, f"outside_{product}"))
        return heading("values outside of the grid") + "\n".join(texts) + "\n"

    # ---- tables ----

    def tables(self):
        grid, f = self.grid, self.functions
        self.states, self.extra = sorted(f.loads), sorted(f.parameter_loads)
        used = [k[3] for k in f.loads] + list(f.parameter_loads)
        reach = [max(abs(o[a]) for o in used) for a in range(grid.axes)]
        self.patch = [2 * r + 1 for r in reach]
        cells = 1
        for n in self.patch:
            cells *= n
        center = sum(0 for _ in ()) + self.patch_cell(grid.here)
        text = f"enum {{\n    AXES = {grid.axes}, FIELDS = {grid.nf},\n" \
            f"    STATE_LOADS = {len(self.states)}, LOADS = {len(self.states) + len(self.extra)},     " \
            "/* neighbours of a cell that are read: states, and all */\n" \
            f"    ENTRIES = {len(self.entries)},                    /* of the Jacobian, a cell */\n" \
            f"    PATCH = {cells}, CENTRE = {center % self.patch[-1]},              " \
            "/* cells of a neighbourhood; its middle in a row */\n    INTERIOR = 5, PERIODIC = -1, WALL = -2\n};\n\n"
        text += "static const int " + f"reach[AXES] = {{{', '.join(map(str, reach))}}}, least[AXES] = " \
            f"{{{', '.join(map(str, self.least()))}}}, is_periodic[AXES] = {{{', '.join(str(int(p)) for p in grid.periodic)}}};\n\n"
        text += "/* what stands at the low and high end of each axis: a boundary condition, or the number of a value outside;\n" \
            "   of each state, and last of parameters */\n" \
            "static const signed char ends[FIELDS + 1][AXES][2] = {\n    " + ",\n    ".join(
                "{" + ", ".join("{" + ", ".join(END_WORDS.get(c, str(c)) for c in both) + "}" for both in field) + "}"
                for field in grid.ends) + "\n};\n\n"
        rows = [self.load_row(k[2], k[3], True) for k in self.states] + \
               [self.load_row(grid.nf, o, False) for o in self.extra]
        text += "\n".join(listed("static const struct { int field, spot; signed char offset[AXES]; } load[LOADS] = {\n    ",
                                 rows, "\n};", 4)) + "\n\n"
        rows = [f"{{{e}, {k[2]}, {{{', '.join(map(str, k[3]))}}}}}" for e, k, _ in self.entries]
        text += "\n".join(listed("static const struct { int row, column; signed char offset[AXES]; } entry[ENTRIES] = {\n    ",
                                 rows, "\n};", 4)) + "\n\n"
        return text + array("static const int", "in_order", [str(k) for k in range(len(self.entries))]) + "\n"

    def load_row(self, field, offsets, state):
        cell = self.patch_cell(offsets)
        spot = cell if not state else self.cell_address("", field, cell)
        return f"{{{field}, {spot}, {{{', '.join(map(str, offsets))}}}}}"

    def cell_address(self, _, field, cell):
        n = 1
        for k in self.patch:
            n *= k
        return field * n + cell if self.model.layout == "fields" else self.grid.nf * cell + field

    def patch_cell(self, offsets):
        cell = 0
        for n, o in zip(self.patch, offsets):
            cell = cell * n + (n - 1) // 2 + o
        return cell

    def least(self):
        """Of the size of each axis: a periodic one must not wrap neighbours onto each other, a wall mirrors them"""
        offsets = [k[3] for k in self.g.variables(self.model.equations) if k[3]] + [self.grid.here]
        out = []
        for a in range(self.grid.axes):
            low, high = min(o[a] for o in offsets), max(o[a] for o in offsets)
            low, high = min(low, 0), max(high, 0)
            out.append(high - low + 1 if self.grid.periodic[a] else max(-low, high, 1))
        return out

    # ---- helpers: those that are used ----

    def helpers(self, body):
        grid, t = self.grid, grid_text
        text = self.numbers(body)
        if grid.needs_rows():
            text += self.rows()
        groups = [t.READ_OWN, t.READ_PARAMETER, t.NEAR, t.WRITE_OWN, t.ADD_OWN, t.ADD_NEAR, t.ADD_OPEN, t.ADD_PARAMETER, t.CLEAR]
        name = lambda b: re.search(r"\bstatic (?:int|void) (\w+)\(", b).group(1)          # noqa: E731
        chosen = [b for b in groups if name(b) + "(" in body]
        common = heading("neighbours and boundaries") + t.IMAGE + t.LIST + "".join(chosen)
        return (t.WRAPPED + text + self.filled(common)).replace("NAME", grid.name)

    def filled(self, text):
        grid = self.grid
        fields = self.model.layout == "fields" and grid.nf > 1
        at = lambda f, c: c if grid.nf == 1 else f"{f}*G->cells + {c}" if fields else f"FIELDS*{c} + {f}"   # noqa: E731
        spot = "CENTRE_CELL" if grid.nf == 1 else "f*PATCH + CENTRE_CELL" if fields else "FIELDS*CENTRE_CELL + f"
        value = f"y[{at('load[l].field', 'image[l]')}]"
        outside = grid.has_outside
        gy = at("load[l].field", "image[l]")
        add = f"gy[{gy}] += a;"
        if outside:
            add = f"if (image[l] >= 0 && gy) gy[{gy}] += a;\n        if (image[l] < 0 && bar) bar[-1 - image[l]] += a;"
        for word, by in (("OWN_SPOT", spot.replace("CENTRE_CELL", str(self.patch_cell(grid.here)))),
                         ("[OWN]", f"[{at('f', 'G->cell[m]')}]"), ("AT_C", at("load[l].field", "c")),
                         ("OUTSIDE_ARG", "const double *outside, " * outside),
                         ("READ", f"image[l] >= 0 ? {value} : outside[-1 - image[l]]" if outside else value),
                         ("BARS_TOO", "and, as their\n   weights, to the values outside " * outside),
                         ("BAR_ARG", ", double *bar" * outside), ("ADD", add),
                         ("RIM", "2" if self.functions.spread else "1")):
            text = re.sub(rf"(?<![A-Z_]){re.escape(word)}(?![A-Z_])" if word[0] != "[" else re.escape(word),
                          lambda _: by, text) if word not in ("OUTSIDE_ARG", "BAR_ARG", "BARS_TOO") else text.replace(word, by)
        return text

    def numbers(self, body):
        """The struct of what is the same for all cells"""
        grid = self.grid
        if not grid.numbers:
            return ""
        keys = list(grid.numbers)
        modes = [k for k in keys if k[1] == "mode"]
        doubles = [grid.numbers[k] for k in keys if k not in modes]
        text = "/* what is the same for all cells, d and e: along the first and the second direction */\ntypedef struct {\n"
        if doubles:
            text += "\n".join(listed("    double ", doubles, ";", 8)) + "\n"
        text += "    int mode;\n" * bool(modes) + "} numbers;\n\n"
        head = "INLINE numbers numbers_at("
        text += head + f"const NAME_grid *G, const costate_point *x, const costate_point *dx,\n{' ' * len(head)}" \
            "const costate_point *ex)\n{\n    numbers p = {0};\n    (void)G, (void)x, (void)dx, (void)ex;\n"
        for k in keys:
            text += f"    {self.set_number(k)}\n"
        return text + "    return p;\n}\n\n"

    def set_number(self, k):
        name, space, index = self.grid.numbers[k], k[1], k[2]
        if space == "size":
            return f"p.{name} = G->size.{list(self.model.sizes)[index]};"
        if space in ("t", "mode"):
            return f"p.{name} = x->{space};"
        if space in ("dt", "et"):
            return f"if ({space[0]}x) p.{name} = {space[0]}x->t;"
        if space == "p":
            return f"p.{name} = x->p[{self.grid.place[index]}];"
        return f"if ({space[0]}x && {space[0]}x->p) p.{name} = {space[0]}x->p[{self.grid.place[index]}];"

    def rows(self):
        grid = self.grid
        names, values, patch = [], [], []
        for o in sorted(grid.rows) if grid.axes > 1 else ():
            names.append(row_name(o))
            values.append(f".{row_name(o)} = {self.row_text(o)}")
            patch.append(f".{row_name(o)} = {self.patch_cell((*o, 0)) - self.patch_cell(grid.here) % self.patch[-1]}")
        if grid.strided:
            cells = 1
            for n in self.patch:
                cells *= n
            names, values, patch = names + ["field"], values + [".field = G->cells"], patch + [f".field = {cells}"]
        text = "/* where rows begin, by their offsets: m1 is one row before" + \
            (", field: from one field to the next" if grid.strided else "") + " */\n" \
            f"typedef struct {{ int {', '.join(names)}; }} rows;\n" \
            + "\n".join(listed("static const rows patch = {", patch, "};", 4)) + "\n\n"
        head = f"INLINE rows rows_at({', '.join(['const NAME_grid *G'] + ['int ' + i for i in INDICES[:grid.axes - 1]])})\n{{\n"
        return text + head + "\n".join(listed("    return (rows){", values, "};", 8)) + "\n}\n\n"

    def row_text(self, offsets):
        text = ""
        for a, o in enumerate(offsets):
            i = INDICES[a] if o == 0 else f"{INDICES[a]} {'-' if o < 0 else '+'} {abs(o)}"
            wrap = o != 0 and self.grid.periodic[a]
            i = f"wrapped({i}, G->n[{a}])" if wrap else f"({i})" if o and (a + 1 < self.grid.axes) and not text else i
            text = i if not text else f"({text}*G->n[{a}] + {i})"
        return f"{text}*G->n[{self.grid.axes - 1}]"

    # ---- what is public ----

    def public(self):
        m, grid, t = self.model, self.grid, grid_text
        fields = m.layout == "fields" and grid.nf > 1
        state = "there" if grid.nf == 1 else "entry[l].column*G->cells + there" if fields else "FIELDS*there + entry[l].column"
        np = f"{len(grid.scalars)}" if not grid.fields else " + ".join(
            [str(len(grid.scalars))] * bool(grid.scalars) + [("" if len(grid.fields) == 1 else f"{len(grid.fields)}*") + "G->cells"])
        sizes = list(m.sizes)
        fill = "".join(f"G->size.{s} = {s};\n    " for s in sizes)
        fill += "".join(f"G->n[{a}] = {axis.size};\n    " for a, axis in enumerate(m.axes))
        callbacks = ", ".join(f".{k} = {v}" for k, v in self.functions.callbacks.items())
        callbacks = ("\n" + " " * 16).join(listed("", callbacks.split(", "), "", 0))
        pattern = t.PATTERN.replace("CELL_OF", "row" if grid.nf == 1 else "row % G->cells" if fields else "row / FIELDS") \
            .replace("EQUATION_OF", "0" if grid.nf == 1 else "row / G->cells" if fields else "row % FIELDS").replace("STATE_OF", state)
        by_columns = self.functions.by_columns
        pattern = pattern.replace("PLACE_OF", "place_of(G, b->number[cell], there, b->number[there], l)" if by_columns else
                                  "place_of(G, b->number[cell], cell, l)") \
            .replace("LAST_LISTED", "G->listed" if by_columns else "G->edges")
        pattern = (t.BY_COLUMNS if by_columns else t.BY_ROWS) + pattern
        new = t.NEW.replace("PARAMETERS_OF_NEW", ", ".join(f"int {s}" for s in sizes) or "void") \
            .replace("FILL_SIZES\n    ", fill.replace("\n    ", "\n    ", 1)).replace(" NP,", f" {np},") \
            .replace("CALLBACKS", callbacks).replace("LARGEST", f"{max(grid.nf, len(self.entries), len(grid.fields) + 1)}")
        new = new.replace("G->n[%d] = " % 0, "G->n[0] = ")
        text = heading("the pattern of the Jacobian") + pattern + heading("the grid and its problem") + new
        text += self.values() + self.positions()
        for kind, quantities in self.kinds():
            text += array("const char *const", f"{grid.name}_{kind}_names", [quoted(q.name) for q in quantities])
            text += array("const char *const", f"{grid.name}_{kind}_units", [quoted(q.unit) for q in quantities])
        return text.replace("NAME", grid.name)

    def kinds(self):
        m = self.model
        return [(k, q) for k, q in (("state", m.states), ("parameter", self.grid.scalars + self.grid.fields)) if q]

    def values(self):
        """Initial values and defaults of parameters"""
        grid, text = self.grid, ""
        if any(q.value is not None for q in self.model.states):
            text += f"void NAME_start(const NAME_grid *G, double t, const double *p, double *y)\n{{\n    (void)t, (void)p;\n" \
                + self.over_cells([(f"y[NAME_index(G, {q.index}{INDEX_ARGS[grid.axes]})]", q) for q in self.model.states]) + "}\n\n"
        if self.model.parameters:
            text += "void NAME_defaults(const NAME_grid *G, double *p)\n{\n    (void)G;\n"
            for k, q in enumerate(grid.scalars):
                text += f"    p[{k}] = {constant(self.g.const(q.value)) if q.value is not None else '0.0'};\n"
            if grid.fields:
                first = len(grid.scalars)
                text += self.over_cells([(f"p[NAME_parameter(G, {first + k}{INDEX_ARGS[grid.axes]})]", q)
                                         for k, q in enumerate(grid.fields)])
            text += "}\n\n"
        return text

    def over_cells(self, lines):
        """Assignments for all cells; what they read comes from t, p, sizes and indices"""
        grid, text, indent = self.grid, "", "    "
        for a in range(grid.axes):
            text += f"{indent}for (int {INDICES[a]} = 0; {INDICES[a]} < G->n[{a}]; {INDICES[a]}++)\n"
            indent += "    "
        targets = [Target(target, "=", self.g.c(0) if q.value is None else q.value) for target, q in lines]
        body = Body(self.g, targets, self.start_variable, prefix=grid.prefix, indent=indent).text()
        if len(targets) > 1 or "\n" in body:
            return text[:-1] + " {\n" + body + f"\n{indent[4:]}}}\n"
        return text + body + "\n"

    def start_variable(self, key):
        grid, space, index = self.grid, key[1], key[2]
        if space == "size":
            return f"(double)G->size.{list(self.model.sizes)[index]}"
        if space == "axis":
            return f"(double){INDICES[index]}"
        if space == "p":
            return f"p[NAME_parameter(G, {len(grid.scalars) + grid.place[index]}{INDEX_ARGS[grid.axes]})]" if key[3] \
                else f"p[{grid.place[index]}]"
        return space

    def positions(self):
        grid = self.grid
        args = "".join(f", int {i}" for i in INDICES[:grid.axes])
        cell = "i"
        for a in range(1, grid.axes):
            cell = f"({cell})*G->n[{a}] + {INDICES[a]}" if a > 1 else f"{cell}*G->n[{a}] + {INDICES[a]}"
        fields = self.model.layout == "fields" and grid.nf > 1
        at = "cell" if grid.nf == 1 else "state*G->cells + cell" if fields else "FIELDS*cell + state"
        text = f"int NAME_index(const NAME_grid *G, int state{args})\n{{\n    const int cell = {cell};\n" \
            f"    return (void)G, (void)state, {at};\n}}\n\n"
        if self.model.parameters:
            first = len(grid.scalars)
            if grid.fields:
                text += f"int NAME_parameter(const NAME_grid *G, int parameter{args})\n{{\n" \
                    f"    if (parameter < {first}) return parameter;\n" * bool(first) or ""
            if grid.fields and not first:
                text += f"int NAME_parameter(const NAME_grid *G, int parameter{args})\n{{\n"
            if grid.fields:
                text += f"    return {f'{first} + ' if first else ''}(parameter{f' - {first}' if first else ''})*G->cells + {cell};\n}}\n\n"
        return text

    def head(self, body):
        m = self.model
        text = f"/* {self.stem}.c - written by costate-model from {self.origin}; changes belong there." + \
            ("\n\n   " + comment(m.text) if m.text else "") + " */\n"
        text += f'#include "{self.stem}.h"\n\n#include <limits.h>\n#include <math.h>\n#include <stdlib.h>\n#include <string.h>\n\n'
        text += grid_text.MACROS
        if re.search(r"\bzeros\b", body.replace("G->zeros", "")):
            text += f"static const double zeros[{self.writer.longest}];     /* for directions that are NULL */\n\n"
        for product in ("adjoint", "adjoint_tangent", "adjoint_tangent2"):
            if self.functions.callbacks.get(product) == f"no_{product}":
                text += nothing(product) + "\n"
        sizes = "struct { int " + ", ".join(m.sizes) + "; } size;" if m.sizes else ""
        struct = grid_text.GRID.replace("    SIZES_OF_GRID\n", f"    {sizes}\n" if sizes else "").replace("AXES", str(self.grid.axes))
        return text + struct.replace("NAME", m.name)


END_WORDS = {-1: "PERIODIC", -2: "WALL"}
INDEX_ARGS = {1: ", i", 2: ", i, j", 3: ", i, j, k"}


def row_name(offsets):
    from .grid import offset_word
    return offset_word(offsets)
