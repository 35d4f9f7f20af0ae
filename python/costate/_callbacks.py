"""Problems whose right-hand side is a function of C or of Numba."""
import ctypes

import numpy

from costate._costate import ffi

POINTERS = (ctypes.c_void_p, ctypes._Pointer, ctypes._CFuncPtr, ctypes.Array)


class Functions:
    """A problem of compiled functions, for Problem(...) in place of a Model; without initial values of its own.

    differences: True: tangent or adjoint is not given; derivatives are then differences, unless jac gives them"""

    backend = None

    def __init__(self, callbacks, jac, n, np, ctx):
        self.n, self.np, self.nq, self.nm = n, np, 0, 0
        self.defaults = numpy.zeros(np)
        self.defaults.flags.writeable = False
        self._keep = (callbacks, jac, ctx)
        P = self.problem = ffi.new("costate_problem *")
        P.n, P.np, P.ctx = n, np, ffi.cast("void *", address(ctx, "ctx"))
        for name, f in callbacks.items():
            if f is not None:
                set_member(P.rhs, name, f)
        if jac is not None:
            set_member(P, "jac", jac)
        self.differences = callbacks["tangent"] is None or callbacks["adjoint"] is None

    def __repr__(self):
        return f"<{type(self).__name__}: {self.n} states, {self.np} parameters>"

    def __reduce__(self):
        raise TypeError("functions of C are addresses in this process, which cannot be copied or pickled: make them in "
                        "each process, or use a Model")

    def start(self, t=0.0, p=None):
        raise ValueError("compiled functions have no initial values: give y0")


def address(f, name):
    """of a function or of data"""
    if isinstance(f, (int, numpy.integer)):
        return int(f)
    if hasattr(f, "address"):
        return int(f.address)
    if isinstance(f, ffi.CData):
        return int(ffi.cast("uintptr_t", f))
    if isinstance(f, POINTERS):
        return ctypes.cast(f, ctypes.c_void_p).value or 0
    raise TypeError(f"{name} is {f!r}; expected an address: an int, a ctypes or cffi pointer, or a numba.cfunc")


def set_member(struct, name, f):
    """a function as this member of a struct"""
    at = address(f, name)
    if at == 0:
        raise ValueError(f"{name} is NULL; it must be the address of a function")
    setattr(struct, name, ffi.cast(ffi.typeof(getattr(struct, name)), at))


def from_cfunc(rhs, n, np=0, *, jac=None, tangent=None, adjoint=None, tangent2=None, adjoint_tangent=None, ctx=0):
    """A problem y' = f(t, y, p) whose callbacks are functions of C.

    rhs, ...    addresses: ints, pointers of ctypes or cffi, or numba.cfunc objects, with the signatures of costate_map
                in costate.h; jac: df/dy, n*n by columns; ctx: an address that all receive
    n, np       numbers of states and parameters

    First derivatives that are not given are taken from jac, or are differences, which are not exact."""
    callbacks = dict(value=rhs, tangent=tangent, adjoint=adjoint, tangent2=tangent2, adjoint_tangent=adjoint_tangent)
    return Functions(callbacks, jac, n, np, ctx)


def from_numba(f, n, np=0, *, jac=None):
    """A problem whose right-hand side is compiled by Numba: def f(t, y, p, out): out[0] = ...

    jac(t, y, p, J)     sets the entries J[i, j] = df[i]/dy[j] that are not 0
    n, np               numbers of states and parameters

    An exception in f or jac ends the run with COSTATE_CALLBACK."""
    return from_cfunc(callback(f, n, np, (n,)), n, np, jac=None if jac is None else callback(jac, n, np, (n, n)))


def callback(f, n, np, shape):
    """a numba.cfunc with the signature of costate_map.value and costate_problem.jac"""
    import numba
    from numba import types

    compiled = f if hasattr(f, "py_func") else numba.njit(error_model="numpy")(f)
    as_doubles = pointer_of_address()

    @numba.cfunc(types.intc(types.CPointer(point_of_numba()), types.CPointer(types.float64), types.voidptr))
    def called(x, out, ctx):
        at = numba.carray(x, 1)[0]
        values = numba.farray(out, shape)
        values[...] = 0.0
        try:
            compiled(at.t, numba.carray(as_doubles(at.y), n), numba.carray(as_doubles(at.p), np), values)
        except Exception:
            return -1
        return 0

    return called


def point_of_numba():
    """costate_point as a record, with the offsets of the C compiler"""
    import numba
    formats = dict(t="f8", y="u8", p="u8")
    return numba.from_dtype(numpy.dtype(dict(
        names=list(formats), formats=list(formats.values()), itemsize=ffi.sizeof("costate_point"),
        offsets=[ffi.offsetof("costate_point", name) for name in formats])))


def pointer_of_address():
    """a function for Numba: an address as a pointer to doubles"""
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def as_doubles(typing, number):
        def generate(context, builder, signature, arguments):
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))
        return types.CPointer(types.float64)(types.uint64), generate

    return as_doubles
