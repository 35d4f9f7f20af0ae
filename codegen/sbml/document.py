"""What an SBML file declares, as data; formulas are terms with the identifiers of the file."""
from dataclasses import dataclass, field

from ..real import Refused
from .xml_file import Element


@dataclass
class Declared:
    """What has an identifier and a value: a parameter, compartment, species or species reference."""
    id: str
    element: Element
    value: object = None                     # size of a compartment, stoichiometry; a number, or None: not given
    constant: bool = True
    unit: str = ""
    name: str = ""


@dataclass
class Compartment(Declared):
    dimensions: float = 3.0


@dataclass
class Species(Declared):
    """value: the initial amount, or the initial concentration if is_concentration"""
    compartment: str = ""
    is_concentration: bool = False
    only_substance: bool = False             # the identifier means the amount; else the concentration
    boundary: bool = False
    conversion: str = ""                     # the parameter that is its conversion factor


@dataclass
class Reference(Declared):
    """A reactant or product; id is unique in any case; term: the stoichiometry, where it is not just the value"""
    species: str = ""
    sign: int = 1
    term: object = None


@dataclass
class Reaction:
    id: str
    element: Element
    references: list
    law: object = None                       # a term; None: the file has no formula
    name: str = ""


@dataclass
class Event:
    id: str
    element: Element
    trigger: object                          # a term
    assignments: dict                        # {id: term}, in the order of the file
    priority: object = None                  # a term
    delay: object = None                     # a term
    initial: bool = True                     # what the trigger is said to be before the start
    persistent: bool = True
    at_trigger: bool = True                  # assignments use the values at the time of the trigger
    name: str = ""
    time: object = None                      # a change of conditions at this time, which the file does not declare.
                                             # It happens if the trigger holds, which depends on parameters; the
                                             # concentrations that it sets are those in the sizes that it sets


@dataclass
class Document:
    path: str
    level: int
    version: int
    id: str = ""
    name: str = ""
    element: Element = None
    parameters: dict = field(default_factory=dict)       # {id: Declared}, with local ones as REACTION_ID
    compartments: dict = field(default_factory=dict)     # {id: Compartment}
    species: dict = field(default_factory=dict)          # {id: Species}
    references: dict = field(default_factory=dict)       # {id: Reference}
    reactions: dict = field(default_factory=dict)        # {id: Reaction}
    assignment_rules: dict = field(default_factory=dict)     # {id: term}
    rate_rules: dict = field(default_factory=dict)           # {id: term}
    algebraic_rules: list = field(default_factory=list)      # [(term that is 0, element)]
    initial: dict = field(default_factory=dict)              # initial assignments: {id: term}
    events: list = field(default_factory=list)
    fresh: str = ""                          # the parameter that is 0 in runs that continue others: triggers that are
                                             # true at their start became so before.  "": there are no such runs
    elements: dict = field(default_factory=dict)         # {id: element of its rule or declaration}, for messages

    def declared(self, id_):
        """The Declared of an identifier; None: it is none of those"""
        for group in (self.species, self.parameters, self.compartments, self.references):
            if id_ in group:
                return group[id_]
        return None

    def refusal(self, id_, what):
        element = self.elements.get(id_)
        return element.refusal(what) if element else Refused(f"{self.path}: {id_}: {what}")
