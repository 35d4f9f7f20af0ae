"""What a callback of solve_ivp receives after each step."""
import numpy as np

from costate._costate import lib


class Watcher:
    """Calls a callback after each step; stopped: it has raised StopIteration."""

    def __init__(self, callback, built, system):
        self.callback, self.built, self.stopped = callback, built, False
        self.t, self.y = [system.t0], [system.y0[:system.size].copy()]

    def step(self, t, y, inside, events):
        """True: the run ends here; inside: the polynomial of the step, or None"""
        self.t.append(t)
        self.y.append(np.array(y))
        try:
            self.callback(Intermediate(self, inside, events))
        except StopIteration:
            self.stopped = True
        return self.stopped


class Intermediate:
    """A run up to a step, with the members of SciPy's: current_t, current_y; t and y, (k,) and (k, n), at the ends of
    all steps so far; t_events, y_events, active_events, None without events; nfev, njev, nlu; sol: with dense_output a
    function of the times of the last step, valid during the call; solver is None"""

    solver = None

    def __init__(self, watcher, inside, events):
        self._watcher, self._count, self.sol = watcher, len(watcher.t), inside
        self.current_t, self.current_y = watcher.t[-1], watcher.y[-1]
        self.t_events = self.y_events = self.active_events = None
        if events is not None:
            self.t_events, self.y_events = ([list(of) for of in found] for found in (events.t, events.y))
            self.active_events = np.array(events.active, dtype=int)
        stats = lib.costate_get_stats(watcher.built.solver)
        self.nfev, self.njev = stats.f, stats.jac
        self.nlu = stats.decompositions + stats.complex_decompositions

    @property
    def t(self):
        return np.array(self._watcher.t[:self._count])

    @property
    def y(self):
        return np.array(self._watcher.y[:self._count])
