"""The callbacks of a costate_map as C functions: value, and all products that are not zero.

    tangent           dout  = F'(x) dx                  tangent2           ddout = F''(x)[dx, ex]
    adjoint           g    += F'(x)^T w                 adjoint_tangent    g    += (F''(x)[dx, .])^T w
    adjoint_tangent2  g    += gradient of w . F''(x)[dx, ex]

They are nodes of one graph: the adjoint, and its tangents.  What needs derivatives that functions in C lack is left
out, and so are products of an order that was not asked for: the library then says what is missing.  A product has a
second version for directions in states alone where that saves work; gradients that are not requested are not
computed."""
import re
from dataclasses import dataclass, field

from .arrays import ARRAYS
from .body import Body, Target
from .nodes import CONDITIONS, LEAVES
from .pieces import Pieces, is_long, opened

INPUTS = ("y", "yp", "p", "t", "m")              # what a map is differentiated with respect to
STATES = ("y", "yp")
WORTH = 0.85                                     # a second version costs at most this part of the first
SHARED = 0.4                                     # several columns at once, if they share this part of the operations


@dataclass
class Map:
    """out = F(x): nodes; what x may hold follows from them."""
    name: str
    nodes: list
    title: str
    callbacks: dict = field(default_factory=dict)      # member of costate_map: name of the C function
    text: list = field(default_factory=list)
    targets: dict = field(default_factory=dict)        # what each C function of one column assigns
    alone: dict = field(default_factory=dict)          # product: what is zero where the first version serves


POINT = "const costate_point *x"
SIGNATURES = {
    "value": (POINT, "double *restrict out"),
    "tangent": (POINT, "const costate_point *dx", "double *restrict out"),
    "tangent2": (POINT, "const costate_point *dx", "const costate_point *ex", "double *restrict out"),
    "adjoint": (POINT, "const double *w", "const costate_gradient *g"),
    "adjoint_tangent": (POINT, "const costate_point *dx", "const double *w", "const costate_gradient *g"),
    "adjoint_tangent2": (POINT, "const costate_point *dx", "const costate_point *ex", "const double *w",
                         "const costate_gradient *g"),
    "tangents": (POINT, "int count", "const costate_point *dx", "double *restrict out"),
    "adjoints": (POINT, "int count", "const double *w", "const costate_gradient *g"),
}
ORDER = {"value": 0, "tangent": 1, "adjoint": 1, "tangent2": 2, "adjoint_tangent": 2, "adjoint_tangent2": 3}
DIRECTIONS = {"value": "", "tangent": "d", "tangent2": "de", "adjoint": "", "adjoint_tangent": "d",
              "adjoint_tangent2": "de"}


