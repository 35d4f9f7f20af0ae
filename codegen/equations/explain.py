"""What costate-model has understood of a model, as text: states, parameters, events, relations, conservation laws, and
how stiff it is at the start.

Expressions are printed from the graph, as they are after simplification: not as the file has them."""
import math
import textwrap

from .conservation import conservation_laws
from .eq_file import SUM, File, value
from .functions import ORDER
from .model import ANY_MODE, CROSSES, FALLS, RISES, ZERO_FALSE, ZERO_TRUE
from .start_limit import PERIODIC, STEADY
from .stiffness import stiffness
from .times import SLACK

MOST = 72                                    # characters of an expression that are shown
WHEN = {CROSSES: "crosses 0", RISES: "rises through 0", FALLS: "falls through 0"}
TRUE = {(RISES, ZERO_FALSE): "> 0", (RISES, ZERO_TRUE): ">= 0", (FALLS, ZERO_FALSE): "< 0", (FALLS, ZERO_TRUE): "<= 0"}
LIMITS = {STEADY: "in a steady state", PERIODIC: "on a periodic orbit"}
LISTED = 8                                   # times that are shown


def explain(model, origin):
    """The text, with a line end behind each line"""
    with model.refused(origin):
        return "".join(line + "\n" for line in Explanation(model).lines())


