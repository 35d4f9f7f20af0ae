"""Models: equations as text, as SymPy expressions or as compiled functions, for Problem(model).

Model           equation files, with all derivatives: byte code, then compiled
from_sympy      SymPy expressions to a Model
from_cfunc      functions of C, by their addresses
from_numba      functions that Numba compiles"""
import ctypes
import difflib
import sys
from pathlib import Path

import numpy as np

from costate import _compile
from costate._background import Background
from costate._callbacks import from_cfunc, from_numba
from costate._costate import ffi
from costate._functions import Functions
from costate._library import CostateError, ModelError, pointer, vector
from costate._program import Program, generator, program
from costate.maps import raise_what_was_raised
from costate.result import Result

__all__ = ["Model", "from_cfunc", "from_numba", "from_sympy"]

KINDS = ("state", "parameter", "memory", "cost", "output")
MECHANISMS = (".def", ".kpp", ".eqn")
SBML = (".xml", ".sbml")
NEEDED = (3, 11)        # by codegen; older versions can still load what is in the cache
MOST_ORDERS = 3         # of derivatives: what functions in C can have
MOST_NAMED = 20         # names that a message lists


class Model:
    """The equations of a text in the language of docs/reference/equations.md, with all derivatives.

    text        the equations; file: what messages call them; files in C with functions are found beside it
    sizes       for models on grids: sizes that differ from those in the text, as {"N": 20}
    compiled    None: the model runs at once, as byte code, while a compiler works in the background if there is one;
                later runs then use the compiled model.  True: wait for the compiler; False: byte code only.  Results
                have the same bits.  Models on grids and those with hundreds of reactions are compiled in any case

    functions   {"eta": (value, gradient, ...)}: of the functions that the text declares without a file in C.  Each is
                a callable of the arguments: a number, k first derivatives, k by k second ones, k by k by k third ones,
                as many as are declared.  They are called while the model runs, which takes microseconds a call.  What
                they raise is raised by the call of a run

    lanes       True: the model is compiled with maps that treat 2, 4 or 8 members of an ensemble side by side, as the
                registers of this processor allow; ensembles use them

    name, states, parameters, costs, outputs, memory    the name of the model and those of its quantities
    hidden      names of the memory variables that the text does not name: they need no initial values
    units       units by name
    defaults    the values of the parameters in the text
    n, np, nq, nm   numbers of states, parameters, running costs and memory variables
    start_limit where runs begin: None: at the initial values; or a dictionary whose kind is "steady" or "periodic"
    lacking     {name: order}: functions in C that have derivatives up to this order, less than all three
    stops       known times at which the equations are not smooth, increasing: docs/howto/inputs-that-jump.md
    is_compiled     whether runs that begin now use the compiled model

    A model is compiled once and kept in a cache: $COSTATE_CACHE, $XDG_CACHE_HOME/costate or ~/.cache/costate."""

    differences = False         # all derivatives are those of the equations

    def __init__(self, text, *, file="model.eq", sizes=None, compiled=None, lanes=False, functions=None):
        if text.endswith((".eq", *SBML)) and "\n" not in text:
            raise ModelError(f"{text} is the name of a file, not equations: use Model.from_file({text!r})")
        if compiled not in (None, True, False):
            raise ValueError(f"compiled={compiled!r}; expected None, True or False")
        if lanes and compiled is False:
            raise ValueError("lanes are compiled: leave out compiled=False")
        self.has_lanes, compiled = bool(lanes), True if lanes else compiled
        text = self_contained(text, file) if _compile.IN_C.search(text) else text
        self.text, self.file, self._wanted, self._background = text, str(file), compiled, None
        self._c, self.functions, self._functions = self._first(), dict(functions or {}), None
        if self.functions or self._c.about.get("needs"):
            self._functions = Functions(self._c.about.get("needs", ()), self.functions, self._c.about["name"])
            self._c = self._functions.bound(self._c)
        self.lacking = {name: order for name, order in self._c.about.get("orders", {}).items() if order < MOST_ORDERS}
        self._kept = [self._c]                  # runs may use byte code after the model was compiled
        self._about = self._c.about
        self.name = self._about["name"]
        self._arguments = self._grid(dict(sizes or {}))
        P = self._c.problem if not self._arguments else self._function("problem", "const costate_problem *")()
        self._of_grid = P if self._arguments else None
        self.n, self.np, self.nq, self.nm, self._events = P.n, P.np, P.nq, P.nm, P.nevents
        self.stops = np.array([P.stops[k] for k in range(P.nstops)])
        self.units = {}
        for kind in KINDS:
            setattr(self, kind if kind == "memory" else kind + "s", self._names(kind))
        self.start_limit = self._about.get("start")
        self.hidden = [q["name"] for q in self._about.get("memory", []) if q.get("hidden")]
        self.defaults = self._defaults()

    @classmethod
    def from_file(cls, path, *, sizes=None, compiled=None, lanes=False, functions=None):
        """the model of an equation file, or of a file in SBML (.xml or .sbml), whose equations are then Model.text"""
        if Path(path).suffix in SBML:
            return cls(equations_of_sbml(path), file=Path(path).with_suffix(".eq"), sizes=sizes, compiled=compiled,
                       lanes=lanes)
        if Path(path).suffix in MECHANISMS:
            raise ModelError(f"{path} is a chemical mechanism; Python reads equation files: write one with "
                             f"costate-model {path} -o {Path(path).stem}.eq")
        return cls(self_contained(Path(path).read_text(encoding="utf-8-sig"), path), file=path, sizes=sizes,
                   compiled=compiled, lanes=lanes, functions=functions)

    def __reduce__(self):
        return restored, (type(self), self.text, self.file, self.sizes, self._wanted, self.has_lanes, self.functions)

    def __repr__(self):
        counts = [(self.n, "state"), (self.np, "parameter"), (self.nq, "running cost"), (self.nm, "memory variable"),
                  (self._events, "event"), (len(self.outputs), "output")]
        return f"<Model {self.name}: " + ", ".join(f"{k} {what}{'s' * (k != 1)}" for k, what in counts if k) + ">"

    # ---- byte code, and the compiled model

    def _first(self):
        """what runs first: a Compiled or a Program"""
        if self._wanted or self._wanted is None and sys.version_info < NEEDED:
            return _compile.compiled(self.text, self.file, self.has_lanes)
        if self._wanted is None and _compile.has_compiler():
            before = _compile.found(self.text, self.file)
            if before is not None:
                return before
        found, reason = program(self.text, self.file)
        if found is not None:
            return found
        if self._wanted is None:
            return _compile.compiled(self.text, self.file)
        raise ModelError(f"byte code does not serve this model: {reason}; leave out compiled=False")

    def _now(self):
        """what a run that begins now uses; the first one starts the compiler"""
        if self._wanted is None and isinstance(self._c, Program) and _compile.has_compiler():
            if self._background is None:
                text, file = self.text, self.file
                self._background = Background(lambda started: _compile.found(text, file) or
                                              _compile.made(text, file, started))
            elif self._background.result is not None:
                self._c = self._background.result
                self._kept.append(self._c)
        return self._c

    @property
    def is_compiled(self):
        return not isinstance(self._now(), Program)

    def wait(self, timeout=None):
        """waits until the compiler has ended, or so many seconds; returns is_compiled"""
        if not self.is_compiled and self._background is not None:
            self._background.wait(timeout)
        return self.is_compiled

    @property
    def problem(self):
        """the costate_problem of a run that begins now"""
        return self._of_grid if self._arguments else self._now().problem

    @property
    def backend(self):
        """the linear solver of the model; None: that of the library"""
        return None if self._arguments else self._c.backend

    def parts(self):
        """(const costate_part *, their number) of the splitting of a model on a grid"""
        if not self._has("parts"):
            why = self._about.get("no_splitting", "it is not on a grid")
            raise ModelError(f"{self.name} has no splitting: {why}; give a preconditioner, or leave out splitting=True")
        count = ffi.new("int *")
        return self._function("parts", "const costate_part *", "int *")(count), count[0]

    def lanes(self):
        """costate_lane_maps, or None"""
        return self._c.lanes() if self.has_lanes else None

    # ---- what the C of a grid offers

    def _has(self, suffix):
        return suffix in self._about["functions"]

    def _function(self, suffix, result, *arguments):
        """a function of the C file, with the grid as its first argument"""
        call = self._c.function(suffix, result, *["const void *"] * len(self._arguments), *arguments)
        return lambda *values: call(*self._arguments, *values)

    def _grid(self, sizes):
        """arguments of all functions: none, or the grid"""
        self.sizes, self._axes, axes = sizes, [], self._about["axes"]
        if not axes:
            if sizes:
                raise ModelError(f"{self.name} has no sizes: it is not on a grid")
            return ()
        names = list(self._about["sizes"])
        usual = {name: value for name, value in self._about["sizes"].items() if value is not None}
        near(sizes, names, "size", self.name)
        self.sizes = {**usual, **sizes}
        missing = [name for name in names if name not in self.sizes]
        if missing:
            raise ModelError(f"the size {missing[0]} of {self.name} has no value: give sizes={{\"{missing[0]}\": ...}}")
        self._axes = [int(self.sizes.get(axis, axis)) for axis in axes]
        self._arguments = ()
        grid = self._function("new", "void *", *["int"] * len(names))(*[int(self.sizes[name]) for name in names])
        if grid == ffi.NULL:
            raise ModelError(f"{self.name} cannot have the sizes {self.sizes}: an axis has too few cells, or the grid "
                             "does not fit into memory")
        free = ctypes.cast(getattr(self._c.library, f"{self.name}_free"), ctypes.c_void_p).value
        return (ffi.gc(grid, ffi.cast("void(*)(void *)", free)),)

    def _names(self, kind):
        """of the quantities of one kind; their units are kept"""
        found = self._about.get(kind, [])
        self.units.update((q["name"], q["unit"]) for q in found)
        return [q["name"] for q in found]

    def _defaults(self):
        values = np.zeros(self.np) if self._arguments else self._c.defaults()
        if self._arguments and self.np:
            self._function("defaults", "void", "double *")(pointer(values))
        values.flags.writeable = False
        return values

    # ---- values and places

    def start(self, t=0.0, p=None):
        """initial values at t: states, running costs (0) and memory variables.  With `start steady` or `start
        periodic`: where the search for the state in which runs begin starts; Problem.initial returns that state"""
        y = np.zeros(self.n + self.nq + self.nm)
        p = self._parameters(p)
        if not self._arguments:
            x, keep = self._point(t, p=p)
            self._evaluated("initial values", self._c.start_map.value(x, pointer(y), self._c.ctx))
        elif self._has("start"):
            self._function("start", "void", "double", "const double *", "double *")(t, pointer(p), pointer(y))
            self._evaluated("initial values", 0)
        return y

    def starts(self, t, p):
        """start for each row of p"""
        if self._arguments:
            return np.stack([self.start(t, row) for row in p])
        p, out = np.ascontiguousarray(p, dtype=float), np.zeros((len(p), self.n + self.nq + self.nm))
        x, keep = self._point(t, p=p[0])
        value, ctx, (at, y) = self._c.start_map.value, self._c.ctx, map(pointer, (p, out))
        code = 0
        for k in range(len(p)):
            x.p = at + k * self.np
            code |= value(x, y + k * out.shape[1], ctx)
        self._evaluated("initial values", code)
        return out

    def start_vjps(self, t, p, w):
        """start_vjp, with respect to p, for each row of p and of w, which has all values"""
        map_, ctx = self._start_map()
        p, w = (np.ascontiguousarray(a, dtype=float) for a in (p, w))
        by_p, by_t = np.zeros(p.shape), np.zeros(1)
        if not map_ or not self.np:
            return by_p
        g, (x, keep) = ffi.new("costate_gradient *"), self._point(t, p=p[0])
        g.t, adjoint = pointer(by_t), self._product(map_, "adjoint", "initial values")
        code, (at, weights, to) = 0, map(pointer, (p, w, by_p))
        for k in range(len(p)):
            x.p, g.p = at + k * self.np, to + k * self.np
            code |= adjoint(x, weights + k * w.shape[1], g, ctx)
        self._evaluated("initial values", code)
        return by_p

    def start_jvp(self, t=0.0, p=None, dp=None, dt=0.0):
        """the derivative of start along directions of p and t"""
        out = np.zeros(self.n + self.nq + self.nm)
        map_, ctx = self._start_map()
        if map_:
            x, keep = self._point(t, p=p)
            dx, keep_too = self._direction(dt, dp)
            tangent = self._product(map_, "tangent", "initial values")
            self._evaluated("initial values", tangent(x, dx, pointer(out), ctx))
        return out

    def start_vjp(self, t, p, w):
        """w (n, or one weight for each value of start) times the derivatives of start: (by p, by t)"""
        return self._start_products(t, p, w, None)

    def start_hvp(self, t, p, w, dp=None, dt=0.0):
        """the derivative of start_vjp along directions of p and t: (by p, by t)"""
        return self._start_products(t, p, w, (dt, dp))

    def _start_products(self, t, p, w, along):
        weights = np.zeros(self.n + self.nq + self.nm)
        weights[:np.size(w)] = w
        by_p, by_t = np.zeros(self.np), np.zeros(1)
        map_, ctx = self._start_map()
        if map_:
            g = ffi.new("costate_gradient *")
            g.p, g.t = pointer(by_p), pointer(by_t)
            x, keep = self._point(t, p=p)
            if along is None:
                code = self._product(map_, "adjoint", "initial values")(x, pointer(weights), g, ctx)
            else:
                dx, keep_too = self._direction(*along)
                code = self._product(map_, "adjoint_tangent", "initial values")(x, dx, pointer(weights), g, ctx)
            self._evaluated("initial values", code)
        return by_p, by_t[0]

    def _start_map(self):
        """the map of the initial values, None where a grid has none; and its ctx"""
        if not self._arguments:
            return self._c.start_map, self._c.ctx
        return self._function("start_map", "const costate_map *")() if self._has("start_map") else None, \
            self._arguments[0]

    def _direction(self, dt, dp):
        return self._point(dt, p=np.zeros(self.np) if dp is None else dp)

    def _point(self, t, y=None, p=None, m=None, mode=0):
        """(a costate_point, what must live as long)"""
        keep = [None if y is None else vector(y, self.n, "y"), self._parameters(p),
                np.full(self.nm, np.nan) if m is None else vector(m, self.nm, "m")]
        x = ffi.new("costate_point *")
        x.t, x.mode = t, mode
        x.y, x.p, x.m = map(pointer, keep)
        return x, keep

    def check_values(self, p):
        """raises ValueError if p has values that the equations leave to be set, and which are not"""
        unset = [name for name, value in zip(self.parameters, np.ravel(p)) if np.isnan(value)] if not self._axes else []
        if unset:
            more = f" and {len(unset) - MOST_NAMED} more" if len(unset) > MOST_NAMED else ""
            raise ValueError(f"{', '.join(unset[:MOST_NAMED])}{more} of {self.name} must be set: the model gives no "
                             f"value, as in p = model.parameter_vector({unset[0]}=...)")

    def _parameters(self, p):
        return self.defaults if p is None else vector(p, self.np, "p")

    def index(self, name, *cell):
        """Where a quantity is: a state in y, a parameter in p, a running cost, memory variable or output among those.

        cell: on grids, the indices of the cell"""
        kinds = {kind: getattr(self, kind if kind == "memory" else kind + "s") for kind in KINDS}
        near([name], sum(kinds.values(), []), "quantity", self.name)
        kind = next(kind for kind, names in kinds.items() if name in names)
        place = kinds[kind].index(name)
        if not self._axes or kind not in ("state", "parameter"):
            return place
        suffix = "index" if kind == "state" else "parameter"
        if not self._has(suffix):
            return place
        cell = cell or (0,) * len(self._axes)
        if len(cell) != len(self._axes) or not all(0 <= i < size for i, size in zip(cell, self._axes)):
            raise IndexError(f"there is no cell {cell} in a grid of {' x '.join(map(str, self._axes))} cells")
        return self._function(suffix, "int", *["int"] * (1 + len(cell)))(place, *cell)

    def parameter_vector(self, **values):
        """The defaults with some of them replaced, as parameter_vector(k=2.0).

        A vector k[1..5], or a field on a grid, is replaced as a whole: k=5 values, or one for all; its components are
        called as in parameters: parameter_vector(**{"k[2]": 3.0})"""
        p = self.defaults.copy()
        whole = {name.split("[")[0] for name in self.parameters if "[" in name}
        near(values, [*self.parameters, *whole], "parameter", self.name)
        for name, value in values.items():
            if self._axes and name in self.parameters:
                self._set_on_grid(p, name, value)
            elif name in self.parameters:
                p[self.parameters.index(name)] = value
            else:
                p[[k for k, each in enumerate(self.parameters) if each.startswith(name + "[")]] = value
        return p

    def _set_on_grid(self, p, name, value):
        last = tuple(size - 1 for size in self._axes)
        if self.index(name) == self.index(name, *last):
            p[self.index(name)] = value
            return
        field = np.broadcast_to(np.asarray(value, dtype=float), self._axes)
        for cell in np.ndindex(*self._axes):
            p[self.index(name, *cell)] = field[cell]

    # ---- outputs

    def output(self, t, y, p=None, *, m=None, mode=0):
        """The outputs at t: an array with one value for each; for k times, with y (n, k) as of Run.at: (outputs, k).

        m: memory variables; without them outputs that depend on them are NaN; mode: of a hybrid system"""
        times, states = np.asarray(t, dtype=float), np.asarray(y, dtype=float)
        if times.ndim:
            return np.stack([self.output(s, states[:, k], p, m=m, mode=mode) for k, s in enumerate(times)], axis=1)
        (map_, ctx), out = self._output_map(), np.empty(len(self.outputs))
        x, keep = self._point(t, y, p, m, mode)
        self._evaluated("outputs", map_.value(x, pointer(out), ctx))
        return out

    def output_jacobian(self, t, y, p=None, *, m=None, mode=0):
        """The derivatives of the outputs at t: Result with y (outputs, n), p (outputs, np), t (outputs) and m"""
        (map_, ctx), rows = self._output_map(), len(self.outputs)
        x, keep = self._point(t, y, p, m, mode)
        found = {name: np.zeros((rows, count)) for name, count in dict(y=self.n, p=self.np, t=1, m=self.nm).items()}
        g = ffi.new("costate_gradient *")
        for k, weights in enumerate(np.eye(rows)):
            for name, array in found.items():
                setattr(g, name, pointer(array[k]))
            self._evaluated("outputs", self._product(map_, "adjoint", "outputs")(x, pointer(weights), g, ctx))
        found["t"] = found["t"][:, 0]
        return Result(**found)

    def _output_map(self):
        if not self.outputs:
            raise ModelError(f"{self.name} has no outputs")
        return self._c.output_map, self._c.ctx

    def _product(self, map_, name, what):
        """a product of a map, which is missing where functions in C lack the derivatives that it needs"""
        product = getattr(map_, name)
        if product == ffi.NULL:
            order = {"tangent": 1, "adjoint": 1, "adjoint_tangent": 2}[name]
            lacking = ", ".join(function for function, orders in self.lacking.items() if orders < order)
            raise CostateError("COSTATE_MISSING", f"derivatives of {what} of {self.name} are needed up to order "
                               f"{order}, and its equations declare fewer for {lacking}: declare more of them")
        return product

    def _evaluated(self, what, code):
        raise_what_was_raised([self._functions] if self._functions else [])
        if code:
            raise ArithmeticError(f"{what} of {self.name}: a value is not defined there")


