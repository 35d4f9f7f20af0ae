"""The library as cffi sees it: its statuses as exceptions, methods, options, arrays."""
import functools
import os
import re

import numpy as np

try:
    from costate._costate import ffi, lib
except ImportError as missing:
    raise ImportError(f"costate's library cannot be loaded: {missing}. A wheel needs the libraries that it was built "
                      "with, LAPACK and mostly KLU and SuperLU. If this machine has other versions of them, build the "
                      "wheel here from the sources (pip install).", name=missing.name, path=missing.path) from None


class CostateError(RuntimeError):
    """A call of the library failed.

    status: the name of the status, as "COSTATE_NEWTON"; message: the library's sentence; t: the time where the run
    failed, or None.  Where an argument or option is not what the library accepts, it is also a ValueError."""

    def __new__(cls, status, *more):
        return super().__new__(ArgumentError if cls is CostateError and status in OF_ARGUMENTS else cls, status, *more)

    def __init__(self, status, message, t=None):
        super().__init__(f"{message} ({status})")
        self.status, self.message, self.t = status, message, t

    def __reduce__(self):
        return type(self), (self.status, self.message, self.t)


OF_ARGUMENTS = ("COSTATE_BAD_ARGUMENT", "COSTATE_OUT_OF_RANGE")


class ArgumentError(CostateError, ValueError):
    """A CostateError about an argument."""


class ModelError(CostateError, ValueError):
    """An equation file or string is wrong, or its C could not be compiled."""

    def __init__(self, message):
        super().__init__("COSTATE_BAD_ARGUMENT", message)

    def __str__(self):
        return self.message             # its last line is the place in the equations

    def __reduce__(self):
        return type(self), (self.message,)


def text(pointer):
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else ""


# what the library calls a missing product, as one gives it in Python
PRODUCTS = {"tangent": "first derivatives: give jac, jac_p and jac_t, or jvp",
            "adjoint": "first derivatives: give jac, jac_p and jac_t, or vjp",
            "tangent2": "second derivatives: give jac, jac_p and, where t matters, jac_t that compute with complex y",
            "adjoint_tangent": "second derivatives: give jac, jac_p and, where t matters, jac_t that compute with "
                               "complex y, or hvp",
            "adjoint_tangent2": "third derivatives, which functions of Python do not have: use a Model"}
MISSING = re.compile(r"(rhs|residual|cost|after_step\.\w+|event\[(\d+)\]\.(\w+))\.(\w+) is missing: method (\S+) needs "
                     r"it here.*", re.S)


def said(pointer, lacking=()):
    """a sentence of the library, in the words of the package; lacking: {name: order}, functions in C that have
    derivatives up to this order alone"""
    return in_words(text(pointer), tuple(dict(lacking).items()))


@functools.lru_cache(64)                # nearly always the same one
def in_words(sentence, lacking):
    found = MISSING.fullmatch(sentence)
    if found and found[1].startswith("after_step"):
        return (f"Method {found[5]} needs derivatives of the map after each step here that it does not have: give it a "
                "function that can be traced, or a Map with jac, jac_p and jac_t that compute with complex y.")
    if found and found[4] in PRODUCTS:
        of = {"rhs": "f", "residual": "the residual", "cost": "the cost"}.get(
            found[1], f"the {found[3]} of events[{found[2]}]")
        if lacking:
            order = 1 + ("first", "second", "third").index(PRODUCTS[found[4]].split()[0])
            names = ", ".join(name for name, orders in lacking if orders < order)
            return (f"Method {found[5]} needs derivatives of {of} here up to order {order}, and the equations declare "
                    f"fewer for {names}: declare more of them, or set Problem(..., differences=1), which is not exact.")
        return (f"Method {found[5]} needs derivatives of {of} here that it does not have, {PRODUCTS[found[4]]}; or set "
                "Problem(..., differences=1), which is not exact.")
    sentence = re.sub(r"options\.(\w+) = (\w+)", r"\1=\2", sentence)
    return re.sub(r"options\.(\w+)", r"the option \1", sentence)


