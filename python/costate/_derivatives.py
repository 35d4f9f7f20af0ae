"""Derivatives of functions by complex steps and by differences, with steps for each variable's own size, and checks.

A function f(t, y, p, ...) is differentiated with respect to one of its arguments, `part`, along one direction: the
function g(s) = f(..., x + s u, ...) of one number has u as the unit of the variables that move, and s as their relative
change.  All results are by component: each has an error of its own."""
import threading
import warnings

import numpy as np

from costate._ways import warn_of_differences

COMPLEX_WARNING = getattr(np, "exceptions", np).ComplexWarning
EPS = np.finfo(float).eps
STEP = 1e-100           # of a complex step: its square is 0, so that nothing is lost
CUBE_ROOT = 6e-6        # of round-off: the relative step of a central difference
WIDE = 1e-3             # relative steps of extrapolated differences, whose error is of fourth order
SHARP = 1e-6            # a difference with a larger relative error is tried with another step
APART = 1e-7            # relative: complex steps that differ by more from an accurate difference are wrong
GROUPS = 8              # directions at a point that is checked; up to so many variables are moved one by one
TRIES = 7               # steps of different size
OFTEN = 64              # after the first points each one of so many is checked
NOT_DEFINED = (ArithmeticError, ValueError)     # what functions raise outside their domain


class Mistrusted(Exception):
    """Complex steps turned out to be wrong: what used them is repeated with differences."""


class Lacking(TypeError):
    """What was given of a function does not suffice for its second derivatives."""

    def __init__(self, name, text):
        super().__init__(text)
        self.name = name


class Trust:
    """Which complex steps of a problem's functions are wrong: pairs (name of the function, part of its arguments).

    policy              "auto", "complex step" or "differences", as Problem.derivatives
    second_differences  whether the library may take differences in place of second derivatives
    unasked             names of functions whose second derivatives are not offered to the library
    unsaid              (name, argument) of wrong ones that no warning has named
    vectorised          (name of the function, part): does it compute columns of arguments at once?"""

    def __init__(self, policy, second_differences=False):
        self.policy, self.wrong, self.second_differences = policy, set(), second_differences
        self.unasked, self.unsaid, self.vectorised = set(), [], {}

    def say(self):
        """warns of what is wrong, after a call that succeeded: a function may have another fault, which is an error"""
        while self.unsaid:
            warn_of_differences(*self.unsaid.pop(0))


class Scales:
    """What is known of a run: the times between which f may be called, and sizes of the components of y.

    stops       sorted times at which f may jump
    least       a component of y that is smaller than this has no size of its own: its tolerance; or None: not known"""

    def __init__(self, least=None, span=(-np.inf, np.inf), stops=()):
        self.least, self.stops = least, np.asarray(stops, dtype=float)
        self.between(*span)

    def between(self, t0, t1):
        self.low, self.high = min(t0, t1), max(t0, t1)

    def inside(self, t):
        """t, where round-off has put it beyond an end of the run: that end"""
        if self.low <= t <= self.high:
            return t
        end = self.low if t < self.low else self.high
        return end if abs(t - end) <= 8 * EPS * max(abs(self.low), abs(self.high)) else t

    def piece(self, t):
        """(low, high): t in the run and between stops, which are left out"""
        if not self.stops.size:
            return self.low, self.high
        k = np.searchsorted(self.stops, t)
        below = np.nextafter(self.stops[k - 1], np.inf) if k else -np.inf
        above = np.nextafter(self.stops[k], -np.inf) if k < self.stops.size else np.inf
        return max(self.low, below), min(self.high, above)

    def middle(self, t):
        """a time inside the run"""
        low, high = self.piece(t)
        return t if not np.isfinite(high - low) else low + 0.37 * (high - low)

    def unit(self, part, x):
        """(the unit of each variable, which of them are too close to 0 to have a size)"""
        size = np.abs(x)
        if part != 1 or self.least is None or len(self.least) != len(x):
            return np.where(size > 0, size, 1.0), size == 0
        return np.maximum(size, self.least), size <= self.least


