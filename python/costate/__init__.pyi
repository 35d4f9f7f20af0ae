"""The types of the public interface; what each argument means is in the docstrings."""
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Array: TypeAlias = NDArray[np.float64]
_Function: TypeAlias = Callable[..., Any]                # of (t, y, p), with memory variables and situations
_Jacobian: TypeAlias = _Function | ArrayLike | None
_Form: TypeAlias = Any                                   # an array, or dicts, lists, tuples, dataclasses of these
_InPython: TypeAlias = Callable[..., float] | Sequence[Callable[..., Any]]       # value, gradient, ... of a function
_Way: TypeAlias = Literal["auto", "complex step", "differences"]

__version__: str
__all__ = ["AfterStep", "BoundaryProblem", "Bounds", "Condition", "CostateError", "DerivativeWarning", "Event",
           "Finding", "Fit", "Functional", "Map", "Measurements", "Misfit", "Model", "ModelError", "NotTraced",
           "PeriodicOrbit", "Problem", "Profile", "Projection", "Relation", "Relaxation", "Residual", "Result",
           "Review", "Run", "SteadyState", "Transition", "Unknown", "fit", "from_cfunc", "from_numba", "from_sympy",
           "load_method", "methods", "option_names", "solve_ivp", "version"]

def version() -> str: ...
def methods() -> list[dict[str, Any]]: ...
def option_names() -> list[str]: ...

def load_method(path: str | PathLike[str]) -> Any: ...

class CostateError(RuntimeError):
    status: str
    message: str
    t: float | None
    def __new__(cls, status: str, *more: Any) -> CostateError: ...
    def __init__(self, status: str, message: str, t: float | None = None) -> None: ...

class ModelError(CostateError, ValueError):
    def __init__(self, message: str) -> None: ...

class DerivativeWarning(UserWarning): ...

class NotTraced(UserWarning): ...

class _Ways(str):
    by_map: dict[str, dict[str, str]]