def status_name(status):
    return text(lib.costate_status_name(status))


def version():
    """the version of the library, as "2.0.0" """
    return text(lib.costate_version())


# ---- arrays -------------------------------------------------------------------------------------------------------

def vector(values, count, name):
    """a contiguous array of `count` doubles, copied"""
    array = np.array(values, dtype=float, order="C", ndmin=1)
    if array.shape != (count,):
        raise ValueError(f"{name} has shape {array.shape}; expected ({count},)")
    return array


def columns(values, rows, name):
    """(rows by m by columns, as the library reads it, i.e. an array of shape (m, rows); whether it was one vector)"""
    array = np.asarray(values, dtype=float)
    if array.shape == (rows,):
        return array.reshape(1, rows).copy(), True
    if array.ndim == 2 and array.shape[0] == rows:
        return np.ascontiguousarray(array.T), False
    raise ValueError(f"{name} has shape {array.shape}; expected ({rows},) or ({rows}, m)")


def pointer(array):
    return ffi.NULL if array is None else ffi.cast("double *", ffi.from_buffer(array))


def taken(pointer_, count):
    """a copy of `count` doubles of the library's"""
    array = np.empty(count)
    if count:
        ffi.memmove(array, pointer_, 8 * count)
    return array


# ---- methods ------------------------------------------------------------------------------------------------------

# SciPy's names, for programs that have them: methods of the same kind and order.
LIKE_SCIPY = {"RK45": "dopri5", "RK23": "bs32", "DOP853": "dopri853", "Radau": "radau2a", "BDF": "auto",
              "LSODA": "auto"}
PROPERTIES = {"fsal": "COSTATE_FSAL", "stiffly_accurate": "COSTATE_STIFFLY_ACCURATE", "a_stable": "COSTATE_A_STABLE",
              "l_stable": "COSTATE_L_STABLE", "dae": "COSTATE_DAE", "w_method": "COSTATE_W_METHOD"}
FAMILIES = ["erk", "sdirk", "firk", "ros", "rkc", "collocation", "composite"]


def method(name):
    """the library's method of this name; None: auto"""
    if name is None:
        return ffi.NULL
    if isinstance(name, Method):
        return name.loaded
    if not isinstance(name, str):
        raise TypeError(f"method is {name!r}; expected a name, as \"auto\" or \"radau2a\"")
    found = lib.costate_method_find(LIKE_SCIPY.get(name, name).encode())
    if not found:
        near = [describe(m)["name"] for k in range(3) if (m := lib.costate_method_near(name.encode(), k))]
        raise ValueError(f"there is no method {name!r}; similar: {', '.join(near)}" if near else
                         f"there is no method {name!r}")
    return found


class Method:
    """A method from a shared object, for Problem(..., method=...) and BoundaryProblem: see load_method."""

    def __init__(self, path):
        out, report = ffi.new("const costate_method **"), ffi.new("costate_report *")
        status = lib.costate_method_load(os.fsencode(path), out, report)
        if status:
            raise CostateError(status_name(status), said(report.text))
        # It is never unloaded: solvers and tapes that use it may be freed behind this object.
        self.path, self.loaded = os.fspath(path), out[0]
        vars(self).update(describe(self.loaded))

    def __repr__(self):
        return f"<Method {self.name}: {self.title}>"

    def __reduce__(self):
        return Method, (self.path,)


def load_method(path):
    """A method from a shared object, which `costate-model FILE.toml -o NAME.c` and a C compiler have made from a file
    of coefficients: a Method, whose members are those of the dictionaries of methods().

    Loading a file executes it: load only files that you trust."""
    return Method(path)


def describe(found):
    info = ffi.new("costate_method_info *")
    lib.costate_method_describe(found, info)
    has = {key: bool(info.properties & getattr(lib, flag)) for key, flag in PROPERTIES.items()}
    return dict(name=text(info.name), title=text(info.title), source=text(info.source),
                family=FAMILIES[info.family], stages=info.stages, order=info.order, embedded=info.embedded,
                dense=info.dense, r_infinity=info.r_infinity, **has)


