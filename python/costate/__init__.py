"""costate: differential equations with exact derivatives of what was computed.

solve_ivp           as SciPy's, for any of the library's methods
Problem             equations: integrate, tangents (jvp), adjoints (vjp), gradients, Hessian products
Model               equations as text, compiled
"""
from costate.bvp import BoundaryProblem
from costate._library import CostateError, ModelError, methods, option_names, version
from costate.functional import Functional
from costate.maps import Map
from costate.problem import Event, Problem, Run
from costate.result import Result

__version__ = version()
__all__ = ["BoundaryProblem", "CostateError", "Event", "Functional", "Map", "ModelError", "Problem", "Result", "Run",
           "methods", "option_names", "version"]
