"""Functions of the user as maps of the library, with their derivatives: given, by complex steps, or by differences."""
import threading
from collections import namedtuple

import numpy as np

from costate._costate import ffi, lib
from costate._derivatives import (APART, STEP, WIDE, Checked, Comparison, Lacking, Mistrusted, Scales, Trust,
                                  derivative, difference, slope)
from costate._derivatives import along as moved_along
from costate._library import taken
from costate._pattern import Outgrown
from costate._shown import of_map
from costate._vectorised import Columns
from costate._ways import least_exact


# Jacobians are kept at this many points, more than the stages of an implicit method, while they take no more bytes.
KEPT, KEPT_BYTES = 8, 1 << 26


class OnCopies:
    """A function that receives copies of arrays: it may change them in place, and is called again with the same."""

    def __init__(self, f):
        self.__wrapped__ = f
        self.__name__ = getattr(f, "__name__", type(f).__name__)

    @classmethod
    def of(cls, f):
        return f if f is None or isinstance(f, (cls, Constant)) else cls(f)

    def __call__(self, *at):
        return self.__wrapped__(*[a.copy() if isinstance(a, np.ndarray) else a for a in at])


class Map:
    """A function of (t, y, p), or of (t, y, p, m) where the problem has memory variables, with its derivatives.

    value(t, y, p)                      k values
    jac(t, y, p), jac_p, jac_t, jac_m   Jacobians with respect to y (k by n), p (k by np), t (k), m (k by nm): enough
                                        for all first products
    jvp(t, y, p, dt, dy, dp)            instead: the derivative along a direction, k values
    vjp(t, y, p, w)                     instead: w times the Jacobians with respect to y, p and, optionally, t
    hvp(t, y, p, dt, dy, dp, w)         the derivative of vjp along a direction, in the same form

    With a Jacobian and without hvp, second products are complex steps of the Jacobian, exact to round-off, if it
    accepts complex y.  Without any derivative, first products are complex steps of value, if it accepts complex y and
    computes with it; or else differences, which are not exact."""

    def __init__(self, value, *, jac=None, jac_p=None, jac_t=None, jac_m=None, jvp=None, vjp=None, hvp=None):
        for name, f in dict(value=value, jac=jac, jac_p=jac_p, jac_t=jac_t, jac_m=jac_m, jvp=jvp, vjp=vjp,
                            hvp=hvp).items():
            if f is not None and not callable(f) and not (name.startswith("jac") and isinstance(f, (list, np.ndarray))):
                raise TypeError(f"{name} is {f!r}; expected a function")
        self.value, self.jvp, self.vjp, self.hvp = value, jvp, vjp, hvp
        self.jac, self.jac_p, self.jac_t, self.jac_m = (constant(matrix) for matrix in (jac, jac_p, jac_t, jac_m))

    __repr__ = of_map

    @property
    def exact(self):
        """are derivatives given?"""
        return any(f is not None for f in (self.jac, self.jvp, self.vjp))

    def on_copies(self):
        """the same, whose functions may change the arrays that they receive"""
        return Map(**{name: OnCopies.of(f) for name, f in vars(self).items()})

    def followed_by(self, last):
        """the same, whose functions receive last() behind their other arguments"""
        def longer(f):
            return None if f is None else lambda *at: f(*at, last())
        return Map(**{name: longer(f) for name, f in vars(self).items()})


# The mode and the values of relations at a point: functions of a problem that has relations or modes receive it last.
Situation = namedtuple("Situation", "mode relation")


class Constant:
    """A matrix as a function."""

    def __init__(self, matrix):
        self.matrix = np.array(matrix, dtype=float)

    def __call__(self, *at):
        return self.matrix


def constant(jacobian):
    return jacobian if jacobian is None or callable(jacobian) else Constant(jacobian)


def as_map(of):
    return of if isinstance(of, Map) or of is None else Map(of)


def shaped(values, shape, name):
    array = np.asarray(values)
    if array.shape != shape and array.shape == () and shape == (1,):
        array = array.reshape(1)
    if array.shape != shape:
        raise ValueError(f"{name} returned an array of shape {array.shape}; expected {shape}")
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} returned an array of type {array.dtype}; expected real numbers")
    return np.ascontiguousarray(array, dtype=float)