def methods():
    """all methods, as dictionaries with name, title, source, family, stages, order, ..."""
    return [describe(lib.costate_method_at(k)) for k in range(lib.costate_method_count())]


# ---- options ------------------------------------------------------------------------------------------------------

# words for what is an enum in C: options.controller = "fixed" is COSTATE_FIXED
WORDS = {
    "controller": {"auto": "COSTATE_AUTO", "elementary": "COSTATE_ELEMENTARY", "pi": "COSTATE_PI",
                   "gustafsson": "COSTATE_GUSTAFSSON", "fixed": "COSTATE_FIXED"},
    "storage": {"stages": "COSTATE_ALL_STAGES", "states": "COSTATE_STATES_ONLY",
                "checkpoints": "COSTATE_CHECKPOINTS"},
    "solver": {"auto": "COSTATE_LS_AUTO", "dense": "COSTATE_LS_DENSE", "band": "COSTATE_LS_BAND",
               "umfpack": "COSTATE_LS_UMFPACK", "superlu": "COSTATE_LS_SUPERLU", "klu": "COSTATE_LS_KLU",
               "gmres": "COSTATE_LS_GMRES", "sparse": "COSTATE_LS_SPARSE",
               "preconditioner": "COSTATE_LS_PRECONDITIONER"},
    "estimator": {"classical": "COSTATE_EST_CLASSICAL", "sdirk": "COSTATE_EST_SDIRK"},
    "stage_solve": {"auto": "COSTATE_STAGE_AUTO", "direct": "COSTATE_STAGE_DIRECT",
                    "iterative": "COSTATE_STAGE_ITERATIVE"},
    "stability": {"on": "COSTATE_STABILITY_ON", "off": "COSTATE_STABILITY_OFF"},
    "gradient_estimate": {"on": "COSTATE_ESTIMATE_ON", "local": "COSTATE_ESTIMATE_LOCAL",
                          "off": "COSTATE_ESTIMATE_OFF"},
    "predictor": {"on": "COSTATE_PREDICT", "off": "COSTATE_PREDICT_NONE"},
}
# members of costate_options that are numbers; Python has no use for the other pointers, nor for this count of them
NUMBERS = {name for name, field in ffi.typeof("costate_options").fields if field.type.kind == "primitive"} - {
    "tangent_count"}


def option_names():
    """what can be given as a keyword of a solver"""
    return sorted(NUMBERS | {"members"})


def set_option(struct, name, value, keep):
    """one member of costate_options"""
    if name == "members":
        keep.append(ffi.new("char[]", str(value).encode()))
        struct.members = keep[-1]
        return
    if name not in NUMBERS:
        raise TypeError(f"there is no option {name!r}; options are {', '.join(option_names())}")
    if isinstance(value, str):
        words = WORDS.get(name, {})
        if value not in words:
            raise ValueError(f"{name}={value!r}; expected one of {', '.join(words) or 'the numbers'}")
        value = getattr(lib, words[value])
    setattr(struct, name, value)


LEAST = 1e-150          # a tolerance of 0: an error that is not 0 is too large, and its square is not


def tolerances(struct, n, rtol, atol, keep):
    """rtol and atol, each a number or n of them"""
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is None:
            continue
        array = np.asarray(value, dtype=float)
        array = np.where(array == 0, LEAST, array)          # 0 is the library's default, and no tolerance for y = 0
        if array.ndim == 0:
            setattr(struct, name, float(array))
            continue
        if array.shape != (n,):
            raise ValueError(f"`{name}` has wrong shape {array.shape}; expected () or ({n},)")
        keep.append(np.ascontiguousarray(array).copy())
        setattr(struct, name + "_vector", pointer(keep[-1]))


COUNTS = [name for name, field in ffi.typeof("costate_stats").fields if field.type.kind == "primitive"]


def statistics(stats):
    """costate_stats as a dictionary"""
    out = {name: getattr(stats, name) for name in COUNTS}
    out["member_steps"] = list(stats.member_steps)
    return out
