"""Results of solve_ivp with SciPy's interface, and dense output that outlives the solver."""
from bisect import bisect_left

import numpy as np

from costate import _library as library
from costate._costate import lib
from costate._library import pointer


class OdeResult(dict):
    """What solve_ivp returns: a dictionary whose items are attributes, too.

    t, y                n_points times; the states there, n by n_points
    sol                 OdeSolution, or None without dense_output
    t_events, y_events  for each event an array of times, and one of states, n_events by n; None without events
    nfev, njev, nlu     evaluations of fun (without those for difference Jacobians) and of the Jacobian; decompositions
    status              0: the end was reached, 1: a terminal event occurred, -1: the run failed
    message, success    a sentence; whether status >= 0
    derivatives         "exact" or "differences": how implicit methods obtain the Jacobian"""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__

    def __dir__(self):
        return [*self, "plot"]

    def plot(self, **more):
        """draws y over t: costate.plots.plot_result, which needs Matplotlib; returns the axes"""
        from costate.plots import plot_result
        return plot_result(self, **more)

    def __repr__(self):
        width = max(map(len, self), default=0) + 1
        lines = []
        with np.printoptions(threshold=12, edgeitems=2, precision=3, linewidth=74 - width):
            for name, value in self.items():
                text = str(value).replace("\n", "\n" + " " * (width + 2))
                lines.append(f"{name:>{width}}: {text}")
        return "\n".join(lines)


class DenseOutput:
    """The solution in one step, a polynomial: a function of t, a number or an array of times.

    t_old, t            ends of the step; t_min, t_max: the same in increasing order"""

    def __init__(self, start, length, parts):
        """parts: coefficients of the functions of `basis`, an array of shape (degree + 1, n)"""
        self._start, self._length, self._parts = start, length, parts
        self.t_old, self.t = start, start + length
        self.t_min, self.t_max = min(self.t_old, self.t), max(self.t_old, self.t)

    def __call__(self, t):
        theta = near((times_of(t) - self._start) / self._length, len(self._parts))
        weights = basis(theta, len(self._parts))
        return self._parts.T @ np.array(weights)


class OdeSolution:
    """The solution as a function of t: (n,) for a number, n by k for k times, in any order.

    Times outside [t_min, t_max] are accepted: the polynomial of the first or last step is continued, up to where its
    round-off has taken half of the digits.

    ts                  ends of the steps; n_segments: their number
    t_min, t_max        range of the run
    interpolants        the steps, a list of DenseOutput"""

    def __init__(self, ts, start, length, parts):
        """start, length: of the steps; parts: as of DenseOutput, an array of shape (steps, degree + 1, n)"""
        self.ts, self.n_segments = np.asarray(ts, dtype=float), len(start)
        self.t_min, self.t_max = min(self.ts[0], self.ts[-1]), max(self.ts[0], self.ts[-1])
        self._sign = 1 if self.ts[-1] >= self.ts[0] else -1
        self._inner = self._sign * self.ts[1:-1]
        self._start, self._length, self._parts = start, length, parts

    @property
    def interpolants(self):
        return [DenseOutput(*one) for one in zip(self._start, self._length, self._parts)]

    def __call__(self, t):
        t = times_of(t)
        if t.ndim == 0:
            t = float(t)
            k = bisect_left(self._inner, self._sign * t)
            theta = near((t - self._start[k]) / self._length[k], self._parts.shape[1])
            return np.dot(basis(theta, self._parts.shape[1]), self._parts[k])
        k = np.searchsorted(self._inner, self._sign * t)
        y = np.zeros((len(t), self._parts.shape[2]), dtype=self._parts.dtype)
        theta = near((t - self._start[k]) / self._length[k], self._parts.shape[1])
        for j, weight in enumerate(basis(theta, self._parts.shape[1])):
            y += weight[:, None] * self._parts[k, j]
        return np.ascontiguousarray(y.T)


def times_of(t):
    t = np.asarray(t, dtype=float)
    if t.ndim > 1:
        raise ValueError("`t` must be a float or a 1-D array.")
    return t


def near(theta, count):
    """theta, if a polynomial with `count` coefficients still has digits there"""
    far = np.max(np.abs(theta), initial=0.0)
    if far > 2 and far ** (count - 1) > 1e8 * 2.0 ** (count - 1):
        raise ValueError(f"`t` is outside the run, {far:.3g} lengths of a step from the start of the step next to it: "
                         "a polynomial cannot be continued so far")
    return theta


def basis(theta, count):
    """1 - theta and theta, whose coefficients are the states at the ends; theta (1 - theta) (2 theta - 1)^k"""
    out, bubble = [1 - theta, theta], theta * (1 - theta)
    for _ in range(count - 2):
        out.append(bubble)
        bubble = bubble * (2 * theta - 1)
    return out


def constant_solution(t0, t1, y):
    """the same state everywhere"""
    return OdeSolution([t0, t1], np.array([t0]), np.ones(1), np.stack([y, y])[None])


class Steps:
    """Collects the polynomials of a run's steps: the states at the ends of each, and at points inside."""

    def __init__(self, n, degree):
        self.inner = (0.5 - 0.5 * np.cos(np.pi * np.arange(1, degree) / degree)).tolist()
        self.starts, self.ends, self.n = [], [], n
        self.values = np.empty((0, degree + 1, n))

    def add(self, s, a, b):
        k = len(self.starts)
        if k == len(self.values):
            self.values = np.concatenate([self.values, np.empty((k + 64, *self.values.shape[1:]))])
            self.base = pointer(self.values)
        at = self.base + k * (len(self.inner) + 2) * self.n
        for t in (a, b, *(a + node * (b - a) for node in self.inner)):
            self.evaluate(s, t, at)
            at += self.n
        self.starts.append(a)
        self.ends.append(b)

    def evaluate(self, s, t, at):
        if lib.costate_step_eval(s, t, at):
            raise RuntimeError(f"dense output failed at t = {t}")

    def solution(self, end, system):
        """end: time of a terminal event, or None"""
        start, ends = np.array(self.starts), np.array(self.ends)
        ts = np.append(start[:1], ends)
        if end is not None:
            ts[-1] = end
        return OdeSolution(ts, start, ends - start, system.states(self.parts(len(start))))

    def parts(self, count):
        """coefficients of `basis` from the values"""
        out, nodes = self.values[:count].copy(), np.array(self.inner)
        functions = np.array(basis(nodes, len(nodes) + 2)).T
        ends, inside = functions[:, :2], functions[:, 2:]
        out[:, 2:] = np.linalg.inv(inside) @ (out[:, 2:] - ends @ out[:, :2])
        return out


def members_of(method):
    """descriptions of the members of a composite method; of any other: its own"""
    found = [m for k in range(lib.COSTATE_MEMBERS_MOST) if (m := lib.costate_method_member(method, k))]
    return [library.describe(m) for m in found or [method]]


def degree_of(method):
    """of the polynomials of its dense output, or more"""
    return max(3 if one["family"] == "rkc" else one["dense"] + (one["family"] == "erk") for one in members_of(method))
