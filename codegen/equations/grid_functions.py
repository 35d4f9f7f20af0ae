"""The callbacks of a model on a grid: which functions there are, for which directions and gradients."""
from .body import Target
from .functions import DIRECTIONS, INPUTS, ORDER, STATES, WORTH
from .grid_cell import Cell, loops, one_loop
from .grid_edges import CALLBACKS, Edge, Printer, arguments, low


class Functions:
    """Of a map whose values are those of each cell; loads: what any function reads of a neighbourhood"""
    prefix, clear = "", "clear(out, ctx)"

    def __init__(self, grid, products):
        self.grid, self.products, self.g = grid, products, grid.g
        self.printer = Printer(grid, products)
        self.text, self.callbacks = [], {}
        self.spread = False                      # whether cells of the interior scatter to those near boundaries
        self.loads, self.parameter_loads = set(), set()
        self.time = bool(g_variables(products, "t"))
        self.wanted = "g->p || g->t" if self.time else "g->p"
        for product in ("value", "tangent", "tangent2"):
            self.forward(product)
        for product in ("adjoint", "adjoint_tangent", "adjoint_tangent2"):
            self.backward(product)

    # ---- forward products ----

    def forward(self, product):
        name = self.prefix + product
        versions = {s: self.products.forward(DIRECTIONS[product], s) for s in (STATES, INPUTS)}
        if self.products.lacks(ORDER[product], [a for nodes in versions[INPUTS] for a in nodes]):
            return
        begin = ""
        if self._worth(product, {s: self.g.cost(inner) for s, (inner, _) in versions.items()}):
            none = self._alone(product)
            if all(self.g.is_zero(a) for a in versions[STATES][0]):
                begin = f"    if ({none}) return {self.clear};\n"
            else:
                self._forward(product, name + "_y", *versions[STATES], STATES)
                begin = f"    if ({none}) return {call(name + '_y', product)};\n"
        self._forward(product, name, *versions[INPUTS], INPUTS, begin)
        self.callbacks[product] = name

    def _forward(self, product, name, inner, near, spaces, begin=""):
        if all(self.g.is_zero(a) for a in inner + near):
            self._print(product, name, f"    {self.clear};\n", begin)
            return
        targets, writes = self._results(inner)
        cell = self._cell(name, targets, writes) if targets else None
        lines = (self.printer.prelude(cell, product) if cell else "") + self._sums_of_results()
        if cell and cell.alone and near == inner:
            lines += one_loop(cell)
        else:
            near_cell = cell if near == inner else self._cell(name + "_near", *self._results(near))
            lines += loops(self.grid, [cell.call()]) if cell else ""
            lines += self._edges(name, product, near_cell, self.put, spaces=spaces, sums="sum" in writes)
        self._print(product, name, lines + self._put_sums(), begin)

    put = ["write_own(G, m, near_out, out);"]

    def _results(self, nodes):
        """Targets of the values of a cell, and the array that they are in"""
        return [Target(self.grid.address("out", f), "=", a) for f, a in enumerate(nodes)], ["out"]

    def _sums_of_results(self):
        return ""

    def _put_sums(self):
        return ""

    # ---- backward products ----

    def backward(self, product):
        directions, name = DIRECTIONS[product], self.prefix + product
        versions = {s: self.products.backward(directions, s) for s in (STATES, INPUTS)}
        nodes = {s: [a for _, a in v[0].states + v[0].parameters] for s, v in versions.items()}
        if self.products.lacks(ORDER[product], nodes[INPUTS]):
            return
        self.callbacks[product] = name
        if not nodes[INPUTS] and not versions[INPUTS][1].before:
            self.callbacks[product] = f"no_{product}"
            return
        begin = ""
        if directions and self._worth(product, {s: self.g.cost(a) for s, a in nodes.items()}):
            none = self._alone(product)
            begin = f"    if ({none}) return 0;\n"
            if nodes[STATES]:
                self._backward(product, name + "_y", *versions[STATES], STATES)
                begin = f"    if ({none}) return {call(name + '_y', product)};\n"
        self._backward(product, name, *versions[INPUTS], INPUTS, begin)

    def _backward(self, product, name, inner, near, spaces, begin=""):
        """One function if both gradients are scattered, which shares what they have in common; otherwise two"""
        others = bool(inner.parameters or near.parameters) or self.products.active
        states = inner.states or near.states
        make = self._gather if inner.gathered else self._scatter
        if not others:
            make(product, name, inner, near, spaces, begin=begin + "    if (!g->y) return 0;\n")
        elif states and not inner.gathered and reaches(inner.states):
            self._scatter(product, name, inner, near, spaces, others=True, begin=begin)
        else:
            lines = ""
            if states:
                make(product, name + "_states", inner, near, spaces)
                lines += f"    if (g->y) {call(name + '_states', product)};\n"
            self._scatter(product, name + "_parameters", inner, near, spaces, states=False, others=True)
            lines += f"    if ({self.wanted}) {call(name + '_parameters', product)};\n"
            self._print(product, name, lines, begin)

    def _gather(self, product, name, inner, near, spaces, begin=""):
        targets = [Target(self.grid.address("gy", k[2]), "+=", a) for k, a in inner.gathered]
        cell = self._cell(name, targets, ["gy"])
        lines = self.printer.prelude(cell, product) + loops(self.grid, [cell.call()])
        if self.grid.periodic[-1]:
            lines += self._edges(name, product, cell, ["add_own(G, m, near_gy, g->y);"], last="G->covered_edges",
                                 inside=True, spaces=spaces)
        if not all(self.grid.periodic):
            self.spread = True
            rim = self._cell(name + "_rim", *self._targets(near, True, None, False), alone=False)
            lines += self._edges(name, product, rim, ["add_open(G, m, near_gy, g->y);"], "rim", first="G->rim",
                                 last="G->rim_end", spaces=spaces)
        self._print(product, name, lines, begin)

    def _scatter(self, product, name, inner, near, spaces, states=True, others=False, begin=""):
        both, bars = states and others, others and self.products.active
        before = near.before if bars else {}
        slots = self._slots(inner, near) if others else None
        targets, writes = self._targets(inner, states, slots, both)
        near_targets, near_writes = self._targets(near, states or bars, slots, both)
        for q, found in before.items():
            near_targets += [Target(self.grid.address(low(q), k[2], k[3]), "+=", a) for k, a in found]
            near_writes.append(low(q))
        alone = not (states and reaches(inner.states) or others and reaches(inner.parameters))
        cell = self._cell(name, targets, writes, alone) if targets else None
        lines = (self.printer.prelude(cell, product) if cell else "") + self._sum(slots, both)
        same = cell and near_targets == targets
        if same and cell.alone:
            lines += one_loop(cell)
        else:
            near_cell = cell if same else self._cell(name + "_near", near_targets, near_writes, False)
            lines += loops(self.grid, [cell.call()]) if cell else ""
            lines += self._edges(name, product, near_cell, self._give_back(near_cell, states, others, before),
                                 spaces=spaces, bars=bars, before=list(before), sums=bool(slots))
        self._print(product, name, lines + self._add_sums(slots, both), begin)

    # ---- pieces of gradients ----

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
                guard = array if guarded or self.time else None
                targets.append(Target(f"{array}[{g.cell(k[3])}]", "+=", a, guard))
            else:
                array = "sum"
                targets.append(Target(f"sum[{slots[k]}]", "+=", a, "sum" if guarded else None))
            writes += [array] * (array not in writes)
        return targets, writes

    def _sum(self, slots, both):
        if not slots:
            return ""
        if both:
            return f"    double total[{len(slots)}] = {{0}}, *const sum = {self.wanted} ? total : NULL;\n"
        return f"    double sum[{len(slots)}] = {{0}};\n"

    def _add_sums(self, slots, both):
        lines = ""
        for k, n in (slots or {}).items():
            total = f"{'total' if both else 'sum'}[{n}]"
            if k[1] == "t":
                lines += f"    if (g->t) *g->t += {total};\n"
            else:
                guard = "if (g->p) " if both or self.time else ""
                lines += f"    {guard}g->p[{self.grid.place[k[2]]}] += {total};\n"
        return lines

    def _give_back(self, cell, states, others, before):
        """What a cell near a boundary adds to the gradient"""
        gy, lines, bars = "g->y" if states else "NULL", [], others and self.products.active
        end = ", bar);" if bars else ", NULL);" if self.grid.has_outside else ");"
        if "gy" in cell.writes:
            guard = "if (g->y) " * (others and not self.grid.has_outside)
            lines.append(f"{guard}add_near(G, m, near_gy, {gy}{end}")
        lines += [f"add_near(G, m, near_{low(q)}, NULL, {low(q)}_bar);" for q in before]
        for array in cell.writes:
            if self.grid.is_gradient(array):
                lines.append(f"if ({array}) add_parameter(G, m, near_{array}, {array});")
        return lines

    # ---- pieces of functions ----

    def _cell(self, name, targets, writes, alone=True):
        nodes = self.grid.hoisted([t.node for t in targets])
        targets = [Target(t.lhs, t.op, a, t.guard) for t, a in zip(targets, nodes)]
        cell = Cell(self.grid, name, targets, writes, alone)
        for k in cell.loads:
            if k[1].endswith("p"):
                self.parameter_loads.add(k[3])
            else:
                self.loads.add(("v", "y", k[2], k[3]))
        self.text.append(cell.text)
        return cell

    def _edges(self, name, product, cell, after, kind="edges", **more):
        """Prints the function for cells near boundaries; the statement that calls it"""
        edge = Edge(f"{name}_{kind}", product, cell, after, **more)
        self.text.append(self.printer.edge(edge))
        return f"    {call(edge.name, product, ['sum'] * edge.sums)};\n"

    def _print(self, product, name, lines, begin=""):
        self.text.append(self.printer.function(name, CALLBACKS[product], lines, begin))

    def _worth(self, product, cost):
        """Whether there is a version for directions in states alone"""
        others = self.products.others or self.products.active
        return DIRECTIONS[product] and others and cost[STATES] <= WORTH * max(cost[INPUTS], 1)

    def _alone(self, product):
        """The condition that directions are in states alone"""
        found = [s for s in ("p", "t") if g_variables(self.products, s)]
        return " && ".join(f"!{q}x->p" if s == "p" else f"{q}x->t == 0" for q in DIRECTIONS[product] for s in found)


