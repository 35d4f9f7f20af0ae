"""The callbacks of a model on a grid: loops over the interior, and functions for the cells near boundaries."""
from .body import Target
from .functions import DIRECTIONS, INPUTS, SIGNATURES, STATES, WORTH, _occurs, nothing, signature
from .grid_cell import Cell, loops
from .grid_products import lower

POINTS = {"": "x", "d": "dx", "e": "ex"}


class Functions:
    def __init__(self, grid, products):
        self.grid, self.products, self.g = grid, products, grid.g
        self.text, self.callbacks = [], {}
        self.spread = False                      # whether a gathered gradient needs a rim of scattering cells
        self.loads = {("v", "y", f, grid.here) for f in range(grid.nf)}
        self.parameter_loads = {grid.here} if grid.fields else set()

    def all(self):
        self.forward("value")
        for product in ("tangent", "tangent2"):
            self.forward(product)
        for product in ("adjoint", "adjoint_tangent", "adjoint_tangent2"):
            self.backward(product)

    # ---- forward products ----

    def forward(self, product):
        directions = DIRECTIONS[product]
        versions = {s: self.products.forward(directions, s) for s in (STATES, INPUTS)}
        cost = {s: self.g.cost(inner) for s, (inner, _) in versions.items()}
        begin = ""
        if self._worth(product, cost):
            none = self._alone(product)
            if all(self.g.is_zero(a) for a in versions[STATES][0]):
                begin = f"    if ({none}) return clear({arguments(product)[-1]}, ctx);\n"
            else:
                self._forward(product, product + "_y", *versions[STATES], STATES)
                begin = f"    if ({none}) return {product}_y({', '.join(arguments(product) + ['ctx'])});\n"
        self._forward(product, product, *versions[INPUTS], INPUTS, begin)
        self.callbacks[product] = product

    def _forward(self, product, name, inner, near, spaces, begin=""):
        if all(self.g.is_zero(a) for a in inner + near):
            self._print(product, name, "    clear(out, ctx);\n", begin)
            return
        targets = lambda nodes: [Target(self.grid.address("out", f), "=", a) for f, a in enumerate(nodes)]  # noqa: E731
        cell = self.cell(name, targets(inner), ["out"])
        near_cell = cell if near == inner else self.cell(name + "_near", targets(near), ["out"])
        self._edges(name, product, near_cell, spaces, ["write_own(G, m, near_out, out);"], extra=["double *out"])
        lines = self._prelude(cell, product) + loops(self.grid, [cell.call()])
        self._print(product, name, lines + f"    {name}_edges({', '.join(arguments(product) + ['ctx'])});\n", begin)

    # ---- backward products ----

    def backward(self, product):
        directions = DIRECTIONS[product]
        versions = {s: self.products.backward(directions, s) for s in (STATES, INPUTS)}
        nodes = {s: [a for _, a in v[0].states + v[0].parameters] for s, v in versions.items()}
        if not nodes[INPUTS] and not versions[INPUTS][1].before:
            self.callbacks[product] = f"no_{product}"
            return
        begin = ""
        if directions and self._worth(product, {s: self.g.cost(a) for s, a in nodes.items()}):
            none = self._alone(product)
            begin = f"    if ({none}) return 0;\n"
            if nodes[STATES]:
                self._backward(product, product + "_y", *versions[STATES], STATES)
                begin = f"    if ({none}) return {product}_y({', '.join(arguments(product) + ['ctx'])});\n"
        self._backward(product, product, *versions[INPUTS], INPUTS, begin)
        self.callbacks[product] = product

    def _backward(self, product, name, inner, near, spaces, begin=""):
        others = bool(inner.parameters or near.parameters) or self.products.active
        states = inner.states or near.states
        make = self._scatter if inner.gathered is None else self._gather
        if not others:
            make(product, name, inner, near, spaces, True, False, begin + "    if (!g->y) return 0;\n")
        elif states and inner.gathered is None and any(any(k[3]) for k, _ in inner.states):
            self._scatter(product, name, inner, near, spaces, True, True, begin)
        else:
            call, lines = f"({', '.join(arguments(product) + ['ctx'])})", ""
            if states:
                make(product, name + "_states", inner, near, spaces, True, False)
                lines += f"    if (g->y) {name}_states{call};\n"
            self._scatter(product, name + "_parameters", inner, near, spaces, False, True)
            lines += f"    if ({self._wanted()}) {name}_parameters{call};\n"
            self._print(product, name, lines, begin)

    def _depends_on_time(self):
        return any(k[1] == "t" for k in self.products.others) or \
            bool(self.g.variables(self.grid.outside, "t"))

    def _gather(self, product, name, inner, near, spaces, states, others, begin=""):
        target = [Target(self.grid.address("gy", k[2]), "+=", a) for k, a in inner.gathered]
        cell = self.cell(name, target, ["gy"])
        lines = self._prelude(cell, product) + loops(self.grid, [cell.call()])
        call = f"({', '.join(arguments(product) + ['ctx'])});\n"
        if self.grid.periodic[-1]:
            self._edges(name, product, cell, spaces, ["add_own(G, m, near_gy, g->y);"], gather=True)
            lines += f"    {name}_edges{call}"
        if not all(self.grid.periodic):
            self.spread = True
            rim = self.cell(name + "_rim", *self._targets(near, True, None, False))
            self._edges(name, product, rim, spaces, ["add_open(G, m, near_gy, g->y);"], kind="rim")
            lines += f"    {name}_rim{call}"
        self._print(product, name, lines, begin)

    def _scatter(self, product, name, inner, near, spaces, states, others, begin=""):
        both = states and others
        bars = others and self.products.active
        slots = self._slots(inner, near) if others else None
        targets, writes = self._targets(inner, states, slots, both)
        near_targets, near_writes = self._targets(near, states or bars, slots, both)
        for q, found in near.before.items() if bars else ():
            near_targets += [Target(self.grid.address(low(q), k[2], k[3]), "+=", a) for k, a in found]
            near_writes += [low(q)]
        lines, extra = "", ""
        if slots:
            count = len(slots)
            lines += f"    double total[{count}] = {{0}}, *const sum = {self._wanted()} ? total : NULL;\n" if both else \
                f"    double sum[{count}] = {{0}};\n"
            extra = ", sum"
        if targets:
            cell = self.cell(name, targets, writes)
            lines = self._prelude(cell, product) + lines + loops(self.grid, [cell.call()])
        same = targets and near_targets == targets and near_writes == writes
        near_cell = cell if same else self.cell(name + "_near", near_targets, near_writes)
        self._edges(name, product, near_cell, spaces, self._give_back(near_cell, states, bars, near), bars=bars,
                    before=list(near.before) if bars else [], sums=bool(slots), states=states)
        lines += f"    {name}_edges({', '.join(arguments(product))}{extra}, ctx);\n"
        if extra:
            lines += self._add_sums(slots, both)
        self._print(product, name, lines, begin)

    def _wanted(self):
        return "g->p || g->t" if self._depends_on_time() else "g->p"

    @staticmethod
    def _slots(inner, near):
        """The parameters, and t, whose gradients are sums over all cells: key -> place in `sum`"""
        keys = dict.fromkeys(k for gradient in (inner, near) for k, _ in gradient.parameters if not k[3])
        return {k: n for n, k in enumerate(keys)}

    def _targets(self, gradient, states, slots, guarded):
        """Targets of a scattering cell, and the arrays that they are in; slots None: of states alone"""
        g, targets, writes = self.grid, [], []
        if states and gradient.states:
            targets += [Target(g.address("gy", k[2], k[3]), "+=", a, "gy" if guarded else None)
                        for k, a in gradient.states]
            writes.append("gy")
        for k, a in gradient.parameters if slots is not None else ():
            if k[3]:
                array = g.arrays["gp", k[2]]
                guard = array if guarded or self._depends_on_time() else None
                targets.append(Target(f"{array}[{g.cell(k[3])}]", "+=", a, guard))
            else:
                array = "sum"
                targets.append(Target(f"sum[{slots[k]}]", "+=", a, "sum" if guarded else None))
            writes += [array] * (array not in writes)
        return targets, writes

    def _add_sums(self, slots, both):
        lines = ""
        for k, n in slots.items():
            total = f"{'total' if both else 'sum'}[{n}]"
            if k[1] == "t":
                lines += f"    if (g->t) *g->t += {total};\n"
            else:
                guard = "if (g->p) " if both or self._depends_on_time() else ""
                lines += f"    {guard}g->p[{self.grid.place[k[2]]}] += {total};\n"
        return lines

    def _give_back(self, cell, states, bars, near):
        """What a cell near a boundary adds to the gradient"""
        gy, lines = "g->y" if states else "NULL", []
        end = ", bar);" if bars else ", NULL);" if self.grid.has_outside else ");"
        if "gy" in cell.writes:
            lines.append(f"add_near(G, m, near_gy, {gy}{end}")
        for q in near.before if bars else ():
            lines.append(f"add_near(G, m, near_{low(q)}, NULL, {low(q)}_bar);")
        for q in self.grid.fields:
            array = self.grid.arrays["gp", q.index]
            if array in cell.writes:
                lines.append(f"if ({array}) add_parameter(G, m, near_{array}, {array});")
        return lines

    # ---- Jacobian ----

    def jacobian(self, entries):
        if not entries:
            return
        cell = self.cell("jac", [Target(f"e[{n}]", "=", a) for n, (_, _, a) in enumerate(entries)], ["e"])
        product, put = "jac", "for (int l = 0; l < ENTRIES; l++) J[place[l]] = e[l];"
        place = f"const int *const place = G->place + ENTRIES*({self.grid.cell(self.grid.here)});"
        lines = self._prelude(cell, product)
        lines += loops(self.grid, ["double e[ENTRIES];", place, cell.call(), put])
        after = ["const int *const place = G->place + ENTRIES*G->cell[m];",
                 "for (int l = 0; l < ENTRIES; l++) if (place[l] >= 0) J[place[l]] = 0;",
                 "for (int l = 0; l < ENTRIES; l++) if (place[l] >= 0) J[place[l]] += e[l];"]
        self._edges("jac", product, cell, STATES, after, local="        double e[ENTRIES];\n")
        self._print(product, "jac", lines + "    jac_edges(x, J, ctx);\n")

    # ---- pieces of functions ----

    def cell(self, name, targets, writes):
        cell = Cell(self.grid, name, targets, writes)
        for k in cell.loads:
            if k[1].endswith("p"):
                self.parameter_loads.add(k[3])
            else:
                self.loads.add(("v", "y", k[2], k[3]))
        self.text.append(cell.text)
        return cell

    def _worth(self, product, cost):
        others = [k for k in self.products.others] or self.products.active
        return DIRECTIONS[product] and others and cost[STATES] <= WORTH * max(cost[INPUTS], 1)

    def _alone(self, product):
        """The condition that directions are in states alone"""
        parts = []
        outside = self.g.variables(self.grid.outside, "p", "t")
        for q in DIRECTIONS[product]:
            for s in ("p", "t"):
                if any(k[1] == s for k in self.products.others + outside):
                    parts.append(f"!{q}x->p" if s == "p" else f"{q}x->t == 0")
        return " && ".join(parts)

    def _source(self, array):
        """Where an array begins: in the point, a direction or the gradient"""
        g = self.grid
        if array in ("y", "dy", "ey"):
            point = array[:-1] + "x"
            return "x->y" if array == "y" else f"{point}->y ? {point}->y : G->zeros"
        if array == "gy":
            return "g->y"
        for (side, index), name in g.arrays.items():
            if name == array:
                place = f"{len(g.scalars)} + " * bool(g.scalars)
                k = g.place[index]
                place += "0" if k == 0 and not g.scalars else "" if k == 0 else f"{k}*G->cells" if k > 1 else "G->cells"
                place = place.removesuffix(" + ")
                at = lambda p: f"{p}->p" + (f" + {place}" if place != "0" else "")          # noqa: E731
                point = {"p": "x", "dp": "dx", "ep": "ex", "gp": "g"}[side]
                if side == "p":
                    return at("x")
                return f"{point}->p ? {at(point)} : {'NULL' if side == 'gp' else 'G->zeros'}"
        return None

    def _declare(self, arrays):
        lines = ""
        for a in arrays:
            source = self._source(a)
            if source:
                kind = "double" if a == "gy" or a in [n for (s, _), n in self.grid.arrays.items() if s == "gp"] \
                    else "const double"
                lines += f"    {kind} *const {a} = {source};\n"
        return lines

    def _numbers(self, cell, product):
        if not cell.uses_numbers:
            return ""
        d = DIRECTIONS.get(product, "")
        return f"    const numbers s = numbers_at({', '.join(['G', 'x'] + [f'{q}x' for q in d] + ['NULL'] * (2 - len(d)))});\n"

    def _prelude(self, cell, product):
        return self._declare(cell.reads + cell.writes) + self._numbers(cell, product)

    def _edges(self, name, product, cell, spaces, after, kind="edges", gather=False, bars=False, before=(), sums=False,
               states=True, extra=(), local=""):
        """A function for the cells that are listed because they are near boundaries"""
        outputs = [w for w in cell.writes if w not in ("sum", "e")]
        lines = self._declare([a for a in cell.reads + cell.writes if a not in ("y", "gy")])
        lines += self._numbers(cell, product) + self._outside(cell, product, spaces, bars, before, gather)
        patches = [f"near_{a}[{'FIELDS*' * (not self._is_parameter(a) and self.grid.nf > 1)}PATCH]"
                   for a in cell.reads + outputs]
        lines += "\n".join(listed_doubles(patches)) + "\n" if patches else ""
        first, last = {"edges": ("0", "G->covered_edges" if gather else "G->edges"), "rim": ("G->rim", "G->listed")}[kind]
        lines += f"    for (int m = {first}; m < {last}; m++) {{\n" + local
        for a in cell.reads:
            lines += f"        {self._fill(cell, a, gather)}\n"
        for a in outputs:
            if a != "out":
                lines += f"        memset(near_{a}, 0, sizeof near_{a});\n"
        lines += f"        {cell.call(near=True)}\n" + "".join(f"        {line}\n" for line in after) + "    }\n"
        if bars:
            lines += self._back_outside(product, spaces, before)
        name = f"{name}_{kind}"
        arguments_ = list(SIGNATURES_HERE[product]) + (["double *sum"] if sums else [])
        self.text.append("APART " + self._whole(name, arguments_, lines))

    def _is_parameter(self, array):
        return array in self.grid.arrays.values()

    def _fill(self, cell, a, gather):
        if self._is_parameter(a):
            return f"read_parameter(G, m, {a}, near_{a});"
        if a == "w" and not cell.reaches("w"):
            return "read_own(G, m, w, near_w);"
        source = {"y": "x->y", "dey": "G->zeros"}.get(a, a)
        values = {"y": "outside", "dy": "d_outside", "ey": "e_outside", "dey": "de_outside", "w": "NULL"}[a]
        if gather:
            values = "NULL"
        return f"read_near(G, m, {source}{', ' + values if self.grid.has_outside else ''}, near_{a});"

    def _outside(self, cell, product, spaces, bars, before, gather):
        """Declarations of the values outside of the grid, and of their weights"""
        if not self.grid.has_outside:
            return ""
        count = 1 + len(self.grid.outside)
        names = {"y": "outside", "dy": "d_outside", "ey": "e_outside", "dey": "de_outside"}
        used = [a for a in names if a in cell.reads and not gather]
        declared = [names[a] for a in used] + ["bar"] * bars + [low(q) + "_bar" for q in before]
        if not declared:
            return ""
        lines = "    double " + ", ".join(f"{n}[{count}] = {{0}}" for n in declared) + ";\n"
        if self.grid.outside and "y" in used:
            lines += "    outside_value(x, outside + 1, ctx);\n"
        if self.products.active and spaces == INPUTS:
            for a, point in (("dy", "dx"), ("ey", "ex")):
                if a in used:
                    lines += f"    outside_tangent(x, {point}, {names[a]} + 1, ctx);\n"
            if "dey" in used:
                lines += "    outside_tangent2(x, dx, ex, de_outside + 1, ctx);\n"
        return lines

    def _back_outside(self, product, spaces, before):
        """Weights of values outside go to what these depend on"""
        lines = "    outside_adjoint(x, bar + 1, g, ctx);\n"
        if before == [""]:
            lines += "    outside_adjoint_tangent(x, dx, low_bar + 1, g, ctx);\n"
        if len(before) == 3:
            lines += "    outside_adjoint_tangent(x, ex, d_low_bar + 1, g, ctx);\n" \
                "    outside_adjoint_tangent(x, dx, e_low_bar + 1, g, ctx);\n" \
                "    outside_adjoint_tangent2(x, dx, ex, low_bar + 1, g, ctx);\n"
        return lines

    def _print(self, product, name, lines, begin=""):
        self.text.append(self._whole(name, SIGNATURES_HERE[product], lines, begin))

    def _whole(self, name, arguments_, lines, begin=""):
        if "G->" in lines or "(G, " in lines or "(G)" in lines:
            lines = f"    const {self.grid.name}_grid *const G = ctx;\n" + lines
        whole = begin + lines
        unused = [a for a in [a.split()[-1].lstrip("*") for a in arguments_] + ["ctx"] if not _occurs(a, whole)]
        return signature(name, arguments_) + "{\n" + whole + "    return " + "".join(f"(void){a}, " for a in unused) + \
            "0;\n}\n"


SIGNATURES_HERE = SIGNATURES | {"jac": ("const costate_point *x", "double *J")}


def arguments(product):
    return [a.split()[-1].lstrip("*") for a in SIGNATURES_HERE[product]]


def low(q):
    """The array of a derivative below the one at hand"""
    return f"{q}_low".lstrip("_")


def listed_doubles(items):
    from .names import listed
    return listed("    double ", items, ";", 8)
