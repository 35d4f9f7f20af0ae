"""The equations of a PEtab problem, and where its identifiers are in them.

The SBML model becomes an equation file.  Observables and their noise are outputs; what the tables name and the model
lacks, such as scale factors and observableParameter1_..., are further parameters."""
import math

from costate import _generator as generator
from costate.fitting.unknowns import Places
from costate.models import Model
from costate.petab.tables import PetabError, as_number

CHANGING = ("rule", "reaction")         # kinds of what has no initial value of its own


class Equations:
    """model: a Model; index(id): the place of a parameter; outputs 2i and 2i + 1: observable i and its noise"""

    def __init__(self, files, name, options):
        sbml, terms, self.refused = generator.module("sbml"), generator.module("sbml.terms"), \
            generator.module("real").Refused
        try:
            self.document = sbml.read(str(files.sbml))
            self.columns = columns_of(files)
            outputs = self.outputs(files, sbml, terms)
            given = self.given(files)
            extra = self.extra(files, outputs, terms)
            written = sbml.write(self.document, name, given, extra, outputs)
        except self.refused as error:
            raise PetabError(str(error)) from None
        self.text, self.names, self.given_ids = written.text, written.names, set(given)
        self.model = Model(written.text, file=str(files.sbml), **options)
        self._places = {word: k for k, word in enumerate(self.model.parameters)}
        self._states = {word: k for k, word in enumerate(self.model.states)}
        self.observables = list(files.observables)

    def is_known(self, id_):
        return self.document.declared(id_) is not None or id_ in self.document.reactions

    def outputs(self, files, sbml, terms):
        """[(name, term), ...]"""
        formulas = {id_: self.formula(row, "observableFormula", sbml) for id_, row in files.observables.items()}
        out = []
        for k, (id_, row) in enumerate(files.observables.items()):
            noise = self.formula(row, "noiseFormula", sbml, "1")
            noise = terms.substituted(noise, lambda name: formulas.get(name, ("name", name)))
            out += [(f"observable_{k + 1}", formulas[id_]), (f"noise_{k + 1}", noise)]
        return out

    def formula(self, row, column, sbml, otherwise=None):
        text = row.text(column) if otherwise else row.needed(column)
        try:
            return sbml.formula(text or otherwise)
        except self.refused as error:
            raise row.wrong(f"{column}: {error}") from None

    def given(self, files):
        """what the tables set although the model computes it"""
        found = dict.fromkeys(c for c in self.columns if self.document.declared(c) is not None)
        for id_ in files.parameters:
            if self.document.declared(id_) is not None and id_ not in self.document.assignment_rules and \
                    id_ not in self.document.rate_rules:
                found[id_] = None
        return [id_ for id_ in found if id_ not in self.document.assignment_rules]

    def extra(self, files, outputs, terms):
        """{id: 1.0} of parameters that the model lacks"""
        wanted = [name for _, term in outputs for name in terms.names(term)]
        wanted += [c for c in self.columns] + list(files.parameters)
        return {name: 1.0 for name in dict.fromkeys(wanted) if not self.is_known(name)}

    def index(self, id_):
        """the place in p of a parameter, or of the initial value of a state; None: there is none"""
        meaning = self.names.get(id_)
        if meaning is None:
            return None
        return self._places.get(meaning.start or meaning.name)

    def state(self, id_):
        """the place in y of a state, or None"""
        meaning = self.names.get(id_)
        return None if meaning is None else self._states.get(meaning.state or meaning.name)


def columns_of(files):
    first = next(iter(files.conditions.values()), {})
    return [c for c in first if c and c not in ("conditionId", "conditionName")]


class Mapping(Places):
    """The parameters of the model in one condition: p = values, but p[place] = u[number] of estimated parameters.

    kept: places in y of the states that keep their values after pre-equilibration; reset: of those that are set"""

    def __init__(self, equations, files, estimated, condition):
        super().__init__(equations.model.defaults)
        self.kept, self.reset = [], []
        for id_, row in files.parameters.items():
            self.put(equations, estimated, files, id_, id_, row)
        row = files.conditions[condition]
        for id_ in equations.columns:
            text, state = row.text(id_), equations.state(id_)
            value = as_number(text) if text else math.nan
            if value is not None and math.isnan(value):
                self.kept += [] if state is None else [state]
                continue
            self.put(equations, estimated, files, id_, text, row)
            self.reset += [] if state is None else [state]

    def put(self, equations, estimated, files, id_, text, row):
        place = equations.index(id_)
        if place is None:
            if equations.is_known(id_) and id_ not in files.parameters:
                raise row.wrong(f"{id_} follows from the model, by a rule or a reaction, and cannot be set")
            return
        self.values[place], self.source[place] = source(equations, estimated, files, text, row, self)


def source(equations, estimated, files, text, row, mapping=None):
    """(value, -1), or (0, number of the estimated parameter), of a number or an identifier"""
    value = as_number(text)
    if value is not None:
        return value, -1
    if text in estimated.place:
        return 0.0, estimated.place[text]
    if text in files.parameters:
        return files.parameters[text].number_of("nominalValue"), -1
    place = equations.index(text)
    if place is None:
        raise row.wrong(f"{text} is neither a number nor a parameter")
    if mapping is not None:
        return mapping.values[place], mapping.source[place]
    return equations.model.defaults[place], -1
