"""The measurements of one simulation condition, as a costate_misfit: J = -log(likelihood)."""
import numpy as np

from costate.fitting.likelihood import NOISE, SCALES, Likelihood
from costate.petab.model import source
from costate.petab.tables import as_number


class Measured(Likelihood):
    """rows: in the order of the misfit; times: those of observation, increasing, or only inf, in a steady state"""

    def __init__(self, equations, files, estimated, rows):
        self.equations, self.files, self.estimated = equations, files, estimated
        times, model = np.unique([row.number_of("time") for row in rows]), equations.model
        place = {t: k for k, t in enumerate(times)}
        at = [[] for _ in times]
        for row in rows:
            at[place[row.number_of("time")]].append(row)
        self.rows, listed, replaced = [], [], []
        for k, of_time in enumerate(at):
            for bucket in buckets((row, self.replaced(row)) for row in of_time):
                first = len(replaced)
                replaced += [(where, *what) for where, what in bucket["replaced"].items()]
                for row in bucket["rows"]:
                    self.rows.append(row)
                    listed.append(self.item(row, k, first, len(replaced) - first))
        map_, ctx = model._output_map()
        super().__init__(model.problem, times, listed, (len(model.outputs), map_[0], ctx), replaced)

    def item(self, row, k, first, count):
        id_ = row.text("observableId")
        observable, number = self.files.observables[id_], self.equations.observables.index(id_)
        scale, noise = self.files.noise(observable)
        value = row.number_of("measurement")
        if scale != "lin" and value <= 0:
            raise row.wrong(f"the measurement {value:g} has no logarithm, which the noise of {id_} is of")
        return (k, 2 * number, 2 * number + 1, 0.0, value, SCALES[scale], NOISE[noise], first, count)

    def replaced(self, row):
        """{place of a placeholder in p: (place of its value or -1, number)}"""
        found, id_ = {}, row.text("observableId")
        for kind in ("observable", "noise"):
            column, names = f"{kind}Parameters", self.equations.placeholders[kind, id_]
            words = row.text(column).split(";") if row.text(column) else []
            if len(words) > len(names):
                raise row.wrong(f"{column} has {len(words)} entries; the formulas of {id_} have placeholders for "
                                f"{len(names)}")
            if len(words) < len(names):
                raise row.wrong(f"{column} has no value for {names[len(words)]}")
            for name, word in zip(names, words):
                if self.equations.index(name) is not None:
                    found[self.equations.index(name)] = self.by(word.strip(), row)
        return found

    def by(self, word, row):
        if as_number(word) is None and self.equations.index(word) is not None:
            return self.equations.index(word), 0.0
        value, number = source(self.equations, self.estimated, self.files, word, row)
        return -1, value


def buckets(rows):
    """groups of measurements whose replaced parameters agree, so that one evaluation of the outputs serves them all"""
    found = []
    for row, replaced in rows:
        for bucket in found:
            if all(bucket["replaced"].get(where, what) == what for where, what in replaced.items()):
                break
        else:
            bucket = {"rows": [], "replaced": {}}
            found.append(bucket)
        bucket["rows"].append(row)
        bucket["replaced"].update(replaced)
    return found
