"""Plain functions of NumPy become compiled models: they are called with traced arrays, and what they do is recorded.

refusals        what cannot be traced, with the line of the user's program and the cure
numbers, arrays traced numbers and arrays; elementwise, functions, algebra: the functions of NumPy for them
reads           what a function reads besides its arguments
evaluate        values of nodes with bounds of their round-off
trace           one function to nodes of the graph of equation files (codegen)
building, engine    nodes to a Model, a Model to a loaded costate_problem
use             when a Problem uses all that"""
from costate.tracing.refusals import NotTraced
from costate.tracing.use import Use, asked

__all__ = ["NotTraced", "Use", "asked"]
