"""A C file and its header from a model whose states are fields on a grid."""
import re

from . import grid_text
from .about import about
from .calls_text import calls_of, data
from .functions import Writer, nothing
from .grid import Grid
from .grid_functions import Start, Sums
from .grid_header import header
from .grid_jacobian import RightHandSide
from .grid_object import Object
from .grid_products import Products
from .grid_splitting import Splitting
from .grid_tables import Tables
from .header import comment, quoted
from .model import Model
from .names import Names, listed, variable


def write(model, origin, stem):
    """(text of STEM.c, text of STEM.h); origin: name of the file that the model was read from"""
    return GridFile(model, origin, stem).texts()


class NamesOutside(Names):
    """Of the map of values outside of the grid: its parameters are numbered by their places in p, and it knows sizes"""

    def __init__(self, model, grid):
        self.grid, self.sizes = grid, list(grid.sizes.values())
        super().__init__(model, grid.taken)
        taken = set(grid.taken)
        for side in ("", "d", "e"):
            for k, q in enumerate(grid.scalars):
                self.of[side + "p", k] = variable(f"{side}_{q.name}".lstrip("_"), taken)

    def variable(self, key):
        return f"(double)G->size.{self.sizes[key[2]]}" if key[1] == "size" else super().variable(key)

    def loads(self, graph, roots, *more):
        out = super().loads(graph, roots, *more)
        if graph.variables(roots, "size"):
            out.text = f"    const {self.grid.name}_grid *const G = ctx;\n" + out.text
        return out