class Result:
    def __init__(self, **values: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...

class Map:
    value: _Function
    jac: _Function | None
    jac_p: _Function | None
    jac_t: _Function | None
    jac_m: _Function | None
    jvp: _Function | None
    vjp: _Function | None
    hvp: _Function | None
    def __init__(self, value: _Function, *, jac: _Jacobian = None, jac_p: _Jacobian = None, jac_t: _Jacobian = None,
                 jac_m: _Jacobian = None, jvp: _Function | None = None, vjp: _Function | None = None,
                 hvp: _Function | None = None) -> None: ...
    @property
    def exact(self) -> bool: ...
    def followed_by(self, last: Callable[[], Any]) -> Map: ...

class Model:
    text: str
    file: str
    name: str
    states: list[str]
    parameters: list[str]
    costs: list[str]
    outputs: list[str]
    memory: list[str]
    hidden: list[str]
    units: dict[str, str]
    defaults: _Array
    n: int
    np: int
    nq: int
    nm: int
    stops: _Array
    start_limit: dict[str, Any] | None
    has_lanes: bool
    functions: dict[str, _InPython]
    lacking: dict[str, int]
    differences: ClassVar[bool]
    def __init__(self, text: str, *, file: str | PathLike[str] = "model.eq",
                 sizes: Mapping[str, int] | None = None, compiled: bool | None = None, lanes: bool = False,
                 functions: Mapping[str, _InPython] | None = None) -> None: ...
    @classmethod
    def from_file(cls, path: str | PathLike[str], *, sizes: Mapping[str, int] | None = None,
                  compiled: bool | None = None, lanes: bool = False,
                  functions: Mapping[str, _InPython] | None = None) -> Model: ...
    @property
    def is_compiled(self) -> bool: ...
    def wait(self, timeout: float | None = None) -> bool: ...
    def start(self, t: float = 0.0, p: ArrayLike | None = None) -> _Array: ...
    def start_jvp(self, t: float = 0.0, p: ArrayLike | None = None, dp: ArrayLike | None = None,
                  dt: float = 0.0) -> _Array: ...
    def start_vjp(self, t: float, p: ArrayLike | None, w: ArrayLike) -> tuple[_Array, float]: ...
    def starts(self, t: float, p: ArrayLike) -> _Array: ...
    def start_vjps(self, t: float, p: ArrayLike, w: ArrayLike) -> _Array: ...
    def start_hvp(self, t: float, p: ArrayLike | None, w: ArrayLike, dp: ArrayLike | None = None,
                  dt: float = 0.0) -> tuple[_Array, float]: ...
    def check_values(self, p: ArrayLike) -> None: ...
    def index(self, name: str, *cell: int) -> int: ...
    def parameter_vector(self, **values: ArrayLike) -> _Array: ...
    def output(self, t: float, y: ArrayLike, p: ArrayLike | None = None, *, m: ArrayLike | None = None,
               mode: int = 0) -> Any: ...
    def output_jacobian(self, t: float, y: ArrayLike, p: ArrayLike | None = None, *, m: ArrayLike | None = None,
                        mode: int = 0) -> Any: ...

def from_sympy(rhs: Sequence[Any], states: Sequence[Any], parameters: Iterable[Any] | Mapping[Any, float] = (),
               t: Any = None, *, costs: Mapping[str, Any] | None = None, initial: Mapping[Any, Any] | None = None,
               name: str = "model") -> Model: ...
def from_cfunc(rhs: Any, n: int, np: int = 0, *, jac: Any = None, tangent: Any = None, adjoint: Any = None,
               tangent2: Any = None, adjoint_tangent: Any = None, ctx: Any = 0) -> Any: ...
def from_numba(f: _Function, n: int, np: int = 0, *, jac: _Function | None = None) -> Any: ...

class Event:
    times: _Array | None
    direction: int
    terminal: bool
    slopes: bool
    guard: Map | Residual | None
    jump: Map | Residual | None
    transition: Transition | None
    def __init__(self, guard: _Function | Map | None = None, *, times: ArrayLike | None = None,
                 jump: _Function | Map | None = None, direction: float = 0, terminal: bool = False,
                 passes: bool = False, at_start: Literal["fire", "ignore", "false", "true"] | None = None,
                 active: int | None = None, to: int | None = None, slopes: bool = False,
                 transition: _Function | Transition | None = None) -> None: ...

class Residual:
    value: _Function
    jac: _Function | None
    jac_yp: _Function | None
    jac_p: _Function | None
    jac_t: _Function | None
    jac_m: _Function | None
    jvp: _Function | None
    vjp: _Function | None
    hvp: _Function | None
    def __init__(self, value: _Function, *, jac: _Jacobian = None, jac_yp: _Jacobian = None, jac_p: _Jacobian = None,
                 jac_t: _Jacobian = None, jac_m: _Jacobian = None, jvp: _Function | None = None,
                 vjp: _Function | None = None, hvp: _Function | None = None) -> None: ...

class Transition(Residual): ...

class AfterStep:
    map: Map
    at_start: bool
    def __init__(self, map: _Function | Map, *, at_start: bool = False) -> None: ...

class Bounds:
    low: ArrayLike | None
    high: ArrayLike | None
    at_start: bool
    def __init__(self, low: ArrayLike | None = None, high: ArrayLike | None = None, *,
                 at_start: bool = False) -> None: ...

class Projection:
    g: Map
    keep: bool
    move: ArrayLike | None
    at_start: bool
    linear: bool
    def __init__(self, g: _Function | Map, *, keep: bool = False, move: ArrayLike | None = None, at_start: bool = False,
                 linear: bool = False) -> None: ...

class Relaxation(Projection):
    def __init__(self, g: _Function | Map, *, keep: bool = False) -> None: ...

class Relation:
    guard: Map
    whole: bool
    sign: bool
    @property
    def kind(self) -> str: ...
    def __init__(self, guard: _Function | Map, *, whole: bool = False, sign: bool = False) -> None: ...

class Functional:
    times: _Array | None
    trace_message: str
    def __init__(self, end: _Function | None = None, *, end_y: _Function | None = None, end_p: _Function | None = None,
                 end_t: _Function | None = None, end_yy: _Function | None = None, times: ArrayLike | None = None,
                 term: _Function | None = None, term_y: _Function | None = None, term_yy: _Function | None = None,
                 trace: Literal["auto"] | bool = "auto") -> None: ...

class Finding:
    severity: Literal["right", "remark", "wrong"]
    topic: str
    text: str
    component: int | None
    t: float | None
    number: float | None
    def __init__(self, severity: str, topic: str, text: str, component: int | None = None, t: float | None = None,
                 number: float | None = None) -> None: ...

class Review:
    ok: bool
    status: str
    findings: list[Finding]
    def __init__(self, status: int, text: str, findings: list[Finding]) -> None: ...

class Problem:
    model: Any
    residual: Residual | None
    after_step: AfterStep | Bounds | Projection | None
    index: tuple[int, ...] | None
    w: Any
    preconditioner: tuple[_Function | None, _Function] | None
    splitting: bool
    events: list[Event]
    relations: list[Relation]
    stops: _Array
    method: Any
    rtol: ArrayLike
    atol: ArrayLike
    derivatives: str
    options: dict[str, Any]
    def __init__(self, rhs: _Function | Map | Model | Any = None, *, residual: _Function | Residual | None = None,
                 jac: _Jacobian = None, jac_yp: _Jacobian = None, jac_p: _Jacobian = None, jac_t: _Jacobian = None,
                 jac_m: _Jacobian = None, jvp: _Function | None = None, vjp: _Function | None = None,
                 hvp: _Function | None = None, cost: _Function | Map | None = None, mass: Any = None,
                 index: Sequence[int] | None = None, sparsity: Any = None,
                 events: Iterable[Event | _Function] | Event | _Function = (),
                 relations: Iterable[Relation | _Function] = (), stops: ArrayLike = (),
                 after_step: _Function | Map | AfterStep | Bounds | Projection | None = None, memory: int = 0,
                 method: Any = "auto", rtol: ArrayLike = 1e-6, atol: ArrayLike = 1e-6, derivatives: _Way = "auto",
                 trace: Literal["auto"] | bool = "auto",
                 preconditioner: tuple[_Function | None, _Function] | _Function | None = None,
                 splitting: bool = False, w: Any = None, **options: Any) -> None: ...
    @property
    def traced(self) -> bool: ...
    @property
    def trace_message(self) -> str: ...
    def wait(self, timeout: float | None = None) -> bool: ...
    def integrate(self, t_span: Sequence[float], y0: ArrayLike | None = None, p: _Form = None, *,
                  t_eval: ArrayLike | None = None, record: bool = True, dense: bool = False,
                  on_step: Callable[[Any], Any] | None = None, tape: str | PathLike[str] | None = None) -> Run: ...
    def jvp(self, t_span: Sequence[float], y0: ArrayLike, p: _Form = None, dy0: ArrayLike | None = None,
            dp: _Form = None) -> tuple[_Array, _Array]: ...
    def vjp(self, t_span: Sequence[float], y0: ArrayLike, p: _Form = None) -> tuple[_Array, Callable[..., Any]]: ...
    def gradient(self, functional: Functional, t_span: Sequence[float], y0: ArrayLike | None = None, p: _Form = None,
                 *, tol: float | None = None, estimate: bool = False, factor: float = 0.0) -> Result: ...
    def hessp(self, functional: Functional, t_span: Sequence[float], y0: ArrayLike | None = None, p: _Form = None, *,
              vy0: ArrayLike | None = None, vp: _Form = None, tol: float | None = None, estimate: bool = False,
              factor: float = 0.0, product_atol: float = 0.0) -> Result: ...
    def consistent(self, t: float, y0: ArrayLike | None = None, p: _Form = None, *,
                   yp0: ArrayLike | None = None) -> tuple[_Array, _Array]: ...
    def initial(self, t: float = 0.0, p: ArrayLike | None = None) -> _Array: ...
    def initials(self, t: float, p: ArrayLike) -> _Array: ...
    def steady(self, y0: ArrayLike | None = None, p: _Form = None, *, t: float = 0.0,
               fixed: Mapping[int | str, float] | None = None) -> SteadyState: ...
    def periodic(self, y0: ArrayLike | None = None, guess: float | None = None, p: _Form = None, *,
                 period: float | None = None, t: float = 0.0, settle: float = 0,
                 invariants: ArrayLike | None = None) -> PeriodicOrbit: ...
    def load(self, path: str | PathLike[str], t_span: Sequence[float], y0: ArrayLike | None = None,
             p: _Form = None) -> Run: ...
    def resume(self, path: str | PathLike[str], t_span: Sequence[float], y0: ArrayLike | None = None,
               p: _Form = None) -> Run: ...
    def check(self, t_span: Sequence[float], y0: ArrayLike | None = None, p: _Form = None) -> Review: ...
    def ensemble(self, t_span: Sequence[Any], y0: ArrayLike | None = None, p: _Form = None,
                 **more: Any) -> Result: ...

class Run:
    problem: Problem
    t0: float
    t: float
    y: _Array
    q: _Array
    m: _Array
    at: _Array
    steps_t: _Array
    steps_y: _Array
    stopped: bool
    message: str
    gradient_error: float | None
    derivatives: _Ways
    @property
    def recorded(self) -> bool: ...
    @property
    def parameters(self) -> int: ...
    @property
    def stats(self) -> dict[str, Any]: ...
    @property
    def steps(self) -> tuple[_Array, _Array]: ...
    @property
    def events(self) -> list[tuple[float, int, _Array, _Array]]: ...
    @property
    def relations(self) -> list[tuple[float, int]]: ...
    def __init__(self, problem: Problem, t_span: Sequence[float], y0: ArrayLike | None, p: _Form,
                 t_eval: ArrayLike | None, record: bool, dense: bool,
                 on_step: Callable[[Any], Any] | None, tape: str | PathLike[str] | None = None) -> None: ...
    def __call__(self, t: ArrayLike) -> _Array: ...
    def continue_to(self, t1: float, *, t_eval: ArrayLike | None = None,
                    on_step: Callable[[Any], Any] | None = None) -> Run: ...
    def tangent(self, dy0: ArrayLike | None = None, dp: _Form = None, *, dm: ArrayLike | None = None,
                at: ArrayLike | None = None, dt0: ArrayLike | None = None,
                dt1: ArrayLike | None = None) -> _Array: ...
    def adjoint(self, w: ArrayLike | None = None, *, at: ArrayLike | None = None, w_at: ArrayLike | None = None,
                w_costs: ArrayLike | None = None) -> tuple[Any, ...]: ...
    def value(self, functional: Functional) -> float: ...
    def gradient(self, functional: Functional) -> Result: ...
    def hessp(self, functional: Functional, vy0: ArrayLike | None = None, vp: _Form = None) -> Result: ...
    def gauss_newton(self, functional: Functional, vy0: ArrayLike | None = None, vp: _Form = None) -> Result: ...
    def plot(self, **more: Any) -> Any: ...

class SteadyState:
    y: _Array
    invariants: _Array
    slowest: float
    stats: dict[str, Any]
    derivatives: _Ways
    def __init__(self, problem: Problem, y0: ArrayLike | None, p: ArrayLike | None, t: float,
                 fixed: Mapping[int, float], events: Sequence[int] | None = None) -> None: ...
    def tangent(self, dy0: ArrayLike | None = None, dp: ArrayLike | None = None) -> _Array: ...
    def adjoint(self, w: ArrayLike) -> tuple[_Array, _Array]: ...
    def hessp(self, w: ArrayLike, vy0: ArrayLike | None = None,
              vp: ArrayLike | None = None) -> tuple[_Array, _Array]: ...

class _Moved(NamedTuple):
    y: _Array
    period: Any
    q: _Array

class PeriodicOrbit:
    y: _Array
    period: float
    q: _Array
    multipliers: NDArray[np.complex128]
    stable: bool
    stats: dict[str, Any]
    derivatives: _Ways
    def __init__(self, problem: Problem, y0: ArrayLike | None, guess: float | None, p: ArrayLike | None,
                 period: float | None, t: float, settle: float, invariants: ArrayLike | None) -> None: ...
    def __call__(self, t: ArrayLike) -> _Array: ...
    def tangent(self, dp: ArrayLike) -> _Moved: ...
    def adjoint(self, y: ArrayLike | None = None, period: float = 0.0, q: ArrayLike | None = None) -> _Array: ...
    def hessp(self, vp: ArrayLike, y: ArrayLike | None = None, period: float = 0.0,
              q: ArrayLike | None = None) -> _Array: ...
    def multiplier_gradient(self, k: int = 0) -> NDArray[np.complex128]: ...

class BoundaryProblem:
    def __init__(self, rhs: _Function | Map | Model | Any, conditions: _Function | Map, *, method: str | None = None,
                 rtol: float = 1e-6, atol: ArrayLike = 1e-6, breaks: ArrayLike = (), **options: Any) -> None: ...
    def solve(self, interval: Sequence[float], guess: Any, p: ArrayLike | None = None, *,
              mesh: ArrayLike | None = None) -> Any: ...

def solve_ivp(fun: _Function | Model | Any, t_span: Sequence[float], y0: ArrayLike | None, method: str = "auto",
              t_eval: ArrayLike | None = None, dense_output: bool = False, events: Any = None,
              vectorized: bool = False, args: Any = None, *, first_step: float | None = None,
              max_step: float = ..., min_step: float = 0, rtol: ArrayLike = 1e-3, atol: ArrayLike = 1e-6,
              jac: Any = None, jac_sparsity: Any = None, lband: int | None = None, uband: int | None = None,
              stops: ArrayLike | None = None, callback: Callable[[Any], Any] | None = None,
              **options: Any) -> Any: ...

class Unknown:
    guess: float
    low: float
    high: float
    scale: str
    prior: tuple[str, tuple[float, float]] | None
    def __init__(self, guess: float, low: float | None = None, high: float | None = None, *,
                 scale: Literal["linear", "lin", "log", "log10"] = "linear",
                 prior: tuple[str, float, float] | None = None) -> None: ...

class Measurements:
    times: _Array
    values: _Array
    columns: int
    of: list[Any] | None
    sigma: list[Any]
    noise: list[str]
    censored: NDArray[np.int_]
    def __init__(self, times: ArrayLike, values: ArrayLike, of: Any = None, *, sigma: Any = None,
                 noise: str | Sequence[str] = "normal", censored: ArrayLike | None = None) -> None: ...
    @property
    def count(self) -> int: ...
    @property
    def skipped(self) -> int: ...

class Condition:
    data: list[Measurements]
    y0: Any
    p: Any
    t0: float | None
    problem: Problem | None
    def __init__(self, data: Measurements | Sequence[Measurements], *, y0: ArrayLike | Mapping[str, Any] | None = None,
                 p: ArrayLike | Mapping[str, Any] | None = None, t0: float | None = None,
                 problem: Problem | None = None) -> None: ...

_Data: TypeAlias = (Measurements | Condition | Sequence[Measurements] | Sequence[Condition] |
                    Mapping[str, Measurements | Condition])
_Guess: TypeAlias = ArrayLike | Mapping[str, float | Unknown]

class Misfit:
    problem: Problem
    names: list[str]
    scales: list[str]
    lower: _Array
    upper: _Array
    guess: _Array
    count: int
    skipped: int
    is_least_squares: bool
    sigma_unknown: bool
    has_kinks: bool
    def __init__(self, problem: Problem | Model, data: _Data, guess: _Guess, *,
                 y0: ArrayLike | Mapping[str, Any] | None = None, p: ArrayLike | Mapping[str, Any] | None = None,
                 t0: float = 0.0, states: Sequence[str] | None = None, parameters: Sequence[str] | None = None,
                 threads: int | None = None) -> None: ...
    @property
    def normal_priors(self) -> int: ...
    @property
    def conditions(self) -> int: ...
    @property
    def has_hessian(self) -> bool: ...
    @property
    def rtol(self) -> float: ...
    def with_factor(self, factor: float) -> Misfit: ...
    def value(self, x: ArrayLike) -> float: ...
    def outputs(self, x: ArrayLike) -> list[tuple[_Array, _Array]]: ...
    def residuals(self, x: ArrayLike) -> _Array: ...
    def jacobian(self, x: ArrayLike) -> _Array: ...
    def gradient(self, x: ArrayLike) -> _Array: ...
    def products(self, x: ArrayLike, dx: ArrayLike, gauss_newton: bool = False) -> _Array: ...
    def hessp(self, x: ArrayLike, dx: ArrayLike) -> _Array: ...
    def gauss_newton(self, x: ArrayLike, dx: ArrayLike) -> _Array: ...
    def curvature(self, x: ArrayLike) -> _Array: ...
    def fisher(self, x: ArrayLike) -> _Array: ...
    def hessian(self, x: ArrayLike) -> _Array: ...
    def gradient_error(self, x: ArrayLike) -> _Array: ...

class Profile:
    def __init__(self, path: Any, level: float, limit: float, ends: Any) -> None: ...
    name: str
    level: float
    limit: float
    values: _Array
    rise: _Array
    at: dict[str, _Array]
    low: float
    high: float
    closed: tuple[bool, bool]
    lower: bool

class Fit:
    def __init__(self, misfit: Any, found: Any, starts: Any, evaluations: int) -> None: ...
    misfit: Misfit
    names: list[str]
    scales: list[str]
    x: _Array
    u: _Array
    J: float
    estimates: dict[str, float]
    errors: dict[str, float]
    integration: dict[str, float]
    relative_integration: float
    not_estimated: str
    hessian: _Array
    covariance: _Array
    correlation: _Array
    singular_values: _Array
    undetermined: list[Any]
    at_bound: list[str]
    degrees: int
    sigma: float | None
    converged: bool
    is_minimum: bool
    message: str
    starts: _Array
    evaluations: int
    rtol: float
    def quantile(self, level: float = 0.95) -> float: ...
    def index(self, name: str) -> int: ...
    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]: ...
    def intervals(self, level: float = 0.95) -> dict[str, tuple[float, float]]: ...
    def profile(self, name: str, level: float = 0.95) -> Profile: ...
    def predict(self, times: ArrayLike, of: Any = None, *, condition: str | None = None,
                level: float = 0.95) -> Result: ...
    def summary(self, level: float = 0.95) -> str: ...
    def plot(self, ax: Any = None, **more: Any) -> Any: ...
    def plot_residuals(self, ax: Any = None) -> Any: ...
    def plot_starts(self, ax: Any = None) -> Any: ...
    def plot_profile(self, name: str, level: float = 0.95, ax: Any = None) -> Any: ...
    def write_page(self, path: str | PathLike[str], *, profiles: bool = False) -> None: ...

def fit(problem: Problem | Model, data: _Data, guess: _Guess, *, y0: ArrayLike | Mapping[str, Any] | None = None,
        p: ArrayLike | Mapping[str, Any] | None = None, t0: float = 0.0, states: Sequence[str] | None = None,
        parameters: Sequence[str] | None = None, starts: int = 1, seed: int = 0, threads: int | None = None,
        method: str | None = None, tol: float = 0.01, progress: bool | None = None) -> Fit: ...