def real(values):
    """as a vector, copied"""
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise TypeError("a function returned complex values for real arguments; expected real numbers")
    return np.array(array, dtype=float).reshape(-1)


def along(f, at, part, u):
    """g(s), a vector of real numbers"""
    before, x, behind = at[:part], at[part], at[part + 1:]
    return lambda s: real(f(*before, x + s * u, *behind))


# ---- differences ----------------------------------------------------------------------------------------------------

def extrapolated(g, s):
    """(g'(0), its error by truncation, by round-off) from g(s), g(s/2), g(-s/2), g(-s)"""
    with np.errstate(all="ignore"):
        far, near = [g(s), g(-s)], [g(s / 2), g(-s / 2)]
        wide, narrow = (far[0] - far[1]) / (2 * s), (near[0] - near[1]) / s
        value = (4 * narrow - wide) / 3
        still = (far[0] == far[1]) & (near[0] == near[1])
        size = np.abs(far[0]) + np.abs(far[1]) + np.abs(near[0]) + np.abs(near[1])
        return value, np.abs(value - narrow), np.where(still, 0.0, 4 * EPS * size / s)


# g'(0) from g(0), g(q), ... g(4 q), and from the first four of them, times q
ONE_SIDED = np.array([-25 / 12, 4, -3, 4 / 3, -1 / 4]), np.array([-11 / 6, 3, -3 / 2, 1 / 3, 0])


def one_sided(g, s):
    """the same from g(0), g(s/4), ..., g(s)"""
    with np.errstate(all="ignore"):
        q = s / 4
        values = np.stack([g(k * q) for k in range(5)])
        value, lower = (weights @ values / q for weights in ONE_SIDED)
        still = np.all(values == values[0], axis=0)
        return value, np.abs(value - lower), np.where(still, 0.0, 4 * EPS * np.abs(values).sum(axis=0) / abs(q))


class Best:
    """The most accurate of several differences, for each component."""

    def __init__(self):
        self.value, self.error, self.noisy = None, None, False

    def add(self, value, truncation, noise):
        """is it better than the others anywhere?"""
        error = np.where(np.isfinite(value), truncation + noise, np.inf)
        if self.value is None:
            self.value, self.error = np.full(value.shape, np.nan), np.full(value.shape, np.inf)
        better = (error < self.error) | np.isnan(self.value)
        self.value, self.error = np.where(better, value, self.value), np.where(better, error, self.error)
        rough = ~self.sharp()
        self.noisy = bool(np.all((noise >= truncation)[rough])) if rough.any() else False
        return bool(better.any())

    def sharp(self):
        return self.error <= SHARP * np.abs(self.value)

    def done(self):
        return self.value is not None and bool(np.all(self.sharp()))


def of_unknown_size(g, unit):
    """g'(0) where the size of the variables is not known: steps from WIDE units on become larger while round-off shows,
    and smaller while g is not smooth over them"""
    best, raised, step = Best(), None, 0
    for _ in range(TRIES):
        for rule in (extrapolated, one_sided):          # on one side where the other is outside the domain
            try:
                found = rule(g, WIDE * unit)
            except NOT_DEFINED as error:
                raised = error
                continue
            if np.all(np.isfinite(found[0])) or rule is one_sided:
                better = best.add(*found)
                break
        else:
            better = True
        if best.done() or not better:
            break
        step = step or (1e3 if best.noisy else 1e-3)
        unit *= step
    if best.value is None:
        raise raised
    return best.value


def of_known_size(g):
    """g'(0) by a central difference; where its round-off shows, by wider ones"""
    with np.errstate(all="ignore"):
        up, down = g(CUBE_ROOT), g(-CUBE_ROOT)
        value = (up - down) / (2 * CUBE_ROOT)
        weak = (value != 0) & (EPS * (np.abs(up) + np.abs(down)) > 2 * CUBE_ROOT * APART * np.abs(value))
        if weak.any():
            try:
                wide, truncation, noise = extrapolated(g, WIDE)
            except NOT_DEFINED:
                return value
            better = weak & np.isfinite(wide) & (truncation + noise < EPS * (np.abs(up) + np.abs(down)) / CUBE_ROOT)
            value = np.where(better, wide, value)
        return value


