"""Functions of the user as maps of the library, with their derivatives: given, by complex steps, or by differences."""
import threading
import warnings

import numpy as np

from costate._costate import ffi, lib
from costate._library import taken
from costate._pattern import Outgrown

COMPLEX_WARNING = getattr(np, "exceptions", np).ComplexWarning
STEP = 1e-100           # of a complex step: its square is 0, so that nothing is lost


class Map:
    """A function of (t, y, p), or of (t, y, p, m) where the problem has memory variables, with its derivatives.

    value(t, y, p)                      k values
    jac(t, y, p), jac_p, jac_t          Jacobians with respect to y (k by n), p (k by np), t (k): enough for all first
                                        products
    jvp(t, y, p, dt, dy, dp)            instead: the derivative along a direction, k values
    vjp(t, y, p, w)                     instead: w times the Jacobians with respect to y, p and, optionally, t
    hvp(t, y, p, dt, dy, dp, w)         the derivative of vjp along a direction, in the same form

    With a Jacobian and without hvp, second products are complex steps of the Jacobian, exact to round-off, if it
    accepts complex y.  Without any derivative, first products are complex steps of value, if it accepts complex y and
    computes with it; or else differences, which are not exact."""

    def __init__(self, value, *, jac=None, jac_p=None, jac_t=None, jvp=None, vjp=None, hvp=None):
        for name, f in dict(value=value, jac=jac, jac_p=jac_p, jac_t=jac_t, jvp=jvp, vjp=vjp, hvp=hvp).items():
            if f is not None and not callable(f) and not (name.startswith("jac") and isinstance(f, (list, np.ndarray))):
                raise TypeError(f"{name} is {f!r}; expected a function")
        self.value, self.jvp, self.vjp, self.hvp = value, jvp, vjp, hvp
        self.jac, self.jac_p, self.jac_t = constant(jac), constant(jac_p), constant(jac_t)

    @property
    def exact(self):
        """are derivatives given?"""
        return any(f is not None for f in (self.jac, self.jvp, self.vjp))


