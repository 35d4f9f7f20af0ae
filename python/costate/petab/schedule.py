"""How the experiments of a PEtab problem of version 2 alter its model.

The first period of an experiment sets initial values, as the specification says in "Initialization and parameter
application": the model computes the others from them.  A later period is an event at a known time, whose assignments
are those of its conditions ("Condition table", phases 1 to 4).  One model serves all experiments: parameters choose
what happens in a run.  Their identifiers contain a blank, so that they differ from all of the files."""
import math
from dataclasses import dataclass, field

from costate import _generator as generator
from costate.petab.model import Mapping
from costate.petab.tables import PetabError, as_number

NEVER = -math.inf


@dataclass
class Period:
    """Conditions that begin at a time: Rows by target"""
    time: float
    targets: dict = field(default_factory=dict)
    names: list = field(default_factory=list)


class Choice:
    """A value that runs choose: that of the parameter `value`, which is a number or a parameter of the table, or a
    formula, or `otherwise` where a run sets none.  settings: {run: [(parameter, text, row), ...]}"""

    def __init__(self, name, otherwise, set_, runs, schedule):
        """set_: {run: Row} of those that set it"""
        self.value, self.choice, self.settings = f"{name} value", f"{name} choice", {}
        zero, formulas = ("number", 0.0), []
        for run, row in set_.items():
            if schedule.is_plain(row):
                self.settings[run] = [(self.value, row.text("targetValue"), row), (self.choice, "1", row)]
            else:
                term = schedule.files.formula(row, "targetValue")
                formulas += [] if term in formulas else [term]
                self.settings[run] = [(self.choice, str(2 + formulas.index(term)), row)]
        number = otherwise[1] if otherwise and otherwise[0] == "number" else None
        schedule.declare(self.value, 0.0 if number is None else number)
        if not formulas and (number is not None or len(set_) == len(runs)):
            self.term = ("name", self.value)
            self.settings = {run: of[:1] for run, of in self.settings.items()}
            return
        schedule.declare(self.choice, 0.0)
        self.term = otherwise or zero
        for k, term in enumerate([("name", self.value), *formulas]):
            self.term = ("if", ("==", ("name", self.choice), ("number", float(k + 1))), term, self.term)


