"""A C file and its header from a model of single states: maps, Jacobian, mass matrix, events, names, start; on request
maps of several members side by side."""
from . import fortran, lanes, start_limit
from .about import about
from .array_text import HELPERS
from .body import Target, constant
from .calls_text import calls_of, data, wrapper
from .elimination import compressed, elimination_of
from .functions import Writer, nothing
from .formulas import added, after, by_columns, defaults, has_costs, jacobians, only_products, start
from .header import RESERVED, comment, header, kinds, quoted
from .model import ANY_MODE
from .names import Names, identifier, listed, prefix, public
from .pieces import PIECE
from .tables import Tables, in_tables

AT_START = ("", ", .at_start = COSTATE_START_FIRE", ", .at_start = COSTATE_START_IGNORE",
            ", .at_start = COSTATE_ZERO_FALSE", ", .at_start = COSTATE_ZERO_TRUE")


def write(model, origin, stem=None, side_by_side=False, as_fortran=False):
    """(text of STEM.c, text of STEM.h, what they have as JSON), and of STEM.f90, if as_fortran; origin: name of the
    file that the model was read from; side_by_side: with NAME_lanes"""
    if side_by_side:
        lanes.check(model, origin, in_tables(model))
    with model.refused(origin):
        if model.on_grid:
            from . import grid_file              # which uses this file
            fortran.refuse_grids(origin, as_fortran)
            return grid_file.write(model, origin, stem or model.name)
        return File(model, origin, stem or model.name, side_by_side).texts(as_fortran)


