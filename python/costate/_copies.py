"""Problems, runs and functionals in files and other processes: what is in C is made again where it is needed."""
import threading

import numpy as np

from costate import _library as library
from costate._library import CostateError
from costate._tapes import stops_at
from costate._untraced import use_of


class Portable:
    """Pickles and copies of objects without members that belong to this process: `local` names functions that make
    them new."""

    local = {}

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name not in self.local}

    def __setstate__(self, state):
        vars(self).update(state)
        for name, new in self.local.items():
            setattr(self, name, new())


class OfProblem(Portable):
    """A Problem: solvers are made again, by each thread; what was found about complex steps is kept."""

    local = {"formed": dict, "_local": threading.local, "_use": type(None)}
    form = None                 # of a problem for vectors: what made it, which makes it again

    def __setstate__(self, state):
        super().__setstate__(state)
        self._use = use_of(self)                # functions are traced again

    def __reduce_ex__(self, protocol):
        if self.form is not None:
            return of_vectors, (self.form, self.trust.wrong)
        return super().__reduce_ex__(protocol)


def of_vectors(form, wrong):
    """the problem for vectors of a Formed"""
    form.problem.trust.wrong |= wrong
    return form.problem


class OfFunctional(Portable):
    """A Functional: its complex steps are checked again."""

    local = {"checks": dict}


LOCK = threading.RLock()
IN_C = ("_b", "_tape", "_start", "_looked", "_stats")


class OfRun:
    """A Run: its numbers are copied.  The steps are computed again when they are asked for, with the same bits, or an
    exception says that the problem's functions have changed."""

    def __getstate__(self):
        state = {name: value for name, value in vars(self).items() if name not in IN_C}
        if not self.recorded:
            state["_tape"] = None
        return dict(state, _counts=self.stats, _file=None)          # the file belongs to this run

    def __setstate__(self, state):
        vars(self).update(state)

    def _forget(self):
        """the steps, which are computed again when they are asked for"""
        state = self.__getstate__()
        vars(self).clear()
        vars(self).update(state)

    def __getattr__(self, name):
        if name not in IN_C or "_counts" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        with LOCK:
            if name not in vars(self):
                vars(self).update(self._again())            # at once, for other threads
        return vars(self)[name]

    def _again(self):
        """the members of the run that this one is a copy of"""
        new = object.__new__(type(self))
        vars(new).update(vars(self))
        new._integrate(stops_at(self.t) if self.stopped else None)
        if new._known_wrong != self._known_wrong:
            return vars(new)                    # another run has found complex steps to be wrong
        for name in ("t", "y", "at", "q", "m"):
            if not np.array_equal(vars(self)[name], vars(new)[name], equal_nan=True):
                raise CostateError("COSTATE_BAD_TAPE", "this run is a copy, whose steps were computed again, and "
                                   f"{name} has other values now: functions of the problem, or what they read, have "
                                   "changed")
        return vars(new)

    @property
    def stats(self):
        """counts, a dictionary"""
        return dict(self._counts) if "_counts" in vars(self) else library.statistics(self._stats)
