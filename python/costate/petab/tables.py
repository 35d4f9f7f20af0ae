"""Tables of a PEtab problem and its problem.yaml, with sentences about what is wrong in them."""
import csv
import math

from costate import _generator as generator


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


class Tables:
    """What both versions of the format have: parameters and observables by their identifiers, and measurements

    aliases     {identifier of the tables: that of the model}, where they differ"""

    def __init__(self, path):
        self.path, self.parameters, self.observables, self.measurements = path, {}, {}, []
        self.aliases = {}

    def paths(self, names, what):
        """files in the folder of problem.yaml"""
        names = [names] if isinstance(names, str) else names
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or not names:
            raise PetabError(f"{self.path}: {what} is missing, or not a list of files")
        return [self.path.parent / name for name in names]

    def rows(self, one, kind, *columns):
        """those of the tables that `one`, a part of problem.yaml, lists there"""
        return [row for file in self.paths(one.get(kind), kind) for row in table(file, columns)]

    def formula(self, row, column, otherwise=None):
        """The term of a formula in a table, in identifiers of the model; otherwise: the text where the cell is empty"""
        text = row.text(column) or otherwise or row.needed(column)
        try:
            term = generator.module("sbml").formula(text)
        except generator.module("real").Refused as error:
            raise row.wrong(f"{column}: {error}") from None
        return generator.module("sbml.terms").substituted(term, lambda name: ("name", self.aliases.get(name, name)))

    def check_measurements(self):
        if not self.measurements:
            raise PetabError(f"{self.path}: there are no measurements")
        for row in self.measurements:
            if row.needed("observableId") not in self.observables:
                raise row.wrong(f"the observable {row.text('observableId')} is in no table of observables")
            self.check_measurement(row)
            value = as_number(row.needed("measurement"))
            if value is None or math.isinf(value):
                raise row.wrong(f"the measurement is {row.text('measurement')!r}; expected a finite number, or NaN "
                                "where nothing was measured")


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
        raise PetabError(f"{path} is no PEtab problem: it has no names with values")
    return given