def difference(f, at, part, d, scales):
    """the derivative of f along d, a direction in the variables of this part.

    Variables whose steps would have different magnitudes are moved in groups, one after the other."""
    x = at[part]
    unit, nameless = scales.unit(part, x)
    moving = np.flatnonzero(d)
    ratio = np.abs(d[moving]) / unit[moving]
    group = np.floor(np.log10(ratio) / 2).astype(int) * 2 + nameless[moving]
    total = 0.0
    for one in np.unique(group):
        members = moving[group == one]
        most = np.max(ratio[group == one])
        u = np.zeros(len(x))
        u[members] = d[members] / most
        total = total + derivative(along(f, at, part, u), part, bool(one % 2)) * most
    return total


def derivative(g, part, nameless):
    """g'(0); a component of y that is smaller than its tolerance is expected to become much larger"""
    return of_unknown_size(g, 1e4 if part == 1 else 1.0) if nameless else of_known_size(g)


def slope(f, at, scales):
    """The derivative with respect to t, from values between the ends of the run.

    The first step is a part of the run; it becomes shorter until f is smooth over it."""
    t, (low, high) = float(at[0]), scales.piece(float(at[0]))
    span = high - low if np.isfinite(high - low) else 1 + abs(t)
    if not span > 0:
        raise ValueError(f"there is no derivative with respect to t in a run of length 0, at t = {t:.10g}")
    t, best, h = min(max(t, low), high), Best(), 1e-4 * span
    for _ in range(8):
        h = min(max(h, 64 * np.spacing(abs(t))), span / 4)
        best.add(*slope_over(f, (t, *at[1:]), h, low, high))
        wider = best.noisy and h == 1e-4 * span
        if best.done() or h <= 64 * np.spacing(abs(t)) or (best.noisy and not wider):
            break
        h *= 100 if wider else 1e-2
    return best.value


def slope_over(f, at, h, low, high):
    t, rest = at[0], at[1:]
    q = (t + h / 4) - t                     # exactly, so that the nodes are where they should be

    def g(s):
        return real(f(min(max(t + s, low), high), *rest))
    if t - 4 * q >= low and t + 4 * q <= high:
        return extrapolated(g, 4 * q)
    return one_sided(g, 4 * q if t + 4 * q <= high else -4 * q)


# ---- complex steps and their checks ---------------------------------------------------------------------------------

class Checked:
    """Complex steps of a function f, compared with differences at the first points and then now and then."""

    def __init__(self, f):
        self.f, self.counts, self.lock = f, {}, threading.Lock()

    def due(self, part):
        """Is a check due?  Its number, or 0.  Called whenever complex steps are taken."""
        with self.lock:
            k = self.counts[part] = self.counts.get(part, 0) + 1
        return k if k & (k - 1) == 0 or k % OFTEN == 0 else 0

    def right(self, part, at, scales, number):
        """Are complex steps in this part of the arguments right at this point?  They are where nothing is said against
        them: a function that is not smooth there says nothing."""
        if part == 0:
            looks = [(lambda s, w=where: self.in_time(at, w[0], s * w[1])) for where in
                     times_of_check(at[0], scales, number)]
        else:
            looks = [(lambda s, u=u: self.along(at, part, u, s * WIDE)) for u in
                     directions(np.asarray(at[part], dtype=float), part, scales, number)]
        found = [look(1.0) for look in looks]
        if not found or any(seen is None for seen in found):
            return not found
        gross = 0.0 if part == 0 else np.max([seen.size for seen in found], axis=0)
        return not any(self.wrong(look, seen, APART * np.fmax(gross, seen.size)) for look, seen in zip(looks, found))

    @staticmethod
    def wrong(look, seen, least):
        """Is there a gap in some row?  Round-off that cancels inside f does not show in its values: other steps must
        agree with each other much better than with the complex step."""
        rows = seen.gap > seen.error + least
        if not np.any(rows):
            return False
        values = []
        for s in (0.875, 0.75, 0.625, 0.5, 0.375):
            other = look(s)
            rows &= other.gap > other.error + least
            values.append(other.value)
        spread = np.max(values, axis=0) - np.min(values, axis=0)
        return bool(np.any(rows & (seen.gap > 4 * spread)))

    def along(self, at, part, u, s):
        before, x, behind = at[:part], at[part], at[part + 1:]
        return self.seen(lambda: self.f(*before, x + 1j * STEP * u, *behind), along(self.f, at, part, u), s)

    def in_time(self, at, t, h):
        rest = at[1:]
        return self.seen(lambda: self.f(complex(t, STEP), *rest), lambda s: real(self.f(t + s, *rest)), h)

    @staticmethod
    def seen(complex_value, g, s):
        """a Comparison; None: f does not compute with complex arguments"""
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("error", COMPLEX_WARNING)         # the imaginary part is lost
                value = np.asarray(complex_value()).reshape(-1)
                by_step, middle = np.imag(value).astype(float) / STEP, np.real(value).astype(float)
        except (TypeError, ValueError, ArithmeticError, COMPLEX_WARNING):
            return None
        try:
            return Comparison(by_step, middle, g, s)
        except NOT_DEFINED:
            return Comparison.nothing(by_step)