def constant(jacobian):
    """a matrix as a function"""
    if jacobian is None or callable(jacobian):
        return jacobian
    matrix = np.array(jacobian, dtype=float)
    return lambda *at: matrix


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

    way: "exact", "complex step" or "differences" """

    def __init__(self, of, name, n, np_, nm, rows, way="exact"):
        self.of, self.name, self.n, self.np, self.nm, self.rows, self.way = of, name, n, np_, nm, rows, way
        self.known, self.jacobians, self.pattern, self.complex_in = None, {}, None, {}

    # ---- points

    def at(self, x):
        """(t, y, p) or (t, y, p, m) of a costate_point"""
        at = (x.t, taken(x.y, self.n), taken(x.p, self.np) if x.p else np.empty(self.np))
        return at + (taken(x.m, self.nm),) if self.nm else at

    def along(self, d):
        """the same of a direction, whose parts may be NULL: zero"""
        def part(p, count):
            return taken(p, count) if p else np.zeros(count)
        along = (d.t, part(d.y, self.n), part(d.p, self.np))
        return along + (part(d.m, self.nm),) if self.nm else along

    def moved(self, at, along, h):
        """what does not move stays real, so that f may compare t, or use p as an index"""
        return tuple(a + h * d if np.any(d) else a for a, d in zip(at, along))

    # ---- Jacobians with respect to t, y, p and m: (k,), (k, n), (k, np), (k, nm)

    def unit(self, part, i):
        along = [0.0, np.zeros(self.n), np.zeros(self.np)] + ([np.zeros(self.nm)] if self.nm else [])
        if part == 0:
            along[0] = 1.0
        else:
            along[part][i] = 1.0
        return tuple(along)

    def complex_tangent(self, f, at, along):
        return np.asarray(f(*self.moved(at, along, 1j * STEP))).imag / STEP

    def jacobian(self, part, at):
        """one of them, kept for the next product at this point"""
        key = (at[0],) + tuple(a.tobytes() for a in at[1:])
        if key != self.known:
            self.jacobians, self.known = {}, key
        if part not in self.jacobians:
            self.jacobians[part] = self.part_of_jacobian(part, at)
        return self.jacobians[part]

    def part_of_jacobian(self, part, at):
        count = (1, self.n, self.np, self.nm)[part]
        given = (self.of.jac_t, self.of.jac, self.of.jac_p, None)[part]
        shape = (self.rows, count)
        if count == 0:
            return np.zeros(shape)
        if given is not None:
            return self.matrix(given(*at), shape, "typm"[part])
        self.ensure_complex(part, at)
        return np.stack([self.complex_tangent(self.of.value, at, self.unit(part, i)) for i in range(count)], axis=1)

    def ensure_complex(self, part, at):
        """before the first complex step of the value in this part of its arguments"""
        if part not in self.complex_in:
            self.complex_in[part] = understands_complex(self.of.value, at, part)
        if not self.complex_in[part]:
            raise TypeError(f"{self.name} has no Jacobian with respect to {'typm'[part]}, and does not compute with "
                            f"complex {'typm'[part]}: give jac{('_t', '', '_p', '_m')[part]}, or all its derivatives "
                            "as jvp and vjp")

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
        if self.of.jac is None and self.of.vjp is None:
            return self.complex_tangent(self.of.value, at, along)
        if self.of.jac is None:
            raise TypeError(f"{self.name} has vjp, but neither jvp nor jac, which tangents need")
        moving = [(part, np.atleast_1d(d)) for part, d in enumerate(along) if np.any(d)]
        return sum((self.part_of_jacobian(part, at) @ d for part, d in moving), np.zeros(self.rows))

    def pullback(self, at, w, wanted):
        """w times the Jacobians with respect to t, y, p and m; None where that is not wanted"""
        if self.of.vjp is not None:
            return self.sorted(self.of.vjp(*at, w))
        if self.of.jac is None and self.of.jvp is not None:
            raise TypeError(f"{self.name} has jvp, but neither vjp nor jac, which gradients need")
        return tuple(w @ self.jacobian(part, at) if want else None for part, want in enumerate(wanted[:len(at)]))

    def sorted(self, parts):
        """what a vjp returned, in the order y, p, t, m and perhaps without the last, in the order t, y, p, m"""
        parts = tuple(parts) if isinstance(parts, tuple) else (parts,)
        by_y = parts[0]
        by_p = parts[1] if len(parts) > 1 and parts[1] is not None else np.zeros(self.np)
        by_t = parts[2] if len(parts) > 2 else 0.0
        by_m = parts[3] if len(parts) > 3 else np.zeros(self.nm)
        return (by_t, by_y, by_p) + ((by_m,) if self.nm else ())

    def second_pullback(self, at, along, w, wanted):
        if self.of.hvp is not None:
            return self.sorted(self.of.hvp(*at, *along, w))
        moved = self.moved(at, along, 1j * STEP)
        parts = []
        for part, given in enumerate((self.of.jac_t, self.of.jac, self.of.jac_p, None)[:len(at)]):
            count = (1, self.n, self.np, self.nm)[part]
            if count == 0 or not wanted[part]:
                parts.append(None)
            elif given is None:
                raise TypeError(f"{self.name} has no jac_{'typm'[part]}, which second derivatives need (or hvp)")
            else:
                J = self.matrix(given(*moved), (self.rows, count), "typm"[part])
                parts.append((w @ J).imag / STEP)
        return tuple(parts)

    def second_product(self, at, along, other):
        """F''[along, other]: the derivative of the Jacobians times `other`"""
        if self.of.jac is None:
            raise TypeError(f"{self.name} has no jac, whose derivative this needs")
        moved = self.moved(at, along, 1j * STEP)
        total = np.zeros(self.rows)
        for part, (given, d) in enumerate(zip((self.of.jac_t, self.of.jac, self.of.jac_p), other)):
            if np.any(d):
                if given is None:
                    raise TypeError(f"{self.name} lacks jac_p or jac_t, which this second derivative needs")
                J = self.matrix(given(*moved), (self.rows, np.size(d)), "typm"[part])
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
            matrix = self.part_of_jacobian(1, at)
            matrix = matrix.toarray() if hasattr(matrix, "toarray") else matrix
            values = np.asfortranarray(matrix, dtype=float).reshape(-1, order="F")
        else:
            matrix = self.matrix(self.of.jac(*at), (self.n, self.n), "y")
            values = np.ascontiguousarray(in_pattern(self.pattern, matrix, f"jac of {self.name}"), dtype=float)
        ffi.memmove(J, values, values.nbytes)

    # ---- what it gives the library

    def products(self):
        """the names of the products that it has"""
        has = ["value"]
        if self.way == "differences" and not self.of.exact:
            return has
        if self.of.jvp or self.of.jac or not self.of.exact:
            has.append("tangent")
        if self.of.vjp or self.of.jac or not self.of.exact:
            has.append("adjoint")
        if self.of.hvp or self.of.jac:
            has.append("adjoint_tangent")
        if self.of.jac:
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


def wanted(g):
    """which parts of a gradient are requested: by t, y, p, m"""
    return bool(g.t), bool(g.y), bool(g.p), bool(g.m)


def understands_complex(f, at, part):
    """Does f compute with complex t, y, p or m?  What it returns for a complex step is compared with a difference."""
    x = np.asarray(at[part], dtype=float)
    d = np.random.default_rng(1).standard_normal(x.shape) * (np.abs(x) + 1e-3)

    def value(h):
        return np.asarray(f(*at[:part], at[part] + h * d, *at[part + 1:]))
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error", COMPLEX_WARNING)         # the imaginary part is lost
            by_step, up, down = np.imag(value(1j * STEP)) / STEP, np.real(value(1e-6)), np.real(value(-1e-6))
            by_difference = (up - down) / 2e-6
            size = np.max(np.abs(by_difference), initial=0) + 1e-6 * np.max(np.abs(up), initial=0)
            return bool(np.all(np.abs(by_step - by_difference) <= 1e-3 * size + 1e-300))
    except (TypeError, ValueError, ArithmeticError, COMPLEX_WARNING):
        return False


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


for slot_ in ("rhs", "cost", "guard", "jump", "conditions"):
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
    owner.slots["rhs"].jac(x, J)


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