class File:
    def __init__(self, model, origin, stem, side_by_side):
        self.model, self.g, self.origin, self.stem, self.side_by_side = model, model.graph, origin, stem, side_by_side
        self.name, self.words, events = prefix(model), public(model, RESERVED | {*model.graph.functions}), set()
        self.names = Names(model, {f"{self.name}_{word}" for word in self.words.values()} |
                           {wrapper(name) for name in self.g.functions})
        self.events = [f"on_{identifier(e.name, events)}" for e in model.events]
        self.writer = Writer(model, self.names)
        self.maps, self.parts, self.of_jacobian, self.rows = [], [], {}, []

    def texts(self, as_fortran=False):
        m = self.model
        tables = Tables(m, self.writer) if in_tables(m) else None
        f = tables.rest if tables else m.kinetics()
        rhs = self.tabled(tables) if tables else self.map(*(
            ("equations", f, "equations F(t, y, y', p) = 0") if m.implicit else ("rhs", f, "right-hand side")))
        cost = self.map("cost", m.cost_nodes, "running costs") if has_costs(m) else None
        jacobians = self.jacobians(f, tables)
        events = [self.event(k, e) for k, e in enumerate(m.events)]
        relations = [self.map(f"relation_{k}_guard", [r.guard], f"relation {k}: guard")
                     for k, r in enumerate(m.relations)]
        outputs = self.map("output", m.output_nodes, "outputs", apart=True) if m.outputs else None
        start = self.start()
        rows = self.table_of_events(events) + self.table_of_relations(relations)
        body = rows + self.problem(rhs, cost, jacobians, events) + self.public(outputs, start)
        elimination = elimination_of(m, self.pattern, self.name)
        backend = "\n" + heading("linear systems") + elimination.text(self.side_by_side) if elimination else ""
        before = after = ""
        if self.side_by_side:
            maps = [("rhs", rhs)] + [("cost", cost)] * bool(cost)
            side = lanes.Lanes(m, self.names, maps, self.of_jacobian["jac"], elimination)
            before, after = side.functions(), side.list()
        more = (fortran.write(m, self.origin, self.stem, bool(backend)),) if as_fortran else ()
        text = "\n".join([*self.parts, before + body + backend + after])
        return self.head(backend, text) + text, header(self, bool(backend)), self.about(bool(backend)), *more

    def about(self, backend):
        return about(self.origin, self.name, kinds(self.model), ["start", "start_map"] + ["backend"] * backend,
                     start=start_limit.data(self.model), functions_in_c=data(self.g.functions))

    # ---- maps ----

    def map(self, name, nodes, title, **more):
        m = self.writer.map(name, nodes, title, **more)
        self.maps.append(m)
        self.parts.append(heading(title) + "\n".join(m.text))
        return m

    def tabled(self, tables):
        m = tables.map()
        self.maps += [m, *tables.maps()]
        self.parts.append(heading("right-hand side: reactions in tables") + "\n".join(m.text))
        return m

    @staticmethod
    def initializer(m, before, indent=8):
        """before, and the members of a map in braces"""
        return "\n".join(listed(before + "{", [f".{member} = {name}" for member, name in m.callbacks.items()], "}",
                                indent))

    def jacobians(self, f, tables):
        """The pattern, and functions that fill df/dy (and df/dy') in it"""
        m, g, n = self.model, self.g, len(self.model.states)
        if only_products(m, f):
            self.pattern, self.dense = by_columns((i, j) for i in range(n) for j in range(n)), True
            return []
        parts = jacobians(m, f)
        used = {k for e in parts.values() for k in e} | set(m.mass) | (tables.pattern() if tables else set())
        self.pattern = by_columns(used)
        self.dense = len(self.pattern) == n * n
        place = {k: i for i, k in enumerate(self.pattern)}
        text = []
        if tables:
            text.append(tables.jacobian(place, len(self.pattern)) + "\n" + self.writer.printed(
                "jac", ("const costate_point *x", "double *restrict J"),
                [Target(f"J[{place[k]}]", "+=", a) for k, a in parts["jac"].items()],
                "    const int code = reactions_jac(x, J, ctx);\n    if (code) return code;\n"))
        if g.lacking([a for e in parts.values() for a in e.values()]):
            parts = {}                                   # the library forms it, or says what is missing
        for name, entries in [] if tables else parts.items():
            targets = [Target(f"J[{place[k]}]", "=", entries.get(k, g.c(0))) for k in self.pattern]
            self.of_jacobian[name] = targets
            title = "df/dy" if not m.implicit else "dF/dy" if name == "jac" else "dF/dy'"
            text.append(f"/* {title}{'' if self.dense else ', in the pattern below'} */\n"
                        + self.writer.printed(name, ("const costate_point *x", "double *restrict J"), targets))
        if m.mass:
            entries = sorted((place[k], v) for k, v in m.mass.items())
            lines = "".join(f"    M[{k}] = {constant(v)};\n" for k, v in entries)
            clear = f"    for (int i = 0; i < {len(self.pattern)}; i++) M[i] = 0;\n"
            text.append("static int mass(double *M, void *ctx)\n{\n" + clear + lines + "    return (void)ctx, 0;\n}\n")
        if not self.dense:
            columns, rows = compressed(n, self.pattern)
            text.append(array("static const int", "column", columns) + array("static const int", "row", rows or [0])
                        + f"static const costate_pattern pattern = {{{n}, column, row}};\n")
        self.parts.append(heading("Jacobian" + (", mass matrix" if m.mass else "")) + "\n".join(text))
        return list(parts)

    # ---- events ----

    def event(self, k, e):
        m, word = self.model, self.events[k]
        guard = self.map(f"{word}_guard", [e.guard], f"event {e.name}: guard") if e.guard is not None else None
        jump = cost = None
        if e.jumps:
            jump = self.map(f"{word}_jump", after(m, e),
                            f"event {e.name}: states{' and memory' * bool(m.memory)} after it")
        if e.costs:
            cost = self.map(f"{word}_cost", added(m, e), f"event {e.name}: what is added to running costs")
        return guard, jump, cost

    def table_of_events(self, events):
        if not events:
            return ""
        text = ""
        for e, word, (guard, jump, cost) in zip(self.model.events, self.events, events):
            parts = []
            if e.times:
                text += array("static const double", f"{word}_times", [constant(t) for t in e.times])
                parts.append(f".ntimes = {len(e.times)}, .times = {word}_times")
            for member, m in (("guard", guard), ("jump", jump), ("cost", cost)):
                if m:
                    parts.append(self.initializer(m, f".{member} = "))
            mode = "COSTATE_SAME_MODE" if e.mode is None else str(e.mode)
            active = "COSTATE_ANY_MODE" if e.active == ANY_MODE else str(e.active)
            parts.append(f".direction = {e.direction}, .from = {active}, .to = {mode}" + ", .terminal = 1" * e.terminal
                         + ", .passes = 1" * e.passes + ", .slopes = 1" * e.slopes + AT_START[e.at_start])
            self.rows.append(f"    {{   /* {e.name} */\n     " + ",\n     ".join(parts) + "},\n")
        rows = "".join(self.rows)
        return heading("the problem") + text + "static const costate_event events[] = {\n" + rows + "};\n\n"

    def table_of_relations(self, guards):
        if not guards:
            return ""
        rows = [self.initializer(m, "    {.guard = ") + (f", .{r.kind} = 1" if r.kind != "truth" else "") + "},\n"
                for r, m in zip(self.model.relations, guards)]
        title = heading("the problem") * (not self.model.events)
        return title + "static const costate_relation relations[] = {\n" + "".join(rows) + "};\n\n"

    # ---- the problem, and what else is public ----

    def problem(self, rhs, cost, jacobians, events):
        m = self.model
        parts = [f".n = {len(m.states)}, .np = {len(m.parameters)}, .nq = {len(m.costs)}, .nm = {len(m.memory)}",
                 self.initializer(rhs, f".{'residual' if m.implicit else 'rhs'} = ", 12)]
        if cost:
            parts.append(self.initializer(cost, ".cost = ", 12))
        parts += [f".{name} = {name}" for name in jacobians]
        if m.mass:
            parts.append(".mass = mass")
        if not self.dense:
            parts.append(".pattern = &pattern")
        text = "" if events or m.relations else heading("the problem")
        if any(q.order for q in m.states):
            text += array("static const int", "index_of", [q.order for q in m.states])
            parts.append(".index = index_of")
        if m.relations:
            parts.append(f".nrelations = {len(m.relations)}, .relation = relations")
        limit = start_limit.text(m, self.name, constant, array, self.rows, parts)
        if events:
            parts.append(f".nevents = {len(events)}, .event = events")
        if m.stops:
            text += array("static const double", "stops", [constant(t) for t in m.stops]) + "\n"
            parts.append(f".nstops = {len(m.stops)}, .stops = stops")
        return text + f"const costate_problem *{self.name}_problem(void)\n{{\n" \
            "    static const costate_problem problem = {\n        " + ",\n        ".join(parts) + \
            "};\n    return &problem;\n}\n" + ("\n" + limit.removesuffix("\n") if limit else "")

    def start(self):
        """The map from (t, p) to initial values, running costs and memory; what the file does not give is 0"""
        return self.map("start", start(self.model), "initial values")

    def public(self, outputs, start):
        m, name = self.model, self.name
        text = "\n"
        for m_, kind in ((outputs, "output"), (start, "start")):
            if m_:
                text += f"const costate_map *{name}_{kind}_map(void)\n{{\n" + self.initializer(
                    m_, "    static const costate_map map = ") + ";\n    return &map;\n}\n\n"
        text += f"void {name}_start(double t, const double *p, double *y)\n{{\n" \
            "    start_value(&(costate_point){.t = t, .p = p}, y, NULL);\n}\n\n"
        if m.parameters:
            text += array("const double", f"{name}_defaults", [constant(value) for value in defaults(m)])
        for kind, quantities in kinds(m):
            text += array("const char *const", f"{name}_{kind}_names", [quoted(q.name) for q in quantities])
            text += array("const char *const", f"{name}_{kind}_units", [quoted(q.unit) for q in quantities])
        return text

    # ---- texts around ----

    def head(self, backend, below):
        """below: the text that follows"""
        m = self.model
        text = f"/* {self.stem}.c - written by costate-model from {comment(self.origin)}; changes belong there." + \
            ("\n\n   " + comment(m.text) if m.text else "") + " */\n"
        text += f'#include "{self.stem}.h"\n\n#include <math.h>\n'
        text += "#include <stdlib.h>\n#include <string.h>\n\n" if backend else "\n"
        if self.writer.longest and self.uses(": zeros"):
            text += f"static const double zeros[{self.writer.longest}];     /* for directions that are NULL */\n\n"
        text += calls_of(self.g.functions, self.name, below)
        text += PIECE * self.uses("PIECE ")
        text += "".join(text_of + "\n" for helper, text_of in HELPERS.items() if self.uses(helper + "("))
        for product in ("adjoint", "adjoint_tangent", "adjoint_tangent2"):
            if any(x.callbacks.get(product) == f"no_{product}" for x in self.maps):
                text += nothing(product) + "\n"
        return text

    def uses(self, text):
        return any(text in part for part in self.parts)


def heading(title):
    return f"/* ---- {comment(title)} ---- */\n\n"


def array(kind, name, values):
    return "\n".join(listed(f"{kind} {name}[] = {{", [str(v) for v in values], "};", 4)) + "\n"
