"""Events of solve_ivp by SciPy's rules: changes of sign between steps, roots of dense output."""
import numpy as np

EPS = np.finfo(float).eps


def root(f, a, b, fa, fb):
    """A zero of f between a and b by Brent's method, to 4 eps relative to the times and to b - a: fa = f(a) and
    fb = f(b) do not have the same sign."""
    if fa == 0:
        return a
    c, fc, span = a, fa, abs(b - a)
    d = e = b - a
    for _ in range(1000):
        if fb == 0:
            break
        if (fb > 0) == (fc > 0):
            c, fc = a, fa
            d = e = b - a
        if abs(fc) < abs(fb):
            a, b, c, fa, fb, fc = b, c, b, fb, fc, fb
        tol, half = 2 * EPS * (span + abs(b)), (c - b) / 2
        if abs(half) <= tol:
            break
        p, q = interpolated(a, b, c, fa, fb, fc, half)
        if abs(e) >= tol and abs(fa) > abs(fb) and 2 * p < min(3 * half * q - abs(tol * q), abs(e * q)):
            d, e = p / q, d
        else:
            d = e = half
        a, fa = b, fb
        b += d if abs(d) > tol else np.copysign(tol, half)
        fb = f(b)
    return b


def interpolated(a, b, c, fa, fb, fc, half):
    """p >= 0 and q: the secant, or inverse quadratic interpolation, moves b by p/q"""
    s = fb / fa
    if a == c:
        p, q = 2 * half * s, 1 - s
    else:
        q, r = fa / fc, fb / fc
        p = s * (2 * half * q * (q - r) - (b - a) * (r - 1))
        q = (q - 1) * (r - 1) * (s - 1)
    return (p, -q) if p > 0 else (-p, q)


def number(g):
    """what an event returned; an array of one element is accepted"""
    return g if isinstance(g, float) else float(g) if np.ndim(g) == 0 else np.asarray(g).item()


def limit(terminal):
    """at how many occurrences of an event the run ends; 0: it does not"""
    if isinstance(terminal, str) or int(terminal) != terminal or terminal < 0:
        raise ValueError("The `terminal` attribute of each event must be a boolean or positive integer.")
    return int(terminal)


class Events:
    """Zeros of the user's functions of (t, y), found as SciPy finds them: by their signs at the ends of steps.

    ended               (t, y) of the terminal event, or None
    active              numbers of the functions that had a zero in the last step"""

    def __init__(self, events, system):
        self.functions = [events] if callable(events) else list(events)
        self.args, self.ended, self.active = system.args, None, []
        self.limits = [limit(getattr(e, "terminal", 0) or 0) for e in self.functions]
        self.directions = [getattr(e, "direction", 0) for e in self.functions]
        self.t = [[] for _ in self.functions]
        self.y = [[] for _ in self.functions]
        self.g = self.at(system.t0, system.y0.copy())

    def at(self, t, y):
        return [number(e(t, y, *self.args)) for e in self.functions]

    def occurs(self, k, g, g_new):
        up, down = g <= 0 <= g_new, g >= 0 >= g_new
        direction = self.directions[k]
        return up if direction > 0 else down if direction < 0 else up or down

    def step(self, a, b, y, inside):
        """after the step from a to b, where y is the state; inside(t): the state in the step.  True: the run ends"""
        before, self.g = self.g, self.at(b, y)
        active = self.active = [k for k in range(len(self.g)) if self.occurs(k, before[k], self.g[k])]
        if not active:
            return False
        found = [(self.find(k, a, b, before[k], inside), k) for k in active]
        if any(self.is_last(k) for k in active):
            found.sort(key=lambda one: one[0] if b > a else -one[0])
        for t, k in found:
            last = self.is_last(k)
            self.t[k].append(t)
            self.y[k].append(inside(t))
            if last:
                self.ended = t, self.y[k][-1]
                return True
        return False

    def is_last(self, k):
        """does the next occurrence end the run?"""
        return 0 < self.limits[k] <= len(self.t[k]) + 1

    def find(self, k, a, b, before, inside):
        return root(lambda t: number(self.functions[k](t, inside(t), *self.args)), a, b, before, self.g[k])
