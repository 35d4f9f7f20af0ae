"""The measurements of one simulation condition, as a costate_misfit: J = -log(likelihood)."""
import numpy as np

from costate._costate import ffi, lib
from costate._library import CostateError, pointer, status_name, text
from costate.petab.model import source
from costate.petab.tables import as_number

SCALES = {"lin": lib.COSTATE_SCALE_LINEAR, "log": lib.COSTATE_SCALE_LOG, "log10": lib.COSTATE_SCALE_LOG10}
NOISE = {"normal": lib.COSTATE_NOISE_NORMAL, "laplace": lib.COSTATE_NOISE_LAPLACE}


class Measured:
    """rows: in the order of the misfit; times: those of observation, increasing, or only inf, in a steady state"""

    def __init__(self, equations, files, estimated, rows):
        self.equations, self.files, self.estimated = equations, files, estimated
        self.times = np.unique([row.number_of("time") for row in rows])
        place = {t: k for k, t in enumerate(self.times)}
        at = [[] for _ in self.times]
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
        self.struct(listed, replaced)

    def item(self, row, k, first, count):
        id_ = row.text("observableId")
        observable, number = self.files.observables[id_], self.equations.observables.index(id_)
        scale = observable.choice("observableTransformation", ("lin", "log", "log10"))
        value = row.number_of("measurement")
        if scale != "lin" and value <= 0:
            raise row.wrong(f"the measurement {value:g} has no logarithm: observableTransformation is {scale}")
        return (k, 2 * number, 2 * number + 1, 0.0, value, SCALES[scale],
                NOISE[observable.choice("noiseDistribution", ("normal", "laplace"))], first, count)

    def replaced(self, row):
        """{place of observableParameter1_... in p: (place of its value or -1, number)}"""
        found, id_ = {}, row.text("observableId")
        for kind in ("observable", "noise"):
            given = row.text(f"{kind}Parameters")
            for k, word in enumerate(given.split(";") if given else []):
                place = self.equations.index(f"{kind}Parameter{k + 1}_{id_}")
                if place is None:
                    raise row.wrong(f"{kind}Parameters has {k + 1} or more entries, but {kind}Parameter{k + 1}_{id_} "
                                    "is in no formula")
                found[place] = self.by(word.strip(), row)
            missing = f"{kind}Parameter{len(given.split(';')) + 1 if given else 1}_{id_}"
            if self.equations.index(missing) is not None:
                raise row.wrong(f"{kind}Parameters has no value for {missing}")
        return found

    def by(self, word, row):
        if as_number(word) is None and self.equations.index(word) is not None:
            return self.equations.index(word), 0.0
        value, number = source(self.equations, self.estimated, self.files, word, row)
        return -1, value

    # ---- the struct

    def struct(self, listed, replaced):
        model, data = self.equations.model, ffi.new("costate_measurements *")
        (map_, ctx), count = model._output_map(), len(model.outputs)
        self._t = np.where(np.isfinite(self.times), self.times, 0.0)
        self._list, self._replaced = ffi.new("costate_measured[]", listed), ffi.new("costate_replaced[]", replaced or 1)
        data.times, data.outputs, data.t = len(self.times), count, pointer(self._t)
        data.output, data.ctx = map_[0], ctx
        data.count, data.list, data.replaced, data.nreplaced = len(listed), self._list, self._replaced, len(replaced)
        self._data, self._P = data, model.problem
        self.misfit = ffi.gc(lib.costate_misfit_new(self._P, data), lib.costate_misfit_free)
        self.check(lib.costate_misfit_status(self.misfit))
        self.functional = ffi.new("costate_functional *")
        self.check(lib.costate_misfit_functional(self.misfit, self.functional))

    def check(self, status):
        if status != lib.COSTATE_OK:
            raise CostateError(status_name(status), text(lib.costate_misfit_message(self.misfit)))

    def term(self, k, y, p, gradient=True):
        """J at time k of the state y, and its gradients with respect to y and, directly, p"""
        value, w, mu = np.zeros(1), np.zeros(len(y)), np.zeros(len(p))
        F = self.functional
        if F.at_time_p(k, self._t[k], pointer(y), pointer(p) if len(p) else ffi.NULL, 1, pointer(value),
                       pointer(w) if gradient else ffi.NULL, pointer(mu) if gradient and len(p) else ffi.NULL, F.ctx):
            raise ArithmeticError(text(lib.costate_misfit_message(self.misfit)))
        return value[0], w, mu

    def found(self):
        """(residuals, outputs) of the last evaluation, a number for each of rows"""
        return tuple(np.array(ffi.unpack(of(self.misfit), len(self.rows)))
                     for of in (lib.costate_misfit_residuals, lib.costate_misfit_outputs))


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
