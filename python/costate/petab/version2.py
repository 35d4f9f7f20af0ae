"""PEtab problems of version 2: their files.

The source is the specification, https://petab.readthedocs.io, PEtab data format specification 2.0.0."""
import math
import re

from costate.petab.schedule import Period, Schedule
from costate.petab.tables import PetabError, Tables, as_number, by_id
from costate.petab.truncated import Truncated

IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
KNOWN = ("format_version", "id", "parameter_files", "model_files", "measurement_files", "condition_files",
         "experiment_files", "observable_files", "mapping_files", "extensions")
NOISE = {"normal": ("lin", "normal"), "log-normal": ("log", "normal"), "laplace": ("lin", "laplace"),
         "log-laplace": ("log", "laplace")}


class Files(Tables):
    """experiments: lists of Periods by identifier, "" that of measurements without one; sbml: the path of the model"""

    def __init__(self, path, given):
        super().__init__(path)
        self.check(given)
        self.model, self.sbml = self.one_model(given.get("model_files"))
        self.parameters = by_id(self.rows(given, "parameter_files", "parameterId", "estimate"), "parameterId")
        self.observables = by_id(self.rows(given, "observable_files", "observableId", "observableFormula",
                                           "noiseFormula"), "observableId")
        self.aliases = self.mapped(self.optional(given, "mapping_files", "petabEntityId", "modelEntityId"))
        conditions = self.by_condition(self.optional(given, "condition_files", "conditionId", "targetId",
                                                     "targetValue"))
        self.experiments = self.by_experiment(self.optional(given, "experiment_files", "experimentId", "time",
                                                            "conditionId"), conditions)
        self.measurements = self.rows(given, "measurement_files", "observableId", "time", "measurement")
        self.check_measurements()

    # ---- problem.yaml

    def check(self, given):
        for name in given:
            if name not in KNOWN:
                raise PetabError(f"{self.path}: {name} is not known; expected one of {', '.join(KNOWN)}")
        extensions = given.get("extensions") or {}
        if not isinstance(extensions, dict):
            raise PetabError(f"{self.path}: extensions is not a list of names with their versions")
        for name, about in extensions.items():
            if not isinstance(about, dict) or about.get("required") is not False:
                raise PetabError(f"{self.path}: the extension {name} is required for the meaning of the problem and is "
                                 "not supported")

    def one_model(self, models):
        """(identifier, path)"""
        if not isinstance(models, dict) or not models:
            raise PetabError(f"{self.path}: model_files is missing, or names no model")
        if len(models) > 1:
            raise PetabError(f"{self.path}: there are {len(models)} models ({', '.join(map(str, models))}); problems "
                             "with several models are not supported")
        (name, about), = models.items()
        if not isinstance(about, dict) or not isinstance(about.get("location"), str) or "language" not in about:
            raise PetabError(f"{self.path}: the model {name} needs a location and a language")
        if about["language"] != "sbml":
            raise PetabError(f"{self.path}: the language of the model {name} is {about['language']}; models in sbml "
                             "are supported")
        return name, self.path.parent / about["location"]

    def optional(self, given, kind, *columns):
        return self.rows(given, kind, *columns) if given.get(kind) else []

    # ---- tables

    @staticmethod
    def mapped(rows):
        """{identifier of the tables: that of the model, of the local parameter k of a reaction r: r_k}; rows without
        one are remarks"""
        found = {name: row.text("modelEntityId").replace(".", "_") for name, row in
                 by_id(rows, "petabEntityId").items()}
        return {name: model for name, model in found.items() if model}

    def by_condition(self, rows):
        """{condition: {target: Row}}"""
        found = {}
        for row in rows:
            targets = found.setdefault(row.needed("conditionId"), {})
            target = self.aliases.get(row.needed("targetId"), row.text("targetId"))
            value = as_number(row.needed("targetValue"))
            if value is not None and not math.isfinite(value):
                raise row.wrong(f"targetValue is {row.text('targetValue')}; expected a finite number or a formula")
            if not IDENTIFIER.match(target):
                raise row.wrong(f"targetId is {target!r}, which is no identifier")
            if target in targets:
                raise row.wrong(f"{target} is also set in row {targets[target].number}")
            if target in self.parameters:
                raise row.wrong(f"{target} is in the table of parameters, and cannot be set by a condition")
            targets[target] = row
        return found

    @staticmethod
    def by_experiment(rows, conditions):
        """{experiment: Periods, by their times}"""
        found = {"": {0.0: Period(0.0)}}
        for row in rows:
            periods = found.setdefault(row.needed("experimentId"), {})
            time = row.number_of("time")
            if time == math.inf:
                raise row.wrong("time is inf; expected a number, or -inf for pre-equilibration")
            period, name = periods.setdefault(time, Period(time)), row.text("conditionId")
            if name and name not in conditions:
                raise row.wrong(f"the condition {name} is in no table of conditions")
            for target, change in conditions.get(name, {}).items():
                if target in period.targets:
                    raise row.wrong(f"the conditions of time {row.text('time')} set {target} twice")
                period.targets[target] = change
            period.names += [name] if name else []
        return {id_: [periods[time] for time in sorted(periods)] for id_, periods in found.items()}

    def check_measurement(self, row):
        name, time = row.text("experimentId"), row.number_of("time")
        if name not in self.experiments:
            raise row.wrong(f"the experiment {name} is in no table of experiments")
        if row.text("modelId") not in ("", self.model):
            raise row.wrong(f"the model {row.text('modelId')} is not in model_files")
        start = min((p.time for p in self.experiments[name] if p.time > -math.inf), default=-math.inf)
        if time < start:
            raise row.wrong(f"time is {row.text('time')}, before the start of the experiment at {start:g}")

    # ---- what a problem asks of its files

    @staticmethod
    def estimated(rows):
        return Truncated(rows)

    def key(self, row):
        """(pre-equilibration or "", experiment) of a measurement"""
        name = row.text("experimentId")
        first = self.experiments[name][0]
        return Schedule.name_before(first) if first.time == -math.inf else "", name

    @staticmethod
    def noise(row):
        """(scale, distribution) of an observable"""
        return NOISE[row.choice("noiseDistribution", tuple(NOISE))]

    @staticmethod
    def placeholders(row, kind, known):
        """the names that observableParameters (kind "observable") or noiseParameters replace"""
        text = row.text(f"{kind}Placeholders")
        return [name.strip() for name in text.split(";")] if text else []

    def schedule(self, document):
        used = {row.text("experimentId") for row in self.measurements}
        late = {row.text("experimentId"): row for row in self.measurements if row.number_of("time") == math.inf}
        return Schedule(self, document, {id_: periods for id_, periods in self.experiments.items() if id_ in used},
                        late)
