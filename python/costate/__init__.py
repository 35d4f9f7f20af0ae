"""costate: differential equations with exact derivatives of what was computed.

solve_ivp           initial value problems with SciPy's interface, by any of the library's methods
Problem             equations: integrate, tangents (JVP), adjoints (VJP), gradients, Hessian-vector products
Model               equations as text, compiled; from_sympy, from_cfunc, from_numba
Event, Relation     events of hybrid systems; conditions that a step keeps
Functional          functionals of runs
NotTraced           the warning about a function that cannot be traced
BoundaryProblem     boundary value problems
costate.torch, costate.jax, costate.plots       imported by themselves"""
from costate._library import CostateError, ModelError, methods, option_names, version
from costate._ways import DerivativeWarning
from costate.bvp import BoundaryProblem
from costate.functional import Functional
from costate.ivp import solve_ivp
from costate.maps import Map
from costate.models import Model, from_cfunc, from_numba, from_sympy
from costate.problem import Event, Problem, Relation, Run
from costate.result import Result
from costate.review import Finding, Review
from costate.tracing import NotTraced

__version__ = version()
__all__ = ["BoundaryProblem", "CostateError", "DerivativeWarning", "Event", "Finding", "Functional", "Map", "Model",
           "ModelError", "NotTraced", "Problem", "Relation", "Result", "Review", "Run", "from_cfunc", "from_numba",
           "from_sympy", "methods", "option_names", "solve_ivp", "version"]
