"""How stiff a model is where it starts: eigenvalues of its Jacobian there, with the default values of parameters.

These are the lambda with det(J - lambda M) = 0, where J = df/dy; of a residual J = -dF/dy and M = dF/dy'.  SciPy finds
them: without it, and where values are to be set, the reason is said instead."""
import math

from .evaluate import evaluate, held
from .formulas import defaults, entries, start

MOST = 500                                   # states: eigenvalues cost n^3
ROUND_OFF = 1e-12                            # of the largest modulus: less is nothing


def stiffness(model):
    """Lines of text"""
    reason = cannot(model)
    return [reason] if reason else spectrum(model)


def cannot(model):
    """Why eigenvalues are not known, or an empty text"""
    if model.on_grid:
        return "not computed on grids"
    if len(model.states) > MOST:
        return f"not computed for more than {MOST} states"
    called = model.graph.called([*model.kinetics(), *start(model), *(r.guard for r in model.relations)])
    if called:
        return f"not computed: {called[0]} is a function in C"
    unset = [q.name for q, value in zip(model.parameters, defaults(model)) if value is None or math.isnan(value)]
    if unset:
        return f"not known without values of {', '.join(unset[:3])}" + ", ..."*(len(unset) > 3)
    try:
        import scipy.linalg                  # noqa: F401
    except ImportError:
        return "not computed: SciPy finds eigenvalues, and is not installed"
    return ""


def spectrum(model):
    import numpy as np
    import scipy.linalg
    n = len(model.states)
    J, M = np.zeros((n, n)), np.zeros((n, n))
    try:
        values = held(model, at_start(model))
        fill(model, J, entries(model, model.kinetics(), "y"), values)
        if model.implicit:
            fill(model, M, entries(model, model.kinetics(), "yp"), values)
            J = -J
    except (ArithmeticError, ValueError):    # of Python's mathematics
        J[:] = np.nan
    for (i, j), number in model.mass.items():
        M[i, j] = number
    if not (np.isfinite(J).all() and np.isfinite(M).all()):
        return ["not known: the Jacobian is not finite there"]
    found = scipy.linalg.eigvals(J, M) if model.implicit or model.mass else scipy.linalg.eigvals(J)
    if np.isnan(found).any():
        return ["not known: J - lambda M is singular for all lambda"]
    return said(found[np.isfinite(found)], n)


def at_start(model):
    """Values of all variables: states and memory as the file starts them, at t = 0 in mode 0"""
    g = model.graph
    values = {("t", 0): 0.0, ("mode", 0): 0} | {("p", k): value for k, value in enumerate(defaults(model))}
    states, memory = len(model.states), len(model.memory)
    values |= {("yp", i): 0.0 for i in range(states)}
    begun = evaluate(g, start(model), values)
    values |= {("y", i): begun[i] for i in range(states)}
    return values | {("m", i): begun[len(begun) - memory + i] for i in range(memory)}


def fill(model, A, nodes, values):
    for (i, j), number in zip(nodes, evaluate(model.graph, list(nodes.values()), values)):
        A[i, j] = number


def said(found, n):
    """found: eigenvalues, finite ones"""
    found = found.tolist()
    least = ROUND_OFF * max((abs(z) for z in found), default=0)
    kinds = (("decaying", [-z.real for z in found if z.real < -least], "rates"),
             ("growing", [z.real for z in found if z.real > least], "rates"),
             ("oscillating", [z.imag for z in found if z.imag > least], "angular frequencies"))
    lines = [f"{what}: {len(sizes)}, {of} {span(sizes)}" for what, sizes, of in kinds if sizes]
    zero = sum(abs(z) <= least for z in found)
    return lines + [f"zero: {zero}"] * (zero > 0) + [f"infinite (constraints): {n - len(found)}"] * (len(found) < n)


def span(sizes):
    low, high = f"{min(sizes):.3g}", f"{max(sizes):.3g}"
    return low if low == high else f"{low} to {high}"