class GridFile:
    def __init__(self, model, origin, stem):
        self.model, self.g, self.origin, self.stem = model, model.graph, origin, stem
        costs = model.cost_nodes if any(not model.graph.is_zero(a) for a in model.cost_nodes) else []
        start = [self.g.c(0) if q.value is None else q.value for q in model.states]
        start = start if any(q.value is not None for q in model.states) else []
        self.grid = Grid(model, [model.equations, costs, start])
        diagonal = [i for i, _ in model.mass]
        self.rhs = RightHandSide(self.grid, Products(self.grid, model.equations), diagonal)
        self.cost = Sums(self.grid, Products(self.grid, costs, summed=True), "cost") if costs else None
        self.start = Start(self.grid, Products(self.grid, start)) if start else None
        self.maps = [m for m in (self.rhs, self.cost, self.start) if m]
        self.tables = Tables(self.grid, self.maps, self.rhs.entries, self.rhs.has_jacobian)
        self.splitting = Splitting(self.grid, self.rhs.entries, self.rhs.has_jacobian)
        self.object = Object(self.grid, self.rhs, self.cost, self.start, self.splitting)

    def texts(self):
        functions = heading("right-hand side, its products and its Jacobian") + "\n".join(self.rhs.text) + "\n"
        if self.cost:
            functions += heading("running costs") + "\n".join(self.cost.text) + "\n"
        if self.start:
            functions += heading("initial values") + "\n".join(self.start.text) + "\n"
        made = self.object
        body = self.outside(functions) + functions + heading("the pattern of the Jacobian") + made.pattern() \
            + self.parts() + heading("the grid and its problem") \
            + made.new(len(self.tables.states + self.tables.parameters)) \
            + made.values() + made.positions() + self.names()
        tables = self.tables.constants(self.splitting.constants()) + self.struct() + self.tables.tables()
        text = self.head(body, tables) + tables + self.helpers(body) + body
        return text.replace("@NAME", self.grid.name), header(self), self.about()

    def about(self):
        functions = ["start", "start_map"] * bool(self.start) + ["index"] + ["parameter"] * bool(self.grid.fields) \
            + ["parts"] * bool(self.splitting.parts)
        return about(self.origin, self.grid.name, self.kinds(), functions, [axis.size for axis in self.model.axes],
                     {name: self.model.sizes[name] for name in self.grid.sizes}, functions_in_c=data(self.g.functions),
                     no_splitting=self.splitting.reason)

    # ---- values outside of the grid ----

    def outside(self, functions):
        """A map from t and p to these values, with the derivatives that the functions call"""
        grid, g = self.grid, self.g
        if not grid.outside:
            return ""
        m = Model(self.model.name)
        m.graph, m.parameters, m.sizes = g, grid.scalars, self.model.sizes
        in_place = lambda k: g.v("p", grid.place[k[2]]) if k[1] == "p" else g.v(*k[1:])        # noqa: E731
        self.writer = Writer(m, NamesOutside(m, grid))
        made = self.writer.map("outside", g.mapped(grid.outside, in_place), "", several=False)
        texts, wanted = [], re.findall(r"outside_\w+(?=\()", functions)
        for text in reversed(made.text):
            if re.search(r"int (\w+)\(", text).group(1) in wanted:
                wanted += re.findall(r"outside_\w+(?=\()", text.split("{", 1)[1])
                texts.insert(0, text)
        for product, function in made.callbacks.items():
            if function.startswith("no_") and f"outside_{product}" in wanted:
                texts.append(nothing(product).replace(function, f"outside_{product}"))
        return heading("values outside of the grid") + "\n".join(texts) + "\n"

    def parts(self):
        return heading("the parts of the splitting") + self.splitting.functions() if self.splitting.parts else ""

    # ---- texts around ----

    def helpers(self, body):
        """The functions that others call"""
        own = self.tables.numbers() + self.tables.rows()
        text = own + heading("neighbours and boundaries") + grid_text.IMAGE \
            + grid_text.LIST.replace("@RIM", str(self.tables.rim)) + self.tables.near(body)
        clear = grid_text.CLEAR * (" clear(out, ctx)" in body) + grid_text.CLEAR_ALL * (" clear_all(out, ctx)" in body)
        return grid_text.WRAPPED + text + clear

    def head(self, body, tables):
        m = self.model
        text = f"/* {self.stem}.c - written by costate-model from {comment(self.origin)}; changes belong there." + \
            ("\n\n   " + comment(m.text) if m.text else "") + " */\n"
        text += f'#include "{self.stem}.h"\n\n' + grid_text.MACROS
        if re.search(r"(?<!->)\bzeros\b", body):
            text += f"static const double zeros[{self.writer.longest}];     /* for directions that are NULL */\n\n"
        text += calls_of(self.g.functions, self.grid.name, tables + self.helpers(body) + body)
        for product in ("adjoint", "adjoint_tangent", "adjoint_tangent2"):
            if any(maps.callbacks.get(product) == f"no_{product}" for maps in self.maps):
                text += nothing(product) + "\n"
        return text

    def struct(self):
        sizes = ", ".join(self.grid.sizes.values())
        text = grid_text.GRID.replace("    @SIZES\n", f"    struct {{ int {sizes}; }} size;\n" if sizes else "")
        start = "    costate_map start;                 /* initial values */\n"
        text = text.replace("    @START\n", start * bool(self.start))
        index = "    int *index;                        /* of each unknown */\n"
        text = text.replace("    @INDEX\n", index * self.object.has_index)
        return text.replace("    @PARTS\n", self.splitting.members())

    def kinds(self):
        m, grid = self.model, self.grid
        all_ = (("state", m.states), ("parameter", grid.scalars + grid.fields), ("cost", m.costs))
        return [(kind, quantities) for kind, quantities in all_ if quantities]

    def names(self):
        text = ""
        for kind, quantities in self.kinds():
            for what, values in (("names", [q.name for q in quantities]), ("units", [q.unit for q in quantities])):
                head = f"const char *const @NAME_{kind}_{what}[] = {{"
                text += "\n".join(listed(head, [quoted(v) for v in values], "};", 4)) + "\n"
        return text


def heading(title):
    return f"/* ---- {title} ---- */\n\n"
