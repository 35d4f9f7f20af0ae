"""The files of a PEtab problem, version 1: problem.yaml and its tables, with sentences about what is wrong in them."""
import csv
import math
from pathlib import Path


class PetabError(ValueError):
    """A PEtab problem that is not right, or that costate cannot solve: the file, the row and what is wrong"""


class Row(dict):
    """A row of a table by column; number: its line in the file"""

    def __init__(self, values, path, number):
        super().__init__(values)
        self.path, self.number = path, number

    def wrong(self, what):
        return PetabError(f"{self.path}, row {self.number}: {what}")

    def text(self, column):
        return (self.get(column) or "").strip()

    def needed(self, column):
        found = self.text(column)
        if not found:
            raise self.wrong(f"there is no {column}")
        return found

    def number_of(self, column, default=None):
        """a number; default where the cell is empty"""
        found = self.text(column)
        if not found and default is not None:
            return default
        value = as_number(found)
        if value is None or math.isnan(value):
            raise self.wrong(f"{column} is {found!r}, which is not a number")
        return value

    def choice(self, column, allowed):
        """one of these words, the first where the cell is empty"""
        found = self.text(column) or allowed[0]
        if found not in allowed:
            raise self.wrong(f"{column} is {found!r}; expected one of {', '.join(allowed)}")
        return found


def as_number(text):
    """None: it is no number"""
    try:
        return float(text)
    except ValueError:
        return None


def table(path, columns):
    """the rows of a file, which has at least these columns"""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter="\t")
            head = [name.strip() for name in next(reader, [])]
            missing = [name for name in columns if name not in head]
            if missing:
                raise PetabError(f"{path} has no column {missing[0]}; it has {', '.join(filter(None, head)) or 'none'}")
            return [row_of(head, cells, path, reader.line_num) for cells in reader if any(c.strip() for c in cells)]
    except OSError as error:
        raise PetabError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise PetabError(f"{path} is not in UTF-8: {error.reason} at byte {error.start}") from None


def row_of(head, cells, path, number):
    row = Row(zip(head, cells), path, number)
    if any(c.strip() for c in cells[len(head):]):
        raise row.wrong(f"it has {len(cells)} cells, the head of the table {len(head)}")
    return row


def by_id(rows, column):
    """{identifier: row}"""
    found = {}
    for row in rows:
        if row.needed(column) in found:
            raise row.wrong(f"{row.text(column)} is also in row {found[row.text(column)].number}")
        found[row.text(column)] = row
    return found


class Files:
    """The tables that a problem.yaml names: parameters, conditions, observables by their identifiers, measurements;
    sbml: the path of the model"""

    def __init__(self, path):
        path = Path(path)
        given = read_yaml(path)
        if str(given.get("format_version", 1)).split(".")[0] != "1":
            raise PetabError(f"{path}: format_version is {given['format_version']}; this is a reader of version 1")
        problems = given.get("problems")
        if not isinstance(problems, list) or len(problems) != 1 or not isinstance(problems[0], dict):
            raise PetabError(f"{path}: `problems` is a list of one problem")
        one, folder = problems[0], path.parent

        def paths(names, what):
            names = [names] if isinstance(names, str) else names
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or not names:
                raise PetabError(f"{path}: {what} is missing, or not a list of files")
            return [folder / name for name in names]

        def rows(kind, *columns):
            return [row for file in paths(one.get(kind), kind) for row in table(file, columns)]
        models = paths(one.get("sbml_files"), "sbml_files")
        if len(models) != 1:
            raise PetabError(f"{path}: there are {len(models)} models in sbml_files; one is supported")
        self.path, self.sbml = path, models[0]
        self.parameters = by_id([row for file in paths(given.get("parameter_file"), "parameter_file")
                                 for row in table(file, ("parameterId", "estimate"))], "parameterId")
        self.conditions = by_id(rows("condition_files", "conditionId"), "conditionId")
        self.observables = by_id(rows("observable_files", "observableId", "observableFormula"), "observableId")
        self.measurements = rows("measurement_files", "observableId", "simulationConditionId", "time", "measurement")
        if not self.measurements:
            raise PetabError(f"{path}: there are no measurements")
        for row in self.measurements:
            self.check_measurement(row)

    def check_measurement(self, row):
        if row.needed("observableId") not in self.observables:
            raise row.wrong(f"the observable {row.text('observableId')} is in no table of observables")
        for column in ("simulationConditionId", "preequilibrationConditionId"):
            name = row.needed(column) if column == "simulationConditionId" else row.text(column)
            if name and name not in self.conditions:
                raise row.wrong(f"the condition {name} is in no table of conditions")
        if row.number_of("time") < 0:
            raise row.wrong(f"time is {row.text('time')}: times are not negative")
        value = as_number(row.needed("measurement"))
        if value is None or math.isinf(value):
            raise row.wrong(f"the measurement is {row.text('measurement')!r}; expected a finite number, or NaN where "
                            "nothing was measured")


def read_yaml(path):
    try:
        import yaml
    except ImportError:
        raise ImportError("costate.petab reads YAML files with PyYAML, which is not installed: pip install pyyaml, or "
                          "on Debian python3-yaml") from None
    try:
        with open(path, encoding="utf-8-sig") as file:
            given = yaml.safe_load(file)
    except OSError as error:
        raise PetabError(f"{path} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise PetabError(f"{path} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(given, dict):
        raise PetabError(f"{path} is no PEtab problem: it has no `problems`")
    return given
