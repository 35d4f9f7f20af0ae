"""An SBML file as a Document.  What is not supported is refused with the element and its identifier."""
import math

from . import xml_file
from .document import Compartment, Declared, Document, Event, Reaction, Reference, Species
from .mathml import Formulas
from .terms import ZERO, names

IGNORED = {"notes", "annotation", "listOfUnitDefinitions", "listOfCompartmentTypes", "listOfSpeciesTypes",
           "listOfFunctionDefinitions", "listOfCompartments", "listOfSpecies", "listOfParameters",
           "listOfInitialAssignments", "listOfRules", "listOfReactions", "listOfEvents"}
NUMBERS = {"inf": math.inf, "+inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def read(path):
    """The Document of a file; codegen's Refused names file, line and element"""
    root = xml_file.read(path)
    if root.tag != "sbml" or not root.space.startswith(xml_file.SBML):
        raise root.refusal("this is not an SBML file: its root is not an sbml element with a namespace of SBML")
    try:
        level, version = int(root.get("level", "0")), int(root.get("version", "0"))
    except ValueError:
        level = version = 0
    if level not in (2, 3):
        raise root.refusal(f"level {root.get('level')} of SBML is not read; convert the file to level 2 or 3")
    for name, value in root.attributes.items():
        space = name.removesuffix(" required")
        if space != name and value in ("true", "1") and is_used(root, space):
            raise root.refusal(f"the package {package_of(space)} changes the meaning of the model and is not supported")
    model = root.first("model")
    if model is None:
        raise root.refusal("the file has no model")
    return Reader(path, level, version, model).document


def package_of(space):
    """comp of http://www.sbml.org/sbml/level3/version1/comp/version1"""
    return space.split("/")[-2] if space.count("/") > 1 else space


def is_used(root, space):
    """Whether an element below the root, or an attribute of one, is of this namespace"""
    return any(child.space == space or any(name.startswith(space + " ") for name in child.attributes) or
               is_used(child, space) for child in root)


class Reader:
    def __init__(self, path, level, version, model):
        self.level, self.model, self.formulas = level, model, Formulas()
        self.document = d = Document(str(path), level, version, model.get("id", ""), model.get("name", ""), model)
        for child in model:
            if child.space == model.space and child.tag not in IGNORED:
                raise child.refusal("this element is not supported")
        for e in model.listed("listOfFunctionDefinitions"):
            self.identifier(e)
            self.formulas.declare(e)
        for e in model.listed("listOfCompartments"):
            self.compartment(e)
        for e in model.listed("listOfSpecies"):
            self.species(e)
        for e in model.listed("listOfParameters"):
            d.parameters[self.identifier(e)] = self.parameter(e, e.get("id"))
        for e in model.listed("listOfReactions"):
            self.reaction(e)
        for e in model.listed("listOfRules"):
            self.rule(e)
        for e in model.listed("listOfInitialAssignments"):
            self.initial_assignment(e)
        for e in model.listed("listOfEvents"):
            self.event(e)
        self.check_names()

    # ---- attributes ----

    def identifier(self, e):
        id_ = e.get("id")
        if not id_ or not id_.isidentifier() or not id_.isascii():
            raise e.refusal("its id is missing, or is not a word" if not id_ else "its id is not a word")
        if id_ in self.document.elements:
            raise e.refusal(f"{id_} is declared twice; first in line {self.document.elements[id_].line}")
        self.document.elements[id_] = e
        return id_

    @staticmethod
    def number(e, name):
        """The value of an attribute; None: it is not there"""
        text = e.get(name)
        if text is None:
            return None
        try:
            value = NUMBERS.get(text.strip().lower())
            value = float(text) if value is None else value
        except ValueError:
            raise e.refusal(f"{name}={text!r} is not a number") from None
        return None if math.isnan(value) else value

    @staticmethod
    def flag(e, name, default):
        text = e.get(name)
        if text is None:
            return default
        if text.strip() not in ("true", "false", "1", "0"):
            raise e.refusal(f"{name}={text!r}; expected true or false")
        return text.strip() in ("true", "1")

    # ---- declarations ----

    def parameter(self, e, id_):
        return Declared(id_, e, self.number(e, "value"), self.flag(e, "constant", True), e.get("units", ""),
                        e.get("name", ""))

    def compartment(self, e):
        id_ = self.identifier(e)
        dimensions = self.number(e, "spatialDimensions")
        self.document.compartments[id_] = Compartment(
            id_, e, self.number(e, "size"), self.flag(e, "constant", True), e.get("units", ""), e.get("name", ""),
            3.0 if dimensions is None else dimensions)

    def species(self, e):
        id_, amount, content = self.identifier(e), self.number(e, "initialAmount"), \
            self.number(e, "initialConcentration")
        if e.get("compartment") not in self.document.compartments:
            raise e.refusal(f"its compartment {e.get('compartment')!r} is not declared")
        self.document.species[id_] = Species(
            id_, e, amount if content is None else content, self.flag(e, "constant", False),
            e.get("substanceUnits", ""), e.get("name", ""), e.get("compartment"), content is not None,
            self.flag(e, "hasOnlySubstanceUnits", False), self.flag(e, "boundaryCondition", False),
            e.get("conversionFactor") or self.model.get("conversionFactor") or "")

    def reaction(self, e):
        id_ = self.identifier(e)
        if self.flag(e, "fast", False):
            raise e.refusal("fast reactions are not supported: write the equilibrium as an algebraic rule")
        law, local = e.first("kineticLaw"), {}
        for p in (law.listed("listOfParameters") + law.listed("listOfLocalParameters")) if law is not None else []:
            name = f"{id_}_{p.get('id')}"
            while name in self.document.parameters or any(x.get("id") == name for x in self.all_elements()):
                name += "_"
            local[p.get("id")] = ("name", name)
            self.document.parameters[name] = self.parameter(p, name)
            self.document.elements[name] = p
        references = [self.reference(r, id_, sign) for tag, sign in (("listOfReactants", -1), ("listOfProducts", 1))
                      for r in e.listed(tag)]
        self.document.reactions[id_] = Reaction(id_, e, references, self.formulas.of(law, local), e.get("name", ""))

    def all_elements(self):
        return [x for each in self.model for x in each]

    def reference(self, e, reaction, sign):
        if e.get("species") not in self.document.species:
            raise e.refusal(f"the species {e.get('species')!r} of reaction {reaction} is not declared")
        id_ = self.identifier(e) if e.get("id") else f"{reaction}_{e.get('species')}_{e.line}"
        value = self.number(e, "stoichiometry")
        formula = e.first("stoichiometryMath")
        r = Reference(id_, e, 1.0 if value is None and self.level == 2 else value,
                      self.flag(e, "constant", self.level == 2), species=e.get("species"), sign=sign,
                      term=self.formulas.of(formula))
        if self.number(e, "denominator") is not None:
            r.value /= self.number(e, "denominator")
        self.document.references[id_] = r
        return r

    # ---- rules and events ----

    def rule(self, e):
        d, term = self.document, self.formulas.of(e)
        if e.tag == "algebraicRule":
            d.algebraic_rules += [(term, e)] if term is not None else []
            return
        if e.tag not in ("assignmentRule", "rateRule"):
            raise e.refusal("this kind of rule is not supported")
        target = self.target(e, "variable")
        if target in d.assignment_rules or target in d.rate_rules:
            raise e.refusal(f"{target} has a second rule")
        if term is not None:
            (d.assignment_rules if e.tag == "assignmentRule" else d.rate_rules)[target] = term
            d.elements[target] = e

    def target(self, e, attribute):
        """What a rule or an assignment sets"""
        name = e.get(attribute)
        if not name or self.document.declared(name) is None:
            raise e.refusal(f"{name!r} is not a parameter, compartment, species or species reference")
        return name

    def initial_assignment(self, e):
        target, term = self.target(e, "symbol"), self.formulas.of(e)
        if target in self.document.initial:
            raise e.refusal(f"{target} has a second initial assignment")
        if term is not None:
            self.document.initial[target] = term

    def event(self, e):
        d, trigger = self.document, e.first("trigger")
        id_ = self.identifier(e) if e.get("id") else f"event_{len(d.events) + 1}"
        delay = self.formulas.of(e.first("delay"))
        condition = self.formulas.of(trigger)
        if condition is None:
            return                           # it never occurs
        assignments = {}
        for a in e.listed("listOfEventAssignments"):
            target, term = self.target(a, "variable"), self.formulas.of(a)
            if target in assignments:
                raise a.refusal(f"{target} is assigned twice")
            if target in d.assignment_rules:
                raise a.refusal(f"{target} has an assignment rule, which determines it")
            if term is not None:
                assignments[target] = term
        d.events.append(Event(id_, e, condition, assignments, self.formulas.of(e.first("priority")),
                              None if delay == ZERO else delay, self.flag(trigger, "initialValue", True),
                              self.flag(trigger, "persistent", True),
                              self.flag(e, "useValuesFromTriggerTime", True), e.get("name", "")))

    # ---- names ----

    def check_names(self):
        """Every name in a formula is declared"""
        d = self.document
        known = {*d.parameters, *d.compartments, *d.species, *d.reactions, *d.references}
        for term, element in self.formulas_and_places():
            for name in names(term):
                if name not in known:
                    raise element.refusal(f"{name} is not declared")
        for s in d.species.values():
            if s.conversion and s.conversion not in d.parameters:
                raise s.element.refusal(f"the conversion factor {s.conversion} is not a parameter")

    def formulas_and_places(self):
        d = self.document
        rules = {**d.assignment_rules, **d.rate_rules}
        yield from ((term, d.elements[id_]) for id_, term in rules.items())
        yield from d.algebraic_rules
        for e in self.model.listed("listOfInitialAssignments"):
            if e.get("symbol") in d.initial:
                yield d.initial[e.get("symbol")], e
        for r in d.reactions.values():
            yield from [(r.law, r.element)] * (r.law is not None)
            yield from ((x.term, x.element) for x in r.references if x.term is not None)
        for event in d.events:
            terms = event.trigger, *event.assignments.values(), event.priority, event.delay
            yield from ((term, event.element) for term in terms if term is not None)
