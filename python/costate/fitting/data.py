"""What a fit is given: measured values, and the conditions of the experiments in which they were measured."""
import csv
import math

import numpy as np

NOISES = {"normal": ("lin", "normal"), "log-normal": ("log", "normal"), "laplace": ("lin", "laplace"),
          "log-laplace": ("log", "laplace")}


class Measurements:
    """Measured values of one experiment.

    times       when they were measured, in any order
    values      (len(times),), or (len(times), columns): one column for each quantity; NaN: not measured
    of          what the columns are measurements of.  Of a Model: names of states or outputs, or expressions such as
                "scale*A + offset"; of functions: numbers or names of states, or functions g(t, y, p) of one value.
                None: the outputs of the Model, or all states
    sigma       standard deviation of the errors: a number, one for each column, or an array of the shape of values;
                or a name or expression of a Model, a parameter such as "p[3]" or a function g(t, y, p), which may
                contain unknowns.  None: unknown, the same for all values of the fit; it is computed from the residuals
    noise       "normal", "log-normal" (sigma is that of the natural logarithm), "laplace" or "log-laplace", for which
                sigma is the mean absolute error; one word, or one for each column
    censored    of the shape of values: -1 where a value is an upper bound (the quantity lies below it), 1 where it is a
                lower bound, 0 elsewhere.  None: 0 everywhere"""

    def __init__(self, times, values, of=None, *, sigma=None, noise="normal", censored=None):
        self.times = np.array(times, dtype=float, ndmin=1)
        if self.times.ndim != 1 or not np.all(np.isfinite(self.times)):
            raise ValueError("times are finite numbers, one for each row of values")
        array = np.array(values, dtype=float)
        self.values = array[:, None] if array.ndim == 1 else array
        if self.values.ndim != 2 or len(self.values) != len(self.times):
            raise ValueError(f"values has shape {array.shape}; expected ({len(self.times)},) or ({len(self.times)}, "
                             "columns): one row for each time")
        if np.any(np.isinf(self.values)):
            raise ValueError("values are finite, or NaN where nothing was measured")
        self.columns = self.values.shape[1]
        self.of = None if of is None else self._each(of, "of")
        self.sigma, self.noise = self._sigmas(sigma), self._each(noise, "noise")
        for word in self.noise:
            if word not in NOISES:
                raise ValueError(f"noise is {word!r}: one of {', '.join(map(repr, NOISES))}")
        self.censored = self._sides(censored)
        if self.count == 0:
            raise ValueError("there are no data: values are empty or NaN")
        self._check_logarithms()

    def __repr__(self):
        return f"<Measurements: {self.count} values at {len(self.times)} times" + \
               (f", {self.skipped} not measured>" if self.skipped else ">")

    @property
    def count(self):
        """of values that were measured"""
        return int(np.sum(np.isfinite(self.values)))

    @property
    def skipped(self):
        """number of NaN among the values"""
        return int(np.sum(np.isnan(self.values)))

    def _each(self, given, name):
        """a list with one entry for each column"""
        entries = list(given) if isinstance(given, (list, tuple, np.ndarray)) else [given] * self.columns
        if len(entries) != self.columns:
            raise ValueError(f"{name} has {len(entries)} entries, but values has {self.columns} columns")
        return entries

    def _sides(self, censored):
        """-1, 0 or 1 for each of the values"""
        sides = np.zeros(self.values.shape) if censored is None else np.array(censored, dtype=float)
        sides = sides[:, None] if sides.ndim == 1 and self.columns == 1 else sides
        if sides.shape != self.values.shape:
            raise ValueError(f"censored has shape {np.shape(censored)}; expected {self.values.shape}, that of values")
        if not np.all(np.isin(sides, (-1, 0, 1))):
            raise ValueError("censored is -1 (below), 0 or 1 (above) for each of the values")
        return sides.astype(int)

    def _sigmas(self, sigma):
        """for each column None, an array of one number for each time, or what names a function of the solution"""
        if isinstance(sigma, (list, tuple)) and all(isinstance(one, (int, float, np.number)) for one in sigma):
            sigma = np.array(sigma, dtype=float)
        array = np.asarray(sigma) if isinstance(sigma, (int, float, np.ndarray)) else None
        if array is not None and array.ndim == 1 and self.columns == 1 and array.size == len(self.times):
            array = array[:, None]
        if array is not None and array.ndim == 2:
            if array.shape not in (self.values.shape, (len(self.times), 1)):
                raise ValueError(f"sigma has shape {array.shape}; expected {self.values.shape}, that of values")
            entries = list(np.broadcast_to(array, self.values.shape).T)
        else:
            entries = self._each(sigma, "sigma")
        found = [np.broadcast_to(np.asarray(one, dtype=float), self.times.shape)
                 if isinstance(one, (int, float, list, np.ndarray, np.number)) else one for one in entries]
        for k, one in enumerate(found):
            of_values = one[np.isfinite(self.values[:, k])] if isinstance(one, np.ndarray) else np.ones(1)
            if not np.all((of_values > 0) & np.isfinite(of_values)):
                raise ValueError("sigma is a standard deviation: it must be positive and finite wherever there is a "
                                 "value")
        return found

    def _check_logarithms(self):
        for k, word in enumerate(self.noise):
            if NOISES[word][0] == "log" and np.any(self.values[:, k] <= 0):
                raise ValueError(f"column {k} contains {np.nanmin(self.values[:, k]):g}, which has no logarithm: "
                                 f"noise is {word!r}")