class Writer:
    """Prints maps of one model; names: a Names, which gives variables their names in C."""

    def __init__(self, model, names):
        self.model, self.g, self.names = model, model.graph, names
        self.longest = 1                         # of the arrays that stand for directions that are NULL

    def map(self, name, nodes, title, several=True, apart=False):
        """All functions of a map.  The text is in Map.text, the members in Map.callbacks.  several: also those for
        several columns at once, where they pay.  apart: gradients skip values with the weight 0, which may be
        undefined at this point while others are wanted."""
        m = Map(name, nodes, title)
        self.inputs = [key for space in INPUTS for key in self.g.variables(nodes, space)]
        wanted = [self.g.v(*key[1:]) for key in self.inputs]
        weights = [self.g.v("w", k) for k in range(len(nodes))]
        gradient = self.g.adjoint(self._skipped(nodes, weights) if apart else nodes, weights, wanted)
        self._value(m, nodes)
        for product in ("tangent", "tangent2"):
            self._forward(m, product, self._along(nodes, DIRECTIONS[product]))
        for product in ("adjoint", "adjoint_tangent", "adjoint_tangent2"):
            self._backward(m, product, self._along(gradient, DIRECTIONS[product]))
        if not several:
            return m
        tangent = self._along(nodes, "d")[INPUTS]
        self._several(m, "tangents", [Target(f"out[{k}]", "=", a) for k, a in enumerate(tangent)])
        self._several(m, "adjoints", [self._gradient(key, a) for key, a in zip(self.inputs, gradient)
                                      if not self.g.is_zero(a)])
        return m

    def _skipped(self, nodes, weights):
        """Each value behind the condition that its weight is not 0, if its derivatives can be infinite or NaN"""
        g = self.g
        can_fail = [any(g.nodes[b][0] in ("/", "pow", "f", "g", "call") for b in g.order([a])) for a in nodes]
        return [g.sel(g.cmp("!=", w, g.c(0)), a, g.c(0)) if fails else a
                for a, w, fails in zip(nodes, weights, can_fail)]

    def _along(self, nodes, directions):
        """Derivatives of nodes along directions in states alone, and in everything"""
        out = {}
        for spaces in (STATES, INPUTS):
            out[spaces] = nodes
            for q in directions:
                out[spaces] = self.g.tangent(out[spaces], self.seed(q, spaces))
        return out

    def seed(self, q, spaces):
        return {self.g.v(*key[1:]): self.g.v(q + key[1], *key[2:]) for key in self.inputs if key[1] in spaces}

    # ---- one function ----

    def _value(self, m, nodes):
        targets = [Target(f"out[{k}]", "=", a) for k, a in enumerate(nodes)]
        self._function(m, "value", m.name + "_value", targets)

    def _forward(self, m, product, versions):
        if all(self.g.is_zero(a) for a in versions[INPUTS]):
            return self._zeros(m, product)
        if ORDER[product] > self.g.orders or self.g.lacking(versions[INPUTS]):
            return None
        targets = {s: [Target(f"out[{k}]", "=", a) for k, a in enumerate(r)] for s, r in versions.items()}
        self._versions(m, product, targets, versions)

    def _backward(self, m, product, versions):
        if all(self.g.is_zero(a) for a in versions[INPUTS]):
            return self._nothing(m, product)
        if ORDER[product] > self.g.orders or self.g.lacking(versions[INPUTS]):
            return None
        targets = {s: [self._gradient(key, a) for key, a in zip(self.inputs, r) if not self.g.is_zero(a)]
                   for s, r in versions.items()}
        self._versions(m, product, targets, versions)

    @staticmethod
    def _gradient(key, a):
        if key[1] == "t":
            return Target("*g->t", "+=", a, "g->t")
        return Target(f"g{key[1]}[{key[2]}]", "+=", a, f"g{key[1]}")

    def _versions(self, m, product, targets, versions):
        """One for all directions; before it, one for directions in states alone, if that is cheaper"""
        name = f"{m.name}_{product}"
        cost = {s: self.g.cost(r) for s, r in versions.items()}
        others = [s for s in ("p", "t", "m") if any(key[1] == s for key in self.inputs)]
        if DIRECTIONS[product] and others and cost[STATES] <= WORTH * cost[INPUTS]:
            m.alone[product] = [(q, s) for q in DIRECTIONS[product] for s in others]
            self._alone(m, product, name, targets[STATES], targets[INPUTS])
        else:
            self._function(m, product, name, targets[INPUTS])

    def _alone(self, m, product, name, states, everything):
        """Two versions: targets for directions in states alone, and for directions in everything"""
        none = " && ".join(f"{q}x->t == 0" if s == "t" else f"!{q}x->{s}" for q, s in m.alone[product])
        begin = f"    if ({none}) return 0;\n"
        if states:
            self._function(m, product, name + "_y", states, register=False)
            begin = f"    if ({none}) return {name}_y({', '.join(words(SIGNATURES[product]))});\n"
        self._function(m, product, name, everything, begin)

    def _function(self, m, product, name, targets, begin="", register=True):
        m.text.append(self.printed(name, SIGNATURES[product], targets, begin))
        m.targets[name] = targets
        if register:
            m.callbacks[product] = name

    def printed(self, name, arguments, targets, begin=""):
        """A callback that computes targets; one that is long with its pieces before it"""
        body = Body(self.g, targets, self.names.variable)
        if is_long(body):
            pieces = Pieces(name, arguments, body, self.names)
            self.longest = max([self.longest, *pieces.lengths])
            return "\n".join([*pieces.functions, function(name, arguments, begin + pieces.array() + pieces.text())])
        text = body.text()
        loads = self.names.loads(self.g, [t.node for t in body.targets])         # as printed: x^2 - x*x is 0
        self.longest = max([self.longest, *loads.lengths])
        return function(name, arguments, begin + opened([t.guard for t in targets]) + loads.text + text + "\n")

    def _several(self, m, product, targets):
        """Several columns in one call, if much of the work depends on the point alone"""
        g = self.g
        if g.lacking([t.node for t in targets]):
            return
        roots = g.printable([t.node for t in targets])
        varying = {"d" + s for s in INPUTS} | {"w"}
        fixed = set()
        for a in g.order(roots):
            key = g.nodes[a]
            if key[0] == "c" or key[0] == "v" and key[1] not in varying or \
                    key[0] not in LEAVES and all(b in fixed for b in g.children(a)):
                fixed.add(a)
        shared = {a for a in fixed if g.nodes[a][0] not in LEAVES + CONDITIONS + ARRAYS}
        first = g.below(roots, shared)
        if not first or g.cost(first) < SHARED * g.cost(roots):
            return
        given = {a: g.v("given", k) for k, a in enumerate(first)}
        inside = [Target(t.lhs, t.op, a, t.guard)
                  for t, a in zip(targets, g.printable(g.rebuilt(roots, {}, given)))]
        used = {g.v(*key[1:]) for key in g.variables([t.node for t in inside], "given")}
        self._loop(m, product, {a: v for a, v in given.items() if v in used}, inside)

    def _loop(self, m, product, given, inside):
        """given: the nodes that the columns share, with the variables that stand for them; inside: targets of one
        column"""
        g, names, name = self.g, self.names, f"{m.name}_{product}"
        step = {"tangents": f"dx++, out += {len(m.nodes)}", "adjoints": f"g++, w += {len(m.nodes)}"}[product]
        loop = f"    for (int i = 0; i < count; i++, {step}) {{\n"
        column = Body(g, inside, names.variable, indent=" " * 8)
        point = Body(g, [Target(f"given[{g.nodes[v][2]}]", "=", a) for a, v in given.items()], names.variable)
        m.callbacks[product] = name
        if is_long(column) or is_long(point):
            parts = [Pieces(f"{name}_point", (POINT, "double *given"), point, names),
                     Pieces(name, (*SIGNATURES[product], "const double *given"), column, names, "xdeg")]
            self.longest = max([self.longest, *parts[1].lengths])
            count = max(g.nodes[v][2] for v in given.values()) + 1
            whole = f"    double given[{count}];\n" + parts[0].array(parts[1]) + parts[0].text() + loop + \
                parts[1].text(" " * 8) + "    }\n"
            m.text += [*parts[0].functions, *parts[1].functions, function(name, SIGNATURES[product], whole)]
            return
        shared = {a: names.variable(g.nodes[v]) for a, v in given.items()}
        nodes = [*shared, *(t.node for t in inside)]
        directions = names.loads(g, nodes, "de", " " * 8)
        self.longest = max([self.longest, *directions.lengths])
        whole = names.loads(g, nodes, "x").text \
            + Body(g, [], names.variable, shared, "s__", keep=shared).text() + "\n" + loop \
            + opened([t.guard for t in inside], " " * 8) + directions.text + column.text() + "\n    }\n"
        m.text.append(function(name, SIGNATURES[product], whole))

    # ---- products that are zero ----

    def _zeros(self, m, product):
        name, count = f"{m.name}_{product}", len(m.nodes)
        m.text.append(function(name, SIGNATURES[product], f"    for (int i = 0; i < {count}; i++) out[i] = 0;\n"))
        m.callbacks[product] = name

    def _nothing(self, m, product):
        m.callbacks[product] = f"no_{product}"


def nothing(product):
    """The function that adds nothing, for all maps of a file"""
    return function(f"no_{product}", SIGNATURES[product], "")


def words(arguments):
    """The names of a callback's arguments, with ctx"""
    return [a.split()[-1].lstrip("*") for a in arguments] + ["ctx"]


def function(name, arguments, text):
    """A callback with the statements of text"""
    return signature(name, arguments) + "{\n" + text + returned(arguments, text) + "}\n"


def returned(arguments, text):
    """The statement that returns 0; arguments that text does not use are named in it, for the compiler's warnings"""
    unused = [a for a in words(arguments) if not re.search(rf"(?<![\w>.]){a}\b", text)]
    return "    return " + "".join(f"(void){a}, " for a in unused) + "0;\n"


def signature(name, arguments):
    line = f"static int {name}({', '.join(arguments)}, void *ctx)\n"
    if len(line) <= 121:
        return line
    start = f"static int {name}("
    at = line.rfind(", ", 0, 118) + 1
    return line[:at] + "\n" + " " * len(start) + line[at + 1:]
