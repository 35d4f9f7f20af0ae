"""What steady states and periodic orbits of a Problem share: solving again when complex steps turn out to be wrong."""
from costate import _library as library
from costate._costate import lib
from costate._derivatives import Mistrusted
from costate._library import CostateError
from costate.maps import raise_what_was_raised


class Limit:
    """A limit of solutions of a Problem, solved from _given = (y0, p) at _t.

    _message       the library's function that says what went wrong with the solver _s
    _solve_once    solves with the Built problem _b from the state y; _span: the times at which f is called"""

    _owner = None

    def __init__(self, problem, y0, p, t):
        self._problem, self._given, self._t = problem, (y0, p), float(t)

    def _solve(self):
        while True:
            self._b, y, self._p = self._problem.built(self._t, *self._given)
            try:
                with self._b.lock:
                    self._b.scales.between(*self._span())
                    self._solve_once(y)
                break
            except Mistrusted:
                self._problem.rebuild()
        self.derivatives = self._b.way

    def _derived(self, call):
        """what `call` computes; again after differences have taken the place of complex steps"""
        while True:
            try:
                with self._b.lock:
                    self._b.scales.between(*self._span())
                    return call()
            except Mistrusted:
                self._problem.rebuild()
                self._solve()

    def _check(self, status):
        raise_what_was_raised([owner for owner in (self._owner, *self._b.owners()) if owner is not None])
        if status != lib.COSTATE_OK:
            raise CostateError(library.status_name(status), library.said(self._message(self._s)))
        self._problem.trust.say()
