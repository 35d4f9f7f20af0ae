"""A Model as SBML, level 3 version 2: so that other tools can run what an equation file says.

All quantities are parameters.  States have rate rules, outputs and shared parts of formulas assignment rules.  What
SBML cannot say is refused: mass matrices, constraints and residuals, grids, modes, and events that end a run."""
from xml.sax.saxutils import quoteattr

from ..equations.model import ANY_MODE, CROSSES, FALLS, RISES, START_FIRE, ZERO_TRUE
from ..equations.names import identifier
from ..real import Refused
from .export_math import MATH, TIME, Formulas

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!-- written by costate-model from {origin} -->
<sbml xmlns="http://www.sbml.org/sbml/level3/version2/core" level="3" version="2">
<model id={id} name={name}>
"""


def export(model, origin):
    """The text of the file"""
    repeats = any(q.hidden for q in model.memory)
    for what, why in ((model.on_grid, "a grid"), (model.implicit, "a residual"),
                      (model.mass, "a mass matrix or a constraint"), (model.modes, "modes"),
                      (repeats, "events that repeat after a time that depends on parameters"),
                      (model.start_limit, "that runs begin in a steady state or on a periodic orbit")):
        if what:
            raise Refused(f"{origin}: SBML cannot say {why}")
    for event in model.events:
        if event.terminal or event.active != ANY_MODE and model.modes:
            raise Refused(f"{origin}: SBML cannot say that event {event.name} ends a run")
    return File(model, origin).text()


class File:
    def __init__(self, model, origin):
        self.model, self.g, self.origin, self.taken, names = model, model.graph, origin, set(), {}
        for space, quantities in (("y", model.states), ("p", model.parameters), ("m", model.memory),
                                  ("q", model.costs), ("o", model.outputs)):
            for q in quantities:
                names[space, q.index] = identifier(q.name, self.taken)
        self.names, self.formulas = names, Formulas(model, names)
        self.id = identifier(model.name, self.taken)

    def text(self):
        m, rates = self.model, self.model.kinetics()
        roots = [*rates, *m.cost_nodes, *m.output_nodes]
        shared = self.formulas.name_parts(roots, lambda: identifier("part", self.taken))
        rules = [self.rule("assignment", name, math) for name, math in shared]
        for space, nodes in (("y", rates), ("q", m.cost_nodes)):
            rules += [self.rule("rate", self.names[space, k], self.formulas.math(a)) for k, a in enumerate(nodes)]
        rules += [self.rule("assignment", self.names["o", k], self.formulas.math(a))
                  for k, a in enumerate(m.output_nodes)]
        lists = {"Parameters": self.parameters() + [self.parameter(name, None) for name, _ in shared],
                 "InitialAssignments": self.starts(), "Rules": rules, "Events": self.events()}
        head = HEAD.format(origin=self.origin.replace("--", "- -"), id=quoteattr(self.id),
                           name=quoteattr(m.text or m.name))
        body = [f"<listOf{name}>\n{''.join(items)}</listOf{name}>\n" for name, items in lists.items() if items]
        return head + "".join(body) + "</model>\n</sbml>\n"

    # ---- quantities ----

    def parameter(self, name, value, q=None, constant="false"):
        number = "" if value is None or value != value else f' value="{value!r}"'
        text = f" name={quoteattr(q.text)}" if q is not None and q.text else ""
        return f'<parameter id="{name}"{number}{text} constant="{constant}"/>\n'

    def parameters(self):
        m, g = self.model, self.g
        out = [self.parameter(self.names["p", q.index], g.const(q.value), q, "true") for q in m.parameters]
        for space, quantities in (("y", m.states), ("m", m.memory)):
            out += [self.parameter(self.names[space, q.index], 0.0 if q.value is None else g.const(q.value), q)
                    for q in quantities]
        return out + [self.parameter(self.names["q", q.index], 0.0, q) for q in m.costs] + \
            [self.parameter(self.names["o", q.index], None, q) for q in m.outputs]

    def starts(self):
        return [f'<initialAssignment symbol="{self.names[space, q.index]}">{self.formulas.math(q.value)}'
                "</initialAssignment>\n" for space, quantities in (("y", self.model.states), ("m", self.model.memory))
                for q in quantities if q.value is not None and self.g.const(q.value) is None]

    @staticmethod
    def rule(kind, name, math):
        return f'<{kind}Rule variable="{name}">{math}</{kind}Rule>\n'

    # ---- events ----

    def events(self):
        return [self.event(event, trigger, begins) for event in self.model.events
                for trigger, begins in self.triggers(event)]

    def triggers(self, event):
        """(text of a trigger, whether it is true before the start)"""
        for time in event.times:
            yield f"<apply><geq/>{TIME}<cn>{time!r}</cn></apply>", time != 0
        if event.guard is not None:
            guard = self.formulas.text(event.guard)
            relations = ("geq", "leq") if event.at_start == ZERO_TRUE else ("gt", "lt")
            for direction, relation in zip((RISES, FALLS), relations):
                if event.direction in (CROSSES, direction):
                    yield f"<apply><{relation}/>{guard}<cn>0</cn></apply>", event.at_start != START_FIRE

    def event(self, event, trigger, begins):
        assigned = [(self.names[key], self.formulas.math(a)) for key, a in event.jumps.items()]
        assigned += [(self.names["q", k], f"{MATH}<apply><plus/><ci>{self.names['q', k]}</ci>{self.formulas.text(a)}"
                      "</apply></math>") for k, a in event.costs.items()]
        name, inside = identifier(event.name, self.taken), "".join(
            f'<eventAssignment variable="{target}">{math}</eventAssignment>' for target, math in assigned)
        return (f'<event id="{name}" useValuesFromTriggerTime="true"><trigger initialValue="{str(begins).lower()}" '
                f'persistent="true">{MATH}{trigger}</math></trigger>'
                f"<listOfEventAssignments>{inside}</listOfEventAssignments></event>\n")