def restored(cls, text, file, sizes, compiled, lanes, functions=None):
    return cls(text, file=file, sizes=sizes, compiled=compiled, lanes=lanes, functions=functions)


def equations_of_sbml(path):
    """the text of the equation file that costate-model writes of a model in SBML"""
    sbml = generator("sbml")
    try:
        return sbml.write(sbml.read(path)).text
    except generator("real").Refused as fault:
        raise ModelError(str(fault)) from None


def self_contained(text, path):
    """the text with what other files contribute, tables and included equations, and with whole names of files in C:
    models are kept by their text"""
    if '"' not in text or not any(word in text for word in ("table", "include", "function")) or \
            sys.version_info < NEEDED:
        return text
    try:
        return generator("equations.read").self_contained(text, path)
    except generator("real").Refused as fault:
        raise ModelError(str(fault)) from None


def near(names, known, what, model):
    """raises KeyError for a name that is not known, with those that resemble it"""
    for name in names:
        if name not in known:
            similar = difflib.get_close_matches(name, known) or known[:MOST_NAMED]
            those = f": {', '.join(similar)}" if similar else ""
            raise KeyError(f"{model} has no {what} {name!r}; it has{those or ' none'}")


def from_sympy(rhs, states, parameters=(), t=None, *, costs=None, initial=None, name="model"):
    """The Model of SymPy expressions: rhs[k] is the derivative of states[k] in time.

    states          Symbols, or functions of t such as Function("x")(t)
    parameters      Symbols, or {Symbol: default}; without a default: 0
    t               the Symbol of the time; None: a Symbol that is called t
    costs           running costs: {name: expression}
    initial         initial values: {state: number or expression in parameters and t}, or one for each state

    Model.text is the equation file that this writes."""
    from costate import _sympy
    return Model(_sympy.equations(rhs, states, parameters, t, costs, initial, name), file=f"{name}.eq")