class Explanation(File):
    """Of File it has the printing of expressions; quantities keep their names, and nothing gets a name of its own."""

    def __init__(self, model):
        self.model, self.g, self.texts = model, model.graph, {}
        self.names = {("t", 0): "t", ("mode", 0): "mode"}
        for space, quantities in (("y", model.states), ("p", model.parameters), ("m", model.memory)):
            for q in quantities:
                self.names[space, q.index] = q.name
                self.names["yp", q.index] = f"{q.name}'"
        self.names |= {("axis", k): axis.name for k, axis in enumerate(model.axes)}
        self.names |= {("size", k): name for k, name in enumerate(model.sizes)}
        for k in range(len(model.relations)):
            self.names["relation", k] = self.names["whole", k] = f"relation_{k + 1}"

    def lines(self):
        m = self.model
        out = [f"model {m.name}" + (f": {m.text}" if m.text else ""), f"    {self.form()}"]
        out += self.table("states", m.states, [("starts at", self.default_of(q)) for q in m.states])
        out += self.table("parameters", m.parameters, [("default", self.default_of(q)) for q in m.parameters])
        out += self.table("memory variables", m.memory, [("starts at", self.default_of(q)) for q in m.memory])
        out += self.table("running costs", m.costs, [("derivative", self.shown(a)) for a in m.cost_nodes])
        out += self.table("outputs", m.outputs, [("expression", self.shown(a)) for a in m.output_nodes])
        if m.units:
            out += ["", f"units: {m.units}"]
        if m.start_limit:
            out += ["", f"runs begin {LIMITS[m.start_limit.kind]}"]
        if self.g.functions:
            out += ["", "functions in C"] + [line for f in self.g.functions.values() for line in function_in_c(f)]
        if m.modes:
            out += ["", "modes", "    " + ", ".join(m.modes)]
        if m.events:
            out += ["", "events"] + [line for e in m.events for line in self.event(e)]
        if m.relations:
            out += ["", "relations: a step ends where they change"] + [self.relation(k, r)
                                                                       for k, r in enumerate(m.relations)]
        if m.stops:
            out += ["", "stops: known times at which the equations are not smooth", "    " + times(m.stops)]
        return out + self.laws() + \
            ["", "eigenvalues of the Jacobian at the start"] + ["    " + line for line in stiffness(m)]

    def form(self):
        m = self.model
        if m.implicit:
            what = "a residual F(t, y, y', p) = 0"
        else:
            what = "a mass matrix and a right-hand side" if m.mass else "a right-hand side"
        return f"{what}, {counted(len(m.equations), 'equation')}" + \
            f", {counted(len(m.reactions), 'reaction')}" * bool(m.reactions)

    def table(self, title, quantities, columns):
        """columns: (heading, text) of each quantity"""
        if not quantities:
            return []
        rows = [["name", columns[0][0], "unit", "meaning"]]
        rows += [[q.name + (f"[{','.join(q.axes)}]" if q.axes else ""), text, q.unit, q.text]
                 for q, (_, text) in zip(quantities, columns)]
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        return ["", f"{title}: {len(quantities)}"] + \
            ["    " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]

    def default_of(self, q):
        """Of a parameter, or what a state starts with"""
        number = 0.0 if q.value is None else self.g.const(q.value)
        if number is None:
            return self.shown(q.value)
        return "to be set" if math.isnan(number) else value(number)

    def event(self, e):
        when = f"at {times(e.times)}" if e.guard is None else \
            f"when {self.shown(e.guard)} {TRUE.get((e.direction, e.at_start)) or WHEN[e.direction]}"
        more = "" if e.active == ANY_MODE else f" in {self.model.modes[e.active]}"
        out = [f"    {e.name}: {when}{more}" + ", the run ends" * e.terminal]
        for (space, index), a in e.jumps.items():
            out.append(f"        {self.names[space, index]} := {self.shown(a)}")
        out += [f"        {self.model.costs[index].name} += {self.shown(a)}" for index, a in e.costs.items()]
        return out + ([] if e.mode is None else [f"        mode := {self.model.modes[e.mode]}"])

    def relation(self, k, r):
        text = self.shown(r.guard)
        return f"    relation_{k + 1}: " + (f"floor({text})" if r.whole else f"sign({text})")

    def laws(self):
        found = conservation_laws(self.model)
        if not found:
            return []
        out = ["", "conservation laws: constant between events, for all values of parameters"]
        for law in found:
            terms = [("- " if n < 0 else "+ ") + (f"{abs(n)} " if abs(n) != 1 else "") + self.model.states[i].name
                     for i, n in law.items()]
            out += wrapped(" ".join(terms).removeprefix("+ "))
        return out

    # ---- expressions ----

    def shown(self, a):
        text = self.expression(a)
        return text if len(text) <= MOST else text[:MOST - 3] + "..."

    def expression(self, a, least=SUM):
        for b in self.g.order([a]):
            if b not in self.texts:
                text, binds = self._fresh(b)
                self.texts[b] = text if len(text) <= 2*MOST else text[:2*MOST], binds       # shared ones grow fast
        return super().expression(a, least)

    def _text(self, root):
        return self.texts[root]

    def _fresh(self, a):
        """Modes by their names"""
        key = self.g.nodes[a]
        if key[0] == "cmp" and self.g.nodes[key[2]][:2] == ("v", "mode"):
            return f"mode {key[1]} {self.model.modes[int(self.g.const(key[3]))]}", SUM
        return super()._fresh(a)


def function_in_c(f):
    """What it has, and which products are missing for that reason"""
    where = f"{f.word} of {f.file}" if f.file else "a function of the program"
    lines = [f"    {f.name}({', '.join(f.arguments)}): {where}, with {f.derivatives()}"]
    missing = [product for product, order in ORDER.items() if order > f.orders]
    first = f"{', '.join(missing[:-1])} and " * (len(missing) > 1)
    return lines + [f"        where it is called there is no {first}{last}" for last in missing[-1:]]


def counted(number, what):
    return f"{number} {what}{'s' * (number != 1)}"


def times(given):
    """The first ones, or FIRST every STEP until LAST"""
    steps = [b - a for a, b in zip(given, given[1:])]
    if len(given) > 3 and max(steps) - min(steps) <= SLACK*max(map(abs, given)):
        return f"{value(given[0])} every {value(round(steps[0], 12))} until {value(given[-1])}"
    more = f", ... ({len(given)} times)" if len(given) > LISTED else ""
    return ", ".join(value(t) for t in given[:LISTED]) + more


def wrapped(text):
    return textwrap.wrap(text, 110, initial_indent="    ", subsequent_indent="        ", break_long_words=False)