class Bound:
    """A map at work in a problem: n, np, nm and k rows are known, and how its derivatives are computed.

    trust, scales       of the problem and of the run that uses the map
    relations           how many there are; None: functions do not receive a Situation"""

    def __init__(self, of, name, n, np_, nm, rows, trust=None, scales=None, relations=None):
        self.relations, self.situation = relations, None
        of = of.on_copies() if isinstance(of, Map) else of
        if relations is not None:
            self.situation = Situation(0, (1,) * relations)         # until a point says otherwise
            of = of.followed_by(lambda: self.situation)
        self.of, self.name, self.n, self.np, self.nm, self.rows = of, name, n, np_, nm, rows
        self.trust, self.scales = trust or Trust("auto"), scales or Scales()
        self.kept, self.pattern, self.seen_whole = {}, None, False
        self.checked, self.columns = Checked(of.value), Columns()
        self.second, self.slope_used = Checked(None), False

    # ---- how derivatives are computed, by part of the arguments: 0: t, 1: y, 2: p, 3: m

    def given(self, part):
        return (self.of.jac_t, self.of.jac, self.of.jac_p, self.of.jac_m)[part]

    def count(self, part):
        return (1, self.n, self.np, self.nm)[part]

    def way(self, part):
        if self.given(part) is not None or self.of.jvp is not None or self.of.vjp is not None or not self.count(part):
            return "exact"
        if not self.of.exact and (self.trust.policy == "differences" or (self.name, part) in self.trust.wrong):
            return "differences"
        return "complex step"

    def look(self, at, part):
        """before complex steps in this part: a check, if one is due"""
        number = self.checked.due(part)
        if number and not self.checked.right(part, at, self.scales, number):
            self.mistrust(part)

    def look_over(self, points):
        """checks at several points, in all parts but t; not where wrong ones are an error, which is one when they are
        used"""
        if self.of.exact or self.trust.policy != "auto":
            return
        for number, at in enumerate(points):
            for part in range(1, len(at)):
                if self.way(part) == "complex step" and not self.checked.right(part, at, self.scales, number):
                    self.mistrust(part)

    def least_exact_way(self):
        """of all that it uses"""
        return least_exact(self.way(part) for part in range(0 if self.slope_used else 1, 4))

    def ways(self):
        """{argument: way} of all that it uses"""
        return {"typm"[part]: "given" if self.way(part) == "exact" else self.way(part)
                for part in range(0 if self.slope_used else 1, 4) if self.count(part)}

    def mistrust(self, part, error=None):
        which = "typm"[part]
        if self.of.exact or self.trust.policy != "auto":
            also = "" if self.of.exact else ', or set derivatives="auto"'
            raise TypeError(f"{self.name} has no Jacobian with respect to {which}, and does not compute with complex "
                            f"{which}: give jac{('_t', '', '_p', '_m')[part]}, or all its derivatives as jvp and vjp"
                            f"{also}") from error
        if (self.name, part) not in self.trust.wrong:
            self.trust.unsaid.append((self.name, which))
        self.trust.wrong.add((self.name, part))
        raise Mistrusted(f"complex steps of {self.name} with respect to {which} are wrong") from error

    def has_slope(self, at):
        """Is there a derivative with respect to t?"""
        if self.given(0) is not None or self.of.vjp is not None or self.way(1) == "differences":
            return True
        return self.way(0) == "complex step" and self.checked.right(0, at, self.scales, 1)

    # ---- points

    def at(self, x):
        """(t, y, p) or (t, y, p, m) of a costate_point; its situation is that of all that follows"""
        if self.relations is not None:
            self.situation = Situation(x.mode, tuple(x.relation[k] for k in range(self.relations)))
        at = (self.scales.inside(x.t), self.states(x), taken(x.p, self.np) if x.p else np.empty(self.np))
        return at + (taken(x.m, self.nm),) if self.nm else at

    def along(self, d):
        """the same of a direction, whose parts may be NULL: zero"""
        def part(p, count):
            return taken(p, count) if p else np.zeros(count)
        along = (d.t, self.states(d), part(d.p, self.np))
        return along + (part(d.m, self.nm),) if self.nm else along

    def states(self, x):
        """y of a point or direction"""
        return taken(x.y, self.n) if x.y else np.zeros(self.n)

    # ---- Jacobians with respect to t, y, p and m: (k,), (k, n), (k, np), (k, nm)

    def complex_value(self, moved, part):
        """the imaginary part of the value; where only complex arguments raise an exception, they are not understood"""
        try:
            return np.asarray(self.of.value(*moved)).imag
        except (TypeError, ValueError) as error:
            self.mistrust(part, error)

    def at_point(self, at, what, make):
        """what was made at this point, by a name, kept for later products at one of the last points: an implicit step
        asks for the Jacobians at all its stages, and then for products with each"""
        key = (at[0], self.situation) + tuple(a.tobytes() for a in at[1:])
        found = self.kept.pop(key, {})
        if what not in found:
            found[what] = make()
        self.kept[key] = found                  # the last in the order of use
        most = min(max(KEPT_BYTES // (8 * self.rows * (self.n + self.np + self.nm) + 1), 1), KEPT)
        while len(self.kept) > most:
            del self.kept[next(iter(self.kept))]
        return found[what]

    def jacobian(self, part, at):
        """one of them, for products at this point.  A function may return the same array again with other values."""
        def make():
            matrix = self.part_of_jacobian(part, at)
            return matrix if self.given(part) is None else matrix.copy()
        return self.at_point(at, part, make)

    def part_of_jacobian(self, part, at):
        shape = (self.rows, self.count(part))
        if shape[1] == 0:
            return np.zeros(shape)
        if self.given(part) is not None:
            return self.matrix(self.given(part)(*at), shape, "typm"[part])
        if part == 0:
            return self.by_t(at)[:, None]
        if self.way(part) == "complex step":
            self.look(at, part)
            return self.columns.all(self, part, at)
        return np.stack([difference(self.of.value, at, part, d, self.scales) for d in np.eye(shape[1])], axis=1)

    def by_t(self, at):
        self.slope_used = True
        if self.way(0) == "differences":
            return slope(self.of.value, at, self.scales)
        self.look(at, 0)
        return self.complex_value((complex(at[0], STEP), *at[1:]), 0).reshape(-1) / STEP

    def in_colours(self, at):
        """the Jacobian with respect to y in the order of the pattern: columns that share no row move together"""
        pattern, way = self.pattern, self.way(1)
        column, colours = pattern.keys // self.n, pattern.colours()
        unit, nameless = self.scales.unit(1, at[1])
        if way == "complex step":
            self.look(at, 1)
            seeds = (colours[:, None] == np.arange(colours.max() + 1)).astype(float)
            values = self.columns.of(self, 1, at, seeds)[pattern.row, colours[column]]
        else:
            values = np.zeros(len(pattern.keys))
            for colour in range(colours.max() + 1):
                for one in (False, True):
                    members = (colours == colour) & (nameless == one)
                    if not members.any():
                        continue
                    entries = members[column]
                    of_rows = derivative(moved_along(self.of.value, at, 1, np.where(members, unit, 0.0)), 1, one)
                    values[entries] = of_rows[pattern.row[entries]] / unit[column[entries]]
        self.see_whole(at, values, unit)
        return values

    def see_whole(self, at, values, unit):
        """Does the pattern hold all entries?  Asked once."""
        if self.seen_whole:
            return
        pattern, u = self.pattern, unit * np.random.default_rng(1).uniform(0.5, 1.0, self.n)
        product = np.bincount(pattern.row, weights=values * u[pattern.keys // self.n], minlength=self.n)
        size = np.bincount(pattern.row, weights=np.abs(values * u[pattern.keys // self.n]), minlength=self.n)
        middle = np.asarray(self.of.value(*at), dtype=float)
        seen = Comparison(product, middle, moved_along(self.of.value, at, 1, u), WIDE)
        wrong = seen.gap > seen.error + (APART if self.way(1) == "complex step" else 1e-3) * np.fmax(size, seen.size)
        if wrong.any():
            raise ValueError(f"sparsity leaves out entries of row {int(np.argmax(wrong))} of the Jacobian of "
                             f"{self.name} at t = {at[0]:.10g}")
        self.seen_whole = True

    def matrix(self, matrix, shape, of):
        """what jac, jac_p or jac_t returned: an array, or a sparse matrix of SciPy's"""
        matrix = matrix if hasattr(matrix, "tocsr") else np.asarray(matrix)
        if of == "t" and matrix.size == shape[0]:
            matrix = matrix.reshape(shape)
        if matrix.shape != shape:
            which = "jac" if of == "y" else "jac_" + of
            raise ValueError(f"{which} of {self.name} returned an array of shape {matrix.shape}; expected {shape}")
        return matrix

    # ---- products

    def product(self, at, along):
        if self.of.jvp is not None:
            return self.of.jvp(*at, *along)
        if self.of.jac is None and self.of.vjp is not None:
            raise TypeError(f"{self.name} has vjp, but neither jvp nor jac, which tangents need")
        total, moved, last = np.zeros(self.rows), list(at), None
        for part, d in enumerate(along):
            if not np.count_nonzero(d):
                continue
            if self.given(part) is not None:
                total = total + self.part_of_jacobian(part, at) @ np.atleast_1d(d)
            elif part == 0:
                total = total + self.by_t(at) * d
            elif self.way(part) == "differences" and part == 1 and self.pattern is not None:
                column = self.pattern.keys // self.n
                total = total + np.bincount(self.pattern.row, weights=self.sparse_jacobian(at) * d[column],
                                            minlength=self.n)
            elif self.way(part) == "differences":
                total = total + difference(self.of.value, at, part, d, self.scales)
            else:           # what does not move stays real, so that f may compare t, or use p as an index
                self.look(at, part)
                moved[part], last = at[part] + 1j * STEP * d, part
        return total if last is None else total + self.complex_value(moved, last) / STEP

    def pullback(self, at, w, wanted):
        """w times the Jacobians with respect to t, y, p and m; None where that is not wanted"""
        if self.of.vjp is not None:
            return self.sorted(self.of.vjp(*at, w))
        if self.of.jac is None and self.of.jvp is not None:
            raise TypeError(f"{self.name} has jvp, but neither vjp nor jac, which gradients need")
        return tuple(self.times_jacobian(part, at, w) if want else None
                     for part, want in enumerate(wanted[:len(at)]))

    def times_jacobian(self, part, at, w):
        if part != 1 or self.pattern is None or self.of.jac is not None:
            return w @ self.jacobian(part, at)
        values = self.sparse_jacobian(at)
        return np.bincount(self.pattern.keys // self.n, weights=w[self.pattern.row] * values, minlength=self.n)

    def sparse_jacobian(self, at):
        return self.at_point(at, "sparse", lambda: self.in_colours(at))

    def sorted(self, parts):
        """what a vjp returned, in the order y, p, t, m and perhaps without the last, in the order t, y, p, m"""
        parts = tuple(parts) if isinstance(parts, tuple) else (parts,)
        by_y = parts[0]
        by_p = parts[1] if len(parts) > 1 and parts[1] is not None else np.zeros(self.np)
        by_t = parts[2] if len(parts) > 2 else 0.0
        by_m = parts[3] if len(parts) > 3 else np.zeros(self.nm)
        return (by_t, by_y, by_p) + ((by_m,) if self.nm else ())

    def moved(self, at, along):
        """by a complex step of all that moves"""
        return tuple(a + 1j * STEP * d if np.count_nonzero(d) else a for a, d in zip(at, along))

    def second_pullback(self, at, along, w, wanted):
        if self.of.hvp is not None:
            return self.sorted(self.of.hvp(*at, *along, w))
        moved, parts = self.moved(at, along), []
        for part in range(len(at)):
            if self.count(part) == 0 or not wanted[part]:
                parts.append(None)
            elif self.given(part) is None:
                raise TypeError(f"{self.name} has no jac_{'typm'[part]}, which second derivatives need (or hvp)")
            else:
                J = self.second_jacobian(part, at, along, moved)
                parts.append((w @ J).imag / STEP)
        return tuple(parts)

    def second_jacobian(self, part, at, along, moved):
        """a given Jacobian at a complex step; compared with a difference, as complex steps of the value are"""
        given = self.given(part)
        number = self.second.due(part)
        for other in range(len(at)) if number else ():
            if not np.count_nonzero(along[other]):
                continue
            if not Checked(lambda *x: dense(given(*x))).right(other, at, self.scales, number):
                self.mistrust_second(part, other)
        try:
            return self.matrix(given(*moved), (self.rows, self.count(part)), "typm"[part])
        except TypeError as error:
            self.mistrust_second(part, next(k for k, d in enumerate(along) if np.count_nonzero(d)), error)

    def mistrust_second(self, part, other, error=None):
        name = ("jac_t", "jac", "jac_p", "jac_m")[part]
        if not self.trust.second_differences:
            raise Lacking(self.name, f"{name} of {self.name} does not compute with complex {'typm'[other]}, which "
                          "second derivatives need: give hvp, or Problem(..., differences=1), which is not exact"
                          ) from error
        self.trust.wrong.add((self.name, "second"))
        raise Mistrusted(f"complex steps of {name} of {self.name} are wrong") from error

    def second_product(self, at, along, other):
        """F''[along, other]: the derivative of the Jacobians times `other`"""
        if self.of.jac is None:
            raise TypeError(f"{self.name} has no jac, whose derivative this needs")
        moved, total = self.moved(at, along), np.zeros(self.rows)
        for part, d in enumerate(other):
            if np.any(d):
                if self.given(part) is None:
                    raise Lacking(self.name, f"{self.name} lacks jac_{'typm'[part]}, which this second derivative "
                                  "needs")
                J = self.second_jacobian(part, at, along, moved)
                total = total + (J @ np.atleast_1d(d)).imag / STEP
        return total

    # ---- what the library calls

    def value(self, x, out):
        values = shaped(self.of.value(*self.at(x)), (self.rows,), f"{self.name}")
        ffi.memmove(out, values, 8 * self.rows)

    def tangent(self, x, dx, out):
        ffi.memmove(out, shaped(self.product(self.at(x), self.along(dx)), (self.rows,), f"the product of {self.name}"),
                    8 * self.rows)

    def tangent2(self, x, a, b, out):
        values = self.second_product(self.at(x), self.along(a), self.along(b))
        ffi.memmove(out, shaped(values, (self.rows,), f"the second product of {self.name}"), 8 * self.rows)

    def add(self, parts, g):
        for p, values, count in zip((g.t, g.y, g.p, g.m), parts, (1, self.n, self.np, self.nm)):
            if p and count and values is not None:
                array = np.frombuffer(ffi.buffer(p, 8 * count))
                array += shaped(np.reshape(values, -1), (count,), f"the adjoint of {self.name}")

    def adjoint(self, x, w, g):
        self.add(self.pullback(self.at(x), taken(w, self.rows), wanted(g)), g)

    def adjoint_tangent(self, x, dx, w, g):
        self.add(self.second_pullback(self.at(x), self.along(dx), taken(w, self.rows), wanted(g)), g)

    def jac(self, x, J):
        """by columns, or in the pattern"""
        at = self.at(x)
        if self.pattern is None:
            matrix = self.jacobian(1, at)
            matrix = matrix.toarray() if hasattr(matrix, "toarray") else matrix
            values = np.asfortranarray(matrix, dtype=float).reshape(-1, order="F")
        elif self.of.jac is None:
            values = self.sparse_jacobian(at)
        else:
            matrix = self.jacobian(1, at)
            values = np.ascontiguousarray(in_pattern(self.pattern, matrix, f"jac of {self.name}"), dtype=float)
        ffi.memmove(J, values, values.nbytes)

    # ---- what it gives the library

    def products(self):
        """the names of the products that it has"""
        has = ["value"]
        if self.of.jvp or self.of.jac or not self.of.exact:
            has.append("tangent")
        if self.of.vjp or self.of.jac or not self.of.exact:
            has.append("adjoint")
        second = (self.name, "second") not in self.trust.wrong and self.name not in self.trust.unasked
        if self.of.hvp or (self.of.jac and second):
            has.append("adjoint_tangent")
        if self.of.jac and second:
            has.append("tangent2")
        return has

    def fill(self, struct, slot):
        """a costate_map"""
        for name in self.products():
            setattr(struct, name, getattr(lib, f"costate_py_{slot}_{name}"))


def in_pattern(pattern, matrix, name):
    """the values of a matrix, an array or a sparse matrix, in the order of the pattern"""
    if not hasattr(matrix, "tocsc"):
        return pattern.dense_values(matrix)
    try:
        return pattern.values(matrix)
    except Outgrown:
        raise ValueError(f"{name} has entries outside sparsity") from None


def layout(matrix, pattern, name):
    """a matrix as the library reads it: by columns, or in a pattern"""
    if pattern is not None:
        return np.ascontiguousarray(in_pattern(pattern, matrix, name), dtype=float)
    matrix = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    return np.ascontiguousarray(matrix.T, dtype=float)


def wanted(g):
    """which parts of a gradient are requested: by t, y (or y'), p, m"""
    return bool(g.t), bool(g.y) or bool(g.yp), bool(g.p), bool(g.m)


def dense(matrix):
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


# ---- callbacks: the ctx of each is the handle of an owner, whose `slots` are Bound ----------------------------------

class Owner:
    """What a ctx points to: bound maps by slot, and the exception that one of them raised."""

    def __init__(self):
        self.slots, self.raised = {}, None
        self.handle = ffi.new_handle(self)

    def failed(self, error):
        if self.raised is None:
            self.raised = error
        return -1


STRAY = threading.local()


def strayed(kind, error, traceback):
    """A signal came between the library's call and the `try` of a callback."""
    STRAY.error = error


def hook(slot, name):
    def callback(*args):
        owner = ffi.from_handle(args[-1])
        try:
            getattr(owner.slots[slot], name)(*args[:-1])
            return 0
        except BaseException as error:              # KeyboardInterrupt and SystemExit, too: raised again by the call
            return owner.failed(error)

    callback.__name__ = f"costate_py_{slot}_{name}"
    ffi.def_extern(error=-1, onerror=strayed)(callback)


for slot_ in ("rhs", "cost", "guard", "jump", "conditions", "residual", "transition", "after_step", "invariant"):
    for product_ in ("value", "tangent", "adjoint", "tangent2", "adjoint_tangent"):
        hook(slot_, product_)


def guarded(f):
    """a callback whose last argument is the handle of an owner; what it returns is the status"""
    def callback(*args):
        owner = ffi.from_handle(args[-1])
        try:
            return f(owner, *args[:-1]) or 0
        except BaseException as error:
            return owner.failed(error)
    callback.__name__ = f"costate_py_{f.__name__}"
    ffi.def_extern(error=-1, onerror=strayed)(callback)
    return f


@guarded
def jac(owner, x, J):
    (owner.slots.get("rhs") or owner.slots["residual"]).jac(x, J)


@guarded
def jac_yp(owner, x, J):
    owner.slots["residual"].jac_yp(x, J)


@guarded
def mass(owner, M):
    ffi.memmove(M, owner.mass, owner.mass.nbytes)


@guarded
def tick(owner):
    """Python runs its signal handlers before this returns: Ctrl-C is raised here"""
    return 1 if owner.raised is not None else 0


@guarded
def step(owner, s):
    return 1 if owner.on_step is not None and owner.on_step(Step(s)) else 0


class Step:
    """An accepted step, as on_step receives it; valid only during that call."""

    def __init__(self, s):
        self._s = s

    @property
    def start(self):
        return lib.costate_step_start(self._s)

    @property
    def end(self):
        return lib.costate_step_end(self._s)

    def state(self, N):
        return taken(lib.costate_step_state(self._s), N)

    def __call__(self, t, n):
        y = np.empty(n)
        if lib.costate_step_eval(self._s, t, ffi.cast("double *", ffi.from_buffer(y))):
            raise ValueError(f"t = {t} lies outside the step")
        return y


Owner.on_step = None


def raise_what_was_raised(owners):
    """the first exception of their callbacks, if there is one"""
    error, STRAY.error = getattr(STRAY, "error", None), None
    for owner in owners:
        if owner.raised is not None:
            error = owner.raised
        owner.raised = None
    if error is None:
        return
    try:
        raise error
    finally:
        del error           # it would hold this frame, and this frame it, until the garbage collector came