class Comparison:
    """A derivative and an accurate difference: the gap between them, the error of the difference, the larger of both.

    Where g has a kink, 4 (g(s/2) - 2 g(0) + g(-s/2)) - (g(s) - 2 g(0) + g(-s)) is the jump of g' times s; where g is
    smooth it is of fourth order."""

    def __init__(self, by_step, middle, g, s):
        with np.errstate(all="ignore"):
            far, near = [g(s), g(-s)], [g(s / 2), g(-s / 2)]
            wide, narrow = (far[0] - far[1]) / (2 * s), (near[0] - near[1]) / s
            value = (4 * narrow - wide) / 3
            kink = np.abs(4 * (near[0] + near[1]) - 6 * middle - (far[0] + far[1])) / s
            most = np.max(np.abs([*far, *near, middle]), axis=0)
            error = 4 * np.abs(value - narrow) + kink + 64 * EPS * most / s
            sure = np.isfinite(error) & np.isfinite(value)
            gap = np.abs(by_step - value)
        self.value = value
        self.gap = np.where(sure, np.where(np.isnan(gap), np.inf, gap), 0.0)
        self.error = np.where(sure, error, 0.0)
        self.size = np.where(sure, np.fmax(np.abs(value), np.nan_to_num(np.abs(by_step), posinf=0.0)), 0.0)

    @classmethod
    def nothing(cls, like):
        """of a function that is not defined nearby"""
        none = cls.__new__(cls)
        none.gap = none.error = none.size = none.value = np.zeros(like.shape)
        return none


def directions(x, part, scales, number):
    """in which the variables are moved at a point that is checked: one by one, or in groups, others at each point"""
    unit, nameless = scales.unit(part, x)
    if part != 1:
        unit = np.where(nameless, 10.0 ** (-3 * (number % 5)), unit)
    if len(x) <= GROUPS:
        return [np.where(np.arange(len(x)) == j, unit, 0.0) for j in range(len(x))]
    random = np.random.default_rng(number)
    group = random.integers(GROUPS, size=len(x))
    part_of = random.uniform(0.5, 1.0, len(x)) * random.choice([-1.0, 1.0], len(x))     # so that nothing cancels
    return [np.where(group == k, part_of * unit, 0.0) for k in range(GROUPS)]


def times_of_check(t, scales, number):
    """(time, step): between the ends of the run, where f may vary fast or slowly"""
    low, high = scales.piece(t)
    span = high - low if np.isfinite(high - low) else 1 + abs(t)
    out = []
    for part in (1e-3, 1e-5, 1e-7, 1e-9):
        h = part * span
        h = h if np.isfinite(high - low) else h * 10.0 ** -(number % 3)
        at = min(max(t, low + 1.01 * h), high - 1.01 * h)
        if h > 1e3 * np.spacing(abs(at)):
            out.append((at, 2 * ((at + h / 2) - at)))           # so that at + h/2 and at + h are exact
    return out