class Start(Functions):
    """Of the map from t and p to initial values, and to running costs, which are 0"""
    prefix, clear = "start_", "clear_all(out, ctx)"

    def _put_sums(self):
        costs = len(self.grid.model.costs)
        return f"    for (int k = 0; k < {costs}; k++) out[G->problem.n + k] = 0;\n" * bool(costs)


class Sums(Functions):
    """Of a map whose values are sums over all cells, as running costs"""

    def __init__(self, grid, products, prefix):
        self.prefix, self.count = prefix + "_", len(products.F)
        self.clear, self.put = f"{prefix}_clear(out)", []
        super().__init__(grid, products)
        if any(self.clear in text for text in self.text):
            self.text.insert(0, f"static int {prefix}_clear(double *out)\n{{\n"
                                f"    memset(out, 0, {self.count} * sizeof *out);\n    return 0;\n}}\n")

    def _results(self, nodes):
        return [Target(f"sum[{k}]", "+=", a) for k, a in enumerate(nodes) if not self.g.is_zero(a)], ["sum"]

    def _sums_of_results(self):
        return f"    double sum[{self.count}] = {{0}};\n"

    def _put_sums(self):
        return "".join(f"    out[{k}] = sum[{k}];\n" for k in range(self.count))


def g_variables(products, space):
    """Of one space, in the equations and outside of the grid"""
    return products.g.variables(products.F + products.outside, space)


def reaches(found):
    """Whether a gradient is scattered to neighbours"""
    return any(any(k[3]) for k, _ in found)


def call(name, product, more=()):
    return f"{name}({', '.join([*arguments(product), *more, 'ctx'])})"