class Condition:
    """The measurements of one experiment, and what was set in it.

    data        Measurements, or a list of them
    y0          initial values: numbers, or of a Model {state: number or name of an unknown}; None: those of the fit
    p           parameters: numbers, or {name: number or name of an unknown}; None: those of the fit.  What is named
                here or in y0 is not the unknown of this name: a dose, or a constant that differs between conditions
    t0          where the run begins; None: that of the fit
    problem     a Problem of its own, with the same states and parameters; None: that of the fit"""

    def __init__(self, data, *, y0=None, p=None, t0=None, problem=None):
        self.data = list(data) if isinstance(data, (list, tuple)) else [data]
        if not self.data or not all(isinstance(one, Measurements) for one in self.data):
            raise TypeError("data of a condition are Measurements, or a list of them")
        self.y0, self.p, self.t0, self.problem = y0, p, None if t0 is None else float(t0), problem


def conditions_of(data):
    """{name: Condition} of what fit accepts as data"""
    if isinstance(data, (Measurements, Condition)):
        data = [data]
    if isinstance(data, (list, tuple)) and data and all(isinstance(one, Measurements) for one in data):
        data = [Condition(data)]
    if not isinstance(data, (dict, list, tuple)):
        raise TypeError(f"data is {data!r}; expected Measurements, or a list or a dictionary of Condition")
    if not isinstance(data, dict):
        data = dict(enumerate(data))
    found = {str(name): one if isinstance(one, Condition) else Condition(one) for name, one in data.items()}
    if not found:
        raise ValueError("there are no data")
    return found


# ---- tables ---------------------------------------------------------------------------------------------------------

def read_table(path, model, sigma=None, noise="normal"):
    """{name: Condition} of a file of comma-separated values, for a Model.

    The first column is the time.  Others are named like states or outputs of the model; sigma_NAME is the standard
    deviation of NAME.  A column that is named like a parameter of the model sets it, and `condition` names the
    experiment: rows that agree in these belong to one condition.  Empty: not measured; <2.5 and >2.5: below, above"""
    rows = rows_of(path)
    names = [cell.strip() for cell in rows[0][1]]
    check_names(path, names, model)
    measured = [name for name in names[1:] if name in (*model.states, *model.outputs)]
    fixed = [name for name in names[1:] if name in model.parameters or name == "condition"]
    sigmas = ["sigma_" + name for name in measured]
    for name in names[1:]:
        if name not in (*measured, *fixed, *sigmas):
            raise ValueError(f"{path}: the column {name!r} is no state ({', '.join(model.states)}), output "
                             f"({', '.join(model.outputs) or 'none'}) or parameter of {model.name}, nor sigma_ of one")
    if not measured:
        raise ValueError(f"{path}: no column is named like a state or an output of {model.name}")
    groups = {}
    for line, row in rows[1:]:
        if len(row) != len(names):
            raise ValueError(f"{path}, line {line}: {len(row)} cells, but {len(names)} names")
        cells = dict(zip(names, row))
        key = tuple(cells[name].strip() if name == "condition" else fixed_number(path, line, name, cells[name])
                    for name in fixed)
        groups.setdefault(key, []).append((line, row[0], cells))
    return {name_of(fixed, key): Condition(_measured(path, group, measured, sigma, noise),
                                           p={word: value for word, value in zip(fixed, key) if word != "condition"})
            for key, group in groups.items()}


def rows_of(path):
    """[(number of the line, cells), ...] without empty lines"""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not text in UTF-8: save the table as CSV with this encoding") from None
    if len(rows) < 2:
        raise ValueError(f"{path} has no rows of data: expected a line of names, and a line for each time")
    return rows


def fixed_number(path, line, name, text):
    """The value of a parameter in a row, which must be there"""
    value = known(path, line, name, text)
    if not math.isfinite(value):
        raise ValueError(f"{path}, line {line}: {name} is {text!r}; each row needs the value of this parameter")
    return value


def check_names(path, names, model):
    """a column of times first, and no name twice"""
    if names[0] in (*model.states, *model.outputs, *model.parameters):
        raise ValueError(f"{path}: the first column is {names[0]!r}, a name of {model.name}; expected the time")
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise ValueError(f"{path}: two columns are named {twice!r}; repeated measurements have a line each")
    if len(names) == 1:
        raise ValueError(f"{path} has one column, {names[0]!r}; expected cells between commas")


def name_of(fixed, key):
    if "condition" in fixed:
        return key[fixed.index("condition")] + "".join(f", {word} = {value:.15g}" for word, value in zip(fixed, key)
                                                       if word != "condition")
    return ", ".join(f"{word} = {value:.15g}" for word, value in zip(fixed, key)) or "0"


def _measured(path, group, measured, sigma, noise):
    found = [[number(path, line, name, cells[name]) for name in measured] for line, _, cells in group]
    given = [[known(path, line, "sigma_" + name, cells["sigma_" + name]) if "sigma_" + name in cells else math.nan
              for name in measured] for line, _, cells in group]
    columns = [column if np.any(np.isfinite(column)) else sigma for column in np.transpose(given)]
    return Measurements([known(path, line, "time", text) for line, text, _ in group],
                        [[value for value, _ in row] for row in found], measured, sigma=columns, noise=noise,
                        censored=[[side for _, side in row] for row in found])


def known(path, line, name, text):
    """a number that is not measured, or NaN: it is no bound"""
    value, side = number(path, line, name, text)
    if side:
        raise ValueError(f"{path}, line {line}: {name} is {text!r}; only measured values may be bounds")
    return value


def number(path, line, name, text):
    """(number or NaN, side of it on which the quantity lies)"""
    word = text.strip()
    side = {"<": -1, ">": 1}.get(word[:1], 0)
    if word.lower() in ("", "na", "nan"):
        return math.nan, 0
    try:
        return float(word[1:] if side else word), side
    except ValueError:
        raise ValueError(f"{path}, line {line}: {name} is {text!r}, which is no number") from None
