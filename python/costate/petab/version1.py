"""PEtab problems of version 1: their files, and the table of conditions with a column for each quantity."""
import math

from costate.petab.model import Mapping
from costate.petab.parameters import Estimated
from costate.petab.tables import PetabError, Tables, as_number, by_id, table

EARLIEST = -math.inf


class Files(Tables):
    """conditions: rows by their identifiers; sbml: the path of the model"""

    def __init__(self, path, given):
        super().__init__(path)
        problems = given.get("problems")
        if not isinstance(problems, list) or len(problems) != 1 or not isinstance(problems[0], dict):
            raise PetabError(f"{path}: `problems` is a list of one problem")
        one = problems[0]
        models = self.paths(one.get("sbml_files"), "sbml_files")
        if len(models) != 1:
            raise PetabError(f"{path}: there are {len(models)} models in sbml_files; one is supported")
        self.sbml = models[0]
        self.parameters = by_id([row for file in self.paths(given.get("parameter_file"), "parameter_file")
                                 for row in table(file, ("parameterId", "estimate"))], "parameterId")
        self.conditions = by_id(self.rows(one, "condition_files", "conditionId"), "conditionId")
        self.observables = by_id(self.rows(one, "observable_files", "observableId", "observableFormula"),
                                 "observableId")
        self.measurements = self.rows(one, "measurement_files", "observableId", "simulationConditionId", "time",
                                      "measurement")
        self.check_measurements()

    def check_measurement(self, row):
        for column in ("simulationConditionId", "preequilibrationConditionId"):
            name = row.needed(column) if column == "simulationConditionId" else row.text(column)
            if name and name not in self.conditions:
                raise row.wrong(f"the condition {name} is in no table of conditions")
        if row.number_of("time") < 0:
            raise row.wrong(f"time is {row.text('time')}: times are not negative")

    # ---- what a problem asks of its files

    @staticmethod
    def estimated(rows):
        return Estimated(rows)

    @staticmethod
    def key(row):
        """(pre-equilibration or "", condition) of a measurement"""
        return row.text("preequilibrationConditionId"), row.text("simulationConditionId")

    @staticmethod
    def noise(row):
        """(scale, distribution) of an observable"""
        return row.choice("observableTransformation", ("lin", "log", "log10")), \
            row.choice("noiseDistribution", ("normal", "laplace"))

    @staticmethod
    def placeholders(row, kind, known):
        """the names that observableParameters (kind "observable") or noiseParameters replace; known: of formulas"""
        found = []
        while (name := f"{kind}Parameter{len(found) + 1}_{row.text('observableId')}") in known:
            found.append(name)
        return found

    def schedule(self, document):
        return Columns(self, document)


class Columns:
    """How conditions set the model.

    given       identifiers that are parameters although the model computes them; wanted: which it needs in any case
    continues   whether runs take over what events have set"""

    continues = False

    def __init__(self, files, document):
        self.files, self.document = files, document
        first = next(iter(files.conditions.values()), {})
        self.wanted = [c for c in first if c and c not in ("conditionId", "conditionName")]
        found = dict.fromkeys(c for c in self.wanted if document.declared(c) is not None)
        for id_ in files.parameters:
            if document.declared(id_) is not None and id_ not in document.assignment_rules and \
                    id_ not in document.rate_rules:
                found[id_] = None
        self.given = [id_ for id_ in found if id_ not in document.assignment_rules]

    def mapping(self, equations, estimated, condition):
        """The Mapping of a condition.  Where it has NaN, states keep their values after pre-equilibration"""
        mapping, row = Mapping(equations, self.files, estimated), self.files.conditions[condition]
        for id_ in self.wanted:
            text, state = row.text(id_), equations.state(id_)
            value = as_number(text) if text else math.nan
            if value is not None and math.isnan(value):
                continue
            mapping.put(id_, text, row)
            mapping.reset += [] if state is None else [state]
        return mapping

    before = mapping                    # ... of one that comes before others

    @staticmethod
    def times(condition):
        """(start of the run, time of the last change of conditions inside)"""
        return 0.0, EARLIEST
