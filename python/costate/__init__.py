"""costate: differential equations with exact derivatives of what was computed.

solve_ivp           initial value problems with SciPy's interface, by any of the library's methods
Problem             equations: integrate, tangents (JVP), adjoints (VJP), gradients, Hessian-vector products
Model               equations as text, compiled; from_sympy, from_cfunc, from_numba
Event, Relation     events of hybrid systems; conditions that a step keeps
Residual            F(t, y, y', p) = 0, with Transition for its events
AfterStep, Bounds, Projection, Relaxation       maps after each step
Functional          functionals of runs
NotTraced           the warning about a function that cannot be traced
BoundaryProblem     boundary value problems
SteadyState, PeriodicOrbit          where solutions tend to: Problem.steady, Problem.periodic
load_method         methods from files of coefficients
fit                 unknowns of a model from measurements, with their errors, over Measurements, Condition and Unknown:
                    a Fit; Misfit, Profile
costate.torch, costate.plots, costate.jax (experimental)    imported by themselves"""
from costate._library import CostateError, ModelError, load_method, methods, option_names, version
from costate._ways import DerivativeWarning
from costate.after_step import AfterStep, Bounds, Projection, Relaxation
from costate.bvp import BoundaryProblem
from costate.fitting import Condition, Fit, Measurements, Misfit, Profile, Unknown, fit
from costate.functional import Functional
from costate.ivp import solve_ivp
from costate.maps import Map
from costate.models import Model, from_cfunc, from_numba, from_sympy
from costate.periodic import PeriodicOrbit
from costate.problem import Event, Problem, Relation, Run
from costate.residual import Residual, Transition
from costate.result import Result
from costate.review import Finding, Review
from costate.steady import SteadyState
from costate.tracing import NotTraced

__version__ = version()
__all__ = ["AfterStep", "BoundaryProblem", "Bounds", "Condition", "CostateError", "DerivativeWarning", "Event",
           "Finding", "Fit", "Functional", "Map", "Measurements", "Misfit", "Model", "ModelError", "NotTraced",
           "PeriodicOrbit", "Problem", "Profile", "Projection", "Relation", "Relaxation", "Residual", "Result",
           "Review", "Run", "SteadyState", "Transition", "Unknown", "fit", "from_cfunc", "from_numba", "from_sympy",
           "load_method", "methods", "option_names", "solve_ivp", "version"]
