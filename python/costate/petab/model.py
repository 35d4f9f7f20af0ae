"""The equations of a PEtab problem, and where its identifiers are in them.

The SBML model becomes an equation file.  Observables and their noise are outputs; what the tables name and the model
lacks, such as scale factors and observableParameter1_..., are further parameters."""
from costate import _generator as generator
from costate.fitting.unknowns import Places
from costate.models import Model
from costate.petab.tables import PetabError, as_number


class Equations:
    """model: a Model; index(id): the place of a parameter; outputs 2i and 2i + 1: observable i and its noise

    placeholders    {("observable" or "noise", id): names that measurements replace}"""

    def __init__(self, files, name, options):
        sbml, terms = generator.module("sbml"), generator.module("sbml.terms")
        try:
            self.document = sbml.read(str(files.sbml))
            self.schedule = files.schedule(self.document)
            outputs = self.outputs(files, terms)
            self.keep(outputs)
            written = sbml.write(self.document, name, self.schedule.given, self.extra(files, outputs, terms), outputs)
        except generator.module("real").Refused as error:
            raise PetabError(str(error)) from None
        self.text, self.names = written.text, written.names
        self.model = Model(written.text, file=str(files.sbml), **options)
        self._places = {word: k for k, word in enumerate(self.model.parameters)}
        self._states = {word: k for k, word in enumerate(self.model.states)}
        self.observables = list(files.observables)
        known = {name for _, term in outputs for name in terms.names(term)}
        self.placeholders = {(kind, id_): files.placeholders(row, kind, known) for id_, row in files.observables.items()
                             for kind in ("observable", "noise")}

    def is_known(self, id_):
        return self.document.declared(id_) is not None or id_ in self.document.reactions

    @staticmethod
    def outputs(files, terms):
        """[(name, term), ...]"""
        formulas = {id_: files.formula(row, "observableFormula") for id_, row in files.observables.items()}
        out = []
        for k, (id_, row) in enumerate(files.observables.items()):
            noise = terms.substituted(files.formula(row, "noiseFormula", "1"),
                                      lambda name: formulas.get(name, ("name", name)))
            out += [(f"observable_{k + 1}", formulas[id_]), (f"noise_{k + 1}", noise)]
        return out

    def keep(self, outputs):
        """Of what events set, the quantities on which outputs depend are states with the derivative 0, because outputs
        are functions of states; and so are all that events of the file set, where runs continue others, whose states
        they receive"""
        derived = generator.module("sbml.derived").Derived(self.document, self.schedule.given)
        observed = dict.fromkeys(id_ for _, term in outputs for id_ in derived.reached(term))
        if self.schedule.continues:
            of_file = [event for event in self.document.events if event.time is None]
            observed.update((id_, None) for event in of_file for id_ in event.assignments)
        for id_ in observed:
            if derived.kind.get(id_) == generator.module("sbml.kinds").MEMORY:
                self.document.rate_rules[id_] = generator.module("sbml.terms").ZERO

    def extra(self, files, outputs, terms):
        """{id: 1.0} of parameters that the model lacks"""
        wanted = [name for _, term in outputs for name in terms.names(term)]
        wanted += [*self.schedule.wanted, *files.parameters]
        return {name: 1.0 for name in dict.fromkeys(wanted) if not self.is_known(name)}

    def index(self, id_):
        """the place in p of a parameter, or of the initial value of a state; None: there is none"""
        meaning = self.names.get(id_)
        if meaning is None:
            return None
        return self._places.get(meaning.start or meaning.name)

    def on_the_way(self):
        """Numbers of the events that can occur on the way to a limit: not changes of conditions, which have times.
        None: all, where an event may occur at the start"""
        events = [line.split()[1:3] for line in self.text.splitlines() if line.startswith("event ")]
        timed = [word == "at" for _, word in events]
        if not any(timed) or any(name == "at_start" for name, _ in events):
            return None
        return [k for k, known in enumerate(timed) if not known]

    def state(self, id_):
        """the place in y of a state, or None"""
        meaning = self.names.get(id_)
        return None if meaning is None else self._states.get(meaning.state or meaning.name)


class Mapping(Places):
    """The parameters of the model in one condition: p = values, but p[place] = u[number] of estimated parameters.

    reset: places in y of the states that are set where the run follows pre-equilibration; the others keep their
    values"""

    def __init__(self, equations, files, estimated):
        super().__init__(equations.model.defaults)
        self.equations, self.files, self.estimated, self.reset = equations, files, estimated, []
        for id_, row in files.parameters.items():
            self.put(id_, id_, row)

    def put(self, id_, text, row):
        """the value of an identifier: a number, or what it is called"""
        place = self.equations.index(id_)
        if place is None:
            if self.equations.is_known(id_) and id_ not in self.files.parameters:
                raise row.wrong(f"{id_} follows from the model, by a rule or a reaction, and cannot be set")
            return
        self.values[place], self.source[place] = source(self.equations, self.estimated, self.files, text, row, self)


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