class Schedule:
    """given, wanted, continues: as of version1.Columns; experiments: {identifier: Periods} of those that were measured;
    late: a Row of each that was measured at infinity"""

    def __init__(self, files, document, experiments, late):
        self.files, self.document, self.wanted, self.late = files, document, [], late
        rules = {*document.assignment_rules, *document.rate_rules}
        self.given = [id_ for id_ in files.parameters if document.declared(id_) is not None and id_ not in rules]
        for id_ in files.parameters:
            if document.declared(id_) is None and id_ not in document.reactions:
                self.declare(id_, 1.0)
        self.stages, self.changes, self.times_of, self.reset = {}, {}, {}, {}
        self.continues = any(periods[0].time == NEVER for periods in experiments.values())
        for id_, periods in experiments.items():
            for period in periods:
                for target, row in period.targets.items():
                    self.check_target(target, row)
            self.split(id_, periods)
        self.check_starts()
        self.settings = {stage: [] for stage in self.stages}
        self.set_starts()
        self.set_changes()
        self.set_fresh()

    def declare(self, id_, number):
        """a parameter that the model lacks"""
        declared = generator.module("sbml.document").Declared
        self.document.parameters[id_] = declared(id_, self.document.element, number)

    def is_plain(self, row):
        """a number, or a parameter of the table"""
        text = row.text("targetValue")
        return as_number(text) is not None or text in self.files.parameters

    # ---- what happens when

    def check_target(self, target, row):
        document = self.document
        if target in document.assignment_rules or target in document.reactions:
            raise row.wrong(f"{target} follows from the model, by a rule or a reaction, and cannot be set")
        if document.declared(target) is None:
            self.declare(target, None)

    def split(self, id_, periods):
        """Initial values, changes inside, and what is set between pre-equilibration and the run"""
        later, start = [p for p in periods if p.time > NEVER], dict(periods[0].targets)
        for target, row in start.items():
            self.check_first(row)
        begins = later[0].time if later else 0.0
        reset = {}
        if periods[0].time == NEVER:
            self.stages["before", self.name_before(periods[0])] = dict(start)
            if later and self.only_resets(later[0]):
                reset = later.pop(0).targets
        else:
            later.pop(0)
        self.stages["run", id_], self.reset[id_] = {**start, **reset}, list(reset)
        last = max((t for t in self.measured(id_) if t < math.inf), default=NEVER)
        inside = [p for p in later if p.targets and (p.time <= last or id_ in self.late)]
        if id_ in self.late and inside:
            raise self.late[id_].wrong("a measurement at infinity after the change of conditions at "
                                       f"{inside[0].time:g} is not supported")
        for period in inside:
            self.changes.setdefault(period.time, {})["run", id_] = period.targets
        self.times_of[id_] = begins, max((p.time for p in inside), default=NEVER)

    def measured(self, id_):
        return [row.number_of("time") for row in self.files.measurements if row.text("experimentId") == id_]

    @staticmethod
    def name_before(period):
        return "+".join(sorted(period.names)) or "model"

    def names_in(self, row):
        return generator.module("sbml.terms").names(self.files.formula(row, "targetValue"))

    def check_first(self, row):
        for name in self.names_in(row):
            if name not in self.files.parameters:
                raise row.wrong(f"targetValue of the first period contains {name}, which is not in the table of "
                                "parameters")

    def only_resets(self, period):
        """Whether the conditions set values that depend on parameters alone, and nothing else changes by them.  Then
        they are initial values of the run that follows"""
        document, terms = self.document, generator.module("sbml.terms")
        used = {name for term in document.initial.values() for name in terms.names(term)}
        return not document.events and all(
            target not in document.compartments and target not in used and
            all(name in self.files.parameters for name in self.names_in(row)) for target, row in period.targets.items())

    def check_starts(self):
        """Events and initial values of the file are those of a run that begins at 0"""
        terms = generator.module("sbml.terms")
        late = [id_ for id_, (begins, _) in self.times_of.items() if begins != 0]
        if late and any(terms.has(term, ("time",)) for term in self.document.initial.values()):
            raise PetabError(f"{self.document.path}: initial assignments depend on the time, and the experiment "
                             f"{late[0]} begins at {self.times_of[late[0]][0]:g}: only runs from 0 are supported")
        fresh = [id_ for id_ in late if ("run", id_) in self.stages and not self.follows(id_)]
        if fresh and any(not event.initial for event in self.document.events):
            raise PetabError(f"{self.document.path}: there are events that can occur at the start, and the experiment "
                             f"{fresh[0]} begins at {self.times_of[fresh[0]][0]:g}: only runs from 0 are supported")

    def follows(self, id_):
        """whether the experiment begins with pre-equilibration"""
        return self.files.experiments[id_][0].time == NEVER

    # ---- the model

    def set_starts(self):
        targets = dict.fromkeys(target for of in self.stages.values() for target in of)
        for target in targets:
            set_ = {stage: of[target] for stage, of in self.stages.items() if target in of}
            own = self.own_start(target)
            if own is None and len(set_) < len(self.stages):
                raise next(iter(set_.values())).wrong(f"{target} is not in the model: all experiments must set it")
            choice = Choice(f"{target} start", own, set_, self.stages, self)
            self.document.initial[target] = choice.term
            for stage, settings in choice.settings.items():
                self.settings[stage] += settings

    def own_start(self, id_):
        """The initial value that the model gives to an identifier, a term, or None"""
        document, terms = self.document, generator.module("sbml.terms")
        if id_ in document.initial:
            return document.initial[id_]
        declared = document.declared(id_)
        if declared.value is None:
            return terms.ONE if id_ in document.compartments else terms.ZERO if id_ in document.species else None
        term = terms.number(declared.value)
        if id_ in document.species:
            derived, size = generator.module("sbml.derived").Derived(document), ("name", declared.compartment)
            if derived.means_amount(id_) == declared.is_concentration:
                term = (terms.product if declared.is_concentration else terms.quotient)(term, size)
        return term

    def set_changes(self):
        document, events = self.document, []
        event, zero = generator.module("sbml.document").Event, ("number", 0.0)
        for time, of in sorted(self.changes.items()):
            at, assignments = f"{len(events) + 1}", {}
            targets = sorted(dict.fromkeys(target for each in of.values() for target in each),
                             key=lambda id_: id_ not in document.compartments)
            for target in targets:
                set_ = {run: each[target] for run, each in of.items() if target in each}
                choice = Choice(f"{target} {at}", ("name", target), set_, self.stages, self)
                assignments[target] = choice.term
                for run, settings in choice.settings.items():
                    self.settings[run] += settings
            for species in self.inside(targets):
                assignments.setdefault(species, ("name", species))
            self.declare(f"change {at} happens", 0.0)
            for run in of:
                self.settings[run] += [(f"change {at} happens", "1", None)]
            events.append(event(f"change {at}", document.element, ("!=", ("name", f"change {at} happens"), zero),
                                assignments, time=time))
        document.events[:0] = events

    def inside(self, targets):
        """Species that keep their values, concentrations or amounts, when the sizes of compartments change"""
        return [id_ for id_, s in self.document.species.items() if s.compartment in targets and
                id_ not in self.document.assignment_rules]

    def set_fresh(self):
        """In runs that follow pre-equilibration, triggers have been looked at before"""
        if not self.continues or all(event.initial for event in self.document.events):
            return
        self.document.fresh = "run fresh"
        self.declare("run fresh", 1.0)
        for stage in self.stages:
            if stage[0] == "run" and self.follows(stage[1]):
                self.settings[stage] += [("run fresh", "0", None)]

    # ---- what a problem asks for

    def before(self, equations, estimated, name):
        return self._mapping(equations, estimated, ("before", name))

    def mapping(self, equations, estimated, id_):
        mapping = self._mapping(equations, estimated, ("run", id_))
        places = [equations.state(target) for target in self.reset[id_]]
        mapping.reset = [place for place in places if place is not None]
        return mapping

    def _mapping(self, equations, estimated, stage):
        mapping = Mapping(equations, self.files, estimated)
        for parameter, text, row in self.settings[stage]:
            mapping.put(parameter, text, row)
        return mapping

    def times(self, id_):
        """(start of the run, time of the last change of conditions inside)"""
        return self.times_of[id_]
